"""Constraints and their penalties: derivatives, multipliers from averages, what is refused."""

import numpy as np
import pytest

import symplex as sx
from symplex.errors import InvalidSystem


class OnParabola(sx.measures.Constraint):
    """A bead on the wire y = x², as a user writes it."""

    def __init__(self, node):
        self.nodes = np.array([[node]], np.int32)

    def value(self, x):
        return x[:, 0, 1] - x[:, 0, 0] ** 2

    def gradient(self, x):
        return np.stack([-2.0 * x[:, :, 0], np.ones(x.shape[:2])], axis=2)

    def hessian(self, x):
        return np.tile([[-2.0, 0.0], [0.0, 0.0]], (len(x), 1, 1))


class Volume(sx.measures.Constraint):
    """Tetrahedra of fixed volume: cubic, on stencils of four nodes."""

    def __init__(self, cells, volume):
        self.nodes = np.asarray(cells, np.int32)
        self.volume = volume

    def value(self, x):
        return np.linalg.det(x[:, 1:] - x[:, :1]) / 6.0 - self.volume

    def gradient(self, x):
        a, b, c = (x[:, i] - x[:, 0] for i in (1, 2, 3))
        sides = np.stack([np.cross(b, c), np.cross(c, a), np.cross(a, b)], axis=1) / 6.0
        return np.concatenate([-sides.sum(axis=1, keepdims=True), sides], axis=1)

    def hessian(self, x):
        # The gradient is quadratic: differences of it over any distance are exact.
        flat = x.reshape(len(x), -1)
        out = np.empty((len(x), 12, 12))
        for j, e in enumerate(np.eye(12)):
            ahead, behind = ((flat + s * e).reshape(x.shape) for s in (1.0, -1.0))
            out[:, :, j] = 0.5 * (self.gradient(ahead) - self.gradient(behind)).reshape(len(x), -1)
        return out

    def third(self, x, a):
        return self.gradient(x + a) + self.gradient(x - a) - 2.0 * self.gradient(x)


def rods():
    q = np.random.default_rng(0).standard_normal((5, 3))
    return sx.measures.RigidBars([[0, 1], [1, 2], [4, 1], [3, 0]], [1.0, 0.7, 2.0, 1.1]), q


CASES = {
    "rods": rods,
    "rods in the plane": lambda: (rods()[0], rods()[1][:, :2]),
    "plane": lambda: (sx.measures.OnPlane([0, 3], (0.1, 0.2, 0.3), (1.0, 2.0, -2.0)), rods()[1]),
    "sphere": lambda: (sx.measures.OnSphere([1, 2], (0.1, 0.2, 0.3), [0.5, 2.0]), rods()[1]),
    "cylinder": lambda: (sx.measures.OnCylinder([1, 2], (0.1, 0.2, 0.3), (1.0, 2.0, -1.0), [0.5, 2.0]), rods()[1]),
    "parabola": lambda: (OnParabola(2), rods()[1][:, :2]),
    "volume": lambda: (Volume([[0, 1, 2, 3], [1, 3, 2, 4]], 0.4), rods()[1]),
}


@pytest.fixture(params=CASES)
def case(request):
    constraint, q = CASES[request.param]()
    return constraint, np.ascontiguousarray(q)


def slopes(function, x, s=1e-5):
    """∂function/∂x [c, ..., k·dim] by central differences."""
    flat, columns = x.reshape(len(x), -1), []
    for e in np.eye(flat.shape[1]):
        ahead, behind = ((flat + sign * s * e).reshape(x.shape) for sign in (1.0, -1.0))
        columns.append((function(ahead) - function(behind)) / (2.0 * s))
    return np.stack(columns, axis=-1)


def test_derivatives_of_constraints(case):
    constraint, q = case
    x = q[constraint.nodes]
    flat = len(x), -1
    np.testing.assert_allclose(constraint.gradient(x).reshape(flat), slopes(constraint.value, x), atol=1e-8)
    hessian = slopes(lambda at: constraint.gradient(at).reshape(flat), x)
    np.testing.assert_allclose(constraint.hessian(x), hessian, atol=1e-8)


