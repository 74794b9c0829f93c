"""Motions in stages: one time axis, one balance, and going on from any of them."""

import numpy as np
import pytest

import symplex as sx
from symplex.errors import InvalidArgument, InvalidSystem, StepFailed
from symplex.time.stages import Stage, Stages

N = 5
POINTS = np.column_stack([np.arange(N), np.zeros(N)]).astype(float)
MASS = np.ones(N)
CHAIN = sx.Bars([[i, i + 1] for i in range(N - 1)], sx.measures.EngineeringStrain(50.0, 1.0), dim=2)
WEIGHT = sx.Gravity(MASS, [0.0, -1.0])


def chain(*, hold=(0,), weight=True, moving=None, loads=None, energies=None):
    fixed = np.zeros((N, 2), bool)
    fixed[list(hold)] = True
    parts = {"chain": CHAIN} | ({"weight": WEIGHT} if weight else {}) | (energies or {})
    return sx.System(MASS, parts, dim=2, fixed=fixed, moving=moving, loads=loads)


def pulled():
    """Return a chain whose end is pulled aside in 1 s."""
    course = sx.actions.TimeFunction.steady(1.0)
    return chain(moving={"pull": sx.actions.SupportTranslation([N - 1], [-0.5, 0.3], course)})


def stages():
    """Return a pull without inertia, a swing of what is let go, and free flight by an explicit method."""
    push = sx.actions.NodalLoad([2], [1.0, 0.0], lambda t: np.sin(t))
    return Stages(
        [
            Stage(pulled(), sx.equilibria.Static(0.25), 1.0, "pull"),
            Stage(chain(loads={"push": push}), sx.EnergyMomentum(0.05), 3.0, "swing"),
            Stage(chain(hold=(), weight=False), sx.EnergyMomentum(0.025), 4.0, "flight"),
        ]
    )


def run(method, times, state=None):
    system = method.stages[0].system
    motion = method.start(system, state or system.state(POINTS))
    rows = []
    for t in times:
        at = motion.advance(t)
        rows.append((at, motion.energies(at)))
    return motion, rows


def test_one_balance_over_all_stages():
    times = np.arange(0.0, 4.01, 0.25)
    motion, rows = run(stages(), times)
    balance = np.array([energies["balance"] for _, energies in rows])
    np.testing.assert_allclose(balance, balance[0], atol=1e-11)
    for _, energies in rows:
        works = sum(value for name, value in energies.items() if name.startswith("work_"))
        assert energies["total"] - works == pytest.approx(energies["balance"], abs=1e-12)
    names = {frozenset(energies) for _, energies in rows}
    assert len(names) == 1  # the same columns throughout
    assert {"work_pull", "work_push", "work_rest", "work_switches", "weight"} < set(rows[0][1])
    declared = {column.name for column in motion.columns}
    assert names.pop() <= declared
    assert motion.statistics()["steps"] == 4 + 40 + 40


def test_what_is_taken_away_takes_its_potential_along():
    """Gravity that ends: the total falls by its potential, which is the work of the switch."""
    method = Stages(
        [
            Stage(chain(), sx.EnergyMomentum(0.05), 1.0),
            Stage(chain(weight=False), sx.EnergyMomentum(0.05), 2.0),
        ]
    )
    _, rows = run(method, [1.0, 1.05, 2.0])
    (end, before), (_, after), _ = rows
    assert before["work_switches"] == 0.0
    assert after["work_switches"] == pytest.approx(-WEIGHT.total(end.q), rel=1e-12)
    assert after["weight"] == 0.0
    assert after["total"] == pytest.approx(before["total"] - WEIGHT.total(end.q), rel=1e-12)


def test_a_support_that_takes_over_stops_what_it_holds():
    """The kinetic energy that is lost is the work of the switch; one that ends does no work."""
    free, held = chain(weight=False), chain(hold=(0, 4), weight=False)
    ends = [(free, 1.0), (held, 2.0), (free, 3.0)]
    method = Stages([Stage(system, sx.EnergyMomentum(0.05), end) for system, end in ends])
    v = np.zeros((N, 2))
    v[:, 1] = np.arange(N) * 0.2
    _, rows = run(method, [1.0, 1.05, 2.0, 2.05, 3.0], free.state(POINTS, v))
    lost = 0.5 * np.sum(rows[0][0].v[4] ** 2)
    assert rows[1][1]["work_switches"] == pytest.approx(-lost, rel=1e-12)
    assert rows[3][1]["work_switches"] == rows[1][1]["work_switches"]
    np.testing.assert_array_equal(rows[2][0].q[4], rows[0][0].q[4])
    assert not np.array_equal(rows[4][0].q[4], rows[0][0].q[4])


def test_a_stage_that_changes_nothing_is_none():
    """Cut in two, a motion is the same but for rounding."""
    system = chain()
    whole = sx.EnergyMomentum(0.05).start(system, system.state(POINTS)).advance(2.0)
    cut = Stages([Stage(system, sx.EnergyMomentum(0.05), 1.0), Stage(system, sx.EnergyMomentum(0.05), 2.0)])
    _, rows = run(cut, [2.0])
    np.testing.assert_allclose(rows[0][0].q, whole.q, atol=1e-11)
    assert rows[0][1]["work_switches"] == 0.0


@pytest.mark.parametrize("until", [0.5, 1.0, 1.5, 3.0, 3.5])
def test_going_on_from_any_stage_is_bit_identical(until):
    method = stages()
    motion, _ = run(method, [until])
    kept = motion.checkpoint()
    (end, expected), other = (motion.advance(4.0), None), method.resume(method.stages[0].system, kept)
    found = other.advance(4.0)
    np.testing.assert_array_equal(found.q, end.q)
    np.testing.assert_array_equal(found.v, end.v)
    assert other.energies(found) == motion.energies(end)
    assert other.statistics() == motion.statistics()
    assert expected is None


def test_it_is_the_same_however_often_it_is_looked_at():
    method = stages()
    motion, _ = run(method, [])
    while not motion.approach(4.0, 0.0):
        motion.checkpoint()
    _, rows = run(method, [4.0])
    np.testing.assert_array_equal(motion.advance(4.0).q, rows[0][0].q)


def test_what_is_no_motion_in_stages_is_refused():
    system = chain()
    stage = Stage(system, sx.EnergyMomentum(0.05), 1.0, "one")
    with pytest.raises(InvalidSystem, match="expected one Stage at least"):
        Stages([])
    with pytest.raises(InvalidSystem, match="ends at 1 s, but the one before it at 1 s"):
        Stages([stage, stage])
    other = sx.System(np.ones(2), {"pair": sx.Bars([[0, 1]], sx.measures.EngineeringStrain(1.0, 1.0), dim=2)}, dim=2)
    with pytest.raises(InvalidSystem, match="the same nodes"):
        Stages([stage, Stage(other, sx.EnergyMomentum(0.05), 2.0)])
    method = Stages([stage])
    with pytest.raises(InvalidArgument, match="system of the first stage"):
        method.start(other, other.state(np.eye(2)))
    motion = method.start(system, system.state(POINTS))
    with pytest.raises(StepFailed, match="after the end of the last stage, 1 s"):
        motion.advance(1.5)
    with pytest.raises(StepFailed, match=r"stage 'one': .* not an integer"):
        motion.advance(0.501)
    with pytest.raises(InvalidSystem, match="does not belong"):
        method.resume(system, {})
