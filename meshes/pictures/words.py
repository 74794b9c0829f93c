"""Views from words, as they are on the command line and in scenarios."""

from __future__ import annotations

import math
from typing import Any

from symplex.meshes.pictures.view import View

Triple = tuple[float, float, float]

_AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
_DIRECTIONS = {**_AXES, **{f"-{axis}": (-x, -y, -z) for axis, (x, y, z) in _AXES.items()}}
_LEAST_SIZE, _MOST_SIZE = 64, 10_000  # pixels
_LEAST_DPI, _MOST_DPI = 10.0, 1200.0


def view_of(
    direction: str = "auto",
    section: str | None = None,
    up: str | None = None,
    *,
    to: str | None = None,
    orbit: float = 0.0,
    scale: float = 1.0,
) -> View:
    """Return a view from words.

    Parameters
    ----------
    direction : str
        ``auto``, or to the eye: an axis such as ``x`` or ``-y``, or three numbers such as ``1,-2,0.5``.
    section : str, optional
        Across which axis the bodies are cut, ``z``, and at will where, ``z=0.05``, in m.
    up : str, optional
        What points up, as ``direction``; ``auto`` is as without it.
    to : str, optional
        To the eye at the end of a film, as ``direction``.
    orbit : float, default 0
        By what angle in degrees the camera goes round the bodies in a film.
    scale : float, default 1
        By how much displacements are enlarged.
    """
    axis, place = (None, None) if section is None else section_of(section)
    if not (math.isfinite(scale) and scale >= 0):
        raise ValueError(f"displacements are enlarged by a factor from 0 on, not {scale:g}.")
    if not math.isfinite(orbit):
        raise ValueError(f"a camera goes round by an angle in degrees, not {orbit:g}.")
    return View(
        direction=direction_of(direction, "view"),
        up=direction_of(up or "auto", "upward direction"),
        section=axis,
        origin=place,
        to=direction_of(to or "auto", "view"),
        orbit=orbit,
        scale=scale,
    )


def direction_of(word: str, what: str) -> Triple | None:
    """Return a direction from a word, None from ``auto``."""
    if word == "auto":
        return None
    if word in _DIRECTIONS:
        return _DIRECTIONS[word]
    try:
        x, y, z = (float(number) for number in word.split(","))
    except ValueError:
        raise ValueError(
            f"'{word}' is no {what}; take auto, {', '.join(_DIRECTIONS)}, or three numbers such as 1,-2,0.5."
        ) from None
    return x, y, z


def section_of(word: str) -> tuple[str, Triple | None]:
    """Return the axis across which a section is, and a point of it if there is one."""
    axis, _, place = word.partition("=")
    try:
        normal = _AXES[axis]
        at = float(place) if "=" in word else None
    except (KeyError, ValueError):
        raise ValueError(f"'{word}' is no section; take x, y or z, or with its place in m, such as z=0.05.") from None
    if at is None:
        return axis, None
    x, y, z = (at if component else 0.0 for component in normal)
    return axis, (x, y, z)


def size_of(word: str) -> tuple[int, int | None]:
    """Return the width and, if it is given, the height of a picture in pixels, from ``1600`` or ``1600x900``."""
    numbers = word.lower().split("x")
    if len(numbers) > 2 or not all(number.isascii() and number.isdigit() and len(number) < 9 for number in numbers):
        raise ValueError(f"'{word}' is no size; take a width in pixels such as 1600, or with a height, 1600x900.")
    width, height = int(numbers[0]), int(numbers[1]) if len(numbers) == 2 else None
    check_size(width, height)
    return width, height


def check_size(width: int, height: int | None) -> None:
    """Refuse sizes of which no picture can be drawn."""
    for pixels in (width, height):
        if pixels is not None and not _LEAST_SIZE <= pixels <= _MOST_SIZE:
            raise ValueError(f"a picture has {_LEAST_SIZE} to {_MOST_SIZE:,} pixels each way, not {pixels:,}.")


def check_dpi(dpi: Any) -> None:
    """Refuse numbers of pixels in an inch that no picture has."""
    if not _LEAST_DPI <= dpi <= _MOST_DPI:
        raise ValueError(f"a picture has {_LEAST_DPI:g} to {_MOST_DPI:g} pixels in an inch, not {dpi:g}.")
