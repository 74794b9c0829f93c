"""Relative equilibria: the shapes in which free bodies rotate steadily, and how well a computed motion keeps to them.

A free body rotates steadily at ω where the internal forces balance the centrifugal ones (Graham and Jelenić 2006,
eq. 2.37),

    ∇V(q) + ω̂ ω̂ M (q − r_c) = 0,    −ω̂ ω̂ = P = |ω|² I − ω ⊗ ω,

about a principal axis of the deformed body, and moves along it at most: ω × v_c = 0. Its exact motion (eq. 2.39) is
rigid, and a discrete one may be so too, with an angle of λ_r ω Δt and a way of λ_t v_c Δt in each step (eq. 4.17).
"""

from __future__ import annotations

from math import sqrt
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.errors import InvalidSystem, NoEquilibrium, StepFailed
from symplex.fem.energy import Array
from symplex.fem.system import System
from symplex.time.equilibria.free_body import require_free, require_internal, require_resultants
from symplex.time.equilibria.relative_path import RelativeEquilibrium
from symplex.time.rigid_rotation import (
    IN_LINE,
    SAME,
    angle_about,
    angle_between,
    axis_of,
    centre_of_mass,
    centrifugal,
    cross_matrix,
    in_space,
    inertia_about,
    nearest_principal,
    rotation,
    tilt_of,
)
from symplex.time.solvers.newton import Newton, NewtonSolver

_PARALLEL = 1e-12  # |ω × v_c| over |ω||v_c| that counts as zero
_CORRECTIONS = 20  # in which a part of the load must be balanced, before it is halved
_BALANCED = 1e-3  # of the centrifugal forces that may be left, if round-off forbids less
_LONGEST = 0.25  # of the radius, by which a part of the load may move a node: not onto another branch
_PARTS = 60  # of ω² that are tried
_FAILURES = 10  # one after the other that are the end
_INERTIA = 1e-3  # that holds rigid motions, as a part of the mass: what the tangent always has,
_UNSTRESSED = 2.0  # and at first. As much as the mass would just cancel centrifugal forces of a body with equal moments
_SAME_MOMENTUM = 1e-15  # relative error of ω that is aimed at for a given angular momentum
_CLOSE = 1e-9  # relative error of that angular momentum that counts as a solution
_TINY = float(np.finfo(float).tiny)
_LEAST = 1e-100  # of an angular velocity or momentum, whose square must not vanish


@checked
def relative_equilibrium(
    system: System,
    q: ArrayLike,
    omega: ArrayLike,
    *,
    velocity: ArrayLike | None = None,
    tilt: float = 0.2,
    newton: Newton | None = None,
) -> RelativeEquilibrium:
    """Return the shape in which a free body rotates steadily at ω, with its exact motion.

    Newton's method on eq. 2.37, whose tangent is ∇²V − M P, with as little rigid motion as may be: the centre of mass
    stays, the body is turned about ω as a rigid one would be that fits best, and about other axes only as far as
    brings a principal axis onto ω. Where it does not find a balance at once, ω² is increased in parts.

    Parameters
    ----------
    system : System
        Without supports, loads and massless nodes; its energies invariant to rigid motions.
    q : float [n, dim]
        The natural shape, or one near that which is looked for, in m.
    omega : float or float [3]
        Angular velocity in rad/s, a number in the plane.
    velocity : float [dim], optional
        Velocity of the centre of mass in m/s, parallel to ω; default zero.
    tilt : float, default 0.2
        The largest angle in rad by which the body may be turned to bring a principal axis onto ω (π/2: any).
    newton : Newton, optional
        How the equations are solved.

    Raises
    ------
    InvalidSystem
        If the system is not a free body, or ω and v_c are none of a relative equilibrium.
    NoEquilibrium
        If none is found: no principal axis is near ω, or the body does not hold together at this speed.
    """
    require_free(system)
    given = system.state(np.asarray(q, dtype=float)).q
    omega = _checked_vector("angular velocity", "rad/s", system.dim, omega)
    velocity = _checked_velocity(system.dim, velocity)
    axis, _ = axis_of(omega)
    moving = in_space(velocity)
    if np.linalg.norm(np.cross(axis, moving)) > _PARALLEL * np.linalg.norm(moving):
        raise InvalidSystem(
            f"the centre of mass must move along ω, or rest: v_c = {_text(velocity)} m/s is not parallel to "
            f"ω = {_text(omega)} rad/s."
        )
    scale = require_internal(system, given)
    centre = centre_of_mass(system, given)
    before = given - centre
    aligned = _aligned(system, before, omega, tilt)
    shape, corrections = _loaded(
        _Balance(system, centre, omega), centre + aligned, newton or Newton(iterations=_CORRECTIONS)
    )
    require_resultants(system, shape, scale, "in the shape that was found")
    found = _straightened(system, before, shape, axis)
    tilted = tilt_of(system, before, found, axis)
    if tilted > tilt:
        raise NoEquilibrium(
            f"no relative equilibrium about ω = {_text(omega)} rad/s near the given shape: the body would have to be "
            f"turned by {tilted:.3g} rad to bring the principal axis that it has when deformed onto ω, more than "
            f"tilt = {tilt:.3g} rad."
        )
    state = system.state(centre + found, velocity + found @ cross_matrix(omega, system.dim).T)
    residual = system.gradient(state.q) - system.apply_mass(found) @ centrifugal(omega)
    return RelativeEquilibrium(
        system,
        state,
        omega,
        centre,
        velocity,
        stretch=sqrt(inertia_about(system, found, axis) / inertia_about(system, before, axis)),
        tilt=tilted,
        residual=float(np.linalg.norm(residual, axis=1).max()),
        corrections=corrections,
    )


