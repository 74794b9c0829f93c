"""The table of joints between rigid bodies, nodes of beams and the ground, and what it describes."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from symplex.base.quantities import (
    Name,
    Quantity,
    Text,
    Triple,
    check_text,
    listed,
    nonzero,
    number,
    positive,
    shown,
    vector,
)
from symplex.errors import ScenarioError
from symplex.fem.actions.time_function import TimeFunction
from symplex.fem.energies.energy import IntArray
from symplex.fem.structures.joint_laws import JointCoordinate, JointLoad, JointSpring
from symplex.fem.structures.joints import Joint, JointKind, columns_of, coordinates_of
from symplex.meshes.mesh import Mesh
from symplex.scenario.actions import History, Timed, time_or_name
from symplex.scenario.prescribed import factor, motion_over_time, require_covered
from symplex.scenario.selections import node_at
from symplex.scenario.table import Need, Table

if TYPE_CHECKING:
    from symplex.scenario.building import Builder
    from symplex.scenario.tables import Tables

FRAMED = Quantity(check_text, kind="name of a rigid body, beam or shell")
_OF_ANGLE, _OF_DISPLACEMENT = ("torque", "angle"), ("force", "displacement")
_LAWS = ("spring", "stops", "damping", "friction")
_UNIT = "N m/rad or N/m"


class JointSpringTable(Table):
    """A spring along the angle or displacement of a joint: ½ k (α − α₀)²."""

    stiffness: Annotated[float, positive(_UNIT), "k."]
    rest: Annotated[
        float, number("rad or m"), "α₀; bodies are at 0 at the start. An angle stays within half a turn of it."
    ] = 0.0


class JointStopsTable(Table):
    """Where the angle or displacement of a joint is stopped: by a spring of one side."""

    lowest: Annotated[float | None, number("rad or m"), "By default there is no such stop."] = None
    highest: Annotated[float | None, number("rad or m"), "The same."] = None
    stiffness: Annotated[float, positive(_UNIT), "Of the stops, beyond them."]

    def _check(self) -> None:
        if self.lowest is None and self.highest is None:
            raise ValueError("needs lowest or highest, or both")
        if self.lowest is not None and self.highest is not None and not self.lowest < self.highest:
            raise ValueError(f"lowest must be below highest = {self.highest:g}, got {self.lowest:g}")

    @property
    def limits(self) -> tuple[float, float]:
        """Both, infinite where there is none."""
        return -inf if self.lowest is None else self.lowest, inf if self.highest is None else self.highest

    @property
    def middle(self) -> float:
        """The middle between both, from which an angle is less than half a turn away; else 0."""
        return 0.0 if self.lowest is None or self.highest is None else 0.5 * (self.lowest + self.highest)


class JointFrictionTable(Table):
    """Coulomb's friction of a joint: −c α̇/√(α̇² + ε²)."""

    resistance: Annotated[float, positive("N m or N"), "c, the same at all speeds but small ones."]
    slip: Annotated[float, positive("rad/s or m/s"), "ε: at this speed 71 % of it act."]


