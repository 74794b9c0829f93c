"""Complex modes and harmonic responses of systems with frames and joints, against closed forms and other methods."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import symplex as sx
from reference.rotating_beam import rotating_beam
from symplex.errors import InvalidSystem
from symplex.fem.structures import (
    BeamProperties,
    Frames,
    Joint,
    JointLoad,
    JointSpring,
    ShellProperties,
    beams,
    body_particles,
    shells,
)

THIN = BeamProperties(1e7, (1e7, 1e7), (1000.0, 1.0), 1.0, 1.0, (1e-7, 1e-7))  # EI = ρA = 1 out of the plane


def blade(n, offset=0.0, hinge=None, properties=THIN):
    """A blade along x of the length 1 that begins at a distance from the axis z: clamped, or with a hinge along y."""
    points = np.outer(offset + np.linspace(0.0, 1.0, n + 1), [1.0, 0.0, 0.0])
    ends = np.arange(n + 1, dtype=np.int32)
    built = beams(sx.Mesh(points, {"line": np.column_stack([ends[:-1], ends[1:]])}), properties, (0.0, 0.0, 1.0))
    held = {"fixed": built.fixed([0])}
    if hinge is not None:
        held = {"joints": {"hinge": Joint("revolute", (built.particles([0]), None), built.points, points[0], hinge)}}
    return built, sx.System(built.mass, {"blade": built.energy}, frames=built.frames, **held)


def flapping(n, speed, offset=0.0, hinge=None):
    """The lowest three modes that move along z about the steady rotation."""
    built, system = blade(n, offset, hinge)
    frame = sx.modes.rotating_frame(system, (0.0, 0.0, speed))
    at = sx.equilibria.static_equilibrium(frame, built.points).state
    found = sx.modes.complex_modes(frame, at, 4)
    assert np.abs(found.eigenvalues.real).max() < 1e-9 * np.abs(found.eigenvalues).max()
    across = np.abs(found.shapes).max(axis=1).argmax(axis=1) == 2
    return found.eigenvalues.imag[across][:3]


# Ω and ω by √(ρA/EI) L², by power series with 60 digits (of Wright, Smith, Thresher and Wang, J. Appl. Mech. 49, 197)
SERIES = {
    3.0: (4.7972785, 23.3202637, 62.9849675),
    6.0: (7.3603730, 26.8090817, 66.6839144),
    12.0: (13.1701505, 37.6031123, 79.6144785),
}


def end_of_cantilever(speed, omega):
    """The determinant of the second and third derivatives at the end, of two solutions of w⁗ = (T w′)′ + ω² w."""

    def rates(x, y):
        w, slope, bend, third = y.reshape(4, 2)
        tension, fall = 0.5 * speed**2 * (1.0 - x**2), -(speed**2) * x
        return np.concatenate([slope, bend, third, tension * bend + fall * slope + omega**2 * w])

    start = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]).ravel()
    end = solve_ivp(rates, [0.0, 1.0], start, rtol=1e-11, atol=1e-14).y[:, -1].reshape(4, 2)
    return np.linalg.det(end[2:])


@pytest.mark.parametrize("speed", SERIES)
def test_frequencies_of_power_series_solve_the_equation_of_rotating_beams(speed):
    for omega in SERIES[speed]:
        below, above = (end_of_cantilever(speed, omega * part) for part in (1.0 - 1e-6, 1.0 + 1e-6))
        assert below * above < 0.0


@pytest.mark.parametrize("speed", SERIES)
def test_a_rotating_cantilever(speed):
    """Frequencies of power series, approached with the square of the element's length."""
    exact = rotating_beam(speed, modes=3)
    np.testing.assert_allclose(exact, SERIES[speed], rtol=1e-6)
    errors = np.array([1.0 - flapping(n, speed) / exact for n in (12, 24)])
    assert (errors[1] < 6e-3).all()
    np.testing.assert_allclose(np.log2(errors[0] / errors[1]), 2.0, atol=0.1)


