"""Graham and Jelenić's operator to the orders 4, 6 and 8 by Cayley's transform of a Magnus expansion."""

from __future__ import annotations

from typing import ClassVar, Literal, final

import numpy as np

from symplex.fem.system import System
from symplex.time.conserving.gauss_interpolant import GaussInterpolant, hermite_weights
from symplex.time.conserving.scheme_table import SchemeTable, cayley_scheme
from symplex.time.conserving.secant_scheme import SecantScheme

Interpolant = Literal["stable", "hermite"]


class CayleyMagnus(SecantScheme):
    """C from 𝓕 at the Gauss points of an interpolant of the step: no derivatives of 𝓕 in C, and no new unknowns.

    C consists of words of the moments H_k = h² M⁻¹ Σ_i moments_ki 𝓕(R(c_i)) (see
    `symplex.time.conserving.cayley_words`) and is applied to vectors only: 5, 12 or 26 products with sparse matrices
    at order 4, 6, 8. Forces from outside are an affine column of the same operator, so that forces that change with
    time, or along the motion, keep the order.

    Parameters
    ----------
    system : System
    external : tuple of str
        Energies that act like loads.
    interpolant : {"stable", "hermite"}, default "stable"
        See `symplex.time.conserving.gauss_interpolant.GaussInterpolant`.

    Attributes
    ----------
    hermite_limit : float
        hω below which a linear vibration about a state without stress is stable with Hermite's interpolant. Above it
        are bands that are unstable: from 3 to √12 and above 6 at order 4; 3.149 to √10, 6.79 to 7.75 and above 15.6 at
        order 6; 3.1415 to 3.1425, 6.28 to 6.48, 9.88 to 13.04 and above 18.5 at order 8.
    """

    hermite_limit: ClassVar[float]

    def __init__(self, system: System, external: tuple[str, ...], interpolant: Interpolant = "stable"):
        self._interpolant = interpolant
        super().__init__(system, external)

    def _numbers(self) -> tuple[GaussInterpolant, SchemeTable, tuple[float, ...]]:
        known, hermite = self.order // 2, self._interpolant == "hermite"
        rule = GaussInterpolant(known, hermite=hermite)
        outer = GaussInterpolant(known, self._secant.points_for_forces(known), hermite=hermite)
        if known < 4:
            return outer, cayley_scheme(self.order, rule, outer), ()
        # The rates of forces from outside, see `CayleyMagnus8`.
        points = np.array([0.0, *rule.points, 1.0])
        slopes = np.stack([np.eye(len(points))[1], np.arange(len(points), dtype=float)])
        slopes = slopes @ np.linalg.inv(np.vander(points, increasing=True))
        rates = hermite_weights(3, points, 0), hermite_weights(3, points, 1), slopes
        return outer, cayley_scheme(self.order, rule, outer, rates), tuple(points)


@final
class CayleyMagnus4(CayleyMagnus):
    """Order 4: positions and velocities at the ends, 2 points."""

    name = "cayley-magnus-4"
    order = 4
    hermite_limit = 3.0


@final
class CayleyMagnus6(CayleyMagnus):
    """Order 6: positions, velocities and accelerations at the ends, 3 points."""

    name = "cayley-magnus-6"
    order = 6
    hermite_limit = 3.1486


@final
class CayleyMagnus8(CayleyMagnus):
    """Order 8: the rates of accelerations as well, 4 points.

    That of −M⁻¹𝓕 r takes 𝓕̇. The rates of forces from outside are the slopes at the ends of the polynomial through their
    values at both ends and the four points, along Hermite's quintic.
    """

    name = "cayley-magnus-8"
    order = 8
    hermite_limit = 3.1415
