"""Taylor's bar: a copper cylinder hits a rigid wall at 227 m/s and flows, by energy-momentum and by explicit Newmark.

A cylinder of 32.4 mm by 3.2 mm radius; Young's modulus 117 GPa, Poisson's ratio 0.35, yield stress 0.4 GPa, hardening
0.1 GPa, 8930 kg/m³, 80 µs. Published lengths and radii of the foot gather around 21.4 and 7.1 mm (G. I. Taylor 1948;
Bonet and Burton 1998). A quarter is computed, whose foot slides on the wall. Writes ``taylor_bar.png`` and
``numbers.json``: ``python examples/taylor_bar.py [--output DIR] [--full]``.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import NamedTuple

import numpy as np

import symplex as sx

LENGTH, RADIUS, SPEED, DURATION = 32.4e-3, 3.2e-3, 227.0, 80e-6
COPPER = sx.NeoHookean.from_young(E=117e9, nu=0.35, density=8930.0)
HARDENING = sx.Hardening(0.4e9, modulus=0.1e9)
LENGTH_MM, FOOT_RADIUS_MM = 21.46, 7.09  # converged, with meshes of up to 7350 elements of several kinds


class Found(NamedTuple):
    """The bar at the end, in mm, its greatest plastic strain, and the drift of the balance over the energy."""

    length: float
    foot_radius: float
    plastic_strain: float
    balance: float
    points: np.ndarray
    strains: np.ndarray


def quarter(across: int, along: int, ratio: float) -> tuple[np.ndarray, np.ndarray]:
    """Return points and hexahedra of a quarter of a cylinder, three blocks of across × across cells in its section.

    The last layer is ``ratio`` times as thick as the first one, at the foot.
    """
    section, faces = _quarter_of_disc(across)
    sizes = ratio ** (np.arange(along) / max(along - 1, 1))
    z = LENGTH * np.concatenate([[0.0], np.cumsum(sizes) / sizes.sum()])
    points = np.concatenate([np.column_stack([section, np.full(len(section), height)]) for height in z])
    layers = len(section) * np.arange(along)[:, None, None]
    cells = np.concatenate([faces + layers, faces + layers + len(section)], axis=2)
    return points, cells.reshape(-1, 8)


def _quarter_of_disc(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return points [p, 2] and quadrilaterals of a quarter of a disc: a core, and two blocks around it."""
    s = np.linspace(0.0, 1.0, n + 1)
    a, c = 0.5 * RADIUS, 0.42 * RADIUS  # of the core: its corners on the axes, and on the diagonal
    corners = np.array([[0, 0], [a, 0], [c, c], [0, a]])

    def core(u: float, v: float) -> np.ndarray:
        weights = np.array([(1 - u) * (1 - v), u * (1 - v), u * v, (1 - u) * v])
        return weights @ corners

    def outer(u: float, v: float) -> np.ndarray:  # u along the edge, from the x axis to the diagonal
        inner, angle = core(1.0, u), 0.25 * np.pi * u
        rim = RADIUS * np.array([np.cos(angle), np.sin(angle)])
        return (1.0 - v) * inner + v * rim

    blocks = [
        np.array([[core(u, v) for u in s] for v in s]),
        np.array([[outer(u, v) for v in s] for u in s]),
        np.array([[outer(u, v)[::-1] for u in s] for v in s]),
    ]
    points: list[np.ndarray] = []
    numbers: dict[tuple[float, float], int] = {}
    faces = []
    for block in blocks:
        index = np.empty((n + 1, n + 1), int)
        for i in range(n + 1):
            for j in range(n + 1):
                key = tuple(np.round(block[i, j] / RADIUS, 9) + 0.0)
                if key not in numbers:
                    numbers[key] = len(points)
                    points.append(block[i, j])
                index[i, j] = numbers[key]
        faces += [(index[i, j], index[i, j + 1], index[i + 1, j + 1], index[i + 1, j]) for i in range(n) for j in range(n)]
    return np.array(points), np.array(faces)


def bar(across: int = 4, along: int = 18, ratio: float = 4.0) -> tuple[sx.System, sx.State, sx.Plastic]:
    """Return the quarter of the bar at the moment of impact."""
    points, cells = quarter(across, along, ratio)
    solid = sx.Solid(points, cells, COPPER, formulation="mean-dilatation")
    part = sx.Plastic(solid, HARDENING)
    mass = sx.lumped_mass(points, cells, COPPER.density, len(points))
    tiny = 1e-9 * RADIUS
    fixed = np.abs(points) < tiny  # symmetry at x = 0 and y = 0, the wall at z = 0
    system = sx.System(mass, {}, fixed=fixed, inelastic={"bar": part})
    return system, system.state(points, np.broadcast_to([0.0, 0.0, -SPEED], points.shape)), part


def implicit(method: sx.Integrator, **mesh: float) -> Found:
    """Return what a method with steps of one size finds."""
    system, state, part = bar(**mesh)  # pyright: ignore[reportArgumentType]
    motion = method.start(system, state)
    start = motion.energies(state)["balance"]
    end = motion.advance(DURATION)
    return _found(part, end, abs(motion.energies(end)["balance"] - start) / start)


def explicit(pieces: int = 40, **mesh: float) -> Found:
    """Return what explicit Newmark finds, whose steps follow the foot as it becomes thin: one size in each piece."""
    system, state, part = bar(**mesh)  # pyright: ignore[reportArgumentType]
    whole, drift = system.energies_of(state)["total"], 0.0
    for piece in range(pieces):
        interval = DURATION / pieces
        limit = sx.time.stable_step(system, state.q)
        motion = sx.Newmark(interval / np.ceil(interval / (0.7 * limit))).start(system, state)
        start = motion.energies(state)["balance"]
        state = motion.advance(DURATION * (piece + 1) / pieces)
        drift += motion.energies(state)["balance"] - start
    return _found(part, state, abs(drift) / whole)


def _found(part: sx.Plastic, end: sx.State, balance: float) -> Found:
    foot = end.q[np.abs(part.solid.points[:, 2]) < 1e-9 * LENGTH]
    length, radius = np.ptp(end.q[:, 2]), np.hypot(foot[:, 0], foot[:, 1]).max()
    alpha = end.internal["bar"][..., 6]
    return Found(1e3 * length, 1e3 * radius, float(alpha.max()), balance, end.q, part.plastic_strain(end.internal["bar"]))
