"""Graham and Jelenić's methods: the facts of the paper, forces, supports, and what they say when they can't."""

from dataclasses import replace
from itertools import pairwise
from typing import get_args

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from symplex.contact.obstacles import HalfSpace
from symplex.contact.rigid import RigidContact
from symplex.errors import InvalidSystem, StepFailed, UnstableStep
from symplex.fem.actions.loads import Gravity
from symplex.fem.actions.mass import bar_mass, consistent_bar_mass, consistent_mass, lumped_mass
from symplex.fem.measures.bars import Bars, EngineeringStrain, GreenStrain, InverseDistance, all_pairs
from symplex.fem.solids.materials import NeoHookean
from symplex.fem.solids.solid import Solid
from symplex.fem.system import System
from symplex.meshes.generate import box
from symplex.time.conserving.energy_momentum import EnergyMomentum
from symplex.time.conserving.graham_jelenic import GrahamJelenic
from symplex.time.conserving.schemes import ABBREVIATIONS, Scheme
from symplex.time.conserving.turned_angle import inertia_factor, stretch, turned_angle
from symplex.time.implicit.midpoint import Midpoint
from symplex.time.stability import largest_frequency

SCHEMES = get_args(Scheme)
HIGHER = {"momentum-conserving-4": 4, "cayley-magnus-4": 4, "cayley-magnus-6": 6, "cayley-magnus-8": 8}

# -- section 7.1: four masses, six springs --------------------------------------------------------------------------

R0 = np.array(
    [[0.2340, -0.2166, -0.0109], [0.0772, 0.7605, 0.0061], [0.8054, 0.6466, -0.1059], [0.3903, 0.6187, 0.9678]]
)
P0 = np.array(
    [
        [0.04095, -0.01483, 0.04325],
        [-0.02980, 0.04400, -0.02959],
        [-0.02328, -0.01432, -0.03716],
        [0.04152, 0.00114, 0.02621],
    ]
)
FORCES = np.array([[0.0025, 0.01, 0.005], [0.005, 0.0075, 0.005], [0.0075, 0.005, 0.005], [0.01, 0.0025, 0.005]])


def decaying(t, q, v):
    """The decaying force of section 7.1.2."""
    return FORCES * np.exp(-np.array([0.2, 0.4, 0.6]) * t)


def following(t, q, v):
    """A force that depends on time, positions and velocities."""
    return 0.3 * np.cos(t) * (q - q.mean(axis=0)) - 0.2 * v


def springs(**loads):
    return System(np.ones(4), {"springs": Bars(all_pairs(4), EngineeringStrain(1.0, 1.0))}, loads=loads)


def exact(system, q, v, t, t0=0.0):
    def rate(time, y):
        x, w = y.reshape(2, *q.shape)
        return np.concatenate([w.ravel(), system.accelerations(system.force(time, x, w)).ravel()])

    start = np.concatenate([q.ravel(), v.ravel()])
    solution = solve_ivp(rate, (t0, t0 + t), start, method="DOP853", rtol=1e-13, atol=1e-14)
    return solution.y[:, -1].reshape(2, *q.shape)


def errors_of(scheme, system, q, v, t, steps, **options):
    far_q, far_v = exact(system, q, v, t)
    ends = [GrahamJelenic(t / n, scheme, **options).start(system, system.state(q, v)).advance(t) for n in steps]
    return np.array([max(np.abs(e.q - far_q).max(), np.abs(e.v - far_v).max()) for e in ends])


