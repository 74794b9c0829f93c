"""The tables of what acts on bodies and how it changes with time: supports, rods, gravity."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple, Self

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
    refused,
    shown,
    vector,
)
from symplex.base.sparse import sp
from symplex.errors import ScenarioError
from symplex.fem.actions import loads
from symplex.fem.actions.mass import nodal_masses
from symplex.fem.assembly.directions import unit_vector
from symplex.fem.couplings.equations import LinearConstraints
from symplex.fem.energies.energy import Array
from symplex.fem.measures.constraints import Constraint, OnSphere, RigidBars
from symplex.meshes.mesh import Mesh
from symplex.scenario.definitions import check_formula
from symplex.scenario.equations import stiffness_of
from symplex.scenario.prescribed import displacements_at, factor
from symplex.scenario.selections import group_in
from symplex.scenario.table import BodyName, Entry, Need, Table, one_of

if TYPE_CHECKING:
    from symplex.scenario.building import Builder

SAME_TIME = 1e-9  # of a part of a run, by which two times may differ that are meant to be one
_ON_PLANE = 1e-6  # of the size of a body, how near to a plane of symmetry, or an axis, a node is on it
_ALONG = 1e-12  # how far a unit normal may be from an axis to be along it
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


_MOTIONS = ("displacement", "field", "rotation", "acceleration", "velocity")


def letters(empty: str) -> Quantity:
    """Some letters of xyz, each once."""

    def check(value: Any) -> str:
        if not isinstance(value, str) or set(value) - set("xyz") or len(set(value)) < len(value):
            raise ValueError(f"must be some letters of 'xyz', got {shown(value)}")
        return value

    return Quantity(check, "", "some letters of xyz", empty)


def as_triple(x: Array) -> Triple:
    """Return a vector [3] as numbers."""
    a, b, c = map(float, x)
    return a, b, c


class Plane(NamedTuple):
    """A plane of symmetry through a point in m, across a unit normal; with the axis that this is along."""

    point: Triple
    normal: Triple
    axis: str | None

    def __str__(self) -> str:
        if self.axis is not None:
            return f"{self.axis} = {self.point['xyz'.index(self.axis)]:g} m"
        return f"through {shown(list(self.point))} m across {shown(list(self.normal))}"


def _plane(value: Any) -> Plane:
    """Return a plane across an axis, or through a point across a normal."""
    if isinstance(value, Mapping):
        if set(value) != {"point", "normal"}:
            raise ValueError(f"must be a plane {{ point = …, normal = … }}, got {shown(dict(value))}")
        point, normal = vector("m").check(value["point"]), unit_vector(np.array(nonzero().check(value["normal"])))
        along = np.abs(np.abs(normal) - 1.0) <= _ALONG
        return Plane(point, as_triple(normal), "xyz"[int(along.argmax())] if along.any() else None)
    axis, _, place = value.partition("=") if isinstance(value, str) else ("", "", "")
    axis = axis.strip()
    try:
        at = float(place) if place.strip() else 0.0
    except ValueError:
        at = math.nan
    if axis not in ("x", "y", "z") or not math.isfinite(at) or (isinstance(value, str) and value.endswith("=")):
        raise ValueError(
            f"must be a plane across an axis, as 'x' or 'x=0.5' (m), or {{ point = …, normal = … }}, got {shown(value)}"
        )
    normal = np.eye(3)["xyz".index(axis)]
    return Plane(as_triple(at * normal), as_triple(normal), axis)


def formulas(value: Any, names: str = "xyz") -> tuple[str, str, str]:
    """Return three formulas in x, y and z, or other letters."""
    if not isinstance(value, list | tuple) or len(value) != 3 or not all(isinstance(one, str) for one in value):
        example = ", ".join(
            f"'{factor}*{name}'" for factor, name in zip((0.01, 0, -0.003), (*names, *names), strict=False)
        )
        raise refused(f"three formulas of {', '.join(names)} (m), as [{example}]", value)
    for one in value:
        check_formula(one, names)
    return value[0], value[1], value[2]


_LOCAL = ("radial", "tangential", "axial")


class Cylindrical(Table):
    """Directions about an axis: away from it, around it and along it, of each node where it is at the start."""

    point: Annotated[Triple, vector("m"), "Point of the axis."]
    axis: Annotated[Triple, nonzero(), "Direction of the axis."]
    fixed: Annotated[list[Literal["radial", "tangential", "axial"]], "Directions in which nodes do not move."]

    def _check(self) -> None:
        if not self.fixed or len(set(self.fixed)) < len(self.fixed):
            raise ValueError(f"fixed must be some of {', '.join(_LOCAL)}, each once, got {shown(self.fixed)}")

    def directions(self, points: Array) -> list[Array]:
        """Return the unit vectors [m, 3] of what is fixed, at points [m, 3] in m."""
        e = unit_vector(np.array(self.axis))
        arms = points - np.array(self.point)
        across = arms - np.outer(arms @ e, e)
        radius = np.linalg.norm(across, axis=1)
        bad = radius <= _ON_PLANE * float(radius.max(initial=0.0))
        if set(self.fixed) != {"axial"} and bad.any():
            at = ", ".join(f"{x:.6g}" for x in points[int(bad.argmax())])
            raise ScenarioError(
                f"cylindrical: the node at ({at}) m is on the axis, where no direction is radial or tangential; leave "
                "it out of the group."
            )
        radial = across / np.where(bad, 1.0, radius)[:, None]
        known = {"radial": radial, "tangential": np.cross(e, radial), "axial": np.tile(e, (len(points), 1))}
        return [known[name] for name in self.fixed]


class Support(Timed):
    """Boundary condition: components of motion that nodes do not have, or that are given.

    When a support ends, its nodes move on freely with their velocity. A coordinate can be fixed or moved by one
    support only. Oblique directions (``direction``, ``cylindrical``, ``symmetry`` across a normal) are held by the
    energy ½ k (n · u − b)² of each node, of the name of the support: a reaction R leaves a displacement R/k, and n
    does not rotate. A prescribed motion b(t) is its part along these directions, with its work.
    """

    does_work = True
    takes_rotations = True
    takes_reduced = True
    name: Annotated[Name | None, "Names the column `work_NAME` of its work; required where it moves."] = None
    body: BodyName
    group: Annotated[Text | None, "Group of nodes or cells of its mesh; by default all nodes."] = None
    components: Annotated[
        str, letters("none with `rotations` only"), 'Fixed, or moved, components: some letters of `"xyz"`.'
    ] = "xyz"
    rotations: Annotated[
        str | None,
        letters('"" for none'),
        "Fixed rotations of beams and shells about these axes; by default all if `components` is left out (a "
        "clamp), else none (a hinge).",
    ] = None
    symmetry: Annotated[
        Plane | None,
        Quantity(_plane, "m", 'text, `"x"` or `"x=0.5"`, or table `{ point = …, normal = … }`'),
        "Plane of symmetry: fixes displacements across it of nodes on it at the start, and rotations of beams "
        "and shells about axes in it.",
    ] = None
    direction: Annotated[
        Triple | None, nonzero(), "Oblique support: nodes do not move along this direction, instead of `components`."
    ] = None
    cylindrical: Annotated[
        Cylindrical | None, "Radial, tangential or axial support about an axis, instead of `components`."
    ] = None
    stiffness: Annotated[
        float | None,
        positive("N/m of each node"),
        "k of oblique ones, by default 1000 E h, with Young's modulus E and the mean distance h to the next node.",
    ] = None
    displacement: Annotated[
        Triple | None,
        vector("m"),
        "From the start, times the `history`; with `cylindrical` radial, tangential and axial.",
    ] = None
    field: Annotated[
        tuple[str, str, str] | None,
        Quantity(formulas, "m", "three formulas of x, y, z"),
        'Displacements by place at the start, times the `history`: `["0.01*x", "0", "-0.003*z"]`.',
    ] = None
    rotation: Annotated[Turn | None, "The nodes turn as one rigid body, times the `history`."] = None
    acceleration: Annotated[
        Triple | None,
        vector("m/s²"),
        'Times a `history` of kind `"table"`, such as a record of an earthquake; it is integrated exactly from rest.',
    ] = None
    baseline: Annotated[
        Literal["none", "rest", "polynomial"],
        "Correction of a record of `acceleration` ([accelerograms](../modes.md#accelerograms)).",
    ] = "none"
    velocity: Annotated[Triple | None, vector("m/s"), "Constant velocity, without `history`."] = None
    history: Annotated[History | None, "Factor of the motion over time; a table must cover the whole run."] = None
    interpolation: Annotated[
        Literal["spline", "linear"],
        'Of a table of displacements or rotations: a cubic spline, or `"linear"`, where the velocity jumps.',
    ] = "spline"

    @property
    def shift(self) -> Triple | None:
        """The displacement in m, the acceleration in m/s² or the velocity in m/s, if one of them is given."""
        return self.displacement or self.acceleration or self.velocity

    @property
    def moves(self) -> bool:
        """Whether a motion is given."""
        return any(getattr(self, key) is not None for key in _MOTIONS)

    @property
    def of_node(self) -> tuple[str, str]:
        """The displacements and the rotations of a node with a rotation that are held, in letters."""
        if self.symmetry is not None:
            return self.components, "".join(sorted(set("xyz") - set(self.components)))
        if self.is_oblique:
            return "", self.rotations or ""
        given = self.given_keys & {"components", "rotations"}
        components = self.components if "components" in given or not given else ""
        return components, "xyz" if not given else self.rotations or ""

    @property
    def is_oblique(self) -> bool:
        """Whether it holds directions that are not along the axes, by an energy."""
        plane = self.symmetry
        return self.direction is not None or self.cylindrical is not None or (plane is not None and plane.axis is None)

    @property
    def energies(self) -> list[str]:
        """That of an oblique one."""
        return [str(self.name)] if self.is_oblique else []

    def add_stiffness(self, world: Builder) -> None:
        """Add the energy of an oblique one."""
        if self.is_oblique:
            world.add(str(self.name), self._equations(world))

    def _equations(self, world: Builder) -> LinearConstraints:
        """Return n · u = b for each node and direction, b a multiple of the displacement of its driver."""
        mesh, nodes = world.mesh, world.nodes_of_support(self)  # pyright: ignore[reportArgumentType]
        framed = world.inertia.framed.get(self.body)
        if framed is not None:
            if self.symmetry is not None:
                raise ScenarioError(
                    f"symmetry across an oblique plane would hold rotations of '{self.body}' about oblique axes, which "
                    "is not supported; turn the model so that the plane is across an axis."
                )
            particles = framed.particles[np.isin(framed.particles[:, 0], nodes)]
        else:
            particles = nodes[:, None]
        places = world.inertia.positions()[particles].mean(axis=1)
        if self.cylindrical is not None:
            directions = self.cylindrical.directions(places)
        else:
            one = np.array(self.symmetry.normal) if self.symmetry is not None else unit_vector(np.array(self.direction))
            directions = [np.tile(one, (len(particles), 1))]
        m, k = particles.shape
        columns = np.tile(
            (3 * particles[:, :, None].astype(np.int64) + np.arange(3)).reshape(m, -1), (len(directions), 1)
        )
        factors = np.concatenate([np.tile(n / k, (1, k)) for n in directions])
        if self.moves:
            driver = 3 * world.rigid_sets.drivers[str(self.name)]
            columns = np.column_stack([columns, np.full(len(factors), driver)])
            factors = np.column_stack([factors, -self._parts_along(directions, places)])
        rows = np.repeat(np.arange(len(factors)), columns.shape[1])
        shape = len(factors), 3 * len(world.inertia.positions())
        matrix = sp.csr_array((factors.ravel(), (rows, columns.ravel())), shape=shape)
        stiffness = self.stiffness
        if stiffness is None:
            if self.body not in world.inertia.young:
                raise ScenarioError(
                    f"'{self.body}' is no [[body]], from which a stiffness could follow; give it in N/m."
                )
            stiffness = stiffness_of(mesh, {self.body: world.inertia.young[self.body]})
        return LinearConstraints(world.inertia.positions(), matrix, stiffness=stiffness)

    def _parts_along(self, directions: list[Array], places: Array) -> Array:
        """Return the parts in m of a motion along directions [m, 3], one after the other, at places [m, 3] in m."""
        if self.cylindrical is not None and self.shift is not None:
            parts = [self.shift[_LOCAL.index(name)] for name in self.cylindrical.fixed]
            return np.repeat(parts, len(places))
        u = displacements_at(self, places)  # pyright: ignore[reportArgumentType]
        found = np.concatenate([np.einsum("mi,mi->m", n, u) for n in directions])
        if not np.abs(found).max(initial=0.0) > _ALONG * np.abs(u).max(initial=0.0):
            raise ScenarioError("its motion has no part along the directions that it holds; leave it out.")
        return found

    def needs(self) -> Iterable[Need]:
        """Moving supports."""
        if self.moves:
            yield Need(
                "moving supports", "it moves, which {kind} cannot follow; take another integrator, such as {others}."
            )

    def on_plane(self, points: Array) -> NDArray[np.bool_]:
        """Return which points [n, 3] in m are on the plane of symmetry; all if there is none."""
        if self.symmetry is None:
            return np.ones(len(points), bool)
        plane = self.symmetry
        along = points @ np.array(plane.normal)
        found = np.abs(along - np.dot(plane.point, plane.normal)) <= _ON_PLANE * float(
            np.ptp(points, axis=0).max(initial=0.0)
        )
        if not found.any():
            raise ScenarioError(
                f"symmetry: no node of '{self.body}' is on the plane {plane}; its nodes are from "
                f"{along.min():g} to {along.max():g} m{'' if plane.axis else ' along its normal'}."
            )
        return found

    def _check(self) -> None:
        if self.symmetry is not None:
            keys = ("group", "components", "rotations", *_MOTIONS, "history", "direction", "cylindrical")
            self.refuse_unused(*keys, goes_with="supports without symmetry, which says what is held")
            self.__dict__["components"] = self.symmetry.axis or ""  # as if it were given
        if self.acceleration is None:
            self.refuse_unused("baseline", goes_with="acceleration, the record of which it corrects")
        if self.is_oblique:
            self._require_oblique()
        else:
            self.refuse_unused(
                "stiffness", goes_with="direction, cylindrical or oblique symmetry, which are held by it"
            )
        if self.history is None or self.history.kind != "table" or self.acceleration is not None:
            self.refuse_unused(
                "interpolation", goes_with="a history of kind 'table' that multiplies a displacement or rotation"
            )
        if not self.components and not self.rotations and not self.is_oblique:
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
        stands = self.only_at_start and self.history is None and motion in ("displacement", "field", "rotation")
        if (self.history is None) != (motion == "velocity") and not stands:
            raise ValueError(
                "with velocity moves steadily, so it has no history"
                if motion == "velocity"
                else f"needs a history, by which {motion} is multiplied"
            )
        if motion == "acceleration" and self.history is not None and self.history.kind != "table":
            raise ValueError(f"with acceleration needs a history of kind 'table', not '{self.history.kind}'")
        self._require_components(motion)

    def _require_oblique(self) -> None:
        if self.symmetry is None:
            one_of(self, ("direction", "cylindrical"), "direction")
            keys = ("components", "rotation")
            self.refuse_unused(*keys, goes_with="supports along the axes, and not with direction or cylindrical")
            self.__dict__["components"] = ""
        if self.name is None:
            raise ValueError("is held by an energy in a direction that is not along an axis, so it needs a name")

    def _require_components(self, motion: str) -> None:
        if motion == "rotation":
            if set(self.components) != set("xyz"):
                raise ValueError(f"components must be 'xyz' with rotation, got '{self.components}'")
            return
        if motion == "field":
            return  # which is zero in components that are not given
        vector = getattr(self, motion)
        if not any(vector):
            raise ValueError(f"{motion} is zero; leave it out for a support at rest")
        if self.cylindrical is not None:
            free = [name for name, x in zip(_LOCAL, vector, strict=True) if x and name not in self.cylindrical.fixed]
            if free:
                raise ValueError(
                    f"{motion} has {', '.join(_LOCAL)} parts with cylindrical, and the {free[0]} one is not zero but "
                    "not among those of fixed"
                )
        if self.is_oblique:
            return
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


def needs_of_history(history: History | None) -> Iterator[Need]:
    """Yield what forces with a potential need where they change with time: loads."""
    if history is not None:
        yield Need(
            "loads",
            "it changes with time, so it has no potential, which {kind} needs; take another integrator, such as "
            "{others}, or leave history out.",
        )


class Gravity(Timed):
    """Weight of all that has mass; with a history a load, whose work is `work_gravity`."""

    of_all = True
    takes_rotations = True
    takes_reduced = True
    acceleration: Annotated[Triple, vector("m/s²"), "Such as `[0, 0, -9.81]`."]
    history: Annotated[History | None, "Factor over time, such as a ramp; by default 1."] = None

    @property
    def energies(self) -> list[str]:
        """One, if it is constant."""
        return [GRAVITY] if self.history is None else []

    without_secant = energies

    def columns(self, tables: object) -> list[str]:
        """Its work."""
        return [f"work_{GRAVITY}"]

    def needs(self) -> Iterable[Need]:
        """Loads, where it changes."""
        yield from needs_of_history(self.history)

    def add_forces(self, world: Builder) -> None:
        """Add the potential of weight, or a load."""
        world.add(GRAVITY, self.part(world))

    def part(self, world: Builder, without: Sequence[str] = ()) -> loads.Gravity | loads.NodalLoad:
        """Return the potential of weight, or a load, of all but some bodies."""
        weights = world.inertia.weights(without)
        if self.history is None:
            return loads.Gravity(weights, self.acceleration)
        forces = np.outer(nodal_masses("gravity", weights), self.acceleration)
        nodes = np.flatnonzero(forces.any(axis=1)).astype(np.int32)
        if not len(nodes):
            raise ScenarioError("acceleration is zero; leave [gravity] out.")
        over = factor(self.history, world.folder, self.begin)  # pyright: ignore[reportArgumentType]
        return loads.NodalLoad(nodes, forces[nodes], over)
