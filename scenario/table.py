"""What all tables of a scenario have in common."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated

import numpy as np
from pydantic import BaseModel, ConfigDict

from symplex.base.quantities import Triple, direction, number
from symplex.fem.directions import unit_vector
from symplex.fem.energy import Array


class Table(BaseModel):
    """A table of a scenario: unknown keys are errors, and values are taken as they are written."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)

    def refuse_unused(self, *keys: str, goes_with: str) -> None:
        """Refuse keys that are given and would have no effect, as they go with something else.

        Raises
        ------
        ValueError
            If one of them is given, be it with its default.
        """
        if given := [key for key in keys if key in self.model_fields_set]:
            raise ValueError(f"{given[0]} goes with {goes_with}; leave it out")


def one_of(table: Table, keys: Sequence[str], what: str) -> str:
    """Return the one of some keys that is given."""
    given = [key for key in keys if getattr(table, key) is not None]
    if len(given) != 1:
        found = "none is given" if not given else f"given are {' and '.join(given)}"
        raise ValueError(f"needs one {what} of {', '.join(keys)}; {found}")
    return given[0]


class Rotation(Table):
    """A turn about an axis: of a mesh through its origin, of an obstacle through its centre."""

    axis: Annotated[Triple, direction()]
    degrees: Annotated[float, number("°")]

    @property
    def matrix(self) -> Array:
        """The matrix R = cos θ I + sin θ [e]× + (1 − cos θ) e ⊗ e [3, 3] (Rodrigues)."""
        e = unit_vector(np.array(self.axis))
        theta = math.radians(self.degrees)
        cross = np.array([[0.0, -e[2], e[1]], [e[2], 0.0, -e[0]], [-e[1], e[0], 0.0]])
        return math.cos(theta) * np.eye(3) + math.sin(theta) * cross + (1.0 - math.cos(theta)) * np.outer(e, e)
