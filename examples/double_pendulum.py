"""The double pendulum by multipliers and by penalties: section 4.1 of Tao and Owhadi (2014), Figures 1 and 2.

    python examples/double_pendulum.py [--output DIR] [--full]

Two rods hang on each other. SHAKE and RATTLE keep them rigid; Newmark's method, with its equations solved and with one
iteration of Newton's method, Zhang and Skeel's and energy-momentum take them as stiff springs, at 20 times the step
that velocity Verlet and the variational Euler method may. The reference is the motion of the two angles. From the
penalised run come multipliers by the moving average of eq. 8, and with larger penalties the order of their error.

``--full`` also measures errors against steps and processor time.
"""

import argparse
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import process_time

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from hanging_rods import HangingRods, Motion

import symplex as sx
from papers.linearly_implicit import LinearlyImplicitNewmark
from papers.variational_euler import VariationalEuler
from symplex.errors import StepFailed

OMEGA, BETA, STEP, END = 20.0, 0.4, 0.1, 50.0
WINDOW, SHOWN = 0.2, 20.0  # of the average of eq. 8, and how long
pendulum = HangingRods([(0.0, -1.0), (1.0, -2.0)])
soft = pendulum.penalised(OMEGA)


@dataclass(frozen=True)
class Run:
    """Positions [k, 3, 2] at the times of the reference, and energies [k]."""

    q: np.ndarray
    energy: np.ndarray


def times(step: float, end: float = END) -> np.ndarray:
    """Return the times of steps to the end."""
    return step * np.arange(round(end / step) + 1)


def penalised(method: sx.Integrator, at: np.ndarray, system: sx.System = soft) -> Run:
    """Return the motion of the penalised pendulum."""
    run = sx.record(system, method, system.state(pendulum.q), at)
    return Run(run.q, run.energies["total"])


def sound(method: sx.Integrator, at: np.ndarray, system: sx.System) -> tuple[Run, str]:
    """Return the motion as long as its energy is within 1 of what it was, and the error that stopped it, if one did."""
    start, states, failure = system.state(pendulum.q), [], ""
    before = system.energies_of(start)["total"]
    try:
        for state in sx.march(system, method, start, at):
            if not abs(system.energies_of(state)["total"] - before) < 1.0:
                break
            states.append(state)
    except StepFailed as error:
        failure = str(error)
    energy = np.array([system.energies_of(state)["total"] for state in states])
    return Run(np.array([state.q for state in states]), energy), failure


def constrained(method: sx.constraints.Shake | sx.Rattle, at: np.ndarray) -> Run:
    """Return the motion of the constrained pendulum."""
    run = sx.record(pendulum.system, method, pendulum.start, at)
    return Run(run.q, run.energies["total"])


# The rows of Figure 1, and others, each as a function of its step.
METHODS: dict[str, Callable[[float, np.ndarray], Run]] = {
    "SHAKE": lambda h, at: constrained(sx.constraints.Shake(h, pendulum.constraints), at),
    "RATTLE": lambda h, at: constrained(sx.Rattle(h, pendulum.constraints), at),
    "Verlet, penalised": lambda h, at: penalised(sx.Newmark(h), at),
    "variational Euler, penalised": lambda h, at: penalised(VariationalEuler(h), at),
    "Newmark, penalised": lambda h, at: penalised(sx.Newmark(h, BETA), at),
    "one-iteration Newmark, penalised": lambda h, at: penalised(LinearlyImplicitNewmark(h, BETA), at),
    "one iteration from the prediction, penalised": lambda h, at: penalised(
        LinearlyImplicitNewmark(h, BETA, "predicted"), at
    ),
    "Zhang-Skeel, penalised": lambda h, at: penalised(sx.ZhangSkeel(h, BETA), at),
    "energy-momentum, penalised": lambda h, at: penalised(sx.EnergyMomentum(h), at),
}
EXPLICIT = ("Verlet, penalised", "variational Euler, penalised")
STEPS = dict.fromkeys(METHODS, STEP) | dict.fromkeys(EXPLICIT, STEP / OMEGA)


def errors(run: Run, reference: Motion) -> np.ndarray:
    """Return the errors [k, 2] of the lower mass, as far as the run goes."""
    return run.q[:, 2] - reference.q[: len(run.q), 2]


def measures(name: str, run: Run, reference: Motion) -> dict:
    """Return what is claimed about one run; errors are the largest component of a difference, but for the distance."""
    upper = run.q[:, 1] - reference.q[: len(run.q), 1]
    distance = np.linalg.norm(errors(run, reference), axis=1)
    return {
        f"{name}: step": STEPS[name],
        f"{name}: largest error of the upper mass": float(np.abs(upper).max()),
        f"{name}: largest distance of the lower mass from where it should be": float(distance.max()),
        f"{name}: largest error of the lower mass": float(np.abs(errors(run, reference)).max()),
        f"{name}: largest error of the energy": float(np.abs(run.energy - run.energy[0]).max()),
        f"{name}: largest |g|": float(np.linalg.norm(pendulum.constraint_values(run.q), axis=1).max()),
    }


