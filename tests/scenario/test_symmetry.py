"""Planes of symmetry: a part of a body moves as the whole does."""

import numpy as np
import pytest

import symplex as sx
from symplex.errors import ScenarioError

BLOCK = """
[[body]]
name = "block"
mesh = {{ box = [{size}, 0.2, 0.2], cells = [{cells}, 2, 2], split = "hexahedra" }}
material = {{ young = 1e6, poisson = 0.3, density = 1000 }}
{held}
[[load]]
name = "pull"
kind = "traction"
body = "block"
group = "x_max"
traction = [5e4, 0, 0]
[start]
kind = "static"
[integrator]
kind = "energy-momentum"
dt = 1e-3
[run]
duration = 0.002
"""
WHOLE = """
[[load]]
name = "pull back"
kind = "traction"
body = "block"
group = "x_min"
traction = [-5e4, 0, 0]
[[support]]
body = "block"
symmetry = "x=0.5"
[[support]]
body = "block"
symmetry = "y"
[[support]]
body = "block"
symmetry = "z"
"""
HALF = """
[[support]]
body = "block"
symmetry = "x"
[[support]]
body = "block"
symmetry = "y"
[[support]]
body = "block"
symmetry = "z = 0.0"
"""


def test_a_half_of_a_block_is_as_long_as_half_of_it():
    whole = sx.Scenario.parse(BLOCK.format(size=1.0, cells=8, held=WHOLE)).build()
    half = sx.Scenario.parse(BLOCK.format(size=0.5, cells=4, held=HALF)).build()
    moved = [one.state.q[: len(one.mesh.points)] - one.mesh.points for one in (whole, half)]
    end = [one.mesh.points[:, 0] == one.mesh.points[:, 0].max() for one in (whole, half)]
    np.testing.assert_allclose(moved[0][end[0]], moved[1][end[1]], rtol=1e-9, atol=1e-12)
    assert moved[0][end[0], 0].min() > 0.02
    fixed = half.system.fixed[: len(half.mesh.points)]
    np.testing.assert_array_equal(fixed, half.mesh.points == 0.0)


PLATE = """
[[shell]]
name = "plate"
mesh = {{ plate = [{size}, {size}], cells = [{cells}, {cells}] }}
thickness = 0.01
material = {{ young = 2e11, poisson = 0.3, density = 7850 }}
{held}
[gravity]
acceleration = [0, 0, -100]
[start]
kind = "static"
[integrator]
kind = "energy-momentum"
dt = 1e-3
[run]
duration = 0.002
"""
EDGES = "".join(
    f"""
[[support]]
body = "plate"
group = "{group}"
components = "xyz"
rotations = "xyz"
"""
    for group in ("x_min", "x_max", "y_min", "y_max")
)
QUARTER = "".join(
    f"""
[[support]]
body = "plate"
{key}
"""
    for key in ('symmetry = "x"', 'symmetry = "y"', 'group = "x_max"', 'group = "y_max"')
)


def test_a_quarter_of_a_plate():
    """Nodes with rotations: those about axes in the plane are held as well."""
    whole = sx.Scenario.parse(PLATE.format(size=1.0, cells=8, held=EDGES)).build()
    quarter = sx.Scenario.parse(PLATE.format(size=0.5, cells=4, held=QUARTER)).build()
    sag = [float((one.state.q[:, 2] - one.mesh.points[:, 2]).min()) for one in (whole, quarter)]
    assert sag[0] == pytest.approx(sag[1], rel=1e-6)
    assert sag[0] < -1e-4


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (
            'symmetry = "x=0.3"',
            r"symmetry: no node of 'block' is on the plane x = 0.3 m; its nodes are from 0 to 0.5 m",
        ),
        ('symmetry = "w"', "symmetry must be a plane across an axis, as 'x' or 'x=0.5'"),
        ('symmetry = "x="', "symmetry must be a plane across an axis"),
        ("symmetry = 1", "symmetry must be a plane across an axis"),
        ('symmetry = "x"\ncomponents = "x"', "components goes with supports without symmetry"),
        ('symmetry = "x"\ngroup = "x_min"', "group goes with supports without symmetry"),
    ],
)
def test_mistakes(key, message):
    held = f"""
[[support]]
body = "block"
{key}
"""
    with pytest.raises(ScenarioError, match=message):
        sx.Scenario.parse(BLOCK.format(size=0.5, cells=4, held=held)).build()
