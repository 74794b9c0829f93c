"""Scalar measures of a relative position, compiled: distances, distances from a core, faces of a polyhedron.

d = x_0 − o is where a node is as seen from a fixed point o, or d = x_0 − x_1 − o as seen from another node. A measure
m(d) has a gradient, a Hessian, and along an increment of d a mean gradient G with G·(d1 − d0) = m(d1) − m(d0) exactly,
symmetric in d0 and d1:

==========  ==============================================  ==============================================
DISTANCE    s = |d|²                                        d0 + d1
CORE        s = |e|², e_a = y_a − clamp(y_a, −h_a, h_a),    Σ_a r_a A_a, r_a = Δ(e_a²)/Δy_a
            y = A d: the squared distance from a box of
            half widths h, along its axes A; with zeros
            and infinities a point, a segment, a line
FACES       max_f (n_f·d − h_f): a half-space, a            (1 − θ) n_0 + θ n_1, of the faces that are
            convex polyhedron                               largest at d0 and d1
==========  ==============================================  ==============================================

In the last, θ = ε1/(ε0 + ε1), ε0 the margin of the first face over the second at d0, ε1 that of the second over the
first at d1: both are positive, so nothing cancels.

A measure is an array: kind, o (3), and its numbers. Vectors have three components, in lower dimensions with zeros.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from symplex.fem.assembly.pattern import Array
from symplex.fem.compiled.kernels import (  # no references are counted
    uncounted_formula as formula,
    uncounted_inlined as inlined,
)

DISTANCE, CORE, FACES = range(3)
KIND, ORIGIN, DATA = 0, 1, 4  # layout of a measure
AXES, HALF = DATA, DATA + 9  # of a core
COUNT, FACE = DATA, DATA + 1  # of faces: how many, and (n, h) of each


def distance(origin: Array | None = None) -> Array:
    """Return the measure |d|² from a point [dim]; by default none."""
    return np.concatenate([[DISTANCE], _padded(np.zeros(0) if origin is None else origin)])


def core(origin: Array, axes: Array, half_widths: Array) -> Array:
    """Return the squared distance from a box at a point [dim], of half widths [dim] along axes [dim, dim]."""
    rows = np.zeros((3, 3))
    rows[: len(axes), : len(axes)] = axes
    return np.concatenate([[CORE], _padded(origin), rows.ravel(), _padded(half_widths)])


def faces(origin: Array, normals: Sequence[Array] | Array, offsets: ArrayLike) -> Array:
    """Return the greatest of n_f·d − h_f, normals [f, dim], offsets [f]."""
    rows = np.column_stack([[_padded(normal) for normal in normals], offsets])
    return np.concatenate([[FACES], _padded(origin), [len(rows)], rows.ravel()])


def axes_from(first: Array) -> Array:
    """Return orthonormal axes [3, 3], in rows, the first one a given unit vector."""
    # The second is orthogonal to a coordinate axis, too.
    second = np.cross(first, np.eye(3)[np.argmin(np.abs(first))])
    second /= np.linalg.norm(second)
    return np.array([first, second, np.cross(first, second)], dtype=float)


def rotated(measure: Array, axes: Array) -> Array:
    """Return a measure as it is in rotated axes, x' = axes · x (axes [dim, dim], orthogonal)."""
    turn = np.eye(3)
    turn[: len(axes), : len(axes)] = axes
    new = measure.copy()
    new[ORIGIN:DATA] = turn @ measure[ORIGIN:DATA]
    if measure[KIND] == CORE:
        new[AXES:HALF] = (measure[AXES:HALF].reshape(3, 3) @ turn.T).ravel()
    elif measure[KIND] == FACES:
        new[FACE:].reshape(-1, 4)[:, :3] = measure[FACE:].reshape(-1, 4)[:, :3] @ turn.T
    return new


def _padded(vector: Array) -> Array:
    return np.append(vector, np.zeros(3 - len(vector))).astype(float)


# -- formulas ----------------------------------------------------------------------------------------------------------


@inlined
def dot(u, v):
    """Return u·v."""
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2]


@inlined
def sum_of(u, s, v):
    """Return u + s v."""
    return u[0] + s * v[0], u[1] + s * v[1], u[2] + s * v[2]


@inlined
def relative(q, nodes, e, measure):
    """Return d of the stencil e from nodal positions q [n, dim]."""
    a = nodes[e, 0]
    x = q[a, 0] - measure[ORIGIN]
    y = q[a, 1] - measure[ORIGIN + 1] if q.shape[1] > 1 else 0.0
    z = q[a, 2] - measure[ORIGIN + 2] if q.shape[1] > 2 else 0.0
    return differences(q, nodes, e, (x, y, z))


@inlined
def difference(v, nodes, e):
    """v_0 − v_1 of the stencil e of two nodes, v_0 of one, from nodal vectors v [n, dim]."""
    a = nodes[e, 0]
    y = v[a, 1] if v.shape[1] > 1 else 0.0
    z = v[a, 2] if v.shape[1] > 2 else 0.0
    return differences(v, nodes, e, (v[a, 0], y, z))


