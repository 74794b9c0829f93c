"""The spherical pendulum, sections 2 and 3 of Simo and Gonzalez: what midpoint rules on the sphere keep, and what not.

    python examples/spherical_pendulum.py [--output DIR] [--full]

Simo and Gonzalez, "Assessment of energy-momentum and symplectic schemes for stiff dynamical systems" (1993). Mass and
length are 1. The pendulum swings in constant gravity, g(s) = s; in a field of varying strength along one axis,
g(s) = s + 0.3 s² + 0.4 s³ (what the paper calls a gravitational field); and in one without any symmetry, of third
degree, where nothing is left to hold a scheme but what it keeps by itself.

1. Every scheme on the sphere: what it keeps, and how far a step is from symplectic (eq. 31).
2. The reduced schemes: the same motion as on the sphere, and the change of area in a step (Lemma 3.2).
3. A scheme that keeps everything moves along the exact orbit.
4. Steady rotation.
5. Long runs in the field without symmetry. ``--full`` makes them ten times longer.
"""

import argparse
import json
from pathlib import Path as File

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from scipy.integrate import solve_ivp
from scipy.special import ellipkinc

import symplex as sx
from papers.planar_pendulum import PlanarMethod, PlanarState, SwingPlane, planar_energies
from symplex.time.manifolds.sphere_form import symplectic_defect

MIDPOINT, SYMPLECTIC, GEODESIC = "midpoint (24)", "symplectic (60)", "symplectic, geodesic (55)"
PRINTED, REGULAR = "energy-momentum (61)", "energy-momentum, discrete gradient"
SCHEMES = {
    MIDPOINT: sx.manifolds.SphereMidpoint(),
    SYMPLECTIC: sx.manifolds.SphereSymplectic(),
    GEODESIC: sx.manifolds.SphereSymplectic("geodesic"),
    PRINTED: sx.manifolds.SphereEnergyMomentum("velocity"),
    REGULAR: sx.manifolds.SphereEnergyMomentum("force"),
}
# What the paper says they keep: energy in constant gravity, energy in any axial field, symplectic form.
SAID = {MIDPOINT: (True, False, False), SYMPLECTIC: (True, False, True), PRINTED: (True, True, False)}
COLOURS = dict(zip(SCHEMES, ("#c0392b", "#2c5fa8", "#7fa7dd", "#e0a030", "#2e8b57"), strict=True))
PLANAR = {"sphere": "(42)", "plane": "midpoint rule in ϑ", "projected": "(53)", "energy": "energy, after (53)"}
PLANAR_COLOURS = dict(zip(PLANAR, ("#c0392b", "#7fa7dd", "#2c5fa8", "#2e8b57"), strict=True))
DT = 0.1
ROUND_OFF = 1e-11

CONSTANT = sx.manifolds.SphericalPendulum.in_gravity(gravity=1.0)
VARYING = sx.manifolds.SphericalPendulum(sx.manifolds.AxialPotential.polynomial([0.0, 1.0, 0.3, 0.4]))
GAMMA = np.array([0.0, 0.0, -1.0])


class Rugged(sx.manifolds.SpherePotential):
    """V = z + 3/2 x³ + 2 xyz − y³, without any symmetry."""

    def value(self, q):
        x, y, z = q
        return float(z + 1.5 * x**3 + 2.0 * x * y * z - y**3)

    def gradient(self, q):
        x, y, z = q
        return np.array([4.5 * x * x + 2.0 * y * z, 2.0 * x * z - 3.0 * y * y, 1.0 + 2.0 * x * y])

    def hessian(self, q):
        x, y, z = q
        return np.array([[9.0 * x, 2.0 * z, 2.0 * y], [2.0 * z, -6.0 * y, 2.0 * x], [2.0 * y, 2.0 * x, 0.0]])


RUGGED = sx.manifolds.SphericalPendulum(Rugged())


def start_of(pendulum: sx.manifolds.SphericalPendulum) -> sx.manifolds.SphereState:
    """Return the start of all motions in space."""
    return pendulum.state([0.8, 0.0, -0.6], [0.3, 0.9, 0.4])


def energy(pendulum: sx.manifolds.SphericalPendulum, states) -> np.ndarray:
    return np.array([pendulum.energies_of(state)["total"] for state in states])


def exact_path(pendulum: sx.manifolds.SphericalPendulum, times: np.ndarray) -> np.ndarray:
    """Return q and π at some times [k, 6], from eq. 6 by a method of high order."""

    def rate(_, z):
        q, pi = z[:3], z[3:]
        return np.concatenate([np.cross(pi, q), -np.cross(q, pendulum.potential.gradient(q))])

    start = start_of(pendulum)
    span, first = (0.0, times[-1]), np.r_[start.q, start.pi]
    return solve_ivp(rate, span, first, method="DOP853", t_eval=times, rtol=1e-12, atol=1e-13).y.T


