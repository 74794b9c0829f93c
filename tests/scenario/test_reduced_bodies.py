"""Reduced bodies in scenarios: against whole ones, from files, and what is refused."""

import re

import numpy as np
import pytest

import symplex as sx
from symplex.commands.cli import main
from symplex.errors import InvalidSystem, ScenarioError
from symplex.runs.modes import find_modes
from symplex.runs.reduction import reduce_body
from symplex.runs.response import find_response
from symplex.scenario.scenario import Scenario

BAR = """
[[body]]
name = "bar"
mesh = { box = [0.5, 0.05, 0.03], cells = [10, 1, 1], split = "hexahedra" }
quadratic = true
material = { young = 2e11, poisson = 0.3, density = 7850 }
"""
REDUCED = 'reduced = { modes = 10, interfaces = ["x_min", "x_max"] }\n'
HELD = '[[support]]\nbody = "bar"\ngroup = "x_min"\n'
RUN = '[integrator]\nkind = "energy-momentum"\ndt = 1e-4\n[run]\nduration = 2e-3\nframes = 4\nsamples = 20\n'
STATIC = '[integrator]\nkind = "static"\ndt = 1\n[run]\nduration = 1\nframes = 1\nsamples = 1\n'
PROBE = '[[probe]]\nname = "tip"\nbody = "bar"\ngroup = "x_max"\n'


def run(text, tmp_path, name="run", **options):
    path = tmp_path / f"{name}.toml"
    path.write_text(text)
    scenario = Scenario.read(path)
    sx.runs.simulate(scenario, tmp_path / name, pictures=False, overwrite=True, **options)
    return sx.runs.read_result(tmp_path / name)


PUSH = '[[load]]\nname = "push"\nbody = "bar"\n'
LOADS = {
    "nodal": PUSH + 'kind = "nodal"\ngroup = "x_max"\nforce = [0, 1, 2]\n',
    "traction": PUSH + 'kind = "traction"\ngroup = "x_max"\ntraction = [1e4, 2e3, 5e3]\n',
    "pressure": PUSH + 'kind = "pressure"\ngroup = "z_max"\npressure = 1e4\n',
    "gravity": "[gravity]\nacceleration = [0, 3, -9.81]\n",
    "weight": PUSH + 'kind = "gravity"\nacceleration = [0, 0, -9.81]\n',
    "spin": PUSH + 'kind = "centrifugal"\nangular_velocity = [0, 0, 9]\npoint = [0, 0, 0]\n',
}


@pytest.mark.parametrize("kind", LOADS)
def test_static_deflections_are_those_of_the_whole(tmp_path, kind):
    """Forces on interfaces are exact; those along the bar are of modes, of which the tip sees little."""
    text = BAR + HELD + LOADS[kind] + PROBE + STATIC
    whole = run(text, tmp_path, "whole").probes["tip"]
    few = run(text.replace(BAR, BAR + REDUCED), tmp_path, "few").probes["tip"]
    names = [name for name in whole if name.startswith("displacement")]
    full, found = (np.array([one[name][-1] for name in names]) for one in (whole, few))
    # The end of the whole is not rigid there: it differs by Saint-Venant's zone of one width.
    assert np.abs(found - full).max() < 0.02 * np.abs(full).max() > 0.0


def test_a_free_bar_keeps_energy_and_momenta_and_follows_the_whole(tmp_path):
    """Spinning and bending: round-off of both; the motion of the whole, whose deformation is small."""
    moving = "velocity = [1, 2, 3]\nangular_velocity = [3, 2, 60]\n"
    bend = '[[velocity]]\nbody = "bar"\ngradient = [[0, 0, 0], [4, 0, 0], [0, 0, 0]]\n'
    probe = '[[probe]]\nname = "tip"\nbody = "bar"\npoints = [[0.5, 0.025, 0.015], [0.2, 0, 0]]\ninterpolate = true\n'
    text = BAR + moving + bend + probe + RUN.replace("2e-3", "2e-2").replace("samples = 20", "samples = 200")
    whole = run(text, tmp_path, "whole")
    few = run(text.replace(BAR, BAR + "reduced = { modes = 12 }\n"), tmp_path, "few")
    rows = few.history
    assert np.ptp(rows["total"]) < 1e-10 * rows["total"][0]
    for what in ("momentum", "angular_momentum"):
        values = np.array([rows[f"{what}_{axis}"] for axis in "xyz"])
        assert np.abs(values - values[:, :1]).max() < 1e-10 * np.abs(values).max()
    moved = [np.array([one.probes["tip"][f"displacement_{axis}_1"] for axis in "xyz"]) for one in (whole, few)]
    assert np.abs(moved[0]).max() > 0.2
    assert np.abs(moved[1] - moved[0]).max() < 2e-4


