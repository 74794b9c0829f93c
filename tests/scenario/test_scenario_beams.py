"""Beams in scenarios: what is built, what they do, what results have of them, and what is refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from symplex.errors import ScenarioError
from symplex.fem.structures.outlines import skin_of
from symplex.meshes.series.series import read_series
from symplex.runs.check import check_report
from symplex.runs.history import read_history
from symplex.runs.modes import find_modes
from symplex.runs.probe_files import read_probes
from symplex.runs.run import simulate
from symplex.scenario.scenario import Scenario

STEEL = "material = { young = 2.1e11, poisson = 0.3, density = 7850 }\n"
BOX = 'section = { kind = "box", height = 0.1, width = 0.06, thickness = 0.004 }\n'
PATH = "mesh = { path = [[0, 0, 0], [1, 0, 0], [2, 0, 0]], bars = 4 }\n"
BAR = f'[[beam]]\nname = "bar"\n{PATH}up = [0, 0, 1]\n{BOX}{STEEL}'
CLAMP = '[[support]]\nbody = "bar"\ngroup = "start"\n'
HINGES = (
    '[[support]]\nbody = "bar"\ngroup = "start"\ncomponents = "xyz"\nrotations = "x"\n'
    '[[support]]\nbody = "bar"\ngroup = "end"\ncomponents = "yz"\n'
)
MOTOR = '[[point_mass]]\nname = "motor"\nmass = 5\nbody = "bar"\nat = [1, 0, 0]\n'
STATIC = '[integrator]\nkind = "static"\ndt = 1.0\n[run]\nduration = 1.0\nframes = 1\n'
MOVING = '[integrator]\nkind = "energy-momentum"\ndt = 1e-3\n[run]\nduration = 0.01\nframes = 2\n'
OUTPUT = '\n[output]\npictures = false\nfilm = "none"\n'
E, NU = 2.1e11, 0.3
AREA = 0.1 * 0.06 - 0.092 * 0.052
I2 = (0.06 * 0.1**3 - 0.052 * 0.092**3) / 12.0  # about axis 2, which is along y where axis 1 is up
KGA = E / (2.0 * (1.0 + NU)) * 2.0 * 0.1 * 0.004


def load(of, vector, group="end", history='{ kind = "ramp", duration = 1.0 }'):
    return (
        f'[[load]]\nname = "load"\nkind = "nodal"\nbody = "bar"\ngroup = "{group}"\n{of} = {vector}\n'
        f"history = {history}\n"
    )


def build(text):
    return Scenario.parse(text, "test.toml").build()


def lines(text):
    with pytest.raises(ScenarioError) as caught:
        build(text)
    return str(caught.value).splitlines()


def ran(text, folder):
    simulate(Scenario.parse(text + OUTPUT, "test.toml"), folder)
    return read_probes(folder)


# -- what they do -----------------------------------------------------------------------------------------------------


def test_a_force_bends_a_clamped_beam_as_timoshenko_says(tmp_path):
    probe = '[[probe]]\nname = "tip"\nbody = "bar"\ngroup = "end"\n[[probe]]\nname = "root"\nsupport = "1"\n'
    probe += (
        '[[probe]]\nname = "inner"\nbody = "bar"\nmembers = [0]\nquantities = ["shear_force_1", "bending_moment_2"]\n'
    )
    found = ran(BAR + CLAMP + load("force", [0, 0, 10.0]) + probe + STATIC, tmp_path / "run")
    w = found["tip"]["displacement_z_mean"][-1]
    assert_allclose(w, 10.0 * 2.0**3 / (3.0 * E * I2) + 10.0 * 2.0 / KGA, rtol=1e-6)
    assert_allclose(found["root"]["reaction_z"][-1], -10.0, rtol=1e-9)
    assert_allclose(found["root"]["reaction_moment_y"][-1], 20.0, rtol=1e-6)
    assert_allclose(found["inner"]["shear_force_1"][-1], 10.0, rtol=1e-6)
    assert_allclose(abs(found["inner"]["bending_moment_2"][-1]), 10.0 * (2.0 - 0.125), rtol=1e-6)


def test_parts_have_their_own_sections_and_directions(tmp_path):
    """A cantilever in two steps, of which the outer one has its height across the force."""
    part = '[[beam.parts]]\ngroup = "part_2"\nup = [0, 1, 0]\n'
    text = BAR + part + 'section = { kind = "rectangle", height = 0.05, width = 0.02 }\n' + CLAMP
    probe = '[[probe]]\nname = "tip"\nbody = "bar"\ngroup = "end"\n'
    found = ran(text + load("force", [0, 0, 10.0]) + probe + STATIC, tmp_path / "run")
    P, EI, outer = 10.0, E * I2, E * 0.05 * 0.02**3 / 12.0
    w = P * (1.0 / 3.0 + 0.5 + 0.5 + 1.0) / EI + P / (3.0 * outer)
    w += P / KGA + P / (E / (2.0 * (1.0 + NU)) * 5.0 / 6.0 * 0.05 * 0.02)
    assert_allclose(found["tip"]["displacement_z_mean"][-1], w, rtol=1e-5)
    beam = build(text + MOVING).beams["bar"]
    assert_allclose(beam.structure.mass.sum(), 7850 * (AREA + 0.05 * 0.02))
    skin = skin_of(beam.structure, *beam.outlines())
    reach = np.abs(skin.points[:, 1:][skin.points[:, 0] > 1.5]).max(axis=0)
    assert_allclose(reach, [0.025, 0.01])
    assert set(skin.elements[skin.points[skin.quads, 0].min(axis=1) > 1.2]) <= set(range(4, 8))


def test_beams_next_to_trusses_and_rigid_bodies(tmp_path):
    """Each is in its own block, and moves as it does alone."""
    others = '[[truss]]\nname = "rope"\nmesh = { line = 1.0, bars = 2 }\nstiffness = 1e4\nmember_mass = 0.1\n'
    others += '[[rigid_body]]\nname = "ball"\nmesh = { sphere = 0.1 }\nmass = 1.0\nvelocity = [0, 1, 0]\n'
    others += "translate = [1, 0, 0.5]\nangular_velocity = [0, 3, 0]\n"
    push = load("force", [0, 0, 1e3], history='{ kind = "half-sine", duration = 0.004 }')
    ends = {}
    for name, text in (("alone", BAR + CLAMP + push), ("together", BAR + others + CLAMP + push)):
        simulate(Scenario.parse(text + MOVING + OUTPUT, "test.toml"), tmp_path / name)
        series = read_series(tmp_path / name / "motion.vtkhdf")
        last = series.frame(2)
        ends[name] = [last.displacement[block.nodes] for key, block in series.blocks.items() if key.startswith("bar")]
        rotation = last.point_data["rotation"]
        assert np.abs(rotation[series.blocks["bar.skin"].nodes]).max() > 1e-5
    for one, other in zip(*ends.values(), strict=True):
        assert_allclose(one, other, atol=1e-9)
    assert {"rope", "ball"} < set(series.blocks)
    assert_allclose(last.displacement[series.blocks["ball"].nodes].mean(axis=0), [0, 0.01, 0], atol=1e-6)
    assert not rotation[series.blocks["ball"].nodes].any()


def test_parts_that_are_refused():
    part = '[[beam.parts]]\ngroup = "{}"\nup = [0, 1, 0]\n'
    head = "test.toml: [[beam]] #1 'bar': parts"
    known = "part_1, part_2, start, end, corners, members"
    (line,) = lines(BAR + part.format("part_3") + MOVING)
    assert line.startswith(f"{head}: there is no group 'part_3'; its mesh has:")
    assert all(name in line for name in known.split(", "))
    assert lines(BAR + part.format("end") + MOVING) == [f"{head}: group 'end' has no members, only nodes."]
    twice = part.format("members") + part.format("part_2")
    assert lines(BAR + twice + MOVING) == [f"{head}: the groups 'members' and 'part_2' have members together."]
    (line,) = lines(BAR + '[[beam.parts]]\ngroup = "part_1"\n' + MOVING)
    assert "needs up, section, material or properties, by which its members differ" in line


def test_without_held_rotations_a_support_is_a_hinge(tmp_path):
    probe = '[[probe]]\nname = "mid"\nbody = "bar"\npoints = [[1, 0, 0], [0.875, 0, 0]]\n'
    probe += '[[probe]]\nname = "near"\nbody = "bar"\nnodes = [4]\n'
    found = ran(BAR + HINGES + load("force", [0, 0, 10.0], "corners") + probe + STATIC, tmp_path / "run")
    w = 10.0 * 2.0**3 / (48.0 * E * I2) + 10.0 * 2.0 / (4.0 * KGA)
    assert_allclose(found["mid"]["displacement_z_1"][-1], w, rtol=1e-6)
    assert_array_equal(found["near"]["displacement_z"], found["mid"]["displacement_z_1"])
    assert 0.9 * w < found["mid"]["displacement_z_2"][-1] < w  # linear between nodes


def test_a_moment_rolls_a_beam_up(tmp_path):
    """To a circle by 2π EI/L; half of it turns the tip by π, and the rotation in results is a vector along y."""
    M = np.pi * E * I2 / 2.0
    text = BAR + CLAMP + load("moment", f"[0, {-M}, 0]") + STATIC.replace("dt = 1.0", "dt = 0.1")
    text += '[[probe]]\nname = "tip"\nbody = "bar"\ngroup = "end"\nquantities = ["position", "rotation"]\n'
    text += '[[probe]]\nname = "inner"\nbody = "bar"\nquantities = ["bending_moment_2", "torque"]\nreduce = ["min"]\n'
    found = ran(text.replace("frames = 1", "frames = 2"), tmp_path / "run")
    R = 2.0 / np.pi
    assert_allclose(found["tip"]["position_z_mean"][-1], 2.0 * R, rtol=4e-3)
    assert_allclose(found["tip"]["position_x_mean"][-1], 0.0, atol=4e-3)
    assert_allclose(np.abs(found["tip"]["rotation_y_mean"][5]), 0.5 * np.pi, rtol=1e-4)
    assert_allclose(found["inner"]["bending_moment_2_min"][-1], M, rtol=1e-9)
    series = read_series(tmp_path / "run" / "motion.vtkhdf")
    assert list(series.blocks) == ["bar", "bar.skin"]
    half, skin = series.frame(1), series.blocks["bar.skin"]
    rotation = half.point_data["rotation"]
    assert_allclose(np.linalg.norm(rotation, axis=1).max(), 0.5 * np.pi, rtol=1e-4)
    assert_allclose(rotation[series.blocks["bar"].nodes][:, [0, 2]], 0.0, atol=1e-5)
    moments = half.cell_data["bending_moment_2"]
    assert len(moments["bar"]) == 8
    assert len(moments["bar.skin"]) == skin.n_cells
    assert_allclose(moments["bar.skin"], 0.5 * M, rtol=1e-5)


def test_energy_is_kept_after_a_push_and_resume_is_bit_identical(tmp_path):
    text = BAR + CLAMP + MOTOR + load("force", [0, 0, 1e3], history='{ kind = "half-sine", duration = 0.004 }') + MOVING
    run = tmp_path / "run"
    simulate(Scenario.parse(text + OUTPUT, "test.toml"), run)
    history = read_history(run / "history.csv")
    assert abs(history["balance"][-1]) < 1e-11 * history["total"][-1]
    assert history["total"][-1] > 1e-3
    problem = build(text)
    whole = problem.integrator.start(problem.system, problem.state)
    whole.advance(0.005)
    kept = {name: array.copy() for name, array in whole.checkpoint().items()}
    end = whole.advance(0.01)
    again = build(text)
    other = again.integrator.resume(again.system, kept).advance(0.01)
    assert_array_equal(other.q, end.q)
    assert_array_equal(other.v, end.v)


def test_rattle_clamps_beams_and_moves_them_but_holds_no_part(tmp_path):
    explicit = MOVING.replace("energy-momentum", "rattle").replace("1e-3", "1e-5").replace("0.01", "0.002")
    implicit = MOVING.replace("1e-3", "1e-5").replace("0.01", "0.002")
    weight = "[gravity]\nacceleration = [0, 0, -9.81]\n"
    q = []
    for text in (f"{BAR}{CLAMP}{MOTOR}{weight}{one}" for one in (explicit, implicit)):
        problem = build(text)
        q.append(problem.integrator.start(problem.system, problem.state).advance(0.002).q)
        frames = problem.system.frames
        assert frames is not None
        assert frames.distortion(q[-1]) < 1e-12
    moved = np.abs(q[0] - problem.state.q).max()
    assert moved > 1e-5
    assert np.abs(q[0] - q[1]).max() < 1e-3 * moved
    assert "cannot hold the rotation of frame 0 in part" in lines(BAR + HINGES + explicit)[-1]


def test_masses_and_velocities_at_the_start():
    text = BAR.replace("name", "angular_velocity = [0, 1, 2]\nvelocity = [3, 0, 0]\nname", 1) + MOTOR
    text += '[[velocity]]\nbody = "bar"\ngradient = [[0, 0, 0], [0, 0, 0], [0.5, 0, 0]]\npoint = [0, 0, 0]\n' + MOVING
    problem = build(text)
    system, state = problem.system, problem.state
    assert_allclose(system.mass.sum(), 7850 * AREA * 2.0 + 5.0)
    frames, rest = system.frames, problem.beams["bar"].structure
    assert frames is not None
    v, x = frames.centers(state.v), frames.centers(rest.points)
    turning, sheared = np.cross([0, 1, 2], x - [1, 0, 0]), np.outer(x[:, 0], [0, 0, 0.5])
    assert_allclose(v, np.array([3, 0, 0]) + turning + sheared, atol=1e-12)
    arms = frames.arms(state.q)
    spread = state.v[frames.nodes] - v[:, None]
    assert np.abs(np.einsum("fai,fbi->fab", arms, spread) + np.einsum("fai,fbi->fab", spread, arms)).max() < 1e-15


def test_weight_acts_on_beams():
    text = BAR + CLAMP + "[gravity]\nacceleration = [0, 0, -10]\n" + MOVING
    problem = build(text)
    forces = -problem.system.gradient(problem.state.q)[~problem.system.fixed.any(axis=1)]
    assert_allclose(forces.sum(axis=0), [0, 0, -10 * 7850 * AREA * (2.0 - 0.125)], atol=1e-6)


SPRING = '[[spring]]\nname = "s"\nbody = "bar"\nat = [2, 0, 0]\n'


def test_a_spring_carries_the_end_of_a_beam(tmp_path):
    """From its node to a point, 1 m above: k_beam w + k w = F for small w; lines of results are where it is."""
    stiffness = 1.0 / (2.0**3 / (3.0 * E * I2) + 2.0 / KGA)
    text = BAR + CLAMP + load("force", [0, 0, 10.0]) + SPRING + f"to = [2, 0, 1]\nstiffness = {stiffness}\n"
    probes = '[[probe]]\nname = "tip"\nbody = "bar"\ngroup = "end"\n[[probe]]\nname = "force"\nbody = "s"\n'
    found = ran(text + probes + STATIC, tmp_path / "run")
    w = found["tip"]["displacement_z_mean"][-1]
    assert_allclose(w, 5.0 / stiffness, rtol=1e-5)
    assert_allclose(found["force"]["axial_force"][-1], -5.0, rtol=1e-5)
    series = read_series(tmp_path / "run" / "motion.vtkhdf")
    last, ends = series.frame(-1), series.blocks["s"].nodes
    assert_allclose(series.points[ends], [[2, 0, 0], [2, 0, 1]], atol=1e-6)
    assert_allclose(last.displacement[ends], [[0, 0, w], [0, 0, 0]], rtol=1e-5, atol=1e-4 * w)
    assert_allclose(last.cell_data["axial_force"]["s"], [-5.0], rtol=1e-5)


def test_a_spring_between_two_beams_and_a_dashpot(tmp_path):
    """Equal and opposite on both ends: momentum along the spring stays but for supports; its work is in the balance."""
    other = BAR.replace('"bar"', '"other"').replace("up =", "translate = [0, 0, 0.5]\nup =")
    text = BAR + other + SPRING + 'to_body = "other"\nto_at = [2, 0, 0.5]\nstiffness = 1e4\nlength = 0.4\n'
    text += '[[dashpot]]\nname = "pot"\nviscosity = 50\nbetween = [{ body = "bar", at = [2, 0, 0] }, '
    text += '{ body = "other", at = [2, 0, 0.5] }]\n[[damping]]\nalpha = 0.0\nbeta = 1e-4\n'
    simulate(Scenario.parse(text + MOVING + OUTPUT, "test.toml"), tmp_path / "run")
    history = read_history(tmp_path / "run" / "history.csv")
    assert_allclose(history["s"][0], 0.5 * 1e4 * 0.1**2, rtol=1e-9)
    assert np.ptp(history["balance"]) < 1e-10 * history["s"][0]
    assert history["work_pot"][-1] < -1e-3 * history["s"][0]
    assert history["work_damping_stiffness_bar"][-1] < 0.0
    assert_allclose(history["work_damping_stiffness_bar"], history["work_damping_stiffness_other"], atol=1e-9)
    assert np.abs(history["momentum_z"]).max() < 1e-9
    assert np.abs(history["angular_momentum_y"]).max() < 1e-8


def test_dampers_of_beams_have_the_ratios_of_modes():
    """Rayleigh's: ζ = α/2ω + β ω/2."""
    text = BAR + CLAMP + "[[damping]]\nalpha = 3.0\nbeta = 2e-5\n" + MOVING
    rows = find_modes(Scenario.parse(text, "test.toml"), 4, damped=True).rows()
    omega = 2.0 * np.pi * np.array([row["frequency"] for row in rows])
    ratios = [row["damping_ratio"] for row in rows]
    omega = omega / np.sqrt(1.0 - np.square(ratios))
    assert_allclose(ratios, 1.5 / omega + 1e-5 * omega, rtol=1e-6)


