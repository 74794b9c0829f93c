"""Records of the acceleration of the ground: correction of their baseline, so that the ground comes to rest."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.errors import InvalidSystem
from symplex.fem.actions.histories import checked_table
from symplex.fem.assembly.pattern import Array

Baseline = Literal["none", "rest", "polynomial"]
_DEGREE = 3  # of the polynomial of velocities


@checked
def corrected_baseline(times: ArrayLike, accelerations: ArrayLike, how: Baseline = "rest") -> Array:
    """Return a record of accelerations without the errors that make the ground drift.

    Parameters
    ----------
    times : float64 [k]
        In s, ascending, at least three.
    accelerations : float64 [k]
        Linear between them.
    how : {"rest", "polynomial", "none"}, default "rest"
        ``"rest"`` subtracts the line c₀ + c₁ t with which velocity and displacement vanish at the end, exactly.
        ``"polynomial"`` subtracts the derivative of the cubic v = p₁ t + p₂ t² + p₃ t³ that is nearest to the
        velocities (least squares), as records of strong motions are usually corrected.

    Raises
    ------
    InvalidSystem
        If times do not ascend, numbers differ, or there are fewer than three.
    """
    t, a = checked_table(
        "corrected_baseline", np.asarray(times, float), np.asarray(accelerations, float), "accelerations"
    )
    if how == "none":
        return a.copy()
    if len(t) < 3:
        raise InvalidSystem(f"corrected_baseline: a record has three times at least, got {len(t)}.")
    s, T = t - t[0], float(t[-1] - t[0])
    h = np.diff(s)
    if how == "polynomial":
        v = np.concatenate([[0.0], np.cumsum(0.5 * h * (a[1:] + a[:-1]))])
        x = s / T
        powers = np.arange(1, _DEGREE + 1)
        p = np.linalg.lstsq(x[:, None] ** powers, v, rcond=None)[0]
        return a - (x[:, None] ** (powers - 1)) @ (powers * p) / T
    # The line is integrated as the record is: v(T) and u(T) of both are exact.
    v, u = _ends(h, a)
    of_one, of_s = _ends(h, np.ones(len(s))), _ends(h, s)
    c = np.linalg.solve(np.array([of_one, of_s]).T, [v, u])
    return a - (c[0] + c[1] * s)


def _ends(h: Array, a: Array) -> tuple[float, float]:
    """Return velocity and displacement at the end of accelerations that are linear over steps h from rest."""
    steps = 0.5 * h * (a[1:] + a[:-1])
    v = np.concatenate([[0.0], np.cumsum(steps)])
    return float(v[-1]), float(np.sum(h * v[:-1] + h**2 * (2.0 * a[:-1] + a[1:]) / 6.0))