def test_from_a_file_it_moves_alike(tmp_path):
    """A body that `reduce` has written is the same to the bit, also rotated and translated."""
    path = tmp_path / "bar.toml"
    path.write_text(BAR + REDUCED + RUN)
    body, frequencies = reduce_body(Scenario.read(path), compared=4)
    assert (frequencies[:, 1] / frequencies[:, 0] - 1.0 > -1e-9).all()
    assert (frequencies[:, 1] / frequencies[:, 0] - 1.0 < 0.02).all()
    body.save(tmp_path / "bar.npz")
    imported = '[[flexible_body]]\nname = "bar"\nfile = "bar.npz"\n'
    rest = HELD + LOADS["traction"] + PROBE + RUN
    one, other = run(BAR + REDUCED + rest, tmp_path, "one"), run(imported + rest, tmp_path, "other")
    assert (one.probes["tip"]["displacement_z_mean"] == other.probes["tip"]["displacement_z_mean"]).all()
    turned = "rotate = { axis = [0, 0, 1], degrees = 90 }\ntranslate = [1, 2, 3]\n"
    turned = imported + turned + HELD + LOADS["traction"].replace("[1e4, 2e3, 5e3]", "[-2e3, 1e4, 5e3]") + PROBE + RUN
    found = run(turned, tmp_path, "turned").probes["tip"]
    np.testing.assert_allclose(
        found["displacement_z_mean"], one.probes["tip"]["displacement_z_mean"], rtol=1e-6, atol=1e-12
    )


def test_stresses_are_those_of_the_whole(tmp_path):
    """Von Mises stresses of a bent bar."""
    text = BAR + HELD + LOADS["traction"] + STATIC
    whole = run(text, tmp_path, "whole").frame(index=-1)["von_mises"]
    few = run(text.replace(BAR, BAR + REDUCED), tmp_path, "few").frame(index=-1)["von_mises"]
    assert np.abs(few - whole)[1:-1].max() < 0.02 * whole.max()


def test_a_run_is_resumed_to_the_bit(tmp_path):
    """A run in two parts."""
    text = BAR + REDUCED + HELD + LOADS["traction"] + PROBE + RUN
    at_once = run(text, tmp_path, "at_once")
    half = text.replace("duration = 2e-3", "duration = 1e-3").replace("frames = 4", "frames = 2")
    half = half.replace("samples = 20", "samples = 10")
    run(half, tmp_path, "parts")
    path = tmp_path / "parts.toml"
    sx.runs.simulate(
        Scenario.read(path).with_values({"run.until": 2e-3}), tmp_path / "parts", pictures=False, resume=True
    )
    later = sx.runs.read_result(tmp_path / "parts")
    assert at_once.history["total"][-1] == later.history["total"][-1]


@pytest.mark.slow
def test_it_falls_on_a_plane_and_on_another(tmp_path):
    """Contact of all its surface, with an obstacle and between bodies; energy is kept."""
    text = BAR + REDUCED + "translate = [0, 0, 1e-3]\nangular_velocity = [0, 5, 0]\nvelocity = [0, 0, -2]\n"
    floor = '[[obstacle]]\nkind = "half-space"\nname = "floor"\npoint = [0, 0, -0.02]\nnormal = [0, 0, 1]\n'
    floor += "stiffness = 1e7\n"
    rows = run(text + floor + RUN.replace("2e-3", "2e-2").replace("samples = 20", "samples = 100"), tmp_path).history
    assert rows["floor"].max() > 0.1
    assert np.ptp(rows["total"]) < 1e-9 * rows["total"][0]
    other = BAR.replace('"bar"', '"other"') + "translate = [0, 0, -0.035]\n" + "[[contact]]\n"
    rows = run(text + other + RUN.replace("2e-3", "6e-3").replace("1e-4", "5e-5"), tmp_path, "two").history
    assert rows["contact"].max() > 1e-3
    assert np.ptp(rows["total"]) < 1e-9 * rows["total"][0]


