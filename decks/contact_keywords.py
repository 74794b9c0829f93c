"""Keywords of contact: pairs of surfaces, and how they press and rub each other."""

from __future__ import annotations

from symplex.decks.deck import ContactPair, Interaction
from symplex.decks.reading import Keyword, Once, Reading, UnsupportedKeyword, fields, real, reals, single_line, words
from symplex.meshes.formats.abaqus_deck import Block

_KINDS = ("SURFACETOSURFACE", "NODETOSURFACE", "MORTAR", "LINMORTAR", "PGLINMORTAR")  # how pressures are integrated
_PRESSURES = ("HARD", "LINEAR", "EXPONENTIAL", "TIED")


def _take_pair(reading: Reading, block: Block) -> None:
    kind = block.parameters.get("TYPE", "NODETOSURFACE").upper().replace(" ", "")
    if kind not in _KINDS:
        raise UnsupportedKeyword(f"contact with TYPE='{kind}' is not supported")
    interaction = block.parameter("INTERACTION").upper()
    adjust = block.parameters.get("ADJUST")
    for line in block.lines:
        slave, master, *rest = *words(line), "", ""
        if not slave or not master:
            raise UnsupportedKeyword("contact of one surface with itself is not supported")
        if any(rest):
            raise UnsupportedKeyword(f"'{next(filter(None, rest))}' after two surfaces is not supported")
        reading.deck.contacts.append(ContactPair(slave, master, interaction, adjust, reading.where(block)))


def _take_interaction(reading: Reading, block: Block) -> None:
    if block.lines:  # how thick plane bodies are, which their sections say
        (thickness,) = fields(single_line(block), 1)
        if real(thickness) != 1.0:
            raise UnsupportedKeyword(f"an out-of-plane thickness of {thickness} is not supported")
    reading.interaction = reading.deck.interactions[block.parameter("NAME").upper()] = Interaction()


def _interaction(reading: Reading) -> Interaction:
    if reading.interaction is None:
        raise UnsupportedKeyword("it stands outside of a *SURFACE INTERACTION")
    return reading.interaction


def _take_behaviour(reading: Reading, block: Block) -> None:
    interaction = _interaction(reading)
    interaction.pressure = block.parameters.get("PRESSURE-OVERCLOSURE", "HARD").upper()
    if interaction.pressure not in _PRESSURES:
        raise UnsupportedKeyword(f"PRESSURE-OVERCLOSURE='{interaction.pressure}' is not supported")
    # Stiffness, and two numbers of how soon contact pulls.
    stiffness, *_ = fields(single_line(block), 0 if interaction.pressure == "HARD" else 3) or [""]
    if interaction.pressure == "LINEAR":
        values = reals(stiffness)
        if not values or values[0] <= 0.0:
            raise ValueError("a linear pressure has no positive stiffness")
        interaction.stiffness = values[0]
    if interaction.pressure == "EXPONENTIAL":
        interaction.clearance = real(stiffness or "0")
        if interaction.clearance <= 0.0:
            raise ValueError("an exponential pressure has no positive clearance")


def _take_friction(reading: Reading, block: Block) -> None:
    interaction = _interaction(reading)
    if len(block.lines) != 1:
        raise UnsupportedKeyword("only one coefficient of friction is known")
    coefficient, _ = fields(block.lines[0], 2)  # and the stiffness while surfaces stick
    if not coefficient or real(coefficient) < 0.0:
        raise UnsupportedKeyword("only one coefficient of friction is known")
    interaction.friction = real(coefficient)


CONTACT_KEYWORDS = {
    "CONTACTPAIR": Keyword(
        _take_pair,
        ("INTERACTION", "TYPE", "SMALLSLIDING", "ADJUST"),
        '`[[contact]]` of two bodies, `begins = "touch"`; each group of elements that shares nodes becomes a body',
        "before steps",
    ),
    "SURFACEINTERACTION": Keyword(
        _take_interaction, ("NAME",), "", "before steps", Once("surface interaction", "NAME")
    ),
    "SURFACEBEHAVIOR": Keyword(
        _take_behaviour,
        ("PRESSURE-OVERCLOSURE",),
        "HARD: the stiffness that follows from the materials; LINEAR: 0.4 of that of the deck; "
        "EXPONENTIAL: as HARD, if its clearance is below a hundredth of an element; TIED: as `*TIE`",
        "before steps",
        Once("pressure", owner="interaction"),
    ),
    "FRICTION": Keyword(
        _take_friction,
        (),
        "`friction` of contact, in motions, and in static steps, which are then computed along the way",
        "before steps",
        Once("friction", owner="interaction"),
    ),
}
