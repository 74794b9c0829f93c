"""Bodies that are rigid by a key, and rigid parts of others, in motion, equilibrium, joints and contact."""

import numpy as np
import pytest

import symplex as sx
from symplex.errors import ScenarioError

RUN = """
[integrator]
{method}
[run]
duration = {duration}
frames = 2
samples = 20
{more}
"""
EM = 'kind = "energy-momentum"\ndt = 1e-3'
BLOCK = """
[[body]]
name = "block"
mesh = {{ box = [0.4, 0.2, 0.1], cells = [4, 2, 1], split = "{split}" }}
material = {{ young = 1e9, poisson = 0.3, density = 1000 }}
translate = [-0.2, -0.1, -0.05]
rotate = {{ axis = [1, 1, 0], degrees = 40 }}
velocity = [1, 0, 0]
angular_velocity = [1, 6, 0.1]
rigid = true
"""


def recorded(text, n=20):
    problem = sx.Scenario.parse(text).build()
    times = problem.scenario.times
    return problem, sx.record(
        problem.system, problem.integrator, problem.state, times[:: max((len(times) - 1) // n, 1)]
    )


@pytest.mark.parametrize("split", ["6", "hexahedra"])
def test_a_rigid_body_has_the_motion_of_a_rigid_block(split):
    text = BLOCK.format(split=split).replace("translate = [-0.2, -0.1, -0.05]\n", "")
    text += RUN.format(method=EM, duration=0.2, more="")
    _, path = recorded(text)
    shape = "[[rigid_body]]" + text.split("[[body]]")[1].split("mesh =")[0] + "mesh = { box = [0.4, 0.2, 0.1] }\n"
    turned = sx.scenario.table.Rotation(axis=(1.0, 1.0, 0.0), degrees=40.0).matrix
    at = (turned @ [0.2, 0.1, 0.05]).tolist()
    shape += f"density = 1000\ntranslate = {at}\nvelocity = [1, 0, 0]\nangular_velocity = [1, 6, 0.1]\n"
    shape += "rotate = { axis = [1, 1, 0], degrees = 40 }\n"
    _, other = recorded(shape + RUN.format(method=EM, duration=0.2, more=""))
    for one, two in ((path.q[-1].mean(axis=0), other.q[-1].mean(axis=0)),):
        np.testing.assert_allclose(one, two, atol=1e-12)
    np.testing.assert_allclose(path.energies["kinetic"], other.energies["kinetic"], rtol=1e-10)
    turning = [one.motion.system.angular_momentum(one.motion.advance(0.2)) for one in (path, other)]
    np.testing.assert_allclose(*turning, rtol=1e-10)


def test_mass_of_several_materials():
    """A bar of two halves of different density: centre and moments of inertia by the parallel-axis theorem."""
    text = """
[[body]]
name = "bar"
mesh.box = [1.0, 0.1, 0.1]
mesh.cells = [4, 1, 1]
mesh.regions = { light = [[0, 0, 0], [0.5, 0.1, 0.1]], heavy = [[0.5, 0, 0], [1, 0.1, 0.1]] }
materials.light = { young = 1e9, poisson = 0.3, density = 1000 }
materials.heavy = { young = 1e9, poisson = 0.3, density = 3000 }
rigid = true
""" + RUN.format(method=EM, duration=0.02, more="")
    problem = sx.Scenario.parse(text).build()
    properties = problem.rigid_sets.rigid_sets["bar"].properties
    assert properties.mass == pytest.approx(5.0 + 15.0)
    np.testing.assert_allclose(properties.center, [(5 * 0.25 + 15 * 0.75) / 20, 0.05, 0.05], atol=1e-12)
    along = 20.0 * (0.1**2 + 0.1**2) / 12.0
    across = 20.0 * (0.1**2 + 0.5**2) / 12.0 + 5.0 * 0.375**2 + 15.0 * 0.125**2
    np.testing.assert_allclose(np.diag(properties.inertia), [along, across, across], rtol=1e-10)


ARM = """
[[body]]
name = "arm"
mesh.box = [1.0, 0.1, 0.1]
mesh.cells = [10, 2, 2]
mesh.split = "hexahedra"
mesh.regions.soft = [[0, 0, 0], [0.6, 0.1, 0.1]]
mesh.regions.head = [[0.6, 0, 0], [1, 0.1, 0.1]]
mesh.regions.every = [[0, 0, 0], [1, 0.1, 0.1]]
{materials}
{more}
"""
SOFT = "material = { young = 1e8, poisson = 0.3, density = 1000 }\n"
RIGID = SOFT + 'rigid = "head"\n'
STIFF = """
materials.soft = { young = 1e8, poisson = 0.3, density = 1000 }
materials.head = { young = 1e13, poisson = 0.3, density = 1000 }
"""
CLAMP = """
[[support]]
body = "arm"
group = "x_min"
[gravity]
acceleration = [0, 0, -9.81]
"""


def test_equilibrium_and_modes_are_those_of_a_stiff_part():
    """A cantilever whose outer part is rigid sags and swings as one whose outer part is 1e5 times as stiff."""
    found = []
    for materials in (RIGID, STIFF):
        static = '[start]\nkind = "static"\n'
        text = ARM.format(materials=materials, more='mass = "consistent"\n' + CLAMP) + RUN.format(
            method=EM, duration=0.02, more=static
        )
        problem = sx.Scenario.parse(text).build()
        soft = problem.mesh.points[:, 0] < 0.6 + 1e-9
        sag = (problem.state.q[: len(problem.mesh.points)] - problem.mesh.points)[soft, 2].min()
        modes = sx.modes.natural_modes(problem.system, problem.state, 4)
        found.append((sag, modes.frequencies))
    (sag, frequencies), (sag_of_stiff, of_stiff) = found
    assert sag == pytest.approx(sag_of_stiff, rel=2e-3)
    np.testing.assert_allclose(frequencies, of_stiff, rtol=3e-3)


def test_free_flight_conserves_energy_and_momenta():
    text = ARM.format(materials=RIGID, more="velocity = [0, 0, 1]")
    text += '[[velocity]]\nbody = "arm"\ngroup = "x_min"\nvelocity = [0, 3, 0]\n'
    problem, path = recorded(text + RUN.format(method=EM, duration=0.1, more=""))
    total = path.energies["total"]
    assert path.energies["arm"].max() > 1e-3 * total[0]
    assert np.ptp(total) < 1e-9 * total[0]
    system, first, last = problem.system, problem.state, path.motion.advance(0.1)
    for momentum in (system.momentum, system.angular_momentum):
        assert np.abs(momentum(last) - momentum(first)).max() < 1e-10 * np.abs(momentum(first)).max()


def test_a_hub_on_a_hinge():
    """The rigid part turns about a joint to the ground; the blade at it deforms. Energy is kept."""
    hinge = """
[[joint]]
name = "hinge"
kind = "revolute"
bodies = ["arm.head"]
at = [0.8, 0.05, 0.05]
axis = [0, 0, 1]
[gravity]
acceleration = [0, -9.81, 0]
"""
    _, path = recorded(ARM.format(materials=RIGID, more=hinge) + RUN.format(method=EM, duration=0.2, more=""))
    assert path.energies["kinetic"].max() > 1.0
    total = path.energies["total"]
    assert np.ptp(total) < 1e-9 * np.ptp(path.energies["gravity"])


def test_contact_of_a_rigid_part():
    """The arm falls with its rigid head onto a floor: the head touches it, and not the arm that it is part of."""
    floor = """
velocity = [0, 0, -1]
[[obstacle]]
name = "floor"
kind = "half-space"
point = [0, 0, -0.01]
normal = [0, 0, 1]
stiffness = 1e6
[[contact]]
name = "bodies"
"""
    block = """
[[body]]
name = "other"
mesh = { box = [0.1, 0.1, 0.1], cells = [1, 1, 1], split = "hexahedra" }
material = { young = 1e8, poisson = 0.3, density = 1000 }
translate = [0.85, 0, 0.11]
velocity = [0, 0, -3]
"""
    text = (
        ARM.format(materials=RIGID, more=floor)
        + block
        + RUN.format(method=EM.replace("1e-3", "2e-4"), duration=0.04, more="")
    )
    problem, path = recorded(text)
    assert "bodies" in problem.system.energies
    assert path.energies["bodies"][0] == 0.0
    assert path.energies["bodies"].max() > 1e-2
    assert path.energies["floor"].max() > 1e-2
    assert np.ptp(path.energies["total"]) < 1e-9 * path.energies["kinetic"][0]


def test_explicit_steps():
    text = ARM.format(materials=RIGID, more="velocity = [0, 0, 1]\n[[velocity]]\nbody = 'arm'\nvelocity = [0, 0, 1]")
    _, path = recorded(text + RUN.format(method='kind = "newmark"', duration=0.01, more=""))
    assert np.ptp(path.energies["total"]) < 2e-2 * path.energies["total"][0]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ('rigid = "tail"', "group 'tail' is not in body 'arm'"),
        ('rigid = "every"', "holds all elements"),
        ('rigid = "x_max"', "has no elements"),
        ("rigid = 3", "rigid"),
        ('rigid = true\nformulation = "full"', "formulation goes with bodies that deform"),
        ('rigid = "head"\nangular_velocity = [0, 0, 1]', "angular_velocity goes with bodies without a rigid group"),
        ('rigid = true\n[[support]]\nbody = "arm"', r"'arm' is rigid, which \[\[support\]\] does not take"),
    ],
)
def test_mistakes(keys, message):
    text = ARM.format(materials=SOFT, more=keys) + RUN.format(method=EM, duration=0.1, more="")
    with pytest.raises(ScenarioError, match=message):
        sx.Scenario.parse(text).build()
