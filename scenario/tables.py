"""The tables and keys of a scenario file.

Every key is SI. A model checks what its table can know; what needs the mesh is checked when the scenario is built.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from symplex.errors import MaterialError
from symplex.fem.solids.materials import LinearElastic, Material, MooneyRivlin, NeoHookean, SaintVenantKirchhoff
from symplex.scenario.actions import Gravity, LoadTable, NodalLoadTable, PressureTable, Rod, Support, TractionTable
from symplex.scenario.methods import METHODS, IntegratorTable, Thermostat
from symplex.scenario.obstacles import OBSTACLES, ObstacleTable, SphereTable
from symplex.scenario.quantities import (
    ZERO,
    FilePath,
    Name,
    Rotation,
    Table,
    Text,
    Triple,
    counts,
    number,
    one_of,
    positive,
    vector,
    whole,
)
from symplex.time.totals import ALL_TOTALS

_MOST_FRAMES = 10**6
ROUNDING = 1e-12  # by how much a step may be longer than it should
_LIGHTEST = 1e-3  # kg/m³, far below any solid: densities in t/mm³ or g/mm³ are smaller

# -- bodies -------------------------------------------------------------------------------------------------------


class MeshTable(Table):
    """Where a mesh comes from: ``file``, ``bundled``, ``cube``, or ``box`` with ``cells`` and ``split``."""

    file: FilePath | None = None
    bundled: Text | None = None
    cube: Literal["I", "II", "III"] | None = None
    box: Annotated[Triple | None, vector("m")] = None
    cells: Annotated[tuple[int, int, int] | None, counts(2**31 - 1)] = None
    split: Literal["24", "6", "hexahedra", "body-centred"] = "24"

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


class MaterialTable(Table):
    """A material by Lamé's constants or by Young's modulus and Poisson's ratio; rubber by Mooney and Rivlin's."""

    law: Literal["neo-hookean", "saint-venant-kirchhoff", "linear-elastic", "mooney-rivlin"] = "neo-hookean"
    density: Annotated[float, positive("kg/m³")]
    lmbda: Annotated[float | None, number("Pa")] = Field(None, alias="lambda")
    mu: Annotated[float | None, positive("Pa")] = None
    young: Annotated[float | None, positive("Pa")] = None
    poisson: Annotated[float | None, number("1")] = None
    c10: Annotated[float | None, number("Pa")] = None
    c01: Annotated[float | None, number("Pa")] = None
    bulk: Annotated[float | None, positive("Pa")] = None

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
            reason = str(error).partition(": ")[2].rstrip(".")
            raise ValueError(f"is impossible: {reason}") from None
        return self

    def material(self) -> Material:
        """Return the material."""
        names = ("lmbda", "mu", "young", "poisson", "c10", "c01", "bulk")
        given: dict[str, float] = {name: value for name in names if (value := getattr(self, name)) is not None}
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


class Body(Table):
    """A deformable body."""

    name: Name
    mesh: MeshTable
    material: MaterialTable
    group: Text | None = None
    scale: Annotated[float, positive("m per unit of the file")] = 1.0
    repair: bool = False
    rotate: Rotation | None = None
    translate: Annotated[Triple, vector("m")] = ZERO
    velocity: Annotated[Triple, vector("m/s")] = ZERO
    angular_velocity: Annotated[Triple, vector("rad/s")] = ZERO
    mass: Literal["lumped", "consistent"] = "lumped"
    quadratic: bool = False
    formulation: Literal["standard"] | None = None


# -- how it runs --------------------------------------------------------------------------------------------------


class Run(Table):
    """How long, and how often something is stored."""

    duration: Annotated[float, positive("s")]
    frames: Annotated[int, whole(1, _MOST_FRAMES)] = 60
    samples: Annotated[int | None, whole(1, 10 * _MOST_FRAMES)] = None
    checkpoint: Annotated[float, positive("s of wall time")] = 15.0

    @model_validator(mode="after")
    def _check(self) -> Run:
        if self.n_samples % self.frames:
            near = max(round(self.n_samples / self.frames), 1) * self.frames
            raise ValueError(f"samples is {self.samples}, must be a multiple of frames = {self.frames}, such as {near}")
        return self

    @property
    def n_samples(self) -> int:
        """Rows of the history after the first."""
        return 10 * self.frames if self.samples is None else self.samples

    def with_steps(self, dt: float) -> Run:
        """Return the same with no more samples than there are steps of dt in s, where the file gives no number.

        Where it gives no number of frames either, there is a sample after each step, and a frame after each or every
        second, third … one; the step is then hardly made smaller. Frames that are given stay as they are.
        """
        steps = math.ceil(self.duration / dt * (1.0 - ROUNDING))
        if self.samples is not None or steps >= self.n_samples:
            return self
        each, frames = math.ceil(steps / self.frames), self.frames
        if not self.gives("frames"):
            frames = math.ceil(steps / each)
        changed = self.__dict__ | {"frames": frames, "samples": frames * each}
        return Run.model_construct(_fields_set=set(self.model_fields_set), **changed)

    def gives(self, key: str) -> bool:
        """Return whether the file gives a key."""
        return key in self.model_fields_set


class Output(Table):
    """Where the results go, and which."""

    directory: FilePath | None = None
    format: Literal["vtkhdf", "pvd"] = "vtkhdf"
    fields: list[Literal["velocity", "von_mises", "contact_force"]] = Field(
        default=["velocity", "von_mises", "contact_force"]
    )
    pictures: bool = True
    film: Literal["mp4", "gif", "auto", "none"] = "auto"


# Columns of the history, after which no energy can be named.
RESERVED = {
    *("t", "kinetic", "gravity", *ALL_TOTALS, "heat", "temperature", "penetration"),
    *(f"{kind}_{axis}" for kind in ("momentum", "angular_momentum", "contact_force") for axis in "xyz"),
    *("steps", "events", "integer_events", "pair_events", "renewals", "crossings", "other_crossings"),
    *("reflections", "stretches", "substeps", "corrections", "halved", "iterations", "factorised", "tried", "held"),
    *("factorisations", "linear_iterations", "shifted", "indefinite", "direct"),
}


@dataclass(frozen=True)
class Tables:
    """All tables of a scenario file."""

    body: list[Body]
    integrator: IntegratorTable
    run: Run
    title: str = ""
    obstacle: list[ObstacleTable] = field(default_factory=list)
    support: list[Support] = field(default_factory=list)
    rod: list[Rod] = field(default_factory=list)
    gravity: Gravity | None = None
    load: list[LoadTable] = field(default_factory=list)
    thermostat: Thermostat | None = None
    output: Output = field(default_factory=Output)

    @property
    def moving_obstacles(self) -> list[SphereTable]:
        """The obstacles that have a mass."""
        return [item for item in self.obstacle if isinstance(item, SphereTable) and item.mass is not None]

    @property
    def constant_forces(self) -> list[str]:
        """The names of the energies of gravity and of loads that have a potential."""
        gravity = ["gravity"] if self.gravity is not None else []
        return [*gravity, *(load.name for load in self.load if load.has_potential)]


# For each table its model, or its models by ``kind``; those in double brackets, of which there may be several.
MODELS: dict[str, type[Table] | dict[str, type[Table]]] = {
    "body": Body,
    "obstacle": OBSTACLES,
    "support": Support,
    "rod": Rod,
    "gravity": Gravity,
    "load": {"nodal": NodalLoadTable, "traction": TractionTable, "pressure": PressureTable},
    "integrator": METHODS,
    "thermostat": Thermostat,
    "run": Run,
    "output": Output,
}
SEVERAL = ("body", "obstacle", "support", "rod", "load")
NEEDED = ("body", "integrator", "run")
