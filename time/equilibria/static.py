"""Static equilibria: the shape in which a system is at rest under its loads, supports and contacts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, final

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.base.representation import Summarized
from symplex.errors import InvalidSystem, NoEquilibrium, StepFailed
from symplex.fem.energies.energy import Array
from symplex.fem.energies.inelastic import refuse_history
from symplex.fem.solids.zero_energy import has_reduced, zero_energy_reason
from symplex.fem.system import State, System
from symplex.time.equilibria.arc_length import arc_length_path, between
from symplex.time.equilibria.balance import StaticBalance
from symplex.time.equilibria.lost_stiffness import LostStiffness
from symplex.time.equilibria.relaxation import relaxed, way_of_supports
from symplex.time.solvers.linear import linear_solver
from symplex.time.solvers.newton import Newton
from symplex.time.solvers.nodal_coordinates import FramedSolver, newton_solver
from symplex.time.solvers.singular import SingularMatrix, motion_without_force

Way = Literal["load steps", "arc length", "relaxation"]

DEFAULT = Newton(iterations=30)  # in which a part of the load must be balanced, before it is halved
_LEAST = 2.0**-8  # part of the load
_ATTEMPTS = 200
_FEW = 20  # corrections of increments of parts with history, before their path is followed: metals that neck take 17
_POINTS, _POINTS_OF_SNAP = 2000, 20  # on a path by arc length
_STEP = 0.02  # of the size of the system, from point to point
_FINER, _SHORTER = 4, 0.125  # how often paths that snap are followed again in shorter steps, and by which part
_LOST = 1e-3  # of the forces of any energy, above which some act from outside
_CLOSED = 1e-14  # of conditions of joints, which are lengths in m and cosines
_STRAIGHT = 1e-9  # by which ways of the particles of a frame may differ that is moved without a rotation
_PUSHES = (0.01, 0.05, 0.2)  # of the size of a system, to leave an equilibrium that is not stable
_ITERATIONS, _EXACT = 6, 1e-6  # for the motion along which that is done


@final
@dataclass(frozen=True, repr=False)
class StaticEquilibrium(Summarized):
    """A system at rest.

    Attributes
    ----------
    system : System
    state : State
        At rest, without accelerations.
    way : {"load steps", "arc length", "relaxation"}
        How it was found.
    steps : int
        How many load steps, or points on the path by arc length, that took.
    corrections : int
        How many Newton's method took.
    residual : float
        The largest unbalanced force of a node in N. Where displacements are less than round-off of positions, it is
        the load itself.
    stable : bool or None
        Whether the tangent is positive definite; where it is not symmetric, as with loads that follow the body,
        whether its pivots are positive. None if it is singular, as of a body that may slide, or that is not known.
    """

    system: System
    state: State
    way: Way
    steps: int
    corrections: int
    residual: float
    stable: bool | None


@final
@dataclass(frozen=True, repr=False)
class EquilibriumPath(Summarized):
    """Equilibria along a path.

    Attributes
    ----------
    part : float64 [k]
        λ, of the load and of the way of supports; it may turn back.
    q : float64 [k, n, dim]
        Positions in m.
    stable : bool [k]
        Whether the tangent is positive definite.
    """

    part: Array
    q: Array
    stable: np.ndarray


@checked
def static_equilibrium(
    system: System,
    q: ArrayLike,
    *,
    t: float = 0.0,
    since: float | None = None,
    newton: Newton | None = None,
    slip: tuple[ArrayLike, float] | None = None,
) -> StaticEquilibrium:
    """Return the equilibrium that a system has under its loads, and supports, at a time.

    Newton's method on ∇V(q) = f(t, q, 0), with the whole load at once, or else in parts: what is not balanced at the
    given shape is taken away in steps, and supports move along. Equilibria that are not stable are not taken, but where
    bodies touch each other. Where a path ends – the load is more than the system can carry before it snaps through – it
    is followed by arc length; where that does not lead to a stable equilibrium, or something is held by nothing until
    it touches an obstacle, the system comes to rest in strongly damped motion. Damping is left out, and so is friction,
    which does not act at rest, without ``slip``. A free body on which nothing acts stays as it is.

    Parameters
    ----------
    system : System
    q : float [n, dim]
        Positions in m to begin with.
    t : float, default 0
        The time in s at which loads and supports are taken.
    since : float, optional
        The time in s at which supports and joints that move are where q has them; by default q is the shape from which
        displacements of supports count, and joints are where they are at t.
    newton : Newton, optional
        How the equations are solved.
    slip : (float [n, dim], float), optional
        Positions in m from which nodes slip to the equilibrium, and the time in s that it takes: friction acts against
        their mean velocity.

    Raises
    ------
    InvalidSystem
        If sizes do not match.
    NoEquilibrium
        If none is found: something is loose, or the load is more than the system can carry.

    Notes
    -----
    Arc length after E. Riks, An incremental approach to the solution of snapping and buckling problems, Int. J. Solids
    Struct. 15 (1979), 529-551.
    """
    return equilibrium_of(system, q, t, since, newton, slip)


def equilibrium_of(
    system: System,
    q: ArrayLike,
    t: float,
    since: float | None,
    newton: Newton | None,
    slip: tuple[ArrayLike, float] | None,
    lost: LostStiffness | None = None,
) -> StaticEquilibrium:
    """Return what `static_equilibrium` does, of energies that may be increments of parts with history.

    Where one increment does not lead there, as where a bond breaks, the path is then followed by the stiffness lost.
    """
    start, balance = _begun(system, q, t, since, slip)
    opened = bool(system.joints.moving) and bool(np.abs(system.joints.at(t).violations(start)).max() > _CLOSED)
    if not (balance.unbalanced.any() or balance.way.any() or opened):
        return _found(system, balance, start, "load steps", 0, 0, None)
    return _Search(system, balance, start, newton or DEFAULT, lost).run()


@checked
def equilibrium_path(
    system: System,
    q: ArrayLike,
    *,
    t: float = 0.0,
    since: float | None = None,
    until: float = 1.0,
    step: float = _STEP,
    points: int = 500,
    newton: Newton | None = None,
) -> EquilibriumPath:
    """Return equilibria from a shape to the whole load, or another part of it, by arc length.

    Of systems with frames in displacements and rotations.

    Parameters
    ----------
    system : System
    t : float, default 0
    since : float, optional
    newton : Newton, optional
        As of `static_equilibrium`; of ``newton`` the linear solver is taken.
    q : float [n, dim]
        Positions in m to begin with, whose balance counts as λ = 0.
    until : float, default 1
        The part λ at which the path ends.
    step : float, default 0.02
        How far nodes may move from point to point, in the quadratic mean, as a part of the size of the system.
    points : int, default 500
        How many there are at most.

    Raises
    ------
    InvalidSystem
        If sizes do not match, or there are joints, or supports that rotate frames.
    NoEquilibrium
        If there is no path from the start, as where something is loose.
    """
    start, balance = _begun(system, q, t, since)
    if (reason := _why_no_path(balance)) is not None:
        raise InvalidSystem(f"equilibrium_path is for systems without {reason}. Take static_equilibrium.")
    parts, shapes, stable = [0.0], [start], [True]
    for point in arc_length_path(balance, start, 0.0, (newton or Newton()).linear, step):
        parts.append(point.part)
        shapes.append(point.q)
        stable.append(point.stable)
        if point.part >= until or len(parts) >= points:
            break
    if len(parts) == 1:
        raise NoEquilibrium("no path of equilibria leads on from the given shape: the tangent is singular there.")
    return EquilibriumPath(np.array(parts), np.array(shapes), np.array(stable))


def _why_no_path(balance: StaticBalance) -> str | None:
    """Return why paths by arc length cannot be followed, if they cannot."""
    system = balance.system
    if system.joints:
        return "joints, whose conditions it does not keep"
    if system.frames:
        way = balance.way[system.frames.nodes]
        if np.abs(way - way[:, :1]).max(initial=0.0) > _STRAIGHT * np.abs(way).max(initial=0.0):
            return "supports that rotate frames, of whose motion there is no part"
    return None


def _begun(
    system: System, q: ArrayLike, t: float, since: float | None, slip: tuple[ArrayLike, float] | None = None
) -> tuple[Array, StaticBalance]:
    """Return the positions [n, dim] at which a search begins, checked, and the balance to search for."""
    refuse_history(system, "a static equilibrium")
    start = system.state(np.asarray(q, dtype=float), t=t).q
    system.check_start(start)
    if system.joints:
        joints = system.joints.at(t if since is None else since)
        joints.require_closed(system, start, None, "static_equilibrium")
    system.update_neighbours(start)
    before = None if slip is None else (np.asarray(slip[0], dtype=float), float(slip[1]))
    return start, StaticBalance(system, t, start, _way(system, t, since), before)


def _way(system: System, t: float, since: float | None) -> Array:
    """Return how far supports move [n, dim] in m."""
    if not system.moving:
        return np.zeros((system.n_nodes, system.dim))
    way = system.moving.displacements(t)
    return way if since is None else way - system.moving.displacements(since)


@final
class _Search:
    """The search for an equilibrium, by one way after the other.

    Parameters
    ----------
    system : System
    balance : StaticBalance
    q : float64 [n, dim]
    newton : Newton
    lost : LostStiffness, optional
    """

    def __init__(
        self, system: System, balance: StaticBalance, q: Array, newton: Newton, lost: LostStiffness | None = None
    ):
        self._system, self._balance, self._lost = system, balance, lost
        self._solver = newton_solver(system, newton)
        if isinstance(self._solver, FramedSolver):
            self._solver.times = balance.t, balance.t
        self._newton = newton
        self._start, self._q, self._part = q, q, 0.0
        self._steps = self._corrections = 0
        self._stable: bool | None = None

    def run(self) -> StaticEquilibrium:
        """Return the equilibrium."""
        try:
            return self._searched()
        except NoEquilibrium as error:
            if (reason := self._zero_energy_reason()) is None:
                raise
            raise NoEquilibrium(f"{str(error).rstrip('.')}; {reason}") from error

    def _searched(self) -> StaticEquilibrium:
        system = self._system
        if self._lost is not None and not (system.changing or system.frames or _why_no_path(self._balance)):
            usual, few = self._solver, replace(self._newton, iterations=min(_FEW, self._newton.iterations))
            self._solver = newton_solver(self._system, few)
            try:
                if self._attempted(1.0, self._q):
                    return self._result("load steps")
                if self._arc_length():
                    return self._result("arc length")
            finally:
                self._solver = usual
            self._q, self._part, self._stable = self._start, 0.0, None
        self._lost = None
        loose = self._load_steps()
        if loose:
            self._system.update_neighbours(self._start)  # an attempt may have gone far
        if loose and self._balance.is_at_rest(self._start):
            return self._result("load steps")
        if self._part == 1.0:
            return self._result("load steps")
        if not (loose or self._system.changing or _why_no_path(self._balance)) and self._arc_length():
            return self._result("arc length")
        self._relax()
        return self._result("relaxation")

    def _result(self, way: Way) -> StaticEquilibrium:
        return _found(self._system, self._balance, self._q, way, self._steps, self._corrections, self._stable)

    def _attempt(self, part: float, q: Array) -> bool:
        """Balance a part of the load from positions q at λ; return whether that is possible, and stable."""
        balance, solver = self._balance, self._solver
        balance.begin(q, part)
        self._corrections += solver.solve(
            balance, q, way_of_supports(balance, solver, q, self._part, part - self._part)
        )
        if self._system.frames and not solver.increment.any():
            self._require_forces_above_round_off(q)
        if balance.symmetric or self._system.frames:
            self._stable = solver.definite
        else:
            self._stable = balance.is_stable(q + solver.increment)
        if self._stable is False and not self._system.changing:
            return False
        self._q, self._part = q + solver.increment, part
        self._system.settle(self._q)
        balance.residual(self._q)
        self._steps += 1
        return True

    def _require_forces_above_round_off(self, q: Array) -> None:
        """Refuse forces on frames without an effect: slender ones have stiffnesses of very different sizes."""
        balance, largest = self._balance, 0.0
        left = float(np.abs(balance.residual(q)).max(initial=0.0))
        for energy in self._system.energies.values():
            forces = np.zeros_like(q)
            energy.add_gradient(q, forces)
            largest = max(largest, float(np.abs(forces).max()))
        if left > _LOST * largest and not balance.is_at_rest(q):
            raise NoEquilibrium(
                f"the forces that act, of {left:.3g} N at most, are less than round-off of forces between nodes. "
                "Let larger ones act, and divide the displacements."
            )

    def _attempted(self, part: float, q: Array) -> bool:
        """Do `_attempt`; return False where no equilibrium is found."""
        try:
            return self._attempt(part, q)
        except StepFailed:
            return False

    def _load_steps(self) -> bool:
        """Go as far as load steps lead; return whether that is nowhere, as something is loose."""
        size = 1.0
        for _ in range(_ATTEMPTS):
            self._system.update_neighbours(self._q)
            part = min(self._part + size, 1.0)
            try:
                done = self._attempt(part, self._q)
            except SingularMatrix:
                # Elements that a support has rotated far may be singular as well.
                if self._part == 0.0 and not (self._system.frames and self._balance.way.any()):
                    return True
                done = False
            except StepFailed:
                done = False
            if self._part == 1.0:
                return False
            size = 2.0 * size if done else 0.5 * size
            if size < _LEAST:
                return False
        return False

    def _arc_length(self) -> bool:
        """Follow the path by arc length until all of the load acts; return whether that is a stable equilibrium."""
        balance, before, q0, finer = self._balance, self._part, self._q, 0
        path = arc_length_path(balance, self._q, self._part, self._newton.linear, _STEP, self._lost)
        shorter: float | None = None
        for _ in range(_POINTS if self._lost is None else _POINTS_OF_SNAP):
            try:
                point = path.send(shorter)
            except StopIteration:
                return False
            self._steps += 1
            self._corrections += point.corrections
            shorter = None
            if before < 1.0 <= point.part:
                q = between(balance, q0, point.q, (1.0 - before) / (point.part - before))
                for part, begin in ((1.0, q), *(((before, q0),) if self._lost is not None else ())):
                    self._part = part
                    if self._attempted(1.0, begin):
                        return True
                self._part, self._q = 1.0, q
                if self._lost is not None and finer < _FINER:  # what breaks, or holds, lies within the step
                    finer, shorter = finer + 1, _SHORTER
                    continue
            before, q0 = point.part, point.q
        return False

    def _relax(self) -> None:
        """Let the system come to rest, from a shape that is a little off where it is balanced but not stable."""
        begin, part = self._q, self._part
        pushes = () if self._system.frames else _PUSHES  # along modes of particles
        for push in pushes if part == 1.0 and pushes else (0.0, *pushes):
            q = begin + push * self._balance.length * self._lowest_mode(begin) if push else begin
            self._q, count = relaxed(self._balance, q, part, self._solver)
            self._corrections += count
            self._part, self._stable = 1.0, None
            try:
                self._system.update_neighbours(self._q)
                self._attempt(1.0, self._q)
            except StepFailed:  # it may slide, or roll
                self._stable = None
            if self._stable is not False or self._system.changing:
                return
        raise NoEquilibrium(
            "no static equilibrium that is stable was found, only one that is not; begin at another shape."
        )

    def _zero_energy_reason(self) -> str | None:
        """Return which elements let a motion through that meets no force at the start, if there is such a motion."""
        system = self._system
        if not has_reduced(system.energies):
            return None
        system.update_neighbours(self._start)
        motion = motion_without_force(system.pattern, self._balance.stiffness(self._start)[0])
        return None if motion is None else zero_energy_reason(system.energies, self._start, motion)

    def _lowest_mode(self, q: Array) -> Array:
        """Return the motion [n, dim] that meets the least force at the positions q, its largest component 1."""
        blocks, _ = self._balance.stiffness(q)
        linear = linear_solver(self._newton.linear, self._system.pattern, self._system.dim)
        mode = np.random.default_rng(0).standard_normal(q.shape)
        try:
            linear.update(blocks, self._balance.symmetric, q)
            for _ in range(_ITERATIONS):
                mode[self._system.fixed] = 0.0
                mode = linear.solve(mode / np.abs(mode).max(), _EXACT)
        except StepFailed:
            pass
        mode[self._system.fixed] = 0.0
        return mode / np.abs(mode).max()


def _found(
    system: System, balance: StaticBalance, q: Array, way: Way, steps: int, corrections: int, stable: bool | None
) -> StaticEquilibrium:
    residual = float(np.linalg.norm(balance.residual(q), axis=1).max(initial=0.0))
    state = replace(system.state(q, t=balance.t), v=np.zeros_like(q), a=np.zeros_like(q))
    return StaticEquilibrium(system, state, way, steps, corrections, residual, stable)
