"""Contact nodes without inertia, and the elastic bar that hits a rigid wall."""

import numpy as np
import pytest
import scipy.sparse as sp

from symplex.contact.massless import mass_moved_inward, redistributed_mass
from symplex.contact.obstacles import HalfSpace
from symplex.contact.rigid import RigidContact
from symplex.errors import InvalidSystem
from symplex.fem.actions.loads import Gravity
from symplex.fem.actions.mass import (
    bar_mass,
    consistent_bar_mass,
    consistent_mass,
    lumped_mass,
    mixed_mass,
)
from symplex.fem.measures.bars import Bars, EngineeringStrain
from symplex.fem.solids.materials import NeoHookean
from symplex.fem.solids.solid import Solid
from symplex.fem.system import System
from symplex.meshes.generate import box
from symplex.time.conserving.energy_momentum import EnergyMomentum
from symplex.time.events.force_stepping import ForceStepping
from symplex.time.explicit.newmark import Newmark
from symplex.time.implicit.generalized_alpha import GeneralizedAlpha
from symplex.time.implicit.midpoint import Midpoint

SPEED = 0.01  # of impact; the bar has unit length, density and stiffness, so that waves run at 1


def bar(stiffness, massless, n=50, share=None):
    """A bar that hits a wall at t = 1 with its node 0; a mass with a share of the consistent one is moved inward."""
    length = 1.0 / n
    x = 0.01 + np.linspace(0.0, 1.0, n + 1)[:, None]
    pairs = np.column_stack([np.arange(n), np.arange(1, n + 1)]).astype(np.int32)
    mass = bar_mass(x, pairs, 1.0, 1.0, n + 1)
    free_of_mass = np.arange(n + 1) == 0 if massless else None
    if share is not None:
        mass = mixed_mass(mass, consistent_bar_mass(x, pairs, 1.0, 1.0, n + 1), share=share)
        mass = mass_moved_inward(mass, x, pairs, [0])
    elif massless:
        mass = redistributed_mass(mass, x, [0])
    wall = RigidContact([0], HalfSpace([0.0], [1.0]), stiffness)
    energies = {"bar": Bars(pairs, EngineeringStrain(1.0 / length, length), dim=1), "wall": wall}
    system = System(mass, energies, dim=1, massless=free_of_mass)
    return system, system.state(x, np.full(x.shape, -SPEED)), wall


def impact(method, stiffness, massless, share=None):
    """Times, the force of the wall in each step, and energy and velocity after it, over the first energy."""
    system, state, wall = bar(stiffness, massless, share=share)
    energy, motion = system.energies_of(state)["total"], method.start(system, state)
    t = method.dt * np.arange(401)
    forces, energies, velocity = [], [], []
    for end in t[1:]:
        reached = motion.advance(end)
        forces.append(-wall.discrete_gradient(state.q[None, :1], reached.q[None, :1]).item())
        energies.append(system.energies_of(reached)["total"] / energy)
        velocity.append(system.momentum(reached)[0] / system.mass.sum())
        state = reached
    return t[:-1] + 0.5 * method.dt, np.array(forces), np.array(energies), np.array(velocity)


@pytest.mark.parametrize("stiffness", [1e3, 1e8])
def test_a_bar_without_mass_at_its_end_meets_the_wall_smoothly(stiffness):
    t, forces, energies, velocity = impact(EnergyMomentum(0.01), stiffness, massless=True)
    assert np.abs(energies - 1.0).max() < 1e-12
    touching = t[forces > 1e-3 * SPEED]
    assert touching[0] == pytest.approx(1.0, abs=0.02)
    assert touching[-1] - touching[0] == pytest.approx(2.0, abs=0.05)  # 2 L/c
    during = (t > 1.1) & (t < 2.9)
    np.testing.assert_allclose(forces[during], SPEED, rtol=0.08)  # ρ c v0
    assert velocity[-1] == pytest.approx(SPEED, rel=0.03)