@pytest.mark.parametrize("speed", [6.0, 12.0])
def test_a_blade_on_a_hinge_away_from_the_axis(speed):
    """Of order two as well; the first frequency is below that of a rigid blade, Ω √(1 + 3e/2L)."""
    exact = rotating_beam(speed, 0.1, hinged=True, modes=3)
    errors = np.array([1.0 - flapping(n, speed, 0.1, [0.0, 1.0, 0.0]) / exact for n in (12, 24)])
    assert (errors[1] < 6e-3).all()
    np.testing.assert_allclose(np.log2(errors[0] / errors[1]), 2.0, atol=0.1)
    assert exact[0] < speed * np.sqrt(1.0 + 0.15)


def test_without_velocities_they_are_natural_modes():
    """Few coordinates, of which all modes are computed, and many; with a joint, and of shells."""
    plate = sx.Mesh(
        np.array([[i % 4, i // 4, 0.0] for i in range(16)]) * 0.25,
        {"quad": np.array([[a, a + 1, a + 5, a + 4] for a in range(11) if a % 4 < 3], np.int32)},
    )
    steel = ShellProperties.uniform(0.01, sx.NeoHookean.from_young(2e11, 0.3, 7800.0))
    sheet = shells(plate, steel)
    of_sheet = sx.System(sheet.mass, sheet.energies, frames=sheet.frames, fixed=sheet.fixed([0, 4, 8, 12]))
    cases = [blade(8), blade(40), blade(8, 0.1, [0.0, 1.0, 0.0]), blade(40, 0.1, [0.0, 1.0, 0.0]), (sheet, of_sheet)]
    for built, system in cases:
        state = system.state(built.points)
        natural = sx.modes.natural_modes(system, state, 5)
        found = sx.modes.complex_modes(system, state, 5)
        np.testing.assert_allclose(found.eigenvalues.imag, natural.angular, rtol=1e-6, atol=1e-3)
        for u in found.shapes:  # they do not distort frames, nor open joints
            np.testing.assert_allclose(built.frames.rigid_velocities(state.q, u.real), u.real, atol=1e-9)
            if system.joints:
                assert np.abs(system.joints.rates(state.q, u.real)).max() < 1e-6 * np.abs(u).max()


def flap_and_lag(offset, length, speed):
    """A rigid thin blade with its flap and lag hinges at one place, in the frame that rotates."""
    center, radius = offset + 0.5 * length, length / np.sqrt(12.0)
    points, mass = body_particles(3.0, [center, 0.0, 0.0], [radius, 1e-3, 1e-3])
    frames = Frames([[0, 1, 2, 3]], points)
    hinges = Joint("universal", (frames.nodes[0], None), points, [offset, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0])
    system = sx.System(mass, {}, frames=frames, joints={"hinges": hinges})
    return points, sx.modes.rotating_frame(system, (0.0, 0.0, speed))


@pytest.mark.parametrize("offset", [0.05, 0.4])
def test_a_rigid_blade_with_flap_and_lag_hinges(offset):
    """ω = Ω √(1 + 3e/2L) and Ω √(3e/2L), L the length beyond the hinges: exactly but for the blade's thickness."""
    length, speed = 2.0, 30.0
    points, system = flap_and_lag(offset, length, speed)
    found = sx.modes.complex_modes(system, system.state(points), 2)
    part = 1.5 * offset / length
    np.testing.assert_allclose(found.eigenvalues.imag, speed * np.sqrt([part, 1.0 + part]), rtol=2e-6)
    np.testing.assert_allclose(found.ratios, 0.0, atol=1e-9)


def pendulum(damping, stiffness=5.0):
    """A body on a hinge along y with a spring and a damper; its inertia about the hinge."""
    points, mass = body_particles(2.0, [0.3, 0.0, 0.0], [0.1, 0.05, 0.04])
    frames = Frames([[0, 1, 2, 3]], points)
    hinge = Joint("revolute", (frames.nodes[0], None), points, [0.0, 0.0, 0.0], [0.0, 1.0, 0.0])
    loads = {"damper": JointLoad(hinge, damping=damping)} if damping else {}
    energies = {"spring": JointSpring(hinge, stiffness)}
    system = sx.System(mass, energies, frames=frames, joints={"hinge": hinge}, loads=loads)
    return points, system, 2.0 * (0.1**2 + 0.04**2 + 0.3**2)


def test_a_hinge_with_a_spring_and_a_damper():
    """J λ² + d λ + k = 0."""
    points, system, inertia = pendulum(0.4)
    found = sx.modes.complex_modes(system, system.state(points), 1)
    exact = np.roots([inertia, 0.4, 5.0])
    np.testing.assert_allclose(found.eigenvalues[0], exact[exact.imag > 0.0][0], rtol=1e-9)


def test_its_harmonic_response():
    """θ = M/(k − J ω² + i d ω) under a moment, directly and by its mode."""
    points, system, inertia = pendulum(0.4)
    state, frequencies = system.state(points), np.array([0.0, 0.5, 0.9, 2.0])
    force = np.zeros((4, 3))
    force[:, 2] = 0.25  # at the centre, 0.3 m from the hinge: a moment of −0.3 N m about y
    omega = 2.0 * np.pi * frequencies
    exact = 0.3 * 0.3 / (5.0 - inertia * omega**2 + 0.4j * omega)  # of the centre along z
    direct = sx.modes.frequency_response(system, state, frequencies, forces=force)
    np.testing.assert_allclose(direct.displacements[:, :, 2].mean(axis=1), exact, rtol=1e-7)
    modes = sx.modes.natural_modes(system, state, 1)
    by_mode = sx.modes.frequency_response(system, state, frequencies, forces=force, modes=modes)
    np.testing.assert_allclose(by_mode.displacements, direct.displacements, rtol=1e-7, atol=1e-12)


def test_the_response_of_a_beam():
    """Superposed are all modes but the stiffest; a base in motion is as the body forces −M a in its frame."""
    built, system = blade(8, properties=BeamProperties(1e4, (1e4, 1e4), (5.0, 1.0), 1.0, 1.0, (1e-3, 1e-3)))
    drag = sx.actions.Drag(system.mass, 3.0)
    system = sx.System(system.mass, system.energies, frames=system.frames, fixed=system.fixed, loads={"drag": drag})
    state, frequencies = system.state(built.points), [0.3, 0.56, 1.2, 3.4]
    force = np.zeros_like(built.points)
    force[built.particles([8]).ravel(), 2] = 0.25
    modes = sx.modes.natural_modes(system, state, 20)
    options = {"loss_factor": 0.02}
    direct = sx.modes.frequency_response(system, state, frequencies, forces=force, **options).displacements
    modal = sx.modes.frequency_response(system, state, frequencies, forces=force, modes=modes, **options).displacements
    assert np.abs(modal - direct).max() < 1e-5 * np.abs(direct).max()
    base = np.where(system.fixed, [0.0, 0.0, 1.0], 0.0)
    shaken = sx.modes.frequency_response(system, state, frequencies, base_acceleration=base).displacements
    by_modes = sx.modes.frequency_response(system, state, frequencies, base_acceleration=base, modes=modes)
    assert np.abs(by_modes.displacements - shaken).max() < 1e-5 * np.abs(shaken).max()
    for f, moved in zip(frequencies, shaken, strict=True):
        w = 2.0 * np.pi * f
        ground = -1.0 / w**2
        inertia = -system.mass[:, None] * [0.0, 0.0, 1.0] * (1.0 + 3.0 / (1j * w))  # the drag is that of space
        relative = sx.modes.frequency_response(system, state, [f], forces=inertia).displacements[0]
        expected = np.where(system.fixed, 0.0, relative)
        expected[:, 2] += ground
        assert np.abs(moved - expected).max() < 1e-8 * np.abs(moved).max()


def test_what_distorts_a_frame_is_refused():
    built, system = blade(2)
    base = np.where(system.fixed, built.points, 0.0)
    with pytest.raises(InvalidSystem, match=r"moves the frame of particle \d other than as a rigid body"):
        sx.modes.frequency_response(system, system.state(built.points), [1.0], base=base)
