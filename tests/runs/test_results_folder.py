"""The results folder: what is a run's there and what the user's, which is neither removed nor written over."""

import json
import shutil

import numpy as np
import pytest

import symplex
from symplex.errors import OutputError, ScenarioError
from symplex.meshes.series.series import read_series
from symplex.runs.beginning import default_folder
from symplex.runs.drawing import draw_plot
from symplex.runs.history import read_history
from symplex.runs.pictures import draw_snapshots
from symplex.runs.results import RunFolder
from symplex.runs.run import simulate
from symplex.scenario.scenario import Scenario

TEXT = """
[[body]]
name = "block"
mesh = { box = [0.1, 0.1, 0.1], cells = [1, 1, 1], split = "6" }
material = { young = 1e9, poisson = 0.3, density = 1000 }
velocity = [0, 0, -10]
[[probe]]
name = "tip"
body = "block"
nodes = [0]
quantities = ["displacement"]
[integrator]
kind = "newmark"
[run]
duration = 2e-4
frames = 4
samples = 4
[output]
format = "FORMAT"
"""
FORMATS = ("vtkhdf", "pvd")


def run(output, series="vtkhdf", **options):
    scenario = Scenario.parse(TEXT.replace("FORMAT", series), "small.toml")
    return simulate(scenario, output, progress=False, pictures=False, **options)


def contents(folder):
    """Return what is in a folder: the content of files, where links lead."""
    return {
        str(path.relative_to(folder)): path.readlink() if path.is_symlink() else path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_symlink() or path.is_file()
    }


@pytest.fixture(scope="module", params=FORMATS)
def finished(request, tmp_path_factory):
    """The format of a finished run, and its folder."""
    folder = tmp_path_factory.mktemp(request.param) / "out"
    run(folder, request.param)
    return request.param, folder


# -- files of the user -----------------------------------------------------------------------------------------

LIKE_OURS = (
    *("motion.mp4", "motion.d/a.txt", "motion/notes.txt", "motion/frame.vtm", "motion/frameworks_block1.vtu"),
    *(
        "history.xlsx",
        "history.csv.bak",
        "film.mov",
        "film.txt",
        "summary.json.old",
        "checkpoint.npz.mine",
        "notes.txt",
    ),
)


def with_files(folder, names):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"my {name}")
    return {name: f"my {name}".encode() for name in names}


@pytest.mark.parametrize("series", FORMATS)
def test_files_with_names_like_those_of_a_run_are_kept(series, tmp_path):
    mine = with_files(tmp_path, LIKE_OURS)
    for options in ({}, {"overwrite": True}, {"resume": True}):
        assert run(tmp_path, series, **options)["status"] == "finished"
        assert mine.items() <= contents(tmp_path).items()


@pytest.mark.parametrize(
    "name",
    ["history.csv", "motion.vtkhdf", "motion.pvd", "film.gif", "summary.json", "scenario.toml", "history.png.new"],
)
@pytest.mark.parametrize("options", [{}, {"overwrite": True}])
def test_files_with_names_of_a_run_that_are_of_none_are_refused(name, options, tmp_path):
    mine = with_files(tmp_path, [name])
    with pytest.raises(OutputError, match=rf"holds {name}, but no run that was begun there by symplex"):
        run(tmp_path, **options)
    assert contents(tmp_path) == mine


def test_a_users_frames_are_refused(tmp_path):
    mine = with_files(tmp_path, ["motion/frame000001.vtm"])
    with pytest.raises(OutputError, match=r"holds frame000001\.vtm, but no run"):
        run(tmp_path, "pvd")
    assert contents(tmp_path) == mine


def test_a_users_scenario_is_not_a_run_to_resume(tmp_path):
    (tmp_path / "scenario.toml").write_text(TEXT.replace("FORMAT", "vtkhdf"))
    mine = contents(tmp_path)
    with pytest.raises(OutputError, match="holds no run to resume"):
        run(tmp_path, resume=True)
    assert contents(tmp_path) == mine


def test_a_run_that_fails_at_its_start_leaves_a_folder_as_it_was(tmp_path):
    mine = with_files(tmp_path, LIKE_OURS)
    coarse = TEXT.replace('kind = "newmark"', 'kind = "force-stepping"\ngrid = 1.0')
    for series in FORMATS:
        text = coarse.replace("FORMAT", series)
        with pytest.raises(Exception, match="Try a smaller grid"):
            simulate(Scenario.parse(text, "small.toml"), tmp_path, progress=False)
        assert contents(tmp_path) == mine


