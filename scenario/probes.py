"""The tables of probes, whose numbers are kept in files of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import model_validator

from symplex.base.quantities import ZERO, Name, Text, Triple, shown, vector, whole
from symplex.fem.outputs.field_probes import Motion
from symplex.fem.outputs.force_probes import OfBars
from symplex.fem.outputs.probe import Reduction
from symplex.fem.outputs.solid_fields import Quantity
from symplex.scenario.sampling import MOST_FRAMES
from symplex.scenario.table import Table, one_of

if TYPE_CHECKING:
    from symplex.scenario.tables import Tables

Event = Literal["onset", "peak"]
if TYPE_CHECKING:
    _Quantity = str
else:
    _Quantity = Literal[Motion, Quantity, OfBars]
_COMPONENTS = Literal["x", "y", "z", "xx", "yy", "zz", "xy", "yz", "xz", "1", "2", "3", "norm"]
_MOST_PLACES = 1000


class ProbeTable(Table):
    """A few numbers of a motion, in a file of their own."""

    name: Name
    body: Text | None = None
    nodes: list[Annotated[int, whole(0, 2**31 - 1)]] | None = None
    points: list[Annotated[Triple, vector("m")]] | None = None
    group: Text | None = None
    members: list[Annotated[int, whole(0, 2**31 - 1)]] | None = None
    support: Text | None = None
    obstacle: Text | None = None
    contact: Text | None = None
    quantities: list[_Quantity] | None = None
    components: list[_COMPONENTS] | None = None
    reduce: list[Reduction] | None = None
    interpolate: bool = True
    about: Annotated[Triple, vector("m")] = ZERO
    every: Annotated[int, whole(1, 10 * MOST_FRAMES)] = 1
    format: Literal["csv", "hdf5"] = "csv"
    frame_on: Event | None = None

    @model_validator(mode="after")
    def _check(self) -> ProbeTable:
        one_of(self, ["body", "support", "obstacle", "contact"], "thing to look at")
        if self.body is None:
            keys = (*_OF_BODIES, "quantities", "components", "reduce")
            given = [key for key in keys if getattr(self, key) is not None]
            if given:
                raise ValueError(f"tells forces and moments, and has {given[0]}, which goes with body only")
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
        if not self.interpolate and self.points is None:
            raise ValueError("interpolate is false, which goes with points")
        if any(self.about) and self.body is not None:
            raise ValueError("about is given, which goes with moments of supports, obstacles and contacts")
        return self

    @property
    def acts_on(self) -> str:
        """What it looks at: the key that names it."""
        return next(key for key in ("body", "support", "obstacle", "contact") if getattr(self, key) is not None)


_OF_BODIES = ("nodes", "points", "group", "members")


def wrong_probes(tables: Tables) -> list[str]:
    """Return lines about probes of one name, and those that cannot be told."""
    lines, seen = [], {}
    for k, table in enumerate(tables.probe):
        here = f"[[probe]] #{k + 1} {shown(table.name)}"
        key = table.name.casefold()  # some file systems do not tell letters of two cases apart
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
                    f'{here}: reactions beside rods are known to kind = "rattle" of order 2 only, without a thermostat.'
                )
    return lines
