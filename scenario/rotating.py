"""The table [rotating_frame]: a scenario in a frame that turns steadily."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import model_validator
from scipy.sparse import csr_array

from symplex.base.quantities import ZERO, Triple, vector
from symplex.fem.actions.centrifugal import Centrifugal
from symplex.fem.actions.coriolis import Coriolis
from symplex.fem.energy import Array
from symplex.scenario.table import Table
from symplex.time.modes.rotating import CENTRIFUGAL, CORIOLIS

NAMES = (CENTRIFUGAL, CORIOLIS, f"work_{CORIOLIS}")


class RotatingFrame(Table):
    """A frame that turns about an axis: positions, velocities, supports and loads are those in it."""

    angular_velocity: Annotated[Triple, vector("rad/s")]
    point: Annotated[Triple, vector("m")] = ZERO

    @model_validator(mode="after")
    def _check(self) -> RotatingFrame:
        if not any(self.angular_velocity):
            raise ValueError("angular_velocity is zero; leave the table out")
        return self

    def energy(self, mass: Array | csr_array) -> tuple[str, Centrifugal]:
        """Return the centrifugal potential with its name."""
        return CENTRIFUGAL, Centrifugal(mass, np.array(self.angular_velocity), np.array(self.point))

    def load(self, mass: Array | csr_array) -> tuple[str, Coriolis]:
        """Return the forces of Coriolis with their name."""
        return CORIOLIS, Coriolis(mass, np.array(self.angular_velocity))
