"""Generalised strains of beams and shells, in which laws with history are written.

Some are measures ε_i = ½ x·A_i x − e_i as they are. The curvatures of beams are those of the rotation vector from one
end of an element to the other, ω_k = f(s) κ_k, with κ_k = sin θ n_k, s = 1 − cos θ = ¼ Σ |Δd_k|² and

    f(s) = θ/sin θ = Σ c_n sⁿ,    c_0 = 1,    c_{n+1}/c_n = (n + 1)/(2n + 3).

Their changes in an increment have slopes B̄, B̄ Δx = Δe exactly, at the middle x̄ of it:

    Δε_i = (A_i x̄)·Δx,    Δω_k = f̄ (A_k x̄)·Δx + κ̄_k f[s⁰, s¹] (A_s x̄)·Δx,

with the mean f̄ and the divided difference f[s⁰, s¹] of f. So forces B̄ᵀσ do the work σ·Δe, and as A_i x̄ are slopes of
measures that rigid motions do not change, they have no resultant and no moment, whatever σ is.
"""

from __future__ import annotations

from copy import copy
from typing import NamedTuple, final

import numpy as np

from symplex.fem.assembly.copying import Copyable
from symplex.fem.assembly.pattern import Array
from symplex.fem.structures.quadratic_measures import QuadraticMeasures

_LARGEST = 1.6  # of s, beyond which the series is cut off: rotations of 127° in an element
_EPS = float(np.finfo(float).eps)


class _Ratio(NamedTuple):
    """f at s¹, f[s⁰, s¹], f'(s¹) and f[s⁰, s¹, s¹], [m]."""

    value: Array
    slope: Array
    end_slope: Array
    second: Array


class _Increment(NamedTuple):
    """An increment: vectors p and slopes ∂e/∂p at its middle, as they make Δe, and at its end; f, and means."""

    middle: Array  # [m, v, 3]
    end: Array
    slopes: Array  # [m, i, v, 3]
    end_slopes: Array
    f: _Ratio
    mean_f: Array  # [m]
    mean_kappa: Array  # [m, 3]


