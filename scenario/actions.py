"""The tables of what acts on bodies: supports, rods, gravity and loads, and how they change with time."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Literal

from pydantic import Field, model_validator

from symplex.base.quantities import FilePath, Name, Text, Triple, not_negative, number, numbers, positive, shown, vector
from symplex.scenario.table import Table, one_of

SAME_TIME = 1e-9  # of a part of a run, by which two times may differ that are meant to be one


class Timed(Table):
    """What acts for a part of the run only: after the time ``from``, to the time ``until``.

    With ``until`` = 0 it acts in the static equilibrium of the start alone.
    """

    begin: Annotated[float, not_negative("s")] = Field(0.0, alias="from")
    until: Annotated[float | None, not_negative("s")] = None

    @model_validator(mode="after")
    def _check_times(self) -> Timed:
        if self.until is not None and not (self.until > self.begin or self.until == self.begin == 0.0):
            raise ValueError(f"until is {self.until:g} s, must be after from, {self.begin:g} s")
        return self

    @property
    def only_at_start(self) -> bool:
        """Whether it acts in the equilibrium of the start alone."""
        return self.until == 0.0

    def acts(self, first: float, last: float) -> bool:
        """Return whether it acts between two times in s, or at one; not if it does within rounding of these only."""
        if first == last:
            return self.begin <= first and (self.until is None or first <= self.until)
        rounding = SAME_TIME * (last - first)
        return self.begin < last - rounding and (self.until is None or self.until > first + rounding)


class History(Table):
    """How a load or a support changes with time: the factor of its value.

    ``table``: ``factors`` at ``times``, or both from a ``file``, linear between, constant before and after; ``ramp``:
    from 0 to 1 within ``duration``, then 1; ``smooth-ramp``: the same without kinks; ``half-sine``: sin(πt/T) for the
    ``duration`` T, then 0; ``sine``: sin(2πft) with the ``frequency`` f.
    """

    kind: Literal["table", "ramp", "smooth-ramp", "half-sine", "sine"]
    times: Annotated[tuple[float, ...] | None, numbers("s")] = None
    factors: Annotated[tuple[float, ...] | None, numbers("1")] = None
    file: FilePath | None = None
    duration: Annotated[float | None, positive("s")] = None
    frequency: Annotated[float | None, positive("Hz")] = None

    @model_validator(mode="after")
    def _check(self) -> History:
        table = {"file"} if self.file is not None else {"times", "factors"}
        needs = {"table": table, "sine": {"frequency"}}.get(self.kind, {"duration"})
        keys = ("times", "factors", "file", "duration", "frequency")
        given = {key for key in keys if getattr(self, key) is not None}
        if given != needs:
            raise ValueError(
                f"of kind '{self.kind}' needs {' and '.join(sorted(needs))}; "
                f"given: {', '.join(sorted(given)) or 'none'}"
            )
        if self.times is not None and self.factors is not None:
            if len(self.times) != len(self.factors):
                raise ValueError(f"has {len(self.times)} times but {len(self.factors)} factors")
            if any(b <= a for a, b in pairwise(self.times)):
                raise ValueError(f"times are {shown(list(self.times))}, must ascend (s)")
        return self


class Turn(Table):
    """A rotation about an axis through a point; with a history, the angle where its factor is 1."""

    point: Annotated[Triple, vector("m")]
    axis: Annotated[Triple, vector("1")]
    degrees: Annotated[float, number("°")]

    @model_validator(mode="after")
    def _check(self) -> Turn:
        if not any(self.axis):
            raise ValueError("axis is zero, must be a direction")
        return self


class Support(Timed):
    """Components of motion that the nodes of a body or of one of its groups don't have, or that are given."""

    name: Name | None = None
    body: Text
    group: Text | None = None
    components: Text = "xyz"
    displacement: Annotated[Triple | None, vector("m")] = None
    rotation: Turn | None = None
    acceleration: Annotated[Triple | None, vector("m/s²")] = None
    velocity: Annotated[Triple | None, vector("m/s")] = None
    history: History | None = None
    interpolation: Literal["spline", "linear"] = "spline"

    @property
    def moves(self) -> bool:
        """Whether a motion is given."""
        return any(getattr(self, key) is not None for key in _MOTIONS)

    @model_validator(mode="after")
    def _check(self) -> Support:
        if self.history is None or self.history.kind != "table" or self.acceleration is not None:
            self.refuse_unused(
                "interpolation", goes_with="a history of kind 'table' that multiplies a displacement or rotation"
            )
        if not self.components or set(self.components) - set("xyz"):
            raise ValueError(f"components is {shown(self.components)}, must be some letters of 'xyz'")
        if not self.moves:
            if self.history is not None:
                raise ValueError("has a history, but nothing that it could change: give displacement or rotation")
            return self
        motion = one_of(self, _MOTIONS, "motion")
        if self.name is None:
            raise ValueError("moves, so it needs a name, by which its work is reported")
        if self.rotation is not None and self.begin > 0.0:
            raise ValueError("with rotation turns what it holds at the start of the run, so from must be 0")
        stands = self.only_at_start and self.history is None and motion in ("displacement", "rotation")
        if (self.history is None) != (motion == "velocity") and not stands:
            raise ValueError(
                "with velocity moves steadily, so it has no history"
                if motion == "velocity"
                else f"needs a history, by which {motion} is multiplied"
            )
        if motion == "acceleration" and self.history is not None and self.history.kind != "table":
            raise ValueError(f"with acceleration needs a history of kind 'table', not '{self.history.kind}'")
        self._check_components(motion)
        return self

    def _check_components(self, motion: str) -> None:
        if motion == "rotation":
            if set(self.components) != set("xyz"):
                raise ValueError(f"components is '{self.components}', must be 'xyz' with rotation")
            return
        vector = getattr(self, motion)
        if not any(vector):
            raise ValueError(f"{motion} is zero; leave it out for a support at rest")
        free = [axis for axis, x in zip("xyz", vector, strict=True) if x and axis not in self.components]
        if free:
            raise ValueError(f"{motion} is not zero in {free[0]}, which is not among the components")


