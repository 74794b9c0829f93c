"""Derivatives of runs whose stages end where a condition holds, against differences of such runs."""

import numpy as np
import pytest

import symplex as sx
from reference.impacts import CELLS, MESH, differences
from reference.lines import straight
from symplex.errors import InvalidArgument, InvalidSystem
from symplex.fem.solids.solid import Solid
from symplex.fem.structures import BeamProperties, ViscousMeasures, beams
from symplex.studies.derivatives import KeyedRun
from symplex.studies.sensitivities import sensitivity
from symplex.time import Event, Stage, Stages


def caught(p, method, fastest=1.2):
    """A block that falls, is caught by an edge, pushed from then on, let go later, and stopped when it is fast.

    The push begins at the time at which it is caught, and the height is a parameter.
    """
    young, over, stiffness, density, speed, friction, height = p
    mass = sx.lumped_mass(MESH.points, CELLS, density, len(MESH.points))
    solid = Solid(MESH.points, CELLS, sx.NeoHookean.from_young(young, 0.3, density))
    floor = sx.RigidContact(MESH.boundary_nodes, sx.HalfSpace((0.0, 0.0, -0.001), (0.1, 0.0, 1.0)), stiffness)
    part = {"over": sx.Viscoelastic(solid, [over], [5e-3])}
    edge = sx.fixed_mask(len(MESH.points), [([5], "xyz")])
    rubbed = {"friction": sx.contact.Friction(floor, friction, slip_speed=0.05)}
    energies = {"block": solid, "weight": sx.Gravity(mass, (0.0, 0.0, -300.0)), "floor": floor}
    free = sx.System(mass, energies, loads=rubbed, inelastic=part)

    def following(happened):
        push = sx.actions.NodalLoad([7], (2.0, 0.0, 0.0), lambda t: 1.0 + 50.0 * (t - happened["low"]))
        held = sx.System(mass, energies, loads=rubbed | {"push": push}, inelastic=part, fixed=edge)
        return [Stage(held, sx.HilberHughesTaylor(5e-4), 9e-3)]

    events = [
        Event("low", lambda motion, state: float(state.q[0, 2]), below=height, then=following),
        Event("later", "time", above=1.25e-3, after=["low"], then=[Stage(free, sx.Midpoint(1e-3), 9e-3)]),
        Event("fast", lambda motion, state: motion.energies(state)["kinetic"], fastest, after=["later"], every=2),
    ]
    return Stages([Stage(free, method, 9e-3)], events), free.state(MESH.points, (0.3, 0.0, -speed))


CAUGHT = np.array([1e5, 8e4, 2e3, 1000.0, 0.5, 0.3, -1.1e-3])


def swung(p):
    """A beam that is bent by a load, let go at a deflection, and stopped as its clamp is pulled."""
    modulus, density, load, damping = p
    k = [modulus * k for k in (1e4, 4e3, 5.0, 8.0, 6.0)]
    section = BeamProperties(k[0], (k[1],) * 2, tuple(k[2:4]), k[4], density, (2e-3,) * 2)
    made = beams(straight(3, 1.0), section, (0.0, 0.0, 1.0))
    damped, tip = (
        {"damping": ViscousMeasures(made.energy, damping * made.viscous_stiffness)},
        made.particles([3]).ravel(),
    )
    blow = {"blow": sx.actions.NodalLoad(tip, [0.0, 0.2 * load, load])}
    options = {"frames": made.frames, "fixed": made.fixed([0])}
    bent = sx.System(made.mass, {"beam": made.energy}, loads=damped | blow, **options)
    free = sx.System(made.mass, {"beam": made.energy}, loads=damped, **options)

    def pull(motion, state):
        return float(motion.system.reactions(state)[:, 2].sum())

    events = [
        Event("far", lambda _, state: float(state.q[tip, 2].mean()), 0.05, then=[Stage(free, sx.Midpoint(0.01), 0.4)]),
        Event("pulled", pull, below=-0.5, after=["far"]),
    ]
    return Stages([Stage(bent, sx.EnergyMomentum(0.01), 0.4)], events), bent.state(made.points)


