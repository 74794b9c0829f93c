"""Flap frequencies of rotating beams: (EI w″)″ − (T w′)′ = ω² ρA w by Galerkin's method with polynomials."""

from __future__ import annotations

import numpy as np
from numpy.polynomial.legendre import Legendre, leggauss
from numpy.typing import NDArray
from scipy.linalg import eigh

_DEGREES = 14  # with which six frequencies have seven digits


def rotating_beam(speed: float, offset: float = 0.0, *, hinged: bool = False, modes: int = 1) -> NDArray[np.float64]:
    """Return ω √(ρA/EI) L² of the lowest modes, for Ω √(ρA/EI) L² and the offset of the root over L.

    T = ½ Ω² ((e + 1)² − (e + x)²) with x from the root, which is clamped or hinged; of a hinged beam on the axis, and
    at rest, the first is that of a rigid motion.
    """
    x, weights = leggauss(2 * _DEGREES)
    x, weights = 0.5 * (x + 1.0), 0.5 * weights
    basis = [Legendre.basis(k, [0, 1]) for k in range(_DEGREES)]
    P, P1, P2 = (np.array([(p.deriv(d) if d else p)(x) for p in basis]) for d in range(3))
    if hinged:
        w, slope, curvature = x * P, P + x * P1, 2.0 * P1 + x * P2
    else:
        w, slope, curvature = x**2 * P, 2.0 * x * P + x**2 * P1, 2.0 * P + 4.0 * x * P1 + x**2 * P2
    tension = 0.5 * speed**2 * ((offset + 1.0) ** 2 - (offset + x) ** 2)
    stiffness = (weights * curvature) @ curvature.T + (weights * tension * slope) @ slope.T
    squares = eigh(stiffness, (weights * w) @ w.T, eigvals_only=True)[:modes]
    return np.sqrt(np.maximum(squares, 0.0))
