"""Time series: what is written comes back, in symplex and in VTK, also after a kill at any moment."""

import os
import random
import shutil
import signal
import subprocess
import sys
from time import sleep

import numpy as np
import pytest
import pyvista
from vtkmodules.vtkCommonCore import vtkVersion

from reference.boxes import SOLID_KINDS, box_of
from symplex.errors import OutputError
from symplex.meshes.pictures.patch import covering
from symplex.meshes.series.redo import RedoFile, log_of
from symplex.meshes.series.series import Block, open_series, read_series, repair_series, resume_series

SUFFIXES = [".vtkhdf", ".pvd"]


def two_tetrahedra_and_a_wall():
    """Two separate tetrahedra, the second one's nodes in descending order, and a square."""
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [3, 0, 0], [4, 0, 0], [3, 1, 0], [3, 0, 1.0]])
    blocks = {
        "left part": Block.of({"tetra": np.array([[0, 1, 2, 3]], np.int32)}),
        "right": Block(np.array([7, 6, 5, 4], np.int32), {"tetra": np.array([[4, 5, 6, 7]], np.int32)}),
        "wall": Block.obstacle(
            [[0, 0, -1], [1, 0, -1], [1, 1, -1], [0, 1, -1]], {"quad": np.array([[0, 1, 2, 3]], np.int32)}
        ),
    }
    return points, blocks


def frame(i):
    """Frame i: t, displacement, point data, cell data; small integers, exact in float32."""
    nodes = np.arange(8.0)
    displacement = np.stack([nodes + i, nodes - i, 2 * nodes * i], axis=1)
    at_cells = {
        "von_mises": {"left part": [100.0 + i], "right": [200.0 + i]},
        "stress": {"right": [[i, 1, 2, 3, 4, 5]]},
    }
    return 1e-6 * i, displacement, {"velocity": 2 * displacement, "force": nodes * i}, at_cells


def write(path, count):
    with open_series(path, *two_tetrahedra_and_a_wall()) as series:
        for i in range(count):
            series.append(*frame(i))


def assert_frame(got, i):
    t, displacement, at_points, at_cells = frame(i)
    assert got.t == t
    np.testing.assert_array_equal(got.displacement, displacement)
    assert sorted(got.point_data) == sorted(at_points)
    for name, values in at_points.items():
        np.testing.assert_array_equal(got.point_data[name], values)
    assert sorted(got.cell_data) == sorted(at_cells)
    for name, by_block in at_cells.items():
        assert sorted(got.cell_data[name]) == sorted(by_block)
        for block, values in by_block.items():
            np.testing.assert_array_equal(got.cell_data[name][block], values)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("kind", SOLID_KINDS)
def test_every_type_of_cells_comes_back_and_has_its_volume_in_vtk(tmp_path, kind, suffix):
    mesh = box_of(kind, (1.0, 2.0, 3.0), (1, 1, 1))
    path = tmp_path / f"run{suffix}"
    with open_series(path, mesh.points, {"box": Block.of({kind: mesh.cells[kind]})}) as series:
        series.append(0.0, np.zeros_like(mesh.points), {}, {})
    np.testing.assert_array_equal(read_series(path).blocks["box"].cells[kind], mesh.cells[kind])
    grid = next(block for block in pyvista.read(path).recursive_iterator() if block.n_cells)
    assert grid.n_cells == len(mesh.cells[kind])
    if (vtkVersion.GetVTKMajorVersion(), vtkVersion.GetVTKMinorVersion()) < (9, 7):
        return  # VTK's own volumes of wedges, and in 9.6 of hexahedra of second order, are wrong there
    sizes = grid.compute_cell_sizes()["Volume"]
    assert sizes.min() > 0.0
    assert sizes.sum() == pytest.approx(6.0)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("count", [1, 2, 300])
