"""Every format we write, opened with every ParaView on this machine: what a user sees is what was written.

All executables ``pvpython`` or ``pvpython-SOMETHING`` on the search path are taken. On Debian: ``apt install paraview
python3-paraview xvfb xauth``; its older versions need an X server to draw.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import symplex as sx
from symplex.meshes.formats.save import save_mesh
from symplex.meshes.generate import box
from symplex.meshes.series.series import Block, open_series

pytestmark = pytest.mark.slow

FRAMES = 5
POINTS = np.array(
    [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [3, 0, 0], [4, 0, 0], [3, 1, 0], [3, 0, 1], [4, 1, 0], [4, 0, 1.0]]
)
BLOCKS = {
    "left part": Block.of({"tetra": np.array([[0, 1, 2, 3]], np.int32)}),
    "right": Block.of({"tetra": np.array([[4, 5, 6, 7], [5, 8, 6, 9]], np.int32)}),
    "floor": Block.plane([[-1, -1, -1], [5, -1, -1], [5, 2, -1], [-1, 2, -1]]),
}


def pvpythons():
    """Return all pvpython on the search path, each once."""
    folders = [Path(folder) for folder in os.get_exec_path() if Path(folder).is_dir()]
    found = [path for folder in folders for path in (folder / "pvpython", *sorted(folder.glob("pvpython-*")))]
    return list({path.resolve(): path for path in found if os.access(path, os.X_OK)}.values())


def displacement(i):
    """Displacement of all nodes in frame i: both bodies slide along x and off what is first shown of the floor."""
    return np.tile([0.5 * i, 0.0, 0.25 * i], (len(POINTS), 1))


def write_series(path):
    with open_series(path, POINTS, BLOCKS) as series:
        for i in range(FRAMES):
            at_points = {"velocity": np.tile([3.0 * i, 0.0, 4.0 * i], (len(POINTS), 1))}
            at_cells = {"von_mises": {"left part": [100.0 + i], "right": [200.0 + i, 300.0 + i]}}
            series.append(1e-6 * i, displacement(i), at_points, at_cells)


def files_of_ranks(folder):
    """The frames of two ranks in pieces, and what is exported of them, by suffix; none without MPI."""
    try:
        from reference.on_ranks import DROP, run
    except pytest.skip.Exception:
        return {}
    (folder / "drop.toml").write_text(DROP, "utf-8")
    words = ["--set", "output.partitioned=true", "--set", 'output.fields=["velocity", "von_mises"]']
    done = run(2, folder, "drop.toml", "--quiet", "--output", "ranks", *words)
    assert (done.returncode, done.stderr) == (0, "")
    exported = folder / "exported.pvd"
    sx.export_result(folder / "ranks", exported)
    return {"ranks.vtkhdf": folder / "ranks" / "motion.vtkhdf", "ranks.pvd": exported}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A file of each format, by suffix."""
    folder = tmp_path_factory.mktemp("paraview")
    found = {suffix: folder / f"motion{suffix}" for suffix in (".vtkhdf", ".pvd")}
    for path in found.values():
        write_series(path)
    for kind, split in (("tetra", "6"), ("hexahedron", "hexahedra")):
        for suffix in (".vtu", ".vtk"):
            found[kind + suffix] = folder / f"{kind}{suffix}"
            save_mesh(box([1.0, 2.0, 3.0], [1, 2, 3], split=split), found[kind + suffix])
    return found | files_of_ranks(folder)


def can_draw(command, picture):
    """Return whether a ParaView can draw here anything at all: it aborts where the X server gives it no OpenGL."""
    code = f"from paraview.simple import *; Show(Sphere()); SaveScreenshot({str(picture)!r})"
    script = picture.with_suffix(".py")
    script.write_text(code)
    subprocess.run([*command, str(script)], capture_output=True, timeout=600, check=False)
    return picture.exists()


@pytest.fixture(scope="module", params=pvpythons() or [None], ids=str)
def seen(request, files, tmp_path_factory):
    """What one ParaView sees in all files."""
    if request.param is None:
        pytest.skip("there is no pvpython here; on Debian: apt install paraview python3-paraview xvfb xauth")
    folder = tmp_path_factory.mktemp("seen")
    look = shutil.copy(Path(__file__).parent / "look.py", folder)
    has_display = bool(os.environ.get("DISPLAY"))
    # Each worker looks for a free display from its own number on: two that look at once may find the same.
    first = 100 + 50 * int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    server = ["xvfb-run", "-a", "-n", str(first)] if shutil.which("xvfb-run") and not has_display else []
    command = [*server, str(request.param), str(look), str(folder), *map(str, files.values())]
    for _ in range(2):  # next to other jobs an X server may give it no OpenGL, and it aborts
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        if done.returncode == 0:
            break
    found = folder / "found.json"
    if not found.exists():
        pytest.skip(f"{request.param} does not run here: {(done.stdout + done.stderr)[-300:]}")
    content = json.loads(found.read_text())
    return SimpleNamespace(
        version=tuple(content["version"]),
        files={suffix: content["files"][str(path)] for suffix, path in files.items()},
        pictures={suffix: folder / f"{path.name}.png" for suffix, path in files.items()},
        status=done.returncode,
        errors=done.stdout + done.stderr,
        can_draw=can_draw([*server, str(request.param)], folder / "sphere.png"),
    )


def looked_into(seen, suffix):
    if suffix not in seen.files:
        pytest.skip("there is no MPI here: symplex[mpi]")
    if suffix.endswith(".vtkhdf") and seen.version < (5, 13):
        pytest.skip("VTKHDF files with blocks and times are read by ParaView from 5.13")
    assert "refused" not in seen.files[suffix]
    return seen.files[suffix]


