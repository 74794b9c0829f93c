"""The tables of bodies: where their meshes come from, what they are made of, and copies of them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from symplex.base.quantities import ZERO, FilePath, Name, Quantity, Text, Triple, counts, positive, shown, vector
from symplex.scenario.materials import MaterialTable
from symplex.scenario.table import Rotation, Table, one_of


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
        if source != "box":
            self.refuse_unused("split", goes_with=f"box, not with {source}")
        if self.box is not None and min(self.box) <= 0:
            raise ValueError(f"box is {list(self.box)}, must be three positive lengths (m)")
        return self

    @property
    def source(self) -> str:
        """Which of the sources is given."""
        return one_of(self, ["file", "bundled", "cube", "box"], "source")


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
