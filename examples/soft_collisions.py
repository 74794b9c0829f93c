"""Soft bodies of many shapes meet: rings, a chain, a strip that folds onto itself, a cradle of balls, a stack of boxes.

    python examples/soft_collisions.py [NAME ...] [--output DIR] [--no-pictures]

All are of rubber (1 MPa, 1000 kg/m³) and move by energy-momentum with a barrier, at steps far above those of explicit
methods. Energy is relative to its largest part, momenta to the sums of their magnitudes.
"""

import argparse
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from colliding_bodies import Bodies, Run, ball, bodies, follow, lattice, placed, ring

import symplex as sx

RUBBER = sx.NeoHookean.from_young(1e6, 0.3, 1000.0)
UPRIGHT = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])


def weight(mesh: sx.Mesh, mass: np.ndarray) -> dict[str, sx.Energy]:
    """Return the weight of all nodes."""
    return {"weight": sx.Gravity(mass, (0.0, 0.0, -9.81))}


def rings(dt: float = 1e-3) -> tuple[Bodies, Run]:
    """Two spinning rings hit each other at 3 m/s."""
    one = ring(0.08, 0.04, (20, 3))
    parts = {"lying": one, "standing": placed(one, (0.05, 0.02, 0.145), UPRIGHT)}
    motion = {"lying": ((0, 0, 1.5), (0, 0, 20)), "standing": ((0, 0, -1.5), (0, 15, 0))}
    of = bodies(parts, RUBBER, motion, law="barrier", speed=3.0)
    return of, follow(of, sx.EnergyMomentum(dt), 0.05, 25)


def chain(dt: float = 1e-3, links: int = 5) -> tuple[Bodies, Run]:
    """A chain with slack between its links falls until its ends hold it."""
    link = ring(0.03, 0.02, (16, 2), length=0.05)
    parts = {f"link {i + 1}": placed(link, (0.08 * i, 0, 0), None if i % 2 == 0 else UPRIGHT) for i in range(links)}

    def ends(mesh: sx.Mesh) -> np.ndarray:
        x = mesh.points[:, 0]
        return np.repeat(((x < -0.03) | (x > 0.08 * (links - 1) + 0.03))[:, None], 3, axis=1)

    of = bodies(parts, RUBBER, {}, law="barrier", speed=2.0, energies=weight, fixed=ends)
    return of, follow(of, sx.EnergyMomentum(dt), 0.2, 40)


def strip(dt: float = 1e-3, speed: float = 2.0) -> tuple[Bodies, Run]:
    """A strip in the shape of a U closes, and its arms meet."""

    def place(u: np.ndarray) -> np.ndarray:
        s, t, r = 0.3 * (u[:, 0] - 0.5), 0.02 * (u[:, 2] - 0.5), 0.025
        angle = np.clip(s / r, -0.5 * np.pi, 0.5 * np.pi)
        arm = np.clip(np.abs(s) - 0.5 * np.pi * r, 0.0, None)
        return np.column_stack([arm - (r - t) * np.cos(angle), 0.06 * (0.5 - u[:, 1]), (r - t) * np.sin(angle)])

    of = bodies({"strip": lattice((24, 3, 2), place)}, RUBBER, {}, law="barrier", speed=speed, self_contact=True)
    x = of.mesh.points
    v = np.zeros_like(x)
    v[:, 2] = -speed * np.sign(x[:, 2]) * np.clip(10.0 * x[:, 0], 0.0, None)
    of = replace(of, start=of.system.state(x, v))
    return of, follow(of, sx.EnergyMomentum(dt), 0.05, 25)


