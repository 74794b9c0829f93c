"""Signals whose handlers raise while kernels are called: the call ends in what they raise."""

import signal

import numpy as np
import pytest

from symplex.contact.grid import arrange

BOXES = np.array([[0.0, 0, 0, 1, 1, 1], [0.5, 0, 0, 2, 1, 1]])
MEMBERS = np.arange(2, dtype=np.int32)


class Asked(BaseException):
    pass


def ask(number, frame):
    raise Asked


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers here")
def test_what_a_handler_raises_within_a_kernel_is_raised_by_its_call():
    """A kernel that returns arrays in a tuple turned half of them into SystemErrors."""
    arrange(BOXES, MEMBERS, 1.0, 0.0)
    before = signal.signal(signal.SIGALRM, ask)
    try:
        for trial in range(100):
            with pytest.raises(Asked):  # noqa: PT012
                signal.setitimer(signal.ITIMER_REAL, 1e-3 + 1e-6 * trial)
                while True:
                    arrange(BOXES, MEMBERS, 1.0, 0.0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
