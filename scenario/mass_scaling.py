"""The table [mass_scaling]: mass is added to elements that limit the step of explicit methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, NamedTuple

import numpy as np

from symplex.base.quantities import positive
from symplex.errors import ScenarioError
from symplex.fem.actions.mass_scaling import ScaledMass
from symplex.fem.energies.energy import Array, IntArray
from symplex.scenario.table import BodyName, Entry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symplex.scenario.bodies import Body

KINETIC, MOMENTUM = "kinetic_of_added_mass", "momentum_of_added_mass"


class MassScalingTable(Entry):
    """Mass scaling: mass is added to elements whose own stable step is shorter than a given one.

    An element gets (dt/dt_e)² times its mass, with its stable step dt_e at the start, so that ``dt = "auto"`` of
    explicit methods is ``safety`` times this ``dt``, unless contact, penalties or damping allow less. Output:
    [scenario.md](../scenario.md#mass-scaling); columns ``kinetic_of_added_mass``, ``momentum_of_added_mass``.
    """

    of_all = True
    has_name = False
    dt: Annotated[float, positive("s"), "Shortest stable step that elements may have."]
    bodies: Annotated[list[BodyName] | None, "Bodies to which it may add mass; by default all."] = None

    def columns(self, tables: object) -> list[str]:
        """What the added mass has of the motion."""
        return [KINETIC, *(f"{MOMENTUM}_{axis}" for axis in "xyz")]

    def _check(self) -> None:
        if self.bodies == []:
            raise ValueError("bodies is [], must name a body; without the key all bodies are meant")

    def applies_to(self, body: Body) -> bool:
        """Return whether a body is scaled."""
        if self.bodies is not None and body.name not in self.bodies:
            return False
        if body.mass == "consistent":
            raise ScenarioError(
                f"body '{body.name}' has a consistent mass, which explicit methods do not take; leave mass out there, "
                "or name the bodies that are meant."
            )
        return True


class ScaledBody(NamedTuple):
    """How much mass is added to a body.

    Attributes
    ----------
    own, added : float
        In kg.
    elements, of : int
        To how many of its elements it is added.
    nodes : int32 [s]
        To which it is added,
    at_nodes : float64 [s]
        and how much in kg.
    """

    own: float
    added: float
    elements: int
    of: int
    nodes: IntArray
    at_nodes: Array

    @property
    def share(self) -> float:
        """What is added, as a part of its own mass."""
        return self.added / self.own

    @property
    def reported(self) -> str:
        """It in words."""
        return (
            f"{100.0 * self.share:.3g} % of {self.own:.4g} kg added ({self.added:.4g} kg), at {self.elements:,} of "
            f"{self.of:,} elements"
        )


def of_body(parts: Sequence[ScaledMass], n_nodes: int) -> ScaledBody:
    """Return how much mass is added to the parts of a body."""
    added = np.sum([part.added_at(n_nodes) for part in parts], axis=0)
    nodes = np.flatnonzero(added).astype(np.int32)
    elements = sum(int((part.factors > 1.0).sum()) for part in parts)
    every = sum(len(part.cells) for part in parts)
    return ScaledBody(
        sum(part.own for part in parts), sum(part.added for part in parts), elements, every, nodes, added[nodes]
    )
