"""All integrators on the same three problems: accuracy against time, conservation, robustness.

    OMP_NUM_THREADS=1 python benchmarks/comparison.py [--quick] [--problems impact truss particles]
                                                      [--docs docs] [--json FILE]

The problems: the paper's cube of 71 nodes hits the wall; a rotating truss that vibrates; four particles on springs of
very different stiffness. Each method runs with several steps; its error is that of the positions at the end against a
reference, its time the processor time of the steps. Energy and momenta are looked at 25 times on the way.

With ``--docs DIR`` the page DIR/comparison.md and its pictures are rewritten; ``--quick`` has the two largest steps
of each method only.
"""

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from time import process_time

import numpy as np
from scipy.integrate import solve_ivp

import symplex as sx
from symplex.errors import SymplexError

LOOKS = 25
PATIENCE = 60.0  # in s of processor time: methods that take longer are stopped
# Of the lattice: the second is the wall's normal (see docs/force-stepping.md), the others lie in the wall.
AXES = np.array([[1.0, 0.0, 0.0], [0.0, np.sqrt(0.5), np.sqrt(0.5)], [0.0, -np.sqrt(0.5), np.sqrt(0.5)]])


@dataclass(frozen=True)
class Problem:
    """What is integrated: a system from a state to a time, and how its numbers are made dimensionless.

    ``reference`` are the positions at the end; an error is a root mean square over nodes, in lengths. ``target`` is the
    error for which the page gives the time.
    """

    name: str
    title: str
    system: sx.System
    state: sx.State
    end: float
    reference: np.ndarray
    length: float
    target: float
    symmetry: np.ndarray = field(default_factory=lambda: np.eye(3))  # directions in which momentum is conserved
    wall: bool = False  # a stiff contact: an energy without secant form


@dataclass(frozen=True)
class Method:
    """A method of a family, from a step in s (or a grid in m)."""

    name: str
    family: str
    make: Callable[[float], sx.Integrator]
    steps: dict[str, Sequence[float]]  # by problem


@dataclass
class Result:
    """One run."""

    method: str
    family: str
    step: float
    seconds: float = float("nan")
    error: float = float("nan")
    energy: float = float("nan")
    momentum: float = float("nan")
    angular_momentum: float = float("nan")
    failure: str = ""
    counts: dict[str, float] = field(default_factory=dict)


# -- the problems -------------------------------------------------------------------------------------------------


def impact() -> Problem:
    """Return the oblique impact of section 6.3 of the force-stepping paper on its coarsest mesh."""
    mesh = sx.cube_mesh("I")
    cells, aluminium = mesh.cells["tetra"], sx.NeoHookean(lmbda=60.5e9, mu=26e9, density=2700.0)
    wall = sx.HalfSpace(point=(0.101, 0.101, 0.101), normal=(0.0, -1.0, -1.0), normalize=False)
    energies = {
        "strain": sx.Solid(mesh.points, cells, aluminium),
        "wall": sx.RigidContact(mesh.boundary_nodes, wall, stiffness=1e14),
    }
    system = sx.System(sx.lumped_mass(mesh.points, cells, aluminium.density, len(mesh.points)), energies)
    state = system.state(mesh.points, np.full(mesh.points.shape, 1000.0))
    end = 60e-6
    fine = sx.Newmark(end / 200_000).start(system, state).advance(end)
    return Problem("impact", "The cube hits the wall", system, state, end, fine.q, 0.1, 0.01, AXES[[0, 2]], wall=True)


