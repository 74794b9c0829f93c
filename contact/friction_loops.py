"""Friction of a node with an obstacle: the formulas, and compiled loops over the nodes of a contact.

With the force F of the obstacle on a node (the discrete gradient of an increment, less its sign), N = |F|, n = F/N, w
the velocity of the node relative to the obstacle and P = 1 − n ⊗ n,

    σ = P w,    f = −t = −N σ μ ψ/|σ|.

With f = −N r σ, r of |σ|, and R = r 1 + (r'/|σ|) σ ⊗ σ: ∂f/∂w = −N R P, and as ∂n/∂F = P/N and
∂σ/∂n = −(w·n) 1 − n ⊗ w:  ∂f/∂F = −r σ ⊗ n + R [(w·n) P + n ⊗ σ]. With the secant r' is left out.

The kernels read what those of the contact's energy do (`symplex.fem.measures.loops`), and the law of friction; they are
called as `symplex.fem.actions.looped_load` says.
"""

from typing import NamedTuple

from symplex.contact.friction_law import FrictionLaw, pull
from symplex.fem.compiled.kernels import (
    uncounted_formula as formula,
    uncounted_inlined as inlined,
    uncounted_kernel as kernel,
)
from symplex.fem.compiled.records import Integer, Numbers
from symplex.fem.measures.cut_off import quotient, quotient_slope
from symplex.fem.measures.loops import MeasureRecord, add_row, add_vector, unit_of
from symplex.fem.measures.relative import (
    difference,
    dot,
    gradient_of,
    mean_bend_of,
    mean_gradient_of,
    relative,
    sum_of,
)

_ZERO = (0.0, 0.0, 0.0)
Vector = tuple[float, float, float]


class Slip(NamedTuple):
    """N in N, n, σ in m/s, |σ| and w·n."""

    pressing: float
    normal: Vector
    velocity: Vector
    speed: float
    along: float


@inlined
def slip_of(F, w):
    """Return the slip of a force F and a velocity w of three components."""
    N = dot(F, F) ** 0.5
    n = (F[0] / N, F[1] / N, F[2] / N)
    along = dot(n, w)
    slip = sum_of(w, -along, n)
    return Slip(N, n, slip, dot(slip, slip) ** 0.5, along)


@inlined
def friction_of(slip, law):
    """Return f."""
    ratio, _ = pull(law, slip.speed)
    return sum_of(_ZERO, -slip.pressing * ratio, slip.velocity)


@inlined
def friction_rows(slip, law, secant, j):
    """Return the rows j of ∂f/∂w and ∂f/∂F."""
    ratio, rate = pull(law, slip.speed)
    n, velocity, unit = slip.normal, slip.velocity, unit_of(j)
    if secant:
        rate = 0.0
    # R is r on n, and R P = P R.
    plane = sum_of(sum_of(_ZERO, ratio, unit), -ratio * dot(n, unit), n)
    plane = sum_of(plane, rate * dot(velocity, unit), velocity)
    by_force = sum_of(sum_of(_ZERO, slip.along, plane), ratio * dot(n, unit), velocity)
    return sum_of(_ZERO, -slip.pressing, plane), sum_of(by_force, -ratio * dot(velocity, unit), n)


class FrictionRecord(MeasureRecord):
    """What the energy of the contact reads, the numbers of the law of friction [3], and whether to take secants."""

    friction: Numbers
    secant: Integer


@formula
def _law_of(numbers):
    """Return the law of friction."""
    return FrictionLaw(numbers[0], numbers[1], numbers[2])


@kernel
def add_friction(factor, q0, q1, q, v, our, out, first, last):
    """Add f to the nodes, and take it from those that carry the obstacle."""
    nodes, measure, law, a, b, end = our.nodes, our.measure, our.law, our.a, our.b, our.end
    check, friction = 0.0, _law_of(our.friction)
    for e in range(first, last):
        d0, d1 = relative(q0, nodes, e, measure), relative(q1, nodes, e, measure)
        (m0, _), (m1, _) = gradient_of(measure, d0), gradient_of(measure, d1)
        xi = quotient(law, a[e], b[e], end, m0, m1)
        if xi == 0.0:
            continue
        F = sum_of(_ZERO, -0.5 * xi, mean_gradient_of(measure, d0, d1))
        if dot(F, F) == 0.0:
            continue
        f = friction_of(slip_of(F, difference(v, nodes, e)), friction)
        check += f[0] + f[1] + f[2]
        add_vector(f, nodes, e, out)
    return check


@kernel
def add_friction_derivatives(factor, q0, q1, q, v, by_q, by_v, our, slots, out, first, last):
    """Add 2 by_q ∂f/∂q1 + by_v ∂f/∂v, with ∂F/∂d1 = −½ (∂ξ/∂m1 G ⊗ n1 + ξ K)."""
    nodes, measure, law, a, b, end = our.nodes, our.measure, our.law, our.a, our.b, our.end
    check, friction, secant = 0.0, _law_of(our.friction), our.secant != 0
    for e in range(first, last):
        d0, d1 = relative(q0, nodes, e, measure), relative(q1, nodes, e, measure)
        (m0, _), (m1, n1) = gradient_of(measure, d0), gradient_of(measure, d1)
        xi, rate = quotient(law, a[e], b[e], end, m0, m1), quotient_slope(law, a[e], b[e], end, m0, m1)
        if xi == 0.0:
            continue
        G = mean_gradient_of(measure, d0, d1)
        F = sum_of(_ZERO, -0.5 * xi, G)
        if dot(F, F) == 0.0:
            continue
        slip = slip_of(F, difference(v, nodes, e))
        for j in range(out.shape[1]):
            by_velocity, by_force = friction_rows(slip, friction, secant, j)
            row = sum_of(sum_of(_ZERO, by_v, by_velocity), -by_q * rate * dot(by_force, G), n1)
            row = sum_of(row, -by_q * xi, mean_bend_of(measure, d0, d1, by_force))
            check += row[0] + row[1] + row[2]
            add_row(row, j, nodes, slots, e, out)
    return check


KERNELS = {"forces": add_friction, "force_derivatives": add_friction_derivatives}
