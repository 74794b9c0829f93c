"""Scenarios that no machine could build or run: one clear line each, and an end to every look at them."""

import difflib

import numpy as np
import pytest

from symplex.commands.cli import main
from symplex.errors import ScenarioError, StepFailed
from symplex.fem.system import System
from symplex.runs import check
from symplex.scenario.scenario import Scenario
from symplex.time.explicit.newmark import Newmark

BODY = """
[[body]]
name = "cube"
mesh = { box = [0.1, 0.1, 0.1], cells = [1, 1, 1] }
material = { lambda = 60.5e9, mu = 26e9, density = 2700 }
velocity = [1, 0, 0]
"""
WALL = """
[[obstacle]]
name = "wall"
kind = "half-space"
point = [0, 0, -0.01]
normal = [0, 0, 2]
stiffness = 1e9
"""
REST = """
[integrator]
kind = "newmark"
[run]
duration = 1e-5
frames = 10
"""


def with_integrator(keys: str, rest: str = REST) -> str:
    return BODY + WALL + rest.replace('kind = "newmark"', keys)


def line_of(text: str) -> str:
    with pytest.raises(ScenarioError) as caught:
        Scenario.parse(text, "test.toml").build()
    (line,) = str(caught.value).splitlines()
    return line


HUGE = 400 * "0"
RANGE = "must be 0, or from 1e-30 to 1e+30 in size, got "


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        (with_integrator('kind = "newmark"\ndt = 1e-300'), f"[integrator]: dt {RANGE}1e-300."),
        (
            with_integrator('kind = "newmark"\ndt = 1e-25'),
            "[integrator]: dt = 1e-25 s is too short for a run of 1e-05 s: that makes 1e+20 steps, at most 1e+15 can "
            "be taken; take longer steps.",
        ),
        (
            with_integrator('kind = "adaptive-variational"\ndt = 1e-25'),
            "[integrator]: dt = 1e-25 s is too short for a run of 1e-05 s: that makes 1e+20 steps, at most 1e+15 can "
            "be taken; take longer steps.",
        ),
        (with_integrator('kind = "force-stepping"\ngrid = 1e300'), f"[integrator]: grid {RANGE}1e+300."),
        (
            with_integrator('kind = "midpoint"\ndt = 1e-6\nhalvings = 1000000000'),
            "[integrator]: halvings must be at most 30, got 1000000000.",
        ),
        (
            with_integrator('kind = "force-stepping"\ngrid = 1e-4\nseed = 1' + HUGE),
            "[integrator]: seed must be at most 9,223,372",
        ),
        (BODY + REST.replace("1e-5", "1e-320"), f"[run]: duration {RANGE}9.99989e-321."),
        (BODY + REST + "samples = 1" + HUGE, "[run]: samples must be at most 10,000,000, got a number of 400 digits."),
        (BODY + REST + "samples = 1" + 20 * HUGE, "test.toml is not valid TOML: it holds a number of too many digits."),
        (
            BODY + REST.replace("frames = 10", "frames = 0x1" + 20 * HUGE),
            "[run]: frames must be at most 1,000,000, got",
        ),
        (
            BODY.replace("[1, 1, 1]", "[1, 1]") + REST,
            "[[body]] #1 'cube': mesh.cells must be three integers, got [1, 1].",
        ),
        (
            BODY.replace("[1, 1, 1]", f"[1, 1, 1{HUGE}]") + REST,
            "[[body]] #1 'cube': mesh.cells must be at most 2,147,483,647, got a number of 400 digits.",
        ),
        (
            BODY + WALL.replace("[0, 0, 2]", "[0, 0, 1e160]") + REST,
            f"[[obstacle]] #1 'wall': normal {RANGE}1e+160.",
        ),
        (
            BODY + REST.replace("1e-5", "1e-29").replace('"newmark"', '"newmark"\ndt = 1e-28') + "samples=100",
            "[integrat",
        ),
        (BODY.replace('"cube"', f'"{5000 * "c"}"') + REST, "[[body]] #1 'ccccc"),
        (BODY.replace("velocity", f'"{5000 * "v"}"') + REST, "[[body]] #1 'cube': unknown key 'vvvvv"),
        (
            f'title = "a\\u001b[31mb"\n{BODY}{REST}',
            r"title must be a line without control characters, got 'a\x1b[31mb'.",
        ),
        (f'"a\\u001b[31mb" = 1\n{BODY}{REST}', r"unknown table 'a\x1b[31mb'; known are:"),
        (BODY + REST + '[output]\ndirectory = ""\n', "[output]: directory must be a path, got ''."),
        (
            BODY + REST + '[output]\ndirectory = "a\\u0000b"\n',
            r"[output]: directory must be a line without control characters, got 'a\x00b'.",
        ),
    ],
)
def test_what_nothing_can_be_done_with_is_told_in_one_line(text, reported):
    line = line_of(text)
    assert reported in line
    assert len(line) < 400
    assert line.isprintable()


