"""Systems whose configurations form a manifold: the interface of their methods, and how their equations are solved.

A pendulum on the sphere or a body that rotates has no coordinates that are good everywhere, so it is no `System`.
Its methods are small frozen objects too, with ``order``, ``conserves`` and ``symmetric`` declared; but each step is a
function of a state, for nothing is large enough to be worth keeping from one step to the next.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import isfinite, sqrt
from typing import Generic, TypeVar, final

import numpy as np

from symplex.base.arguments import checked
from symplex.base.representation import Described
from symplex.errors import StepFailed
from symplex.fem.energies.energy import Array
from symplex.time.composition import substeps

_EPS = float(np.finfo(float).eps)
_CORRECTIONS = 50
_HALVINGS = 30
_FLOOR = 16.0  # how far above the estimate of round-off a residual may be and still count as round-off
_STAGNATION = 0.25  # at the floor, a correction that does not do better than this factor is the last


@dataclass(frozen=True)
class ManifoldState(ABC):
    """A moment of a motion on a manifold; what moves is added by each kind of system.

    Attributes
    ----------
    t : float
        Time in s.
    """

    t: float


SystemT = TypeVar("SystemT")
StateT = TypeVar("StateT", bound=ManifoldState)


class ManifoldMethod(Described, ABC, Generic[SystemT, StateT]):
    """A one-step method for one kind of system, as a small immutable object.

    Attributes
    ----------
    order : int
        Order of accuracy in the step.
    conserves : frozenset of str
        What it keeps to round-off: of ``energy``, ``angular momentum``, ``symplectic form``.
    symmetric : bool
        Whether a run with reversed velocities comes back.
    """

    order: int
    conserves: frozenset[str]
    symmetric: bool

    @abstractmethod
    def step(self, system: SystemT, state: StateT, dt: float) -> StateT:
        """Return the state after a step of dt in s, which may be negative.

        Raises
        ------
        StepFailed
            If there is none to be found.
        """

    @final
    def march(self, system: SystemT, state: StateT, dt: float, steps: int, every: int = 1) -> Iterator[StateT]:
        """Yield the state, and then the one after each ``every`` steps of dt in s, up to a number of steps.

        Times are computed from the number of steps, never accumulated.

        Raises
        ------
        ValueError
            If dt is zero or not finite, or a number of steps not positive.
        StepFailed
            If a step cannot be taken; all states before it have been yielded.
        """
        if not isfinite(dt) or dt == 0.0:
            raise ValueError(f"{type(self).__name__}: dt must be finite and not zero; it is {dt}.")
        if steps < 1 or every < 1:
            raise ValueError(f"steps and every must be at least 1; they are {steps} and {every}.")
        t0 = state.t
        yield state
        for n in range(1, steps + 1):
            state = replace(self.step(system, state, dt), t=t0 + n * dt)
            if n % every == 0:
                yield state


@checked
@final
@dataclass(frozen=True)
class ComposedMethod(ManifoldMethod[SystemT, StateT]):
    """A symmetric method, in substeps that make it one of higher order and keep all that it keeps.

    Parameters
    ----------
    method : ManifoldMethod
        A symmetric one of second order.
    order : {4, 6, 8}, default 4
    scheme : str, optional
        See `symplex.time.composition.substeps`.

    Raises
    ------
    ValueError
        If the method is not symmetric, or there is no such order or scheme.
    """

    method: ManifoldMethod[SystemT, StateT]
    order: int = 4
    scheme: str | None = None

    symmetric = True

    def __post_init__(self):
        if not self.method.symmetric:
            raise ValueError(f"ComposedMethod: {type(self.method).__name__} is not symmetric.")
        substeps(self.order, self.scheme)

    @property
    def conserves(self) -> frozenset[str]:
        """What the method conserves."""
        return self.method.conserves

    def step(self, system: SystemT, state: StateT, dt: float) -> StateT:
        """Return the state after a step of dt in s."""
        for part in substeps(self.order, self.scheme):
            state = self.method.step(system, state, part * dt)
        return state


# r(x) [k], ∂r/∂x [k, k], and the size of the terms that r is the sum of, which its round-off is measured by.
# It raises StepFailed where r is not defined.
Equations = Callable[[Array], tuple[Array, Array, float]]


def solve_increment(equations: Equations, size: int) -> Array:
    """Return the root x [size] of a few equations that Newton's method finds from x = 0, to the floor of round-off.

    The increment starts at zero: which root is found is part of a scheme. A correction is halved until the residual
    falls, or the next correction that the same matrix would give (Deuflhard's natural monotonicity test), and where
    the equations are not defined. The equations must become r = x as the step goes to zero; then det ∂r/∂x > 0 as far
    as the root is continued from there, and another sign shows a root of another branch, behind a fold.
    """
    x = np.zeros(size)
    residual, jacobian, scale = equations(x)
    norm = sqrt(residual @ residual)
    if not isfinite(norm):
        raise StepFailed("the forces at the beginning of the step are not finite.")
    history = [norm]
    while norm > 0.0:
        floor = _FLOOR * _EPS * scale
        at_floor = norm <= floor
        if len(history) > _CORRECTIONS and not at_floor:
            raise _failure(history, floor)
        try:
            correction: Array = np.linalg.solve(jacobian, -residual).astype(float, copy=False)
        except np.linalg.LinAlgError:
            raise _failure(history, floor, "; the Jacobian is singular there") from None
        found = _search(equations, x, correction, jacobian, norm, 0 if at_floor else _HALVINGS)
        if found is None:
            if at_floor:
                break
            raise _failure(history, floor)
        x, residual, jacobian, scale = found
        before, norm = norm, sqrt(residual @ residual)
        history.append(norm)
        if at_floor and norm > _STAGNATION * before:
            break
    if not np.linalg.det(jacobian) > 0.0:
        raise StepFailed("Newton's method found a root that small steps do not lead to.")
    return x


def _search(
    equations: Equations, x: Array, correction: Array, jacobian: Array, norm: float, halvings: int
) -> tuple[Array, Array, Array, float] | None:
    """Return the point along a correction that is accepted, with its equations, or None."""
    length = sqrt(correction @ correction)
    part = 1.0
    for _ in range(halvings + 1):
        trial = x + part * correction
        try:
            residual, matrix, scale = equations(trial)
        except StepFailed:
            pass
        else:
            if sqrt(residual @ residual) < (1.0 - 1e-4 * part) * norm:
                return trial, residual, matrix, scale
            if halvings and np.linalg.norm(np.linalg.solve(jacobian, residual)) < (1.0 - 0.5 * part) * length:
                return trial, residual, matrix, scale
        part *= 0.5
    return None


def _failure(history: list[float], floor: float, remark: str = "") -> StepFailed:
    return StepFailed(
        f"Newton's method is left with a residual of {min(history):.2e} after {len(history) - 1} corrections, "
        f"expected {floor:.1e}{remark}."
    )
