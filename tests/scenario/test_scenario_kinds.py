"""Scenarios with every kind of integrator: what is built, what a run writes, going on, and what is refused."""

import json
from dataclasses import replace

import numpy as np
import pytest

import symplex.runs.rows
from symplex.commands.cli import main
from symplex.errors import ScenarioError
from symplex.meshes.formats.save import save_mesh
from symplex.meshes.generate import box
from symplex.meshes.mesh import Mesh, merge
from symplex.runs.history import read_history
from symplex.runs.run import simulate
from symplex.scenario.integrators import integrator_of
from symplex.scenario.methods import INTEGRATORS, METHODS
from symplex.scenario.scenario import Scenario
from symplex.time.composition import Composition
from symplex.time.conserving.energy_momentum import EnergyMomentum
from symplex.time.conserving.graham_jelenic import GrahamJelenic
from symplex.time.constraints.rattle import Rattle, Shake
from symplex.time.events.force_stepping import ForceStepping
from symplex.time.explicit.multirate import Multirate
from symplex.time.explicit.newmark import Newmark
from symplex.time.implicit.implicit import ImplicitIntegrator
from symplex.time.implicit.midpoint import Midpoint
from symplex.time.langevin import Langevin
from symplex.time.solvers.newton import Newton
from symplex.time.variational.adaptive_variational import AdaptiveVariational
from symplex.time.variational.variational import VariationalMidpoint
from symplex.time.variational.zhang_skeel import ZhangSkeel

BODY = """
[[body]]
name = "block"
mesh = { box = [1.0, 0.6, 0.3], cells = [1, 1, 1], split = "6" }
material = { lambda = 2.0, mu = 1.0, density = 1.0 }
angular_velocity = [0.0, 0.0, 0.5]
velocity = [0.0, 0.0, -0.2]
"""
FLOOR = """
[[obstacle]]
name = "floor"
kind = "half-space"
point = [0, 0, -0.02]
normal = [0, 0, 1]
stiffness = 2.0
"""
PUSH = """
[[load]]
name = "push"
kind = "nodal"
body = "block"
group = "x_min"
force = [0, 0.001, 0]
history = { kind = "sine", frequency = 1 }
"""
HELD = """
[[support]]
body = "block"
group = "x_max"
"""
# Swinging about an edge: its four lower corners on rods to points above.
HUNG = """
[[body]]
name = "block"
mesh = { box = [1.0, 0.6, 0.3], cells = [1, 1, 1], split = "6" }
material = { lambda = 2.0, mu = 1.0, density = 1.0 }
velocity = [0.1, 0.0, 0.0]
[[rod]]
name = "rods"
body = "block"
group = "x_min"
to = [0.0, 0.0, 3.0]
[gravity]
acceleration = [0, 0, -0.1]
"""
RUN = """
[run]
duration = 0.6
frames = 2
samples = 6
[output]
pictures = false
fields = ["velocity"]
"""
# Nodes of two blocks that lines join, by their positions.
LINKED = [(1.0, 0.0, 0.0), (3.0, 0.0, 0.0), (1.0, 1.0, 0.0), (3.0, 1.0, 0.0)]
# The columns of any history here, and the kinds that have no steps of one size, or velocities off the rods.
COMMON = {
    *("t", "kinetic", "total", "block", "floor", "gravity", "penetration"),
    *(f"{what}_{x}" for what in ("momentum", "angular_momentum", "contact_force") for x in "xyz"),
}
UNHEATED = {"force-stepping", "adaptive-variational", "shake", "static"}
# What each kind runs here, and the columns that it adds to those of any history.
IMPLICIT = {"steps", "corrections", "factorisations"}
REST = BODY.partition("angular_velocity")[0]
KINDS = {
    kind: (BODY + FLOOR, "dt = 0.05", IMPLICIT if issubclass(method, ImplicitIntegrator) else {"steps"})
    for kind, method in INTEGRATORS.items()
} | {
    "multirate": (BODY + FLOOR, "dt = 0.05", {"steps", "substeps"}),
    "force-stepping": (
        BODY,
        "grid = 0.02",
        {"lattice_total", "events", "integer_events", "pair_events", "renewals"},
    ),
    "energy-momentum": (BODY + FLOOR, "dt = 0.05\ncompensated = true", IMPLICIT),
    "midpoint": (BODY + FLOOR, "dt = 0.05\norder = 4", {*IMPLICIT, "substeps"}),
    "variational-midpoint": (
        BODY + FLOOR + PUSH,
        "dt = 0.05",
        {*IMPLICIT, "discrete_energy", "balance", "work_push"},
    ),
    "adaptive-variational": (BODY + FLOOR, "dt = 0.04", {"steps", "tried", "corrections", "held", "discrete_energy"}),
    "graham-jelenic": (BODY + FLOOR, "dt = 0.05", {"steps", "iterations", "factorised"}),
    "zhang-skeel": (BODY + FLOOR, "dt = 0.05", {"steps", "modified_total"}),
    "rattle": (HUNG, "dt = 0.05", {"steps", "corrections"}),
    "static": (
        REST + FLOOR + HELD + PUSH,
        "dt = 0.1",
        {"steps", "corrections", "load_steps", "balance", "work_push", "work_rest"},
    ),
    "shake": (HUNG, "dt = 0.05\nbeta = 0.3", {"steps", "corrections", "modified_total"}),
}


