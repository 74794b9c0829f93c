"""Natural vibrations about a state."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigh

import symplex as sx
from symplex.errors import InvalidSystem

MATERIAL = sx.LinearElastic.from_young(E=1e7, nu=0.3, density=1000.0)


def block(cells, mass=sx.consistent_mass, held=False):
    mesh = sx.box((1.0, 0.3, 0.2), cells, split="6")
    tets = mesh.cells["tetra"]
    fixed = np.zeros((len(mesh.points), 3), bool)
    if held:
        fixed[mesh.points[:, 0] == 0.0] = True
    m = mass(mesh.points, tets, 1000.0, len(mesh.points))
    system = sx.System(m, {"block": sx.Solid(mesh.points, tets, MATERIAL)}, fixed=fixed)
    return system, system.state(mesh.points)


@pytest.mark.parametrize("mass", [sx.lumped_mass, sx.consistent_mass])
@pytest.mark.parametrize("cells", [(2, 1, 1), (8, 3, 2)])  # all at once, and by the Lanczos method
def test_a_free_block_has_six_rigid_motions_and_then_the_frequencies_of_its_matrices(mass, cells):
    system, state = block(cells, mass)
    modes = sx.modes.natural_modes(system, state, 9)
    n = state.q.size
    dense = np.diag(np.repeat(system.mass, 3)) if system.is_lumped else np.kron(system.mass.toarray(), np.eye(3))
    squares = eigh(system.hessian(state.q).toarray(), dense, eigvals_only=True)[:9]
    assert np.allclose(modes.frequencies[6:], np.sqrt(squares[6:]) / (2 * np.pi), rtol=1e-7)
    assert np.abs(modes.frequencies[:6]).max() < 1e-3 * modes.frequencies[6]
    shapes = modes.shapes.reshape(9, n)
    assert np.allclose(shapes @ dense @ shapes.T, np.eye(9), atol=1e-8)


def test_held_coordinates_do_not_move():
    system, state = block((8, 3, 2), held=True)
    modes = sx.modes.natural_modes(system, state, 3)
    assert (modes.frequencies > 0).all()
    assert not modes.shapes[:, system.fixed].any()


def test_a_compressed_bar_between_two_springs_is_not_stable():
    """A point in the middle of a prestrained line: ω² = 2 k (1 − L/l)/m across it, which is negative under pressure."""
    points = np.array([[-0.9, 0, 0], [0, 0, 0], [0.9, 0, 0]])
    bars = sx.Bars([[0, 1], [1, 2]], sx.measures.EngineeringStrain(100.0, 1.0))
    fixed = np.array([[True] * 3, [False, False, True], [True] * 3])
    system = sx.System([1.0, 2.0, 1.0], {"bars": bars}, fixed=fixed)
    across, along = sx.modes.natural_modes(system, system.state(points), 2).frequencies
    tangent = system.hessian(points).toarray()[3:5, 3:5] / 2.0
    assert across == pytest.approx(-np.sqrt(-tangent[1, 1]) / (2 * np.pi))
    assert tangent[1, 1] < 0 < along


@pytest.mark.parametrize("n", [0, -1, 10_000])
def test_how_many_must_be_possible(n):
    system, state = block((2, 1, 1))
    with pytest.raises(InvalidSystem, match="must be from 1 to 36, the number of free coordinates"):
        sx.modes.natural_modes(system, state, n)
