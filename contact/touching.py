"""Which bodies may touch each other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from symplex.contact.surfaces import Surface
from symplex.errors import InvalidSystem


def touching_bodies(
    who: str, surface: Surface, between: str | Sequence[tuple[str, str]], self_contact: bool
) -> NDArray[np.bool_]:
    """Return which bodies may touch [bodies, bodies], symmetric; see `symplex.contact.bodies.BodyContact`.

    For a contact that is named in messages.

    Raises
    ------
    InvalidSystem
        If a body does not exist, none may touch, or one that may touch itself has no volume.
    """
    count = len(surface.names)
    touches = np.zeros((count, count), bool)
    if isinstance(between, str):
        if between != "all":
            raise InvalidSystem(f"{who}: between is 'all' or pairs of names of bodies, not '{between}'.")
        touches[:] = ~np.eye(count, dtype=bool)
    else:
        for pair in between:
            if isinstance(pair, str) or len(pair) != 2:
                raise InvalidSystem(f"{who}: between has pairs of names of bodies, not {pair!r}.")
            i, j = (surface.body(name) for name in pair)
            touches[i, j] = touches[j, i] = True
    if self_contact:
        alone = np.ones(count, bool) if count == 1 else touches.any(axis=1)
        touches |= np.diag(alone)
    if not touches.any():
        raise InvalidSystem(
            f"{who}: no bodies may touch. Name pairs of them, or let a single body be in contact with itself "
            "(self_contact=True)."
        )
    for body in np.flatnonzero(np.diag(touches)).tolist():
        surface.require_volume(body)
    return touches
