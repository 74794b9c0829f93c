"""Loads with compiled loops, for loops over steps that evaluate them many times, as `symplex.fem.gradient_table`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import carray, types  # pyright: ignore[reportPrivateImportUsage]
from numpy.typing import NDArray

from symplex.fem.actions.histories import Factor
from symplex.fem.actions.looped_load import CompiledLoad
from symplex.fem.assembly import Array
from symplex.fem.call import address_of, call_kernel, call_writing_kernel, int32_at
from symplex.fem.forms import CompiledLoops
from symplex.fem.gradient_table import BLOCKS, LAW, VECTORS, arguments_of, row_of, table_of
from symplex.fem.kernels import kernel, uncounted_formula as formula
from symplex.fem.system import System

_ROWS, _NUMBERS, _SLOTS = types.int64[:, ::1], types.float64[::1], types.int32[:, :, ::1]
_SEEN = types.float64, *[VECTORS] * 4


class LoadTable(NamedTuple):
    """All loads of a system, as compiled loops take them; what addresses lead to is the loads' and the pattern's.

    Attributes
    ----------
    rows : int64 [l, 10]
        Rows as those of a `symplex.fem.gradient_table.GradientTable`, with the loops of forces.
    derivatives : int64 [d, 3]
        Of each load that has derivatives its row, the address of their loop, and that of the places of its stencils on
        the pattern; none [0, 3] without a pattern.
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
    histories : tuple of (Factor or None)
        By which each load changes with time, if it does.
    kept : tuple of CompiledLoops
    """

    table: LoadTable
    stencils: int
    histories: tuple[Factor | None, ...]
    kept: tuple[CompiledLoops, ...]

    @property
    def change_with_time(self) -> bool:
        """Whether any load does."""
        return any(history is not None for history in self.histories)

    def factors(self, times: Array) -> Array:
        """Return the factors [s, l] of all loads at times [n] in s, those before the first time when one has none."""
        found = [np.ones(len(times)) if history is None else history.at(times) for history in self.histories]
        known = min(map(len, found), default=len(times))
        return np.array([factors[:known] for factors in found]).reshape(len(found), known).T.copy()


NO_LOADS = LoadLoops(LoadTable(table_of([]), np.zeros((0, 3), np.int64), 0, 0), 0, (), ())


def load_loops(system: System, *, derivatives: bool) -> LoadLoops | None:
    """Return the table of a system's loads, with their derivatives on its pattern if wanted.

    None if a load has no loops.
    """
    if not system.loads:
        return NO_LOADS
    loads, found = [load for load in system.loads.values() if isinstance(load, CompiledLoad)], []
    for load in loads:
        loops = load.compiled_loops
        if loops is None:
            return None
        load.require_dimension(system.dim)
        found.append(loops)
    if len(loads) < len(system.loads):
        return None
    rows = [row_of(one, address_of(one.loops["forces"], *_SEEN, *LAW, VECTORS)) for one in found]
    slopes: list[tuple[int, int, int]] = []
    if derivatives and system.differentiable_loads:
        kinds = *_SEEN, *LAW, types.float64, types.float64, _SLOTS, BLOCKS
        places = iter(system.pattern.slots[len(system.energies) :])
        slopes = [
            (row, address_of(one.loops["force_derivatives"], *kinds), next(places).ctypes.data)
            for row, one in enumerate(found)
            if "force_derivatives" in one.loops
        ]
    write = address_of(_write, _ROWS, types.int64, *_SEEN, VECTORS)
    kinds = _ROWS, _ROWS, _NUMBERS, *[VECTORS] * 4, types.float64, types.float64, BLOCKS
    subtract = address_of(_subtract, *kinds) if slopes else 0
    addresses = LoadTable(table_of(rows), np.array(slopes, np.int64).reshape(-1, 3), write, subtract)
    stencils = sum(loops.arguments[0].size for loops in found)
    return LoadLoops(addresses, stencils, tuple(load.history for load in loads), tuple(found))


@formula
def write_load(table, k, factor, q0, q1, q, v, out):
    """Set out [n, dim] to the forces of a load, the k-th one, times a factor.

    On an increment from q0 to q1, at positions q and velocities v [n, dim].
    """
    call_writing_kernel(table.write, (table.rows, k, factor, q0, q1, q, v, out))


@formula
def subtract_load_derivatives(table, factors, q0, q1, q, v, by_q, by_v, out):
    """Take by_q ∂f/∂q + by_v ∂f/∂v of all loads, times factors [l], off the blocks out [nnz, dim, dim]."""
    call_writing_kernel(table.subtract, (table.rows, table.derivatives, factors, q0, q1, q, v, by_q, by_v, out))


@kernel
def _write(rows, k, factor, q0, q1, q, v, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = 0.0
    call_kernel(rows[k][9], (factor, q0, q1, q, v, *arguments_of(rows[k]), out))


@kernel
def _subtract(rows, derivatives, factors, q0, q1, q, v, by_q, by_v, out):
    for k, loop, at_slots in derivatives:
        row = rows[k]
        places = carray(int32_at(at_slots), (row[1], row[2], row[2]))
        call_kernel(loop, (factors[k], q0, q1, q, v, *arguments_of(row), -by_q, -by_v, places, out))