@final
class GeneralizedStrains(Copyable):
    """The generalised strains e [m, i] of the stencils of an energy, and forces for stresses σ [m, i] of them.

    Parameters
    ----------
    energy : QuadraticMeasures
        Whose measures they are made of.
    plain : tuple of int
        The measures that are strains as they are.
    rotations : tuple of int
        The measures κ_k.
    opening : tuple of int
        The measures |Δd_k|², of which s is a quarter of the sum.
    stiffness : float64 [m, i, i], optional
        C in J, by which stresses of small strains grow; default: that of the measures.
    name : str, optional
        That of the energy, where a structure has several.

    Attributes
    ----------
    nodes : int32 [m, k]
        The stencils.
    stiffness : float64 [m, i, i]
        C in J.
    """

    def __init__(
        self,
        energy: QuadraticMeasures,
        plain: tuple[int, ...],
        rotations: tuple[int, ...] = (),
        opening: tuple[int, ...] = (),
        stiffness: Array | None = None,
        name: str = "",
    ):
        self.name, self.nodes, self._weights = name, energy.nodes, energy.weights
        v = energy.weights.shape[1]
        pairs = np.zeros((len(energy.terms), v, v))
        for i, terms in enumerate(energy.terms):
            for r, s, c in terms:
                pairs[i, r, s] += c
                pairs[i, s, r] += c
        self._straight = len(plain)
        chosen = [*plain, *rotations]
        self._pairs = pairs[chosen]
        self._opening = 0.25 * pairs[list(opening)].sum(axis=0)
        self._rest = energy.rest[:, chosen]
        self.stiffness = energy.stiffness[:, chosen][:, :, chosen] if stiffness is None else stiffness

    def shifted(self, first: int) -> GeneralizedStrains:
        """Return the same of nodes whose numbers are greater by ``first``."""
        new = copy(self)
        new.nodes = self.nodes + np.int32(first)
        return new

    def strains(self, x: Array) -> Array:
        """Return e [m, i] at the positions x [m, k, 3] in m."""
        p = self._vectors(x)
        out = self._products(p) - self._rest
        if self._turns:
            s = self._rotation(p)
            out[:, self._straight :] *= _ratio(s, s).value[:, None]
        return out

    def forces(self, x0: Array, x1: Array, stress: Array) -> Array:
        """Return B̄ᵀσ [m, k, 3] in N for stresses [m, i] of an increment; with x0 = x1 those at a place."""
        increment = self._increment(x0, x1)
        return np.asarray(self._weights.swapaxes(1, 2) @ np.einsum("mi,mivc->mvc", stress, increment.slopes), float)

    def derivatives(self, x0: Array, x1: Array, stress: Array, moduli: Array, *, mean: bool) -> Array:
        """Return the derivative [m, 3k, 3k] in N/m of `forces` with x1, for moduli ∂σ/∂e1 [m, i, i].

        Of an increment, whose middle moves half as far as x1, or (not ``mean``) of forces at x0 = x1, which move alike.
        """
        (m, k, _), at = x1.shape, self._straight
        one = self._increment(x0, x1)
        part = 0.5 if mean else 1.0
        weighted, bent = stress.copy(), np.zeros((m, *self._opening.shape))
        K = np.einsum("mivc,mij,mjwd->mvcwd", one.slopes, moduli, one.end_slopes, optimize=True)
        if self._turns:
            f, turning = one.f, np.einsum("mi,mi->m", one.mean_kappa, stress[:, at:])
            weighted[:, at:] *= one.mean_f[:, None]
            bent = (turning * f.slope)[:, None, None] * self._opening
            by_kappa = np.einsum("mi,ivw->mvw", stress[:, at:], self._pairs[at:])
            along, along_end = by_kappa @ one.middle, by_kappa @ one.end
            opened, opened_end = self._opening @ one.middle, self._opening @ one.end
            # Of f̄ Σ σ_k A_k x̄ + (κ̄·σ) f[s⁰, s¹] A_s x̄ by f̄, and by κ̄ and f[s⁰, s¹].
            K += np.einsum("mvc,mwd->mvcwd", along, (part * f.end_slope)[:, None, None] * opened_end)
            by_second = turning * f.second * (1.0 if mean else 2.0)
            right = (part * f.slope)[:, None, None] * along_end + by_second[:, None, None] * opened_end
            K += np.einsum("mvc,mwd->mvcwd", opened, right)
        matrix = np.einsum("mi,ivw->mvw", weighted, self._pairs) + bent
        for c in range(3):
            K[:, :, c, :, c] += part * matrix
        out = np.einsum("mva,mvcwd,mwb->macbd", self._weights, K, self._weights, optimize=True)
        return np.ascontiguousarray(out.reshape(m, 3 * k, 3 * k))

    @property
    def _turns(self) -> bool:
        return self._straight < len(self._pairs)

    def _increment(self, x0: Array, x1: Array) -> _Increment:
        """Return what forces and derivatives of an increment have in common."""
        p0, p1, at = self._vectors(x0), self._vectors(x1), self._straight
        middle = 0.5 * (p0 + p1)
        slopes, end_slopes = (np.einsum("ivw,mwc->mivc", self._pairs, p) for p in (middle, p1))
        if not self._turns:
            none = np.zeros(0)
            return _Increment(middle, p1, slopes, end_slopes, _Ratio(none, none, none, none), none, none)
        s0, s1 = self._rotation(p0), self._rotation(p1)
        f, mean_f = _ratio(s0, s1), 0.5 * (_ratio(s0, s0).value + _ratio(s1, s1).value)
        kappa = self._products(p1)[:, at:]
        mean_kappa = 0.5 * (self._products(p0)[:, at:] + kappa)
        for of, size, by, p in (
            (slopes, mean_f, mean_kappa * f.slope[:, None], middle),
            (end_slopes, f.value, kappa * f.end_slope[:, None], p1),
        ):
            of[:, at:] *= size[:, None, None, None]
            of[:, at:] += np.einsum("mi,mvc->mivc", by, self._opening @ p)
        return _Increment(middle, p1, slopes, end_slopes, f, mean_f, mean_kappa)

    def _vectors(self, x: Array) -> Array:
        """Return the vectors p [m, v, 3] of gathered positions [m, k, 3]."""
        return np.asarray(self._weights[:, :, 1:] @ (x[:, 1:] - x[:, :1]), float)

    def _products(self, p: Array) -> Array:
        """Return ½ p·A_i p [m, i]."""
        return 0.5 * np.einsum("ivw,mvw->mi", self._pairs, p @ p.swapaxes(1, 2))

    def _rotation(self, p: Array) -> Array:
        """Return s [m]."""
        return 0.5 * np.einsum("vw,mvw->m", self._opening, p @ p.swapaxes(1, 2))


def _ratio(s0: Array, s1: Array) -> _Ratio:
    """Return f and its divided differences, by Horner's scheme and the division of the series by s − s¹ and s − s⁰."""
    largest = min(max(float(np.abs(s0).max(initial=0.0)), float(np.abs(s1).max(initial=0.0))), _LARGEST)
    terms = 3 + int(np.ceil(np.log(_EPS) / np.log(max(0.5 * largest, _EPS))))
    n = np.arange(terms)
    series = np.concatenate([[1.0], np.cumprod((n + 1.0) / (2.0 * n + 3.0))])
    value, slope, end_slope, second = (np.zeros_like(s1) for _ in range(4))
    for c in series[::-1]:
        second = second * s0 + end_slope
        end_slope = end_slope * s1 + value
        slope = slope * s0 + value
        value = value * s1 + c
    return _Ratio(value, slope, end_slope, second)
