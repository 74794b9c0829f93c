"""Short-range forces between particles: Lennard-Jones pairs that end smoothly at a cut-off, and lists of neighbours."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import final

import numpy as np

from symplex.base.arguments import checked
from symplex.errors import InvalidSystem, MaterialError, StepFailed
from symplex.fem.assembly import Array, IntArray
from symplex.fem.changing import ChangingEnergy
from symplex.fem.energy import RIGID
from symplex.fem.forms import Form
from symplex.fem.kernels import formula, inlined, kernel
from symplex.fem.measures.neighbours import neighbours


@checked
@final
class ShortRangeLennardJones(ChangingEnergy):
    """Lennard-Jones pairs of all particles that are near each other, with an end at a cut-off.

    φ(s) = 4ε [(σ²/s)⁶ − (σ²/s)³] + c_0 + c_1 s + c_2 s²,  s = l² < s_c = l_c², and zero beyond,

    with φ, φ' and φ'' zero at s_c: forces and stiffness are continuous, so that a pair may come and go within a step of
    any method. It is the potential of Stoddard and Ford (1973), "Numerical experiments on the stochastic behavior of a
    Lennard-Jones gas system", Phys. Rev. A 8, 1504, whose polynomial c_0 + c_1 s makes φ and φ' zero there, with one
    term more. At l_c = 2.5 σ the well is 12 per cent shallower than ε, at 4 σ 0.9 per cent.

    Parameters
    ----------
    depth : float
        ε in J.
    diameter : float
        σ in m.
    cutoff : float, optional
        l_c in m, above σ; default: 2.5 σ.
    margin : float, optional
        How much farther than the cut-off the list of neighbours reaches, in m; default: 0.3 σ. A larger one is renewed
        less often and has more pairs.
    dim : int, default 3
        Dimension of space, up to 3.

    Attributes
    ----------
    nodes : int32 [m, 2]
        The pairs in the list, sorted; none before the first step.

    Raises
    ------
    MaterialError
        If a constant is out of range.
    """

    invariances = RIGID

    def __init__(
        self, depth: float, diameter: float, cutoff: float | None = None, margin: float | None = None, dim: int = 3
    ):
        cutoff = 2.5 * diameter if cutoff is None else cutoff
        margin = 0.3 * diameter if margin is None else margin
        numbers = {"depth": depth, "diameter": diameter, "cut-off": cutoff, "margin": margin}
        for name, number in numbers.items():
            if not (isfinite(number) and number > 0.0):
                raise MaterialError(f"ShortRangeLennardJones: the {name} must be positive; it is {number:g}.")
        if not cutoff > diameter:
            raise MaterialError(
                f"ShortRangeLennardJones: the cut-off must be above the diameter, {diameter:g} m; it is {cutoff:g} m."
            )
        if not 1 <= dim <= 3:
            raise InvalidSystem(f"ShortRangeLennardJones is for 1, 2 or 3 dimensions of space, not {dim}.")
        self.depth, self.diameter, self.dim = float(depth), float(diameter), dim
        self.reach, self.margin = float(cutoff), float(margin)
        self.nodes = np.empty((0, 2), np.int32)
        self.listed_at = np.empty((0, dim))
        self._law = _constants(self.depth, self.diameter, self.reach)

    def find(self, ends: tuple[Array, ...], distance: float) -> None:
        """Find all pairs [m, 2] of nodes that are closer than a distance in m at any of the positions, sorted."""
        for q in ends:
            if q.ndim != 2 or q.shape[1] != self.dim:
                raise InvalidSystem(f"ShortRangeLennardJones: positions have shape {q.shape}, wanted (n, {self.dim}).")
            if not np.isfinite(q).all():
                raise StepFailed("ShortRangeLennardJones: positions are not finite.")
        shift = max(float(np.linalg.norm(q - ends[0], axis=1).max(initial=0.0)) for q in ends)
        if shift > self.reach:
            raise StepFailed(
                f"ShortRangeLennardJones: a node moves by {shift:.3g} m within the step, farther than the range of the "
                f"forces, {self.reach:.3g} m. Try a smaller step."
            )
        near = [neighbours(np.ascontiguousarray(q, dtype=float), distance) for q in ends]
        self.nodes = near[0] if len(near) == 1 else np.unique(np.concatenate(near), axis=0)

    # -- local functions --------------------------------------------------------------------------------------

    def value(self, x: Array) -> Array:
        """Return φ [m] in J at the positions x [m, 2, dim] in m."""
        s = _squared(x)
        return _of(VALUE, self._law, s, s)

    def gradient(self, x: Array) -> Array:
        """Return ∂φ/∂x [m, 2, dim] in N: ∓2 φ' d, d = x_1 − x_0."""
        s = _squared(x)
        return _opposite(2.0 * _of(SLOPE, self._law, s, s)[:, None] * _difference(x))

    def hessian(self, x: Array) -> Array:
        """Return ∂²φ/∂x² [m, 2·dim, 2·dim] in N/m: ±(2 φ' I + 4 φ'' d ⊗ d)."""
        s, d = _squared(x), _difference(x)
        curved = 4.0 * _of(CURVATURE, self._law, s, s)[:, None, None] * d[:, :, None] * d[:, None, :]
        block = curved + 2.0 * _of(SLOPE, self._law, s, s)[:, None, None] * np.eye(x.shape[2])
        return np.block([[block, -block], [-block, block]])

    def discrete_gradient(self, x0: Array, x1: Array) -> Array:
        """Return DG [m, 2, dim] in N from x0 to x1 [m, 2, dim]: ∓ξ (d0 + d1)/2, ξ = Δφ/(½ Δs)."""
        xi = _of(QUOTIENT, self._law, _squared(x0), _squared(x1))
        return _opposite(0.5 * xi[:, None] * (_difference(x0) + _difference(x1)))

    def discrete_hessian(self, x0: Array, x1: Array) -> Array:
        """Return ∂DG/∂x1 [m, 2·dim, 2·dim] in N/m: ±(½ ξ I + ∂ξ/∂s1 (d0 + d1) ⊗ d1)."""
        s0, s1, d0, d1 = _squared(x0), _squared(x1), _difference(x0), _difference(x1)
        rate = _of(QUOTIENT_SLOPE, self._law, s0, s1)[:, None, None]
        block = rate * (d0 + d1)[:, :, None] * d1[:, None, :]
        block += 0.5 * _of(QUOTIENT, self._law, s0, s1)[:, None, None] * np.eye(x1.shape[2])
        return np.block([[block, -block], [-block, block]])

    # -- assembled forms, compiled ----------------------------------------------------------------------------

    def listed_total(self, q: Array) -> float:
        """Return the energy in J of the pairs in the list at q [n, dim]."""
        return self._finite(_total(q, self.nodes, self._law), q)

    def add_listed(self, form: Form, nodal: tuple[Array, ...], out: Array, slots: IntArray | None) -> None:
        """Add a form of the pairs in the list."""
        loop = _LOOPS.get(form.name)
        if loop is None:
            super().add_listed(form, nodal, out, slots)
        else:
            self._finite(loop(*nodal, self.nodes, self._law, *([slots] if form.is_matrix else []), out), *nodal)

    def _finite(self, result: float, *ends: Array) -> float:
        if isfinite(result):
            return result
        length = np.sqrt(min(_squared(q[self.nodes]).min() for q in ends))
        raise StepFailed(
            f"ShortRangeLennardJones has no finite energy or force: the nearest particles are {length:.3g} m from each "
            "other. Try a smaller step, or other positions at the start."
        )


