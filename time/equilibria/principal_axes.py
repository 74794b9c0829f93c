"""Principal axes of bodies that are to rotate about a given axis: turned onto it, or how far off."""

from __future__ import annotations

import numpy as np

from symplex.errors import InvalidSystem, NoEquilibrium
from symplex.fem.energies.energy import Array
from symplex.fem.system import System
from symplex.time.rigid_rotation import (
    IN_LINE,
    angle_about,
    angle_between,
    axis_of,
    centre_of_mass,
    centrifugal,
    in_space,
    nearest_principal,
    rotation,
)


def aligned(system: System, arm: Array, omega: Array, tilt: float) -> Array:
    """Return the arms [n, dim] turned so that the principal axis that is nearest is ω."""
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


def moment_of(system: System, arm: Array, omega: Array) -> tuple[Array, float]:
    """Return the moment [3] of the centrifugal forces in N m, and its size over ω² times the polar moment."""
    load = system.apply_mass(arm)
    moment = np.cross(arm, load @ centrifugal(omega)).sum(axis=0)
    return moment, float(np.linalg.norm(moment) / (omega @ omega * np.vdot(arm, load)))


def off_axis(system: System, arm: Array, omega: Array) -> str:
    nearest = nearest_principal(system, arm, axis_of(omega)[0])
    moment, part = moment_of(system, arm, omega)
    return (
        f"its nearest principal axis, {text_of(nearest)}, {angle_between(nearest, omega):.3g} rad off ω, and the "
        f"centrifugal forces have a moment of {text_of(moment)} N m ({part:.1e} of ω² times the polar moment) that "
        "nothing balances"
    )


def _wrong_axis(system: System, arm: Array, omega: Array, tilt: float) -> NoEquilibrium:
    return NoEquilibrium(
        f"no relative equilibrium about ω = {text_of(omega)} rad/s: the body has {off_axis(system, arm, omega)}. Take "
        f"ω along a principal axis, or let the body be turned by more than tilt = {tilt:.3g} rad."
    )


def straightened(system: System, before: Array, q: Array, axis: Array) -> Array:
    """Return the arms [n, dim] of positions, turned back about the axis to fit those before best."""
    arm = q - centre_of_mass(system, q)
    return arm @ rotation(axis, -angle_about(system, axis, before, arm), system.dim).T


def text_of(vector: Array) -> str:
    return f"({', '.join(f'{x:.4g}' for x in np.atleast_1d(vector))})"
