"""What several tests use: systems, and how examples are run."""

import gc
import importlib.util
import json
import os
import runpy
import subprocess
import sys
from pathlib import Path

# Before numpy is loaded: threads of BLAS that wait for each other make small dense systems fifty times slower where
# processes outnumber processors. Examples that are run inherit it.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Before numba.cuda is loaded: kernels for devices run in its simulator; with 0 on a device that there is.
os.environ.setdefault("NUMBA_ENABLE_CUDASIM", "1")

import matplotlib
import numpy as np
import pytest

from reference.signals import as_from_a_terminal
from symplex.contact.obstacles import HalfSpace
from symplex.contact.rigid import RigidContact
from symplex.errors import RenderError
from symplex.fem.actions.mass import lumped_mass
from symplex.fem.assembly import team
from symplex.fem.solids.materials import NeoHookean
from symplex.fem.solids.solid import Solid
from symplex.fem.system import State, System
from symplex.meshes.generate import cube_mesh
from symplex.meshes.pictures.render import require_rendering

matplotlib.use("Agg")
from matplotlib import pyplot

EXAMPLES = Path(__file__).parent.parent / "examples"
ALUMINIUM = NeoHookean(lmbda=60.5e9, mu=26e9, density=2700.0)


def pytest_collection_finish():
    """Leave all that stays to the end, such as tests and modules, out of each later search for garbage."""
    gc.freeze()


def oblique_impact(mesh_name: str) -> tuple[System, State]:
    """Return the cube of section 6.3 of the force-stepping paper, 1.41 mm before the wall, and its initial state."""
    mesh = cube_mesh(mesh_name)
    cells = mesh.cells["tetra"]
    wall = HalfSpace(point=(0.101, 0.101, 0.101), normal=(0.0, -1.0, -1.0), normalize=False)
    system = System(
        lumped_mass(mesh.points, cells, ALUMINIUM.density, len(mesh.points)),
        {
            "strain": Solid(mesh.points, cells, ALUMINIUM),
            "wall": RigidContact(mesh.boundary_nodes, wall, stiffness=1e14),
        },
    )
    return system, system.state(mesh.points, np.full(mesh.points.shape, 1000.0))


@pytest.fixture
def always_shared(monkeypatch):
    """Let threads share all kernels that have ranges to share, however small they are."""
    monkeypatch.setattr(team._Team, "_pays", lambda self, saved, awake: True)


@pytest.fixture
def signals():
    """Let signals end runs and processes, also where this process was started with them ignored."""
    with as_from_a_terminal():
        yield


@pytest.fixture(scope="session")
def impact_of():
    """Return the function that makes the oblique impact on mesh I, II or III."""
    return oblique_impact


@pytest.fixture(scope="session")
def run_script():
    """Return the function that runs an example script and returns its numbers.

    As ``python script.py`` does, but in this process, where packages are imported already; ``apart`` in its own.
    """

    def run(name: str, output: Path, *options: str, apart: bool = False) -> dict:
        arguments = [str(EXAMPLES / name), "--output", str(output), *options]
        if apart:
            subprocess.run([sys.executable, "-W", "error", *arguments], check=True, capture_output=True, timeout=600)
        else:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(sys, "argv", arguments)
                patch.syspath_prepend(EXAMPLES)
                runpy.run_path(arguments[0], run_name="__main__")
            pyplot.close("all")
        return json.loads((output / "numbers.json").read_text(encoding="utf-8"))

    return run


@pytest.fixture(scope="session")
def load_example():
    """Return the function that imports a module that examples share."""

    def load(name: str):
        spec = importlib.util.spec_from_file_location(name.removesuffix(".py"), EXAMPLES / name)
        assert spec is not None
        assert spec.loader is not None
        loaded = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = loaded
        spec.loader.exec_module(loaded)
        return loaded

    return load


@pytest.fixture(scope="session")
def can_draw() -> bool:
    """Return whether pictures of meshes can be made here."""
    try:
        require_rendering()
    except RenderError:
        return False
    return True


@pytest.fixture(scope="session")
def drawing(can_draw):
    """Skip where they cannot."""
    if not can_draw:
        pytest.skip("no OpenGL here")
