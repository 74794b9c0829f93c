"""Shells in scenarios: what is built is what Python builds, what results have of them, and what is refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import symplex as sx
from symplex.errors import ScenarioError
from symplex.fem.structures import Frames, Orthotropic, Ply, ShellProperties, shells
from symplex.meshes.series.series import read_series
from symplex.runs.check import check_report
from symplex.runs.history import read_history
from symplex.runs.probe_files import read_probes
from symplex.runs.run import simulate
from symplex.scenario.scenario import Scenario
from symplex.testing import check_load

STEEL = "material = { young = 2.1e11, poisson = 0.3, density = 7850 }\n"
PLATE = f'[[shell]]\nname = "plate"\nmesh = {{ plate = [2, 1], cells = [6, 3] }}\nthickness = 0.01\n{STEEL}'
CLAMP = '[[support]]\nbody = "plate"\ngroup = "x_min"\n'
STATIC = '[integrator]\nkind = "static"\ndt = 1.0\n[run]\nduration = 1.0\nframes = 1\n'
MOVING = '[integrator]\nkind = "energy-momentum"\ndt = 1e-3\n[run]\nduration = 0.02\nframes = 2\n'
EXPLICIT = MOVING.replace("energy-momentum", "rattle").replace("1e-3", "5e-6").replace("0.02", "0.001")
OUTPUT = '\n[output]\npictures = false\nfilm = "none"\n'
FREE = PLATE + "velocity = [0, 0, 1]\nangular_velocity = [1, 8, 0.5]\n"
FOLDED = """$MeshFormat
2.2 0 8
$EndMeshFormat
$PhysicalNames
2
2 1 "floor"
2 2 "wall"
$EndPhysicalNames
$Nodes
8
1 0 0 0
2 1 0 0
3 1 1 0
4 0 1 0
5 1 0 1
6 1 1 1
7 2 0 0
8 2 1 0
$EndNodes
$Elements
4
1 2 2 1 1 1 2 3
2 2 2 1 1 1 3 4
3 3 2 2 2 2 5 6 3
4 1 2 1 1 7 8
$EndElements
"""


def load(of, vector, group="x_max", history='history = { kind = "ramp", duration = 1.0 }'):
    return f'[[load]]\nname = "load"\nkind = "nodal"\nbody = "plate"\ngroup = "{group}"\n{of} = {vector}\n{history}\n'


FIBRES = {"moduli": [1e11, 1e10], "poisson": 0.3, "shear_moduli": [5e9, 5e9, 3e9], "density": 1600}


def _toml(value):
    return "{ " + ", ".join(f"{k} = {v}" for k, v in value.items()) + " }" if isinstance(value, dict) else str(value)


def build(text):
    return Scenario.parse(text, "test.toml").build()


def lines(text, path="test.toml"):
    with pytest.raises(ScenarioError) as caught:
        Scenario.parse(text, path).build()
    return str(caught.value).splitlines()


def python_plate(cells=(6, 3), size=(2.0, 1.0), properties=None, **keys):
    """The same plate in Python."""
    (nx, ny), (lx, ly) = cells, size
    x, y = np.meshgrid(np.arange(nx + 1) * lx / nx, np.arange(ny + 1) * ly / ny, indexing="ij")
    node = np.arange(x.size, dtype=np.int32).reshape(x.shape)
    quads = np.stack([node[:-1, :-1], node[1:, :-1], node[1:, 1:], node[:-1, 1:]], axis=-1).reshape(-1, 4)
    mesh = sx.Mesh(np.column_stack([x.ravel(), y.ravel(), np.zeros(x.size)]), {"quad": quads})
    steel = sx.NeoHookean.from_young(2.1e11, 0.3, 7850.0)
    return mesh.points, shells(mesh, properties or ShellProperties.uniform(0.01, steel), **keys)


def solved(shell, held, energies, loads=None):
    frames = Frames(shell.frames.nodes, shell.points, held)
    system = sx.System(shell.mass, shell.energies | energies, frames=frames, loads=loads or {})
    return sx.equilibria.static_equilibrium(system, shell.points).state.q


# -- what they do -----------------------------------------------------------------------------------------------------


def test_a_cantilever_bends_as_in_python(tmp_path):
    """Under its weight, forces on the edge and a moment; results are the middle, section forces and the skin."""
    probe = '[[probe]]\nname = "tip"\nbody = "plate"\ngroup = "x_max"\nquantities = ["displacement", "rotation"]\n'
    probe += '[[probe]]\nname = "corner"\nbody = "plate"\npoints = [[2, 1, 0]]\ninterpolate = false\n'
    probe += '[[probe]]\nname = "root"\nsupport = "1"\n'
    weight = "[gravity]\nacceleration = [0, 0, -9.81]\n"
    scenario = Scenario.parse(PLATE + CLAMP + weight + load("force", [0, 0, 10.0]) + probe + STATIC + OUTPUT, "t.toml")
    simulate(scenario, tmp_path / "run")
    found = read_probes(tmp_path / "run")

    points, shell = python_plate()
    edge = points[:, 0] == 2.0
    forces = sx.actions.NodalForce(shell.particles(np.flatnonzero(edge)).ravel(), [0.0, 0.0, 5.0])
    q = solved(
        shell,
        np.repeat(points[:, :1] == 0.0, 6, axis=1),
        {"weight": sx.Gravity(shell.mass, (0.0, 0.0, -9.81)), "load": forces},
    )
    w = shell.frames.centers(q) - points
    scale = np.abs(w).max()
    assert scale > 0.01
    assert_allclose(found["tip"]["displacement_z_mean"][-1], w[edge, 2].mean(), atol=1e-9 * scale)
    assert_allclose(found["corner"]["displacement_z"][-1], w[-1, 2], atol=1e-9 * scale)
    turned = shell.frames.rotation_vectors(q)[edge].mean(axis=0)
    assert_allclose(found["tip"]["rotation_y_mean"][-1], turned[1], atol=1e-8)
    # The nodes that are held carry a part of their weight themselves.
    carried = 9.81 * shell.mass.sum() - 40.0
    assert_allclose(found["root"]["reaction_z"][-1], carried, rtol=1e-8)

    series = read_series(tmp_path / "run" / "motion.vtkhdf")
    assert list(series.blocks) == ["plate", "plate.skin"]
    last, skin = series.frame(1), series.blocks["plate.skin"]
    assert_allclose(last.displacement[series.blocks["plate"].nodes], w, atol=1e-6 * scale)  # in float32
    forces = shell.section_forces(q)["quad"]
    assert_allclose(last.cell_data["bending_moments"]["plate"], forces[:, 3:6], atol=1e-5 * np.abs(forces).max())
    assert_allclose(last.cell_data["transverse_force_1"]["plate"], forces[:, 6], atol=1e-5 * np.abs(forces).max())
    centers = np.array([series.points[cell].mean(axis=0) for cell in _cells(skin)])
    moments = last.cell_data["bending_moments"]["plate.skin"]
    of_cells = last.cell_data["bending_moments"]["plate"]
    element = 3 * np.minimum((centers[:, 0] * 3).astype(int), 5) + np.minimum((centers[:, 1] * 3).astype(int), 2)
    assert_array_equal(moments, of_cells[element])


def _cells(block):
    """Yield the points of the cells of a block."""
    return [row for rows in block.cells.values() for row in rows]


def test_a_supported_plate_has_the_modes_of_python():
    """Held on lines, whose rotations are free; the first frequency is that of thin plates but for 8 elements a side."""
    text = PLATE.replace("[2, 1], cells = [6, 3]", "[1, 1], cells = [8, 8]")
    for side in ("x_min", "x_max", "y_min", "y_max"):
        text += f'[[support]]\nbody = "plate"\ngroup = "{side}"\ncomponents = "xyz"\nrotations = ""\n'
    text = text.replace('rotations = ""\n', "")
    problem = build(text + MOVING)
    found = sx.modes.natural_modes(problem.system, problem.state, 4).frequencies
    points, shell = python_plate((8, 8), (1.0, 1.0))
    held = np.zeros((len(points), 6), bool)
    held[((points == 0.0) | (points == 1.0))[:, :2].any(axis=1), :3] = True
    system = sx.System(shell.mass, shell.energies, frames=Frames(shell.frames.nodes, shell.points, held))
    expected = sx.modes.natural_modes(system, system.state(shell.points), 4).frequencies
    assert_allclose(found, expected, rtol=1e-9)
    D = 2.1e11 * 0.01**3 / (12.0 * (1.0 - 0.09))
    assert_allclose(found[0], np.pi * np.sqrt(D / (7850 * 0.01)), rtol=0.015)


def test_a_tumbling_plate_conserves_and_resume_is_bit_identical(tmp_path):
    run = tmp_path / "run"
    simulate(Scenario.parse(FREE + MOVING + OUTPUT, "test.toml"), run)
    history = read_history(run / "history.csv")
    total = np.asarray(history["total"])
    assert np.ptp(total) < 1e-12 * total[0]
    for axis in "xyz":
        momentum = np.asarray(history[f"angular_momentum_{axis}"])
        assert np.ptp(momentum) < 1e-11 * np.abs(history["angular_momentum_y"]).max()
    problem = build(FREE + MOVING)
    assert_allclose(problem.system.mass.sum(), 157.0)
    whole = problem.integrator.start(problem.system, problem.state)
    whole.advance(0.005)
    kept = {name: array.copy() for name, array in whole.checkpoint().items()}
    end = whole.advance(0.01)
    again = build(FREE + MOVING)
    other = again.integrator.resume(again.system, kept).advance(0.01)
    assert_array_equal(other.q, end.q)
    assert_array_equal(other.v, end.v)
    assert np.abs(end.q - problem.state.q).max() > 0.05


@pytest.mark.parametrize("kind", ["midpoint", "rattle"])
def test_other_methods_move_a_clamped_plate_alike(kind):
    weight = "[gravity]\nacceleration = [0, 0, -9.81]\n"
    text = PLATE.replace("0.01\n", "0.1\n", 1) + "extent = 0.3\n" + CLAMP + weight
    moving = MOVING.replace("1e-3", "1e-5").replace("0.02", "0.001")
    q = []
    for name in ("energy-momentum", kind):
        problem = build(text + moving.replace("energy-momentum", name))
        q.append(problem.integrator.start(problem.system, problem.state).advance(0.001).q)
        assert problem.system.frames is not None
        assert problem.system.frames.distortion(q[-1]) < 1e-12
    moved = np.abs(q[0] - problem.state.q).max()
    assert moved > 1e-6
    assert np.abs(q[0] - q[1]).max() < 1e-3 * moved


def test_keys_are_those_of_python():
    ply = "moduli = [1.4e11, 1e10], poisson = 0.3, shear_moduli = [5e9, 5e9, 3e9], density = 1600"
    text = PLATE.replace(f"thickness = 0.01\n{STEEL}", "").replace("[6, 3]", "[2, 2]")
    text += "offset = 0.02\ndirection = [1, 1, 0]\nextent = 0.1\n"
    for angle in (0, 45):
        text += f"[[shell.layers]]\nthickness = 0.002\nangle = {angle}\nmaterial = {{ {ply} }}\n"
    fibres = Orthotropic(1.4e11, 1e10, 0.3, 5e9, 5e9, 3e9, 1600.0)
    layers = ShellProperties.laminate([Ply(0.002, fibres), Ply(0.002, fibres, 45.0)])
    _, expected = python_plate((2, 2), (2.0, 1.0), layers, offset=0.02, direction=(1, 1, 0), extent=0.1)
    problem = build(text + MOVING)
    found = problem.shells["plate"].structure
    assert_allclose(found.points, expected.points)
    assert_allclose(found.mass, expected.mass)
    x = expected.points + 1e-3 * np.random.default_rng(1).normal(size=expected.points.shape)
    energy = expected.energies["quad"].total(x)
    assert_allclose(problem.system.energies["plate"].total(x), energy, rtol=1e-12)
    triangles = build(PLATE.replace("cells =", 'split = "triangles", cells =') + MOVING).shells["plate"]
    assert [len(rows) for rows in triangles.cells.values()] == [36]


def test_files_of_folded_shells(tmp_path):
    """Nodes on the fold have four particles and share forces and masses as others do; the skin has mitres."""
    (tmp_path / "angle.msh").write_text(FOLDED)
    text = (
        f'[[shell]]\nname = "plate"\nmesh = "angle.msh"\nthickness = 0.01\n{STEEL}scale = 2.0\ntranslate = [0, 0, 1]\n'
    )
    text += '[[point_mass]]\nname = "more"\ntotal = 6\nbody = "plate"\n'
    text += load("force", [0, 0, 1.0], "wall", "")
    problem = Scenario.parse(text + MOVING, tmp_path / "test.toml").build()
    shell = problem.shells["plate"]
    assert shell.structure.frames.is_rod.tolist() == [True, False, False, True, True, True]
    assert {kind: len(rows) for kind, rows in shell.cells.items()} == {"quad": 1, "triangle": 2}
    assert_allclose(problem.system.mass.sum(), 7850 * 0.01 * 8.0 + 6.0)
    assert set(problem.system.energies) == {"plate.quad_fold", "plate.triangle_fold", "load"}
    frames = problem.system.frames
    assert frames is not None
    assert_allclose(frames.centers(problem.state.q)[:, 2], [1, 1, 1, 1, 3, 3])
    force = np.zeros_like(problem.state.q)
    problem.system.energies["load"].add_gradient(problem.state.q, force)
    force = -force
    of_nodes = np.array([force[list({*row})].sum(axis=0) for row in frames.nodes.tolist()])
    assert_allclose(of_nodes[:, 2], [0, 1, 1, 0, 1, 1])
    simulate(Scenario.parse(text + MOVING + OUTPUT, tmp_path / "test.toml"), tmp_path / "run")
    series = read_series(tmp_path / "run" / "motion.vtkhdf")
    assert list(series.blocks) == ["plate", "plate.skin"]
    assert len(series.frame(1).cell_data["membrane_forces"]["plate"]) == 3
    (line,) = lines(text.replace("force =", "moment =") + MOVING, tmp_path / "test.toml")
    assert "a moment acts on nodes of one kind, and 2 of 4 are on no fold; give one load for each kind" in line
    for group, what in (
        ("roof", "group 'roof' is not in angle.msh; it has: "),
        ("edge", "group 'edge' is not in angle.msh"),
    ):
        (line,) = lines(text.replace("scale", f'group = "{group}"\nscale') + MOVING, tmp_path / "test.toml")
        assert what in line
    wall = text.replace("scale", 'group = "wall"\nscale').replace(load("force", [0, 0, 1.0], "wall", ""), "")
    assert len(Scenario.parse(wall + MOVING, tmp_path / "test.toml").build().shells["plate"].structure.frames) == 4
    only_lines = (
        FOLDED.replace("Elements\n4", "Elements\n1").split("1 2 2 1 1 1 2 3")[0] + "4 1 2 1 1 7 8\n$EndElements\n"
    )
    (tmp_path / "angle.msh").write_text(only_lines)
    (line,) = lines(wall.replace('group = "wall"\n', "") + MOVING, tmp_path / "test.toml")
    assert "angle.msh has no quadrilaterals or triangles" in line


def test_parts_have_thicknesses_layers_directions_and_offsets_of_their_own(tmp_path):
    (tmp_path / "folded.msh").write_text(FOLDED)
    plies = [{"thickness": 0.004, "angle": 30, "material": FIBRES}, {"thickness": 0.002, "material": FIBRES}]
    rows = "".join("[[shell.parts.layers]]\n" + "".join(f"{k} = {_toml(v)}\n" for k, v in ply.items()) for ply in plies)
    part = '[[shell.parts]]\ngroup = "wall"\ndirection = [0, 1, 0]\noffset = 0.002\n' + rows
    text = PLATE.replace("{ plate = [2, 1], cells = [6, 3] }", '"folded.msh"') + "offset = 0.001\n" + part + MOVING
    built = Scenario.parse(text, tmp_path / "test.toml").build()
    structure = built.shells["plate"].structure
    mesh = built.shells["plate"].table.own_mesh(tmp_path)
    steel = ShellProperties.uniform(0.01, sx.NeoHookean.from_young(2.1e11, 0.3, 7850.0))
    own = Orthotropic(*FIBRES["moduli"], FIBRES["poisson"], *FIBRES["shear_moduli"], FIBRES["density"])
    plies = ShellProperties.laminate([Ply(0.004, own, 30.0), Ply(0.002, own)])
    python = shells(
        mesh,
        {"floor": steel, "wall": plies},
        offset={"floor": 0.001, "wall": 0.002},
        direction={"floor": (1, 0, 0), "wall": (0, 1, 0)},
    )
    assert_array_equal(structure.points, python.points)
    assert_array_equal(structure.mass, python.mass)
    q = structure.points + 1e-3 * np.sin(np.arange(structure.points.size)).reshape(-1, 3)
    assert structure.energies.keys() == python.energies.keys()
    for name, energy in structure.energies.items():
        x = q[energy.nodes]
        assert_allclose(energy.value(x), python.energies[name].value(x), rtol=1e-12)
    assert "6 mm to 10 mm thick" in check_report(built)[0]


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ('group = "wall"', "by which it differs"),
        ('group = "no"\nthickness = 0.1', "parts: there is no group 'no'"),
        ('group = "wall"\nthickness = 0.1\n[[shell.parts]]\ngroup = "wall"\noffset = 0.1', "have faces together"),
        ('group = "wall"\nthickness = 0.1\nlayers = [{ thickness = 1, ' + STEEL.strip() + " }]", "layers besides"),
    ],
)
def test_parts_that_are_refused(tmp_path, part, message):
    (tmp_path / "folded.msh").write_text(FOLDED)
    text = PLATE.replace("{ plate = [2, 1], cells = [6, 3] }", '"folded.msh"') + f"[[shell.parts]]\n{part}\n" + MOVING
    with pytest.raises(ScenarioError, match=message):
        Scenario.parse(text, tmp_path / "test.toml").build()


def test_shells_are_reported_as_they_are():
    report, _ = check_report(build(PLATE + CLAMP + MOVING))
    assert "28 nodes, 120 degrees of freedom" in report
    assert "2 × 1 × 0 m, 18 quadrilaterals, 10 mm thick, 157 kg" in report


def test_a_moment_bends_a_strip_to_an_arc():
    """The drill of a rod needs nothing: an edge whose other rotations are held is clamped, for RATTLE as well."""
    held = f'{CLAMP}components = "xyz"\nrotations = "xy"\n'
    clamped, explicit = build(PLATE + CLAMP + MOVING), build(PLATE + held + EXPLICIT)
    assert_array_equal(clamped.system.fixed, explicit.system.fixed)
    assert clamped.system.fixed.any()
    problem = build(PLATE + CLAMP + load("moment", [0, -100.0, 0], history="") + MOVING)
    q = problem.state.q
    (one,) = problem.system.loads.values()
    force = one(0.0, q, 0.0 * q)
    assert_allclose(force.sum(axis=0), 0.0, atol=1e-9)
    assert_allclose(np.cross(q, force).sum(axis=0), [0, -400.0, 0], atol=1e-8)


def test_a_rod_with_a_held_rotation_stays_in_its_plane():
    """Held about x, an edge is a hinge about y, also under a moment that turns it far."""
    hinge = '[[support]]\nbody = "plate"\ngroup = "x_min"\ncomponents = "xyz"\nrotations = "x"\n'
    roll = load("moment", [0, -100.0, 0], history="")
    turning = PLATE + "velocity = [0, 0, 5]\nangular_velocity = [0, -5, 0]\n"
    problem = build(turning + hinge + roll + MOVING)
    assert problem.system.frames is not None
    assert_array_equal(problem.system.frames.held[:4], [[True, True, True, True, False, True]] * 4)
    q = problem.integrator.start(problem.system, problem.state).advance(0.1).q
    arms = problem.system.frames.arms(q)
    assert np.abs(arms[:4, 0, 0]).max() > 0.4 * np.abs(arms[:4, 0]).max()
    assert np.abs(arms[:4, 0, 1]).max() < 1e-12


# -- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("thickness = 0.01\n", "", "needs thickness, or layers."),
        (STEEL, "", "needs material, or layers."),
        (", cells = [6, 3]", "", "mesh plate needs cells, the number of elements each way, such as cells = [8, 4]."),
        ("plate = [2, 1], cells = [6, 3]", "", "mesh needs one source of file, plate, box; none is given."),
        ("plate = [2, 1]", "plate = [2, -1]", "mesh.plate is [2, -1], must be two lengths (m) above 0."),
        ("thickness", 'group = "a"\nthickness', "group is of a mesh file, and there is none."),
        ("young = 2.1e11, poisson", "poisson", "material needs one stiffness of young, moduli; none is given."),
        ("poisson = 0.3", "poisson = 0.6", "material poisson is 0.6, must be from -0.99 to 0.499."),
        (
            '"energy-momentum"',
            '"graham-jelenic"',
            "graham-jelenic cannot keep the nodes of shells rigid; take another integrator, such as kind = ",
        ),
    ],
)
def test_tables_of_shells_that_are_refused(old, new, message):
    text = PLATE + CLAMP + MOVING
    assert old in text
    (line,) = lines(text.replace(old, new, 1))
    assert line.startswith(f"test.toml: [[shell]] #1 'plate': {message}"), line


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            '[[load]]\nname = "p"\nkind = "pressure"\nbody = "plate"\ngroup = "x_max"\npressure = 1e3\n',
            "[[load]] #1 'p': group 'x_max' of 'plate' has no elements; leave it out to mean all.",
        ),
        (
            '[[load]]\nname = "p"\nkind = "pressure"\nbody = "plate"\ngroup = "left"\npressure = 1e3\n',
            "[[load]] #1 'p': body 'plate' has no group 'left'; it has: x_max, x_min, y_max, y_min.",
        ),
        (
            '[[support]]\nbody = "plate"\ngroup = "left"\n',
            "[[support]] #1: body 'plate' has no group 'left'; it has: x_max, x_min, y_max, y_min.",
        ),
        (
            '[[probe]]\nname = "p"\nbody = "plate"\nquantities = ["torque"]\n',
            "[[probe]] #1 'p': torque is of beams, and 'plate' is none; it has displacement, position, velocity, "
            "acceleration, rotation, membrane_forces, bending_moments, transverse_force_1, transverse_force_2.",
        ),
        (
            '[[probe]]\nname = "p"\nbody = "plate"\nmembers = [18]\n',
            "[[probe]] #1 'p': members has 18, but 'plate' has 18 elements, 0 to 17.",
        ),
        (
            '[[probe]]\nname = "p"\nbody = "plate"\npoints = [[1, 3, 0]]\nquantities = ["bending_moments"]\n',
            "[[probe]] #1 'p': points: [1.0, 3.0, 0.0] m must be within an element of 'plate', got a distance of 2 m "
            "to the nearest. Move the point, or name members.",
        ),
        (
            '[[probe]]\nname = "p"\nbody = "plate"\nnodes = [1]\nquantities = ["bending_moments"]\n',
            "[[probe]] #1 'p': bending_moments is of elements; name these, members = [0], points, or a group of them.",
        ),
        (
            load("moment", [0, 0, 2.0]),
            "[[load]] #1 'load': its moment is about the normal of the shell, where a smooth shell has no rotation, so "
            "that it would do nothing; give forces in the plane of the shell instead.",
        ),
    ],
)
def test_what_shells_do_not_take(table, message):
    """A moment about the normal of all nodes among them, which a smooth shell does not feel."""
    assert f"test.toml: {message}" in lines(PLATE + table + MOVING)


def test_a_run_goes_on_from_the_end_of_another(tmp_path):
    simulate(Scenario.parse(FREE + MOVING + OUTPUT, tmp_path / "one.toml"), tmp_path / "one")
    problem = build(FREE + MOVING)
    end = problem.integrator.start(problem.system, problem.state).advance(0.02)
    start = '[start]\nkind = "result"\nfrom = "one"\n'
    after = Scenario.parse(PLATE + start + MOVING, tmp_path / "two.toml").build()
    assert_array_equal(after.state.q, end.q)
    assert_array_equal(after.state.v, end.v)


def test_a_mass_at_a_node_is_shared_by_its_particles():
    tip = '[[point_mass]]\nname = "tip"\nmass = 3\nbody = "plate"\nat = [2, 1, 0]\n'
    bare, loaded = build(PLATE + MOVING).system.mass, build(PLATE + tip + MOVING).system.mass
    assert_allclose(np.sort(loaded - bare)[-3:], [0.0, 1.5, 1.5], atol=1e-12)


# -- pressure and traction --------------------------------------------------------------------------------------------


def pressure(size, more="", kind="pressure"):
    return f'[[load]]\nname = "push"\nkind = "{kind}"\nbody = "plate"\n{kind} = {size}\n{more}\n'


@pytest.mark.parametrize("follower", ["true", "false"])
@pytest.mark.parametrize(("side", "sign"), [("", -1.0), ('side = "top"', -1.0), ('side = "bottom"', 1.0)])
def test_pressure_acts_on_a_side_of_a_plate(side, sign, follower):
    """The deflection of a clamped strip, p L⁴/8D, and reactions that are the whole of it."""
    strip = PLATE.replace("poisson = 0.3", "poisson = 0.0").replace("cells = [6, 3]", "cells = [16, 2]")
    probe = '[[probe]]\nname = "held"\nsupport = "1"\n'
    text = strip + CLAMP + pressure(10.0, f"{side}\nfollower = {follower}") + probe + STATIC
    problem = build(text)
    assert ("push" in problem.system.energies) == (follower == "false")
    found = sx.equilibria.static_equilibrium(problem.system, problem.state.q)
    frames = problem.system.frames
    assert frames is not None
    w = frames.centers(found.state.q)[-1, 2]
    assert_allclose(w, sign * 10.0 * 2.0**4 / (8.0 * 2.1e11 * 1e-6 / 12.0), rtol=6e-3)


def test_pressure_follows_a_plate_that_has_turned():
    """Rotated about y by 90°, its normal is along x: with the work of the load in the balance."""
    free = PLATE.replace("thickness", "rotate = { axis = [0, 1, 0], degrees = 90 }\nthickness")
    problem = build(free + pressure(100.0, 'history = { kind = "ramp", duration = 0.02 }') + MOVING)
    force = problem.system.loads["push"](0.02, problem.state.q, 0.0 * problem.state.q)
    assert_allclose(force.sum(axis=0), [-200.0, 0.0, 0.0], atol=1e-10)
    motion = problem.integrator.start(problem.system, problem.state)
    end = motion.advance(0.02)
    mass = problem.system.mass.sum()
    assert_allclose(problem.system.momentum(end), [-200.0 * 0.01, 0.0, 0.0], atol=1e-3)
    assert mass > 100.0


def test_loads_of_points_have_the_derivatives_of_their_forces():
    problem = build(PLATE + pressure(1e3) + MOVING)
    turned = problem.state.q @ np.array([[0.8, 0.0, 0.6], [0.0, 1.0, 0.0], [-0.6, 0.0, 0.8]])
    check_load(problem.system.loads["push"], turned, 0.0 * turned)


def test_dead_pressure_on_a_solid():
    """It is an energy whose forces stay where they were: p A, along the normal of the undeformed face."""
    cube = (
        '[[body]]\nname = "plate"\nmesh = { box = [0.1, 0.2, 0.3], cells = [1, 1, 1] }\n'
        "material = { young = 1e7, poisson = 0.3, density = 1000 }\n"
    )
    problem = build(cube + pressure(1e3, 'group = "x_max"\nfollower = false') + MOVING)
    for q in (problem.state.q, problem.state.q @ np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])):
        force = np.zeros_like(q)
        problem.system.energies["push"].add_gradient(q, force)
        assert_allclose(-force.sum(axis=0), [-60.0, 0.0, 0.0], atol=1e-12)
    (line,) = lines(cube + pressure(1e3, 'group = "x_max"\nside = "top"') + MOVING)
    assert line == "test.toml: [[load]] #1 'push': side is of shells, and 'plate' is none; leave the key out."
    (line,) = lines(cube + pressure(1e3) + MOVING)
    assert line == "test.toml: [[load]] #1 'push': group is required, of faces, elements or points."


def test_tractions_on_groups_of_folded_shells(tmp_path):
    (tmp_path / "angle.msh").write_text(FOLDED)
    text = f'[[shell]]\nname = "plate"\nmesh = "angle.msh"\nthickness = 0.01\n{STEEL}'
    wall = 'group = "wall"'
    for what, expected in (
        (pressure("[3, 0, 1]", wall, "traction"), [3.0, 0.0, 1.0]),
        (pressure(5.0, f"{wall}\nfollower = false"), [5.0, 0.0, 0.0]),
        (pressure(5.0, 'group = "floor"\nfollower = false'), [0.0, 0.0, -5.0]),
    ):
        problem = Scenario.parse(text + what + MOVING, tmp_path / "test.toml").build()
        force = np.zeros_like(problem.state.q)
        problem.system.energies["push"].add_gradient(problem.state.q, force)
        assert_allclose(np.abs(force.sum(axis=0)), np.abs(expected), atol=1e-12)


# -- damping ----------------------------------------------------------------------------------------------------------

BAR = (
    '[[beam]]\nname = "plate"\nmesh = { line = 2.0, bars = 6 }\nup = [0, 1, 0]\n'
    f'section = {{ kind = "rectangle", height = 1.0, width = 0.01 }}\n{STEEL}'
)


@pytest.mark.parametrize("structure", [PLATE.replace("[6, 3]", "[6, 1]"), BAR], ids=["shell", "beam"])
@pytest.mark.parametrize("damping", ["alpha = 1.2", "beta = 3e-3", 'beta = 3e-3\nstiffness = "initial"'])
def test_rayleigh_damping_of_the_first_mode(structure, damping):
    """Its energy decays by exp(−(α + β ω²) t), as the smallest root of K and M has it."""
    text = structure + CLAMP + MOVING.replace("1e-3", "4e-3").replace("0.02", "1.0")
    bare, problem = build(text), build(text + f"[[damping]]\n{damping}\n")
    mode = sx.modes.natural_modes(bare.system, bare.state, 1)
    shape, omega = mode.shapes[0], 2.0 * np.pi * mode.frequencies[0]
    start = problem.system.state(problem.state.q, 1e-4 * shape / np.abs(shape).max())
    motion = problem.integrator.start(problem.system, start)
    duration = 1.2
    energy = problem.system.energies_of(start)["total"]
    after = problem.system.energies_of(motion.advance(duration))["total"]
    rate = 1.2 if "alpha" in damping else 3e-3 * omega**2
    h = 4e-3
    slowed = 2.0 / h * np.arctan(0.5 * h * omega) / omega  # as steps see the frequency
    assert 0.2 < rate * duration < 3.0
    assert slowed > 0.99
    assert_allclose(np.log(energy / after), rate * duration, rtol=0.03)


@pytest.mark.parametrize("structure", [PLATE, BAR], ids=["shell", "beam"])
def test_damping_by_strain_rates_does_not_feel_rotations(structure):
    turning = "velocity = [0, 0, 1]\nangular_velocity = [1, 8, 0.5]\n"
    problem = build(structure + turning + "[[damping]]\nbeta = 1e-3\n" + MOVING)
    system, start = problem.system, problem.state
    end = problem.integrator.start(system, start).advance(0.1)
    size = np.abs(system.angular_momentum(start)).max()
    assert_allclose(system.momentum(end), system.momentum(start), atol=1e-11 * np.abs(system.momentum(start)).max())
    assert_allclose(system.angular_momentum(end), system.angular_momentum(start), atol=1e-11 * size)
    lost = system.energies_of(start)["total"] - system.energies_of(end)["total"]
    assert 0.0 <= lost < 2e-3 * system.energies_of(start)["total"]
    for load in system.loads.values():
        v = np.array([0.0, 0.0, 1.0]) + np.cross([1.0, 8.0, 0.5], start.q)
        f = load(0.0, start.q, v)
        stretched = load(0.0, start.q, 1e-3 * start.q)
        assert np.abs(f).max() < 1e-9 * np.abs(stretched).max()
        rng = np.random.default_rng(0)
        check_load(load, start.q + 1e-3 * rng.standard_normal(f.shape), rng.standard_normal(f.shape))


def test_probes_of_section_forces(tmp_path):
    """Of a strip under a force at its end: M₁₁ = F (L − x) for each unit of width, and Q₁ = F."""
    strip = PLATE.replace("poisson = 0.3", "poisson = 0.0").replace("cells = [6, 3]", "cells = [8, 1]")
    text = strip + CLAMP + load("force", [0, 0, -4.0])
    of = '[[probe]]\nname = "{}"\nbody = "plate"\nquantities = ["bending_moments", "transverse_force_1"]\n{}\n'
    text += of.format("numbers", "members = [0, 5]")
    text += of.format("places", 'points = [[0.1, 0.2, 0], [1.4, 0.9, 0.01]]\ncomponents = ["11"]')
    text += of.format("all", 'reduce = ["max"]')
    simulate(Scenario.parse(text + STATIC + OUTPUT, tmp_path / "test.toml"), tmp_path / "run")
    probes = read_probes(tmp_path / "run")
    one, places = probes["numbers"], probes["places"]
    for at, x in (("0", 0.125), ("5", 1.375)):
        assert_allclose(np.abs(one[f"bending_moments_11_{at}"][-1]), 8.0 * (2.0 - x), rtol=1e-3)
        assert_allclose(np.abs(one[f"transverse_force_1_{at}"][-1]), 8.0, rtol=1e-3)
    assert_array_equal(places["bending_moments_11_1"], one["bending_moments_11_0"])
    assert_array_equal(places["bending_moments_11_2"], one["bending_moments_11_5"])
    assert "bending_moments_22_1" not in places
    assert_allclose(probes["all"]["transverse_force_1_max"][-1], one["transverse_force_1_0"][-1], rtol=1e-2)


# -- contact ----------------------------------------------------------------------------------------------------------

BOX = f'[[shell]]\nname = "plate"\nmesh = {{ box = [0.4, 0.3, 0.2], cells = [2, 2, 1] }}\nthickness = 0.01\n{STEEL}'
FLOOR = '[[obstacle]]\nname = "floor"\nkind = "half-space"\npoint = [0, 0, 0]\nnormal = [0, 0, 1]\nstiffness = 1e7\n'
FAST = MOVING.replace("1e-3", "2e-5").replace("0.02", "0.002")


def conserved(problem, duration, *, energy=1e-12, momentum=1e-12, axes=(0, 1, 2)):
    """Return the end of a motion in which energy and momenta along axes do not change."""
    system, start = problem.system, problem.state
    end = problem.integrator.start(system, start).advance(duration)
    before, after = (system.energies_of(state)["total"] for state in (start, end))
    assert abs(after / before - 1.0) < energy
    size = np.abs(system.momentum(start)).max()
    assert np.abs((system.momentum(end) - system.momentum(start))[list(axes)]).max() < momentum * size
    assert system.frames.distortion(end.q) < 1e-11
    return end


def test_a_box_of_shells_bounces_from_a_floor():
    """By a corner of its skin, which has mitres: energy, and momenta along the floor."""
    move = "rotate = { axis = [1, -1, 0], degrees = 30 }\ntranslate = [0, 0, 0.01]\nvelocity = [0, 0, -5]\n"
    problem = build(BOX + move + FLOOR + FAST)
    (contact,) = problem.contacts.values()
    assert len(contact.nodes) == 2 * len(problem.shells["plate"].structure.frames)
    points = problem.rigid_sets.points(problem.state.q)[contact.nodes[:, 0]]
    lowest = points[:, 2].min()
    assert 0.0 < lowest < 0.005
    end = conserved(problem, 0.002, axes=(0, 1))
    assert problem.system.momentum(end)[2] > problem.system.momentum(problem.state)[2] + 1.0


def test_a_plate_a_beam_a_rigid_body_and_an_obstacle_with_mass_collide():
    """All at once: energy and both momenta are those before."""
    aluminium = "material = { young = 7e10, poisson = 0.33, density = 2700 }\n"
    text = (
        f'[[shell]]\nname = "plate"\nmesh = {{ plate = [0.4, 0.4], cells = [4, 4] }}\nthickness = 0.004\n{aluminium}'
        f'[[beam]]\nname = "bar"\nmesh = {{ line = 0.3, bars = 2 }}\nup = [0, 0, 1]\n{aluminium}'
        'section = { kind = "rectangle", height = 0.01, width = 0.01 }\n'
        "translate = [0.05, 0.3, 0.008]\nvelocity = [0, 0, -5]\n"
        '[[rigid_body]]\nname = "brick"\nmesh = { box = [0.1, 0.1, 0.05] }\ndensity = 2000\n'
        "translate = [0.1, 0.1, 0.028]\nvelocity = [0, 0, -5]\n"
        '[[obstacle]]\nname = "ball"\nkind = "sphere"\ncenter = [0.3, 0.2, -0.053]\nradius = 0.05\nmass = 0.5\n'
        'velocity = [0, 0, 10]\nstiffness = 1e7\nbodies = ["plate"]\n'
        "[[contact]]\nspeed = 5\n"
    )
    problem = build(text + FAST)
    system, start = problem.system, problem.state
    end = conserved(problem, 8e-4, energy=1e-11)
    change = system.angular_momentum(end) - system.angular_momentum(start)
    assert np.abs(change).max() < 1e-11 * np.abs(system.angular_momentum(start)).max()
    for name in ("plate", "bar"):
        own = problem.beams.get(name) or problem.shells[name]
        assert np.abs(own.own(end.v - start.v)).max() > 1.0
    for name in ("brick", "ball"):
        nodes = problem.rigid_sets.rigid_sets[name].nodes
        assert np.abs((end.v - start.v)[nodes]).max() > 0.1


def test_results_show_contact_on_the_skin(tmp_path):
    """The forces on its points are those of the probe of the floor."""
    move = "rotate = { axis = [1, -1, 0], degrees = 30 }\ntranslate = [0, 0, 0.01]\nvelocity = [0, 0, -5]\n"
    probe = '[[probe]]\nname = "floor"\nobstacle = "floor"\n'
    text = BOX + move + FLOOR + probe + FAST.replace("0.002", "0.001") + OUTPUT
    simulate(Scenario.parse(text, tmp_path / "test.toml"), tmp_path / "run")
    series, probes = read_series(tmp_path / "run" / "motion.vtkhdf"), read_probes(tmp_path / "run")["floor"]
    assert list(series.blocks) == ["floor", "plate", "plate.skin"]
    force = series.frame(len(series.times) - 1).point_data["contact_force"]
    on_skin = force[series.blocks["plate.skin"].nodes].sum(axis=0)
    assert on_skin[2] > 100.0
    assert_allclose(on_skin[2], probes["force_z"][-1], rtol=1e-6)  # in single precision
    assert not force[series.blocks["plate"].nodes].any()


def test_shells_collide_with_each_other_and_with_solids():
    ball = (
        '[[body]]\nname = "cube"\nmaterial = { young = 2e9, poisson = 0.3, density = 1000 }\n'
        "mesh = { box = [0.1, 0.1, 0.1], cells = [1, 1, 1] }\ntranslate = [0.15, 0.1, 0.22]\nvelocity = [0, 0, -20]\n"
    )
    plate = PLATE.replace('"plate"', '"lid"').replace("[2, 1], cells = [6, 3]", "[0.2, 0.2], cells = [2, 2]")
    lid = plate + "translate = [0.1, 0.05, -0.02]\nvelocity = [0, 0, 20]\n"
    contact = "[[contact]]\nstiffness = 1e11\ndistance = 0.004\n"
    problem = build(BOX + ball + lid + contact + FAST)
    names = problem.scenario.tables.touching
    assert names == ["cube", "plate", "lid"]
    end = conserved(problem, 0.002)
    box = problem.shells["plate"]
    assert np.abs(box.own(end.v)).max() > 1.0
    assert box.own(end.v)[:, 2].min() < -1.0 < 1.0 < box.own(end.v)[:, 2].max()


def written(points, quads, path):
    """Write a mesh of quadrilaterals in groups by name as a file of Gmsh."""
    names = "".join(f'2 {k} "{name}"\n' for k, name in enumerate(quads, start=1))
    nodes = "".join(f"{k} {x} {y} {z}\n" for k, (x, y, z) in enumerate(points, start=1))
    rows = [(k, row + 1) for k, part in enumerate(quads.values(), start=1) for row in part]
    cells = "".join(f"{i} 3 2 {k} {k} {' '.join(map(str, row))}\n" for i, (k, row) in enumerate(rows, start=1))
    path.write_text(
        f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n{len(quads)}\n{names}$EndPhysicalNames\n"
        f"$Nodes\n{len(points)}\n{nodes}$EndNodes\n$Elements\n{len(rows)}\n{cells}$EndElements\n"
    )


def channel(path, height=0.4, width=0.1, n=4):
    """Write a channel of two walls on a floor, all 0.1 m long."""
    z = np.linspace(height, 0.0, n + 1)
    profile = np.concatenate([np.column_stack([0.0 * z, z]), np.column_stack([width + 0.0 * z, z])[::-1]])
    points = [(x, y, h) for x, h in profile for y in (0.0, 0.1)]
    row = np.array([0, 1, 3, 2])
    walls = {"left": range(n), "floor": [n], "right": range(n + 1, 2 * n + 1)}
    written(points, {name: np.array([2 * k + row for k in some]) for name, some in walls.items()}, path)


@pytest.mark.slow
def test_the_walls_of_a_channel_touch_each_other(tmp_path):
    """Contact with itself: both momenta are conserved, and the walls do not pass through each other."""
    channel(tmp_path / "channel.msh")
    text = f'[[shell]]\nname = "plate"\nmesh = "channel.msh"\nthickness = 0.004\n{STEEL}'
    for group, speed in (("left", 20.0), ("right", -20.0)):
        text += f'[[velocity]]\nbody = "plate"\ngroup = "{group}"\nvelocity = [{speed}, 0, 0]\n'
    contact = "[[contact]]\nself = true\nstiffness = 1e12\ndistance = 0.003\n"
    moving = MOVING.replace("1e-3", "2e-5").replace("0.02", "0.004")
    tops = []
    for more in ("", contact):
        problem = Scenario.parse(text + more + moving, tmp_path / "test.toml").build()
        motion, gaps = problem.integrator.start(problem.system, problem.state), []
        before = problem.system.energies_of(problem.state)["total"]
        for k in range(1, 41):
            x = problem.shells["plate"].structure.frames.centers(motion.advance(1e-4 * k).q)
            gaps.append(x[-1, 0] - x[0, 0])
        end = motion.advance(4e-3)
        assert abs(problem.system.energies_of(end)["total"] / before - 1.0) < 1e-11
        size = 20.0 * problem.system.mass.sum()
        assert np.abs(problem.system.momentum(end) - problem.system.momentum(problem.state)).max() < 1e-12 * size
        tops.append(min(gaps))
    assert tops[0] < 0.0 < 0.004 < tops[1]  # without contact, and with it


def test_beams_bounce_from_a_floor_by_their_skins():
    bar = (
        '[[beam]]\nname = "bar"\nmesh = { line = 1.0, bars = 4 }\nup = [0, 0, 1]\n'
        'section = { kind = "rectangle", height = 0.04, width = 0.02 }\n'
        f"{STEEL}translate = [0, 0, 0.021]\nvelocity = [0, 0, -2]\nangular_velocity = [0, 0.5, 0]\n"
    )
    problem = build(bar + FLOOR + FAST)
    (contact,) = problem.contacts.values()
    assert len(contact.nodes) == 5 * 4  # the corners of its section at nodes
    end = conserved(problem, 0.002, axes=(0, 1))
    assert problem.system.momentum(end)[2] > problem.system.momentum(problem.state)[2] + 1.0


def test_faces_of_eight_nodes_are_divided_with_their_curvature_and_groups(tmp_path):
    rows = [(1, 0, 0, 0), (2, 1, 0, 0), (3, 1, 1, 0), (4, 0, 1, 0)]
    rows += [(5, 0.5, 0, 0.1), (6, 1, 0.5, 0), (7, 0.5, 1, 0.1), (8, 0, 0.5, 0)]
    nodes = "\n".join(" ".join(map(str, row)) for row in rows)
    mesh = '$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n2\n1 1 "foot"\n2 2 "roof"\n$EndPhysicalNames\n'
    mesh += f"$Nodes\n8\n{nodes}\n$EndNodes\n$Elements\n2\n1 16 2 2 1 1 2 3 4 5 6 7 8\n2 8 2 1 1 1 4 8\n$EndElements\n"
    (tmp_path / "roof.msh").write_text(mesh)
    text = '[[shell]]\nname = "roof"\nmesh = { file = "roof.msh", pieces = 4 }\ngroup = "roof"\nthickness = 0.01\n'
    text += STEEL + '[[support]]\nbody = "roof"\ngroup = "foot"\n' + MOVING
    problem = Scenario.parse(text, tmp_path / "test.toml").build()
    shell = problem.shells["roof"].structure
    centers = shell.frames.centers(shell.points)
    assert len(shell.cells["quad"]) == 16
    assert_allclose(centers[:, 2], 0.4 * centers[:, 0] * (1.0 - centers[:, 0]), atol=1e-12)
    assert problem.system.fixed.any(axis=1).sum() == 10  # five nodes of two particles
    for wrong, message in (("pieces = 3", "even number"), ("pieces = 9", "at most 8")):
        with pytest.raises(ScenarioError, match=message):
            Scenario.parse(text.replace("pieces = 4", wrong), tmp_path / "test.toml").build()
