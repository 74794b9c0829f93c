"""Force-stepping on mirrored (parity-invariant) triangulations, and the list of parabolas that a motion is.

Fig. 4 of the paper has three triangulations of the plane: a plain one and two that keep the parity of V. There are
three of squares with one diagonal each whose neighbours are copies or mirror images of each other across all lines of
a direction: copies in both directions, mirror images in both, mirror images in one.
"""

import itertools

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from symplex.contact.obstacles import HalfSpace
from symplex.contact.rigid import RigidContact
from symplex.errors import InvalidSystem, StepFailed
from symplex.fem.measures.bars import Bars, EngineeringStrain, InverseDistance, LennardJones, all_pairs
from symplex.fem.system import System
from symplex.time.events.force_stepping import ForceStepping


def simplices(low, mirrored):
    """Return the simplices [d!, d + 1, d] of the unit cell at the integer point low: from one of its corners on.

    In directions that are mirrored [d] that corner is even, in others it is the lower one.
    """
    d = len(low)
    corner = np.where(mirrored, 2.0 * np.ceil(low / 2.0), low)
    away = np.where(corner == low, 1.0, -1.0)
    for order in itertools.permutations(range(d)):
        vertices = np.repeat(corner[None], d + 1, axis=0)
        for k, axis in enumerate(order):
            vertices[k + 1 :, axis] += away[axis]
        yield vertices


def simplex_at(z, mirrored):
    """Return the vertices of the simplex that holds the point z."""

    def least_coordinate(simplex):
        return np.linalg.solve(np.vstack([simplex.T, np.ones(len(simplex))]), np.append(z, 1)).min()

    return max(simplices(np.floor(z), mirrored), key=least_coordinate)


def motion_in_simplices(system, state, h, until, mirrored=True, offset=0.0):
    """Follow the motion under the interpolated potential with barycentric coordinates, without any of its structure."""
    shape, m = state.q.shape, np.repeat(system.mass, system.dim)
    mirrored, offset = (np.broadcast_to(x, shape).ravel() for x in (mirrored, offset))
    z, w, t = state.q.ravel() / h - offset, state.v.ravel() / h, 0.0
    vertices, steps, inside = simplex_at(z, mirrored), 0, 1e-7
    while True:
        bary = np.linalg.inv(np.vstack([vertices.T, np.ones(len(vertices))]))
        V = np.array([system.potential((h * (u + offset)).reshape(shape)) for u in vertices])
        accel = -(V @ bary)[:-1] / (m * h**2)
        c, b, a = bary @ np.append(z, 1), bary @ np.append(w, 0), bary @ np.append(accel, 0)
        roots = np.array([_leaving(*numbers) for numbers in zip(c, b, a, strict=True)])
        tau = min(roots.min(), until - t)
        z, w, t = z + tau * (w + 0.5 * tau * accel), w + tau * accel, t + tau
        if t >= until:
            return h * (z + offset).reshape(shape), h * w.reshape(shape), steps
        steps += 1
        vertices = simplex_at(z + inside * w / np.abs(w).max(), mirrored)


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


BOTH, ACROSS, AROUND = {"mirrored": True}, {"mirrored": (True, False)}, {"mirrored": True, "offset": (1.0, 0.0)}


@pytest.mark.parametrize(
    ("dim", "until", "seed", "lattice"),
    [
        (1, 4.0, 0, BOTH),
        (1, 4.0, 1, BOTH),
        (2, 2.0, 2, BOTH),
        (2, 2.0, 3, BOTH),
        (2, 2.0, 2, ACROSS),
        (2, 2.0, 3, ACROSS),
        (2, 2.0, 4, {"mirrored": (False, True), "offset": (0.3, 0.0)}),
        (2, 2.0, 5, AROUND),
        (2, 2.0, 6, {"mirrored": False}),
        (3, 0.35, 9, {"mirrored": (True, False, True)}),
    ],
    ids=str,
)
def test_follows_the_motion_in_the_simplices(dim, until, seed, lattice):
    rng = np.random.default_rng(seed)
    system = pair(dim)
    q = np.array([[0.3, 0.2, 0.1], [1.1, 0.4, 0.2]])[:, :dim] + 0.1 * rng.random((2, dim))
    state = system.state(q, -0.5 * rng.random((2, dim)))
    motion = ForceStepping(0.05, **lattice).start(system, state)
    end = motion.advance(until)
    q1, v1, steps = motion_in_simplices(system, state, 0.05, until, lattice["mirrored"], motion.offset)
    assert steps > 40
    assert motion.statistics()["events"] == steps
    assert np.abs(end.q - q1).max() < 1e-9
    assert np.abs(end.v - v1).max() < 1e-8


