"""Reporters of a user's own: what they see, write and continue, and what a run does when one fails."""

import numpy as np
import pytest

import symplex as sx
from symplex.errors import InvalidSystem, OutputError

SCENARIO = sx.Scenario.parse(
    """
    point_mass = [
      { name = "a", position = [0, 0, 0], mass = 1.0 },
      { name = "b", position = [1, 0, 0], mass = 2.0, velocity = [0, 1, 0] },
    ]
    spring = [{ name = "s", body = "a", to_body = "b", stiffness = 100.0, length = 1.0 }]
    integrator = { kind = "newmark", dt = 1e-3 }
    run = { duration = 0.1, samples = 20, frames = 4, checkpoint = 1e-9 }
    output = { pictures = false }
    """,
    "pair.toml",
)


def run(folder, *reporters, **options):
    return sx.simulate(SCENARIO, folder, progress=False, reporters=reporters, **options)


def height(**options):
    return sx.runs.TableReporter("height", lambda sample: {"y": sample.state.q[1, 1]}, {"y": "m"}, **options)


class Failing(sx.runs.Reporter):
    """Fails at one sample, as often as it is shown it."""

    def __init__(self, at):
        self.at, self.seen = at, []

    def report(self, sample):
        self.seen.append(sample.number)
        if sample.number == self.at:
            raise ZeroDivisionError("division by zero")


def test_reporters_see_each_sample_and_write_tables(tmp_path):
    seen = []
    twice = height(every=2)
    run(tmp_path / "out", lambda motion, state: seen.append((state.t, motion.energies(state)["total"])), twice)
    result = sx.read_result(tmp_path / "out")
    history, table = result.history, result.probes["height"]
    assert np.array_equal(np.array(seen), np.column_stack([history["t"], history["total"]]))
    assert np.array_equal(table["t"], history["t"][::2])
    assert table.columns["y"].unit == "m"


@pytest.mark.parametrize("at", [0, 1, 7, 20])
def test_a_reporter_that_fails_gives_a_sentence_and_loses_nothing(tmp_path, at):
    run(tmp_path / "whole", height())
    with pytest.raises(
        OutputError,
        match=rf"t = {0.005 * at:g} s: reporter Failing failed \(ZeroDivisionError: division by zero; "
        r"test_reporters.py, line \d+\)\. All samples before are kept; correct it, and resume the run\.",
    ):
        run(tmp_path / "out", height(), Failing(at))
    corrected = Failing(None)
    assert run(tmp_path / "out", height(), corrected, resume=True)["status"] == "finished"
    assert corrected.seen == list(range(at, 21))
    for name in ("history.csv", "probe-height.csv", "probe-height.json"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    assert np.array_equal(sx.read_result(tmp_path / "out").times, sx.read_result(tmp_path / "whole").times)


def test_files_of_reporters_are_the_runs(tmp_path):
    (tmp_path / "probe-height.csv").write_text("mine\n")
    with pytest.raises(OutputError, match=r"holds probe-height\.csv, but no run"):
        run(tmp_path, height())
    (tmp_path / "probe-height.csv").unlink()
    run(tmp_path, height())
    run(tmp_path, overwrite=True)
    assert not (tmp_path / "probe-height.csv").exists()


def test_what_is_no_reporter_is_refused(tmp_path):
    with pytest.raises(InvalidSystem, match="reporters must be Reporters, or functions of a motion and a state, got"):
        run(tmp_path, sx.runs.Reporter)
    with pytest.raises(InvalidSystem, match="name must be that of a file without a folder, got 'a/b'"):
        sx.runs.TableReporter("a/b", dict)
    with pytest.raises(InvalidSystem, match="every must be at least 1, got 0"):
        sx.runs.TableReporter("a", dict, every=0)
