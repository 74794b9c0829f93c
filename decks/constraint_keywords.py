"""Keywords of linear constraints: equations, ties, rigid bodies, couplings."""

from __future__ import annotations

from typing import Literal

from symplex.decks.deck import MultiPoint, Pretension, RigidGroup, Sector, Term, Tie
from symplex.decks.reading import (
    HEAT,
    Coupled,
    Keyword,
    Once,
    Reading,
    UnsupportedKeyword,
    direction,
    fields,
    real,
    reals,
    single_line,
    words,
)
from symplex.meshes.formats.abaqus_deck import Block


def _take_equation(reading: Reading, block: Block) -> None:
    lines = [words(line.rstrip().rstrip(",")) for line in block.lines]
    at = 0
    while at < len(lines):
        (count,) = fields(",".join(lines[at]), 1)
        if not count.isdecimal() or not int(count):
            raise ValueError(f"'{count[:60]}' stands where the number of terms of an equation must be")
        found: list[str] = []
        at += 1
        while len(found) < 3 * int(count) and at < len(lines):
            found += lines[at]
            at += 1
        if len(found) != 3 * int(count):
            raise ValueError(f"an equation of {count} terms has {len(found)} entries, not {3 * int(count)}")
        terms = []
        for nodes, component, factor in zip(found[::3], found[1::3], found[2::3], strict=True):
            if direction(component) == HEAT:
                raise UnsupportedKeyword("it is an equation of temperatures; heat is not computed")
            if not 1 <= direction(component) <= 6:
                raise UnsupportedKeyword(f"degree of freedom {component} is not supported")
            terms.append(Term(nodes, int(component) - 1, real(factor)))
        reading.deck.equations.append(tuple(terms))


def _take_tie(reading: Reading, block: Block) -> None:
    tolerance = block.parameters.get("POSITIONTOLERANCE")
    for line in block.lines:
        slave, master = fields(line, 2)
        if not slave or not master:
            raise ValueError("a *TIE names no two surfaces")
        adjust = block.parameters.get("ADJUST", "YES").upper() != "NO"
        cyclic = "CYCLICSYMMETRY" in block.parameters
        reading.deck.ties.append(Tie(slave, master, reals(tolerance)[0] if tolerance else None, adjust, cyclic))


def _take_pretension(reading: Reading, block: Block) -> None:
    surface, node = block.parameter("SURFACE"), block.parameter("NODE")
    normal = None
    if block.lines:
        x, y, z = (real(word) if word else 0.0 for word in fields(single_line(block), 3))
        normal = (x, y, z)
        if not any(normal):
            raise ValueError("the normal of a pretension section has no direction")
    reading.deck.pretensions.append(Pretension(surface, node, normal))


def _take_sector(reading: Reading, block: Block) -> None:
    values = [real(word) if word else 0.0 for word in fields(single_line(block), 6)] if block.lines else []
    count = block.parameter("N")
    if len(values) < 6 or not count.isdecimal() or int(count) < 2:
        raise ValueError("a *CYCLIC SYMMETRY MODEL has no number N of sectors, or no two points of an axis")
    a, b = (values[0], values[1], values[2]), (values[3], values[4], values[5])
    sector = Sector(int(count), a, b)
    if reading.deck.sector not in (None, sector):
        raise UnsupportedKeyword("parts with other numbers of sectors, or another axis, are not supported")
    reading.deck.sector = sector


def _take_diameters(reading: Reading, block: Block) -> None:
    numbers = [block.parameters.get(name, "0") for name in ("NMIN", "NMAX")]
    if not all(number.isdecimal() for number in numbers):
        raise ValueError(f"nodal diameters are {numbers[0]} to {numbers[1]}; they must be integers")
    reading.step.diameters = int(numbers[0]), int(numbers[1])


def _take_rigid(reading: Reading, block: Block) -> None:
    if not any(key in block.parameters for key, _ in _RIGID_SETS):
        raise UnsupportedKeyword("a rigid body needs an NSET or ELSET")
    for key, of in _RIGID_SETS:
        if key in block.parameters:
            turning = block.parameters.get("ROTNODE", "")
            reference = block.parameters.get("REFNODE", "")
            rigid = RigidGroup(block.parameters[key], of, reference, turning, (0, 1, 2))
            reading.deck.rigid.append(rigid)


def _take_coupling(reading: Reading, block: Block) -> None:
    axes = block.parameters.get("ORIENTATION", "").upper()
    surface, reference = block.parameter("SURFACE"), block.parameter("REFNODE")
    reading.coupled = Coupled(surface, reference, axes, reading.where(block))


