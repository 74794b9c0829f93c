"""Events: located within a step, what follows them, one balance, and going on bit-identically."""

import numpy as np
import pytest

import symplex as sx
from symplex.errors import InvalidSystem, StepFailed
from symplex.time import Event, Stage, Stages

MASS, STIFFNESS = 2.0, 50.0
W = np.sqrt(STIFFNESS / MASS)
SPRING = sx.Bars([[0, 1]], sx.measures.EngineeringStrain(STIFFNESS, 1.0), dim=1)
METHODS = [
    sx.Newmark(1e-3),
    sx.EnergyMomentum(1e-3),
    sx.Midpoint(1e-3),
    sx.HilberHughesTaylor(1e-3),
    sx.Composition(sx.Midpoint(1e-3), 4),
]


def oscillator(free=False, loads=None):
    """Return a mass on a spring along a line, at whose other end another one is fixed unless it is free."""
    return sx.System([MASS, MASS], {"spring": SPRING}, dim=1, fixed=[[not free], [False]], loads=loads)


def stretched(system, x=0.1):
    """Return the spring stretched by x at rest."""
    return system.state([[0.0], [1.0 + x]])


def position(motion, state):
    return state.q[1, 0] - 1.0


@pytest.mark.parametrize("method", METHODS, ids=lambda m: type(m).__name__)
def test_where_a_harmonic_motion_crosses(method):
    """Of x = 0.1 cos ω't it is where the method's own motion crosses: to 1e-10 of a step, not to the step."""
    system = oscillator()
    stop = Event("below", position, below=0.05)
    found = sx.record(system, Stages([Stage(system, method, 2.0)], [stop]), stretched(system), [0.0, 1.0, 2.0])
    assert found.motion.stopped == "below"
    t = found.motion.happened["below"]
    assert found.t.tolist() == [0.0, t]
    assert abs(position(None, found.motion.advance(2.0)) - 0.05) < 1e-10 * 1e-3 * 0.1 * W * 10 + 1e-15
    # The error of the method is at most (ω dt)²/10 of the time here, a hundredth of a step.
    assert abs(t - np.arccos(0.5) / W) < 0.2 * (W * 1e-3) ** 2 * np.arccos(0.5) / W
    assert found.q[-1, 1, 0] - 1.0 <= 0.05


def test_a_support_is_released_where_the_force_is_large_enough():
    """Energy, and from then on momentum, are conserved to round-off; the momentum is that at the release."""
    held, free = oscillator(), oscillator(free=True)
    method = sx.EnergyMomentum(0.01)
    force = lambda motion, state: -float(motion.system.reactions(state)[0, 0])  # noqa: E731
    release = Event("release", force, below=-0.05 * STIFFNESS, then=[Stage(free, sx.EnergyMomentum(0.01), 2.0)])
    start = oscillator().state([[0.0], [1.0]], [[0.0], [-1.0]])
    found = sx.record(held, Stages([Stage(held, method, 2.0)], [release]), start, np.linspace(0.0, 2.0, 41))
    t = found.motion.happened["release"]
    k = int(np.searchsorted(found.t, t))
    np.testing.assert_allclose(found.energies["balance"], found.energies["balance"][0], atol=1e-13)
    np.testing.assert_allclose(found.energies["total"], found.energies["total"][0], atol=1e-13)
    np.testing.assert_allclose(found.momentum[k:, 0], found.momentum[k, 0], atol=1e-13)
    v = -np.sqrt(1.0 - STIFFNESS / MASS * 0.05**2)  # of ½ m v² + ½ k x² = ½ m
    # Reactions are those of the shape at the end of a step, so that x is exact.
    assert found.momentum[-1, 0] == pytest.approx(MASS * v, abs=1e-9)


def chained(every=1, dt=0.01):
    """Return a swing: pushed when it is left of the middle, released later, stopped when it is far away."""
    push = sx.actions.NodalLoad([1], [3.0], lambda t: np.sin(5.0 * t))
    held, pushed, free = oscillator(), oscillator(loads={"push": push}), oscillator(free=True, loads={"push": push})
    method = sx.EnergyMomentum(dt)
    events = [
        Event("left", position, below=0.0, then=[Stage(pushed, method, 9.0)], every=every),
        Event("noted", position, below=-0.02, then="record", every=every),
        Event("fast", lambda m, s: m.energies(s)["kinetic"], above=0.24, after=["left", "noted"], every=every,
              then=lambda happened: [Stage(free, sx.Midpoint(dt), happened["noted"] + 9.0)]),
        Event("far", lambda m, s: abs(s.q[0, 0]), above=0.3, after=["fast"], every=every),
    ]  # fmt: skip
    return Stages([Stage(held, method, 9.0)], events)


