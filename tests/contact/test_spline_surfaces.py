"""Smooth surfaces: closest points, gaps, normals and curvatures against spheres, and bodies that meet them."""

import numpy as np
import pytest

import symplex as sx
from symplex.contact import MovingObstacleContact, RigidContact, SplineContact, SplineSurface
from symplex.errors import InvalidSystem, ScenarioError
from symplex.fem.mass_properties import MassProperties


def cap(n, radius=2.0):
    """Points [n, n, 3] of a sphere about the origin, of its upper part."""
    a, b = np.meshgrid(np.linspace(-0.6, 0.6, n), np.linspace(-0.6, 0.6, n), indexing="ij")
    return radius * np.stack([np.sin(a), np.cos(a) * np.sin(b), np.cos(a) * np.cos(b)], axis=-1)


def wavy(flip=False):
    a, b = np.meshgrid(np.linspace(0, 1, 8), np.linspace(0, 1, 9), indexing="ij")
    return SplineSurface(np.stack([a, b, 0.1 * np.sin(3 * a + b)], -1), flip=flip)


def directions(count=100, within=0.4):
    rng = np.random.default_rng(0)
    d = np.column_stack([rng.uniform(-within, within, (count, 2)), np.ones(count)])
    return d / np.linalg.norm(d, axis=1)[:, None], rng.uniform(1.5, 2.5, count)


def test_it_shows_what_it_is_and_refuses_other_places():
    assert repr(wavy(flip=True)) == "SplineSurface(8 × 9 points, degree=3, flip=True)"
    for found in (wavy().closest, wavy().gap):
        with pytest.raises(InvalidSystem, match=r"points have shape \(2, 2\), expected \(m, 3\)"):
            found(np.zeros((2, 2)))


def test_nearest_points_far_beyond_the_edges_are_found():
    places = np.array([[20.0, 0.5, 0.3], [100.0, -50.0, 1.0], [0.5, 1000.0, -2.0]])
    found = wavy().closest(places)
    across = np.cross(places - found.points, found.normals)
    assert np.abs(across).max() < 1e-9


def test_gap_normal_and_curvature_of_a_sphere_converge():
    """Of a bicubic surface the gap is of fourth order, the normal of third, the curvature of second at least."""
    d, r = directions()
    across = (np.eye(3) - d[:, :, None] * d[:, None, :]) / r[:, None, None]
    errors = []
    for n in (11, 21, 41):
        found = SplineSurface(cap(n)).closest(d * r[:, None])
        errors.append(
            [
                np.abs(found.gaps - (r - 2.0)).max(),
                np.abs(found.normals - d).max(),
                np.abs(found.curvatures - across).max(),
            ]
        )
    orders = np.log2(np.array(errors)[:-1] / np.array(errors)[1:])
    assert (orders > [3.7, 2.7, 1.8]).all()
    assert errors[-1][0] < 2e-8
    assert errors[-1][2] < 1e-4