def truss() -> Problem:
    """Return the truss of Graham and Jelenić's section 7.2, in steady rotation with random velocities of a tenth."""
    points = np.array([[0, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0], [1, 0, 0]], dtype=float)
    pairs = np.array([[0, 1], [0, 2], [0, 3], [0, 4], [1, 2], [2, 3], [3, 4], [4, 1]], dtype=np.int32)
    lengths = np.linalg.norm(points[pairs[:, 0]] - points[pairs[:, 1]], axis=1)
    mass = np.zeros(len(points))
    np.add.at(mass, pairs.ravel(), 0.5 * np.repeat(lengths, 2))  # lumped, for the explicit methods
    system = sx.System(mass, {"bars": sx.Bars(pairs, sx.measures.GreenStrain(100.0 / lengths, lengths))})
    steady = sx.equilibria.relative_equilibrium(system, points, [0.0, 0.0, -1.0]).state
    state = system.state(steady.q, steady.v + 0.1 * np.random.default_rng(1).standard_normal(points.shape))
    return Problem("truss", "A rotating truss vibrates", system, state, 9.0, exact(system, state, 9.0), 1.0, 1e-4)


def particles() -> Problem:
    """Return the stiff particles of Simo and Gonzalez, section 4.4."""
    positions = np.array([[0.0, 0.0, 0.0], [0.8983, 0.5616, 0.0], [0.0, 1.0010, 0.0], [0.2589, 0.5987, 0.7580]])
    momenta = np.array([[0.0, 0.0, 0.0], [-0.05, 0.0866, 0.0], [0.0, -0.1, 0.0], [-0.05, 0.0288, 0.0]])
    springs = sx.Bars(sx.measures.all_pairs(4), sx.measures.EngineeringStrain([1e2, 1e4, 1e6, 1e7, 5e3, 5e2], 1.0))
    system = sx.System(np.ones(4), {"springs": springs})
    state = system.state(positions, momenta)
    return Problem("particles", "Four stiff particles", system, state, 2.0, exact(system, state, 2.0), 1.0, 1e-3)


def exact(system: sx.System, state: sx.State, end: float) -> np.ndarray:
    """Return the positions [n, dim] at the end, by a Runge-Kutta method of order 8."""
    shape = state.q.shape

    def rate(t: float, y: np.ndarray) -> np.ndarray:
        q, v = y.reshape(2, *shape)
        return np.concatenate([v, system.accelerations(system.force(t, q, v))]).ravel()

    start = np.concatenate([state.q, state.v]).ravel()
    solution = solve_ivp(rate, (state.t, end), start, method="DOP853", rtol=1e-13, atol=1e-15)
    return solution.y[:, -1].reshape(2, *shape)[0]


# -- the methods --------------------------------------------------------------------------------------------------


def fractions(end: float, *numbers: float) -> list[float]:
    """Return the steps that divide a time into so many."""
    return [end / number for number in numbers]


EXPLICIT = {
    "impact": fractions(60e-6, 10_000, 20_000, 40_000),
    "truss": fractions(9.0, 100, 400, 1600, 6400),
    "particles": fractions(2.0, 5_000, 10_000, 20_000, 40_000),
}
IMPLICIT = {
    "impact": fractions(60e-6, 50, 200, 800, 3200),
    "truss": fractions(9.0, 50, 200, 800, 3200),
    "particles": fractions(2.0, 50, 200, 800, 3200),
}
HIGHER = {
    "impact": fractions(60e-6, 50, 200, 800),
    "truss": fractions(9.0, 25, 50, 100, 200),
    "particles": fractions(2.0, 50, 200, 800),
}
GRIDS = {"impact": [1e-4, 2e-5, 4e-6], "truss": [0.05, 0.0125, 3.125e-3], "particles": [0.05, 0.01, 0.002]}


