"""Random vibration and response spectra of systems, against Miles' equation, closed forms and motions in time."""

import numpy as np
import pytest

import symplex as sx
from symplex.errors import InvalidSystem


def oscillator(frequency=50.0, mass=2.0):
    """A mass on a spring to a base, along x."""
    k = mass * (2 * np.pi * frequency) ** 2
    spring = sx.Bars([[0, 1]], sx.measures.EngineeringStrain(k, 1.0), dim=1)
    system = sx.System([1.0, mass], {"spring": spring}, dim=1, fixed=[[True], [False]])
    return system, system.state([[0.0], [1.0]])


BASE = np.array([[1.0], [0.0]])


@pytest.mark.parametrize("ratio", [0.01, 0.05])
def test_miles(ratio):
    """Under white noise the rms of the absolute acceleration is (π/2 f Q S)^½ (Miles 1954), to order ζ²."""
    system, state = oscillator()
    modes = sx.modes.natural_modes(system, state, 1)
    S = 3.0
    psd = sx.modes.Spectrum([0.5, 20000.0], [S, S])
    found = sx.modes.random_response(system, state, psd, modes, base_acceleration=BASE, ratio=ratio)
    f, Q = modes.frequencies[0], 0.5 / ratio
    exact = np.sqrt(np.pi / 2 * f * Q * S * (1 + 4 * ratio**2))  # of all frequencies
    # The base alone is there far above resonance; its acceleration is not among that of the mass.
    assert found.rms(2)[1, 0] == pytest.approx(exact, rel=2e-3)
    relative = sx.modes.random_response(system, state, psd, modes, base_acceleration=BASE, ratio=ratio, relative=True)
    # ∫ |1/(ω² − ω_n² …)|² df = 1/(64 π³ ζ f³): the relative displacement.
    assert relative.rms()[1, 0] == pytest.approx(np.sqrt(S / (64 * np.pi**3 * ratio * f**3)), rel=1e-3)
    assert not relative.rms()[0].any()


@pytest.mark.slow
def test_random_forces_and_many_modes():
    """A chain under a random force: by all modes, against the integral of the direct response on a fine grid."""
    n = 6
    pairs = np.column_stack([np.arange(n), np.arange(1, n + 1)])
    chain = sx.Bars(pairs, sx.measures.EngineeringStrain(1e5, 1.0), dim=1)
    fixed = np.arange(n + 1)[:, None] == 0
    loads = {"air": sx.actions.Drag(np.ones(n + 1), 4.0)}
    system = sx.System(np.ones(n + 1), {"chain": chain}, dim=1, fixed=fixed, loads=loads)
    state = system.state(np.arange(n + 1.0)[:, None])
    modes = sx.modes.natural_modes(system, state, n)
    force = np.zeros((n + 1, 1))
    force[-1] = 10.0
    psd = sx.modes.Spectrum([1.0, 30.0, 200.0], [0.1, 1.0, 0.2])
    found = sx.modes.random_response(system, state, psd, modes, forces=force)
    f = np.linspace(1.0, 200.0, 60001)
    direct = sx.modes.frequency_response(system, state, f[::20], forces=force.astype(complex)).displacements
    modal = sx.modes.frequency_response(system, state, f, forces=force.astype(complex), modes=modes).displacements
    np.testing.assert_allclose(modal[::20], direct, atol=1e-9 * np.abs(direct).max())
    exact = np.sqrt(np.trapezoid(np.abs(modal) ** 2 * psd.at(f)[:, None, None], f, axis=0))
    np.testing.assert_allclose(found.rms()[1:], exact[1:], rtol=2e-4)
    zeta = sx.modes.modal_ratios(system, state, modes)
    np.testing.assert_allclose(zeta, 2.0 / (2 * np.pi * modes.frequencies), rtol=1e-9)


