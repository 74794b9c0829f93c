"""A disk that is full, at whatever moment: a sentence and the right exit status, nothing half written, nothing lost."""

import os
import subprocess
import sys

import numpy as np
import pytest

from symplex.base.files import write_atomic
from symplex.errors import OutputError, RenderError
from symplex.meshes.pictures import film as film_module
from symplex.meshes.series import redo
from symplex.meshes.series.series import Block, open_series, read_series, repair_series
from symplex.runs.plots import plot_history

POINTS = np.random.default_rng(3).random((40, 3))
BLOCKS = {"body": Block.of({"tetra": np.arange(40, dtype=np.int32).reshape(-1, 4)})}


def append(series, i):
    series.append(float(i), np.full((40, 3), i), {"value": np.full(40, i)}, {"stress": {"body": np.full(10, i)}})


def assert_frames(series, least):
    assert least <= len(series) <= least + 1
    for i, frame in enumerate(series.frames()):
        assert frame.t == i
        assert (frame.displacement == i).all()
        assert (frame.cell_data["stress"]["body"] == i).all()


# Forks for each size a file may have at most, as the library beneath may crash.
LIMITED = """
import os, resource, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from test_full_disk import BLOCKS, POINTS, append, assert_frames
from symplex.errors import OutputError
from symplex.meshes.series.series import open_series, read_series, repair_series

def frames(path, limit):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    written = 0
    try:
        with open_series(path, POINTS, BLOCKS) as series:
            while written < 20:
                append(series, written)
                written += 1
    except OutputError as error:
        assert "cannot be written" in str(error), error
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    if not written:
        assert not path.exists()
        return
    assert_frames(read_series(path), written)
    repair_series(path)
    assert_frames(read_series(path), written)

for limit in [0, 40, 100, 1000, 2000, 4000, 8000, 20000, 40000, 60000, 80000, 100000, 110000, 115000, 120000, 130000]:
    if not os.fork():
        status = 1
        try:
            frames(Path(sys.argv[2]) / f"{limit}{sys.argv[3]}", limit)
            status = 0
        finally:
            os._exit(status)
    _, status = os.wait()
    print(limit, status, flush=True)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="sizes of files are not limited here")
@pytest.mark.parametrize("suffix", [".vtkhdf", ".pvd"])
@pytest.mark.slow
def test_a_series_survives_a_limit_of_any_size(tmp_path, suffix):
    command = [sys.executable, "-c", LIMITED, os.path.dirname(__file__), str(tmp_path), suffix]  # noqa: PTH120
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    ends = [line.split() for line in done.stdout.splitlines()]
    assert len(ends) == 16, done.stderr
    assert {status for _, status in ends} == {"0"}, f"{ends}\n{done.stderr}"


def test_a_write_that_fails_anywhere_leaves_a_series_whole(tmp_path, monkeypatch):
    """Also where the log of a commit is whole already, but the file cannot take what is in it."""
    genuine, left, seen = redo._write_all, 0, set()

    def failing(file, data, offset):
        nonlocal left
        left -= 1
        if left < 0:
            genuine(file, bytes(data)[: len(data) // 2], offset)
            raise OSError(28, "No space left on device")
        genuine(file, data, offset)

    for writes in range(200):
        path = tmp_path / f"{writes}.vtkhdf"
        series = open_series(path, POINTS, BLOCKS)
        for i in range(3):
            append(series, i)
        left = writes
        monkeypatch.setattr(redo, "_write_all", failing)
        try:
            append(series, 3)
            failed = False
        except OutputError:
            failed = True
        monkeypatch.setattr(redo, "_write_all", genuine)
        series.close()
        assert_frames(read_series(path), 3)
        seen.add(len(read_series(path)))
        assert repair_series(path) == len(read_series(path))
        assert not redo.log_of(path).exists()
        if not failed:
            break
    assert not failed
    assert seen == {3, 4}


@pytest.fixture
def full(monkeypatch):
    """Nothing gets to the disk."""

    def fsync(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("symplex.base.files.os.fsync", fsync)


def test_a_file_that_cannot_be_written_whole_stays_as_it_was(tmp_path, full):
    (tmp_path / "a").write_bytes(b"before")
    with pytest.raises(OSError, match="No space"):
        write_atomic(tmp_path / "a", b"after")
    assert (tmp_path / "a").read_bytes() == b"before"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_plot_that_cannot_be_written_leaves_the_earlier_one(tmp_path, full):
    history = {name: np.linspace(0.0, 1.0, 5) for name in ("t", "kinetic", "total")}
    (tmp_path / "history.png").write_bytes(b"before")
    with pytest.raises(OutputError, match=r"history\.png cannot be written \(no space left on device\)"):
        plot_history(history, tmp_path / "history.png")
    assert (tmp_path / "history.png").read_bytes() == b"before"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_plot_without_a_suffix_is_refused(tmp_path):
    history = {name: np.linspace(0.0, 1.0, 5) for name in ("t", "kinetic", "total")}
    with pytest.raises(OutputError, match=r"plot: a picture is written as \.png, \.pdf"):
        plot_history(history, tmp_path / "plot")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", [".gif", ".mp4"])
def test_a_film_that_cannot_be_written_is_not_there(tmp_path, suffix, full):
    if suffix == ".mp4":
        pytest.importorskip("imageio_ffmpeg")
    path = tmp_path / f"film{suffix}"

    def film():
        with film_module._film(path, 5) as add:
            for k in range(4):
                add(np.full((32, 48, 3), 50 * k, np.uint8))

    with pytest.raises(RenderError, match=r"cannot be written \(no space left on device\)"):
        film()
    assert not list(tmp_path.iterdir())


def test_an_encoder_that_could_not_finish_is_found_out(tmp_path, monkeypatch):
    pytest.importorskip("imageio_ffmpeg")
    with film_module._film(tmp_path / "film.mp4", 5) as add:
        for k in range(4):
            add(np.full((32, 48, 3), 50 * k, np.uint8))
    whole = tmp_path / "film.mp4"
    film_module._check_film(whole)
    (tmp_path / "cut.mp4").write_bytes(whole.read_bytes()[:-200])
    with pytest.raises(OSError, match="is the disk full"):
        film_module._check_film(tmp_path / "cut.mp4")