# The energy that they conserve or nearly keep, where it is not the total; with the push less its work.
KEPT = {
    "force-stepping": "lattice_total",
    "adaptive-variational": "discrete_energy",
    "variational-midpoint": "balance",
    "zhang-skeel": "modified_total",
    "shake": "modified_total",
    "static": "balance",
}


def scenario(system: str, kind: str, keys: str, more: str = "") -> Scenario:
    return Scenario.parse(f'{system}[integrator]\nkind = "{kind}"\n{keys}\n{more}{RUN}', "block.toml")


def method(kind: str, keys: str, system: str = BODY, more: str = ""):
    return integrator_of(scenario(system, kind, keys, more).tables)


def bath(**changes) -> str:
    values = {"temperature": 0.02, "rate": 1.5, "boltzmann": 1, "seed": 3} | changes
    return "[thermostat]\n" + "".join(f"{key} = {value}\n" for key, value in values.items() if value is not None)


def mistakes(system: str, kind: str, keys: str, more: str = "") -> str:
    with pytest.raises(ScenarioError) as caught:
        scenario(system, kind, keys, more).build()
    return str(caught.value)


def test_methods_are_what_the_keys_say():
    assert method("energy-momentum", "dt = 0.1\ncompensated = true") == EnergyMomentum(0.1, True)
    assert method("energy-momentum", "dt = 0.1\ncompensated = true\norder = 4") == Composition(
        EnergyMomentum(0.1, True), 4
    )
    assert method("variational-midpoint", "dt = 0.1\nhalvings = 2") == VariationalMidpoint(
        0.1, newton=Newton(halvings=2)
    )
    assert method("adaptive-variational", "dt = 0.1") == AdaptiveVariational(0.1)
    assert method(
        "adaptive-variational", 'dt = 0.1\nbounds = [0.5, 3]\nhold = false\ncarry = false\nsolver = "sparse"'
    ) == AdaptiveVariational(0.1, (0.5, 3.0), False, False, newton=Newton(linear="sparse"))
    assert method("zhang-skeel", "dt = 0.1") == ZhangSkeel(0.1)
    assert method(
        "zhang-skeel", 'dt = 0.1\nbeta = 0.5\nvariant = "simplified"\nstiff = ["floor"]\norder = 4', BODY + FLOOR
    ) == Composition(ZhangSkeel(0.1, 0.5, "simplified", ("floor",)), 4)
    assert method("multirate", "") == Multirate()
    assert method(
        "multirate", "dt = 0.1\nlevels = 3\nlayers = 2\nsafety = 0.5\ngiven = { floor = 2 }", BODY + FLOOR
    ) == Multirate(0.1, 3, 2, 0.5, given={"floor": 2})
    assert method("force-stepping", "grid = 0.1\nmirrored = true") == ForceStepping(0.1, mirrored=True)
    lattice = method("force-stepping", "grid = 0.1\noffset = [1, 0, 0.5]\nmirrored = [true, true, false]")
    assert (lattice.mirrored, *lattice.offset) == ((True, True, False), 1.0, 0.0, 0.5)
    assert method("force-stepping", 'grid = 0.1\noffset = "random"') == ForceStepping(0.1, offset="random")
    assert method("rattle", "dt = 0.1\nbeta = 0.3\norder = 4", HUNG) == Composition(Rattle(0.1, {}, beta=0.3), 4)
    assert method("shake", "dt = 0.1", HUNG) == Shake(0.1, {})
    assert method("newmark", "order = 6") == Composition(Newmark(), 6)
    split = method("newmark", 'order = 6\nsubsteps = "blanes-moan"')
    assert split == Composition(Newmark(), 6, "blanes-moan")
    jump = method("midpoint", 'dt = 0.1\norder = 4\nsubsteps = "triple jump"')
    assert jump == Composition(Midpoint(0.1), 4, "triple jump")
    assert method("graham-jelenic", 'dt = 0.1\nscheme = "cayley-magnus-4"\norder = 6') == Composition(
        GrahamJelenic(0.1, "cayley-magnus-4"), 6
    )
    assert method("graham-jelenic", 'dt = 0.1\nscheme = "cayley-magnus-4"\norder = 4') == GrahamJelenic(
        0.1, "cayley-magnus-4"
    )


