"""A step in parts: what cannot be solved at once is solved in halves, and these in halves, if need be."""

from __future__ import annotations

from collections.abc import Callable

from symplex.errors import StepFailed
from symplex.time.motion import with_context

MOST_ATTEMPTS = 1000  # to solve a part of one step: the wall time of a step stays that of so many


def with_cutbacks(attempt: Callable[[float, float], None], t: float, h: float, halvings: int) -> int:
    """Take a step of the size h in s from the time t, in halves where it fails; return how many parts were halved.

    Parameters
    ----------
    attempt : function
        attempt(t, h) moves by a step, or raises `StepFailed` and leaves everything as it is.
    t, h : float
    halvings : int
        How often a part may be halved; 0: it is one step.
    """
    if halvings == 0:
        attempt(t, h)
        return 0
    done, depths, halved = 0.0, [0], 0  # parts: what is done, and how often those to come are halved
    for _ in range(MOST_ATTEMPTS):
        depth = depths.pop()
        part = 0.5**depth
        try:
            attempt(t + done * h, part * h)
        except StepFailed as error:
            if depth == halvings:
                smallest = f"a part of {part * h:.3g} s, after {halvings} halvings of the step, cannot be taken either"
                raise with_context(error, f"{smallest}: {error}") from None
            depths += [depth + 1, depth + 1]
            halved += 1
            continue
        done += part
        if not depths:
            return halved
    raise StepFailed(
        f"{MOST_ATTEMPTS} attempts at parts of the step, the last of {part * h:.3g} s, have come {100.0 * done:.3g} % "
        "of its way. Try a smaller step, or fewer halvings to fail earlier."
    )
