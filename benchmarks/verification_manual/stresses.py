"""Stresses: cylinders, discs, holes, torsion, thick plates."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import symplex as sx
from verification_manual.models import STEEL, Array, Block
from verification_manual.problem import Row, problem

STRESSES = "Stresses"


def _at(x: Array, place: tuple) -> int:
    """Return the node nearest to a place."""
    return int(np.argmin(np.abs(x - np.array(place)).sum(axis=1)))


def _stress(block: Block, state: sx.State) -> Array:
    """Return the stresses [n, 6] at nodes: xx, yy, zz, xy, yz, xz."""
    return sx.nodal_stress(block.system(None), state)


@problem(STRESSES, "Confined compression", source="closed form, σ/ε = λ + 2μ; lateral λ", within=1e-9)
def confined_compression() -> Iterator[Row]:
    """A cube compressed by 10⁻³ between rigid walls, ν = 0.3; linear elasticity."""
    for kind in ("tetra", "tetra10", "hexahedron", "hexahedron20", "wedge", "pyramid"):
        block = Block(kind, (1.0, 1.0, 1.0), (1, 1, 1), STEEL)
        q = block.points * [1.0, 1.0, 1.0 - 1e-3]
        state = block.system(None).state(q)
        found = _stress(block, state)[0] / -1e-3
        yield Row(kind, "σ_zz/ε in Pa", STEEL.lmbda + 2.0 * STEEL.mu, found[2])
        yield Row(kind, "σ_xx/ε in Pa", STEEL.lmbda, found[0])


def quarter(inner: tuple[float, float], outer: tuple[float, float]):
    """Return the map of a unit box to a quarter between two ellipses: x across, y along, z as it is."""

    def shape(u: Array) -> Array:
        t, angle = u[:, 0], 0.5 * np.pi * u[:, 1]
        a, b = ((1.0 - t) * i + t * o for i, o in zip(inner, outer, strict=True))
        return np.column_stack([a * np.cos(angle), b * np.sin(angle), u[:, 2]])

    return shape


@problem(
    STRESSES,
    "Thick cylinder under pressure",
    source="Lamé: σ_θ = 100, 40 MPa, u = 5.72·10⁻⁵, 3.64·10⁻⁵ m at the inner and outer radius",
    within=0.012,
)
def lame_cylinder() -> Iterator[Row]:
    """Radii 0.1 m and 0.2 m, 60 MPa inside, E = 200 GPa, ν = 0.3, plane strain; a quarter."""
    for kind, cells in (("hexahedron20", (4, 6, 1)), ("hexahedron27", (4, 6, 1)), ("tetra10", (4, 6, 1))):
        block = Block(kind, (1.0, 1.0, 0.05), cells, STEEL, shape=quarter((0.1, 0.1), (0.2, 0.2)))
        fixed = block.nowhere()
        fixed[block.box[:, 1] == 0.0, 1] = fixed[block.box[:, 1] == 1.0, 0] = fixed[:, 2] = True
        state = block.rest(fixed, inside=block.press("x_min", 60e6))
        sigma, u = _stress(block, state), state.q - block.points
        for r, hoop, radial in ((0.1, 100e6, 5.72e-5), (0.2, 40e6, 3.64e-5)):
            node = _at(block.points, (r, 0.0, 0.0))
            yield Row(kind, f"u in m at {r} m", radial, u[node, 0], within=2e-3)
            yield Row(kind, f"σ_θ in Pa at {r} m", hoop, sigma[node, 1], within=0.05 if kind == "tetra10" else None)


@problem(
    STRESSES,
    "Spinning disc",
    source="closed form, plane stress: σ(0) = (3 + ν)/8 ρω²b², u(b) = (1 − ν)/4 ρω²b³/E",
    within=0.012,
)
def spinning_disc() -> Iterator[Row]:
    """Radius b = 0.2 m, 4 mm thick, 100 rad/s, steel; an eighth, 48 elements."""
    scale = 8000.0 * 100.0**2
    for name, order in (("hexahedron20", 2), ("hexahedron", 1)):
        block = Block.of(sx.meshes.cylinder(0.2, 0.002, (4, 8, 1), degrees=90, order=order), STEEL)
        spin = sx.actions.Centrifugal(block.mass(), (0.0, 0.0, 100.0))
        state = block.rest(np.abs(block.points) < 1e-12, spin=spin)
        centre, rim = _at(block.points, (0, 0, 0)), _at(block.points, (0.2, 0, 0))
        yield Row(name, "σ(0) in Pa", 3.3 / 8.0 * scale * 0.04, _stress(block, state)[centre, 0])
        yield Row(name, "u(b) in m", 0.7 / 4.0 * scale * 0.008 / 200e9, state.q[rim, 0] - 0.2)


@problem(STRESSES, "Hole in a wide plate", source="Kirsch: largest stress 3 σ, −σ across", within=0.02)
def kirsch() -> Iterator[Row]:
    """A quarter ring from the hole, r = a, to r = 4a with the exact displacements, plane strain, ν = 0.3."""
    nu, mu, a = 0.3, STEEL.mu, 1.0
    kappa = 3.0 - 4.0 * nu

    def exact(x: Array) -> Array:
        r, t = np.hypot(x[:, 0], x[:, 1]), np.arctan2(x[:, 1], x[:, 0])
        c, s, p, q = np.cos(t), np.sin(t), a / r, (a / r) ** 3
        f = a / (8.0 * mu)
        u = r / a * (kappa + 1) * c + 2 * p * ((1 + kappa) * c + np.cos(3 * t)) - 2 * q * np.cos(3 * t)
        v = r / a * (kappa - 3) * s + 2 * p * ((1 - kappa) * s + np.sin(3 * t)) - 2 * q * np.sin(3 * t)
        return f * np.column_stack([u, v, np.zeros(len(x))])

    def ring(u: Array) -> Array:
        r, angle = 4.0 ** u[:, 0], 0.5 * np.pi * u[:, 1]
        return np.column_stack([r * np.cos(angle), r * np.sin(angle), u[:, 2]])

    for kind, n in (("hexahedron20", 8), ("hexahedron27", 8)):
        block = Block(kind, (1.0, 1.0, 0.2), (n, n, 1), STEEL, shape=ring)
        far = block.box[:, 0] == 1.0
        fixed = np.repeat(far[:, None], 3, axis=1)
        fixed[block.box[:, 1] == 0.0, 1] = fixed[block.box[:, 1] == 1.0, 0] = fixed[:, 2] = True
        start = block.points + np.where(far[:, None], 1e6 * exact(block.points), 0.0)
        sigma = _stress(block, block.rest(fixed, start))
        top, side = _at(block.points, (0, 1, 0)), _at(block.points, (1, 0, 0))
        yield Row(kind, "σ_xx/σ at the top", 3.0, sigma[top, 0] / 1e6)
        yield Row(kind, "σ_yy/σ at the side", -1.0, sigma[side, 1] / 1e6, scale=3.0)


@problem(STRESSES, "Torsion of a square bar", source="series of Saint-Venant: M = 0.14057702 μ a⁴ θ′", within=2e-3)
def square_torsion() -> Iterator[Row]:
    """1 m × 1 m × 2 m, twisted by 10⁻⁴ rad/m, ends free to warp; moment from the reactions."""
    for kind, n, limit in (("hexahedron20", 4, None), ("hexahedron27", 4, None), ("hexahedron", 8, 0.02)):
        block = Block(kind, (1.0, 1.0, 2.0), (n, n, 2), STEEL, shape=lambda x: x - [0.5, 0.5, 0.0])
        x = block.points
        ends, end = (x[:, 2] == 0.0) | (x[:, 2] == 2.0), x[:, 2] == 2.0
        fixed = np.column_stack([ends, ends, (np.abs(x[:, :2]) < 1e-9).all(axis=1) & (x[:, 2] == 0.0)])
        turn = 2e-4 * np.column_stack([-x[:, 1], x[:, 0], np.zeros(len(x))])
        system = block.system(fixed)
        state = sx.equilibria.static_equilibrium(system, x + turn * end[:, None]).state
        force = system.reactions(state)[end]
        moment = np.sum(x[end, 0] * force[:, 1] - x[end, 1] * force[:, 0])
        yield Row(f"{kind}, {n} × {n} × 2", "M/(μ a⁴ θ′)", 0.14057702, moment / (STEEL.mu * 1e-4), within=limit)


INNER, OUTER = (2.0, 1.0), (3.25, 2.75)
NAFEMS = sx.LinearElastic.from_young(210e9, 0.3, 7800.0)


@problem(STRESSES, "NAFEMS LE1, elliptic membrane", source="NAFEMS: σ_yy(2, 0) = 92.7 MPa", within=0.02)
def nafems_le1() -> Iterator[Row]:
    """A quarter between ellipses of half axes 2 × 1 m and 3.25 × 2.75 m, 0.1 m thick, E = 210 GPa, ν = 0.3, 10 MPa
    outward on the outer edge; half of the thickness.
    """
    for kind, cells, limit in (
        ("hexahedron20", (4, 6, 1), 0.05), ("hexahedron20", (8, 12, 1), None), ("tetra10", (8, 12, 1), 0.05),
    ):  # fmt: skip
        block = Block(kind, (1.0, 1.0, 0.05), cells, NAFEMS, shape=quarter(INNER, OUTER))
        u, fixed = block.box, block.nowhere()
        fixed[u[:, 1] == 0.0, 1] = fixed[u[:, 1] == 1.0, 0] = fixed[u[:, 2] == 0.0, 2] = True
        state = block.rest(fixed, outside=block.press("x_max", -10e6))
        sigma = _stress(block, state)[_at(block.points, (2.0, 0.0, 0.0)), 1]
        yield Row(f"{kind}, {cells[0]} × {cells[1]}", "σ_yy in Pa", 92.7e6, sigma, within=limit)


@problem(STRESSES, "NAFEMS LE10, thick plate", source="NAFEMS: σ_yy(D) = −5.38 MPa", within=0.03)
def nafems_le10() -> Iterator[Row]:
    """The ellipses of LE1, 0.6 m thick, 1 MPa on top; symmetry, outer face fixed in its plane, its middle line
    vertically. D: x = 2 m, y = 0, top.
    """
    for kind, cells, limit in (
        ("hexahedron20", (4, 6, 2), 0.05), ("hexahedron20", (8, 12, 4), None), ("hexahedron", (8, 12, 4), np.inf),
    ):  # fmt: skip
        block = Block(kind, (1.0, 1.0, 0.6), cells, NAFEMS, shape=quarter(INNER, OUTER))
        u, fixed = block.box, block.nowhere()
        fixed[u[:, 1] == 0.0, 1] = fixed[u[:, 1] == 1.0, 0] = True
        outer = u[:, 0] == 1.0
        fixed[outer, :2] = fixed[outer & np.isclose(u[:, 2], 0.3), 2] = True
        state = block.rest(fixed, top=block.press("z_max", 1e6))
        sigma = _stress(block, state)[_at(block.points, (2.0, 0.0, 0.6)), 1]
        yield Row(f"{kind}, {' × '.join(map(str, cells))}", "σ_yy in Pa", -5.38e6, sigma, within=limit)


@problem(
    STRESSES,
    "NAFEMS LE7, cylinder with hemispherical ends",
    source="NAFEMS: σ_zz(D) = 25.86 MPa; Timoshenko and Woinowsky-Krieger (1959), section 116: 1.293 p a/(2h)",
    within=0.03,
)
def nafems_le7() -> Iterator[Row]:
    """Mean radius 1 m, 25 mm thick, hemisphere from z = 1.5 m, 1 MPa inside, E = 210 GPa, ν = 0.3; a quarter, cut 10°
    from the pole, where the cut carries the mean stress of equilibrium. D: r = 1.0125 m, z = 1.4034 m. The target is
    that of thin shells; pressure on the inner face of a solid makes the mean stress 2.5 % less.
    """
    cylinder, sphere, inner, outer = 31, 28, 0.9875, 1.0125

    def shape(u: Array) -> Array:
        r = inner + (outer - inner) * u[:, 0]
        along, angle = u[:, 2] * (cylinder + sphere), 0.5 * np.pi * u[:, 1]
        polar = np.radians(80.0) * np.maximum(along - cylinder, 0.0) / sphere
        z = 1.5 * np.minimum(along / cylinder, 1.0) + r * np.sin(polar)
        return np.column_stack([r * np.cos(polar) * np.cos(angle), r * np.cos(polar) * np.sin(angle), z])

    for kind, around in (("hexahedron20", 6), ("hexahedron27", 6)):
        block = Block(kind, (1.0, 1.0, 1.0), (2, around, cylinder + sphere), NAFEMS, shape=shape)
        u, fixed = block.box, block.nowhere()
        fixed[u[:, 1] == 0.0, 1] = fixed[u[:, 1] == 1.0, 0] = fixed[u[:, 2] == 0.0, 2] = True
        mean = 1e6 * inner**2 / (outer**2 - inner**2)
        state = block.rest(fixed, inside=block.press("x_min", 1e6), cut=block.press("z_max", -mean))
        sigma = _stress(block, state)[_at(block.points, (outer, 0.0, 1.4034)), 2]
        yield Row(f"{kind}, 2 × {around} × {cylinder + sphere}", "σ_zz in Pa", 25.86e6, sigma)
