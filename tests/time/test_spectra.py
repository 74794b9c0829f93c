"""Spectra of shocks, of power and of responses against closed forms, and baselines of accelerograms."""

import numpy as np
import pytest

import symplex as sx
from symplex.errors import InvalidSystem


def half_sine(f, tau, n=20001):
    """The absolute acceleration of an undamped oscillator under sin(πt/τ), and after it, in closed form."""
    W, w = np.pi / tau, 2 * np.pi * f
    t = np.linspace(0.0, tau, n)
    r = W / w
    during = (np.sin(W * t) - r * np.sin(w * t)) / (1 - r**2)
    rate = W * (np.cos(W * tau) - np.cos(w * tau)) / (1 - r**2)
    residual = np.hypot(during[-1], rate / w)
    return max(during.max(), residual), min(during.min(), -residual)


@pytest.mark.parametrize("f", [7.0, 30.0, 49.0, 120.0, 700.0])
def test_half_sine_pulse(f):
    tau = 0.01
    t = np.linspace(0.0, tau, 2001)
    found = sx.modes.shock_spectrum(t, np.sin(np.pi * t / tau), [f], 0.0)
    high, low = half_sine(f, tau)
    np.testing.assert_allclose([found.positive[0], found.negative[0]], [high, low], rtol=2e-3)
    assert found.acceleration[0] == pytest.approx((2 * np.pi * f) ** 2 * found.displacement[0], rel=2e-3)


def test_high_and_low_frequencies():
    """Stiff oscillators follow the record, soft ones stay where they are: their base's displacement goes by."""
    t = np.linspace(0.0, 1.0, 2001)
    a = np.sin(4 * np.pi * t) * np.sin(np.pi * t) ** 2
    stiff = sx.modes.shock_spectrum(t, a, [400.0], 0.05)
    assert stiff.positive[0] == pytest.approx(a.max(), rel=2e-3)
    v = np.cumsum(a) * (t[1] - t[0])
    u = np.cumsum(v) * (t[1] - t[0])
    soft = sx.modes.shock_spectrum(t, a, [0.01], 0.0)
    late = np.abs(u[-1] + v[-1] * 0.0)
    assert soft.displacement[0] >= late


@pytest.mark.parametrize("ratio", [0.0, 0.05, 0.3])
def test_against_a_fine_integration(ratio):
    rng = np.random.default_rng(3)
    t = np.linspace(0.0, 2.0, 101)
    a = rng.standard_normal(101)
    found = sx.modes.shock_spectrum(t, a, [3.0], ratio)
    from scipy.integrate import solve_ivp

    w = 2 * np.pi * 3.0

    def rate(s, x):
        return [x[1], -2 * ratio * w * x[1] - w**2 * x[0] - np.interp(s, t, a, right=0.0)]

    path = solve_ivp(rate, (0.0, 2.0), [0.0, 0.0], max_step=2e-3, rtol=1e-9, atol=1e-12, dense_output=True)
    after = solve_ivp(
        lambda s, x: [x[1], -2 * ratio * w * x[1] - w**2 * x[0]], (0.0, 0.34), path.y[:, -1], max_step=1e-3
    )
    y = np.hstack([path.y, after.y])
    acceleration = -2 * ratio * w * y[1] - w**2 * y[0]
    assert found.positive[0] == pytest.approx(acceleration.max(), rel=3e-3)
    assert found.negative[0] == pytest.approx(acceleration.min(), rel=3e-3)
    assert found.displacement[0] == pytest.approx(np.abs(y[0]).max(), rel=3e-3)


def test_uneven_records():
    t = np.sort(np.concatenate([np.linspace(0, 1, 201), [0.0123, 0.5001]]))
    even = np.linspace(0, 1, 201)

    def of(x):
        return np.sin(9 * x) * np.sin(np.pi * x)

    one = sx.modes.shock_spectrum(t, of(t), [2.0, 11.0], 0.05)
    two = sx.modes.shock_spectrum(even, of(even), [2.0, 11.0], 0.05)
    np.testing.assert_allclose(one.acceleration, two.acceleration, rtol=1e-3)


