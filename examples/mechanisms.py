"""Mechanisms of rigid bodies and beams: a double pendulum, a four-bar linkage and a slider-crank with a flexible rod.

    python examples/mechanisms.py [--output DIR] [--full]

1. A double pendulum in space, of two hinges at right angles, against its equations in two angles by DOP853.
2. A planar four-bar linkage of four hinges, whose 20 conditions have rank 17, against its equation in one angle.
3. A slider-crank with a motor and a rod of beams: energy less the work of the motor, and how far the rod bends.
"""

import argparse
import json
from itertools import pairwise
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from scipy.integrate import solve_ivp

import symplex as sx
from symplex.fem.structures import Frames, Joint, JointLoad, Section, beams, body_particles

BLUE, RED, GREY = "#2c5fa8", "#c0392b", "#888888"
G = 9.81


def built(bodies: list) -> tuple[np.ndarray, np.ndarray, Frames]:
    """Return positions and masses of particles, and frames, of bodies (mass, centre, radii, axes)."""
    parts = [body_particles(*body) for body in bodies]
    points, mass = (np.concatenate(column) for column in zip(*parts, strict=True))
    return points, mass, Frames(np.arange(len(points)).reshape(-1, 4), points)


def by_energy(mass_of, potential, start, rates, times: np.ndarray, load=lambda t: 0.0) -> np.ndarray:
    """Return coordinates [t, d] of Lagrange's equations for T = ½ q̇·M(q)q̇, V(q) and f(t), slopes by complex steps."""
    d = len(start)

    def rate(t, y):
        q, v = y[:d], y[d:]
        slopes, forces = np.zeros((d, d, d)), np.zeros(d)
        for k in range(d):
            ahead = np.array(q, complex)
            ahead[k] += 1e-30j
            slopes[k], forces[k] = mass_of(ahead).imag / 1e-30, potential(ahead).imag / 1e-30
        bend = np.einsum("kij,k,j->i", slopes, v, v) - 0.5 * np.einsum("kij,i,j->k", slopes, v, v)
        return np.concatenate([v, np.linalg.solve(mass_of(np.array(q)).real, load(t) - forces - bend)])

    found = solve_ivp(rate, (0.0, times[-1]), [*start, *rates], "DOP853", times, rtol=1e-12, atol=1e-12)
    return found.y[:d].T


# -- a double pendulum in space -------------------------------------------------------------------------------------

UPPER, LOWER = 0.4, 0.3  # m, lengths of the bars
MASSES, RADII = (1.2, 0.8), ((0.02, 0.03, 0.12), (0.03, 0.02, 0.1))
SPEEDS = (5.0, 3.0)  # rad/s at the start


def about(axis: int, angle) -> np.ndarray:
    """Return the matrix of a rotation about x or y."""
    c, s, zero, one = np.cos(angle), np.sin(angle), 0.0 * angle, 0.0 * angle + 1.0
    rows = (
        [[one, zero, zero], [zero, c, -s], [zero, s, c]]
        if axis == 0
        else [[c, zero, s], [zero, one, zero], [-s, zero, c]]
    )
    return np.array(rows)


def pendulum_places(q) -> list[np.ndarray]:
    """Return centres and rotation matrices of both bars for the angles of both hinges."""
    first = about(1, q[0])
    second = first @ about(0, q[1])
    knee = first @ [0.0, 0.0, -UPPER]
    return [0.5 * knee, first, knee + second @ [0.0, 0.0, -0.5 * LOWER], second]


