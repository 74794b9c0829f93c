"""Modes, complex modes and harmonic response of what has closed forms: strings, rods, oscillators, rotors."""

from __future__ import annotations

import numpy as np
import pytest

import symplex as sx
from symplex.errors import InvalidSystem, NoEquilibrium
from symplex.testing import round_off

STRAIN = sx.measures.EngineeringStrain
PAIRS = np.column_stack([np.arange(100), np.arange(1, 101)]).astype(np.int32)


def string(beads, tension=50.0, spacing=0.1, mass=0.02, stiffness=1e6):
    """Beads between two ends, on bars whose natural lengths give a tension; free across and along x."""
    points = np.zeros((beads + 2, 2))
    points[:, 0] = spacing * np.arange(beads + 2)
    natural = spacing - tension / stiffness
    bars = sx.Bars(PAIRS[: beads + 1], STRAIN(stiffness, natural), dim=2)
    fixed = np.zeros((beads + 2, 2), bool)
    fixed[[0, -1]] = True
    system = sx.System(np.full(beads + 2, mass), {"string": bars}, dim=2, fixed=fixed)
    return system, system.state(points)


def test_stretched_string_of_beads():
    """ω_k = 2 √(T/md) sin(kπ/2(N + 1)) across: tension alone holds them."""
    system, state = string(9)
    found = sx.modes.natural_modes(system, state, 9)
    k = np.arange(1, 10)
    exact = 2.0 * np.sqrt(50.0 / (0.02 * 0.1)) * np.sin(k * np.pi / 20.0)
    along = 2.0 * np.sqrt(1e6 / 0.02)  # rad/s, no mode along x has more
    np.testing.assert_array_less(np.abs(found.angular - exact), round_off.of_frequencies(exact, along))
    assert np.abs(found.shapes[:, :, 0]).max() < 1e-9
    # The first mode moves all beads to one side; those of even number have no part in shifts.
    effective = found.effective_masses[:, 1]
    assert effective[0] > 0.8 * 0.18
    assert np.abs(effective[1::2]).max() < 1e-20
    assert effective.sum() == pytest.approx(0.18)  # that of the beads, without the ends
    assert found.total[1] == pytest.approx(0.22)


def rod(n, held, length=1.0, young=200e9, density=7850.0, area=1e-4):
    points = np.linspace(0.0, length, n + 1)[:, None]
    bars = sx.Bars(PAIRS[:n], STRAIN(young * area * n / length, length / n), dim=1)
    mass = sx.actions.bar_mass(points, PAIRS[:n], density, area, n + 1)
    fixed = np.zeros((n + 1, 1), bool)
    fixed[0] = held
    system = sx.System(mass, {"rod": bars}, dim=1, fixed=fixed)
    return system, system.state(points)


def test_lumped_rod():
    """Fixed and free, N = 10 bars: ωL/c = 2N sin(π/4N) = 1.5691819, where the continuum has π/2."""
    system, state = rod(10, True)
    speed = np.sqrt(200e9 / 7850.0)
    assert sx.modes.natural_modes(system, state, 1).angular[0] / speed == pytest.approx(1.5691819, abs=1e-7)


def test_free_rod_has_one_rigid_motion_on_a_line():
    """800 in, 30e6 psi, 7.3e-4: 0, 126.70, 253.40 Hz (Ansys VM61); lumped bars are below by 1 − (kπ/N)²/24."""
    system, state = rod(100, False, 800.0, 30e6, 7.3e-4, 1.0)
    found = sx.modes.natural_modes(system, state, 3)
    assert found.kinds == ["translation along x", "vibration", "vibration"]
    assert found.frequencies[0] == 0.0
    np.testing.assert_allclose(found.frequencies[1:], [126.70, 253.40], rtol=2e-4)
    assert found.effective_masses[0, 0] == pytest.approx(found.total[0])


def chain():
    """Four masses between walls, 1000 N/m, 1 1 1 ½ kg."""
    points = np.arange(6.0)[:, None]
    bars = sx.Bars(PAIRS[:5], STRAIN(1000.0, 1.0), dim=1)
    fixed = np.zeros((6, 1), bool)
    fixed[[0, -1]] = True
    system = sx.System([1.0, 1.0, 1.0, 1.0, 0.5, 1.0], {"chain": bars}, dim=1, fixed=fixed)
    return system, system.state(points)


