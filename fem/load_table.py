"""Loads with compiled loops, for loops over steps that evaluate them many times, as `symplex.fem.gradient_table`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import carray, types  # pyright: ignore[reportPrivateImportUsage]
from numpy.typing import NDArray

from symplex.fem.actions.damping import ViscousLoad
from symplex.fem.call import address_of, call_kernel, call_writing_kernel, int32_at
from symplex.fem.forms import CompiledLoops
from symplex.fem.gradient_table import BLOCKS, LAW, VECTORS, arguments_of, row_of, table_of
from symplex.fem.kernels import kernel, uncounted_formula as formula
from symplex.fem.system import System


class LoadTable(NamedTuple):
    """All loads of a system, as compiled loops take them; what addresses lead to is the loads' and the pattern's.

    Attributes
    ----------
    rows : int64 [l, 10]
        Rows as those of a `symplex.fem.gradient_table.GradientTable`, with the loops of forces.
    derivatives : int64 [l, 2]
        The addresses of each load's loop of derivatives, and of the places of its stencils on the pattern; none [0, 2]
        without a pattern.
    write, subtract : int
        The addresses of kernels: of the forces of one load, and of the derivatives of all.
    """

    rows: NDArray[np.int64]
    derivatives: NDArray[np.int64]
    write: int
    subtract: int


class LoadLoops(NamedTuple):
    """A table and what is at its addresses, which lives as long.

    Attributes
    ----------
    table : LoadTable
    stencils : int
        How many there are in all.
    kept : tuple of CompiledLoops
    """

    table: LoadTable
    stencils: int
    kept: tuple[CompiledLoops, ...]


def load_loops(system: System, *, derivatives: bool) -> LoadLoops | None:
    """Return the table of a system's loads, with their derivatives on its pattern if wanted.

    None if a load has no loops.
    """
    loads = [load for load in system.loads.values() if isinstance(load, ViscousLoad)]
    if len(loads) < len(system.loads):
        return None
    for load in loads:
        load.require_dimension(system.dim)
    found = [load.compiled_loops for load in loads]
    rows = [row_of(one, address_of(one.loops["forces"], VECTORS, VECTORS, *LAW, VECTORS)) for one in found]
    slopes: list[tuple[int, int]] = []
    if derivatives and loads:
        kinds = [*[VECTORS] * 2, *LAW, types.float64, types.float64, types.int32[:, :, ::1], BLOCKS]
        places = system.pattern.slots[len(system.energies) :]
        slopes = [
            (address_of(one.loops["force_derivatives"], *kinds), slots.ctypes.data)
            for one, slots in zip(found, places, strict=False)
        ]
    of_rows = types.int64[:, ::1]
    write = address_of(_write, of_rows, types.int64, *[VECTORS] * 3) if loads else 0
    ends = *[VECTORS] * 2, types.float64, types.float64
    subtract = address_of(_subtract, of_rows, of_rows, *ends, BLOCKS) if slopes else 0
    addresses = LoadTable(table_of(rows), np.array(slopes, np.int64).reshape(-1, 2), write, subtract)
    return LoadLoops(addresses, sum(load.nodes.size for load in loads), tuple(found))


@formula
def write_load(table, k, q, v, out):
    """Set out [n, dim] to the forces of a load, the k-th one, at positions q and velocities v [n, dim]."""
    call_writing_kernel(table.write, (table.rows, k, q, v, out))


@formula
def subtract_load_derivatives(table, q, v, by_q, by_v, out):
    """Take by_q ∂f/∂q + by_v ∂f/∂v of all loads off the blocks out [nnz, dim, dim]."""
    call_writing_kernel(table.subtract, (table.rows, table.derivatives, q, v, by_q, by_v, out))


@kernel
def _write(rows, k, q, v, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = 0.0
    call_kernel(rows[k][9], (q, v, *arguments_of(rows[k]), out))


@kernel
def _subtract(rows, derivatives, q, v, by_q, by_v, out):
    for k in range(len(rows)):
        loop, at_slots = derivatives[k]
        places = carray(int32_at(at_slots), (rows[k][1], rows[k][2], rows[k][2]))
        call_kernel(loop, (q, v, *arguments_of(rows[k]), -by_q, -by_v, places, out))
