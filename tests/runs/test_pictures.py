"""Which pictures a run draws, and how they look: a film only where it is short or asked for."""

import pytest

from symplex.commands.cli import main
from symplex.errors import RenderError, ScenarioError
from symplex.meshes.pictures.view import View
from symplex.runs import drawing, drawing_processes, pictures
from symplex.runs.drawing import Drawn, Look
from symplex.runs.pictures import draw_all
from symplex.runs.results import RunFolder
from symplex.runs.run import simulate
from symplex.scenario.scenario import Scenario

TEXT = """
[[body]]
name = "block"
mesh = { box = [0.1, 0.1, 0.1], cells = [1, 1, 1], split = "6" }
material = { young = 1e9, poisson = 0.3, density = 1000 }
velocity = [0, 0, -10]
[integrator]
kind = "newmark"
[run]
duration = 2e-4
frames = 4
samples = 4
"""


def folder_of(tmp_path, output=""):
    """Return the folder of a run without pictures."""
    simulate(Scenario.parse(TEXT + output, "small.toml"), tmp_path / "out", progress=False, pictures=False)
    return RunFolder(tmp_path / "out")


@pytest.fixture
def drawn(monkeypatch):
    """Films of 50 frames, each of which takes 0.1 s of a clock, and all else at once; what was drawn."""
    found, clock = [], [0.0]

    def film(series, path, *, progress, **look):
        for k in range(50):
            clock[0] += 0.1
            progress((k + 1) / 50)
        found.append((path.name, look))
        return path

    monkeypatch.setattr(drawing, "perf_counter", lambda: clock[0])
    monkeypatch.setattr(drawing, "render_film", film)
    monkeypatch.setattr(pictures, "is_rendering", lambda: True)
    monkeypatch.setattr(drawing, "plot_history", lambda history, path, **_: path)
    monkeypatch.setattr(drawing_processes, "_are_useful", lambda: False)
    monkeypatch.setattr(
        drawing, "render_snapshots", lambda series, path, *, progress, **look: found.append((path.name, look))
    )
    return found, clock


@pytest.mark.parametrize(
    ("film", "seconds", "is_there", "clocked"),
    [
        ("auto", 24.0, False, 0.3),  # 5 s are more than a fifth of 24 s; three frames report it
        ("auto", 26.0, True, 5.0),
        ("auto", 0.1, False, 0.3),
        ("mp4", 0.1, True, 5.0),
        ("gif", 0.1, True, 5.0),
        ("none", 100.0, False, 0.0),
    ],
)
def test_a_film_is_drawn_where_it_is_short_or_asked_for(tmp_path, drawn, film, seconds, is_there, clocked):
    found, clock = drawn
    folder = folder_of(tmp_path)
    left_out = draw_all(folder, film=film, seconds=seconds)
    names = [name for name, _ in found]
    assert names == ["snapshots.png", *(["film.gif" if film == "gif" else "film.mp4"] if is_there else [])]
    assert clock[0] == pytest.approx(clocked)
    reported = f"it would take about 5 s; draw it with: symplex render {folder.path} --film"
    assert left_out == Drawn(no_film=reported if film == "auto" and not is_there else "")


def test_a_film_is_not_begun_of_which_snapshots_tell_that_it_is_long(tmp_path, drawn, monkeypatch):
    found, clock = drawn
    folder, took = folder_of(tmp_path), 0.6

    def snapshots(series, path, *, progress, **look):
        for part in (0.5, 1.0):
            clock[0] += took
            progress(part)

    monkeypatch.setattr(drawing, "render_snapshots", snapshots)
    left_out = draw_all(folder, film="auto", seconds=1.0)
    assert left_out.no_film.startswith("it would take about 3 s; draw it with: symplex render")
    assert (found, clock[0]) == ([], 1.2)
    took = 0.15  # 5 frames in 0.75 s: whether it is too long, three frames of it report
    draw_all(folder, film="auto", seconds=1.0)
    assert (found, clock[0]) == ([], pytest.approx(1.2 + 0.3 + 0.3))
    draw_all(folder, film="auto", seconds=60.0)
    assert [name for name, _ in found] == ["film.mp4"]


