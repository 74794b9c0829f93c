"""SHAKE and RATTLE: order, what they keep, multipliers, and what they refuse."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import symplex as sx
from reference.small_systems import one_by_one
from symplex.errors import InfeasibleStart, InvalidSystem, RedundantConstraints, StepFailed, UnstableStep
from symplex.testing import round_off
from symplex.time.constraints import multiplier_loops as loops, multipliers as assembled
from symplex.time.constraints.multipliers import Multipliers

METHODS = (sx.constraints.Shake, sx.Rattle)


@dataclass(frozen=True)
class Setup:
    """A system with constraints and a feasible start."""

    system: sx.System
    constraints: dict
    start: sx.State


def linkage() -> Setup:
    """Three rods in space and two springs across, free: it spins, drifts and folds."""
    q = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.2], [0.1, 1.2, 0.7]])
    mass = np.array([1.0, 2.0, 1.5, 0.5])
    springs = sx.Bars([[0, 2], [1, 3]], sx.measures.EngineeringStrain([3.0, 5.0], 1.0))
    system = sx.System(mass, {"springs": springs})
    constraints = {
        "rods": sx.measures.RigidBars.between(q, [[0, 1], [1, 2]]),
        "rod": sx.measures.RigidBars.between(q, [[3, 2]]),
    }
    v = np.array([[0.3, 0.1, 0.5], [0.2, -0.4, 0.1], [0.0, 0.3, -0.5], [0.6, 0.1, 0.2]])
    return Setup(system, constraints, sx.constraints.project(system, constraints, system.state(q, v)))


def double_pendulum(load=None) -> Setup:
    """Two rods of 1 and 0.8 m in a plane, hung from a node that is fixed; node 0 is the support."""
    q = pendulum_positions(np.array([1.0, -0.4]))
    mass = np.array([1.0, 1.0, 0.6])
    fixed = np.zeros((3, 2), bool)
    fixed[0] = True
    loads = {} if load is None else {"load": load}
    system = sx.System(mass, {"weight": sx.Gravity(mass, (0.0, -2.0))}, dim=2, fixed=fixed, loads=loads)
    return Setup(system, {"rods": sx.measures.RigidBars([[0, 1], [1, 2]], [1.0, 0.8])}, system.state(q))


def pendulum_positions(angles):
    first = np.array([np.sin(angles[0]), -np.cos(angles[0])])
    return np.array([[0.0, 0.0], first, first + 0.8 * np.array([np.sin(angles[1]), -np.cos(angles[1])])])


def exact(setup: Setup, t: float):
    """Positions, velocities and multipliers from the accelerations that keep the constraints, integrated tightly."""
    system, shape = setup.system, setup.start.q.shape
    weights = np.where(system.fixed, 0.0, 1.0 / np.asarray(system.mass)[:, None]).ravel()

    def multipliers(t, q, v):
        rows, bends = [], []
        for constraint in setup.constraints.values():
            x = q[constraint.nodes]
            gradients, hessians = constraint.gradient(x), constraint.hessian(x)
            for nodes, gradient, hessian in zip(constraint.nodes, gradients, hessians, strict=True):
                row = np.zeros(shape)
                np.add.at(row, nodes, gradient)
                rows.append(row.ravel())
                w = v[nodes].ravel()
                bends.append(w @ hessian @ w)
        G = np.array(rows)
        a = weights * system.force(t, q, v).ravel()
        found = np.linalg.solve(G * weights @ G.T, -G @ a - bends)
        return found, a + weights * (G.T @ found)

    def rate(t, y):
        q, v = y.reshape(2, *shape)
        return np.concatenate([v.ravel(), multipliers(t, q, v)[1]])

    y0 = np.concatenate([setup.start.q.ravel(), setup.start.v.ravel()])
    y = solve_ivp(rate, (setup.start.t, t), y0, method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    q, v = y.reshape(2, *shape)
    found, a = multipliers(t, q, v)
    return q, v, a.reshape(shape), found


def flat(values: dict) -> np.ndarray:
    return np.concatenate(list(values.values()))


def drag(t, q, v):
    return -0.5 * v + np.array([0.2 * np.sin(3.0 * t), 0.0])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("make", [linkage, double_pendulum, lambda: double_pendulum(drag)])
def test_second_order(method, make):
    setup = make()
    requested = exact(setup, 2.0)
    errors = []
    for dt in (0.04, 0.02, 0.01):
        motion = method(dt, setup.constraints).start(setup.system, setup.start)
        end = motion.advance(2.0)
        found = end.q, end.v, end.a, flat(motion.multipliers())
        errors.append([np.abs(one - other).max() for one, other in zip(found, requested, strict=True)])
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    assert np.max(errors[-1]) < 2e-2
    np.testing.assert_allclose(orders[-1], 2.0, atol=0.15)


@pytest.mark.parametrize("method", METHODS)
def test_what_is_kept(method):
    setup = linkage()
    system = setup.system
    motion = method(0.05, setup.constraints).start(system, setup.start)
    first = motion.advance(0.0)
    energy, lowest, highest = motion.energies(first)["total"], np.inf, -np.inf
    for t in 0.05 * np.arange(0, 2001, 100):
        state = motion.advance(t)
        assert np.abs(flat(motion.violations())).max() < round_off.of(max(1.0, np.abs(state.q).max()), 10)
        if method is sx.Rattle:
            for rods in setup.constraints.values():
                x, v = state.q[rods.nodes], state.v[rods.nodes]
                assert np.abs(np.einsum("cai,cai->c", rods.gradient(x), v)).max() < 1e-14
        np.testing.assert_allclose(system.momentum(state), system.momentum(first), atol=1e-12)
        np.testing.assert_allclose(system.angular_momentum(state), system.angular_momentum(first), atol=1e-11)
        error = motion.energies(state)["total"] / energy - 1.0
        lowest, highest = min(lowest, error), max(highest, error)
    assert 1e-6 < highest - lowest < 0.05  # of second order, but without drift
    assert np.abs(state.q - setup.start.q).max() > 0.5


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("make", [linkage, double_pendulum])
def test_reversed_velocities_come_back(method, make):
    setup = make()
    integrator = method(0.02, setup.constraints)
    motion = integrator.start(setup.system, setup.start)
    first, there = motion.advance(0.02), motion.advance(2.02)  # the first velocities that are SHAKE's own
    assert np.abs(there.q - first.q).max() > 0.1
    back = integrator.start(setup.system, setup.system.state(there.q, -there.v)).advance(2.0)
    np.testing.assert_allclose(back.q, first.q, atol=1e-11)
    np.testing.assert_allclose(back.v, -first.v, atol=1e-10)


@pytest.mark.parametrize("method", METHODS)
def test_symplectic_on_the_constrained_motions(method):
    """In the angles of a double pendulum and their momenta; velocities across the constraints have none."""
    setup = double_pendulum()
    mass = np.asarray(setup.system.mass)[:, None]

    def tangents(angles):
        first = np.array([np.cos(angles[0]), np.sin(angles[0])])
        second = 0.8 * np.array([np.cos(angles[1]), np.sin(angles[1])])
        zero = np.zeros(2)
        return np.array([[zero, first, first], [zero, zero, second]])

    def flow(z):
        basis = tangents(z[:2])
        inertia = np.einsum("ani,bni->ab", basis * mass, basis)
        v = np.einsum("a,ani->ni", np.linalg.solve(inertia, z[2:]), basis)
        start = setup.system.state(pendulum_positions(z[:2]), v)
        end = method(0.1, setup.constraints).start(setup.system, start).advance(0.3)
        d1, d2 = end.q[1], end.q[2] - end.q[1]
        angles = np.array([np.arctan2(d1[0], -d1[1]), np.arctan2(d2[0], -d2[1])])
        return np.concatenate([angles, np.einsum("ani,ni->a", tangents(angles), mass * end.v)])

    z0, s = np.array([1.0, -0.4, 0.7, -0.3]), 1e-6
    J = np.column_stack([(flow(z0 + s * e) - flow(z0 - s * e)) / (2.0 * s) for e in np.eye(4)])
    omega = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.eye(2), np.zeros((2, 2))]])
    assert np.abs(J.T @ omega @ J - omega).max() < 1e-8
    assert np.abs(J - np.eye(4)).max() > 0.1


def test_shake_is_rattle_in_positions_and_central_differences_in_velocities():
    setup, dt = linkage(), 0.05
    shake, rattle = (
        sx.record(setup.system, method(dt, setup.constraints), setup.start, dt * np.arange(61)) for method in METHODS
    )
    np.testing.assert_allclose(shake.q, rattle.q, atol=1e-12)
    np.testing.assert_allclose(shake.v[1:-1], (shake.q[2:] - shake.q[:-2]) / (2.0 * dt), atol=1e-13 / dt)


def test_shakes_multipliers_are_those_of_its_central_differences():
    setup, dt = linkage(), 0.05
    system, rods = setup.system, setup.constraints["rod"]
    motion = sx.constraints.Shake(dt, setup.constraints).start(system, setup.start)
    before, now = motion.advance(0.0), motion.advance(dt)
    found = motion.multipliers()["rod"]
    after = motion.advance(2.0 * dt)
    acceleration = (after.q - 2.0 * now.q + before.q) / dt**2
    np.testing.assert_allclose(now.a, acceleration, atol=1e-11)
    # Node 3 has this rod only, and one spring.
    force = np.asarray(system.mass)[3] * acceleration[3] + system.gradient(now.q)[3]
    along = rods.gradient(now.q[rods.nodes])[0, 0]
    assert found[0] == pytest.approx(force @ along / (along @ along), abs=1e-10)


def test_a_conical_pendulum_has_the_exact_force():
    mass, angle = np.array([2.0]), 0.7
    system = sx.System(mass, {"weight": sx.Gravity(mass, (0.0, 0.0, -9.81))})
    bead = {"string": sx.measures.OnSphere([0], (0.0, 0.0, 1.0), 1.0)}
    speed = np.sin(angle) * np.sqrt(9.81 / np.cos(angle))
    start = system.state([[np.sin(angle), 0.0, 1.0 - np.cos(angle)]], [[0.0, speed, 0.0]])
    motion = sx.Rattle(0.01, bead).start(system, start)
    motion.advance(0.0)
    assert motion.multipliers()["string"][0] == pytest.approx(-2.0 * 9.81 / np.cos(angle), rel=1e-12)
    end = motion.advance(3.0)
    assert motion.multipliers()["string"][0] == pytest.approx(-2.0 * 9.81 / np.cos(angle), rel=1e-3)
    assert end.q[0, 2] == pytest.approx(1.0 - np.cos(angle), abs=1e-3)


@pytest.mark.parametrize("method", METHODS)
def test_a_support_carries_what_hangs_on_it(method):
    setup = double_pendulum()
    state = setup.system.state(pendulum_positions(np.zeros(2)))
    motion = method(0.1, setup.constraints).start(setup.system, state)
    state = motion.advance(0.5)
    pull = motion.constraint_forces()
    np.testing.assert_allclose(pull, [[0.0, -3.2], [0.0, 2.0], [0.0, 1.2]], atol=1e-12)
    carried = setup.system.reactions(state)[0] - pull[0]
    np.testing.assert_allclose(carried, [0.0, 2.0 * setup.system.mass.sum()], atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_a_pendulum_that_hangs_in_the_origin(method):
    """Positions next to zero say nothing about the round-off of a constraint."""
    mass = np.array([1.0])
    system = sx.System(mass, {"weight": sx.Gravity(mass, (0.0, -1.0))}, dim=2)
    string = {"string": sx.measures.OnSphere([0], (0.0, 1.0), 1.0)}
    motion = method(0.05, string).start(system, system.state(np.zeros((1, 2)), [0.01, 0.0]))
    for t in 0.05 * np.arange(1, 200):
        motion.advance(t)
    assert np.abs(flat(motion.violations())).max() < round_off.of(1.0)


@pytest.mark.parametrize("method", METHODS)
def test_a_wire_of_ones_own(method):
    class Wire(sx.measures.Constraint):
        nodes = np.array([[0]], np.int32)

        def value(self, x):
            return x[:, 0, 1] - x[:, 0, 0] ** 2

        def gradient(self, x):
            return np.stack([-2.0 * x[:, :, 0], np.ones((1, 1))], axis=2)

        def hessian(self, x):
            return np.array([[[-2.0, 0.0], [0.0, 0.0]]])

    mass = np.array([1.0])
    system = sx.System(mass, {"weight": sx.Gravity(mass, (0.0, -1.0))}, dim=2)
    start = system.state([[1.0, 1.0]])
    run = sx.record(system, method(0.02, {"wire": Wire()}), start, 0.02 * np.arange(401))
    np.testing.assert_allclose(run.q[:, 0, 1], run.q[:, 0, 0] ** 2, atol=1e-14)
    assert run.q[:, 0, 0].min() == pytest.approx(-1.0, abs=1e-3)
    assert np.abs(run.energies["total"] - 1.0).max() < 2e-3


def test_a_bead_in_a_plane_falls_along_it():
    mass = np.array([1.0, 1.0])
    system = sx.System(mass, {"weight": sx.Gravity(mass, (0.0, 0.0, -1.0))})
    plane = {"plane": sx.measures.OnPlane([1], (0.0, 0.0, 0.0), (1.0, 0.0, 1.0))}
    motion = sx.Rattle(0.1, plane).start(system, system.state(np.zeros((2, 3))))
    end = motion.advance(2.0)
    np.testing.assert_allclose(end.q, [[0.0, 0.0, -2.0], [1.0, 0.0, -1.0]], atol=1e-13)
    assert motion.multipliers()["plane"][0] == pytest.approx(np.sqrt(0.5))


@pytest.mark.parametrize("method", METHODS)
def test_a_resumed_motion_is_bit_identical(method):
    setup = double_pendulum(drag)
    integrator, t0 = method(0.05, setup.constraints), 1.0
    start = setup.system.state(setup.start.q, t=t0)
    for first in (0.0, 0.5):
        motion = integrator.start(setup.system, start)
        motion.advance(t0 + first)
        stored = {name: array.copy() for name, array in motion.checkpoint().items()}
        requested = motion.advance(t0 + 2.0)
        again = integrator.resume(double_pendulum(drag).system, stored)
        found = again.advance(t0 + 2.0)
        for name in ("t", "q", "v", "a"):
            np.testing.assert_array_equal(getattr(found, name), getattr(requested, name))
        np.testing.assert_array_equal(flat(again.multipliers()), flat(motion.multipliers()))
        assert again.statistics() == motion.statistics()


@pytest.mark.parametrize("method", METHODS)
def test_looking_does_not_change_the_motion(method):
    setup = linkage()
    integrator = method(0.05, setup.constraints)
    requested = integrator.start(setup.system, setup.start).advance(2.0)
    motion = integrator.start(setup.system, setup.start)
    for t in 0.05 * np.arange(41):
        found = motion.advance(t)
    np.testing.assert_array_equal(found.q, requested.q)
    np.testing.assert_array_equal(found.v, requested.v)


def test_a_rigid_truss_falls_and_turns_as_one_body():
    """Twelve bars make an octahedron rigid: 18 coordinates, 6 left; free flight conserves its spin."""
    q = np.concatenate([np.eye(3), -np.eye(3)])
    pairs = [pair for pair in sx.measures.all_pairs(6) if np.linalg.norm(q[pair[0]] - q[pair[1]]) < 1.5]
    assert len(pairs) == 12
    mass = np.linspace(1.0, 2.0, 6)
    system = sx.System(mass, {"weight": sx.Gravity(mass, (0.0, 0.0, -1.0))})
    bars = {"bars": sx.measures.RigidBars.between(q, pairs)}
    start = system.state(q, np.cross([0.3, 1.0, -0.5], q))
    end = sx.Rattle(0.02, bars).start(system, start).advance(2.0)
    distances = np.linalg.norm(end.q[:, None] - end.q[None], axis=2)
    np.testing.assert_allclose(distances, np.linalg.norm(q[:, None] - q[None], axis=2), atol=1e-13)
    # A body at its centre of mass: energy in the fall is exact, and rotation keeps its own.
    centre = mass @ end.q / mass.sum()
    expected = mass @ q / mass.sum() + 2.0 * (mass @ start.v) / mass.sum() - [0.0, 0.0, 2.0]
    np.testing.assert_allclose(centre, expected, atol=1e-12)
    assert np.abs(end.q - centre - q).max() > 0.5


def test_a_solid_hangs_on_rods():
    """A neo-Hookean block on four rods sways and shakes; on average the rods carry its weight."""
    mesh = sx.box((1.0, 1.0, 0.5), (2, 2, 1), split="6")
    corners = [
        int(np.argmin(np.linalg.norm(mesh.points - [x, y, 0.5], axis=1))) for x in (0.0, 1.0) for y in (0.0, 1.0)
    ]
    hooks = mesh.points[corners] + [0.3, 0.0, 0.8]
    q = np.vstack([mesh.points, hooks])
    n, solid = len(mesh.points), sx.Solid(mesh.points, mesh.cells["tetra"], sx.NeoHookean(2e4, 1e4, 100.0))
    mass = np.concatenate([sx.lumped_mass(mesh.points, mesh.cells["tetra"], 100.0, n), np.ones(4)])
    fixed = np.zeros(q.shape, bool)
    fixed[n:] = True
    system = sx.System(mass, {"solid": solid, "weight": sx.Gravity(mass, (0.0, 0.0, -1.0))}, fixed=fixed)
    rods = sx.measures.RigidBars.between(q, np.column_stack([corners, n + np.arange(4)]))
    motion, pulls = sx.Rattle(0.004, {"rods": rods}).start(system, system.state(q)), []
    before = motion.energies(motion.advance(0.0))["total"]
    for t in 0.004 * np.arange(1000):
        state = motion.advance(t)
        d = np.diff(state.q[rods.nodes], axis=1)[:, 0]
        pulls.append(rods.tensions(motion.multipliers()["rods"]) @ d[:, 2] / rods.length[0])
    assert motion.energies(state)["total"] == pytest.approx(before, rel=1e-3)
    rise = system.momentum(state)[2] / state.t  # what the pulls have left over
    assert np.mean(pulls) - mass[:n].sum() == pytest.approx(rise, abs=0.02 * mass[:n].sum())
    assert np.std(pulls) > 0.02 * mass[:n].sum()


@pytest.mark.parametrize("band", [64, 0])
def test_matrices_are_factorised_in_a_band_or_sparse(band, monkeypatch):
    monkeypatch.setattr(assembled, "_BAND", band)
    setup = linkage()
    found = Multipliers(setup.system, setup.constraints, "test")
    gradients, b = found.empty_gradients(), np.array([1.0, -2.0, 3.0])
    found.write_gradients(setup.start.q, gradients)
    found.require_independent(setup.start.q)
    found.factorise(gradients)
    dense = np.zeros((3, setup.start.q.size))
    for j, e in enumerate(np.eye(setup.start.q.size)):
        dense[:, j] = found.rates(gradients, e.reshape(setup.start.q.shape))
    weights = np.repeat(1.0 / np.asarray(setup.system.mass), 3)
    np.testing.assert_allclose(found.solve(b, gradients), np.linalg.solve(dense * weights @ dense.T, b), rtol=1e-12)
    later = gradients + 0.1 * np.random.default_rng(0).standard_normal(gradients.shape)
    assert loops.factorise(found.conditions, later, gradients)
    left = np.array([found.rates(later, e.reshape(setup.start.q.shape)) for e in np.eye(setup.start.q.size)]).T
    np.testing.assert_allclose(found.solve(b, gradients), np.linalg.solve(left * weights @ dense.T, b), rtol=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_trees_of_rods_keep_their_lengths_and_momenta(seed):
    """Any tree is independent: random ones, in the plane and in space, thrown."""
    rng = np.random.default_rng(seed)
    n, dim = int(rng.integers(2, 40)), 2 + seed % 2
    parents = np.array([rng.integers(0, i) for i in range(1, n)])
    steps = rng.standard_normal((n - 1, dim))
    q = np.zeros((n, dim))
    for i, (parent, step) in enumerate(zip(parents, steps, strict=True), start=1):
        q[i] = q[parent] + step / np.linalg.norm(step)
    system = sx.System(rng.uniform(0.5, 2.0, n), {}, dim=dim)
    rods = {"rods": sx.measures.RigidBars.between(q, np.column_stack([parents, np.arange(1, n)]))}
    start = sx.constraints.project(system, rods, system.state(q, rng.standard_normal((n, dim))))
    motion = sx.Rattle(0.005, rods).start(system, start)
    end = motion.advance(0.5)
    assert np.abs(flat(motion.violations())).max() < 1e-13
    np.testing.assert_allclose(system.momentum(end), system.momentum(start), atol=1e-12)
    np.testing.assert_allclose(system.angular_momentum(end), system.angular_momentum(start), atol=1e-11)
    assert motion.energies(end)["total"] == pytest.approx(motion.energies(start)["total"], rel=0.01)


@pytest.mark.parametrize("band", [64, 0])
def test_a_singular_matrix_in_a_step_is_named(band, monkeypatch):
    monkeypatch.setattr(assembled, "_BAND", band)
    setup = linkage()
    found = Multipliers(setup.system, setup.constraints, "test")
    gradients = found.empty_gradients()
    found.write_gradients(setup.start.q, gradients)
    gradients[4:] = 0.0
    with pytest.raises(StepFailed, match=r"singular at constraint 'rod' 0 \(nodes 3, 2\)"):
        found.factorise(gradients)


def chain(n: int) -> Setup:
    q = np.column_stack([np.arange(n + 1.0), -2.0 * np.arange(n + 1.0)])
    pairs = np.column_stack([np.arange(n), np.arange(1, n + 1)])
    fixed = np.zeros((n + 1, 2), bool)
    fixed[0] = True
    mass = np.ones(n + 1)
    system = sx.System(mass, {"weight": sx.Gravity(mass, (0.0, -1.0))}, dim=2, fixed=fixed)
    return Setup(system, {"rods": sx.measures.RigidBars.between(q, pairs)}, system.state(q))


def steps_of_a_bent_chain(part: float, bend: float, n: int = 100, requested: int = 400) -> int:
    """Return how many steps, at a part of the limit of small waves, a hanging chain of bent rods takes."""
    angles = bend * np.random.default_rng(0).standard_normal(n)
    q = np.vstack([np.zeros(2), np.cumsum(np.column_stack([np.sin(angles), -np.cos(angles)]), axis=0)])
    mass = np.ones(n + 1)
    fixed = sx.fixed_mask(n + 1, [([0], "xy")], dim=2)
    system = sx.System(mass, {"weight": sx.Gravity(mass, (0.0, -1.0))}, dim=2, fixed=fixed)
    rods = sx.measures.RigidBars.between(q, np.column_stack([np.arange(n), np.arange(1, n + 1)]))
    dt = part * 2.0 / np.sqrt(4.0 * n)  # ω² = 4T/mL with the weight of all as the tension
    motion = sx.Rattle(dt, {"rods": rods}).start(system, system.state(q))
    taken = 0
    try:
        for taken in range(requested):
            motion.advance((taken + 1) * dt)
    except StepFailed:
        return taken
    return requested


def test_how_near_a_chain_comes_to_the_limit_of_small_waves_depends_on_how_it_is_bent():
    assert steps_of_a_bent_chain(0.97, bend=1e-3) == 400
    assert steps_of_a_bent_chain(1.05, bend=1e-3) < 100
    assert steps_of_a_bent_chain(0.7, bend=0.01) == 400
    assert steps_of_a_bent_chain(0.8, bend=0.01) < 400
    assert steps_of_a_bent_chain(0.5, bend=0.1) < 100


def test_a_chain_of_a_thousand_rods():
    setup = chain(1000)
    motion = sx.Rattle(0.02, setup.constraints).start(setup.system, setup.start)
    before = motion.energies(setup.start)["total"]
    end = motion.advance(1.0)
    assert np.abs(flat(motion.violations())).max() < 1e-11
    # Along the straight line, the whole weight hangs on the first rod: g cos α times the mass below.
    assert motion.energies(end)["total"] == pytest.approx(before, rel=1e-8)
    tension = setup.constraints["rods"].tensions(motion.multipliers()["rods"])
    assert tension[0] > 0.0
    assert np.all(np.diff(tension) < 0.0)


def stiff_linkage() -> Setup:
    """Two rods and a spring almost as rigid, that is not strained at the start."""
    soft = linkage()
    q, mass = soft.start.q, np.asarray(soft.system.mass)
    spring = sx.measures.RigidBars.between(q, [[1, 3]])
    springs = sx.Bars([[0, 2], [1, 3]], sx.measures.GreenStrain([3.0, 1e6], [1.0, spring.length[0]]))
    system = sx.System(mass, {"springs": springs})
    rods = {"rods": soft.constraints["rods"]}
    return Setup(system, rods, sx.constraints.project(system, rods | {"spring": spring}, soft.start))


def test_stiff_energies_by_the_modified_potential_of_zhang_and_skeel():
    setup = stiff_linkage()
    with pytest.raises(UnstableStep):
        sx.Rattle(0.02, setup.constraints).start(setup.system, setup.start)
    motion = sx.Rattle(0.02, setup.constraints, beta=0.4).start(setup.system, setup.start)
    first, modified = motion.advance(0.0), []
    for t in 0.02 * np.arange(0, 1001, 20):
        state = motion.advance(t)
        modified.append(motion.energies(state)["modified_total"])
        assert np.abs(flat(motion.violations())).max() < round_off.of(max(1.0, np.abs(state.q).max()), 10)
    np.testing.assert_allclose(setup.system.momentum(state), setup.system.momentum(first), atol=1e-12)
    np.testing.assert_allclose(setup.system.angular_momentum(state), setup.system.angular_momentum(first), atol=1e-9)
    assert np.ptp(modified) < 0.02 * abs(modified[0])
    assert np.abs(state.q - setup.start.q).max() > 0.5


def test_the_modified_potential_leaves_the_second_order():
    setup = linkage()
    requested, errors = exact(setup, 2.0)[0], []
    for dt in (0.04, 0.02):
        end = sx.Rattle(dt, setup.constraints, beta=0.3).start(setup.system, setup.start).advance(2.0)
        errors.append(np.abs(end.q - requested).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


def test_composed_to_the_fourth_order():
    setup = linkage()
    requested, errors = exact(setup, 2.0), []
    for dt in (0.2, 0.1):
        motion = sx.Composition(sx.Rattle(dt, setup.constraints)).start(setup.system, setup.start)
        end = motion.advance(2.0)
        errors.append([np.abs(end.q - requested[0]).max(), np.abs(end.v - requested[1]).max()])
    np.testing.assert_allclose(np.log2(np.divide(*errors)), 4.0, atol=0.3)
    np.testing.assert_allclose(setup.system.momentum(end), setup.system.momentum(setup.start), atol=1e-13)
    with pytest.raises(ValueError, match=r"Shake cannot be composed: .* take Rattle"):
        sx.Composition(sx.constraints.Shake(0.1, setup.constraints))


# -- what is refused ----------------------------------------------------------------------------------------------


def test_infeasible_starts():
    setup = double_pendulum()
    system, q = setup.system, setup.start.q.copy()
    q[2, 1] -= 0.1
    with pytest.raises(InfeasibleStart, match=r"'rods' 1 \(nodes 1, 2\) is violated by 0\..* \(1 of 2 are\)"):
        sx.Rattle(0.1, setup.constraints).start(system, system.state(q))
    v = np.array([[0.0, 0.0], [np.sin(1.0), -np.cos(1.0)], [0.0, 0.0]])
    for method in METHODS:
        with pytest.raises(InfeasibleStart, match=r"velocities at the start leave constraint 'rods' 0 .* project"):
            method(0.1, setup.constraints).start(system, system.state(setup.start.q, v))


def test_projection():
    setup = linkage()
    rng = np.random.default_rng(3)
    q = setup.start.q + 0.1 * rng.standard_normal(setup.start.q.shape)
    state = setup.system.state(q, rng.standard_normal(q.shape), t=2.0)
    found = sx.constraints.project(setup.system, setup.constraints, state)
    motion = sx.Rattle(0.01, setup.constraints).start(setup.system, found)
    assert np.abs(flat(motion.violations())).max() < round_off.of(1.0, 10)
    assert found.t == 2.0
    np.testing.assert_allclose(setup.system.momentum(found), setup.system.momentum(state), atol=1e-14)
    np.testing.assert_allclose(np.asarray(setup.system.mass) @ (found.q - q), np.zeros(3), atol=1e-15)
    again = sx.constraints.project(setup.system, setup.constraints, found)
    np.testing.assert_allclose(again.q, found.q, atol=1e-15)
    np.testing.assert_allclose(again.v, found.v, atol=1e-14)


def test_projected_velocities_go_along_with_supports():
    setup = double_pendulum()
    stale = sx.State(0.0, setup.start.q, setup.start.v + 1.0, setup.start.a)  # also at the support, which stays
    found = sx.constraints.project(setup.system, setup.constraints, stale)
    assert not found.v[0].any()
    assert found.v.any()
    sx.Rattle(0.01, setup.constraints).start(setup.system, found)


def test_redundant_constraints_are_named():
    q = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [2.0, 0.5]])
    system = sx.System(np.ones(5), {}, dim=2)
    bars = sx.measures.RigidBars.between(q, [[4, 1], *sx.measures.all_pairs(4)])  # a square with both diagonals
    with pytest.raises(RedundantConstraints, match=r"'bars' 1 \(nodes 0, 1\).*'bars' 6 \(nodes 2, 3\)") as caught:
        sx.Rattle(0.1, {"bars": bars}).start(system, system.state(q))
    assert "'bars' 0" not in str(caught.value)
    bars = sx.measures.RigidBars.between(q, [[4, 1], *sx.measures.all_pairs(4)[:5]])
    sx.Rattle(0.1, {"bars": bars}).start(system, system.state(q))
    with pytest.raises(RedundantConstraints):
        sx.constraints.project(
            system, {"bars": bars, "again": sx.measures.RigidBars.between(q, [[0, 1]])}, system.state(q)
        )


def test_what_does_not_fit():
    setup = double_pendulum()
    system, start = setup.system, setup.start

    def refused(constraints, text, error=InvalidSystem, system=system, start=start):
        with pytest.raises(error, match=text):
            sx.Rattle(0.1, constraints).start(system, start)

    refused({}, "has no constraints. Take Newmark")
    refused({"pin": sx.measures.OnPlane([0], (0.0, 0.0), (0.0, 1.0))}, r"'pin' 0 \(node 0\) has fixed nodes only")
    refused(
        {"rods": sx.measures.RigidBars([[1, 3]], 1.0)},
        "constraint 'rods' refers to nodes 1 to 3, but there are 3 nodes",
    )
    half = np.zeros((3, 2), bool)
    half[1, 1] = True
    held = sx.System(np.ones(3), {}, dim=2, fixed=half)
    level = {"level": sx.measures.OnPlane([1], (0.0, start.q[1, 1]), (0.0, 1.0))}
    refused(level, "has no gradient at the start along which its nodes can move", system=held)

    class Wrong(sx.measures.Constraint):
        nodes = np.array([[1]], np.int32)

        def value(self, x):
            return x[:, 0]

        def gradient(self, x):
            return x

        def hessian(self, x):
            return np.zeros((1, 2, 2))

    class Flat(Wrong):
        nodes = np.array([1, 2])

    refused({"flat": Flat()}, r"nodes of constraint 'flat' have shape \(2,\) and type int64; expected")
    refused(
        {"plane": sx.measures.OnPlane([1], (0.0, 0.0, 1.0), (0.0, 0.0, 1.0))},
        "OnPlane: .* has shape .3, 2., expected .n, 3.",
    )
    refused({"ball": sx.measures.OnSphere([1], (0.0, 0.0, 1.0), 1.0)}, "OnSphere: .* has shape .3, 2., expected .n, 3.")
    refused({"wrong": Wrong()}, r"Wrong: the local value has shape \(1, 2\), expected \(1,\)")
    import scipy.sparse as sp

    consistent = sx.System(sp.csr_array(np.eye(3) + 0.1), {}, dim=2)
    refused(setup.constraints, "Rattle needs a lumped", system=consistent)
    for dt in (0.0, -1.0, np.nan, "auto"):
        with pytest.raises(ValueError, match=r"dt must be (a real number|positive|finite)"):
            sx.constraints.Shake(dt, setup.constraints)
    with pytest.raises(ValueError, match="beta must be at least 0"):
        sx.Rattle(0.1, setup.constraints, beta=-0.1)


@pytest.mark.parametrize("method", METHODS)
def test_steps_that_are_too_large(method):
    setup = double_pendulum()
    spinning = setup.system.state(
        setup.start.q, 3.0 * np.cross([0.0, 0.0, 1.0], np.pad(setup.start.q, ((0, 0), (0, 1))))[:, :2]
    )
    with pytest.raises(StepFailed, match=r"constraint 'rods' \d .* Try a smaller step"):
        method(2.0, setup.constraints).start(setup.system, spinning).advance(20.0)
    stiff = linkage()
    with pytest.raises(UnstableStep, match="above the stability limit"):
        method(1.0, stiff.constraints).start(stiff.system, stiff.start)


@pytest.mark.parametrize("method", METHODS)
def test_the_work_of_loads_closes_the_balance_of_energy(method):
    setup, errors = double_pendulum(drag), []
    for dt in (0.04, 0.02):
        motion = method(dt, setup.constraints).start(setup.system, setup.start)
        first, last = (motion.energies(motion.advance(t)) for t in (0.0, 4.0))
        assert last["work_load"] < -0.1
        assert first["balance"] == first["total"]
        errors.append(abs(last["balance"] - first["balance"]))
    assert errors[1] < 0.35 * errors[0] < 1e-3


# -- supports that move -------------------------------------------------------------------------------------------

SWAY = sx.actions.TimeFunction(
    lambda t: 0.2 * (1.0 - np.cos(3.0 * t)), lambda t: 0.6 * np.sin(3.0 * t), lambda t: 1.8 * np.cos(3.0 * t)
)


def shaken_pendulum(load=None) -> Setup:
    """The double pendulum on a support that sways, from rest."""
    still = double_pendulum(load)
    sway = {"sway": sx.actions.SupportTranslation([0], (1.0, 0.0), SWAY)}
    mass = np.asarray(still.system.mass)
    system = sx.System(mass, still.system.energies, dim=2, moving=sway, loads=still.system.loads)
    return Setup(system, still.constraints, system.state(still.start.q))


def riding(load=None):
    """Positions, velocities, accelerations and multipliers at 2 s, from the frame that sways with the support."""

    def inertia(t, q, v):
        force = np.array([1.0, 1.0, 0.6])[:, None] * np.array([-SWAY.second(t), 0.0])
        return force if load is None else force + load(t, q, v + np.array([SWAY.rate(t), 0.0]))

    q, v, a, found = exact(double_pendulum(inertia), 2.0)
    moved = (x + np.array([given(2.0), 0.0]) for x, given in ((q, SWAY.value), (v, SWAY.rate), (a, SWAY.second)))
    return *moved, found


@pytest.mark.parametrize("load", [None, drag])
def test_rattle_takes_supports_along(load):
    setup, requested, errors, balances = shaken_pendulum(load), riding(load), [], []
    for dt in (0.04, 0.02):
        motion = sx.Rattle(dt, setup.constraints).start(setup.system, setup.start)
        first, end = motion.energies(motion.advance(0.0)), motion.advance(2.0)
        last, found = motion.energies(end), (end.q, end.v, end.a, flat(motion.multipliers()))
        errors.append([np.abs(one - other).max() for one, other in zip(found, requested, strict=True)])
        balances.append(abs(last["balance"] - first["balance"]))
        assert np.abs(flat(motion.violations())).max() < 1e-14
    np.testing.assert_allclose(np.log2(np.divide(*errors)), 2.0, atol=0.2)
    assert np.max(errors[-1]) < 2e-2
    assert abs(last["work_sway"]) > 0.05
    assert balances[1] < 0.3 * balances[0] < 0.003


def test_composed_rattle_takes_supports_along():
    setup, requested, errors = shaken_pendulum(), riding()[0], []
    for dt in (0.2, 0.1):
        end = sx.Composition(sx.Rattle(dt, setup.constraints)).start(setup.system, setup.start).advance(2.0)
        errors.append(np.abs(end.q - requested).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4.0, abs=0.5)


def test_a_resumed_motion_on_moving_supports_is_bit_identical():
    setup = shaken_pendulum(drag)
    integrator = sx.Rattle(0.05, setup.constraints)
    motion = integrator.start(setup.system, setup.start)
    motion.advance(0.5)
    stored = {name: array.copy() for name, array in motion.checkpoint().items()}
    requested = motion.advance(2.0)
    again = integrator.resume(shaken_pendulum(drag).system, stored)
    found = again.advance(2.0)
    for name in ("q", "v", "a"):
        np.testing.assert_array_equal(getattr(found, name), getattr(requested, name))
    assert again.energies(found) == motion.energies(requested)


def test_supports_that_others_do_not_move():
    setup = shaken_pendulum()
    with pytest.raises(InvalidSystem, match=r"Shake cannot move supports, .*'sway'.* Rattle"):
        sx.constraints.Shake(0.01, setup.constraints).start(setup.system, setup.start)
    with pytest.raises(InvalidSystem, match="Rattle with beta > 0 cannot move supports"):
        sx.Rattle(0.01, setup.constraints, beta=0.4).start(setup.system, setup.start)


def test_a_fitted_step_divides_the_interval():
    setup = double_pendulum()
    fitted = sx.Rattle(0.03, setup.constraints).fit(setup.system, setup.start, 0.1)
    assert fitted.dt == pytest.approx(0.025)
    assert fitted.constraints is setup.constraints


def test_a_composition_with_beta_keeps_its_order_and_comes_back():
    """The modified forces are those of each substep's own size."""
    setup = double_pendulum()
    exact = sx.Composition(sx.Rattle(0.0025, setup.constraints), 8).start(setup.system, setup.start).advance(1.0)
    errors = []
    for dt in (0.05, 0.025):
        method = sx.Composition(sx.Rattle(dt, setup.constraints, beta=0.4))
        there = method.start(setup.system, setup.start).advance(1.0)
        errors.append(np.abs(there.q - exact.q).max())
        back = method.start(setup.system, setup.system.state(there.q, -there.v)).advance(1.0)
        np.testing.assert_allclose(back.q, setup.start.q, atol=1e-11)
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4.0, abs=0.3)