def test_damping_is_that_of_the_whole(tmp_path):
    """Rayleigh's damping of the cantilever: ratios of complex modes; a run loses what damping takes."""
    damping = '[[damping]]\nname = "d"\nfrequencies = [100, 1000]\nratios = 0.03\n'
    found = []
    for name, key in (("whole", ""), ("few", REDUCED)):
        path = tmp_path / f"{name}.toml"
        path.write_text(BAR + key + HELD + damping + RUN)
        modes = find_modes(Scenario.read(path), 3, damped=True).complex
        assert modes is not None
        found.append(modes.ratios)
    assert found[0].min() > 5e-3
    np.testing.assert_allclose(found[1], found[0], rtol=5e-3)
    turning = "angular_velocity = [0, 0, 50]\n"
    bend = '[[velocity]]\nbody = "bar"\ngradient = [[0, 0, 0], [9, 0, 0], [0, 0, 0]]\n'
    damping = '[[damping]]\nname = "d"\nbeta = 1e-4\n'
    rows = run(BAR + REDUCED + turning + bend + damping + RUN, tmp_path).history
    assert rows["work_d_bar"][-1] < -1e-3
    assert np.ptp(rows["balance"]) < 1e-10 * rows["total"][0]
    turned = np.array([rows[f"angular_momentum_{axis}"] for axis in "xyz"])
    assert np.abs(turned - turned[:, :1]).max() < 1e-10 * np.abs(turned).max()


def test_modes_about_a_support(tmp_path):
    """Natural frequencies of the cantilever, by `symplex modes`."""
    found = []
    for name, key in (("whole", ""), ("few", REDUCED)):
        path = tmp_path / f"{name}.toml"
        path.write_text(BAR + key + HELD + RUN)
        found.append(find_modes(Scenario.read(path), 4).natural.frequencies)
    error = found[1] / found[0] - 1.0
    assert (error > -1e-9).all()
    assert (error < 2e-3).all()


EXPLICIT = '[integrator]\nkind = "newmark"\ndt = 1e-6\n[run]\nduration = 1e-5\nframes = 1\nsamples = 1\n'
SPRING = '[[spring]]\nname = "s"\nbody = "bar"\nto = [0, 0, 1]\nstiffness = 1.0\n'
OBLIQUE = '[[support]]\nname = "o"\nbody = "bar"\ngroup = "x_min"\ndirection = [1, 1, 0]\n'
STRESS = '[[probe]]\nname = "p"\nbody = "bar"\ngroup = "x_min"\nquantities = ["stress"]\n'


def test_responses_are_at_probes_and_buckling_is_refused(tmp_path):
    """Frequency response of the cantilever against the whole; stiffness does not depend on stress."""
    push = LOADS["nodal"] + 'history = { kind = "sine", frequency = 50 }\n'
    response = "[response]\nfrequencies = [20, 90]\nmodes = 8\nratio = 0.02\nat = "
    found = []
    for name, key in (("whole", ""), ("few", REDUCED)):
        path = tmp_path / f"{name}.toml"
        path.write_text(BAR + key + HELD + push + PROBE + response + '["tip"]\n' + RUN)
        columns = find_response(Scenario.read(path)).probes["tip"]
        found.append(next(values for column, values in columns.items() if column.name == "displacement_z_mean"))
    assert np.abs(found[0]).min() > 1e-7
    np.testing.assert_allclose(found[1], found[0], rtol=0.02)
    place = '[{ name = "end", body = "bar", group = "x_max" }]\n'
    path.write_text(BAR + REDUCED + HELD + push + response + place + RUN)
    with pytest.raises(ScenarioError, match="places are probes"):
        find_response(Scenario.read(path))
    path.write_text(BAR + REDUCED + HELD + LOADS["traction"] + RUN)
    with pytest.raises(InvalidSystem, match="does not depend on stress"):
        sx.runs.find_buckling(Scenario.read(path), 1)


