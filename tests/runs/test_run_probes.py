"""Probes of runs: files at their own rates, frames on events, kills, what is refused."""

import json
import os
import shutil
import signal
from contextlib import closing

import h5py
import numpy as np
import pytest

import symplex as sx
from symplex.base.columns import Column
from symplex.errors import OutputError, ScenarioError
from symplex.meshes.series.redo import log_of
from symplex.runs.pictures import view_table
from symplex.runs.probe_files import Hdf5Writer, open_probe, path_of_probe
from symplex.runs.results import RunFolder
from symplex.runs.samples import SamplesOfRun
from symplex.scenario.pictures import ViewTable

BASE = """
[[body]]
name = "block"
mesh = { box = [0.1, 0.1, 0.2], cells = [1, 1, 2], split = "6" }
material = { young = 1e7, poisson = 0.3, density = 1000 }
velocity = [0, 0, -1]

[[obstacle]]
name = "floor"
kind = "half-space"
point = [0, 0, -0.001]
normal = [0, 0, 1]
stiffness = 1e5

[[support]]
body = "block"
group = "x_min"
components = "x"

[integrator]
kind = "newmark"
dt = 1e-4

[run]
duration = 0.02
frames = 4
samples = 100
"""
OUTPUT = """
[output]
pictures = false
fields = ["stress", "nodal_stress", "nodal_von_mises", "principal_stresses"]
frames_at = [0.0123]
"""
PROBES = """
[[probe]]
name = "top"
body = "block"
points = [[0.05, 0.05, 0.2], [0.03, 0.01, 0.11]]
quantities = ["displacement", "stress"]
every = 7
frame_on = "peak"

[[probe]]
name = "base"
support = "all"
format = "hdf5"

[[probe]]
name = "floor"
obstacle = "floor"
frame_on = "onset"

[[probe]]
name = "all of it"
body = "block"
quantities = ["von_mises"]
reduce = ["max", "mean"]
"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run with probes."""
    folder = tmp_path_factory.mktemp("probes") / "run"
    sx.simulate(sx.Scenario.parse(BASE + OUTPUT + PROBES, folder.parent / "drop.toml"), folder, progress=False)
    return folder


def test_rows_come_at_their_own_rate_with_units(whole):
    result = sx.read_result(whole)
    assert {name: len(rows["t"]) for name, rows in result.probes.items()} == {
        "top": 15,
        "base": 101,
        "floor": 101,
        "all of it": 101,
    }
    first = (whole / "probe-floor.csv").read_text().splitlines()[0]
    assert first == "t [s],force_x [N],force_y [N],force_z [N],moment_x [N m],moment_y [N m],moment_z [N m]"
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_csv(whole / "probe-floor.csv")  # by default versions before 3 miss the last bit
    np.testing.assert_allclose(frame["force_z [N]"], result.probes["floor"]["force_z"], rtol=4e-16)
    assert result.probes["base"].columns["reaction_x"].unit == "N"
    assert result.probes["top"].columns["stress_xx_1"].unit == "Pa"


def test_what_probes_tell_is_what_the_history_and_the_frames_tell(whole):
    result = sx.read_result(whole)
    for axis in "xyz":
        np.testing.assert_array_equal(result.probes["floor"][f"force_{axis}"], result.history[f"contact_force_{axis}"])
    reported = result.summary["probes"]["floor"]["columns"]["force_z"]
    force = result.history["contact_force_z"]
    assert (reported["largest"], reported["t_largest"]) == (force.max(), result.history["t"][force.argmax()])
    assert reported["unit"] == "N"
    frame = result.frame(index=-1)
    sigma = frame.cell_fields["stress"]["block"]
    np.testing.assert_allclose(
        np.linalg.norm(sigma[:, :3].sum(axis=1) - frame.cell_fields["principal_stresses"]["block"].sum(axis=1)),
        0.0,
        atol=1e-2,
    )
    assert frame.point_fields["nodal_stress"].shape == (12, 6)
    assert np.abs(frame.point_fields["nodal_von_mises"]).max() > 0.0


