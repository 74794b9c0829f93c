"""Conditions of joints, their gradients and second derivatives, in compiled loops.

They are g = u·v − c with u = Σ l_a x_a + u₀ and v = Σ r_a x_a + v₀ (see `symplex.fem.structures.joints`).
"""

from __future__ import annotations

from typing import NamedTuple

from symplex.fem.assembly.pattern import Array, IntArray
from symplex.fem.compiled.kernels import uncounted_inlined as inlined, uncounted_kernel as kernel
from symplex.fem.compiled.records import Nodes, Numbers, Record, Rows


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
def _components(of, q, c, i):
    """Return a component of u and of v of a condition."""
    nodes = of.nodes[c]
    first = nodes[0]  # weights 1/4r of positions far from the origin would lose digits
    u = of.totals[c, 0] * q[first, i] + of.left_constant[c, i]
    v = of.totals[c, 1] * q[first, i] + of.right_constant[c, i]
    for a in range(1, len(nodes)):
        d = q[nodes[a], i] - q[first, i]
        u += of.left[c, a] * d
        v += of.right[c, a] * d
    return u, v


@kernel
def write_joint_values(q, of, out, first, last):
    """Write g [c] at positions q [n, 3]; return their sum."""
    check = 0.0
    for c in range(first, last):
        total = 0.0
        for i in range(3):
            u, v = _components(of, q, c, i)
            total += u * v
        out[c] = total - of.offset[c]
        check += out[c]
    return check


@kernel
def add_joint_gradients(q, of, out, first, last):
    """Add ∂g/∂x to rows [c·k, 3], one for each node of each condition; return a sum that is finite if they are."""
    check, place = 0.0, 0
    k = of.nodes.shape[1]
    for c in range(first, last):
        for i in range(3):
            u, v = _components(of, q, c, i)
            for a in range(k):
                value = of.left[c, a] * v + of.right[c, a] * u
                out[place + a, i] += value
                check += value
        place += k
    return check


@kernel
def write_conditions(of, q, values, gradients):
    """Write g [c] and ∂g/∂x [c, 8, 3] at positions q [n, 3]."""
    for c in range(len(of.nodes)):
        total = 0.0
        for i in range(3):
            u, v = _components(of, q, c, i)
            total += u * v
            for a in range(8):
                gradients[c, a, i] = of.left[c, a] * v + of.right[c, a] * u
        values[c] = total - of.offset[c]


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
