"""A truss rotates steadily and moves along its axis: section 7.2 of Graham and Jelenić (2006), Figs. 8 to 11, Table 2.

    python examples/truss_equilibrium.py [--output DIR] [--full]

Graham and Jelenić, "Conservative single-step time-integration schemes with higher-order accuracy" (2006). Eight bars
join five nodes in a plane. Where tension and centrifugal force balance, the exact motion is rigid, so that no reference
run is needed. The midpoint rule (SM) sets the truss vibrating; energy-momentum (EM) keeps its shape, but turns it too
slowly; EM-theta turns it exactly and moves it along too fast; A-theta does both exactly. M4 and CM6 stand next to them.

``--full`` takes all of them to the smallest step, by default SM and EM only.
"""

import argparse
import json
from dataclasses import dataclass
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import symplex as sx

STEPS = (1.0, 1 / 4, 1 / 16, 1 / 64)
SAMPLES, TABLE = (3.0, 9.0), (3.0, 6.0, 9.0)  # of Figure 11 and Table 2, which has the step 1/4
END = 9.0
# Of Table 2: how late the rotation is, and how far the translation is ahead, at the times of TABLE.
PAPER = {
    "symplectic-momentum": ((0.0567, 0.114, 0.172), (0.0, 0.0, 0.0)),
    "energy-momentum": ((0.0155, 0.031, 0.0464), (0.0, 0.0, 0.0)),
    "energy-momentum-exact-angle": ((0.0, 0.0, 0.0), (0.0118, 0.0236, 0.0354)),
    "exact-steady-motion": ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
}
COLOURS = {
    "symplectic-momentum": "#c0392b",
    "energy-momentum": "#2c5fa8",
    "energy-momentum-exact-angle": "#2e8b57",
    "exact-steady-motion": "#6f42a6",
    "momentum-conserving-4": "#d08a1d",
    "cayley-magnus-6": "#333333",
}

points = np.array([[0, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0], [1, 0, 0]], dtype=float)
pairs = np.array([[0, 1], [0, 2], [0, 3], [0, 4], [1, 2], [2, 3], [3, 4], [4, 1]], dtype=np.int32)
lengths = np.linalg.norm(points[pairs[:, 0]] - points[pairs[:, 1]], axis=1)
bars = sx.Bars(pairs, sx.measures.GreenStrain(100.0 / lengths, lengths))  # EA = 100
system = sx.System(sx.actions.consistent_bar_mass(points, pairs, 1.0, 1.0, len(points)), {"bars": bars})
steady = sx.equilibria.relative_equilibrium(system, points, [0.0, 0.0, -1.0], velocity=[0.0, 0.0, 0.75])


@dataclass(frozen=True)
class Run:
    """One method at one step."""

    trajectory: sx.Trajectory
    path: sx.equilibria.RelativePath
    errors: dict[float, tuple[float, float]]  # of positions and velocities at a time, relative as in the paper


def method(name: str, dt: float) -> sx.Integrator:
    """Return a scheme of the paper; SM and EM with Newton's method."""
    if name == "symplectic-momentum":
        return sx.Midpoint(dt)
    return sx.EnergyMomentum(dt) if name == "energy-momentum" else sx.GrahamJelenic(dt, name)


def follow(name: str, dt: float) -> Run | None:
    """Follow the truss for 9 s, unless a step can't be taken."""
    try:
        seen = sx.record(system, method(name, dt), steady.state, dt * np.arange(round(END / dt) + 1))
    except sx.SymplexError:
        return None
    errors = {t: errors_at(seen, round(t / dt)) for t in SAMPLES}
    return Run(seen, steady.path(seen.t, seen.q), errors)


def errors_at(seen: sx.Trajectory, n: int) -> tuple[float, float]:
    """Return the relative errors of positions and velocities at a step."""
    exact = steady.exact(seen.t[n])
    both = (seen.q[n], exact.q), (seen.v[n], exact.v)
    r, v = (float(np.linalg.norm(computed - true) / np.linalg.norm(true)) for computed, true in both)
    return r, v