_MOTIONS = ("displacement", "rotation", "acceleration", "velocity")


class Rod(Table):
    """Rigid rods: along the lines of a group of a body's mesh, or from each of its nodes to a fixed point."""

    name: Name
    body: Text
    group: Text
    to: Annotated[Triple | None, vector("m")] = None


class Gravity(Timed):
    """Weight of all bodies."""

    acceleration: Annotated[Triple, vector("m/s²")]


class _LoadTable(Timed):
    name: Name
    body: Text
    group: Text
    history: History | None = None

    @property
    def has_potential(self) -> bool:
        """Whether it is an energy: a constant force of constant direction."""
        return self.history is None


class NodalLoadTable(_LoadTable):
    """The same force on each node of a group, or of a point mass."""

    kind: Literal["nodal"]
    group: Text | None = None  # pyright: ignore[reportIncompatibleVariableOverride]
    force: Annotated[Triple, vector("N per node")]


class TractionTable(_LoadTable):
    """A force per undeformed area of the faces of a group, of constant direction."""

    kind: Literal["traction"]
    traction: Annotated[Triple, vector("Pa")]


class PressureTable(_LoadTable):
    """A pressure on the faces of a group, normal to them as they move."""

    kind: Literal["pressure"]
    pressure: Annotated[float, number("Pa")]

    @property
    def has_potential(self) -> bool:
        """No, as it follows the surface."""
        return False


class GravityLoadTable(_LoadTable):
    """The weight of a body, or of a group of its elements."""

    kind: Literal["gravity"]
    group: Text | None = None  # pyright: ignore[reportIncompatibleVariableOverride]
    acceleration: Annotated[Triple, vector("m/s²")]


class CentrifugalLoadTable(_LoadTable):
    """The centrifugal forces on a body, or a group of its elements, in a frame that turns steadily."""

    kind: Literal["centrifugal"]
    group: Text | None = None  # pyright: ignore[reportIncompatibleVariableOverride]
    angular_velocity: Annotated[Triple, vector("rad/s")]
    point: Annotated[Triple, vector("m")]
    follows: bool = True

    @model_validator(mode="after")
    def _check(self) -> CentrifugalLoadTable:
        if not any(self.angular_velocity):
            raise ValueError("angular_velocity is zero; leave the load out")
        if self.follows and self.history is not None:
            raise ValueError("has a history, with which forces can only be those at the start: give follows = false")
        return self


LoadTable = NodalLoadTable | TractionTable | PressureTable | GravityLoadTable | CentrifugalLoadTable
