"""The tensor algebra of laws W(I1, I2, θ, I4, …), θ = ln J, for many points at once.

With G_i = ∂I_i/∂C: G_1 = 1, G_2 = I1 1 − C, G_θ = ½ C⁻¹, G_4 = a ⊗ a, and W_i = ∂W/∂I_i,

    S = 2 Σ W_i G_i,    ℂ = 4 (Σ W_ij G_i ⊗ G_j + W_2 (1 ⊗ 1 − 𝕀) − ½ W_θ C⁻¹ ⊙ C⁻¹).

The discrete stress has the same form with the means W̄_i of the first derivatives along the straight segment of the
invariants, by Gauss' rule, and with quotients of the invariants, which are exact:

    ½ S* = W̄_1 1 + W̄_2 (tr C_m 1 − C_m) + W̄_θ t K + W̄_4 a ⊗ a,    t = Δθ/ΔI3 = A(z)/(c0 + c1),

C_m = (C0 + C1)/2, K = (cof C0 + 4 cof C_m + cof C1)/6, c = det C, A(z) = artanh(z)/z, z = (c1 − c0)/(c1 + c0), so that
nothing is divided by an increment; c1 − c0 = K : (C1 − C0) exactly. Its work is W̄_i ΔI_i, which is the change of W as
far as the rule of Gauss is exact.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from symplex.fem.assembly.pattern import Array
from symplex.fem.compiled.call import call_law
from symplex.fem.compiled.kernels import inlined, kernel
from symplex.fem.compiled.logarithm import artanh_ratio
from symplex.fem.solids import tensors
from symplex.fem.solids.law_functions import CHUNK, LawFunctions
from symplex.fem.solids.law_segments import average, room_of_ends, rule_of, switches_of

_DEVIATION = tensors.ONE_ONE - tensors.SYMMETRIC


def energy(law: LawFunctions, fibres: Array, C: Array) -> Array:
    """Return W [p] at C [p, 3, 3], with directions of fibres [F, 3], or [F, p, 3] of each point."""
    return _evaluated(law.value, law, 1, invariants(C, fibres))[0]


def stress(law: LawFunctions, fibres: Array, C: Array) -> Array:
    """Return S [p, 3, 3]."""
    W = _first(law, invariants(C, fibres))
    return _summed(2.0 * W, _gradients(C, fibres))


def tangent(law: LawFunctions, fibres: Array, C: Array) -> Array:
    """Return ℂ [p, 3, 3, 3, 3]."""
    W, second = _second(law, invariants(C, fibres))
    G = _gradients(C, fibres)
    T = _products(4.0 * second, G, G)
    T += tensors.scaled(4.0 * W[1], _DEVIATION)
    return T + tensors.products(np.zeros(len(C)), 2.0 * G[2], -2.0 * W[2])


def stress_curvature(law: LawFunctions, fibres: Array, C: Array, H: Array) -> Array:
    """Return D²S[H, H] [p, 3, 3]: 2 Σ (W_i'' G_i + 2 W_i' G_i' + W_i G_i'') along symmetric H."""
    m = law.invariants
    G = _gradients(C, fibres)
    values = _evaluated(law.third, law, _rows(m, 3), invariants(C, fibres))
    first, second, third = values[:m], _full(values, m, 2), _full(values, m, 3)
    A = 2.0 * G[2]
    AH = A @ H
    AHA = AH @ A
    zero = np.zeros_like(C)
    slopes = [zero] * m  # G_i'
    slopes[1], slopes[2] = tensors.scaled(tensors.trace(H), tensors.ONE) - H, -0.5 * AHA
    curvatures = [zero] * m  # G_i''
    curvatures[2] = AH @ AHA
    I_1 = np.array([np.einsum("pij,pij->p", g, H) for g in G])
    I_2 = np.array([np.einsum("pij,pij->p", g, H) for g in slopes])
    W_1 = np.einsum("ijp,jp->ip", second, I_1)
    W_2 = np.einsum("ijkp,jp,kp->ip", third, I_1, I_1) + np.einsum("ijp,jp->ip", second, I_2)
    return _summed(2.0 * W_2, G) + _summed(4.0 * W_1, slopes) + _summed(2.0 * first, curvatures)


def discrete_stress(law: LawFunctions, fibres: Array, C0: Array, C1: Array) -> Array:
    """Return S* [p, 3, 3]."""
    start, end = invariants(C0, fibres), invariants(C1, fibres)
    W = _means(law.first, law, law.invariants, start, end)
    return _summed(2.0 * W, _quotients(C0, C1, fibres)[0])


def discrete_tangent(law: LawFunctions, fibres: Array, C0: Array, C1: Array) -> Array:
    """Return 2 ∂S*/∂C1 [p, 3, 3, 3, 3]."""
    start, end = invariants(C0, fibres), invariants(C1, fibres)
    m = law.invariants
    values = _means(law.second, law, _rows(m, 2), start, end)
    W, second = values[:m], _full(values, m, 2)
    quotients, t, slope, K = _quotients(C0, C1, fibres)
    T = _products(4.0 * second, quotients, _gradients(C1, fibres))
    T += tensors.scaled(2.0 * W[1], _DEVIATION)
    volume = tensors.scaled(4.0 * W[2] * slope, K)
    mixed = tensors.scaled(4.0 / 6.0 * W[2] * t, C0 + 2.0 * C1)
    return T + tensors.cofactor_tangent(volume, tensors.cofactors(C1), mixed)


def invariants(C: Array, fibres: Array) -> Array:
    """Return I1, I2, θ and I4 of each family [m, p]; not a number where det C is not positive."""
    cofactors = tensors.cofactors(C)
    with np.errstate(all="ignore"):
        theta = 0.5 * np.log(tensors.determinants(C))
    return np.array(
        [
            tensors.trace(C),
            tensors.trace(cofactors),
            theta,
            *(np.einsum("pi,pij,pj->p", a, C, a) for a in _of_points(fibres, C)),
        ]
    )


def _of_points(fibres: Array, C: Array) -> Array:
    """Return the directions [F, p, 3]."""
    each = fibres if fibres.ndim == 3 else fibres[:, None]
    return np.broadcast_to(each, (len(fibres), len(C), 3))


def _gradients(C: Array, fibres: Array) -> list[Array]:
    """Return G_i [p, 3, 3] for each invariant."""
    inverse = tensors.scaled(1.0 / tensors.determinants(C), tensors.cofactors(C))
    return [
        np.broadcast_to(tensors.ONE, C.shape),
        tensors.scaled(tensors.trace(C), tensors.ONE) - C,
        0.5 * inverse,
        *(np.einsum("pi,pj->pij", a, a) for a in _of_points(fibres, C)),
    ]


def _quotients(C0: Array, C1: Array, fibres: Array) -> tuple[list[Array], Array, Array, Array]:
    """Return the quotients of the invariants [p, 3, 3]; of θ also t, ∂t/∂c1 [p] and K [p, 3, 3]."""
    t, slope = _theta_quotients(tensors.determinants(C0), tensors.determinants(C1))
    K = tensors.cofactors(0.5 * (C0 + C1)) + tensors.cofactors(C1 - C0) / 12.0
    quotients = _gradients(0.5 * (C0 + C1), fibres)
    quotients[2] = tensors.scaled(t, K)
    return quotients, t, slope, K


@kernel
def _theta_quotients(c0, c1):
    """Return t = ½ (ln c1 − ln c0)/(c1 − c0) and ∂t/∂c1 [p]; not a number where c0 or c1 is not positive."""
    t, slopes = np.full(len(c0), np.nan), np.full(len(c0), np.nan)
    for p in range(len(c0)):
        if c0[p] > 0.0 and c1[p] > 0.0:
            s = c0[p] + c1[p]
            ratio, slope = artanh_ratio((c1[p] - c0[p]) / s)
            t[p] = ratio / s
            slopes[p] = (2.0 * c0[p] / s * slope - ratio) / (s * s)  # ∂z/∂c1 = 2 c0/s²
    return t, slopes


def _summed(factors: Array, terms: list[Array]) -> Array:
    return sum((tensors.scaled(a, B) for a, B in zip(factors, terms, strict=True)), np.zeros(terms[0].shape))


def _products(factors: Array, left: list[Array], right: list[Array]) -> Array:
    """Return Σ factors_ij left_i ⊗ right_j [p, 3, 3, 3, 3] for factors [m, m, p]."""
    return np.einsum("ijp,ipab,jpcd->pabcd", factors, np.array(left), np.array(right), optimize=True)


# -- derivatives of W ---------------------------------------------------------------------------------------------


def _first(law: LawFunctions, x: Array) -> Array:
    return _evaluated(law.first, law, law.invariants, x)


def _second(law: LawFunctions, x: Array) -> tuple[Array, Array]:
    """Return ∂W/∂I_i [m, p] and ∂²W/∂I_i∂I_j [m, m, p]."""
    m = law.invariants
    values = _evaluated(law.second, law, _rows(m, 2), x)
    return values[:m], _full(values, m, 2)


def _full(values: Array, m: int, order: int) -> Array:
    """Return the derivatives of an order [m, …, m, p] from the rows of all up to some order."""
    return values[_places(m, order)]


@cache
def _places(m: int, order: int) -> NDArray[np.intp]:
    """Return the row of each derivative of an order [m, …, m]."""
    rows = list(combinations_with_replacement(range(m), order))
    first, places = _rows(m, order - 1), np.empty((m,) * order, np.intp)
    for indices in np.ndindex(*places.shape):
        places[indices] = first + rows.index(tuple(sorted(indices)))
    return places


def _rows(m: int, order: int) -> int:
    """Return the number of derivatives of the first to the given order."""
    return sum(1 for n in range(1, order + 1) for _ in combinations_with_replacement(range(m), n))


def _evaluated(address: int, law: LawFunctions, rows: int, x: Array) -> Array:
    """Return what a function of a law writes [rows, p] for invariants x [m, p]."""
    out = np.empty((rows, x.shape[1]))
    _evaluate(address, law.parameters, np.ascontiguousarray(x), out)
    return out


def _means(address: int, law: LawFunctions, rows: int, start: Array, end: Array) -> Array:
    """Return means of derivatives [rows, p] from the invariants start to end [m, p], of the second ones times s."""
    out = np.empty((rows, start.shape[1]))
    segments = np.concatenate([0.5 * (start + end), end - start])
    _average(address, law.parameters, rule_of(law), switches_of(law), segments, out)
    return out


@inlined
def _fill(x, start, chunk):
    """Set a chunk to the columns of x from the first on; it is filled up with the last one."""
    for i in range(len(chunk)):
        for k in range(CHUNK):
            chunk[i, k] = x[i, min(start + k, x.shape[1] - 1)]


@inlined
def _take(chunk, start, out):
    """Set the columns of out from the first on to those of a chunk, as many as there are."""
    for i in range(len(out)):
        for k in range(min(CHUNK, out.shape[1] - start)):
            out[i, start + k] = chunk[i, k]


@kernel
def _average(address, parameters, rule, switches, segments, out):
    """Set the means for chunks of segments."""
    rows, m = len(out), len(segments) // 2
    chunk, room = np.empty((2 * m, CHUNK)), room_of_ends(switches)
    at, W, means = np.empty(m * CHUNK), np.empty(rows * CHUNK), np.empty((rows, CHUNK))
    for start in range(0, segments.shape[1], CHUNK):
        _fill(segments, start, chunk)
        average(address, parameters.ctypes.data, rule, switches, m, rows, chunk.ravel(), room, at, W, means.ravel())
        _take(means, start, out)


@kernel
def _evaluate(address, parameters, x, out):
    """Call a function of a law for chunks of points."""
    x_chunk, out_chunk = np.empty((len(x), CHUNK)), np.empty((len(out), CHUNK))
    for start in range(0, x.shape[1], CHUNK):
        _fill(x, start, x_chunk)
        call_law(address, parameters.ctypes.data, x_chunk.ctypes.data, out_chunk.ctypes.data)
        _take(out_chunk, start, out)
