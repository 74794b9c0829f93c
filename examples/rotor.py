"""A rotor whose flexible blades flap and lag on hinges: its frequencies by the speed of rotation, and a run in space.

    python examples/rotor.py [--output DIR] [--turns N]

1. One blade on a flap hinge that is away from the axis: complex modes about its steady rotation, in the frame that
   rotates, against the equations of rotating beams; clamped blades against power series.
2. A rigid blade with flap and lag hinges: Ω √(1 + 3e/2L) and Ω √(3e/2L).
3. Four flexible blades with hinges, and dampers of lag, on a hub whose angle is given, seen from the ground: one blade
   is struck upwards. The frequency of its flap in this run is that of its mode.
"""

import argparse
import json
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from numpy.polynomial.legendre import Legendre, leggauss
from scipy.linalg import eigh
from scipy.optimize import least_squares

import symplex as sx
from symplex.fem.structures import BeamProperties, Frames, Joint, JointLoad, beams, body_particles

BLUE, RED, GREY = "#2c5fa8", "#c0392b", "#888888"
OFFSET, LENGTH, SPEED = 0.25, 4.5, 35.0  # m from the axis to the hinge, m beyond it, rad/s
MASS, FLAP, LAG = 6.0, 1.5e4, 4.5e5  # kg/m, N m²
BLADE = BeamProperties(1e8, (1e7, 1e7), (LAG, FLAP), 2e4, MASS, (1e-3, 1e-3))  # height along z
DAMPER = 700.0  # N m s/rad, of lag
STRUCK = 2.5  # rad/s of flap
# Ω and ω √(ρA/EI) L² of a cantilever that rotates, by power series along it (the method of Wright, Smith, Thresher and
# Wang, J. Appl. Mech. 49 (1982) 197), summed with 60 digits
SERIES = {
    3.0: (4.7972785, 23.3202637, 62.9849675),
    6.0: (7.3603730, 26.8090817, 66.6839144),
    12.0: (13.1701505, 37.6031123, 79.6144785),
}


# -- theory -------------------------------------------------------------------------------------------------------


def rotating_beam(speed: float, offset: float, hinged: bool, modes: int = 3) -> np.ndarray:
    """Return ω √(ρA/EI) L² by Galerkin's method: (EI w″)″ − (T w′)′ = ω² ρA w, out of the plane.

    For Ω √(ρA/EI) L² and the offset of the root over L; T = ½ ρA Ω² ((e + L)² − (e + x)²).
    """
    x, weights = leggauss(28)
    x, weights = 0.5 * (x + 1.0), 0.5 * weights
    basis = [Legendre.basis(k, [0, 1]) for k in range(14)]
    P, P1, P2 = (np.array([(p.deriv(d) if d else p)(x) for p in basis]) for d in range(3))
    w, slope, bend = (x * P, P + x * P1, 2.0 * P1 + x * P2)
    if not hinged:
        w, slope, bend = x * w, w + x * slope, 2.0 * slope + x * bend
    tension = 0.5 * speed**2 * ((offset + 1.0) ** 2 - (offset + x) ** 2)
    stiffness, mass = (weights * bend) @ bend.T + (weights * tension * slope) @ slope.T, (weights * w) @ w.T
    squares = eigh(stiffness, mass, eigvals_only=True)[:modes]
    return np.sqrt(np.maximum(squares, 0.0))


# -- blades -------------------------------------------------------------------------------------------------------


def line(start: np.ndarray, end: np.ndarray, elements: int) -> sx.Mesh:
    """Return a straight line of elements."""
    ends = np.arange(elements + 1, dtype=np.int32)
    points = start + np.linspace(0.0, 1.0, elements + 1)[:, None] * (end - start)
    return sx.Mesh(points, {"line": np.column_stack([ends[:-1], ends[1:]])})


def flap_of_blade(speed: float, elements: int, properties: BeamProperties, length: float, offset: float, hinged: bool):
    """Return the frequencies in rad/s of the lowest modes of one blade out of its plane, about its steady rotation."""
    start = np.array([offset, 0.0, 0.0])
    blade = beams(line(start, start + np.array([length, 0.0, 0.0]), elements), properties, (0.0, 0.0, 1.0))
    root = blade.particles([0])
    held: dict = {"fixed": blade.fixed([0])}
    if hinged:
        held = {"joints": {"flap": Joint("revolute", (root, None), blade.points, start, [0.0, 1.0, 0.0])}}
    system = sx.System(blade.mass, {"blade": blade.energy}, frames=blade.frames, **held)
    frame = sx.modes.rotating_frame(system, (0.0, 0.0, speed)) if speed else system
    at = sx.equilibria.static_equilibrium(frame, blade.points).state
    found = sx.modes.complex_modes(frame, at, 5)
    across = np.abs(found.shapes).max(axis=1).argmax(axis=1) == 2
    return found.eigenvalues.imag[across]


