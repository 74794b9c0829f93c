"""Points that follow nodes: what their energies do in systems, beyond the contract of energies."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp

import symplex as sx
from symplex.errors import InvalidSystem, StepFailed
from symplex.fem.couplings.interpolation import Interpolation
from symplex.fem.energies.neighbour_list import IncompleteStencils

DT = 0.01


def molecules(n=4):
    """Stiff dumb-bells in the plane, each with three atoms on its line, one of them beyond an end."""
    rng = np.random.default_rng(5)
    centres = 2.6 * np.stack(np.meshgrid(np.arange(float(n)), np.arange(float(n)), indexing="ij"), -1).reshape(-1, 2)
    angles = rng.uniform(0.0, 2.0 * np.pi, len(centres))
    half = 0.5 * np.column_stack([np.cos(angles), np.sin(angles)])
    q = np.stack([centres - half, centres + half], axis=1).reshape(-1, 2)
    places = np.array([[1.2, -0.2], [0.5, 0.5], [-0.1, 1.1]])
    interpolation = Interpolation(sp.block_diag([places] * len(centres)))
    return q, interpolation, np.arange(len(q)).reshape(-1, 2)


def fluid(margin=0.3):
    q, interpolation, pairs = molecules()
    atoms = sx.measures.ShortRangeLennardJones(1.0, 0.7, cutoff=1.6, margin=margin, dim=2)
    bonds = sx.Bars(pairs, sx.measures.GreenStrain(2e3, 1.0), dim=2)
    # Atoms of one molecule see each other as well, as rigidly as they follow its nodes.
    system = sx.System(np.linspace(1.0, 2.0, len(q)), {"atoms": interpolation.of(atoms), "bonds": bonds}, dim=2)
    v = np.random.default_rng(2).standard_normal(q.shape)
    return system, system.state(q, v - v.mean(axis=0))


def test_points_follow_and_forces_return():
    weights = np.array([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [2.0, -1.5, 0.5]])
    interpolation, rng = Interpolation(weights), np.random.default_rng(0)
    assert (interpolation.n_points, interpolation.n_nodes) == (3, 3)
    q, f = rng.standard_normal((3, 3)), rng.standard_normal((3, 3))
    points, forces = interpolation.points(q), interpolation.forces(f)
    np.testing.assert_allclose(points, weights @ q)
    np.testing.assert_allclose(forces.sum(axis=0), f.sum(axis=0))
    np.testing.assert_allclose(np.cross(q, forces).sum(axis=0), np.cross(points, f).sum(axis=0))
    assert np.vdot(f, points) == pytest.approx(np.vdot(forces, q))


def test_stencils_have_each_node_once_and_weights_that_give_the_points():
    rng = np.random.default_rng(1)
    weights = sp.lil_array(rng.random((30, 12)) * (rng.random((30, 12)) < 0.2))
    weights[:, 0] = (1.0 - (weights.sum(axis=1) - weights[:, [0]].toarray().ravel()))[:, None]
    interpolation = Interpolation(weights)
    of_points = rng.integers(0, 30, (50, 3)).astype(np.int32)
    nodes, factors = interpolation.stencils(of_points)
    q = rng.standard_normal((12, 2))
    np.testing.assert_allclose(factors @ q[nodes], interpolation.points(q)[of_points], atol=1e-13)
    rows = sp.csr_array(weights)
    for stencil, row, factor in zip(of_points, nodes, factors, strict=True):
        expected = set(np.flatnonzero(np.abs(rows[stencil].toarray()).sum(axis=0)).tolist())
        assert set(row.tolist()) == expected
        assert not factor[:, len(expected) :].any()  # the first one again, without a weight
        assert (row[len(expected) :] == row[0]).all()


@pytest.mark.parametrize(
    ("weights", "says"),
    [
        ([[1.0, 0.0], [0.5, 0.4]], "those of point 1 sum to 0.9"),
        ([[1.0, np.nan]], "the weights must be finite"),
    ],
)
def test_bad_weights_are_refused(weights, says):
    with pytest.raises(InvalidSystem, match=says):
        Interpolation(weights)


def test_an_energy_of_points_that_do_not_exist_is_refused():
    with pytest.raises(InvalidSystem, match="a Bars of points refers to nodes 0 to 3, but there are 2 nodes"):
        Interpolation(np.eye(2)).of(sx.Bars([[0, 3]], sx.measures.GreenStrain(1.0, 1.0)))


def test_positions_of_other_nodes_are_refused():
    interpolation = Interpolation(np.ones((3, 1)))
    with pytest.raises(InvalidSystem, match=r"of 1 nodes; an array for them has shape \(3, 3\)"):
        interpolation.points(np.zeros((3, 3)))
    with pytest.raises(InvalidSystem, match=r"of 3 points; an array for them has shape \(1, 3\)"):
        interpolation.forces(np.zeros((1, 3)))


def test_what_an_energy_of_points_lacks_is_said_of_it():
    class Push(sx.Energy):
        def __init__(self):
            self.nodes = np.zeros((1, 1), np.int32)

        def value(self, x):
            return x[:, 0, 0] ** 4

        def gradient(self, x):
            return 4.0 * x**3 * np.array([1.0, 0.0, 0.0])

    energy = Interpolation([[1.0]]).of(Push())
    assert not energy.has("secant")
    system = sx.System([1.0], {"push": energy})
    with pytest.raises(InvalidSystem, match=r"energy 'push' \(Push\) has no secant form"):
        system.require("secant", "GrahamJelenic")


def test_latent_stiffness_is_a_bound():
    """Of all points of a body that come to touch a wall at the same time."""
    rng = np.random.default_rng(4)
    weights = rng.standard_normal((40, 4))
    weights[:, 0] += 1.0 - weights.sum(axis=1)
    contact = sx.RigidContact(np.arange(40), sx.HalfSpace((0.0, 0.0, 0.0), (0.0, 0.0, 1.0)), 3.0)
    energy = Interpolation(weights).of(contact)
    mass = np.array([1.0, 2.0, 0.5, 3.0])
    system = sx.System(mass, {"wall": energy})
    touching = np.zeros((4, 3)) - [0.0, 0.0, 1.0]
    stiffness = system.hessian(touching).toarray()
    scale = np.repeat(1.0 / np.sqrt(mass), 3)
    largest = np.linalg.eigvalsh(scale[:, None] * stiffness * scale)[-1]
    bound = (energy.contact_stiffness_bound(4) / mass).max()
    assert 0.1 * bound < largest <= bound


def test_forces_do_not_depend_on_when_the_list_was_found():
    system, state = fluid()
    system.update_neighbours(state.q)
    energy = system.energies["atoms"]
    version = energy.version
    for shift in (0.0, 0.01, 0.3):
        q = state.q + shift * np.random.default_rng(7).uniform(-1.0, 1.0, state.q.shape)
        fresh, _ = fluid()
        fresh.update_neighbours(q)
        np.testing.assert_allclose(system.gradient(q), fresh.gradient(q), rtol=1e-12, atol=1e-12)
        assert system.potential(q) == pytest.approx(fresh.potential(q), rel=1e-13)
    assert energy.version == version
    with pytest.raises(IncompleteStencils, match="more than half its margin"):
        system.hessian(q)
    assert system.update_neighbours(q)
    assert energy.version > version


def test_points_that_move_farther_than_their_nodes_are_not_missed():
    """A point far out on a lever goes ten times as far as the node at its end."""
    atoms = sx.measures.ShortRangeLennardJones(1.0, 1.0, cutoff=1.5, margin=1.0, dim=2)
    lever = Interpolation([[1.0, 0.0, 0.0], [-9.0, 10.0, 0.0], [0.0, 0.0, 1.0]])
    energy = lever.of(atoms)
    q = np.array([[0.0, 0.0], [1.0, 0.0], [10.0, 2.6]])
    energy.renewed(q)
    assert not len(energy.nodes)
    turned = q + np.array([[0.0, 0.0], [0.0, 0.02], [0.0, 0.0]])  # the tip by 0.2
    assert not energy.renewed(turned)
    turned[1, 1] = 0.04
    assert energy.renewed(turned)
    assert len(energy.nodes) == 1
    turned[1, 1] = 0.15  # beyond the margin: found again for one evaluation
    assert abs(energy.total(turned)) > 1e-2
    assert energy.total(turned) == pytest.approx(lever.of(atoms).total(turned))


METHODS = {
    "Newmark": sx.Newmark(DT),
    "EnergyMomentum": sx.EnergyMomentum(DT),
    "GeneralizedAlpha": sx.GeneralizedAlpha(DT),
    "compensated": sx.EnergyMomentum(DT, compensated=True),
}


@pytest.mark.parametrize("name", METHODS)
def test_a_motion_resumes_bit_identically_and_keeps_its_totals(name):
    system, state = fluid()
    method = METHODS[name]
    whole = method.start(system, state)
    whole.advance(37 * DT)
    checkpoint = whole.checkpoint()
    end = whole.advance(80 * DT)
    assert system.energies["atoms"].version > 3  # the list was renewed on the way
    other, _ = fluid()
    resumed = method.resume(other, checkpoint).advance(80 * DT)
    np.testing.assert_array_equal(end.q, resumed.q)
    np.testing.assert_array_equal(end.v, resumed.v)
    np.testing.assert_allclose(system.momentum(end), system.momentum(state), atol=1e-11)
    if "angular momentum" in method.conserves:
        np.testing.assert_allclose(system.angular_momentum(end), system.angular_momentum(state), atol=1e-11)
    if name in ("EnergyMomentum", "compensated"):
        assert system.energies_of(end)["total"] == pytest.approx(system.energies_of(state)["total"], rel=1e-11)


def test_copies_have_lists_of_their_own():
    system, state = fluid()
    system.update_neighbours(state.q)
    energy = system.energies["atoms"]
    for other in (copy.copy(energy), copy.deepcopy(energy), pickle.loads(pickle.dumps(energy))):
        listed = energy.nodes.copy()
        other.renewed(state.q + 5.0 * np.random.default_rng(0).standard_normal(state.q.shape))
        np.testing.assert_array_equal(energy.nodes, listed)
        assert other.total(state.q) == energy.total(state.q)


def test_matrices_before_a_list_was_found_are_refused():
    system, state = fluid()
    with pytest.raises(StepFailed, match="has found no stencils yet"):
        system.hessian(state.q)
