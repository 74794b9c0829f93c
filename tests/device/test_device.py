"""Explicit Newmark on a device, in numba's simulator: what processors compute, but for round-off."""

import tomllib

import numpy as np
import pytest

import symplex as sx
from symplex.commands.cli import main
from symplex.device import OnDevice
from symplex.errors import InvalidSystem, InvertedElement, MissingPackage
from symplex.scenario.validation import read_tables

pytest.importorskip("numba_cuda")

NEO_HOOKEAN = sx.NeoHookean(6e5, 4e5, 1000.0)
MATERIALS = {  # made when they are requested: formulas take time
    "Mooney-Rivlin": lambda: sx.MooneyRivlin(1e5, 1e5, 1e6, 1000.0),
    "Saint Venant-Kirchhoff": lambda: sx.SaintVenantKirchhoff(6e5, 4e5, 1000.0),
    "linear": lambda: sx.LinearElastic(6e5, 4e5, 1000.0),
    "anisotropic": lambda: sx.AnisotropicElastic(np.diag([3e6, 2e6, 1e6, 4e5, 5e5, 6e5]), 1000.0),
    "formula": lambda: sx.material("mu/2*(I1bar - 3) + K/2*(J - 1)**2", mu=4e5, K=1e6, density=1000.0),
    "fibres": lambda: sx.material(
        "mu/2*(I1 - 3) - mu*log(J) + lam/2*log(J)**2 + k/2*max(I4 - 1, 0)**2 + k*max(I6 - 1, 0)**2",
        mu=4e5,
        lam=6e5,
        k=3e5,
        density=1000.0,
        fibres=[[1, 1, 0], [0, 1, 1]],
    ),
}
CUBE = sx.box((1.0, 1.0, 1.0), (1, 1, 1), split="hexahedra")
OBSTACLES = {
    "plane": sx.HalfSpace((0.0, 0.0, 0.01), (0.0, 0.1, 1.0)),
    "sphere": sx.Sphere((0.5, 0.4, -0.5), 0.82),
    "cylinder": sx.contact.Cylinder((0.0, 0.4, -0.3), (1.0, 0.0, 0.0), 0.51),
    "box": sx.contact.Box((0.5, 0.4, -0.2), (1.2, 1.0, 0.42)),
    "container": sx.contact.Box((0.5, 0.4, 0.3), (1.04, 0.82, 0.61), inside=True),
}
DROP = """
title = "A block falls on a floor"
[[body]]
name = "block"
mesh = { box = [0.1, 0.1, 0.1], cells = [1, 1, 1], split = "6" }
material = { law = "neo-hookean", young = 1e6, poisson = 0.3, density = 1000.0 }
translate = [0.0, 0.0, 0.001]
velocity = [0.0, 0.0, -1.0]
[[obstacle]]
name = "floor"
kind = "half-space"
point = [0.0, 0.0, 0.0]
normal = [0.0, 0.0, 1.0]
stiffness = 1e5
[gravity]
acceleration = [0.0, 0.0, -9.81]
[integrator]
kind = "newmark"
[run]
duration = 0.004
frames = 2
samples = 4
[output]
pictures = false
"""


def block(material=NEO_HOOKEAN, obstacle=OBSTACLES["plane"], **more):
    """A stretched block of six tetrahedra, held at a corner in two directions, that is thrown at an obstacle."""
    mesh = sx.box((1.0, 0.8, 0.6), (1, 1, 1), split="6")
    tetrahedra, n = mesh.cells["tetra"], len(mesh.points)
    mass, fixed = sx.lumped_mass(mesh.points, tetrahedra, material.density, n), np.zeros((n, 3), bool)
    fixed[0, :2] = True
    energies = {
        "solid": sx.Solid(mesh.points, tetrahedra, material),
        "gravity": sx.Gravity(mass, (0.0, 0.0, -9.81)),
        "obstacle": sx.RigidContact(np.arange(n), obstacle, 1e6),
    }
    system = sx.System(mass, energies | more, fixed=fixed)
    v = np.cross([0.3, -0.2, 0.9], mesh.points) - np.array([0.0, 0.0, 1.0])
    return system, system.state(mesh.points * [1.05, 0.98, 1.02], v)


def assert_close(state, expected, tolerance):
    for name in ("q", "v", "a"):
        found, requested = getattr(state, name), getattr(expected, name)
        assert np.abs(found - requested).max() <= tolerance * np.abs(requested).max(), name


