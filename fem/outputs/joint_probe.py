"""Probes of joints: angle and displacement, their rates, force and moment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, final

import numpy as np

from symplex.base.arguments import checked
from symplex.base.fields import OF_JOINTS
from symplex.errors import InvalidSystem
from symplex.fem.assembly.pattern import Array
from symplex.fem.outputs.probe import Numbers, Probe, require
from symplex.fem.outputs.snapshots import Observation
from symplex.fem.structures.joints import Connection
from symplex.fem.system import System

OfJoints = Literal["angle", "displacement", "angular_velocity", "velocity", "force", "moment"]
FORCES = ("force", "moment")
_RATES = {"angular_velocity": "angle", "velocity": "displacement"}


def quantities_of(joint: Connection) -> list[str]:
    """Return all that a probe of a joint can report."""
    rates = [rate for rate, coordinate in _RATES.items() if coordinate in joint.coordinates]
    return [*joint.coordinates, *rates, *FORCES]


@checked
@final
class JointProbe(Probe):
    """Angle, displacement, their rates, force and moment of a joint.

    Of the first body, seen from the second one. A joint that does not act at a time, as it has been released, has
    neither force nor moment then.

    Parameters
    ----------
    name : str
    system : System
    joint : str
        Its name in the system.
    quantities : sequence of str, optional
        Of ``angle`` (rad, from −π to π), ``angular_velocity`` (rad/s), ``displacement`` (m), ``velocity`` (m/s), as
        far as the kind has them, ``force`` (N) and ``moment`` (N m, about the joint's point); see
        `symplex.System.joint_reactions`. Default: all but the rates.
    components : sequence of str, optional
        Of force and moment: ``x``, ``y``, ``z``, ``norm``; default: all but the norm.

    Raises
    ------
    InvalidSystem
        If there is no such joint or component, or its kind has no such quantity.
    """

    def __init__(
        self,
        name: str,
        system: System,
        joint: str,
        quantities: Sequence[OfJoints] | None = None,
        *,
        components: Sequence[Literal["x", "y", "z", "norm"]] | None = None,
    ):
        if joint not in system.joints:
            known = ", ".join(map(repr, system.joints)) or "none"
            raise InvalidSystem(f"JointProbe: there is no joint '{joint}'; there are {known}.")
        self.name, self._of, self._joint = name, joint, system.joints[joint]
        requested = [*self._joint.coordinates, *FORCES] if quantities is None else list(quantities)
        require(f"JointProbe of a {self._joint.kind} joint", requested, quantities_of(self._joint))
        if components is not None and not set(FORCES) & set(requested):
            raise InvalidSystem(f"JointProbe '{name}': components are of force and moment. Leave them out.")
        self._quantities = tuple(requested)
        self._numbers = [
            Numbers(
                f"{name}: {OF_JOINTS[one].words}",
                one,
                OF_JOINTS[one].parts,
                [""],
                components if one in FORCES else None,
            )
            for one in requested
        ]
        self.columns = tuple(column for numbers in self._numbers for column in numbers.columns)

    def values(self, seen: Observation) -> Array:
        """Return the numbers [columns] of a state."""
        found = [
            numbers.of(np.asarray(self._value(one, seen))[None, None])[0]
            for one, numbers in zip(self._quantities, self._numbers, strict=True)
        ]
        return np.concatenate(found)

    def _value(self, quantity: str, seen: Observation) -> Array | float:
        q = seen.state.q
        if quantity in FORCES:
            reaction = seen.joint_reactions.get(self._of)
            return np.zeros(3) if reaction is None else getattr(reaction, quantity)
        if quantity in _RATES:
            return self._joint.rate(_RATES[quantity], q, seen.state.v)
        return getattr(self._joint, quantity)(q)
