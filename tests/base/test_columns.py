"""Columns: written and read again, and what they say of each other."""

from dataclasses import fields

import pytest

from symplex.base.columns import (
    Column,
    components,
    constant_totals,
    energy_column,
    total_column,
    vector_columns,
    work_column,
)

BALANCE = total_column("balance", less_work_of="total")


@pytest.mark.parametrize(
    "column",
    [
        *(energy_column("block"), BALANCE, work_column("work_push"), *vector_columns("force", "N", "force")),
        Column("all", "m", "length", "a plot", "peak", "vector", "total", "largest", True),
    ],
)
def test_a_column_that_is_written_is_read_as_it_was(column):
    assert Column.of(column.plain()) == column
    assert len(column.plain()) == sum(getattr(column, item.name) != item.default for item in fields(column))


@pytest.mark.parametrize("plain", [None, [], "t", {}, {"name": 3}, {"name": "t", "unit": 1}, {"name": "t", "kind": 0}])
def test_what_is_no_column_is_refused(plain):
    with pytest.raises(ValueError, match="column"):
        Column.of(plain)


def test_what_a_later_version_may_write_besides_does_no_harm():
    plain = {"name": "x", "unit": "m", "kind": "shadow", "summary": "median", "colour": [1, 2]}
    assert Column.of(plain) == Column("x", "m")


def test_totals_are_constant_but_for_work():
    kinetic, whole = energy_column("kinetic"), total_column("total")
    lattice = total_column("lattice_total")
    assert constant_totals([kinetic, whole, lattice]) == ["total", "lattice_total"]
    assert constant_totals([kinetic, whole, work_column("work_push"), BALANCE, lattice]) == ["balance"]


def test_components_have_the_names_of_their_columns():
    assert list(components("force", [1, 2, 3])) == [column.name for column in vector_columns("force", "N", "force")]
    assert components("force", [1.0, 2.0]) == {"force_x": 1.0, "force_y": 2.0}
