"""Writing to pipes that nobody reads."""

import os
import signal

import pytest

from symplex.base.pipes import closed_pipes_raise

pytestmark = pytest.mark.skipif(os.name != "posix", reason="no signal tells of closed pipes")


@pytest.mark.parametrize("heeded", ["SIG_IGN", "SIG_DFL"])
def test_a_closed_pipe_raises_and_leaves_no_signal(heeded):
    reading, writing = os.pipe()
    os.close(reading)
    before = signal.signal(signal.SIGPIPE, getattr(signal, heeded))  # the default one ends the process
    try:
        with pytest.raises(BrokenPipeError), closed_pipes_raise():
            os.write(writing, b"task")
        assert signal.SIGPIPE not in signal.sigpending()
        assert signal.SIGPIPE not in signal.pthread_sigmask(signal.SIG_BLOCK, [])
    finally:
        signal.signal(signal.SIGPIPE, before)
        os.close(writing)


def test_who_holds_the_signal_off_finds_it():
    reading, writing = os.pipe()
    os.close(reading)
    before = signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGPIPE})
    try:
        with pytest.raises(BrokenPipeError), closed_pipes_raise():
            os.write(writing, b"task")
        assert signal.sigwait({signal.SIGPIPE}) == signal.SIGPIPE
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGPIPE, before)
        os.close(writing)
