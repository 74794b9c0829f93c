"""Inner products: of any arrays, and by one thread."""

import math
import os
import subprocess
import sys

import numpy as np
import pytest

from symplex.commands.cli import main
from symplex.fem.assembly.inner_products import inner, norm

MOTION = """
from time import process_time, thread_time
import numpy as np, symplex as sx
mesh = sx.box((1.0, 1.0, 1.0), (15, 15, 15))
cells = mesh.cells["tetra"]
rubber = sx.NeoHookean.from_young(E=1e6, nu=0.3, density=1000.0)
mass = sx.lumped_mass(mesh.points, cells, 1000.0, len(mesh.points))
system = sx.System(mass, {"solid": sx.Solid(mesh.points, cells, rubber)})
state = system.state(mesh.points, 0.1 * np.sin(mesh.points))
motion = sx.Newmark(2e-4).start(system, state)
motion.energies(motion.advance(motion.dt))
before = process_time(), thread_time()
for n in range(2, 102):
    state = motion.advance(n * motion.dt)
    motion.energies(state), motion.momenta(state)
print((process_time() - before[0]) / (thread_time() - before[1]))
"""


@pytest.mark.parametrize("n", [0, 1, 3, 2730, 2731, 40_001])
def test_inner_products_are_sums_of_products(n):
    a, b = np.random.default_rng(n).standard_normal((2, n, 3))
    exact = math.fsum((a * b).ravel())
    size = np.finfo(float).eps * np.abs(a * b).sum()
    for x, y in ((a, b), (np.asfortranarray(a), b), (a.T.copy().T, b.T.copy().T)):
        assert abs(inner(x, y) - exact) <= 10.0 * size
    assert norm(a) == pytest.approx(np.linalg.norm(a), rel=1e-14)


def test_what_is_not_finite_is_seen():
    for odd in (np.nan, np.inf):
        x = np.zeros(100_000)
        x[77_777] = odd
        assert not math.isfinite(inner(x, x))


@pytest.mark.slow
def test_a_motion_on_one_thread_keeps_no_other_processor_busy():
    """The processor time of all threads against that of one, which other programs do not change."""
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    environment |= {"SYMPLEX_THREADS": "1", "OPENBLAS_NUM_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, "-c", MOTION], env=environment, capture_output=True, text=True, check=True, timeout=300
    )
    assert float(done.stdout) < 1.1


@pytest.mark.parametrize(
    ("given", "expected"), [({}, "1"), ({"OPENBLAS_NUM_THREADS": "3"}, "3"), ({"OMP_NUM_THREADS": "2"}, None)]
)
def test_commands_take_one_thread_of_blas_unless_they_are_asked_for_others(given, expected, monkeypatch):
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        monkeypatch.setenv(name, "")  # set back afterwards
        monkeypatch.delenv(name)
    for name, number in given.items():
        monkeypatch.setenv(name, number)
    main(["info", "none"])
    assert os.environ.get("OPENBLAS_NUM_THREADS") == expected
