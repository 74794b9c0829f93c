"""Dampers that join parts, and the drag of a fluid."""

from __future__ import annotations

from typing import Annotated, ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.base.quantities import between, not_negative
from symplex.errors import InvalidSystem
from symplex.fem.actions import viscous_loops
from symplex.fem.actions.looped_load import LoopedLoad
from symplex.fem.assembly.nodes import Nodes, node_indices
from symplex.fem.assembly.pattern import Array


@checked
@final
class MeanDashpot(LoopedLoad):
    """A damper between the means of two sets of nodes, or between that of one set and a fixed point.

    With the way d between both ends, e = d/|d| and w = e·ḋ, by how fast it gets longer, it pulls with
    F = c |w|^p sign(w), on each node of a set with the same part of it. So between two sets both momenta are kept.

    Parameters
    ----------
    nodes : int [k]
        The nodes of the first end.
    to : int [l] or float64 [dim]
        The nodes of the second end; or, with ``fixed``, a point in m.
    viscosity : float
        c in N (s/m)^p.
    exponent : float, default 1
        p ≥ 1.
    fixed : bool, default False
        Whether the second end is a point that does not move.

    Raises
    ------
    InvalidSystem
        If the viscosity is negative or not finite, the exponent is below 1, or an end has no nodes.
    """

    kernels: ClassVar = viscous_loops.DASHPOTS

    def __init__(
        self,
        nodes: Nodes,
        to: ArrayLike,
        viscosity: Annotated[float, not_negative("N s/m")],
        exponent: Annotated[float, between(1.0)] = 1.0,
        *,
        fixed: bool = False,
    ):
        first = node_indices("MeanDashpot", nodes)
        ends = [(first, -1.0)]
        self._point: Array | None = None
        if fixed:
            self._point = np.array(to, dtype=float)
            if self._point.ndim != 1 or not np.isfinite(self._point).all():
                raise InvalidSystem(f"MeanDashpot: the fixed point must be finite, [dim]; it is {to}.")
        else:
            ends.append((node_indices("MeanDashpot", to), 1.0))  # pyright: ignore[reportArgumentType]
        if any(len(end) == 0 for end, _ in ends):
            raise InvalidSystem("MeanDashpot: an end has no nodes.")
        every = np.unique(np.concatenate([end for end, _ in ends]))
        self._shares = np.zeros(len(every))  # by which d is a sum of positions
        for end, sign in ends:
            np.add.at(self._shares, np.searchsorted(every, end), sign / len(end))
        self.nodes = every.astype(np.int32)[None]
        self.viscosity, self.exponent = float(viscosity), float(exponent)

    def require_dimension(self, dim: int) -> None:
        """Raise `InvalidSystem` if nodes have other coordinates than the fixed point."""
        if self._point is not None and len(self._point) != dim:
            raise InvalidSystem(
                f"MeanDashpot: the fixed point has {len(self._point)} coordinates, but nodes have {dim}."
            )

    @property
    def record(self) -> viscous_loops.DashpotRecord:
        """What the kernels read."""
        return viscous_loops.DashpotRecord(
            nodes=self.nodes,
            shares=self._shares[None].astype(float),
            c=np.array([self.viscosity]),
            exponents=np.array([self.exponent]),
            point=_padded(self._point),
        )


@checked
@final
class QuadraticDrag(LoopedLoad):
    """The drag of a fluid on nodes, f = −k |w| w with w = v − u, their velocity in the fluid.

    Of a body of the frontal area A in a fluid of the density ρ it is k = ½ ρ c A in all, shared by its nodes. A fluid
    that moves also drives.

    Parameters
    ----------
    nodes : int [m]
    drag : float or float64 [m]
        k ≥ 0 in kg/m, of each node.
    velocity : float64 [dim], optional
        u in m/s, by default at rest.

    Raises
    ------
    InvalidSystem
        If a drag is negative or not finite, sizes do not fit, or the velocity is not finite.
    """

    kernels: ClassVar = viscous_loops.DRAG

    def __init__(self, nodes: Nodes, drag: ArrayLike, velocity: ArrayLike | None = None):
        indices = node_indices("QuadraticDrag", nodes)
        drag = np.array(drag, dtype=float)
        if drag.ndim and drag.shape != indices.shape:
            raise InvalidSystem(f"QuadraticDrag: drag has shape {drag.shape}, but there are {len(indices)} nodes.")
        if not np.all((drag >= 0.0) & (drag < np.inf)):
            raise InvalidSystem("QuadraticDrag: drag must not be negative, and finite (kg/m).")
        self.nodes = indices[:, None]
        self.drag = np.broadcast_to(drag, indices.shape).copy()
        self.velocity = None if velocity is None else np.array(velocity, dtype=float)
        if self.velocity is not None and not (self.velocity.ndim == 1 and np.isfinite(self.velocity).all()):
            raise InvalidSystem(f"QuadraticDrag: the velocity of the fluid must be finite, [dim]; it is {velocity}.")

    def require_dimension(self, dim: int) -> None:
        """Raise `InvalidSystem` if velocities have other components than that of the fluid."""
        if self.velocity is not None and len(self.velocity) != dim:
            raise InvalidSystem(
                f"QuadraticDrag: the velocity of the fluid has {len(self.velocity)} components, but those of nodes "
                f"have {dim}."
            )

    @property
    def record(self) -> viscous_loops.DragRecord:
        """What the kernels read."""
        none = np.zeros(len(self.nodes))
        return viscous_loops.DragRecord(nodes=self.nodes, c=none, k=self.drag, u=_padded(self.velocity))


def _padded(vector: Array | None) -> Array:
    """Return a vector of up to three components with three, zero if there is none."""
    padded = np.zeros(3)
    if vector is not None:
        padded[: len(vector)] = vector[:3]
    return padded
