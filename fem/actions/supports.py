"""Supports: coordinates that do not move."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symplex.base.arguments import checked, described
from symplex.errors import InvalidSystem
from symplex.fem.assembly.nodes import node_indices, require_nodes

AXES = "xyz"


@checked
def fixed_mask(n_nodes: int, supports: Iterable[tuple[ArrayLike, str]], dim: int = 3) -> NDArray[np.bool_]:
    """Return which coordinates [n_nodes, dim] are fixed.

    Parameters
    ----------
    n_nodes : int
    supports : iterable of (int [m], str)
        Nodes and the components to fix, for example ``([0, 1, 2], "xy")``. A coordinate may be fixed twice.
    dim : int, default 3

    Raises
    ------
    InvalidSystem
        If a node or a component does not exist, or a support is no such pair.
    """
    if n_nodes < 0 or not 1 <= dim <= len(AXES):
        raise InvalidSystem(f"there are no supports of {n_nodes} nodes in {dim} dimensions.")
    fixed = np.zeros((n_nodes, dim), bool)
    if isinstance(supports, str | Mapping | np.ndarray) or not isinstance(supports, Iterable):
        raise InvalidSystem(f'supports are a list of nodes and components, ([0, 1], "xyz"); not {described(supports)}.')
    for support in supports:
        if not (isinstance(support, tuple | list) and len(support) == 2 and isinstance(support[1], str)):
            raise InvalidSystem(f'supports are pairs of nodes and components, ([0, 1], "xyz"); one is {support!r:.80}.')
        nodes, components = support
        index = node_indices("a support", nodes)
        require_nodes("a support", index, n_nodes)
        unknown = sorted(set(components) - set(AXES[:dim]))
        if unknown or not components:
            raise InvalidSystem(f"a support fixes '{components}'; components are letters of '{AXES[:dim]}'.")
        for component in components:
            fixed[index, AXES.index(component)] = True
    return fixed
