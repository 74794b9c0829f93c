"""The spherical pendulum: its potentials, its methods and what they keep, its reduction (Simo and Gonzalez 1993)."""

from dataclasses import dataclass, replace
from itertools import count, pairwise

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.integrate import solve_ivp
from scipy.special import ellipkinc

from papers.planar_pendulum import PlanarMethod, PlanarState, SwingPlane, planar_energies
from symplex.errors import InvalidSystem, StepFailed
from symplex.time.manifolds.manifold import ComposedMethod, ManifoldMethod, solve_increment
from symplex.time.manifolds.sphere import AxialPotential, SpherePotential, SphereState, SphericalPendulum, hat
from symplex.time.manifolds.sphere_form import symplectic_defect, tangent_basis, two_form
from symplex.time.manifolds.sphere_methods import SphereEnergyMomentum, SphereMidpoint, SphereSymplectic

METHODS = {
    "midpoint": SphereMidpoint(),
    "symplectic": SphereSymplectic(),
    "symplectic, geodesic": SphereSymplectic("geodesic"),
    "symplectic, chord": SphereSymplectic("chord"),
    "energy-momentum": SphereEnergyMomentum(),
    "energy-momentum, projected": SphereEnergyMomentum("projected"),
    "energy-momentum, velocity": SphereEnergyMomentum("velocity"),
    "composed": ComposedMethod(SphereEnergyMomentum()),
}
PLANAR = {form: PlanarMethod(form) for form in ("sphere", "plane", "projected", "energy")}
AXIS = np.array([0.2, -0.3, -0.9])
CUBIC = [0.1, 1.0, 0.3, 0.4]  # g of the general axial field
DT = 0.1


class Rugged(SpherePotential):
    """A field without any symmetry, of third degree."""

    def value(self, q):
        x, y, z = q
        return float(z + 1.5 * x**3 + 2.0 * x * y * z - y**3)

    def gradient(self, q):
        x, y, z = q
        return np.array([4.5 * x * x + 2.0 * y * z, 2.0 * x * z - 3.0 * y * y, 1.0 + 2.0 * x * y])


@dataclass
class Wave(SpherePotential):
    """A field that no polynomial is."""

    k: float = 3.0

    def value(self, q):
        return float(np.sin(self.k * q[0]) * np.exp(q[1] - q[2]))

    def gradient(self, q):
        e = np.exp(q[1] - q[2])
        s, c = np.sin(self.k * q[0]), np.cos(self.k * q[0])
        return np.array([self.k * c * e, s * e, -s * e])


def in_cubic_field() -> tuple[SphericalPendulum, SphereState]:
    """A pendulum far from the unit one, that moves in space."""
    pendulum = SphericalPendulum(AxialPotential.polynomial(CUBIC, AXIS), mass=0.7, length=1.3)
    return pendulum, pendulum.state([0.8, 0.0, -0.6], [0.3, 0.9, 0.4])


def in_gravity() -> tuple[SphericalPendulum, SphereState]:
    pendulum = SphericalPendulum.in_gravity(gravity=1.2, mass=0.7, length=1.3)
    return pendulum, pendulum.state([0.8, 0.0, -0.6], [0.3, 0.9, 0.4])


def in_rugged_field() -> tuple[SphericalPendulum, SphereState]:
    pendulum = SphericalPendulum(Rugged())
    return pendulum, pendulum.state([0.8, 0.0, -0.6], [0.3, 0.9, 0.4])


def swinging() -> tuple[SphericalPendulum, SphereState]:
    """A pendulum in the general axial field, without momentum about the axis."""
    pendulum, _ = in_cubic_field()
    gamma = pendulum.potential.direction
    q = np.array([0.8, 0.0, -0.6])
    return pendulum, pendulum.state(q, 1.1 * np.cross(np.cross(gamma, q), q))


def far_away(pendulum, state, t):
    """Return q and π at a time, by a high-order method with tight tolerances (eq. 6)."""

    def rate(_, z):
        q, pi = z[:3], z[3:]
        return np.concatenate([-np.cross(q, pi) / pendulum.inertia, -np.cross(q, pendulum.potential.gradient(q))])

    solution = solve_ivp(rate, (0.0, t), np.r_[state.q, state.pi], method="DOP853", rtol=1e-12, atol=1e-13)
    return solution.y[:, -1]


def last(states):
    *_, end = states
    return end


def total(pendulum, state):
    return pendulum.energies_of(state)["total"]


