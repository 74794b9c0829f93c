"""Implicit steps by ``mpiexec``: the motion of one process to the floor of Newton's method, and what is said."""

import numpy as np
import pytest

import symplex as sx
from reference.on_ranks import DROP, PUSHED, run
from symplex.base.checkpoint import load_checkpoint

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
    for name, times in (("q", 1.0), ("v", 20.0), ("a", 100.0), ("work", 20.0)):
        error = np.abs(second[name] - first[name]).max()
        assert error <= times * most * np.abs(first[name]).max(), name
    a, b = (sx.read_history(folder / "history.csv") for folder in (one, other))
    assert list(a) == list(b)
    energy = np.abs(a["kinetic"]).max()
    for name in ("kinetic", "bar", "floor", "total", "balance"):
        np.testing.assert_allclose(b[name], a[name], rtol=0, atol=20 * most * energy)


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
    with pytest.raises(sx.SymplexError, match="is inverted") as told:
        sx.simulate(sx.Scenario.read(tmp_path / "bar.toml").with_values(soon), tmp_path / "bad-alone", progress=False)
    assert done.stdout == f"{told.value}\n"


@pytest.mark.slow
def test_what_ranks_cannot_do_is_refused_by_one_sentence(tmp_path):
    (tmp_path / "bar.toml").write_text(BAR, "utf-8")
    done = run(2, tmp_path, "bar.toml", "--set", "integrator.solver=sparse")
    sentence = 'linear = "sparse" does not run on several ranks; take one of auto, krylov, petsc.'
    assert done.returncode == 2
    assert done.stderr == f"symplex: error: bar.toml: {sentence}\n"