@pytest.mark.parametrize(
    ("scheme", "load"),
    [
        *((scheme, following) for scheme in SCHEMES),
        ("symplectic-momentum", None),
        ("kappa", None),
        ("momentum-conserving-4", decaying),
        ("cayley-magnus-6", decaying),
    ],
)
def test_orders_with_forces_of_all_kinds(scheme, load):
    system = springs(**({} if load is None else {"load": load}))
    order = GrahamJelenic(0.1, scheme).order
    assert order == HIGHER.get(scheme, 2)
    steps = (24, 36) if scheme == "kappa" else (12, 18)
    errors = errors_of(scheme, system, R0, P0, 4.0, steps)
    assert errors[-1] > 1e-11
    assert np.log(errors[0] / errors[1]) / np.log(1.5) == pytest.approx(order, abs=0.25)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_momenta_are_kept(scheme):
    system = springs()
    motion = GrahamJelenic(0.25, scheme).start(system, system.state(R0, P0))
    start, end = motion.advance(0.0), motion.advance(5.0)
    np.testing.assert_allclose(system.momentum(end), system.momentum(start), atol=1e-14)
    np.testing.assert_allclose(system.angular_momentum(end), system.angular_momentum(start), atol=1e-14)


@pytest.mark.parametrize("scheme", ["energy-momentum", "momentum-conserving-4", "cayley-magnus-6"])
def test_momentum_changes_by_the_impulse_of_forces(scheme):
    system = springs(pull=lambda t, q, v: FORCES)
    motion = GrahamJelenic(0.25, scheme).start(system, system.state(R0, P0))
    change = system.momentum(motion.advance(2.5)) - system.momentum(system.state(R0, P0))
    np.testing.assert_allclose(change, 2.5 * FORCES.sum(axis=0), atol=1e-14)


def test_the_schemes_of_second_order_are_the_methods_known_by_other_names():
    system = springs(load=following)
    state = system.state(R0, P0)
    for scheme, method in (("symplectic-momentum", Midpoint), ("energy-momentum", EnergyMomentum)):
        ours = GrahamJelenic(0.25, scheme).start(system, state).advance(5.0)
        known = method(0.25).start(system, state).advance(5.0)
        np.testing.assert_allclose(ours.q, known.q, atol=1e-14)
        np.testing.assert_allclose(ours.v, known.v, atol=1e-14)
    # For quadratic energies of the length, assumed distances are energy-momentum.
    ours = GrahamJelenic(0.25, "assumed-distance").start(system, state).advance(5.0)
    np.testing.assert_allclose(ours.q, known.q, atol=1e-14)


@pytest.mark.parametrize("scheme", ["energy-momentum", "energy-momentum-exact-angle", "kappa"])
def test_energy_is_kept_with_the_work_of_loads(scheme):
    # κ is defined for constant forces (eq. 4.9): of others it keeps what this force of a potential does.
    system = springs(pull=lambda t, q, v: FORCES)
    motion = GrahamJelenic(0.25, scheme).start(system, system.state(R0, P0))
    start, end = motion.advance(0.0), motion.advance(5.0)
    parts = motion.energies(end)
    assert parts["balance"] == pytest.approx(system.energies_of(start)["total"], abs=1e-14)
    assert parts["work_pull"] == pytest.approx(np.vdot(FORCES, end.q - start.q), abs=1e-13)


@pytest.mark.parametrize("scheme", ["momentum-conserving-4", "cayley-magnus-4", "cayley-magnus-6", "cayley-magnus-8"])
def test_momentum_changes_by_the_impulse_of_forces_that_decay_in_long_steps(scheme):
    """Eq. 6.8 takes the mean of the force over a step: nine digits at a step of 1 s (section 7.1.2)."""
    system = springs(load=decaying)
    end = GrahamJelenic(1.0, scheme).start(system, system.state(R0, P0)).advance(10.0)
    rates = np.array([0.2, 0.4, 0.6])
    expected = P0.sum(axis=0) + (FORCES * (1.0 - np.exp(-10.0 * rates)) / rates).sum(axis=0)
    np.testing.assert_allclose(system.momentum(end), expected, rtol=1e-10)


@pytest.mark.parametrize("scheme", ["momentum-conserving-4", "cayley-magnus-6"])
def test_the_work_of_loads_is_of_the_order_of_the_scheme(scheme):
    system = springs(load=following)
    motions = [GrahamJelenic(4.0 / n, scheme).start(system, system.state(R0, P0)) for n in (10, 20)]
    ends = [motion.energies(motion.advance(4.0))["balance"] for motion in motions]
    errors = np.abs(np.array(ends) - system.energies_of(system.state(R0, P0))["total"])
    assert errors[1] < 2.0 ** -(HIGHER[scheme] - 0.5) * errors[0]