def violations(omegas: np.ndarray) -> np.ndarray:
    """Return ω²|g(q(T))| for penalties ω², and its largest value over the last unit of time [2, k]: Figure 2a."""
    rows, last = [], times(0.01)[-101:]
    for omega in omegas:
        system = pendulum.penalised(omega)
        q = [state.q for state in sx.march(system, sx.ZhangSkeel(0.01, BETA), system.state(pendulum.q), last)]
        g = omega**2 * np.linalg.norm(pendulum.constraint_values(np.array(q)), axis=1)
        rows.append((g[-1], g.max()))
    return np.array(rows).T


def multipliers() -> tuple[Motion, np.ndarray, np.ndarray, np.ndarray]:
    """Return SHAKE's motion, times and tensions by eq. 8, and tensions −ω²g without the average: Figure 2b."""
    at, penalty = times(0.01, SHOWN), pendulum.penalty(OMEGA)
    shake = pendulum.follow(sx.constraints.Shake(0.01, pendulum.constraints), at)
    q = penalised(sx.ZhangSkeel(0.01, BETA), at).q
    centres, averaged = penalty.averaged_multipliers(at, q, WINDOW)
    raw = np.array([penalty.multipliers(moment) for moment in q])
    return shake, centres, pendulum.rods.tensions(averaged), pendulum.rods.tensions(raw)


def stiffest(reference: Motion) -> dict:
    """Return what becomes of ω = 2000, at which the paper finds Zhang-Skeel, Newmark and midpoint unstable."""
    system, numbers = pendulum.penalised(2000.0), {}
    methods = {
        "Newmark": sx.Newmark(STEP, BETA),
        "Newmark, beta = 1/4": sx.Newmark(STEP, 0.25),
        "midpoint": sx.Midpoint(STEP),
        "Zhang-Skeel": sx.ZhangSkeel(STEP, BETA),
        "energy-momentum": sx.EnergyMomentum(STEP),
    }
    for name, method in methods.items():
        run, failure = sound(method, reference.t, system)
        if failure:
            numbers[f"omega = 2000, {name}: stopped by"] = failure
        numbers[f"omega = 2000, {name}: sound until"] = float(reference.t[len(run.q) - 1])
        numbers[f"omega = 2000, {name}: largest error of the lower mass"] = float(np.abs(errors(run, reference)).max())
    return numbers


def partly_solved(reference: Motion) -> dict:
    """Return what comes of one iteration by where it begins and which accelerations go on, over steps of two sizes."""
    numbers = {}
    for step in (STEP, STEP / 2.0):
        for guess in ("last", "predicted"):
            for accelerations in ("linearised", "evaluated"):
                method = LinearlyImplicitNewmark(step, BETA, guess, accelerations)
                run, _ = sound(method, reference.t, soft)
                name = f"one iteration from {guess} positions, {accelerations} accelerations, h = {step:g}"
                numbers[f"{name}: sound until"] = float(reference.t[len(run.q) - 1])
                numbers[f"{name}: largest error of the lower mass"] = float(np.abs(errors(run, reference)).max())
                numbers[f"{name}: energy at the end, less at the start"] = float(
                    run.energy[-50:].mean() - run.energy[0]
                )
    return numbers


def work_and_precision(reference: Motion) -> dict[str, list[tuple[float, float, float]]]:
    """Return for each method the step, largest error, and processor time in s of several steps."""
    table = {}
    for name, method in METHODS.items():
        rows = []
        for step in STEPS[name] / 2.0 ** np.arange(4):
            if name.startswith("one-iteration"):
                step /= 4.0  # before, it loses too much
            before = process_time()
            run = method(float(step), reference.t)
            rows.append((float(step), float(np.abs(errors(run, reference)).max()), process_time() - before))
        table[name] = rows
    return table


def draw_errors(runs: dict[str, Run], reference: Motion, file: Path) -> None:
    """Draw the errors of the lower mass over time: Figure 1."""
    figure, grid = plt.subplots(5, 2, figsize=(12, 10), dpi=66, sharex=True, layout="constrained")
    panels = grid.ravel(order="F")
    panels[0].plot(reference.t, reference.q[:, 2], linewidth=1.0, label=["x₂", "y₂"])
    panels[0].set(title="motion of the lower mass")
    panels[0].legend(loc="center right")
    for (name, run), axes in zip(runs.items(), panels[1:], strict=True):
        error = errors(run, reference)
        axes.plot(reference.t[: len(error)], error, linewidth=1.0)
        axes.set(title=f"error of {name}, h = {STEPS[name]:g}: up to {np.abs(error).max():.2g}")
    for axes in grid[-1]:
        axes.set(xlabel="time", xlim=(0.0, END))
    for axes in panels:
        axes.grid(alpha=0.25)
    figure.suptitle(f"Double pendulum, ω = {OMEGA:g} where penalised (Tao and Owhadi 2014, Figure 1)")
    figure.savefig(file)
    plt.close(figure)