def test_orders_that_there_are_not_are_refused():
    assert "order must be 1, got 4: the method must be symmetric" in mistakes(
        BODY, "newmark", "dt = 0.1\nbeta = 0.3\ngamma = 0.6\norder = 4"
    )
    scheme = 'dt = 0.1\nscheme = "{}"\norder = 4'
    assert "order must be at least 6, that of GrahamJelenic cayley-magnus-6 itself, got 4" in mistakes(
        BODY, "graham-jelenic", scheme.format("cayley-magnus-6")
    )
    reported = mistakes(BODY, "graham-jelenic", scheme.format("kappa"))
    assert "order must be 2, got 4: GrahamJelenic cannot be composed: κ has poles" in reported
    assert "there is no scheme 'yoshida' of order 8; there are" in mistakes(
        BODY, "newmark", 'order = 8\nsubsteps = "yoshida"'
    )
    assert "substeps goes with an order above 2, that of Newmark itself" in mistakes(
        BODY, "newmark", 'substeps = "suzuki"'
    )
    assert "order must be at least 6, that of GrahamJelenic cayley-magnus-6 itself, got 4" in mistakes(
        BODY, "graham-jelenic", 'dt = 0.1\norder = 4\nsubsteps = "suzuki"'
    )
    reported = mistakes(BODY, "midpoint", 'dt = 0.1\norder = 6\nsubsteps = "blanes-moan"')
    assert "the scheme 'blanes-moan' is for explicit Newmark" in reported
    assert "unknown key 'order'" in mistakes(HUNG, "shake", "dt = 0.1\norder = 4")


def test_thermostats_are_what_the_keys_say():
    assert method("midpoint", "dt = 0.1", more=bath()) == Langevin(Midpoint(0.1), 0.02, rate=1.5, seed=3, boltzmann=1.0)
    by_friction = method("midpoint", "dt = 0.1", more=bath(rate=None, friction=0.1, seed=None, boltzmann=None))
    assert by_friction == Langevin(Midpoint(0.1), 0.02, friction=0.1)


