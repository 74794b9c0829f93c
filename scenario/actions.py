"""The tables of what acts on bodies and how it changes with time: supports, rods, gravity."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from symplex.base.quantities import (
    FilePath,
    Key,
    Name,
    Quantity,
    Text,
    Triple,
    check_name,
    nonzero,
    not_negative,
    number,
    numbers,
    positive,
    shown,
    vector,
)
from symplex.errors import ScenarioError
from symplex.fem.actions import loads
from symplex.fem.energies.energy import Array
from symplex.fem.measures.constraints import Constraint, OnSphere, RigidBars
from symplex.meshes.mesh import Mesh
from symplex.scenario.selections import group_in
from symplex.scenario.table import BodyName, Entry, Need, Table, one_of

if TYPE_CHECKING:
    from symplex.scenario.building import Builder

SAME_TIME = 1e-9  # of a part of a run, by which two times may differ that are meant to be one
_ON_PLANE = 1e-6  # of the size of a body, how near to a plane of symmetry a node is on it
_LINES = ("line", "line3")  # of which the first two nodes are the ends


def time_or_name() -> Quantity:
    """A time in s, or the name of a condition."""
    time = not_negative("s")

    def check(value: Any) -> float | str:
        return check_name(value) if isinstance(value, str) else time.check(value)

    return Quantity(check, "s", "number, or name of a `[[when]]`", time.range)


class Timed(Entry):
    """What acts for a part of the run only: after the time ``from``, to the time ``until``.

    With ``until`` = 0 it acts in the static equilibrium of the start alone.

    Attributes
    ----------
    begin_event, until_event : str, optional
        The conditions at which it begins and ends to act, where these are given instead of times.
    """

    begin_event: ClassVar[str | None] = None
    until_event: ClassVar[str | None] = None
    begin: Annotated[
        float,
        time_or_name(),
        "Time from which it acts, or the name of a `[[when]]`; its `history` counts from there.",
        Key("from"),
    ] = 0.0
    until: Annotated[
        float | None,
        time_or_name(),
        "Time until which it acts, or the name of a `[[when]]`; 0: in the equilibrium of `[start]` alone.",
    ] = None

    def _check_times(self) -> None:
        # The names of conditions are kept apart, so that times are numbers.
        if isinstance(self.begin, str):
            self.__dict__.update(begin_event=self.begin, begin=0.0)
        if isinstance(self.until, str):
            self.__dict__.update(until_event=self.until, until=None)
        if self.until is not None and not (self.until > self.begin or self.until == self.begin == 0.0):
            raise ValueError(f"until must be after from = {self.begin:g} s, got {self.until:g} s")

    @property
    def only_at_start(self) -> bool:
        """Whether it acts in the equilibrium of the start alone."""
        return self.until == 0.0

    def resolved(self, happened: Mapping[str, float]) -> Self | None:
        """Return it with the times in s of the conditions that have held so far, or None if it is not to begin yet."""
        begin, until = self.begin_event, self.until_event
        if begin is None and (until is None or until not in happened):
            return self
        if begin is not None and begin not in happened:
            return None
        times = {} if begin is None else {"begin": happened[begin], "begin_event": None}
        if until is not None and until in happened:
            times |= {"until": happened[until], "until_event": None}
        return self.replaced(**times)

    def acts(self, first: float, last: float) -> bool:
        """Return whether it acts between two times in s, or at one; not if it does within rounding of these only.

        What begins at a condition does not act yet; see `resolved`.
        """
        if self.begin_event is not None:
            return False
        if first == last:
            return self.begin <= first and (self.until is None or first <= self.until)
        rounding = SAME_TIME * (last - first)
        return self.begin < last - rounding and (self.until is None or self.until > first + rounding)


class History(Table):
    """How a load or a support changes with time: the factor of its value."""

    kind: Annotated[
        Literal["table", "ramp", "smooth-ramp", "half-sine", "sine"],
        '`"table"`: linear between given points, constant before and after; `"ramp"`: from 0 to 1 within `duration`, '
        'then 1; `"smooth-ramp"`: the same with continuous acceleration; `"half-sine"`: a pulse sin(πt/T) of the '
        '`duration` T; `"sine"`: sin(2πft) with the `frequency` f.',
    ]
    times: Annotated[tuple[float, ...] | None, numbers("s"), "Ascending times of a table."] = None
    factors: Annotated[tuple[float, ...] | None, numbers("1"), "Factors at these times."] = None
    file: Annotated[
        FilePath | None, "File with two columns, time in s and factor, with a comma between; instead of both."
    ] = None
    duration: Annotated[float | None, positive("s"), "Duration of a ramp or pulse."] = None
    frequency: Annotated[float | None, positive("Hz"), "Frequency of a sine."] = None

    def _check(self) -> None:
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
                raise ValueError(f"times must ascend, got {shown(list(self.times))} s")


class Turn(Table):
    """A rotation about an axis through a point; with a history, the angle where its factor is 1."""

    point: Annotated[Triple, vector("m"), "Point of the axis."]
    axis: Annotated[Triple, nonzero(), "Direction of the axis."]
    degrees: Annotated[float, number("°"), "Angle, which the history multiplies."]


_MOTIONS = ("displacement", "rotation", "acceleration", "velocity")


def _letters(empty: str) -> Quantity:
    """Some letters of xyz, each once."""

    def check(value: Any) -> str:
        if not isinstance(value, str) or set(value) - set("xyz") or len(set(value)) < len(value):
            raise ValueError(f"must be some letters of 'xyz', got {shown(value)}")
        return value

    return Quantity(check, "", "some letters of xyz", empty)


def _plane(value: Any) -> tuple[str, float]:
    """Return the axis across which a plane is, and where."""
    axis, _, place = value.partition("=") if isinstance(value, str) else ("", "", "")
    try:
        at = float(place) if place.strip() else 0.0
    except ValueError:
        at = math.nan
    if axis.strip() not in set("xyz") or not math.isfinite(at) or (isinstance(value, str) and value.endswith("=")):
        raise ValueError(f"must be a plane across an axis, as 'x' or 'x=0.5' (m), got {shown(value)}")
    return axis.strip(), at


class Support(Timed):
    """Boundary condition: components of motion that nodes do not have, or that are given.

    When a support ends, its nodes go on freely with their velocity. A coordinate can be fixed or moved by one support
    only. With all nodes at rest only ``kind = "static"`` runs.
    """

    does_work = True
    takes_rotations = True
    name: Annotated[Name | None, "Names the column `work_NAME` of its work; required where it moves."] = None
    body: BodyName
    group: Annotated[Text | None, "Group of nodes or cells of its mesh; by default all nodes."] = None
    components: Annotated[
        str, _letters("none with `rotations` only"), 'Fixed, or moved, components: some letters of `"xyz"`.'
    ] = "xyz"
    rotations: Annotated[
        str | None,
        _letters('"" for none'),
        "Of nodes of beams and shells: rotations about these axes that are held. By default all if `components` "
        "is left out too, which is a clamp; else none, which is a hinge.",
    ] = None
    symmetry: Annotated[
        tuple[str, float] | None,
        Quantity(_plane, "m", 'text, `"x"` or `"x=0.5"`'),
        "Plane of symmetry, `x = 0` or another one across an axis: holds the nodes of the body on it, at the start, "
        "against displacements across it, and of beams and shells against rotations about axes in it.",
    ] = None
    displacement: Annotated[Triple | None, vector("m"), "From the start, times the `history`."] = None
    rotation: Annotated[Turn | None, "The nodes turn as one rigid body, times the `history`."] = None
    acceleration: Annotated[
        Triple | None,
        vector("m/s²"),
        'Times a `history` of kind `"table"`, such as a record of an earthquake; it is integrated exactly from rest.',
    ] = None
    velocity: Annotated[Triple | None, vector("m/s"), "Constant velocity, without `history`."] = None
    history: Annotated[History | None, "Factor of the motion over time; a table must cover the whole run."] = None
    interpolation: Annotated[
        Literal["spline", "linear"],
        'Of a table of displacements or rotations: a cubic spline, or `"linear"`, where the velocity jumps.',
    ] = "spline"

    @property
    def moves(self) -> bool:
        """Whether a motion is given."""
        return any(getattr(self, key) is not None for key in _MOTIONS)

    @property
    def of_node(self) -> tuple[str, str]:
        """The displacements and the rotations of a node with a rotation that are held, in letters."""
        if self.symmetry is not None:
            return self.components, "".join(sorted(set("xyz") - set(self.components)))
        given = self.given_keys & {"components", "rotations"}
        components = self.components if "components" in given or not given else ""
        return components, "xyz" if not given else self.rotations or ""

    def needs(self) -> Iterable[Need]:
        """Moving supports."""
        if self.moves:
            yield Need(
                "moving supports", "it moves, which {kind} cannot follow; take another integrator, such as {others}."
            )

    def on_plane(self, points: Array) -> NDArray[np.bool_]:
        """Return which points [n, 3] in m are on the plane of symmetry; all if there is none.

        Raises
        ------
        ScenarioError
            If none is.
        """
        if self.symmetry is None:
            return np.ones(len(points), bool)
        axis, at = self.symmetry
        across = points[:, "xyz".index(axis)]
        found = np.abs(across - at) <= _ON_PLANE * float(np.ptp(points, axis=0).max(initial=0.0))
        if not found.any():
            raise ScenarioError(
                f"symmetry: no node of '{self.body}' is on the plane {axis} = {at:g} m; its nodes are from "
                f"{across.min():g} to {across.max():g} m."
            )
        return found

    def _check(self) -> None:
        if self.symmetry is not None:
            keys = ("group", "components", "rotations", *_MOTIONS, "history")
            self.refuse_unused(*keys, goes_with="supports without symmetry, which says what is held")
            self.__dict__["components"] = self.symmetry[0]  # as if it were given
        if self.history is None or self.history.kind != "table" or self.acceleration is not None:
            self.refuse_unused(
                "interpolation", goes_with="a history of kind 'table' that multiplies a displacement or rotation"
            )
        if not self.components and not self.rotations:
            raise ValueError("components must be some letters of 'xyz', got ''")
        if not self.moves:
            if self.history is not None:
                raise ValueError("has a history, but nothing that it could change: give displacement or rotation")
            return
        motion = one_of(self, _MOTIONS, "motion")
        self.refuse_unused("rotations", goes_with="supports at rest, and not with those that move")
        if self.name is None:
            raise ValueError("moves, so it needs a name, by which its work is reported")
        if self.rotation is not None and (self.begin > 0.0 or self.begin_event is not None):
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
        self._require_components(motion)

    def _require_components(self, motion: str) -> None:
        if motion == "rotation":
            if set(self.components) != set("xyz"):
                raise ValueError(f"components must be 'xyz' with rotation, got '{self.components}'")
            return
        vector = getattr(self, motion)
        if not any(vector):
            raise ValueError(f"{motion} is zero; leave it out for a support at rest")
        free = [axis for axis, x in zip("xyz", vector, strict=True) if x and axis not in self.components]
        if free:
            raise ValueError(f"{motion} is not zero in {free[0]}, which is not among the components")


class Rod(Entry):
    """Rigid rods of the lengths at the start, without mass, for ``kind = "rattle"`` and ``"shake"``.

    Velocities at the start must leave their lengths as they are. Rods that follow from others are refused.
    """

    of_all = False
    name: Annotated[Name, "Names them in messages."]
    body: BodyName
    group: Annotated[Text, 'Group of lines of its mesh, each of which is a rod; `"members"` of a truss.']
    to: Annotated[
        Triple | None, vector("m"), "Fixed point: instead of lines, a rod from each node of the group to it."
    ] = None

    def needs(self) -> Iterable[Need]:
        """Constraints."""
        yield Need("constraints", "{kind} does not keep rods; take {others}.")

    def constraint(self, mesh: Mesh) -> Constraint:
        """Return rods from the nodes of a group to a point, or along its lines."""
        group = group_in(mesh, self.body, self.group)
        if self.to is not None:
            nodes = mesh.nodes_of(group)
            return OnSphere(nodes, self.to, np.linalg.norm(mesh.points[nodes] - self.to, axis=1))
        lines = [cells[:, :2] for kind in _LINES if len(cells := mesh.cells_of(kind, group))]
        if not lines:
            raise ScenarioError(
                f"group '{self.group}' of body '{self.body}' has no lines, along which rods could be; for rods from "
                "each of its nodes to a fixed point give the point: to = [x, y, z]."
            )
        return RigidBars.between(mesh.points, np.concatenate(lines))


GRAVITY = "gravity"


class Gravity(Timed):
    """Weight of all that has mass."""

    of_all = True
    takes_rotations = True
    acceleration: Annotated[Triple, vector("m/s²"), "Such as `[0, 0, -9.81]`."]

    @property
    def energies(self) -> list[str]:
        """One."""
        return [GRAVITY]

    without_secant = energies

    def add_forces(self, world: Builder) -> None:
        """Add the potential of weight."""
        world.add(GRAVITY, loads.Gravity(world.inertia.weights(), self.acceleration))
