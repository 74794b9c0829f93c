"""Friction over facets: momenta, power, derivatives, the patch test of sticking, sliding, energy–momentum."""

import math
from functools import partial

import numpy as np
import pytest
from contact.test_friction import check_derivatives
from contact.test_segments import RUBBER, stacked

import symplex as sx
from symplex.contact import Friction, SegmentContact, Surface
from symplex.errors import InvalidSystem

MU = 0.3
KINDS = ["tetra", "hexahedron", "tetra10", "hexahedron20"]


def rough(kind):
    """Return two blocks with rough surfaces in contact, an increment of them and random numbers."""
    mesh, _, surface = stacked(kind, cells=(1, 2), size=0.8)
    random = np.random.default_rng(3)
    contact = SegmentContact(surface, mesh.points, 1e7, between=[("high", "low")])
    q0 = mesh.points + 4e-3 * random.normal(size=mesh.points.shape)
    q0[mesh.nodes_of("high"), 2] -= 0.01
    return contact, q0, q0 + 1e-3 * random.normal(size=q0.shape), random


@pytest.mark.parametrize("kind", KINDS)
def test_forces_keep_both_momenta_never_give_energy_and_vanish_in_rigid_motions(kind):
    contact, q0, q1, random = rough(kind)
    friction = Friction(contact, 0.4, static=0.6, slip_speed=1.0)
    v, middle = random.normal(size=q0.shape), 0.5 * (q0 + q1)
    forces = friction.over(0.0, q0, q1, v)
    size = np.abs(forces).sum()
    assert size > 1e3
    assert np.abs(forces.sum(axis=0)).max() < 1e-14 * size
    assert np.abs(np.cross(middle, forces).sum(axis=0)).max() < 1e-14 * size
    assert np.vdot(forces, v) < -1e-2 * size
    sx.testing.check_load(friction, q0, v)
    np.testing.assert_allclose(friction.over(0.0, q1, q0, v), forces, atol=1e-12 * size)
    rigid = np.add(np.cross([0.3, -0.2, 0.5], middle), [1.0, 2.0, -3.0])
    assert np.abs(friction.over(0.0, q0, q1, rigid)).max() < 1e-13 * size


@pytest.mark.parametrize("kind", ["tetra", "hexahedron20"])
@pytest.mark.parametrize("slip_speed", [0.02, 5.0])
def test_derivatives_are_those_of_the_forces(kind, slip_speed):
    contact, q0, q1, random = rough(kind)
    friction = Friction(contact, 0.4, static=0.7, slip_speed=slip_speed)
    check_derivatives(friction, {"contact": contact}, q0, q1, random, 3e-7)


@pytest.mark.parametrize("kind", [*KINDS, "hexahedron27"])
def test_a_uniform_shear_crosses_an_interface_of_distorted_meshes_to_round_off(kind):
    """Pressed and sheared alike, both blocks have one stress; the slip velocity is that of the law for its shear."""
    mesh, cells, surface = stacked(kind)
    x, k, friction_of = mesh.points, 1e8, 0.5
    contact, solid = SegmentContact(surface, x, k), sx.Solid(x, cells, RUBBER)
    q = x @ np.array([[1.0, 0.0, 0.008], [0.0, 1.0, 0.005], [0.0, 0.0, 0.985]]).T
    on = np.intersect1d(mesh.nodes_of("low"), np.flatnonzero(x[:, 2] == 0.5))
    traction, high = gradient_of(solid, q)[on].sum(axis=0), mesh.nodes_of("high")  # on 1 m²
    pressure, shear = -traction[2], np.array([*traction[:2], 0.0])
    q[high, 2] -= pressure / k
    size, v = np.linalg.norm(shear), np.zeros_like(q)
    v[high] = shear / size * 1e-3 * (1.0 - math.sqrt(1.0 - size / (friction_of * pressure)))
    friction = Friction(contact, friction_of, slip_speed=1e-3)
    left = gradient_of(solid, q) + gradient_of(contact, q) - friction.over(0.0, q, q, v)
    tractions = friction.tractions(q, v)[on]
    np.testing.assert_allclose(tractions, np.broadcast_to(shear, tractions.shape), atol=1e-10 * size)
    inner = (np.abs(x[:, :2] - 0.5) < 0.5 - 1e-9).all(axis=1) & (x[:, 2] == 0.5)
    assert inner.sum() > 4
    assert size > 0.1 * pressure
    assert np.abs(left[inner, :2]).max() < 1e-12 * pressure
    # The normal forces of faces with nine nodes err by the second order of the overlap.
    assert np.abs(left[inner, 2]).max() < (1e-8 if kind == "hexahedron27" else 1e-12) * pressure


