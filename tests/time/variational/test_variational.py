"""Variational midpoint, with its discrete energy, and the adaptive integrator that keeps it."""

import numpy as np
import pytest

from symplex.contact.obstacles import HalfSpace
from symplex.contact.rigid import RigidContact
from symplex.errors import InvalidSystem, StepFailed
from symplex.fem.actions.damping import Dashpots, Drag
from symplex.fem.actions.mass import bar_mass, consistent_bar_mass
from symplex.fem.actions.support_motion import SupportTranslation
from symplex.fem.energies.energy import Energy
from symplex.fem.measures.bars import Bars, EngineeringStrain, InverseDistance, all_pairs
from symplex.fem.system import System
from symplex.testing import round_off
from symplex.time.implicit.midpoint import Midpoint
from symplex.time.solvers.newton import Newton
from symplex.time.variational.adaptive_variational import AdaptiveVariational
from symplex.time.variational.extended_jacobian import extended_jacobian
from symplex.time.variational.step_search import StepSearch
from symplex.time.variational.variational import Attempt, VariationalMidpoint


class Potential(Energy):
    """A potential of one particle on a line, by its value and its first two derivatives."""

    nodes = np.array([[0]], dtype=np.int32)

    def __init__(self, *functions):
        self.functions = functions

    def value(self, x):
        return self.functions[0](x[:, 0, 0])

    def gradient(self, x):
        return self.functions[1](x)

    def hessian(self, x):
        return self.functions[2](x)


def double_well(q0):
    V = Potential(lambda q: 0.5 * (q**4 - q**2), lambda q: 2 * q**3 - q, lambda q: 6 * q**2 - 1)
    system = System(np.ones(1), {"well": V}, dim=1)
    return system, system.state([[q0]])


def oscillator(**loads):
    """With k = 4, m = 1, from q = 0 with unit velocity."""
    V = Potential(lambda q: 2.0 * q**2, lambda q: 4.0 * q, lambda q: np.full_like(q, 4.0))
    system = System(np.ones(1), {"spring": V}, dim=1, loads=loads)
    return system, system.state([[0.0]], [[1.0]])


def truss(fixed=False, mass=bar_mass, **loads):
    """Five bars in the plane, turning and vibrating."""
    q = np.array([[0.0, 0.0], [1.0, 0.1], [0.9, 1.0], [-0.1, 0.8]])
    bars = np.array([[0, 1], [1, 2], [2, 3], [3, 0], [0, 2]])
    lengths = np.linalg.norm(q[bars[:, 1]] - q[bars[:, 0]], axis=1)
    energy = Bars(bars, EngineeringStrain(50.0, 0.9 * lengths), dim=2)
    held = np.zeros((4, 2), bool)
    held[0] = fixed
    system = System(mass(q, bars, 1.0, 1.0, 4), {"bars": energy}, dim=2, fixed=held, loads=loads)
    return system, system.state(q, 0.3 + np.column_stack([-q[:, 1], q[:, 0]]))


def push(t, q, v):
    """Depend on the time, on positions and on velocities."""
    return np.array([1.0, 0.5]) * np.cos(3.0 * t) - 0.2 * q - 0.3 * v


def march(motion, until):
    """Take own steps up to a time."""
    while motion.t < until:
        motion.step()


def steps(motion, n):
    """Take n own steps; return their sizes, and the indicator at the beginning of each."""
    sizes, indicators = [], []
    for _ in range(n):
        indicators.append(motion.indicator())
        motion.step()
        sizes.append(motion.h)
    return np.array(sizes), np.array(indicators)


# -- the discrete Lagrangian ------------------------------------------------------------------------------------


@pytest.mark.parametrize("loads", [{}, {"push": push}])
def test_it_is_the_midpoint_rule(loads):
    system, start = truss(**loads)
    one, other = (method(0.02).start(system, start).advance(1.0) for method in (VariationalMidpoint, Midpoint))
    for name in ("q", "v", "a"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=0, atol=1e-13)


