"""Supports that move in scenario files: what is read, runs with them, and one clear line for each mistake."""

import json
from math import cos, pi, radians, sin

import numpy as np
import pytest

import symplex.runs.rows
from symplex.commands.cli import main
from symplex.errors import ScenarioError
from symplex.fem.actions.support_motion import SupportRotation
from symplex.runs.history import read_history
from symplex.runs.run import simulate
from symplex.scenario.scenario import Scenario

BODY = """
[[body]]
name = "post"
mesh = { box = [0.1, 0.1, 0.3], cells = [1, 1, 2], split = "6" }
material = { young = 2e5, poisson = 0.3, density = 1000 }
"""
REST = """
[integrator]
kind = "energy-momentum"
dt = 0.01
[run]
duration = 0.5
frames = 5
samples = 25
[output]
pictures = false
"""


def support(text, group="z_min", name='name = "table"\n'):
    return f'[[support]]\n{name}body = "post"\ngroup = "{group}"\n{text}\n'


def build(text, folder=None):
    return Scenario.parse(text, folder / "test.toml" if folder else "test.toml").build()


def motion(text, folder=None):
    return build(BODY + support(text) + REST, folder).system.moving.motions["table"]


# -- what is read ----------------------------------------------------------------------------------------------


def test_a_support_on_a_shaking_table():
    problem = build(BODY + support('displacement = [0.02, 0, 0]\nhistory = { kind = "sine", frequency = 3 }') + REST)
    system, nodes = problem.system, problem.mesh.nodes_of("post.z_min")
    assert list(system.moving.motions) == ["table"]
    np.testing.assert_array_equal(np.flatnonzero(system.fixed.all(axis=1)), nodes)
    end = problem.integrator.start(system, problem.state).advance(0.06)
    moved = [0.02 * sin(6 * pi * 0.06), 0.0, 0.0]
    np.testing.assert_allclose(end.q[nodes], problem.mesh.points[nodes] + moved, atol=1e-16)
    np.testing.assert_allclose(end.v[nodes, 0], 0.02 * 6 * pi * cos(6 * pi * 0.06), rtol=1e-13)


@pytest.mark.parametrize(
    ("history", "at"),
    [
        ('kind = "ramp", duration = 0.4', {0.1: 0.25, 0.4: 1.0, 0.5: 1.0}),
        ('kind = "smooth-ramp", duration = 0.4', {0.0: 0.0, 0.2: 0.5, 0.4: 1.0, 0.5: 1.0}),
        ('kind = "half-sine", duration = 0.4', {0.2: 1.0, 0.4: 0.0, 0.5: 0.0}),
        ('kind = "sine", frequency = 1.0', {0.25: 1.0, 0.5: 0.0}),
        ('kind = "table", times = [0, 0.1, 0.3, 0.5], factors = [0, 1, 0, 1]', {0.1: 1.0, 0.3: 0.0, 0.5: 1.0}),
    ],
)
def test_histories_of_supports(history, at):
    given = motion(f"displacement = [0, 0.1, 0]\nhistory = {{ {history} }}")
    for t, factor in at.items():
        np.testing.assert_allclose(given.displacement(t), np.tile([0, 0.1 * factor, 0], (4, 1)), atol=1e-15)
    h = 1e-5
    for t in (0.05, 0.17, 0.35, 0.45):
        rate = (given.displacement(t + h) - given.displacement(t - h)) / (2 * h)
        np.testing.assert_allclose(given.velocity(t), rate, atol=1e-6)
        second = (given.velocity(t + h) - given.velocity(t - h)) / (2 * h)
        np.testing.assert_allclose(given.acceleration(t), second, atol=1e-5)


def test_a_table_is_smooth_unless_told():
    text = 'displacement = [0, 0.1, 0]\nhistory = { kind = "table", times = [0, 0.1, 0.5], factors = [0, 1, 0] }\n'
    assert motion(text).smooth
    linear = motion(text + 'interpolation = "linear"')
    assert not linear.smooth
    assert linear.displacement(0.05)[0, 1] == pytest.approx(0.05)


