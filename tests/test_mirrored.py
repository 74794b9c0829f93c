"""Force-stepping on mirrored (parity-invariant) triangulations, and the list of parabolas that a motion is."""

import itertools

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from symplex.contact.obstacles import HalfSpace
from symplex.contact.rigid import RigidContact
from symplex.fem.bars import Bars, EngineeringStrain, InverseDistance, LennardJones, all_pairs
from symplex.fem.system import System
from symplex.time.force_stepping import ForceStepping


def simplices(low):
    """Return the simplices [d!, d + 1, d] of the unit cell at the integer point low: from its even corner on."""
    d = len(low)
    even = 2.0 * np.ceil(low / 2.0)
    away = np.where(even == low, 1.0, -1.0)
    for order in itertools.permutations(range(d)):
        vertices = np.repeat(even[None], d + 1, axis=0)
        for k, axis in enumerate(order):
            vertices[k + 1 :, axis] += away[axis]
        yield vertices


def simplex_at(z):
    """Return the vertices of the simplex that holds the point z."""
    return max(
        simplices(np.floor(z)), key=lambda s: np.linalg.solve(np.vstack([s.T, np.ones(len(s))]), np.append(z, 1)).min()
    )


def motion_in_simplices(system, state, h, until):
    """Follow the motion under the interpolated potential with barycentric coordinates, without any of its structure."""
    shape, m = state.q.shape, np.repeat(system.mass, system.dim)
    z, w, t = state.q.ravel() / h, state.v.ravel() / h, 0.0
    vertices, steps, inside = simplex_at(z), 0, 1e-7
    while True:
        bary = np.linalg.inv(np.vstack([vertices.T, np.ones(len(vertices))]))
        V = np.array([system.potential((h * u).reshape(shape)) for u in vertices])
        accel = -(V @ bary)[:-1] / (m * h**2)
        c, b, a = bary @ np.append(z, 1), bary @ np.append(w, 0), bary @ np.append(accel, 0)
        roots = np.array([_leaving(*numbers) for numbers in zip(c, b, a, strict=True)])
        tau = min(roots.min(), until - t)
        z, w, t = z + tau * (w + 0.5 * tau * accel), w + tau * accel, t + tau
        if t >= until:
            return h * z.reshape(shape), h * w.reshape(shape), steps
        steps += 1
        vertices = simplex_at(z + inside * w / np.abs(w).max())


def _leaving(c, b, a):
    c = max(c, 0.0)
    disc = b * b - 2.0 * a * c
    if b < 0:
        return 2.0 * c / (-b + np.sqrt(disc)) if disc >= 0 else np.inf
    return (b + np.sqrt(disc)) / -a if a < 0 else np.inf


def pair(dim):
    return System(
        np.array([1.0, 1.7]),
        {
            "spring": Bars([[0, 1]], EngineeringStrain(3.0, 1.0), dim=dim),
            "wall": RigidContact([0, 1], HalfSpace(np.zeros(dim), np.eye(dim)[0]), 5.0),
        },
        dim=dim,
    )


@pytest.mark.parametrize(("dim", "until", "seed"), [(1, 4.0, 0), (1, 4.0, 1), (2, 2.0, 2), (2, 2.0, 3)])
def test_follows_the_motion_in_the_simplices(dim, until, seed):
    rng = np.random.default_rng(seed)
    system = pair(dim)
    q = np.array([[0.3, 0.2], [1.1, 0.4]])[:, :dim] + 0.1 * rng.random((2, dim))
    state = system.state(q, -0.5 * rng.random((2, dim)))
    motion = ForceStepping(0.05, mirrored=True).start(system, state)
    end = motion.advance(until)
    q1, v1, steps = motion_in_simplices(system, state, 0.05, until)
    assert steps > 40
    assert motion.statistics()["events"] == steps
    assert np.abs(end.q - q1).max() < 1e-9
    assert np.abs(end.v - v1).max() < 1e-8


def cluster():
    system = System(np.ones(4), {"lj": Bars(all_pairs(4), LennardJones(1.0, 1.0), dim=2)}, dim=2)
    q = np.array([[0.05, 0.02], [1.1, 0.1], [0.03, 1.12], [1.07, 1.2]])
    return system, system.state(q, [[0.3, 0.1], [-0.2, 0.25], [0.1, -0.4], [-0.15, 0.05]])


def test_a_reflected_start_gives_the_reflected_motion():
    system, state = cluster()
    mirror = np.array([-1.0, 1.0])
    reflected = system.state(mirror * state.q, mirror * state.v)

    def difference(**options):
        here, there = (ForceStepping(0.02, **options).start(system, s).advance(0.5) for s in (state, reflected))
        return np.abs(mirror * here.q - there.q).max()

    assert difference(mirrored=True) < 1e-11
    assert difference(offset=0.0) > 1e-6  # Kuhn's triangulation has no such symmetry


def test_energy_is_kept_and_the_motion_comes_back():
    system, state = cluster()
    motion = ForceStepping(0.02, mirrored=True).start(system, state)
    before = motion.energies(state)["lattice_total"]
    end = motion.advance(5.0)
    assert motion.energies(end)["lattice_total"] == pytest.approx(before, abs=1e-12)
    assert abs(motion.energies(end)["total"] - before) > 1e-6
    back = ForceStepping(0.02, mirrored=True).start(system, end.reversed()).advance(10.0)
    assert np.abs(back.q - state.q).max() < 1e-8


