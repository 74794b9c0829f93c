"""Damping measured against theory: the decay of a beam, the loss of a Maxwell element, and blocks that tumble.

A clamped beam with Rayleigh's damping of given ratios at its first two frequencies of bending; the loss modulus and the
stress relaxation of a Prony series; a tumbling block with damping in proportion to its initial stiffness and to its
strain rate. Writes ``damping.png``: ``python examples/damping.py``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from scipy.linalg import eigh

import symplex as sx

STEEL = sx.SaintVenantKirchhoff.from_young(E=2e9, nu=0.3, density=1000.0)
RUBBER = sx.NeoHookean.from_young(E=1e5, nu=0.3, density=1000.0)
MODULI, TIMES = np.array([2e4, 1e4]), np.array([0.02, 0.3])


def beam(cells: tuple[int, int, int] = (8, 1, 1)) -> tuple[sx.Solid, np.ndarray, np.ndarray]:
    """Return a beam, its nodal masses and what of it is clamped."""
    mesh = sx.box((1.0, 0.12, 0.1), cells, split="hexahedra")
    solid = sx.Solid(mesh.points, mesh.cells["hexahedron"], STEEL)
    mass = sx.lumped_mass(mesh.points, solid.nodes, STEEL.density, len(mesh.points))
    fixed = np.zeros(mesh.points.shape, bool)
    fixed[mesh.points[:, 0] == 0.0] = True
    return solid, mass, fixed


def measured_ratios(ratios: tuple[float, float], steps: int = 80, periods: int = 4) -> list[tuple[float, float]]:
    """Return the frequency in Hz and the damping ratio of each of two modes, from their logarithmic decrements."""
    solid, mass, fixed = beam()
    free = ~fixed.ravel()
    K = sx.System(mass, {"beam": solid}).hessian(solid.points).toarray()[np.ix_(free, free)]
    squared, modes = eigh(K, np.diag(np.repeat(mass, 3)[free]), subset_by_index=[0, 2])
    chosen = [0, 2]  # the two lowest that bend in z and y are about alike: the lowest, and the second of its plane
    omega = np.sqrt(squared[chosen])
    beta = 2.0 * (ratios[1] * omega[1] - ratios[0] * omega[0]) / (omega[1] ** 2 - omega[0] ** 2)
    alpha = 2.0 * ratios[0] * omega[0] - beta * omega[0] ** 2
    loads = {"mass": sx.actions.Drag(mass, alpha), "stiffness": sx.ViscousStress.proportional(solid, beta)}
    system = sx.System(mass, {"beam": solid}, fixed=fixed, loads=loads)
    found = []
    for k, w in zip(chosen, omega, strict=True):
        shape = np.zeros(free.size)
        shape[free] = modes[:, k]
        shape = shape.reshape(-1, 3)
        state = system.state(solid.points + 1e-5 * shape / np.abs(shape).max())
        t = 2.0 * np.pi / w / steps * np.arange(steps * periods + 1)
        path = sx.record(system, sx.EnergyMomentum(t[1]), state, t)
        x = np.einsum("tni,ni,n->t", path.q - solid.points, shape, mass)
        peaks = [i for i in range(1, len(x) - 1) if x[i - 1] < x[i] > x[i + 1]]
        heights, times = zip(*(_top(t[i - 1 : i + 2], x[i - 1 : i + 2]) for i in peaks), strict=True)
        decrement = np.log(heights[0] / heights[-1]) / (len(peaks) - 1)
        found.append(((len(peaks) - 1) / (times[-1] - times[0]), decrement / np.hypot(2.0 * np.pi, decrement)))
    return found


def _top(t: np.ndarray, x: np.ndarray) -> tuple[float, float]:
    """Return the height and the time of the top of the parabola through three points."""
    a, b, c = np.polyfit(t - t[1], x, 2)
    return c - b * b / (4.0 * a), t[1] - b / (2.0 * a)


def loss_moduli(frequencies: np.ndarray, longest: float = 2e-3) -> np.ndarray:
    """Return the loss modulus in Pa of a Prony series in simple shear, from the energy that a cycle dissipates."""
    mesh = sx.box((1.0, 1.0, 1.0), (1, 1, 1), split="hexahedra")
    solid = sx.Solid(mesh.points, mesh.cells["hexahedron"], RUBBER)
    part = sx.Viscoelastic(solid, MODULI, TIMES)
    found = []
    for frequency in frequencies:
        steps = int(max(200, np.ceil(1.0 / (frequency * longest))))
        h, q, z, lost = 1.0 / (frequency * steps), mesh.points, part.unstrained(), 0.0
        cycles = 2 + int(1.5 * frequency)
        for k in range(cycles * steps):
            q1 = mesh.points.copy()
            q1[:, 0] += 1e-4 * np.sin(2.0 * np.pi * (k + 1) / steps) * mesh.points[:, 2]
            z, dissipated = part.after(q, z, q1, h)
            lost += dissipated if k >= (cycles - 1) * steps else 0.0
            q = q1
        found.append(lost / (np.pi * 1e-8))
    return np.array(found)


def tumbling(damping: str, end: float = 2.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return times, kinetic energies and angular momenta of a block that turns about once in a second."""
    mesh = sx.box((0.3, 0.2, 0.1), (2, 2, 1), split="hexahedra")
    solid = sx.Solid(mesh.points, mesh.cells["hexahedron"], RUBBER)
    mass = sx.lumped_mass(mesh.points, solid.nodes, RUBBER.density, len(mesh.points))
    loads = {
        "none": {},
        "initial": {"damping": sx.actions.StiffnessDamping(solid, mesh.points, 1e-3)},
        "strain-rate": {"damping": sx.ViscousStress.proportional(solid, 1e-3)},
    }[damping]
    system = sx.System(mass, {"block": solid}, loads=loads)
    v = np.cross([0.0, 0.0, 6.0], mesh.points - mesh.points.mean(axis=0))
    t = np.linspace(0.0, end, 81)
    path = sx.record(system, sx.EnergyMomentum(5e-3), system.state(mesh.points, v), t)
    momenta = np.linalg.norm(path.angular_momentum, axis=1)
    return t, path.energies["kinetic"], momenta


