"""The tables of probes, whose numbers are kept in their own files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from symplex.base.quantities import ZERO, Name, Text, Triple, vector, whole
from symplex.fem.outputs.field_probes import Motion
from symplex.fem.outputs.force_probes import OfBars, OfBeams, OfShells
from symplex.fem.outputs.inelastic_probe import OfBonds, OfHinges
from symplex.fem.outputs.joint_probe import OfJoints
from symplex.fem.outputs.probe import Reduction
from symplex.fem.outputs.solid_fields import Quantity
from symplex.scenario.sampling import MOST_FRAMES
from symplex.scenario.table import Entry, one_of

if TYPE_CHECKING:
    from symplex.scenario.tables import Tables

Event = Literal["onset", "peak"]
if TYPE_CHECKING:
    _Quantity = str
else:
    _Quantity = Literal[Motion, "rotation", Quantity, OfBars, OfBonds, OfHinges, OfBeams, OfShells, OfJoints]
_COMPONENTS = Literal["x", "y", "z", "xx", "yy", "zz", "xy", "yz", "xz", "1", "2", "3", "11", "22", "12", "norm"]
_MOST_PLACES = 1000


class ProbeTable(Entry):
    """History output: a few numbers of a motion in a file, ``probe-NAME.csv`` ([outputs.md](../outputs.md)).

    It has one of ``body``, ``joint``, ``support``, ``obstacle`` and ``contact``.
    """

    of_all = False
    has_name = False
    name: Annotated[Name, "Names its file."]
    body: Annotated[
        Text | None,
        "Body, truss, beam, shell, point mass, spring or cohesive bond, as a whole or as the next four keys say.",
    ] = None
    nodes: Annotated[
        list[Annotated[int, whole(0, 2**31 - 1)]] | None,
        "Numbers of nodes from 0, as ParaView has them in the block of the body.",
    ] = None
    points: Annotated[
        list[Annotated[Triple, vector("m")]] | None,
        "Points `[x, y, z]` of the undeformed body, where fields are interpolated; section forces are those of "
        "the nearest element.",
    ] = None
    group: Annotated[Text | None, "Group of its mesh."] = None
    members: Annotated[
        list[Annotated[int, whole(0, 2**31 - 1)]] | None,
        "Of trusses, beams, springs, shells (elements) and cohesive faces: numbers from 0.",
    ] = None
    joint: Annotated[
        Text | None,
        "Name of a joint: the angle or displacement of its first body seen from the second, force and moment on it.",
    ] = None
    support: Annotated[
        Text | None,
        "Name of a support, or its number: reaction force on the body and its moment, zero while it does not act; "
        '`"all"`: of each, and of all together.',
    ] = None
    obstacle: Annotated[Text | None, 'Name, or `"all"`: force on all bodies, friction included, and its moment.'] = None
    contact: Annotated[
        Text | None,
        'Name of a `[[contact]]`, or `"all"`: force on each of its bodies, friction included, and its moment.',
    ] = None
    quantities: Annotated[
        list[_Quantity] | None,
        'By default `["displacement"]`, of members and springs `["axial_force"]`, of cohesive faces '
        '`["damage"]`, of joints all but the rates `angular_velocity` and `velocity` '
        "([outputs.md](../outputs.md), [beams](../beams.md#in-scenarios), "
        "[shells](../shells.md#in-scenarios), [bonds](../bonds.md#output)).",
    ] = None
    components: Annotated[
        list[_COMPONENTS] | None,
        "By default all but the norm. Each quantity has those of its kind, or all if none of them is named.",
    ] = None
    reduce: Annotated[
        list[Reduction] | None,
        'Over the places; by default `["mean"]` of groups and whole bodies, and each of other places.',
    ] = None
    interpolate: Annotated[
        bool, "`false`: take the node nearest to a point, which must be no farther away than its elements reach."
    ] = True
    relative_to: Annotated[
        Text | None,
        "Name of a `[[support]]`, such as a shaken base: displacements, velocities and accelerations are those less "
        "the mean of its nodes.",
    ] = None
    about: Annotated[Triple, vector("m"), "Point about which moments are taken."] = ZERO
    every: Annotated[
        int, whole(1, 10 * MOST_FRAMES), "A row at each so many samples; may be smaller than `history_every`."
    ] = 1
    format: Annotated[Literal["csv", "hdf5"], '`"hdf5"` is for long ones.'] = "csv"
    frame_on: Annotated[
        Event | None,
        '`"onset"`: a frame when its first value is not zero for the first time; `"peak"`: a frame at the row '
        "after each new maximum of it.",
    ] = None

    def _check(self) -> None:
        one_of(self, _THINGS, "thing to look at")
        if self.body is None:
            keys = (*_OF_BODIES, "reduce", *(("quantities", "components") if self.joint is None else ()))
            given = [key for key in keys if getattr(self, key) is not None]
            if given:
                raise ValueError(f"reports forces and moments, and has {given[0]}, which goes with body only")
        for key in ("nodes", "points", "members", "quantities", "components", "reduce"):
            value = getattr(self, key)
            if value is not None and not len(value):
                raise ValueError(f"{key} is [], must name one at least, or be left out")
            if value is not None and len(value) > _MOST_PLACES:
                raise ValueError(f"{key} has {len(value):,} items, must have at most {_MOST_PLACES:,}")
            if value is not None and len(set(value)) < len(value):
                raise ValueError(f"{key} names one twice")
        given = [key for key in _OF_BODIES if getattr(self, key) is not None]
        if len(given) > 1:
            raise ValueError(f"has {given[0]} and {given[1]}; give one of {', '.join(_OF_BODIES)}")
        if self.relative_to is not None and self.body is None:
            raise ValueError("relative_to is given, which goes with motions of a body")
        if not self.interpolate and self.points is None:
            raise ValueError("interpolate is false, which goes with points")
        if any(self.about) and (self.body is not None or self.joint is not None):
            raise ValueError("about is given, which goes with moments of supports, obstacles and contacts")

    @property
    def acts_on(self) -> str:
        """What it looks at: the key that names it."""
        return next(key for key in _THINGS if getattr(self, key) is not None)


_THINGS = ("body", "joint", "support", "obstacle", "contact")
_OF_BODIES = ("nodes", "points", "group", "members")


def wrong_probes(tables: Tables) -> list[str]:
    """Return lines about probes of one name, and those that cannot be reported."""
    lines, seen = [], {}
    for k, table in enumerate(tables.probe):
        here = table.here
        key = table.name.casefold()  # some file systems do not distinguish letters of two cases
        if key in seen:
            lines.append(
                f"{here}: the name is taken by [[probe]] #{seen[key] + 1}; choose another, as it names a file."
            )
        seen.setdefault(key, k)
        if table.acts_on == "support" and tables.rod:
            rattles = all(
                item.kind == "rattle" and (getattr(item, "order", None) or 2) == 2 for item in tables.integrators
            )
            if not rattles or tables.thermostat is not None:
                lines.append(
                    f'{here}: reactions with rods are known to kind = "rattle" of order 2 only, without a thermostat.'
                )
    return lines
