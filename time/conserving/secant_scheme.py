"""Schemes that are made of the secant matrix 𝓕 and of accelerations from outside, in compiled loops."""

from __future__ import annotations

from abc import abstractmethod
from math import isfinite

import numpy as np

from symplex.fem.compiled.callbacks import Callback
from symplex.fem.energies.energy import Array
from symplex.fem.system import System
from symplex.time.conserving import scheme_loops as loops
from symplex.time.conserving.algorithm_mc import ConservingScheme
from symplex.time.conserving.gauss_interpolant import GaussInterpolant
from symplex.time.conserving.scheme_table import SchemeTable
from symplex.time.conserving.secant_operator import SecantOperator


class SecantScheme(ConservingScheme):
    """A scheme that compiled loops evaluate, which call back what has no compiled form.

    Parameters
    ----------
    system : System
    external : tuple of str
        Energies that act like loads.
    """

    needs = frozenset({"secant"})
    takes_external = True

    def __init__(self, system: System, external: tuple[str, ...]):
        super().__init__(system, external)
        self._secant = SecantOperator(system, external)
        self._external = set(external)
        self._back = Callback(self._called)
        self._rule, self._table, times = self._numbers()  # of forces from outside
        self._times = np.array([0.0, 1.0, *self._rule.points, *times])
        self._works = np.zeros((len(system.loads), len(self._rule.points)))
        self._pattern = None

    @abstractmethod
    def _numbers(self) -> tuple[GaussInterpolant, SchemeTable, tuple[float, ...]]:
        """Return the rule for forces from outside, the scheme, and at which other parts of a step it sees these."""

    def compiled(self) -> tuple[SchemeTable, loops.SchemeForces] | None:
        """Return the scheme and the system as compiled loops take them, if nothing is called back."""
        self._follow_pattern()
        return None if self._forces.in_python else (self._table, self._forces)

    def _follow_pattern(self) -> None:
        """Take the system's forces, or again if stencils have changed."""
        system = self.system
        if system.pattern is self._pattern:
            return
        secant = system.energies.keys() - self._external
        found = loops.scheme_forces(system, self._back.address, secant=secant, external=self._external)
        assert found is not None, "what has no loops is called back"
        self._forces, self._rooms = found, loops.scheme_rooms(self._table, system)
        self._address = loops.evaluation(self._table, self._forces, self._rooms)
        self._pattern = system.pattern

    def begin(self, t: float, h: float, z0: Array, a0: Array) -> None:
        """Set up a step of size h in s from the time t, the state z0 [2, n, dim] and the accelerations a0 there."""
        super().begin(t, h, z0, a0)
        self._follow_pattern()
        self._evaluate(True, z0, z0)

    def add(self, z1: Array, out: Array) -> None:
        """Write C (Z0 + Z1)/2 + Z_a [2, n, dim] to out, if the step ends at z1."""
        self._evaluate(False, np.ascontiguousarray(z1), out)

    def _evaluate(self, begins: bool, z1: Array, out: Array) -> None:
        """Evaluate the beginning of the step, or what it adds."""
        where = self._rooms, self.h, self.z0, z1, self.a0, out
        if not isfinite(loops.evaluate(self._address, begins, self._table, self._forces, *where)):
            self._back.raise_failure()
            # Energies say of which stencil forces are not finite.
            loops.evaluate(self._address, begins, self._table, self._forces.replace(in_python=True), *where)
            self._back.raise_failure()

    def work(self, z1: Array) -> list[float]:
        """Return the work in J of each load in the step that ended at z1 when it was evaluated last."""
        return [float(work) for work in self._works @ self._rule.weights]

    def _called(self, number: int) -> None:
        """Do what has no compiled form."""
        place, kind = divmod(number, loops.KINDS)
        h, secant, vectors = self.h, self._secant, self._rooms.vectors
        q, w, result = vectors[loops.POSITION], vectors[loops.RATE], vectors[loops.RESULT]
        if kind == loops.CALL_SECANTS:
            self._rooms.found[:] = secant.values(q)
        elif kind == loops.CALL_RATES:
            self._rooms.found[:] = secant.rate_values(q, w)
        elif kind == loops.CALL_ACCELERATIONS:
            result[...] = h * h * secant.accelerations(self.t + h * self._times[loops.END], q, w / h)
        elif kind == loops.CALL_OUTSIDE:
            result[...] = h * h * secant.from_outside(self.t + h * self._times[place], q, w / h)
            if 0 <= (point := place - loops.POINTS) < self._works.shape[1]:
                self._works[:, point] = [self.system.dot(force, w) for force in secant.acting]
        elif kind == loops.CALL_MASS:
            result[...] = self.system.accelerations(result.copy())
