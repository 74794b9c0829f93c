"""What a deck says, as data: materials, sections, amplitudes, steps, and what was not understood."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Vector = tuple[float, float, float]
Procedure = Literal["static", "dynamic", "explicit", "frequency", "modal-dynamic", "buckle"]


class Where(NamedTuple):
    """A place in a deck: the file, if it is an included one, and the line."""

    file: str
    line: int

    def __str__(self) -> str:
        """Return it as messages tell it."""
        return f"{self.file}, line {self.line}" if self.file else f"line {self.line}"


DELAYED = " DELAYED BY "  # in names of amplitudes that are later than another one
NOWHERE = Where("", 0)


class Missed(NamedTuple):
    """A keyword that was not understood.

    Attributes
    ----------
    keyword : str
        Without its asterisk; none of lines before the first keyword.
    where : Where
    why : str
    step : int
        The step in which it stands, from 1; 0 before the first.
    is_unknown : bool
        Whether the keyword, a parameter or lines below it are unknown, so that nothing was taken of it. Otherwise it
        is known, and says what cannot be imported.
    """

    keyword: str
    where: Where
    why: str
    step: int
    is_unknown: bool = False

    def __str__(self) -> str:
        """Return it as messages tell it."""
        place = "" if self.where == NOWHERE else f"{self.where}: "
        return f"{place}{'*' if self.keyword else ''}{self.keyword and self.keyword + ': '}{self.why}"


@dataclass
class MaterialData:
    """A material: its law by name with constants, in the units of the deck, as far as the deck gives them."""

    name: str
    where: Where
    young: float | None = None
    poisson: float = 0.0
    stiffness: tuple[float, ...] = ()  # of an anisotropic one, 9 or 21 numbers
    engineering: tuple[float, ...] = ()  # of an orthotropic one, three moduli, ratios and shear moduli
    lamina: tuple[float, ...] = ()  # of one in plane stress, E1, E2, nu12, G12, G13, G23
    formula: str = ""
    constants: dict[str, float] = field(default_factory=dict)
    yields: tuple[tuple[float, float], ...] = ()  # plastic strains and yield stresses of a metal that flows
    metal: dict[str, float] = field(default_factory=dict)  # the keys of a scenario that go with them
    density: float | None = None
    expansions: tuple[tuple[float, float], ...] = ()  # for temperatures, which ascend
    expands_apart: bool = False  # in its directions
    zero: float = 0.0  # the temperature from which strains are counted
    expansion: float | None = None  # at the temperatures of a step
    by_temperature: dict[str, tuple[Where, tuple[tuple[float, ...], ...]]] = field(default_factory=dict)
    alpha: float = 0.0
    beta: float = 0.0

    def set_constants(self, temperature: float | None, heated: Where) -> None:
        """Take constants that are given for several temperatures at one of them.

        Raises
        ------
        UnsupportedKeyword
            If there are several.
        """
        from symplex.decks.reading import UnsupportedKeyword

        for keyword, (where, rows) in self.by_temperature.items():
            if temperature is None:
                raise UnsupportedKeyword(
                    f"{where}: constants of '{self.name}' depend on temperature, which {heated} gives, and there are "
                    "several; one that is the same everywhere and does not change is known"
                )
            table = np.array(rows)
            found = [float(np.interp(temperature, table[:, -1], column)) for column in table[:, :-1].T]
            if keyword == "ELASTIC":
                self.young, self.poisson = found
            else:
                (self.density,) = found

    def require_first(self) -> None:
        """Raise UnsupportedKeyword if, without temperatures, programs take different constants of several ones."""
        from symplex.decks.reading import UnsupportedKeyword

        for where, rows in self.by_temperature.values():
            if rows[0][-1] < 0.0:
                raise UnsupportedKeyword(
                    f"{where}: constants of '{self.name}' depend on temperature, from {rows[0][-1]:g} on; without "
                    "temperatures programs take different ones then"
                )

    def expanded(self, temperatures: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the strain α(T) (T − T_zero) at temperatures."""
        alpha, at = np.array(self.expansions).T
        return np.interp(temperatures, at, alpha) * (temperatures - self.zero)


class Layer(NamedTuple):
    """A layer of a shell: its orientation by name, or "" with an angle in degrees from that of the section."""

    thickness: float
    material: str
    orientation: str
    angle: float


