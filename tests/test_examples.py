"""Every example runs, draws its pictures and makes its numbers."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from symplex.errors import RenderError
from symplex.meshes.render import require_rendering

EXAMPLES = Path(__file__).parent.parent / "examples"


def can_draw() -> bool:
    try:
        require_rendering()
    except RenderError:
        return False
    return True


def run_script(name: str, output: Path, *options: str) -> dict:
    """Run an example; return its numbers."""
    subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / name, "--output", output, *options],
        check=True,
        capture_output=True,
        timeout=600,
    )
    return json.loads((output / "numbers.json").read_text(encoding="utf-8"))


def run_scenario(name: str, output: Path) -> dict:
    """Run a scenario from the command line; return its summary."""
    subprocess.run(
        [sys.executable, "-m", "symplex", "run", EXAMPLES / name, "--output", output],
        check=True,
        capture_output=True,
        timeout=600,
    )
    return json.loads((output / "summary.json").read_text(encoding="utf-8"))


def test_every_example_is_tested():
    tested = Path(__file__).read_text(encoding="utf-8")
    for path in EXAMPLES.iterdir():
        if path.suffix in (".py", ".toml"):
            assert f'"{path.name}"' in tested, path.name


@pytest.mark.skipif(not can_draw(), reason="no OpenGL here")
def test_the_impact_through_the_api(tmp_path):
    numbers = run_script("oblique_impact.py", tmp_path)
    assert numbers["energy drift"] < 1e-12
    assert numbers["peak strain energy [J]"] == pytest.approx(2.56e6, rel=0.01)
    assert numbers["events"] > 200_000
    assert (tmp_path / "cube.png").stat().st_size > 20_000


@pytest.mark.skipif(not can_draw(), reason="no OpenGL here")
def test_the_drop_through_the_api(tmp_path):
    numbers = run_script("drop.py", tmp_path)
    assert numbers["energy range over initial kinetic energy"] < 1e-4
    assert numbers["peak contact force [N]"] > 1e3
    assert -3.0 < numbers["mean velocity at the end [m/s]"][2] < 3.0  # thrown back
    assert (tmp_path / "bracket.png").stat().st_size > 20_000


def test_the_impact_by_force_stepping(tmp_path):
    summary = run_scenario("oblique_impact.toml", tmp_path / "run")
    assert summary["status"] == "finished"
    assert summary["mean_velocity_end"][0] == pytest.approx(1000.0, abs=10.0)
    assert summary["mean_velocity_end"][1] == pytest.approx(-830.0, abs=60.0)
    if can_draw():
        assert (tmp_path / "run" / "snapshots.png").stat().st_size > 20_000


def test_the_drop_of_the_bracket(tmp_path):
    summary = run_scenario("drop.toml", tmp_path / "run")
    assert summary["status"] == "finished"
    if can_draw():
        assert (tmp_path / "run" / "snapshots.png").stat().st_size > 20_000


@pytest.mark.slow
def test_the_impact_by_newmark(tmp_path):
    summary = run_scenario("oblique_impact_newmark.toml", tmp_path / "run")
    assert summary["mean_velocity_end"] == pytest.approx([1000.0, -830.2, -830.2], abs=1.0)


@pytest.mark.slow
@pytest.mark.skipif(not can_draw(), reason="no OpenGL here")
def test_the_papers_section(tmp_path):
    numbers = run_script("oblique_impact_paper.py", tmp_path)
    assert numbers["force-stepping: drift of K + V_h"] < 1e-12
    assert numbers["Newmark: range of x-momentum"] < 1e-12
    assert -2.1 < numbers["exponent of the average step in N"] < -1.75
    assert numbers["share of crossings that change nothing, mesh III"] > 0.95
    assert numbers["reversal after 10 µs: distance from the start [m]"] < 1e-13
    for name in ("figure_19", "figure_20", "figures_21_22", "figure_23", "convergence"):
        assert (tmp_path / f"{name}.png").exists()


def test_both_scenarios_of_the_impact_differ_in_the_integrator_only():
    stepping, newmark = (
        tomllib.loads((EXAMPLES / name).read_text(encoding="utf-8"))
        for name in ("oblique_impact.toml", "oblique_impact_newmark.toml")
    )
    for tables in (stepping, newmark):
        del tables["title"], tables["integrator"]
    assert stepping == newmark
