"""Four masses on springs, free and under a decaying force: section 7.1 of Graham and Jelenić (2006), Figures 1 to 7.

    python examples/spring_mass.py [--output DIR] [--full]

Graham and Jelenić, "Conservative single-step time-integration schemes with higher-order accuracy for multi-particle
dynamics with local two-point potentials" (2006). The paper's second-order methods, its M4 of fourth order, and those of
order 4, 6 and 8 that follow from its recursion, at steps from 1 to 1/16. Errors are those at t = 10 and t = 30, against
a motion computed in extended precision by extrapolated leapfrog, a method that has nothing to do with any of them. The
paper's second-order methods see the mean of the force at both ends of a step, here they see that in its middle; its
choice is run as well.

``--full`` adds the paper's step of 1/64.
"""

import argparse
import json
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import symplex as sx

SCHEMES = {  # colour and style
    "symplectic-momentum": ("#7f8c8d", "s-"),
    "energy-momentum": ("#d08a1d", "o--"),
    "momentum-conserving-4": ("#c0392b", "s-"),
    "cayley-magnus-4": ("#8e44ad", "o--"),
    "cayley-magnus-6": ("#2c5fa8", "o-"),
    "cayley-magnus-8": ("#2e8b57", "o-"),
}
STEPS = (1.0, 0.25, 0.0625)
SMALL = 0.015625
TIMES = (10.0, 30.0)
MOMENTA = ("$L_x$", "$L_y$", "$L_z$"), ("$J_x$", "$J_y$", "$J_z$")

positions = np.array(
    [[0.2340, -0.2166, -0.0109], [0.0772, 0.7605, 0.0061], [0.8054, 0.6466, -0.1059], [0.3903, 0.6187, 0.9678]]
)
momenta = np.array(
    [
        [0.04095, -0.01483, 0.04325],
        [-0.02980, 0.04400, -0.02959],
        [-0.02328, -0.01432, -0.03716],
        [0.04152, 0.00114, 0.02621],
    ]
)
FORCE = np.array([[0.0025, 0.01, 0.005], [0.005, 0.0075, 0.005], [0.0075, 0.005, 0.005], [0.01, 0.0025, 0.005]])
DECAY = np.array([0.2, 0.4, 0.6])  # in 1/s, of the three components


def decaying(t, q, v):
    """The force on each mass in N."""
    return FORCE * np.exp(-DECAY * t)


def at_ends(t, q, v):
    """The mean of the force half a second before and after: F_½ of a step of 1 s, seen in its middle."""
    return 0.5 * (decaying(t - 0.5, q, v) + decaying(t + 0.5, q, v))


springs = {"springs": sx.Bars(sx.measures.all_pairs(4), sx.measures.EngineeringStrain(1.0, 1.0))}
SYSTEMS = {
    "free": sx.System(np.ones(4), springs),
    "decaying force": sx.System(np.ones(4), springs, loads={"force": decaying}),
}


# -- the reference, in extended precision -------------------------------------------------------------------------


def acceleration(forced: bool, t, q):
    """The accelerations [4, 3] of the masses, in the precision of q."""
    between = q[:, None] - q[None]
    length = np.sqrt(np.sum(between**2, axis=2)) + np.eye(4, dtype=q.dtype)
    a = -np.sum((1 - 1 / length)[:, :, None] * between, axis=1)
    return a + FORCE.astype(q.dtype) * np.exp(-DECAY.astype(q.dtype) * t) if forced else a


def leapfrog(forced: bool, t, q, v, h, n: int):
    """Take n steps of leapfrog over a time h."""
    h = h / n
    a = acceleration(forced, t, q)
    for k in range(1, n + 1):
        v = v + h / 2 * a
        q = q + h * v
        a = acceleration(forced, t + k * h, q)
        v = v + h / 2 * a
    return np.stack([q, v])


def reference(forced: bool, t_end: float, h: float = 0.25, rows: int = 9):
    """The positions and velocities [k, 2, 4, 3] at times h apart, by extrapolation of leapfrog to order 2 · rows."""
    h = np.longdouble(h)
    y = np.stack([positions, momenta]).astype(np.longdouble)
    numbers = [np.longdouble(2 * j) for j in range(1, rows + 1)]
    path = [y]
    for step in range(round(t_end / float(h))):
        table = [leapfrog(forced, step * h, *y, h, int(n)) for n in numbers]
        for level in range(1, rows):  # Aitken and Neville, in squares of the step
            for j in range(rows - 1, level - 1, -1):
                ratio = (numbers[j] / numbers[j - level]) ** 2
                table[j] = table[j] + (table[j] - table[j - 1]) / (ratio - 1)
        y = table[-1]
        path.append(y)
    return np.array(path)


# -- runs ---------------------------------------------------------------------------------------------------------


def states_of(system: sx.System, scheme: str, dt: float, times=TIMES) -> list[sx.State]:
    """Return the states of a scheme at some times."""
    motion = sx.GrahamJelenic(dt, scheme).start(system, system.state(positions, momenta))
    return [motion.advance(t) for t in times]


