"""The reference of scenario files is what the tables declare, and has a valid example of every key."""

import inspect
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from symplex.meshes.closed_surfaces import box_surface
from symplex.runs.reduction import reduce_body
from symplex.scenario.methods import IntegratorTable
from symplex.scenario.reading import fields_of, keys_of
from symplex.scenario.scenario import Scenario
from symplex.scenario.table import Table
from symplex.scenario.tables import Tables, kinds_of

DOCS = Path(__file__).parents[2] / "docs"
sys.path.insert(0, str(DOCS))
from table_examples import EXAMPLES, HOST  # noqa: E402
from write_reference import inner_tables, pages, rows_of  # noqa: E402

KINDS = [(key, word) for key, kind in kinds_of(Tables).items() for word in kind.models]
REST = {"integrator": '[integrator]\nkind = "energy-momentum"\ndt = 1e-4\n', "run": "[run]\nduration = 1e-3\n"}
NOT_BUILT = ('kind = "result"', 'device = "cuda"')  # without another run, or a device


def scenario_with(example: str) -> str:
    """Return a scenario with an example, and what it needs."""
    given = tomllib.loads(example)
    own = {table.get("name") for tables in given.values() if isinstance(tables, list) for table in tables}
    text = "".join(table for name, table in HOST.items() if f'"{name}"' in example and name not in own)
    while missing := [name for name in HOST if f'"{name}"' in text and f'name = "{name}"' not in text + example]:
        text += HOST[missing[0]]
    if 'name = "seam"' in text:
        text += HOST["beam"] + HOST["block"] if 'name = "block"' not in text else ""
    given |= tomllib.loads(text)
    moving = [table for key in ("body", "truss", "beam", "shell", "point_mass") for table in given.get(key, [])]
    if not moving and not any(table.keys() & {"mass", "density"} for table in given.get("rigid_body", [])):
        text += HOST["beam"]
    needed = REST if "stage" not in given else {}
    return text + example + "".join(table for key, table in needed.items() if key not in given)


def declared(model: type[Table], key: str) -> tuple[str, str]:
    """Return the class that declares a key, and the key."""
    name = next((name for name, field in fields_of(model).items() if field.key == key), key)
    owners = [of for of in model.__mro__[:-1] if name in inspect.get_annotations(of)]
    return (owners or [model])[0].__name__, key


def keys_in(model: type[Table], data: Any, seen: set[tuple[str, str]]) -> None:
    """Add the keys of a table and of those inside that data have, by the name of the class."""
    if not isinstance(data, dict):
        return
    inside = [x for x in (model, *inner_tables(model)) if not issubclass(x, IntegratorTable)]
    for key, value in data.items():
        if key in keys_of(model):
            seen.add(declared(model, key))
            for item in _dicts(value):
                for inner in inside:
                    if item.keys() <= set(keys_of(inner)) | {"mu", "K", "k"}:
                        keys_in(inner, item, seen)


