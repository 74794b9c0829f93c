"""Milliseconds of contact between bodies: what is near, what may be passed through, what overlaps; ipctk next to it.

    OMP_NUM_THREADS=1 python benchmarks/contact_search.py [--triangles 1000 10000 100000] [--output FILE.json]

Two cubes of equal triangles just touch, at a gap of a twentieth of an edge; or one of them is in contact with itself.
Each row is a function of a `Case`; all are measured in one process, as processor time, the best of several calls. The
last column is the exponent of the growth with the number of triangles between the last two sizes. ipctk, where it is
installed, runs on one thread.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np

from symplex.contact.pairs import SurfacePairs
from symplex.contact.penetration import collision_free_fraction, find_penetration, free_share, intersections
from symplex.contact.search import find_pairs, find_swept
from symplex.contact.surfaces import Surface
from symplex.fem.assembly.pattern import Array

APART = np.array([[False, True], [True, False]])  # contact with the other body
ITSELF = np.eye(2, dtype=bool)
NEAR = 0.15  # of an edge: d̂ with its margin

Row = tuple[str, float]  # what, in s or as a number


class Case(NamedTuple):
    """Two cubes that nearly touch."""

    surface: Surface
    q: Array
    ahead: Array  # positions after one cube has moved into the other one by half an edge
    distance: float


def two_cubes(triangles: int) -> Case:
    """Return the case with about so many triangles."""
    n = max(2, round(math.sqrt(triangles / 24)))
    edge = 1.0 / n
    points, faces = cube(n)
    other = 0.97 * points + [1.0 + 0.05 * edge, 0.013, 0.011]
    surface = Surface.join(
        [Surface.from_triangles(points, faces, "a"), Surface.from_triangles(other, faces, "b").shifted(len(points))]
    )
    q = np.concatenate([points, other])
    q += 0.01 * edge * np.random.default_rng(0).normal(size=q.shape)
    ahead = q.copy()
    ahead[len(points) :, 0] -= 0.5 * edge
    return Case(surface, q, ahead, NEAR * edge)


def cube(n: int) -> tuple[Array, np.ndarray]:
    """Return points and triangles of the surface of the unit cube with n × n squares on each side."""
    i, j = (of.ravel() for of in np.meshgrid(np.arange(n), np.arange(n), indexing="ij"))
    quads = []
    for axis in range(3):
        for side in (0, n):
            corners = np.empty((n * n, 4, 3), int)
            for c, (di, dj) in enumerate([(0, 0), (1, 0), (1, 1), (0, 1)]):
                corners[:, c, axis] = side
                corners[:, c, (axis + 1) % 3], corners[:, c, (axis + 2) % 3] = i + di, j + dj
            quads.append(corners if side else corners[:, ::-1])
    places, node = np.unique(np.concatenate(quads).reshape(-1, 3), axis=0, return_inverse=True)
    node = node.reshape(-1, 4)
    return places / n, np.concatenate([node[:, [0, 1, 2]], node[:, [0, 2, 3]]])


def best(call: Callable[[], Any], seconds: float = 1.0, at_least: int = 3) -> float:
    """Return the shortest processor time in s of some calls."""
    call()
    times: list[float] = []
    while len(times) < at_least or (sum(times) < seconds and len(times) < 200):
        start = process_time()
        call()
        times.append(process_time() - start)
    return min(times)


# -- rows ------------------------------------------------------------------------------------------------------------


def searches(case: Case) -> Iterator[Row]:
    """Yield what it takes to find pairs."""
    for name, between in (("the other body", APART), ("itself", ITSELF), ("both", APART | ITSELF)):
        yield (
            f"pairs near {name}",
            best(lambda between=between: find_pairs(case.surface, (case.q,), case.distance, between)),
        )
    yield (
        "pairs near at two positions",
        best(lambda: find_pairs(case.surface, (case.q, case.ahead), case.distance, APART)),
    )


def ways(case: Case) -> Iterator[Row]:
    """Yield what it takes to determine how far bodies may move."""
    everything = APART | ITSELF
    yield "pairs on a way, all", best(lambda: find_swept(case.surface, case.q, case.ahead, everything))
    yield "largest step, all", best(lambda: collision_free_fraction(case.surface, case.q, case.ahead, everything))
    swept = find_swept(case.surface, case.q, case.ahead, everything)
    assert swept is not None
    yield "  additive advancement alone", best(lambda: free_share(swept.nodes, swept.edge_edge, case.q, case.ahead))
    near = listed(case)
    little = case.q + 1e-3 * (case.ahead - case.q)  # as in a step of an explicit method
    yield "check of an explicit step", best(lambda: find_penetration(case.surface, near, case.q, little))


def overlaps(case: Case) -> Iterator[Row]:
    """Yield what it takes to determine that nothing overlaps, and what does."""
    yield "overlaps: none", best(lambda: intersections(case.surface, case.q, APART | ITSELF))
    yield "overlaps: by half an edge", best(lambda: intersections(case.surface, case.ahead, APART | ITSELF), at_least=2)


def ipc(case: Case) -> Iterator[Row]:
    """Yield the same of ipctk, as far as it has it, on one thread."""
    try:
        import ipctk
    except ImportError:
        return
    ipctk.set_num_threads(1)
    q, ahead = (np.asfortranarray(x) for x in (case.q, case.ahead))
    mesh = ipctk.CollisionMesh(q, case.surface.edges, case.surface.triangles)

    def search() -> None:
        collisions = ipctk.NormalCollisions()
        collisions.collision_set_type = ipctk.NormalCollisions.CollisionSetType.IPC
        collisions.build(mesh, q, case.distance)

    def candidates() -> Any:
        found = ipctk.Candidates()
        found.build(mesh, q, case.distance)
        return found

    yield "ipctk: candidates (its pairs of boxes)", best(candidates)
    yield "ipctk: collisions (candidates and distances)", best(search)
    additive = ipctk.AdditiveCCD()
    yield (
        "ipctk: largest step, additive",
        best(lambda: ipctk.compute_collision_free_stepsize(mesh, q, ahead, 0.0, None, additive)),
    )
    yield "ipctk: has_intersections", best(lambda: ipctk.has_intersections(mesh, q))


def listed(case: Case) -> SurfacePairs:
    """Return the pairs of the two bodies that are near each other."""
    return find_pairs(case.surface, (case.q,), case.distance, APART)


def numbers(case: Case) -> Iterator[Row]:
    """Yield how many there are."""
    yield "triangles", len(case.surface.triangles)
    yield "pairs of both bodies", len(listed(case).nodes)


TIMES = (searches, ways, overlaps, ipc)


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--triangles", type=int, nargs="+", default=[1000, 10_000, 100_000])
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    cases = [two_cubes(count) for count in options.triangles]
    counts = {name: [dict(numbers(case))[name] for case in cases] for name, _ in numbers(cases[0])}
    for name, row in counts.items():
        print(f"{name:48s}" + "".join(f"{value:12d}" for value in row))
    times: dict[str, list[float]] = {}
    for rows in TIMES:
        for case in cases:
            for name, seconds in rows(case):
                times.setdefault(name, []).append(seconds)
    print("ms of one core")
    for name, row in times.items():
        line = f"{name:48s}" + "".join(f"{1e3 * seconds:12.3f}" for seconds in row)
        if len(row) > 1:
            line += f"{math.log(row[-1] / row[-2]) / math.log(counts['triangles'][-1] / counts['triangles'][-2]):8.2f}"
        print(line)
    if options.output is not None:
        options.output.write_text(json.dumps({"counts": counts, "seconds": times}, indent=1), "utf-8")


if __name__ == "__main__":
    main()
