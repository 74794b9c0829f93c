"""Trying a scenario: building it, its equilibrium at the start included, within a limit of time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

from symplex.errors import ScenarioError
from symplex.fem.energies.energy import Array
from symplex.fem.system import System
from symplex.scenario.scenario import Problem, Scenario

_FIRST = 5.0  # s after which there is a word on progress; the next ones come after twice as long each


class OutOfTime(Exception):
    """A scenario was not built within the limit of time."""


class _Clock:
    """Says from time to time how long something takes, and ends it at a limit in s."""

    def __init__(self, limit: float, say: Callable[[str], None]):
        self._limit, self._say = limit, say
        self._begun, self._next = perf_counter(), _FIRST
        self.evaluations = 0

    def tick(self) -> None:
        """Raise OutOfTime after the limit."""
        spent = perf_counter() - self._begun
        if spent > self._limit:
            raise OutOfTime
        if spent > self._next:
            self._next *= 2.0
            self._say(f"{spent:.0f} s, {self.evaluations} evaluations of the tangent")


class _Watched(System):
    """A system that looks at a clock whenever its forces or its tangent are evaluated."""

    clock: _Clock

    def gradient(self, q: Array, out: Array | None = None) -> Array:
        """Return what the system does, after a look at the clock."""
        self.clock.tick()
        return super().gradient(q, out)

    def hessian_blocks(self, q: Array, out: Array | None = None) -> Array:
        """Return what the system does, after a look at the clock."""
        self.clock.tick()
        self.clock.evaluations += 1
        return super().hessian_blocks(q, out)


def try_scenario(text: str, path: Path, limit: float, say: Callable[[str], None]) -> Problem:
    """Return what a scenario describes, its equilibrium at the start included.

    Parameters
    ----------
    text : str
    path : Path
        Where it is, and the mesh.
    limit : float
        In s. It is kept between evaluations of forces: one solution of large equations may take longer.
    say : callable
        Gets a text on what is done, if that takes long.

    Raises
    ------
    ScenarioError
        If it is refused.
    OutOfTime
        If it takes longer than the limit.
    """
    clock = _Clock(limit, say)

    def watched(*arguments: Any, **keywords: Any) -> System:
        system = _Watched(*arguments, **keywords)
        system.clock = clock
        return system

    return Scenario.parse(text, path).build(make_system=watched)


def reason_of_refusal(error: ScenarioError, path: Path) -> str:
    """Return why a scenario is refused, in one line without its name."""
    return "; ".join(str(error).replace(f"{path.name}: ", "").split("\n")[:3])
