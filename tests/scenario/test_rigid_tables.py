"""Obstacles that move and turn, rigid surfaces and rigid bodies in scenarios: balances, histories, errors."""

import numpy as np
import pytest

import symplex as sx
from symplex.errors import ScenarioError
from symplex.meshes.closed_surfaces import sphere_surface
from symplex.runs.frames import Shown
from symplex.runs.history import HistoryWriter, read_history
from symplex.runs.run import simulate
from symplex.scenario.scenario import Scenario

BLOCK = """
[[body]]
name = "block"
mesh = {{ box = [0.1, 0.1, 0.05], cells = [2, 2, 1], split = "6" }}
material = {{ young = 1e6, poisson = 0.3, density = 1000.0 }}
{rest}
[integrator]
kind = "{kind}"
dt = {dt}
[run]
duration = {duration}
frames = 5
samples = 10
[output]
pictures = false
"""
CLAMP = '[[support]]\nbody = "block"\ngroup = "z_min"\n'
SPIN_DOWN = "velocity = [0.3, 0, -2]\nangular_velocity = [20, 30, 5]\nmass = 0.2\nstiffness = 3e3\n"


def scenario(rest, kind="energy-momentum", dt=2e-4, duration=0.01, folder=None):
    text = BLOCK.format(rest=rest, kind=kind, dt=dt, duration=duration)
    return Scenario.parse(text, "s.toml" if folder is None else folder / "s.toml")


def motion_of(rest, **options):
    """The states of a run at its samples, and what is reported of them."""
    read = scenario(rest, **options)
    problem = read.build()
    motion = problem.integrator.start(problem.system, problem.state)
    states, energies = [], []
    for t in read.times:
        states.append(motion.advance(t))
        energies.append(motion.energies(states[-1]))
    return problem, states, energies


# -- free bodies -------------------------------------------------------------------------------------------------------

FREE = {
    "sphere": 'kind = "sphere"\ncenter = [0.05, 0.05, 0.082]\nradius = 0.03\n',
    "box": 'kind = "box"\ncenter = [0.05, 0.05, 0.075]\nsize = [0.06, 0.05, 0.04]\n'
    "rotate = { axis = [1, 1, 0], degrees = 5 }\n",
    "capsule": 'kind = "capsule"\nstart = [0.03, 0.05, 0.072]\nend = [0.07, 0.05, 0.072]\nradius = 0.02\n',
}


@pytest.mark.parametrize("kind", FREE)
def test_a_spinning_obstacle_shares_energy_and_both_momenta_with_what_it_hits(kind):
    problem, states, energies = motion_of(f'[[obstacle]]\nname = "tool"\n{FREE[kind]}{SPIN_DOWN}friction = 0.4\n')
    system, rigid_set = problem.system, problem.rigid_sets.rigid_sets["tool"]
    assert max(system.energies["tool"].total(state.q) for state in states) > 1e-3
    exchanged = energies[0]["kinetic"]
    balances = [energy["balance"] for energy in energies]
    assert np.ptp(balances) < 1e-11 * exchanged
    assert energies[-1]["work_friction_tool"] < -1e-4 * exchanged
    for of in (system.momentum, system.angular_momentum):
        values = np.array([of(state) for state in states])
        assert np.abs(values - values[0]).max() < 1e-11 * np.abs(values).max()
    _, velocity, spin = rigid_set.pose(problem.state.q, problem.state.v)
    np.testing.assert_allclose(velocity, [0.3, 0.0, -2.0], atol=1e-13)
    np.testing.assert_allclose(spin, [20.0, 30.0, 5.0], atol=1e-11)
    assert rigid_set.mass == 0.2
    assert rigid_set.pose(states[-1].q, states[-1].v)[1][2] > -1.9  # it has been slowed down


def test_a_spinning_sphere_without_friction_does_as_one_on_a_node():
    """A frame turns, but a smooth ball does not show it: the path is that of the carried sphere."""
    ball = '[[obstacle]]\nname = "ball"\n' + FREE["sphere"] + "velocity = [0.3, 0, -2]\nmass = 0.2\nstiffness = 3e3\n"
    problem, carried, _ = motion_of(ball)
    assert len(problem.rigid_sets.rigid_sets["ball"].nodes) == 1
    problem, framed, _ = motion_of(ball + "angular_velocity = [0, 0, 0]\n")
    assert len(problem.rigid_sets.rigid_sets["ball"].nodes) == 4
    paths = [np.array([state.q[len(problem.mesh.points) :].mean(axis=0) for state in of]) for of in (carried, framed)]
    np.testing.assert_allclose(paths[0], paths[1], atol=1e-7)
    blocks = [np.array([state.q[: len(problem.mesh.points)] for state in of]) for of in (carried, framed)]
    np.testing.assert_allclose(blocks[0], blocks[1], atol=1e-7)


