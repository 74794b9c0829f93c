"""The table [rotating_frame]: a scenario in a frame that turns steadily."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import numpy as np

from symplex.base.quantities import ZERO, Triple, nonzero, vector
from symplex.fem.actions.centrifugal import Centrifugal
from symplex.fem.actions.coriolis import Coriolis
from symplex.scenario.table import Entry, Need
from symplex.time.modes.rotating import CENTRIFUGAL, CORIOLIS

if TYPE_CHECKING:
    from symplex.scenario.building import Builder
    from symplex.scenario.tables import Tables


class RotatingFrame(Entry):
    """A frame that rotates about an axis: positions, velocities, supports and loads are those in it.

    The energy ``centrifugal`` and the forces ``coriolis``, which do no work, are added; total energy is that in the
    frame. Gravity rotates in the frame unless it is along the axis ([modes.md](../modes.md#rotating-frames)).
    """

    of_all = True
    angular_velocity: Annotated[Triple, nonzero("rad/s"), "ω, about an axis of this direction."]
    point: Annotated[Triple, vector("m"), "Point of the axis."] = ZERO

    @property
    def energies(self) -> list[str]:
        """The centrifugal potential."""
        return [CENTRIFUGAL]

    def columns(self, tables: Tables) -> Iterable[str]:
        """The forces of both, and the work."""
        return [CENTRIFUGAL, CORIOLIS, f"work_{CORIOLIS}"]

    def needs(self) -> Iterable[Need]:
        """Loads."""
        yield Need(
            "loads",
            "Coriolis forces have no potential, which {kind} needs; take another integrator, such as {others}.",
        )

    def add_damping(self, world: Builder) -> None:
        """Add the centrifugal potential and Coriolis forces."""
        mass, omega = world.inertia.mass_in_frame(), np.array(self.angular_velocity)
        world.add(CENTRIFUGAL, Centrifugal(mass, omega, np.array(self.point)))
        world.add(CORIOLIS, Coriolis(mass, omega))