def continues_bit_identically(text: Scenario, folder, monkeypatch) -> None:
    """Stop the run whose results are in ``whole``, go on with it, and compare the histories."""
    original = symplex.runs.rows.RowsOfRun.row

    def interrupted(self, state, acting):
        if state.t > 0.35:
            raise KeyboardInterrupt
        return original(self, state, acting)

    with monkeypatch.context() as patch:
        patch.setattr(symplex.runs.rows.RowsOfRun, "row", interrupted)
        with pytest.raises(KeyboardInterrupt):
            simulate(text, folder / "parts", progress=False)
    assert simulate(text, folder / "parts", resume=True, progress=False)["status"] == "finished"
    whole, parts = ((folder / name / "history.csv").read_bytes() for name in ("whole", "parts"))
    assert whole == parts


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.slow
def test_a_run_tells_what_the_method_knows_and_goes_on_bit_identically(kind, tmp_path, monkeypatch):
    system, keys, added = KINDS[kind]
    text = scenario(system, kind, keys)
    summary = simulate(text, tmp_path / "whole", progress=False)
    history = read_history(tmp_path / "whole" / "history.csv")
    assert {name for name in history if name not in COMMON} == added
    assert summary["kind"] == kind
    assert summary == json.loads((tmp_path / "whole" / "summary.json").read_text("utf-8"))
    assert summary["drift"].keys() >= added & {"discrete_energy", "modified_total", "balance"}
    assert np.ptp(history["total" if kind == "static" else "kinetic"]) > 0.0
    assert summary["energy_kept"] == KEPT.get(kind, "total")
    if "energy" in summary["conserves"]:
        assert summary["drift"][summary["energy_kept"]] < 1e-12
    continues_bit_identically(text, tmp_path, monkeypatch)


@pytest.mark.parametrize("kind", [kind for kind, model in METHODS.items() if kind not in UNHEATED])
def test_a_thermostat_over_each_kind_heats_and_goes_on_bit_identically(kind, tmp_path, monkeypatch):
    system, keys, _ = KINDS[kind]
    text = scenario(system, kind, keys, bath())
    summary = simulate(text, tmp_path / "whole", progress=False)
    history = read_history(tmp_path / "whole" / "history.csv")
    assert summary["heat"] == history["heat"][-1]
    assert summary["mean_temperature"] == pytest.approx(history["temperature"].mean())
    n_free = 24 - text.build().n_rods
    np.testing.assert_allclose(history["temperature"], 2.0 * history["kinetic"] / n_free)
    # What friction and noise put in is what the energy gains, but for the error of the method.
    gained = history["total"] - history["total"][0] - history.get("work_push", 0.0)
    assert np.abs(history["heat"]).max() > 5.0 * np.abs(gained - history["heat"]).max()
    assert "discrete_energy" not in history or kind == "variational-midpoint"
    continues_bit_identically(text, tmp_path, monkeypatch)


def test_heat_is_reported(tmp_path, capsys):
    path = tmp_path / "warm.toml"
    path.write_text(scenario(BODY + PUSH, "newmark", "dt = 0.05", bath()).text, "utf-8")
    assert main(["run", str(path), "--output", str(tmp_path / "out")]) == 0
    reported = capsys.readouterr().out
    assert "the work of push and the heat taken off" in reported
    assert "mean temperature" in reported
    assert "expected 0.02" in reported


def test_what_a_thermostat_does_depends_on_its_seed(tmp_path):
    heats = [
        simulate(scenario(BODY, "newmark", "dt = 0.05", bath(seed=seed)), tmp_path / f"{seed}-{k}", progress=False)[
            "heat"
        ]
        for k, seed in enumerate((3, 3, 4))
    ]
    assert heats[0] == heats[1] != heats[2]


