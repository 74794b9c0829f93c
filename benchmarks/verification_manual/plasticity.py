"""Metals that flow: tubes and balls under pressure, necking, impact; a bond that is peeled."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from scipy.optimize import brentq

import symplex as sx
from symplex.fem.actions.support_motion import SupportTranslation
from symplex.fem.couplings.cohesive import CohesiveFaces
from verification_manual.models import Array, Block
from verification_manual.problem import Row, problem
from verification_manual.stresses import quarter

PLASTICITY = "Plasticity"
EXAMPLES = Path(__file__).parents[2] / "examples"


class _Metal(Block):
    """A block of metal."""

    def metal(self, hardening: sx.Hardening, fixed: Array, *, loads=None, moving=None, **energies) -> sx.System:
        """Return the system of the block as metal that flows."""
        part = sx.Plastic(self.solid, hardening)
        mass = sx.lumped_mass(self.points, self.cells, self.law.density, len(self.points))
        return sx.System(mass, energies, fixed=fixed, loads=loads, moving=moving, inelastic={"metal": part})


@problem(
    PLASTICITY,
    "Autofrettage of a thick tube",
    source="Hill 1950, incompressible, plane strain, von Mises: with k = σy/√3 and the elastic boundary at c, "
    "p = k (1 − c²/b² + 2 ln(c/a)), u(a) = k c²/(2 μ a); unloaded, σ_θ(a) = σ_r + 2k − 2 p/(1 − a²/b²)",
    within=0.01,
)
def plastic_tube() -> Iterator[Row]:
    """Radii 1 and 2, E/σy = 8000, ν = 0.499, pressure until c = 1.5, removed in one step; a quarter; no hardening."""
    young, nu, sigma, c = 200e9, 0.499, 25e6, 1.5
    k, mu = sigma / np.sqrt(3.0), 0.5 * young / (1.0 + nu)
    p = k * (1.0 - c**2 / 4.0 + 2.0 * np.log(c))
    law = sx.NeoHookean.from_young(young, nu, 8000.0)
    for kind, cells in (("hexahedron mean-dilatation", (12, 8, 1)), ("hexahedron20 reduced", (6, 4, 1))):
        block = _Metal(kind, (1.0, 1.0, 0.1), cells, law, shape=quarter((1.0, 1.0), (2.0, 2.0)))
        fixed = block.nowhere()
        fixed[block.box[:, 1] == 0.0, 1] = fixed[block.box[:, 1] == 1.0, 0] = fixed[:, 2] = True
        load = sx.actions.Pressure(block.mesh.faces_of("x_min"), p, ([0.0, 0.8, 1.0], [0.0, 1.0, 0.0]))
        system = block.metal(sx.Hardening(sigma), fixed, loads={"pressure": load})
        motion = sx.equilibria.Static(0.1).start(system, system.state(block.points))
        inner = int(np.argmin(np.abs(block.points - [1.0, 0.0, 0.0]).sum(axis=1)))
        q = motion.advance(0.8).q
        yield Row(kind, "u(a)/a", k * c**2 / (2.0 * mu), q[inner, 0] - 1.0)
        end = motion.advance(1.0)
        residual = -p + 2.0 * k - (p * (1.0 + 0.25) / (1.0 - 0.25))
        found = sx.nodal_stress(system, end)[inner]
        yield Row(kind, "σ_θ(a) unloaded in Pa", residual, found[1], within=0.15)


@problem(
    PLASTICITY,
    "Plastic ball under pressure",
    source="Hill 1950: p = 2σy/3 (1 − c³/b³ + 3 ln(c/a)), "
    "u(r) = (σy r/E) ((1 − ν) c³/r³ − (2/3)(1 − 2ν)(1 − c³/b³ + 3 ln(c/r)))",
    within=0.02,
)
def plastic_ball() -> Iterator[Row]:
    """Radii 1 and 2, E/σy = 8000, ν = 0.3, pressure until c = 1.4; an octant's third; no hardening."""
    young, nu, sigma, c = 200e9, 0.3, 25e6, 1.4

    def third(u: Array) -> Array:
        a, b = np.tan(0.25 * np.pi * u[:, 1]), np.tan(0.25 * np.pi * u[:, 2])
        n = np.column_stack([np.ones(len(u)), a, b])
        return (1.0 + u[:, 0])[:, None] * n / np.linalg.norm(n, axis=1)[:, None]

    p = 2.0 / 3.0 * sigma * (1.0 - c**3 / 8.0 + 3.0 * np.log(c))
    wanted = sigma / young * ((1 - nu) * c**3 - 2.0 / 3.0 * (1 - 2 * nu) * (1 - c**3 / 8 + 3 * np.log(c)))
    law = sx.NeoHookean.from_young(young, nu, 8000.0)
    for kind, cells in (("hexahedron mean-dilatation", (10, 4, 4)), ("hexahedron20 reduced", (4, 2, 2))):
        block = _Metal(kind, (1.0, 1.0, 1.0), cells, law, shape=third)
        fixed = block.nowhere()
        fixed[block.box[:, 1] == 0.0, 1] = fixed[block.box[:, 2] == 0.0, 2] = True
        planes = {
            f"plane {axis}": sx.measures.Penalty(
                sx.measures.OnPlane(
                    np.flatnonzero(block.box[:, axis] == 1.0), (0.0, 0.0, 0.0), np.eye(3)[axis] - np.eye(3)[0]
                ),
                1e14,
            )
            for axis in (1, 2)
        }
        load = sx.actions.Pressure(block.mesh.faces_of("x_min"), p, ([0.0, 1.0], [0.0, 1.0]))
        system = block.metal(sx.Hardening(sigma), fixed, loads={"pressure": load}, **planes)
        q = sx.equilibria.Static(0.125).start(system, system.state(block.points)).advance(1.0).q
        inner = block.box[:, 0] == 0.0
        yield Row(kind, "u(a)/a", wanted, float(np.mean(np.linalg.norm(q[inner], axis=1))) - 1.0)


