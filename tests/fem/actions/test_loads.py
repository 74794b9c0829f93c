"""Gravity, constant forces, loads in time, supports."""

import numpy as np
import pytest
import scipy.sparse as sp

import symplex as sx
from reference.boxes import SOLID_KINDS, box_of
from symplex.errors import InvalidSystem, StepFailed
from symplex.fem.actions.histories import factor_of
from symplex.fem.actions.loads import Gravity, NodalForce, NodalLoad, Pressure, SurfaceTraction
from symplex.fem.actions.supports import fixed_mask
from symplex.fem.system import System

REST = np.zeros((5, 3))


# -- constant forces -------------------------------------------------------------------------------------------


def test_gravity_is_weight():
    mass = np.array([1.0, 2.0, 3.0])
    system = System(mass, {"gravity": Gravity(mass, [0.0, 0.0, -9.81])})
    q = np.random.default_rng(0).normal(size=(3, 3))
    np.testing.assert_allclose(system.force(0.0, q, 0 * q), mass[:, None] * [0.0, 0.0, -9.81])
    assert system.potential(q) == pytest.approx(9.81 * (mass @ q[:, 2]))
    np.testing.assert_allclose(system.hessian(q).toarray(), 0.0)


def test_gravity_of_a_consistent_mass_has_its_row_sums():
    mass = sp.csr_array(np.array([[2.0, 1.0], [1.0, 2.0]]))
    np.testing.assert_allclose(Gravity(mass, [0.0, -2.0]).forces, [[0.0, -6.0], [0.0, -6.0]])


def test_nodal_force_acts_on_its_nodes():
    load = NodalForce([3, 1], [[1.0, 0.0, 0.0], [0.0, 2.0, 0.0]])
    out = np.zeros((5, 3))
    load.add_gradient(REST, out)
    assert out[3, 0] == -1.0
    assert out[1, 1] == -2.0
    assert np.count_nonzero(out) == 2


def test_gravity_in_a_lattice_is_exact():
    from reference.kuhn_walk import kuhn_walk

    mass = np.array([1.0, 5.0])
    system = System(mass, {"gravity": Gravity(mass, [0.0, -9.81])}, dim=2)
    state = system.state([[0.0, 1.0], [0.3, 2.0]], [[1.0, 2.0], [0.0, -1.0]])
    walk = kuhn_walk(system, state, [0.5], 0.1, np.array([[0.123, 0.456], [0.789, 0.321]]))
    np.testing.assert_allclose(walk.states[0].q[:, 1], [1.0 + 1.0 - 9.81 / 8, 2.0 - 0.5 - 9.81 / 8], rtol=1e-13)
    assert walk.crossings > 5


# -- in time -----------------------------------------------------------------------------------------------------


def test_histories():
    assert factor_of(2.5)(1.0) == 2.5
    assert factor_of(lambda t: 3 * t)(2.0) == 6.0
    table = factor_of(([0.0, 1.0, 3.0], [0.0, 2.0, -2.0]))
    assert [table(t) for t in (-1.0, 0.5, 2.0, 9.0)] == [0.0, 1.0, 0.0, -2.0]


@pytest.mark.parametrize(
    ("history", "text"),
    [
        (([0.0, 0.0], [1.0, 2.0]), "must ascend"),
        (([0.0, 1.0], [1.0]), "2 times, but 1 factors"),
        (([0.0, np.nan], [1.0, 1.0]), "finite"),
        (([], []), "0 times"),
        (([0.0], [1.0], [2.0]), "a history must be"),
        (np.inf, "finite"),
    ],
)
def test_bad_histories_are_refused(history, text):
    with pytest.raises(InvalidSystem, match=text):
        factor_of(history)


def test_a_history_that_is_not_finite_stops_the_run():
    with pytest.raises(StepFailed, match=r"nan at t = 2 s"):
        factor_of(lambda t: np.nan if t > 1 else 0.0)(2.0)


