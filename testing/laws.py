"""What laws promise: of materials, of two points, of contact with obstacles."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.contact.gap_law import ContactLaw
from symplex.errors import CheckFailed, MaterialError
from symplex.fem.assembly.pattern import Array
from symplex.fem.measures.pair_laws import PairLaw
from symplex.fem.solids.constitutive import Material
from symplex.testing import round_off
from symplex.testing.found import require, require_close, require_slope

_STEP = 1e-5  # of differences, in parts of the range of what a law is a function of
_INCREMENTS = (0.5, 1e-2, 1e-5, 1e-8, 1e-12, 0.0)


@checked
def check_material(material: Material) -> None:
    """Check a material: its stress and elasticities by differences, and the work of its discrete stress.

    At some strains of up to 15 per cent; of a formula all is derived, so that nothing can be wrong.

    Parameters
    ----------
    material : Material

    Raises
    ------
    CheckFailed
        If a function is not the derivative of another one, or not symmetric.
    """
    try:
        material.verify()
    except MaterialError as error:
        raise CheckFailed(str(error)) from None
    rng, eye = np.random.default_rng(0), np.eye(3)
    F0 = eye + 0.05 * rng.uniform(-1.0, 1.0, (8, 3, 3))
    for amount in _INCREMENTS:
        F1 = F0 + 0.1 * amount * rng.uniform(-1.0, 1.0, (8, 3, 3))
        C0, C1 = (np.einsum("pki,pkj->pij", F, F) for F in (F0, F1))
        work = 0.5 * np.einsum("pij,pij->p", material.discrete_stress(C0, C1), C1 - C0)
        W0, W1 = material.energy_density(C0), material.energy_density(C1)
        known_to = 1e-6 * np.abs(W1 - W0) + round_off.of(np.abs(material.tangent(C0)).max(), 10)
        what = f"the work of discrete_stress must be the difference of energy_density (increment {amount:g})"
        require_close(type(material).__name__, what, work, W1 - W0, known_to, "J/m³")


@checked
def check_law(law: PairLaw | ContactLaw, at: ArrayLike) -> None:
    """Check a law of two points, or of contact: its slopes by differences, and its quotients.

    Parameters
    ----------
    law : PairLaw or ContactLaw
    at : float64 [k]
        What it is a function of: squared distances in m², or gaps in m; across the range that it is used in, and not
        where it has a kink.

    Raises
    ------
    CheckFailed
        If a function is not the derivative of another one, or a quotient not that of energies.
    """
    with np.errstate(all="ignore"):  # what is not finite fails the checks
        _check_law(law, at)


def _check_law(law: PairLaw | ContactLaw, at: ArrayLike) -> None:
    place, s = type(law).__name__, np.atleast_1d(np.asarray(at, dtype=float))
    step = _STEP * float(np.abs(s).max(initial=0.0) or 1.0)
    energy, slope, curvature = (np.asarray(f(s), dtype=float) for f in (law.energy, law.slope, law.curvature))
    known_to = round_off.of(np.abs(energy).max(), 10) / step
    _require_derivative(place, "slope must be the derivative of energy", slope, law.energy, s, step, known_to)
    known_to = round_off.of(np.abs(slope).max(), 10) / step
    _require_derivative(place, "curvature must be the derivative of slope", curvature, law.slope, s, step, known_to)
    require(place, bool(np.any(energy) or np.any(slope)), "nothing can be checked where it is zero; give other places.")
    scale = law.quotient(s, s) / np.where(slope == 0.0, 1.0, slope)
    factor = float(np.median(scale[slope != 0.0])) if np.any(slope) else 1.0  # 2 for squared distances, else 1
    for amount in _INCREMENTS:
        s1 = s * (1.0 + 0.1 * amount)
        quotient, change = law.quotient(s, s1), law.energy(s1) - energy
        known = (
            np.abs(energy) + np.abs(slope * s) + np.abs(np.asarray(law.slope(s1)) * s1)
        )  # at both ends: one may rest
        bound = 1e-7 * np.abs(change) + round_off.of(known, 10)
        what = f"quotient times the increment must be the difference of energy (increment {amount:g})"
        require_close(place, what, quotient * (s1 - s) / factor, change, bound, "J")
        rate = np.asarray(law.quotient_slope(s, s1), dtype=float)
        known_to = round_off.of(np.abs(quotient).max() + np.abs(energy).max() / step, 10) / step
        what = f"quotient_slope must be the derivative of quotient by its second argument (increment {amount:g})"
        _require_derivative(place, what, rate, lambda other: law.quotient(s, other), s1, step, known_to)


def _require_derivative(
    place: str, what: str, given: Array, function: Callable[[Array], Array], s: Array, step: float, known_to: float
) -> None:
    size = np.abs(given).max(initial=0.0)
    columns = s[:, None, None]
    require_slope(place, what, given[:, None], lambda x: function(x[:, 0, 0]), columns, step, 1e-5 * size + known_to)
