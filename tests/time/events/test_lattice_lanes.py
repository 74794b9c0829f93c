"""The two earliest meetings of a dof, in vectors, against one root after the other."""

import math

import numpy as np
import pytest
from numba import njit

from symplex.time.events import lattice_lanes
from symplex.time.events.lattice_lanes import LANES, earliest_meetings
from symplex.time.events.lattice_tracks import ACCEL, FIXED, FRACTION, LAYERS, RATE, START

TIE = 1e-9


def _earliest(star, tracks, gaps, numbers, places):
    layer, i, other, dim = places
    t, fraction, rate, accel, lower, upper, slack = numbers
    return earliest_meetings(  # pyright: ignore[reportCallIssue]
        star.ctypes.data, len(star), tracks.ctypes.data, gaps.ctypes.data,
        layer, t, fraction, rate, accel, lower, upper, i, other, dim, slack,
    )  # fmt: skip


@pytest.fixture(scope="module", params=[1, 2])
def earliest(request):
    """Compile it for a number of nodes that are looked at at once; two is what processors with AVX-512 take."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lattice_lanes, "_NODES", request.param)
        compiled = njit(error_model="numpy")(_earliest)
        compiled(np.zeros(0, np.uint32), np.zeros((1, 4, LANES)), np.zeros(0, np.int8), (1.0,) * 7, (0,) * 4)
        compiled.disable_compile()
    return compiled


def _root(e, rate, accel):
    """The first time at which e + rate τ + accel τ²/2 leaves e ≥ 0."""
    e = max(e, 0.0)
    square = rate * rate - 2.0 * accel * e
    if rate < 0.0:
        return 2.0 * e / (-rate + math.sqrt(square)) if square >= 0.0 else math.inf
    return (rate + math.sqrt(square)) / -accel if accel < 0.0 else math.inf


def _one_by_one(star, tracks, gaps, numbers, places):
    layer, i, other, dim = places
    t, fraction, rate, accel, lower, upper, slack = numbers
    found, tied = [(lower, -2), (upper, -1)], False
    layers = tracks.reshape(len(tracks), -1).view(np.int8)[:, LAYERS:]
    for k, node in enumerate(star.tolist()):
        for c in range(dim):
            j, (f, w, a, start) = LANES * node + c, tracks[node, :, c]
            if j == i or f == FIXED:
                continue
            behind = np.int8(layers[node, c] - layer - gaps[LANES * k + c]) > 0
            side, tau = -1.0 if behind else 1.0, t - start
            e = side * (f + tau * (w + 0.5 * tau * a) - fraction)
            found.append((_root(e, side * (w + tau * a - rate), side * (a - accel)), LANES * k + c))
            tied |= e <= slack and j != other
    (first, a), (second, b) = sorted(found)[:2]
    return first, second, a, b, tied


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_earliest_meetings(dim, earliest):
    rng = np.random.default_rng(dim)
    ties = equal = 0
    for case in range(400):
        size = int(rng.integers(0, 20))
        tracks, layer = np.zeros((30, 4, LANES)), int(rng.integers(-128, 128))
        tracks[:, FRACTION], tracks[:, START] = rng.random((30, LANES)), rng.uniform(-1.0, 0.0, (30, LANES))
        tracks[:, RATE], tracks[:, ACCEL] = rng.normal(scale=0.1, size=(2, 30, LANES))
        tracks[rng.random(30) < 0.2, FRACTION, 0] = FIXED
        tracks[:, START, LANES - 1] = 1.0
        star, i = rng.permutation(30)[:size].astype(np.uint32), LANES * int(rng.integers(30))
        if case % 3 == 0:  # all nodes alike: their times are equal, and the first of them counts
            tracks[:] = tracks[:1]
        tracks.reshape(30, -1).view(np.int8)[:, LAYERS : LAYERS + dim] = np.int64(layer).astype(np.int8)
        fraction, rate, accel = rng.random(), *rng.normal(scale=0.1, size=2)
        if case % 5 == 0 and size:  # on one of them
            fraction = tracks[star[0], FRACTION, 0]
            tracks[star[0], START, 0] = 0.0
        now = tracks[:, FRACTION] - tracks[:, START] * (tracks[:, RATE] - 0.5 * tracks[:, START] * tracks[:, ACCEL])
        gaps = np.where(now[star] < fraction, -1, 0).astype(np.int8).ravel()  # f_j < f_i: behind
        lower, upper = rng.choice([math.inf, 0.5, 3.0], 2)
        arguments = (
            *(star, tracks, gaps, (0.0, fraction, rate, accel, lower, upper, TIE)),
            (layer, i, LANES * int(rng.integers(30)), dim),
        )
        found, expected = earliest(*arguments), _one_by_one(*arguments)
        np.testing.assert_allclose(found[:2], expected[:2], rtol=1e-9)
        assert found[2:] == expected[2:]
        ties += expected[4]
        equal += expected[0] == expected[1] < math.inf
    assert ties > 20
    assert equal > 5
