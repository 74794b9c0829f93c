"""The energy-momentum method, next to the midpoint rule."""

import numpy as np
import pytest

from symplex.contact.obstacles import HalfSpace, Sphere
from symplex.contact.rigid import RigidContact
from symplex.errors import StepFailed
from symplex.fem.actions.loads import Gravity, NodalLoad
from symplex.fem.actions.mass import consistent_mass, lumped_mass
from symplex.fem.energies.energy import Energy
from symplex.fem.measures.bars import Bars, EngineeringStrain, GreenStrain, InverseDistance, PairLaw, all_pairs
from symplex.fem.solids.materials import NeoHookean
from symplex.fem.solids.solid import Solid
from symplex.fem.system import System
from symplex.meshes.generate import box
from symplex.testing import round_off
from symplex.time.conserving.energy_momentum import EnergyMomentum
from symplex.time.conserving.graham_jelenic import GrahamJelenic
from symplex.time.explicit.newmark import Newmark
from symplex.time.implicit.cutback import with_cutbacks
from symplex.time.implicit.midpoint import Midpoint
from symplex.time.solvers.newton import Newton

# -- two bodies ---------------------------------------------------------------------------------------------------


def kepler(e):
    """The orbit of eq. 66 of Gonzalez, Schmidt and Ortiz (2010) about a fixed centre."""
    system = System(
        np.ones(2), {"gravity": Bars([[0, 1]], InverseDistance(1.0), dim=2)}, dim=2, fixed=[[True] * 2, [False] * 2]
    )
    return system, system.state([[0, 0], [1 - e, 0]], [[0, 0], [0, np.sqrt((1 + e) / (1 - e))]])


def labudde_greenspan(q0, v0, dt):
    """One step of the algorithm as it is printed in section 6.1.1 there, by fixed-point iteration."""
    v1 = v0
    for _ in range(200):
        q1 = q0 + 0.5 * dt * (v0 + v1)
        r0, r1 = np.linalg.norm(q0), np.linalg.norm(q1)
        quotient = (1 / r0 - 1 / r1) / (r1**2 - r0**2) if r1 != r0 else 0.5 / r0**3
        v1 = v0 - dt * quotient * (q1 + q0)
    return q0 + 0.5 * dt * (v0 + v1), v1


def test_it_is_the_printed_method_of_labudde_and_greenspan():
    system, state = kepler(0.5)
    motion = EnergyMomentum(0.02).start(system, state)
    q, v = state.q[1], state.v[1]
    for n in range(1, 101):
        q, v = labudde_greenspan(q, v, 0.02)
        end = motion.advance(0.02 * n)
        np.testing.assert_allclose(end.q[1], q, atol=1e-11)
        np.testing.assert_allclose(end.v[1], v, atol=1e-11)


@pytest.mark.parametrize("e", [0.85, 0.99])
def test_kepler_orbits_keep_energy_and_angular_momentum(e):
    system, state = kepler(e)
    dt = 0.0125 * (1 - e) / 0.15
    end = EnergyMomentum(dt).start(system, state).advance(1000 * dt)
    assert system.energies_of(end)["total"] == pytest.approx(-0.5, abs=1e-12 / (1 - e))
    assert system.angular_momentum(end)[0] == pytest.approx(np.sqrt(1 - e**2), abs=1e-13)


# -- four stiff particles: section 4.4 of Simo and Gonzalez (1993), natural lengths 1 -----------------------------


def stiff_particles():
    q = [[0, 0, 0], [0.8983, 0.5616, 0], [0, 1.0010, 0], [0.2589, 0.5987, 0.7580]]
    p = [[0, 0, 0], [-0.05, 0.0866, 0], [0, -0.1, 0], [-0.05, 0.0288, 0]]
    stiffness = [1e2, 1e4, 1e6, 1e7, 5e3, 5e2]
    system = System(np.ones(4), {"springs": Bars(all_pairs(4), EngineeringStrain(stiffness, 1.0))})
    return system, system.state(q, p)


