"""Reduced bodies by the method of Craig and Bampton: constraint modes of the boundary, and fixed-interface modes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, final

import numpy as np

from symplex.base.arguments import checked
from symplex.base.files import damage_reported, read_arrays, write_atomic
from symplex.base.quantities import whole
from symplex.base.sparse import sp
from symplex.errors import InvalidSystem, NoEquilibrium, OutputError
from symplex.fem.assembly.nodes import Nodes, distinct_nodes, require_nodes
from symplex.fem.couplings.equations import LinearConstraints
from symplex.fem.energies.energy import Array, IntArray
from symplex.fem.system import State, System
from symplex.time.modes.natural import natural_modes
from symplex.time.modes.small_motions import SmallMotions

_MOST_BOUNDARY = 3000  # coordinates, whose matrix is full
_ROUNDING = 1e-10  # of the largest stiffness, below which a motion of the boundary is rigid
_LEFT = 1e-6  # of the largest mass that modes leave, which is not worth a mode
_BEYOND = 2.0  # times the highest frequency: of what mass modes leave
_SUFFIXES = (".npz", ".mtx")


@final
@dataclass(frozen=True)
class ReducedBody:
    """A body as its boundary and some modes: u = T [u_b, η], with M and K of [u_b, η].

    K = [[K_bb, 0], [0, ω²]] with the stiffness K_bb that the boundary has statically, M = [[M_bb, M_bm], [M_mb, 1]].

    Attributes
    ----------
    boundary : int32 [b]
        Its nodes in the whole body.
    points : float64 [b, dim]
        Where they are at the state, in m.
    frequencies : float64 [m]
        Of the fixed-interface modes, in Hz.
    stiffness, mass : float64 [r, r]
        K in N/m and M in kg of r = b·dim + m coordinates; those of modes in units of kg^(1/2) m.
    transformation : float64 [n·dim, r]
        T.
    own_mass : float64 [b]
        Of the boundary nodes themselves, in kg; with a consistent mass the least that they can have.
    """

    boundary: IntArray
    points: Array
    frequencies: Array
    stiffness: Array
    mass: Array
    transformation: Array
    own_mass: Array

    def __repr__(self) -> str:
        return f"ReducedBody({len(self.boundary)} boundary nodes, {len(self.frequencies)} modes)"

    @property
    def dim(self) -> int:
        """The dimension of space."""
        return self.points.shape[1]

    def expanded(self, coordinates: Array) -> Array:
        """Return the displacements [n, dim] in m of the whole body, of coordinates [r].

        Raises
        ------
        InvalidSystem
            If there are others.
        """
        x = np.asarray(coordinates, float)
        if x.shape != (len(self.stiffness),):
            raise InvalidSystem(f"ReducedBody: coordinates have shape {x.shape}, expected ({len(self.stiffness)},).")
        return (self.transformation @ x).reshape(-1, self.dim)

    # -- in a system ------------------------------------------------------------------------------------------------

    @cached_property
    def _followers(self) -> tuple[Array, Array]:
        """P [k, b·dim] in kg^(1/2) and ω [k] in rad/s of what follows the boundary: modes, and what mass they leave.

        M̂ = M_bb − M_bm M_mb − m is that of motions of the boundary without the own mass m of its nodes: each of its
        eigenvectors is one more mode, of twice the highest frequency, so that the mass of the boundary is exact.
        """
        n = self.boundary.size * self.dim
        of_modes = self.mass[n:, :n]
        left = self.mass[:n, :n] - of_modes.T @ of_modes - np.diag(np.repeat(self.own_mass, self.dim))
        values, vectors = np.linalg.eigh(left)
        kept = values > _LEFT * max(float(values[-1]), 0.0)
        rest = np.sqrt(values[kept])[:, None] * vectors[:, kept].T
        omega = 2.0 * np.pi * self.frequencies
        fast = np.sqrt(self.stiffness[:n, :n].trace() / self.mass[:n, :n].trace())
        beyond = _BEYOND * max(float(omega.max(initial=0.0)), float(fast))
        return np.concatenate([of_modes, rest]), np.concatenate([omega, np.full(len(rest), beyond)])

    @property
    def n_modal(self) -> int:
        """How many nodes stand for the modes in a system: each of their coordinates is one mode."""
        return -(-len(self._followers[1]) // self.dim)

    @cached_property
    def masses(self) -> Array:
        """The masses [b + n_modal] in kg of the boundary nodes, their own, and 1 of those of the modes.

        With ζ = η + M_mb u_b the kinetic energy is ½ |ζ̇|² + ½ u̇_bᵀ (M_bb − M_bm M_mb) u̇_b. What modes leave of the mass
        of the boundary is that of further modes, above all others.
        """
        return np.concatenate([self.own_mass, np.ones(self.n_modal)])

    def energy(self, points: Array, nodes: Nodes, modal: Nodes) -> LinearConstraints:
        """Return the energy ½ u_bᵀ K_bb u_b + ½ |ω (ζ − M_mb u_b)|² of the body in a system.

        It is that of small motions in a frame at rest: quadratic, so that conserving methods conserve it.

        Parameters
        ----------
        points : float64 [n, dim]
            Positions in m of all nodes of the system without displacements; those of the modes may be anywhere.
        nodes : int [b]
            Those that are the boundary, in the order of `boundary`.
        modal : int [n_modal]
            Nodes whose displacements are ζ; coordinates that no mode has are free, and nothing moves them.

        Raises
        ------
        InvalidSystem
            If there are others than so many, one is named twice, or the body is not stable.
        """
        own, extra = (distinct_nodes("ReducedBody", some) for some in (nodes, modal))
        x, b = np.asarray(points, float), self.boundary.size * self.dim
        if len(own) != len(self.boundary) or len(extra) != self.n_modal or len(np.intersect1d(own, extra)):
            raise InvalidSystem(
                f"ReducedBody: it needs {len(self.boundary)} boundary nodes and {self.n_modal} others for its modes, "
                f"got {len(own)} and {len(extra)}."
            )
        if x.ndim != 2 or x.shape[1] != self.dim:
            raise InvalidSystem(f"ReducedBody: points have shape {x.shape}, expected [n, {self.dim}].")
        every = np.concatenate([own, extra])
        require_nodes("ReducedBody", every, len(x))
        # A sum of squares: along the eigenvectors of the stiffness of the boundary, and of each mode.
        values, vectors = np.linalg.eigh(self.stiffness[:b, :b])
        rounding = _ROUNDING * max(float(values[-1]), 0.0)
        if not values[0] >= -rounding:
            raise InvalidSystem(f"ReducedBody: the stiffness of its boundary is not stable, {values[0]:.3g} N/m.")
        kept = values > rounding
        (followed, omega), first = self._followers, int(kept.sum())
        rows = np.zeros((first + len(omega), b + self.n_modal * self.dim))
        rows[:first, :b] = vectors[:, kept].T
        rows[first:, :b], rows[first:, b : b + len(omega)] = -followed, np.eye(len(omega))
        columns = (self.dim * every[:, None].astype(np.int64) + np.arange(self.dim)).ravel()
        entries = sp.coo_array(rows)
        at = entries.row, columns[entries.col]
        factors = sp.csr_array((entries.data, at), shape=(len(rows), x.size))
        stiffness = np.concatenate([values[kept], omega**2])
        return LinearConstraints(x, factors, stiffness=stiffness)

    def modal_start(self, u_b: Array) -> Array:
        """Return ζ = M_mb u_b [n_modal, dim], of the body at rest with displacements [b, dim] of its boundary."""
        zeta, (followed, omega) = np.zeros(self.n_modal * self.dim), self._followers
        zeta[: len(omega)] = followed @ np.asarray(u_b, float).ravel()
        return zeta.reshape(-1, self.dim)

    def displacements(self, u_b: Array, zeta: Array) -> Array:
        """Return the displacements [n, dim] in m of the whole body in a system, of those of its nodes there."""
        n, m = self.boundary.size * self.dim, len(self.frequencies)
        eta = np.asarray(zeta, float).ravel()[:m] - self.mass[n:, :n] @ np.asarray(u_b, float).ravel()
        return self.expanded(np.concatenate([np.asarray(u_b, float).ravel(), eta]))

    # -- in files ---------------------------------------------------------------------------------------------------

    @checked
    def save(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write the body for other programs, and return the file.

        ``.npz``: all arrays by their names, for NumPy. ``.mtx``: K and M in the format of MatrixMarket, as NAME-K.mtx
        and NAME-M.mtx, each symmetric, with the numbers of boundary nodes in a comment.

        Raises
        ------
        OutputError
            If the name has another ending, or a file is there.
        """
        path = Path(path)
        files = files_of(path, _SUFFIXES, overwrite)
        from io import BytesIO

        if path.suffix == ".npz":
            content = BytesIO()
            np.savez_compressed(
                content,
                boundary=self.boundary,
                points=self.points,
                frequencies=self.frequencies,
                stiffness=self.stiffness,
                mass=self.mass,
                transformation=self.transformation,
                own_mass=self.own_mass,
            )
            write_atomic(path, content.getvalue())
            return path
        from scipy.io import mmwrite

        comment = (
            f"Craig-Bampton: {self.dim} coordinates of each boundary node {self.boundary.tolist()}, then "
            f"{len(self.frequencies)} modes"
        )
        for file, which in files.items():
            matrix = self.stiffness if which == "K" else self.mass
            content = BytesIO()
            mmwrite(content, sp.coo_array(matrix), comment=comment[:1000], symmetry="symmetric", precision=17)
            write_atomic(file, content.getvalue())
        return next(iter(files))

    @classmethod
    @checked
    def read(cls, path: str | Path) -> ReducedBody:
        """Return a body that was written as .npz.

        Raises
        ------
        OutputError
            If the file cannot be read, or is none.
        """
        names = ("boundary", "points", "frequencies", "stiffness", "mass", "transformation", "own_mass")
        path = Path(path)
        with damage_reported(path, "reduced body", "reduce it again"):
            stored = read_arrays(path)
            found = [stored[name] for name in names]
        boundary, points, frequencies, stiffness, mass, transformation, own_mass = found
        return cls(boundary.astype(np.int32), points, frequencies, stiffness, mass, transformation, own_mass)


