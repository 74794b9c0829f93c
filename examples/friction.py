"""Friction against closed forms: a block on an incline slides, sticks, or is pushed and stops; a ball begins to roll.

    python examples/friction.py [--output DIR]

The block is of rubber, damped a little so that it does not chatter, on a plane of slope 1 : 2. The ball is rigid, and
is thrown along a floor without spin: friction slows it down and turns it, until it rolls with 5/7 of its speed. All by
energy-momentum; the energy with the work of friction and damping is the balance.
"""

import argparse
import json
from pathlib import Path

import numpy as np

import symplex as sx
from symplex.contact import Friction, HalfSpace, RigidBodies, RigidBody

G = 9.81
SLOPE = np.arctan(0.5)
SLIP_SPEED = 1e-3  # m/s
CASES = {"slides": (0.2, 0.0), "sticks": (0.6, 0.0), "stops": (0.6, 1.5)}  # coefficient, speed uphill in m/s


def block(coefficient: float, speed: float, dt: float = 2e-3, end: float = 0.24) -> dict[str, np.ndarray]:
    """Return how far a block goes uphill, how fast, and what energy-momentum keeps of its balance."""
    mesh = sx.box((0.1, 0.1, 0.04), (2, 2, 1), split="hexahedra", origin=(0.0, -0.05, 0.0))
    rubber = sx.NeoHookean.from_young(1e6, 0.3, 1000.0)
    solid = sx.Solid(mesh.points, mesh.cells["hexahedron"], rubber)
    mass = sx.lumped_mass(mesh.points, solid.nodes, rubber.density, len(mesh.points))
    weight = G * np.array([-np.sin(SLOPE), 0.0, -np.cos(SLOPE)])  # x goes uphill, z along the normal
    below = mesh.nodes_of("z_min")
    plane = sx.RigidContact(below, HalfSpace((0.0, 0.0, 0.0), (0.0, 0.0, 1.0)), 1e4)
    energies = {"block": solid, "plane": plane, "weight": sx.Gravity(mass, weight)}
    loads = {
        "friction": Friction(plane, coefficient, slip_speed=SLIP_SPEED),
        "damping": sx.ViscousStress.proportional(solid, 2e-3),
    }
    system = sx.System(mass, energies, loads=loads)
    pressed = mesh.points + np.array([0.0, 0.0, mass.sum() * weight[2] / (1e4 * len(below))])
    t = dt * np.arange(0, round(end / dt) + 1, 5)
    path = sx.record(system, sx.EnergyMomentum(dt), system.state(pressed, (speed, 0.0, 0.0)), t)
    center = np.einsum("n,tn->t", mass / mass.sum(), path.q[:, :, 0] - pressed[:, 0])
    uphill = np.einsum("n,tn->t", mass / mass.sum(), path.v[:, :, 0])
    return {"t": t, "way": center, "speed": uphill} | kept(path)


def way_expected(coefficient: float, speed: float, t: np.ndarray) -> np.ndarray:
    """Return how far a rigid block goes uphill by Coulomb's law."""
    steep, flat = G * np.sin(SLOPE), coefficient * G * np.cos(SLOPE)
    until = speed / (steep + flat)
    up = np.where(t < until, speed * t - 0.5 * (steep + flat) * t**2, 0.5 * speed * until)
    return up - 0.5 * max(steep - flat, 0.0) * np.clip(t - until, 0.0, None) ** 2


def rolling(coefficient: float = 0.2, speed: float = 1.0, dt: float = 1e-3, end: float = 0.3) -> dict[str, np.ndarray]:
    """Return the speed of a ball, that of its surface relative to its centre, and what is kept of the balance."""
    ball = RigidBody.sphere(0.1, density=1000.0, refinements=4).placed((0.0, 0.0, 0.1))
    rigid = RigidBodies({"ball": ball}, 0)
    surface = np.arange(len(ball.mesh.points))
    sunk = 5e-4
    stiffness = 0.25 * ball.properties.mass * G / sunk  # some eight points touch, on the average half as deep
    floor = sx.RigidContact(surface, HalfSpace((0.0, 0.0, 0.0), (0.0, 0.0, 1.0)), stiffness)
    mass = rigid.mass(np.zeros(0))
    contact = rigid.of_points(floor)
    energies = {"floor": contact, "weight": sx.Gravity(mass, (0.0, 0.0, -G))}
    friction = Friction(floor, coefficient, slip_speed=SLIP_SPEED)
    system = sx.System(mass, energies, frames=rigid.frames(), loads={"friction": contact.of_load(friction)})
    q = rigid.positions(np.zeros((0, 3))) - [0.0, 0.0, sunk]
    v = rigid.velocities(np.zeros((0, 3)), {"ball": (speed, 0.0, 0.0)}, {"ball": (0.0, 0.0, 0.0)})
    t = dt * np.arange(0, round(end / dt) + 1, 5)
    path = sx.record(system, sx.EnergyMomentum(dt), system.state(q, v), t)
    moves = [rigid.motion("ball", *of) for of in zip(path.q, path.v, strict=True)]
    forward, around = np.array([(velocity[0], 0.1 * spin[1]) for velocity, spin in moves]).T
    return {"t": t, "speed": forward, "around": around} | kept(path)


