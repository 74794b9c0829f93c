"""Steps of loaded systems in compiled loops, and adaptive steps, next to those with loads called from Python."""

import math

import numpy as np
import pytest

from reference import small_systems
from symplex.contact.friction import Friction
from symplex.contact.rigid import RigidContact
from symplex.errors import StepFailed
from symplex.fem.actions.centrifugal import Centrifugal
from symplex.fem.actions.coriolis import Coriolis
from symplex.fem.actions.dampers import MeanDashpot, QuadraticDrag
from symplex.fem.actions.damping import Dashpots, Drag, StiffnessDamping
from symplex.fem.actions.loads import NodalLoad, Pressure
from symplex.fem.measures.bars import Bars, EngineeringStrain
from symplex.fem.measures.constraints import RigidBars
from symplex.fem.system import System
from symplex.time.composition import Composition
from symplex.time.conserving.energy_momentum import EnergyMomentum
from symplex.time.constraints.rattle import Rattle
from symplex.time.explicit import newmark
from symplex.time.explicit.newmark import Newmark
from symplex.time.implicit.generalized_alpha import GeneralizedAlpha
from symplex.time.implicit.midpoint import Midpoint
from symplex.time.modes.rotating import rotating_frame
from symplex.time.solvers import compiled_newton
from symplex.time.steps import Steps
from symplex.time.variational.adaptive_variational import AdaptiveVariational
from symplex.time.variational.search_loop import CompiledSearch
from symplex.time.variational.variational import VariationalMidpoint

STEP = 0.002
METHODS = {
    "explicit": lambda: Newmark(STEP),
    "trapezoidal": lambda: Newmark.trapezoidal(STEP),
    "generalized alpha": lambda: GeneralizedAlpha(STEP),
    "midpoint": lambda: Midpoint(STEP),
    "variational": lambda: VariationalMidpoint(STEP),
    "energy-momentum": lambda: EnergyMomentum(STEP),
    "composition": lambda: Composition(EnergyMomentum(STEP)),
    "explicit composition": lambda: Composition(Newmark(STEP)),
    "rattle": lambda: Rattle(STEP, {"rod": RigidBars([[5, 4]], 1.1)}),
}


def damped(dim):
    """A truss that hangs from one node, above a floor, with a damper of each kind."""
    bare, state = small_systems.truss(dim, 1e4, floor=-0.3, floor_stiffness=2e4)
    bars = bare.energies["bars"]
    loads = {
        "dashpots": Dashpots([[0, 1], [3, 4], [4, 2]], [2.0, 5.0, 1.0]),
        "drag": Drag(bare.mass, 0.4),
        "stiffness": StiffnessDamping(bars, state.q, 1e-4),
        "strut": MeanDashpot([1, 3], [2, 5], 3.0, 1.5),
        "anchor": MeanDashpot([2], np.full(dim, 2.0), 0.5, fixed=True),
        "wind": QuadraticDrag([1, 2], [0.1, 0.3], np.linspace(1.0, 2.0, dim)),
    }
    return System(bare.mass, bare.energies, dim=dim, fixed=bare.fixed, loads=loads), state


def driven(dim):
    """The same truss in a frame that turns, with loads that change with time, follow, or rub."""
    bare, state = small_systems.truss(dim, 1e4, floor=-0.11 if dim == 3 else -0.01, floor_stiffness=2e4)
    omega = [0.3, -0.2, 0.5][3 - (3 if dim == 3 else 1) :]
    floor = bare.energies["floor"]
    assert isinstance(floor, RigidContact)
    energies = {**bare.energies, "centrifugal": Centrifugal(bare.mass, omega, np.full(dim, 0.5))}
    ramp = [0.0, 0.03, 0.05, 0.2], [0.0, 1.0, 0.4, 2.0]
    loads = {
        "drag": Drag(bare.mass, 0.4),
        "sine": NodalLoad([1, 2], np.linspace(4.0, 6.0, dim), lambda t: math.sin(40.0 * t)),
        "table": NodalLoad([3], np.full(dim, 3.0), ramp),
        "steady": NodalLoad([4], np.full(dim, 0.5), 0.7),
        "coriolis": Coriolis(bare.mass, omega),
        "friction": Friction(floor, 0.3, static=0.4, slip_speed=0.05),
    }
    if dim == 3:
        faces = {"triangle": np.array([[0, 1, 3], [3, 1, 4]]), "quad": np.array([[1, 2, 5, 4]])}
        loads["pressure"] = Pressure(faces, 20.0, ramp)
    system = System(bare.mass, energies, dim=dim, fixed=bare.fixed, loads=loads)
    return system, system.state(state.q, [0.0, *[0.3, -0.6][3 - dim :]])