def folds(dt: float = 1e-3, speed: float = 2.0, bends: int = 2) -> tuple[Bodies, Run]:
    """A strip that goes to and fro closes, and each of its arms meets the next."""
    r, arm = 0.025, 0.1
    piece = arm + np.pi * r

    def place(u: np.ndarray) -> np.ndarray:
        s = u[:, 0] * (bends * piece + arm)
        k = np.minimum(s // piece, bends)
        local, way = s - k * piece, 1.0 - 2.0 * (k % 2)  # arms go forth and back
        angle, along = np.clip(local - arm, 0.0, None) / r, np.minimum(local, arm)
        t = 0.02 * (u[:, 2] - 0.5)
        x = np.where(way > 0.0, along, arm - along) + way * r * np.sin(angle) - t * np.sin(angle)
        z = 2.0 * r * k + r * (1.0 - np.cos(angle)) + way * t * np.cos(angle)
        return np.column_stack([x, 0.06 * (u[:, 1] - 0.5), z])

    mesh = lattice((12 * bends + 12, 3, 2), place)
    of = bodies({"strip": mesh}, RUBBER, {}, law="barrier", speed=speed, self_contact=True)
    v = np.zeros_like(mesh.points)
    v[:, 2] = speed * (1.0 - mesh.points[:, 2] / (r * bends))
    of = replace(of, start=of.system.state(mesh.points, v))
    return of, follow(of, sx.EnergyMomentum(dt), 0.05, 25)


def cradle(dt: float = 1e-3, balls: int = 5) -> tuple[Bodies, Run]:
    """The first of five soft balls in a row hits the others."""
    one = ball(0.05, 3, 2)
    turns = [np.linalg.qr(np.random.default_rng(i).normal(size=(3, 3)))[0] for i in range(balls)]
    parts = {
        f"ball {i + 1}": placed(one, (0.102 * i, 0, 0), turn * np.sign(np.linalg.det(turn)))
        for i, turn in enumerate(turns)
    }
    of = bodies(parts, RUBBER, {"ball 1": ((1.0, 0, 0), (0, 0, 0))}, law="barrier", speed=1.0)
    return of, follow(of, sx.EnergyMomentum(dt), 0.08, 40)


def long_chain(dt: float = 2e-3) -> tuple[Bodies, Run]:
    """The same of eleven links."""
    return chain(dt, 11)


def stack(dt: float = 2e-3, damped: bool = False, boxes: int = 10) -> tuple[Bodies, Run]:
    """Ten boxes, each a little next to and above the one below it, fall on one that is held."""
    parts = {}
    for i in range(boxes):
        turn = 0.2 * i
        turned = np.array([[np.cos(turn), -np.sin(turn), 0], [np.sin(turn), np.cos(turn), 0], [0, 0, 1.0]])
        box = sx.box((0.1, 0.1, 0.04), (3, 3, 1), split="hexahedra", origin=(-0.05, -0.05, 0.0))
        parts[f"box {i + 1}"] = placed(box, (0.003 * (-1) ** i, 0.002 * (i % 3), 0.045 * i), turned)

    def held(mesh: sx.Mesh) -> np.ndarray:
        return np.repeat((mesh.points[:, 2] < 1e-6)[:, None], 3, axis=1)

    def viscosity(mesh: sx.Mesh, solid: sx.Solid, mass: np.ndarray) -> dict[str, object]:
        return {"viscosity": sx.ViscousStress.proportional(solid, 5e-3)} if damped else {}

    rubbing = 0.5 if damped else 0.0
    of = bodies(
        parts, RUBBER, {}, law="barrier", speed=1.0, energies=weight, fixed=held, loads=viscosity, friction=rubbing
    )
    return of, follow(of, sx.EnergyMomentum(dt), 0.6 if damped else 0.3, 60 if damped else 30)


def damped_stack(boxes: int = 10) -> tuple[Bodies, Run]:
    """The same of viscous rubber with friction, until they are at rest."""
    return stack(2e-3, damped=True, boxes=boxes)


SCENES: dict[str, Callable[[], tuple[Bodies, Run]]] = {
    "rings": rings,
    "chain": chain,
    "long chain": long_chain,
    "strip": strip,
    "folds": folds,
    "cradle": cradle,
    "stack": stack,
    "damped stack": damped_stack,
}


def particulars(name: str, of: Bodies, run: Run) -> dict[str, object]:
    """Return what is to be known of a scene next to what it keeps."""
    if name == "cradle":
        speeds = [float(of.mean_velocity(ball, run.end)[0]) for ball in of.contact.surface.names]
        return {"speeds of the balls [m/s]": np.round(speeds, 3).tolist()}
    if name.endswith("chain"):
        most = run.states[int(np.argmax(run.energies["contact"]))]
        contacts, surface = of.contact.contacts(most.q), of.contact.surface
        # The first two nodes are an edge, or a vertex and one of a face of the other body.
        edges = np.diff(surface.bodies_of(contacts.nodes[:, :2]), axis=1)[:, 0] == 0
        return {"share of edge–edge pairs in the forces": float(contacts.forces[edges].sum() / contacts.forces.sum())}
    if name.endswith("stack"):
        tops = [float(state.q[:, 2].max()) for state in run.states]
        kinetic = run.energies["kinetic"]
        return {
            "height at the end [m]": round(tops[-1], 5),
            "kinetic energy at the end / greatest": kinetic[-1] / max(kinetic),
        }
    return {}


def render(name: str, of: Bodies, run: Run, output: Path) -> None:
    """Draw a scene at four times."""
    file = output / f"{name}.vtkhdf".replace(" ", "_")
    file.unlink(missing_ok=True)
    q0, (kind, cells) = of.mesh.points, next(iter(of.mesh.cells.items()))
    with sx.open_series(file, q0, {"bodies": sx.meshes.Block.of({kind: cells})}) as series:
        for state in run.states:
            stress = {"von_mises": {"bodies": of.solid.von_mises(state.q)}}
            series.append(state.t, state.q - q0, point_data={"velocity": state.v}, cell_data=stress)
    times = [run.states[len(run.states) * i // 3 - (i > 0)].t for i in range(4)]
    sx.render_snapshots(sx.read_series(file), (output / f"soft_{name}.png".replace(" ", "_")), times=times)


def main(output: Path, names: list[str], pictures: bool) -> None:
    """Run the scenes, write numbers.json and the pictures."""
    output.mkdir(parents=True, exist_ok=True)
    numbers = {}
    for name in names or SCENES:
        of, run = SCENES[name]()
        numbers[name] = run.numbers() | particulars(name, of, run)
        print(name, json.dumps(numbers[name], indent=1), flush=True)
        (output / "numbers.json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
        if pictures:
            render(name, of, run, output)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(SCENES)}; default: all")
    parser.add_argument("--output", type=Path, default=Path("results/soft_collisions"))
    parser.add_argument("--no-pictures", action="store_true")
    options = parser.parse_args()
    main(options.output, options.names, not options.no_pictures)
