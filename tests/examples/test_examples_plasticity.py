"""Taylor's bar against its converged shape."""

import json
from pathlib import Path

import numpy as np
import pytest

import symplex as sx

EXAMPLE = "taylor_bar.py"
EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_quarter_is_one_of_a_cylinder(load_example):
    example = load_example(EXAMPLE)
    system, state, part = example.bar(3, 6, 4.0)
    assert system.mass.sum() == pytest.approx(0.25 * np.pi * example.RADIUS**2 * example.LENGTH * 8930.0, rel=0.02)
    assert np.hypot(*state.q[:, :2].T).max() == pytest.approx(example.RADIUS, rel=1e-12)
    heights = np.unique(np.round(state.q[:, 2], 12))
    assert heights[-1] == pytest.approx(example.LENGTH)
    assert (heights[-1] - heights[-2]) / heights[1] == pytest.approx(4.0)
    assert (state.v[system.fixed] == 0.0).all()
    assert isinstance(part, sx.Plastic)


@pytest.mark.slow
def test_the_bar_becomes_as_short_and_as_wide_as_it_should(load_example, tmp_path):
    load_example(EXAMPLE).main(["--output", str(tmp_path)])
    numbers = json.loads((tmp_path / "numbers.json").read_text())
    for method in ("", " explicit Newmark"):
        assert numbers[f"length_mm{method}"] == pytest.approx(21.46, rel=0.01)
        assert numbers[f"foot_radius_mm{method}"] == pytest.approx(7.09, rel=0.01)
        assert 2.8 < numbers[f"plastic_strain{method}"] < 3.4
    assert numbers["balance"] < 1e-13
    assert numbers["balance explicit Newmark"] < 3e-3
    assert (tmp_path / "taylor_bar.png").stat().st_size > 10_000


@pytest.mark.slow
@pytest.mark.parametrize("method", ["energy-momentum", "explicit Newmark", "midpoint"])
@pytest.mark.parametrize("elements", ["hexahedron", "stabilized", "wedge", "tetra10"])
def test_elements_and_methods_find_the_same_bar(load_example, elements, method):
    example = load_example(EXAMPLE)
    found = example.moved(example.METHODS[method], elements)
    assert found.length == pytest.approx(example.LENGTH_MM, rel=0.01)
    assert found.foot_radius == pytest.approx(example.FOOT_RADIUS_MM, rel=0.01)
    assert found.balance < (1e-12 if method == "energy-momentum" else 3e-3)


def test_quadratic_tetrahedra_fill_the_cylinder(load_example):
    example = load_example(EXAMPLE)
    _, state, part = example.bar(2, 8, elements="tetra10")
    volume = 0.25 * np.pi * example.RADIUS**2 * example.LENGTH
    assert part.solid.volumes.sum() == pytest.approx(volume, rel=1e-4)
    assert np.hypot(*state.q[:, :2].T).max() == pytest.approx(example.RADIUS, rel=1e-12)


@pytest.mark.slow
def test_the_elastic_cube_rebounds_and_the_metal_stays_dented(tmp_path):
    scenario = sx.Scenario.read(EXAMPLES / "oblique_impact_aluminium.toml")
    sx.simulate(scenario, tmp_path / "out", progress=False, pictures=False)
    history = sx.read_history(tmp_path / "out" / "history.csv")
    balance = history["balance"]
    assert np.abs(balance / balance[0] - 1.0).max() < 1e-12
    lost = -history["work_metal"][-1] / (0.5 * history["kinetic"][0])  # of the energy of one of two cubes
    assert lost == pytest.approx(0.57, abs=0.02)
    series = sx.read_series(tmp_path / "out" / "motion.vtkhdf")
    frame = series.frame(len(series.times) - 1)
    assert 1.3 < frame.cell_data["plastic_strain"]["metal"].max() < 2.2
    T = frame.cell_data["temperature"]["metal"]
    assert 293.0 < T.min() < 300.0
    assert 400.0 < T.max() < 925.0
    assert not frame.cell_data["plastic_strain"]["elastic"].any()