def rolling_expected(coefficient: float, speed: float, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the speed of a ball and that of its surface: μ g t is lost, 5/2 of it won, until both are 5/7."""
    lost = np.minimum(coefficient * G * t, 2.0 / 7.0 * speed)
    return speed - lost, 2.5 * lost


def kept(path: sx.Trajectory) -> dict[str, np.ndarray]:
    """Return the work of friction, and the change of the balance relative to the largest part of the energy."""
    scale = max(np.abs(values).max() for values in path.energies.values())
    balance = path.energies["balance"]
    return {"work": path.energies["work_friction"], "error": (balance - balance[0]) / scale}


def draw(blocks: dict[str, dict[str, np.ndarray]], ball: dict[str, np.ndarray], file: Path) -> None:
    """Draw ways, speeds and works."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(13, 3.8), layout="constrained")
    for k, (name, of) in enumerate(blocks.items()):
        left.plot(of["t"], of["way"], "o", markersize=3, color=f"C{k}", label=f"{name}, μ = {CASES[name][0]}")
        left.plot(of["t"], way_expected(*CASES[name], of["t"]), color=f"C{k}")
    left.set(xlabel="time in s", ylabel="way uphill in m", title="a block on an incline of 1 : 2 (lines: Coulomb)")
    t, speeds = ball["t"], rolling_expected(0.2, 1.0, ball["t"])
    for k, name in enumerate(("speed", "around")):
        label = ("speed of the centre", "of the surface about it")[k]
        middle.plot(t, ball[name], "o", markersize=3, color=f"C{k}", label=label)
        middle.plot(t, speeds[k], color=f"C{k}")
    middle.axhline(5.0 / 7.0, color="0.7", linewidth=0.8)
    middle.set(xlabel="time in s", ylabel="speed in m/s", title="a ball begins to roll, μ = 0.2")
    for name, of in (blocks | {"ball": ball}).items():
        right.plot(of["t"], of["work"], label=name)
    right.set(xlabel="time in s", ylabel="work of friction in J", title="what friction takes")
    for axes in (left, middle, right):
        axes.legend()
    figure.savefig(file, dpi=110)


def numbers(blocks: dict[str, dict[str, np.ndarray]], ball: dict[str, np.ndarray]) -> dict[str, dict[str, float]]:
    """Return what is compared with closed forms."""
    out: dict[str, dict[str, float]] = {}
    for name, of in blocks.items():
        expected = way_expected(*CASES[name], of["t"])
        out[name] = {
            "way at the end [m]": of["way"][-1],
            "Coulomb's [m]": expected[-1],
            "largest difference [m]": float(np.abs(of["way"] - expected).max()),
            "speed at the end [m/s]": of["speed"][-1],
        }
    ratio = np.sin(SLOPE) / (CASES["sticks"][0] * np.cos(SLOPE))
    out["sticks"]["speed of creeping [m/s]"] = -SLIP_SPEED * (1.0 - np.sqrt(1.0 - ratio))
    speeds = rolling_expected(0.2, 1.0, ball["t"])
    out["ball"] = {
        "speed at the end / at the start": ball["speed"][-1],
        "of its surface": ball["around"][-1],
        "5/7": 5.0 / 7.0,
        "largest difference [m/s]": float(np.abs([ball["speed"] - speeds[0], ball["around"] - speeds[1]]).max()),
    }
    for name, of in (blocks | {"ball": ball}).items():
        out[name]["change of the balance"] = float(np.abs(of["error"]).max())
    return out


def main(output: Path) -> None:
    """Run, print numbers, draw."""
    output.mkdir(parents=True, exist_ok=True)
    blocks, ball = {name: block(*case) for name, case in CASES.items()}, rolling()
    text = json.dumps(numbers(blocks, ball), indent=1)
    print(text)
    (output / "numbers.json").write_text(text + "\n", encoding="utf-8")
    draw(blocks, ball, output / "friction.png")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("results/friction"))
    main(parser.parse_args().output)
