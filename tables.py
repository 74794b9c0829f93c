"""The tables and keys of a scenario file.

Every key is SI. A model checks what its table can know; what needs the mesh is checked when the scenario is built.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, cast

from pydantic import Field, model_validator

from symplex.actions import Gravity, LoadTable, NodalLoadTable, PressureTable, Support, TractionTable
from symplex.errors import MaterialError
from symplex.fem.materials import LinearElastic, Material, MooneyRivlin, NeoHookean, SaintVenantKirchhoff
from symplex.quantities import (
    ZERO,
    Count,
    Name,
    Table,
    Triple,
    between,
    number,
    one_of,
    positive,
    positive_or_auto,
    vector,
    whole,
)
from symplex.time.graham_jelenic import Scheme

_LIGHTEST = 1e-3  # kg/m³, far below any solid: densities in t/mm³ or g/mm³ are smaller

# -- bodies -------------------------------------------------------------------------------------------------------


class MeshTable(Table):
    """Where a mesh comes from: ``file``, ``bundled``, ``cube``, or ``box`` with ``cells`` and ``split``."""

    file: str | None = None
    bundled: str | None = None
    cube: Literal["I", "II", "III"] | None = None
    box: Annotated[Triple | None, vector("m")] = None
    cells: tuple[Count, Count, Count] | None = None
    split: Literal["24", "6", "hexahedra", "body-centred"] = "24"

    @model_validator(mode="before")
    @classmethod
    def _from_file_name(cls, value: Any) -> Any:
        if isinstance(value, str):
            return {"file": value}
        if isinstance(value, dict) and isinstance(value.get("cells"), list):
            return value | {"cells": tuple(value["cells"])}
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


class Rotation(Table):
    """A turn about an axis through the origin of the mesh."""

    axis: Annotated[Triple, vector("1")]
    degrees: Annotated[float, number("°")]

    @model_validator(mode="after")
    def _check(self) -> Rotation:
        if not any(self.axis):
            raise ValueError("axis is zero, must be a direction")
        return self


class Body(Table):
    """A deformable body."""

    name: Name
    mesh: MeshTable
    material: MaterialTable
    group: str | None = None
    scale: Annotated[float, positive("m per unit of the file")] = 1.0
    repair: bool = False
    rotate: Rotation | None = None
    translate: Annotated[Triple, vector("m")] = ZERO
    velocity: Annotated[Triple, vector("m/s")] = ZERO
    angular_velocity: Annotated[Triple, vector("rad/s")] = ZERO
    mass: Literal["lumped", "consistent"] = "lumped"
    quadratic: bool = False


# -- surroundings -------------------------------------------------------------------------------------------------


class _ObstacleTable(Table):
    name: Name
    stiffness: Annotated[float | None, positive("N/m")] = None
    penalty: Annotated[float | None, positive("m/N")] = None
    bodies: list[str] | None = None
    allow_initial_penetration: bool = False

    @model_validator(mode="after")
    def _check(self) -> _ObstacleTable:
        one_of(self, ["stiffness", "penalty"], "contact parameter")
        if self.bodies == []:
            raise ValueError("bodies is [], must name a body; without the key all bodies are meant")
        return self

    @property
    def contact_stiffness(self) -> float:
        """The penalty stiffness k = 1/ε in N/m."""
        return 1.0 / self.penalty if self.penalty is not None else cast(float, self.stiffness)


class HalfSpaceTable(_ObstacleTable):
    """A half-space bounded by a plane."""

    kind: Literal["half-space"]
    point: Annotated[Triple, vector("m")]
    normal: Annotated[Triple, vector("1")]
    normalize: bool = True

    @model_validator(mode="after")
    def _check_normal(self) -> HalfSpaceTable:
        if not any(self.normal):
            raise ValueError("normal is zero, must be a direction, towards the free side")
        return self


class SphereTable(_ObstacleTable):
    """A rigid ball."""

    kind: Literal["sphere"]
    center: Annotated[Triple, vector("m")]
    radius: Annotated[float, positive("m")]


ObstacleTable = HalfSpaceTable | SphereTable


# -- how it runs --------------------------------------------------------------------------------------------------


Solver = Literal["auto", "dense", "sparse", "krylov", "multigrid"]
Order = Literal[2, 4, 6, 8]
WITH_SECANT: tuple[Scheme, ...] = ("A-theta", "M4", "CM4", "CM6", "CM8")


class NewmarkTable(Table):
    """Newmark's method, explicit (central differences) if beta is 0."""

    kind: Literal["newmark"]
    dt: Annotated[float | Literal["auto"], positive_or_auto("s")] = "auto"
    beta: Annotated[float, between(0.0, math.inf)] = 0.0
    gamma: Annotated[float, between(0.5, math.inf)] = 0.5
    safety: Annotated[float, positive("1")] = 0.8
    solver: Solver = "auto"
    halvings: Annotated[int, whole(0)] = 0

    @property
    def implicit(self) -> bool:
        """Whether its steps need equations to be solved."""
        return self.beta > 0

    @model_validator(mode="after")
    def _check(self) -> NewmarkTable:
        if self.safety > 1:
            raise ValueError(f"safety is {self.safety:g}, must be at most 1")
        if self.implicit and self.dt == "auto":
            raise ValueError(f'dt is "auto", must be a number (s) if beta is not 0; beta is {self.beta:g}')
        if not self.implicit and self.gamma != 0.5:
            raise ValueError(f"gamma is {self.gamma:g}, must be 0.5 if beta is 0")
        return self


