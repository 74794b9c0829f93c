"""What motions keep over long times."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import symplex as sx
from verification_manual.models import KINDS, Block
from verification_manual.problem import Row, problem

KEPT = "Conservation"


def _tumbling(block: Block) -> tuple[sx.System, sx.State]:
    """Return a free body that turns, drifts and is squeezed."""
    system = block.system(None, block.mass(consistent=False))
    X = block.points - block.points.mean(axis=0)
    v = np.cross([0.3, -0.2, 0.5], X) + 0.4 * X * [1.0, -1.0, 0.5] + [0.1, 0.0, 0.2]
    return system, system.state(block.points, v)


def _changes(system: sx.System, state: sx.State, method: sx.Integrator, t: np.ndarray) -> tuple[float, float, float]:
    """Return the largest changes of energy, momentum and angular momentum, the first by the energy of the start."""
    energy, p, L = system.energies_of(state)["total"], system.momentum(state), system.angular_momentum(state)
    found = np.zeros(3)
    for now in sx.march(system, method, state, t):
        here = [
            abs(system.energies_of(now)["total"] / energy - 1.0),
            np.abs(system.momentum(now) - p).max() / np.linalg.norm(p),
            np.abs(system.angular_momentum(now) - L).max() / np.linalg.norm(L),
        ]
        found = np.maximum(found, here)
    return tuple(found)


WHAT = ("energy", "momentum", "angular momentum")


@problem(KEPT, "Tumbling block of every element", source="energy and momenta of a free body", within=1e-11)
def tumbling_elements() -> Iterator[Row]:
    """One cell of 1 × 0.8 × 0.6, Mooney–Rivlin, large strains, energy–momentum, 50 steps of 0.1; relative changes."""
    for kind in KINDS:
        block = Block(kind, (1.0, 0.8, 0.6), (1, 1, 1), sx.MooneyRivlin(0.3, 0.2, 4.0, 1.0))
        found = _changes(*_tumbling(block), sx.EnergyMomentum(0.1), 0.1 * np.arange(51))
        for what, value in zip(WHAT, found, strict=True):
            yield Row(kind, f"change of {what}", 0.0, value, scale=1.0)


@problem(KEPT, "Tumbling block of every law", source="energy and momenta of a free body", within=1e-10)
def tumbling_laws() -> Iterator[Row]:
    """2 × 1 × 1 hexahedra of 1 × 0.8 × 0.6, large strains, energy–momentum, 50 steps of 0.1; relative changes. Linear
    elasticity is not objective and does not conserve angular momentum.
    """
    known = {("LinearElastic", "angular momentum"): np.inf}
    stiff = {"K": 4.0, "density": 1.0}
    laws = {
        "NeoHookean": sx.NeoHookean(3.0, 1.0, 1.0),
        "SaintVenantKirchhoff": sx.SaintVenantKirchhoff(3.0, 1.0, 1.0),
        "MooneyRivlin": sx.MooneyRivlin(0.3, 0.2, 4.0, 1.0),
        "LinearElastic": sx.LinearElastic(3.0, 1.0, 1.0),
        "isochoric-neo-hookean": sx.material("isochoric-neo-hookean", c10=0.5, **stiff),
        "yeoh": sx.material("yeoh", c10=0.5, c20=0.01, c30=0.01, **stiff),
        "gent": sx.material("gent", mu=1.0, Jm=20.0, **stiff),
        "arruda-boyce": sx.material("arruda-boyce", mu=1.0, N=8.0, **stiff),
        "blatz-ko": sx.material("blatz-ko", mu=1.0, density=1.0),
        "holzapfel-gasser-ogden": sx.material(
            "holzapfel-gasser-ogden", mu=1.0, k1=1.0, k2=0.5, fibres=(1, 0, 0), **stiff
        ),
    }
    for name, law in laws.items():
        block = Block("hexahedron", (1.0, 0.8, 0.6), (2, 1, 1), law)
        found = _changes(*_tumbling(block), sx.EnergyMomentum(0.1), 0.1 * np.arange(51))
        for what, value in zip(WHAT, found, strict=True):
            yield Row(name, f"change of {what}", 0.0, value, scale=1.0, within=known.get((name, what)))


@problem(
    KEPT,
    "Tumbling block by every method",
    source="energy and momenta",
    within=1e-10,
)
def tumbling_methods() -> Iterator[Row]:
    """2 × 1 × 1 hexahedra, neo-Hookean, 200 steps of 0.05; invariants that a method does not claim are not judged."""
    block = Block("hexahedron", (1.0, 0.8, 0.6), (2, 1, 1), sx.NeoHookean(3.0, 1.0, 1.0))
    system, state = _tumbling(block)
    for method in (
        sx.EnergyMomentum(0.05),
        sx.Midpoint(0.05),
        sx.Newmark(0.05),
        sx.Newmark.trapezoidal(0.05),
        sx.ZhangSkeel(0.05),
        sx.GeneralizedAlpha(0.05),
    ):
        found = _changes(system, state, method, 0.05 * np.arange(0, 201, 5))
        name = type(method).__name__ + (
            ", trapezoidal" if getattr(method, "beta", 0.0) == 0.25 and isinstance(method, sx.Newmark) else ""
        )
        for what, value in zip(WHAT, found, strict=True):
            kept = what in method.conserves
            yield Row(name, f"change of {what}", 0.0, value, scale=1.0, within=None if kept else np.inf)


@problem(
    KEPT,
    "L-shaped block",
    source="constant energy and momenta after loading (after Simo and Tarnow 1992)",
    within=1e-9,
)
def l_shaped_block() -> Iterator[Row]:
    """An L of 3 × 3 × 10 and 3 × 10 × 3 in hexahedra of 3, E = 50 046, ν = 0.3, ρ = 1000; end forces ±(150, 300,
    450)·f(t), f rising to 1 at 2.5 and back to 0 at 5; energy–momentum, steps of 0.1, evaluated from 5 to 25.
    """
    full = sx.box((3.0, 9.0, 9.0), (1, 3, 3), split="hexahedra")
    cells = full.cells["hexahedron"]
    centre = full.points[cells].mean(axis=1)
    cells = cells[(centre[:, 1] < 3.0) | (centre[:, 2] < 3.0)]
    used, cells = np.unique(cells, return_inverse=True)
    points, cells = full.points[used], cells.reshape(-1, 8).astype(np.int32)
    law = sx.NeoHookean.from_young(50046.0, 0.3, 1000.0)
    mass = sx.lumped_mass(points, cells, 1000.0, len(points))
    pull = np.array([150.0, 300.0, 450.0])

    def history(t: float) -> float:
        return float(np.interp(t, [0.0, 2.5, 5.0], [0.0, 1.0, 0.0]))

    ends = {"one": np.flatnonzero(points[:, 2] == 9.0), "other": np.flatnonzero(points[:, 1] == 9.0)}
    loads = {
        name: sx.actions.NodalLoad(nodes, sign * 40.0 * pull / len(nodes), history)
        for sign, (name, nodes) in zip((1.0, -1.0), ends.items(), strict=True)
    }
    system = sx.System(mass, {"solid": sx.Solid(points, cells, law)}, loads=loads)
    motion = sx.EnergyMomentum(0.1).start(system, system.state(points))
    after = motion.advance(5.0)
    energy, L = system.energies_of(after)["total"], system.angular_momentum(after)
    changes = np.zeros(3)
    for t in np.arange(6.0, 26.0):
        now = motion.advance(t)
        changes = np.maximum(
            changes,
            [
                abs(system.energies_of(now)["total"] / energy - 1.0),
                np.abs(system.momentum(now)).max() / (mass.sum() * np.abs(now.v).max()),
                np.abs(system.angular_momentum(now) - L).max() / np.linalg.norm(L),
            ],
        )
    for what, value in zip(WHAT, changes, strict=True):
        yield Row("EnergyMomentum", f"change of {what}", 0.0, value, scale=1.0)


@problem(
    KEPT,
    "Two particles over a thousand orbits",
    source="exact: energy and angular momentum; symplectic methods do not drift",
    within=1e-9,
)
def long_orbit() -> Iterator[Row]:
    """Eccentricity e = 0.3, a = 1: 1000 periods of 200 steps. Energy drift: means of the last and first ten periods."""
    bars = sx.Bars([[0, 1]], sx.measures.InverseDistance(1.0), dim=2)
    system = sx.System(np.ones(2), {"pair": bars}, dim=2, fixed=np.array([[True, True], [False, False]]))
    start = system.state([[0.0, 0.0], [0.7, 0.0]], [[0.0, 0.0], [0.0, np.sqrt(1.3 / 0.7)]])
    dt = 2.0 * np.pi / 200
    for method, limit in (
        (sx.Newmark(dt), 1e-6),
        (sx.EnergyMomentum(dt), None),
        (sx.Composition(sx.Newmark(dt), 4), 1e-9),
    ):
        motion = method.start(system, start)
        means, momenta = [], []
        for first in (0, 990):
            states = [motion.advance((first + k / 20.0) * 2.0 * np.pi) for k in range(1, 201)]
            means.append(np.mean([system.energies_of(s)["total"] for s in states]))
            momenta.append(float(np.ravel(system.angular_momentum(states[-1]))[-1]))
        name = type(method).__name__ + (" of order 4" if isinstance(method, sx.Composition) else "")
        yield Row(name, "drift of the energy", 0.0, means[1] / means[0] - 1.0, scale=1.0, within=limit)
        yield Row(name, "angular momentum", np.sqrt(1.3 * 0.7), momenta[1])


@problem(
    KEPT,
    "Oblique impact by force-stepping",
    source="constant kinetic energy + interpolated potential (Gonzalez, Schmidt and Ortiz 2010, section 6.3)",
    within=1e-10,
)
def oblique_impact() -> Iterator[Row]:
    """A 0.1 m aluminium cube, 1000 m/s along each axis, hits a rigid wall; 60 µs, lattice of 0.5 mm. Force-stepping
    does not conserve momenta exactly.
    """
    mesh = sx.cube_mesh("I", size=0.1)
    aluminium = sx.NeoHookean(lmbda=60.5e9, mu=26e9, density=2700.0)
    wall = sx.HalfSpace(point=(0.101, 0.101, 0.101), normal=(0, -1, -1), normalize=False)
    cells = mesh.cells["tetra"]
    energies = {
        "strain": sx.Solid(mesh.points, cells, aluminium),
        "wall": sx.RigidContact.from_penalty(mesh.boundary_nodes, wall, penalty=1e-14),
    }
    mass = sx.lumped_mass(mesh.points, cells, 2700.0, len(mesh.points))
    system = sx.System(mass, energies)
    motion = sx.ForceStepping(grid=5e-4).start(system, system.state(mesh.points, v=(1000.0, 1000.0, 1000.0)))
    totals, along = [], []
    for t in np.linspace(0.0, 60e-6, 31):
        state = motion.advance(t)
        totals.append(motion.energies(state)["lattice_total"])
        along.append(system.momentum(state)[0] / mass.sum())
    yield Row("ForceStepping", "change of the total energy", 0.0, np.ptp(totals) / totals[0], scale=1.0)
    yield Row("ForceStepping", "mean velocity along the wall in m/s", 1000.0, along[-1], within=1e-2)
