"""Keys that would have no effect next to others are errors, be it with their defaults."""

import pytest

from symplex.errors import ScenarioError
from symplex.scenario.scenario import Scenario

BODY = """
[[body]]
name = "cube"
mesh = { box = [0.1, 0.1, 0.1], cells = [1, 1, 1] }
material = { young = 1e9, poisson = 0.3, density = 1000 }
"""
BALL = '[[obstacle]]\nname = "ball"\nkind = "sphere"\ncenter = [0, 0, 1]\nradius = 0.1\nstiffness = 1e5\n'
SUPPORT = '[[support]]\nname = "grip"\nbody = "cube"\ngroup = "z_min"\n'
PRESSED = SUPPORT + 'displacement = [0, 0, 1e-3]\nhistory = { kind = "ramp", duration = 1e-5 }\n'
SHAKEN = SUPPORT + 'acceleration = [1, 0, 0]\nhistory = { kind = "table", times = [0, 1], factors = [0, 1] }\n'
RESPONSE = '[response]\nfrequencies = [1, 2]\nat = [{ name = "tip", body = "cube" }]\n'
STATIC = '[start]\nkind = "static"\nperturbation = { amplitude = 1e-6, direction = [1, 0, 0], seed = 1 }\n'
RUN = "[run]\nduration = 1e-5\nframes = 2\n"


def scenario(text="", integrator='kind = "newmark"'):
    return BODY + text + f"[integrator]\n{integrator}\n" + RUN


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        (
            scenario(integrator='kind = "newmark"\ndt = 1e-6\nsafety = 0.8'),
            'safety goes with dt = "auto"; dt is ',
        ),
        (
            scenario(integrator='kind = "newmark"\nsolver = "sparse"'),
            "solver goes with the implicit members, which have",
        ),
        (
            scenario(integrator='kind = "newmark"\nhalvings = 3'),
            "halvings goes with the implicit members, which have a",
        ),
        (
            scenario(integrator='kind = "force-stepping"\ngrid = 1e-4\noffset = [0, 0, 0]\nseed = 1'),
            "seed goes with a ra",
        ),
        (
            scenario(integrator='kind = "force-stepping"\ngrid = 1e-4\nmirrored = true\nseed = 1'),
            "seed goes with a rand",
        ),
        (scenario(PRESSED + 'interpolation = "linear"\n'), "'grip': interpolation goes with a history of kind 'table'"),
        (scenario(SHAKEN + 'interpolation = "linear"\n'), "'grip': interpolation goes with a history of kind 'table'"),
        (scenario(SUPPORT + 'interpolation = "spline"\n'), "'grip': interpolation goes with a history of kind 'table'"),
        (
            scenario(BALL + 'velocity = [0, 0, -1]\ninterpolation = "linear"\n'),
            "'ball': interpolation goes with a histo",
        ),
        (scenario(RESPONSE + "points = 5\n"), "[response]: points goes with between, the first and the last of them"),
        (scenario('[[damping]]\nalpha = 1.0\nstiffness = "initial"\n'), "stiffness goes with a beta above 0; leave it"),
        (scenario(STATIC), "seed goes with random changes, which have no direction; leave it out."),
        (
            scenario().replace("box = [0.1, 0.1, 0.1], cells = [1, 1, 1]", 'cube = "I", split = "6"'),
            "mesh split goes wi",
        ),
    ],
)
def test_a_key_without_effect_is_refused(text, reported):
    with pytest.raises(ScenarioError) as caught:
        Scenario.parse(text)
    assert reported in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        scenario(integrator='kind = "newmark"\nsafety = 0.5'),
        scenario(integrator='kind = "newmark"\ndt = 1e-6\nbeta = 0.25\nsolver = "sparse"\nhalvings = 3'),
        scenario(integrator='kind = "force-stepping"\ngrid = 1e-4\nmirrored = [true, false, false]\nseed = 1'),
        scenario(SHAKEN.replace("acceleration", "displacement") + 'interpolation = "linear"\n'),
        scenario(
            BALL + 'displacement = [0, 0, 1]\ninterpolation = "linear"\n'
            'history = { kind = "table", times = [0, 1], factors = [0, 1] }\n'
        ),
        scenario(BALL + 'displacement = [0, 0, 1]\nhistory = { kind = "sine", frequency = 1 }\n'),
    ],
)
def test_keys_with_effect_are_taken(text):
    Scenario.parse(text).build()


@pytest.mark.parametrize(
    ("point", "reported"),
    [([0.12, 0, 0], ""), ([8.6, 0, 0], "got a distance of 8.5 m to the nearest, at [0.1, 0.0, 0.0]")],
)
def test_the_node_nearest_to_a_point_is_that_of_an_element_there(point, reported):
    text = scenario(f'[[probe]]\nname = "p"\nbody = "cube"\npoints = [{point}]\ninterpolate = false\n')
    if not reported:
        assert len(Scenario.parse(text).build().probes) == 1
        return
    with pytest.raises(ScenarioError) as caught:
        Scenario.parse(text).build()
    assert "[[probe]] #1 'p': points: [8.6, 0.0, 0.0] m must be within an element of a node of 'cube'" in str(
        caught.value
    )
    assert reported in str(caught.value)