def pendulum_mass(q) -> np.ndarray:
    """Return the mass matrix of both angles."""
    places, out = pendulum_places(q), np.zeros((2, 2), complex)
    axes = [np.array([0.0, 1.0, 0.0]), places[1] @ [1.0, 0.0, 0.0]]
    knee = places[1] @ [0.0, 0.0, -UPPER]
    for body, (mass, radii) in enumerate(zip(MASSES, RADII, strict=True)):
        center, turn = places[2 * body], places[2 * body + 1]
        second = np.square(radii)
        inertia = turn @ np.diag(mass * (second.sum() - second)) @ turn.T
        spins = axes if body else [axes[0], np.zeros(3)]
        arms = [center, center - knee] if body else [center, center]
        speeds = [np.cross(spin, arm) for spin, arm in zip(spins, arms, strict=True)]
        for i in range(2):
            for j in range(2):
                out[i, j] += mass * (speeds[i] @ speeds[j]) + spins[i] @ inertia @ spins[j]
    return out


def pendulum_potential(q):
    """Return the potential of the weights."""
    places = pendulum_places(q)
    return G * (MASSES[0] * places[0][2] + MASSES[1] * places[2][2])


def double_pendulum() -> tuple[sx.System, sx.State]:
    """Return the pendulum, hanging, with velocities of its hinges."""
    places = pendulum_places(np.zeros(2))
    bodies = [(MASSES[k], places[2 * k], RADII[k]) for k in (0, 1)]
    points, mass, frames = built(bodies)
    hinges = {
        "upper": Joint("revolute", (frames.nodes[0], None), points, [0.0, 0.0, 0.0], [0.0, 1.0, 0.0]),
        "lower": Joint("revolute", (frames.nodes[1], frames.nodes[0]), points, [0.0, 0.0, -UPPER], [1.0, 0.0, 0.0]),
    }
    system = sx.System(mass, {"weight": sx.Gravity(mass, (0.0, 0.0, -G))}, frames=frames, joints=hinges)
    spin = np.array([[0.0, SPEEDS[0], 0.0], [SPEEDS[1], SPEEDS[0], 0.0]])
    of_centers = [np.cross(spin[0], places[0]), np.cross(spin[0], [0.0, 0.0, -UPPER])]
    of_centers[1] = of_centers[1] + np.cross(spin[1], [0.0, 0.0, -0.5 * LOWER])
    return system, system.state(points, frames.velocities(points, of_centers, spin))


def pendulum_story(full: bool) -> tuple[dict, tuple]:
    """Compare methods with DOP853, and follow energy."""
    system, start = double_pendulum()
    end, shown = 1.0, np.linspace(0.0, 4.0, 201)
    exact = by_energy(pendulum_mass, pendulum_potential, [0.0, 0.0], SPEEDS, np.array([0.0, end]))[-1]
    angles = lambda q: np.array([joint.angle(q) for joint in system.joints.values()])  # noqa: E731

    def error(method) -> float:
        return float(np.abs(angles(method.start(system, start).advance(end).q) - exact).max())

    steps = (0.01, 0.005, 0.0025)
    by_steps = [error(sx.EnergyMomentum(h)) for h in steps]
    of_fourth = [error(sx.Composition(sx.Rattle(h, {}))) for h in (0.02, 0.01)]
    motion, drift = sx.EnergyMomentum(0.005).start(system, start), []
    total = system.energies_of(start)["total"]
    kinetic = system.kinetic(start.v)
    path, count = [], 10_000 if full else 2_000
    for t in shown:
        path.append(angles(motion.advance(t).q))
    times = 0.005 * np.arange(len(shown) * 4, count + 1, 10)
    for t in times:
        state = motion.advance(t)
        drift.append(abs(system.energies_of(state)["total"] - total) / kinetic)
    reference = by_energy(pendulum_mass, pendulum_potential, [0.0, 0.0], SPEEDS, shown)
    numbers = {
        "double pendulum: errors of angles at 1 s by energy-momentum, dt = 10, 5, 2.5 ms": by_steps,
        "double pendulum: orders": [float(np.log2(a / b)) for a, b in pairwise(by_steps)],
        "double pendulum: errors by RATTLE composed to fourth order, dt = 20, 10 ms": of_fourth,
        "double pendulum: order of RATTLE composed": float(np.log2(of_fourth[0] / of_fourth[1])),
        "double pendulum: steps": motion.n,
        "double pendulum: largest change of energy over the kinetic energy at the start": max(drift),
        "double pendulum: largest violation of a joint": float(np.abs(system.joints.violations(state.q)).max()),
    }
    return numbers, (shown, np.array(path), reference, times, np.array(drift))


