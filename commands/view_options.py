"""The arguments by which the pictures of a run are given their view."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from symplex.errors import OutputError

if TYPE_CHECKING:
    from symplex.runs.drawing import Look
    from symplex.scenario.pictures import ViewTable

DIRECTIONS = ("--view", "--up", "--to")  # options whose words may begin with a minus


def add_view_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments on the view; without them it is that of the scenario."""
    fields = "von_mises (default), displacement, speed, contact_force, contact_pressure, body …"
    parser.add_argument("--field", help=f"what colours show: {fields}")
    parser.add_argument("--view", help="direction to the eye: x, -x, y …, three numbers 1,-2,0.5, or auto")
    parser.add_argument(
        "--up", help="what points up, as --view; default: against gravity, or z, or y over a floor across y"
    )
    parser.add_argument(
        "--slice",
        metavar="AXIS[=M]",
        help="show the section across x, y or z, mid-body or at a place: z=0.05",
    )
    parser.add_argument("--scale", type=float, metavar="FACTOR", help="enlarge displacements by a factor; default: 1")


def add_size(parser: argparse.ArgumentParser, dpi: str = "100, for PDF and SVG 300") -> None:
    """Add the arguments on the size of pictures; ``dpi`` are those without them."""
    parser.add_argument("--size", metavar="W[xH]", help="width of pictures in pixels, or width and height: 1600x900")
    parser.add_argument(
        "--dpi",
        type=float,
        help=f"pixels in an inch, by which letters have their size; default: {dpi}",
    )


def size_words(word: str | None) -> tuple[int | None, int | None]:
    """Return the width and the height that are given."""
    from symplex.meshes.pictures.words import size_of

    try:
        return (None, None) if word is None else size_of(word)
    except ValueError as error:
        raise OutputError(str(error)) from None


def look_of(arguments: argparse.Namespace, default: ViewTable) -> Look:
    """Return how pictures are to look: as the arguments say, and where they say nothing, as a scenario does."""
    from symplex.meshes.pictures.words import view_of
    from symplex.runs.drawing import Look

    def requested(name: str, otherwise):
        value = getattr(arguments, name, None)
        return otherwise if value is None else value

    try:
        view = view_of(
            requested("view", default.direction),
            requested("slice", default.slice),
            requested("up", default.up),
            to=requested("to", default.to),
            orbit=requested("orbit", default.orbit),
            scale=requested("scale", default.scale),
        )
    except ValueError as error:
        raise OutputError(str(error)) from None
    size = getattr(arguments, "size", None)
    width, height = (default.size or (None, None)) if size is None else size_words(size)
    return Look(
        field=requested("field", default.field),
        view=view,
        times=requested("times", default.times and list(default.times)),
        width=width,
        height=height,
        dpi=requested("dpi", default.dpi),
    )