def _necking(kind: str, cells: tuple, shape: Callable[[Array], Array]) -> float:
    """Return the greatest force in N of an eighth of a bar."""
    law = sx.NeoHookean.from_young(206.9e9, 0.29, 7850.0)
    metal = sx.Hardening(450e6, modulus=129.24e6, saturation_stress=715e6, saturation_rate=16.93)
    block = _Metal(kind, (1.0, 1.0, 1.0), cells, law, shape=shape)
    fixed = np.abs(block.box) == 0.0
    top = np.flatnonzero(block.box[:, 2] == 1.0)
    fixed[top, :2] = True
    pull = SupportTranslation(top, "z", sx.actions.TimeFunction.table([0.0, 1.0], [0.0, 4.2e-3], smooth=False))
    system = block.metal(metal, fixed, moving={"grip": pull})
    motion = sx.equilibria.Static(1.0 / 30.0).start(system, system.state(block.points))
    forces = [system.reactions(motion.advance(k / 30.0))[top, 2].sum() for k in range(1, 31)]
    if not forces[-1] < max(forces):
        raise RuntimeError("the bar has not necked.")
    return max(forces)


def _greatest_force(area: float) -> float:
    """Return Considère's greatest force: where dτ/dε = τ, of a bar without elastic strains."""

    def flow(a: float) -> float:
        return 450e6 + 129.24e6 * a + 265e6 * (1.0 - np.exp(-16.93 * a))

    def slope(a: float) -> float:
        return 129.24e6 + 265e6 * 16.93 * np.exp(-16.93 * a)

    a = float(brentq(lambda a: slope(a) - flow(a), 0.0, 1.0))  # pyright: ignore[reportArgumentType]
    return area * flow(a) * np.exp(-a)


