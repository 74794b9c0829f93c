"""Kinds of values in a scenario file, and what all its tables have in common."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from reprlib import Repr
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, model_validator
from pydantic_core import CoreSchema
from pydantic_core.core_schema import no_info_before_validator_function

from symplex.base.streams import printable
from symplex.fem.directions import unit_vector
from symplex.fem.energy import Array

# Sizes of numbers that no scenario needs to leave: their powers and products neither overflow nor vanish, and results
# can be written in single precision.
LEAST, MOST = 1e-30, 1e30
_LONGEST_NAME, _LONGEST_TEXT, _LONGEST_PATH = 60, 250, 4000
_LONGEST_PART = 255  # bytes that file systems allow
_LISTED = 20  # names that a message enumerates
_REPR = Repr()
_REPR.maxlevel, _REPR.maxlist, _REPR.maxtuple, _REPR.maxdict = 2, 6, 6, 4
_REPR.maxstring = _REPR.maxother = 50
_LONG = 1 << 100  # whole numbers that are not written out

# -- values in messages -------------------------------------------------------------------------------------------


def shown(value: Any) -> str:
    """Return a value as messages quote it: as Python writes it, but never long, and without control characters."""
    if isinstance(value, int) and abs(value) >= _LONG:
        return f"a number of {round(value.bit_length() * math.log10(2))} digits"
    return printable(_REPR.repr(value), breaks=False)


def listed(names: Iterable[str]) -> str:
    """Return names as messages enumerate them, the first of many."""
    every = list(names)
    more = f", … ({len(every)} in all)" if len(every) > _LISTED else ""
    return (", ".join(every[:_LISTED]) or "none") + more


# -- kinds of values ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Quantity:
    """What a value must be, and its unit, which is only told.

    Attributes
    ----------
    check : callable
        Returns the value as it is to be kept, or raises ValueError with what is wrong, after the name of the key.
    unit : str
    """

    check: Callable[[Any], Any]
    unit: str = ""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Check before pydantic does."""
        return no_info_before_validator_function(self.check, handler(source))


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"is {shown(value)}, must be a number")
    try:
        x = float(value)
    except OverflowError:
        raise ValueError("is too large for a number") from None
    if not math.isfinite(x):
        raise ValueError(f"is {x}, must be finite")
    if x and not LEAST <= abs(x) <= MOST:
        raise ValueError(f"is {x:g}, must be 0, or from {LEAST:g} to {MOST:g} in size")
    return x


def number(unit: str) -> Quantity:
    """Any finite number."""
    return Quantity(_number, unit)


def positive(unit: str) -> Quantity:
    """A number above zero."""

    def check(value: Any) -> float:
        x = _number(value)
        if x <= 0:
            raise ValueError(f"is {x:g}, must be positive ({unit})")
        return x

    return Quantity(check, unit)


def not_negative(unit: str) -> Quantity:
    """A number of at least zero."""

    def check(value: Any) -> float:
        x = _number(value)
        if x < 0:
            raise ValueError(f"is {x:g}, must not be negative ({unit})")
        return x

    return Quantity(check, unit)


def between(least: float, most: float) -> Quantity:
    """A number in a range, its ends included."""

    def check(value: Any) -> float:
        x = _number(value)
        if not least <= x <= most:
            bound = f"at least {least:g}" if most == math.inf else f"from {least:.4g} to {most:.4g}"
            raise ValueError(f"is {x:g}, must be {bound}")
        return x

    return Quantity(check)


def positive_or_auto(unit: str) -> Quantity:
    """A number above zero, or "auto"."""

    def check(value: Any) -> float | str:
        if isinstance(value, str) and value != "auto":
            raise ValueError(f'is {shown(value)}, must be a number ({unit}) or "auto"')
        return value if value == "auto" else positive(unit).check(value)

    return Quantity(check, unit)


