"""Which energy is infinite where an event of force-stepping has found no force, and what to try."""

from __future__ import annotations

from ctypes import CFUNCTYPE, c_double, c_void_p
from itertools import product

import numpy as np

from symplex.fem.energies.energy import Array
from symplex.time.events.stencil_lists import StencilLists


def infinite_energy(lists: StencilLists, x: Array, spacing: Array, i: int) -> tuple[str, str]:
    """Return which energy is infinite, as the end of a sentence, and what to try besides a smaller grid and an offset.

    Parameters are those of `infinite_stencil`.
    """
    found = infinite_stencil(lists, x, spacing, i)
    if found is None:
        return "", ""
    name, stencil = found
    energy = lists.energies[name]
    nodes = " and ".join(str(node) for node in energy.nodes[stencil])
    if energy.kind is not None:
        reason = f"; an element of '{name}' (nodes {nodes}) is inverted there"
        return reason, "a finer mesh where the body is crushed"
    return f"; energy '{name}' (nodes {nodes}) has a pole there", ""


def infinite_stencil(lists: StencilLists, x: Array, spacing: Array, i: int) -> tuple[str, int] | None:
    """Return the energy and the stencil that is infinite at the lattice vertex x or next to it.

    Parameters
    ----------
    lists : StencilLists
    x, spacing : float64 [n, dim]
        The vertex, in the axes of the lattice; it need be one for the neighbours of dof i only. Grid sizes.
    i : int
        The dof that an event happened to, with or without another.

    Returns
    -------
    tuple of str, int; or None
    """
    value_type = CFUNCTYPE(c_double, c_void_p, c_void_p)
    node, component = divmod(int(i), x.shape[1])
    for name, energy in lists.energies.items():
        local = lists.functions[name]
        value = value_type(local.value)
        for stencil in np.flatnonzero((energy.nodes == node).any(axis=1)):
            members, row = energy.nodes[stencil], local.parameters[stencil]
            step = np.where(members == node, spacing[node, component], 0.0)[:, None] * np.eye(x.shape[1])[component]
            steps = [step.ravel(), *np.diag(spacing[members].ravel())]
            for mine, other in product((0.0, 1.0, -1.0), repeat=2):
                for along in steps:
                    at = x[members] + (mine * steps[0] + other * along).reshape(step.shape)
                    if not np.isfinite(value(row.ctypes.data, at.ctypes.data)):
                        return name, int(stencil)
    return None
