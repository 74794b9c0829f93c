"""Trusses, springs and point masses in scenarios: what is built, what they do, and what is refused."""

import numpy as np
import pytest

from symplex.errors import ScenarioError
from symplex.meshes.formats.save import save_mesh
from symplex.meshes.mesh import Mesh
from symplex.meshes.series.series import read_series
from symplex.runs.check import check_report
from symplex.runs.history import read_history
from symplex.runs.run import simulate
from symplex.scenario.scenario import Scenario
from symplex.time.trajectory import record

OUTPUT = '\n[output]\npictures = false\nfilm = "none"\n'
STEEL = "section = 1e-4\nmaterial = { young = 200e9, density = 8000 }\n"
BAR = '[[truss]]\nname = "bar"\nmesh = { line = 1.0, bars = 10 }\n' + STEEL
BALL = '[[point_mass]]\nname = "ball"\nmass = 2.0\nposition = [0, 0, -1.5]\n'
HOOK = '[[spring]]\nname = "hook"\nbody = "ball"\nto = [0, 0, 0]\nstiffness = 50\nlength = 1.0\n'
PAIR = """
[[point_mass]]
name = "one"
mass = 1
position = [0, 0, 0]
velocity = [0, 1, 0]
[[point_mass]]
name = "other"
mass = 2
position = [1, 0, 0]
[[spring]]
name = "spring"
body = "one"
to_body = "other"
stiffness = 100
length = 0.9
"""


def rest(integrator='kind = "newmark"', duration=1e-4, frames=1, samples=None):
    often = "" if samples is None else f"samples = {samples}\n"
    return f"\n[integrator]\n{integrator}\n[run]\nduration = {duration}\nframes = {frames}\n{often}" + OUTPUT


def build(text, path="test.toml"):
    return Scenario.parse(text, path).build()


def lines(text, path="test.toml"):
    with pytest.raises(ScenarioError) as caught:
        build(text, path)
    return str(caught.value).splitlines()


# -- what they do -------------------------------------------------------------------------------------------------


def test_a_mass_on_a_spring_swings_with_its_frequency(tmp_path):
    """ω = √(k/m), about mg/k below; by the midpoint rule tan(ω' dt/2) = ω dt/2."""
    w, dt = np.sqrt(50 / 2.0), 1e-2
    gravity = "[gravity]\nacceleration = [0, 0, -9.81]\n"
    text = BALL + HOOK + gravity + rest(f'kind = "midpoint"\ndt = {dt}', 2.0, 2, 200)
    simulate(Scenario.parse(text), tmp_path / "run", progress=False)
    history = read_history(tmp_path / "run" / "history.csv")
    low = -1.0 - 2.0 * 9.81 / 50
    slower = 2.0 / dt * np.arctan(w * dt / 2.0)
    expected = low + (-1.5 - low) * np.cos(slower * history["t"])
    np.testing.assert_allclose(history["position_ball_z"], expected, atol=1e-9)
    assert np.ptp(history["total"]) < 1e-11


def test_a_wave_runs_along_a_bar():
    """Its end is pushed at V: behind the front, at √(E/ρ), all moves so, pressed by √(E ρ) A V."""
    n, c, V = 40, np.sqrt(200e9 / 8000), 1e-3
    steps, dt = 30, 0.995 / n / c
    pushed = f'[[support]]\nname = "push"\nbody = "bar"\ngroup = "x_min"\nvelocity = [{V}, 0, 0]\n'
    mesh = BAR.replace("bars = 10", f"bars = {n}")
    problem = build(mesh + pushed + rest(f'kind = "newmark"\ndt = {dt}', steps * dt, steps, steps))
    path = record(problem.system, problem.integrator, problem.state, dt * np.arange(steps + 1))
    order = np.argsort(problem.mesh.points[:, 0])
    v, bars = path.v[-1, order, 0], problem.system.energies["bar"]
    assert np.abs(v[steps + 2 :]).max() == 0.0
    assert v[5:20].mean() == pytest.approx(V, rel=0.02)
    left = np.argsort(problem.mesh.points[bars.nodes].mean(axis=1)[:, 0])
    assert bars.tensions(path.q[-1])[left][5:20].mean() == pytest.approx(-np.sqrt(200e9 * 8000) * 1e-4 * V, rel=0.02)
    assert problem.system.mass.sum() == pytest.approx(0.8)


