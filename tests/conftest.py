"""Systems that several tests use."""

import numpy as np
import pytest

from symplex.contact.obstacles import HalfSpace
from symplex.contact.rigid import RigidContact
from symplex.fem.mass import lumped_mass
from symplex.fem.materials import NeoHookean
from symplex.fem.solid import Solid
from symplex.fem.system import State, System
from symplex.meshes.generate import cube_mesh

ALUMINIUM = NeoHookean(lmbda=60.5e9, mu=26e9, density=2700.0)


def oblique_impact(mesh_name: str) -> tuple[System, State]:
    """Return the cube of section 6.3 of the force-stepping paper, 1.41 mm before the wall, and its initial state."""
    mesh = cube_mesh(mesh_name)
    cells = mesh.cells["tetra"]
    wall = HalfSpace(point=(0.101, 0.101, 0.101), normal=(0.0, -1.0, -1.0), normalize=False)
    system = System(
        lumped_mass(mesh.points, cells, ALUMINIUM.density, len(mesh.points)),
        {
            "strain": Solid(mesh.points, cells, ALUMINIUM),
            "wall": RigidContact(mesh.boundary_nodes, wall, stiffness=1e14),
        },
    )
    return system, system.state(mesh.points, np.full(mesh.points.shape, 1000.0))


@pytest.fixture(scope="session")
def impact_of():
    """Return the function that makes the oblique impact on mesh I, II or III."""
    return oblique_impact
