"""What the programs of all packages share: the problem, and a loop that times functions when it is asked to.

A program is run by the Python of its package, ``PYTHON benchmarks/peer_packages/of_NAME.py PROBLEM.npz RESULTS.npz``.
It writes what it computes, prints a line with what it can do, and then answers each line ``NAME_OF_CALL SECONDS`` by
the shortest and the median processor time in s of that call. Only NumPy is needed here, as nothing of this package is
in those environments.
"""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from typing import Self

STEPS = 20  # explicit ones in a call


class Problem:
    """What all packages are given, in a file."""

    def save(self, path: Path) -> None:
        """Write what `read` reads."""
        np.savez(path, kind=type(self).__name__, **vars(self))

    @classmethod
    def read(cls, path: str) -> Self:
        """Return the problem of a file."""
        with np.load(path) as file:
            values: dict[str, Any] = {name: value if value.ndim else value.item() for name, value in file.items()}
        kinds = {kind.__name__: kind for kind in Problem.__subclasses__()}
        return kinds[values.pop("kind")](**values)  # pyright: ignore[reportReturnType]


@dataclass(frozen=True)
class Tetrahedra(Problem):
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


@dataclass(frozen=True)
class Surfaces(Problem):
    """Surfaces of triangles of two bodies that nearly touch.

    Attributes
    ----------
    q, ahead : float64 [n, 3]
        Positions in m, and those after a motion that lets the bodies overlap.
    triangles, edges : int [m, 3], [k, 2]
        Of both bodies.
    second : int
        The first node of the second body.
    distance : float
        Within which pairs are found, in m.
    """

    q: np.ndarray
    ahead: np.ndarray
    triangles: np.ndarray
    edges: np.ndarray
    second: int
    distance: float


@dataclass(frozen=True)
class Springs(Problem):
    """Masses on springs of engineering strain in the plane in their weight, at rest, the first of them fixed.

    Attributes
    ----------
    x : float64 [n, 2]
        Positions in m.
    masses : float64 [n]
        In kg.
    pairs : int [m, 2]
    lengths : float64 [m]
        In m, unstrained.
    stiffness, gravity, duration : float
        In N/m, m/s² and s.
    exact : float64 [n, 2]
        Positions at the end in m.
    error : float
        The largest error at the end that is allowed, in m.
    """

    x: np.ndarray
    masses: np.ndarray
    pairs: np.ndarray
    lengths: np.ndarray
    stiffness: float
    gravity: float
    duration: float
    exact: np.ndarray
    error: float

    @property
    def constants(self) -> tuple[Any, ...]:
        """What `springs` takes of it besides positions."""
        return self.masses, self.pairs, self.stiffness, self.lengths, self.gravity, 1

    def tuned(self, run: Callable[[float], np.ndarray], settings: Iterable[float]) -> Callable[[], np.ndarray]:
        """Return the run with the first setting (a tolerance, a step) whose error is small enough."""
        for setting in settings:
            if np.abs(run(setting) - self.exact).max() <= self.error:
                return lambda: run(setting)
        raise RuntimeError(f"no setting comes within {self.error} m")


@dataclass(frozen=True)
class Impact(Problem):
    """A body of tetrahedra as in `Tetrahedra` that is thrown on a floor below z = 0, by steps of velocity Verlet.

    The floor resists each node by ½ k z². What is differentiated is ½ Σ |q − x|² at the end, by the velocities of the
    start and by a factor on the energy of each tetrahedron.

    Attributes
    ----------
    points : float64 [n, 3]
        Undeformed positions, which are those of the start, in m.
    cells : int32 [m, 4]
    masses : float64 [n]
        In kg.
    velocity : float64 [n, 3]
        Of the start in m/s.
    stiffness : float
        k in N/m.
    steps : int
    """

    points: np.ndarray
    cells: np.ndarray
    masses: np.ndarray
    velocity: np.ndarray
    lmbda: float
    mu: float
    density: float
    stiffness: float
    dt: float
    steps: int


@dataclass(frozen=True)
class Deck(Problem):
    """A deck of CalculiX with one step, and the nodes whose displacements are compared.

    Attributes
    ----------
    text : str
    nodes : int [n]
        Numbers of nodes whose displacements at the end are compared.
    """

    text: str
    nodes: np.ndarray


@dataclass
class Package:
    """What a package can do with a problem.

    Attributes
    ----------
    version : str
    calls : mapping of str to function
        What is timed. Of tetrahedra ``forces``; ``tangent``; ``correction``: one of Newton's method for the midpoint
        rule, the tangent 4 M/h² + ∇²V with the consistent mass and the solution of its equations; ``steps``: ``STEPS``
        explicit ones with lumped masses, from q at rest. Of surfaces ``pairs`` near each other, and ``share``: which
        part of a motion nothing passes through. Of springs, impacts and decks ``run``: the whole motion or step, and
        ``gradient``: the motion with all derivatives.
    found : mapping of str to function
        Return arrays that are compared between packages.
    law : str
        ``neo-Hooke``, or ``Saint Venant-Kirchhoff`` of those that have no other in space.
    remark : str
        What a reader must know.
    """

    version: str
    calls: Mapping[str, Callable[[], object]]
    found: Mapping[str, Callable[[], np.ndarray]] = field(default_factory=dict)
    law: str = "neo-Hooke"
    remark: str = ""


def serve(makers: Mapping[type, Callable[[Any], Package]]) -> None:
    """Run the program of a package, with a function for each kind of problem that it can do."""
    problem = Problem.read(sys.argv[1])
    package = makers[type(problem)](problem)
    np.savez(Path(sys.argv[2]), **{name: call() for name, call in package.found.items()})  # pyright: ignore[reportArgumentType]
    reported = {"version": package.version, "calls": list(package.calls), "law": package.law, "remark": package.remark}
    print("ready", json.dumps(reported), flush=True)
    for line in sys.stdin:
        call, seconds = line.split()
        print("times", json.dumps(times_of(package.calls[call], float(seconds))), flush=True)


def times_of(call: Callable[[], object], seconds: float) -> tuple[float, float]:
    """Return the shortest and the median processor time in s of a function that is called for a while."""
    times: list[float] = []
    if seconds:
        call()
    while not times or sum(times) < seconds:
        start = spent()
        call()
        times.append(spent() - start)
    return min(times), float(np.median(times))


def spent() -> float:
    """Return the processor time in s of this process and of those that it has run."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return process_time() + children.ru_utime + children.ru_stime