SYSTEMS = {"damped": damped, "driven": driven}


def started(name, dim=3, system="damped"):
    return METHODS[name](), *SYSTEMS[system](dim)


@pytest.mark.parametrize("loads", SYSTEMS)
@pytest.mark.parametrize(("name", "dim"), [*((name, 3) for name in METHODS), ("explicit", 2), ("energy-momentum", 2)])
def test_motions_and_works_are_those_from_python(name, dim, loads, monkeypatch):
    method, system, state = started(name, dim, loads)
    found = method.start(system, state)
    taken = []
    inner = getattr(found, "inner", found)
    compiled = inner._compiled_steps
    monkeypatch.setattr(inner, "_compiled_steps", lambda n, sizes: taken.append(compiled(n, sizes)) or taken[-1])
    expected = small_systems.one_by_one(method.start(system, state), monkeypatch)
    ends = found.advance(0.1), expected.advance(0.1)
    # Of a step in which a node begins to rub corrections may be halved, by the general method.
    assert sum(taken) > (49 if loads == "damped" else 47), "steps were not those of the compiled loop"
    np.testing.assert_allclose(ends[0].q, ends[1].q, rtol=0, atol=1e-12)
    np.testing.assert_allclose(ends[0].v, ends[1].v, rtol=0, atol=1e-10)
    np.testing.assert_allclose(ends[0].a, ends[1].a, rtol=0, atol=1e-6)
    energies = found.energies(ends[0]), expected.energies(ends[1])
    assert energies[0] == pytest.approx(energies[1], rel=1e-9, abs=1e-10)
    assert all(abs(energies[0][f"work_{load}"]) > 1e-9 for load in system.loads if load != "coriolis")


@pytest.mark.parametrize("loads", SYSTEMS)
def test_explicit_steps_are_the_same_bits(loads):
    """Of parts of a system on several ranks loads are called back."""
    _, system, state = started("explicit", system=loads)
    ends = []
    for loops in (True, False):
        motion = Newmark(STEP).start(system, state)
        assert isinstance(motion, newmark.NewmarkMotion)
        if not loops:
            motion._loads = None
        ends.append(motion.advance(0.2))
    np.testing.assert_array_equal(ends[0].q, ends[1].q)
    np.testing.assert_array_equal(ends[0].v, ends[1].v)


@pytest.mark.parametrize("loads", SYSTEMS)
@pytest.mark.parametrize("name", METHODS)
def test_motions_do_not_depend_on_where_they_are_looked_at_or_resumed(name, loads, monkeypatch):
    method, system, state = started(name, system=loads)
    motion = method.start(system, state)
    whole = motion.advance(0.2)
    energies = motion.energies(whole)
    monkeypatch.setattr(compiled_newton, "_WORK_AT_ONCE", 500)
    monkeypatch.setattr(newmark, "_STENCILS_AT_ONCE", 500)
    motion = method.start(system, state)
    for t in (0.002, 0.02, 0.1):
        motion.advance(t)
    resumed = method.resume(system, motion.checkpoint())
    assert resumed.approach(0.2, 1e-9) is False
    found = resumed.advance(0.2)
    for array in ("q", "v", "a"):
        np.testing.assert_array_equal(getattr(found, array), getattr(whole, array))
    works = {name: work for name, work in energies.items() if name.startswith("work_")}
    assert {name: work for name, work in resumed.energies(found).items() if name in works} == works


def test_histories_are_not_asked_again_and_again_for_steps_that_the_loop_leaves(monkeypatch):
    _, system, state = started("midpoint")
    times = []
    loads = {"push": NodalLoad([1], np.ones(3), lambda t: times.append(t) or 1.0)}
    motion = Midpoint(STEP).start(System(system.mass, system.energies, fixed=system.fixed, loads=loads), state)
    compiled, stops = motion._compiled_steps, {20, 21, 60}

    def leaving(n, steps):
        taken = compiled(n, steps)
        stop = min((stop for stop in stops if steps.n <= stop < steps.n + n), default=None)
        if stop is None:
            return taken
        stops.discard(stop)
        return stop - steps.n  # what it moved does not matter here

    monkeypatch.setattr(motion, "_compiled_steps", leaving)
    motion.advance(0.2)
    assert not stops
    assert len(times) < 250


