"""Independent motions in threads: the event loop runs without the interpreter's lock."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from symplex.time.events.force_stepping import ForceStepping


def test_motions_in_two_threads_are_those_of_one(impact_of):
    system, state = impact_of("I")

    def run(seed):
        end = ForceStepping(5e-4, seed=seed).start(system, state).advance(8e-6)
        return np.stack([end.q, end.v])

    alone = [run(seed) for seed in range(4)]
    with ThreadPoolExecutor(2) as pool:
        together = list(pool.map(run, range(4)))
    assert np.array_equal(alone, together)
    assert not np.array_equal(alone[0], alone[1])
