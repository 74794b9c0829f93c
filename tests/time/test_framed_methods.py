"""Frames that supports move, rigid bodies as frames in contact, and methods besides those of `test_framed_motion`."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import symplex as sx
from reference.lines import flying, spaghetti
from symplex.contact import RigidBodies, RigidBody
from symplex.contact.bodies import BodyContact
from symplex.contact.surfaces import Surface
from symplex.errors import InvalidSystem, StepFailed
from symplex.fem.actions.support_motion import SupportMotion
from symplex.fem.structures.frames import Frames

COSINE = sx.actions.TimeFunction(
    lambda t: 0.4 * (1.0 - np.cos(3.0 * t)), lambda t: 1.2 * np.sin(3.0 * t), lambda t: 3.6 * np.cos(3.0 * t)
)
AXIS = (0.3, 1.0, 0.2)


# -- supports that move frames ----------------------------------------------------------------------------------------


def driven(motion):
    """A beam whose root is moved as a function of its particles says."""
    built = spaghetti(3)
    moving = {"root": motion(built.particles([0]).ravel(), built.points)}
    system = sx.System(built.mass, {"beams": built.energy}, frames=built.frames, moving=moving)
    return built, system, system.state(built.points, system.held(0.0, np.zeros_like(built.points)))


def swung(nodes, points):
    return sx.actions.SupportRotation(nodes, points, COSINE, center=points[0] + 0.1, axis=AXIS)


def shaken(nodes, points):
    return sx.actions.SupportTranslation(nodes, AXIS, COSINE)


@pytest.mark.parametrize("motion", [swung, shaken])
def test_the_work_of_a_root_that_is_moved_is_the_energy(motion):
    built, system, start = driven(motion)
    motion = sx.EnergyMomentum(0.02).start(system, start)
    end = motion.advance(2.0)
    energies = motion.energies(end)
    assert built.frames.distortion(end.q) < 1e-12
    assert abs(energies["work_root"]) > 1.0
    balance = energies["balance"] - system.energies_of(start)["total"]
    assert abs(balance) < 1e-12 * max(energies["total"], abs(energies["work_root"]))


@pytest.mark.parametrize("method", [sx.EnergyMomentum, sx.Midpoint])
def test_methods_are_of_second_order_with_a_root_that_is_rotated(method):
    _, system, start = driven(swung)
    exact = sx.Rattle(2e-4, {}).start(system, start).advance(0.5).q
    errors = [np.abs(method(dt).start(system, start).advance(0.5).q - exact).max() for dt in (0.025, 0.0125, 0.00625)]
    assert_allclose(np.log2(np.divide(errors[:-1], errors[1:])), 2.0, atol=0.2)


def test_a_beam_follows_a_root_that_is_rotated_to_another_equilibrium():
    """By 150°, at once and in steps of load."""
    turn = sx.actions.TimeFunction.steady(2.6)
    built, system, _ = driven(
        lambda nodes, points: sx.actions.SupportRotation(nodes, points, turn, center=points[0], axis=AXIS)
    )
    found = sx.equilibria.static_equilibrium(system, built.points, t=1.0)
    assert built.frames.distortion(found.state.q) < 1e-13
    assert abs(system.potentials(found.state.q)["beams"]) < 1e-20
    R = built.frames.rotations(built.points, found.state.q)
    assert_allclose(np.arccos(0.5 * (np.trace(R, axis1=1, axis2=2) - 1.0)), 2.6, atol=1e-9)


def test_a_support_that_would_deform_a_frame_is_refused():
    class Stretch(SupportMotion):
        """All particles along x, each as far as its number says."""

        axes, smooth, span = (0, 1, 2), True, (-np.inf, np.inf)

        def __init__(self, nodes):
            self.nodes = np.asarray(nodes, np.int32)

        def displacement(self, t):
            return t * np.arange(4.0)[:, None] * [1.0, 0.0, 0.0]

        def velocity(self, t):
            return self.displacement(1.0)

        def acceleration(self, t):
            return self.displacement(0.0)

    _, system, start = driven(lambda nodes, points: Stretch(nodes))
    with pytest.raises(StepFailed, match=r"supports must move a frame as a rigid body, by less than 180° in a step; "):
        sx.EnergyMomentum(0.02).start(system, start).advance(0.02)


# -- contact between bodies -------------------------------------------------------------------------------------------


def thrown(law="penalty"):
    """A rigid ball that spins and is thrown at a soft block, both free."""
    block = sx.box((0.2, 0.2, 0.1), (2, 2, 1), split="hexahedra", origin=(-0.1, -0.1, -0.1))
    ball = RigidBody.sphere(0.05, density=2000.0, refinements=1).placed((0.01, 0.02, 0.058), np.eye(3))
    n = len(block.points)
    rigid = RigidBodies({"ball": ball}, n)
    rubber = sx.NeoHookean.from_young(1e5, 0.3, 1000.0)
    hexahedra = block.cells["hexahedron"]
    solid = sx.Solid(block.points, hexahedra, rubber, formulation="full")
    surface = rigid.surface(Surface.of(block, ["body"]))
    contact = BodyContact(surface, 1e8 if law == "penalty" else 1e7, distance=5e-3, law=law)
    energies = {"solid": solid, "contact": rigid.of_points(contact)}
    mass = rigid.mass(sx.lumped_mass(block.points, hexahedra, 1000.0, n))
    system = sx.System(mass, energies, frames=rigid.frames())
    v = rigid.velocities(np.zeros(3), {"ball": (0.3, 0.0, -2.0)}, {"ball": (5.0, 40.0, 0.0)})
    return rigid, system, system.state(rigid.positions(block.points), v)


@pytest.mark.parametrize("law", ["penalty", "barrier"])
def test_a_rigid_ball_bounces_off_a_block_with_all_energy_and_momenta(law):
    rigid, system, start = thrown(law)
    motion = sx.EnergyMomentum(5e-4).start(system, start)
    energy, most = system.energies_of(start)["total"], 0.0
    for t in np.arange(1, 31) * 1e-3:
        end = motion.advance(t)
        energies = system.energies_of(end)
        most = max(most, energies["contact"])
        assert abs(energies["total"] / energy - 1.0) < 1e-12
    assert most > 0.02 * energy
    assert rigid.motion("ball", end.q, end.v)[0][2] > -1.0
    for momentum in (system.momentum, system.angular_momentum):
        assert np.linalg.norm(momentum(end) - momentum(start)) < 1e-12 * np.linalg.norm(momentum(start))
    assert system.frames.distortion(end.q) < 1e-13


# -- methods that carry accelerations ---------------------------------------------------------------------------------

CARRYING = {
    "generalised-α": sx.GeneralizedAlpha,
    "generalised-α, ρ = 1": lambda h: sx.GeneralizedAlpha(h, 1.0),
    "HHT": sx.HilberHughesTaylor,
    "trapezoidal": sx.Newmark.trapezoidal,
}


@pytest.mark.parametrize("name", CARRYING)
def test_methods_that_carry_accelerations_are_of_second_order(name):
    _, system, start = flying(3)
    exact = sx.Rattle(2e-4, {}).start(system, start).advance(0.5)
    ends = [CARRYING[name](dt).start(system, start).advance(0.5) for dt in (0.00625, 0.003125, 0.0015625)]
    for component in ("q", "v"):
        errors = [np.abs(getattr(end, component) - getattr(exact, component)).max() for end in ends]
        assert_allclose(np.log2(np.divide(errors[:-1], errors[1:])), 2.0, atol=0.25)


@pytest.mark.parametrize("name", CARRYING)
def test_what_is_across_rigid_motions_does_not_grow(name):
    """As it would for equations of index 3 with carried accelerations: by 1e6 in this span under the trapezoidal rule.

    Spins of 3 rad/s in steps of 0.05 s.
    """
    _, system, start = flying(2)
    end = CARRYING[name](0.05).start(system, start).advance(50.0)
    assert system.frames.distortion(end.q) < 1e-12
    rigid = system.frames.resultants(system, system.apply_mass(end.v), end.q) / np.asarray(system.mass)[:, None]
    assert np.abs(end.v - rigid).max() < 1e-13
    assert np.linalg.norm(system.momentum(end) - system.momentum(start)) < 1e-12 * np.linalg.norm(
        system.momentum(start)
    )
    energies = [system.energies_of(state)["total"] for state in (start, end)]
    assert 0.3 < energies[1] / energies[0] < 1.02


@pytest.mark.parametrize("gamma", [0.6, 0.9])
def test_newmarks_damped_members_are_of_first_order(gamma):
    _, system, start = flying(2)
    exact = sx.Rattle(2e-4, {}).start(system, start).advance(0.2).q
    beta = 0.25 * (gamma + 0.5) ** 2
    errors = [
        np.abs(sx.Newmark(dt, beta, gamma).start(system, start).advance(0.2).q - exact).max()
        for dt in (0.002, 0.001, 0.0005)
    ]
    assert_allclose(np.log2(np.divide(errors[:-1], errors[1:])), 1.0, atol=0.2)


def test_explicit_newmark_with_frames_is_rattle():
    _, system, start = flying(2)
    ends = [method.start(system, start).advance(0.1) for method in (sx.Newmark(2e-3), sx.Rattle(2e-3, {}))]
    assert np.array_equal(ends[0].q, ends[1].q)
    assert np.array_equal(ends[0].v, ends[1].v)
    assert sx.Newmark().start(system, start).dt > 1e-4  # the limit of particles without rods is shorter than that with


# -- held centres ------------------------------------------------------------------------------------------------------


PIVOT = np.array([0.2, -0.3, -0.7])


def top():
    """A box that rotates about a pivot off its centre, with a mass on a spring to a point of it."""
    bodies = RigidBodies({"top": RigidBody.box((1.0, 0.6, 0.25), density=1000.0).held_at(PIVOT)})
    q = np.vstack([bodies.positions(), [[0.0, 0.0, 1.0]]])
    mass = np.append(bodies.mass(), 40.0)
    frames = Frames(bodies.frames().nodes, q, bodies.frames().held)
    spring = sx.Bars([[0, 4]], sx.measures.EngineeringStrain(2000.0, np.linalg.norm(q[0] - q[4]) - 0.1))
    system = sx.System(mass, {"spring": spring}, frames=frames)
    return system, system.state(q, frames.velocities(q, 0.0, [0.5, 3.0, 0.2]))


@pytest.mark.parametrize(
    "method", [sx.EnergyMomentum, sx.Midpoint, sx.GeneralizedAlpha, sx.Newmark, sx.Newmark.trapezoidal]
)
def test_a_held_centre_stays_and_methods_agree(method):
    system, start = top()
    exact = sx.Rattle(5e-5, {}).start(system, start).advance(0.5)
    ends = [method(h).start(system, start).advance(0.5) for h in (2e-3, 1e-3, 5e-4)]
    errors = [np.abs(end.q - exact.q).max() for end in ends]
    assert_allclose(np.log2(np.divide(errors[:-1], errors[1:])), 2.0, atol=0.3)
    for end in ends:
        assert np.abs(system.frames.centers(end.q) - PIVOT).max() < 1e-13
        assert np.abs(system.frames.centers(end.v)).max() < 1e-12
        energies = [system.energies_of(state)["total"] for state in (start, end)]
        if "energy" in method(1.0).conserves:
            assert abs(energies[1] / energies[0] - 1.0) < 1e-13
        if "angular momentum" in method(1.0).conserves:  # about the pivot, of which the reaction has no moment
            L = [system.angular_momentum(at) - np.cross(PIVOT, system.momentum(at)) for at in (start, end)]
            assert np.linalg.norm(L[1] - L[0]) < 1e-12 * np.linalg.norm(L[0])


def test_a_pivot_is_kept_by_particles_of_the_same_inertia():
    """For pivots in the centre, next to it, outside and far away."""
    body = RigidBody.box((1.0, 0.6, 0.25), density=1000.0).placed((1.0, 2.0, 3.0))
    for away in (0.0, 1e-12, 0.05, 1.0, 1e3):
        own = body.held_at(body.properties.center + away * np.array([0.6, 0.0, 0.8])).properties
        y = own.particles - own.center
        second = np.einsum("a,ai,aj->ij", own.masses, y, y)
        assert_allclose(np.trace(second) * np.eye(3) - second, own.inertia, atol=1e-13 * own.inertia.max())
        assert_allclose(own.masses @ own.particles / own.mass, own.center, rtol=1e-14)
        assert own.masses.sum() == pytest.approx(own.mass, rel=1e-14)
        assert_allclose(own.particles.mean(axis=0), own.pivot, atol=1e-13 * np.abs(own.particles).max())
        assert_allclose(own.weights(body.mesh.points) @ own.particles, body.mesh.points, atol=1e-11)
    rest = body.held_at((0.0, 0.0, 0.0))
    center, R = rest.pose(rest.particles)
    assert_allclose(center, (1.0, 2.0, 3.0), atol=1e-14)
    assert_allclose(R, np.eye(3), atol=1e-14)
    with pytest.raises(InvalidSystem, match="the pivot is 1e"):
        body.held_at((1e8, 0.0, 0.0))
    with pytest.raises(InvalidSystem, match="is held at a pivot, which needs frames"):
        RigidBodies({"top": rest}).rigidity(1.0)


def test_rotations_that_are_held_in_part_are_refused_by_rattle():
    system, start = top()
    frames = Frames(system.frames.nodes, start.q, np.array([[0, 0, 0, 1, 1, 0]]) > 0)
    system = sx.System(np.asarray(system.mass), system.energies, frames=frames)
    with pytest.raises(InvalidSystem, match="cannot hold the rotation of frame 0 in part"):
        sx.Rattle(1e-3, {}).start(system, start)


def test_viscoelastic_bodies_and_frames_under_rattle():
    """A block of rubber that a rigid ball hits; as energy-momentum has it, and with all work accounted for."""
    _, system, start = thrown()
    solid = system.energies["solid"]
    inelastic = {"viscous": sx.Viscoelastic(solid, [2e4], [2e-3])}
    system = sx.System(np.asarray(system.mass), system.energies, frames=system.frames, inelastic=inelastic)
    start = system.state(start.q, start.v)
    exact = sx.EnergyMomentum(2.5e-4).start(system, start).advance(8e-3).q
    motion = sx.Newmark(1e-5).start(system, start)
    end = motion.advance(8e-3)
    assert np.abs(end.q - exact).max() < 1e-4
    assert np.abs(exact - start.q).max() > 5e-3
    energies = motion.energies(end)
    assert energies["work_viscous"] < -1e-3
    assert abs(energies["balance"] / system.energies_of(start)["total"] - 1.0) < 1e-4


# -- damping ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [sx.EnergyMomentum, sx.GeneralizedAlpha, sx.Newmark])
def test_drag_takes_momenta_of_frames_at_its_rate(method):
    """Rayleigh's part of the mass, on particles: m v and L fall as exp(−α t)."""
    _, system, start = flying(2)
    loads = {"drag": sx.actions.Drag(np.asarray(system.mass), 0.8)}
    damped = sx.System(np.asarray(system.mass), system.energies, frames=system.frames, loads=loads)
    motion = method(2e-3).start(damped, damped.state(start.q, start.v))
    end = motion.advance(1.0)
    assert_allclose(damped.momentum(end), np.exp(-0.8) * damped.momentum(start), rtol=1e-6)
    assert_allclose(damped.angular_momentum(end), np.exp(-0.8) * damped.angular_momentum(start), rtol=1e-4)
    assert motion.energies(end)["work_drag"] < 0.0


