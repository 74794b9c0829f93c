"""The tables and keys of a scenario file.

Every key is SI. A model checks what its table can know; what needs the mesh is checked when the scenario is built.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, get_args

from pydantic import Field, model_validator

from symplex.errors import MaterialError
from symplex.fem.solids.constitutive import Material
from symplex.fem.solids.formula import material
from symplex.fem.solids.formula_syntax import LONGEST
from symplex.fem.solids.formula_table import LAWS
from symplex.fem.solids.materials import LinearElastic, MooneyRivlin, NeoHookean, SaintVenantKirchhoff
from symplex.scenario.actions import (
    Gravity,
    LoadTable,
    NodalLoadTable,
    PressureTable,
    Rod,
    Support,
    Timed,
    TractionTable,
)
from symplex.scenario.contacts import ContactTable
from symplex.scenario.damping import DampingTable, DashpotTable, DragTable, ViscousKeys
from symplex.scenario.equations import ConstraintTable
from symplex.scenario.methods import METHODS, IntegratorTable, Thermostat
from symplex.scenario.obstacles import OBSTACLES, ObstacleTable, ShapedTable
from symplex.scenario.quantities import (
    ZERO,
    FilePath,
    Name,
    Quantity,
    Rotation,
    Table,
    Text,
    Triple,
    check_text,
    counts,
    listed,
    number,
    one_of,
    positive,
    shown,
    vector,
)
from symplex.scenario.rigid import RigidBodyTable, RigidTable, SurfaceTable
from symplex.scenario.sampling import Sampled
from symplex.scenario.springs import PointMassTable, SpringTable
from symplex.scenario.stages import StageTable
from symplex.scenario.start import STARTS, StartTable
from symplex.scenario.ties import TieTable
from symplex.scenario.trusses import TrussTable
from symplex.scenario.velocities import VelocityTable

_LIGHTEST = 1e-3  # kg/m³, far below any solid: densities in t/mm³ or g/mm³ are smaller

# -- bodies -------------------------------------------------------------------------------------------------------


def _corners(value: Any) -> tuple[Triple, Triple]:
    """Return two opposite corners of a box, the lower one first."""
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise ValueError(f"is {shown(value)}, must be two corners of a box, [[x, y, z], [x, y, z]] (m)")
    low, high = (vector("m").check(corner) for corner in value)
    if any(a >= b for a, b in zip(low, high, strict=True)):
        raise ValueError(f"is {shown(value)}, must be the lower corner of a box and the upper one, in each direction")
    return low, high


class MeshTable(Table):
    """Where a mesh comes from: ``file``, ``bundled``, ``cube``, or ``box`` with ``cells`` and ``split``."""

    file: FilePath | None = None
    bundled: Text | None = None
    cube: Literal["I", "II", "III"] | None = None
    box: Annotated[Triple | None, vector("m")] = None
    cells: Annotated[tuple[int, int, int] | None, counts(2**31 - 1)] = None
    split: Literal["24", "6", "hexahedra", "body-centred", "wedges", "pyramids"] = "24"
    regions: dict[Text, Annotated[tuple[Triple, Triple], Quantity(_corners, "m")]] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _from_file_name(cls, value: Any) -> Any:
        if isinstance(value, str):
            return {"file": value}
        return value

    @model_validator(mode="after")
    def _check(self) -> MeshTable:
        source = self.source
        if source == "box" and self.cells is None:
            raise ValueError("box needs cells, the number of cells each way, such as cells = [4, 4, 4]")
        if source != "box" and self.cells is not None:
            raise ValueError(f"cells goes with box, not with {source}")
        if self.box is not None and min(self.box) <= 0:
            raise ValueError(f"box is {list(self.box)}, must be three positive lengths (m)")
        return self

    @property
    def source(self) -> str:
        """Which of the sources is given."""
        return one_of(self, ["file", "bundled", "cube", "box"], "source")


_LAWS = {
    "neo-hookean": NeoHookean,
    "saint-venant-kirchhoff": SaintVenantKirchhoff,
    "linear-elastic": LinearElastic,
}


def _is_formula(law: Any) -> bool:
    """Return whether a law is a formula, or one of the table of formulas, and not a name."""
    return isinstance(law, str) and (law.strip() in LAWS or not re.fullmatch(r"[a-z-]*", law))


def _law(value: Any) -> str:
    """Return the name of a law that is known, or a formula."""
    law = check_text(value, LONGEST).strip()
    if not _is_formula(law) and law not in _LAWS and law != "mooney-rivlin":
        raise ValueError(
            f"is {shown(law)}; known are {listed([*_LAWS, 'mooney-rivlin', *LAWS])}, and formulas of I1 … J"
        )
    return law


def _fibres(value: Any) -> tuple[Triple, ...]:
    """Return one or two directions."""
    several = value if isinstance(value, list) and value and isinstance(value[0], list) else [value]
    if len(several) > 2:
        raise ValueError(f"are {len(several)} directions; at most two families of fibres are known")
    directions = tuple(vector("1").check(direction) for direction in several)
    if not all(any(direction) for direction in directions):
        raise ValueError("have a direction that is zero")
    return directions


class MaterialTable(ViscousKeys):
    """A material: a law by name, or the formula of its strain energy, and its constants.

    Laws of small strains have Lamé's constants or Young's modulus and Poisson's ratio. The constants of a formula are
    keys like others, and `constants` here.
    """

    law: Annotated[str, Quantity(_law)] = "neo-hookean"
    density: Annotated[float, positive("kg/m³")]
    lmbda: Annotated[float | None, number("Pa")] = Field(None, alias="lambda")
    mu: Annotated[float | None, positive("Pa")] = None
    young: Annotated[float | None, positive("Pa")] = None
    poisson: Annotated[float | None, number("1")] = None
    c10: Annotated[float | None, number("Pa")] = None
    c01: Annotated[float | None, number("Pa")] = None
    bulk: Annotated[float | None, positive("Pa")] = None
    constants: dict[str, Annotated[float, number("")]] = Field(default_factory=dict)
    fibres: Annotated[tuple[Triple, ...], Quantity(_fibres)] = ()

    @model_validator(mode="before")
    @classmethod
    def _constants_of_a_formula(cls, value: Any) -> Any:
        if not isinstance(value, dict) or not _is_formula(value.get("law")):
            return value
        own = {"law", "density", "fibres", *ViscousKeys.model_fields}
        constants = {"lmbda" if key == "lambda" else key: given for key, given in value.items() if key not in own}
        return {key: given for key, given in value.items() if key in own} | {"constants": constants}

    @model_validator(mode="after")
    def _check(self) -> MaterialTable:
        if self.density < _LIGHTEST:
            raise ValueError(
                f"has a density of {self.density:g} kg/m³, lighter than any solid; "
                f"from t/mm³ it is {self.density * 1e12:g} kg/m³"
            )
        try:
            self.material()
        except MaterialError as error:
            reason = str(error) if _is_formula(self.law) else str(error).partition(": ")[2]
            raise ValueError(f"is impossible: {reason.rstrip('.')}") from None
        return self

    def material(self) -> Material:
        """Return the material."""
        if _is_formula(self.law):
            return material(self.law, density=self.density, fibres=self.fibres or None, **self.constants)
        names = ("lmbda", "mu", "young", "poisson", "c10", "c01", "bulk")
        given: dict[str, float] = {name: value for name in names if (value := getattr(self, name)) is not None}
        if self.fibres or self.constants:
            raise ValueError(f"of the law '{self.law}' has no fibres, and no other constants than its own")
        if self.law == "mooney-rivlin":
            if set(given) != {"c10", "c01", "bulk"}:
                raise ValueError("of the law 'mooney-rivlin' needs c10, c01 and bulk, and no other constants")
            return MooneyRivlin(**given, density=self.density)
        law = _LAWS[self.law]
        if set(given) == {"lmbda", "mu"}:
            return law(**given, density=self.density)
        if set(given) == {"young", "poisson"}:
            return law.from_young(E=given["young"], nu=given["poisson"], density=self.density)
        raise ValueError("needs either lambda and mu, or young and poisson")


class Instance(Table):
    """A copy of a body, turned and moved from where that is."""

    name: Name
    rotate: Rotation | None = None
    translate: Annotated[Triple, vector("m")] = ZERO
    velocity: Annotated[Triple | None, vector("m/s")] = None
    angular_velocity: Annotated[Triple | None, vector("rad/s")] = None


class Body(Table):
    """A deformable body, or several copies of it."""

    name: Name
    mesh: MeshTable
    material: MaterialTable | None = None
    materials: dict[Text, MaterialTable] | None = None
    group: Text | None = None
    scale: Annotated[float, positive("m per unit of the file")] = 1.0
    repair: bool = False
    rotate: Rotation | None = None
    translate: Annotated[Triple, vector("m")] = ZERO
    velocity: Annotated[Triple, vector("m/s")] = ZERO
    angular_velocity: Annotated[Triple, vector("rad/s")] = ZERO
    mass: Literal["lumped", "consistent"] = "lumped"
    massless: Text | None = None
    quadratic: bool = False
    formulation: Literal["full", "stabilized", "mean-dilatation", "reduced", "standard"] | None = None
    instance: list[Instance] = Field(default_factory=list)

    @model_validator(mode="after")
    def _check(self) -> Body:
        if self.material is None and self.materials is None:
            raise ValueError("material is missing; give one, or materials by groups of the mesh")
        if self.material is not None and self.materials is not None:
            raise ValueError("has material and materials; give one for all elements, or those by groups")
        if self.materials == {}:
            raise ValueError("materials is empty; give a material for each group of elements")
        return self

    @property
    def instances(self) -> list[Body]:
        """The bodies that it stands for: itself, or, each with one instance, these, with velocities of their own."""
        if not self.instance:
            return [self]
        return [
            self.model_copy(
                update={
                    "name": copy.name,
                    "instance": [copy],
                    "velocity": self.velocity if copy.velocity is None else copy.velocity,
                    "angular_velocity": (
                        self.angular_velocity if copy.angular_velocity is None else copy.angular_velocity
                    ),
                }
            )
            for copy in self.instance
        ]

    @property
    def material_of_group(self) -> dict[str | None, MaterialTable]:
        """The material of each group of elements; of all elements by None, if there is only one."""
        if self.material is not None:
            return {None: self.material}
        return {group: material for group, material in (self.materials or {}).items()}

    @property
    def solid_formulation(self) -> Literal["full", "stabilized", "mean-dilatation", "reduced"] | None:
        """That of `symplex.Solid`; ``"standard"`` is what earlier versions called full integration."""
        return "full" if self.formulation == "standard" else self.formulation


# -- how it runs --------------------------------------------------------------------------------------------------


class Run(Sampled):
    """How long, and how often something is stored, all stages together; and checkpoints."""

    checkpoint: Annotated[float, positive("s of wall time")] = 15.0


# Of bodies and trusses; the last two where bodies touch each other.
OutputField = Literal["velocity", "von_mises", "axial_force", "contact_force", "contact_pressure", "gap"]


class Output(Table):
    """Where the results go, and which."""

    directory: FilePath | None = None
    format: Literal["vtkhdf", "pvd"] = "vtkhdf"
    fields: list[OutputField] = Field(default=list(get_args(OutputField)))
    pictures: bool = True
    film: Literal["mp4", "gif", "auto", "none"] = "auto"


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
    load: list[LoadTable] = field(default_factory=list)
    thermostat: Thermostat | None = None
    output: Output = field(default_factory=Output)
    start: StartTable | None = None
    stage: list[StageTable] = field(default_factory=list)

    @property
    def integrators(self) -> list[IntegratorTable]:
        """The integrators of all stages, or the only one."""
        return [stage.integrator for stage in self.stage] or [self.integrator]

    @property
    def timed(self) -> list[Timed]:
        """What may act for a part of the run only."""
        return [*self.support, *self.load, *([self.gravity] if self.gravity is not None else [])]

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
MODELS: dict[str, type[Table] | dict[str, type[Table]]] = {
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
    "load": {"nodal": NodalLoadTable, "traction": TractionTable, "pressure": PressureTable},
    "integrator": METHODS,
    "thermostat": Thermostat,
    "run": Run,
    "output": Output,
    "start": STARTS,
    "stage": StageTable,
}
WITH_NODES = ("body", "truss", "point_mass")  # of which one must be there
SEVERAL = (
    *WITH_NODES,
    "spring",
    "tie",
    "constraint",
    "velocity",
    "obstacle",
    "rigid_body",
    "contact",
    "support",
    "rod",
    *("damping", "dashpot", "drag"),
    "load",
    "stage",
)
NEEDED = ("integrator", "run")