def test_beams_are_reported_as_they_are():
    report, _ = check_report(build(BAR + CLAMP + MOVING))
    assert "9 nodes, 48 degrees of freedom" in report
    assert f"2 × 0 × 0 m, 8 elements of 250 mm, {7850 * AREA * 2.0:.6g} kg" in report
    assert "pieces" not in report
    assert "9 nodes, 48 degrees of freedom" in check_report(build(BAR + HINGES + MOVING))[0]


# -- what they look like ----------------------------------------------------------------------------------------------


SECTIONS = {
    'kind = "rectangle", height = 0.1, width = 0.05': 0.1 * 0.05,
    'kind = "box", height = 0.1, width = 0.06, thickness = 0.004': AREA,
    'kind = "circle", radius = 0.05': 24 / 2 * 0.05**2 * np.sin(2 * np.pi / 24),
    'kind = "pipe", radius = 0.05, thickness = 0.01': 24 / 2 * (0.05**2 - 0.04**2) * np.sin(2 * np.pi / 24),
    'kind = "i", height = 0.2, width = 0.1, web = 0.006, flange = 0.009': 2 * 0.1 * 0.009 + 0.182 * 0.006,
    "area = 6e-3, I1 = 5e-6, I2 = 1.8e-5, J = 1e-5": 6e-3 * 12 * (5e-6 * 1.8e-5) ** 0.5 / 6e-3**2,
}


