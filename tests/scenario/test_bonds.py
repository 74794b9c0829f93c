"""Members that yield or break, cohesive bonds and erosion in scenarios: what is built, shown, resumed and refused."""

import re

import numpy as np
import pytest

from symplex.errors import ScenarioError
from symplex.fem.couplings.cohesive import CohesiveFaces
from symplex.fem.measures.inelastic_bars import InelasticBars
from symplex.fem.measures.separation import BreakingBar
from symplex.fem.solids.eroding import Eroding
from symplex.fem.structures.yielding import YieldingBar
from symplex.meshes.series.series import read_series
from symplex.runs.check import check_report
from symplex.runs.history import read_history
from symplex.runs.plausibility import doubts
from symplex.runs.run import simulate
from symplex.scenario.scenario import Scenario

OUTPUT = '[output]\npictures = false\nfilm = "none"\n'
BRACE = """
[[truss]]
name = "brace"
mesh = { nodes = [[0, 0, 0], [1, 0, 0]], members = [[0, 1]], groups = { foot = [0], head = [1] } }
section = 1e-4
material = { young = 200e9, density = 8000, yield_stress = 2e8, hardening = 1e9, back_modulus = 2e9 }
"""
PULLED = """
[[support]]
body = "brace"
group = "foot"
[[support]]
name = "pull"
body = "brace"
group = "head"
displacement = [0.005, 0, 0]
history = { kind = "table", times = [0, 1, 3], factors = [0, 1, -1] }
interpolation = "linear"
[[probe]]
name = "member"
body = "brace"
members = [0]
quantities = ["axial_force", "axial_stress", "plastic_strain", "elongation"]
[integrator]
kind = "static"
dt = 0.05
[run]
duration = 3
frames = 3
samples = 6
"""
BOX = '[0.02, 0.02, 0.02], cells = [2, 2, 2], split = "hexahedra"'
BLOCKS = f"""
[[body]]
name = "lower"
mesh = {{ box = {BOX} }}
material = {{ young = 1e9, poisson = 0.3, density = 1000 }}
[[body]]
name = "upper"
mesh = {{ box = {BOX} }}
translate = [0, 0, 0.02]
material = {{ young = 1e9, poisson = 0.3, density = 1000 }}
velocity = [0, 0, 8]
"""
GLUE = """
[[cohesive]]
name = "glue"
body = "lower"
to = "upper"
strength = 1e6
fracture_energy = 100
"""
PROBE = """
[[probe]]
name = "glue"
body = "glue"
quantities = ["damage", "opening"]
reduce = ["max"]
"""


def run(kind="energy-momentum", dt=2e-6, duration=1e-4):
    return f'[integrator]\nkind = "{kind}"\ndt = {dt}\n[run]\nduration = {duration}\nframes = 2\nsamples = 4\n{OUTPUT}'


def build(text, path="test.toml"):
    return Scenario.parse(text, path).build()


def refusal(text):
    with pytest.raises(ScenarioError) as caught:
        build(text)
    return str(caught.value)


# -- members ----------------------------------------------------------------------------------------------------------


def test_strength_in_a_material_is_sent_to_its_place():
    text = """
[[truss]]
name = "brace"
mesh = { line = 2.0, bars = 4 }
section = 1e-4
material = { young = 200e9, density = 7850, strength = 2e8 }
[integrator]
kind = "energy-momentum"
dt = 1e-5
[run]
duration = 1e-4
"""
    with pytest.raises(
        ScenarioError, match=r"material has strength, which is a key of the truss itself .* member_mass"
    ):
        Scenario.parse(text)


