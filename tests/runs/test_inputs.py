"""A run goes on only from what it was computed from: its scenario, the files that this names, and the version."""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

import symplex
import symplex.runs.loop
import symplex.runs.samples
from symplex.base.checkpoint import load_checkpoint
from symplex.errors import OutputError
from symplex.fem.solids.materials import NeoHookean
from symplex.fem.solids.solid import Solid
from symplex.fem.system import System
from symplex.meshes.formats.save import save_mesh
from symplex.meshes.generate import box
from symplex.meshes.mesh import Mesh
from symplex.runs.inputs import fingerprint, refuse_changed_files
from symplex.runs.run import simulate
from symplex.scenario.scenario import Scenario

TEXT = """
title = "Pulled and shaken"
[[body]]
name = "block"
mesh = "part.inp"
material = { young = 1e9, poisson = 0.3, density = 1000 }
[[support]]
name = "table"
body = "block"
group = "z_min"
displacement = [1e-4, 0, 0]
history = { kind = "table", file = "shake.csv" }
[[load]]
name = "pull"
kind = "traction"
body = "block"
group = "z_max"
traction = [0, 0, 1e5]
history = { kind = "table", file = "pull.csv" }
[integrator]
kind = "newmark"
[run]
duration = 4e-4
frames = 2
samples = 4
[output]
fields = ["velocity"]
"""


def write_mesh(path, upper="z_max"):
    mesh = box((0.1, 0.1, 0.1), (1, 1, 1), split="6")
    groups = dict(mesh.cell_groups)
    groups["z_max"] = mesh.cell_groups[upper]
    save_mesh(Mesh(mesh.points, mesh.cells, groups, mesh.point_groups), path)


def run(path, **options):
    return simulate(path, path.parent / "out", progress=False, pictures=False, **options)


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """A folder with a scenario, its files, and a run of it that was stopped half way."""
    folder = tmp_path_factory.mktemp("inputs")
    (folder / "shake.csv").write_text("time, factor\n0, 0\n2e-4, 1\n4e-4, 0\n")
    (folder / "pull.csv").write_text("0, 0\n1e-4, 1\n")
    write_mesh(folder / "part.inp")
    scenario = folder / "small.toml"
    scenario.write_text(TEXT)
    run(scenario)
    with pytest.MonkeyPatch.context() as patch:
        record = symplex.runs.samples.SamplesOfRun.record

        def interrupted(self, k, *arguments):
            record(self, k, *arguments)
            if k == 2:
                raise KeyboardInterrupt

        patch.setattr(symplex.runs.samples.SamplesOfRun, "record", interrupted)
        with pytest.raises(KeyboardInterrupt):
            run(scenario, overwrite=True)
    return folder


@pytest.fixture
def case(stopped, tmp_path):
    """A copy of it: its scenario."""
    return shutil.copytree(stopped, tmp_path / "case") / "small.toml"


def refusal(scenario):
    before = {path.name: path.read_bytes() for path in (scenario.parent / "out").iterdir()}
    with pytest.raises(OutputError) as caught:
        run(scenario, resume=True)
    assert {path.name: path.read_bytes() for path in (scenario.parent / "out").iterdir()} == before
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(f"{scenario.parent / 'out'} cannot be resumed: ")
    return message.partition("cannot be resumed: ")[2]


def test_unchanged_it_goes_on(case):
    assert run(case, resume=True)["samples"] == 4


@pytest.mark.parametrize("name", ["shake.csv", "pull.csv"])
def test_another_table_is_refused_by_its_name(name, case):
    table = case.parent / name
    table.write_text(table.read_text().replace("1e-4", "1.5e-4").replace("2e-4", "1e-4"))
    assert refusal(case).startswith(f"the file {name} has changed since. Restore what it was, or start again")


def test_another_group_in_a_mesh_file_is_refused(case):
    write_mesh(case.parent / "part.inp", upper="x_max")
    assert refusal(case).startswith("the file part.inp has changed since.")


def test_a_finished_run_is_not_taken_for_that_of_other_files(case):
    run(case, resume=True)
    (case.parent / "pull.csv").write_text("0, 0\n1e-4, 2\n")
    assert refusal(case).startswith("the file pull.csv has changed since.")


def test_a_finished_run_is_not_taken_for_that_of_other_included_files_or_of_another_version(stopped, tmp_path):
    home = tmp_path / "home"
    shutil.copytree(stopped, home, ignore=lambda *_: ["out"])
    (home / "part.inp").rename(home / "all.inp")
    (home / "part.inp").write_text("*INCLUDE, INPUT=all.inp\n")
    run(home / "small.toml")
    assert run(home / "small.toml", resume=True)["status"] == "finished"
    write_mesh(home / "all.inp", upper="x_max")
    assert refusal(home / "small.toml").startswith("the meshes are no longer those of the run.")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("symplex.runs.beginning.VERSION", "9.8.7")
        assert "and this is symplex 9.8.7, which may compute otherwise." in refusal(home / "small.toml")


def test_a_run_that_starts_from_another_one_is_not_taken_for_that_of_another_state(stopped, tmp_path):
    home = tmp_path / "home"
    shutil.copytree(stopped, home, ignore=lambda *_: ["out"])
    first, second = home / "first.toml", home / "small.toml"
    simulate(second.rename(first), home / "a", progress=False, pictures=False)
    second.write_text(TEXT + '[start]\nkind = "result"\nfrom = "a"\n')
    run(second)
    assert run(second, resume=True)["status"] == "finished"
    first.write_text(TEXT.replace("1e5]", "2e5]"))
    simulate(first, home / "a", overwrite=True, progress=False, pictures=False)
    assert refusal(second).startswith("the state of the run in 'a' has changed since.")
    shutil.rmtree(home / "a")
    assert run(second, resume=True)["status"] == "finished"


