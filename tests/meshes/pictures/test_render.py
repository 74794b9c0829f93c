"""Pictures and films: what is drawn is there, and what cannot be drawn is said."""

import os

import numpy as np
import pytest
from vtkmodules.vtkCommonCore import vtkVersion

from symplex.errors import OutputError, RenderError
from symplex.meshes.generate import box
from symplex.meshes.pictures import film, render
from symplex.meshes.pictures.scene import Scene
from symplex.meshes.pictures.section import Section
from symplex.meshes.pictures.view import Camera, View, _axes
from symplex.meshes.pictures.words import size_of, view_of
from symplex.meshes.series.series import Block, open_series, read_series


@pytest.fixture(scope="module")
def series(tmp_path_factory):
    """A tetrahedron that moves along x, before a wall."""
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
    wall = Block.obstacle(
        [[2, -1, -1], [2, 2, -1], [2, 2, 2], [2, -1, 2]], {"quad": np.array([[0, 1, 2, 3]], np.int32)}
    )
    blocks = {"body": Block.of({"tetra": np.array([[0, 1, 2, 3]], np.int32)}), "wall": wall}
    path = tmp_path_factory.mktemp("series") / "run.vtkhdf"
    with open_series(path, points, blocks) as written:
        for i in range(8):
            moved = np.tile([0.1 * i, 0.0, 0.0], (4, 1))
            written.append(i * 1e-6, moved, {"velocity": moved}, {"von_mises": {"body": [1e6 * i]}})
    return read_series(path)


@pytest.fixture(scope="module")
def drawing():
    try:
        render.require_rendering()
    except RenderError as error:
        pytest.skip(str(error))


def pixels(path):
    import imageio.v2 as imageio

    return np.asarray(imageio.imread(path))[..., :3].astype(float)


@pytest.mark.usefixtures("drawing")
@pytest.mark.parametrize("view", [View(), View(section="z"), View(direction=(0, -1, 0), zoom=1.5)])
def test_snapshots(series, tmp_path, view, capfd):
    path = render.render_snapshots(series, tmp_path / "panel.png", times=[0, 3e-6, 7e-6], view=view, width=900)
    image = pixels(path)
    assert image.shape[1] == 900
    for k in range(3):
        panel = image[60:-20, 250 * k + 10 : 250 * (k + 1)]
        assert (panel.max(axis=-1) - panel.min(axis=-1) > 60).mean() > 0.005  # something coloured on the white ground
    assert capfd.readouterr().err == ""


@pytest.mark.usefixtures("drawing")
def test_film(series, tmp_path):
    import imageio.v2 as imageio

    path = film.render_film(series, tmp_path / "film.gif", field="speed", size=(320, 200))
    assert path.suffix == ".gif"
    assert len(imageio.mimread(path)) == 8


def test_unknown_fields_and_times_are_refused(series, tmp_path):
    with pytest.raises(RenderError, match="it has: displacement, velocity, von_mises, speed"):
        render.render_still(series, tmp_path / "x.png", field="stress")
    with pytest.raises(OutputError, match="outside"):
        render.render_still(series, tmp_path / "x.png", time=1.0)
    with pytest.raises(RenderError, match="no section"):
        render.render_still(series, tmp_path / "x.png", view=View(section="w"))
    with pytest.raises(RenderError, match="not all zero"):
        render.render_still(series, tmp_path / "x.png", view=View(up=(0, 0, 0)))
    with pytest.raises(OutputError, match="a picture is written as"):
        render.render_still(series, tmp_path / "x.vtkhdf")
    with pytest.raises(RenderError, match=r"written as \.mp4 or \.gif"):
        film.render_film(series, tmp_path / "film.avi")
    assert not list(tmp_path.iterdir())


def test_without_opengl_the_reason_is_given(series, tmp_path, monkeypatch):
    monkeypatch.setattr(render, "_PROBE", "import os; os.abort()")
    render._probe.cache_clear()
    try:
        with pytest.raises(RenderError, match="signal 6"):
            render.render_still(series, tmp_path / "x.png")
    finally:
        render._probe.cache_clear()


