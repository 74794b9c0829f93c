"""Cohesive bonds between faces that lie on each other: they open, soften and fail, with their fracture energy.

At a point of quadrature with shape functions N_a, on faces with nodes x⁻ and x⁺,

    u = Σ N_a (x⁺_a − x⁻_a),    g_α = ½ Σ N_a,α (x⁻_a + x⁺_a),    m = g_1 × g_2/|g_1 × g_2|,    n = u·m,

    ψ = ½ k(κ) λ² + ½ k0 ⟨−n⟩² w,    λ² = ⟨n⟩² + β² s²,    s² = |u|² − n²,    w = ⟨1 − s²/κf²⟩²,

with the greatest effective opening κ of λ and the secant stiffness k of `TractionSeparation` (Camacho and Ortiz 1996;
Ortiz and Pandolfi 1999). The normal is that of the middle surface, so ψ is invariant to rigid motions of both faces and
its forces have no resultant and no moment. Where faces press on each other they are as stiff as an intact bond while
the same points face each other; w takes that off as they slide away by the opening at failure.

Its derivatives are those of a function of y = (u, g_1, g_2), nine numbers at each point:

    ∂n/∂u = m,    ∂n/∂g_1 = g_2 × p,    ∂n/∂g_2 = p × g_1,    p = (u − n m)/|g_1 × g_2|.
"""

from __future__ import annotations

from copy import copy
from typing import Annotated, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from symplex.base.arguments import checked
from symplex.base.quantities import positive
from symplex.errors import InvalidSystem
from symplex.fem.assembly.nodes import Nodes, connectivity
from symplex.fem.assembly.pattern import Array, IntArray
from symplex.fem.energies.energy import RIGID
from symplex.fem.energies.rate_independent import RateIndependent
from symplex.fem.measures.separation import TractionSeparation
from symplex.meshes.quadrature import conical, gauss, three_points
from symplex.meshes.shape_functions import SHAPE_FUNCTIONS

_RULES = {
    len(SHAPE_FUNCTIONS[kind].nodes): (kind, *SHAPE_FUNCTIONS[kind](rule.points), rule.weights)
    for kind, rule in (
        ("triangle", three_points()),
        ("quad", gauss(2, 2)),
        ("triangle6", conical(3, 2)),
        ("quad8", gauss(3, 2)),
        ("quad9", gauss(3, 2)),
    )
}
_LEVI_CIVITA = np.zeros((3, 3, 3))
for _i, _j, _k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
    _LEVI_CIVITA[_i, _j, _k], _LEVI_CIVITA[_i, _k, _j] = 1.0, -1.0


def _cross(a: Array, b: Array) -> Array:
    """Return a × b [m, g, 3]: np.cross takes four times as long."""
    out = np.empty(a.shape)
    for i, (j, k) in enumerate(((1, 2), (2, 0), (0, 1))):
        out[..., i] = a[..., j] * b[..., k] - a[..., k] * b[..., j]
    return out


class _Opening(NamedTuple):
    """What faces are at points of quadrature, [m, g, …]."""

    u: Array
    g1: Array
    g2: Array
    area: Array  # |g_1 × g_2|
    m: Array
    n: Array
    s2: Array
    effective: Array  # λ


