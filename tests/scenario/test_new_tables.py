"""A table of a new kind is a class and a field: it is read, checked, built and left out as others are, or refused."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

import pytest

from symplex.base.quantities import FILE, FilePath, Name, Triple, positive, vector
from symplex.errors import ScenarioError
from symplex.fem.actions.loads import NodalLoad
from symplex.fem.measures.anchors import Anchors
from symplex.fem.measures.pair_laws import EngineeringStrain
from symplex.scenario.actions import Timed
from symplex.scenario.building import Builder
from symplex.scenario.separate import connected_parts
from symplex.scenario.table import BODY, BodyName, Entry, Need, fields_with
from symplex.scenario.tables import Tables, kinds_of
from symplex.scenario.validation import read_tables


class TetherTable(Timed):
    """A spring from a node to a point, and a puff of air next to it."""

    joins = True
    name: Name
    body: BodyName
    to_body: BodyName
    point: Annotated[Triple, vector("m")]
    stiffness: Annotated[float, positive("N/m")]
    file: FilePath | None = None

    @property
    def energies(self):
        return [self.name]

    def columns(self, tables):
        return [f"work_{self.name}_puff"]

    def needs(self):
        yield Need("loads", "a puff has no potential, which {kind} needs; take another integrator, such as {others}.")

    def add_stiffness(self, world):
        nodes = world.mesh.nodes_of(self.body)[:1]
        world.add(self.name, Anchors(nodes, self.point, EngineeringStrain(self.stiffness, 1.0)))

    def add_damping(self, world):
        nodes = world.mesh.nodes_of(self.body)[:1]
        world.add(f"{self.name}_puff", NodalLoad(nodes, (1.0, 0.0, 0.0), lambda t: t))


class NoteTable(Entry):
    """A table that says nothing of where it acts."""


@dataclass(frozen=True)
class More(Tables):
    """All tables, and two others."""

    tether: list[TetherTable] = field(default_factory=list)
    note: NoteTable | None = None


BALLS = [{"name": name, "mass": 1.0, "position": [x, 0, 0]} for name, x in (("one", 0), ("two", 1), ("three", 2))]
TETHER = {"name": "rope", "body": "one", "to_body": "two", "point": [0, 0, 2], "stiffness": 10.0}
DATA = {
    "point_mass": BALLS,
    "tether": [TETHER],
    "integrator": {"kind": "newmark", "dt": 0.01},
    "run": {"duration": 1.0},
}


def read(data, of=More):
    return read_tables(data, "test.toml", of)


def mistakes(**tables):
    with pytest.raises(ScenarioError) as caught:
        read(DATA | tables)
    return str(caught.value)


def test_a_new_table_is_built():
    tables = read(DATA)
    built = Builder(tables, Path("test.toml")).build()
    assert "rope" in built.system.energies
    assert "rope_puff" in built.system.loads
    assert read(DATA | {"tether": [TETHER | {"file": "there.csv"}]}).tether[0].named(FILE) == ["there.csv"]


def test_a_new_table_acts_for_a_part_of_the_run():
    built = Builder(read(DATA | {"tether": [TETHER | {"until": 0.5}]}), Path("test.toml")).build()
    first, second = built.integrator.stages
    assert ["rope" in stage.system.energies for stage in (first, second)] == [True, False]
    assert ["rope_puff" in stage.system.loads for stage in (first, second)] == [True, False]


def test_names_of_a_new_table_are_checked():
    assert "unknown table 'tether'" in _refused(Tables)
    assert "[[tether]] #1 'rope': there is no body 'nine'" in mistakes(tether=[TETHER | {"body": "nine"}])
    assert "[[tether]] #1 'one': the name 'one' is taken by [[point_mass]] #1" in mistakes(
        tether=[TETHER | {"name": "one"}]
    )
    assert "[[tether]] #1 'rope': stiffness must be positive, got -1 N/m." in mistakes(
        tether=[TETHER | {"stiffness": -1}]
    )
    assert "the name 'work_rope_puff' is reserved" in mistakes(
        point_mass=[*BALLS, {"name": "work_rope_puff", "mass": 1.0, "position": [5, 0, 0]}]
    )
    wrong = mistakes(integrator={"kind": "zhang-skeel", "dt": 0.01, "stiff": ["ropes"]})
    assert "stiff names no energy: there is no 'ropes'; did you mean 'rope'?" in wrong
    assert "[[tether]] #1 'rope': from is 2 s, when the run" in mistakes(tether=[TETHER | {"from": 2}])


def _refused(of):
    with pytest.raises(ScenarioError) as caught:
        read(DATA, of)
    return str(caught.value)


def test_needs_of_a_new_table_are_checked():
    reported = mistakes(integrator={"kind": "force-stepping", "grid": 1e-3})
    assert reported.startswith("test.toml: [[tether]] #1 'rope': a puff has no potential, which force-stepping needs;")


def test_a_new_table_joins_bodies_and_goes_with_them():
    tables = read(DATA)
    assert connected_parts(tables) == [{"one", "two"}, {"three"}]
    assert [table.name for table in tables.within({"one", "two"})["tether"]] == ["rope"]
    assert tables.within({"three"})["tether"] == []


def test_a_table_that_does_not_say_where_it_acts_is_refused():
    tables = replace(read(DATA), note=NoteTable())
    with pytest.raises(NotImplementedError, match="NoteTable: of_all must say"):
        tables.within({"one"})


@pytest.mark.parametrize(("key", "kind"), kinds_of(Tables).items())
def test_every_table_says_where_it_acts(key, kind):
    for model in kind.models.values():
        known = model.of_all is not None or model.within is not Entry.within or fields_with(model, BODY)
        assert known, f"[{key}] {model.__name__}"
