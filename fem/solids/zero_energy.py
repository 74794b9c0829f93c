"""Motions of elements that cost no energy although they are not rigid: those of reduced integration."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from symplex.fem.energies.energy import Array, Energy
from symplex.fem.solids.solid import Solid, solids_of

_RIGID = 1e-6  # of the motion of an element that may differ from a rigid one


def zero_energy_elements(solid: Solid, q: Array, u: Array) -> int:
    """Return how many elements a motion without stiffness strains, because their quadrature does not see it.

    Elements of ``"reduced"`` formulation have six such motions each, of which some are left in a row of single
    elements, or if one is alone. All other formulations see every strain.

    Parameters
    ----------
    solid : Solid
    q : float64 [n, 3]
        Positions in m.
    u : float64 [n, 3]
        A motion with K u = 0 in any unit, as a mode of frequency zero.
    """
    if solid.formulation != "reduced" or not len(solid.nodes):
        return 0
    x, v = q[solid.nodes], u[solid.nodes]
    x, v = x - x.mean(axis=1, keepdims=True), v - v.mean(axis=1, keepdims=True)
    # the turn ω that fits best: Σ (|x|² 1 − x ⊗ x) ω = Σ x × v
    inertia = np.einsum("eai,eai,jk->ejk", x, x, np.eye(3)) - np.einsum("eai,eaj->eij", x, x)
    turn = np.linalg.solve(inertia, np.cross(x, v).sum(axis=1)[:, :, None])[:, :, 0]
    left = np.linalg.norm(v - np.cross(turn[:, None], x), axis=(1, 2))
    return int(np.count_nonzero(left > _RIGID * np.linalg.norm(u[solid.nodes], axis=(1, 2)).max()))


def has_reduced(energies: Mapping[str, Energy]) -> bool:
    """Return whether there are elements of reduced integration among the energies of a system."""
    return any(solid.formulation == "reduced" for solid in solids_of(energies).values())


def zero_energy_reason(energies: Mapping[str, Energy], q: Array, u: Array) -> str | None:
    """Return the sentence that says which bodies let a motion without stiffness through, if any does.

    Parameters
    ----------
    energies : mapping of str to Energy
        Those of a system, by name.
    q, u : float64 [n, 3]
        See `zero_energy_elements`.
    """
    counts = {name: zero_energy_elements(solid, q, u) for name, solid in solids_of(energies).items()}
    found = [f"{count} of {name!r}" for name, count in counts.items() if count]
    if not found:
        return None
    return (
        f"hexahedra of reduced integration have zero-energy modes where they are alone or in single rows, and "
        f'{" and ".join(found)} move so; take formulation = "full", or two elements in each direction.'
    )
