"""Large steps over stiff contact and a stiff bar by Zhang and Skeel's methods, which no paper shows.

    python examples/impact_zhang_skeel.py [--output DIR] [--full]

1. Mass points fly against a stiff wall at all phases of a step: how elastic an impact is depends on β alone. It is
   exactly elastic in the stiff limit if β = 1/(2 − 2 cos(π/m)), m = 2, 3, …: at β = ½ and β = 1. At β = ¼, where
   linear systems are stable, it is not at all.
2. The cube of oblique_impact.py hits its wall with steps that are many times the limit of explicit methods, which the
   wall's stiffness sets: the wall is the stiff part, the body is explicit, and every node is solved by itself. Next to
   it explicit Newmark at a fifth of its limit, and energy-momentum.
3. A swinging truss with one bar that is 10⁵ times stiffer than the others, as the stiff part.

``--full`` takes mesh III for the cube as well, and more steps.
"""

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from time import process_time

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import NullFormatter

import symplex as sx
from symplex.time.stability import stable_step

DURATION, LOOKS = 90e-6, 90
NORMAL = np.array([0.0, -1.0, -1.0]) / np.sqrt(2.0)
COLOURS = {
    "full, beta = 1/2": "#2c5fa8",
    "eq. 19, beta = 1/2": "#2e8b57",
    "full, beta = 0.4": "#d08a1d",
    "full, beta = 1/4": "#c0392b",
    "energy-momentum": "#7d3c98",
    "explicit Newmark": "#555555",
}
SWING, SWING_LOOKS = 2.0, 40


# -- 1. mass points ---------------------------------------------------------------------------------------------------


def restitution(beta: float, h_omega: float, phases: int = 200) -> np.ndarray:
    """Return the speeds after over before the impact on a spring wall of mass points at all phases of a step."""
    system = sx.System(
        np.ones(phases),
        {"wall": sx.RigidContact(np.arange(phases), sx.HalfSpace((0.0,), (1.0,)), stiffness=h_omega**2)},
        dim=1,
    )
    start = system.state(1.0 + (np.arange(phases) + 0.5)[:, None] / phases, np.full((phases, 1), -1.0))
    end = sx.ZhangSkeel(1.0, beta, stiff=("wall",)).start(system, start).advance(12.0)
    return end.v[:, 0]


# -- 2. the cube ------------------------------------------------------------------------------------------------------


def cube(name: str) -> tuple[sx.System, sx.State]:
    """Return the oblique impact of section 6.3 of the force-stepping paper on its mesh of that name."""
    mesh = sx.cube_mesh(name, size=0.1)
    aluminium = sx.NeoHookean(lmbda=60.5e9, mu=26e9, density=2700.0)
    wall = sx.HalfSpace(point=(0.101, 0.101, 0.101), normal=(0, -1, -1), normalize=False)
    energies = {
        "strain": sx.Solid(mesh.points, mesh.cells["tetra"], aluminium),
        "wall": sx.RigidContact.from_penalty(mesh.boundary_nodes, wall, penalty=1e-14),
    }
    mass = sx.lumped_mass(mesh.points, mesh.cells["tetra"], aluminium.density, len(mesh.points))
    system = sx.System(mass, energies)
    return system, system.state(mesh.points, v=np.full(3, 1000.0))


def cube_methods(limit: float, multiples: tuple[int, ...]) -> dict[tuple[str, float], sx.Integrator]:
    """Return the methods by name and step, in units of the limit of explicit ones."""
    found: dict[tuple[str, float], sx.Integrator] = {("explicit Newmark", 0.2): sx.Newmark(0.2 * limit)}
    for times in multiples:
        h = times * limit
        found |= {
            ("full, beta = 1/2", times): sx.ZhangSkeel(h, 0.5, stiff=("wall",)),
            ("eq. 19, beta = 1/2", times): sx.ZhangSkeel(h, 0.5, "simplified", stiff=("wall",)),
            ("full, beta = 0.4", times): sx.ZhangSkeel(h, 0.4, stiff=("wall",)),
            ("full, beta = 1/4", times): sx.ZhangSkeel(h, 0.25, stiff=("wall",)),
        }
    return found | {("energy-momentum", multiples[-1]): sx.EnergyMomentum(multiples[-1] * limit)}


