"""Constant temperature."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import symplex as sx
from verification_manual.problem import Row, problem

THERMAL = "Thermostats"


def _oscillators(n: int, masses: tuple[float, float] = (1.0, 1.0)) -> tuple[sx.System, sx.State]:
    """Return oscillators on a line, k = 4 N/m, about fixed nodes."""
    nodes = np.arange(2 * n, dtype=np.int32).reshape(n, 2)
    fixed = np.zeros((2 * n, 1), bool)
    fixed[::2] = True
    mass = np.where(np.arange(2 * n) % 4 == 1, *masses)
    bars = sx.Bars(nodes, sx.measures.EngineeringStrain(4.0, 1.0), dim=1)
    system = sx.System(mass, {"springs": bars}, dim=1, fixed=fixed)
    return system, system.state(np.tile([[0.0], [1.0]], (n, 1)))


@problem(
    THERMAL,
    "Canonical distribution",
    source="exact for the methods: ⟨x²⟩k/k_BT = 1/(1 − ω²h²/4) of Verlet, 1 of the midpoint rule; ⟨v²⟩m/k_BT = 1",
    within=0.04,
)
def canonical() -> Iterator[Row]:
    """400 oscillators, 1 kg, 4 N/m, k_BT = 0.02 J, γ/m = 1/s, h = 0.5 s, means over 180 s (statistical error 1 %)."""
    system, state = _oscillators(400)
    for method, of_positions in ((sx.Newmark(0.5), 1.0 / 0.75), (sx.Midpoint(0.5), 1.0)):
        motion = sx.Langevin(method, 0.02, rate=1.0, boltzmann=1.0, seed=3).start(system, state)
        x, v = [], []
        for n in range(1, 401):
            now = motion.advance(0.5 * n)
            if n > 40:
                x.append(np.mean((now.q[1::2] - 1.0) ** 2))
                v.append(np.mean(now.v[1::2] ** 2))
        name = f"Langevin over {type(method).__name__}"
        yield Row(name, "⟨x²⟩ k/k_BT", of_positions, np.mean(x) * 4.0 / 0.02)
        yield Row(name, "⟨v²⟩ m/k_BT", 1.0, np.mean(v) / 0.02)


@problem(THERMAL, "Equipartition", source="½ k_BT for each mass, whatever its friction", within=0.04)
def equipartition() -> Iterator[Row]:
    """2000 oscillators of 1 kg and 3 kg with frictions of 1 and 9 kg/s, midpoint rule, h = 0.5 s; means over 20 s."""
    system, state = _oscillators(2000, (1.0, 3.0))
    friction = np.where(np.asarray(system.mass) > 2.0, 9.0, 1.0)
    motion = sx.Langevin(sx.Midpoint(0.5), 0.02, friction=friction, boltzmann=1.0).start(system, state)
    mass = np.asarray(system.mass)
    means = np.mean([mass * motion.advance(0.5 * n).v[:, 0] ** 2 for n in range(20, 60)], axis=0)
    yield Row("1 kg", "⟨v²⟩ m/k_BT", 1.0, means[1::4].mean() / 0.02)
    yield Row("3 kg", "⟨v²⟩ m/k_BT", 1.0, means[3::4].mean() / 0.02)


@problem(
    THERMAL,
    "Free particles",
    source="closed forms: v = v₀e^(−γt) at T = 0; ⟨v²⟩ = k_BT/m (1 − e^(−2γt)) from rest",
    within=0.03,
)
def free_particles() -> Iterator[Row]:
    """20 000 particles without forces, m = 1 kg, γ/m = 0.5/s, h = 0.1 s."""
    system = sx.System(np.ones(20000), {}, dim=1)
    q = np.zeros((20000, 1))
    cold = sx.Langevin(sx.Newmark(0.1), 0.0, rate=0.5, boltzmann=1.0).start(system, system.state(q, np.ones_like(q)))
    yield Row("T = 0", "v/v₀ at 2 s", np.exp(-1.0), cold.advance(2.0).v[0, 0], within=1e-12)
    warm = sx.Langevin(sx.Newmark(0.1), 2.0, rate=0.5, boltzmann=1.0, seed=1).start(system, system.state(q))
    for t in (0.5, 2.0):
        yield Row("k_BT = 2 J", f"⟨v²⟩ at {t} s", 2.0 * (1.0 - np.exp(-t)), np.mean(warm.advance(t).v ** 2))