def test_stiff_particles_have_the_printed_frequencies():
    system, _ = stiff_particles()
    tetrahedron = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]) / np.sqrt(8)
    squared = np.linalg.eigvalsh(system.hessian(tetrahedron).toarray())
    np.testing.assert_allclose(squared[:6], 0.0, atol=1e-6)
    assert np.sqrt(squared[6]) == pytest.approx(12, abs=0.6)
    assert np.sqrt(squared[-1]) == pytest.approx(4470, rel=2e-3)


def energy_ratios(integrator, steps, look=1):
    """Energy over its initial value at every so many steps, and the drift of angular momentum."""
    system, state = stiff_particles()
    motion = integrator.start(system, state)
    energy, start = system.energies_of(state)["total"], system.angular_momentum(state)
    ratios, drift = [], 0.0
    for n in range(look, steps + 1, look):
        reached = motion.advance(n * integrator.dt)
        ratios.append(system.energies_of(reached)["total"] / energy)
        drift = max(drift, np.abs(system.angular_momentum(reached) - start).max())
        if ratios[-1] > 100:
            break
    return np.array(ratios), drift


@pytest.mark.parametrize("dt", [0.04, 0.03])
def test_the_midpoint_rule_blows_up_but_keeps_angular_momentum(dt):
    ratios, drift = energy_ratios(Midpoint(dt), 300)
    assert ratios.max() > 100
    assert drift < 1e-9


def test_the_midpoint_rule_finds_the_same_roots_without_a_tangent():
    """A step that resolves little, hω = 134: the root that small steps lead to is followed from 1/1000 of a step on."""
    system, state = stiff_particles()
    ends = [m.start(system, state).advance(50 * 0.03) for m in (Midpoint(0.03), GrahamJelenic(0.03, "SM"))]
    np.testing.assert_allclose(ends[1].q, ends[0].q, atol=1e-9)


def test_the_midpoint_rule_is_bounded_at_a_smaller_step():
    ratios, drift = energy_ratios(Midpoint(0.02), 1000)
    assert 0.98 < ratios.min() < 1.0
    assert 1.01 < ratios.max() < 1.3
    assert drift < 1e-9


@pytest.mark.parametrize("dt", [0.04, 0.03, 0.02])
def test_energy_momentum_keeps_both_at_all_three_steps(dt):
    ratios, drift = energy_ratios(EnergyMomentum(dt), 1000)
    assert np.abs(ratios - 1.0).max() < 3e-9
    assert drift < round_off.of(1e7 * dt)  # forces of 1e7 N/m are known to 2e-9 N


def test_compensated_positions_keep_the_energy_of_stiff_particles_far_closer():
    rounded, drift = energy_ratios(EnergyMomentum(0.02), 1500, look=10)
    kept, kept_drift = energy_ratios(EnergyMomentum(0.02, compensated=True), 1500, look=10)
    assert np.abs(kept - 1.0).max() < 2e-12
    assert kept_drift < 1e-12
    assert np.abs(kept - 1.0).max() < 0.1 * np.abs(rounded - 1.0).max()
    assert kept_drift < 0.1 * drift


def test_compensated_motions_go_on_bit_identically():
    system, state = stiff_particles()
    integrator = EnergyMomentum(0.02, compensated=True)
    motion = integrator.start(system, state)
    motion.advance(1.0)
    resumed = integrator.resume(system, motion.checkpoint())
    assert np.any(motion.checkpoint()["compensation"])
    np.testing.assert_array_equal(resumed.advance(2.0).q, motion.advance(2.0).q)


