"""The keys of friction, of tables of obstacles and of contact between bodies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

from symplex.base.arguments import declared
from symplex.contact.friction import SLIP_SPEED, Friction
from symplex.scenario.table import Entry, Need


class FrictionTable(Entry):
    """A table with the keys of friction."""

    friction: Annotated[
        float | None,
        declared(Friction, "coefficient"),
        "Dynamic coefficient μ of Coulomb friction ([more](../body-contact.md#friction)); its work is in the "
        "history. By default there is none.",
    ] = None
    static_friction: Annotated[
        float | None, declared(Friction, "static"), "Static coefficient; by default `friction`."
    ] = None
    slip_speed: Annotated[
        float | None,
        declared(Friction, "slip_speed"),
        "Speed up to which friction grows to its full size, by default 0.001: what sticks creeps at less than that.",
    ] = None

    def _check_friction(self) -> None:
        if self.friction is None:
            for key in ("static_friction", "slip_speed"):
                if getattr(self, key) is not None:
                    raise ValueError(f"{key} goes with friction, the dynamic coefficient, which is not given")
        elif self.static_friction is not None and self.static_friction < self.friction:
            raise ValueError(
                f"static_friction must be at least friction = {self.friction:g}, got {self.static_friction:g}"
            )

    @property
    def has_friction(self) -> bool:
        """Whether a coefficient above zero is given."""
        return bool(self.friction or self.static_friction)

    @property
    def friction_options(self) -> dict[str, Any]:
        """The arguments of `symplex.contact.Friction` besides the contact."""
        speed = SLIP_SPEED if self.slip_speed is None else self.slip_speed
        return {"coefficient": self.friction or 0.0, "static": self.static_friction, "slip_speed": speed}

    def frictions(self, touching: Sequence[str]) -> Mapping[str, tuple[str, str] | None]:
        """Return what frictions are called and between which bodies they are, given all that may touch, or None."""
        raise NotImplementedError

    def needs(self) -> Iterable[Need]:
        """Loads, of friction."""
        yield from super().needs()
        if self.has_friction:
            yield Need(
                "loads",
                "friction has no potential, which {kind} needs; take another integrator, such as {others}, or leave "
                "friction out.",
            )
