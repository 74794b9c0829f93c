"""Dampers that join parts, and the drag of a fluid."""

from __future__ import annotations

from math import isfinite
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.errors import InvalidSystem
from symplex.fem.actions.damping import DifferentiableLoad
from symplex.fem.assembly import Array, scatter_vectors
from symplex.fem.nodes import Nodes, node_indices


@checked
@final
class MeanDashpot(DifferentiableLoad):
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

    def __init__(self, nodes: Nodes, to: ArrayLike, viscosity: float, exponent: float = 1.0, *, fixed: bool = False):
        if not (isfinite(viscosity) and viscosity >= 0.0):
            raise InvalidSystem(f"MeanDashpot: the viscosity must not be negative; it is {viscosity} N (s/m)^p.")
        if not (isfinite(exponent) and exponent >= 1.0):
            raise InvalidSystem(
                f"MeanDashpot: the exponent must be at least 1; it is {exponent}. Below, the force would be "
                "infinitely stiff at rest."
            )
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

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """Return the nodal forces [n, dim] in N; none where it has no length."""
        e, _, w, _ = self._along(q[self.nodes[0]], v[self.nodes[0]])
        out = np.zeros_like(q)
        out[self.nodes[0]] = -self._shares[:, None] * (self._pull(w)[0] * e)
        return out

    def derivatives(self, t: float, x: Array, v: Array) -> tuple[Array, Array]:
        """Return ∂f/∂x in N/m and ∂f/∂v in N s/m [1, k·dim, k·dim]."""
        e, length, w, rate = self._along(x[0], v[0])
        F, slope = self._pull(w)
        # ∂e/∂d = (1 − e ⊗ e)/|d| =: P, ∂w/∂d = P ḋ
        P = (np.eye(len(e)) - np.outer(e, e)) / length if length > 0.0 else np.zeros((len(e), len(e)))
        by_d, by_rate = F * P + slope * np.outer(e, P @ rate), slope * np.outer(e, e)
        shares = -np.outer(self._shares, self._shares)
        by_x, by_v = np.kron(shares, by_d), np.kron(shares, by_rate)
        return by_x[None].astype(float), by_v[None].astype(float)

    def _along(self, x: Array, v: Array) -> tuple[Array, float, float, Array]:
        """Return e, |d|, w and ḋ for the nodes at x with velocities v [k, dim]."""
        d, rate = self._shares @ x, self._shares @ v
        if self._point is not None:
            if len(self._point) != len(d):
                raise InvalidSystem(
                    f"MeanDashpot: the fixed point has {len(self._point)} coordinates, but nodes have {len(d)}."
                )
            d = d + self._point
        length = float(np.linalg.norm(d))
        e = d / length if length > 0.0 else np.zeros_like(d)
        return e, length, float(e @ rate), rate

    def _pull(self, w: float) -> tuple[float, float]:
        """Return F and ∂F/∂w."""
        slope = self.viscosity * abs(w) ** (self.exponent - 1.0)
        return slope * w, self.exponent * slope


@checked
@final
class QuadraticDrag(DifferentiableLoad):
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

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """Return the nodal forces [n, dim] in N."""
        w, speed = self._relative(v[self.nodes])
        out = np.zeros_like(q)
        scatter_vectors(-(self.drag * speed)[:, None, None] * w[:, None], self.nodes, out)
        return out

    def derivatives(self, t: float, x: Array, v: Array) -> tuple[Array, Array]:
        """Return zeros, and −k (|w| 1 + w ⊗ w/|w|) [m, dim, dim]."""
        w, speed = self._relative(v)
        along = np.divide(w, speed[:, None], out=np.zeros_like(w), where=speed[:, None] > 0.0)
        by_v = speed[:, None, None] * np.eye(w.shape[1]) + w[:, :, None] * along[:, None, :]
        by_v *= -self.drag[:, None, None]
        return np.zeros_like(by_v), by_v

    def _relative(self, v: Array) -> tuple[Array, Array]:
        """Return w [m, dim] and |w| [m] for velocities v [m, 1, dim]."""
        w = v[:, 0]
        if self.velocity is not None:
            if len(self.velocity) != w.shape[1]:
                raise InvalidSystem(
                    f"QuadraticDrag: the velocity of the fluid has {len(self.velocity)} components, but those of nodes "
                    f"have {w.shape[1]}."
                )
            w = w - self.velocity
        return w, np.linalg.norm(w, axis=1)