@pytest.mark.parametrize("section", SECTIONS)
@pytest.mark.parametrize("path", ["[[0, 0, 0], [1, 0, 0], [2, 0, 0]]", "[[0, 0, 0], [1, 0, 0], [1, 1, 0]]"])
def test_skins_are_closed_and_hold_the_volume(section, path):
    """Of an elbow as well, whose parts meet in a mitre; normals point outwards, or the volume would be less."""
    text = BAR.replace(BOX, f"section = {{ {section} }}\n").replace("[[0, 0, 0], [1, 0, 0], [2, 0, 0]]", path) + MOVING
    beam = build(text).beams["bar"]
    skin = skin_of(beam.structure, *beam.outlines())
    a, b, c, d = np.moveaxis(skin.points[skin.quads] - [0.3, 0.1, 0.2], 1, 0)
    triples = np.concatenate([np.einsum("ci,ci->c", a, np.cross(b, c)), np.einsum("ci,ci->c", a, np.cross(c, d))])
    assert_allclose(triples.sum() / 6.0, 2.0 * SECTIONS[section], rtol=1e-10)
    flux = 0.5 * (np.cross(b - a, c - a) + np.cross(c - a, d - a)).sum(axis=0)
    assert np.abs(flux).max() < 1e-12
    assert_allclose(skin.weights.sum(axis=1), 1.0)
    assert_array_equal(np.unique(skin.quads), np.arange(len(skin.points)))  # files have no points without cells
    at = np.einsum("pa,pai->pi", skin.weights, beam.structure.points[skin.particles])
    assert_allclose(at, skin.points, atol=1e-13)


