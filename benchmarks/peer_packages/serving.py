"""What the programs of all packages share: the problem, and a loop that times functions when it is asked to.

A program is run by the Python of its package, ``PYTHON benchmarks/peer_packages/NAME.py PROBLEM.npz FOLDER``. It writes
its forces, and the product of its tangent with a given direction, to ``FOLDER/NAME.npz``, prints a line with what it
can do, and then answers each line ``NAME_OF_CALL SECONDS`` by the shortest processor time in s of that call. Only NumPy
is needed here, as nothing of this package is in those environments.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

STEPS = 20  # explicit ones in a call


@dataclass(frozen=True)
class Problem:
    """Linear tetrahedra with the neo-Hookean law W = λ/2 (ln J)² − μ ln J + μ/2 (tr C − 3) and one point of quadrature.

    Attributes
    ----------
    points, q : float64 [n, 3]
        Undeformed positions and those at which all is evaluated, in m.
    cells : int32 [m, 4]
    lmbda, mu, density : float
        λ and μ in Pa, ρ in kg/m³.
    dt : float
        The step in s of explicit steps.
    inertia : float
        4/h² in 1/s² of the step h of the iterations.
    direction, forces : float64 [n, 3]
        With which tangents are multiplied, and for which iterations solve.
    """

    points: np.ndarray
    q: np.ndarray
    cells: np.ndarray
    lmbda: float
    mu: float
    density: float
    dt: float
    inertia: float
    direction: np.ndarray
    forces: np.ndarray

    @property
    def masses(self) -> np.ndarray:
        """Of the elements [m] in kg."""
        corners = self.points[self.cells]
        return self.density / 6.0 * np.linalg.det(corners[:, 1:] - corners[:, :1])

    @property
    def lumped(self) -> np.ndarray:
        """Of the nodes [n] in kg."""
        return np.bincount(self.cells.ravel(), np.repeat(0.25 * self.masses, 4), len(self.points))

    @property
    def young(self) -> float:
        """Young's modulus in Pa."""
        return self.mu * (3.0 * self.lmbda + 2.0 * self.mu) / (self.lmbda + self.mu)

    @property
    def poisson(self) -> float:
        """Poisson's ratio."""
        return self.lmbda / (2.0 * (self.lmbda + self.mu))

    def save(self, path: Path) -> None:
        """Write what `read` reads."""
        np.savez(path, **vars(self))

    @classmethod
    def read(cls, path: str) -> Problem:
        """Return the problem of a file."""
        with np.load(path) as file:
            values: dict[str, Any] = {name: value if value.ndim else float(value) for name, value in file.items()}
            return cls(**values)


@dataclass
class Package:
    """What a package can do.

    Attributes
    ----------
    version : str
    calls : mapping of str to function
        ``gradient``, ``tangent``, ``iteration``, ``steps``: those that it has. An iteration is one of the midpoint
        rule: the tangent 4 M/h² + ∇²V with the consistent mass, and the solution of its equations. Steps are ``STEPS``
        explicit ones with lumped masses, from q at rest.
    forces : function
        Return the forces [n, 3] in N.
    product : function, optional
        Return the product of the tangent with a field [n, 3].
    solution : function, optional
        Return what an iteration gives [n, 3].
    law : str
        ``neo-Hooke``, or ``Saint Venant-Kirchhoff`` of those that have no other in space.
    remark : str
        What a reader must know.
    """

    version: str
    calls: Mapping[str, Callable[[], object]]
    forces: Callable[[], np.ndarray]
    product: Callable[[np.ndarray], np.ndarray] | None = None
    solution: Callable[[], np.ndarray] | None = None
    law: str = "neo-Hooke"
    remark: str = ""


def serve(make: Callable[[Problem], Package]) -> None:
    """Run the program of a package."""
    name, problem, folder = Path(sys.argv[0]).stem, Problem.read(sys.argv[1]), Path(sys.argv[2])
    package = make(problem)
    found: dict[str, Any] = {"forces": package.forces()}
    if package.product is not None:
        found["product"] = package.product(problem.direction)
    if package.solution is not None:
        found["solution"] = package.solution()
    np.savez(folder / f"{name}.npz", **found)
    reported = {"version": package.version, "calls": list(package.calls), "law": package.law, "remark": package.remark}
    print("ready", json.dumps(reported), flush=True)
    for line in sys.stdin:
        call, seconds = line.split()
        print("time", shortest(package.calls[call], float(seconds)), flush=True)


def shortest(call: Callable[[], object], seconds: float) -> float:
    """Return the shortest processor time in s of a function that is called for a while."""
    call()
    best, spent = np.inf, 0.0
    while spent < seconds:
        start = process_time()
        call()
        lasted = process_time() - start
        best, spent = min(best, lasted), spent + lasted
    return float(best)
