"""Loads with calls, for loops over steps that evaluate them many times, as `symplex.fem.form_table`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types  # pyright: ignore[reportPrivateImportUsage]
from numpy.typing import NDArray

from symplex.fem.actions.histories import Factor
from symplex.fem.actions.looped_load import CompiledLoad
from symplex.fem.assembly.calls import ROWS, add_matrix_rows, add_rows, kept_table_of, rows_of
from symplex.fem.assembly.forms import BLOCKS, DERIVATIVES, FORCES, NUMBERS, VECTORS
from symplex.fem.assembly.pattern import Array
from symplex.fem.compiled.call import address_of, call_writing_kernel
from symplex.fem.compiled.kernels import kernel, uncounted_formula as formula
from symplex.fem.compiled.records import Counts, Record
from symplex.fem.form_table import Table
from symplex.fem.system import System


class LoadRows(NamedTuple):
    """The rows and the kernel of a table of loads, for `write_load`: to take one from Python takes microseconds."""

    rows: NDArray[np.int64]
    kernel: int


class LoadTable(Record):
    """All loads of a system, as compiled loops take them.

    Attributes
    ----------
    forces : Table
        One row for each load.
    derivatives : Table
        One of each load that has derivatives; none without a pattern.
    of_load : int64 [d]
        Which loads these are.
    """

    forces: Table
    derivatives: Table
    of_load: Counts


class LoadLoops(NamedTuple):
    """A table, and what Python knows of it.

    Attributes
    ----------
    table : LoadTable
    stencils : int
        How many there are in all.
    histories : tuple of (Factor or None)
        By which each load changes with time, if it does.
    """

    table: LoadTable
    stencils: int
    histories: tuple[Factor | None, ...]

    @property
    def change_with_time(self) -> bool:
        """Whether any load does."""
        return any(history is not None for history in self.histories)

    def factors(self, times: Array) -> Array:
        """Return the factors [s, l] of all loads at times [n] in s, those before the first time when one has none."""
        found = [np.ones(len(times)) if history is None else history.at(times) for history in self.histories]
        known = min(map(len, found), default=len(times))
        return np.array([factors[:known] for factors in found]).reshape(len(found), known).T.copy()


def _table(rows: list[list[int]], kept: Any, address: int) -> Table:
    return Table(constant=np.zeros((0, 0)), rows=kept_table_of(rows, kept), takes_two=True, kernel=address)


_NO_TABLE = LoadTable(forces=_table([], None, 0), derivatives=_table([], None, 0), of_load=np.zeros(0, np.int64))
NO_LOADS = LoadLoops(_NO_TABLE, 0, ())


def load_loops(system: System, *, derivatives: bool) -> LoadLoops | None:
    """Return the table of a system's loads, with their derivatives on its pattern if requested.

    None if a load has no calls.
    """
    if not system.loads:
        return NO_LOADS
    loads, found = [load for load in system.loads.values() if isinstance(load, CompiledLoad)], []
    for load in loads:
        call = load.call(FORCES)
        if call is None:
            return None
        load.require_dimension(system.dim)
        found.append(call)
    if len(loads) < len(system.loads):
        return None
    rows = rows_of(FORCES, found).tolist()
    slopes, of_load, kept = [], [], []
    if derivatives and system.differentiable_loads:
        places = iter(system.pattern.slots[len(system.energies) :])
        for k, load in enumerate(loads):
            if (call := load.call(DERIVATIVES)) is not None:
                kept.append((call, next(places)))
                slopes += rows_of(DERIVATIVES, [call], kept[-1][1]).tolist()
                of_load.append(k)
    write = address_of(_write, ROWS, types.int64, *FORCES.given, VECTORS)
    kinds = ROWS, types.int64[::1], NUMBERS, *[VECTORS] * 4, types.float64, types.float64, BLOCKS
    subtract = address_of(_subtract, *kinds) if slopes else 0
    tables = {"forces": _table(rows, found, write), "derivatives": _table(slopes, kept, subtract)}
    table = LoadTable(**tables, of_load=np.array(of_load, np.int64))
    return LoadLoops(table, sum(call.record.nodes.size for call in found), tuple(load.history for load in loads))


@formula
def write_load(forces, k, factor, q0, q1, q, v, out):
    """Set out [n, dim] to the forces of a load, the k-th one of their table, times a factor.

    On an increment from q0 to q1, at positions q and velocities v [n, dim].
    """
    call_writing_kernel(forces.kernel, (forces.rows, k, factor, q0, q1, q, v, out))


@formula
def subtract_load_derivatives(loads, factors, q0, q1, q, v, by_q, by_v, out):
    """Take by_q ∂f/∂q + by_v ∂f/∂v of all loads, times factors [l], off the blocks out [nnz, dim, dim]."""
    slopes = loads.derivatives
    call_writing_kernel(slopes.kernel, (slopes.rows, loads.of_load, factors, q0, q1, q, v, by_q, by_v, out))


@kernel
def _write(rows, k, factor, q0, q1, q, v, out):
    out[:] = 0.0
    add_rows(rows[k : k + 1], (factor, q0, q1, q, v), out)


@kernel
def _subtract(rows, of_load, factors, q0, q1, q, v, by_q, by_v, out):
    for d in range(len(rows)):
        add_matrix_rows(rows[d : d + 1], (factors[of_load[d]], q0, q1, q, v, -by_q, -by_v), out)