# -- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("height", "hight", "unknown key 'hight' in section; did you mean 'height'? See docs/scenario/beam.md."),
        (", thickness = 0.004", "", "section of kind 'box' needs thickness; given: height, width."),
        ("0.004", "0.03", "Section.box: thickness must be less than half of the smaller side = 0.03 m, got 0.03 m."),
        (BOX, "", "needs section: beams are of a section and a material, or of properties."),
        ("up = [0, 0, 1]\n", "", "up is missing."),
        (
            "up = [0, 0, 1]",
            "up = [2, 0, 0]",
            "beams: up must not be along a line, as it is for line 0. Give another one.",
        ),
        (
            '"energy-momentum"',
            '"graham-jelenic"',
            "graham-jelenic cannot keep the nodes of beams rigid; take another integrator, such as kind = ",
        ),
        ("bars = 4", "bars = 4, cells = [1, 1, 1]", "mesh cells does not go with path."),
    ],
)
def test_tables_of_beams_that_are_refused(old, new, message):
    text = BAR + CLAMP + MOVING
    assert old in text
    (line,) = lines(text.replace(old, new, 1))
    assert line.startswith(f"test.toml: [[beam]] #1 'bar': {message}")


PROBE = '[[probe]]\nname = "p"\nbody = "bar"\n'
LETTERS = "must be some letters of 'xyz', got"


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            '[[drag]]\nname = "d"\nbody = "bar"\ndensity = 1\ncoefficient = 1\narea = 1\n',
            "[[drag]] #1 'd': 'bar' is a beam, whose nodes have rotations, which drag does not take yet; name "
            "another body.",
        ),
        (
            '[[load]]\nname = "p"\nkind = "pressure"\nbody = "bar"\npressure = 1e3\n',
            "[[load]] #1 'p': 'bar' is a beam, which has no faces; give forces on its nodes.",
        ),
        (f'{CLAMP}rotations = "w"\n', f"[[support]] #1: rotations {LETTERS} 'w'."),
        (f'{CLAMP}components = ""\n', f"[[support]] #1: components {LETTERS} ''."),
        (
            f'{CLAMP}name = "shake"\ncomponents = "z"\nvelocity = [0, 0, 1]\n',
            "[[support]] #1 'shake': nodes with rotations are moved altogether, with components = 'xyz', got 'z'.",
        ),
        (
            load("moment", [0, 0, 1]) + "force = [0, 0, 1]\n",
            "[[load]] #1 'load': needs one load of force, moment; given are force and moment.",
        ),
        (
            PROBE + 'quantities = ["axial_stress"]\n',
            "[[probe]] #1 'p': axial_stress is of trusses and springs, and 'bar' is none; it has displacement, "
            "position, velocity, acceleration, rotation, axial_force, shear_force_1, shear_force_2, bending_moment_1, "
            "bending_moment_2, torque.",
        ),
        (PROBE + "members = [8]\n", "[[probe]] #1 'p': members has 8, but 'bar' has 8 members, 0 to 7."),
        (
            '[start]\nkind = "static"\nperturbation = { of = "positions", amplitude = 1e-6, seed = 1 }\n',
            "[start]: a perturbation would bring the particles of nodes with rotations out of place, as those of "
            "'bar'; leave it out, and begin with a [[velocity]] instead.",
        ),
    ],
)
def test_what_beams_do_not_take(table, message):
    assert f"test.toml: {message}" in lines(BAR + table + MOVING)