def methods(problem: Problem) -> list[Method]:
    """Return the methods that a problem is given to."""
    external = ("wall",) if problem.wall else ()
    stiff = ("wall",) if problem.wall else ()
    axes = AXES if problem.wall else None
    found = [
        Method("force-stepping", "lattice", lambda h: sx.ForceStepping(h, axes=axes), GRIDS),
        Method("Newmark, explicit", "explicit", lambda dt: sx.Newmark(dt), EXPLICIT),
        Method("– composed, 4", "explicit", lambda dt: sx.Composition(sx.Newmark(dt), 4), EXPLICIT),
        Method("– composed, 6", "explicit", lambda dt: sx.Composition(sx.Newmark(dt), 6), EXPLICIT),
        Method("Newmark, trapezoidal", "implicit", lambda dt: sx.Newmark(dt, beta=0.25), IMPLICIT),
        Method("HHT, α = −0.1", "implicit", lambda dt: sx.HilberHughesTaylor(dt, -0.1), IMPLICIT),
        Method("generalised-α, ρ = 0.8", "implicit", lambda dt: sx.GeneralizedAlpha(dt, 0.8), IMPLICIT),
        Method("midpoint", "implicit", sx.Midpoint, IMPLICIT),
        Method("energy-momentum", "energy-momentum", sx.EnergyMomentum, IMPLICIT),
        Method("– composed, 4", "energy-momentum", lambda dt: sx.Composition(sx.EnergyMomentum(dt), 4), HIGHER),
        Method("– composed, 6", "energy-momentum", lambda dt: sx.Composition(sx.EnergyMomentum(dt), 6), HIGHER),
        Method("assumed distance", "Graham-Jelenić", lambda dt: sx.GrahamJelenic(dt, "assumed-distance"), IMPLICIT),
        Method(
            "energy-momentum-exact-angle",
            "Graham-Jelenić",
            lambda dt: sx.GrahamJelenic(dt, "energy-momentum-exact-angle"),
            IMPLICIT,
        ),
        Method(
            "exact-steady-motion",
            "Graham-Jelenić",
            lambda dt: sx.GrahamJelenic(dt, "exact-steady-motion", external),
            IMPLICIT,
        ),
    ]
    for scheme in ("momentum-conserving-4", "cayley-magnus-4", "cayley-magnus-6", "cayley-magnus-8"):
        found.append(
            Method(scheme, "Graham-Jelenić", lambda dt, scheme=scheme: sx.GrahamJelenic(dt, scheme, external), HIGHER)
        )
    found += [
        Method("Zhang-Skeel", "Zhang-Skeel", sx.ZhangSkeel, IMPLICIT),
        Method("– simplified", "Zhang-Skeel", lambda dt: sx.ZhangSkeel(dt, variant="simplified"), IMPLICIT),
        Method("– push-forward", "Zhang-Skeel", lambda dt: sx.ZhangSkeel(dt, variant="push-forward"), IMPLICIT),
        Method("– composed, 4", "Zhang-Skeel", lambda dt: sx.Composition(sx.ZhangSkeel(dt), 4), HIGHER),
        Method("adaptive variational", "variational", sx.AdaptiveVariational, IMPLICIT),
    ]
    if stiff:
        # Stiff contact is elastic for β = ½ (see docs/zhang-skeel.md).
        eq19 = lambda dt: sx.ZhangSkeel(dt, beta=0.5, variant="simplified", stiff=stiff)  # noqa: E731
        found.append(Method("– the wall stiff, β = ½", "Zhang-Skeel", eq19, IMPLICIT))
    return found


# -- runs ---------------------------------------------------------------------------------------------------------