@checked
def relative_equilibrium_of_momentum(
    system: System,
    q: ArrayLike,
    angular_momentum: ArrayLike,
    *,
    velocity: ArrayLike | None = None,
    tilt: float = 0.2,
    newton: Newton | None = None,
) -> RelativeEquilibrium:
    """Return the relative equilibrium with a given angular momentum about the centre of mass.

    A body is the slower for being stretched: ω is below J over the moment of inertia at first, and is found from
    I(ω) ω = J between that and zero.

    Parameters
    ----------
    system, q, velocity, tilt, newton
        As in `relative_equilibrium`.
    angular_momentum : float or float [3]
        J in kg m²/s, a number in the plane.

    Raises
    ------
    InvalidSystem, NoEquilibrium
        As `relative_equilibrium`; also if the body does not hold together up to that angular momentum.
    """
    from scipy.optimize import root_scalar

    require_free(system)
    given = system.state(np.asarray(q, dtype=float)).q
    momentum = _checked_vector("angular momentum", "kg m²/s", system.dim, angular_momentum)
    axis, size = axis_of(momentum)
    arm = given - centre_of_mass(system, given)
    fastest = size / inertia_about(system, _aligned(system, arm, momentum, tilt), axis)

    def at(speed: float) -> RelativeEquilibrium:
        omega = momentum * (speed / size)
        return relative_equilibrium(system, given, omega, velocity=velocity, tilt=tilt, newton=newton)

    def of(found: RelativeEquilibrium) -> float:
        return axis_of(found.omega)[1] * inertia_about(system, found.state.q - found.centre, axis)

    def excess(speed: float) -> float:
        try:
            return of(at(speed)) - size if speed > 0.0 else -size
        except NoEquilibrium:
            return size  # too fast

    bracket = 0.0, fastest * (1.0 + _SAME_MOMENTUM)
    found = at(float(root_scalar(excess, bracket=bracket, method="brentq", xtol=_SAME_MOMENTUM * fastest).root))
    if abs(of(found) - size) > _CLOSE * size:
        raise NoEquilibrium(
            f"no relative equilibrium was found with an angular momentum of {size:.6g} kg m²/s: the body could be "
            f"followed up to {of(found):.6g} kg m²/s at {axis_of(found.omega)[1]:.6g} rad/s. Try a smaller one."
        )
    return found


