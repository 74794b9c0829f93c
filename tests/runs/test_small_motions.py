"""The commands modes and response: what they compute of scenarios, keep, print and refuse."""

from __future__ import annotations

import csv
import json
import shutil

import numpy as np
import pytest

import symplex as sx
from symplex.commands.cli import main
from symplex.errors import OutputError, ScenarioError
from symplex.meshes.pictures.render import _probe
from symplex.runs.modes import find_modes
from symplex.runs.response import find_response
from symplex.scenario.response import excitation
from symplex.studies.folders import study_report

BEAM = """
[[body]]
name = "beam"
mesh = { box = [1, 0.1, 0.1], cells = [4, 1, 1], split = "24" }
material = { young = 1e9, poisson = 0, density = 1000 }
"""
RUN = """
[integrator]
kind = "energy-momentum"
dt = 1e-3
[run]
duration = 0.01
"""
HELD = """
[[support]]
body = "beam"
group = "x_min"
"""
SHAKEN = """
[[support]]
name = "table"
body = "beam"
group = "x_min"
displacement = [0, 0, 1e-3]
history = { kind = "sine", frequency = 1 }
[[load]]
name = "push"
kind = "traction"
body = "beam"
group = "x_max"
traction = [0, 0, 1e3]
history = { kind = "ramp", duration = 1 }
[[damping]]
alpha = 2
beta = 1e-4
stiffness = "initial"
[response]
between = [5, 60]
points = 12
at = [{ name = "tip", body = "beam", group = "x_max" }, { name = "foot", body = "beam", group = "x_min" }]
"""


def scenario(*parts):
    return sx.Scenario.parse("".join(parts), "beam.toml")


BLOCK = '[[rigid_body]]\nname = "block"\nmesh = { box = [0.02, 0.06, 0.12] }\ndensity = 2700\n'
PENDULUM = BLOCK + "pivot = [0, 0, 0.1]\n[gravity]\nacceleration = [0, 0, -9.81]\n"


def test_rigid_bodies_have_their_own_modes_only():
    found = find_modes(scenario(BLOCK, RUN), 12)
    assert found.kinds == [f"translation along {a}" for a in "xyz"] + [f"rotation about {a}" for a in "xyz"]
    assert found.about.notes == ["there are no more than 6 modes"]
    pendulum = find_modes(scenario(PENDULUM, RUN), 12)
    assert pendulum.kinds == ["rotation about z", "vibration", "vibration"]
    square = [9.81 * 0.1 / ((0.12**2 + edge**2) / 12.0 + 0.1**2) for edge in (0.06, 0.02)]
    np.testing.assert_allclose(pendulum.natural.angular[1:], np.sqrt(square), rtol=1e-12)


def test_modes_of_the_stiffness_of_rigid_bodies_are_named():
    """With methods that take no frames."""
    run = RUN.replace(RUN.partition('kind = "')[2].partition('"')[0], "zhang-skeel")
    found = find_modes(scenario(BLOCK, run), 12)
    assert found.kinds == [f"translation along {a}" for a in "xyz"] + [f"rotation about {a}" for a in "xyz"] + 6 * [
        "artificial"
    ]
    assert found.about.notes == ["artificial modes are those of the stiffness of rigid bodies and their pivots"]
    assert found.report().count("artificial") == 7
    assert find_modes(scenario(PENDULUM, run), 12).kinds[3:] == 9 * ["artificial"]


