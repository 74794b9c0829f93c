"""The tables and keys of a scenario file.

Every key is SI. A model checks what its table can know; what needs the mesh is checked when the scenario is built.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

from symplex.base.fields import OF_SOLIDS
from symplex.base.quantities import FolderPath, not_negative, whole
from symplex.scenario.actions import Gravity, Rod, Support
from symplex.scenario.beams import BeamTable
from symplex.scenario.bodies import Body
from symplex.scenario.cohesive import CohesiveTable
from symplex.scenario.conditions import WhenTable
from symplex.scenario.contacts import ContactTable
from symplex.scenario.couplings import CouplingTable
from symplex.scenario.cyclic import CyclicTable
from symplex.scenario.damping import DampingTable, DashpotTable, DragTable
from symplex.scenario.equations import ConstraintTable
from symplex.scenario.fit import FitTable
from symplex.scenario.flexible import FlexibleBodyTable
from symplex.scenario.joints import JointTable
from symplex.scenario.loads import LoadTable
from symplex.scenario.mass_scaling import MassScalingTable
from symplex.scenario.messages import place
from symplex.scenario.methods import IntegratorTable, Thermostat
from symplex.scenario.obstacles import ObstacleTable, ShapedTable
from symplex.scenario.pictures import ViewTable
from symplex.scenario.pretension import PretensionTable
from symplex.scenario.probes import ProbeTable
from symplex.scenario.reading import annotation_of
from symplex.scenario.response import ResponseTable
from symplex.scenario.rigid import RigidBodyTable, RigidTable, SurfaceTable
from symplex.scenario.rotating import RotatingFrame
from symplex.scenario.sampling import MOST_FRAMES, Run, Sampled
from symplex.scenario.shells import ShellTable
from symplex.scenario.springs import PointMassTable, SpringTable
from symplex.scenario.stages import StageTable
from symplex.scenario.start import StartTable
from symplex.scenario.table import Entry
from symplex.scenario.temperatures import TemperatureTable
from symplex.scenario.ties import TieTable
from symplex.scenario.trusses import TrussTable
from symplex.scenario.velocities import VelocityTable

E = TypeVar("E", bound=Entry)

# Of bodies, trusses, beams and shells, where they have them.
UsualField = Literal[
    "velocity",
    "rotation",
    "von_mises",
    "axial_force",
    "shear_force_1",
    "shear_force_2",
    "bending_moment_1",
    "bending_moment_2",
    "torque",
    "plastic_rotation",
    "utilization",
    "plastic_work",
    "membrane_forces",
    "bending_moments",
    "transverse_force_1",
    "transverse_force_2",
    "contact_force",
    "contact_pressure",
    "friction_traction",
    "gap",
    "damage",
    "opening",
    "gone",
]
# Of bodies, in each element; with ``nodal_`` before it averaged at nodes.
_OF_SOLIDS = (*(name for name in OF_SOLIDS if name != "von_mises"), *(f"nodal_{name}" for name in OF_SOLIDS))
if TYPE_CHECKING:
    ResultField = str
else:
    SolidField = Literal[_OF_SOLIDS]
    ResultField = Literal[UsualField, SolidField]
_MOST_TIMES = 10_000


class Output(Entry):
    """Where the results go, and which fields, history and pictures there are."""

    of_all = True
    directory: Annotated[
        FolderPath | None,
        "Results folder, in the folder of the scenario; by default `NAME-results` where you are. `--output` takes "
        "precedence.",
    ] = None
    format: Annotated[
        Literal["vtkhdf", "pvd"], 'One file for ParaView ≥ 5.13; or `"pvd"`, many files for any ParaView.'
    ] = "vtkhdf"
    partitioned: Annotated[
        bool | None,
        "A file for each rank ([mpi.md](../mpi.md#frames-and-checkpoints-in-pieces)); by default on several ranks "
        "where a million points are drawn.",
    ] = None
    fields: Annotated[
        list[ResultField],
        "Fields of frames besides the displacement ([outputs.md](../outputs.md)): per node, per member "
        "(`axial_force`), per element, and with `nodal_` averaged at nodes.",
    ] = list(get_args(UsualField))
    frames_at: Annotated[
        list[Annotated[float, not_negative("s")]],
        "Frames besides those of `frames`, at the samples nearest to these times.",
    ] = []
    history_every: Annotated[
        int,
        whole(1, 10 * MOST_FRAMES),
        "A row of the history at each so many samples, at frames and where something begins or ends to act.",
    ] = 1
    pictures: Annotated[bool, "Draw a plot and snapshots at the end, and a film."] = True
    film: Annotated[
        Literal["mp4", "gif", "auto", "none"],
        '`"auto"`: .mp4, where it can be encoded, if it is drawn in a second or a fifth of the time of the run.',
    ] = "auto"
    view: Annotated[ViewTable, "How snapshots and film look."] = ViewTable()

    def _check(self) -> None:
        if len(self.frames_at) > _MOST_TIMES:
            raise ValueError(f"frames_at must have at most {_MOST_TIMES:,} times, got {len(self.frames_at):,}")


@dataclass(frozen=True)
class Tables:
    """All tables of a scenario file: a list is of tables in double brackets, of which there may be several.

    This is the only list of them. Energies and loads are in their order.
    """

    integrator: IntegratorTable
    run: Run
    title: str = ""
    body: list[Body] = field(default_factory=list)
    truss: list[TrussTable] = field(default_factory=list)
    point_mass: list[PointMassTable] = field(default_factory=list)
    flexible_body: list[FlexibleBodyTable] = field(default_factory=list)
    # Those of which nodes are several particles are the last ones of the mesh.
    beam: list[BeamTable] = field(default_factory=list)
    shell: list[ShellTable] = field(default_factory=list)
    spring: list[SpringTable] = field(default_factory=list)
    tie: list[TieTable] = field(default_factory=list)
    cohesive: list[CohesiveTable] = field(default_factory=list)
    constraint: list[ConstraintTable] = field(default_factory=list)
    cyclic: list[CyclicTable] = field(default_factory=list)
    pretension: list[PretensionTable] = field(default_factory=list)
    temperature: list[TemperatureTable] = field(default_factory=list)
    velocity: list[VelocityTable] = field(default_factory=list)
    contact: list[ContactTable] = field(default_factory=list)
    obstacle: list[ObstacleTable] = field(default_factory=list)
    rigid_body: list[RigidBodyTable] = field(default_factory=list)
    support: list[Support] = field(default_factory=list)
    rod: list[Rod] = field(default_factory=list)
    joint: list[JointTable] = field(default_factory=list)
    coupling: list[CouplingTable] = field(default_factory=list)
    damping: list[DampingTable] = field(default_factory=list)
    dashpot: list[DashpotTable] = field(default_factory=list)
    drag: list[DragTable] = field(default_factory=list)
    gravity: Gravity | None = None
    load: list[LoadTable] = field(default_factory=list)
    mass_scaling: MassScalingTable | None = None
    rotating_frame: RotatingFrame | None = None
    thermostat: Thermostat | None = None
    output: Output = field(default_factory=lambda: Output())  # pyright: ignore[reportCallIssue]
    start: StartTable | None = None
    response: ResponseTable | None = None
    fit: FitTable | None = None
    stage: list[StageTable] = field(default_factory=list)
    probe: list[ProbeTable] = field(default_factory=list)
    when: list[WhenTable] = field(default_factory=list)

    def entries(self, of: type[E] = Entry) -> Iterator[tuple[str, E]]:
        """Yield all tables, or those of a class, each with what messages call it."""
        for key, kind in kinds_of(type(self)).items():
            given = getattr(self, key)
            for k, table in enumerate(given if kind.several else [given]):
                if isinstance(table, of):
                    yield table.here or place(key, k if kind.several else None, getattr(table, "name", None)), table

    def within(self, bodies: set[str]) -> dict[str, Any]:
        """Return by key what of all tables acts on some bodies that nothing joins to others."""
        found: dict[str, Any] = {}
        for key, kind in kinds_of(type(self)).items():
            given = getattr(self, key)
            own = [table and table.within(bodies) for table in (given if kind.several else [given])]
            found[key] = [table for table in own if table is not None] if kind.several else own[0]
        return found

    @property
    def integrators(self) -> list[IntegratorTable]:
        """The integrators of all stages, or the only one."""
        return [stage.integrator for stage in self.stage] or [self.integrator]

    @property
    def sampled(self) -> Sequence[Sampled]:
        """The stages of a run: those that are given, or one."""
        return self.stage or [self.run]

    @property
    def shaped(self) -> list[ShapedTable]:
        """The obstacles with a gap in closed form."""
        return [item for item in self.obstacle if not isinstance(item, SurfaceTable)]

    @property
    def surfaces(self) -> list[SurfaceTable]:
        """The obstacles that are rigid surfaces."""
        return [item for item in self.obstacle if isinstance(item, SurfaceTable)]

    @property
    def rigid(self) -> list[RigidTable]:
        """All that follows the particles of a rigid body, in their order: rigid bodies, and surfaces."""
        return [*self.rigid_body, *self.surfaces]

    @property
    def names(self) -> list[str]:
        """The names of all that has nodes in the mesh: bodies, trusses, and point masses at their own places."""
        return [getattr(table, "name", "") for _, table in self.entries() if table.has_nodes]

    @property
    def touching(self) -> list[str]:
        """The names of the bodies that may touch each other, and of rigid ones."""
        return [table.name for table in (*self.body, *self.flexible_body, *self.beam, *self.shell, *self.rigid_body)]


class Kind(NamedTuple):
    """A table of a scenario file.

    Attributes
    ----------
    models : mapping of str to type
        Its class; or those of each ``kind``.
    several : bool
        Whether there may be several, in double brackets.
    needed : bool
    key : str
        How files call it, and the page of the reference.
    """

    models: Mapping[str, type[Entry]]
    several: bool
    needed: bool
    key: str

    @property
    def brings_nodes(self) -> bool:
        """Whether such a table may have nodes that move."""
        return any(model.brings_nodes for model in self.models.values())


@cache
def kinds_of(tables: type[Tables]) -> dict[str, Kind]:
    """Return the tables of a scenario file by key, as the fields of a class declare them."""
    hints, found = get_type_hints(tables), {}
    for item in fields(tables):
        models = [part for part in _classes(hints[item.name]) if issubclass(part, Entry)]
        if len(models) == 1 and annotation_of(models[0], "kind") is str:
            models = models[0].__subclasses__()  # one for each integrator
        if models:
            kinds = [get_args(annotation_of(model, "kind"))[0] for model in models] if len(models) > 1 else [""]
            several = get_origin(hints[item.name]) is list
            by_kind = dict(zip(kinds, models, strict=True))
            found[item.name] = Kind(by_kind, several, item.default is item.default_factory, item.name)  # MISSING
    return found


def _classes(annotation: Any) -> list[type]:
    return (
        [annotation] if isinstance(annotation, type) else [x for part in get_args(annotation) for x in _classes(part)]
    )