SWUNG = np.array([1.0, 0.5, 1.5, 1e-3])
CASES = {
    "energy-momentum": (lambda p: caught(p, sx.EnergyMomentum(1e-3)), CAUGHT, [2e-3, 5e-3, 9e-3]),
    "explicit": (lambda p: caught(p, sx.Newmark(1e-4)), CAUGHT, [2e-3, 5e-3, 9e-3]),
    "alpha": (lambda p: caught(p, sx.GeneralizedAlpha(2e-4, 0.8)), CAUGHT, [2e-3, 5e-3, 9e-3]),
    "beam": (swung, SWUNG, [0.05, 0.1, 0.2]),
}


def marched(build, p, times):
    """Return the numbers of a run, its last time among them, and when conditions have held."""
    stages, state = build(p)
    path = sx.record(stages.stages[0].system, stages, state, times)
    found = [np.concatenate([q.ravel(), 0.01 * v.ravel(), [t]]) for q, v, t in zip(path.q, path.v, path.t, strict=True)]
    return np.array(found), np.array(list(path.motion.happened.values()))


SLOW = ("explicit", "alpha")


@pytest.mark.parametrize("case", [pytest.param(c, marks=[pytest.mark.slow] if c in SLOW else []) for c in CASES])
def test_tangents_and_adjoints_are_those_of_runs(case):
    build, p, times = CASES[case]
    base, happened = marched(build, p, times)

    def observe(system, state):
        return np.concatenate([state.q.ravel(), 0.01 * state.v.ravel(), [state.t]])

    found = sx.tangent(build, p, None, times, observe)
    assert found.values.shape == base.shape
    assert len(found.t) < len(times)  # it is stopped
    assert np.abs(found.values - base).max() < 1e-13
    assert np.array_equal(list(found.events.values()), happened)
    slopes = np.array(list(found.event_derivatives.values()))
    assert np.array_equal(found.dt[-1], slopes[-1])
    assert np.allclose(found.jacobian[-1, -1], found.dt[-1], rtol=1e-6, atol=0.0)

    def run(p):
        values, happened = marched(build, p, times)
        return np.append(values.ravel(), happened)

    for j in range(len(p)):
        off = differences(run, p, j, 1e-4)
        for some, exact in ((off[: base.size], found.jacobian[..., j].ravel()), (off[base.size :], slopes[:, j])):
            assert np.abs(some - exact).max() < 1e-6 * np.abs(exact).max(), j
    weights = np.random.default_rng(0).standard_normal((2, *build(p)[1].q.shape))

    def cost(state):
        by_q, by_v = weights[0] * state.q, 1e-2 * weights[1]
        return float(np.sum(0.5 * by_q * state.q) + np.sum(by_v * state.v)) + 3.0 * state.t, by_q, by_v, 3.0

    forwards = sx.tangent(build, p, None, times, lambda system, state: cost(state)[0])
    for budget in (1e9, 5e4) if case == "energy-momentum" else (1e9,):
        back = sx.gradient(build, p, None, times, cost, budget=budget)
        assert back.value == pytest.approx(forwards.values.sum(), rel=1e-12)
        assert np.allclose(back.parameters, forwards.jacobian[:, 0].sum(axis=0), rtol=1e-6, atol=0.0)


