"""Frequencies of rods, strings, chains, beams and rotors, and responses to harmonic excitation."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import brentq

import symplex as sx
from symplex.time.modes import complex_modes, frequency_response, natural_modes, rotating_frame
from verification_manual.models import Block, chain_of, rod
from verification_manual.problem import Row, problem

STRAIN = sx.measures.EngineeringStrain
MODES = "Modes and frequency response"


@problem(
    MODES,
    "Fixed–free rod",
    source="closed form, f = c/4L = 1261.886 Hz; lumped masses: 2N sin(π/4N) c/2πL",
    within=1e-9,
)
def fixed_free_rod() -> Iterator[Row]:
    """Steel, L = 1 m, E = 200 GPa, ρ = 7850 kg/m³, N bars, lumped and consistent masses."""
    c = np.sqrt(200e9 / 7850.0)
    for n in (10, 100):
        fixed = np.arange(n + 1)[:, None] == 0
        system, state = rod(n, 1.0, 200e9, 7850.0, 1e-4, fixed=fixed)
        found = natural_modes(system, state, 1).frequencies[0]
        yield Row(f"{n} bars, lumped", "f in Hz, discrete", 2 * n * np.sin(np.pi / 4 / n) * c / 2 / np.pi, found)
        yield Row(f"{n} bars, lumped", "f in Hz, continuum", c / 4.0, found, within=1.1e-3)
        mass = sx.actions.consistent_bar_mass(state.q, chain_of(n), 7850.0, 1e-4, n + 1)
        full = sx.System(mass, system.energies, dim=1, fixed=fixed)
        found = natural_modes(full, state, 1).frequencies[0]
        yield Row(f"{n} bars, consistent", "f in Hz, continuum", c / 4.0, found, within=1.1e-3)


@problem(MODES, "Free–free rod", source="Ansys verification manual VM61: 0, 126.70, 253.40 Hz", within=2e-4)
def free_free_rod() -> Iterator[Row]:
    """800 in long, E = 30·10⁶ psi, ρ = 7.3·10⁻⁴ lb s²/in⁴, 100 bars with lumped masses."""
    system, state = rod(100, 800.0, 30e6, 7.3e-4, 1.0)
    found = natural_modes(system, state, 3).frequencies
    yield Row("100 bars", "f1 in Hz", 0.0, found[0], scale=126.70)
    for k, target in ((1, 126.70), (2, 253.40)):
        yield Row("100 bars", f"f{k + 1} in Hz", target, found[k])


@problem(MODES, "Stretched string of beads", source="closed form, ω_k = 2 √(T/md) sin(kπ/2(N + 1))", within=1e-11)
def string_of_beads() -> Iterator[Row]:
    """N = 9 beads of 20 g, 0.1 m apart, on bars under a tension of 50 N; transverse vibrations."""
    points = np.zeros((11, 2))
    points[:, 0] = 0.1 * np.arange(11)
    bars = sx.Bars(chain_of(10), STRAIN(1e6, 0.1 - 50.0 / 1e6), dim=2)
    fixed = np.zeros((11, 2), bool)
    fixed[[0, -1]] = True
    system = sx.System(np.full(11, 0.02), {"string": bars}, dim=2, fixed=fixed)
    found = natural_modes(system, system.state(points), 9).angular
    for k in (1, 2, 5, 9):
        target = 2.0 * np.sqrt(50.0 / (0.02 * 0.1)) * np.sin(k * np.pi / 20.0)
        yield Row("bars", f"ω{k} in rad/s", target, found[k - 1])


@problem(MODES, "Hanging chain", source="zeros of J₀(2ω√(L/g)): ω√(L/g) = 1.2024128, 2.7600391, 4.3268640", within=6e-3)
def hanging_chain() -> Iterator[Row]:
    """100 and 200 bars under their own weight, which stretches them by 10⁻⁴ at most."""
    for n in (100, 200):
        points = np.zeros((n + 1, 2))
        points[:, 1] = -np.linspace(0.0, 1.0, n + 1)
        mass = np.full(n + 1, 1.0 / n)
        mass[[0, -1]] *= 0.5
        bars = sx.Bars(chain_of(n), STRAIN(1e5 * n, 1.0 / n), dim=2)
        fixed = np.zeros((n + 1, 2), bool)
        fixed[0] = True
        energies = {"chain": bars, "weight": sx.Gravity(mass, (0.0, -9.81))}
        system = sx.System(mass, energies, dim=2, fixed=fixed)
        state = sx.equilibria.static_equilibrium(system, points).state
        found = natural_modes(system, state, 3).angular / np.sqrt(9.81)
        for k, target in enumerate((1.2024128, 2.7600391, 4.3268640)):
            yield Row(f"{n} bars", f"ω{k + 1} √(L/g)", target, found[k])


def _walls() -> tuple[sx.System, sx.State]:
    points = np.arange(6.0)[:, None]
    fixed = np.zeros((6, 1), bool)
    fixed[[0, -1]] = True
    mass = [1.0, 1.0, 1.0, 1.0, 0.5, 1.0]
    system = sx.System(mass, {"chain": sx.Bars(chain_of(5), STRAIN(1000.0, 1.0), dim=1)}, dim=1, fixed=fixed)
    return system, system.state(points)


@problem(
    MODES,
    "Chain of four masses between walls",
    source="closed form: 3.211373, 6.3949056, 8.9360146, 11.05635 Hz; response: 4 × 4 complex matrix",
    within=1e-7,
)
def four_masses() -> Iterator[Row]:
    """Springs of 1000 N/m, masses of 1, 1, 1, ½ kg; harmonic force of 1 N on the first, 2 % damping of each mode."""
    system, state = _walls()
    modes = natural_modes(system, state, 4)
    for k, target in enumerate((3.211373, 6.3949056, 8.9360146, 11.05635)):
        yield Row("springs", f"f{k + 1} in Hz", target, modes.frequencies[k])
    forces = np.zeros((6, 1))
    forces[1] = 1.0
    at = np.array([3.0, 6.0])
    found = frequency_response(system, state, at, forces=forces, modes=modes, ratio=0.02)
    M = np.diag([1.0, 1.0, 1.0, 0.5])
    K = 1000.0 * (2.0 * np.eye(4) - np.eye(4, k=1) - np.eye(4, k=-1))
    w2, U = eigh(K, M)
    C = M @ U @ np.diag(0.04 * np.sqrt(w2)) @ U.T @ M
    for k, f in enumerate(at):
        w = 2.0 * np.pi * f
        exact = np.linalg.solve(K - w * w * M + 1j * w * C, [1.0, 0.0, 0.0, 0.0])
        yield Row("superposition", f"|u1| in m at {f:g} Hz", abs(exact[0]), abs(found.displacements[k, 1, 0]))


def _oscillator(**loads) -> tuple[sx.System, sx.State]:
    points = np.array([[0.0], [1.0]])
    bars = sx.Bars([[0, 1]], STRAIN(4.0 * np.pi**2, 1.0), dim=1)
    system = sx.System([1.0, 1.0], {"spring": bars}, dim=1, fixed=np.array([[True], [False]]), loads=loads)
    return system, system.state(points)


@problem(
    MODES,
    "Damped oscillator",
    source="closed forms: λ = ω(−ζ ± i√(1 − ζ²)); peak 1/(2ζ√(1 − ζ²)) = 25.005002 at r = √(1 − 2ζ²)",
    within=1e-7,
)
def damped_oscillator() -> Iterator[Row]:
    """1 Hz, ζ = 0.02: complex mode and harmonic response over the static one."""
    system, state = _oscillator(drag=sx.actions.Drag(np.ones(2), 0.08 * np.pi))
    found = complex_modes(system, state, 1).eigenvalues[0] / (2.0 * np.pi)
    yield Row("complex mode", "−Re λ/ω", 0.02, -found.real)
    yield Row("complex mode", "Im λ/ω", np.sqrt(1.0 - 0.02**2), found.imag)
    force = np.array([[0.0], [4.0 * np.pi**2]])
    at = np.array([0.99959992, 1.0])
    modes = natural_modes(system, state, 1)
    for by, given in (("direct", None), ("superposition", modes)):
        u = frequency_response(system, state, at, forces=force, modes=given).displacements[:, 1, 0]
        yield Row(by, "peak", 25.005002, abs(u[0]))
        yield Row(by, "phase at ω in rad", -0.5 * np.pi, np.angle(u[1]))


@problem(MODES, "Oscillator shaken at its base", source="closed form, (1 + 2iζr)/(1 − r² + 2iζr), ζ = 0.1", within=1e-9)
def shaken_base() -> Iterator[Row]:
    """1 Hz, damper along the spring; base amplitude 1 mm at frequency ratios r = 0.3, 1 and 2."""
    system, state = _oscillator(damper=sx.actions.Dashpots([[0, 1]], 0.4 * np.pi))
    at = np.array([0.3, 1.0, 2.0])
    base = np.array([[1e-3], [0.0]])
    for by, modes in (("direct", None), ("superposition", natural_modes(system, state, 1))):
        found = frequency_response(system, state, at, base=base, modes=modes).displacements[:, 1, 0]
        for r, u in zip(at, found, strict=True):
            yield Row(by, f"|u| in m at r = {r:g}", 1e-3 * abs((1 + 0.2j * r) / (1 - r * r + 0.2j * r)), abs(u))


# -- beams -------------------------------------------------------------------------------------------------------------

YOUNG, DENSITY, HEIGHT = 70e9, 2700.0, 0.01
WAVE = np.sqrt(YOUNG / DENSITY * HEIGHT**2 / 12.0)  # √(EI/ρA) in m²/s
BEAM = sx.SaintVenantKirchhoff.from_young(YOUNG, 0.0, DENSITY)


def _beam(kind: str = "hexahedron20", cells: int = 32) -> Block:
    """A beam of 1 m along x, its axis that of x, 1 cm × 1 cm."""
    half = np.array([0.0, 0.5 * HEIGHT, 0.5 * HEIGHT])
    return Block(kind, (1.0, HEIGHT, HEIGHT), (cells, 1, 1), BEAM, shape=lambda x: x - half)


def _clamped(x: np.ndarray) -> np.ndarray:
    return np.repeat(x[:, :1] == 0.0, 3, axis=1)


@problem(
    MODES,
    "Slender cantilever",
    source=(
        "Euler and Bernoulli, cos βL cosh βL = −1: βL = 1.8751041, 4.6941, 7.8548; effective masses 61.31 %, 18.83 %"
    ),
    within=2.5e-3,
)
def cantilever() -> Iterator[Row]:
    """L/h = 100, ν = 0, 32 elements in a row; frequencies as (βL)² = ω L²/√(EI/ρA)."""
    roots = [brentq(lambda x: np.cos(x) + 1.0 / np.cosh(x), g - 0.1, g + 0.1) for g in (1.8751, 4.6941, 7.8548)]
    for kind, limit in (("hexahedron20", None), ("hexahedron27", None), ("tetra10", 5e-3), ("hexahedron", 2e-2)):
        beam = _beam(kind)
        system = beam.system(_clamped(beam.points), beam.mass())
        found = natural_modes(system, system.state(beam.points), 6)
        for k, root in enumerate(roots):
            yield Row(kind, f"(βL)², mode {k + 1}", root**2, found.angular[2 * k] / WAVE, within=limit)
        parts = found.effective_masses[:, 1:3].reshape(3, 2, 2).sum(axis=1)[:, 0] / found.total[0]
        yield Row(kind, "effective mass, mode 1", 0.6131, parts[0], within=limit)
        yield Row(kind, "effective mass, mode 2", 0.1883, parts[1], within=limit)


@problem(MODES, "Free beam", source="Euler and Bernoulli, cos βL cosh βL = 1: βL = 4.7300407, 7.8532046", within=2e-3)
def free_beam() -> Iterator[Row]:
    """L/h = 100, ν = 0, 32 elements in a row, free in space."""
    for kind in ("hexahedron20", "hexahedron27"):
        beam = _beam(kind)
        system = beam.system(None, beam.mass())
        found = natural_modes(system, system.state(beam.points), 10).angular
        yield Row(kind, "largest ω of six rigid motions", 0.0, np.abs(found[:6]).max(), scale=found[6])
        for k, root in enumerate((4.7300407, 7.8532046)):
            yield Row(kind, f"(βL)², mode {k + 1}", root**2, found[6 + 2 * k] / WAVE)


@problem(MODES, "Beam under axial load", source="closed form, ω² = ω₀²(1 + T/P), P = π²EI/L² of Euler", within=2e-3)
def beam_under_axial_load() -> Iterator[Row]:
    """Pinned–pinned, L/h = 100, axial loads 3 P, −½ P and −0.99 P; deviations relative to P."""
    beam = _beam()
    x = beam.points
    ends, axis = (x[:, 0] == 0.0) | (x[:, 0] == 1.0), np.abs(x[:, 2]) < 1e-9
    fixed = np.column_stack([(x[:, 0] == 0.0) & axis, np.ones(len(x), bool), ends & axis])
    mass = beam.mass()
    system = beam.system(fixed, mass)
    free = natural_modes(system, system.state(x), 1).angular[0]
    yield Row("hexahedron20", "(βL)²", np.pi**2, free / WAVE)
    for part in (3.0, -0.5, -0.99):
        tension = part * np.pi**2 * YOUNG * HEIGHT**4 / 12.0
        pulled = beam.system(fixed, mass, pull=beam.pull("x_max", (tension / HEIGHT**2, 0.0, 0.0)))
        at = sx.equilibria.static_equilibrium(pulled, x).state
        found = (natural_modes(pulled, at, 1).angular[0] / free) ** 2
        yield Row("hexahedron20", f"(ω/ω₀)² at T = {part:g} P", 1.0 + part, found, scale=abs(part))


def _flap(speed: float) -> float:
    """Return the first ω of w⁗ − (T w′)′ = ω² w, T = ½ Ω²(1 − x²), by Galerkin's method: ten digits."""
    from numpy.polynomial import Polynomial
    from numpy.polynomial.legendre import Legendre

    shapes = [Polynomial([0, 0, 1]) * Legendre.basis(k, [0, 1]).convert(kind=Polynomial) for k in range(8)]
    tension = Polynomial([0.5 * speed**2, 0, -0.5 * speed**2])

    def integral(f) -> float:
        return f.integ()(1.0) - f.integ()(0.0)

    K = [[integral(a.deriv(2) * b.deriv(2) + tension * a.deriv() * b.deriv()) for b in shapes] for a in shapes]
    M = [[integral(a * b) for b in shapes] for a in shapes]
    return float(np.sqrt(eigh(K, M, eigvals_only=True)[0]))