@pytest.mark.parametrize(("loads", "taking"), [("damped", "dashpots"), ("driven", "friction")])
def test_energy_momentum_balances_work_to_round_off(loads, taking):
    _, system, state = started("energy-momentum", system=loads)
    motion = EnergyMomentum(STEP).start(system, state)
    before = motion.energies(state)["balance"]
    after = motion.energies(motion.advance(2.0))
    assert after["balance"] == pytest.approx(before, abs=1e-11)
    assert after[f"work_{taking}"] < -0.1


def test_a_frame_that_turns_damps_nothing():
    """The matrix of Coriolis forces is skew: no search for the largest eigenvalue of a symmetric one ends."""
    n = 60
    x = np.zeros((n, 3))
    x[:, 0] = np.arange(n)
    fixed = np.zeros(x.shape, bool)
    fixed[0] = True
    bars = Bars(np.column_stack([np.arange(n - 1), np.arange(1, n)]), EngineeringStrain(1e4, 1.0))
    still = System(np.ones(n), {"bars": bars}, fixed=fixed)
    state = still.state(x, np.where(fixed, 0.0, [0.0, 0.1, 0.0]))
    turning = rotating_frame(still, (0.0, 0.3, 1.0))
    assert Newmark().start(turning, state).dt == pytest.approx(Newmark().start(still, state).dt, rel=1e-3)


def test_adaptive_steps_keep_their_balance():
    system, state = damped(3)
    motion = AdaptiveVariational(1e-3).start(system, state)
    before = motion.energies(motion.advance(0.0))["discrete_balance"]
    after = motion.energies(motion.advance(0.05))
    assert after["discrete_balance"] == pytest.approx(before, abs=1e-12 * max(1.0, abs(before)))
    assert after["work_dashpots"] < -1e-6


def test_other_loads_leave_steps_to_python():
    _, system, state = started("midpoint")
    loads = {**system.loads, "push": lambda t, q, v: np.full_like(q, np.sin(t))}
    pushed = System(system.mass, system.energies, fixed=system.fixed, loads=loads)
    for method in (Midpoint(STEP), Newmark(STEP)):
        motion = method.start(pushed, state)
        motion.advance(0.02)
        assert motion._compiled_steps(1, Steps.one(0.02, STEP)) == isinstance(method, Newmark)  # which calls it back
        assert motion.energies(motion.advance(0.04))["work_push"] != 0.0


def test_a_pole_of_an_energy_is_told_as_without_loads():
    _, system, state = started("explicit")
    motion = Newmark(STEP).start(system, state)
    motion._q[3] = np.nan
    with pytest.raises(StepFailed, match="Newmark stopped in the step from t = 0 s"):
        motion.advance(0.1)


@pytest.mark.parametrize("loaded", [False, True])
def test_adaptive_steps_in_one_loop_are_those_of_the_general_search(loaded, monkeypatch):
    system, state = damped(3)
    if not loaded:
        system = System(system.mass, system.energies, fixed=system.fixed)
    method = AdaptiveVariational(STEP)
    found, expected = method.start(system, state), method.start(system, state)
    monkeypatch.setattr(expected, "_search", CompiledSearch(system, None, 1, 1.0))
    for _ in range(30):
        ends = found.step(), expected.step()
        # The energy decides on a size as far as its round-off lets it.
        assert found.h == pytest.approx(expected.h, rel=1e-6)
    assert found._search
    np.testing.assert_allclose(ends[0].q, ends[1].q, rtol=0, atol=1e-7)
    counts = found.statistics(), expected.statistics()
    assert counts[0]["tried"] == pytest.approx(counts[1]["tried"], rel=0.1)
    assert counts[0]["held"] == counts[1]["held"]
    energies = found.energies(ends[0]), expected.energies(ends[1])
    assert energies[0] == pytest.approx(energies[1], abs=1e-6)


def test_adaptive_steps_do_not_depend_on_where_they_are_looked_at_or_resumed():
    system, state = damped(3)
    method = AdaptiveVariational(STEP)
    whole = method.start(system, state).advance(0.05)
    motion = method.start(system, state)
    for t in (0.0013, 0.011, 0.02):
        motion.energies(motion.advance(t))
    resumed = method.resume(system, motion.checkpoint())
    found = resumed.advance(0.05)
    np.testing.assert_array_equal(found.q, whole.q)
    np.testing.assert_array_equal(found.v, whole.v)
