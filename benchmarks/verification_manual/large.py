"""Large rotations and strains in statics."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.optimize import brentq
from scipy.special import ellipeinc, ellipk, ellipkinc

import symplex as sx
from verification_manual.models import Block
from verification_manual.problem import Row, problem

LARGE = "Large rotations and strains"


def _elastica(load: float) -> tuple[float, float]:
    """Return deflection and shortening of the tip by L (Bisshopp and Drucker 1945)."""

    def angle(m: float) -> float:
        return np.arcsin(1.0 / np.sqrt(2.0 * m))

    m = brentq(lambda m: ellipk(m) - ellipkinc(angle(m), m) - np.sqrt(load), 0.5 + 1e-12, 1.0 - 1e-12)
    complete = ellipeinc(0.5 * np.pi, m) - ellipeinc(angle(m), m)
    return 1.0 - 2.0 * complete / np.sqrt(load), 1.0 - np.sqrt(2.0 * (2.0 * m - 1.0) / load)


@problem(
    LARGE,
    "Elastica",
    source=(
        "elliptic integrals (Bisshopp and Drucker 1945): w/L = 0.30172, 0.71379, 0.81061, u/L = 0.05643, "
        "0.38763, 0.55500"
    ),
    within=5e-3,
)
def elastica() -> Iterator[Row]:
    """A cantilever, L/h = 50, ν = 0, dead tip force, PL²/EI = 1, 5 and 10; 20 elements."""
    height, law = 0.02, sx.SaintVenantKirchhoff.from_young(1e9, 0.0, 1000.0)
    for kind in ("hexahedron", "hexahedron20"):
        block = Block(kind, (1.0, height, height), (20, 1, 1), law)
        fixed = np.repeat(block.points[:, :1] == 0.0, 3, axis=1)
        end = block.points[:, 0] == 1.0
        for load in (1.0, 5.0, 10.0):
            force = load * 1e9 * height**4 / 12.0
            q = block.rest(fixed, end=block.pull("x_max", (0.0, 0.0, force / height**2))).q[end]
            centre = 0.5 * (q.min(axis=0) + q.max(axis=0))
            w, u = _elastica(load)
            yield Row(kind, f"w/L at {load:g}", w, centre[2] - 0.5 * height)
            yield Row(kind, f"u/L at {load:g}", u, 1.0 - centre[0], scale=w)


@problem(LARGE, "Buckling of a column", source="Euler, P = π²EI/4L²", within=5e-3)
def euler_column() -> Iterator[Row]:
    """Clamped–free, L/h = 50, ν = 0: load of zero ω², extrapolated from two loads below it."""
    height, young = 0.02, 1e9
    law = sx.SaintVenantKirchhoff.from_young(young, 0.0, 1000.0)
    critical = 0.25 * np.pi**2 * young * height**4 / 12.0
    for kind in ("hexahedron", "hexahedron20"):
        block = Block(kind, (1.0, height, height), (16, 1, 1), law)
        fixed, mass = np.repeat(block.points[:, :1] == 0.0, 3, axis=1), block.mass()
        squares = []
        for part in (0.96, 0.98):
            system = block.system(fixed, mass, end=block.pull("x_max", (-part * critical / height**2, 0.0, 0.0)))
            state = sx.equilibria.static_equilibrium(system, block.points).state
            squares.append(sx.modes.natural_modes(system, state, 1).angular[0] ** 2)
        found = 0.96 + 0.02 * squares[0] / (squares[0] - squares[1])
        yield Row(kind, "P in N", critical, found * critical)


@problem(
    LARGE, "Torsion of a rubber cylinder", source="Rivlin: M = πμψa⁴/2, N = −πμψ²a⁴/4 (incompressible)", within=0.02
)
def rivlin_torsion() -> Iterator[Row]:
    """Radius 1, length 1, μ = 1, K = 1000, twisted by ψ = 0.5 and 1 between ends of fixed distance and radius; 48
    elements in the section; reactions.
    """
    law = sx.material("isochoric-neo-hookean", c10=0.5, K=1000.0, density=1.0)
    block = Block.of(sx.meshes.cylinder(1.0, 0.5, (2, 16, 2), order=2), law)
    x = block.points
    end = x[:, 2] == 0.5
    ends = end | (x[:, 2] == 0.0)
    for psi in (0.5, 1.0):
        angle = psi * x[:, 2]
        c, s = np.cos(angle), np.sin(angle)
        start = np.column_stack([c * x[:, 0] - s * x[:, 1], s * x[:, 0] + c * x[:, 1], x[:, 2]])
        system = block.system(np.repeat(ends[:, None], 3, axis=1))
        state = sx.equilibria.static_equilibrium(system, start).state
        q, force = state.q[end], system.reactions(state)[end]
        moment = np.sum(q[:, 0] * force[:, 1] - q[:, 1] * force[:, 0])
        yield Row("hexahedron20", f"M at ψ = {psi}", 0.5 * np.pi * psi, moment)
        yield Row("hexahedron20", f"N at ψ = {psi}", -0.25 * np.pi * psi**2, force[:, 2].sum(), within=0.05)


@problem(
    LARGE,
    "Inflated thick sphere",
    source="closed form of the incompressible neo-Hookean ball, p/μ = 0.48015978, 0.75543312, 0.8069266 at 1.2, 1.5, 2",
    within=0.03,
)
def thick_sphere() -> Iterator[Row]:
    """Radii 1 and 2, the inner one stretched by λ; an octant, pressure from reactions; K = 1000 μ."""
    law = sx.material("isochoric-neo-hookean", c10=0.5, K=1000.0, density=1.0)

    def pressure(y: float) -> float:
        """p/μ of the incompressible ball: the integral of 2(λ² − λ⁻⁴)/r dr in closed form."""
        outer = ((y**3 + 7.0) / 8.0) ** (1.0 / 3.0)
        return (2.0 / outer + 0.5 / outer**4) - (2.0 / y + 0.5 / y**4)

    block = Block.of(sx.meshes.ball(2.0, (4, 4), inner=1.0, symmetry="xyz", order=2), law)
    x, radius = block.points, np.linalg.norm(block.points, axis=1)
    inner = block.mesh.nodes_of("inside")
    fixed = np.abs(x) < 1e-12
    fixed[inner] = True
    for y in (1.2, 1.5, 2.0):
        grown = np.cbrt(radius**3 + y**3 - 1.0)
        start = x * (grown / radius)[:, None]
        state = sx.equilibria.static_equilibrium(block.system(fixed), start).state
        force = block.system(None).gradient(state.q)
        push = np.sum(force[inner] * x[inner])
        yield Row("hexahedron20", f"p/μ at λ = {y}", pressure(y), push / (0.5 * np.pi * y**2))
