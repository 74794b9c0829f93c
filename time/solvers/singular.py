"""What is loose in a system whose matrix is singular."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from symplex.base.sparse import sp
from symplex.errors import StepFailed
from symplex.fem.assembly.pattern import Array, Pattern

_NOTHING = 1e-12  # a force is no more than rounding if it is this part of the sum of absolute values
_LITTLE = 1e-10  # the same for a motion that is known with an error
_LARGEST = 20_000  # unknowns up to which mechanisms are looked for, which takes a factorisation
_TAKES_PART = 0.1  # a node belongs to a mechanism if it moves by this part of the largest motion


class SingularMatrix(StepFailed):
    """A matrix that has no inverse.

    Attributes
    ----------
    loose : str or None
        What can move without force, in words, if it is known.
    """

    def __init__(self, message: str, loose: str | None):
        super().__init__(message)
        self.loose = loose

    def __reduce__(self) -> tuple[type, tuple[str, str | None]]:
        return type(self), (str(self), self.loose)  # of both arguments, not of the text alone


def singular(pattern: Pattern, blocks: Array, loose: str | None = None) -> SingularMatrix:
    """Return the error that a matrix [nnz, dim, dim] is singular, with what is loose, if that is found."""
    loose = loose or loose_part(pattern, blocks)
    return SingularMatrix(
        "the matrix of the step is singular" + (". Try a smaller step." if loose is None else f": {loose}."), loose
    )


def loose_part(pattern: Pattern, blocks: Array) -> str | None:
    """Return what can move without force, in words, or None if nothing is found.

    Parts that are connected by nothing with the rest are tried in each direction; then, up to 20 000 unknowns, any
    motion: by inverse iteration.

    Parameters
    ----------
    pattern : Pattern
    blocks : float64 [nnz, dim, dim]
        The matrix.
    """
    if not np.isfinite(blocks).all():
        return None
    return floating_part(pattern, blocks) or _mechanism(pattern, blocks)


def floating_part(pattern: Pattern, blocks: Array) -> str | None:
    """Return in words the first part that can be shifted as a whole, or None; this is found at any size."""
    dim = blocks.shape[1]
    rows = pattern.rows()
    coupled = np.any(blocks, axis=(1, 2))
    graph = sp.csr_array((coupled[coupled], (rows[coupled], pattern.indices[coupled])), shape=(pattern.n_nodes,) * 2)
    number, part = sp.csgraph.connected_components(graph, directed=False)
    # The forces on the nodes of a part if all are shifted by one in each direction, compared with what they sum.
    forces, sizes = np.zeros((2, pattern.n_nodes, dim, dim))
    np.add.at(forces, rows, blocks)
    np.add.at(sizes, rows, np.abs(blocks))
    held = np.zeros((number, dim), bool)
    np.logical_or.at(held, part, np.abs(forces).max(axis=1) > _NOTHING * sizes.max(axis=1))
    free = ~held
    if not free.any():
        return None
    first = int(np.flatnonzero(free.any(axis=1))[0])
    axes = " and ".join("xyz"[axis] for axis in np.flatnonzero(free[first]))
    nodes = np.flatnonzero(part == first)
    alone = len(nodes) == 1
    what = f"node {nodes[0]} is" if alone else f"the {len(nodes)} nodes connected with node {nodes[0]} are"
    return f"{what} held by nothing along {axes}; support {'it' if alone else 'them'}, or take a method with inertia"


def _mechanism(pattern: Pattern, blocks: Array) -> str | None:
    """Return what moves in the motion that meets the least force, if that is no more than rounding."""
    if not np.any(blocks):
        return "nothing has stiffness"
    motion = motion_without_force(pattern, blocks)
    return None if motion is None else _nodes_of(np.abs(motion))


def motion_without_force(pattern: Pattern, blocks: Array) -> Array | None:
    """Return the motion [n, dim] that meets the least force, its largest component 1, by inverse iteration.

    None if that force is more than rounding, or beyond 20 000 unknowns, where it is not looked for.

    Parameters
    ----------
    pattern : Pattern
    blocks : float64 [nnz, dim, dim]
        The matrix.
    """
    from scipy.sparse.linalg import splu

    dim = blocks.shape[1]
    size = pattern.n_nodes * dim
    largest = float(np.abs(blocks).max(initial=0.0))
    if size > _LARGEST or not 0.0 < largest < np.inf:
        return None
    matrix = sp.csc_array(pattern.matrix(blocks))
    shifted = sp.csc_array(matrix + _NOTHING * largest * sp.eye_array(size))
    factors = splu(shifted)
    motion = np.random.default_rng(0).standard_normal(size)
    for _ in range(3):
        motion = factors.solve(motion)
        motion /= np.abs(motion).max()
    moving = np.abs(motion) > _TAKES_PART
    force, size = np.abs(matrix @ motion)[moving], (abs(matrix) @ np.abs(motion))[moving]
    return motion.reshape(-1, dim) if np.all(force <= _LITTLE * size) else None


def _nodes_of(size: NDArray[np.float64]) -> str:
    moving = np.flatnonzero(size.max(axis=1) > _TAKES_PART)
    most, axis = np.unravel_index(int(np.argmax(size)), size.shape)
    some = ", ".join(map(str, moving[:5])) + (", …" if len(moving) > 5 else "")
    if len(moving) == 1:
        return f"node {most} can move along {'xyz'[axis]} without force; support it"
    return (
        f"{len(moving)} nodes ({some}) can move together without force, most of all node {most} along {'xyz'[axis]}; "
        "support them"
    )
