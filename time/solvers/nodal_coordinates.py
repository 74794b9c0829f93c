"""Newton's method for systems with frames, in the displacements and rotations z = (u, θ) of these.

A step takes the arms ρ of particles about the centre c of their frame to cay(θ) ρ, so that frames stay rigid:

    Δq = u + (cay(θ) − 1) ρ⁰ = u + θ × ½ (ρ⁰ + ρ¹),    cay(θ) = 1 + 4/(4 + θ²) (θ̂ + ½ θ̂²).

The equations r(Δq) = 0 of particles have unknown forces within frames in addition, which are no part of their
resultants and moments P(q)ᵀ r = (Σ r, Σ ρ × r) with the arms ρ where the forces r act: at the middle of a step or at
its end. Tested with the increment itself, Δq = P(q̄) z, they do no work; so what a method keeps without frames it keeps
with them. With δΔq = P¹ (δu, T δθ), T = 4/(4 + θ²) (1 + ½ θ̂), and w = 0.5 or 1 for arms in the middle or at the end,
the matrix is P(q)ᵀ K P¹ (1, T) + w Σ r̂ ρ̂¹ T on the rotations. A rod has no equation for rotations about its axis d; the
matrix has s d d¹ᵀ T there, with a stiffness s as large as that of its other rotations, and no such rotation follows.

Conditions g = 0 of joints are quadratic, so that their forces G(q̄)ᵀλ do the work λ·G(q̄)Δq = λ·(g¹ − g⁰) = 0 and have no
resultants. Multipliers λ are unknowns as well (`symplex.time.solvers.joint_border`).

The null space method of Betsch and Leyendecker (Int. J. Numer. Meth. Engng 67 (2006) 499), in increments.
"""

from __future__ import annotations

from typing import Protocol, final, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from symplex.base.sparse import sp
from symplex.errors import InvalidSystem, StepFailed
from symplex.fem.assembly.pattern import Array, IntArray, Pattern
from symplex.fem.compiled.kernels import (
    uncounted_formula as formula,
    uncounted_inlined as inlined,
    uncounted_kernel as kernel,
)
from symplex.fem.energies.contact_energy import ContactEnergy
from symplex.fem.structures.frames import Frames, inertia_of
from symplex.fem.system import System
from symplex.time.solvers.direct import SparseSolver
from symplex.time.solvers.fill import fill_of, minimum_degree_order
from symplex.time.solvers.joint_border import JointBorder
from symplex.time.solvers.linear import linear_solver
from symplex.time.solvers.linear_solver import LinearSolver, take_out
from symplex.time.solvers.newton import Newton, NewtonSolver, masses_of_norms
from symplex.time.solvers.step_equations import StepEquations

_DENSE, _SPARSE = 30, 2000  # unknowns between which factors of the few couplings of lines take least
_FACTORS = (
    2e7  # numbers in factors, up to which these take less than iterations: matrices of shells are ill-conditioned
)
_ALONG = 1e-4  # sine of an angle, below which a rotation is about the axis of a rod
_ACROSS = 0.5  # cosine of the angle between a rod and an axis, below which it is nearly across
_SINGULAR = 1e-12  # of moments of arms about an axis relative to the largest: there is no rotation about it
_RIGID = 1e-9  # relative to arms and displacements: how far supports may be off a rigid motion of a frame
_ROTATION = 1.0  # by which a correction of a balance of forces may rotate a frame about an axis


def newton_solver(system: System, settings: Newton) -> NewtonSolver | FramedSolver:
    """Return Newton's method for a system: for the positions of its nodes, or for those and rotations of frames."""
    return FramedSolver(system, settings) if system.frames else NewtonSolver(system, settings)


def direct_solver(pattern: Pattern, dim: int) -> LinearSolver:
    """Return a solver with sparse factors, unless these would hold too much."""
    if pattern.n_nodes * dim <= _SPARSE:
        return SparseSolver(pattern, dim)
    order = minimum_degree_order(pattern)
    if fill_of(pattern, dim, order, _FACTORS) is None:
        return linear_solver("auto", pattern, dim)
    return SparseSolver(pattern, dim, nodes=order)


