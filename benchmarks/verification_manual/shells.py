"""Shells: patch tests, the obstacle course of linear shells, large deflections, and a plate in free flight."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

import symplex as sx
from symplex.fem.structures import Frames, Orthotropic, Ply, ShellProperties, Shells, shells
from verification_manual.problem import Row, problem

SHELLS = "Shells"
NAMES = {False: "quad", True: "triangle"}
SZE = "Sze, Liu and Lo (2004), Finite Elem. Anal. Des. 40, 1551"
# What a plane of symmetry across an axis holds: displacements along it and rotations about the others.
ACROSS = np.array([[1, 0, 0, 0, 1, 1], [0, 1, 0, 1, 0, 1], [0, 0, 1, 1, 1, 0]], bool)


def surface(nx: int, ny: int, place: Callable, triangles: bool = False) -> sx.Mesh:
    """Return the unit square in nx × ny elements, moved by a function of x and y [n] to points [n, 3]."""
    x, y = np.meshgrid(np.linspace(0.0, 1.0, nx + 1), np.linspace(0.0, 1.0, ny + 1), indexing="ij")
    at = np.arange((nx + 1) * (ny + 1), dtype=np.int32).reshape(nx + 1, ny + 1)
    quads = np.stack([at[:-1, :-1], at[1:, :-1], at[1:, 1:], at[:-1, 1:]], axis=-1).reshape(-1, 4)
    points = np.stack(place(x.ravel(), y.ravel()), axis=1)
    if triangles:
        return sx.Mesh(points, {"triangle": np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])})
    return sx.Mesh(points, {"quad": quads})


def sheet(thickness: float, E: float, nu: float, density: float = 1.0) -> ShellProperties:
    """Return the properties of a sheet of one material."""
    return ShellProperties.uniform(thickness, sx.NeoHookean.from_young(E, nu, density))


def near(a: np.ndarray, b: float) -> np.ndarray:
    """Return where coordinates are a given one."""
    return np.abs(a - b) < 1e-9 * max(abs(b), 1.0)


def node(points: np.ndarray, *place: float) -> int:
    """Return the node at a place."""
    return int(np.argmin(np.linalg.norm(points - place, axis=1)))


def system(shell: Shells, held: np.ndarray, forces: dict[int, list[float]], **energies: sx.Energy) -> sx.System:
    """Return the system of a shell with displacements and rotations [n, 6] of nodes held, and forces on nodes in N."""
    parts = {
        f"force_{at}": sx.actions.NodalForce(shell.particles([at])[0], 0.5 * np.asarray(force))
        for at, force in forces.items()
    }
    frames = Frames(shell.frames.nodes, shell.points, held)
    return sx.System(shell.mass, {**shell.energies, **parts, **energies}, frames=frames)


def deflections(shell: Shells, loaded: sx.System) -> np.ndarray:
    """Return the displacements [n, 3] of nodes in equilibrium in m."""
    found = sx.equilibria.static_equilibrium(loaded, shell.points)
    return shell.frames.centers(found.state.q) - shell.frames.centers(shell.points)


@problem(SHELLS, "Patch tests of plates", source="constant strains and curvatures are in equilibrium", within=1e-12)
def shell_patch() -> Iterator[Row]:
    """A square of 4 × 4 distorted elements, one tenth thick, with linear displacements in its plane, and with quadratic
    ones across it: the largest force and moment on a node inside, as parts of those on edges.
    """
    for triangles, name in NAMES.items():
        mesh = surface(4, 4, distorted, triangles)
        h = 0.1
        shell = shells(mesh, sheet(h, 1.0, 0.3))
        x, y = mesh.points[:, :2].T
        slopes = np.stack([1.3 * x - 0.4 * y, 0.2 * y - 0.4 * x, 0.0 * x], axis=1)
        for what, u, turns in (
            ("membrane", np.stack([0.7 * x, 0.9 * x - 0.4 * y, 0.0 * x], axis=1), 0.0 * slopes),
            ("bending", -0.5 * (slopes * mesh.points).sum(axis=1)[:, None] * [0, 0, 1], np.cross([0, 0, 1], slopes)),
        ):
            moves = shell.frames.velocities(shell.points, u, turns).ravel()
            free = sx.System(shell.mass, shell.energies, frames=shell.frames)
            forces = (free.hessian(shell.points) @ moves).reshape(-1, 3)[shell.frames.nodes[:, :2]]
            moments = np.cross(shell.frames.rest_arms[:, :2], forces).sum(axis=1)
            inside = (np.abs(mesh.points[:, :2] - 0.5) < 0.49).all(axis=1)
            loads = np.column_stack([h * forces.sum(axis=1), moments])
            left = np.abs(loads[inside]).max() / np.abs(loads[~inside]).max()
            yield Row(f"{name}, {what}", "largest force or moment inside", 0.0, float(left), scale=1.0)


def distorted(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the unit square with lines that are bent inside."""
    bump = x * (1.0 - x) * y * (1.0 - y)
    return x + 0.9 * np.sin(9.0 * y + 2.0) * bump, y + 0.8 * np.cos(8.0 * x) * bump, 0.0 * x


