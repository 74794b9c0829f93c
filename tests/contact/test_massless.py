"""Contact nodes without inertia, and the elastic bar that hits a rigid wall."""

import numpy as np
import pytest

from symplex.contact.massless import redistributed_mass
from symplex.contact.obstacles import HalfSpace
from symplex.contact.rigid import RigidContact
from symplex.errors import InvalidSystem
from symplex.fem.actions.mass import lumped_mass
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


def bar(stiffness, massless, n=50):
    """A bar that hits a wall at t = 1 with its node 0."""
    length = 1.0 / n
    x = 0.01 + np.linspace(0.0, 1.0, n + 1)[:, None]
    mass = np.full(n + 1, length)
    mass[[0, -1]] *= 0.5
    free_of_mass = np.arange(n + 1) == 0 if massless else None
    if massless:
        mass = redistributed_mass(mass, x, [0])
    pairs = np.column_stack([np.arange(n), np.arange(1, n + 1)])
    wall = RigidContact([0], HalfSpace([0.0], [1.0]), stiffness)
    energies = {"bar": Bars(pairs, EngineeringStrain(1.0 / length, length), dim=1), "wall": wall}
    system = System(mass, energies, dim=1, massless=free_of_mass)
    return system, system.state(x, np.full(x.shape, -SPEED)), wall


def impact(method, stiffness, massless):
    """Times, the force of the wall in each step, and the energy after it over the first."""
    system, state, wall = bar(stiffness, massless)
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
    with pytest.raises(InvalidSystem, match=r"massless has shape \(1,\), wanted \(2,\)"):
        System(np.ones(2), {}, massless=[True])
