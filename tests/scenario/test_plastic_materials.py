"""Materials that flow: what scenarios build, show, resume and refuse."""

import numpy as np
import pytest

from symplex.errors import ScenarioError
from symplex.fem.solids.plastic import Plastic
from symplex.meshes.series.series import read_series
from symplex.runs.history import read_history
from symplex.runs.plausibility import doubts
from symplex.runs.run import simulate
from symplex.scenario.scenario import Scenario

METAL = "yield_stress = 0.4e9, hardening = 0.1e9"
EM = '[integrator]\nkind = "energy-momentum"\ndt = 4e-7\n'
NEWMARK = '[integrator]\nkind = "newmark"\ndt = "auto"\n'
RUN = "[run]\nduration = 8e-6\nframes = 2\nsamples = 4\n"
SHOWN = """
[output]
pictures = false
fields = ["velocity", "von_mises", "plastic_strain", "nodal_plastic_strain", "energy_density"]
[[probe]]
name = "flow"
body = "bar"
quantities = ["plastic_strain"]
reduce = ["max"]
"""


def bar(material=METAL, keys="", split="hexahedra", name="bar", x=0.0):
    return f"""
[[body]]
name = "{name}"
mesh = {{ box = [0.01, 0.01, 0.02], cells = [1, 1, 2], split = "{split}" }}
material = {{ young = 117e9, poisson = 0.35, density = 8930{", " if material else ""}{material} }}
velocity = [0, 0, -300]
translate = [{x}, 0, 0]
{keys}
"""


WALL = '[[obstacle]]\nname = "wall"\nkind = "half-space"\npoint = [0, 0, 0]\nnormal = [0, 0, 1]\nstiffness = 1e9\n'


def line_of(text):
    with pytest.raises(ScenarioError) as caught:
        Scenario.parse(text + RUN, "test.toml").build()
    (line,) = str(caught.value).splitlines()
    return line.removeprefix("test.toml: ")


@pytest.mark.parametrize(
    ("material", "alpha", "sigma"),
    [
        (METAL, 0.5, 0.45e9),
        ("yield_stress = 4e8, saturation_stress = 6e8, saturation_rate = 10", 100.0, 6e8),
        ("yield_table = [[0, 1e8], [0.1, 2e8]]", 0.05, 1.5e8),
    ],
)
def test_a_metal_is_built_on_elements_that_do_not_lock(material, alpha, sigma):
    problem = Scenario.parse(bar(material) + EM + RUN).build()
    part = problem.system.inelastic["bar"]
    assert isinstance(part, Plastic)
    assert not problem.system.energies
    assert part.solid.formulation == "mean-dilatation"
    assert problem.solids["bar"] is part.solid
    assert part.hardening.yield_stress(alpha) == pytest.approx(sigma)
    quadratic = Scenario.parse(bar(material, "quadratic = true", "6") + EM + RUN).build()
    assert quadratic.system.inelastic["bar"].solid.formulation == "full"


@pytest.mark.parametrize("integrator", [EM, NEWMARK])
def test_a_run_shows_its_flow_and_resumes_to_the_last_bit(tmp_path, integrator):
    scenario = Scenario.parse(bar() + WALL + integrator + RUN + SHOWN)
    simulate(scenario, tmp_path / "whole", progress=False)
    simulate(
        scenario.with_values({"run.duration": 4e-6, "run.frames": 1, "run.samples": 2}),
        tmp_path / "parts",
        progress=False,
    )
    longer = scenario.with_values({"run.duration": 4e-6, "run.frames": 1, "run.samples": 2, "run.until": 8e-6})
    simulate(longer, tmp_path / "parts", resume=True, progress=False)
    whole, parts = (read_history(tmp_path / name / "history.csv") for name in ("whole", "parts"))
    for column in ("t", "total", "work_bar", "stored_bar", "balance"):
        np.testing.assert_array_equal(whole[column][-1], parts[column][-1])
    assert whole["work_bar"][-1] < -0.01 * whole["total"][0]
    tolerance = 1e-12 if integrator is EM else 1e-2
    np.testing.assert_allclose(whole["balance"], whole["balance"][0], rtol=tolerance)
    frame = read_series(tmp_path / "whole" / "motion.vtkhdf").frame(2)
    alpha = frame.cell_data["plastic_strain"]["bar"]
    assert np.max(alpha) > 0.01
    assert frame.point_data["nodal_plastic_strain"].max() > 0.01
    probe = np.loadtxt(tmp_path / "whole" / "probe-flow.csv", delimiter=",", skiprows=1)
    assert probe[-1, 1] == pytest.approx(np.max(alpha), rel=1e-6)  # frames are of single precision


def test_an_elastic_body_next_to_it_has_no_plastic_strain(tmp_path):
    text = bar() + bar("", name="other", x=0.05) + WALL + EM + RUN + SHOWN
    simulate(Scenario.parse(text), tmp_path / "out", progress=False)
    history = read_history(tmp_path / "out" / "history.csv")
    np.testing.assert_allclose(history["balance"], history["balance"][0], rtol=1e-12)
    frame = read_series(tmp_path / "out" / "motion.vtkhdf").frame(2)
    assert np.max(frame.point_data["nodal_plastic_strain"]) > 0.01


def test_it_is_told_that_linear_tetrahedra_lock():
    (line,) = doubts(Scenario.parse(bar(split="6") + EM + RUN).build())
    assert line.startswith("body 'bar': linear tetrahedra lock when metal flows: the foot of a Taylor bar becomes 37 %")
    assert not doubts(Scenario.parse(bar(split="6", keys="quadratic = true") + EM + RUN).build())


