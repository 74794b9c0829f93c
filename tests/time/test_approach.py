"""Motions that stop on their way when time is up, and go on as if they had not: what the contract does not have."""

from dataclasses import replace

import numpy as np
import pytest

from symplex.errors import StepFailed
from symplex.fem.actions.loads import NodalLoad
from symplex.fem.actions.support_motion import SupportTranslation
from symplex.fem.actions.time_function import TimeFunction
from symplex.fem.measures.bars import Bars, EngineeringStrain, InverseDistance, LennardJones, all_pairs
from symplex.fem.measures.constraints import RigidBars
from symplex.fem.system import System
from symplex.time.composition import Composition
from symplex.time.conserving.energy_momentum import EnergyMomentum
from symplex.time.conserving.graham_jelenic import GrahamJelenic
from symplex.time.constraints.rattle import Rattle, Shake
from symplex.time.events import lattice_motion
from symplex.time.events.force_stepping import ForceStepping
from symplex.time.explicit.newmark import Newmark
from symplex.time.implicit.generalized_alpha import GeneralizedAlpha
from symplex.time.langevin import Langevin
from symplex.time.reductions.jacobi_reduction import JacobiReduction
from symplex.time.reductions.polar_reduction import PolarReduction

POINTS = np.array([[0.0, 0.0, 0.0], [1.0, 0.1, 0.0], [0.2, 1.1, 0.0], [0.3, 0.4, 0.9]])
MASS = np.array([1.0, 2.0, 1.5, 1.0])
SPRINGS = {"springs": Bars(all_pairs(4), EngineeringStrain(10.0, 1.0))}


def free():
    system = System(MASS, SPRINGS)
    return system, system.state(POINTS, 0.1 * np.cos(np.arange(12.0)).reshape(4, 3))


def loaded():
    """Pushed by a load, shaken by a support."""
    shaken = SupportTranslation([0], "z", TimeFunction(np.sin, np.cos, lambda t: -np.sin(t)))
    push = NodalLoad([1], (1.0, 0.0, 0.0), lambda t: np.cos(3.0 * t))
    system = System(MASS, SPRINGS, loads={"push": push}, moving={"shaken": shaken})
    return system, system.state(POINTS, 0.1 * np.cos(np.arange(12.0)).reshape(4, 3))


CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.8], [3.0, 0.2]])
RODS = {"rods": RigidBars.between(CORNERS, [[0, 1], [1, 2], [2, 0]])}


def triangle():
    """A rigid triangle in the plane, at rest in its own frame, hung on springs."""
    system = System(MASS, {"springs": Bars([[0, 3], [1, 3]], EngineeringStrain(4.0, 1.5), dim=2)}, dim=2)
    return system, system.state(CORNERS, np.array([[0.1, 0.2]] * 3 + [[0.0, 0.5]]))


def two_bodies():
    system = System(np.array([1.0, 3.0]), {"pull": Bars([[0, 1]], InverseDistance(-2.0), dim=2)}, dim=2)
    return system, system.state(np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([[0.0, -0.6], [0.1, 0.5]]))


def argon():
    system = System(MASS, {"pairs": Bars(all_pairs(4), LennardJones(1.0, 1.0))})
    return system, system.state(POINTS, 0.2 * np.sin(np.arange(12.0)).reshape(4, 3))


