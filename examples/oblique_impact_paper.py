"""Section 6.3 of the force-stepping paper: its Figures 19 to 23, and the convergence that it does not show.

    python examples/oblique_impact_paper.py [--output DIR] [--full]

Gonzalez, Schmidt and Ortiz, "Force-stepping integrators in Lagrangian mechanics" (2010). By default Newmark's step is
1 ns, the average steps are taken over the first 20 µs and few lattices are tried, which takes about half a minute;
``--full`` is the paper's length (0.2 ns, 60 µs, all meshes) and takes some minutes.
"""

import argparse
import json
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import symplex as sx

HERE = Path(__file__).parent
GRID, DURATION = 5e-4, 60e-6  # m, s
FRAMES = (0, 8e-6, 16e-6, 24e-6, 32e-6, 40e-6, 48e-6, 60e-6)  # s
SECTION_TIMES = 5e-6 * np.arange(12)  # s; those of Figure 19 are in its picture only
SIDE, FACE = 0.1, 0.101  # m: of the cube, and where y = z meets the wall
# Lattice axes with the wall's normal along the second.
WALL_AXES = np.array([[1, 0, 0], [0, np.sqrt(0.5), np.sqrt(0.5)], [0, -np.sqrt(0.5), np.sqrt(0.5)]])


def impact(mesh_name: str) -> tuple[sx.System, sx.State]:
    """Return the cube before the wall."""
    mesh = sx.cube_mesh(mesh_name)
    cells = mesh.cells["tetra"]
    aluminium = sx.NeoHookean(lmbda=60.5e9, mu=26e9, density=2700.0)
    wall = sx.HalfSpace(point=(0.101, 0.101, 0.101), normal=(0, -1, -1), normalize=False)
    system = sx.System(
        sx.lumped_mass(mesh.points, cells, aluminium.density, len(mesh.points)),
        {
            "strain": sx.Solid(mesh.points, cells, aluminium),
            "wall": sx.RigidContact.from_penalty(mesh.boundary_nodes, wall, penalty=1e-14),
        },
    )
    return system, system.state(mesh.points, v=(1000.0, 1000.0, 1000.0))


def both_methods(output: Path, full: bool) -> dict:
    """Run both scenarios and draw their histories and snapshots (Figs. 19 to 22)."""
    histories, numbers = {}, {}
    for label, name in (("force-stepping", "oblique_impact"), ("Newmark", "oblique_impact_newmark")):
        text = (HERE / f"{name}.toml").read_text(encoding="utf-8")
        scenario = output / f"{name}.toml"
        scenario.write_text(text if full else text.replace("dt = 0.2e-9", "dt = 1e-9"), encoding="utf-8")
        summary = sx.simulate(scenario, output / name, overwrite=True, progress=False, pictures=False)
        histories[label] = sx.read_history(output / name / "history.csv")
        numbers[f"{label}: mean velocity [m/s]"] = summary["mean_velocity_end"]
        numbers[f"{label}: peak strain energy [J]"] = float(histories[label]["cube"].max())
    stepping, newmark = histories["force-stepping"], histories["Newmark"]
    numbers["force-stepping: drift of K + V_h"] = relative_range(stepping["lattice_total"])
    numbers["Newmark: range of the energy"] = relative_range(newmark["total"])
    numbers["force-stepping: range of x-momentum"] = relative_range(stepping["momentum_x"])
    numbers["Newmark: range of x-momentum"] = relative_range(newmark["momentum_x"])
    sx.runs.compare_histories(histories, output / "figures_21_22.png")
    series = sx.read_series(output / "oblique_impact" / "motion.vtkhdf")
    sx.render_snapshots(series, output / "figure_20.png", times=FRAMES)
    return numbers


