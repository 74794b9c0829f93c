"""The examples of vibrations run, draw their pictures and make their numbers."""

import json
from pathlib import Path

import pytest

from symplex.commands.cli import main

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_stretched_beam_answers(tmp_path):
    scenario, folder = EXAMPLES / "stretched_beam.toml", tmp_path / "out"
    arguments = ["response", str(scenario), "--set", "response.points=20", "--set", "body.beam.mesh.cells=[8, 1, 1]"]
    assert main([*arguments, "--output", str(folder), "--no-pictures"]) == 0
    summary = json.loads((folder / "summary.json").read_text("utf-8"))
    assert summary["method"] == "superposition of 12 modes"
    assert summary["peaks"]["tip"]["component"] == "z"


@pytest.mark.slow
def test_the_rotating_blade_runs(tmp_path):
    scenario, folder = EXAMPLES / "rotating_blade.toml", tmp_path / "run"
    assert main(["run", str(scenario), "--output", str(folder), "--quiet", "--no-pictures"]) == 0
    summary = json.loads((folder / "summary.json").read_text("utf-8"))
    assert summary["drift"]["balance"] < 1e-6


@pytest.mark.usefixtures("drawing")
@pytest.mark.slow
def test_vibrations(run_script, tmp_path):
    numbers = run_script("vibrations.py", tmp_path)
    for name, value in numbers.items():
        if name.startswith("stretched"):
            assert value == pytest.approx(1.0, abs=1e-3)
        elif " over that of a beam" in name:
            assert value == pytest.approx(1.0, abs=6e-3)  # shear and rotary inertia of the wide section
    assert numbers["rotating: Southwell's coefficient of the first flap"] == pytest.approx(
        numbers["rotating: the same of a beam"], rel=1e-3
    )
    assert numbers["response: largest difference of modes to the direct method over the amplitude there"] < 0.05
    for picture in ("vibrations.png", "rotating_blade-modes/modes.png"):
        assert (tmp_path / picture).stat().st_size > 10_000
