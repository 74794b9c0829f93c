"""CPU time of force-stepping per simulated microsecond of the oblique impact, three ways and over sizes.

    OPENBLAS_NUM_THREADS=1 python benchmarks/force_stepping.py [--quick | --events] [--json FILE]

- events: the event-driven integrator of symplex;
- walk: Algorithm 1 of the paper with O(d) per crossing (orderings instead of inverses), compiled;
- algorithm 2: Algorithms 1 and 2 of the paper as printed, O(d²) per crossing (BLAS rank-one updates).

Last, the parts of an event by themselves, called for all dofs in random order on mesh III.

All three follow the same trajectory, from the state 3 µs into the motion: in the impact. Algorithm 2 is timed over a
few hundred crossings and its time per microsecond is that per crossing times the crossings per microsecond.
"""

# numba's declaration of njit does not know all of its options.
# pyright: reportCallIssue=false

import argparse
import json
import sys
from pathlib import Path
from time import process_time

import numpy as np
from numba import njit

from symplex.contact.obstacles import HalfSpace
from symplex.contact.rigid import RigidContact
from symplex.fem.actions.mass import lumped_mass
from symplex.fem.solids.materials import NeoHookean
from symplex.fem.solids.solid import Solid
from symplex.fem.system import State, System
from symplex.meshes.generate import box, cube_mesh
from symplex.meshes.mesh import Mesh
from symplex.time.events.force_stepping import ForceStepping
from symplex.time.events.interaction import STAR
from symplex.time.events.lattice_access import FOUR, partner_at, split
from symplex.time.events.lattice_differences import difference, mixed_difference
from symplex.time.events.lattice_lanes import LANES
from symplex.time.events.lattice_motion import ForceSteppingMotion
from symplex.time.events.lattice_schedule import schedule

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from reference.algorithm_1_2 import algorithm_1_2
from reference.kuhn_walk import kuhn_walk

GRID = 5e-4  # m
START, WINDOW = 3e-6, 1e-6  # s
NOT_TIMED = {"walk_per_us": np.nan, "algorithm_2_per_us": np.nan}


def impact(mesh: Mesh) -> tuple[System, State]:
    """Return the cube of section 6.3 on a mesh."""
    cells = mesh.cells["tetra"]
    material = NeoHookean(lmbda=60.5e9, mu=26e9, density=2700.0)
    wall = HalfSpace(point=(0.101, 0.101, 0.101), normal=(0.0, -1.0, -1.0), normalize=False)
    system = System(
        lumped_mass(mesh.points, cells, material.density, len(mesh.points)),
        {
            "strain": Solid(mesh.points, cells, material),
            "wall": RigidContact(mesh.boundary_nodes, wall, stiffness=1e14),
        },
    )
    return system, system.state(mesh.points, np.full(mesh.points.shape, 1000.0))


def best_of(times: int, run) -> float:
    """Return the shortest CPU time in s of a function."""
    walls = []
    for _ in range(times):
        begin = process_time()
        run()
        walls.append(process_time() - begin)
    return min(walls)


def time_events(system: System, state: State, repeats: int) -> dict:
    """Time the event-driven integrator over the window."""
    walls, motion = [], ForceStepping(GRID).start(system, state)
    motion.advance(START)
    checkpoint = motion.checkpoint()
    for _ in range(repeats):
        motion = ForceStepping(GRID).resume(system, checkpoint)
        motion.advance(START + 0.02 * WINDOW)  # until the new tables are in the caches
        before = motion.statistics()["events"]
        begin = process_time()
        motion.advance(START + WINDOW)
        walls.append(process_time() - begin)
    events = motion.statistics()["events"] - before
    return {
        "dofs": 3 * system.n_nodes,
        "events_per_us": events / (0.98 * WINDOW * 1e6),
        "wall_per_us": min(walls) / (0.98 * WINDOW * 1e6),
        "us_per_event": min(walls) / events * 1e6,
        "bytes_per_dof": memory(motion) / (3 * system.n_nodes),
    }


def memory(motion: ForceSteppingMotion) -> int:
    """Return the bytes of all tables of a motion."""
    tracks = motion._tracks
    parts = [*motion._lists.tables, *tracks.arrays().values(), *tracks.calendar, *motion._lattice]
    parts += [functions.parameters for functions in motion._lists.functions.values()]
    return sum(np.asarray(part).nbytes for part in parts)


def time_published(system: System, state: State, crossings_wanted: int) -> dict:
    """Time the walk over the window, and Algorithm 2 over a part of it."""
    motion = ForceStepping(GRID).start(system, state)
    offset, middle = motion.offset, motion.advance(START)
    kuhn_walk(system, middle, [START], GRID, offset)  # compile
    begin = process_time()
    walk = kuhn_walk(system, middle, [START + WINDOW], GRID, offset)
    walk_wall = process_time() - begin
    part = WINDOW * min(1.0, crossings_wanted / walk.crossings)
    setup = best_of(1, lambda: algorithm_1_2(system, middle, [START], GRID, offset))
    begin = process_time()
    literal = algorithm_1_2(system, middle, [START + part], GRID, offset)
    per_crossing = (process_time() - begin - setup) / literal.crossings
    per_us = walk.crossings / (WINDOW * 1e6)
    return {
        "crossings_per_us": per_us,
        "walk_per_us": walk_wall / (WINDOW * 1e6),
        "algorithm_2_crossings": literal.crossings,
        "algorithm_2_per_crossing_us": per_crossing * 1e6,
        "algorithm_2_per_us": per_crossing * per_us,
    }