def test_events_after_each_other_keep_one_balance():
    found = sx.record((m := chained()).stages[0].system, m, stretched(oscillator()), 0.05 * np.arange(181))
    assert list(found.motion.happened) == ["left", "noted", "fast", "far"]
    assert found.t[-1] == found.motion.happened["far"] < 9.0
    assert found.energies["work_push"][-1] != 0.0
    assert np.ptp(found.energies["balance"]) < 1e-6  # the work of the push within a step of the midpoint rule
    by_others = sx.record((m := chained(every=3)).stages[0].system, m, stretched(oscillator()), 0.05 * np.arange(181))
    for name, t in found.motion.happened.items():
        assert by_others.motion.happened[name] == pytest.approx(t, abs=2e-4)  # shorter steps elsewhere


@pytest.mark.parametrize("every", [pytest.param(1, marks=pytest.mark.slow), 3])
def test_going_on_from_any_time_is_bit_identical(every):
    method, times = chained(every), 0.05 * np.arange(181)
    whole = sx.record(oscillator_of(method), method, stretched(oscillator()), times)
    assert whole.motion.stopped
    for cut in (1, 5, 9, 20, len(whole.t) - 2):
        motion = method.start(oscillator_of(method), stretched(oscillator()))
        for t in times[: cut + 1]:  # steps after an event are fitted to the next of these
            motion.advance(t)
        while not motion.approach(times[cut + 1], 0.0):  # a checkpoint after each look
            motion = method.resume(oscillator_of(method), motion.checkpoint())
        for k in range(cut + 1, len(whole.t)):
            at = motion.advance(times[k])
            assert at.t == whole.t[k]
            np.testing.assert_array_equal(at.q, whole.q[k])
            motion = method.resume(oscillator_of(method), motion.checkpoint())
        assert motion.happened == whole.motion.happened
        assert motion.energies(motion.advance(9.0)) == {n: e[-1] for n, e in whole.energies.items()}


def oscillator_of(method):
    return method.stages[0].system


@pytest.mark.parametrize("then", ["stop", "record"])
def test_what_holds_at_the_start_happens_there(then):
    system = oscillator()
    method = Stages([Stage(system, sx.Newmark(0.01), 1.0)], [Event("now", position, above=0.05, then=then)])
    found = sx.record(system, method, stretched(system), [0.0, 0.5, 1.0])
    assert found.motion.happened == {"now": 0.0}
    assert len(found.t) == (1 if then == "stop" else 3)


@pytest.mark.parametrize("follows", [False, True])
def test_methods_with_their_own_steps_reach_a_time_between_output_times(follows):
    system, method = oscillator(), sx.AdaptiveVariational(1e-3)
    event = Event("below", position, below=0.05, then=[Stage(system, method, 1.0)] if follows else "stop")
    stages = Stages([Stage(system, method, 1.0)], [event])
    found = sx.record(system, stages, stretched(system), np.arange(10) * 0.1)
    assert found.motion.happened["below"] == pytest.approx(np.arccos(0.5) / W, rel=1e-3)
    assert len(found.t) == 10 if follows else found.t[-1] == found.motion.happened["below"]


def test_mistakes():
    system = oscillator()
    stage = Stage(system, sx.Newmark(0.01), 1.0)
    with pytest.raises(InvalidSystem, match="one finite number, either above or below"):
        Event("x", position)
    with pytest.raises(InvalidSystem, match="one finite number, either above or below"):
        Event("x", position, above=0.0, below=1.0)
    with pytest.raises(InvalidSystem, match="two events are called 'x'"):
        Stages([stage], [Event("x", position, above=0.0)] * 2)
    with pytest.raises(InvalidSystem, match="comes after 'y', which must be another of"):
        Stages([stage], [Event("x", position, above=0.0, after=["y"])])
    with pytest.raises(StepFailed, match="the value of the event 'x' is not a number"):
        sx.record(system, Stages([stage], [Event("x", lambda m, s: np.nan, above=0.0)]), stretched(system), [0.0])
    early = Event("x", position, below=0.05, then=[Stage(system, sx.Newmark(0.01), 0.01)])
    with pytest.raises(StepFailed, match="after the end of the last stage that follows it"):
        sx.record(system, Stages([stage], [early]), stretched(system), [0.0, 1.0])
