"""Evaluations of forces for an error, by symplectic methods of order 6 to 16 in bare loops, next to Taylor series.

    OMP_NUM_THREADS=1 python benchmarks/high_order.py [--stiffness 1e4] [--json FILE]

The soft double pendulum of `work_precision.py`, in loops written for it and nothing else, so that methods are compared
and not the ways to call them: splitting schemes and compositions of drifts and changes of velocity, and collocation at
Gauss points, a fixed-point iteration in each step that begins with the polynomial of the step before. `heyoka`, where
it is installed, takes its own compiled series. The largest error of a position at ten times over the processor time
from the first step to the last.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.polynomial import legendre
from work_precision import OUTPUTS, Problem, heyoka_solver, installed, measured, pendulum, reference, time_for

from symplex.time.composition import kicks, substeps

ERRORS = tuple(10.0**-k for k in range(2, 12))
# Sofroniou and Spaletta (2005), 35 substeps of order 10: the first half; the last is what is left to one.
_ORDER_TEN = [
    *(0.07879572252168641926390768, 0.31309610341510852776481247, 0.02791838323507806610952027),
    *(-0.22959284159390709415121340, 0.13096206107716486317465686, -0.26973340565451071434460973),
    *(0.07497334315589143566613711, 0.11199342399981020488957508, 0.36613344954622675119314812),
    *(-0.39910563013603589787862981, 0.10308739852747107731580277, 0.41143087395589023782070412),
    *(-0.00486636058313526176219566, -0.39203335370863990644808194, 0.05194250296244964703718290),
    *(0.05066509075992449633587434, 0.04967437063972987905456880),
]


@njit(cache=True)
def force(x, stiffness, out):
    """Write the accelerations of two unit masses at x [4], the first on a spring from the origin, both of 1 m."""
    a, b, c, d = x[0], x[1], x[2] - x[0], x[3] - x[1]
    first = stiffness * (1.0 - 1.0 / np.sqrt(a * a + b * b))
    second = stiffness * (1.0 - 1.0 / np.sqrt(c * c + d * d))
    out[0] = second * c - first * a
    out[1] = second * d - first * b - 9.81
    out[2] = -second * c
    out[3] = -second * d - 9.81


@njit(cache=True)
def split(x, v, steps, h, drifts, changes, stiffness, out):
    """Take steps of drifts between changes of velocity [s + 1] for each output; return the evaluations."""
    a = np.empty(4)
    force(x, stiffness, a)
    for k in range(len(out)):
        for _ in range(steps):
            for i in range(4):
                v[i] += h * changes[0] * a[i]
            for s in range(len(drifts)):
                for i in range(4):
                    x[i] += h * drifts[s] * v[i]
                force(x, stiffness, a)
                for i in range(4):
                    v[i] += h * changes[s + 1] * a[i]
        out[k] = x
    return len(out) * steps * len(drifts)


@njit(cache=True)
def collocate(x, v, steps, h, nodes, weights, twice, weights_q, ahead, stiffness, out):
    """Take steps of collocation: Q_i = x + c_i h v + h² Σ ā_ij g(Q_j), until they change no more."""
    s, count = len(nodes), 0
    g, start, q = np.zeros((s, 4)), np.zeros((s, 4)), np.empty(4)
    for k in range(len(out)):
        for _ in range(steps):
            for i in range(s):
                for c in range(4):
                    start[i, c] = 0.0
                    for j in range(s):
                        start[i, c] += ahead[i, j] * g[j, c]
            g[:] = start
            before = np.inf
            for _iteration in range(100):
                change = 0.0
                for i in range(s):
                    for c in range(4):
                        total = 0.0
                        for j in range(s):
                            total += twice[i, j] * g[j, c]
                        q[c] = x[c] + nodes[i] * h * v[c] + h * h * total
                    force(q, stiffness, start[i])
                    for c in range(4):
                        change = max(change, abs(start[i, c] - g[i, c]))
                g[:] = start
                count += s
                if change == 0.0 or (change < 1e-9 * stiffness and change >= 0.5 * before):
                    break
                before = change
            for c in range(4):
                total, moved = 0.0, 0.0
                for j in range(s):
                    total += weights[j] * g[j, c]
                    moved += weights_q[j] * g[j, c]
                x[c] += h * v[c] + h * h * moved
                v[c] += h * total
        out[k] = x
    return count


class Gauss(NamedTuple):
    """Collocation at s Gauss points: c, b, ā = A², Σ_i b_i a_ij, and what g of a step says of g in the next."""

    nodes: np.ndarray
    weights: np.ndarray
    twice: np.ndarray
    weights_q: np.ndarray
    ahead: np.ndarray


def gauss(s: int) -> Gauss:
    """Return the method of s points, of order 2s."""
    points, weights = legendre.leggauss(s)
    basis = np.linalg.inv(legendre.legvander(points, s - 1))  # coefficients of the polynomial through values
    integrals = np.array([legendre.legval(points, legendre.legint(np.eye(s)[k], lbnd=-1)) for k in range(s)]).T
    A = 0.5 * integrals @ basis
    b = 0.5 * weights
    return Gauss(0.5 * (points + 1.0), b, A @ A, b @ A, legendre.legvander(points + 2.0, s - 1) @ basis)


def split_schemes() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return the drifts and changes of velocity of schemes by name."""
    found = {"Blanes and Moan, order 6": (np.array(substeps(6, "blanes-moan")), np.array(kicks(6, "blanes-moan")))}
    ten = [*_ORDER_TEN, 1.0 - 2.0 * sum(_ORDER_TEN), *reversed(_ORDER_TEN)]
    named = {"composition, order 6": substeps(6), "composition, order 8": substeps(8), "composition, order 10": ten}
    for name, parts in named.items():
        halves = 0.5 * np.array([0.0, *parts, 0.0])
        found[name] = np.array(parts), halves[1:] + halves[:-1]
    return found


