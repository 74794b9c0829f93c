"""The example of a slider-crank with a reduced rod, next to the same with a solid one."""

from pathlib import Path

import numpy as np
import pytest

from symplex.scenario.scenario import Scenario

EXAMPLES = Path(__file__).parents[2] / "examples"
# The rods of both examples are meshed otherwise; here they have one mesh.
MESH = 'cells = [16, 1, 1], split = "hexahedra" }\nquadratic = true\n'
KEY = 'reduced = { modes = 8, interfaces = ["x_min", "x_max"] }\n'


def followed(text, tmp_path):
    """Return the crank's angle, the slider's way and the deflection of the rod's middle at 20 times."""
    path = tmp_path / "rod.toml"
    path.write_text(text, encoding="utf-8")
    changes = {"run.duration": 0.2, "run.samples": 20, "run.frames": 2}
    built = Scenario.read(path).with_values(changes).build()
    motion, joints, rows = built.integrator.start(built.system, built.state), built.system.joints, []
    for t in np.linspace(0.0, 0.2, 21)[1:]:
        q = motion.advance(t).q
        flexible = built.flexible.get("rod")
        if flexible is None:
            x, rest = q[built.mesh.nodes_of("rod")], built.mesh.points[built.mesh.nodes_of("rod")]
        else:
            x, rest = flexible.follow(len(q)).points(q), flexible.body.mesh.points
        a, middle, b = (x[np.abs(rest[:, 0] - place) < 1e-6].mean(axis=0) for place in (0.15, 0.3, 0.45))
        across = np.cross(b - a, middle - a)[2] / np.linalg.norm(b - a)
        rows.append((joints["axle"].angle(q), joints["guide"].displacement(q), across))
    return np.array(rows)


@pytest.mark.slow
def test_a_reduced_rod_moves_as_a_solid_one(tmp_path):
    solid = followed((EXAMPLES / "solid_rod.toml").read_text("utf-8"), tmp_path)
    text = (EXAMPLES / "reduced_rod.toml").read_text("utf-8")
    assert KEY in text
    before, after = text[: text.index("cells = ")], text[text.index(KEY) :]
    reduced = followed(before + MESH + after, tmp_path)
    assert solid[-1, 0] > 0.9
    np.testing.assert_allclose(reduced[:, :2], solid[:, :2], atol=1e-3 * np.abs(solid[:, 0]).max())
    assert np.abs(solid[:, 2]).max() > 1e-5
    np.testing.assert_allclose(reduced[:, 2], solid[:, 2], atol=0.03 * np.abs(solid[:, 2]).max())


def test_the_example_has_few_coordinates():
    built = Scenario.read(EXAMPLES / "reduced_rod.toml").build()
    rod = built.flexible["rod"].body
    assert len(rod.mesh.points) == 2025
    assert len(rod.nodes) <= 48
    # Bending of an Euler–Bernoulli beam clamped at both ends, of 0.3 m and 4 mm.
    clamped = 4.7300407**2 / (2 * np.pi * 0.3**2) * np.sqrt(7e10 / 2700 / 12) * 4e-3
    np.testing.assert_allclose(rod.frequencies[:2], clamped, rtol=0.02)
