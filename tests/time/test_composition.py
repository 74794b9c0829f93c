"""Symmetric composition to orders 4, 6 and 8."""

import numpy as np
import pytest
from scipy.linalg import expm

from symplex.errors import InvalidSystem, StepFailed, UnstableStep
from symplex.fem.actions.damping import Drag
from symplex.fem.actions.loads import Gravity
from symplex.fem.energies.energy import Energy
from symplex.fem.measures.bars import Bars, EngineeringStrain, InverseDistance
from symplex.fem.measures.constraints import RigidBars
from symplex.fem.system import System
from symplex.testing import round_off
from symplex.time.composition import Composition, kicks, substeps
from symplex.time.conserving.energy_momentum import EnergyMomentum
from symplex.time.conserving.graham_jelenic import GrahamJelenic
from symplex.time.constraints.rattle import Rattle, Shake
from symplex.time.events.force_stepping import ForceStepping
from symplex.time.explicit.newmark import Newmark
from symplex.time.implicit.generalized_alpha import GeneralizedAlpha
from symplex.time.implicit.midpoint import Midpoint
from symplex.time.reductions.jacobi_reduction import JacobiReduction
from symplex.time.reductions.polar_reduction import PolarReduction
from symplex.time.solvers.newton import Newton
from symplex.time.variational.adaptive_variational import AdaptiveVariational
from symplex.time.variational.variational import VariationalMidpoint
from symplex.time.variational.zhang_skeel import ZhangSkeel

SCHEMES = [
    (4, "triple jump", 3),
    (4, "suzuki", 5),
    (6, "yoshida", 7),
    (6, "kahan-li", 9),
    (8, "suzuki-umeno", 15),
    (8, "kahan-li", 17),
]


@pytest.mark.parametrize(("order", "scheme", "n"), SCHEMES)
def test_substeps_are_symmetric_and_fill_the_step(order, scheme, n):
    parts = substeps(order, scheme)
    assert len(parts) == n
    assert parts == parts[::-1]
    assert sum(parts) == pytest.approx(1.0, abs=round_off.of(1.0))
    assert 1 <= sum(part < 0 for part in parts) < n / 2


@pytest.mark.parametrize(("order", "scheme", "n"), SCHEMES)
def test_order_conditions(order, scheme, n):
    """For S(h) = exp(h A + h³ B + h⁵ C + h⁷ D + h⁹ E), symmetric, with matrices that do not commute: all at once.

    The error of a step is of the declared order plus one, and of no higher one.
    """
    rng = np.random.default_rng(order)
    terms = [matrix / np.linalg.norm(matrix, 2) for matrix in rng.standard_normal((5, 4, 4))]

    def error(h):
        product = np.eye(4)
        for part in substeps(order, scheme):
            s = part * h
            product = expm(sum(s ** (2 * k + 1) * term for k, term in enumerate(terms))) @ product
        return np.abs(product - expm(h * terms[0])).max()

    h = {4: 0.1, 6: 0.2, 8: 0.4}[order]
    measured = np.log2(error(h) / error(h / 2))
    assert error(h / 2) > 1e-13
    assert measured == pytest.approx(order + 1, abs=0.4)


def kepler():
    system = System(np.ones(2), {"gravity": Bars([[0, 1]], InverseDistance(1.0), dim=2)}, dim=2)
    return system, system.state([[0, 0], [1, 0]], [[0, -0.5], [0.1, 0.6]])


@pytest.mark.parametrize(("order", "scheme", "n"), SCHEMES)
@pytest.mark.parametrize("method", [EnergyMomentum, Midpoint])
def test_orders_on_a_nonlinear_problem(order, scheme, n, method):
    system, state = kepler()
    dt = {4: 0.05, 6: 0.06, 8: 0.2}[order]
    reference = Composition(Midpoint(dt / 8), 8).start(system, state).advance(0.6)
    errors = []
    for size in (dt, dt / 2):
        end = Composition(method(size), order, scheme).start(system, state).advance(0.6)
        errors.append(max(np.abs(end.q - reference.q).max(), np.abs(end.v - reference.v).max()))
    assert errors[1] > 1e-13
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.5)


