"""Frequencies of plates, membranes and solids: NAFEMS and other published benchmarks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from scipy.optimize import brentq
from scipy.sparse import csr_array
from scipy.special import spherical_jn, spherical_yn

import symplex as sx
from symplex.meshes import ball, cylinder
from symplex.time.modes import natural_modes
from verification_manual.models import STEEL, Block
from verification_manual.problem import Row, problem

PLATES = "Modes of plates and solids"


@problem(
    PLATES,
    "NAFEMS FV52, thick plate on its lower edges",
    source=(
        "hexahedra of 20 nodes in other codes, 4 × 4 × 1 (VMC5, OS-V:0455): 44.762, 110.52 ×2, 169.08, "
        "193.93, 206.64 ×2 Hz"
    ),
    within=1e-3,
)
def nafems_fv52() -> Iterator[Row]:
    """10 m × 10 m × 1 m, E = 200 GPa, ν = 0.3, ρ = 8000 kg/m³, no deflection along the four lower edges, 4 × 4 × 1
    elements. Plate theory (45.897 Hz) is no target: solids soften on a line support.
    """
    codes = [44.762, 110.52, 110.52, 169.08, 193.93, 206.64, 206.64]
    for kind, limit in (("hexahedron20", None), ("hexahedron27", 3e-2)):
        block = Block(kind, (10.0, 10.0, 1.0), (4, 4, 1), STEEL)
        x, fixed = block.points, block.nowhere()
        fixed[:, 2] = (np.abs(x[:, :2] - 5.0) > 4.999).any(axis=1) & (x[:, 2] == 0.0)
        system = block.system(fixed, block.mass())
        found = natural_modes(system, system.state(x), 10).frequencies
        for k, target in enumerate(codes):
            yield Row(kind, f"f{k + 4} in Hz", target, found[k + 3], within=limit)


@problem(
    PLATES,
    "NAFEMS FV32, tapered membrane",
    source="NAFEMS (OS-V:0440): 44.623, 130.03, 162.70, 246.05, 379.90, 391.44 Hz",
    within=1e-3,
)
def nafems_fv32() -> Iterator[Row]:
    """10 m long, 5 m deep at the clamped end and 1 m at the other, 5 cm thick; half of the thickness."""
    nafems = [44.623, 130.03, 162.70, 246.05, 379.90, 391.44]
    for kind, limit in (("hexahedron20", None), ("hexahedron", 4e-2)):
        block = Block(
            kind,
            (10.0, 5.0, 0.025),
            (16, 8, 1),
            STEEL,
            shape=lambda x: np.column_stack([x[:, 0], (x[:, 1] - 2.5) * (1.0 - 0.08 * x[:, 0]), x[:, 2]]),
        )
        x, fixed = block.points, block.nowhere()
        fixed[:, 2] = x[:, 2] == 0.0
        fixed[x[:, 0] == 0.0, :2] = True
        system = block.system(fixed, block.mass())
        found = natural_modes(system, system.state(x), 6).frequencies
        for k, target in enumerate(nafems):
            yield Row(kind, f"f{k + 1} in Hz", target, found[k], within=limit)


@problem(
    PLATES,
    "NAFEMS FV5, deep beam",
    source="NAFEMS: bending 42.649, 148.31, 284.55 Hz, each twice (Timoshenko's theory)",
    within=0.02,
)
def nafems_fv5() -> Iterator[Row]:
    """10 m × 2 m × 2 m on two supports, 10 × 2 × 2 elements; the nearest two modes to each target."""
    for kind in ("hexahedron20 reduced", "hexahedron20"):
        block = Block(kind, (10.0, 2.0, 2.0), (10, 2, 2), STEEL)
        x, fixed = block.points, block.nowhere()
        fixed[(x[:, 0] == 0.0) | (x[:, 0] == 10.0), 1:] = True
        fixed[(x[:, 0] == 0.0) & (np.abs(x[:, 1:] - 1.0) < 1e-9).all(axis=1), 0] = True
        system = block.system(fixed, block.mass())
        found = natural_modes(system, system.state(x), 12).frequencies
        for target in (42.649, 148.31, 284.55):
            for one in np.sort(found[np.argsort(np.abs(found - target))[:2]]):
                yield Row(kind, f"f near {target:g} Hz", target, one)


def _plate(kind: str, cells: tuple, thickness: float, skew: float, clamped: bool) -> tuple[Block, np.ndarray]:
    """Return a plate of 10 m × 10 m, skewed by an angle, its edges clamped or free."""
    c, s = np.cos(skew), np.sin(skew)
    block = Block(
        kind,
        (10.0, 10.0, thickness),
        cells,
        STEEL,
        shape=lambda x: np.column_stack(
            [x[:, 0] + c * x[:, 1] if skew else x[:, 0], (s if skew else 1.0) * x[:, 1], x[:, 2]]
        ),
    )
    edge = (np.abs(block.box[:, :2] - 5.0) > 4.999).any(axis=1)
    return block, np.repeat((edge & clamped)[:, None], 3, axis=1)


@problem(
    PLATES,
    "NAFEMS FV16, thin cantilever plate",
    source="NAFEMS (OS-V:0430): 0.421, 1.029, 2.582, 3.306, 3.753, 6.555 Hz",
    within=0.015,
)
def nafems_fv16() -> Iterator[Row]:
    """10 m × 10 m × 5 cm, one side clamped, 12 × 12 × 1 elements."""
    for kind in ("hexahedron20 reduced", "hexahedron"):
        block, _ = _plate(kind, (12, 12, 1), 0.05, 0.0, False)
        system = block.system(np.repeat(block.points[:, :1] == 0.0, 3, axis=1), block.mass())
        found = natural_modes(system, system.state(block.points), 6).frequencies
        for k, target in enumerate((0.421, 1.029, 2.582, 3.306, 3.753, 6.555)):
            yield Row(kind, f"f{k + 1} in Hz", target, found[k], within=None if "20" in kind else 0.04)


@problem(PLATES, "NAFEMS FV12, free thin plate", source="NAFEMS: 1.622, 2.360, 2.922, 4.233 ×2, 7.416 Hz", within=0.015)
def nafems_fv12() -> Iterator[Row]:
    """10 m × 10 m × 5 cm, free in space, 12 × 12 × 1 elements."""
    for kind in ("hexahedron20 reduced", "hexahedron"):
        block, _ = _plate(kind, (12, 12, 1), 0.05, 0.0, False)
        system = block.system(None, block.mass())
        found = natural_modes(system, system.state(block.points), 12).frequencies[6:]
        for k, target in enumerate((1.622, 2.360, 2.922, 4.233, 4.233, 7.416)):
            yield Row(kind, f"f{k + 7} in Hz", target, found[k], within=None if "20" in kind else 0.04)


@problem(
    PLATES,
    "NAFEMS FV22, thick rhombic plate",
    source="NAFEMS, thick-plate theory: 133.95, 201.41, 265.81, 283.68, 334.45 Hz",
    within=0.035,
)
def nafems_fv22() -> Iterator[Row]:
    """Rhomb of 10 m a side at 45°, 1 m thick, clamped edges, 10 × 10 × 2 elements."""
    block, fixed = _plate("hexahedron20 reduced", (10, 10, 2), 1.0, 0.25 * np.pi, True)
    system = block.system(fixed, block.mass())
    found = natural_modes(system, system.state(block.points), 5).frequencies
    for k, target in enumerate((133.95, 201.41, 265.81, 283.68, 334.45)):
        yield Row("hexahedron20 reduced", f"f{k + 1} in Hz", target, found[k])


@problem(
    PLATES,
    "NAFEMS FV15, thin rhombic plate",
    source="NAFEMS: 7.938, 12.835, 17.941, 19.133, 24.009, 27.922 Hz",
    within=0.03,
)
def nafems_fv15() -> Iterator[Row]:
    """Rhomb of 10 m a side at 45°, 5 cm thick, clamped edges, 16 × 16 × 1 elements."""
    block, fixed = _plate("hexahedron20 reduced", (16, 16, 1), 0.05, 0.25 * np.pi, True)
    system = block.system(fixed, block.mass())
    found = natural_modes(system, system.state(block.points), 6).frequencies
    for k, target in enumerate((7.938, 12.835, 17.941, 19.133, 24.009, 27.922)):
        yield Row("hexahedron20 reduced", f"f{k + 1} in Hz", target, found[k])


@problem(
    PLATES,
    "Breathing sphere",
    source="closed form, tan x = x/(1 − x²/4κ²), κ = c_s/c_p: x = ωR/c_p = 2.6702147 at ν = 0.3",
    within=7e-3,
)
def breathing_sphere() -> Iterator[Row]:
    """Free elastic ball, an octant; the most radial of the lowest modes."""
    ratio = (1.0 - 2.0 * 0.3) / (2.0 * (1.0 - 0.3))  # (c_s/c_p)²
    exact = brentq(lambda x: np.sin(x) * (1.0 - x * x / (4.0 * ratio)) - x * np.cos(x), 2.0, 3.0)
    speed = np.sqrt(STEEL.lmbda / STEEL.density + 2.0 * STEEL.mu / STEEL.density)

    for n in (1, 2, 3):
        block = Block.of(ball(1.0, (n, 2 * n), symmetry="xyz", order=2), STEEL)
        system = block.system(np.abs(block.points) < 1e-12, block.mass())
        found = natural_modes(system, system.state(block.points), 8)
        radial = [abs((system.apply_mass(u) * block.points).sum()) for u in found.shapes]
        yield Row(f"hexahedron20, {4 * n**3} elements", "ωR/c_p", exact, found.angular[int(np.argmax(radial))] / speed)


@problem(
    PLATES,
    "NAFEMS FV41, free cylinder",
    source="NAFEMS (OS-V:0450): 243.53, 377.41, 394.11, 397.72, 405.28 Hz, axisymmetric modes",
    within=0.015,
)
def nafems_fv41() -> Iterator[Row]:
    """Radii 1.8 and 2.2 m, 10 m long, steel; a sector of 10° between planes of symmetry, n × 1 × 8 n elements."""
    for n in (1, 2, 3):
        block = Block.of(cylinder(2.2, 10.0, (n, 1, 8 * n), inner=1.8, degrees=10, order=2), STEEL)
        x, fixed = block.points, block.nowhere()
        fixed[block.mesh.nodes_of("y0"), 1] = True
        across = np.array([-np.sin(np.radians(10.0)), np.cos(np.radians(10.0)), 0.0])
        system = block.system(fixed, block.mass(), side=_held(x, block.mesh.nodes_of("end"), across[None]))
        found = natural_modes(system, system.state(x), 6).frequencies[1:]
        for k, target in enumerate((243.53, 377.41, 394.11, 397.72, 405.28)):
            limit = np.inf if n == 1 else None
            yield Row(f"hexahedron20, {n} × {8 * n}", f"f{k + 2} in Hz", target, found[k], within=limit)


@problem(
    PLATES,
    "NAFEMS FV42, thick hollow sphere",
    source="closed form of radial vibration with free surfaces, by spherical Bessel functions",
    within=0.01,
)
def nafems_fv42() -> Iterator[Row]:
    """Radii 1.8 and 6 m, steel; n elements along the radius of a narrow pyramid, whose nodes move along it only."""
    stiff, lmbda = STEEL.lmbda + 2.0 * STEEL.mu, STEEL.lmbda
    speed = np.sqrt(stiff / STEEL.density)

    def radial_stress(k: float, r: float) -> np.ndarray:
        """Return σ_r of u = j_1(k r) and y_1(k r)."""
        z, dz = (
            np.array([f(1, k * r, derivative) for f in (spherical_jn, spherical_yn)]) for derivative in (False, True)
        )
        return stiff * k * dz + 2.0 * lmbda * z / r

    def free(f: float) -> float:
        a, b = (radial_stress(2.0 * np.pi * f / speed, r) for r in (1.8, 6.0))
        return float(a[0] * b[1] - a[1] * b[0])

    at = np.arange(100.0, 3000.0, 10.0)
    exact = [brentq(free, a, b) for a, b in pairwise(at) if free(a) * free(b) < 0.0]

    def pyramid(u: np.ndarray) -> np.ndarray:
        e = np.column_stack([np.ones(len(u)), 0.1 * u[:, 1:]])
        return (1.8 + 4.2 * u[:, :1]) * e / np.linalg.norm(e, axis=1, keepdims=True)

    for n in (5, 10):
        block = Block("hexahedron20", (1.0, 1.0, 1.0), (n, 1, 1), STEEL, shape=pyramid)
        radial = block.points / np.linalg.norm(block.points, axis=1, keepdims=True)
        first = np.cross(radial, [0.0, 0.0, 1.0])
        first /= np.linalg.norm(first, axis=1, keepdims=True)
        nodes = np.arange(len(block.points))
        sides = {"a": _held(block.points, nodes, first), "b": _held(block.points, nodes, np.cross(radial, first))}
        system = block.system(None, block.mass(), **sides)
        found = natural_modes(system, system.state(block.points), 5).frequencies
        for k in range(5):
            yield Row(f"hexahedron20, {n}", f"f{k + 1} in Hz", exact[k], found[k], within=np.inf if n == 5 else None)


def _held(points: np.ndarray, nodes: np.ndarray, directions: np.ndarray) -> sx.fem.LinearConstraints:
    """Return what holds nodes against displacements along directions [m, 3], or one."""
    factors = np.broadcast_to(directions, (len(nodes), 3))
    columns = 3 * nodes[:, None] + np.arange(3)
    rows = np.repeat(np.arange(len(nodes)), 3)
    matrix = csr_array((factors.ravel(), (rows, columns.ravel())), shape=(len(nodes), points.size))
    return sx.fem.LinearConstraints(points, matrix, stiffness=1e15)