def hemisphere(n: int, triangles: bool = False) -> tuple[sx.Mesh, Shells, np.ndarray, tuple[int, int]]:
    """Return a quarter of a hemisphere with a hole of 18°, what symmetry holds, and where it is pulled and pushed."""
    a = np.deg2rad(72.0)

    def place(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, ...]:
        along, up = 0.5 * np.pi * x, a * y
        return 10.0 * np.cos(along) * np.cos(up), 10.0 * np.sin(along) * np.cos(up), 10.0 * np.sin(up)

    mesh = surface(n, n, place, triangles)
    shell = shells(mesh, sheet(0.04, 6.825e7, 0.3), directors=mesh.points)
    held = np.zeros((len(mesh.points), 6), bool)
    for axis in range(2):
        held[near(mesh.points[:, axis], 0.0)] |= ACROSS[axis]
    ends = node(mesh.points, 10.0, 0.0, 0.0), node(mesh.points, 0.0, 10.0, 0.0)
    held[ends[0], 2] = True
    return mesh, shell, held, ends


@problem(
    SHELLS,
    "Pinched hemisphere with a hole",
    source="MacNeal and Harder (1985): 0.094 for two units of force along each diameter",
    within=0.04,
)
def pinched_hemisphere() -> Iterator[Row]:
    """R = 10, h = 0.04, E = 6.825e7, ν = 0.3, n × n elements on a quarter; here with a hundredth of the force."""
    for triangles, name in NAMES.items():
        for n in (4, 8, 16, 32):
            _, shell, held, (a, b) = hemisphere(n, triangles)
            u = deflections(shell, system(shell, held, {a: [0.01, 0.0, 0.0], b: [0.0, -0.01, 0.0]}))
            yield Row(name, f"deflection, {n} a side", 0.094, 100.0 * u[a, 0])


@problem(SHELLS, "NAFEMS LE3, hemisphere with point loads", source="NAFEMS: u_x(A) = 0.185 m", within=0.015)
def nafems_le3() -> Iterator[Row]:
    """R = 10 m, h = 4 cm, E = 68.25 GPa, ν = 0.3, 2 kN outward at A on x, inward at C on y; a quarter of three patches
    of n × n elements.
    """
    for n in (4, 8, 16):
        octant = sx.meshes.ball(10.0, (1, 2 * n), inner=9.0, symmetry="xyz")
        used, quads = np.unique(octant.faces_of("outside")["quad"], return_inverse=True)
        mesh = sx.Mesh(octant.points[used], {"quad": quads.reshape(-1, 4).astype(np.int32)})
        p, held = mesh.points, np.zeros((len(used), 6), bool)
        shell = shells(mesh, sheet(0.04, 68.25e9, 0.3), directors=p)
        for axis in range(2):
            held[near(p[:, axis], 0.0)] |= ACROSS[axis]
        a, c, top = (node(p, *place) for place in 10.0 * np.eye(3))
        held[top, 2] = True
        # A linear problem: a thousandth of the force, so that the deflection is small.
        u = deflections(shell, system(shell, held, {a: [2.0, 0.0, 0.0], c: [0.0, -2.0, 0.0]}))
        yield Row(f"quad, {n} × {n}", "u_x(A) in m", 0.185, 1e3 * u[a, 0], within=np.inf if n < 8 else None)


