"""Contact pairs of all regions, and degenerate ones: derivatives, and exact discrete gradients."""

import numpy as np
import pytest

from reference.pair_samples import increments, sample
from symplex.contact.closest import closest
from symplex.contact.laws import LAWS
from symplex.contact.pair_energy import PairEnergy, nearest
from symplex.fem.compiled.vectors import Vec3
from symplex.testing import round_off

MANY = 20000


def size(array):
    """The largest entry of each pair's."""
    return np.abs(array).reshape(len(array), -1).max(axis=1)


def differences(function, x, s=1e-6):
    """The derivatives [m, …, 12] of a function of positions x [m, 4, 3], by central differences."""
    columns = []
    for k in range(12):
        d = np.zeros((len(x), 12))
        d[:, k] = s
        d = d.reshape(x.shape)
        columns.append((function(x + d) - function(x - d)).reshape(len(x), -1) / (2.0 * s))
    return np.stack(columns, axis=-1)


@pytest.fixture(scope="module", params=LAWS)
def pairs(request):
    return sample(2000, request.param)


def assert_slopes(found, expected, scale, most=1e-6):
    """Nearly all agree; a few pairs change their region, or come to the end of the law, within the differences."""
    error = size(found - expected) / scale
    assert np.quantile(error, 0.99) < most
    assert np.quantile(error, 0.5) < 1e-8


def test_all_regions_are_there(pairs):
    c, distances = pairs.nearest(pairs.x)
    for edge_edge, counts in ((0, {1, 2, 3}), (1, {2, 3, 4})):
        zeros = (c[pairs.record.edge_edge == edge_edge] != 0.0).sum(axis=1)
        assert set(zeros - (1 - edge_edge)) == counts
    assert 0.1 < np.mean(distances < pairs.record.reach) < 0.95


def test_coefficients_sum_to_zero_and_are_of_points_of_both(pairs):
    c, distances = pairs.nearest(pairs.x)
    np.testing.assert_allclose(c.sum(axis=1), 0.0, atol=round_off.of(1.0))
    np.testing.assert_allclose(np.linalg.norm(np.einsum("ma,mai->mi", c, pairs.x), axis=1), distances, rtol=1e-12)
    assert (c[:, 0] >= 0.0).all()
    assert (c[:, 2:] <= 0.0).all()


@pytest.mark.parametrize("degenerate", [False, True])
def test_no_other_points_are_nearer(degenerate):
    tried = sample(4000, degenerate=degenerate, seed=3)
    _, distances = tried.nearest(tried.x)
    rng = np.random.default_rng(4)
    edge_edge = tried.record.edge_edge == 1
    for _ in range(200):
        u, v = rng.choice([0.0, 1.0, rng.random()]), rng.choice([0.0, 1.0, rng.random()])
        barycentric = rng.dirichlet([0.5] * 3)
        c = np.where(edge_edge[:, None], [1.0 - u, u, v - 1.0, -v], [1.0, *-barycentric])
        other = np.linalg.norm(np.einsum("ma,mai->mi", c, tried.x), axis=1)
        assert (distances <= other * (1.0 + 1e-12) + 1e-10).all()


@pytest.mark.parametrize("degenerate", [False, True])
def test_a_pair_has_the_same_bits_whichever_are_beside_it(degenerate):
    """Eight are looked at at once, of one kind; what is nearest is as one by one, and as without vectors nearly."""
    tried = sample(203, "penalty", degenerate=degenerate)
    c, distances = tried.nearest(tried.x)
    gradient = tried.gradient(tried.x)
    for order in (np.arange(203)[::-1], np.argsort(tried.record.edge_edge, kind="stable")):
        turned = PairEnergy(tried.surface, tried.record.chosen(order))
        of_turned = nearest(tried.x.reshape(-1, 3), turned.record)
        np.testing.assert_array_equal(of_turned[0], c[order])
        np.testing.assert_array_equal(of_turned[1], distances[order])
        np.testing.assert_array_equal(turned.gradient(tried.x[order]), gradient[order])
    if not degenerate:
        for e, x in enumerate(tried.x):
            s, alone = closest.py_func(tried.record.edge_edge[e], tuple(Vec3(*point) for point in x - x[0]))
            np.testing.assert_allclose(c[e], alone, rtol=0.0, atol=1e-12)
            assert np.array_equal(c[e] == 0.0, np.array(alone) == 0.0)
            assert distances[e] == pytest.approx(s**0.5, rel=1e-11)


def test_gradient_is_the_slope_of_the_value(pairs):
    gradient = pairs.gradient(pairs.x)
    found = differences(lambda x: pairs.value(x)[:, None], pairs.x)[:, 0]
    assert_slopes(gradient.reshape(-1, 12), found, size(gradient) + 1.0)