# -- steps in compiled loops -------------------------------------------------------------------------------------------


def hanging() -> Setup:
    """A chain of rods with springs, from a support, with a node in a plane and one on a sphere, above a floor."""
    q = np.array([[0.0, 0, 0], [1, 0, 0.1], [2, 0.2, 0], [2.5, 1, 0], [1.5, 1, 0.5], [3.0, 1.2, -0.4]])
    mass = np.array([1.0, 2.0, 0.5, 1.0, 0.3, 0.7])
    fixed = np.zeros(q.shape, bool)
    fixed[0] = True
    floor = sx.RigidContact([1, 2, 5], sx.HalfSpace((0, 0, -0.6), (0, 0, 1)), 1e3)
    springs = sx.Bars([[1, 4], [4, 3], [2, 4]], sx.measures.GreenStrain(200.0, 1.0))
    system = sx.System(
        mass, {"springs": springs, "weight": sx.Gravity(mass, (0, 0, -9.81)), "floor": floor}, fixed=fixed
    )
    constraints = {
        "rods": sx.measures.RigidBars.between(q, [[0, 1], [1, 2], [2, 3], [3, 5]]),
        "plane": sx.measures.OnPlane([4], (0.0, 1.0, 0.0), (0.0, 1.0, 0.0)),
        "sphere": sx.measures.OnSphere([5], (0.0, 0.0, 0.0), float(np.linalg.norm(q[5]))),
    }
    return Setup(system, constraints, sx.constraints.project(system, constraints, system.state(q, 0.3 * q[::-1])))