class Section(NamedTuple):
    """Which elements are of which material; of trusses, the area of their cross-section, of flat elements how thick.

    They are as thick as it is said of their nodes, if they are so by nodes. Shells may have layers, from below to
    above, and their nodes above the middle, by an offset in parts of the thickness. Or they are 21 numbers, of membrane
    and bending, with a mass of each unit of area, and three of transverse shear.
    """

    elements: str
    material: str
    area: float | None
    where: Where
    orientation: str = ""
    by_nodes: bool = False
    of_shell: bool = False
    layers: tuple[Layer, ...] = ()
    offset: float = 0.0
    numbers: tuple[float, ...] = ()
    density: float | None = None

    @property
    def materials(self) -> list[str]:
        """The names of its materials, of layers one for each."""
        return [layer.material for layer in self.layers] or ([] if self.numbers else [self.material])

    @property
    def orientations(self) -> list[str]:
        """The names of orientations, its own and those of layers."""
        return [self.orientation, *(layer.orientation for layer in self.layers)]


class BeamSection(NamedTuple):
    """The section of beams: a kind with dimensions in the order of the deck, or "" with A, I11, I22, J and moduli E, G.

    ``first`` is the direction 1 of the section, ``offsets`` are of the nodes from its middle along 1 and 2, in parts of
    its dimensions.
    """

    elements: str
    kind: str
    values: tuple[float, ...]
    first: Vector
    material: str
    moduli: tuple[float, float] | None
    density: float | None
    where: Where
    offsets: tuple[float, float] = (0.0, 0.0)


class Axes(NamedTuple):
    """Axes: the first one, and a direction in the plane of the first two; cylindrical, two points of the axis.

    Of shells ``normal`` is the axis, from 0, that is across them, if it is said.
    """

    first: Vector
    second: Vector
    cylindrical: bool = False
    normal: int | None = None


class Amplitude(NamedTuple):
    """A factor over time, of the step or of the whole deck."""

    times: tuple[float, ...]
    factors: tuple[float, ...]
    total: bool


class Prescribed(NamedTuple):
    """A component of displacement, or of velocity, that nodes have; 0, 1, 2 are x, y, z; 3, 4, 5 rotations."""

    nodes: str
    component: int
    value: float
    amplitude: str
    is_velocity: bool = False
    is_locked: bool = False  # where earlier steps have moved them


class PointForce(NamedTuple):
    """A component of a force on each node of a set; 3, 4, 5 are moments."""

    nodes: str
    component: int
    value: float
    amplitude: str


class FacePressure(NamedTuple):
    """A pressure on a side of elements, on a surface (side 0), or along the normal of shells (None)."""

    elements: str
    side: int | None
    value: float
    amplitude: str


class Weight(NamedTuple):
    """An acceleration of elements by gravity."""

    elements: str
    acceleration: Vector
    amplitude: str


class Spin(NamedTuple):
    """Centrifugal forces on elements that turn about an axis through a point."""

    elements: str
    angular_velocity: Vector
    point: Vector
    amplitude: str


class NodeTemperature(NamedTuple):
    """The temperature of nodes."""

    nodes: str
    value: float
    amplitude: str = ""


class NodeVelocity(NamedTuple):
    """A component of the initial velocity of nodes."""

    nodes: str
    component: int
    value: float


class System(NamedTuple):
    """The local directions of nodes: two points that define them, rectangular or cylindrical."""

    nodes: str
    a: Vector
    b: Vector
    cylindrical: bool


class Term(NamedTuple):
    """A component of displacement of nodes in an equation, times a factor."""

    nodes: str
    component: int
    factor: float


class Tie(NamedTuple):
    """A surface whose nodes stay on faces of another one; without a tolerance those that are near."""

    slave: str
    master: str
    tolerance: float | None
    adjust: bool
    cyclic: bool = False


class Pretension(NamedTuple):
    """A surface at which a body is cut, the node whose first displacement draws both sides together, and the normal.

    Without a normal it is the mean one of the surface.
    """

    surface: str
    node: str
    normal: Vector | None


class Sector(NamedTuple):
    """The number of sectors of a structure of which there is one, and two points of their axis."""

    count: int
    a: Vector
    b: Vector


