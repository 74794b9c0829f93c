"""Loads: constant ones, which have a potential, and those given as functions of time."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symplex.base.arguments import checked
from symplex.base.representation import Described
from symplex.base.sparse import sp
from symplex.errors import InvalidSystem
from symplex.fem.actions.faces import area_normals, face_parts, face_table
from symplex.fem.actions.histories import Constant, Factor, History, factor_of, finite_numbers
from symplex.fem.actions.load_loops import DEAD, PRESSURE, DeadRecord, PressureRecord
from symplex.fem.actions.looped_load import CompiledLoad, LoopedLoad
from symplex.fem.actions.mass import nodal_masses, require_points
from symplex.fem.assembly.nodes import Nodes, distinct_nodes, require_nodal, require_nodes
from symplex.fem.energies.energy import Array, Energy, IntArray, LatticeFunctions

# -- with a potential ----------------------------------------------------------------------------------------


class DeadLoad(Energy):
    """Constant forces on nodes, φ = −f·x: gravity, or given forces.

    Attributes
    ----------
    nodes : int32 [m, 1]
    forces : float64 [m, dim]
        In N.
    """

    @property
    @abstractmethod
    def forces(self) -> Array:
        """The forces [m, dim] in N."""

    def value(self, x: Array) -> Array:
        """Return −f·x [m] in J at the positions x [m, 1, dim]."""
        return -np.einsum("mi,mi->m", self.forces, x[:, 0])

    def gradient(self, x: Array) -> Array:
        """Return −f [m, 1, dim] in N."""
        return -self.forces[:, None]

    def hessian(self, x: Array) -> Array:
        """Return zeros [m, dim, dim]."""
        return np.zeros((len(x), x.shape[2], x.shape[2]))

    def discrete_gradient(self, x0: Array, x1: Array) -> Array:
        """Return −f [m, 1, dim] in N: φ is linear."""
        return self.gradient(x1)

    def discrete_hessian(self, x0: Array, x1: Array) -> Array:
        """Return zeros [m, dim, dim]."""
        return self.hessian(x1)

    def third(self, x: Array, a: Array) -> Array:
        """Return zeros [m, 1, dim]."""
        return np.zeros_like(x)

    def add_hessian(self, q: Array, slots: IntArray, out: Array) -> None:
        """Add nothing."""

    def add_hessian_product(self, q: Array, a: Array, out: Array) -> None:
        """Add nothing."""

    def add_discrete_hessian(self, q0: Array, q1: Array, slots: IntArray, out: Array) -> None:
        """Add nothing."""

    def is_divisible(self, dim: int) -> bool:
        """Return that forces of some nodes can be taken alone."""
        return True

    def of_some(self, chosen: NDArray[np.integer], nodes: IntArray) -> NodalForce:
        """Return chosen forces [s] on nodes [s, 1] that have other numbers."""
        return NodalForce(nodes[:, 0], self.forces[chosen])

    def lattice_functions(self, axes: Array | None = None) -> LatticeFunctions:
        """Return compiled differences of one node's energy, for force-stepping."""
        from symplex.fem.actions.lattice_loads import dead_load_lattice  # compiled when first needed

        return dead_load_lattice(self.forces if axes is None else self.forces @ axes.T)


@checked
@final
class Gravity(DeadLoad):
    """Weight, φ = −m a·x for each node.

    Parameters
    ----------
    mass : float64 [n] or sparse [n, n]
        Nodal masses in kg, or the consistent mass matrix. In motions that of the system, so that free fall leaves no
        stress; for equilibria of quadratic elements the consistent one.
    acceleration : float64 [dim]
        In m/s², for example (0, 0, −9.81).

    Raises
    ------
    InvalidSystem
        If the acceleration is not finite, or masses are not those of nodes.
    """

    def __init__(self, mass: Array | sp.csr_array, acceleration: ArrayLike):
        self.acceleration = finite_numbers("Gravity: acceleration", acceleration)
        lumped = nodal_masses("Gravity", mass)
        self.nodes = np.arange(len(lumped), dtype=np.int32)[:, None]
        self._forces = lumped[:, None] * self.acceleration

    @property
    def forces(self) -> Array:
        """The weights [n, dim] in N."""
        return self._forces