def section(output: Path, full: bool) -> dict:
    """Follow the nodes that were in the yz mid-plane of the cube, by force-stepping and by Newmark (Fig. 19)."""
    system, state = impact("I")
    inside = np.isclose(state.q[:, 0], 0.5 * SIDE)
    newmark = sx.Newmark(2e-10 if full else 1e-9)
    stepping, steps = (
        np.array([s.q[inside] for s in sx.march(system, method, state, SECTION_TIMES)])
        for method in (sx.ForceStepping(GRID), newmark)
    )
    numbers = {"section: times [µs]": (SECTION_TIMES * 1e6).round(6).tolist()}
    for label, path in (("force-stepping", stepping), ("Newmark", steps)):
        depth = (2.0 * FACE - path[:, :, 1] - path[:, :, 2]) / np.sqrt(2.0)  # of each node before the wall
        x = path[:, :, 0] - path[:, :, 0].mean(axis=1, keepdims=True)
        numbers |= {
            f"section, {label}: distance from the wall [mm]": (1e3 * depth.min(axis=1)).tolist(),
            f"section, {label}: extent normal to the wall, of that at the start": (
                np.ptp(depth, axis=1) / np.ptp(depth[0])
            ).tolist(),
            f"section, {label}: rotation [degrees]": np.degrees([rotation(path[0], q) for q in path]).tolist(),
            f"section, {label}: largest distance from a plane x = constant [mm]": float(1e3 * np.abs(x).max()),
        }
    apart = np.linalg.norm(stepping - steps, axis=2).max(axis=1)
    numbers["section: largest distance of a node between both methods [mm]"] = (1e3 * apart).tolist()
    draw_section(inside, stepping, steps, output / "figure_19.png")
    return numbers


def rotation(before: np.ndarray, after: np.ndarray) -> float:
    """Return the angle in rad about x by which points [n, 3] have turned, in the least squares sense."""
    (_, y0, z0), (_, y1, z1) = ((q - q.mean(axis=0)).T for q in (before, after))
    return float(np.arctan2(np.sum(y0 * z1 - z0 * y1), np.sum(y0 * y1 + z0 * z1)))


def draw_section(inside: np.ndarray, stepping: np.ndarray, steps: np.ndarray, file: Path) -> None:
    """Draw the triangles of the mid-plane [times, nodes, 3] at all times, over those by Newmark."""
    cells = sx.cube_mesh("I").cells["tetra"]
    faces = np.sort(np.concatenate([np.delete(cells, k, axis=1) for k in range(4)]), axis=1)
    faces = np.unique(faces[inside[faces].all(axis=1)], axis=0)
    triangles = (np.cumsum(inside) - 1)[faces]
    figure, panels = plt.subplots(2, 6, figsize=(13, 5.2), dpi=90, layout="constrained", sharex=True, sharey=True)
    wall = 1e3 * (FACE + np.array([[-1.0, 1.0], [1.0, -1.0]]))
    for t, ours, theirs, axes in zip(SECTION_TIMES, stepping, steps, panels.ravel(), strict=True):
        axes.plot(*wall, color="#8a94a6", linewidth=3.0)
        axes.triplot(*1e3 * theirs[:, 1:].T, triangles, color="#c0392b", linewidth=0.8)
        axes.triplot(*1e3 * ours[:, 1:].T, triangles, color="#2c5fa8", linewidth=1.2)
        axes.set_title(f"{t * 1e6:.0f} µs")
        axes.set_aspect("equal")
    panels[0, 0].set(xlim=(-8, 140), ylim=(-8, 140))
    for axes in panels[-1]:
        axes.set_xlabel("y in mm")
    for axes in panels[:, 0]:
        axes.set_ylabel("z in mm")
    figure.suptitle("yz mid-plane of the cube: force-stepping (blue), Newmark (red) (Figure 19)")
    figure.savefig(file)
    plt.close(figure)


def relative_range(values: np.ndarray) -> float:
    """Return (max − min)/|first|."""
    return float(np.ptp(values) / abs(values[0]))


def average_steps(output: Path, full: bool) -> dict:
    """Count the simplex crossings on the three meshes (Fig. 23: the average step is O(h/N²))."""
    duration = DURATION if full else 20e-6
    dofs, steps, numbers = [], [], {}
    for name in ("I", "II", "III"):
        system, state = impact(name)
        motion = sx.ForceStepping(GRID, count_crossings=True).start(system, state)
        motion.advance(duration)
        dofs.append(3 * system.n_nodes)
        steps.append(duration / motion.statistics()["crossings"])
        numbers[f"average step on mesh {name} [ns]"] = steps[-1] * 1e9
        numbers[f"share of crossings that change nothing, mesh {name}"] = (
            motion.statistics()["other_crossings"] / motion.statistics()["crossings"]
        )
    slope, constant = np.polyfit(np.log(dofs), np.log(steps), 1)
    numbers["exponent of the average step in N"] = float(slope)
    numbers["exponent of the average step in N (paper)"] = -2
    numbers["average step on mesh I [ns] (paper: in the order of)"] = 0.2
    figure, axes = plt.subplots(figsize=(6, 4.5), layout="constrained")
    axes.loglog(dofs, np.array(steps) * 1e9, "o", label="meshes I, II, III")
    axes.loglog(dofs, np.exp(constant) * np.array(dofs) ** slope * 1e9, "-", label=f"slope {slope:.2f}")
    axes.set(xlabel="degrees of freedom 3N", ylabel="average step [ns]", title="Figure 23")
    axes.legend()
    figure.savefig(output / "figure_23.png", dpi=150)
    return numbers


