"""Andrews' squeezer: seven bodies and ten hinges in a plane, with a motor and a spring, against published values.

    python examples/squeezer.py [--output DIR] [--full]

The test problem of Giles and of Manning, in the form of Hairer and Wanner (Solving Ordinary Differential Equations II,
section VII.7): the crank rotates 2.5 times in 30 ms. In space its ten hinges are 50 conditions of rank 41. Reference
values of the seven angles at 30 ms are those of the Test Set for IVP Solvers (Mazzia and Magherini, 2008).
"""

import argparse
import json
from itertools import pairwise
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import symplex as sx
from symplex.fem.couplings.interpolation import Interpolation
from symplex.fem.measures.anchors import Anchors
from symplex.fem.structures import Frames, Joint, JointLoad, body_particles

BLUE, RED, GREY = "#2c5fa8", "#c0392b", "#888888"
ANGLES = ("beta", "Theta", "gamma", "Phi", "delta", "Omega", "epsilon")
START = (
    *(-0.0617138900142764496, 0.0, 0.455279819163070380, 0.222668390165885885),
    *(0.487364979543842550, -0.222668390165885885, 1.23054744454982120),
)
PUBLISHED = (
    *(15.81077119629904, -15.75637105984298, 0.04082224013073101, -0.5347301163226948),
    *(0.5244099658805304, 0.5347301163226948, 1.048080741042263),
)
MASSES = (0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498)  # kg
INERTIAS = (2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)  # kg m² about centres of mass
A, B, C = np.array([-0.06934, -0.00227]), np.array([-0.03635, 0.03273]), np.array([0.014, 0.072])  # m
TORQUE, STIFFNESS, LENGTH = 0.033, 4530.0, 0.07785  # N m, N/m, m
END = 0.03  # s


