"""How the pictures of a run are to look: ``[output.view]``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from symplex.base.quantities import Quantity, Text, between, check_text, not_negative, numbers, positive, refused
from symplex.meshes.pictures.view import View
from symplex.meshes.pictures.words import check_dpi, check_size, direction_of, section_of, view_of
from symplex.scenario.table import Table

_TURNS = 3600.0  # degrees at most


def _word(what: str, check: Callable[[str], Any]) -> Quantity:
    """A word that a function takes, which otherwise raises ValueError with a sentence that ends in what to take."""

    def checked(value: Any) -> str:
        word = check_text(value)
        try:
            check(word)
        except ValueError as error:
            raise ValueError(f"is '{word}', no {what}; {str(error).partition('; ')[2].rstrip('.')}") from None
        return word

    return Quantity(checked, kind=what)


def _size(value: Any) -> tuple[int, int]:
    if (
        not isinstance(value, list | tuple)
        or len(value) != 2
        or not all(isinstance(one, int) and not isinstance(one, bool) for one in value)
    ):
        raise refused("the width and the height in pixels, such as [1600, 900]", value)
    width, height = value
    try:
        check_size(width, height)
    except ValueError as error:
        raise ValueError(f"is [{width}, {height}], but {str(error).rstrip('.')}") from None
    return width, height


def _dpi(value: Any) -> float:
    dpi = positive("pixels in an inch").check(value)
    try:
        check_dpi(dpi)
    except ValueError as error:
        raise ValueError(f"is {dpi:g}, but {str(error).rstrip('.')}") from None
    return dpi


_Direction = Annotated[str, _word("direction", lambda word: direction_of(word, "direction"))]


class ViewTable(Table):
    """How snapshots and film look; options of `symplex render` and `symplex view` take precedence."""

    field: Annotated[
        Text | None,
        "What colours show, as [`--field`](../view.md#options); by default the first there is of stress, axial "
        "force, displacement.",
    ] = None
    direction: Annotated[
        _Direction,
        'To the eye: `"x"`, `"-y"`, or three numbers, `"1,-2,0.5"`; by default obliquely from above and along '
        "planar obstacles.",
    ] = "auto"
    up: Annotated[_Direction, "What points up, likewise."] = "auto"
    slice: Annotated[
        str | None, _word("section", section_of), 'Section across `"x"`, `"y"` or `"z"`, or at a place, `"z=0.05"` (m).'
    ] = None
    scale: Annotated[float, not_negative("1"), "Factor of displacements."] = 1.0
    times: Annotated[tuple[float, ...] | None, numbers("s"), "Of the snapshots; by default six."] = None
    size: Annotated[
        tuple[int, int] | None,
        Quantity(_size, "pixels", "two integers"),
        "Width and height of snapshots and film; by default 1600 wide, and 800 × 500.",
    ] = None
    dpi: Annotated[
        float | None,
        Quantity(_dpi, "1/inch", "number", "> 0"),
        "Of the snapshots, by which letters and lines have sizes; by default 100.",
    ] = None
    to: Annotated[_Direction, "Direction in which the camera of the film ends."] = "auto"
    orbit: Annotated[
        float, between(-_TURNS, _TURNS, "°"), "Angle by which the camera of the film goes round the bodies."
    ] = 0.0

    def view(self) -> View:
        """Return the view."""
        return view_of(self.direction, self.slice, self.up, to=self.to, orbit=self.orbit, scale=self.scale)