def test_frames_come_at_wanted_times_and_on_events(whole):
    result = sx.read_result(whole)
    force, t = result.history["contact_force_z"], result.history["t"]
    onset = t[np.flatnonzero(force > 0.0)[0]]
    assert onset in result.times
    assert 0.0122 in result.times or 0.0124 in np.round(result.times, 12)
    top = result.probes["top"]
    size = np.sqrt(sum(top[f"displacement_{axis}_1"] ** 2 for axis in "xyz"))
    turn = int(np.argmax(np.diff(size) < 0.0)) + 1  # the first row below the one before
    assert top["t"][turn] in result.times
    assert len(result.times) == 5 + 3


def run_with_kills(scenario, folder, monkeypatch):
    """Run a scenario that is stopped three times, and goes on each time."""
    record, stopped = SamplesOfRun.record, []

    def interrupted(self, k, *arguments):
        record(self, k, *arguments)
        if k in (7, 31, 62) and k not in stopped:
            stopped.append(k)
            if k == 31:
                raise RuntimeError("killed")
            os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(SamplesOfRun, "record", interrupted)
    for k in range(4):
        try:
            sx.simulate(scenario, folder, progress=False, resume=k > 0)
        except (KeyboardInterrupt, RuntimeError):
            continue
    assert stopped == [7, 31, 62]


def assert_same_file(found, expected):
    """Byte for byte, but for files of older versions of h5py, which hold the time at which they were made."""
    if found.suffix != ".h5" or h5py.version.version_tuple[:2] >= (3, 16):
        assert found.read_bytes() == expected.read_bytes(), found.name
        return
    with h5py.File(found) as one, h5py.File(expected) as other:
        assert one.keys() == other.keys()
        assert dict(one.attrs) == dict(other.attrs)
        for name, values in one.items():
            np.testing.assert_array_equal(values[()], other[name][()])
            assert dict(values.attrs) == dict(other[name].attrs)


@pytest.mark.usefixtures("signals")
def test_a_run_that_is_killed_goes_on_bit_identically(whole, tmp_path, monkeypatch):
    folder = tmp_path / "again"
    run_with_kills(sx.Scenario.read(whole / "scenario.toml"), folder, monkeypatch)
    for name in ("probe-top.csv", "probe-top.json", "probe-floor.csv", "probe-base.h5", "history.csv"):
        assert_same_file(folder / name, whole / name)
    again, result = sx.read_result(folder), sx.read_result(whole)
    np.testing.assert_array_equal(again.times, result.times)
    assert again.summary["probes"] == result.summary["probes"]


@pytest.mark.usefixtures("signals")
def test_probes_have_more_rows_than_the_history_if_they_are_to(whole, tmp_path, monkeypatch):
    """The history has a row at each third of 100 samples, at each of the frames, and at the one at a wanted time."""
    text = (whole / "scenario.toml").read_text().replace("[output]", "[output]\nhistory_every = 3")
    folder = tmp_path / "sparse"
    run_with_kills(sx.Scenario.parse(text, "sparse.toml"), folder, monkeypatch)
    sparse, every = sx.read_result(folder), sx.read_result(whole)
    rows = sorted({*range(0, 101, 3), *range(0, 101, 25), int(np.abs(every.history["t"] - 0.0123).argmin())})
    assert len(rows) < 40
    for name, values in every.history.items():
        np.testing.assert_array_equal(sparse.history[name], values[rows], err_msg=name)
    for name in ("probe-top.csv", "probe-floor.csv", "probe-base.h5"):
        assert_same_file(folder / name, whole / name)
    np.testing.assert_array_equal(sparse.times, every.times)
    history = folder / "history.csv"
    history.write_text("\n".join(history.read_text().splitlines()[:-5]) + "\n")
    (folder / "summary.json").unlink()
    with pytest.raises(
        OutputError, match=rf"history.csv has {len(rows) - 5} rows up to the checkpoint, expected {len(rows)} at"
    ):
        sx.simulate(sx.Scenario.parse(text, "sparse.toml"), folder, progress=False, resume=True)


