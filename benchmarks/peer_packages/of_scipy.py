"""SciPy: see `serving`."""

from __future__ import annotations

import numpy as np
from serving import Package, Springs, serve


def scipy(problem: Springs) -> Package:
    """Return DOP853 with a right-hand side that Numba has compiled."""
    import scipy
    from numba import njit
    from scipy.integrate import solve_ivp

    @njit
    def rates(y, masses, pairs, stiffness, lengths, gravity):
        n = len(masses)
        out = np.zeros(4 * n)
        out[2 : 2 * n] = y[2 * n + 2 :]
        force = out[2 * n :]
        for e in range(len(pairs)):
            i, j = 2 * pairs[e, 0], 2 * pairs[e, 1]
            dx, dy = y[i] - y[j], y[i + 1] - y[j + 1]
            pull = stiffness * (1.0 - lengths[e] / np.sqrt(dx * dx + dy * dy))
            force[i] -= pull * dx
            force[i + 1] -= pull * dy
            force[j] += pull * dx
            force[j + 1] += pull * dy
        force[0] = force[1] = 0.0
        for i in range(1, n):
            force[2 * i] /= masses[i]
            force[2 * i + 1] = force[2 * i + 1] / masses[i] - gravity
        return out

    constants = problem.masses, problem.pairs, problem.stiffness, problem.lengths, problem.gravity
    start, span = np.concatenate([problem.x.ravel(), np.zeros(problem.x.size)]), (0.0, problem.duration)

    def run(tolerance: float) -> np.ndarray:
        options = {"rtol": tolerance, "atol": tolerance, "t_eval": [problem.duration]}
        y = solve_ivp(lambda t, y: rates(y, *constants), span, start, "DOP853", **options).y
        return y[: problem.x.size, -1].reshape(problem.x.shape)

    tuned = problem.tuned(run, [10.0 ** -(0.5 * k) for k in range(8, 26)])
    return Package(scipy.__version__, {"run": tuned}, {"positions": tuned}, remark="DOP853, compiled by Numba")


if __name__ == "__main__":
    serve({Springs: scipy})
