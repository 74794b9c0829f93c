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
from symplex.fem.compiled.fused import multiply_add
from symplex.fem.compiled.kernels import kernel
from symplex.fem.compiled.records import Number, Record, Rows
from symplex.fem.compiled.shipped import has_feature
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


def usual_energies(dim):
    """Return energies of whose kernels loops have the forces in them."""
    m = sx.measures
    laws = m.EngineeringStrain(100.0, 1.0), m.GreenStrain(50.0, 1.0), m.InverseDistance(2.0), m.LennardJones(0.1, 0.9)
    pairs = {type(law).__name__: sx.Bars([[0, 1], [1, 2], [0, 2]], law, dim=dim) for law in laws}
    pairs["ball"] = sx.RigidContact([0, 1, 2], sx.Sphere([0.1] * dim, 0.5), 20.0)
    return pairs | {"plane": sx.RigidContact([0, 1, 2], sx.HalfSpace([0.0] * dim, [0.6, 0.8, 0.0][:dim]), 30.0)}


@pytest.mark.parametrize("dim", [2, 3])
def test_forces_in_a_loop_are_those_of_the_kernels_that_it_would_call(dim):
    q = np.array([[0.0, -0.1, 0.2], [1.1, 0.1, 0.0], [2.3, -0.4, 0.5]])[:, :dim].copy()
    for name, energy in usual_energies(dim).items():
        table = form_table(sx.System(np.ones(3), {name: energy}, dim=dim))
        assert table.rows[:, 4].all(), name
        called, found, expected = table.rows.copy(), np.empty_like(q), np.empty_like(q)
        called[:, 4] = 0
        written(table, q, q, found)
        written(table.replace(rows=called), q, q, expected)
        assert np.abs(found).max() > 1e-3, name
        np.testing.assert_allclose(found, expected, atol=1e-15 * np.abs(expected).max(), rtol=0.0, err_msg=name)


def test_forces_of_other_measures_are_called():
    capsule = sx.contact.Capsule((0.0, 0.0, -1.0), (1.0, 0.0, -1.0), 0.9)
    table = form_table(sx.System(np.ones(2), {"capsule": sx.RigidContact([0, 1], capsule, 10.0)}))
    assert table.rows.shape == (1, 7)
    assert table.rows[0, 4] == 0


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


class Place(Record):
    at: Rows
    scale: Number


class Journey(Place):
    begin: Place
    end: Place


@kernel
def travelled(journey):
    """Return the scaled distance in the first direction."""
    return journey.scale * (journey.end.at[0, 0] * journey.end.scale - journey.begin.at[0, 0])


def test_records_are_fields_of_records():
    begin, end = (Place(at=np.full((1, 1), x), scale=2.0) for x in (1.0, 5.0))
    journey = Journey(at=np.zeros((1, 1)), scale=0.5, begin=begin, end=end)
    assert travelled(journey) == 0.5 * (5.0 * 2.0 - 1.0)
    assert travelled(journey.replace(end=begin)) == 0.5 * (1.0 * 2.0 - 1.0)
    assert list(Journey.type.fields) == ["at", "scale", "begin", "end"]


@kernel
def fused(a, b, c):
    """Return a b + c as kicks and drifts have it, and the product, which is of use elsewhere, too."""
    return multiply_add(a, b, c), a * b


@pytest.mark.skipif(not has_feature("fma"), reason="the processor has no such instruction")
def test_products_are_fused_with_sums_wherever_they_are_of_use():
    a, b = 1.0 + 2.0**-30, 1.0 - 2.0**-30  # a b = 1 − 2⁻⁶⁰, which is rounded to 1
    assert fused(a, b, -1.0) == (-(2.0**-60), 1.0)
