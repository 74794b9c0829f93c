"""Boxes of one type of cells, and of several in one conforming mesh."""

import numpy as np

from symplex.meshes.generate import box
from symplex.meshes.mesh import Mesh
from symplex.meshes.midside_nodes import quadratic

SPLITS = {"tetra": "6", "hexahedron": "hexahedra", "wedge": "wedges", "pyramid": "pyramids"}
LINEAR = list(SPLITS)
QUADRATIC = ["tetra10", "hexahedron20", "hexahedron27", "wedge15", "wedge18", "pyramid13"]
WITH_CENTRES = ["hexahedron27", "wedge18"]
SOLID_KINDS = LINEAR + QUADRATIC
FORMULATIONS = [*SOLID_KINDS, "hexahedron full", "hexahedron20 reduced"]


def is_linear(kind):
    """Whether cells of a type, maybe with a formulation after it, have corners only."""
    return kind.partition(" ")[0] in LINEAR


def box_of(kind, size, cells):
    """A box of one type of cells (maybe with a formulation after it), with midside nodes if it is a quadratic one."""
    mesh = box(size, cells, split=SPLITS[kind.partition(" ")[0].rstrip("0123456789")])
    return mesh if is_linear(kind) else quadratic(mesh, centres=kind in WITH_CENTRES)


def shaken(mesh, amount, seed=0):
    """The mesh with the nodes inside moved at random, by up to an amount in m in each direction."""
    inside = np.setdiff1d(np.arange(len(mesh.points)), mesh.boundary_nodes)
    points = mesh.points.copy()
    points[inside] += amount * np.random.default_rng(seed).uniform(-1.0, 1.0, (len(inside), 3))
    return Mesh(points, mesh.cells, mesh.cell_groups, mesh.point_groups)


def mixed_box(n=2):
    """A box of 4 × n × n cells of 1 m: hexahedra, wedges, pyramids with tetrahedra behind them, tetrahedra.

    Pyramids meet tetrahedra where the pyramid on that side of a cell is halved.
    """
    mesh = box((4.0, n, n), (4, n, n), split="hexahedra")
    cells = mesh.cells["hexahedron"]
    corners = mesh.points[cells]
    place = np.floor(corners[:, :, 0].mean(axis=1)).astype(int)
    # hexahedra as the generator numbers them: corner 0 at the lowest coordinates
    assert np.array_equal(corners[:, 0], corners.min(axis=1))
    wedges = cells[place == 1][:, [[0, 1, 2, 4, 5, 6], [0, 2, 3, 4, 6, 7]]].reshape(-1, 6)
    middle = cells[place == 2]
    tips = len(mesh.points) + np.arange(len(middle))
    faces = [(0, 1, 2, 3), (4, 7, 6, 5), (0, 4, 5, 1), (2, 6, 7, 3), (3, 7, 4, 0)]  # inward, all but that at x_max
    pyramids = np.concatenate([np.column_stack([middle[:, face], tips]) for face in faces])
    halves = [(1, 5, 6), (1, 6, 2)]  # of that at x_max, along the diagonal of the tetrahedra beyond
    behind = np.concatenate([np.column_stack([middle[:, half], tips]) for half in halves])
    kuhn = [(0, 1, 2, 6), (0, 2, 3, 6), (0, 3, 7, 6), (0, 7, 4, 6), (0, 4, 5, 6), (0, 5, 1, 6)]
    beyond = np.concatenate([cells[place == 3][:, tetrahedron] for tetrahedron in kuhn])
    return Mesh(
        np.concatenate([mesh.points, corners[place == 2].mean(axis=1)]),
        {
            "hexahedron": cells[place == 0],
            "wedge": wedges.astype(np.int32),
            "pyramid": pyramids.astype(np.int32),
            "tetra": np.concatenate([behind, beyond]).astype(np.int32),
        },
    )
