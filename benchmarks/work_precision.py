"""Work against precision on an elastic double pendulum and a cantilever truss, next to other solvers in one run.

    OMP_NUM_THREADS=1 python benchmarks/work_precision.py [--problems truss ...] [--json FILE] [--picture FILE.png]

The largest error of a position at ten times over the processor time to the end, for methods of symplex with a fixed
step, and for peers with tolerances: DOP853 and Radau of scipy with a right-hand side (and for Radau a Jacobian) that
numba has compiled for these bars, `heyoka` (Taylor series) and `diffrax` (Dopri8) where they are installed. Compiling
is not counted, of none of them. The reference is DOP853 at 1e-13, or heyoka at 1e-15 if it is there.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from peer_packages.springs import heyoka_equations, rates
from scipy.integrate import solve_ivp

import symplex as sx
from symplex.fem.actions.loads import Gravity
from symplex.fem.compiled.kernels import kernel
from symplex.fem.measures.bars import Bars, EngineeringStrain
from symplex.time.composition import substeps

GRAVITY = 9.81
OUTPUTS = 10


class Problem(NamedTuple):
    """Masses [n] in kg on springs in the plane, at rest at x [n, 2] in m, the nodes below ``held`` fixed."""

    x: np.ndarray
    mass: np.ndarray
    pairs: np.ndarray
    stiffness: float
    lengths: np.ndarray
    held: int
    duration: float

    @property
    def constants(self) -> tuple[Any, ...]:
        """What `peer_packages.springs` takes of it besides positions."""
        return self.mass, self.pairs, self.stiffness, self.lengths, GRAVITY, self.held

    @property
    def times(self) -> np.ndarray:
        """The times of outputs in s."""
        return self.duration * np.arange(1, OUTPUTS + 1) / OUTPUTS

    def system(self) -> tuple[sx.System, sx.State]:
        """Return it as a system of symplex."""
        fixed = np.zeros(self.x.shape, bool)
        fixed[: self.held] = True
        springs = Bars(self.pairs, EngineeringStrain(self.stiffness, self.lengths), dim=2)
        energies = {"springs": springs, "gravity": Gravity(self.mass, (0.0, -GRAVITY))}
        system = sx.System(self.mass, energies, dim=2, fixed=fixed)
        return system, system.state(self.x)


def pendulum(stiffness: float) -> Problem:
    """Return two masses on springs of 1 m, let go at 60 and 30 degrees, unstrained."""
    x = np.array([[0.0, 0.0], [np.sin(1.0472), -np.cos(1.0472)], [0.0, 0.0]])
    x[2] = x[1] + [0.5, -np.sqrt(0.75)]
    return Problem(x, np.ones(3), np.array([[0, 1], [1, 2]]), stiffness, np.ones(2), 1, 5.0)


def truss(bays: int) -> Problem:
    """Return a cantilever of square bays of 1 m with diagonals, let go in its weight."""
    x = np.array([[i, j] for i in range(bays + 1) for j in range(2)], float)
    pairs = [p for i in range(bays) for p in ((2 * i, 2 * i + 2), (2 * i + 1, 2 * i + 3), (2 * i, 2 * i + 3))]
    pairs = np.array(pairs + [(2 * i, 2 * i + 1) for i in range(1, bays + 1)])
    lengths = np.linalg.norm(x[pairs[:, 0]] - x[pairs[:, 1]], axis=1)
    return Problem(x, np.ones(len(x)), pairs, 1e5, lengths, 2, 2.0)


PROBLEMS: dict[str, Callable[[], Problem]] = {
    "pendulum": lambda: pendulum(1e4),
    "stiff": lambda: pendulum(1e7),
    "truss": lambda: truss(25),
}
TITLES = {
    "pendulum": "double pendulum, k = 10⁴ N/m",
    "stiff": "double pendulum, k = 10⁷ N/m",
    "truss": "cantilever of 100 bars",
}

# -- right-hand sides ----------------------------------------------------------------------------------------------


_rates = kernel(rates)


@kernel
def jacobian(y, mass, pairs, stiffness, lengths, gravity, held):
    """Return the derivative of the rates."""
    n = len(mass)
    out = np.zeros((4 * n, 4 * n))
    for i in range(2 * n):
        out[i, 2 * n + i] = 1.0
    for e in range(len(pairs)):
        i, j = pairs[e]
        d = (y[2 * i] - y[2 * j], y[2 * i + 1] - y[2 * j + 1])
        s = d[0] * d[0] + d[1] * d[1]
        ratio = lengths[e] / np.sqrt(s)
        for a in range(2):
            for b in range(2):
                k = stiffness * ((1.0 - ratio) * (a == b) + ratio * d[a] * d[b] / s)
                for row, column, sign in ((i, i, -1.0), (j, j, -1.0), (i, j, 1.0), (j, i, 1.0)):
                    if row >= held:
                        out[2 * n + 2 * row + a, 2 * column + b] += sign * k / mass[row]
    return out


# -- solvers: positions [10, n, 2] at the times of outputs -----------------------------------------------------------

# What is run and timed for a step or a tolerance; it is made, and run once for compiling, before.
Run = Callable[[], np.ndarray]


def fixed_step(make: Callable[[float], sx.Integrator], problem: Problem, steps: float) -> Run:
    """Return a run with so many steps between outputs."""
    system, state = problem.system()
    integrator = make(problem.duration / OUTPUTS / steps)

    def run() -> np.ndarray:
        motion = integrator.start(system, state)
        return np.array([motion.advance(t).q for t in problem.times])

    return run


def composition(order: int, scheme: str | None, problem: Problem) -> Callable[[float], Run]:
    """Return what makes a run of a composition of explicit Newmark."""
    return lambda steps: fixed_step(lambda dt: sx.Composition(sx.Newmark(dt), order, scheme), problem, steps)


def scipy_solver(method: str, problem: Problem, tolerance: float) -> Run:
    """Return a run of scipy's solve_ivp."""
    constants = problem.constants
    start = np.concatenate([problem.x.ravel(), np.zeros(problem.x.size)])
    options: dict[str, Any] = {"rtol": tolerance, "atol": tolerance}
    if method == "Radau":
        options["jac"] = lambda t, y: jacobian(y, *constants)

    def run() -> np.ndarray:
        span = 0.0, problem.duration
        found = solve_ivp(lambda t, y: _rates(y, *constants), span, start, method, problem.times, **options)
        return found.y[: problem.x.size].T.reshape(-1, *problem.x.shape)

    return run


