"""Joints in scenarios: the motions of Python's, what is kept, what histories have of them, and what is refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import symplex as sx
from reference.scenario_motions import motion_of
from symplex.errors import ScenarioError
from symplex.fem.structures import Coupling, Frames, Joint, JointLoad, Section, beams
from symplex.fem.structures.joint_laws import JointSpring
from symplex.runs.history import read_history
from symplex.runs.modes import find_modes
from symplex.runs.run import simulate
from symplex.scenario.scenario import Scenario

G = 9.81
EPS = np.finfo(float).eps
RUN = '[integrator]\nkind = "{kind}"\ndt = {dt}\n[run]\nduration = {end}\nframes = 2\nsamples = 10\n'
WEIGHT = f"[gravity]\nacceleration = [0, 0, -{G}]\n"
UPPER = """
[[rigid_body]]
name = "upper"
mesh = { box = [0.06, 0.04, 0.4] }
density = 1200
translate = [0, 0, -0.2]
velocity = [-1, 0, 0]
angular_velocity = [0, 5, 0]
"""
LOWER = """
[[rigid_body]]
name = "lower"
mesh = { box = [0.03, 0.06, 0.3] }
density = 1500
translate = [0, 0, -0.55]
velocity = [-2.75, 0.45, 0]
angular_velocity = [3, 5, 0]
"""
SHOULDER = '[[joint]]\nname = "shoulder"\nkind = "revolute"\nbodies = ["upper"]\nat = [0, 0, 0]\naxis = [0, 1, 0]\n'
KNEE = '[[joint]]\nname = "knee"\nkind = "revolute"\nbodies = ["lower", "upper"]\nat = [0, 0, -0.4]\naxis = [1, 0, 0]\n'
PENDULUM = UPPER + LOWER + SHOULDER + KNEE + WEIGHT
CRANK = """
[[rigid_body]]
name = "crank"
mesh = { box = [0.15, 0.03, 0.03] }
mass = 0.12
translate = [0.075, 0, 0]

[[rigid_body]]
name = "slider"
mesh = { box = [0.06, 0.06, 0.06] }
mass = 0.5
translate = [0.45, 0, 0]

[[beam]]
name = "rod"
mesh = { line = 0.3, bars = 4 }
translate = [0.15, 0, 0]
up = [0, 0, 1]
section = { kind = "rectangle", height = 4e-3, width = 4e-3 }
material = { young = 7e10, poisson = 0.33, density = 2700 }

[[joint]]
name = "axle"
kind = "revolute"
bodies = ["crank"]
at = [0, 0, 0]
axis = [0, 0, 1]
torque = 0.6
history = { kind = "table", times = [0, 0.2, 0.4], factors = [0, 1, 0] }

[[joint]]
name = "pin"
kind = "revolute"
bodies = ["rod", "crank"]
at = [0.15, 0, 0]
axis = [0, 0, 1]

[[joint]]
name = "wrist"
kind = "revolute"
bodies = ["rod", "slider"]
at = [0.45, 0, 0]
axis = [0, 0, 1]

