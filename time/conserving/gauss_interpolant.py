"""Where a body is at Gauss points of a step, from what is known of both ends: no unknowns in between."""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial
from typing import final

import numpy as np

from symplex.fem.energies.energy import Array


@final
class GaussInterpolant:
    """Positions at Gauss points of a step, from values and k − 1 derivatives at both ends, k = order/2.

    About the middle of the step the even part is that of the Hermite polynomial with all of these, the odd part that of
    the polynomial with one derivative less. The odd part is weighted by one more power of h in all that is made of it,
    so the order stays; and what a method makes of a linear system becomes Padé's approximation of equal degrees, stable
    at any step, while with the one polynomial for both parts no method of order 4 or more is stable above hω = 3.15.

    Parameters
    ----------
    n_known : int
        k: what is known of each end, 1 to 4.
    n_points : int, optional
        Not less than k, the default. More points see more of forces that change with time, at the same order.
    hermite : bool, default False
        Whether to take Hermite's polynomial as it is.

    Attributes
    ----------
    points : float64 [n_points]
        On [0, 1].
    weights : float64 [n_points]
        Of Gauss' rule; their sum is 1.
    position_weights : float64 [n_points, 2 n_known]
        Of what is known of both ends in the positions at the points.
    rate_weights : float64 [n_points, 2 n_known]
        The same in h × the velocities there.
    moments : float64 [n_known, n_points]
        Row i: what makes of values at the points the coefficient of (c − ½)^i of a polynomial: that through k values,
        of more the best one in the mean. Integrals of its products with such polynomials are those of Gauss' rule.
    """

    def __init__(self, n_known: int, n_points: int | None = None, *, hermite: bool = False):
        nodes, weights = np.polynomial.legendre.leggauss(n_points or n_known)
        self.points: Array = np.array(0.5 + 0.5 * nodes, float)
        self.weights: Array = np.array(0.5 * weights, float)
        powers = np.vander(0.5 * nodes, n_known, increasing=True)
        weighted = powers.T * self.weights
        self.moments = np.linalg.solve(weighted @ powers, weighted)
        self.position_weights = hermite_weights(n_known, self.points, 0)
        if n_known > 1 and not hermite:
            lower = hermite_weights(n_known - 1, self.points, 0)
            last = [n_known - 1, 2 * n_known - 1]  # the highest derivatives, which the odd part does without
            lower = np.insert(lower, [last[0], last[1] - 1], 0.0, axis=1)
            self.position_weights = 0.5 * (self.position_weights + self.position_weights[::-1]) + 0.5 * (
                lower - lower[::-1]
            )
        self.rate_weights = hermite_weights(n_known, self.points, 1)

    def positions(self, ends: Sequence[Array]) -> Array:
        """Return the positions [n_points, n, dim].

        Parameters
        ----------
        ends : sequence of float64 [n, dim]
            At the start the position, h × velocity, h² × acceleration, …, n_known in all; then those at the end.
        """
        return ends[0] + combined(self.position_weights, ends)

    def rates(self, ends: Sequence[Array]) -> Array:
        """Return h × the velocities [n_points, n, dim] (see `positions`)."""
        return combined(self.rate_weights, ends)


def combined(weights: Array, ends: Sequence[Array]) -> Array:
    """Return Σ weight · end [points, n, dim] without the position at the start, in whose place the end's is a change.

    For weights [points, 2k] of positions, which sum to one, and of their derivatives, which sum to zero.
    """
    half = len(ends) // 2
    parts = np.concatenate([*ends[1:half], ends[half] - ends[0], *ends[half + 1 :]])
    return (weights[:, 1:] @ parts.reshape(len(ends) - 1, -1)).reshape(len(weights), *ends[0].shape)


def hermite_weights(n_known: int, points: Array, derivative: int) -> Array:
    """Return the weights [points, 2·n_known] that Hermite's polynomial on [0, 1] gives to what is known of its ends.

    Parameters
    ----------
    n_known : int
        The value and derivatives known at 0, and at 1.
    points : float64 [points]
    derivative : int
        Which of the polynomial is requested at the points; 0: its value.
    """
    size = 2 * n_known
    conditions = [_powers(size, c, k) for c in (0.0, 1.0) for k in range(n_known)]
    return np.array([_powers(size, c, derivative) for c in points]) @ np.linalg.inv(np.array(conditions))


def _powers(size: int, c: float, derivative: int) -> Array:
    """Return the derivatives of 1, c, c², … at c."""
    out = np.zeros(size)
    for n in range(derivative, size):
        out[n] = factorial(n) / factorial(n - derivative) * c ** (n - derivative)
    return out
