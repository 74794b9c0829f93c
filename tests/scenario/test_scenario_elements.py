"""Scenarios with every type of elements and every law: what is built, what is refused, and a run."""

import json

import numpy as np
import pytest

from symplex.errors import ScenarioError
from symplex.fem.solids.formula import material as formula_material
from symplex.fem.solids.materials import LinearElastic, MooneyRivlin, NeoHookean, SaintVenantKirchhoff
from symplex.runs.run import simulate
from symplex.scenario.scenario import Scenario

TEXT = """
[[body]]
name = "block"
mesh = {{ box = [0.2, 0.1, 0.1], cells = [2, 1, 1], split = "{split}" }}
material = {{ {material} }}
{more}

[[obstacle]]
name = "floor"
kind = "half-space"
point = [0, 0, -0.001]
normal = [0, 0, 1]
stiffness = 1e5

[[load]]
name = "push"
kind = "pressure"
body = "block"
group = "x_max"
pressure = 1e3

[integrator]
kind = "energy-momentum"
dt = 1e-4

[run]
duration = 2e-3
frames = 2
samples = 4

[output]
pictures = false
film = "none"
"""
RUBBER = 'law = "mooney-rivlin", c10 = 1e5, c01 = 5e4, bulk = 3e6, density = 1000'
STEEL = "young = 2e6, poisson = 0.3, density = 1000"
FORMS = {"tetra": ("24", ""), "hexahedron": ("hexahedra", ""), "tetra10": ("6", "quadratic = true")}


def scenario(kind="tetra", material=RUBBER, more=""):
    split, quadratic = FORMS[kind]
    return Scenario.parse(TEXT.format(split=split, material=material, more=f"{quadratic}\n{more}"))


@pytest.mark.parametrize("mass", ["lumped", "consistent"])
@pytest.mark.parametrize("kind", FORMS)
def test_a_block_of_each_type_of_elements(kind, mass):
    problem = scenario(kind, more=f'mass = "{mass}"').build()
    solid = problem.solids["block"]
    assert solid.kind == kind
    assert solid.volumes.sum() == pytest.approx(0.002)
    assert problem.system.apply_mass(np.ones((problem.system.n_nodes, 3))).sum() == pytest.approx(3 * 2.0)
    push = problem.system.loads["push"](0.0, problem.mesh.points, np.zeros_like(problem.mesh.points))
    np.testing.assert_allclose(push.sum(axis=0), [-10.0, 0.0, 0.0], atol=1e-12)
    moment = np.cross(problem.mesh.points, push).sum(axis=0)
    np.testing.assert_allclose(moment, np.cross([0.2, 0.05, 0.05], [-10.0, 0.0, 0.0]), atol=1e-12)
    surface = problem.mesh.points[problem.contacts["floor"].nodes.ravel()]
    inside = (surface > 1e-9).all(axis=1) & (surface < np.array([0.2, 0.1, 0.1]) - 1e-9).all(axis=1)
    assert not inside.any()


@pytest.mark.parametrize(
    ("law", "kind"),
    [("neo-hookean", NeoHookean), ("saint-venant-kirchhoff", SaintVenantKirchhoff), ("linear-elastic", LinearElastic)],
)
def test_laws_by_name(law, kind):
    material = scenario(material=f'law = "{law}", {STEEL}').build().solids["block"].material
    assert material == kind.from_young(2e6, 0.3, 1000.0)
    assert scenario(material=f'law = "{law}", lambda = 3e5, mu = 1e5, density = 9').tables.body[
        0
    ].material.material() == (kind(3e5, 1e5, 9.0))


def test_rubber():
    assert scenario().build().solids["block"].material == MooneyRivlin(1e5, 5e4, 3e6, 1000.0)


def test_a_formula_and_its_constants():
    text = (
        'law = "c10*(I1bar - 3) + lambda/2*(J - 1)**2 + k*(I4 - 1)**2", c10 = 1e5, lambda = 3e6, k = 1e4, density = 9'
    )
    for fibres, expected in (("[0, 0, 2]", [[0, 0, 2]]), ("[[0, 1, 0]]", [[0, 1, 0]])):
        material = scenario(material=f"{text}, fibres = {fibres}").build().solids["block"].material
        formula = "c10*(I1bar - 3) + lmbda/2*(J - 1)**2 + k*(I4 - 1)**2"
        assert material == formula_material(formula, c10=1e5, lmbda=3e6, k=1e4, density=9.0, fibres=expected)
    by_name = 'law = "gent", mu = 1e5, Jm = 30, K = 3e6, density = 1000'
    expected = formula_material("gent", mu=1e5, Jm=30.0, K=3e6, density=1000.0)
    assert scenario(material=by_name).build().solids["block"].material == expected


@pytest.mark.parametrize(
    ("material", "reported"),
    [
        (
            'law = "c10*(I1bar - 3)", c10 = 1e5, density = 1',
            r"material is impossible: law 'c10.*': its bulk modulus .* 0 Pa",
        ),
        (
            'law = "c10*(I1bar - 3)", c1 = 1e5, density = 1',
            "'c10' is no invariant and no constant .* did you mean 'c1'",
        ),
        ('law = "gent", mu = "soft", Jm = 1, K = 1, density = 1', "material.constants.mu must be a number, got 'soft'"),
        (
            'law = "gent", mu = 1, Jm = 1, K = 1, density = 1, fibres = [1]',
            "material.fibres must be three numbers",
        ),
        (f'law = "neo-hookean", {STEEL}, fibres = [1, 0, 0]', "'neo-hookean' has no fibres"),
        (f"{RUBBER}, mu = 1e5", "'mooney-rivlin' needs c10, c01 and bulk, and no other constants"),
        ('law = "mooney-rivlin", c10 = 1e5, bulk = 3e6, density = 1000', "needs c10, c01 and bulk"),
        (
            'law = "mooney-rivlin", c10 = 1e5, c01 = 1e5, bulk = 1e5, density = 1',
            "is impossible: the bulk modulus is 100000",
        ),
        (f"{STEEL}, c10 = 1e5", "needs either lambda and mu, or young and poisson"),
        ('law = "hooke", young = 1e6, poisson = 0.3, density = 1', "law is 'hooke'"),
    ],
)
def test_constants_that_do_not_belong_are_refused(material, reported):
    with pytest.raises(ScenarioError, match=reported):
        scenario(material=material)


def test_hexahedra_are_made_quadratic():
    problem = scenario("hexahedron", more="quadratic = true").build()
    (solid,) = problem.solids.values()
    assert solid.nodes.shape[1] == 20


@pytest.mark.parametrize("kind", ["hexahedron", "tetra10"])
def test_a_run(kind, tmp_path):
    simulate(scenario(kind), tmp_path / "run")
    summary = json.loads((tmp_path / "run" / "summary.json").read_text("utf-8"))
    assert summary["status"] == "finished"
    assert summary["elements"] == {"block": {kind: 2 if kind == "hexahedron" else 12}}
