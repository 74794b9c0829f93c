"""Hertz's contact: the force of a rigid sphere on a half-space, and the impact of two elastic balls.

    python examples/hertz.py [--output DIR] [--elements N ...] [--impact]

*Static*: a sphere of radius R at the depth δ = a²/R, a = R/20, that should press with F = 4/3 E* √R δ^(3/2),
E* = E/(1 − ν²). The far sides of the block below are displaced as by a point force F (Boussinesq's solution). N
elements are along a.

*Impact*: two balls meet at 0.03 c. Without vibrations they would come nearer by δ = (15 m* v²/(16 E* √R*))^(2/5) and
stay together for 2.94 δ/v.
"""

import argparse
import json
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from colliding_bodies import ball, bodies, follow, lattice, placed

import symplex as sx
from symplex.contact import BodyContact, SegmentContact, Surface

R, E, NU, A = 1.0, 1.0, 0.3, 0.05  # the sphere, the material, and the radius of contact
MATERIAL = sx.NeoHookean.from_young(E, NU, 1.0)
GROWTH, OUTER = 1.6, 6  # of the elements outside 1.3 a, and how many
REACH = 0.02  # d̂ as a part of an element
SPEED = 0.03  # of the balls to each other; c = √(E/ρ) = 1


def half_space(n: int) -> sx.Mesh:
    """Return a block below z = 0 with n elements along the radius of contact."""
    h, near, under = A / n, int(np.ceil(1.3 * n)), GROWTH ** np.arange(1, OUTER + 1)
    right = h * np.concatenate([np.arange(near + 1), near + np.cumsum(under)])
    x = np.concatenate([-right[:0:-1], right])
    z = -h * np.concatenate([np.arange(n + 1), n + np.cumsum(under)])[::-1]

    def place(u: np.ndarray) -> np.ndarray:
        i = np.rint(u * [len(x) - 1, len(x) - 1, len(z) - 1]).astype(int)
        return np.column_stack([x[i[:, 0]], x[i[:, 1]], z[i[:, 2]]])

    return lattice((len(x) - 1, len(x) - 1, len(z) - 1), place)


def cap(n: int, lowest: float) -> sx.Mesh:
    """Return the lowest part of the sphere, as a paraboloid, in elements that do not lie on those of the block."""
    width = 2.9 * A

    def place(u: np.ndarray) -> np.ndarray:
        x, y = width * (u[:, :2].T - 0.5)
        return np.column_stack([x, y, np.where(u[:, 2] < 0.5, (x * x + y * y) / (2.0 * R) + lowest, 2.0 * A)])

    k = int(np.ceil(3.3 * n))
    return lattice((k, k, 1), place)


def point_force(x: np.ndarray, force: float) -> np.ndarray:
    """Return the displacements [n, 3] at points of the half-space z ≤ 0 by a force on it at the origin."""
    depth, distance = -x[:, 2], np.maximum(np.linalg.norm(x, axis=1), 1e-9 * A)
    down = 2.0 * (1.0 - NU) / distance + depth**2 / distance**3
    out = depth / distance**3 - (1.0 - 2.0 * NU) / (distance * (distance + depth))
    return force * (1.0 + NU) / (2.0 * np.pi * E) * np.column_stack([out * x[:, 0], out * x[:, 1], -down])


def static(n: int, integrated: bool = False) -> dict[str, float]:
    """Return the force as a part of Hertz's, the radius of contact as a part of a, and what it took.

    Contact is of pairs of vertices, edges and triangles, or integrated over what faces have in common.
    """
    depth, reach = A * A / R, 0.0 if integrated else REACH * A / n
    force = 4.0 / 3.0 * E / (1.0 - NU**2) * np.sqrt(R) * depth**1.5
    # Surfaces press from d̂ on, so the sphere stands so much higher.
    mesh = sx.merge({"half-space": half_space(n), "sphere": cap(n, reach - depth)})
    points, cells = mesh.points, mesh.cells["hexahedron"]
    surface = Surface.of(mesh, ["half-space", "sphere"])
    contact = (
        SegmentContact(surface, points, 10.0 * E * n / A, between=[("half-space", "sphere")], integrated="first")
        if integrated
        else BodyContact(surface, E / reach, distance=reach)
    )
    below = mesh.nodes_of("half-space")
    size, floor = np.abs(points[below, :2]).max(), points[below, 2].min()
    far = (np.abs(points[below, :2]).max(axis=1) > 0.999 * size) | (points[below, 2] < 0.999 * floor)
    fixed, q = np.zeros(points.shape, bool), points.copy()
    fixed[mesh.nodes_of("sphere")] = True
    fixed[below[far]] = True
    # Where to begin with: nothing overlaps.
    dent = -1.05 * depth * np.exp(-((np.linalg.norm(points[below], axis=1) / (3.0 * A)) ** 2))
    q[below] += np.where(far[:, None], point_force(points[below], force), dent[:, None] * [0.0, 0.0, 1.0])
    mass = sx.lumped_mass(points, cells, 1.0, len(points))
    energies = {"solid": sx.Solid(points, cells, MATERIAL, formulation="full"), "contact": contact}
    system = sx.System(mass, energies, fixed=fixed)
    found = sx.equilibria.static_equilibrium(system, q)
    end = found.state.q
    pressed = np.linalg.norm(contact.nodal_forces(end)[below], axis=1) > 0.0
    found_pressures = {}
    if integrated:
        on = surface.vertices[contact.pressures(end) > 0.0]
        on = on[np.isin(on, below)]
        r = np.hypot(points[on, 0], points[on, 1]) / A
        pressures = contact.pressures(end)[np.searchsorted(surface.vertices, on)] / (1.5 * force / (np.pi * A**2))
        off = np.abs(pressures - np.sqrt(np.maximum(1.0 - r * r, 0.0)))[r < 0.8]
        found_pressures = {"greatest error of nodal pressures / Hertz's greatest, r < 0.8 a": float(off.max())}
    return {
        "elements along a": n,
        "force / Hertz's": float(-contact.resultants(end)["half-space", "sphere"][2] / force),
        "radius of contact / a": float(np.linalg.norm(points[below[pressed]], axis=1).max() / A),
        "nodes": len(points),
        "corrections": found.corrections,
        **found_pressures,
    }


