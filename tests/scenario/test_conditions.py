"""Conditions of scenarios: what they change, what is refused, and runs that are resumed."""

import json

import numpy as np
import pytest

from symplex.errors import Interrupted, ScenarioError
from symplex.runs.check import check_report
from symplex.runs.history import read_history
from symplex.runs.run import simulate
from symplex.scenario.scenario import Scenario

TEXT = """
[integrator]
kind = "energy-momentum"
dt = 1e-4
[run]
duration = 0.012
frames = 6
samples = 30
checkpoint = 1e-9
[output]
pictures = false
[[body]]
name = "bar"
mesh = { box = [1.0, 0.2, 0.2], cells = [2, 1, 1], split = "hexahedra" }
material = { young = 1e7, poisson = 0.3, density = 1000.0 }
[[support]]
name = "grip"
body = "bar"
group = "x_min"
until = "torn"
[[load]]
kind = "nodal"
name = "pull"
body = "bar"
group = "x_max"
force = [50.0, 0, 0]
history = { kind = "ramp", duration = 0.004 }
until = "torn"
[[load]]
kind = "nodal"
name = "push"
body = "bar"
group = "x_max"
force = [0.0, 20, 0]
history = { kind = "ramp", duration = 0.002 }
from = "torn"
[[probe]]
name = "reaction"
support = "grip"
[[probe]]
name = "tip"
body = "bar"
group = "x_max"
quantities = ["velocity"]
every = 2
[[when]]
name = "torn"
probe = "reaction"
below = -40.0
[[when]]
name = "later"
after = ["torn"]
time = 1e-3
[[when]]
name = "fast"
after = ["later"]
probe = "tip"
column = "velocity_y_mean"
above = 3e-3
stop = true
"""


def run(folder, text=TEXT, **options):
    return simulate(Scenario.parse(text), folder, progress=False, **options)


def test_a_support_is_released_and_a_load_begins_there(tmp_path):
    summary = run(tmp_path / "run")
    t = {event["name"]: event["t"] for event in summary["events"]}
    assert list(t) == ["torn", "later", "fast"]
    assert summary["stopped_by"] == "fast"
    assert t["later"] == pytest.approx(t["torn"] + 1e-3, rel=1e-9)
    rows = read_history(tmp_path / "run" / "history.csv")
    assert rows["t"][-1] == t["fast"] == summary["t_end"]
    assert t["torn"] in rows["t"]  # a row, a frame and a sample of the probes at the event
    np.testing.assert_allclose(rows["balance"], rows["balance"][0], atol=1e-9 * np.abs(rows["total"]).max())
    after = rows["t"] >= t["torn"]
    # From then on the push alone, ramped from its time: p_y = 20 N times 4 nodes (s²/2T).
    s = rows["t"][after] - t["torn"]
    first = rows["momentum_y"][after][0]
    exact = np.where(s < 2e-3, 20.0 * s**2 / 4e-3, 20.0 * (s - 1e-3)) * 4.0
    np.testing.assert_allclose(rows["momentum_y"][after] - first, exact, atol=2e-5 * exact.max() + 1e-12)
    np.testing.assert_allclose(rows["momentum_x"][after], rows["momentum_x"][after][0], rtol=1e-9)


def test_a_run_that_is_interrupted_goes_on_bit_identically(tmp_path):
    run(tmp_path / "whole")
    cut = TEXT
    text = (tmp_path / "whole" / "history.csv").read_text()
    n = len(text.splitlines()) - 1
    for rows in (5, n - 6, n - 2, n - 1):

        def stop(motion, state, left=[rows]):  # noqa: B006
            left[0] -= 1
            if not left[0]:
                raise KeyboardInterrupt

        folder = tmp_path / f"cut-{rows}"
        with pytest.raises((KeyboardInterrupt, Interrupted)):
            run(folder, cut, reporters=[stop])
        run(folder, cut, resume=True)
        assert (folder / "history.csv").read_text() == text
        for name in ("reaction", "tip"):
            other = (tmp_path / "whole" / f"probe-{name}.csv").read_text()
            assert (folder / f"probe-{name}.csv").read_text() == other
    again = run(tmp_path / "whole", resume=True)  # nothing is left to do
    assert again["stopped_by"] == "fast"
    assert json.loads((tmp_path / "whole" / "summary.json").read_text())["reason"].startswith("'fast' held at t = ")


def without(*lines):
    text = TEXT
    for line in lines:
        assert line in text
        text = text.replace(line, "", 1)
    return text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TEXT.replace('until = "torn"', 'until = "tron"', 1), r"until: there is no \[\[when\]\] 'tron'; did you mean"),
        (TEXT.replace('probe = "tip"', 'probe = "top"'), r"there is no \[\[probe\]\] 'top'; did you mean"),
        (TEXT.replace('column = "velocity_y_mean"', 'column = "speed"'), "has no column 'speed'"),
        (TEXT.replace('after = ["later"]', 'after = ["fast"]'), "comes after itself"),
        (TEXT.replace('after = ["torn"]', 'after = ["fast"]'), "it can never hold: the conditions in after wait"),
        (TEXT.replace("below = -40.0", "below = -40.0\nabove = 1.0"), "needs one bound of above, below"),
        (TEXT.replace("time = 1e-3", "time = 1e-3\nevery = 2"), "every goes with probe or energy"),
        (TEXT.replace("below = -40.0", "below = -40.0\nstop = true"), "stop ends the run, so that nothing can begin"),
        (TEXT.replace("below = -40.0", 'below = -40.0\nstage = "x"'), "there is no later stage 'x'; there is no later"),
        (TEXT.replace('from = "torn"', 'from = "torn"\nuntil = "torn"'), "from and until are both 'torn'"),
        (TEXT.replace('probe = "tip"\ncolumn = "velocity_y_mean"', 'energy = "heat"'), "there is no energy 'heat'"),
        (TEXT.replace('from = "torn"', "from = -1.0"), "from must be at least 0, got -1 s"),
    ],
)
def test_mistakes_are_reported(text, message):
    with pytest.raises(ScenarioError, match=message):
        Scenario.parse(text).build()


def test_the_place_of_a_mistake_is_reported_once():
    with pytest.raises(ScenarioError) as caught:
        Scenario.parse(TEXT.replace('column = "velocity_y_mean"', 'column = "speed"')).build()
    assert str(caught.value).count("[[when]]") == 1


def test_check_reports_conditions_and_short_stages():
    stages = TEXT.replace('[integrator]\nkind = "energy-momentum"\ndt = 1e-4\n[run]\nduration = 0.012\n', "[run]\n")
    for line in ("frames = 6\n", "samples = 30\n", "checkpoint = 1e-9\n"):
        stages = stages.replace(line, "")
    stages = stages.replace("below = -40.0", 'below = -40.0\nstage = "short"')
    stages += """
[[stage]]
duration = 1.0
integrator = { kind = "static", dt = 0.5 }
[[stage]]
name = "short"
duration = 2e-4
integrator = { kind = "energy-momentum", dt = 1e-4 }
"""
    report = check_report(Scenario.parse(stages).build())[0]
    assert "condition 'torn'   'reaction' below -40: " in report
    assert ": stage 'short' begins, [[support]] #1 'grip' ends, [[load]] #1 'pull' ends, " in report
    assert "1 s to 1.0002 s" in report