# -- potentials -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "potential", [AxialPotential.polynomial(CUBIC, AXIS), Rugged(), Wave()], ids=["cubic", "rugged", "wave"]
)
def test_potentials_and_their_derivatives(potential):
    rng = np.random.default_rng(1)
    q0, q1 = (a / np.linalg.norm(a) for a in rng.normal(size=(2, 3)))
    nudges = 1e-5 * np.eye(3)
    slopes = [(potential.value(q0 + e) - potential.value(q0 - e)) / 2e-5 for e in nudges]
    assert np.linalg.norm(potential.gradient(q0)) > 0.1
    np.testing.assert_allclose(potential.gradient(q0), slopes, atol=1e-8)
    sides = [(potential.gradient(q0 + e) - potential.gradient(q0 - e)) / 2e-5 for e in nudges]
    np.testing.assert_allclose(potential.hessian(q0), np.array(sides).T, atol=1e-7)
    G = potential.discrete_gradient
    assert G(q0, q1) @ (q1 - q0) == pytest.approx(potential.value(q1) - potential.value(q0), abs=2e-15 * 20)
    np.testing.assert_allclose(G(q0, q1), G(q1, q0), atol=1e-14)
    np.testing.assert_allclose(G(q0, q0), potential.gradient(q0), atol=1e-14)
    sides = [(G(q0, q1 + e) - G(q0, q1 - e)) / 2e-5 for e in nudges]
    np.testing.assert_allclose(potential.discrete_hessian(q0, q1), np.array(sides).T, atol=1e-7)


def test_the_quotient_has_no_cancellation():
    field = AxialPotential(np.exp, np.exp, np.exp)
    for width in (1e-3, 1e-8, 1e-13, 0.0):
        mean = np.exp(0.3) * np.expm1(width) / width if width else np.exp(0.3)
        assert field.quotient(0.3, 0.3 + width) == pytest.approx(mean, rel=1e-15 * 4)


def test_a_pendulum_in_gravity():
    pendulum = SphericalPendulum.in_gravity(gravity=9.81, mass=2.0, length=0.5, down=(0, 0, -3))
    assert pendulum.inertia == 0.5
    state = pendulum.state([0.0, 0.0, -2.0], [0.3, 0.0, 0.0], t=1.0)
    np.testing.assert_allclose(pendulum.position(state), [0, 0, -0.5])
    np.testing.assert_allclose(pendulum.velocity(state), [0.3, 0, 0])
    np.testing.assert_allclose(state.pi, np.cross(pendulum.position(state), 2.0 * pendulum.velocity(state)))
    energies = pendulum.energies_of(state)
    assert energies["kinetic"] == pytest.approx(0.5 * 2.0 * 0.3**2)
    assert energies["potential"] == pytest.approx(-2.0 * 9.81 * 0.5)
    assert energies["total"] == pytest.approx(energies["kinetic"] + energies["potential"])


def test_it_swings_with_the_period_of_an_ideal_pendulum():
    pendulum = SphericalPendulum.in_gravity(gravity=9.81, length=0.5)
    start = pendulum.state([np.sin(1.0), 0.0, -np.cos(1.0)])
    quarter = ellipkinc(np.pi / 2, np.sin(0.5) ** 2) / np.sqrt(9.81 / 0.5)
    method = ComposedMethod(SphereSymplectic(), order=8)
    end = last(method.march(pendulum, start, quarter / 20, 80))
    np.testing.assert_allclose(end.q, start.q, atol=1e-10)
    np.testing.assert_allclose(end.pi, 0.0, atol=1e-9)
    assert end.t == pytest.approx(4 * quarter)
    # the next step begins where |π| is of the size of round-off, and so is its part along q
    assert method.step(pendulum, replace(end, pi=1e-15 * np.ones(3)), 0.01).q[0] < np.sin(1.0)


# -- the contract of every method -------------------------------------------------------------------------------


@pytest.fixture(params=METHODS, ids=str)
def method(request) -> ManifoldMethod[SphericalPendulum, SphereState]:
    return METHODS[request.param]


def test_declared_order(method):
    pendulum, start = in_cubic_field()
    exact = far_away(pendulum, start, 4.0)
    errors = []
    for steps in (20, 40, 80):
        end = last(method.march(pendulum, start, 4.0 / steps, steps, every=steps))
        assert end.t == 4.0
        errors.append(np.abs(np.r_[end.q, end.pi] - exact).max())
    assert 1e-9 < errors[-1] < errors[0] < 0.2
    np.testing.assert_allclose(np.log2(np.divide(errors[:-1], errors[1:])), method.order, atol=0.1)


def test_conserves_what_it_says_and_nothing_else(method):
    pendulum, start = in_cubic_field()
    gamma = pendulum.potential.direction
    states = list(method.march(pendulum, start, DT, 300))
    drifts = {
        "energy": max(abs(total(pendulum, s) - total(pendulum, start)) for s in states),
        "angular momentum": max(abs((s.pi - start.pi) @ gamma) for s in states),
        "symplectic form": symplectic_defect(method, pendulum, start, DT, steps=3),
    }
    assert abs(start.pi @ gamma) > 0.1
    for name, drift in drifts.items():
        if name in method.conserves:
            assert drift < (1e-10 if name == "symplectic form" else 1e-13), name
        else:
            assert drift > (1e-8 if method.order > 2 else 1e-5), name