@problem(
    PLASTICITY,
    "Necking of a round bar",
    source="Considère: the force is greatest where dσ/dε = σ, in the narrowest section",
    within=0.01,
)
def necking_bar() -> Iterator[Row]:
    """Simo's bar: 53.334 mm long, radius 6.413 mm, 1.8 % less in the middle; in GPa σ = 0.45 + 0.129 α
    + 0.265 (1 − e^(−16.93 α)); an eighth, a grip without contraction,
    pulled by 8.4 mm in 30 steps.
    """

    def shape(u: Array) -> Array:
        x, y, z = u[:, 0], u[:, 1], u[:, 2] ** 1.8
        radius = 6.413e-3 * (1.0 - 0.018 * (1.0 - z))
        disc = np.column_stack([x * np.sqrt(1.0 - 0.5 * y**2), y * np.sqrt(1.0 - 0.5 * x**2)])
        return np.column_stack([disc * radius[:, None], 26.667e-3 * z])

    force = _greatest_force(0.25 * np.pi * (0.982 * 6.413e-3) ** 2)
    for kind, cells in (("hexahedron mean-dilatation", (4, 4, 14)), ("hexahedron20 reduced", (2, 2, 7))):
        yield Row(kind, "greatest force of a quarter in N", force, _necking(kind, cells, shape))


@problem(
    PLASTICITY,
    "Necking of a plate",
    source="Considère, as for the bar",
    within=0.01,
)
def necking_plate() -> Iterator[Row]:
    """A strip 53.334 × 12.826 × 4 mm, 1.8 % narrower in the middle, of the same metal; an eighth, pulled by 8.4 mm."""

    def shape(u: Array) -> Array:
        z = u[:, 2] ** 1.8
        return np.column_stack([6.413e-3 * (1.0 - 0.018 * (1.0 - z)) * u[:, 0], 2e-3 * u[:, 1], 26.667e-3 * z])

    force = _greatest_force(0.982 * 6.413e-3 * 2e-3)
    for kind, cells in (("hexahedron mean-dilatation", (6, 2, 14)), ("hexahedron20 reduced", (3, 1, 7))):
        yield Row(kind, "greatest force of a quarter in N", force, _necking(kind, cells, shape))


@problem(
    PLASTICITY,
    "A spinning ring that flows",
    source="conservation: the energy less what is dissipated, and the angular momentum",
    within=1e-12,
)
def plastic_ring() -> Iterator[Row]:
    """Copper, law of Johnson and Cook, mean radius 20 mm, 14 000 rad/s: 12 hexahedra, 0.2 ms in steps of 2 µs."""
    n, copper = 12, sx.NeoHookean.from_young(124e9, 0.34, 8960.0)
    law = sx.Hardening(90e6, power_modulus=292e6, power=0.31).with_rate(1.0, factor=0.025)
    law = law.with_heating(383.0).with_softening(1356.0, exponent=1.09)
    angles = 2.0 * np.pi * np.arange(n) / n
    section = [(0.017, -0.003), (0.023, -0.003), (0.023, 0.003), (0.017, 0.003)]
    points = np.array([[r * np.cos(a), r * np.sin(a), z] for a in angles for r, z in section])
    first, after = (4 * ((np.arange(n)[:, None] + k) % n) + np.arange(4) for k in (1, 0))  # positive volumes
    cells = np.concatenate([first, after], axis=1)
    part = sx.Plastic(sx.Solid(points, cells, copper, formulation="mean-dilatation"), law)
    mass = sx.lumped_mass(points, cells, copper.density, len(points))
    system = sx.System(mass, {}, inelastic={"ring": part})
    state = system.state(points, np.cross([0.0, 0.0, 14e3], points))
    motion = sx.EnergyMomentum(2e-6).start(system, state)
    start, L = motion.energies(state), system.angular_momentum(state)[2]
    end = motion.advance(2e-4)
    found = motion.energies(end)
    yield Row("energy-momentum", "balance in J", start["total"], found["balance"])
    yield Row("energy-momentum", "angular momentum in kg m²/s", L, system.angular_momentum(end)[2])
    heat = np.sum(part.solid.part()[1] * (end.internal["ring"][..., 7] - 293.15)) * 8960.0 * 383.0
    yield Row("energy-momentum", "heat in J: 0.9 of the dissipation", -0.9 * found["work_ring"], heat, within=1e-9)


