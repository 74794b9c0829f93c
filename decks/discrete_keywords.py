"""Keywords of elements without volume: springs, dashpots, masses, and couplings that distribute forces."""

from __future__ import annotations

from itertools import pairwise

from symplex.decks.deck import Connector, Dashpot, Distributed, LumpedMass, Spring
from symplex.decks.reading import Keyword, Once, Reading, UnsupportedKeyword, direction, fields, one_line, real, words
from symplex.meshes.formats.abaqus_deck import Block
from symplex.meshes.formats.abaqus_sets import of_instance

CONNECTOR = "CONN3D2"
# Types of elements without volume, by the keyword that says what they are.
DISCRETE = {
    "SPRINGA": "SPRING",
    "SPRING1": "SPRING",
    "SPRING2": "SPRING",
    "DASHPOTA": "DASHPOT",
    "MASS": "MASS",
    "DCOUP3D": "DISTRIBUTING COUPLING",
    "T3D2": "SOLID SECTION",
    CONNECTOR: "CONNECTOR SECTION",
}


# Kinds of joints by those of connectors, and which local directions are their axes: of the first end, of the second.
CONNECTORS: dict[frozenset[str], tuple[str, tuple[int, ...]]] = {
    frozenset({"JOIN"}): ("spherical", ()),
    frozenset({"BEAM"}): ("rigid", ()),
    frozenset({"WELD"}): ("rigid", ()),
    frozenset({"HINGE"}): ("revolute", (0,)),
    frozenset({"JOIN", "REVOLUTE"}): ("revolute", (0,)),
    frozenset({"UJOINT"}): ("universal", (0, 2)),
    frozenset({"JOIN", "UNIVERSAL"}): ("universal", (0, 2)),
    frozenset({"CYLINDRICAL"}): ("cylindrical", (0,)),
    frozenset({"SLOT", "REVOLUTE"}): ("cylindrical", (0,)),
    frozenset({"TRANSLATOR"}): ("prismatic", (0,)),
    frozenset({"SLOT", "ALIGN"}): ("prismatic", (0,)),
    frozenset({"PLANAR"}): ("planar", (0,)),
    frozenset({"SLIDE-PLANE", "REVOLUTE"}): ("planar", (0,)),
    frozenset({"JOIN", "ALIGN"}): ("rigid", ()),
    frozenset({"SLOT"}): ("inline", (0,)),
    frozenset({"SLIDE-PLANE"}): ("inplane", (0,)),
}


def _take_spring(reading: Reading, block: Block) -> None:
    if "NONLINEAR" in block.parameters:
        _take_nonlinear_spring(reading, block)
        return
    if not block.lines:
        raise ValueError("a *SPRING has no stiffness")
    # The line of directions may be empty, and lines that are empty are left out.
    first, *rest = block.lines
    directions = [direction(word) - 1 for word in words(first) if word] if rest else []
    if any(not 0 <= k < 3 for k in directions):
        raise UnsupportedKeyword("springs of rotations are not supported")
    values = one_line(Block(block.keyword, {}, rest or [first]), 1)
    reading.deck.springs.append(Spring(block.parameter("ELSET"), tuple(directions), values[0], reading.where(block)))


def _take_nonlinear_spring(reading: Reading, block: Block) -> None:
    # The line of directions is empty for springs along their line, and lines that are empty are left out.
    rows = [[word for word in words(line) if word] for line in block.lines]
    directions = len(rows[0]) == 1 if rows else False
    table = sorted((real(row[1]), real(row[0])) for row in rows[1 if directions else 0 :] if len(row) > 1)
    if directions or any(len(row) not in (2, 3) for row in rows):
        raise UnsupportedKeyword("springs with a table of forces act along their line (SPRINGA), not in a direction")
    if len(table) < 2 or any(a[0] == b[0] for a, b in pairwise(table)):
        raise ValueError("a *SPRING, NONLINEAR must have two forces at different elongations at least")
    if len({float(row[2]) for row in rows if len(row) > 2}) > 1:
        raise UnsupportedKeyword("springs that depend on temperature are not supported")
    reading.deck.springs.append(Spring(block.parameter("ELSET"), (), 0.0, reading.where(block), tuple(table)))