def test_moments_and_rotations_are_of_beams():
    truss = '[[truss]]\nname = "tr"\nmesh = { line = 1.0, bars = 2 }\nstiffness = 1e3\nmember_mass = 1.0\n'
    twist = load("moment", [0, 0, 1]).replace('"bar"', '"tr"').replace('"end"', '"x_max"')
    (line,) = lines(BAR + truss + twist + MOVING)
    assert "moments act on nodes of beams and shells, and 'tr' is none; give forces." in line
    held = '[[support]]\nbody = "tr"\ngroup = "x_min"\nrotations = "x"\n'
    (line,) = lines(BAR + truss + held + MOVING)
    assert "rotations are of nodes of beams and shells, and 'tr' is none; leave the key out." in line


def test_a_run_goes_on_from_the_end_of_another(tmp_path):
    text = BAR + CLAMP + MOTOR + load("force", [0, 0, 1e3], history='{ kind = "half-sine", duration = 0.004 }') + MOVING
    simulate(Scenario.parse(text + OUTPUT, tmp_path / "one.toml"), tmp_path / "one")
    problem = build(text)
    end = problem.integrator.start(problem.system, problem.state).advance(0.01)
    start = '[start]\nkind = "result"\nfrom = "one"\n'
    after = Scenario.parse(BAR + CLAMP + MOTOR + start + MOVING, tmp_path / "two.toml").build()
    assert_array_equal(after.state.q, end.q)
    assert_array_equal(after.state.v, end.v)
    for old, new, why in (
        ("[2, 0, 0]", "[2.1, 0, 0]", "is of another mesh"),
        (
            'from = "one"\n',
            'from = "one"\ntime = 0.01\n',
            "frames have no rotations of beams and shells to all digits; leave time",
        ),
    ):
        other = (BAR + CLAMP + MOTOR + start + MOVING).replace(old, new)
        with pytest.raises(ScenarioError, match=why):
            Scenario.parse(other, tmp_path / "two.toml").build()


