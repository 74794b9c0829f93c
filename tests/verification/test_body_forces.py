"""Stresses under body forces: a hanging bar and a spinning annulus, of every type of elements."""

from __future__ import annotations

import numpy as np
import pytest

import symplex as sx
from symplex.meshes.mesh import Mesh
from tests.reference.boxes import FORMULATIONS, box_of, is_linear

YOUNG, DENSITY, WEIGHT = 2e9, 1000.0, 10.0


def equilibrium(mesh, kind, poisson, held, force, mass):
    """Return the system and its equilibrium under a body force on the masses that a function returns."""
    cells, n = mesh.cells[kind.partition(" ")[0]], len(mesh.points)
    law = sx.LinearElastic.from_young(E=YOUNG, nu=poisson, density=DENSITY)
    solid = sx.Solid(mesh.points, cells, law, formulation=kind.partition(" ")[2] or None)
    lumped = sx.lumped_mass(mesh.points, cells, DENSITY, n)
    energies = {"solid": solid, "force": force(mass(mesh.points, cells, DENSITY, n))}
    system = sx.System(lumped, energies, fixed=held)
    return system, sx.equilibria.static_equilibrium(system, mesh.points).state


# -- a hanging bar ------------------------------------------------------------------------------------------------


def hanging(kind, mass, cells=5):
    """A bar of 1 m that hangs from its upper end, without lateral contraction: u_z is of second degree."""
    mesh = box_of(kind, (0.2, 0.2, 1.0), (1, 1, cells))
    held = np.zeros(mesh.points.shape, bool)
    for axis, side in enumerate(("x_min", "y_min", "z_max")):
        held[mesh.nodes_of(side), axis] = True
    system, state = equilibrium(mesh, kind, 0.0, held, lambda m: sx.Gravity(m, (0.0, 0.0, -WEIGHT)), mass)
    return mesh, system, state


@pytest.mark.parametrize("kind", FORMULATIONS)
def test_a_bar_hangs_from_its_end(kind):
    """σ = ρ g z: exact in quadratic elements, also at the free end, and in the mean of each layer of linear ones."""
    mesh, system, state = hanging(kind, sx.consistent_mass)
    z, greatest = mesh.points[:, 2], DENSITY * WEIGHT
    moved = -(DENSITY * WEIGHT / YOUNG) * 0.5 * (1.0 - z**2)
    if not is_linear(kind):
        np.testing.assert_allclose((state.q - mesh.points)[:, 2], moved, atol=1e-9 * abs(moved).max())
        stress = sx.nodal_stress(system, state)
        np.testing.assert_allclose(stress[:, 2], greatest * z, atol=1e-6 * greatest)
        return
    assert np.abs((state.q - mesh.points)[:, 2] - moved).max() < 0.03 * np.abs(moved).max()
    cells = mesh.cells[kind.partition(" ")[0]]
    stress, layer = sx.stress(system, state)["solid"][:, 2], np.floor(5.0 * mesh.points[cells][:, :, 2].mean(axis=1))
    means = [stress[layer == k].mean() for k in range(5)]
    np.testing.assert_allclose(means, greatest * np.array([0.1, 0.3, 0.5, 0.7, 0.9]), rtol=1e-6)


@pytest.mark.parametrize(("kind", "left"), [("hexahedron20", 0.06), ("tetra10", 0.01), ("wedge15", 0.01)])
def test_lumped_masses_of_quadratic_elements_are_no_weights(kind, left):
    """What they leave at the free end, as a part of the greatest stress."""
    mesh, system, state = hanging(kind, sx.lumped_mass)
    end = sx.nodal_stress(system, state)[mesh.nodes_of("z_min"), 2]
    assert np.abs(end).max() > left * DENSITY * WEIGHT


# -- a spinning annulus ---------------------------------------------------------------------------------------------

INNER, OUTER, SPEED, POISSON = 0.1, 0.3, 1000.0, 0.3


def annulus(kind, n):
    """A quarter of an annulus, n cells from rim to rim, with what symmetry and a plane state hold."""
    flat = box_of(kind, (1.0, 1.0, 0.02), (n, 2 * n, 1))
    r, phi = INNER + (OUTER - INNER) * flat.points[:, 0], 0.5 * np.pi * flat.points[:, 1]
    mesh = Mesh(
        np.column_stack([r * np.cos(phi), r * np.sin(phi), flat.points[:, 2]]),
        flat.cells,
        flat.cell_groups,
        flat.point_groups,
    )
    held = np.zeros(mesh.points.shape, bool)
    held[flat.points[:, 1] < 1e-9, 1] = True
    held[flat.points[:, 1] > 1.0 - 1e-9, 0] = True
    held[:, 2] = True
    return mesh, r, held


def exact_annulus(r):
    """Return the radial displacement in plane strain (Timoshenko and Goodier, art. 32, with E' and ν')."""
    nu, young, load = POISSON / (1.0 - POISSON), YOUNG / (1.0 - POISSON**2), DENSITY * SPEED**2
    a, b = INNER**2, OUTER**2
    u = a + b + (1.0 + nu) / (1.0 - nu) * a * b / r**2 - (1.0 + nu) / (3.0 + nu) * r**2
    return (3.0 + nu) * (1.0 - nu) / 8.0 * load / young * r * u


@pytest.mark.parametrize(
    "kind", ["tetra10", "hexahedron20", "hexahedron20 reduced", "hexahedron27", "wedge15", "wedge18"]
)
def test_an_annulus_spins(kind):
    """With consistent masses; lumped ones of 20 nodes leave 7 % of the hoop stress at the rim, and 3 % too much."""
    mesh, r, held = annulus(kind, 4)
    omega = (0.0, 0.0, SPEED)

    def dead(mass):
        forces = np.zeros_like(mesh.points)
        sx.actions.Centrifugal(mass, omega).add_gradient(mesh.points, forces)
        return sx.actions.NodalForce(np.arange(len(forces)), -forces)

    system, state = equilibrium(mesh, kind, POISSON, held, dead, sx.consistent_mass)
    u = exact_annulus(r)
    x, y = mesh.points[:, 0] / r, mesh.points[:, 1] / r
    moved = (state.q - mesh.points)[:, 0] * x + (state.q - mesh.points)[:, 1] * y
    stress = sx.nodal_stress(system, state)
    found = stress[:, 0] * x * x + stress[:, 1] * y * y + 2.0 * stress[:, 3] * x * y
    hoop = stress[:, 0] + stress[:, 1] - found
    np.testing.assert_allclose(moved, u, rtol=5e-3)
    assert np.abs(found[r > OUTER - 1e-9]).max() < 0.01 * hoop.max()
