"""Reduced bodies in any motion: few nodes, which all others follow by functions made of modes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import Annotated, Any, final

import numpy as np
from numpy.typing import NDArray

from symplex.base.arguments import checked
from symplex.base.files import damage_reported, read_arrays, write_atomic
from symplex.base.quantities import whole
from symplex.base.sparse import sp
from symplex.errors import InvalidSystem, MeshError, OutputError
from symplex.fem.assembly.nodes import Nodes, require_nodes
from symplex.fem.couplings.interpolation import Interpolation
from symplex.fem.energies.energy import Array, IntArray
from symplex.fem.solids.materials import LinearElastic
from symplex.fem.solids.solid import Solid
from symplex.fem.structures.corotational import CorotationalEnergy
from symplex.fem.system import System
from symplex.meshes.mesh import Mesh
from symplex.time.modes.reduced_body import files_of, shapes_of

_INDEPENDENT = 1e-6  # of the largest: what of a function others do not make up, below which it is left out
_ON_INTERFACE = 1e-7  # of the largest: what of an affine function on an interface others do not make up
_AT_REST = 1e-9  # of stiffness times size: forces where the body should have none
_IRRATIONAL = 0.6180339887498949
_WHO = "flexible_body"
SUFFIXES = (".npz", ".mat", ".mtx")
_ARRAYS = ("nodes", "frequencies", "functions", "mass", "stiffness", "gradients", "linear_mass", "linear_stiffness")


@final
@dataclass(frozen=True, eq=False)
class FlexibleBody:
    """A body as the motion of k of its nodes, x(X) = Σ φ_a(X) x_a, for small deformations and any rotation.

    The functions φ_a span 1, the coordinates X, and each component of the shapes of Craig and Bampton (static ones of
    rigid motions of interfaces, and fixed-interface modes), so that a motion that has such a shape in the rotating
    frame of the body is exactly one of its nodes. As φ_a is 1 at the node a and 0 at the others, nodes are material
    points, supports, joints and couplings hold them, the mass matrix is constant with exact momenta and inertia, and
    the energy (`CorotationalEnergy`) depends on their positions only. The idea is generalised component mode synthesis:
    Gerstmayr and Ambrósio, IJNME 73 (2008) 1518; Pechstein, Reischl and Gerstmayr, J. Comput. Nonlinear Dyn. 8 (2013)
    011019.

    Attributes
    ----------
    mesh : Mesh
        The whole body at rest.
    nodes : int32 [k]
        Those of the mesh that are kept.
    interfaces : dict of str to int32 [≤ 4]
        Of each interface those of the k nodes, by their places in `nodes`, that all its nodes follow.
    frequencies : float64 [m]
        Of the fixed-interface modes, in Hz.
    functions : float64 [n, k]
        φ_a at the nodes of the mesh.
    mass : float64 [k, k]
        In kg, the same for each direction.
    stiffness : float64 [3k, 3k]
        In N/m, of small displacements in the frame of the body.
    gradients : float64 [k, 3]
        Means of ∇φ_a over the volume, in 1/m.
    linear_mass, linear_stiffness : float64 [r, r]
        M and K of Craig and Bampton, for other programs: of three translations in m and three rotations in rad of each
        interface about the mean of its nodes, then of the modes. Empty without interfaces.
    moduli : mapping of str to float64 [m, 3]
        By type of volume cells, Young's modulus in Pa, Poisson's ratio and density in kg/m³ of each, where known.
    """

    mesh: Mesh
    nodes: IntArray
    interfaces: Mapping[str, IntArray]
    frequencies: Array
    functions: Array
    mass: Array
    stiffness: Array
    gradients: Array
    linear_mass: Array
    linear_stiffness: Array
    moduli: Mapping[str, Array]

    def __repr__(self) -> str:
        return (
            f"FlexibleBody({len(self.nodes)} of {len(self.mesh.points):,} nodes, {len(self.frequencies)} modes, "
            f"{len(self.interfaces)} interfaces)"
        )

    @property
    def points(self) -> Array:
        """The positions [k, 3] in m of its nodes at rest."""
        return self.mesh.points[self.nodes]

    @cached_property
    def interpolation(self) -> Interpolation:
        """How all nodes of the mesh follow the k nodes: for positions, velocities, probes, loads at points."""
        return Interpolation(self.functions)

    def energy(self, nodes: Nodes) -> CorotationalEnergy:
        """Return its energy in a system, of which its nodes are those with numbers [k]."""
        return CorotationalEnergy(nodes, self.points, self.stiffness, self.gradients)

    def system(self) -> System:
        """Return a system of the body alone."""
        return System(sp.csr_array(self.mass), {"body": self.energy(np.arange(len(self.nodes)))})

    def placed(self, rotation: Array, translation: Array) -> FlexibleBody:
        """Return the body rotated by R [3, 3] about the origin and translated by [3] in m."""
        turn = np.kron(np.eye(len(self.nodes)), rotation)
        n = 2 * len(self.interfaces)
        linear = np.eye(len(self.linear_mass))
        linear[: 3 * n, : 3 * n] = np.kron(np.eye(n), rotation)
        return replace(
            self,
            mesh=replace(self.mesh, points=self.mesh.points @ rotation.T + translation),
            stiffness=turn @ self.stiffness @ turn.T,
            gradients=self.gradients @ rotation.T,
            linear_mass=linear @ self.linear_mass @ linear.T,
            linear_stiffness=linear @ self.linear_stiffness @ linear.T,
        )

    def solids(self) -> dict[str, Solid]:
        """Return its elements, linear elastic, by type and material: for stresses of displacements in its frame."""
        found = {}
        for kind, moduli in self.moduli.items():
            for k, (young, poisson, density) in enumerate(np.unique(moduli, axis=0)):
                rows = (moduli == (young, poisson, density)).all(axis=1)
                law = LinearElastic.from_young(float(young), float(poisson), float(density))
                found[f"{kind} {k}"] = Solid(self.mesh.points, self.mesh.cells[kind][rows], law)
        return found

    # -- in files ---------------------------------------------------------------------------------------------------

    @checked
    def save(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write the body, and return the file.

        ``.npz``: all of it, for `read` and ``[[flexible_body]]``. ``.mat``: ``K``, ``M`` and the places ``P`` of
        interfaces, as the reduced order flexible solid of Simscape Multibody takes them. ``.mtx``: K and M in the
        format of MatrixMarket, as NAME-K.mtx and NAME-M.mtx.

        Raises
        ------
        OutputError
            If the name has another ending, a file is there, or interfaces are not of nodes that span a plane.
        """
        path = Path(path)
        files = files_of(path, SUFFIXES, overwrite)
        if path.suffix != ".npz":
            self._require_frames(path)
        for file, which in files.items():
            content = BytesIO()
            {".npz": self._write_npz, ".mat": self._write_mat, ".mtx": self._write_mtx}[path.suffix](content, which)
            write_atomic(file, content.getvalue())
        return next(iter(files))

    def _require_frames(self, path: Path) -> None:
        if not self.interfaces:
            raise OutputError(
                f"{path}: without interfaces there is nothing that another program could hold; give some."
            )
        thin = [name for name, places in self.interfaces.items() if len(places) < 3]
        if thin:
            raise OutputError(f"{path}: the nodes of interface '{thin[0]}' are on a line, which has no rotations.")

    @property
    def interface_places(self) -> Array:
        """The means [p, 3] in m of the nodes of each interface."""
        return np.array([self.mesh.points[self.mesh.nodes_of(name)].mean(axis=0) for name in self.interfaces])

    def _write_mat(self, content: BytesIO, which: str) -> None:
        from scipy.io import savemat

        values = {"K": self.linear_stiffness, "M": self.linear_mass, "P": self.interface_places}
        names = np.array(list(self.interfaces), dtype=object)
        savemat(content, {**values, "interfaces": names, "frequencies": self.frequencies}, do_compression=True)

    def _write_mtx(self, content: BytesIO, which: str) -> None:
        from scipy.io import mmwrite

        matrix = self.linear_stiffness if which == "K" else self.linear_mass
        places = "; ".join(
            f"{name} at {', '.join(f'{x:.9g}' for x in place)} m"
            for name, place in zip(self.interfaces, self.interface_places, strict=True)
        )
        comment = (
            f"Craig-Bampton: 3 translations (m), 3 rotations (rad) of {places}; then {len(self.frequencies)} modes"
        )
        text = comment.encode("ascii", "replace").decode()
        mmwrite(content, sp.coo_array(matrix), comment=text[:1000], symmetry="symmetric", precision=17)

    def _write_npz(self, content: BytesIO, which: str) -> None:
        mesh = self.mesh
        arrays: dict[str, Any] = {name: getattr(self, name) for name in _ARRAYS}
        kinds, cells = mesh.volume_types, dict(mesh.cells)
        names: dict[str, Any] = {"interfaces": list(self.interfaces), "cells": list(cells), "volumes": kinds}
        arrays |= {"points": mesh.points} | {f"cells_{k}": rows for k, rows in enumerate(cells.values())}
        arrays |= {f"moduli_{k}": self.moduli[kind] for k, kind in enumerate(kinds) if kind in self.moduli}
        arrays |= {f"interface_{k}": places for k, places in enumerate(self.interfaces.values())}
        groups = [(name, kind, rows) for name, of in mesh.cell_groups.items() for kind, rows in of.items()]
        groups += [(name, "", rows) for name, rows in mesh.point_groups.items()]
        names["groups"] = [[name, kind] for name, kind, _ in groups]
        arrays |= {f"group_{k}": rows for k, (_, _, rows) in enumerate(groups)}
        np.savez_compressed(content, names=np.array(json.dumps(names)), **arrays)

    @classmethod
    @checked
    def read(cls, path: str | Path) -> FlexibleBody:
        """Return a body that was written as .npz.

        Raises
        ------
        OutputError
            If the file cannot be read, or is none.
        """
        path = Path(path)
        with damage_reported(path, "flexible body", "reduce it again"):
            stored = read_arrays(path)
            names = json.loads(str(stored["names"]))
            cells = {kind: stored[f"cells_{k}"] for k, kind in enumerate(names["cells"])}
            moduli = {kind: stored[f"moduli_{k}"] for k, kind in enumerate(names["volumes"]) if f"moduli_{k}" in stored}
            interfaces = {name: stored[f"interface_{k}"] for k, name in enumerate(names["interfaces"])}
            of_cells: dict[str, dict[str, IntArray]] = {}
            of_points: dict[str, IntArray] = {}
            for k, (name, kind) in enumerate(names["groups"]):
                if kind:
                    of_cells.setdefault(name, {})[kind] = stored[f"group_{k}"]
                else:
                    of_points[name] = stored[f"group_{k}"]
            mesh = Mesh(stored["points"], cells, of_cells, of_points)
            found = {name: stored[name] for name in _ARRAYS}
            body = cls(mesh=mesh, interfaces=interfaces, moduli=moduli, **found)
            body._require_shapes()
        return body

    def _require_shapes(self) -> None:
        n, k, r = len(self.mesh.points), len(self.nodes), len(self.linear_mass)
        shapes = {"functions": (n, k), "mass": (k, k), "stiffness": (3 * k, 3 * k), "gradients": (k, 3)}
        shapes |= {"linear_mass": (r, r), "linear_stiffness": (r, r)}
        for name, shape in shapes.items():
            values = getattr(self, name)
            if values.shape != shape or values.dtype.kind != "f" or not np.isfinite(values).all():
                raise InvalidSystem(f"{name} must be finite numbers {shape}, got {values.shape}")
        require_nodes("the body", self.nodes, n)
        for name, places in self.interfaces.items():
            require_nodes(f"interface '{name}'", places, k)
        CorotationalEnergy(np.arange(k), self.points, self.stiffness, self.gradients)