def files_of(path: Path, suffixes: Sequence[str], overwrite: bool) -> dict[Path, str]:
    """Return the files that a body is saved in, and which matrix each has where K and M have their own."""
    if path.suffix not in suffixes:
        raise OutputError(f"{path}: a reduced body is written as {', '.join(suffixes[:-1])} or {suffixes[-1]}.")
    files = {path.with_name(f"{path.stem}-{one}.mtx"): one for one in "KM"} if path.suffix == ".mtx" else {path: ""}
    for file in files:
        if file.exists() and not overwrite:
            raise OutputError(f"{file} is there already; choose another name, or replace it (overwrite).")
    return files


@checked
def craig_bampton(system: System, state: State, boundary: Nodes, n: Annotated[int, whole(0, 100_000)]) -> ReducedBody:
    """Return a body as the motion of its boundary and n fixed-interface modes.

    Craig and Bampton, AIAA J. 6 (1968) 1313: u_i = Ψ u_b + Φ η of the nodes inside, Ψ = −K_ii⁻¹ K_ib, and Φ the modes
    with the boundary held, with Φᵀ M Φ = 1. Statics of the boundary are exact, frequencies from above; K is that of
    small motions about the state (preload).

    Parameters
    ----------
    system : System
        The body. Supports stay: what they hold does not move.
    state : State
        An equilibrium.
    boundary : int [b]
        The nodes that go on to others, without supports.
    n : int
        How many modes; 0 is Guyan's reduction.

    Raises
    ------
    InvalidSystem
        If the boundary is empty, held or too large, or the system has frames, joints or history.
    NoEquilibrium
        If the boundary does not hold the body, or modes are not found.
    """
    nodes = distinct_nodes("craig_bampton", boundary)
    require_nodes("craig_bampton", nodes, system.n_nodes)
    dim, who = system.dim, "craig_bampton"
    if not len(nodes) or len(nodes) * dim > _MOST_BOUNDARY:
        raise InvalidSystem(f"{who}: the boundary must have 1 to {_MOST_BOUNDARY // dim} nodes, got {len(nodes)}.")
    if system.fixed[nodes].any():
        node = int(nodes[np.argmax(system.fixed[nodes].any(axis=1))])
        raise InvalidSystem(f"{who}: node {node} of the boundary is held by a support; leave it out.")
    if system.frames or system.joints:
        raise InvalidSystem(f"{who} does not take frames (beams, shells, rigid bodies) and joints; take solids.")
    b = len(nodes) * dim
    motions, T, frequencies = shapes_of(who, system, state, nodes, np.eye(b), n)
    K, M = sp.csr_array(motions.matrix(motions.symmetric_stiffness)), sp.csr_array(motions.mass)
    stiffness, mass = (np.asarray(T.T @ (A @ T)) for A in (K, M))
    stiffness[b:, :b] = stiffness[:b, b:] = 0.0  # but for rounding
    stiffness, mass = 0.5 * (stiffness + stiffness.T), 0.5 * (mass + mass.T)
    if system.is_lumped:
        own = np.asarray(system.mass)[nodes]
    else:
        of_modes = mass[b:, :b]
        left = np.linalg.eigvalsh(mass[:b, :b] - of_modes.T @ of_modes)[0]
        own = np.full(len(nodes), max(float(left), _ROUNDING * float(mass[:b, :b].trace())))
    return ReducedBody(nodes, state.q[nodes].copy(), frequencies, stiffness, mass, T, own)


