"""Output that is written while the motion goes on."""

import threading

import pytest

from symplex.errors import OutputError
from symplex.runs.background import Background


@pytest.mark.parametrize("threaded", [False, True])
def test_what_was_given_first_is_done_first(threaded):
    done = []
    with Background(threaded) as background:
        for k in range(50):
            background.do(done.append, k)
        background.wait()
        assert done == list(range(50))
        background.do(done.append, 50)
    assert done == list(range(51))


def test_the_caller_goes_on_while_something_is_done():
    done, go = [], threading.Event()
    with Background(True) as background:
        background.do(go.wait, 600)
        background.do(done.append, "row")
        assert not done
        go.set()
        background.wait()
        assert done == ["row"]


@pytest.mark.parametrize("where", ["wait", "do", "end"])
def test_after_a_failure_nothing_more_is_done_and_the_error_is_told(where):
    done, go = [], threading.Event()

    def fail():
        go.wait(600)
        raise OutputError("the disk is full")

    def write():
        with Background(True) as background:
            background.do(fail)
            background.do(done.append, 1)
            go.set()
            if where == "wait":
                background.wait()
            elif where == "do":
                background._waiting.join()
                background.do(done.append, 2)

    with pytest.raises(OutputError, match="disk is full"):
        write()
    assert not done
