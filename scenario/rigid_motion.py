"""The keys of how rigid obstacles and bodies move: freely, with a mass, or in a given way, as supports do."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.columns import AXES
from symplex.base.quantities import ZERO, Name, Triple, positive, vector
from symplex.fem.actions.combined_motion import CombinedMotion
from symplex.fem.actions.support_motion import SupportMotion, SupportRotation
from symplex.fem.actions.time_function import TimeFunction
from symplex.fem.energies.energy import Array
from symplex.scenario.actions import History, Support, Turn
from symplex.scenario.prescribed import support_motion
from symplex.scenario.table import Entry, Need

if TYPE_CHECKING:
    from symplex.scenario.tables import Tables

RIGIDITY = "rigidity"  # what the energy is called that keeps what moves freely in shape
PIVOTS = "pivots"  # and that keeps points of it in their places
_SHIFTS = ("displacement", "acceleration", "velocity")
_TURNS = ("rotation", "angular_velocity")
_WITH_HISTORY = ("displacement", "acceleration", "rotation")


class RigidMotionTable(Entry):
    """A table with the keys of how something rigid moves; without any of them it stands still.

    With a mass or density it moves freely, from a velocity and an angular velocity at the start. Without, these are
    kept; or a displacement or acceleration and a rotation are given, all times one history.
    """

    of_all = False
    starts_moving = True
    name: Annotated[Name, "Names its block."]
    mass: Annotated[float | None, positive("kg"), "It moves freely with this mass."] = None
    density: Annotated[float | None, positive("kg/m³"), "It moves freely with the mass of its volume, instead."] = None
    velocity: Annotated[Triple | None, vector("m/s"), "With a mass, at the start; without, all the time."] = None
    angular_velocity: Annotated[
        Triple | None,
        vector("rad/s"),
        "With a mass, about the centre of mass at the start; without, all the time, about the middle. A sphere "
        "with a mass rotates only if it is given.",
    ] = None
    displacement: Annotated[Triple | None, vector("m"), "From the start, times the `history`."] = None
    acceleration: Annotated[
        Triple | None, vector("m/s²"), 'Times a `history` of kind `"table"`, integrated exactly from rest.'
    ] = None
    rotation: Annotated[Turn | None, "Times the `history`; its axis moves along with a displacement or velocity."] = (
        None
    )
    history: Annotated[History | None, "Factor of the motion over time; a table must cover the whole run."] = None
    interpolation: Annotated[
        Literal["spline", "linear"],
        'Of a table of displacements or rotations: a cubic spline, or `"linear"`, where the velocity jumps.',
    ] = "spline"

    @property
    def is_free(self) -> bool:
        """Whether it has a mass and moves by what acts on it."""
        return self.mass is not None or self.density is not None

    @property
    def is_driven(self) -> bool:
        """Whether its motion is given."""
        return not self.is_free and any(self._is_given(key) for key in (*_SHIFTS, *_TURNS))

    @property
    def turns(self) -> bool:
        """Whether it is to turn: given in any way, also as an angular velocity of zero at the start."""
        return self.rotation is not None or self._is_given("angular_velocity")

    @property
    def initial_velocities(self) -> list[str]:
        """Those that are not zero."""
        return [] if self.is_driven else super().initial_velocities

    def columns(self, tables: Tables) -> Iterable[str]:
        """Its pose, where it moves."""
        if not (self.is_free or self.is_driven):
            return []
        poses = [f"{what}_{self.name}_{axis}" for what in ("position", "velocity", "spin") for axis in AXES]
        return [f"work_{self.name}", *poses]

    def needs(self) -> Iterable[Need]:
        """Moving supports, where its motion is given."""
        yield from super().needs()
        if self.is_driven:
            yield Need(
                "moving supports",
                "its motion is given, which {kind} cannot follow; take another integrator, such as {others}.",
            )

    def _is_given(self, key: str) -> bool:
        """Whether a motion is given; without a mass, a velocity of zero is none."""
        value = getattr(self, key)
        return value is not None and (self.is_free or not isinstance(value, tuple) or any(value))

    def _check_motion(self) -> None:
        if self.mass is not None and self.density is not None:
            raise ValueError("has a mass and a density; give one of both")
        if self.history is None or self.history.kind != "table" or (self.rotation is None and self.acceleration):
            self.refuse_unused(
                "interpolation", goes_with="a history of kind 'table' that multiplies a displacement or rotation"
            )
        if self.is_free:
            for key in (*_WITH_HISTORY, "history"):
                if getattr(self, key) is not None:
                    raise ValueError(f"{key} goes without mass: what has a mass moves by the forces that act on it")
            return
        for keys in (_SHIFTS, _TURNS):
            given = [key for key in keys if getattr(self, key) is not None]
            if len(given) > 1:
                raise ValueError(f"has {' and '.join(given)}; give one of them")
        changing = [key for key in _WITH_HISTORY if getattr(self, key) is not None]
        if changing and self.history is None:
            raise ValueError(f"needs a history, by which {changing[0]} is multiplied")
        if self.history is not None and not changing:
            raise ValueError("has a history, but nothing that it could change: give displacement or rotation")
        for key in ("displacement", "acceleration"):
            if getattr(self, key) is not None and not any(getattr(self, key)):
                raise ValueError(f"{key} is zero; leave it out for what stands still")
        if self.acceleration is not None and self.history is not None and self.history.kind != "table":
            raise ValueError(f"with acceleration needs a history of kind 'table', not '{self.history.kind}'")

    def given_motion(
        self, name: str, nodes: ArrayLike, points: Array, center: ArrayLike, folder: Path
    ) -> SupportMotion:
        """Return the motion that is given.

        Parameters
        ----------
        name : str
        nodes : int [m]
            That move.
        points : float64 [n, 3]
            The positions in m of all nodes at the start.
        center : float64 [3]
            About which it turns with its angular velocity, in m.
        folder : Path
            Where files are looked for.
        """
        motions: list[SupportMotion] = []
        for key in ("displacement", "acceleration", "rotation", "velocity"):
            if self._is_given(key):
                keys = ("history", "interpolation") if key in ("displacement", "rotation") else ("history",)
                changing = {k: getattr(self, k) for k in keys if key != "velocity" and k in self.given_keys}
                table = Support(name=name, body=name, **{key: getattr(self, key)}, **changing)
                motions.append(support_motion(table, nodes, points, folder))
        if self._is_given("angular_velocity"):
            omega = np.array(self.angular_velocity)
            angle = TimeFunction.steady(float(np.linalg.norm(omega)))
            motions.append(SupportRotation(nodes, points, angle, center=center, axis=omega))
        return motions[0] if len(motions) == 1 else CombinedMotion(motions)

    def start_velocities(self, places: Array, center: ArrayLike) -> Array:
        """Return the velocities [m, 3] in m/s at the start of places [m, 3] in m of what has a mass."""
        omega = ZERO if self.angular_velocity is None else self.angular_velocity
        v = ZERO if self.velocity is None else self.velocity
        return np.array(v) + np.cross(omega, places - np.asarray(center))