# -- 1. on the sphere --------------------------------------------------------------------------------------------


def on_the_sphere(steps: int, output: File) -> dict:
    """Run every scheme in both axial fields."""
    numbers, runs, defects = {}, {}, {}
    sizes = DT * 0.5 ** np.arange(-2, 4)
    for label, scheme in SCHEMES.items():
        states = list(scheme.march(VARYING, start_of(VARYING), DT, steps))
        runs[label] = states
        in_constant = energy(CONSTANT, scheme.march(CONSTANT, start_of(CONSTANT), DT, steps))
        defects[label] = [symplectic_defect(scheme, VARYING, start_of(VARYING), dt) for dt in sizes]
        found = {
            "largest | |q| − 1 |": max(abs(np.linalg.norm(s.q) - 1.0) for s in states),
            "largest |π·q|": max(abs(s.pi @ s.q) for s in states),
            "largest change of J_γ": max(abs((s.pi - states[0].pi) @ GAMMA) for s in states),
            "largest change of the energy, constant gravity": np.abs(in_constant - in_constant[0]).max(),
            "largest change of the energy, varying field": np.abs(
                energy(VARYING, states) - energy(VARYING, states[:1])
            ).max(),
            "symplectic defect of a step (31)": defects[label][2],
        }
        numbers |= {f"{label}: {what}": float(value) for what, value in found.items()}
        numbers |= verdicts(label, list(found.values()))
        numbers[f"{label}: order"] = order(scheme)
        if defects[label][2] > ROUND_OFF:
            numbers[f"{label}: exponent of the symplectic defect in dt"] = float(
                np.log2(defects[label][-2] / defects[label][-1])
            )
    draw_schemes(runs, sizes, defects, output / "pendulum_schemes.png")
    return numbers


def verdicts(label: str, found: list[float]) -> dict:
    """Say what is kept, next to what the paper says is."""
    kept = [bool(value < ROUND_OFF) for value in found]
    names = [
        "stays on P",
        "keeps J_γ",
        "keeps the energy in constant gravity",
        "keeps the energy in a varying field",
        "is symplectic",
    ]
    values = [kept[0] and kept[1], *kept[2:]]
    numbers = {f"{label}: {name}": value for name, value in zip(names, values, strict=True)}
    if label in SAID:
        numbers |= {
            f"{label}: {name} (paper)": value for name, value in zip(names, (True, True, *SAID[label]), strict=True)
        }
    return numbers


def order(scheme: sx.manifolds.ManifoldMethod) -> float:
    """Return the order of the error at t = 4 in the varying field, between 40 and 80 steps."""
    exact = exact_path(VARYING, np.array([0.0, 4.0]))[-1]
    errors = []
    for steps in (40, 80):
        *_, end = scheme.march(VARYING, start_of(VARYING), 4.0 / steps, steps)
        errors.append(np.abs(np.r_[end.q, end.pi] - exact).max())
    return float(np.log2(errors[0] / errors[1]))


# -- 2. reduced --------------------------------------------------------------------------------------------------


def reduced(steps: int, output: File) -> dict:
    """Run the reduced schemes, their lifts, and follow the area that a step makes of an area."""
    numbers, areas = {}, {}
    start = VARYING.state([0.8, 0.0, -0.6], [0.9, 0.0, 1.2])
    plane = SwingPlane.of(VARYING, start)
    for form, name in PLANAR.items():
        method, label = PlanarMethod(form), f"reduced, {name}"
        states = list(method.march(VARYING, plane.reduce(start), DT, steps))
        lifted = method.lift.march(VARYING, start, DT, steps)
        rebuilt = [plane.reconstruct(state) for state in states]
        pairs = zip(lifted, rebuilt, strict=True)
        apart = max(np.abs(np.r_[a.q - b.q, a.pi - b.pi]).max() for a, b in pairs)
        factors = [method.area_factor(VARYING, state, DT) for state in states[:-1]]
        areas[form] = np.cumprod(factors)
        numbers |= {
            f"{label}: largest distance of the reconstructed motion from that on the sphere": float(apart),
            f"{label}: range of the energy": float(np.ptp([planar_energies(VARYING, s)["total"] for s in states])),
            f"{label}: largest |det − 1| of a step (47)": float(np.abs(np.subtract(factors, 1.0)).max()),
            f"{label}: largest change of an area over the run": float(np.abs(areas[form] - 1.0).max()),
            f"{label}: is symplectic": bool(np.abs(np.subtract(factors, 1.0)).max() < ROUND_OFF),
            f"{label}: is symplectic (paper)": form in ("plane", "projected"),
        }
    in_orbit, times = along_the_orbit()
    draw_reduced(areas, times, output / "pendulum_reduced.png")
    return numbers | in_orbit