# -- a four-bar linkage ---------------------------------------------------------------------------------------------

GROUND = 0.8  # m between the hinges on the ground
BARS = (0.4, 0.95, 0.7)  # m: crank, coupler, rocker
DENSITY, SPIN = 1.5, 8.0  # kg/m; rad/s of the crank


def linkage_corners(angle) -> np.ndarray:
    """Return the corners [4, 2] of the linkage for the angle of the crank, from x to z."""
    a, b, c = BARS
    pin = np.array([a * np.cos(angle), a * np.sin(angle)])
    along = np.array([GROUND, 0.0]) - pin
    distance = np.sqrt(along @ along)
    part = (b * b - c * c + distance**2) / (2.0 * distance)
    height = np.sqrt(b * b - part**2)
    along = along / distance
    top = pin + part * along + height * np.array([-along[1], along[0]])
    return np.array([[0.0 * angle, 0.0 * angle], pin, top, [GROUND + 0.0 * angle, 0.0 * angle]])


def linkage_mass(q) -> np.ndarray:
    """Return ∂²T/∂φ̇² from velocities of corners per speed of the crank, which follow from the lengths of the bars."""
    corners = linkage_corners(q[0])
    first, top, rocker = corners[1], corners[2], corners[2] - corners[3]
    speed = np.array([-first[1], first[0]])
    coupler = top - first
    # The end of the coupler moves across the rocker, at a rate r with (r k × rocker − speed) · coupler = 0.
    across = np.array([-rocker[1], rocker[0]])
    speeds = [0.0 * speed, speed, across * (speed @ coupler) / (across @ coupler), 0.0 * speed]
    energy = 0.0
    for length, (u, v) in zip(BARS, pairwise(speeds), strict=True):
        energy = energy + DENSITY * length / 3.0 * (u @ u + u @ v + v @ v)
    return np.array([[energy]])


def linkage_potential(q):
    """Return the potential of the weights."""
    corners = linkage_corners(q[0])
    return sum(DENSITY * b * G * 0.5 * (u[1] + v[1]) for b, (u, v) in zip(BARS, pairwise(corners), strict=True))


def four_bar(angle: float = 1.2) -> tuple[sx.System, sx.State]:
    """Return the linkage with its crank at an angle, which rotates."""
    flat = linkage_corners(angle)
    corners = np.column_stack([flat[:, 0], np.zeros(4), flat[:, 1]])
    across, bodies = np.array([0.0, 1.0, 0.0]), []
    for length, (a, b) in zip(BARS, pairwise(corners), strict=True):
        along = (b - a) / length
        axes = np.array([along, across, np.cross(along, across)])
        # A thin bar: ρL³/12 about y; the other numbers do not matter in the plane.
        r = length / np.sqrt(12.0)
        bodies.append((DENSITY * length, 0.5 * (a + b), [np.sqrt(r * r - 1e-4), 0.05, 0.01], axes))
    points, mass, frames = built(bodies)
    ends = ((0, None), (1, 0), (2, 1), (2, None))
    of = lambda k: None if k is None else frames.nodes[k]  # noqa: E731
    joints = {
        f"hinge {k}": Joint("revolute", (of(a), of(b)), points, corners[k], across) for k, (a, b) in enumerate(ends)
    }
    system = sx.System(mass, {"weight": sx.Gravity(mass, (0.0, 0.0, -G))}, frames=frames, joints=joints)
    step = 1e-30
    moved = linkage_corners(angle + 1j * step).imag / step * SPIN
    speeds = np.column_stack([moved[:, 0], np.zeros(4), moved[:, 1]])
    spins = [
        np.cross(b - a, v - u) / length**2
        for length, (a, b), (u, v) in zip(BARS, pairwise(corners), pairwise(speeds), strict=True)
    ]
    of_centers = [0.5 * (u + v) for u, v in pairwise(speeds)]
    return system, system.state(points, frames.velocities(points, of_centers, spins))


