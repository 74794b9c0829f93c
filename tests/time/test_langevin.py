"""Constant temperature: the canonical distribution, what noise does not touch, seeds and checkpoints."""

import numpy as np
import pytest

from symplex.errors import InvalidSystem
from symplex.fem.measures.bars import Bars, EngineeringStrain, all_pairs
from symplex.fem.measures.constraints import RigidBars
from symplex.fem.system import System
from symplex.time.composition import Composition
from symplex.time.conserving.energy_momentum import EnergyMomentum
from symplex.time.constraints.rattle import Rattle, Shake
from symplex.time.events.force_stepping import ForceStepping
from symplex.time.explicit.newmark import Newmark
from symplex.time.implicit.midpoint import Midpoint
from symplex.time.integrator import Integrator
from symplex.time.langevin import Langevin, kinetic_temperature
from symplex.time.variational.zhang_skeel import ZhangSkeel

KT = 0.02


def oscillators(n=400, k=4.0):
    """Independent oscillators on a line about fixed nodes: V = k/2 (|x| − 1)², none of which comes near 0."""
    nodes = np.arange(2 * n, dtype=np.int32).reshape(n, 2)
    fixed = np.zeros((2 * n, 1), bool)
    fixed[::2] = True
    masses = np.where(np.arange(2 * n) % 4 == 1, 1.0, 3.0)
    system = System(masses, {"springs": Bars(nodes, EngineeringStrain(k, 1.0))}, dim=1, fixed=fixed)
    return system, system.state(np.tile([[0.0], [1.0]], (n, 1)))


def cluster(fixed=None):
    q = np.array([[0.0, 0.0, 0.0], [1.0, 0.1, 0.0], [0.2, 1.1, 0.0], [0.3, 0.4, 0.9]])
    system = System(
        np.array([1.0, 2.0, 1.5, 1.0]), {"springs": Bars(all_pairs(4), EngineeringStrain(10.0, 1.0))}, fixed=fixed
    )
    return system, system.state(q, 0.1 * np.cos(np.arange(12.0)).reshape(4, 3))


@pytest.mark.parametrize(
    ("method", "of_positions"),
    [
        # The positions that a method itself samples: ⟨(x − 1)²⟩ k/kT of each, exactly, at ω² h² = 4 · 0.25.
        (Newmark(0.5), 1.0 / (1.0 - 0.25)),
        (Midpoint(0.5), 1.0),
    ],
)
def test_the_canonical_distribution(method, of_positions):
    """Of masses 1, k = 4: Verlet samples k̃ = k (1 − ω²h²/4), and kT for velocities; midpoint both exactly."""
    system, state = oscillators()
    motion = Langevin(method, KT, rate=1.0, boltzmann=1.0, seed=3).start(system, state)
    light = slice(1, None, 4)
    x, v = [], []
    for n in range(1, 401):
        now = motion.advance(0.5 * n)
        if n > 40:
            x.append((now.q[light, 0] - 1.0) ** 2)
            v.append(now.v[light, 0] ** 2)
    # 200 oscillators, 360 times half a unit apart, which forget within some four of them: 1 % or so.
    assert np.mean(x) * 4.0 / KT == pytest.approx(of_positions, rel=0.04)
    assert np.mean(v) / KT == pytest.approx(1.0, rel=0.04)
    assert kinetic_temperature(system, now.v, boltzmann=1.0) == pytest.approx(KT, rel=0.25)


def test_masses_and_frictions_of_their_own_have_the_same_temperature():
    system, state = oscillators(n=2000)
    friction = np.where(system.mass > 2.0, 9.0, 1.0)
    motion = Langevin(Midpoint(0.5), KT, friction=friction, boltzmann=1.0).start(system, state)
    energies = np.mean([system.mass * motion.advance(0.5 * n).v[:, 0] ** 2 for n in range(20, 60)], axis=0)
    assert energies[1::4].mean() == pytest.approx(KT, rel=0.03)
    assert energies[3::4].mean() == pytest.approx(KT, rel=0.03)
    assert not energies[::2].any()


@pytest.mark.parametrize(
    "method",
    [Newmark(0.05), Midpoint(0.05), EnergyMomentum(0.05), ZhangSkeel(0.05), Composition(Midpoint(0.05))],
    ids=lambda method: type(method).__name__,
)
def test_without_friction_it_is_the_method(method: Integrator):
    system, state = cluster()
    plain = method.start(system, state).advance(2.0)
    same = Langevin(method, 300.0, friction=0.0).start(system, state).advance(2.0)
    np.testing.assert_array_equal(same.q, plain.q)
    np.testing.assert_array_equal(same.v, plain.v)


def test_at_zero_temperature_it_is_damped():
    system, state = cluster()
    motion = Langevin(Midpoint(0.01), 0.0, friction=0.3).start(system, state)
    later = motion.advance(5.0)
    assert system.energies_of(later)["total"] < 0.3 * system.energies_of(state)["total"]