def test_a_series_without_a_frame_leaves_the_users_folder(tmp_path, monkeypatch):
    mine = with_files(tmp_path, ["motion/notes.txt"])

    def failing(*_):
        raise OutputError("no frame")

    monkeypatch.setattr("symplex.runs.samples.fields_of", failing)
    with pytest.raises(OutputError, match="no frame"):
        run(tmp_path, "pvd")
    assert mine.items() <= contents(tmp_path).items()
    assert [path.name for path in (tmp_path / "motion").iterdir()] == ["notes.txt"]


# -- overwriting -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("next_series", FORMATS)
def test_overwriting_removes_all_of_the_run_before_and_nothing_else(finished, next_series, tmp_path):
    _, folder = finished
    out = shutil.copytree(folder, tmp_path / "out")
    for name in ("history.png", "film.mp4", "motion.vtkhdf.redo", "checkpoint.npz.new", "motion.pvd.new"):
        (out / name).write_text("of the run before")
    mine = with_files(out, LIKE_OURS)
    run(out, next_series, overwrite=True)
    found = contents(out)
    assert mine.items() <= found.items()
    ours = {name for name in found if name not in mine}
    frames = {name for name in ours if name.startswith("motion/")}
    assert ours - frames == {
        *(".lock", "checkpoint.npz", "history.csv", "history.json", f"motion.{next_series}", "scenario.toml"),
        *("conservation.json", "manifest.json", "probe-tip.csv", "probe-tip.json", "summary.json"),
    }
    assert bool(frames) == (next_series == "pvd")
    assert len(read_series(out / f"motion.{next_series}")) == 5


def test_a_run_of_an_earlier_version_can_be_overwritten(finished, tmp_path):
    """It left no manifest or mark: its summary or checkpoint shows what it is."""
    series, folder = finished
    for kept in ("summary.json", "checkpoint.npz"):
        out = shutil.copytree(folder, tmp_path / kept)
        (out / ".lock").write_bytes(b"")
        for name in {"summary.json", "checkpoint.npz", "manifest.json"} - {kept}:
            (out / name).unlink()
        assert run(out, series, overwrite=True)["status"] == "finished"


def test_the_manifest_says_what_files_are(finished):
    series, folder = finished
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    assert (manifest["kind"], manifest["symplex"]) == ("run", symplex.__version__)
    assert manifest["files"] | {"history.csv": "history", f"motion.{series}": "frames"} == manifest["files"]
    written = {path.name for path in folder.iterdir() if path.is_file()}
    assert written - {".lock"} <= manifest["files"].keys()


def test_a_run_that_was_killed_before_its_manifest_begins_again(finished, tmp_path):
    series, folder = finished
    lock = (folder / ".lock").read_bytes()
    for number, options in enumerate(({}, {"overwrite": True})):
        out = tmp_path / str(number)
        out.mkdir()
        (out / ".lock").write_bytes(lock)
        (out / "manifest.json.new").write_text("{")
        assert run(out, series, **options)["status"] == "finished"


def test_a_manifest_of_others_is_neither_believed_nor_replaced(tmp_path):
    for text in (
        "{}",
        '{"kind": ["run"], "files": {}}',
        '{"kind": "run", "files": ["notes.txt"]}',
        '{"kind": "study", "files": {}}',
        "no JSON",
    ):
        (tmp_path / "manifest.json").write_text(text)
        mine = with_files(tmp_path, ["notes.txt"]) | {"manifest.json": text.encode()}
        with pytest.raises(OutputError, match=r"holds manifest\.json, but no run"):
            run(tmp_path)
        assert contents(tmp_path) == mine


def test_a_manifest_names_files_of_its_own_folder_only(finished, tmp_path):
    series, folder = finished
    out = shutil.copytree(folder, tmp_path / "out")
    (tmp_path / "precious.txt").write_text("mine")
    manifest = json.loads((out / "manifest.json").read_text("utf-8"))
    odd = ("../precious.txt", str(tmp_path / "precious.txt"), "..", "a\0b", "x" * 300, "notes.csv", "")
    manifest["files"] |= dict.fromkeys(odd, "probe")
    (out / "manifest.json").write_text(json.dumps(manifest))
    assert list(symplex.read_result(out).probes) == ["tip"]
    run(out, series, overwrite=True)
    assert (tmp_path / "precious.txt").read_text() == "mine"