def test_what_is_impossible_is_refused_in_a_sentence():
    assert "hardening, which needs yield_stress" in line_of(bar("hardening = 1e8") + EM)
    assert "yield_table and yield_stress" in line_of(bar("yield_stress = 1e8, yield_table = [[0, 1e8]]") + EM)
    assert "plastic strains of a table must begin with 0" in line_of(bar("yield_table = [[0.1, 1e8]]") + EM)
    assert "belong together" in line_of(bar("yield_stress = 1e8, saturation_stress = 2e8") + EM)
    assert "leave law out" in line_of(bar('law = "linear-elastic", yield_stress = 1e8') + EM)
    viscous = bar(METAL + ", viscous = [{ ratio = 0.3, time = 2e-3 }]")
    assert "yield stress and viscous" in line_of(viscous + EM)
    assert 'Take formulation "mean-dilatation"' in line_of(bar(keys='formulation = "full"') + EM)
    back = bar(METAL + ", back_modulus = 1e9", keys='formulation = "stabilized"')
    assert "stabilized hexahedra are not known with a back stress" in line_of(back + EM)


@pytest.mark.parametrize("kind", ["force-stepping", "graham-jelenic", "variational-midpoint"])
def test_methods_without_history_are_refused(kind):
    size = "grid = 1e-6\n" if kind == "force-stepping" else "dt = 1e-7\n"
    assert "its material flows, which" in line_of(bar() + f'[integrator]\nkind = "{kind}"\n{size}')


JOHNSON_COOK = (
    "yield_stress = 9e7, power_modulus = 2.92e8, power = 0.31, reference_rate = 1.0, rate_factor = 0.025, "
    "heat_capacity = 383, melting_temperature = 1356, softening_exponent = 1.09, back_modulus = 1e9, recovery = 20.0"
)


def test_rate_back_stress_and_heat_of_a_run(tmp_path):
    shown = SHOWN.replace('"nodal_plastic_strain"', '"temperature", "nodal_back_stress"').replace(
        'quantities = ["plastic_strain"]', 'quantities = ["temperature"]'
    )
    scenario = Scenario.parse(bar(JOHNSON_COOK) + WALL + EM + RUN + shown)
    simulate(scenario, tmp_path / "whole", progress=False)
    first = {"run.duration": 4e-6, "run.frames": 1, "run.samples": 2}
    simulate(scenario.with_values(first), tmp_path / "parts", progress=False)
    simulate(scenario.with_values(first | {"run.until": 8e-6}), tmp_path / "parts", resume=True, progress=False)
    whole, parts = (read_history(tmp_path / name / "history.csv") for name in ("whole", "parts"))
    for column in ("total", "work_bar", "stored_bar", "balance"):
        assert whole[column][-1] == parts[column][-1]
    np.testing.assert_allclose(whole["balance"], whole["balance"][0], rtol=1e-12)
    frame = read_series(tmp_path / "whole" / "motion.vtkhdf").frame(2)
    T = frame.cell_data["temperature"]["bar"]
    assert T.max() > 295.0
    assert frame.point_data["nodal_back_stress"].shape[1] == 6
    probe = np.loadtxt(tmp_path / "whole" / "probe-flow.csv", delimiter=",", skiprows=1)
    assert probe[-1, 1] == pytest.approx(T.max(), rel=1e-6)


def test_elements_that_fail_are_shown_with_their_damage(tmp_path):
    keys = METAL + ", failure_johnson_cook = [0.02, 0.1, -1.5, 0.01, 0], failure_stress = 9e9, failure_time_step = 1e-9"
    shown = SHOWN.replace('"plastic_strain", "nodal', '"damage", "gone", "nodal')
    scenario = Scenario.parse(bar(keys) + WALL + EM + RUN + shown)
    simulate(scenario, tmp_path / "out", progress=False)
    history = read_history(tmp_path / "out" / "history.csv")
    np.testing.assert_allclose(history["balance"], history["balance"][0], rtol=1e-12)
    assert history["elements_gone_bar"][-1] >= 1
    frame = read_series(tmp_path / "out" / "motion.vtkhdf").frame(2)
    damage, gone = (frame.cell_data[name]["bar"] for name in ("damage", "gone"))
    assert np.array_equal(damage == 1.0, gone == 1.0)
    assert gone.any()


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ("back_modulus = 1e9", "back_modulus, which needs yield_stress or yield_table"),
        (METAL + ", rate_factor = 0.1", "rate_factor, which needs reference_rate"),
        (METAL + ", reference_rate = 1", "reference_rate, which needs rate_factor or rate_exponent"),
        (METAL + ", melting_temperature = 1e3", "melting_temperature, which needs heat_capacity"),
        (METAL + ", power = 0.3", "power, which needs power_modulus"),
        ('return_mapping = "mean-normal"', "return_mapping, which needs yield_stress or yield_table"),
        (METAL + ', back_modulus = 1e9, return_mapping = "mean-normal"', "has back_modulus and return_mapping"),
        ("failure_tension = 1e9", "failure_tension, which needs yield_stress or yield_table"),
        (METAL + ", failure_johnson_cook = [0.1, 1, -2, 0, 1]", "D5 of failure_johnson_cook, which needs melting"),
        (METAL + ", failure_johnson_cook = [0.1, 1]", "failure_johnson_cook"),
        (METAL + ', return_mapping = "midpoint"', "'mean-normal'"),
        (METAL + ", heat_capacity = 400, melting_temperature = 100", "above the reference"),
    ],
)
def test_impossible_laws_are_refused_in_a_sentence(keys, why):
    assert why in line_of(bar(keys) + EM)
