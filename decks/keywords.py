"""All keywords that are understood; the documentation's table is written from this one."""

from __future__ import annotations

from symplex.decks.beam_keywords import BEAM_KEYWORDS
from symplex.decks.constraint_keywords import CONSTRAINT_KEYWORDS
from symplex.decks.contact_keywords import CONTACT_KEYWORDS
from symplex.decks.discrete_keywords import DISCRETE_KEYWORDS
from symplex.decks.load_keywords import LOAD_KEYWORDS
from symplex.decks.material_keywords import MATERIAL_KEYWORDS
from symplex.decks.mesh_keywords import MESH_KEYWORDS
from symplex.decks.reading import Keyword, Reading, UnsupportedKeyword
from symplex.decks.step_keywords import STEP_KEYWORDS
from symplex.meshes.formats.abaqus_deck import Block


def _take_heading(reading: Reading, block: Block) -> None:
    if block.lines and not reading.deck.title:
        reading.deck.title = " ".join(block.lines[0].split())
    for k in range(1 if reading.deck.title else 0, len(block.lines)):
        reading.account.add_without_meaning(*block.place(k))


def _take_restart(reading: Reading, block: Block) -> None:
    if "READ" in block.parameters:
        raise UnsupportedKeyword("results of another run are not read")
    reading.account.add_without_meaning(block.path, block.line, block.last)


def _take_normals(reading: Reading, block: Block) -> None:
    if block.lines:
        raise UnsupportedKeyword("normals of nodes are not supported; those of elements are taken")
    reading.account.add_without_meaning(block.path, block.line, block.last)


_OUTPUT = Keyword(None, (), "ignored: output")
_SOLVING = Keyword(None, (), "ignored: solution controls")
_OUTPUTS = (
    "NODEPRINT", "ELPRINT", "NODEFILE", "ELFILE", "NODEOUTPUT", "ELEMENTOUTPUT", "ENERGYOUTPUT", "CONTACTOUTPUT",
    "CONTACTFILE", "CONTACTPRINT", "SECTIONPRINT", "ENERGYPRINT", "MODALPRINT", "OUTPUT", "FILEFORMAT", "MONITOR",
    "PRINT", "PREPRINT", "TIMEPOINTS", "FILEOUTPUT",
)  # fmt: skip

KEYWORDS: dict[str, Keyword] = {
    "HEADING": Keyword(_take_heading, ("UNSORTED",), "`title`"),
    **MESH_KEYWORDS,
    **MATERIAL_KEYWORDS,
    **BEAM_KEYWORDS,
    **CONSTRAINT_KEYWORDS,
    **CONTACT_KEYWORDS,
    **DISCRETE_KEYWORDS,
    **LOAD_KEYWORDS,
    **STEP_KEYWORDS,
    **dict.fromkeys(_OUTPUTS, _OUTPUT),
    "CONTROLS": _SOLVING,
    "NORMAL": Keyword(_take_normals, (), "without lines ignored"),
    "DESIGNVARIABLES": Keyword(None, (), "ignored: sensitivities"),
    "PHYSICALCONSTANTS": Keyword(None, (), "ignored: heat"),
    "RESTART": Keyword(_take_restart, ("WRITE", "FREQUENCY", "OVERLAY", "READ", "STEP"), "ignored; `READ` is refused"),
}


def _alike() -> dict[tuple[str, str], list[str]]:
    """Return the keywords by their parameters and meaning; those that are ignored share a row."""
    found: dict[tuple[str, str], list[str]] = {}
    for name, keyword in KEYWORDS.items():
        parameters = "any" if keyword.take is None else ", ".join(f"`{word}`" for word in keyword.parameters)
        found.setdefault((parameters or "–", keyword.means or "–"), []).append(name)
    return found


def documented() -> str:
    """Return the table of keywords as the documentation has it."""
    rows = ["| keyword | parameters | imported as |", "| --- | --- | --- |"]
    for (parameters, means), names in _alike().items():
        rows.append(f"| {', '.join(f'`*{name}`' for name in names)} | {parameters} | {means} |")
    return "\n".join(rows)
