"""The keys of friction, of tables of obstacles and of contact between bodies."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import model_validator

from symplex.base.quantities import not_negative, positive
from symplex.contact.friction import SLIP_SPEED
from symplex.scenario.table import Table


class FrictionTable(Table):
    """A table with the keys of friction."""

    friction: Annotated[float | None, not_negative("1")] = None
    static_friction: Annotated[float | None, not_negative("1")] = None
    slip_speed: Annotated[float | None, positive("m/s")] = None

    @model_validator(mode="after")
    def _check_friction(self) -> FrictionTable:
        if self.friction is None:
            for key in ("static_friction", "slip_speed"):
                if getattr(self, key) is not None:
                    raise ValueError(f"{key} goes with friction, the dynamic coefficient, which is not given")
        elif self.static_friction is not None and self.static_friction < self.friction:
            raise ValueError(
                f"static_friction is {self.static_friction:g}, must not be below friction, {self.friction:g}"
            )
        return self

    @property
    def has_friction(self) -> bool:
        """Whether a coefficient above zero is given."""
        return bool(self.friction or self.static_friction)

    @property
    def friction_options(self) -> dict[str, Any]:
        """The arguments of `symplex.contact.Friction` besides the contact."""
        speed = SLIP_SPEED if self.slip_speed is None else self.slip_speed
        return {"coefficient": self.friction or 0.0, "static": self.static_friction, "slip_speed": speed}