@checked
@final
class NodalForce(DeadLoad):
    """Constant forces on some nodes.

    Parameters
    ----------
    nodes : int [m]
        Indices without repetition.
    force : float64 [dim] or [m, dim]
        The force in N on each of them.

    Raises
    ------
    InvalidSystem
        If a node is named twice or sizes do not fit.
    """

    def __init__(self, nodes: Nodes, force: ArrayLike):
        flat = distinct_nodes("NodalForce", nodes)
        self.nodes = flat[:, None]
        self._forces = _per_node("NodalForce", flat, force)

    @property
    def forces(self) -> Array:
        """The forces [m, dim] in N."""
        return self._forces


# -- functions of time ---------------------------------------------------------------------------------------


class ProportionalLoad(CompiledLoad, Described):
    """Forces on some nodes that change with time but keep their direction, f(t) = factor(t) · forces.

    Attributes
    ----------
    nodes : int32 [m]
    forces : float64 [m, dim]
        In N.
    factor : Factor
        A function of t in s.
    """

    kernels: ClassVar = DEAD

    @abstractmethod
    def __init__(self, nodes: IntArray, forces: Array, history: History):
        self.nodes = nodes
        self.forces = forces
        self.factor = factor_of(history)
        self._least_nodes = int(nodes.max(initial=-1)) + 1

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """Return the nodal forces [n, dim] in N."""
        require_nodal(self, "positions have", q, self._least_nodes, self.forces.shape[1])
        out = np.zeros_like(q)
        out[self.nodes] = self.factor(t) * self.forces
        return out

    @property
    def history(self) -> Factor | None:
        """The factor, if it changes."""
        return _changing(self.factor)

    @property
    def record(self) -> DeadRecord:
        """What the kernel reads."""
        forces = np.ascontiguousarray(_constant_part(self.factor) * self.forces, float)
        return DeadRecord(nodes=np.ascontiguousarray(self.nodes[:, None], np.int32), forces=forces)


@checked
@final
class NodalLoad(ProportionalLoad):
    """Forces on some nodes that change with time, f(t) = factor(t) · force.

    Parameters
    ----------
    nodes : int [m]
        Indices without repetition.
    force : float64 [dim] or [m, dim]
        In N on each of them.
    history : float, callable or (times, factors)
        The factor: constant, a function of t in s, or a table that is interpolated linearly and keeps its first
        and last value outside.

    Raises
    ------
    InvalidSystem
        If a node is named twice, sizes do not fit, or the table is not in order.
    """

    def __init__(self, nodes: Nodes, force: ArrayLike, history: History = 1.0):
        flat = distinct_nodes("NodalLoad", nodes)
        super().__init__(flat, _per_node("NodalLoad", flat, force), history)


@checked
@final
class SurfaceTraction(ProportionalLoad):
    """A traction on reference faces that keeps its direction (dead), F_a(t) = factor(t) ∫ N_a dA · traction.

    Parameters
    ----------
    points : float64 [n, 3]
        Undeformed positions in m.
    faces : int [f, k], or mapping of str to such
        Triangles (k = 3 or 6), quadrilaterals (4, 8 or 9), or all by cell type (`Mesh.boundary_faces`).
    traction : float64 [3]
        Force per undeformed area in Pa.
    history : float, callable or (times, factors)
        As for `NodalLoad`.

    Raises
    ------
    InvalidSystem
        If there are no faces, sizes do not fit, or the table is not in order.
    """

    def __init__(
        self,
        points: Array,
        faces: Nodes | Mapping[str, IntArray],
        traction: ArrayLike,
        history: History = 1.0,
    ):
        traction = finite_numbers("SurfaceTraction: traction", traction)
        if len(traction) != 3:
            raise InvalidSystem(f"SurfaceTraction: the traction has {len(traction)} components, expected 3.")
        require_points("SurfaceTraction", points)
        areas = np.zeros(len(points))
        for cells in face_parts("SurfaceTraction", faces):
            require_nodes("SurfaceTraction", cells, len(points))
            shape, normals = area_normals(np.asarray(points, float), cells)
            local = np.einsum("ga,fg->fa", shape, np.linalg.norm(normals, axis=2))
            np.add.at(areas, cells, local)
        loaded = np.flatnonzero(areas).astype(np.int32)
        super().__init__(loaded, areas[loaded, None] * traction, history)