def test_steady_turning_and_accelerated_supports():
    assert motion("velocity = [0, 0, -0.2]").displacement(2.0)[0, 2] == -0.4
    text = 'rotation = { point = [0, 0, 0], axis = [0, 0, 2], degrees = 30 }\nhistory = { kind = "ramp", duration = 1 }'
    turn = motion(text)
    assert isinstance(turn, SupportRotation)
    assert turn.angle.value(0.5) == radians(15)
    shaken = motion(
        'components = "x"\nacceleration = [9.81, 0, 0]\nhistory = { kind = "table", times = [0, 1], factors = [1, 1] }'
    )
    assert shaken.axes == (0,)
    assert shaken.displacement(1.0)[0, 0] == pytest.approx(0.5 * 9.81)


def test_one_direction_is_driven_and_another_held():
    text = support("velocity = [0.1, 0, 0]\ncomponents = 'x'") + support("components = 'z'", name="")
    system = build(BODY + text + REST).system
    nodes = np.flatnonzero(system.moving.mask[:, 0])
    assert not system.moving.mask[:, 1:].any()
    np.testing.assert_array_equal(system.fixed[nodes], [[True, False, True]] * 4)


def test_a_record_from_a_file(tmp_path):
    (tmp_path / "record.csv").write_text("t (s),a (g)\n0,0\n0.25,1\n\n1,0\n", "utf-8")
    history = 'history = { kind = "table", file = "record.csv" }'
    shaken = motion(f"acceleration = [9.81, 0, 0]\n{history}", tmp_path)
    assert shaken.acceleration(0.125)[0, 0] == pytest.approx(0.5 * 9.81)
    load = f'[[load]]\nname = "p"\nkind = "pressure"\nbody = "post"\ngroup = "z_max"\npressure = 2\n{history}\n'
    factor = build(BODY + load + REST, tmp_path).system.loads["p"].factor
    assert factor(0.25) == 1.0


# -- runs --------------------------------------------------------------------------------------------------------


def test_a_run_tells_the_work_of_its_supports(tmp_path, capsys):
    path = tmp_path / "shaken.toml"
    text = support('displacement = [0.02, 0, 0]\nhistory = { kind = "sine", frequency = 3 }')
    path.write_text(BODY + text + REST, "utf-8")
    assert main(["run", str(path), "--output", str(tmp_path / "out")]) == 0
    assert "the work of table taken off" in capsys.readouterr().out
    history = read_history(tmp_path / "out" / "history.csv")
    work, balance = history["work_table"], history["balance"]
    assert np.abs(work).max() > 1e-3
    np.testing.assert_allclose(balance, history["total"] - work, atol=1e-15)
    assert np.abs(balance - balance[0]).max() < 1e-12 * np.abs(work).max()
    summary = json.loads((tmp_path / "out" / "summary.json").read_text("utf-8"))
    assert summary["loads"] == ["table"]
    assert summary["drift"]["balance"] < 1e-12 < summary["drift"]["total"]


def test_an_explicit_run_goes_on_bit_identically(tmp_path, monkeypatch):
    path = tmp_path / "shaken.toml"
    text = support(
        "rotation = { point = [0, 0, 0], axis = [0, 0, 1], degrees = 20 }\n"
        'history = { kind = "smooth-ramp", duration = 0.3 }'
    )
    rest = REST.replace('"energy-momentum"\ndt = 0.01', '"newmark"').replace("[run]", "[run]\ncheckpoint = 1e-9")
    path.write_text(BODY + text + rest, "utf-8")
    simulate(path, tmp_path / "whole", progress=False)
    original = symplex.runs.rows.RowsOfRun.row

    def interrupted(self, state, acting):
        if state.t > 0.25:
            raise KeyboardInterrupt
        return original(self, state, acting)

    with monkeypatch.context() as patch:
        patch.setattr(symplex.runs.rows.RowsOfRun, "row", interrupted)
        with pytest.raises(KeyboardInterrupt):
            simulate(path, tmp_path / "parts", progress=False)
    simulate(path, tmp_path / "parts", resume=True, progress=False)
    assert (tmp_path / "whole" / "history.csv").read_bytes() == (tmp_path / "parts" / "history.csv").read_bytes()


