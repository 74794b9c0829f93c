"""Supports along directions that are not those of the axes, radial ones, and fields of displacements."""

import numpy as np
import pytest

import symplex as sx
from symplex.errors import ScenarioError
from symplex.meshes.formats.abaqus_write import write_abaqus
from symplex.meshes.mesh import Mesh
from tests.reference.boxes import shaken
from tests.reference.rings import ring

BLOCK = """
[[body]]
name = "block"
mesh = {{ box = [0.5, 0.2, 0.2], cells = [4, 2, 2], split = "hexahedra" }}
rotate = {{ axis = [0, 0, 1], degrees = {degrees} }}
material = {{ young = 1e6, poisson = 0.3, density = 1000 }}
{held}
[[load]]
name = "pull"
kind = "traction"
body = "block"
group = "x_max"
traction = {traction}
[start]
kind = "static"
[integrator]
kind = "energy-momentum"
dt = 1e-3
[run]
duration = 0.002
"""
STRAIGHT = """
[[support]]
body = "block"
symmetry = "x"
[[support]]
body = "block"
symmetry = "y"
[[support]]
body = "block"
symmetry = "z"
"""
C, S = float(np.cos(np.radians(30.0))), float(np.sin(np.radians(30.0)))
OBLIQUE = f"""
[[support]]
name = "end"
body = "block"
symmetry = {{ point = [0, 0, 0], normal = [{C}, {S}, 0] }}
[[support]]
name = "side"
body = "block"
group = "y_min"
direction = [{-S}, {C}, 0]
[[support]]
body = "block"
symmetry = {{ point = [0, 0, 0], normal = [0, 0, -2] }}
[[probe]]
name = "reaction"
support = "end"
"""


def test_a_block_along_no_axis_is_pulled_as_one_along_x():
    straight = sx.Scenario.parse(BLOCK.format(degrees=0, held=STRAIGHT, traction=[5e4, 0, 0])).build()
    oblique = sx.Scenario.parse(BLOCK.format(degrees=30, held=OBLIQUE, traction=[5e4 * C, 5e4 * S, 0])).build()
    u, rotated = (one.state.q - one.mesh.points for one in (straight, oblique))
    turn = np.array([[C, -S, 0.0], [S, C, 0.0], [0.0, 0.0, 1.0]])
    # The reaction of the block's end, 2 kN on 9 nodes, over a stiffness of 1000 E h of each, and no more.
    np.testing.assert_allclose(rotated, u @ turn.T, atol=5e-6)
    assert np.abs(u[:, 0]).max() > 0.02
    # That in z is along an axis, and so exact.
    assert oblique.system.fixed.any(axis=0).tolist() == [False, False, True]
    (probe,) = (one for built in oblique.probes for one in built.probes)
    motion = oblique.integrator.start(oblique.system, oblique.state)
    reaction = probe.of(motion.system, motion.advance(0.0))
    force = np.array([reaction[f"reaction_{axis}"] for axis in "xyz"])
    np.testing.assert_allclose(force, [-2e3 * C, -2e3 * S, 0.0], rtol=1e-6, atol=1e-3)


def test_energy_is_conserved_with_oblique_supports():
    text = BLOCK.format(degrees=30, held=OBLIQUE, traction=[5e4 * C, 5e4 * S, 0]).replace(
        '[start]\nkind = "static"', ""
    )
    problem = sx.Scenario.parse(text.replace("duration = 0.002", "duration = 0.1")).build()
    path = sx.record(problem.system, problem.integrator, problem.state, np.linspace(0.0, 0.1, 11))
    total = path.energies["total"]
    scale = max(np.ptp(value) for value in path.energies.values())
    assert np.ptp(total) < 1e-11 * scale


