"""Velocities and accelerations that methods carry with frames, made those of rigid motions after each step, linearised.

Forwards by differences along changes, with joints. Backwards, with a lumped mass, the derivatives of a sum of products
over the particles of a frame by positions, velocities, accelerations and masses of these: differences of all frames at
once, four evaluations for each number that one frame has.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from symplex.fem.assembly.pattern import Array
from symplex.fem.structures.frames import nodal_mass
from symplex.fem.system import System
from symplex.gradients.internal_variables import WEIGHTS

_ROTATION = 1e-3  # by which differences rotate a frame

# Of positions, velocities, accelerations or forces [n, 3], and a system that has masses and supports, so many [n, 3].
Motions = Callable[[Any, Array, Array, Array], tuple[Array, ...]]


def made_rigid(system: System, q: Array, v: Array, own: Array) -> tuple[Array, Array]:
    """Return velocities and accelerations [n, 3] made those of rigid frames, which open no joints."""
    assert system.frames is not None, "it has frames"
    v, own = system.frames.rigid_motion(system, q, v, own)
    return system.joints.keep_along(system, q, v, own) if system.joints else (v, own)


def _arms(system: System, q: Array) -> float:
    """Return the smallest distance in m of particles from the centre of their frame, of the largest ones."""
    nodes = system.frames.nodes  # pyright: ignore[reportOptionalMemberAccess]
    arms = q[nodes] - q[nodes].mean(axis=1, keepdims=True)
    return float(np.linalg.norm(arms, axis=2).max(axis=1).min())


def rigid_changes(system: System, at: tuple[Array, Array, Array], change: tuple[Array, ...]) -> tuple[Array, Array]:
    """Return the changes [n, 3, k] of what `made_rigid` returns at positions, velocities and accelerations."""
    columns, arm = [], _arms(system, at[0])
    for d in zip(*(np.moveaxis(x, -1, 0) for x in change), strict=True):
        sizes = (_ROTATION * arm, *(float(np.abs(x).max()) for x in at[1:]))
        fars = [float(np.abs(one).max()) for one in d]
        e = min([size / far for size, far in zip(sizes, fars, strict=True) if size * far > 0.0], default=1.0)
        total = 0.0
        for far, weight in WEIGHTS:
            end = made_rigid(system, *(x + far * e * y for x, y in zip(at, d, strict=True)))
            total = total + weight / e * np.stack(end)
        columns.append(total)
    v, own = np.stack(columns, axis=-1)
    return v, own


def rigid_backward(
    system: System, evaluate: Motions, at: tuple[Array, Array, Array], by: tuple[Array, ...]
) -> tuple[tuple[Array, Array, Array], Array]:
    """Return the derivatives by what a function of frames is evaluated at [n, 3], and by masses [n].

    Only those of particles of frames.
    """
    assert system.frames is not None, "it has frames"
    nodes, masses = system.frames.nodes, nodal_mass(system)
    first = np.array([[np.flatnonzero(one == node)[0] == a for a, node in enumerate(one)] for one in nodes])

    def per_frame(masses: Array, *args: Array) -> Array:
        like = SimpleNamespace(
            mass=masses, is_lumped=True, fixed=system.fixed, accelerations=lambda f: f / masses[:, None]
        )
        found = evaluate(like, *args)
        total = sum(np.einsum("ni,ni->n", one, other) for one, other in zip(found, by, strict=True))
        return np.where(first, np.asarray(total)[nodes], 0.0).sum(axis=1)

    def slopes(k: int, array: Array, delta: float, place: tuple[Any, ...]) -> Array:
        out = 0.0
        for far, weight in WEIGHTS:
            changed = [masses, *at]
            changed[k] = array.copy()
            changed[k][place] += far * delta
            out = out + weight / delta * per_frame(*changed)
        return np.asarray(out)

    found = [np.zeros_like(masses), *(np.zeros_like(x) for x in at)]
    sizes = _ROTATION * float(masses.min()), _ROTATION * _arms(system, at[0]), *(np.abs(x).max() or 1.0 for x in at[1:])
    for k, (array, delta) in enumerate(zip((masses, *at), sizes, strict=True)):
        for a in range(nodes.shape[1]):
            mine = first[:, a]
            for i in range(array.ndim == 1 or 3):
                place = (nodes[mine, a],) if array.ndim == 1 else (nodes[mine, a], i)
                found[k][place] = slopes(k, array, float(delta), place)[mine]
    return (found[1], found[2], found[3]), found[0]