# -- members with a history -------------------------------------------------------------------------------------------

YIELDING = STEEL.replace("7850", "7850, yield_stress = 2.4e8, hardening = 1e9")
VISCOUS = STEEL.replace("7850", "7850, viscous = [{ ratio = 0.3, time = 0.02 }]")
SWING = '[[velocity]]\nbody = "bar"\ngroup = "end"\nvelocity = [0, 0, 40]\n'
WATCHED = '[[probe]]\nname = "foot"\nbody = "bar"\nmembers = [0]\nquantities = ["bending_moment_2"%s]\n'


def test_members_that_yield_dissipate_and_show_it(tmp_path):
    of = '"plastic_strain", "plastic_rotation", "utilization", "plastic_work"'
    text = BAR.replace(STEEL, YIELDING) + CLAMP + SWING + WATCHED % f", {of}" + MOVING
    foot = ran(text, tmp_path / "run")["foot"]
    history = read_history(tmp_path / "run" / "history.csv")
    assert history["work_bar"][-1] < -1.0
    assert history["stored_bar"][-1] > 0.0
    assert_allclose(history["balance"], history["balance"][0], rtol=1e-11)
    assert foot["plastic_work"][-1] > 0.0
    assert foot["utilization"].max() == pytest.approx(1.0, abs=1e-9)
    assert foot["plastic_rotation"][-1] > 0.0
    Z2 = 0.25 * (0.06 * 0.1**2 - 0.052 * 0.092**2)
    assert np.abs(foot["bending_moment_2"]).max() == pytest.approx(2.4e8 * Z2, rel=0.05)
    series = read_series(tmp_path / "run" / "motion.vtkhdf")
    assert {"utilization", "plastic_rotation", "plastic_work"} <= set(series.cell_fields)
    assert "which rattle does not take" in lines(text.replace("energy-momentum", "rattle"))[0]
    assert "needs back_modulus" in lines(text.replace("hardening = 1e9", "recovery = 1"))[0]