@pytest.mark.slow
def test_spectrum_of_one_oscillator_is_its_motion_in_time():
    """S_a of a record and the response spectrum method give what the motion under the record does."""
    system, state = oscillator(5.0)
    modes = sx.modes.natural_modes(system, state, 1)
    t = np.linspace(0.0, 3.0, 601)
    a = sx.actions.corrected_baseline(t, np.sin(25 * t) * np.sin(np.pi * t / 3) ** 2)
    shock = sx.modes.shock_spectrum(t, a, modes.frequencies, 0.02)
    spectrum = sx.modes.Spectrum(modes.frequencies, modes.angular**2 * shock.displacement, "constant")
    found = sx.modes.spectrum_response(system, state, spectrum, modes, BASE, ratio=0.02)
    assert found.largest[1, 0] == pytest.approx(shock.displacement[0], rel=1e-9)
    motion = sx.actions.SupportTranslation([0], [1.0], sx.actions.TimeFunction.of_accelerations(t, a))
    damped = sx.System(
        system.mass,
        system.energies,
        dim=1,
        moving={"ground": motion},
        loads={"dashpot": sx.actions.Dashpots([[0, 1]], 2 * 0.02 * modes.angular[0] * 2.0)},
    )
    path = sx.record(damped, sx.EnergyMomentum(5e-4), damped.state([[0.0], [1.0]]), np.linspace(0.0, 3.0, 3001))
    moved = path.q[:, 1, 0] - path.q[:, 0, 0] - 1.0
    assert np.abs(moved).max() == pytest.approx(found.largest[1, 0], rel=5e-3)


def test_missing_mass_and_base_shear():
    """A clamped bar under a flat spectrum: with all mass, S_a times the mass is the force of a rigid body."""
    n = 8
    pairs = np.column_stack([np.arange(n), np.arange(1, n + 1)])
    chain = sx.Bars(pairs, sx.measures.EngineeringStrain(1e6, 1.0), dim=1)
    fixed = np.arange(n + 1)[:, None] == 0
    system = sx.System(np.ones(n + 1), {"chain": chain}, dim=1, fixed=fixed)
    state = system.state(np.arange(n + 1.0)[:, None])
    modes = sx.modes.natural_modes(system, state, n)
    flat = sx.modes.Spectrum([0.1], [2.0], "constant")
    base = fixed.astype(float)
    every = sx.modes.spectrum_response(system, state, flat, modes, base, ratio=0.0)
    assert (every.participation**2).sum() == pytest.approx(n)  # the mass that moves
    assert np.abs(every.missing).max() < 1e-12 * np.abs(every.largest).max()
    few = sx.modes.natural_modes(system, state, 2)
    some = sx.modes.spectrum_response(system, state, flat, few, base, ratio=0.0)
    K = np.asarray(system.hessian(state.q).todense())
    shear = [(K @ u.ravel())[0] for u in some.displacements]
    np.testing.assert_allclose(np.abs(shear), 2.0 * some.participation**2, rtol=1e-9)
    left = (K @ some.missing.ravel())[0]
    assert abs(left) == pytest.approx(2.0 * (n - (some.participation**2).sum()), rel=1e-9)
    without = sx.modes.spectrum_response(system, state, flat, few, base, ratio=0.0, missing_mass=False)
    assert without.missing is None
    assert (without.largest <= some.largest).all()


def test_mistakes():
    system, state = oscillator()
    modes = sx.modes.natural_modes(system, state, 1)
    psd = sx.modes.Spectrum([1.0, 100.0], [1.0, 1.0])
    with pytest.raises(InvalidSystem, match="mode 1 at 50 Hz is not damped"):
        sx.modes.random_response(system, state, psd, modes, base_acceleration=BASE)
    with pytest.raises(InvalidSystem, match="no support holds"):
        sx.modes.spectrum_response(system, state, psd, modes, BASE[::-1])
    with pytest.raises(InvalidSystem, match="relative goes with"):
        sx.modes.random_response(system, state, psd, modes, forces=BASE[::-1], ratio=0.1, relative=True)
    free = sx.System(system.mass, system.energies, dim=1)
    loose = sx.modes.natural_modes(free, free.state([[0.0], [1.0]]), 1)
    with pytest.raises(InvalidSystem, match="translation"):
        sx.modes.spectrum_response(system, state, psd, loose, BASE)