def test_a_thrown_mass_lands_when_it_should():
    """On steps of energy-momentum a mass is thrown as in theory: it is back at h = v t - g t²/2."""

    def thrown(p):
        system = sx.System([1.0], {"weight": sx.Gravity([1.0], [-p[1]])}, dim=1)
        landed = Event("landed", lambda _, state: float(state.q[0, 0]), below=p[2])
        return Stages([Stage(system, sx.EnergyMomentum(0.1), 3.0)], [landed]), system.state([[0.0]], [[p[0]]])

    p = np.array([2.0, 10.0, -0.5])
    found = sx.tangent(thrown, p, None, [0.2, 3.0])
    root = np.sqrt(p[0] ** 2 - 2.0 * p[1] * p[2])
    t = (p[0] + root) / p[1]
    exact = [(1.0 + p[0] / root) / p[1], -t / p[1] - p[2] / root / p[1], -1.0 / root]
    assert found.t[-1] == pytest.approx(t, rel=1e-9)
    assert np.allclose(found.event_derivatives["landed"], exact, rtol=1e-8, atol=0.0)
    assert np.allclose(found.jacobian[-1, 0], [0.0, 0.0, 1.0], rtol=0.0, atol=1e-8)


def test_a_time_that_a_parameter_sets():
    """A mass is pulled up from a time on, and stopped at a height: both are parameters, and systems are the same."""
    down, up = (sx.System([1.0], {"weight": sx.Gravity([1.0], [g])}, dim=1) for g in (-10.0, 10.0))
    method, v = sx.EnergyMomentum(0.1), 2.0

    def pulled(p):
        later = Event("later", "time", above=p[0], then=[Stage(up, method, 3.0)])
        high = Event("high", lambda _, state: float(state.q[0, 0]), above=p[1], after=["later"])
        return Stages([Stage(down, method, 3.0)], [later, high]), down.state([[0.0]], [[v]])

    p = np.array([0.55, 0.5])
    found = sx.tangent(pulled, p, None, [0.7, 3.0])
    t = found.t[-1]
    fast = v - 20.0 * p[0] + 10.0 * t
    assert v * p[0] - 5.0 * p[0] ** 2 + (v - 10.0 * p[0]) * (t - p[0]) + 5.0 * (t - p[0]) ** 2 == pytest.approx(p[1])
    assert np.allclose(found.event_derivatives["later"], [1.0, 0.0], rtol=1e-9, atol=1e-12)
    exact = [20.0 * (t - p[0]) / fast, 1.0 / fast]
    assert np.allclose(found.event_derivatives["high"], exact, rtol=1e-8, atol=1e-12)
    assert np.allclose(found.jacobian[0, 0], [-20.0 * (0.7 - p[0]), 0.0], rtol=1e-8, atol=1e-8)
    back = sx.gradient(pulled, p, None, [0.7, 3.0], lambda state: (state.t, 0.0 * state.q, 0.0 * state.q, 1.0))
    assert np.allclose(back.parameters, exact, rtol=1e-7, atol=1e-12)


def test_a_time_at_the_end_of_a_step_that_is_a_sample():
    """What begins there, at a time that may be a parameter, is not felt at that sample; a stop is at it."""

    def pulled(p, then=None):
        down, up = (sx.System([1.0], {"weight": sx.Gravity([1.0], [g])}, dim=1) for g in (-p[0], p[0]))
        follow = then or [Stage(up, sx.EnergyMomentum(0.1), 1.0)]
        later = Event("later", "time", above=0.25 * p[1], then=follow)
        return Stages([Stage(down, sx.EnergyMomentum(0.1), 1.0)], [later]), down.state([[0.0]], [[p[1]]])

    def cost(state):
        return float(state.q[0, 0] + state.t), np.ones((1, 1)), np.zeros((1, 1)), 1.0

    p = [10.0, 2.0]
    for then, exact in ((None, [[-0.125, 0.5], [-0.25, 1.0 - 0.25 * 10.0]]), ("stop", [[-0.125, 0.5 - 0.25 * 3.0]])):
        found = sx.tangent(lambda p, then=then: pulled(p, then), p, None, [0.5, 1.0])
        assert np.allclose(found.jacobian[:, 0], exact, rtol=1e-8, atol=0.0)
        assert np.allclose(found.event_derivatives["later"], [0.0, 0.25], rtol=1e-9, atol=0.0)
        back = sx.gradient(lambda p, then=then: pulled(p, then), p, None, [0.5, 1.0], cost)
        assert np.allclose(back.parameters, (found.jacobian[:, 0] + found.dt).sum(axis=0), rtol=1e-8, atol=1e-10)


