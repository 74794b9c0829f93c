"""What all implicit methods share: the loop over steps, and the parameters of a method."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from symplex.errors import InvertedElement, MaterialFailed, StepFailed
from symplex.fem.energy import Array
from symplex.fem.system import State, System
from symplex.time.integrator import FixedStepMotion, Integrator
from symplex.time.newton import Newton, NewtonSolver


class ImplicitMotion(FixedStepMotion):
    """A motion whose steps solve equations for the increment of positions (see `symplex.time.newton.StepEquations`)."""

    name: str
    inertia: float
    impulse: float
    symmetric: bool

    def __init__(self, system: System, t0: float, dt: float, n: int, newton: Newton):
        super().__init__(system, t0, dt, n)
        shape = (system.n_nodes, system.dim)
        self._q, self._v, self._a, self.constant, self._buffer = (np.zeros(shape) for _ in range(5))
        self._corrections, self._halved = np.zeros(1), np.zeros(1)
        self._halvings = newton.halvings
        self._solver = NewtonSolver(system, newton)
        self._loads = list(system.loads.values())
        self._work_done = np.zeros(len(self._loads))
        self.symmetric = self.symmetric and not system.differentiable_loads

    @abstractmethod
    def _loaded(self, dq: Array) -> tuple[float, Array, Array]:
        """Return the time, positions and velocities at which the step sees the loads."""

    @abstractmethod
    def forces(self, dq: Array, out: Array) -> None:
        """Write the forces of the step [n, dim] in N for the increment Δq to out."""

    @abstractmethod
    def blocks(self, dq: Array, out: Array) -> None:
        """Write the blocks [nnz, dim, dim] in N/m of the derivative of the forces to out."""

    @abstractmethod
    def _begin(self, t: float, h: float) -> None:
        """Set up the equations of a step of size h in s from the time t."""

    @abstractmethod
    def _finish(self, h: float, dq: Array, forces: Array) -> None:
        """Move by the increment Δq with the forces there (zero where fixed), which may be overwritten."""

    def _arrays(self) -> dict[str, np.ndarray]:
        return {"q": self._q, "v": self._v, "a": self._a, "corrections": self._corrections, "halved": self._halved} | {
            "work": self._work_done
        }

    def _initial(self, q: Array, v: Array, a: Array) -> dict[str, np.ndarray]:
        """Return all arrays as they are at a start."""
        return {"q": q, "v": v, "a": a, "corrections": np.zeros(1), "halved": np.zeros(1)} | {
            "work": np.zeros(len(self._loads))
        }

    def statistics(self) -> dict[str, float]:
        """Return the number of ``steps``, of ``corrections`` by Newton's method, and of ``halved`` steps if allowed."""
        counts: dict[str, float] = {"steps": self.n, "corrections": int(self._corrections[0])}
        if self._halvings:
            counts["halved"] = int(self._halved[0])
        return counts

    def _run(self, n_steps: int) -> None:
        try:
            for _ in range(n_steps):
                self._step(self.t, self.dt, self._halvings)
                self.n += 1
            self._observe()
        except StepFailed as error:
            when = f"{self.name} stopped in the step from t = {self.t:.6g} s (dt = {self.dt:.4g} s)"
            raise retold(error, f"{when}: {error}") from None

    def _step(self, t: float, h: float, halvings: int) -> None:
        """Take a step of size h in s from the time t, in two halves if it cannot be solved at once."""
        solver, system = self._solver, self.system
        self._begin(t, h)
        try:
            self._corrections += solver.solve(self, self._q)
        except StepFailed:
            if halvings == 0:
                raise
            self._halved += 1
            self._step(t, 0.5 * h, halvings - 1)
            self._step(t + 0.5 * h, 0.5 * h, halvings - 1)
            return
        if system.has_supports:
            solver.forces[system.fixed] = 0.0
        if self._loads:
            self._work_done += self._work(h, solver.increment)
        self._finish(h, solver.increment, solver.forces)

    def _observe(self) -> None:
        """Set what is not needed for the steps, but belongs to a state: here the accelerations."""
        force = self.system.force(self.t, self._q, self._v, self._buffer)
        self.system.accelerations(force, self._a)

    def _subtract_loads(self, dq: Array, out: Array) -> None:
        """Take the loads off the forces of the step."""
        if self._loads:
            t, q, v = self._loaded(dq)
            for load in self._loads:
                out -= load(t, q, v)

    def _subtract_load_derivatives(self, dq: Array, by_q: float, by_v: float, out: Array) -> None:
        """Take their derivatives off the blocks, where q and v change by by_q and by_v (in 1/s) times Δq."""
        if self.system.differentiable_loads:
            self.system.add_load_derivatives(*self._loaded(dq), -by_q, -by_v, out)

    def _work(self, h: float, dq: Array) -> list[float]:
        """Return the work in J of each load in a step of size h in s, before the motion has moved."""
        t, q, v = self._loaded(dq)
        return [float(np.vdot(load(t, q, v), dq)) for load in self._loads]

    def energies(self, state: State) -> dict[str, float]:
        """Return the energies of the system in J.

        With loads also the work of each since the start, ``work_NAME``, and ``balance``: the total energy less all
        work.
        """
        parts = self.system.energies_of(state)
        for name, work in zip(self.system.loads, self._work_done, strict=True):
            parts[f"work_{name}"] = float(work)
        if self._loads:
            parts["balance"] = parts["total"] - float(self._work_done.sum())
        return parts