@dataclass(frozen=True)
class Run:
    """What was seen of a motion at times t [k]: energies, momenta [k, dim], positions [k, n, dim]; and its cost."""

    t: np.ndarray
    energies: dict[str, np.ndarray]
    momentum: np.ndarray
    q: np.ndarray
    seconds: float
    steps: float


def follow(system: sx.System, start: sx.State, method: sx.Integrator, duration: float, looks: int) -> Run:
    """Follow a motion, looking at equal intervals."""
    method = method.fit(system, start, duration / looks)
    motion, recorder, seconds = method.start(system, start), sx.Recorder(), 0.0
    for t in duration / looks * np.arange(looks + 1):
        begin = process_time()
        state = motion.advance(t)
        seconds += process_time() - begin
        recorder(motion, state)
    path = recorder.trajectory()
    return Run(path.t, path.energies, path.momentum, path.q, seconds, motion.statistics()["steps"])


def impact_measures(name: str, system: sx.System, run: Run) -> dict:
    """Return what is claimed about one impact."""
    e, mass = run.energies, system.mass.sum()
    total = e["kinetic"][-1] + e["strain"][-1]
    numbers = {
        f"{name}: steps": run.steps,
        f"{name}: processor time [s]": run.seconds,
        f"{name}: speed away from the wall after / towards it before": float(
            run.momentum[-1] @ NORMAL / (1000 * np.sqrt(2) * mass)
        ),
        f"{name}: change of the energy by the impact, relative": float(total / e["total"][0] - 1.0),
        f"{name}: largest change of the momentum along x, relative": float(
            np.abs(run.momentum[:, 0] / run.momentum[0, 0] - 1.0).max()
        ),
    }
    if "modified_total" in e:
        change = e["modified_total"] / e["modified_total"][0] - 1.0
        numbers[f"{name}: largest change of the modified energy, relative"] = float(np.abs(change).max())
    return numbers


# -- 3. the truss -----------------------------------------------------------------------------------------------------


def truss(ratio: float = 1e5) -> tuple[sx.System, sx.State]:
    """Return a truss of four bays of 1 m that hangs on one hinge and falls from the level, one diagonal stiff."""
    upper = np.column_stack([np.arange(5.0), np.zeros(5)])
    points = np.vstack([upper, upper - [0.0, 1.0]])
    bays = np.arange(4)
    chords = np.vstack([np.column_stack([bays, bays + 1]), np.column_stack([bays + 5, bays + 6])])
    posts, diagonals = np.column_stack([np.arange(5), np.arange(5, 10)]), np.column_stack([bays, bays + 6])
    soft, rod = np.vstack([chords, posts, np.delete(diagonals, 1, axis=0)]), diagonals[1:2]

    def bars(pairs: np.ndarray, rigidity: float) -> sx.Bars:
        length = np.linalg.norm(points[pairs[:, 1]] - points[pairs[:, 0]], axis=1)
        return sx.Bars(pairs, sx.measures.GreenStrain(rigidity / length, length), dim=2)

    mass = np.ones(10)
    energies = {"bars": bars(soft, 2e4), "rod": bars(rod, 2e4 * ratio), "weight": sx.Gravity(mass, (0.0, -9.81))}
    fixed = np.zeros((10, 2), bool)
    fixed[0] = True
    system = sx.System(mass, energies, dim=2, fixed=fixed)
    return system, system.state(points)


def truss_methods(limit: float) -> dict[tuple[str, float], sx.Integrator]:
    """Return the methods by name and step, in units of the limit of explicit ones; the most exact one first."""
    found: dict[tuple[str, float], sx.Integrator] = {("explicit Newmark", 0.8): sx.Newmark(0.8 * limit)}
    for times in (12, 25, 50, 100):
        h = times * limit
        found |= {
            ("full, beta = 0.4", times): sx.ZhangSkeel(h, 0.4, stiff=("rod",)),
            ("eq. 19, beta = 1/2", times): sx.ZhangSkeel(h, 0.5, "simplified", stiff=("rod",)),
        }
    return found | {("energy-momentum", times): sx.EnergyMomentum(times * limit) for times in (25, 100)}