def test_frequencies_of_a_bar_are_those_of_its_rod():
    """Fixed and free: ω = (2/h) c sin(π h/4L), of a row of lumped masses."""
    support = '[[support]]\nbody = "bar"\ngroup = "x_min"\n[[support]]\nbody = "bar"\ncomponents = "yz"\n'
    problem = build(BAR + support + rest())
    free = ~problem.system.fixed.ravel()
    K = problem.system.hessian(problem.state.q).toarray()[np.ix_(free, free)]
    m = np.repeat(problem.system.mass, 3)[free]
    first = np.sqrt(np.linalg.eigvalsh(K / np.sqrt(np.outer(m, m)))[0])
    c, h = np.sqrt(200e9 / 8000), 0.1
    assert first == pytest.approx(2.0 * c / h * np.sin(np.pi * h / 4.0), rel=1e-9)


METHODS = {
    "newmark": 'kind = "newmark"',
    "energy-momentum": 'kind = "energy-momentum"\ndt = 0.01',
    "graham-jelenic": 'kind = "graham-jelenic"\ndt = 0.01',
    "force-stepping": 'kind = "force-stepping"\ngrid = 1e-3\noffset = "random"',
    "zhang-skeel": 'kind = "zhang-skeel"\ndt = 0.01',
    "variational-midpoint": 'kind = "variational-midpoint"\ndt = 0.01',
}


@pytest.mark.parametrize("method", METHODS)
def test_two_masses_on_a_spring_keep_what_a_method_keeps(method, tmp_path):
    summary = simulate(Scenario.parse(PAIR + rest(METHODS[method], 0.5, 5)), tmp_path / "run", progress=False)
    drift, conserves = summary["drift"], summary["conserves"]
    if "energy" in conserves:
        assert drift[summary["energy_kept"]] < 1e-11
    assert drift["total"] < 2e-2
    if "momentum" in conserves:
        assert max(drift[f"momentum_{axis}"] for axis in "xyz") < 1e-12
    if "angular momentum" in conserves:
        assert drift["angular_momentum_z"] < 1e-11


@pytest.mark.parametrize("method", ["graham-jelenic", "energy-momentum", "force-stepping"])
def test_a_ring_spins(method, tmp_path):
    ring = '[[truss]]\nname = "ring"\nmesh = { ring = 1.0, bars = 6 }\nstiffness = 100\nmember_mass = 1\n'
    ring += "angular_velocity = [0, 0, 1]\n"
    summary = simulate(Scenario.parse(ring + rest(METHODS[method], 0.2, 2)), tmp_path / "run", progress=False)
    assert summary["mass"] == pytest.approx(6)
    assert summary["elements"] == {"ring": {"line": 6}}
    assert summary["energy_start"] == pytest.approx(3.0)
    assert summary["drift"][summary["energy_kept"]] < 1e-11
    assert summary["peak_strain_energy"] > 0.0