@pytest.mark.parametrize("order", [4, 6, 8])
def test_energy_momentum_of_high_order_conserves_both(order):
    system, state = kepler()
    motion = Composition(EnergyMomentum(0.1), order).start(system, state)
    end = motion.advance(20.0)
    assert system.energies_of(end)["total"] == pytest.approx(system.energies_of(state)["total"], rel=1e-13)
    np.testing.assert_allclose(system.angular_momentum(end), system.angular_momentum(state), atol=1e-13)
    np.testing.assert_allclose(system.momentum(end), system.momentum(state), atol=1e-14)
    counts = motion.statistics()
    assert counts["steps"] == 200
    assert counts["substeps"] == 200 * len(substeps(order))
    assert counts["corrections"] > counts["substeps"]


def test_loads_are_seen_at_the_times_of_the_substeps():
    """A load that is a polynomial in time alone is integrated to the order of the composition."""
    system = System(np.ones(1), {}, dim=1, loads={"push": lambda t, q, v: np.full_like(q, 20 * t**3)})
    errors = []
    for dt in (0.5, 0.25):
        end = Composition(Newmark(dt), 4).start(system, system.state([[0.0]], t=1.0)).advance(2.0)
        errors.append(abs(end.q[0, 0] - (2.0**5 - 1.0 - 5.0)))
    assert end.t == 2.0
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4, abs=0.3)


def test_the_largest_substep_must_be_stable():
    system = System(np.ones(1), {"spring": anchor()}, dim=1)
    state = system.state([[1.0]])
    largest = max(map(abs, substeps(4, "triple jump")))  # 1.70
    limit = 2.0 / largest
    Composition(Newmark(0.99 * limit), 4, "triple jump").start(system, state)
    with pytest.raises(UnstableStep, match="above the stability limit"):
        Composition(Newmark(1.01 * limit), 4, "triple jump").start(system, state)
    automatic = Composition(Newmark(), 4, "triple jump")
    assert automatic.start(system, state).dt == pytest.approx(0.8 * limit)
    assert automatic.fit(system, state, 10.0).integrator.dt == pytest.approx(10.0 / 11)
    assert Composition(Midpoint(0.3)).fit(system, state, 1.0).integrator.dt == 0.25


def anchor():
    """A spring of unit stiffness from the only node to the origin, as two nodes would have it."""

    class Anchor(Energy):
        nodes = np.array([[0]], np.int32)

        def value(self, x):
            return 0.5 * (x**2).sum(axis=(1, 2))

        def gradient(self, x):
            return x

        def hessian(self, x):
            return np.ones((1, 1, 1))

    return Anchor()


def test_what_cannot_be_composed_is_refused():
    with pytest.raises(ValueError, match="GeneralizedAlpha, with its parameters, is not"):
        Composition(GeneralizedAlpha(0.1))
    with pytest.raises(ValueError, match="Midpoint, with its parameters, is not"):
        Composition(Midpoint(0.1, alpha=0.4))
    for method in (ForceStepping(0.1), AdaptiveVariational(0.1), PolarReduction(Midpoint(0.1))):
        with pytest.raises(ValueError, match=f"{type(method).__name__} has no fixed step"):
            Composition(method)
    with pytest.raises(ValueError, match=r"take JacobiReduction\(Composition\(…\)\)"):
        Composition(JacobiReduction(Midpoint(0.1)))
    with pytest.raises(ValueError, match="Shake cannot be composed: its velocities are differences over two steps"):
        Composition(Shake(0.1, {}))
    with pytest.raises(ValueError, match=r"GrahamJelenic cannot be composed: κ has poles.*; take energy-momentum"):
        Composition(GrahamJelenic(0.1, "kappa"))
    with pytest.raises(ValueError, match="Composition cannot be composed: it is one already"):
        Composition(Composition(Midpoint(0.1)), 6)
    with pytest.raises(
        ValueError, match="order must be above that of the method; it is 4, and GrahamJelenic is of order 6"
    ):
        Composition(GrahamJelenic(0.1, "cayley-magnus-6"), 4)
    with pytest.raises(ValueError, match="no scheme of order 5; there are 'triple jump' of order 4"):
        Composition(Midpoint(0.1), 5)
    with pytest.raises(ValueError, match="no scheme 'yoshida' of order 8"):
        Composition(Midpoint(0.1), 8, "yoshida")