def test_stays_on_the_phase_space(method):
    """Lemma 3.1, which holds for the whole family."""
    pendulum, start = in_cubic_field()
    for state in method.march(pendulum, start, DT, 200, every=10):
        assert abs(np.linalg.norm(state.q) - 1.0) < 1e-13
        assert abs(state.q @ state.pi) < 1e-13


def test_comes_back(method):
    pendulum, start = in_cubic_field()
    there = last(method.march(pendulum, start, DT, 100))
    back = last(method.march(pendulum, there.reversed(), DT, 100))
    assert np.abs(there.q - start.q).max() > 0.1
    np.testing.assert_allclose(back.q, start.q, atol=1e-12)
    np.testing.assert_allclose(back.pi, -start.pi, atol=1e-12)
    undone = method.step(pendulum, method.step(pendulum, start, DT), -DT)
    np.testing.assert_allclose(undone.q, start.q, atol=1e-14)


def test_a_motion_does_not_depend_on_where_it_is(method):
    """Equivariance: a turned pendulum in a turned field moves as before, turned."""
    pendulum, start = in_cubic_field()
    R = np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))[0]
    R *= np.linalg.det(R)
    turned = replace(pendulum, potential=AxialPotential.polynomial(CUBIC, R @ pendulum.potential.direction))
    end = last(method.march(pendulum, start, DT, 50))
    other = last(method.march(turned, SphereState(0.0, R @ start.q, R @ start.pi), DT, 50))
    np.testing.assert_allclose(other.q, R @ end.q, atol=1e-13)


@settings(max_examples=25, deadline=None)
@given(
    coefficients=st.lists(st.floats(-2.0, 2.0), min_size=2, max_size=6),
    seed=st.integers(0, 2**32 - 1),
    dt=st.floats(-0.05, 0.05).filter(lambda dt: abs(dt) > 1e-6),
)
def test_a_step_keeps_what_it_should_and_can_be_undone(coefficients, seed, dt):
    rng = np.random.default_rng(seed)
    pendulum = SphericalPendulum(AxialPotential.polynomial(coefficients, rng.normal(size=3)))
    q = rng.normal(size=3)
    start = pendulum.state(q, np.cross(q, rng.normal(size=3)))
    for method in (SphereMidpoint(), SphereSymplectic(), SphereEnergyMomentum(), SphereEnergyMomentum("projected")):
        end = method.step(pendulum, start, dt)
        assert np.linalg.norm(end.q) == pytest.approx(1.0, abs=1e-14)
        assert end.pi @ end.q == pytest.approx(0.0, abs=2e-14)
        assert (end.pi - start.pi) @ pendulum.potential.direction == pytest.approx(0.0, abs=1e-14)
        if "energy" in method.conserves:
            assert total(pendulum, end) == pytest.approx(total(pendulum, start), abs=1e-13)
        np.testing.assert_allclose(method.step(pendulum, end, -dt).q, start.q, atol=1e-12)


def test_a_motion_at_rest_stays(method):
    pendulum, _ = in_cubic_field()
    start = pendulum.state(pendulum.potential.direction)
    end = last(method.march(pendulum, start, DT, 3))
    np.testing.assert_allclose(end.q, start.q, atol=1e-15)


@pytest.mark.parametrize("form", PLANAR)
def test_contract_of_the_reduced_methods(form):
    method = PLANAR[form]
    pendulum, start = swinging()
    plane = SwingPlane.of(pendulum, start)
    reduced = plane.reduce(start)
    exact = far_away(pendulum, start, 4.0)
    errors = []
    for steps in (20, 40, 80):
        end = plane.reconstruct(last(method.march(pendulum, reduced, 4.0 / steps, steps)))
        errors.append(np.abs(np.r_[end.q, end.pi] - exact).max())
    np.testing.assert_allclose(np.log2(np.divide(errors[:-1], errors[1:])), method.order, atol=0.1)
    there = last(method.march(pendulum, reduced, DT, 100))
    back = last(method.march(pendulum, there.reversed(), DT, 100))
    assert (back.theta, back.pi) == pytest.approx((reduced.theta, -reduced.pi), abs=1e-12)
    energies = [planar_energies(pendulum, s)["total"] for s in method.march(pendulum, reduced, DT, 1000)]
    assert energies[0] == pytest.approx(total(pendulum, start))
    assert np.ptp(energies) < 1e-13 if "energy" in method.conserves else np.ptp(energies) > 1e-5
    defect = abs(method.area_factor(pendulum, reduced, DT) - 1.0)
    assert defect < 1e-15 if "symplectic form" in method.conserves else defect > 1e-6


# -- what the paper says ----------------------------------------------------------------------------------------