def _difference(x: Array) -> Array:
    return x[:, 1] - x[:, 0]


def _squared(x: Array) -> Array:
    d = _difference(x)
    return np.einsum("mi,mi->m", d, d)


def _opposite(pull: Array) -> Array:
    return np.stack([-pull, pull], axis=1)


# -- the law --------------------------------------------------------------------------------------------------------
#
# φ = (c12 r³ − c6) r³ + c_0 + s (c_1 + c_2 s) with r = 1/s; quotients of powers have no cancellation.


def _constants(depth: float, diameter: float, cutoff: float) -> Array:
    """Return c12, c6, c_0, c_1, c_2 and s_c."""
    c6, sc = 4.0 * depth * diameter**6, cutoff * cutoff
    c12 = c6 * diameter**6
    r, r3 = 1.0 / sc, sc**-3.0
    second = (42.0 * c12 * r3 - 12.0 * c6) * r3 * r * r
    first = (-6.0 * c12 * r3 + 3.0 * c6) * r3 * r
    c2 = -0.5 * second
    c1 = -first - 2.0 * c2 * sc
    c0 = -((c12 * r3 - c6) * r3 + sc * (c1 + c2 * sc))
    return np.array([c12, c6, c0, c1, c2, sc])


@formula
def _value(c, s):
    if s >= c[5]:
        return 0.0
    r3 = 1.0 / (s * s * s)
    return (c[0] * r3 - c[1]) * r3 + c[2] + s * (c[3] + c[4] * s)