TUBE = """
[[body]]
name = "tube"
mesh = "tube.inp"
quadratic = {quadratic}
material = {{ law = "linear-elastic", young = 2e11, poisson = 0.3, density = 7850 }}
[[support]]
body = "tube"
group = "bottom"
components = "z"
[[support]]
body = "tube"
group = "top"
components = "z"
[[support]]
name = "sides"
body = "tube"
cylindrical = {{ point = [0, 0, 0], axis = [0, 0, 2], fixed = ["tangential"] }}
{more}
[start]
kind = "static"
[integrator]
kind = "static"
dt = 1.0
[run]
duration = 1.0
"""
PRESSURE = """
[[load]]
name = "inside"
kind = "pressure"
body = "tube"
group = "inner"
pressure = 1e6
follower = false
"""


def test_tube_under_pressure(tmp_path):
    """Lamé: u = (1 + ν)/E p a²/(b² − a²) [(1 − 2ν) r + b²/r] in plane strain; nodes stay in their radial planes."""
    a, b, p, E, nu = 0.1, 0.2, 1e6, 2e11, 0.3
    errors = []
    for n in (4, 8):
        mesh = ring(a, b, 0.02, (n, n // 2, 1), degrees=30.0, first=20.0)
        write_abaqus(mesh, tmp_path / "tube.inp")
        (tmp_path / "tube.toml").write_text(TUBE.format(more=PRESSURE, quadratic="false"))
        problem = sx.Scenario.read(tmp_path / "tube.toml").build()
        x, u = problem.mesh.points, problem.state.q - problem.mesh.points
        r = np.hypot(x[:, 0], x[:, 1])
        radial = (u[:, :2] * x[:, :2]).sum(axis=1) / r
        exact = (1 + nu) / E * p * a**2 / (b**2 - a**2) * ((1 - 2 * nu) * r + b**2 / r)
        tangential = (u[:, 1] * x[:, 0] - u[:, 0] * x[:, 1]) / r
        assert np.abs(tangential).max() < 2e-4 * exact.max()  # by the hoop stress over the stiffness of the support
        errors.append(np.abs(radial / exact - 1.0).max())
    assert errors[1] < 0.006
    assert 3.0 < errors[0] / errors[1] < 5.0


def test_a_node_on_the_axis(tmp_path):
    mesh = ring(0.1, 0.2, 0.02, (2, 2, 1), degrees=30.0)
    write_abaqus(mesh, tmp_path / "tube.inp")
    text = TUBE.format(more=PRESSURE, quadratic="false").replace("point = [0, 0, 0]", "point = [0.1, 0, 0]")
    (tmp_path / "tube.toml").write_text(text)
    with pytest.raises(ScenarioError, match=r"the node at \(0.1, 0, 0\) m is on the axis"):
        sx.Scenario.read(tmp_path / "tube.toml").build()


PATCH = """
[[body]]
name = "block"
mesh = "block.inp"
material = {{ young = 1e6, poisson = 0.3, density = 1000 }}
[[support]]
name = "all"
body = "block"
{group}
field = ["0.02*x + 0.01*y", "-0.003*y", "0.005*x - 0.004*z"]
history = {{ kind = "ramp", duration = 1.0 }}
[integrator]
{method}
[run]
duration = 1.0
"""


@pytest.mark.parametrize("method", ['kind = "static"\ndt = 0.5', 'kind = "energy-momentum"\ndt = 0.1'])
@pytest.mark.parametrize("group", ['group = "skin"', ""])
def test_patch_test_by_a_field(tmp_path, group, method):
    """What is moved linearly on its boundary is so inside, in equilibrium; also all displacements may be given."""
    mesh = shaken(sx.box((0.5, 0.2, 0.2), (4, 3, 3), split="6"), 0.01)
    mesh = Mesh(mesh.points, mesh.cells, {}, {"skin": mesh.boundary_nodes})
    write_abaqus(mesh, tmp_path / "block.inp")
    (tmp_path / "block.toml").write_text(PATCH.format(group=group, method=method))
    problem = sx.Scenario.read(tmp_path / "block.toml").build()
    path = sx.record(problem.system, problem.integrator, problem.state, [0.0, 0.5, 1.0])
    x = problem.mesh.points
    gradient = np.array([[0.02, 0.01, 0.0], [0.0, -0.003, 0.0], [0.005, 0.0, -0.004]])
    expected = x + x @ gradient.T
    moved = slice(None) if "static" in method or not group else mesh.boundary_nodes
    np.testing.assert_allclose(path.q[-1][moved], expected[moved], atol=1e-9 if "static" in method else 1e-15)
    largest = max(np.abs(value).max() for value in path.energies.values())
    assert largest > 1e-3
    assert np.ptp(path.energies["balance"]) < 1e-11 * largest


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("direction = [1, 1, 0]", "needs a name"),
        ('name = "a"\ndirection = [1, 1, 0]\ncomponents = "x"', "components goes with supports along the axes"),
        ('name = "a"\ndirection = [0, 0, 0]', "direction"),
        ("stiffness = 1e3", "stiffness goes with direction, cylindrical or oblique symmetry"),
        (
            'name = "a"\ncylindrical = { point = [0, 0, 0], axis = [0, 0, 1], fixed = [] }',
            "fixed must be some of radial, tangential, axial",
        ),
        ("symmetry = { point = [0, 0, 0] }", "must be a plane"),
        ('name = "a"\nfield = ["x", "0"]\nhistory = { kind = "ramp", duration = 1 }', "three formulas"),
        ('name = "a"\nfield = ["x", "0", "w"]\nhistory = { kind = "ramp", duration = 1 }', "'w' is not known"),
        ('name = "a"\nfield = ["1/x", "0", "0"]\nhistory = { kind = "ramp", duration = 1 }', "has no value"),
        ('name = "a"\nfield = ["0", "0", "0"]\nhistory = { kind = "ramp", duration = 1 }', "zero at all nodes"),
        (
            'name = "a"\ncomponents = "xy"\nfield = ["0", "0", "x"]\nhistory = { kind = "ramp", duration = 1 }',
            "field is not zero in z",
        ),
    ],
)
def test_mistakes(key, message):
    held = f"""
[[support]]
body = "block"
{key}
"""
    with pytest.raises(ScenarioError, match=message):
        sx.Scenario.parse(BLOCK.format(degrees=0, held=held, traction=[1, 0, 0])).build()


