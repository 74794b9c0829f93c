"""Cylinders, balls and mapped boxes fill their volumes at the order of their elements and name their sides."""

import numpy as np
import pytest

from symplex.errors import MeshError, ScenarioError
from symplex.meshes import ball, box, cylinder, mapped, quadratic
from symplex.meshes.mapping import BLOCK_SPLITS
from symplex.meshes.quality import corner_jacobians, volumes

SHAPES = {
    "tube": (lambda n, **o: cylinder(2.0, 1.0, (n, 4 * n, n), inner=1.0, **o), 3 * np.pi, ""),
    "quarter tube": (lambda n, **o: cylinder(2.0, 1.0, (n, 2 * n, n), inner=1.0, degrees=90, **o), 0.75 * np.pi, "xy"),
    "sector": (
        lambda n, **o: cylinder(2.0, 1.0, (n, 2 * n, n), inner=1.0, degrees=40, grading=3, **o),
        np.pi / 3,
        "y end",
    ),
    "cylinder": (lambda n, **o: cylinder(1.0, 1.0, (n, 8 * n, n), **o), np.pi, ""),
    "half cylinder": (lambda n, **o: cylinder(1.0, 1.0, (n, 4 * n, n), degrees=180, **o), np.pi / 2, "y"),
    "ball": (lambda n, **o: ball(1.0, (n, 2 * n), **o), 4 * np.pi / 3, ""),
    "half ball": (lambda n, **o: ball(1.0, (n, 2 * n), symmetry="y", **o), 2 * np.pi / 3, "y"),
    "quarter ball": (lambda n, **o: ball(1.0, (n, 2 * n), symmetry="xy", grading=0.5, **o), np.pi / 3, "xy"),
    "eighth, hollow": (lambda n, **o: ball(1.0, (n, 2 * n), inner=0.5, symmetry="xyz", **o), 7 * np.pi / 48, "xyz"),
}


def volume(mesh):
    return sum(volumes(mesh.points, mesh.cells[kind], kind).sum() for kind in mesh.volume_types)


@pytest.mark.parametrize("split", BLOCK_SPLITS)
@pytest.mark.parametrize("name", SHAPES)
def test_volumes_converge_at_second_order_and_cells_are_positive(name, split):
    make, exact, _ = SHAPES[name]
    meshes = [make(n, split=split) for n in (2, 4)]
    coarse, fine = (abs(volume(mesh) - exact) for mesh in meshes)
    assert 1.9 < np.log2(coarse / fine) < 2.1
    for mesh in meshes:
        for kind in mesh.volume_types:
            assert corner_jacobians(mesh.points, mesh.cells[kind], kind).min() > 0


@pytest.mark.parametrize("name", SHAPES)
def test_quadratic_ones_converge_at_fourth_order(name):
    make, exact, _ = SHAPES[name]
    coarse, fine = (abs(volume(make(n, order=2)) - exact) for n in (2, 4))
    assert 3.8 < np.log2(coarse / fine) < 4.2


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("name", SHAPES)
def test_blocks_are_joined_and_sides_are_all_of_the_boundary(name, order):
    make, _, planes = SHAPES[name]
    mesh = make(2, order=order)
    sides = set(mesh.groups) - {"body"}
    long = name not in ("ball", "half ball", "quarter ball", "eighth, hollow")
    hollow = name in ("tube", "quarter tube", "sector", "eighth, hollow")
    expected = {"outside"} | ({"inside"} if hollow else set()) | ({"z_min", "z_max"} if long else set())
    assert sides == expected | ({"y0", "end"} if planes == "y end" else {f"{axis}0" for axis in planes})
    assert sum(len(f) for side in sides for f in mesh.faces_of(side).values()) == sum(
        len(faces) for faces in mesh.boundary_faces.values()
    )
    for plane in planes.replace(" end", ""):
        assert np.abs(mesh.points[mesh.nodes_of(f"{plane}0"), "xyz".index(plane)]).max() < 1e-14
    r = mesh.points[:, : 2 if long else 3]
    assert np.linalg.norm(r[mesh.nodes_of("outside")], axis=1) == pytest.approx(2.0 if hollow and long else 1.0)
    if hollow:
        assert np.linalg.norm(r[mesh.nodes_of("inside")], axis=1) == pytest.approx(1.0 if long else 0.5)
    from scipy.spatial import KDTree

    assert not KDTree(mesh.points).query_pairs(1e-6)


def test_grading_is_the_ratio_of_the_outermost_cell_to_the_innermost():
    mesh = cylinder(2.0, 1.0, (4, 2, 1), inner=1.0, degrees=90, grading=8.0)
    r = np.unique(np.linalg.norm(mesh.points[:, :2], axis=1).round(12))
    assert np.diff(r)[1:] / np.diff(r)[:-1] == pytest.approx(np.full(3, 2.0))


