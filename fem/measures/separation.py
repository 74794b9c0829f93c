"""Traction over opening of bonds that break: bilinear or exponential, with what they dissipate; bars that break so.

With the greatest opening κ that a bond has had, the traction at an opening δ ≤ κ is k(κ) δ, towards the origin, and
T(κ) = k(κ) κ is the law of monotonic opening. Stored are ½ k δ² and dissipated is G(κ) = ∫ T dκ − ½ T(κ) κ, both in the
units of T times those of κ. As G' = −½ k' κ², the greatest opening makes ½ k(κ) δ² + G(κ) least.

- bilinear: T = k0 κ up to κ0 = T0/k0, then T0 (κf − κ)/(κf − κ0), and 0 beyond κf = 2 Gc/T0;
- exponential (Smith and Ferrante): T = e T0 (κ/κc) exp(−κ/κc) with κc = Gc/(e T0).
"""

from __future__ import annotations

from typing import Annotated, Literal, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symplex.base.arguments import checked
from symplex.base.quantities import positive
from symplex.errors import MaterialError
from symplex.fem.assembly.copying import Copyable
from symplex.fem.assembly.pattern import Array
from symplex.fem.measures.inelastic_bars import LengthLaw, of_some_bars

_DEFAULT = 20.0  # κf/κ0
_GONE = (
    12.0  # κ/κc at which an exponential bond has 2e-4 of its strength left: there it fails, and what it stores is lost
)


@checked
@final
class TractionSeparation(Copyable):
    """How the traction of a bond falls as it opens, and what breaking it dissipates.

    Units are those of use: of faces Pa, J/m² and Pa/m, of single bonds N, J and N/m.

    Parameters
    ----------
    strength : float
        T0, the largest traction.
    fracture_energy : float
        Gc, what opening it until it has failed dissipates.
    stiffness : float, optional
        k0 of a bond that is intact, of a bilinear law; default: 10 T0²/Gc, at which damage begins at a twentieth of the
        opening at failure.
    shape : {"bilinear", "exponential"}, default "bilinear"

    Raises
    ------
    MaterialError
        If damage would begin beyond failure, or an exponential law, whose stiffness is e T0/κc, is given another one.

    Attributes
    ----------
    stiffness : float
        k0.
    onset, failure : float
        κ0 at which damage begins (0 of an exponential law), and κf at which nothing is left.
    """

    def __init__(
        self,
        strength: Annotated[float, positive("")],
        fracture_energy: Annotated[float, positive("")],
        stiffness: Annotated[float | None, positive("")] = None,
        shape: Literal["bilinear", "exponential"] = "bilinear",
    ):
        self.strength, self.fracture_energy, self.shape = float(strength), float(fracture_energy), shape
        if shape == "exponential":
            if stiffness is not None:
                raise MaterialError(
                    "TractionSeparation: stiffness is of a bilinear law; that of an exponential one is "
                    f"e² T0²/Gc = {np.e**2 * strength**2 / fracture_energy:.4g}. Leave it out."
                )
            self._scale = fracture_energy / (np.e * strength)
            self.stiffness = float(np.e * strength / self._scale)
            self.onset, self.failure = 0.0, _GONE * self._scale
            # What is under the rest of the curve is shared by all of it, so that the whole is Gc.
            left = (1.0 + _GONE) * np.exp(-_GONE)
            self._whole = fracture_energy / (1.0 - left)
            return
        self.failure = 2.0 * self.fracture_energy / self.strength
        self.stiffness = _DEFAULT * self.strength / self.failure if stiffness is None else float(stiffness)
        self.onset = self.strength / self.stiffness
        if self.onset >= self.failure:
            least = self.strength / self.failure
            raise MaterialError(
                f"TractionSeparation: the stiffness must be above T0²/(2 Gc) = {least:.4g}, at which nothing is left "
                f"for softening, got {self.stiffness:.4g}."
            )

    def __repr__(self) -> str:
        stiffness = "" if self.shape == "exponential" else f", stiffness={self.stiffness:g}"
        return f"TractionSeparation({self.strength:g}, {self.fracture_energy:g}{stiffness}, shape={self.shape!r})"

    def opened(self, opening: Array, greatest: Array) -> Array:
        """Return the greatest opening at the end of an increment to an opening δ; at most that of failure."""
        damaging = opening > np.maximum(greatest, self.onset)
        return np.where(damaging, np.minimum(opening, self.failure), greatest)

    def secant(self, greatest: Array) -> Array:
        """Return k(κ), the traction over the opening; 0 of what has failed."""
        return self._secant(greatest)[0]

    def secant_slope(self, greatest: Array) -> Array:
        """Return dk/dκ."""
        return self._secant(greatest)[1]

    def _secant(self, greatest: Array) -> tuple[Array, Array]:
        held = greatest < self.failure
        if self.shape == "exponential":
            k = self._factor * np.exp(-greatest / self._scale)
            return np.where(held, k, 0.0), np.where(held, -k / self._scale, 0.0)
        x, soft = np.maximum(greatest, self.onset), self.strength / (self.failure - self.onset)
        k = np.where(held, soft * (self.failure / x - 1.0), 0.0)
        return k, np.where(held & (greatest > self.onset), -soft * self.failure / x**2, 0.0)

    @property
    def _factor(self) -> float:
        return self.stiffness * self._whole / self.fracture_energy

    def dissipated(self, greatest: Array) -> Array:
        """Return G(κ), what damage has dissipated; Gc of what has failed."""
        if self.shape == "exponential":
            x = greatest / self._scale
            lost = self._whole * -np.expm1(np.log1p(x + 0.5 * x**2) - x)
            return np.where(greatest < self.failure, lost, self.fracture_energy)
        part = (np.maximum(greatest, self.onset) - self.onset) / (self.failure - self.onset)
        return self.fracture_energy * np.minimum(part, 1.0)

    def damage(self, greatest: Array) -> Array:
        """Return the damage G(κ)/Gc: 0 intact, 1 failed."""
        return self.dissipated(greatest) / self.fracture_energy


