"""Graham and Jelenić's methods in scenario files."""

from pathlib import Path

import numpy as np
import pytest

from symplex.commands.cli import main
from symplex.errors import ScenarioError
from symplex.runs.history import read_history
from symplex.runs.run import simulate
from symplex.scenario.integrators import integrator_of
from symplex.scenario.scenario import Scenario
from symplex.time.conserving.graham_jelenic import GrahamJelenic
from symplex.time.conserving.schemes import ABBREVIATIONS, SCHEMES

BODY = """
[[body]]
name = "block"
mesh = { box = [1.0, 0.6, 0.3], cells = [2, 1, 1] }
material = { lambda = 2.0, mu = 1.0, density = 1.0 }
angular_velocity = [0.0, 0.0, 0.5]
velocity = [0.0, 0.0, -0.2]
"""
FLOOR = """
[[obstacle]]
name = "floor"
kind = "half-space"
point = [0, 0, -0.05]
normal = [0, 0, 1]
stiffness = 2.0
"""
LOADS = """
[gravity]
acceleration = [0, 0, -0.1]
[[load]]
name = "pull"
kind = "nodal"
body = "block"
group = "x_max"
force = [0.001, 0, 0]
[[load]]
name = "push"
kind = "nodal"
body = "block"
group = "x_min"
force = [0, 0.001, 0]
history = { kind = "sine", frequency = 1 }
"""


def scenario(method: str, more: str = "") -> Scenario:
    text = (
        f'{BODY}{more}[integrator]\nkind = "graham-jelenic"\n{method}\n[run]\nduration = 0.6\nframes = 3\nsamples = 6\n'
    )
    return Scenario.parse(text + "[output]\npictures = false\n", "block.toml")


def mistakes(method: str, more: str = "") -> str:
    with pytest.raises(ScenarioError) as caught:
        scenario(method, more).build()
    return str(caught.value)


@pytest.mark.parametrize("scheme", [*SCHEMES, *ABBREVIATIONS])
def test_every_scheme_is_built(scheme):
    problem = scenario(f'dt = 0.05\nscheme = "{scheme}"').build()
    assert isinstance(problem.integrator, GrahamJelenic)
    assert problem.integrator.scheme == ABBREVIATIONS.get(scheme, scheme)


def test_what_has_no_secant_form_is_external():
    tables = scenario("dt = 0.05", FLOOR + LOADS).tables
    assert integrator_of(tables) == GrahamJelenic(0.05, "cayley-magnus-6", external=("floor", "gravity", "pull"))
    tables = scenario('dt = 0.05\ninterpolant = "hermite"\nexternal = []').tables
    assert integrator_of(tables) == GrahamJelenic(0.05, "cayley-magnus-6", interpolant="hermite")
    tables = scenario('dt = 0.05\nscheme = "energy-momentum"\nsolver = "sparse"', FLOOR + LOADS).tables
    assert integrator_of(tables) == GrahamJelenic(0.05, "energy-momentum", linear="sparse")


def history(folder: Path, method: str, more: str = "") -> dict[str, np.ndarray]:
    folder.mkdir()
    file = folder / "block.toml"
    file.write_text(scenario(method, more).text, encoding="utf-8")
    simulate(file, folder / "out", progress=False)
    return read_history(folder / "out" / "history.csv")


def test_a_run_keeps_momenta_and_writes_its_counts(tmp_path):
    free = history(tmp_path / "free", 'dt = 0.05\nscheme = "cayley-magnus-4"')
    assert np.ptp(free["angular_momentum_z"]) < 1e-14
    assert free["iterations"][-1] > free["steps"][-1] == 12
    loaded = history(tmp_path / "loaded", "dt = 0.05", FLOOR + LOADS)
    assert loaded["floor"].max() > 0.0  # it is touched
    assert 0.0 < np.ptp(loaded["balance"]) < 2e-5  # the contact begins within a step


def test_check_tells_the_step(tmp_path, capsys):
    file = tmp_path / "block.toml"
    file.write_text(scenario("dt = 0.06").text, encoding="utf-8")
    assert main(["check", str(file)]) == 0
    assert "50 ms, 12 steps" in capsys.readouterr().out


def test_mistakes_are_named():
    assert "got 'cayley-magnus-5'. Did you mean 'cayley-magnus-" in mistakes('dt = 0.1\nscheme = "cayley-magnus-5"')
    assert "dt is missing (s)." in mistakes("")
    assert "cayley-magnus-6, cayley-magnus-8; energy-momentum takes" in mistakes(
        'dt = 0.1\nscheme = "energy-momentum"\nexternal = ["floor"]', FLOOR
    )
    assert "energy-momentum has no interpolant" in mistakes(
        'dt = 0.1\nscheme = "energy-momentum"\ninterpolant = "hermite"'
    )
    assert "above the stability limit of GrahamJelenic cayley-magnus-6 with Hermite's interpolant" in mistakes(
        'dt = 0.1\ninterpolant = "hermite"'
    )
    assert "energy 'floor' (RigidContact) has no secant form" in mistakes("dt = 0.1\nexternal = []", FLOOR)
    assert "there is no energy 'flor' to be external" in mistakes('dt = 0.1\nexternal = ["flor"]', FLOOR)
    moving = '[[support]]\nname = "s"\nbody = "block"\ngroup = "x_min"\nvelocity = [1, 0, 0]\n'
    assert "it moves, which graham-jelenic cannot follow" in mistakes("dt = 0.1", moving)
    assert "longer than the run" in mistakes("dt = 2.0")
