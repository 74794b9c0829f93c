"""What the window shows changes with time, field and cut; without a display it is refused in a sentence."""

from itertools import pairwise

import numpy as np
import pytest

from symplex.errors import RenderError
from symplex.meshes.generate import box
from symplex.meshes.pictures import render, window
from symplex.meshes.pictures.section import Plane
from symplex.meshes.pictures.view import View
from symplex.meshes.series.series import Block, open_series, read_series


@pytest.fixture
def series(tmp_path):
    mesh = box((1.0, 1.0, 1.0), (2, 2, 2), split="6")
    cells = mesh.cells["tetra"]
    path = tmp_path / "motion.vtkhdf"
    with open_series(path, mesh.points, {"cube": Block.of({"tetra": cells})}) as writer:
        for k in range(3):
            stretched = mesh.points * np.array([0.3 * k, 0.0, 0.0])
            stress = {"von_mises": {"cube": np.linspace(0.0, k + 1.0, len(cells))}}
            writer.append(k * 1e-3, stretched, {"velocity": stretched}, stress)
    return read_series(path)


@pytest.mark.usefixtures("drawing")
def test_time_fields_edges_and_cuts_change_what_is_seen(series):
    with render.plotter_of(300, 200) as plotter:
        shown = window.Window(series, "von_mises", View(section="z"), plotter)
        assert shown.fields == ["von_mises", "displacement", "speed", "body"]

        def picture():
            return np.asarray(plotter.screenshot(None, return_img=True)).astype(int)

        seen = [picture()]
        for change in (
            lambda: shown.show_cut(None),
            lambda: shown.show_frame(2),
            lambda: shown.show_edges(False),
            lambda: shown.show_field("speed"),
            lambda: shown.show_field("body"),
            lambda: shown.show_cut(Plane(np.array([1.0, 0, 0]), np.array([0.4, 0.5, 0.5]))),
        ):
            change()
            seen.append(picture())
        for before, after in pairwise(seen):
            assert (np.abs(before - after).max(axis=-1) > 20).mean() > 0.002
        shown.show_frame(99)
        assert shown.index == 2


@pytest.mark.parametrize(
    ("display", "why"), [("", "not set"), (":9876", "does not answer"), ("nonsense", "not answer")]
)
def test_without_a_display_there_is_a_sentence(series, monkeypatch, display, why):
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("DISPLAY", display)
    with pytest.raises(RenderError, match=rf"no window can be opened here: .*{why}.*; take the page\.$"):
        window.open_window(series, "von_mises", View(), "a run", "take the page")