@pytest.mark.parametrize(("share", "left"), [(0.0, 0.03), (0.75, 0.003), (1.0, 0.005)])
def test_consistent_and_mixed_masses_have_massless_nodes_too(share, left):
    """By steps of half the time that a wave needs for an element, α = ½ + C² = ¾ cancels the dispersion."""
    t, forces, energies, velocity = impact(EnergyMomentum(0.01), 100.0, massless=True, share=share)
    np.testing.assert_allclose(energies, 1.0, atol=2e-13)
    during = (t > 1.2) & (t < 2.8)
    assert forces[during].mean() == pytest.approx(SPEED, rel=0.001)
    assert forces[during].std() < 0.005 * SPEED
    vibrating = 1.0 - (velocity[-1] / SPEED) ** 2
    assert 0.4 * left < vibrating < left


def test_with_mass_at_its_end_the_force_rings_but_energy_is_kept():
    t, forces, energies, _ = impact(EnergyMomentum(0.01), 1e8, massless=False)
    assert np.abs(energies - 1.0).max() < 1e-12
    during = (t > 1.1) & (t < 2.9)
    assert forces[during].std() > 0.5 * SPEED
    assert forces[during].mean() == pytest.approx(SPEED, rel=0.05)


def test_the_midpoint_rule_loses_its_energy_to_a_hard_wall():
    _, _, energies, _ = impact(Midpoint(0.01), 1e8, massless=False)
    assert np.abs(energies - 1.0).max() > 10.0


def test_massless_nodes_of_a_solid():
    mesh = box((1.0, 1.0, 1.0), (2, 2, 2))
    cells, n = mesh.cells["tetra"], len(mesh.points)
    bottom = np.flatnonzero(mesh.points[:, 2] < 1e-9)
    mass = redistributed_mass(lumped_mass(mesh.points, cells, 1.0, n), mesh.points, bottom)
    floor = RigidContact(bottom, HalfSpace((0.0, 0.0, -0.05), (0.0, 0.0, 1.0)), 1e4)
    solid = Solid(mesh.points, cells, NeoHookean(2.0, 1.0, 1.0))
    system = System(mass, {"solid": solid, "floor": floor}, massless=np.isin(np.arange(n), bottom))
    state = system.state(mesh.points, (0.05, 0.0, -0.2))
    motion = EnergyMomentum(0.05).start(system, state)
    for k in range(1, 61):
        reached = motion.advance(0.05 * k)
        assert system.energies_of(reached)["total"] == pytest.approx(0.5 * (0.05**2 + 0.2**2), rel=1e-12)
    assert system.momentum(reached)[2] > 0.1
    assert system.momentum(reached)[0] == pytest.approx(0.05, rel=1e-12)


def test_redistribution_keeps_all_moments():
    rng = np.random.default_rng(0)
    points, mass = rng.uniform(3.0, 4.0, (60, 3)), rng.uniform(1.0, 2.0, 60)
    freed = np.array([4, 17, 33, 50])
    new = redistributed_mass(mass, points, freed)
    np.testing.assert_array_equal(new[freed], 0.0)
    assert np.delete(new, freed).min() > 0
    for moment in (np.ones(60), points, points[:, :, None] * points[:, None, :]):
        np.testing.assert_allclose(np.tensordot(new, moment, 1), np.tensordot(mass, moment, 1), rtol=1e-12)
    assert np.abs(new - mass).max() > 0.01


def test_redistribution_that_is_impossible_is_refused():
    points = np.random.default_rng(0).random((12, 3))
    with pytest.raises(InvalidSystem, match="the 8 nodes that keep mass cannot have the same moments"):
        redistributed_mass(np.ones(12), points, range(4))
    line = np.linspace(0.0, 1.0, 7)[:, None]
    with pytest.raises(InvalidSystem, match=r"node 3 would get a mass of -\d"):
        redistributed_mass(np.ones(7), line, [0, 1, 5, 6])


