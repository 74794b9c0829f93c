"""Viscoelastic beams and shells: vibrations that decay as in linear viscoelasticity, relaxation, the balance."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import expm

import symplex as sx
from reference.lines import straight
from symplex.errors import InvalidSystem
from symplex.fem.structures import Section, ShellProperties, ViscoelasticSections, beams, shells
from symplex.meshes.mesh import Mesh
from symplex.testing import check_inelastic

STEEL = sx.NeoHookean.from_young(2.1e11, 0.3, 7850.0)
RATIOS, TIMES = [0.2, 0.1], [2e-3, 3e-2]
EPS = np.finfo(float).eps


def cantilever(n):
    built = beams(straight(n, 1.0), Section.rectangle(0.05, 0.04).of(STEEL), (0.0, 0.0, 1.0))
    part = ViscoelasticSections.prony(built.strains, RATIOS, TIMES)
    return built, sx.System(
        built.mass, {"beam": built.energy}, inelastic={"visco": part}, frames=built.frames, fixed=built.fixed([0])
    )


def plate():
    x, y = (grid.ravel() for grid in np.meshgrid(np.linspace(0, 1, 4), np.linspace(0, 0.6, 3), indexing="ij"))
    node = np.arange(12, dtype=np.int32).reshape(4, 3)
    quads = np.stack([node[:-1, :-1], node[1:, :-1], node[1:, 1:], node[:-1, 1:]], axis=-1).reshape(-1, 4)
    built = shells(Mesh(np.column_stack([x, y, 0.1 * x * y]), {"quad": quads}), ShellProperties.uniform(0.02, STEEL))
    part = ViscoelasticSections.prony(built.strains["quad"], RATIOS, TIMES)
    return built, sx.System(built.mass, dict(built.energies), inelastic={"visco": part}, frames=built.frames)


@pytest.mark.slow
def test_a_mode_decays_as_in_linear_viscoelasticity():
    """All stiffnesses relax alike, so that the mode stays: q'' = −ω² (q + Σ f_i (q − a_i)), a_i' = (q − a_i)/τ_i."""
    built, system = cantilever(4)
    elastic = system.with_parts(dict(system.energies), inelastic={})
    mode = sx.modes.natural_modes(elastic, system.state(built.points), 1)
    omega, shape = 2.0 * np.pi * mode.frequencies[0], mode.shapes[0]
    size = 1e-6 / np.abs(shape).max()
    v = size * omega * shape
    start = system.state(built.points, v)
    factors = np.array(RATIOS) / (1.0 - sum(RATIOS))
    n = len(factors)
    A = np.zeros((2 + n, 2 + n))
    A[0, 1], A[1, 0], A[1, 2:] = 1.0, -(omega**2) * (1.0 + factors.sum()), omega**2 * factors
    A[2:, 0], A[2:, 2:] = 1.0 / np.array(TIMES), -np.diag(1.0 / np.array(TIMES))
    period, mass = 2.0 * np.pi / omega, np.asarray(built.mass)[:, None]
    exact = (expm(3.3 * period * A) @ np.array([0.0, size * omega, *np.zeros(n)]))[0]
    errors = []
    for steps in (40, 80):
        end = sx.EnergyMomentum(period / steps).start(system, start).advance(3.3 * period)
        found = float((shape * mass * (end.q - built.points)).sum() / (shape * mass * shape).sum())
        errors.append(abs(found - exact) / size)
    assert 0.05 < abs(exact) / size < 0.9  # it has decayed, and is not near zero
    assert errors[1] < 5e-3
    assert 3.6 < errors[0] / errors[1] < 4.4


@pytest.mark.parametrize("name", ["beam", pytest.param("plate", marks=pytest.mark.slow)])
def test_work_stored_energy_and_dissipation_balance_and_momenta_stay(name):
    built, system = cantilever(4) if name == "beam" else plate()
    system = sx.System(built.mass, dict(system.energies), inelastic=dict(system.inelastic), frames=built.frames)
    c = built.frames.centers(built.points)
    c = c - c.mean(axis=0)
    omega = np.array([20.0, 30.0, 50.0])
    bent = np.column_stack([0.0 * c[:, 0], 0.0 * c[:, 0], 200.0 * c[:, 0] ** 2])
    turning = omega + np.column_stack([0.0 * c[:, 0], -400.0 * c[:, 0], 0.0 * c[:, 0]])
    start = system.state(built.points, built.frames.velocities(built.points, np.cross(omega, c) + bent, turning))
    dt, steps = 2e-4, 100
    method = sx.EnergyMomentum(dt)
    motion = method.start(system, start)
    before = motion.energies(start)["total"]
    motion.advance(dt * steps / 2)
    resumed = method.resume(system, motion.checkpoint())
    end = motion.advance(dt * steps)
    found = motion.energies(end)
    assert found["work_visco"] < -0.02 * before
    assert abs(found["balance"] - before) <= 100 * EPS * steps * before
    for of in (system.momentum, system.angular_momentum):
        scale = np.abs(built.mass[:, None] * start.v).sum()
        assert np.abs(of(end) - of(start)).max() <= 100 * EPS * steps * scale
    other = resumed.advance(dt * steps)
    assert np.array_equal(other.q, end.q)
    assert np.array_equal(other.internal["visco"], end.internal["visco"])


@pytest.mark.parametrize("make", [lambda: cantilever(2), plate], ids=["beam", "shell"])
def test_the_part_keeps_what_inelastic_parts_promise(make):
    built, system = make()
    rng = np.random.default_rng(0)
    check_inelastic(
        system.inelastic["visco"],
        built.points,
        built.points + 1e-3 * rng.normal(size=built.points.shape),
        duration=5e-3,
    )


def test_held_strains_relax_as_exp_of_time_however_long_the_increments():
    built, system = cantilever(1)
    part = system.inelastic["visco"]
    q = built.points.copy()
    q[4:, 0] += 1e-3
    z, stresses = part.unstrained(), []
    for h in (0.0, 1e-3, 1.9e-2):
        z = part.after(q, z, q, h)[0]
        stresses.append(part.stresses(q, z)[0, 0])
    e = part.strains.strains(q[part.nodes])[0, 0] * part.strains.stiffness[0, 0, 0]
    for t, stress in zip((0.0, 1e-3, 2e-2), stresses, strict=True):
        assert stress == pytest.approx(e * (part.factors * np.exp(-t / part.times)).sum(), rel=1e-12)


def test_what_is_impossible_is_refused():
    built, _ = cantilever(1)
    for ratios, times, message in (
        ([0.5, 0.5], [1.0, 2.0], "sum below 1"),
        ([0.5], [1.0, 2.0], "1 moduli and 2 times"),
        ([0.5], [-1.0], "times must be positive"),
    ):
        with pytest.raises(InvalidSystem, match=message):
            ViscoelasticSections.prony(built.strains, ratios, times)
    assert_allclose(ViscoelasticSections.prony(built.strains, [0.25], [1.0]).factors, [1.0 / 3.0])