def test_chain_between_walls_and_its_response():
    system, state = chain()
    found = sx.modes.natural_modes(system, state, 4)
    np.testing.assert_allclose(found.frequencies, [3.211373, 6.3949056, 8.9360146, 11.05635], rtol=1e-7)
    forces = np.zeros((6, 1))
    forces[1] = 1.0
    range_ = np.linspace(1.0, 12.0, 221)
    damped = sx.modes.frequency_response(system, state, range_, forces=forces, modes=found, ratio=0.02)
    K = system.hessian(state.q).toarray()[1:5, 1:5]
    M = np.diag([1.0, 1.0, 1.0, 0.5])
    U, w2 = found.shapes[:, 1:5, 0].T, found.angular**2
    C = M @ U @ np.diag(0.04 * np.sqrt(w2)) @ U.T @ M
    for k, f in enumerate(range_[::20]):
        w = 2.0 * np.pi * f
        exact = np.linalg.solve(K - w**2 * M + 1j * w * C, [1.0, 0.0, 0.0, 0.0])
        np.testing.assert_allclose(damped.displacements[20 * k, 1:5, 0], exact, rtol=1e-9)


def oscillator(loads=None, dim=1, held=True):
    points = np.zeros((2, dim))
    points[1, 0] = 1.0
    bars = sx.Bars([[0, 1]], STRAIN(4.0 * np.pi**2, 1.0), dim=dim)
    fixed = np.zeros((2, dim), bool)
    fixed[0] = held
    system = sx.System([1.0, 1.0], {"spring": bars}, dim=dim, fixed=fixed, loads=loads)
    return system, system.state(points)