@checked
@final
class BreakingBar(LengthLaw):
    """The law of bars and springs that break, for `InelasticBars`: elastic until they are pulled too hard.

    Their opening is l − L. Pushed together they are elastic with the stiffness of an intact bond, unless they have
    failed: then nothing is left.

    Parameters
    ----------
    law : TractionSeparation
        In N, J and N/m.
    length : float or float64 [m]
        The natural lengths L in m.

    Raises
    ------
    MaterialError
        If a length is not finite, or negative.
    """

    numbers = 1

    def __init__(self, law: TractionSeparation, length: ArrayLike):
        self.law, self.length = law, np.asarray(length, float)
        if not (self.length.ndim < 2 and ((self.length > 0.0) & (self.length < np.inf)).all()):
            raise MaterialError(f"BreakingBar: the natural length must be positive, got {self.length.min():g} m.")

    def of_some(self, chosen: NDArray[np.integer]) -> BreakingBar:
        """Return the law of chosen bars alone."""
        return BreakingBar(self.law, of_some_bars(self.length, chosen))

    def energy(self, length: Array, z: Array) -> Array:
        """Return ψ [m] in J."""
        return 0.5 * self._secant(length, z) * (length - self.length) ** 2

    def tension(self, length: Array, z: Array) -> Array:
        """Return the force [m] in N."""
        return self._secant(length, z) * (length - self.length)

    def updated(self, length: Array, z: Array) -> Array:
        """Return the greatest opening [m, 1] at the end of an increment."""
        return self.law.opened(length - self.length, z[:, 0])[:, None]

    def stiffness(self, length: Array, z: Array) -> Array:
        """Return dN/dl [m] in N/m."""
        opening, before = length - self.length, z[:, 0]
        after = self.law.opened(opening, before)
        softening = np.where(after > before, self.law.secant_slope(after) * opening, 0.0)
        return self._secant(length, after[:, None]) + softening

    def dissipation(self, z0: Array, z1: Array) -> Array:
        """Return what damage has dissipated from z0 to z1 [m] in J."""
        return self.law.dissipated(z1[:, 0]) - self.law.dissipated(z0[:, 0])

    def fields(self, length: Array, z: Array) -> dict[str, Array]:
        """Return the damage [m], 0 intact and 1 broken, and the ``opening`` l − L in m."""
        return {"damage": self.law.damage(z[:, 0]), "opening": length - self.length}

    def _secant(self, length: Array, z: Array) -> Array:
        greatest, law = z[:, 0], self.law
        pushed = (length < self.length) & (greatest < law.failure)
        return np.where(pushed, law.stiffness, law.secant(greatest))