def measures(name: str, dt: float, run: Run | None) -> dict:
    """Return what is claimed about one run."""
    key = f"{name}, dt = 1/{round(1 / dt)}"
    if run is None:
        return {f"{key}: goes through": False}
    energy = run.trajectory.energies["total"]
    momentum, angular = run.trajectory.momentum, run.trajectory.angular_momentum
    numbers = {
        f"{key}: goes through": True,
        f"{key}: largest deformation": float(run.path.deformation.max()),
        f"{key}: least lambda_r": float(run.path.lambda_r.min()),
        f"{key}: greatest lambda_r": float(run.path.lambda_r.max()),
        f"{key}: mean lambda_r": float(1.0 - run.path.lag[-1] / END),
        f"{key}: mean lambda_t": float(run.path.way[-1] / (run.path.velocity * END)),
        f"{key}: largest relative change of the energy": float(np.abs(energy / energy[0] - 1.0).max()),
        f"{key}: largest change of the momentum": float(np.abs(momentum - momentum[0]).max()),
        f"{key}: largest change of the angular momentum": float(np.abs(angular - angular[0]).max()),
    }
    for t, (r, v) in run.errors.items():
        numbers[f"{key}: error of R at t = {t:g}"] = r
        numbers[f"{key}: error of V at t = {t:g}"] = v
    return numbers


def table(runs: dict[tuple[str, float], Run | None]) -> dict:
    """Return Table 2: how late the rotation is, as an angle and as a time, and how far the translation is ahead."""
    numbers = {}
    for name, (lags, leads) in PAPER.items():
        run = runs[name, 1 / 4]
        if run is None:
            continue
        for t, lag, lead in zip(TABLE, lags, leads, strict=True):
            n = round(t / (1 / 4))
            numbers[f"table 2, {name}: lag of the angle at t = {t:g} [rad]"] = float(run.path.lag[n])
            numbers[f"table 2, {name}: period error at t = {t:g} (paper)"] = lag
            numbers[f"table 2, {name}: lag in time at t = {t:g} [s]"] = float(run.path.time_lag[n])
            numbers[f"table 2, {name}: lag over the angle turned at t = {t:g}"] = float(run.path.lag[n] / t)
            numbers[f"table 2, {name}: translation ahead at t = {t:g} [m]"] = float(run.path.ahead[n])
            numbers[f"table 2, {name}: translation error at t = {t:g} (paper)"] = lead
    return numbers


def formulas() -> dict:
    """Return λ_r and λ_t of eqs. 6.5, 6.10 and 6.15 at the step of Table 2."""
    half = 0.5 * (1 / 4)
    alpha = 1.0 + (2.0 * half) ** 2 / 12.0
    return {
        "energy-momentum: lambda_r by eq. 6.5": float(np.arctan(half) / half),
        "momentum-conserving-4: lambda_r by eq. 6.10": float(np.arctan(alpha * half) / half),
        "energy-momentum-exact-angle: lambda_t by eq. 6.15": float(np.tan(half) / half),
    }


# -- pictures -----------------------------------------------------------------------------------------------------