def test_members_may_be_rigid_rods(tmp_path):
    """A pendulum of one member: T = 2π √(L/g) for small swings, and its length is kept."""
    truss = '[[truss]]\nname = "arm"\nmesh = { line = 1.0, bars = 1 }\nstiffness = 1\nmember_mass = 1e-3\n'
    truss += "rotate = { axis = [0, 1, 0], degrees = 90.5 }\n"
    others = '[[rod]]\nname = "rod"\nbody = "arm"\ngroup = "members"\n[[support]]\nbody = "arm"\ngroup = "x_min"\n'
    others += '[[point_mass]]\nname = "bob"\nbody = "arm"\ngroup = "x_max"\nmass = 100\n'
    others += "[gravity]\nacceleration = [0, 0, -9.81]\n"
    problem = build(truss + others + rest('kind = "rattle"\ndt = 1e-3', 1.0, 10))
    path = record(problem.system, problem.integrator, problem.state, np.array([0.0, 0.5, 1.0]))
    end = problem.mesh.nodes_of("arm.x_max")[0]
    np.testing.assert_allclose(np.linalg.norm(path.q[:, end], axis=1), 1.0, atol=1e-12)
    swing = np.sin(np.radians(0.5))
    np.testing.assert_allclose(path.q[:, end, 0], -swing * np.cos(np.sqrt(9.81) * path.t), atol=1e-6)


# -- where they come from -----------------------------------------------------------------------------------------


def test_sources_of_members(tmp_path):
    lattice = build(BAR.replace("{ line = 1.0, bars = 10 }", "{ lattice = [1, 1, 3], cells = [1, 1, 3] }") + rest())
    assert len(lattice.system.energies["bar"].nodes) == 4 * 3 + 4 * 4 + 4 * 3 + 4 + 3, (
        "axial, and one diagonal in each square and cube"
    )
    given = "{ nodes = [[0, 0, 0], [1, 0, 0], [0, 1, 0]], members = [[0, 1], [1, 2]], groups = { foot = [0] } }"
    problem = build(
        BAR.replace("{ line = 1.0, bars = 10 }", given) + '[[support]]\nbody = "bar"\ngroup = "foot"\n' + rest()
    )
    np.testing.assert_allclose(problem.system.energies["bar"].lengths(problem.state.q), [1.0, np.sqrt(2.0)])
    assert problem.system.fixed.sum() == 3
    (tmp_path / "nodes.csv").write_text("x,y,z\n0,0,0\n1,0,0\n0,1,0\n")
    (tmp_path / "members.csv").write_text("0,1\n1,2\n")
    text = BAR.replace("{ line = 1.0, bars = 10 }", '{ nodes = "nodes.csv", members = "members.csv" }')
    scenario = Scenario.parse(text + rest(), tmp_path / "test.toml")
    assert list(scenario.files) == ["nodes.csv", "members.csv"]
    np.testing.assert_array_equal(scenario.build().system.energies["bar"].nodes, problem.system.energies["bar"].nodes)
    points = np.array([[0.0, 0, 0], [1000, 0, 0], [0, 1000, 0], [5, 5, 5]])
    cells = {"line": np.array([[0, 1], [1, 2], [2, 3]], np.int32)}
    save_mesh(Mesh(points, cells, {"main": {"line": np.array([0, 1], np.int32)}}), tmp_path / "frame.msh")
    text = BAR.replace("{ line = 1.0, bars = 10 }", '"frame.msh"\ngroup = "main"\nscale = 1e-3') + rest()
    problem = build(text, tmp_path / "test.toml")
    assert problem.system.n_nodes == 3
    np.testing.assert_allclose(problem.system.energies["bar"].lengths(problem.state.q), [1.0, np.sqrt(2.0)])


def test_stiffness_mass_and_prestress():
    problem = build(BAR + "prestrain = 1e-3\n" + rest())
    bars, q = problem.system.energies["bar"], problem.state.q
    np.testing.assert_allclose(bars.tensions(q), 200e9 * 1e-4 * 1e-3, rtol=1e-9)
    consistent = build(BAR + 'mass = "consistent"\n' + rest('kind = "energy-momentum"\ndt = 1e-5', 1e-4, 1, 10))
    assert not consistent.system.is_lumped
    assert consistent.system.mass.sum() == pytest.approx(0.8)
    with pytest.raises(ScenarioError, match=r"\[\[truss\]\] #1 'bar': mass = \"consistent\" needs an implicit"):
        build(BAR + 'mass = "consistent"\n' + rest())
    rope = build(BAR.replace("section", 'law = "tension-only"\nsection') + rest())
    assert rope.system.energies["bar"].tensions(0.5 * rope.state.q).max() == 0.0