@checked
def flexible_body(
    mesh: Mesh, system: System, interfaces: Sequence[str], n: Annotated[int, whole(0, 1000)]
) -> FlexibleBody:
    """Return a body reduced to its interfaces and n fixed-interface modes, that rotates and moves without limit.

    Parameters
    ----------
    mesh : Mesh
        Of the body alone.
    system : System
        Mass and energies of its nodes, without supports and loads, at rest at the points of the mesh.
    interfaces : sequence of str
        Groups of nodes that joints, couplings and supports hold; each moves as a rigid (or affinely stretched) body.
        Without any the modes are those of the free body.
    n : int
        How many modes.

    Raises
    ------
    InvalidSystem
        If the system is not one of the mesh, has other parts, or forces at rest.
    MeshError
        If there is no such group, or two interfaces share nodes.
    NoEquilibrium
        If parts of the body are loose, or modes are not found.
    """
    state = _at_rest(mesh, system)
    groups = [_interface(mesh, name, interfaces) for name in interfaces]
    every = np.concatenate([np.empty(0, np.int32), *groups])
    if len(np.unique(every)) < len(every):
        raise MeshError(f"{_WHO}: interfaces must not share nodes; {len(every) - len(np.unique(every))} are in two.")
    X = mesh.points - mesh.points.mean(axis=0)
    size = float(np.ptp(X, axis=0).max())
    given = np.zeros((3 * len(every), 6 * len(groups)))
    first = 0
    for k, nodes in enumerate(groups):
        rows = slice(3 * first, 3 * (first + len(nodes)))
        given[rows, 6 * k : 6 * k + 6] = _rigid(X[nodes] - X[nodes].mean(axis=0), size)
        first += len(nodes)
    motions, T, frequencies = shapes_of(_WHO, system, state, every, given, n)
    K, M = motions.matrix(motions.symmetric_stiffness), motions.mass[::3, ::3]
    functions, kept, places = _nodal(np.column_stack([np.ones(len(X)), X / size]), T, groups, M)
    mass = functions.T @ (M @ functions)
    n_nodes, k = functions.shape
    stiffness = np.empty((k, 3, k, 3))
    for a in range(k):  # one after the other, as all together would fill memory
        forces = K @ np.kron(functions[:, a : a + 1], np.eye(3))
        stiffness[:, :, a] = (functions.T @ forces.reshape(n_nodes, 9)).reshape(k, 3, 3)
    stiffness = stiffness.reshape(3 * k, 3 * k)
    motion = T.copy()  # whose rotations are by one radian
    motion[:, : 6 * len(groups)].reshape(len(T), -1, 6)[:, :, 3:] *= size
    linear = motion if groups else motion[:, :0]
    return FlexibleBody(
        mesh,
        kept,
        dict(zip(interfaces, places, strict=True)),
        frequencies,
        functions,
        _symmetric(mass),
        _symmetric(stiffness),
        functions.T @ _mean_gradients(mesh),
        _symmetric(linear.T @ (motions.mass @ linear)),
        _symmetric(linear.T @ (K @ linear)),
        _moduli(mesh, system),
    )


