"""Methods around another one, which has all traits that they do not state themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal, Self

from symplex.base.columns import Column
from symplex.fem.system import State, System
from symplex.time.integrator import FixedMotion, FixedStepIntegrator, Integrator, dividing
from symplex.time.traits import Form, Trait

# pyright: reportIncompatibleVariableOverride=false


class Around(Integrator):
    """A method around another one, as a dataclass with that."""

    _field: ClassVar[str] = "integrator"  # of the dataclass, with the method inside

    @property
    def _inner(self) -> Any:
        return getattr(self, self._field)

    @property
    def columns(self) -> tuple[Column, ...]:
        """Those of the method inside."""
        return self._inner.columns

    @property
    def order(self) -> float:
        """That of the method inside."""
        return self._inner.order

    @property
    def conserves(self) -> frozenset[str]:
        """What the method inside conserves."""
        return self._inner.conserves

    @property
    def energy(self) -> str:
        """That of the method inside."""
        return self._inner.energy

    @property
    def symmetric(self) -> bool:
        """Whether the method inside is."""
        return self._inner.symmetric

    @property
    def needs(self) -> frozenset[Form]:
        """What the method inside needs."""
        return self._inner.needs

    @property
    def takes(self) -> frozenset[Trait]:
        """What the method inside takes."""
        return self._inner.takes

    @property
    def named(self) -> Mapping[str, Sequence[str]]:
        """The energies that parameters of the method inside name."""
        return self._inner.named

    def needs_of(self, energy: str) -> frozenset[Form]:
        """Return which forms the method inside needs of the energy of a name."""
        return self._inner.needs_of(energy)

    def instead(self, form: Form, energy: str) -> str:
        """Return how the method inside does with an energy that lacks a form."""
        return self._inner.instead(form, energy)


class AroundSteps(Around, FixedStepIntegrator[FixedMotion]):
    """A method around one with steps of one size, which are its own."""

    @property
    def dt(self) -> float | Literal["auto"]:
        """The step in s."""
        return self._inner.dt

    @property
    def name(self) -> str:
        """How messages call the method inside."""
        return self._inner.name

    def _step_size(self, system: System, state: State) -> float:
        return self._inner._step_size(system, state)

    def fit(self, system: System, state: State, interval: float) -> Self:
        """Return the method with the largest step not above its own that divides an interval in s."""
        dt = dividing(self._step_size(system, state), interval)
        return replace(self, **{self._field: replace(self._inner, dt=dt)})