def test_damped_oscillator():
    """ζ = 0.02 at 1 Hz: λ = ω (−ζ ± i √(1 − ζ²)); the peak is 1/(2ζ √(1 − ζ²)) = 25.005002 at √(1 − 2ζ²)."""
    system, state = oscillator({"drag": sx.actions.Drag(np.ones(2), 0.02 * 4.0 * np.pi)})
    found = sx.modes.complex_modes(system, state, 1)
    assert found.eigenvalues[0] == pytest.approx(2.0 * np.pi * (-0.02 + 1j * np.sqrt(1 - 0.02**2)), rel=1e-12)
    assert found.ratios[0] == pytest.approx(0.02)
    force = np.array([[0.0], [4.0 * np.pi**2]])
    at = np.array([0.0, 0.99959992, 1.0])
    direct = sx.modes.frequency_response(system, state, at, forces=force)
    amplitudes = np.abs(direct.displacements[:, 1, 0])
    assert amplitudes[1] == pytest.approx(25.005002, rel=1e-7)
    assert amplitudes[0] == pytest.approx(1.0)
    assert np.angle(direct.displacements[2, 1, 0]) == pytest.approx(-np.pi / 2)
    modes = sx.modes.natural_modes(system, state, 1)
    modal = sx.modes.frequency_response(system, state, at, forces=force, modes=modes)
    np.testing.assert_allclose(modal.displacements, direct.displacements, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("by_modes", [False, True])
def test_shaken_oscillator(by_modes):
    """Moved by u_c at the base it moves by u_c (ω0² + 2iζω0ω)/(ω0² − ω² + 2iζω0ω), damped along the spring."""
    dashpot = sx.actions.Dashpots([[0, 1]], 0.1 * 4.0 * np.pi)
    system, state = oscillator({"dashpot": dashpot})
    at = np.array([0.3, 1.0, 2.0])
    modes = sx.modes.natural_modes(system, state, 1) if by_modes else None
    base = np.array([[1e-3], [0.0]])
    found = sx.modes.frequency_response(system, state, at, base=base, modes=modes)
    r = at
    np.testing.assert_allclose(found.displacements[:, 1, 0], 1e-3 * (1 + 0.2j * r) / (1 - r**2 + 0.2j * r), rtol=1e-10)
    pulled = sx.modes.frequency_response(system, state, at, base_acceleration=base, modes=modes)
    np.testing.assert_allclose(pulled.accelerations[:, 0, 0], 1e-3, rtol=1e-12)
    np.testing.assert_allclose(
        pulled.displacements, -found.displacements / (2 * np.pi * at[:, None, None]) ** 2, rtol=1e-10
    )


def test_resonance_without_damping_is_refused():
    system, state = rod(1, True, young=4.0 * np.pi**2 / 1e-4, density=2.0 / 1e-4)
    modes = sx.modes.natural_modes(system, state, 1)
    force = np.array([[0.0], [1.0]])
    with pytest.raises(NoEquilibrium, match="at 1 Hz is not bounded"):
        sx.modes.frequency_response(system, state, modes.frequencies, forces=force, modes=modes)


def held_in_the_plane(omega, stiffness=4.0 * np.pi**2):
    """A mass in the middle of four springs of equal stiffness, seen from a frame that turns."""
    points = np.array([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    bars = sx.Bars([[0, k] for k in range(1, 5)], STRAIN(stiffness / 2.0, 1.0), dim=2)
    fixed = np.ones((5, 2), bool)
    fixed[0] = False
    system = sx.System(np.ones(5), {"springs": bars}, dim=2, fixed=fixed)
    return sx.modes.rotating_frame(system, omega), points


@pytest.mark.parametrize("spin", [0.25, 0.5])
def test_whirl_of_a_rotor_forward_and_backward(spin):
    """An isotropic oscillator of 1 Hz, in a frame of the spin Ω: |1 ∓ Ω/2π| Hz; the symmetric part has √(1 − Ω²) Hz."""
    omega = 2.0 * np.pi * spin
    system, points = held_in_the_plane(omega)
    state = system.state(points)
    whirl = sx.modes.complex_modes(system, state, 2)
    np.testing.assert_allclose(whirl.frequencies, [1.0 - spin, 1.0 + spin], rtol=1e-10)
    np.testing.assert_allclose(whirl.eigenvalues.real, 0.0, atol=1e-12)
    # Circles: the two components a quarter apart, one way round and the other.
    turned = whirl.shapes[:, 0, 1] / whirl.shapes[:, 0, 0]
    np.testing.assert_allclose(np.sort(turned.imag), [-1.0, 1.0], atol=1e-9)
    soft = sx.modes.natural_modes(system, state, 2)
    np.testing.assert_allclose(soft.frequencies, np.sqrt(1.0 - spin**2), rtol=1e-12)


def test_a_frame_that_rotates_keeps_the_energy_in_it():
    """The Jacobi integral ½ m v² + V − ½ m |ω × r|² is kept, and Coriolis forces do no work."""
    system, points = held_in_the_plane(1.5)
    state = system.state(points, np.array([[0.3, 0.1], *np.zeros((4, 2))]))
    path = sx.record(system, sx.EnergyMomentum(0.02), state, 0.1 * np.arange(51))
    assert np.ptp(path.energies["total"]) < 1e-12
    assert np.ptp(path.q[:, 0], axis=0).min() > 0.05  # it goes round
    assert np.abs(path.energies["work_coriolis"]).max() < 1e-13


def test_motion_in_the_frame_is_that_in_space():
    """X = R(Ωt) q: a free mass, straight in space, is seen to curve."""
    mass = np.array([2.0])
    frame = sx.modes.rotating_frame(sx.System(mass, {}), (0.0, 0.0, 0.7), (0.5, 0.0, 0.0))
    q0, x_dot = np.array([[1.0, 0.2, 0.3]]), np.array([0.1, -0.2, 0.4])
    v0 = x_dot - np.cross([0.0, 0.0, 0.7], q0[0] - [0.5, 0.0, 0.0])
    end = list(sx.march(frame, sx.Midpoint(0.01), frame.state(q0, v0[None]), [0.0, 2.0]))[-1]
    c, s = np.cos(1.4), np.sin(1.4)
    turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    centre = np.array([0.5, 0.0, 0.0])
    np.testing.assert_allclose(turn @ (end.q[0] - centre) + centre, q0[0] + 2.0 * x_dot, atol=3e-5)


def test_consistent_mass_in_a_rotating_frame():
    """A rod along x that turns about z: the force of each half is exact, and that of the whole is M Ω² L/2."""
    points = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
    mass = sx.actions.consistent_bar_mass(points, PAIRS[:2], 3.0, 1.0, 3)
    system = sx.modes.rotating_frame(sx.System(mass, {}), (0.0, 0.0, 2.0))
    force = -system.gradient(points)
    assert force.sum(axis=0) == pytest.approx([6.0 * 4.0, 0.0, 0.0])
    v = np.random.default_rng(0).standard_normal((3, 3))
    np.testing.assert_allclose(
        system.force(0.0, points, v) - force, -2.0 * (mass @ np.cross([0.0, 0.0, 2.0], v)), atol=1e-12
    )


def test_nodes_without_mass_follow():
    """Two springs in series with nothing between are one of half the stiffness."""
    points = np.arange(3.0)[:, None]
    bars = sx.Bars(PAIRS[:2], STRAIN(8.0 * np.pi**2, 1.0), dim=1)
    fixed = np.array([[True], [False], [False]])
    light = np.array([False, True, False])
    system = sx.System([1.0, 0.0, 1.0], {"springs": bars}, dim=1, fixed=fixed, massless=light)
    found = sx.modes.natural_modes(system, system.state(points), 1)
    assert found.frequencies[0] == pytest.approx(1.0)
    assert found.shapes[0, :, 0] == pytest.approx([0.0, 0.5, 1.0])
    with pytest.raises(InvalidSystem, match="from 1 to 1, the number of free coordinates with mass"):
        sx.modes.natural_modes(system, system.state(points), 2)


def test_mechanisms_are_told_from_rigid_motions():
    """A square of four bars in the plane: three rigid motions, and it can be pushed over."""
    points = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    bars = sx.Bars([[0, 1], [1, 2], [2, 3], [3, 0]], STRAIN(100.0, 1.0), dim=2)
    system = sx.System(np.ones(4), {"bars": bars}, dim=2)
    found = sx.modes.natural_modes(system, system.state(points), 5)
    assert found.kinds == ["translation along x", "translation along y", "rotation", "mechanism", "vibration"]
    np.testing.assert_allclose(found.effective_masses[:3], np.diag([4.0, 4.0, 2.0]), atol=1e-12)
    np.testing.assert_allclose(found.effective_masses[3:5], 0.0, atol=1e-12)


@pytest.mark.parametrize("axis", [(1.0, 0.0, 0.0), (1.0, -2.0, 3.0)], ids=["along x", "oblique"])
@pytest.mark.parametrize("n", [8, 100], ids=["dense", "Lanczos"])
def test_a_straight_line_of_bars_in_space_has_five_rigid_motions(n, axis):
    """No turn about itself. It is as stiff along itself as on a line, and across it nodes move freely.

    Also where only some of the many motions without stiffness are asked for, or supports leave no rigid motion.
    """
    on_line, line_state = rod(n, False)
    axis = np.array(axis) / np.linalg.norm(axis)
    points = line_state.q * axis
    bars = sx.Bars(PAIRS[:n], STRAIN(200e9 * 1e-4 * n, 1.0 / n))
    for fixed, k, n_rigid in [((), 2 * n + 4, 5), ((), 8, 5), ((0,), 2 * n + 1, 2), ((0, n), 2 * n - 1, 0)]:
        held = np.zeros((n + 1, 3), bool)
        held[list(fixed)] = True
        system = sx.System(on_line.mass, {"rod": bars}, fixed=held)
        found = sx.modes.natural_modes(system, system.state(points), k)
        kinds = [kind.split()[0] for kind in found.kinds]
        n_zero = min(k, (2 * n + 3, 2 * n, 2 * n - 2)[len(fixed)])
        shifts = 3 if not fixed else 0
        assert kinds[:n_rigid] == ["translation"] * shifts + ["rotation"] * (n_rigid - shifts)
        assert kinds[n_rigid:n_zero] == ["mechanism"] * (n_zero - n_rigid)
        assert kinds[n_zero:] == ["vibration"] * (k - n_zero)
        if k > n_zero:
            # ω = 2 c N/L sin(kπ/2N), quarter waves with one end fixed.
            order = 0.5 if len(fixed) == 1 else 1.0
            omega = 2.0 * np.sqrt(200e9 / 7850.0) * n * np.sin(0.5 * order * np.pi / n)
            assert found.angular[n_zero] == pytest.approx(omega, rel=1e-9)
        gram = np.einsum("kni,n,lni->kl", found.shapes, on_line.mass, found.shapes)
        np.testing.assert_allclose(gram, np.eye(k), atol=1e-9)


def test_a_hinge_leaves_a_rotation_about_it():
    points = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    bars = sx.Bars([[0, 1], [1, 2], [2, 0]], STRAIN(100.0, np.array([1.0, np.sqrt(2.0), 1.0])))
    fixed = np.array([[True] * 3, [True, True, False], [False] * 3])
    system = sx.System(np.ones(3), {"bars": bars}, fixed=fixed)
    found = sx.modes.natural_modes(system, system.state(points), 2)
    assert found.kinds == ["rotation about z", "vibration"]
    np.testing.assert_allclose(found.shapes[0, 2], [0.0, 1.0, 0.0], atol=1e-12)


def test_slow_vibrations_are_no_mechanisms():
    """Free masses, a stiff spring and one that is 10¹³ times softer: ω² = 3/2 k, as of a thin strip."""
    bars = sx.Bars(PAIRS[:2], STRAIN(np.array([1.0, 2e-13]), 1.0), dim=1)
    system = sx.System(np.ones(3), {"springs": bars}, dim=1)
    found = sx.modes.natural_modes(system, system.state(np.arange(3.0)[:, None]), 3)
    assert found.kinds == ["translation along x", "vibration", "vibration"]
    np.testing.assert_allclose(found.angular**2, [0.0, 3e-13, 2.0], rtol=1e-2)
    assert abs(found.participation[1, 0]) < 1e-6


def test_what_modes_leave_out_has_the_loss_factor_as_well():
    system, state = chain()
    forces = np.zeros((6, 1))
    forces[1] = 1.0
    one = sx.modes.natural_modes(system, state, 1)
    given = {"forces": forces, "loss_factor": 0.3, "nodes": [1, 2, 3, 4]}
    direct = sx.modes.frequency_response(system, state, [0.01], **given).displacements
    modal = sx.modes.frequency_response(system, state, [0.01], modes=one, **given).displacements
    np.testing.assert_allclose(modal, direct, rtol=1e-5)