def test_free_beam_in_a_folder(tmp_path, capsys):
    (tmp_path / "beam.toml").write_text(BEAM + RUN, "utf-8")
    folder = tmp_path / "out"
    arguments = ["modes", str(tmp_path / "beam.toml"), "--number", "8", "--output", str(folder), "--no-pictures"]
    assert main(arguments) == 0
    reported = capsys.readouterr().out
    assert "translation along x" in reported
    assert "rotation about z" in reported
    assert "100.00 %" in reported
    with (folder / "modes.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["mode"] for row in rows] == [str(k) for k in range(1, 9)]
    assert float(rows[6]["frequency"]) > 1.0
    assert float(rows[0]["effective_mass_x"]) == pytest.approx(10.0)
    units = {c["name"]: c.get("unit") for c in json.loads((folder / "modes.json").read_text("utf-8"))["columns"]}
    assert units["frequency"] == "Hz"
    assert units["effective_inertia_z"] == "kg m²"
    summary = json.loads((folder / "summary.json").read_text("utf-8"))
    assert summary["frequencies"] == [float(row["frequency"]) for row in rows]
    series = sx.read_series(folder / "modes.vtkhdf")
    assert series.times.tolist() == list(range(1, 9))
    shape = series.frame(6).point_data["shape"]
    assert np.linalg.norm(shape, axis=1).max() == pytest.approx(1.0)
    # Nothing is overwritten unless asked for, and nothing of others at all.
    assert main(arguments) == 2
    assert "already holds the modes" in capsys.readouterr().err
    (folder / "mine.txt").write_text("mine", "utf-8")
    assert main([*arguments, "--overwrite"]) == 0
    assert (folder / "mine.txt").read_text("utf-8") == "mine"


def test_a_folder_of_others_is_left_alone(tmp_path):
    found = find_modes(scenario(BEAM, RUN), 2)
    for name in ("modes.csv", "summary.json"):
        (tmp_path / name).write_text("{}", "utf-8")
        with pytest.raises(OutputError, match=f"holds {name}, but no modes"):
            found.save(tmp_path, overwrite=True)
        (tmp_path / name).unlink()


def test_modes_of_an_earlier_version_and_killed_ones_are_replaced(tmp_path):
    found = find_modes(scenario(BEAM, RUN), 2)
    found.save(tmp_path / "old", pictures=False)
    (tmp_path / "old" / "manifest.json").unlink()  # in its place the summary listed the files
    summary = tmp_path / "old" / "summary.json"
    names = ["modes.csv", "modes.json", "modes.vtkhdf", "scenario.toml"]
    summary.write_text(json.dumps(json.loads(summary.read_text("utf-8")) | {"files": names}), "utf-8")
    assert study_report(tmp_path / "old").startswith("Modes")
    shutil.copytree(tmp_path / "old", tmp_path / "killed")
    found.save(tmp_path / "old", pictures=False, overwrite=True)
    shutil.copy(tmp_path / "old" / "manifest.json", tmp_path / "killed")
    (tmp_path / "killed" / "summary.json").unlink()
    (tmp_path / "killed" / "mine.txt").write_text("mine", "utf-8")
    found.save(tmp_path / "killed", pictures=False, overwrite=True)
    assert (tmp_path / "killed" / "mine.txt").exists()


def test_modes_are_a_study(tmp_path):
    found = find_modes(scenario(BEAM, HELD, RUN), 4)
    assert isinstance(found, sx.runs.Study)
    assert len(found.to_pandas()) == 4
    mass, inertia = found.panels()
    assert np.allclose(mass.curves[2].y, np.cumsum([row["effective_mass_z"] for row in found.rows()]))
    assert (mass.unit, inertia.unit) == ("kg", "kg m²")
    assert found.plot(tmp_path / "masses.png").stat().st_size > 10_000


@pytest.mark.slow
def test_picture_and_film(tmp_path):
    if why := _probe():
        pytest.skip(why)
    find_modes(scenario(BEAM, HELD, RUN), 1).save(tmp_path / "out", film="gif")
    for name in ("modes.png", "mode-1.gif"):
        assert (tmp_path / "out" / name).stat().st_size > 10_000


def test_preload_and_the_state_at_a_time():
    """A tension in an equilibrium of the start stiffens; so does one that a static stage has brought by then."""
    pull = '[[load]]\nname = "pull"\nkind = "traction"\nbody = "beam"\ngroup = "x_max"\ntraction = [2e7, 0, 0]\n'
    static = '[start]\nkind = "static"\n'
    quasi = '[integrator]\nkind = "static"\ndt = 0.5\n[run]\nduration = 1\nframes = 2\n'
    free = find_modes(scenario(BEAM, HELD, RUN), 1).natural.frequencies[0]
    preloaded = find_modes(scenario(BEAM, HELD, pull, static, RUN), 1).natural.frequencies[0]
    ramp = 'history = { kind = "ramp", duration = 1 }\n'
    brought = scenario(BEAM, HELD, pull + ramp, quasi)
    later = find_modes(brought, 1, 1.0).natural.frequencies[0]
    assert preloaded > 1.2 * free
    assert later == pytest.approx(preloaded, rel=1e-6)
    assert find_modes(brought, 1, "0").natural.frequencies[0] == pytest.approx(free, rel=1e-9)
    with pytest.raises(OutputError, match="--at is 2 s, but the run is from 0 to 1 s"):
        find_modes(brought, 1, 2.0)
    with pytest.raises(OutputError, match="--at is 'end', must be start or a time"):
        find_modes(brought, 1, "end")


def test_a_free_body_that_rotates():
    """In its frame there are six motions of frequency zero or that of its spin; and the beam is stiffer across."""
    turning = '[start]\nkind = "relative-equilibrium"\nangular_velocity = [0, 0, 30]\n'
    still = find_modes(scenario(BEAM, RUN), 8).natural.frequencies[6]
    found = find_modes(scenario(BEAM, turning, RUN), 8)
    assert found.complex is not None
    assert "rotates with the body" in found.report()
    spin = 30.0 / (2.0 * np.pi)
    low = found.complex.frequencies[:6]
    assert np.all((low < 1e-3 * spin) | (np.abs(low - spin) < 0.2 * spin))
    assert found.complex.frequencies[-1] > still
    assert np.abs(found.complex.eigenvalues.real).max() < 1e-3 * spin


def test_damped_modes():
    damping = "[[damping]]\nalpha = 2\nbeta = 1e-4\nstiffness = 'initial'\n"
    found = find_modes(scenario(BEAM, HELD, damping, RUN), 2)
    assert found.complex is None
    assert "damping has no part in it" in found.about.notes
    omega = found.natural.angular
    damped = find_modes(scenario(BEAM, HELD, damping, RUN), 2, damped=True).complex
    assert damped is not None
    np.testing.assert_allclose(damped.ratios, 1.0 / omega + 0.5e-4 * omega, rtol=1e-6)
    np.testing.assert_allclose(np.abs(damped.eigenvalues), omega, rtol=1e-6)


def test_direct_response_and_superposition_agree(tmp_path):
    direct = find_response(scenario(BEAM, SHAKEN, RUN))
    assert direct.places["foot"][:, 2] == pytest.approx(1e-3)
    modal = find_response(scenario(BEAM, SHAKEN, RUN).with_values({"response.modes": 12}))
    # Modes of Rayleigh's damping are those without it, and the static part is that of all.
    np.testing.assert_allclose(modal.places["tip"], direct.places["tip"], rtol=2e-3, atol=1e-5)
    summary = modal.save(tmp_path / "out", pictures=True)
    with (tmp_path / "out" / "response.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    amplitudes = [float(row["tip_z_amplitude"]) for row in rows]
    assert summary["peaks"]["tip"]["amplitude"] == max(amplitudes)
    assert (tmp_path / "out" / "response.png").stat().st_size > 10_000
    late = [float(row["tip_z_phase"]) for row in rows]
    assert late[0] == pytest.approx(0.0, abs=5.0)
    assert min(late) < -150.0


PROBES = """
[[probe]]
name = "top"
body = "beam"
group = "x_max"
quantities = ["displacement", "velocity", "acceleration"]
[[probe]]
name = "middle"
body = "beam"
points = [[0.5, 0.05, 0.05]]
[[probe]]
name = "root"
body = "beam"
points = [[0.1, 0.05, 0.08]]
quantities = ["stress"]
components = ["xx"]
"""


def test_modes_at_probes(tmp_path):
    """Of a group the mean of the shape there, without what follows from it by the frequency."""
    found = find_modes(scenario(BEAM, HELD, PROBES, RUN), 4)
    found.save(tmp_path / "out", pictures=False)
    with (tmp_path / "out" / "modes.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    end = np.isclose(found.about.problem.mesh.points[:, 0], 1.0)
    for row, shape in zip(rows, found.natural.shapes, strict=True):
        mean = shape[end].mean(axis=0)
        assert [float(row[f"top_displacement_{a}_mean"]) for a in "xyz"] == pytest.approx(mean, rel=1e-7, abs=1e-8)
    assert not [name for name in rows[0] if "velocity" in name]
    columns = {c["name"]: c for c in json.loads((tmp_path / "out" / "modes.json").read_text("utf-8"))["columns"]}
    assert columns["root_stress_xx"]["unit"] == "Pa kg^-½"
    assert abs(float(rows[0]["root_stress_xx"])) > 1e3


def test_response_at_probes(tmp_path):
    """Motions are those of places, iω and −ω² times; stresses at low frequency are those of the static deflection."""
    places = 'at = ["top", "root", "middle", { name = "tip", body = "beam", group = "x_max" }]\n'
    text = BEAM + HELD.replace("[[support]]", '[[support]]\nname = "foot"') + SHAKEN[SHAKEN.index("[[load]]") :]
    text = text[: text.index("between")] + f"frequencies = [1e-3, 20]\n{places}"
    made = scenario(text, PROBES, RUN)
    found = find_response(made)
    top = {column.name: values for column, values in found.probes["top"].items()}
    z = found.places["tip"][:, 2]
    omega = 2.0 * np.pi * found.frequencies
    np.testing.assert_allclose(top["displacement_z_mean"], z, rtol=1e-8)
    np.testing.assert_allclose(top["velocity_z_mean"], 1j * omega * z, rtol=1e-8)
    np.testing.assert_allclose(top["acceleration_z_mean"], -(omega**2) * z, rtol=1e-8)
    still = text[: text.index("[response]")].replace('history = { kind = "ramp", duration = 1 }', "")
    small = scenario(still.replace("1e3]", "1e-2]"), '[start]\nkind = "static"\n', PROBES, RUN).build()
    probes = {built.table.name: built.probes[0].of(small.system, small.state) for built in small.probes}
    for name, column in (("root", "stress_xx"), ("middle", "displacement_z")):
        (values,) = (values for c, values in found.probes[name].items() if c.name == column)
        assert values[0] == pytest.approx(1e5 * probes[name][column], rel=1e-4)
    summary = found.save(tmp_path / "out", pictures=True)
    assert summary["peaks"]["root stress_xx"]["unit"] == "Pa"
    assert summary["peaks"]["top velocity_mean"]["component"] == "z"
    assert (tmp_path / "out" / "response.png").stat().st_size > 10_000
    header = (tmp_path / "out" / "response.csv").read_text("utf-8").split("\n", 1)[0]
    assert "root_stress_xx_amplitude" in header
    assert "peak of root stress_xx" in found.report()


BASE = '[[probe]]\nname = "base"\nsupport = "table"\n'


@pytest.mark.parametrize(
    "change", [{}, {"response.modes": 12}, {"response.loss_factor": 0.2}, {"response.by": ["push"]}]
)
def test_reactions_balance_what_swings(change):
    """Forces and moments of supports, of loads, of drag and of inertia are in balance; inner ones, damping too, are."""
    text = SHAKEN.replace("at = [", 'at = ["base", ')
    made = scenario(BEAM, text, BASE, RUN).with_values(change)
    found = find_response(made)
    about, tables, omega = found.about, made.tables, 2.0 * np.pi * found.frequencies
    excited = excitation(tables, about.problem.mesh, about.state, about.system.loads)
    options = {"loss_factor": tables.response.loss_factor, "modes": found.modes, "forces": excited.forces}
    options |= {"base": excited.base} if excited.base.any() else {}
    u = sx.modes.frequency_response(about.system, about.state, found.frequencies, **options).displacements
    M = about.system.mass[:, None]
    outer = np.array([M * (-(w**2) + 2.0j * w) * x - excited.forces for w, x in zip(omega, u, strict=True)])
    reactions = {column.name: values for column, values in found.probes["base"].items()}
    rtol = 2e-2 if found.modes is not None else 1e-6  # what is not among the modes has no inertia
    forces = outer[:, :, 2].sum(axis=1)
    np.testing.assert_allclose(reactions["reaction_z"], forces, rtol=0.0, atol=rtol * np.abs(forces).max())
    moments = np.cross(about.state.q, outer)[:, :, 1].sum(axis=1)
    np.testing.assert_allclose(reactions["reaction_moment_y"], moments, rtol=0.0, atol=rtol * np.abs(moments).max())
    assert np.abs(reactions["reaction_z"]).min() > 1.0


def test_forces_on_what_is_held_are_reactions():
    """Although nothing moves."""
    text = SHAKEN.replace("at = [", 'at = ["base", ').replace('group = "x_max"\ntraction', 'group = "x_min"\ntraction')
    found = find_response(scenario(BEAM, text, BASE, RUN).with_values({"response.by": ["push"]}))
    np.testing.assert_array_equal(found.places["tip"], 0.0)
    reactions = {column.name: values for column, values in found.probes["base"].items()}
    np.testing.assert_allclose(reactions["reaction_z"], -10.0, rtol=1e-12)  # 1 kPa on 0.01 m²
    np.testing.assert_allclose(reactions["reaction_x"], 0.0, atol=1e-12)


def test_what_does_not_act_at_the_time_does_not_excite():
    later = SHAKEN.replace('name = "push"', 'name = "push"\nfrom = 0.005')
    both, by_table = scenario(BEAM, later, RUN), scenario(BEAM, SHAKEN, RUN).with_values({"response.by": ["table"]})
    np.testing.assert_array_equal(find_response(both).places["tip"], find_response(by_table).places["tip"])
    with pytest.raises(ScenarioError, match=r"response.*: push does not act at t = 0 s, by its from and until; give"):
        find_response(both.with_values({"response.by": ["push"]}))
    from_start = find_response(scenario(BEAM, SHAKEN, RUN)).places["tip"][0, 2]
    assert find_response(both, 0.01).places["tip"][0, 2] == pytest.approx(from_start, rel=1e-3)
    assert abs(find_response(both).places["tip"][0, 2] / from_start - 1.0) > 0.05


def test_response_to_a_shaken_base_is_that_of_its_acceleration():
    by_table = scenario(BEAM, SHAKEN, RUN).with_values({"response.by": ["table"]})
    moved = find_response(by_table).places["tip"]
    record = 'acceleration = [0, 0, 1]\nhistory = { kind = "table", times = [0, 1], factors = [0, 1] }'
    text = SHAKEN.replace('displacement = [0, 0, 1e-3]\nhistory = { kind = "sine", frequency = 1 }', record)
    pulled = find_response(scenario(BEAM, text, RUN).with_values({"response.by": ["table"]}))
    square = (2.0 * np.pi * pulled.frequencies[:, None]) ** 2
    np.testing.assert_allclose(pulled.places["tip"], -moved / (1e-3 * square), rtol=1e-9, atol=1e-13)


def test_a_scenario_in_a_rotating_frame_runs(tmp_path):
    frame = "[rotating_frame]\nangular_velocity = [0, 0, 20]\n"
    perturbed = '[start]\nkind = "static"\nperturbation = { amplitude = 0.01, of = "velocities" }\n'
    sx.simulate(scenario(BEAM, HELD, frame, perturbed, RUN), tmp_path / "out", progress=False, pictures=False)
    history = sx.read_history(tmp_path / "out" / "history.csv")
    assert np.ptp(history["centrifugal"]) > 0.0
    assert np.abs(history["work_coriolis"]).max() < 1e-9 * np.abs(history["total"]).max()
    assert np.ptp(history["total"]) < 1e-9 * np.abs(history["total"]).max()


SWUNG = """
[[load]]
name = "swung"
kind = "gravity"
body = "beam"
acceleration = [0, 0, 1]
history = { kind = "sine", frequency = 1 }
"""

WARMED = """
[[temperature]]
name = "warmed"
body = "beam"
change = 10
history = { kind = "sine", frequency = 1 }
"""


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ((BEAM, HELD, RUN), r"there is no \[response\] table"),
        (
            (BEAM, HELD, RUN, "[response]\nfrequencies = [1]\nat = [{ name = 'a', body = 'beam' }]\n"),
            r"\[response\]: nothing excites it",
        ),
        (
            (BEAM, SHAKEN.replace("points = 12", 'by = ["pull"]'), RUN),
            r"by names 'pull', which is no load or support",
        ),
        ((BEAM, SHAKEN, SWUNG, RUN), r"load 'swung' has a history, but of gravity no harmonic response is known"),
        (
            (BEAM.replace("density", "expansion = 1e-5, density"), SHAKEN, WARMED, RUN),
            r"temperature 'warmed' has a history, but of temperatures no harmonic response is known",
        ),
    ],
)
def test_responses_that_cannot_be(parts, message):
    with pytest.raises(ScenarioError, match=message):
        find_response(scenario(*parts))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("points = 12\nratio = 0.1", "ratio is one of modes"),
        ("points = 12\nfrequencies = [1]", "either frequencies, a list, or between"),
        ("points = 1", "points must be an integer of at least 2, got 1"),
    ],
)
def test_mistakes_in_the_table_of_the_response(change, message):
    with pytest.raises(ScenarioError, match=message):
        scenario(BEAM, SHAKEN.replace("points = 12", change), RUN)


