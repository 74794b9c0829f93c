"""A motion by force-stepping as what it is: a chain of parabolas for each coordinate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symplex.fem.energies.energy import Array
from symplex.time.events.lattice_tracks import (
    LOG_ACCELERATION,
    LOG_DOF,
    LOG_EVENT,
    LOG_POSITION,
    LOG_TIME,
    LOG_VELOCITY,
)


@dataclass(frozen=True)
class Pieces:
    """All parabolas of a motion between two times, in the order in which they begin.

    The coordinate ``dof[k]`` (component ``dof % dim`` of node ``dof // dim``, in the axes of the lattice) is at
    q[k] + v[k] τ + a[k] τ²/2 at the time ``time[k]`` + τ, until the next piece of this coordinate.

    Attributes
    ----------
    t0, t1 : float
        From and to which time in s.
    time : float64 [k]
        When each piece begins, in s. The first piece of a coordinate may begin before t0.
    dof : int64 [k]
        The coordinate.
    event : int64 [k]
        The number of the event that the piece begins with, counted from 1 since t0; 0 for the pieces that are current
        at t0. An event that two coordinates take part in begins two pieces.
    q, v, a : float64 [k]
        Position in m, velocity in m/s and acceleration in m/s² at the beginning.
    shape : tuple of int
        Number of nodes and dimension of space.
    """

    t0: float
    t1: float
    time: Array
    dof: NDArray[np.int64]
    event: NDArray[np.int64]
    q: Array
    v: Array
    a: Array
    shape: tuple[int, int]

    @classmethod
    def of(cls, log: Array, t0: float, t1: float, events: int, n_nodes: int, dim: int) -> Pieces:
        """Return the pieces of a log [k, LOG_COLUMNS] that began after the given number of events."""
        return cls(
            t0,
            t1,
            time=log[:, LOG_TIME],
            dof=log[:, LOG_DOF].astype(np.int64),
            event=np.maximum(log[:, LOG_EVENT].astype(np.int64) - events, 0),
            q=log[:, LOG_POSITION],
            v=log[:, LOG_VELOCITY],
            a=log[:, LOG_ACCELERATION],
            shape=(n_nodes, dim),
        )

    def steps(self) -> Array:
        """Return the lengths of time in s between successive events."""
        return np.diff(self.event_times())

    def event_times(self) -> Array:
        """Return the times in s of the events."""
        first = np.flatnonzero(np.diff(self.event, prepend=0))
        return self.time[first]

    def of_dof(self, dof: int) -> NDArray[np.intp]:
        """Return the places of the pieces of one coordinate."""
        return np.flatnonzero(self.dof == dof)

    def at(self, times: ArrayLike) -> tuple[Array, Array, Array]:
        """Return positions, velocities and accelerations [..., n, dim] at times [...] in s within [t0, t1]."""
        times = np.asarray(times, float)
        if times.size and not (times.min() >= self.t0 and times.max() <= self.t1):
            raise ValueError(
                f"the pieces reach from {self.t0:.6g} s to {self.t1:.6g} s; expected {times.min():.6g} s to "
                f"{times.max():.6g} s."
            )
        out = np.empty((3, *times.shape, self.shape[0] * self.shape[1]))
        order = np.argsort(self.dof, kind="stable")  # by coordinate, and in time for each
        ends = np.cumsum(np.bincount(self.dof, minlength=out.shape[-1]))
        for dof, end in enumerate(ends):
            mine = order[ends[dof - 1] if dof else 0 : end]
            k = mine[np.maximum(np.searchsorted(self.time[mine], times, side="right") - 1, 0)]
            tau = times - self.time[k]
            out[0, ..., dof] = self.q[k] + tau * (self.v[k] + 0.5 * tau * self.a[k])
            out[1, ..., dof] = self.v[k] + tau * self.a[k]
            out[2, ..., dof] = self.a[k]
        q, v, a = out.reshape(3, *times.shape, *self.shape)
        return q, v, a