def test_areas_of_power():
    flat = sx.modes.Spectrum([20.0, 2000.0], [0.04, 0.04])
    assert flat.mean_square == pytest.approx(0.04 * 1980)
    # Plus 3 dB an octave from 20 to 80 Hz: proportional to f; then flat; then 1/f.
    shaped = sx.modes.Spectrum([20.0, 80.0, 500.0, 2000.0], [0.01, 0.04, 0.04, 0.01])
    exact = 0.04 / 80 * (80**2 - 20**2) / 2 + 0.04 * 420 + 0.04 * 500 * np.log(4.0)
    assert shaped.mean_square == pytest.approx(exact)
    f = np.geomspace(20, 2000, 200001)
    assert np.trapezoid(shaped.at(f), f) == pytest.approx(exact, rel=1e-8)
    assert shaped.at([10.0, 3000.0]).tolist() == [0.0, 0.0]
    assert sx.modes.Spectrum([1.0, 10.0], [2.0, 3.0], "constant").at([0.1, 20.0]) == pytest.approx([2.0, 3.0])


def test_combinations():
    r = np.array([3.0, -4.0])
    assert sx.modes.combined(r, [1.0, 100.0], 0.05, "srss") == pytest.approx(5.0)
    assert sx.modes.combined(r, [1.0, 100.0], 0.05, "absolute") == pytest.approx(7.0)
    # Modes far apart do not see each other, modes of one frequency swing together.
    assert sx.modes.combined(r, [1.0, 100.0], 0.05) == pytest.approx(5.0, rel=1e-3)
    assert sx.modes.combined(r, [2.0, 2.0], 0.05) == pytest.approx(1.0)
    assert sx.modes.combined(r, [2.0, 2.0 + 1e-9], 0.0) == pytest.approx(5.0)
    # ρ = 0.5 of ζ = 5 % at β² … by its formula with equal ratios (Wilson et al., eq. 12).
    z, b = 0.05, 0.9
    rho = 8 * z**2 * (1 + b) * b**1.5 / ((1 - b**2) ** 2 + 4 * z**2 * b * (1 + b) ** 2)
    assert sx.modes.combined(r, [1.0, 0.9], z) == pytest.approx(np.sqrt(25 - 24 * rho))


@pytest.mark.parametrize("how", ["rest", "polynomial"])
def test_baselines(how):
    t = np.linspace(0.0, 20.0, 2001)
    clean = np.sin(7 * t) * np.exp(-((t - 6) ** 2) / 4)
    clean = sx.actions.corrected_baseline(t, clean)
    drifting = clean + 0.01 + 0.002 * t
    found = sx.actions.corrected_baseline(t, drifting, how)
    u = sx.actions.TimeFunction.of_accelerations(t, found)
    before = sx.actions.TimeFunction.of_accelerations(t, drifting)
    assert abs(before.value(20.0)) > 3.0
    if how == "rest":
        np.testing.assert_allclose(found, clean, atol=1e-12)
        assert abs(u.value(20.0)) < 1e-10
        assert abs(u.rate(20.0)) < 1e-11
    else:
        assert abs(u.value(20.0)) < 0.05
        assert abs(u.rate(20.0)) < 0.01
        np.testing.assert_allclose(found, clean, atol=0.01)
    assert np.array_equal(sx.actions.corrected_baseline(t, drifting, "none"), drifting)


def test_mistakes():
    with pytest.raises(InvalidSystem, match="ascend"):
        sx.modes.Spectrum([2.0, 1.0], [1.0, 1.0])
    with pytest.raises(InvalidSystem, match="positive"):
        sx.modes.Spectrum([1.0, 2.0], [1.0, 0.0])
    with pytest.raises(InvalidSystem, match="ascend"):
        sx.modes.shock_spectrum([0.0, 1.0, 0.5], [0, 1, 0], [1.0])
    with pytest.raises(InvalidSystem, match="too high"):
        sx.modes.shock_spectrum(np.linspace(0, 1e3, 10001), np.zeros(10001), [1e6])
    with pytest.raises(InvalidSystem, match="shape"):
        sx.modes.combined([1.0, 2.0], [1.0], 0.05)
    with pytest.raises(InvalidSystem, match="three times"):
        sx.actions.corrected_baseline([0.0, 1.0], [0.0, 1.0])
