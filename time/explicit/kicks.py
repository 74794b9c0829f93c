"""Kicks and drifts of coordinates, as explicit steps are made of them.

Each product is fused with its sum where the processor can, whatever stands around it: a run does not depend on how its
steps are divided among loops.
"""

from symplex.fem.compiled.fused import multiply_add
from symplex.fem.compiled.kernels import inlined, uncounted_formula


@inlined
def kicked(v, gradient, inverse_mass, h):
    """Return a = −M⁻¹ gradient and v + h a."""
    a = -gradient * inverse_mass
    return a, multiply_add(h, a, v)  # pyright: ignore[reportCallIssue]


@inlined
def drifted(q, v, a, kick, h):
    """Return q + h (v + kick a) and v + kick a."""
    v = multiply_add(kick, a, v)  # pyright: ignore[reportCallIssue]
    return multiply_add(h, v, q), v  # pyright: ignore[reportCallIssue]


@uncounted_formula
def leaves(q, v, a, gradient, inverse_mass, has_kick, after, kick, size, nodes, at, rooms):
    """Return whether one of some nodes would be farther from its place than it may be, after the drift of `_pass`."""
    for k in range(len(nodes)):
        n, squared = nodes[k], 0.0
        for i in range(q.shape[1]):
            acceleration, velocity = a[n, i], v[n, i]
            if has_kick:
                acceleration, velocity = kicked(velocity, gradient[n, i], inverse_mass[n, i], after)
            end, _ = drifted(q[n, i], velocity, acceleration, kick, size)
            squared += (end - at[k, i]) ** 2
        if not squared <= rooms[k]:
            return True
    return False
