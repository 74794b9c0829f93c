"""Reading a deck: one keyword after the other, each by its function of the table of keywords."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from symplex.decks.deck import Conditions, Deck, Interaction, MaterialData, Missed, Step, Where
from symplex.errors import MeshError
from symplex.meshes.formats.abaqus import DeckMesh
from symplex.meshes.formats.abaqus_deck import Block
from symplex.meshes.formats.account import Account
from symplex.meshes.formats.includes import is_keyword, unquoted

_REAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eEdD][+-]?\d+)?")
_LINES_TOLD = 60  # letters
_ABBREVIATED = 3  # letters of a parameter, at least
HEAT = 11  # the number of the degree of freedom that is a temperature
_OWNED = {"material": "material", "interaction": "surface interaction"}  # what owners of definitions are
_MAY_BE_UNUSED = (*_OWNED.values(), "orientation", "amplitude")
_BRACKETS = ("ASSEMBLY", "ENDASSEMBLY", "ENDINSTANCE")  # around what is placed by its own keywords
_OF_COUPLING = ("KINEMATIC", "DISTRIBUTING")


class UnsupportedKeyword(Exception):
    """What a keyword says goes beyond what can be imported; the text shows what."""


class Unknown(UnsupportedKeyword):
    """A keyword, a parameter or lines below a keyword are not known."""


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
    of_mesh : bool
        Whether it makes the mesh, which is not written if something is wrong with it.
    """

    take: Callable[[Reading, Block], None] | None
    parameters: Collection[str]
    means: str
    place: Literal["before steps", "in steps", "before or in steps", "anywhere"] = "anywhere"
    once: Once | None = None
    has_data: bool = True
    of_mesh: bool = False