def test_a_test_picture_that_was_drawn_is_remembered_for_a_day(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    done = f"open({str(tmp_path / 'runs')!r}, 'a').write('x')"
    for program, runs in [(done, 1), (done, 1), (f"{done} ", 2), (f"{done}; raise SystemExit(3)", 3)]:
        monkeypatch.setattr(render, "_PROBE", program)
        render._probe.cache_clear()
        assert render._probe() == ("a test picture ended with status 3" if runs == 3 else "")
        assert len((tmp_path / "runs").read_text()) == runs
    monkeypatch.setattr(render, "_PROBE", f"{done} ")
    yesterday = (tmp_path / "symplex/rendering").stat().st_mtime - 86401.0
    for change in (lambda: os.utime(tmp_path / "symplex/rendering", (yesterday, yesterday)),
                   lambda: monkeypatch.setenv("DISPLAY", ":elsewhere")):  # fmt: skip
        change()
        runs += 1
        render._probe.cache_clear()
        assert render._probe() == ""
        assert len((tmp_path / "runs").read_text()) == runs
    render._probe.cache_clear()


@pytest.mark.usefixtures("drawing")
@pytest.mark.parametrize("view", [View(), View(section="x", origin=(0.5, 0.0, 0.0))])
def test_a_later_picture_shows_nothing_of_an_earlier_one(series, tmp_path, view):
    """The actors stay from frame to frame; the section at x = 0.5 is left by the body behind it."""
    both = pixels(render.render_snapshots(series, tmp_path / "both.png", times=[0, 6e-6], view=view, width=930))
    again = pixels(render.render_snapshots(series, tmp_path / "again.png", times=[6e-6, 0], view=view, width=930))
    first, second = both[60:-20, 10:390], both[60:-20, 410:790]
    assert np.abs(first - second).mean() > 1.0
    np.testing.assert_allclose(again[60:-20, 10:390], second, atol=2)
    np.testing.assert_allclose(again[60:-20, 410:790], first, atol=2)


@pytest.mark.usefixtures("drawing")
def test_a_body_that_leaves_the_section_is_gone_and_comes_back(series, tmp_path):
    view = View(section="x", origin=(0.05, 0.0, 0.0))
    image = pixels(
        render.render_snapshots(series, tmp_path / "x.png", times=[0, 3e-6, 0], view=view, columns=3, width=930)
    )
    coloured = [(np.ptp(image[60:-20, 266 * k + 10 : 266 * k + 260], axis=-1) > 60).mean() for k in range(3)]
    assert coloured[1] == 0.0
    newest = (vtkVersion.GetVTKMajorVersion(), vtkVersion.GetVTKMinorVersion()) >= (9, 7)
    assert coloured[0] == pytest.approx(coloured[2], abs=0.0 if newest else 0.005)  # edges of two pixels before
    assert coloured[2] > 0.01


# -- what points up --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("normals", "up"),
    [
        ([], "z"),
        ([(0, 0, 1)], "z"),
        ([(0, 1, 0)], "y"),
        ([(0.3, 0.9, 0)], "y"),
        ([(0, 1, 0), (0, 0, 1)], "z"),
        ([(1, 0, 0)], "z"),
        ([(0, -1, 0)], "z"),
        ([(0, 0, -1)], "z"),
        ([(0, -1, -1)], "z"),
    ],
)
def test_up_is_away_from_a_floor(normals, up):
    facing = [np.array(n) / np.linalg.norm(n) for n in normals]
    eye, right, upwards = _axes(View(), facing)
    axis = np.eye(3)["xyz".index(up)]
    assert eye @ axis > 0
    assert upwards @ axis > 0.5
    assert right @ axis == pytest.approx(0)
    np.testing.assert_allclose(np.cross(right, upwards), eye, atol=1e-12)
    np.testing.assert_allclose(_axes(View(direction=(0.3, 0.2, 0.1), up=(0, 0, -1)), facing)[2][2], -0.9636, atol=1e-4)