def test_momentum_and_energy_are_derivatives_of_the_discrete_lagrangian():
    """Eqs. 34-36 and the corrected 37, by central differences of L_d with respect to all its arguments."""
    system, start = truss(push=push)
    motion = VariationalMidpoint(0.1).start(system, start)
    attempt = motion.attempt(start.t, 0.1)
    end = motion.after(start.t, attempt)

    def lagrangian(t0, q0, t1, q1):
        h = t1 - t0
        return h * (system.kinetic((q1 - q0) / h) - system.potential(0.5 * (q0 + q1)))

    def slope(place, direction=1.0, d=1e-5):
        arguments = [start.t, start.q, end.t, end.q]
        sides = []
        for sign in (1, -1):
            moved = list(arguments)
            moved[place] = moved[place] + sign * d * direction
            sides.append(lagrangian(*moved))
        return (sides[0] - sides[1]) / (2 * d)

    v = (end.q - start.q) / 0.1
    f = 0.05 * push(start.t + 0.05, 0.5 * (start.q + end.q), v)  # f_d on both sides
    g = -float(np.vdot(f, v))
    for node in range(4):
        for axis in range(2):
            e = np.zeros((4, 2))
            e[node, axis] = 1.0
            p0, p1 = (system.apply_mass(state.v)[node, axis] for state in (start, end))
            assert -slope(1, e) - f[node, axis] == pytest.approx(p0, abs=1e-8)  # 34
            assert slope(3, e) + f[node, axis] == pytest.approx(p1, abs=1e-8)  # 36
    assert slope(0) + g == pytest.approx(attempt.before, abs=1e-7)  # 35
    assert -slope(2) - g == pytest.approx(attempt.after, abs=1e-7)  # 33, and 37 with g⁺ for g⁻
    assert abs(g) > 1e-3


def test_fixed_steps_report_their_discrete_energy():
    system, start = truss(push=push)
    motion = VariationalMidpoint(0.02).start(system, start)
    before = motion.energies(start)["discrete_energy"]
    assert before == motion.attempt(0.0, 0.02).before
    attempt = motion.attempt(0.0, 0.02)
    energies = motion.energies(motion.advance(0.02))
    assert energies["discrete_energy"] == pytest.approx(attempt.after, rel=1e-14)
    assert energies["discrete_energy"] - before == pytest.approx(energies["work_push"], rel=1e-9)


# -- the adaptive integrator ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("q0", "h0"), [(0.74, 0.1), (0.995, 0.1), (0.995, 0.03)])
def test_the_double_well_keeps_its_discrete_energy(q0, h0):
    system, start = double_well(q0)
    motion = AdaptiveVariational(h0, hold=False).start(system, start)
    energies = [motion.energies(motion.step())["discrete_energy"] for _ in range(150)]
    assert np.abs(np.diff(energies)).max() < round_off.of(1.0)
    fixed = VariationalMidpoint(h0).start(system, start)
    drift = np.ptp([fixed.energies(fixed.advance(n * h0))["discrete_energy"] for n in range(150)])
    assert drift > 1e-7


def test_steps_follow_the_indicator():
    """Without loads h³ D is constant to leading order, for a linear spring h² D."""
    for h0, tolerance in ((0.02, 0.2), (0.01, 0.1)):
        system, start = double_well(0.995)
        h, D = steps(AdaptiveVariational(h0).start(system, start), round(6.0 / h0 / 2))
        assert D.max() / D.min() > 50
        assert np.ptp(h**3 * D) < tolerance * (h**3 * D)[0]
    rate = 0.2
    system, start = oscillator(drag=Drag(np.ones(1), rate))
    h, D = steps(AdaptiveVariational(0.01).start(system, start), 300)
    assert np.all(np.diff(h) > 0)  # dD/dt = −2 c q̈² / m
    assert D[-1] < 0.6 * D[0]
    law = (h[1:] * h[:-1]) * D[1:]
    assert np.ptp(law) < 2e-4 * law[0]


def test_the_range_of_steps_of_the_paper():
    """0.007 to 0.022 for σ = 5 (their Figure 11c), with F0 = 1 and a start from q = 0 with unit velocity."""
    system, start = oscillator(force=lambda t, q, v: np.full_like(q, np.cos(10.0 * t)))
    h, _ = steps(AdaptiveVariational(0.01, hold=False).start(system, start), 260)
    assert h.min() == pytest.approx(0.007, abs=0.0006)
    assert h.max() == pytest.approx(0.022, abs=0.0008)


