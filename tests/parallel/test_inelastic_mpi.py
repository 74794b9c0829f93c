"""Metals, viscous bodies, bonds and erosion by ``mpiexec``: the bits of one process in explicit steps."""

from pathlib import Path

import numpy as np
import pytest

import symplex as sx
from reference.on_ranks import run
from symplex.base.checkpoint import load_checkpoint

FLOW = """
title = "A bar of metal flows at a wall and loses elements, its cap comes off"
[[body]]
name = "bar"
mesh = { box = [0.0032, 0.0032, 0.008], cells = [2, 2, 5], split = "hexahedra" }
formulation = "mean-dilatation"
material = { young = 117e9, poisson = 0.35, density = 8930, yield_stress = 4e8, hardening = 1e8, failure_strain = 1.0 }
velocity = [0, 0, -400]

[[body]]
name = "cap"
mesh = { box = [0.0032, 0.0032, 0.0016], cells = [2, 2, 1], split = "hexahedra" }
material = { young = 1e9, poisson = 0.3, density = 1000, viscous = [{ ratio = 0.3, time = 1e-6 }] }
translate = [0, 0, 0.008]
velocity = [0, 20, -390]

[[truss]]
name = "wire"
mesh = { line = 0.002, bars = 2 }
translate = [0.01, 0, 0]
section = 1e-6
material = { young = 200e9, density = 7850, yield_stress = 2e5, hardening = 1e9 }
velocity = [0, 30, 0]
angular_velocity = [0, 0, 1e4]

[[cohesive]]
name = "glue"
body = "bar"
to = "cap"
strength = 5e6
fracture_energy = 30

[[obstacle]]
name = "wall"
kind = "half-space"
point = [0, 0, 0]
normal = [0, 0, 1]
stiffness = 1e7

[[probe]]
name = "foot"
body = "bar"
points = [[0.0, 0.0, 0.0]]
quantities = ["plastic_strain"]

[[probe]]
name = "crack"
body = "glue"
quantities = ["damage"]
reduce = ["sum"]

[integrator]
kind = "newmark"

[run]
duration = 4e-6
samples = 4
frames = 2
[output]
pictures = false
"""
APART = """
title = "A bar of metal is crushed at a wall, another one is elastic"
[[body]]
name = "metal"
mesh = { box = [0.0032, 0.0032, 0.008], cells = [1, 1, 5], split = "hexahedra" }
material = { young = 117e9, poisson = 0.35, density = 8930, yield_stress = 4e8, hardening = 1e8 }
velocity = [0, 0, -400]

[[body]]
name = "elastic"
mesh = { box = [0.0032, 0.0032, 0.008], cells = [1, 1, 5], split = "hexahedra" }
material = { young = 117e9, poisson = 0.35, density = 8930 }
translate = [0.01, 0, 0]
velocity = [0, 0, -40]

[[obstacle]]
name = "wall"
kind = "half-space"
point = [0, 0, 0]
normal = [0, 0, 1]
stiffness = 1e7

[integrator]
kind = "newmark"

[run]
duration = 12e-6
samples = 3
frames = 1
[output]
pictures = false
"""
SHOT = """
title = "A shot goes through a plate"
[[body]]
name = "plate"
mesh = { box = [0.02, 0.02, 0.004], cells = [5, 4, 2], split = "hexahedra" }
formulation = "mean-dilatation"
material = { young = 7e10, poisson = 0.33, density = 2700, yield_stress = 2.5e8, hardening = 2e8, failure_strain = 0.1 }

[[body]]
name = "shot"
mesh = { box = [0.006, 0.006, 0.009], cells = [1, 1, 1], split = "hexahedra" }
translate = [0.0065, 0.0075, 0.0043]
material = { young = 200e9, poisson = 0.3, density = 7800 }
velocity = [0, 0, -500]

[[body]]
name = "far"
mesh = { box = [0.006, 0.006, 0.009], cells = [2, 1, 2], split = "hexahedra" }
translate = [0.1, 0, 0]
material = { young = 200e9, poisson = 0.3, density = 7800 }

[[contact]]
name = "contact"
bodies = ["plate", "shot"]
friction = 0.2

[integrator]
kind = "newmark"

[run]
duration = 4e-6
samples = 4
frames = 2
[output]
pictures = false
fields = ["plastic_strain", "gone"]
"""
PERFORATION = Path(__file__).parents[2] / "examples" / "perforation.toml"
HIDING = """
import symplex as sx
with sx.parallel.Ranks(hides=True) as ranks:
    sx.simulate("flow.toml", "hidden", progress=False, ranks=ranks)
"""