def test_hessian_is_the_slope_of_the_gradient_and_symmetric(pairs):
    hessian = pairs.hessian(pairs.x)
    assert_slopes(hessian, differences(pairs.gradient, pairs.x), size(hessian) + 1.0)
    np.testing.assert_array_equal(hessian, hessian.swapaxes(1, 2))


def test_third_derivative_is_the_slope_of_the_hessian(pairs):
    a = np.random.default_rng(5).standard_normal(pairs.x.shape)
    third, s = pairs.third(pairs.x, a), 1e-6
    ends = [np.einsum("mij,mj->mi", pairs.hessian(pairs.x + t * a), a.reshape(-1, 12)) for t in (s, -s)]
    assert_slopes(third.reshape(-1, 12), (ends[0] - ends[1]) / (2.0 * s), size(third) + 1.0)


def test_secant_form_gives_the_gradient_with_its_rate(pairs):
    v = np.random.default_rng(6).standard_normal(pairs.x.shape)
    secant, gradient = pairs.secant(pairs.x), pairs.gradient(pairs.x)
    # Both round nearest points by themselves, the worse the more parallel edges are, and the nearer
    # their distance is to either end of the law.
    edges = pairs.record.edge_edge[:, None] == 1
    x = pairs.x.swapaxes(0, 1)
    a, b = np.where(edges, x[1] - x[0], x[2] - x[1]), np.where(edges, x[3] - x[2], x[3] - x[1])
    tilt = np.einsum("mi,mi,mj,mj->m", a, a, b, b) / (np.cross(a, b) ** 2).sum(axis=1)
    gap = pairs.nearest(pairs.x)[1]
    near = 1.0 + size(pairs.x) / np.minimum(gap, abs(pairs.record.reach - gap))
    assert (size(secant @ pairs.x - gradient) <= 2e-15 * tilt * near * size(secant) * size(pairs.x)).all()
    np.testing.assert_array_equal(secant, secant.swapaxes(1, 2))
    assert (size(secant.sum(axis=2)) <= 1e-15 * size(secant)).all()
    rate, s = pairs.secant_rate(pairs.x, v), 1e-6
    slope = (pairs.secant(pairs.x + s * v) - pairs.secant(pairs.x - s * v)) / (2.0 * s)
    assert_slopes(rate, slope, size(rate) + 1.0)


# -- the discrete gradient --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=[(law, kind) for law in LAWS for kind in ("general", "degenerate")], ids=str)
def step(request):
    law, kind = request.param
    pairs = sample(MANY, law, degenerate=kind == "degenerate", seed=7)
    x1 = increments(pairs.x)
    if kind == "degenerate":  # and end so as well, somewhere else
        other = sample(MANY, law, degenerate=True, seed=8).x
        far = np.random.default_rng(9).random(MANY) < 0.3
        x1[far] = other[far]
    # Where edges meet a barrier is infinite, and where it is nearly so all its digits are rounding of the gap.
    near = np.minimum(pairs.nearest(pairs.x)[1], pairs.nearest(x1)[1]) < 1e-3
    x0 = pairs.x
    x0[near], x1[near] = x0[near] + [[0.0, 0.0, 9.0], *[[0.0] * 3] * 3], x1[near] + [[0.0, 0.0, 9.0], *[[0.0] * 3] * 3]
    return pairs, x0, x1


def known(pairs, x0, x1):
    """The energies and forces of which parts in 1e16 are rounding: those without the mollifier.

    It divides by a threshold that may be a thousandth of the edges, and c = αβ − γ² is a difference of these.
    """
    plain = pairs.replace(parallel=np.zeros(len(x0)))
    forces = size(plain.gradient(x0)) + size(plain.gradient(x1))
    return plain.value(x0) + plain.value(x1) + forces, forces


def test_it_does_the_work_of_the_energy(step):
    pairs, x0, x1 = step
    forces, before, after = pairs.discrete_gradient(x0, x1), pairs.value(x0), pairs.value(x1)
    work = np.einsum("mai,mai->m", forces, x1 - x0)
    assert np.mean((before > 0.0) != (after > 0.0)) > 0.01  # some come, some go
    error = np.abs(work - (after - before))
    assert (error <= 1e-10 * known(pairs, x0, x1)[0]).all()
    assert np.quantile(error / (known(pairs, x0, x1)[0] + 1e-300), 0.99) < 1e-14