[[joint]]
name = "guide"
kind = "prismatic"
bodies = ["slider"]
at = [0.45, 0, 0]
axis = [1, 0, 0]
"""


def run(kind="energy-momentum", dt=5e-3, end=0.5):
    return RUN.format(kind=kind, dt=dt, end=end)


def lines(text):
    with pytest.raises(ScenarioError) as caught:
        Scenario.parse(text, "test.toml").build()
    return str(caught.value).splitlines()


def hinge(more="", kind="revolute", bodies='"upper"', axis="axis = [0, 1, 0]\n"):
    """A body that hangs at rest from the ground."""
    still = UPPER.replace("velocity = [-1, 0, 0]\nangular_velocity = [0, 5, 0]\n", "")
    return f'{still}[[joint]]\nname = "hinge"\nkind = "{kind}"\nbodies = [{bodies}]\nat = [0, 0, 0]\n{axis}{more}'


# -- what they do -----------------------------------------------------------------------------------------------------


def test_a_double_pendulum_moves_as_in_python_and_keeps_its_energy():
    problem, states, energies = motion_of(Scenario.parse(PENDULUM + run()), [0.0, 0.5])
    sets = problem.rigid_sets.rigid_sets
    x = np.concatenate([sets[name].positions for name in ("upper", "lower")])
    mass = np.concatenate([sets[name].masses for name in ("upper", "lower")])
    frames = Frames(np.arange(8).reshape(2, 4), x)
    joints = {
        "shoulder": Joint("revolute", (frames.nodes[0], None), x, [0.0, 0.0, 0.0], [0.0, 1.0, 0.0]),
        "knee": Joint("revolute", (frames.nodes[1], frames.nodes[0]), x, [0.0, 0.0, -0.4], [1.0, 0.0, 0.0]),
    }
    system = sx.System(mass, {"weight": sx.Gravity(mass, (0.0, 0.0, -G))}, frames=frames, joints=joints)
    v = frames.velocities(x, [[-1.0, 0.0, 0.0], [-2.75, 0.45, 0.0]], [[0.0, 5.0, 0.0], [3.0, 5.0, 0.0]])
    end = sx.EnergyMomentum(5e-3).start(system, system.state(x, v)).advance(0.5)
    steps = 100
    assert_allclose(states[-1].q, end.q, atol=100.0 * EPS * steps)
    assert abs(energies["total"] - problem.system.energies_of(states[0])["total"]) < 10.0 * EPS * steps * 10.0
    assert np.abs(problem.system.joints.violations(states[-1].q)).max() < 100.0 * EPS
    assert abs(problem.system.joints["shoulder"].angle(states[-1].q)) > 0.3  # it has swung


def test_a_slider_crank_with_a_rod_of_beams_moves_as_in_python():
    problem, states, energies = motion_of(Scenario.parse(CRANK + run(dt=1e-3, end=0.1)), [0.0, 0.1])
    line = np.linspace(0.15, 0.45, 5)[:, None] * [1.0, 0.0, 0.0]
    mesh = sx.Mesh(line, {"line": np.column_stack([np.arange(4), np.arange(1, 5)]).astype(np.int32)})
    law = sx.NeoHookean.from_young(7e10, 0.33, 2700.0)
    rod = beams(mesh, Section.rectangle(4e-3, 4e-3).of(law), up=(0.0, 0.0, 1.0))
    sets, n = problem.rigid_sets.rigid_sets, len(rod.points)
    x = np.concatenate([rod.points, sets["crank"].positions, sets["slider"].positions])
    mass = np.concatenate([rod.mass, sets["crank"].masses, sets["slider"].masses])
    crank, slider = np.arange(n, n + 8).reshape(2, 4)
    frames = Frames(np.concatenate([rod.frames.nodes, [crank, slider]]), x)
    first, last = rod.frames.nodes[[0, -1]]
    z = [0.0, 0.0, 1.0]
    joints = {
        "axle": Joint("revolute", (crank, None), x, [0.0, 0.0, 0.0], z),
        "pin": Joint("revolute", (first, crank), x, [0.15, 0.0, 0.0], z),
        "wrist": Joint("revolute", (last, slider), x, [0.45, 0.0, 0.0], z),
        "guide": Joint("prismatic", (slider, None), x, [0.45, 0.0, 0.0], [1.0, 0.0, 0.0]),
    }
    loads = {"motor": JointLoad(joints["axle"], ([0.0, 0.2, 0.4], [0.0, 0.6, 0.0]))}
    system = sx.System(mass, {"rod": rod.energy}, frames=frames, joints=joints, loads=loads)
    motion = sx.EnergyMomentum(1e-3).start(system, system.state(x))
    end = motion.advance(0.1)
    of_python = motion.energies(end)
    assert_allclose(states[-1].q, end.q, atol=1e-10)
    assert_allclose(energies["work_axle_torque"], of_python["work_motor"], rtol=1e-9)
    assert energies["work_axle_torque"] > 1e-4
    assert abs(energies["balance"]) < 1e-10 * energies["work_axle_torque"] + 1e-12 * energies["rod"]
    assert np.abs(problem.system.joints.violations(states[-1].q)).max() < 100.0 * EPS


def test_histories_have_reactions_and_angles_and_resume_with_the_same_bits(tmp_path):
    long, short = (Scenario.parse(PENDULUM + run(end=end)) for end in (0.2, 0.1))
    simulate(long, tmp_path / "whole", progress=False, pictures=False)
    simulate(short, tmp_path / "half", progress=False, pictures=False)
    simulate(short.with_values({"run.until": 0.2}), tmp_path / "half", resume=True, progress=False, pictures=False)
    whole, half = read_history(tmp_path / "whole" / "history.csv"), read_history(tmp_path / "half" / "history.csv")
    for name in ("shoulder_angle", "knee_angle", "shoulder_force_z", "knee_moment_y", "total"):
        assert half[name][-1] == whole[name][-1]
    assert whole["shoulder_angle"][0] == 0.0
    assert np.abs(whole["knee_angle"]).max() > 0.1


def test_a_run_goes_on_from_the_end_of_another(tmp_path):
    """Of rigid bodies, beams and joints, as if it had never ended."""
    text = CRANK.replace('history = { kind = "table", times = [0, 0.2, 0.4], factors = [0, 1, 0] }\n', "")
    simulate(Scenario.parse(text + run(dt=1e-3, end=0.01)), tmp_path / "first", progress=False, pictures=False)
    after = text + run(dt=1e-3, end=0.01) + '[start]\nkind = "result"\nfrom = "first"\n'
    _, states, _ = motion_of(Scenario.parse(after, tmp_path / "after.toml"), [0.0, 0.01])
    _, whole, _ = motion_of(Scenario.parse(text + run(dt=1e-3, end=0.02)), [0.01, 0.02])
    for state, other in zip(states, whole, strict=True):
        assert_allclose(state.q, other.q, atol=1e-13)
        assert_allclose(state.v, other.v, atol=1e-10)


def test_a_hinged_bar_swings_with_its_frequency():
    """A bar on a hinge at its end is a pendulum, ω² = m g l/J + k/J with a spring."""
    length, J = 0.2, (0.06**2 + 0.4**2) / 12.0 + 0.2**2  # of the mass
    mass = 1200 * 0.06 * 0.04 * 0.4
    for more, k in (("", 0.0), ("spring = { stiffness = 3 }\n", 3.0)):
        scenario = Scenario.parse(hinge(more) + WEIGHT + run())
        found = find_modes(scenario, 1)
        assert_allclose(found.natural.frequencies[0], np.sqrt((G * length + k / mass) / J) / (2.0 * np.pi), rtol=1e-9)


def test_modes_are_as_many_as_joints_let_bodies_have():
    found = find_modes(Scenario.parse(PENDULUM + run()), 10)
    assert len(found.natural.frequencies) == 2
    assert "there are no more than 2 modes" in found.about.notes


def test_what_acts_along_a_joint():
    """Each law is that of Python with the same numbers, and its work is in the balance."""
    more = (
        "spring = { stiffness = 3, rest = 0.2 }\nstops = { highest = 0.3, stiffness = 50 }\ndamping = 0.01\n"
        'friction = { resistance = 0.02, slip = 0.1 }\ntorque = 2\nhistory = { kind = "half-sine", duration = 0.2 }\n'
    )
    problem, states, energies = motion_of(Scenario.parse(hinge(more) + run(end=0.3)), [0.0, 0.3])
    joint, q = problem.system.joints["hinge"], states[-1].q
    assert set(problem.system.energies) == {"hinge_spring", "hinge_stops"}
    x = q[joint.nodes[:1]]
    for name, law in (
        ("hinge_spring", JointSpring(joint, 3.0, 0.2)),
        ("hinge_stops", JointSpring(joint, stops=(-np.inf, 0.3), stop_stiffness=50.0)),
    ):
        assert_array_equal(problem.system.energies[name].value(x), law.value(x))
    assert energies["work_hinge_damping"] < 0.0
    assert energies["work_hinge_friction"] < 0.0
    assert energies["work_hinge_torque"] > 0.0
    assert_allclose(energies["balance"], 0.5 * 3.0 * 0.2**2, rtol=1e-11)  # the spring's at the start


def test_an_angle_that_is_given():
    more = 'angle = 1.2\nhistory = { kind = "smooth-ramp", duration = 0.3 }\n'
    problem, states, energies = motion_of(Scenario.parse(hinge(more) + WEIGHT + run(end=0.5)), [0.0, 0.15, 0.5])
    angles = [problem.system.joints["hinge"].angle(state.q) for state in states]
    assert_allclose(angles, [0.0, 0.6, 1.2], atol=1e-12)
    lifted = 1200 * 0.06 * 0.04 * 0.4 * G * 0.2 * (1.0 - np.cos(1.2))
    assert_allclose(energies["work_hinge"] - energies["kinetic"], lifted, rtol=1e-9)


@pytest.mark.parametrize("kind", ["rattle", "newmark"])
def test_explicit_steps_follow_an_angle_that_is_given(kind):
    more = 'angle = 1.2\nhistory = { kind = "smooth-ramp", duration = 0.3 }\n'
    scenario = Scenario.parse(hinge(more) + WEIGHT + run(kind, 5e-4, 0.5))
    problem, states, energies = motion_of(scenario, [0.0, 0.15, 0.5])
    angles = [problem.system.joints["hinge"].angle(state.q) for state in states]
    assert_allclose(angles, [0.0, 0.6, 1.2], atol=1e-12)
    lifted = 1200 * 0.06 * 0.04 * 0.4 * G * 0.2 * (1.0 - np.cos(1.2))
    assert_allclose(energies["work_hinge"] - energies["kinetic"], lifted, rtol=1e-5)


def test_a_slider_and_a_sleeve_on_springs():
    """The weight stretches the spring of a slider by m g/k in the equilibrium of the start; a sleeve swings there."""
    sleeve = hinge(
        'coordinate = "displacement"\nspring = { stiffness = 500 }\n', "cylindrical", axis="axis = [0, 0, 1]\n"
    )
    slider = hinge("spring = { stiffness = 500 }\n", "prismatic", axis="axis = [0, 0, 1]\n")
    problem, states, _ = motion_of(Scenario.parse(slider + WEIGHT + '[start]\nkind = "static"\n' + run()), [0.0, 0.1])
    low = -1200 * 0.06 * 0.04 * 0.4 * G / 500.0
    assert_allclose([problem.system.joints["hinge"].displacement(state.q) for state in states], low, rtol=1e-9)
    problem, states, energies = motion_of(Scenario.parse(sleeve + WEIGHT + run()), [0.0, 0.1])
    assert problem.system.joints["hinge"].displacement(states[-1].q) < 0.5 * low
    assert abs(energies["total"] - problem.system.energies_of(states[0])["total"]) < 1e-13


TEARS = """
[[probe]]
name = "pin"
joint = "hinge"
quantities = ["force", "angle", "angular_velocity"]
components = ["norm"]
[[when]]
name = "tears"
probe = "pin"
above = 30
[output]
pictures = false
"""


@pytest.mark.slow
def test_a_joint_that_ends_where_its_probe_passes_a_value(tmp_path):
    """A motor turns a bar until its hinge tears; it then flies on, and resumed runs have the same bits."""
    text = hinge('torque = 2.5\nuntil = "tears"\n') + TEARS + run("energy-momentum", 2e-3, 0.6)
    mass, arm, J = 1200 * 0.06 * 0.04 * 0.4, 0.2, (0.06**2 + 0.4**2) / 12.0 + 0.2**2
    simulate(Scenario.parse(text), tmp_path / "whole", progress=False)
    result = sx.read_result(tmp_path / "whole")
    rate = 2.5 / (mass * J)
    expected = ((30.0 / (mass * arm)) ** 2 - rate**2) ** 0.25 / rate
    (event,) = result.summary["events"]
    assert_allclose(event["t"], expected, rtol=1e-5)
    pin, history = result.probes["pin"], result.history
    torn = pin["t"] > 1.001 * expected  # there is a row at the event, where it still holds
    assert np.all(pin["force_norm"][torn] == 0.0)
    assert_allclose(pin["angular_velocity"][torn], rate * expected, rtol=1e-5)
    assert_allclose(history["hinge_force_z"][-1], 0.0)
    assert_allclose(history["work_hinge_torque"][-1], history["kinetic"][-1], rtol=1e-11)
    assert np.ptp(history["balance"]) < 1e-11 * history["kinetic"][-1]
    long, short = (Scenario.parse(text.replace("duration = 0.6", f"duration = {end}")) for end in (0.6, 0.3))
    simulate(short, tmp_path / "half", progress=False)
    simulate(short.with_values({"run.until": 0.6}), tmp_path / "half", resume=True, progress=False)
    half = sx.read_result(tmp_path / "half").probes["pin"]
    assert half["angle"][-1] == pin["angle"][-1]
    assert Scenario.parse(long.text).build().integrator.events[0].name == "tears"


def test_a_joint_that_ends_at_a_time():
    """From there its weight falls freely; the spring and the damper of the joint end as well."""
    more = "until = 0.1\nspring = { stiffness = 3, rest = 0.5 }\ndamping = 0.01\n"
    problem, states, energies = motion_of(Scenario.parse(hinge(more) + WEIGHT + run(end=0.2)), [0.0, 0.1, 0.2])
    momenta = [problem.system.momentum(state) for state in states]
    weight = 1200 * 0.06 * 0.04 * 0.4 * G
    assert_allclose(momenta[2] - momenta[1], [0.0, 0.0, -0.1 * weight], atol=1e-12 * weight)
    assert energies["hinge_spring"] == 0.0
    assert energies["work_switches"] < 0.0  # what the spring had left


def test_probes_of_joints_in_modes():
    """A mode with uᵀ M u = 1 turns a pendulum by 1/√J; forces are left out."""
    probe = '[[probe]]\nname = "swing"\njoint = "hinge"\nquantities = ["angle", "angular_velocity"]\n'
    (row,) = find_modes(Scenario.parse(hinge() + WEIGHT + probe + run()), 1).rows()
    J = 1200 * 0.06 * 0.04 * 0.4 * ((0.06**2 + 0.4**2) / 12.0 + 0.2**2)
    assert_allclose(abs(row["swing_angle"]), J**-0.5, rtol=1e-8)
    assert "swing_angular_velocity" not in row


# -- solids on frames -------------------------------------------------------------------------------------------------

SOLID = """
[[body]]
name = "arm"
mesh = { box = [0.3, 0.03, 0.03], cells = [4, 1, 1], split = "hexahedra" }
translate = [0, -0.015, -0.015]
material = { young = 5e6, poisson = 0.3, density = 1200 }
[[rigid_body]]
name = "pin"
mesh = { cylinder = 0.01, length = 0.05 }
mass = 0.05
[[coupling]]
name = "seat"
body = "arm"
group = "x_min"
to = "pin"
[[joint]]
name = "axle"
kind = "revolute"
bodies = ["pin"]
at = [0, 0, 0]
axis = [0, 1, 0]
"""


def test_a_solid_on_a_pin_moves_as_in_python():
    problem, states, energies = motion_of(Scenario.parse(SOLID + WEIGHT + run(dt=2e-3, end=0.2)), [0.0, 0.2])
    mesh, pin = problem.mesh, problem.rigid_sets.rigid_sets["pin"]
    x = states[0].q
    frames = Frames([pin.nodes], x)
    joints = {
        "seat": Coupling(pin.nodes, mesh.nodes_of("arm.x_min") if "arm.x_min" in mesh.groups else _left(mesh), x),
        "axle": Joint("revolute", (pin.nodes, None), x, [0.0, 0.0, 0.0], [0.0, 1.0, 0.0]),
    }
    system = sx.System(problem.system.mass, problem.system.energies, frames=frames, joints=joints)
    end = sx.EnergyMomentum(2e-3).start(system, system.state(x)).advance(0.2)
    assert_allclose(states[-1].q, end.q, atol=1e-11)
    assert problem.system.joints["axle"].angle(end.q) > 0.5
    assert abs(energies["total"] - problem.system.energies_of(states[0])["total"]) < 1e-10 * energies["kinetic"]


def _left(mesh):
    return np.flatnonzero(np.abs(mesh.points[:, 0]) < 1e-9)


def test_runs_with_couplings_have_reactions_and_break(tmp_path):
    text = SOLID.replace('to = "pin"', 'to = "pin"\nuntil = "off"') + WEIGHT
    text += '[[probe]]\nname = "grip"\njoint = "seat"\nquantities = ["force"]\ncomponents = ["norm", "z"]\n'
    text += '[[when]]\nname = "off"\nprobe = "grip"\nabove = 5\n[output]\npictures = false\n'
    simulate(Scenario.parse(text + run(dt=2e-3, end=0.4)), tmp_path / "run", progress=False)
    result = sx.read_result(tmp_path / "run")
    (event,) = result.summary["events"]
    grip = result.probes["grip"]
    assert 0.05 < event["t"] < 0.35
    assert np.all(grip["force_norm"][grip["t"] > 1.001 * event["t"]] == 0.0)
    assert np.ptp(result.history["balance"]) < 1e-9 * result.history["kinetic"].max()
    assert find_modes(Scenario.parse(SOLID + WEIGHT + run()), 2).natural.frequencies[1] > 1.0


def test_couplings_that_are_refused():
    here = "test.toml: [[coupling]] #1 'seat': "
    for old, new, said in (
        ('to = "pin"', 'to = "pim"', "there is no rigid body, beam or shell 'pim'; did you mean 'pin'?"),
        ('to = "pin"', 'to = "pin"\nat = [0, 0, 0]', "at is of beams and shells, and 'pin' is a rigid body"),
        ('group = "x_min"', 'group = "x_mim"', "body 'arm' has no group 'x_mim'"),
        ("mass = 0.05\n", "", "'pin' has no mass"),
    ):
        found = lines(SOLID.replace(old, new) + run())
        assert any(line.startswith(here) and said in line for line in found), found
    held = '[[support]]\nbody = "arm"\ngroup = "x_min"\ncomponents = "y"\n'
    refused(SOLID + held + run(), "'seat' lets node 0 move with a frame, but it is held or moved by a support")
    found = lines(SOLID + run("graham-jelenic"))
    assert any("'seat': graham-jelenic cannot keep couplings" in line and '"midpoint"' in line for line in found)


# -- what is refused --------------------------------------------------------------------------------------------------


def refused(text, *parts):
    found = lines(text)
    assert len(found) == 1
    for part in parts:
        assert part in found[0]


def test_bodies_that_cannot_be_joined():
    here = "test.toml: [[joint]] #1 'hinge': "
    refused(
        hinge(bodies='"uper"') + run(), here + "there is no rigid body, beam or shell 'uper'; did you mean 'upper'?"
    )
    refused(hinge(bodies='"upper", "upper"') + run(), here + "joins 'upper' to itself")
    refused(hinge(bodies="") + run(), here + "bodies must be one or two names, got 0")
    wall = '[[rigid_body]]\nname = "wall"\nmesh = { box = [0.1, 0.1, 0.1] }\n'
    refused(hinge(bodies='"upper", "wall"') + wall + run(), here + "'wall' has no mass", "to the ground")
    refused(CRANK.replace("at = [0.15, 0, 0]", "at = [0.16, 0, 0]") + run(), "'pin': body 'rod' has no node at")


def test_keys_that_do_not_go_together():
    here = "test.toml: [[joint]] #1 'hinge': "
    refused(hinge(kind="slider") + run(), here + "kind must be one of 'spherical', 'revolute'")
    refused(hinge(axis="") + run(), here, "a revolute joint requires an axis")
    refused(hinge(kind="spherical") + run(), here, "a spherical joint has no axis")
    refused(hinge("damping = 1\n", "spherical", axis="") + run(), here + "of kind 'spherical' has no angle and no")
    refused(hinge("force = 1\n") + run(), here + "of kind 'revolute' has no displacement; leave force out")
    refused(hinge("angle = 1\n") + run(), here + "needs a history, by which angle is multiplied")
    refused(hinge('history = { kind = "ramp", duration = 1 }\n') + run(), here + "has a history, but nothing")
    refused(hinge("damping = 1\n", "cylindrical") + run(), here + "of kind 'cylindrical' needs coordinate")
    refused(hinge('coordinate = "angle"\n') + run(), here + "coordinate goes with")
    refused(hinge("stops = { stiffness = 1 }\n") + run(), here + "stops needs lowest or highest, or both")
    refused(hinge("stops = { lowest = 1, highest = 0, stiffness = 1 }\n") + run(), here, "lowest must be below highest")
    table = 'history = { kind = "table", times = [0, 0.1], factors = [0, 1] }\n'
    refused(hinge("angle = 1\n" + table) + run(), here + "history: its table goes from 0 to 0.1 s")
    refused(hinge("torque = 1\n" + table + 'interpolation = "linear"\n') + run(), here, "interpolation goes with")
    second = '[[rigid_body]]\nname = "hinge_angle"\nmesh = { box = [1, 1, 1] }\nmass = 1\n'
    refused(hinge() + second + run(), "the name 'hinge_angle' is reserved")


def test_probes_that_are_refused():
    here = "test.toml: [[probe]] #1 'pin': "
    for keys, said in (
        ('joint = "hing"\n', "there is no joint 'hing'; did you mean 'hinge'?"),
        ('joint = "hinge"\nquantities = ["displacement"]\n', "'hinge' has no displacement; it has angle, angular_vel"),
        ('joint = "hinge"\ncomponents = ["xx"]\n', "components has 'xx', and forces and moments of joints have"),
        ('joint = "hinge"\nreduce = ["max"]\n', "reports forces and moments, and has reduce"),
        ('joint = "hinge"\nabout = [1, 0, 0]\n', "about is given, which goes with moments of supports"),
        ('joint = "hinge"\nsupport = "x"\n', "needs one thing to look at of body, joint, support"),
    ):
        refused(hinge() + f'[[probe]]\nname = "pin"\n{keys}' + run(), here, said)
    refused(hinge('until = "soon"\n') + run(), "'hinge': until: there is no [[when]] 'soon'")
    refused(hinge("from = 0.1\n") + run(), "'hinge': unknown key 'from'")


def test_static_runs_follow_an_angle_that_is_given(tmp_path):
    """The moment that lifts a bar is that of its weight, and its work what the bar is lifted by."""
    lifted = hinge('angle = 1.2\nhistory = { kind = "smooth-ramp", duration = 1.0 }\n') + WEIGHT
    simulate(Scenario.parse(lifted + run("static", 0.05, 1.0) + "[output]\npictures = false\n", "test.toml"), tmp_path)
    history, weight = read_history(tmp_path / "history.csv"), 1200 * 0.06 * 0.04 * 0.4 * G
    angle = history["hinge_angle"]
    assert_allclose(angle[-1], 1.2, atol=1e-12)
    assert_allclose(np.abs(history["hinge_moment_y"]), 0.2 * weight * np.sin(angle), atol=1e-9 * weight)
    assert_allclose(history["hinge_force_z"], weight, rtol=1e-9)
    assert_allclose(history["work_hinge"], 0.2 * weight * (1.0 - np.cos(angle)), atol=2e-3 * weight)
    assert np.ptp(history["balance"]) < 1e-12 * weight


@pytest.mark.parametrize("kind", ["hht", "generalized-alpha", "newmark"])
def test_a_pendulum_by_methods_that_carry_accelerations(kind):
    """Next to energy–momentum: to second order of the step, with joints that stay closed."""
    beta = "beta = 0.25\n" if kind == "newmark" else ""
    ends = []
    for text in (run(end=0.2), run(kind, end=0.2).replace("dt =", beta + "dt =")):
        problem, states, _ = motion_of(Scenario.parse(PENDULUM + text, "test.toml"), [0.0, 0.2])
        ends.append(states[-1].q)
        assert np.abs(problem.system.joints.violations(states[-1].q)).max() < 1e-13
    assert 0.0 < np.abs(ends[1] - ends[0]).max() < 2e-3


def test_methods_and_starts_that_cannot():
    here = "test.toml: [[joint]] #1 'hinge': "
    given = 'angle = 1\nhistory = { kind = "smooth-ramp", duration = 0.3 }\n'
    refused(hinge(given) + run("shake"), here + "its angle is given, which shake cannot follow", '"rattle"')
    refused(hinge(given) + run("hht"), here + "its angle is given, which hht cannot follow", '"energy-momentum"')
    refused(
        PENDULUM.replace("[-2.75, 0.45, 0]", "[-2.75, 1.45, 0]") + run(), "open joint 'knee' at", "angular_velocity"
    )
    of_order_four = run().replace("dt = 0.005", "dt = 0.005\norder = 4")
    refused(hinge() + of_order_four, here + "an energy keeps 'upper' rigid here", "orders above")
    jump = given.replace("smooth-ramp", "ramp")
    refused(hinge(jump) + run(), "open joint 'hinge' at", '"smooth-ramp"')
    turning = '[start]\nkind = "relative-equilibrium"\nangular_velocity = [0, 0, 1]\n'
    assert any("knows of no joints" in line for line in lines(CRANK + turning + run(dt=1e-3, end=0.4)))


def test_rattle_takes_joints_of_rigid_bodies_and_agrees():
    ends = []
    for kind in ("rattle", "energy-momentum"):
        problem, states, _ = motion_of(Scenario.parse(PENDULUM + run(kind, 1e-3, 0.2)), [0.0, 0.2])
        ends.append([joint.angle(states[-1].q) for joint in problem.system.joints.values()])
    assert_allclose(*ends, atol=1e-4)