def dividing(dt: float, interval: float) -> float:
    """Return the largest step in s not above dt that divides an interval in s."""
    # The tolerance keeps a dt that divides the interval but for rounding.
    return interval / max(math.ceil(interval / dt * (1.0 - 1e-12)), 1)


def retold(error: StepFailed, told: str) -> StepFailed:
    """Return an error of the same kind with another text."""
    if isinstance(error, InvertedElement | MaterialFailed):
        return type(error)(told, error.element)
    return StepFailed(told)


@dataclass(frozen=True)
class ImplicitIntegrator(Integrator):
    """A method with implicit steps of one size.

    Parameters
    ----------
    dt : float
        Step in s.
    newton : Newton, optional
        How the equations are solved.

    Raises
    ------
    ValueError
        If the step is not positive.
    """

    dt: float
    newton: Newton = field(default=Newton(), kw_only=True)

    def __post_init__(self):
        if not (isinstance(self.dt, int | float) and math.isfinite(self.dt) and self.dt > 0):
            raise ValueError(f"{type(self).__name__}: dt must be positive; it is {self.dt!r}.")

    def start(self, system: System, state: State) -> ImplicitMotion:
        """Return the motion that begins at the positions and velocities of a state; fixed coordinates are at rest.

        Raises
        ------
        InvalidSystem
            If an energy does not give what the method needs.
        """
        motion = self._motion(system, state.t, self.dt, 0)
        v = np.where(system.fixed, 0.0, state.v)
        motion._restore(motion._initial(state.q, v, system.accelerations(system.force(state.t, state.q, v))))
        return motion

    def resume(self, system: System, checkpoint: Mapping[str, np.ndarray]) -> ImplicitMotion:
        """Return the motion that goes on from a checkpoint, bit-identically, with the step stored there."""
        motion = self._motion(system, float(checkpoint["t0"]), float(checkpoint["dt"]), int(checkpoint["n"]))
        motion._restore(checkpoint)
        return motion

    def fit(self, system: System, state: State, interval: float) -> Self:
        """Return the method with the largest step not above its own that divides an interval in s."""
        return replace(self, dt=dividing(self.dt, interval))

    @abstractmethod
    def _motion(self, system: System, t0: float, dt: float, n: int) -> ImplicitMotion:
        """Return a motion of this method, its arrays not yet set."""