def test_a_run_tells_why_there_is_no_film(tmp_path, drawn, capsys):
    summary = simulate(Scenario.parse(TEXT, "small.toml"), tmp_path / "out")
    assert summary["film_skipped"].startswith("it would take about 5 s")
    said = capsys.readouterr().out
    assert "no film: it would take about 5 s; draw it with: symplex render" in said
    assert "drawing the film" not in said  # before it is known whether there will be one
    assert RunFolder(tmp_path / "out").read_summary()["film_skipped"] == summary["film_skipped"]


def test_pictures_look_as_the_scenario_says_and_the_command_line_says_otherwise(tmp_path, drawn, capsys):
    found, _ = drawn
    folder = folder_of(
        tmp_path,
        '[output.view]\nfield = "speed"\ndirection = "-x"\nup = "y"\nslice = "z=0.02"\nscale = 3.0\ntimes = [1e-4]\n'
        'size = [640, 400]\ndpi = 80.0\norbit = 90\nto = "z"\n',
    )
    view = View((-1, 0, 0), (0, 1, 0), "z", (0, 0, 0.02), scale=3.0, to=(0, 0, 1), orbit=90.0)
    table = pictures.view_table(folder)
    assert Look.of(table) == Look("speed", view, [1e-4], 640, 400, 80.0)
    draw_all(folder, film="gif", seconds=1.0, look=Look.of(table))
    still, film = found
    sizes = {"times": [1e-4], "width": 640, "height": 400, "dpi": 80.0}
    assert still == ("snapshots.png", {"field": "speed", "view": view} | sizes)
    assert film == ("film.gif", {"field": "speed", "view": view, "size": (640, 400)})
    found.clear()
    assert (
        main(["render", str(folder.path), "--at", "2e-4", "--scale", "1", "--to", "-y", "--size", "701", "--film"]) == 0
    )
    still, film = found
    assert still[0] == "snapshot.png"
    assert still[1]["times"] == [2e-4]
    assert (still[1]["width"], still[1]["height"], still[1]["dpi"]) == (701, None, 80.0)
    assert (film[1]["view"].to, film[1]["view"].scale, film[1]["view"].orbit) == ((0, -1, 0), 1.0, 90.0)
    assert film[1]["size"] == (702, 438)
    found.clear()
    assert main(["render", str(folder.path)]) == 0
    assert [name for name, _ in found] == ["snapshots.png"]  # no film unasked


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('direction = "sideways"', "direction is 'sideways', no direction; take auto, x"),
        ('up = "1,2"', "up is '1,2', no direction; take auto"),
        ('slice = "w"', "slice is 'w', no section; take x, y or z"),
        ("scale = -1", "scale must be at least 0, got -1"),
        ("size = [1, 2]", "size is [1, 2], but a picture has 64 to 10,000 pixels each way, not 1"),
        ("size = 600", "size must be the width and the height in pixels, such as [1600, 900], got 600"),
        ("dpi = 5000", "dpi is 5000, but a picture has 10 to 1200 pixels in an inch, not 5,000"),
        ("orbit = 1e9", "orbit must be from -3600 to 3600, got 1e+09"),
        ("colour = 1", "unknown key 'colour'"),
    ],
)
def test_views_of_scenarios_that_are_none_are_told(line, why):
    with pytest.raises(ScenarioError) as error:
        Scenario.parse(f"{TEXT}[output.view]\n{line}\n", "small.toml")
    assert "[output" in str(error.value)
    assert why.replace("5,000", "5000") in str(error.value)


def test_an_mp4_that_cannot_be_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(drawing, "render_film", lambda series, path, **_: path.with_suffix(".gif"))
    with pytest.raises(RenderError, match="needs the package imageio-ffmpeg"):
        pictures.draw_film(folder_of(tmp_path), "mp4")


def test_how_a_run_looks_may_change_before_it_is_resumed(tmp_path):
    folder = folder_of(tmp_path)
    changed = Scenario.parse(TEXT + '[output.view]\nscale = 2.0\ntimes = [0.0, 1e-4]\nfield = "speed"\n', "small.toml")
    assert simulate(changed, folder.path, resume=True, progress=False)["status"] == "finished"
