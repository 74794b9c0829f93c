"""Runs with contact by integrals over facets: history, fields, going on, what is refused."""

import numpy as np
import pytest

import symplex.runs.loop
from symplex.errors import StepFailed, SymplexError
from symplex.meshes.series.series import read_series
from symplex.runs.history import read_history
from symplex.runs.run import simulate
from symplex.scenario.scenario import Scenario

SCENARIO = """
title = "A block meets another one"
[[body]]
name = "lower"
mesh = { box = [0.2, 0.2, 0.1], cells = [2, 2, 1], split = "hexahedra" }
material = { young = 1e6, poisson = 0.3, density = 1000 }
[[body]]
name = "upper"
mesh = { box = [0.1, 0.1, 0.1], cells = [1, 1, 1], split = "6" }
material = { young = 1e6, poisson = 0.3, density = 1000 }
translate = [0.03, 0.05, 0.102]
velocity = [0, 0, -2]
[[contact]]
integration = "segments"
bodies = ["upper", "lower"]
[integrator]
kind = "energy-momentum"
dt = 5e-4
[run]
duration = 8e-3
frames = 8
samples = 16
checkpoint = 1e-9
[output]
fields = ["contact_force", "contact_pressure", "gap"]
"""


def test_a_run_has_energies_forces_and_pressures_and_goes_on_with_the_same_bits(tmp_path, monkeypatch):
    problem = Scenario.parse(SCENARIO, "blocks.toml")
    summary = simulate(problem, tmp_path / "whole", progress=False, pictures=False)
    history = read_history(tmp_path / "whole" / "history.csv")
    scale = history["kinetic"][0]
    assert np.ptp(history["total"]) < 1e-11 * scale
    assert history["contact"].max() > 1e-3 * scale
    assert history["contact_force_lower_upper_z"].min() < -10.0
    assert history["gap"].min() < 0.0
    assert summary["least_gap"] == history["gap"].min()
    pressed = [
        frame.point_data["contact_pressure"] for frame in read_series(tmp_path / "whole" / "motion.vtkhdf").frames()
    ]
    assert max(values.max() for values in pressed) > 1e3
    assert pressed[0].max() == 0.0

    class Ended(BaseException):
        pass

    calls, save = 0, symplex.runs.loop.Run._save

    def ending(self, *arguments):
        nonlocal calls
        calls += 1
        if calls == 11:
            raise Ended
        return save(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(symplex.runs.loop.Run, "_save", ending)
        patch.setattr(symplex.runs.loop, "_LOOK", 1e-9)  # a checkpoint after each step
        with pytest.raises(Ended):
            simulate(problem, tmp_path / "out", progress=False, pictures=False)
    simulate(problem, tmp_path / "out", progress=False, pictures=False, resume=True)
    assert (tmp_path / "whole" / "history.csv").read_bytes() == (tmp_path / "out" / "history.csv").read_bytes()


def test_a_run_in_which_bodies_overlap_too_much_fails_with_the_place(tmp_path):
    soft = SCENARIO.replace('integration = "segments"', 'integration = "segments"\nstiffness = 1e3')
    soft = soft.replace("duration = 8e-3", "duration = 30e-3").replace('"energy-momentum"\ndt = 5e-4', '"newmark"')
    with pytest.raises(StepFailed, match=r"'upper' and 'lower' overlap at \(.*\) m by 0.*Try a smaller step, or"):
        simulate(Scenario.parse(soft, "blocks.toml"), tmp_path, progress=False, pictures=False)


def test_force_stepping_refuses_it(tmp_path):
    text = SCENARIO.replace('"energy-momentum"\ndt = 5e-4', '"force-stepping"\ngrid = 5e-4')
    with pytest.raises(SymplexError, match=r"integrated over facets .* is not supported by force-stepping"):
        simulate(Scenario.parse(text), tmp_path, progress=False, pictures=False)