def relative(found, exact) -> float:
    """|found − exact| / |exact|, in extended precision."""
    return float(np.sqrt(np.sum((found - exact) ** 2) / np.sum(exact**2)))


def errors_of(system: sx.System, exact: dict[float, np.ndarray], steps) -> dict[str, np.ndarray]:
    """Return the relative errors [steps, times, 2] in positions and velocities of each scheme."""
    found = {}
    for scheme in SCHEMES:
        states = [states_of(system, scheme, dt) for dt in steps]
        found[scheme] = np.array(
            [[[relative(s.q, exact[s.t][0]), relative(s.v, exact[s.t][1])] for s in row] for row in states]
        )
    return found


def history(system: sx.System, scheme: str, dt: float) -> dict[str, np.ndarray]:
    """Return energies and momenta at all steps up to t = 30."""
    return history_of(system, states_of(system, scheme, dt, times=np.arange(0.0, TIMES[-1] + 0.5 * dt, dt)))


def history_of(system: sx.System, states: list[sx.State]) -> dict[str, np.ndarray]:
    """Return the times, the energies (with the potential of the applied loads, P.A.L.) and the momenta of states."""
    energies = [system.energies_of(s) for s in states]
    lost = [-np.vdot(decaying(s.t, s.q, s.v), s.q) if system.loads else 0.0 for s in states]
    return {
        "t": np.array([s.t for s in states]),
        "kinetic": np.array([e["kinetic"] for e in energies]),
        "strain": np.array([e["springs"] for e in energies]),
        "P.A.L.": np.array(lost),
        "total": np.array([e["total"] for e in energies]) + np.array(lost),
        "momentum": np.array([system.momentum(s) for s in states]),
        "angular momentum": np.array([system.angular_momentum(s) for s in states]),
    }


# -- pictures -----------------------------------------------------------------------------------------------------


def draw_errors(errors: dict[str, dict[str, np.ndarray]], steps, file: Path) -> None:
    """Draw Figures 4 and 7: errors against the step."""
    figure, panels = plt.subplots(2, 4, figsize=(14, 7), sharex=True, sharey=True, constrained_layout=True)
    for row, (case, of_case) in zip(panels, errors.items(), strict=True):
        for axes, (k, what) in zip(row, ((k, w) for w in range(2) for k in range(2)), strict=True):
            for scheme, (color, style) in SCHEMES.items():
                size = 6 if style.startswith("s") else 3.5
                axes.loglog(steps, of_case[scheme][:, k, what], style, color=color, markersize=size, label=scheme)
            axes.set(title=f"{case}: {'RV'[what]} at t = {TIMES[k]:g}", ylim=(1e-16, 10))
            axes.grid(alpha=0.25)
    for axes in panels[1]:
        axes.set(xlabel="Δt")
    for axes in panels[:, 0]:
        axes.set(ylabel="relative error")
    panels[0, 0].legend(loc="lower right", ncols=2)
    figure.suptitle("Spring-mass system (Graham and Jelenić 2006, Figures 4 and 7)")
    figure.savefig(file, dpi=85)
    plt.close(figure)


def draw_histories(references: dict[str, dict[str, np.ndarray]], m4: dict[str, dict[str, np.ndarray]], file) -> None:
    """Draw Figures 2, 3, 5 and 6: energies and momenta, of the reference (lines) and of M4 at Δt = 1 (dots)."""
    figure, panels = plt.subplots(2, 3, figsize=(14, 7), sharex=True, constrained_layout=True)
    colors = ("#2c5fa8", "#d08a1d", "#2e8b57", "#c0392b")
    for row, case in zip(panels, SYSTEMS, strict=True):
        kinds = ("kinetic", "strain", "total") if case == "free" else ("kinetic", "strain", "P.A.L.", "total")
        for name, color in zip(kinds, colors if len(kinds) == 4 else (*colors[:2], colors[3]), strict=True):
            row[0].plot(references[case]["t"], references[case][name], color=color, linewidth=1.0, label=name)
            row[0].plot(m4[case]["t"], m4[case][name], "o", color=color, markersize=3)
        row[0].set(title=f"{case}: energy", ylim=(-0.03, 0.14))
        row[0].legend(loc="upper right", ncols=2)
        for axes, what, names in zip(row[1:], ("momentum", "angular momentum"), MOMENTA, strict=True):
            for i, name in enumerate(names):
                axes.plot(references[case]["t"], references[case][what][:, i], color=colors[i], label=name)
                axes.plot(m4[case]["t"], m4[case][what][:, i], "o", color=colors[i], markersize=3)
            axes.set(title=f"{case}: {what}")
            axes.margins(y=0.22)
            axes.legend(loc="upper center", ncols=3)
    for axes in panels.ravel():
        axes.grid(alpha=0.25)
    for axes in panels[1]:
        axes.set(xlabel="time")
    figure.suptitle("Reference (lines) and M4 at Δt = 1 (dots): Graham and Jelenić 2006, Figures 2, 3, 5 and 6")
    figure.savefig(file, dpi=85)
    plt.close(figure)


