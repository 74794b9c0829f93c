"""Isotropic hardening: the yield stress of a metal as a function of its equivalent plastic strain."""

from __future__ import annotations

from math import inf
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.errors import MaterialError
from symplex.fem.assembly.copying import Copyable
from symplex.fem.assembly.pattern import Array
from symplex.fem.solids.plastic_points import plastic_work, yield_stress


@checked
@final
class Hardening(Copyable):
    """The yield stress σy(α) by a line and a saturation (Voce), or by a table (`Hardening.table`).

    σy(α) = σ0 + H α + (σ∞ − σ0) (1 − exp(−δ α))

    with the equivalent plastic strain α = ∫ √(2/3) |dᵖ| dt.

    Parameters
    ----------
    yield_stress : float
        σ0 in Pa, of the material that has not flowed.
    modulus : float, default 0
        H in Pa, the slope of the yield stress over the plastic strain (not over the total strain).
    saturation_stress : float, optional
        σ∞ in Pa, at least σ0; by default σ0.
    saturation_rate : float, default 0
        δ, required with a saturation stress.

    Raises
    ------
    MaterialError
        If a number is not finite, the yield stress is not positive, or it would decrease: softening concentrates in
        single elements, so that results depend on the mesh.
    """

    def __init__(
        self,
        yield_stress: float,
        modulus: float = 0.0,
        saturation_stress: float | None = None,
        saturation_rate: float = 0.0,
    ):
        final_stress = yield_stress if saturation_stress is None else saturation_stress
        _require(0.0 < yield_stress < inf, f"the yield stress must be positive, got {yield_stress:g} Pa.")
        _require(
            0.0 <= modulus < inf,
            f"the hardening modulus must not be negative, got {modulus:g} Pa: softening depends on the mesh.",
        )
        _require(
            yield_stress <= final_stress < inf,
            f"the saturation stress must be at least the yield stress {yield_stress:g} Pa, got {final_stress:g} Pa.",
        )
        _require(
            0.0 <= saturation_rate < inf and (saturation_stress is None) == (saturation_rate == 0.0),
            f"a saturation stress and a positive saturation rate belong together, got {saturation_stress} Pa and "
            f"{saturation_rate:g}.",
        )
        self.constants = np.array([yield_stress, modulus, final_stress - yield_stress, saturation_rate])
        self.points = np.zeros((2, 0))

    @classmethod
    @checked
    def table(cls, strains: ArrayLike, stresses: ArrayLike) -> Hardening:
        """Return the hardening that is linear between points (α, σy), and constant beyond the last one.

        Parameters
        ----------
        strains : float64 [p]
            Equivalent plastic strains, from 0 on, each larger than the one before.
        stresses : float64 [p]
            Yield stresses in Pa, none lower than the one before.

        Raises
        ------
        MaterialError
            If they are not such.
        """
        points = np.atleast_2d(np.array([np.atleast_1d(strains), np.atleast_1d(stresses)], float))
        _require(
            points.ndim == 2 and points.shape[1] > 0 and bool(np.isfinite(points).all()),
            "a table must have as many finite plastic strains as yield stresses, and one at least.",
        )
        a, sigma = points
        _require(
            a[0] == 0.0 and bool((np.diff(a) > 0.0).all()),
            f"plastic strains of a table must begin with 0 and increase, got {a.tolist()}.",
        )
        _require(
            sigma[0] > 0.0 and bool((np.diff(sigma) >= 0.0).all()),
            f"yield stresses of a table must be positive and must not decrease, got {sigma.tolist()} Pa: softening "
            "depends on the mesh.",
        )
        found = cls(float(sigma[0]))
        found.points = points
        return found

    def yield_stress(self, strain: ArrayLike) -> Array:
        """Return σy in Pa at equivalent plastic strains α of any shape."""
        alpha = np.asarray(strain, float)
        return np.array([yield_stress(a, self.constants, self.points)[0] for a in alpha.ravel()]).reshape(alpha.shape)

    def plastic_work(self, strain: ArrayLike) -> Array:
        """Return ∫ σy dα in J/m³ from 0 to equivalent plastic strains α of any shape."""
        alpha = np.asarray(strain, float)
        return np.array([plastic_work(a, self.constants, self.points) for a in alpha.ravel()]).reshape(alpha.shape)

    def __repr__(self) -> str:
        if self.points.size:
            return f"Hardening.table({self.points[0].tolist()}, {self.points[1].tolist()})"
        sigma, modulus, more, rate = self.constants.tolist()
        voce = f", saturation_stress={sigma + more:g}, saturation_rate={rate:g}" if rate else ""
        return f"Hardening({sigma:g}, modulus={modulus:g}{voce})"


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise MaterialError(f"Hardening: {message}")