@pytest.mark.parametrize(
    ("probe", "message"),
    [
        ('name = "other"\nbody = "beam"', r"at: there is no \[\[probe\]\] 'top'; known are: other"),
        (
            'name = "top"\nobstacle = "floor"\n[[obstacle]]\nname = "floor"\nkind = "half-space"\npoint = [0, 0, -1]\n'
            "normal = [0, 0, 1]\nstiffness = 1e6",
            "the probe 'top' reports the forces of obstacles, which have no response",
        ),
        ('name = "top"\nbody = "beam"\nquantities = ["von_mises"]', "has von_mises, which does not swing"),
        ('name = "top"\nbody = "beam"\ncomponents = ["norm"]', "has the component norm, which has no phase"),
        ('name = "top"\nbody = "beam"\nreduce = ["max"]', "has the max of several places, which has no phase"),
    ],
)
def test_probes_that_do_not_swing(probe, message):
    with pytest.raises(ScenarioError, match=message):
        scenario(BEAM, SHAKEN.replace("at = [", 'at = ["top", '), f"[[probe]]\n{probe}\n", RUN)


def test_elements_that_do_not_see_motions_are_named():
    """A row of single hexahedra of reduced integration."""
    row = BEAM.replace('split = "24" }', 'split = "hexahedra" }\nquadratic = true\nformulation = "reduced"')
    found = find_modes(scenario(row, HELD, RUN), 2)
    assert found.natural.kinds[0] == "mechanism"
    assert "4 of 'beam' move so; take formulation = \"full\"" in found.report()