@pytest.mark.parametrize(
    ("kind", "dt", "drift"),
    [
        ("newmark", '"auto"', 2e-2),
        ("newmark", 1e-4, 2e-2),
        ("midpoint", 1e-4, 5e-3),
        ("generalized-alpha", 1e-4, 2e-2),
        ("hht", 1e-4, 2e-2),
        ("zhang-skeel", 1e-4, 5e-2),
        ("graham-jelenic", 1e-4, 2e-2),
    ],
)
@pytest.mark.slow
def test_other_methods_follow_a_spinning_box(kind, dt, drift):
    rest = f'[[obstacle]]\nname = "tool"\n{FREE["box"]}{SPIN_DOWN}'
    problem, states, energies = motion_of(rest, kind=kind, dt=dt)
    _, exact, _ = motion_of(rest)
    totals = [energy["total"] for energy in energies]
    assert np.ptp(totals) < drift * totals[0]
    rigid_set = problem.rigid_sets.rigid_sets["tool"]
    reported, expected = (rigid_set.pose(of[-1].q, of[-1].v) for of in (states, exact))
    np.testing.assert_allclose(reported[0], expected[0], atol=3e-4)
    np.testing.assert_allclose(reported[1], expected[1], atol=0.15)


# -- given motions -----------------------------------------------------------------------------------------------------

RAMP = 'history = { kind = "smooth-ramp", duration = 0.01 }\n'
TURN = "rotation = { point = [0.05, 0.05, 0.09], axis = [0, 1, 0], degrees = 30 }\n"
DRIVEN = {
    "half-space, velocity": 'kind = "half-space"\npoint = [0, 0, 0.051]\nnormal = [0, 0, -1]\n'
    "velocity = [0.1, 0, -1]\n",
    "half-space, rotation": 'kind = "half-space"\npoint = [0, 0, 0.051]\nnormal = [0, 0, -1]\n'
    "rotation = { point = [0.05, 0, 0.051], axis = [0, 1, 0], degrees = 10 }\n" + RAMP,
    "sphere, displacement": FREE["sphere"] + "displacement = [0.005, 0, -0.01]\n" + RAMP,
    "cylinder, spin": 'kind = "cylinder"\npoint = [0.05, 0, 0.0725]\naxis = [0, 1, 0.1]\nradius = 0.02\n'
    "angular_velocity = [10, 0, 0]\nvelocity = [0, 0, -0.5]\n",
    "capsule, both": FREE["capsule"] + TURN + "displacement = [0, 0, -0.01]\n" + RAMP,
    "box, rotation": FREE["box"] + TURN + RAMP,
    "box, record": FREE["box"] + "acceleration = [0, 0, -2000]\n"
    'history = { kind = "table", times = [0, 0.005, 0.01], factors = [1, 0, -1] }\n',
}


@pytest.mark.parametrize("name", DRIVEN)
def test_the_work_of_a_driven_obstacle_is_in_the_balance_to_round_off(name):
    rest = f'{CLAMP}[[obstacle]]\nname = "tool"\nstiffness = 1e4\nfriction = 0.2\n{DRIVEN[name]}'
    problem, _, energies = motion_of(rest, dt=5e-4)
    works = [energy["work_tool"] for energy in energies]
    stored = energies[-1]["total"] - energies[0]["total"]
    assert np.abs(works).max() > 1e-4
    assert np.ptp([energy["balance"] for energy in energies]) < 1e-10 * np.abs(works).max()
    # What the tool has put in is stored, but for what friction has taken.
    assert works[-1] + energies[-1]["work_friction_tool"] == pytest.approx(stored, rel=1e-9)
    assert energies[0]["kinetic"] < 1e-11  # what is driven has no inertia of its own
    assert problem.system.fixed[problem.rigid_sets.rigid_sets["tool"].nodes].all()


