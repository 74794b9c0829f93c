"""Two steel spheres that touch at a point, pressed together: Hertz's force and pressure, from a start without stress.

    python examples/touching_spheres.py [--output DIR] [--elements N ...]

Radii of 10 mm, E = 200 GPa, ν = 0.3; 100 N bring them nearer by 4.5333 µm, over a radius of contact a of 0.15055 mm,
with a greatest pressure of 2.1065 GPa. Of each sphere the part near the contact is meshed, N hexahedra along a; the far
sides are displaced as by a point force on a half-space (Boussinesq's solution). The meshes are turned against each
other, and contact begins where they touch (`symplex.contact.offset_contact`).
"""

import argparse
import json
from pathlib import Path

import numpy as np
from hertz import A, half_space, point_force

import symplex as sx
from symplex.contact import BodyContact, Surface, offset_contact

R, E, NU, FORCE = 10e-3, 200e9, 0.3, 100.0
STEEL = sx.LinearElastic.from_young(E, NU, 7800.0)
CONTACT = (3.0 * FORCE * (0.5 * R) * (1.0 - NU**2) / (2.0 * E)) ** (1.0 / 3.0)  # a
APPROACH, PRESSURE = CONTACT**2 / (0.5 * R), 1.5 * FORCE / (np.pi * CONTACT**2)
TURN = np.array([[np.cos(0.3), np.sin(0.3), 0.0], [-np.sin(0.3), np.cos(0.3), 0.0], [0.0, 0.0, -1.0]])  # a reflection


def pressed(n: int, stiffer: float = 10.0, distance: float = 0.02) -> dict[str, float]:
    """Return force and pressure as parts of Hertz's, and what it took; contact is stiffer than by default."""
    block = half_space(n)
    flat = block.points * (CONTACT / A)
    r = np.linalg.norm(flat[:, :2], axis=1)
    low = flat - np.column_stack([0.0 * r, 0.0 * r, r**2 / (2.0 * R)])
    cells = block.cells["hexahedron"]
    rest = np.vstack([low, low @ TURN])
    both = np.vstack([cells, cells[:, [4, 5, 6, 7, 0, 1, 2, 3]] + len(low)]).astype(np.int32)
    rows = np.arange(len(both), dtype=np.int32)
    groups = {"low": {"hexahedron": rows[: len(cells)]}, "high": {"hexahedron": rows[len(cells) :]}}
    mesh = sx.Mesh(rest, {"hexahedron": both}, groups)
    surface = Surface.of(mesh, ["low", "high"])
    reach = distance * float(surface.edge_lengths.min())
    stiffness = stiffer * BodyContact.from_materials(surface, STEEL, distance=reach).stiffness
    energy = offset_contact(BodyContact(surface, stiffness, distance=reach), rest, mesh.cells)
    assert energy.total(rest) < 1e-12 * FORCE * APPROACH

    far = (np.abs(flat[:, :2]).max(axis=1) > 0.999 * flat[:, 0].max()) | (flat[:, 2] < 0.999 * flat[:, 2].min())
    dent = -1.02 * (0.5 * APPROACH + reach) * np.exp(-((r / (4.0 * CONTACT)) ** 2))  # to begin with: nothing overlaps
    scale = CONTACT / A  # point_force is of E = 1
    u = np.where(far[:, None], point_force(block.points, FORCE / (E * scale)), dent[:, None] * [0.0, 0.0, 1.0])
    q = rest + np.vstack([u, u @ TURN - [0.0, 0.0, APPROACH]])
    solid = sx.Solid(rest, both, STEEL, formulation="full")
    mass = sx.lumped_mass(rest, both, STEEL.density, len(rest))
    fixed = np.repeat(np.tile(far, 2)[:, None], 3, axis=1)
    found = sx.equilibria.static_equilibrium(sx.System(mass, {"solid": solid, "contact": energy}, fixed=fixed), q)

    end = energy.energy.at(energy.interpolation.points(found.state.q))
    down = -end.nodal_forces()[surface.vertices[: len(surface.vertices) // 2], 2]
    at = r[surface.vertices[: len(down)]]
    inner = (at < 0.7 * CONTACT) & (flat[surface.vertices[: len(down)], 2] == 0.0)
    shape = surface.vertex_areas[: len(down)][inner] * np.sqrt(1.0 - (at[inner] / CONTACT) ** 2)
    return {
        "elements along a": n,
        "force / Hertz's": float(-end.resultants()["low", "high"][2] / FORCE),
        "greatest pressure / Hertz's": float(down[inner].sum() / shape.sum() / PRESSURE),
        "radius of contact / a": float(at[down > 0.0].max() / CONTACT),
        "nodes": len(rest),
        "corrections": found.corrections,
    }


def main(output: Path, elements: list[int]) -> None:
    """Compute, write numbers.json."""
    output.mkdir(parents=True, exist_ok=True)
    numbers = [pressed(n) for n in elements]
    (output / "numbers.json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(numbers, indent=1))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("results/touching_spheres"))
    parser.add_argument("--elements", type=int, nargs="+", default=[2, 3, 4])
    options = parser.parse_args()
    main(options.output, options.elements)