@final
class NodalCoordinates:
    """The coordinates z [nodes, 3] of a system with frames: u and θ of each frame, then u of all other nodes.

    Those of Newton's method have multipliers of joints in addition, three to a node.

    Parameters
    ----------
    system : System
    frames : Frames
    with_joints : bool, default False
        Whether there are multipliers.

    Attributes
    ----------
    frames, free : int32 [f, 4], [k]
        The particles of frames, and the nodes that are in none.
    system : System
        Of the nodes of z: their masses and, for those of θ, inertias of which norms are made, and what is held.
    of_node : int32 [n, 2]
        The coordinates u and θ that a particle moves with; −1: no rotation.
    held : bool [f, 3]
        Which rotations are.
    n_nodes : int
        How many are those of motions; multipliers follow.
    border : JointBorder or None
        The conditions of joints.
    """

    def __init__(self, system: System, frames: Frames, with_joints: bool = False):
        n, f = system.n_nodes, len(frames)
        self.frames = frames.nodes
        self.free = np.setdiff1d(np.arange(n, dtype=np.int32), frames.nodes).astype(np.int32)
        self.of_node = np.empty((n, 2), np.int32)
        self.of_node[self.free] = np.column_stack([2 * f + np.arange(len(self.free)), np.full(len(self.free), -1)])
        self.of_node[self.frames, 0] = 2 * np.arange(f, dtype=np.int32)[:, None]
        self.of_node[self.frames, 1] = self.of_node[self.frames, 0] + 1
        mass, fixed = self._masses(system, frames), self._fixed(system, frames)
        self.held, self._rods = fixed[1 : 2 * f : 2].copy(), np.flatnonzero(frames.is_rod)
        self._rotations: tuple[Pattern, tuple[Array, IntArray, IntArray, Array]] | None = None
        self.n_nodes, self.border = len(mass), None
        if with_joints and system.joints:
            self.border = border = JointBorder(system, len(mass), self.of_node)
            mass, fixed = np.concatenate([mass, np.ones(border.n_nodes)]), np.concatenate([fixed, border.unused])
        self.system = _System(mass, fixed, system, self)

    def _masses(self, system: System, frames: Frames) -> Array:
        """Return masses of coordinates; those of rotations are as if particles were as far apart as frames are.

        So a moment counts in norms as the forces by which frames pass it on, however slender bodies are.
        """
        mass = masses_of_norms(system) if not system.is_lumped else np.asarray(system.mass)
        of_frames = (frames.shares[:, None] * mass[frames.nodes]).sum(axis=1)
        square = 2.0 / 3.0 * (frames.rest_arms**2).sum(axis=2).mean(axis=1)
        pattern = system.pattern
        a, b = (self.of_node[nodes, 0] // 2 for nodes in (pattern.rows(), pattern.indices))
        coupled = (a != b) & (np.maximum(a, b) < len(frames))
        a, b = a[coupled], b[coupled]
        distances = ((frames.rest_centers[a] - frames.rest_centers[b]) ** 2).sum(axis=1)
        counts = np.bincount(a, minlength=len(frames))
        apart = np.bincount(a, distances, minlength=len(frames)) / np.maximum(counts, 1)
        inertia = of_frames * np.maximum(square, 0.25 * apart)
        return np.concatenate([np.column_stack([of_frames, inertia]).ravel(), mass[self.free]])

    def _fixed(self, system: System, frames: Frames) -> NDArray[np.bool_]:
        held = frames.held | np.asarray(system.fixed[frames.nodes].all(axis=(1, 2)))[:, None]
        return np.concatenate([held.reshape(-1, 3), system.fixed[self.free]])

    def couplings(self, pattern: Pattern) -> tuple[Pattern, IntArray]:
        """Return the pattern of matrices of z for one of particles, and the places [nnz, 4] in it of blocks of that."""
        n = len(self.system.fixed)
        pairs = self.of_node[np.column_stack([pattern.rows(), pattern.indices])]  # [nnz, 2, 2]
        all_pairs = np.stack([pairs[:, 0, [0, 0, 1, 1]], pairs[:, 1, [0, 1, 0, 1]]], axis=2).reshape(-1, 2)
        present = (all_pairs >= 0).all(axis=1)
        of_joints = [] if self.border is None else [self.border.pairs]
        own = Pattern(n, [np.unique(all_pairs[present], axis=0).astype(np.int32), *of_joints])
        keys = np.asarray(own.rows().astype(np.int64) * n + own.indices)
        if self.border is not None:
            self.border.find_places(keys, n)
        places = np.searchsorted(keys, all_pairs[:, 0].astype(np.int64) * n + all_pairs[:, 1])
        return own, np.where(present, places, -1).astype(np.int32).reshape(-1, 4)

    def node_of(self, coordinate: int) -> int:
        """Return a node that moves with a coordinate, for messages."""
        f = 2 * len(self.frames)
        if self.border is not None and coordinate >= self.n_nodes:
            return self.border.node_of(coordinate)[0]
        return int(self.frames[coordinate // 2, 0] if coordinate < f else self.free[coordinate - f])

    def write_increment(self, q0: Array, z: Array, out: Array) -> None:
        """Write Δq [n, 3] for z from positions q0 [n, 3] to out."""
        write_increment(q0, z, self.frames, self.free, out)

    def increments(self, q0: Array, dq: Array) -> Array:
        """Return z [nodes, 3] of increments Δq [n, 3] from positions q0 [n, 3]; of frames those of the nearest motion.

        θ × ½ (ρ⁰ + ρ¹) = ρ¹ − ρ⁰ in the least squares.
        """
        z = np.zeros(self.system.fixed.shape)
        z[2 * len(self.frames) : self.n_nodes] = dq[self.free]
        moved = np.flatnonzero(dq[self.frames].any(axis=(1, 2)))
        x, d = q0[self.frames[moved]], dq[self.frames[moved]]
        mean = d.mean(axis=1, keepdims=True)
        x, d = x - x.mean(axis=1, keepdims=True) + 0.5 * (d - mean), d - mean
        second = np.einsum("fai,faj->fij", x, x)
        matrices = inertia_of(second)
        theta = np.linalg.pinv(matrices, rcond=_SINGULAR, hermitian=True) @ np.cross(x, d).sum(axis=1)[:, :, None]
        z[2 * moved], z[2 * moved + 1] = mean[:, 0], theta[:, :, 0]
        return z

    def write_resultants(self, q: Array, forces: Array, out: Array) -> None:
        """Write P(q)ᵀ forces [nodes, 3] of nodal forces [n, 3] to out."""
        write_resultants(q, forces, self.frames, self.free, out)

    def write_matrix(
        self, blocks: Array, ends: tuple[Array, Array], z: Array, forces: Array, weight: float, out: Array
    ) -> None:
        """Write the matrix of z, on the pattern of `system`, to out.

        Parameters
        ----------
        blocks : float64 [nnz, 3, 3]
            K on the pattern of particles.
        ends : (float64 [n, 3], float64 [n, 3])
            Positions where forces act, and at the end of the increment.
        z, forces : float64 [nodes, 3], [n, 3]
            The increment, and r.
        weight : float
            w, which part of the increment the first of these positions are after.
        """
        out[...] = 0.0
        rows, places = self.system.couplings
        given = blocks, *rows, places, self.of_node, self.frames, self.held, *ends, z, forces, weight
        add_matrix(*given, *self.rotations(), out)

    def rotations(self) -> tuple[Array, IntArray, IntArray, Array]:
        """Return what `add_matrix` reads of the pattern and writes to: arms, columns, own and rooms."""
        pattern, f = self.system.pattern, len(self.frames)
        if self._rotations is None or self._rotations[0] is not pattern:
            of_rotation = (pattern.indices < 2 * f) & (pattern.indices % 2 == 1)
            columns = np.where(of_rotation, pattern.indices // 2, -1).astype(np.int32)
            own = pattern.diagonal()[1 : 2 * f : 2].astype(np.int32)
            self._rotations = pattern, (np.zeros((2, len(self.of_node), 3)), columns, own, np.zeros((f, 3, 3)))
        return self._rotations[1]

    def stiffness(self, blocks: Array, q: Array, forces: Array, symmetric: bool) -> Array:
        """Return the matrix [nnz, 3, 3] of small motions z of a body at rest, on the pattern of `system`.

        Parameters
        ----------
        blocks : float64 [nnz, 3, 3]
            K on the pattern of particles.
        q, forces : float64 [n, 3]
            Positions, and the forces ∇V − f there, those within frames included.
        symmetric : bool
            Whether to return its symmetric part, which it is where forces are balanced, if K is symmetric.
        """
        pattern = self.system.pattern
        out = pattern.zeros(3)
        self.write_matrix(blocks, (q, q), np.zeros(self.system.fixed.shape), forces, 1.0, out)
        if symmetric:
            out = 0.5 * (out + out[np.lexsort((pattern.rows(), pattern.indices))].transpose(0, 2, 1))
        return out

    def basis(self, q: Array) -> sp.csr_array:
        """Return the small motions that are free, in orthogonal columns [3·nodes, k] of coordinates z.

        All but rotations of rods about their axes, at positions q [n, 3].
        """
        fixed = self.system.fixed
        blocks = np.eye(3) * ~fixed[:, None, :]
        rods = self._rods
        d = q[self.frames[rods, 0]] - q[self.frames[rods, 1]]
        d /= np.linalg.norm(d, axis=1)[:, None]
        allowed = blocks[2 * rods + 1]
        _, sizes, kept = np.linalg.svd(np.cross(d[:, None], allowed.swapaxes(1, 2)).swapaxes(1, 2))
        blocks[2 * rods + 1] = np.where((sizes > _ALONG)[:, None], allowed @ kept.swapaxes(1, 2), 0.0)
        n = len(fixed)
        matrix = sp.csc_array(sp.bsr_array((blocks, np.arange(n), np.arange(n + 1)), shape=(3 * n, 3 * n)))
        return sp.csr_array(matrix[:, np.flatnonzero(abs(matrix).sum(axis=0) > 0.0)])

    def motions(self, q: Array, z: Array) -> Array:
        """Return small motions P(q) z [n, 3] of nodes at positions q [n, 3]."""
        out = np.empty_like(q)
        arms = q[self.frames] - q[self.frames].mean(axis=1, keepdims=True)
        out[self.free] = z[2 * len(self.frames) : self.n_nodes]
        u, theta = z[: 2 * len(self.frames)].reshape(-1, 2, 3).swapaxes(0, 1)
        out[self.frames] = u[:, None] + np.cross(theta[:, None], arms)
        return out


class _System(System):
    """The nodes of nodal coordinates, as Newton's method takes a system; it has no energies.

    Stencils, and what must not pass through each other, are those of the particles.
    """

    def __init__(self, mass: Array, fixed: NDArray[np.bool_], of_particles: System, coordinates: NodalCoordinates):
        super().__init__(mass, {}, fixed=fixed, massless=mass == 0.0)
        self._of_particles, self._coordinates = of_particles, coordinates
        self._made: tuple[Pattern, Pattern, IntArray] | None = None  # of particles, of coordinates, and the places

    @property
    def pattern(self) -> Pattern:
        """The pattern of matrices of z: the same object as long as that of particles is."""
        return self._followed()[1]

    @property
    def couplings(self) -> tuple[tuple[IntArray, IntArray], IntArray]:
        """The rows of the pattern of particles, and the places of its blocks."""
        of_particles, _, places = self._followed()
        return (of_particles.indptr, of_particles.indices), places

    def _followed(self) -> tuple[Pattern, Pattern, IntArray]:
        pattern = self._of_particles.pattern
        if self._made is None or self._made[0] is not pattern:
            self._made = pattern, *self._coordinates.couplings(pattern)
        return self._made

    def extend_list(self, ends: tuple[Array, ...]) -> bool:
        """Let energies of particles find their stencils for the ends of a step that goes far."""
        return self._of_particles.extend_list(ends)

    @property
    def collision_checked(self) -> list[ContactEnergy]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The energies of what must not pass through each other."""
        return self._of_particles.collision_checked

    def foremost(self, x: Array) -> tuple[int, float, list[str]]:
        """Return a node with the largest of numbers x of coordinates, this number, and the energies that act there."""
        at = int(np.argmax(x))
        node, border = self._coordinates.node_of(at), self._coordinates.border
        if border is not None and at >= self._coordinates.n_nodes:
            return node, float(x[at]), [f"joint {border.node_of(at)[1]}"]
        return node, float(x[at]), self._of_particles.acting(node)


@final
class FramedSolver:
    """Newton's method as `NewtonSolver`, for a system with frames.

    Parameters
    ----------
    system : System
    settings : Newton

    Attributes
    ----------
    increment : float64 [n, 3]
        Δq of the last solution in m.
    forces : float64 [n, 3]
        The forces in N that lead to it, those within frames included.
    times : (float, float)
        When the increment begins and ends, in s, for joints whose motion is given.
    """

    def __init__(self, system: System, settings: Newton):
        assert system.frames is not None, "it is for systems with frames"
        self.system, self.coordinates = system, NodalCoordinates(system, system.frames, with_joints=True)
        border = self.coordinates.border
        if border is not None and settings.linear not in ("auto", "dense", "sparse"):
            raise InvalidSystem(
                f"joints need a direct linear solver, got {settings.linear!r}. Take 'auto', 'dense' or 'sparse'."
            )
        unknowns = self.coordinates.system.fixed.size
        default = direct_solver if border is None else SparseSolver
        solver = default if settings.linear == "auto" and unknowns > _DENSE else None
        self._solver = NewtonSolver(self.coordinates.system, settings, solver)
        self._equations = _Equations(system, self.coordinates)
        self._solver.positions_at = self._equations.positions_at
        self.increment, self.forces = np.zeros(system.fixed.shape), np.zeros(system.fixed.shape)
        self.times = 0.0, 0.0

    def works_of_joints(self) -> list[float]:
        """Return the work in J of what keeps each motion of a joint that is given as it is, on the last increment."""
        border = self.coordinates.border
        return [] if border is None else border.works(self.increment)

    @property
    def multipliers(self) -> Array:
        """The multipliers [c] of joints that lead to the increment."""
        return np.zeros(0) if self.coordinates.border is None else self.coordinates.border.multipliers

    @property
    def counts(self) -> dict[str, int]:
        """What the linear solver counts."""
        return self._solver.counts

    @property
    def definite(self) -> bool:
        """Whether the matrix at the last solution, with increments from there on, has positive pivots.

        A symmetric one has where it is positive definite.
        """
        equations, coordinates = self._equations, self.coordinates
        pattern = coordinates.system.pattern
        blocks, (end, _) = equations.matrix_of(self.increment)
        blocks = coordinates.stiffness(blocks, end, equations.residual, equations.of_symmetric)
        fixed = coordinates.system.fixed.copy()
        if coordinates.border is not None:
            coordinates.border.add_stiffness_of(equations.end, blocks)
            fixed[coordinates.n_nodes :] = True
        take_out(pattern, fixed, blocks)
        linear = SparseSolver(pattern, 3)
        linear.update(blocks, equations.of_symmetric, np.zeros(fixed.shape))
        return linear.definite

    def solve(self, equations: StepEquations, q0: Array, start: Array | float = 0.0, follow: bool = False) -> int:
        """Find the increment from the positions q0 [n, 3], and return the number of corrections it took.

        Roots are not followed.
        """
        reduced = self._equations
        if self.coordinates.border is not None:
            self.coordinates.border.take_times(*self.times)
        reduced.begin(equations, q0)
        z = np.zeros(self.coordinates.system.fixed.shape)
        if np.any(start):
            z = self._begun(q0, np.broadcast_to(start, q0.shape))
        if self.coordinates.border is not None and equations.inertia == 0.0:
            z[self.coordinates.n_nodes :] = reduced.multipliers_at_start()
        self._solver.share_of = self._share_of if equations.inertia == 0.0 else None
        try:
            count = self._solver.solve(reduced, reduced.places, z)
        except StepFailed as error:
            error.args = f"{error}{self._remark(q0)}", *error.args[1:]
            raise
        reduced.at_increment(self._solver.increment)
        self.increment[...] = reduced.increment
        self._set_forces(equations)
        return count

    def _remark(self, q: Array) -> str:
        """Return what a failure may come from: a rod that is held against a rotation about an axis nearly across it.

        It follows from a rotation about its own axis, which is none, unless the axis that is held is across it.
        """
        frames = self.system.frames
        assert frames is not None, "it is for systems with frames"
        one = np.flatnonzero(frames.is_rod & (frames.held[:, 3:].sum(axis=1) == 1))
        d = q[frames.nodes[one, 0]] - q[frames.nodes[one, 1]]
        along = np.abs(np.where(frames.held[one, 3:], d, 0.0).sum(axis=1)) / np.linalg.norm(d, axis=1)
        near = np.flatnonzero((along > _ALONG) & (along < _ACROSS))
        if not len(near):
            return ""
        rod = one[near[0]]
        return (
            f" The rod of particles {frames.nodes[rod, :2].tolist()} is held against rotations about one axis, "
            f"{np.degrees(np.arccos(along[near[0]])):.4g}° from it: nearly across an axis, a rod can move only with "
            "large rotations about itself, which are none. Hold two of its rotations, or none."
        )

    def _begun(self, q0: Array, start: Array) -> Array:
        """Return the increment z to begin with for one of particles, of which supports give some."""
        coordinates, frames, moving = self.coordinates, self.system.frames, self.system.moving.mask
        assert frames is not None, "it is for systems with frames"
        z, rigid = coordinates.increments(q0, start), np.empty_like(start)
        z[: 2 * len(frames)][frames.held.reshape(-1, 3)] = 0.0
        coordinates.write_increment(q0, z, rigid)
        nodes = frames.nodes[moving[frames.nodes].all(axis=(1, 2))]
        away = np.abs(rigid[nodes] - start[nodes]).max(axis=(1, 2))
        bad = np.flatnonzero(away > _RIGID * (np.abs(frames.arms(q0)).max() + np.abs(start[nodes]).max(axis=(1, 2))))
        if len(bad):
            raise StepFailed(
                f"supports must move a frame as a rigid body, by less than 180° in a step; the particles "
                f"{nodes[bad[0]].tolist()} would be {away[bad[0]]:.3g} m off."
            )
        return z

    def _share_of(self, correction: Array) -> float:
        """Return the part of a correction in which no frame rotates farther than it may."""
        rotations = correction[1 : 2 * len(self.coordinates.frames) : 2]
        return min(1.0, _ROTATION / max(float(np.abs(rotations).max()), _ROTATION))

    def _set_forces(self, equations: StepEquations) -> None:
        """Set the forces of frames to those that lead to the increment, less what was left of their equations."""
        reduced, system = self._equations, self.system
        self.forces[...] = reduced.forces_found
        if equations.inertia == 0.0:
            return
        assert system.frames is not None, "it is for systems with frames"
        left = system.frames.resultants(system, reduced.residual, reduced.middle)
        within = (left - reduced.residual) / equations.impulse
        within[system.fixed] = 0.0
        nodes = system.frames.nodes
        self.forces[nodes] += within[nodes]


@runtime_checkable
class Balance(Protocol):
    """Equations of a body at rest, with constant forces that are given at the positions ``start`` [n, 3]."""

    start: Array


@final
class _Equations:
    """The equations of z that follow from those of a step, as Newton's method takes them.

    All of them are among the forces, with the impulse 1; only what they are compared with is apart.

    Parameters
    ----------
    system : System
    coordinates : NodalCoordinates
    """

    inertia, impulse, symmetric, at = 0.0, 1.0, False, (1.0, 1.0)

    def __init__(self, system: System, coordinates: NodalCoordinates):
        self._system, self._coordinates = system, coordinates
        shape = system.fixed.shape
        self.increment, self.residual, self.forces_found = (np.zeros(shape) for _ in range(3))
        self.middle, self.end, self._inner = (np.zeros(shape) for _ in range(3))
        self.constant, self.places = (np.zeros(coordinates.system.fixed.shape) for _ in range(2))
        self._blocks = np.empty((0, 3, 3))

    def begin(self, equations: StepEquations, q0: Array) -> None:
        """Be those of a step from positions q0 [n, 3]."""
        self._step, self._q0, self.of_symmetric, self.seen = equations, q0, equations.symmetric, equations.seen
        self._z: Array | None = None  # the increment of which all is set
        # Of a balance of forces constant ones keep their moments; those of a step are momenta, which act in its middle.
        self._constant_at = equations.start if isinstance(equations, Balance) else None
        # Round-off is compared with the stiffness times these: positions, and for rotations, which are differences of
        # positions, these over the arms.
        coordinates = self._coordinates
        f = 2 * len(coordinates.frames)
        x = q0[coordinates.frames]
        arms = np.abs(x - x.mean(axis=1, keepdims=True)).max(axis=(1, 2))
        self.places[:f:2] = np.abs(x).max(axis=1)
        self.places[1:f:2] = (np.abs(x).max(axis=(1, 2)) / arms)[:, None]
        self.places[f : coordinates.n_nodes] = q0[coordinates.free]
        if coordinates.border is not None:
            coordinates.border.begin(q0, equations.inertia, equations.impulse, self._stiffness(equations))

    def _stiffness(self, equations: StepEquations) -> float:
        """Return about how large K/M is without increment in 1/s², at rest."""
        if equations.inertia:
            return 0.0
        blocks = self._system.pattern.zeros(3)
        equations.blocks(np.zeros_like(self.increment), blocks)
        diagonal = np.einsum("nii->n", blocks[self._system.pattern.diagonal()])
        return float(np.abs(diagonal).sum() / (3.0 * np.asarray(self._system.mass).sum())) or 1.0

    def multipliers_at_start(self) -> Array:
        """Return the unknowns of multipliers at rest that balance as much as they can without increment."""
        system, border = self._system, self._coordinates.border
        assert border is not None, "it has joints"
        border.multipliers[...] = 0.0
        self._step.forces(np.zeros_like(self.increment), self.forces_found)
        forces = self.forces_found - self._step.constant / self._step.impulse
        return border.unknowns(border.at_end.balance(system, self._q0, forces))

    def at_increment(self, z: Array) -> None:
        """Set all that belongs to particles for an increment z, unless it is set already."""
        if self._z is not None and np.array_equal(z, self._z):
            return
        step, self._z = self._step, None
        self._coordinates.write_increment(self._q0, z, self.increment)
        np.add(self._q0, step.at[0] * self.increment, out=self.middle)
        np.add(self._q0, self.increment, out=self.end)
        step.forces(self.increment, self.forces_found)
        if (border := self._coordinates.border) is not None:
            self.places[self._coordinates.n_nodes :] = np.abs(z[self._coordinates.n_nodes :])
            border.at_increment(z[self._coordinates.n_nodes :], self.middle, self.end, self.forces_found)
        self._inner[...] = self._system.apply_mass(step.inertia * self.increment)
        self._inner += step.impulse * self.forces_found
        np.subtract(self._inner, step.constant, out=self.residual)
        if self._constant_at is not None:
            np.copyto(self.residual, self._inner)
        self._z = z.copy()

    def positions_at(self, part: float, z: Array) -> Array:
        """Return the positions [n, 3] of particles after a part of the increment for z."""
        dq = np.empty_like(self._q0)
        self._coordinates.write_increment(self._q0, z, dq)
        return self._q0 + part * dq

    def forces(self, dq: Array, out: Array) -> None:
        """Write the part of the equations that depends on the increment z to out, and set the constant part."""
        self.at_increment(dq)
        self._coordinates.write_resultants(self.middle, self._inner, out)
        if (border := self._coordinates.border) is not None:
            border.write_values(out[self._coordinates.n_nodes :])
        at = self.middle if self._constant_at is None else self._constant_at
        self._coordinates.write_resultants(at, self._step.constant, self.constant)

    def blocks(self, dq: Array, out: Array) -> None:
        """Write their derivative to out."""
        self.at_increment(dq)
        blocks, _ = self.matrix_of(self.increment)
        ends = self.middle, self.end
        self._coordinates.write_matrix(blocks, ends, dq, self.residual, self._step.at[0], out)
        if (border := self._coordinates.border) is not None:
            border.add_border(dq, out)

    def matrix_of(self, dq: Array) -> tuple[Array, tuple[Array, Array]]:
        """Return the matrix [nnz, 3, 3] of particles at an increment [n, 3], and the positions at its end, twice."""
        step, pattern = self._step, self._system.pattern
        if len(self._blocks) != len(pattern.indices):
            self._blocks = pattern.zeros(3)
        step.blocks(dq, self._blocks)
        if (border := self._coordinates.border) is not None:
            border.add_stiffness(step.at[0], self._blocks)
        self._blocks *= step.impulse
        if step.inertia:
            self._blocks += step.inertia * self._system.mass_values[:, None, None] * np.eye(3)
        return self._blocks, (self.end, self.end)


# -- kernels --------------------------------------------------------------------------------------------------------


@formula
def _center(q, nodes, i):
    return 0.25 * (q[nodes[0], i] + q[nodes[1], i] + q[nodes[2], i] + q[nodes[3], i])


@formula
def _share(nodes):
    """Return which part of a particle each of its places in a row stands for: a rod has each of its two twice."""
    return 0.5 if nodes[0] == nodes[2] and nodes[1] == nodes[3] else 1.0


@kernel
def write_increment(q0, z, frames, free, out):
    for f in range(len(frames)):
        nodes = frames[f]
        cx, cy, cz = _center(q0, nodes, 0), _center(q0, nodes, 1), _center(q0, nodes, 2)
        x, y, w = z[2 * f + 1, 0], z[2 * f + 1, 1], z[2 * f + 1, 2]
        c = 4.0 / (4.0 + x * x + y * y + w * w)
        for node in nodes:
            a, b, d = q0[node, 0] - cx, q0[node, 1] - cy, q0[node, 2] - cz
            ta, tb, td = y * d - w * b, w * a - x * d, x * b - y * a
            out[node, 0] = z[2 * f, 0] + c * (ta + 0.5 * (y * td - w * tb))
            out[node, 1] = z[2 * f, 1] + c * (tb + 0.5 * (w * ta - x * td))
            out[node, 2] = z[2 * f, 2] + c * (td + 0.5 * (x * tb - y * ta))
    for i in range(len(free)):
        for k in range(3):
            out[free[i], k] = z[2 * len(frames) + i, k]


@kernel
def write_resultants(q, forces, frames, free, out):
    for f in range(len(frames)):
        nodes = frames[f]
        cx, cy, cz = _center(q, nodes, 0), _center(q, nodes, 1), _center(q, nodes, 2)
        share = _share(nodes)
        for k in range(3):
            out[2 * f, k], out[2 * f + 1, k] = 0.0, 0.0
        for node in nodes:
            a, b, d = q[node, 0] - cx, q[node, 1] - cy, q[node, 2] - cz
            x, y, w = share * forces[node, 0], share * forces[node, 1], share * forces[node, 2]
            out[2 * f, 0] += x
            out[2 * f, 1] += y
            out[2 * f, 2] += w
            out[2 * f + 1, 0] += b * w - d * y
            out[2 * f + 1, 1] += d * x - a * w
            out[2 * f + 1, 2] += a * y - b * x
    for i in range(len(free)):
        for k in range(3):
            out[2 * len(frames) + i, k] = forces[free[i], k]


@kernel
def add_matrix(
    blocks, indptr, indices, places, of_node, frames, held, q, q1, z, forces, weight, arms, columns, own, rooms, out
):
    """Add the matrix of z to out, which is zero; see `NodalCoordinates.write_matrix`.

    All of it but T is added first: ρ × of columns of K, ρ¹ × of rows. Columns [nnz'] are the frames of columns that are
    rotations, else −1; own [f] the places of rotations by themselves; arms [2, n, 3] and rooms [f, 3, 3] are written.
    """
    left, right = arms[0], arms[1]
    for f in range(len(frames)):
        nodes = frames[f]
        _set_turn(z[2 * f + 1, 0], z[2 * f + 1, 1], z[2 * f + 1, 2], rooms[f])
        cx, cy, cz = _center(q, nodes, 0), _center(q, nodes, 1), _center(q, nodes, 2)
        ex, ey, ez = _center(q1, nodes, 0), _center(q1, nodes, 1), _center(q1, nodes, 2)
        part, on = weight * _share(nodes), out[own[f]]
        for node in nodes:
            left[node, 0], left[node, 1], left[node, 2] = q[node, 0] - cx, q[node, 1] - cy, q[node, 2] - cz
            x, y, w = q1[node, 0] - ex, q1[node, 1] - ey, q1[node, 2] - ez
            right[node, 0], right[node, 1], right[node, 2] = x, y, w
            u, v, s = part * forces[node, 0], part * forces[node, 1], part * forces[node, 2]
            along = x * u + y * v + w * s  # (ω × ρ) × r = ρ (ω·r) − ω (ρ·r)
            on[0, 0] += x * u - along
            on[0, 1] += x * v
            on[0, 2] += x * s
            on[1, 0] += y * u
            on[1, 1] += y * v - along
            on[1, 2] += y * s
            on[2, 0] += w * u
            on[2, 1] += w * v
            on[2, 2] += w * s - along
    for a in range(len(q)):
        turns = of_node[a, 1] >= 0
        for s in range(indptr[a], indptr[a + 1]):
            _add_coupling(blocks[s], places[s], turns, left[a], of_node[indices[s], 1] >= 0, right[indices[s]], out)
    for s in range(len(columns)):
        if columns[s] >= 0:
            block, T = out[s], rooms[columns[s]]
            for i in range(3):
                x, y, w = block[i, 0], block[i, 1], block[i, 2]
                for j in range(3):
                    block[i, j] = x * T[0, j] + y * T[1, j] + w * T[2, j]
    for f in range(len(frames)):
        nodes = frames[f]
        if _share(nodes) < 1.0:
            _add_axis(q, q1, nodes[0], nodes[1], z[2 * f + 1], held[f], out[own[f]])


@formula
def _set_turn(x, y, w, T):
    """Set T of a rotation θ."""
    c = 4.0 / (4.0 + x * x + y * y + w * w)
    T[0, 0], T[0, 1], T[0, 2] = c, -0.5 * c * w, 0.5 * c * y
    T[1, 0], T[1, 1], T[1, 2] = 0.5 * c * w, c, -0.5 * c * x
    T[2, 0], T[2, 1], T[2, 2] = -0.5 * c * y, 0.5 * c * x, c


@inlined
def _add_coupling(K, places, turns, arm, other_turns, other, out):
    """Add a block of particles to those of their displacements and rotations."""
    k00, k01, k02 = K[0, 0], K[0, 1], K[0, 2]
    k10, k11, k12 = K[1, 0], K[1, 1], K[1, 2]
    k20, k21, k22 = K[2, 0], K[2, 1], K[2, 2]
    _add_block(k00, k01, k02, k10, k11, k12, k20, k21, k22, out[np.uint64(places[0])])
    if other_turns:
        x, y, w = other[0], other[1], other[2]
        r00, r01, r02 = y * k02 - w * k01, w * k00 - x * k02, x * k01 - y * k00
        r10, r11, r12 = y * k12 - w * k11, w * k10 - x * k12, x * k11 - y * k10
        r20, r21, r22 = y * k22 - w * k21, w * k20 - x * k22, x * k21 - y * k20
        _add_block(r00, r01, r02, r10, r11, r12, r20, r21, r22, out[np.uint64(places[1])])
        if turns:
            _add_moments(arm, r00, r01, r02, r10, r11, r12, r20, r21, r22, out[np.uint64(places[3])])
    if turns:
        _add_moments(arm, k00, k01, k02, k10, k11, k12, k20, k21, k22, out[np.uint64(places[2])])


@inlined
def _add_moments(arm, k00, k01, k02, k10, k11, k12, k20, k21, k22, out):
    """Add ρ × of columns."""
    x, y, w = arm[0], arm[1], arm[2]
    first = y * k20 - w * k10, y * k21 - w * k11, y * k22 - w * k12
    second = w * k00 - x * k20, w * k01 - x * k21, w * k02 - x * k22
    third = x * k10 - y * k00, x * k11 - y * k01, x * k12 - y * k02
    _add_block(*first, *second, *third, out)


@inlined
def _add_block(k00, k01, k02, k10, k11, k12, k20, k21, k22, out):
    out[0, 0] += k00
    out[0, 1] += k01
    out[0, 2] += k02
    out[1, 0] += k10
    out[1, 1] += k11
    out[1, 2] += k12
    out[2, 0] += k20
    out[2, 1] += k21
    out[2, 2] += k22


@formula
def _add_axis(q, q1, a, b, theta, held, block):
    """Add s d d¹ᵀ T for the rotation of a rod about its axis, unless what is held of its rotations excludes it."""
    size, of_held, largest = 0.0, 0.0, 0.0
    for i in range(3):
        for j in range(3):
            largest = max(largest, abs(block[i, j]))
        along = q[a, i] - q[b, i]
        size += along * along
        of_held += along * along if held[i] else 0.0
    if of_held > 1e-8 * size:
        return
    x, y, w = theta[0], theta[1], theta[2]
    s = largest / size * 4.0 / (4.0 + x * x + y * y + w * w)
    dx, dy, dw = q1[a, 0] - q1[b, 0], q1[a, 1] - q1[b, 1], q1[a, 2] - q1[b, 2]
    tx = dx + 0.5 * (dy * w - dw * y)
    ty = dy + 0.5 * (dw * x - dx * w)
    tz = dw + 0.5 * (dx * y - dy * x)
    for i in range(3):
        along = s * (q[a, i] - q[b, i])
        block[i, 0] += along * tx
        block[i, 1] += along * ty
        block[i, 2] += along * tz
