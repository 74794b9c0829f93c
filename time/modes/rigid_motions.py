"""Rigid motions of a system: those that its supports leave, and which modes they are."""

from __future__ import annotations

import numpy as np

from symplex.fem.energies.energy import Array
from symplex.fem.system import System
from symplex.time.modes.small_motions import SmallMotions
from symplex.time.rigid_rotation import centre_of_mass

_ZERO = 1e-12  # of the largest ω², below which that of a rigid motion is zero to rounding
_NOTHING = 1e-14  # below which those of other motions are: slender bodies have vibrations between the two
_SLOW = 1e-6  # of the largest ω², above which none is zero for any rounding
_MARGIN = 10.0  # of errors that are computed for one rounding of many
_SAME = 1e-6  # of a rigid motion that may be missing
_HELD = 1e-9  # of a motion that supports may see
_ALONG = 1e-6  # by which a direction may differ from an axis
AXES = "xyz"
MECHANISM = "mechanism"  # what a mode without stiffness is that is not rigid


def rigid_motions(q: Array, center: Array) -> Array:
    """Return the rigid motions [d, n, dim] at positions [n, dim]: a shift by 1 along each axis, a turn by 1 about each.

    Turns are about a centre; there are none on a line, and one in the plane.
    """
    n, dim = q.shape
    arms, found = q - center, [np.tile(axis, (n, 1)) for axis in np.eye(dim)]
    if dim == 3:
        found += [np.cross(axis, arms) for axis in np.eye(3)]
    elif dim == 2:
        found.append(np.column_stack([-arms[:, 1], arms[:, 0]]))
    return np.array(found)


def sorted_rigid(
    motions: SmallMotions, squares: Array, shapes: Array, largest: float
) -> tuple[Array, Array, list[str]]:
    """Return ω² [k] and shapes [k, n, dim] with rigid ones distinguished from mechanisms, and what each is.

    Of equal ω², as those that are zero, a method finds any mixture. Here the rigid motions in it that supports allow
    come first: shifts, along axes if there are such, and turns. What is left of the mixture are mechanisms, and slow
    vibrations as of a thin strip, which have an ω² beyond rounding. That of all others is set to zero. If all given
    modes are zero, there may be more of these, and rigid motions without stiffness take the place of mechanisms.

    Parameters
    ----------
    motions : SmallMotions
    squares : float64 [k]
        ω² in 1/s².
    shapes : float64 [k, n, dim]
        With uᵀ M u = 1.
    largest : float
        A measure of the largest ω² in 1/s².
    """
    kinds = ["vibration" if square >= 0.0 else "unstable" for square in squares]
    slow = np.abs(squares) <= _SLOW * largest
    if not slow.any():
        return squares, shapes, kinds
    round_off = round_off_of_squares(motions, shapes[slow])
    zero = np.flatnonzero(np.abs(squares) <= max(_ZERO * largest, round_off))
    if not len(zero):
        return squares, shapes, kinds
    system = motions.system
    basis = shapes[zero].reshape(len(zero), -1)
    may_be_more = len(zero) == len(squares)
    allowed, names = allowed_motions(motions)
    found: list[Array] = []
    reported: list[str] = []
    for motion, name in zip(allowed, names, strict=True):
        motion = motion / np.sqrt(2.0 * system.kinetic(motion))
        for before in found:  # shifts and turns about the centre of mass are orthogonal but for rounding, others not
            motion = motion - np.vdot(before, system.apply_mass(motion)) * before
        size = np.sqrt(2.0 * system.kinetic(motion))
        if size <= _SAME:
            continue
        motion = motion / size
        within = basis @ system.apply_mass(motion).ravel()
        if within @ within < 1.0 - _SAME and not (may_be_more and _is_without_stiffness(motions, motion, largest)):
            continue  # it is not among these modes
        found.append(motion)
        reported.append(name)
    rigid = np.reshape([motion.ravel() for motion in found], (len(found), system.fixed.size))
    left, rest = _complement(system, squares[zero], basis, rigid)
    left[np.abs(left) <= max(_NOTHING * largest, round_off)] = 0.0
    is_unstable = left < 0.0
    reported += [MECHANISM if square == 0.0 else "vibration" for square in left[~is_unstable]]
    squares, shapes = squares.copy(), shapes.copy()
    squares[zero] = np.concatenate([left[is_unstable], np.zeros(len(rigid)), left[~is_unstable]])
    shapes[zero] = np.concatenate([rest[is_unstable], rigid, rest[~is_unstable]]).reshape(-1, *system.fixed.shape)
    for k, name in zip(zero, [*["unstable"] * int(is_unstable.sum()), *reported], strict=True):
        kinds[k] = name
    return squares, shapes, kinds


def _is_without_stiffness(motions: SmallMotions, motion: Array, largest: float) -> bool:
    """Return whether the stiffness takes a motion [n, dim] to zero where coordinates are free."""
    forces = motions.pattern.matrix(motions.symmetric_stiffness) @ motion.ravel()
    size = np.linalg.norm(motions.system.apply_mass(motion))
    return bool(np.linalg.norm(forces[motions.free]) <= _ZERO * largest * size)