CASES = {
    "Newmark, loaded": (Newmark(0.02), loaded),
    "GeneralizedAlpha, loaded": (GeneralizedAlpha(0.02), loaded),
    "EnergyMomentum, loaded": (EnergyMomentum(0.02), loaded),
    "GrahamJelenic CM6": (GrahamJelenic(0.05, "cayley-magnus-6"), free),
    "Rattle": (Rattle(0.02, RODS), triangle),
    "Rattle, beta": (Rattle(0.02, RODS, beta=0.3), triangle),
    "Shake": (Shake(0.02, RODS), triangle),
    "Composition of Rattle": (Composition(Rattle(0.02, RODS)), triangle),
    "Composition, loaded": (Composition(EnergyMomentum(0.04)), loaded),
    "Langevin": (Langevin(Newmark(0.02), 0.3, rate=1.0, boltzmann=1.0, seed=3), free),
    "Langevin over Rattle": (Langevin(Rattle(0.02, RODS), 0.3, rate=1.0, boltzmann=1.0), triangle),
    "Langevin over a composition": (Langevin(Composition(EnergyMomentum(0.04)), 0.3, rate=1.0, boltzmann=1.0), free),
    "JacobiReduction of a composition": (JacobiReduction(Composition(Newmark(0.02))), argon),
    "PolarReduction": (PolarReduction(ForceStepping(0.02)), two_bodies),
    "PolarReduction, conjugate": (PolarReduction(ForceStepping(0.02), conjugate_angle=True), two_bodies),
    "PolarReduction of Newmark": (PolarReduction(Newmark(0.02)), two_bodies),
    "PolarReduction of ForceStepping, no angular momentum": (
        PolarReduction(ForceStepping(0.02)),
        lambda: (two_bodies()[0], replace(two_bodies()[1], v=np.zeros((2, 2)))),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_motion_stopped_on_its_way_goes_on_bit_identically(name, monkeypatch):
    for constant in ("_EVENTS_AT_FIRST", "_EVENTS_AT_ONCE"):
        monkeypatch.setattr(lattice_motion, constant, 7)
    method, start = CASES[name]
    t = 0.8
    at_once = method.start(*start())
    expected = at_once.advance(t)
    motion = method.start(*start())
    motion.advance(0.0)
    stops = 0
    while not motion.approach(t, 0.0):
        stops += 1
        if stops & (stops - 1) == 0:  # more and more rarely: a resumed motion begins with care
            motion = method.resume(start()[0], motion.checkpoint())
    assert stops >= 5
    found = motion.advance(t)
    for part in ("t", "q", "v", "a"):
        np.testing.assert_array_equal(getattr(found, part), getattr(expected, part))
    assert motion.energies(found) == at_once.energies(expected)
    assert motion.statistics() == at_once.statistics()


class Clock:
    """A clock that only goes on when it is asked to."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def test_steps_are_taken_for_the_time_that_there_is(monkeypatch):
    clock, costs = Clock(), [5.0, 0.01]  # the first step compiles
    monkeypatch.setattr("symplex.time.motion.perf_counter", clock)
    motion = Newmark(1e-3).start(*free())
    run, portions = motion._run, []

    def costly(n_steps):
        run(n_steps)
        portions.append(n_steps)
        clock.now += sum(costs.pop(0) if len(costs) > 1 else costs[0] for _ in range(n_steps))

    monkeypatch.setattr(motion, "_run", costly)
    assert not motion.approach(10.0, 1.0)
    assert motion.n == 1
    assert not motion.approach(10.0, 1.0)
    assert 1 + 90 <= motion.n <= 1 + 110  # 0.01 s each
    assert len(portions) < 20
    costs[0] = 0.5  # now all is slower
    before = motion.n
    assert not motion.approach(10.0, 1.0)
    assert motion.n - before <= 60
    before = motion.n
    assert not motion.approach(10.0, 1.0)
    assert motion.n - before == 2
    costs[0] = 1e-6
    assert motion.approach(10.0, 1.0)
    assert motion.n == 10_000
    assert motion.approach(10.0, 0.0)  # nothing is left to do


def test_a_motion_that_failed_on_its_way_does_not_go_on():
    system, state = free()
    motion = Newmark(0.02).start(system, state)
    motion.advance(0.1)

    def failing(n_steps):
        raise StepFailed("no")

    motion._run = failing
    with pytest.raises(StepFailed, match="no"):
        motion.approach(1.0, 1.0)
    for going_on in (lambda: motion.approach(1.0, 1.0), lambda: motion.advance(0.1), motion.checkpoint):
        with pytest.raises(StepFailed, match="stopped within the step"):
            going_on()