DRIVEN = """
[[body]]
name = "block"
mesh = {{ box = [0.3, 0.1, 0.1], cells = [3, 1, 1], split = "hexahedra" }}
rotate = {{ axis = [0, 0, 1], degrees = {degrees} }}
material = {{ young = 1e6, poisson = 0.3, density = 1000 }}
[[support]]
body = "block"
group = "x_min"
[[support]]
name = "grip"
body = "block"
group = "x_max"
{grip}
[integrator]
{method}
[run]
duration = 0.01
"""
MOTIONS = {  # along x
    "displacement": ("[0.01, 0, 0]", 'history = {{ kind = "smooth-ramp", duration = 0.01 }}'),
    "velocity": ("[1.0, 0, 0]", ""),
    "acceleration": ("[2000, 0, 0]", 'history = {{ kind = "table", times = [0, 0.005, 0.01], factors = [1, -1, 0] }}'),
    "field": ('["0.01 + 0.1*z", "0", "0"]', 'history = {{ kind = "smooth-ramp", duration = 0.01 }}'),
}
METHODS = {
    "newmark": 'kind = "newmark"\ndt = "auto"',
    "energy-momentum": 'kind = "energy-momentum"\ndt = 5e-4',
    "midpoint": 'kind = "midpoint"\ndt = 5e-4',
    "generalized-alpha": 'kind = "generalized-alpha"\ndt = 5e-4\nrho_inf = 0.9',
    "static": 'kind = "static"\ndt = 5e-3',
}


