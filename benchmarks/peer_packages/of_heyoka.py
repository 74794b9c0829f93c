"""heyoka: see `serving`."""

from __future__ import annotations

from importlib.metadata import version

import numpy as np
from serving import Package, Springs, serve
from springs import heyoka_equations


def heyoka(problem: Springs) -> Package:
    """Return its adaptive Taylor method, compiled for these springs."""
    import heyoka as hy  # pyright: ignore[reportMissingImports]

    n = len(problem.x)
    equations, start = heyoka_equations(problem.x, *problem.constants)
    solvers: dict = {}

    def run(tolerance: float) -> np.ndarray:
        if tolerance not in solvers:
            solvers[tolerance] = hy.taylor_adaptive(equations, start, tol=tolerance, compact_mode=n > 10)
        solver = solvers[tolerance]
        solver.time = 0.0
        solver.state[:] = start
        solver.propagate_until(problem.duration)
        return np.vstack([problem.x[:1], solver.state[: 2 * n - 2].reshape(-1, 2)])

    tuned = problem.tuned(run, [10.0 ** -(0.5 * k) for k in range(8, 28)])
    return Package(version("heyoka"), {"run": tuned}, {"positions": tuned}, remark="Taylor series")


if __name__ == "__main__":
    serve({Springs: heyoka})