@pytest.mark.parametrize("up", [(0, 0, 1), (0, 1, 0), (0, 0, -1), (1, 0, 0), (0.2, 0.9, -0.4)])
def test_from_above_a_picture_is_upright_too(up):
    eye, right, upwards = _axes(View(direction=up, up=up), [])
    assert abs(upwards @ np.array(up)) < 1e-12
    np.testing.assert_allclose(np.cross(right, upwards), eye, atol=1e-12)
    if up in ((0, 0, 1), (0, 1, 0)):
        np.testing.assert_allclose(right, [1, 0, 0], atol=1e-12)


# -- sections --------------------------------------------------------------------------------------------------


def section_through(intervals, normal=(0.0, 0.0, 1.0), origin=None):
    """Return a section through tetrahedra that lie between places on the z axis, and their positions."""
    shape = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
    positions = {f"body {k}": shape * [1, 1, high - low] + [0, 0, low] for k, (low, high) in enumerate(intervals)}
    bodies = {
        name: Block(4 * k + np.arange(4, dtype=np.int32), {"tetra": 4 * k + np.arange(4, dtype=np.int32)[None]})
        for k, name in enumerate(positions)
    }
    return Section(np.array(normal), origin, bodies, positions), positions


@pytest.mark.parametrize(
    ("intervals", "place"),
    [
        ([(0, 1)], 0.5),
        ([(0, 1), (0.5, 2.5)], 0.75),
        ([(0, 1), (2, 3)], 0.5),
        ([(0, 1), (5, 6), (5.5, 6.5)], 5.75),
        ([(0, 1), (0.2, 0.8), (0.9, 3.1)], 0.95),
    ],
)
def test_a_section_cuts_as_many_bodies_as_it_can(intervals, place):
    section, positions = section_through(intervals)
    assert section.plane(positions).origin[2] == pytest.approx(place)
    assert section.cuts(positions)
    # It goes along.
    later = {name: points + np.array([7.0, 0.0, 3.0]) for name, points in positions.items()}
    assert section.plane(later).origin[2] == pytest.approx(place + 3.0)


def test_a_section_through_the_middle_of_all_stays_there():
    section, positions = section_through([(0, 2), (0, 4)])
    assert section.plane(positions).origin[2] == pytest.approx(1.0)
    fixed, positions = section_through([(0, 2), (0, 4)], origin=(9.0, 9.0, 3.5))
    assert fixed.plane(positions).origin[2] == pytest.approx(3.5)
    assert fixed.cuts(positions)


def test_a_section_may_lie_between_cells():
    mesh = box([1.0, 1.0, 1.0], [2, 2, 2], split="hexahedra")
    positions = {"block": mesh.points}
    bodies = {"block": Block.of({"hexahedron": mesh.cells["hexahedron"]})}
    section = Section(np.array([1.0, 0.0, 0.0]), None, bodies, positions)
    np.testing.assert_array_equal(section.plane(positions).origin, [0.5, 0, 0])
    for place, is_cut in ((0.5, True), (0.1, True), (0.0, False), (1.0, False), (2.0, False)):
        assert Section(np.array([1.0, 0.0, 0.0]), (place, 0.0, 0.0), bodies, positions).cuts(positions) == is_cut


def test_a_section_finds_a_cell_where_a_body_is_hollow():
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
    positions = {"two parts": np.concatenate([points, points + np.array([0, 0, 9.0])])}
    block = Block.of({"tetra": np.arange(8, dtype=np.int32).reshape(2, 4)})
    section = Section(np.array([0.0, 0.0, 1.0]), None, {"two parts": block}, positions)
    assert section.cuts(positions)