def test_results_of_an_earlier_version_open(finished, tmp_path):
    _, folder = finished
    out = shutil.copytree(folder, tmp_path / "out")
    (out / "manifest.json").unlink()
    old, new = symplex.read_result(out), symplex.read_result(folder)
    assert (len(old.times), old.status, list(old.history)) == (len(new.times), new.status, list(new.history))
    assert list(old.probes) == list(new.probes) == ["tip"]


def test_two_that_begin_in_one_folder_do_not_remove_each_others_runs(tmp_path, monkeypatch):
    build, folder = Scenario.build, tmp_path / "out"

    def while_another_runs(scenario, *how, **more):
        monkeypatch.setattr(Scenario, "build", build)
        problem = build(scenario, *how, **more)
        other = RunFolder(tmp_path / "other")
        with other.held():
            other.create(TEXT)
        shutil.copytree(other.path, folder, dirs_exist_ok=True)  # a run that began, and ended
        return problem

    monkeypatch.setattr(Scenario, "build", while_another_runs)
    with pytest.raises(OutputError, match="already holds a run"):
        run(folder)
    assert (folder / "scenario.toml").read_text() == TEXT


# -- links -----------------------------------------------------------------------------------------------------

OUR_FILES = (
    *("motion.vtkhdf", "motion.vtkhdf.new", "motion.vtkhdf.redo", "history.csv", "history.csv.new", "history.png"),
    *("summary.json", "summary.json.new", "checkpoint.npz", "checkpoint.npz.new", "scenario.toml.new", "snapshots.png"),
    *("film.mp4", "film.gif"),
)


@pytest.mark.parametrize("name", OUR_FILES)
def test_a_link_in_the_place_of_a_file_is_not_written_through(finished, name, tmp_path):
    series, folder = finished
    out = shutil.copytree(folder, tmp_path / "out")
    summary = (out / "summary.json").read_text()
    (out / "summary.json").write_text(summary.replace('"finished"', '"interrupted"'))
    (out / name).unlink(missing_ok=True)
    target = tmp_path / "precious.txt"
    target.write_text("mine")
    (out / name).symlink_to(target)
    before = contents(out)
    for options in ({"overwrite": True}, {"resume": True}):
        with pytest.raises(OutputError, match=r"is a link, to which a run does not write"):
            run(out, series, **options)
        assert contents(out) == before
    assert target.read_text() == "mine"


def test_a_link_that_leads_nowhere_is_not_followed(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    for name in ("summary.json.new", ".lock"):
        (out / name).symlink_to(tmp_path / "made")
        with pytest.raises(OutputError, match=r"holds summary\.json\.new|\.lock is not a file"):
            run(out)
        (out / name).unlink()
    assert not (tmp_path / "made").exists()


def test_frames_are_not_written_to_or_removed_from_a_folder_behind_a_link(tmp_path):
    out, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    run(out, "pvd")
    (out / "motion").rename(elsewhere)
    (out / "motion").symlink_to(elsewhere)
    before = contents(elsewhere)
    with pytest.raises(OutputError, match="motion is a link, to which a run does not write"):
        run(out, "pvd", overwrite=True)
    run(out, "vtkhdf", overwrite=True)  # which needs no such folder
    assert contents(elsewhere) == before
    assert (out / "motion").is_symlink()


def test_a_frame_that_is_a_link_is_refused(tmp_path):
    out = tmp_path / "out"
    run(out, "pvd")
    (tmp_path / "precious.txt").write_text("mine")
    (out / "motion" / "frame000002.vtm").unlink()
    (out / "motion" / "frame000002.vtm").symlink_to(tmp_path / "precious.txt")
    with pytest.raises(OutputError, match=r"frame000002\.vtm is a link"):
        run(out, "pvd", overwrite=True)
    assert (tmp_path / "precious.txt").read_text() == "mine"


def test_the_results_folder_itself_may_be_a_link(tmp_path):
    (tmp_path / "scratch").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "scratch")
    run(tmp_path / "out")
    run(tmp_path / "out", overwrite=True)
    assert (tmp_path / "scratch" / "history.csv").exists()


