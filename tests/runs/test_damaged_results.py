"""Damaged files of a results folder: each is refused in one sentence, before anything is changed."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

from symplex.base.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from symplex.commands.cli import main
from symplex.errors import OutputError
from symplex.meshes.series.series import Block, open_series, read_series, resume_series
from symplex.runs.history import HistoryWriter, read_history

HISTORY = "t,kinetic,total\n0.0,1.0,2.0\n1.0,1.5,2.0\n2.0,1.25,2.0\n"


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("1.0,1.5,2.0", "1.5", r"history\.csv, line 3: not 3 numbers \('1\.5'\); put it back as the run wrote it, or"),
        ("1.5", "nan", "line 3: not 3 numbers"),
        ("1.5", "1e999", "line 3: not 3 numbers"),
        ("1.5", "-1e308", "line 3: not 3 numbers"),
        ("2.0,1.25", "1.0,1.25", "line 4: its time is not later than the one before"),
        ("t,kinetic", "kinetic", "is not a history"),
        (HISTORY, "", "is not a history"),
        (HISTORY, "\n", "is not a history"),
    ],
)
def test_damaged_histories_are_refused_and_stay(tmp_path, before, after, message):
    path = tmp_path / "history.csv"
    path.write_text(HISTORY.replace(before, after), encoding="utf-8")
    for reading in (lambda: read_history(path), lambda: HistoryWriter.resume(path, 1.0)):
        with pytest.raises(OutputError, match=message):
            reading()
    assert path.read_text("utf-8") == HISTORY.replace(before, after)


def test_a_history_that_went_through_a_spreadsheet_is_read(tmp_path):
    path = tmp_path / "history.csv"
    path.write_bytes(b"\xef\xbb\xbf" + HISTORY.replace("\n", "\r\n").encode())
    assert list(read_history(path)["t"]) == [0, 1, 2]
    HistoryWriter.resume(path, 1.0).close()
    assert path.read_bytes() == b"t,kinetic,total\n0.0,1.0,2.0\n1.0,1.5,2.0\n"


def test_damaged_checkpoints_are_refused(tmp_path):
    path = tmp_path / "checkpoint.npz"
    save_checkpoint(path, Checkpoint(3, 1.0, "0.1", {"meshes": "x"}, {"q": np.arange(6.0), "v": np.ones(6)}))
    assert load_checkpoint(path).sample == 3
    whole = path.read_bytes()
    for damaged in (b"", b"text", whole[:100], whole[:-30], whole.replace(b"\0\0\0@", b"\0\0\0A", 1)):
        path.write_bytes(damaged)
        with pytest.raises(OutputError, match=r"checkpoint\.npz cannot be read.*; start again with --overwrite or"):
            load_checkpoint(path)
    path.write_bytes(whole)
    with np.load(path) as file:
        arrays = dict(file)
    for name, value in (
        ("motion.q", np.arange(5.0)),
        ("motion.q", np.arange(6)),
        ("motion.w", np.ones(6)),
        ("sample", 4),
    ):
        np.savez(path, **arrays | {name: value})
        with pytest.raises(OutputError, match="it is not as it was written"):
            load_checkpoint(path)
    np.savez(path, x=np.zeros(1))
    with pytest.raises(OutputError, match="there is no 'checksum' in it"):
        load_checkpoint(path)


# -- series ---------------------------------------------------------------------------------------------------------

POINTS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]], float)
BLOCKS = {
    "body": Block.of({"tetra": np.array([[0, 1, 2, 3], [1, 2, 3, 4]], np.int32)}),
    "wall": Block.obstacle(POINTS[:4] - 1.0, {"quad": np.array([[0, 1, 2, 3]], np.int32)}),
}


@pytest.fixture(params=[".vtkhdf", ".pvd"])
def series(tmp_path, request):
    """A series of three frames."""
    path = tmp_path / f"motion{request.param}"
    with open_series(path, POINTS, BLOCKS) as writer:
        for i in range(3):
            writer.append(float(i), np.full((5, 3), i), {"velocity": np.ones((5, 3))}, {"stress": {"body": [1.0, 2.0]}})
    return path


def read_all(path):
    for frame in read_series(path).frames():
        assert np.isfinite(frame.displacement).all()


def refused(path, message):
    """Check that a series is not read, and not changed by resuming it."""
    before = {file: file.read_bytes() for file in path.parent.rglob("*") if file.is_file()}
    with pytest.raises(OutputError, match=message) as error:
        read_all(path)
    assert "\n" not in str(error.value)
    assert str(error.value).endswith("put it back as the run wrote it, or run again.")
    with pytest.raises(OutputError):
        resume_series(path, 2.0, 3).close()
    assert before == {file: file.read_bytes() for file in path.parent.rglob("*") if file.is_file()}


def exchange(path, name, change):
    """Change a dataset of an HDF5 file."""
    with h5py.File(path, "r+") as file:
        value = change(file[name][...])
        del file[name]
        file[name] = value


@pytest.mark.parametrize("series", [".vtkhdf"], indirect=True)
@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("VTKHDF/block_0/Connectivity", lambda a: a + 1000, "node outside its block"),
        ("VTKHDF/block_0/Connectivity", lambda a: -a - 1, "node outside its block"),
        ("VTKHDF/block_0/Connectivity", lambda a: a[:5], "damaged"),
        ("VTKHDF/block_0/Types", lambda a: a + 200, "damaged"),
        ("VTKHDF/block_0/Types", lambda a: 0 * a + 12, "'hexahedron' of block 'body' has the shape"),
        ("VTKHDF/block_0/Offsets", lambda a: 10**12 * a, "damaged"),
        ("symplex/nodes/body", lambda a: a + 7, "node outside the block"),
        ("symplex/nodes/body", lambda a: a.astype(float), "node outside the block"),
        ("symplex/points", lambda a: a * np.nan, "its points are not finite positions"),
        ("symplex/points", lambda a: a[:, :2], "its points are not finite positions"),
        ("symplex/times", lambda a: a[::-1], "its times do not increase"),
        ("symplex/times", lambda a: np.append(a, 3.0), "not a series with a whole frame 3"),
        ("symplex/blocks", lambda a: 5.0, "damaged"),
        ("VTKHDF/block_0/Points", lambda a: a, None),
        ("VTKHDF/block_0/PointData/displacement", lambda a: a * np.inf, "'displacement' is not finite"),
        ("VTKHDF/block_0/PointData/displacement", lambda a: a[:7], "not a series with a whole frame 1"),
        ("VTKHDF/block_0/PointData/velocity", lambda a: a.astype("S10"), "not a series with a whole frame 0"),
        ("VTKHDF/block_0/CellData/stress", lambda a: a[:3], "'stress' has the shape"),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_a_vtkhdf_file_that_does_not_fit_together_is_refused(series, name, change, message):
    exchange(series, name, change)
    if message is None:  # the positions are not read again
        read_all(series)
    elif "not finite" in message or "frame" in message or "stress" in message:  # of a frame that resuming may not read
        with pytest.raises(OutputError, match=message):
            read_all(series)
    else:
        with pytest.raises(OutputError, match=message):
            read_all(series)
        with pytest.raises(OutputError):
            resume_series(series, 2.0)


@pytest.mark.parametrize("series", [".vtkhdf"], indirect=True)
def test_a_dataset_that_claims_more_than_the_file_holds_is_refused(series):
    with h5py.File(series, "r+") as file:
        del file["symplex/points"]
        file.create_dataset("symplex/points", (10**10, 3), "f8", chunks=(1000, 3))
    refused(series, r"'/symplex/points' claims 240,000,000,000 bytes")


@pytest.mark.parametrize("series", [".pvd"], indirect=True)
@pytest.mark.parametrize(
    ("name", "damage", "message"),
    [
        ("motion.pvd", lambda data: b"", r"motion\.pvd cannot be read"),
        (
            "motion.pvd",
            lambda data: data.replace(b"frame000001", b"../../secret"),
            "its frame 1 is '.*secret.*', expected",
        ),
        ("motion.pvd", lambda data: data.replace(b'timestep="1.0"', b'timestep="5.0"'), "do not increase"),
        ("motion/model.npz", lambda data: b"", r"model\.npz cannot be read"),
        ("motion/model.npz", lambda data: data[:200], r"model\.npz cannot be read"),
        ("motion/frame000000.vtm", lambda data: data[:150], r"frame000000\.vtm cannot be read"),
        ("motion/frame000000.vtm", lambda data: data.replace(b"000000_", b"000001_"), "it names .*, expected"),
        ("motion/frame000002_block0.vtu", lambda data: data[:-200], r"frame000002_block0\.vtu cannot be read"),
        ("motion/frame000002_block0.vtu", lambda data: b"\0" * 50, r"frame000002_block0\.vtu cannot be read"),
    ],
)
def test_damaged_files_of_a_pvd_series_are_refused_by_name(series, name, damage, message):
    path = series.parent / name
    path.write_bytes(damage(path.read_bytes()))
    refused(series, message)


def test_what_is_no_file_is_not_waited_for(series):
    if not hasattr(os, "mkfifo"):
        pytest.skip("no pipes here")
    series.unlink()
    os.mkfifo(series)
    with pytest.raises(OutputError, match=r"cannot be read \(it is no file\)"):
        read_series(series)


def test_a_series_with_frames_missing_is_not_resumed(series):
    before = read_series(series).times
    with pytest.raises(OutputError, match=r"has 2 frames up to t = 1 s, expected 4; put it back"):
        resume_series(series, 1.0, 4)
    np.testing.assert_array_equal(read_series(series).times, before)


# -- on the command line --------------------------------------------------------------------------------------------

SCENARIO = """
[[body]]
name = "cube"
mesh = { box = [0.1, 0.1, 0.1], cells = [1, 1, 1], split = "6" }
material = { lambda = 60.5e9, mu = 26e9, density = 2700 }
velocity = [1, 0, 0]
[integrator]
kind = "newmark"
[run]
duration = 1e-5
frames = 2
samples = 4
"""


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A scenario and the folder of its run."""
    folder = tmp_path_factory.mktemp("damaged")
    path = folder / "a.toml"
    path.write_text(SCENARIO, encoding="utf-8")
    assert main(["run", str(path), "--output", str(folder / "out"), "--no-pictures", "--quiet"]) == 0
    return path, folder / "out"