def test_a_run_that_a_condition_stops_at_once_is_refused():
    def still(p):
        system = sx.System([1.0], {"weight": sx.Gravity([1.0], [-p[0]])}, dim=1)
        low = Event("low", lambda _, state: float(state.q[0, 0]), below=1.0)
        return Stages([Stage(system, sx.EnergyMomentum(0.1), 1.0)], [low]), system.state([[0.0]])

    with pytest.raises(InvalidSystem, match="'low' stops the run where it starts, at t = 0 s"):
        sx.tangent(still, [10.0], None, [0.2, 1.0])
    with pytest.raises(InvalidSystem, match="gradient: the condition 'low' stops the run where it starts"):
        sx.gradient(still, [10.0], None, [1.0], lambda state: (state.t, 0.0 * state.q, 0.0 * state.q))


def test_what_conditions_and_times_must_be():
    def stopped(p, method=sx.EnergyMomentum(0.1), events=None):  # noqa: B008
        system = sx.System([1.0], {"weight": sx.Gravity([1.0], [-p[0]])}, dim=1)
        low = Event("low", lambda _, state: float(state.q[0, 0]), below=-1.0)
        return Stages([Stage(system, method, 1.0)], [low] if events is None else events(p)), system.state([[0.0]])

    def other(p):
        return stopped(p, events=lambda p: [Event("low", "time", above=0.35)] if p[0] == 10.0 else [])

    for times in ([], [0.8, 0.2], [np.nan]):
        with pytest.raises(InvalidArgument, match="tangent: times must be finite numbers in ascending order"):
            sx.tangent(stopped, [10.0], None, times)
    with pytest.raises(InvalidSystem, match="AdaptiveVariational takes no steps of one size, and has no derivatives"):
        sx.tangent(lambda p: stopped(p, sx.AdaptiveVariational(0.01)), [10.0], None, [0.2, 1.0])
    with pytest.raises(InvalidSystem, match="a parameter changes which conditions there are"):
        sx.tangent(other, [10.0], None, [0.2, 1.0])


def test_a_condition_that_only_just_holds_is_refused():
    """A mass reaches its highest point at the end of a step, where a condition on its height holds by rounding."""

    def thrown(p):
        system = sx.System([1.0], {"weight": sx.Gravity([1.0], [-10.0])}, dim=1)
        top = Event("top", lambda _, state: float(state.q[0, 0]), above=0.2 * (1.0 - 1e-9))
        return Stages([Stage(system, sx.EnergyMomentum(0.05), 3.0)], [top]), system.state([[0.0]], [[p[0]]])

    with pytest.raises(InvalidSystem, match=r"the condition 'top' only just holds at t = 0\.199.* has no derivative"):
        sx.tangent(thrown, [2.0], None, [0.2, 0.4])


def test_what_depends_on_more_than_a_state_is_refused():
    def worked(p):
        stages, state = caught(CAUGHT * p[0], sx.EnergyMomentum(1e-3))
        work = Event("work", lambda motion, state: motion.energies(state)["work_friction"], below=-1e-5)
        return Stages(stages.stages, [work]), state

    with pytest.raises(InvalidSystem, match="'work' has no derivative: its value depends on more than the state"):
        sx.tangent(worked, [1.0], None, [9e-3])


