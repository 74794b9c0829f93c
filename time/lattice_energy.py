"""The interpolated potential energy V_h at any positions."""

import numpy as np
from numba import njit

from symplex.fem.call import call_value

_jit = njit(cache=True, error_model="numpy", fastmath={"contract"})


@_jit
def _sort_descending(keys, order, n):
    """Write into order the indices 0 … n − 1 by falling keys (insertion sort: n is a dozen)."""
    for k in range(n):
        place = k
        while place > 0 and keys[order[place - 1]] < keys[k]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = k


@_jit
def lattice_energies(things, lattice, z, out):
    """Add to out [families] the piecewise-linear energies V_h in J at the lattice coordinates z [n·dim].

    V_h is linear on Kuhn simplices: from the vertex ⌊z⌋ one coordinate after the other goes up, that with
    the largest fraction first, V_h = φ(u) + Σ f_k [φ(u + e_1 + … + e_k) − φ(u + e_1 + … + e_(k−1))]. On a mirrored
    lattice u is the nearest even vertex, f the distance from it, and e points to the side of z.
    Sums are compensated (Neumaier).
    """
    rest = np.zeros(len(out))
    local, step, fraction, order = np.empty(0), np.empty(0), np.empty(0), np.empty(0, np.int64)
    for stencil in range(len(things.family)):
        dofs = things.stencil[things.stencil_ptr[stencil] : things.stencil_ptr[stencil + 1]]
        if len(local) < len(dofs):
            local, step, fraction = np.empty(len(dofs)), np.empty(len(dofs)), np.empty(len(dofs))
            order = np.empty(len(dofs), np.int64)
        for k in range(len(dofs)):
            i = dofs[k]
            cell = 2.0 * np.round(0.5 * z[i]) if lattice.mirrored else np.floor(z[i])
            local[k] = lattice.spacing[i] * (cell + lattice.offset[i])
            step[k] = -lattice.spacing[i] if z[i] < cell else lattice.spacing[i]
            fraction[k] = abs(z[i] - cell)
        family = things.family[stencil]
        f, p = things.value[family], things.parameters[stencil]
        before = call_value(f, p, local.ctypes.data)
        energy = before
        _sort_descending(fraction, order, len(dofs))
        for k in order[: len(dofs)]:
            local[k] += step[k]
            after = call_value(f, p, local.ctypes.data)
            energy += fraction[k] * (after - before)
            before = after
        total = out[family] + energy
        rest[family] += (
            (out[family] - total) + energy if abs(out[family]) >= abs(energy) else (energy - total) + out[family]
        )
        out[family] = total
    out += rest
