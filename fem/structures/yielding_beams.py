"""Beams that yield, by the forces and moments of their sections.

With the generalised strains e of an element and their stiffness C (see `symplex.fem.structures.generalized_strains`),
plastic parts p of elongation, curvatures and twist, and the equivalent plastic strain α,

    ψ = ½ (e − p)·C (e − p) + ½ β p·C p,    S = C (e − p),    ξ = S − β C p,
    F(ξ) = √Σ (ξ_j/Ŝ_j)² ≤ r(α) = σy(α)/σ0,    D = V ∫ σy dα,    V dα = √Σ (Ŝ_j dp_j)²/σ0,

with the limits Ŝ = (N_p, M_p1, M_p2, T_p) and V = N_p L/σ0: in tension α is the plastic strain, in bending about the
mean of its size over the section. The flow is associated, so that p and α make ψ + D least at the end of an increment
(Simo and Hughes 1998, §2.6 and §3): with μ ≥ 0

    ξ_j = ξᵗ_j/(1 + μ a_j),    a_j = (1 + β) C_j/Ŝ_j²,    Δp_j = μ ξ_j/Ŝ_j²,    F(μ) = r(α + μ F/(σ0 V)).

F falls and μ F grows with μ: there is one root. The tangent is symmetric. An element flows as a whole, by the forces in
its middle.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, final

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.base.quantities import whole
from symplex.errors import InvalidSystem, MaterialError
from symplex.fem.assembly.pattern import Array
from symplex.fem.compiled.kernels import kernel
from symplex.fem.energies.energy import RIGID, Energy
from symplex.fem.energies.projected_gradient import projected_gradient, projected_hessian
from symplex.fem.energies.rate_independent import RateIndependent
from symplex.fem.solids.hardening import Hardening
from symplex.fem.solids.plastic_points import BACK, RATE, RECOVERY, START, work_between, yield_stress
from symplex.fem.structures.beam import Beams

_FLOWING = [0, 3, 4, 5]  # of the generalised strains: elongation, curvatures and twist
_SHEAR = [1, 2]
_ALPHA = 4  # of the internal variables, after the plastic strains
_LEAST = 1e-12  # strain at which a section may yield
_ITERATIONS = 100  # of the scalar equation of the return, bracketed
_ROUNDING = 4e-16  # of its residual, as part of F


@checked
@final
class YieldingBeams(RateIndependent):
    """Beams of metal as a whole, elastic and plastic, by the resultants of their sections.

    It takes the place of `Beams.energy`. The yield surface is an ellipsoid in the axial force, both bending moments and
    the torque, √((N/N_p)² + (M₁/M_p1)² + (M₂/M_p2)² + (T/T_p)²) ≤ σy(α)/σ0; shear forces are elastic. Sections are
    elastic up to it, without the round corner by which fibres yield one after the other. Internal variables of an
    element are the plastic elongation (over the length), bending about both axes and twist (rad over the element), and
    the equivalent plastic strain α.

    Parameters
    ----------
    beam : Beams
    limits : float64 [4] or [m, 4]
        N_p in N, M_p1, M_p2 and T_p in N m at the yield stress σ0, of all elements or each; infinite where they do not
        yield. See `Section.limits`.
    hardening : Hardening or m of them
        The yield stress σy(α), of all elements or each, and the modulus C of a back stress, β = C/E of the elastic
        stiffness. It has no rate, recovery and heating.
    first : int, default 0
        The number of the beam's first particle in the system.

    Raises
    ------
    InvalidSystem
        If shapes do not match, or a limit is not positive.
    MaterialError
        If the hardening has what sections do not.
    """

    invariances = RIGID

    def __init__(
        self,
        beam: Beams,
        limits: ArrayLike,
        hardening: Hardening | Sequence[Hardening],
        *,
        first: Annotated[int, whole(0, 2**31 - 1)] = 0,
    ):
        m = len(beam.lines)
        every = [hardening] * m if isinstance(hardening, Hardening) else list(hardening)
        if len(every) != m or not all(isinstance(one, Hardening) for one in every):
            raise InvalidSystem(f"YieldingBeams: hardening must be a Hardening, or {m} of them, got {len(every)}.")
        given = np.array(limits, float)
        if given.shape not in ((4,), (m, 4)) or not (given > 0.0).all():
            least = f"{given.min():g} of shape {given.shape}" if given.size else "none"
            raise InvalidSystem(f"YieldingBeams: limits must be positive, of shape (4,) or ({m}, 4), got {least}.")
        given = np.broadcast_to(given, (m, 4))
        partly = np.flatnonzero(np.isinf(given[:, 0]) & np.isfinite(given).any(axis=1))
        if len(partly):
            raise InvalidSystem(
                f"YieldingBeams: the axial limit of element {partly[0]} is infinite and others are not; without it "
                "there is no equivalent plastic strain. Give it, or make all of them infinite."
            )
        self.laws: list[Hardening] = list({id(one): one for one in every}.values())
        self.strains = beam.strains.shifted(first)
        self.nodes, self.lengths, self.shape = self.strains.nodes, beam.lengths, (m, 5)
        self._rows = [np.flatnonzero([one is law for one in every]) for law in self.laws]
        self._stiffness = np.einsum("mii->mi", self.strains.stiffness).copy()
        self._limits = given * np.column_stack([self.lengths, np.ones((m, 3))])
        small = np.flatnonzero((self._limits < _LEAST * self._stiffness[:, _FLOWING]).any(axis=1))
        if len(small):
            raise InvalidSystem(
                f"YieldingBeams: the limits of element {small[0]} are below {_LEAST:g} of its stiffness, as strains."
            )
        self._yields = np.isfinite(given[:, 0])
        initial, back = np.empty(m), np.empty(m)
        for law, rows in zip(self.laws, self._rows, strict=True):
            initial[rows], back[rows] = _numbers(law)
        self._volume = np.where(self._yields, self._limits[:, 0] / initial, 0.0)  # V in m³
        self._back = np.zeros(m)  # β
        at = self._yields
        area, axial = (given[:, 0] / initial)[at], (self._stiffness[:, 0] / self.lengths)[at]
        self._back[at] = back[at] * area / axial

    def stored_energy(self, x: Array, z: Array) -> Array:
        """Return ψ [m] in J."""
        return self._potential(self.strains.strains(x), z)

    def stored_gradient(self, x: Array, z: Array) -> Array:
        """Return ∂ψ/∂x [m, 8, 3] in N at fixed z."""
        return self.strains.forces(x, x, self._stresses(self.strains.strains(x), z))

    def updated(self, x: Array, z: Array) -> Array:
        """Return plastic strains and α [m, 5] at the end of an increment."""
        return self._returned(self.strains.strains(x), z)[0]

    def dissipation(self, z0: Array, z1: Array) -> Array:
        """Return V ∫ σy dα [m] in J."""
        out = np.empty(len(z0))
        for law, rows in zip(self.laws, self._rows, strict=True):
            out[rows] = _works(z0[rows, _ALPHA], z1[rows, _ALPHA], law.constants, law.points)
        return self._volume * out

    def increment(self, z: Array) -> Energy:
        """Return the incremental potential of an increment from z."""
        return _Along(self, z, frozen=False)

    def frozen(self, z: Array) -> Energy:
        """Return the stored energy of given internal variables that stay as they are."""
        return _Along(self, z, frozen=True)

    def stresses(self, q: Array, z: Array) -> Array:
        """Return the stresses [m, 6] in J of the generalised strains, at positions q [n, 3] in m."""
        return self._stresses(self.strains.strains(q[self.nodes]), z)

    def fields(self, q: Array, z: Array) -> dict[str, Array]:
        """Return what there is to show of elements, numbers [m] by name.

        ``plastic_strain`` α, ``plastic_rotation`` in rad, the size of the plastic bending over the element, which is
        that of a hinge, ``plastic_work`` in J, what it has dissipated, and ``utilization``: how near it is to flow,
        1 where it flows.
        """
        limit = np.empty(len(z))
        for law, rows in zip(self.laws, self._rows, strict=True):
            limit[rows] = law.yield_stress(z[rows, _ALPHA]) / _numbers(law)[0]
        stress = self.stresses(q, z)[:, _FLOWING]
        stress -= (self._back[:, None] * self._stiffness[:, _FLOWING]) * z[:, :_ALPHA]
        return {
            "plastic_strain": z[:, _ALPHA].copy(),
            "plastic_rotation": np.linalg.norm(z[:, 1:3], axis=1),
            "plastic_work": self.dissipation(np.zeros_like(z), z),
            "utilization": np.linalg.norm(stress / self._limits, axis=1) / limit,
        }

    # -- in generalised strains ----------------------------------------------------------------------------------

    def _stresses(self, e: Array, z: Array) -> Array:
        """Return C (e − p) [m, 6]."""
        out = self._stiffness * e
        out[:, _FLOWING] -= self._stiffness[:, _FLOWING] * z[:, :_ALPHA]
        return out

    def _potential(self, e: Array, z: Array) -> Array:
        """Return ψ [m] in J."""
        elastic, plastic = e.copy(), z[:, :_ALPHA]
        elastic[:, _FLOWING] -= plastic
        kinematic = self._back * np.einsum("mi,mi->m", self._stiffness[:, _FLOWING], plastic**2)
        return 0.5 * (np.einsum("mi,mi->m", self._stiffness, elastic**2) + kinematic)

    def _returned(self, e: Array, z: Array) -> tuple[Array, Array]:
        """Return z at the end of an increment, and the tangent [m, 4, 4] of the stresses of what flows."""
        end, tangent = np.empty(z.shape), np.empty((len(z), 4, 4))
        e, stiffness = e[:, _FLOWING], self._stiffness[:, _FLOWING]
        for law, rows in zip(self.laws, self._rows, strict=True):
            of = (e[rows], z[rows], stiffness[rows], self._back[rows], self._limits[rows], self._volume[rows])
            end[rows], tangent[rows] = _return(*of, law.constants, law.points)
        return end, tangent


@final
class _Along(Energy):
    """The incremental potential W of an increment from z, or ψ of z that stays."""

    invariances = RIGID

    def __init__(self, part: YieldingBeams, z: Array, frozen: bool):
        self.nodes, self._part, self._z, self._frozen = part.nodes, part, z, frozen

    def value(self, x: Array) -> Array:
        """Return W [m] in J."""
        e = self._part.strains.strains(x)
        end = self._end(e)
        return self._part._potential(e, end) + self._part.dissipation(self._z, end)

    def gradient(self, x: Array) -> Array:
        """Return ∂W/∂x [m, 8, 3] in N."""
        e = self._part.strains.strains(x)
        return self._part.strains.forces(x, x, self._part._stresses(e, self._end(e)))

    def hessian(self, x: Array) -> Array:
        """Return ∂²W/∂x² [m, 24, 24] in N/m."""
        part, e = self._part, self._part.strains.strains(x)
        end, tangent = (self._z, None) if self._frozen else part._returned(e, self._z)
        moduli = part._stiffness[:, :, None] * np.eye(6)
        if tangent is not None:
            moduli[np.ix_(range(len(e)), _FLOWING, _FLOWING)] = tangent
        return part.strains.derivatives(x, x, part._stresses(e, end), moduli, mean=False)

    def discrete_gradient(self, x0: Array, x1: Array) -> Array:
        """Return DG [m, 8, 3] in N from x0 to x1: a discrete gradient in generalised strains."""
        strains = self._part.strains
        return strains.forces(x0, x1, self._mean(strains.strains(x0), strains.strains(x1)))

    def discrete_hessian(self, x0: Array, x1: Array) -> Array:
        """Return ∂DG/∂x1 [m, 24, 24] in N/m."""
        part, strains = self._part, self._part.strains
        e0, e1 = strains.strains(x0), strains.strains(x1)
        root = np.sqrt(part._stiffness[:, _FLOWING])
        moduli = 0.5 * part._stiffness[:, :, None] * np.eye(6)
        of_flowing = projected_hessian(_OfStrains(self, root), *_scaled(e0, e1, root))
        moduli[np.ix_(range(len(e1)), _FLOWING, _FLOWING)] = root[:, :, None] * of_flowing * root[:, None, :]
        return strains.derivatives(x0, x1, self._mean(e0, e1), moduli, mean=True)

    def _end(self, e: Array) -> Array:
        return self._z if self._frozen else self._part._returned(e, self._z)[0]

    def _mean(self, e0: Array, e1: Array) -> Array:
        """Return stresses σ [m, 6] in J with σ·Δe = ΔW."""
        out = 0.5 * self._part._stiffness * (e0 + e1)
        root = np.sqrt(self._part._stiffness[:, _FLOWING])
        out[:, _FLOWING] = root * projected_gradient(_OfStrains(self, root), *_scaled(e0, e1, root))[:, 0]
        return out


def _scaled(e0: Array, e1: Array, root: Array) -> tuple[Array, Array]:
    """Return the strains of what flows, [m, 1, 4], by which the elastic energy is half of their square."""
    return (root * e0[:, _FLOWING])[:, None], (root * e1[:, _FLOWING])[:, None]


@final
class _OfStrains:
    """The part of W that flows, as a function of y = √C e [m, 1, 4] in √J."""

    invariances: tuple[str, ...] = ()

    def __init__(self, of: _Along, root: Array):
        self._of, self._root = of, root

    def generators(self, dim: int) -> tuple[Array, Array]:
        """Return none."""
        return np.zeros((0, dim, dim)), np.zeros((0, dim))

    def value(self, x: Array) -> Array:
        """Return W [m] in J at y."""
        e = self._strains(x)
        end, part = self._of._end(e), self._of._part
        return part._potential(e, end) + part.dissipation(self._of._z, end)

    def gradient(self, x: Array) -> Array:
        """Return ∂W/∂y [m, 1, 4]."""
        e = self._strains(x)
        return (self._of._part._stresses(e, self._of._end(e))[:, _FLOWING] / self._root)[:, None]

    def hessian(self, x: Array) -> Array:
        """Return ∂²W/∂y² [m, 4, 4]."""
        if self._of._frozen:
            return np.broadcast_to(np.eye(4), (len(x), 4, 4))
        tangent = self._of._part._returned(self._strains(x), self._of._z)[1]
        return tangent / (self._root[:, :, None] * self._root[:, None, :])

    def _strains(self, y: Array) -> Array:
        e = np.zeros((len(y), 6))
        e[:, _FLOWING] = y[:, 0] / self._root
        return e


def _numbers(law: Hardening) -> tuple[float, float]:
    """Return σ0 and the modulus of the back stress of a hardening, in Pa, which has nothing else than these."""
    c = law.constants
    for name, at in (("rate", RATE), ("recovery", RECOVERY), ("heating", START)):
        if c[at] != 0.0:
            raise MaterialError(
                f"YieldingBeams: sections have no {name} in their hardening; take the yield stress by the plastic "
                "strain and a back stress without recovery."
            )
    return float(law.yield_stress(0.0)), float(c[BACK])


@kernel
def _return(strain, z, stiffness, back, limits, volumes, constants, points):
    """Return p and α [m, 5] at the end of increments to strains [m, 4], and tangents [m, 4, 4]."""
    m = len(strain)
    end, tangent = z.copy(), np.zeros((m, 4, 4))
    sigma0, _ = yield_stress(0.0, constants, points)
    a, trial, w = np.empty(4), np.empty(4), np.empty(4)
    for e in range(m):
        square = 0.0
        for j in range(4):
            tangent[e, j, j] = stiffness[e, j]
            a[j] = (1.0 + back[e]) * stiffness[e, j] / limits[e, j] ** 2
            trial[j] = stiffness[e, j] * (strain[e, j] - (1.0 + back[e]) * z[e, j])
            square += (trial[j] / limits[e, j]) ** 2
        size = np.sqrt(square)  # F of the trial state
        if not volumes[e] > 0.0:
            continue
        alpha, per_size = z[e, 4], 1.0 / (sigma0 * volumes[e])
        sigma, slope = yield_stress(alpha, constants, points)
        if not size > sigma / sigma0:
            continue
        least = 0.0
        for j in range(4):
            if trial[j] != 0.0 and a[j] > 0.0:
                least = a[j] if least == 0.0 else min(least, a[j])
        low, high = 0.0, (size * sigma0 / sigma - 1.0) / least
        mu, F, h, v = 0.0, size, 0.0, 0.0
        for k in range(_ITERATIONS):
            square, v = 0.0, 0.0
            for j in range(4):
                part = (trial[j] / limits[e, j] / (1.0 + mu * a[j])) ** 2
                square += part
                v += part * a[j] / (1.0 + mu * a[j])
            F = np.sqrt(square)
            v /= F
            sigma, slope = yield_stress(alpha + mu * F * per_size, constants, points)
            h = slope / sigma0 * per_size
            G = F - sigma / sigma0
            if G > 0.0:
                low = max(low, mu)
            else:
                high = min(high, mu)
            if k > 0 and abs(G) <= _ROUNDING * size:
                break
            new = mu + G / (v * (1.0 - h * mu) + h * F) if h < np.inf else 0.5 * (low + high)
            if not low < new < high:
                new = 0.5 * (low + high)
            if abs(new - mu) <= _ROUNDING * mu:
                break
            mu = new
        h = min(h, 1e300)
        factor = max(1.0 - h * mu, 0.0)
        factor /= factor * v + h * F
        for j in range(4):
            xi = trial[j] / (1.0 + mu * a[j])
            end[e, j] += mu * xi / limits[e, j] ** 2
            w[j] = xi * a[j] / (1.0 + mu * a[j])
        end[e, 4] += mu * F * per_size
        for i in range(4):
            weighted = factor * w[i] / (1.0 + back[e])
            tangent[e, i, i] -= stiffness[e, i] / (1.0 + back[e]) * mu * a[i] / (1.0 + mu * a[i])
            for j in range(4):
                tangent[e, i, j] -= weighted * w[j] / ((1.0 + back[e]) * F)
    return end, tangent


@kernel
def _works(before, after, constants, points):
    """Return ∫ σy dα [m] in J/m³ between equivalent plastic strains [m]."""
    works = np.empty(len(before))
    for i in range(len(before)):
        works[i] = work_between(before[i], after[i] - before[i], constants, points)
    return works
