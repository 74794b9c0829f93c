"""Vibrations of a preloaded and of a rotating structure, and a harmonic response, against closed forms.

    python examples/vibrations.py [--output DIR]

``stretched_beam.toml``: the first frequency of a cantilever under a force along it, from near the load of Euler, where
it vanishes, to a tension of four times that, by the transcendental equation of the beam of Euler and Bernoulli.
``rotating_blade.toml``: first flap and lag of a rotating cantilever (Campbell's diagram), by Ritz's method for
½ ∫ EI w''² + ½ ρ A Ω² (L² − x²)/2 w'² dx, and less Ω² in the plane of rotation. And the response of the beam to a force
at its tip, by modes and directly.
"""

import argparse
import json
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from numpy.polynomial import polynomial
from scipy.linalg import eigh
from scipy.optimize import brentq

import symplex as sx
from symplex.runs.modes import find_modes
from symplex.runs.response import find_response

HERE = Path(__file__).parent
BLUE, RED, GREY = "#2c5fa8", "#c0392b", "#888888"
YOUNG, DENSITY, LENGTH = 70e9, 2700.0, 1.0
LOADS = (-0.98, -0.9, -0.7, -0.4, 0.0, 0.5, 1.0, 2.0, 4.0)  # of that of Euler
SPEEDS = (0.0, 50.0, 100.0, 200.0, 300.0, 400.0)  # rad/s
WEAK = 0.01  # m, the height of the beam


def wave(height: float) -> float:
    """Return √(EI/ρA) in m²/s of a rectangular section."""
    return float(np.sqrt(YOUNG / DENSITY / 12.0) * height)


def under_tension(part: float) -> float:
    """Return (βL)² of a clamped beam under the tension of a part of Euler's load, π² EI/4L², of fixed direction.

    EI w'''' − T w'' = ρ A ω² w, with no moment at the free end, and EI w''' = T w' there.
    """
    t = part * np.pi**2 / 4.0

    def determinant(square: float) -> float:
        # w = C cosh px + S sinh px + c cos sx + d sin sx, p² − s² = t, p s = β²
        root = np.sqrt(t * t / 4.0 + square * square)
        p, s = np.sqrt(root + t / 2.0), np.sqrt(root - t / 2.0)
        # clamped: c = −C, d = −S p/s
        moment = [p * p * np.cosh(p) + s * s * np.cos(s), p * p * np.sinh(p) + s * p * np.sin(s)]
        force = [
            p**3 * np.sinh(p) - s**3 * np.sin(s) - t * (p * np.sinh(p) + s * np.sin(s)),
            p**3 * np.cosh(p) + s * s * p * np.cos(s) - t * p * (np.cosh(p) - np.cos(s)),
        ]
        return float(moment[0] * force[1] - moment[1] * force[0])

    grid = np.linspace(0.02, 12.0, 2400)
    values = [determinant(x) for x in grid]
    first = next(k for k in range(len(grid) - 1) if values[k] * values[k + 1] < 0.0)
    return brentq(determinant, grid[first], grid[first + 1], xtol=1e-13)


def flap(speed: float, terms: int = 10) -> float:
    """Return ω̄ of the first flap at the speed Ω̄, both over √(EI/ρA)/L²: Ritz's method with x², x³ …"""
    x, weight = np.polynomial.legendre.leggauss(2 * terms + 4)
    x, weight = 0.5 * (x + 1.0), 0.5 * weight
    powers = [np.eye(terms + 2)[k + 2] for k in range(terms)]
    w, slope, bend = (np.array([polynomial.polyval(x, polynomial.polyder(p, d)) for p in powers]) for d in range(3))
    stiffness = (bend * weight) @ bend.T + 0.5 * speed**2 * (slope * (weight * (1.0 - x * x))) @ slope.T
    return float(np.sqrt(eigh(stiffness, (w * weight) @ w.T, eigvals_only=True)[0]))


def stretched(axis) -> dict[str, float]:
    """Compare the first frequency under forces along the beam with that of beam theory."""
    scenario = sx.Scenario.read(HERE / "stretched_beam.toml")
    euler = np.pi**2 * YOUNG * WEAK**2 / 12.0 / 4.0  # Pa: of the section
    found = np.array(
        [
            find_modes(scenario.with_values({"load.pull.traction": [part * euler / LENGTH**2, 0.0, 0.0]}), 1)
            .natural.angular[0]
            for part in LOADS
        ]
    )  # fmt: skip
    exact = np.array([under_tension(part) for part in LOADS]) * wave(WEAK)
    line = np.linspace(-0.999, 4.0, 200)
    hertz = 2.0 * np.pi
    axis.plot(line, np.array([under_tension(part) for part in line]) * wave(WEAK) / hertz, color=GREY, label="beam")
    axis.plot(LOADS, found / hertz, "o", color=BLUE, ms=4, label="symplex")
    axis.set(title="A cantilever under a force along it", xlabel="tension / load of Euler", ylabel="frequency / Hz")
    return {
        f"stretched: frequency at {part:g} of Euler's load over that of a beam": float(value)
        for part, value in zip(LOADS, found / exact, strict=True)
    }