@checked
@final
class CohesiveFaces(RateIndependent):
    """Cohesive bonds between pairs of faces that lie on each other: glue, a weld, the plane in which a crack may run.

    Internal variables are the greatest effective openings κ of the points of quadrature. Work, stored energy and
    fracture energy balance to round-off in methods with discrete gradients; momentum and angular momentum are conserved
    by all.

    Parameters
    ----------
    faces : int [m, k]
        Triangles or quadrilaterals, linear or quadratic, of one body, numbered so that their normals point at the other
        one: as those of its outer surface are.
    opposite : int [m, k]
        The nodes of the other body that lie on these, one by one.
    points : float64 [n, 3]
        Nodal positions in m of the undeformed bodies.
    law : TractionSeparation
        In Pa, J/m² and Pa/m.
    shear_ratio : float, default 1
        β, the shear strength as a part of the strength. The fracture energy is the same however a bond opens.

    Attributes
    ----------
    kind : str
        Of the faces, such as ``"quad"``.
    areas : float64 [m, g]
        Of the quadrature points in m².

    Raises
    ------
    InvalidSystem
        If a face has no area or an unsupported number of nodes, or the two lists differ in shape.
    """

    invariances = RIGID

    def __init__(
        self,
        faces: Nodes,
        opposite: Nodes,
        points: Array,
        law: TractionSeparation,
        shear_ratio: Annotated[float, positive("")] = 1.0,
    ):
        own, other = (connectivity("CohesiveFaces", one) for one in (faces, opposite))
        if own.ndim != 2 or own.shape[1] not in _RULES or own.shape != other.shape or not len(own):
            raise InvalidSystem(
                f"CohesiveFaces: faces have shapes {own.shape} and {other.shape}, expected one shape: triangles [m, 3] "
                "or [m, 6], or quadrilaterals [m, 4], [m, 8] or [m, 9]."
            )
        self.nodes = np.ascontiguousarray(np.concatenate([own, other], axis=1), np.int32)
        self.law, self.shear_ratio = law, float(shear_ratio)
        self.kind, shape, slope, weight = _RULES[own.shape[1]]
        # Rows of B [3, g, 2k]: what makes u, g_1 and g_2 of nodal positions.
        self._makes = np.stack(
            [np.concatenate([-shape, shape], axis=1), *(np.tile(0.5 * slope[:, :, a], 2) for a in range(2))]
        )
        _, g1, g2 = self._vectors(points[self.nodes])
        self.areas = weight * np.linalg.norm(_cross(g1, g2), axis=2)
        if not (self.areas > 0.0).all():
            k = int(np.argmin(self.areas.min(axis=1)))
            raise InvalidSystem(f"CohesiveFaces: face {k} (nodes {own[k].tolist()}) has no area.")
        self.shape = self.areas.shape

    is_divisible = True

    def of_some(self, chosen: NDArray[np.integer], nodes: IntArray) -> CohesiveFaces:
        """Return chosen faces alone, on other nodes."""
        new = copy(self)
        new.nodes, new.areas = np.ascontiguousarray(nodes, np.int32), self.areas[chosen]
        new.shape = new.areas.shape
        return new

    def __repr__(self) -> str:
        return f"CohesiveFaces({len(self.nodes)} faces, {self.law!r}, shear_ratio={self.shear_ratio:g})"

    # -- local functions ----------------------------------------------------------------------------------------------

    def _vectors(self, x: Array) -> tuple[Array, Array, Array]:
        """Return u, g_1 and g_2 [m, g, 3]."""
        u, g1, g2 = np.einsum("pgj,mji->pmgi", self._makes, x)
        return u, g1, g2

    def _opening(self, x: Array) -> _Opening:
        u, g1, g2 = self._vectors(x)
        normal = _cross(g1, g2)
        area = np.linalg.norm(normal, axis=2)
        m = normal / area[..., None]
        n = np.einsum("mgi,mgi->mg", u, m)
        tangential = u - n[..., None] * m
        s2 = np.einsum("mgi,mgi->mg", tangential, tangential)
        effective = np.sqrt(np.maximum(n, 0.0) ** 2 + self.shear_ratio**2 * s2)
        return _Opening(u, g1, g2, area, m, n, s2, effective)

    def _pressed(self, at: _Opening) -> tuple[Array, Array, Array, Array]:
        """Return p = ⟨−n⟩, w and its first two derivatives with s²."""
        most = self.law.failure**2
        facing = np.maximum(1.0 - at.s2 / most, 0.0)
        return np.maximum(-at.n, 0.0), facing**2, -2.0 * facing / most, np.where(facing > 0.0, 2.0 / most**2, 0.0)

    def stored_energy(self, x: Array, z: Array) -> Array:
        """Return ψ [m] in J."""
        at = self._opening(x)
        pressed, w, _, _ = self._pressed(at)
        density = 0.5 * self.law.secant(z) * at.effective**2 + 0.5 * self.law.stiffness * pressed**2 * w
        return (self.areas * density).sum(axis=1)

    def _by_measures(self, at: _Opening, z: Array) -> tuple[Array, Array]:
        """Return the derivatives of ψ/dA with n and with s², as independent of each other."""
        k, stiffness = self.law.secant(z), self.law.stiffness
        pressed, w, w1, _ = self._pressed(at)
        by_n = k * np.maximum(at.n, 0.0) - stiffness * pressed * w
        by_s2 = 0.5 * k * self.shear_ratio**2 + 0.5 * stiffness * pressed**2 * w1
        return by_n, by_s2

    def _slope_of_n(self, at: _Opening) -> Array:
        """Return ∂n/∂y [m, g, 9]."""
        p = (at.u - at.n[..., None] * at.m) / at.area[..., None]
        return np.concatenate([at.m, _cross(at.g2, p), _cross(p, at.g1)], axis=2)

    def stored_gradient(self, x: Array, z: Array) -> Array:
        """Return ∂ψ/∂x [m, 2k, 3] in N."""
        at = self._opening(x)
        by_n, by_s2 = self._by_measures(at, z)
        # s² = |u|² − n²
        by_y = (by_n - 2.0 * at.n * by_s2)[..., None] * self._slope_of_n(at)
        by_y[..., :3] += 2.0 * by_s2[..., None] * at.u
        by_y *= self.areas[..., None]
        return np.einsum("pgj,mgpi->mji", self._makes, by_y.reshape(*by_y.shape[:2], 3, 3))

    def updated(self, x: Array, z: Array) -> Array:
        """Return the greatest effective openings κ [m, g] in m at the end of an increment."""
        return self.law.opened(self._opening(x).effective, z)

    def dissipation(self, z0: Array, z1: Array) -> Array:
        """Return what damage has dissipated from z0 to z1 [m] in J."""
        return (self.areas * (self.law.dissipated(z1) - self.law.dissipated(z0))).sum(axis=1)

    def tangent(self, x: Array, z: Array, *, frozen: bool) -> Array:
        """Return the second derivatives [m, 6k, 6k] in N/m of the incremental potential, or of ψ at frozen z."""
        at = self._opening(x)
        end = z if frozen else self.law.opened(at.effective, z)
        by_n, by_s2 = self._by_measures(at, end)
        pressed, w, w1, w2 = self._pressed(at)
        k, stiffness, beta2 = self.law.secant(end), self.law.stiffness, self.shear_ratio**2
        by_nn = np.where(at.n > 0.0, k, stiffness * w * (at.n < 0.0))
        by_ns = -stiffness * pressed * w1
        by_ss = 0.5 * stiffness * pressed**2 * w2
        softens = end > z
        safe = np.where(softens, at.effective, 1.0)
        # κ = λ: ψ + D has k'(λ)/λ on the square of ∂(λ²/2)
        extra = np.where(softens & (at.effective < self.law.failure), self.law.secant_slope(end) / safe, 0.0)
        along_n, along_s = np.maximum(at.n, 0.0), 0.5 * beta2
        by_nn, by_ns = by_nn + extra * along_n**2, by_ns + extra * along_n * along_s
        by_ss = by_ss + extra * along_s**2
        # From (n, s²) to (n, a = |u|²), s² = a − n².
        n = at.n
        f_n = by_n - 2.0 * n * by_s2
        f_nn = by_nn - 4.0 * n * by_ns + 4.0 * n**2 * by_ss - 2.0 * by_s2
        f_na, f_aa = by_ns - 2.0 * n * by_ss, by_ss
        dn = self._slope_of_n(at)
        da = np.zeros_like(dn)
        da[..., :3] = 2.0 * at.u
        H = f_n[..., None, None] * self._curvature_of_n(at)
        outer = f_nn[..., None] * dn + f_na[..., None] * da
        H += dn[..., :, None] * outer[..., None, :]
        H += da[..., :, None] * (f_na[..., None] * dn + f_aa[..., None] * da)[..., None, :]
        for i in range(3):
            H[..., i, i] += 2.0 * by_s2
        H *= self.areas[..., None, None]
        m, g = n.shape
        B = self._makes
        size = 3 * B.shape[2]
        return np.einsum(
            "pgj,mgpiql,qgk->mjikl", B, H.reshape(m, g, 3, 3, 3, 3), B, optimize=["einsum_path", (0, 1), (0, 1)]
        ).reshape(m, size, size)

    def _curvature_of_n(self, at: _Opening) -> Array:
        """Return ∂²n/∂y² [m, g, 9, 9]."""
        inverse, m = 1.0 / at.area[..., None, None], at.m
        P = np.eye(3) - m[..., :, None] * m[..., None, :]
        tangential = at.u - at.n[..., None] * m
        # ∂N/∂g_1 = −[g_2]×, ∂N/∂g_2 = [g_1]×, with [a]×_ij = −ε_ijk a_k
        J = np.concatenate(
            [np.einsum("ijk,mgk->mgij", _LEVI_CIVITA, at.g2), -np.einsum("ijk,mgk->mgij", _LEVI_CIVITA, at.g1)], axis=3
        )
        H = np.zeros((*at.n.shape, 9, 9))
        H[..., :3, 3:] = P @ J * inverse
        H[..., 3:, :3] = H[..., :3, 3:].swapaxes(2, 3)
        Q = -(
            tangential[..., :, None] * m[..., None, :]
            + m[..., :, None] * tangential[..., None, :]
            + at.n[..., None, None] * P
        )
        H[..., 3:, 3:] = J.swapaxes(2, 3) @ (Q * inverse**2) @ J
        cross = np.einsum("ijk,mgk->mgij", _LEVI_CIVITA, tangential * inverse[..., 0])
        H[..., 3:6, 6:] += cross
        H[..., 6:, 3:6] += cross.swapaxes(2, 3)
        return H

    # -- for results --------------------------------------------------------------------------------------------------

    def damage(self, z: Array) -> Array:
        """Return the damage [m] of the faces, their mean over the area: 0 intact, 1 failed."""
        return (self.areas * self.law.damage(z)).sum(axis=1) / self.areas.sum(axis=1)

    def fields(self, q: Array, z: Array) -> dict[str, Array]:
        """Return the ``damage`` and ``opening`` [m] of the faces (`damage`, `openings`)."""
        return {"damage": self.damage(z), "opening": self.openings(q)}

    def openings(self, q: Array) -> Array:
        """Return the effective openings λ [m] in m at the nodal positions q [n, 3], their mean over the area."""
        return (self.areas * self._opening(q[self.nodes]).effective).sum(axis=1) / self.areas.sum(axis=1)
