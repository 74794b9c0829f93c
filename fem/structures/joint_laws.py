"""Springs, stops, dampers, friction and motors of joints: forces along their angle or displacement.

A displacement d is an inner product of vectors of both bodies; an angle has two, its cosine c and sine s. Products are
quadratic, so that their differences are Δc = ∇c(x̄)·Δx. With the angles α at the ends of a step and r² = c² + s², which
is 1 of rigid bodies, c₀s₁ − s₀c₁ = r₀r₁ sin Δα, and a moment S does exactly the work S Δα by the forces

    S Δα/(r₀r₁ sin Δα) (c̄ ∇s(x̄) − s̄ ∇c(x̄)),    c̄ = ½ (c₀ + c₁).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal, final

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.base.quantities import not_negative, positive
from symplex.errors import InvalidSystem, StepFailed
from symplex.fem.actions.histories import Constant, Factor, History, factor_of
from symplex.fem.actions.looped_load import LoopedLoad
from symplex.fem.assembly import forms
from symplex.fem.assembly.copying import Copyable
from symplex.fem.assembly.pattern import Array
from symplex.fem.energies.energy import RIGID, Energy
from symplex.fem.energies.kernel_energy import KernelEnergy
from symplex.fem.structures import joint_law_loops as loops
from symplex.fem.structures.joints import Joint, Products

JointCoordinate = Literal["angle", "displacement"]


@final
class _Coordinate(Copyable):
    """The angle or displacement of a joint, less what it is at rest, as a function of products.

    Parameters
    ----------
    joint : Joint
    coordinate : {"angle", "displacement"} or None
    rest : float

    Attributes
    ----------
    products : Products
        The cosine and sine of the angle from rest, or the displacement.
    """

    def __init__(self, owner: str, joint: Joint, coordinate: JointCoordinate | None, rest: float):
        known = list(joint.coordinates)
        if not known:
            raise InvalidSystem(f"{owner}: a {joint.kind} joint has no angle and no displacement.")
        if coordinate is None and len(known) > 1:
            raise InvalidSystem(f"{owner}: coordinate must be one of 'angle', 'displacement' of a {joint.kind} joint.")
        self.name = coordinate or known[0]
        if self.name not in known:
            raise InvalidSystem(f"{owner}: a {joint.kind} joint has no {self.name}; it has: {', '.join(known)}.")
        if not np.isfinite(rest):
            raise InvalidSystem(f"{owner}: rest must be finite, got {rest}.")
        self.is_angle, self.nodes, self.rest = self.name == "angle", joint.nodes[:1], float(rest)
        pairs = joint.pairs_of(self.name)
        if self.is_angle:
            (u, c), (_, s) = pairs
            cos, sin = np.cos(self.rest), np.sin(self.rest)
            pairs = [(u, _combined(cos, c, sin, s)), (u, _combined(-sin, c, cos, s))]
        self.products = Products(pairs)

    def record(self, numbers: Sequence[float]) -> loops.CoordinateRecord:
        """Return what kernels of a law with some numbers read."""
        of = self.products
        constants = {"left_constant": of.left_constant, "right_constant": of.right_constant}
        weights = {"left": of.left, "right": of.right, "totals": np.hstack(of.totals)}
        return loops.CoordinateRecord(
            nodes=np.ascontiguousarray(self.nodes),
            **weights,
            **constants,
            rest=self.rest,
            numbers=np.array(numbers, float),
        )

    def value(self, x: Array) -> float:
        """Return the angle in rad from rest, from −π to π, or the displacement in m, at positions x [k, 3]."""
        m = self.products.value(x[None])
        return float(np.arctan2(m[1], m[0])) if self.is_angle else float(m[0]) - self.rest

    def require(self, x: Array) -> None:
        """Check that it is defined at positions x [k, 3]."""
        m = self.products.value(x[None])
        if not 0.0 < float(m @ m) < np.inf and self.is_angle:
            raise StepFailed("the angle of a joint is not defined: its frames are distorted. Try a smaller step.")


def _combined(a: float, x: tuple[Array, Array], b: float, y: tuple[Array, Array]) -> tuple[Array, Array]:
    """Return a x + b y of weights and constants."""
    return a * x[0] + b * y[0], a * x[1] + b * y[1]


@checked
@final
class JointSpring(KernelEnergy):
    """A spring along the angle or displacement of a joint, and stops: φ = ½ k (α − α₀)² + ½ K (excess over a stop)².

    Its discrete gradient is closed: energy–momentum conserves its energy to round-off, at a stop as well.

    Parameters
    ----------
    joint : Joint
        Revolute, prismatic or cylindrical.
    stiffness : float, default 0
        k in N m/rad or N/m.
    rest : float, default 0
        α₀ in rad or m. An angle is taken from there, and must stay within half a turn of it.
    stops : (float, float), optional
        The lowest and highest angle or displacement, counted as those of the joint; infinite where there is none.
    stop_stiffness : float, optional
        K in N m/rad or N/m, with stops.
    coordinate : {"angle", "displacement"}, optional
        Of cylindrical joints.

    Raises
    ------
    InvalidSystem
        If the joint has no such coordinate, or stops are not in order.
    """

    kernels: ClassVar = forms.kernels_of(loops)
    third = Energy.third  # it has none  # pyright: ignore[reportAssignmentType]

    def __init__(
        self,
        joint: Joint,
        stiffness: Annotated[float, not_negative("N m/rad or N/m")] = 0.0,
        rest: float = 0.0,
        stops: ArrayLike | None = None,
        stop_stiffness: Annotated[float | None, positive("N m/rad or N/m")] = None,
        coordinate: JointCoordinate | None = None,
    ):
        self._coordinate = _Coordinate("JointSpring", joint, coordinate, rest)
        self.nodes, self.stiffness = self._coordinate.nodes, float(stiffness)
        self.invariances = frozenset() if joint.bodies[1] is None else RIGID
        if (stops is None) != (stop_stiffness is None):
            raise InvalidSystem("JointSpring: stops and stop_stiffness must be given together.")
        limits = np.array([-np.inf, np.inf] if stops is None else stops, dtype=float)
        if limits.shape != (2,) or not limits[0] < limits[1]:
            raise InvalidSystem(f"JointSpring: stops must be two ascending numbers, got {stops}.")
        if stops is None and self.stiffness == 0.0:
            raise InvalidSystem("JointSpring: stiffness must be positive where there are no stops, got 0.")
        from_rest = limits - self._coordinate.rest
        self._compose(3, self._coordinate.record([self.stiffness, *from_rest, float(stop_stiffness or 0.0)]))

    def value(self, x: Array) -> Array:
        """Return φ [1] in J at the positions x [1, k, 3] in m."""
        return self._local(forms.VALUE, x)

    def _apart(self, form: forms.Form, *gathered: Array) -> Array:
        found = super()._apart(form, *gathered)
        if not np.isfinite(found).all():
            self._require_defined(*gathered[: form.ends])
        return found

    def _require_defined(self, *ends: Array) -> None:
        """Refuse positions [1, k, 3] where there are no forces, or an increment without them."""
        at = self._coordinate
        for x in ends:
            at.require(x[0])
        if at.is_angle and len(ends) == 2:
            a, b = (at.value(x[0]) for x in ends)
            turned = a + (b - a + np.pi) % (2.0 * np.pi) - np.pi
            raise StepFailed(
                f"a JointSpring has been turned to {np.degrees(turned):.4g}° from its rest; it is for less than half a "
                "turn. Take another rest, or stops."
            )


@checked
@final
class JointLoad(LoopedLoad):
    """A motor, a damper and friction along the angle or displacement α of a joint.

    M = M(t) − d α̇ − c α̇/√(α̇² + ε²) acts on the first body along α, and its opposite on the second one. In the step of
    energy–momentum the last two do the work −(d + c/√…) α̇² h, which is never positive.

    Parameters
    ----------
    joint : Joint
        Revolute, prismatic or cylindrical.
    moment : float, callable or (times, values), default 0
        M(t) in N m, or the force in N: constant, a function of t in s, or a table that is interpolated linearly.
    damping : float, default 0
        d in N m s/rad or N s/m.
    friction : float, default 0
        c in N m or N, Coulomb's: the same at all speeds but small ones.
    slip : float, optional
        ε in rad/s or m/s, with friction: at α̇ = ε 71 % of it act.
    coordinate : {"angle", "displacement"}, optional
        Of cylindrical joints.

    Raises
    ------
    InvalidSystem
        If the joint has no such coordinate, or there is friction without slip.
    """

    kernels: ClassVar = loops.LOADS

    def __init__(
        self,
        joint: Joint,
        moment: History = 0.0,
        damping: Annotated[float, not_negative("N m s/rad or N s/m")] = 0.0,
        friction: Annotated[float, not_negative("N m or N")] = 0.0,
        slip: Annotated[float | None, positive("rad/s or m/s")] = None,
        coordinate: JointCoordinate | None = None,
    ):
        self._coordinate = _Coordinate("JointLoad", joint, coordinate, 0.0)
        self.nodes, self.moment = self._coordinate.nodes, factor_of(moment)
        self.damping, self.friction = float(damping), float(friction)
        if (self.friction > 0.0) != (slip is not None):
            raise InvalidSystem("JointLoad: friction and slip must be given together.")
        self._slip = 1.0 if slip is None else float(slip)

    @property
    def history(self) -> Factor | None:
        """The moment as a function of time, if it depends on that."""
        return None if isinstance(self.moment, Constant) else self.moment

    @property
    def record(self) -> loops.CoordinateRecord:
        """What the kernels read."""
        moment = self.moment.factor if isinstance(self.moment, Constant) else 1.0
        return self._coordinate.record([moment, self.damping, self.friction, self._slip])

    def require_dimension(self, dim: int) -> None:
        """Raise `InvalidSystem` if it is not in space."""
        if dim != 3:
            raise InvalidSystem(f"JointLoad: joints are in three dimensions, got {dim}.")
