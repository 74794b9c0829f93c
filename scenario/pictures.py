"""How the pictures of a run are to look: ``[output.view]``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from symplex.base.quantities import Quantity, Text, between, check_text, not_negative, numbers, positive
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

    return Quantity(checked)


def _size(value: Any) -> tuple[int, int]:
    if (
        not isinstance(value, list | tuple)
        or len(value) != 2
        or not all(isinstance(one, int) and not isinstance(one, bool) for one in value)
    ):
        raise ValueError(f"is {value!r}, must be the width and the height in pixels, such as [1600, 900]")
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
    """From where the pictures of a run are seen, what they show, and their sizes."""

    field: Text | None = None
    direction: _Direction = "auto"
    up: _Direction = "auto"
    slice: Annotated[str | None, _word("section", section_of)] = None
    scale: Annotated[float, not_negative("1")] = 1.0
    times: Annotated[tuple[float, ...] | None, numbers("s")] = None
    size: Annotated[tuple[int, int] | None, Quantity(_size)] = None
    dpi: Annotated[float | None, Quantity(_dpi)] = None
    to: _Direction = "auto"
    orbit: Annotated[float, between(-_TURNS, _TURNS)] = 0.0

    def view(self) -> View:
        """Return the view."""
        return view_of(self.direction, self.slice, self.up, to=self.to, orbit=self.orbit, scale=self.scale)