def test_a_box_is_bent_to_a_ring_whose_ends_are_joined():
    strip = quadratic(box((1.0, 2 * np.pi, 1.0), (1, 8, 1), split="hexahedra", origin=(2.0, 0.0, 0.0)))

    def bent(x):
        return np.column_stack([x[:, 0] * np.cos(x[:, 1]), x[:, 0] * np.sin(x[:, 1]), x[:, 2]])

    mesh = mapped(strip, bent)
    assert sorted(mesh.groups) == ["body", "x_max", "x_min", "z_max", "z_min"]
    assert len(mesh.points) == len(strip.points) - 8
    assert volume(mesh) == pytest.approx(5 * np.pi, rel=1e-3)


def test_a_map_may_not_join_what_was_joined_nowhere_before_and_touches():
    """Two boxes whose faces lie on each other are no one body, wherever a map puts them."""
    from symplex.meshes import merge

    two = merge(
        {"a": box((1, 1, 1), (1, 1, 1), split="6"), "b": box((1, 1, 1), (1, 1, 1), split="6", origin=(1, 0, 0))}
    )
    assert len(mapped(two, lambda x: 2.0 * x).points) == len(two.points)


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: cylinder(1.0, 1.0, (2, 8, 2), inner=1.0), "inner must be below radius"),
        (lambda: cylinder(1.0, 1.0, (2, 8, 2), degrees=45.0), "degrees of a solid one must be 90, 180 or 360, got 45"),
        (lambda: cylinder(1.0, 1.0, (2, 6, 2), degrees=180.0), "multiple of 4, got 6"),
        (lambda: cylinder(1.0, 1.0, (2, 8)), "cells must be 3 integers"),
        (lambda: cylinder(1.0, 1.0, (2, 8, 2), split="6"), "split must be one of hexahedra, 24, pyramids, got '6'"),
        (lambda: cylinder(1.0, 1.0, (2, 8, 2), order=3), "order must be 1 or 2"),
        (lambda: ball(1.0, (2, 3)), "multiple of 2, got 3"),
        (lambda: ball(1.0, (2, 4), symmetry="xx"), "some letters of 'xyz', got 'xx'"),
        (lambda: cylinder(2.0, 1.0, (1, 4, 1), inner=1.0, split="24"), "cylinder of so few cells: .* inverted"),
        (lambda: mapped(box((1, 1, 1), (1, 1, 1)), lambda x: x[:, :2]), "finite places of shape"),
        (lambda: mapped(box((1, 1, 1), (1, 1, 1)), lambda x: -x), "mapped mesh: .* inverted"),
        (lambda: mapped(box((1, 1, 1), (1, 1, 1), split="hexahedra"), lambda x: x * [0, 1, 1]), "would be joined"),
    ],
)
def test_what_does_not_fit_is_refused(make, match):
    with pytest.raises(MeshError, match=match):
        make()


SCENARIO = """
[integrator]
kind = "newmark"
dt = "auto"
[run]
duration = 1e-5
frames = 1
[[body]]
name = "a"
quadratic = true
scale = 1e-3
material = {{ young = 1e9, poisson = 0.3, density = 1000 }}
mesh = {{ {} }}
"""


@pytest.mark.parametrize(
    ("mesh", "exact"),
    [
        ("cylinder = { radius = 2, inner = 1, length = 1, cells = [2, 6, 1], degrees = 90 }", 0.75 * np.pi),
        ('ball = { radius = 1, cells = [3, 6], symmetry = "xyz" }', np.pi / 6),
        (
            'box = [1, 1, 1], cells = [2, 6, 2], split = "hexahedra", '
            'map = ["(x+1e-3)*cos(1e3*pi*y)", "(x+1e-3)*sin(1e3*pi*y)", "z"]',
            1.5 * np.pi,
        ),
    ],
)
def test_scenarios_make_curved_meshes(tmp_path, mesh, exact):
    import symplex as sx

    path = tmp_path / "a.toml"
    path.write_text(SCENARIO.format(mesh), "utf-8")
    found = sx.Scenario.read(path).build().mesh
    assert found.volume_types == ["hexahedron20"]
    assert volume(found) == pytest.approx(1e-9 * exact, rel=2e-4)


def test_scenarios_refuse_maps_without_value(tmp_path):
    import symplex as sx

    path = tmp_path / "a.toml"
    path.write_text(SCENARIO.format('box = [1, 1, 1], cells = [1, 1, 1], map = ["1/x", "y", "z"]'), "utf-8")
    with pytest.raises(ScenarioError, match="has no value that is a number at x = 0"):
        sx.Scenario.read(path).build()
