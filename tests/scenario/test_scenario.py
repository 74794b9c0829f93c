"""Scenario files: what is read, and one clear line for each mistake."""

import shutil

import numpy as np
import pytest

from symplex.errors import ScenarioError
from symplex.fem.actions.loads import NodalForce, NodalLoad
from symplex.meshes.bundled_meshes import bundled
from symplex.meshes.formats.save import save_mesh
from symplex.meshes.generate import cube_mesh
from symplex.meshes.mesh import Mesh
from symplex.scenario.integrators import integrator_of
from symplex.scenario.scenario import Scenario
from symplex.time.composition import Composition
from symplex.time.conserving.energy_momentum import EnergyMomentum
from symplex.time.events.force_stepping import ForceStepping
from symplex.time.explicit.newmark import Newmark
from symplex.time.implicit.generalized_alpha import GeneralizedAlpha, HilberHughesTaylor
from symplex.time.implicit.midpoint import Midpoint
from symplex.time.solvers.newton import Newton

BODY = """
[[body]]
name = "cube"
mesh = { box = [0.1, 0.1, 0.1], cells = [1, 1, 1] }
material = { lambda = 60.5e9, mu = 26e9, density = 2700 }
"""
WALL = """
[[obstacle]]
name = "wall"
kind = "half-space"
point = [0, 0, -0.01]
normal = [0, 0, 2]
stiffness = 1e9
"""
REST = """
[integrator]
kind = "newmark"
[run]
duration = 1e-5
frames = 10
"""


def build(text, path="test.toml"):
    return Scenario.parse(text, path).build()


def lines(text, path="test.toml"):
    with pytest.raises(ScenarioError) as caught:
        build(text, path)
    return str(caught.value).splitlines()


# -- what is read ----------------------------------------------------------------------------------------------


def test_a_minimal_scenario_builds_a_problem():
    problem = build(BODY + WALL + REST)
    assert list(problem.system.energies) == ["cube", "wall"]
    assert problem.system.mass.sum() == pytest.approx(2.7)
    assert problem.contacts["wall"].stiffness == 1e9
    assert np.allclose(problem.contacts["wall"].obstacle.normal, [0, 0, 1])
    assert isinstance(problem.integrator, Newmark)
    np.testing.assert_allclose(problem.scenario.times, np.linspace(0, 1e-5, 101))
    np.testing.assert_array_equal(np.flatnonzero(problem.scenario.is_frame), 10 * np.arange(11))


def test_the_step_divides_the_sampling_interval():
    problem = build(BODY + REST.replace('"newmark"', '"newmark"\ndt = 3e-9'))
    assert problem.integrator.dt <= 3e-9
    steps = 1e-7 / problem.integrator.dt
    assert steps == pytest.approx(round(steps), abs=1e-9)


def test_young_and_poisson_are_the_same_material_as_lame():
    lame = build(BODY + REST).solids["cube"].material
    text = BODY.replace("lambda = 60.5e9, mu = 26e9", f"young = {lame.young!r}, poisson = {lame.poisson!r}")
    assert build(text + REST).solids["cube"].material.lmbda == pytest.approx(60.5e9)


def test_bodies_are_placed_and_set_in_motion():
    text = BODY + "rotate = { axis = [0, 0, 1], degrees = 90 }\ntranslate = [1, 0, 0]\nscale = 2\n"
    problem = build(text + "velocity = [1, 2, 3]\nangular_velocity = [0, 0, 10]\n" + REST)
    points, v = problem.mesh.points, problem.state.v
    np.testing.assert_allclose(points.min(axis=0), [0.8, 0, 0], atol=1e-12)
    np.testing.assert_allclose(points.max(axis=0), [1.0, 0.2, 0.2], atol=1e-12)
    np.testing.assert_allclose(problem.system.momentum(problem.state), problem.system.mass.sum() * np.array([1, 2, 3]))
    centre = [0.9, 0.1, 0.1]
    np.testing.assert_allclose(v, np.array([1, 2, 3]) + np.cross([0, 0, 10], points - centre), atol=1e-12)


