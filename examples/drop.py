"""A bracket falls on a rigid floor, through the Python API: an unstructured mesh, gravity, contact, explicit Newmark.

    python examples/drop.py [--output DIR]

The scenario drop.toml is a longer fall of the same part for `symplex run`.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

import symplex as sx

# The bundled part, turned and put half a millimetre above the floor.
mesh = sx.read_mesh(sx.bundled("bracket"))
cells = mesh.cells["tetra"]
points = Rotation.from_rotvec([20, 0, 0], degrees=True).apply(mesh.points)
points[:, 2] += 5e-4 - points[:, 2].min()

aluminium = sx.NeoHookean.from_young(E=70e9, nu=0.33, density=2700.0)
mass = sx.lumped_mass(points, cells, aluminium.density, len(points))
strain = sx.Solid(points, cells, aluminium)
floor = sx.HalfSpace(point=(0, 0, 0), normal=(0, 0, 1))
contact = sx.RigidContact(mesh.boundary_nodes, floor, stiffness=1e8)
system = sx.System(mass, {"strain": strain, "floor": contact, "weight": sx.Gravity(mass, (0, 0, -9.81))})
start = system.state(points, v=(0.0, 0.0, -3.0))

times = np.linspace(0.0, 4e-4, 41)
newmark = sx.Newmark(dt="auto").fit(system, start, interval=times[1])


def main(output: Path) -> None:
    """March, record, draw."""
    output.mkdir(parents=True, exist_ok=True)
    energies, forces = [], []
    file = output / "bracket.vtkhdf"
    file.unlink(missing_ok=True)  # of an earlier run
    with sx.open_series(file, points, {"bracket": sx.meshes.Block.of({"tetra": cells})}) as series:
        for state in sx.march(system, newmark, start, times):
            energies.append(system.energies_of(state))
            forces.append(contact.resultant(state.q)[2])
            stress = {"von_mises": {"bracket": strain.von_mises(state.q)}}
            series.append(state.t, state.q - points, point_data={"velocity": state.v}, cell_data=stress)
    sx.render_snapshots(sx.read_series(file), output / "bracket.png")

    totals = np.array([e["total"] for e in energies])
    numbers = {
        "time step [s]": newmark.dt,
        "energy range over initial kinetic energy": float(np.ptp(totals) / energies[0]["kinetic"]),
        "peak contact force [N]": float(max(forces)),
        "mean velocity at the end [m/s]": (system.momentum(state) / mass.sum()).tolist(),
    }
    (output / "numbers.json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(numbers, indent=1))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("results/drop_api"))
    main(parser.parse_args().output)
