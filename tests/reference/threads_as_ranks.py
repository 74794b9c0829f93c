"""Ranks that are threads of one process: they meet at barriers instead of sending messages."""

from threading import Barrier, Thread

import numpy as np

from symplex.parallel.member import Member
from symplex.parallel.reductions import Reductions


class _Table:
    """What lies on the table where all meet."""

    def __init__(self, size):
        self.size, self.lies, self._barrier = size, [None] * size, Barrier(size, timeout=300)

    def met(self, rank, one):
        self.lies[rank] = one
        self._barrier.wait()
        found = list(self.lies)
        self._barrier.wait()
        return found

    def leave(self):
        self._barrier.abort()


class _Halo:
    """An exchange: all vectors lie on the table, and neighbours take what is theirs."""

    def __init__(self, table, rank, neighbours):
        self._table, self._rank, self._neighbours, self.left = table, rank, neighbours, 0

    def start(self, q):
        self._sent = {one.rank: q[one.sent].copy() for one in self._neighbours}

    def finish(self, q):
        found = self._table.met(self._rank, self._sent)
        for one in self._neighbours:
            q[one.first : one.last] = found[one.rank][self._rank]

    def end(self):
        """Say nothing: all fail together."""


class _Meeting(Reductions):
    """What ranks find together."""

    def __init__(self, table, rank):
        self._table, self.rank, self.count = table, rank, 0

    def halo(self, neighbours, numbers, vectors=1):
        return _Halo(self._table, self.rank, neighbours)

    def reported(self, one):
        return self._table.met(self.rank, one)

    def gathered(self, numbers):
        self.count += 1
        return np.array(self.reported(np.array(numbers, float)))

    def abort(self):
        self._table.leave()


class _Member(Member):
    """A rank."""

    def __init__(self, table, rank):
        super().__init__(None, 1)
        self._meeting = _Meeting(table, rank)

    def reductions(self):
        return self._meeting


class ThreadsAsRanks:
    """So many ranks."""

    threads, hides = 1, False
    placed = moving = None

    def __init__(self, size):
        self.size, table = size, _Table(size)
        self._members = [_Member(table, rank) for rank in range(size)]

    def call(self, command):
        results = [None] * self.size

        def do(rank, one):
            try:
                results[rank] = one(self._members[rank])
            except Exception as error:
                self._members[rank].reductions().abort()
                results[rank] = error

        running = [Thread(target=do, args=(rank, command(rank))) for rank in range(self.size)]
        for one in running:
            one.start()
        for one in running:
            one.join()
        for result in results:
            if isinstance(result, Exception):
                raise result
        failures = [one for one in results if hasattr(one, "error")]
        assert len(failures) in (0, self.size)
        if failures:
            assert len({str(one.error) for one in failures}) == 1
            raise failures[0].error
        return results
