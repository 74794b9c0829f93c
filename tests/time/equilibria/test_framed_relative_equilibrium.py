"""Steady rotation of free beams, shells, and what joints join: shapes, exact motions, frequencies in the frame."""

import numpy as np
import pytest
from numpy.polynomial.legendre import Legendre, leggauss
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.linalg import eigh
from scipy.optimize import brentq

import symplex as sx
from reference.lines import line
from symplex.errors import InvalidSystem
from symplex.fem.structures import BeamProperties, Frames, Joint, ShellProperties, beams, body_particles, shells
from symplex.meshes.mesh import Mesh
from symplex.time.equilibria.steady_rotation import relative_equilibrium, relative_equilibrium_of_momentum

UP = (0.0, 0.0, 1.0)
SOFT = BeamProperties(1e4, (1e4, 1e4), (60.0, 40.0), 30.0, 1.0, (1e-3, 1e-3))


def rod(n, properties, consistent=True):
    built = beams(line(np.outer(np.linspace(-1.0, 1.0, n + 1), [1.0, 0.0, 0.0])), properties, UP)
    mass = built.consistent_mass if consistent else built.mass
    return built, sx.System(mass, {"rod": built.energy}, frames=built.frames)


def longest(speed):
    """Where the end of a rod is that rotates: (EA ε x')' = −ρA ω² x, ε = ½ (x'² − 1), from the middle by shooting."""

    def run(x1):
        def rates(_, y):
            x, stretch = y
            by_stretch = 1e4 * 0.5 * (3.0 * stretch**2 - 1.0)  # d(EA ε x')/dx'
            return [stretch, -(speed**2) * x / by_stretch]

        return solve_ivp(rates, [0.0, 1.0], [0.0, x1], rtol=1e-12, atol=1e-14).y[:, -1]

    return float(run(brentq(lambda x1: run(x1)[1] - 1.0, 1.0, 1.5, xtol=1e-14))[0])


def test_a_rod_is_stretched_as_the_equation_of_bars_has_it():
    exact, errors = longest(30.0), []
    for n in (8, 16):
        built, system = rod(n, SOFT)
        found = relative_equilibrium(system, built.points, (0.0, 0.0, 30.0))
        errors.append(built.frames.centers(found.state.q)[-1, 0] - exact)
        assert found.residual < 1e-8
    assert exact > 1.02
    assert abs(errors[1]) < 1e-4
    assert errors[0] / errors[1] > 3.5


def bent():
    """An elbow: it opens as it rotates, and turns its principal axis."""
    s = np.linspace(0.0, 1.0, 5)[:, None]
    points = np.vstack([s * [1.0, 0.0, 0.0], [1.0, 0.0, 0.0] + s[1:] * [0.0, 0.8, 0.1]])
    built = beams(line(points), SOFT, UP)
    return built.points, sx.System(built.mass, {"elbow": built.energy}, frames=built.frames)


def plate():
    x, y = (grid.ravel() for grid in np.meshgrid(np.linspace(0, 1, 4), np.linspace(0, 0.6, 3), indexing="ij"))
    node = np.arange(12, dtype=np.int32).reshape(4, 3)
    quads = np.stack([node[:-1, :-1], node[1:, :-1], node[1:, 1:], node[:-1, 1:]], axis=-1).reshape(-1, 4)
    rubber = sx.NeoHookean.from_young(1e5, 0.3, 1000.0)
    built = shells(Mesh(np.column_stack([x, y, 0.02 * x]), {"quad": quads}), ShellProperties.uniform(0.05, rubber))
    return built.points, sx.System(built.mass, dict(built.energies), frames=built.frames)


def rotor():
    """A rigid hub with two blades on flap hinges away from the axis."""
    hub, of_hub = body_particles(2.0, [0.0, 0.0, 0.0], [0.1, 0.1, 0.15])
    s = np.linspace(0.0, 1.0, 4)[:, None]
    sides = [[0.2, 0.0, 0.0] + s * [1.0, 0.0, 0.0], [-0.2, 0.0, 0.0] - s * [1.0, 0.0, 0.0]]
    ends = np.arange(4, dtype=np.int32)
    lines = np.column_stack([ends[:-1], ends[1:]])
    blades = beams(Mesh(np.vstack(sides), {"line": np.vstack([lines, lines + 4])}), SOFT, UP)
    points, mass = np.vstack([hub, blades.points]), np.concatenate([of_hub, blades.mass])
    frames = Frames(np.arange(len(points)).reshape(-1, 4), points)
    axis = [0.0, 1.0, 0.0]
    joints = {
        f"flap {k}": Joint("revolute", (frames.nodes[0], frames.nodes[1 + 4 * k]), points, side[0], axis)
        for k, side in enumerate(np.array(sides))
    }
    return points, sx.System(mass, {"blades": blades.energy.shifted(4)}, frames=frames, joints=joints)


