"""Maxwell elements: strains relax towards internal ones, A_i, in an increment as if they were constant in it."""

from __future__ import annotations

from math import tanh
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from symplex.errors import InvalidSystem
from symplex.fem.assembly.pattern import Array


@final
class MaxwellElements:
    """Elements of a generalised Maxwell model: moduli M_i, relaxation times τ_i in s, and dA_i/dt = (d − A_i)/τ_i.

    In an increment of the time h with the mean d_m of d at its ends A_i1 = e A_i0 + (1 − e) d_m, e = exp(−h/τ_i) =
    (1 − r)/(1 + r), r = tanh(h/2τ_i).

    Parameters
    ----------
    who : str
        Whose they are, for messages.
    moduli, times : float64 [i]
    unit : str
        Of moduli, with a space before.
    """

    def __init__(self, who: str, moduli: ArrayLike, times: ArrayLike, unit: str):
        self.moduli, self.times = np.atleast_1d(np.array(moduli, float)), np.atleast_1d(np.array(times, float))
        if self.moduli.ndim != 1 or self.moduli.shape != self.times.shape or not len(self.times):
            raise InvalidSystem(
                f"{who}: there are {self.moduli.size} moduli and {self.times.size} times; each Maxwell element has one "
                "of both."
            )
        for name, values, of in (("moduli", self.moduli, unit), ("times", self.times, " s")):
            if not np.all((values > 0.0) & (values < np.inf)):
                raise InvalidSystem(f"{who}: {name} must be positive; they are {values.tolist()}{of}.")

    @staticmethod
    def of_prony(who: str, ratios: ArrayLike) -> Array:
        """Return the moduli [i] over that of the long run for parts g_i of the instantaneous one."""
        g = np.atleast_1d(np.array(ratios, float))
        if not (np.all(g > 0.0) and g.sum() < 1.0):
            raise InvalidSystem(
                f"{who}: ratios must be positive, and their sum below 1; they are {g.tolist()}, together {g.sum():g}."
            )
        return g / (1.0 - g.sum())

    def ratios(self, h: float) -> Array:
        """Return r [i]."""
        return np.array([tanh(0.5 * h / time) for time in self.times])

    def modulus(self, h: float) -> float:
        """Return Σ M_i/(1 + r): what `at_end` grows by with d1, and `over` with the mean of d."""
        return float(np.sum(self.moduli / (1.0 + self.ratios(h))))

    def at_end(self, d0: Array, z0: Array, d1: Array, h: float) -> Array:
        """Return Σ M_i (d_1 − A_i1): A_1 = A_0 + (1 − e)(d_m − A_0), 1 − e = 2r/(1 + r)."""
        S = np.zeros_like(d1)
        for modulus, r, A in zip(self.moduli, self.ratios(h), z0, strict=True):
            S += modulus * (d1 - A - 2.0 * r / (1.0 + r) * (0.5 * (d0 + d1) - A))
        return S

    def over(self, d0: Array, z0: Array, d1: Array, h: float) -> Array:
        """Return Σ M_i (d_m − ½ (A_i0 + A_i1)) of an increment: d_m − ½ (A_0 + A_1) = (d_m − A_0)/(1 + r)."""
        S, mean = np.zeros_like(d0), 0.5 * (d0 + d1)
        for modulus, r, A in zip(self.moduli, self.ratios(h), z0, strict=True):
            S += modulus / (1.0 + r) * (mean - A)
        return S

    def after(self, d0: Array, z0: Array, d1: Array, h: float) -> tuple[Array, Array, Array]:
        """Return A_1 [i, …], d_m − A_0 [i, …], and M_i (1 − e²) [i], by which half of its square is dissipated."""
        r = self.ratios(h)
        change = 0.5 * (d0 + d1) - z0
        e = (1.0 - r) / (1.0 + r)
        return z0 + change * (1.0 - e.reshape(-1, *(1,) * d0.ndim)), change, self.moduli * (1.0 - e**2)