def assert_same(one, other):
    """Check that two folders hold the same motion to the bit, and histories to the rounding of sums."""
    first, second = (load_checkpoint(folder / "checkpoint.npz").motion for folder in (one, other))
    assert first.keys() | {"exact_work"} == second.keys() | {"exact_work"}
    for name, array in first.items():
        if name != "work":
            np.testing.assert_array_equal(second[name], array, err_msg=name)
    for probe in one.glob("probe-*.csv"):
        assert probe.read_bytes() == (other / probe.name).read_bytes(), probe.name
    a, b = (sx.read_history(folder / "history.csv") for folder in (one, other))
    assert list(a) == list(b)
    units = {name: column.unit for name, column in a.columns.items()}
    for name, rows in a.items():
        size = max(np.abs(other).max() for of, other in a.items() if units[of] == units[name])
        np.testing.assert_allclose(b[name], rows, rtol=1e-13, atol=1e-14 * size, err_msg=name)
    a, b = (sx.read_series(folder / "motion.vtkhdf") for folder in (one, other))
    assert len(a) == len(b)
    for field, of_blocks in a.frame(len(a) - 1).cell_data.items():
        for block, values in of_blocks.items():
            np.testing.assert_array_equal(b.frame(len(b) - 1).cell_data[field][block], values, err_msg=field)


def in_one_process(folder, name, text):
    """Write a scenario to a folder, and what one process computes of it; return the folder."""
    (folder / name).write_text(text, "utf-8")
    sx.simulate(folder / name, folder / "one", progress=False)
    return folder


@pytest.fixture
def flow(tmp_path):
    """Metal, bonds and members that break, and erosion."""
    return in_one_process(tmp_path, "flow.toml", FLOW)


@pytest.mark.slow
def test_two_ranks_flow_break_and_erode_as_one_process(flow):
    done = run(2, flow, "flow.toml", "--output", "two", "--quiet")
    assert (done.returncode, done.stderr) == (0, "")
    assert_same(flow / "one", flow / "two")
    assert len([name for name in load_checkpoint(flow / "two" / "checkpoint.npz").motion if "internal " in name]) == 4
    assert len(list((flow / "two").glob("probe-*.csv"))) == 2
    history = sx.read_history(flow / "two" / "history.csv")
    assert history["work_glue"][-1] == pytest.approx(-30.0 * 0.0032**2, rel=1e-12)
    assert min(-history[f"work_{name}"][-1] for name in ("bar", "wire", "viscoelastic_cap")) > 1e-8


@pytest.mark.slow
def test_steps_that_thin_elements_divide_and_runs_that_go_on_are_those_of_one_process(flow):
    scenario = sx.Scenario.read(flow / "flow.toml").with_values({"run.until": 8e-6})
    sx.simulate(scenario, flow / "whole", progress=False)
    assert load_checkpoint(flow / "whole" / "checkpoint.npz").motion["limit"][2] == 2.0
    assert sx.read_history(flow / "whole" / "history.csv")["elements_gone_bar"][-1] == 4.0
    for ranks, more in ((3, []), (2, ["--until", "8e-6", "--resume"])):
        done = run(ranks, flow, "flow.toml", "--output", "parts", "--quiet", *more)
        assert (done.returncode, done.stderr) == (0, "")
    assert_same(flow / "whole", flow / "parts")
    (flow / "hiding.py").write_text(HIDING, "utf-8")
    done = run(3, flow, python=("hiding.py",))
    assert (done.returncode, done.stderr) == (0, "")
    assert_same(flow / "one", flow / "hidden")


@pytest.mark.slow
def test_a_rank_without_metal_divides_its_steps_as_the_others(tmp_path):
    (tmp_path / "apart.toml").write_text(APART, "utf-8")
    sx.simulate(tmp_path / "apart.toml", tmp_path / "one", progress=False)
    done = run(2, tmp_path, "apart.toml", "--output", "two", "--quiet")
    assert (done.returncode, done.stderr) == (0, "")
    one, two = (load_checkpoint(tmp_path / name / "checkpoint.npz").motion for name in ("one", "two"))
    assert one["limit"][2] > 1.0
    for name in ("q", "v", "limit", "internal metal"):
        np.testing.assert_array_equal(two[name], one[name], err_msg=name)


@pytest.mark.slow
def test_metal_that_is_torn_is_told_as_by_one_process(flow):
    torn = {"body.bar.velocity": [0.0, 0.0, -2e4], "body.bar.material.failure_strain": 1e6, "integrator.dt": 4e-8}
    with pytest.raises(sx.SymplexError, match="is inverted") as reported:
        sx.simulate(sx.Scenario.read(flow / "flow.toml").with_values(torn), flow / "alone", progress=False)
    words = [f"--set={name}={value}" for name, value in torn.items()]
    done = run(3, flow, "flow.toml", "--output", "torn", "--quiet", *words)
    assert done.returncode == 1
    assert str(reported.value) in done.stderr


@pytest.mark.slow
def test_frames_in_pieces_refuse_viscous_bodies(tmp_path):
    (tmp_path / "flow.toml").write_text(FLOW, "utf-8")
    done = run(2, tmp_path, "flow.toml", "--output", "two", "--quiet", "--set", "output.partitioned=true")
    assert done.returncode != 0
    assert "stresses of 'viscoelastic_cap' are those of two parts of the system" in done.stderr


