"""Impact, contact and friction."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import symplex as sx
from verification_manual.models import chain_of, mesh_of
from verification_manual.problem import Row, problem

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))  # one story of the examples is checked here as well
IMPACT = "Impact, contact and friction"


def _bar(
    n: int, length: float, modulus: float, density: float, area: float, gap: float, speed: float, stiffness: float,
    gravity: float = 0.0, v: float | None = None,
) -> tuple[sx.System, sx.State, sx.RigidContact]:  # fmt: skip
    """Return a bar on a line above a wall at 0, whose end gives its mass to the others, and flies towards it."""
    x = gap + np.linspace(0.0, length, n + 1)[:, None]
    mass = np.full(n + 1, density * area * length / n)
    mass[[0, -1]] *= 0.5
    mass = sx.contact.redistributed_mass(mass, x, [0])
    bars = sx.Bars(chain_of(n), sx.measures.EngineeringStrain(modulus * area * n / length, length / n), dim=1)
    wall = sx.RigidContact([0], sx.HalfSpace([0.0], [1.0]), stiffness)
    energies = {"bar": bars, "wall": wall}
    if gravity:
        energies["weight"] = sx.Gravity(mass, [-gravity])
    system = sx.System(mass, energies, dim=1, massless=np.arange(n + 1) == 0)
    return system, system.state(x, np.full(x.shape, -speed)), wall


def _forces(system: sx.System, state: sx.State, wall: sx.RigidContact, dt: float, steps: int):
    """Return the middles of steps, the mean force of the wall in each, and the end."""
    motion, found = sx.EnergyMomentum(dt).start(system, state), []
    for k in range(1, steps + 1):
        now = motion.advance(k * dt)
        found.append(-wall.discrete_gradient(state.q[None, :1], now.q[None, :1]).item())
        state = now
    return (np.arange(steps) + 0.5) * dt, np.array(found), state


@problem(
    IMPACT,
    "Elastic bar hits a rigid wall (SDNV100)",
    source=(
        "Code_Aster v5.03.100 and closed form: force ρ c v A = 1 856 381.9 N from 2·10⁻⁵ s to 8.8951329·10⁻⁵ "
        "s, whole rebound"
    ),
    within=0.01,
)
def bar_on_wall() -> Iterator[Row]:
    """L = 0.2 m, 2 cm × 2 cm, steel (E = 200 GPa, ν = 0.3, ρ = 8000 kg/m³), axial motion only, 100 m/s, gap 2 mm. 200
    bars with the modulus λ + 2μ, zero-mass contact node, energy–momentum. The strain is 1.7 %; nominal stresses are
    linear.
    """
    modulus = 200e9 * 0.7 / (1.3 * 0.4)
    c = np.sqrt(modulus / 8000.0)
    n, dt = 200, 0.2 / 200 / c
    system, state, wall = _bar(n, 0.2, modulus, 8000.0, 4e-4, 2e-3, 100.0, 1e4 * modulus * 4e-4 / 0.2)
    steps = round(1.2e-4 / dt)
    t, force, end = _forces(system, state, wall, dt, steps)
    exact = 8000.0 * c * 100.0 * 4e-4
    touching = t[force > 0.1 * exact]
    inside = (t > 2.5e-5) & (t < 8.4e-5)
    yield Row("200 bars", "mean force in N", 1856381.9, force[inside].mean())
    yield Row("200 bars", "first touch in s", 2e-5, touching[0] - 0.5 * dt)
    yield Row("200 bars", "release in s", 8.8951329e-5, touching[-1] + 0.5 * dt, within=0.02)
    yield Row("200 bars", "impulse in N s", 2.0 * 8000.0 * 0.2 * 4e-4 * 100.0, force.sum() * dt)
    yield Row("200 bars", "speed of the rebound in m/s", 100.0, system.momentum(end)[0] / (8000.0 * 0.2 * 4e-4))
    energies = [system.energies_of(s)["total"] for s in (state, end)]
    yield Row("200 bars", "energy at the end/at the start", 1.0, energies[1] / energies[0], within=1e-9)


@problem(
    IMPACT,
    "Bouncing bar",
    source=(
        "exact, problem of Doyen, Ern and Piperno 2011: first contact at 1, for 2L/c = 2/3; the stress "
        "begins with ρcv = 300 and grows as ρc(v + gτ)"
    ),
    within=0.03,
)
def bouncing_bar() -> Iterator[Row]:
    """E = 900, ρ = 1, A = 1, L = 10, dropped from h = 5 under g = 10, so c = 30 and v = 10 at impact. 200 bars,
    energy–momentum.
    """
    system, state, wall = _bar(200, 10.0, 900.0, 1.0, 1.0, 5.0, 0.0, 1e8, gravity=10.0)
    dt = 10.0 / 200 / 30.0
    t, force, _ = _forces(system, state, wall, dt, round(2.0 / dt))
    touching = t[force > 30.0]
    inside = (t > 1.1) & (t < 1.5)
    yield Row("200 bars", "first contact", 1.0, touching[0] - 0.5 * dt)
    yield Row("200 bars", "time in contact", 2.0 / 3.0, np.ptp(touching) + dt)
    yield Row("200 bars", "mean force from 1.1 to 1.5", 390.0, force[inside].mean())


@problem(
    IMPACT,
    "Two equal bars collide",
    source="exact: together for 2L/c, force ρcvA/2 for the relative velocity v, velocities exchanged",
    within=0.02,
)
def two_bars() -> Iterator[Row]:
    """E = ρ = A = L = 1, one at rest, one at v = 0.01; 200 bars each, a stiff compression-only strut between. Explicit
    Newmark.
    """
    n, gap = 200, 0.05
    first = np.linspace(0.0, 1.0, n + 1)
    x = np.concatenate([first, first + 1.0 + gap])[:, None]
    pairs = np.concatenate([chain_of(n), n + 1 + chain_of(n)])
    mass = np.full(2 * n + 2, 1.0 / n)
    mass[[0, n, n + 1, -1]] *= 0.5
    strut = sx.Bars([[n, n + 1]], sx.measures.CompressionOnly(20.0 * n, 0.5 * gap), dim=1)
    bars = sx.Bars(pairs, sx.measures.EngineeringStrain(float(n), 1.0 / n), dim=1)
    system = sx.System(mass, {"bars": bars, "contact": strut}, dim=1)
    v = np.where(np.arange(2 * n + 2) <= n, 0.01, 0.0)[:, None]
    t = np.linspace(0.0, 5.5, 5501)
    path = sx.record(system, sx.Newmark(2.5e-4), system.state(x, v), t)
    force = np.array([-strut.tensions(q)[0] for q in path.q])
    touching, mean = t[force > 1e-3], np.einsum("n,tni->t", mass[: n + 1], path.v[:, : n + 1])
    inside = (t > touching[0] + 0.1) & (t < touching[0] + 1.9)
    yield Row("400 bars", "first touch", 2.5, touching[0])
    yield Row("400 bars", "time together", 2.0, np.ptp(touching))
    yield Row("400 bars", "mean force", 0.005, force[inside].mean())
    yield Row("400 bars", "velocity of the first after", 0.0, mean[-1], scale=0.01)
    other = np.einsum("n,ni->", mass[n + 1 :], path.v[-1, n + 1 :])
    yield Row("400 bars", "velocity of the second after", 0.01, other)


@problem(
    IMPACT,
    "Ball on an elastic floor",
    source=(
        "closed form: depth mg/k + √((mg/k)² + mv²/k), time together (2π − 2 arctan(v √(mk)/mg)) √(m/k), whole rebound"
    ),
    within=2e-3,
)
def elastic_floor() -> Iterator[Row]:
    """1 kg hits a floor of k = 1000 N/m with 1 m/s under g = 10 m/s²; steps of 0.5 ms."""
    floor = sx.RigidContact([0], sx.HalfSpace([0.0], [1.0]), 1000.0)
    system = sx.System([1.0], {"floor": floor, "weight": sx.Gravity(np.ones(1), [-10.0])}, dim=1)
    omega = np.sqrt(1000.0)
    together = (2.0 * np.pi - 2.0 * np.arctan(omega / 10.0)) / omega
    depth = 0.01 + np.hypot(0.01, 1.0 / omega)
    t = np.linspace(0.0, 0.15, 301)
    for method in (sx.Newmark(5e-4), sx.Midpoint(5e-4), sx.EnergyMomentum(5e-4), sx.ForceStepping(1e-5)):
        path = sx.record(system, method, system.state([[0.0]], [[-1.0]]), t)
        x, v = path.q[:, 0, 0], path.v[:, 0, 0]
        k = int(np.argmax((x > 0.0) & (t > 0.02)))
        back = np.interp(0.0, [x[k - 1], x[k]], [t[k - 1], t[k]])
        name = type(method).__name__
        yield Row(name, "largest depth in m", depth, -x.min())
        yield Row(name, "time together in s", together, back)
        yield Row(name, "speed of the rebound in m/s", 1.0, np.interp(back, t[k - 1 : k + 1], v[k - 1 : k + 1]))


@problem(
    IMPACT,
    "Block on an incline",
    source="Coulomb: a = g(sin α − μ cos α); stops after v²/2g(μ cos α + sin α) uphill, and stays where tan α < μ",
    within=0.02,
)
def incline() -> Iterator[Row]:
    """A rubber block on a slope of 1 : 2, μ = 0.2 (slides) and 0.6 (pushed uphill with 1.5 m/s, stops),
    energy–momentum; model of `examples/friction.py`. Deviations relative to the whole way.
    """
    from friction import block, way_expected

    for name, coefficient, speed in (("slides", 0.2, 0.0), ("stops", 0.6, 1.5)):
        run = block(coefficient, speed)
        expected = way_expected(coefficient, speed, run["t"])
        yield Row(name, "way at the end in m", expected[-1], run["way"][-1])
        yield Row(name, "change of the balance of energy", 0.0, np.abs(run["error"]).max(), scale=1.0, within=1e-9)


@problem(IMPACT, "Ball begins to roll", source="Coulomb: from v without spin to 5v/7, after 2v/7μg", within=0.02)
def rolling_ball() -> Iterator[Row]:
    """A rigid ball, R = 0.1 m, thrown along a floor with 1 m/s, μ = 0.2; model of `examples/friction.py`."""
    from friction import G, rolling

    run = rolling()
    yield Row("RigidBodies", "speed at the end in m/s", 5.0 / 7.0, run["speed"][-1])
    yield Row("RigidBodies", "speed of its surface in m/s", 5.0 / 7.0, run["around"][-1])
    half = run["t"] < 0.7 * 2.0 / 7.0 / (0.2 * G)
    slope = np.polyfit(run["t"][half][1:], run["speed"][half][1:], 1)[0]
    yield Row("RigidBodies", "deceleration while it slides in m/s²", 0.2 * G, -slope)


@problem(IMPACT, "Patch test across contact", source="exact uniform pressure and strains", within=3e-8)
def contact_patch() -> Iterator[Row]:
    """Two blocks on each other, 2 and 3 distorted cells a side, pressed by 0.4 % and free to expand; neo-Hookean,
    ν = 0.3, E = 1 MPa, contact integrated over facets.
    """
    law = sx.NeoHookean.from_young(1e6, 0.3, 1000.0)
    for kind in ("tetra", "hexahedron", "tetra10", "hexahedron20", "hexahedron27"):
        parts = {}
        for name, n, low in (("low", 2, 0.0), ("high", 3, 0.5)):
            made = mesh_of(kind.rstrip("0123456789"), (1.0, 1.0, 0.5), (n, n, 2))
            x, random = made.points + np.array([0.0, 0.0, low]), np.random.default_rng(n)
            for axis in (0, 1):
                inner = (x[:, axis] > 1e-9) & (x[:, axis] < 1.0 - 1e-9)
                x[inner, axis] += 0.25 / n * random.uniform(-1.0, 1.0, int(inner.sum()))
            linear = sx.Mesh(x, made.cells)
            parts[name] = linear if kind in made.cells else sx.quadratic(linear, centres=kind == "hexahedron27")
        mesh = sx.merge(parts)
        x, high = mesh.points, mesh.nodes_of("high")
        contact = sx.contact.SegmentContact.from_materials(sx.contact.Surface.of(mesh, ["low", "high"]), x, law)
        fixed = np.column_stack([x[:, 0] == 0.0, x[:, 1] == 0.0, (x[:, 2] == 0.0) | (x[:, 2] == 1.0)])
        energies = {"solid": sx.Solid(x, mesh.cells[kind], law), "contact": contact}
        q = x.copy()
        q[high, 2] -= 4e-3
        q = sx.equilibria.static_equilibrium(sx.System(np.ones(len(x)), energies, fixed=fixed), q).state.q
        off = 0.0
        for name in parts:
            nodes = mesh.nodes_of(name)
            places = np.column_stack([x[nodes], np.ones(len(nodes))])
            off = max(off, np.abs(places @ np.linalg.lstsq(places, q[nodes], rcond=None)[0] - q[nodes]).max())
        yield Row(kind, "largest error of a node", 0.0, off, scale=4e-3)
        pressures = contact.pressures(q)[x[contact.surface.vertices, 2] == 0.5]
        yield Row(kind, "spread of nodal pressures", 0.0, np.ptp(pressures), scale=float(pressures.mean()))