@final
class _Balance:
    """∇V(q) − part · M (q − c) P = 0 at q = q0 + Δq, as equations for `NewtonSolver`.

    The tangent leaves out that the centre of mass c moves with the nodes: it does not, for the forces have no
    resultant. A turn about the axis and a shift along it, which change nothing, are held by some inertia of the nodes
    around the axis and along it, and so are tilts of a body that has equal moments about several axes. (A spring at
    one node would have a force until all others balance, and tilt the body.) The inertia is larger where the residual
    is: a structure without stress may lack all stiffness along the axis (a flat truss).
    """

    inertia, impulse, symmetric, seen = 0.0, 1.0, True, ()

    def __init__(self, system: System, centre: Array, omega: Array):
        self.system = system
        self._centre, self._omega = centre, omega
        self._worst: tuple[float, Array] | None = None
        self.constant = np.zeros((system.n_nodes, system.dim))
        self._forces = np.zeros_like(self.constant)
        self._rows = system.pattern.rows()

    def apply(self, q: Array, part: float, definite: bool = False) -> None:
        """Apply a part of the centrifugal forces, beginning at the positions q.

        The tangent may be definite: with ∇²V + part |ω|² M Newton's method converges linearly, by the square of ω over
        the lowest frequency, and all rigid motions are held though nothing resists them.
        """
        self._definite = definite
        axis, speed = axis_of(self._omega)
        along = axis[: self.system.dim]
        self._q = q
        self._projector = part * centrifugal(self._omega)
        self._speed_squared = part * speed**2
        self._along = np.outer(along, along)
        across = np.cross(axis, in_space(q - self._centre))
        radius = np.linalg.norm(across, axis=1, keepdims=True)
        self._around = (across / np.where(radius > 0.0, radius, 1.0))[:, : self.system.dim]

    def forces(self, dq: Array, out: Array) -> None:
        """Write the unbalanced forces to out."""
        self.system.gradient(self._q + dq, out)
        out -= self._load(dq)

    def blocks(self, dq: Array, out: Array) -> None:
        """Write the tangent to out."""
        self.system.hessian_blocks(self._q + dq, out)
        if self._definite:
            out += self.system.mass_values[:, None, None] * (self._speed_squared * np.eye(self.system.dim))
            return
        left, load = self._unbalanced(dq)
        held = self._speed_squared * max(_INERTIA, _UNSTRESSED * min(1.0, left / load))
        added = held * self._along - self._projector
        around = self._around[self._rows, :, None] * self._around[self.system.pattern.indices, None, :]
        out += self.system.mass_values[:, None, None] * (added + held * around)

    def require(self, dq: Array) -> None:
        """Check that forces balance, and that the increment does not lead far.

        Raises
        ------
        StepFailed
            If not.
        """
        radius = np.linalg.norm(self._q - self._centre, axis=1).max()
        moved = np.linalg.norm(dq, axis=1).max()
        if moved > _LONGEST * radius:
            raise StepFailed(f"a node would move by {moved / radius:.2g} times the radius of the body.")
        left, load = self._unbalanced(dq)
        if left > _BALANCED * load:
            raise StepFailed(f"forces of {left:.1e} N are left of {load:.1e} N, which round-off hides.")

    def failed(self, dq: Array) -> None:
        """Remember the shape at which an attempt ended, if its moment is larger than those before."""
        arm = self._q + dq - self._centre
        moment = _moment(self.system, arm, self._omega)[1] if self.system.dim == 3 else 0.0
        if moment > (self._worst[0] if self._worst else SAME):
            self._worst = moment, arm

    def failure(self, reached: float, error: StepFailed) -> NoEquilibrium:
        """Return what is to be said where a part of ω² has been reached, and no more can be."""
        speed = axis_of(self._omega)[1]
        message = (
            f"no relative equilibrium was found at |ω| = {speed:.6g} rad/s: the shape can be followed up to "
            f"{speed * sqrt(reached):.6g} rad/s, and there {str(error).removesuffix(' Try a smaller step.')} Try a "
            "smaller ω, or begin at a shape that is nearer."
        )
        if self._worst:
            message += f" In an attempt the deformed body had {_off_axis(self.system, self._worst[1], self._omega)}."
        return NoEquilibrium(message)

    def _load(self, dq: Array) -> Array:
        q = self._q + dq
        return self.system.apply_mass(q - centre_of_mass(self.system, q)) @ self._projector

    def _unbalanced(self, dq: Array) -> tuple[float, float]:
        """Return the norms in N of the unbalanced and of the centrifugal forces, the second not zero."""
        self.forces(dq, self._forces)
        load = float(np.linalg.norm(self._load(dq)))
        return float(np.linalg.norm(self._forces)), max(load, _TINY)


def _slowly(balance: _Balance, q: Array, solver: NewtonSolver) -> tuple[Array, int] | None:
    """Return the same as `_loaded` if the rotation is slow, by the definite tangent that iterations are good at."""
    balance.apply(q, 1.0, definite=True)
    try:
        corrections = solver.solve(balance, q)
        balance.require(solver.increment)
    except StepFailed:
        return None
    return q + solver.increment, corrections


