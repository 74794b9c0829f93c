"""The tables and keys of a scenario file.

Every key is SI. A model checks what its table can know; what needs the mesh is checked when the scenario is built.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, model_validator
from pydantic_core import CoreSchema
from pydantic_core.core_schema import no_info_before_validator_function

from symplex.errors import MaterialError
from symplex.fem.materials import LinearElastic, Material, MooneyRivlin, NeoHookean, SaintVenantKirchhoff

# -- kinds of values ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Quantity:
    """What a value must be, and its unit, which is only told.

    Attributes
    ----------
    check : callable
        Returns the value as it is to be kept, or raises ValueError with what is wrong, after the name of the key.
    unit : str
    """

    check: Callable[[Any], Any]
    unit: str = ""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Check before pydantic does."""
        return no_info_before_validator_function(self.check, handler(source))


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"is {value!r}, must be a number")
    try:
        x = float(value)
    except OverflowError:
        raise ValueError("is too large for a number") from None
    if not math.isfinite(x):
        raise ValueError(f"is {x}, must be finite")
    return x


def number(unit: str) -> Quantity:
    """Any finite number."""
    return Quantity(_number, unit)


def positive(unit: str) -> Quantity:
    """A number above zero."""

    def check(value: Any) -> float:
        x = _number(value)
        if x <= 0:
            raise ValueError(f"is {x:g}, must be positive ({unit})")
        return x

    return Quantity(check, unit)


def between(least: float, most: float) -> Quantity:
    """A number in a range, its ends included."""

    def check(value: Any) -> float:
        x = _number(value)
        if not least <= x <= most:
            bound = f"at least {least:g}" if most == math.inf else f"from {least:.4g} to {most:.4g}"
            raise ValueError(f"is {x:g}, must be {bound}")
        return x

    return Quantity(check)


def positive_or_auto(unit: str) -> Quantity:
    """A number above zero, or "auto"."""

    def check(value: Any) -> float | str:
        if isinstance(value, str) and value != "auto":
            raise ValueError(f'is {value!r}, must be a number ({unit}) or "auto"')
        return value if value == "auto" else positive(unit).check(value)

    return Quantity(check, unit)


