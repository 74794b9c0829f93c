"""The discrete stress of neo-Hookean tetrahedra: exact work at every size of increment, both momenta, the tangent."""

from decimal import Decimal, localcontext

import numpy as np
import pytest
from numba import njit

from symplex.errors import InvalidSystem, InvertedElement
from symplex.fem.assembly import blocks
from symplex.fem.assembly.pattern import Pattern, scatter_blocks
from symplex.fem.compiled import logarithm, threads
from symplex.fem.solids.materials import NeoHookean
from symplex.fem.solids.solid import Solid
from symplex.meshes.generate import box
from symplex.testing import round_off

ALUMINIUM = NeoHookean(60.5e9, 26e9, 2700.0)
INCREMENTS = [0.5, 0.1, 1e-3, 1e-6, 1e-9, 1e-12, 1e-15]  # relative to the size of an element
LENGTH = 0.05


@pytest.fixture(scope="module")
def solid():
    mesh = box((0.1, 0.1, 0.2), (2, 1, 2))
    return Solid(mesh.points, mesh.cells["tetra"], ALUMINIUM)


def two_positions(solid, increment):
    """Deformed positions, and others that differ by an increment relative to the size of an element; none inverted."""
    rng = np.random.default_rng(0)
    q0 = solid.points + 0.05 * LENGTH * rng.standard_normal(solid.points.shape)
    direction = 0.2 * rng.uniform(-1.0, 1.0, q0.shape) + 0.8 * (q0 - q0.mean(axis=0)) / 0.1
    return q0, q0 + increment * LENGTH * direction


def exact_energy(X, x, material):
    """φ of one tetrahedron in 60 digits."""
    with localcontext() as context:
        context.prec = 60

        def exact(array):
            return [[Decimal(float(c)) for c in row] for row in array]

        def determinant(E):
            return sum(
                E[0][i] * (E[1][(i + 1) % 3] * E[2][(i + 2) % 3] - E[1][(i + 2) % 3] * E[2][(i + 1) % 3])
                for i in range(3)
            )

        X, x = exact(X), exact(x)
        E = [[X[a][i] - X[0][i] for i in range(3)] for a in (1, 2, 3)]
        d = [[x[a][i] - x[0][i] for i in range(3)] for a in (1, 2, 3)]
        D = determinant(E)
        cofactors = [
            [
                E[(a + 1) % 3][(i + 1) % 3] * E[(a + 2) % 3][(i + 2) % 3]
                - E[(a + 1) % 3][(i + 2) % 3] * E[(a + 2) % 3][(i + 1) % 3]
                for i in range(3)
            ]
            for a in range(3)
        ]
        F = [[sum(d[a][i] * cofactors[a][j] for a in range(3)) / D for j in range(3)] for i in range(3)]
        lnJ = (determinant(d) / D).ln()
        lmbda, mu = Decimal(material.lmbda), Decimal(material.mu)
        return D / 6 * (lmbda / 2 * lnJ**2 - mu * lnJ + mu / 2 * (sum(f * f for row in F for f in row) - 3))


@pytest.mark.parametrize("increment", INCREMENTS)
def test_it_does_the_work_of_the_energy_at_every_increment(solid, increment):
    """To round-off of forces times increments, not only of energies: nothing is divided by an increment."""
    q0, q1 = two_positions(solid, increment)
    for e in range(0, len(solid.nodes), 13):
        x0, x1 = q0[solid.nodes[e]], q1[solid.nodes[e]]
        X = solid.points[solid.nodes[e]]
        # the energy that belongs to the constants of the element as they are rounded is not quite that of the points
        with localcontext() as context:
            context.prec = 60
            expected = exact_energy(X, x1, ALUMINIUM) - exact_energy(X, x0, ALUMINIUM)
            one = Solid(solid.points, solid.nodes[e : e + 1], ALUMINIUM)
            DG = one.discrete_gradient(x0[None], x1[None])[0]
            work = sum(
                Decimal(float(f)) * (Decimal(float(b)) - Decimal(float(a)))
                for f, a, b in zip(DG.ravel(), x0.ravel(), x1.ravel(), strict=True)
            )
            size = np.abs(one.hessian(x0[None])).max() * LENGTH * np.abs(x1 - x0).max()
            assert abs(float(work - expected)) < 2e-15 * size
            assert abs(float(expected)) > 1e-4 * size