def round_off_of_squares(motions: SmallMotions, shapes: Array) -> float:
    """Return the error in 1/s² of ω² of shapes [k, n, dim] from positions rounded to the last digit of the largest.

    Lengths of members rounded so leave stresses, and these a stiffness against motions that have none.
    """
    q = motions.q
    rounded = q + np.spacing(np.abs(q).max()) * np.random.default_rng(0).choice([-1.0, 1.0], q.shape)
    change = motions.pattern.matrix(motions.system.hessian_blocks(rounded) - motions.system.hessian_blocks(q))
    flat = shapes.reshape(len(shapes), -1)
    return _MARGIN * float(np.abs(np.einsum("ki,ki->k", flat, (change @ flat.T).T)).max(initial=0.0))


def _complement(system: System, squares: Array, basis: Array, rigid: Array) -> tuple[Array, Array]:
    """Return ω² and shapes, ascending, of k − r combinations of M-orthonormal modes [k, n·dim] without rigid ones."""
    if not len(rigid):
        return squares.copy(), basis
    weighed = np.array([system.apply_mass(row.reshape(system.fixed.shape)).ravel() for row in rigid])
    within = weighed @ basis.T  # [r, k], with rows of length 1 unless a rigid motion takes the place of a mechanism
    turn = np.linalg.svd(within)[2][len(rigid) :]
    left, again = np.linalg.eigh((turn * squares) @ turn.T)
    return left, again.T @ turn @ basis


def allowed_motions(motions: SmallMotions) -> tuple[Array, list[str]]:
    """Return the rigid motions [r, n, dim] of masses that no support constrains, shifts first, and their names.

    A rotation about a straight line moves no mass on it, and is none of them.
    """
    system, dim = motions.system, motions.system.dim
    every = rigid_motions(motions.q, centre_of_mass(system, motions.q))
    size = float(np.abs(motions.q - motions.q.mean(axis=0)).max(initial=0.0)) or 1.0
    every[dim:] /= size
    at_supports = every[:, system.fixed].T  # [held, d]
    if system.joints:
        at_supports = np.concatenate([at_supports, np.array([system.joints.rates(motions.q, v) for v in every]).T])
    shifts = _null(at_supports[:, :dim])
    turns = _null(at_supports)
    padded = np.hstack([shifts, np.zeros((len(shifts), len(every) - dim))])
    still = _null(every[:, ~system.massless].reshape(len(every), -1).T)
    # Of all that is allowed, what is no shift alone and moves a mass.
    for others in (padded, still):
        turns = turns - (turns @ others.T) @ others
    turns = _independent(turns)
    combined = [*padded, *turns]
    names = [_named("translation", shift, dim) for shift in shifts]
    names += [_named("rotation", turn[dim:], dim) for turn in turns]
    return np.array([np.tensordot(c, every, 1) for c in combined]).reshape(-1, *system.fixed.shape), names


def _null(matrix: Array) -> Array:
    """Return an orthonormal basis [r, d] that a matrix [h, d] takes to zero, along axes as far as these are in it."""
    d = matrix.shape[1]
    if not len(matrix):
        return np.eye(d)
    _, sizes, rows = np.linalg.svd(matrix, full_matrices=True) if len(matrix) < d else _thin(matrix)
    rank = int(np.count_nonzero(sizes > _HELD * max(float(sizes.max(initial=0.0)), 1.0)))
    return _along_axes(rows[rank:])


def _thin(matrix: Array) -> tuple[Array, Array, Array]:
    return np.linalg.svd(matrix, full_matrices=False)


def _along_axes(basis: Array) -> Array:
    """Return another orthonormal basis [r, d] of the same space: axes that are in it, then what is left."""
    r, d = basis.shape
    projector = basis.T @ basis
    axes = [k for k in range(d) if projector[k, k] > 1.0 - _ALONG]
    found = np.eye(d)[axes]
    if len(axes) == r:
        return found
    left = projector - found.T @ found
    values, vectors = np.linalg.eigh(left)
    rest = vectors[:, values > 0.5].T
    return np.concatenate([found, rest])


def _independent(rows: Array) -> Array:
    """Return an orthonormal basis of the space of rows, along axes as far as these are in it."""
    _, sizes, basis = np.linalg.svd(rows, full_matrices=False) if len(rows) else (None, np.zeros(0), rows)
    return _along_axes(basis[sizes > _HELD])


def _named(what: str, vector: Array, dim: int) -> str:
    """Return a shift or a turn with its direction in words."""
    if what == "rotation" and dim == 2:
        return what
    preposition = "about" if what == "rotation" else "along"
    size = float(np.linalg.norm(vector))
    if size == 0.0:
        return what
    direction = vector / size
    k = int(np.argmax(np.abs(direction)))
    if abs(direction[k]) > 1.0 - _ALONG:
        return f"{what} {preposition} {AXES[k]}"
    return f"{what} {preposition} ({', '.join(f'{x:.3g}' for x in direction * np.sign(direction[k]))})"