def truss_measures(name: str, run: Run, reference: Run) -> dict:
    """Return what is claimed about one swing: the error of the tip's path, and of energies relative to the fall's."""
    e = run.energies
    fall = reference.energies["kinetic"].max()
    numbers = {
        f"{name}: steps": run.steps,
        f"{name}: processor time [s]": run.seconds,
        f"{name}: largest error of the tip [m]": float(np.abs(run.q[:, 4] - reference.q[:, 4]).max()),
        f"{name}: largest change of the energy, relative": float(np.ptp(e["total"]) / fall),
    }
    if "modified_total" in e:
        numbers[f"{name}: largest change of the modified energy, relative"] = float(np.ptp(e["modified_total"]) / fall)
    return numbers


# -- pictures ---------------------------------------------------------------------------------------------------------


def draw_points(beta: np.ndarray, h_omega: tuple[float, ...], panel: plt.Axes) -> dict:
    """Draw how elastic impacts are over β; return what is claimed about it."""
    numbers = {}
    for stiffness, colour in zip(h_omega, ("#2c5fa8", "#d08a1d"), strict=True):
        speeds = np.array([restitution(b, stiffness) for b in beta])
        panel.fill_between(
            beta, speeds.min(axis=1), speeds.max(axis=1), color=colour, alpha=0.5, label=f"hω = {stiffness:g}"
        )
    panel.set(title="mass points: speed after / before", xlabel="β", ylim=(0.0, 2.5))
    panel.legend()
    for b, name in ((0.25, "1/4"), (0.4, "0.4"), (0.5, "1/2"), (1.0, "1")):
        speeds = restitution(b, 1000.0)
        numbers[f"points, beta = {name}: least speed after / before"] = float(speeds.min())
        numbers[f"points, beta = {name}: greatest speed after / before"] = float(speeds.max())
    return numbers


def draw_cube(runs: dict[tuple[str, float], Run], shown: float, panels: np.ndarray) -> None:
    """Draw energies over time at one step, and what the impact leaves over steps."""
    for (name, times), run in runs.items():
        if times == shown and name.startswith("full") and "1/4" not in name:
            e, micro = run.energies, 1e6 * run.t
            panels[0].plot(micro, e["total"] / e["total"][0], ":", color=COLOURS[name], linewidth=1.0)
            panels[0].plot(micro, e["modified_total"] / e["total"][0], color=COLOURS[name], linewidth=1.4, label=name)
    panels[0].set(title=f"cube, {shown:g} × limit: modified energy (dotted: energy)", xlabel="µs", ylim=(0.0, 3.0))
    panels[0].legend(loc="upper right")
    for name, colour in COLOURS.items():
        of_name = [(times, run) for (other, times), run in runs.items() if other == name]
        left = [(run.energies["kinetic"] + run.energies["strain"])[-1] / run.energies["total"][0] for _, run in of_name]
        style = "o" if len(of_name) == 1 else "o-"
        panels[1].plot([times for times, _ in of_name], left, style, color=colour, label=name)
    panels[1].axhline(1.0, color="black", linewidth=0.6)
    panels[1].set(
        title="cube: energy after / before the impact", xlabel="step / explicit limit", xscale="log", ylim=(0, 3)
    )
    panels[1].legend(fontsize="small")