@pytest.mark.parametrize("make", [linkage, double_pendulum, hanging])
def test_steps_in_a_compiled_loop_are_those_from_python(make, monkeypatch):
    setup = make()
    method = sx.Rattle(0.005, setup.constraints)
    together = method.start(setup.system, setup.start)
    apart = one_by_one(method.start(setup.system, setup.start), monkeypatch)
    for t in (0.005, 0.2, 0.5):
        found, expected = together.advance(t), apart.advance(t)
        np.testing.assert_allclose(found.q, expected.q, rtol=0, atol=1e-12)
        np.testing.assert_allclose(found.v, expected.v, rtol=0, atol=1e-11)
        np.testing.assert_allclose(found.a, expected.a, rtol=0, atol=1e-9)
    assert together._table
    np.testing.assert_allclose(flat(together.multipliers()), flat(apart.multipliers()), rtol=0, atol=1e-9)
    assert together.statistics()["corrections"] == pytest.approx(apart.statistics()["corrections"], rel=0.05)
    assert max(np.abs(values).max() for values in together.violations().values()) < 1e-14


@pytest.mark.parametrize("make", [lambda method: method, sx.Composition])
def test_steps_in_a_compiled_loop_do_not_depend_on_portions(make, monkeypatch):
    setup = hanging()
    method = make(sx.Rattle(0.005, setup.constraints))
    whole = method.start(setup.system, setup.start)
    end = whole.advance(0.5)
    motion = method.start(setup.system, setup.start)
    for t in (0.005, 0.01, 0.25):
        motion.advance(t)
    resumed = method.resume(setup.system, motion.checkpoint())
    found = resumed.advance(0.5)
    for name in ("q", "v", "a"):
        np.testing.assert_array_equal(getattr(found, name), getattr(end, name))
    assert resumed.statistics() == whole.statistics()
    apart = one_by_one(method.start(setup.system, setup.start), monkeypatch).advance(0.5)
    np.testing.assert_allclose(found.q, apart.q, rtol=0, atol=1e-11)


