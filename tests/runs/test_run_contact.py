"""Runs of bodies that touch each other: histories, fields, pictures, and going on after any end."""

import json

import numpy as np
import pytest

import symplex.runs.loop
from symplex.contact.bodies import BodyContact
from symplex.meshes.series.series import read_series
from symplex.runs.history import read_history
from symplex.runs.results import RunFolder
from symplex.runs.run import simulate
from symplex.scenario.scenario import Scenario

SCENARIO = """
title = "Two blocks and a floor"
[[body]]
name = "lower"
mesh = { box = [0.2, 0.2, 0.1], cells = [2, 2, 1], split = "6" }
material = { young = 1e6, poisson = 0.3, density = 1000 }
[[body]]
name = "upper"
mesh = { box = [0.1, 0.1, 0.1], cells = [1, 1, 1], split = "6" }
material = { young = 1e6, poisson = 0.3, density = 1000 }
rotate = { axis = [1, 2, 0], degrees = 10 }
translate = [0.03, 0.05, 0.13]
velocity = [0, 0, -3]
[[obstacle]]
name = "floor"
kind = "half-space"
point = [0, 0, -0.001]
normal = [0, 0, 1]
stiffness = 2e4
CONTACT
[integrator]
INTEGRATOR
[run]
duration = 20e-3
frames = 10
samples = 40
checkpoint = 1e-9
"""
PENALTY = "[[contact]]\nmargin = 0.004\n"
BARRIER = '[[contact]]\nlaw = "barrier"\nmargin = 0.002\nfriction = 0.3\n'
# The list is renewed between steps of the first, and within steps of the second, which go far for its margin.
KINDS = {
    "newmark": (PENALTY, 'kind = "newmark"'),
    "energy-momentum": (BARRIER, 'kind = "energy-momentum"\ndt = 5e-4'),
    "force-stepping": (PENALTY, 'kind = "force-stepping"\ngrid = 0.5e-3'),
}


def scenario(kind):
    contact, integrator = KINDS[kind]
    return Scenario.parse(SCENARIO.replace("CONTACT", contact).replace("INTEGRATOR", integrator), "blocks.toml")


def run(kind, output, **options):
    return simulate(scenario(kind), output, progress=False, **({"pictures": False} | options))


@pytest.fixture(scope="module", params=list(KINDS))
def finished(request, tmp_path_factory):
    """An uninterrupted run of each kind: the kind, the folder, the summary, and how often the list was found."""
    folder, found = tmp_path_factory.mktemp(request.param) / "results", {"between": 0, "within": 0}
    with pytest.MonkeyPatch.context() as patch:
        for name, key in (("build_list", "between"), ("extend_list", "within")):
            patch.setattr(BodyContact, name, _counted(getattr(BodyContact, name), found, key))
        summary = run(request.param, folder)
    return request.param, folder, summary, found


def _counted(method, found, key):
    def counted(*arguments):
        result = method(*arguments)
        found[key] += result is not False
        return result

    return counted


def test_the_list_is_renewed(finished):
    kind, _, _, found = finished
    assert found["between"] > 3
    assert (found["within"] > 3) == (kind == "energy-momentum")


def test_history_has_energy_forces_and_gap_of_contact(finished):
    kind, folder, summary, _ = finished
    history = read_history(folder / "history.csv")
    assert list(history)[:7] == ["t", "kinetic", "lower", "upper", "floor", "contact", "total"]
    assert history["contact"].max() > 0.01 * history["kinetic"][0]
    scale = history["kinetic"].max()
    if kind == "force-stepping":
        assert np.ptp(history["lattice_total"]) < 1e-12 * scale
    if kind == "energy-momentum":
        work = history["work_friction_lower_upper"]
        assert np.diff(work).max() <= 0.0
        assert work[-1] < -1e-3 * scale
        assert np.ptp(history["balance"]) < 1e-11 * scale
    else:
        assert np.ptp(history["total"]) < 0.02 * scale
    force = history["contact_force_lower_upper_z"]
    assert force.min() < -10.0
    assert force.max() < 1.0
    reach = scenario(kind).build().body_contacts["contact"].reach
    assert history["gap"].max() == reach
    assert 0.0 < history["gap"].min() < reach
    assert summary["least_gap"] == history["gap"].min()
    assert summary["peak_contact_force_lower_upper"] >= -force.min()
    assert summary["units"]["least_gap"] == "m"
    columns = history.columns
    assert columns["contact_force_lower_upper_z"].plot == "contact force of upper on lower"
    assert columns["contact"].kind == "energy"