def table_story() -> dict:
    """Compare a clamped blade, of 48 elements, with the frequencies of power series."""
    thin = BeamProperties(1e7, (1e7, 1e7), (1000.0, 1.0), 1.0, 1.0, (1e-7, 1e-7))
    numbers: dict = {}
    for speed, series in SERIES.items():
        found = flap_of_blade(speed, 48, thin, 1.0, 0.0, False)[:3]
        numbers |= {
            f"clamped, speed {speed:g}: frequencies": found.tolist(),
            f"clamped, speed {speed:g}: power series": list(series),
            f"clamped, speed {speed:g}: theory": rotating_beam(speed, 0.0, False).tolist(),
        }
    return numbers


def speed_story() -> tuple[dict, tuple]:
    """Find frequencies of the flexible blade by the speed of rotation, of flap modes and of a rigid blade."""
    speeds, unit = np.linspace(0.0, 45.0, 7), np.sqrt(FLAP / MASS) / LENGTH**2
    found = [flap_of_blade(speed, 32, BLADE, LENGTH, OFFSET, True)[:2] for speed in speeds]
    fine = np.linspace(0.0, 45.0, 91)
    theory = np.array([rotating_beam(s / unit, OFFSET / LENGTH, True, 2) * unit for s in fine])
    at = np.array([rotating_beam(s / unit, OFFSET / LENGTH, True, 2) * unit for s in speeds])
    part = 1.5 * OFFSET / LENGTH
    center, radius = OFFSET + 0.5 * LENGTH, LENGTH / np.sqrt(12.0)
    points, mass = body_particles(MASS * LENGTH, [center, 0.0, 0.0], [radius, 1e-3, 1e-3])
    frames, at_hinge = Frames([[0, 1, 2, 3]], points), [OFFSET, 0.0, 0.0]
    hinges = Joint("universal", (frames.nodes[0], None), points, at_hinge, [0.0, 1.0, 0.0], [0.0, 0.0, 1.0])
    system = sx.System(mass, {}, frames=frames, joints={"hinges": hinges})
    turning = sx.modes.rotating_frame(system, (0.0, 0.0, SPEED))
    rigid = sx.modes.complex_modes(turning, turning.state(points), 2).eigenvalues.imag
    off = np.abs(np.array(found)[1:] / at[1:] - 1.0)
    numbers = {
        "hinged: speeds in rad/s": speeds.tolist(),
        "hinged: frequencies in rad/s": np.array(found).tolist(),
        "hinged: theory in rad/s": at.tolist(),
        "hinged: largest relative difference of the first and second frequency": off.max(axis=0).tolist(),
        "rigid blade: lag and flap over the speed": (rigid / SPEED).tolist(),
        "rigid blade: exact": np.sqrt([part, 1.0 + part]).tolist(),
    }
    return numbers, (speeds, np.array(found), fine, theory, SPEED * np.sqrt([part, 1.0 + part]))


# -- the rotor ----------------------------------------------------------------------------------------------------

BLADES, ELEMENTS, STEPS = 4, 8, 180  # steps in a turn
FIRST = 1 + BLADES  # frames before those of blades: the hub and cuffs