def test_rods_keep_their_lengths_and_rods_to_a_point_theirs(tmp_path):
    problem = scenario(HUNG, "rattle", "dt = 0.05").build()
    assert problem.n_rods == 4
    motion = problem.integrator.start(problem.system, problem.state)
    q = motion.advance(1.0).q
    held = problem.mesh.nodes_of("block.x_min")
    lengths = [np.linalg.norm(x[held] - [0.0, 0.0, 3.0], axis=1) for x in (problem.mesh.points, q)]
    np.testing.assert_allclose(*lengths, rtol=1e-13)
    assert np.linalg.norm(q - problem.mesh.points) > 0.1


@pytest.fixture
def linked(tmp_path):
    """A file of two blocks joined by two lines, the group 'links'."""
    left, right = box((1.0, 1.0, 1.0), (1, 1, 1), split="6"), box((1.0, 1.0, 1.0), (1, 1, 1), split="6")
    both = merge({"left": left, "right": replace(right, points=np.add(right.points, [3.0, 0.0, 0.0]))})
    near = [int(np.argmin(np.linalg.norm(both.points - x, axis=1))) for x in LINKED]
    lines = np.array(near, np.int32).reshape(-1, 2)
    cells = {"tetra": both.cells["tetra"], "line": lines}
    groups = {"links": {"line": np.array([0, 1], np.int32)}, "solids": {"tetra": np.arange(12, dtype=np.int32)}}
    save_mesh(Mesh(both.points, cells, groups), tmp_path / "linked.msh")
    return f"""
[[body]]
name = "pair"
mesh = {{ file = "{(tmp_path / "linked.msh").as_posix()}" }}
material = {{ lambda = 200.0, mu = 100.0, density = 1.0 }}
angular_velocity = [0, 0, 0.3]
[[rod]]
name = "links"
body = "pair"
group = "links"
"""


def test_lines_of_a_mesh_are_rods(linked, tmp_path):
    text = scenario(linked, "rattle", "dt = 0.01")
    problem = text.build()
    assert problem.n_rods == 2
    summary = simulate(text, tmp_path / "run", progress=False)
    assert summary["parameters"]["constraints"] == {"links": {"kind": "RigidBars", "conditions": 2}}
    assert summary["drift"]["angular_momentum_z"] < 1e-12
    motion = problem.integrator.start(problem.system, problem.state)
    q = motion.advance(1.0).q
    ends = problem.mesh.cells_of("line", "pair.links")
    lengths = np.linalg.norm(q[ends[:, 1]] - q[ends[:, 0]], axis=1)
    np.testing.assert_allclose(lengths, [2.0, 2.0], rtol=1e-13)


def test_counts_that_begin_late_do_not_end_a_run(tmp_path):
    text = scenario(BODY + FLOOR, "energy-momentum", 'dt = 0.05\nsolver = "krylov"')
    summary = simulate(text, tmp_path / "run", progress=False)
    assert summary["status"] == "finished"
    assert summary["statistics"]["linear_iterations"] > 0


def test_work_of_loads_is_in_the_summary(tmp_path):
    text = scenario(BODY + PUSH, "adaptive-variational", "dt = 0.04")
    summary = simulate(text, tmp_path / "run", progress=False)
    history = read_history(tmp_path / "run" / "history.csv")
    assert summary["work"] == {"push": history["work_push"][-1]}
    assert summary["drift"]["discrete_balance"] < 1e-12 < summary["drift"]["balance"]


MOVING = '[[support]]\nname = "s"\nbody = "block"\ngroup = "x_min"\nvelocity = [1, 0, 0]\n'
STIFF = BODY.replace("mu = 1.0", "mu = 1e4")
ROD = HUNG.replace("to = [0.0, 0.0, 3.0]\n", "")