def linkage_story(full: bool) -> tuple[dict, tuple]:
    """Compare the angle of the crank with DOP853, and show forces that are determined and those that are not."""
    system, start = four_bar()
    hinge, end = system.joints["hinge 0"], 1.0
    exact = by_energy(linkage_mass, linkage_potential, [1.2], [SPIN], np.array([0.0, end]))[-1, 0]
    errors = []
    for h in (0.008, 0.004, 0.002):
        angle = 1.2 - hinge.angle(sx.EnergyMomentum(h).start(system, start).advance(end).q)
        errors.append(abs(float(np.mod(angle - exact + np.pi, 2.0 * np.pi)) - np.pi))
    motion = sx.EnergyMomentum(0.004).start(system, start)
    total, kinetic = system.energies_of(start)["total"], system.kinetic(start.v)
    drift, paths, forces = [], [], []
    for t in np.linspace(0.0, 1.0, 126):
        state = motion.advance(t)
        center = system.frames.centers(state.q)
        paths.append(center)
        forces.append(system.joint_reactions(state)["hinge 0"].force)
    count = 10_000 if full else 1_000
    for t in 0.004 * np.arange(260, count + 1, 10):
        state = motion.advance(t)
        drift.append(abs(system.energies_of(state)["total"] - total) / kinetic)
    reactions = system.joint_reactions(state)
    numbers = {
        "four-bar linkage: conditions": system.joints.size,
        "four-bar linkage: free motions": 18 - int(np.linalg.matrix_rank(_gradients(system, start.q), tol=1e-9)),
        "four-bar linkage: errors of the crank's angle at 1 s, dt = 8, 4, 2 ms": errors,
        "four-bar linkage: orders": [float(np.log2(a / b)) for a, b in pairwise(errors)],
        "four-bar linkage: steps": motion.n,
        "four-bar linkage: largest change of energy over the kinetic energy at the start": max(drift),
        "four-bar linkage: largest violation of a joint": float(np.abs(system.joints.violations(state.q)).max()),
        "four-bar linkage: corrections in a step": motion.statistics()["corrections"] / motion.n,
        "four-bar linkage: joints whose forces are determined": sum(r.determined for r in reactions.values()),
    }
    return numbers, (np.array(paths), np.array(forces))


def _gradients(system: sx.System, q: np.ndarray) -> np.ndarray:
    """Return resultants of conditions on frames as a matrix."""
    joints = system.joints
    out = np.zeros((joints.size, 6 * len(system.frames)))
    found = joints.resultants(q, joints.gradients(q)).reshape(joints.size, 2, 6)
    for c, sides in enumerate(joints.frame):
        for side, frame in enumerate(sides):
            if frame >= 0:
                out[c, 6 * frame : 6 * frame + 6] += found[c, side]
    return out


# -- a slider-crank with a flexible rod -----------------------------------------------------------------------------

CRANK, ROD, ELEMENTS = 0.15, 0.3, 8
MOTOR = [0.0, 0.2, 0.4], [0.0, 0.6, 0.0]  # s, N m
ALUMINIUM = sx.NeoHookean.from_young(7e10, 0.33, 2700.0)


