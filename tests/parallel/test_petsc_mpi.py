"""PETSc on several ranks; skipped where petsc4py is not installed, and an mpiexec of its MPI library."""

import numpy as np
import pytest

pytest.importorskip("petsc4py", reason="petsc4py is not installed (Debian: python3-petsc4py)")

import symplex as sx
from reference.on_ranks import DROP, PUSHED, run
from symplex.base.checkpoint import load_checkpoint

BAR = (
    DROP.replace("0.0, 0.0, 0.01]", "0.0, 0.0, 0.001]")
    .replace('kind = "newmark"', 'kind = "METHOD"\ndt = 2e-4\nsolver = "petsc"')
    .replace("duration = 0.01\nframes = 4", "duration = 0.001\nframes = 2")
)


@pytest.mark.parametrize("method", ["energy-momentum", "midpoint"])
def test_two_ranks_move_as_one_process_and_balance_energy(tmp_path, method):
    (tmp_path / "bar.toml").write_text((BAR + PUSHED).replace("METHOD", method), "utf-8")
    scenario = sx.Scenario.read(tmp_path / "bar.toml").with_values({"integrator.solver": "sparse"})
    sx.simulate(scenario, tmp_path / "one", progress=False)
    for name in ("two", "again"):
        done = run(2, tmp_path, "bar.toml", "--output", name, "--quiet")
        assert (done.returncode, done.stderr) == (0, "")
    one, two, again = (load_checkpoint(tmp_path / name / "checkpoint.npz").motion for name in ("one", "two", "again"))
    for name, most in (("q", 1e-12), ("v", 2e-11)):
        np.testing.assert_allclose(two[name], one[name], rtol=0, atol=most * np.abs(one[name]).max())
        np.testing.assert_array_equal(again[name], two[name])
    history = sx.read_history(tmp_path / "two" / "history.csv")
    if method == "energy-momentum":
        assert np.ptp(history["balance"]) < 1e-12 * history["kinetic"].max()
    assert history["work_grip"][-1] != 0.0