@pytest.fixture(params=[BOTH, AROUND, ACROSS], ids=["both", "around", "across"])
def lattice(request):
    return request.param


def cluster():
    system = System(np.ones(4), {"lj": Bars(all_pairs(4), LennardJones(1.0, 1.0), dim=2)}, dim=2)
    q = np.array([[0.05, 0.02], [1.1, 0.1], [0.03, 1.12], [1.07, 1.2]])
    return system, system.state(q, [[0.3, 0.1], [-0.2, 0.25], [0.1, -0.4], [-0.15, 0.05]])


@pytest.mark.parametrize(
    ("lattice", "kept"),
    [
        (BOTH, (True, True, True)),
        (AROUND, (True, True, True)),
        (ACROSS, (True, False, False)),
        ({"offset": 0.0}, (False, False, True)),
        ({"seed": 1}, (False, False, False)),
    ],
    ids=str,
)
def test_a_reflected_start_gives_the_reflected_motion(lattice, kept):
    """In x, in y, and in both: the inversion, which copies keep as well if a vertex is in the origin."""
    system, state = cluster()
    for mirror, invariant in zip(([-1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]), kept, strict=True):
        reflected = system.state(mirror * state.q, mirror * state.v)
        here, there = (ForceStepping(0.02, **lattice).start(system, s).advance(0.5) for s in (state, reflected))
        difference = np.abs(mirror * here.q - there.q).max()
        assert difference < 1e-11 if invariant else difference > 1e-6


@pytest.mark.parametrize(
    ("lattice", "rows"),
    [
        ({"offset": 0.0}, [[1, 1, 1, 1], [1, 1, 1, 1]] * 2),
        (BOTH, [[0, 1, 0, 1], [1, 0, 1, 0]] * 2),
        (AROUND, [[1, 0, 1, 0], [0, 1, 0, 1]] * 2),
        (ACROSS | {"offset": 0.0}, [[1, 0, 1, 0], [1, 0, 1, 0]] * 2),
        (ACROSS | {"offset": (1.0, 0.0)}, [[0, 1, 0, 1], [0, 1, 0, 1]] * 2),
    ],
    ids=str,
)
def test_the_diagonals_about_the_origin_are_those_of_the_triangulation(lattice, rows):
    """V_h in the middle of a cell is the mean of V at the ends of its diagonal."""
    origin = System(
        np.ones(2), {"pole": Bars([[0, 1]], InverseDistance(1.0), dim=2)}, dim=2, fixed=[[True] * 2, [False] * 2]
    )
    far = np.array([7.3, 4.1])
    motion = ForceStepping(1.0, **lattice).start(origin, origin.state([far, [0.3, 0.4]]))

    def rises(x, y):
        corners = np.array([[x, y], [x + 1, y + 1], [x, y + 1], [x + 1, y]], float)
        up, down = (-0.5 * np.sum(1.0 / np.linalg.norm(far - ends, axis=1)) for ends in (corners[:2], corners[2:]))
        middle = motion.lattice_potential(np.array([far, [x + 0.5, y + 0.5]]))
        assert min(abs(middle - up), abs(middle - down)) < 1e-12 < abs(up - down)
        return bool(abs(middle - up) < abs(middle - down))

    found = [[rises(x, y) for x in (-2, -1, 0, 1)] for y in (1, 0, -1, -2)]
    np.testing.assert_array_equal(found, np.array(rows, bool))


def test_energy_is_kept_and_the_motion_comes_back(lattice):
    system, state = cluster()
    motion = ForceStepping(0.02, **lattice).start(system, state)
    before = motion.energies(state)["lattice_total"]
    end = motion.advance(4.0)
    assert motion.energies(end)["lattice_total"] == pytest.approx(before, abs=1e-12)
    assert abs(motion.energies(end)["total"] - before) > 1e-6
    back = ForceStepping(0.02, **lattice).start(system, end.reversed()).advance(8.0)
    assert np.abs(back.q - state.q).max() < 1e-8


def test_a_resumed_motion_is_bit_identical(lattice):
    system, state = cluster()
    integrator = ForceStepping(0.02, **lattice)
    motion = integrator.start(system, state)
    motion.advance(0.7)
    stored = motion.checkpoint()
    resumed = integrator.resume(system, stored)
    assert np.array_equal(resumed.advance(2.0).q, motion.advance(2.0).q)
    other = ForceStepping(0.02, mirrored=(False, True))
    with pytest.raises(InvalidSystem, match="on another lattice: its mirrored is another"):
        other.resume(system, stored)