def _symmetric(matrix: NDArray[np.floating]) -> Array:
    return np.asarray(0.5 * (matrix + matrix.T), float)


def _moduli(mesh: Mesh, system: System) -> dict[str, Array]:
    """Return Young's modulus, Poisson's ratio and density of each volume cell, of types all of whose have one."""
    known: dict[bytes, tuple[float, float, float]] = {}
    for energy in system.energies.values():
        if isinstance(energy, Solid) and energy.material.isotropic:
            material = energy.material
            values = material.young, material.poisson, material.density
            known |= {row.tobytes(): values for row in np.ascontiguousarray(energy.nodes, np.int32)}
    found = {}
    for kind in mesh.volume_types:
        rows = [known.get(row.tobytes()) for row in np.ascontiguousarray(mesh.cells[kind], np.int32)]
        if all(one is not None for one in rows):
            found[kind] = np.array(rows, float)
    return found


def _at_rest(mesh: Mesh, system: System):
    """Return the state of a system that is a free body at rest in a mesh."""
    if system.dim != 3 or system.n_nodes != len(mesh.points):
        raise InvalidSystem(
            f"{_WHO}: the system must have the {len(mesh.points):,} nodes of the mesh in space, got "
            f"{system.n_nodes:,} in {system.dim} dimensions."
        )
    if system.frames or system.joints or system.loads or system.inelastic or system.fixed.any():
        raise InvalidSystem(f"{_WHO}: the system must be of elastic solids alone, without supports, loads and frames.")
    state = system.state(mesh.points)
    force = float(np.abs(system.gradient(mesh.points)).max())
    probe = np.zeros_like(mesh.points)
    probe[:, 0] = mesh.points[:, 0]
    stiff = float(np.abs(system.gradient(mesh.points + 1e-6 * probe)).max()) / 1e-6
    if not force <= _AT_REST * stiff:
        raise InvalidSystem(f"{_WHO}: the body must be without forces where the mesh is, got {force:.3g} N at a node.")
    return state


