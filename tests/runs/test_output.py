"""Standard output and error that are piped, full or closed: a run goes on, and exit statuses tell the truth."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from symplex.base.streams import Writer, bounded, complain, discreet, printable, say
from symplex.commands.cli import main
from symplex.runs.progress import Bar, Lines, display

SCENARIO = """
title = "A title\\u001b]0;evil\\u0007 \\u001b[31mred"
[[body]]
name = "block"
mesh = { box = [0.1, 0.1, 0.1], cells = [1, 1, 1], split = "6" }
material = { young = 1e9, poisson = 0.3, density = 1000 }
velocity = [0, 0, -10]
[integrator]
kind = "newmark"
[run]
duration = 2e-4
frames = 4
samples = 4
"""
PLAIN = SCENARIO.replace("\\u001b]0;evil\\u0007 \\u001b[31mred", "")
FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full here")


@pytest.fixture
def scenario(tmp_path):
    path = tmp_path / "block.toml"
    path.write_text(PLAIN)
    return path


def symplex(*arguments, before="", after="", **options):
    """Run the command line in a shell; return the exit status of symplex and what it said on stderr."""
    command = f"{before} '{sys.executable}' -m symplex {' '.join(map(str, arguments))} {after}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=600, **options)
    return done.returncode, done.stderr


def assert_finished(folder):
    summary = json.loads((folder / "summary.json").read_text())
    assert (summary["status"], summary["samples"]) == ("finished", 4)


# -- runs ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_run_whose_reader_has_gone_is_finished(scenario, tmp_path):
    status, error = symplex("run", scenario, "--output", tmp_path / "out", after="| true; exit ${PIPESTATUS[0]}")
    assert (status, error) == (0, "")
    assert_finished(tmp_path / "out")


@needs_full
@pytest.mark.parametrize("after", [">/dev/full 2>&1", ">&-", ">&- 2>&- <&-"])
@pytest.mark.slow
def test_a_run_whose_output_is_full_or_closed_is_finished(after, scenario, tmp_path):
    status, error = symplex("run", scenario, "--output", tmp_path / "out", "--no-pictures", after=after)
    assert (status, error) == (0, "")
    assert_finished(tmp_path / "out")
    assert (tmp_path / "out" / "history.csv").read_text().startswith("t,")  # and nothing else was written there


@needs_full
@pytest.mark.slow
def test_a_failing_run_tells_by_its_status_where_nothing_can_be_said(scenario, tmp_path):
    scenario.write_text(PLAIN.replace('kind = "newmark"', 'kind = "force-stepping"\ngrid = 1.0'))
    assert symplex("run", scenario, "--output", tmp_path / "out", after=">/dev/full 2>&1")[0] == 1
    assert symplex("run", "none.toml", after=">&- 2>&-")[0] == 2


def test_a_display_that_cannot_be_shown_is_silent(monkeypatch):
    class Gone(io.StringIO):
        def write(self, text):
            raise BrokenPipeError(32, "Broken pipe")

    for stream in (Gone(), None):
        monkeypatch.setattr(sys, "stdout", stream)
        for shown in (Lines(), Bar()):
            shown.say("a line")
            shown.begin(0.0, 1.0)
            shown.say("another")
            shown.update(0.5, 1e-9, "7 steps")
            shown.end()
            shown.draw("the film", 0.5)
            shown.end()
        assert isinstance(display(True), Lines)
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr(sys, "stdout", closed)
    assert isinstance(display(True), Lines)
    say("nobody hears it")


# -- commands whose output is what they are for ----------------------------------------------------------------


@needs_full
@pytest.mark.slow
def test_a_report_that_cannot_be_written_is_a_failure(scenario, tmp_path):
    status, error = symplex("check", scenario, after=">/dev/full")
    assert status == 1
    assert error == "symplex: error: the output cannot be written: no space left on device.\n"
    assert symplex("--help", after=">/dev/full") == (status, error)


@pytest.mark.slow
def test_a_reader_that_wants_no_more_is_no_failure(scenario):
    for arguments in (("check", scenario), ("--help",)):
        assert symplex(*arguments, after="| true; exit ${PIPESTATUS[0]}") == (0, "")


@needs_full
def test_what_writes_a_file_has_done_so(tmp_path):
    status, error = symplex("mesh", "cube", "I", tmp_path / "cube.msh", after=">/dev/full")
    assert (status, error) == (0, "")
    assert (tmp_path / "cube.msh").stat().st_size > 1000


def test_a_check_that_finds_an_early_failure_says_so_by_its_status(tmp_path, capsys):
    path = tmp_path / "crash.toml"
    path.write_text(PLAIN.replace('kind = "newmark"', 'kind = "force-stepping"\ngrid = 0.3'))
    assert main(["check", str(path)]) == 1
    out = capsys.readouterr().out
    assert out.startswith("crash.toml is valid, but fails early.\n")
    assert "fails early: ForceStepping" in out


def test_help_tells_the_exit_statuses(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    out = capsys.readouterr().out
    for word in ("exit status:", "0 ", "1 ", "2 ", "130", "143", "129"):
        assert word in out


# -- what cannot steer a terminal ------------------------------------------------------------------------------


def test_control_characters_are_escaped():
    assert printable("µ·×…−²³° é 漢 a\nb") == "µ·×…−²³° é 漢 a\nb"
    assert printable("\x1b[31m \x07 \x9b \r \u202e \udcff\x00") == r"\x1b[31m \x07 \x9b \r \u202e \udcff\x00"


def test_names_and_titles_cannot_steer_the_terminal(tmp_path, capsys):
    path = tmp_path / "evil\x1b[31m.toml"
    path.write_text(SCENARIO)
    for command in ("run", "check"):
        options = ["--output", str(tmp_path / "o\x1b[0m"), "--no-pictures"] if command == "run" else []
        status = main([command, str(path), *options])
        out, err = capsys.readouterr()
        assert status in (0, 2)
        assert "\x1b" not in out + err
        assert "\x07" not in out + err
        assert "x1b" in out + err
    assert main(["info", str(tmp_path / "none\x1b[2J.msh")]) == 2
    with pytest.raises(SystemExit):
        main(["run", str(path), "--nothing\x1b[2J"])
    assert "\x1b" not in capsys.readouterr().err


def test_a_file_that_is_no_mesh_is_hardly_quoted(tmp_path, capsys):
    """It may be one that the user of a service has no right to read."""
    line = "root:$6$QZkLmNoPqRsTuVwX$abcdefghijklmnopqrstuvwxyz:19000:0:99999:7:::"
    for extension in ("stl", "msh", "inp", "vtk", "vtu", "mesh", "bdf", "off", "ply", "su2", "dat"):
        path = tmp_path / f"shadow.{extension}"
        path.write_text(f"{line}\n" * 5)
        assert main(["info", str(path)]) == 2
        said = capsys.readouterr().err
        assert not any(line[k : k + 17] in said for k in range(len(line) - 17)), said
    assert discreet(f"no number: '{line}' in `a` or 'b'") == "no number: 'root:$6$QZkLmNoP…' in `a` or 'b'"


@pytest.mark.slow
def test_messages_are_bounded():
    lines = bounded("\n".join(["x" * 10**6 + " end"] * 10**3))
    assert len(lines) == 61
    assert lines[-1] == "… and 940 more lines"
    assert all(len(line) < 1010 for line in lines)
    assert lines[0].startswith("xxx")
    assert lines[0].endswith(" end")
    assert bounded("short\nlines") == ["short", "lines"]


def test_ten_megabytes_of_mistakes_are_told_in_some_lines(tmp_path, capsys):
    path = tmp_path / "big.toml"
    path.write_text(PLAIN + "".join(f'[[load]]\nname = "{"y" * 900}{k}"\nkind = "none"\n' for k in range(5000)))
    assert main(["check", str(path)]) == 2
    err = capsys.readouterr().err
    assert 2 < err.count("\n") <= 61
    assert len(err) < 70_000


def test_what_a_writer_cannot_encode_is_escaped():
    raw = io.BytesIO()
    writer = Writer(io.TextIOWrapper(raw, encoding="ascii", write_through=True))
    assert writer.write("5 µs\n") == 5
    assert writer.failure is None
    assert raw.getvalue() == rb"5 \xb5s" + os.linesep.encode()


def test_complaints_begin_with_the_program(capsys):
    complain("error: one\nerror: two\x1b")
    assert capsys.readouterr().err == "symplex: error: one\nsymplex: error: two\\x1b\n"
