"""The interpolated potential energy V_h at any positions."""

import numpy as np

from symplex.fem.call import call_value
from symplex.fem.kernels import kernel


@kernel
def _sort_descending(keys, order, n):
    """Write into order the indices 0 … n − 1 by falling keys (insertion sort: n is a dozen)."""
    for k in range(n):
        place = k
        while place > 0 and keys[order[place - 1]] < keys[k]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = k


@kernel
def lattice_energy(nodes, value, parameters, lattice, z):
    """Return the piecewise-linear energy V_h in J of one family of stencils at the lattice coordinates z [n·dim].

    V_h is linear on Kuhn simplices: from the vertex ⌊z⌋ one coordinate after the other goes up, that with
    the largest fraction first, V_h = φ(u) + Σ f_k [φ(u + e_1 + … + e_k) − φ(u + e_1 + … + e_(k−1))]. Where
    mirrored u_i is the nearest even number, f_i the distance from it, and e_i points to the side of z_i.
    The sum is compensated (Neumaier).

    Parameters
    ----------
    nodes : int32 [m, k]
        The stencils.
    value : int
        The address of the value of φ.
    parameters : float64 [m, p]
    lattice : Lattice
    z : float64 [n·dim]
    """
    dim = lattice.dim
    size = nodes.shape[1] * dim
    local, step, fraction, order = np.empty(size), np.empty(size), np.empty(size), np.empty(size, np.int64)
    sum_, rest = 0.0, 0.0
    for stencil in range(len(nodes)):
        for k in range(size):
            i = nodes[stencil, k // dim] * dim + k % dim
            cell = 2.0 * np.round(0.5 * z[i]) if lattice.mirrored[i] else np.floor(z[i])
            local[k] = lattice.spacing[i] * (cell + lattice.offset[i])
            step[k] = -lattice.spacing[i] if z[i] < cell else lattice.spacing[i]
            fraction[k] = abs(z[i] - cell)
        p = parameters[stencil].ctypes.data
        before = call_value(value, p, local.ctypes.data)
        energy = before
        _sort_descending(fraction, order, size)
        for k in order:
            local[k] += step[k]
            after = call_value(value, p, local.ctypes.data)
            energy += fraction[k] * (after - before)
            before = after
        total = sum_ + energy
        rest += (sum_ - total) + energy if abs(sum_) >= abs(energy) else (energy - total) + sum_
        sum_ = total
    return sum_ + rest
