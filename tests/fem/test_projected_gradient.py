"""The discrete gradient for any energy: what its contract does not say (order, rigid motions, whole runs)."""

import numpy as np
import pytest

import symplex as sx
from symplex.fem.energies.energy import RIGID, Energy


class Chain(Energy):
    """Angles and lengths of a chain, as a user writes it: ½ k (cos ϑ − c)² + ¼ (l² − 1)², with no more than a gradient.

    ϑ is the angle between the two links of three nodes.
    """

    invariances = RIGID

    def __init__(self, n):
        self.nodes = np.arange(n - 2, dtype=np.int32)[:, None] + np.arange(3, dtype=np.int32)

    def value(self, x):
        u, v = x[:, 1] - x[:, 0], x[:, 2] - x[:, 1]
        uu, vv, uv = (np.einsum("mi,mi->m", a, b) for a, b in ((u, u), (v, v), (u, v)))
        return 2.0 * (uv / np.sqrt(uu * vv) - 0.3) ** 2 + 0.25 * ((uu - 1.0) ** 2 + (vv - 1.0) ** 2)

    def gradient(self, x):
        u, v = x[:, 1] - x[:, 0], x[:, 2] - x[:, 1]
        uu, vv, uv = (np.einsum("mi,mi->m", a, b)[:, None] for a, b in ((u, u), (v, v), (u, v)))
        cosine, lengths = uv / np.sqrt(uu * vv), np.sqrt(uu * vv)
        by_u = 4.0 * (cosine - 0.3) * (v / lengths - cosine * u / uu) + (uu - 1.0) * u
        by_v = 4.0 * (cosine - 0.3) * (u / lengths - cosine * v / vv) + (vv - 1.0) * v
        return np.stack([-by_u, by_u - by_v, by_v], axis=1)


def zigzag(n=6, dim=3):
    q = np.zeros((n, dim))
    q[:, 0] = 0.9 * np.arange(n)
    q[1::2, 1] = 0.6
    return q + 0.05 * np.random.default_rng(4).standard_normal(q.shape)


def test_it_is_the_mean_of_the_gradient_to_second_order():
    energy, x0 = Chain(6), zigzag()[Chain(6).nodes]
    dx = 0.3 * np.random.default_rng(5).standard_normal(x0.shape)
    points, weights = np.polynomial.legendre.leggauss(8)
    errors = []
    for size in (0.1, 0.05, 0.025):
        x1 = x0 + size * dx
        along = zip(points, weights, strict=True)
        mean = sum(0.5 * w * energy.gradient(x0 + 0.5 * (1.0 + p) * size * dx) for p, w in along)
        errors.append(np.abs(energy.discrete_gradient(x0, x1) - mean).max())
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    np.testing.assert_allclose(orders, 2.0, atol=0.15)


@pytest.mark.parametrize("dim", [2, 3])
def test_a_finite_rigid_motion_needs_no_correction(dim):
    energy, q = Chain(6), zigzag(dim=dim)
    turn, _ = np.linalg.qr(np.random.default_rng(6).standard_normal((dim, dim)))
    turn[:, 0] *= np.linalg.det(turn)
    x0, x1 = q[energy.nodes], (q @ turn.T + 0.7)[energy.nodes]
    gradient = energy.gradient(0.5 * (x0 + x1))
    np.testing.assert_allclose(energy.discrete_gradient(x0, x1), gradient, atol=1e-12 * np.abs(gradient).max())


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("method", [sx.EnergyMomentum(0.05), sx.GrahamJelenic(0.05, "energy-momentum")])
@pytest.mark.slow
def test_energy_momentum_runs_on_a_value_and_a_gradient(method, dim):
    system = sx.System(np.linspace(1.0, 2.0, 6), {"chain": Chain(6)}, dim=dim)
    q = zigzag(dim=dim)
    state = system.state(q, 0.5 * np.random.default_rng(7).standard_normal(q.shape))
    motion = method.start(system, state)
    end = motion.advance(100 * 0.05)
    energies = motion.energies(end)
    assert np.abs(end.q - q).max() > 0.3
    assert energies["total"] == pytest.approx(system.energies_of(state)["total"], rel=1e-12)
    np.testing.assert_allclose(system.momentum(end), system.momentum(state), atol=1e-13)
    np.testing.assert_allclose(system.angular_momentum(end), system.angular_momentum(state), atol=1e-12)
    assert motion.statistics().get("corrections", 0) < 100 * 8


def test_a_discrete_gradient_of_ones_own_has_a_tangent():
    class Own(Chain):
        def discrete_gradient(self, x0, x1):
            return Energy.discrete_gradient(self, x0, x1)

    x0 = zigzag()[Chain(6).nodes]
    x1 = x0 + 0.1 * np.random.default_rng(8).standard_normal(x0.shape)
    tangent = Chain(6).discrete_hessian(x0, x1)
    np.testing.assert_allclose(Own(6).discrete_hessian(x0, x1), tangent, atol=1e-7 * np.abs(tangent).max())


def test_no_digits_are_lost_far_from_the_origin():
    """But those that the positions have lost: shifts and turns are still distinguished."""
    energy, q = Chain(6), zigzag()
    x0, x1 = (y[energy.nodes] for y in (q, q + 0.02 * np.random.default_rng(9).standard_normal(q.shape)))
    far, near = energy.discrete_gradient(x0 + 1e6, x1 + 1e6), energy.discrete_gradient(x0, x1)
    np.testing.assert_allclose(far, near, atol=1e-7 * np.abs(near).max())
    assert np.abs(far.sum(axis=1)).max() < 1e-14 * np.abs(far).max()