@problem(SHELLS, "NAFEMS LE5, Z-section cantilever", source="NAFEMS: σ_xx(A) = −108 MPa", within=0.07)
def nafems_le5() -> Iterator[Row]:
    """10 m long, web of 2 m, flanges of 1 m, h = 0.1 m, E = 210 GPa, ν = 0.3, clamped; a torque of 1.2 MN m by shear of
    0.6 MN in each flange; A on the edge of a flange, 2.5 m from the clamp; n elements across a flange. At folds the
    error is of first order: the limit of these numbers is −111 MPa, 3 % beyond the target.
    """

    def place(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, ...]:
        s = 4.0 * y  # along the section
        return 10.0 * x, np.where(s < 1.0, 1.0 - s, np.where(s < 3.0, 0.0, 3.0 - s)), np.clip(2.0 - s, -1.0, 1.0)

    for n, limit in ((4, np.inf), (8, 0.1), (16, None)):
        mesh = surface(8 * n, 4 * n, place)
        shell, p = shells(mesh, sheet(0.1, 210e9, 0.3)), mesh.points
        held, loads = np.repeat(near(p[:, :1], 0.0), 6, axis=1), {}
        for z in (1.0, -1.0):
            for at in np.flatnonzero(near(p[:, 0], 10.0) & near(p[:, 2], z)):
                part = 0.5 if near(np.abs(p[at, 1] - 0.5 * z), 0.5) else 1.0
                loads[int(at)] = [0.0, 60.0 * z * part / n, 0.0]  # a ten-thousandth: a linear problem
        u = deflections(shell, system(shell, held, loads))
        before, after = (node(p, 2.5 + side * 1.25 / n, 1.0, 1.0) for side in (-1, 1))
        stress = 1e4 * 210e9 * (u[after, 0] - u[before, 0]) / (2.5 / n)
        yield Row(f"quad, {n}", "σ_xx in Pa", -108e6, stress, within=limit)