def rotor(in_frame: bool) -> tuple[sx.System, np.ndarray]:
    """Return the rotor, in the frame that rotates with its hub or on a mast whose angle is given, and its points.

    Between the hinges of lag and flap, which are at one place, is a cuff.
    """
    angles, up = 0.5 * np.pi * np.arange(BLADES), np.array([0.0, 0.0, 1.0])
    along = np.column_stack([np.cos(angles), np.sin(angles), np.zeros(BLADES)])
    parts = [line(OFFSET * e, (OFFSET + LENGTH) * e, ELEMENTS) for e in along]
    lines = np.concatenate([part.cells["line"] + k * (ELEMENTS + 1) for k, part in enumerate(parts)])
    blades = beams(sx.Mesh(np.concatenate([part.points for part in parts]), {"line": lines}), BLADE, up)
    bodies = [body_particles(200.0, [0.0, 0.0, 0.0], [0.15, 0.15, 0.1])]
    bodies += [body_particles(2.0, OFFSET * e, [0.05, 0.05, 0.05]) for e in along]
    points = np.concatenate([*(body[0] for body in bodies), blades.points])
    mass = np.concatenate([*(body[1] for body in bodies), blades.mass])
    frames = Frames(np.arange(len(points)).reshape(-1, 4), points)
    hub, joints, fixed = frames.nodes[0], {}, np.zeros(points.shape, bool)
    for k, e in enumerate(along):
        cuff, root = frames.nodes[1 + k], frames.nodes[FIRST + k * (ELEMENTS + 1)]
        joints[f"lag {k}"] = Joint("revolute", (cuff, hub), points, OFFSET * e, up)
        joints[f"flap {k}"] = Joint("revolute", (root, cuff), points, OFFSET * e, np.cross(e, up))
    loads = {f"damper {k}": JointLoad(joints[f"lag {k}"], damping=DAMPER) for k in range(BLADES)}
    if in_frame:
        fixed[hub] = True
    else:
        angle = sx.actions.TimeFunction.steady(SPEED)
        joints["mast"] = Joint("revolute", (hub, None), points, [0.0, 0.0, 0.0], up, angle=angle)
    energies = {"blades": blades.energy.shifted(4 * FIRST)}
    system = sx.System(mass, energies, frames=frames, joints=joints, loads=loads, fixed=fixed)
    return (sx.modes.rotating_frame(system, SPEED * up) if in_frame else system), points


def swing(times: np.ndarray, angle: np.ndarray, near: np.ndarray) -> float:
    """Return the frequency of the first of two swings that an angle consists of, from ones that are near."""

    def residual(frequencies: np.ndarray) -> np.ndarray:
        phases = np.outer(times, frequencies)
        basis = np.column_stack([np.cos(phases), np.sin(phases), np.ones(len(times))])
        return basis @ np.linalg.lstsq(basis, angle)[0] - angle

    return float(least_squares(residual, near, x_scale=near, xtol=1e-12, ftol=1e-12).x[0])


def rotor_story(turns: float) -> tuple[dict, tuple]:
    """Find the modes of the rotor in steady rotation, strike a blade, and compare its flap with its mode."""
    turning, points = rotor(in_frame=True)
    steady = sx.equilibria.static_equilibrium(turning, points).state
    modes = sx.modes.complex_modes(turning, steady, 3 * BLADES)
    lag, flap, second = modes.eigenvalues.reshape(3, BLADES)
    system, _ = rotor(in_frame=False)
    frames = system.frames
    spin = np.zeros((len(frames), 3))
    spin[:, 2] = SPEED
    velocities = np.cross(spin, frames.centers(steady.q))
    struck = slice(FIRST, FIRST + ELEMENTS + 1)
    spin[struck, 1] -= STRUCK
    velocities[struck, 2] += STRUCK * (frames.centers(steady.q)[struck, 0] - OFFSET)
    start = system.state(steady.q, frames.velocities(steady.q, velocities, spin))
    dt = 2.0 * np.pi / SPEED / STEPS
    motion, rows, shapes, drift = sx.EnergyMomentum(dt).start(system, start), [], [], []
    total = system.energies_of(start)["total"]
    times = dt * np.arange(0, round(turns * STEPS) + 1, 3)
    for t in times:
        state = motion.advance(t)
        rows.append([system.joints[f"{hinge} {k}"].angle(state.q) for hinge in ("flap", "lag") for k in range(BLADES)])
        drift.append(abs(motion.energies(state)["balance"] - total))
        shapes.append(frames.centers(state.q)[FIRST:].reshape(BLADES, ELEMENTS + 1, 3))
    energies, rows = motion.energies(state), np.array(rows)
    found = swing(times, rows[:, 0], np.array([flap[0].imag, second[0].imag]))
    kinetic = system.kinetic(start.v)
    numbers = {
        "rotor: frequencies of lag, flap and the second flap over the speed": [
            float(pair[0].imag / SPEED) for pair in (lag, flap, second)
        ],
        "rotor: damping ratio of lag": float(-lag[0].real / abs(lag[0])),
        "rotor: spread of its four flap modes": float(np.ptp(flap.imag) / flap[0].imag),
        "rotor: frequency of flap in the run, over the speed": found / SPEED,
        "rotor: the same, relative to the mode": found / flap[0].imag,
        "rotor: largest flap in rad": float(np.abs(rows[:, 0]).max()),
        "rotor: work of the dampers in J": sum(energies[f"work_damper {k}"] for k in range(BLADES)),
        "rotor: work of the mast in J": energies["work_mast"],
        "rotor: largest difference of energy and work over the kinetic energy": max(drift) / kinetic,
        "rotor: largest violation of a joint": float(np.abs(system.joints.at(state.t).violations(state.q)).max()),
        "rotor: steps": motion.n,
    }
    return numbers, (times, rows, np.array(shapes), np.array(drift) / kinetic)


