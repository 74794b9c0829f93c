"""Motions in stages: one integrator after the other, on systems that differ in what acts, on one time axis."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from symplex.base.arguments import checked
from symplex.base.columns import Column, work_column
from symplex.errors import InvalidArgument, InvalidSystem, StepFailed
from symplex.fem.energies.energy import Array, Energy
from symplex.fem.system import State, System
from symplex.time.integrator import Integrator
from symplex.time.motion import Motion, require_time, with_context
from symplex.time.totals import BALANCE
from symplex.time.traits import FEATURES, Trait
from symplex.time.work import work_columns

SWITCHES = work_column("work_switches")
_STAGE, _INNER = "stage", "motion."  # in checkpoints
_SAME = 1e-9  # times that differ by this part of a stage are one


@checked
@final
@dataclass(frozen=True)
class Stage:
    """A part of a motion.

    Parameters
    ----------
    system : System
        Of the same nodes as those of all other stages; energies, supports and loads may differ.
    integrator : Integrator
        With a step that divides the stage (`Integrator.fit`), unless there is an interval.
    end : float
        The time in s at which it ends.
    name : str, optional
        How messages call it.
    interval : float, optional
        The time in s between output states: the step is fitted to it at the state at which the stage begins, so that
        ``dt="auto"`` takes the stability limit of the shape there.
    """

    system: System
    integrator: Integrator
    end: float
    name: str = ""
    interval: float | None = None

    def begin(self, state: State) -> Motion:
        """Return the motion that begins at a state.

        Raises
        ------
        UnstableStep, InvalidSystem, StepFailed
            As `Integrator.fit` and `Integrator.start`.
        """
        method = self.integrator
        if self.interval is not None:
            method = method.fit(self.system, state, self.interval)
        return method.start(self.system, state)


@checked
@final
@dataclass(frozen=True)
class Stages(Integrator):
    """Integrators one after the other, each on its own system, on one time axis and with one balance of energy.

    A stage begins at the positions and velocities at which the one before it ends; the state at that time is still
    that of the earlier one. What changes there is accounted for: energies that begin or end (a constant load that is
    taken away with what is left of its potential), velocities that supports take over at once, and what a method that
    brings to rest takes. It is ``work_switches``, so that ``balance``, the total energy less all work, goes on without
    a jump. An energy is zero in stages that do not have it; totals that a stage's method does not tell of are the
    total, or the balance.

    Parameters
    ----------
    stages : sequence of Stage
        In the order of time.

    Raises
    ------
    InvalidSystem
        If there are none, their ends do not ascend, or their systems differ in nodes or masses.
    """

    stages: Sequence[Stage]

    order = 1
    symmetric = False

    def __post_init__(self):
        object.__setattr__(self, "stages", tuple(self.stages))
        if not self.stages or not all(isinstance(stage, Stage) for stage in self.stages):
            raise InvalidSystem("Stages: expected one Stage at least.")
        first = self.stages[0].system
        for before, stage in zip(self.stages, self.stages[1:], strict=False):
            if not stage.end > before.end:
                raise InvalidSystem(
                    f"Stages: a stage ends at {stage.end:g} s, but the one before it at {before.end:g} s; ends must "
                    "ascend."
                )
            if (stage.system.n_nodes, stage.system.dim) != (first.n_nodes, first.dim):
                raise InvalidSystem("Stages: the systems of all stages must have the same nodes and dimension.")

    @property
    def conserves(self) -> frozenset[str]:
        """What all stages conserve."""
        return frozenset.intersection(*(stage.integrator.conserves for stage in self.stages))

    @property
    def takes(self) -> frozenset[Trait]:
        """All; each stage refuses for itself."""
        return frozenset(FEATURES)

    @property
    def columns(self) -> tuple[Column, ...]:
        """Those of all stages, the work of what switches, and the balance."""
        reported = {column.name: column for stage in self.stages for column in stage.integrator.columns}
        return tuple((reported | {SWITCHES.name: SWITCHES, BALANCE.name: BALANCE}).values())

    def start(self, system: System, state: State) -> StagedMotion:
        """Return the motion that begins at a state, with the first stage, whose system it must be.

        Raises
        ------
        InvalidSystem
            If the system is another one; as the integrator of the first stage.
        """
        if system is not self.stages[0].system:
            raise InvalidArgument("Stages: the motion begins with the system of the first stage; start it with that.")
        return StagedMotion(self, state)

    def resume(self, system: System, checkpoint: Mapping[str, np.ndarray]) -> StagedMotion:
        """Return the motion that goes on from a checkpoint, bit-identically.

        Raises
        ------
        InvalidSystem
            If it is of another motion.
        """
        return StagedMotion(self, None, checkpoint)


@final
class StagedMotion(Motion):
    """A motion in stages; see `Stages`."""

    def __init__(self, method: Stages, state: State | None, checkpoint: Mapping[str, np.ndarray] | None = None):
        self._stages = method.stages
        self._method = method
        self._names = _names(method.stages)
        self._done = dict.fromkeys(self._names.works, 0.0)  # in the stages before the present one
        self._counts: dict[str, float] = dict.fromkeys(self._names.counts, 0.0)
        if checkpoint is not None:
            self._restore(checkpoint)
        else:
            assert state is not None, "it begins with one or the other"
            self._at, self._motion = 0, self._stages[0].begin(state)

    @property
    def system(self) -> System:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The system of the present stage."""
        return self._motion.system

    @property
    def stage(self) -> int:
        """The number of the present stage, from 0."""
        return self._at

    def advance(self, t: float) -> State:
        """Move to the time t in s and return the state there; at the end of a stage it is that before the next.

        Raises
        ------
        StepFailed
            As the motions of the stages; also if t is after the end of the last.
        """
        require_time("Stages", t, -np.inf)
        while self._is_after(t):
            self._switch()
        try:
            return self._motion.advance(t)
        except StepFailed as error:
            raise self._placed(error) from None

    def approach(self, t: float, seconds: float) -> bool:
        """Move towards the time t in s for about so many seconds of wall time; return whether it is reached.

        Raises
        ------
        StepFailed
            As `advance`.
        """
        require_time("Stages", t, -np.inf)
        try:
            while self._is_after(t):
                if not self._motion.approach(self._stages[self._at].end, seconds):
                    return False
                self._switch()
            return self._motion.approach(t, seconds)
        except StepFailed as error:
            raise self._placed(error) from None

    def _is_after(self, t: float) -> bool:
        """Return whether a time is after the present stage."""
        end = self._stages[self._at].end
        start = self._stages[self._at - 1].end if self._at else None
        beyond = t > end + _SAME * (end - start if start is not None else abs(end))
        if beyond and self._at == len(self._stages) - 1:
            raise StepFailed(f"t = {t:.6g} s is after the end of the last stage, {end:.6g} s.")
        return beyond

    def _placed(self, error: StepFailed) -> StepFailed:
        name = self._stages[self._at].name
        return with_context(error, f"stage '{name}': {error}") if name else error

    def _switch(self) -> None:
        """Go on with the next stage."""
        end = self._stages[self._at].end
        state = self._motion.advance(end)
        before = self._motion.energies(state)
        for name in self._names.works:
            self._done[name] += before.get(name, 0.0)
        for name, count in self._motion.statistics().items():
            self._counts[name] = self._counts.get(name, 0.0) + count
        self._at += 1
        stage = self._stages[self._at]
        try:
            self._motion = stage.begin(state.timed(end))
            after = self._motion.energies(self._motion.advance(end))
        except StepFailed as error:
            raise self._placed(error) from None
        # A method that brings to rest shows itself what that takes.
        reported = sum(after.get(name, 0.0) for name in self._names.works)
        self._done[SWITCHES.name] += after["total"] - before["total"] - reported

    def energies(self, state: State) -> dict[str, float]:
        """Return the energies in J, with all work since the start of the first stage."""
        found, names = self._motion.energies(state), self._names
        works = {name: self._done[name] + found.get(name, 0.0) for name in names.works}
        balance = found["total"] - sum(works.values())
        totals = {
            column.name: found.get(column.name, balance if column.less_work_of else found["total"])
            for column in names.totals
        }
        energies = {name: found.get(name, 0.0) for name in ("kinetic", *names.energies)}
        return energies | {"total": found["total"]} | totals | works | {BALANCE.name: balance}

    def statistics(self) -> dict[str, float]:
        """Return the counts of all stages together."""
        counts = dict(self._counts)
        for name, count in self._motion.statistics().items():
            counts[name] = counts.get(name, 0.0) + count
        return {name: int(count) if count == int(count) else count for name, count in counts.items()}

    @property
    def columns(self) -> tuple[Column, ...]:
        """What histories may have of it: of all stages."""
        of_stages = {
            column.name: column
            for stage in self._stages
            for column in (*stage.system.columns, *work_columns(stage.system))
        }
        return tuple((of_stages | {column.name: column for column in self._method.columns}).values())

    def momenta(self, state: State) -> tuple[Array, Array]:
        """Return the linear and the angular momentum of a state just returned."""
        return self._motion.momenta(state)

    def observed(self, state: State, gradient: Callable[[Energy, State], Array]) -> dict[str, float]:
        """Return what energies report of a state just returned, with their gradients as they act."""
        return self._motion.observed(state, gradient)

    def gradient(self, energy: Energy, state: State) -> Array:
        """Return ∂φ/∂x [m, k, dim] in N of one of the system's energies at a state just returned, as it acts."""
        return self._motion.gradient(energy, state)

    def constraint_forces(self) -> Array | None:
        """Return the forces [n, dim] in N of constraints that the present method keeps, if it keeps any."""
        return self._motion.constraint_forces()

    def checkpoint(self) -> dict[str, np.ndarray]:
        """Return all that is needed to go on bit-identically, as a flat mapping of arrays."""
        inner = {_INNER + name: array for name, array in self._motion.checkpoint().items()}
        counts = {f"count.{name}": np.array(count) for name, count in self._counts.items()}
        done = {f"done.{name}": np.array(work) for name, work in self._done.items()}
        return {_STAGE: np.array(self._at)} | inner | counts | done

    def _restore(self, checkpoint: Mapping[str, np.ndarray]) -> None:
        if _STAGE not in checkpoint or not 0 <= int(checkpoint[_STAGE]) < len(self._stages):
            raise InvalidSystem("the checkpoint does not belong to a motion in these stages.")
        self._at = int(checkpoint[_STAGE])
        for prefix, kept in (("count.", self._counts), ("done.", self._done)):
            kept |= {
                name.removeprefix(prefix): float(value) for name, value in checkpoint.items() if name.startswith(prefix)
            }
        inner = {name.removeprefix(_INNER): value for name, value in checkpoint.items() if name.startswith(_INNER)}
        stage = self._stages[self._at]
        self._motion = stage.integrator.resume(stage.system, inner)


@dataclass(frozen=True)
class _Names:
    """What the stages report, by kinds."""

    energies: tuple[str, ...]
    works: tuple[str, ...]
    totals: tuple[Column, ...]
    counts: tuple[str, ...]


def _names(stages: Sequence[Stage]) -> _Names:
    columns = {column.name: column for stage in stages for column in stage.integrator.columns}
    of_systems = [column for stage in stages for column in work_columns(stage.system)]
    works = [column.name for column in (*of_systems, *columns.values()) if column.kind == "work"]
    reported = [column for stage in stages for column in stage.system.columns]
    energies = [column.name for column in reported if column.kind == "energy" and column.name != "kinetic"]
    totals = {name: column for name, column in columns.items() if column.kind == "total" and name != BALANCE.name}
    return _Names(
        tuple(dict.fromkeys(energies)),
        (*dict.fromkeys(works), SWITCHES.name),
        tuple(totals.values()),
        tuple(name for name, column in columns.items() if column.kind == "count" and column.plot),
    )