def heyoka_solver(problem: Problem, tolerance: float) -> Run:
    """Return a run of heyoka's adaptive Taylor integrator."""
    import heyoka as hy  # pyright: ignore[reportMissingImports]

    n = len(problem.x)
    equations, start = heyoka_equations(problem.x, *problem.constants)
    solver = hy.taylor_adaptive(equations, start, tol=tolerance, compact_mode=n > 10)

    def run() -> np.ndarray:
        solver.time = 0.0
        solver.state[:] = start
        out = np.tile(problem.x, (OUTPUTS, 1, 1))
        for k, t in enumerate(problem.times):
            solver.propagate_until(t)
            out[k, problem.held :] = solver.state[: len(start) // 2].reshape(-1, 2)
        return out

    return run


def diffrax_solver(problem: Problem) -> Callable[[float], Run]:
    """Return what makes a run of diffrax's Dopri8, compiled once for all tolerances."""
    import diffrax  # pyright: ignore[reportMissingImports]
    import jax  # pyright: ignore[reportMissingImports]

    jax.config.update("jax_enable_x64", True)
    jnp = jax.numpy
    i, j, free = problem.pairs[:, 0], problem.pairs[:, 1], (np.arange(len(problem.x)) >= problem.held)[:, None]
    down, mass = np.array([0.0, GRAVITY]), problem.mass[:, None]

    def field(t, y, _):
        q, v = y
        d = q[i] - q[j]
        pull = problem.stiffness * (1.0 - problem.lengths / jnp.sqrt((d * d).sum(axis=1)))[:, None] * d
        force = jnp.zeros_like(q).at[i].add(-pull).at[j].add(pull)
        return v, jnp.where(free, force / mass - down, 0.0)

    @jax.jit
    def solved(y, tolerance):
        return diffrax.diffeqsolve(
            diffrax.ODETerm(field),
            diffrax.Dopri8(),
            0.0,
            problem.duration,
            None,
            y,
            stepsize_controller=diffrax.PIDController(rtol=tolerance, atol=tolerance),
            saveat=diffrax.SaveAt(ts=jnp.asarray(problem.times)),
            max_steps=10_000_000,
        ).ys[0]

    start = jnp.asarray(problem.x), jnp.zeros(problem.x.shape)
    return lambda tolerance: lambda: np.asarray(solved(start, tolerance))


def installed(name: str) -> bool:
    """Return whether a package is there."""
    from importlib.util import find_spec

    return find_spec(name) is not None


def solvers(problem: Problem) -> Iterator[tuple[str, Callable[[float], Run], list[float]]]:
    """Yield names, what makes a run, and for which steps between outputs or tolerances."""
    system, state = problem.system()
    limit = sx.Newmark("auto", safety=1.0).start(system, state).dt
    fewest = problem.duration / OUTPUTS / limit
    fine = [float(np.ceil(1.3 * fewest) * 2**k) for k in range(7)]
    coarse = [float(max(np.ceil(fewest * 2.0**k), 5)) for k in range(-5, 4)]
    coarse = sorted(set(coarse))
    yield "Newmark", lambda steps: fixed_step(lambda dt: sx.Newmark(dt), problem, steps), fine
    for name, (order, scheme) in COMPOSITIONS.items():
        # Of the split scheme the limit is 9.07 ω⁻¹, of the others that of their largest substep.
        largest = 2.0 / 9.07 if scheme else max(map(abs, substeps(order)))
        finer = [float(np.ceil(1.4 * largest * fewest * 2 ** (0.5 * k))) for k in range(9)]
        yield name, composition(order, scheme, problem), finer
    yield "energy-momentum", lambda steps: fixed_step(lambda dt: sx.EnergyMomentum(dt), problem, steps), coarse
    yield "midpoint", lambda steps: fixed_step(lambda dt: sx.Midpoint(dt), problem, steps), coarse
    tolerances = [10.0**-k for k in range(3, 12)]
    yield "scipy DOP853", lambda tolerance: scipy_solver("DOP853", problem, tolerance), tolerances
    yield "scipy Radau", lambda tolerance: scipy_solver("Radau", problem, tolerance), tolerances[:6]
    if installed("heyoka"):
        yield "heyoka", lambda tolerance: heyoka_solver(problem, tolerance), tolerances
    if installed("diffrax"):
        yield "diffrax Dopri8", diffrax_solver(problem), tolerances


def reference(problem: Problem) -> np.ndarray:
    """Return the positions that errors are measured from."""
    return heyoka_solver(problem, 1e-15)() if installed("heyoka") else scipy_solver("DOP853", problem, 1e-13)()


def measured(run: Run, exact: np.ndarray, times: int = 3) -> tuple[float, float]:
    """Return the least processor time in s of some runs, and the largest error in m."""
    spent = []
    found = run()  # for compiling
    for _ in range(times):
        begin = process_time()
        found = run()
        spent.append(process_time() - begin)
        if spent[-1] > 0.3:
            break
    return min(spent), float(np.abs(found - exact).max())


def study(problem: Problem) -> dict[str, list[tuple[float, float, float]]]:
    """Return for each solver its steps or tolerances, times and errors."""
    exact = reference(problem)
    found: dict[str, list[tuple[float, float, float]]] = {}
    for name, make, settings in solvers(problem):
        rows = found.setdefault(name, [])
        for setting in settings:
            try:
                rows.append((setting, *measured(make(setting), exact)))
            except sx.SymplexError as error:
                print(f"  {name} {setting:g}: {error}")
                continue
            print(f"  {name:16s} {setting:9.3g} {rows[-1][1]:9.3g} s {rows[-1][2]:9.3g} m", flush=True)
            if rows[-1][1] > 1.0:
                break
    return found


def time_for(rows: list[tuple[float, float, float]], error: float) -> float:
    """Return the time for an error, between two runs by a power law; infinite if no run was so good."""
    _, spent, errors = np.transpose(sorted(rows, key=lambda row: row[1]))
    for k in range(len(rows)):
        if errors[k] <= error:
            if k == 0 or errors[k - 1] <= errors[k]:
                return float(spent[k])
            part = np.log(error / errors[k - 1]) / np.log(errors[k] / errors[k - 1])
            return float(spent[k - 1] * (spent[k] / spent[k - 1]) ** part)
    return np.inf


def table(found: dict, errors: tuple[float, ...] = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)) -> None:
    """Print the times for some errors in ms."""
    for problem, curves in found.items():
        print(f"\n| ms, {TITLES[problem]} | " + " | ".join(f"{error:.0e} m" for error in errors) + " |")
        print("| --- " * (1 + len(errors)) + "|")
        for name, rows in curves.items():
            cells = [1e3 * time_for(rows, error) for error in errors]
            print(f"| {name} | " + " | ".join("–" if np.isinf(c) else f"{c:.3g}" for c in cells) + " |")


