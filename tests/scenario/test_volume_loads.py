"""Loads by volume: weights of bodies and of groups of elements, and centrifugal forces."""

from __future__ import annotations

import numpy as np
import pytest

import symplex as sx
from symplex.errors import ScenarioError
from symplex.scenario.scenario import Problem

E, RHO, L = 200e9, 7800.0, 2.0


def bar(load: str, *, mass: str = "lumped", quadratic: bool = False, extra: str = "") -> Problem:
    """A bar along x of two halves, with ν = 0, held at x = 0 so that it may become thinner."""
    text = f"""
    [[body]]
    name = "bar"
    mesh.box = [{L}, 0.1, 0.1]
    mesh.cells = [8, 1, 1]
    mesh.split = "hexahedra"
    mesh.regions.outer = [[1, 0, 0], [2, 1, 1]]
    material = {{ law = "linear-elastic", young = {E}, poisson = 0.0, density = {RHO} }}
    formulation = "full"
    mass = "{mass}"
    quadratic = {str(quadratic).lower()}
    [[support]]
    body = "bar"
    group = "x_min"
    components = "x"
    [[support]]
    body = "bar"
    components = "yz"
    [[load]]
    name = "load"
    body = "bar"
    {load}
    {extra}
    [start]
    kind = "static"
    [integrator]
    kind = "energy-momentum"
    dt = 1e-3
    [run]
    duration = 1e-3
    """
    return sx.Scenario.parse("\n".join(line.strip() for line in text.splitlines())).build()


def tip(problem) -> float:
    end = problem.mesh.nodes_of("bar.x_max")
    return float((problem.state.q - problem.mesh.points)[end, 0].mean())


@pytest.mark.parametrize("mass", ["lumped", "consistent"])
@pytest.mark.parametrize("quadratic", [False, True])
def test_a_rotating_bar_is_stretched_by_its_centrifugal_forces(mass, quadratic):
    """u(L) = ρ ω² L³/3E for forces at the undeformed places: exact at nodes, whatever the mass of the motion is."""
    problem = bar(
        'kind = "centrifugal"\nangular_velocity = [0, 0, 100]\npoint = [0, 0.05, 0.05]\nfollows = false',
        mass=mass,
        quadratic=quadratic,
    )
    exact = RHO * 100.0**2 * L**3 / (3 * E)
    assert tip(problem) == pytest.approx(exact, rel=1e-8)


def test_forces_that_follow_soften_what_spins():
    """U'' + k² (x + u) = 0 with k² = ρω²/E, u(0) = 0, u'(L) = 0: u(L) = tan(kL)/k − L."""
    k = 0.5 / L
    omega = k * np.sqrt(E / RHO)
    problem = bar(
        f'kind = "centrifugal"\nangular_velocity = [0, 0, {omega}]\npoint = [0, 0.05, 0.05]', mass="consistent"
    )
    assert tip(problem) == pytest.approx(np.tan(k * L) / k - L, rel=1e-3)
    dead = bar(
        f'kind = "centrifugal"\nangular_velocity = [0, 0, {omega}]\npoint = [0, 0.05, 0.05]\nfollows = false',
        mass="consistent",
    )
    assert tip(problem) > 1.05 * tip(dead)


@pytest.mark.parametrize("mass", ["lumped", "consistent"])
def test_the_weight_of_a_group_pulls_at_what_is_before_it(mass):
    """The outer half, of length L/2: u(L) = ρ g (L/2 · L/2 + (L/2)²/2)/E."""
    problem = bar('kind = "gravity"\ngroup = "outer"\nacceleration = [9.81, 0, 0]', mass=mass)
    assert tip(problem) == pytest.approx(RHO * 9.81 * 1.5 * (L / 2) ** 2 / E, rel=1e-8)
    assert "load" in problem.system.energies


def test_weights_that_change_with_time_are_loads():
    history = 'history = { kind = "ramp", duration = 1 }'
    problem = bar(f'kind = "gravity"\nacceleration = [9.81, 0, 0]\n{history}')
    total = problem.system.loads["load"](0.5, problem.state.q, problem.state.v).sum(axis=0)
    assert total == pytest.approx([0.5 * 9.81 * RHO * 0.01 * L, 0.0, 0.0], rel=1e-12)


