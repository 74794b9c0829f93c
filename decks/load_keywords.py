"""Keywords of supports, loads, and the motion at the start."""

from __future__ import annotations

from itertools import pairwise

from symplex.decks.deck import (
    DELAYED,
    Amplitude,
    Conditions,
    FacePressure,
    NodeTemperature,
    NodeVelocity,
    PointForce,
    Prescribed,
    Spin,
    Weight,
)
from symplex.decks.reading import (
    HEAT,
    Keyword,
    Once,
    Reading,
    UnsupportedKeyword,
    direction,
    fields,
    real,
    reals,
    words,
)
from symplex.meshes.formats.abaqus_deck import Block

# Abaqus' names of supports: the displacements that they hold, and from 3 on the rotations.
_NAMED = {
    "ENCASTRE": (0, 1, 2, 3, 4, 5), "PINNED": (0, 1, 2), "XSYMM": (0, 4, 5), "YSYMM": (1, 3, 5), "ZSYMM": (2, 3, 4),
    "XASYMM": (1, 2, 3), "YASYMM": (0, 2, 4), "ZASYMM": (0, 1, 5),
}  # fmt: skip


def _take_amplitude(reading: Reading, block: Block) -> None:
    definition = block.parameters.get("DEFINITION", "TABULAR").upper()
    if definition != "TABULAR":
        raise UnsupportedKeyword(f"amplitudes with DEFINITION='{definition}' are not supported")
    values = reals(",".join(line.rstrip(",") for line in block.lines))
    times, factors = values[::2], values[1::2]
    if len(times) != len(factors) or not times or any(b <= a for a, b in pairwise(times)):
        raise UnsupportedKeyword("its times do not ascend, or have no factors")
    total = block.parameters.get("TIME", "STEPTIME").upper().replace(" ", "") == "TOTALTIME"
    name = block.parameter("NAME").upper()
    reading.deck.amplitudes[name] = Amplitude(tuple(times), tuple(factors), total)


def _begin(reading: Reading, block: Block, conditions: Conditions, what: str) -> str:
    """Return the name of an amplitude, "" for none, and note whether earlier conditions are removed."""
    if block.parameters.get("OP", "MOD").upper() == "NEW":
        setattr(conditions, f"new_{what}", True)
    name = block.parameters.get("AMPLITUDE", "").upper()
    return _delayed(reading, name, block.parameters["TIMEDELAY"]) if "TIMEDELAY" in block.parameters else name


def _delayed(reading: Reading, name: str, delay: str) -> str:
    """Return the name of an amplitude that is later than another one, which stands before it."""
    amplitudes = reading.deck.amplitudes
    if name not in amplitudes:
        raise UnsupportedKeyword("a TIME DELAY without an amplitude before it is not supported")
    new = f"{name}{DELAYED}{delay}"
    course = amplitudes[name]
    amplitudes[new] = course._replace(times=tuple(t + real(delay) for t in course.times))
    return new


def _take_boundary(reading: Reading, block: Block) -> None:
    kind = block.parameters.get("TYPE", "DISPLACEMENT").upper()
    if kind not in ("DISPLACEMENT", "VELOCITY"):
        raise UnsupportedKeyword(f"supports with TYPE='{kind}' are not supported")
    if kind == "VELOCITY" and len(reading.deck.steps) > 1:
        raise UnsupportedKeyword("velocities of supports after the first step are not supported")
    is_locked = "FIXED" in block.parameters and len(reading.deck.steps) > 1
    conditions = reading.conditions
    amplitude = _begin(reading, block, conditions, "supports")
    for line in block.lines:
        nodes, *rest = words(line)
        if rest and rest[0].upper() in _NAMED:
            fields(line, 2)
            conditions.prescribed += [
                Prescribed(nodes, c, 0.0, "", is_locked=is_locked) for c in _NAMED[rest[0].upper()]
            ]
            continue
        _, *rest = fields(line, 4)
        if direction(rest[0]) == HEAT:
            if any(material.expansions for material in reading.deck.materials.values()):
                raise UnsupportedKeyword("thermal strains of temperatures as supports are not supported")
            reading.deck.heated = reading.where(block)
            reading.account.add_without_meaning(block.path, block.line, block.last)
            continue
        first = direction(rest[0])
        last = direction(rest[1]) if rest[1] else first
        value = real(rest[2]) if rest[2] and "FIXED" not in block.parameters else 0.0
        if last > 6:
            raise UnsupportedKeyword(f"degree of freedom {last} is not supported")
        conditions.prescribed += [
            Prescribed(nodes, k - 1, value, amplitude if value else "", bool(value) and kind == "VELOCITY", is_locked)
            for k in range(first, last + 1)
        ]


def _take_cload(reading: Reading, block: Block) -> None:
    conditions = reading.step
    amplitude = _begin(reading, block, conditions, "forces")
    for line in block.lines:
        nodes, component, value = fields(line, 3)
        if not 1 <= direction(component) <= 6:
            raise UnsupportedKeyword(f"degree of freedom {component} is not supported")
        conditions.forces.append(PointForce(nodes, int(component) - 1, real(value) if value else 0.0, amplitude))


