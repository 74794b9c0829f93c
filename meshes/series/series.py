"""A motion as a time series of frames: written while a run goes on, read by ParaView and by ``read_series``.

A series holds named blocks of cells (one per body), their points, and for each frame the displacement and any point and
cell data. Two formats, chosen by the suffix of the path:

``.vtkhdf`` (the default)
    One file (VTKHDF, a MultiBlockDataSet with time steps); see `symplex.meshes.series.vtkhdf`. ParaView ≥ 5.13. Runs on
    several ranks may write an index and a file for each; see `symplex.meshes.series.piece_index`.
``.pvd``
    A small index and a folder of raw binary .vtu files; see `symplex.meshes.series.pvd`. Any ParaView, and other tools.

The points of a frame are written *deformed*, so that ParaView shows the motion as soon as the file is opened; the
displacement is there as well, for colouring and for warping by another factor. That costs 12 bytes per node and frame,
a quarter more for displacement, velocity and one number per tetrahedron. Values are float32, times float64.

A run may be killed at any moment: what has been appended before is there, whole, and nothing else is.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from symplex.base.arguments import checked
from symplex.errors import OutputError
from symplex.meshes.series import pieces, pvd, vtkhdf
from symplex.meshes.series.frames import Block, CellData, Frame, PointData, Series, SeriesWriter, in_space
from symplex.meshes.series.piece_index import pieces_of

__all__ = [
    "Block",
    "CellData",
    "Frame",
    "PointData",
    "Series",
    "SeriesWriter",
    "open_series",
    "read_series",
    "repair_series",
    "resume_series",
]


@checked
def open_series(path: str | Path, points: NDArray[np.float64], blocks: Mapping[str, Block]) -> SeriesWriter:
    """Begin a new series; the format is that of the suffix, ``.vtkhdf`` or ``.pvd``.

    Parameters
    ----------
    path : path-like
        The file ParaView is to open.
    points : [n, dim]
        Reference positions of all nodes in m.
    blocks : mapping of str to Block
        The bodies, which together use every node, and any obstacles.

    Raises
    ------
    OutputError
        If the series exists already, the folder is missing or not writable, or the blocks do not fit the points.
    """
    path = Path(path)
    if path.exists():
        raise OutputError(f"{path} exists already; remove it, choose another name, or resume it.")
    return _writer_of(path)(path, in_space(np.asarray(points, float)), blocks)


def resume_series(path: str | Path, up_to: float, frames: int | None = None) -> SeriesWriter:
    """Reopen a series to append to it, without the frames later than ``up_to``.

    Parameters
    ----------
    path : path-like
    up_to : float
        Time in s.
    frames : int, optional
        How many frames there must be up to then.
    """
    path = Path(path)
    writer = _writer_of(path)
    if writer is vtkhdf.VtkHdfWriter and path.exists() and pieces_of(path):
        writer = pieces.PiecedWriter
    return writer.resume(path, up_to, frames)


@checked
def read_series(path: str | Path) -> Series:
    """Open a series for reading: all frames that were appended whole, even after a crash.

    Nothing on the disk is changed, so that a run may be going on.

    Parameters
    ----------
    path : path-like
        The file, ``.vtkhdf`` or ``.pvd``.

    Raises
    ------
    OutputError
        If there is no series or it cannot be read.
    """
    path = Path(path)
    is_pvd = _is_pvd(path)
    if not path.exists():
        raise OutputError(f"{path} does not exist; a series appears there with its first frame.")
    return (
        pvd.PvdSeries(path) if is_pvd else pieces.PiecedSeries(path) if pieces_of(path) else vtkhdf.VtkHdfSeries(path)
    )


@checked
def repair_series(path: str | Path) -> int:
    """Tidy up a series whose writer was killed, so that other programs can open it; return its number of frames.

    `read_series` and `resume_series` need no repair. ParaView does if the kill came in the very moment of a commit:
    then the commit is finished. What was written of a frame that never became part of the series is removed.
    Not to be called while a run writes the series.

    Parameters
    ----------
    path : path-like
        The file, ``.vtkhdf`` or ``.pvd``.

    Raises
    ------
    OutputError
        If there is no series, or it cannot be read or written.
    """
    path = Path(path)
    is_pvd = _is_pvd(path)
    if not path.exists():
        raise OutputError(f"{path} does not exist; there is no series to repair.")
    return pvd.repair(path) if is_pvd else pieces.repair(path) if pieces_of(path) else vtkhdf.repair(path)


def _writer_of(path: Path) -> type[SeriesWriter]:
    return pvd.PvdWriter if _is_pvd(path) else vtkhdf.VtkHdfWriter


def _is_pvd(path: Path) -> bool:
    if path.suffix not in (".vtkhdf", ".pvd"):
        raise OutputError(f"{path.name}: a series is a .vtkhdf or a .pvd file, not '{path.suffix}'.")
    return path.suffix == ".pvd"
