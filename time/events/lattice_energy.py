"""The interpolated potential energy V_h at any positions, and its slopes."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symplex.fem.compiled.call import call_value
from symplex.fem.compiled.kernels import kernel
from symplex.fem.energies.energy import Array, Energy
from symplex.time.events.lattice_tracks import Lattice, place


def lattice_slopes(energy: Energy, lattice: Lattice, z: Array, from_axes: Callable[[Array], Array]) -> Array:
    """Return the slopes [m, k, dim] in N, in the axes of the lattice, of an energy's stencils at z.

    Kuhn's triangulation cuts the coordinates of each stencil by themselves in the same way, so that the slope of a
    local energy follows from its values along the path of vertices of its own small simplex.

    Parameters
    ----------
    energy : Energy
    lattice : Lattice
    z : float64 [n, dim]
        Lattice coordinates.
    from_axes : callable
        Returns positions [..., dim] in space from those in the axes of the lattice.
    """
    m, k = energy.nodes.shape
    dim = z.shape[1]

    def of_stencils(values: NDArray[Any]) -> NDArray[Any]:
        return values.reshape(z.shape)[energy.nodes].reshape(m, k * dim)  # there may be none

    spacing = of_stencils(lattice.spacing)
    cell, sign, fraction = place(of_stencils(z), of_stencils(lattice.mirrored))
    order = np.argsort(-fraction, axis=1, kind="stable")
    vertex, step = spacing * of_stencils(lattice.offset) + spacing * cell, sign * spacing
    rows = np.arange(m)
    slopes = np.empty_like(vertex)
    before = energy.value(from_axes(vertex.reshape(m, k, dim)))
    for i in order.T:  # one coordinate after the other goes one grid size on, the largest fraction first
        vertex[rows, i] += step[rows, i]
        after = energy.value(from_axes(vertex.reshape(m, k, dim)))
        slopes[rows, i] = (after - before) / step[rows, i]
        before = after
    return slopes.reshape(m, k, dim)


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
            cell = 2.0 * np.rint(0.5 * z[i]) if lattice.mirrored[i] else np.floor(z[i])
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