def test_the_midpoint_rule_is_the_papers():
    """Eqs. 24b, 32 and 33."""
    pendulum, start = in_cubic_field()
    end = SphereMidpoint().step(pendulum, start, DT)
    q, pi = 0.5 * (start.q + end.q), 0.5 * (start.pi + end.pi)
    np.testing.assert_allclose(end.q - start.q, -DT * np.cross(q, pi) / pendulum.inertia, atol=1e-15)
    np.testing.assert_allclose(end.pi - start.pi, -DT * np.cross(q, pendulum.potential.gradient(q)), atol=1e-15)
    a = DT * pi / pendulum.inertia
    cayley = np.eye(3) + 2.0 / (1.0 + 0.25 * a @ a) * (0.5 * hat(a) + 0.25 * hat(a) @ hat(a))
    np.testing.assert_allclose(cayley @ start.q, end.q, atol=1e-15)


def test_the_symplectic_scheme_is_the_papers():
    """Eqs. 58 to 60."""
    pendulum, start = in_cubic_field()
    end = SphereSymplectic().step(pendulum, start, DT)
    q = 0.5 * (start.q + end.q)
    q /= np.linalg.norm(q)
    pi = (np.eye(3) - np.outer(q, q)) @ (0.5 * (start.pi + end.pi))
    dH = np.r_[pendulum.potential.gradient(q), pi / pendulum.inertia]
    np.testing.assert_allclose(np.r_[end.q - start.q, end.pi - start.pi], DT * two_form(q) @ dH, atol=1e-15)


def test_the_energy_momentum_scheme_is_the_papers():
    """Eq. 61, with the quotient as it is printed."""
    pendulum, start = in_cubic_field()
    end = SphereEnergyMomentum("velocity").step(pendulum, start, DT)
    q, pi = 0.5 * (start.q + end.q), 0.5 * (start.pi + end.pi)
    gradient, V = pendulum.potential.gradient(q), pendulum.potential.value
    kappa = (end.q - start.q) @ gradient / (V(end.q) - V(start.q))
    assert abs(kappa - 1.0) > 1e-5
    np.testing.assert_allclose(end.q - start.q, -kappa * DT * np.cross(q, pi) / pendulum.inertia, atol=1e-14)
    np.testing.assert_allclose(end.pi - start.pi, -DT * np.cross(q, gradient), atol=1e-15)


@pytest.mark.parametrize(("kappa", "of_angle"), [
    ("one", lambda x: 1.0),
    ("geodesic", lambda x: np.sin(x / 2) / (x / 2)),
    ("chord", lambda x: 1.0 / np.cos(x / 2)),
])  # fmt: skip
def test_the_kappas_of_the_symplectic_family(kappa, of_angle):
    """Eq. 55."""
    pendulum, start = in_cubic_field()
    end = SphereSymplectic(kappa).step(pendulum, start, 5 * DT)
    angle = np.arccos(start.q @ end.q)
    q = 0.5 * (start.q + end.q)
    turn = np.cross(q / np.linalg.norm(q), 0.5 * (start.pi + end.pi)) / pendulum.inertia
    np.testing.assert_allclose(end.q - start.q, -of_angle(angle) * 5 * DT * turn, atol=1e-14)


def test_the_two_form_takes_no_notice_of_the_term_that_is_lacking_in_the_paper():
    pendulum, state = in_cubic_field()
    basis = tangent_basis(state)
    dq, dpi = basis[:3], basis[3:]
    np.testing.assert_allclose(state.q @ dq, 0.0, atol=1e-15)
    np.testing.assert_allclose(state.q @ dpi + state.pi @ dq, 0.0, atol=1e-15)
    assert np.abs(state.q @ dpi).max() > 0.1  # eq. 10 says zero
    printed = basis.copy()
    printed[3:] -= np.outer(state.q, state.q @ dpi)
    form = basis.T @ two_form(state.q) @ basis
    np.testing.assert_allclose(form, printed.T @ two_form(state.q) @ printed, atol=1e-15)
    np.testing.assert_allclose(np.abs(form), np.eye(4)[[3, 2, 1, 0]], atol=1e-15)
    # and the exact flow keeps it, to second order in the step of a method of high order
    assert symplectic_defect(ComposedMethod(SphereMidpoint(), order=8), pendulum, state, 0.05) < 1e-9


def test_midpoint_energy_is_exact_for_quadratic_fields_only():
    """Eq. 35."""
    for coefficients, exact in (([0.0, 1.0], True), ([0.0, 1.0, 0.7], True), ([0.0, 1.0, 0.0, 0.3], False)):
        pendulum = SphericalPendulum(AxialPotential.polynomial(coefficients))
        start = pendulum.state([0.8, 0.0, -0.6], [0.3, 0.9, 0.4])
        energies = [total(pendulum, s) for s in SphereMidpoint().march(pendulum, start, DT, 200)]
        assert (np.ptp(energies) < 1e-13) == exact