@njit(_nrt=False)
def _schedule_all(things, lattice, tracks, dofs, t, local):
    for i in dofs:
        schedule(things, lattice, tracks, i, t, i, local)


@njit(_nrt=False)
def _gradient_all(things, lattice, tracks, dofs, local):
    total = 0.0
    for i in dofs:
        total += difference(things, lattice, tracks, i, local)
    return total


@njit(_nrt=False)
def _mixed_all(things, lattice, tracks, dofs, places, local):
    total = 0.0
    for n in range(len(dofs)):
        j = partner_at(things, split(dofs[n])[0], places[n])
        total += mixed_difference(things, lattice, tracks, dofs[n], j, places[n] // FOUR, local)
    return total


def profile(system: System, state: State) -> dict:
    """Time the parts of an event: scheduling a dof, its gradient, a mixed difference with a random dof of its star."""
    motion = ForceStepping(GRID).start(system, state)
    motion.advance(START)
    tables = motion._lists.tables, motion._lattice, motion._tracks
    rng = np.random.default_rng(0)
    dofs = rng.permutation((LANES * np.arange(system.n_nodes)[:, None] + np.arange(3)).ravel()).astype(np.uint32)
    stars = np.diff(motion._lists.tables.node[:, STAR].astype(int))[dofs // LANES]
    near = (rng.random(len(dofs)) * stars).astype(np.uint32)
    places = (LANES * near + rng.integers(0, 3, len(dofs))).astype(np.uint32)
    now = START - motion._tracks.epoch[0]
    parts = {
        "schedule": lambda: _schedule_all(*tables, dofs, now, motion._local),
        "gradient": lambda: _gradient_all(*tables, dofs, motion._local),
        "mixed difference": lambda: _mixed_all(*tables, dofs, places, motion._local),
    }
    for run in parts.values():
        run()  # compile
    found = {name: best_of(20, run) / len(dofs) * 1e9 for name, run in parts.items()}
    return found | {"nodes in a star": float(stars.mean())}


def exponent(rows: list[dict], key: str) -> float:
    """Return the slope of log(key) over log(dofs)."""
    return float(np.polyfit(np.log([row["dofs"] for row in rows]), np.log([row[key] for row in rows]), 1)[0])


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="the paper's three meshes only")
    parser.add_argument("--events", action="store_true", help="without the published algorithms")
    parser.add_argument("--json", type=Path, help="write the numbers to this file")
    options = parser.parse_args()

    print("    dofs   events/µs   µs/event   events s/µs     walk s/µs   Alg. 2 s/µs", end="   ")
    print("walk/events   Alg. 2/events   B/dof")
    rows = []
    for name in ("I", "II", "III"):
        system, state = impact(cube_mesh(name))
        row = time_events(system, state, 20) | (NOT_TIMED if options.events else time_published(system, state, 400))
        rows.append(row)
        print(
            f"{row['dofs']:8d} {row['events_per_us']:11.0f} {row['us_per_event']:10.2f} {row['wall_per_us']:13.5f}"
            f" {row['walk_per_us']:13.4f} {row['algorithm_2_per_us']:13.3f}"
            f" {row['walk_per_us'] / row['wall_per_us']:13.0f} {row['algorithm_2_per_us'] / row['wall_per_us']:15.0f}"
            f" {row['bytes_per_dof']:7.0f}"
        )
    large = []
    for n in () if options.quick else (6, 8, 10, 13, 19):
        row = time_events(*impact(box((0.1,) * 3, (n,) * 3)), 2)
        large.append(row)
        print(
            f"{row['dofs']:8d} {row['events_per_us']:11.0f} {row['us_per_event']:10.2f} {row['wall_per_us']:13.5f}"
            f"{row['bytes_per_dof']:66.0f}"
        )
    every = [rows[0], rows[2], *large]
    fitted = {"events_wall": exponent(every, "wall_per_us"), "events_count": exponent(every, "events_per_us")}
    if not options.events:
        fitted |= {
            "walk_wall": exponent(rows, "walk_per_us"),
            "algorithm_2_wall": exponent(rows, "algorithm_2_per_us"),
            "crossings": exponent(rows, "crossings_per_us"),
        }
    print("exponents in the number of dofs:", ", ".join(f"{name} {value:.2f}" for name, value in fitted.items()))
    parts = profile(*impact(cube_mesh("III")))
    print("parts of an event in ns:", ", ".join(f"{name} {value:.0f}" for name, value in parts.items()))
    if options.json:
        options.json.write_text(
            json.dumps({"rows": rows + large, "exponents": fitted, "parts": parts}, indent=1) + "\n"
        )


if __name__ == "__main__":
    main()
