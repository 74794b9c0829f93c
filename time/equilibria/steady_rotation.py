"""Relative equilibria: the shapes in which free bodies rotate steadily, and how well a computed motion keeps to them.

A free body rotates steadily at ω where the internal forces balance the centrifugal ones (Graham and Jelenić 2006,
eq. 2.37),

    ∇V(q) + ω̂ ω̂ M (q − r_c) = 0,    −ω̂ ω̂ = P = |ω|² I − ω ⊗ ω,

about a principal axis of the deformed body, and moves along it at most: ω × v_c = 0. Its exact motion (eq. 2.39) is
rigid, and a discrete one may be so too, with an angle of λ_r ω Δt and a way of λ_t v_c Δt in each step (eq. 4.17).
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.errors import InvalidSystem, NoEquilibrium
from symplex.fem.actions.centrifugal import cross_matrix
from symplex.fem.energies.energy import Array
from symplex.fem.system import System
from symplex.time.equilibria.free_body import require_free, require_internal, require_resultants
from symplex.time.equilibria.principal_axes import aligned, straightened, text_of
from symplex.time.equilibria.relative_path import RelativeEquilibrium
from symplex.time.equilibria.rotating_balance import RotatingBalance, loaded, unbalanced
from symplex.time.rigid_rotation import (
    axis_of,
    centre_of_mass,
    centrifugal,
    in_space,
    inertia_about,
    tilt_of,
)
from symplex.time.solvers.newton import Newton

_PARALLEL = 1e-12  # |ω × v_c| over |ω||v_c| that counts as zero
_CORRECTIONS = 20  # in which a part of the load must be balanced, before it is halved
_SAME_MOMENTUM = 1e-15  # relative error of ω that is aimed at for a given angular momentum
_CLOSE = 1e-9  # relative error of that angular momentum that counts as a solution
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
            f"the centre of mass must move along ω, or rest: v_c = {text_of(velocity)} m/s is not parallel to "
            f"ω = {text_of(omega)} rad/s."
        )
    scale = require_internal(system, given)
    centre = centre_of_mass(system, given)
    before = given - centre
    turned = aligned(system, before, omega, tilt)
    shape, corrections = loaded(
        RotatingBalance(system, centre, omega), centre + turned, newton or Newton(iterations=_CORRECTIONS)
    )
    require_resultants(system, shape, scale, "in the shape that was found")
    found = straightened(system, before, shape, axis)
    tilted = tilt_of(system, before, found, axis)
    if tilted > tilt:
        raise NoEquilibrium(
            f"no relative equilibrium about ω = {text_of(omega)} rad/s near the given shape: the body would have to be "
            f"turned by {tilted:.3g} rad to bring the principal axis that it has when deformed onto ω, more than "
            f"tilt = {tilt:.3g} rad."
        )
    state = system.state(centre + found, velocity + found @ cross_matrix(omega).T)
    residual = unbalanced(system, state.q, system.gradient(state.q) - system.apply_mass(found) @ centrifugal(omega))
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
    system : System
    q : float [n, dim]
    velocity : float [dim], optional
    tilt : float, default 0.2
    newton : Newton, optional
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
    fastest = size / inertia_about(system, aligned(system, arm, momentum, tilt), axis)

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


# -- what is asked for ----------------------------------------------------------------------------------------------


def _checked_vector(name: str, unit: str, dim: int, value: ArrayLike) -> Array:
    """Return a vector along an axis of rotation [3], in the plane [1]."""
    vector = np.atleast_1d(np.array(value, dtype=float))
    if vector.shape != ((3,) if dim == 3 else (1,)) or not _LEAST < np.linalg.norm(vector) < np.inf:
        requested = "a vector of three finite numbers" if dim == 3 else "a finite number"
        raise InvalidSystem(f"the {name} must be {requested} in {unit}, not zero; it is {value}.")
    return vector


def _checked_velocity(dim: int, velocity: ArrayLike | None) -> Array:
    vector = np.zeros(dim) if velocity is None else np.array(velocity, dtype=float)
    if vector.shape != (dim,) or not np.isfinite(vector).all():
        raise InvalidSystem(f"the velocity of the centre of mass must be {dim} finite numbers in m/s, not {velocity}.")
    return vector