class Once(NamedTuple):
    """What may be defined once only.

    Attributes
    ----------
    what : str
    parameter : str
        Whose value names it; none of what belongs to an ``owner``.
    owner : str
        The attribute of `Reading` that has it.
    repeats : bool
        Whether it may be defined again.
    """

    what: str
    parameter: str = ""
    owner: str = ""
    repeats: bool = False


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

    Attributes
    ----------
    account : Account
        What became of the lines.
    """

    def __init__(self, path: Path):
        self.path = path
        self.account = Account(path)
        self.deck = Deck()
        self.mesh = DeckMesh()
        self.material: MaterialData | None = None
        self.coupled: Coupled | None = None
        self.interaction: Interaction | None = None
        self.in_step = False
        self.nonlinear = False
        self._defined: dict[tuple[object, ...], Where] = {}
        self._blocks: dict[tuple[str, str], list[Block]] = {}  # of what may be defined and not used
        self._nodes: list[Block] = []
        self._taken: set[tuple[Path, int]] = set()
        self._last: dict[str, str] = {}  # the names of what was defined last

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
        block = _completed(_with_comma(block, keywords), keywords)
        name = block.keyword.replace(" ", "")
        keyword = keywords.get(name)
        self._taken.add((block.path, block.line))
        if name not in _OF_COUPLING:
            self._end_coupling()
        if self.in_step and self.step.is_heat and name != "ENDSTEP":  # which is refused as a whole
            self.account.add_without_meaning(block.path, block.line, block.last)
            return
        try:
            if keyword is None:
                self.mesh.take(block)  # which refuses those that would make another mesh
                raise Unknown("it is not supported")
            if keyword.take is None:
                self.account.add_without_meaning(block.path, block.line, block.last)
                return
            _check_known(keyword, block)
            self._check_place(keyword)
            if keyword.once is not None:
                self._define(keyword.once, block)
                self._keep(keyword.once, block)
            keyword.take(self, block)
            if name == "NODE" and block.placement is None:
                self._nodes.append(block)
        except UnsupportedKeyword as reason:
            self.miss(block, str(reason), isinstance(reason, Unknown))
        except (MeshError, ValueError) as error:
            why = str(error).rstrip(".")
            if keyword is None or keyword.of_mesh:
                raise MeshError(f"{self.where(block)}: *{block.keyword}: {why}.") from None
            self.miss(block, why)

    def _check_place(self, keyword: Keyword) -> None:
        """Raise UnsupportedKeyword if a keyword is where its data would act in other steps than they should."""
        here = "in steps" if self.in_step else "between steps" if self.deck.steps else "before steps"
        if keyword.place not in (here, "anywhere") and (
            keyword.place != "before or in steps" or here == "between steps"
        ):
            where = {"before steps": "before the first *STEP", "in steps": "inside a *STEP"}
            raise UnsupportedKeyword(f"it must be {where.get(keyword.place, 'before the first *STEP, or inside one')}")

    def _define(self, once: Once, block: Block) -> None:
        """Note where something is defined; raise UnsupportedKeyword if it is defined already."""
        owner = getattr(self, once.owner) if once.owner else None
        name = block.parameters.get(once.parameter, "")
        within = block.placement.name if block.placement is not None else ""
        key = (once.what, id(owner), name.upper(), within)
        if key in self._defined and not once.repeats:
            named = f" '{name}'" if name else f" of the {once.owner}" if once.owner else ""
            raise UnsupportedKeyword(f"there is a second {once.what}{named}; the first is in {self._defined[key]}")
        self._defined[key] = self.where(block)

    def _end_coupling(self) -> None:
        """Note a coupling of which nothing says how it couples."""
        if self.coupled is not None:
            self.deck.missed.append(Missed("COUPLING", self.coupled.where, "it has no *KINEMATIC or *DISTRIBUTING", 0))
        self.coupled = None

    def finish(self, blocks: Iterable[Block], keywords: dict[str, Keyword]) -> None:
        """Note what the end of the deck leaves open, and what of it was not taken.

        Parameters
        ----------
        blocks : iterable of Block
            All of the deck. Parts are taken where their instances are, without their own keywords.
        keywords : dict of str to Keyword
        """
        for block in blocks:
            name = block.keyword.replace(" ", "")
            keyword = keywords.get(name)
            if name in _BRACKETS:
                self.account.add_without_meaning(block.path, block.line, block.last)
            if keyword is not None and (block.path, block.line) not in self._taken:
                try:
                    _check_known(keyword, block)
                except Unknown as reason:
                    self.miss(block, str(reason), True)
        known = {(missed.where, missed.why) for missed in self.deck.missed}
        for one in self.account.unknown:  # before the first keyword, or of parts without an instance
            where, is_keyword = self._where(one.path, one.line), one.what.startswith("*")
            missed = Missed(one.what[1:] if is_keyword else "", where, one.why if is_keyword else one.what, 0, True)
            if (where, one.why) not in known:
                self.deck.missed.append(missed)
        self._end_coupling()
        if self.in_step:
            self.deck.missed.append(Missed("STEP", self.step.where, "it has no *END STEP", self.step.number))

    def _keep(self, once: Once, block: Block) -> None:
        """Keep the keywords of a definition that nothing may refer to."""
        what = _OWNED.get(once.owner, once.what)
        if what == once.what and what in _MAY_BE_UNUSED:
            self._last[what] = block.parameters.get(once.parameter, "").upper()
        if what in self._last:
            self._blocks.setdefault((what, self._last[what]), []).append(block)

    def keep_without_name(self, what: str, block: Block) -> None:
        """Keep what may mean nothing and has no name: temperatures without expansions, and the other way round."""
        self._blocks.setdefault((what, ""), []).append(block)

    def unused(self, used: Mapping[str, Collection[str]]) -> list[str]:
        """Return what is defined and not used, as remarks, and note in the account that it means nothing.

        Parameters
        ----------
        used : mapping of str to collection of str
            The names, in capitals, of what is used, by what it is: ``material``, ``orientation``, ``amplitude`` …
        """
        found: list[str] = []
        for (what, name), blocks in self._blocks.items():
            if what in used and name not in used[what]:
                called = f"{what} '{name}'" if name else what
                found.append(f"{self.where(blocks[0])}: the {called} is not used")
                for block in blocks:
                    self.account.add_without_meaning(block.path, block.line, block.last)
        return found

    def unused_nodes(self, used: NDArray[np.int64]) -> list[str]:
        """Return a remark on nodes that nothing uses, and note in the account that they mean nothing.

        Parameters
        ----------
        used : int64 [n]
            The numbers of those in the mesh and in the scenarios.
        """
        ids = self.mesh.numbered.ids
        unused = {*np.setdiff1d(ids, used).tolist()}
        for block in self._nodes if unused else ():
            for k, line in enumerate(block.lines):
                if int(line.partition(",")[0]) in unused:
                    self.account.add_without_meaning(*block.place(k))
        return [f"{len(unused)} nodes belong to nothing, the first is {min(unused)}"] if unused else []

    def miss(self, block: Block, why: str, is_unknown: bool = False) -> None:
        """Note that a keyword was not understood; between steps it is one of the next one."""
        if block.path != self.path and not is_keyword(f"*{block.keyword}"):
            block = replace(block, keyword="…")
        why = unquoted(why, self.path)
        steps = self.deck.steps
        number = len(steps) + (0 if self.in_step else 1) if steps else 0
        self.deck.missed.append(Missed(block.keyword, self.where(block), why, number, is_unknown))
        self.account.add_unknown(f"*{block.keyword}", block.path, block.line, block.last, why)

    def where(self, block: Block) -> Where:
        """Return where a keyword stands."""
        return self._where(block.path, block.line)

    def _where(self, path: Path, line: int) -> Where:
        return Where("" if path == self.path else path.name, line)

    def material_of(self) -> MaterialData:
        """Return the material that is being read."""
        if self.material is None:
            raise UnsupportedKeyword("it stands outside of a *MATERIAL")
        return self.material


def _with_comma(block: Block, keywords: Mapping[str, Keyword]) -> Block:
    """Return a keyword with the parameter that stands behind it without a comma, as CalculiX takes it."""
    head = block.keyword.split(" ")
    if head[0] == "HEADING" and len(head) > 1:
        return replace(block, keyword="HEADING", parameters={})
    for k in range(len(head) - 1, 0, -1):
        keyword = keywords.get("".join(head[:k]))
        name, _, value = "".join(head[k:]).partition("=")
        if "".join(head) not in keywords and keyword is not None and name in keyword.parameters:
            return replace(block, keyword=" ".join(head[:k]), parameters={name: value, **block.parameters})
    return block


def _completed(block: Block, keywords: Mapping[str, Keyword]) -> Block:
    """Return a keyword with the whole names of parameters that are abbreviated, as AMP for AMPLITUDE."""
    keyword = keywords.get(block.keyword.replace(" ", ""))
    if keyword is None or all(name in keyword.parameters for name in block.parameters):
        return block
    given: dict[str, str] = {}
    for name, value in block.parameters.items():
        meant = [known for known in keyword.parameters if known.startswith(name)] if len(name) >= _ABBREVIATED else []
        given[meant[0] if name not in keyword.parameters and len(meant) == 1 else name] = value
    return replace(block, parameters=given)


def _check_known(keyword: Keyword, block: Block) -> None:
    """Raise Unknown if a keyword has parameters or data lines that are not known."""
    unknown = [name for name in block.parameters if name not in keyword.parameters]
    if unknown:
        raise Unknown(f"the parameter '{unknown[0]}' is not supported")
    if block.lines and not keyword.has_data:
        raise Unknown("data lines below it are not supported")


def words(line: str) -> list[str]:
    """Return what stands between the commas of a line."""
    return [word.strip() for word in line.split(",")]


def fields(line: str, count: int) -> list[str]:
    """Return what stands between the commas of a line, so many, empty where there is nothing.

    Raises
    ------
    UnsupportedKeyword
        If there are more.
    """
    found = words(line)
    if further := next(filter(None, found[count:]), ""):
        raise UnsupportedKeyword(f"'{further[:_LINES_TOLD]}' is not known; there are {count} entries in a line at most")
    return [*found[:count], *[""] * (count - len(found))]


def single_line(block: Block) -> str:
    """Return the only data line below a keyword, "" if there is none.

    Raises
    ------
    UnsupportedKeyword
        If there are several.
    """
    if len(block.lines) > 1:
        raise UnsupportedKeyword("several lines below it are not supported")
    return block.lines[0] if block.lines else ""


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


def one_line(block: Block, least: int, most: int | None = None) -> list[float]:
    """Return the numbers of the only data line, at least and at most so many, without a temperature behind the most.

    Raises
    ------
    UnsupportedKeyword
        If there are several lines, as for constants that depend on temperature.
    ValueError
        If there are fewer numbers.
    """
    if len(block.lines) > 1:
        raise UnsupportedKeyword("constants that depend on temperature or other fields are not supported")
    most = least if most is None else most
    values = reals(block.lines[0]) if block.lines else []
    if len(values) < least:
        raise ValueError(f"a *{block.keyword} has {len(values)} numbers, not {least}")
    if len(values) > most + 1:
        raise UnsupportedKeyword(f"it has {len(values)} numbers; {most} and a temperature are known")
    return values[:most]


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
