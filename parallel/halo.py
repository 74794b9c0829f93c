"""The exchange of positions at the borders of parts, and the news that a step has failed elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from symplex.fem.assembly.pattern import Array
from symplex.parallel.division import Neighbour
from symplex.parallel.patience import wait_until

if TYPE_CHECKING:
    from mpi4py import MPI

_TAG, _SHARED = 7, 8
_NAP = 5e-5  # s at most: messages of steps come soon


class FailedElsewhere(Exception):
    """Another rank could not take the step: the motion has ended there."""


class Halo:
    """Messages to and from the ranks around a part, the same ones in each step.

    A rank whose step fails takes part in one more exchange, in which it only says so, and so do those that hear of it:
    nobody waits for a message that never comes, and in steps that do not fail nothing more is sent.

    Parameters
    ----------
    comm : MPI.Comm
    neighbours : sequence of Neighbour
    dim : int
        Dimension of space.
    vectors : int, default 1
        How many are exchanged of each node: its position, and what there is next to it.

    Attributes
    ----------
    left : int
        How many exchanges are still to come before all ranks meet: to be set before the first one.
    bytes, messages : int
        What one exchange sends.
    """

    def __init__(self, comm: MPI.Comm, neighbours: Sequence[Neighbour], dim: int, vectors: int = 1):
        from mpi4py.MPI import Prequest, Request

        self._neighbours, self._dim, self._comm = neighbours, dim, comm
        self._prequest, self._request = Prequest, Request
        # The first number shows whether the sender goes on.
        self._out = [np.zeros(1 + dim * vectors * len(one.sent)) for one in neighbours]
        self._in = [np.zeros(1 + dim * vectors * (one.last - one.first)) for one in neighbours]
        self._requests = [
            (comm.Recv_init(got, one.rank, _TAG), comm.Send_init(sent, one.rank, _TAG))
            for one, got, sent in zip(neighbours, self._in, self._out, strict=True)
        ]
        self._ended = [False] * len(neighbours)
        self.left = 0
        self.bytes, self.messages = sum(sent.nbytes for sent in self._out), len(neighbours)

    def start(self, *vectors: Array) -> None:
        """Begin to send vectors [l, dim] of own nodes, and to receive those of ghosts."""
        self.left -= 1
        for one, sent in zip(self._neighbours, self._out, strict=True):
            rows = sent[1:].reshape(len(vectors), len(one.sent), self._dim)
            for values, row in zip(vectors, rows, strict=True):
                np.take(values, one.sent, axis=0, out=row)
        self._begin()

    def finish(self, *vectors: Array) -> None:
        """Wait for the vectors of ghosts, and write them to those [l, dim].

        Raises
        ------
        FailedElsewhere
            If a neighbour has failed in the step before.
        """
        self._wait()
        self._ended = [bool(got[0]) for got in self._in]
        if any(self._ended):
            raise FailedElsewhere
        for one, got in zip(self._neighbours, self._in, strict=True):
            rows = got[1:].reshape(len(vectors), one.last - one.first, self._dim)
            for values, row in zip(vectors, rows, strict=True):
                values[one.first : one.last] = row

    def shared(self, values: Array) -> Array:
        """Return values [l, …] of nodes, those of ghosts as their owners have them; all ranks call it together."""
        values = np.ascontiguousarray(values)
        got = [np.empty((one.last - one.first, *values.shape[1:])) for one in self._neighbours]
        requests = [
            self._comm.Irecv(array, one.rank, _SHARED) for one, array in zip(self._neighbours, got, strict=True)
        ]
        sent = [values[one.sent] for one in self._neighbours]
        requests += [
            self._comm.Isend(array, one.rank, _SHARED) for one, array in zip(self._neighbours, sent, strict=True)
        ]
        wait_until(lambda: self._request.Testall(requests), _NAP)
        for one, array in zip(self._neighbours, got, strict=True):
            values[one.first : one.last] = array
        return values

    def end(self) -> None:
        """Tell all neighbours that still expect a message that this rank has failed, or heard of a failure."""
        if self.left > 0:
            for sent in self._out:
                sent[0] = 1.0
            self._begin()
            self._wait()

    def _begin(self) -> None:
        if active := self._active():
            self._prequest.Startall(active)

    def _wait(self) -> None:
        if active := self._active():
            wait_until(lambda: self._prequest.Testall(active), _NAP)

    def _active(self) -> list[MPI.Prequest]:
        return [one for pair, ended in zip(self._requests, self._ended, strict=True) if not ended for one in pair]
