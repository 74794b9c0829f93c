"""Energies between two points: springs, truss bars, gravitation and charges, Lennard-Jones pairs.

With d = x_1 − x_0 and s = |d|², a law is a function φ(s): its force is 2 φ'(s) d, and along an increment of s it has
the quotient ξ = Δφ/(½ Δs), in closed forms without cancellation.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from symplex.errors import InvalidSystem, MaterialError, StepFailed
from symplex.fem.energy import Array, Energy, LatticeFunctions

# Which law a row of parameters of the compiled functions is for.
ENGINEERING, GREEN, INVERSE, LENNARD_JONES, INVERSE_SQUARE = range(5)


class PairLaw(ABC):
    """An energy φ(s) in J of two points at the squared distance s in m².

    Constants may be numbers, or one for each pair.

    Attributes
    ----------
    code : int
        Which law it is to the compiled functions.
    """

    code: ClassVar[int]

    @property
    @abstractmethod
    def constants(self) -> Mapping[str, Array]:
        """The constants by name, in the order of the compiled functions."""

    @abstractmethod
    def energy(self, s: Array) -> Array:
        """Return φ(s) in J."""

    @abstractmethod
    def slope(self, s: Array) -> Array:
        """Return dφ/ds in N/m."""

    @abstractmethod
    def curvature(self, s: Array) -> Array:
        """Return d²φ/ds² in N/m³."""

    @abstractmethod
    def quotient(self, s0: Array, s1: Array) -> Array:
        """Return ξ = (φ(s1) − φ(s0))/(½(s1 − s0)) in N/m, also where s1 = s0: then it is 2 dφ/ds."""


@final
class EngineeringStrain(PairLaw):
    """A linear spring, φ = ½ k (l − L)².

    Parameters
    ----------
    stiffness : float or float64 [m]
        k in N/m: EA/L for a bar.
    length : float or float64 [m]
        The natural length L in m; 0 for a spring through the point.
    """

    code = ENGINEERING

    def __init__(self, stiffness: ArrayLike, length: ArrayLike):
        self.stiffness = _positive("stiffness", stiffness, "N/m")
        self.length = _finite("natural length", length, "m", least=0.0)

    @property
    def constants(self) -> Mapping[str, Array]:
        """K and L."""
        return {"stiffness": self.stiffness, "length": self.length}

    def energy(self, s: Array) -> Array:
        """Return ½ k (√s − L)²."""
        return 0.5 * self.stiffness * (np.sqrt(s) - self.length) ** 2

    def slope(self, s: Array) -> Array:
        """Return ½ k (1 − L/√s)."""
        return 0.5 * self.stiffness * (1.0 - _ratio(self.length, np.sqrt(s)))

    def curvature(self, s: Array) -> Array:
        """Return ¼ k L s^(−3/2)."""
        return 0.25 * self.stiffness * _ratio(self.length, s * np.sqrt(s))

    def quotient(self, s0: Array, s1: Array) -> Array:
        """Return k (1 − 2L/(l0 + l1))."""
        return self.stiffness * (1.0 - 2.0 * _ratio(self.length, np.sqrt(s0) + np.sqrt(s1)))


@final
class GreenStrain(PairLaw):
    """A bar of Green's strain, φ = ½ k ((s − L²)/2L)².

    Parameters
    ----------
    stiffness : float or float64 [m]
        k in N/m: EA/L for a bar.
    length : float or float64 [m]
        The natural length L in m.
    """

    code = GREEN

    def __init__(self, stiffness: ArrayLike, length: ArrayLike):
        self.stiffness = _positive("stiffness", stiffness, "N/m")
        self.length = _positive("natural length", length, "m")

    @property
    def constants(self) -> Mapping[str, Array]:
        """K and L."""
        return {"stiffness": self.stiffness, "length": self.length}

    def energy(self, s: Array) -> Array:
        """Return ½ k ((s − L²)/2L)²."""
        return 0.125 * self.stiffness * ((s - self.length**2) / self.length) ** 2

    def slope(self, s: Array) -> Array:
        """Return k (s − L²)/4L²."""
        return 0.25 * self.stiffness * (s / self.length**2 - 1.0)

    def curvature(self, s: Array) -> Array:
        """Return k/4L²."""
        return 0.25 * self.stiffness / self.length**2 + 0.0 * s

    def quotient(self, s0: Array, s1: Array) -> Array:
        """Return k (s0 + s1 − 2L²)/4L²."""
        return 0.25 * self.stiffness * ((s0 + s1) / self.length**2 - 2.0)


@final
class InverseDistance(PairLaw):
    """Gravitation or Coulomb's law, φ = −γ/l.

    Parameters
    ----------
    strength : float or float64 [m]
        γ in J m: G m_0 m_1 for masses, −k q_0 q_1 for charges.
    """

    code = INVERSE

    def __init__(self, strength: ArrayLike):
        self.strength = _finite("strength", strength, "J m")

    @property
    def constants(self) -> Mapping[str, Array]:
        """γ."""
        return {"strength": self.strength}

    def energy(self, s: Array) -> Array:
        """Return −γ/√s."""
        return -self.strength / np.sqrt(s)

    def slope(self, s: Array) -> Array:
        """Return ½ γ s^(−3/2)."""
        return 0.5 * self.strength / (s * np.sqrt(s))

    def curvature(self, s: Array) -> Array:
        """Return −¾ γ s^(−5/2)."""
        return -0.75 * self.strength / (s * s * np.sqrt(s))

    def quotient(self, s0: Array, s1: Array) -> Array:
        """Return 2γ/(l0 l1 (l0 + l1))."""
        l0, l1 = np.sqrt(s0), np.sqrt(s1)
        return 2.0 * self.strength / (l0 * l1 * (l0 + l1))


@final
class InverseSquare(PairLaw):
    """φ = c/s: with c = Θ²/2μ, the centrifugal energy of a reduced mass μ with the angular momentum Θ.

    Parameters
    ----------
    strength : float or float64 [m]
        c in J m²; positive where it repels.
    """

    code = INVERSE_SQUARE

    def __init__(self, strength: ArrayLike):
        self.strength = _finite("strength", strength, "J m²")

    @property
    def constants(self) -> Mapping[str, Array]:
        """C."""
        return {"strength": self.strength}

    def energy(self, s: Array) -> Array:
        """Return c/s."""
        return self.strength / s

    def slope(self, s: Array) -> Array:
        """Return −c/s²."""
        return -self.strength / (s * s)

    def curvature(self, s: Array) -> Array:
        """Return 2c/s³."""
        return 2.0 * self.strength / (s * s * s)

    def quotient(self, s0: Array, s1: Array) -> Array:
        """Return −2c/(s0 s1)."""
        return -2.0 * self.strength / (s0 * s1)


@final
class LennardJones(PairLaw):
    """φ = 4ε [(σ/l)¹² − (σ/l)⁶].

    Parameters
    ----------
    depth : float or float64 [m]
        ε in J.
    diameter : float or float64 [m]
        σ in m, where φ is zero.
    """

    code = LENNARD_JONES

    def __init__(self, depth: ArrayLike, diameter: ArrayLike):
        self.depth = _positive("depth", depth, "J")
        self.diameter = _positive("diameter", diameter, "m")

    @property
    def constants(self) -> Mapping[str, Array]:
        """ε and σ."""
        return {"depth": self.depth, "diameter": self.diameter}

    def energy(self, s: Array) -> Array:
        """Return 4ε (u⁶ − u³), u = σ²/s."""
        c = (self.diameter**2 / s) ** 3
        return 4.0 * self.depth * c * (c - 1.0)

    def slope(self, s: Array) -> Array:
        """Return −(12ε/s) (2u⁶ − u³)."""
        c = (self.diameter**2 / s) ** 3
        return -12.0 * self.depth * c * (2.0 * c - 1.0) / s

    def curvature(self, s: Array) -> Array:
        """Return (12ε/s²) (14u⁶ − 4u³)."""
        c = (self.diameter**2 / s) ** 3
        return 12.0 * self.depth * c * (14.0 * c - 4.0) / s**2

    def quotient(self, s0: Array, s1: Array) -> Array:
        """Return 2·4ε (u0³ + u1³ − 1)(u0² + u0 u1 + u1²) Δu/Δs, with Δu/Δs = −σ²/(s0 s1)."""
        u0, u1 = self.diameter**2 / s0, self.diameter**2 / s1
        cubes = (u0**3 + u1**3 - 1.0) * (u0 * u0 + u0 * u1 + u1 * u1)
        return -8.0 * self.depth * cubes * self.diameter**2 / (s0 * s1)


@final
class Bars(Energy):
    """Pairs of points with a two-point law: springs, truss bars, or particles that attract and repel each other.

    Parameters
    ----------
    pairs : int [m, 2]
        The nodes of each pair; the ``line`` cells of a mesh, or `all_pairs`.
    law : PairLaw
    dim : int, default 3
        Dimension of space.

    Raises
    ------
    InvalidSystem
        If a pair joins a node with itself, or the law has constants for another number of pairs.
    StepFailed
        By `value`, `gradient` and `hessian`, if a pair is where its law has a pole.
    """

    def __init__(self, pairs: ArrayLike, law: PairLaw, dim: int = 3):
        self.nodes = np.ascontiguousarray(pairs, dtype=np.int32).reshape(-1, 2)
        self.law = law
        self.dim = dim
        same = np.flatnonzero(self.nodes[:, 0] == self.nodes[:, 1])
        if len(same):
            raise InvalidSystem(f"Bars: pair {same[0]} joins node {self.nodes[same[0], 0]} with itself.")
        for name, values in law.constants.items():
            if values.ndim and values.shape != (len(self.nodes),):
                raise InvalidSystem(f"Bars: {name} has shape {values.shape}, but there are {len(self.nodes)} pairs.")

    def value(self, x: Array) -> Array:
        """Return φ [m] in J at the positions x [m, 2, dim] in m."""
        with np.errstate(all="ignore"):
            return self._away_from_poles(self.law.energy(_squared(_difference(x))), x)

    def gradient(self, x: Array) -> Array:
        """Return ∂φ/∂x [m, 2, dim] in N: ∓2 φ'(s) d."""
        d = _difference(x)
        with np.errstate(all="ignore"):
            pull = self._away_from_poles(2.0 * self.law.slope(_squared(d))[:, None] * d, x)
        return np.stack([-pull, pull], axis=1)

    def hessian(self, x: Array) -> Array:
        """Return ∂²φ/∂x² [m, 2·dim, 2·dim] in N/m: ±(2 φ' I + 4 φ'' d ⊗ d)."""
        d = _difference(x)
        s = _squared(d)
        with np.errstate(all="ignore"):
            block = 4.0 * self.law.curvature(s)[:, None, None] * d[:, :, None] * d[:, None, :]
            block += 2.0 * self.law.slope(s)[:, None, None] * np.eye(x.shape[2])
        self._away_from_poles(block, x)
        return np.block([[block, -block], [-block, block]])

    def _away_from_poles(self, values: Array, x: Array) -> Array:
        """Return values [m, …] of the pairs at x, all of them finite."""
        bad = np.flatnonzero(~np.isfinite(values).reshape(len(values), -1).all(axis=1))
        if len(bad):
            a, b = self.nodes[bad[0]]
            length = np.sqrt(_squared(_difference(x)))[bad[0]]
            raise StepFailed(
                f"pair {bad[0]} (nodes {a} and {b}) is {length:.3g} m long, where its law has no finite energy or "
                "force. Try a smaller step, or other positions at the start."
            )
        return values

    def lattice_functions(self, axes: Array | None = None) -> LatticeFunctions:
        """Return compiled differences of one pair's energy, for force-stepping; in any axes alike."""
        from symplex.fem.lattice_bars import bar_lattice  # compiled when first needed

        return bar_lattice(self.law.code, self.dim, len(self.nodes), list(self.law.constants.values()))

    def lengths(self, q: Array) -> Array:
        """Return the lengths [m] in m at the nodal positions q [n, dim]."""
        return np.sqrt(_squared(_difference(q[self.nodes])))

    def tensions(self, q: Array) -> Array:
        """Return the forces [m] in N along the pairs, positive where they pull together: 2 φ'(s) l."""
        lengths = self.lengths(q)
        return 2.0 * self.law.slope(lengths**2) * lengths


