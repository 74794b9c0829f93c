"""Section forces of beams and shells in a system, with those of parts that have a history."""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

import numpy as np

from symplex.base.arguments import checked
from symplex.fem.assembly.pattern import Array
from symplex.fem.energies.inelastic import Inelastic
from symplex.fem.state import State
from symplex.fem.structures.beam import Beams
from symplex.fem.structures.shell import Shells
from symplex.fem.structures.viscoelastic_sections import ViscoelasticSections
from symplex.fem.structures.yielding_beams import YieldingBeams


@checked
@final
class SectionForces:
    """The section forces of beams or shells at a state, also where they are viscoelastic or yield.

    Parameters
    ----------
    structure : Beams or Shells
    inelastic : mapping of str to Inelastic
        The inelastic parts of the system, of which those of the structure count.
    first : int, default 0
        The number of its first particle in the system.
    """

    def __init__(self, structure: Beams | Shells, inelastic: Mapping[str, Inelastic], first: int = 0):
        self._structure, last = structure, first + len(structure.points)
        self._own = slice(first, last)
        self._parts = {
            name: part
            for name, part in inelastic.items()
            if isinstance(part, YieldingBeams | ViscoelasticSections) and first <= part.nodes.min() < last
        }

    def __call__(self, state: State) -> Array:
        """Return them [m, 6] or [m, 8], as `Beams.section_forces` or, one energy after the other, `Shells` has them."""
        structure, q = self._structure, state.q
        internal = {name: (part, state.internal[name]) for name, part in self._parts.items()}
        if isinstance(structure, Beams):
            yields = any(isinstance(part, YieldingBeams) for part, _ in internal.values())
            out = np.zeros((len(structure.lines), 6)) if yields else structure.section_forces(q[self._own])
            for part, z in internal.values():
                stresses = part.stresses(q, z)
                out[:, :3] += stresses[:, :3] / structure.lengths[:, None]
                out[:, 3:] += stresses[:, 3:]
            return out
        more = {
            part.strains.name: part.overstrains(q, z)
            for part, z in internal.values()
            if isinstance(part, ViscoelasticSections)
        }
        found = structure.section_forces(q[self._own], more)
        return np.concatenate([found[name] for name in structure.cells])
