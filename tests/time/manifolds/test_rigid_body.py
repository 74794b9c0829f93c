"""Rigid bodies: methods on SO(3) and relaxed ones, their orders and what they keep (Tao and Owhadi 2014, 4.5)."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipj

from symplex.errors import InvalidSystem, StepFailed
from symplex.testing import round_off
from symplex.time.manifolds.manifold import ComposedMethod
from symplex.time.manifolds.rigid_body import (
    BodyPotential,
    BodyState,
    RelaxedBody,
    RelaxedState,
    RigidBody,
    UniformField,
)
from symplex.time.manifolds.rigid_body_methods import BodyCayley, BodyZhangSkeel, cayley
from symplex.time.manifolds.sphere import hat

FIELD = np.array([0.0, 0.6, 0.8])
INERTIA = np.array([[2.0, 0.2, 0.1], [0.2, 1.5, -0.1], [0.1, -0.1, 1.2]])
UNIFORM = UniformField(1.3, (0.0, 0.6, 0.8), (0.48, 0.6, 0.64))
TOP = RigidBody(INERTIA, UNIFORM)
START = TOP.state(cayley(np.array([0.3, 0.2, -0.5])), (1.0, 0.2, 0.4))
RELAXED = RelaxedBody(TOP, 10.0)


class Cup(BodyPotential):
    """A potential that is not linear, without symmetry, whose second derivatives are left to differences."""

    def value(self, R):
        return float(0.5 * R[0, 0] ** 2 + 0.3 * R[1, 2] * R[2, 1] + 0.2 * R[2, 0] ** 3)

    def gradient(self, R):
        g = np.zeros((3, 3))
        g[0, 0], g[1, 2], g[2, 1], g[2, 0] = R[0, 0], 0.3 * R[2, 1], 0.3 * R[1, 2], 0.6 * R[2, 0] ** 2
        return g


def last(method, system, state, t, steps):
    *_, end = method.march(system, state, t / steps, steps, every=steps)
    return end


def reference(body, state, t):
    """R and Π at the time t by a Runge-Kutta method with very small steps."""

    def rate(_, y):
        R, Pi = y[:9].reshape(3, 3), y[9:]
        omega = body.inverse_inertia @ Pi
        return np.concatenate([(R @ hat(omega)).ravel(), np.cross(Pi, omega) + body.torque(R)])

    start = np.concatenate([state.R.ravel(), state.Pi])
    return solve_ivp(rate, (0.0, t), start, method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1]


def orders(errors):
    return np.log2(np.array(errors[:-1]) / errors[1:])


# -- on the group -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("body", [TOP, RigidBody(INERTIA, Cup())], ids=["top", "no symmetry"])
@pytest.mark.parametrize(
    ("method", "tolerance"),
    [(BodyCayley("euler"), 0.12), (BodyCayley(), 0.06), (ComposedMethod(BodyCayley(), 4), 0.15)],
)
def test_methods_on_the_group_have_their_order(body, method, tolerance):
    exact = reference(body, START, 2.0)
    ends = [last(method, body, START, 2.0, steps) for steps in (20, 40, 80)]
    errors = [np.linalg.norm(np.concatenate([end.R.ravel(), end.Pi]) - exact) for end in ends]
    np.testing.assert_allclose(orders(errors), method.order, atol=tolerance)


def test_a_free_asymmetric_body_turns_as_jacobis_functions_say():
    moments = np.array([1.0, 2.0, 2.8])
    body = RigidBody(moments)
    omega = np.array([0.9, 0.0, 1.1])
    energy, squared = float(moments @ omega**2), float(moments**2 @ omega**2)  # 2 T and |Π|²
    a, b, c = moments
    # Landau and Lifshitz, Mechanics, § 37, for Π² > 2 T I₂.
    assert squared > energy * b
    s = np.sqrt((c - b) * (squared - energy * a) / (a * b * c))
    m = (b - a) * (energy * c - squared) / ((c - b) * (squared - energy * a))
    t = 3.0
    sn, cn, dn, _ = ellipj(s * t, m)
    exact = np.array(
        [
            np.sqrt((energy * c - squared) / (a * (c - a))) * cn,
            np.sqrt((energy * c - squared) / (b * (c - b))) * sn,
            np.sqrt((squared - energy * a) / (c * (c - a))) * dn,
        ]
    )
    start = body.state(omega=omega)
    coarse, fine = (body.omega(last(ComposedMethod(BodyCayley(), 6), body, start, t, n)) for n in (30, 60))
    assert np.abs(fine - exact).max() < 1e-7
    assert np.abs(coarse - exact).max() / np.abs(fine - exact).max() == pytest.approx(64.0, rel=0.3)


def test_a_body_about_a_principal_axis_turns_by_two_arctangents():
    body = RigidBody([1.0, 2.0, 2.5])
    start = body.state(omega=(0.0, 0.0, 3.0))
    h, steps = 0.5, 7
    xi = 3.0
    for _ in range(50):  # (1 + h² ξ²/4) ξ = Ω
        xi -= ((1.0 + h * h * xi * xi / 4.0) * xi - 3.0) / (1.0 + 0.75 * h * h * xi * xi)
    angle = steps * 2.0 * np.arctan(h * xi / 2.0)
    end = last(BodyCayley(), body, start, steps * h, steps)
    np.testing.assert_allclose(end.R[0, :2], [np.cos(angle), -np.sin(angle)], atol=1e-13)


@pytest.mark.parametrize("quadrature", ["euler", "trapezoidal"])
def test_rotations_and_momenta_stay_over_many_steps(quadrature):
    free = RigidBody(INERTIA)
    method = BodyCayley(quadrature)
    for body, along in ((free, np.eye(3)), (TOP, FIELD[None])):
        end = last(method, body, START, 40.0, 400)
        np.testing.assert_allclose(
            along @ body.angular_momentum(end), along @ body.angular_momentum(START), rtol=0.0, atol=1e-13
        )
        assert np.abs(end.R.T @ end.R - np.eye(3)).max() < round_off.of(1.0)
        assert abs(body.energies_of(end)["total"] - body.energies_of(START)["total"]) < 0.1
    assert np.linalg.norm(TOP.angular_momentum(end) - TOP.angular_momentum(START)) > 0.1  # across the field


def test_the_papers_recursion():
    """Eq. 34 for J = I, in its own variables: Ω of the steps."""
    body = RigidBody(1.0, UniformField(1.0))
    h, omega = 0.1, np.array([1.0, 0.2, 0.1])
    R = np.eye(3)
    state = BodyState(0.0, R, (1.0 + 0.25 * h * h * omega @ omega) * omega)
    for _ in range(20):
        expected = (1.0 + 0.25 * h * h * omega @ omega) * omega + h * np.cross(R.T[:, 2], [0.0, 0.0, 1.0])
        for _ in range(60):
            omega = expected / (1.0 + 0.25 * h * h * omega @ omega)
        R = R @ cayley(h * omega)
        state = BodyCayley("euler").step(body, state, h)
        np.testing.assert_allclose(state.R, R, atol=1e-14)


def test_methods_on_the_group_are_reversible():
    there = last(BodyCayley(), TOP, START, 5.0, 50)
    back = last(BodyCayley(), TOP, replace(there.reversed(), t=0.0), 5.0, 50)
    np.testing.assert_allclose(back.R, START.R, atol=1e-13)
    np.testing.assert_allclose(back.Pi, -START.Pi, atol=1e-13)
    there = last(BodyCayley("euler"), TOP, START, 5.0, 50)
    back = last(BodyCayley("euler"), TOP, replace(there.reversed(), t=0.0), 5.0, 50)
    assert np.abs(back.R - START.R).max() > 1e-3


@pytest.mark.parametrize("quadrature", ["euler", "trapezoidal"])
def test_steps_on_the_group_are_symplectic(quadrature):
    """In canonical coordinates: x of R = R0 cay(x) and its momentum p = (∂Ω/∂ẋ)ᵀ Π."""

    def body_of(y, at):
        x, p = y[:3], y[3:]
        to_omega = (np.eye(3) - 0.5 * hat(x)) / (1.0 + 0.25 * x @ x)  # Ω of ẋ
        return BodyState(0.0, at @ cayley(x), np.linalg.solve(to_omega.T, p))

    def canonical(state, at):
        turned = at.T @ state.R
        x = 2.0 * np.array([turned[2, 1] - turned[1, 2], turned[0, 2] - turned[2, 0], turned[1, 0] - turned[0, 1]])
        x /= 1.0 + np.trace(turned)
        return np.concatenate([x, ((np.eye(3) - 0.5 * hat(x)) / (1.0 + 0.25 * x @ x)).T @ state.Pi])

    method = BodyCayley(quadrature)
    at = START.R
    then = method.step(TOP, START, 0.3).R

    def flow(y):
        return canonical(method.step(TOP, body_of(y, at), 0.3), then)

    y = canonical(START, at)
    e = 1e-5
    jacobian = np.array([(flow(y + e * d) - flow(y - e * d)) / (2.0 * e) for d in np.eye(6)]).T
    form = np.kron([[0.0, 1.0], [-1.0, 0.0]], np.eye(3))
    np.testing.assert_allclose(jacobian.T @ form @ jacobian, form, atol=2e-9)


def test_there_is_a_step_of_any_size():
    """F(ξ)·ξ > 0 for the equation F(ξ) = Π of a step, which by Brouwer has a root whatever its size."""
    body = RigidBody([1.0, 2.0, 2.9])
    for angle in np.linspace(0.0, np.pi, 20):
        state = body.state(omega=40.0 * np.array([np.cos(angle), 0.3, np.sin(angle)]))
        end = BodyCayley().step(body, state, 1.0)
        np.testing.assert_allclose(body.angular_momentum(end), body.angular_momentum(state), rtol=1e-13, atol=1e-12)


# -- relaxed ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "tolerance"),
    [(BodyZhangSkeel(quadrature="euler"), 0.1), (BodyZhangSkeel(), 0.06)],
)
def test_relaxed_methods_have_their_order(method, tolerance):
    start = RELAXED.state(START)
    exact = last(ComposedMethod(BodyZhangSkeel(), 6), RELAXED, start, 1.0, 100).R
    errors = [np.linalg.norm(last(method, RELAXED, start, 1.0, n).R - exact) for n in (100, 200, 400)]
    np.testing.assert_allclose(orders(errors), method.order, atol=tolerance)


def test_the_relaxed_body_is_the_body_as_the_penalty_grows():
    exact = reference(TOP, START, 1.0)[:9].reshape(3, 3)
    off = []
    for omega in (20.0, 40.0, 80.0):
        body = RelaxedBody(TOP, omega)
        off.append(np.linalg.norm(last(BodyZhangSkeel(), body, body.state(START), 1.0, 800).R - exact))
    np.testing.assert_allclose(orders(off), 2.0, atol=0.3)


@pytest.mark.parametrize("quadrature", ["euler", "trapezoidal"])
def test_relaxed_steps_are_symplectic(quadrature):
    start = RELAXED.state(START)
    shaken = 0.01 * np.random.default_rng(0).standard_normal(18)
    y = np.concatenate([start.R.ravel(), start.P.ravel()]) + shaken

    def flow(y):
        state = RelaxedState(0.0, y[:9].reshape(3, 3), y[9:].reshape(3, 3))
        end = BodyZhangSkeel(quadrature=quadrature).step(RELAXED, state, 0.1)
        return np.concatenate([end.R.ravel(), end.P.ravel()])

    jacobian = np.array([(flow(y + 1e-5 * d) - flow(y - 1e-5 * d)) / 2e-5 for d in np.eye(18)]).T
    form = np.kron([[0.0, 1.0], [-1.0, 0.0]], np.eye(9))
    np.testing.assert_allclose(jacobian.T @ form @ jacobian, form, atol=2e-8)


def test_relaxed_steps_keep_the_momentum_about_the_field_and_come_back():
    start = RELAXED.state(START)
    end = last(BodyZhangSkeel(), RELAXED, start, 20.0, 400)
    kept = FIELD @ RELAXED.angular_momentum(start)
    assert FIELD @ RELAXED.angular_momentum(end) == pytest.approx(kept, abs=1e-13)
    assert kept == pytest.approx(FIELD @ TOP.angular_momentum(START), abs=1e-14)
    assert abs(RELAXED.energies_of(end)["total"] - RELAXED.energies_of(start)["total"]) < 0.02
    assert 1e-4 < RELAXED.off_rotation(end) < 0.1
    back = last(BodyZhangSkeel(), RELAXED, replace(end.reversed(), t=0.0), 20.0, 400)
    np.testing.assert_allclose(back.R, start.R, atol=1e-9)


def test_relaxed_steps_are_stable_from_a_quarter_on():
    body = RelaxedBody(RigidBody(1.0), 100.0)  # oscillates with √8 ω: hω = 14 to 28
    ball = body.body.state()
    stretched = RelaxedState(0.0, np.diag([1.0 + 1e-6, 1.0, 1.0]), body.state(ball).P)
    for beta, stable in ((0.25, True), (0.5, True), (0.24, False)):
        ends = [body.off_rotation(last(BodyZhangSkeel(beta), body, stretched, h * 200, 200)) for h in (0.05, 0.1)]
        assert (max(ends) < 1e-4) == stable, (beta, ends)


def test_derivatives_of_potentials():
    rng = np.random.default_rng(1)
    R, a = START.R + 0.05 * rng.standard_normal((3, 3)), rng.standard_normal((3, 3))
    for body in (RELAXED, RelaxedBody(RigidBody(INERTIA, Cup()), 3.0)):
        step = 1e-5 * a
        slope = (body.gradient(R + step) - body.gradient(R - step)) / 2e-5
        np.testing.assert_allclose(body.hessian(R, a), slope, atol=2e-6)
        bend = (body.hessian(R + step, a) - body.hessian(R - step, a)) / 2e-5
        np.testing.assert_allclose(body.third(R, a), bend, atol=2e-4)
    for potential in (UNIFORM, Cup()):
        e = 1e-6
        slope = [
            (potential.value(R + e * d) - potential.value(R - e * d)) / (2 * e) for d in np.eye(9).reshape(9, 3, 3)
        ]
        np.testing.assert_allclose(potential.gradient(R).ravel(), slope, atol=1e-8)


# -- mistakes -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: RigidBody([1.0, 1.0, 3.0]), r"no body has the principal moments \[1.0, 1.0, 3.0\] kg m²"),
        (lambda: RigidBody([1.0, -1.0, 1.0]), "must be positive"),
        (lambda: RigidBody([1.0, 2.0]), "a number, three principal moments or a matrix"),
        (lambda: RigidBody(np.arange(9.0).reshape(3, 3)), "finite and symmetric"),
        (lambda: TOP.state(np.diag([1.0, 1.0, -1.0])), "R must be a rotation: .* det R = -1"),
        (lambda: TOP.state(1.01 * np.eye(3)), "RᵀR is off by 2.01e-02"),
        (lambda: TOP.state(omega=(np.nan, 0.0, 0.0)), "Π must be finite"),
        (lambda: TOP.state(omega=(1.0, 0.0)), r"R must be \[3, 3\] and omega \[3\]"),
        (lambda: RelaxedBody(RigidBody([1.0, 2.0, 3.0]), 10.0), "a flat body cannot be relaxed"),
        (lambda: RelaxedBody(TOP, 0.0), "stiffness of a relaxed body must be positive"),
    ],
)
def test_bodies_that_cannot_be(make, text):
    with pytest.raises(InvalidSystem, match=text):
        make()


def test_parameters_that_cannot_be():
    with pytest.raises(ValueError, match="BodyCayley: quadrature must be one of 'euler', 'trapezoidal'"):
        BodyCayley("simpson")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="BodyZhangSkeel: beta must not be negative"):
        BodyZhangSkeel(-0.1)


def test_a_body_pressed_too_much_is_named():
    flat = RelaxedState(1.0, 0.1 * np.eye(3), np.zeros((3, 3)))
    with pytest.raises(StepFailed, match=r"BodyZhangSkeel: at t = 1 s the matrix .* not positive definite"):
        BodyZhangSkeel().step(RELAXED, flat, 0.5)