# -- 3. along the exact orbit ------------------------------------------------------------------------------------


def along_the_orbit(dt: float = 0.3, steps: int = 200) -> tuple[dict, dict]:
    """Measure how long the exact motion takes for each step of a scheme, in the plane and constant gravity.

    With k² = (E + 1)/2, sin φ = sin(ϑ/2)/k and cos φ = π/2k, the time is the elliptic integral F(φ, k).
    """
    numbers, times, start = {}, {}, PlanarState(0.0, 1.0, 0.5)
    k2 = 0.5 * (planar_energies(CONSTANT, start)["total"] + 1.0)
    for form in ("sphere", "projected"):
        states = list(PlanarMethod(form).march(CONSTANT, start, dt, steps))
        phases = np.unwrap([np.arctan2(np.sin(s.theta / 2), s.pi / 2) for s in states])
        times[form] = np.diff(ellipkinc(phases, k2))
        label = f"reduced, {PLANAR[form]}, constant gravity, dt = {dt}"
        numbers[f"{label}: mean time that the exact motion takes for a step"] = float(times[form].mean())
        numbers[f"{label}: spread of these times"] = float(np.ptp(times[form]))
    return numbers, times


# -- 4. steady rotation ------------------------------------------------------------------------------------------


def steady_rotation(angle: float = 0.8, dt: float = 0.3, steps: int = 200) -> dict:
    """Start every scheme in the exact steady rotation of the varying field."""
    start, rate = VARYING.steady_rotation(angle)
    numbers = {"steady rotation: Ω dt": rate * dt, "steady rotation: 2 atan(Ω dt/2)": 2.0 * np.arctan(0.5 * rate * dt)}
    for label, scheme in SCHEMES.items():
        states = list(scheme.march(VARYING, start, dt, steps))
        angles = [np.arccos(np.clip(s.q @ GAMMA, -1.0, 1.0)) for s in states]
        turns = np.diff(np.unwrap([np.arctan2(s.q[1], s.q[0]) for s in states]))
        numbers[f"steady rotation, {label}: largest change of the angle from the axis [rad]"] = float(
            np.abs(np.subtract(angles, angle)).max()
        )
        numbers[f"steady rotation, {label}: mean turn in a step [rad]"] = float(abs(turns.mean()))
    return numbers


# -- 5. without symmetry -----------------------------------------------------------------------------------------


