"""The faces of a group: those that it holds and no others; what a load on it acts on; what a part of a mesh keeps."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from symplex.errors import MeshError, ScenarioError
from symplex.fem.actions.loads import SurfaceTraction
from symplex.meshes.formats.save import save_mesh
from symplex.meshes.generate import box
from symplex.meshes.mesh import Mesh, merge
from symplex.meshes.midside_nodes import quadratic
from symplex.scenario.bodies import MeshTable, mesh_of
from symplex.scenario.scenario import Scenario

SPLITS = ["24", "6", "hexahedra", "body-centred"]


def plate(split="6", cells=(1, 4, 4)):
    """Return a unit cube of one layer, so that all its nodes (of most splits) lie on the two sides across x."""
    mesh = box((1, 1, 1), cells, split=split)
    (kind,) = mesh.cell_groups["x_min"]
    ends = {kind: np.concatenate([mesh.cell_groups["x_min"][kind], mesh.cell_groups["x_max"][kind]])}
    nodes = np.unique(np.concatenate([mesh.nodes_of("x_min"), mesh.nodes_of("x_max")]))
    return Mesh(mesh.points, mesh.cells, {**mesh.cell_groups, "ends": ends}, {"nodes": nodes})


def area(mesh, faces):
    return SurfaceTraction(mesh.points, faces, (1.0, 0.0, 0.0)).forces[:, 0].sum()


@pytest.mark.parametrize("split", SPLITS)
def test_faces_of_a_group_of_faces_are_these(split):
    mesh = plate(split)
    assert area(mesh, mesh.faces_of("ends")) == pytest.approx(2)
    assert area(mesh, mesh.faces_of("y_max")) == pytest.approx(1)
    assert area(mesh, mesh.boundary_faces) == pytest.approx(6)


def test_faces_of_a_group_of_points_are_those_with_all_nodes_in_it():
    mesh = plate()
    assert area(mesh, mesh.faces_of("nodes")) == pytest.approx(6)
    both = Mesh(mesh.points, mesh.cells, mesh.cell_groups, {"x_min": mesh.point_groups["nodes"]})
    assert area(both, both.faces_of("x_min")) == pytest.approx(1), "faces come first"


def test_faces_of_a_group_of_volume_cells_are_its_own():
    mesh = box((1, 1, 1), (3, 1, 1), split="hexahedra")
    centres = mesh.points[mesh.cells["hexahedron"]].mean(axis=1)[:, 0]
    ends = {"hexahedron": np.flatnonzero(np.abs(centres - 0.5) > 0.2)}
    mesh = Mesh(mesh.points, mesh.cells, {"ends": ends})
    # The nodes of the two end cells are those of all three.
    assert area(mesh, mesh.faces_of("ends")) == pytest.approx(2 + 8 / 3)


@pytest.mark.parametrize("split", SPLITS)
def test_faces_point_outward_however_the_group_turns_them(split):
    mesh = plate(split)
    turned = Mesh(mesh.points, {k: c[:, ::-1] if k in ("triangle", "quad") else c for k, c in mesh.cells.items()},
                  mesh.cell_groups)  # fmt: skip
    for kind, faces in turned.faces_of("x_max").items():
        assert np.array_equal(faces, mesh.faces_of("x_max")[kind])
        x = mesh.points[faces]
        assert (np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0])[:, 0] > 0).all()


def test_linear_faces_stand_for_quadratic_ones():
    mesh = quadratic(plate())
    linear = Mesh(mesh.points, {"tetra10": mesh.cells["tetra10"], "triangle": mesh.cells["triangle6"][:, :3]},
                  {name: {k.rstrip("6"): i for k, i in members.items()} for name, members in mesh.cell_groups.items()
                   if name != "body"})  # fmt: skip
    assert linear.faces_of("ends").keys() == {"triangle6"}
    assert area(linear, linear.faces_of("ends")) == pytest.approx(2)


def test_groups_without_faces_are_refused():
    mesh = plate("hexahedra", (2, 1, 1))
    middle = np.flatnonzero(mesh.points[:, 0] == 0.5)
    inside = middle[[0, 1, 3, 2]][None].astype(np.int32)
    quads = np.concatenate([mesh.cells["quad"], inside])
    groups = {
        "inside": {"quad": np.array([len(quads) - 1])},
        "some": {"quad": np.array([0, len(quads) - 1])},
        "edges": {"line": np.arange(4)},
    }
    lines = np.array([(0, 1), (1, 2), (2, 3), (3, 0)], np.int32)
    cells = {"hexahedron": mesh.cells["hexahedron"], "quad": quads, "line": lines}
    mesh = Mesh(mesh.points, cells, groups)
    for name in ("inside", "edges"):
        with pytest.raises(MeshError, match=f"group '{name}' has no faces on the boundary"):
            mesh.faces_of(name)
    with pytest.raises(MeshError, match="1 of 2 faces of group 'some' are not on the boundary"):
        mesh.faces_of("some")
    with pytest.raises(MeshError, match="'top' is not in the mesh; it has: edges, inside, some"):
        mesh.faces_of("top")


LOAD = """
[[body]]
name = "plate"
mesh = "plate.msh"
material = { young = 2e6, poisson = 0.3, density = 1000 }
[[load]]
name = "pull"
kind = "traction"
body = "plate"
group = "ends"
traction = [3, 0, 0]
[[load]]
name = "push"
kind = "pressure"
body = "plate"
group = "x_max"
pressure = 5
[integrator]
kind = "newmark"
[run]
duration = 1e-3
frames = 10
"""


def test_loads_act_on_the_faces_of_their_group(tmp_path):
    save_mesh(plate(), tmp_path / "plate.msh")
    problem = Scenario.parse(LOAD, tmp_path / "test.toml").build()
    np.testing.assert_allclose(problem.system.energies["pull"].forces.sum(axis=0), [6, 0, 0], atol=1e-12)
    points = problem.mesh.points
    push = problem.system.loads["push"](0.0, points, 0 * points)
    np.testing.assert_allclose(push.sum(axis=0), [-5, 0, 0], atol=1e-12)
    on_side = np.flatnonzero(points[:, 0] == 1)
    assert np.array_equal(np.flatnonzero(push.any(axis=1)), on_side)
    with pytest.raises(ScenarioError, match=r"\[\[load\]\] #2 'push': body 'plate' has no group 'end'; it has"):
        Scenario.parse(LOAD.replace('"x_max"', '"end"'), tmp_path / "test.toml").build()


def test_a_part_keeps_its_own_faces_and_no_others(tmp_path):
    """A part in two pieces, of whose nodes the faces of the piece between them are made."""
    mesh = box((3, 1, 1), (3, 1, 1), split="hexahedra")
    centres = mesh.points[mesh.cells["hexahedron"]].mean(axis=1)[:, 0]
    mesh = Mesh(
        mesh.points,
        {**mesh.cells, "line": np.array([[0, 1]], np.int32)},
        {**mesh.cell_groups, "ends": {"hexahedron": np.flatnonzero(abs(centres - 1.5) > 0.5)},
         "link": {"line": np.array([0])}},
    )  # fmt: skip
    save_mesh(mesh, tmp_path / "three.msh")
    source = SimpleNamespace(
        file="three.msh", box=None, cells=None, cube=None, bundled=None, regions={}, cylinder=None, ball=None, map=None
    )
    source.mesh = partial(MeshTable.mesh, source)
    body = SimpleNamespace(
        formulation=None,
        mesh=source,
        scale=1.0,
        group="ends",
        repair=False,
        quadratic=False,
        rotate=None,
        translate=(0.0, 0.0, 0.0),
        instance=[],
        material_of_group={None: None},
    )
    part = mesh_of(body, tmp_path)
    assert len(part.cells["hexahedron"]) == 2
    assert len(part.cells["quad"]) == 10, "of 14, without the four of the middle"
    assert area(part, part.faces_of("y_min")) == pytest.approx(2)
    assert part.cell_groups["link"].keys() == {"line"}


# -- types of cells ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("tetrahedron", "did you mean 'tetra'"),
        ("Tetra", "did you mean 'tetra'"),
        ("hexa", "did you mean 'hexahedron'"),
        ("tri", "did you mean 'triangle'"),
        ("tet10", "did you mean 'tetra10'"),
        ("blob", "types are vertex, line, triangle"),
    ],
)
def test_unknown_types_of_cells_are_refused(kind, says):
    mesh = box((1, 1, 1), (1, 1, 1))
    for arguments in [(kind,), (kind, "body")]:
        with pytest.raises(MeshError, match=f"there are no cells of a type '{kind}'.*{says}"):
            mesh.cells_of(*arguments)


def test_known_types_may_have_no_cells():
    mesh = merge({"a": box((1, 1, 1), (1, 1, 1))})
    for kind in ("hexahedron", "tetra10", "quad8", "wedge", "hexahedron27", "vertex"):
        assert len(mesh.cells_of(kind)) == 0
        assert len(mesh.cells_of(kind, "a")) == 0
