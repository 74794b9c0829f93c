"""Keeping what probes report while a system is marched through time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np

from symplex.base.arguments import checked
from symplex.base.columns import Column
from symplex.base.representation import Described
from symplex.errors import InvalidSystem
from symplex.fem.energies.energy import Array
from symplex.fem.outputs.probe import Probe
from symplex.fem.system import State
from symplex.time.motion import Motion


@checked
@final
class ProbeRecorder(Described):
    """An observer that keeps what probes report of the states it is shown, and not the states.

    Parameters
    ----------
    probes : sequence of Probe

    Attributes
    ----------
    columns : dict of str to Column
        What is kept, the time first. Columns of several probes with the same name are called ``PROBE.COLUMN``.

    Raises
    ------
    InvalidSystem
        If there is no probe, or two have columns that cannot be distinguished.

    Examples
    --------
    >>> top = sx.outputs.NodalProbe("top", [12], ["displacement"], reference=points)
    >>> recorder = sx.time.ProbeRecorder([top])
    >>> for state in sx.march(system, integrator, start, times, observers=[recorder]):
    ...     pass
    >>> recorder.history()["displacement_x"]
    """

    def __init__(self, probes: Sequence[Probe]):
        if not probes:
            raise InvalidSystem("ProbeRecorder: there is no probe to look with.")
        self._probes = probes
        reported = [(probe, column) for probe in probes for column in probe.columns]
        plain = [column.name for _, column in reported]
        names = [c.name if plain.count(c.name) == 1 else f"{probe.name}.{c.name}" for probe, c in reported]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise InvalidSystem(f"ProbeRecorder: two columns are called '{twice}'; give the probes different names.")
        self.columns = {"t": Column("t", "s", "time")}
        self.columns |= {name: column for name, (_, column) in zip(names, reported, strict=True)}
        self._rows: list[Array] = []

    def __call__(self, motion: Motion, state: State) -> None:
        """Keep what the probes report of a state."""
        seen = motion.observation(state)
        self._rows.append(np.concatenate([[state.t], *(probe.values(seen) for probe in self._probes)]))

    def history(self) -> dict[str, Array]:
        """Return what was kept so far by column, the times ``t`` [k] in s first."""
        rows = np.array(self._rows).reshape(-1, len(self.columns))
        return {name: rows[:, k].copy() for k, name in enumerate(self.columns)}