@checked
@final
class Pressure(LoopedLoad, Described):
    """A pressure on faces that turns and grows with them (follower), F_a = −p(t) ∫ N_a n da.

    Its derivative is not symmetric but for faces that close a surface, or end where nodes are fixed.

    Parameters
    ----------
    faces : int [f, k], or mapping of str to such
        Triangles (k = 3 or 6), quadrilaterals (4, 8 or 9), or all by cell type, numbered so that their normals point
        out of the body (`Mesh.boundary_faces`).
    pressure : float
        In Pa; positive pushes into the body.
    history : float, callable or (times, factors)
        As for `NodalLoad`.

    Attributes
    ----------
    nodes : int32 [m, k]
        Of all faces; of those with fewer nodes than others the first one is there again.

    Raises
    ------
    InvalidSystem
        If there are no faces, or the table is not in order.
    """

    kernels: ClassVar = PRESSURE

    def __init__(self, faces: Nodes | Mapping[str, IntArray], pressure: float, history: History = 1.0):
        self.faces = face_parts("Pressure", faces)
        self.pressure = float(finite_numbers("Pressure: pressure", [pressure])[0])
        self.factor = factor_of(history)
        most = max(part.shape[1] for part in self.faces)
        padded = [np.hstack([part, np.repeat(part[:, :1], most - part.shape[1], axis=1)]) for part in self.faces]
        self.nodes = np.ascontiguousarray(np.vstack(padded), np.int32)

    @property
    def history(self) -> Factor | None:
        """The factor, if it changes."""
        return _changing(self.factor)

    def require_dimension(self, dim: int) -> None:
        """Raise `InvalidSystem` if it is not space."""
        if dim != 3:
            raise InvalidSystem(f"Pressure: faces are in space, but positions have {dim} components.")

    @property
    def record(self) -> PressureRecord:
        """What the kernels read."""
        tables, at, counts = [], [], []
        for cells in self.faces:
            table = face_table(cells.shape[1])
            at.append(np.full(len(cells), sum(map(len, tables)), np.int32))
            counts.append(np.full(len(cells), cells.shape[1], np.int32))
            tables.append(table)
        return PressureRecord(
            nodes=self.nodes,
            tables=np.concatenate(tables),
            at=np.concatenate(at),
            counts=np.concatenate(counts),
            pressure=_constant_part(self.factor) * self.pressure,
        )


def _changing(factor: Factor) -> Factor | None:
    """Return a factor if it may change with time."""
    return None if isinstance(factor, Constant) else factor


def _constant_part(factor: Factor) -> float:
    """Return what a factor always is, 1 if it may change with time."""
    return factor.factor if isinstance(factor, Constant) else 1.0


# -- input ---------------------------------------------------------------------------------------------------


def _per_node(owner: str, nodes: IntArray, force: ArrayLike) -> Array:
    array = np.array(force, dtype=float)
    if not np.all(np.isfinite(array)):
        raise InvalidSystem(f"{owner}: the force must be finite; it is {force}.")
    if array.ndim == 1:
        return np.tile(array, (len(nodes), 1))
    if array.ndim != 2 or len(array) != len(nodes):
        raise InvalidSystem(
            f"{owner}: forces have shape {array.shape}, expected one row for each of {len(nodes)} nodes."
        )
    return array