def test_nodal_load_follows_its_history():
    load = NodalLoad([1, 4], [0.0, 3.0, 0.0], ([0.0, 2.0], [0.0, 1.0]))
    force = load(1.0, REST, REST)
    np.testing.assert_allclose(force[[1, 4]], [[0, 1.5, 0], [0, 1.5, 0]])
    assert not force[[0, 2, 3]].any()


# -- on faces ----------------------------------------------------------------------------------------------------


@pytest.fixture(params=SOLID_KINDS)
def block(request):
    return box_of(request.param, (1.0, 2.0, 0.5), (2, 3, 1))


def top_of(mesh):
    height = mesh.points[:, 2].max()
    return {
        kind: faces[np.all(mesh.points[faces][:, :, 2] == height, axis=1)]
        for kind, faces in mesh.boundary_faces.items()
    }


def test_traction_sums_to_area_times_traction(block):
    load = SurfaceTraction(block.points, top_of(block), [3.0, 0.0, -1.0], lambda t: t)
    force = load(2.0, block.points, 0 * block.points)
    np.testing.assert_allclose(force.sum(axis=0), 2.0 * 2.0 * np.array([3.0, 0.0, -1.0]), rtol=1e-13)
    moment = np.cross(block.points, force).sum(axis=0)
    np.testing.assert_allclose(moment, np.cross([0.5, 1.0, 0.5], force.sum(axis=0)), atol=1e-12)
    # dead: the same on a body that has moved
    np.testing.assert_array_equal(load(2.0, 3 * block.points, 0 * block.points), force)


def test_pressure_pushes_in_and_turns_with_the_body(block):
    load = Pressure(top_of(block), 5.0)
    force = load(0.0, block.points, 0 * block.points)
    np.testing.assert_allclose(force.sum(axis=0), [0.0, 0.0, -10.0], atol=1e-12)
    turn = np.array([[0.0, -1.0, 0.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0]])
    np.testing.assert_allclose(load(0.0, block.points @ turn.T, 0 * block.points), force @ turn.T, atol=1e-12)
    np.testing.assert_allclose(load(0.0, 2 * block.points, 0 * block.points), 4 * force, atol=1e-12)


def test_the_work_of_a_traction_on_fields_that_faces_interpolate_is_exact(block):
    """∫ y dA; on quadratic faces ∫ xy dA, ∫ x² dA and ∫ y² dA too."""
    force = SurfaceTraction(block.points, top_of(block), [0.0, 0.0, 1.0])(0.0, block.points, 0 * block.points)
    x, y, _ = block.points.T
    assert force[:, 2] @ y == pytest.approx(2.0)
    if not {"triangle", "quad"} & set(block.boundary_faces):
        assert force[:, 2] @ (x * y) == pytest.approx(1.0)
        assert force[:, 2] @ x**2 == pytest.approx(2.0 / 3.0)
        assert force[:, 2] @ y**2 == pytest.approx(8.0 / 3.0)


