"""What the programs of packages on several ranks share: explicit steps that are timed when they are asked for.

A program, ``mpiexec -n RANKS PYTHON benchmarks/peer_packages/ranks_of_NAME.py PROBLEM.npz FOLDER``, is run by the
Python and the MPI library of its package. Its first rank prints a line with what it is, and answers each line with a
number of steps by their wall time in s on the slowest rank. At the end of its input it writes the positions that it has
come to. Only NumPy is needed here, as nothing of this package is in those environments.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np


def serve_steps(version: str, ranks: int, timed: Callable[[int], float], positions: Callable[[], np.ndarray]) -> None:
    """Answer on the first rank; all numbers of steps must be the same in all programs that are compared.

    Parameters
    ----------
    version : str
    ranks : int
    timed : function
        Take so many steps on all ranks; return the wall time of the slowest one in s.
    positions : function
        Return the positions [n, 3] of all nodes in m.
    """
    print("ready", json.dumps({"version": version, "ranks": ranks}), flush=True)
    for line in sys.stdin:
        print("time", timed(int(line)), flush=True)
    np.save(Path(sys.argv[2]) / f"{Path(sys.argv[0]).stem}_{ranks}.npy", positions())