@pytest.mark.parametrize("increment", INCREMENTS)
def test_forces_and_moments_at_the_mean_sum_to_zero(solid, increment):
    q0, q1 = two_positions(solid, increment)
    x0, x1 = q0[solid.nodes], q1[solid.nodes]
    DG = solid.discrete_gradient(x0, x1)
    size = np.abs(DG).max()
    mean = 0.5 * (x0 + x1)
    moments = np.cross(mean - mean.mean(axis=1, keepdims=True), DG).sum(axis=1)
    assert np.abs(DG.sum(axis=1)).max() < 1e-15 * size
    assert np.abs(moments).max() < 2e-15 * size * LENGTH


def test_without_increment_it_is_the_gradient(solid):
    x, _ = (q[solid.nodes] for q in two_positions(solid, 0.1))
    gradient, hessian = solid.gradient(x), solid.hessian(x)
    np.testing.assert_allclose(solid.discrete_gradient(x, x), gradient, atol=2e-15 * np.abs(hessian).max() * LENGTH)
    np.testing.assert_allclose(solid.discrete_hessian(x, x), hessian / 2, atol=2e-15 * np.abs(hessian).max())


def test_nothing_changes_when_the_ends_are_exchanged(solid):
    x0, x1 = (q[solid.nodes] for q in two_positions(solid, 0.5))
    np.testing.assert_array_equal(solid.discrete_gradient(x0, x1), solid.discrete_gradient(x1, x0))


def test_it_differs_from_the_gradient_at_the_mean(solid):
    """By second order in the increment: the test of the work would not be passed by the midpoint rule."""
    errors = []
    for increment in (0.1, 0.05):
        x0, x1 = (q[solid.nodes] for q in two_positions(solid, increment))
        errors.append(np.abs(solid.discrete_gradient(x0, x1) - solid.gradient(0.5 * (x0 + x1))).max())
    assert errors[0] > 1e-3 * np.abs(solid.gradient(x0)).max()
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)


@pytest.mark.parametrize("increment", INCREMENTS)
def test_tangent_is_the_slope(solid, increment):
    x0, x1 = (q[solid.nodes] for q in two_positions(solid, increment))
    m = len(x0)
    tangent = solid.discrete_hessian(x0, x1)
    size = np.abs(tangent).max()
    s = 1e-4 * LENGTH
    for j in range(12):
        slope = np.zeros((m, 12))
        for weight, steps in ((8, 1), (-8, -1), (-1, 2), (1, -2)):  # of fourth order
            moved = x1.reshape(m, 12).copy()
            moved[:, j] += steps * s
            slope += weight * solid.discrete_gradient(x0, moved.reshape(m, 4, 3)).reshape(m, 12) / (12 * s)
        np.testing.assert_allclose(tangent[:, :, j], slope, atol=1e-10 * size)
    if increment >= 1e-3:
        assert np.abs(tangent - tangent.transpose(0, 2, 1)).max() > 1e-4 * size


def test_assembled_forms(solid):
    q0, q1 = two_positions(solid, 0.1)
    x0, x1 = q0[solid.nodes], q1[solid.nodes]
    before = np.random.default_rng(1).standard_normal(q0.shape)
    expected, out = before.copy(), before.copy()
    np.add.at(expected, solid.nodes, solid.discrete_gradient(x0, x1))
    solid.add_discrete_gradient(q0, q1, out)
    np.testing.assert_allclose(out, expected, atol=1e-13 * np.abs(expected).max())
    pattern = Pattern(len(q0), [solid.nodes])
    expected, out = pattern.zeros(3), pattern.zeros(3)
    scatter_blocks(solid.discrete_hessian(x0, x1), pattern.slots[0], expected)
    solid.add_discrete_hessian(q0, q1, pattern.slots[0], out)
    solid.add_discrete_hessian(q0, q1, pattern.slots[0], out)
    np.testing.assert_allclose(out, 2 * expected, atol=1e-13 * np.abs(expected).max())