def slider_crank(
    thickness: float, motor=MOTOR, material=ALUMINIUM, elements: int = ELEMENTS
) -> tuple[sx.System, sx.State, np.ndarray]:
    """Return the mechanism, straight, with a rod of a square section; and the particles of nodes along the rod."""
    line = np.linspace(0.0, 1.0, elements + 1)[:, None] * [ROD, 0.0, 0.0] + [CRANK, 0.0, 0.0]
    ends = np.arange(elements + 1, dtype=np.int32)
    mesh = sx.Mesh(line, {"line": np.column_stack([ends[:-1], ends[1:]])})
    rod = beams(mesh, Section.rectangle(thickness, thickness).of(material), up=(0.0, 0.0, 1.0))
    crank, crank_mass = body_particles(0.12, [0.5 * CRANK, 0.0, 0.0], [0.043, 0.01, 0.01])
    slider, slider_mass = body_particles(0.5, [CRANK + ROD, 0.0, 0.0], [0.02, 0.02, 0.02])
    n = len(rod.points)
    points, mass = np.concatenate([rod.points, crank, slider]), np.concatenate([rod.mass, crank_mass, slider_mass])
    own = np.arange(n, n + 8).reshape(2, 4)
    frames = Frames(np.concatenate([rod.frames.nodes, own]), points)
    first, last = rod.frames.nodes[[0, -1]]
    axis = [0.0, 0.0, 1.0]
    joints = {
        "axle": Joint("revolute", (own[0], None), points, [0.0, 0.0, 0.0], axis),
        "pin": Joint("revolute", (first, own[0]), points, [CRANK, 0.0, 0.0], axis),
        "wrist": Joint("revolute", (last, own[1]), points, [CRANK + ROD, 0.0, 0.0], axis),
        "guide": Joint("prismatic", (own[1], None), points, [CRANK + ROD, 0.0, 0.0], [1.0, 0.0, 0.0]),
    }
    loads = {"motor": JointLoad(joints["axle"], motor)}
    system = sx.System(mass, {"rod": rod.energy}, frames=frames, joints=joints, loads=loads)
    return system, system.state(points), rod.frames.nodes


def crank_mass(q: np.ndarray, thickness: float = 0.02, density: float = 2700.0) -> np.ndarray:
    """Return M [1, 1] of the crank's angle, with a rigid rod."""
    sine, cosine = np.sin(q[0]), np.cos(q[0])
    lean = np.sqrt(ROD**2 - (CRANK * sine) ** 2)
    pin = np.array([-CRANK * sine, CRANK * cosine])  # velocities at a rate of 1
    end = np.array([-CRANK * sine - CRANK**2 * sine * cosine / lean, 0.0 * sine])
    mass, turn = density * thickness**2 * ROD, CRANK * cosine / lean
    rod = mass / 3.0 * (pin @ pin + pin @ end + end @ end) + mass * thickness**2 / 12.0 * turn**2
    crank = 0.12 * (0.25 * CRANK**2 + 0.043**2 + 0.01**2)
    return np.array([[crank + rod + 0.5 * (end @ end)]])