@problem(
    MODES,
    "Rotating cantilever",
    source=(
        "the equation of the rotating beam by Galerkin's method (3.681647, 4.797279, 7.360373); lag: ω² = ω_flap² − Ω²"
    ),
    within=6e-4,
)
def rotating_beam() -> Iterator[Row]:
    """L/h = 100, clamped at the axis, Ω √(ρA/EI) L² = 1, 3, 6: first flap and lag about steady rotation."""
    beam = _beam()
    system = beam.system(_clamped(beam.points), beam.mass())
    for speed in (1.0, 3.0, 6.0):
        frame = rotating_frame(system, (0.0, 0.0, speed * WAVE))
        at = sx.equilibria.static_equilibrium(frame, beam.points).state
        lag, flap = complex_modes(frame, at, 2).eigenvalues.imag / WAVE
        exact = _flap(speed)
        yield Row("hexahedron20", f"flap at Ω = {speed:g}", exact, flap)
        yield Row("hexahedron20", f"lag at Ω = {speed:g}", np.sqrt(exact**2 - speed**2), lag)


@problem(MODES, "Whirl of a rotor", source="closed form, |1 ∓ Ω/2π| Hz; without Coriolis forces √(1 − Ω²)", within=1e-9)
def whirl() -> Iterator[Row]:
    """A mass on four equal springs, 1 Hz, in a frame rotating at a quarter and a half of that."""
    points = np.array([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    bars = sx.Bars([[0, k] for k in range(1, 5)], STRAIN(2.0 * np.pi**2, 1.0), dim=2)
    fixed = np.ones((5, 2), bool)
    fixed[0] = False
    for spin in (0.25, 0.5):
        system = rotating_frame(sx.System(np.ones(5), {"springs": bars}, dim=2, fixed=fixed), 2.0 * np.pi * spin)
        state = system.state(points)
        backward, forward = complex_modes(system, state, 2).frequencies
        yield Row("complex modes", f"1 − Ω, Hz, at Ω = {spin:g}", 1.0 - spin, backward)
        yield Row("complex modes", f"1 + Ω, Hz, at Ω = {spin:g}", 1.0 + spin, forward)
        soft = natural_modes(system, state, 1).frequencies[0]
        yield Row("natural modes", f"√(1 − Ω²), Hz, at Ω = {spin:g}", np.sqrt(1.0 - spin**2), soft)


@problem(MODES, "Clusters of Lennard-Jones particles", source="closed form: φ″ = 72 ε/r₀², r₀ = 2^(1/6) σ", within=1e-7)
def lennard_jones_cluster() -> Iterator[Row]:
    """Two particles, ω² = 2φ″/m, and an equilateral triangle, ω² = 3φ″/m and 3φ″/2m twice; ε = σ = m = 1."""
    r = 2.0 ** (1.0 / 6.0)
    stiff = 72.0 / r**2
    for n, targets in ((2, [2.0]), (3, [1.5, 1.5, 3.0])):
        angle = 2.0 * np.pi * np.arange(n) / n
        points = (
            r / np.linalg.norm([np.cos(angle[1]) - 1.0, np.sin(angle[1])]) * np.array([np.cos(angle), np.sin(angle)])
        )
        bars = sx.Bars(sx.measures.all_pairs(n), sx.measures.LennardJones(1.0, 1.0), dim=2)
        system = sx.System(np.ones(n), {"pairs": bars}, dim=2)
        found = natural_modes(system, system.state(points.T), 2 * n).angular[3:]
        for k, part in enumerate(targets):
            yield Row(f"{n} particles", f"ω{k + 1}", np.sqrt(part * stiff), found[k])