BODIES = {"elbow": (bent, 12.0), "plate": (plate, 8.0), "rotor": (rotor, 15.0)}


@pytest.mark.parametrize("name", BODIES)
def test_energy_momentum_rotates_the_shape_as_a_rigid_body(name):
    make, speed = BODIES[name]
    points, system = make()
    found = relative_equilibrium(system, points, (0.0, 0.0, speed), tilt=0.6)
    assert found.stretch > 1.0005
    assert system.frames.distortion(found.state.q) < 1e-11
    dt, steps = 0.02 / speed, 100
    motion, times, places = sx.EnergyMomentum(dt).start(system, found.state), [0.0], [found.state.q]
    for k in range(1, 6):
        times.append(k * steps / 5 * dt)
        places.append(motion.advance(times[-1]).q)
    path = found.path(times, np.array(places))
    assert path.deformation.max() < 1e-9
    assert np.abs(path.off_axis).max() < 1e-10
    # the method's angle of a step is that of Cayley's transform: tan
    assert_allclose(path.lambda_r, 1.0 - (speed * dt) ** 2 / 12.0, atol=1e-5)


def test_a_given_angular_momentum_is_that_of_the_shape():
    points, system = bent()
    found = relative_equilibrium_of_momentum(system, points, (0.0, 0.0, 6.0), tilt=0.6)
    about = system.angular_momentum(found.state) - np.cross(found.centre, system.momentum(found.state))
    assert_allclose(about, [0.0, 0.0, 6.0], atol=1e-9)


def flapping(speed, symmetric):
    """Frequencies of a free beam that rotates about its middle, out of its plane, EI = ρA = 1, half length 1.

    Galerkin's method for w'''' − (T w')' = λ² w, T = ½ Ω² (1 − x²), by polynomials that are even or odd.
    """
    x, weights = leggauss(40)
    basis = [Legendre.basis(k) for k in range(0 if symmetric else 1, 28, 2)]
    w, slope, bend = (np.array([(p.deriv(d) if d else p)(x) for p in basis]) for d in range(3))
    tension = 0.5 * speed**2 * (1.0 - x**2)
    stiffness = (weights * bend) @ bend.T + (weights * tension * slope) @ slope.T
    return np.sqrt(np.maximum(eigh(stiffness, (weights * w) @ w.T, eigvals_only=True)[:3], 0.0))


@pytest.mark.parametrize("speed", [3.0, 12.0])
def test_a_spinning_free_beam_has_the_frequencies_of_theory_in_its_frame(speed):
    """Out of its plane; it tilts as a whole with the speed of rotation."""
    thin = BeamProperties(1e7, (1e7, 1e7), (1000.0, 1.0), 1.0, 1.0, (1e-7, 1e-7))
    built, system = rod(16, thin)
    found = relative_equilibrium(system, built.points, (0.0, 0.0, speed))
    turning = sx.modes.rotating_frame(system, (0.0, 0.0, speed))
    modes = sx.modes.complex_modes(turning, turning.state(found.state.q), 10)
    across = np.abs(modes.shapes).max(axis=1).argmax(axis=1) == 2
    swinging = modes.eigenvalues.imag[across & (modes.eigenvalues.imag > 0.5)]
    exact = np.sort(np.concatenate([flapping(speed, True)[1:], flapping(speed, False)]))
    assert exact[0] == pytest.approx(speed, rel=1e-9)
    assert_allclose(swinging[:4], exact[:4], rtol=2e-4)


def test_what_is_no_free_body_is_refused():
    built, system = rod(2, SOFT)
    held = np.zeros((3, 6), bool)
    held[0, 5] = True
    on_pin = Joint("spherical", (built.particles([1])[0], None), built.points, at=[0.0, 0.0, 0.0])
    lumped = system.energies
    for parts, message in (
        ({"frames": Frames(built.frames.nodes, built.points, held)}, "holds frames"),
        ({"frames": built.frames, "joints": {"pin": on_pin}}, "joints to the ground"),
        ({"frames": built.frames, "fixed": built.fixed([0])}, "supported body"),
    ):
        with pytest.raises(InvalidSystem, match=message):
            relative_equilibrium(sx.System(built.mass, dict(lumped), **parts), built.points, (0.0, 0.0, 1.0))
    points, mass = body_particles(1.0, [5.0, 0.0, 0.0], [0.1, 0.2, 0.3])
    both = np.vstack([built.points, points])
    frames = Frames(np.arange(16).reshape(-1, 4), both)
    apart = sx.System(np.concatenate([built.mass, mass]), dict(lumped), frames=frames)
    with pytest.raises(InvalidSystem, match="there are 2 parts"):
        relative_equilibrium(apart, both, (0.0, 0.0, 1.0))