def run(problem: Problem, method: Method, step: float) -> Result:
    """Run a method over a problem, or as far as it comes."""
    result = Result(method.name, method.family, step)
    system, seconds = problem.system, 0.0
    energy0 = system.energies_of(problem.state)["total"]
    of_motion = system.kinetic(problem.state.v)
    size_p = float(np.sqrt(2.0 * of_motion * np.sum(np.asarray(system.mass))))
    size_j = size_p * problem.length
    drifts = np.zeros(3)
    try:
        method.make(step).start(system, problem.state).advance(problem.end / LOOKS)  # compiled, if it was not
        began = process_time()
        motion = method.make(step).start(system, problem.state)
        for look in range(1, LOOKS + 1):
            state = motion.advance(look * problem.end / LOOKS)
            seconds = process_time() - began
            if seconds > PATIENCE:
                raise TimeoutError
            began_look = process_time()
            energies = motion.energies(state)
            own = energies.get("lattice_total", energies.get("discrete_energy", energies["total"]))
            own0 = energy0 if look > 1 else own
            if look == 1 and own is not energies["total"]:
                energy0 = own
            gained = system.momentum(state) - system.momentum(problem.state)
            turned = system.angular_momentum(state) - system.angular_momentum(problem.state)
            drift = [
                abs(own - own0) / of_motion,
                np.linalg.norm(problem.symmetry @ gained) / size_p,
                np.nan if problem.wall else np.linalg.norm(turned) / size_j,
            ]
            drifts = np.maximum(drifts, drift)
            began += process_time() - began_look
    except TimeoutError:
        result.failure = f"stopped after {PATIENCE:.0f} s at t = {state.t:.3g}"
    except (SymplexError, ValueError) as error:
        result.failure = str(error).split("): ", 1)[-1].split(". ")[0]
    else:
        off = state.q - problem.reference
        result.error = float(np.sqrt(np.mean(np.sum(off**2, axis=1)))) / problem.length
        result.seconds = seconds
        result.energy, result.momentum, result.angular_momentum = (float(x) for x in drifts)
        result.counts = motion.statistics()
    return result


def results_of(problem: Problem, quick: bool) -> list[Result]:
    """Run all methods with all their steps; print a line each."""
    found = []
    for method in methods(problem):
        steps = sorted(method.steps[problem.name], reverse=True)[: 2 if quick else None]
        for step in steps:
            result = run(problem, method, step)
            found.append(result)
            reported = result.failure or f"error {result.error:.1e}, {result.seconds:.2f} s, ΔE {result.energy:.1e}"
            print(f"{problem.name}: {method.family}, {method.name}, {step:.3g}: {reported}", flush=True)
    return found


# -- the page -----------------------------------------------------------------------------------------------------


def seconds_for(runs: list[Result], target: float) -> float:
    """Return the time in s for an error, interpolated between runs on logarithmic scales; infinite if none has it."""
    done = sorted((r for r in runs if not r.failure and r.error > 0.0), key=lambda r: r.seconds)
    for before, after in pairwise(done):
        if after.error <= target < before.error:
            part = np.log(before.error / target) / np.log(before.error / after.error)
            return float(before.seconds * (after.seconds / before.seconds) ** part)
    return done[0].seconds if done and done[0].error <= target else float("inf")


def number(value: float, digits: str = ".0e") -> str:
    """Return a number for a table; a dash where there is none."""
    return "–" if not np.isfinite(value) else f"{value:{digits}}"


def table(problem: Problem, results: list[Result]) -> str:
    """Return the table of a problem in Markdown."""
    heads = ["method", "largest step", "error there", f"s for an error of {problem.target:g}", "energy"]
    unsolved = []
    lines = [f"| {' | '.join(heads)} |", "|" + " --- |" * len(heads)]
    keys = list(dict.fromkeys((r.family, r.method) for r in results))
    for family, name in keys:
        runs = [r for r in results if (r.family, r.method) == (family, name)]
        done = [r for r in runs if not r.failure]
        shown = name if not name.startswith("–") else f"{family} {name}"
        if not done:
            unsolved.append(shown)
            continue
        remarks = [f"{len(runs) - len(done)} of {len(runs)} sizes failed"] if len(done) < len(runs) else []
        held = [r.counts["held"] / r.counts["steps"] for r in done if r.counts.get("held")]
        if held:
            remarks.append(f"up to {max(held):.0%} held")
        remark = f" ({'; '.join(remarks)})" if remarks else ""
        coarse = max(done, key=lambda r: r.step)
        step = f"{coarse.step:.2g} {'m' if family == 'lattice' else 's'}{remark}"
        kept = number(max(r.energy for r in done))
        time = number(seconds_for(runs, problem.target), ".2g")
        lines.append(f"| {shown} | {step} | {number(coarse.error, '.1e')} | {time} | {kept} |")
    if unsolved:
        lines += ["", f"Not solved with any step: {', '.join(unsolved)}."]
    return "\n".join(lines)


