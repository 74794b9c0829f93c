"""A magnetised body in a uniform field, on SO(3): section 4.5 of Tao and Owhadi (2014), its Figures 9 and 10.

    python examples/magnetised_body.py [--output DIR] [--full]

Tao and Owhadi, "Variational and linearly-implicit integrators, with applications" (2014). The body has the inertia of a
ball and a dipole along its third axis; the field is along z, V = R₃₃ (the paper does not print B μ: here it is 1). The
variational method on the group solves three nonlinear equations a step, and R stays a rotation to round-off; that of
Zhang and Skeel for a body relaxed to any matrix solves nine linear ones, and R stays near the rotations.

The paper's β = 0.4 belongs to a formula that weighs accelerations by 1 where the kinetic energy has ½: in the usual
one, which `BodyZhangSkeel` has, it is 0.2.

``--full`` takes the paper's step of 10⁻⁴ for the reference (by default a composed method of order 6 does).
"""

import argparse
import json
from pathlib import Path
from time import process_time

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import symplex as sx

H = 0.1
T = 40.0
FIELD = np.array([0.0, 0.0, 1.0])

body = sx.manifolds.RigidBody(1.0, sx.manifolds.UniformField(1.0))
relaxed = sx.manifolds.RelaxedBody(body, omega=10.0)
start = body.state(omega=(1.0, 0.2, 0.1))  # printed
loose = relaxed.state(start)
METHODS = {
    "Zhang-Skeel, Euler": (sx.manifolds.BodyZhangSkeel(0.2, "euler"), relaxed, loose, "#c0392b"),
    "Zhang-Skeel, trapezoidal": (sx.manifolds.BodyZhangSkeel(0.2), relaxed, loose, "#d08a1d"),
    "Cayley, Euler": (sx.manifolds.BodyCayley("euler"), body, start, "#2c5fa8"),
    "Cayley, trapezoidal": (sx.manifolds.BodyCayley(), body, start, "#2e8b57"),
}


def march(name: str) -> tuple[list, float]:
    """Return the states of a method at all steps, and the seconds of processor time it took."""
    method, system, state, _ = METHODS[name]
    began = process_time()
    states = list(method.march(system, state, H, round(T / H)))
    return states, process_time() - began


def reference(full: bool) -> np.ndarray:
    """Return the rotations [steps + 1, 3, 3] at the same times, by far smaller errors."""
    if full:
        states = sx.manifolds.BodyCayley("euler").march(body, start, 1e-4, round(T / 1e-4), every=round(H / 1e-4))
    else:
        states = sx.manifolds.ComposedMethod(sx.manifolds.BodyCayley(), 6).march(body, start, H, round(T / H))
    return np.array([state.R for state in states])


def measures(system, states, rotations) -> dict[str, np.ndarray]:
    """Return the errors of Figure 10 over time: of energy, of RᵀR, of R; and of the momentum along the field."""
    R = np.array([state.R for state in states])
    energy = np.array([system.energies_of(state)["total"] for state in states])
    along = np.array([system.angular_momentum(state) @ FIELD for state in states])
    return {
        "energy": energy - energy[0],
        "|RᵀR − I|": np.linalg.norm(R.swapaxes(1, 2) @ R - np.eye(3), axis=(1, 2)),
        "|R − R'|": np.linalg.norm(R - rotations, axis=(1, 2)),
        "momentum along the field": along - along[0],
    }


def draw_errors(found: dict[str, dict[str, np.ndarray]], file: Path) -> None:
    """Draw what Figure 10 shows, for both quadratures of both methods."""
    t = H * np.arange(round(T / H) + 1)
    figure, panels = plt.subplots(1, 3, figsize=(13, 4), constrained_layout=True)
    for name, errors in found.items():
        for axes, what in zip(panels, ("energy", "|RᵀR − I|", "|R − R'|"), strict=True):
            size = np.maximum(np.abs(errors[what]), 1e-17)
            axes.semilogy(t[1:], size[1:], color=METHODS[name][-1], linewidth=1.0, label=name)
            axes.set(title=f"{what}, h = {H}", xlabel="time")
            axes.grid(alpha=0.25)
    panels[0].set(title=f"|energy − initial energy|, h = {H}")
    panels[1].legend(loc="center right")
    figure.suptitle("Magnetised body (Tao and Owhadi 2014, Figure 10)")
    figure.savefig(file)
    plt.close(figure)