def test_the_symplectic_family_is_so_without_any_symmetry():
    """Remark 3.3.1, for any field and any κ."""
    pendulum, start = in_rugged_field()
    for kappa in ("one", "geodesic", "chord"):
        assert symplectic_defect(SphereSymplectic(kappa), pendulum, start, 0.2, steps=2) < 1e-10
    defects = [symplectic_defect(SphereMidpoint(), pendulum, start, dt) for dt in (0.1, 0.05, 0.025)]
    assert defects[0] > 1e-3
    np.testing.assert_allclose(np.log2(np.divide(defects[:-1], defects[1:])), 3.0, atol=0.15)


@pytest.mark.parametrize("field", [Rugged(), Wave()], ids=["rugged", "wave"])
def test_energy_is_exact_without_any_symmetry(field):
    pendulum = SphericalPendulum(field)
    start = pendulum.state([0.8, 0.0, -0.6], [0.3, 0.9, 0.4])
    for form in ("force", "projected"):
        energies = [total(pendulum, s) for s in SphereEnergyMomentum(form).march(pendulum, start, DT, 150)]
        assert np.ptp(energies) < 2e-13


def test_in_constant_gravity_the_projected_scheme_keeps_everything():
    pendulum, start = in_gravity()
    for scheme in (SphereSymplectic(), SphereEnergyMomentum("projected")):
        states = list(scheme.march(pendulum, start, 0.2, 150))
        assert np.ptp([total(pendulum, s) for s in states]) < 1e-13
        assert np.ptp([s.pi[2] for s in states]) < 1e-14
        assert symplectic_defect(scheme, pendulum, start, 0.2) < 1e-10
    # the others lose one of the two
    assert symplectic_defect(SphereMidpoint(), pendulum, start, 0.2) > 1e-4
    assert np.ptp([total(pendulum, s) for s in SphereSymplectic("geodesic").march(pendulum, start, 0.2, 100)]) > 1e-4


def test_what_keeps_everything_steps_along_the_exact_orbit_evenly():
    """Ge and Marsden (1988): in the plane, its step is the exact motion over a time that depends on the energy only."""
    pendulum = SphericalPendulum.in_gravity(gravity=1.0)
    start = PlanarState(0.0, 1.0, 0.5)

    def exact_times(form):
        states = list(PLANAR[form].march(pendulum, start, 0.3, 100))
        k = np.sqrt(0.5 * (planar_energies(pendulum, start)["total"] + 1.0))
        phase = np.unwrap([np.arctan2(np.sin(s.theta / 2), s.pi / 2) for s in states])
        return np.diff(ellipkinc(phase, k * k))

    even = exact_times("projected")
    assert np.ptp(even) < 1e-12
    assert abs(even[0] - 0.3) > 1e-4  # but it is not the time of the step
    assert np.ptp(exact_times("sphere")) > 1e-4


@pytest.mark.parametrize("form", PLANAR)
def test_reduction_and_reconstruction(form):
    """Lemma 3.3 and section 3.2: a reduced method and its lift make the same motion."""
    pendulum, start = swinging()
    plane = SwingPlane.of(pendulum, start)
    method = PLANAR[form]
    on_sphere = list(method.lift.march(pendulum, start, DT, 100))
    in_plane = list(method.march(pendulum, plane.reduce(start), DT, 100))
    assert np.ptp([s.theta for s in in_plane]) > 1.0
    for a, b in zip(on_sphere, in_plane, strict=True):
        lifted = plane.reconstruct(b)
        np.testing.assert_allclose(lifted.q, a.q, atol=1e-12)
        np.testing.assert_allclose(lifted.pi, a.pi, atol=1e-12)
        reduced = plane.reduce(a)
        assert (np.cos(reduced.theta), reduced.pi) == pytest.approx((np.cos(b.theta), b.pi), abs=1e-12)


@pytest.mark.parametrize("form", PLANAR)
def test_the_reduced_equations_are_the_papers(form):
    """Eqs. 41, 42, 53 and the one after it."""
    pendulum, start = swinging()
    g, slope = pendulum.potential.g, pendulum.potential.slope
    state = SwingPlane.of(pendulum, start).reduce(start)
    end = PLANAR[form].step(pendulum, state, DT)
    x, theta = end.theta - state.theta, 0.5 * (end.theta + state.theta)
    kappa1 = {"sphere": x / 2 / np.tan(x / 2), "plane": 1.0}.get(form, x / 2 / np.sin(x / 2))
    kappa2 = np.cos(x / 2) if form == "sphere" else 1.0
    force = kappa2 * slope(kappa2 * np.cos(theta))
    if form == "energy":
        c0, c1 = np.cos([state.theta, end.theta])
        force = (g(c1) - g(c0)) / (c1 - c0)
    assert x == pytest.approx(DT * kappa1 * 0.5 * (state.pi + end.pi) / pendulum.inertia, abs=1e-15)
    assert end.pi - state.pi == pytest.approx(-DT * force * np.sin(theta), abs=1e-14)


