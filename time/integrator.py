"""The interface of all integrators, and the driver that marches one through time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from symplex.fem.system import State, System


class Motion(ABC):
    """A system in motion under one integrator: where it is now, and the way to any later time.

    Attributes
    ----------
    system : System
    """

    system: System

    @abstractmethod
    def advance(self, t: float) -> State:
        """Move to the time t in s (not before the present) and return the state there."""

    @abstractmethod
    def statistics(self) -> dict[str, float]:
        """Return counts since the start, such as ``steps`` or ``events``."""

    @abstractmethod
    def energies(self, state: State) -> dict[str, float]:
        """Return the energies in J of a state just returned, with those that only the integrator knows (``V_h``)."""

    @abstractmethod
    def checkpoint(self) -> dict[str, np.ndarray]:
        """Return all that is needed to go on bit-identically, as a flat mapping of arrays."""


class Integrator(ABC):
    """A method, as a small immutable object.

    Attributes
    ----------
    order : int
        Order of accuracy in the step (or grid) size.
    conserves : frozenset of str
        What it keeps to round-off: of ``energy``, ``momentum``, ``angular momentum``, ``symplectic form``.
    symmetric : bool
        Whether a run with reversed velocities comes back.
    """

    order: int
    conserves: frozenset[str]
    symmetric: bool

    @abstractmethod
    def start(self, system: System, state: State) -> Motion:
        """Return the motion that begins at a state."""

    @abstractmethod
    def resume(self, system: System, checkpoint: Mapping[str, np.ndarray]) -> Motion:
        """Return the motion that goes on from a checkpoint, bit-identically."""


def march(system: System, integrator: Integrator, state: State, times: Iterable[float]) -> Iterator[State]:
    """Yield the states at the given times in s, in order.

    Raises
    ------
    StepFailed
        If a step cannot be taken; all states before it have been yielded.
    """
    motion = integrator.start(system, state)
    for t in times:
        yield motion.advance(t)