def test_a_driven_obstacle_is_where_its_motion_takes_it():
    problem, states, _ = motion_of(f'{CLAMP}[[obstacle]]\nname = "tool"\nstiffness = 1e4\n{DRIVEN["capsule, both"]}')
    axis = np.array([0.05, 0.05, 0.09])
    angle = np.radians(30.0)
    R = np.array([[np.cos(angle), 0.0, np.sin(angle)], [0.0, 1.0, 0.0], [-np.sin(angle), 0.0, np.cos(angle)]])
    shown = Shown(problem)
    nodes = shown.blocks["tool"].nodes
    start = shown.points[nodes]
    np.testing.assert_allclose(
        start + shown.displacement(states[-1].q)[nodes],
        axis + (start - axis) @ R.T + [0.0, 0.0, -0.01],
        atol=1e-12,
    )


# -- rigid surfaces and rigid bodies -----------------------------------------------------------------------------------


def write_stl(path, mesh):
    """A file as CAD writes it: each triangle with corners of its own."""
    lines = ["solid tool"]
    for corners in mesh.points[mesh.cells["triangle"]]:
        vertices = "".join(f"vertex {x:.9e} {y:.9e} {z:.9e}\n" for x, y, z in corners)
        lines.append(f"facet normal 0 0 0\nouter loop\n{vertices}endloop\nendfacet")
    path.write_text("\n".join([*lines, "endsolid tool"]))


@pytest.fixture
def stl(tmp_path):
    write_stl(tmp_path / "tool.stl", sphere_surface(20.0, 1))
    return tmp_path


SURFACE = (
    '[[obstacle]]\nname = "tool"\nkind = "surface"\nmesh = "tool.stl"\nscale = 1e-3\ntranslate = [0.05, 0.05, 0.0725]\n'
)
STILL = SURFACE + "stiffness = 1e8\ndistance = 2e-3\n"


def test_a_rigid_surface_of_a_file_is_pressed_into_a_block(stl):
    rest = CLAMP + STILL + "friction = 0.3\ndisplacement = [0.002, 0, -0.01]\n" + RAMP
    problem, states, energies = motion_of(rest, dt=5e-4, folder=stl)
    works = [energy["work_tool"] for energy in energies]
    assert works[-1] > 1e-3
    assert np.ptp([energy["balance"] for energy in energies]) < 1e-11 * works[-1]
    contact = problem.body_contacts["tool"]
    assert contact.surface.names == ("tool", "block")
    assert contact.surface.has_volume[0]  # corners in one place are one
    assert len(problem.rigid_sets.points_of("tool")) == 42
    points = problem.rigid_sets.points(states[-1].q)
    assert contact.contacts(points).gaps.min() > 0.0


def test_a_surface_that_stands_still_throws_a_block_back(stl):
    rest = STILL.replace("0.0725", "0.0735").replace("[[obs", "[gravity]\nacceleration = [0, 0, 200]\n[[obs")
    problem, states, energies = motion_of(rest, dt=5e-4, duration=0.015, folder=stl)
    heights = [state.q[: len(problem.mesh.points), 2].mean() for state in states]
    assert 3 < int(np.argmax(heights)) < 9  # it has come back
    assert np.ptp([energy["total"] for energy in energies]) < 1e-11 * max(energy["kinetic"] for energy in energies)
    assert not problem.rigid_sets.rigid_sets["tool"].mass
    assert problem.system.fixed[-4:].all()


@pytest.mark.parametrize("kind", ["energy-momentum", "newmark"])
def test_a_rigid_body_with_mass_meets_a_block_and_a_floor(kind, tmp_path):
    rest = """
[[rigid_body]]
name = "ball"
mesh = { sphere = 0.03, refinements = 1 }
translate = [0.05, 0.05, 0.085]
density = 2000
velocity = [0, 0, -2]
angular_velocity = [0, 10, 0]
[[contact]]
stiffness = 1e8
distance = 3e-3
friction = 0.2
[[obstacle]]
name = "floor"
kind = "half-space"
point = [0, 0, -0.001]
normal = [0, 0, 1]
stiffness = 1e4
[gravity]
acceleration = [0, 0, -9.81]
"""
    problem, states, energies = motion_of(rest, kind=kind, dt=1e-4 if kind == "energy-momentum" else 2e-5)
    balances = np.array([energy["balance"] for energy in energies])
    assert np.ptp(balances) < (1e-11 if kind == "energy-momentum" else 3e-2) * energies[0]["kinetic"]
    rigid_set = problem.rigid_sets.rigid_sets["ball"]
    assert rigid_set.mass == pytest.approx(2000.0 * 4.0 / 3.0 * np.pi * 0.03**3, rel=0.3)  # of what the triangles bound
    assert rigid_set.pose(states[-1].q, states[-1].v)[1][2] > -1.5
    reported = problem.system.observed(states[5], lambda energy, at: energy.gradient(at.q[energy.nodes]))
    assert "contact_force_block_ball_z" in reported
    # The floor touches the points of the ball as well.
    points = problem.contacts["floor"].nodes[:, 0]
    assert len(points) == len(problem.mesh.boundary_nodes) + len(problem.rigid_sets.points_of("ball"))


