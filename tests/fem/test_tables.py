"""Tables for compiled loops: they find what systems assemble, and keep what their rows point to; records by name."""

import gc
import weakref
from typing import Annotated

import numpy as np
import pytest
from numba import types

import symplex as sx
from symplex.errors import InvalidSystem
from symplex.fem.assembly import forms
from symplex.fem.compiled.kernels import kernel
from symplex.fem.compiled.records import Number, Record
from symplex.fem.form_table import form_table, write


class Pair(Record):
    law: Annotated[tuple[float, ...], types.UniTuple(types.float64, 2)]
    factor: Number


@kernel
def written(table, q0, q1, out):
    """Write a table from Python."""
    return write(table, q0, q1, out)


def chain():
    """Return two bars with a force on one end, and positions."""
    q = np.array([[0.0, 0.0], [1.1, 0.1], [2.3, -0.1]])
    bars = sx.Bars([[0, 1], [1, 2]], sx.measures.EngineeringStrain(100.0, 1.0))
    return sx.System(np.ones(3), {"bars": bars, "force": sx.actions.NodalForce([2], [[1.0, 2.0]])}, dim=2), q


@pytest.mark.parametrize("form", [forms.GRADIENT, forms.HESSIAN, forms.DISCRETE_GRADIENT, forms.DISCRETE_HESSIAN])
def test_a_table_finds_what_the_system_assembles(form):
    system, q = chain()
    table, ends = form_table(system, form), (1.05 * q, q)
    expected = system.assembled(form, *ends[-form.takes :])
    out = np.ones_like(expected)
    assert np.isfinite(written(table, *ends, out))
    np.testing.assert_allclose(out, expected, atol=1e-13 * np.abs(expected).max())


def test_energies_are_written_one_by_one():
    system, q = chain()
    table = form_table(system, forms.VALUE)
    out = np.empty(1 + len(table.rows))
    written(table, q, q, out)
    found = system.potentials(q)
    np.testing.assert_allclose(out, [found["force"], found["bars"]], rtol=1e-14)


def test_a_table_keeps_what_its_rows_point_to():
    system, _ = chain()
    table, record = form_table(system), weakref.ref(system.energies["bars"].record)
    del system
    gc.collect()
    assert record() is not None
    del table
    gc.collect()
    assert record() is None


def test_energies_that_threads_share_are_left_to_python():
    mesh = sx.box((1.0, 1.0, 1.0), (1, 1, 1))
    solid = sx.Solid(mesh.points, mesh.cells["tetra"], sx.NeoHookean(3.0, 2.0, 1.0))
    assert solid.calls(forms.GRADIENT, 3)
    assert form_table(sx.System(np.ones(len(mesh.points)), {"solid": solid})) is None


def test_records_refuse_another_number_of_numbers_by_name():
    assert Pair(law=(1.0, 2.0), factor=0.5).law == (1.0, 2.0)
    with pytest.raises(InvalidSystem, match="Pair: law must be 2 numbers, got 3"):
        Pair(law=(1.0, 2.0, 3.0), factor=0.5)
