"""Implicit steps by ``mpiexec``: the motion of one process to the floor of Newton's method, and what is said."""

import numpy as np
import pytest

import symplex as sx
from reference.on_ranks import DROP, PUSHED, run
from symplex.base.checkpoint import load_checkpoint
from symplex.contact.friction import SLIP_SPEED

BAR = (
    DROP.replace("stiffness = 1e5", "stiffness = 1e5\nfriction = 0.3")
    .replace("0.0, 0.0, 0.01]", "0.0, 0.0, 0.001]")
    .replace('kind = "newmark"', 'kind = "energy-momentum"\ndt = 2e-4')
    .replace("duration = 0.01\nframes = 4", "duration = 0.001\nframes = 2")
)
SCRIPT = """
import sys
import symplex as sx
scenario = sx.Scenario.read("bar.toml")
later = scenario.with_values({"run.until": 0.002})
soon = scenario.with_values({"body.bar.material.young": 2e4, "body.bar.velocity": [0.0, 0.0, -60.0], "run.until": 0.01})
with sx.parallel.Ranks() as ranks:
    if not ranks.leads:
        sys.exit(ranks.serve())
    sx.simulate(later, "whole", progress=False, ranks=ranks)
    sx.simulate(scenario, "resumed", progress=False, ranks=ranks)
    sx.simulate(later, "resumed", progress=False, ranks=ranks, resume=True)
    sx.simulate(scenario, "other", progress=False, ranks=ranks)
    try:
        sx.simulate(soon, "bad", progress=False, ranks=ranks)
    except sx.SymplexError as error:
        print(error)
"""


def assert_close(one, other, most=1e-12):
    """Check that two folders tell the same motion, as far as Newton's method finds it."""
    first, second = (load_checkpoint(folder / "checkpoint.npz").motion for folder in (one, other))
    assert first.keys() | {"owner of each node"} == second.keys() | {"owner of each node"}
    errors = {name: np.abs(second[name] - first[name]).max() for name in ("q", "v", "a", "work")}
    # Nodes that stick on the floor have a friction −N μ ψ(|v|/v_s), ψ'(0) = 2, N of the size of their m a.
    largest = np.abs(first["a"]).max()
    sticking = 2.0 * 0.3 / SLIP_SPEED * largest * errors["v"]
    for name, times, more in (("q", 1.0, 0.0), ("v", 20.0, 0.0), ("a", 100.0, sticking), ("work", 20.0, 0.0)):
        assert errors[name] <= times * most * np.abs(first[name]).max() + more, name
    a, b = (sx.read_history(folder / "history.csv") for folder in (one, other))
    assert list(a) == list(b)
    energy = np.abs(a["kinetic"]).max()
    for name in ("kinetic", "bar", "floor", "total", "balance"):
        np.testing.assert_allclose(b[name], a[name], rtol=0, atol=20 * most * energy)


@pytest.mark.slow
def test_two_ranks_move_as_one_process_and_balance_energy(tmp_path):
    (tmp_path / "bar.toml").write_text(BAR + PUSHED, "utf-8")
    sx.simulate(tmp_path / "bar.toml", tmp_path / "one", progress=False)
    done = run(2, tmp_path, "bar.toml", "--output", "two", "--quiet")
    assert (done.returncode, done.stderr) == (0, "")
    assert_close(tmp_path / "one", tmp_path / "two")
    history = sx.read_history(tmp_path / "two" / "history.csv")
    assert np.ptp(history["balance"]) < 1e-12 * history["kinetic"].max()
    assert history["work_grip"][-1] != 0.0
    assert history["work_friction_floor"][-1] < 0.0


@pytest.mark.slow
def test_three_ranks_go_on_to_the_same_bits_and_tell_what_one_process_tells(tmp_path):
    text = (BAR + PUSHED).replace("energy-momentum", "midpoint")
    (tmp_path / "bar.toml").write_text(text, "utf-8")
    (tmp_path / "script.py").write_text(SCRIPT, "utf-8")
    later = sx.Scenario.read(tmp_path / "bar.toml").with_values({"run.until": 0.002})
    sx.simulate(later, tmp_path / "alone", progress=False)
    done = run(3, tmp_path, python=("script.py",))
    assert (done.returncode, done.stderr) == (0, "")
    whole, same = (load_checkpoint(tmp_path / name / "checkpoint.npz").motion for name in ("whole", "resumed"))
    assert whole.keys() == same.keys()
    for name, array in whole.items():
        np.testing.assert_array_equal(same[name], array)
    assert_close(tmp_path / "alone", tmp_path / "whole")
    sx.simulate(later, tmp_path / "other", progress=False, resume=True)
    assert_close(tmp_path / "alone", tmp_path / "other")
    soon = {"body.bar.material.young": 2e4, "body.bar.velocity": [0.0, 0.0, -60.0], "run.until": 0.01}
    with pytest.raises(sx.SymplexError, match="is inverted") as reported:
        sx.simulate(sx.Scenario.read(tmp_path / "bar.toml").with_values(soon), tmp_path / "bad-alone", progress=False)
    assert done.stdout == f"{reported.value}\n"