def draw_multipliers(omegas, scaled, parts: tuple, reference: Motion, file: Path) -> None:
    """Draw ω²|g| over ω and the tensions by both ways: Figure 2."""
    shake, centres, averaged, raw = parts
    figure, (left, right) = plt.subplots(1, 2, figsize=(13, 5), dpi=75, layout="constrained", width_ratios=(2, 3))
    left.loglog(omegas, scaled[1], "s-", color="#2c5fa8", label="largest over the last unit of time")
    left.loglog(omegas, scaled[0], "o", color="#c0392b", label="at T = 50")
    left.set(xlabel="ω", ylabel="ω²|g(q)|", title="the constraints are broken by O(ω⁻²)", ylim=(0.1, 10))
    left.legend()
    for rod, color in enumerate(("#2c5fa8", "#c0392b")):
        right.plot(shake.t, raw[:, rod], color=color, linewidth=0.5, alpha=0.35)
        right.plot(shake.t, shake.tensions[:, rod], color="black", linewidth=2.0)
        right.plot(centres, averaged[:, rod], color=color, linewidth=1.0, label=f"rod {rod + 1}")
    right.plot([], [], color="black", linewidth=2.0, label="SHAKE")
    right.set(xlabel="time", ylabel="tension", xlim=(0.0, SHOWN), ylim=(0.0, 5.0))
    right.set(title=f"tensions: SHAKE, and the penalty's (faint) averaged over {WINDOW}")
    right.legend(loc="upper right", ncols=3)
    for axes in (left, right):
        axes.grid(alpha=0.25)
    figure.suptitle("Double pendulum (Tao and Owhadi 2014, Figure 2)")
    figure.savefig(file)
    plt.close(figure)


def draw_work(table: dict, file: Path) -> None:
    """Draw errors against steps and processor time."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5), dpi=90, layout="constrained", sharey=True)
    for name, rows in table.items():
        step, error, seconds = np.array(rows).T
        kept = error < 3.0
        left.loglog(step[kept], error[kept], "o-", markersize=4, label=name)
        right.loglog(seconds[kept], error[kept], "o-", markersize=4)
    left.set(xlabel="step", ylabel="largest error of the lower mass to T = 50")
    right.set(xlabel="processor time in s")
    left.legend(fontsize=8)
    for axes in (left, right):
        axes.grid(alpha=0.25)
    figure.suptitle(f"Double pendulum, ω = {OMEGA:g} where penalised")
    figure.savefig(file)
    plt.close(figure)


def main(output: Path, full: bool) -> None:
    """Run all methods, write numbers.json and pictures."""
    output.mkdir(parents=True, exist_ok=True)
    reference = pendulum.exact(times(STEP))
    runs = {name: method(STEPS[name], reference.t) for name, method in METHODS.items()}
    numbers: dict = {}
    for name, run in runs.items():
        numbers |= measures(name, run, reference)
    numbers |= partly_solved(reference)
    omegas = np.array([5.0, 10.0, 20.0, 40.0, 80.0, 160.0] if full else [10.0, 40.0, 160.0])
    scaled = violations(omegas)
    numbers["omega"], numbers["omega² |g(q(T))|"] = omegas.tolist(), scaled[0].tolist()
    numbers["omega² max |g| over the last unit of time"] = scaled[1].tolist()
    parts = multipliers()
    shake, centres, averaged, raw = parts
    exact = pendulum.exact(shake.t)
    middle = np.stack([np.interp(centres, shake.t, column) for column in exact.tensions.T], axis=1)
    numbers["tensions by SHAKE: largest error"] = float(np.abs(shake.tensions - exact.tensions).max())
    numbers["tensions by averages: largest error"] = float(np.abs(averaged - middle).max())
    numbers["tensions by averages: mean error"] = float(np.abs(averaged - middle).mean())
    numbers["tensions without averages: largest error"] = float(np.abs(raw - exact.tensions).max())
    numbers["tensions without averages: mean error"] = float(np.abs(raw - exact.tensions).mean())
    numbers |= stiffest(reference)
    draw_errors(runs, reference, output / "double_pendulum.png")
    draw_multipliers(omegas, scaled, parts, exact, output / "double_pendulum_multipliers.png")
    if full:
        table = work_and_precision(reference)
        numbers["step, error, processor time"] = table
        draw_work(table, output / "double_pendulum_work.png")
    (output / "numbers.json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    for name, value in numbers.items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("results/double_pendulum"))
    parser.add_argument("--full", action="store_true", help="errors against steps and processor time as well")
    options = parser.parse_args()
    main(options.output, options.full)
