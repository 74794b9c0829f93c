"""Five small problems that distinguish integrators, for docs/learn/which-integrator.md.

    OMP_NUM_THREADS=1 python benchmarks/which_integrator.py [--docs docs] [--problems contact long stiff rotating heat]

With ``--docs DIR`` the tables between the markers of DIR/learn/which-integrator.md and the pictures
DIR/pictures/which_*.png are rewritten.
"""

import argparse
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import process_time

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from scipy.integrate import solve_ivp

import symplex as sx
from symplex.time.integrator import FixedStepIntegrator

COLOURS = ("#b03a2e", "#d68910", "#7d6608", "#1e8449", "#1f4e79", "#6c3483", "#515a5a")


@dataclass(frozen=True)
class Curve:
    """What one method did: its row of the table, and what is drawn over time."""

    name: str
    cells: tuple[str, ...]
    t: np.ndarray
    y: np.ndarray


@dataclass(frozen=True)
class Problem:
    """A table and a picture; ``label`` is what the picture shows."""

    title: str
    columns: tuple[str, ...]
    curves: list[Curve]
    label: str
    time: str
    logarithmic: bool = False


def recorded(
    system: sx.System, method: sx.Integrator, state: sx.State, times: np.ndarray
) -> tuple[sx.Trajectory | str, float]:
    """Return the trajectory, as far as it came, or why there is none; and the processor time in s."""
    began, recorder = process_time(), sx.Recorder()
    stopped = "nothing was computed"
    try:
        if isinstance(method, FixedStepIntegrator):
            method = method.fit(system, state, times[1] - times[0])
        for now in sx.march(system, method, state, times, observers=[recorder]):
            if not np.abs(now.v).max() < 1e6:
                break
    except sx.SymplexError as error:
        stopped = str(error)
    found = recorder.trajectory()
    return found if len(found.t) else stopped, process_time() - began


def change(values: np.ndarray, scale: float) -> np.ndarray:
    """Return how far values [k, ...] are from the first one, in parts of a scale."""
    difference = np.reshape(values - values[0], (len(values), -1))
    return np.linalg.norm(difference, axis=1) / scale


def number(value: float) -> str:
    """Return a number in a table: what is below round-off's usual accumulation keeps its power of ten."""
    return f"{value:.1e}" if np.isfinite(value) else "–"


def energy_of(method: sx.Integrator, found: sx.Trajectory) -> np.ndarray:
    """Return the energy that a method means."""
    return found.energies[getattr(method, "energy", "total")]


def runs(
    system: sx.System,
    state: sx.State,
    times: np.ndarray,
    methods: dict[str, sx.Integrator],
    own: Callable[[sx.Trajectory], tuple[str, ...]],
    shown: Callable[[sx.Integrator, sx.Trajectory], np.ndarray],
) -> list[Curve]:
    """Return what each method did: change of its energy and of the angular momentum, numbers of the problem, time."""
    curves = []
    for name, method in methods.items():
        found, seconds = recorded(system, method, state, times)
        if isinstance(found, str):
            curves.append(Curve(name, ("refused: " + found.rstrip("."),), np.empty(0), np.empty(0)))
            continue
        energy = energy_change(method, found).max()
        turning = change(found.angular_momentum, float(np.linalg.norm(found.angular_momentum[0])) or np.inf).max()
        came = "" if len(found.t) == len(times) else f" (stopped at {found.t[-1]:.3g} s)"
        curves.append(
            Curve(
                name,
                (number(energy) + came, number(turning) if turning else "–", *own(found), f"{seconds:.2g}"),
                found.t,
                shown(method, found),
            )
        )
    return curves


def energy_change(method: sx.Integrator, found: sx.Trajectory) -> np.ndarray:
    """Return the change of the energy over time, in parts of the initial kinetic energy."""
    return change(energy_of(method, found), abs(found.energies["kinetic"]).max()) + 1e-17