def whole(least: int) -> Quantity:
    """A whole number, at least so large."""

    def check(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise ValueError(f"is {value!r}, must be a whole number of at least {least}")
        return value

    return Quantity(check)


def vector(unit: str) -> Quantity:
    """Three numbers."""

    def check(value: Any) -> Triple:
        if not isinstance(value, list | tuple) or len(value) != 3:
            raise ValueError(f"is {value!r}, must be three numbers ({unit})")
        x, y, z = (_number(component) for component in value)
        return x, y, z

    return Quantity(check, unit)


def numbers(unit: str) -> Quantity:
    """One number or more."""

    def check(value: Any) -> tuple[float, ...]:
        if not isinstance(value, list | tuple) or len(value) == 0:
            raise ValueError(f"is {value!r}, must be a list of numbers ({unit})")
        return tuple(_number(x) for x in value)

    return Quantity(check, unit)


def _name(value: Any) -> str:
    if not isinstance(value, str) or not value or not all(c.isalnum() or c in "_- " for c in value):
        raise ValueError(f"is {value!r}, must be a name of letters, digits, '_', '-' and spaces")
    return value


Triple = tuple[float, float, float]
Name = Annotated[str, Quantity(_name)]
Count = Annotated[int, whole(1)]
ZERO = (0.0, 0.0, 0.0)
_LIGHTEST = 1e-3  # kg/m³, far below any solid: densities in t/mm³ or g/mm³ are smaller


class Table(BaseModel):
    """A table of a scenario: unknown keys are errors, and values are taken as they are written."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def _one_of(table: Table, keys: Sequence[str], what: str) -> str:
    """Return the one of some keys that is given."""
    given = [key for key in keys if getattr(table, key) is not None]
    if len(given) != 1:
        found = "none is given" if not given else f"given are {' and '.join(given)}"
        raise ValueError(f"needs one {what} of {', '.join(keys)}; {found}")
    return given[0]


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
        return _one_of(self, ["file", "bundled", "cube", "box"], "source")


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
        _one_of(self, ["stiffness", "penalty"], "contact parameter")
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


class Support(Table):
    """Components of motion that the nodes of a body or of one of its groups don't have."""

    body: str
    group: str | None = None
    components: str = "xyz"

    @model_validator(mode="after")
    def _check(self) -> Support:
        if not self.components or set(self.components) - set("xyz"):
            raise ValueError(f"components is '{self.components}', must be some letters of 'xyz'")
        return self


class Gravity(Table):
    """Weight of all bodies."""

    acceleration: Annotated[Triple, vector("m/s²")]


class History(Table):
    """How a load changes with time: the factor of its value.

    ``table``: ``factors`` at ``times``, linear between, constant before and after; ``ramp``: from 0 to 1 within
    ``duration``, then 1; ``half-sine``: sin(πt/T) for the ``duration`` T, then 0; ``sine``: sin(2πft) with the
    ``frequency`` f.
    """

    kind: Literal["table", "ramp", "half-sine", "sine"]
    times: Annotated[tuple[float, ...] | None, numbers("s")] = None
    factors: Annotated[tuple[float, ...] | None, numbers("1")] = None
    duration: Annotated[float | None, positive("s")] = None
    frequency: Annotated[float | None, positive("Hz")] = None

    @model_validator(mode="after")
    def _check(self) -> History:
        needs = {"table": {"times", "factors"}, "ramp": {"duration"}, "half-sine": {"duration"}, "sine": {"frequency"}}
        given = {key for key in ("times", "factors", "duration", "frequency") if getattr(self, key) is not None}
        if given != needs[self.kind]:
            raise ValueError(
                f"of kind '{self.kind}' needs {' and '.join(sorted(needs[self.kind]))}; "
                f"given: {', '.join(sorted(given)) or 'none'}"
            )
        if self.times is not None and self.factors is not None:
            if len(self.times) != len(self.factors):
                raise ValueError(f"has {len(self.times)} times but {len(self.factors)} factors")
            if any(b <= a for a, b in pairwise(self.times)):
                raise ValueError(f"times are {list(self.times)}, must ascend (s)")
        return self


class _LoadTable(Table):
    name: Name
    body: str
    group: str
    history: History | None = None


class NodalLoadTable(_LoadTable):
    """The same force on each node of a group."""

    kind: Literal["nodal"]
    force: Annotated[Triple, vector("N per node")]


class TractionTable(_LoadTable):
    """A force per undeformed area of the faces of a group, of constant direction."""

    kind: Literal["traction"]
    traction: Annotated[Triple, vector("Pa")]


class PressureTable(_LoadTable):
    """A pressure on the faces of a group, normal to them as they move."""

    kind: Literal["pressure"]
    pressure: Annotated[float, number("Pa")]


LoadTable = NodalLoadTable | TractionTable | PressureTable

# -- how it runs --------------------------------------------------------------------------------------------------


Solver = Literal["auto", "dense", "sparse", "krylov", "multigrid"]
Order = Literal[2, 4, 6, 8]


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
    fields: list[Literal["velocity", "von_mises", "contact_force"]] = ["velocity", "von_mises", "contact_force"]
    pictures: bool = True
    film: Literal["mp4", "gif", "auto", "none"] = "auto"


# Columns of the history, after which no energy can be named.
RESERVED = {
    *("t", "kinetic", "total", "lattice_total", "balance", "gravity", "penetration"),
    *(f"{kind}_{axis}" for kind in ("momentum", "angular_momentum", "contact_force") for axis in "xyz"),
    *("steps", "events", "integer_events", "pair_events", "renewals", "crossings", "other_crossings"),
    *("substeps", "corrections", "halved"),
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
    },
    "run": Run,
    "output": Output,
}
SEVERAL = ("body", "obstacle", "support", "load")
NEEDED = ("body", "integrator", "run")