def without_symmetry(steps: int, output: File, dt: float = 0.2) -> dict:
    """March for long where only the scheme itself can keep the energy."""
    numbers, runs = {}, {}
    for label in (MIDPOINT, SYMPLECTIC, REGULAR):
        change = energy(RUGGED, SCHEMES[label].march(RUGGED, start_of(RUGGED), dt, steps))
        change -= change[0]
        runs[label] = change
        last = change[-len(change) // 5 :]
        numbers |= {
            f"no symmetry, {label}: largest change of the energy": float(np.abs(change).max()),
            f"no symmetry, {label}: mean change of the energy in the last fifth": float(last.mean()),
            f"no symmetry, {label}: symplectic defect of a step (31)": symplectic_defect(
                SCHEMES[label], RUGGED, start_of(RUGGED), dt
            ),
        }
    numbers["no symmetry: steps"], numbers["no symmetry: dt"] = steps, dt
    gains = [gain(SCHEMES[MIDPOINT], size) for size in (0.1, 0.05)]
    numbers[f"no symmetry, {MIDPOINT}: exponent of the gain of energy in dt"] = float(np.log2(gains[0] / gains[1]))
    draw_energies(runs, dt, output / "pendulum_field.png")
    return numbers


def gain(scheme: sx.manifolds.ManifoldMethod, dt: float) -> float:
    """Return the mean change of the energy from t = 160 to 200."""
    steps = round(200.0 / dt)
    change = energy(RUGGED, scheme.march(RUGGED, start_of(RUGGED), dt, steps))
    return float(change[-steps // 5 :].mean() - change[0])


# -- pictures ----------------------------------------------------------------------------------------------------


def draw_schemes(runs: dict, sizes: np.ndarray, defects: dict, file: File) -> None:
    """Draw the path from above, the energy, and the symplectic defect, all in the varying field."""
    figure, panels = plt.subplots(1, 3, figsize=(13, 4.6), dpi=100, layout="constrained")
    path = exact_path(VARYING, np.linspace(0.0, 12.0, 801))
    panels[0].add_patch(plt.Circle((0, 0), 1.0, fill=False, color="0.7"))
    panels[0].plot(*path[:, :2].T, color="black", linewidth=0.8)
    for label in (MIDPOINT, SYMPLECTIC, REGULAR):
        states = SCHEMES[label].march(VARYING, start_of(VARYING), 0.4, 30)
        panels[0].plot(*np.array([s.q[:2] for s in states]).T, "o", color=COLOURS[label], markersize=4, alpha=0.7)
    panels[0].set(aspect="equal", title="path from above, dt = 0.4 (line: exact)", xlabel="x", ylabel="y")
    marks = ({"markersize": size, "linewidth": 0.3 * size} for size in (12, 7, 4, 8, 4))
    for label, states in runs.items():
        values = energy(VARYING, states[:301])
        panels[1].semilogy(
            [s.t for s in states[:301]],
            np.maximum(np.abs(values - values[0]), 1e-17),
            color=COLOURS[label],
            linewidth=0.8,
        )
        panels[2].loglog(sizes, defects[label], "o-", color=COLOURS[label], label=label, **next(marks))
    panels[1].set(title=f"|change of the energy|, dt = {DT}", xlabel="t", ylim=(1e-17, 1))
    panels[2].loglog(sizes, 0.4 * sizes**3, "--", color="0.5", label="dt³")
    panels[2].set(title="symplectic defect of a step (eq. 31)", xlabel="dt", ylim=(1e-13, 1))
    panels[2].set_xticks(sizes, [f"{size:g}" for size in sizes])
    panels[2].minorticks_off()
    for axes in panels[1:]:
        axes.grid(alpha=0.25)
    figure.legend(*panels[2].get_legend_handles_labels(), loc="outside lower center", ncols=6)
    figure.suptitle("Spherical pendulum, V = −g(γ·q), g(s) = s + 0.3 s² + 0.4 s³")
    figure.savefig(file)
    plt.close(figure)


def draw_reduced(areas: dict, times: dict, file: File) -> None:
    """Draw areas over time, and the times that the exact motion takes for the steps."""
    figure, panels = plt.subplots(1, 2, figsize=(12, 4.4), dpi=100, layout="constrained")
    for form, name in PLANAR.items():
        t = DT * np.arange(len(areas[form]) + 1)
        area = np.r_[1.0, areas[form]]
        width = 3.0 if form == "plane" else 1.2
        panels[0].plot(t[t <= 30], area[t <= 30], color=PLANAR_COLOURS[form], linewidth=width, label=name)
    panels[0].set(title=f"area in the phase plane, varying field, dt = {DT}", xlabel="t", ylim=(0.995, 1.007))
    for form, values in times.items():
        panels[1].plot(values[:100], ".-", color=PLANAR_COLOURS[form], linewidth=0.6, label=PLANAR[form])
    panels[1].set(
        title="time of the exact motion for each step of 0.3, constant gravity", xlabel="step", ylim=(0.294, 0.301)
    )
    for axes in panels:
        axes.grid(alpha=0.25)
        axes.legend(loc="upper right", ncols=2)
    figure.suptitle("Spherical pendulum, reduced to one angle")
    figure.savefig(file)
    plt.close(figure)


def draw_energies(runs: dict, dt: float, file: File) -> None:
    figure, axes = plt.subplots(figsize=(9, 4.2), dpi=100, layout="constrained")
    for label, change in runs.items():
        axes.plot(dt * np.arange(len(change)), change, color=COLOURS[label], linewidth=0.4)
        axes.plot([], [], color=COLOURS[label], linewidth=2.5, label=label)
    axes.set(
        xlabel="t", ylabel="change of the energy", title=f"Spherical pendulum in a field without symmetry, dt = {dt}"
    )
    axes.grid(alpha=0.25)
    axes.legend()
    figure.savefig(file)
    plt.close(figure)


def main() -> None:
    """Run all parts, write numbers.json and the pictures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=File, default=File("results/spherical_pendulum"))
    parser.add_argument("--full", action="store_true", help="ten times longer runs")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    longer = 10 if options.full else 1
    numbers = on_the_sphere(300 * longer, options.output)
    numbers |= reduced(300 * longer, options.output)
    numbers |= steady_rotation()
    numbers |= without_symmetry(2500 * longer, options.output)
    (options.output / "numbers.json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    for name, value in numbers.items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    main()