def test_a_member_follows_its_closed_form_and_shows_it(tmp_path):
    """σ = E (e − p), |σ − C p| = σ0 + H α at both ends of the path."""
    (tmp_path / "test.toml").write_text(BRACE + PULLED + OUTPUT + 'fields = ["axial_force", "plastic_strain"]\n')
    scenario = Scenario.read(tmp_path / "test.toml")
    law = scenario.build().system.inelastic["brace"].law
    assert isinstance(law, YieldingBar)
    simulate(scenario, tmp_path / "run", progress=False)
    probe, history = read_history(tmp_path / "run" / "probe-member.csv"), read_history(tmp_path / "run" / "history.csv")
    young, sigma, modulus, back = 200e9, 2e8, 1e9, 2e9
    p = (young * 0.005 - sigma) / (young + back + modulus)
    alpha = p
    at_peak = np.isclose(probe["t"], 1.0)
    assert probe["axial_stress"][at_peak] == pytest.approx(young * (0.005 - p), rel=1e-9)
    more = (young * (0.005 + p) + back * p - sigma - modulus * alpha) / (young + back + modulus)
    p, alpha = p - more, alpha + more
    assert probe["axial_stress"][-1] == pytest.approx(young * (-0.005 - p), rel=1e-9)
    assert probe["axial_force"][-1] == pytest.approx(1e-4 * young * (-0.005 - p), rel=1e-9)
    assert probe["plastic_strain"][-1] == pytest.approx(alpha, rel=1e-9)
    assert probe["elongation"][-1] == pytest.approx(-0.005, rel=1e-9)
    assert -history["work_brace"][-1] == pytest.approx(1e-4 * (sigma * alpha + 0.5 * modulus * alpha**2), rel=1e-9)
    series = read_series(tmp_path / "run" / "motion.vtkhdf")
    assert series.frame(3).cell_data["plastic_strain"]["brace"] == pytest.approx([alpha], rel=1e-6)


def test_springs_and_members_break():
    cord = """
[[point_mass]]
name = "one"
mass = 1
position = [0, 0, 0]
[[point_mass]]
name = "other"
mass = 1
position = [1, 0, 0]
velocity = [3, 0, 0]
[[spring]]
name = "cord"
body = "one"
to_body = "other"
stiffness = 1e4
strength = 100
fracture_energy = 2
"""
    net = '[[truss]]\nname = "net"\nmesh = { ring = 1, bars = 5 }\nstiffness = 1e6\nmember_mass = 1\n'
    net += "strength = 1e3\nfracture_energy = 5\n"
    problem = build(cord + net + run(dt=1e-3, duration=0.1))
    for name in ("cord", "net"):
        part = problem.system.inelastic[name]
        assert isinstance(part, InelasticBars)
        assert isinstance(part.law, BreakingBar)
    motion = problem.integrator.start(problem.system, problem.state)
    end = motion.advance(0.1)
    found = motion.energies(end)
    assert found["work_cord"] == pytest.approx(-2.0, rel=1e-12)  # broken
    assert found["stored_cord"] == 0.0
    relative = end.v[-1] - end.v[-2]
    assert 0.25 * relative @ relative == pytest.approx(0.25 * 9.0 - 2.0, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            BRACE.replace("yield_stress = 2e8, hardening = 1e9, ", ""),
            "has back_modulus, which needs yield_stress",
        ),
        (BRACE + 'law = "tension-only"\n', 'has a material that yields, which goes with law = "engineering-strain"'),
        (BRACE + "strength = 5\nfracture_energy = 1\n", "has strength, which goes with stiffness"),
        (BRACE + "strength = 5\n", "has strength alone; what breaks needs strength"),
        (GLUE.replace('"upper"', '"lower"') + BLOCKS, "bonds 'lower' to itself"),
        (GLUE + "stiffness = 1e3\n" + BLOCKS, "stiffness must be above strength²/\\(2 fracture_energy\\) = 5e\\+09"),
        (GLUE + 'stiffness = 1e12\nlaw = "exponential"\n' + BLOCKS, 'stiffness goes with law = "bilinear"'),
        (GLUE + BLOCKS.replace("0, 0.02]", "0, 0.03]"), "no face of 'lower' lies on a face of 'upper'.* 0.01 m apart"),
        (
            GLUE + BLOCKS + PROBE.replace('"opening"', '"axial_force"'),
            "'glue' has no axial_force; it has damage, opening",
        ),
        (
            BLOCKS.replace("density = 1000 }", "density = 1000, failure_strain = 0.1 }", 1),
            "has failure_strain, which needs yield_stress",
        ),
    ],
)
def test_what_is_impossible_is_refused_in_a_sentence(text, message):
    found = refusal(text + run())
    assert re.search(message, found), found
    assert len(found.splitlines()) == 1