def test_mistakes_in_rotating_frames():
    frame = "[rotating_frame]\nangular_velocity = [0, 0, 20]\n"
    with pytest.raises(ScenarioError, match="angular_velocity must be nonzero, got"):
        scenario(BEAM, frame.replace("20", "0"), RUN)
    with pytest.raises(ScenarioError, match="Coriolis forces have no potential, which force-stepping needs"):
        scenario(BEAM, frame, '[integrator]\nkind = "force-stepping"\ngrid = 1e-4\n[run]\nduration = 0.01\n')
    with pytest.raises(ScenarioError, match="the name 'coriolis' is reserved"):
        scenario(BEAM.replace('"beam"', '"coriolis"'), frame, RUN)


HINGED = """
[[beam]]
name = "strip"
mesh = { line = 1.0, bars = 8 }
up = [0, 0, 1]
section = { kind = "rectangle", height = 0.01, width = 0.05 }
material = { young = 7e10, poisson = 0.3, density = 2700 }

[[joint]]
name = "hinge"
kind = "revolute"
bodies = ["strip"]
at = [0, 0, 0]
axis = [0, 1, 0]
spring = { stiffness = 50 }
damping = 0.05

[[load]]
name = "push"
kind = "nodal"
body = "strip"
group = "x_max"
force = [0, 0, 4.0]
history = { kind = "ramp", duration = 1.0 }

[[probe]]
name = "last"
body = "strip"
members = [7]
quantities = ["bending_moment_2", "shear_force_1"]

[[probe]]
name = "tip"
body = "strip"
group = "x_max"
quantities = ["rotation"]

[response]
frequencies = [0.0, 1.0]
at = ["last", "tip", { name = "end", body = "strip", at = [1, 0, 0] }]
"""