class JointTable(Timed):
    """A joint between rigid bodies, beams or shells, or one and the ground: some relative motions are impossible.

    [Kinds and outputs](../joints.md#kinds). Springs, stops, dampers, friction and motors act along the angle, or the
    displacement, of the first body seen from the second one; both are 0 at the start.
    """

    of_all = False
    begin: ClassVar[float] = 0.0  # pyright: ignore[reportIncompatibleVariableOverride]
    until: Annotated[
        float | None,
        time_or_name(),
        "Time until which it holds, or the name of a `[[when]]`: a joint that breaks.",
    ] = None
    name: Annotated[Name, "Names its columns: `NAME_force_x`, `NAME_moment_x`, …, `NAME_angle`, `NAME_displacement`."]
    kind: Annotated[JointKind, "What both bodies have in common."]
    bodies: Annotated[
        list[Annotated[str, FRAMED]],
        "One or two names: rigid bodies with a mass, beams, or shells; one alone is joined to the ground.",
    ]
    at: Annotated[Triple, vector("m"), "Its point at the start; beams and shells have a node there."]
    groups: Annotated[
        list[Text],
        'Groups of one node each of beams and shells, instead of nodes at the point; `""` of rigid bodies. Both '
        "bodies may then be the same.",
    ] = []
    axis: Annotated[Triple | None, nonzero(), "Its axis, but for spherical and rigid joints."] = None
    second: Annotated[
        Triple | None, nonzero(), "Of universal joints: the axis in the second body, at right angles to the first one."
    ] = None
    coordinate: Annotated[
        JointCoordinate | None, "Of cylindrical joints: along which spring, stops, damping and friction act."
    ] = None
    spring: Annotated[JointSpringTable | None, "Along its angle or displacement."] = None
    stops: Annotated[JointStopsTable | None, "Of its angle or displacement."] = None
    damping: Annotated[float | None, positive("N m s/rad or N s/m"), "d of the damper −d α̇."] = None
    friction: Annotated[JointFrictionTable | None, "Along its angle or displacement."] = None
    torque: Annotated[float | None, number("N m"), "About its axis, on the first body; times the `history`."] = None
    force: Annotated[float | None, number("N"), "Along its axis, on the first body; times the `history`."] = None
    angle: Annotated[float | None, number("rad"), "Given, times the `history`; 0 at the start."] = None
    displacement: Annotated[float | None, number("m"), "Given, times the `history`; 0 at the start."] = None
    history: Annotated[
        History | None,
        "Factor over time; of torque and force by default 1. Of angle and displacement a table must cover the run.",
    ] = None
    interpolation: Annotated[
        Literal["spline", "linear"],
        'Of a table of an angle or displacement: a cubic spline, or `"linear"`, where the velocity jumps.',
    ] = "spline"

    def _check(self) -> None:
        if not 1 <= len(self.bodies) <= 2:
            raise ValueError(f"bodies must be one or two names, got {len(self.bodies)}")
        if self.groups and len(self.groups) != len(self.bodies):
            raise ValueError(f"groups must be one for each of the {len(self.bodies)} bodies, got {len(self.groups)}")
        if len(set(zip(self.bodies, self.groups or self.bodies, strict=True))) < len(self.bodies):
            raise ValueError(f"joins '{self.bodies[0]}' to itself; name two bodies, or one for a joint to the ground")
        known = coordinates_of(self.kind)
        for coordinate, keys in (("angle", _OF_ANGLE), ("displacement", _OF_DISPLACEMENT)):
            given = [key for key in keys if getattr(self, key) is not None]
            if given and coordinate not in known:
                raise ValueError(f"of kind '{self.kind}' has no {coordinate}; leave {given[0]} out")
            if len(given) > 1:
                raise ValueError(f"has {' and '.join(given)}; give one of them")
        laws = [key for key in _LAWS if getattr(self, key) is not None]
        if laws and not known:
            raise ValueError(f"of kind '{self.kind}' has no angle and no displacement; leave {laws[0]} out")
        if laws and len(known) > 1 and self.coordinate is None:
            raise ValueError(f'of kind \'{self.kind}\' needs coordinate, "angle" or "displacement", for its {laws[0]}')
        if self.coordinate is not None and (len(known) < 2 or not laws):
            raise ValueError(
                "coordinate goes with spring, stops, damping or friction of kind 'cylindrical'; leave it out"
            )
        self._check_history()

    def _check_history(self) -> None:
        moved = [key for key in ("angle", "displacement") if getattr(self, key) is not None]
        driven = [key for key in ("torque", "force") if getattr(self, key) is not None]
        if moved and self.history is None:
            raise ValueError(f"needs a history, by which {moved[0]} is multiplied")
        if self.history is not None and not (moved or driven):
            raise ValueError(
                "has a history, but nothing that it could change: give torque, force, angle or displacement"
            )
        if not moved or self.history is None or self.history.kind != "table":
            self.refuse_unused(
                "interpolation", goes_with="a history of kind 'table' that multiplies an angle or displacement"
            )

    @property
    def energies(self) -> list[str]:
        """Spring and stops."""
        return [f"{self.name}_{key}" for key in ("spring", "stops") if getattr(self, key) is not None]

    @property
    def _loads(self) -> list[str]:
        """What acts besides."""
        return [key for key in ("torque", "force", "damping", "friction") if getattr(self, key) is not None]

    def columns(self, tables: Tables) -> Iterable[str]:
        """Its reactions, its angle and displacement, its energies, and its loads with their works."""
        of_loads = [f"{self.name}_{key}" for key in self._loads]
        reported = [column.name for column in columns_of(self.kind, self.name)]
        return [*reported, *self.energies, *of_loads, *(f"work_{name}" for name in (self.name, *of_loads))]

    def needs(self) -> Iterable[Need]:
        """Joints, and what moves them."""
        yield Need("joints", "{kind} cannot keep joints; take another integrator, such as {others}.")
        if self.angle is not None or self.displacement is not None:
            what = "displacement" if self.angle is None else "angle"
            yield Need(
                "moving joints",
                f"its {what} is given, which {{kind}} cannot follow; take another integrator, such as {{others}}.",
                "joints",
            )
        if self._loads:
            yield Need(
                "loads",
                f"its {self._loads[0]} has no potential, which {{kind}} needs; take another integrator, such as "
                "{others}.",
                "joints",
            )

    def add_stiffness(self, world: Builder) -> None:
        """Add the joint, and what acts along it."""
        angle, displacement = (self._motion(world, size) for size in (self.angle, self.displacement))
        bodies = [*(self._particles(world, k) for k in range(len(self.bodies))), None][:2]
        joint = Joint(
            *(self.kind, bodies, world.inertia.positions(), self.at, self.axis, self.second),
            angle=angle,
            displacement=displacement,
        )
        world.add(self.name, joint)
        along = self.coordinate
        if (spring := self.spring) is not None:
            world.add(f"{self.name}_spring", JointSpring(joint, spring.stiffness, spring.rest, coordinate=along))
        if (stops := self.stops) is not None:
            law = JointSpring(joint, 0.0, stops.middle, stops.limits, stops.stiffness, coordinate=along)
            world.add(f"{self.name}_stops", law)
        driven: tuple[tuple[str, JointCoordinate], ...] = (("torque", "angle"), ("force", "displacement"))
        for key, coordinate in driven:
            if (value := getattr(self, key)) is not None:
                moment = value if self.history is None else factor(self.history, world.folder, size=value)
                world.add(f"{self.name}_{key}", JointLoad(joint, moment, coordinate=coordinate))
        if self.damping is not None:
            world.add(f"{self.name}_damping", JointLoad(joint, damping=self.damping, coordinate=along))
        if (friction := self.friction) is not None:
            load = JointLoad(joint, friction=friction.resistance, slip=friction.slip, coordinate=along)
            world.add(f"{self.name}_friction", load)

    def _motion(self, world: Builder, size: float | None) -> TimeFunction | None:
        """Return a motion that is given, of the size where the factor of its history is 1."""
        if size is None or self.history is None:
            return None
        motion = motion_over_time(self.history, world.folder, self.interpolation == "spline")
        require_covered(motion, world.tables.run.end)
        return motion.scaled(size)

    def _particles(self, world: Builder, k: int) -> IntArray:
        """Return the particles [4] of a body."""
        return particles_of(world, self.bodies[k], self.at, self.groups[k] if self.groups else None)

    def framed_nodes(self, body: str, mesh: Mesh) -> list[int]:
        """Return the nodes of beams or shells, in their own mesh, that it needs the frames of."""
        groups = self.groups or [None] * len(self.bodies)
        return [
            node_of_frame(mesh, name, self.at, group)
            for name, group in zip(self.bodies, groups, strict=True)
            if name == body
        ]


