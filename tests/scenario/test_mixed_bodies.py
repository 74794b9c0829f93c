"""A body of hexahedra, wedges, pyramids and tetrahedra in one conforming mesh: mass, surface, contact, results."""

import numpy as np
import pytest

from reference.boxes import mixed_box
from symplex.meshes.formats.save import save_mesh
from symplex.meshes.mesh import Mesh
from symplex.meshes.series.series import read_series
from symplex.runs.history import read_history
from symplex.runs.run import simulate
from symplex.scenario.scenario import Scenario

TEXT = """
[[body]]
name = "mixed"
mesh = "mixed.vtu"
scale = 0.01
quadratic = {quadratic}
material = {{ young = 2e6, poisson = 0.4, density = 1000 }}
velocity = [0, 0, -1]
angular_velocity = [0, 30, 0]

[[body]]
name = "block"
mesh = {{ box = [0.03, 0.03, 0.01], cells = [3, 3, 1], split = "hexahedra" }}
material = {{ young = 2e6, poisson = 0.4, density = 1000 }}
translate = [0.01, -0.005, -0.012]

[[contact]]

[integrator]
kind = "{integrator}"
dt = {dt}

[run]
duration = {duration}
frames = 3
samples = 30

[output]
pictures = false
film = "none"
"""


def scenario(folder, *, quadratic=False, integrator="newmark", dt=2e-6, duration=2e-3):
    save_mesh(mixed_box(), folder / "mixed.vtu")
    words = {"quadratic": str(quadratic).lower(), "integrator": integrator, "dt": dt, "duration": duration}
    (folder / "mixed.toml").write_text(TEXT.format(**words))
    return Scenario.read(folder / "mixed.toml")


@pytest.mark.parametrize("quadratic", [False, True])
def test_mass_and_surface_of_all_types(tmp_path, quadratic):
    problem = scenario(tmp_path, quadratic=quadratic).build()
    kinds = {name: solid.kind for name, solid in problem.solids.items() if name.startswith("mixed")}
    linear, of_order_two = (
        ("hexahedron", "pyramid", "tetra", "wedge"),
        ("hexahedron20", "pyramid13", "tetra10", "wedge15"),
    )
    assert sorted(kinds.values()) == sorted(of_order_two if quadratic else linear)
    volume = 16e-6
    assert sum(problem.solids[name].volumes.sum() for name in kinds) == pytest.approx(volume)
    total = problem.system.apply_mass(np.ones((problem.system.n_nodes, 3)))[:, 0].sum()
    assert total == pytest.approx(1000.0 * (volume + 9e-6))
    mesh = problem.mesh
    faces = Mesh(mesh.points, {kind: mesh.cells[kind] for kind in mesh.volume_types}).boundary_faces
    enclosed = 0.0  # ⅓ ∫ x·n, by triangles of the corners, as all faces are plane
    for kind, rows in faces.items():
        corners = (0, 1, 2, 0, 2, 3) if kind.startswith("quad") else (0, 1, 2)
        a, b, c = mesh.points[rows[:, corners].reshape(-1, 3)].swapaxes(0, 1)
        enclosed += np.einsum("ei,ei->", a, np.cross(b, c)) / 6.0
    assert enclosed == pytest.approx(volume + 9e-6)


def test_it_meets_another_body(tmp_path):
    """Energy and both momenta are kept while the bodies touch, and frames have the cells of all types."""
    scenario(tmp_path, integrator="energy-momentum", dt=1e-4, duration=6e-3)
    simulate(tmp_path / "mixed.toml", tmp_path / "out", progress=False)
    history = read_history(tmp_path / "out" / "history.csv")
    assert np.ptp(history["total"]) < 3e-12 * history["total"][0]  # of strains of some per cent
    for axis in "xyz":
        assert np.ptp(history[f"momentum_{axis}"]) < 1e-12 * 0.016
        assert np.ptp(history[f"angular_momentum_{axis}"]) < 1e-12 * 0.016 * 0.04
    force = history["contact_force_mixed_block_z"]
    assert force[0] == 0.0
    assert force.max() > 1.0
    frame = read_series(tmp_path / "out" / "motion.vtkhdf").frame(1)
    stress = frame.cell_data["von_mises"]["mixed"]
    assert len(stress) == 4 + 8 + 20 + 32
    assert (stress > 0.0).all()