@formula
def _slope(c, s):
    """dφ/ds."""
    if s >= c[5]:
        return 0.0
    r = 1.0 / s
    r3 = r * r * r
    return (-6.0 * c[0] * r3 + 3.0 * c[1]) * r3 * r + c[3] + 2.0 * c[4] * s


@formula
def _curvature(c, s):
    """d²φ/ds²."""
    if s >= c[5]:
        return 0.0
    r = 1.0 / s
    r3 = r * r * r
    return (42.0 * c[0] * r3 - 12.0 * c[1]) * r3 * r * r + 2.0 * c[4]


@formula
def _inner_quotient(c, s0, s1):
    """Δφ/(½ Δs) within the cut-off."""
    r0, r1 = 1.0 / s0, 1.0 / s1
    cubes = r0 * r0 * r0 + r1 * r1 * r1
    of_cubes = -r0 * r1 * (r0 * r0 + r0 * r1 + r1 * r1)
    return 2.0 * (of_cubes * (c[0] * cubes - c[1]) + c[3] + c[4] * (s0 + s1))


@formula
def _quotient(c, s0, s1):
    """ξ = Δφ/(½ Δs), also where s1 = s0, and across the cut-off."""
    e0, e1 = min(s0, c[5]), min(s1, c[5])
    if e0 == e1:
        return 2.0 * _slope(c, s0)
    xi = _inner_quotient(c, e0, e1)
    return xi if s0 == e0 and s1 == e1 else xi * ((e1 - e0) / (s1 - s0))


@formula
def _quotient_slope(c, s0, s1):
    """∂ξ/∂s1, also where s1 = s0: then it is d²φ/ds²."""
    if s1 >= c[5]:
        return 0.0 if s0 >= c[5] else -_quotient(c, s0, s1) / (s1 - s0)
    e0 = min(s0, c[5])
    r0, r1 = 1.0 / e0, 1.0 / s1
    squares = r0 * r0 + r0 * r1 + r1 * r1
    of_cubes = -r0 * r1 * squares
    bracket = c[0] * (r0 * r0 * r0 + r1 * r1 * r1) - c[1]
    of_cubes_slope = r0 * r1 * r1 * (squares + r1 * (r0 + 2.0 * r1))
    slope = 2.0 * (of_cubes_slope * bracket - 3.0 * c[0] * r1 * r1 * r1 * r1 * of_cubes + c[4])
    if s0 == e0:
        return slope
    part = (s1 - e0) / (s1 - s0)
    return slope * part + _inner_quotient(c, e0, s1) * (1.0 - part) / (s1 - s0)


VALUE, SLOPE, CURVATURE, QUOTIENT, QUOTIENT_SLOPE = range(5)


@kernel
def _of(which, c, s0, s1):
    """Return a function of the law at squared distances [m], or of two of them."""
    out = np.empty(len(s0))
    for e in range(len(s0)):
        if which == VALUE:
            out[e] = _value(c, s0[e])
        elif which == SLOPE:
            out[e] = _slope(c, s0[e])
        elif which == CURVATURE:
            out[e] = _curvature(c, s0[e])
        elif which == QUOTIENT:
            out[e] = _quotient(c, s0[e], s1[e])
        else:
            out[e] = _quotient_slope(c, s0[e], s1[e])
    return out


