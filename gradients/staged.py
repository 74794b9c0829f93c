"""Runs in stages: each is a separate run, which begins where the one before it ends, for all parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import described
from symplex.errors import InvalidArgument, InvalidSystem
from symplex.fem.assembly.pattern import Array
from symplex.fem.system import State, System
from symplex.time.integrator import Integrator
from symplex.time.stages import Stage, Stages

_SAME = 1e-9  # times that differ by this part of a stage are one

# What a function returns for parameters p [k]: a system, or stages with their systems, and the state at the start.
Build = Callable[[Array], tuple[System | Stages, State]]


@final
class StagedBuild:
    """What a function builds of parameters, stage by stage.

    Parameters
    ----------
    who : str
        For messages.
    build : callable
        Returns `Stages` and the `State` at the start for parameters p [k].
    p : float64 [k]

    Raises
    ------
    InvalidSystem
        If stages begin in other ways than at the state where the one before ends, or follow events.
    """

    def __init__(self, who: str, build: Build, p: ArrayLike):
        self._who, self._build, self._found = who, build, dict[bytes, tuple[Stages, State]]()
        self.p = np.array(p, float)
        stages = self._at(self.p)[0]
        self.stages = stages.stages
        if stages.events:
            raise InvalidSystem(
                f"{who}: runs with conditions have no derivatives, here '{stages.events[0].name}': the time at which "
                "one holds depends on parameters. Take stages that end at given times."
            )
        for k, stage in enumerate(self.stages):
            if stage.beginning is not None:
                raise InvalidSystem(
                    f"{who}: stage {stage.name or k} makes its system of the state at which it begins "
                    f"({type(stage.beginning).__name__}), which has no derivatives."
                )

    def _at(self, p: Array) -> tuple[Stages, State]:
        """Return what is built of parameters, once."""
        key = p.tobytes()
        if key not in self._found:
            built: Any = self._build(p.copy())
            if not (isinstance(built, tuple) and len(built) == 2 and isinstance(built[0], Stages)):
                raise InvalidArgument(
                    f"{self._who}: without an integrator build must return Stages and a State; it returns "
                    f"{described(built)}."
                )
            self._found[key] = built
        return self._found[key]

    def start(self, p: Array) -> State:
        """Return the state at the start for parameters."""
        return self._at(p)[1]

    def of(self, k: int, start: Callable[[Array], State]) -> Callable[[Array], tuple[System, State]]:
        """Return the function that builds a stage, which begins at a state for parameters."""

        def build(p: Array) -> tuple[System, State]:
            stages = self._at(p)[0].stages
            if [stage.end for stage in stages] != [stage.end for stage in self.stages]:
                raise InvalidSystem(f"{self._who}: a parameter changes when stages end; there is no derivative by it.")
            return stages[k].system, start(p)

        return build

    def method(self, k: int, state: State) -> Integrator:
        """Return the integrator of a stage, with the step that it takes from a state."""
        stage: Stage = self.stages[k]
        return stage.integrator if stage.interval is None else stage.integrator.fit(stage.system, state, stage.interval)

    def times(self, times: Array) -> list[Array]:
        """Return the times in each stage that is reached, in s; one at its end is in it, not in the next one."""
        found, start = [], -np.inf
        if times[-1] > self.stages[-1].end * (1.0 + _SAME):
            raise InvalidArgument(
                f"{self._who}: t = {times[-1]:g} s is after the end of the last stage, {self.stages[-1].end:g} s."
            )
        for stage in self.stages:
            end = stage.end + _SAME * abs(stage.end)
            found.append(times[(times > start) & (times <= end)])
            start = end
            if times[-1] <= end:
                break
        return found

    def until(self, k: int, inside: Array, last: bool) -> Array:
        """Return the times inside a stage, with its end unless it is the last one, or ends with a time."""
        end = self.stages[k].end
        if last or (len(inside) and abs(inside[-1] - end) <= _SAME * abs(end)):
            return inside
        return np.append(inside, end)


def staged(who: str, build: Build, p: ArrayLike, integrator: Integrator | None) -> StagedBuild | None:
    """Return the stages that a function builds, if it is to be without an integrator."""
    if isinstance(integrator, Stages):
        raise InvalidArgument(
            f"{who}: let build return the Stages for its parameters in place of the System, and give integrator=None."
        )
    return StagedBuild(who, build, p) if integrator is None else None