COLOURS = {
    "lattice": "#6f42a6",
    "explicit": "#333333",
    "implicit": "#7f8c8d",
    "energy-momentum": "#2c5fa8",
    "Graham-Jelenić": "#c0392b",
    "Zhang-Skeel": "#2e8b57",
    "variational": "#d08a1d",
}


def draw(problem: Problem, results: list[Result], file: Path) -> None:
    """Draw errors over processor time."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(10, 6), constrained_layout=True)
    markers = "os^Dv*Pp"
    used: dict[str, int] = {}
    for family, name in dict.fromkeys((r.family, r.method) for r in results):
        runs = [r for r in results if (r.family, r.method) == (family, name) and not r.failure]
        if not runs:
            continue
        k = used[family] = used.get(family, -1) + 1
        label = name if not name.startswith("–") else f"{family} {name}"
        style = ("-", "--", ":", "-.")[k % 4]
        axes.loglog(
            [r.seconds for r in runs],
            [max(r.error, 1e-15) for r in runs],
            markers[k % len(markers)] + style,
            color=COLOURS[family],
            markersize=4,
            linewidth=1.0,
            label=label,
        )
    axes.set(xlabel="processor time in s", ylabel="error of positions at the end", title=problem.title)
    axes.set_ylim(top=3.0)
    axes.grid(alpha=0.25)
    figure.legend(loc="outside right upper", fontsize=8)
    figure.savefig(file, dpi=85)
    plt.close(figure)


INTRODUCTION = """# All integrators on three problems

Written by `python benchmarks/comparison.py --docs docs`. Errors: root mean squares of the final positions over the
size of the body; times: processor times of one core. Energy (the method's own): largest change at any
step, relative to the initial kinetic energy. What each conserves: [integrators](integrators.md).

"""


def page(found: dict[str, tuple[Problem, list[Result]]], notes: Path) -> str:
    """Return the page in Markdown: the tables, the pictures, and what is said of them in another file."""
    parts = [INTRODUCTION]
    for name, (problem, results) in found.items():
        doc = {"impact": impact, "truss": truss, "particles": particles}[name].__doc__ or ""
        first = doc.splitlines()[0].removeprefix("Return ")
        parts.append(f"## {problem.title}\n\n{first[0].upper()}{first[1:]}\n\n")
        parts.append(f"![Errors over time](pictures/comparison_{name}.png)\n\n{table(problem, results)}\n\n")
    if notes.exists():
        parts.append(notes.read_text(encoding="utf-8"))
    return "".join(parts)


def main() -> None:
    """Run, print, and write what is requested."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="two steps of each method")
    parser.add_argument("--problems", nargs="+", choices=("impact", "truss", "particles"))
    parser.add_argument("--docs", type=Path, help="write comparison.md and its pictures into this directory")
    parser.add_argument("--json", type=Path, help="file for all numbers")
    arguments = parser.parse_args()
    makers = {"impact": impact, "truss": truss, "particles": particles}
    found = {}
    for name in arguments.problems or makers:
        problem = makers[name]()
        found[name] = problem, results_of(problem, arguments.quick)
    if arguments.json:
        numbers = {name: [asdict(result) for result in results] for name, (_, results) in found.items()}
        arguments.json.write_text(json.dumps(numbers, indent=1))
    if arguments.docs:
        for name, (problem, results) in found.items():
            draw(problem, results, arguments.docs / "pictures" / f"comparison_{name}.png")
        text = page(found, Path(__file__).parent / "comparison_notes.md")
        (arguments.docs / "comparison.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