def contact() -> Problem:
    """A rubber bar falls obliquely on a stiff floor at 3 m/s."""
    mesh = sx.box((0.2, 0.05, 0.05), (8, 2, 2))
    c, s = np.cos(np.pi / 6), np.sin(np.pi / 6)
    points = mesh.points @ np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]]) + [0.0, 0.0, 0.01]
    cells, rubber = mesh.cells["tetra"], sx.NeoHookean.from_young(2e6, 0.4, 1100.0)
    system = sx.System(
        sx.lumped_mass(points, cells, rubber.density, len(points)),
        {
            "bar": sx.Solid(points, cells, rubber),
            "floor": sx.RigidContact(mesh.boundary_nodes, sx.HalfSpace((0.0, 0.0, 0.0), (0.0, 0.0, 1.0)), 1e6),
        },
    )
    state = system.state(points, np.tile([0.0, 0.0, -3.0], (len(points), 1)))
    dt = 5e-4
    methods = {
        "`Newmark`, explicit, its own step": sx.Newmark("auto"),
        "`Newmark.trapezoidal`": sx.Newmark.trapezoidal(dt),
        "`HilberHughesTaylor`, α = −0.1": sx.HilberHughesTaylor(dt, -0.1),
        "`Midpoint`": sx.Midpoint(dt),
        "`EnergyMomentum`": sx.EnergyMomentum(dt),
        "`ForceStepping`, grid 0.1 mm": sx.ForceStepping(grid=1e-4),
    }

    def rebound(found: sx.Trajectory) -> tuple[str, ...]:
        return (f"{found.momentum[-1, 2] / system.mass.sum():.2f}",)

    curves = runs(system, state, np.linspace(0.0, 0.05, 101), methods, rebound, energy_change)
    return Problem(
        "A bar hits a stiff floor",
        ("energy", "mean velocity after it in m/s", "s"),
        [Curve(one.name, (one.cells[0], *one.cells[2:]), one.t, one.y) for one in curves],
        "change of the energy / kinetic energy",
        "time in s",
        logarithmic=True,
    )


def long() -> Problem:
    """Three masses on springs turn and vibrate for 2000 turns; large amplitudes."""
    q = np.array([[1.0, 0.0, 0.0], [-0.5, 0.75**0.5, 0.0], [-0.5, -(0.75**0.5), 0.0]])
    springs = sx.Bars(sx.measures.all_pairs(3), sx.measures.EngineeringStrain([20.0, 30.0, 40.0], 3**0.5))
    system = sx.System(np.array([1.0, 2.0, 3.0]), {"springs": springs})
    omega = 1.0
    v = omega * np.stack([-q[:, 1], q[:, 0], np.zeros(3)], axis=1) * np.array([[1.0], [1.6], [0.5]])
    state = system.state(q, v)
    dt = 0.1
    methods = {
        "`Newmark`, explicit": sx.Newmark(dt),
        "`Newmark.trapezoidal`": sx.Newmark.trapezoidal(dt),
        "`HilberHughesTaylor`, α = −0.1": sx.HilberHughesTaylor(dt, -0.1),
        "`Midpoint`": sx.Midpoint(dt),
        "`EnergyMomentum`": sx.EnergyMomentum(dt),
        "`Composition(Newmark, 6)`": sx.Composition(sx.Newmark(2 * dt), 6),
        "`GrahamJelenic`, order 6": sx.GrahamJelenic(2 * dt),
    }

    def drift(found: sx.Trajectory) -> tuple[str, ...]:
        energy = found.energies["total"]
        tenth = len(energy) // 10
        return (number(abs(energy[-tenth:].mean() - energy[:tenth].mean()) / found.energies["kinetic"][0]),)

    curves = runs(system, state, np.linspace(0.0, 1000.0, 501), methods, drift, energy_change)
    return Problem(
        "Three masses on springs, 10 000 steps of 0.1 s",
        ("energy", "angular momentum", "drift of the energy", "s"), curves,
        "change of the energy / kinetic energy", "time in s", logarithmic=True,
    )  # fmt: skip