def test_dashpots_take_energy_of_frames_and_no_momentum():
    """Between the ends of a beam, with all work accounted for."""
    built, system, start = flying(3)
    mass, ends = np.asarray(system.mass), [[built.particles([0])[0, 0], built.particles([3])[0, 0]]]
    damped = sx.System(mass, system.energies, frames=system.frames, loads={"dashpot": sx.actions.Dashpots(ends, 50.0)})
    motion = sx.EnergyMomentum(0.02).start(damped, damped.state(start.q, start.v))
    end = motion.advance(4.0)
    energies, energy = motion.energies(end), system.energies_of(start)["total"]
    assert energies["work_dashpot"] < -1e-3 * energy
    assert abs(energies["balance"] / energy - 1.0) < 1e-12
    for momentum in (damped.momentum, damped.angular_momentum):
        assert np.linalg.norm(momentum(end) - momentum(start)) < 1e-11 * np.linalg.norm(momentum(start))


def test_stiffness_damping_damps_small_motions_of_beams():
    """Rayleigh's part of the stiffness: the first mode of a cantilever has the ratio β ω/2."""
    built = spaghetti(3)
    mass, fixed = built.mass, built.fixed([0])
    system = sx.System(mass, {"beams": built.energy}, frames=built.frames, fixed=fixed)
    modes = sx.modes.natural_modes(system, system.state(built.points), 1)
    omega, shape = 2.0 * np.pi * modes.frequencies[0], modes.shapes[0]
    loads = {"beta": sx.actions.StiffnessDamping(built.energy, built.points, 0.2 / omega)}
    damped = sx.System(mass, {"beams": built.energy}, frames=built.frames, fixed=fixed, loads=loads)
    v = 1e-5 * shape
    motion = sx.EnergyMomentum(0.005 * 2.0 * np.pi / omega).start(damped, damped.state(built.points, v))
    end = motion.advance(round(0.5 / 0.005) * 0.005 * 2.0 * np.pi / omega)
    # After half of an undamped period: v = v0 exp(−ζ ω t) [cos ω_d t − ζ ω/ω_d sin ω_d t]
    t, fast = end.t, omega * np.sqrt(1.0 - 0.01)
    factor = np.exp(-0.1 * omega * t) * (np.cos(fast * t) - 0.1 * omega / fast * np.sin(fast * t))
    assert_allclose(np.vdot(end.v, mass[:, None] * v) / np.vdot(v, mass[:, None] * v), factor, rtol=2e-3)


def test_a_rod_that_is_held_about_an_axis_nearly_across_it_says_so():
    d = np.array([np.sin(1e-3), np.cos(1e-3), 0.0])
    points, mass = np.array([-0.5 * d, 0.5 * d]), np.array([1.0, 1.5])
    held = np.array([[True, True, True, True, False, False]])
    frames = Frames([[0, 1]], points, held=held)
    spring = sx.measures.Anchors([0], (1.0, 2.0, -1.0), sx.measures.EngineeringStrain(20.0, 1.0))
    system = sx.System(mass, {"spring": spring}, frames=frames)
    start = system.state(points, np.cross([0.0, 0.0, 3.0], points))
    with pytest.raises(StepFailed, match=r"The rod of particles \[0, 1\] is held against rotations about one axis, 8"):
        sx.EnergyMomentum(0.02).start(system, start).advance(1.0)
