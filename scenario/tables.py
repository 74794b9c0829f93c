"""The tables and keys of a scenario file.

Every key is SI. A model checks what its table can know; what needs the mesh is checked when the scenario is built.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Literal, get_args

from pydantic import Field

from symplex.base.fields import OF_SOLIDS
from symplex.base.quantities import FilePath, not_negative, whole
from symplex.scenario.actions import (
    CentrifugalLoadTable,
    Gravity,
    GravityLoadTable,
    LoadTable,
    NodalLoadTable,
    PressureTable,
    Rod,
    Support,
    Timed,
    TractionTable,
)
from symplex.scenario.body_tables import Body
from symplex.scenario.contacts import ContactTable
from symplex.scenario.damping import DampingTable, DashpotTable, DragTable
from symplex.scenario.equations import ConstraintTable
from symplex.scenario.methods import METHODS, IntegratorTable, Thermostat
from symplex.scenario.obstacles import OBSTACLES, ObstacleTable, ShapedTable
from symplex.scenario.pictures import ViewTable
from symplex.scenario.probes import ProbeTable
from symplex.scenario.response import ResponseTable
from symplex.scenario.rigid import RigidBodyTable, RigidTable, SurfaceTable
from symplex.scenario.rotating import RotatingFrame
from symplex.scenario.sampling import MOST_FRAMES, Run, Sampled
from symplex.scenario.springs import PointMassTable, SpringTable
from symplex.scenario.stages import StageTable
from symplex.scenario.start import STARTS, StartTable
from symplex.scenario.table import Table
from symplex.scenario.ties import TieTable
from symplex.scenario.trusses import TrussTable
from symplex.scenario.velocities import VelocityTable

# Of bodies and trusses; the last two where bodies touch each other.
UsualField = Literal["velocity", "von_mises", "axial_force", "contact_force", "contact_pressure", "gap"]
# Of bodies, in each element; with ``nodal_`` before it averaged at nodes.
_OF_SOLIDS = (*(name for name in OF_SOLIDS if name != "von_mises"), *(f"nodal_{name}" for name in OF_SOLIDS))
if TYPE_CHECKING:
    ResultField = str
else:
    SolidField = Literal[_OF_SOLIDS]
    ResultField = Literal[UsualField, SolidField]
_MOST_TIMES = 10_000


class Output(Table):
    """Where the results go, and which."""

    directory: FilePath | None = None
    format: Literal["vtkhdf", "pvd"] = "vtkhdf"
    partitioned: bool | None = None
    fields: list[ResultField] = Field(default=list(get_args(UsualField)))
    frames_at: list[Annotated[float, not_negative("s")]] = Field(default=[], max_length=_MOST_TIMES)
    history_every: Annotated[int, whole(1, 10 * MOST_FRAMES)] = 1
    pictures: bool = True
    film: Literal["mp4", "gif", "auto", "none"] = "auto"
    view: ViewTable = Field(default_factory=ViewTable)


@dataclass(frozen=True)
class Tables:
    """All tables of a scenario file."""

    integrator: IntegratorTable
    run: Run
    title: str = ""
    body: list[Body] = field(default_factory=list)
    truss: list[TrussTable] = field(default_factory=list)
    point_mass: list[PointMassTable] = field(default_factory=list)
    spring: list[SpringTable] = field(default_factory=list)
    tie: list[TieTable] = field(default_factory=list)
    constraint: list[ConstraintTable] = field(default_factory=list)
    velocity: list[VelocityTable] = field(default_factory=list)
    obstacle: list[ObstacleTable] = field(default_factory=list)
    rigid_body: list[RigidBodyTable] = field(default_factory=list)
    contact: list[ContactTable] = field(default_factory=list)
    support: list[Support] = field(default_factory=list)
    rod: list[Rod] = field(default_factory=list)
    damping: list[DampingTable] = field(default_factory=list)
    dashpot: list[DashpotTable] = field(default_factory=list)
    drag: list[DragTable] = field(default_factory=list)
    gravity: Gravity | None = None
    rotating_frame: RotatingFrame | None = None
    load: list[LoadTable] = field(default_factory=list)
    thermostat: Thermostat | None = None
    output: Output = field(default_factory=Output)
    start: StartTable | None = None
    response: ResponseTable | None = None
    stage: list[StageTable] = field(default_factory=list)
    probe: list[ProbeTable] = field(default_factory=list)

    @property
    def integrators(self) -> list[IntegratorTable]:
        """The integrators of all stages, or the only one."""
        return [stage.integrator for stage in self.stage] or [self.integrator]

    @property
    def sampled(self) -> Sequence[Sampled]:
        """The stages of a run: those that are given, or one."""
        return self.stage or [self.run]

    @property
    def timed(self) -> list[Timed]:
        """What may act for a part of the run only."""
        gravity = [] if self.gravity is None else [self.gravity]
        return [*self.support, *self.load, *gravity, *self.damping, *self.dashpot, *self.drag]

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
    def moving_rigidly(self) -> list[ObstacleTable | RigidBodyTable]:
        """The obstacles and rigid bodies that move, freely or in a given way."""
        return [item for item in (*self.obstacle, *self.rigid_body) if item.is_free or item.is_driven]

    @property
    def names(self) -> list[str]:
        """The names of all that has nodes in the mesh: bodies, trusses, and point masses at points of their own."""
        points = [table.name for table in self.point_mass if table.has_node]
        return [*(body.name for body in self.body), *(truss.name for truss in self.truss), *points]

    @property
    def constant_forces(self) -> list[str]:
        """The names of the energies of gravity and of loads that have a potential."""
        gravity = ["gravity"] if self.gravity is not None else []
        return [*gravity, *(load.name for load in self.load if load.has_potential)]


# For each table its model, or its models by ``kind``; those in double brackets, of which there may be several.
MODELS: dict[str, type[Table] | Mapping[str, type[Table]]] = {
    "body": Body,
    "truss": TrussTable,
    "point_mass": PointMassTable,
    "spring": SpringTable,
    "tie": TieTable,
    "constraint": ConstraintTable,
    "velocity": VelocityTable,
    "obstacle": OBSTACLES,
    "rigid_body": RigidBodyTable,
    "contact": ContactTable,
    "support": Support,
    "rod": Rod,
    "damping": DampingTable,
    "dashpot": DashpotTable,
    "drag": DragTable,
    "gravity": Gravity,
    "rotating_frame": RotatingFrame,
    "load": {
        "nodal": NodalLoadTable,
        "traction": TractionTable,
        "pressure": PressureTable,
        "gravity": GravityLoadTable,
        "centrifugal": CentrifugalLoadTable,
    },
    "integrator": METHODS,
    "thermostat": Thermostat,
    "run": Run,
    "output": Output,
    "start": STARTS,
    "response": ResponseTable,
    "stage": StageTable,
    "probe": ProbeTable,
}
WITH_NODES = ("body", "truss", "point_mass", "rigid_body")  # of which one must be there
SEVERAL = (
    *WITH_NODES,
    "spring",
    "tie",
    "constraint",
    "velocity",
    "obstacle",
    "contact",
    "support",
    "rod",
    *("damping", "dashpot", "drag"),
    "load",
    "stage",
    "probe",
)
NEEDED = ("integrator", "run")