@pytest.mark.parametrize("form", PLANAR)
def test_the_area_factor_is_the_determinant_of_the_step(form):
    """Eqs. 44 to 47, and Lemma 3.2 with eq. 48."""
    pendulum, start = swinging()
    state = SwingPlane.of(pendulum, start).reduce(start)
    method = PLANAR[form]

    def image(theta, pi):
        end = method.step(pendulum, PlanarState(0.0, theta, pi), DT)
        return np.array([end.theta, end.pi])

    e = 1e-3
    columns = []
    for d in (np.array([e, 0.0]), np.array([0.0, e])):
        at = [image(state.theta + k * d[0], state.pi + k * d[1]) for k in (1, -1, 2, -2)]
        columns.append((8 * (at[0] - at[1]) - (at[2] - at[3])) / (12 * e))
    factor = method.area_factor(pendulum, state, DT)
    assert factor == pytest.approx(np.linalg.det(np.array(columns)), abs=1e-10)
    if form != "sphere":
        return
    # from det B0 − det B1 with κ2,1 − κ2,2 = sin(x/2)
    end = method.step(pendulum, state, DT)
    x, theta = end.theta - state.theta, 0.5 * (end.theta + state.theta)
    k2, field = np.cos(x / 2), pendulum.potential
    slope, curvature = field.slope(k2 * np.cos(theta)), field.curvature(k2 * np.cos(theta))
    difference = DT * np.sin(x / 2) * np.sin(theta) * (slope + curvature * k2 * np.cos(theta))
    rate = DT / (2 * pendulum.inertia)
    s, c, k22 = np.sin(theta), np.cos(theta), -0.5 * np.sin(x / 2)
    b1 = DT * (slope * (0.5 * k2 * c + k22 * s) - curvature * (0.5 * k2 * s - k22 * c) * k2 * s)  # eq. 45
    det_b1 = 1.0 / np.cos(x / 2) ** 2 + rate * b1  # B1 with its first row over κ1
    assert factor - 1.0 == pytest.approx(rate * difference / det_b1, rel=1e-10)


def test_the_energy_form_is_symplectic_for_linear_g_only():
    for coefficients, kept in (([0.0, 1.0], True), ([0.0, 1.0, 0.5], False)):
        pendulum = SphericalPendulum(AxialPotential.polynomial(coefficients))
        defect = abs(PLANAR["energy"].area_factor(pendulum, PlanarState(0.0, 1.0, 0.5), 0.2) - 1.0)
        assert (defect < 1e-15) == kept
        assert kept or defect > 1e-5


# -- steady rotation --------------------------------------------------------------------------------------------


def turned(start: SphereState, end: SphereState, gamma: np.ndarray) -> float:
    """The angle about the axis from one state to the next."""
    a, b = (s.q - (s.q @ gamma) * gamma for s in (start, end))
    return float(np.arctan2(gamma @ np.cross(a, b), a @ b))


def test_steady_rotation_is_kept_exactly_with_a_known_angle():
    pendulum, _ = in_cubic_field()
    gamma = pendulum.potential.direction
    start, rate = pendulum.steady_rotation(0.8)
    exact = far_away(pendulum, start, 2.0)
    assert turned(start, SphereState(0.0, exact[:3], exact[3:]), gamma) == pytest.approx(2.0 * rate, abs=1e-10)
    half = 0.5 * 0.3 * rate
    plain = 2.0 * np.arctan(half)
    # S² (1 − sin²ϑ S²) = half² (1 − S²) with S the sine of half the angle
    b = 1.0 + half**2
    squared = 2.0 * half**2 / (b + np.sqrt(b * b - 4.0 * np.sin(0.8) ** 2 * half**2))
    projected = 2.0 * np.arcsin(np.sqrt(squared))
    for method, angle in (
        (SphereMidpoint(), plain),
        (SphereEnergyMomentum(), plain),
        (SphereEnergyMomentum("velocity"), plain),
        (SphereEnergyMomentum("projected"), projected),
    ):
        states = list(method.march(pendulum, start, 0.3, 60))
        np.testing.assert_allclose([s.q @ gamma for s in states], np.cos(0.8), atol=1e-13)
        for a, b in pairwise(states):
            assert turned(a, b, gamma) == pytest.approx(angle, abs=1e-12)


def test_the_symplectic_scheme_wobbles_about_steady_rotation():
    """It does not keep the energy in a general field; in constant gravity it does, and so the rotation."""
    pendulum, _ = in_cubic_field()
    gamma = pendulum.potential.direction
    start, _ = pendulum.steady_rotation(0.8)
    wobbles = [
        np.ptp([s.q @ gamma for s in SphereSymplectic().march(pendulum, start, dt, round(20 / dt))])
        for dt in (0.2, 0.1, 0.05)
    ]
    np.testing.assert_allclose(np.log2(np.divide(wobbles[:-1], wobbles[1:])), 2.0, atol=0.15)
    pendulum, _ = in_gravity()
    start, _ = pendulum.steady_rotation(0.8)
    heights = [s.q[2] for s in SphereSymplectic().march(pendulum, start, 0.2, 100)]
    np.testing.assert_allclose(heights, -np.cos(0.8), atol=1e-13)


