"""Keywords of sections of beams."""

from __future__ import annotations

from symplex.decks.deck import BeamSection, Vector
from symplex.decks.reading import Keyword, Once, Reading, UnsupportedKeyword, reals
from symplex.meshes.formats.abaqus_deck import Block
from symplex.meshes.formats.abaqus_sets import of_instance

# Types of elements that become beams, and how many nodes they have.
BEAMS = {"B31": 2, "B31R": 2, "B32": 3, "B32R": 3}
_DOWN: Vector = (0.0, 0.0, -1.0)  # the direction 1 of sections where none is given
_KINDS = ("RECT", "CIRC", "PIPE", "BOX", "I")
_SAME = 1e-9  # by which part numbers may differ that are one


def _take_beam_section(reading: Reading, block: Block) -> None:
    kind = block.parameters.get("SECTION", "").upper()
    kind = next((short for short in _KINDS if len(short) > 1 and kind.startswith(short)), kind)  # RECTANGULAR …
    if kind not in _KINDS:
        raise UnsupportedKeyword(f"sections '{kind}' are not supported; {', '.join(_KINDS)} are")
    along_1, along_2 = (reals(block.parameters.get(name) or "0")[0] for name in ("OFFSET1", "OFFSET2"))
    dimensions, first = _lines(block, 2)
    _add(reading, block, kind, tuple(dimensions), first, block.parameter("MATERIAL"), offsets=(along_1, along_2))


def _take_general_section(reading: Reading, block: Block) -> None:
    kind = block.parameters.get("SECTION", "GENERAL").upper()
    if kind != "GENERAL":
        raise UnsupportedKeyword(f"general sections with SECTION='{kind}' are not supported; GENERAL is")
    values, first, elastic = *_lines(block, 3), reals(block.lines[2]) if len(block.lines) > 2 else []
    if len(values) < 5 or any(values[5:]):
        raise UnsupportedKeyword("general sections are A, I11, I12, I22, J, without constants of warping")
    if abs(values[2]) > _SAME * (values[1] + values[3]):
        raise UnsupportedKeyword("general sections must have principal axes 1 and 2, with I12 = 0")
    if len(elastic) < 2 or any(elastic[2:]):
        raise UnsupportedKeyword("general sections need a third line with the moduli E and G, without expansion")
    density = reals(block.parameters["DENSITY"])[0] if "DENSITY" in block.parameters else None
    own = values[0], values[1], values[3], values[4]
    _add(reading, block, "", own, first, "", (elastic[0], elastic[1]), density)


def _lines(block: Block, most: int) -> tuple[list[float], Vector]:
    """Return the numbers of the first line, and the direction 1 of the second one."""
    if not block.lines or len(block.lines) > most:
        raise UnsupportedKeyword(f"it has {len(block.lines)} lines below it, must have 1 to {most}")
    given = reals(block.lines[1]) if len(block.lines) > 1 else []
    given = [*given, 0.0, 0.0, 0.0]
    return reals(block.lines[0]), (given[0], given[1], given[2]) if any(given) else _DOWN


def _add(
    reading: Reading,
    block: Block,
    kind: str,
    values: tuple[float, ...],
    first: Vector,
    material: str,
    moduli: tuple[float, float] | None = None,
    density: float | None = None,
    offsets: tuple[float, float] = (0.0, 0.0),
) -> None:
    elements = block.parameter("ELSET")
    if block.placement is not None:
        elements = of_instance(elements, block.placement)
    where = reading.where(block)
    reading.deck.beams.append(BeamSection(elements, kind, values, first, material, moduli, density, where, offsets))


BEAM_KEYWORDS = {
    "BEAMSECTION": Keyword(
        _take_beam_section,
        ("ELSET", "MATERIAL", "SECTION", "OFFSET1", "OFFSET2"),
        "RECT, CIRC (also an ellipse), PIPE, BOX, I (symmetric): `section` of `[[beam]]`, with the direction 1 below "
        "it; an offset, in parts of the dimensions, is the same for all beams of a deck",
        "before steps",
        Once("section of beams", "ELSET", repeats=True),
    ),
    "BEAMGENERALSECTION": Keyword(
        _take_general_section,
        ("ELSET", "SECTION", "DENSITY"),
        "GENERAL with I12 = 0: `section` of `[[beam]]` by its numbers, all of whose area carries shear",
        "before steps",
        Once("section of beams", "ELSET", repeats=True),
    ),
}