DEEP = ".".join(3000 * ["a"])


@pytest.mark.parametrize(
    "text", [f"[{DEEP}]\n", f"{DEEP} = 1\n", f"[define]\n{DEEP} = 1\n", "a = " + 3000 * "[" + 3000 * "]"]
)
def test_what_is_nested_deeply_is_told(text):
    assert "test.toml is not valid TOML: its " in (line := line_of(text))
    assert line.endswith("are nested too deeply.")


def test_names_that_depend_on_one_another_for_ever_are_told():
    lines = "".join(f'k{i} = "=k{i + 1}"\n' for i in range(3000))
    with pytest.raises(ScenarioError, match="k100 is '=k101': it depends on more than 100 others, one after the other"):
        Scenario.parse(f"[define]\n{lines}")


def test_deep_keys_that_are_set_are_told():
    with pytest.raises(
        ScenarioError, match=r"cannot be set: it must name at most 100 tables in one another, got 3,000"
    ):
        Scenario.parse(BODY + REST).with_values({DEEP: 1})


@pytest.mark.parametrize("table", ["", "[run]\n", "[[load]]\n"])
def test_many_unknown_words_are_compared_with_known_ones_as_often_as_is_told(table, monkeypatch):
    compared, close = [], difflib.get_close_matches
    monkeypatch.setattr(
        difflib, "get_close_matches", lambda word, *rest, **n: compared.append(word) or close(word, *rest, **n)
    )
    text = "".join((table if "[[" in table else "") + f"frame{k} = 1\n" for k in range(500))
    with pytest.raises(ScenarioError) as caught:
        Scenario.parse((table if "[[" not in table else "") + text, "test.toml")
    assert len(compared) <= 50
    reported = str(caught.value).splitlines()
    assert len(reported) == 51
    assert reported[-1].startswith("test.toml: and 45")
    if table == "[run]\n":
        assert all("; did you mean 'frames'?" in line for line in reported[1:50])


@pytest.mark.parametrize("path", ["a\\u0000b", 5000 * "p", 300 * "p", "folder/" + 200 * "é"])
@pytest.mark.parametrize("key", ["mesh", "history"])
def test_paths_that_cannot_be(path, key):
    if key == "mesh":
        text = BODY.replace("{ box = [0.1, 0.1, 0.1], cells = [1, 1, 1] }", f'"{path}"') + REST
    else:
        load = '[[load]]\nname = "p"\nkind = "pressure"\nbody = "cube"\ngroup = "z_max"\npressure = 1\n'
        text = BODY + load + f'history = {{ kind = "table", file = "{path}" }}\n' + REST
    line = line_of(text)
    assert ("mesh.file must " if key == "mesh" else "history.file must ") in line
    assert len(line) < 200


def test_many_mistakes_are_told_up_to_a_number():
    with pytest.raises(ScenarioError) as caught:
        Scenario.parse(BODY + "".join(f"odd{k} = 1\n" for k in range(1000)) + REST, "test.toml")
    lines = str(caught.value).splitlines()
    assert len(lines) == 51
    assert lines[-1] == "test.toml: and 950 more mistakes."


def test_large_energies_are_told_as_they_are():
    wall = WALL.replace("[0, 0, 2]", "[0, 0, 1e30]\nnormalize = false\nallow_initial_penetration = true")
    wall = wall.replace("-0.01", "1e10").replace("1e9", "1e30")
    scenario = Scenario.parse(with_integrator('kind = "midpoint"\ndt = 1e-6').replace(WALL, wall))
    report, _ = check.check_report(scenario.build())
    (energies,) = (line for line in report.split("\n") if line.strip().startswith("energy "))
    assert "kinetic 0 J" in energies  # which is rounding next to
    assert "wall 7e+95 PJ" in energies


def test_bodies_too_far_away_for_their_size():
    line = line_of(BODY + "translate = [0, 1e9, 0]\n" + REST)
    assert line.startswith(
        "test.toml: [[body]] #1 'cube': it lies up to 1e+09 m from the origin, where positions are rounded"
    )