REFUSED = {
    "no such group": (REDUCED.replace("x_max", "top"), "", RUN, "group 'top' is not in the mesh"),
    "shared": (REDUCED.replace("x_max", "y_max"), "", RUN, "must not share nodes"),
    "no interface": (REDUCED, '[[support]]\nbody = "bar"\ngroup = "y_max"\n', RUN, "y_max"),
    "explicit": (REDUCED, "", EXPLICIT, "implicit"),
    "rigid": (REDUCED + "rigid = true\n", "", RUN, "leave these out"),
    "tie": (
        REDUCED + BAR.replace('"bar"', '"other"'),
        '[[tie]]\nbody = "bar"\nto = "other"\n',
        RUN,
        "tie does not take",
    ),
    "spring": (REDUCED, SPRING, RUN, "'bar' is reduced, which spring does not take"),
    "oblique": (REDUCED, OBLIQUE, RUN, "held along x, y and z only"),
    "stress probe": (REDUCED, STRESS, RUN, "stress is of bodies"),
    "viscous": (REDUCED, "", RUN, "elastic materials"),
    "no file": ("", '[[flexible_body]]\nname = "f"\nfile = "nowhere.npz"\n', RUN, "nowhere.npz cannot be read"),
}


@pytest.mark.parametrize("keys", [REDUCED, "rigid = true\n", 'rigid = "x_max"\n'])
def test_errors_name_the_table_that_was_written(keys):
    """Not that of a reduced or rigid body, which it stands for; nor do bodies that deform get its number."""
    with pytest.raises(ScenarioError) as caught:
        Scenario.parse(BAR + keys + BAR + RUN)
    assert re.search(r"\[\[body\]\] #\d 'bar': the name 'bar' is taken by \[\[body\]\] #\d;", str(caught.value))
    later = BAR.replace('"bar"', '"other"') + "until = 0.0\n"
    with pytest.raises(ScenarioError, match=r"\[\[body\]\] #2 'other': until must be after 0"):
        Scenario.parse(BAR + keys + later + RUN)


def test_a_reduced_body_is_read_once(tmp_path, monkeypatch):
    """It may be large."""
    scenario = Scenario.parse(BAR + REDUCED + RUN)
    scenario.build().flexible["bar"].body.save(tmp_path / "bar.npz")
    (tmp_path / "few.toml").write_text('[[flexible_body]]\nname = "few"\nfile = "bar.npz"\n' + RUN)
    read, calls = sx.modes.FlexibleBody.read, []
    monkeypatch.setattr(sx.modes.FlexibleBody, "read", lambda path: calls.append(path) or read(path))
    Scenario.read(tmp_path / "few.toml").build()
    assert len(calls) == 1


@pytest.mark.parametrize("which", REFUSED)
def test_what_does_not_go_is_refused_by_name(tmp_path, which):
    """In one sentence with the place."""
    key, more, method, match = REFUSED[which]
    text = BAR.replace("density = 7850", "density = 7850, viscosity = 1e3") if which == "viscous" else BAR
    path = tmp_path / "bar.toml"
    path.write_text(text + key + more + method)
    with pytest.raises(ScenarioError, match=match):
        Scenario.read(path).build()


@pytest.mark.parametrize(("file", "why"), [("bar.mtx", "bar-M.mtx is there already"), ("bar.stl", "is written as")])
def test_files_are_refused_before_anything_is_computed(tmp_path, monkeypatch, capsys, file, why):
    (tmp_path / "bar.toml").write_text(BAR + RUN)
    (tmp_path / "bar-M.mtx").write_text("precious")
    monkeypatch.setattr("symplex.runs.reduction.reduce_body", None)
    assert main(["reduce", str(tmp_path / "bar.toml"), "--output", str(tmp_path / file)]) != 0
    assert why in capsys.readouterr().err


def test_reduced_and_rigid_bodies_name_the_files_of_their_meshes():
    text = BAR.replace('{ box = [0.5, 0.05, 0.03], cells = [10, 1, 1], split = "hexahedra" }', '"bar.msh"')
    for key in (REDUCED, "rigid = true\n", 'rigid = "end"\n'):
        assert [*Scenario.parse(text + key + RUN).files] == ["bar.msh"]
    assert not Scenario.parse(BAR + REDUCED + RUN).files


def test_an_oblique_support_of_a_reduced_body_is_refused_once():
    with pytest.raises(ScenarioError) as caught:
        Scenario.parse(BAR + REDUCED + HELD + 'name = "slides"\ndirection = [1, 1, 0]\n' + RUN).build()
    assert str(caught.value).count("is held along x, y and z only") == 1