def shapes_of(
    who: str, system: System, state: State, boundary: IntArray, given: Array, n: int
) -> tuple[SmallMotions, Array, Array]:
    """Return static shapes and fixed-interface modes [n_nodes·dim, c + n], in m, and frequencies [n] in Hz of these.

    Shapes are of given displacements [b·dim, c] of the boundary. Without a boundary modes are those of the free body.
    """
    dim = system.dim
    motions = SmallMotions(system, state)
    K = sp.csr_array(motions.matrix(motions.symmetric_stiffness))
    b = (dim * boundary[:, None].astype(np.int64) + np.arange(dim)).ravel()
    held, count = system.fixed.copy(), given.shape[1]
    held[boundary] = True
    i = np.flatnonzero(~held.ravel())
    T = np.zeros((system.n_nodes * dim, count + n))
    T[b, :count] = given
    if len(i) and count:
        from scipy.sparse.linalg import splu

        try:
            T[i, :count] = -splu(sp.csc_matrix(K[i][:, i])).solve(K[i][:, b] @ given)
        except RuntimeError as error:
            raise NoEquilibrium(f"{who}: the boundary does not hold the body; parts of it are loose.") from error
    elif n and not len(i):
        raise InvalidSystem(f"{who}: all nodes are held or on the boundary, so there are no modes; give n = 0.")
    if not n:
        return motions, T, np.empty(0)
    inside = System(system.mass, system.energies, dim=dim, fixed=held, massless=system.massless)
    rigid = 0 if len(boundary) else 6
    found = natural_modes(inside, inside.state(state.q), n + rigid)
    kinds = found.kinds[rigid:]
    if any(kind != "vibration" for kind in kinds):
        loose = next(kind for kind in kinds if kind != "vibration")
        raise NoEquilibrium(f"{who}: the boundary does not hold the body: a mode with it held is {loose}.")
    T[:, count:] = found.shapes[rigid:].reshape(n, -1).T
    return motions, T, found.frequencies[rigid:]