def bounds_of(points):
    return np.stack([points.min(axis=0), points.max(axis=0)], axis=1).ravel()


@pytest.mark.parametrize("suffix", [".vtkhdf", ".pvd"])
def test_a_motion_is_seen_as_it_was_written(seen, suffix):
    motion = looked_into(seen, suffix)
    np.testing.assert_array_equal(motion["times"], 1e-6 * np.arange(FRAMES))
    assert list(motion["at"]) == ["0", "2", "4"]
    for i, moment in ((int(key), value) for key, value in motion["at"].items()):
        blocks = moment["blocks"]
        assert list(blocks) == list(BLOCKS)
        for name, lowest in (("left part", 100.0), ("right", 200.0)):
            nodes, found = BLOCKS[name].nodes, blocks[name]
            assert (found["points"], found["cells"]) == (len(nodes), BLOCKS[name].n_cells)
            np.testing.assert_allclose(found["bounds"], bounds_of((POINTS + displacement(i))[nodes]))
            np.testing.assert_allclose(moment["warped"][name], bounds_of(POINTS[nodes]), atol=1e-6)
            assert set(found["at_points"]) == {"displacement", "velocity"}
            np.testing.assert_allclose(found["at_points"]["velocity"], 5.0 * i)
            np.testing.assert_allclose(found["at_points"]["displacement"], np.hypot(0.5, 0.25) * i, rtol=1e-6)
            np.testing.assert_allclose(
                found["at_cells"]["von_mises"], [lowest + i, lowest + i + 100.0 * (name == "right")]
            )


@pytest.mark.parametrize("suffix", ["ranks.vtkhdf", "ranks.pvd"])
def test_frames_of_ranks_are_seen_as_they_were_written(seen, files, suffix):
    motion, series = looked_into(seen, suffix), sx.read_series(files["ranks.vtkhdf"])
    np.testing.assert_array_equal(motion["times"], series.times)
    block = series.blocks["bar"]
    for i, moment in ((int(key), value) for key, value in motion["at"].items()):
        # The index has a piece of each rank in the block of a body, with the nodes of a border in both.
        pieces = [found for name, found in moment["blocks"].items() if name.split("/")[0] == "bar"]
        assert len(pieces) == (2 if suffix == "ranks.vtkhdf" else 1)
        assert sum(piece["cells"] for piece in pieces) == block.n_cells == 768
        assert sum(piece["points"] for piece in pieces) >= len(block.nodes)
        frame, bounds = series.frame(i), np.array([piece["bounds"] for piece in pieces]).reshape(-1, 3, 2)
        seen_bounds = np.stack([bounds[..., 0].min(axis=0), bounds[..., 1].max(axis=0)], axis=1).ravel()
        np.testing.assert_allclose(seen_bounds, bounds_of((series.points + frame.displacement)[block.nodes]), rtol=1e-6)
        assert set(pieces[0]["at_points"]) == {"displacement", "velocity"}
        speeds = np.linalg.norm(frame.point_data["velocity"][block.nodes], axis=1)
        assert_ranges([piece["at_points"]["velocity"] for piece in pieces], speeds)
        assert_ranges([piece["at_cells"]["von_mises"] for piece in pieces], frame.cell_data["von_mises"]["bar"])
        assert "floor" in moment["blocks"]


def assert_ranges(seen, values):
    """Check that ranges that are seen together are that of some values."""
    lowest, highest = np.array(seen).T
    np.testing.assert_allclose([lowest.min(), highest.max()], [values.min(), values.max()], rtol=1e-5)


@pytest.mark.parametrize("suffix", [".vtkhdf", ".pvd"])
def test_the_floor_is_seen_below_all_that_moves(seen, suffix):
    reached = bounds_of(POINTS[:, :2] + displacement(FRAMES - 1)[:, :2])
    for moment in looked_into(seen, suffix)["at"].values():
        floor = moment["blocks"]["floor"]
        assert (floor["points"], floor["cells"]) == (4, 1)
        assert floor["bounds"][1] >= reached[1]
        assert floor["bounds"][4:] == [-1.0, -1.0]


@pytest.mark.parametrize("suffix", [".vtu", ".vtk"])
@pytest.mark.parametrize(("kind", "cells"), [("tetra", 36), ("hexahedron", 6)])
def test_a_mesh_is_seen_with_its_groups(seen, kind, cells, suffix):
    ((_, grid),) = looked_into(seen, f"{kind}{suffix}")["at"]["0"]["blocks"].items()
    assert grid["points"] == 24
    assert grid["cells"] >= cells  # and the faces of groups
    assert grid["bounds"] == [0.0, 1.0, 0.0, 2.0, 0.0, 3.0]
    assert any(name.startswith("group:") for name in {**grid["at_points"], **grid["at_cells"]})


def test_paraview_has_nothing_to_complain_of(seen):
    """But that it cannot draw, or finds no reader for VTKHDF files, which it says in other ways."""
    lines = [line for line in seen.errors.splitlines() if "ERR|" in line or "HDF5-DIAG" in line]
    assert [line for line in lines if "X server" not in line] == []
    assert seen.status == 0 or not seen.can_draw


@pytest.mark.parametrize("suffix", [".vtkhdf", ".pvd", "tetra.vtu", "hexahedron.vtk", "ranks.vtkhdf", "ranks.pvd"])
def test_what_is_drawn_is_not_empty(seen, suffix):
    import matplotlib.image

    looked_into(seen, suffix)
    if not seen.pictures[suffix].exists() and not seen.can_draw:
        pytest.skip("this ParaView needs an X server to draw; on Debian: apt install xvfb xauth")
    image = matplotlib.image.imread(seen.pictures[suffix])[..., :3]
    assert (np.abs(image - image[0, 0]).max(axis=-1) > 0.1).mean() > 0.03
