"""The examples of contact between bodies: what they keep, and what is known of them."""

import numpy as np
import pytest

ROUNDING = 1e-12


@pytest.fixture(scope="module")
def scenes(load_example):
    """Return the scenes of the example."""
    load_example("colliding_bodies.py")
    return load_example("soft_collisions.py")


def require_kept(numbers, halved=0):
    assert numbers["relative change of energy"] < ROUNDING
    assert numbers.get("relative change of momentum", 0.0) < ROUNDING
    assert numbers.get("relative change of angular momentum", 0.0) < ROUNDING
    assert numbers["corrections per step"] < 10.0
    assert numbers["halved steps"] <= halved


@pytest.mark.slow
@pytest.mark.usefixtures("drawing")
def test_spinning_cubes(run_script, tmp_path):
    """Four steps that differ twentyfold: the same rebound, and nothing lost."""
    numbers = run_script("colliding_cubes.py", tmp_path)
    conserving = [name for name in numbers if name.startswith("energy-momentum")]
    assert len(conserving) == 8
    for name in conserving:
        require_kept(numbers[name])
        assert numbers[name]["difference of rebound, as part of the change of velocity"] < 0.02
    explicit = numbers["explicit Newmark, penalty"]
    assert 1e-5 < explicit["relative change of energy"] < 5e-3
    assert explicit["difference of rebound, as part of the change of velocity"] < 0.01
    assert numbers["midpoint, barrier, 0.001 s"]["relative change of energy"] > 0.1
    for picture in ("colliding_cubes.png", "colliding_cubes_energy.png"):
        assert (tmp_path / picture).stat().st_size > 10_000


@pytest.mark.slow
def test_hertz(run_script, tmp_path):
    """The force converges to Hertz's at a rate of one; balls rebound as his law has it but for a few per cent."""
    numbers = run_script("hertz.py", tmp_path, "--elements", "2", "4", "6", "--impact")
    errors = np.array([of["force / Hertz's"] - 1.0 for of in numbers["static"]])
    assert (errors > 0.0).all()
    assert errors[-1] < 0.02
    rates = np.log(errors[:-1] / errors[1:]) / np.log([2.0, 1.5])
    assert (rates > 0.7).all()
    assert numbers["static"][-1]["radius of contact / a"] == pytest.approx(1.0, abs=0.17)
    for of, within in zip(numbers["integrated"], (0.005, 0.005, 0.006), strict=True):
        assert of["force / Hertz's"] == pytest.approx(1.0, abs=within)
    assert numbers["integrated"][-1]["greatest error of nodal pressures / Hertz's greatest, r < 0.8 a"] < 0.03
    assert numbers["impact"]["approach / Hertz's"] == pytest.approx(1.0, abs=0.06)
    assert numbers["impact"]["duration / Hertz's"] == pytest.approx(1.0, abs=0.08)
    assert 0.98 < numbers["impact"]["speed apart / speed of approach"] < 1.0
    assert (tmp_path / "hertz_impact.png").stat().st_size > 10_000


@pytest.mark.slow
def test_two_spheres_that_touch_at_the_start_press_each_other_as_hertz_has_it(run_script, tmp_path):
    coarse, fine = run_script("touching_spheres.py", tmp_path, "--elements", "2", "4")
    for name in ("force / Hertz's", "greatest pressure / Hertz's"):
        assert coarse[name] == pytest.approx(1.0, abs=0.03)
        assert fine[name] == pytest.approx(1.0, abs=0.005)


@pytest.mark.slow
def test_two_rings(scenes):
    fast, slow = (scenes.rings(dt) for dt in (1e-3, 2e-4))
    for _, run in (fast, slow):
        require_kept(run.numbers())
        assert max(run.energies["contact"]) > 1e-3 * run.energies["total"][0]
    away = [of.mean_velocity("lying", run.end) for of, run in (fast, slow)]
    assert np.linalg.norm(away[0] - away[1]) < 0.01 * 3.0


@pytest.mark.slow
def test_a_strip_folds_onto_itself(scenes):
    of, run = scenes.strip()
    require_kept(run.numbers())
    assert max(run.energies["contact"]) > 1e-3 * run.energies["total"][0]
    upper = of.mesh.points[:, 2] > 0.02
    opening = [state.q[upper, 2].mean() for state in run.states]
    assert min(opening) < 0.7 * opening[0] < opening[-1]  # closed, and thrown open again