def _whole(value: Any, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValueError(f"is {shown(value)}, must be a whole number of at least {least}")
    if value > most:
        raise ValueError(f"is {shown(value)}, must be at most {most:,}")
    return value


def whole(least: int, most: int) -> Quantity:
    """A whole number, at least and at most so large."""
    return Quantity(lambda value: _whole(value, least, most))


def counts(most: int) -> Quantity:
    """Three whole numbers from 1."""

    def check(value: Any) -> tuple[int, int, int]:
        if not isinstance(value, list | tuple) or len(value) != 3:
            raise ValueError(f"is {shown(value)}, must be three whole numbers")
        x, y, z = (_whole(count, 1, most) for count in value)
        return x, y, z

    return Quantity(check)


def vector(unit: str) -> Quantity:
    """Three numbers."""

    def check(value: Any) -> Triple:
        if not isinstance(value, list | tuple) or len(value) != 3:
            raise ValueError(f"is {shown(value)}, must be three numbers ({unit})")
        x, y, z = (_number(component) for component in value)
        return x, y, z

    return Quantity(check, unit)


def vector_or_random(unit: str) -> Quantity:
    """Three numbers, or "random"."""

    def check(value: Any) -> Triple | str:
        if isinstance(value, str) and value != "random":
            raise ValueError(f'is {value!r}, must be three numbers ({unit}) or "random"')
        return value if value == "random" else vector(unit).check(value)

    return Quantity(check, unit)


def numbers(unit: str) -> Quantity:
    """One number or more."""

    def check(value: Any) -> tuple[float, ...]:
        if not isinstance(value, list | tuple) or len(value) == 0:
            raise ValueError(f"is {shown(value)}, must be a list of numbers ({unit})")
        return tuple(_number(x) for x in value)

    return Quantity(check, unit)


def yes_or_no_by_direction() -> Quantity:
    """True or false, or one of them for each direction."""

    def check(value: Any) -> bool | tuple[bool, bool, bool]:
        if isinstance(value, bool):
            return value
        if not isinstance(value, list | tuple) or len(value) != 3 or not all(isinstance(one, bool) for one in value):
            raise ValueError(f"is {value!r}, must be true or false, or three of these")
        x, y, z = value
        return x, y, z

    return Quantity(check)


def check_text(value: Any, longest: int = _LONGEST_TEXT) -> str:
    """Return a text of one line, or raise ValueError with what is wrong about it."""
    if not isinstance(value, str):
        raise ValueError(f"is {shown(value)}, must be a text in quotes")
    if len(value) > longest:
        raise ValueError(f"is {shown(value)}, a text of {len(value):,} letters, must have at most {longest:,}")
    if not value.isprintable():
        raise ValueError(f"is {shown(value)}, must be a line without control characters")
    return value


def check_path(value: Any) -> str:
    """Return the path of a file or folder, or raise ValueError with what is wrong about it."""
    if not check_text(value, _LONGEST_PATH).strip():
        raise ValueError(f"is {shown(value)}, must be a path")
    if any(len(part.encode()) > _LONGEST_PART for part in value.replace("\\", "/").split("/")):
        raise ValueError(f"is {shown(value)}, with the name of a file or folder of more than {_LONGEST_PART} bytes")
    return value


def check_name(value: Any) -> str:
    """Return a name, or raise ValueError with what is wrong about it."""
    if not isinstance(value, str) or not value.strip() or not all(c.isalnum() or c in "_- " for c in value):
        raise ValueError(f"is {shown(value)}, must be a name of letters, digits, '_', '-' and spaces")
    return check_text(value, _LONGEST_NAME)


Triple = tuple[float, float, float]
Name = Annotated[str, Quantity(check_name)]
Text = Annotated[str, Quantity(check_text)]
FilePath = Annotated[str, Quantity(check_path)]
ZERO = (0.0, 0.0, 0.0)


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

    axis: Annotated[Triple, vector("1")]
    degrees: Annotated[float, number("°")]

    @model_validator(mode="after")
    def _check(self) -> Rotation:
        if not any(self.axis):
            raise ValueError("axis is zero, must be a direction")
        return self

    @property
    def matrix(self) -> Array:
        """The matrix R = cos θ I + sin θ [e]× + (1 − cos θ) e ⊗ e [3, 3] (Rodrigues)."""
        e = unit_vector(np.array(self.axis))
        theta = math.radians(self.degrees)
        cross = np.array([[0.0, -e[2], e[1]], [e[2], 0.0, -e[0]], [-e[1], e[0], 0.0]])
        return math.cos(theta) * np.eye(3) + math.sin(theta) * cross + (1.0 - math.cos(theta)) * np.outer(e, e)