@pytest.mark.parametrize(
    ("system", "kind", "keys", "reported"),
    [
        (BODY, "adaptive-variational", "dt = 0.1\nbounds = [2, 3]", "bounds must be a number between 0"),
        (BODY, "adaptive-variational", "dt = 0.1\nbounds = [0.5]", "bounds must be 2 numbers"),
        (BODY, "adaptive-variational", "dt = 0.7", "the first step dt = 0.7 s is longer than the run of 0.6 s"),
        (BODY, "adaptive-variational", "dt = 0.1\nhold = 1", "hold must be true or false, got 1"),
        (BODY + MOVING, "adaptive-variational", "dt = 0.1", "it moves, which adaptive-variational cannot follow"),
        (BODY + MOVING, "variational-midpoint", "dt = 0.1", "it moves, which variational-midpoint cannot follow"),
        (BODY + FLOOR, "zhang-skeel", 'dt = 0.1\nstiff = ["flor"]', "there is no 'flor'; did you mean 'floor'?"),
        (BODY, "zhang-skeel", 'dt = 0.1\nvariant = "ful"', "got 'ful'. Did you mean 'full'?"),
        (BODY + FLOOR, "zhang-skeel", 'dt = 0.1\nvariant = "push-forward"\nstiff = ["floor"]', "has no stiff part"),
        (BODY, "zhang-skeel", "dt = 0.1\nbeta = -1", "beta must be at least 0, got -1"),
        (
            BODY.replace("mu = 1.0", "mu = 1e4"),
            "zhang-skeel",
            "dt = 0.1\nbeta = 0.2",
            "above the stability limit of Zhang and Skeel's method",
        ),
        (BODY + MOVING, "zhang-skeel", "dt = 0.1", "it moves, which zhang-skeel cannot follow"),
        (BODY, "variational-euler", "dt = 0.1", "now an example for Python, examples/papers/variational_euler.py."),
        (BODY, "linearly-implicit-newmark", "dt = 0.1", "examples/papers/linearly_implicit.py."),
        (BODY, "energy-stepping", "step = 1", "kind 'energy-stepping' exists up to version 0.10 only"),
        (BODY, "multirate", "dt = 0", "dt must be positive, got 0 s"),
        (BODY, "multirate", "levels = 99", "levels must be at most 16, got 99"),
        (BODY, "multirate", "safety = 2", "safety must be above 0 and at most 0.63, got 2"),
        (BODY, "multirate", "dt = 0.1\ngiven = { blok = 1 }", "there is no energy 'blok' to give levels to"),
        (BODY.replace("mu = 1.0", "mu = 1e4"), "multirate", "dt = 0.1\nlevels = 1", "halved 1 times is above the"),
        (BODY.replace("mu = 1.0", "mu = 1e4"), "multirate", "dt = 0.1\ngiven = { block = 1 }", "above its stability"),
        (
            BODY,
            "force-stepping",
            "grid = 0.1\nmirrored = 1",
            "mirrored must be true or false, or three of these",
        ),
        (BODY, "force-stepping", "grid = 0.1\nmirrored = [true, false]", "must be true or false, or three of these"),
        (BODY, "force-stepping", "grid = 0.1\noffset = 1", "offset must be three numbers (grid sizes), got 1"),
        (
            BODY,
            "force-stepping",
            'grid = 0.1\noffset = "no"',
            'must be three numbers (grid sizes) or "random", got',
        ),
        (
            BODY + FLOOR,
            "graham-jelenic",
            'dt = 0.1\nexternal = ["block", "floor"]',
            "external names 'block', which has",
        ),
        (BODY, "rattle", "dt = 0.1", "rattle is for rods, beams and joints, but there is no [[rod]], "),
        (HUNG, "midpoint", "dt = 0.1", "[[rod]] #1 'rods': midpoint does not keep rods; take kind = \"rattle\""),
        (HUNG.replace("mu = 1.0", "mu = 1e4"), "rattle", "dt = 0.1", "above the stability limit of Rattle (without"),
        (HUNG.replace("[0.1, 0.0, 0.0]", "[0, 0, 1]"), "rattle", "dt = 0.05", "leave the lengths of rods as they are"),
        (HUNG + MOVING, "shake", "dt = 0.1", "it moves, which shake cannot follow"),
        (ROD, "rattle", "dt = 0.1", "group 'x_min' of body 'block' has no lines, along which rods could be"),
        (ROD.replace("x_min", "x_mim"), "rattle", "dt = 0.1", "body 'block' has no group 'x_mim'; it has: "),
        (HUNG.replace('body = "block"', 'body = "blok"'), "rattle", "dt = 0.1", "#1 'rods': there is no body 'blok'"),
        (HUNG.replace('"rods"', '"heat"'), "rattle", "dt = 0.1", "the name 'heat' is reserved"),
        (FLOOR.replace('"floor"', '"work_push"') + BODY + PUSH, "newmark", "", "the name 'work_push' is reserved"),
        (HUNG.replace("0.0, 3.0]", "0.0, 0.0]"), "rattle", "dt = 0.1", "radius must be positive"),
        (
            HUNG.replace("density = 1.0 }", 'density = 1.0 }\nmass = "consistent"'),
            "shake",
            "dt = 0.1",
            "with shake take",
        ),
    ],
)
def test_mistakes_are_named(system, kind, keys, reported):
    message = mistakes(system, kind, keys)
    assert reported in message
    assert message.startswith("block.toml: [")