def test_assembled_forms_are_the_local_ones(case):
    constraint, q = case
    c, k = constraint.nodes.shape
    values, gradients = np.empty(c), np.empty((c * k, q.shape[1]))
    constraint.write_values(q, values)
    constraint.write_gradients(q, gradients)
    np.testing.assert_allclose(values, constraint.value(q[constraint.nodes]), atol=1e-15)
    np.testing.assert_allclose(gradients.reshape(c, k, -1), constraint.gradient(q[constraint.nodes]), atol=1e-15)


def test_discrete_gradients_of_constraints(case):
    constraint, q = case
    x0 = q[constraint.nodes]
    x1 = (q + 0.3 * np.random.default_rng(1).standard_normal(q.shape))[constraint.nodes]
    found = np.einsum("cai,cai->c", constraint.discrete_gradient(x0, x1), x1 - x0)
    np.testing.assert_allclose(found, constraint.value(x1) - constraint.value(x0), atol=1e-14)
    slope = slopes(lambda at: constraint.discrete_gradient(x0, at).reshape(len(x0), -1), x1)
    np.testing.assert_allclose(constraint.discrete_hessian(x0, x1), slope, atol=1e-8)


def test_derivatives_of_penalties(case):
    constraint, q = case
    energy = sx.Penalty(constraint, np.linspace(2.0, 3.0, len(constraint.nodes)))
    x = q[energy.nodes]
    flat = len(x), -1
    np.testing.assert_allclose(energy.gradient(x).reshape(flat), slopes(energy.value, x), rtol=1e-6, atol=1e-6)
    slope = slopes(lambda at: energy.gradient(at).reshape(flat), x)
    np.testing.assert_allclose(energy.hessian(x), slope, rtol=1e-6, atol=1e-6)


def test_discrete_gradients_of_penalties(case):
    constraint, q = case
    energy = sx.Penalty(constraint, 3.0)
    x0 = q[energy.nodes]
    x1 = (q + 0.3 * np.random.default_rng(1).standard_normal(q.shape))[energy.nodes]
    found = np.einsum("cai,cai->c", energy.discrete_gradient(x0, x1), x1 - x0)
    np.testing.assert_allclose(found, energy.value(x1) - energy.value(x0), atol=1e-12)
    slope = slopes(lambda at: energy.discrete_gradient(x0, at).reshape(len(x0), -1), x1)
    np.testing.assert_allclose(energy.discrete_hessian(x0, x1), slope, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", [name for name in CASES if name != "parabola"])
def test_third_derivatives_of_penalties(name):
    constraint, q = CASES[name]()
    energy = sx.Penalty(constraint, 3.0)
    x = q[energy.nodes]
    a, s = np.random.default_rng(2).standard_normal(x.shape), 1e-4
    along = (energy.hessian(x + s * a) - energy.hessian(x - s * a)) / (2.0 * s)
    expected = np.einsum("cij,cj->ci", along, a.reshape(len(x), -1)).reshape(x.shape)
    np.testing.assert_allclose(energy.third(x, a), expected, rtol=1e-6, atol=1e-5)


def test_a_constraint_without_third_derivative_says_so():
    constraint, q = CASES["parabola"]()
    x = q[constraint.nodes]
    assert not sx.Penalty(constraint, 1.0).has("third")
    assert sx.Penalty(rods()[0], 1.0).has("third")
    with pytest.raises(InvalidSystem, match="OnParabola has no third derivative"):
        sx.Penalty(constraint, 1.0).third(x, x)


def test_penalised_rods_are_springs_of_greens_strain():
    constraint, q = rods()
    stiffness = np.array([1.0, 2.0, 3.0, 4.0])
    ours = sx.Penalty(constraint, stiffness)
    theirs = sx.Bars(constraint.nodes, sx.measures.GreenStrain(stiffness, constraint.length))
    assert ours.total(q) == pytest.approx(theirs.total(q), rel=1e-14)
    np.testing.assert_allclose(ours.gradient(q[ours.nodes]), theirs.gradient(q[ours.nodes]), atol=1e-13)
    # The paper's φ = ½ω²(|d|² − L²)².
    d = q[constraint.nodes[:, 1]] - q[constraint.nodes[:, 0]]
    excess = np.sum(d**2, axis=1) - constraint.length**2
    paper = sx.Penalty(constraint, 4.0 * constraint.length**2 * 20.0**2)
    np.testing.assert_allclose(paper.value(q[paper.nodes]), 0.5 * 20.0**2 * excess**2)


def test_a_penalty_is_an_energy_like_others():
    """Energy-momentum conserves energy and both momenta of a free, penalised linkage."""
    q = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0]])
    bars = sx.measures.RigidBars([[0, 1], [1, 2]], 1.0)
    system = sx.System(np.array([1.0, 2.0, 3.0]), {"bars": sx.Penalty(bars, 1e4)})
    start = system.state(q, np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 0.0], [0.5, 0.0, 0.0]]))
    run = sx.record(system, sx.EnergyMomentum(0.05), start, 0.05 * np.arange(201))
    for values in (run.energies["total"], run.angular_momentum, run.momentum):
        assert np.abs(values - values[0]).max() < 1e-12
    assert np.abs(run.q[-1] - q).max() > 0.5