@pytest.mark.slow
def test_frames_and_checkpoints_in_pieces_have_internal_variables(tmp_path):
    fields = '["velocity", "von_mises", "plastic_strain", "nodal_plastic_strain", "gone", "damage", "axial_force"]'
    text = FLOW.replace(", viscous = [{ ratio = 0.3, time = 1e-6 }]", "") + f"fields = {fields}\npartitioned = true\n"
    (tmp_path / "flow.toml").write_text(text, "utf-8")
    scenario = sx.Scenario.read(tmp_path / "flow.toml").with_values({"run.until": 8e-6})
    sx.simulate(scenario, tmp_path / "one", progress=False)
    for ranks, more in ((2, []), (3, ["--until", "8e-6", "--resume"])):
        done = run(ranks, tmp_path, "flow.toml", "--output", "pieces", "--quiet", *more)
        assert (done.returncode, done.stderr) == (0, "")
        assert (tmp_path / "pieces" / "motion" / "piece00001.vtkhdf").exists()
    assert sx.read_history(tmp_path / "one" / "history.csv")["elements_gone_bar"][-1] > 0.0
    assert_same(tmp_path / "one", tmp_path / "pieces")


@pytest.fixture
def shot(tmp_path):
    """A shot through a plate that erodes."""
    return in_one_process(tmp_path, "shot.toml", SHOT)


@pytest.mark.slow
def test_contact_between_bodies_follows_elements_that_go_on_other_ranks(shot):
    done = run(3, shot, "shot.toml", "--output", "three", "--quiet")
    assert (done.returncode, done.stderr) == (0, "")
    assert_same(shot / "one", shot / "three")
    history = sx.read_history(shot / "three" / "history.csv")
    assert history["work_friction_plate_shot"][-1] < -1e-3
    assert history["contact_force_plate_shot_z"][history["elements_gone_plate"] >= 1.0].min() < -1e5


@pytest.mark.slow
def test_contact_that_follows_elements_goes_on_on_other_ranks_and_ends_on_all(shot):
    sx.simulate(sx.Scenario.read(shot / "shot.toml").with_values({"run.until": 8e-6}), shot / "whole", progress=False)
    for ranks, more in ((3, []), (2, ["--until", "6e-6", "--resume"])):
        done = run(ranks, shot, "shot.toml", "--output", "parts", "--quiet", *more)
        assert (done.returncode, done.stderr) == (0, "")
    going_on = sx.Scenario.read(shot / "shot.toml").with_values({"run.until": 8e-6})
    sx.simulate(going_on, shot / "parts", progress=False, resume=True)
    assert_same(shot / "whole", shot / "parts")
    assert sx.read_history(shot / "parts" / "history.csv")["elements_gone_plate"][-1] >= 10.0
    (shot / "hiding.py").write_text(HIDING.replace("flow", "shot"), "utf-8")
    done = run(2, shot, python=("hiding.py",))
    assert (done.returncode, done.stderr) == (0, "")
    assert_same(shot / "one", shot / "hidden")
    # One rank fails, within a step or at its end; the others, one of which has no contact, stop with it.
    torn = {"body.plate.material.failure_strain": 1e6, "body.shot.velocity": [0, 0, -20000]}
    lost = {"body.plate.material.failure_strain": 0.02, "body.plate.mesh.cells": [2, 2, 1]}
    for values, words in ((torn, "is inverted"), (lost, "has lost all of its elements")):
        scenario = sx.Scenario.read(shot / "shot.toml").with_values(values)
        with pytest.raises(sx.SymplexError, match=words) as reported:
            sx.simulate(scenario, shot / "alone", progress=False, overwrite=True)
        options = [f"--set={name}={value}" for name, value in values.items()]
        done = run(3, shot, "shot.toml", "--output", "failed", "--overwrite", "--quiet", *options)
        assert done.returncode == 1
        assert str(reported.value) in done.stderr


@pytest.mark.slow
def test_a_plate_is_perforated_on_ranks_as_in_one_process(tmp_path):
    changed = {"run.duration": 1e-5, "run.frames": 1, "run.samples": 5, "body.plate.mesh.cells": [8, 8, 2]}
    sx.simulate(sx.Scenario.read(PERFORATION).with_values(changed), tmp_path / "one", pictures=False, progress=False)
    one = sx.read_history(tmp_path / "one" / "history.csv")
    assert one["elements_gone_plate"][-1] > 0.0
    options = [f"--set={name}={value}" for name, value in changed.items()]
    for ranks in (2, 3):
        folder = f"on {ranks}"
        done = run(ranks, tmp_path, str(PERFORATION), "--output", folder, "--quiet", "--no-pictures", *options)
        assert (done.returncode, done.stderr) == (0, "")
        history = sx.read_history(tmp_path / folder / "history.csv")
        assert history["elements_gone_plate"].tolist() == one["elements_gone_plate"].tolist()
        total = one["total"][0]
        assert np.abs(history["balance"] - total).max() <= 1e-10 * total
        for name in ("kinetic", "stored_plate", "contact", "work_plate", "eroded_plate"):
            np.testing.assert_allclose(history[name], one[name], atol=1e-6 * total, rtol=0.0, err_msg=name)