@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize("mass", [bar_mass, consistent_bar_mass])
def test_energy_less_work_is_kept_under_loads(fixed, mass):
    loads = {"push": push, "drag": Drag(np.ones(4), 0.1), "dashpots": Dashpots([[0, 2], [1, 3]], 0.2)}
    system, start = truss(fixed, mass, **loads)
    motion = AdaptiveVariational(0.02, hold=False).start(system, start)
    rows = [motion.energies(motion.advance(t)) for t in np.linspace(0.0, 1.0, 14)]
    kept = np.array([row["discrete_balance"] for row in rows])
    assert np.ptp(kept) < 1e-13
    assert np.ptp([row["discrete_energy"] for row in rows]) > 0.1
    assert np.ptp([row["work_drag"] for row in rows]) > 0.01
    assert rows[-1]["balance"] == pytest.approx(kept[0], abs=5e-2)
    assert abs(rows[-1]["balance"] - kept[0]) > 1e-7
    if fixed:
        np.testing.assert_array_equal(motion.advance(1.0).q[0], start.q[0])


def test_between_its_steps():
    """States between own steps lead on to the next one, and to ask for them changes nothing."""
    system, start = truss()
    motion, other = (AdaptiveVariational(0.05).start(system, start) for _ in range(2))
    while motion.t < 1.0:
        node = motion.step()
    asked = np.sort(np.append(np.linspace(0.0, motion.t, 37)[1:-1], motion.t * np.array([0.3, 0.3 + 1e-13])))
    path = [other.advance(t) for t in asked]
    spin = system.angular_momentum(start)
    for state in path:
        np.testing.assert_allclose(system.momentum(state), system.momentum(start), atol=1e-13)
        np.testing.assert_allclose(system.angular_momentum(state), spin, atol=1e-13)
        assert np.ptp([system.energies_of(state)["total"], system.energies_of(start)["total"]]) < 0.03
    np.testing.assert_allclose(other.advance(np.nextafter(motion.t, 0.0)).q, node.q, atol=1e-13)
    np.testing.assert_array_equal(other.advance(motion.t).q, node.q)
    assert other.statistics() == motion.statistics()


def test_the_extended_symplectic_form_is_kept():
    """Σ dq ∧ dp − dt ∧ dE at the own steps; dq ∧ dp alone is not."""
    system, start = truss()
    size = start.q.size
    mass = np.repeat(np.asarray(system.mass), 2)

    def flow(y):
        state = system.state(y[:size].reshape(4, 2), (y[size:] / mass).reshape(4, 2))
        motion = AdaptiveVariational(0.1).start(system, state)
        for _ in range(4):
            end = motion.step()
        energy = motion.energies(end)["discrete_energy"]
        return np.concatenate([[end.t], end.q.ravel(), [-energy], end.v.ravel() * mass])

    y0 = np.concatenate([start.q.ravel(), start.v.ravel() * mass])
    d = 1e-5
    J = np.column_stack([(flow(y0 + d * e) - flow(y0 - d * e)) / (2 * d) for e in np.eye(2 * size)])

    def form(n):
        return np.block([[np.zeros((n, n)), np.eye(n)], [-np.eye(n), np.zeros((n, n))]])

    before = form(size)  # at the start dt = 0
    assert np.abs(J.T @ form(size + 1) @ J - before).max() < 1e-7
    inside = np.r_[1 : size + 1, size + 2 : 2 * size + 2]
    assert np.abs(J[inside].T @ before @ J[inside] - before).max() > 1e-3


def test_the_last_step_reversed_leads_all_the_way_back():
    system, start = truss()
    motion = AdaptiveVariational(0.05).start(system, start)
    path = [start] + [motion.step() for _ in range(30)]
    back = AdaptiveVariational(motion.h).start(system, path[-1].reversed())
    for state in path[-2::-1]:
        returned = back.step()
        np.testing.assert_allclose(returned.q, state.q, atol=1e-9)
        np.testing.assert_allclose(-returned.v, state.v, atol=1e-9)
    # With the first step instead of the last one the discrete energy is another, and so is the path.
    other = AdaptiveVariational(0.05).start(system, path[-1].reversed()).advance(motion.t)
    assert np.abs(other.q - start.q).max() > 1e-6


def test_kepler_keeps_both_momenta_and_energy():
    sun = Bars([[0, 1]], InverseDistance(1.0), dim=2)
    system = System(np.array([1.0, 2.0]), {"gravity": sun}, dim=2)
    start = system.state([[0.0, 0.0], [1.0, 0.0]], [[0.0, -0.3], [0.1, 0.5]])
    motion = AdaptiveVariational(0.02, hold=False).start(system, start)
    for _ in range(60):
        state = motion.step()
    np.testing.assert_allclose(system.momentum(state), system.momentum(start), atol=1e-14)
    np.testing.assert_allclose(system.angular_momentum(state), system.angular_momentum(start), atol=1e-14)
    initial = AdaptiveVariational(0.02).start(system, start).energies(start)["discrete_energy"]
    assert motion.energies(state)["discrete_energy"] == pytest.approx(initial, abs=1e-14)


