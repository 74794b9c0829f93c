"""Values that parameters and keys may have: kind, unit and range, declared in annotations and checked in one place.

``dt: Annotated[float, positive("s")]`` declares a parameter of a class or function, which `checked` looks at, and a key
of a scenario alike. Each check returns the value as it is kept, or raises ValueError with the end of a sentence that
begins with the name: "must be positive, got -1 s".
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from reprlib import Repr
from typing import Annotated, Any, Literal

from symplex.base.streams import printable

# Sizes of numbers that nothing needs to leave: their powers and products neither overflow nor vanish, and results can
# be written in single precision.
LEAST, MOST = 1e-30, 1e30
_LONGEST_NAME, _LONGEST_TEXT, _LONGEST_PATH = 60, 250, 4000
_LONGEST_PART = 255  # bytes that file systems allow
_LISTED = 20  # names that a message enumerates
_COMPARED = 100  # characters of a word that are compared with known ones
_REPR = Repr()
_REPR.maxlevel, _REPR.maxlist, _REPR.maxtuple, _REPR.maxdict = 2, 6, 6, 4
_REPR.maxstring = _REPR.maxother = 50
_ADDRESS = re.compile(r"<([\w.]+) object at 0x[0-9a-f]+>")  # which differs between runs
LARGEST_SEED = 2**63 - 1
_LONG = 1 << 100  # integers that are not written out

# -- values in messages -------------------------------------------------------------------------------------------


def shown(value: Any) -> str:
    """Return a value as messages quote it: as Python writes it, but never long, and without control characters."""
    if isinstance(value, int) and abs(value) >= _LONG:
        return f"a number of {round(value.bit_length() * math.log10(2))} digits"
    return printable(_ADDRESS.sub(r"<\1>", _REPR.repr(value)), breaks=False)


def listed(names: Iterable[str]) -> str:
    """Return names as messages enumerate them, the first of many."""
    every = list(names)
    more = f", … ({len(every)} in all)" if len(every) > _LISTED else ""
    return (", ".join(every[:_LISTED]) or "none") + more


def ended(error: object) -> str:
    """Return the text of an error as a sentence."""
    text = str(error)
    return text if text.endswith((".", "?")) else f"{text}."


def refused(condition: str, value: Any, unit: str = "") -> ValueError:
    """Return the error that a value does not meet a condition."""
    got = f"{value:g}" if isinstance(value, float) else shown(value)
    return ValueError(f"must be {condition}, got {got}{f' {unit}' if unit not in ('', '1') else ''}")


def must_be_one_of(value: Any, known: Sequence[Any]) -> ValueError:
    """Return the error that a value is none of the known words, with the closest of them."""
    close = difflib.get_close_matches(value[:_COMPARED], known, n=1) if isinstance(value, str) else []
    hint = f". Did you mean '{close[0]}'?" if close else ""
    return ValueError(f"must be one of {listed(map(repr, known))}, got {shown(value)}{hint}")


# -- kinds of values ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Quantity:
    """What a value must be, and its unit.

    Attributes
    ----------
    check : callable
        Returns the value as it is to be kept, or raises ValueError with what it must be, after the name of the key.
    unit : str
    kind : str
        In words, for the reference.
    range : str
        For the reference.
    sentence : str
        What it means, where the class says so that it is a parameter of.
    """

    check: Callable[[Any], Any]
    unit: str = ""
    kind: str = ""
    range: str = ""
    sentence: str = ""


@dataclass(frozen=True)
class Key:
    """How a parameter is called in scenarios, where it has another name than in Python.

    Attributes
    ----------
    name : str
        Empty where scenarios do not have it.
    """

    name: str = ""


@dataclass(frozen=True)
class Without:
    """Which parameters of a part of a method are no keys, as they have no effect there."""

    names: tuple[str, ...]


def _number(value: Any, unit: str = "") -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise refused(f"a number{f' ({unit})' if unit else ''}", value)
    try:
        x = float(value)
    except OverflowError:
        raise ValueError("is too large for a number") from None
    if not math.isfinite(x):
        raise refused("finite", x)
    if x and not LEAST <= abs(x) <= MOST:
        raise refused(f"0, or from {LEAST:g} to {MOST:g} in size", x)
    return x


def _ranged(unit: str, condition: str, meets: Callable[[float], bool], range: str) -> Quantity:
    def check(value: Any) -> float:
        x = _number(value, unit)
        if not meets(x):
            raise refused(condition, x, unit)
        return x

    return Quantity(check, unit, "number", range)


def number(unit: str) -> Quantity:
    """Any finite number."""
    return Quantity(lambda value: _number(value, unit), unit, "number")


def positive(unit: str, most: float = math.inf) -> Quantity:
    """A number above zero, and at most so large."""
    if most == math.inf:
        return _ranged(unit, "positive", lambda x: x > 0.0, "> 0")
    return _ranged(unit, f"above 0 and at most {most:g}", lambda x: 0.0 < x <= most, f"> 0, ≤ {most:g}")


def not_negative(unit: str) -> Quantity:
    """A number of at least zero."""
    return _ranged(unit, "at least 0", lambda x: x >= 0.0, "≥ 0")


def between(least: float, most: float = math.inf, unit: str = "1") -> Quantity:
    """A number in a range, its ends included."""
    bound, range = f"from {least:.4g} to {most:.4g}", f"{least:.4g} … {most:.4g}"
    if most == math.inf:
        bound, range = f"at least {least:g}", f"≥ {least:g}"
    return _ranged(unit, bound, lambda x: least <= x <= most, range)


def fraction() -> Quantity:
    """A number from 0 to below 1."""
    return _ranged("1", "at least 0 and below 1", lambda x: 0.0 <= x < 1.0, "≥ 0, < 1")


def or_word(word: str, quantity: Quantity) -> Quantity:
    """Either a word, or something else."""

    def check(value: Any) -> Any:
        if isinstance(value, str):
            if value == word:
                return value
            unit = f" ({quantity.unit})" if quantity.unit else ""
            raise refused(f'{_WITH_ARTICLE.get(quantity.kind, quantity.kind)}{unit} or "{word}"', value)
        return quantity.check(value)

    return Quantity(check, quantity.unit, f'{quantity.kind}, or `"{word}"`', quantity.range)


_WITH_ARTICLE = {"number": "a number"}


def positive_or_auto(unit: str) -> Quantity:
    """A number above zero, or "auto"."""
    return or_word("auto", positive(unit))


def vector_or_random(unit: str) -> Quantity:
    """Three numbers, or "random"."""
    return or_word("random", vector(unit))


def _whole(value: Any, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise refused(f"an integer of at least {least}", value)
    if value > most:
        raise refused(f"at most {most:,}", value)
    return value


def whole(least: int, most: int) -> Quantity:
    """An integer, at least and at most so large."""
    most_shown = f" … {most:,}" if most < 10**6 else ""
    return Quantity(
        lambda value: _whole(value, least, most), "", "integer", f"{least}{most_shown}" if most_shown else f"≥ {least}"
    )


def _several(value: Any, n: int | None, what: str, unit: str = "") -> list[Any] | tuple[Any, ...]:
    """Return the items of a list of n, or of any number but none."""
    if not isinstance(value, list | tuple) or not value or (n is not None and len(value) != n):
        raise refused(f"{what}{f' ({unit})' if unit else ''}", value)
    return value


def counts(most: int, least: int = 1, of: Literal[2, 3] = 3) -> Quantity:
    """Two or three integers."""
    kind = f"{'two' if of == 2 else 'three'} integers"

    def check(value: Any) -> tuple[int, ...]:
        return tuple(_whole(count, least, most) for count in _several(value, of, kind))

    return Quantity(check, "", kind, f"≥ {least}")


def vector(unit: str) -> Quantity:
    """Three numbers."""

    def check(value: Any) -> Triple:
        x, y, z = (_number(component) for component in _several(value, 3, "three numbers", unit))
        return x, y, z

    return Quantity(check, unit, "three numbers")


def lengths(unit: str) -> Quantity:
    """Three numbers above zero."""

    def check(value: Any) -> Triple:
        found = vector(unit).check(value)
        if min(found) <= 0.0:
            raise refused("three positive numbers", list(found), unit)
        return found

    return Quantity(check, unit, "three numbers", "> 0")


def nonzero(unit: str = "") -> Quantity:
    """Three numbers that are not all zero."""

    def check(value: Any) -> Triple:
        found = vector(unit).check(value)
        if not any(found):
            raise refused("nonzero", list(found), unit) if unit else ValueError("must be a direction, got zero")
        return found

    return Quantity(check, unit, "three numbers", "not zero")


def numbers(unit: str, n: int | None = None) -> Quantity:
    """One number or more."""

    def check(value: Any) -> tuple[float, ...]:
        return tuple(_number(x) for x in _several(value, n, "a list of numbers" if n is None else f"{n} numbers", unit))

    return Quantity(check, unit, "list of numbers")


def yes_or_no(value: Any) -> bool:
    """Return a boolean, or raise ValueError."""
    if not isinstance(value, bool):
        raise refused("true or false", value)
    return value


def yes_or_no_by_direction() -> Quantity:
    """True or false, or one of them for each direction."""

    def check(value: Any) -> bool | tuple[bool, bool, bool]:
        if isinstance(value, bool):
            return value
        if not isinstance(value, list | tuple) or len(value) != 3 or not all(isinstance(one, bool) for one in value):
            raise refused("true or false, or three of these", value)
        x, y, z = value
        return x, y, z

    return Quantity(check, "", "boolean, or three")


def words(known: Sequence[str]) -> Quantity:
    """One of some words."""

    def check(value: Any) -> str:
        if not isinstance(value, str) or value not in known:
            raise must_be_one_of(value, known)
        return value

    return Quantity(check, "", ", ".join(f'`"{word}"`' for word in known))


def names(least: int = 0) -> Quantity:
    """A list of names, at least so many."""

    def check(value: Any) -> tuple[str, ...]:
        if not isinstance(value, list | tuple) or len(value) < least:
            raise refused("a list of names", value)
        return tuple(check_text(name) for name in value)

    return Quantity(check, "", "list of names")


def by_name(quantity: Quantity) -> Quantity:
    """A value for each of some names."""

    def check(value: Any) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise refused(f"a mapping of names, each to {quantity.kind}", value)
        found = {}
        for name, item in value.items():
            try:
                found[check_text(name)] = quantity.check(item)
            except ValueError as error:
                raise ValueError(f"of {shown(name)} {error}") from None
        return found

    return Quantity(check, quantity.unit, f"table of names, each to {quantity.kind}", quantity.range)


def check_text(value: Any, longest: int = _LONGEST_TEXT) -> str:
    """Return a text of one line, or raise ValueError with what is wrong about it."""
    if not isinstance(value, str):
        raise refused("a string in quotes", value)
    if len(value) > longest:
        raise ValueError(f"must have at most {longest:,} characters, got {len(value):,} ({shown(value)})")
    if not value.isprintable():
        raise refused("a line without control characters", value)
    return value


def check_path(value: Any) -> str:
    """Return the path of a file or folder, or raise ValueError with what is wrong about it."""
    if not check_text(value, _LONGEST_PATH).strip():
        raise refused("a path", value)
    if any(len(part.encode()) > _LONGEST_PART for part in value.replace("\\", "/").split("/")):
        raise ValueError(f"must have names of at most {_LONGEST_PART} bytes between its slashes, got {shown(value)}")
    return value


def check_name(value: Any) -> str:
    """Return a name, or raise ValueError with what is wrong about it."""
    if not isinstance(value, str) or not value.strip() or not all(c.isalnum() or c in "_- " for c in value):
        raise refused("a name of letters, digits, '_', '-' and spaces", value)
    return check_text(value, _LONGEST_NAME)


Triple = tuple[float, float, float]
Name = Annotated[str, Quantity(check_name, kind="name")]
Text = Annotated[str, Quantity(check_text, kind="text")]
FILE = Quantity(check_path, kind="path of a file")
FilePath = Annotated[str, FILE]
FolderPath = Annotated[str, Quantity(check_path, kind="path of a folder")]
ZERO = (0.0, 0.0, 0.0)
