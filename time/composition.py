"""Methods of high order from a symmetric one, by substeps of fixed proportions, some of them backwards."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import Literal, final

import numpy as np

from symplex.base.arguments import checked
from symplex.base.columns import Column, count_column
from symplex.errors import InvalidSystem
from symplex.fem.energies.energy import Array
from symplex.fem.structures.rigidity import Rigidity
from symplex.fem.system import State, System
from symplex.time.around import AroundSteps
from symplex.time.integrator import FixedStepIntegrator
from symplex.time.motion import FixedStepMotion
from symplex.time.reductions.jacobi_reduction import JacobiReduction
from symplex.time.steps import Steps
from symplex.time.totals import DISCRETE_ENERGY, MODIFIED_TOTAL
from symplex.time.traits import Trait


def _triple_jump(order: int) -> list[float]:
    """Return the first half of 1/(2 − r), −r/(2 − r), 1/(2 − r) with r = 2^(1/(order − 1))."""
    return [1.0 / (2.0 - 2.0 ** (1.0 / (order - 1)))]


# The first half of the substeps; the one in the middle is what is left to one, the second half mirrors the first.
_FIRST_HALVES = {
    # Yoshida (1990), Suzuki (1990), Tarnow and Simo (1994)
    (4, "triple jump"): _triple_jump(4),
    # Suzuki (1990)
    (4, "suzuki"): [1.0 / (4.0 - 4.0 ** (1.0 / 3.0))] * 2,
    # Yoshida (1990), solution A
    (6, "yoshida"): [0.784513610477557264, 0.235573213359358134, -1.17767998417887101],
    # Kahan and Li (1997)
    (6, "kahan-li"): [
        0.39216144400731413928,
        0.33259913678935943860,
        -0.70624617255763935981,
        0.08221359629355080023,
    ],
    # Blanes and Moan (2002), SRKN 11 of order 6: of the drifts
    (6, "blanes-moan"): [
        0.123229775946271,
        0.290553797799558,
        -0.127049212625417,
        -0.246331761062075,
        0.357208872795928,
    ],
    # Suzuki and Umeno (1993), McLachlan (1995)
    (8, "suzuki-umeno"): [
        0.74167036435061295345,
        -0.40910082580003159400,
        0.19075471029623837995,
        -0.57386247111608226666,
        0.29906418130365592384,
        0.33462491824529818378,
        0.31529309239676659663,
    ],
    # Kahan and Li (1997)
    (8, "kahan-li"): [
        0.13020248308889008088,
        0.56116298177510838456,
        -0.38947496264484728641,
        0.15884190655515560090,
        -0.39590389413323757734,
        0.18453964097831570709,
        0.25837438768632204729,
        0.29501172360931029887,
    ],
}
# The first half of the changes of velocity around the substeps, in schemes for forces of positions alone, but for the
# last, which is what is left to one half; and the stability limit h ω of a step, by the matrix of a linear oscillator.
_KICKS = {
    (6, "blanes-moan"): (
        [0.0414649985182624, 0.198128671918067, -0.0400061921041533, 0.0752539843015807, -0.0115113874206879],
        9.07,
    )
}
_OF_A_STEP = (MODIFIED_TOTAL, DISCRETE_ENERGY)
_SUBSTEPS = count_column("substeps")
# What has forces that are not those of positions alone, constraints, or moves in a given way.
_OF_OTHERS: set[Trait] = {"loads", "moving supports", "jumping supports", "internal variables", "frames", "joints"}
SchemeName = Literal["triple jump", "suzuki", "yoshida", "kahan-li", "blanes-moan", "suzuki-umeno"]
_BEST = {4: "suzuki", 6: "kahan-li", 8: "kahan-li"}


def substeps(order: int, scheme: str | None = None) -> list[float]:
    """Return the substeps of a symmetric composition of an order, as parts of the step.

    Parameters
    ----------
    order : {4, 6, 8}
    scheme : str, optional
        For order 4 ``"suzuki"`` (5 substeps, the default) or ``"triple jump"`` (3); for order 6 ``"kahan-li"`` (9, the
        default), ``"yoshida"`` (7) or ``"blanes-moan"`` (11, see `Composition`); for order 8 ``"kahan-li"`` (17, the
        default) or ``"suzuki-umeno"`` (15). More substeps, and smaller ones, mean smaller errors.
    """
    key = (order, _BEST.get(order, "") if scheme is None else scheme)
    if key not in _FIRST_HALVES:
        known = ", ".join(f"{name!r} of order {of}" for of, name in _FIRST_HALVES)
        requested = "scheme" if scheme is None else f"scheme {scheme!r}"
        raise ValueError(f"Composition: there is no {requested} of order {order}; there are {known}.")
    half = _FIRST_HALVES[key]
    return [*half, 1.0 - 2.0 * math.fsum(half), *reversed(half)]


def schemes_of(order: int) -> list[str]:
    """Return the names of the schemes of an order."""
    return [name for of, name in _FIRST_HALVES if of == order]


def kicks(order: int, scheme: str | None = None) -> list[float]:
    """Return the changes of velocity before and after each of the `substeps`, as parts of the step.

    None, an empty list, for schemes of any symmetric method.
    """
    half, _ = _KICKS.get((order, scheme or ""), ([], 0.0))
    middle = 0.5 - math.fsum(half)
    return [*half, middle, middle, *reversed(half)] if half else []


@partial(checked, but=("integrator",))
@final
@dataclass(frozen=True)
class Composition(AroundSteps["CompositionMotion"]):
    """A symmetric method in substeps that cancel its errors up to a higher order.

    Whatever the method keeps in a step it keeps in all substeps: of energy-momentum it makes a method of order 4, 6 or
    8 that conserves energy and both momenta. See Hairer, Lubich and Wanner, Geometric Numerical Integration, V.3.

    The scheme ``"blanes-moan"`` of order 6 is for explicit `Newmark` and forces of positions alone: a sequence of
    drifts and changes of velocity that steps of Newmark's cannot make up, SRKN 11 of Blanes and Moan (2002), "Practical
    symplectic partitioned Runge-Kutta and Runge-Kutta-Nyström methods", J. Comput. Appl. Math. 142. For an error it
    evaluates forces a third as often as others; it is stable up to dt ω = 9.07, 0.82 per evaluation.

    Rigid bodies must be rigid by constraints, under `Rattle`: the stiffness of `symplex.Rigidity` follows the step.

    Not composed are methods that choose their steps, and those that do not declare it among what they take. A reduction
    goes around: ``JacobiReduction(Composition(method))``.

    Parameters
    ----------
    integrator : FixedStepIntegrator
        A symmetric method, whose step becomes the step of the composition.
    order : {4, 6, 8}, default 4
        Above that of the method.
    scheme : str, optional
        The proportions of the substeps, by name; see `substeps`.

    Raises
    ------
    ValueError
        If the method is not symmetric, has no fixed step or cannot be composed, or there is no such order or scheme.
    """

    integrator: FixedStepIntegrator
    order: int = 4
    scheme: str | None = None

    symmetric = True  # pyright: ignore[reportAssignmentType]
    why_not = MappingProxyType({"composition": "it is one already"})

    def __post_init__(self):
        method, name = self.integrator, type(self.integrator).__name__
        if isinstance(method, JacobiReduction):
            raise ValueError(
                "Composition: take JacobiReduction(Composition(…)), which is the composition of a reduction."
            )
        if not isinstance(method, FixedStepIntegrator):
            raise ValueError(f"Composition: {name} has no fixed step from positions and velocities alone.")
        if why := method.why_not.get("composition"):
            raise ValueError(f"Composition: {name} cannot be composed: {why}.")
        if "composition" not in method.takes:
            raise ValueError(f"Composition: the method must be symmetric; {name}, with its parameters, is not.")
        substeps(self.order, self.scheme)
        if kicks(self.order, self.scheme) and not method.splits:
            raise ValueError(
                f"Composition: the scheme {self.scheme!r} is for explicit Newmark; {name} has other steps than drifts "
                "and changes of velocity. Take another scheme."
            )
        if method.order >= self.order:
            raise ValueError(
                f"Composition: the order must be above that of the method; it is {self.order}, and {name} is of order "
                f"{method.order:g} already."
            )

    @property
    def name(self) -> str:
        """How messages call the method inside, and a scheme that takes less than it does."""
        return f"{self.integrator.name} with the scheme '{self.scheme}'" if self._kicks else self.integrator.name

    @property
    def takes(self) -> frozenset[Trait]:
        """What the method takes, but for another composition; of forces of positions alone none from outside."""
        takes = self.integrator.takes
        # Steps back in time would flow once more.
        # Velocities of frames have a part across rigid motions of the order of the step squared, which sizes mix up.
        by_sizes = set() if "constraints" in takes or self.integrator.splits else {"frames"}
        return takes - by_sizes - {"composition", "history"} - (_OF_OTHERS if self._kicks else set())

    @cached_property
    def _kicks(self) -> list[float]:
        return kicks(self.order, self.scheme)

    @property
    def columns(self) -> tuple[Column, ...]:
        """Those of the method, but for totals of one step size, and the number of substeps."""
        return (*(column for column in self.integrator.columns if column not in _OF_A_STEP), _SUBSTEPS)

    @property
    def energy(self) -> str:
        """That of the method, but for those of one step size, where substeps have several."""
        return self.integrator.energy if "energy" in self.conserves else "total"

    def _step_size(self, system: System, state: State) -> float:
        """Return the step in s, of which the largest substep meets the stability limit first."""
        self._refuse_rigidity(system)
        method = self.integrator
        if method.dt == "auto":
            return method._step_size(system, state) / self._largest
        self._with_largest._step_size(system, state)
        return method.dt

    @cached_property
    def _with_largest(self) -> FixedStepIntegrator:
        """The method with the step that meets the stability limit first."""
        assert self.integrator.dt != "auto", "it is a number"
        return replace(self.integrator, dt=self.integrator.dt * self._largest)

    @cached_property
    def _largest(self) -> float:
        """The largest substep as part of the step."""
        if self._kicks:
            return 2.0 / _KICKS[self.order, self.scheme or ""][1]
        return max(map(abs, substeps(self.order, self.scheme)))

    def _motion(self, system: System, t0: float, dt: float, n: int) -> CompositionMotion:
        inner = self.integrator._motion(system, t0, dt, 0)  # steps are counted outside
        return CompositionMotion(inner, t0, dt, n, substeps(self.order, self.scheme), self._kicks)

    def _refuse_rigidity(self, system: System) -> None:
        """Check that no bodies are kept rigid by an energy, whose error of second order substeps do not cancel."""
        for name, energy in system.energies.items():
            if isinstance(energy, Rigidity):
                raise InvalidSystem(
                    f"Composition: rigid bodies must be rigid by constraints, got the energy '{name}' (Rigidity): its "
                    "stiffness follows dt, so its error is of second order. Use "
                    f"Composition(Rattle(dt, constraints), {self.order}) with the constraints of the bodies "
                    f"(RigidBodies.constraints), or {self.integrator.name} alone."
                )


@final
class CompositionMotion(FixedStepMotion):
    """A motion in substeps of another one; see `Composition`."""

    def __init__(
        self, inner: FixedStepMotion, t0: float, dt: float, n: int, parts: list[float], changes: Sequence[float] = ()
    ):
        super().__init__(inner.system, t0, dt, n)
        self.inner, self.filters_steps = inner, inner.filters_steps
        self._parts = parts
        self._starts = [math.fsum(parts[:i]) for i in range(len(parts))]
        self._sizes = np.array(parts)
        halves = 0.5 * self._sizes
        first = np.eye(1, len(parts))[0]
        pairs = (changes[0] * first, changes[1:]) if changes else (halves, halves)
        self._kicks = np.column_stack(pairs)
        self._of_step: tuple[float, tuple[Array, ...]] = 0.0, ()  # the last size of a step in s, and those of its parts

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that the method moves."""
        return self.inner.arrays()

    def begin(self, q: Array, v: Array) -> None:
        """Take positions and velocities [n, dim] of the start, and find all else that moves."""
        self.inner.begin(q, v)

    def change_velocities(self, v: Array) -> None:
        """Go on with other velocities [n, dim] in m/s, as the method does."""
        self.inner.change_velocities(v)

    def observe(self, t: float) -> None:
        """Set what belongs to a state at the time t in s."""
        self.inner.observe(t)

    def stencils_changed(self) -> None:
        """Let the method drop what was made for the stencils before."""
        self.inner.stencils_changed()

    def substep(self, t: float, h: float) -> None:
        """Move by the substeps of a step of the size h in s; the method shows which one fails."""
        self._step(t, h)

    def _step(self, t: float, h: float) -> None:
        if not self._compiled_steps(1, Steps.one(t, h)):
            self._substeps(t, h, 0)

    def _substeps(self, t: float, h: float, first: int) -> None:
        """Take the substeps of a step of the size h in s from the time t, from the first of these on."""
        for part, start in zip(self._parts[first:], self._starts[first:], strict=True):
            self.inner.substep(t + start * h, part * h)

    def _compiled_steps(self, n: int, steps: Steps) -> int:
        """Take up to n steps as the method takes their substeps; those that it leaves of a step follow one by one."""
        if len(steps.sizes) > 1:
            return 0
        h, parts = float(steps.sizes[0]), len(self._parts)
        if h != self._of_step[0]:
            self._of_step = h, (h * self._sizes, h * np.array(self._starts), h * self._kicks)
        substeps = Steps(steps.t0, steps.dt, steps.n, *self._of_step[1])
        whole, more = divmod(self.inner._compiled_steps(n * parts, substeps), parts)
        self._at_once = max(self.inner._at_once // parts, 1)
        if more:
            self._substeps(substeps.time(whole * parts), h, more)
        return whole + (more > 0)

    def energies(self, state: State) -> dict[str, float]:
        """Return the energies in J that the method knows, without those of one step size: substeps have several."""
        energies = self.inner.energies(state)
        of_a_step = {column.name for column in _OF_A_STEP}
        return {name: energy for name, energy in energies.items() if name not in of_a_step}

    def statistics(self) -> dict[str, float]:
        """Return the number of ``steps`` and ``substeps``, and what the method counts besides."""
        return self.inner.statistics() | {"steps": self.n, "substeps": self.n * len(self._parts)}