def directions(angle: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the axes of a body at an angle."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([c, s]), np.array([-s, c])


def places(angles) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Return centres of mass [7, 2], the angles [7] of bodies, and the hinges that move."""
    beta, theta, gamma, phi, delta, omega, epsilon = angles
    turned = np.array([beta, beta + theta, gamma, phi + delta, delta, omega + epsilon, epsilon])
    (x1, _), (x2, _), (x3, y3), (_, y4), (x5, y5), (x6, _), (x7, y7) = map(directions, turned)
    pin, upper, lower = 0.007 * x1, A + 0.04 * x5, A - 0.04 * y7
    centers = [
        0.00092 * x1,
        pin - 0.0115 * x2,
        B - 0.01874 * y3 + 0.01043 * x3,
        upper - (0.02 - 0.01421) * y4,
        A + 0.02308 * x5 + 0.00916 * y5,
        lower + (0.02 - 0.01421) * x6,
        A - 0.01228 * y7 - 0.00449 * x7,
    ]
    joint = pin - 0.028 * x2
    hinges = {"pin": pin, "joint": joint, "upper": upper, "lower": lower, "spring": B + 0.02 * x3 - 0.018 * y3}
    return np.array(centers), turned, hinges


def squeezer() -> tuple[sx.System, sx.State]:
    """Return the mechanism at rest."""
    centers, turned, hinges = places(START)
    flat = lambda point: np.array([*point, 0.0])  # noqa: E731
    bodies = []
    for mass, inertia, center, angle in zip(MASSES, INERTIAS, centers, turned, strict=True):
        axes = [flat(axis) for axis in directions(angle)]
        r = np.sqrt(0.5 * inertia / mass)
        bodies.append(body_particles(mass, flat(center), [r, r, r], [*axes, [0.0, 0.0, 1.0]]))
    points, mass = (np.concatenate(column) for column in zip(*bodies, strict=True))
    frames = Frames(np.arange(28).reshape(-1, 4), points)
    ends = {
        "crank": (1, None, np.zeros(2)),
        "pin": (2, 1, hinges["pin"]),
        "joint 3": (3, 2, hinges["joint"]),
        "joint 4": (4, 2, hinges["joint"]),
        "joint 6": (6, 2, hinges["joint"]),
        "lever": (3, None, B),
        "upper": (4, 5, hinges["upper"]),
        "upper ground": (5, None, A),
        "lower": (6, 7, hinges["lower"]),
        "lower ground": (7, None, A),
    }
    joints = {}
    for name, (first, second, at) in ends.items():
        pair = frames.nodes[first - 1], None if second is None else frames.nodes[second - 1]
        joints[name] = Joint("revolute", pair, points, flat(at), [0.0, 0.0, 1.0])
    spring = Anchors([0], flat(C), sx.measures.EngineeringStrain(STIFFNESS, LENGTH))
    energies = {"spring": Interpolation(frames.weights([2], [flat(hinges["spring"])])).of(spring)}
    loads = {"motor": JointLoad(joints["crank"], TORQUE)}
    system = sx.System(mass, energies, frames=frames, joints=joints, loads=loads)
    return system, system.state(points)


def found_angles(system: sx.System, start: sx.State, state: sx.State, before: np.ndarray) -> np.ndarray:
    """Return the seven angles at a state, continuing those before."""
    assert system.frames is not None
    turned = system.frames.rotations(start.q, state.q)
    bodies = places(START)[1] + np.arctan2(turned[:, 1, 0], turned[:, 0, 0])
    beta, second, gamma, fourth, delta, sixth, epsilon = bodies
    found = np.array([beta, second - beta, gamma, fourth - delta, delta, sixth - epsilon, epsilon])
    return found + 2.0 * np.pi * np.round((before - found) / (2.0 * np.pi))


def follow(step: float, samples: int) -> tuple[np.ndarray, dict, np.ndarray]:
    """Return angles [samples + 1, 7], numbers, and the force of the crank's hinge [samples + 1]."""
    system, start = squeezer()
    motion = sx.EnergyMomentum(step).start(system, start)
    rows, forces, off = [np.array(START)], [], []
    for t in np.linspace(0.0, END, samples + 1):
        state = motion.advance(t)
        rows.append(found_angles(system, start, state, rows[-1]))
        forces.append(np.linalg.norm(system.joint_reactions(state)["crank"].force))
        off.append(motion.energies(state)["balance"])
    energies = motion.energies(state)
    numbers = {
        "steps": motion.n,
        "work of the motor in J": energies["work_motor"],
        "largest change of energy less work, over the work": float(np.ptp(off)) / energies["work_motor"],
        "largest violation of a joint": float(np.abs(system.joints.violations(state.q)).max()),
        "corrections in a step": motion.statistics()["corrections"] / motion.n,
    }
    return np.array(rows[1:]), numbers, np.array(forces)


def draw(angles: np.ndarray, forces: np.ndarray, file: Path) -> None:
    """Draw the mechanism at the start, its angles, and the force of the crank's hinge."""
    figure, (shape, middle, right) = plt.subplots(1, 3, figsize=(13, 4.2), dpi=90, layout="constrained")
    _, _, hinges = places(START)
    lines = {
        "K1, K2": [np.zeros(2), hinges["pin"], hinges["joint"]],
        "K3": [B, hinges["joint"], hinges["spring"], B],
        "K4, K5": [hinges["joint"], hinges["upper"], A],
        "K6, K7": [hinges["joint"], hinges["lower"], A],
        "spring": [hinges["spring"], C],
    }
    for (name, line), colour in zip(lines.items(), (BLUE, "#2e8b57", RED, "#8e44ad", GREY), strict=True):
        shape.plot(*np.array(line).T, "o:" if name == "spring" else "o-", color=colour, label=name, markersize=4)
    shape.set(title="at the start", xlabel="x in m", ylabel="y in m", aspect="equal")
    shape.legend(fontsize=8)
    t = 1e3 * np.linspace(0.0, END, len(angles))
    for k in (2, 3, 4, 6):
        middle.plot(t, angles[:, k], label=ANGLES[k])
        middle.plot(t[-1], PUBLISHED[k], "o", color="black", markersize=4)
    middle.set(title="angles; dots: published", xlabel="t in ms", ylabel="rad")
    middle.legend(fontsize=8)
    right.plot(t, forces, color=BLUE)
    right.set(title="force of the ground on the crank", xlabel="t in ms", ylabel="N")
    for axes in (shape, middle, right):
        axes.grid(alpha=0.25)
    figure.savefig(file)
    plt.close(figure)


def main(output: Path, full: bool) -> None:
    """Follow the mechanism with several steps, write numbers.json and a picture."""
    output.mkdir(parents=True, exist_ok=True)
    steps = (4e-5, 2e-5, 1e-5, 5e-6) if full else (4e-5, 2e-5)
    ends, errors, numbers = [], [], {}
    for step in steps:
        angles, numbers, forces = follow(step, 250)
        ends.append(angles[-1])
        errors.append(float(np.abs(angles[-1] - PUBLISHED).max()))
    numbers |= {
        "steps in s": list(steps),
        "largest errors of angles in rad": errors,
        "orders": [float(np.log2(a / b)) for a, b in pairwise(errors)],
        "error extrapolated from the last two": float(np.abs((4.0 * ends[-1] - ends[-2]) / 3.0 - PUBLISHED).max()),
        **{f"{name} at 30 ms": float(value) for name, value in zip(ANGLES, ends[-1], strict=True)},
        **{f"{name} at 30 ms, published": value for name, value in zip(ANGLES, PUBLISHED, strict=True)},
    }
    draw(angles, forces, output / "squeezer.png")
    (output / "numbers.json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    for name, value in numbers.items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("results/squeezer"))
    parser.add_argument("--full", action="store_true", help="smaller steps as well")
    options = parser.parse_args()
    main(options.output, options.full)