def test_a_section_that_meets_nothing_is_told(series, tmp_path):
    with pytest.raises(RenderError, match=r"meets no body in what is to be drawn; .* between 0 m and 1 m"):
        render.render_still(series, tmp_path / "x.png", view=View(section="z", origin=(0, 0, 1.5)))
    with pytest.raises(RenderError, match="edge on"):
        render.render_still(series, tmp_path / "x.png", view=View(section="z", direction=(1, 0, 0)))
    with pytest.raises(RenderError, match="the point of a section"):
        render.render_still(series, tmp_path / "x.png", view=View(section="z", origin=(0, 0, np.nan)))


@pytest.mark.usefixtures("drawing")
def test_bodies_beside_each_other_are_not_missed(tmp_path):
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
    points = np.concatenate([points, points + np.array([0, 0, 5])])
    blocks = {
        name: Block.of({"tetra": np.arange(first, first + 4, dtype=np.int32)[None]})
        for name, first in (("below", 0), ("above", 4))
    }
    with open_series(tmp_path / "run.pvd", points, blocks) as written:
        written.append(0.0, np.zeros((8, 3)), {"velocity": points})
    found = read_series(tmp_path / "run.pvd")
    picture = render.render_still(found, tmp_path / "x.png", field="speed", view=View(section="z"))
    image = pixels(picture)[60:-20, :-140]
    assert (np.ptp(image, axis=-1) > 60).mean() > 0.01


@pytest.mark.usefixtures("drawing")
def test_a_body_of_no_thickness_is_seen_edge_on(tmp_path):
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0.0]])
    blocks = {"plate": Block.of({"triangle": np.array([[0, 1, 2], [1, 3, 2]], np.int32)})}
    with open_series(tmp_path / "run.pvd", points, blocks) as written:
        written.append(0.0, np.zeros((4, 3)), {"velocity": points + 1})
    found = read_series(tmp_path / "run.pvd")
    picture = render.render_still(found, tmp_path / "x.png", field="speed", view=View(direction=(1, 0, 0.02)))
    assert (pixels(picture)[60:-20, :-140].min(axis=-1) < 200).mean() > 0.001


# -- sizes, enlarged displacements, ways of the camera ---------------------------------------------------------------


@pytest.mark.usefixtures("drawing")
def test_pictures_have_the_size_that_is_asked_for(series, tmp_path):
    for width, height, dpi, expected in (
        (640, 400, None, (400, 640)),
        (700, None, 200, (None, 700)),
        (None, None, 20, (None, 320)),
    ):
        path = render.render_snapshots(series, tmp_path / "x.png", times=[0], width=width, height=height, dpi=dpi)
        shape = pixels(path).shape[:2]
        assert all(abs(a - b) <= 3 for a, b in zip(shape, expected, strict=True) if b is not None)
    for suffix in (".pdf", ".svg"):
        path = render.render_snapshots(series, tmp_path / f"x{suffix}", times=[0], width=900)
        assert path.stat().st_size > 10_000


@pytest.mark.parametrize(
    ("size", "why"),
    [
        ({"width": 10}, "64 to 10,000 pixels each way, not 10"),
        ({"width": 900, "height": 20_000}, "not 20,000"),
        ({"dpi": 5.0}, "10 to 1200 pixels in an inch, not 5"),
        ({"dpi": float("nan")}, "not nan"),
        ({"width": 400, "dpi": 400.0}, "1 inches at 400 dpi, too few for letters"),
    ],
)
def test_sizes_that_no_picture_has_are_refused(series, tmp_path, size, why):
    with pytest.raises(OutputError, match=why):
        render.render_snapshots(series, tmp_path / "x.png", **size)
    assert not (tmp_path / "x.png").exists()


def test_displacements_are_enlarged(series):
    frame = series.frame(-1)
    assert np.abs(frame.displacement).max() > 0
    (name,) = (name for name, block in series.blocks.items() if not block.is_obstacle)
    nodes = series.blocks[name].nodes
    for factor in (0.0, 1.0, 4.0):
        moved = Scene(series, "displacement", View(scale=factor), [0])._moved(frame)[name]
        np.testing.assert_array_equal(moved, series.points[nodes] + factor * frame.displacement[nodes])