def test_heat_is_what_the_energy_changes_by():
    system, state = cluster()
    motion = Langevin(EnergyMomentum(0.05), KT, rate=0.5, boltzmann=1.0).start(system, state)
    start = motion.energies(state)
    parts = motion.energies(motion.advance(20.0))
    assert abs(parts["heat"]) > 0.01
    assert parts["balance"] == pytest.approx(start["total"], abs=1e-12)


def test_the_seed_decides_and_a_resume_is_identical():
    system, state = cluster()
    method = Langevin(Newmark(0.05), KT, rate=1.0, boltzmann=1.0, seed=5)
    whole = method.start(system, state).advance(3.0)
    motion = method.start(system, state)
    motion.advance(1.0)
    again = method.resume(system, motion.checkpoint()).advance(3.0)
    for one, other in ((whole.q, again.q), (whole.v, again.v)):
        np.testing.assert_array_equal(one, other)
    other = Langevin(Newmark(0.05), KT, rate=1.0, boltzmann=1.0, seed=6).start(system, state).advance(3.0)
    assert np.abs(other.q - whole.q).max() > 1e-3


def test_supports_stay():
    fixed = np.zeros((4, 3), bool)
    fixed[0] = True
    system, state = cluster(fixed)
    end = Langevin(Newmark(0.05), KT, rate=1.0, boltzmann=1.0).start(system, state).advance(5.0)
    np.testing.assert_array_equal(end.q[0], state.q[0])
    np.testing.assert_array_equal(end.v[0], 0.0)


@pytest.mark.parametrize(("composed", "n", "steps"), [(False, 300, 120), (True, 100, 20)])
def test_constraints_keep_their_temperature(composed, n, steps):
    """Rods that turn freely in space: two degrees of freedom of turning and three of moving each."""
    q = np.zeros((2 * n, 3))
    q[1::2, 0] = 1.0
    rods = np.arange(2 * n, dtype=np.int32).reshape(n, 2)
    system = System(np.tile([1.0, 3.0], n), {})
    state = system.state(q)
    method = Rattle(0.2, {"rods": RigidBars(rods, 1.0)})
    method = Composition(method) if composed else method
    motion = Langevin(method, KT, rate=1.0, boltzmann=1.0).start(system, state)
    temperatures = []
    for step in range(10, steps):
        now = motion.advance(0.2 * step)
        temperatures.append(kinetic_temperature(system, now.v, removed=n, boltzmann=1.0))
        along = now.q[1::2] - now.q[::2]
        assert np.abs(np.linalg.norm(along, axis=1) - 1.0).max() < 1e-12
        turning = now.v[1::2] - now.v[::2]
        assert np.abs(np.sum(along * turning, axis=1)).max() < 1e-12
        # Accelerations are those of the velocities with their noise: g'' = 0.
        bending = np.sum(along * (now.a[1::2] - now.a[::2]) + turning**2, axis=1)
        assert np.abs(bending).max() < 1e-12
    assert np.mean(temperatures[-70:]) == pytest.approx(KT, rel=0.03 if steps > 100 else 0.3)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"temperature": -1.0, "rate": 1.0}, "temperature must be at least 0, got -1 K"),
        ({"temperature": 300.0, "friction": -1.0}, "friction must be at least 0, got -1 kg/s"),
        ({"temperature": np.nan, "rate": 1.0}, "temperature must be finite, got nan"),
        ({"temperature": 300.0}, "give either a friction"),
        ({"temperature": 300.0, "rate": 1.0, "friction": 1.0}, "give either a friction"),
        ({"temperature": 300.0, "rate": 1.0, "seed": -1}, "seed must be an integer of at least 0"),
        ({"temperature": 300.0, "rate": 1.0, "seed": 2**64}, "seed must be "),
    ],
)
def test_parameters_that_cannot_be(options, text):
    with pytest.raises(ValueError, match=text):
        Langevin(Newmark(0.1), **options)


def test_methods_that_cannot_be_followed():
    system, state = cluster()
    with pytest.raises(InvalidSystem, match="ForceStepping has no fixed step"):
        Langevin(ForceStepping(0.1), 1.0, rate=1.0).start(system, state)
    rods = {"rods": RigidBars([[0, 1]], np.linalg.norm(state.q[1] - state.q[0]))}
    still = system.state(state.q)
    with pytest.raises(InvalidSystem, match="take Rattle"):
        Langevin(Shake(0.01, rods), 1.0, rate=1.0).start(system, still)
    with pytest.raises(InvalidSystem, match="give a rate"):
        Langevin(Rattle(0.01, rods), 1.0, friction=1.0).start(system, still)
    with pytest.raises(InvalidSystem, match="give a rate"):
        Langevin(Composition(Rattle(0.01, rods)), 1.0, friction=1.0).start(system, still)
    with pytest.raises(InvalidSystem, match="of 12 free coordinates 12 are removed"):
        kinetic_temperature(system, still.v, removed=12)
    with pytest.raises(InvalidSystem, match="friction has shape"):
        Langevin(Newmark(0.01), 1.0, friction=[1.0, 2.0]).start(system, still)