def test_two_bodies_keep_their_materials_and_groups():
    second = BODY.replace('"cube"', '"block"').replace("2700", "7800") + "translate = [0, 0, 1]\n"
    supports = '[[support]]\nbody = "block"\ngroup = "z_max"\ncomponents = "z"\n'
    problem = build(BODY + second + supports + REST)
    assert problem.system.mass.sum() == pytest.approx(1e-3 * (2700 + 7800))
    assert problem.system.fixed[:, 2].sum() == len(problem.mesh.nodes_of("block.z_max"))
    assert not problem.system.fixed[:, :2].any()
    assert problem.mesh.points[problem.system.fixed[:, 2], 2].min() == pytest.approx(1.1)


def test_an_obstacle_touches_the_bodies_it_names():
    second = BODY.replace('"cube"', '"block"') + "translate = [0, 0, -1]\n"
    problem = build(BODY + second + WALL + 'bodies = ["cube"]\n' + REST)
    assert set(problem.contacts["wall"].nodes[:, 0]) <= set(problem.mesh.nodes_of("cube"))


def test_constant_loads_are_energies_and_histories_are_loads():
    nodal = '[[load]]\nname = "pull"\nkind = "nodal"\nbody = "cube"\ngroup = "x_max"\nforce = [1, 0, 0]\n'
    traction = '[[load]]\nname = "push"\nkind = "traction"\nbody = "cube"\ngroup = "x_max"\ntraction = [2e3, 0, 0]\n'
    timed = nodal.replace("pull", "timed") + 'history = { kind = "ramp", duration = 1e-5 }\n'
    problem = build(BODY + nodal + traction + timed + REST)
    assert isinstance(problem.system.energies["pull"], NodalForce)
    assert problem.system.energies["push"].forces.sum(axis=0) == pytest.approx([20.0, 0, 0])
    assert isinstance(problem.system.loads["timed"], NodalLoad)
    assert [problem.system.loads["timed"].factor(t) for t in (0, 5e-6, 1)] == [0.0, 0.5, 1.0]


@pytest.mark.parametrize(
    ("history", "at"),
    [
        ('kind = "table", times = [0, 1], factors = [0, 4]', {0.25: 1.0, 2.0: 4.0}),
        ('kind = "smooth-ramp", duration = 2', {0.5: 0.103515625, 1.0: 0.5, 3.0: 1.0}),
        ('kind = "half-sine", duration = 2', {1.0: 1.0, 3.0: 0.0}),
        ('kind = "sine", frequency = 0.25', {1.0: 1.0, 3.0: -1.0}),
    ],
)
def test_histories(history, at):
    load = '[[load]]\nname = "p"\nkind = "pressure"\nbody = "cube"\ngroup = "z_max"\npressure = 1.0\n'
    factor = build(BODY + load + f"history = {{ {history} }}\n" + REST).system.loads["p"].factor
    assert {t: factor(t) for t in at} == pytest.approx(at)


def test_the_lattice_can_be_aligned_with_a_wall():
    rest = REST.replace('"newmark"', '"force-stepping"\ngrid = 1e-4\nalign = "wall"')
    axes = build(BODY + WALL.replace("[0, 0, 2]", "[0, -1, -1]").replace("-0.01", "0.3") + rest).integrator.axes
    np.testing.assert_allclose(axes @ axes.T, np.eye(3), atol=1e-15)
    np.testing.assert_allclose(axes[0], np.array([0, -1, -1]) / np.sqrt(2))


def test_paths_are_relative_to_the_scenario(tmp_path):
    shutil.copy(bundled("bracket"), tmp_path / "part.msh")
    text = '[[body]]\nname = "part"\nmesh = "part.msh"\ngroup = "bracket"\nscale = 0.5\n'
    text += "material = { young = 70e9, poisson = 0.3, density = 2700 }\n"
    (tmp_path / "part.toml").write_text(text + REST, encoding="utf-8")
    problem = Scenario.read(tmp_path / "part.toml").build()
    assert np.ptp(problem.mesh.points[:, 0]) == pytest.approx(0.04)
    assert "part.clamp" in problem.mesh.groups


def test_line_ends_do_not_change_the_hash():
    text = BODY + REST
    assert Scenario.parse(text.replace("\n", "\r\n")).hash == Scenario.parse(text).hash


