"""Conditions on the motion, `[[when]]`: what a run does as a force, a gap, an energy or the time passes a value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from symplex.base.quantities import Name, Text, number, positive, shown, whole
from symplex.scenario.actions import Timed
from symplex.scenario.messages import suggestion
from symplex.scenario.table import Entry, one_of

if TYPE_CHECKING:
    from symplex.scenario.tables import Tables

_MOST_STEPS = 10**9


class WhenTable(Entry):
    """A condition on the motion, and what happens where it holds for the first time ([stages.md](../stages.md#events)).

    The time is located within a step, to 1e-10 of it, by a shorter one. The ``from`` and ``until`` of loads, supports,
    gravity and dampers, and the ``until`` of joints, can be its name: they begin, with their history, or end there.
    Else it stops the run, goes on with a later stage, or is only reported, in ``summary.json`` and to other conditions.
    """

    of_all = False
    has_name = False
    name: Annotated[Name, "Which `from`, `until` and `after` name."]
    probe: Annotated[Text | None, "Name of the `[[probe]]` whose value counts."] = None
    column: Annotated[Text | None, "Which column of its file, such as `force_x`; by default the first."] = None
    energy: Annotated[
        Text | None, 'Energy that counts: `"kinetic"`, `"total"`, or that of a body, spring, load …, by its name.'
    ] = None
    time: Annotated[float | None, positive("s"), "At this time; with `after`, so long after the last of those."] = None
    above: Annotated[float | None, number("unit of the value"), "As the value is larger than this one,"] = None
    below: Annotated[float | None, number("unit of the value"), "or smaller."] = None
    after: Annotated[
        list[Text], "Other conditions that must have held before; until then this one is not evaluated."
    ] = []
    stop: Annotated[bool, "Whether the run ends there."] = False
    stage: Annotated[Text | None, "Name of a later `[[stage]]` that begins there, and ends at its own time."] = None
    every: Annotated[int, whole(1, _MOST_STEPS), "Steps between evaluations."] = 1

    def _check(self) -> None:
        what = one_of(self, ["probe", "energy", "time"], "value")
        if what == "time":
            self.refuse_unused("above", "below", "every", goes_with="probe or energy")
        else:
            one_of(self, ["above", "below"], "bound")
        if what != "probe":
            self.refuse_unused("column", goes_with="probe")
        if self.stop and self.stage is not None:
            raise ValueError("stop and stage are mutually exclusive: the run ends, or goes on with a stage")
        if self.name in self.after:
            raise ValueError("comes after itself; leave its own name out of after")


def wrong_conditions(tables: Tables) -> list[str]:
    """Return lines about conditions that name what is not there, or can never hold, and what names them."""
    lines: list[str] = []
    names, stages = [table.name for table in tables.when], [stage.name for stage in tables.stage]
    probes = [table.name for table in tables.probe]
    used: set[str] = set()
    for here, item in tables.entries(Timed):
        for key, name in (("from", item.begin_event), ("until", item.until_event)):
            if name is None:
                continue
            used.add(name)
            if name not in names:
                lines.append(f"{here}: {key}: there is no [[when]] {shown(name)}; {suggestion(name, names)}")
        if item.begin_event is not None and item.begin_event == item.until_event:
            lines.append(f"{here}: from and until are both {shown(item.begin_event)}, so that it never acts.")
    for k, table in enumerate(tables.when):
        here = table.here
        if table.name in names[:k]:
            lines.append(f"{here}: the name is taken by [[when]] #{names.index(table.name) + 1}; choose another.")
        if table.probe is not None and table.probe not in probes:
            lines.append(f"{here}: there is no [[probe]] {shown(table.probe)}; {suggestion(table.probe, probes)}")
        lines += [
            f"{here}: after: there is no [[when]] {shown(name)}; {suggestion(name, names)}"
            for name in table.after
            if name not in names
        ]
        if table.stage is not None and table.stage not in stages[1:]:
            later = [name for name in stages[1:] if name is not None]
            known = suggestion(table.stage, later) if later else "there is no later [[stage]] with a name."
            lines.append(f"{here}: stage: there is no later stage {shown(table.stage)}; {known}")
        if table.stop and table.name in used:
            lines.append(f"{here}: stop ends the run, so that nothing can begin or end to act there; give one of both.")
        if table.time is not None and not table.after and table.time >= tables.run.duration:
            lines.append(f"{here}: time is {table.time:g} s, when the run of {tables.run.duration:g} s is over.")
    if tables.when and any(getattr(one, "device", "cpu") != "cpu" for one in tables.integrators):
        lines.append("[[when]] is not supported on a device; leave device out.")
    return lines if lines else _never(tables.when)  # pyright: ignore[reportArgumentType]


def _never(whens: Sequence[WhenTable]) -> list[str]:
    """Return lines about conditions that wait for each other."""
    done: set[str] = set()
    while ready := {when.name for when in whens if when.name not in done and done.issuperset(when.after)}:
        done |= ready
    return [
        f"{when.here}: it can never hold: the conditions in after wait for each other."
        for when in whens
        if when.name not in done
    ]


def described(tables: Tables) -> list[tuple[str, str]]:
    """Return the name of each condition, and when it holds and what happens then, for `symplex check`."""
    acting = [
        (name, f"{here} {word}")
        for here, item in tables.entries(Timed)
        for name, word in ((item.begin_event, "begins"), (item.until_event, "ends"))
    ]
    found = []
    for when in tables.when:
        if when.time is not None:
            at = f"{when.time:g} s" + (" later" if when.after else "")
        else:
            what = f"'{when.probe}' {when.column or ''}".rstrip() if when.probe is not None else str(when.energy)
            at = f"{what} {f'above {when.above:g}' if when.above is not None else f'below {when.below:g}'}"
        then = ["the run stops"] * when.stop + [f"stage '{when.stage}' begins"] * (when.stage is not None)
        then += [change for name, change in acting if name == when.name]
        after = "".join(f", after '{name}'" for name in when.after)
        found.append((when.name, f"{at}{after}: {', '.join(then) or 'reported'}"))
    return found