def test_masses_and_springs_find_their_nodes():
    text = BAR + '[[point_mass]]\nname = "m"\nbody = "bar"\nat = [0.5, 0, 0]\nmass = 3\n'
    text += '[[point_mass]]\nname = "n"\nbody = "bar"\ngroup = "x_max"\ntotal = 5\n'
    text += '[[spring]]\nname = "s"\nbody = "bar"\nat = [0.2, 0, 0]\nto = [0.2, 0, 1]\nstiffness = 10\n'
    text += (
        '[[spring]]\nname = "u"\nbody = "bar"\ngroup = "x_min"\nto_body = "bar"\nto_at = [1, 0, 0]\nstiffness = 10\n'
    )
    problem = build(text + rest())
    by_place = dict(zip(problem.mesh.points[:, 0].round(3).tolist(), problem.system.mass.tolist(), strict=True))
    assert by_place[0.5] == pytest.approx(3.08)
    assert by_place[1.0] == pytest.approx(5.04)
    np.testing.assert_allclose(problem.system.energies["s"].lengths(problem.state.q), [1.0])
    np.testing.assert_allclose(problem.system.energies["u"].lengths(problem.state.q), [1.0])
    report, _ = check_report(problem)
    assert "truss 'bar'" in report
    assert "10 members of 100 mm, without forces at the start" in report


def test_frames_have_lines_with_axial_forces(tmp_path):
    text = BAR + "prestrain = 1e-3\n" + BALL + '[[spring]]\nname = "s"\nbody = "ball"\nto_body = "bar"\n'
    text += 'to_group = "x_min"\nstiffness = 10\nlength = 1\n'
    simulate(Scenario.parse(text + rest(duration=1e-6)), tmp_path / "run", progress=False)
    series = read_series(tmp_path / "run" / "motion.vtkhdf")
    assert {name: list(block.cells) for name, block in series.blocks.items()} == {
        "bar": ["line"], "s": ["line"], "ball": ["vertex"],
    }  # fmt: skip
    forces = series.frame(0).cell_data["axial_force"]
    np.testing.assert_allclose(forces["bar"], 2e4, rtol=1e-6)
    np.testing.assert_allclose(forces["s"], 5.0, rtol=1e-6)


def test_a_truss_falls_on_an_obstacle(tmp_path):
    text = BAR + "translate = [0, 0, 0.01]\nvelocity = [0, 0, -1]\n"
    text += (
        '[[obstacle]]\nname = "floor"\nkind = "half-space"\npoint = [0, 0, 0]\nnormal = [0, 0, 1]\nstiffness = 1e4\n'
    )
    summary = simulate(Scenario.parse(text + rest(duration=0.03, frames=3)), tmp_path / "run", progress=False)
    assert summary["mean_velocity_end"][2] == pytest.approx(1.0, abs=0.02)


def test_springs_to_a_fixed_point_are_drawn(tmp_path):
    """The end at the point stays there, the other one follows the node."""
    folder = tmp_path / "run"
    simulate(Scenario.parse(BALL + HOOK + rest('kind = "midpoint"\ndt = 0.01', 0.1, 2)), folder, progress=False)
    series = read_series(folder / "motion.vtkhdf")
    ((node, point),) = series.blocks["hook"].cells["line"]
    np.testing.assert_allclose(series.points[[node, point]], [[0, 0, -1.5], [0, 0, 0]])
    last = series.frame(2)
    assert last.displacement[node, 2] > 0.05  # it begins with 25 N
    assert not last.displacement[point].any()
    forces = last.cell_data["axial_force"]["hook"]
    length = 1.5 - last.displacement[node, 2]
    np.testing.assert_allclose(forces, 50 * (length - 1.0), rtol=1e-5)


