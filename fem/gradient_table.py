"""The gradient of laws of measures and constant forces, for compiled loops that evaluate it many times.

To call energies from Python takes microseconds, which is most of a step of a small truss or a pendulum. All laws of
measures have one loop (`symplex.fem.measures.loops.add_gradient`), so that a compiled loop over steps calls it for each
of them, and nothing is compiled for a combination of energies.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import carray  # pyright: ignore[reportPrivateImportUsage]
from numpy.typing import NDArray

from symplex.fem.actions.loads import DeadLoad
from symplex.fem.assembly import Array, IntArray
from symplex.fem.call import float64_at, int32_at
from symplex.fem.kernels import formula
from symplex.fem.measures import loops
from symplex.fem.measures.composition import MeasureEnergy
from symplex.fem.potential import Potential


class GradientTable(NamedTuple):
    """The gradient of a potential, as compiled loops take it; see `write_gradient`.

    Attributes
    ----------
    constant : float64 [n, dim]
        The part of it in N that does not depend on positions.
    rows : int64 [k, 9]
        For each law of a measure its stencils (address, m, k), measure (address, numbers), law, and the addresses of
        its two constants and its end.
    stencils : int
        How many there are in all.
    arrays : tuple of ndarray
        Those at the addresses, which live as long as the table.
    """

    constant: Array
    rows: NDArray[np.int64]
    stencils: int
    arrays: tuple[Array | IntArray, ...]


def gradient_table(potential: Potential) -> GradientTable | None:
    """Return the table of a potential, or None if an energy is neither a compiled law nor a constant force."""
    constant, rows, arrays, stencils = np.zeros((potential.n_nodes, potential.dim)), [], [], 0
    for energy in potential.energies.values():
        if isinstance(energy, DeadLoad):
            energy.add_gradient(constant, constant)
        elif isinstance(energy, MeasureEnergy) and (found := energy.compiled_gradient(potential.dim)) is not None:
            nodes, measure, law, a, b, end = found
            arrays += [nodes, measure, a, b, end]
            at_nodes, at_measure, *others = (array.ctypes.data for array in (nodes, measure, a, b, end))
            rows.append([at_nodes, *nodes.shape, at_measure, len(measure), law, *others])
            stencils += len(nodes)
        else:
            return None
    return GradientTable(constant, np.array(rows, np.int64).reshape(-1, 9), stencils, tuple(arrays))


@formula
def write_gradient(constant, rows, q, out):
    """Set out [n, dim] to the gradient at q [n, dim]; return a sum that is finite if all forces are."""
    check = 0.0
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = constant[i, j]
    for row in range(len(rows)):
        at_nodes, m, k, at_measure, numbers, law, at_a, at_b, at_end = rows[row]
        nodes = carray(int32_at(at_nodes), (m, k))
        measure, end = carray(float64_at(at_measure), numbers), carray(float64_at(at_end), 4)
        a, b = carray(float64_at(at_a), m), carray(float64_at(at_b), m)
        check += loops.add_gradient(q, nodes, measure, law, a, b, end, out)
    return check