@pytest.mark.parametrize("load", ["force", "moment"])
def test_the_response_of_a_beam_on_a_hinge(load):
    """At rest as a cantilever on a spring; near its first frequency larger, by what the damper leaves, and late."""
    text = HINGED if load == "force" else HINGED.replace("force = [0, 0, 4.0]", "moment = [0, -4.0, 0]")
    made = scenario(text, RUN)
    found = find_response(made)
    stiffness, bending = 50.0, 7e10 * 0.05 * 0.01**3 / 12.0
    shear = 5.0 / 6.0 * 7e10 / 2.6 * 0.05 * 0.01
    if load == "force":
        deflection, rotation = 4.0 / stiffness + 4.0 / 3.0 / bending + 4.0 / shear, 4.0 / stiffness + 2.0 / bending
        moment, force = 0.25, 4.0
    else:
        deflection, rotation = 4.0 / stiffness + 2.0 / bending, 4.0 / stiffness + 4.0 / bending
        moment, force = 4.0, 0.0
    end, tip, last = found.places["end"], found.probes["tip"], found.probes["last"]
    numbers = {column.name: values for column, values in (tip | last).items()}
    np.testing.assert_allclose(end[0], [0.0, 0.0, deflection], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(numbers["rotation_y_mean"][0], -rotation, rtol=1e-6)
    np.testing.assert_allclose(abs(numbers["bending_moment_2"][0]), moment, rtol=1e-4)  # of differences
    np.testing.assert_allclose(abs(numbers["shear_force_1"][0]), force, rtol=1e-4, atol=1e-3)
    first = find_modes(made, 1, damped=True)
    assert first.kinds == ["vibration"]
    assert 0.0 < first.rows()[0]["damping_ratio"] < 0.01
    near = find_response(made.with_values({"response.frequencies": [first.rows()[0]["frequency"]]}))
    assert np.abs(near.places["end"]).max() > 50.0 * deflection
    assert np.angle(near.places["end"][0, 2]) == pytest.approx(-np.pi / 2, abs=0.05)