@pytest.mark.slow
def test_a_viscous_material_relaxes_and_section_forces_have_the_overstress(tmp_path):
    """Pulled in 40 ms and held, a bar has the force of the long run times 1 + f τ/T (1 − exp(−T/τ)) exp(−(t − T)/τ)."""
    pull = (
        '[[support]]\nname = "pull"\nbody = "bar"\ngroup = "end"\ndisplacement = [1e-4, 0, 0]\n'
        'history = { kind = "ramp", duration = 0.04 }\n'
    )
    watched = WATCHED.replace('"bending_moment_2"%s', '"axial_force"')
    text = BAR.replace(STEEL, VISCOUS) + CLAMP + pull + watched
    text += '[integrator]\nkind = "generalized-alpha"\ndt = 4e-4\n[run]\nduration = 0.2\nframes = 2\n'
    foot = ran(text, tmp_path / "run")["foot"]
    relaxed, tau, ramp = E * AREA * 1e-4 / 2.0, 0.02, 0.04
    for time in (0.06, 0.19):
        near = np.abs(foot["t"] - time) < 2e-3  # over waves along the bar
        fading = 0.3 / 0.7 * tau / ramp * (1.0 - np.exp(-ramp / tau)) * np.exp(-(time - ramp) / tau)
        assert foot["axial_force"][near].mean() == pytest.approx(relaxed * (1.0 + fading), rel=0.01)
    assert fading < 1e-3


def test_consistent_masses_are_for_implicit_methods_and_make_frequencies_accurate(tmp_path):
    heavy = BAR.replace('name = "bar"\n', 'name = "bar"\nmass = "consistent"\n')
    meshes = (heavy, heavy.replace("bars = 4", "bars = 12"))
    found = [
        find_modes(Scenario.parse(text + CLAMP + MOVING, "test.toml"), 1).natural.frequencies[0] for text in meshes
    ]
    assert found[0] == pytest.approx(found[1], rel=1e-4)
    text = heavy + CLAMP + MOTOR + "[gravity]\nacceleration = [0, 0, -9.81]\n" + MOVING
    simulate(Scenario.parse(text + OUTPUT, "test.toml"), tmp_path / "run")
    history = read_history(tmp_path / "run" / "history.csv")
    assert np.ptp(history["total"]) < 1e-11 * np.abs(history["kinetic"]).max()
    assert "take mass" in lines(text.replace("energy-momentum", "rattle"))[0]
