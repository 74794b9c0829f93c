"""Coulomb friction of contact, between bodies and with obstacles: a load with its dissipation in the balance."""

from __future__ import annotations

from math import isfinite
from typing import Annotated, final

import numpy as np

from symplex.base.arguments import checked, described
from symplex.base.quantities import not_negative, positive
from symplex.contact.friction_law import FrictionLaw
from symplex.contact.kernel_friction import MeasureFriction, SurfaceContact, SurfaceFriction
from symplex.contact.node_friction import NodeFriction
from symplex.contact.rigid import ObstacleContact, RigidContact
from symplex.errors import InvalidArgument, InvalidSystem, StepFailed
from symplex.fem.actions.increment_load import Factors, IncrementLoad
from symplex.fem.actions.looped_load import CompiledLoad
from symplex.fem.assembly.calls import Call
from symplex.fem.assembly.forms import LoadForm
from symplex.fem.assembly.pattern import Array, IntArray

SLIP_SPEED = 1e-3  # m/s


@checked
@final
class Friction(CompiledLoad, IncrementLoad):
    """Coulomb friction of a contact: forces against the slip velocity σ, of size μ N ψ(|σ|/v_s).

    ψ(u) = u (2 − u) below 1, else 1: where bodies would stick they creep at less than the smoothing speed v_s. Above it
    the coefficient falls from the static to the dynamic one (`symplex.contact.friction_law`).

    It is a load: its work since the start, never positive under methods that take it at the middle of a step, is that
    of any load, and the balance of energy has it. With methods that take discrete gradients the normal force N is that
    of the step, so that the balance is exact whatever the step; both momenta are kept between bodies, and with an
    obstacle on a frame. One that is carried by a node does not turn, so that there friction keeps the linear momentum
    only.

    Parameters
    ----------
    contact : BodyContact, SegmentContact, RigidContact or MovingObstacleContact
        One of the energies of the system. The slip velocity is that relative to the other body, or to the obstacle.
    coefficient : float
        μ, the dynamic one if both are given.
    static : float, optional
        The static coefficient; default: the same.
    slip_speed : float, default 0.001
        v_s in m/s. A larger one makes the equations of a step easier to solve, and creep faster.
    between : (str, str), optional
        The names of two bodies that it is between; a body twice: with itself. By default all. So
        different bodies can have different coefficients, and histories the work of each.

    Attributes
    ----------
    energy : BodyContact, SegmentContact, RigidContact or MovingObstacleContact
        The contact.
    law : FrictionLaw
    between : (str, str) or None
        The bodies that it is between, if it is not between all.

    Raises
    ------
    InvalidSystem
        If a coefficient is negative, the static one is below the dynamic one, the speed is not positive, or bodies are
        named that don't touch.
    """

    def __init__(
        self,
        contact: SurfaceContact | ObstacleContact,
        coefficient: Annotated[float, not_negative("1")],
        *,
        static: Annotated[float | None, not_negative("1")] = None,
        slip_speed: Annotated[float, positive("m/s")] = SLIP_SPEED,
        between: tuple[str, str] | None = None,
    ):
        if not isinstance(contact, SurfaceContact | ObstacleContact):
            raise InvalidArgument(
                f"Friction: contact must be one between bodies or with an obstacle, got {described(contact)}."
            )
        static = coefficient if static is None else static
        if static < coefficient:
            raise InvalidSystem(f"Friction: static must be at least coefficient = {coefficient:g}, got {static:g}.")
        self.energy = contact
        self.law = FrictionLaw(float(coefficient), float(static), float(slip_speed))
        self.between = between
        self._forces: SurfaceFriction | NodeFriction | MeasureFriction
        if isinstance(contact, SurfaceContact):
            self._forces = SurfaceFriction(contact, self.law, between)
        else:
            if between is not None:
                raise InvalidSystem("Friction: bodies are named, but the contact is with an obstacle; leave them out.")
            if isinstance(contact, RigidContact) and contact.law is None:  # else its law is not compiled
                self._forces = MeasureFriction(contact, self.law)
            else:
                self._forces = NodeFriction(contact, self.law)

    @property
    def nodes(self) -> IntArray:
        """Its stencils [m, k] as they are now: those of the contact."""
        return self._forces.nodes

    @property
    def record(self) -> None:
        """None: its calls have their own."""

    def call(self, form: LoadForm) -> Call | None:
        """Return the call of a form, with obstacles that do not move or are carried by a node."""
        return self._forces.call(form)

    def over(self, t: float, q0: Array, q1: Array, v: Array) -> Array:
        """Return the friction [n, dim] in N of an increment from q0 to q1 with the velocities v [n, dim] in m/s."""
        out = np.zeros(q0.shape)
        self._require_finite(self._forces.add(q0, q1, v, out))
        return out

    def tractions(self, q: Array, v: Array) -> Array:
        """Return the tractions [n, 3] in Pa of friction at nodes of the surfaces of bodies.

        Of contact integrated over facets they are means over what touches at a node, else forces per area at rest.

        Parameters
        ----------
        q, v : float64 [n, 3]
            Positions in m and velocities in m/s.

        Raises
        ------
        InvalidSystem
            If the contact is with an obstacle.
        """
        if not isinstance(self._forces, SurfaceFriction):
            raise InvalidSystem("Friction: tractions are of contact between bodies; with an obstacle take the forces.")
        return self._forces.tractions(q, v)

    def add_derivatives(
        self, t: float, ends: tuple[Array, Array], v: Array, by: Factors, slots: IntArray, out: Array
    ) -> None:
        """Add 2 by.q ∂f/∂q1 + by.v ∂f/∂v to the blocks out [nnz, dim, dim]; see `IncrementLoad`."""
        self._require_finite(self._forces.add_derivatives(*ends, v, by, slots, out))

    def _require_finite(self, total: float) -> None:
        if not isfinite(total):
            raise StepFailed("Friction has no finite force. Try a smaller step.")
