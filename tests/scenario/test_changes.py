"""Scenarios with some values replaced, from Python and from the command line."""

import pytest

import symplex as sx
from symplex.commands.cli import main

TEXT = """\
title = "a bar"  # kept

[[body]]
name = "bar"
mesh = { box = [1.0, 0.1, 0.1], cells = [2, 1, 1] }
material = { young = 1e6, poisson = 0.3, density = 1000 }

[integrator]
kind = "newmark"

[run]
duration = 1e-3  # short
frames = 2
"""


def scenario(**changes):
    return sx.Scenario.parse(TEXT).with_values({key.replace("__", "."): value for key, value in changes.items()})


def test_values_are_replaced_and_all_else_stays():
    changed = scenario(run__duration="2e-3", body__bar__material__young=2e6, title="two words")
    assert changed.tables.run.duration == 2e-3
    assert changed.tables.body[0].material.young == 2e6
    assert changed.tables.title == "two words"
    assert "# kept" in changed.text
    assert "# short" in changed.text
    assert scenario().text == TEXT


def test_keys_and_tables_that_are_not_there_are_added():
    changed = scenario(output__film="none", body__1__velocity=[0, 0, 1.5], gravity__acceleration="[0, 0, -9.81]")
    assert changed.tables.output.film == "none"
    assert changed.tables.body[0].velocity == (0, 0, 1.5)
    assert changed.tables.gravity.acceleration == (0, 0, -9.81)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("body.rod.velocity", "[0, 0, 1]", r"'body.rod.velocity' cannot be set: there is no \[\[body\]\] 'rod'; there"),
        ("body.2.velocity", "[0, 0, 1]", r"there is no \[\[body\]\] '2'; there are: bar\.$"),
        ("body.velocity", "[0, 0, 1]", r"\[\[body\]\] may be several tables; say which by name or number: bar\.$"),
        ("run.duration.s", "1", r"'run.duration.s' cannot be set: run.duration is a value, not a table\.$"),
        ("run", "1", "names no key of a table; write table.key=value"),
        ("run..duration", "1", "names no key of a table"),
        ("run.duration", "long", r"\[run\]: duration must be a number \(s\), got 'long'"),
        ("run.length", "1", r"\[run\]: unknown key 'length'"),
        ("run.duration", object(), "a object is no value of a scenario"),
    ],
)
def test_what_cannot_be_set_is_told(key, value, message):
    with pytest.raises(sx.SymplexError, match=message):
        sx.Scenario.parse(TEXT).with_values({key: value})


def test_the_command_line_sets_values_and_resumes_with_them(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bar.toml").write_text(TEXT)
    run = ["run", "bar.toml", "--no-pictures", "--quiet", "--set", "run.duration=2e-3"]
    assert main(run) == 0
    assert sx.read_history("bar-results/history.csv")["t"][-1] == 2e-3
    assert main([*run, "--resume"]) == 0
    assert main(["run", "bar.toml", "--quiet", "--resume"]) == 2
    assert "duration" in capsys.readouterr().err
    assert main(["check", "bar.toml", "--set", "run.duration=3e-3"]) == 0
    assert "3 ms" in capsys.readouterr().out


@pytest.mark.parametrize("change", ["run.duration", "=3", "run.duration="])
def test_a_change_that_is_none_is_told(change, capsys, tmp_path):
    path = tmp_path / "bar.toml"
    path.write_text(TEXT)
    assert main(["check", str(path), "--set", change]) == 2
    assert "is no change of a scenario; write table.key=value" in capsys.readouterr().err


def test_a_key_is_set_once(capsys, tmp_path):
    path = tmp_path / "bar.toml"
    path.write_text(TEXT)
    assert main(["check", str(path), "--set", "run.frames=1", "--set", "run.frames=2"]) == 2
    assert "'run.frames' is set twice: to 1 and to 2." in capsys.readouterr().err