@pytest.mark.parametrize(
    "law", [EngineeringStrain(3.0, 1.2), EngineeringStrain(3.0, 0.0), GreenStrain(2.0, 1.2), InverseDistance(1.5)]
)
def test_gradients_of_increments(law):
    """The same as the discrete gradient, and with ``low`` that of positions which no double holds."""
    rng = np.random.default_rng(1)
    q, dq = rng.standard_normal((2, 5, 3))
    bars, low = Bars(all_pairs(5), law), np.zeros((5, 3))
    found, expected = np.zeros((2, 5, 3))
    bars.add_increment_gradient(q, low, dq, found)
    bars.add_discrete_gradient(q, q + dq, expected)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)
    # Far from the origin positions are rounded, and low has the rest.
    far = q + 1e8
    found[...] = 0.0
    bars.add_increment_gradient(far, q - (far - 1e8), dq, found)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)
    rounded = np.zeros((5, 3))
    Energy.add_increment_gradient(bars, far, low, dq, rounded)
    assert np.abs(rounded - expected).max() > 1e-10


@pytest.mark.slow
def test_the_midpoint_rule_is_bounded_for_half_a_million_steps():
    ratios, drift = energy_ratios(Midpoint(0.02), 500_000, look=100)
    assert len(ratios) == 5000
    assert ratios.max() < 2.0
    assert drift < 1e-8


@pytest.mark.slow
@pytest.mark.parametrize("dt", [0.04, 0.03, 0.02])
def test_energy_momentum_keeps_both_for_a_hundred_thousand_steps(dt):
    ratios, drift = energy_ratios(EnergyMomentum(dt), 100_000, look=100)
    assert np.abs(ratios - 1.0).max() < 3e-8
    assert drift < 1e-8


# -- steady rotation ----------------------------------------------------------------------------------------------


def truss():
    corners = np.stack(np.meshgrid([0.0, 1.0], [0.0, 0.8], [0.0, 0.6]), -1).reshape(-1, 3)
    pairs = all_pairs(8)
    lengths = np.linalg.norm(corners[pairs[:, 1]] - corners[pairs[:, 0]], axis=1)
    return System(np.linspace(1.0, 1.5, 8), {"truss": Bars(pairs, GreenStrain(20.0, lengths))}), corners


def block():
    mesh = box((1.0, 0.8, 0.6), (1, 1, 1))
    cells = mesh.cells["tetra"]
    mass = lumped_mass(mesh.points, cells, 1.0, len(mesh.points))
    return System(mass, {"solid": Solid(mesh.points, cells, NeoHookean(2.0, 1.0, 1.0))}), mesh.points


def steadily_rotating(system, points, omega):
    """Positions at which the body turns about the z axis without changing its shape: ∇V = ω² M (x, y, 0)."""
    mass = system.mass[:, None]
    points = points - (mass * points).sum(axis=0) / mass.sum()
    _, axes = np.linalg.eigh((mass * points).T @ points)  # rotation is steady about a principal axis only
    q = points @ (axes * np.linalg.det(axes))
    centrifugal = omega**2 * mass * [1.0, 1.0, 0.0]
    for _ in range(20):
        unbalanced = (system.gradient(q) - centrifugal * q).ravel()
        # Turned about z, or shifted along it, the body is balanced as well: of all solutions the nearest.
        tangent = system.hessian(q).toarray() - np.diag(centrifugal.ravel())
        q = q - np.linalg.lstsq(tangent, unbalanced, rcond=1e-9)[0].reshape(q.shape)
    assert np.abs(unbalanced).max() < 1e-12
    assert np.abs(q - points @ (axes * np.linalg.det(axes))).max() > 1e-3
    return q


@pytest.mark.parametrize("make", [truss, block])
def test_a_body_in_steady_rotation_turns_by_the_exact_angle(make):
    """Each step turns it by 2 atan(ω dt/2); section 6.1 of Graham and Jelenić (2006), eq. 6.5."""
    system, points = make()
    omega, dt = 0.8, 0.5
    q = steadily_rotating(system, points, omega)
    motion = EnergyMomentum(dt).start(system, system.state(q, np.cross([0.0, 0.0, omega], q)))
    for n in range(1, 21):
        angle = n * 2.0 * np.arctan(0.5 * omega * dt)
        cos, sin = np.cos(angle), np.sin(angle)
        turned = q @ [[cos, sin, 0.0], [-sin, cos, 0.0], [0.0, 0.0, 1.0]]
        np.testing.assert_allclose(motion.advance(n * dt).q, turned, atol=1e-11)