def test_a_run_with_rigid_bodies_is_kept_and_resumed_to_the_last_bit(stl, monkeypatch):
    rest = (
        SURFACE + "mass = 0.1\nvelocity = [0, 0, -2]\nstiffness = 1e8\ndistance = 2e-3\n"
        '[[obstacle]]\nname = "stick"\nstiffness = 1e4\n' + DRIVEN["cylinder, spin"].replace("0.0725", "-0.034")
    )
    (stl / "s.toml").write_text(BLOCK.format(rest=rest, kind="energy-momentum", dt=5e-4, duration=0.005))
    read = Scenario.read(stl / "s.toml")
    assert "tool.stl" in read.files
    simulate(read, stl / "whole", progress=False)
    history = read_history(stl / "whole" / "history.csv")
    for what, unit in (("position", "m"), ("velocity", "m/s"), ("spin", "rad/s")):
        assert history.columns[f"{what}_tool_x"].unit == unit
    assert history["velocity_tool_z"][0] == pytest.approx(-2.0)
    assert "velocity_stick_x" not in history
    assert {"work_stick", "position_stick_z"} <= set(history)
    series = sx.read_series(stl / "whole" / "motion.vtkhdf")
    assert {"block", "tool", "stick"} == set(series.blocks)
    nodes = series.blocks["tool"].nodes
    moved = series.frame(5).displacement[nodes]
    assert moved[:, 2].mean() == pytest.approx(history["position_tool_z"][-1] - history["position_tool_z"][0], abs=1e-7)
    rows, append = 0, HistoryWriter.append

    def failing(self, row):
        nonlocal rows
        rows += 1
        if rows == 6:
            raise KeyboardInterrupt
        append(self, row)

    with monkeypatch.context() as patch:
        patch.setattr(HistoryWriter, "append", failing)
        with pytest.raises(KeyboardInterrupt):
            simulate(read, stl / "cut", progress=False)
    simulate(read, stl / "cut", resume=True, progress=False)
    histories = [(stl / name / "history.csv").read_text() for name in ("whole", "cut")]
    assert histories[0] == histories[1]


# -- mistakes ----------------------------------------------------------------------------------------------------------