def test_it_does_so_where_edges_become_parallel_exactly():
    """The second edge turns about one of its points: nearest points of parallel edges are as many as one likes."""
    pairs = sample(8, "penalty").replace(edge_edge=np.ones(8, np.uint8), parallel=np.zeros(8))
    parallel, crossed = np.zeros((2, 8, 4, 3))
    for k, (ahead, about) in enumerate(zip(np.linspace(-0.25, 0.25, 8), np.linspace(0.25, 0.75, 8), strict=True)):
        centre, along = np.array([ahead + about, 0.0, 0.7]), np.array([np.cos(0.3), np.sin(0.3), 0.0])
        parallel[k] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [ahead, 0.0, 0.75], [ahead + 1.0, 0.0, 0.75]]
        crossed[k] = [*parallel[k, :2], centre - about * along, centre + (1.0 - about) * along]
    change = pairs.value(crossed) - pairs.value(parallel)
    for x0, x1, expected in ((parallel, crossed, change), (crossed, parallel, -change)):
        work = np.einsum("mai,mai->m", pairs.discrete_gradient(x0, x1), x1 - x0)
        np.testing.assert_allclose(work, expected, rtol=1e-13)


def test_it_has_no_resultant_and_no_moment_about_the_midpoints(step):
    pairs, x0, x1 = step
    forces, middle = pairs.discrete_gradient(x0, x1), 0.5 * (x0 + x1)
    assert (size(forces.sum(axis=1)) <= 1e-15 * size(forces)).all()
    scale = (size(forces) + known(pairs, x0, x1)[0]) * (1.0 + size(middle)) + 1e-300
    moments = size(np.cross(middle, forces).sum(axis=1)) / scale
    assert moments.max() < 1e-12
    assert np.quantile(moments, 0.99) < 1e-14


def test_it_is_symmetric_in_both_ends(step):
    pairs, x0, x1 = step
    there, back = pairs.discrete_gradient(x0, x1), pairs.discrete_gradient(x1, x0)
    error = size(there - back) / (size(there) + known(pairs, x0, x1)[1] + 1e-300)
    assert error.max() < 1e-12


def test_increments_are_as_exact_far_away(pairs):
    """Only differences of positions, of their compensation and of the increment are looked at."""
    x, rng = np.round(2.0**20 * pairs.x) / 2.0**20, np.random.default_rng(13)
    low, dx = 1e-12 * rng.standard_normal(x.shape), 1e-7 * rng.standard_normal(x.shape)
    near = pairs.increment_gradient(x, low, dx)
    expected = pairs.discrete_gradient(x + low, x + low + dx)
    np.testing.assert_allclose(near, expected, atol=1e-7 * np.abs(expected).max())
    np.testing.assert_array_equal(pairs.increment_gradient(x + 2.0**20, low, dx), near)


@pytest.mark.parametrize("law", LAWS)
def test_tangent_is_the_slope_of_the_discrete_gradient(law):
    pairs = sample(2000, law, seed=10)
    rng = np.random.default_rng(11)
    x1 = pairs.x + rng.standard_normal(pairs.x.shape) * 10.0 ** rng.uniform(-4, 0.3, (2000, 1, 1))
    c0, c1 = pairs.nearest(pairs.x)[0] != 0.0, pairs.nearest(x1)[0] != 0.0
    assert np.mean((c0 != c1).any(axis=1)) > 0.1  # nearest parts change in many of the steps
    tangent = pairs.discrete_hessian(pairs.x, x1)
    expected = differences(lambda x: pairs.discrete_gradient(pairs.x, x), x1)
    assert_slopes(tangent, expected, size(tangent) + 1.0)


def test_tangent_of_no_increment_is_half_the_hessian(pairs):
    tangent, hessian = pairs.discrete_hessian(pairs.x, pairs.x), pairs.hessian(pairs.x)
    # Round-off ε |x| of p, relative to |p|, times the terms of the Hessian, which grow with 1/|p|; ten times that.
    near = (
        10.0
        * np.finfo(float).eps
        * pairs.record.stiffness
        * pairs.record.reach
        * size(pairs.x)
        / pairs.nearest(pairs.x)[1] ** 2
    )
    assert (size(tangent - 0.5 * hessian) <= 1e-12 * (size(hessian) + 1.0) + near).all()


def test_pairs_that_are_apart_at_both_ends_have_no_share():
    pairs = sample(2000, reach=0.3, seed=12)
    x1 = increments(pairs.x)
    apart = (pairs.nearest(pairs.x)[1] > 0.3) & (pairs.nearest(x1)[1] > 0.3)
    assert apart.mean() > 0.3
    assert not pairs.discrete_gradient(pairs.x, x1)[apart].any()
    assert not pairs.discrete_hessian(pairs.x, x1)[apart].any()