def draw_truss(runs: dict[tuple[str, float], Run], reference: Run, panels: np.ndarray) -> None:
    """Draw the error of the tip and of energies over the step."""
    fall = reference.energies["kinetic"].max()
    for name, colour in COLOURS.items():
        of_name = [(times, run) for (other, times), run in runs.items() if other == name and run is not reference]
        if not of_name:
            continue
        times = [t for t, _ in of_name]
        style = "o" if len(times) == 1 else "o-"
        panels[0].loglog(
            [run.seconds for _, run in of_name],
            [np.abs(run.q[:, 4] - reference.q[:, 4]).max() for _, run in of_name],
            style,
            color=colour,
            label=name,
        )
        panels[1].loglog(times, [np.ptp(run.energies["total"]) / fall for _, run in of_name], style, color=colour)
        if all("modified_total" in run.energies for _, run in of_name):
            modified = [np.ptp(run.energies["modified_total"]) / fall for _, run in of_name]
            panels[1].loglog(times, modified, "s:", color=colour, label=f"{name}: modified energy")
    panels[0].axvline(reference.seconds, color=COLOURS["explicit Newmark"], linestyle=":", label="explicit Newmark's")
    panels[0].set(title="truss: error of the tip", xlabel="processor time [s]", ylabel="m")
    panels[0].legend(fontsize="small")
    panels[1].set(
        title="truss: change of the energy / energy of the fall", xlabel="step / explicit limit", ylim=(1e-10, 1)
    )
    panels[1].legend(fontsize="small")


def main(output: Path, full: bool) -> None:
    """Do all three, write numbers.json and the picture."""
    output.mkdir(parents=True, exist_ok=True)
    figure, panels = plt.subplots(2, 3, figsize=(15, 8.4), dpi=90, layout="constrained")
    numbers = draw_points(np.linspace(0.25, 1.25, 401 if full else 41), (1000.0, 6.0), panels[0, 0])
    multiples = (3, 6, 15, 30) if full else (6, 15, 30)
    for mesh in ("III", "I") if full else ("I",):
        system, start = cube(mesh)
        limit = stable_step(system, start.q)
        body, _ = cube(mesh)
        del body.energies["wall"]
        numbers[f"cube {mesh}: explicit limit [ns]"] = 1e9 * limit
        numbers[f"cube {mesh}: the same of the body alone [ns]"] = 1e9 * stable_step(body, start.q)
        runs = {}
        for (name, times), method in cube_methods(limit, multiples).items():
            label = f"cube {mesh}, {name}, {times:g} x limit"
            try:
                runs[name, times] = follow(system, start, method, DURATION, LOOKS)
            except sx.SymplexError as error:  # β = 1/4
                numbers[f"{label}: stopped"] = str(error)
                continue
            numbers |= impact_measures(label, system, runs[name, times])
    draw_cube(runs, multiples[-2], panels[0, 1:])
    system, start = truss()
    limit = stable_step(system, start.q)
    numbers["truss: explicit limit [ms]"] = 1e3 * limit
    runs = {}
    for (name, times), method in truss_methods(limit).items():
        label = f"truss, {name}, {times:g} x limit"
        try:
            runs[name, times] = follow(system, start, method, SWING, SWING_LOOKS)
        except sx.SymplexError as error:  # the stiff bar buckles
            numbers[f"{label}: stopped"] = str(error)
            continue
        numbers |= truss_measures(label, runs[name, times], next(iter(runs.values())))
    reference = runs["explicit Newmark", 0.8]
    draw_truss(runs, reference, panels[1, :2])
    for times, colour in ((12, "#2c5fa8"), (50, "#d08a1d")):
        path = runs["full, beta = 0.4", times].q[:, 4]
        panels[1, 2].plot(*path.T, "o-", color=colour, markersize=3, linewidth=0.8, label=f"{times} × limit, full")
    panels[1, 2].plot(*reference.q[:, 4].T, "k.", markersize=2, label="explicit Newmark")
    panels[1, 2].set(title="truss: path of the tip", aspect="equal")
    panels[1, 2].legend(fontsize="small")
    for axes in panels.ravel():
        axes.grid(alpha=0.25)
        axes.xaxis.set_minor_formatter(NullFormatter())
    figure.savefig(output / "impact_zhang_skeel.png")
    plt.close(figure)
    (output / "numbers.json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    for name, value in numbers.items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("results/impact_zhang_skeel"))
    parser.add_argument("--full", action="store_true", help="mesh III as well, and more steps")
    options = parser.parse_args()
    main(options.output, options.full)