def draw_motion(run: Run, file: Path) -> None:
    """Draw the truss in motion, its energies and a length (Figures 8 to 10)."""
    figure = plt.figure(figsize=(11, 5.2), dpi=100, layout="constrained")
    grid = figure.add_gridspec(2, 2, width_ratios=(1.25, 1.0))
    space = figure.add_subplot(grid[:, 0], projection="3d")
    times = np.arange(0.0, 6.1, 0.75)
    for t in times:
        q, shade = steady.exact(t).q, 0.15 + 0.85 * (1.0 - t / times[-1])
        for a, b in pairs:
            space.plot(*q[[a, b]].T, color="#1c3f72", alpha=shade, linewidth=1.6)
        space.scatter(*q[1], color="#c0392b", alpha=shade, s=18)
    space.set(
        xlabel="x",
        ylabel="y",
        xticks=(-1, 0, 1),
        yticks=(-1, 0, 1),
        zlabel="z",
        title="rotation and translation, t = 0 (dark) to 6",
    )
    space.set_box_aspect((2.0, 2.0, 4.5), zoom=0.95)
    space.view_init(18, -60)
    seen, energy = run.trajectory, figure.add_subplot(grid[0, 1])
    for name, colour, width in (("total", "#333333", 3.0), ("kinetic", "#d08a1d", 1.5), ("bars", "#2c5fa8", 1.5)):
        label = {"bars": "strain"}.get(name, name)
        energy.plot(seen.t, seen.energies[name], color=colour, linewidth=width, label=label)
    energy.set(title="energies, computed by EM", xlabel="time", ylim=(-0.3, 6.0))
    energy.legend(loc="center right")
    distance = figure.add_subplot(grid[1, 1])
    distance.plot(seen.t, np.linalg.norm(seen.q[:, 1] - seen.q[:, 0], axis=1), color="#2c5fa8")
    distance.set(title="distance of the outer nodes from the middle", xlabel="time", ylim=(0.999, 1.008))
    for axes in (energy, distance):
        axes.grid(alpha=0.25)
    figure.savefig(file)
    plt.close(figure)


def draw_errors(runs: dict[tuple[str, float], Run | None], file: Path) -> None:
    """Draw the errors of positions and velocities over the step (Figure 11)."""
    figure, panels = plt.subplots(2, 2, figsize=(10, 7.6), dpi=100, layout="constrained", sharex=True)
    for column, t in zip(panels.T, SAMPLES, strict=True):
        for row, (axes, what) in enumerate(zip(column, ("R", "V"), strict=True)):
            for name, colour in COLOURS.items():
                steps = [dt for dt in STEPS if runs.get((name, dt))]
                errors = [max(run.errors[t][row], 1e-16) for dt in steps if (run := runs[name, dt])]
                axes.loglog(steps, errors, ".-", color=colour, linewidth=1.1, label=name)
            for order, from_above in ((2, 0.3), (4, 1e-4), (6, 1e-6)):
                axes.loglog([1 / 64, 1.0], [from_above / 64**order, from_above], ":", color="#999999", linewidth=0.8)
            axes.set(title=f"error of {what} at t = {t:g}", ylim=(5e-17, 50.0))
            axes.grid(alpha=0.25)
    for axes in panels[1]:
        axes.set(xlabel="Δt")
    handles = panels[0, 0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=6, title="dotted: orders 2, 4, 6")
    figure.savefig(file)
    plt.close(figure)


def main(output: Path, full: bool) -> None:
    """Find the equilibrium, follow it by all methods, write numbers.json and the pictures."""
    output.mkdir(parents=True, exist_ok=True)
    numbers = {
        "stretch": steady.stretch,
        "stretch (paper)": 1.0052720575,
        "largest unbalanced force": steady.residual,
        **{f"{name} energy": value for name, value in steady.energies().items()},
        **formulas(),
    }
    runs = {
        (name, dt): follow(name, dt)
        for name in COLOURS
        for dt in STEPS
        if full or name in ("symplectic-momentum", "energy-momentum") or dt > STEPS[-1]
    }
    numbers |= table(runs)
    for (name, dt), run in runs.items():
        numbers |= measures(name, dt, run)
    shown = runs["energy-momentum", 1 / 16]
    if shown:
        draw_motion(shown, output / "truss_equilibrium.png")
    draw_errors(runs, output / "truss_equilibrium_errors.png")
    (output / "numbers.json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    for name, value in numbers.items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("results/truss_equilibrium"))
    parser.add_argument("--full", action="store_true", help="all methods at the smallest step")
    options = parser.parse_args()
    main(options.output, options.full)
