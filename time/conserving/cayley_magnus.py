"""Graham and Jelenić's operator to the orders 4, 6 and 8 by Cayley's transform of a Magnus expansion."""

from __future__ import annotations

from typing import ClassVar, Literal, final

import numpy as np

from symplex.fem.energy import Array
from symplex.fem.system import System
from symplex.time.conserving.algorithm_mc import ConservingScheme
from symplex.time.conserving.cayley_words import apply_words
from symplex.time.conserving.gauss_interpolant import GaussInterpolant, combined, hermite_weights
from symplex.time.conserving.secant_operator import SecantOperator
from symplex.time.conserving.small_scheme_loops import SmallForces, with_scheme
from symplex.time.conserving.small_schemes import SmallScheme, cayley_scheme

Interpolant = Literal["stable", "hermite"]


class CayleyMagnus(ConservingScheme):
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

    needs = frozenset({"secant"})
    takes_external = True
    hermite_limit: ClassVar[float]

    def __init__(self, system: System, external: tuple[str, ...], interpolant: Interpolant = "stable"):
        super().__init__(system, external)
        self._secant = SecantOperator(system, external)
        known, hermite = self.order // 2, interpolant == "hermite"
        self._rule = GaussInterpolant(known, hermite=hermite)
        self._load_rule = GaussInterpolant(known, self._secant.points_for_forces(known), hermite=hermite)
        self._external = set(external)

    def compiled(self) -> tuple[SmallScheme, SmallForces] | None:
        """Return the scheme and the system as compiled loops take them."""
        scheme = cayley_scheme(self.order, self._rule, self._load_rule, *self._rates_from_outside())
        return with_scheme(scheme, self.system, self._external)

    def _rates_from_outside(self) -> tuple[Array, ...]:
        """Return the quintic's weights of positions, and those of slopes at both ends, if the scheme has them."""
        return ()

    def add(self, z1: Array, out: Array) -> None:
        """Write C (Z0 + Z1)/2 + Z_a [2, n, dim] to out, if the step ends at z1."""
        ends, h = self._ends(z1), self.h
        q = self._rule.positions(ends)
        values = (h * h * self._rule.moments) @ np.stack([self._secant.values(x) for x in q])
        forces = None
        if self._secant.loaded:
            rule = self._load_rule
            at = self._outside(rule.points, rule.positions(ends), rule.rates(ends))
            forces = np.tensordot(rule.moments, at, 1)
        r, w = 0.5 * (self.z0 + z1)

        def product(k: int, x: Array) -> Array:
            return self._secant.product(values[k - 1], x)

        apply_words(self.order, product, r, w, forces, out)

    def work(self, z1: Array) -> list[float]:
        """Return the work in J of each load in a step that ends at z1."""
        ends = self._ends(z1)
        return self._work(self._load_rule, self._load_rule.positions(ends), self._load_rule.rates(ends))

    def _ends(self, z1: Array) -> list[Array]:
        """Return what the interpolant needs of the start, and of the end."""
        return [*self.z0, *z1]

    def _scaled_acceleration(self, z1: Array) -> Array:
        """Return h² × the acceleration at the end z1."""
        return self.h**2 * self._secant.accelerations(self.t + self.h, z1[0], z1[1] / self.h)

    def _outside(self, points: Array, q: Array, w: Array) -> Array:
        """Return h² × the accelerations from outside at points of the step."""
        h, t = self.h, self.t
        at = zip(points, q, w, strict=True)
        return np.stack([h * h * self._secant.from_outside(t + c * h, x, y / h) for c, x, y in at])


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

    def _ends(self, z1: Array) -> list[Array]:
        return [*self.z0, self.h**2 * self.a0, *z1, self._scaled_acceleration(z1)]


@final
class CayleyMagnus8(CayleyMagnus):
    """Order 8: the rates of accelerations as well, 4 points.

    That of −M⁻¹𝓕 r takes 𝓕̇. The rates of forces from outside are the slopes at the ends of the polynomial through their
    values at both ends and the four points, along Hermite's quintic.
    """

    name = "cayley-magnus-8"
    order = 8
    hermite_limit = 3.1415

    def __init__(self, system: System, external: tuple[str, ...], interpolant: Interpolant = "stable"):
        super().__init__(system, external, interpolant)
        points = np.array([0.0, *self._rule.points, 1.0])
        self._quintic = points, hermite_weights(3, points, 0), hermite_weights(3, points, 1)
        powers = np.arange(1, len(points))
        slopes = np.stack([np.eye(len(points))[1], np.insert(powers, 0, 0)])
        self._slopes = slopes @ np.linalg.inv(np.vander(points, increasing=True))

    def _rates_from_outside(self) -> tuple[Array, ...]:
        return self._quintic[1], self._slopes

    def begin(self, t: float, h: float, z0: Array, a0: Array) -> None:
        """Set up a step of size h in s from the time t, the state z0 [2, n, dim] and the accelerations a0 there."""
        super().begin(t, h, z0, a0)
        self._jerk0 = self._inner_jerk(z0)

    def _ends(self, z1: Array) -> list[Array]:
        start = [*self.z0, self.h**2 * self.a0]
        end = [*z1, self._scaled_acceleration(z1)]
        jerk0, jerk1 = self._jerk0, self._inner_jerk(z1)
        if self._secant.loaded:
            points, positions, rates = self._quintic
            ends = [*start, *end]
            at = self._outside(points, ends[0] + combined(positions, ends), combined(rates, ends))
            outer = np.tensordot(self._slopes, at, 1)
            jerk0, jerk1 = jerk0 + outer[0], jerk1 + outer[1]
        return [*start, jerk0, *end, jerk1]

    def _inner_jerk(self, z: Array) -> Array:
        """Return −h³ d(M⁻¹𝓕 r)/dt at a state."""
        secant, (q, w) = self._secant, z
        return -(self.h**2) * (secant.product(secant.values(q), w) + secant.product(secant.rate_values(q, w), q))