class RigidGroup(NamedTuple):
    """Nodes of a set, a surface or elements, that move as a rigid body with a reference node in some directions.

    Without a reference node the first of the nodes is it. Its rotation is the displacement of a node, if it is named.
    Nodes with rotations have those of the body in some directions, ``turns``, too.
    """

    nodes: str
    of: Literal["nodes", "surface", "elements"]
    reference: str
    rotation: str
    components: tuple[int, ...]
    axes: str = ""
    turns: tuple[int, ...] = (0, 1, 2)


class ShellNode(NamedTuple):
    """The nodes through the thickness of a shell; there is one between under corners of quadratic elements."""

    below: int
    between: int | None
    above: int


class MultiPoint(NamedTuple):
    """A constraint of a kind: BEAM, PIN, TIE of pairs of nodes; MEANROT, a node has the mean rotation of others."""

    kind: str
    nodes: tuple[str, ...]


class Spring(NamedTuple):
    """The stiffness of springs between two nodes: along their line, or in directions (0, 1, 2) of the first, second.

    Those that are not linear have a table of elongations and forces.
    """

    elements: str
    directions: tuple[int, ...]
    stiffness: float
    where: Where
    table: tuple[tuple[float, float], ...] = ()


class Connector(NamedTuple):
    """Connections of the nodes of elements, by their basic kinds, with the orientations of both ends by name."""

    elements: str
    kinds: tuple[str, ...]
    orientations: tuple[str, str]
    where: Where


class Dashpot(NamedTuple):
    """The viscosity of dampers along the line between two nodes."""

    elements: str
    viscosity: float
    where: Where


class LumpedMass(NamedTuple):
    """The mass of each node of a set of elements."""

    elements: str
    mass: float


class Distributed(NamedTuple):
    """Nodes with weights, or the surface whose mean motion a reference node has.

    The reference node is one by number, or the node of an element of a set; then it moves with the mean, but has no
    rotation.
    """

    weights: tuple[tuple[str, float], ...]
    surface: str | None
    reference: str
    of_element: bool
    axes: str = ""


@dataclass
class Interaction:
    """How surfaces in contact press each other: HARD, LINEAR, EXPONENTIAL, or TIED; and their friction."""

    pressure: str = "HARD"
    stiffness: float | None = None
    clearance: float = 0.0  # within which an exponential pressure falls to a hundredth
    friction: float = 0.0


class ContactPair(NamedTuple):
    """Two surfaces in contact, and to what distance nodes of the first are moved to the second one."""

    slave: str
    master: str
    interaction: str
    adjust: str | None
    where: Where


@dataclass
class Conditions:
    """What supports and loads a step adds, and whether it removes those of earlier steps."""

    prescribed: list[Prescribed] = field(default_factory=list)
    forces: list[PointForce] = field(default_factory=list)
    pressures: list[FacePressure] = field(default_factory=list)
    weights: list[Weight | Spin] = field(default_factory=list)
    temperatures: list[NodeTemperature] = field(default_factory=list)
    new_temperatures: bool = False
    new_supports: bool = False
    new_forces: bool = False
    new_pressures: bool = False


@dataclass
class Step(Conditions):
    """A step of the deck.

    Attributes
    ----------
    number : int
        From 1.
    nonlinear : bool
        Whether displacements may be large.
    dt, period : float
        In the unit of time of the deck.
    modes : int
        How many natural frequencies are asked for.
    diameters : tuple of int, optional
        From which nodal diameter to which one, of structures with cyclic symmetry.
    alpha : float
        Of the method of Hilber, Hughes and Taylor.
    least : float
        The step of an explicit motion to which masses are scaled; 0: they are not.
    ramped : bool or None
        Whether loads without an amplitude grow over the step; by default in static steps only.
    """

    number: int = 0
    where: Where = NOWHERE
    nonlinear: bool = False
    perturbation: bool = False
    procedure: Procedure | None = None
    dt: float = 1.0
    period: float = 1.0
    modes: int = 0
    diameters: tuple[int, int] | None = None
    alpha: float = -0.05
    least: float = 0.0
    ramped: bool | None = None
    rayleigh: tuple[float, float] | None = None
    is_heat: bool = False

    @property
    def is_static(self) -> bool:
        """Whether masses and the way of the loads have no part in it."""
        return self.procedure in ("static", "buckle")

    @property
    def is_motion(self) -> bool:
        """Whether it is computed along time, with masses."""
        return self.procedure in ("dynamic", "explicit", "modal-dynamic")

    @property
    def ramps(self) -> bool:
        """Whether loads without an amplitude grow over the step."""
        return self.is_static if self.ramped is None else self.ramped


