"""Probes of inelastic parts: what they show of their stencils, such as the damage of bonds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, final

import numpy as np

from symplex.base.arguments import checked
from symplex.errors import InvalidSystem
from symplex.fem.assembly.nodes import Nodes
from symplex.fem.assembly.pattern import Array
from symplex.fem.energies.inelastic import Inelastic
from symplex.fem.outputs.probe import Numbers, Probe, chosen_of, require, require_reductions
from symplex.fem.outputs.snapshots import Observation
from symplex.fem.system import System

OfBonds = Literal["damage", "opening"]
OfHinges = Literal["plastic_rotation", "utilization", "plastic_work"]


@checked
@final
class InelasticProbe(Probe):
    """What an inelastic part shows of its stencils: fields of `Inelastic.fields`, such as damage or plastic strain.

    Parameters
    ----------
    name : str
    system : System
    part : str
        Name of the inelastic part in the system.
    quantities : sequence of str
        Names of its fields.
    stencils : int [k], optional
        Which of its stencils (members, faces); default: all.
    reduce : sequence of str, optional
        Of ``mean``, ``max``, ``min``, ``sum``; default: each stencil.

    Raises
    ------
    InvalidSystem
        If there is no such part, stencil, field or reduction.
    """

    def __init__(
        self,
        name: str,
        system: System,
        part: str,
        quantities: Sequence[str],
        *,
        stencils: Nodes | None = None,
        reduce: Sequence[str] = (),
    ):
        if part not in system.inelastic:
            known = ", ".join(map(repr, system.inelastic)) or "none"
            raise InvalidSystem(f"InelasticProbe: there is no inelastic part '{part}'; there are {known}.")
        require_reductions("InelasticProbe", reduce)
        self._part: Inelastic = system.inelastic[part]
        self._chosen = chosen_of("InelasticProbe", "stencils", stencils, len(self._part.nodes))
        if not len(quantities):
            raise InvalidSystem("InelasticProbe: no quantity is given; name fields of the part.")
        self.name, self._of, self._quantities = name, part, tuple(quantities)
        labels = [str(k) for k in self._chosen]
        self._numbers = [
            Numbers(f"{name}: {one.replace('_', ' ')}", one, (), labels, None, reduce) for one in quantities
        ]
        self.columns = tuple(column for numbers in self._numbers for column in numbers.columns)

    def values(self, seen: Observation) -> Array:
        """Return the numbers [columns] of a state."""
        fields = self._part.fields(seen.state.q, seen.state.internal[self._of])
        require(f"InelasticProbe '{self.name}'", self._quantities, tuple(fields))
        return np.concatenate(
            [
                numbers.of(fields[one][self._chosen][None])[0]
                for one, numbers in zip(self._quantities, self._numbers, strict=True)
            ]
        )
