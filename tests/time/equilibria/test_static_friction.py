"""Friction in quasi-static runs: sliding, sticking, what cannot be held, energies and resumed motions."""

import numpy as np
import pytest

import symplex as sx
from symplex.errors import StepFailed
from symplex.runs.history import read_history
from symplex.runs.probe_files import read_probe
from symplex.runs.run import simulate

WEIGHT, MU = 0.2 * 0.1 * 0.1 * 1000.0 * 9.81, 0.3
BLOCK = """
[[body]]
name = "block"
mesh = { box = [0.2, 0.1, 0.1], cells = [2, 1, 1], split = "hexahedra" }
material = { young = 1e7, poisson = 0.0, density = 1000 }
[gravity]
acceleration = [0, 0, -9.81]
[integrator]
kind = "static"
dt = 0.05
[run]
duration = 0.5
frames = 10
samples = 10
[output]
pictures = false
"""
FLOOR = """
[[obstacle]]
name = "floor"
kind = "half-space"
point = [0, 0, 0]
normal = [0, 0, 1]
stiffness = 1e8
friction = 0.3
slip_speed = 1e-5
[[probe]]
name = "rubbing"
obstacle = "floor"
"""
PULLED = """
[[support]]
name = "pull"
body = "block"
group = "x_max"
components = "x"
displacement = [1e-2, 0, 0]
history = { kind = "ramp", duration = 1.0 }
[[probe]]
name = "force"
support = "pull"
"""
PUSHED = """
[[load]]
name = "push"
kind = "traction"
body = "block"
group = "x_max"
traction = [SIZE, 0, 0]
history = { kind = "ramp", duration = 0.5 }
"""


def test_a_block_that_is_pulled_needs_mu_times_its_weight(tmp_path):
    summary = simulate(sx.Scenario.parse(BLOCK + FLOOR + PULLED), tmp_path / "run", progress=False)
    force = read_probe(tmp_path / "run" / "probe-force.csv")["reaction_x"]
    np.testing.assert_allclose(force[1:], MU * WEIGHT, rtol=1e-8)
    rubbing = read_probe(tmp_path / "run" / "probe-rubbing.csv")["force_x"]
    np.testing.assert_allclose(rubbing[1:], -MU * WEIGHT, rtol=1e-8)
    rows = read_history(tmp_path / "run" / "history.csv")
    slid = np.diff(rows["work_friction_floor"])[1:]  # after the step in which it begins
    np.testing.assert_allclose(slid, -MU * WEIGHT * 1e-2 * 0.05, rtol=1e-6)
    assert np.ptp(rows["work_rest"][2:]) < 1e-9
    assert np.ptp(rows["balance"]) < 1e-12
    assert summary["work"]["pull"] == pytest.approx(-summary["work"]["friction_floor"], rel=0.1)


def test_a_force_below_the_limit_is_held_and_one_above_is_not():
    """Half of μ N: the block creeps at half of the slip speed or less; twice of it has no equilibrium."""
    held = sx.Scenario.parse(BLOCK + FLOOR + PUSHED.replace("SIZE", f"{0.5 * MU * WEIGHT / 0.01}")).build()
    motion = held.integrator.start(held.system, held.state)
    moved = motion.advance(0.5).q[:, 0] - held.state.q[:, 0]
    assert np.abs(moved).max() < 1e-5 * 0.5 + 2.0 * 0.5 * MU * WEIGHT / 0.01 * 0.2 / 1e7
    above = sx.Scenario.parse(BLOCK + FLOOR + PUSHED.replace("SIZE", f"{2.0 * MU * WEIGHT / 0.01}")).build()
    motion = above.integrator.start(above.system, above.state)
    with pytest.raises(StepFailed, match="equilibrium"):
        motion.advance(0.5)


TWO = """
[[body]]
name = "table"
mesh = { box = [0.4, 0.2, 0.05], cells = [4, 2, 1], split = "hexahedra" }
translate = [-0.1, -0.05, -0.05]
material = { young = 1e7, poisson = 0.0, density = 1000 }
[[support]]
body = "table"
group = "z_min"
[[support]]
body = "block"
components = "y"
[[contact]]
name = "touch"
friction = 0.3
slip_speed = 1e-5
begins = "touch"
"""


def test_two_bodies(tmp_path):
    simulate(sx.Scenario.parse(BLOCK + TWO + PULLED), tmp_path / "run", progress=False)
    force = read_probe(tmp_path / "run" / "probe-force.csv")["reaction_x"]
    np.testing.assert_allclose(force[2:], MU * WEIGHT, rtol=0.02)  # as nodes pass those of the table


def test_it_goes_on_bit_identically():
    problem = sx.Scenario.parse(BLOCK + FLOOR + PULLED).build()
    motion = problem.integrator.start(problem.system, problem.state)
    motion.advance(0.2)
    again = problem.integrator.resume(problem.system, motion.checkpoint())
    np.testing.assert_array_equal(motion.slip, again.slip)
    np.testing.assert_array_equal(motion.advance(0.4).q, again.advance(0.4).q)
    assert motion.energies(motion.advance(0.4)) == again.energies(again.advance(0.4))