def test_pressure_on_a_closed_surface_does_not_push(block):
    q = block.points + 0.05 * np.random.default_rng(3).normal(size=block.points.shape)
    force = Pressure(block.boundary_faces, 7.0)(0.0, q, 0 * q)
    assert np.abs(force).max() > 0.1
    np.testing.assert_allclose(force.sum(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(np.cross(q, force).sum(axis=0), 0.0, atol=1e-12)


@pytest.mark.parametrize("q", [np.zeros((4, 3)), np.zeros((5, 2))])
def test_loads_on_other_systems_are_refused(q):
    for load in (NodalLoad([1, 4], [0.0, 1.0, 0.0]), SurfaceTraction(np.eye(5, 3), [[0, 1, 4]], [0.0, 1.0, 0.0])):
        with pytest.raises(InvalidSystem, match=rf"{type(load).__name__}: positions have shape .*n at least 5"):
            load(0.0, q, q)


def test_bad_loads_are_refused():
    with pytest.raises(InvalidSystem, match="without repetition"):
        NodalLoad([1, 1], [0.0, 0.0, 1.0])
    with pytest.raises(InvalidSystem, match="must be indices"):
        NodalLoad([True, False], [0.0, 0.0, 1.0])
    with pytest.raises(InvalidSystem, match="the force must be finite"):
        NodalForce([1], [0.0, np.inf, 0.0])
    with pytest.raises(InvalidSystem, match="has 2 components"):
        SurfaceTraction(REST, [[0, 1, 2]], [0.0, 1.0])
    with pytest.raises(InvalidSystem, match="SurfaceTraction refers to nodes 0 to 5, but there are 5 nodes"):
        SurfaceTraction(REST, [[0, 1, 5]], [0.0, 1.0, 0.0])
    with pytest.raises(InvalidSystem, match="one row for each of 2 nodes"):
        NodalForce([1, 2], np.zeros((3, 3)))
    with pytest.raises(InvalidSystem, match="finite"):
        Gravity(np.ones(2), [0.0, np.nan, 0.0])
    with pytest.raises(InvalidSystem, match="no faces"):
        Pressure({}, 1.0)
    with pytest.raises(InvalidSystem, match="expected triangles"):
        SurfaceTraction(REST, [[0, 1]], [0.0, 0.0, 1.0])


# -- supports ----------------------------------------------------------------------------------------------------


def test_supports_fix_components():
    fixed = fixed_mask(4, [([0, 2], "xy"), ([2], "zx"), ([], "x")])  # a coordinate may be fixed twice
    np.testing.assert_array_equal(fixed, [[1, 1, 0], [0, 0, 0], [1, 1, 1], [0, 0, 0]])


@pytest.mark.parametrize(
    ("nodes", "components", "dim", "text"),
    [
        ([4], "x", 3, "refers to nodes 4 to 4"),
        ([0], "w", 3, "'w'"),
        ([0], "z", 2, "'xy'"),
        ([0], "", 3, "fixes ''"),
        ([True, False, True, False], "x", 3, "flatnonzero"),
        ([0.5], "x", 3, "must be indices"),
    ],
)
def test_bad_supports_are_refused(nodes, components, dim, text):
    with pytest.raises(InvalidSystem, match=text):
        fixed_mask(4, [(nodes, components)], dim)


def test_the_derivative_of_a_pressure_is_that_of_its_force(block):
    random = np.random.default_rng(4)
    load = Pressure(block.boundary_faces, 7.0, lambda t: 1.0 + t)
    q = block.points + 0.05 * random.normal(size=block.points.shape)
    x, v = q[load.nodes], np.zeros_like(q)
    by_x, by_v = load.derivatives(1.0, x, v[load.nodes])
    assert not by_v.any()
    d, h = random.normal(size=q.shape), 1e-6
    found = np.zeros_like(q)
    changes = np.einsum("mij,mj->mi", by_x, d[load.nodes].reshape(len(x), -1)).reshape(x.shape)
    np.add.at(found, load.nodes, changes)
    expected = (load(1.0, q + h * d, v) - load(1.0, q - h * d, v)) / (2.0 * h)
    np.testing.assert_allclose(found, expected, atol=1e-7 * np.abs(expected).max())


def test_faces_of_several_types_have_one_array_of_nodes():
    mesh = sx.box((1.0, 1.0, 1.0), (1, 1, 1), split="hexahedra")
    quads = mesh.boundary_faces["quad"]
    load = Pressure({"quad": quads[:3], "triangle": quads[3:, :3]}, 2.0)
    q = mesh.points + 0.1 * np.random.default_rng(5).normal(size=mesh.points.shape)
    by_x, _ = load.derivatives(0.0, q[load.nodes], 0.0 * q[load.nodes])
    assert load.nodes.shape == (len(quads), 4)
    assert not by_x[3:, :, 9:].any()
    # A shift of all nodes changes nothing.
    shift = np.tile([0.3, -0.1, 0.2], 4)
    assert np.abs(by_x[:3] @ shift).max() < 1e-14
    assert np.abs(by_x[3:, :, :9] @ shift[:9]).max() < 1e-14