def test_positions_of_shake_are_those_of_rattle():
    """Which is why nothing is lost where only the one is composed."""
    rod = {"rod": RigidBars([[0, 1]], 1.0)}
    system = System(np.ones(2), {}, dim=2, loads={"push": lambda t, q, v: np.array([[0.0, -1.0], [0.2, 0.0]])})
    state = system.state([[0, 0], [1, 0]], [[0, 0.3], [0, -0.5]])
    ends = [method(0.05, rod).start(system, state).advance(2.0) for method in (Shake, Rattle)]
    np.testing.assert_allclose(ends[0].q, ends[1].q, atol=1e-12)
    assert np.abs(ends[0].v - ends[1].v).max() > 1e-6


def test_energies_of_one_step_size_are_not_told():
    """A composition has steps of several, so that none of them were the one of its steps."""
    system, state = kepler()
    for method in (VariationalMidpoint(0.1), ZhangSkeel(0.1, variant="simplified")):
        assert method.energy in method.start(system, state).energies(state)
        motion = Composition(method).start(system, state)
        assert not {"discrete_energy", "modified_total"} & motion.energies(motion.advance(0.2)).keys()
        assert Composition(method).energy == "total"


def test_composed_methods_of_graham_and_jelenic_go_on_bit_identically_with_factors():
    """Stiff steps are solved with factors, which are for one size of substeps."""
    system = System(np.ones(3), {"bars": Bars([[0, 1], [1, 2], [0, 2]], EngineeringStrain(2e3, [1.0, 1.03, 1.03]))})
    state = system.state([[0, 0, 0], [1.0, 0, 0], [0.5, 0.9, 0]], [[0, 0, 0.1], [0, 1.0, 0], [0.2, 0, 0]])
    method = Composition(GrahamJelenic(0.1, "cayley-magnus-4"), 6)
    motion = method.start(system, state)
    motion.advance(0.5)
    stored = motion.checkpoint()
    end = motion.advance(1.0)
    assert motion.statistics()["factorised"] > 0
    resumed = method.resume(system, stored)
    np.testing.assert_array_equal(resumed.advance(1.0).q, end.q)
    assert resumed.statistics() == motion.statistics()


def test_a_failure_tells_the_time():
    system, state = kepler()
    motion = Composition(EnergyMomentum(0.5, newton=Newton(iterations=1))).start(system, state)
    with pytest.raises(StepFailed, match=r"EnergyMomentum stopped in the step from t = 0\.?\d* s \(dt = 0\.2"):
        motion.advance(5.0)


# -- drifts between changes of velocity ----------------------------------------------------------------------------

SPLIT = (6, "blanes-moan")


def swinging():
    """A double pendulum of springs, in gravity."""
    springs = Bars([[0, 1], [1, 2]], EngineeringStrain(200.0, 1.0), dim=2)
    mass, fixed = np.array([1.0, 1.0, 2.0]), np.array([[True, True], [False, False], [False, False]])
    system = System(mass, {"springs": springs, "gravity": Gravity(mass, (0.0, -9.81))}, dim=2, fixed=fixed)
    return system, system.state([[0.0, 0.0], [0.9, -0.5], [1.4, -1.3]])


def test_drifts_and_changes_of_velocity_are_symmetric_and_fill_the_step():
    drifts, changes = substeps(*SPLIT), kicks(*SPLIT)
    for parts, n in ((drifts, 11), (changes, 12)):
        assert len(parts) == n
        assert parts == parts[::-1]
        assert sum(parts) == pytest.approx(1.0, abs=1e-15)
    assert kicks(6) == kicks(8) == []