@pytest.mark.parametrize("kind", ["graham-jelenic", "variational-midpoint"])
def test_methods_without_history_are_refused_by_name(kind):
    found = refusal(GLUE + BLOCKS + run(kind))
    assert "its bonds break, which" in found
    assert "take another integrator" in found


# -- bonds ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "dt"), [("energy-momentum", 2e-6), ("newmark", 2e-7)])
def test_blocks_tear_apart_and_a_run_resumes_to_the_last_bit(tmp_path, kind, dt):
    path = tmp_path / "test.toml"
    path.write_text(BLOCKS + GLUE + PROBE + run(kind, dt))
    problem = Scenario.read(path).build()
    glue = problem.system.inelastic["glue"]
    assert isinstance(glue, CohesiveFaces)
    assert len(glue.nodes) == 4
    assert glue.areas.sum() == pytest.approx(4e-4)
    simulate(Scenario.read(path), tmp_path / "whole", progress=False)
    history = read_history(tmp_path / "whole" / "history.csv")
    assert history["work_glue"][-1] < 0.0
    if kind == "energy-momentum":
        # Strain energies are known to the rounding of E V.
        assert np.abs(history["balance"] - history["total"][0]).max() < 100 * np.finfo(float).eps * 1e9 * 1.6e-5
    probe = read_history(tmp_path / "whole" / "probe-glue.csv")
    assert 0.0 < probe["damage_max"][-1] <= 1.0
    assert probe["opening_max"][-1] > 0.0
    frame = read_series(tmp_path / "whole" / "motion.vtkhdf").frame(2)
    assert frame.cell_data["damage"]["glue"].shape == (4,)
    short = {"run.duration": 5e-5, "run.frames": 1, "run.samples": 2}
    simulate(Scenario.read(path).with_values(short), tmp_path / "part", progress=False)
    longer = Scenario.read(path).with_values(short | {"run.until": 1e-4})
    simulate(longer, tmp_path / "part", resume=True, progress=False)
    again = read_history(tmp_path / "part" / "history.csv")
    for column in ("t", "total", "work_glue", "stored_glue", "balance"):
        assert again[column][-1] == history[column][-1]


def test_a_check_states_what_bonds_are():
    report, failure = check_report(build(BLOCKS + GLUE + run()))
    assert not failure
    assert "cohesive 'glue'" in report
    assert "4 faces, 0.0004 m²" in report


def test_faces_that_are_too_large_for_a_crack_are_reported():
    """The zone is E Gc/T0² = 1 mm for the strength of 10 MPa, and faces are 10 mm long."""
    assert not any("ahead of a crack" in line for line in doubts(build(BLOCKS + GLUE + run())))
    strong = build(BLOCKS + GLUE.replace("1e6", "1e7") + run())
    (line,) = (line for line in doubts(strong) if "ahead of a crack" in line)
    assert "[[cohesive]] #1 'glue': its faces are 10 mm long" in line
    assert "about 1 mm" in line


# -- erosion ----------------------------------------------------------------------------------------------------------


