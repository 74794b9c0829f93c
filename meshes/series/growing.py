"""What each frame changes in an HDF5 file: to find a dataset by its name takes longer than to write some rows."""

# h5py declares its low-level objects as nothing in particular.
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import h5py


@final
class Growing:
    """Datasets that gain rows, and counts of them, each looked up once."""

    def __init__(self, file: h5py.File):
        self._file = file
        self._datasets: dict[str, tuple[Any, Any]] = {}
        self._counts: dict[str, Any] = {}

    def put(self, path: str, rows: NDArray[Any], first: int) -> None:
        """Write rows to a dataset from one of its rows on, which becomes so long as they end."""
        import h5py

        if path not in self._datasets:
            data = self._file[path]
            self._datasets[path] = data.id, data.dtype
        data, dtype = self._datasets[path]
        data.set_extent((first + len(rows), *rows.shape[1:]))
        if rows.size:
            place = data.get_space()
            place.select_hyperslab((first,) + (0,) * (rows.ndim - 1), rows.shape)
            data.write(h5py.h5s.create_simple(rows.shape), place, np.ascontiguousarray(rows, dtype))

    def count(self, path: str, number: int) -> None:
        """Set the attribute ``NSteps`` of a group."""
        import h5py

        if path not in self._counts:
            self._counts[path] = h5py.h5a.open(self._file[path].id, b"NSteps")
        self._counts[path].write(np.array(number, self._counts[path].dtype))