def test_the_equations_of_the_paper_as_corrected():
    """Eqs. 60-61 and 70-71 of a forced and damped oscillator, with the signs and factors that the misprints lack."""
    c, F0, omega, k = 0.4, 1.0, 3.0, 4.0
    force = {"force": lambda t, q, v: np.full_like(q, F0 * np.cos(omega * t)), "drag": Drag(np.ones(1), c)}
    system, start = oscillator(**force)
    motion = AdaptiveVariational(0.1, hold=False).start(system, start)
    for _ in range(20):
        before = motion.step()
        energy = motion.energies(before)["discrete_energy"]
        t, (middle, _, mean) = motion.t, motion.midpoint
        h, v, q, p = 2.0 * (middle - t), mean.item(), before.q.item(), before.v.item()
        push = F0 * np.cos(omega * (t + 0.5 * h))
        F = v + 0.25 * k * h * (2 * q + h * v) - 0.5 * h * push + 0.5 * c * h * v - p
        G = 0.5 * v**2 + 0.5 * k * (q + 0.5 * h * v) ** 2 - 0.5 * h * v * push + 0.5 * c * h * v**2 - energy
        assert abs(F) < 1e-13
        assert abs(G) < 1e-13


@pytest.mark.parametrize(("offset", "tolerance"), [(0.0, 1e-10), (100.0, 1e-4)])
def test_round_off_of_positions_does_not_stop_it(offset, tolerance):
    """Strains of 1e-8, which positions far from the origin know to a few digits only."""
    q = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, 0.8, 0.0], [0.5, 0.3, 0.7]])
    pairs = all_pairs(4)
    lengths = np.linalg.norm(q[pairs[:, 1]] - q[pairs[:, 0]], axis=1)
    system = System(np.ones(4), {"bars": Bars(pairs, EngineeringStrain(1e6, lengths))})
    amplitude = 1e-3 if offset == 0.0 else 1e-8
    start = system.state(q + offset + amplitude * np.random.default_rng(0).normal(size=q.shape))
    motion = AdaptiveVariational(1e-4, hold=False).start(system, start)
    energies = [motion.energies(motion.step())["discrete_energy"] for _ in range(40)]
    assert np.ptp(energies) < tolerance * energies[0]
    assert motion.h == pytest.approx(1e-4, rel=2e-3)


# -- where no step exists ------------------------------------------------------------------------------------------


def test_no_step_exists_where_the_indicator_changes_its_sign():
    system, start = double_well(1.05)
    motion = AdaptiveVariational(0.01, hold=False).start(system, start)
    initial = motion.indicator()
    with pytest.raises(StepFailed, match=r"no step exists: none from 0\.0\d+ to 0\.1\d+ s .* D = 0\.0\d+ J/s²"):
        march(motion, 5.0)
    assert 0.0 < motion.indicator() < 0.01 * initial
    beyond = (
        VariationalMidpoint(2.0 * motion.h).start(system, motion.advance(motion.t)).advance(motion.t + 2 * motion.h)
    )
    ahead = AdaptiveVariational(0.01).start(system, beyond)
    assert ahead.indicator() < 0.0
    with pytest.raises(StepFailed, match="no step exists"):
        motion.step()


def test_where_no_step_exists_the_last_one_is_held():
    system, start = double_well(1.05)
    motion = AdaptiveVariational(0.01).start(system, start)
    march(motion, 5.0)
    held = motion.held
    assert motion.statistics()["held"] == len(held) < 20
    # Twice, where D changes its sign and where it changes back
    assert held[0].t == pytest.approx(1.506, abs=0.01)
    assert held[-1].t == pytest.approx(3.35, abs=0.05)
    assert 1e-10 < max(abs(one.defect) for one in held) < 1e-5
    # The energy carried on is kept in the end.
    energies = motion.energies(motion.step())
    initial = AdaptiveVariational(0.01).start(system, start).energies(start)
    assert energies["discrete_energy"] == pytest.approx(initial["discrete_energy"], abs=1e-15)