# -- mistakes ----------------------------------------------------------------------------------------------------

SINE = 'history = { kind = "sine", frequency = 3 }'
HERE = "test.toml: [[support]] #1 'table': "


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (support("velocity = [1, 0, 0]", group="base"), HERE + "body 'post' has no group 'base'; it has: body, x_max, "
         "x_min, y_max, y_min, z_max, z_min."),
        (support("velocity = [1, 0, 0]", name=""), "test.toml: [[support]] #1: moves, so it needs a name, by which its "
         "work is reported."),
        (support("velocity = [1, 0, 0]", name='name = "post"\n'), "test.toml: [[support]] #1 'post': the name 'post' "
         "is taken by [[body]] #1; choose another."),
        (support(SINE), HERE + "has a history, but nothing that it could change: give displacement or rotation."),
        (support("displacement = [1, 0, 0]"), HERE + "needs a history, by which displacement is multiplied."),
        (support("displacement = [0, 0, 0]\n" + SINE), HERE + "displacement is zero; leave it out for a support at "
         "rest."),
        (support("displacement = [1, 0, 0]\nvelocity = [1, 0, 0]"), HERE + "needs one motion of displacement, "
         "field, rotation, acceleration, velocity; given are displacement and velocity."),
        (support("velocity = [1, 0, 0]\n" + SINE), HERE + "with velocity moves steadily, so it has no history."),
        (support("acceleration = [1, 0, 0]\n" + SINE), HERE + "with acceleration needs a history of kind 'table', not "
         "'sine'."),
        (support('components = "yz"\nvelocity = [1, 0, 0]'), HERE + "velocity is not zero in x, which is not among the "
         "components."),
        (support('components = "x"\nrotation = { point = [0, 0, 0], axis = [0, 0, 1], degrees = 5 }\n' + SINE),
         HERE + "components must be 'xyz' with rotation, got 'x'."),
        (support("rotation = { point = [0, 0, 0], axis = [0, 0, 0], degrees = 5 }\n" + SINE),
         HERE + "rotation.axis must be a direction, got zero."),
        (support("rotation = { point = [0, 0, 0], degrees = 5 }\n" + SINE), HERE + "rotation.axis is missing."),
        (support('displacement = [1, 0, 0]\nhistory = { kind = "table", times = [0, 0], factors = [0, 1] }'),
         HERE + "history times must ascend, got [0.0, 0.0] s."),
        (support('displacement = [1, 0, 0]\nhistory = { kind = "table", times = [0, 0.4], factors = [0, 1] }'),
         HERE + "history: its table goes from 0 to 0.4 s, but the run from 0 to 0.5 s; let it cover the run."),
        (support('displacement = [1, 0, 0]\nhistory = { kind = "table", times = [0], factors = [0] }'),
         HERE + "a motion: a table needs two times at least; it has one."),
        (support('displacement = [1, 0, 0]\nhistory = { kind = "table", file = "a.csv", times = [0, 1] }'),
         HERE + "history of kind 'table' needs file; given: file, times."),
        (support('displacement = [1, 0, 0]\nhistory = { kind = "table", file = "none.csv" }'),
         HERE + "none.csv cannot be read: No such file or directory."),
        (support('displacement = [1, 0, 0]\nhistory = { kind = "table", file = "three.csv" }'),
         HERE + "three.csv, line 3 must have two numbers with a comma between them and points for decimals, "
         "time (s) and factor. Only a first line without any number is a heading."),
        (support('displacement = [1, 0, 0]\nhistory = { kind = "table", file = "back.csv" }'),
         HERE + "back.csv: times must ascend, but 1 s is followed by 0.5 s."),
        (support('displacement = [1, 0, 0]\nhistory = { kind = "table", file = "empty.csv" }'),
         HERE + "empty.csv has no numbers; expected two columns, time (s) and factor."),
        (support("velocity = [1, 0, 0]") + support("", name=""), "test.toml: [[support]]: support 'table' moves node 0 "
         "in x, which is fixed as well; let one of them go."),
    ],
)  # fmt: skip
def test_mistakes(text, line, tmp_path):
    (tmp_path / "three.csv").write_text("t,x\n0,1\n1,2,3\n", "utf-8")
    (tmp_path / "back.csv").write_text("0,1\n1,2\n0.5,2\n", "utf-8")
    (tmp_path / "empty.csv").write_text("t,x\n", "utf-8")
    with pytest.raises(ScenarioError) as caught:
        build(BODY + text + REST, tmp_path)
    assert str(caught.value).splitlines() == [line]