@pytest.mark.parametrize(
    ("system", "kind", "keys", "changes", "reported"),
    [
        (BODY, "newmark", "", {"temperature": -1}, "temperature must be at least 0, got -1 K"),
        (BODY, "newmark", "", {"temperature": None}, "temperature is missing (K)"),
        (BODY, "newmark", "", {"friction": 1}, "needs one damping of rate, friction; given are rate and friction"),
        (BODY, "newmark", "", {"rate": None}, "needs one damping of rate, friction; none is given"),
        (BODY, "newmark", "", {"rate": -1}, "rate must be at least 0, got -1 1/s"),
        (BODY, "newmark", "", {"seed": 2**63}, "seed must be at most 9,223"),
        (BODY, "newmark", "", {"sead": 1}, "unknown key 'sead'; did you mean 'seed'?"),
        (BODY, "force-stepping", "grid = 0.1", {}, "after steps of one size, which force-stepping has not"),
        (BODY, "adaptive-variational", "dt = 0.1", {}, "after steps of one size, which adaptive-variational has not"),
        (HUNG, "shake", "dt = 0.1", {}, 'the velocities of shake are not along its rods; take kind = "rattle"'),
        (HUNG, "rattle", "dt = 0.1", {"rate": None, "friction": 1}, "with rods friction must be in proportion to mass"),
        (
            BODY.replace("density = 1.0 }", 'density = 1.0 }\nmass = "consistent"'),
            "midpoint",
            "dt = 0.1",
            {},
            'mass = "consistent" cannot be given a [thermostat]',
        ),
    ],
)
def test_mistakes_about_thermostats_are_named(system, kind, keys, changes, reported):
    assert reported in mistakes(system, kind, keys, bath(**changes))


def test_there_is_one_thermostat():
    assert "thermostat must be written [thermostat], with single brackets; there is only one." in mistakes(
        BODY, "newmark", "", bath().replace("[thermostat]", "[[thermostat]]")
    )


def test_rattle_takes_supports_along(tmp_path, monkeypatch):
    shaken = """[[support]]
name = "table"
body = "block"
group = "x_max"
displacement = [0.0, 0.0, 0.05]
history = { kind = "sine", frequency = 1 }
"""
    text = scenario(HUNG + shaken, "rattle", "dt = 0.02")
    summary = simulate(text, tmp_path / "whole", progress=False)
    assert summary["work"].keys() == {"table"}
    assert summary["drift"]["balance"] < 0.01 * summary["drift"]["total"]
    continues_bit_identically(text, tmp_path, monkeypatch)
