"""Frames: what is reported of them, their accelerations as rigid bodies, moments, and what is refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

import symplex as sx
from symplex.errors import InvalidSystem
from symplex.fem.structures.frames import Frames
from symplex.fem.structures.moments import Moment

rng = np.random.default_rng(5)
POINTS = rng.standard_normal((9, 3))
NODES = np.array([[0, 2, 4, 6], [1, 3, 5, 7]])
MASS = rng.uniform(1.0, 2.0, 9)


def system(**options):
    return sx.System(MASS, {}, frames=Frames(NODES, POINTS), **options)


def test_centres_velocities_and_rotations():
    frames = Frames(NODES, POINTS)
    turn = Rotation.from_rotvec([0.3, -0.5, 1.2]).as_matrix()
    q = POINTS @ turn.T + [1.0, 2.0, 3.0]
    assert_allclose(frames.centers(q), frames.centers(POINTS) @ turn.T + [1.0, 2.0, 3.0])
    assert_allclose(frames.rotations(POINTS, q), [turn, turn], atol=1e-13)
    v = frames.velocities(q, [0.1, 0.2, 0.3], [[1.0, 0.0, 0.0], [0.0, 2.0, 0.0]])
    assert_allclose(frames.centers(v), np.tile([0.1, 0.2, 0.3], (2, 1)))
    assert_allclose(
        frames.rods.gradient(q[frames.rods.nodes]).reshape(12, 6) * v[frames.rods.nodes].reshape(12, 6) @ np.ones(6),
        0.0,
        atol=1e-14,
    )
    assert not v[8].any()
    assert frames.distortion(q) < 1e-14


def test_accelerations_are_those_of_rigid_bodies():
    """Of Newton's and Euler's equations; and of another node by itself."""
    found = system(loads={"push": lambda t, q, v: np.broadcast_to([[1.0, 2.0, 3.0]], q.shape) * np.arange(9)[:, None]})
    v = found.frames.velocities(POINTS, [0.1, 0.2, 0.3], [0.5, 0.2, -1.0])
    a = found.state(POINTS, v).a
    force = found.force(0.0, POINTS, v)
    assert_allclose(a[8], force[8] / MASS[8])
    for nodes in NODES:
        m, x, w, b, f = MASS[nodes, None], POINTS[nodes], v[nodes], a[nodes], force[nodes]
        assert_allclose((m * b).sum(axis=0), f.sum(axis=0))
        assert_allclose(np.cross(x, m * b).sum(axis=0), np.cross(x, f).sum(axis=0))
        for i in range(4):  # distances stay: d·ä + |ḋ|² = 0
            d, rate, bend = x - x[i], w - w[i], b - b[i]
            assert_allclose((d * bend).sum(axis=1), -(rate**2).sum(axis=1), atol=1e-13)


def test_a_moment_has_no_resultant_and_does_the_work_of_small_rotations():
    moment = Moment(NODES, MASS, [[1.0, 2.0, 3.0], [0.0, 0.0, 1.0]], ([0.0, 2.0], [0.0, 2.0]))
    f = moment(0.5, POINTS, 0.0 * POINTS)
    for nodes, expected in zip(NODES, ([0.5, 1.0, 1.5], [0.0, 0.0, 0.5]), strict=True):
        assert_allclose(f[nodes].sum(axis=0), 0.0, atol=1e-14)
        assert_allclose(np.cross(POINTS[nodes], f[nodes]).sum(axis=0), expected, atol=1e-14)
    assert not f[8].any()


def test_the_derivative_of_moments():
    moment, x = Moment(NODES, MASS, [1.0, 2.0, 3.0]), POINTS[NODES]
    found, by_velocity = moment.derivatives(0.0, x, 0.0 * x)
    assert not by_velocity.any()
    for i in range(12):
        step = np.zeros(12)
        step[i] = 1e-6
        ahead, behind = (moment(0.0, scattered(x + sign * step.reshape(4, 3)), 0.0 * POINTS) for sign in (1.0, -1.0))
        assert_allclose(found[:, :, i], (ahead - behind)[NODES].reshape(2, 12) / 2e-6, atol=1e-8)


def test_a_rod_is_a_frame_of_two_particles():
    """Next to one of four: its centre, rotations, velocities and accelerations, of which none is about its axis."""
    frames = Frames([[0, 2, 4, 6], [1, 3, 1, 3]], POINTS)
    assert frames.is_rod.tolist() == [False, True]
    assert len(frames.rods.nodes) == 7
    assert_allclose(frames.centers(POINTS)[1], POINTS[[1, 3]].mean(axis=0))
    turn = Rotation.from_rotvec([0.3, -0.5, 1.2]).as_matrix()
    q = POINTS @ turn.T
    found = frames.rotations(POINTS, q)
    assert_allclose(found[0], turn, atol=1e-13)
    d0, d = POINTS[3] - POINTS[1], q[3] - q[1]
    assert_allclose(found[1] @ d0, d, atol=1e-13)
    assert_allclose(found[1] @ found[1].T, np.eye(3), atol=1e-14)
    assert_allclose(np.trace(found[1]) - 1.0, 2.0 * d @ d0 / (d0 @ d0))  # no rotation beyond that of the direction
    opposite = POINTS.copy()
    opposite[[1, 3]] = POINTS[[3, 1]]
    assert_allclose(frames.rotations(POINTS, opposite)[1] @ d0, -d0, atol=1e-13)
    assert frames.distortion(q) < 1e-14
    found = sx.System(MASS, {}, frames=frames, loads={"push": lambda t, q, v: q**2 + 1.0})
    v = frames.velocities(POINTS, [0.1, 0.2, 0.3], [0.5, 0.2, -1.0])
    a, force = found.state(POINTS, v).a, POINTS**2 + 1.0
    m, x, d, rate, bend = MASS[[1, 3], None], POINTS[[1, 3]], d0, v[3] - v[1], a[3] - a[1]
    assert_allclose((m * a[[1, 3]]).sum(axis=0), force[[1, 3]].sum(axis=0))
    assert_allclose(np.cross(x, m * a[[1, 3]]).sum(axis=0), np.cross(x, force[[1, 3]]).sum(axis=0))
    assert_allclose(d @ bend, -rate @ rate)
    left = frames.resultants(found, force, POINTS)
    assert_allclose(left[[1, 3]].sum(axis=0), force[[1, 3]].sum(axis=0))
    assert_allclose(np.cross(x, left[[1, 3]]).sum(axis=0), np.cross(x, force[[1, 3]]).sum(axis=0))
    assert np.array_equal(left[[5, 7, 8]], force[[5, 7, 8]])


def test_a_moment_on_two_particles_has_no_part_along_their_line():
    moment, x = Moment([[0, 3]], MASS, [1.0, 2.0, 3.0]), POINTS[[0, 3]]
    f, d = moment(0.0, POINTS, 0.0 * POINTS)[[0, 3]], (POINTS[3] - POINTS[0]) / np.linalg.norm(POINTS[3] - POINTS[0])
    assert_allclose(f.sum(axis=0), 0.0, atol=1e-14)
    assert_allclose(np.cross(x, f).sum(axis=0), [1.0, 2.0, 3.0] - d @ [1.0, 2.0, 3.0] * d, atol=1e-13)
    found = moment.derivatives(0.0, x[None], 0.0 * x[None])[0][0]
    for i in range(6):
        q = np.stack([POINTS, POINTS])
        q[0, [0, 3]] += 1e-6 * np.eye(6)[i].reshape(2, 3)
        q[1, [0, 3]] -= 1e-6 * np.eye(6)[i].reshape(2, 3)
        ahead, behind = (moment(0.0, one, 0.0 * one)[[0, 3]].ravel() for one in q)
        assert_allclose(found[:, i], (ahead - behind) / 2e-6, atol=1e-8)


def scattered(x):
    q = POINTS.copy()
    q[NODES] = x
    return q


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Frames([[0, 1, 2]], POINTS), r"nodes must have shape \(f, 4\) or \(f, 2\), got \(1, 3\)"),
        (lambda: Frames([[0, 1], [2, 0]], POINTS), "a particle must be in one frame only"),
        (
            lambda: Frames([[0, 1], [2, 3]], 0.0 * POINTS[:4] + [[0.0], [1.0], [2.0], [2.0]]),
            "both particles of frame 1",
        ),
        (lambda: Frames([[0, 1, 2, 3], [3, 4, 5, 6]], POINTS), "a particle must be in one frame only"),
        (lambda: Frames([[0, 1, 2, 9]], POINTS), "there are 9 nodes"),
        (lambda: Frames(NODES, POINTS * [1.0, 1.0, 0.0]), "particles of frame 0 must not be in a plane"),
        (lambda: Frames(NODES, POINTS, np.zeros((2, 3), bool)), r"held must have shape \(2, 6\), got \(2, 3\)"),
        (lambda: system(fixed=np.arange(9)[:, None] == [0, 0, 0]), "of frame 0 some are"),
        (lambda: Moment([[0, 1, 2]], MASS, [1.0, 0.0, 0.0]), r"particles must have shape \(k, 4\) or \(k, 2\)"),
        (lambda: Moment([[0, 0]], MASS, [1.0, 0.0, 0.0]), "particles of a frame must be different ones"),
        (lambda: Moment(NODES, 0.0 * MASS, [1.0, 0.0, 0.0]), "masses of particles must be positive and finite"),
        (lambda: Moment(NODES, MASS, [1.0, 0.0]), r"moment must be finite, of shape \(3,\) or \(2, 3\)"),
    ],
)
def test_what_is_wrong_is_refused(make, message):
    with pytest.raises(InvalidSystem, match=message):
        make()
