"""A steel cylinder tumbles onto a clamped rubber sheet and is thrown back, by large steps that keep energy.

    python examples/rigid_projectile.py [--output DIR] [--full]

The cylinder is rigid: four particles with its mass, centre and inertia, which its surface follows. The sheet is of
rubber, clamped at its rim; between both is the penalty contact of surfaces. Explicit Newmark holds the particles
together by an energy; for Rattle, at the same small step, and for energy-momentum, with steps fifty times as large,
the cylinder is a frame, which is rigid exactly. Energy-momentum keeps the energy to round-off.

``--full`` takes a finer sheet and a finer cylinder.
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

import symplex as sx
from symplex.contact import BodyContact, RigidBodies, RigidBody, Surface

EDGE, THICKNESS = 0.3, 0.01  # of the sheet, in m
RADIUS, LENGTH = 0.015, 0.06  # of the cylinder
VELOCITY, SPIN = (3.0, 0.0, -12.0), (20.0, 120.0, 0.0)  # in m/s and rad/s
DISTANCE, STIFFNESS = 3e-3, 2e10  # of contact, in m and N/m³
END, LOOKS = 0.04, 80
SMALL, LARGE = 5e-6, 2.5e-4  # steps in s
COLORS = {"explicit Newmark": "#c0392b", "Rattle": "#2c5fa8", "energy-momentum": "#2e8b57"}


@dataclass(frozen=True)
class Impact:
    """The sheet and the cylinder, with what both have: masses, supports, energies but for what holds the cylinder."""

    sheet: sx.Mesh
    strain: sx.Solid
    rigid: RigidBodies
    contact: BodyContact
    mass: np.ndarray
    fixed: np.ndarray

    def system(self, frequency: float | None) -> sx.System:
        """Return the system, with the cylinder kept rigid by an energy of this frequency, or exactly, as a frame."""
        energies = {"sheet": self.strain, "contact": self.rigid.of_points(self.contact)}
        if frequency is None:
            return sx.System(self.mass, energies, fixed=self.fixed, frames=self.rigid.frames())
        return sx.System(self.mass, energies | {"cylinder": self.rigid.rigidity(frequency)}, fixed=self.fixed)

    def start(self, system: sx.System) -> sx.State:
        """Return the state at the start."""
        v = self.rigid.velocities(np.zeros(3), {"cylinder": VELOCITY}, {"cylinder": SPIN})
        return system.state(self.rigid.positions(self.sheet.points), v)


@dataclass(frozen=True)
class Run:
    """One run: where the cylinder is, how fast, and what is kept, look by look."""

    path: sx.Trajectory
    steps: int
    seconds: float
    velocity: np.ndarray
    spin: np.ndarray


def impact(full: bool) -> Impact:
    """Return the sheet and the cylinder above it."""
    cells = (36, 36, 2) if full else (18, 18, 1)
    sheet = sx.box((EDGE, EDGE, THICKNESS), cells, split="hexahedra", origin=(-EDGE / 2, -EDGE / 2, -THICKNESS))
    rubber = sx.NeoHookean.from_young(3e6, 0.45, 1100.0)
    hexahedra = sheet.cells["hexahedron"]
    n = len(sheet.points)
    cylinder = RigidBody.cylinder(RADIUS, LENGTH, density=7800.0, rings=4 if full else 2)
    tilt = 0.6
    turned = np.array([[np.cos(tilt), 0.0, np.sin(tilt)], [0.0, 1.0, 0.0], [-np.sin(tilt), 0.0, np.cos(tilt)]])
    rigid = RigidBodies({"cylinder": cylinder.placed((-0.03, 0.01, 0.04), turned)}, n)
    contact = BodyContact(rigid.surface(Surface.of(sheet, ["body"])), STIFFNESS, distance=DISTANCE)
    contact.check_start(rigid.points(rigid.positions(sheet.points)))
    rim = np.flatnonzero(np.abs(sheet.points[:, :2]).max(axis=1) > 0.5 * EDGE - 1e-9)
    return Impact(
        sheet,
        sx.Solid(sheet.points, hexahedra, rubber, formulation="full"),
        rigid,
        contact,
        np.asarray(rigid.mass(sx.lumped_mass(sheet.points, hexahedra, rubber.density, n))),
        sx.fixed_mask(rigid.n_nodes, [(rim, "xyz")]),
    )


def run(of: Impact, name: str) -> Run:
    """Follow the impact by one method."""
    step = LARGE if name == "energy-momentum" else SMALL
    method: sx.Integrator = {
        "explicit Newmark": lambda: sx.Newmark(step),
        "Rattle": lambda: sx.Rattle(step, {}),
        "energy-momentum": lambda: sx.EnergyMomentum(step),
    }[name]()
    system = of.system(1.0 / step if name == "explicit Newmark" else None)
    began = process_time()
    path = sx.record(system, method, of.start(system), np.linspace(0.0, END, LOOKS + 1))
    seconds = process_time() - began
    motions = [of.rigid.motion("cylinder", q, v) for q, v in zip(path.q, path.v, strict=True)]
    velocity, spin = (np.array(part) for part in zip(*motions, strict=True))
    return Run(path, round(END / step), seconds, velocity, spin)


# -- numbers and pictures -----------------------------------------------------------------------------------------


def measures(name: str, of: Run) -> dict[str, float]:
    """Return what is claimed about one run."""
    total = of.path.energies["total"]
    return {
        f"{name}: steps": of.steps,
        f"{name}: processor time [s]": round(of.seconds, 2),
        f"{name}: largest change of the energy": float(np.abs(total / total[0] - 1.0).max()),
        f"{name}: velocity of the cylinder at the end, upwards [m/s]": float(of.velocity[-1, 2]),
        f"{name}: angular velocity at the end [rad/s]": float(np.linalg.norm(of.spin[-1])),
        f"{name}: largest share of the energy in the contact": float(of.path.energies["contact"].max() / total[0]),
    }


def draw(runs: dict[str, Run], file: Path) -> None:
    """Draw the velocity and spin of the cylinder, and the changes of the energy."""
    figure, panels = plt.subplots(1, 3, figsize=(13, 4.2), layout="constrained")
    for name, of in runs.items():
        t, total = 1e3 * of.path.t, of.path.energies["total"]
        style = {"color": COLORS[name], "label": f"{name}, {of.steps} steps"}
        style["linestyle"] = {"Rattle": "--", "energy-momentum": ":"}.get(name, "-")
        panels[0].plot(t, of.velocity[:, 2], **style)
        panels[1].plot(t, of.spin[:, 1], **style)
        panels[2].semilogy(t[1:], np.maximum(np.abs(total / total[0] - 1.0)[1:], 1e-17), **style)
    panels[0].set(title="velocity of the cylinder, upwards, in m/s", xlabel="time in ms")
    panels[1].set(title="its angular velocity about y, in rad/s", xlabel="time in ms")
    panels[2].set(title="relative change of the energy", xlabel="time in ms")
    for panel in panels:
        panel.grid(alpha=0.25)
    panels[0].legend(fontsize=8)
    figure.savefig(file, dpi=90)
    plt.close(figure)


def render(of: Impact, path: sx.Trajectory, output: Path) -> None:
    """Draw the sheet and the cylinder at eight times: points follow the nodes."""
    file = output / "impact.vtkhdf"
    file.unlink(missing_ok=True)  # of an earlier run
    mesh = sx.merge({"sheet": of.sheet, "cylinder": of.rigid.bodies["cylinder"].mesh})
    rest = mesh.points
    blocks = {
        "sheet": sx.meshes.Block.of({"hexahedron": mesh.cells_of("hexahedron", "sheet")}),
        "cylinder": sx.meshes.Block.of({"triangle": mesh.cells_of("triangle", "cylinder")}),
    }
    with sx.open_series(file, rest, blocks) as series:
        for t, q, v in zip(path.t, path.q, path.v, strict=True):
            series.append(t, of.rigid.points(q) - rest, point_data={"velocity": of.rigid.points(v)})
    times = path.t[np.linspace(0, len(path.t) - 1, 8).round().astype(int)]
    view = sx.View(direction=(0.3, -1.0, 0.45))
    sx.render_snapshots(
        sx.read_series(file),
        output / "rigid_projectile.png",
        field="velocity",
        times=times.tolist(),
        width=1000,
        view=view,
    )


def main(output: Path, full: bool) -> None:
    """Run all methods, write numbers.json and the pictures."""
    output.mkdir(parents=True, exist_ok=True)
    of = impact(full)
    numbers: dict[str, float] = {
        "nodes of the sheet": len(of.sheet.points),
        "triangles of both surfaces": len(of.contact.surface.triangles),
        "mass of the cylinder over that of the sheet": of.rigid.bodies["cylinder"].properties.mass
        / float(of.mass[:-4].sum()),
    }
    runs = {name: run(of, name) for name in COLORS}
    for name, one in runs.items():
        numbers |= measures(name, one)
    draw(runs, output / "rigid_projectile_histories.png")
    render(of, runs["energy-momentum"].path, output)
    (output / "numbers.json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    for name, value in numbers.items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("results/rigid_projectile"))
    parser.add_argument("--full", action="store_true", help="a finer sheet and cylinder")
    options = parser.parse_args()
    main(options.output, options.full)