SCENARIO = """\
title = "A block that is torn off its grip, pushed from then on, and stopped as it has come down"
[define]
E = 1e5
far = 2.3e-3
[[body]]
name = "block"
mesh = { box = [0.08, 0.06, 0.05], cells = [1, 1, 1] }
material = { young = "=E", poisson = 0.3, density = 1000 }
velocity = [0.5, 0, -1]
[[support]]
name = "grip"
body = "block"
group = "x_min"
velocity = [-0.3, 0, 0]
until = "torn"
[[load]]
name = "push"
kind = "nodal"
body = "block"
group = "z_max"
force = [0.1, 0, 0]
history = { kind = "half-sine", duration = 2e-3 }
from = "torn"
[gravity]
acceleration = [0, 0, -9.81]
[[when]]
name = "torn"
probe = "pull"
column = "reaction_x"
below = -1.5
[[when]]
name = "down"
after = ["torn"]
probe = "corner"
column = "displacement_z"
below = "=-far"
stop = true
[integrator]
kind = "energy-momentum"
dt = 2e-4
[run]
duration = 8e-3
frames = 1
samples = 10
[[probe]]
name = "pull"
support = "grip"
[[probe]]
name = "corner"
body = "block"
points = [[0.08, 0.06, 0.05]]
quantities = ["displacement"]
"""


def test_scenarios_with_conditions(tmp_path):
    scenario = sx.Scenario.parse(SCENARIO, tmp_path / "torn.toml")
    keys = ["define.E", "body.block.material.density", "define.far", "when.torn.below"]
    run = KeyedRun(scenario, keys, ["corner.displacement_x", "kinetic"])
    end = float(run.times[-1])
    found = run.tangent(run.values, np.abs(run.values), end)
    assert (list(found.events), found.stopped) == (["torn", "down"], "down")
    assert np.abs(found.values - run.run(run.values, end)).max() < 1e-13
    for j, value in enumerate(run.values):
        e = np.zeros(len(keys))
        e[j] = 1e-4 * abs(value)
        slope = (run.run(run.values + e, end, run.values) - run.run(run.values - e, end, run.values)) / (2.0 * e[j])
        off = np.abs(slope - found.jacobian[..., j]).max(axis=0)
        assert (off < 1e-6 * np.abs(found.jacobian[..., j]).max(axis=0)).all(), keys[j]
    study = sensitivity(
        scenario, keys, ["events.down", "final(kinetic)"], output=tmp_path / "s", pictures=False, progress=False
    )
    assert (study.numbers["events.down"], study.units["events.down"]) == (found.t[-1], "s")
    assert np.array_equal(study.derivatives["events.down"], found.event_derivatives["down"])
    assert np.allclose(study.derivatives["final(kinetic)"], found.jacobian[-1, 1], rtol=1e-7, atol=1e-12)


def test_fits_to_curves_of_a_run_that_a_condition_stops(tmp_path):
    """A fit finds the modulus and the height at which a run stops, from a curve up to that time."""
    made = sx.Scenario.parse(SCENARIO, tmp_path / "torn.toml")
    run = KeyedRun(made, ["define.E", "define.far"], ["corner.displacement_z"])
    found = run.tangent(run.values, run.values, float(run.times[-1]))
    t = np.array([0.0003, 0.0007, 0.0011, 0.0018, 0.0021, 0.0030, 0.005])
    rows = np.column_stack([t, np.interp(t, found.t, found.values[:, 0])])
    np.savetxt(tmp_path / "down.csv", rows, delimiter=",")
    fitted = SCENARIO + (
        '[fit]\nparameters = [{ key = "define.E", start = 1.2e5 }, { key = "define.far", start = 2.2e-3 }]\n'
        'curves = [{ data = "down.csv", of = "corner.displacement_z", deviation = 1e-6 }]\n'
    )
    scenario = sx.Scenario.parse(fitted, tmp_path / "torn.toml")
    found = sx.studies.fit(scenario, output=tmp_path / "fit", pictures=False, progress=False)
    assert np.allclose(found.values, [1e5, 2.3e-3], rtol=1e-6)
    assert found.gradient_error < 1e-5
