"""Stress and strain of elements and at nodes: exact where they are uniform, and against closed forms where not."""

import numpy as np
import pytest
import scipy.sparse.linalg as sl

import symplex as sx
from reference.boxes import FORMULATIONS, box_of, mixed_box
from symplex.base.fields import OF_SOLIDS
from symplex.errors import InvalidArgument, InvalidSystem, InvertedElement
from symplex.meshes.location import weights_in_cells

YOUNG, POISSON = 200e9, 0.3
STRETCH = np.array([[1.1, 0.2, -0.1], [0.0, 0.9, 0.15], [0.05, -0.1, 1.05]])
RUBBER = sx.NeoHookean(lmbda=60.0, mu=40.0, density=1.0)


def solid_of(kind, points, cells, material=RUBBER):
    name, _, formulation = kind.partition(" ")
    return sx.Solid(points, cells[name], material, formulation=formulation or None)


@pytest.mark.parametrize("kind", [*FORMULATIONS, "hexahedron mean-dilatation", "tetra10 mean-dilatation"])
def test_a_uniform_deformation_has_one_stress_in_elements_and_at_nodes(kind):
    mesh = box_of(kind, (1.0, 1.0, 1.0), (2, 1, 1))
    system = sx.System(np.ones(len(mesh.points)), {"body": solid_of(kind, mesh.points, mesh.cells)})
    state = system.state(mesh.points @ STRETCH.T)
    J, b = np.linalg.det(STRETCH), STRETCH @ STRETCH.T
    sigma = (40.0 * (b - np.eye(3)) + 60.0 * np.log(J) * np.eye(3)) / J  # neo-Hooke
    expected = sigma[[0, 1, 2, 0, 1, 0], [0, 1, 2, 1, 2, 2]]
    np.testing.assert_allclose(
        sx.stress(system, state)["body"], np.tile(expected, (system.energies["body"].nodes.shape[0], 1)), atol=1e-11
    )
    np.testing.assert_allclose(sx.nodal_stress(system, state), np.tile(expected, (system.n_nodes, 1)), atol=1e-10)
    values, axes = np.linalg.eigh(b)
    logarithmic = (axes * (0.5 * np.log(values))) @ axes.T
    np.testing.assert_allclose(
        sx.nodal_stress(system, state, "logarithmic_strain")[0, :3], np.diag(logarithmic), atol=1e-12
    )
    green = 0.5 * (STRETCH.T @ STRETCH - np.eye(3))
    np.testing.assert_allclose(
        sx.stress(system, state, "strain")["body"][0, 3:], [green[0, 1], green[1, 2], green[0, 2]], atol=1e-12
    )
    np.testing.assert_allclose(
        sx.stress(system, state, "principal_stresses")["body"][0], np.linalg.eigvalsh(sigma)[::-1]
    )
    np.testing.assert_allclose(sx.nodal_stress(system, state, "pressure"), -np.trace(sigma) / 3.0)
    np.testing.assert_allclose(
        sx.stress(system, state, "von_mises")["body"], system.energies["body"].von_mises(state.q)
    )
    density = system.energies["body"].total(state.q)
    np.testing.assert_allclose(sx.nodal_stress(system, state, "energy_density"), density)


@pytest.mark.parametrize(
    "make",
    [
        lambda: sx.LinearElastic.from_young(1e3, 0.3, 1.0),
        lambda: sx.material("mu/2*(I2/I3 + 2*J - 5)", mu=40.0, density=1.0),
    ],
    ids=["linear", "formula"],
)
def test_stress_at_points_is_that_of_the_elements_in_the_mean(make):
    law = make()
    mesh = box_of("hexahedron20", (1.0, 1.0, 1.0), (2, 1, 1))
    solid = sx.Solid(mesh.points, mesh.cells["hexahedron20"], law)
    q = mesh.points + 0.05 * np.random.default_rng(0).standard_normal(mesh.points.shape) * 0.2
    points = sx.fem.outputs.points.SolidPoints(solid)
    sigma, F = points.cauchy(q), points.deformation_gradients(q)
    weights = solid.part().weights * (np.linalg.det(F) if law.objective else 1.0)
    means = np.einsum("eg,egij->eij", weights, sigma) / weights.sum(axis=1)[:, None, None]
    np.testing.assert_allclose(means, solid.cauchy(q), rtol=1e-9, atol=1e-9 * np.abs(sigma).max())