@dataclass
class Deck:
    """A deck without its mesh, which is in `mesh`."""

    title: str = ""
    materials: dict[str, MaterialData] = field(default_factory=dict)
    sections: list[Section] = field(default_factory=list)
    beams: list[BeamSection] = field(default_factory=list)
    orientations: dict[str, Axes] = field(default_factory=dict)
    amplitudes: dict[str, Amplitude] = field(default_factory=dict)
    model: Conditions = field(default_factory=Conditions)
    velocities: list[NodeVelocity] = field(default_factory=list)
    initial_temperatures: list[NodeTemperature] = field(default_factory=list)
    copies: dict[int, list[int]] = field(default_factory=dict)  # of nodes of flat elements, those above them
    systems: list[System] = field(default_factory=list)
    thicknesses: list[tuple[str, float]] = field(default_factory=list)  # of elements at nodes
    shells: dict[int, ShellNode] = field(default_factory=dict)  # by the number of the node in the deck
    middles: set[int] = field(default_factory=set)  # numbers of nodes in the middle of shells that the deck has not
    held: list[Prescribed] = field(default_factory=list)  # in all steps, whatever these remove
    pretensions: list[Pretension] = field(default_factory=list)
    equations: list[tuple[Term, ...]] = field(default_factory=list)
    linked: list[tuple[Term, ...]] = field(default_factory=list)  # equations in global directions
    ties: list[Tie] = field(default_factory=list)
    rigid: list[RigidGroup] = field(default_factory=list)
    sector: Sector | None = None
    multi_point: list[MultiPoint] = field(default_factory=list)
    distributed: list[Distributed] = field(default_factory=list)
    interactions: dict[str, Interaction] = field(default_factory=dict)
    contacts: list[ContactPair] = field(default_factory=list)
    springs: list[Spring] = field(default_factory=list)
    dashpots: list[Dashpot] = field(default_factory=list)
    connectors: list[Connector] = field(default_factory=list)
    masses: list[LumpedMass] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    heated: Where | None = None  # where temperatures are given
    missed: list[Missed] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def used(self) -> dict[str, set[str]]:
        """Return the names, in capitals, of what is referred to, by what it is."""
        given = [
            item.amplitude
            for conditions in (self.model, *self.steps)
            for items in (
                conditions.prescribed,
                conditions.forces,
                conditions.pressures,
                conditions.weights,
                conditions.temperatures,
            )
            for item in items
        ]
        axes = [name for section in self.sections for name in section.orientations]
        axes += [one.axes for one in (*self.rigid, *self.distributed)]
        axes += [name for one in self.connectors for name in one.orientations]
        materials = {name.upper() for section in self.sections for name in section.materials}
        materials |= {section.material.upper() for section in self.beams}
        own = [material for name, material in self.materials.items() if name.upper() in materials]
        return {
            "material": materials,
            "expansion": {""} if self.heated else set(),
            "temperature": {""} if any(one.expansions or one.by_temperature for one in own) else set(),
            "orientation": {*axes},
            "amplitude": {*given, *(name.partition(DELAYED)[0] for name in given)},
            "surface interaction": {pair.interaction for pair in self.contacts},
        }

    def over(self) -> dict[int, list[int]]:
        """Return the nodes that flat elements and shells have as solids, by the nodes of the deck."""
        of_shells = {node: [one for one in through if one is not None] for node, through in self.shells.items()}
        return self.copies | of_shells

    @property
    def flows(self) -> bool:
        """Whether a material that is in use is a metal that flows."""
        used = self.used()["material"]
        return any(one.yields for name, one in self.materials.items() if name in used)

    def is_tied(self, pair: ContactPair) -> bool:
        """Return whether surfaces in contact cannot part."""
        found = self.interactions.get(pair.interaction)
        return found is not None and found.pressure == "TIED"

    @property
    def touching(self) -> list[ContactPair]:
        """The surfaces in contact that may part."""
        return [pair for pair in self.contacts if not self.is_tied(pair)]

    @property
    def tied(self) -> list[Tie]:
        """All surfaces that are tied, by ties or by contact."""
        of_contact = [Tie(pair.slave, pair.master, None, False) for pair in self.contacts if self.is_tied(pair)]
        return self.ties + of_contact