def _dicts(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _dicts(item)


def test_the_pages_are_what_the_script_writes():
    written = pages()
    found = {page.stem: page.read_text("utf-8") for page in (DOCS / "scenario").glob("*.md")}
    assert set(found) == set(written)
    assert not [name for name in written if found[name] != written[name]], "run python docs/write_reference.py"


def test_the_guide_links_the_page_of_every_table():
    guide = (DOCS / "scenario.md").read_text("utf-8")
    assert not [key for key in kinds_of(Tables) if f"](scenario/{key}.md)" not in guide]


def test_every_key_has_a_sentence_and_an_example():
    bare, seen, every, written = [], set(), set(), pages()
    for key, kind in kinds_of(Tables).items():
        for word, model in kind.models.items():
            home = dict.fromkeys(inner_tables(model), "")
            for table in (model, *home):
                rows = rows_of(table, home)
                bare += [f"[{key}] {table.__name__}.{row.key}" for row in rows if not row.sentence or not row.type]
                shown = written[key] + written["inner-tables"]
                bare += [f"[{key}] {row.key} is on no page" for row in rows if f"\n| `{row.key}` |" not in shown]
                every |= {declared(table, row.key) for row in rows}
            for example in EXAMPLES[key][word]:
                for given in _dicts(tomllib.loads(example).get(key, {})):
                    if not word or given.get("kind") == word:
                        keys_in(model, given, seen)
    assert not bare
    assert not sorted(every - seen)


@pytest.mark.parametrize(("key", "word"), KINDS)
def test_examples_are_valid(key, word, tmp_path):
    (tmp_path / "tool.stl").write_text(inward_stl())
    (tmp_path / "warm.csv").write_text("node,K\n0,10\n3,20\n")
    (tmp_path / "record.csv").write_text("t (s),factor\n0,0\n0.5,0.5\n1,1\n")
    (tmp_path / "spectrum.csv").write_text("f (Hz),S_a (g)\n1,0.2\n10,0.5\n50,0.2\n")
    (tmp_path / "part.msh").write_text(PART)
    (tmp_path / "stamp.csv").write_text("\n".join(f"{x},{y},{0.1 * x * y}" for x in range(4) for y in range(4)))
    (tmp_path / "frame.msh").write_text(FRAME)
    (tmp_path / "skin.msh").write_text(FACES)
    reduce_body(Scenario.parse(scenario_with(HOST["beam"])))[0].save(tmp_path / "rod.npz")
    (tmp_path / "roof.msh").write_text(ROOF)
    for example in EXAMPLES[key][word]:
        text = scenario_with(example)
        try:
            scenario = Scenario.parse(text, tmp_path / "example.toml")
            if not any(words in example for words in NOT_BUILT):
                scenario.build()
        except Exception as error:
            raise AssertionError(f"{error}\n{text}") from error


def test_the_example_of_the_guide_is_valid():
    example = re.search(r"```toml\n(.*?)```", (DOCS / "scenario.md").read_text("utf-8"), re.DOTALL)
    assert Scenario.parse(example.group(1)).build().system.n_nodes == 71


def inward_stl() -> str:
    """Return a box of triangles whose normals point inwards."""
    mesh = box_surface((0.1, 0.1, 0.1))
    facets = [
        "facet normal 0 0 0\nouter loop\n"
        + "".join(f"vertex {x:g} {y:g} {z:g}\n" for x, y, z in mesh.points[corners[::-1]])
        + "endloop\nendfacet\n"
        for corners in mesh.cells["triangle"]
    ]
    return f"solid tool\n{''.join(facets)}endsolid tool\n"


HEAD = '$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n{dim} 1 "{name}"\n$EndPhysicalNames\n$Nodes\n4\n'
HEAD += "1 0 0 0\n2 100 0 0\n3 0 100 0\n4 0 0 100\n$EndNodes\n$Elements\n"
PART = HEAD.format(dim=3, name="volume") + "1\n1 4 2 1 1 1 2 3 4\n$EndElements\n"
ROOF = """$MeshFormat
2.2 0 8
$EndMeshFormat
$Nodes
8
1 0 0 0
2 1 0 0
3 1 1 0
4 0 1 0
5 0.5 0 0.1
6 1 0.5 0
7 0.5 1 0.1
8 0 0.5 0
$EndNodes
$Elements
1
1 16 2 1 1 1 2 3 4 5 6 7 8
$EndElements
"""
FACES = HEAD.format(dim=2, name="top").replace("\n1\n2 1", "\n3\n2 1").replace('"top"', '"top"\n2 2 "rim"\n2 3 "patch"')
FACES += "3\n1 2 2 1 1 1 2 3\n2 2 2 2 2 1 2 4\n3 2 2 3 3 1 4 3\n$EndElements\n"
FRAME = HEAD.format(dim=1, name="edges") + "3\n1 1 2 1 1 1 2\n2 1 2 1 1 2 3\n3 1 2 1 1 3 4\n$EndElements\n"