def test_elements_of_a_bar_go_and_frames_show_which(tmp_path):
    """A bar hits a wall at 300 m/s: its foot flows beyond 5 %."""
    text = """
[[body]]
name = "bar"
mesh = { box = [0.01, 0.01, 0.03], cells = [2, 2, 6], split = "hexahedra" }
material = { young = 117e9, poisson = 0.35, density = 8930, yield_stress = 0.4e9, failure_strain = 0.05 }
velocity = [0, 0, -300]
[[obstacle]]
name = "wall"
kind = "half-space"
point = [0, 0, 0]
normal = [0, 0, 1]
stiffness = 1e9
[integrator]
kind = "energy-momentum"
dt = 2e-7
[run]
duration = 6e-6
frames = 3
"""
    path = tmp_path / "test.toml"
    path.write_text(text + OUTPUT)
    part = Scenario.read(path).build().system.inelastic["bar"]
    assert isinstance(part, Eroding)
    simulate(Scenario.read(path), tmp_path / "run", progress=False)
    history = read_history(tmp_path / "run" / "history.csv")
    gone = history["elements_gone_bar"]
    assert gone[0] == 0.0
    assert gone[-1] >= 4.0
    assert history["eroded_bar"][-1] > 0.0
    assert np.abs(history["balance"] / history["total"][0] - 1.0).max() < 1e-12
    frame = read_series(tmp_path / "run" / "motion.vtkhdf").frame(3)
    assert frame.cell_data["gone"]["bar"].sum() == gone[-1]
    assert np.abs(frame.cell_data["von_mises"]["bar"][frame.cell_data["gone"]["bar"] > 0.5]).max() == 0.0


# -- stages -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_what_bonds_and_members_have_suffered_goes_on_in_the_next_stage(tmp_path):
    """Pulled by statics until glue and brace have suffered, let go, and moved on by energy-momentum."""
    text = (
        BLOCKS.replace("velocity = [0, 0, 8]\n", "")
        + GLUE
        + """
[[support]]
body = "lower"
group = "z_min"
[[support]]
name = "pull"
body = "upper"
group = "z_max"
displacement = [0, 0, 1.4e-4]
history = { kind = "ramp", duration = 1.0 }
until = 1.0
[[probe]]
name = "glue"
body = "glue"
[[stage]]
name = "pulled"
duration = 1.0
frames = 1
samples = 2
integrator = { kind = "static", dt = 0.1 }
[[stage]]
name = "free"
duration = 2e-4
frames = 2
samples = 4
integrator = { kind = "energy-momentum", dt = 2e-6 }
"""
        + OUTPUT
    )
    simulate(Scenario.parse(text), tmp_path / "run", progress=False)
    probe, history = (read_history(tmp_path / "run" / name) for name in ("probe-glue.csv", "history.csv"))
    damage = probe["damage_mean"]
    pulled = int(np.argmin(np.abs(probe["t"] - 1.0)))
    assert 0.1 < damage[pulled] < 0.9
    assert (np.diff(damage) >= 0.0).all()
    free = history["t"] >= 1.0
    assert -history["work_glue"][free] == pytest.approx(100.0 * 4e-4 * damage[probe["t"] >= 1.0], rel=1e-9)


@pytest.mark.parametrize("stiffness", ["initial", "strain-rate"])
def test_stiffness_damping_is_that_of_what_is_intact(stiffness):
    """Of members that yield and of metal as well: β K at the start."""
    metal = '[[body]]\nname = "bar"\nmesh = { box = [0.1, 0.1, 0.3], cells = [1, 1, 3], split = "hexahedra" }\n'
    metal += "translate = [2, 0, 0]\n"
    metal += "material = { young = 1e9, poisson = 0.3, density = 1000, yield_stress = 1e9 }\n"
    damped = f'[[damping]]\nname = "damping"\nbeta = 1e-4\nstiffness = "{stiffness}"\n'
    system = build(BRACE + metal + damped + run()).system
    load, part = system.loads["damping_stiffness_brace"], system.inelastic["brace"]
    q, v = np.zeros((system.n_nodes, 3)), np.zeros((system.n_nodes, 3))
    q[part.nodes[0, 1], 0] = 1.0
    v[part.nodes[0, 1], 0] = 1.0
    assert load(0.0, q, v)[part.nodes[0, 1], 0] == pytest.approx(-1e-4 * 200e9 * 1e-4, rel=1e-9)
    assert "damping_stiffness_bar" in system.loads