COMPOSITIONS = {
    "composition 4": (4, None),
    "Blanes and Moan 6": (6, "blanes-moan"),
    "composition 8": (8, None),
}
STYLES = {
    "Newmark": ("s-", "#c0392b"),
    "composition 4": ("P-", "#e67e22"),
    "Blanes and Moan 6": ("X-", "#111111"),
    "composition 8": ("*-", "#7b241c"),
    "energy-momentum": ("d-", "#2e8b57"),
    "midpoint": ("o-", "#2c5fa8"),
    "scipy DOP853": ("x--", "0.3"),
    "scipy Radau": ("+--", "0.55"),
    "heyoka": ("^--", "#8e44ad"),
    "diffrax Dopri8": ("v--", "#d68910"),
}


def draw(found: dict, file: Path) -> None:
    """Draw errors over processor times."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, len(found), figsize=(5 * len(found), 4.8), dpi=100, squeeze=False)
    for axes, (problem, curves) in zip(panels[0], found.items(), strict=True):
        for name, rows in curves.items():
            style, colour = STYLES[name]
            _, work, error = np.transpose(rows)
            axes.loglog(1e3 * work, error, style, color=colour, label=name, markersize=5, linewidth=1.4)
        axes.set(title=TITLES[problem], xlabel="processor time [ms]", ylim=(1e-9, 3))
        axes.grid(alpha=0.25)
    panels[0, 0].set_ylabel("largest error of a position [m]")
    figure.tight_layout(rect=(0, 0.1, 1, 1))
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="lower center", ncols=7)
    figure.savefig(file)


def main() -> None:
    """Run all solvers, print tables, and draw and write the numbers if requested."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=list(PROBLEMS))
    parser.add_argument("--json", type=Path, help="file for the numbers")
    parser.add_argument("--picture", type=Path)
    arguments = parser.parse_args()
    found = {}
    for name in arguments.problems:
        print(TITLES[name], flush=True)
        found[name] = study(PROBLEMS[name]())
    table(found)
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    if arguments.picture:
        draw(found, arguments.picture)


if __name__ == "__main__":
    main()