BALL = '[[obstacle]]\nname = "o"\nstiffness = 1.0\nkind = "sphere"\ncenter = [0, 0, 1]\nradius = 0.1\n'
PLANE = '[[obstacle]]\nname = "o"\nstiffness = 1.0\nkind = "half-space"\npoint = [0, 0, -1]\nnormal = [0, 0, 1]\n'
BOX = '[[obstacle]]\nname = "o"\nstiffness = 1.0\nkind = "box"\ncenter = [0, 0, 1]\nsize = [0.1, 0.1, 0.1]\n'
RIGID = '[[rigid_body]]\nname = "o"\nmesh = { box = [0.1, 0.1, 0.1] }\ntranslate = [0, 0, 1]\n'
MISTAKES = {
    "two masses": (BALL + "mass = 1.0\ndensity = 1.0\n", "has a mass and a density"),
    "mass and motion": (BALL + "mass = 1.0\ndisplacement = [0, 0, 1]\n" + RAMP, "displacement goes without mass"),
    "mass of a plane": (PLANE + "mass = 1.0\n", "a half-space has no end, so it can have no mass"),
    "mass of a container": (BOX + "inside = true\ndensity = 1.0\n", "a container has no volume"),
    "two motions": (
        BALL + "velocity = [0, 0, 1]\ndisplacement = [0, 0, 1]\n" + RAMP,
        "displacement and velocity; give one",
    ),
    "no history": (BALL + "displacement = [0, 0, 1]\n", "needs a history, by which displacement is multiplied"),
    "only a history": (BALL + RAMP, "has a history, but nothing that it could change"),
    "no motion": (BALL + "displacement = [0, 0, 0]\n" + RAMP, "displacement is zero"),
    "no table": (BALL + "acceleration = [0, 0, 1]\n" + RAMP, "needs a history of kind 'table'"),
    "short table": (
        BALL + 'displacement = [0, 0, 1]\nhistory = { kind = "table", times = [0, 1e-4], factors = [0, 1] }\n',
        "its table goes from 0 to 0.0001 s, but the run",
    ),
    "no body": (BALL + 'bodies = ["blok"]\n', "there is no body 'blok'; did you mean 'block'"),
    "two sources": (RIGID.replace("box =", "sphere = 1.0, box ="), "sphere and box"),
    "no length": (RIGID.replace("box = [0.1, 0.1, 0.1]", "cylinder = 0.1"), "needs length"),
    "a key of another": (RIGID.replace("box = [0.1, 0.1, 0.1]", "sphere = 0.1, rings = 3"), "rings goes with cylinder"),
    "no file": (RIGID.replace("{ box = [0.1, 0.1, 0.1] }", '"no.stl"'), "no.stl"),
    "reserved": (RIGID.replace('"o"', '"rigidity"'), "'rigidity' is reserved"),
    "too fast": (
        BOX + "mass = 1.0\nangular_velocity = [0, 0, 1e5]\n",
        "'o' turns with 1e+05 rad/s, too fast for steps of 0.0002 s with this method; take a dt of 5e-05 s or less",
    ),
    "immovable": (
        RIGID + RIGID.replace('"o"', '"p"') + '[[contact]]\nbodies = ["o", "p"]\n',
        "nothing can be pushed away",
    ),
    "overlap": (RIGID.replace("[0, 0, 1]", "[0.05, 0.05, 0.05]") + "[[contact]]\n", "overlap"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_get_a_line(name):
    rest, expected = MISTAKES[name]
    with pytest.raises(ScenarioError) as caught:
        scenario(rest).build()
    assert expected in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize("table", [BOX + "mass = 1.0\n", RIGID + "mass = 1.0\n"])
def test_methods_without_steps_refuse_free_rigid_bodies(table):
    text = BLOCK.format(rest=table, kind="force-stepping", dt=1, duration=0.01).replace("dt = 1", "grid = 1e-4")
    with pytest.raises(ScenarioError, match="moves freely as a rigid body, which force-stepping cannot follow"):
        Scenario.parse(text).build()


def test_a_higher_order_is_refused_for_free_rigid_bodies():
    """Their stiffness follows dt, and so does the error, of second order."""
    tool = f'[[obstacle]]\nname = "tool"\n{FREE["box"]}mass = 0.2\nstiffness = 3e3\n'
    scenario(tool, dt="2e-4\norder = 2").build()
    with pytest.raises(ScenarioError, match=r"\[integrator\].*order must be 2 with rigid bodies.*got 4.*smaller dt"):
        scenario(tool, dt="2e-4\norder = 4").build()
    scenario(
        f'[[obstacle]]\nname = "tool"\n{FREE["sphere"]}mass = 0.2\nstiffness = 3e3\n', dt="2e-4\norder = 4"
    ).build()


def test_open_and_inverted_surfaces_get_a_sentence(tmp_path):
    ball = sphere_surface(0.02, 1)
    write_stl(tmp_path / "open.stl", sx.Mesh(ball.points, {"triangle": ball.cells["triangle"][1:]}))
    write_stl(tmp_path / "turned.stl", sx.Mesh(ball.points, {"triangle": ball.cells["triangle"][:, ::-1]}))
    rest = '[[rigid_body]]\nname = "o"\nmesh = "{}.stl"\ntranslate = [0, 0, 1]\n'
    scenario(rest.format("open"), folder=tmp_path).build()
    with pytest.raises(ScenarioError, match=r"the surface of open\.stl is open"):
        scenario(rest.format("open") + "mass = 1.0\n", folder=tmp_path).build()
    with pytest.raises(ScenarioError, match=r"the normals of turned.stl point inwards.*flip = true"):
        scenario(rest.format("turned"), folder=tmp_path).build()
    problem = scenario(rest.format("turned") + "flip = true\nmass = 1.0\n", folder=tmp_path).build()
    assert problem.rigid_sets.rigid_sets["o"].mass == 1.0
