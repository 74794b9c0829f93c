"""What methods have in common that compute explicit Newmark elsewhere: on other processes, or on a device."""

from __future__ import annotations

from dataclasses import replace
from typing import Self

from symplex.base.columns import Column
from symplex.fem.system import State, System
from symplex.time.explicit.newmark import Newmark
from symplex.time.integrator import FixedMotion, FixedStepIntegrator, dividing
from symplex.time.traits import Form, Trait


class AroundNewmark(FixedStepIntegrator[FixedMotion]):
    """A method that is Newmark's, as a dataclass with that; its motions are others.

    Attributes
    ----------
    method : Newmark
        The explicit member.
    """

    method: Newmark

    @property
    def dt(self) -> float:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The step in s."""
        return self.method.dt  # pyright: ignore[reportReturnType]

    @property
    def name(self) -> str:
        """How messages call the method."""
        return self.method.name

    @property
    def columns(self) -> tuple[Column, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """What is counted."""
        return self.method.columns

    @property
    def order(self) -> float:  # pyright: ignore[reportIncompatibleVariableOverride]
        """That of the method."""
        return self.method.order

    @property
    def conserves(self) -> frozenset[str]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """That of the method."""
        return self.method.conserves

    @property
    def symmetric(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """That of the method."""
        return self.method.symmetric

    @property
    def needs(self) -> frozenset[Form]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """What the method needs."""
        return self.method.needs

    @property
    def takes(self) -> frozenset[Trait]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """What the method takes."""
        return self.method.takes

    def _step_size(self, system: System, state: State) -> float:
        return self.method._step_size(system, state)

    def fit(self, system: System, state: State, interval: float) -> Self:
        """Return the method with the largest step not above its own that divides an interval in s.

        Raises
        ------
        UnstableStep, InvalidSystem, StepFailed
            As `start`.
        """
        return replace(self, method=replace(self.method, dt=dividing(self._step_size(system, state), interval)))  # pyright: ignore
