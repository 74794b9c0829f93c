"""The oblique impact of section 6.3 of the force-stepping paper, through the Python API.

    python examples/oblique_impact.py [--output DIR]

The scenario oblique_impact.toml says the same for `symplex run`.
"""

import argparse
import json
from pathlib import Path

import numpy as np

import symplex as sx

# A cube of aluminium, one element type, one material.
mesh = sx.cube_mesh("I", size=0.1)
cells = mesh.cells["tetra"]
aluminium = sx.NeoHookean(lmbda=60.5e9, mu=26e9, density=2700.0)

# The system is masses plus energies: the strain energy, and the penalty of a rigid wall.
wall = sx.HalfSpace(point=(0.101, 0.101, 0.101), normal=(0, -1, -1), normalize=False)
strain = sx.Solid(mesh.points, cells, aluminium)
contact = sx.RigidContact.from_penalty(mesh.boundary_nodes, wall, penalty=1e-14)
mass = sx.lumped_mass(mesh.points, cells, aluminium.density, len(mesh.points))
system = sx.System(mass, {"strain": strain, "wall": contact})
start = system.state(mesh.points, v=(1000.0, 1000.0, 1000.0))

# Any integrator runs any system; this one keeps kinetic energy + interpolated potential to round-off.
motion = sx.ForceStepping(grid=5e-4).start(system, start)


def main(output: Path) -> None:
    """March to 60 µs, record, draw."""
    output.mkdir(parents=True, exist_ok=True)
    energies, times = [], np.linspace(0.0, 60e-6, 61)
    file = output / "cube.vtkhdf"
    file.unlink(missing_ok=True)  # of an earlier run
    with sx.open_series(file, mesh.points, {"cube": sx.meshes.Block.of({"tetra": cells})}) as series:
        for t in times:
            state = motion.advance(t)
            energies.append(motion.energies(state))
            stress = {"von_mises": {"cube": strain.von_mises(state.q)}}
            series.append(t, state.q - mesh.points, point_data={"velocity": state.v}, cell_data=stress)
    sx.render_snapshots(sx.read_series(file), output / "cube.png")

    totals = np.array([e["lattice_total"] for e in energies])
    numbers = {
        "energy drift": float(np.ptp(totals) / totals[0]),
        "peak strain energy [J]": float(max(e["strain"] for e in energies)),
        "mean velocity after the impact [m/s]": (system.momentum(state) / mass.sum()).tolist(),
        **motion.statistics(),
    }
    (output / "numbers.json").write_text(json.dumps(numbers, indent=1) + "\n")
    print(json.dumps(numbers, indent=1))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("results/oblique_impact_api"))
    main(parser.parse_args().output)
