"""The events of a motion that the conditions of a scenario are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from symplex.base.quantities import shown
from symplex.errors import ScenarioError
from symplex.scenario.actions import Timed
from symplex.scenario.conditions import WhenTable
from symplex.scenario.messages import suggestion
from symplex.scenario.probe_building import BuiltProbe
from symplex.scenario.sampling import Change
from symplex.time.stage_event import Event, Following, Quantity

if TYPE_CHECKING:
    from symplex.fem.system import State
    from symplex.scenario.tables import Tables
    from symplex.time.motion import Motion
    from symplex.time.stages import Stage


def events_of(
    tables: Tables, probes: Sequence[BuiltProbe], energies: Sequence[str], following: Callable[..., Sequence[Stage]]
) -> list[Event]:
    """Return the events that the conditions of a scenario are.

    Parameters
    ----------
    tables : Tables
    probes : sequence of BuiltProbe
    energies : sequence of str
        The names of those that the motion reports.
    following : callable
        Returns the stages that go on where something changes, given the times in s of all that has happened.
    """
    acting = _named(tables)
    built = {probe.table.name: probe for probe in probes}
    events = []
    for when in tables.when:
        try:
            value: Quantity | str = "time"
            if when.probe is not None:
                value = _of_probe(when, built[when.probe])
            elif when.energy is not None:
                value = _of_energy(when.energy, energies)
        except ScenarioError as error:
            raise ScenarioError(f"{when.here}: {error}") from None
        changes = when.stage is not None or when.name in acting
        then: str | Following = "stop" if when.stop else following if changes else "record"
        above = when.time if when.time is not None else when.above
        events.append(Event(when.name, value, above, when.below, then, when.after, when.every))  # pyright: ignore[reportArgumentType]
    return events


def _of_probe(when: WhenTable, built: BuiltProbe) -> Quantity:
    """Return what finds the value of a column of a probe."""
    columns = [(probe, k, column.name) for probe in built.probes for k, column in enumerate(probe.columns)]
    known = [name for *_, name in columns]
    requested = known[0] if when.column is None else when.column
    if requested not in known:
        raise ScenarioError(
            f"the probe '{when.probe}' has no column {shown(requested)}; {suggestion(requested, known)}"
        )
    probe, k, _ = columns[known.index(requested)]

    def value(motion: Motion, state: State) -> float:
        return float(probe.values(motion.observation(state))[k])

    return value


def _of_energy(name: str, energies: Sequence[str]) -> Quantity:
    """Return what finds an energy in J; one that does not act is 0."""
    if name not in energies:
        raise ScenarioError(f"there is no energy {shown(name)}; {suggestion(name, list(energies))}")

    def value(motion: Motion, state: State) -> float:
        return motion.energies(state).get(name, 0.0)

    return value


def changes_of(tables: Tables, happened: Mapping[str, float]) -> list[Change]:
    """Return what the conditions that have held change of a run, given their times in s; some change nothing."""
    whens, acting = {when.name: when for when in tables.when}, _named(tables)
    stages = [stage.name for stage in tables.stage]
    return [
        Change(t, stages.index(when.stage) if when.stage else None, when.stop)
        for name, t in happened.items()
        if (when := whens[name]).stop or when.stage is not None or name in acting
    ]


def first_stage(tables: Tables, happened: Mapping[str, float]) -> int:
    """Return the number of the stage to which the conditions that have held have come."""
    return max((change.stage or 0 for change in changes_of(tables, happened)), default=0)


def _named(tables: Tables) -> set[str | None]:
    """Return the conditions at which something begins or ends to act."""
    return {name for _, item in tables.entries(Timed) for name in (item.begin_event, item.until_event)}
