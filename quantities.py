"""Kinds of values in a scenario file, and what all its tables have in common."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler
from pydantic_core import CoreSchema
from pydantic_core.core_schema import no_info_before_validator_function


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
        raise ValueError(f"is {value!r}, must be a number")
    try:
        x = float(value)
    except OverflowError:
        raise ValueError("is too large for a number") from None
    if not math.isfinite(x):
        raise ValueError(f"is {x}, must be finite")
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
            raise ValueError(f'is {value!r}, must be a number ({unit}) or "auto"')
        return value if value == "auto" else positive(unit).check(value)

    return Quantity(check, unit)


def whole(least: int, most: int | None = None) -> Quantity:
    """A whole number, at least and at most so large."""

    def check(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise ValueError(f"is {value!r}, must be a whole number of at least {least}")
        if most is not None and value > most:
            raise ValueError(f"is {value}, must be at most {most}")
        return value

    return Quantity(check)


def vector(unit: str) -> Quantity:
    """Three numbers."""

    def check(value: Any) -> Triple:
        if not isinstance(value, list | tuple) or len(value) != 3:
            raise ValueError(f"is {value!r}, must be three numbers ({unit})")
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
            raise ValueError(f"is {value!r}, must be a list of numbers ({unit})")
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


def check_name(value: Any) -> str:
    """Return a name, or raise ValueError with what is wrong about it."""
    if not isinstance(value, str) or not value or not all(c.isalnum() or c in "_- " for c in value):
        raise ValueError(f"is {value!r}, must be a name of letters, digits, '_', '-' and spaces")
    return value


Triple = tuple[float, float, float]
Name = Annotated[str, Quantity(check_name)]
Count = Annotated[int, whole(1)]
ZERO = (0.0, 0.0, 0.0)


class Table(BaseModel):
    """A table of a scenario: unknown keys are errors, and values are taken as they are written."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def one_of(table: Table, keys: Sequence[str], what: str) -> str:
    """Return the one of some keys that is given."""
    given = [key for key in keys if getattr(table, key) is not None]
    if len(given) != 1:
        found = "none is given" if not given else f"given are {' and '.join(given)}"
        raise ValueError(f"needs one {what} of {', '.join(keys)}; {found}")
    return given[0]