def _driven(degrees, grip, method):
    problem = sx.Scenario.parse(
        DRIVEN.format(degrees=degrees, grip=grip.replace("{{", "{").replace("}}", "}"), method=method)
    ).build()
    path = sx.record(problem.system, problem.integrator, problem.state, [0.0, 0.005, 0.01])
    return problem, path


@pytest.mark.parametrize(
    ("motion", "method"),
    [*(("displacement", method) for method in METHODS), *((motion, "energy-momentum") for motion in MOTIONS)],
)
def test_what_moves_along_no_axis_moves_as_along_x(motion, method):
    """A grip that moves obliquely, across which nodes are free, is one that moves along x, turned; with its work."""
    value, history = MOTIONS[motion]
    along, straight = _driven(0, f'components = "x"\n{motion} = {value}\n{history}', METHODS[method])
    if motion == "field":
        place = f"({C}*x + {S}*y)"
        value = f'["{C}*(0.01 + 0.1*z) + 0*{place}", "{S}*(0.01 + 0.1*z)", "0"]'
    else:
        size = float(value.strip("[]").split(",")[0])
        value = str([size * C, size * S, 0])
    _, oblique = _driven(30, f"direction = [{C}, {S}, 0]\n{motion} = {value}\n{history}", METHODS[method])
    turn = np.array([[C, -S, 0.0], [S, C, 0.0], [0.0, 0.0, 1.0]])
    n = len(along.mesh.points)
    u, v = straight.q - straight.q[0], oblique.q[:, :n] - oblique.q[0, :n]
    assert np.abs(u).max() > 3e-3
    # The reaction over the stiffness; it swings where the velocity of the grip jumps.
    limit = 5e-3 if motion in ("velocity", "acceleration") or method == "newmark" else 5e-4
    np.testing.assert_allclose(v, u @ turn.T, atol=limit * np.abs(u).max())
    # Where the grip begins with a velocity, its nodes are given it along x, and have to be brought to it obliquely.
    work, exact = oblique.energies["work_grip"][-1], straight.energies["work_grip"][-1]
    assert work == pytest.approx(
        exact,
        rel=0.05 if motion in ("velocity", "acceleration") else 5e-3,
        abs=1e-3 * np.abs(straight.energies["work_grip"]).max(),
    )
    if method == "energy-momentum":
        balance = oblique.energies["balance"]
        assert np.ptp(balance) < 1e-10 * max(np.abs(value).max() for value in oblique.energies.values())


RADIAL = """
[[body]]
name = "tube"
quadratic = true
mesh.cylinder = {{ radius = 0.2, inner = 0.1, length = 0.02, cells = [4, 4, 1], degrees = 40 }}
rotate = {{ axis = [0, 0, 1], degrees = 20 }}
material = {{ law = "linear-elastic", young = 2e11, poisson = 0.3, density = 7850 }}
[[support]]
body = "tube"
components = "z"
[[support]]
name = "start"
body = "tube"
group = "y0"
cylindrical = {{ point = [0, 0, 0], axis = [0, 0, 1], fixed = ["tangential"] }}
[[support]]
name = "end"
body = "tube"
group = "end"
cylindrical = {{ point = [0, 0, 0], axis = [0, 0, 1], fixed = ["tangential"] }}
[[support]]
name = "mandrel"
body = "tube"
group = "inside"
{mandrel}
[integrator]
kind = "static"
dt = 0.5
[run]
duration = 1
"""