def test_a_file_that_is_gone_is_refused(case):
    (case.parent / "pull.csv").unlink()
    assert refusal(case).startswith("the file pull.csv has changed since.")


def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(case):
    (case.parent / "pull.csv").unlink()
    os.mkfifo(case.parent / "pull.csv")
    assert refusal(case).startswith("the file pull.csv has changed since.")


def test_another_group_in_a_file_that_a_mesh_file_includes_is_refused(stopped, tmp_path):
    """The file that the scenario names is the same, but not the mesh."""
    home = tmp_path / "home"
    shutil.copytree(stopped, home, ignore=lambda *_: ["out"])
    (home / "part.inp").rename(home / "all.inp")
    (home / "part.inp").write_text("*INCLUDE, INPUT=all.inp\n")
    scenario = home / "small.toml"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(symplex.runs.loop.Run, "_advanced", stopping_at(2))
        with pytest.raises(KeyboardInterrupt):
            run(scenario)
    write_mesh(home / "all.inp", upper="x_max")
    assert refusal(scenario).startswith("the meshes are no longer those of the run.")


def stopping_at(sample):
    """Return `Run._advanced`, but that it is interrupted at a sample."""
    advanced = symplex.runs.loop.Run._advanced

    def stopping(self, motion, k):
        if k == sample:
            raise KeyboardInterrupt
        return advanced(self, motion, k)

    return stopping


@pytest.mark.parametrize(
    ("old", "new", "reported"),
    [
        ("1e5]", "2e5]", "load.1.traction.3 was 100000.0, is 200000.0"),
        ("[1e-4, 0, 0]", "[1e-4, 1e-4, 0]", "support.1.displacement.2 was 0, is 0.0001"),
        ("samples = 4", "samples = 8", "run.samples was 4, is 8"),
        ('fields = ["velocity"]', "fields = []", "output.fields.1 was velocity, is not given"),
        ('"pull.csv"', '"shake.csv"', "load.1.history.file was pull.csv, is shake.csv"),
        ("[integrator]", "[gravity]\nacceleration = [0, 0, -9.81]\n[integrator]", "gravity.acceleration.1 was not giv"),
        ('"part.inp"', f'"{"a" * 200}.inp"', f"body.1.mesh was part.inp, is {'a' * 40}…"),
    ],
)
def test_another_scenario_is_refused_by_the_key(old, new, reported, case):
    assert old in TEXT
    case.write_text(TEXT.replace(old, new))
    assert reported in refusal(case)


def test_an_empty_list_is_not_the_default(case):
    """Such as ``external = []``, which is another scheme than without the key."""
    copy = case.parent / "out" / "scenario.toml"
    copy.write_text(TEXT.replace('fields = ["velocity"]', ""))
    case.write_text(TEXT.replace('fields = ["velocity"]', "fields = []"))
    assert "output.fields was not given, is []" in refusal(case)


def test_what_does_not_change_the_motion_may_change(case):
    text = TEXT.replace("Pulled and shaken", "Other").replace("samples = 4", "samples = 4\ncheckpoint = 3")
    case.write_text(f'# {text}\n{text}pictures = false\nfilm = "none"\ndirectory = "elsewhere"\n'.replace("\n# ", "\n"))
    case.write_text(text + 'pictures = false\nfilm = "none"\ndirectory = "elsewhere"\n# a comment\n')
    assert run(case, resume=True)["status"] == "finished"


def test_another_version_is_refused(case, monkeypatch):
    before = symplex.__version__
    monkeypatch.setattr("symplex.runs.beginning.VERSION", "9.8.7")
    assert refusal(case).startswith(
        f"it was computed by symplex {before}, and this is symplex 9.8.7, which may compute otherwise."
    )


def test_a_checkpoint_of_a_version_that_kept_no_hashes_is_refused(case):
    path = case.parent / "out" / "checkpoint.npz"
    kept = load_checkpoint(path)
    motion = {f"motion.{name}": array for name, array in kept.motion.items()}
    np.savez(path, sample=kept.sample, wall_time=kept.wall_time, fingerprint="0" * 64, **motion)
    with pytest.raises(OutputError, match=r"the checkpoint is of an earlier version of symplex, which did not keep"):
        run(case, resume=True)


@pytest.mark.parametrize("content", [b"\xff\xfe", b"[[body]", b"a = " + b"[" * 5000])
def test_a_damaged_copy_of_the_scenario_is_told(content, case):
    (case.parent / "out" / "scenario.toml").write_bytes(content)
    with pytest.raises(OutputError, match=r"scenario\.toml"):
        run(case, resume=True)


def test_a_scenario_tells_its_files(case):
    files = Scenario.read(case).files
    assert files == {name: case.parent / name for name in ("part.inp", "shake.csv", "pull.csv")}


def test_a_run_of_hexahedra_goes_on_with_the_same_formulation_only():
    """Earlier versions knew full integration only, and did not tell it."""
    mesh = box((0.1, 0.1, 0.1), (1, 1, 1), split="hexahedra")
    cells, rubber = mesh.cells["hexahedron"], NeoHookean(1e6, 1e6, 1000.0)

    def inputs(formulation):
        solid = Solid(mesh.points, cells, rubber, formulation=formulation)
        return fingerprint(mesh, System(np.ones(len(mesh.points)), {"block": solid}))

    assert set(inputs("full")) == {"meshes"}
    refuse_changed_files(inputs("full"), inputs("full"), Path("out"))
    for formulation in ("stabilized", "mean-dilatation"):
        with pytest.raises(OutputError, match="out cannot be resumed: the formulation of 'block' has changed since"):
            refuse_changed_files(inputs("full"), inputs(formulation), Path("out"))