def test_nodes_of_several_types_and_those_of_none():
    mesh = mixed_box(1)
    points = np.vstack([mesh.points, [[9.0, 9.0, 9.0]]])
    solids = {kind: sx.Solid(points, cells, RUBBER) for kind, cells in mesh.cells.items()}
    system = sx.System(np.ones(len(points)), solids)
    state = system.state(points @ STRETCH.T)
    found = sx.nodal_stress(system, state)
    np.testing.assert_allclose(found[:-1], np.tile(found[0], (len(mesh.points), 1)), atol=1e-11)
    assert not found[-1].any()


def test_overstress_is_part_of_it():
    mesh = box_of("hexahedron full", (1.0, 1.0, 1.0), (1, 1, 1))
    solid = sx.Solid(mesh.points, mesh.cells["hexahedron"], RUBBER, formulation="full")
    maxwell = sx.Viscoelastic(solid, [30.0], [1.0])
    system = sx.System(np.ones(8), {"body": solid}, inelastic={"maxwell": maxwell})
    state = system.state(mesh.points @ STRETCH.T, internal={"maxwell": maxwell.unstrained()})
    relaxed = system.state(state.q)
    more = maxwell.cauchy(state.q, state.internal["maxwell"])[0]
    assert np.abs(more).max() > 1.0
    for at in (lambda s: sx.stress(system, s)["body"][0], lambda s: sx.nodal_stress(system, s)[0]):
        np.testing.assert_allclose((at(state) - at(relaxed))[:3], np.diag(more), atol=1e-11)
    near = sx.outputs.SolidFields(system, near=[0])
    np.testing.assert_allclose(near.at_nodes("stress", state)[0], sx.nodal_stress(system, state)[0])


def test_elements_around_a_node_are_enough():
    mesh = box_of("tetra10", (1.0, 1.0, 1.0), (3, 3, 3))
    system = sx.System(np.ones(len(mesh.points)), {"body": sx.Solid(mesh.points, mesh.cells["tetra10"], RUBBER)})
    state = system.state(mesh.points + 0.01 * np.sin(5.0 * mesh.points[:, ::-1]))
    near = sx.outputs.SolidFields(system, near=[7, 30])
    assert len(near.elements("body")) < 0.4 * len(mesh.cells["tetra10"])
    for quantity in OF_SOLIDS:
        here, whole = near.at_nodes(quantity, state), sx.nodal_stress(system, state, quantity)
        np.testing.assert_allclose(here[[7, 30]], whole[[7, 30]], rtol=1e-12, atol=1e-12)


def test_what_there_is_not_is_refused():
    system = sx.System(np.ones(4), {"springs": sx.Bars([[0, 1]], sx.measures.GreenStrain(1.0, 1.0))})
    points = np.vstack([np.zeros(3), np.eye(3)])
    with pytest.raises(InvalidSystem, match="no solid"):
        sx.nodal_stress(system, system.state(points))
    with pytest.raises(InvalidSystem, match="'springs' is no solid"):
        sx.outputs.SolidFields(system, ["springs"])
    body = sx.System(np.ones(4), {"body": sx.Solid(points, [[0, 1, 2, 3]], RUBBER)})
    state = body.state(points)
    with pytest.raises(InvalidArgument, match=r"quantity must be one of 'stress', .*, got 'heat'"):
        sx.stress(body, state, "heat")
    inverted = sx.State(0.0, points * [1.0, 1.0, -1.0], state.v, state.a)
    with pytest.raises(InvertedElement):
        sx.nodal_stress(body, inverted)


# -- closed forms -----------------------------------------------------------------------------------------------------