def particles_of(world: Builder, name: str, at: Triple | None, group: str | None) -> IntArray:
    """Return the particles [4] of a rigid body, or of the node of a beam or shell at a place or in a group."""
    if (framed := world.inertia.framed.get(name)) is not None:
        return framed.particles[node_of_frame(framed.mesh, name, at, group)]
    if group:
        raise ScenarioError(f"groups are of beams and shells, and '{name}' is neither; give \"\" for it.")
    rigid = world.rigid_sets.rigid_sets[name]
    if not rigid.table.is_free:
        raise ScenarioError(
            f"'{name}' has no mass, and joints are between what moves freely; give it a mass or density, or leave "
            "it out, for a joint to the ground."
        )
    if not world.rigid_sets.framed:
        raise ScenarioError(
            f"an energy keeps '{name}' rigid here, to which no joint can be fixed yet; so it is with orders above "
            "that of an implicit method, a thermostat and several ranks; do without."
        )
    return rigid.nodes


def node_of_frame(mesh: Mesh, name: str, at: Triple | None, group: str | None) -> int:
    """Return which node of a beam or shell, in its own mesh, is at a place, or in a group of one node."""
    if group is None:
        if at is None:
            raise ScenarioError(f"'{name}' has many nodes; give at, the place of one, or a group of one node.")
        return node_at(mesh.points, name, at)
    if group not in mesh.groups:
        raise ScenarioError(f"groups: '{name}' has no group {shown(group)}; it has: {listed(mesh.groups)}.")
    nodes = mesh.nodes_of(group)
    if len(nodes) != 1:
        raise ScenarioError(f"groups: '{group}' of '{name}' must have one node, got {len(nodes)}.")
    return int(nodes[0])