def test_free_flight_decides_on_no_step():
    rest = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    bars = Bars([[0, 1], [1, 2], [2, 3], [3, 0]], EngineeringStrain(50.0, 1.0), dim=2)
    system = System(np.ones(4), {"bars": bars}, dim=2)
    flying = system.state(rest, [3.0, 1.0])
    motion = AdaptiveVariational(0.05).start(system, flying)
    for _ in range(5):
        state = motion.step()
    np.testing.assert_allclose(state.q - rest, [[0.75, 0.25]] * 4, rtol=1e-13)
    assert [one.t for one in motion.held] == pytest.approx([0.05, 0.1, 0.15, 0.2])
    motion = AdaptiveVariational(0.05, hold=False).start(system, flying)
    motion.step()
    with pytest.raises(StepFailed, match=r"does not decide on a step: .* as in free flight"):
        motion.step()


def hopper(**options):
    """A spring between two masses that falls against a wall; the lower mass touches it softly."""
    bars = Bars([[0, 1]], EngineeringStrain(40.0, 1.0))
    wall = RigidContact([0], HalfSpace(point=(0, 0, 0), normal=(0, 0, 1)), stiffness=2000.0)
    system = System(np.ones(2), {"bars": bars, "wall": wall})
    start = system.state([[0.0, 0.0, 0.3], [0.0, 0.0, 1.3]], [0.0, 0.0, -1.0])
    return system, start, AdaptiveVariational(0.004, **options)


@pytest.mark.parametrize("carry", [True, False])
def test_the_defect_of_held_steps_is_carried_or_let_go(carry):
    system, start, integrator = hopper(carry=carry)
    motion = integrator.start(system, start)
    energies = []
    while motion.t < 0.7:
        energies.append(motion.energies(motion.step())["discrete_energy"])
    impact = [one for one in motion.held if abs(one.defect) > 1e-6]
    assert [one for one in motion.held if one.t < 0.29]  # the free flight
    assert impact
    assert impact[0].t == pytest.approx(0.3, abs=0.01)
    if carry:
        assert len(impact) > 10
    else:
        assert len(impact) < 8
        # What is let go is in the record.
        lost = sum(one.defect for one in motion.held)
        assert energies[-1] - energies[0] == pytest.approx(lost, abs=1e-12)


def test_it_goes_on_from_a_checkpoint_within_held_steps():
    system, start, integrator = hopper()
    motion = integrator.start(system, start)
    motion.advance(0.3171)
    stored = motion.checkpoint()
    resumed = integrator.resume(system, stored)
    for t in (0.3171, 0.318, 0.5):
        one, other = motion.advance(t), resumed.advance(t)
        np.testing.assert_array_equal(one.q, other.q)
        assert motion.energies(one) == resumed.energies(other)
    assert motion.held == resumed.held
    assert len(motion.held) > 50
    assert motion.statistics() == resumed.statistics()
    with pytest.raises(InvalidSystem, match="another AdaptiveVariational"):
        AdaptiveVariational(0.005).resume(system, stored)
    other, _ = truss()
    with pytest.raises(InvalidSystem, match="does not belong to this system"):
        integrator.resume(other, stored)


# -- how well the equations are conditioned ---------------------------------------------------------------------------


def test_the_extended_jacobian_by_differences():
    loads = {"push": lambda t, q, v: np.full_like(q, np.cos(3.0 * t)), "drag": Drag(np.ones(4), 0.4)}
    system, start = truss(fixed=True, **loads)
    motion = VariationalMidpoint(0.1).start(system, start)
    attempt = motion.attempt(0.0, 0.1)
    v, free = attempt.dq / 0.1, ~system.fixed

    def equations(y):
        w, h = np.zeros_like(v), y[-1]
        w[free] = y[:-1]
        q = start.q + 0.5 * h * w
        f = sum(load(0.5 * h, q, w) for load in system.loads.values())
        F = system.apply_mass(w) + 0.5 * h * (system.gradient(q) - f)
        return np.append(F[free], system.kinetic(w) + system.potential(q) - 0.5 * h * np.vdot(f, w))

    y0, d = np.append(v[free], 0.1), 1e-6
    J = np.column_stack([(equations(y0 + d * e) - equations(y0 - d * e)) / (2 * d) for e in np.eye(len(y0))])
    np.testing.assert_allclose(extended_jacobian(system, 0.0, start.q, v, 0.1), J, atol=2e-7)