def test_tractions_of_bodies_that_touch_the_same_nodes_are_those_of_the_pressure():
    """Two blocks slide side by side on a third one, each with its own friction; nodes below both have means."""
    low = sx.box((1.0, 1.0, 0.5), (2, 2, 1), split="hexahedra")
    one, other = (sx.box((0.45, 0.9, 0.5), (1, 2, 1), split="hexahedra", origin=(x, 0.03, 0.5)) for x in (0.03, 0.51))
    mesh = sx.merge({"low": low, "one": one, "other": other})
    pairs = [("one", "low"), ("other", "low")]
    contact = SegmentContact(Surface.of(mesh, ["low", "one", "other"]), mesh.points, 1e7, between=pairs)
    q, v = mesh.points.copy(), np.zeros_like(mesh.points)
    for name, depth in (("one", 1e-3), ("other", 2e-3)):
        q[mesh.nodes_of(name), 2] -= depth
        v[mesh.nodes_of(name), 0] = 1.0
    tractions = sum(Friction(contact, MU, between=pair).tractions(q, v) for pair in pairs)
    pressures = contact.at(q).pressures()
    assert pressures.max() > 1.5 * pressures[pressures > 0.0].min()
    np.testing.assert_allclose(np.linalg.norm(tractions, axis=1), MU * pressures, rtol=1e-9)
    for refused in (Friction(contact, MU).tractions, partial(Friction(contact, MU), 0.0)):  # they would read beyond it
        with pytest.raises(InvalidSystem, match=r"shape \(4, 3\), expected \(n, 3\) with n at least 42"):
            refused(q, v[:4])


def gradient_of(energy, q):
    gradient = np.zeros_like(q)
    energy.add_gradient(q, gradient)
    return gradient


def sliding(kind, v, fixed, g):
    """Return a block that moves on another one, its system and its motion."""
    mesh, cells, surface = stacked(kind, size=0.7, distort=0.2)
    x, high = mesh.points, mesh.nodes_of("high")
    contact = SegmentContact(surface, x, 3e7, between=[("high", "low")], integrated="first")
    mass = (sx.lumped_mass if kind == "hexahedron" else sx.consistent_mass)(x, cells, RUBBER.density, len(x))
    held = np.zeros(x.shape, bool)
    held[mesh.nodes_of("low")] = fixed
    parts = {"solid": sx.Solid(x, cells, RUBBER), "contact": contact, "weight": sx.actions.Gravity(mass, (0, 0, -g))}
    system = sx.System(mass, parts, fixed=held, loads={"friction": Friction(contact, MU)})
    q, velocity = x.copy(), np.zeros_like(x)
    q[high, 2] -= 1e-4
    velocity[high] = v
    rest = sx.equilibria.static_equilibrium(system, q).state.q if fixed else q
    return system, sx.EnergyMomentum(1e-3).start(system, system.state(rest, velocity))


