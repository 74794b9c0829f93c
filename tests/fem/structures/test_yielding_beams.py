"""Beams that yield by their sections: closed forms, limit loads, cycles, the balance of free beams, what is refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import symplex as sx
from reference.lines import line, straight
from symplex.errors import InvalidSystem, MaterialError
from symplex.fem.solids.hardening import Hardening
from symplex.fem.structures import Moment, Section, YieldingBeams, beams
from symplex.testing import check_inelastic

E, SIGMA = 2.1e11, 2.4e8
STEEL = sx.NeoHookean.from_young(E, 0.3, 7850.0)
SECTION = Section.rectangle(0.1, 0.06)
LIMITS = SECTION.limits(SIGMA)
N_P, _, M_P, T_P = LIMITS
EI = E * SECTION.I2
EPS = np.finfo(float).eps
LAWS = {
    "perfect": Hardening(SIGMA),
    "linear": Hardening(SIGMA, 2e9),
    "kinematic": Hardening(SIGMA, 1e9).with_back_stress(5e9),
    "table": Hardening.table([0.0, 1e-3, 1e-2], [SIGMA, 1.2 * SIGMA, 1.5 * SIGMA]),
    "power": Hardening(SIGMA, power_modulus=4e8, power=0.4),
}


def one(law, length=0.5):
    built = beams(straight(1, length), SECTION.of(STEEL), (0.0, 0.0, 1.0))
    return built, YieldingBeams(built, LIMITS, law)


def strained(part, e, z):
    """Internal variables and stresses after increments to strains [6]."""
    z = part._returned(np.array([e], float), z)[0]
    return z, part._stresses(np.array([e], float), z)[0]


@pytest.mark.parametrize(("at", "limit"), [(0, N_P * 0.5), (3, LIMITS[1]), (4, M_P), (5, T_P)])
@pytest.mark.parametrize("name", LAWS)
def test_one_strain_alone_follows_the_hardening(name, at, limit):
    """Of tension, bending and torsion the reduced force is that of a bar with the same hardening, there and back."""
    _, part = one(LAWS[name])
    law, stiffness = LAWS[name], part.strains.stiffness[0, at, at]
    ratio, back = limit / stiffness, law.constants[9] / E if name == "kinematic" else 0.0
    z, p, alpha = part.initial(), 0.0, 0.0
    for strain in np.array([0.9, 1.5, 4.0, 2.5, -1.0, -3.0, 6.0]) * ratio:
        e = np.zeros(6)
        e[at] = strain
        z, stress = strained(part, e, z)
        # |S − X| = Ŝ σy(α)/σ0 by bisection, with α growing by Ŝ |Δp|/(σ0 V)
        sign = np.sign(stiffness * (strain - (1.0 + back) * p))
        low, high = 0.0, abs(strain - p)
        per = limit / (SIGMA * part._volume[0])
        for _ in range(200):
            x = 0.5 * (low + high)
            over = sign * stiffness * (strain - (1.0 + back) * (p + sign * x))
            over -= limit * float(law.yield_stress(alpha + per * x)) / SIGMA
            low, high = (x, high) if over > 0.0 else (low, x)
        p, alpha = p + sign * low, alpha + per * low
        assert stress[at] == pytest.approx(stiffness * (strain - p), rel=1e-10, abs=1e-9 * limit)
        assert z[0, 4] == pytest.approx(alpha, rel=1e-9, abs=1e-15)
    assert alpha > 1e-3
    others = np.delete(stress, at)
    assert_allclose(others, 0.0, atol=1e-12 * limit)


def test_forces_together_stay_on_the_ellipsoid():
    _, part = one(LAWS["perfect"])
    rng, z = np.random.default_rng(0), part.initial()
    for _ in range(20):
        e = rng.normal(size=6) * np.array([1.0, 0.0, 0.0, 1.0, 1.0, 1.0]) * 0.02
        z, stress = strained(part, e, z)
        size = np.linalg.norm(stress[[0, 3, 4, 5]] / (np.array(LIMITS) * [0.5, 1.0, 1.0, 1.0]))
        assert size <= 1.0 + 1e-12
    assert size > 0.99
    assert_allclose(stress[[1, 2]], 0.0)


@pytest.mark.parametrize("name", LAWS)
def test_the_part_keeps_what_inelastic_parts_promise(name):
    built = beams(straight(3, 1.5), SECTION.of(STEEL), (0.0, 0.0, 1.0))
    rng = np.random.default_rng(0)
    end = built.points + 3e-3 * rng.normal(size=built.points.shape)
    check_inelastic(YieldingBeams(built, LIMITS, LAWS[name]), built.points, end)


def test_tangents_are_those_of_stresses_and_symmetric():
    rng = np.random.default_rng(1)
    built = beams(straight(8, 2.0), SECTION.of(STEEL), (0.0, 0.0, 1.0))
    for law in LAWS.values():
        part = YieldingBeams(built, LIMITS, law)
        size = np.array([4e-3, 0.0, 0.0, 0.04, 0.04, 0.04])
        z = part._returned(rng.normal(size=(8, 6)) * size, part.initial())[0]
        e = rng.normal(size=(8, 6)) * size
        found = part._returned(e, z)[1]
        for column, at in enumerate((0, 3, 4, 5)):
            d = np.zeros(6)
            d[at] = 1e-7 * size[at]
            ends = [part._stresses(e + s * d, part._returned(e + s * d, z)[0])[:, [0, 3, 4, 5]] for s in (1, -1)]
            slope = (ends[0] - ends[1]) / (2.0 * d[at])
            assert_allclose(found[:, :, column], slope, atol=1e-7 * np.abs(found).max())
        assert_allclose(found, found.swapaxes(1, 2), atol=1e-14 * np.abs(found).max())


# -- limit loads ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [4, pytest.param(16, marks=pytest.mark.slow)])
def test_a_cantilever_collapses_at_its_limit_load(n):
    """The moment in the middle of the first element is that of its hinge: P (L − L/2n) = M_p."""
    built = beams(straight(n, 1.0), SECTION.of(STEEL), (0.0, 0.0, 1.0))
    limit = 1.0 / (1.0 - 0.5 / n)
    history = [0.0, 1.0, 2.0], [0.0, 0.995 * limit, 1.01 * limit]
    push = sx.actions.NodalLoad(built.particles([n]).ravel(), [0.0, 0.0, 0.25 * M_P], history)
    part = YieldingBeams(built, LIMITS, Hardening(SIGMA, 1e7))
    system = sx.System(
        built.mass, {}, inelastic={"beam": part}, frames=built.frames, fixed=built.fixed([0]), loads={"push": push}
    )
    motion = sx.equilibria.Static(0.5).start(system, system.state(built.points))
    states = [motion.advance(t) for t in (1.0, 2.0)]
    below, above = (built.frames.centers(state.q)[-1, 2] for state in states)
    elastic = M_P / (3.0 * EI)
    assert below == pytest.approx(0.995 * limit * elastic, rel=0.01)
    assert above > 10.0 * elastic
    fields = part.fields(states[1].q, states[1].internal["beam"])
    assert fields["utilization"][0] == pytest.approx(1.0, abs=1e-9)
    assert fields["utilization"][1:].max() < 1.0 - 0.5 / n
    assert_allclose(fields["plastic_rotation"][1:], 0.0)
    # the tip moves by the rotation of the hinge besides
    hinge = float(fields["plastic_rotation"][0])
    assert above == pytest.approx(np.sin(hinge) * (1.0 - 0.5 / n) + 1.01 * limit * elastic, rel=0.05)
    # forces of the load less what is stored is what the hinge has dissipated
    energies = motion.energies(states[1])
    assert energies["work_beam"] == pytest.approx(-fields["plastic_work"].sum(), rel=1e-9)
    assert fields["plastic_work"][0] == pytest.approx(M_P * hinge, rel=0.02)


@pytest.mark.slow
def test_a_portal_frame_collapses_by_sway():
    """Fixed feet, columns of 3 m, a beam of 6 m, P along it at a corner: with hinges at the ends of columns 4 M_p/H.

    In elements of the length h hinges are half of one inside: the moment at a corner is M_p/(1 − h/6 m), as the beam
    yields first, and P H = 2 (M_foot + M_corner) with that at h/2 above a foot M_p.
    """
    height, n = 3.0, 15
    h = height / n
    rise = np.linspace(0.0, height, n + 1)[:, None] * [0.0, 0.0, 1.0]
    along = np.linspace(0.0, 2.0 * height, 2 * n + 1)[1:, None] * [1.0, 0.0, 0.0]
    corner_at, foot_at = np.array([0.0, 0.0, height]), np.array([2.0 * height, 0.0, 0.0])
    points = np.vstack([rise, corner_at + along, foot_at + rise[-2::-1]])
    limits = np.array(LIMITS)[[0, 2, 1, 3]]  # bending in the plane is about axis 1, which is across it
    section = Section(SECTION.area, SECTION.I2, SECTION.I1, SECTION.J)
    built = beams(line(points), section.of(STEEL), (0.0, 1.0, 0.0))
    corner = M_P / (1.0 - h / (2.0 * height))
    foot = (M_P + corner * 0.5 * h / height) / (1.0 - 0.5 * h / height)
    limit = 2.0 * (foot + corner) / height
    assert limit == pytest.approx(4.0 * M_P / height, rel=0.07)
    history = [0.0, 1.0, 2.0, 3.0], [0.0, 0.5, 0.97, 1.02]
    push = sx.actions.NodalLoad(built.particles([n]).ravel(), [0.25 * limit, 0.0, 0.0], history)
    part = YieldingBeams(built, limits, Hardening(SIGMA, 1e7))
    system = sx.System(
        built.mass, {}, inelastic={"frame": part}, frames=built.frames, fixed=built.fixed([0, 4 * n]), loads={"P": push}
    )
    motion = sx.equilibria.Static(0.5).start(system, system.state(built.points))
    first, below, above = (motion.advance(t) for t in (1.0, 2.0, 3.0))
    sways = [built.frames.centers(state.q)[n, 0] for state in (first, below, above)]
    assert sways[1] < 3.5 * sways[0]
    assert sways[2] > 10.0 * sways[0]
    flowing = part.fields(above.q, above.internal["frame"])["plastic_rotation"] > 1e-3
    assert np.flatnonzero(flowing).tolist() == [0, n, 3 * n - 1, 4 * n - 1]


def test_cycles_of_bending_dissipate_what_the_hardening_says():
    """A moment at the tip is that of all elements. Each peak is above the last one: α = (M/M_p − 1) σ0/H at the end."""
    built = beams(straight(2, 1.0), SECTION.of(STEEL), (0.0, 0.0, 1.0))
    modulus, levels = 2e10, np.array([0.0, 1.02, 0.0, -1.04, 0.0, 1.06, 0.0, -1.08, 0.0])
    part = YieldingBeams(built, LIMITS, Hardening(SIGMA, modulus))
    moment = Moment(built.particles([2]), built.mass, [0.0, M_P, 0.0], (np.arange(9.0), levels))
    system = sx.System(
        built.mass, {}, inelastic={"beam": part}, frames=built.frames, fixed=built.fixed([0]), loads={"M": moment}
    )
    motion = sx.equilibria.Static(0.5).start(system, system.state(built.points))
    state = motion.advance(8.0)
    alpha = 0.08 * SIGMA / modulus
    assert_allclose(state.internal["beam"][:, 4], alpha, rtol=1e-6)
    expected = SECTION.area * 1.0 * (SIGMA * alpha + 0.5 * modulus * alpha**2)
    assert motion.energies(state)["work_beam"] == pytest.approx(-expected, rel=1e-6)


# -- motions ----------------------------------------------------------------------------------------------------------


def flying(law, n=6):
    built = beams(straight(n, 2.0), SECTION.of(STEEL), (0.0, 0.0, 1.0))
    part = YieldingBeams(built, LIMITS, law)
    system = sx.System(built.mass, {}, inelastic={"beam": part}, frames=built.frames)
    c, omega = built.frames.centers(built.points) - [1.0, 0.0, 0.0], np.array([3.0, 20.0, 5.0])
    x = c[:, 0]
    bent = np.column_stack([0.0 * x, 30.0 * x**2, 40.0 * x**2])
    turning = omega + np.column_stack([0.0 * x, -80.0 * x, 60.0 * x])
    return (
        built,
        system,
        system.state(built.points, built.frames.velocities(built.points, np.cross(omega, c) + bent, turning)),
    )


@pytest.mark.parametrize("name", [pytest.param("perfect", marks=pytest.mark.slow), "kinematic"])
def test_a_free_beam_that_yields_balances_and_keeps_its_momenta(name):
    built, system, start = flying(LAWS[name])
    dt, steps = 2e-4, 100
    method = sx.EnergyMomentum(dt)
    motion = method.start(system, start)
    before = motion.energies(start)["total"]
    middle = motion.advance(0.5 * dt * steps)
    resumed = method.resume(system, motion.checkpoint())
    end = motion.advance(dt * steps)
    found = motion.energies(end)
    assert found["work_beam"] < -0.2 * before
    assert middle.internal["beam"][:, 4].max() > 1e-3
    assert abs(found["balance"] - before) <= 100 * EPS * steps * before
    scale = np.abs(built.mass[:, None] * start.v).sum()
    for of in (system.momentum, system.angular_momentum):
        assert np.abs(of(end) - of(start)).max() <= 100 * EPS * steps * scale
    other = resumed.advance(dt * steps)
    assert np.array_equal(other.q, end.q)
    assert np.array_equal(other.internal["beam"], end.internal["beam"])


@pytest.mark.slow
def test_methods_agree():
    works = []
    for make, dt in ((sx.EnergyMomentum, 5e-5), (sx.Midpoint, 5e-5), (sx.GeneralizedAlpha, 5e-5)):
        _, system, start = flying(LAWS["linear"], 4)
        motion = make(dt).start(system, start)
        works.append(motion.energies(motion.advance(5e-3))["work_beam"])
    assert works == pytest.approx([works[0]] * 3, rel=0.02)
    assert works[0] < -100.0


def test_methods_without_history_refuse():
    _, system, start = flying(LAWS["linear"], 2)
    with pytest.raises(InvalidSystem, match="cannot follow the plastic flow"):
        sx.Rattle(1e-5, {}).start(system, start)
    with pytest.raises(InvalidSystem, match="has no history"):
        sx.modes.natural_modes(system, start, 1)


def test_what_is_impossible_is_refused():
    built, _ = one(LAWS["perfect"])
    for limits, law, error, message in (
        ([1.0, 1.0, 1.0], Hardening(1.0), InvalidSystem, "shape"),
        ([1.0, -1.0, 1.0, 1.0], Hardening(1.0), InvalidSystem, "positive"),
        ([np.inf, 1.0, 1.0, 1.0], Hardening(1.0), InvalidSystem, "axial limit of element 0"),
        ([1.0, 1.0, 1.0, 1.0], [Hardening(1.0)] * 2, InvalidSystem, "or 1 of them, got 2"),
        ([1.0, 1.0, 1.0, 1.0], Hardening(1.0).with_rate(1.0, exponent=0.5), MaterialError, "no rate"),
    ):
        with pytest.raises(error, match=message):
            YieldingBeams(built, limits, law)
    with pytest.raises(InvalidSystem, match="plastic moduli"):
        Section(1.0, 1.0, 1.0, 1.0).limits(1.0)


def test_elements_without_limits_are_elastic():
    built = beams(straight(2, 1.0), SECTION.of(STEEL), (0.0, 0.0, 1.0))
    part = YieldingBeams(built, [LIMITS, [np.inf] * 4], Hardening(SIGMA))
    e = np.tile([0.01, 0.0, 0.0, 0.0, 0.1, 0.0], (2, 1))
    z = part._returned(e, part.initial())[0]
    assert z[0, 4] > 0.0
    assert not z[1].any()
    assert_allclose(part._stresses(e, z)[1], part.strains.stiffness[1] @ e[1])