def test_pictures_are_not_drawn_through_links(finished, tmp_path):
    series, folder = finished
    out = shutil.copytree(folder, tmp_path / "out")
    (tmp_path / "precious.txt").write_text("mine")
    for name in ("history.png", "snapshots.png"):
        (out / name).symlink_to(tmp_path / "precious.txt")
    with pytest.raises(OutputError, match=r"history\.png is a link"):
        draw_plot([RunFolder(out, series)])
    with pytest.raises(OutputError, match=r"is a link"):
        draw_snapshots(RunFolder(out, series))
    assert (tmp_path / "precious.txt").read_text() == "mine"


def test_a_folder_in_the_place_of_a_file_is_refused(tmp_path):
    run(tmp_path / "out")
    (tmp_path / "out" / "checkpoint.npz.new").mkdir()
    with pytest.raises(OutputError, match=r"checkpoint\.npz\.new is a folder"):
        run(tmp_path / "out", overwrite=True)


# -- the folder that a scenario names --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "directory", ["..", "../elsewhere", "a/../..", "/tmp/anywhere", "link", "link/below", "loop", "nul\\u0000"]
)
def test_a_scenario_names_no_folder_elsewhere(directory, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path / "elsewhere").mkdir()
    (home / "link").symlink_to(tmp_path / "elsewhere")
    (home / "loop").symlink_to(home / "loop")
    text = TEXT.replace("FORMAT", "vtkhdf") + f'directory = "{directory}"\n'
    before = contents(tmp_path)
    try:
        scenario = Scenario.parse(text, home / "small.toml")
    except ScenarioError:  # of what is no path at all
        return
    with pytest.raises(ScenarioError, match=r"small\.toml: \[output\]: directory is .*, which is not in the folder of"):
        simulate(scenario, progress=False)
    assert contents(tmp_path) == before
    assert simulate(scenario, tmp_path / "elsewhere", progress=False, pictures=False)["status"] == "finished"


@pytest.mark.parametrize("directory", ["results", "a/b", "a/../b", "."])
def test_a_scenario_names_a_folder_beside_it(directory, tmp_path):
    text = TEXT.replace("FORMAT", "vtkhdf") + f'directory = "{directory}"\n'
    assert default_folder(Scenario.parse(text, tmp_path / "small.toml")) == tmp_path / directory


# -- resuming without a checkpoint -----------------------------------------------------------------------------


@pytest.mark.parametrize("series", FORMATS)
def test_without_a_checkpoint_nothing_computed_is_lost(series, tmp_path):
    out = tmp_path / "out"
    run(out, series)
    for name in ("checkpoint.npz", "summary.json"):
        (out / name).unlink()
    before = contents(out)
    with pytest.raises(OutputError, match=r"has no checkpoint\.npz, but a history of 5 rows\. Put the checkpoint"):
        run(out, series, resume=True)
    assert contents(out) == before


@pytest.mark.parametrize("series", FORMATS)
@pytest.mark.parametrize("rows", [None, 0, 1, 2])
def test_a_run_that_was_killed_before_its_first_checkpoint_begins_again(finished, series, rows, tmp_path):
    _, folder = finished
    out = tmp_path / "out"
    run(out, series)
    for name in ("checkpoint.npz", "summary.json"):
        (out / name).unlink()
    lines = (out / "history.csv").read_text().splitlines(keepends=True)
    if rows is None:
        (out / "history.csv").unlink()
    else:
        (out / "history.csv").write_text("".join(lines[:rows]))
    assert run(out, series, resume=True)["status"] == "finished"
    np.testing.assert_array_equal(read_history(out / "history.csv")["t"], read_history(folder / "history.csv")["t"])
    assert json.loads((out / "summary.json").read_text())["samples"] == 4


def test_a_run_that_was_killed_while_it_began_can_be_begun_again(tmp_path):
    out = tmp_path / "out"
    run(out)
    shutil.move(out / "scenario.toml", out / "scenario.toml.new")
    for name in ("checkpoint.npz", "summary.json"):
        (out / name).unlink()
    assert run(out)["status"] == "finished"


def test_an_unreadable_history_is_not_taken_for_none(tmp_path):
    out = tmp_path / "out"
    run(out)
    for name in ("checkpoint.npz", "summary.json", "history.csv"):
        (out / name).unlink()
    (out / "history.csv").mkdir()
    with pytest.raises(OutputError, match=r"history\.csv is a folder"):
        run(out, resume=True)
    assert not list((out / "history.csv").iterdir())