def main(folder: Path = Path()) -> None:
    """Measure, print and draw."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(13, 3.8), layout="constrained")
    requested = (0.02, 0.03)
    found = measured_ratios(requested)
    for (frequency, ratio), target in zip(found, requested, strict=True):
        print(f"beam: {frequency:.2f} Hz, ratio {ratio:.5f}, expected {target}")
    (f1, _), (f2, _) = found
    beta = (requested[1] * f2 - requested[0] * f1) / (f2**2 - f1**2)
    alpha = requested[0] * f1 - beta * f1**2
    f = np.linspace(0.4 * f1, 1.6 * f2, 200)
    left.plot(f, alpha / f + beta * f, color="0.6", label="α/(2ω) + βω/2")
    left.plot(*zip(*found, strict=True), "o", label="measured")
    left.set(xlabel="frequency in Hz", ylabel="damping ratio", ylim=(0.0, None), title="a beam with Rayleigh's damping")

    f = np.geomspace(0.1, 50.0, 9)
    measured = loss_moduli(f)
    fine = np.geomspace(0.1, 50.0, 200)
    x, y = (2.0 * np.pi * np.multiply.outer(each, TIMES) for each in (fine, f))
    error = np.abs(measured / np.sum(MODULI * y / (1.0 + y * y), axis=1) - 1.0).max()
    print(f"loss modulus: {error:.1e} from theory at the most")
    middle.loglog(fine, np.sum(MODULI * x / (1.0 + x * x), axis=1), color="0.6", label="Σ μ ωτ/(1 + ω²τ²)")
    middle.loglog(f, measured, "o", label="measured")
    middle.set(xlabel="frequency in Hz", ylabel="loss modulus in Pa", title="two Maxwell elements")

    for damping, style in (("none", "-"), ("initial", "-"), ("strain-rate", "--")):
        t, kinetic, momenta = tumbling(damping)
        print(f"tumbling, {damping}: angular momentum at the end {momenta[-1] / momenta[0]:.12f} of that at the start")
        right.plot(t, kinetic / kinetic[0], style, label={"none": "no damping"}.get(damping, damping))
    right.set(xlabel="time in s", ylabel="kinetic energy", ylim=(0.0, 1.1), title="a block that turns")
    for axes in (left, middle, right):
        axes.legend()
    figure.savefig(folder / "damping.png", dpi=110)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path())