def stiff() -> Problem:
    """A pendulum on a stiff rod: ω = 1000 /s, steps of 0.01 s."""
    q = np.array([[0.0, 0.0], [1.0, 0.0]])
    mass, fixed = np.ones(2), sx.fixed_mask(2, [([0], "xy")], dim=2)
    weight, rod = sx.Gravity(mass, (0.0, -9.81)), sx.measures.RigidBars.between(q, [[0, 1]])
    spring = sx.Bars([[0, 1]], sx.measures.EngineeringStrain(1e6, 1.0), dim=2)
    system = sx.System(mass, {"weight": weight, "rod": spring}, dim=2, fixed=fixed)
    rigid = sx.System(mass, {"weight": weight}, dim=2, fixed=fixed)
    times, dt = np.linspace(0.0, 10.0, 201), 0.01

    exact = solve_ivp(
        lambda t, y: [y[1], -9.81 * np.cos(y[0])], (0, 10), [0.0, 0.0], t_eval=times, rtol=1e-12, atol=1e-12
    ).y[0]
    path = np.stack([np.cos(exact), np.sin(exact)], axis=1)

    def distance(found: sx.Trajectory) -> np.ndarray:
        return np.linalg.norm(found.q[:, 1] - path[: len(found.t)], axis=1)

    methods = {
        "`Newmark`, explicit": sx.Newmark(dt),
        "`Newmark.trapezoidal`": sx.Newmark.trapezoidal(dt),
        "`HilberHughesTaylor`, α = −0.1": sx.HilberHughesTaylor(dt, -0.1),
        "`Midpoint`": sx.Midpoint(dt),
        "`EnergyMomentum`": sx.EnergyMomentum(dt),
        "`ZhangSkeel`": sx.ZhangSkeel(dt, 0.4),
    }

    def own(found: sx.Trajectory) -> tuple[str, ...]:
        return (number(distance(found).max()),)

    def shown(method: sx.Integrator, found: sx.Trajectory) -> np.ndarray:
        return distance(found) + 1e-17

    curves = runs(system, system.state(q), times, methods, own, shown)
    curves += runs(rigid, rigid.state(q), times, {"`Rattle`, the rod rigid": sx.Rattle(dt, {"rod": rod})}, own, shown)
    return Problem(
        "A pendulum on a stiff rod: step 0.01 s, ω = 1000 /s",
        ("energy", "distance from the rigid pendulum in m", "s"),
        [Curve(one.name, one.cells[:1] + one.cells[2:], one.t, one.y) for one in curves],
        "distance from the rigid pendulum in m", "time in s",
    )  # fmt: skip


def rotating() -> Problem:
    """A rubber block rotates steadily, 20 steps each turn."""
    mesh = sx.box((0.3, 0.2, 0.1), (3, 2, 1), split="hexahedra")
    cells, rubber = mesh.cells["hexahedron"], sx.NeoHookean.from_young(1e6, 0.3, 1100.0)
    mass = sx.lumped_mass(mesh.points, cells, rubber.density, len(mesh.points))
    system = sx.System(mass, {"block": sx.Solid(mesh.points, cells, rubber)})
    omega = 50.0
    start = sx.equilibria.relative_equilibrium(system, mesh.points, omega=[0.0, 0.0, omega])
    turn = 2 * np.pi / omega
    dt, times = turn / 20, np.linspace(0.0, 20 * turn, 401)
    methods = {
        "`Newmark.trapezoidal`": sx.Newmark.trapezoidal(dt),
        "`HilberHughesTaylor`, α = −0.1": sx.HilberHughesTaylor(dt, -0.1),
        "`Midpoint`": sx.Midpoint(dt),
        "`EnergyMomentum`": sx.EnergyMomentum(dt),
        "`GrahamJelenic`, energy-momentum-exact-angle": sx.GrahamJelenic(dt, "energy-momentum-exact-angle"),
        "`GrahamJelenic`, cayley-magnus-4": sx.GrahamJelenic(dt, "cayley-magnus-4"),
        "`GrahamJelenic`, cayley-magnus-6": sx.GrahamJelenic(dt, "cayley-magnus-6"),
    }
    size = np.linalg.norm(mesh.points - mesh.points.mean(axis=0), axis=1).max()

    def error(found: sx.Trajectory) -> np.ndarray:
        exact = np.array([start.exact(t).q for t in found.t])
        return np.linalg.norm(found.q - exact, axis=2).max(axis=1) / size

    def own(found: sx.Trajectory) -> tuple[str, ...]:
        return (number(error(found)[-1]),)

    curves = runs(system, start.state, times, methods, own, lambda method, found: error(found) + 1e-17)
    return Problem(
        "A block rotates steadily, 20 steps a turn",
        ("energy", "angular momentum", "error after 20 turns / radius", "s"), curves,
        "error of the positions / radius", "time in s", logarithmic=True,
    )  # fmt: skip