@inlined
def differences(v, nodes, e, first):
    """The first vector less that of the other node, if there is one."""
    if nodes.shape[1] == 1:
        return first
    b = nodes[e, 1]
    y = first[1] - v[b, 1] if v.shape[1] > 1 else 0.0
    z = first[2] - v[b, 2] if v.shape[1] > 2 else 0.0
    return first[0] - v[b, 0], y, z


@inlined
def excess(y, h):
    """Return y − clamp(y, −h, h)."""
    return y - h if y > h else (y + h if y < -h else 0.0)


@inlined
def axis(measure, a):
    """The axis a of a core."""
    return measure[AXES + 3 * a], measure[AXES + 3 * a + 1], measure[AXES + 3 * a + 2]


@inlined
def normal(measure, f):
    """The normal of a face."""
    return measure[FACE + 4 * f], measure[FACE + 4 * f + 1], measure[FACE + 4 * f + 2]


@formula
def face_value(measure, f, d):
    """n·d − h of a face."""
    return dot(normal(measure, f), d) - measure[FACE + 4 * f + 3]


@formula
def largest_face(measure, d):
    """The face with the greatest n·d − h, and that."""
    first, largest = 0, face_value(measure, 0, d)
    for f in range(1, int(measure[COUNT])):
        m = face_value(measure, f, d)
        if m > largest:
            first, largest = f, m
    return first, largest


@formula
def _core_gradient(measure, d):
    s, n = 0.0, (0.0, 0.0, 0.0)
    for a in range(3):
        e = excess(dot(axis(measure, a), d), measure[HALF + a])
        s += e * e
        n = sum_of(n, 2.0 * e, axis(measure, a))
    return s, n


@inlined
def gradient_of(measure, d):
    """Return m and ∂m/∂d."""
    if measure[KIND] == DISTANCE:
        return dot(d, d), (2.0 * d[0], 2.0 * d[1], 2.0 * d[2])
    if measure[KIND] == CORE:
        return _core_gradient(measure, d)
    f, m = largest_face(measure, d)
    return m, normal(measure, f)


@formula
def bend_of(measure, d, v):
    """(∂²m/∂d²) v; third derivatives of all these measures are zero."""
    if measure[KIND] == DISTANCE:
        return 2.0 * v[0], 2.0 * v[1], 2.0 * v[2]
    w = (0.0, 0.0, 0.0)
    if measure[KIND] == CORE:
        for a in range(3):
            if abs(dot(axis(measure, a), d)) >= measure[HALF + a]:
                w = sum_of(w, 2.0 * dot(axis(measure, a), v), axis(measure, a))
    return w


@inlined
def _square_quotient(y0, y1, h):
    """Δ(e²)/Δy of one coordinate of a core, and its derivative with y1."""
    e0, e1 = excess(y0, h), excess(y1, h)
    if y0 == y1 or (min(y0, y1) >= h) or (max(y0, y1) <= -h):
        return e0 + e1, 1.0 if abs(y1) >= h else 0.0
    if abs(y0) <= h and abs(y1) <= h:
        return 0.0, 0.0
    r = (e1 - e0) * (e1 + e0) / (y1 - y0)
    return r, (2.0 * e1 - r) / (y1 - y0)


@formula
def _margins(measure, d0, d1):
    """The largest faces at d0 and d1, the margins ε0 + ε1, and θ."""
    (f0, m0), (f1, m1) = largest_face(measure, d0), largest_face(measure, d1)
    if f0 == f1:
        return f0, f1, 0.0, 0.5
    first, second = m0 - face_value(measure, f1, d0), m1 - face_value(measure, f0, d1)
    return f0, f1, first + second, second / (first + second) if first + second > 0.0 else 0.5


@formula
def mean_gradient_of(measure, d0, d1):
    """The mean gradient G from d0 to d1."""
    if measure[KIND] == DISTANCE:
        return sum_of(d0, 1.0, d1)
    G = (0.0, 0.0, 0.0)
    if measure[KIND] == CORE:
        for a in range(3):
            A = axis(measure, a)
            r, _ = _square_quotient(dot(A, d0), dot(A, d1), measure[HALF + a])
            G = sum_of(G, r, A)
        return G
    f0, f1, _, theta = _margins(measure, d0, d1)
    return sum_of(sum_of(G, 1.0 - theta, normal(measure, f0)), theta, normal(measure, f1))


@formula
def mean_bend_of(measure, d0, d1, v):
    """(∂G/∂d1) v."""
    if measure[KIND] == DISTANCE:
        return v
    w = (0.0, 0.0, 0.0)
    if measure[KIND] == CORE:
        for a in range(3):
            A = axis(measure, a)
            _, rate = _square_quotient(dot(A, d0), dot(A, d1), measure[HALF + a])
            w = sum_of(w, rate * dot(A, v), A)
        return w
    f0, f1, margins, theta = _margins(measure, d0, d1)
    if margins > 0.0:
        turn = sum_of(normal(measure, f1), -1.0, normal(measure, f0))
        w = sum_of(w, (1.0 - theta) * dot(turn, v) / margins, turn)
    return w