def test_a_damaged_summary_is_one_sentence(finished, tmp_path, capsys):
    path, folder = finished
    out = shutil.copytree(folder, tmp_path / "out")
    without = ["", "[]", "5", '"text"', "[" * 100_000, '{"status": "finished"}', '{"t_end": [], "status": "finished"}']
    for content in without:
        (out / "summary.json").write_text(content, encoding="utf-8")
        for command in (["info", str(out)], ["run", str(path), "--output", str(out), "--resume"]):
            assert main(command) == 2
            line = capsys.readouterr().err.strip()
            assert line.startswith(f"symplex: error: {out / 'summary.json'} ")
            assert line.endswith("; remove it, and --resume writes it again.")
    (out / "summary.json").unlink()
    assert main(["run", str(path), "--output", str(out), "--resume", "--quiet", "--no-pictures"]) == 0
    assert json.loads((out / "summary.json").read_text("utf-8"))["status"] == "finished"


@pytest.mark.parametrize("column", ["kinetic", "total", "momentum_x", "cube", "steps"])
def test_a_history_without_a_column_is_not_gone_on_with(finished, tmp_path, column, capsys):
    path, folder = finished
    out = shutil.copytree(folder, tmp_path / "out")
    (out / "summary.json").unlink()
    history = (out / "history.csv").read_text("utf-8")
    (out / "history.csv").write_text(history.replace(f"{column},", "renamed,", 1).replace(f"{column}\n", "x\n", 1))
    before = (out / "history.csv").read_bytes()
    status = main(["run", str(path), "--output", str(out), "--resume", "--quiet", "--no-pictures"])
    assert (out / "history.csv").read_bytes() == before
    errors = capsys.readouterr().err
    assert status == 2
    assert f"the columns of history.csv are not those that the run wrote ('{column}'); put it back" in errors


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="names of files are Unicode here")
@pytest.mark.slow
def test_a_name_that_is_no_utf_8_does_no_harm(tmp_path):
    path = os.fsencode(tmp_path) + b"/b\xffd.toml"
    Path(os.fsdecode(path)).write_text(SCENARIO, encoding="utf-8")
    command = [sys.executable, "-m", "symplex"]
    for arguments in (["run", path, "--no-pictures"], ["info", b"b\xffd-results"], ["plot", b"b\xffd-results", b"."]):
        done = subprocess.run([*command, *arguments], cwd=tmp_path, capture_output=True, check=False)
        assert done.returncode == (2 if arguments[0] == "plot" else 0), done.stderr
        assert b"Traceback" not in done.stderr
    summary = json.loads((tmp_path / os.fsdecode(b"b\xffd-results") / "summary.json").read_text("utf-8"))
    assert summary["scenario"] == os.fsdecode(b"b\xffd.toml")


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1", "ascii:strict"])
@pytest.mark.slow
def test_output_in_any_encoding(finished, encoding):
    path, _ = finished
    title = 'title = "Stoß → Wand, 3 µs …"\n'
    path.with_name("b.toml").write_text(title + SCENARIO, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "symplex", "run", "b.toml", "--overwrite", "--no-pictures"],
        cwd=path.parent,
        env=os.environ | {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    shown = {"ascii": r"Sto\xdf \u2192 Wand, 3 us ...", "cp1252": "Stoß \\u2192 Wand, 3 µs …"}
    shown["latin-1"] = "Stoß \\u2192 Wand, 3 µs ..."
    codec = encoding.split(":")[0]
    assert done.stdout.decode(codec).startswith(shown[codec] + "\n".replace("\n", os.linesep))