@pytest.mark.slow
def test_frames_and_checkpoints_in_pieces_are_those_of_one_file(tmp_path):
    (tmp_path / "bar.toml").write_text(BAR + PUSHED, "utf-8")
    words = ["bar.toml", "--quiet", "--set", "output.fields=['velocity', 'von_mises', 'contact_force']"]
    later = ["--until", "0.002"]
    pieces = ["--set", "output.partitioned=true", "--output", "pieces"]
    for more in (
        ["--output", "file", *later],
        pieces,
        [*pieces, "--resume", *later],
    ):
        done = run(2, tmp_path, *words, *more)
        assert (done.returncode, done.stderr) == (0, "")
    files = {file.name for file in (tmp_path / "pieces" / "motion").iterdir()}
    assert {"piece00000.vtkhdf", "piece00001.vtkhdf"} < files
    first, second = (load_checkpoint(tmp_path / name / "checkpoint.npz").motion for name in ("file", "pieces"))
    assert first.keys() == second.keys()
    for name, array in first.items():
        np.testing.assert_array_equal(second[name], array, err_msg=name)
    a, b = (sx.read_series(tmp_path / name / "motion.vtkhdf") for name in ("file", "pieces"))
    assert len(a) == len(b)
    for k in range(len(a)):
        np.testing.assert_array_equal(a.frame(k).displacement, b.frame(k).displacement)
        for field, values in a.frame(k).point_data.items():
            np.testing.assert_allclose(b.frame(k).point_data[field], values, rtol=1e-12, err_msg=field)
    one, two = (sx.read_history(tmp_path / name / "history.csv") for name in ("file", "pieces"))
    for name, rows in one.items():
        np.testing.assert_array_equal(two[name], rows, err_msg=name)


COLLISION = """
title = "Two blocks collide, and a rank has nothing to do with it"
[[body]]
name = "left"
mesh = { box = [0.3, 0.2, 0.2], cells = [3, 2, 2] }
material = { law = "neo-hookean", young = 1e7, poisson = 0.3, density = 1000.0 }
velocity = [6.0, 1.0, 1.0]
[[body]]
name = "right"
mesh = { box = [0.3, 0.2, 0.2], cells = [2, 2, 2] }
material = { law = "neo-hookean", young = 1e7, poisson = 0.3, density = 1000.0 }
translate = [0.31, 0.03, 0.02]
velocity = [-4.0, 0.0, 0.0]
[[contact]]
begins = "touch"
friction = 0.3
slip_speed = 0.05
[integrator]
kind = "energy-momentum"
dt = 1e-4
[run]
duration = 0.001
frames = 2
[output]
pictures = false
"""


@pytest.mark.slow
def test_bodies_collide_and_rub_on_ranks_as_in_one_process(tmp_path):
    (tmp_path / "two.toml").write_text(COLLISION, "utf-8")
    later = sx.Scenario.read(tmp_path / "two.toml").with_values({"run.until": 0.002})
    sx.simulate(later, tmp_path / "one", progress=False)
    for ranks, more in ((3, []), (2, ["--resume", "--until", "0.002"])):
        done = run(ranks, tmp_path, "two.toml", "--output", "three", "--quiet", *more)
        assert (done.returncode, done.stderr) == (0, "")
    whole, found = (sx.read_history(tmp_path / name / "history.csv") for name in ("one", "three"))
    assert abs(whole["contact_force_left_right_x"]).max() > 1e3
    assert list(whole) == list(found)
    energy = whole["kinetic"].max()
    for name in ("kinetic", "contact", "total", "balance", "work_friction_left_right"):
        np.testing.assert_allclose(found[name], whole[name], rtol=0, atol=1e-10 * energy, err_msg=name)
    assert np.ptp(found["balance"]) < 1e-12 * energy
    force = abs(whole["contact_force_left_right_x"]).max()
    for name in ("contact_force_left_right_x", "contact_force_left_right_z"):
        np.testing.assert_allclose(found[name], whole[name], rtol=0, atol=1e-8 * force)
    np.testing.assert_allclose(found["gap"], whole["gap"], rtol=0, atol=1e-12)


@pytest.mark.slow
def test_what_ranks_cannot_do_is_refused_by_one_sentence(tmp_path):
    (tmp_path / "bar.toml").write_text(BAR, "utf-8")
    done = run(2, tmp_path, "bar.toml", "--set", "integrator.solver=sparse")
    sentence = 'linear = "sparse" does not run on several ranks; take one of auto, krylov, petsc.'
    assert done.returncode == 2
    assert done.stderr == f"symplex: error: bar.toml: {sentence}\n"