def ring(a, b, nr, nt, kind):
    """A quarter of a ring between two radii in m, 0.1 m thick, with a graded mesh; and the box that it is made of."""
    mesh = box_of(kind, (1.0, 1.0, 1.0), (nr, nt, 1))
    r, angle = a * (b / a) ** mesh.points[:, 0], 0.5 * np.pi * mesh.points[:, 1]
    return np.column_stack([r * np.cos(angle), r * np.sin(angle), 0.1 * mesh.points[:, 2]]), mesh


def held(mesh):
    """What plane strain and two planes of symmetry hold."""
    fixed = np.zeros((len(mesh.points), 3), bool)
    fixed[:, 2] = True
    fixed[mesh.nodes_of("y_min"), 1] = fixed[mesh.nodes_of("y_max"), 0] = True
    return fixed


def solved(points, cells, fixed, u, forces):
    """The linear equilibrium with given displacements where it is held."""
    solid = sx.Solid(points, cells, sx.LinearElastic.from_young(YOUNG, POISSON, 1.0))
    system = sx.System(np.ones(len(points)), {"body": solid}, fixed=fixed)
    K, free = system.hessian(points).tocsr(), ~fixed.ravel()
    u = np.where(fixed, u, 0.0).ravel()
    u[free] = sl.spsolve(K[free][:, free].tocsc(), (forces.ravel() - K @ u)[free])
    return system, system.state(points + u.reshape(-1, 3))


def at(points, *place):
    return int(np.argmin(np.abs(points - place).sum(axis=1)))


