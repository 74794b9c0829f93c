"""Transient response: oscillators and waves."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import symplex as sx
from verification_manual.models import rod
from verification_manual.problem import Row, problem

TRANSIENT = "Transient response"


def oscillator(omega: float = 1.0, **options) -> sx.System:
    """Return a mass of 1 kg on a linear spring from a fixed node, at rest at x = 1 m."""
    bars = sx.Bars([[0, 1]], sx.measures.EngineeringStrain(omega**2, 1.0), dim=1)
    return sx.System([1.0, 1.0], {"spring": bars}, dim=1, fixed=np.array([[True], [False]]), **options)


def _at(system: sx.System, method: sx.Integrator, u: float, v: float, t: float) -> sx.State:
    start = system.state([[0.0], [1.0 + u]], [[0.0], [v]])
    return method.start(system, start).advance(t)


@problem(
    TRANSIENT,
    "Period of an oscillator",
    source="closed forms: sin(ω_h h/2) = ωh/2 (Verlet), tan(ω_h h/2) = ωh/2 (trapezoidal and midpoint rule)",
    within=1e-9,
)
def period_error() -> Iterator[Row]:
    """The frequency ω_h of a method at ωh = 0.1, 0.5 and 1, from the trace of one step."""
    methods = {
        "Newmark, explicit": (sx.Newmark, lambda x: 2.0 * np.arcsin(0.5 * x) / x),
        "Newmark, trapezoidal": (sx.Newmark.trapezoidal, lambda x: 2.0 * np.arctan(0.5 * x) / x),
        "Midpoint": (sx.Midpoint, lambda x: 2.0 * np.arctan(0.5 * x) / x),
        "EnergyMomentum": (sx.EnergyMomentum, lambda x: 2.0 * np.arctan(0.5 * x) / x),
    }
    system = oscillator()
    for name, (make, exact) in methods.items():
        for h in (0.1, 0.5, 1.0):
            by_u, by_v = (_at(system, make(h), u, v, h) for u, v in ((0.5, 0.0), (0.0, 0.5)))
            trace = 2.0 * (by_u.q[1, 0] - 1.0) + 2.0 * by_v.v[1, 0]
            yield Row(name, f"ω_h/ω at ωh = {h}", exact(h), np.arccos(0.5 * trace) / h)


@problem(TRANSIENT, "Damped free vibration", source="closed form, e^(−ζωt) cos ω_d t and similar", within=3e-4)
def damped_vibration() -> Iterator[Row]:
    """ω = 1 rad/s, ζ = 0.05, released at 0.5 m; displacement after 10 s, steps of 0.02 s."""
    system = oscillator(loads={"drag": sx.actions.Drag(np.ones(2), 0.1)})
    wd = np.sqrt(1.0 - 0.05**2)
    target = 0.5 * np.exp(-0.5) * (np.cos(10.0 * wd) + 0.05 / wd * np.sin(10.0 * wd))
    for method in (sx.Newmark(0.02), sx.Newmark.trapezoidal(0.02), sx.Midpoint(0.02), sx.EnergyMomentum(0.02)):
        name = type(method).__name__ + (", trapezoidal" if getattr(method, "beta", 0.0) else "")
        found = _at(system, method, 0.5, 0.0, 10.0).q[1, 0] - 1.0
        yield Row(name, "u in m at 10 s", target, found, scale=0.5 * np.exp(-0.5))


@problem(TRANSIENT, "Resonance from rest", source="closed form, u = (sin ωt − ωt cos ωt)/2 for F = sin ωt", within=1e-3)
def resonance() -> Iterator[Row]:
    """ω = 1 rad/s, without damping, F = 1 N sin t; displacement after 10 periods, steps of 0.01 s."""

    def push(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.array([[0.0], [0.02 * np.sin(t)]])

    system, t = oscillator(loads={"push": push}), 20.0 * np.pi
    target = 0.01 * (np.sin(t) - t * np.cos(t))
    for method in (sx.Newmark(t / 6283), sx.Midpoint(t / 6283), sx.EnergyMomentum(t / 6283)):
        found = _at(system, method, 0.0, 0.0, t).q[1, 0] - 1.0
        yield Row(type(method).__name__, "u in m after 10 periods (0.02 N)", target, found)


@problem(
    TRANSIENT,
    "Oscillator on an accelerated base",
    source="closed form, relative to the base −a/ω²(1 − cos ωt): at most 2a/ω²",
    within=2e-4,
)
def accelerated_base() -> Iterator[Row]:
    """ω = 2 rad/s; base acceleration 0.1 m/s² from rest."""
    up = sx.actions.TimeFunction(lambda t: t * t, lambda t: 2.0 * t, lambda t: 2.0)
    base = sx.actions.SupportTranslation([0], [0.05], up)
    bars = sx.Bars([[0, 1]], sx.measures.EngineeringStrain(4.0, 1.0), dim=1)
    system = sx.System([1.0, 1.0], {"spring": bars}, dim=1, moving={"base": base})
    t = np.linspace(0.0, np.pi, 201)
    for method in (sx.Newmark(t[1]), sx.Midpoint(t[1])):
        path = sx.record(system, method, system.state([[0.0], [1.0]]), t)
        relative = path.q[:, 1, 0] - path.q[:, 0, 0] - 1.0
        yield Row(type(method).__name__, "largest relative displacement in m", 0.05, -relative.min())
        exact = -0.025 * (1.0 - np.cos(2.0 * t))
        yield Row(type(method).__name__, "largest error in m", 0.0, np.abs(relative - exact).max(), scale=0.05)


@problem(
    TRANSIENT,
    "Step force on a bar",
    source="exact: front at c t, velocity σ₀/ρc behind it, doubled at the free end",
    within=0.02,
)
def step_on_a_bar() -> Iterator[Row]:
    """E = ρ = L = 1, 200 bars, small dead stress at one end from t = 0, central differences near the stability limit
    and at half of it, where fronts ripple more; means behind the front.
    """
    stress = 1e-4
    system, state = rod(200, 1.0, 1.0, 1.0, 1.0, energies={"push": sx.actions.NodalForce([0], [stress])})
    material = state.q[:, 0]
    for steps in (204, 400):
        method = sx.Newmark(1.0 / steps)
        motion = method.start(system, state)
        half = motion.advance(0.5)
        behind = (material > 0.05) & (material < 0.45)
        yield Row(f"Newmark, h = L/{steps}c", "v ρc/σ₀ behind the front", 1.0, half.v[behind, 0].mean() / stress)
        ahead = np.abs(half.v[material > 0.6, 0]).max() / stress
        yield Row(f"Newmark, h = L/{steps}c", "v ρc/σ₀ ahead of it", 0.0, ahead, scale=1.0)
        later = motion.advance(1.5)
        back = (material > 0.6) & (material < 0.95)
        yield Row(f"Newmark, h = L/{steps}c", "v ρc/σ₀ after the free end", 2.0, later.v[back, 0].mean() / stress)