def test_steps_that_fail_say_the_same_from_a_loop_and_from_python(monkeypatch):
    setup, reported = double_pendulum(), []
    thrown = setup.system.state(setup.start.q, np.array([[0, 0], [0, 0], [30.0, -13.0]]))
    start = sx.constraints.project(setup.system, setup.constraints, thrown)
    for change in (lambda motion, _: motion, one_by_one):
        motion = change(sx.Rattle(0.1, setup.constraints).start(setup.system, start), monkeypatch)
        with pytest.raises(StepFailed) as failure:
            motion.advance(10.0)
        reported.append((motion.n, str(failure.value)))
    assert reported[0] == reported[1]


def test_constraints_of_ones_own_are_called_from_python():
    class Rod(sx.measures.Constraint):
        nodes = np.array([[0, 1]], np.int32)

        def value(self, x):
            return np.linalg.norm(x[:, 1] - x[:, 0], axis=1) - 1.0

        def gradient(self, x):
            n = (x[:, 1] - x[:, 0]) / np.linalg.norm(x[:, 1] - x[:, 0], axis=1)[:, None]
            return np.stack([-n, n], axis=1)

        def hessian(self, x):
            return np.zeros((1, 6, 6))

    system = sx.System([1.0, 2.0], {})
    motion = sx.Rattle(0.01, {"rod": Rod()}).start(
        system, system.state([[0.0, 0, 0], [1, 0, 0]], [[0, 2.0, 0], [0, -1, 0]])
    )
    end = motion.advance(1.0)
    assert motion._set.conditions.in_python
    assert np.linalg.norm(end.q[1] - end.q[0]) == pytest.approx(1.0, abs=1e-14)


@pytest.mark.parametrize("method", METHODS)
def test_steps_with_a_sparse_matrix_are_those_with_a_band(method, monkeypatch):
    setup = hanging()
    expected = method(0.005, setup.constraints).start(setup.system, setup.start).advance(0.5)
    monkeypatch.setattr(assembled, "_BAND", 0)
    motion = method(0.005, setup.constraints).start(setup.system, setup.start)
    found = motion.advance(0.5)
    assert not motion._set.conditions.is_banded
    np.testing.assert_allclose(found.q, expected.q, rtol=0, atol=1e-11)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_what_python_raises_within_the_loop_is_raised(method, error):
    setup, calls = double_pendulum(), []

    def wind(t, q, v):
        calls.append(t)
        if len(calls) > 20:
            raise error("gust")
        return -0.1 * v

    system = sx.System(setup.system.mass, setup.system.energies, dim=2, fixed=setup.system.fixed, loads={"wind": wind})
    motion = method(0.01, setup.constraints).start(system, setup.start)
    with pytest.raises(error, match="gust"):
        motion.advance(1.0)
    with pytest.raises(StepFailed, match="stopped within the step"):
        motion.advance(1.0)