def lame_error(n):
    """Lamé's thick cylinder in plane strain: 60 MPa inside (scaled down, as it is linear)."""
    points, mesh = ring(0.1, 0.2, n, 4 * n // 3, "hexahedron20")
    load = sx.actions.Pressure(mesh.faces_of("x_min"), 60.0, 1.0)
    forces = load(0.0, points, np.zeros_like(points))
    system, state = solved(points, mesh.cells["hexahedron20"], held(mesh), 0.0, forces)
    inner, outer, sigma = at(points, 0.1, 0, 0), at(points, 0.2, 0, 0), sx.nodal_stress(system, state)
    assert state.q[inner, 0] - 0.1 == pytest.approx(5.72e-11, rel=2e-4)
    assert state.q[outer, 0] - 0.2 == pytest.approx(3.64e-11, rel=2e-4)
    assert sigma[inner, 2] == pytest.approx(12.0, rel=2e-3)
    return abs(sigma[inner, 1] / 100.0 - 1.0), abs(sigma[outer, 1] / 40.0 - 1.0)


def test_the_stress_of_a_thick_cylinder_at_its_surfaces():
    coarse, fine = np.array(lame_error(3)), np.array(lame_error(6))
    assert (fine < [0.007, 0.004]).all()
    np.testing.assert_allclose(np.log2(coarse / fine), 2.0, atol=0.4)


def test_the_factor_of_three_beside_a_hole():
    """Kirsch: tension 1 Pa along x in a wide plate; far away the exact displacements (plane strain) are given."""
    points, mesh = ring(1.0, 5.0, 8, 10, "hexahedron20")
    r, angle = np.hypot(points[:, 0], points[:, 1]), np.arctan2(points[:, 1], points[:, 0])
    c, k, cosine, sine = (1.0 + POISSON) / (4.0 * YOUNG), 3.0 - 4.0 * POISSON, np.cos(2 * angle), np.sin(2 * angle)
    radial = c * (r * (k - 1 + 2 * cosine) + 2 / r * (1 + (1 + k) * cosine) - 2 * cosine / r**3)
    round_about = c * (-2 * r + 2 * (1 - k) / r - 2 / r**3) * sine
    u = np.column_stack(
        [
            radial * np.cos(angle) - round_about * np.sin(angle),
            radial * np.sin(angle) + round_about * np.cos(angle),
            0 * r,
        ]
    )
    fixed = held(mesh)
    fixed[mesh.nodes_of("x_max")] = True
    system, state = solved(points, mesh.cells["hexahedron20"], fixed, u, np.zeros_like(points))
    sigma = sx.nodal_stress(system, state)
    assert sigma[at(points, 0, 1, 0), 0] == pytest.approx(3.0, rel=0.015)
    assert sigma[at(points, 1, 0, 0), 1] == pytest.approx(-1.0, rel=0.035)


@pytest.mark.parametrize(("cells", "within"), [((4, 6, 4), 0.02), ((6, 8, 4), 0.01)])
def test_a_thick_plate_under_pressure(cells, within):
    """NAFEMS LE10: an elliptic plate, clamped outside but for turning; σ_yy is -5.38 MPa above the inner end of x."""
    mesh = box_of("hexahedron20", (1.0, 1.0, 1.0), cells)
    s, angle = mesh.points[:, 0], 0.5 * np.pi * mesh.points[:, 1]
    x, y = (2.0 + 1.25 * s) * np.cos(angle), (1.0 + 1.75 * s) * np.sin(angle)
    points, fixed = np.column_stack([x, y, 0.6 * mesh.points[:, 2]]), np.zeros((len(s), 3), bool)
    outer = mesh.nodes_of("x_max")
    fixed[mesh.nodes_of("y_min"), 1] = fixed[mesh.nodes_of("y_max"), 0] = fixed[outer, :2] = True
    fixed[outer[np.isclose(points[outer, 2], 0.3)], 2] = True
    forces = sx.actions.Pressure(mesh.faces_of("z_max"), 1.0)(0.0, points, np.zeros_like(points))
    system, state = solved(points, mesh.cells["hexahedron20"], fixed, 0.0, forces)
    here = at(points, 2.0, 0.0, 0.6)
    fields = sx.outputs.SolidFields(system, near=[here])
    probe = sx.outputs.SolidProbe("D", fields, places=[here], components=["yy"])
    assert probe.of(system, state) == {"stress_yy": pytest.approx(-5.38, rel=within)}


# -- points in cells ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", FORMULATIONS[:10])
def test_points_are_found_in_cells(kind):
    mesh = box_of(kind, (1.0, 2.0, 1.0), (2, 2, 2))
    points = mesh.points + 0.02 * np.sin(4.0 * mesh.points[:, ::-1])
    bent = sx.Mesh(points, mesh.cells)
    expected = np.array([[0.3, 0.4, 0.5], [0.91, 1.7, 0.22], points[5]])
    weights = weights_in_cells(bent, expected)
    np.testing.assert_allclose(weights @ points, expected, atol=1e-12)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    with pytest.raises(sx.errors.MeshError, match=r"is in no cell; the nearest node is [01]\.\d+ m away"):
        weights_in_cells(bent, [[0.5, 0.5, 2.0]])


def test_points_are_found_on_lines():
    line = sx.Mesh(np.array([[0.0, 0, 0], [2, 0, 0], [2, 1, 0]]), {"line": np.array([[0, 1], [1, 2]], np.int32)})
    np.testing.assert_allclose(
        weights_in_cells(line, [[0.5, 0, 0], [2, 0.25, 0]]).toarray(), [[0.75, 0.25, 0], [0, 0.75, 0.25]]
    )
    with pytest.raises(sx.errors.MeshError, match="in no cell"):
        weights_in_cells(line, [[0.5, 0.01, 0]])


def test_some_of_the_elements_have_the_fibres_of_all():
    """To the last bit: what is reported of a few elements is what is reported of them among all."""
    mesh, law = box_of("tetra", (1.0, 1.0, 1.0), (2, 2, 2)), "mu/2*(I1 - 3 - log(I3)) + k*(I4 - 1)**2"
    fibred = sx.material(law, mu=40.0, k=5.0, density=1.0, fibres=[1, 0, 0])
    directions = np.random.default_rng(4).standard_normal((len(mesh.cells["tetra"]), 3))
    solid = sx.Solid(mesh.points, mesh.cells["tetra"], fibred, directions)
    np.testing.assert_allclose(np.linalg.norm(solid.fibres, axis=2), 1.0, rtol=1e-15)
    np.testing.assert_array_equal(solid.restrict(np.arange(7, 40)).fibres, solid.fibres[:, 7:40])