def block():
    """Points, cells and masses of a block, and the nodes on its bottom."""
    mesh = box((1.0, 1.0, 1.0), (2, 2, 3))
    points, cells, n = mesh.points, mesh.cells["tetra"], len(mesh.points)
    masses = lumped_mass(points, cells, 2.0, n), consistent_mass(points, cells, 2.0, n)
    return points, cells, masses, mesh.nodes_of("z_min")


def test_mass_moved_inward_is_whole_and_positive_behind_the_surface():
    points, cells, (lumped, consistent), bottom = block()
    moved = mass_moved_inward(lumped, points, cells, bottom)
    np.testing.assert_array_equal(moved[bottom], 0.0)
    assert moved.sum() == pytest.approx(2.0, rel=1e-14)
    matrix = mass_moved_inward(consistent, points, cells, bottom)
    assert matrix.sum() == pytest.approx(2.0, rel=1e-14)
    dense, kept = matrix.toarray(), np.delete(np.arange(len(points)), bottom)
    np.testing.assert_allclose(dense, dense.T, atol=1e-18)
    assert not dense[bottom].any()
    assert np.linalg.eigvalsh(dense[np.ix_(kept, kept)]).min() > 1e-4
    # A freed node moves, as mass, with what is behind it: what is at rest there has no kinetic energy.
    deep = points[:, 2] > 0.4
    np.testing.assert_allclose(dense[deep], consistent.toarray()[deep], atol=1e-18)


def test_bars_move_the_mass_of_an_end_to_the_next_node():
    x, pairs = np.linspace(0.0, 1.0, 5)[:, None], np.column_stack([np.arange(4), np.arange(1, 5)]).astype(np.int32)
    np.testing.assert_allclose(mass_moved_inward(np.arange(5.0), x, pairs, [4]), [0.0, 1.0, 2.0, 7.0, 0.0])


def test_a_solid_with_a_consistent_mass_meets_the_floor_without_mass_there():
    points, cells, (lumped, consistent), bottom = block()
    n = len(points)
    mass = mass_moved_inward(mixed_mass(lumped, consistent, courant=0.4), points, cells, bottom)
    floor = RigidContact(bottom, HalfSpace((0.0, 0.0, -0.05), (0.0, 0.0, 1.0)), 1e3)
    solid = Solid(points, cells, NeoHookean(2.0, 1.0, 2.0))
    system = System(mass, {"solid": solid, "floor": floor}, massless=np.isin(np.arange(n), bottom))
    state = system.state(points, (0.05, 0.0, -0.2))
    motion = EnergyMomentum(0.05).start(system, state)
    for k in range(1, 31):
        reached = motion.advance(0.05 * k)
        assert system.energies_of(reached)["total"] == pytest.approx(0.05**2 + 0.2**2, rel=1e-12)
    assert system.momentum(reached)[2] > 0.1
    np.testing.assert_allclose(system.momentum(reached)[:2], [0.1, 0.0], atol=1e-13)


def test_masses_that_cannot_be_are_refused():
    points, cells, (lumped, consistent), bottom = block()
    n = len(points)
    with pytest.raises(InvalidSystem, match="node 0 has no node behind it that keeps its mass"):
        mass_moved_inward(lumped, points, cells, np.arange(n))
    with pytest.raises(InvalidSystem, match=r"masses of shape \(3,\) do not fit"):
        mass_moved_inward(lumped[:3], points, cells, bottom)
    with pytest.raises(InvalidSystem, match="one of both"):
        mixed_mass(lumped, consistent)
    with pytest.raises(InvalidSystem, match=r"must be from 0 to 1; it is 1\.5"):
        mixed_mass(lumped, consistent, share=1.5)
    with pytest.raises(InvalidSystem, match=r"the Courant number must be positive; it is -0\.1"):
        mixed_mass(lumped, consistent, courant=-0.1)
    with pytest.raises(InvalidSystem, match="are not of one body"):
        mixed_mass(lumped[:3], consistent, share=0.5)
    assert abs(mixed_mass(lumped, consistent, courant=3.0) - consistent).max() < 1e-16
    coupled = sp.csr_array(np.array([[0.0, 0.1], [0.1, 1.0]]))
    with pytest.raises(InvalidSystem, match=r"node 0 is massless, but the mass matrix couples it with node 1; symplex"):
        System(coupled, {}, massless=[True, False])