def rotating(axis, output: Path) -> dict[str, float]:
    """Compare first flap and lag of the blade with those of beam theory."""
    scenario = sx.Scenario.read(HERE / "rotating_blade.toml")
    numbers, rows = {}, []
    for speed in SPEEDS:
        frame = {"rotating_frame.angular_velocity": [0.0, 0.0, speed or 1e-6]}
        found = find_modes(scenario.with_values(frame), 4)
        omegas, shapes = found.complex.eigenvalues.imag, np.abs(found.complex.shapes)
        along = np.argmax(shapes.max(axis=1), axis=1)  # y in the plane of rotation, z across it
        first = [float(omegas[np.flatnonzero(along == k)[0]]) for k in (2, 1)]
        slow = flap(speed / wave(0.02)) * wave(0.02)
        fast = np.sqrt((flap(speed / wave(0.05)) * wave(0.05)) ** 2 - speed**2)
        rows.append(first)
        numbers[f"rotating: flap at {speed:g} rad/s over that of a beam"] = first[0] / slow
        numbers[f"rotating: lag at {speed:g} rad/s over that of a beam"] = float(first[1] / fast)
        if speed == 100.0:
            found.save(output / "rotating_blade-modes", overwrite=True)
    line, hertz = np.linspace(0.0, SPEEDS[-1], 60), 2.0 * np.pi
    slow = np.array([flap(speed / wave(0.02)) for speed in line]) * wave(0.02)
    fast = np.sqrt((np.array([flap(speed / wave(0.05)) for speed in line]) * wave(0.05)) ** 2 - line**2)
    axis.plot(line, slow / hertz, color=GREY, label="beam")
    axis.plot(line, fast / hertz, color=GREY)
    axis.plot(line, line / hertz, ":", color=GREY, lw=1, label="once a turn")
    for k, (name, colour) in enumerate((("flap", BLUE), ("lag", RED))):
        axis.plot(SPEEDS, np.array(rows)[:, k] / hertz, "o", color=colour, ms=4, label=name)
    axis.set(title="A rotating blade", xlabel="speed / (rad/s)", ylabel="frequency / Hz")
    numbers["rotating: Southwell's coefficient of the first flap"] = (rows[1][0] ** 2 - rows[0][0] ** 2) / SPEEDS[
        1
    ] ** 2
    slow, still = flap(SPEEDS[1] / wave(0.02)), flap(0.0)
    numbers["rotating: the same of a beam"] = (slow**2 - still**2) * wave(0.02) ** 2 / SPEEDS[1] ** 2
    return numbers


def shaken(axis) -> dict[str, float]:
    """Compare the response of the stretched beam by superposition with the direct one."""
    scenario = sx.Scenario.read(HERE / "stretched_beam.toml")
    modal = find_response(scenario)
    some = np.arange(0, 400, 20)
    text = scenario.text.replace("modes = 12\n", "").replace(
        "between = [2, 200]\npoints = 400\n", "frequencies = LIST\n"
    )
    text = text.replace("LIST", str(modal.frequencies[some].tolist()))
    direct = find_response(sx.Scenario.parse(text, scenario.path))
    u, v = modal.places["tip"][:, 2], direct.places["tip"][:, 2]
    axis.semilogy(modal.frequencies, np.abs(u), color=BLUE, label="12 modes")
    axis.semilogy(direct.frequencies, np.abs(v), "o", color=RED, ms=3, label="directly")
    axis.set(title="The stretched beam, 1 N at its tip", xlabel="frequency / Hz", ylabel="amplitude / m")
    k = int(np.argmax(np.abs(u)))
    return {
        "response: frequency of the peak [Hz]": float(modal.frequencies[k]),
        "response: amplitude there [m]": float(np.abs(u[k])),
        "response: largest difference of modes to the direct method over the amplitude there": float(
            (np.abs(u[some] - v) / np.abs(v)).max()
        ),
    }


def main() -> None:
    """Compute, and write numbers and a picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=Path("vibrations"))
    output = parser.parse_args().output
    output.mkdir(parents=True, exist_ok=True)
    figure, axes = plt.subplots(1, 3, figsize=(13.5, 4.0), layout="constrained")
    numbers = stretched(axes[0]) | rotating(axes[1], output) | shaken(axes[2])
    for axis in axes:
        axis.legend(frameon=False, fontsize=8)
    figure.savefig(output / "vibrations.png", dpi=110)
    for what, number in numbers.items():
        print(f"{what:<90} {number:.6g}")
    (output / "numbers.json").write_text(json.dumps(numbers, indent=2, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
