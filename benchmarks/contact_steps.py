"""What contact between bodies adds to steps: two cubes of tetrahedra on each other, explicit and energy-momentum.

    OMP_NUM_THREADS=1 python benchmarks/contact_steps.py [--tetrahedra 10000 100000] [--output FILE.json]

Two cubes of neo-Hookean aluminium meet at one face, a sixth of the surface of each, at 20 m/s, or are a cube apart, and
move at 1 m/s along each other. The explicit step is one of Newmark with a penalty, with its lists and its look at what
passes through, against the same step of the cubes without contact and the forces of the solids alone, in turn, the
median of some; in collisions contact has a level of its own (``contact_steps = "auto"``), against steps without
contact, with the largest error of energy at dt, dt/2 and dt/4. The implicit step is of energy-momentum with a barrier
at twenty stable steps of the solids, per correction. All are processor times in one process.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
from pathlib import Path
from time import process_time
from typing import Any, Literal

import numpy as np

import symplex as sx
from symplex.contact import BodyContact, Surface
from symplex.time.stability import stable_step

ALUMINIUM = sx.NeoHookean.from_young(70e9, 0.33, 2700.0)
SIDE, SPEED, APPROACH = 0.1, 1.0, 20.0
STEPS, TURNS = 20, 15
IN_CONTACT = 60  # steps of the collision
SOFTER = 5.0


def cubes(
    tetrahedra: int, touching: bool, law: Literal["penalty", "barrier"], soft: bool = False
) -> tuple[sx.System, sx.System, sx.State, BodyContact]:
    """Return the cubes with and without contact, their start, and the contact: soft ones of as much capacity."""
    n = max(2, round((tetrahedra / 12) ** (1 / 3)))
    low = sx.box((SIDE,) * 3, (n,) * 3, split="6")
    upper = sx.box((SIDE,) * 3, (n,) * 3, split="6")
    reach = 0.1 * SIDE / n * (SOFTER**0.5 if soft else 1.0)
    at = [0.31 * SIDE / n, 0.27 * SIDE / n, SIDE + (0.99 * reach if touching else SIDE)]
    mesh = sx.merge({"low": low, "high": sx.Mesh(upper.points + np.array(at), {"tetra": upper.cells["tetra"]})})
    points, cells = mesh.points, mesh.cells["tetra"]
    surface = Surface.of(mesh, ["low", "high"])
    contact = BodyContact.from_materials(surface, ALUMINIUM, law=law, distance=reach)
    if soft:
        contact = BodyContact(surface, contact.stiffness / SOFTER, law=law, distance=reach)
    mass = sx.lumped_mass(points, cells, ALUMINIUM.density, len(points))
    solid = sx.Solid(points, cells, ALUMINIUM)
    v = np.zeros_like(points)
    v[mesh.nodes_of("high")] = SPEED, 0.0, -APPROACH
    alone, both = sx.System(mass, {"solid": solid}), sx.System(mass, {"solid": solid, "contact": contact})
    return alone, both, both.state(points, v), contact


def explicit(tetrahedra: int) -> dict[str, Any]:
    """Return times of explicit steps."""
    found: dict[str, Any] = {}
    for touching in (True, False):
        alone, both, start, contact = cubes(tetrahedra, touching, "penalty")
        apart = not touching  # then as users take them: steps of bodies that are apart
        dt = sx.Newmark("auto", contact_steps="auto" if apart else 1).fit(both, start, 1.0).dt
        assert dt != "auto", "it is fitted"
        motions = [sx.Newmark(dt).start(alone, start), sx.Newmark(dt, contact_steps="auto").start(both, start)]
        out, solid = np.zeros_like(start.q), both.energies["solid"]
        taken: list[list[float]] = []
        for turn in range(TURNS + 1):
            taken.append([])
            for motion in motions:
                began = process_time()
                state = motion.advance((turn + 1) * STEPS * dt)
                taken[-1].append((process_time() - began) / STEPS)
            began = process_time()
            for _ in range(STEPS):
                solid.add_gradient(state.q, out)
            taken[-1].append((process_time() - began) / STEPS)
        without, with_contact, force = np.median(taken[1:], axis=0).tolist()
        found["touching" if touching else "apart"] = {
            "tetrahedra": len(solid.nodes),
            "pairs in the list": len(contact.nodes),
            "pairs in contact": len(contact.contacts(state.q).gaps),
            "forces of the solids [ms]": 1e3 * force,
            "step without contact [ms]": 1e3 * without,
            "step with contact [ms]": 1e3 * with_contact,
            "contact / forces of the solids": (with_contact - without) / force,
            "with / without contact": float(np.median([two / one for one, two, _ in taken[1:]])),
            "stable step, without / with contact": stable_step(alone, start.q) / stable_step(both, start.q),
        }
    return found


def collision(tetrahedra: int, soft: bool) -> dict[str, Any]:
    """Return times of steps with contact on its own level while cubes meet, and how much energy errs then."""
    alone, both, start, contact = cubes(tetrahedra, True, "penalty", soft)
    start = both.state(start.q + np.where(start.v != 0.0, [0.0, 0.0, 0.03 * contact.reach], 0.0), start.v)
    dt = sx.Newmark("auto", contact_steps="auto").fit(both, start, 1.0).dt
    assert dt != "auto", "it is fitted"
    found: dict[str, Any] = {"steps in parts of them": {}}
    for half in (1, 2, 4):
        motion = sx.Newmark(dt / half, contact_safety=0.2 / half, contact_steps="auto").start(both, start)
        energies, near, most = [], [], 0
        for k in range(IN_CONTACT + 1):
            state = motion.advance(k * dt)
            energies.append(motion.energies(state)["total"])
            near.append(len(contact.contacts(state.q).gaps))
            most = max(most, int(motion.checkpoint()["contact_steps"][1]))
        error = float(np.abs(np.array(energies) / energies[0] - 1.0).max())
        found["steps in parts of them"][f"dt / {half}"] = {"parts": most, "energy errs by": error, "pairs": max(near)}
    taken = []
    for _ in range(TURNS):
        motions = [sx.Newmark(dt).start(alone, start), sx.Newmark(dt, contact_steps="auto").start(both, start)]
        taken.append([])
        for motion in motions:
            motion.advance(2 * dt)
            began = process_time()
            motion.advance(IN_CONTACT * dt)
            taken[-1].append((process_time() - began) / (IN_CONTACT - 2))
    without, with_contact = np.median(taken, axis=0).tolist()
    ratio = float(np.median([two / one for one, two in taken]))
    more = {"step without contact [ms]": 1e3 * without, "step in contact [ms]": 1e3 * with_contact, "ratio": ratio}
    return {"tetrahedra": len(both.energies["solid"].nodes)} | found | more


def implicit(tetrahedra: int) -> dict[str, Any]:
    """Return the time of an implicit step and where it goes."""
    alone, both, start, contact = cubes(tetrahedra, True, "barrier")
    dt = 20.0 * stable_step(alone, start.q)
    found: dict[str, Any] = {"tetrahedra": len(both.energies["solid"].nodes)}
    for name, system in (("without contact", alone), ("with contact", both)):
        motion = sx.EnergyMomentum(dt).start(system, start)
        motion.advance(dt)
        before = dict(motion.statistics())
        profile = cProfile.Profile(process_time)
        began = process_time()
        profile.enable()
        motion.advance(2.0 * dt)
        profile.disable()
        seconds = process_time() - began
        corrections = motion.statistics()["corrections"] - before["corrections"]
        found[name] = {"step [s]": seconds, "corrections": corrections, "per correction [s]": seconds / corrections}
    stats = pstats.Stats(profile).stats  # pyright: ignore[reportAttributeAccessIssue]
    parts = {
        "linear solver": ("solve", "update"),
        "largest step": ("collision_free_fraction",),
        "lists": ("update_neighbours", "extend_list"),
        "forces": ("forces",),
        "tangent": ("blocks",),
    }
    files = {
        "linear solver": ("direct.py", "iterative.py", "linear_solver.py", "linear.py"),
        "largest step": ("bodies.py",),
    }
    shares = {}
    for part, names in parts.items():
        times = [
            cumulative
            for (file, _, function), (_, _, _, cumulative, _) in stats.items()
            if function in names and (part not in files or Path(file).name in files[part])
        ]
        shares[part] = sum(sorted(times)[-len(names) :]) if part == "linear solver" else max(times, default=0.0)
    found["where the time with contact goes [s]"] = shares
    found["pairs in contact"] = len(contact.contacts(start.q).gaps)
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tetrahedra", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--only", choices=["explicit", "collision", "implicit"])
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    results: dict[str, Any] = {}
    for count in options.tetrahedra:
        measures = {
            "explicit": explicit,
            "collision": lambda count: {"default": collision(count, False), "soft": collision(count, True)},
            "implicit": implicit,
        }
        for kind, measure in measures.items():
            if options.only in (None, kind):
                results[f"{kind}, {count}"] = measure(count)
                print(f"{kind}, {count}", json.dumps(results[f"{kind}, {count}"], indent=1), flush=True)
    if options.output is not None:
        options.output.write_text(json.dumps(results, indent=1), "utf-8")


if __name__ == "__main__":
    main()