def test_mirroring_is_told_by_true_and_false():
    for wrong in (1, "x", None, (), (True, 0)):
        with pytest.raises((InvalidSystem, ValueError), match=r"mirrored must be True or False.*(, got|; it is) "):
            ForceStepping(0.1, mirrored=wrong)
    assert ForceStepping(0.1, mirrored=[True, False]) == ForceStepping(0.1, mirrored=(True, False))
    system, state = cluster()
    with pytest.raises(InvalidSystem, match=r"the mirroring of force-stepping has shape \(3,\); expected a number"):
        ForceStepping(0.1, mirrored=(True, False, True)).start(system, state)


@pytest.mark.parametrize("mirrored", [False, True, (True, False)])
def test_a_start_on_the_mirrors_is_refused_and_a_random_offset_helps(mirrored):
    """Two masses on the same planes fly alike: they cross all planes at once."""
    system = System(np.ones(2), {"spring": Bars([[0, 1]], EngineeringStrain(3.0, 1.0), dim=2)}, dim=2)
    alike = system.state([[0.0, 0.0], [1.0, 0.0]], [[1.0, 1.0], [1.0, 1.0]])
    with pytest.raises(StepFailed, match=r'makes no progress .* another lattice offset \(offset = "random"\)'):
        ForceStepping(0.1, offset=0.0, mirrored=mirrored).start(system, alike).advance(5.0)
    motion = ForceStepping(0.1, offset="random", mirrored=mirrored).start(system, alike)
    before = motion.energies(alike)["lattice_total"]
    assert motion.energies(motion.advance(5.0))["lattice_total"] == pytest.approx(before, abs=1e-12)
    assert len(np.unique(motion.offset)) == 4


def test_the_step_is_symplectic(lattice):
    system, state = cluster()
    integrator = ForceStepping(0.02, mirrored=lattice["mirrored"], offset=np.random.default_rng(1).random((4, 2)))
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


@pytest.mark.slow
def test_converges_with_order_three_halves(lattice):
    system, state = cluster()

    def rate(_, y):
        q, v = y.reshape(2, *state.q.shape)
        return np.concatenate([v.ravel(), -system.gradient(q).ravel()])

    exact = solve_ivp(rate, (0, 3), np.concatenate([state.q, state.v]).ravel(), "DOP853", rtol=1e-12, atol=1e-13)
    q = exact.y[:8, -1].reshape(4, 2)

    def error(h):
        runs = (ForceStepping(h, mirrored=lattice["mirrored"], offset=offset) for offset in offsets)
        return np.mean([np.abs(run.start(system, state).advance(3.0).q - q).max() for run in runs])

    offsets = np.random.default_rng(2).random((24, 4, 2))
    assert np.log(error(0.01) / error(0.000625)) / np.log(16) == pytest.approx(ForceStepping.order, abs=0.25)


def test_slopes_add_up_to_the_accelerations(lattice):
    system, state = cluster()
    motion = ForceStepping(0.02, **lattice).start(system, state)
    now = motion.advance(0.33)
    forces = np.zeros((4, 2))
    np.add.at(forces, system.energies["lj"].nodes, -motion.gradient(system.energies["lj"], now))
    np.testing.assert_allclose(forces, now.a, atol=1e-10)


@pytest.mark.parametrize(("dim", "mirrored"), [(1, True), (2, (True, False)), (2, False)])
def test_crossings_of_pairs_that_share_no_energy_are_counted(dim, mirrored):
    """Two particles that do not interact are one system of one that visits every simplex."""
    wall = RigidContact([0, 1], HalfSpace(np.zeros(dim), np.eye(dim)[0]), 50.0)
    apart = System(np.ones(2), {"wall": wall}, dim=dim)
    state = apart.state(
        np.array([[0.31, 0.2], [0.523, 0.77]])[:, :dim], np.array([[-1.0, -0.6], [-0.7, 0.83]])[:, :dim]
    )
    motion = ForceStepping(0.05, mirrored=mirrored, count_crossings=True).start(apart, state)
    motion.advance(2.0)
    found = motion.statistics()
    assert found["other_crossings"] > 10
    assert found["crossings"] == motion_in_simplices(apart, state, 0.05, 2.0, mirrored, motion.offset)[2]


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
            expected = np.array([getattr(s, name) for s in states])[inside].reshape(found.shape)
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * max(np.abs(expected).max(initial=1), 1))
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
    with pytest.raises(ValueError, match=r"from 0 s to 1 s; expected 0.5 s to 2 s"):
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