def impact(core: int = 8, shells: int = 6, grading: float = 0.5) -> tuple[dict[str, float], np.ndarray]:
    """Return approach, duration and restitution, and times, forces and approaches [3, looks] as parts of Hertz's."""
    one, gap, looks = ball(R, core, shells, grading), 0.02, 200
    turn = np.array([[np.cos(0.3), -np.sin(0.3), 0.0], [np.sin(0.3), np.cos(0.3), 0.0], [0.0, 0.0, 1.0]])
    parts = {"low": placed(one, (0, 0, -R - 0.5 * gap)), "high": placed(one, (0, 0, R + 0.5 * gap), turn)}
    motion = {"low": ((0, 0, 0.5 * SPEED), (0, 0, 0)), "high": ((0, 0, -0.5 * SPEED), (0, 0, 0))}
    of = bodies(parts, MATERIAL, motion, speed=SPEED)
    mass, stiffness, radius = np.asarray(of.system.mass), E / (2.0 * (1.0 - NU**2)), 0.5 * R
    depth = (15.0 * 0.25 * mass.sum() * SPEED**2 / (16.0 * stiffness * np.sqrt(radius))) ** 0.4
    duration = 2.94 * depth / SPEED
    run = follow(of, sx.Newmark("auto"), gap / SPEED + 1.2 * duration, looks)
    high, low = of.mesh.nodes_of("high"), of.mesh.nodes_of("low")
    t = np.array([state.t for state in run.states])
    force = np.array([of.contact.resultants(state.q)["low", "high"][2] for state in run.states])
    apart = [
        mass[high] @ state.q[high, 2] / mass[high].sum() - mass[low] @ state.q[low, 2] / mass[low].sum()
        for state in run.states
    ]
    approach = 2.0 * R + of.contact.reach - np.array(apart)
    together = t[-force > 2e-3 * -force.min()]
    back = of.mean_velocity("high", run.end)[2] - of.mean_velocity("low", run.end)[2]
    found = {
        "approach / Hertz's": float(approach.max() / depth),
        "duration / Hertz's": float((together[-1] - together[0]) / duration),
        "speed apart / speed of approach": float(back / SPEED),
        "relative change of energy": run.energy,
        "steps": run.statistics["steps"],
    }
    largest = 4.0 / 3.0 * stiffness * np.sqrt(radius) * depth**1.5
    return found, np.array([(t - together[0]) / duration, -force / largest, approach / depth])


def draw(history: np.ndarray, path: Path) -> None:
    """Draw force and approach in time."""
    fig, ax = plt.subplots(figsize=(6.0, 3.4), layout="constrained")
    t, force, approach = history
    ax.plot(t, force, color="#c0392b", lw=0.8, label="force")
    ax.plot(t, np.maximum(approach, 0.0), color="#2c5fa8", label="approach")
    hertz = np.sin(np.pi * np.clip(t, 0.0, 1.0))
    ax.plot(t, hertz, "k:", label="sin(π t/T)")
    ax.set(xlabel="time / Hertz's duration", ylabel="as parts of Hertz's greatest", xlim=(-0.1, 1.2))
    ax.legend(fontsize=8)
    fig.savefig(path, dpi=110)


def main(output: Path, elements: list[int], with_impact: bool) -> None:
    """Compute, write numbers.json and the picture."""
    output.mkdir(parents=True, exist_ok=True)
    numbers: dict[str, object] = {
        "static": [static(n) for n in elements],
        "integrated": [static(n, integrated=True) for n in elements],
    }
    if with_impact:
        numbers["impact"], history = impact()
        draw(history, output / "hertz_impact.png")
    (output / "numbers.json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(numbers, indent=1))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("results/hertz"))
    parser.add_argument("--elements", type=int, nargs="+", default=[2, 3, 4])
    parser.add_argument("--impact", action="store_true")
    options = parser.parse_args()
    main(options.output, options.elements, options.impact)