def test_steps_are_those_of_processors_in_the_same_bits_each_time():
    system, state = block()
    here, there = sx.Newmark().start(system, state), OnDevice(sx.Newmark()).start(system, state)
    dt = here.dt
    assert there.dt == dt
    assert_close(there.advance(dt), here.advance(dt), 4e-15)
    end, expected = there.advance(24 * dt), here.advance(24 * dt)
    assert_close(end, expected, 1e-13)
    assert here.energies(expected)["obstacle"] > 0.1  # it touches
    np.testing.assert_array_equal(end.q[0, :2], state.q[0, :2])
    assert there.energies(end) == pytest.approx(here.energies(expected), rel=1e-11)
    assert there.statistics() == here.statistics()
    # In other portions, and from a checkpoint.
    again = OnDevice(sx.Newmark()).start(system, state)
    assert not again.approach(24 * dt, 0.0)
    again.advance(10 * dt)
    resumed = OnDevice(sx.Newmark()).resume(system, again.checkpoint()).advance(24 * dt)
    for name in ("q", "v", "a"):
        np.testing.assert_array_equal(getattr(resumed, name), getattr(end, name))


@pytest.mark.slow
def test_a_hundred_steps_are_those_of_processors_and_either_goes_on_from_the_other():
    system, state = block()
    here, there = sx.Newmark().start(system, state), OnDevice(sx.Newmark()).start(system, state)
    dt = here.dt
    assert_close(there.advance(100 * dt), here.advance(100 * dt), 1e-12)
    forth = OnDevice(sx.Newmark()).resume(system, here.checkpoint())
    back = sx.Newmark().resume(system, there.checkpoint())
    assert_close(forth.advance(110 * dt), here.advance(110 * dt), 1e-12)
    assert_close(back.advance(110 * dt), here.advance(110 * dt), 1e-12)
    faster = 1.5 * here.advance(110 * dt).v
    forth.change_velocities(faster)
    here.change_velocities(faster)
    assert_close(forth.advance(115 * dt), here.advance(115 * dt), 1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("material", MATERIALS)
def test_all_laws_that_are_compiled_have_the_forces_of_processors(material):
    system, state = block(MATERIALS[material]())
    here, there = sx.Newmark().start(system, state), OnDevice(sx.Newmark()).start(system, state)
    assert_close(there.advance(here.dt), here.advance(here.dt), 1e-14)
    assert_close(there.advance(30 * here.dt), here.advance(30 * here.dt), 1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("obstacle", OBSTACLES)
def test_obstacles_bars_and_two_bodies_act_as_on_processors(obstacle):
    mesh = sx.box((1.0, 0.8, 0.6), (1, 1, 1), split="6")
    other = sx.Solid(mesh.points, mesh.cells["tetra"][:3], MATERIALS["linear"]())
    bars = sx.Bars([[0, 7], [1, 6]], sx.measures.EngineeringStrain([1e4, 2e4], 1.2))
    moon = sx.RigidContact([1, 2, 3], sx.Sphere((0.0, 0.0, 0.0), 1.1), 1e4, carrier=7)
    system, state = block(NEO_HOOKEAN, OBSTACLES[obstacle], other=other, bars=bars, moon=moon)
    here, there = sx.Newmark().start(system, state), OnDevice(sx.Newmark()).start(system, state)
    touched = 0.0
    for n in range(1, 31):
        expected = here.advance(n * here.dt)
        touched = max(touched, here.energies(expected)["obstacle"])
    assert touched > 1.0
    assert_close(there.advance(30 * here.dt), expected, 1e-12)


def test_an_element_that_inverts_is_told_as_on_processors():
    system, state = block()
    state = system.state(state.q, -300.0 * state.q)  # all towards one corner, too fast to turn back
    reported = []
    for method in (sx.Newmark(1e-3), OnDevice(sx.Newmark(1e-3))):
        motion = method.start(system, state)
        with pytest.raises(InvertedElement) as error:
            motion.advance(0.02)
        reported.append((str(error.value), error.value.element, motion.n))
        with pytest.raises(sx.SymplexError, match="resume from an earlier checkpoint"):
            motion.checkpoint()
    assert reported[0] == reported[1]


def refused(energies, loads=None):
    """The sentence by which unit masses with some energies are refused."""
    nodes = max(int(energy.nodes.max()) for energy in energies.values()) + 1
    system = sx.System(np.ones(nodes), energies, loads=loads)
    with pytest.raises(InvalidSystem) as error:
        OnDevice(sx.Newmark(1e-5)).start(system, system.state(CUBE.points[:nodes]))
    return str(error.value)


def test_what_a_device_does_not_compute_is_refused_by_one_sentence():
    brick = sx.Solid(CUBE.points, CUBE.cells["hexahedron"], NEO_HOOKEAN)
    assert refused({"brick": brick}) == (
        "'brick' is of hexahedron elements, which a device does not compute: it does so for linear tetrahedra, "
        "springs, bars, rigid obstacles that push back by a penalty, and constant forces; run it on processors."
    )
    bars = sx.Bars([[0, 1]], sx.measures.EngineeringStrain(1e4, 1.0))
    push = sx.actions.NodalLoad([1], [1.0, 0.0, 0.0], lambda t: t)
    reported = refused({"bars": bars}, {"push": push})
    assert reported.startswith(
        "Newmark on a device needs a potential for every force; load 'push' acts from outside; take"
    )
    rod = sx.Penalty(sx.measures.RigidBars([[0, 1]], 1.0), 1e3)
    assert refused({"rod": rod}).startswith("'rod' is a Penalty, which a device does not compute")
    with pytest.raises(InvalidSystem, match=r"^Newmark cannot run on a device: it is explicit Newmark \(beta = 0\)"):
        OnDevice(sx.Newmark.trapezoidal(1e-3))
    with pytest.raises(ValueError, match="all its steps are taken on the device"):
        sx.Composition(OnDevice(sx.Newmark(1e-3)))
    system, state = block()
    with pytest.raises(InvalidSystem, match="all its steps are taken on the device"):
        sx.Langevin(OnDevice(sx.Newmark(1e-3)), 1.0, rate=1.0).start(system, state)


def test_without_a_device_or_its_package_one_sentence_says_so(monkeypatch, tmp_path, capsys):
    path = tmp_path / "drop.toml"
    path.write_text(DROP, "utf-8")
    words = ["run", str(path), "--device", "cuda", "--output", str(tmp_path / "out")]
    monkeypatch.setattr("symplex.device.finding.is_simulated", lambda: False)
    monkeypatch.setattr("numba.cuda.is_available", lambda: False)
    assert main(words) == 2
    assert capsys.readouterr().err.endswith(
        "drop.toml: no CUDA device is found on this machine, or its driver is not installed; leave "
        'device = "cuda" out to run on processors.\n'
    )
    monkeypatch.setattr("symplex.device.finding.find_spec", lambda name: None)
    assert main(words) == 2
    assert "a CUDA device needs numba-cuda; install symplex[cuda], or leave" in capsys.readouterr().err
    system, state = block()
    with pytest.raises(MissingPackage, match=r"install symplex\[cuda\]"):
        OnDevice(sx.Newmark()).start(system, state)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("integrator", "more", "sentence"),
    [
        ({"beta": 0.25, "dt": 1e-3}, {}, 'device must be "cpu" with beta above 0 or an order above 2'),
        ({"order": 4}, {}, 'device must be "cpu" with beta above 0 or an order above 2'),
        ({"device": "gpu"}, {}, "got 'gpu'. Did you mean 'cpu'?"),
        ({}, {"thermostat": {"temperature": 1.0, "rate": 1.0}}, "all its steps are taken on the device; take kind ="),
        ({}, {"damping": [{"alpha": 1.0}]}, "damping has no potential, which newmark on a device needs; take another"),
    ],
)
def test_scenarios_are_refused_by_one_sentence(integrator, more, sentence):
    data = tomllib.loads(DROP) | more
    data["integrator"] |= {"device": "cuda"} | integrator
    with pytest.raises(sx.SymplexError) as error:
        read_tables(data, "drop.toml")
    assert sentence in str(error.value)
    assert str(error.value).count("\n") == 0


@pytest.mark.slow
def test_a_run_on_a_device_leaves_what_processors_do_and_is_resumed(tmp_path):
    path = tmp_path / "drop.toml"
    path.write_text(DROP, "utf-8")
    here = sx.simulate(path, tmp_path / "here", progress=False)
    scenario = sx.Scenario.read(path).with_values({"integrator.device": "cuda"})
    there = sx.simulate(scenario, tmp_path / "there", progress=False)
    assert there["device"] == "numba's CUDA simulator"
    assert "device" not in here
    first, second = (sx.read_history(tmp_path / name / "history.csv") for name in ("here", "there"))
    assert first.keys() == second.keys()
    for name in first:
        np.testing.assert_allclose(second[name], first[name], rtol=1e-10, atol=1e-10, err_msg=name)
    longer = scenario.with_values({"run.until": 0.006})
    sx.simulate(longer, tmp_path / "whole", progress=False)
    resumed = sx.simulate(longer, tmp_path / "there", resume=True, progress=False)
    assert resumed["t_end"] == 0.006
    assert (tmp_path / "there" / "history.csv").read_bytes() == (tmp_path / "whole" / "history.csv").read_bytes()