def _loaded(balance: _Balance, q: Array, newton: Newton) -> tuple[Array, int]:
    """Return the balanced positions, reached from q, and the number of corrections it took.

    Where only iterations can solve linear equations, the definite tangent is tried first.
    """
    from symplex.time.solvers.iterative import LARGEST_DIRECT  # compiled when first needed

    solver = NewtonSolver(balance.system, newton)
    if q.size > LARGEST_DIRECT:
        slow = _slowly(balance, q, solver)
        if slow is not None:
            return slow
    reached, step, corrections, failed = 0.0, 1.0, 0, 0
    last = StepFailed("no part of ω² was tried.")
    for _ in range(_PARTS):
        part = min(1.0, reached + step)
        balance.apply(q, part)
        try:
            corrections += solver.solve(balance, q)
            balance.require(solver.increment)
        except StepFailed as error:
            step, failed, last = 0.5 * (part - reached), failed + 1, error
            balance.failed(solver.increment)
            if failed == _FAILURES:
                break
            continue
        q = q + solver.increment
        if part == 1.0:
            return q, corrections
        reached, step, failed = part, 2.0 * step, 0
    raise balance.failure(reached, last) from last


# -- the axis -------------------------------------------------------------------------------------------------------


def _aligned(system: System, arm: Array, omega: Array, tilt: float) -> Array:
    """Return the arms [n, dim] turned so that the principal axis that is nearest is ω.

    Raises
    ------
    InvalidSystem
        If the body has no extent across the axis.
    NoEquilibrium
        If that takes more than an angle.
    """
    axis, _ = axis_of(omega)
    if np.linalg.norm(np.cross(axis, in_space(arm)), axis=1).max() <= IN_LINE * np.linalg.norm(arm, axis=1).max():
        raise InvalidSystem("all nodes are on the axis of rotation: nothing turns.")
    if system.dim == 2:
        return arm
    nearest = nearest_principal(system, arm, axis)
    away = angle_between(nearest, axis)
    if away > tilt:
        raise _wrong_axis(system, arm, omega, tilt)
    normal = np.cross(nearest, axis)
    size = float(np.linalg.norm(normal))
    if size > 0.0:
        arm = arm @ rotation(normal / size, away, 3).T
    return arm


def _moment(system: System, arm: Array, omega: Array) -> tuple[Array, float]:
    """Return the moment [3] of the centrifugal forces in N m, and its size over ω² times the polar moment."""
    load = system.apply_mass(arm)
    moment = np.cross(arm, load @ centrifugal(omega)).sum(axis=0)
    return moment, float(np.linalg.norm(moment) / (omega @ omega * np.vdot(arm, load)))


def _off_axis(system: System, arm: Array, omega: Array) -> str:
    nearest = nearest_principal(system, arm, axis_of(omega)[0])
    moment, part = _moment(system, arm, omega)
    return (
        f"its nearest principal axis, {_text(nearest)}, {angle_between(nearest, omega):.3g} rad off ω, and the "
        f"centrifugal forces have a moment of {_text(moment)} N m ({part:.1e} of ω² times the polar moment) that "
        "nothing balances"
    )


def _wrong_axis(system: System, arm: Array, omega: Array, tilt: float) -> NoEquilibrium:
    return NoEquilibrium(
        f"no relative equilibrium about ω = {_text(omega)} rad/s: the body has {_off_axis(system, arm, omega)}. Take ω "
        f"along a principal axis, or let the body be turned by more than tilt = {tilt:.3g} rad."
    )


def _straightened(system: System, before: Array, q: Array, axis: Array) -> Array:
    """Return the arms [n, dim] of positions, turned back about the axis to fit those before best."""
    arm = q - centre_of_mass(system, q)
    return arm @ rotation(axis, -angle_about(system, axis, before, arm), system.dim).T


def _text(vector: Array) -> str:
    return f"({', '.join(f'{x:.4g}' for x in np.atleast_1d(vector))})"


# -- what is asked for ----------------------------------------------------------------------------------------------


def _checked_vector(name: str, unit: str, dim: int, value: ArrayLike) -> Array:
    """Return a vector along an axis of rotation [3], in the plane [1]."""
    vector = np.atleast_1d(np.array(value, dtype=float))
    if vector.shape != ((3,) if dim == 3 else (1,)) or not _LEAST < np.linalg.norm(vector) < np.inf:
        wanted = "a vector of three finite numbers" if dim == 3 else "a finite number"
        raise InvalidSystem(f"the {name} must be {wanted} in {unit}, not zero; it is {value}.")
    return vector


def _checked_velocity(dim: int, velocity: ArrayLike | None) -> Array:
    vector = np.zeros(dim) if velocity is None else np.array(velocity, dtype=float)
    if vector.shape != (dim,) or not np.isfinite(vector).all():
        raise InvalidSystem(f"the velocity of the centre of mass must be {dim} finite numbers in m/s, not {velocity}.")
    return vector
