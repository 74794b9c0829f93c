"""Laws of two points: a function φ(s) of the squared distance s, its slopes, and its quotients along an increment.

The force is 2 φ'(s) d, d = x_1 − x_0; along an increment of s a law has the quotient ξ = Δφ/(½ Δs), in closed forms
without cancellation (see `symplex.fem.measures.law_formulas`). `symplex.fem.measures.bars` makes energies of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.errors import InvalidSystem, MaterialError
from symplex.fem.assembly.copying import Copyable
from symplex.fem.assembly.pattern import Array
from symplex.fem.measures import law_formulas
from symplex.fem.measures.law_formulas import (
    COMPRESSION,
    ENGINEERING,
    GREEN,
    INVERSE,
    INVERSE_SQUARE,
    LENNARD_JONES,
    TENSION,
)


class PairLaw(Copyable, ABC):
    """An energy φ(s) in J of two points at the squared distance s in m².

    A custom law needs the five functions below.
    """

    @property
    def constants(self) -> Mapping[str, Array]:
        """Numbers [] of all pairs, or [m] for each one, by name; a custom law may have none."""
        return {}

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

    @abstractmethod
    def quotient_slope(self, s0: Array, s1: Array) -> Array:
        """Return ∂ξ/∂s1 in N/m³, also where s1 = s0: then it is d²φ/ds²."""

    def third_slope(self, s: Array) -> Array:
        """Return d³φ/ds³ in N/m⁵: optional, for methods that need third derivatives.

        Raises
        ------
        InvalidSystem
            If the law has none.
        """
        raise InvalidSystem(
            f"the pair law {type(self).__name__} has no third derivative. Give it third_slope, or take a method that "
            "needs the gradient and Hessian only."
        )

    @final
    def mean_slope(self, s0: Array, s1: Array) -> Array:
        """Return 2 dφ/ds in N/m at the mean length ½(l0 + l1)."""
        return 2.0 * self.slope(0.25 * (np.sqrt(s0) + np.sqrt(s1)) ** 2)


class CompiledLaw(PairLaw):
    """A law whose formulas are compiled as well; its constants are numbers, or one for each pair.

    Attributes
    ----------
    code : int
        Which law it is in `symplex.fem.measures.law_formulas`.
    names : tuple of str
        The attributes that hold its one or two constants, in the order of the formulas.
    """

    code: ClassVar[int]
    names: ClassVar[tuple[str, ...]]

    @property
    def constants(self) -> Mapping[str, Array]:
        """The constants by name, in the order of the formulas."""
        return {name: getattr(self, name) for name in self.names}

    @final
    def energy(self, s: Array) -> Array:
        """Return φ(s) in J."""
        return law_formulas.energy.py_func(*self.arguments(), s)

    @final
    def slope(self, s: Array) -> Array:
        """Return dφ/ds in N/m."""
        return law_formulas.slope.py_func(*self.arguments(), s)

    @final
    def curvature(self, s: Array) -> Array:
        """Return d²φ/ds² in N/m³."""
        return law_formulas.curvature.py_func(*self.arguments(), s)

    @final
    def quotient(self, s0: Array, s1: Array) -> Array:
        """Return ξ = (φ(s1) − φ(s0))/(½(s1 − s0)) in N/m, also where s1 = s0: then it is 2 dφ/ds."""
        return law_formulas.quotient.py_func(*self.arguments(), s0, s1)

    @final
    def quotient_slope(self, s0: Array, s1: Array) -> Array:
        """Return ∂ξ/∂s1 in N/m³, also where s1 = s0: then it is d²φ/ds²."""
        return law_formulas.quotient_slope.py_func(*self.arguments(), s0, s1)

    @final
    def third_slope(self, s: Array) -> Array:
        """Return d³φ/ds³ in N/m⁵."""
        return law_formulas.third_slope.py_func(*self.arguments(), s)

    def arguments(self) -> tuple[int, Array, Array]:
        """Return the code and the constants of the law, as the formulas take them."""
        a, b = (*self.constants.values(), np.zeros(()))[:2]
        return self.code, a, b


class _Spring(CompiledLaw):
    """A linear spring that acts on both sides of its natural length, or on one."""

    names = ("stiffness", "length")

    def __init__(self, stiffness: ArrayLike, length: ArrayLike):
        self.stiffness = _positive("stiffness", stiffness, "N/m")
        self.length = _finite("natural length", length, "m", least=0.0)


@checked
@final
class EngineeringStrain(_Spring):
    """A linear spring, φ = ½ k (l − L)².

    Parameters
    ----------
    stiffness : float or float64 [m]
        k in N/m: EA/L for a bar.
    length : float or float64 [m]
        The natural length L in m; 0 for a spring through the point.
    """

    code = ENGINEERING


@checked
@final
class CompressionOnly(_Spring):
    """A spring that only pushes, φ = ½ k ⟨L − l⟩²: a strut, or two balls that touch at the distance L.

    Parameters
    ----------
    stiffness : float or float64 [m]
        k in N/m.
    length : float or float64 [m]
        The length L in m at which it becomes slack.
    """

    code = COMPRESSION


@checked
@final
class TensionOnly(_Spring):
    """A spring that only pulls, φ = ½ k ⟨l − L⟩²: a rope or cable.

    Parameters
    ----------
    stiffness : float or float64 [m]
        k in N/m: EA/L for a cable.
    length : float or float64 [m]
        The length L in m at which it becomes slack.
    """

    code = TENSION


@checked
@final
class GreenStrain(CompiledLaw):
    """A bar of Green's strain, φ = ½ k ((s − L²)/2L)².

    Parameters
    ----------
    stiffness : float or float64 [m]
        k in N/m: EA/L for a bar.
    length : float or float64 [m]
        The natural length L in m.
    """

    code = GREEN
    names = ("stiffness", "length")

    def __init__(self, stiffness: ArrayLike, length: ArrayLike):
        self.stiffness = _positive("stiffness", stiffness, "N/m")
        self.length = _positive("natural length", length, "m")


@checked
@final
class InverseDistance(CompiledLaw):
    """Gravitation or Coulomb's law, φ = −γ/l.

    Parameters
    ----------
    strength : float or float64 [m]
        γ in J m: G m_0 m_1 for masses, −k q_0 q_1 for charges.
    """

    code = INVERSE
    names = ("strength",)

    def __init__(self, strength: ArrayLike):
        self.strength = _finite("strength", strength, "J m")


@checked
@final
class InverseSquare(CompiledLaw):
    """φ = c/s: with c = Θ²/2μ, the centrifugal energy of a reduced mass μ with the angular momentum Θ.

    Parameters
    ----------
    strength : float or float64 [m]
        c in J m²; positive where it repels.
    """

    code = INVERSE_SQUARE
    names = ("strength",)

    def __init__(self, strength: ArrayLike):
        self.strength = _finite("strength", strength, "J m²")


@checked
@final
class LennardJones(CompiledLaw):
    """φ = 4ε [(σ/l)¹² − (σ/l)⁶].

    Parameters
    ----------
    depth : float or float64 [m]
        ε in J.
    diameter : float or float64 [m]
        σ in m, where φ is zero.
    """

    code = LENNARD_JONES
    names = ("depth", "diameter")

    def __init__(self, depth: ArrayLike, diameter: ArrayLike):
        self.depth = _positive("depth", depth, "J")
        self.diameter = _positive("diameter", diameter, "m")


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