# -- loops over pairs -------------------------------------------------------------------------------------------------
#
# Pairs beyond the cut-off are left out and not added as zeros; either way sums have the same bits.


@inlined
def _distance(q, n0, n1):
    s = 0.0
    for i in range(q.shape[1]):
        s += (q[n1, i] - q[n0, i]) ** 2
    return s


@inlined
def _spread(stiffness, slots, i, j, out):
    out[slots[0, 0], i, j] += stiffness
    out[slots[1, 1], i, j] += stiffness
    out[slots[0, 1], i, j] -= stiffness
    out[slots[1, 0], i, j] -= stiffness


@kernel
def _total(q, nodes, c):
    """Return Σ φ."""
    result = 0.0
    for e in range(len(nodes)):
        s = _distance(q, nodes[e, 0], nodes[e, 1])
        if not s >= c[5]:
            result += _value(c, s)
    return result


@kernel
def _add_gradient(q, nodes, c, out):
    """Add ∂φ/∂q [n, dim]; return a sum that is finite if all forces are."""
    check = 0.0
    for e in range(len(nodes)):
        n0, n1 = nodes[e, 0], nodes[e, 1]
        s = _distance(q, n0, n1)
        if s >= c[5]:
            continue
        pull = 2.0 * _slope(c, s)
        check += pull
        for i in range(q.shape[1]):
            force = pull * (q[n1, i] - q[n0, i])
            out[n1, i] += force
            out[n0, i] -= force
    return check


@kernel
def _add_hessian(q, nodes, c, slots, out):
    """Add ∂²φ/∂q² to blocks; return a sum that is finite if all of it is."""
    check = 0.0
    for e in range(len(nodes)):
        n0, n1 = nodes[e, 0], nodes[e, 1]
        s = _distance(q, n0, n1)
        if s >= c[5]:
            continue
        diagonal, product = 2.0 * _slope(c, s), 4.0 * _curvature(c, s)
        check += diagonal + product
        for i in range(q.shape[1]):
            for j in range(q.shape[1]):
                stiffness = product * (q[n1, i] - q[n0, i]) * (q[n1, j] - q[n0, j]) + (diagonal if i == j else 0.0)
                _spread(stiffness, slots[e], i, j, out)
    return check


@kernel
def _add_discrete_gradient(q0, q1, nodes, c, out):
    """Add DG(q0, q1) [n, dim]; return a sum that is finite if all forces are."""
    check = 0.0
    for e in range(len(nodes)):
        n0, n1 = nodes[e, 0], nodes[e, 1]
        s0, s1 = _distance(q0, n0, n1), _distance(q1, n0, n1)
        if s0 >= c[5] and s1 >= c[5]:
            continue
        xi = _quotient(c, s0, s1)
        check += xi
        for i in range(q0.shape[1]):
            force = 0.5 * xi * ((q0[n1, i] - q0[n0, i]) + (q1[n1, i] - q1[n0, i]))
            out[n1, i] += force
            out[n0, i] -= force
    return check


@kernel
def _add_discrete_hessian(q0, q1, nodes, c, slots, out):
    """Add ∂DG/∂q1 to blocks; return a sum that is finite if all of it is."""
    check = 0.0
    for e in range(len(nodes)):
        n0, n1 = nodes[e, 0], nodes[e, 1]
        s0, s1 = _distance(q0, n0, n1), _distance(q1, n0, n1)
        if s0 >= c[5] and s1 >= c[5]:
            continue
        xi, rate = _quotient(c, s0, s1), _quotient_slope(c, s0, s1)
        check += xi + rate
        for i in range(q0.shape[1]):
            middle = 0.5 * ((q0[n1, i] - q0[n0, i]) + (q1[n1, i] - q1[n0, i]))
            for j in range(q0.shape[1]):
                stiffness = 2.0 * rate * middle * (q1[n1, j] - q1[n0, j]) + (0.5 * xi if i == j else 0.0)
                _spread(stiffness, slots[e], i, j, out)
    return check


_LOOPS: dict[str, Callable[..., float]] = {
    "gradient": _add_gradient,
    "hessian": _add_hessian,
    "discrete_gradient": _add_discrete_gradient,
    "discrete_hessian": _add_discrete_hessian,
}
