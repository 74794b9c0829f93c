"""Python functions that compiled loops call back."""

import gc
import signal
import threading
import weakref

import pytest

from symplex.fem.compiled.call import call_back
from symplex.fem.compiled.callbacks import Callback
from symplex.fem.compiled.kernels import kernel


@kernel
def called(address, n, rest):
    """Call n times, with some work before each call, until one fails; return how many have not."""
    x = 1.0
    for number in range(n):
        for _ in range(rest):
            x = 1.0 + 1.0 / x
        if call_back(address, number) or x < 0.0:
            return number
    return n


class Counter:
    def __init__(self, last):
        self.seen, self.last = [], last
        self.back = Callback(self.count)

    def count(self, number):
        if number == self.last:
            raise LookupError(f"number {number}")
        self.seen.append(number)


def test_an_exception_ends_the_loop_and_is_raised_after_it():
    counter = Counter(3)
    assert called(counter.back.address, 10, 0) == 3
    assert counter.back.failed
    with pytest.raises(LookupError, match="number 3"):
        counter.back.raise_failure()
    assert not counter.back.failed
    counter.back.raise_failure()
    assert called(counter.back.address, 2, 0) == 2
    assert counter.seen == [0, 1, 2, 0, 1]


def test_it_does_not_keep_its_object_alive():
    counter = weakref.ref(Counter(0))
    gc.disable()
    try:
        assert counter() is None
    finally:
        gc.enable()


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="signals of threads are those of POSIX")
def test_no_signal_is_lost():
    """What a handler raises at the entry of the function that is called back would only be printed."""
    counter, main = Counter(-1), threading.main_thread().ident
    called(counter.back.address, 1, 1)  # compiles it
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        for trial in range(30):
            sender = threading.Timer(1e-3 + 1e-5 * trial, signal.pthread_kill, (main, signal.SIGINT))
            try:
                sender.start()
                called(counter.back.address, 1000, 20_000)  # some 0.1 s
                counter.back.raise_failure()
            except KeyboardInterrupt:
                continue
            finally:
                sender.join()
            pytest.fail("it was lost")
    finally:
        signal.signal(signal.SIGINT, before)