def runs(problem: Problem) -> dict[str, tuple[Callable[[float], Callable[[], np.ndarray]], list[float]]]:
    """Return what makes a run for so many steps between outputs, or for a tolerance, and for which of these."""
    found: dict[str, tuple[Callable[[float], Callable[[], np.ndarray]], list[float]]] = {}
    interval, n = problem.duration / OUTPUTS, len(problem.x)
    radians = 1.618 * np.sqrt(problem.stiffness) * interval

    def bare(loop: Callable[..., int], arguments: tuple) -> Callable[[float], Callable[[], np.ndarray]]:
        def made(steps: float) -> Callable[[], np.ndarray]:
            def run() -> np.ndarray:
                x, v, out = problem.x[1:].ravel().copy(), np.zeros(2 * n - 2), np.empty((OUTPUTS, 2 * n - 2))
                loop(x, v, int(steps), interval / int(steps), *arguments, problem.stiffness, out)
                return np.concatenate([np.zeros((OUTPUTS, 1, 2)), out.reshape(OUTPUTS, -1, 2)], axis=1)

            return run

        return made

    for name, (drifts, changes) in split_schemes().items():
        fewest = radians / (2.0 / np.abs(drifts).max() if "composition" in name else 9.07)
        found[name] = bare(split, (drifts, changes)), [float(np.ceil(1.3 * fewest * 2 ** (k / 3))) for k in range(16)]
    for s in (4, 6, 8):
        fewest = radians / (0.35 * s)
        found[f"Gauss, order {2 * s}"] = (
            bare(collocate, gauss(s)),
            [float(np.ceil(fewest * 2 ** (k / 3))) for k in range(13)],
        )
    if installed("heyoka"):
        found["heyoka"] = lambda tolerance: heyoka_solver(problem, tolerance), [10.0**-k for k in range(2, 16)]
    return found


def main() -> None:
    """Measure, and print a table in Markdown."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--stiffness", type=float, default=1e4)
    parser.add_argument("--json", type=Path, help="file for the numbers")
    arguments = parser.parse_args()
    problem = pendulum(arguments.stiffness)
    exact, found = reference(problem), {}
    for name, (make, settings) in runs(problem).items():
        found[name] = [(setting, *measured(make(setting), exact, 15)) for setting in settings]
        print(name, " ".join(f"{1e3 * t:.3g}:{e:.1e}" for _, t, e in found[name]), flush=True)
    print("| ms | " + " | ".join(f"{error:.0e} m" for error in ERRORS) + " |")
    print("| --- " * (1 + len(ERRORS)) + "|")
    for name, rows in found.items():
        cells = [1e3 * time_for([row for row in rows if np.isfinite(row[2])], error) for error in ERRORS]
        print(f"| {name} | " + " | ".join("–" if np.isinf(cell) else f"{cell:.2g}" for cell in cells) + " |")
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
