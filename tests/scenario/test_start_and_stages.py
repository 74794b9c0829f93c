"""[start], [[stage]] and what acts for a part of a run: what is built, what a run keeps, and what is refused."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

import symplex.runs.samples
from symplex.commands.cli import main
from symplex.errors import OutputError, ScenarioError
from symplex.runs.drawing import draw_plot
from symplex.runs.history import read_history
from symplex.runs.results import RunFolder
from symplex.runs.run import simulate
from symplex.scenario.scenario import Scenario
from symplex.time.conserving.energy_momentum import EnergyMomentum
from symplex.time.equilibria.quasi_static import Static
from symplex.time.explicit.newmark import Newmark
from symplex.time.integrator import dividing
from symplex.time.stability import stable_step
from symplex.time.stages import Stages

BAR = """
[[body]]
name = "bar"
mesh = { box = [1.0, 0.2, 0.2], cells = [3, 1, 1], split = "6" }
material = { young = 1e6, poisson = 0.3, density = 1000 }
"""
HELD = """
[[support]]
body = "bar"
group = "x_min"
"""
WEIGHT = """
[gravity]
acceleration = [0, 0, -9.81]
"""
RUN = """
[integrator]
kind = "energy-momentum"
dt = 1e-3
[run]
duration = 0.04
frames = 4
samples = 20
[output]
pictures = false
"""
STATIC = '[start]\nkind = "static"\n'


RAMP, SINE = '{ kind = "ramp", duration = 1 }', '{ kind = "sine", frequency = 1 }'


def stage(duration, kind):
    return f'[[stage]]\nduration = {duration}\nintegrator = {{ kind = "{kind}" }}\n'


DASHPOT = '[[dashpot]]\nname = "damper"\nbody = "bar"\ngroup = "x_max"\nto = [3, 0, 0]\nviscosity = 1\n'
ROD = '[[rod]]\nname = "rod"\nbody = "bar"\ngroup = "x_max"\nto = [3, 0, 0]\n'


def pull(**keys):
    """Return a support that pulls the end aside."""
    more = "".join(f"{key} = {value}\n" for key, value in keys.items())
    return f"""