@problem(SHELLS, "NAFEMS LE6, skew plate", source="NAFEMS: 0.802 MPa, largest principal stress below E", within=0.015)
def nafems_le6() -> Iterator[Row]:
    """Rhomb of 1 m a side at 30°, h = 1 cm, E = 210 GPa, ν = 0.3, 0.7 kPa, no deflection of its edges; E is its middle.
    Stresses still rise (0.809 MPa with 65 elements a side): the field is singular at the obtuse corners.
    """
    angle = np.deg2rad(30.0)
    for n, limit in ((9, np.inf), (17, 0.05), (33, None)):
        mesh = surface(n, n, lambda x, y: (x + y * np.cos(angle), y * np.sin(angle), 0.0 * x))
        shell = shells(mesh, sheet(0.01, 210e9, 0.3))
        weights = np.zeros(len(mesh.points))
        np.add.at(weights, mesh.cells["quad"], 0.25 * np.sin(angle) / n**2)
        held = np.tile([True, True, False, False, False, True], (len(weights), 1))
        at = np.arange((n + 1) ** 2).reshape(n + 1, n + 1)
        edge = np.unique(np.concatenate([at[0], at[-1], at[:, 0], at[:, -1]]))
        held[edge, 2] = True
        # A linear problem: a thousandth of the pressure, so that the deflection is small.
        loads = {int(at): [0.0, 0.0, -0.7 * weights[at]] for at in np.setdiff1d(np.arange(len(weights)), edge)}
        q = sx.equilibria.static_equilibrium(system(shell, held, loads), shell.points).state.q
        (forces,) = shell.section_forces(q).values()
        m11, m22, m12 = forces[len(forces) // 2, 3:6]
        stress = -6.0 / 0.01**2 * np.linalg.eigvalsh([[m11, m12], [m12, m22]])[0]
        yield Row(f"quad, {n} × {n}", "σ in Pa", 0.802e6, 1e3 * stress, within=limit)


@problem(
    SHELLS,
    "Pinched cylinder with diaphragms",
    source="Belytschko et al. (1985): 1.8248e-5 for a unit of force, by series",
    within=0.02,
)
def pinched_cylinder() -> Iterator[Row]:
    """R = 300, L = 600, h = 3, E = 3e6, ν = 0.3, an eighth in n × n elements. Elements of this kind converge slowly
    here: coarse meshes are shown, not judged.
    """
    for triangles, name in NAMES.items():
        for n in (4, 8, 16, 32):
            mesh = surface(
                n, n, lambda x, y: (300 * np.cos(0.5 * np.pi * x), 300 * y, 300 * np.sin(0.5 * np.pi * x)), triangles
            )
            p = mesh.points
            shell = shells(mesh, sheet(3.0, 3e6, 0.3), directors=p * [1.0, 0.0, 1.0])
            held = np.zeros((len(p), 6), bool)
            held[near(p[:, 1], 300.0)] |= np.array([1, 0, 1, 0, 1, 0], bool)
            for axis in range(3):
                held[near(p[:, axis], 0.0)] |= ACROSS[axis]
            top = node(p, 0.0, 0.0, 300.0)
            u = deflections(shell, system(shell, held, {top: [0.0, 0.0, -25.0]}))
            within = None if n == 32 else np.inf
            yield Row(name, f"deflection, {n} a side", 1.8248e-5, -0.01 * u[top, 2], within=within)


@problem(SHELLS, "Cook's membrane by shells", source="23.96 in the limit (Simo and Rifai, 1990)", within=0.01)
def cook_shells() -> Iterator[Row]:
    """A tapered panel of 48 × (44 to 16), E = 1, ν = 1/3, h = 1, under a shear of 1 on its short end: how far the
    middle of this end goes up, by a thousandth of the load. Triangles have constant membrane strains.
    """
    for triangles, name in NAMES.items():
        for n in (2, 4, 8, 16, 32):
            mesh = surface(n, n, lambda x, y: (48.0 * x, 44.0 * x + y * (44.0 - 28.0 * x), 0.0 * x), triangles)
            shell = shells(mesh, sheet(1.0, 1.0, 1.0 / 3.0))
            held = np.tile([False] * 2 + [True] * 4, (len(mesh.points), 1))
            held[near(mesh.points[:, 0], 0.0)] = True
            end = np.flatnonzero(near(mesh.points[:, 0], 48.0))
            parts = np.where((end == end[0]) | (end == end[-1]), 0.5, 1.0) / n
            forces = {int(at): [0.0, 1e-3 * part, 0.0] for at, part in zip(end, parts, strict=True)}
            u = deflections(shell, system(shell, held, forces))
            within = None if n >= (16 if not triangles else 64) else np.inf
            yield Row(name, f"deflection, {n} a side", 23.96, 1e3 * u[end[n // 2], 1], within=within)


@problem(SHELLS, "Scordelis–Lo roof", source="MacNeal and Harder (1985): 0.3024 by shells of this theory", within=0.01)
def scordelis_lo() -> Iterator[Row]:
    """A roof of 80°, R = 25, L = 50, h = 0.25, E = 4.32e8, ν = 0, on diaphragms, under 90 per area; a quarter in n × n
    elements, a hundredth of the weight: how far the middle of the free edge goes down.
    """
    a = np.deg2rad(40.0)
    for triangles, name in NAMES.items():
        for n in (4, 8, 16, 32):
            mesh = surface(n, n, lambda x, y: (25 * np.sin(a * x), 25 * y, 25 * np.cos(a * x)), triangles)
            p = mesh.points
            shell = shells(mesh, sheet(0.25, 4.32e8, 0.0, 360.0), directors=p * [1.0, 0.0, 1.0])
            held = np.zeros((len(p), 6), bool)
            held[near(p[:, 1], 25.0)] |= np.array([1, 0, 1, 0, 0, 0], bool)
            for axis in range(2):
                held[near(p[:, axis], 0.0)] |= ACROSS[axis]
            weight = sx.Gravity(shell.mass, (0.0, 0.0, -0.01))
            u = deflections(shell, system(shell, held, {}, weight=weight))
            within = None if n >= (8 if not triangles else 64) else np.inf
            edge = node(p, 25 * np.sin(a), 0.0, 25 * np.cos(a))
            yield Row(name, f"deflection, {n} a side", 0.3024, -100.0 * u[edge, 2], within=within)


@problem(
    SHELLS,
    "Twisted beam",
    source="MacNeal and Harder (1985), and of the thin one Belytschko et al. (1989): 5.424e-3, 1.754e-3; 5256, 1294",
    within=0.02,
)
def twisted_beam() -> Iterator[Row]:
    """A cantilever of 12 × 1.1, twisted by 90°, E = 29e6, ν = 0.22, with a force of 1 at its end, along the plate
    there and across it; 0.32 and 0.0032 thick, n × n/6 elements, and a part of the force.
    """

    def place(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, ...]:
        turn = 0.5 * np.pi * x
        return 12.0 * x, 1.1 * (y - 0.5) * np.cos(turn), 1.1 * (y - 0.5) * np.sin(turn)

    for h, part, targets in ((0.32, 1e-2, (5.424e-3, 1.754e-3)), (0.0032, 1e-6, (5256.0, 1294.0))):
        for triangles, name in NAMES.items():
            for n in (12, 24):
                mesh = surface(n, n // 6, place, triangles)
                shell = shells(mesh, sheet(h, 29e6, 0.22))
                held = np.zeros((len(mesh.points), 6), bool)
                held[near(mesh.points[:, 0], 0.0)] = True
                tip = np.flatnonzero(near(mesh.points[:, 0], 12.0))
                for axis, target in zip((2, 1), targets, strict=True):
                    forces = {}
                    for at in tip:
                        share = 0.5 if at in (tip[0], tip[-1]) else 1.0
                        forces[int(at)] = list(part * share / (len(tip) - 1) * np.eye(3)[axis])
                    u = deflections(shell, system(shell, held, forces))[tip[len(tip) // 2], axis] / part
                    way = "along" if axis == 2 else "across"
                    within = np.inf if (triangles and h > 0.1) or n == 12 else None
                    yield Row(f"{name}, {n} along", f"h = {h:g}, force {way}", target, u, within=within)


@problem(
    SHELLS,
    "Supported cross-ply plate",
    source="ω² = π⁴ (D₁₁ i⁴ + 2 (D₁₂ + 2 D₆₆) i² j² + D₂₂ j⁴)/ρh a⁴ (classical laminates)",
    within=0.03,
)
def cross_ply_plate() -> Iterator[Row]:
    """1 m, [0, 90, 0, 90, 0] plies of 1 mm, E₁ = 140 GPa, E₂ = 10 GPa, ν₁₂ = 0.3, G = 5, 5, 3.5 GPa, ρ = 1600 kg/m³."""
    carbon = Orthotropic(1.4e11, 1e10, 0.3, 5e9, 5e9, 3.5e9, 1600.0)
    laminate = ShellProperties.laminate([Ply(1e-3, carbon, 90.0 * (k % 2)) for k in range(5)])
    D = laminate.bending
    modes = [(i, j) for i in range(1, 5) for j in range(1, 5)]
    squares = [D[0, 0] * i**4 + 2 * (D[0, 1] + 2 * D[2, 2]) * i**2 * j**2 + D[1, 1] * j**4 for i, j in modes]
    exact = 0.5 * np.pi * np.sqrt(np.sort(squares)[:4] / laminate.mass)
    for triangles, name in NAMES.items():
        mesh = surface(16, 16, lambda x, y: (x, y, 0.0 * x), triangles)
        shell = shells(mesh, laminate)
        held = np.tile([True, True, False, False, False, True], (len(mesh.points), 1))
        for axis in range(2):
            held[near(np.abs(mesh.points[:, axis] - 0.5), 0.5), 2 : 4 + axis : 1 + axis] = True
        found = system(shell, held, {})
        for k, f in enumerate(sx.modes.natural_modes(found, found.state(shell.points), 4).frequencies):
            yield Row(f"{name}, 16 a side", f"f{k + 1} in Hz", exact[k], f)


@problem(SHELLS, "Supported square plate", source="ω = π² (i² + j²) √(D/ρh)/a²", within=0.04)
def supported_plate() -> Iterator[Row]:
    """1 m, h = 1 cm, E = 200 GPa, ν = 0.3, ρ = 8000 kg/m³; lumped masses."""
    h, E, nu, rho = 0.01, 2e11, 0.3, 8000.0
    waves = np.sort([i * i + j * j for i in range(1, 5) for j in range(1, 5)])[:5]
    exact = 0.5 * np.pi * waves * np.sqrt(E * h**2 / (12.0 * (1.0 - nu**2) * rho))
    for triangles, name in NAMES.items():
        for n in (8, 16):
            mesh = surface(n, n, lambda x, y: (x, y, 0.0 * x), triangles)
            shell = shells(mesh, sheet(h, E, nu, rho))
            held = np.tile([True, True, False, False, False, True], (len(mesh.points), 1))
            for axis in range(2):
                held[near(np.abs(mesh.points[:, axis] - 0.5), 0.5), 2 : 4 + axis : 1 + axis] = True
            found = system(shell, held, {})
            for k, f in enumerate(sx.modes.natural_modes(found, found.state(shell.points), 5).frequencies):
                yield Row(f"{name}, {n} a side", f"f{k + 1} in Hz", exact[k], f)


@problem(SHELLS, "Cantilever plate under end shear", source=f"{SZE}: table by S4R, 16 × 1", within=3e-3)
def plate_end_shear() -> Iterator[Row]:
    """10 × 1 × 0.1, E = 1.2e6, ν = 0, a force of up to 4 across its free end, 16 × 1 elements."""
    mesh = surface(16, 1, lambda x, y: (10.0 * x, y, 0.0 * x))
    shell = shells(mesh, sheet(0.1, 1.2e6, 0.0))
    held = np.zeros((len(mesh.points), 6), bool)
    held[near(mesh.points[:, 0], 0.0)] = True
    tip = np.flatnonzero(near(mesh.points[:, 0], 10.0))
    for part, shortening, deflection in ((0.25, 0.563, 3.015), (0.5, 1.604, 4.933), (1.0, 3.286, 6.698)):
        u = deflections(shell, system(shell, held, {int(at): [0.0, 0.0, 2.0 * part] for at in tip}))[tip[0]]
        yield Row(f"force {4.0 * part:g}", "shortening", shortening, -u[0])
        yield Row(f"force {4.0 * part:g}", "deflection", deflection, u[2])


@problem(SHELLS, "Pinched hemisphere, large deflections", source=f"{SZE}: 4.067 outward and 8.178 inward", within=0.03)
def hemisphere_large() -> Iterator[Row]:
    """The hemisphere with a hole under two forces of 400 along each diameter, n × n elements on a quarter."""
    for n in (16, 24):
        _, shell, held, (a, b) = hemisphere(n)
        u = deflections(shell, system(shell, held, {a: [200.0, 0.0, 0.0], b: [0.0, -200.0, 0.0]}))
        yield Row(f"{n} a side", "outward", 4.067, u[a, 0])
        yield Row(f"{n} a side", "inward", 8.178, -u[b, 1], within=0.05)


@problem(SHELLS, "Cylinder with free ends pulled apart", source=f"{SZE}: table by S4R, 16 × 24", within=0.02)
def cylinder_pulled() -> Iterator[Row]:
    """R = 4.953, L = 10.35, h = 0.094, E = 10.5e6, ν = 0.3125, two opposite forces of up to 40 000 in the middle,
    outward; an eighth in 16 × 24 elements.
    """
    a = 0.5 * np.pi
    mesh = surface(24, 16, lambda x, y: (4.953 * np.sin(a * x), 5.175 * y, 4.953 * np.cos(a * x)))
    p = mesh.points
    shell = shells(mesh, sheet(0.094, 10.5e6, 0.3125), directors=p * [1.0, 0.0, 1.0])
    held = np.zeros((len(p), 6), bool)
    for axis in range(3):
        held[near(p[:, axis], 0.0)] |= ACROSS[axis]
    top = node(p, 0.0, 0.0, 4.953)
    for part, deflection in ((0.1, 1.707), (0.3, 2.257), (0.5, 2.473), (1.0, 2.768)):
        u = deflections(shell, system(shell, held, {top: [0.0, 0.0, 1e4 * part]}))
        yield Row(f"force {4e4 * part:g}", "deflection under a force", deflection, u[top, 2])


@problem(
    SHELLS, "Cylinder under internal pressure", source="hoop force p R, radius R (1 + p R (1 − ν²)/E h)", within=6e-3
)
def pressed_cylinder() -> Iterator[Row]:
    """R = 1 m, h = 1 cm, E = 70 GPa, ν = 0.33, 1 MPa that follows the surface, ends that do not move along the axis; a
    quarter in n elements around.
    """
    h, E, nu, p, a = 0.01, 7e10, 0.33, 1e6, 0.5 * np.pi
    for triangles, name in NAMES.items():
        for n, limit in ((8, 6e-3), (16, 1.5e-3)):
            mesh = surface(n, 1, lambda x, y: (np.sin(a * x), 0.2 * y, np.cos(a * x)), triangles)
            shell = shells(mesh, sheet(h, E, nu, 2700.0), directors=mesh.points * [1.0, 0.0, 1.0])
            held = np.zeros((len(mesh.points), 6), bool)
            for axis in (0, 2):
                held[near(mesh.points[:, axis], 0.0)] |= ACROSS[axis]
            held[:, [1, 3, 5]] = True
            weights = np.zeros((len(mesh.points), len(shell.points)))
            np.put_along_axis(weights, shell.frames.nodes[:, :2], 0.5, axis=1)  # of the centres of nodes
            inside = sx.fem.Interpolation(weights).of_load(sx.actions.Pressure(mesh.cells, -p))
            frames = Frames(shell.frames.nodes, shell.points, held)
            pressed = sx.System(shell.mass, shell.energies, frames=frames, loads={"pressure": inside})
            found = sx.equilibria.static_equilibrium(pressed, shell.points)
            grown = np.linalg.norm(shell.frames.centers(found.state.q)[:, [0, 2]], axis=1) - 1.0
            forces = shell.section_forces(found.state.q)[name][:, :2]
            around = np.abs(shell.axes[name][:, 0, 1]) < 0.5  # whether axis 1 is the one around
            hoop = np.where(around, forces[:, 0], forces[:, 1])
            yield Row(f"{name}, {n} around", "hoop force in N/m", p, float(hoop.mean()), within=limit)
            exact = p * (1.0 - nu * nu) / (E * h)
            yield Row(f"{name}, {n} around", "growth in m", exact, float(grown.mean()), within=2.0 * limit)


@problem(
    SHELLS,
    "Snap-through of a hinged roof",
    source=f"{SZE}, by PENGoLINS, of B-splines: 0.693 at 0.0877 of the load; limit loads: 16 elements a side",
    within=0.025,
)
def roof_snaps_through() -> Iterator[Row]:
    """R = 2540, 508 long, ±0.1 rad, E = 3102.75, ν = 0.3, h = 12.7 and 6.35, hinged along its straight edges, a force
    of up to 3000 in its middle; a quarter in n × n elements, by arc length. The thin one snaps back as well. Limit
    loads of 8 elements a side are next to those of 16.
    """
    for h in (12.7, 6.35):
        found = {n: _roof_path(h, n) for n in (8, 16)}
        if h == 12.7:
            for n, (part, w) in found.items():
                at = float(np.interp(0.0877, part[:8], w[:8]))
                yield Row(f"h = {h}, {n} a side", "deflection at 0.0877 of the load", 0.693, at)
        for what, value, fine in zip(("upper", "lower"), *(_limits(*found[n]) for n in (8, 16)), strict=True):
            yield Row(f"h = {h}, 8 a side", f"{what} limit load", fine, value)


def _roof_path(h: float, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return parts of the load, and deflections in the middle, along the path of the hinged roof."""
    angle, R = 0.1, 2540.0
    mesh = surface(n, n, lambda x, y: (R * np.sin(angle * x), 254.0 * y, R * (np.cos(angle * x) - np.cos(angle))))
    p = mesh.points
    shell = shells(mesh, sheet(h, 3102.75, 0.3), directors=p * [1.0, 0.0, 1.0] + [0.0, 0.0, R * np.cos(angle)])
    held = np.zeros((len(p), 6), bool)
    for axis in range(2):
        held[near(p[:, axis], 0.0)] |= ACROSS[axis]
    held[near(p[:, 0], R * np.sin(angle)), :3] = True
    top = node(p, 0.0, 0.0, R * (1.0 - np.cos(angle)))
    loaded = system(shell, held, {top: [0.0, 0.0, -750.0]})
    path = sx.equilibria.equilibrium_path(loaded, shell.points, step=0.002, points=200)
    return path.part, np.array([p[top, 2] - shell.frames.centers(q)[top, 2] for q in path.q])


def _limits(part: np.ndarray, w: np.ndarray) -> list[float]:
    """Return the loads at which a path turns back, of parabolas through three points."""
    turns = [k for k in range(1, len(part) - 1) if (part[k] - part[k - 1]) * (part[k + 1] - part[k]) < 0.0]
    found = []
    for k in turns:
        s = np.array(
            [-np.hypot(w[k] - w[k - 1], part[k] - part[k - 1]), 0.0, np.hypot(w[k + 1] - w[k], part[k + 1] - part[k])]
        )
        a, b, c = np.polyfit(s, part[k - 1 : k + 2], 2)
        found.append(3000.0 * float(c - b * b / (4.0 * a)))
    return found


@problem(SHELLS, "Plate in free flight", source="laws of conservation", within=1e-12)
def free_plate() -> Iterator[Row]:
    """A square of 1 m in 4 × 4 distorted elements, 3 cm thick, E = 10 MPa, that spins by 6 rad/s and is bent by its
    velocities; 2000 steps of 5 ms by energy-momentum: relative changes. Round-off of positions of some metres is 1e-13
    of the distance of two particles, 1.7 cm.
    """
    for triangles, name in NAMES.items():
        mesh = surface(4, 4, distorted, triangles)
        shell = shells(mesh, sheet(0.03, 1e7, 0.3, 1000.0))
        free = sx.System(shell.mass, shell.energies, frames=shell.frames)
        spin = np.array([3.0, 5.0, 2.0])
        v = np.array([0.5, 0.1, -0.2]) + np.cross(spin, mesh.points - [0.5, 0.5, 0.0])
        v[:, 2] += 2.0 * np.sin(np.pi * mesh.points[:, 0])
        start = free.state(shell.points, shell.frames.velocities(shell.points, v, spin))
        end = sx.EnergyMomentum(5e-3).start(free, start).advance(10.0)
        energy = free.energies_of(start)["total"]
        yield Row(name, "energy", 0.0, free.energies_of(end)["total"] / energy - 1.0, scale=1.0, within=1e-11)
        for what, momentum in (("momentum", free.momentum), ("angular momentum", free.angular_momentum)):
            change = np.linalg.norm(momentum(end) - momentum(start)) / np.linalg.norm(momentum(start))
            yield Row(name, what, 0.0, float(change), scale=1.0)
        yield Row(
            name, "distance of two particles of a node", 0.0, shell.frames.distortion(end.q), scale=1.0, within=1e-11
        )