def test_windows_average_swings_away():
    bars = sx.measures.RigidBars([[0, 1]], 2.0)
    penalty = sx.Penalty(bars, 10.0)
    t = np.linspace(0.0, 1.0, 2001)
    # g = −(1 + t)/10 and a fast swing, as lengths.
    g = -(1.0 + t) / 10.0 + 0.05 * np.sin(2.0 * np.pi * 50.0 * t)
    q = np.zeros((len(t), 2, 1))
    q[:, 1, 0] = np.sqrt(4.0 * g + 4.0)
    times, multipliers = penalty.averaged_multipliers(t, q, 0.1)
    assert times[0] == pytest.approx(0.05)
    assert times[-1] == pytest.approx(0.95)
    np.testing.assert_allclose(multipliers[:, 0], 1.0 + times, atol=1e-4)
    assert np.abs(penalty.multipliers(q[5]) - 1.0).max() > 0.1
    assert bars.tensions(multipliers)[0, 0] == pytest.approx(-1.05, abs=1e-4)
    for width in (1e-4, 1.5):
        with pytest.raises(InvalidSystem, match="a window of"):
            penalty.averaged_multipliers(t, q, width)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: sx.measures.RigidBars([[0, 1], [2, 2]], 1.0), "pair 1 joins node 2 with itself"),
        (lambda: sx.measures.RigidBars([[0, 1, 2], [1, 2, 3]], 1.0), r"have shape \(2, 3\), expected \[m, 2\]"),
        (lambda: sx.measures.RigidBars.between(np.eye(3), [[0, 3]]), "refers to nodes 0 to 3, but there are 3"),
        (lambda: sx.measures.RigidBars([[0, 1], [1, 2]], [1.0, -2.0]), "number 1 is -2.0 m"),
        (lambda: sx.measures.RigidBars([[0, 1], [1, 2]], [1.0, 1.0, 1.0]), "expected one number or 2"),
        (lambda: sx.measures.RigidBars.between(np.zeros((2, 3)), [[0, 1]]), "number 0 is 0.0 m"),
        (lambda: sx.measures.OnSphere([0], (0, 0, 0), np.nan), "radius must be positive"),
        (lambda: sx.measures.OnPlane([0], (0, 0, 0), (0, 0, 0)), "normal must be finite and not zero"),
        (lambda: sx.measures.OnPlane([-1], (0, 0, 0), (0, 0, 1)), "nodes must be indices"),
        (lambda: sx.Penalty(sx.measures.RigidBars([[0, 1]], 1.0), 0.0), "stiffness must be positive; the least is 0.0"),
        (lambda: sx.Penalty(sx.measures.RigidBars([[0, 1]], 1.0), [1.0, 2.0]), "expected one or 1 numbers"),
    ],
)
def test_what_is_no_constraint(make, text):
    with pytest.raises(InvalidSystem, match=text):
        make()