class ImplicitTable(Table):
    """What methods with implicit steps have in common."""

    dt: Annotated[float, positive("s")]
    solver: Solver = "auto"
    halvings: Annotated[int, whole(0)] = 0


class EnergyMomentumTable(ImplicitTable):
    """The energy-momentum method, or its composition to a higher order."""

    kind: Literal["energy-momentum"]
    order: Order = 2


class MidpointTable(ImplicitTable):
    """The symplectic midpoint rule, or its composition to a higher order."""

    kind: Literal["midpoint"]
    order: Order = 2


class GeneralizedAlphaTable(ImplicitTable):
    """The generalised-alpha method."""

    kind: Literal["generalized-alpha"]
    rho_inf: Annotated[float, between(0.0, 1.0)] = 0.8


class HilberHughesTaylorTable(ImplicitTable):
    """The HHT-alpha method."""

    kind: Literal["hht"]
    alpha: Annotated[float, between(-1.0 / 3.0, 0.0)] = -0.05


class GrahamJelenicTable(Table):
    """A method of Graham and Jelenić; by default all that is no body acts like a load where the scheme needs it."""

    kind: Literal["graham-jelenic"]
    dt: Annotated[float, positive("s")]
    scheme: Scheme = "CM6"
    external: list[str] | None = None
    solver: Solver = "auto"

    @property
    def takes_external(self) -> bool:
        """Whether the scheme is made of secant matrices, so that energies without one act like loads."""
        return self.scheme in WITH_SECANT

    @model_validator(mode="after")
    def _check(self) -> GrahamJelenicTable:
        if self.external and not self.takes_external:
            raise ValueError(f"external is for {', '.join(WITH_SECANT)}; {self.scheme} takes all energies as they are")
        return self


class ForceSteppingTable(Table):
    """Force-stepping by events."""

    kind: Literal["force-stepping"]
    grid: Annotated[float, positive("m")]
    seed: Annotated[int, whole(0)] = 0
    align: str | None = None
    count_crossings: bool = False


IntegratorTable = (
    NewmarkTable
    | ForceSteppingTable
    | EnergyMomentumTable
    | MidpointTable
    | GeneralizedAlphaTable
    | HilberHughesTaylorTable
    | GrahamJelenicTable
)


class Run(Table):
    """How long, and how often something is stored."""

    duration: Annotated[float, positive("s")]
    frames: Count = 60
    samples: Count | None = None
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


class Output(Table):
    """Where the results go, and which."""

    directory: str | None = None
    format: Literal["vtkhdf", "pvd"] = "vtkhdf"
    fields: list[Literal["velocity", "von_mises", "contact_force"]] = Field(
        default=["velocity", "von_mises", "contact_force"]
    )
    pictures: bool = True
    film: Literal["mp4", "gif", "auto", "none"] = "auto"


# Columns of the history, after which no energy can be named.
RESERVED = {
    *("t", "kinetic", "total", "lattice_total", "balance", "gravity", "penetration"),
    *(f"{kind}_{axis}" for kind in ("momentum", "angular_momentum", "contact_force") for axis in "xyz"),
    *("steps", "events", "integer_events", "pair_events", "renewals", "crossings", "other_crossings"),
    *("substeps", "corrections", "halved", "iterations", "factorised"),
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
    gravity: Gravity | None = None
    load: list[LoadTable] = field(default_factory=list)
    output: Output = field(default_factory=Output)


# For each table its model, or its models by ``kind``; those in double brackets, of which there may be several.
MODELS: dict[str, type[Table] | dict[str, type[Table]]] = {
    "body": Body,
    "obstacle": {"half-space": HalfSpaceTable, "sphere": SphereTable},
    "support": Support,
    "gravity": Gravity,
    "load": {"nodal": NodalLoadTable, "traction": TractionTable, "pressure": PressureTable},
    "integrator": {
        "newmark": NewmarkTable,
        "force-stepping": ForceSteppingTable,
        "energy-momentum": EnergyMomentumTable,
        "midpoint": MidpointTable,
        "generalized-alpha": GeneralizedAlphaTable,
        "hht": HilberHughesTaylorTable,
        "graham-jelenic": GrahamJelenicTable,
    },
    "run": Run,
    "output": Output,
}
SEVERAL = ("body", "obstacle", "support", "load")
NEEDED = ("body", "integrator", "run")
