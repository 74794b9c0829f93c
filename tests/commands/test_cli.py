"""The command line: exit statuses, one-line errors, help, and what each command prints."""

import gc
import json
import shutil
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import symplex
from symplex.commands.cli import main
from symplex.errors import RenderError
from symplex.meshes.bundled_meshes import bundled
from symplex.meshes.formats.read import read_mesh
from symplex.meshes.formats.save import save_mesh

SCENARIO = """
title = "A block on the floor"
[[body]]
name = "block"
mesh = { box = [0.1, 0.1, 0.1], cells = [1, 1, 1], split = "6" }
material = { young = 1e9, poisson = 0.3, density = 1000 }
velocity = [0, 0, -10]
[[obstacle]]
name = "floor"
kind = "half-space"
point = [0, 0, -1e-4]
normal = [0, 0, 1]
stiffness = 1e8
[integrator]
kind = "newmark"
[run]
duration = 2e-4
frames = 4
"""
# What must not be imported for --help.
HEAVY = ("numpy", "scipy", "numba", "meshio", "pyvista", "matplotlib", "h5py", "rich", "symplex.fem")


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A scenario file and the folder of its finished run, without pictures."""
    folder = tmp_path_factory.mktemp("cli")
    path = folder / "block.toml"
    path.write_text(SCENARIO, encoding="utf-8")
    assert main(["run", str(path), "--output", str(folder / "out"), "--no-pictures", "--quiet"]) == 0
    return path, folder / "out"


def error_of(capsys, *arguments):
    """Return the exit status and the only line on stderr."""
    status = main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("symplex: error: ")
    assert err.count("\n") == 1
    return status, err.removeprefix("symplex: error: ").rstrip("\n")


# -- starting --------------------------------------------------------------------------------------------------


def test_help_is_light():
    code = "import sys\nfrom symplex.commands.cli import main\n"
    code += "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
    code += f"print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    assert "symplex run oblique_impact.toml" in done.stdout


@pytest.mark.parametrize("threshold", [0, 700, 10**6])
def test_garbage_is_looked_for_less_often_only_within_a_command(threshold, monkeypatch):
    seen = []
    monkeypatch.setattr("symplex.commands.cli._command", lambda words: seen.append(gc.get_threshold()[0]) or 0)
    before = gc.get_threshold()
    try:
        gc.set_threshold(threshold, *before[1:])
        assert main(["info"]) == 0
        assert gc.get_threshold() == (threshold, *before[1:])
    finally:
        gc.set_threshold(*before)
    assert seen == [threshold and max(20_000, threshold)]


def test_python_m_symplex_tells_its_version():
    done = subprocess.run([sys.executable, "-m", "symplex", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"symplex {symplex.__version__}\n"


@pytest.mark.parametrize("command", ["run", "check", "info", "plot", "render", "mesh", "mesh box", "mesh convert"])
def test_each_command_has_help(command, capsys):
    with pytest.raises(SystemExit) as caught:
        main([*command.split(), "--help"])
    assert caught.value.code == 0
    assert "usage: symplex " + command in capsys.readouterr().out


def test_wrong_arguments_end_with_2(capsys):
    for arguments in ([], ["simulate"], ["run"], ["run", "a.toml", "--resume", "--overwrite"]):
        with pytest.raises(SystemExit) as caught:
            main(arguments)
        assert caught.value.code == 2
        assert "usage: symplex" in capsys.readouterr().err


# -- run -------------------------------------------------------------------------------------------------------


def test_run_prints_a_summary(results, tmp_path, capsys):
    path, _ = results
    assert main(["run", str(path), "--output", str(tmp_path / "out"), "--no-pictures"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("A block on the floor\n")
    for word in ("finished", "energy drift", "mean velocity", "wall time", "history.csv", "motion.vtkhdf"):
        assert word in out


def test_quiet_prints_nothing(results, capsys):
    path, folder = results
    assert main(["run", str(path), "--output", str(folder), "--resume", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


def test_a_taken_folder_ends_with_2(results, capsys):
    path, folder = results
    status, message = error_of(capsys, "run", path, "--output", folder, "--quiet")
    assert status == 2
    assert message.startswith(f"{folder} already holds a run")


def test_bad_scenarios_end_with_2(tmp_path, capsys):
    path = tmp_path / "bad.toml"
    path.write_text(SCENARIO.replace("1000", "-1000"), encoding="utf-8")
    expected = (2, "bad.toml: [[body]] #1 'block': material.density must be positive, got -1000 kg/m³.")
    assert error_of(capsys, "run", path) == expected
    assert error_of(capsys, "check", path) == expected
    status, message = error_of(capsys, "run", tmp_path / "none.toml")
    assert status == 2
    assert message == f"there is no scenario file {tmp_path / 'none.toml'}."


def test_all_mistakes_are_printed_a_line_each(tmp_path, capsys):
    path = tmp_path / "bad.toml"
    path.write_text(SCENARIO.replace("1000", "-1000") + "frame = 4\n", encoding="utf-8")
    assert main(["check", str(path)]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert all(line.startswith("symplex: error: bad.toml: ") for line in lines)


def test_a_broken_mesh_file_ends_with_2(tmp_path, capsys):
    (tmp_path / "part.msh").write_text("$MeshFormat\n4.1 0 8\n", encoding="utf-8")
    path = tmp_path / "part.toml"
    path.write_text(SCENARIO.replace('{ box = [0.1, 0.1, 0.1], cells = [1, 1, 1], split = "6" }', '"part.msh"'))
    status, message = error_of(capsys, "run", path, "--quiet")
    assert status == 2
    assert message.startswith("part.toml: [[body]] #1 'block': part.msh")


def test_a_failed_run_ends_with_1(tmp_path, capsys):
    path = tmp_path / "crash.toml"
    path.write_text(SCENARIO.replace("-10]", "-9000]"), encoding="utf-8")
    assert main(["run", str(path), "--output", str(tmp_path / "out"), "--no-pictures", "--quiet"]) == 1
    kept, why = capsys.readouterr().err.splitlines()
    t_end = json.loads((tmp_path / "out" / "summary.json").read_text("utf-8"))["t_end"]
    assert t_end > 0
    assert kept == f"symplex: what was computed, to t = {t_end:.6g} s, is in {tmp_path / 'out'}"
    assert why.startswith("symplex: error: Newmark stopped in the step from t = ")
    assert json.loads((tmp_path / "out" / "summary.json").read_text("utf-8"))["status"] == "failed"


def test_too_little_memory_ends_with_2(tmp_path, capsys, monkeypatch):
    path = tmp_path / "huge.toml"
    path.write_text(SCENARIO, encoding="utf-8")
    monkeypatch.setattr("symplex.scenario.scenario.Scenario.build", lambda *_, **given: np.zeros(10**15))
    status, error = error_of(capsys, "run", path, "--output", tmp_path / "out", "--quiet")
    assert status == 2
    assert error.startswith("there is not enough memory (unable to allocate ")
    assert not (tmp_path / "out").exists()


def test_a_run_that_cannot_begin_leaves_nothing(tmp_path, capsys):
    path = tmp_path / "coarse.toml"
    coarse = 'kind = "force-stepping"\ngrid = 1.0'
    path.write_text(SCENARIO.replace('kind = "newmark"', coarse), encoding="utf-8")
    status, error = error_of(capsys, "run", path, "--output", tmp_path / "out", "--quiet")
    assert status == 1
    assert "Try a smaller grid" in error
    assert not (tmp_path / "out").exists()


def test_debug_shows_where(tmp_path):
    with pytest.raises(symplex.SymplexError):
        main(["--debug", "check", str(tmp_path / "none.toml")])


def test_without_opengl_the_run_finishes_and_says_so(results, tmp_path, monkeypatch, capsys):
    def no_opengl():
        raise RenderError("no pictures can be drawn here: no OpenGL.")

    monkeypatch.setattr("symplex.meshes.pictures.render.require_rendering", no_opengl)
    monkeypatch.setattr("symplex.runs.drawing_processes._are_useful", lambda: False)  # for this process to draw
    path, _ = results
    assert main(["run", str(path), "--output", str(tmp_path / "out")]) == 0
    assert "pictures skipped: no pictures can be drawn here: no OpenGL." in capsys.readouterr().out
    summary = json.loads((tmp_path / "out" / "summary.json").read_text("utf-8"))
    assert summary["status"] == "finished"
    assert "no OpenGL" in summary["pictures_skipped"]
    assert (tmp_path / "out" / "history.png").exists()
    assert not (tmp_path / "out" / "snapshots.png").exists()


# -- the others ------------------------------------------------------------------------------------------------


def test_check_tells_sizes_step_and_time(results, capsys):
    path, _ = results
    assert main(["check", str(path)]) == 0
    out = capsys.readouterr().out
    for text in ("block.toml is valid.", "8 nodes, 24 degrees of freedom", "6 tetrahedra, 1 kg", "stable step"):
        assert text in out
    assert "the nearest at 0.0001 m" in out


def test_info_of_a_result_and_of_a_mesh(results, tmp_path, capsys):
    _, folder = results
    assert main(["info", str(folder)]) == 0
    assert "A block on the floor\n  status" in capsys.readouterr().out
    assert main(["mesh", "cube", "I", str(tmp_path / "cube.msh")]) == 0
    assert capsys.readouterr().out.startswith(f"{tmp_path / 'cube.msh'}: 71 nodes, ")
    assert main(["info", str(tmp_path / "cube.msh")]) == 0
    out = capsys.readouterr().out
    assert "192 tetra" in out
    assert "troubles  none" in out


def test_info_of_a_scenario_and_of_a_summary_of_another_version(results, tmp_path, capsys):
    path, folder = results
    assert error_of(capsys, "info", path) == (
        2,
        f"block.toml is a scenario; look at it with: symplex check {path}",
    )
    other = shutil.copytree(folder, tmp_path / "other")
    (other / "summary.json").write_text('{"status": "finished", "t_end": 1}')
    status, error = error_of(capsys, "info", other)
    way_out = "remove it, and --resume writes it again"
    assert (status, error) == (2, f"{other / 'summary.json'} is not as this version of symplex writes it; {way_out}.")


def test_check_says_that_bodies_do_not_touch(tmp_path, capsys):
    block = SCENARIO[SCENARIO.index("[[body]]") : SCENARIO.index("[[obstacle]]")]
    path = tmp_path / "two.toml"
    path.write_text(block.replace('"block"', '"other"') + SCENARIO.replace("title", "# title"), encoding="utf-8")
    assert main(["check", str(path)]) == 0
    assert "no contact: they pass through each other" in capsys.readouterr().out


def test_check_counts_the_pieces_of_a_body(tmp_path, capsys):
    box = symplex.box((1, 1, 1), (1, 1, 1), split="6")
    apart = replace(box, points=box.points + 2.0)
    symplex.save_mesh(symplex.merge({"a": box, "b": apart}), tmp_path / "two.msh")
    path = tmp_path / "two.toml"
    path.write_text(SCENARIO.replace(SCENARIO.split("mesh = ")[1].split("\n")[0], '"two.msh"'), encoding="utf-8")
    assert main(["check", str(path)]) == 0
    assert "2, as parts of a body that share no nodes are not joined" in capsys.readouterr().out


def test_info_of_bars_of_a_motion_and_of_other_cells(results, tmp_path, capsys):
    bars = tmp_path / "bars.vtu"
    assert main(["mesh", "lattice", "--size", "1", "1", "1", str(bars), "--cells", "2", "2", "2"]) == 0
    assert main(["info", str(bars)]) == 0
    out = capsys.readouterr().out
    assert "54 line" in out
    assert "volume    none: the mesh has no volume cells" in out
    assert main(["info", str(results[1] / "motion.vtkhdf")]) == 0
    out = capsys.readouterr().out
    assert "motion.vtkhdf\n  motion    5 frames, from 0 s to 200 µs" in out
    assert "body      block: 6 tetra" in out
    wedge = tmp_path / "wedge.inp"
    nodes = "1,0,0,0\n2,1,0,0\n3,0,1,0\n4,0,0,1\n5,1,0,1\n6,0,1,1\n"
    wedge.write_text(f"*NODE\n{nodes}*ELEMENT, TYPE=C3D6H\n1, 1, 2, 3, 4, 5, 6\n")
    assert main(["info", str(wedge)]) == 0
    out = capsys.readouterr().out
    assert "volume       0.5\n" in out
    assert "cannot be computed with" not in out
    assert "formulation  C3D6H in the file" in out


def test_meshes_are_not_overwritten_unasked_nor_converted_onto_themselves(tmp_path, capsys):
    deck = tmp_path / "part.inp"
    assert main(["mesh", "cube", "I", str(deck)]) == 0
    deck.write_text(deck.read_text() + "*MATERIAL, NAME=STEEL\n*ELASTIC\n210000., 0.3\n")
    before = deck.read_text()
    capsys.readouterr()
    (tmp_path / "link.inp").symlink_to("part.inp")
    for target in (deck, tmp_path / "link.inp"):
        for more in ([], ["--overwrite"]):
            status, error = error_of(capsys, "mesh", "convert", deck, target, *more)
            assert status == 2
            assert "is the mesh itself, which may hold more than is written (materials, results)" in error
    status, error = error_of(capsys, "mesh", "cube", "II", deck)
    assert (status, error) == (2, f"{deck} is there already; choose another name, or --overwrite it (overwrite=True).")
    assert deck.read_text() == before
    sizes = ["--size", "1", "1", "1", str(deck), "--cells", "1", "1", "1"]
    save_mesh(read_mesh(bundled("bracket")), tmp_path / "bracket.msh")
    for kind in (["cube", "II", str(deck)], ["box", *sizes], ["lattice", *sizes],
                 ["convert", str(tmp_path / "bracket.msh"), str(deck)]):  # fmt: skip
        before = deck.read_text()
        assert main(["mesh", *kind]) == 2
        assert deck.read_text() == before
        assert main(["mesh", *kind, "--overwrite"]) == 0
        assert deck.read_text() != before
    capsys.readouterr()


def test_lines_of_meshes_that_are_unknown_are_listed_and_refused_when_strict(tmp_path, capsys):
    mesh = tmp_path / "block.inp"
    save_mesh(symplex.box((0.1, 0.1, 0.1), (1, 1, 1), split="6"), mesh)
    mesh.write_text(mesh.read_text() + "*MODEL CHANGE, REMOVE\nbody\n")
    path = tmp_path / "block.toml"
    path.write_text(
        SCENARIO.replace('{ box = [0.1, 0.1, 0.1], cells = [1, 1, 1], split = "6" }', '{ file = "block.inp" }')
    )
    listed = f"line {mesh.read_text().count(chr(10)) - 1}: *MODEL CHANGE: it is not supported"
    assert main(["info", str(mesh)]) == main(["check", str(path)]) == 0
    assert main(["run", str(path), "--output", str(tmp_path / "out"), "--no-pictures"]) == 0
    assert main(["mesh", "convert", str(mesh), str(tmp_path / "block.msh")]) == 0
    out, err = capsys.readouterr()
    assert (out + err).count(listed) == 4
    for command in (["info", mesh], ["check", path], ["run", path, "--output", tmp_path / "strict", "--quiet"]):
        status, message = error_of(capsys, *command, "--strict")
        assert status == 2
        assert listed in message
    assert not (tmp_path / "strict").exists()


def test_info_of_what_is_neither(tmp_path, capsys):
    status, message = error_of(capsys, "info", tmp_path)
    assert (status, message) == (2, f"{tmp_path} is not a results folder: it has no scenario.toml.")
    status, message = error_of(capsys, "info", tmp_path / "none.msh")
    assert (status, message) == (2, f"there is no mesh file {tmp_path / 'none.msh'}.")


def test_plot_one_run_and_several(results, tmp_path, capsys):
    _, folder = results
    for inputs in ([folder], [folder, folder]):
        picture = tmp_path / f"{len(inputs)}.png"
        assert main(["plot", *map(str, inputs), "--output", str(picture)]) == 0
        assert capsys.readouterr().out == f"{picture}\n"
        assert picture.read_bytes().startswith(b"\x89PNG")


def test_render_asks_for_what_it_is_told(results, tmp_path, monkeypatch, capsys):
    _, folder = results
    asked = {}

    def snapshots(series, path, *, times, field, view, **sizes):
        asked.update(frames=len(series), times=times, field=field, section=view.section, direction=view.direction)
        asked.update(up=view.up, origin=view.origin)
        return path

    monkeypatch.setattr("symplex.runs.drawing.render_snapshots", snapshots)
    arguments = ["--field", "displacement", "--times", "0", "1e-4", "--slice", "y", "--view", "1,-2,0.5"]
    assert main(["render", str(folder), *arguments, "--film", "none", "--output", "a.png"]) == 0
    assert capsys.readouterr().out == "a.png\n"
    assert asked == {
        "frames": 5,
        "times": [0.0, 1e-4],
        "field": "displacement",
        "section": "y",
        "direction": (1.0, -2.0, 0.5),
        "up": None,
        "origin": None,
    }
    arguments = ["--slice", "z=-0.05", "--view", "-x", "--up", "-1,2,0.5", "--film", "none"]
    assert main(["render", str(folder), *arguments]) == 0
    assert capsys.readouterr().out == f"{folder / 'snapshots.png'}\n"
    assert (asked["section"], asked["origin"]) == ("z", (0.0, 0.0, -0.05))
    assert (asked["direction"], asked["up"]) == ((-1.0, 0.0, 0.0), (-1.0, 2.0, 0.5))
    status, message = error_of(capsys, "render", folder, "--view", "sideways")
    assert status == 2
    assert message.startswith("'sideways' is no view; take auto, x, y")
    for option, word, why in (
        ("--up", "north", "no upward direction"),
        ("--slice", "z=a", "no section; take x, y or z"),
    ):
        assert why in error_of(capsys, "render", folder, option, word)[1]
    assert "no section" in error_of(capsys, "render", folder, "--slice", "w=1")[1]


def test_gravity_points_down_in_pictures(results, tmp_path, monkeypatch):
    path, _ = results
    seen = []
    monkeypatch.setattr(
        "symplex.runs.drawing.render_snapshots", lambda series, path, *, view, **rest: seen.append(view.up)
    )
    fallen = tmp_path / "fallen.toml"
    fallen.write_text(path.read_text() + "[gravity]\nacceleration = [1, -9.81, 0]\n")
    assert main(["run", str(fallen), "--output", str(tmp_path / "out"), "--no-pictures", "--quiet"]) == 0
    for arguments in ([], ["--up", "z"], ["--view", "x"]):
        assert main(["render", str(tmp_path / "out"), *arguments, "--film", "none"]) == 0
    assert seen == [(-1.0, 9.81, 0.0), (0.0, 0.0, 1.0), (-1.0, 9.81, 0.0)]
    (tmp_path / "out" / "scenario.toml").write_text("[gravity]\nacceleration = 3\n")
    assert main(["render", str(tmp_path / "out"), "--film", "none"]) == 0
    assert seen[3] is None


def test_mesh_commands_write_what_they_say(tmp_path, capsys):
    box, other, bars = tmp_path / "box.msh", tmp_path / "box.vtu", tmp_path / "bars.vtu"
    assert main(["mesh", "box", "--size", "2", "1", "1", str(box), "--cells", "2", "1", "1", "--split", "6"]) == 0
    assert main(["mesh", "convert", str(box), str(other), "--scale", "1e-3"]) == 0
    assert main(["mesh", "lattice", "--size", "1", "1", "1", str(bars), "--cells", "2", "2", "2"]) == 0
    mesh = read_mesh(other)
    assert len(mesh.cells["tetra"]) == 12
    assert mesh.points.max() == pytest.approx(2e-3)
    assert "x_max" in mesh.groups
    status, message = (
        error_of(capsys, "mesh", "cube", "I", tmp_path / "cube.stl") if not capsys.readouterr().err else ()
    )
    assert status == 2
    assert "cube.stl: meshes are written as .msh" in message
