"""Pictures and films: what is drawn is there, and what cannot be drawn is said."""

import numpy as np
import pytest

from symplex.errors import OutputError, RenderError
from symplex.meshes import render
from symplex.meshes.series import Block, open_series, read_series
from symplex.meshes.view import View


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

    path = render.render_film(series, tmp_path / "film.gif", field="speed", size=(320, 200))
    assert path.suffix == ".gif"
    assert len(imageio.mimread(path)) == 8


def test_unknown_fields_and_times_are_refused(series, tmp_path):
    with pytest.raises(RenderError, match="it has: displacement, velocity, von_mises, speed"):
        render.render_still(series, tmp_path / "x.png", field="stress")
    with pytest.raises(OutputError, match="outside"):
        render.render_still(series, tmp_path / "x.png", time=1.0)
    with pytest.raises(RenderError, match="no section"):
        render.render_still(series, tmp_path / "x.png", view=View(section="w"))


def test_without_opengl_the_reason_is_given(series, tmp_path, monkeypatch):
    monkeypatch.setattr(render, "_PROBE", "import os; os.abort()")
    render._probe.cache_clear()
    try:
        with pytest.raises(RenderError, match="signal 6"):
            render.render_still(series, tmp_path / "x.png")
    finally:
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
    assert coloured[0] == coloured[2] > 0.01
