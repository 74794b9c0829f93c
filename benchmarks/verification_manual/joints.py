"""Mechanisms of rigid bodies and beams with joints, against independent solutions and published values."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp

import symplex as sx
from verification_manual.problem import Row, problem

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))  # stories of the examples are checked here as well
import mechanisms
import squeezer

JOINTS = "Joints"


@problem(
    JOINTS, "Double pendulum in space", source="Lagrange's equations in two angles, by DOP853 to 1e-12", within=2e-3
)
def spatial_double_pendulum() -> Iterator[Row]:
    """Two hinges at right angles, 5 and 3 rad/s at the start, after 1 s; the model of `examples/mechanisms.py`."""
    system, start = mechanisms.double_pendulum()
    exact = mechanisms.by_energy(
        mechanisms.pendulum_mass, mechanisms.pendulum_potential, [0.0, 0.0], mechanisms.SPEEDS, np.array([0.0, 1.0])
    )[-1]
    methods = (
        ("energy-momentum, dt = 2.5 ms", sx.EnergyMomentum(0.0025), 1e-4),
        ("RATTLE composed, dt = 10 ms", sx.Composition(sx.Rattle(0.01, {})), 1e-6),
    )
    for name, method, limit in methods:
        end = method.start(system, start).advance(1.0)
        for hinge, target in zip(("upper", "lower"), exact, strict=True):
            found = system.joints[hinge].angle(end.q)
            yield Row(name, f"angle of the {hinge} hinge in rad", float(target), found, scale=1.0, within=limit)
    end = sx.EnergyMomentum(0.005).start(system, start).advance(5.0)
    change = (system.energies_of(end)["total"] - system.energies_of(start)["total"]) / system.kinetic(start.v)
    yield Row("energy-momentum, 1000 steps", "change of energy", 0.0, change, scale=1.0, within=1e-12)
    off = float(np.abs(system.joints.violations(end.q)).max())
    yield Row("energy-momentum, 1000 steps", "violation of joints", 0.0, off, scale=1.0, within=1e-13)


@problem(
    JOINTS, "Four-bar linkage of redundant hinges", source="its equation in one angle, by DOP853 to 1e-12", within=2e-3
)
def four_bar_linkage() -> Iterator[Row]:
    """Four hinges in space, 20 conditions of rank 17; its crank rotates with 8 rad/s at the start, after 1 s."""
    system, start = mechanisms.four_bar()
    exact = mechanisms.by_energy(
        mechanisms.linkage_mass, mechanisms.linkage_potential, [1.2], [mechanisms.SPIN], np.array([0.0, 1.0])
    )[-1, 0]
    end = sx.EnergyMomentum(0.002).start(system, start).advance(1.0)
    angle = 1.2 - system.joints["hinge 0"].angle(end.q)
    found = float(angle + 2.0 * np.pi * np.round((exact - angle) / (2.0 * np.pi)))
    yield Row("energy-momentum, dt = 2 ms", "angle of the crank in rad", float(exact), found)
    change = (system.energies_of(end)["total"] - system.energies_of(start)["total"]) / system.kinetic(start.v)
    yield Row("energy-momentum, dt = 2 ms", "change of energy", 0.0, change, scale=1.0, within=1e-12)
    off = float(np.abs(system.joints.violations(end.q)).max())
    yield Row("energy-momentum, dt = 2 ms", "violation of joints", 0.0, off, scale=1.0, within=1e-13)


@problem(JOINTS, "Andrews' squeezer", source="Test Set for IVP Solvers, Mazzia and Magherini (2008)", within=5e-4)
def andrews_squeezer() -> Iterator[Row]:
    """Seven bodies, ten hinges (50 conditions of rank 41), a motor and a spring, after 30 ms with dt = 20 µs."""
    angles, _, _ = squeezer.follow(2e-5, 50)
    for name, target, found in zip(squeezer.ANGLES, squeezer.PUBLISHED, angles[-1], strict=True):
        yield Row("energy-momentum", f"{name} in rad", target, float(found), scale=1.0)


@problem(
    JOINTS,
    "Slider-crank with a motor",
    source="its equation in one angle, a rigid rod, by DOP853 to 1e-12",
    within=3e-4,
)
def motor_and_slider_crank() -> Iterator[Row]:
    """A rod of 32 beams, 20 mm thick; 0.6 N m after 0.2 s, none from 0.4 s on; energy also with a rod of 4 mm."""
    times, moments = (np.array(part) for part in mechanisms.MOTOR)
    moment = lambda t: np.interp(t, times, moments)  # noqa: E731
    exact = mechanisms.by_energy(
        mechanisms.crank_mass, lambda q: 0.0 * q[0], [0.0], [0.0], np.array([0.0, 0.4]), moment
    )
    for thickness in (0.02, 0.004):
        system, start, _ = mechanisms.slider_crank(thickness, elements=32)
        motion = sx.EnergyMomentum(1e-3).start(system, start)
        if thickness == 0.02:
            found = system.joints["axle"].angle(motion.advance(0.4).q)
            found += 2.0 * np.pi * np.round((exact[-1, 0] - found) / (2.0 * np.pi))
            yield Row("rod of 20 mm", "angle of the crank in rad after 0.4 s", float(exact[-1, 0]), float(found))
        end = motion.advance(0.8)
        energies, by = motion.energies(end), f"rod of {1e3 * thickness:g} mm"
        part = energies["balance"] / energies["work_motor"]
        yield Row(by, "energy less work of the motor, over it, after 0.8 s", 0.0, part, scale=1.0, within=1e-10)
        off = float(np.abs(system.joints.violations(end.q)).max())
        yield Row(by, "violation of joints", 0.0, off, scale=1.0, within=1e-13)


@problem(JOINTS, "Slider-crank with a solid rod", source="the same with a rod of 8 beams", within=1e-3)
def slider_crank_with_a_solid_rod() -> Iterator[Row]:
    """The scenario `examples/solid_rod.toml` for 0.2 s: 16 quadratic hexahedra, on couplings with two pins."""
    rows = {}
    for name, text in (("solid", solid_rod()), ("beams", solid_rod(of_beams=True))):
        built = sx.Scenario.parse(text).build()
        motion = built.integrator.start(built.system, built.state)
        frequencies = sx.modes.natural_modes(built.system, built.state, 4).frequencies
        end, joints = motion.advance(0.2), built.system.joints
        rows[name] = {
            "angle of the crank in rad": joints["axle"].angle(end.q),
            "way of the slider in m": joints["guide"].displacement(end.q),
            "first bending frequency in Hz": frequencies[1],
        }
    for what, found in rows["solid"].items():
        yield Row("solid rod", what, float(rows["beams"][what]), float(found), within=5e-3 if "Hz" in what else None)


@problem(JOINTS, "Slider-crank with a reduced rod", source="the same with the whole rod", within=1e-3)
def slider_crank_with_a_reduced_rod() -> Iterator[Row]:
    """The solid rod of `examples/solid_rod.toml` reduced to its ends and 2, 4, 8 modes, for 0.2 s."""
    rows = {}
    for modes in (None, 2, 4, 8):
        key = "" if modes is None else f'reduced = {{ modes = {modes}, interfaces = ["x_min", "x_max"] }}\n'
        built = sx.Scenario.parse(solid_rod().replace("quadratic = true\n", f"quadratic = true\n{key}")).build()
        frequencies = sx.modes.natural_modes(built.system, built.state, 6).frequencies
        end, joints = built.integrator.start(built.system, built.state).advance(0.2), built.system.joints
        rows[modes] = {
            "angle of the crank in rad": joints["axle"].angle(end.q),
            "way of the slider in m": joints["guide"].displacement(end.q),
            "first bending frequency in Hz": frequencies[1],
            "second bending frequency in the plane in Hz": frequencies[3],
        }
    for modes in (2, 4, 8):
        for what, found in rows[modes].items():
            coarse = modes == 2 and "second" in what
            within = (5e-2 if coarse else 1e-2) if "Hz" in what else None
            yield Row(f"{modes} modes", what, float(rows[None][what]), float(found), within=within)


def solid_rod(of_beams: bool = False) -> str:
    """Return the text of the example for 0.2 s, or of the same with a rod of beams."""
    text = (Path(__file__).parents[2] / "examples" / "solid_rod.toml").read_text(encoding="utf-8")
    if of_beams:
        beam = 'name = "rod"\nmesh = { line = 0.3, bars = 8 }\ntranslate = [0.15, 0, 0]\nup = [0, 0, 1]\n'
        beam += 'section = { kind = "rectangle", height = 4e-3, width = 4e-3 }\n'
        beam += "material = { young = 7e10, poisson = 0.33, density = 2700 }\n"
        rigid = '[[joint]]\nname = "{}"\nkind = "rigid"\nbodies = ["rod", "{} pin"]\nat = [{}, 0, 0]\n'
        ends = rigid.format("big end", "crank", 0.15) + rigid.format("small end", "wrist", 0.45)
        text = f"{text[: text.index('[[body]]')]}[[beam]]\n{beam}{ends}{text[text.index('[[joint]]') :]}"
    run = '[integrator]\nkind = "energy-momentum"\ndt = 1e-3\n[run]\nduration = 0.2\nframes = 2\nsamples = 20\n'
    return text.split("[[probe]]")[0] + run


@problem(
    JOINTS, "Robot arm that hits a wall", source="the elbow's equation of motion with a rigid forearm", within=4e-3
)
def robot_arm_and_wall() -> Iterator[Row]:
    """The scenario `examples/robot_arm.toml` with dt = 2 ms: a given angle of the shoulder, a motor in the elbow."""
    path = Path(__file__).parents[2] / "examples" / "robot_arm.toml"
    scenario = sx.Scenario.read(path).with_values({"integrator.dt": 2e-3, "run.duration": 0.4, "run.frames": 2})
    built = scenario.with_values({"run.samples": 200}).build()
    motion, joints = built.integrator.start(built.system, built.state), built.system.joints
    before = motion.advance(0.32)
    arm = joints["wrist"].point(before.q) - joints["elbow"].point(before.q)
    shoulder = joints["shoulder"].angle(before.q)
    chord = float(np.arctan2(arm[0], -arm[2]) - shoulder)
    exact = float(elbow_angles(joints["shoulder"].given["angle"], np.array([0.0, 0.32]))[-1])
    yield Row("before it hits", "angle of the elbow, to the hand, in rad after 0.32 s", exact, chord)
    given = joints["shoulder"].given["angle"].value(0.32)
    yield Row(
        "before it hits", "angle of the shoulder less what is given", 0.0, shoulder - given, scale=1.0, within=1e-12
    )
    end = motion.advance(0.4)
    energies = motion.energies(end)
    start = built.system.energies_of(built.state)["total"]
    part = (energies["balance"] - start) / energies["work_shoulder"]
    yield Row(
        "after it hit",
        "energy less all work, over that of the shoulder, after 0.4 s",
        0.0,
        part,
        scale=1.0,
        within=1e-11,
    )


def elbow_angles(given: sx.actions.TimeFunction, times: np.ndarray) -> np.ndarray:
    """Return φ [t] of J α̈ + S t·a = τ − d φ̇ − S g sin α, α = ψ + φ, as if the forearm did not bend; ψ(t) is given."""
    upper, length, density = 0.5, 0.45, 2700.0 * np.pi * (0.012**2 - 0.0105**2)
    inertia = 1.5 * (length**2 + 0.4 * 0.05**2) + density * length**3 / 3.0
    first = 1.5 * length + 0.5 * density * length**2

    def rate(t, y):
        psi, speed, second = given.value(t), given.rate(t), given.second(t)
        alpha = psi + y[0]
        elbow = upper * np.array(
            [-second * np.sin(psi) - speed**2 * np.cos(psi), second * np.cos(psi) - speed**2 * np.sin(psi)]
        )
        moment = 9.0 * min(t / 0.2, 1.0) - 0.5 * y[1] - first * 9.81 * np.sin(alpha)
        moment -= first * (elbow @ [np.cos(alpha), np.sin(alpha)])
        return y[1], moment / inertia - second

    return solve_ivp(rate, (0.0, times[-1]), [0.0, 0.0], t_eval=times, rtol=1e-9, atol=1e-12, max_step=0.01).y[0]