def test_the_camera_goes_round_and_from_one_direction_to_another():
    orbit = View(direction=(1, 0, 0), up=(0, 0, 1), orbit=180.0)
    for part, expected in ((0.0, (1, 0, 0)), (0.5, (0, 1, 0)), (1.0, (-1, 0, 0))):
        eye, right, up = _axes(orbit, [], part)
        np.testing.assert_allclose(eye, expected, atol=1e-12)
        np.testing.assert_allclose(up, (0, 0, 1), atol=1e-12)
        np.testing.assert_allclose(right, np.cross(up, eye), atol=1e-12)
    there = View(direction=(1, 0, 0), up=(0, 0, 1), to=(0, 0, 1))
    for part, angle in ((0.0, 0.0), (0.5, np.pi / 4), (1.0, np.pi / 2)):
        eye, _, _ = _axes(there, [], part)
        np.testing.assert_allclose(eye, (np.cos(angle), 0, np.sin(angle)), atol=1e-12)
    back = View(direction=(1, 0, 0), up=(0, 0, 1), to=(-1, 0, 0))  # any way is the shortest: about what points up
    np.testing.assert_allclose(_axes(back, [], 0.5)[0], (0, 1, 0), atol=1e-12)


def test_the_camera_sees_everything_on_its_way():
    low, high = np.array([0.0, 0.0, 0.0]), np.array([10.0, 1.0, 1.0])
    still = Camera(View(direction=(1, 0, 0)), low, high, []).plain()
    moving = Camera(View(direction=(1, 0, 0), orbit=90.0), low, high, []).plain()
    assert still["half_width"] == pytest.approx(0.54)
    assert moving["half_width"] > 5.0


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ({"direction": "sideways"}, "no view; take auto, x"),
        ({"to": "1,2"}, "no view"),
        ({"up": "north"}, "no upward direction"),
        ({"section": "w=1"}, "no section; take x, y or z"),
        ({"scale": -1.0}, "from 0 on, not -1"),
        ({"scale": float("inf")}, "not inf"),
        ({"orbit": float("nan")}, "not nan"),
    ],
)
def test_words_that_are_no_view_are_told(words, why):
    with pytest.raises(ValueError, match=why):
        view_of(**words)


def test_sizes_from_words():
    assert size_of("1600") == (1600, None)
    assert size_of("1920x1080") == (1920, 1080)
    for word in ("", "x", "1e3", "-5", "1x2x3", "8", "٢٠٠"):
        with pytest.raises(ValueError, match=r"no size|pixels each way"):
            size_of(word)


def written(path, points, blocks, motion, fields=lambda i: {}):
    """Return a series of the given displacements [frames, n, 3]."""
    with open_series(path, np.asarray(points, float), {k: Block.of(v) for k, v in blocks.items()}) as series:
        for i, moved in enumerate(motion):
            series.append(0.1 * i, moved, {}, fields(i))
    return read_series(path)


BARS = {"line": np.array([[0, 1], [1, 2], [0, 2]], np.int32)}
CORNERS = [[0, 0, 0], [1, 0, 0], [0, 0, 1]]


@pytest.mark.parametrize("eye", [(0, -1, 0), (0, 0, 1), (1, 0, 0)])
def test_planar_trusses_are_seen_from_the_front(tmp_path, eye):
    points = np.zeros((3, 3))
    first, second = [k for k in range(3) if not eye[k]]
    points[1, first] = points[2, second] = 1.0
    planar = written(tmp_path / "planar.vtkhdf", points, {"truss": BARS}, np.zeros((2, 3, 3)))
    assert Scene(planar, "displacement", View(), [0, 1]).camera.plain()["eye"] == pytest.approx(list(eye))
    out = np.zeros((2, 3, 3))
    out[1, 1] = 0.1 * np.array(eye)
    spatial = written(tmp_path / "spatial.vtkhdf", points, {"truss": BARS}, out)
    assert Scene(spatial, "displacement", View(), [0, 1]).camera.plain()["eye"] != pytest.approx(list(eye))
    given = Scene(planar, "displacement", View(direction=(1, 1, 1)), [0]).camera.plain()["eye"]
    assert given == pytest.approx([3**-0.5] * 3)


