"""Masses on springs in the plane in their weight, the first of them fixed, as solvers of other packages take them."""

from __future__ import annotations

from typing import Any

import numpy as np


def rates(y, masses, pairs, stiffness, lengths, gravity, fixed):
    """Return the rates [4n] of positions and velocities [2n], one after the other; to be compiled by Numba."""
    n = len(masses)
    out = np.zeros(4 * n)
    out[2 * fixed : 2 * n] = y[2 * (n + fixed) :]
    force = out[2 * n :]
    for e in range(len(pairs)):
        i, j = 2 * pairs[e, 0], 2 * pairs[e, 1]
        dx, dy = y[i] - y[j], y[i + 1] - y[j + 1]
        pull = stiffness * (1.0 - lengths[e] / np.sqrt(dx * dx + dy * dy))
        force[i] -= pull * dx
        force[i + 1] -= pull * dy
        force[j] += pull * dx
        force[j + 1] += pull * dy
    force[: 2 * fixed] = 0.0
    for i in range(fixed, n):
        force[2 * i] /= masses[i]
        force[2 * i + 1] = force[2 * i + 1] / masses[i] - gravity
    return out


def heyoka_equations(
    x: np.ndarray,
    masses: np.ndarray,
    pairs: np.ndarray,
    stiffness: float,
    lengths: np.ndarray,
    gravity: float,
    fixed: int,
) -> tuple[list[Any], np.ndarray]:
    """Return the equations of what moves as heyoka takes them, and its positions and velocities at the start."""
    import heyoka as hy  # pyright: ignore[reportMissingImports]

    n = len(x)
    q, v = ([hy.make_vars(f"{kind}{axis}{i}") for i in range(n) for axis in "xy"] for kind in "qv")
    q[: 2 * fixed] = [hy.expression(float(value)) for value in x[:fixed].ravel()]
    force = [hy.expression(0.0) for _ in range(2 * n)]
    for (i, j), length in zip(pairs, lengths, strict=True):
        d = [q[2 * i + a] - q[2 * j + a] for a in range(2)]
        pull = stiffness * (1.0 - float(length) / hy.sqrt(hy.sum([d[0] * d[0], d[1] * d[1]])))
        for a in range(2):
            force[2 * i + a] -= pull * d[a]
            force[2 * j + a] += pull * d[a]
    free, weight = range(2 * fixed, 2 * n), [0.0, gravity]
    equations = [(q[i], v[i]) for i in free]
    equations += [(v[i], force[i] / float(masses[i // 2]) - weight[i % 2]) for i in free]
    return equations, np.concatenate([x.ravel()[2 * fixed :], np.zeros(len(free))])