# -- mistakes -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (BAR.replace(", bars = 10", ""), "[[truss]] #1 'bar': mesh line needs bars."),
        (BAR.replace("bars = 10", "bars = 10, cells = [1, 1, 1]"), "mesh cells does not go with line."),
        (BAR.replace("section = 1e-4\n", ""), "needs section (m²) and material, or the stiffness of each member"),
        (BAR + "stiffness = 1\n", "has stiffness or member_mass besides section and material; give section and"),
        (BAR.replace("density", "densty"), "unknown key 'densty' in material; did you mean 'density'?"),
        (BAR + 'group = "x"\n', "group is of a mesh file, and there is none."),
        (BAR.replace('"bar"', '"bar"\nlaw = "rope"'), "law must be one of 'engineering-strain', 'green-strain',"),
        (BAR.replace("{ line = 1.0, bars = 10 }", '"none.msh"'), "[[truss]] #1 'bar': there is no"),
        (
            BAR.replace("{ line = 1.0, bars = 10 }", "{ nodes = [[0, 0, 0], [1, 0, 0]], members = [[1, 2]] }"),
            "mesh: member 1 is [1, 2], must be two of the 2 nodes, which are counted from 0.",
        ),
        (
            BAR.replace("{ line = 1.0, bars = 10 }", "{ nodes = [[0, 0, 0], [0, 0, 0]], members = [[0, 1]] }"),
            "the member between the nodes 0 and 1 has no length; both are at [0.0, 0.0, 0.0] m.",
        ),
        (
            BAR.replace("{ line = 1.0, bars = 10 }", "{ nodes = [[0, 0], [0, 0, 0]], members = [[0, 1]] }"),
            "mesh.nodes has [0, 0], must have points [x, y, z] (m).",
        ),
        (
            BAR.replace(STEEL, "stiffness = 10\n"),
            "test.toml: [[truss]] #1 'bar': 11 of 11 nodes have no mass, the first at (0, 0, 0) m; give member_mass",
        ),
        (
            BAR.replace(
                "{ line = 1.0, bars = 10 }",
                "{ nodes = [[0, 0, 0], [1, 0, 0]], members = [[0, 1]], groups = { members = [1] } }",
            ),
            "[[truss]] #1 'bar': a group is called 'members', as that of all members is; give it another name.",
        ),
        (BALL + HOOK.replace('"hook"', '"rest"'), "[[spring]] #1 'rest': the name 'rest' is reserved; choose another."),
        (BALL.replace("mass = 2.0\n", ""), "[[point_mass]] #1 'ball': needs one mass of mass, total; none is given."),
        (BALL + 'body = "bar"\n', "needs one place of position, body; given are position and body."),
        (BAR + '[[point_mass]]\nname = "m"\nbody = "bra"\nmass = 1\n', "there is no body 'bra'; did you mean 'bar'?"),
        (
            BAR + '[[point_mass]]\nname = "m"\nbody = "bar"\nmass = 1\nat = [0.51, 0, 0]\n',
            "[[point_mass]] #1 'm': body 'bar' has no node at [0.51, 0.0, 0.0] m; the nearest is 0.01 m from there, at",
        ),
        (BALL + HOOK.replace("to = [0, 0, 0]\n", ""), "[[spring]] #1 'hook': needs one other end of to, to_body;"),
        (BALL + HOOK.replace("to = [0, 0, 0]", 'to_body = "ball"'), "a spring would join the node at (0, 0, -1.5)"),
        (
            BAR + HOOK.replace('"ball"', '"bar"').replace("to = [0, 0, 0]", 'to_body = "bar"\nto_group = "x_max"'),
            "a spring would join the node at (1, 0, 0) m with itself",
        ),
        (BALL + HOOK.replace("stiffness = 50", "stiffness = -50"), "stiffness must be positive, got -50 N/m of each s"),
        (BALL + HOOK.replace('"hook"', '"gravity"'), "the name 'gravity' is reserved; choose another."),
        ("", "there is no [[body]] table."),
    ],
)  # fmt: skip
def test_mistakes(text, line):
    assert any(line in found for found in lines(text + rest())), lines(text + rest())
