"""What a reader returns: the contents of a file as meshio has them, of any type of cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class RawCells(NamedTuple):
    """A block of cells: their type, and their nodes [m, k]."""

    type: str
    data: NDArray[np.int64]


@dataclass(frozen=True)
class RawMesh:
    """Points, blocks of cells, and named sets: meshio's ``Mesh``, which has no quadratic wedges.

    Attributes
    ----------
    points : float64 [n, dim]
    cells : list of RawCells
    point_sets : mapping of str to int64 [g]
    cell_sets : mapping of str to (sequence of int64 [g] or None)
        For each set its members in each block.
    point_data, cell_data : mapping
        Of integers, which may stand for groups.
    info : mapping of str to list of str
        What a file calls elements of other formulations, by cell type.
    unit : float, optional
        The m in its unit of length, if the file gives it.
    point_numbers : int64 [n], optional
        What the file calls the points.
    cell_numbers : sequence of int64 [m], optional
        What it calls the cells of each block; 0 of those that it has no number for.
    """

    points: NDArray[np.float64]
    cells: Sequence[RawCells]
    point_sets: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)
    cell_sets: Mapping[str, Sequence[NDArray[np.integer] | None]] = field(default_factory=dict)
    point_data: Mapping[str, NDArray] = field(default_factory=dict)
    cell_data: Mapping[str, Sequence[NDArray]] = field(default_factory=dict)
    info: Mapping[str, Sequence[str]] = field(default_factory=dict)
    unit: float | None = None
    point_numbers: NDArray[np.int64] | None = None
    cell_numbers: Sequence[NDArray[np.int64]] | None = None
