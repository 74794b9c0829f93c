"""heyoka: see `serving`."""

from __future__ import annotations

from importlib.metadata import version

import numpy as np
from serving import Package, Springs, serve


def heyoka(problem: Springs) -> Package:
    """Return its adaptive Taylor method, compiled for these springs."""
    import heyoka as hy  # pyright: ignore[reportMissingImports]

    n = len(problem.x)
    q, v = ([hy.make_vars(f"{kind}{axis}{i}") for i in range(n) for axis in "xy"] for kind in "qv")
    q[:2] = [hy.expression(float(value)) for value in problem.x[0]]
    force = [hy.expression(0.0) for _ in range(2 * n)]
    for (i, j), length in zip(problem.pairs, problem.lengths, strict=True):
        d = [q[2 * i + a] - q[2 * j + a] for a in range(2)]
        pull = problem.stiffness * (1.0 - float(length) / hy.sqrt(hy.sum([d[0] * d[0], d[1] * d[1]])))
        for a in range(2):
            force[2 * i + a] -= pull * d[a]
            force[2 * j + a] += pull * d[a]
    equations = [(q[i], v[i]) for i in range(2, 2 * n)]
    weight = [0.0, problem.gravity]
    equations += [(v[i], force[i] / float(problem.masses[i // 2]) - weight[i % 2]) for i in range(2, 2 * n)]
    start = np.concatenate([problem.x.ravel()[2:], np.zeros(2 * n - 2)])
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