def test_consistent_mass_gives_the_same_orders():
    points, pairs = np.eye(4, 3), all_pairs(4)
    mass = consistent_bar_mass(points, pairs, 1.0, 1.0, 4)
    system = System(mass, {"springs": Bars(pairs, EngineeringStrain(1.0, 1.0))}, loads={"load": decaying})
    for scheme in ("exact-steady-motion", "momentum-conserving-4", "cayley-magnus-6"):
        errors = errors_of(scheme, system, R0, P0, 2.0, (6, 9))
        order = GrahamJelenic(0.1, scheme).order
        assert np.log(errors[0] / errors[1]) / np.log(1.5) == pytest.approx(order, abs=0.3)


# -- section 7.2: a truss in relative equilibrium ---------------------------------------------------------------------

POINTS = np.array([[0, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0], [1, 0, 0]], float)
PAIRS = np.array([[0, 1], [0, 2], [0, 3], [0, 4], [1, 2], [2, 3], [3, 4], [4, 1]])
OMEGA, DRIFT = 1.0, 0.75


def truss(mass=consistent_bar_mass):
    lengths = np.linalg.norm(POINTS[PAIRS[:, 1]] - POINTS[PAIRS[:, 0]], axis=1)
    return System(mass(POINTS, PAIRS, 1.0, 1.0, 5), {"bars": Bars(PAIRS, GreenStrain(100.0 / lengths, lengths))})


def equilibrium(system):
    """Return positions and velocities of eq. 2.37, to round-off."""

    def unbalanced(stretch):
        return (system.gradient(stretch * POINTS) - OMEGA**2 * system.apply_mass(stretch * POINTS))[1, 1]

    q = brentq(unbalanced, 1.0, 1.1, xtol=1e-15, rtol=1e-15) * POINTS
    return q, np.cross([0.0, 0.0, -OMEGA], q) + np.array([0.0, 0.0, DRIFT])


def test_the_truss_is_that_of_the_paper():
    q, v = equilibrium(truss())
    assert q[1, 1] == pytest.approx(1.0052720575, abs=5e-11)  # with a consistent mass,
    assert v[1] == pytest.approx([1.0052720575, 0.0, 0.75], abs=5e-11)
    assert equilibrium(truss(bar_mass))[0][1, 1] != pytest.approx(1.0052720575, abs=1e-3)  # not a lumped one


@pytest.mark.parametrize("mass", [consistent_bar_mass, bar_mass])
@pytest.mark.parametrize(
    "scheme",
    [
        "energy-momentum",
        "assumed-distance",
        "energy-momentum-exact-angle",
        "exact-steady-motion",
        "momentum-conserving-4",
    ],
)
def test_relative_equilibria_are_kept_with_the_rates_of_the_paper(scheme, mass):
    system = truss(mass)
    q, v = equilibrium(system)
    dt, steps = 0.25, 12
    x = OMEGA * dt
    motion = GrahamJelenic(dt, scheme).start(system, system.state(q, v))
    states = [motion.advance(n * dt) for n in range(steps + 1)]
    turned = np.unwrap([np.arctan2(s.q[1, 0], s.q[1, 1]) for s in states])
    moved = np.array([s.q[0, 2] for s in states])
    alpha = 1.0 + x**2 / 12 if scheme == "momentum-conserving-4" else 1.0
    exact_angle = scheme.startswith(("energy-momentum-exact", "exact-steady"))
    rate = 1.0 if exact_angle else np.arctan(alpha * x / 2) / (x / 2)  # λ_r of eqs. 6.5, 6.10, 6.15
    drift = np.tan(x / 2) / (x / 2) if scheme == "energy-momentum-exact-angle" else 1.0  # λ_t
    np.testing.assert_allclose(turned, rate * x * np.arange(steps + 1), atol=2e-13)
    np.testing.assert_allclose(moved, drift * DRIFT * dt * np.arange(steps + 1), atol=2e-13)
    for s in states:  # nothing but a rotation and a translation
        np.testing.assert_allclose(np.linalg.norm(s.q[:, :2], axis=1), np.linalg.norm(q, axis=1), atol=2e-13)