def draw_snapshots(states, rotations, file: Path) -> None:
    """Draw the path of the dipole on the unit sphere, of the reference and of the linearly implicit method."""
    R = np.array([state.R for state in states])
    figure = plt.figure(figsize=(11, 5), constrained_layout=True)
    u, w = np.meshgrid(np.linspace(0.0, 2.0 * np.pi, 49), np.linspace(0.0, np.pi, 25))
    shown = round(20.0 / H)
    for n, (title, path) in enumerate((("reference", rotations), (f"Zhang-Skeel, Euler, h = {H}", R)), start=1):
        axes = figure.add_subplot(1, 2, n, projection="3d")
        axes.plot_wireframe(np.cos(u) * np.sin(w), np.sin(u) * np.sin(w), np.cos(w), color="0.85", linewidth=0.4)
        tip = path[: shown + 1, :, 2]
        axes.plot(*tip.T, color="#2c5fa8", linewidth=0.9)
        for k in range(0, round(3.5 / H), round(0.5 / H)):
            axes.quiver(0, 0, 0, *tip[k], color="black", linewidth=1.2, arrow_length_ratio=0.12)
        axes.quiver(0, 0, 0, 0, 0, 1.3, color="#c0392b", linewidth=1.8, arrow_length_ratio=0.1)
        axes.set(title=title, xlim=(-1, 1), ylim=(-1, 1), zlim=(-1, 1))
        axes.view_init(elev=15.0, azim=25.0)
        axes.set_box_aspect((1, 1, 1), zoom=1.35)
        axes.set_axis_off()
    figure.suptitle("The field (red), the dipole at t = 0, ½, … 3 (black), and the path of its tip for t ≤ 20 (blue)")
    figure.savefig(file, dpi=75)
    plt.close(figure)


def orders() -> dict[str, float]:
    """Return how errors at t = 2 fall with the step, as powers."""
    exact = list(sx.manifolds.ComposedMethod(sx.manifolds.BodyCayley(), 8).march(body, start, 0.1, 20, every=20))[-1].R
    tight = list(
        sx.manifolds.ComposedMethod(sx.manifolds.BodyZhangSkeel(), 6).march(relaxed, loose, 0.01, 200, every=200)
    )[-1].R
    powers = {}
    for name, (method, system, state, _) in METHODS.items():
        requested, steps = (exact, (40, 80)) if system is body else (tight, (800, 1600))
        errors = []
        for n in steps:
            *_, end = method.march(system, state, 2.0 / n, n, every=n)
            errors.append(np.linalg.norm(end.R - requested))
        powers[f"{name}: order"] = float(np.log2(errors[0] / errors[1]))
    return powers


def main(output: Path, full: bool) -> None:
    """Follow all methods, write numbers.json and the pictures."""
    output.mkdir(parents=True, exist_ok=True)
    rotations = reference(full)
    numbers: dict[str, float] = {"β of the paper": 0.4, "β in the usual formula": 0.2}
    found, runs = {}, {}
    for name, (_, system, _, _) in METHODS.items():
        runs[name], seconds = march(name)
        found[name] = measures(system, runs[name], rotations)
        for what, values in found[name].items():
            numbers[f"{name}: greatest {what}"] = float(np.abs(values).max())
        numbers[f"{name}: |R − R'| at t = 5"] = float(found[name]["|R − R'|"][round(5.0 / H)])
        numbers[f"{name}: µs per step"] = 1e6 * seconds / (len(runs[name]) - 1)
    numbers["Cayley over Zhang-Skeel, Euler: time per step"] = (
        numbers["Cayley, Euler: µs per step"] / numbers["Zhang-Skeel, Euler: µs per step"]
    )
    numbers["Cayley over Zhang-Skeel, Euler: time per step (paper)"] = 1.45 / 0.03
    numbers |= orders()
    draw_errors(found, output / "magnetised_body.png")
    draw_snapshots(runs["Zhang-Skeel, Euler"], rotations, output / "magnetised_body_path.png")
    (output / "numbers.json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    for name, value in numbers.items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("results/magnetised_body"))
    parser.add_argument("--full", action="store_true", help="the paper's reference, Euler's method at h = 10⁻⁴")
    options = parser.parse_args()
    main(options.output, options.full)
