"""Sparse matrices of SciPy, imported when the first one is made: that takes a tenth of a second.

from symplex.base.sparse import sp
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any


class _Later:
    """A module that is imported when something in it is first asked for."""

    def __init__(self, name: str):
        self._name = name

    def issparse(self, value: object) -> bool:
        """Return whether something is a sparse matrix, of which there is none before the import."""
        return self._name in sys.modules and import_module(self._name).issparse(value)

    def __getattr__(self, name: str) -> Any:
        value = getattr(import_module(self._name), name)
        setattr(self, name, value)
        return value


if TYPE_CHECKING:
    import scipy.sparse as sp
else:
    sp = _Later("scipy.sparse")