def _take_dload(reading: Reading, block: Block) -> None:
    conditions = reading.step
    amplitude = _begin(reading, block, conditions, "pressures")
    for line in block.lines:
        elements, label, *rest = *words(line), ""
        label = label.upper()
        values = [real(word) if word else 0.0 for word in rest]
        fields(line, 2 + {"GRAV": 4, "CENTRIF": 7}.get(label, 1))
        if label == "GRAV" and len(values) >= 4:
            size = sum(x * x for x in values[1:4]) ** 0.5
            if not size:
                raise UnsupportedKeyword("the direction of GRAV is zero")
            x, y, z = (values[0] * v / size for v in values[1:4])
            conditions.weights.append(Weight(elements, (x, y, z), amplitude))
        elif label == "CENTRIF" and len(values) >= 7:
            size = sum(x * x for x in values[4:7]) ** 0.5
            if not size or values[0] < 0.0:
                raise UnsupportedKeyword("CENTRIF has no axis, or a negative square of the angular velocity")
            x, y, z = (values[0] ** 0.5 * v / size for v in values[4:7])
            conditions.weights.append(Spin(elements, (x, y, z), (values[1], values[2], values[3]), amplitude))
        elif label[:1] == "P" and label[1:] in ("1", "2", "3", "4", "5", "6") and values:
            conditions.pressures.append(FacePressure(elements, int(label[1:]), values[0], amplitude))
        elif label == "P" and values:
            conditions.pressures.append(FacePressure(elements, None, values[0], amplitude))
        else:
            raise UnsupportedKeyword(f"loads '{label}' are not supported")


def _take_dsload(reading: Reading, block: Block) -> None:
    conditions = reading.step
    amplitude = _begin(reading, block, conditions, "pressures")
    for line in block.lines:
        surface, label, size = fields(line, 3)
        if label.upper() != "P" or not size:
            raise UnsupportedKeyword(f"loads '{label.upper()}' on surfaces are not supported")
        conditions.pressures.append(FacePressure(surface, 0, real(size), amplitude))


def _take_initial(reading: Reading, block: Block) -> None:
    kind = block.parameters.get("TYPE", "").upper()
    if reading.deck.steps and (kind != "TEMPERATURE" or not reading.in_step or len(reading.deck.steps) > 1):
        raise UnsupportedKeyword("it must be before the first *STEP")
    if kind == "TEMPERATURE":  # from which strains are counted
        reading.deck.heated = reading.where(block)
        reading.keep_without_name("temperature", block)
        reading.deck.initial_temperatures += [NodeTemperature(*_temperature(line)) for line in block.lines]
        return
    still = kind == "DISPLACEMENT" and not any(real(fields(line, 3)[2] or "0") for line in block.lines)
    if kind != "VELOCITY" and not still:
        raise UnsupportedKeyword(f"initial conditions with TYPE='{kind}' are not supported")
    for line in block.lines:
        nodes, component, value = fields(line, 3)
        if not 1 <= direction(component) <= 3:
            raise UnsupportedKeyword(f"degree of freedom {component} is not supported")
        if still:
            continue
        reading.deck.velocities.append(NodeVelocity(nodes, int(component) - 1, real(value)))


def _take_temperature(reading: Reading, block: Block) -> None:
    conditions = reading.step
    amplitude = _begin(reading, block, conditions, "temperatures")
    reading.deck.heated = reading.where(block)
    reading.keep_without_name("temperature", block)
    conditions.temperatures += [NodeTemperature(*_temperature(line), amplitude) for line in block.lines]


def _temperature(line: str) -> tuple[str, float]:
    """Return nodes and their temperature."""
    nodes, value, *gradients = *words(line.rstrip().rstrip(",")), "", ""
    if any(word and real(word) for word in gradients):
        raise UnsupportedKeyword("temperatures that differ across shells or beams are not supported")
    return nodes, real(value) if value else 0.0


LOAD_KEYWORDS = {
    "AMPLITUDE": Keyword(
        _take_amplitude, ("NAME", "TIME", "DEFINITION"), "a `history` of kind `table`", once=Once("amplitude", "NAME")
    ),
    "BOUNDARY": Keyword(
        _take_boundary,
        ("OP", "AMPLITUDE", "TIMEDELAY", "TYPE", "FIXED", "NAME"),
        "a `[[support]]`, moved where a value is given; `TYPE=VELOCITY` in motions, constant",
        "before or in steps",
    ),
    "CLOAD": Keyword(_take_cload, ("OP", "AMPLITUDE", "TIMEDELAY"), "a nodal `[[load]]`", "in steps"),
    "DLOAD": Keyword(
        _take_dload,
        ("OP", "AMPLITUDE", "TIMEDELAY"),
        "P1 … P6, of shells P: a pressure, in linear steps a traction of the same size; GRAV: `[gravity]`, or a "
        "`[[load]]` of kind `gravity`; CENTRIF: of kind `centrifugal`",
        "in steps",
    ),
    "DSLOAD": Keyword(
        _take_dsload,
        ("OP", "AMPLITUDE", "TIMEDELAY"),
        "P: a pressure, in linear steps a traction of the same size",
        "in steps",
    ),
    "INITIALCONDITIONS": Keyword(
        _take_initial,
        ("TYPE",),
        "VELOCITY: `[[velocity]]`, at most 300 different ones; TEMPERATURE: those without thermal strains; "
        "DISPLACEMENT of 0",
        "before or in steps",
    ),
    "TEMPERATURE": Keyword(
        _take_temperature,
        ("OP", "AMPLITUDE", "TIMEDELAY"),
        "`[[temperature]]`, for each body one or by nodes in a file; of beams and shells one",
        "in steps",
    ),
}