def test_condition_grows_as_steps_fall():
    system, start = double_well(0.74)
    conditions = []
    for h0 in (0.1, 0.01):
        motion = AdaptiveVariational(h0).start(system, start)
        motion.step()
        conditions.append(motion.condition())
    assert conditions[1] / conditions[0] == pytest.approx(10.0, rel=0.05)


# -- the search for a step -----------------------------------------------------------------------------------------


def energy_of(function):
    """Return a step whose discrete energy is a function of its size."""

    def solve(h, near):
        if not 0.05 < h < 8.0 or np.isnan(function(h)):
            raise StepFailed("there is none")
        return Attempt(h, np.zeros(1), np.zeros(1), function(h), 1.0, [], 1)

    return solve


@pytest.mark.parametrize(
    ("function", "guess", "expected", "root"),
    [
        (lambda h: 1.0 - h * h, 1.0, 0.75, 0.5),
        (lambda h: np.cos(h), 2.2, 0.0, np.pi / 2),
        (lambda h: (h - 0.7) * (h - 1.1) * (h - 3.9), 1.15, 0.0, 1.1),  # the nearest of three
        (lambda h: (h - 2.3) ** 2 - 1e-4, 1.0, 0.0, None),  # two roots close to each other
        (lambda h: (h - 2.3) ** 2 + 1e-4, 1.0, 0.0, "none"),
        (lambda h: 1.0 + h, 1.0, 0.0, "none"),
        (lambda h: 5.0 - h, 1.0, 0.0, "none"),  # beyond the bounds
        (lambda h: np.sign(h - 2.3), 1.0, 0.0, "none"),  # a jump
        (lambda h: h - 2.3 if not 2.0 < h < 2.6 else np.nan, 1.0, 0.0, "none"),  # where no step can be solved
    ],
)
def test_the_nearest_step_with_an_energy_is_found(function, guess, expected, root):
    search = StepSearch(energy_of(function), expected)
    found = search.nearest(guess, 0.25, 4.0, function(1e-9) - expected, -1e-3)
    if root == "none":
        assert found is None
    else:
        assert abs(function(found.h) - expected) < 1e-13
        assert root is None or found.h == pytest.approx(root, rel=1e-10)
    assert search.attempts < 100


# -- input ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"dt": 0.0}, "dt must be positive"),
        ({"dt": np.nan}, "dt must be finite"),
        ({"dt": 0.1, "bounds": (-0.5, 2.0)}, "bounds must be a number between 0 and 1 and one above 1"),
        ({"dt": 0.1, "bounds": (0.5, 0.9)}, "bounds must be a number between 0 and 1 and one above 1"),
        ({"dt": 0.1, "newton": Newton(halvings=2)}, "halvings must be 0"),
    ],
)
def test_parameters_are_checked(options, text):
    with pytest.raises(ValueError, match=text):
        AdaptiveVariational(**options)


def test_a_state_of_another_system_is_refused():
    system, _ = truss()
    _, other = oscillator()
    with pytest.raises(InvalidSystem, match=r"positions of shape \(1, 1\) .* system has 4 nodes in 2 dim"):
        AdaptiveVariational(0.1).start(system, other)


def test_a_first_step_too_large_to_be_solved():
    system, start = truss()
    with pytest.raises(StepFailed, match=r"t = 0 s: the first step, dt = 1e\+04 s, cannot be solved: .* smaller step"):
        AdaptiveVariational(1e4).start(system, start).advance(1.0)


@pytest.mark.parametrize("integrator", [VariationalMidpoint(0.1), AdaptiveVariational(0.1)])
def test_moving_supports_are_refused(integrator):
    system, start = truss()
    motion = SupportTranslation([0], "x", ([0.0, 1.0, 2.0, 3.0], [0.0, 0.1, 0.0, 0.1]))
    system = System(system.mass, system.energies, dim=2, moving={"shaker": motion})
    with pytest.raises(InvalidSystem, match=f"{type(integrator).__name__} cannot move supports"):
        integrator.start(system, system.state(start.q))


def test_there_is_no_way_back():
    system, start = truss()
    motion = AdaptiveVariational(0.05).start(system, start)
    motion.advance(0.33)
    with pytest.raises(StepFailed, match=r"cannot go back from t = 0\.33 s to 0\.32 s"):
        motion.advance(0.32)
    with pytest.raises(StepFailed, match="cannot move to t = inf"):
        motion.advance(np.inf)
