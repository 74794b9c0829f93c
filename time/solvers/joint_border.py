"""The conditions of joints next to the equations of displacements and rotations: multipliers as further unknowns.

The forces Gᵀλ with G at the middle of a step, or at its end, are among those of particles; g(q¹) = 0 are further
equations. With λ = s μ and the equations times s and the impulse of the step, numbers are of one size: a violation
counts as the momentum of the masses that it moves. −δ in the block of multipliers lets redundant joints have a matrix
that is regular; the equations stay as they are, and of forces that are not determined nearly the smallest are found.
"""

from __future__ import annotations

from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from symplex.fem.assembly.pattern import Array, IntArray
from symplex.fem.compiled.kernels import uncounted_kernel as kernel
from symplex.fem.structures.joint_loops import along_rooms, write_resultants_of
from symplex.fem.system import System

DELTA = 1e-7  # δ as a part of the rate 1/s that makes masses a matrix
_STIFF = 1e5  # how much stiffer than all else joints are where a matrix is looked at for positive pivots


class BorderTables(NamedTuple):
    """Where the blocks of multipliers are.

    Attributes
    ----------
    nodes : int32 [c, 8]
        The particles of conditions.
    condition, side : int64 [k]
        The condition, and which of its sides, of each block and its transpose.
    rotation : int64 [k]
        The node of the rotation there; −1: none, of a node by itself.
    axis : int64 [c]
        Which number of its node the multiplier of a condition is.
    above, below : int32 [k, 2]
        Places of blocks of displacements and rotations with multipliers, and of multipliers with these.
    diagonal : int64 [c]
    acting, seen : float64 [k, 2, 3]
        Rooms.
    """

    nodes: IntArray
    condition: NDArray[np.int64]
    side: NDArray[np.int64]
    rotation: NDArray[np.int64]
    axis: NDArray[np.int64]
    above: IntArray
    below: IntArray
    diagonal: NDArray[np.int64]
    acting: Array
    seen: Array


@kernel
def write_border(of, scale, delta, z, middle, end, gradients, gradients_at_end, out):
    """Write the blocks of multipliers: what conditions do where they act, and how they change at the end.

    Times the scale [c], with −δ on the diagonal, for an increment z [nodes, 3] of coordinates.
    """
    write_resultants_of(of.nodes, of.condition, of.side, gradients, middle, of.acting)
    write_resultants_of(of.nodes, of.condition, of.side, gradients_at_end, end, of.seen)
    for k in range(len(of.condition)):
        c = of.condition[k]
        axis, rotation = of.axis[c], of.rotation[k]
        if rotation < 0:
            for i in range(3):
                out[of.above[k, 0], i, axis] = scale[c] * of.acting[k, 0, i]
                out[of.below[k, 0], axis, i] = scale[c] * of.seen[k, 0, i]
            continue
        # r·(T δθ), T = 4/(4 + θ²) (1 + ½ θ̂): r becomes 4/(4 + θ²) (r + ½ r × θ).
        x, y, w = z[rotation, 0], z[rotation, 1], z[rotation, 2]
        factor = 4.0 / (4.0 + x * x + y * y + w * w)
        u, v, s = of.seen[k, 1, 0], of.seen[k, 1, 1], of.seen[k, 1, 2]
        of.seen[k, 1, 0] = factor * (u + 0.5 * (v * w - s * y))
        of.seen[k, 1, 1] = factor * (v + 0.5 * (s * x - u * w))
        of.seen[k, 1, 2] = factor * (s + 0.5 * (u * y - v * x))
        for j in range(2):
            for i in range(3):
                out[of.above[k, j], i, axis] = scale[c] * of.acting[k, j, i]
                out[of.below[k, j], axis, i] = scale[c] * of.seen[k, j, i]
    for c in range(len(of.nodes)):
        out[of.diagonal[c], of.axis[c], of.axis[c]] = -delta