def test_force_stepping_refuses_supports_that_move():
    rest = REST.replace('"energy-momentum"\ndt = 0.01', '"force-stepping"\ngrid = 1e-3')
    with pytest.raises(ScenarioError, match=r"'table': it moves, which force-stepping cannot follow; take another"):
        build(BODY + support("velocity = [1, 0, 0]") + rest)


# -- every displacement is given -------------------------------------------------------------------------------

ALL_GIVEN = """
[[truss]]
name = "toggle"
mesh.nodes = [[-1, 0, 0], [0, 0.1, 0], [1, 0, 0]]
mesh.members = [[0, 1], [1, 2]]
mesh.groups = {{ top = [1], ends = [0, 2] }}
section = 1e-4
material = {{ young = 1e7, density = 1000 }}
[[support]]
body = "toggle"
group = "ends"
[[support]]
name = "push"
body = "toggle"
group = "top"
displacement = [0, -0.2, 0]
history = {{ kind = "smooth-ramp", duration = 1.0 }}
[integrator]
kind = "{}"
dt = 0.05
[run]
duration = 1.0
frames = 20
"""


@pytest.mark.parametrize("kind", ["static", "newmark", "multirate", "energy-momentum", "generalized-alpha", "hht"])
def test_a_shallow_truss_is_pushed_through_by_a_support_at_its_apex(kind):
    """The force is that of the bars, exact, through both limits; in motion with the inertia of its node."""
    problem = build(ALL_GIVEN.format(kind))
    system, motion = problem.system, problem.integrator.start(problem.system, problem.state)
    assert system.fixed.all()
    length, inertia = np.hypot(1.0, 0.1), 1000.0 * 1e-4 * np.hypot(1.0, 0.1)
    for t in np.linspace(0.1, 1.0, 10):
        state = motion.advance(t)
        y = state.q[1, 1]
        force = 2.0 * 1e-4 * 1e7 / length * (1.0 - length / np.hypot(1.0, y)) * y
        if kind != "static":
            force += inertia * system.moving.accelerations(t)[1, 1]
        np.testing.assert_allclose(system.reactions(state)[1], [0.0, force, 0.0], rtol=1e-9, atol=1e-9)
    assert y == pytest.approx(-0.1)


def test_one_element_in_shear_has_the_stress_of_its_law():
    """Neo-Hookean: P = μ (F − F⁻ᵀ) without a change of volume, σ_xz = μ γ and no force along z."""
    box = 'box = [1, 1, 1], cells = [1, 1, 1], split = "hexahedra"'
    text = BODY.replace('box = [0.1, 0.1, 0.3], cells = [1, 1, 2], split = "6"', box) + support("")
    text += support(
        'displacement = [0.5, 0, 0]\nhistory = { kind = "ramp", duration = 0.5 }', "z_max", 'name = "top"\n'
    )
    problem = build(text + REST.replace("energy-momentum", "static"))
    motion = problem.integrator.start(problem.system, problem.state)
    for t in (0.1, 0.3, 0.5):
        forces = problem.system.reactions(motion.advance(t))[problem.mesh.nodes_of("post.z_max")]
        np.testing.assert_allclose(forces.sum(axis=0), [2e5 / 2.6 * t, 0.0, 0.0], rtol=1e-12, atol=1e-8)