def test_files_that_are_not_as_the_run_left_them_are_refused(whole, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(whole, folder)
    (folder / "summary.json").unlink()
    lines = (folder / "probe-floor.csv").read_text().splitlines()
    scenario = sx.Scenario.read(folder / "scenario.toml")
    (folder / "probe-floor.csv").write_text("\n".join(lines[:-9]) + "\n")
    with pytest.raises(OutputError, match=r"probe-floor.csv has 92 rows up to the checkpoint, expected 101"):
        sx.simulate(scenario, folder, progress=False, resume=True)
    (folder / "probe-floor.csv").write_text("\n".join(line.rsplit(",", 1)[0] for line in lines) + "\n")
    with pytest.raises(OutputError, match=r"the columns of probe-floor.csv are not those"):
        sx.simulate(scenario, folder, progress=False, resume=True)
    data = (whole / "probe-base.h5").read_bytes()
    (folder / "probe-base.h5").write_bytes(data[: len(data) // 2])
    with pytest.raises(OutputError, match=r"probe-base.h5"):
        sx.runs.read_probe(folder / "probe-base.h5")


def test_a_new_run_takes_the_place_of_the_files_of_probes_and_of_no_others(whole, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(whole, folder)
    (folder / "probe-mine.csv").write_text("of the user")
    short = sx.Scenario.parse(BASE.replace("samples = 100", "samples = 4") + OUTPUT.replace("frames_at = [0.0123]", ""))
    sx.simulate(short, folder, progress=False, overwrite=True)
    assert sorted(path.name for path in folder.glob("probe-*")) == ["probe-mine.csv"]
    other = tmp_path / "other"
    other.mkdir()
    (other / "probe-top.csv").write_text("of the user")
    with pytest.raises(OutputError, match=r"holds probe-top.csv, but no run"):
        sx.simulate(sx.Scenario.read(whole / "scenario.toml"), other, progress=False)


def test_rows_of_hdf5_survive_from_the_last_flush_on(tmp_path):
    columns = {"t": sx.runs.history.Column("t", "s", "time"), "x": sx.runs.history.Column("x", "m")}
    path = path_of_probe(tmp_path, "p", "hdf5")
    with closing(Hdf5Writer(path, columns)) as writer:
        for k in range(5):
            writer.extend(np.array([[k, k * k]], dtype=float))
            if k == 2:
                writer.flush()
                at_flush = path.read_bytes()
        with pytest.raises(OutputError, match="'x' is inf at t = 9 s"):
            writer.extend(np.array([[9.0, np.inf]]))
    assert sx.runs.read_probe(path)["x"].tolist() == [0.0, 1.0, 4.0, 9.0, 16.0]
    path.write_bytes(at_flush)
    assert sx.runs.read_probe(path)["x"].tolist() == [0.0, 1.0, 4.0]
    with closing(Hdf5Writer.resume(path, 2)) as writer:
        writer.extend(np.array([[7.0, 7.0]]))
    assert sx.runs.read_probe(path)["t"].tolist() == [0.0, 1.0, 7.0]
    assert not log_of(path).exists()


@pytest.mark.parametrize("kind", ["csv", "hdf5"])
def test_rows_before_one_that_is_no_number_are_kept(kind, tmp_path):
    columns = {"t": Column("t", "s", "time"), "x": Column("x", "m")}
    path = path_of_probe(tmp_path, "p", kind)
    with closing(open_probe(path, columns)) as writer, pytest.raises(OutputError, match=r"'x' is nan at t = 1 s"):
        writer.extend(np.array([[0.0, 0.1], [1.0, np.nan], [2.0, 0.3]]))
    assert {name: rows.tolist() for name, rows in sx.runs.read_probe(path).items()} == {"t": [0.0], "x": [0.1]}


MISTAKES = {
    'support = "foot"': "there is no support 'foot'; known are: 1, all",
    'obstacle = "flor"': "there is no obstacle 'flor'; did you mean 'floor'?",
    'contact = "all"': "there is no contact 'all'",
    'body = "blok"': "there is no body 'blok'; did you mean 'block'?",
    'body = "block"\ngroup = "top"': "body 'block' has no group 'top'",
    'body = "block"\nnodes = [12]': "nodes has 12, but 'block' has 12 nodes, 0 to 11",
    'body = "block"\npoints = [[0, 0, 1]]': "(0, 0, 1) m is in no cell; the nearest node is 0.8 m away",
    'body = "block"\nquantities = ["axial_force"]': "axial_force is of trusses, springs and bonds, and 'block' is none",
    'body = "block"\ncomponents = ["xx"]': "components has 'xx', which none of its quantities has; there are",
    'body = "block"\nquantities = ["heat"]': "quantities.1 must be one of",
    'body = "block"\nquantities = []': "quantities is [], must name one at least",
    'body = "block"\nnodes = [1, 1]': "nodes names one twice",
    'body = "block"\nnodes = [1]\ngroup = "x_min"': "has nodes and group; give one of",
    'body = "block"\nabout = [1, 0, 0]': "about is given, which goes with moments",
    'body = "block"\ninterpolate = false': "interpolate is false, which goes with points",
    'support = "1"\nquantities = ["stress"]': (
        "reports forces and moments, and has quantities, which goes with body only"
    ),
    "every = 2": "needs one thing to look at of body, joint, support, obstacle, contact; none is given",
    'body = "block"\nevery = 0': "every must be an integer of at least 1, got 0",
    'body = "block"\nframe_on = "end"': "frame_on must be one of 'onset', 'peak', got 'end'",
}


@pytest.mark.parametrize("keys", MISTAKES)
def test_mistakes_are_told_with_their_place(keys):
    with pytest.raises(ScenarioError) as refused:
        sx.Scenario.parse(f'{BASE}\n[[probe]]\nname = "p"\n{keys}').build()
    (line,) = str(refused.value).split("\n")
    assert line.startswith("scenario.toml: [[probe]] #1 'p': ")
    assert MISTAKES[keys] in line


def test_names_of_probes_are_those_of_files():
    two = '[[probe]]\nname = "Top"\nsupport = "1"\n[[probe]]\nname = "top"\nsupport = "1"\n'
    with pytest.raises(ScenarioError, match=r"\[\[probe\]\] #2 'top': the name is taken by \[\[probe\]\] #1"):
        sx.Scenario.parse(BASE + two)
    with pytest.raises(
        ScenarioError, match=r"ends at 0.02 s, before the frame that .output. frames_at requests at 0.5 s"
    ):
        sx.Scenario.parse(BASE + "[output]\nframes_at = [0.5]")


def test_the_picture_of_probes(whole, tmp_path):
    path = sx.runs.plot_probes(sx.read_result(whole).probes, tmp_path / "probes.png", title="Probes")
    assert path.stat().st_size > 20_000
    with pytest.raises(OutputError, match="probes have no rows yet"):
        sx.runs.plot_probes({}, tmp_path / "none.png")
    assert json.loads((whole / "summary.json").read_text())["probes"]["top"]["file"] == "probe-top.csv"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes")
def test_a_pipe_in_the_place_of_the_scenario_keeps_nobody_waiting(tmp_path):
    os.mkfifo(tmp_path / "scenario.toml")
    with pytest.raises(OutputError, match=r"no scenario\.toml that can be read"):
        sx.runs.read_probes(tmp_path)
    assert view_table(RunFolder(tmp_path)) == ViewTable()


TURNS = """
[[support]]
name = "first"
body = "block"
group = "z_max"
components = "z"
until = 0.01

[[support]]
name = "second"
body = "block"
group = "z_max"
components = "z"
from = 0.01

[[support]]
name = "third"
body = "block"
group = "z_max"
components = "z"
from = 0.005
until = 0.015

[[probe]]
name = "all"
support = "all"

[[probe]]
name = "third"
support = "third"
"""


def test_a_support_that_does_not_act_has_no_reaction(tmp_path):
    scenario = sx.Scenario.parse(BASE + TURNS, tmp_path / "turns.toml")
    sx.simulate(scenario, tmp_path / "run", progress=False, pictures=False)
    probes = sx.read_result(tmp_path / "run").probes
    reported = probes["all"]
    t, late = reported["t"], reported["t"] > 0.01 * (1.0 + 1e-6)
    first, second, third, together = (reported[f"reaction{name}_z"] for name in ("_first", "_second", "_third", ""))
    assert np.abs(first[(t > 0.0) & ~late]).min() > 0.0
    assert not first[late].any()
    # What two of them hold counts as the first one's that acts then.
    assert not second[~late].any()
    assert np.abs(second[late]).min() > 0.0
    assert not third.any()
    assert not probes["third"]["reaction_z"].any()
    np.testing.assert_array_equal(together, first + second)
