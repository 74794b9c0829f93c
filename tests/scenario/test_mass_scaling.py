"""Mass scaling: elements that limit the step get mass, and what that does is reported."""

import json

import numpy as np
import pytest

import symplex as sx
from symplex.errors import ScenarioError
from symplex.fem.actions.mass_scaling import scaled_mass
from symplex.runs.plausibility import doubts
from symplex.time.stability import largest_frequency
from tests.reference.boxes import SOLID_KINDS, box_of, shaken

STEEL = sx.NeoHookean.from_young(2e11, 0.3, 7850.0)


@pytest.mark.parametrize("kind", SOLID_KINDS)
def test_the_limit_of_a_mesh_is_the_step_at_least(kind):
    mesh = shaken(box_of(kind, (0.3, 0.2, 0.1), (3, 2, 1)), 0.004)
    cells = mesh.cells[kind]
    solid, n = sx.Solid(mesh.points, cells, STEEL), len(mesh.points)
    mass = sx.lumped_mass(mesh.points, cells, 7850.0, n)
    limit = 2.0 / largest_frequency(sx.System(mass, {"a": solid}), mesh.points)
    nothing = scaled_mass(solid, 0.1 * limit)
    np.testing.assert_array_equal(nothing.factors, 1.0)
    np.testing.assert_allclose(nothing.masses(n), mass, rtol=1e-12)
    scaled = scaled_mass(solid, 1.5 * limit)
    assert scaled.added > 0.0
    assert np.isclose(scaled.masses(n).sum(), mass.sum() + scaled.added)
    reached = 2.0 / largest_frequency(sx.System(scaled.masses(n), {"a": solid}), mesh.points)
    assert 1.5 * limit * 0.95 < reached < 3.0 * limit  # Lanczos adds its residual


TOML = """
[[body]]
name = "bar"
mesh = "bar.inp"
material = {{ young = 2e11, poisson = 0.0, density = 7850 }}
velocity = [1, 0, 0]
{more}
[integrator]
kind = "newmark"
{dt}
[run]
duration = 4e-4
frames = 2
samples = 40
"""


def bar_with_a_sliver(folder):
    """A bar of 20 elements along x, one of them a tenth as long."""
    from symplex.meshes.formats.abaqus_write import write_abaqus
    from symplex.meshes.mesh import Mesh

    mesh = sx.box((1.0, 0.1, 0.1), (20, 1, 1), split="hexahedra")
    points = mesh.points.copy()
    points[np.isclose(points[:, 0], 0.5), 0] = 0.455
    write_abaqus(Mesh(points, mesh.cells, {}, {"end": mesh.nodes_of("x_max")}), folder / "bar.inp")


def test_report_of_a_run(tmp_path):
    bar_with_a_sliver(tmp_path)
    scaling, auto = "[mass_scaling]\ndt = 3e-6\n", ""
    (tmp_path / "bar.toml").write_text(TOML.format(more=scaling, dt=auto))
    scenario = sx.Scenario.read(tmp_path / "bar.toml")
    problem = scenario.build()
    (body,) = problem.scaled.values()
    assert body.elements == 1
    assert body.of == 20
    assert 0.0 < body.share < 0.05
    assert not [line for line in doubts(problem) if "mass_scaling" in line]
    without = sx.Scenario.parse(TOML.format(more="", dt=auto), tmp_path / "bar.toml").build()
    assert np.isclose(problem.system.mass.sum(), without.system.mass.sum() * (1.0 + body.share))
    assert problem.integrator.dt > 1.3 * without.integrator.dt
    sx.runs.simulate(scenario, tmp_path / "out", progress=False, pictures=False)
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    found = summary["mass_scaling"]
    assert found["bodies"]["bar"]["part_of_mass"] == found["part_of_mass"] == pytest.approx(body.share)
    # As all moves alike, the added mass has its part of energy and momentum.
    part = body.share / (1.0 + body.share)
    assert found["largest_part_of_kinetic_energy"] == pytest.approx(part, rel=1e-9)
    history = sx.runs.read_history(tmp_path / "out" / "history.csv")
    np.testing.assert_allclose(history["momentum_of_added_mass_x"], body.added, rtol=1e-9)
    np.testing.assert_allclose(history["kinetic_of_added_mass"], 0.5 * body.added, rtol=1e-9)


def test_waves_keep_their_speed(tmp_path):
    """A wave through a bar with a sliver of scaled mass arrives as without it, within the added mass."""
    bar_with_a_sliver(tmp_path)
    push = """
[[load]]
name = "push"
kind = "nodal"
body = "bar"
group = "end"
force = [1000, 0, 0]
"""
    ends = []
    for scaling in ("", "[mass_scaling]\ndt = 3e-6\n"):
        text = TOML.format(more=push + scaling, dt="").replace("velocity = [1, 0, 0]", "")
        problem = sx.Scenario.parse(text, tmp_path / "bar.toml").build()
        path = sx.record(problem.system, problem.integrator, problem.state, np.linspace(0.0, 4e-4, 41))
        ends.append(path.q[:, :, 0].min(axis=1))  # of the far end
    moved = [end - end[0] for end in ends]
    assert np.abs(moved[0] - moved[1]).max() < 0.05 * np.abs(moved[0]).max()


def test_more_than_five_per_cent_is_doubted(tmp_path):
    bar_with_a_sliver(tmp_path)
    text = TOML.format(more="[mass_scaling]\ndt = 2e-5\n", dt="")
    problem = sx.Scenario.parse(text, tmp_path / "bar.toml").build()
    (line,) = [line for line in doubts(problem) if "mass_scaling" in line]
    assert "more than 5 %" in line
    assert "of 20 elements" in line


def test_mistakes(tmp_path):
    bar_with_a_sliver(tmp_path)
    for more, dt, message in (
        ("[mass_scaling]\ndt = 0\n", "", "dt must be positive"),
        ('[mass_scaling]\ndt = 1e-6\nbodies = ["rod"]\n', "", "rod"),
        ("[mass_scaling]\ndt = 1e-6\nbodies = []\n", "", "must name a body"),
        ('mass = "consistent"\n[mass_scaling]\ndt = 1e-6\n', 'kind = "energy-momentum"\ndt = 1e-6', "consistent mass"),
    ):
        text = TOML.format(more=more, dt=dt)
        text = text.replace('kind = "newmark"\nkind', "kind")
        with pytest.raises(ScenarioError, match=message):
            sx.Scenario.parse(text, tmp_path / "bar.toml").build()
