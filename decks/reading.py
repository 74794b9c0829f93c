"""Reading a deck: one keyword after the other, each by its function of the table of keywords."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection
from pathlib import Path
from typing import NamedTuple

from symplex.decks.deck import Conditions, Deck, Interaction, MaterialData, Missed, Step, Where
from symplex.errors import MeshError
from symplex.meshes.formats.abaqus import DeckMesh
from symplex.meshes.formats.abaqus_deck import Block

_REAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eEdD][+-]?\d+)?")
_LINES_TOLD = 60  # letters


class NotUnderstood(Exception):
    """What a keyword says goes beyond what can be imported; the text tells what."""


class Keyword(NamedTuple):
    """How a keyword is read.

    Attributes
    ----------
    take : callable or None
        Of the reading and the block. None: it says nothing about the motion, with whatever parameters.
    parameters : collection of str
        Those that are understood, without spaces.
    means : str
        What becomes of it, for the documentation.
    """

    take: Callable[[Reading, Block], None] | None
    parameters: Collection[str]
    means: str


class Reading:
    """The state of reading a deck.

    Parameters
    ----------
    path : Path
    """

    def __init__(self, path: Path):
        self.path = path
        self.deck = Deck()
        self.mesh = DeckMesh()
        self.material: MaterialData | None = None
        self.coupled: tuple[str, str, str] | None = None  # surface, reference node and orientation of the last coupling
        self.interaction: Interaction | None = None
        self.in_step = False
        self.nonlinear = False

    @property
    def step(self) -> Step:
        """The step that is being read.

        Raises
        ------
        NotUnderstood
            Outside of steps.
        """
        if not self.in_step:
            raise NotUnderstood("it stands outside of a step")
        return self.deck.steps[-1]

    @property
    def conditions(self) -> Conditions:
        """Where supports and loads go: the step that is being read, or the model."""
        return self.deck.steps[-1] if self.in_step else self.deck.model

    def take(self, block: Block, keywords: dict[str, Keyword]) -> None:
        """Take a keyword; if it is not understood, note that."""
        keyword = keywords.get(block.keyword.replace(" ", ""))
        try:
            if keyword is None:
                raise NotUnderstood("it is not known")
            if keyword.take is None:
                return
            unknown = [name for name in block.parameters if name not in keyword.parameters]
            if unknown:
                raise NotUnderstood(f"the parameter {unknown[0]} is not known")
            keyword.take(self, block)
        except NotUnderstood as reason:
            self.miss(block, str(reason))
        except MeshError as error:
            raise MeshError(f"{self.where(block)}: {error}") from None
        except ValueError as error:
            raise MeshError(f"{self.where(block)}: {error}.") from None

    def miss(self, block: Block, why: str) -> None:
        """Note that a keyword was not understood."""
        number = self.deck.steps[-1].number if self.in_step else 0
        self.deck.missed.append(Missed(block.keyword, self.where(block), why, number))

    def where(self, block: Block) -> Where:
        """Return where a keyword stands."""
        return Where("" if block.path == self.path else block.path.name, block.line)

    def material_of(self) -> MaterialData:
        """Return the material that is being read."""
        if self.material is None:
            raise NotUnderstood("it stands outside of a *MATERIAL")
        return self.material


def words(line: str) -> list[str]:
    """Return what stands between the commas of a line."""
    return [word.strip() for word in line.split(",")]


def real(word: str) -> float:
    """Return a number, which may be written with a D for its exponent.

    Raises
    ------
    ValueError
        If it is none, or not finite.
    """
    if not _REAL.fullmatch(word) or not math.isfinite(value := float(word.upper().replace("D", "E"))):
        raise ValueError(f"'{word[:_LINES_TOLD]}' stands where a number must be")
    return value


def reals(line: str) -> list[float]:
    """Return the numbers of a line; what is left out between commas is 0, and so is nothing at the end."""
    found = words(line)
    while found and not found[-1]:
        found.pop()
    return [real(word) if word else 0.0 for word in found]


def one_line(block: Block, least: int) -> list[float]:
    """Return the numbers of the only data line, at least so many.

    Raises
    ------
    NotUnderstood
        If there are several lines, as for constants that depend on temperature.
    ValueError
        If there are fewer numbers.
    """
    if len(block.lines) > 1:
        raise NotUnderstood("constants that depend on temperature or other fields are not known")
    values = reals(block.lines[0]) if block.lines else []
    if len(values) < least:
        raise ValueError(f"a *{block.keyword} has {len(values)} numbers, not {least}")
    return values


def direction(word: str) -> int:
    """Return a number of a degree of freedom.

    Raises
    ------
    ValueError
        If it is none.
    """
    if not word.isdecimal() or len(word) > 2:
        raise ValueError(f"'{word[:_LINES_TOLD]}' stands where the number of a degree of freedom must be")
    return int(word)