# -- solids, contact, supports, loads -----------------------------------------------------------------------------


def drift_of(quantity, motion, times):
    values = np.array([quantity(motion.advance(t)) for t in times])
    return np.abs(values - values[0]).max() / np.abs(values[0]).max(), values


@pytest.mark.parametrize("mass_of", [lumped_mass, consistent_mass])
@pytest.mark.parametrize("linear", ["dense", "sparse"])
def test_a_solid_bounces_off_a_wall_without_losing_energy(mass_of, linear):
    mesh = box((1.0, 0.8, 0.6), (2, 2, 2))
    cells, n = mesh.cells["tetra"], len(mesh.points)
    floor = RigidContact(np.arange(n), HalfSpace((0.0, 0.0, -0.05), (0.0, 0.0, 1.0)), 1e3)
    solid = Solid(mesh.points, cells, NeoHookean(2.0, 1.0, 1.0))
    system = System(mass_of(mesh.points, cells, 1.0, n), {"solid": solid, "floor": floor})
    state = system.state(mesh.points, np.array([0.05, 0.1, -0.6]) + np.cross([0.3, -0.2, 0.9], mesh.points))
    motion = EnergyMomentum(0.02, newton=Newton(linear=linear)).start(system, state)
    pushed, momentum = 0.0, []
    energy = system.energies_of(state)["total"]
    for n in range(1, 61):
        reached = motion.advance(0.02 * n)
        energies = system.energies_of(reached)
        assert energies["total"] == pytest.approx(energy, rel=2e-14)
        pushed = max(pushed, energies["floor"])
        momentum.append(system.momentum(reached))
    assert pushed > 1e-3 * energy
    assert momentum[-1][2] > 0  # it has come back
    np.testing.assert_allclose(np.array(momentum)[:, :2], [system.momentum(state)[:2]] * 60, atol=1e-15)


def test_a_ball_keeps_the_angular_momentum_about_its_centre():
    ball = RigidContact([0, 1], Sphere((0.2, 0.1), 1.0), 50.0)
    spring = Bars([[0, 1]], EngineeringStrain(20.0, 0.5), dim=2)
    system = System(np.array([1.0, 2.0]), {"ball": ball, "spring": spring}, dim=2)
    centre = np.array([0.2, 0.1])
    state = system.state([[1.9, 0.3], [1.9, 0.8]], [[-1.0, 0.1], [-1.1, -0.3]])
    motion = EnergyMomentum(0.05).start(system, state)

    def angular_momentum(state):
        arm = state.q - centre
        return np.sum(system.mass * (arm[:, 0] * state.v[:, 1] - arm[:, 1] * state.v[:, 0]))

    times = 0.05 * np.arange(101)
    drift, _ = drift_of(angular_momentum, motion, times)
    assert drift < 1e-13
    motion = EnergyMomentum(0.05).start(system, state)
    drift, _ = drift_of(lambda state: system.energies_of(state)["total"], motion, times)
    assert drift < 1e-13
    motion = EnergyMomentum(0.05).start(system, state)
    _, pushed = drift_of(lambda state: system.energies_of(state)["ball"] + 1e-300, motion, times)
    assert pushed.max() > 0.1


def hanging(loads=None):
    """Three masses on springs, the first fixed, in gravity."""
    springs = Bars([[0, 1], [1, 2]], EngineeringStrain(30.0, 1.0), dim=2)
    mass = np.array([1.0, 2.0, 1.5])
    fixed = np.array([[True, True], [False, False], [False, True]])
    system = System(mass, {"springs": springs, "weight": Gravity(mass, (0.0, -9.81))}, dim=2, fixed=fixed, loads=loads)
    return system, system.state([[0.0, 0.0], [1.0, 0.2], [2.1, 0.0]], [[0.0, 0.0], [0.3, 1.0], [0.5, 0.0]])


