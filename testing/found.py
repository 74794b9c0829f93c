"""How what is wrong is reported: two arrays that should agree, and where they differ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from symplex.errors import CheckFailed
from symplex.fem.assembly.pattern import Array

_AXES = "xyz"
_DIFFERENCES = 10.0  # how far off differences may be, by how much they change where their step is halved


@dataclass(frozen=True)
class Check:
    """One promise, and which subjects give it.

    Attributes
    ----------
    run : callable
        Takes the subject and raises `CheckFailed` if it breaks the promise.
    form : str
        The optional form of energies that it is about, if any.
    motions : {"", "translations", "rigid", "declared"}
        What the energy must not feel for it to apply.
    general : bool
        Whether constraints give it as well as energies.
    """

    run: Callable[[Any], None]
    form: str = ""
    motions: str = ""
    general: bool = False

    @property
    def name(self) -> str:
        """How tests and messages call it."""
        return self.run.__name__

    def __call__(self, subject: Any) -> None:
        """Raise an error unless a subject keeps the promise."""
        self.run(subject)


def require_close(
    place: str, what: str, found: ArrayLike, expected: ArrayLike, bound: ArrayLike, unit: str = "", advice: str = ""
) -> None:
    """Check that numbers are what they should be.

    Parameters
    ----------
    place : str
        Whose they are.
    what : str
        Beginning of the sentence, such as "gradient must be the slope of value".
    found, expected, bound : array_like
        The absolute bound of their difference may be an array as well.
    unit, advice : str, optional

    Raises
    ------
    CheckFailed
        If they differ by more, or are not finite.
    """
    found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    if found.shape != expected.shape:
        raise CheckFailed(f"{place}: {what}, but its shape is {found.shape} where {expected.shape} is expected.")
    error = np.abs(found - expected)
    excess = np.where(np.isfinite(error), error - bound, np.inf)
    if not (excess > 0.0).any():
        return
    at = np.unravel_index(int(np.argmax(excess)), excess.shape) if excess.ndim else ()
    allowed = np.broadcast_to(np.asarray(bound, dtype=float), error.shape)[at]
    unit = unit and f" {unit}"
    raise CheckFailed(
        f"{place}: {what}, got {found[at]:.6g}{unit}{_where(at)} instead of {expected[at]:.6g}{unit} "
        f"(they may differ by {allowed:.1e}{unit}).{advice and f' {advice}'}"
    )


def require(place: str, holds: bool, sentence: str) -> None:
    """Check that a sentence about a place holds.

    Raises
    ------
    CheckFailed
        If it does not.
    """
    if not holds:
        raise CheckFailed(f"{place}: {sentence}")


def require_slope(
    place: str, what: str, given: Array, function: Callable[[Array], Array], x: Array, step: float, bound: float
) -> None:
    """Check that given derivatives [m, …, k·dim] of a function of positions x [m, k, dim] are those of differences.

    Where a difference steps across a kink, it changes as its step is halved; it is known as well as that only.

    Raises
    ------
    CheckFailed
        If they differ by more than a bound and by more than the differences err by.
    """
    found = np.empty_like(given)
    for halved in (False, True):
        before = found.copy()
        s = 0.5 * step if halved else step
        for j in range(given.shape[-1]):
            a, i = divmod(j, x.shape[2])
            ahead, behind = x.copy(), x.copy()
            ahead[:, a, i] += s
            behind[:, a, i] -= s
            found[..., j] = ((function(ahead) - function(behind)) / (2.0 * s)).reshape(found[..., j].shape)
        known_to = _DIFFERENCES * np.abs(found - before) if halved else 0.0
        if (np.abs(given - found) <= bound + known_to).all():
            return
    advice = "Correct it, or what it is the derivative of, by differences."
    require_close(place, what, given, found, bound + known_to, advice=advice)


def _where(at: tuple[np.intp, ...]) -> str:
    """Return the place of an entry in words: of a vector at a node, or of a matrix."""
    if not at:
        return ""
    if len(at) == 1:
        return f" at {at[0]}"
    return f" at stencil {at[0]}, entry {', '.join(str(int(i)) for i in at[1:])}"
