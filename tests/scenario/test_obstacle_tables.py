"""Tables of obstacles: what they build, what is drawn of it, what is refused."""

import numpy as np
import pytest

from symplex.errors import ScenarioError
from symplex.runs.frames import Shown
from symplex.scenario.scenario import Scenario

TEXT = """
[[body]]
name = "block"
mesh = {{ box = [0.2, 0.2, 0.2], cells = [1, 1, 1], split = "6" }}
material = {{ lambda = 2.0, mu = 1.0, density = 1.0 }}
[[obstacle]]
name = "obstacle"
stiffness = 10.0
{}
[integrator]
kind = "newmark"
[run]
duration = 1.0
"""
KINDS = {
    "sphere": 'kind = "sphere"\ncenter = [0, 0, -1.5]\nradius = 0.5',
    "vessel": 'kind = "sphere"\ncenter = [0, 0, 0]\nradius = 0.5\ninside = true',
    "cylinder": 'kind = "cylinder"\npoint = [3, 0, -1]\naxis = [1, 1, 0]\nradius = 0.5',
    "pipe": 'kind = "cylinder"\npoint = [3, 0, 0.1]\naxis = [-1, 0, 0]\nradius = 0.5\ninside = true',
    "capsule": 'kind = "capsule"\nstart = [0, 0, -1]\nend = [1, 0, -0.5]\nradius = 0.2',
    "box": 'kind = "box"\ncenter = [0, 0, -1]\nsize = [1, 2, 0.5]\nrotate = { axis = [0, 0, 1], degrees = 30 }',
    "container": 'kind = "box"\ncenter = [0, 0, 0]\nsize = [1, 2, 0.5]\ninside = true',
}


@pytest.mark.parametrize("kind", KINDS)
def test_obstacles_are_built_and_drawn_on_their_surface(kind):
    problem = Scenario.parse(TEXT.format(KINDS[kind])).build()
    contact = problem.contacts["obstacle"]
    assert contact.gaps(problem.state.q).min() > 0.0
    block = Shown(problem).blocks["obstacle"]
    np.testing.assert_allclose(contact.obstacle.gap(block.points), 0.0, atol=1e-7)
    corners = next(iter(block.cells.values()))
    assert np.array_equal(np.unique(corners), np.arange(block.n_points))
    # No hole but the ends of a cylinder: every edge belongs to two cells.
    edges = np.sort(np.concatenate([corners[:, [i - 1, i]] for i in range(corners.shape[1])]), axis=1)
    _, counts = np.unique(edges, axis=0, return_counts=True)
    assert counts.max() == 2
    assert (counts == 1).any() == (kind in ("cylinder", "pipe"))


@pytest.mark.parametrize(
    ("table", "text"),
    [
        ('kind = "cylinder"\npoint = [0, 0, 0]\naxis = [0, 0, 0]\nradius = 1', "axis must be a direction, got zero"),
        ('kind = "capsule"\nstart = [0, 0, 1]\nend = [0, 0, 1]\nradius = 1', "start and end are one point"),
        ('kind = "box"\ncenter = [0, 0, 0]\nsize = [1, 0, 1]', "size must be three positive numbers"),
        ('kind = "sphere"\ncenter = [0, 0, -3]\nradius = -1', "radius must be positive, got -1"),
        ('kind = "sphere"\ncenter = [0, 0, -3]\nradius = 1\nmass = 0', "mass must be positive, got 0"),
        ('kind = "box"\ncenter = [0, 0, 0]\nsize = [1, 1, 1]', "starts inside it"),
        ('kind = "cylinder"\npoint = [0, 0, 0]\naxis = [0, 0, 1]\nradius = 0.2\ninside = true', "starts inside it"),
        ('kind = "sphere"\ncenter = [0, 0, 0]\nradius = 0.1\nmass = 1', "starts inside it"),
    ],
)
def test_mistakes_get_a_line(table, text):
    with pytest.raises(ScenarioError, match="'obstacle'") as caught:
        Scenario.parse(TEXT.format(table)).build()
    assert text in str(caught.value)


FLOOR = 'kind = "half-space"\npoint = [0, 0, -0.11]\nnormal = [0, 0, 1]\n'


def test_friction_is_a_load_of_its_own_name():
    problem = Scenario.parse(TEXT.format(FLOOR + "friction = 0.3\nstatic_friction = 0.4\nslip_speed = 0.02")).build()
    friction = problem.system.loads["friction_obstacle"]
    assert friction.energy is problem.contacts["obstacle"]
    assert friction.law == (0.3, 0.4, 0.02)
    motion = problem.integrator.start(problem.system, problem.state)
    assert "work_friction_obstacle" in {column.name for column in motion.columns}
    assert not Scenario.parse(TEXT.format(FLOOR + "friction = 0")).build().system.loads


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ("friction = -0.1", "friction must be at least 0, got -0.1"),
        ("friction = 0.3\nstatic_friction = 0.2", "static_friction must be at least friction = 0.3, got 0.2"),
        ("static_friction = 0.2", "static_friction goes with friction, the dynamic coefficient, which is not given"),
        ("friction = 0.3\nslip_speed = 0", "slip_speed must be positive, got 0"),
    ],
)
def test_friction_that_makes_no_sense_is_refused(keys, text):
    with pytest.raises(ScenarioError, match=text):
        Scenario.parse(TEXT.format(FLOOR + keys))


def test_friction_needs_a_method_that_takes_loads():
    text = TEXT.format(FLOOR + "friction = 0.3").replace('kind = "newmark"', 'kind = "force-stepping"\ngrid = 1e-3')
    with pytest.raises(ScenarioError, match=r"\[\[obstacle\]\] #1 'obstacle': friction has no potential, which force-"):
        Scenario.parse(text).build()


def test_names_of_frictions_are_reserved():
    text = TEXT.format(FLOOR + "friction = 0.3").replace('name = "block"', 'name = "friction_obstacle"')
    with pytest.raises(ScenarioError, match="the name 'friction_obstacle' is reserved"):
        Scenario.parse(text).build()