def test_energy_is_kept_with_supports_and_gravity():
    system, state = hanging()
    motion = EnergyMomentum(0.1).start(system, state)
    drift, _ = drift_of(lambda state: system.energies_of(state)["total"], motion, 0.1 * np.arange(201))
    assert drift < 1e-13
    end = motion.advance(20.0)
    np.testing.assert_array_equal(end.q[system.fixed], state.q[system.fixed])
    np.testing.assert_array_equal(end.v[system.fixed], 0.0)
    np.testing.assert_allclose(end.a, system.state(end.q, end.v).a, atol=1e-12)


def test_a_load_does_work_at_the_middle_of_the_step():
    load = NodalLoad([1], (1.0, 2.0), np.sin)
    system, state = hanging({"pull": load})
    motion, dt = EnergyMomentum(0.1).start(system, state), 0.1
    for n in range(20):
        reached = motion.advance((n + 1) * dt)
        work = np.vdot(load((n + 0.5) * dt, state.q, state.v), reached.q - state.q)
        change = system.energies_of(reached)["total"] - system.energies_of(state)["total"]
        assert change == pytest.approx(work, abs=1e-12)
        state = reached


def test_a_damper_is_seen_at_the_mean_velocity():
    system, state = hanging({"damper": lambda t, q, v: -0.5 * v})
    motion, dt = EnergyMomentum(0.1).start(system, state), 0.1
    for n in range(20):
        reached = motion.advance((n + 1) * dt)
        dissipated = 0.5 * np.sum((reached.q - state.q) ** 2) / dt
        change = system.energies_of(reached)["total"] - system.energies_of(state)["total"]
        assert change == pytest.approx(-dissipated, abs=1e-12)
        state = reached


def test_all_midpoint_methods_agree_for_linear_systems():
    """A spring of no natural length is linear: the trapezoidal rule has the same positions at the same start."""
    system = System(np.array([1.0, 3.0]), {"spring": Bars([[0, 1]], EngineeringStrain(40.0, 0.0))})
    state = system.state([[0, 0, 0], [1, 0, 0.5]], [[0.1, 0, 0], [0, 0.4, -0.2]])
    ends = [method(0.1).start(system, state).advance(2.0) for method in (EnergyMomentum, Midpoint, Newmark.trapezoidal)]
    for end in ends[1:]:
        np.testing.assert_allclose(end.q, ends[0].q, atol=1e-12)
        np.testing.assert_allclose(end.v, ends[0].v, atol=1e-12)


# -- trouble ------------------------------------------------------------------------------------------------------


def test_an_energy_with_value_and_gradient_only_is_kept():
    class Anchor(Energy):
        nodes = np.array([[0]], np.int32)

        def value(self, x):
            return 0.5 * (x**2).sum(axis=(1, 2))

        def gradient(self, x):
            return x

    system = System(np.ones(1), {"anchor": Anchor()})
    state = system.state([[1.0, 0.0, 0.0]], [[0.0, 0.3, 0.0]])
    motion = EnergyMomentum(0.1).start(system, state)
    assert motion.energies(motion.advance(10.0))["total"] == pytest.approx(0.545, rel=1e-13)
    assert Midpoint(0.1).start(system, state).advance(1.0).q[0, 0] == pytest.approx(np.cos(1.0), abs=1e-3)


def test_a_law_of_ones_own_runs():
    class Quartic(PairLaw):
        def energy(self, s):
            return 0.25 * s**2

        def slope(self, s):
            return 0.5 * s

        def curvature(self, s):
            return 0.5 + 0 * s

        def quotient(self, s0, s1):
            return 0.5 * (s0 + s1)

        def quotient_slope(self, s0, s1):
            return 0.5 + 0 * s1

    system = System(np.ones(2), {"pair": Bars([[0, 1]], Quartic())})
    state = system.state([[0, 0, 0], [1, 0, 0]], [[0, -0.3, 0], [0.2, 0.4, 0.1]])
    end = EnergyMomentum(0.2).start(system, state).advance(10.0)
    assert system.energies_of(end)["total"] == pytest.approx(system.energies_of(state)["total"], rel=1e-13)
    np.testing.assert_allclose(system.angular_momentum(end), system.angular_momentum(state), atol=1e-13)


