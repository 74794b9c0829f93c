"""Conditions of joints, their gradients and second derivatives, in compiled loops.

They are g = u·v − c with u = Σ l_a x_a + u₀ and v = Σ r_a x_a + v₀ (see `symplex.fem.structures.joints`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from symplex.fem.assembly.pattern import Array, IntArray
from symplex.fem.compiled.kernels import (
    uncounted_formula as formula,
    uncounted_inlined as inlined,
    uncounted_kernel as kernel,
)
from symplex.fem.compiled.records import Nodes, Numbers, Record, Rows
from symplex.fem.structures.frames import write_rigid_force

_DEPENDENT = 1e-10  # pivots of the scaled matrix of multipliers, below which a condition follows from others


class Conditions(NamedTuple):
    """Conditions of joints as kernels take them.

    Attributes
    ----------
    nodes : int32 [c, 8]
    left, right : float64 [c, 8]
        l and r.
    left_constant, right_constant : float64 [c, 3]
        u₀ and v₀.
    totals : float64 [c, 2]
        The sums of l and of r, 0 or 1.
    offset : float64 [c]
        c.
    """

    nodes: IntArray
    left: Array
    right: Array
    left_constant: Array
    right_constant: Array
    totals: Array
    offset: Array


class ConditionsRecord(Record):
    """The same for conditions of one joint, of k nodes."""

    nodes: Nodes
    left: Rows
    right: Rows
    left_constant: Rows
    right_constant: Rows
    totals: Rows
    offset: Numbers


@inlined
def _components(of, nodes, q0, q1, c, i):
    """Return a component of u and of v of a product at the middle of two positions."""
    first = nodes[0]  # weights 1/4r of positions far from the origin would lose digits
    x = 0.5 * (q0[first, i] + q1[first, i])
    u, v = of.totals[c, 0] * x + of.left_constant[c, i], of.totals[c, 1] * x + of.right_constant[c, i]
    for a in range(1, len(nodes)):
        d = 0.5 * (q0[nodes[a], i] + q1[nodes[a], i]) - x
        u += of.left[c, a] * d
        v += of.right[c, a] * d
    return u, v


@formula
def set_product(of, nodes, q0, q1, c, slopes, place):
    """Set rows of slopes [·, 3] from a place on to the derivative of u·v at the middle of two positions; return u·v."""
    total = 0.0
    for i in range(3):
        u, v = _components(of, nodes, q0, q1, c, i)
        total += u * v
        for a in range(len(nodes)):
            slopes[place + a, i] = of.left[c, a] * v + of.right[c, a] * u
    return total


@kernel
def write_joint_values(q, of, out, first, last):
    """Write g [c] at positions q [n, 3]; return their sum."""
    check = 0.0
    for c in range(first, last):
        total = 0.0
        for i in range(3):
            u, v = _components(of, of.nodes[c], q, q, c, i)
            total += u * v
        out[c] = total - of.offset[c]
        check += out[c]
    return check


@kernel
def write_joint_gradients(q, of, out, first, last):
    """Write ∂g/∂x to rows [c·k, 3], one for each node of each condition; return a sum that is finite if they are."""
    check, k = 0.0, of.nodes.shape[1]
    for c in range(first, last):
        place = k * (c - first)
        check += set_product(of, of.nodes[c], q, q, c, out, place)
    return check


@kernel
def write_conditions(of, q, values, gradients):
    """Write g [c] and ∂g/∂x [c, 8, 3] at positions q [n, 3]."""
    for c in range(len(of.nodes)):
        values[c] = set_product(of, of.nodes[c], q, q, c, gradients[c], 0) - of.offset[c]


@kernel
def add_joint_forces(nodes, gradients, multipliers, out):
    """Add Gᵀλ to out [n, 3]."""
    for c in range(len(nodes)):
        for a in range(8):
            for i in range(3):
                out[nodes[c, a], i] += multipliers[c] * gradients[c, a, i]


@kernel
def add_joint_stiffness(of, joint, factor, multipliers, slots, blocks):
    """Add the factor times Σ λ ∇²g to blocks [nnz, 3, 3], at the places slots [joints, 8, 8] of the joint of each."""
    for c in range(len(of.nodes)):
        weight = factor * multipliers[c]
        for a in range(8):
            left, right = weight * of.left[c, a], weight * of.right[c, a]
            if left == 0.0 and right == 0.0:
                continue
            for b in range(8):
                value = left * of.right[c, b] + right * of.left[c, b]
                if value != 0.0:
                    block = blocks[slots[joint[c], a, b]]
                    for i in range(3):
                        block[i, i] += value


@kernel
def write_resultants_of(nodes, condition, side, gradients, q, out):
    """Write the force and the moment [k, 2, 3] of the gradients of conditions on the frame on one side of each."""
    for k in range(len(condition)):
        c, first = condition[k], 4 * side[k]
        x, y, z = 0.0, 0.0, 0.0
        for a in range(first, first + 4):
            node = nodes[c, a]
            x, y, z = x + 0.25 * q[node, 0], y + 0.25 * q[node, 1], z + 0.25 * q[node, 2]
        for j in range(2):
            for i in range(3):
                out[k, j, i] = 0.0
        for a in range(first, first + 4):
            node = nodes[c, a]
            u, v, w = q[node, 0] - x, q[node, 1] - y, q[node, 2] - z
            f, g, h = gradients[c, a, 0], gradients[c, a, 1], gradients[c, a, 2]
            out[k, 0, 0] += f
            out[k, 0, 1] += g
            out[k, 0, 2] += h
            out[k, 1, 0] += v * h - w * g
            out[k, 1, 1] += w * f - u * h
            out[k, 1, 2] += u * g - v * f


class AlongRooms(NamedTuple):
    """Rooms for what makes motions those that c conditions let be.

    Gradients and what they move [c, 8, 3], numbers [c], a matrix [c, c] and the order of its factors; those of a frame.
    """

    gradients: Array
    moved: Array
    values: Array
    solution: Array
    scale: Array
    order: NDArray[np.int64]
    matrix: Array
    of_frame: Array


def along_rooms(c: int) -> AlongRooms:
    """Return the rooms for many conditions."""
    of_nodes, numbers = np.zeros((2, c, 8, 3)), np.zeros((3, c))
    rest = np.zeros(c, np.int64), np.zeros((c, c)), np.zeros((18, 7))
    return AlongRooms(of_nodes[0], of_nodes[1], numbers[0], numbers[1], numbers[2], *rest)


@kernel
def factorise_along(of, condition, side, ends, q, frames, is_rod, held, masses, fixed, rooms, force, motion):
    """Factorise G M⁻¹ Gᵀ for rigid motions of frames at positions q [n, 3]; return the number of its independent rows.

    Conditions, sides and frames or nodes [k] of all that they are on are those of `Joints.ends`; force and motion
    [n, 3] are rooms.
    """
    gradients, moved, scale, matrix = rooms.gradients, rooms.moved, rooms.scale, rooms.matrix
    c, inner = len(of.nodes), rooms.of_frame
    of_one = inner[:4, :3], inner[16, :3], inner[4:7, :3], inner[17, :3], inner[7:13], inner[13:16, :6]
    write_conditions(of, q, rooms.values, gradients)
    for k in range(c):
        for j in range(c):
            matrix[k, j] = 0.0
    for j in range(len(condition)):
        column, first, frame = condition[j], 4 * side[j], ends[j]
        for b in range(first, first + 4):
            for i in range(3):
                force[of.nodes[column, b], i] = gradients[column, b, i]
        if frame >= 0:
            write_rigid_force(frame, force, q, frames, is_rod, held, masses, of_one, motion)
        last = first + (4 if frame >= 0 else 1)  # of a node by itself, which is there four times
        for b in range(first, last):
            node = of.nodes[column, b]
            for i in range(3):
                resultant = motion[node, i] if frame >= 0 else gradients[column, b, i]
                motion[node, i] = 0.0 if fixed[node, i] else resultant / masses[node]
                moved[column, b, i] = motion[node, i]
        for b in range(last, first + 4):
            for i in range(3):
                moved[column, b, i] = 0.0
        for k in range(len(condition)):
            if ends[k] == frame:
                row = condition[k]
                for b in range(4 * side[k], 4 * side[k] + 4):
                    for i in range(3):
                        matrix[row, column] += gradients[row, b, i] * motion[of.nodes[row, b], i]
    for k in range(c):
        scale[k] = 1.0 / np.sqrt(matrix[k, k]) if matrix[k, k] > 0.0 else 1.0
    for k in range(c):
        for j in range(c):
            matrix[k, j] *= scale[k] * scale[j]
    return _factorise_independent(matrix, rooms.order)


@kernel
def keep_along(of, condition, side, v, bends, out, rooms, rank):
    """Make rigid motions out [n, 3] those that joints let be, nearest by mass: G out = 0, or with bends −vᵀ∇²g v.

    By the factors of `factorise_along`, of conditions that may be redundant.
    """
    gradients, moved, values, scale = rooms.gradients, rooms.moved, rooms.values, rooms.scale
    for k in range(len(of.nodes)):
        values[k] = _bend(of, v, k) if bends else 0.0
        for b in range(8):
            for i in range(3):
                values[k] += gradients[k, b, i] * out[of.nodes[k, b], i]
        values[k] *= scale[k]
    _solve_independent(rooms.matrix, rooms.order, rank, values, rooms.solution)
    for j in range(len(condition)):
        row = condition[j]
        for b in range(4 * side[j], 4 * side[j] + 4):
            for i in range(3):
                out[of.nodes[row, b], i] -= scale[row] * values[row] * moved[row, b, i]


@formula
def _bend(of, v, k):
    """Return vᵀ∇²g v of a condition."""
    total = 0.0
    for i in range(3):
        left, right = 0.0, 0.0
        for b in range(8):
            left += of.left[k, b] * v[of.nodes[k, b], i]
            right += of.right[k, b] * v[of.nodes[k, b], i]
        total += 2.0 * left * right
    return total


@formula
def _factorise_independent(A, order):
    """Turn a matrix [c, c] with ones on its diagonal into L of L Lᵀ, by the largest pivots; return its rank."""
    c = len(A)
    for k in range(c):
        order[k] = k
    for k in range(c):
        p = k
        for i in range(k + 1, c):
            if A[i, i] > A[p, p]:
                p = i
        if not A[p, p] > _DEPENDENT:
            return k
        if p != k:
            order[k], order[p] = order[p], order[k]
            for i in range(c):
                A[k, i], A[p, i] = A[p, i], A[k, i]
            for i in range(c):
                A[i, k], A[i, p] = A[i, p], A[i, k]
        A[k, k] = np.sqrt(A[k, k])
        for i in range(k + 1, c):
            A[i, k] /= A[k, k]
        for i in range(k + 1, c):
            for j in range(k + 1, c):
                A[i, j] -= A[i, k] * A[j, k]
    return c


@formula
def _solve_independent(A, order, rank, b, x):
    """Turn b [c] into the solution of L Lᵀ x = b for independent conditions, and 0 for others; x [c] is a room."""
    for k in range(rank):
        total = b[order[k]]
        for j in range(k):
            total -= A[k, j] * x[j]
        x[k] = total / A[k, k]
    for k in range(rank - 1, -1, -1):
        for j in range(k + 1, rank):
            x[k] -= A[j, k] * x[j]
        x[k] /= A[k, k]
    for k in range(len(b)):
        b[order[k]] = x[k] if k < rank else 0.0
