"""Linear constraints in scenarios."""

import numpy as np
import pytest

from symplex.errors import ScenarioError
from symplex.scenario.scenario import Scenario
from symplex.time.trajectory import march

BAR = """
[[body]]
name = "bar"
mesh = { box = [0.4, 0.1, 0.1], cells = [4, 1, 1], split = "hexahedra" }
material = { law = "linear-elastic", young = 1e6, poisson = 0.3, density = 1000 }
formulation = "full"
[[support]]
body = "bar"
group = "x_min"
"""
ENDS = [(0.4, y, z) for y in (0.0, 0.1) for z in (0.0, 0.1)]
STATIC = """
[start]
kind = "static"
[integrator]
kind = "energy-momentum"
dt = 1e-3
[run]
duration = 1e-2
frames = 1
samples = 1
[output]
pictures = false
film = "none"
"""
PUSH = """
[[load]]
name = "push"
kind = "nodal"
body = "bar"
group = "x_max"
force = [0, 1, 2]
"""


def term(factor, component, **where):
    at = ", ".join(
        f"{key} = {list(value) if isinstance(value, tuple) else repr(value)}" for key, value in where.items()
    )
    return f'{{ body = "bar", {at}, component = "{component}", factor = {factor} }}'


def constraint(equations, rest=""):
    inside = ", ".join(f"[{', '.join(terms)}]" for terms in equations)
    return f'[[constraint]]\nname = "ends"\nequations = [{inside}]\n{rest}\n'


def test_an_end_moves_as_asked_and_the_sum_of_a_group_is_given():
    alike = [[term(1, "z", at=ENDS[0]), term(-1, "z", at=end)] for end in ENDS[1:]]
    text = BAR + PUSH + constraint([*alike, [term(0.25, "x", group="x_max")]], "values = [0, 0, 0, 0.01]")
    problem = Scenario.parse(text + STATIC, "test.toml").build()
    nodes = problem.mesh.nodes_of("bar.x_max")
    u = (problem.state.q - problem.mesh.points)[nodes]
    assert np.ptp(u[:, 2]) < 1e-3 * np.abs(u).max()
    assert np.ptp(u[:, 1]) > 0.0
    assert u[:, 0].mean() == pytest.approx(0.01, rel=1e-3)


def test_constraints_keep_the_energy_of_a_motion():
    alike = [[term(1, "z", at=ENDS[0]), term(-1, "z", at=end)] for end in ENDS[1:]]
    text = BAR + constraint(alike) + STATIC.replace('[start]\nkind = "static"', "")
    text += '[[velocity]]\nbody = "bar"\nvelocity = [0, 0, 1]\nangular_velocity = [3, 0, 0]\npoint = [0, 0, 0]\n'
    problem = Scenario.parse(text, "test.toml").build()
    states = [*march(problem.system, problem.integrator, problem.state, problem.scenario.times)]
    energies = [problem.system.potential(state.q) + problem.system.kinetic(state.v) for state in states]
    assert max(energies) - min(energies) < 1e-10 * max(energies)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (constraint([[term(1, "w", group="x_max")]]), "component"),
        (constraint([[term(1, "x", group="top")]]), "body 'bar' has no group 'top'"),
        (constraint([[term(1, "x", group="x_max")]]).replace('body = "bar"', 'body = "bat"'), "there is no body 'bat'"),
        (constraint([[term(1, "x", at=(9.0, 0.0, 0.0))]]), "has no node at"),
        (constraint([[term(0, "x", group="x_max")]]), "the factors of equation 1 are zero together"),
        (constraint([[term(1, "x", group="x_max")]], "values = [1, 2]"), "has 1 equations and 2 values"),
        (constraint([[]]), "equations"),
    ],
)
def test_wrong_constraints_are_refused_by_a_sentence(table, message):
    with pytest.raises(ScenarioError, match=message) as caught:
        Scenario.parse(BAR + table + STATIC, "test.toml").build()
    assert "[[constraint]] #1" in str(caught.value)