def _take_dashpot(reading: Reading, block: Block) -> None:
    reading.deck.dashpots.append(Dashpot(block.parameter("ELSET"), one_line(block, 1)[0], reading.where(block)))


def _take_connector(reading: Reading, block: Block) -> None:
    if not block.lines or len(block.lines) > 2:
        raise UnsupportedKeyword(f"it has {len(block.lines)} lines below it, must have the kinds and orientations")
    kinds = tuple(word.upper() for word in words(block.lines[0]) if word)
    known = frozenset(kind for of in CONNECTORS for kind in of)
    if wrong := [kind for kind in kinds if kind not in known]:
        raise UnsupportedKeyword(f"connectors '{wrong[0]}' are not supported; {', '.join(sorted(known))} are")
    if frozenset(kinds) not in CONNECTORS:
        raise UnsupportedKeyword(f"connectors '{', '.join(kinds)}' are no joint that a scenario has")
    first, second = (word.strip('"').upper() for word in fields(block.lines[1] if len(block.lines) > 1 else "", 2))
    elements = block.parameter("ELSET")
    if block.placement is not None:
        elements = of_instance(elements, block.placement)
    reading.deck.connectors.append(Connector(elements, kinds, (first, second), reading.where(block)))


def _take_mass(reading: Reading, block: Block) -> None:
    reading.deck.masses.append(LumpedMass(block.parameter("ELSET"), one_line(block, 1)[0]))


def _take_distributing_coupling(reading: Reading, block: Block) -> None:
    weights = []
    for line in block.lines:
        nodes, weight = fields(line, 2)
        weights.append((nodes, real(weight) if weight else 1.0))
    reading.deck.distributed.append(Distributed(tuple(weights), None, block.parameter("ELSET"), True))


def _take_distributing(reading: Reading, block: Block) -> None:
    if reading.coupled is None:
        raise UnsupportedKeyword("it stands outside of a *COUPLING")
    surface, reference, axes, _ = reading.coupled
    reading.coupled = None
    for line in block.lines:  # forces are distributed in any case, and rotations of no effect if none is held or loaded
        first, last = fields(line, 2)
        if not 1 <= direction(first) <= direction(last or first) <= 6:
            raise ValueError(f"'{line[:60]}' are no degrees of freedom from 1 to 6")
    reading.deck.distributed.append(Distributed((), surface, reference, False, axes))


DISCRETE_KEYWORDS = {
    "CONNECTORSECTION": Keyword(
        _take_connector,
        ("ELSET",),
        "of `CONN3D2` between nodes of beams and shells: `[[joint]]`. JOIN, HINGE, UJOINT, BEAM, WELD, CYLINDRICAL, "
        "TRANSLATOR, PLANAR, SLOT, SLIDE-PLANE, or the basic kinds of which these are",
        "before steps",
        Once("section of connectors", "ELSET"),
    ),
    "SPRING": Keyword(
        _take_spring,
        ("ELSET", "NONLINEAR"),
        "of `SPRINGA`, `SPRING1`, `SPRING2`: `[[constraint]]` of this stiffness; `SPRINGA` with `NLGEOM` or with "
        "`NONLINEAR`, a table of forces: `[[spring]]`",
        "before steps",
        Once("stiffness of springs", "ELSET"),
    ),
    "DASHPOT": Keyword(
        _take_dashpot,
        ("ELSET",),
        "of `DASHPOTA`: `[[dashpot]]`, in motions",
        "before steps",
        Once("viscosity of dashpots", "ELSET"),
    ),
    "MASS": Keyword(_take_mass, ("ELSET",), "`[[point_mass]]`", "before steps", Once("mass", "ELSET")),
    "DISTRIBUTINGCOUPLING": Keyword(
        _take_distributing_coupling,
        ("ELSET",),
        "of `DCOUP3D`, `[[constraint]]`: the node moves with the weighted mean of the others",
        "before steps",
        Once("coupling that distributes forces", "ELSET"),
    ),
    "DISTRIBUTING": Keyword(
        _take_distributing,
        (),
        "of a coupling, `[[constraint]]`, without `NLGEOM`: the reference node moves and turns with the mean of the "
        "surface",
        "before steps",
    ),
}