def crank_story(full: bool) -> tuple[dict, tuple]:
    """Follow the motor's work, and how the rod bends."""
    end = 2.0 if full else 0.8
    times, numbers, rows = np.linspace(0.0, end, round(end / 0.004) + 1), {}, {}
    for name, thickness in (("flexible", 0.004), ("stiff", 0.02)):
        system, start, rod = slider_crank(thickness)
        motion, found, off = sx.EnergyMomentum(0.001).start(system, start), [], []
        for t in times:
            state = motion.advance(t)
            angle, shift = system.joints["axle"].angle(state.q), system.joints["guide"].displacement(state.q)
            middle = state.q[rod].mean(axis=1)
            chord = middle[-1] - middle[0]
            across = np.cross(chord, middle[ELEMENTS // 2] - middle[0])[2] / np.linalg.norm(chord)
            exact = CRANK * np.cos(angle) + np.sqrt(ROD**2 - (CRANK * np.sin(angle)) ** 2) - CRANK - ROD
            found.append((angle, shift, across, shift - exact))
            off.append(abs(motion.energies(state)["balance"]))
        energies, rows[name] = motion.energies(state), np.array(found)
        label = f"slider-crank, {name} rod"
        numbers |= {
            f"{label}: work of the motor in J": energies["work_motor"],
            f"{label}: largest difference of energy and work over the work": max(off) / energies["work_motor"],
            f"{label}: largest violation of a joint": float(np.abs(system.joints.violations(state.q)).max()),
            f"{label}: largest deflection of the rod's middle in mm": 1e3 * float(np.abs(rows[name][:, 2]).max()),
            f"{label}: largest distance of the slider from that with a rigid rod in mm": 1e3
            * float(np.abs(rows[name][:, 3]).max()),
            f"{label}: steps": motion.n,
            f"{label}: corrections in a step": motion.statistics()["corrections"] / motion.n,
        }
    return numbers, (times, rows)


# -- pictures -------------------------------------------------------------------------------------------------------


def draw(pendulum: tuple, linkage: tuple, crank: tuple, file: Path) -> None:
    """Draw angles of the pendulum, paths and forces of the linkage, and the slider-crank."""
    figure, panels = plt.subplots(3, 2, figsize=(11, 11), dpi=90, layout="constrained")
    shown, path, reference, times, drift = pendulum
    for k, (colour, name) in enumerate(((BLUE, "upper hinge"), (RED, "lower hinge"))):
        panels[0, 0].plot(shown, np.unwrap(path[:, k]), color=colour, label=name)
        panels[0, 0].plot(shown, reference[:, k], ":", color="black", linewidth=1.0, label="DOP853" if k else None)
    panels[0, 0].set(title="double pendulum in space, dt = 5 ms", xlabel="t in s", ylabel="angle in rad")
    panels[0, 0].legend()
    panels[0, 1].semilogy(times, np.maximum(drift, 1e-17), color=BLUE)
    panels[0, 1].set(
        title="its energy less that at the start", xlabel="t in s", ylabel="part of kinetic energy", ylim=(1e-17, 1e-10)
    )
    paths, forces = linkage
    for k, (colour, name) in enumerate(((BLUE, "crank"), (RED, "coupler"), (GREY, "rocker"))):
        panels[1, 0].plot(paths[:, k, 0], paths[:, k, 2], color=colour, label=f"middle of the {name}")
    corners = linkage_corners(1.2)
    panels[1, 0].plot(corners[:, 0], corners[:, 1], "o-", color="black", linewidth=2.0, label="at the start")
    panels[1, 0].set(title="four-bar linkage, one second", xlabel="x in m", ylabel="z in m", aspect="equal")
    panels[1, 0].legend(fontsize=8)
    when = np.linspace(0.0, 1.0, len(forces))
    for k, (colour, name) in enumerate(((BLUE, "x"), (GREY, "y"), (RED, "z"))):
        panels[1, 1].plot(when, forces[:, k], color=colour, label=f"along {name}")
    panels[1, 1].set(title="force of the ground on the crank", xlabel="t in s", ylabel="N")
    panels[1, 1].legend()
    when, rows = crank
    for name, colour in (("flexible", RED), ("stiff", BLUE)):
        panels[2, 0].plot(when, 1e3 * rows[name][:, 1], color=colour, label=f"{name} rod")
        panels[2, 1].plot(when, 1e3 * rows[name][:, 2], color=colour, label=f"{name} rod")
    panels[2, 0].set(title="slider-crank with a motor: the slider", xlabel="t in s", ylabel="displacement in mm")
    panels[2, 1].set(title="middle of the rod", xlabel="t in s", ylabel="deflection in mm")
    panels[2, 0].legend()
    panels[2, 1].legend()
    for axes in panels.ravel():
        axes.grid(alpha=0.25)
    figure.suptitle("Mechanisms by the energy-momentum method")
    figure.savefig(file)
    plt.close(figure)


def main(output: Path, full: bool) -> None:
    """Tell the three stories, write numbers.json and a picture."""
    output.mkdir(parents=True, exist_ok=True)
    stories = [story(full) for story in (pendulum_story, linkage_story, crank_story)]
    numbers = {name: value for found, _ in stories for name, value in found.items()}
    draw(*(shown for _, shown in stories), output / "mechanisms.png")
    (output / "numbers.json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    for name, value in numbers.items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("results/mechanisms"))
    parser.add_argument("--full", action="store_true", help="10⁴ steps each")
    options = parser.parse_args()
    main(options.output, options.full)
