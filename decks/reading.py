"""Reading a deck: one keyword after the other, each by its function of the table of keywords."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Literal, NamedTuple

from symplex.decks.deck import Conditions, Deck, Interaction, MaterialData, Missed, Step, Where
from symplex.errors import MeshError
from symplex.meshes.formats.abaqus import DeckMesh
from symplex.meshes.formats.abaqus_deck import Block

_REAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eEdD][+-]?\d+)?")
_LINES_TOLD = 60  # letters
_OF_COUPLING = ("KINEMATIC", "DISTRIBUTING")


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
    place : str
        Where it may be. What a model has acts in all steps, so that after the first it would act on earlier ones.
    once : Once, optional
        What it defines, of which there may be only one.
    has_data : bool
        Whether there are data lines below it.
    """

    take: Callable[[Reading, Block], None] | None
    parameters: Collection[str]
    means: str
    place: Literal["before steps", "in steps", "before or in steps", "anywhere"] = "anywhere"
    once: Once | None = None
    has_data: bool = True


class Once(NamedTuple):
    """What may be defined once only.

    Attributes
    ----------
    what : str
    parameter : str
        Whose value names it; none of what belongs to an ``owner``.
    owner : str
        The attribute of `Reading` that has it.
    """

    what: str
    parameter: str = ""
    owner: str = ""


class Coupled(NamedTuple):
    """A coupling of which it is not yet said how it couples."""

    surface: str
    reference: str
    axes: str
    where: Where


class Reading:
    """The state of reading a deck.

    Parameters
    ----------
    path : Path
    """

    def __init__(self, path: Path):
        self.path = path
        self.deck = Deck()
        self.mesh = DeckMesh(flat=True)
        self.material: MaterialData | None = None
        self.coupled: Coupled | None = None
        self.interaction: Interaction | None = None
        self.in_step = False
        self.nonlinear = False
        self._defined: dict[tuple[object, ...], Where] = {}

    @property
    def step(self) -> Step:
        """The step that is being read."""
        return self.deck.steps[-1]

    @property
    def conditions(self) -> Conditions:
        """Where supports and loads go: the step that is being read, or the model."""
        return self.deck.steps[-1] if self.in_step else self.deck.model

    def take(self, block: Block, keywords: dict[str, Keyword]) -> None:
        """Take a keyword; if it is not understood, note that."""
        name = block.keyword.replace(" ", "")
        keyword = keywords.get(name)
        if name not in _OF_COUPLING:
            self._end_coupling()
        try:
            if keyword is None:
                raise NotUnderstood("it is not known")
            if keyword.take is None:
                return
            unknown = [name for name in block.parameters if name not in keyword.parameters]
            if unknown:
                raise NotUnderstood(f"the parameter {unknown[0]} is not known")
            if block.lines and not keyword.has_data:
                raise NotUnderstood("data lines below it are not known")
            self._check_place(keyword)
            if keyword.once is not None:
                self._define(keyword.once, block)
            keyword.take(self, block)
        except NotUnderstood as reason:
            self.miss(block, str(reason))
        except MeshError as error:
            raise MeshError(f"{self.where(block)}: {error}") from None
        except ValueError as error:
            raise MeshError(f"{self.where(block)}: {error}.") from None

    def _check_place(self, keyword: Keyword) -> None:
        """Raise NotUnderstood if a keyword is where its data would act in other steps than they should."""
        here = "in steps" if self.in_step else "between steps" if self.deck.steps else "before steps"
        if keyword.place not in (here, "anywhere") and (
            keyword.place != "before or in steps" or here == "between steps"
        ):
            where = {"before steps": "before the first *STEP", "in steps": "inside a *STEP"}
            raise NotUnderstood(f"it must be {where.get(keyword.place, 'before the first *STEP, or inside one')}")

    def _define(self, once: Once, block: Block) -> None:
        """Note where something is defined; raise NotUnderstood if it is defined already."""
        owner = getattr(self, once.owner) if once.owner else None
        name = block.parameters.get(once.parameter, "")
        within = block.placement.name if block.placement is not None else ""
        key = (once.what, id(owner), name.upper(), within)
        if key in self._defined:
            named = f" '{name}'" if name else f" of the {once.owner}" if once.owner else ""
            raise NotUnderstood(f"there is a second {once.what}{named}; the first is in {self._defined[key]}")
        self._defined[key] = self.where(block)

    def _end_coupling(self) -> None:
        """Note a coupling of which nothing says how it couples."""
        if self.coupled is not None:
            self.deck.missed.append(Missed("COUPLING", self.coupled.where, "it has no *KINEMATIC or *DISTRIBUTING", 0))
        self.coupled = None

    def finish(self) -> None:
        """Note what the end of the deck leaves open."""
        self._end_coupling()
        if self.in_step:
            self.deck.missed.append(Missed("STEP", self.step.where, "it has no *END STEP", self.step.number))

    def miss(self, block: Block, why: str) -> None:
        """Note that a keyword was not understood; between steps it is one of the next one."""
        steps = self.deck.steps
        number = len(steps) + (0 if self.in_step else 1) if steps else 0
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