@pytest.mark.parametrize("method", [Newmark(0.01), Newmark.trapezoidal(0.01), Midpoint(0.01), GeneralizedAlpha(0.01)])
def test_other_methods_refuse_massless_nodes(method):
    system, state, _ = bar(1e3, massless=True)
    with pytest.raises(InvalidSystem, match=r"needs mass at all nodes, but 1 have none \(the first is node 0\)"):
        method.start(system, state)


def test_force_stepping_refuses_massless_nodes():
    system, state, _ = bar(1e3, massless=True)
    with pytest.raises(InvalidSystem, match="needs mass at all nodes"):
        ForceStepping(1e-3).start(system, state)


def test_massless_nodes_must_have_no_mass():
    with pytest.raises(InvalidSystem, match=r"node 1 is massless, but its mass is 1\.0 kg"):
        System(np.ones(2), {}, massless=[False, True])
    with pytest.raises(InvalidSystem, match=r"massless has shape \(1,\), expected \(2,\)"):
        System(np.ones(2), {}, massless=[True])


@pytest.mark.slow
def test_a_bar_that_falls_bounces_as_it_should():
    """The bar of Doyen, Ern and Piperno (2011): E = 900, ρ = 1, L = 10, falls by 5 with g = 10.

    Exact: it meets the wall at t = 1, presses it by ρ c (v0 + g τ) for 2 L/c, and so goes up as it came: the next
    contact begins at 11/3.
    """
    n, c, g, courant = 100, 30.0, 10.0, 0.5
    h = 10.0 / n
    x = 5.0 + np.linspace(0.0, 10.0, n + 1)[:, None]
    pairs = np.column_stack([np.arange(n), np.arange(1, n + 1)]).astype(np.int32)
    masses = (make(x, pairs, 1.0, 1.0, n + 1) for make in (bar_mass, consistent_bar_mass))
    mass = mass_moved_inward(mixed_mass(*masses, courant=courant), x, pairs, [0])
    wall = RigidContact([0], HalfSpace([0.0], [1.0]), 100.0 * 900.0 / h)
    springs = Bars(pairs, EngineeringStrain(900.0 / h, h), dim=1)
    energies = {"bar": springs, "wall": wall, "weight": Gravity(mass, [-g])}
    system = System(mass, energies, dim=1, massless=np.arange(n + 1) == 0)
    state = system.state(x, np.zeros_like(x))
    dt = courant * h / c
    motion = EnergyMomentum(dt).start(system, state)
    force, before, count = [], state, round(3.75 / dt)
    for k in range(1, count + 1):
        after = motion.advance(k * dt)
        force.append(-wall.discrete_gradient(before.q[None, :1], after.q[None, :1]).item())
        before = after
    t, force = dt * (np.arange(count) + 0.5), np.array(force)
    touching = t[force > 1.0]
    first = touching[touching < 2.5]
    assert first[0] == pytest.approx(1.0, abs=2 * dt)
    assert first[-1] == pytest.approx(5.0 / 3.0, abs=4 * dt)
    assert touching[touching > 2.5][0] == pytest.approx(11.0 / 3.0, abs=6 * dt)
    tau = t - 1.0
    inside = (tau > 0.03) & (tau < 0.63)
    error = force[inside] / (c * (10.0 + g * tau[inside])) - 1.0
    assert abs(error.mean()) < 1e-3
    assert np.abs(error).max() < 0.02
    assert motion.energies(after)["total"] == pytest.approx(system.energies_of(state)["total"], rel=1e-13)