[[support]]
name = "pull"
body = "bar"
group = "x_max"
displacement = [0, 0, 0.05]
{more}
"""


def push(**keys):
    more = "".join(f"{key} = {value}\n" for key, value in keys.items())
    return f'\n[[load]]\nname = "push"\nkind = "nodal"\nbody = "bar"\ngroup = "x_max"\nforce = [0, 0, 1.0]\n{more}\n'


STAGES = """
[[stage]]
name = "bend"
duration = 0.02
frames = 2
integrator = { kind = "static", dt = 2e-3 }
[[stage]]
name = "hold"
duration = 0.04
frames = 4
samples = 20
integrator = { kind = "energy-momentum", dt = 1e-3 }
[[stage]]
name = "swing"
duration = 0.01
frames = 3
samples = 9
integrator = { kind = "newmark" }
[output]
pictures = false
"""
BENT = BAR + HELD + WEIGHT + pull(until=0.03, history='{ kind = "ramp", duration = 0.02 }') + push(**{"from": 0.04})


def parse(text):
    return Scenario.parse(text, "bar.toml")


def mistakes(text):
    with pytest.raises(ScenarioError) as caught:
        parse(text).build()
    return str(caught.value)


# -- starts -------------------------------------------------------------------------------------------------------


def test_a_static_start_is_at_rest_and_stays_there():
    problem = parse(BAR + HELD + WEIGHT + STATIC + RUN).build()
    system, state = problem.system, problem.state
    assert np.abs(system.force(0.0, state.q, state.v)).max() < 1e-8
    assert not state.v.any()
    end = problem.integrator.start(system, state).advance(0.04)
    assert np.abs(end.q - state.q).max() < 1e-9
    assert np.ptp(state.q - problem.mesh.points, axis=0)[2] > 1e-3


def test_what_has_until_0_acts_in_the_start_alone():
    """A bar that is bent and let go: held and pushed by what the run does not have."""
    bent = parse(BAR + HELD + pull(until=0) + push(until=0) + STATIC + RUN).build()
    assert isinstance(bent.integrator, EnergyMomentum)
    assert not bent.system.moving
    assert "push" not in bent.system.energies
    tip = bent.mesh.nodes_of("bar.x_max")
    np.testing.assert_allclose(bent.state.q[tip] - bent.mesh.points[tip], [[0, 0, 0.05]] * 4, atol=1e-14)
    assert np.abs(bent.system.force(0.0, bent.state.q, bent.state.v)[tip]).max() > 1.0
    assert not parse(BAR + HELD + push(until=0) + STATIC + RUN).build().system.loads


def test_velocities_are_added_to_a_static_start():
    text = BAR + "velocity = [0, 0.3, 0]\n" + HELD + WEIGHT + STATIC + RUN
    state = parse(text).build().state
    free = ~parse(text).build().system.fixed[:, 1]
    np.testing.assert_allclose(state.v[free, 1], 0.3)


def test_a_rotation_starts_in_relative_equilibrium():
    bar = BAR.replace('split = "6"', 'split = "24"')
    text = bar + '[start]\nkind = "relative-equilibrium"\nangular_velocity = [0, 0, 5.0]\n' + RUN
    problem = parse(text).build()
    system, state = problem.system, problem.state
    centre = np.asarray(system.mass) @ state.q / np.sum(system.mass)
    arm = state.q - centre
    np.testing.assert_allclose(state.v, np.cross([0, 0, 5.0], arm), atol=1e-9)
    np.testing.assert_allclose(state.a, -25.0 * arm * [1, 1, 0], atol=1e-6)
    momentum = float(system.angular_momentum(state)[2])  # about the centre of mass as well, which rests
    other = parse(text.replace("angular_velocity = [0, 0, 5.0]", f"angular_momentum = [0, 0, {momentum!r}]")).build()
    np.testing.assert_allclose(other.state.v, state.v, atol=1e-8)


def test_bodies_that_are_tied_rotate_as_one():
    spin = '[start]\nkind = "relative-equilibrium"\nangular_velocity = [0, 0, 5.0]\n'
    even = BAR.replace('split = "6"', 'split = "hexahedra"')
    longer = even.replace("[1.0, 0.2, 0.2], cells = [3", "[2.0, 0.2, 0.2], cells = [6")
    whole = parse(longer + spin + RUN).build().state
    other = even.replace('"bar"', '"other"') + "translate = [1, 0, 0]\n"
    tie = '[[tie]]\nbody = "bar"\nto = "other"\n'
    tied = parse(even + other + tie + spin + RUN).build().state
    assert tied.q.shape == whole.q.shape

    def sorted_rows(q):
        return q[np.lexsort(np.round(q, 9).T)]

    np.testing.assert_allclose(sorted_rows(tied.q), sorted_rows(whole.q), atol=1e-9)


def test_damping_names_bodies_that_nothing_joins():
    even = BAR.replace('split = "6"', 'split = "hexahedra"')
    other = even.replace('"bar"', '"other"') + "translate = [0, 3, 0]\n"
    damping = '[[damping]]\nbodies = ["bar", "other"]\nalpha = 0.1\nbeta = 1e-5\nstiffness = "initial"\n'
    spin = '[start]\nkind = "relative-equilibrium"\nangular_velocity = [0, 0, 5.0]\n'
    assert "leave out the loads damping_mass, damping_stiffness_bar." in mistakes(even + other + damping + spin + RUN)


NUT = '[[rigid_body]]\nname = "nut"\nmesh = { box = [0.1, 0.2, 0.3] }\nmass = 2.0\nangular_velocity = [0, 4, 0]\n'


@pytest.mark.parametrize("given", ["angular_velocity = [0, 0, 3]", "angular_momentum = [0, 0, 9]"])
def test_separate_bodies_rotate_each_about_its_own_centre(given):
    """Two masses of 1 kg on a spring: l (1 − m ω²/2k) = L, each pair with its own velocity."""
    pairs = {"a": (1.0, 100.0, [1.0, 0.0, 0.0]), "b": (2.0, 50.0, [0.0, -1.0, 0.5])}
    text = "".join(
        f'[[truss]]\nname = "{name}"\nmesh = {{ line = {L}, bars = 1 }}\ntranslate = [0, {5 * L}, 0]\n'
        f"member_mass = 2.0\nstiffness = {k}\nvelocity = {v}\n"
        for name, (L, k, v) in pairs.items()
    )
    spun = parse(text + NUT + f'[start]\nkind = "relative-equilibrium"\n{given}\n' + RUN).build()
    state, mesh = spun.state, spun.mesh
    for name, (L, k, velocity) in pairs.items():
        one, other = mesh.nodes_of(name)
        arm, speed = state.q[other] - state.q[one], state.v[other] - state.v[one]
        length = np.linalg.norm(arm)
        omega = np.cross(arm, speed)[2] / length**2
        np.testing.assert_allclose(length * (1.0 - omega**2 / (2.0 * k)), L, rtol=1e-11)
        size = {"angular_velocity": omega - 3.0, "angular_momentum": 0.5 * length**2 * omega - 9.0}
        assert abs(size[given.split()[0]]) < 1e-8
        np.testing.assert_allclose(0.5 * (state.v[one] + state.v[other]), velocity, atol=1e-12)
    nut = spun.rigid_sets.rigid_sets["nut"]
    np.testing.assert_allclose(nut.pose(state.q, state.v)[2], [0, 4, 0], atol=1e-12)


@pytest.mark.parametrize("of", ["positions", "velocities"])
def test_a_perturbation_changes_what_it_says_and_its_seed_says_how(of):
    plain = parse(BAR + HELD + WEIGHT + STATIC + RUN).build().state

    def state(**keys):
        table = "".join(f", {key} = {value}" for key, value in keys.items())
        more = f'perturbation = {{ amplitude = 1e-4, of = "{of}"{table} }}\n'
        return parse(BAR + HELD + WEIGHT + STATIC + more + RUN).build()

    names = ("q", "v") if of == "positions" else ("v", "q")
    problem = state()
    changes = getattr(problem.state, names[0]) - getattr(plain, names[0])
    np.testing.assert_array_equal(getattr(problem.state, names[1]), getattr(plain, names[1]))
    assert 0.0 < np.abs(changes).max() < 2e-4
    assert not changes[problem.system.fixed].any()
    assert not np.array_equal(getattr(state(seed=1).state, names[0]), getattr(problem.state, names[0]))
    directed = state(body='"bar"', group='"x_max"', direction="[0, 2, 0]")
    changes = getattr(directed.state, names[0]) - getattr(plain, names[0])
    tip = directed.mesh.nodes_of("bar.x_max")
    np.testing.assert_allclose(changes[tip], [[0, 1e-4, 0]] * 4, atol=1e-12)
    assert not np.delete(changes, tip, axis=0).any()


def test_a_run_begins_where_another_has_ended(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    simulate(parse(BAR + HELD + WEIGHT + RUN), "first", progress=False)
    simulate(parse(BAR + HELD + WEIGHT + RUN.replace("0.04", "0.08").replace("20", "40")), "whole", progress=False)
    begun = '[start]\nkind = "result"\nfrom = "first"\n'
    simulate(parse(BAR + HELD + WEIGHT + begun + RUN), "second", progress=False)
    whole, second = (read_history(tmp_path / name / "history.csv") for name in ("whole", "second"))
    for name in ("kinetic", "bar", "gravity"):
        np.testing.assert_allclose(second[name], whole[name][20:], rtol=1e-9, atol=1e-12)
    # At a frame, in single precision.
    frame = parse(BAR + HELD + WEIGHT + begun + "time = 0.03\n" + RUN).build()
    k = int(np.argmin(np.abs(whole["t"] - 0.03)))
    assert frame.system.kinetic(frame.state.v) == pytest.approx(whole["kinetic"][k], rel=1e-5)


def test_a_run_goes_on_where_the_run_that_it_began_from_is_gone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    viscous = BAR.replace("density = 1000", "density = 1000, viscous = [{ ratio = 0.5, time = 0.02 }]")
    simulate(parse(viscous + HELD + WEIGHT + RUN), "first", progress=False)
    text = viscous + HELD + WEIGHT + '[start]\nkind = "result"\nfrom = "first"\n'
    text += RUN.replace("frames = 4", "frames = 4\ncheckpoint = 1e-9")
    simulate(parse(text), "whole", progress=False)
    record = symplex.runs.samples.SamplesOfRun.record

    def until(self, k, *arguments):
        if k > 4:
            raise KeyboardInterrupt
        record(self, k, *arguments)

    monkeypatch.setattr(symplex.runs.samples.SamplesOfRun, "record", until)
    with pytest.raises(KeyboardInterrupt):
        simulate(parse(text), "second", progress=False)
    monkeypatch.setattr(symplex.runs.samples.SamplesOfRun, "record", record)
    shutil.rmtree("first")
    simulate(parse(text), "second", progress=False, resume=True)
    whole, second = (tmp_path / name / "history.csv" for name in ("whole", "second"))
    assert second.read_bytes() == whole.read_bytes()
    Path("second/start.npz").write_bytes(b"nothing")
    Path("second/summary.json").unlink()
    with pytest.raises(OutputError, match=r"start\.npz cannot be read"):
        simulate(parse(text), "second", progress=False, resume=True)


def test_what_begins_or_ends_with_a_stage_acts_in_whole_stages():
    """Also where the sums of durations are rounded: 0.1 + 0.2 > 0.3, and eight times 0.1 is less than 0.8."""
    stage = '[[stage]]\nduration = {}\nframes = 1\nintegrator = {{ kind = "energy-momentum", dt = 1e-2 }}\n'
    load = '[[load]]\nname = "push"\nkind = "nodal"\nbody = "bar"\ngroup = "x_max"\nforce = [1, 0, 0]\n'

    def acting(durations, times):
        stages = parse(BAR + HELD + load + times + "".join(map(stage.format, durations))).build().stages
        return ["push" in stage.system.energies for stage in stages]

    assert acting([0.1, 0.2, 0.1], "from = 0.3\n") == [False, False, True]
    assert acting([0.1, 0.2, 0.1], "until = 0.3\n") == [True, True, False]
    assert acting([0.1] * 9, "from = 0.8\n") == 8 * [False] + [True]
    assert acting([0.1] * 9, "until = 0.8\n") == 8 * [True] + [False]


def test_a_viscoelastic_body_begins_with_its_overstress(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    viscous = BAR.replace("density = 1000", "density = 1000, viscous = [{ ratio = 0.5, time = 0.02 }]")
    simulate(parse(viscous + HELD + WEIGHT + RUN), "first", progress=False)
    begun = '[start]\nkind = "result"\nfrom = "first"\n'
    problem = parse(viscous + HELD + WEIGHT + begun + RUN).build()
    last = {name: values[-1] for name, values in read_history(tmp_path / "first" / "history.csv").items()}
    assert last["stored_viscoelastic_bar"] > 1e-3 * last["bar"]
    energies = problem.system.energies_of(problem.state)
    for name in ("kinetic", "bar", "stored_viscoelastic_bar", "gravity"):
        assert energies[name] == pytest.approx(last[name], rel=1e-12)
    assert "[start]: frames have no internal variables of viscoelastic bodies; leave time out" in mistakes(
        viscous + HELD + WEIGHT + begun + "time = 0.03\n" + RUN
    )
    elastic = parse(BAR + HELD + WEIGHT + begun + RUN).build()
    assert elastic.system.energies_of(elastic.state)["bar"] == pytest.approx(last["bar"], rel=1e-12)


PUSHED = '[[velocity]]\nbody = "bar"\nvelocity = [0, 0, 1]\n'
FROM = '[start]\nkind = "result"\nfrom = "first"\n'
SETTLED = stage(0.02, "static").replace("kind", "dt = 0.01, kind") + stage(0.02, "newmark")


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        (
            BAR + "velocity = [1, 0, 0]\n" + HELD + FROM + RUN,
            "[[body]] #1 'bar': its velocity has no effect, as [start]",
        ),
        (
            BAR + "angular_velocity = [1, 0, 0]\n" + FROM + RUN,
            "#1 'bar': its angular_velocity has no effect, as [start]",
        ),
        (
            BAR + HELD + PUSHED + FROM + RUN,
            '[[velocity]] #1: it has no effect, as [start] kind = "result" takes those of an',
        ),
        (
            BAR + "velocity = [1, 0, 0]\n" + HELD + SETTLED,
            'its velocity has no effect, as the run begins with kind = "st',
        ),
        (
            BAR + HELD + PUSHED + SETTLED,
            '[[velocity]] #1: it has no effect, as the run begins with kind = "static", which',
        ),
        (
            BAR + HELD + STATIC + 'perturbation = { amplitude = 1e-4, of = "velocities" }\n' + SETTLED,
            "[start]: the perturbation of velocities has no effect, as the run begins",
        ),
        (
            BAR + '[start]\nkind = "relative-equilibrium"\nangular_velocity = [0, 0, 1]\n' + SETTLED,
            "[start]: the rotation has no effect, as the run begins",
        ),
        (
            BAR + HELD + PUSHED.replace("[0, 0, 1]\n", '[0, 0, 1]\ngroup = "x_min"\n') + RUN,
            "[[velocity]] #1: has no effect, as supports hold all 4 nodes that it names in its direction",
        ),
        (
            BAR + HELD + 'components = "yz"\n' + PUSHED.replace("[0, 0, 1]\n", '[0, 0, 1]\ngroup = "x_min"\n') + RUN,
            "[[velocity]] #1: has no effect",
        ),
    ],
)
def test_velocities_without_effect_are_refused(text, reported):
    assert reported in mistakes(text)


def test_velocities_of_some_free_coordinates_are_not_refused():
    some = PUSHED.replace("[0, 0, 1]\n", '[1, 0, 1]\ngroup = "x_min"\n')
    for supports in (HELD + 'components = "yz"\n', HELD + "from = 0.02\n"):
        assert parse(BAR + supports + some + RUN).build().state.v.any()
    assert parse(BAR + HELD + PUSHED + stage(0.02, "newmark") + SETTLED).build().state.v.any()


@pytest.mark.parametrize("status", ["failed", "interrupted", None])
def test_only_what_has_ended_is_begun_from(status, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    simulate(parse(BAR + HELD + WEIGHT + RUN), "first", progress=False)
    file = Path("first/summary.json")
    if status is None:
        file.unlink()
    else:
        file.write_text(json.dumps(json.loads(file.read_text()) | {"status": status}))
    how = f"{status} at t = 0.04 s" if status else "killed before its end"
    assert (
        f"[start]: the run in 'first' must be finished, got one that is {how}. Resume it, or give the time of"
        in mistakes(BAR + HELD + WEIGHT + FROM + RUN)
    )
    assert parse(BAR + HELD + WEIGHT + FROM + "time = 0.03\n" + RUN).build().state.v.any()


def test_what_is_no_start_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "[start]: kind is missing; known are: static, relative-equilibrium, result." in mistakes(
        BAR + "[start]\n" + RUN
    )
    assert "[start]: there is no static equilibrium" in mistakes(BAR + WEIGHT + STATIC + RUN)
    turning = '[start]\nkind = "relative-equilibrium"\n'
    assert "angular_velocity" in mistakes(BAR + turning + RUN)
    assert "angular_velocity must be nonzero, got [0.0, 0.0, 0.0] rad/s" in mistakes(
        BAR + turning + "angular_velocity = [0, 0, 0]\n" + RUN
    )
    spin = "angular_velocity = [0, 0, 1]\n"
    assert "'gravity' is not internal" in mistakes(BAR + WEIGHT + turning + spin + RUN)
    assert "leave the supports out" in mistakes(BAR + HELD + turning + spin + RUN)
    assert "leave out the angular_velocity of the body" in mistakes(BAR + spin + turning + spin + RUN)
    two = BAR + BAR.replace('"bar"', '"other"')
    even = two.replace('split = "6"', 'split = "hexahedra"')
    assert "'other': the rotation is that of [start]" in mistakes(even + spin + turning + spin + RUN)
    assert "'bar': a supported body has no" in mistakes(two + HELD + turning + spin + RUN)
    members = "mesh = { nodes = [[0, 0, 0], [1, 0, 0], [0, 5, 0], [1, 5, 0]], members = [[0, 1], [2, 3]] }\n"
    pieces = '[[truss]]\nname = "pieces"\nstiffness = 1.0\nmember_mass = 1.0\n' + members
    assert "but there are 2 parts that nothing joins" in mistakes(pieces + turning + spin + RUN)
    assert "which rotation stretches; rigid bodies begin" in mistakes(NUT + turning + spin + RUN)
    result = '[start]\nkind = "result"\nfrom = "there"\n'
    assert "[start]: from is 'there', where there is no motion.vtkhdf" in mistakes(BAR + result + RUN)
    simulate(parse(BAR + HELD + RUN), "there", progress=False)
    assert "is of another mesh" in mistakes(two + result + RUN)
    assert "points, and the bodies here have 16 of other places" in mistakes(
        BAR.replace("density", "density").replace("[1.0, 0.2, 0.2]", "[1.1, 0.2, 0.2]") + result + RUN
    )
    assert "has no frame at 0.031 s; the nearest is at 0.03 s" in mistakes(BAR + result + "time = 0.031\n" + RUN)
    wrong = "perturbation = { amplitude = 1e-3, body = 'rod' }\n"
    assert "there is no body 'rod'" in mistakes(BAR + HELD + STATIC + wrong + RUN)
    assert "names a group, so it needs the body" in mistakes(
        BAR + HELD + STATIC + "perturbation = { amplitude = 1e-3, group = 'x_max' }\n" + RUN
    )


# -- parts of a run -----------------------------------------------------------------------------------------------


def test_stages_are_cut_where_something_begins_or_ends():
    problem = parse(BENT + STAGES).build()
    assert isinstance(problem.integrator, Stages)
    ends = [stage.end for stage in problem.stages]
    np.testing.assert_allclose(ends, [0.02, 0.03, 0.04, 0.06, 0.07])
    assert [type(stage.integrator) for stage in problem.stages] == [
        Static, EnergyMomentum, EnergyMomentum, EnergyMomentum, Newmark
    ]  # fmt: skip
    assert [bool(stage.system.moving) for stage in problem.stages] == [True, True, False, False, False]
    assert ["push" in stage.system.energies for stage in problem.stages] == [False, False, False, True, True]
    times = problem.scenario.times
    assert len(times) == 10 + 20 + 9 + 1
    assert np.all(np.diff(times) > 0.0)
    for end in ends:
        assert np.abs(times - end).min() < 1e-15
    np.testing.assert_array_equal(np.flatnonzero(problem.scenario.is_frame), [0, 5, 10, 15, 20, 25, 30, 33, 36, 39])


def test_odd_times_are_samples_as_well():
    """Samples are spread over the parts, as many as there were to be."""
    text = BAR + HELD + push(**{"from": 0.01234, "until": 0.0301}) + RUN
    times = parse(text).times
    assert len(times) == 21
    assert {0.01234, 0.0301} < set(times)
    assert parse(text).times[-1] == 0.04
    # Where samples are closer than elsewhere, so are steps that are as long as the time between samples.
    steps = [stage.integrator.dt for stage in parse(text.replace("dt = 1e-3", "dt = 2e-3")).build().stages]
    assert max(steps) <= 2e-3
    assert min(steps) > 1e-3


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stages") / "whole"
    return simulate(parse(BENT + STAGES), folder, progress=False), folder


def test_one_balance_over_all_parts(whole):
    summary, folder = whole
    history = read_history(folder / "history.csv")
    assert summary["status"] == "finished"
    assert summary["energy_kept"] == "balance"
    scale = np.abs(history["work_pull"]).max()
    implicit = history["t"] <= 0.06 + 1e-12
    assert np.ptp(history["balance"][implicit]) < 1e-9 * scale
    assert np.ptp(history["balance"]) < 1e-2 * scale  # the explicit part
    assert not history["push"][history["t"] <= 0.04].any()
    assert history["push"][history["t"] > 0.041].all()
    switched = np.abs(np.diff(history["work_switches"])) > 0.0
    np.testing.assert_allclose(history["t"][1:][switched][-1], 0.042)
    assert [stage["name"] for stage in summary["stages"]] == ["bend", "hold", "hold", "hold", "swing"]
    assert summary["stages"][1]["dofs"] < summary["stages"][2]["dofs"]
    assert summary["stages"][1]["balance_change"] < 1e-9 * scale
    assert summary["kind"] == "static, energy-momentum, newmark"
    assert json.loads((folder / "summary.json").read_text("utf-8"))["stages"] == summary["stages"]


@pytest.mark.parametrize("killed", [3, 10, 11, 17, 30, 34])
def test_a_run_goes_on_bit_identically_from_any_part(killed, whole, tmp_path, monkeypatch):
    record = symplex.runs.samples.SamplesOfRun.record

    def until(self, k, *arguments):
        if k > killed:
            raise KeyboardInterrupt
        record(self, k, *arguments)

    text = BENT + STAGES + "[run]\ncheckpoint = 1e-9\n"
    monkeypatch.setattr(symplex.runs.samples.SamplesOfRun, "record", until)
    with pytest.raises(KeyboardInterrupt):
        simulate(parse(text), tmp_path / "run", progress=False)
    monkeypatch.undo()
    assert len(read_history(tmp_path / "run" / "history.csv")["t"]) == killed + 1
    simulate(parse(text), tmp_path / "run", progress=False, resume=True)
    assert (tmp_path / "run" / "history.csv").read_bytes() == (whole[1] / "history.csv").read_bytes()


def test_a_run_does_not_go_on_with_other_stages(tmp_path, monkeypatch):
    record = symplex.runs.samples.SamplesOfRun.record

    def until(self, k, *arguments):
        if k > 3:
            raise KeyboardInterrupt
        record(self, k, *arguments)

    monkeypatch.setattr(symplex.runs.samples.SamplesOfRun, "record", until)
    with pytest.raises(KeyboardInterrupt):
        simulate(parse(BENT + STAGES), tmp_path / "run", progress=False)
    monkeypatch.undo()
    with pytest.raises(OutputError, match="has changed since"):
        simulate(parse(BENT + STAGES.replace("0.01\n", "0.02\n")), tmp_path / "run", progress=False, resume=True)


def test_check_tells_of_each_stage(tmp_path, capsys):
    (tmp_path / "bar.toml").write_text(BENT + STAGES, "utf-8")
    assert main(["check", str(tmp_path / "bar.toml")]) == 0
    out = capsys.readouterr().out
    assert "stage 'bend'" in out
    assert "0 s to 20 ms, Static, 24 degrees of freedom, step 2 ms, 10 steps" in out
    assert "stage 'swing'" in out
    assert "step by the shape at its start, stable step of explicit Newmark" in out
    assert "for the first of 5 parts" in out


def test_an_automatic_step_is_that_of_the_shape_at_the_start_of_its_stage():
    """A bar that has been pressed to half its length needs smaller steps."""
    press = pull(history='{ kind = "smooth-ramp", duration = 0.02 }', until=0.02)
    text = BAR + HELD + press.replace("[0, 0, 0.05]", "[-0.5, 0, 0]")
    text += stage(0.02, "static").replace('"static"', '"static", dt = 2e-3')
    text += stage(0.05, "newmark").replace("integrator", "frames = 1\nsamples = 1\nintegrator")
    problem = parse(text).build()
    motion = problem.integrator.start(problem.system, problem.state)
    pressed, second = motion.advance(0.02), problem.stages[1].system
    motion.advance(0.07)
    dt = float(motion.checkpoint()["motion.dt"])
    auto = [0.8 * stable_step(second, q) for q in (problem.state.q, pressed.q)]
    assert auto[1] < 0.9 * auto[0]
    assert dt == pytest.approx(dividing(auto[1], 0.05), rel=1e-6)
    assert dt < 0.9 * dividing(auto[0], 0.05)


def test_stages_are_marked_in_the_plot(whole, tmp_path, monkeypatch):
    pages = []
    monkeypatch.setattr("symplex.runs.plots.draw_page", lambda panels, *others: pages.append(panels))
    draw_plot([RunFolder(whole[1])], tmp_path / "history.png")
    (panels,) = pages
    assert panels
    for panel in panels:  # on an axis in ms
        assert panel.marks == pytest.approx({"bend": 0.0, "hold": 20.0, "swing": 60.0})


def test_overstress_goes_on_through_stages(tmp_path):
    """A bar that has been stretched relaxes in the next stage: what is left is that of one integrator alone."""
    viscous = BAR.replace("density = 1000", "density = 1000, viscous = [{ ratio = 0.5, time = 0.02 }]")
    press = pull(history='{ kind = "smooth-ramp", duration = 0.02 }').replace("[0, 0, 0.05]", "[0.05, 0, 0]")
    step = 'integrator = { kind = "energy-momentum", dt = 1e-3 }\n'
    one = f"[[stage]]\nduration = 0.04\nsamples = 20\nframes = 4\n{step}"
    half = f"[[stage]]\nduration = 0.02\nsamples = 10\nframes = 2\n{step}"
    output = "[output]\npictures = false\n"
    for name, stages in (("one", one), ("two", 2 * half)):
        simulate(parse(viscous + HELD + press + stages + output), tmp_path / name, progress=False)
    whole, parts = (read_history(tmp_path / name / "history.csv") for name in ("one", "two"))
    stored = whole["stored_viscoelastic_bar"]
    assert stored[-1] < 0.5 * stored.max()
    for column in ("stored_viscoelastic_bar", "work_viscoelastic_bar", "bar"):
        np.testing.assert_allclose(parts[column], whole[column], rtol=1e-7, atol=1e-9 * np.abs(whole[column]).max())
    assert np.ptp(parts["balance"]) < 1e-9 * np.abs(parts["work_pull"]).max()


def test_the_summary_tells_of_each_stage(whole, capsys):
    assert main(["info", str(whole[1])]) == 0
    out = capsys.readouterr().out
    assert re.search(r"stage 'hold' +20 ms to 30 ms, EnergyMomentum: total energy", out)


def test_one_stage_is_the_run_as_it_always_was(tmp_path):
    one = BAR + HELD + WEIGHT
    stage = (
        '[[stage]]\nduration = 0.04\nframes = 4\nsamples = 20\nintegrator = { kind = "energy-momentum", dt = 1e-3 }\n'
    )
    simulate(parse(one + RUN), tmp_path / "run", progress=False)
    simulate(parse(one + stage + "[output]\npictures = false\n"), tmp_path / "stage", progress=False)
    assert (tmp_path / "run" / "history.csv").read_bytes() == (tmp_path / "stage" / "history.csv").read_bytes()


def test_histories_count_from_when_they_begin():
    """A ramp that begins later is the same ramp."""
    ramp = '{ kind = "ramp", duration = 0.01 }'
    problem = parse(BAR + HELD + push(**{"from": 0.02, "history": ramp}) + RUN).build()
    load = problem.stages[1].system.loads["push"]
    q = problem.state.q
    tip = problem.mesh.nodes_of("bar.x_max")[0]
    for t, factor in ((0.02, 0.0), (0.025, 0.5), (0.03, 1.0), (0.04, 1.0)):
        assert load(t, q, q)[tip, 2] == pytest.approx(factor, abs=1e-9)
    moved = parse(BAR + HELD + pull(**{"from": 0.02, "history": ramp}) + RUN).build().stages[1].system.moving
    assert moved.displacements(0.025)[tip, 2] == pytest.approx(0.025)
    table = "{ kind = 'table', times = [0, 0.01], factors = [0, 2] }"
    load = parse(BAR + HELD + push(**{"from": 0.02, "history": table}) + RUN).build().stages[1].system.loads["push"]
    assert load(0.025, q, q)[tip, 2] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            BAR + push(**{"from": 0.03, "until": 0.01}) + RUN,
            "[[load]] #1 'push': until must be after from = 0.03 s, got 0.01 s.",
        ),
        (BAR + push(**{"from": 0.05}) + RUN, "[[load]] #1 'push': from is 0.05 s, when the run of 0.04 s is over."),
        (BAR + push(until=0) + RUN, "[[load]] #1 'push': with until = 0 it acts in the equilibrium of the start alone"),
        (BAR + push(until=-1) + RUN, "until must be at least 0, got -1 s"),
        (BAR + pull(until=0.01) + RUN, "needs a history, by which displacement is multiplied"),
        (BAR + STAGES + RUN.partition("[output]")[0], "[integrator]: each [[stage]] has its own"),
        (BAR + STAGES + "[run]\nduration = 1\n", "[run]: duration is given by each [[stage]]; leave it out here."),
        (BAR + "[[stage]]\nduration = 1\n", "[[stage]] #1: integrator is missing."),
        (
            BAR + stage(1, "verlet"),
            "[[stage]] #1: integrator: kind must be one of 'energy-momentum', 'midpoint'",
        ),
        (BAR + stage(-1, "midpoint"), "integrator: dt is missing (s)."),
        (BAR + stage(-1, "newmark"), "duration must be positive, got -1 s."),
        (
            BAR + pull(history=RAMP) + STAGES.replace('"newmark"', '"force-stepping", grid = 1e-3'),
            "it moves, which force-stepping cannot follow",
        ),
        (
            BAR + push(**{"from": 0.01}) + RUN.replace("4\nsamples = 20", "1\nsamples = 1"),
            "[run]: has 1 samples, but falls into 2 parts",
        ),
        (BAR + push(history=SINE).replace('"push"', '"rest"') + RUN, "the name 'rest' is reserved"),
        (BAR + DASHPOT.replace('"damper"', '"switches"') + RUN, "the name 'switches' is reserved"),
        (
            BAR + STATIC + ROD + RUN.replace("energy-momentum", "rattle"),
            "[[rod]] #1 'rod': the equilibrium of [start] knows of no rods; begin without [start], or from the result",
        ),
        (BAR + "[stage]\nduration = 1\n" + RUN, "stage must be written [[stage]]"),
    ],
)
def test_what_is_no_part_of_a_run_is_refused(text, expected):
    assert expected in mistakes(text)
