"""What a frame costs in a results file: CPU time and bytes, by format and by size of the mesh.

    python benchmarks/write_series.py [--cells N] [--frames N] [--folder DIR]

A frame holds displacement, velocity and contact force at the nodes and one stress per tetrahedron, as in a run. The
first frame, which writes the mesh as well, is not counted. Next to each format stands the time of writing the same
bytes with plain writes to one file.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import numpy as np

from symplex.meshes.generate import box
from symplex.meshes.mesh import Mesh
from symplex.meshes.series.series import Block, open_series, read_series


def main() -> None:
    """Print one line per format."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--cells", type=int, default=100_000, help="about how many tetrahedra (default 100 000)")
    options.add_argument("--frames", type=int, default=40, help="how many frames (default 40)")
    options.add_argument("--folder", help="where to write (default: the folder for temporary files)")
    given = options.parse_args()
    across = max(1, round((given.cells / 24) ** (1 / 3)))
    mesh = box((1.0, 1.0, 1.0), (across, across, across))
    n_cells = len(mesh.cells["tetra"])
    print(f"{n_cells} tetrahedra, {len(mesh.points)} nodes, {given.frames} frames")
    print(f"{'format':10}{'best ms':>10}{'median ms':>10}{'MB/frame':>10}{'B/cell':>10}{'plain ms':>10}{'read ms':>10}")
    with TemporaryDirectory(dir=given.folder) as folder:
        for suffix in (".vtkhdf", ".pvd"):
            measure(Path(folder) / f"motion{suffix}", mesh, given.frames)


def measure(path: Path, mesh: Mesh, frames: int) -> None:
    """Write and read a series and print what it took."""
    tetrahedra = mesh.cells["tetra"]
    rng = np.random.default_rng(1)
    moved, at_nodes, at_cells = (
        rng.random(mesh.points.shape),
        rng.random(mesh.points.shape),
        rng.random(len(tetrahedra)),
    )
    point_data, cell_data = {"velocity": at_nodes, "contact_force": at_nodes}, {"von_mises": {"body": at_cells}}
    durations = []
    with open_series(path, mesh.points, {"body": Block.of({"tetra": tetrahedra})}) as series:
        series.append(0.0, moved, point_data, cell_data)
        before = size(path)
        for k in range(1, frames + 1):
            start = process_time()
            series.append(float(k), moved, point_data, cell_data)
            durations.append(process_time() - start)
    per_frame = (size(path) - before) / frames
    plain = write_plainly(path.with_name("plain"), int(per_frame), frames)
    start = process_time()
    for _ in read_series(path).frames():
        pass
    read = (process_time() - start) / (frames + 1)
    print(
        f"{path.suffix:10}{1e3 * min(durations):10.2f}{1e3 * np.median(durations):10.2f}{per_frame / 1e6:10.2f}"
        f"{per_frame / len(tetrahedra):10.1f}{1e3 * plain:10.2f}{1e3 * read:10.2f}"
    )


def size(path: Path) -> int:
    """Return the bytes of a series: the file, and the folder next to it if there is one."""
    return sum(file.stat().st_size for file in (path, *path.with_suffix("").glob("*")))


def write_plainly(path: Path, count: int, frames: int) -> float:
    """Return the shortest time in s of writing so many bytes to a file."""
    data = bytes(count)
    durations = []
    with path.open("wb", buffering=0) as file:
        for _ in range(frames):
            start = process_time()
            file.write(data)
            durations.append(process_time() - start)
    path.unlink()
    return min(durations)


if __name__ == "__main__":
    main()