@pytest.mark.parametrize("problem", [kepler, swinging])
def test_the_split_scheme_is_of_order_six_with_far_smaller_errors(problem):
    system, state = problem()
    dt, end = (0.2, 0.6) if problem is kepler else (0.08, 0.64)
    reference = Composition(Newmark(dt / 40), 8).start(system, state).advance(end)

    def error(size, scheme):
        found = Composition(Newmark(size), 6, scheme).start(system, state).advance(end)
        return np.abs(found.q - reference.q).max()

    errors = [error(dt, "blanes-moan"), error(dt / 2, "blanes-moan")]
    assert errors[1] > 1e-12
    assert np.log2(errors[0] / errors[1]) == pytest.approx(6.0, abs=0.5)
    assert errors[1] < 0.1 * error(dt / 2, "kahan-li")


def test_the_split_scheme_keeps_momenta_goes_back_and_resumes():
    system, state = kepler()
    method = Composition(Newmark(0.05), *SPLIT)
    motion = method.start(system, state)
    end = motion.advance(20.0)
    for of in (system.momentum, system.angular_momentum):
        np.testing.assert_allclose(of(end), of(state), atol=1e-13)
    assert motion.energies(end)["total"] == pytest.approx(motion.energies(state)["total"], abs=1e-6)
    back = method.start(system, system.state(end.q, -end.v)).advance(20.0)
    np.testing.assert_allclose(back.q, state.q, atol=1e-9)
    half = method.start(system, state)
    half.advance(10.0)
    resumed = method.resume(system, half.checkpoint()).advance(20.0)
    np.testing.assert_array_equal(resumed.q, end.q)
    assert motion.statistics()["substeps"] == 11 * 400


def test_the_split_scheme_with_compiled_forces_is_that_with_forces_called_back():
    system, state = swinging()
    ends = []
    for compiled in (True, False):
        motion = Composition(Newmark(0.02), *SPLIT).start(system, state)
        if not compiled:
            motion.inner._table = None  # pyright: ignore[reportAttributeAccessIssue]
        ends.append(motion.advance(2.0))
    np.testing.assert_allclose(ends[0].q, ends[1].q, atol=1e-11)
    np.testing.assert_allclose(ends[0].a, ends[1].a, atol=1e-8)


def test_the_split_scheme_is_stable_up_to_what_it_says():
    spring = Bars([[0, 1]], EngineeringStrain(1.0, 1.0), dim=1)
    fixed = np.array([[True], [False]])
    system = System(np.ones(2), {"spring": spring}, dim=1, fixed=fixed)
    state = system.state([[0.0], [1.01]])
    far = Composition(Newmark(9.0), *SPLIT).start(system, state).advance(900.0)
    assert abs(far.q[1, 0] - 1.0) < 0.1
    with pytest.raises(UnstableStep):
        Composition(Newmark(9.2), *SPLIT).start(system, state)
    assert Composition(Newmark("auto"), *SPLIT).start(system, state).dt == pytest.approx(0.8 * 9.07)


def test_the_split_scheme_takes_forces_of_positions_alone():
    for method in (Midpoint(0.1), Newmark.trapezoidal(0.1)):
        with pytest.raises(ValueError, match="scheme 'blanes-moan' is for explicit Newmark"):
            Composition(method, *SPLIT)
    system, state = kepler()
    dragged = System(system.mass, system.energies, dim=2, loads={"drag": Drag(np.ones(2), 0.1)})
    with pytest.raises(InvalidSystem, match=r"with the scheme 'blanes-moan' needs a potential for every .* 'drag'"):
        Composition(Newmark(0.05), *SPLIT).start(dragged, state)
    motion = Composition(Newmark(0.05), *SPLIT).start(system, state)
    motion.inner._q[1] = motion.inner._q[0] = 0.0
    motion.inner._v[...] = motion.inner._a[...] = 0.0
    with pytest.raises(StepFailed, match="Newmark stopped in the step from t = 0 s"):
        motion.advance(1.0)
