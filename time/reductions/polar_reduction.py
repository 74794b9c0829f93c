"""Reduction by rotations: two bodies with a central force, as the motion of their distance in one dimension."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from time import perf_counter
from typing import final

import numpy as np

from symplex.base.arguments import checked
from symplex.errors import InvalidSystem, StepFailed
from symplex.fem.energies.energy import Array, Energy
from symplex.fem.measures.bars import Bars, InverseSquare
from symplex.fem.system import State, System
from symplex.time.around import Around
from symplex.time.events.force_stepping import ForceStepping
from symplex.time.events.lattice_motion import ForceSteppingMotion
from symplex.time.integrator import Integrator
from symplex.time.motion import FixedStepMotion, Motion
from symplex.time.reductions.jacobi_reduction import CentreOfMass
from symplex.time.reductions.swept_angle import RADIUS, TIME, add_pieces, swept

_NAME = "PolarReduction"
_RADIAL = 8 * np.finfo(float).eps  # sine of the angle between position and velocity up to which it is round-off
_FIRST_SPAN = 2.0**-20  # of the time to go: what is followed at once in the beginning
_ENOUGH = 2**16  # pieces at once


@checked
@final
@dataclass(frozen=True)
class PolarReduction(Around):
    """An integrator for the distance of two bodies, which keeps momentum and angular momentum exactly.

    Section 6.1.1 of Gonzalez, Schmidt and Ortiz, "Force-stepping integrators in Lagrangian mechanics" (2010). With the
    reduced mass μ and the angular momentum Θ = μ r² θ̇ (the paper's text, after eq. 67, lacks the square) the distance
    moves in one dimension under V(r) + Θ²/2μr² (eq. 67), and θ(t) = ∫ Θ/μr² dτ (eq. 68). Force-stepping follows
    parabolas of r, along which the integral is exact (`symplex.time.reductions.swept_angle`). For methods with a fixed
    step it is a sum by the trapezoidal rule: symmetric and of second order, and symplectic together with explicit
    Newmark.

    The bodies are two free nodes, or a free one and one that is fixed. All energies are `Bars` between them.
    With Θ = 0 they move on a line, through each other if the energy lets them: r is then negative.

    With eq. 68 force-stepping is symplectic in (r, μ ṙ), but not for both bodies. It is if θ is conjugate to Θ in the
    interpolated energy that it solves exactly, θ̇ = ∂H_h/∂Θ: if 1/r² in eq. 68 is interpolated as V_h is.

    Parameters
    ----------
    integrator : Integrator
        Moves the distance, node 1 of a one-dimensional system whose node 0 is fixed at 0: `ForceStepping`, or a
        method with a fixed step.
    conjugate_angle : bool, default False
        For force-stepping: interpolate 1/r² in eq. 68, so that the whole motion is symplectic.

    Attributes
    ----------
    order, conserves, energy, symmetric
        Those of the integrator, with ``momentum`` and ``angular momentum``, and without ``symplectic form`` unless
        the angle is conjugate. With fixed steps the order is at most 2, that of the angle.

    Raises
    ------
    ValueError
        If the conjugate angle is asked for with another integrator than `ForceStepping`.
    """

    integrator: Integrator
    conjugate_angle: bool = False

    takes = frozenset({"supports"})  # pyright: ignore[reportAssignmentType]

    def __post_init__(self):
        if self.conjugate_angle and not isinstance(self.integrator, ForceStepping):
            name = type(self.integrator).__name__
            raise ValueError(f"{_NAME}: the conjugate angle is that of ForceStepping; it is not known for {name}.")

    @property
    def order(self) -> float:
        """That of the integrator; with fixed steps at most 2, that of the angle."""
        order = self.integrator.order
        return order if isinstance(self.integrator, ForceStepping) else min(order, 2)

    @property
    def conserves(self) -> frozenset[str]:
        """What the integrator conserves, and both momenta; the symplectic form if the angle is conjugate."""
        lost = frozenset() if self.conjugate_angle else {"symplectic form"}
        return (self.integrator.conserves - lost) | {"momentum", "angular momentum"}

    def start(self, system: System, state: State) -> PolarMotion:
        """Return the motion that begins at the positions and velocities of a state.

        Raises
        ------
        InvalidSystem
            If the system is not one of two bodies with central forces, or the integrator is of another kind.
        StepFailed
            If the bodies are at one point; or as the integrator.
        """
        bodies = _Bodies(system)
        state = replace(state, v=np.where(system.fixed, 0.0, state.v))
        frame = bodies.frame(state)
        radial = _radial_system(bodies, frame.angular_momentum)
        inner = self.integrator.start(radial, bodies.radial_state(state, frame))
        motion = PolarMotion(self, bodies, frame, bodies.centre(state), inner)
        motion._begin(state.t)
        return motion

    def resume(self, system: System, checkpoint: Mapping[str, np.ndarray]) -> PolarMotion:
        """Return the motion that goes on from a checkpoint, bit-identically."""
        bodies = _Bodies(system)
        if "polar_axes" not in checkpoint:
            raise InvalidSystem("the checkpoint belongs to another method than PolarReduction.")
        frame = _Frame(checkpoint["polar_axes"].copy(), float(checkpoint["polar_momentum"]))
        inner = self.integrator.resume(_radial_system(bodies, frame.angular_momentum), checkpoint)
        motion = PolarMotion(self, bodies, frame, CentreOfMass.resumed(checkpoint), inner)
        motion._restore(checkpoint)
        return motion

    def fit(self, system: System, state: State, interval: float) -> PolarReduction:
        """Return the method with a step that divides the interval in s between output times.

        Raises
        ------
        SymplexError
            As the integrator, and as `start`.
        """
        bodies = _Bodies(system)
        frame = bodies.frame(state)
        radial = _radial_system(bodies, frame.angular_momentum)
        return replace(self, integrator=self.integrator.fit(radial, bodies.radial_state(state, frame), interval))


@final
class PolarMotion(Motion):
    """A motion of two bodies in polar coordinates; see `PolarReduction`.

    Attributes
    ----------
    inner : Motion
        The motion of the distance.
    angular_momentum : float
        Θ in kg m²/s, about the common centre of mass or the body that is fixed; not negative: the sense of the
        rotation is that of the axes.
    reduced_mass : float
        μ in kg.
    """

    def __init__(self, integrator: PolarReduction, bodies: _Bodies, frame: _Frame, centre: CentreOfMass, inner: Motion):
        if not isinstance(inner, ForceSteppingMotion | FixedStepMotion):
            raise InvalidSystem(
                f"{_NAME} knows the way between two states of ForceStepping and of methods with a fixed step, not of "
                f"{type(inner).__name__}."
            )
        self.system = bodies.system
        self.inner: ForceSteppingMotion | FixedStepMotion = inner
        self.angular_momentum = frame.angular_momentum
        self.reduced_mass = bodies.reduced_mass
        self._bodies = bodies
        self._frame = frame
        self._centre = centre
        self._lattice = (0.0, 0.0)  # grid size and origin in m, where the angle is interpolated
        if integrator.conjugate_angle and isinstance(inner, ForceSteppingMotion):
            h = float(np.broadcast_to(inner.integrator.grid, (2, 1))[1, 0])
            self._lattice = (h, h * float(inner.offset[1, 0]))
        self._piece = np.zeros(4)  # the current one
        self._total = np.zeros(2)  # ∫ dτ/r² up to its beginning
        self._t = 0.0
        self._stopped = ""  # why the motion cannot go on
        self._span = 0.0  # how much time to follow at once; 0: not known yet

    # -- Motion ---------------------------------------------------------------------------------------------

    def advance(self, t: float) -> State:
        """Move to the time t in s and return the state of both bodies there."""
        self.approach(t, np.inf)
        state = self.inner.advance(t)
        r, rate, acceleration = (float(x[1, 0]) for x in (state.q, state.v, state.a))
        along, across = self._frame.directions(self.angle(t))
        spin = self._rate / r if self._rate else 0.0  # r θ̇
        return self._bodies.state(
            state.t,
            self._centre,
            r * along,
            rate * along + spin * across,
            (acceleration - (spin * spin / r if spin else 0.0)) * along,
        )

    def approach(self, t: float, seconds: float) -> bool:
        """Move towards the time t in s for about so many seconds of wall time; return whether it is reached."""
        self._refuse_stopped()
        if not self._rate:
            return self.inner.approach(t, seconds)
        if not self._t <= t < np.inf:
            self.inner.advance(t)  # which refuses
        self._stopped = f"the motion stopped on its way from t = {self._t:.6g} s; resume from an earlier checkpoint."
        try:
            if isinstance(self.inner, FixedStepMotion):
                reached = self._follow_steps(self.inner, t, seconds)
            else:
                reached = self._follow_pieces(self.inner, t, seconds)
        except StepFailed as error:
            self._stopped = str(error)
            raise
        self._stopped = ""
        return reached

    def angle(self, t: float) -> float:
        """Return θ in rad at the time t in s, from the last event or step on; 0 at the start, and it does not wrap."""
        if not self._rate:
            return 0.0
        part = swept(self._piece, t, *self._lattice)
        if not np.isfinite(part):
            raise StepFailed(self._why())
        return self._rate * (self._total[0] + (self._total[1] + part))

    def statistics(self) -> dict[str, float]:
        """Return the counts of the integrator."""
        return self.inner.statistics()

    def energies(self, state: State) -> dict[str, float]:
        """Return the energies of the system in J, with further totals if the integrator has some."""
        radial = self._bodies.radial_state(state, self._frame)
        return self._centre.totals(self.system.energies_of(state), self.inner, radial, self._bodies.total_mass)

    def checkpoint(self) -> dict[str, np.ndarray]:
        """Return all that is needed to go on bit-identically, as a flat mapping of arrays."""
        self._refuse_stopped()
        frame = {"polar_axes": self._frame.axes.copy(), "polar_momentum": np.array(self.angular_momentum)}
        angle = {"polar_t": np.array(self._t), "polar_piece": self._piece.copy(), "polar_total": self._total.copy()}
        angle["polar_conjugate"] = np.array(self._lattice[0] > 0.0)
        return self.inner.checkpoint() | self._centre.checkpoint() | frame | angle

    # -- inside ----------------------------------------------------------------------------------------------

    @property
    def _rate(self) -> float:
        """Θ/μ: the angle for each ∫ dτ/r²."""
        return self.angular_momentum / self.reduced_mass

    def _begin(self, t: float) -> None:
        state = self.inner.advance(t)
        self._t = t
        self._piece[:] = t, state.q[1, 0], state.v[1, 0], state.a[1, 0]

    def _restore(self, checkpoint: Mapping[str, np.ndarray]) -> None:
        if bool(checkpoint["polar_conjugate"]) != (self._lattice[0] > 0.0):
            raise InvalidSystem(f"the checkpoint belongs to {_NAME} with the other choice of conjugate_angle.")
        self._t = float(checkpoint["polar_t"])
        self._piece[:] = checkpoint["polar_piece"]
        self._total[:] = checkpoint["polar_total"]

    def _refuse_stopped(self) -> None:
        if self._stopped:
            raise StepFailed(self._stopped)

    # Pieces, or steps, are never cut, and are added one after the other: the angle does not depend on when one looks.

    def _follow_pieces(self, inner: ForceSteppingMotion, t: float, seconds: float) -> bool:
        """Move towards the time t and integrate dτ/r² over all pieces that end on the way; return whether it came."""
        start = perf_counter()
        span = self._span or _FIRST_SPAN * (t - self._t)
        while True:
            to = self._t + span if self._t + span < t else t
            pieces = inner.follow(to)
            k = np.flatnonzero((pieces.event > 0) & (pieces.dof == 1))
            time, r, v, a = pieces.time[k], pieces.q[k], pieces.v[k], pieces.a[k]
            if add_pieces(self._piece, self._total, time, r, v, a, *self._lattice) < len(k):
                raise StepFailed(self._why())
            self._t = to
            if to == t:
                return True
            span *= 2.0 if len(k) < _ENOUGH // 2 else 0.5 if len(k) > _ENOUGH else 1.0
            self._span = span
            if perf_counter() - start >= seconds:
                return False

    def _follow_steps(self, inner: FixedStepMotion, t: float, seconds: float) -> bool:
        """Move towards the time t by steps, and integrate dτ/r² by the trapezoidal rule; return whether it came."""
        start, target = perf_counter(), round((t - inner.t0) / inner.dt)
        while inner.n < target:
            r0 = self._piece[RADIUS]
            state = inner.advance(inner.t0 + (inner.n + 1) * inner.dt)
            r1 = float(state.q[1, 0])
            if not (r0 > 0.0 and r1 > 0.0):
                raise StepFailed(self._why())
            self._total[0] += 0.5 * inner.dt * (1.0 / (r0 * r0) + 1.0 / (r1 * r1))
            self._t = state.t
            self._piece[:] = state.t, r1, state.v[1, 0], state.a[1, 0]
            if perf_counter() - start >= seconds:
                break
        return inner.n >= target

    def _why(self) -> str:
        return (
            f"{_NAME}: the distance of the bodies comes to 0 soon after t = {self._piece[TIME]:.6g} s (r = "
            f"{self._piece[RADIUS]:.3g} m), though their angular momentum, {self.angular_momentum:.3g} kg m²/s, should "
            "keep them apart: the centrifugal energy is not resolved there. Try a smaller grid or step."
        )


@dataclass(frozen=True)
class _Frame:
    """The plane of the motion: the directions of θ = 0 and θ = π/2 [2, dim], and Θ."""

    axes: Array
    angular_momentum: float

    def directions(self, angle: float) -> tuple[Array, Array]:
        """Return the unit vectors of growing r and growing θ."""
        cos, sin = np.cos(angle), np.sin(angle)
        return cos * self.axes[0] + sin * self.axes[1], cos * self.axes[1] - sin * self.axes[0]


class _Bodies:
    """Two bodies with central forces: q_0 = centre − share_0 d and q_1 = centre + share_1 d, with d = q_1 − q_0."""

    def __init__(self, system: System):
        mass = np.asarray(system.mass)
        if system.n_nodes != 2 or system.dim not in (2, 3):
            raise InvalidSystem(
                f"{_NAME} is for two bodies in a plane or in space; this system has {system.n_nodes} nodes in "
                f"{system.dim} dimensions. Use JacobiReduction, or the integrator without reduction."
            )
        for name, energy in system.energies.items():
            if not isinstance(energy, Bars):
                raise InvalidSystem(
                    f"{_NAME} needs forces along the line between the bodies; energy '{name}' "
                    f"({type(energy).__name__}) is not of the kind Bars."
                )
        fixed = system.fixed.sum(axis=1).tolist()
        if fixed not in ([0, 0], [system.dim, 0], [0, system.dim]):
            raise InvalidSystem(f"{_NAME} needs two free nodes, or one free and one fixed in all components.")
        self.system = system
        self.total_mass = float(mass.sum())
        # With an infinite mass of the body that is fixed.
        self.share = np.array([1.0, 0.0] if fixed[1] else [0.0, 1.0] if fixed[0] else mass[::-1] / self.total_mass)
        self.reduced_mass = float(mass[0] * self.share[0] if not fixed[0] else mass[1])

    def centre(self, state: State) -> CentreOfMass:
        """Return the centre of mass, or the body that is fixed."""
        q, v = (self.share[1] * x[0] + self.share[0] * x[1] for x in (state.q, state.v))
        return CentreOfMass(state.t, q, v)

    def frame(self, state: State) -> _Frame:
        """Return the plane and the angular momentum of a state."""
        d, v = state.q[1] - state.q[0], state.v[1] - state.v[0]
        r, speed = np.linalg.norm(d), np.linalg.norm(v)
        if not r > 0.0:
            raise StepFailed(f"{_NAME} cannot start: both bodies are at {state.q[0]} m, where there is no direction.")
        axes = np.zeros((2, len(d)))
        axes[0] = d / r
        across = v - (v @ axes[0]) * axes[0]
        across -= (across @ axes[0]) * axes[0]
        size = np.linalg.norm(across)
        if size <= _RADIAL * speed:
            return _Frame(axes, 0.0)
        axes[1] = across / size
        return _Frame(axes, float(self.reduced_mass * r * size))

    def radial_state(self, state: State, frame: _Frame) -> State:
        """Return the state of the distance: node 1, with node 0 at 0."""
        d, v = state.q[1] - state.q[0], state.v[1] - state.v[0]
        along = d / np.linalg.norm(d) if frame.angular_momentum else frame.axes[0]
        q, v = (np.array([[0.0], [x @ along]]) for x in (d, v))
        return State(state.t, q, v, np.zeros((2, 1)))

    def state(self, t: float, centre: CentreOfMass, d: Array, v: Array, a: Array) -> State:
        """Return the state of both bodies from their relative position, velocity and acceleration."""
        weights = np.array([[-self.share[0]], [self.share[1]]])
        return State(t, centre.at(t) + weights * d, centre.v + weights * v, weights * a)


def _radial_system(bodies: _Bodies, angular_momentum: float) -> System:
    """Return the system of the distance (eq. 67): node 0 fixed at 0, node 1 of mass μ at r."""
    mu = bodies.reduced_mass
    energies: dict[str, Energy] = {}
    for name, energy in bodies.system.energies.items():
        assert isinstance(energy, Bars)
        energies[name] = Bars(energy.nodes, energy.law, dim=1)
    if angular_momentum:
        name = "centrifugal"
        while name in energies:
            name += " (reduction)"
        energies[name] = Bars([[0, 1]], InverseSquare(angular_momentum**2 / (2.0 * mu)), dim=1)
    return System(np.full(2, mu), energies, dim=1, fixed=np.array([[True], [False]]))