@pytest.mark.slow
def test_a_cradle(scenes):
    """Most of the first ball's momentum arrives at the last one; soft balls keep some of their energy vibrating."""
    of, run = scenes.cradle()
    require_kept(run.numbers())
    speeds = np.array([of.mean_velocity(name, run.end)[0] for name in of.contact.surface.names])
    assert speeds[-1] > 0.75
    assert (np.abs(speeds[:-1]) < 0.1).all()
    assert speeds.sum() == pytest.approx(1.0, abs=0.01)  # masses differ by as much


@pytest.mark.slow
def test_a_chain_is_held_by_its_links(scenes):
    of, run = scenes.chain(dt=2e-3)
    require_kept(run.numbers())
    heights = [state.q[of.mesh.nodes_of("link 3"), 2].mean() for state in run.states]
    assert 0.5 * 9.81 * run.end.t**2 > 0.15  # without the others it would have fallen so far
    assert -0.07 < min(heights) < -0.06
    assert heights[-1] > min(heights) + 0.01  # thrown up again
    assert scenes.particulars("chain", of, run)["share of edge–edge pairs in the forces"] > 0.6


@pytest.mark.slow
def test_a_strip_that_goes_to_and_fro_closes(scenes):
    """Three arms, of which each meets the next: both gaps get narrow at once, and nothing is lost."""
    _, run = scenes.folds()
    require_kept(run.numbers(), halved=2)
    assert max(run.energies["contact"]) > 1e-3 * run.energies["total"][0]
    height = [np.ptp(state.q[:, 2]) for state in run.states]
    assert min(height) < 0.7 * height[0]


@pytest.mark.slow
def test_a_long_chain_keeps_its_energy(scenes):
    of, run = scenes.long_chain()
    require_kept(run.numbers(), halved=5)
    assert scenes.particulars("long chain", of, run)["share of edge–edge pairs in the forces"] > 0.6


@pytest.mark.slow
def test_a_stack_keeps_its_energy_or_comes_to_rest(scenes):
    _, run = scenes.stack(boxes=5)
    require_kept(run.numbers())
    assert run.energies["kinetic"][-1] > 0.1 * max(run.energies["kinetic"])  # nothing takes it away
    _, run = scenes.damped_stack(boxes=5)
    require_kept(run.numbers())
    assert run.energies["kinetic"][-1] < 1e-6 * max(run.energies["kinetic"])
    assert run.energies["work_friction"][-1] < 0.0


@pytest.mark.slow
def test_what_soft_bodies_are_drawn_as(run_script, tmp_path, can_draw):
    """A scene from the command line."""
    options = [] if can_draw else ["--no-pictures"]
    numbers = run_script("soft_collisions.py", tmp_path, "cradle", *options)
    assert numbers["cradle"]["speeds of the balls [m/s]"][-1] > 0.75
    assert not can_draw or (tmp_path / "soft_cradle.png").stat().st_size > 10_000


@pytest.mark.slow
@pytest.mark.usefixtures("drawing")
def test_two_brackets(run_script, tmp_path):
    numbers = run_script("bracket_collision.py", tmp_path)
    explicit, conserving = numbers["explicit"], numbers["energy-momentum"]
    require_kept(conserving)
    assert conserving["dt [s]"] > 20.0 * explicit["dt [s]"]
    assert explicit["relative change of energy"] < 1e-4
    ends = [np.array(of["velocity of the lower one at the end [m/s]"]) for of in (explicit, conserving)]
    assert np.linalg.norm(ends[0] - ends[1]) < 0.04 * np.linalg.norm(ends[0])  # d̂ of the two laws differ
    assert (tmp_path / "bracket_collision.png").stat().st_size > 20_000


@pytest.mark.slow
@pytest.mark.usefixtures("drawing")
def test_friction_against_closed_forms(run_script, tmp_path):
    numbers = run_script("friction.py", tmp_path)
    for of in numbers.values():
        assert of["change of the balance"] < ROUNDING
    for name in ("slides", "stops"):
        assert numbers[name]["way at the end [m]"] == pytest.approx(numbers[name]["Coulomb's [m]"], rel=3e-3)
    assert numbers["sticks"]["speed at the end [m/s]"] == pytest.approx(
        numbers["sticks"]["speed of creeping [m/s]"], rel=1e-3
    )
    ball = numbers["ball"]
    assert ball["speed at the end / at the start"] == pytest.approx(5.0 / 7.0, rel=1e-3)
    assert ball["of its surface"] == pytest.approx(5.0 / 7.0, rel=4e-3)  # its surface has facets
    assert ball["largest difference [m/s]"] < 0.015
    assert (tmp_path / "friction.png").stat().st_size > 10_000