def test_what_is_written_comes_back(tmp_path, suffix, count):
    path = tmp_path / f"run{suffix}"
    write(path, count)
    points, blocks = two_tetrahedra_and_a_wall()
    series = read_series(path)
    np.testing.assert_array_equal(series.times, [1e-6 * i for i in range(count)])
    np.testing.assert_array_equal(series.points, points)
    assert list(series.blocks) == list(blocks)
    for name, block in blocks.items():
        assert series.blocks[name].is_obstacle == block.is_obstacle
        for kind, cells in block.cells.items():
            np.testing.assert_array_equal(series.blocks[name].cells[kind], cells)
    for i in {0, count // 2, count - 1}:
        assert_frame(series.frame(i), i)
    assert_frame(series.frame(-1), count - 1)


def vtk_frame(path, i):
    """Return the blocks that VTK shows for time i, asked for as ParaView does, and all times."""
    import pyvista

    if path.suffix == ".pvd":
        reader = pyvista.get_reader(path)
        reader.set_active_time_point(i)
        return reader.read()[0], reader.time_values
    from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline as Pipeline

    reader = pyvista.get_reader(path).reader
    reader.UpdateInformation()
    times = reader.GetOutputInformation(0).Get(Pipeline.TIME_STEPS())
    reader.UpdateTimeStep(times[i])
    return pyvista.wrap(reader.GetOutputDataObject(0)), times


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_vtk_reads_it(tmp_path, suffix):
    path = tmp_path / f"run{suffix}"
    write(path, 4)
    points, blocks = two_tetrahedra_and_a_wall()
    for i in (0, 2, 3):
        shown, times = vtk_frame(path, i)
        _, displacement, at_points, at_cells = frame(i)
        np.testing.assert_array_equal(times, [1e-6 * k for k in range(4)])
        assert shown.keys() == list(blocks)
        for name in ("left part", "right"):
            nodes, grid = blocks[name].nodes, shown[name]
            np.testing.assert_array_equal(grid.points, (points + displacement)[nodes])
            np.testing.assert_array_equal(grid["displacement"], displacement[nodes])
            np.testing.assert_array_equal(grid["velocity"], at_points["velocity"][nodes])
            np.testing.assert_array_equal(grid.cell_data["von_mises"], at_cells["von_mises"][name])
            np.testing.assert_array_equal(nodes[grid.cell_connectivity], blocks[name].cells["tetra"][0])
        np.testing.assert_array_equal(shown["wall"].points, blocks["wall"].points)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_resuming_drops_later_frames(tmp_path, suffix):
    path = tmp_path / f"run{suffix}"
    write(path, 6)
    with resume_series(path, up_to=2e-6) as series:
        series.append(*frame(4))
        series.append(*frame(7))
    series = read_series(path)
    np.testing.assert_array_equal(series.times, [frame(i)[0] for i in (0, 1, 2, 4, 7)])
    for k, i in enumerate((0, 1, 2, 4, 7)):
        assert_frame(series.frame(k), i)
    assert vtk_frame(path, 3)[0]["right"].cell_data["von_mises"][0] == 204.0
    if suffix == ".pvd":
        assert len(list(path.with_suffix("").glob("frame*.vtm"))) == 5
        assert len(list(path.with_suffix("").glob("frame*.vtu"))) == 10


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_reading_while_it_is_written(tmp_path, suffix):
    path = tmp_path / f"run{suffix}"
    with open_series(path, *two_tetrahedra_and_a_wall()) as series:
        for i in range(5):
            series.append(*frame(i))
            assert_frame(read_series(path).frame(-1), i)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_no_frames_leave_nothing(tmp_path, suffix):
    path = tmp_path / f"run{suffix}"
    open_series(path, *two_tetrahedra_and_a_wall()).close()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(OutputError, match="does not exist"):
        read_series(path)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_bad_frames_and_times_are_refused(tmp_path, suffix):
    path = tmp_path / f"run{suffix}"
    t, displacement, at_points, at_cells = frame(1)
    with open_series(path, *two_tetrahedra_and_a_wall()) as series:
        series.append(*frame(0))
        with pytest.raises(OutputError, match="cannot follow"):
            series.append(0.0, displacement, at_points, at_cells)
        with pytest.raises(OutputError, match="shape"):
            series.append(t, displacement[1:], at_points, at_cells)
        with pytest.raises(OutputError, match="not finite in row 3"):
            series.append(t, displacement, at_points | {"force": np.where(np.arange(8) == 3, np.nan, 0)}, at_cells)
        with pytest.raises(OutputError, match="'force' differ"):
            series.append(t, displacement, {"velocity": displacement}, at_cells)
        with pytest.raises(OutputError, match="the blocks are: left part, right, wall"):
            series.append(t, displacement, at_points, {"von_mises": {"lef": [1.0]}})
        series.append(t, displacement, at_points, at_cells)
    series = read_series(path)
    assert_frame(series.frame(1), 1)
    with pytest.raises(OutputError, match="no frame 2"):
        series.frame(2)
    with pytest.raises(OutputError, match="outside"):
        series.index_at(1.0)
    with pytest.raises(OutputError, match="exists already"):
        open_series(path, *two_tetrahedra_and_a_wall())
    with pytest.raises(OutputError, match="no frame up to"):
        resume_series(path, -1.0)


def test_bad_paths_are_refused(tmp_path):
    with pytest.raises(OutputError, match="cannot be"):
        open_series(tmp_path / "missing" / "run.vtkhdf", *two_tetrahedra_and_a_wall())
    with pytest.raises(OutputError, match=r"\.xdmf"):
        open_series(tmp_path / "run.xdmf", *two_tetrahedra_and_a_wall())
    (tmp_path / "junk.vtkhdf").write_bytes(b"junk" * 1000)
    with pytest.raises(OutputError, match="cannot be read"):
        read_series(tmp_path / "junk.vtkhdf")


def test_blocks_that_do_not_fit_are_refused(tmp_path):
    points, blocks = two_tetrahedra_and_a_wall()
    with pytest.raises(OutputError, match="node 4 is in no block"):
        open_series(tmp_path / "run.vtkhdf", points, {"left": blocks["left part"]})
    with pytest.raises(OutputError, match="outside the block"):
        open_series(tmp_path / "run.vtkhdf", points[:5], blocks)


@pytest.mark.slow
def test_every_moment_of_a_commit_reads_as_before_or_after(tmp_path, monkeypatch):
    """Stop the writer after each of its writes to the disk, and half way through each."""
    import symplex.meshes.series.redo as redo

    class Stopped(OSError):
        pass

    genuine = redo._write_all
    stop_after, seen = 0, set()
    for stop_after in range(200):
        path = tmp_path / f"run{stop_after}.vtkhdf"
        series = open_series(path, *two_tetrahedra_and_a_wall())
        for i in range(3):
            series.append(*frame(i))
        left = stop_after

        def failing(file, data, offset):
            nonlocal left
            left -= 1
            if left < 0:
                genuine(file, bytes(data)[: len(data) // 2], offset)
                raise Stopped
            genuine(file, data, offset)

        monkeypatch.setattr(redo, "_write_all", failing)
        try:
            series._write_frame(series._file.root, series._growing, *_checked(series, 3))
            series._file.commit()
            finished = True
        except Stopped:
            finished = False
        monkeypatch.setattr(redo, "_write_all", genuine)
        copy = tmp_path / f"killed{stop_after}.vtkhdf"
        copy.write_bytes(path.read_bytes())
        log_of(copy).write_bytes(log_of(path).read_bytes())
        got = read_series(copy)
        seen.add(len(got))
        assert len(got) in (3, 4)
        for i in range(len(got)):
            assert_frame(got.frame(i), i)
        repaired = tmp_path / f"repaired{stop_after}.vtkhdf"
        shutil.copy(copy, repaired)
        shutil.copy(log_of(copy), log_of(repaired))
        assert repair_series(repaired) == len(got)
        assert not log_of(repaired).exists()
        assert vtk_frame(repaired, -1)[0]["right"].cell_data["von_mises"][0] == 199.0 + len(got)
        with resume_series(copy, up_to=got.times[-1]) as resumed:
            resumed.append(*frame(9))
        assert_frame(read_series(copy).frame(-1), 9)
        series._file.abandon()
        if finished:
            break
    assert finished
    assert seen == {3, 4}


def _checked(series, i):
    t, displacement, at_points, at_cells = frame(i)
    fields = {
        name: (
            {k: np.asarray(a, np.float32)[b.nodes] for k, a in {"displacement": displacement, **at_points}.items()},
            {k: np.asarray(by[name], np.float32) for k, by in at_cells.items() if name in by},
        )
        for name, b in series.blocks.items()
    }
    return t, fields


def test_redo_file_changes_nothing_before_the_commit(tmp_path):
    path = tmp_path / "data"
    path.write_bytes(b"a" * 5000)
    redo = RedoFile(path, writable=True)
    redo.seek(4090)
    redo.write(memoryview(b"b" * 10))
    assert path.read_bytes()[:5000] == b"a" * 5000
    redo.seek(4088)
    assert redo.read(14) == b"aa" + b"b" * 10 + b"aa"
    redo.commit()
    redo.close()
    assert path.read_bytes()[:5000] == b"a" * 4090 + b"b" * 10 + b"a" * 900
    assert not log_of(path).exists()


WRITER = """
import sys
from pathlib import Path
import numpy as np
from symplex.meshes.series.series import Block, open_series, resume_series
path, seed = Path(sys.argv[1]), int(sys.argv[2])
n = 2000
points = np.random.default_rng(0).random((n, 3))
cells = np.arange(n, dtype=np.int32).reshape(-1, 4)
if path.exists():
    series, first = resume_series(path, 1e9), None
else:
    series = open_series(path, points, {"body": Block.of({"tetra": cells})})
    series.append(0.0, np.zeros((n, 3)), {"value": np.zeros(n)}, {"cell": {"body": np.zeros(n // 4)}})
print("ready", flush=True)
i = int(series._last) + 1
while True:
    series.append(float(i), np.full((n, 3), i), {"value": np.full(n, i)}, {"cell": {"body": np.full(n // 4, i)}})
    print(i, flush=True)
    i += 1
"""


def kill_and_read(path, delay):
    """Start or resume a writer, kill it after a while, and check all that it said it had written."""
    with subprocess.Popen([sys.executable, "-c", WRITER, str(path), "0"], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout.readline() == "ready\n"
        sleep(delay)
        os.kill(writer.pid, signal.SIGKILL)
        said = [int(line) for line in writer.stdout.read().split("\n")[:-1]]
    series = read_series(path)
    assert len(series) >= (said[-1] + 1 if said else 1)
    np.testing.assert_array_equal(series.times, np.arange(len(series)))
    for i in (0, len(series) // 2, len(series) - 1):
        got = series.frame(i)
        assert (got.displacement == i).all()
        assert (got.point_data["value"] == i).all()
        assert (got.cell_data["cell"]["body"] == i).all()
    return len(series)


VTK_READER = """
import sys
from pathlib import Path
import numpy as np
import pyvista
path, count = Path(sys.argv[1]), int(sys.argv[2])
for i in {0, count - 1}:
    reader = pyvista.get_reader(path)
    if path.suffix == ".pvd":
        times = reader.time_values
        reader.set_active_time_point(i)
        grid = reader.read()[0]["body"]
    else:
        from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline as Pipeline

        reader.reader.UpdateInformation()
        times = reader.reader.GetOutputInformation(0).Get(Pipeline.TIME_STEPS())
        reader.reader.UpdateTimeStep(times[i])
        grid = pyvista.wrap(reader.reader.GetOutputDataObject(0))["body"]
    assert list(times) == list(range(count))
    assert (grid["displacement"] == i).all() and (grid["value"] == i).all() and (grid["cell"] == i).all()
    assert np.abs(grid.points - i).max() <= 1.0
"""


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.slow
def test_vtk_opens_a_repaired_series_after_kills(tmp_path, suffix):
    rng = random.Random(2)
    path = tmp_path / f"run{suffix}"
    for _ in range(3):
        count = kill_and_read(path, rng.uniform(0.0, 0.08))
        assert repair_series(path) == count
        assert not log_of(path).exists()
        assert not path.with_name(path.name + ".new").exists()
        if suffix == ".pvd":
            assert len(list(path.with_suffix("").glob("frame*.vtu"))) == count
        # VTK can hang or crash on a damaged file.
        subprocess.run([sys.executable, "-c", VTK_READER, str(path), str(count)], check=True, timeout=600)


def test_there_is_nothing_to_repair(tmp_path):
    with pytest.raises(OutputError, match="no series to repair"):
        repair_series(tmp_path / "run.vtkhdf")
    (tmp_path / "junk.vtkhdf").write_bytes(b"junk" * 1000)
    with pytest.raises(OutputError, match="cannot be read"):
        repair_series(tmp_path / "junk.vtkhdf")
    assert (tmp_path / "junk.vtkhdf").read_bytes() == b"junk" * 1000


def kill_often(tmp_path, suffix, times):
    rng = random.Random(1)
    path = tmp_path / f"run{suffix}"
    for k in range(times):
        if k % 10 == 0:
            path = tmp_path / f"run{k}{suffix}"
        kill_and_read(path, rng.uniform(0.0, 0.08))


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.slow
def test_a_killed_writer_loses_nothing(tmp_path, suffix):
    kill_often(tmp_path, suffix, 4)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_dozens_of_kills_lose_nothing(tmp_path, suffix):
    kill_often(tmp_path, suffix, 60)


def as_before_int64(path):
    """Make a series what earlier versions wrote: ParaView 5.13 shows nothing of it."""
    import h5py

    with h5py.File(path, "r+") as file:
        for name in ("Type", "Version"):
            del file["VTKHDF/Steps"].attrs[name]
        for group in file["VTKHDF/Assembly"].values():
            connectivity = group["Connectivity"][...].astype(np.int32)
            del group["Connectivity"]
            group["Connectivity"] = connectivity


def test_an_older_vtkhdf_file_is_read_and_brought_up_to_date(tmp_path):
    import h5py

    new, mended, resumed = tmp_path / "new.vtkhdf", tmp_path / "mended.vtkhdf", tmp_path / "resumed.vtkhdf"
    write(new, 3)
    for path in (mended, resumed):
        shutil.copy(new, path)
        as_before_int64(path)
        assert_frame(read_series(path).frame(2), 2)
    assert repair_series(mended) == 3
    with resume_series(resumed, up_to=1e-6) as series:
        series.append(*frame(2))
    for path in (new, mended, resumed):
        assert_frame(read_series(path).frame(2), 2)
        with h5py.File(path) as file:
            assert file["VTKHDF/Steps"].attrs["Type"] == b"MultiBlockDataSet"
            for group in file["VTKHDF/Assembly"].values():
                assert group["Connectivity"].dtype == group["Offsets"].dtype == np.int64
        assert vtk_frame(path, 2)[0].keys() == ["left part", "right", "wall"]


def sliding_tetrahedron(path, steps, up_to=None):
    """Write a tetrahedron that slides over a floor: 0.3 m along x and 0.1 m against y from frame to frame."""
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
    floor = Block.plane([[-1, -1, 0], [2, -1, 0], [2, 2, 0], [-1, 2, 0]])
    blocks = {"floor": floor, "body": Block.of({"tetra": np.array([[0, 1, 2, 3]], np.int32)})}
    with open_series(path, points, blocks) if up_to is None else resume_series(path, up_to) as series:
        for i in range(0 if up_to is None else int(up_to) + 1, steps):
            series.append(float(i), np.tile([0.3 * i, -0.1 * i, 0.0], (4, 1)))


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("count", [3, 30])
def test_a_plane_grows_below_what_leaves_it(tmp_path, suffix, count):
    path = tmp_path / f"run{suffix}"
    sliding_tetrahedron(path, count)
    series = read_series(path)
    corners = series.blocks["floor"].points
    low, high = corners.min(axis=0), corners.max(axis=0)
    for t in range(count):
        reached = series.points + series.frame(t).displacement
        assert (low[:2] <= reached[:, :2].min(axis=0)).all()
        assert (high[:2] >= reached[:, :2].max(axis=0)).all()
    assert low[2] == high[2] == 0.0
    # It goes nowhere else, and not much further.
    assert (high[1], low[0]) == (2.0, -1.0)
    assert high[0] <= max(2.0, 0.3 * count + 2.0)
    assert series.blocks["floor"].is_endless
    np.testing.assert_allclose(vtk_frame(path, 0)[0]["floor"].points, corners)
    np.testing.assert_allclose(vtk_frame(path, count - 1)[0]["floor"].points, corners)
    np.testing.assert_allclose(corners[0] + corners[2], corners[1] + corners[3])  # still in order


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_resumed_plane_is_that_of_an_uninterrupted_run(tmp_path, suffix):
    whole, resumed = tmp_path / f"whole{suffix}", tmp_path / f"resumed{suffix}"
    sliding_tetrahedron(whole, 20)
    sliding_tetrahedron(resumed, 13)
    sliding_tetrahedron(resumed, 20, up_to=9.0)
    np.testing.assert_array_equal(
        read_series(resumed).blocks["floor"].points, read_series(whole).blocks["floor"].points
    )


def test_only_planes_without_end_grow(tmp_path):
    path = tmp_path / "run.vtkhdf"
    write(path, 3)
    np.testing.assert_array_equal(
        read_series(path).blocks["wall"].points, two_tetrahedra_and_a_wall()[1]["wall"].points
    )


def test_an_oblique_plane_covers_a_box():
    corners = np.array([[0, 0, 0], [1, 0, 1], [1, 1, 1], [0, 1, 0.0]])
    grown = covering(corners, np.array([-1.0, -1, -1]), np.array([5.0, 3, 2]))
    normal = np.cross(*np.diff(grown[[0, 1, 2]], axis=0))
    np.testing.assert_allclose(np.cross(normal, [-1, 0, 1]), 0, atol=1e-5 * np.linalg.norm(normal))
    np.testing.assert_allclose(grown @ [-1, 0, 1], 0, atol=1e-6)
    assert covering(grown, np.array([-1.0, -1, -1]), np.array([5.0, 3, 2])) is grown
    point = np.zeros((4, 3))
    assert covering(point, np.array([-1.0, -1, -1]), np.array([5.0, 3, 2])) is point