def test_fields_of_contact_are_those_of_the_forces(finished):
    kind, folder, _, _ = finished
    series, history = read_series(folder / "motion.vtkhdf"), read_history(folder / "history.csv")
    of_friction = {"friction_traction"} if kind == "energy-momentum" else set()
    assert set(series.point_fields) == {"velocity", "contact_force", "contact_pressure", "gap"} | of_friction
    problem = scenario(kind).build()
    contact = problem.body_contacts["contact"]
    areas = np.full(len(series.points), np.inf)
    areas[contact.surface.vertices] = contact.surface.vertex_areas
    upper = series.blocks["upper"].nodes
    pressed = 0.0
    for i, frame in enumerate(series.frames()):
        forces = frame.point_data["contact_force"]
        sums = [history[f"contact_force_lower_upper_{axis}"][4 * i] for axis in "xyz"]
        # On the lattice of force-stepping action and reaction differ.
        peak = np.abs(history["contact_force_lower_upper_z"]).max()
        near = 0.05 * peak if kind == "force-stepping" else 1e-2
        np.testing.assert_allclose(forces[upper].sum(axis=0), [-x for x in sums], rtol=1e-4, atol=near)
        np.testing.assert_allclose(
            frame.point_data["contact_pressure"], np.linalg.norm(forces, axis=1) / areas, rtol=1e-5, atol=1e-3
        )
        gap = frame.point_data["gap"]
        assert gap.min() >= np.float32(history["gap"][4 * i])
        assert gap.max() == pytest.approx(contact.reach)
        pressed = max(pressed, float(frame.point_data["contact_pressure"].max()))
    assert pressed > 1e3


@pytest.mark.parametrize("k", [6, 17, 23])
@pytest.mark.slow
def test_an_ended_run_goes_on_bit_identically(finished, k, tmp_path, monkeypatch):
    """Ended after the k-th look on the way, between samples as well as at them."""
    kind, folder, _, _ = finished
    calls = 0

    class Ended(BaseException):
        pass

    def ending(self, *arguments):
        nonlocal calls
        calls += 1
        if calls == k:
            raise Ended
        return save(self, *arguments)

    save = symplex.runs.loop.Run._save
    with monkeypatch.context() as patch:
        patch.setattr(symplex.runs.loop.Run, "_save", ending)
        patch.setattr(symplex.runs.loop, "_LOOK", 1e-9)  # a checkpoint after each step
        with pytest.raises(Ended):
            run(kind, tmp_path / "out")
    assert run(kind, tmp_path / "out", resume=True)["status"] == "finished"
    assert (folder / "history.csv").read_bytes() == (tmp_path / "out" / "history.csv").read_bytes()
    one, other = (read_series(path / "motion.vtkhdf") for path in (folder, tmp_path / "out"))
    for a, b in zip(one.frames(), other.frames(), strict=True):
        np.testing.assert_array_equal(a.displacement, b.displacement)
        for name in a.point_data:
            np.testing.assert_array_equal(a.point_data[name], b.point_data[name])


@pytest.mark.parametrize("finished", ["newmark"], indirect=True)
@pytest.mark.usefixtures("drawing")
@pytest.mark.slow
def test_pictures_show_pressure_and_bodies(finished, tmp_path):
    from symplex.runs.drawing import Look
    from symplex.runs.pictures import draw_snapshots

    _, path, _, _ = finished
    folder = RunFolder(path)
    pictures = [
        draw_snapshots(folder, Look(field=field, times=[4e-3]), tmp_path / f"{field}.png")
        for field in ("contact_pressure", "body")
    ]
    assert pictures[0].read_bytes() != pictures[1].read_bytes()


def test_chosen_fields_only(tmp_path):
    text = scenario("newmark").text.replace("duration = 20e-3", "duration = 1e-3")
    chosen = Scenario.parse(text + '[output]\nfields = ["gap", "velocity"]\nformat = "pvd"\n', "blocks.toml")
    simulate(chosen, tmp_path / "out", progress=False, pictures=False)
    assert set(read_series(tmp_path / "out" / "motion.pvd").point_fields) == {"gap", "velocity"}


def test_many_pairs_of_bodies_have_no_columns_of_their_own():
    """Of 11 bodies each two may touch: 55 pairs."""
    bodies = "".join(
        f'[[body]]\nname = "b{i}"\nmesh = {{ box = [0.1, 0.1, 0.1], cells = [1, 1, 1], split = "6" }}\n'
        f"material = {{ young = 1e6, poisson = 0.3, density = 1000 }}\ntranslate = [0, 0, {0.2 * i}]\n"
        for i in range(11)
    )
    problem = Scenario.parse(bodies + '[[contact]]\n[integrator]\nkind = "newmark"\n[run]\nduration = 1e-3\n').build()
    contact = problem.body_contacts["contact"]
    assert [column.name for column in contact.columns] == ["gap"]
    assert contact.observed(problem.state, contact.gradient(problem.state.q[contact.nodes])) == {"gap": contact.reach}


def test_a_run_that_passes_through_fails_with_the_place(tmp_path):
    from symplex.errors import StepFailed

    text = scenario("newmark").text.replace("[[contact]]\n", "[[contact]]\nstiffness = 1e3\n")
    soft = Scenario.parse(text, "blocks.toml")
    with pytest.raises(StepFailed, match=r"'(upper|lower)' passed through .* near \(.*\) m\. Try a smaller step, or"):
        simulate(soft, tmp_path / "out", progress=False, pictures=False)
    summary = json.loads((tmp_path / "out" / "summary.json").read_text("utf-8"))
    assert summary["status"] == "failed"
    assert "passed through" in summary["reason"]
