"""Deflections: patch test, bars, trusses, beams and membranes of small strains."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import symplex as sx
from verification_manual.models import KINDS, Array, Block
from verification_manual.problem import Row, problem

STATICS = "Deflections"
STRAIN = sx.measures.EngineeringStrain


@problem(STATICS, "Patch test", source="exact uniform deformation", within=1e-12)
def patch_test() -> Iterator[Row]:
    """2 × 2 × 2 cells, inner nodes moved at random by up to a fifth of a cell, under a large uniform surface
    deformation; errors relative to the box. Neo-Hookean.
    """
    F = np.eye(3) + np.array([[0.1, 0.05, 0.0], [0.0, -0.06, 0.08], [0.03, 0.0, 0.02]])
    for kind in KINDS:
        block = Block(kind, (1.0, 1.2, 0.8), (2, 2, 2), sx.NeoHookean(3.0, 1.0, 1.0), shake=0.2)
        x = block.points
        surface = (np.isclose(x, x.min(axis=0)) | np.isclose(x, x.max(axis=0))).any(axis=1)
        start = x @ F.T
        start[~surface] = x[~surface] @ (0.5 * (F + np.eye(3)))
        q = block.rest(np.repeat(surface[:, None], 3, axis=1), start).q
        yield Row(kind, "largest error of a node", 0.0, np.abs(q - x @ F.T).max(), scale=1.2)


def _tip(block: Block, side: str, axis: int, q: Array) -> float:
    """Return the displacement of a side along an axis, with the weights of a uniform traction."""
    pull = block.pull(side, np.eye(3)[axis])
    weights = pull.forces[:, axis]
    return float(weights @ (q - block.points)[pull.nodes[:, 0], axis] / weights.sum())


@problem(STATICS, "Bar under its own weight", source="closed form, u(L) = ρgL²/2E", within=1e-6)
def bar_under_weight() -> Iterator[Row]:
    """L = 1 m, E = 10 GPa, ν = 0, ρ = 1000 kg/m³, hanging; 6 × 1 × 1 cells, linear elasticity."""
    law = sx.LinearElastic.from_young(1e10, 0.0, 1000.0)
    for kind in ("tetra10", "hexahedron", "hexahedron20", "wedge15"):
        block = Block(kind, (1.0, 0.1, 0.1), (6, 1, 1), law)
        weight = sx.Gravity(block.mass(), (9.81, 0.0, 0.0))
        q = block.rest(np.repeat(block.points[:, :1] == 0.0, 3, axis=1), weight=weight).q
        yield Row(kind, "u(L) in m", 1000.0 * 9.81 / 2e10, _tip(block, "x_max", 0, q))


@problem(
    STATICS,
    "Prism hanging under its own weight",
    source="Timoshenko and Goodier: u_z = ρg/2E (z² − L² + ν(x² + y²))",
    within=1e-7,
)
def hanging_prism() -> Iterator[Row]:
    """1 m × 1 m × 3 m, E = 1 GPa, ν = 0.3; the top is pulled with ρgL and fixed at its middle. Linear elasticity,
    exact for quadratic elements.
    """
    law = sx.LinearElastic.from_young(1e9, 0.3, 1000.0)
    c = 1000.0 * 9.81 / 2e9
    for kind in ("hexahedron20", "hexahedron27"):
        block = Block(kind, (1.0, 1.0, 3.0), (2, 2, 3), law, shape=lambda x: x - [0.5, 0.5, 0.0])
        x, fixed = block.points, block.nowhere()
        middle = (np.abs(x[:, :2]) < 1e-9).all(axis=1)
        fixed[middle & (x[:, 2] == 3.0)] = True
        fixed[middle, :2] = True
        fixed[np.isclose(x[:, 0], 0.5) & np.isclose(x[:, 1], 0.0) & (x[:, 2] == 3.0), 1] = True
        weight = sx.Gravity(block.mass(), (0.0, 0.0, -9.81))
        q = block.rest(fixed, weight=weight, hook=block.pull("z_max", (0.0, 0.0, 1000.0 * 9.81 * 3.0))).q
        for place in ((0.0, 0.0, 0.0), (0.5, 0.5, 0.0), (0.5, 0.5, 3.0)):
            node = int(np.argmin(np.abs(x - place).sum(axis=1)))
            target = c * (place[2] ** 2 - 9.0 + 0.3 * (place[0] ** 2 + place[1] ** 2))
            yield Row(kind, f"u_z in m at {place}", target, (q - x)[node, 2], scale=9.0 * c)


@problem(STATICS, "Three-bar truss", source="Timoshenko: N = P/(1 + 2 cos³α) in the vertical bar", within=1e-6)
def three_bars() -> Iterator[Row]:
    """A vertical bar and two at ±α, equal EA, small load P."""
    for degrees in (30.0, 45.0, 60.0):
        t = np.tan(np.radians(degrees))
        points = np.array([[0.0, 0.0], [0.0, 1.0], [-t, 1.0], [t, 1.0]])
        length = np.linalg.norm(points[1:], axis=1)
        bars = sx.Bars([[0, 1], [0, 2], [0, 3]], STRAIN(1e9 / length, length), dim=2)
        fixed = np.ones((4, 2), bool)
        fixed[0] = False
        load = sx.actions.NodalForce([0], [0.0, -10.0])
        system = sx.System(np.ones(4), {"bars": bars, "load": load}, dim=2, fixed=fixed)
        q = sx.equilibria.static_equilibrium(system, points).state.q
        target = 10.0 / (1.0 + 2.0 * np.cos(np.radians(degrees)) ** 3)
        yield Row("bars", f"N in N, α = {degrees:g}°", target, bars.tensions(q)[0])


@problem(
    STATICS,
    "Shallow truss of von Mises",
    source=(
        "closed forms; Green's strain: limit at the height h/√3, P = EA h³/(3√3 L³)·2; engineering strain: P(y) exact"
    ),
    within=1e-4,
)
def von_mises_truss() -> Iterator[Row]:
    """Half span 2 m, height 1 m, E = 210 GPa, A = 0.01 m² (Green's strain, half of P is 3.6148·10⁷ N), and 1 m by 0.1
    m (engineering strain): arc-length path past the limit points.
    """
    points = np.array([[-2.0, 0.0], [0.0, 1.0], [2.0, 0.0]])
    fixed = np.ones((3, 2), bool)
    fixed[1] = False
    bars = sx.Bars([[0, 1], [1, 2]], sx.measures.GreenStrain(2.1e9 / np.sqrt(5.0), np.sqrt(5.0)), dim=2)
    load = sx.actions.NodalForce([1], [0.0, -8e7])
    system = sx.System(np.ones(3), {"bars": bars, "load": load}, dim=2, fixed=fixed)
    path = sx.equilibria.equilibrium_path(system, points, step=0.002, points=2000)
    first = path.q[:, 1, 1] > 0.0
    top = int(np.argmax(np.where(first, path.part, -np.inf)))
    yield Row("GreenStrain", "limit load of one half in N", 3.6148e7, 0.5 * 8e7 * path.part[top])
    yield Row("GreenStrain", "way to the limit in m", 1.0 - 1.0 / np.sqrt(3.0), 1.0 - path.q[top, 1, 1], within=1e-2)
    length = np.hypot(1.0, 0.1)
    points = np.array([[-1.0, 0.0], [0.0, 0.1], [1.0, 0.0]])
    bars = sx.Bars([[0, 1], [1, 2]], STRAIN(1000.0 / length, length), dim=2)
    system = sx.System(np.ones(3), {"bars": bars, "load": sx.actions.NodalForce([1], [0.0, -1.0])}, dim=2, fixed=fixed)
    path = sx.equilibria.equilibrium_path(system, points, step=0.005)
    y = path.q[:, 1, 1]
    now = np.hypot(1.0, y)
    exact = 2000.0 / length * (length - now) * y / now
    for k in np.linspace(1, len(y) - 1, 5).astype(int):
        yield Row("EngineeringStrain", f"P in N at y = {y[k]:.4f} m", exact[k], path.part[k], scale=0.4)


@problem(
    STATICS,
    "Thin cantilevers that do not lock",
    source="Timoshenko: P(L³/3EI + L/(5/6 GA))",
    within=0.013,
)
def thin_cantilever() -> Iterator[Row]:
    """1 m × 1 m, one element through the thickness, L/h = 10 and 100, ν up to 0.4999; the root carries the shear force
    and is free to contract. Full integration locks.
    """
    for length, count in ((10.0, 10), (100.0, 20)):
        for nu in (0.0, 0.3, 0.4999):
            exact = 4.0 * length**3 / 1e7 + 1.2 * length * 2.0 * (1.0 + nu) / 1e7
            for kind, limit in (("hexahedron", None), ("hexahedron full", np.inf)):
                block = Block(kind, (length, 1.0, 1.0), (count, 1, 1), sx.LinearElastic.from_young(1e7, nu, 1.0))
                x, fixed = block.points, block.nowhere()
                root = x[:, 0] == 0.0
                fixed[root, 0] = fixed[root & (x[:, 1] == 0.0), 1] = fixed[root & (x[:, 2] == 0.0), 2] = True
                q = block.rest(fixed, end=block.pull("x_max", (0, 1.0, 0)), root=block.pull("x_min", (0, -1.0, 0))).q
                yield Row(kind, f"tip, m, L/h = {length:g}, ν = {nu}", exact, _tip(block, "x_max", 1, q), within=limit)


def _clamped_beam(block: Block, axes: dict[int, float]) -> Iterator[tuple[int, float]]:
    """Yield for each axis the deflection of x_max under a unit force, x_min clamped."""
    fixed = np.repeat((block.box[:, :1] == 0.0), 3, axis=1)
    area = block.pull("x_max", (1.0, 0.0, 0.0)).forces[:, 0].sum()
    for axis in axes:
        force = np.eye(3)[axis] / area
        yield axis, _tip(block, "x_max", axis, block.rest(fixed, end=block.pull("x_max", force)).q)


@problem(
    STATICS,
    "MacNeal and Harder's straight beam",
    source="MacNeal and Harder 1985 (OS-V:0720): extension 3·10⁻⁵, in plane 0.1081, out of plane 0.4321",
    within=0.04,
)
def macneal_straight() -> Iterator[Row]:
    """6 × 0.2 × 0.1, E = 10⁷, ν = 0.3, unit tip forces; 6 elements: regular, parallelograms and trapezia of 45°.
    8-node elements must lose accuracy on distorted meshes (MacNeal).
    """
    targets = {0: 3e-5, 1: 0.1081, 2: 0.4321}
    law = sx.LinearElastic.from_young(1e7, 0.3, 1.0)

    def tilted(sign):
        def shape(x: Array) -> Array:
            column = x[:, 0]
            way = sign(column) * 0.1 * (x[:, 1] / 0.1 - 1.0)
            return np.column_stack([column + way * ((column > 0.0) & (column < 6.0)), x[:, 1:]])

        return shape

    shapes = {
        "regular": None,
        "parallelograms": tilted(lambda x: np.interp(x, [0.0, 1.0, 5.0, 6.0], [0.0, 1.0, 1.0, 0.0])),
        "trapezia": tilted(lambda x: np.interp(x, np.arange(7), [0.0, 1.0, -1.0, 1.0, -1.0, 1.0, 0.0])),
    }
    for name, shape in shapes.items():
        for kind in ("hexahedron", "hexahedron20", "hexahedron27", "tetra10"):
            if name != "regular" and kind == "tetra10":
                continue
            block = Block(kind, (6.0, 0.2, 0.1), (6, 1, 1), law, shape=shape)
            for axis, found in _clamped_beam(block, targets):
                judged = name == "regular" and kind != "tetra10"
                what = f"{'xyz'[axis]}, {name}"
                yield Row(kind, what, targets[axis], found, within=None if judged else np.inf)


@problem(
    STATICS,
    "MacNeal and Harder's curved beam",
    source="MacNeal and Harder 1985 (OS-V:0710): in plane 0.08734, out of plane 0.5022",
    within=0.03,
)
def macneal_curved() -> Iterator[Row]:
    """A quarter ring of radii 4.12 and 4.32, 0.1 thick, E = 10⁷, ν = 0.25, unit tip forces, in plane along the radius.
    One quadratic element across is 16 % too stiff in torsion.
    """

    def ring(x: Array) -> Array:
        r, angle = 4.12 + x[:, 1], 0.5 * np.pi * x[:, 0]
        return np.column_stack([r * np.sin(angle), r * np.cos(angle), x[:, 2]])

    law = sx.LinearElastic.from_young(1e7, 0.25, 1.0)
    # The tip is on the x axis: its radius is along x.
    for kind, cells, limit in (
        ("hexahedron20", (6, 1, 1), np.inf), ("hexahedron20", (12, 2, 2), None),
        ("hexahedron20 reduced", (12, 2, 2), None), ("hexahedron", (24, 4, 3), None),
    ):  # fmt: skip
        block = Block(kind, (1.0, 0.2, 0.1), cells, law, shape=ring)
        targets = {0: 0.08734, 2: 0.5022}
        for axis, found in _clamped_beam(block, targets):
            by = f"{kind}, {' × '.join(map(str, cells))}"
            yield Row(by, ("in plane", "", "out of plane")[axis], targets[axis], found, within=limit)


@problem(
    STATICS,
    "MacNeal and Harder's twisted beam",
    source="MacNeal and Harder 1985 (OS-V:0700): 1.754·10⁻³ and 5.424·10⁻³",
    within=0.012,
)
def macneal_twisted() -> Iterator[Row]:
    """12 × 1.1 × 0.32, twisted by 90°, E = 29·10⁶, ν = 0.22, unit forces at the tip, 12 × 2 × 1 elements."""

    def twisted(p: Array) -> Array:
        x, y, z = (p - [0.0, 0.55, 0.16]).T
        c, s = np.cos(x * np.pi / 24.0), np.sin(x * np.pi / 24.0)
        return np.column_stack([x, c * y - s * z, s * y + c * z])

    targets = {1: 0.001754, 2: 0.005424}
    for kind in ("hexahedron", "hexahedron20", "hexahedron20 reduced", "hexahedron27", "tetra10"):
        block = Block(kind, (12.0, 1.1, 0.32), (12, 2, 1), sx.LinearElastic.from_young(29e6, 0.22, 1.0), shape=twisted)
        for axis, found in _clamped_beam(block, targets):
            yield Row(kind, "xyz"[axis], targets[axis], found, within=0.03 if kind == "tetra10" else None)


def _cook(kind: str, n: int, law: sx.Material, plane_strain: bool, force: float, height: float) -> float:
    """Return the rise at a part of the height of the right side of Cook's membrane, 1 thick (half of it where z
    contracts).
    """
    block = Block(
        kind,
        (1.0, 1.0, 1.0),
        (n, n, 1),
        law,
        shape=lambda x: np.column_stack([48.0 * x[:, 0], 44.0 * x[:, 0] + x[:, 1] * (44.0 - 28.0 * x[:, 0]), x[:, 2]]),
    )
    x, fixed = block.box, block.nowhere()
    fixed[x[:, 0] == 0.0, :2] = True
    fixed[plane_strain | (x[:, 2] == 0.0), 2] = True
    q = block.rest(fixed, end=block.pull("x_max", (0.0, force / 16.0, 0.0))).q
    return float((q - block.points)[(x[:, 0] == 1.0) & (x[:, 1] == height), 1].mean())


@problem(
    STATICS,
    "Cook's membrane",
    source="converged value of the literature, 23.96 at the middle of the right side",
    within=0.01,
)
def cook_linear() -> Iterator[Row]:
    """Corners (0, 0), (48, 44), (48, 60), (0, 44), E = 1, ν = ⅓, shear force 1 on the right, plane stress."""
    law = sx.LinearElastic.from_young(1.0, 1.0 / 3.0, 1.0)
    for kind, n, limit in (
        ("hexahedron", 8, 0.03), ("hexahedron", 16, None), ("hexahedron20", 8, None), ("tetra10", 8, None),
    ):  # fmt: skip
        yield Row(f"{kind}, {n} × {n}", "rise of the middle", 23.96, _cook(kind, n, law, False, 1.0, 0.5), within=limit)


@problem(
    STATICS,
    "Cook's membrane, nearly incompressible, large strains",
    source="converged value of this package, 6.906, near that of Simo and Armero 1992 (6.9)",
    within=0.035,
)
def cook_incompressible() -> Iterator[Row]:
    """μ = 80.1938, κ = 400 889.8 (E = 240.565, ν = 0.4999), force 100, plane strain, neo-Hookean."""
    law = sx.NeoHookean.from_young(240.565, 0.4999, 1.0)
    for kind, n, limit in (("hexahedron", 8, None), ("hexahedron mean-dilatation", 8, np.inf)):
        yield Row(
            f"{kind}, {n} × {n}", "rise of the corner", 6.906, _cook(kind, n, law, True, 100.0, 1.0), within=limit
        )
