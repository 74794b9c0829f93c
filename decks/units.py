"""Units of decks, which name none: what one unit of length, mass and time is in SI."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from symplex.errors import InvalidArgument

LIMIT = 60.0  # s in which a scenario is tried, here so that the command line need not import more
_POUND_FORCE, _INCH = 4.4482216152605, 0.0254


@dataclass(frozen=True)
class Units:
    """A consistent system of units.

    Attributes
    ----------
    length, mass, time : float
        What one unit is in m, kg and s.
    """

    length: float = 1.0
    mass: float = 1.0
    time: float = 1.0

    @property
    def force(self) -> float:
        """One unit of force in N."""
        return self.mass * self.length / self.time**2

    @property
    def stress(self) -> float:
        """One unit of stress in Pa."""
        return self.mass / self.length / self.time**2

    @property
    def density(self) -> float:
        """One unit of density in kg/m³."""
        return self.mass / self.length**3

    def of_file(self, name: str, mesh: str) -> dict[str, Any]:
        """Return the keys of a table of this name whose mesh is that of a file in the unit of length."""
        return {"name": name, "mesh": {"file": mesh}} | ({"scale": self.length} if self.length != 1.0 else {})

    @property
    def velocity(self) -> float:
        """One unit of velocity in m/s."""
        return self.length / self.time

    @property
    def acceleration(self) -> float:
        """One unit of acceleration in m/s²."""
        return self.length / self.time**2


UNITS = {
    "si": Units(),
    "mm-t-s": Units(1e-3, 1e3, 1.0),  # N, MPa
    "mm-kg-ms": Units(1e-3, 1.0, 1e-3),  # kN, GPa
    "mm-g-ms": Units(1e-3, 1e-3, 1e-3),  # N, MPa
    "cm-g-us": Units(1e-2, 1e-3, 1e-6),  # 10 MN, 100 GPa
    "in-lbf-s": Units(_INCH, _POUND_FORCE / _INCH, 1.0),  # lbf, psi; the mass is lbf s²/in
}


def units_named(name: str) -> Units:
    """Return a system of units.

    Raises
    ------
    InvalidArgument
        If there is none of that name.
    """
    if name not in UNITS:
        raise InvalidArgument(f"there are no units '{name}'; known are {', '.join(UNITS)}.")
    return UNITS[name]