@final
class JointBorder:
    """The multipliers of the joints of a system, three to a node of the coordinates of Newton's method.

    Parameters
    ----------
    system : System
    first : int
        The number of nodes before them.
    of_node : int32 [n, 2]
        The nodes of the displacement and the rotation that a particle moves with; −1: no rotation.

    Attributes
    ----------
    n_nodes : int
        Of multipliers.
    at_end : Joints
        As they are at the end of the increment.
    pairs : int32 [k, 2]
        The couplings of nodes of frames with those.
    unused : bool [n_nodes, 3]
        True where there is no multiplier.
    multipliers : float64 [c]
        λ of the last increment.
    """

    def __init__(self, system: System, first: int, of_node: IntArray):
        joints = system.joints
        self._system, self._joints, self._first = system, joints, first
        # Nodes are of one joint each, so that none couples bodies of several joints.
        within = [np.arange(part.stop - part.start) for part in joints.parts]
        starts = np.cumsum([0, *(-(-len(numbers) // 3) for numbers in within)])
        self.n_nodes = int(starts[-1])
        node = np.concatenate([start + numbers // 3 for start, numbers in zip(starts, within, strict=False)])
        self._at = node, np.concatenate(within) % 3  # the place of each condition among unknowns
        self.unused = np.ones((self.n_nodes, 3), bool)
        self.unused[self._at] = False
        self._condition, self._side, self._of = joints.ends
        self._node, self._axis = first + self._at[0][self._condition], self._at[1][self._condition]
        rows = of_node[joints.nodes[self._condition, 4 * self._side]]  # [k, 2]
        self._rotation = rows[:, 1].astype(np.int64)
        own = np.arange(first, first + self.n_nodes)
        self._rows = rows
        coupled = np.column_stack([rows.ravel(), np.repeat(self._node, 2)])[rows.ravel() >= 0]
        self.pairs = np.concatenate([coupled, np.column_stack([own, own])]).astype(np.int32)
        self._acting = self.at_end = joints  # those that act on the way, and those that hold at its end
        self.multipliers, self._scale = np.zeros(joints.size), np.ones(joints.size)
        self._mass = np.ones(joints.size)
        self._rate = 1.0

    def find_places(self, keys: IntArray, n: int) -> None:
        """Find where blocks are among those with the keys row · n + column, which ascend."""
        node = self._node[:, None]
        self._above = np.searchsorted(keys, self._rows * n + node).astype(np.int32)
        self._below = np.searchsorted(keys, node * n + self._rows).astype(np.int32)
        own = self._first + self._at[0]
        self._diagonal = np.searchsorted(keys, own * n + own)
        # Of pairs of frames of the same condition, for `add_stiffness_of`
        both = [np.flatnonzero(self._condition == c) for c in range(self._joints.size)]
        pairs = np.array([(i, j) for entries in both for i in entries for j in entries], np.int64).reshape(-1, 2)
        self._first_of, self._second_of = pairs[:, 0], pairs[:, 1]
        rows, columns = self._rows[self._first_of], self._rows[self._second_of]
        present = (rows[:, :, None] >= 0) & (columns[:, None, :] >= 0)
        places = np.searchsorted(keys, rows[:, :, None].astype(np.int64) * n + columns[:, None, :])
        self._between = np.where(present, places, -1)

    def tables(self) -> dict[str, np.ndarray]:
        """Return what compiled iterations read and write to (`symplex.time.solvers.framed_newton`), by names there."""
        joints, c, k = self._joints, self._joints.size, len(self._condition)
        of, starts = joints.conditions, [part.start for part in joints.parts]
        row, moving, weights, constants = joints.drives()
        along = along_rooms(0 if joints.has_many else c)
        at_end = {f"{name}_at_end": getattr(of, name).copy() for name in ("right", "right_constant", "offset")}
        return {
            **{name: array.copy() for name, array in of._asdict().items()},
            **at_end,
            "driven": row,
            "moving": moving,
            "driven_weights": weights,
            "driven_constants": constants,
            "works": np.zeros(len(joints.moving)),
            "joint": np.searchsorted(starts, np.arange(c), side="right") - 1,
            "slots": self._system.joint_slots(),
            "condition": self._condition,
            "side": self._side,
            "of": self._of,
            "rotation": self._rotation,
            "above": self._above,
            "below": self._below,
            "node": self._first + self._at[0],
            "axis": self._at[1],
            "diagonal": self._diagonal,
            **{name: np.zeros(c) for name in ("scale", "scaled", "multipliers", "values")},
            **{name: np.zeros((c, 8, 3)) for name in ("gradients", "gradients_at_end")},
            **{name: np.zeros((k, 2, 3)) for name in ("acting", "seen")},
            "order": along.order,
            "along": along.matrix,
            "of_one": along.of_frame,
        }

    def take_times(self, t0: float, t1: float) -> None:
        """Be those of an increment between two times, at the end of which conditions hold."""
        self._acting, self.at_end = self._joints.at(t0, t1), self._joints.at(t1)

    def works(self, dq: Array) -> list[float]:
        """Return the work in J of what keeps each motion that is given as it is, on the increment Δq [n, 3]."""
        return self._acting.works(self._gradients, self.multipliers, dq)

    def begin(self, q0: Array, inertia: float, impulse: float, stiffness: float) -> None:
        """Be those of a step from positions q0 [n, 3]; without inertia K/M is about ``stiffness``."""
        self._mass = self._joints.effective_masses(self._system, q0)
        self._rate, self._impulse = inertia or stiffness, impulse
        self._scale = np.sqrt(self._mass) * self._rate / impulse

    def unknowns(self, multipliers: Array) -> Array:
        """Return μ [nodes, 3] of multipliers λ [c]."""
        out = np.zeros(self.unused.shape)
        out[self._at] = multipliers / self._scale
        return out

    def at_increment(self, mu: Array, middle: Array, end: Array, forces: Array) -> None:
        """Take the multipliers μ [nodes, 3], and add their forces to those [n, 3] at the positions ``middle``."""
        np.multiply(mu[self._at], self._scale, out=self.multipliers)
        self._middle, self._end = middle, end
        self._gradients = self._acting.gradients(middle)
        self._joints.add_forces(self._gradients, self.multipliers, forces)

    def write_values(self, out: Array) -> None:
        """Write the equations of conditions [nodes, 3] to out."""
        out[...] = self.equations(self.at_end.violations(self._end))

    def equations(self, values: Array) -> Array:
        """Return numbers [c, …] of conditions as those [nodes, 3, …] of their equations."""
        out = np.zeros((*self.unused.shape, *values.shape[1:]))
        out[self._at] = (values.T * (self._impulse * self._scale)).T
        return out

    def of_equations(self, mu: Array) -> Array:
        """Return numbers [nodes, 3, …] of equations as those [c, …] of conditions: the transpose of `equations`."""
        return (mu[self._at].T * (self._impulse * self._scale)).T

    def add_stiffness(self, weight: float, blocks: Array) -> None:
        """Add w Σ λ ∇²g to blocks of particles, in N/m."""
        self._acting.add_stiffness(weight * self.multipliers, self._system.joint_slots(), blocks)

    def add_border(self, z: Array, out: Array) -> None:
        """Write the blocks of multipliers for an increment z [nodes, 3] of coordinates to out."""
        gradients = self.at_end.gradients(self._end)
        scale, delta = self._impulse * self._scale, DELTA * self._rate
        write_border(self._tables(), scale, delta, z, self._middle, self._end, self._gradients, gradients, out)

    def _tables(self) -> BorderTables:
        k = len(self._condition)
        rooms = np.empty((k, 2, 3)), np.empty((k, 2, 3))
        of_rows = self._joints.nodes, self._condition, self._side, self._rotation, self._at[1]
        return BorderTables(*of_rows, self._above, self._below, self._diagonal, *rooms)

    def add_stiffness_of(self, q: Array, out: Array) -> None:
        """Add large stiffnesses along all conditions at positions q [n, 3] to out: definite then is so with joints."""
        rows = self._resultants(q, self.at_end.gradients(q))
        size = (_STIFF * self._rate * self._mass)[self._condition[self._first_of]]
        first, second = rows[self._first_of], rows[self._second_of]
        local = size[:, None, None, None, None] * first[:, :, None, :, None] * second[:, None, :, None, :]
        present = self._between >= 0
        np.add.at(out, self._between[present], local[present])

    def _resultants(self, q: Array, gradients: Array) -> Array:
        """Return force and moment [k, 2, 3] of each condition on each of its frames."""
        return self._joints.resultants(q, gradients)[self._condition, self._side]

    def node_of(self, node: int) -> tuple[int, str]:
        """Return a particle of a joint of the multipliers of a node, and the joint's name."""
        condition = int(np.argmax(self._at[0] == node - self._first))
        return int(self._joints.nodes[condition, 0]), self._joints.name_of(condition)