@pytest.mark.parametrize("name", ["oblique_impact", "oblique_impact_newmark", "drop"])
def test_examples_are_valid(name, pytestconfig):
    problem = Scenario.read(pytestconfig.rootpath / "examples" / f"{name}.toml").build()
    assert isinstance(problem.integrator, ForceStepping if name == "oblique_impact" else Newmark)


# -- mistakes: one clear line each -----------------------------------------------------------------------------

MISTAKES = {
    "density": (
        BODY.replace("2700", "-2700") + REST,
        "[[body]] #1 'cube': material.density must be positive, got -2700 kg/m³.",
    ),
    "text for a number": (
        BODY.replace("2700", '"2700"') + REST,
        "[[body]] #1 'cube': material.density must be a number (kg/m³), got '2700'.",
    ),
    "poisson": (
        BODY.replace("lambda = 60.5e9, mu = 26e9", "young = 1e9, poisson = 0.5") + REST,
        "[[body]] #1 'cube': material is impossible: Poisson's ratio nu is 0.5; it must be above -1 and below 0.5.",
    ),
    "bulk modulus": (
        BODY.replace("60.5e9", "-60.5e9") + REST,
        "[[body]] #1 'cube': material is impossible: the bulk modulus lmbda + 2 mu/3 is -4.31667e+10 Pa; "
        "it must be positive, so with mu = 2.6e+10 Pa lmbda must be above -1.73333e+10 Pa.",
    ),
    "half a material": (
        BODY.replace("mu = 26e9,", "") + REST,
        "[[body]] #1 'cube': material needs either lambda and mu, or young and poisson.",
    ),
    "unknown key": (
        BODY + "velocty = [1, 0, 0]\n" + REST,
        "[[body]] #1 'cube': unknown key 'velocty'; did you mean 'velocity'?",
    ),
    "unknown key inside": (
        BODY.replace("density", "densty") + REST,
        "[[body]] #1 'cube': unknown key 'densty' in material; did you mean 'density'?",
    ),
    "unknown key in a list": (
        BODY
        + REST
        + "[response]\nfrequencies = [1]\nat = [{ name = 'a', body = 'cube' }, { name = 'b', bdy = 'cube' }]\n",
        "[response]: unknown key 'bdy' in at.2; did you mean 'body'?",
    ),
    "missing key": (
        BODY.replace(", density = 2700", "") + REST,
        "[[body]] #1 'cube': material.density is missing (kg/m³).",
    ),
    "unknown table": (BODY + REST + "[intgrator]\n", "unknown table 'intgrator'; did you mean 'integrator'?"),
    "missing table": (BODY + REST.split("[run]")[0], "there is no [run] table."),
    "nothing": ("", "there is no [[body]] and no [integrator] and no [run] table."),
    "misspelt table": (BODY + REST.replace("[run]", "[rum]"), "unknown table 'rum'; did you mean 'run'?"),
    "too large": (BODY + REST.replace("1e-5", "1" + 400 * "0"), "[run]: duration is too large for a number."),
    "infinite": (BODY.replace("2700", "inf") + REST, "[[body]] #1 'cube': material.density must be finite, got inf."),
    "density in t/mm³": (
        BODY.replace("2700", "2.7e-9") + REST,
        "[[body]] #1 'cube': material has a density of 2.7e-09 kg/m³, lighter than any solid; "
        "from t/mm³ it is 2700 kg/m³.",
    ),
    "no frames": (
        BODY + REST.replace("frames = 10", "frames = 0"),
        "[run]: frames must be an integer of at least 1, got 0.",
    ),
    "times that run backwards": (
        BODY
        + '[[load]]\nname = "f"\nkind = "nodal"\nbody = "cube"\ngroup = "x_max"\nforce = [1, 0, 0]\n'
        + 'history = { kind = "table", times = [0, 2, 1], factors = [0, 1, 1] }\n'
        + REST,
        "[[load]] #1 'f': history times must ascend, got [0.0, 2.0, 1.0] s.",
    ),
    "two bodies of one name": (
        2 * BODY + REST,
        "[[body]] #2 'cube': the name 'cube' is taken by [[body]] #1; choose another.",
    ),
    "everything held": (
        BODY + '[[support]]\nbody = "cube"\n' + REST,
        "[integrator]: the supports hold every node at rest, so nothing can move. Let some be free, prescribe a",
    ),
    "grid at rounding": (
        BODY + REST.replace('"newmark"', '"force-stepping"\ngrid = 1e-14'),
        "[integrator]: grid is 1e-14 m, too fine for coordinates of up to 0.1 m: must be at least 1e-10 m.",
    ),
    "no body": (REST, "there is no [[body]] table."),
    "single brackets": (
        BODY.replace("[[body]]", "[body]") + REST,
        "body must be written [[body]], with double brackets; there may be several.",
    ),
    "no source": (
        BODY.replace("box = [0.1, 0.1, 0.1], cells = [1, 1, 1]", "") + REST,
        "[[body]] #1 'cube': mesh needs one source of file, bundled, cube, box, cylinder, ball; none is given.",
    ),
    "box without cells": (
        BODY.replace(", cells = [1, 1, 1]", "") + REST,
        "[[body]] #1 'cube': mesh box needs cells, the number of cells each way, such as cells = [4, 4, 4].",
    ),
    "unknown kind": (
        BODY + WALL.replace("half-space", "halfspace") + REST,
        "[[obstacle]] #1 'wall': kind must be one of 'half-space', 'sphere', 'cylinder', 'capsule',",
    ),
    "missing kind": (
        BODY + WALL.replace('kind = "half-space"', "") + REST,
        "[[obstacle]] #1 'wall': kind is missing; known are: half-space, sphere, cylinder, capsule, box, spline, "
        "surface.",
    ),
    "zero normal": (
        BODY + WALL.replace("[0, 0, 2]", "[0, 0, 0]") + REST,
        "[[obstacle]] #1 'wall': normal must be a direction, got zero.",
    ),
    "two penalties": (
        BODY + WALL + "penalty = 1e-9\n" + REST,
        "[[obstacle]] #1 'wall': needs one contact parameter of stiffness, penalty; given are stiffness and penalty.",
    ),
    "no bodies": (
        BODY + WALL + "bodies = []\n" + REST,
        "[[obstacle]] #1 'wall': bodies is [], must name a body; without the key all bodies are meant.",
    ),
    "missing name": (BODY.replace('name = "cube"', "") + REST, "[[body]] #1: name is missing."),
    "align": (
        BODY + WALL + REST.replace('"newmark"', '"force-stepping"\ngrid = 1e-4\nalign = "wal"'),
        "[integrator]: align names no half-space: there is no 'wal'; did you mean 'wall'?",
    ),
    "two numbers": (
        BODY + "velocity = [1, 2]\n" + REST,
        "[[body]] #1 'cube': velocity must be three numbers (m/s), got [1, 2].",
    ),
    "not finite": (BODY + "velocity = [1, 2, nan]\n" + REST, "[[body]] #1 'cube': velocity must be finite, got nan."),
    "same name": (
        BODY + WALL.replace('"wall"', '"cube"') + REST,
        "[[obstacle]] #1 'cube': the name 'cube' is taken by [[body]] #1; choose another.",
    ),
    "reserved name": (
        BODY.replace('"cube"', '"total"') + REST,
        "[[body]] #1 'total': the name 'total' is reserved; choose another.",
    ),
    "unknown body": (
        BODY + '[[support]]\nbody = "cub"\n' + REST,
        "[[support]] #1: there is no body 'cub'; did you mean 'cube'?",
    ),
    "unknown group": (
        BODY + '[[support]]\nbody = "cube"\ngroup = "clmap"\n' + REST,
        "[[support]] #1: body 'cube' has no group 'clmap'; it has: body, x_max, x_min, y_max, y_min, z_max, z_min.",
    ),
    "components": (
        BODY + '[[support]]\nbody = "cube"\ncomponents = "xw"\n' + REST,
        "[[support]] #1: components must be some letters of 'xyz', got 'xw'.",
    ),
    "samples": (
        BODY + REST + "samples = 15\n",
        "[run]: samples must be a multiple of frames = 10, such as 20, got 15.",
    ),
    "zero duration": (BODY + REST.replace("1e-5", "0"), "[run]: duration must be positive, got 0 s."),
    "dt": (
        BODY + REST.replace('"newmark"', '"newmark"\ndt = "small"'),
        "[integrator]: dt must be a number (s) or \"auto\", got 'small'.",
    ),
    "consistent mass": (
        BODY + 'mass = "consistent"\n' + REST,
        "[[body]] #1 'cube': mass = \"consistent\" needs an implicit integrator; "
        'with explicit newmark take mass = "lumped".',
    ),
    "implicit dt": (
        BODY + REST.replace('"newmark"', '"energy-momentum"'),
        "[integrator]: dt is missing (s).",
    ),
    "implicit dt is not automatic": (
        BODY + REST.replace('"newmark"', '"newmark"\nbeta = 0.25'),
        '[integrator]: dt must be a number (s) where beta is above 0, got "auto".',
    ),
    "gamma": (
        BODY + REST.replace('"newmark"', '"newmark"\ngamma = 0.6'),
        "[integrator]: gamma must be 0.5 where beta is 0, got 0.6.",
    ),
    "rho_inf": (
        BODY + REST.replace('"newmark"', '"generalized-alpha"\ndt = 1e-6\nrho_inf = 1.5'),
        "[integrator]: rho_inf must be from 0 to 1, got 1.5.",
    ),
    "order": (
        BODY + REST.replace('"newmark"', '"midpoint"\ndt = 1e-6\norder = 3'),
        "[integrator]: order must be one of 2, 4, 6, 8, got 3.",
    ),
    "timed load in force-stepping": (
        BODY
        + '[[load]]\nname = "p"\nkind = "pressure"\nbody = "cube"\ngroup = "z_max"\npressure = 1.0\n'
        + REST.replace('"newmark"', '"force-stepping"\ngrid = 1e-4'),
        "[[load]] #1 'p': it follows the surface, so it has no potential, which force-stepping needs; "
        'take another integrator, such as kind = "energy-momentum" or "midpoint", '
        "or a constant nodal load or traction.",
    ),
    "history without its keys": (
        BODY
        + '[[load]]\nname = "p"\nkind = "pressure"\nbody = "cube"\ngroup = "z_max"\npressure = 1.0\n'
        + 'history = { kind = "ramp" }\n'
        + REST,
        "[[load]] #1 'p': history of kind 'ramp' needs duration; given: none.",
    ),
    "film": (
        BODY + REST + '[output]\nfilm = "mpeg"\n',
        "[output]: film must be one of 'mp4', 'gif', 'auto', 'none', got 'mpeg'.",
    ),
    "missing mesh": (
        BODY.replace("{ box = [0.1, 0.1, 0.1], cells = [1, 1, 1] }", '"part.msh"') + REST,
        "[[body]] #1 'cube': there is no mesh file part.msh.",
    ),
    "unknown bundled mesh": (
        BODY.replace("box = [0.1, 0.1, 0.1], cells = [1, 1, 1]", 'bundled = "hook"') + REST,
        "[[body]] #1 'cube': there is no bundled mesh 'hook'; there are: bracket.",
    ),
    "group without tetrahedra": (
        BODY + 'group = "x_max"\n' + REST,
        "[[body]] #1 'cube': group 'x_max' of box has no elements (tetra, hexahedron, tetra10, wedge, pyramid, "
        "hexahedron20, hexahedron27, wedge15, wedge18, pyramid13).",
    ),
    "inside": (
        BODY + WALL.replace("-0.01", "0.01") + REST,
        "[[obstacle]] #1 'wall': body 'cube' starts inside it: 5 nodes, the deepest at",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_each_mistake_gets_one_line(mistake):
    text, message = MISTAKES[mistake]
    found = lines(text)
    assert len(found) == 1
    assert found[0].startswith(f"test.toml: {message}")


def test_all_mistakes_are_told_at_once():
    text = BODY.replace("2700", "-1") + "velocty = [0, 0, 0]\n" + WALL.replace("1e9", "0") + REST + "frame = 2\n"
    assert len(lines(text)) == 4


def test_a_syntax_error_tells_its_line():
    (line,) = lines(BODY + "velocity = [1, 2\n" + REST)
    assert line.startswith("test.toml is not valid TOML: ")
    assert "line" in line


def test_a_missing_file_and_one_that_is_no_text(tmp_path):
    with pytest.raises(ScenarioError, match=r"^there is no scenario file .*none\.toml\.$"):
        Scenario.read(tmp_path / "none.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ScenarioError, match=r"^binary\.toml is not a text file in UTF-8\.$"):
        Scenario.read(tmp_path / "binary.toml")


def test_a_step_above_the_limit_is_refused_with_the_limit():
    (line,) = lines(BODY + REST.replace('"newmark"', '"newmark"\ndt = 1e-3'))
    assert line.startswith("test.toml: [integrator]: dt = 0.001 s is above the stability limit of explicit Newmark, ")


def test_penetration_can_be_allowed():
    text = BODY + WALL.replace("-0.01", "0.01") + REST
    assert "by 0.01 m. Move the body" in lines(text)[0]
    problem = build(text.replace("stiffness", "allow_initial_penetration = true\nstiffness"))
    assert problem.contacts["wall"].deepest(problem.state.q)[1] == pytest.approx(0.01)


def test_inverted_cells_and_loose_nodes_are_refused_and_can_be_repaired(tmp_path):
    mesh = cube_mesh("I")
    cells = mesh.cells["tetra"].copy()
    cells[3] = cells[3][[1, 0, 2, 3]]
    points = np.concatenate([mesh.points, [[9.0, 9.0, 9.0]]])
    save_mesh(Mesh(points, {"tetra": cells}), tmp_path / "bad.vtu")
    text = BODY.replace("{ box = [0.1, 0.1, 0.1], cells = [1, 1, 1] }", '"bad.vtu"')
    (line,) = lines(text + REST, tmp_path / "test.toml")
    assert "bad.vtu: 1 of 192 tetra cells (3) are inverted (negative volume); repair = true" in line
    problem = build(text + "repair = true\n" + REST, tmp_path / "test.toml")
    assert problem.system.n_nodes == 71


def test_elements_that_are_not_known_or_do_not_fit_are_refused(tmp_path):
    from symplex.meshes.generate import box

    text = BODY.replace("{ box = [0.1, 0.1, 0.1], cells = [1, 1, 1] }", '"odd.vtu"') + REST
    mesh = box((1, 1, 1), (1, 1, 1), split="hexahedra")
    rows = np.arange(14, dtype=np.int32)[None]
    save_mesh(Mesh(np.random.default_rng(0).random((14, 3)), {"pyramid14": rows}), tmp_path / "odd.msh")
    (line,) = lines(text.replace("odd.vtu", "odd.msh"), tmp_path / "test.toml")
    assert "odd.msh has pyramid14 cells; only tetra, hexahedron, tetra10, wedge, pyramid, " in line
    mixed = {"hexahedron": mesh.cells["hexahedron"], "tetra": mesh.cells["hexahedron"][:, [0, 1, 3, 4]]}
    save_mesh(Mesh(mesh.points, mixed), tmp_path / "odd.vtu")
    (line,) = lines(text, tmp_path / "test.toml")
    assert "odd.vtu is not conforming: 4 triangular faces lie on quadrilateral ones, the first at (0.3333" in line


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ('kind = "energy-momentum"\ndt = 1e-7', EnergyMomentum(1e-7)),
        ('kind = "energy-momentum"\ndt = 1e-7\norder = 6', Composition(EnergyMomentum(1e-7), 6)),
        ('kind = "midpoint"\ndt = 1e-7\nsolver = "sparse"', Midpoint(1e-7, newton=Newton(linear="sparse"))),
        ('kind = "generalized-alpha"\ndt = 1e-7\nrho_inf = 0.5', GeneralizedAlpha(1e-7, 0.5)),
        ('kind = "hht"\ndt = 1e-7\nalpha = -0.1', HilberHughesTaylor(1e-7, -0.1)),
        ('kind = "newmark"\ndt = 1e-7\nbeta = 0.25', Newmark.trapezoidal(1e-7)),
    ],
)
def test_implicit_integrators(table, expected):
    text = BODY + 'mass = "consistent"\n' + REST.replace('kind = "newmark"', table)
    assert integrator_of(Scenario.parse(text).tables) == expected
    assert not build(text).system.is_lumped