@problem(
    PLASTICITY,
    "Taylor's bar",
    source="length and radius of the foot on which meshes of up to 7350 elements of several kinds agree; published "
    "are 21.4 to 21.5 and 7.0 to 7.2 mm (G. I. Taylor 1948; Bonet and Burton 1998)",
    within=0.01,
)
def taylor_bar() -> Iterator[Row]:
    """`examples/taylor_bar.py`: copper, 32.4 by 3.2 mm, 227 m/s, 80 µs, a quarter, explicit Newmark."""
    spec = importlib.util.spec_from_file_location("taylor_bar", EXAMPLES / "taylor_bar.py")
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    for elements in ("hexahedron", "wedge", "tetra10"):
        found = example.moved(sx.Newmark("auto"), elements)
        yield Row(elements, "length in mm", example.LENGTH_MM, found.length)
        yield Row(elements, "radius of the foot in mm", example.FOOT_RADIUS_MM, found.foot_radius)


@problem(
    PLASTICITY,
    "Peeling of a double cantilever beam",
    source="beam theory: G = P² a²/(b E I) is Gc while the crack runs, with a from 2 P a³/(3 E I) = opening",
    within=0.02,
)
def double_cantilever() -> Iterator[Row]:
    """`examples/peeling.toml`: arms of 80 × 5 × 3 mm glued from 30 mm on, Gc = 300 J/m², in steps of 0.02."""
    changes = {"integrator.dt": 0.02, "run.duration": 0.52, "run.frames": 1, "run.samples": 26}
    problem_ = sx.Scenario.read(EXAMPLES / "peeling.toml").with_values(changes).build()
    system, modulus, width = problem_.system, 70e9 * 0.005 * 0.003**3 / 12.0, 0.005
    motion = problem_.integrator.start(system, problem_.state)
    upper, glue = problem_.mesh.nodes_of("upper.x_min"), system.inelastic["glue"]
    for t in (0.5, 0.52):
        state = motion.advance(t)
        force, opening = system.reactions(state)[upper, 2].sum(), 3.3e-3 * t
        crack = (1.5 * opening * modulus / force) ** (1.0 / 3.0)
        yield Row(
            "static", f"G in J/m², opened by {1e3 * opening:.2f} mm", 300.0, (force * crack) ** 2 / width / modulus
        )
    assert isinstance(glue, CohesiveFaces)
    failed = (glue.areas * glue.law.damage(state.internal["glue"])).sum()
    yield Row(
        "static",
        "dissipated in J: Gc times the failed area",
        300.0 * failed,
        -motion.energies(state)["work_glue"],
        within=1e-9,
    )


@problem(
    PLASTICITY,
    "A cube of aluminium at a wall",
    source="conservation: the energy less what is dissipated; nine tenths of the dissipation are heat",
    within=1e-12,
)
def aluminium_cube() -> Iterator[Row]:
    """`examples/oblique_impact_aluminium.toml`, law of Johnson and Cook, the first 40 of 160 µs by energy–momentum."""
    scenario = sx.Scenario.read(EXAMPLES / "oblique_impact_aluminium.toml")
    problem_ = scenario.with_values({"run.duration": 40e-6, "run.frames": 1, "run.samples": 1}).build()
    motion = problem_.integrator.start(problem_.system, problem_.state)
    start = motion.energies(problem_.state)["total"]
    end = motion.advance(40e-6)
    found, part = motion.energies(end), problem_.system.inelastic["metal"]
    yield Row("energy-momentum", "balance in J", start, found["balance"])
    assert isinstance(part, sx.Plastic)
    warmed = np.sum(part.solid.part()[1] * (end.internal["metal"][..., 7] - 293.15)) * 2700.0 * 896.0
    yield Row("energy-momentum", "heat in J: 0.9 of the dissipation", -0.9 * found["work_metal"], warmed, within=1e-9)