# -- trouble ----------------------------------------------------------------------------------------------------


def test_steps_that_do_not_exist_are_refused():
    free = SphericalPendulum(AxialPotential.polynomial([0.0]))
    start = free.state([1.0, 0.0, 0.0], [0.0, 1.0, 0.0])
    for kappa, limit in (("one", 2.0), ("geodesic", np.pi), ("chord", 1.0)):
        scheme = SphereSymplectic(kappa)
        assert scheme.reach == pytest.approx(limit)
        end = scheme.step(free, start, 0.98 * limit)
        angle = {"one": 2 * np.arcsin(0.98), "geodesic": 0.98 * np.pi, "chord": np.arcsin(0.98)}[kappa]
        np.testing.assert_allclose(end.q, [np.cos(angle), np.sin(angle), 0.0], atol=1e-12)
        with pytest.raises(
            StepFailed, match=rf"SphereSymplectic found no step .* turns by about .* at about {limit:.2g} rad"
        ):
            scheme.step(free, start, 1.02 * limit)
    # the plain ones always turn by less than half a turn
    for dt in (2.0, 20.0):
        end = SphereMidpoint().step(free, start, dt)
        np.testing.assert_allclose(np.arctan2(end.q[1], end.q[0]), 2 * np.arctan(dt / 2), atol=1e-12)
    planar = PlanarState(0.0, 0.0, 1.0)
    for form, limit in (("projected", 2.0), ("energy", 2.0)):
        PLANAR[form].step(free, planar, 0.99 * limit)
        with pytest.raises(StepFailed, match=rf"PlanarMethod \({form}\) found no step from t = 0 s"):
            PLANAR[form].step(free, planar, 1.01 * limit)
    assert PLANAR["plane"].step(free, planar, 50.0).theta == pytest.approx(50.0)


def test_equation_61_has_poles_and_the_discrete_gradient_has_none():
    printed, regular = SphereEnergyMomentum("velocity"), SphereEnergyMomentum()
    free = SphericalPendulum(AxialPotential.polynomial([0.0]))
    with pytest.raises(StepFailed, match=r"eq\. 61 is undefined"):
        printed.step(free, free.state([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]), DT)
    # two wells: g' = 0 at a height of 0.577
    pendulum = SphericalPendulum(AxialPotential.polynomial([0.0, -1.0, 0.0, 1.0], (0.0, 0.0, 1.0)))

    def worst(method, dt):
        errors = []
        for height in np.linspace(0.59, 0.69, 50):
            across = np.sqrt(1.0 - height**2)
            start = pendulum.state([across, 0.0, height], [height, 0.0, -across])
            end = method.step(pendulum, start, dt)
            assert total(pendulum, end) == pytest.approx(total(pendulum, start), abs=1e-14)
            errors.append(np.abs(np.r_[end.q, end.pi] - far_away(pendulum, start, dt)).max())
        return max(errors)

    assert worst(regular, 0.2) > 7.0 * worst(regular, 0.1)  # of third order in a step
    assert worst(printed, 0.2) < 4.0 * worst(printed, 0.1)


def test_bad_input_is_refused():
    pendulum, state = in_cubic_field()
    with pytest.raises(InvalidSystem, match=r"\|q\| must be 1: .* off by 1.00e-03"):
        SphereState(0.0, np.array([1.001, 0.0, 0.0]), np.zeros(3))
    with pytest.raises(InvalidSystem, match="off by nan"):
        SphereState(0.0, np.array([np.nan, 0.0, 0.0]), np.zeros(3))
    with pytest.raises(InvalidSystem, match="π must be finite"):
        SphereState(0.0, np.array([1.0, 0.0, 0.0]), np.array([0.0, np.nan, 0.0]))
    with pytest.raises(InvalidSystem, match=r"no angular momentum about its link: .* 0\.01 of"):
        SphereMidpoint().step(pendulum, SphereState(0.0, state.q, state.pi + 0.01 * state.q), DT)
    with pytest.raises(InvalidSystem, match=r"the link is rigid: v must be normal to q; it has 0\.1 m/s"):
        pendulum.state([0, 0, 1], [0.0, 1.0, 0.1])
    for wrong in ([0.0, 0.0, 0.0], [1.0, 0.0], [np.inf, 0.0, 0.0]):
        with pytest.raises(InvalidSystem, match="the direction of a pendulum must be three numbers"):
            pendulum.state(wrong)
    with pytest.raises(InvalidSystem, match="the velocity of a pendulum must be three numbers"):
        pendulum.state([0, 0, 1], 1.0)
    with pytest.raises(InvalidSystem, match="axis of a potential"):
        AxialPotential.polynomial([1.0], (0, 0, 0))
    for options in ({"mass": 0.0}, {"mass": -1.0}, {"length": np.nan}, {"length": np.inf}):
        with pytest.raises(InvalidSystem, match="of a pendulum must be positive"):
            SphericalPendulum(pendulum.potential, **options)
    with pytest.raises(InvalidSystem, match="about the axis, to move in a plane"):
        SwingPlane.of(pendulum, state)
    with pytest.raises(InvalidSystem, match=r"an AxialPotential is needed, .* has a Rugged"):
        PLANAR["plane"].step(SphericalPendulum(Rugged()), PlanarState(0.0, 1.0, 0.0), DT)
    with pytest.raises(InvalidSystem, match="must be finite"):
        PlanarState(0.0, np.nan, 0.0)
    with pytest.raises(InvalidSystem, match="nothing holds a steady rotation"):
        pendulum.steady_rotation(2.0)
    for make, wrong in ((SphereSymplectic, "kappa"), (SphereEnergyMomentum, "form"), (PlanarMethod, "form")):
        with pytest.raises(ValueError, match=f"{wrong} must be one of"):
            make("else")
    with pytest.raises(ValueError, match="order"):
        ComposedMethod(SphereMidpoint(), order=5)
    for dt in (0.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="dt must be finite and not zero"):
            next(SphereMidpoint().march(pendulum, state, dt, 1))
    with pytest.raises(ValueError, match="at least 1"):
        next(SphereMidpoint().march(pendulum, state, DT, 0))