def test_gravity_on_consistent_masses_lets_all_nodes_fall_alike():
    """Of quadratic elements lumped masses are others than row sums of consistent ones."""
    text = """
    [[body]]
    name = "block"
    mesh = { box = [1, 1, 1], cells = [1, 1, 1], split = "hexahedra" }
    quadratic = true
    material = { young = 1e9, poisson = 0.3, density = 1000 }
    mass = "consistent"
    [gravity]
    acceleration = [0, 0, -9.81]
    [integrator]
    kind = "energy-momentum"
    dt = 1e-3
    [run]
    duration = 1e-3
    """
    problem = sx.Scenario.parse(text).build()
    assert np.allclose(problem.state.a, [0.0, 0.0, -9.81], rtol=0, atol=1e-7)


COLUMN = """
[[body]]
name = "column"
mesh = {{ box = [0.2, 0.2, 1], cells = [1, 1, 5], split = "hexahedra" }}
quadratic = true
material = {{ law = "linear-elastic", young = 2e9, poisson = 0.0, density = 1000 }}
[[support]]
body = "column"
group = "z_max"
{}
[run]
duration = 1.0
frames = 1
"""
STATIC = '[integrator]\nkind = "static"\ndt = 1.0\n'
MOTION = '[start]\nkind = "static"\n[integrator]\nkind = "newmark"\ndt = "auto"\n'
GRAVITY = "[gravity]\nacceleration = [0, 0, -10]\n"
WEIGHT = '[[load]]\nname = "weight"\nkind = "gravity"\nbody = "column"\nacceleration = [0, 0, -10]\n'
FRAME = "[rotating_frame]\nangular_velocity = [3, 0, 0]\npoint = [0.1, 0.1, 1]\n"


@pytest.mark.parametrize("force", [GRAVITY, WEIGHT, FRAME], ids=["gravity", "load", "frame"])
def test_runs_that_are_static_take_consistent_weights(force):
    """The free end has no stress, although masses are lumped; in a motion it has, as forces are those of inertia."""

    def left(method):
        problem = sx.Scenario.parse(COLUMN.format(force + method)).build()
        assert problem.system.is_lumped
        state = problem.integrator.start(problem.system, problem.state).advance(0.0)
        stress = np.abs(sx.nodal_stress(problem.system, state)[:, 2])
        return stress[problem.mesh.nodes_of("column.z_min")].max() / stress.max()

    assert left(STATIC) < 1e-2
    assert left(MOTION) > 3e-2


@pytest.mark.parametrize("quadratic", ["false", "true"])
def test_what_falls_freely_falls_as_a_whole(quadratic):
    """In a motion gravity acts on the masses that have inertia: it leaves no stress, and turns nothing."""
    text = """
    [[body]]
    name = "block"
    mesh = {{ box = [1, 2, 1], cells = [2, 2, 2], split = "6" }}
    quadratic = {}
    material = {{ young = 1e7, poisson = 0.3, density = 1000 }}
    [gravity]
    acceleration = [0, 0, -10]
    [integrator]
    kind = "energy-momentum"
    dt = 1e-2
    [run]
    duration = 0.1
    frames = 1
    """
    problem = sx.Scenario.parse(text.format(quadratic)).build()
    state = problem.integrator.start(problem.system, problem.state).advance(0.1)
    moved = state.q - problem.mesh.points
    np.testing.assert_allclose(moved - [0.0, 0.0, -0.05], 0.0, atol=1e-12)


@pytest.mark.parametrize(
    ("load", "message"),
    [
        ('kind = "centrifugal"\nangular_velocity = [0, 0, 0]\npoint = [0, 0, 0]', "angular_velocity must be nonzero"),
        ('kind = "gravity"\ngroup = "x_max"\nacceleration = [0, 0, 1]', "has no elements with mass"),
        ('kind = "gravity"\nacceleration = [0, 0, 0]', "zero everywhere"),
        ('kind = "gravity"\ngroup = "inner"\nacceleration = [0, 0, 1]', "no group 'inner'"),
    ],
)
def test_what_has_no_force_is_told(load, message):
    with pytest.raises(ScenarioError, match=message):
        bar(load)
