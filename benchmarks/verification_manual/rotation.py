"""Pendula, tops, orbits, rotating bodies."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.special import ellipj, ellipk

import symplex as sx
from symplex.time.manifolds import (
    BodyCayley,
    ComposedMethod,
    RigidBody,
    SphereEnergyMomentum,
    SphereMidpoint,
    SphereSymplectic,
    SphericalPendulum,
    UniformField,
)
from verification_manual.models import Block, chain_of
from verification_manual.problem import Row, problem

ROTATION = "Pendula, tops and orbits"


def _crossing(t: np.ndarray, x: np.ndarray) -> float:
    """Return when x first changes its sign."""
    k = int(np.argmax(x[:-1] * x[1:] < 0.0))
    return float(t[k] - x[k] * (t[k + 1] - t[k]) / (x[k + 1] - x[k]))


@problem(
    ROTATION,
    "Period of a pendulum",
    source="elliptic integral: T/T₀ = 1.0174088, 1.073182, 1.1803406, 1.3728805, 1.7622037, 2.4393627",
    within=1e-4,
)
def pendulum() -> Iterator[Row]:
    """Released at 30°, 60°, …, 170°; RATTLE and two methods on the sphere; a quarter period in 1000 steps."""
    fixed = np.array([[True, True], [False, False]])
    mass = np.ones(2)
    system = sx.System(mass, {"weight": sx.Gravity(mass, (0.0, -1.0))}, dim=2, fixed=fixed)
    rods = {"rod": sx.measures.RigidBars([[0, 1]], [1.0])}
    for degrees in (30, 60, 90, 120, 150, 170):
        angle = np.radians(degrees)
        exact = 2.0 / np.pi * ellipk(np.sin(0.5 * angle) ** 2)
        quarter = 0.5 * np.pi * exact
        dt, n = quarter / 1000.0, 1010
        t = dt * np.arange(n + 1)
        start = system.state([[0.0, 0.0], [np.sin(angle), -np.cos(angle)]])
        path = sx.record(system, sx.Rattle(dt, rods), start, t)
        yield Row("Rattle", f"T/T₀ at {degrees}°", exact, _crossing(t, path.q[:, 1, 0]) / (0.5 * np.pi))
        ball = SphericalPendulum.in_gravity(gravity=1.0)
        for method in (SphereMidpoint(), SphereSymplectic()):
            begin = ball.state([np.sin(angle), 0.0, -np.cos(angle)])
            x = np.array([state.q[0] for state in method.march(ball, begin, dt, n)])
            found = _crossing(t[-len(x) :], x) / (0.5 * np.pi)
            yield Row(type(method).__name__, f"T/T₀ at {degrees}°", exact, found)


@problem(ROTATION, "Conical pendulum", source="exact: Ω² = g/(L cos θ)", within=1e-4)
def conical_pendulum() -> Iterator[Row]:
    """L = 1 m, g = 1 m/s², θ = 30° and 60°: angle in one period, constant height; 500 steps."""
    ball = SphericalPendulum.in_gravity(gravity=1.0)
    for degrees in (30.0, 60.0):
        angle = np.radians(degrees)
        omega = np.sqrt(1.0 / np.cos(angle))
        start = ball.state([np.sin(angle), 0.0, -np.cos(angle)], [0.0, omega * np.sin(angle), 0.0])
        for method in (SphereMidpoint(), SphereSymplectic(), SphereEnergyMomentum()):
            path = list(method.march(ball, start, 2.0 * np.pi / omega / 500, 500))
            turned = np.unwrap([np.arctan2(s.q[1], s.q[0]) for s in path])
            heights = np.array([s.q[2] for s in path])
            name = type(method).__name__
            yield Row(name, f"angle in rad, θ = {degrees:g}°", 2.0 * np.pi, turned[-1] - 0.0)
            yield Row(name, f"change of height, θ = {degrees:g}°", 0.0, np.ptp(heights), scale=1.0)


@problem(
    ROTATION, "Free asymmetric body", source="Jacobi's elliptic functions (Landau and Lifshitz, § 37)", within=1e-7
)
def free_body() -> Iterator[Row]:
    """Moments 1, 2, 2.8 kg m², ω = (0.9, 0, 1.1) rad/s; angular velocity after 3 s, composed method of order 6."""
    moments, omega = np.array([1.0, 2.0, 2.8]), np.array([0.9, 0.0, 1.1])
    energy, squared = float(moments @ omega**2), float(moments**2 @ omega**2)
    a, b, c = moments
    s = np.sqrt((c - b) * (squared - energy * a) / (a * b * c))
    m = (b - a) * (energy * c - squared) / ((c - b) * (squared - energy * a))
    sn, cn, dn, _ = ellipj(3.0 * s, m)
    exact = [
        np.sqrt((energy * c - squared) / (a * (c - a))) * cn,
        np.sqrt((energy * c - squared) / (b * (c - b))) * sn,
        np.sqrt((squared - energy * a) / (c * (c - a))) * dn,
    ]
    body = RigidBody(moments)
    for method, n, limit in ((ComposedMethod(BodyCayley(), 6), 60, None), (BodyCayley(), 3000, 5e-6)):
        *_, end = method.march(body, body.state(omega=omega), 3.0 / n, n, every=n)
        for k, axis in enumerate("xyz"):
            name = f"{type(method).__name__}, {n} steps"
            yield Row(name, f"ω_{axis} in rad/s", exact[k], body.omega(end)[k], scale=1.0, within=limit)


@problem(ROTATION, "Free symmetric top", source="exact: the axis precesses about the momentum with |Π|/I₁", within=1e-5)
def symmetric_top() -> Iterator[Row]:
    """Moments 1, 1, 1.6 kg m², ω = (0.5, 0, 2) rad/s; angle of the axis about the momentum after one precession."""
    body, omega = RigidBody([1.0, 1.0, 1.6]), np.array([0.5, 0.0, 2.0])
    start = body.state(omega=omega)
    L = body.angular_momentum(start)
    z = L / np.linalg.norm(L)
    x = np.array([0.0, 0.0, 1.0]) - z[2] * z
    x /= np.linalg.norm(x)
    rate = np.linalg.norm(L) / 1.0
    for method, n in ((BodyCayley(), 2000), (ComposedMethod(BodyCayley(), 4), 200)):
        path = list(method.march(body, start, 2.0 * np.pi / rate / n, n))
        axis = np.array([s.R[:, 2] for s in path])
        turned = np.unwrap(np.arctan2(axis @ np.cross(z, x), axis @ x))[-1]
        yield Row(f"{type(method).__name__}, {n} steps", "angle in rad", 2.0 * np.pi, turned)
        yield Row(f"{type(method).__name__}, {n} steps", "change of the tilt", 0.0, np.ptp(axis @ z), scale=1.0)


@problem(
    ROTATION,
    "Heavy top in steady precession",
    source="exact: I₁ w² cos θ − I₃ s w + m g d = 0 for the rate w of precession at the spin s",
    within=1e-4,
)
def heavy_top() -> Iterator[Row]:
    """I₁ = 1, I₃ = 0.4 kg m², m g d = 1 N m, θ = 0.5 rad, s = 10 rad/s: angle in one precession, and tilt."""
    tilt, s, i1, i3 = 0.5, 10.0, 1.0, 0.4
    w = 2.0 / (i3 * s + np.sqrt((i3 * s) ** 2 - 4.0 * i1 * np.cos(tilt)))
    c, sn = np.cos(tilt), np.sin(tilt)
    R = np.array([[1.0, 0.0, 0.0], [0.0, c, -sn], [0.0, sn, c]])  # the axis at −y
    spatial = w * np.array([0.0, 0.0, 1.0])
    omega = R.T @ spatial
    omega[2] = s
    body = RigidBody([i1, i1, i3], UniformField(1.0))
    for method, n in ((BodyCayley(), 4000), (ComposedMethod(BodyCayley(), 4), 600)):
        path = list(method.march(body, body.state(R, omega), 2.0 * np.pi / w / n, n))
        axis = np.array([state.R[:, 2] for state in path])
        turned = np.unwrap(np.arctan2(axis[:, 1], axis[:, 0]))
        name = f"{type(method).__name__}, {n} steps"
        yield Row(name, "angle in rad", 2.0 * np.pi, turned[-1] + 0.5 * np.pi)
        yield Row(name, "change of the height of its axis", 0.0, np.ptp(axis[:, 2]), scale=1.0)


@problem(ROTATION, "Kepler's orbit", source="exact: back at the start after the period 2π a^(3/2)", within=1e-4)
def kepler() -> Iterator[Row]:
    """Half axis a = 1, γ = 1, e = 0.5, from the pericentre; position after one period in 2000 steps, relative to a."""
    bars = sx.Bars([[0, 1]], sx.measures.InverseDistance(1.0), dim=2)
    fixed = np.array([[True, True], [False, False]])
    system = sx.System(np.ones(2), {"gravity": bars}, dim=2, fixed=fixed)
    start = system.state([[0.0, 0.0], [0.5, 0.0]], [[0.0, 0.0], [0.0, np.sqrt(3.0)]])
    dt = 2.0 * np.pi / 2000
    for method, limit in (
        (sx.Composition(sx.Newmark(dt), 6), 1e-9),
        (sx.Composition(sx.Newmark(dt), 4), 1e-6),
        (sx.Newmark(dt), 2e-3),
        (sx.EnergyMomentum(dt), 2e-3),
        (sx.ZhangSkeel(dt), 2e-3),
    ):
        end = method.start(system, start).advance(2.0 * np.pi)
        name = type(method).__name__ + (f" of order {method.order}" if isinstance(method, sx.Composition) else "")
        yield Row(name, "distance from the start", 0.0, np.linalg.norm(end.q[1] - [0.5, 0.0]), scale=1.0, within=limit)
        L = system.angular_momentum(end)
        yield Row(name, "angular momentum", 0.5 * np.sqrt(3.0), float(np.ravel(L)[-1]), within=1e-11)


@problem(ROTATION, "Two masses on a spring", source="exact: k(r − r₀) = ½ m Ω² r in steady rotation", within=1e-9)
def two_masses() -> Iterator[Row]:
    """Masses of 1 kg, k = 100 N/m, r₀ = 1 m, Ω = 5 rad/s: length in steady rotation."""
    bars = sx.Bars([[0, 1]], sx.measures.EngineeringStrain(100.0, 1.0), dim=2)
    system = sx.System(np.ones(2), {"spring": bars}, dim=2)
    found = sx.equilibria.relative_equilibrium(system, np.array([[-0.5, 0.0], [0.5, 0.0]]), omega=5.0)
    exact = 100.0 / (100.0 - 0.5 * 25.0)
    yield Row("relative_equilibrium", "r in m", exact, bars.lengths(found.state.q)[0])


@problem(
    ROTATION,
    "Ring of bars in rotation",
    source="exact: k l₀(ε)·2 sin(π/N) = m Ω² R of each node; thin ring: ε = ρΩ²R²/E",
    within=1e-8,
)
def ring() -> Iterator[Row]:
    """N = 24 nodes of 1 kg on a circle of 1 m, bars of k = 10⁴ N/m between neighbours, Ω = 10 rad/s."""
    n, k, omega = 24, 1e4, 10.0
    angle = 2.0 * np.pi * np.arange(n) / n
    points = np.column_stack([np.cos(angle), np.sin(angle)])
    pairs = np.column_stack([np.arange(n), (np.arange(n) + 1) % n])
    side = 2.0 * np.sin(np.pi / n)
    bars = sx.Bars(pairs, sx.measures.EngineeringStrain(k, side), dim=2)
    # k (side R − side) · side = m Ω² R
    exact = k * side**2 / (k * side**2 - omega**2)
    system = sx.System(np.ones(n), {"ring": bars}, dim=2)
    found = sx.equilibria.relative_equilibrium(system, points, omega=omega)
    radius = np.linalg.norm(found.state.q - found.state.q.mean(axis=0), axis=1)
    yield Row("relative_equilibrium", "R in m", exact, radius.mean())
    yield Row("relative_equilibrium", "tension in N", k * side * (exact - 1.0), bars.tensions(found.state.q).mean())


@problem(
    ROTATION,
    "Swinging chain of two rods",
    source="small swings of a double pendulum, equal masses and lengths: ω² = (2 ∓ √2) g/L",
    within=1e-4,
)
def double_pendulum() -> Iterator[Row]:
    """L = 1 m, g = 1 m/s²; each mode from 10⁻³ rad, RATTLE; quarter period."""
    fixed = np.zeros((3, 2), bool)
    fixed[0] = True
    mass = np.ones(3)
    system = sx.System(mass, {"weight": sx.Gravity(mass, (0.0, -1.0))}, dim=2, fixed=fixed)
    rods = {"rods": sx.measures.RigidBars(chain_of(2), [1.0, 1.0])}
    for sign in (1.0, -1.0):
        omega = np.sqrt(2.0 - sign * np.sqrt(2.0))
        angles = 1e-3 * np.array([1.0, sign * np.sqrt(2.0)])
        q = np.zeros((3, 2))
        q[1:] = np.cumsum(np.column_stack([np.sin(angles), -np.cos(angles)]), axis=0)
        dt = 0.5 * np.pi / omega / 500
        t = dt * np.arange(510)
        path = sx.record(system, sx.Rattle(dt, rods), system.state(q), t)
        yield Row(
            "Rattle", f"ω in rad/s, mode {1 if sign > 0 else 2}", omega, 0.5 * np.pi / _crossing(t, path.q[:, 1, 0])
        )


@problem(
    ROTATION,
    "Spinning rubber bar",
    source="∫ over the bar of the rotating rod, first order: u(l) = ρΩ²l³/3E",
    within=5e-3,
)
def spinning_bar() -> Iterator[Row]:
    """Half length l = 0.5 m, 2 cm × 2 cm, E = 1 MPa, ν = 0, ρ = 1000 kg/m³, 1.5 rad/s about its middle: tip
    displacement.
    """
    law = sx.SaintVenantKirchhoff.from_young(1e6, 0.0, 1000.0)
    for kind in ("hexahedron", "hexahedron20"):
        block = Block(kind, (1.0, 0.02, 0.02), (16, 1, 1), law, shape=lambda x: x - [0.5, 0.01, 0.01])
        system = block.system(None, block.mass())
        found = sx.equilibria.relative_equilibrium(system, block.points, omega=[0.0, 0.0, 1.5])
        length = np.ptp(found.state.q[:, 0]) - 1.0
        yield Row(kind, "u(l) in m", 1000.0 * 1.5**2 * 0.5**3 / 3e6, 0.5 * length)