def test_forces_that_are_not_finite_are_refused():
    class Broken(SpherePotential):
        def value(self, q):
            return np.nan

        def gradient(self, q):
            return np.full(3, np.nan)

    pendulum = SphericalPendulum(Broken())
    with pytest.raises(StepFailed, match="not finite"):
        SphereMidpoint().step(pendulum, pendulum.state([1.0, 0.0, 0.0]), DT)


def test_only_symmetric_methods_are_composed():
    class Euler(ManifoldMethod):
        order, conserves, symmetric = 1, frozenset(), False

        def step(self, system, state, dt):
            return state

    with pytest.raises(ValueError, match="Euler is not symmetric"):
        ComposedMethod(Euler())


def test_small_equations_are_solved_or_refused():
    def parabola(c):
        return lambda x: (x + x * x - c, np.array([[1.0 + 2.0 * x[0]]]), abs(x[0]) + abs(c))

    assert solve_increment(parabola(0.3), 1)[0] == pytest.approx(0.5 * (np.sqrt(2.2) - 1.0), rel=1e-15)
    assert solve_increment(parabola(0.0), 1)[0] == 0.0
    with pytest.raises(StepFailed, match=r"left with a residual of 1\.00e-01"):
        solve_increment(parabola(-0.35), 1)  # no root: the least residual is 0.35 − 0.25
    with pytest.raises(StepFailed, match="small steps do not lead to"):
        solve_increment(lambda x: (-x - 1.0, np.array([[-1.0]]), 1.0), 1)


def test_a_residual_that_goes_on_falling_below_round_off_is_solved():
    """As at rest, where the root is zero: what is left is never the same again."""
    left = count(1)

    def equations(x):
        return np.array([0.01 ** next(left)]), np.eye(1), 1.0

    assert np.abs(solve_increment(equations, 1)).max() < 0.02


def test_marching_shows_the_start_and_each_so_many_steps():
    pendulum, start = in_cubic_field()
    start = replace(start, t=1.0)
    states = list(SphereMidpoint().march(pendulum, start, DT, 7, every=3))
    assert states[0] is start
    assert [s.t for s in states] == [1.0, 1.0 + 3 * DT, 1.0 + 6 * DT]


def test_planes():
    pendulum, start = swinging()
    gamma = pendulum.potential.direction
    plane = SwingPlane.of(pendulum, start)
    np.testing.assert_allclose(
        np.array([plane.e1, plane.e2, plane.e3]) @ np.array([plane.e1, plane.e2, plane.e3]).T, np.eye(3), atol=1e-15
    )
    reduced = plane.reduce(start)
    assert reduced.theta > 0.0
    back = plane.reconstruct(reduced)
    np.testing.assert_allclose(np.r_[back.q, back.pi], np.r_[start.q, start.pi], atol=1e-15)
    # through the axis, given by π; and hanging still, any plane
    v = np.cross(gamma, [1.0, 0.0, 0.0])
    passing = pendulum.state(gamma, v)
    np.testing.assert_allclose(np.abs(SwingPlane.of(pendulum, passing).e2 @ passing.pi), np.linalg.norm(passing.pi))
    for pi in (np.zeros(3), 1e-15 * gamma, 1e-15 * np.ones(3)):
        hanging = SphereState(0.0, gamma, pi)
        assert SwingPlane.of(pendulum, hanging).reduce(hanging).theta == pytest.approx(0.0)
