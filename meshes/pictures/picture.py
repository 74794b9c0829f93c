"""Pictures that notebooks show and that are saved where one wants them."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from symplex.base.files import reason_of, write_atomic
from symplex.errors import OutputError, RenderError
from symplex.meshes.kinds import dimension_of, face_corners, faces_of_cells
from symplex.meshes.mesh import Mesh, rows_among
from symplex.meshes.pictures.film import render_film
from symplex.meshes.pictures.render import render_snapshots
from symplex.meshes.pictures.view import View
from symplex.meshes.series.frames import Block, Frame, Series

Array = NDArray[np.float64]

_KINDS = {".png": "image/png", ".gif": "image/gif", ".mp4": "video/mp4"}
_WIDTH = 900  # pixels
_OTHERS = "in no group"


@final
class Picture:
    """A picture or a film, which a notebook shows where it is the last of a cell."""

    def __init__(self, content: bytes, suffix: str = ".png"):
        self.content, self.suffix = content, suffix

    @classmethod
    def drawn(cls, draw: Callable[[Path], object], suffix: str = ".png") -> Picture:
        """Return what a function draws to the file that it is given; it may choose another suffix and return that."""
        with TemporaryDirectory() as folder:
            path = Path(folder) / f"picture{suffix}"
            made = draw(path)
            path = made if isinstance(made, Path) else path
            return cls(path.read_bytes(), path.suffix)

    def save(self, path: str | Path) -> Path:
        """Write it to a file and return that."""
        path = Path(path)
        if path.suffix.lower() != self.suffix:
            raise OutputError(f"{path}: this is saved as {self.suffix}, not '{path.suffix}'.")
        try:
            write_atomic(path, self.content)
        except OSError as error:
            raise OutputError(f"{path} cannot be written ({reason_of(error)}).") from error
        return path

    def __repr__(self) -> str:
        return f"Picture({self.suffix}, {len(self.content) / 1000:.0f} kB)"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        found: dict[str, Any] = {"text/plain": repr(self)}
        code = b64encode(self.content).decode()
        if self.suffix == ".png":
            return found | {"image/png": code}
        source = f"data:{_KINDS[self.suffix]};base64,{code}"
        tag = f'<video controls loop src="{source}"></video>' if self.suffix == ".mp4" else f'<img src="{source}">'
        return found | {"text/html": tag}


@final
class Still(Series):
    """A series of one frame, of points where they are.

    Parameters
    ----------
    points : float64 [n, dim]
    blocks : mapping of str to Block
        With all points.
    fields : mapping of str to float64 [n, …], optional

    Attributes
    ----------
    kept : int32 [k]
        The points that are drawn: those of blocks.
    """

    def __init__(self, points: Array, blocks: dict[str, Block], fields: dict[str, Array] | None = None):
        placed = np.zeros((len(points), 3))
        placed[:, : points.shape[1]] = points
        self._fields = {name: np.asarray(values, np.float32) for name, values in (fields or {}).items()}
        used = np.unique(np.concatenate([np.empty(0, np.int32), *(block.nodes for block in blocks.values())]))
        self.kept, place = used, np.zeros(len(placed), np.int32)
        place[used] = np.arange(len(used))  # points of no block are not drawn
        moved = {name: Block.of({k: place[cells] for k, cells in one.cells.items()}) for name, one in blocks.items()}
        self._set(Path("picture"), np.zeros(1), placed[used], moved, self._fields, ())

    def _read(self, i: int) -> Frame:
        still = np.zeros((len(self.points), 3), np.float32)
        return Frame(0.0, still, {name: values[self.kept] for name, values in self._fields.items()}, {})


def picture_of_still(still: Still, *, field: str = "body", view: View | None = None, width: int = _WIDTH) -> Picture:
    """Return a picture of one moment."""
    if not still.blocks:
        raise RenderError("there are no cells to draw.")
    return Picture.drawn(lambda path: render_snapshots(still, path, times=[0.0], field=field, view=view, width=width))


def picture_of_mesh(mesh: Mesh, groups: bool = False, view: View | None = None, width: int = _WIDTH) -> Picture:
    """Return a picture of a mesh, its groups in their own colours if requested; see `Mesh.plot`."""
    blocks = _by_group(mesh) if groups else _whole(mesh)
    return picture_of_still(Still(mesh.points, blocks), view=view, width=width)


def _whole(mesh: Mesh) -> dict[str, Block]:
    """Return the cells of the highest dimension, and of bars next to them, as one block."""
    highest = max((dimension_of(kind) for kind, cells in mesh.cells.items() if len(cells)), default=0)
    shown = {kind: cells for kind, cells in mesh.cells.items() if len(cells) and dimension_of(kind) in {highest, 1}}
    return {"mesh": Block.of(shown)} if shown else {}


def _by_group(mesh: Mesh) -> dict[str, Block]:
    """Return a block for each group, each cell in the smallest group that it is in, and one of those in none.

    Groups of faces are drawn on the boundary, whose other faces are those of the groups of their cells.
    """
    sizes = {name: sum(map(len, members.values())) for name, members in mesh.cell_groups.items()}
    smallest_first = sorted(sizes, key=lambda name: sizes[name])
    blocks: dict[str, dict[str, NDArray[np.int32]]] = {}
    for kind, cells in mesh.cells.items():
        left = np.ones(len(cells), bool)
        for name in smallest_first:
            members = np.zeros(len(cells), bool)
            members[mesh.cell_groups[name].get(kind, np.empty(0, np.int32))] = True
            if (chosen := members & left).any():
                blocks.setdefault(name, {})[kind] = cells[chosen]
                left &= ~chosen
        if left.any() and (dimension_of(kind) != 2 or not mesh.volume_types):  # loose faces are of bodies
            blocks.setdefault(_OTHERS, {})[kind] = cells[left]
    of_faces = [{kind: rows for kind, rows in one.items() if dimension_of(kind) == 2} for one in blocks.values()]
    faces = np.concatenate([face_corners({}), *map(face_corners, of_faces)])
    found = {name: Block.of(_shown(mesh, cells, faces)) for name, cells in blocks.items()}
    found = {name: block for name, block in found.items() if len(block.nodes)}
    for name, nodes in mesh.point_groups.items():
        if name not in found and len(nodes):
            found[name] = Block.of({"vertex": np.asarray(nodes, np.int32)[:, None]})
    return found


def _shown(mesh: Mesh, cells: dict[str, NDArray[np.int32]], faces: NDArray[np.int32]) -> dict[str, NDArray[np.int32]]:
    """Return cells with those that fill a volume replaced by their faces on the boundary that no group has."""
    volume = {kind: rows for kind, rows in cells.items() if dimension_of(kind) == 3}
    if not volume:
        return cells
    shown = {kind: rows for kind, rows in cells.items() if kind not in volume}
    own = face_corners(faces_of_cells(volume))
    for kind, boundary in mesh.boundary_faces.items():
        corners = face_corners({kind: boundary})
        free = rows_among(corners, own)
        if len(faces):
            free &= ~rows_among(corners, faces)
        if free.any():
            shown[kind] = np.concatenate([shown[kind], boundary[free]]) if kind in shown else boundary[free]
    return shown or {"vertex": np.empty((0, 1), np.int32)}


def film_of(series: Series, suffix: str = ".mp4", **options: Any) -> Picture:
    """Return a film of a series; for the options see `render_film`."""
    return Picture.drawn(lambda path: render_film(series, path, **options), suffix)


def snapshots_of(series: Series, times: Sequence[float] | None = None, **options: Any) -> Picture:
    """Return snapshots of a series; for the options see `render_snapshots`."""
    return Picture.drawn(lambda path: render_snapshots(series, path, times=times, **options))