def draw_paths(path: np.ndarray, file: Path) -> None:
    """Draw Figure 1: the masses at the start and their ways in the first seconds."""
    figure = plt.figure(figsize=(5.5, 5), constrained_layout=True)
    axes = figure.add_subplot(projection="3d")
    q = path[:, 0].astype(float)
    for i, j in sx.measures.all_pairs(4):
        axes.plot(*q[0, [i, j]].T, color="0.6", linewidth=0.8)
    for i, color in enumerate(("#2c5fa8", "#d08a1d", "#2e8b57", "#c0392b")):
        axes.plot(*q[:25, i].T, color=color, linewidth=1.2)
        axes.scatter(*q[:25:4, i].T, color=color, s=np.linspace(50, 10, 7), depthshade=False)
    axes.set(title="The masses in the first 6 s (large: at the start)", xlabel="x", ylabel="y", zlabel="z")
    axes.view_init(elev=22, azim=-55)
    figure.savefig(file)
    plt.close(figure)


# -- numbers ------------------------------------------------------------------------------------------------------


def order_of(errors: np.ndarray, steps) -> float:
    """Return the order in R at t = 30 from the two smallest steps whose errors are above round-off."""
    above = np.flatnonzero(errors[:, 1, 0] > 1e-13)[-2:]
    ratio = errors[above[0], 1, 0] / errors[above[1], 1, 0]
    return float(np.log(ratio) / np.log(steps[above[0]] / steps[above[1]]))


def momentum_errors(history: dict[str, np.ndarray], exact: dict[str, np.ndarray]) -> dict[str, float]:
    """Return the relative errors of both momenta at t = 30, and the greatest of a component of the first."""
    errors = {name: relative(history[name][-1], exact[name][-1]) for name in ("momentum", "angular momentum")}
    of_components = np.abs(history["momentum"][-1] / exact["momentum"][-1] - 1.0)
    return errors | {"a component of momentum": float(of_components.max())}


STATEMENTS = {
    "free, dt = 1: errors in R of second order (paper)": "12 to 15 %",
    "free, dt = 1: error in R of momentum-conserving-4 (paper)": "2 %",
    "free, dt = 1: errors in V of second order (paper)": "over 100 %",
    "decaying force, dt = 1: momentum of second order (paper)": "3 %",
    "decaying force, dt = 1: momentum of momentum-conserving-4 (paper)": "nine digits",
    "decaying force, dt = 1: angular momentum of energy-momentum (paper)": "1 %",
    "decaying force, dt = 1: angular momentum of momentum-conserving-4 (paper)": "0.06 %",
}


def main(output: Path, full: bool) -> None:
    """Run all schemes at all steps on both systems, write numbers.json and the pictures."""
    output.mkdir(parents=True, exist_ok=True)
    steps = (*STEPS, SMALL) if full else STEPS
    numbers: dict[str, float | str] = dict(STATEMENTS)
    errors, references, histories = {}, {}, {}
    for case, system in SYSTEMS.items():
        forced = bool(system.loads)
        path = reference(forced, TIMES[-1])
        numbers[f"{case}: error of the reference"] = relative(reference(forced, TIMES[-1], rows=8)[-1], path[-1])
        double = path.astype(float)
        states = [sx.State(0.25 * n, q, v, np.zeros_like(q)) for n, (q, v) in enumerate(double)]
        references[case] = history_of(system, states)
        histories[case] = {scheme: history(system, scheme, 1.0) for scheme in SCHEMES}
        errors[case] = errors_of(system, {t: path[round(t / 0.25)] for t in TIMES}, steps)
        for scheme, found in errors[case].items():
            numbers[f"{case}, {scheme}: order"] = order_of(found, steps)
            for dt, of_step in zip(steps, found, strict=True):
                for t, of_time in zip(TIMES, of_step, strict=True):
                    for what, error in zip("RV", of_time, strict=True):
                        numbers[f"{case}, {scheme}, dt = {dt:g}, t = {t:g}: error in {what}"] = float(error)
            for name, error in momentum_errors(histories[case][scheme], references[case]).items():
                numbers[f"{case}, {scheme}, dt = 1: error of {name} at the end"] = error
        if not forced:
            draw_paths(path, output / "spring_mass_paths.png")
    averaged = sx.System(np.ones(4), springs, loads={"force": at_ends})
    for scheme in ("symplectic-momentum", "energy-momentum"):
        found = momentum_errors(history(averaged, scheme, 1.0), references["decaying force"])
        for name, error in found.items():
            numbers[f"decaying force at both ends, {scheme}, dt = 1: error of {name} at the end"] = error
    draw_errors(errors, steps, output / "spring_mass.png")
    draw_histories(
        references,
        {case: of["momentum-conserving-4"] for case, of in histories.items()},
        output / "spring_mass_history.png",
    )
    (output / "numbers.json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    for name, value in numbers.items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("results/spring_mass"))
    parser.add_argument("--full", action="store_true", help="the step of 1/64 as well")
    options = parser.parse_args()
    main(options.output, options.full)
