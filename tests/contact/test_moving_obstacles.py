"""Obstacles with a mass: a sphere that hits a body, in Python and as a scenario."""

import numpy as np
import pytest

import symplex as sx
from symplex.runs.history import HistoryWriter, read_history
from symplex.runs.run import simulate
from symplex.scenario.scenario import Scenario

RADIUS, MASS = 0.3, 0.4


@pytest.fixture(scope="module")
def impact():
    """A soft block at rest, a sphere that flies against one of its corners, and its node."""
    mesh = sx.box((1.0, 0.8, 0.6), (2, 2, 2), split="6")
    cells, n = mesh.cells["tetra"], len(mesh.points)
    ball = sx.RigidContact(mesh.boundary_nodes, sx.Sphere((0.0, 0.0, 0.0), RADIUS), 40.0, carrier=n)
    mass = np.append(sx.lumped_mass(mesh.points, cells, 1.0, n), MASS)
    solid = sx.Solid(mesh.points, cells, sx.NeoHookean(lmbda=20.0, mu=10.0, density=1.0))
    system = sx.System(mass, {"block": solid, "ball": ball})
    q = np.vstack([mesh.points, [1.32, 0.7, 0.5]])
    v = np.zeros_like(q)
    v[n] = -0.6, 0.1, 0.0
    return system, system.state(q, v), n


@pytest.mark.parametrize(
    ("method", "energy", "momentum", "turning"),
    [
        (sx.EnergyMomentum(0.05), 1e-13, 1e-13, 1e-13),
        (sx.Newmark(beta=0.0, gamma=0.5, dt=0.005), 1e-3, 1e-13, 1e-13),
        (sx.GrahamJelenic(0.05, "energy-momentum"), 1e-12, 1e-13, 1e-13),
        (sx.Midpoint(0.05), 0.1, 1e-12, 1e-12),
        (sx.ForceStepping(grid=0.02), 1e-12, np.inf, np.inf),  # a lattice keeps no momenta
        (sx.reductions.JacobiReduction(sx.ForceStepping(grid=0.02)), 1e-12, 1e-12, np.inf),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, sx.Integrator) else "",
)
@pytest.mark.slow
def test_a_sphere_and_a_body_share_energy_and_both_momenta(impact, method, energy, momentum, turning):
    system, start, ball = impact
    motion = method.start(system, start)
    totals, states, pressed = [], [], 0.0
    for t in np.linspace(0.0, 1.5, 16):
        state = motion.advance(t)
        energies = motion.energies(state)
        totals.append(energies.get("lattice_total", energies["total"]))
        pressed = max(pressed, system.energies["ball"].total(state.q))
        states.append(state)
    assert pressed > 1e-3
    assert states[-1].v[ball, 0] > -0.3  # it has been slowed down, or thrown back
    assert np.ptp(totals) < energy * totals[0]
    for function, bound in ((system.momentum, momentum), (system.angular_momentum, turning)):
        values = np.array([function(state) for state in states])
        assert np.abs(values - values[0]).max() < bound


def test_what_an_obstacle_tells_is_the_force_as_it_acts_and_the_depth(impact):
    system, start, _ = impact
    motion = sx.ForceStepping(grid=0.02).start(system, start)
    state = motion.advance(0.3)
    reported, contact = system.observed(state, motion.gradient), system.energies["ball"]
    assert list(reported) == [column.name for column in contact.columns]
    assert reported["penetration"] == max(contact.deepest(state.q)[1], 0.0) > 0.0
    force = [reported[f"contact_force_{axis}"] for axis in "xyz"]
    np.testing.assert_allclose(force, -motion.gradient(contact, state)[:, 0].sum(axis=0), rtol=1e-12)
    assert np.abs(force - contact.resultant(state.q)).max() > 1e-6  # not that of the state: lattice forces act