def all_pairs(n: int) -> np.ndarray:
    """Return the n(n − 1)/2 pairs of n nodes [m, 2]."""
    return np.column_stack(np.triu_indices(n, 1)).astype(np.int32)


def _ratio(a: Array, b: Array) -> Array:
    """Return a/b, and 0 where a is 0 (a spring of no natural length has no pole)."""
    return np.divide(a, b, out=np.zeros(np.broadcast_shapes(np.shape(a), np.shape(b))), where=a != 0)


def _difference(x: Array) -> Array:
    return x[:, 1] - x[:, 0]


def _squared(d: Array) -> Array:
    return np.einsum("mi,mi->m", d, d)


def _finite(name: str, values: ArrayLike, unit: str, least: float = -np.inf) -> Array:
    array = np.asarray(values, dtype=float)
    wrong = ~(np.isfinite(array) & (array >= least))
    if np.any(wrong):
        first = np.atleast_1d(array)[np.atleast_1d(wrong)][0]
        bound = "" if least == -np.inf else f" and at least {least:g}"
        raise MaterialError(f"the {name} of a pair law must be finite{bound}; it is {first:g} {unit}.")
    return array


def _positive(name: str, values: ArrayLike, unit: str) -> Array:
    array = _finite(name, values, unit)
    if np.any(array <= 0):
        raise MaterialError(f"the {name} of a pair law must be positive; it is {np.min(array):g} {unit}.")
    return array