@pytest.mark.parametrize("given", ["displacement = [1e-5, 0, 0]", 'field = ["1e-4*x", "1e-4*y", "0"]'])
def test_a_tube_widened_by_a_mandrel(given):
    """Lamé: u = B [(1 − 2ν) r/b² + 1/r], without pressure outside; B follows from u at the inner radius."""
    mandrel = 'cylindrical = { point = [0, 0, 0], axis = [0, 0, 1], fixed = ["radial"] }\n'
    mandrel += given + '\nhistory = { kind = "ramp", duration = 1 }'
    problem = sx.Scenario.parse(RADIAL.format(mandrel=mandrel)).build()
    path = sx.record(problem.system, problem.integrator, problem.state, [0.0, 0.5, 1.0])
    x = problem.mesh.points
    r, n = np.hypot(x[:, 0], x[:, 1]), len(x)
    a, b, nu, ua = 0.1, 0.2, 0.3, 1e-5
    B = ua * a / (1.0 + (1.0 - 2.0 * nu) * a**2 / b**2)
    exact = B * ((1.0 - 2.0 * nu) / b**2 * r + 1.0 / r)
    for k, part in ((1, 0.5), (2, 1.0)):
        u = path.q[k, :n] - x
        np.testing.assert_allclose((u[:, :2] * x[:, :2]).sum(axis=1) / r, part * exact, rtol=3e-3)
    # 2 W = p u times the face, p of the mandrel.
    p = 2e11 / (1 + nu) * B * (1.0 / a**2 - 1.0 / b**2)
    area = a * np.radians(40) * 0.02
    assert path.energies["work_mandrel"][-1] == pytest.approx(0.5 * p * ua * area, rel=5e-3)


def test_harmonic_motion_of_an_oblique_support():
    """Response to a base that swings obliquely is that of one that swings along x, turned."""
    from symplex.runs.response import find_response

    found, turn = [], np.array([[C, -S, 0.0], [S, C, 0.0], [0.0, 0.0, 1.0]])
    for degrees, grip in (
        (0, 'components = "x"\ndisplacement = [0.01, 0, 0]'),
        (30, f"direction = [{C}, {S}, 0]\nstiffness = 1e9\ndisplacement = [{0.01 * C}, {0.01 * S}, 0]"),
    ):
        text = DRIVEN.format(degrees=degrees, grip=grip, method=METHODS["energy-momentum"])
        text += """
[response]
frequencies = [20.0, 35.0]
at = [{ name = "middle", body = "block", at = [{at}] }]
"""
        at = np.array([0.1, 0.1, 0.1]) @ (np.eye(3) if degrees == 0 else turn.T)
        text = text.replace("{at}", str(at.tolist())[1:-1])
        text = text.replace('name = "grip"', 'name = "grip"\nhistory = { kind = "sine", frequency = 30 }')
        found.append(find_response(sx.Scenario.parse(text)).places["middle"])
    straight, oblique = found
    assert np.abs(straight).max() > 0.005
    np.testing.assert_allclose(oblique, straight @ turn.T, atol=1e-3 * np.abs(straight).max())


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (
            "direction = [1, 0, 0]\nrotation = { point = [0, 0, 0], axis = [0, 0, 1], degrees = 1 }",
            "rotation goes with",
        ),
        ("direction = [1, 1, 0]\ndisplacement = [0.01, 0, 0]", "needs a history"),
        ("direction = [1, 1, 0]\nhistory = { kind = 'ramp', duration = 1 }", "nothing that it could change"),
        (
            "direction = [1, 1, 0]\ndisplacement = [0.01, -0.01, 0]\nhistory = { kind = 'ramp', duration = 1 }",
            "no part along the directions that it holds",
        ),
        (
            "cylindrical = { point = [0, 0, 0], axis = [0, 0, 1], fixed = ['radial'] }\ndisplacement = [0, 1, 0]\n"
            "history = { kind = 'ramp', duration = 1 }",
            "the tangential one is not zero but not among those of fixed",
        ),
        ("direction = [1, 1, 0]\nvelocity = [0, 0, 0]", "velocity is zero"),
        (
            "direction = [1, 1, 0]\ndisplacement = [0.01, 0, 0]\nhistory = { kind = 'table', times = [0, 1e-3], "
            "factors = [0, 1] }",
            "its table goes from 0 to 0.001 s",
        ),
    ],
)
def test_mistakes_of_motions(keys, message):
    with pytest.raises(ScenarioError, match=message):
        sx.Scenario.parse(DRIVEN.format(degrees=0, grip=keys, method=METHODS["energy-momentum"])).build()