def heat() -> Problem:
    """400 oscillators in a heat bath at ωh = 1."""
    n = 400
    system = sx.System(np.ones(n), {"springs": sx.Penalty(sx.measures.OnPlane(np.arange(n), [0.0], [1.0]), 1.0)}, dim=1)
    state = system.state(np.zeros((n, 1)))
    times = np.arange(0.0, 401.0, 1.0)
    inner = {
        "`Newmark`, explicit": sx.Newmark(1.0),
        "`Midpoint`": sx.Midpoint(1.0),
        "`EnergyMomentum`": sx.EnergyMomentum(1.0),
        "`Newmark.trapezoidal`": sx.Newmark.trapezoidal(1.0),
    }
    curves = []
    for name, method in inner.items():
        bath = sx.Langevin(method, temperature=1.0, rate=0.2, seed=1, boltzmann=1.0)
        found, seconds = recorded(system, bath, state, times)
        if isinstance(found, str):
            raise SystemExit(found)
        kinetic, positions = (np.mean(x**2, axis=(1, 2)) for x in (found.v, found.q))
        settled = found.t > 50.0
        cells = f"{kinetic[settled].mean():.3f}", f"{positions[settled].mean():.3f}", f"{seconds:.2g}"
        mean = np.cumsum(positions[settled]) / np.arange(1, settled.sum() + 1)
        curves.append(Curve(f"`Langevin` over {name}", cells, found.t[settled], mean))
    return Problem(
        "Oscillators in a heat bath, ωh = 1",
        ("⟨m v²⟩/k_B T", "⟨k x²⟩/k_B T", "s"), curves, "mean of k x²/k_B T up to then", "time",
    )  # fmt: skip


PROBLEMS: dict[str, Callable[[], Problem]] = {
    "contact": contact, "long": long, "stiff": stiff, "rotating": rotating, "heat": heat,
}  # fmt: skip


def table(problem: Problem) -> str:
    """Return the table in Markdown."""
    rows = ["| method | " + " | ".join(problem.columns) + " |", "| --- |" + " --- |" * len(problem.columns)]
    for one in problem.curves:
        cells = one.cells + ("",) * (len(problem.columns) - len(one.cells))
        rows.append(f"| {one.name} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def draw(problem: Problem, file: Path) -> None:
    """Draw the curves."""
    figure, axes = plt.subplots(figsize=(8.4, 3.4), layout="constrained")
    for one, colour in zip(problem.curves, COLOURS, strict=False):
        axes.plot(one.t, one.y, color=colour, linewidth=1.1, label=one.name.replace("`", ""))
    if problem.logarithmic:
        axes.set_yscale("log")
        axes.set_ylim(1e-17, 1e3)
    axes.set(xlabel=problem.time, ylabel=problem.label, title=problem.title)
    axes.grid(alpha=0.25)
    figure.legend(loc="outside right upper", fontsize=8)
    figure.savefig(file, dpi=85)
    plt.close(figure)


def main() -> None:
    """Run, print, and write what is requested."""
    parser = argparse.ArgumentParser(description="Five small problems that distinguish integrators.")
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=list(PROBLEMS))
    parser.add_argument("--docs", type=Path, help="write the tables and pictures of learn/which-integrator.md here")
    arguments = parser.parse_args()
    for name in arguments.problems:
        problem = PROBLEMS[name]()
        text = table(problem)
        print(f"\n{problem.title}\n\n{text}", flush=True)
        if arguments.docs:
            page = arguments.docs / "learn" / "which-integrator.md"
            mark = re.compile(rf"(<!-- {name}: .*? -->\n).*?(<!-- end of {name} -->)", re.DOTALL)
            written, count = mark.subn(lambda m, text=text: m[1] + text + "\n" + m[2], page.read_text("utf-8"))
            if count != 1:
                raise SystemExit(f"{page} has no place for the table of '{name}'.")
            page.write_text(written, "utf-8")
            draw(problem, arguments.docs / "pictures" / f"which_{name}.png")


if __name__ == "__main__":
    main()
