"""The conservation report: its verdicts where they are known, its floors, its ledger, and what it is made of."""

import json
import shutil

import numpy as np
import pytest

import symplex as sx
from symplex.commands.cli import main
from symplex.errors import InvalidArgument, OutputError
from symplex.runs.invariants import ROUND_OFF, Expected, kept

SPRING = sx.Bars([[0, 1]], sx.measures.EngineeringStrain(40.0, 1.0), dim=2)
FREE = sx.System([1.0, 2.0], {"spring": SPRING}, dim=2)
TIMES = 0.05 * np.arange(200)
SCENARIO = """
title = "A cube is dropped"
[[body]]
name = "cube"
mesh = { box = [0.1, 0.1, 0.1], cells = [1, 1, 1], split = "6" }
material = { young = 1e6, poisson = 0.3, density = 1000 }
translate = [0.0, 0.0, 0.05]
velocity = [0.5, 0.0, -1.0]
[[obstacle]]
name = "floor"
kind = "half-space"
point = [0, 0, 0]
normal = [0, 0, 1]
stiffness = 1e5
[gravity]
acceleration = [0, 0, -9.81]
[integrator]
kind = "energy-momentum"
dt = 1e-3
[run]
duration = 0.1
frames = 10
samples = 100
[output]
pictures = false
"""


def start():
    return FREE.state([[0.0, 0.0], [1.2, 0.1]], [[0.3, 0.5], [0.0, -0.4]])


def verdicts(report, part=0):
    return {one.name: one.verdict for one in report.parts[part].quantities}


def test_what_an_energy_momentum_method_keeps_and_what_it_does_not_claim():
    report = sx.conservation(sx.record(FREE, sx.EnergyMomentum(0.05), start(), TIMES))
    assert set(verdicts(report).values()) <= {"round-off", "solver"}
    assert all(one.declared for one in report.parts[0].quantities)
    loose = sx.conservation(sx.record(FREE, sx.Newmark(0.05), start(), TIMES))
    assert verdicts(loose)["total"] == "oscillates"
    assert verdicts(loose)["angular momentum z"] == "round-off"
    damped = sx.conservation(sx.record(FREE, sx.GeneralizedAlpha(0.05, 0.5), start(), TIMES))
    assert verdicts(damped)["total"] == "drifts"
    assert verdicts(damped)["momentum x"] == "round-off"


def test_measured_changes_are_near_the_floor_and_not_far_below_it():
    report = sx.conservation(sx.record(FREE, sx.EnergyMomentum(0.05), start(), TIMES))
    (energy,) = [one for one in report.parts[0].quantities if one.name == "total"]
    assert 1e-3 * energy.floor < energy.largest < ROUND_OFF * energy.floor


def test_the_floor_is_that_to_which_energies_of_small_strains_are_known():
    """μ V = 3e10 J: stored energies of a strain of 1e-9 are not known to their size, and the floor says so."""
    mesh = sx.box((1.0, 1.0, 1.0), (2, 2, 2))
    solid = sx.Solid(mesh.points, mesh.cells["tetra"], sx.NeoHookean(2e10, 3e10, density=1.0))
    system = sx.System(np.ones(len(mesh.points)), {"block": solid})
    floor = Expected.of(system, sx.EnergyMomentum(1e-3), system.state(mesh.points), 0.0, 1.0).rounding
    stretched = [mesh.points * [1.0 + strain, 1.0, 1.0] for strain in 1e-9 * np.arange(1.0, 9.0)]
    exact = [0.5 * (2e10 + 2 * 3e10) * (1e-9 * k) ** 2 for k in range(1, 9)]
    wrong = np.abs([solid.total(q) for q in stretched] - np.array(exact)).max()
    assert 0.01 * floor < wrong < 4.0 * floor


def test_a_drift_of_what_is_declared_is_told():
    """Of rows that are made up: an energy that grows, though the method is to keep it."""
    t = np.linspace(0.0, 1.0, 101)
    rows = {"t": t, "kinetic": 1.0 + 1e-5 * t, "total": 1.0 + 1e-5 * t}
    (part,) = kept(rows, [Expected("Method", ("energy",), mass=1.0)])
    assert part.quantities[0].verdict == "drifts"
    assert part.quantities[0].words == "drifts: 1.0e-05 after 100 rows of the history, though Method is to keep it"
    assert abs(part.quantities[0].final - 1e-5) < 1e-15