def test_a_step_that_cannot_be_solved_says_when_where_and_what_acts_there():
    system, state = stiff_particles()
    integrator = EnergyMomentum(0.04, newton=Newton(iterations=3))
    with pytest.raises(
        StepFailed,
        match=r"EnergyMomentum stopped in the step from t = 0 s \(dt = 0\.04 s\): Newton's method did not converge: "
        r"after 3 corrections the residual is [\d.e+-]+ N at node \d \('springs'\), "
        r"expected [\de+-]+ N or less.*smaller",
    ):
        (motion := integrator.start(system, state)).advance(0.4)
    with pytest.raises(StepFailed, match="stopped within the step from t = 0 s"):
        motion.checkpoint()


def test_a_step_that_cannot_be_solved_may_be_halved():
    system, state = stiff_particles()
    motion = EnergyMomentum(0.04, newton=Newton(iterations=5, halvings=4)).start(system, state)
    end = motion.advance(4.0)
    assert end.t == 4.0
    assert 5 < motion.statistics()["halved"] < 500
    assert system.energies_of(end)["total"] == pytest.approx(system.energies_of(state)["total"], rel=1e-9)
    np.testing.assert_allclose(system.angular_momentum(end), system.angular_momentum(state), atol=1e-11)
    with pytest.raises(StepFailed, match="did not converge: after 1 corrections"):
        EnergyMomentum(0.04, newton=Newton(iterations=1, halvings=2)).start(system, state).advance(4.0)


def test_halvings_of_one_step_are_bounded(monkeypatch):
    """A step whose parts fail again and again, down to the smallest but one, is given up after so many attempts."""
    attempts = []

    def attempt(t, h):
        attempts.append(h)
        if h > 2.0**-29:
            raise StepFailed("no.")

    reported = (
        r"1000 attempts at parts of the step, .* have come .* % of its way\. Try a smaller step, or fewer halvings"
    )
    with pytest.raises(StepFailed, match=reported):
        with_cutbacks(attempt, 0.0, 1.0, 30)
    assert len(attempts) == 1000
    with pytest.raises(StepFailed, match=r"a part of 0\.125 s, after 3 halvings of the step, cannot be taken"):
        with_cutbacks(attempt, 0.0, 1.0, 3)
    assert with_cutbacks(attempt, 0.0, 2.0**-27, 2) == 3


def test_halves_see_loads_at_their_own_times():
    """A step to t = 1 that only converges in four parts is those four."""
    system, state = hanging({"pull": NodalLoad([1], (1.0, 2.0), np.sin)})
    whole = EnergyMomentum(0.8, newton=Newton(iterations=3, halvings=5)).start(system, state)
    end = whole.advance(0.8)
    parts = whole.statistics()["halved"] + 1
    assert parts in (2, 4, 8)
    same = EnergyMomentum(0.8 / parts).start(system, state).advance(0.8)
    np.testing.assert_allclose(end.q, same.q, atol=1e-12)


@pytest.mark.parametrize("dt", [0.0, -1.0, np.nan, "auto"])
def test_a_step_that_is_none_is_refused(dt):
    with pytest.raises(ValueError, match="dt must be a real number" if dt == "auto" else "dt must be (pos|finite)"):
        EnergyMomentum(dt)


def test_wrong_settings_are_refused():
    with pytest.raises(ValueError, match="iterations must be an integer of at least 1"):
        Newton(iterations=0)
    with pytest.raises(ValueError, match="linear must be one of"):
        Newton(linear="magic")


def test_the_step_is_fitted_to_an_interval():
    system, state = hanging()
    assert EnergyMomentum(0.3).fit(system, state, 1.0).dt == 0.25
    assert EnergyMomentum(0.25).fit(system, state, 1.0).dt == 0.25