def _take_kinematic(reading: Reading, block: Block) -> None:
    if reading.coupled is None:
        raise UnsupportedKeyword("it stands outside of a *COUPLING")
    surface, reference, axes, _ = reading.coupled
    reading.coupled = None
    components: set[int] = set()
    for line in block.lines:
        first, last = fields(line, 2)
        begin = direction(first)
        end = direction(last) if last else begin
        components |= {k - 1 for k in range(begin, end + 1) if 1 <= k <= 6}
    components = components or {0, 1, 2, 3, 4, 5}
    held, turns = tuple(sorted(components & {0, 1, 2})), tuple(sorted(k - 3 for k in components & {3, 4, 5}))
    if not held:
        raise UnsupportedKeyword("couplings of rotations only are not supported")
    reading.deck.rigid.append(RigidGroup(surface, "surface", reference, "", held, axes, turns))


def _take_mpc(reading: Reading, block: Block) -> None:
    kind, found = "", list[str]()
    for line in block.lines:
        first, *rest = words(line.rstrip().rstrip(","))
        if first.upper() in _MULTI_POINT or not found:
            _add_mpc(reading, kind, found)
            kind, found = first.upper(), []
            if kind not in _MULTI_POINT:
                raise UnsupportedKeyword(f"constraints '{kind}' are not supported")
        else:
            rest = [first, *rest]
        found += rest
    _add_mpc(reading, kind, found)


def _add_mpc(reading: Reading, kind: str, nodes: list[str]) -> None:
    if not kind:
        return
    if kind == "MEANROT":  # of each node there are three, one for each direction; at the end the one that is meant
        nodes = [*nodes[:-1:3], *nodes[-1:]]
    if len(nodes) < _MULTI_POINT[kind]:
        raise ValueError(f"a constraint {kind} has {len(nodes)} nodes, not {_MULTI_POINT[kind]}")
    reading.deck.multi_point.append(MultiPoint(kind, tuple(nodes)))


_MODEL = "before steps"
_RIGID_SETS: tuple[tuple[str, Literal["nodes", "elements"]], ...] = (("NSET", "nodes"), ("ELSET", "elements"))
_MULTI_POINT = {"BEAM": 2, "PIN": 2, "TIE": 2, "MEANROT": 3}  # how many nodes they have at least

CONSTRAINT_KEYWORDS = {
    "EQUATION": Keyword(
        _take_equation, (), "`[[constraint]]`; of rotations of shells and reference nodes without `NLGEOM`", _MODEL
    ),
    "MPC": Keyword(
        _take_mpc,
        (),
        "of beams and shells BEAM, TIE: rigid `[[joint]]`, PIN: spherical; else BEAM, PIN, TIE, MEANROT: "
        "`[[constraint]]`, without `NLGEOM`: two nodes keep their distance, are at one place, or a node has the mean "
        "rotation of others",
        _MODEL,
    ),
    "TIE": Keyword(
        _take_tie,
        ("NAME", "ADJUST", "POSITIONTOLERANCE", "CYCLICSYMMETRY"),
        "`[[constraint]]`: nodes of the first surface are fixed to faces of the second",
        _MODEL,
    ),
    "PRE-TENSIONSECTION": Keyword(
        _take_pretension,
        ("SURFACE", "NODE"),
        "`[[pretension]]`: the body is cut at the surface; the node's first displacement draws both sides together",
        _MODEL,
    ),
    "CYCLICSYMMETRYMODEL": Keyword(
        _take_sector,
        ("N", "NGRAPH", "TIE", "ELSET"),
        "of one *TIE or several with `CYCLIC SYMMETRY`: `[[constraint]]`; in static steps and motions all sectors move "
        "alike",
        _MODEL,
    ),
    "SELECTCYCLICSYMMETRYMODES": Keyword(
        _take_diameters,
        ("NMIN", "NMAX"),
        "one nodal diameter; unless it is 0 or N/2, a second body has imaginary parts",
        "in steps",
        Once("range of nodal diameters", owner="step"),
        has_data=False,
    ),
    "RIGIDBODY": Keyword(
        _take_rigid,
        ("NSET", "ELSET", "REFNODE", "ROTNODE"),
        "`[[constraint]]`, without `NLGEOM`: rotations are small",
        _MODEL,
        has_data=False,
    ),
    "COUPLING": Keyword(
        _take_coupling,
        ("REFNODE", "SURFACE", "CONSTRAINTNAME", "ORIENTATION"),
        "`[[constraint]]`",
        _MODEL,
        has_data=False,
    ),
    "KINEMATIC": Keyword(
        _take_kinematic,
        (),
        "of a coupling: nodes move with the reference node as a rigid body; with `NLGEOM` solids with a node of a beam "
        "or shell (`[[coupling]]`), others without rotation",
        _MODEL,
    ),
}
