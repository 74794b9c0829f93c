"""What pictures of trajectories and systems show."""

import numpy as np
import pytest

import symplex as sx
from symplex.fem.pictures import blocks_of
from symplex.runs import notebooks


def planet(fixed_y=False):
    fixed = np.array([[True, True], [False, fixed_y]])
    pair = sx.Bars([[0, 1]], sx.measures.InverseDistance(1.0), dim=2)
    system = sx.System(np.ones(2), {"gravity": pair}, dim=2, fixed=fixed)
    v = [[0.0, 0.0], [0.1, 0.0 if fixed_y else 1.2]]
    return system, system.state(np.array([[0.0, 0.0], [1.0, 0.0]]), np.array(v))


def test_particles_have_no_sticks_and_springs_have():
    (name,) = blocks_of(planet()[0])
    assert name == "particles"
    assert blocks_of(planet()[0])["particles"].cells["vertex"].ravel().tolist() == [0, 1]
    spring = sx.Bars([[0, 1]], sx.measures.EngineeringStrain(1.0, 1.0))
    attraction = sx.Bars([[1, 2]], sx.measures.LennardJones(1.0, 1.0))
    blocks = blocks_of(sx.System(np.ones(3), {"spring": spring, "attraction": attraction}))
    assert blocks["spring"].cells["line"].tolist() == [[0, 1]]
    assert blocks["particles"].cells["vertex"].ravel().tolist() == [2]


@pytest.mark.parametrize("fixed_y", [True, False])
def test_a_trajectory_of_one_or_two_coordinates_has_phase_planes(fixed_y, monkeypatch):
    trajectory = sx.record(*(planet(fixed_y)[0], sx.Newmark(1e-3), planet(fixed_y)[1]), 0.01 * np.arange(11))
    pages = []
    monkeypatch.setattr("symplex.runs.plots.draw_page", lambda panels, path, *more: pages.append(panels) or path)
    monkeypatch.setattr("symplex.meshes.pictures.picture.Picture.drawn", lambda draw: draw("picture.png"))
    notebooks.plot_of_trajectory(trajectory)
    planes = [panel for panel in pages[0] if panel.title.startswith("phase plane")]
    assert len(planes) == (1 if fixed_y else 2)
    scale = 1.0 if planes[0].unit == "m/s" else 1e3
    np.testing.assert_allclose(planes[0].curves[0].y, scale * trajectory.v[:, 1, 0])
