"""What the parts of a body are together: their strain energies by body, their cells, and values of these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from symplex.fem.couplings.interpolation import ChangingInterpolatedEnergy, InterpolatedEnergy
from symplex.fem.energies.energy import Array, Energy, IntArray
from symplex.fem.solids.solid import Solid

C = TypeVar("C", bound=Energy)


def parts_by_body(names: Sequence[str], solids: Mapping[str, Solid]) -> dict[str, dict[str, Solid]]:
    """Return strain energies by body: those that are named after it, or after one of its parts."""
    return {
        body: {name: solid for name, solid in solids.items() if name == body or name.startswith(f"{body}.")}
        for body in names
    }


def joined_cells(solids: Mapping[str, Solid]) -> dict[str, IntArray]:
    """Return the cells [m, k] of several strain energies by type, each type in the order of the energies."""
    kinds = dict.fromkeys(solid.kind for solid in solids.values())
    return {kind: np.concatenate([s.nodes for s in solids.values() if s.kind == kind]) for kind in kinds}


def joined_values(solids: Mapping[str, Solid], values: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
    """Return values [m] of the cells of several strain energies, given by name, in the order of `joined_cells`."""
    kinds = dict.fromkeys(solid.kind for solid in solids.values())
    return np.concatenate([values[name] for kind in kinds for name, solid in solids.items() if solid.kind == kind])


def contacts_in(energies: Mapping[str, Energy], *kinds: type[C]) -> dict[str, C]:
    """Return the energies of some kinds by name, those of points that follow nodes as of these points."""
    interpolated = (InterpolatedEnergy, ChangingInterpolatedEnergy)
    inner = {name: one.energy if isinstance(one, interpolated) else one for name, one in energies.items()}
    return {name: one for name, one in inner.items() if isinstance(one, kinds)}


def points_of(energy: Energy, q: Array) -> Array:
    """Return the positions [p, 3] in m, at nodal positions q [n, 3], of the points that a contact energy is of."""
    return energy.interpolation.points(q) if isinstance(energy, ChangingInterpolatedEnergy) else q