def test_an_obstacle_of_given_motion_is_carried_by_a_moving_support(impact):
    """A ball on a support that moves at a given velocity does work on the block."""
    system, start, ball = impact
    lift = sx.actions.SupportTranslation([ball], (1.0, 0.0, 0.0), sx.actions.TimeFunction.steady(-0.3))
    driven = sx.System(system.mass, system.energies, moving={"lift": lift})
    motion = sx.EnergyMomentum(0.05).start(driven, driven.state(start.q))
    before = motion.energies(motion.advance(0.0))["balance"]
    state = motion.advance(1.0)
    assert state.q[ball] == pytest.approx(start.q[ball] - [0.3, 0.0, 0.0], abs=1e-14)
    assert abs(motion.energies(state)["balance"] - before) < 1e-14
    assert motion.energies(state)["work_lift"] > 1e-3


SCENARIO = """
[[body]]
name = "block"
mesh = { box = [1.0, 0.8, 0.6], cells = [1, 1, 1], split = "6" }
material = { lambda = 20.0, mu = 10.0, density = 1.0 }
[[obstacle]]
name = "ball"
kind = "sphere"
center = [1.32, 0.7, 0.5]
radius = 0.3
stiffness = 40.0
mass = 0.4
velocity = [-0.6, 0.1, 0.0]
[integrator]
kind = "energy-momentum"
dt = 0.05
[run]
duration = 1.0
frames = 4
samples = 8
[output]
"""


def scenario(text, tmp_path, **output):
    path = tmp_path / "ball.toml"
    path.write_text(text + "\n".join(f"{key} = {value}" for key, value in output.items()))
    return Scenario.read(path)


@pytest.mark.parametrize("form", ["vtkhdf", "pvd"])
def test_a_moving_sphere_in_a_scenario_is_in_history_and_frames(tmp_path, form):
    read = scenario(SCENARIO, tmp_path, format=f'"{form}"', pictures="false")
    simulate(read, tmp_path / "out")
    history = read_history(tmp_path / "out" / "history.csv")
    path = np.stack([history[f"position_ball_{x}"] for x in "xyz"], axis=1)
    assert path[0] == pytest.approx([1.32, 0.7, 0.5])
    assert path[-1, 0] < 1.32 - 0.05
    assert np.ptp(history["total"]) < 1e-13
    for x in "xyz":
        assert np.ptp(history[f"momentum_{x}"]) < 1e-13
        assert np.ptp(history[f"angular_momentum_{x}"]) < 1e-13
    series = sx.read_series(tmp_path / "out" / f"motion.{form}")
    ball = series.blocks["ball"]
    assert not ball.is_obstacle
    for i, row in ((0, 0), (4, 8)):
        drawn = series.points[ball.nodes] + series.frame(i).displacement[ball.nodes]
        np.testing.assert_allclose(np.linalg.norm(drawn - path[row], axis=1), 0.3, atol=1e-6)


def test_a_resumed_run_with_a_moving_sphere_is_bit_identical(tmp_path, monkeypatch):
    read = scenario(SCENARIO, tmp_path, pictures="false")
    simulate(read, tmp_path / "whole")
    rows = 0

    def failing(self, row):
        nonlocal rows
        rows += 1
        if rows == 6:
            raise KeyboardInterrupt
        append(self, row)

    append = HistoryWriter.append
    with monkeypatch.context() as patch:
        patch.setattr(HistoryWriter, "append", failing)
        with pytest.raises(KeyboardInterrupt):
            simulate(read, tmp_path / "cut")
    simulate(read, tmp_path / "cut", resume=True)
    histories = [(tmp_path / name / "history.csv").read_text() for name in ("whole", "cut")]
    assert histories[0] == histories[1]
    whole, cut = (sx.read_series(tmp_path / name / "motion.vtkhdf") for name in ("whole", "cut"))
    for one, other in zip(whole.frames(), cut.frames(), strict=True):
        np.testing.assert_array_equal(one.displacement, other.displacement)


@pytest.mark.slow
def test_pictures_show_a_moving_sphere(tmp_path):
    simulate(scenario(SCENARIO, tmp_path, film='"none"'), tmp_path / "out")
    assert (tmp_path / "out" / "snapshots.png").stat().st_size > 10_000