# -- samples ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("run", "steps", "frames", "samples", "taken"),
    [
        ("", 1000, 60, 600, 1200),  # the defaults
        ("", 600, 60, 600, 600),
        ("", 599, 60, 600, 600),  # nearly a sample after each step, with frames at equal distances
        ("", 301, 51, 306, 306),
        ("", 100, 50, 100, 100),
        ("", 50, 50, 50, 50),
        ("", 7, 7, 7, 7),
        ("", 1, 1, 1, 1),
        ("frames = 10", 1000, 10, 100, 1000),
        ("frames = 10", 30, 10, 30, 30),
        ("frames = 10", 25, 10, 30, 30),
        ("frames = 10", 10, 10, 10, 10),
        ("samples = 60", 100, 60, 60, 120),
        ("frames = 5\nsamples = 10", 100, 5, 10, 100),
    ],
)
def test_default_samples_give_way_to_a_longer_step(run, steps, frames, samples, taken):
    rest = f'[integrator]\nkind = "midpoint"\ndt = {1e-3 / steps!r}\n[run]\nduration = 1e-3\n{run}\n'
    problem = Scenario.parse(BODY + rest).build()
    assert (problem.scenario.tables.run.frames, problem.scenario.tables.run.n_samples) == (frames, samples)
    assert len(problem.scenario.times) == samples + 1
    np.testing.assert_array_equal(np.diff(np.flatnonzero(problem.scenario.is_frame)), samples // frames)
    assert 1e-3 / problem.integrator.dt == pytest.approx(taken)


@pytest.mark.parametrize("run", ["frames = 60", "samples = 60"])
@pytest.mark.parametrize("kind", ["midpoint", "newmark", "static", "multirate"])
def test_a_longer_step_gives_way_to_samples_that_are_given(run, kind):
    support = '[[support]]\nbody = "cube"\ngroup = "z_min"\n'  # for static
    rest = f'{support}[integrator]\nkind = "{kind}"\ndt = 2.5e-6\n[run]\nduration = 1e-4\n{run}\n'
    problem = Scenario.parse(BODY.replace("velocity = [1, 0, 0]\n", "") + rest).build()
    assert len(problem.scenario.times) == 61
    assert problem.integrator.dt == pytest.approx(1e-4 / 60)


@pytest.mark.parametrize("kind", ["midpoint", "adaptive-variational", "newmark"])
def test_a_step_longer_than_the_run_is_refused(kind):
    assert "dt = 2e-06 s is longer than the run of 1e-06 s." in line_of(
        with_integrator(f'kind = "{kind}"\ndt = 2e-6').replace("1e-5", "1e-6").replace("frames = 10", "")
    )


# -- check ends -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("integrator", "duration"),
    [
        ('kind = "force-stepping"\ngrid = 1e-5', 7.0),
        ('kind = "force-stepping"\ngrid = 1e-5', 1e20),
        ('kind = "adaptive-variational"\ndt = 1e-6', 7.0),
        ('kind = "newmark"', 7.0),
        ('kind = "energy-momentum"\ndt = 1e-6', 1e6),
    ],
)
@pytest.mark.slow
def test_check_ends_however_long_the_run(integrator, duration, tmp_path, capsys):
    path = tmp_path / "long.toml"
    falling = BODY.replace("[1, 0, 0]", "[0, 0, -10]") + "[gravity]\nacceleration = [0, 0, -9.81]\n"
    path.write_text(with_integrator(integrator).replace(BODY, falling).replace("1e-5\nf", f"{duration}\nf"), "utf-8")
    assert main(["check", str(path)]) == 0
    time = next(line for line in capsys.readouterr().out.splitlines() if line.strip().startswith("time "))
    assert "about" in time
    assert len(time) < 120


@pytest.mark.parametrize("kind", ['"force-stepping"\ngrid = 1e-5', '"adaptive-variational"\ndt = 1e-6'])
def test_check_reports_no_time_where_no_moment_of_the_run_could_be_tried(kind, monkeypatch):
    monkeypatch.setattr(check, "_TRIAL", 0.0)
    report, failure = check.check_report(Scenario.parse(with_integrator(f"kind = {kind}")).build())
    assert "unknown: after" in report
    assert not failure


def test_times_after_very_many_steps_are_on_the_grid_but_for_rounding():
    system = System(np.ones(1), {})
    times = 2.0 * (np.arange(1, 100) / 100)
    m = 10**10 + 1  # steps from time to time: the steps to a time are whole to 1e-4 only
    motion = Newmark(0.02 / m).start(system, system.state(np.zeros((1, 3)), v=(1.0, 0.0, 0.0)))
    far = 0.0
    for k, t in enumerate(times, start=1):
        motion.n = k * m  # as if they had been taken
        assert motion.advance(t).t == pytest.approx(t, rel=1e-14)
        far = max(far, abs(t / motion.dt - motion.n))
    assert far > 1e-6  # nor nearer to a whole number than times of fewer steps must be
    with pytest.raises(StepFailed, match="not an integer"):
        motion.advance(times[-1] + 0.3 * motion.dt)
