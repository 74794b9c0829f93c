"""Where the tables of force-stepping are in memory, and asking for it ahead of time: neither changes a bit."""

import mmap

import numpy as np
import pytest

from symplex.time.events import huge_pages, lattice_events, lattice_motion
from symplex.time.events.force_stepping import ForceStepping


def bits_of(motion):
    return {name: array.tobytes() for name, array in motion.checkpoint().items()}


def spied(advance, looked):
    """Return the event loop, noting whether it looks ahead."""

    def called(*arguments):
        looked.append(arguments[6])
        return advance(*arguments)

    return called


@pytest.mark.slow
def test_looking_ahead_changes_no_bit(impact_of, monkeypatch):
    system, state = impact_of("I")
    looked = []
    monkeypatch.setattr(lattice_motion.events, "advance", spied(lattice_motion.events.advance, looked))
    ends = []
    for far in (lattice_events.FAR, 0):
        monkeypatch.setattr(lattice_events, "FAR", far)
        motion = ForceStepping(5e-4).start(system, state)
        motion.advance(4e-6)
        stopped = ForceStepping(5e-4).resume(system, motion.checkpoint())
        motion.advance(12e-6)  # through the impact
        stopped.advance(12e-6)
        ends += [bits_of(motion), bits_of(stopped)]
        assert motion.statistics()["events"] > 10_000
    assert set(looked) == {None, True}
    assert all(end == ends[0] for end in ends[1:])


@pytest.mark.parametrize("shape", [(3,), (5, 4, 4), (2**18 + 1, 3)], ids=str)
@pytest.mark.parametrize("dtype", [float, np.uint16], ids=["float64", "uint16"])
@pytest.mark.parametrize("huge", [True, False], ids=["huge", "plain"])
def test_tables_begin_at_a_line_and_are_zero(shape, dtype, huge, monkeypatch):
    if not huge:
        monkeypatch.delattr(mmap, "MADV_HUGEPAGE", raising=False)
    zeros = huge_pages.zeros(shape, dtype)
    assert (zeros.shape, zeros.dtype) == (shape, np.dtype(dtype))
    assert zeros.flags.c_contiguous
    assert zeros.flags.writeable
    assert not zeros.any()
    begin = 2**21 if huge and hasattr(mmap, "MADV_HUGEPAGE") and zeros.nbytes >= 2**19 else 128
    assert zeros.ctypes.data % begin == 0
    zeros[...] = 1
    copy = huge_pages.moved(zeros)
    assert np.array_equal(copy, zeros)
    assert not np.shares_memory(copy, zeros)


def test_a_system_that_refuses_huge_pages_gives_what_it_has(monkeypatch):
    monkeypatch.setattr(mmap, "MADV_HUGEPAGE", 12345, raising=False)  # no advice that a system knows
    assert not huge_pages.zeros((2**19,)).any()


def test_memory_that_is_not_there_is_told_as_numpy_tells_it():
    with pytest.raises(MemoryError, match="Unable to allocate"):
        huge_pages.zeros((2**47,))
