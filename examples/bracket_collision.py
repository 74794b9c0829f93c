"""One aluminium bracket hits another at 50 m/s: explicit on a fine mesh, and energy-momentum on a coarse one.

    python examples/bracket_collision.py [--output DIR] [--fine] [--film]

Both are the bundled part (5412 tetrahedra each): explicit Newmark with a penalty, and energy-momentum with a barrier at
some thirty times its step. With ``--fine`` the lower one is remeshed with 1.2·10⁵ tetrahedra (needs gmsh) and moves
by explicit Newmark as well.
"""

import argparse
import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from colliding_bodies import Bodies, Run, bodies, follow, placed
from scipy.spatial.transform import Rotation

import symplex as sx
from symplex.meshes.repair import drop_unconnected

ALUMINIUM = sx.NeoHookean.from_young(70e9, 0.33, 2700.0)
SPEED, END, LOOKS, GAP = 50.0, 1.6e-4, 40, 6e-4
FINE = 1.3e-3  # edges in m
TOP = 0.0045, 0.025, 0.07  # of the bracket's plate, in m


def fine_bracket() -> sx.Mesh:
    """Return the bracket with small elements."""
    sys.path.insert(0, str(Path(__file__).parent / "meshes"))
    import make_bracket

    make_bracket.ELEMENT = FINE
    with TemporaryDirectory() as folder:
        file = Path(folder) / "bracket.msh"
        make_bracket.main(str(file))
        return only_volume(sx.read_mesh(file))


def only_volume(mesh: sx.Mesh) -> sx.Mesh:
    """Return the tetrahedra of a mesh alone."""
    return drop_unconnected(sx.Mesh(mesh.points, {"tetra": mesh.cells["tetra"]}))


def brackets(law: str, lower: sx.Mesh) -> Bodies:
    """Return a bracket that lies, and another that falls on the top of it with its foot."""
    upper = only_volume(sx.read_mesh(sx.bundled("bracket")))
    turn = Rotation.from_euler("zyx", [70.0, 18.0, 12.0], degrees=True).as_matrix()
    upper = placed(upper, (0.0, 0.0, 0.0), turn)
    lowest = upper.points[upper.points[:, 2].argmin()]
    upper = placed(upper, np.array(TOP) - lowest + [0.0, 0.0, GAP])
    motion = {"upper": ((0.0, 0.0, -SPEED), (0.0, 0.0, 0.0))}
    return bodies({"lower": lower, "upper": upper}, ALUMINIUM, motion, law=law, speed=SPEED)


def shares(of: Bodies, run: Run) -> dict[str, float]:
    """Return what parts of an explicit step take, in ms of processor time, at the last state."""
    q, out = run.end.q, np.zeros_like(run.end.q)
    found = {}
    deepest = run.states[int(np.argmax(run.energies["contact"]))].q
    for name, call in (
        ("forces of the solid", lambda: of.solid.add_gradient(q, out)),
        ("contact, apart", lambda: of.contact.add_gradient(q, out)),
        ("contact, touching", lambda: of.contact.add_gradient(deepest, out)),
    ):
        of.contact.renewed(deepest if name.endswith("touching") else q)
        call()
        times = []
        for _ in range(5):
            began = process_time()
            call()
            times.append(process_time() - began)
        found[f"{name} [ms]"] = round(1e3 * min(times), 3)
    return found


def render(of: Bodies, run: Run, output: Path, film: bool) -> None:
    """Draw the collision."""
    file = output / "brackets.vtkhdf"
    file.unlink(missing_ok=True)
    q0 = of.mesh.points
    with sx.open_series(file, q0, {"brackets": sx.meshes.Block.of({"tetra": of.mesh.cells["tetra"]})}) as series:
        for state in run.states:
            stress = {"von_mises": {"brackets": of.solid.von_mises(state.q)}}
            series.append(state.t, state.q - q0, point_data={"velocity": state.v}, cell_data=stress)
    view = sx.meshes.View(direction=(1.0, -0.9, 0.5))
    found = sx.read_series(file)
    times = [run.states[k].t for k in (0, LOOKS // 4, LOOKS // 2, LOOKS)]
    sx.render_snapshots(found, output / "bracket_collision.png", times=times, view=view)
    if film:
        sx.render_film(found, output / "bracket_collision.mp4", view=view)


def draw(runs: dict[str, Run], path: Path) -> None:
    """Draw energies and the change of the total."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(9.0, 3.4), layout="constrained")
    t = 1e6 * np.linspace(0.0, END, LOOKS + 1)
    for (name, run), style in zip(runs.items(), ("-", "--", ":"), strict=False):
        for energy, colour in (("kinetic", "#2c5fa8"), ("solid", "#c0392b"), ("contact", "#2e8b57")):
            left.plot(t, run.energies[energy], style, color=colour, label=f"{energy}, {name}")
        total = np.array(run.energies["total"])
        right.semilogy(t, np.maximum(np.abs(total - total[0]) / total[0], 1e-16), style, color="k", label=name)
    left.set(xlabel="time [µs]", ylabel="energy [J]")
    right.set(xlabel="time [µs]", ylabel="change of energy / energy")
    left.legend(fontsize=5)
    right.legend(fontsize=7)
    fig.savefig(path, dpi=110)


def main(output: Path, fine: bool, film: bool) -> None:
    """Run both, write numbers.json and the pictures."""
    output.mkdir(parents=True, exist_ok=True)
    coarse = only_volume(sx.read_mesh(sx.bundled("bracket")))
    explicit = brackets("penalty", coarse)
    newmark = sx.Newmark("auto")
    runs = {"explicit": follow(explicit, newmark, END, LOOKS)}
    of = brackets("barrier", coarse)
    runs["energy-momentum"] = follow(of, sx.EnergyMomentum(1e-6), END, LOOKS)
    where = {"explicit": explicit, "energy-momentum": of}
    drawn = of, runs["energy-momentum"]
    numbers: dict[str, object] = {"shares of a step, coarse": shares(explicit, runs["explicit"])}
    if fine:
        large = brackets("penalty", fine_bracket())
        runs["explicit, fine"] = follow(large, newmark, END, LOOKS)
        where["explicit, fine"] = large
        drawn = large, runs["explicit, fine"]
        numbers["tetrahedra"] = len(large.mesh.cells["tetra"])
        numbers["shares of a step, fine"] = shares(large, runs["explicit, fine"])
    for name, run in runs.items():
        numbers[name] = run.numbers() | {
            "steps": run.statistics["steps"],
            "velocity of the lower one at the end [m/s]": where[name].mean_velocity("lower", run.end).round(3).tolist(),
        }
    draw(runs, output / "bracket_collision_energies.png")
    (output / "numbers.json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(numbers, indent=1))
    render(*drawn, output, film)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("results/bracket_collision"))
    parser.add_argument("--fine", action="store_true", help="the lower one with 1.2e5 tetrahedra, explicit")
    parser.add_argument("--film", action="store_true")
    options = parser.parse_args()
    main(options.output, options.fine, options.film)