def test_orders_of_the_rotation_of_cayley_magnus_methods():
    """λ_r is that of C for a constant 𝓕 up to what the interpolant lacks of a rotation; SM does not keep the shape."""
    system = truss()
    q, v = equilibrium(system)
    for scheme, series, off in (
        ("cayley-magnus-4", [1.0, 1 / 12], 1e-5),
        ("cayley-magnus-6", [1.0, 1 / 12, 1 / 120], 5e-9),
    ):
        x = 0.25
        end = GrahamJelenic(x, scheme).start(system, system.state(q, v)).advance(x)
        turned = np.arctan2(end.q[1, 0], end.q[1, 1])
        predicted = 2 * np.arctan(sum(c * x ** (2 * k + 1) for k, c in enumerate(series)) / 2)
        assert turned == pytest.approx(predicted, abs=off)
        assert turned != pytest.approx(2 * np.arctan(x / 2), abs=1e-4)
    end = GrahamJelenic(0.25, "symplectic-momentum").start(system, system.state(q, v)).advance(3.0)
    assert np.abs(np.linalg.norm(end.q[1:, :2], axis=1) - q[1, 1]).max() > 1e-6


# -- Hermite's interpolant ---------------------------------------------------------------------------------------------


def errors_in_positions(interpolant, scheme, steps):
    """The errors at t = 4 s on the springs, against four times as many steps of CM8."""
    system = springs()
    start = system.state(R0, P0)
    exact = GrahamJelenic(1 / steps, "cayley-magnus-8").start(system, start).advance(4.0).q
    return np.abs(GrahamJelenic(4 / steps, scheme, interpolant=interpolant).start(system, start).advance(4.0).q - exact)


def test_hermites_interpolant_is_more_accurate_where_vibrations_are_resolved():
    for steps in (16, 32):
        stable, hermite = (errors_in_positions(of, "cayley-magnus-4", steps).max() for of in ("stable", "hermite"))
        assert stable > 2.0 * hermite > 0.0