def convergence(output: Path, full: bool) -> dict:
    """Measure the rebound and the peak strain energy against Newmark as h falls, for two directions of the lattice."""
    system, state = impact("I")
    reference = rebound(system, sx.Newmark(dt=2e-10 if full else 1e-9).start(system, state))
    grids = [2.0**-k * 1e-3 for k in range(7 if full else 4)]
    numbers = {
        "Newmark: reference mean velocity [m/s]": reference[:3].tolist(),
        "Newmark: reference peak strain energy [J]": float(reference[3]),
    }
    figure = plt.figure(figsize=(11, 4.5), layout="constrained")
    panels = figure.subplots(1, 2)
    for lattice, axes in (("coordinate axes", None), ("wall axes", WALL_AXES)):
        errors = np.array([lattice_error(system, state, h, axes, reference, 6 if full else 2) for h in grids])
        measures = {
            "mean velocity [m/s]": np.linalg.norm(errors[:, :3], axis=1),
            "mean x-velocity [m/s]": errors[:, 0],
            "peak strain energy [relative]": errors[:, 3] / reference[3],
        }
        for what, error in measures.items():
            numbers |= {f"error of {what}, {lattice}, h = {h:.3g} m": e for h, e in zip(grids, error, strict=True)}
            numbers[f"order of {what}, {lattice}"] = float(np.polyfit(np.log(grids), np.log(error), 1)[0])
        panels[0].loglog(grids, measures["mean velocity [m/s]"], "o-", label=lattice)
        panels[1].loglog(grids, measures["peak strain energy [relative]"], "o-", label=lattice)
    panels[0].set(xlabel="grid size h [m]", ylabel="rms error of the mean velocity [m/s]")
    panels[1].set(xlabel="grid size h [m]", ylabel="rms relative error of the peak strain energy")
    panels[0].legend(title="lattice along")
    figure.savefig(output / "convergence.png", dpi=150)
    return numbers


def lattice_error(system, state, h: float, axes, reference: np.ndarray, seeds: int) -> np.ndarray:
    """Return the root mean square errors over several lattice offsets."""
    runs = [rebound(system, sx.ForceStepping(h, seed=k, axes=axes).start(system, state)) for k in range(seeds)]
    return np.sqrt(np.mean((np.array(runs) - reference) ** 2, axis=0))


def rebound(system: sx.System, motion) -> np.ndarray:
    """Return the mean velocity [3] in m/s at the end, and the peak strain energy in J."""
    peak = 0.0
    for t in np.linspace(0.0, DURATION, 301):
        state = motion.advance(t)
        peak = max(peak, system.energies["strain"].total(state.q))
    return np.append(system.momentum(state) / system.mass.sum(), peak)


def reversal() -> dict:
    """Go 10 µs into the impact, reverse the velocities and come back."""
    system, start = impact("I")
    there = sx.ForceStepping(GRID).start(system, start).advance(10e-6)
    back = sx.ForceStepping(GRID).start(system, there.reversed()).advance(20e-6)
    return {
        "reversal after 10 µs: distance from the start [m]": float(np.abs(back.q - start.q).max()),
        "reversal after 10 µs: change of speed on the way [m/s]": float(np.abs(there.v - start.v).max()),
    }


def main() -> None:
    """Run all parts, write numbers.json and the pictures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("results/oblique_impact_paper"))
    parser.add_argument("--full", action="store_true", help="the paper's length")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    numbers = both_methods(options.output, options.full)
    numbers |= section(options.output, options.full)
    numbers |= average_steps(options.output, options.full)
    numbers |= convergence(options.output, options.full)
    numbers |= reversal()
    (options.output / "numbers.json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    for name, value in numbers.items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    main()