@pytest.mark.parametrize("flip", [False, True])
def test_derivatives_are_those_of_the_gap_also_beyond_the_edges(flip):
    surface = wavy(flip)
    x = np.random.default_rng(1).uniform(-1, 2, (200, 3)) * [1, 1, 0.1] + [0, 0, 0.05]
    at, h = surface.closest(x), 1e-6
    assert (np.abs(at.parameters - 0.5) > 0.5).any()
    for i, e in enumerate(h * np.eye(3)):
        above, below = surface.closest(x + e), surface.closest(x - e)
        np.testing.assert_allclose((above.gaps - below.gaps) / (2 * h), at.normals[:, i], atol=1e-8)
        np.testing.assert_allclose((above.normals - below.normals) / (2 * h), at.curvatures[:, :, i], atol=1e-7)
    np.testing.assert_allclose(np.abs(np.linalg.norm(x - at.points, axis=1) - np.abs(at.gaps)), 0.0, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("carrier", [None, 0])
def test_its_contact_keeps_its_promises(carrier):
    q = np.vstack([[0.0, 0.0, 0.0], np.random.default_rng(2).uniform(0.1, 0.9, (6, 3)) * [1, 1, 0.02]])
    sx.testing.check_energy(SplineContact(np.arange(1, 7), wavy(), 1e4, carrier), q, length=0.3)


@pytest.mark.slow
def test_it_moves_and_turns_with_a_frame():
    properties = MassProperties(2.0, np.array([0.5, 0.5, -0.2]), np.array([0.3, 0.2, 0.25]))
    frame = np.arange(4)
    q = np.vstack([properties.particles, np.random.default_rng(2).uniform(0.1, 0.9, (5, 3)) * [1, 1, 0.02]])
    energy = MovingObstacleContact(np.arange(4, 9), wavy(), 1e4, frame, properties)
    sx.testing.check_energy(energy, q, length=0.3)
    axis, angle = np.array([1.0, 2.0, 3.0]) / np.sqrt(14.0), 0.7
    K = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    turn = np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K
    np.testing.assert_allclose(energy.gaps(q @ turn.T + [1, 2, 3]), energy.gaps(q), atol=1e-12)


def test_what_makes_no_surface_is_refused():
    with pytest.raises(InvalidSystem, match="more than 3 rows and columns"):
        SplineSurface(np.zeros((3, 5, 3)))
    with pytest.raises(InvalidSystem, match="no normal at"):
        SplineSurface(np.zeros((5, 5, 3)))
    with pytest.raises(InvalidSystem, match="take SplineContact"):
        RigidContact([0], wavy(), 1.0)


BOWL = """
[[body]]
name = "ball"
mesh.ball = {{ radius = 0.05, cells = [1, 2] }}
translate = [0.02, 0, {height}]
material = {{ young = 1e6, poisson = 0.3, density = 1000 }}
[[obstacle]]
name = "bowl"
kind = "spline"
stiffness = 2e4
{keys}
[gravity]
acceleration = [0, 0, -9.81]
[integrator]
kind = "{method}"
dt = {dt}
[run]
duration = 0.03
frames = 2
"""
MAP = 'map = ["u", "v", "2*(u**2 + v**2)"]\nu = [-0.3, 0.3]\nv = [-0.3, 0.3]\ncells = [8, 8]\n'


@pytest.mark.parametrize(
    ("keys", "method", "dt"),
    [
        pytest.param(MAP + "friction = 0.2", "energy-momentum", "1e-3", marks=pytest.mark.slow),
        pytest.param(MAP + "velocity = [0, 0, 0.2]", "energy-momentum", "1e-3", marks=pytest.mark.slow),
        pytest.param(MAP + "angular_velocity = [0, 0.5, 0]", "energy-momentum", "1e-3", marks=pytest.mark.slow),
        (MAP, "newmark", '"auto"'),
    ],
)
def test_a_ball_falls_into_a_bowl(keys, method, dt):
    text = BOWL.format(height=0.052, keys=keys, method=method, dt=dt)
    problem = sx.Scenario.parse(text).build()
    path = sx.record(problem.system, problem.integrator, problem.state, [0.0, 0.015, 0.03])
    assert max(path.energies["bowl"]) > 1e-5
    limit = 1e-10 if method == "energy-momentum" else 1e-3
    scale = np.ptp(path.energies["kinetic"])
    assert np.ptp(path.energies["balance" if "balance" in path.energies else "total"]) < limit * scale


def test_points_from_a_file_are_those_of_a_formula(tmp_path):
    u = np.linspace(-0.3, 0.3, 9)
    grid = [[a, b, 2 * (a**2 + b**2)] for a in u for b in u]
    np.savetxt(tmp_path / "die.csv", grid, delimiter=",", header="x,y,z", comments="")
    inline = np.array(grid).reshape(9, 9, 3).tolist()
    gaps = []
    for keys in (MAP, 'file = "die.csv"\nrows = 9', f"points = {inline}"):
        (tmp_path / "a.toml").write_text(BOWL.format(height=0.08, keys=keys, method="newmark", dt='"auto"'), "utf-8")
        problem = sx.Scenario.read(tmp_path / "a.toml").build()
        gaps.append(problem.system.energies["bowl"].gaps(problem.state.q))
    np.testing.assert_allclose(gaps[1], gaps[0], atol=1e-12)
    np.testing.assert_allclose(gaps[2], gaps[0], atol=1e-12)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("", "needs one source of points, file, map"),
        (MAP + "mass = 1", "a surface has no volume"),
        ('file = "a.csv"', "rows goes with file"),
        (MAP.replace("u = [-0.3, 0.3]", "u = [1, 0]"), "two ascending numbers"),
        (MAP.replace("u**2", "w"), "'w' is not known"),
        ("points = [[[0, 0, 0], [1, 0, 0]], [[0, 1, 0]]]", "rows of one length"),
        ("points = [[[0, 0, 0], [1, 0, 0]]]", "more than 3 rows"),
        (MAP.replace("2*(u**2 + v**2)", "1/u"), "has no value"),
    ],
)
def test_mistakes(keys, message):
    with pytest.raises(ScenarioError, match=message):
        sx.Scenario.parse(BOWL.format(height=0.08, keys=keys, method="newmark", dt='"auto"')).build()
