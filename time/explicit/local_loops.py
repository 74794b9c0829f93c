"""Passes over the nodes of levels: drifts, kicks, and what is left of a step at its end."""

from __future__ import annotations

from symplex.fem.kernels import kernel


@kernel
def drift(q, v, bounds, first, h):
    """Do q += h/2ˡ v for the nodes bounds[l] … bounds[l + 1] − 1 of the levels l from the first one on."""
    step = h / 2.0**first
    for level in range(first, len(bounds) - 1):
        for a in range(bounds[level], bounds[level + 1]):
            for i in range(q.shape[1]):
                q[a, i] += step * v[a, i]
        step *= 0.5


@kernel
def kick(v, inverse_mass, gradient, first, h):
    """Do v −= h M⁻¹ gradient for the nodes that have one [l, dim], from the first one on."""
    for b in range(len(gradient)):
        for i in range(v.shape[1]):
            v[first + b, i] -= h * inverse_mass[first + b, i] * gradient[b, i]


@kernel
def collect(impulse, a, inverse_mass, gradient, first, part):
    """Add a part of the gradient [l, dim] to the impulse, and its acceleration to a, from the first node on."""
    for b in range(len(gradient)):
        for i in range(a.shape[1]):
            impulse[first + b, i] += part * gradient[b, i]
            a[first + b, i] -= inverse_mass[first + b, i] * gradient[b, i]
