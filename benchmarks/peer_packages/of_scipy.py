"""SciPy: see `serving`."""

from __future__ import annotations

import numpy as np
from serving import Package, Springs, serve
from springs import rates


def scipy(problem: Springs) -> Package:
    """Return DOP853 with a right-hand side that Numba has compiled."""
    import scipy
    from numba import njit
    from scipy.integrate import solve_ivp

    compiled, constants = njit(rates), problem.constants
    start, span = np.concatenate([problem.x.ravel(), np.zeros(problem.x.size)]), (0.0, problem.duration)

    def run(tolerance: float) -> np.ndarray:
        options = {"rtol": tolerance, "atol": tolerance, "t_eval": [problem.duration]}
        y = solve_ivp(lambda t, y: compiled(y, *constants), span, start, "DOP853", **options).y
        return y[: problem.x.size, -1].reshape(problem.x.shape)

    tuned = problem.tuned(run, [10.0 ** -(0.5 * k) for k in range(8, 26)])
    return Package(scipy.__version__, {"run": tuned}, {"positions": tuned}, remark="DOP853, compiled by Numba")


if __name__ == "__main__":
    serve({Springs: scipy})