# -- pictures -----------------------------------------------------------------------------------------------------


def draw(speeds: tuple, run: tuple, file: Path) -> None:
    """Draw frequencies by speed, the rotor in its first turn, angles of its hinges, and the balance of energy."""
    figure = plt.figure(figsize=(11, 9), dpi=90, layout="constrained")
    axes = figure.add_subplot(221)
    at, found, fine, theory, rigid = speeds
    for k, (colour, name) in enumerate(((BLUE, "flap"), (RED, "second flap"))):
        axes.plot(fine, theory[:, k], color=colour, label=f"{name}, theory")
        axes.plot(at, found[:, k], "o", color=colour, markersize=5)
    for n in (1, 2, 3, 4):
        axes.plot(fine, n * fine, color=GREY, linewidth=0.6)
        axes.annotate(f"{n}Ω" if n > 1 else "Ω", (45.2, n * 45.0 - 4.0 * (n == 1)), fontsize=8, color=GREY)
    axes.plot(2 * [SPEED], rigid, "x", color="black", label="rigid blade: lag and flap, exact")
    axes.set(xlabel="speed of rotation in rad/s", ylabel="frequency in rad/s", ylim=(0, 190))
    axes.set(title="a blade on its hinge, 32 elements")
    axes.legend(loc="upper left")
    times, rows, shapes, drift = run
    space = figure.add_subplot(222, projection="3d")
    colours = plt.get_cmap("viridis")(np.linspace(0.0, 0.9, 8))
    for k, colour in enumerate(colours):
        for b, blade in enumerate(shapes[round(k * STEPS / 3 / len(colours))]):
            space.plot(*blade.T, color=colour if b == 0 else "#cccccc", linewidth=2.0 if b == 0 else 0.7)
    space.plot(*shapes[: STEPS // 3, 0, -1].T, color=RED, linewidth=0.8)
    space.set(title="the blade that was struck, in its first turn", zlim=(-0.5, 0.5))
    space.set_box_aspect((3, 3, 0.9))
    axes = figure.add_subplot(223)
    turn = times * SPEED / (2.0 * np.pi)
    axes.plot(turn, np.degrees(rows[:, 0]), color=BLUE, label="flap of the blade that was struck")
    axes.plot(turn, np.degrees(rows[:, BLADES]), color=RED, label="its lag")
    axes.set(xlabel="turns", ylabel="degrees", title="its hinges")
    axes.set_ylim(-4.5, 6.5)
    axes.legend(loc="upper right")
    axes = figure.add_subplot(224)
    axes.semilogy(turn, np.maximum(drift, 1e-17), color=BLUE)
    axes.set(xlabel="turns", ylabel="part of the kinetic energy", ylim=(1e-17, 1e-9), title="energy less work")
    for axes in (figure.axes[0], *figure.axes[2:]):
        axes.grid(alpha=0.25)
    figure.suptitle("A rotor with hinges of flap and lag")
    figure.savefig(file)
    plt.close(figure)


def main(output: Path, turns: float) -> None:
    """Tell the stories, write numbers.json and a picture."""
    output.mkdir(parents=True, exist_ok=True)
    by_speed, speeds = speed_story()
    of_rotor, run = rotor_story(turns)
    numbers = table_story() | by_speed | of_rotor
    draw(speeds, run, output / "rotor.png")
    (output / "numbers.json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    for name, value in numbers.items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("results/rotor"))
    parser.add_argument("--turns", type=float, default=6.0, help="of the rotor in the run")
    options = parser.parse_args()
    main(options.output, options.turns)