def _interface(mesh: Mesh, name: str, every: Sequence[str]) -> IntArray:
    if name not in mesh.groups:
        raise MeshError(f"{_WHO}: group '{name}' is not in the mesh; it has: {', '.join(mesh.groups) or 'none'}.")
    if list(every).count(name) > 1:
        raise MeshError(f"{_WHO}: interface '{name}' is given twice.")
    return mesh.nodes_of(name)


def _rigid(X: Array, size: float) -> Array:
    """Return the displacements [3b, 6] of translations and rotations of places X [b, 3] about their centre."""
    out = np.zeros((len(X), 3, 6))
    for i in range(3):
        out[:, i, i] = 1.0
        out[:, :, 3 + i] = np.cross(np.eye(3)[i], X) / size
    return out.reshape(-1, 6)


def _nodal(affine: Array, T: Array, groups: Sequence[IntArray], M) -> tuple[Array, IntArray, list[IntArray]]:
    """Return functions [n, k] that are 1 at one of k nodes each, these nodes, and the places of those of interfaces.

    They span affine functions and the components of shapes [3n, c]. Nodes are chosen by elimination with pivots, those
    of interfaces, whose functions are affine there, before the others.
    """
    from scipy.linalg import qr

    n = len(affine)
    shapes = T.reshape(n, 3, -1)
    norms = np.sqrt(np.einsum("nic,nic->c", shapes, (M @ shapes.reshape(n, -1)).reshape(shapes.shape)))
    shapes = shapes[:, :, norms > 0.0] / norms[norms > 0.0]
    weight = np.sqrt(M.diagonal())[:, None]
    weight = np.maximum(weight, 1e-3 * weight.max())  # of quadratic elements some lumped masses are nearly zero
    first = np.linalg.qr(weight * affine)[0]
    rest = weight * shapes.reshape(n, -1)
    for _ in range(2):
        rest = rest - first @ (first.T @ rest)
    left, values, _ = np.linalg.svd(rest, full_matrices=False)
    basis = np.column_stack([first, left[:, values > _INDEPENDENT * values.max(initial=0.0)]]) / weight
    # Of nodes alike by symmetry rounding would choose: they count as a little different, always in the same way.
    rows, chosen, places = basis * (1.0 + 1e-3 * (_IRRATIONAL * np.arange(n) % 1.0))[:, None], [], []
    inner = np.setdiff1d(np.arange(n), np.concatenate([np.empty(0, np.int32), *groups]))
    known = np.zeros((basis.shape[1], 0))
    for nodes in (*groups, inner):
        found = rows[nodes] - (rows[nodes] @ known) @ known.T
        found -= (found @ known) @ known.T
        Q, R, pivots = qr(found.T, mode="economic", pivoting=True)  # pyright: ignore
        size, rest = np.abs(np.diag(R)), basis.shape[1] - known.shape[1]
        rank = rest if nodes is inner else min(rest, int((size > _ON_INTERFACE * size.max(initial=0.0)).sum()))
        places.append(np.arange(len(chosen), len(chosen) + rank, dtype=np.int32))
        chosen += nodes[pivots[:rank]].tolist()
        known = np.column_stack([known, np.asarray(Q)[:, :rank]])
    functions = np.asarray(np.linalg.solve(basis[chosen].T, basis.T).T, float)
    return functions, np.array(chosen, np.int32), places[:-1]


def _mean_gradients(mesh: Mesh) -> Array:
    """Return the means [n, 3] in 1/m of the gradients of shape functions over the volume, as ∂V/∂x_a / V."""
    X = mesh.points - mesh.points.mean(axis=0)
    out = np.zeros_like(X)
    for kind, faces in mesh.boundary_faces.items():
        corners = faces[:, :4] if kind.startswith("quad") else faces[:, :3]
        for k in range(1, corners.shape[1] - 1):
            a, b, c = corners[:, 0], corners[:, k], corners[:, k + 1]
            for i, j, h in ((a, b, c), (b, c, a), (c, a, b)):
                np.add.at(out, i, np.cross(X[j], X[h]) / 6.0)
    return out / (np.einsum("ni,ni->", X, out) / 3.0)
