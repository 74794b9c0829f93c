"""The lattice of force-stepping as it is chosen: what the numbers must be, and one of them for each coordinate."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import described
from symplex.errors import InvalidSystem
from symplex.fem.energies.energy import Array
from symplex.fem.system import System


def require_lattice(
    grid: ArrayLike, offset: ArrayLike | str | None, axes: ArrayLike | None, mirrored: bool | tuple[bool, ...]
) -> None:
    """Refuse parameters of `symplex.time.events.force_stepping.ForceStepping` that are of no lattice."""
    sizes = _numbers("grid size", grid)
    if not (sizes.size and np.all(np.isfinite(sizes)) and np.all(sizes > 0)):
        raise ValueError(f"the grid size of force-stepping must be positive and finite; it is {described(grid)} m.")
    random = offset is None or (isinstance(offset, str) and offset == "random")
    if not random and not np.all(np.isfinite(_numbers("offset", offset))):
        raise ValueError(f"the offset of force-stepping must be finite; it is {described(offset)}.")
    if axes is not None:
        rows = _numbers("axes", axes)
        if rows.ndim != 2 or not np.isfinite(rows).all() or not np.allclose(rows @ rows.T, np.eye(len(rows))):
            raise ValueError(f"the axes of force-stepping must be orthogonal unit vectors; they are {described(axes)}.")
    each = mirrored if isinstance(mirrored, tuple) and mirrored else (mirrored,)
    if not all(isinstance(one, bool) for one in each):
        raise ValueError(
            "mirrored must be True or False in force-stepping, or a tuple of these with one for each direction; "
            f"it is {mirrored!r}."
        )


def _numbers(name: str, values: ArrayLike | None) -> Array:
    try:
        return np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"the {name} of force-stepping must be a number or an array; it is {values!r}.") from None


def spread(name: str, values: ArrayLike, shape: tuple[int, int]) -> Array:
    """Return one value for each coordinate [n, dim]."""
    array = _numbers(name, values)
    try:
        return np.broadcast_to(array, shape)
    except ValueError:
        raise InvalidSystem(
            f"the {name} of force-stepping has shape {array.shape}; expected a number, one for each direction "
            f"{shape[1:]}, or one for each coordinate {shape}."
        ) from None


def require_axes(system: System, axes: Array) -> None:
    """Refuse axes that a system cannot have."""
    if axes.shape != (system.dim, system.dim):
        raise InvalidSystem(f"the axes of force-stepping have shape {axes.shape}, expected {(system.dim,) * 2}.")
    partly = np.flatnonzero(system.fixed.any(axis=1) & ~system.fixed.all(axis=1))
    if len(partly):
        raise InvalidSystem(
            f"force-stepping with rotated axes cannot hold single components fixed (node {partly[0]} is); "
            "fix all components of a node, or use the coordinate axes."
        )