def test_the_step_is_symplectic():
    system, state = cluster()
    integrator = ForceStepping(0.02, mirrored=True, offset=np.random.default_rng(1).random((4, 2)))
    z, n = np.concatenate([state.q.ravel(), state.v.ravel()]), state.q.size

    def step(z):
        q, v = z.reshape(2, *state.q.shape)
        end = integrator.start(system, system.state(q, v)).advance(0.1)
        return np.concatenate([end.q.ravel(), end.v.ravel()])

    nudge = 1e-8
    jacobian = np.array([(step(z + e) - step(z - e)) / (2 * nudge) for e in nudge * np.eye(2 * n)]).T
    form = np.block([[np.zeros((n, n)), np.eye(n)], [-np.eye(n), np.zeros((n, n))]])  # all masses are 1
    assert np.abs(jacobian - np.eye(2 * n)).max() > 0.1
    np.testing.assert_allclose(jacobian.T @ form @ jacobian, form, atol=1e-5)


def test_converges_with_order_three_halves():
    system, state = cluster()

    def rate(_, y):
        q, v = y.reshape(2, *state.q.shape)
        return np.concatenate([v.ravel(), -system.gradient(q).ravel()])

    exact = solve_ivp(rate, (0, 3), np.concatenate([state.q, state.v]).ravel(), "DOP853", rtol=1e-12, atol=1e-13)
    q = exact.y[:8, -1].reshape(4, 2)

    def error(h):
        runs = (ForceStepping(h, mirrored=True, offset=offset) for offset in offsets)
        return np.mean([np.abs(run.start(system, state).advance(3.0).q - q).max() for run in runs])

    offsets = np.random.default_rng(2).random((24, 4, 2))
    assert np.log(error(0.01) / error(0.000625)) / np.log(16) == pytest.approx(ForceStepping.order, abs=0.25)


def test_slopes_add_up_to_the_accelerations():
    system, state = cluster()
    motion = ForceStepping(0.02, mirrored=True).start(system, state)
    now = motion.advance(0.33)
    forces = np.zeros((4, 2))
    np.add.at(forces, system.energies["lj"].nodes, -motion.gradient(system.energies["lj"], now))
    np.testing.assert_allclose(forces, now.a, atol=1e-10)


def test_crossings_of_pairs_that_share_no_energy_are_counted():
    """Two particles that do not interact are one system of one that visits every simplex."""
    apart = System(np.ones(2), {"wall": RigidContact([0, 1], HalfSpace([0.0], [1.0]), 50.0)}, dim=1)
    state = apart.state([[0.31], [0.523]], [[-1.0], [-0.7]])
    motion = ForceStepping(0.05, mirrored=True, count_crossings=True).start(apart, state)
    motion.advance(2.0)
    found = motion.statistics()
    assert found["other_crossings"] > 10
    assert found["crossings"] == motion_in_simplices(apart, state, 0.05, 2.0)[2]


# -- pieces ---------------------------------------------------------------------------------------------------


@pytest.fixture(params=[False, True], ids=["plain", "mirrored"])
def orbit(request):
    system = System(
        np.ones(2), {"gravity": Bars([[0, 1]], InverseDistance(1.0), dim=2)}, dim=2, fixed=[[True] * 2, [False] * 2]
    )
    state = system.state([[0, 0], [0.15, 0.0113]], [[0, 0], [0, 3.5]])
    return system, ForceStepping(0.022, mirrored=request.param), state


def test_pieces_are_the_motion(orbit):
    system, integrator, state = orbit
    times = np.linspace(0.0, 5.0, 40)
    motion = integrator.start(system, state)
    states = [motion.advance(t) for t in times]
    follower = integrator.start(system, state)
    parts = [follower.follow(t) for t in (2.0, 2.0, 5.0)]
    for pieces in parts:
        inside = (times >= pieces.t0) & (times <= pieces.t1)
        for found, name in zip(pieces.at(times[inside]), "qva", strict=True):
            wanted = np.array([getattr(s, name) for s in states])[inside].reshape(found.shape)
            np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12 * max(np.abs(wanted).max(initial=1), 1))
    assert sum(len(p.event_times()) for p in parts) == motion.statistics()["events"]
    assert parts[0].steps().min() >= 0.0
    q, v, a = parts[0].at(1.0)
    assert q.shape == v.shape == a.shape == (2, 2)


def test_pieces_join_without_a_gap(orbit):
    system, integrator, state = orbit
    pieces = integrator.start(system, state).follow(3.0)
    for dof in (2, 3):
        k = pieces.of_dof(dof)
        tau = np.diff(pieces.time[k])
        arrive = pieces.q[k][:-1] + tau * (pieces.v[k][:-1] + 0.5 * tau * pieces.a[k][:-1])
        assert len(k) > 100
        assert np.abs(arrive - pieces.q[k][1:]).max() < 1e-13
        assert np.abs(pieces.v[k][:-1] + tau * pieces.a[k][:-1] - pieces.v[k][1:]).max() < 1e-11


def test_times_outside_the_pieces_are_refused(orbit):
    system, integrator, state = orbit
    pieces = integrator.start(system, state).follow(1.0)
    with pytest.raises(ValueError, match=r"from 0 s to 1 s; wanted 0.5 s to 2 s"):
        pieces.at([0.5, 2.0])


def test_following_does_not_disturb(orbit):
    system, integrator, state = orbit
    follower, other = integrator.start(system, state), integrator.start(system, state)
    for t in np.linspace(0.1, 20.0, 7):
        follower.follow(t)
    assert np.array_equal(follower.advance(21.0).q, other.advance(21.0).q)


def test_many_pieces_overflow_no_log(orbit):
    system, integrator, state = orbit
    motion = integrator.start(system, state)
    pieces = motion.follow(300.0)
    assert len(pieces.time) > 2**14
    assert len(pieces.event_times()) == motion.statistics()["events"]