def test_the_ledger_balances():
    push = {"push": sx.actions.Drag(np.array([1.0, 2.0]), 0.2)}
    system = sx.System([1.0, 2.0], {"spring": SPRING}, dim=2, loads=push)
    trajectory = sx.record(system, sx.EnergyMomentum(0.05), start(), TIMES)
    (part,) = sx.conservation(trajectory).parts
    assert part.works["push"] < -0.1
    np.testing.assert_allclose(sum(part.energies.values()), part.works["push"], atol=1e-12)
    assert part.quantities[0].name == "balance"
    assert part.quantities[0].verdict in ("round-off", "solver")
    change = trajectory.momentum[-1] - trajectory.momentum[0]
    np.testing.assert_allclose(part.impulses["change"][:2], change, rtol=1e-14)


def test_at_rest_nothing_is_claimed():
    still = FREE.state([[0.0, 0.0], [1.0, 0.0]])
    report = sx.conservation(sx.record(FREE, sx.EnergyMomentum(0.05), still, TIMES[:10]))
    assert set(verdicts(report).values()) == {"at rest"}


def test_refusals():
    with pytest.raises(InvalidArgument, match="must be a Result or a Trajectory"):
        sx.conservation(3.0)
    path = sx.record(FREE, sx.EnergyMomentum(0.05), start(), TIMES[:1])
    with pytest.raises(InvalidArgument, match="two states"):
        sx.conservation(path)
    by_hand = sx.Trajectory(path.t, path.q, path.v, path.energies, path.momentum, path.angular_momentum)
    with pytest.raises(InvalidArgument, match="Recorder"):
        sx.conservation(by_hand)


# -- of runs ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run") / "out"
    summary = sx.simulate(sx.Scenario.parse(SCENARIO), folder, progress=False)
    return summary, folder


@pytest.fixture
def copied(finished, tmp_path):
    return shutil.copytree(finished[1], tmp_path / "out")


KEPT = {"balance", "total", "momentum x", "momentum y", "angular momentum z"}


def test_a_run_has_its_report_in_summary_and_folder(finished):
    summary, folder = finished
    (part,) = summary["conservation"]
    assert {name for name, one in part["kept"].items() if one["verdict"] in ("round-off", "solver")} <= KEPT
    assert part["kept"]["momentum z"]["verdict"] == "changed"
    assert part["kept"]["angular momentum z"]["verdict"] in ("round-off", "solver")
    stored = json.loads((folder / "conservation.json").read_text("utf-8"))
    impulses = stored["parts"][0]["impulses"]
    # m g t: the mass of a litre of 1000 kg/m³ for 0.1 s.
    assert abs(impulses["gravity"][2] + 9.81 * 0.1) < 1e-12
    assert impulses["change"][2] > 0.5
    assert sx.conservation(folder).plain()["parts"] == stored["parts"]


def test_the_command_prints_it_and_draws_a_picture(copied, capsys):
    assert main(["report", str(copied)]) == 0
    said = capsys.readouterr().out
    assert "Conservation: A cube is dropped" in said
    assert "changed by floor and gravity" in said or "changed by gravity and floor" in said
    assert (copied / "conservation.png").stat().st_size > 10_000


def test_a_run_that_was_killed_has_one_too(copied):
    (copied / "summary.json").unlink()
    stored = json.loads((copied / "conservation.json").read_text("utf-8"))
    (copied / "conservation.json").write_text(json.dumps({"expected": stored["expected"]}), "utf-8")
    lines = (copied / "history.csv").read_text("utf-8").splitlines()
    (copied / "history.csv").write_text("\n".join(lines[:40]) + "\n0.05,3", "utf-8")
    report = sx.conservation(copied)
    assert verdicts(report)["momentum x"] in ("round-off", "solver")
    assert report.parts[0].steps == 38


def test_of_earlier_versions_it_is_made_of_the_scenario(copied):
    whole = sx.conservation(copied)
    (copied / "conservation.json").unlink()
    assert sx.conservation(copied).plain()["parts"] == whole.plain()["parts"]
    (copied / "scenario.toml").write_text("no = 'scenario'", "utf-8")
    little = sx.conservation(copied)
    assert {one.name for one in little.parts[0].quantities} <= {"balance", "total"}
    assert "is not known of this run" in little.text()


@pytest.mark.parametrize("content", ["", "{", '{"expected": [{"name": 3}]}', "[]", '{"expected": [[]]}'])
def test_damaged_ones_are_refused_by_a_sentence(copied, content, capsys):
    (copied / "conservation.json").write_text(content, "utf-8")
    with pytest.raises(OutputError, match=r"conservation\.json cannot be read"):
        sx.conservation(copied)
    assert main(["report", str(copied)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
