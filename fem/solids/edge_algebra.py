"""Vectors as tuples, for loops over contact pairs."""

from __future__ import annotations

from symplex.fem.kernels import inlined


@inlined
def cross(u, v):
    return u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]


@inlined
def dot(u, v):
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2]


@inlined
def times(r, v):
    return r * v[0], r * v[1], r * v[2]


@inlined
def along(u, r, v):
    """Return u + r v."""
    return u[0] + r * v[0], u[1] + r * v[1], u[2] + r * v[2]
