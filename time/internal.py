"""The internal variables of a system in motion: those of its inelastic parts, carried from step to step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

import numpy as np

from symplex.fem.energies.energy import Array
from symplex.fem.system import System

_STORED_AS = "internal "  # and the name of a part: in a checkpoint


@final
class InternalVariables:
    """The internal variables at the beginning of a step, and what follows from an increment of it.

    Parameters
    ----------
    system : System

    Attributes
    ----------
    values : dict of str to float64
        By the names of parts.
    """

    def __init__(self, system: System):
        self._system = system
        self.values = {name: np.zeros(part.shape) for name, part in system.inelastic.items()}

    def __bool__(self) -> bool:
        """Whether there are any."""
        return len(self.values) > 0

    def arrays(self) -> dict[str, np.ndarray]:
        """Return what belongs into a checkpoint."""
        return arrays_of(self.values)

    def subtract_forces(self, q0: Array, q1: Array, h: float, out: Array, *, mean: bool) -> None:
        """Take the forces of an increment of h s from q0 to q1 [n, dim] off out: mean ones, or those at its end."""
        for name, part in self._system.inelastic.items():
            force = part.mean_force if mean else part.force
            out -= force(q0, self.values[name], q1, h)

    def subtract_derivatives(self, q0: Array, q1: Array, h: float, by_q: float, out: Array, *, mean: bool) -> None:
        """Take by_q ∂f/∂q1 off the blocks out [nnz, dim, dim]."""
        slots = self._system.inelastic_slots()
        for name, part in self._system.inelastic.items():
            part.add_derivatives(q0, self.values[name], q1, h, -by_q, slots[name], out, mean=mean)

    def come_to_rest(self, q0: Array, q1: Array) -> list[float]:
        """Take those at rest at the positions q1 [n, dim]; return what each part dissipates on the way from q0, in J.

        Those of parts with history follow the increment, others relax, and what these dissipate is not known.
        """
        dissipated: list[float] = []
        for name, part in self._system.inelastic.items():
            z, lost = self.values[name], 0.0
            if part.history:
                z[...], lost = part.after(q0, z, q1, np.inf)
            else:
                z[...] = part.relaxed(q1)
            dissipated.append(lost)
        return dissipated

    def advance(self, q0: Array, q1: Array, h: float) -> list[float]:
        """Go on to the end of an increment of h s; return what each part dissipates, in J."""
        dissipated: list[float] = []
        for name, part in self._system.inelastic.items():
            z = self.values[name]
            z[...], lost = part.after(q0, z, q1, h)
            dissipated.append(lost)
        return dissipated

    def advance_with_forces(self, q0: Array, q1: Array, h: float, out: Array) -> list[float]:
        """Do `advance`, and take the forces at the end of the increment off out [n, dim]."""
        dissipated: list[float] = []
        for name, part in self._system.inelastic.items():
            z = self.values[name]
            force, z[...], lost = part.force_and_after(q0, z, q1, h)
            out -= force
            dissipated.append(lost)
        return dissipated

    def expose(self, q: Array) -> list[float]:
        """Let energies follow elements that are gone, at positions q [n, dim]; return what of theirs is lost in J.

        It is that of contact with faces that are gone, less that of contact with faces that lie open now, by parts, in
        whose variables it is counted as well.
        """
        parts = self._system.inelastic
        lost = dict.fromkeys(parts, 0.0)
        for name, element, change in self._system.expose(self.values, q):
            parts[name].add_lost(self.values[name], element, change)
            lost[name] += change
        return list(lost.values())


def stored_as(name: str) -> str:
    """Return how the internal variables of a part are called among the arrays of a motion."""
    return _STORED_AS + name


def internal_of(arrays: Mapping[str, np.ndarray]) -> dict[str, Array]:
    """Return copies of the internal variables among the arrays of a motion, by the names of parts."""
    return {name.removeprefix(_STORED_AS): z.copy() for name, z in arrays.items() if name.startswith(_STORED_AS)}


def arrays_of(internal: Mapping[str, Array]) -> dict[str, Array]:
    """Return internal variables, by the names of parts, as they are called among the arrays of a motion."""
    return {stored_as(name): z for name, z in internal.items()}


def take_internal(arrays: Mapping[str, np.ndarray], internal: Mapping[str, Array]) -> None:
    """Set the internal variables among the arrays of a motion."""
    for name, z in internal.items():
        arrays[stored_as(name)][...] = z
