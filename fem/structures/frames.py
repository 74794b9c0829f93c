"""Frames: groups of four or two particles that are rigid, with the position and the rotation of one node."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symplex.base.arguments import checked
from symplex.base.sparse import sp
from symplex.errors import InvalidSystem
from symplex.fem.assembly.copying import Copyable
from symplex.fem.assembly.nodes import Nodes, connectivity, require_nodes
from symplex.fem.assembly.pattern import Array, IntArray
from symplex.fem.compiled.kernels import formula, kernel, uncounted_formula
from symplex.fem.measures.constraints import Constraint, RigidBars

if TYPE_CHECKING:
    from symplex.fem.masses import Masses

_PAIRS = np.array([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)])
_FLAT = 1e-12  # of second moments relative to the largest, below which particles are in a plane


@checked
@final
class Frames(Copyable):
    """Groups of four or two particles, each of which moves as a rigid body; of two as a rod.

    A rod is a row of its particles twice, (a, b, a, b), so that rods and frames of four are in one table and all means
    over a row are right. It has no inertia about its axis, and no equation for a rotation about it: such a rotation is
    none, and a moment along it does nothing.

    They belong to a `System`. Implicit methods, equilibria and modes that declare them solve for the displacement and
    the rotation of each; methods with constraints take the `rods`; all others refuse them. Masses, velocities, forces
    and supports stay those of the particles.

    Parameters
    ----------
    nodes : int [f, 4] or [f, 2]
        The particles of each frame, (a, b, a, b) or (a, b) of a rod.
    points : float64 [n, 3]
        Positions in m of all particles of the system, undeformed.
    held : bool [f, 6], optional
        True where the displacement of a frame's centre along x, y, z or its rotation about these does not change. With
        two rotations held and one free, in steps that rotate about one axis only. A frame all of whose particles are
        fixed in the system is held altogether.

    Attributes
    ----------
    nodes : int32 [f, 4]
    is_rod : bool [f]
        True for frames of two particles.
    shares : float64 [f]
        Which part of a particle each of its places in a row stands for: 1, or ½ of rods.
    rest_arms : float64 [f, 4, 3]
        Positions in m of particles relative to the centres of their frames, undeformed.
    rest_centers : float64 [f, 3]
        The centres in m, undeformed.

    Raises
    ------
    InvalidSystem
        If shapes do not match, a particle is in two frames, the four particles of one are in a plane, or the two of one
        at one place.
    """

    def __init__(self, nodes: Nodes, points: Array, held: NDArray[np.bool_] | None = None):
        self.nodes = connectivity("Frames", nodes)
        if self.nodes.ndim == 2 and self.nodes.shape[1] == 2:
            self.nodes = np.tile(self.nodes, 2)
        if self.nodes.ndim != 2 or self.nodes.shape[1] != 4:
            raise InvalidSystem(f"Frames: nodes must have shape (f, 4) or (f, 2), got {self.nodes.shape}.")
        if points.ndim != 2 or points.shape[1] != 3 or not np.isfinite(points).all():
            raise InvalidSystem(f"Frames: points must be finite, of shape (n, 3), got {points.shape}.")
        require_nodes("Frames", self.nodes, len(points))
        self.is_rod = (self.nodes[:, :2] == self.nodes[:, 2:]).all(axis=1)
        self.shares = np.where(self.is_rod, 0.5, 1.0)
        if len(np.unique(self.nodes)) < self.nodes.size - 2 * self.is_rod.sum():
            raise InvalidSystem("Frames: a particle must be in one frame only.")
        self.held = np.zeros((len(self.nodes), 6), bool) if held is None else np.array(held, bool)
        if self.held.shape != (len(self.nodes), 6):
            raise InvalidSystem(f"Frames: held must have shape {(len(self.nodes), 6)}, got {self.held.shape}.")
        arms = self.arms(points)
        moments = np.linalg.eigvalsh(np.einsum("fai,faj->fij", arms, arms))
        flat = np.flatnonzero(~self.is_rod & (moments[:, 0] <= _FLAT * moments[:, 2]))
        if len(flat):
            raise InvalidSystem(f"Frames: the four particles of frame {flat[0]} must not be in a plane.")
        self.rest_arms, self.rest_centers = arms, self.centers(points)
        self._n_nodes = len(points)
        several = ~self.is_rod[:, None] | (np.arange(len(_PAIRS)) == 0)
        self._ends, self._frame_of_rod = self.nodes[:, _PAIRS][several], np.nonzero(several)[0]
        self._lengths = np.linalg.norm(points[self._ends[:, 0]] - points[self._ends[:, 1]], axis=1)
        if len(self._lengths) and not self._lengths.min() > 0.0:
            frame = int(np.argmax(self.nodes[:, 0] == self._ends[np.argmin(self._lengths), 0]))
            raise InvalidSystem(f"Frames: both particles of frame {frame} are at one place.")

    def __len__(self) -> int:
        return len(self.nodes)

    @cached_property
    def rods(self) -> RigidBars:
        """The six rods of each frame, or the one of two particles, as constraints."""
        return self._rods(np.ones(len(self), bool))

    def _rods(self, chosen: NDArray[np.bool_]) -> RigidBars:
        of_chosen = chosen[self._frame_of_rod]
        return RigidBars(self._ends[of_chosen], self._lengths[of_chosen])

    def constraints(self, fixed: NDArray[np.bool_], required_by: str) -> dict[str, Constraint]:
        """Return rods and held centres of frames that are not fixed, by fixed coordinates [n, 3], for other methods.

        Raises
        ------
        InvalidSystem
            If a part of a rotation is held.
        """
        free = np.asarray(~fixed[self.nodes].all(axis=(1, 2)), bool)
        partly = np.flatnonzero(free & self.held[:, 3:].any(axis=1))
        if len(partly):
            raise InvalidSystem(
                f"{required_by} cannot hold the rotation of frame {partly[0]} in part; take EnergyMomentum or Midpoint."
            )
        found: dict[str, Constraint] = {"frames": self._rods(free)} if free.any() else {}
        for name, kind, size in (("held centres", ~self.is_rod, 4), ("held centres of rods", self.is_rod, 2)):
            frames, axes = np.nonzero(self.held[:, :3] & (free & kind)[:, None])
            if len(frames):
                nodes = np.ascontiguousarray(self.nodes[frames, :size])
                found[name] = _HeldCentres(nodes, axes, self.rest_centers[frames, axes])
        return found

    def weights(self, numbers: ArrayLike, at: ArrayLike) -> sp.csr_array:
        """Return the weights [p, n] of particles in points that move with frames, for `fem.couplings.Interpolation`.

        Parameters
        ----------
        numbers : int [p]
            The frame of each point.
        at : float64 [p, 3]
            The points in m, undeformed.

        Raises
        ------
        InvalidSystem
            If there is no such frame, or shapes do not match.
        """
        chosen, places = np.atleast_1d(np.asarray(numbers)), np.atleast_2d(np.asarray(at, dtype=float))
        if chosen.dtype.kind not in "iu" or chosen.ndim != 1 or places.shape != (len(chosen), 3):
            raise InvalidSystem("Frames: points must be given as the numbers [p] of frames and positions [p, 3].")
        if not np.isfinite(places).all() or np.any((chosen < 0) | (chosen >= len(self))):
            raise InvalidSystem(f"Frames: frames of points must be from 0 to {len(self) - 1}, and positions finite.")
        if self.is_rod[chosen].any():
            raise InvalidSystem("Frames: points must be of frames of four particles, which rods are not.")
        arms = self.rest_arms[chosen]
        second = np.einsum("pai,paj->pij", arms, arms)
        along = _solved(second, places - self.rest_centers[chosen])
        found = 0.25 + np.einsum("pai,pi->pa", arms, along)
        rows = np.repeat(np.arange(len(chosen)), 4)
        return sp.csr_array((found.ravel(), (rows, self.nodes[chosen].ravel())), shape=(len(chosen), self._n_nodes))

    def centers(self, q: Array) -> Array:
        """Return the centres [f, 3] in m of frames at the positions q [n, 3] of particles, or their velocities."""
        return q[self.nodes].mean(axis=1)

    def arms(self, q: Array) -> Array:
        """Return the positions [f, 4, 3] in m of particles relative to the centres of their frames."""
        x = q[self.nodes]
        x = x - x[:, :1]
        return x - x.mean(axis=1, keepdims=True)

    def rotations(self, q0: Array, q: Array) -> Array:
        """Return the matrices [f, 3, 3] by which frames have rotated from positions q0 to q [n, 3].

        Of rods the smallest rotation that takes one direction to the other.
        """
        return self._rotated(self.arms(q0), self.arms(q))

    def _rotated(self, before: Array, now: Array) -> Array:
        out = np.empty((len(self), 3, 3))
        rods, four = self.is_rod, ~self.is_rod
        second, mixed = (np.einsum("fai,faj->fij", before[four], x[four]) for x in (before, now))
        out[four] = np.linalg.solve(second, mixed).swapaxes(1, 2)
        a, b = (x[rods, 0] / np.linalg.norm(x[rods, 0], axis=1)[:, None] for x in (before, now))
        middle = a + b  # reflections at the plane across the first direction, then across the middle of both
        axis = np.where((middle**2).sum(axis=1, keepdims=True) > _FLAT, middle, _any_across(a))
        axis /= np.linalg.norm(axis, axis=1)[:, None]
        mirrors = [np.eye(3) - 2.0 * np.einsum("fi,fj->fij", n, n) for n in (axis, a)]
        out[rods] = mirrors[0] @ mirrors[1]
        return out

    def rotation_vectors(self, q: Array) -> Array:
        """Return the rotations [f, 3] in rad since the undeformed state as vectors along their axes, of at most π."""
        from scipy.spatial.transform import Rotation  # which takes long to import

        turned = self._rotated(self.rest_arms, self.arms(q))
        return np.asarray(Rotation.from_matrix(turned).as_rotvec(), float)

    def distortion(self, q: Array) -> float:
        """Return the largest relative error of a distance between two particles of a frame."""
        lengths = np.linalg.norm(q[self._ends[:, 0]] - q[self._ends[:, 1]], axis=1)
        return float(np.abs(lengths / self._lengths - 1.0).max(initial=0.0))

    def velocities(self, q: Array, v: ArrayLike, omega: ArrayLike) -> Array:
        """Return the velocities [n, 3] in m/s of particles at q [n, 3] of frames with v and ω [f, 3] or [3]; else zero.

        Parameters
        ----------
        q : float64 [n, 3]
            In m.
        v, omega : float64 [f, 3] or [3]
            Velocities of centres in m/s and of rotation in rad/s.
        """
        shape = (len(self), 3)
        of_center, of_rotation = np.broadcast_to(v, shape), np.broadcast_to(omega, shape)
        out = np.zeros_like(q)
        out[self.nodes] = of_center[:, None] + np.cross(of_rotation[:, None], self.arms(q))
        return out

    def rigid_velocities(self, q: Array, v: Array) -> Array:
        """Return velocities v [n, 3] in m/s at positions q [n, 3] with those of frames as near to them as rigid ones.

        That is with the same momentum and angular momentum of particles of equal mass.
        """
        out, none = np.array(v, dtype=float), np.zeros_like(self.held)
        weights, rooms = np.ones(len(q)), np.empty((3, *q.shape))
        make_rigid(q, out, np.zeros_like(q), self.nodes, self.is_rod, none, weights, np.zeros(q.shape, bool), *rooms)
        return out

    def accelerations(self, system: Masses, force: Array, q: Array, v: Array) -> Array:
        """Return accelerations [n, 3] in m/s² under forces [n, 3] in N, those of frames as of rigid bodies.

        Fixed particles have none.
        """
        inwards = self._inwards(system, q, v)
        if self._coupled(system):
            out = self._nearest_rigid(system, q, force - system.apply_mass(inwards)) + inwards
            out[system.fixed] = 0.0
            return out
        out = self.resultants(system, force - nodal_mass(system)[:, None] * inwards, q)
        out = system.accelerations(out) + inwards
        out[system.fixed] = 0.0
        return out

    def resultants(self, system: Masses, force: Array, q: Array) -> Array:
        """Return forces [n, 3] in N with those on frames replaced by those of a rigid motion with the same resultants.

        So of what acts within frames nothing is left, nor of what acts along motions that are held.
        """
        out = force.copy()
        write_rigid_forces(force, q, self.nodes, self.is_rod, self.held, nodal_mass(system), out)
        return out

    def compliance(self, system: Masses, q: Array) -> Array:
        """Return accelerations by loads [f, 6, 6]: of the centre and of rotation, by force and moment about the centre.

        At positions q [n, 3]; those of what is held are zero.
        """
        mass, arms, inertia = self._inertia(system, q)
        held = self.held | np.asarray(system.fixed[self.nodes].all(axis=(1, 2)))[:, None]
        out = np.zeros((len(self), 6, 6))
        out[:, :3, :3] = np.eye(3) / mass.sum(axis=1)[:, None, None]
        out[:, 3:, 3:] = np.linalg.inv(inertia)
        out[held] = 0.0
        out.swapaxes(1, 2)[held] = 0.0
        x, y, z = arms.mean(axis=1).T  # from the centre of mass to the centre
        zero = np.zeros_like(x)
        to_mass = np.tile(np.eye(6), (len(self), 1, 1))
        to_mass[:, 3:, :3] = np.stack([zero, -z, y, z, zero, -x, -y, x, zero], axis=-1).reshape(-1, 3, 3)
        return np.asarray(to_mass.swapaxes(1, 2) @ out @ to_mass, float)

    def rigid_motion(self, system: Masses, q: Array, v: Array, a: Array) -> tuple[Array, Array]:
        """Return velocities and accelerations [n, 3] with those of frames made those of rigid motions, nearest by mass.

        They keep their momenta, and the rates of these.
        """
        if self._coupled(system):
            fixed = system.fixed
            given_v, given_a = (np.where(fixed, one, 0.0) for one in (v, a))
            v = self._nearest_rigid(system, q, system.apply_mass(np.where(fixed, 0.0, v))) + given_v
            inwards = np.where(fixed, 0.0, self._inwards(system, q, v))
            rest = np.where(fixed, 0.0, a) - inwards
            return v, self._nearest_rigid(system, q, system.apply_mass(rest)) + inwards + given_a
        masses, v, a = nodal_mass(system), v.copy(), a.copy()
        make_rigid(q, v, a, self.nodes, self.is_rod, self.held, masses, system.fixed, *np.empty((3, *q.shape)))
        return v, a

    def small_motions(self, q: Array) -> sp.csr_array:
        """Return the small motions [3n, 3 (2f + k)] of nodes at q [n, 3]: u + θ × ρ of frames, u of the k others."""
        n, f = len(q), len(self)
        frame = np.full(n, -1)
        frame[self.nodes] = np.arange(f)[:, None]
        within, free = np.flatnonzero(frame >= 0), np.flatnonzero(frame < 0)
        x, y, z = (q[within] - self.centers(q)[frame[within]]).T
        zero = np.zeros_like(x)
        turn = np.stack([zero, z, -y, -z, zero, x, y, -x, zero], axis=-1).reshape(-1, 3, 3)  # −ρ̂
        column = np.empty(n, int)
        column[within], column[free] = 2 * frame[within], 2 * f + np.arange(len(free))
        rows = np.concatenate([np.arange(n), within])
        columns = np.concatenate([column, 2 * frame[within] + 1])
        blocks = np.concatenate([np.tile(np.eye(3), (n, 1, 1)), turn])
        place = 3 * rows[:, None, None] + np.arange(3)[:, None], 3 * columns[:, None, None] + np.arange(3)
        where = tuple(np.broadcast_to(index, blocks.shape).ravel() for index in place)
        return sp.csr_array((blocks.ravel(), where), shape=(3 * n, 3 * (2 * f + len(free))))

    def _coupled(self, system: Masses) -> bool:
        """Return whether the mass couples particles of frames with others."""
        return has_couplings(system, self.nodes)

    def _nearest_rigid(self, system: Masses, q: Array, momenta: Array) -> Array:
        """Return the velocities P z [n, 3] of rigid motions z with PᵀM P z = Pᵀ momenta, of a mass that is a matrix."""
        from scipy.sparse.linalg import splu

        P, f = self.small_motions(q), len(self)
        held = np.zeros(3 * (2 * f + len(q) - len(np.unique(self.nodes))), bool)
        of_frames = self.held | np.asarray(system.fixed[self.nodes].all(axis=(1, 2)))[:, None]
        held[: 6 * f] = of_frames.ravel()
        others = np.ones(len(q), bool)
        others[self.nodes] = False
        held[6 * f :] = system.fixed[others].ravel()
        mass = P.T @ sp.kron(sp.csr_array(system.mass), sp.eye_array(3), format="csr") @ P
        rods = np.flatnonzero(self.is_rod)
        d = q[self.nodes[rods, 0]] - q[self.nodes[rods, 1]]
        about = np.einsum("r,ri,rj->rij", nodal_mass(system)[self.nodes[rods, 0]], d, d)  # no momentum is about it
        places = 6 * rods[:, None, None] + 3 + np.arange(3)[:, None], 6 * rods[:, None, None] + 3 + np.arange(3)
        where = tuple(np.broadcast_to(index, about.shape).ravel() for index in places)
        mass = sp.csr_array(mass) + sp.csr_array((about.ravel(), where), shape=mass.shape)
        free, z = np.flatnonzero(~held), np.zeros(len(held))
        if len(free):
            basis = sp.csr_array(sp.csc_array(sp.eye_array(len(held)))[:, free])
            mass, right = sp.csc_array(basis.T @ mass @ basis), (P.T @ momenta.ravel())[free]
            size = 1.0 / np.sqrt(mass.diagonal())
            factors = splu(sp.csc_array(mass * size[:, None] * size))
            z[free] = size * factors.solve(size * right)
        return np.asarray(P @ z, float).reshape(q.shape)

    def _inwards(self, system: Masses, q: Array, v: Array) -> Array:
        """Return the accelerations ω × (ω × ρ) [n, 3] of frames that rotate about their centres; zero elsewhere."""
        out = np.zeros_like(q)
        write_inwards(q, np.ascontiguousarray(v), self.nodes, self.is_rod, nodal_mass(system), out)
        return out

    def _inertia(self, system: Masses, q: Array) -> tuple[Array, Array, Array]:
        """Return masses [f, 4] in kg, arms [f, 4, 3] in m from the centres of mass, and inertia [f, 3, 3] in kg m².

        That of a rod about its axis is the one across it: there is no moment about it, and so no rotation.
        """
        mass, arms = self.shares[:, None] * nodal_mass(system)[self.nodes], self.arms(q)
        arms = arms - np.einsum("fa,fai->fi", mass, arms)[:, None] / mass.sum(axis=1)[:, None, None]
        second = np.einsum("fa,fai,faj->fij", mass, arms, arms)
        across = np.where(self.is_rod, 0.0, 1.0)[:, None, None] * second
        return mass, arms, np.trace(second, axis1=1, axis2=2)[:, None, None] * np.eye(3) - across


def inertia_of(second: Array) -> Array:
    """Return the moments of inertia tr(S) 1 − S [f, 3, 3] of second moments S = Σ m ρ ρᵀ [f, 3, 3]."""
    return np.asarray(np.trace(second, axis1=1, axis2=2)[:, None, None] * np.eye(3) - second, float)


def _any_across(directions: Array) -> Array:
    """Return a vector [f, 3] across each of unit vectors [f, 3]."""
    axes = np.eye(3)[np.argmin(np.abs(directions), axis=1)]
    return np.asarray(np.cross(directions, axes), float)


class _HeldCentres(Constraint):
    """Coordinates of the means of particles that do not change."""

    def __init__(self, nodes: IntArray, axes: NDArray[np.integer], places: Array):
        self.nodes = nodes
        self._axes, self._places = np.eye(3)[axes][:, None] / nodes.shape[1], places

    def value(self, x: Array) -> Array:
        """Return g [c] in m."""
        return np.asarray((self._axes * x).sum(axis=(1, 2)) - self._places)

    def gradient(self, x: Array) -> Array:
        """Return its derivative [c, k, 3]."""
        return np.array(np.broadcast_to(self._axes, x.shape))

    def hessian(self, x: Array) -> Array:
        """Return zero [c, 3k, 3k]."""
        return np.zeros((len(x), 3 * x.shape[1], 3 * x.shape[1]))


def _solved(matrices: Array, vectors: Array) -> Array:
    return np.asarray(np.linalg.solve(matrices, vectors[:, :, None])[:, :, 0], float)


@kernel
def write_rigid_forces(force, q, nodes, is_rod, held, masses, out):
    """Write to out what rigid motions of frames have of forces [n, 3] with the same resultants; see `Frames`.

    J r = Σ ρ × f about the centre of mass, or of frames whose centres are held about these; of frames that are held in
    part otherwise from all six equations of the motion of the centre, those of what is held left out.
    """
    rooms = np.empty((4, 3)), np.empty(3), np.empty((3, 3)), np.empty(3), np.empty((6, 7)), np.empty((3, 6))
    for k in range(len(nodes)):
        write_rigid_force(k, force, q, nodes, is_rod, held, masses, rooms, out)


@uncounted_formula
def write_rigid_force(k, force, q, nodes, is_rod, held, masses, rooms, out):
    """Write to out what a rigid motion of the k-th frame has of forces [n, 3]; see `write_rigid_forces`."""
    x, f, J, r, A, motion = rooms
    share = 0.5 if is_rod[k] else 1.0
    of_center, of_rotation = 0, 0
    for i in range(3):
        of_center += held[k, i]
        of_rotation += held[k, 3 + i]
    pivoted = of_center == 3 and of_rotation == 0
    in_part = of_center + of_rotation > 0 and not pivoted
    total, first = 0.0, nodes[k, 0]
    r[:] = 0.0
    for a in range(4):
        m = share * masses[nodes[k, a]]
        total += m
        weight = 1.0 if pivoted or in_part else m
        for i in range(3):
            x[a, i] = q[nodes[k, a], i] - q[first, i]
            r[i] += weight * x[a, i]
    for a in range(4):
        for i in range(3):
            x[a, i] -= r[i] / (4.0 if pivoted or in_part else total)
    if in_part:
        _solve_held(force, x, nodes[k], share, is_rod[k], held[k], masses, A, motion)
        for i in range(3):
            f[i], r[i] = A[i, 6] * total, A[3 + i, 6]
    else:
        f[:], r[:] = 0.0, 0.0
        for a in range(4):
            node = nodes[k, a]
            for i in range(3):
                f[i] += 0.0 if pivoted else share * force[node, i]
            r[0] += share * (x[a, 1] * force[node, 2] - x[a, 2] * force[node, 1])
            r[1] += share * (x[a, 2] * force[node, 0] - x[a, 0] * force[node, 2])
            r[2] += share * (x[a, 0] * force[node, 1] - x[a, 1] * force[node, 0])
        _solve_rotation(x, nodes[k], share, is_rod[k], masses, J, r)
    for a in range(4):
        node = nodes[k, a]
        out[node, 0] = masses[node] * (f[0] / total + r[1] * x[a, 2] - r[2] * x[a, 1])
        out[node, 1] = masses[node] * (f[1] / total + r[2] * x[a, 0] - r[0] * x[a, 2])
        out[node, 2] = masses[node] * (f[2] / total + r[0] * x[a, 1] - r[1] * x[a, 0])


@uncounted_formula
def _solve_rotation(x, nodes, share, is_rod, masses, J, r):
    """Turn moments r [3] into J⁻¹ r of the inertia J of masses with arms x [4, 3]."""
    for i in range(3):
        for j in range(3):
            J[i, j] = 0.0
    for a in range(4):
        m = share * masses[nodes[a]]
        square = x[a, 0] ** 2 + x[a, 1] ** 2 + x[a, 2] ** 2
        for i in range(3):
            J[i, i] += m * square
            if not is_rod:  # there is no moment about the axis of a rod, and so no rotation
                for j in range(3):
                    J[i, j] -= m * x[a, i] * x[a, j]
    for i in range(3):  # of J = L D Lᵀ
        for j in range(i):
            for h in range(j):
                J[i, j] -= J[i, h] * J[j, h] * J[h, h]
            J[i, j] /= J[j, j]
            J[i, i] -= J[i, j] * J[i, j] * J[j, j]
            r[i] -= J[i, j] * r[j]
    for i in range(2, -1, -1):
        r[i] /= J[i, i]
        for j in range(i + 1, 3):
            r[i] -= J[j, i] * r[j]


@kernel
def write_inwards(q, v, nodes, is_rod, masses, out):
    """Write the accelerations ω × (ω × ρ) of particles of frames that rotate about their centres to out [n, 3]."""
    x, J, r = np.empty((4, 3)), np.empty((3, 3)), np.empty(3)
    for k in range(len(nodes)):
        share, total, first = 0.5 if is_rod[k] else 1.0, 0.0, nodes[k, 0]
        for a in range(4):
            total += share * masses[nodes[k, a]]
        for i in range(3):
            mean = 0.0
            for a in range(4):
                x[a, i] = q[nodes[k, a], i] - q[first, i]
                mean += share * masses[nodes[k, a]] * x[a, i]
            for a in range(4):
                x[a, i] -= mean / total
        r[:] = 0.0
        for a in range(4):
            node = nodes[k, a]
            m = share * masses[node]
            r[0] += m * (x[a, 1] * v[node, 2] - x[a, 2] * v[node, 1])
            r[1] += m * (x[a, 2] * v[node, 0] - x[a, 0] * v[node, 2])
            r[2] += m * (x[a, 0] * v[node, 1] - x[a, 1] * v[node, 0])
        _solve_rotation(x, nodes[k], share, is_rod[k], masses, J, r)
        square = r[0] ** 2 + r[1] ** 2 + r[2] ** 2
        for i in range(3):
            mean = 0.25 * (x[0, i] + x[1, i] + x[2, i] + x[3, i])
            for a in range(4):
                x[a, i] -= mean
        for a in range(4):
            along = r[0] * x[a, 0] + r[1] * x[a, 1] + r[2] * x[a, 2]
            for i in range(3):
                out[nodes[k, a], i] = r[i] * along - square * x[a, i]


@kernel
def make_rigid(q, v, a, nodes, is_rod, held, masses, fixed, momentum, rigid, inwards):
    """Make velocities and accelerations [n, 3] of frames those of rigid motions, nearest by mass.

    What is fixed keeps its own; momentum, rigid and inwards [n, 3] are rooms.
    """
    _nearest_rigid(q, v, nodes, is_rod, held, masses, fixed, momentum, rigid)
    for n in range(len(q)):
        for i in range(3):
            inwards[n, i] = 0.0
    write_inwards(q, v, nodes, is_rod, masses, inwards)
    for n in range(len(q)):
        for i in range(3):
            a[n, i] -= 0.0 if fixed[n, i] else inwards[n, i]
    _nearest_rigid(q, a, nodes, is_rod, held, masses, fixed, momentum, rigid)
    for n in range(len(q)):
        for i in range(3):
            a[n, i] += 0.0 if fixed[n, i] else inwards[n, i]


@formula
def _nearest_rigid(q, v, nodes, is_rod, held, masses, fixed, momentum, rigid):
    """Make v that of rigid motions, where it is not fixed."""
    for n in range(len(q)):
        for i in range(3):
            momentum[n, i] = masses[n] * v[n, i]
    write_rigid_forces(momentum, q, nodes, is_rod, held, masses, rigid)
    for k in range(len(nodes)):
        for node in nodes[k]:
            for i in range(3):
                if not fixed[node, i]:
                    v[node, i] = rigid[node, i] / masses[node]


@uncounted_formula
def _solve_held(force, x, nodes, share, is_rod, held, masses, A, motion):
    """Write to A[:, 6] the rates of the centre and of rotation of a frame that is held in part, for arms x [4, 3]."""
    for i in range(6):
        for j in range(7):
            A[i, j] = 0.0
    for a in range(4):
        m, node = share * masses[nodes[a]], nodes[a]
        for i in range(3):
            for j in range(3):
                motion[i, j], motion[i, 3 + j] = 1.0 if i == j else 0.0, 0.0
        motion[0, 4], motion[0, 5] = x[a, 2], -x[a, 1]  # θ × ρ
        motion[1, 5], motion[1, 3] = x[a, 0], -x[a, 2]
        motion[2, 3], motion[2, 4] = x[a, 1], -x[a, 0]
        for i in range(6):
            for h in range(3):
                A[i, 6] += share * motion[h, i] * force[node, h]
                for j in range(6):
                    A[i, j] += m * motion[h, i] * motion[h, j]
    size, square = 0.0, 0.0
    for i in range(6):
        size += A[i, i]
    for i in range(3):
        square += x[0, i] ** 2
    for i in range(3):
        for j in range(3):
            if is_rod:  # it does not rotate about its axis
                A[3 + i, 3 + j] += size * x[0, i] * x[0, j] / square
    for i in range(6):
        if held[i]:
            for j in range(6):
                A[i, j], A[j, i] = 0.0, 0.0
            A[i, i], A[i, 6] = size, 0.0
    for i in range(6):  # A is symmetric and positive
        for j in range(i + 1, 6):
            factor = A[j, i] / A[i, i]
            for h in range(i, 7):
                A[j, h] -= factor * A[i, h]
    for i in range(5, -1, -1):
        for j in range(i + 1, 6):
            A[i, 6] -= A[i, j] * A[j, 6]
        A[i, 6] /= A[i, i]


def nodal_mass(system: Masses) -> Array:
    """Return what is on the diagonal of the mass [n] in kg."""
    return np.asarray(system.mass if system.is_lumped else system.mass.diagonal(), float)


def has_couplings(system: Masses, nodes: IntArray) -> bool:
    """Return whether the mass is a matrix that couples some nodes with others."""
    if system.is_lumped:
        return False
    couplings = sp.csr_array(system.mass - sp.diags_array(nodal_mass(system)))
    return bool(np.any(couplings[nodes.ravel()].data))


def nodes_and_degrees(system: Masses) -> tuple[int, int]:
    """Return how many nodes and degrees of freedom a system has; a frame is one node, with three rotations."""
    frames = getattr(system, "frames", None)
    if frames is None:
        return system.n_nodes, int((~system.fixed).sum())
    others = np.ones(system.n_nodes, bool)
    others[frames.nodes] = False
    fixed = np.asarray(system.fixed[frames.nodes].all(axis=(1, 2)))
    free = ~frames.held & ~fixed[:, None]
    spinning = free[frames.is_rod, 3:].all(axis=1)  # a rotation of a rod about its axis is none
    degrees = int((~system.fixed[others]).sum() + free.sum() - spinning.sum())
    return int(others.sum()) + len(frames), degrees


def require_frames(frames: Frames, system: Masses) -> None:
    """Check that a system can have frames."""
    if system.dim != 3:
        raise InvalidSystem(f"frames must be in a system of three dimensions, got {system.dim}.")
    require_nodes("a frame", frames.nodes, system.n_nodes)
    if system.massless[frames.nodes].any():
        raise InvalidSystem("the particles of frames must have mass.")
    fixed = system.fixed[frames.nodes].reshape(len(frames), -1)
    partly = np.flatnonzero(fixed.any(axis=1) & ~fixed.all(axis=1))
    if len(partly):
        raise InvalidSystem(
            f"all particles of a frame must be fixed, or none; of frame {partly[0]} some are. Give Frames the "
            "displacements and rotations that are held."
        )
