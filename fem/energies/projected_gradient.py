"""A discrete gradient for any local energy, from its values and gradients.

With x_m = ½(x0 + x1), Δx = x1 − x0 and g_m = ∂φ/∂x (x_m),

    DG = g_m + λ r,    r = P Δx,    λ = n/|r|²,    n = φ(x1) − φ(x0) − g_m·Δx,

where P takes from Δx what is an infinitesimal motion at x_m that leaves φ as it is: B (BᵀB)⁻¹ Bᵀ Δx with the columns
A_j x_m + b_j of B, one for each generator (A_j, b_j) of such motions. Gonzalez (1996), "Time integration and discrete
Hamiltonian systems", has P for the quadratic invariants of a group; without it this is the midpoint discrete gradient.
A finite rigid motion gives r = 0, as (R − 1) x0 is an infinitesimal rotation of x_m (Cayley).

The tangent follows with c = B⁺ Δx, W = Σ c_j A_j and R_j = A_jᵀ r of each node:

    ∂r/∂x1 = P − ½ P W − ½ (B⁺)ᵀ R,    ∂n/∂x1 = g1 − g_m − ½ H_m Δx,    ∂λ/∂x1 = (∂n/∂x1 − 2 λ rᵀ ∂r/∂x1)/|r|².

**Round-off.** n is a small difference of large energies, and divided by |r|. So where quadrature of the gradient along
the increment gives n to the round-off of energies (Simpson's and Boole's rules agree to that), as it does for small
increments, it is taken instead: it has only the round-off of forces, and is zero where that is all it has. The work is
that of the energy to round-off either way.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from symplex.fem.assembly.pattern import Array

_EPS = float(np.finfo(float).eps)
_ROUNDING = 4.0 * _EPS  # of energies, and of sums of gradients, relative to their parts
_SMALL = 1e-5  # increments, by the change of the stiffness within them
_RANK = 1e-10  # of a motion that others make up nearly, relative to unit motions: nodes in a line turn about it in vain


class LocalEnergy(Protocol):
    """What is asked of an energy (see `symplex.fem.energies.energy.Energy`)."""

    @property
    def invariances(self) -> Collection[str]:
        """What it is the same after."""
        ...

    def generators(self, dim: int) -> tuple[Array, Array]:
        """Return A [r, dim, dim] and b [r, dim] of the motions A x + b that leave it as it is."""
        ...

    def value(self, x: Array) -> Array:
        """Return φ [m] at x [m, k, dim]."""
        ...

    def gradient(self, x: Array) -> Array:
        """Return ∂φ/∂x [m, k, dim]."""
        ...

    def hessian(self, x: Array) -> Array:
        """Return ∂²φ/∂x² [m, k·dim, k·dim]."""
        ...


class _Step(NamedTuple):
    """The parts of DG, [m, …], with stencils as rows of k·dim coordinates."""

    g: Array  # at the middle
    dx: Array
    r: Array
    n: Array
    squared: Array  # |r|², infinite where the correction is zero
    smooth: NDArray[np.bool_]  # whether n is that of quadrature
    b: Array  # g0 − 2 g_m + g1: by Simpson's rule n is b·Δx/6
    g1: Array
    basis: Array  # orthonormal, of the motions that leave φ as it is
    inverse: Array  # B⁺


def projected_gradient(energy: LocalEnergy, x0: Array, x1: Array) -> Array:
    """Return DG [m, k, dim] in N of an energy from x0 to x1 [m, k, dim]."""
    step = _step(energy, x0, x1)
    return (step.g + (step.n / step.squared)[:, None] * step.r).reshape(x1.shape)


def projected_hessian(energy: LocalEnergy, x0: Array, x1: Array) -> Array:
    """Return ∂DG/∂x1 [m, k·dim, k·dim] in N/m, not symmetric."""
    step = _step(energy, x0, x1)
    _, k, dim = x1.shape
    H = energy.hessian(0.5 * (x0 + x1))
    n, n_slope = step.n, step.g1 - step.g - 0.5 * _times(H, step.dx)
    if step.smooth.any():
        change = _times(energy.hessian(x1) - H, step.dx)
        # For small increments that is 2 b, without the round-off of the differences of gradients.
        small = step.smooth & (_norm(change) <= _SMALL * _norm(_times(H, step.dx)))
        b = np.where(small[:, None], 0.5 * change, step.b)
        n = np.where(small, _dot(b, step.dx) / 6.0, n)
        n_slope = np.where(step.smooth[:, None], (b + change) / 6.0, n_slope)
    r_slope = _projection_slope(energy, step, k, dim)
    by_r = n / step.squared
    by_r_slope = (n_slope - 2.0 * by_r[:, None] * np.einsum("mi,mij->mj", step.r, r_slope)) / step.squared[:, None]
    return 0.5 * H + step.r[:, :, None] * by_r_slope[:, None, :] + by_r[:, None, None] * r_slope


def difference_slope(vectors: Callable[[Array], Array], x: Array) -> Array:
    """Return the derivative [m, k·dim, k·dim] of local vectors [m, k, dim] with x [m, k, dim], by central differences.

    Its error is some 1e-9 of the derivative if the vectors change over the size of a stencil (of single nodes: over
    that of all of them together).
    """
    m, k, dim = x.shape
    size = np.ptp(x, axis=1).max(axis=1, initial=0.0)
    whole = float(np.ptp(x.reshape(-1, dim), axis=0).max(initial=0.0)) if m else 0.0
    size = np.where(size > 0.0, size, whole or np.abs(x).max(initial=0.0) or 1.0)
    slope = np.empty((m, k * dim, k * dim))
    for j in range(k * dim):
        s = np.zeros((m, k * dim))
        s[:, j] = _EPS ** (1.0 / 3.0) * size
        ahead, behind = x + s.reshape(x.shape), x - s.reshape(x.shape)
        width = (ahead - behind).reshape(m, -1)[:, j]  # as rounded
        slope[:, :, j] = (vectors(ahead) - vectors(behind)).reshape(m, -1) / width[:, None]
    return slope


def _step(energy: LocalEnergy, x0: Array, x1: Array) -> _Step:
    m = len(x1)
    middle = 0.5 * (x0 + x1)
    dx = (x1 - x0).reshape(m, -1)
    phi0, phi1 = energy.value(x0), energy.value(x1)
    points = (x0, 0.5 * (x0 + middle), middle, 0.5 * (middle + x1), x1)
    g0, before, g, after, g1 = (energy.gradient(x).reshape(m, -1) for x in points)
    basis, inverse = _motions(energy, middle)
    r = dx - _times(basis, _times(basis.swapaxes(1, 2), dx))
    r -= _times(basis, _times(basis.swapaxes(1, 2), r))  # what rounding has left
    b = g0 - 2.0 * g + g1
    b *= (_norm(b) > _ROUNDING * (_norm(g0) + 2.0 * _norm(g) + _norm(g1)))[:, None]
    n, simpson = (phi1 - phi0) - _dot(g, dx), _dot(b, dx) / 6.0
    # Boole's rule less Simpson's
    more = (8.0 / 45.0) * _dot((before - 2.0 * g + after) - 0.25 * b, dx)
    lost = _ROUNDING * (np.abs(phi0) + np.abs(phi1) + _dot(np.abs(g), np.abs(middle.reshape(m, -1))))
    smooth = np.abs(more) <= lost
    n = np.where(smooth, simpson, np.where(np.abs(n) <= lost, 0.0, n))
    # An increment that is rigid but for the rounding of positions is rigid.
    squared = _dot(r, r)
    rigid = squared <= (4.0 * _ROUNDING * (_norm(x0.reshape(m, -1)) + _norm(x1.reshape(m, -1)))) ** 2
    squared = np.where(rigid | (n == 0.0) & ~smooth, np.inf, squared)
    return _Step(g, dx, r, n, squared, smooth, b, g1, basis, inverse)


def _motions(energy: LocalEnergy, x: Array) -> tuple[Array, Array]:
    """Return an orthonormal basis [m, k·dim, r] of the motions that leave φ as it is at x, and B⁺ [m, r, k·dim]."""
    m, k, dim = x.shape
    A, b = energy.generators(dim)
    if not len(A):
        return np.zeros((m, k * dim, 0)), np.zeros((m, 0, k * dim))
    if "translations" in energy.invariances:
        x = x - x.mean(axis=1, keepdims=True)  # turns about the middle, of the same span: no digits are lost far away
    B = (np.einsum("jil,mal->mjai", A, x) + b[None, :, None, :]).reshape(m, len(A), k * dim).swapaxes(1, 2)
    lengths = np.sqrt(np.einsum("mij,mij->mj", B, B))
    lengths[lengths == 0.0] = 1.0
    U, s, Vt = np.linalg.svd(B / lengths[:, None, :], full_matrices=False)
    kept = s > _RANK
    U = U * kept[:, None, :]
    weights = np.divide(1.0, s, out=np.zeros_like(s), where=kept)
    inverse = np.einsum("mlj,ml,mil->mji", Vt, weights, U) / lengths[:, :, None]
    return U, inverse


def _projection_slope(energy: LocalEnergy, step: _Step, k: int, dim: int) -> Array:
    """Return ∂r/∂x1 [m, k·dim, k·dim]."""
    m, size = step.r.shape
    A, _ = energy.generators(dim)
    c = _times(step.inverse, step.dx)
    W = np.einsum("mj,jil->mil", c, A)
    inner = np.zeros((m, k, dim, k, dim))
    for a in range(k):
        inner[:, a, :, a, :] = np.eye(dim) - 0.5 * W
    inner = inner.reshape(m, size, size)
    turned = np.einsum("mal,jli->mjai", step.r.reshape(m, k, dim), A).reshape(m, len(A), size)
    projected = inner - step.basis @ (step.basis.swapaxes(1, 2) @ inner)
    return projected - 0.5 * step.inverse.swapaxes(1, 2) @ turned


def _times(matrices: Array, vectors: Array) -> Array:
    return np.einsum("mij,mj->mi", matrices, vectors)


def _dot(a: Array, b: Array) -> Array:
    return np.einsum("mi,mi->m", a, b)


def _norm(a: Array) -> Array:
    return np.sqrt(_dot(a, a))