@pytest.mark.parametrize("kind", ["hexahedron", "tetra10"])
def test_a_sliding_block_is_braked_by_the_normal_force_and_the_balance_holds(kind):
    """While all of it slips, Δp_x = −μ ∫ N dt, with ∫ N dt = m g t + Δp_z: it slows down by μ g."""
    g, T, weight = 10.0, 0.02, 1000.0 * 0.7 * 0.7 * 0.5
    system, motion = sliding(kind, (0.5, 0.0, 0.0), True, g)
    start = motion.advance(0.0)
    before, end = motion.energies(start), motion.advance(T)
    after, gained = motion.energies(end), system.momentum(end) - system.momentum(start)
    assert abs(after["balance"] - before["balance"]) < 1e-11 * before["kinetic"]
    assert gained[0] == pytest.approx(-MU * (weight * g * T + gained[2]), rel=1e-3)  # but for tilted facets
    assert gained[0] == pytest.approx(-MU * weight * g * T, rel=0.05)
    assert after["work_friction"] == pytest.approx(-MU * weight * g * (0.5 * T - 0.5 * MU * g * T * T), rel=0.15)


def test_a_block_thrown_onto_another_one_keeps_both_momenta_and_the_balance():
    system, motion = sliding("hexahedron", (0.5, 0.1, -0.5), False, 0.0)
    start = motion.advance(0.0)
    before, end = motion.energies(start), motion.advance(0.02)
    after, size = motion.energies(end), np.linalg.norm(system.momentum(start))
    assert after["work_friction"] < -0.1 * before["kinetic"] * MU
    assert abs(after["balance"] - before["balance"]) < 1e-11 * before["kinetic"]
    np.testing.assert_allclose(system.momentum(end), system.momentum(start), atol=1e-12 * size)
    np.testing.assert_allclose(system.angular_momentum(end), system.angular_momentum(start), atol=1e-11 * size)


@pytest.mark.slow
@pytest.mark.parametrize(
    "method", [sx.EnergyMomentum(1e-3), sx.Newmark(2e-4), sx.GeneralizedAlpha(1e-3, 0.8)], ids=repr
)
def test_derivatives_of_runs_are_those_of_differences(method):
    """By Young's modulus, the stiffness of contact and the coefficient of friction."""
    low = sx.box((1.0, 1.0, 0.5), (1, 1, 1), split="hexahedra")
    high = sx.box((0.8, 0.8, 0.5), (2, 1, 1), split="hexahedra", origin=(0.05, 0.07, 0.4995))
    mesh = sx.merge({"low": low, "high": high})
    x, cells, surface = mesh.points, mesh.cells["hexahedron"], Surface.of(mesh, ["low", "high"])
    mass = sx.lumped_mass(x, cells, 1000.0, len(x))
    held, v = x[:, 2:] < 1e-9, np.zeros_like(x)
    v[mesh.nodes_of("high")] = 0.5, 0.1, -0.2
    weights, times = np.random.default_rng(0).standard_normal(x.shape), [0.005, 0.01]

    def build(p):
        contact = SegmentContact(surface, x, p[1], between=[("high", "low")])
        solid = sx.Solid(x, cells, sx.NeoHookean.from_young(p[0], 0.3, 1000.0))
        parts = {"solid": solid, "contact": contact, "weight": sx.Gravity(mass, (0, 0, -10.0))}
        rub = Friction(contact, p[2], slip_speed=0.05)
        system = sx.System(mass, parts, fixed=np.repeat(held, 3, axis=1), loads={"rub": rub})
        return system, system.state(x, v)

    def cost(state):
        return float(np.sum(weights * state.q)), weights, np.zeros_like(weights)

    p = np.array([1e6, 1e8, 0.3])
    found = sx.tangent(build, p, method, times)
    for j, e in enumerate(np.diag(1e-5 * p)):
        runs = [sx.record(build(end)[0], method, build(end)[1], times).q.reshape(2, -1) for end in (p + e, p - e)]
        slope = (runs[0] - runs[1]) / (2.0 * e[j])
        assert np.abs(slope - found.jacobian[..., j]).max() < 1e-6 * np.abs(slope).max()
    back = sx.gradient(build, p, method, times, cost)
    assert np.allclose(back.parameters, np.einsum("i,tik->k", weights.ravel(), found.jacobian), rtol=1e-8, atol=0.0)