def test_scales_of_forces_are_about_zero(tmp_path):
    def forces(i):
        return {"axial_force": {"truss": np.array([3.0, 1.0, 0.5]) * i}}

    pulled = written(tmp_path / "a.vtkhdf", CORNERS, {"truss": BARS}, np.zeros((2, 3, 3)), forces)
    scene = Scene(pulled, "axial_force", View(), [0, 1])
    assert scene.is_diverging
    assert scene.limits[0] == -scene.limits[1] < -2.9
    assert not Scene(pulled, "displacement", View(), [0, 1]).is_diverging


class Shown:
    """A plotter that keeps what it is given."""

    window_size = (100, 100)

    def __init__(self):
        self.actors, self.meshes, self.numbers = {}, {}, []

    def add_mesh(self, mesh, name, **look):
        self.meshes[name] = mesh

    def add_point_labels(self, points, labels, **look):
        self.numbers = dict(zip(labels, points, strict=True))


def test_members_have_numbers(tmp_path):
    plotter = Shown()
    truss = written(tmp_path / "a.vtkhdf", CORNERS, {"truss": BARS}, np.zeros((1, 3, 3)))
    Scene(truss, "displacement", View(), [0]).show(plotter, 0)
    assert list(plotter.numbers) == ["0", "1", "2"]
    assert plotter.numbers["1"] == pytest.approx([0.5, 0, 0.5])


def test_particles_leave_trails_and_bodies_turn_about_marked_axes(tmp_path):
    t = np.linspace(0.0, 1.0, 12)
    circle = np.stack([np.cos(t) - 1, np.sin(t), 0 * t], axis=-1)
    motion = np.zeros((12, 5, 3))
    motion[:, 0] = circle
    points = [[1, 0, 0], [5, 0, 0], [0, -1, 1], [0, 1, 1], [1, 0, 1]]
    blocks = {
        "planet": {"vertex": np.array([[0]], np.int32)},
        "star": {"vertex": np.array([[1]], np.int32)},
        "top": {"triangle": np.array([[2, 3, 4]], np.int32)},
    }
    series = written(tmp_path / "a.vtkhdf", points, blocks, motion)
    plotter = Shown()
    Scene(series, "displacement", View(pivots=(("top", (0.0, 0.0, 0.0)),)), [0, 11]).show(plotter, 11)
    trail = plotter.meshes["trail planet"]
    assert trail.points == pytest.approx(np.array(points[0]) + circle, abs=1e-6)
    assert "trail star" not in plotter.meshes  # at rest
    assert plotter.meshes["pivot top"].points == pytest.approx(np.zeros((1, 3)))
    end = plotter.meshes["axis top"].points[1]
    assert np.cross(end, np.mean(points[2:], axis=0)) == pytest.approx(np.zeros(3), abs=1e-6)
    assert end[2] > 1.0


@pytest.mark.usefixtures("drawing")
def test_what_flies_far_fills_its_pictures(tmp_path):
    """With displacements enlarged, a body is a hundred times its size away."""
    points = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]]
    away = np.arange(4.0)[:, None, None] * np.ones((4, 3))
    body = {"body": {"tetra": np.array([[0, 1, 2, 3]], np.int32)}}
    series = written(tmp_path / "a.vtkhdf", points, body, away)
    for view in (View(scale=100), View(scale=100, section="z")):
        path = render.render_snapshots(
            series, tmp_path / "a.png", field="displacement", view=view, times=[0, 0.2], width=700
        )
        image = pixels(path)[44:, :-130]
        for half in np.array_split(image, 2, axis=1):
            assert (np.ptp(half, axis=-1) > 40).mean() > 0.02