@pytest.mark.parametrize(("interpolant", "grows"), [("stable", False), ("hermite", True)])
def test_a_vibration_in_the_unstable_band(interpolant, grows):
    """hω = 3.2 with CM4; with a consistent mass nobody looks for the stability limit."""
    bar = Bars([[0, 1]], GreenStrain(np.array([100.0]), np.array([1.0])))
    points = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    mass = consistent_bar_mass(points, np.array([[0, 1]]), 1.0, 1.0, 2)
    system = System(mass, {"bar": bar})
    omega = np.sqrt(100.0 * 2.0 / (1.0 / 6.0))  # two masses of (1/3 − 1/6) kg apart
    v = 1e-6 * omega * np.array([[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    motion = GrahamJelenic(3.2 / omega, "cayley-magnus-4", interpolant=interpolant).start(
        system, system.state(points, v)
    )
    largest = max(np.abs(motion.advance(n * 3.2 / omega).q - points).max() for n in range(1, 31))
    assert (largest > 1e-4) == grows
    assert grows or largest < 1.5e-6


def test_steps_above_the_limit_of_hermites_interpolant_are_refused():
    system, q, v = block(1, 0.02)
    omega = largest_frequency(system, q)
    for scheme, limit in (("cayley-magnus-4", 3.0), ("cayley-magnus-6", 3.1486), ("cayley-magnus-8", 3.1415)):
        GrahamJelenic(0.999 * limit / omega, scheme, interpolant="hermite").start(system, system.state(q, v))
        with pytest.raises(UnstableStep, match=rf"{scheme} with Hermite's interpolant, .* s\. Try dt = .*\"stable\""):
            GrahamJelenic(1.001 * limit / omega, scheme, interpolant="hermite").start(system, system.state(q, v))


# -- angles -----------------------------------------------------------------------------------------------------------


def turning(theta, axis):
    hat = np.cross(np.asarray(axis, float) / np.linalg.norm(axis), np.eye(3)).T
    return np.eye(3) + np.sin(theta) * hat + (1 - np.cos(theta)) * hat @ hat


@pytest.mark.parametrize("theta", [0.0, 1e-9, 0.3, 3.0, np.pi - 1e-6])
def test_angles_of_rotations_in_plane_and_space(theta):
    flat = POINTS + np.array([3.0, -2.0, 0.5])
    system = truss(bar_mass)
    turned = (flat - flat[0]) @ turning(theta, [0, 0, 1]).T + flat[0] + [0.2, 0.3, 0.1]
    for angle in ("body", "nodes"):
        assert turned_angle(system, flat, turned, angle) == pytest.approx(theta, abs=1e-15, rel=1e-12)
        plane = System(system.mass, {}, dim=2)
        seen = turned_angle(plane, flat[:, :2].copy(), turned[:, :2].copy(), angle)
        assert seen == pytest.approx(theta, abs=1e-15, rel=1e-12)
    # A body in space, about a principal axis: only "body" knows that nodes off the plane turn about the axis.
    brick = np.array([[x, 2 * y, 3 * z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
    turned = brick @ turning(theta, [0, 1, 0]).T
    bodies = System(np.ones(8), {})
    assert turned_angle(bodies, brick, turned, "body") == pytest.approx(theta, abs=1e-15, rel=1e-12)
    if 0.1 < theta < 3.0:
        assert turned_angle(bodies, brick, turned, "nodes") < 0.99 * theta


def test_angles_where_little_turns():
    bar = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]])  # the middle one is at the centre of mass
    system = System(np.ones(3), {})
    for angle in ("body", "nodes"):
        assert turned_angle(system, bar, 1.1 * bar + 5.0, angle) == pytest.approx(0.0, abs=1e-15)
        turned = bar @ turning(2.0, [0, 1, 1]).T
        assert turned_angle(system, bar, turned, angle) == pytest.approx(
            np.arctan2(np.linalg.norm(np.cross(bar[2], turned[2])), bar[2] @ turned[2]), rel=1e-12
        )
        assert turned_angle(system, np.ones((3, 3)), np.ones((3, 3)), angle) == 0.0  # all nodes in one place


def test_factors_of_the_angle():
    assert stretch(0.0) == 1.0
    assert stretch(0.4) == pytest.approx(np.tan(0.2) / 0.2, rel=1e-15)
    assert inertia_factor(0.0) == pytest.approx(-1 / 12, rel=1e-15)
    for theta in (0.05, 0.1999, 0.2001, 1.0, 3.0):
        x = np.longdouble(theta) / 2
        expected = (x - np.tan(x)) / (4 * x * x * np.tan(x))
        assert inertia_factor(theta) == pytest.approx(float(expected), rel=2e-13)
    with pytest.raises(StepFailed, match="half"):
        stretch(np.pi - 1e-9)


def test_a_half_turn_in_a_step_is_refused():
    system = truss()
    q, v = equilibrium(system)
    for scheme in ("energy-momentum-exact-angle", "exact-steady-motion"):
        with pytest.raises(StepFailed, match=scheme):
            GrahamJelenic(np.pi, scheme).start(system, system.state(q, v)).advance(np.pi)


def test_the_angle_of_a_solid_in_space():
    """A block that turns steadily about a principal axis: "body" turns it by the exact angle, "nodes" does not."""
    system, q, v = block(2)
    q, v = steady(system, q, 0.5)
    dt = 0.4
    for angle, exact_angle in (("body", True), ("nodes", False)):
        end = GrahamJelenic(dt, "exact-steady-motion", angle=angle).start(system, system.state(q, v)).advance(4 * dt)
        expected = q @ turning(0.5 * 4 * dt, [0, 0, 1]).T
        assert (np.abs(end.q - expected).max() < 1e-11) == exact_angle


def block(n, stretch_by=0.0, mass=lumped_mass):
    mesh = box((1.0, 0.8, 0.6), (n, n, n))
    tetrahedra = mesh.cells["tetra"]
    points = mesh.points - mesh.points.mean(axis=0)
    solid = Solid(points, tetrahedra, NeoHookean(20.0, 10.0, 1.0))
    q = points * [1.0 + stretch_by, 1.0 - 0.5 * stretch_by, 1.0]
    return System(mass(points, tetrahedra, 1.0, len(points)), {"solid": solid}), q, np.cross([0.2, -0.1, 0.5], points)


def steady(system, q, omega):
    """Return a relative equilibrium about the third axis by Newton's method, with that axis kept where it is."""
    spin = np.kron(np.eye(len(q)), np.diag([1.0, 1.0, 0.0])) * omega**2
    for _ in range(20):
        force = (system.gradient(q) - omega**2 * system.apply_mass(q) * [1, 1, 0]).ravel()
        K = system.hessian(q).toarray() - np.repeat(system.mass, 3)[:, None] * spin
        moves = [np.tile(e, len(q)) for e in np.eye(3)] + [np.cross([0, 0, 1.0], q).ravel()]
        bordered = np.block([[K, np.array(moves).T], [np.array(moves), np.zeros((4, 4))]])
        q = q - np.linalg.solve(bordered, np.append(force, np.zeros(4)))[: q.size].reshape(q.shape)
    assert np.abs(force).max() < 1e-13
    q = q - system.apply_mass(q).sum(axis=0) / system.mass.sum()
    return q, np.cross([0, 0, omega], q)


# -- stiff systems, supports, external energies ------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["energy-momentum", "momentum-conserving-4", "cayley-magnus-4", "cayley-magnus-6"])
def test_steps_far_above_the_explicit_limit(scheme):
    system, q, v = block(2, 0.02)
    h = (10.0 if scheme == "cayley-magnus-6" else 20.0) / largest_frequency(system, q)
    motion = GrahamJelenic(h, scheme).start(system, system.state(q, v))
    start, end = motion.advance(0.0), motion.advance(10 * h)
    np.testing.assert_allclose(system.momentum(end), system.momentum(start), atol=1e-14)
    np.testing.assert_allclose(system.angular_momentum(end), system.angular_momentum(start), atol=1e-13)
    counts = motion.statistics()
    assert counts["iterations"] < 30 * counts["steps"]
    assert counts["factorised"] <= 6


@pytest.mark.parametrize(
    ("scheme", "reach"), [("energy-momentum", 20.0), ("cayley-magnus-4", 20.0), ("momentum-conserving-4", 2.4)]
)
def test_a_motion_goes_on_bit_identically_from_each_step(scheme, reach):
    """The checkpoint knows where the stiffness was taken, and how much work the last steps were.

    Motions with factors make new ones on the way; those with hω = 2.4 find after a step that they should have some.
    """
    system, q, v = block(1, 0.02)
    h = reach / largest_frequency(system, q)
    method = GrahamJelenic(h, scheme)
    motion = method.start(system, system.state(q, v))
    stored = []
    for n in range(12):
        motion.advance(n * h)
        stored.append(motion.checkpoint())
    factorised = [int(checkpoint["factorised"][0]) for checkpoint in stored]
    assert factorised[-1] > factorised[1]
    for n, (before, after) in enumerate(pairwise(stored)):
        resumed = method.resume(system, before)
        resumed.advance((n + 1) * h)
        for name, array in resumed.checkpoint().items():
            np.testing.assert_array_equal(array, after[name], err_msg=f"{name} of step {n}")


def test_supports_stay_and_the_order_does_too():
    system, q, _ = block(1, 0.05)
    fixed = np.zeros(q.shape, bool)
    fixed[q[:, 0] < -0.4] = True
    fixed[-1, 2] = True
    held = System(system.mass, system.energies, fixed=fixed)
    v = np.where(fixed, 0.0, 0.3 * q[:, ::-1])
    for scheme, steps in (
        ("momentum-conserving-4", (10, 15)),
        ("cayley-magnus-6", (6, 9)),
        ("exact-steady-motion", (16, 24)),
    ):
        errors = errors_of(scheme, held, q, v, 0.2, steps)
        order = GrahamJelenic(0.1, scheme).order
        assert np.log(errors[0] / errors[1]) / np.log(1.5) == pytest.approx(order, abs=0.35)
    h = 30.0 / largest_frequency(held, q)  # with factors
    end = GrahamJelenic(h, "energy-momentum").start(held, held.state(q, v)).advance(5 * h)
    np.testing.assert_array_equal(end.q[fixed], q[fixed])
    assert not end.v[fixed].any()


def falling(scheme="cayley-magnus-6", external=("floor", "weight")):
    system, q, v = block(1)
    q = q + np.array([0.0, 0.0, 0.32])
    floor = RigidContact(np.arange(len(q)), HalfSpace([0.0, 0.0, 0.0], [0.0, 0.0, 1.0]), 1e-2)
    energies = {**system.energies, "floor": floor, "weight": Gravity(system.mass, [0.0, 0.0, -1.0])}
    system = System(system.mass, energies)
    return system, system.state(q, v - np.array([0.0, 0.0, 1.0])), GrahamJelenic(0.01, scheme, external=external)


def test_energies_without_a_secant_form_are_named_with_the_way_out():
    system, state, method = falling(external=("weight",))
    with pytest.raises(InvalidSystem, match=r"energy 'floor' \(RigidContact\).*external=\(\"weight\", \"floor\"\):"):
        method.start(system, state)
    system, state, method = falling(external=("weight", "ground"))
    with pytest.raises(InvalidSystem, match=r"'ground'.*'floor'"):
        method.start(system, state)


@pytest.mark.parametrize("scheme", ["momentum-conserving-4", "cayley-magnus-6", "exact-steady-motion"])
def test_external_energies_act_like_loads(scheme):
    system, state, method = falling(scheme)
    motion = method.start(system, state)
    end = motion.advance(0.2)
    assert motion.energies(end)["floor"] > 1e-3 * system.kinetic(state.v)  # it has landed
    exact_q, _ = exact(system, state.q, state.v, 0.2)
    np.testing.assert_allclose(end.q, exact_q, atol=3e-3 if scheme == "exact-steady-motion" else 1e-4)


def test_gravity_between_bodies_of_large_eccentricity():
    """Pairs with a pole: a step near it takes what it takes, and is of order 8."""
    system = System(np.array([1.0, 1e-3]), {"gravity": Bars([[0, 1]], InverseDistance(1e-3), dim=2)}, dim=2)
    q, v = np.array([[0.0, 0.0], [0.5, 0.0]]), np.array([[0.0, -1.7e-3], [0.0, 1.7]])
    errors = errors_of("cayley-magnus-8", system, q, v, 2.0, (20, 30))
    assert np.log(errors[0] / errors[1]) / np.log(1.5) == pytest.approx(8.0, abs=0.3)


# -- failures ----------------------------------------------------------------------------------------------------------


def test_kappa_that_does_not_exist_is_reported_with_numbers():
    system = truss()
    q, v = equilibrium(system)
    for state in (system.state(POINTS), system.state(q, v)):
        with pytest.raises(StepFailed, match=r"κ does not exist: .* J .* take energy-momentum"):
            GrahamJelenic(0.1, "kappa").start(system, state).advance(0.1)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_step_that_can_t_be_solved_fails_with_what_was_reached(scheme):
    system = springs()
    motion = GrahamJelenic(0.5, scheme, iterations=2).start(system, system.state(R0, P0))
    with pytest.raises(StepFailed, match=rf"GrahamJelenic {scheme} stopped in the step from t = 0 s"):
        motion.advance(0.5)
    with pytest.raises(StepFailed, match="resume from an earlier checkpoint"):
        motion.advance(1.0)


@pytest.mark.parametrize(
    ("options", "reported"),
    [
        ({"dt": 0.0}, "dt must be positive"),
        ({"dt": 0.1, "scheme": "CM5"}, "scheme must be one of"),
        ({"dt": 0.1, "external": "floor"}, "external must be a sequence, each a short string"),
        (
            {"dt": 0.1, "scheme": "energy-momentum", "external": ("floor",)},
            "energy-momentum takes all energies as they are",
        ),
        ({"dt": 0.1, "angle": "mean"}, "angle must be one of"),
        ({"dt": 0.1, "interpolant": "cubic"}, "interpolant must be one of 'stable', 'hermite', got 'cubic'"),
        (
            {"dt": 0.1, "scheme": "momentum-conserving-4", "interpolant": "hermite"},
            "is for cayley-magnus-4, .*; momentum-conserving-4 has no interpolant",
        ),
        ({"dt": 0.1, "iterations": 0}, "iterations must be an integer of at least 1"),
        ({"dt": 0.1, "linear": "magic"}, "linear must be one of"),
    ],
)
def test_bad_parameters_are_refused(options, reported):
    with pytest.raises(ValueError, match=reported):
        GrahamJelenic(**options)


def test_what_can_t_be_moved_is_refused():
    line = System(np.ones(2), {"spring": Bars([[0, 1]], EngineeringStrain(1.0, 1.0), dim=1)}, dim=1)
    state = line.state(np.array([[0.0], [1.1]]))
    with pytest.raises(InvalidSystem, match="nothing turns on a line"):
        GrahamJelenic(0.1, "energy-momentum-exact-angle").start(line, state)
    end = GrahamJelenic(0.1, "cayley-magnus-8").start(line, state).advance(0.5)
    assert end.q[1, 0] - end.q[0, 0] == pytest.approx(1.0 + 0.1 * np.cos(np.sqrt(2.0) * 0.5), abs=1e-10)
    system = springs()
    light = System(np.array([1.0, 1.0, 1.0, 0.0]), system.energies, massless=[False, False, False, True])
    with pytest.raises(InvalidSystem, match="mass at all nodes"):
        GrahamJelenic(0.1).start(light, light.state(R0))


def test_a_solid_with_consistent_mass_keeps_both_momenta():
    system, q, v = block(1, 0.1, consistent_mass)
    motion = GrahamJelenic(0.05, "cayley-magnus-6").start(system, system.state(q, v))
    start, end = motion.advance(0.0), motion.advance(0.5)
    np.testing.assert_allclose(system.momentum(end), system.momentum(start), atol=1e-14)
    np.testing.assert_allclose(system.angular_momentum(end), system.angular_momentum(start), atol=1e-14)


def test_a_step_that_divides_an_interval():
    system = springs()
    method = GrahamJelenic(0.3, "momentum-conserving-4").fit(system, system.state(R0, P0), 1.0)
    assert method.dt == pytest.approx(0.25)
    assert method.scheme == "momentum-conserving-4"


def test_assumed_distances_take_gravity_and_contact():
    """Which have no strains: they give their discrete gradient, and energy is kept where lengths are engineering's."""
    q = np.array([[0.0, 0.0, 0.3], [1.0, 0.0, 0.4]])
    mass = np.ones(2)
    energies = {
        "bar": Bars([[0, 1]], EngineeringStrain(50.0, 1.0)),
        "gravity": Gravity(mass, (0.0, 0.0, -9.81)),
        "floor": RigidContact([0, 1], HalfSpace((0.0, 0.0, 0.0), (0.0, 0.0, 1.0)), stiffness=1e3),
    }
    system = System(mass, energies)
    state = system.state(q, np.array([1.0, 0.2, 0.0]))
    motion = GrahamJelenic(0.01, "assumed-distance").start(system, state)
    end = motion.advance(1.0)
    assert np.abs(end.q[:, 2]).min() < 0.3
    assert system.energies_of(end)["total"] == pytest.approx(system.energies_of(state)["total"], rel=1e-12)


@pytest.mark.parametrize(("abbreviation", "scheme"), ABBREVIATIONS.items())
def test_abbreviations_of_the_paper_are_accepted(abbreviation, scheme):
    method = GrahamJelenic(0.1, abbreviation)
    assert method == GrahamJelenic(0.1, scheme)
    assert method.scheme == scheme
    assert method.name == f"GrahamJelenic {scheme}"
    assert replace(method, dt=0.2).scheme == scheme