@pytest.mark.usefixtures("always_shared")
def test_results_do_not_depend_on_the_number_of_threads(monkeypatch):
    monkeypatch.setattr(blocks, "SMALLEST_SLAB", 200)
    mesh = box((0.1, 0.5, 0.1), (3, 15, 3), split="6")
    large = Solid(mesh.points, mesh.cells["tetra"], ALUMINIUM)
    assert len(large.elements.blocks.slabs) == 4
    q1 = large.points + 1e-3 * np.random.default_rng(0).standard_normal(large.points.shape)
    pattern = Pattern(len(q1), [large.nodes])
    results = []
    for number in (1, 2, 3):
        monkeypatch.setattr(threads, "count", lambda number=number: number)
        gradient, hessian = np.zeros_like(q1), pattern.zeros(3)
        large.add_discrete_gradient(large.points, q1, gradient)
        large.add_discrete_hessian(large.points, q1, pattern.slots[0], hessian)
        results.append((gradient, hessian))
    for gradient, hessian in results[1:]:
        np.testing.assert_array_equal(gradient, results[0][0])
        np.testing.assert_array_equal(hessian, results[0][1])


@pytest.mark.parametrize("end", [0, 1])
@pytest.mark.parametrize("form", ["gradient", "hessian", "add_gradient", "add_hessian"])
def test_inverted_elements_at_either_end_are_named(solid, end, form):
    q = [solid.points.copy(), solid.points.copy()]
    a, d = solid.nodes[41, [0, 3]]
    q[end][d] = q[end][a] - 0.4 * (q[end][d] - q[end][a])
    first = int(np.flatnonzero(solid.jacobians(q[end]) <= 0)[0])
    slots = np.zeros((len(solid.nodes), 4, 4), np.int32)
    x0, x1 = (p[solid.nodes] for p in q)
    call = {
        "gradient": lambda: solid.discrete_gradient(x0, x1),
        "hessian": lambda: solid.discrete_hessian(x0, x1),
        "add_gradient": lambda: solid.add_discrete_gradient(*q, np.zeros_like(q[0])),
        "add_hessian": lambda: solid.add_discrete_hessian(*q, slots, np.zeros((1, 3, 3))),
    }[form]
    with pytest.raises(InvertedElement, match=rf"element {first} \(nodes .*det F = -") as caught:
        call()
    assert caught.value.element == first
    q[end][d] = np.nan
    x0, x1 = (p[solid.nodes] for p in q)
    with pytest.raises(InvertedElement):
        call()


def test_an_element_turned_over_twice_is_inverted(solid):
    """Both det F0 and det F1 are negative: their product is positive."""
    q = solid.points * [1.0, 1.0, -1.0]
    with pytest.raises(InvertedElement, match=r"element 0 .*det F = -1"):
        solid.discrete_gradient(q[solid.nodes], q[solid.nodes])


def test_shapes_are_checked(solid):
    q = solid.points
    with pytest.raises(InvalidSystem, match="gathered positions"):
        solid.discrete_gradient(q[solid.nodes], q[solid.nodes[:5]])
    with pytest.raises(InvalidSystem, match="array for nodes has shape"):
        solid.add_discrete_gradient(q[:-1], q, np.zeros_like(q))
    with pytest.raises(InvalidSystem, match="gradient has shape"):
        solid.add_discrete_gradient(q, q, np.zeros((3, len(q))).T)
    with pytest.raises(InvalidSystem, match="Hessian has shape"):
        solid.add_discrete_hessian(q, q, np.zeros((len(solid.nodes), 4, 4), np.int32), np.zeros((5, 2, 2)))


@njit(error_model="numpy")
def ratios(s):
    """The quotient of artanh and its derivative at many points."""
    values = np.empty((len(s), 2))
    for i in range(len(s)):
        values[i] = logarithm.artanh_ratio(s[i])
    return values


def test_quotient_of_logarithms_and_its_slope():
    near = (3 - 2 * np.sqrt(2)) * (1 + np.linspace(-1e-3, 1e-3, 21))  # where the formula changes
    s = np.concatenate([[0.0], 10.0 ** np.arange(-300, -1), np.linspace(1e-3, 0.999, 999), near])
    for sign in (1, -1):
        found = ratios(sign * s)
        exact = s.astype(np.longdouble)
        with np.errstate(invalid="ignore"):
            expected = np.where(s < 1e-6, 1 + exact**2 / 3, np.arctanh(exact) / exact)
            series = sum(2 * k / np.longdouble(2 * k + 1) * exact ** (2 * k - 1) for k in range(1, 8))
            slope = np.where(s < 0.01, series, (1 / (1 - exact**2) - expected) / exact)
        np.testing.assert_allclose(found[:, 0], expected.astype(float), rtol=round_off.of(1.0))
        np.testing.assert_allclose(found[:, 1], sign * slope.astype(float), rtol=1e-13)
