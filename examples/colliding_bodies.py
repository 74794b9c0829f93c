"""What the examples of contact between bodies share: shapes, systems of bodies, what is kept in a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import process_time
from typing import Any

import numpy as np

import symplex as sx
from symplex.contact import BodyContact, Friction, Surface

Array = np.ndarray
_CORNERS = np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)])


def lattice(counts: Sequence[int], place: Callable[[Array], Array], closed: bool = False) -> sx.Mesh:
    """Return nx × ny × nz hexahedra, their nodes where `place` puts points [n, 3] of the unit cube."""
    shape = np.add(counts, (0 if closed else 1, 1, 1))
    nodes = np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"), axis=-1).reshape(-1, 3)
    cells = np.stack(np.meshgrid(*map(np.arange, counts), indexing="ij"), axis=-1).reshape(-1, 1, 3) + _CORNERS
    index = np.ravel_multi_index(np.moveaxis(cells % shape, -1, 0), shape)
    return sx.Mesh(place(nodes / np.array(counts)), {"hexahedron": index.astype(np.int32)})


def ring(
    radius: float, thickness: float, counts: tuple[int, int], length: float = 0.0, roundness: float = 0.7
) -> sx.Mesh:
    """Return a ring about z, or a link of a chain with straight parts of a length along x.

    Its cross section has counts[1]² elements: a square of the given thickness at a roundness of 0, a disc at 1.
    """

    def place(u: Array) -> Array:
        angle, (y, z) = 2.0 * np.pi * u[:, 0], 2.0 * u[:, 1:].T - 1.0
        y, z = y * np.sqrt(1.0 - 0.5 * roundness * z**2), z * np.sqrt(1.0 - 0.5 * roundness * y**2)
        r = radius - 0.5 * thickness * y
        x = r * np.cos(angle)
        return np.column_stack(
            [x + 0.5 * length * np.clip(np.cos(angle) * 4.0, -1.0, 1.0), r * np.sin(angle), 0.5 * thickness * z]
        )

    return lattice((counts[0], counts[1], counts[1]), place, closed=True)


def ball(radius: float, core: int, shells: int, grading: float = 0.0) -> sx.Mesh:
    """Return a ball: a cube of core³ elements, and shells between it and the sphere.

    Elements get smaller towards the sphere, and on it towards the six poles, with a grading between 0 and 1.
    """

    def place(u: Array) -> Array:
        x = 2.0 * u - 1.0
        return 0.45 * radius * ((1.0 - grading) * x + grading * x**3)

    cube = lattice((core,) * 3, place)
    points, quads = cube.points, cube.boundary_faces["quad"]
    outer, on = np.unique(quads, return_inverse=True)
    on = on.reshape(quads.shape)
    x = points[outer] / (0.45 * radius)
    y = np.tan(0.25 * np.pi * x)
    sphere = radius * y / np.linalg.norm(y, axis=1, keepdims=True)
    layers, cells, under = [points], [cube.cells["hexahedron"]], outer
    for k in range(1, shells + 1):
        t = 1.0 - (1.0 - k / shells) ** (1.0 + grading)
        above = len(points) + (k - 1) * len(outer) + np.arange(len(outer))
        layers.append((1.0 - t) * points[outer] + t * sphere)
        cells.append(np.hstack([under[on], above[on]]))
        under = above
    return sx.Mesh(np.vstack(layers), {"hexahedron": np.vstack(cells).astype(np.int32)})


def placed(mesh: sx.Mesh, at: Sequence[float], turned: Array | None = None) -> sx.Mesh:
    """Return a mesh turned by a matrix [3, 3] and moved."""
    points = mesh.points if turned is None else mesh.points @ turned.T
    return sx.Mesh(points + np.array(at), mesh.cells)


@dataclass(frozen=True)
class Bodies:
    """Bodies that may touch, at their start."""

    mesh: sx.Mesh
    solid: sx.Solid
    contact: BodyContact
    system: sx.System
    start: sx.State

    def mean_velocity(self, name: str, state: sx.State) -> Array:
        """Return the velocity [3] of the centre of a body in m/s."""
        nodes, mass = self.mesh.nodes_of(name), np.asarray(self.system.mass)
        return mass[nodes] @ state.v[nodes] / mass[nodes].sum()


def bodies(
    parts: Mapping[str, sx.Mesh],
    material: sx.NeoHookean,
    motion: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    energies: Callable[[sx.Mesh, Array], Mapping[str, sx.Energy]] | None = None,
    fixed: Callable[[sx.Mesh], Array] | None = None,
    loads: Callable[[sx.Mesh, sx.Solid, Array], Mapping[str, Any]] | None = None,
    friction: float = 0.0,
    **contact: Any,
) -> Bodies:
    """Return bodies of one material and kind of cells, with velocities in m/s and spins in rad/s by name.

    They rub on each other with a coefficient of friction, with a smoothing speed of 1 cm/s.
    """
    mesh = sx.merge(parts)
    cells, points = next(iter(mesh.cells.values())), mesh.points
    solid = sx.Solid(points, cells, material, formulation="full")
    between = BodyContact.from_materials(Surface.of(mesh, list(parts)), material, **contact)
    between.check_start(points)
    mass = sx.lumped_mass(points, cells, material.density, len(points))
    more = energies(mesh, mass) if energies else {}
    forces = dict(loads(mesh, solid, mass)) if loads else {}
    if friction:
        forces["friction"] = Friction(between, friction, slip_speed=0.01)
    potentials = {"solid": solid, "contact": between, **more}
    system = sx.System(mass, potentials, fixed=fixed(mesh) if fixed else None, loads=forces)
    v = np.zeros_like(points)
    for name, (velocity, spin) in motion.items():
        nodes = mesh.nodes_of(name)
        v[nodes] = np.array(velocity) + np.cross(spin, points[nodes] - mass[nodes] @ points[nodes] / mass[nodes].sum())
    return Bodies(mesh, solid, between, system, system.state(points, v))


@dataclass
class Run:
    """What is kept in a run: changes relative to the largest part of the energy, Σ m |v| and Σ m |x × v|."""

    dt: float
    free: bool  # of outer forces
    states: list[sx.State] = field(default_factory=list)
    energies: dict[str, list[float]] = field(default_factory=dict)
    energy: float = 0.0
    momentum: float = 0.0
    angular_momentum: float = 0.0
    seconds: float = 0.0
    statistics: dict[str, float] = field(default_factory=dict)

    @property
    def end(self) -> sx.State:
        """The last state."""
        return self.states[-1]

    @property
    def corrections(self) -> float:
        """Corrections per step."""
        return self.statistics.get("corrections", 0) / max(self.statistics["steps"], 1)

    def numbers(self) -> dict[str, float]:
        """Return what is kept, for a file."""
        momenta = {
            "relative change of momentum": self.momentum,
            "relative change of angular momentum": self.angular_momentum,
        }
        return {
            "dt [s]": self.dt,
            "relative change of energy": self.energy,
            **(momenta if self.free else {}),
            "corrections per step": round(self.corrections, 2),
            "halved steps": self.statistics.get("halved", 0),
            "processor time [s]": round(self.seconds, 2),
        }


def follow(of: Bodies, integrator: Any, end: float, looks: int) -> Run:
    """Follow bodies to the time end in s, with so many looks at them."""
    system = of.system
    method = integrator.fit(system, of.start, end / looks)
    free = not (system.loads or np.any(system.fixed) or "weight" in system.energies)
    run, momenta, moments = Run(method.dt, free), [], []
    began = process_time()
    motion = method.start(system, of.start)
    for look in range(looks + 1):
        state = motion.advance(look * end / looks)
        run.states.append(state)
        for name, value in motion.energies(state).items():
            run.energies.setdefault(name, []).append(value)
        momenta.append(system.momentum(state))
        moments.append(system.angular_momentum(state))
    run.seconds, run.statistics = process_time() - began, dict(motion.statistics())
    mass, total = np.asarray(system.mass), np.array(run.energies["balance" if system.loads else "total"])
    size = mass @ np.linalg.norm(of.start.v, axis=1)
    arm = mass @ np.linalg.norm(np.cross(of.start.q, of.start.v), axis=1)
    scale = max(np.ptp(values) for name, values in run.energies.items() if name != "total")
    run.energy = float(np.ptp(total) / max(scale, max(run.energies["kinetic"])))
    run.momentum = float(np.abs(np.array(momenta) - momenta[0]).max() / max(size, 1e-300))
    run.angular_momentum = float(np.abs(np.array(moments) - moments[0]).max() / max(arm, 1e-300))
    return run
