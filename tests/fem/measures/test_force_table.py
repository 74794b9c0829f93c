"""Springs by a table of forces: energies, kinks on the way, scenarios and decks."""

import numpy as np
import pytest

import symplex as sx
from symplex.errors import MaterialError, ScenarioError
from symplex.fem.measures.force_table import ForceTable

TABLE = ([-0.2, 0.0, 0.1, 0.3], [-50.0, 0.0, 1.0, 9.0])


def test_its_energy_is_the_area_below_the_force():
    law = ForceTable(*TABLE, 1.0)
    for e, area in (
        (0.0, 0.0),
        (0.1, 0.05),
        (0.3, 0.05 + 0.2 * 5.0),
        (0.5, 1.05 + 0.2 * 9.0),
        (-0.2, 5.0),
        (-0.3, 10.0),
    ):
        assert law.energy(np.array([(1.0 + e) ** 2]))[0] == pytest.approx(area, abs=1e-14)


def test_quotients_across_kinks_have_no_cancellation():
    """ξ ½ Δs = Δφ for steps of any size, and the mean force between its ends for the smallest."""
    law = ForceTable(*TABLE, 1.0)
    rng = np.random.default_rng(0)
    l0, l1 = 1.0 + rng.uniform(-0.5, 0.6, (2, 2000))
    s0, s1 = l0**2, l1**2
    difference = law.energy(s1) - law.energy(s0)
    np.testing.assert_allclose(law.quotient(s0, s1) * 0.5 * (s1 - s0), difference, atol=64 * 2.2e-16 * 20.0)
    for d in 10.0 ** np.arange(-15.0, -1.0):
        found = law.quotient(np.array([(1.1 - d) ** 2]), np.array([(1.1 + d) ** 2])) * (1.1 - d + 1.1 + d) / 2.0
        assert found[0] == pytest.approx(1.0 + 0.25 * (40.0 - 10.0) * d, rel=d**2 + 1e-12)  # slopes of 10 and 40 N/m
    at = s1[np.abs(np.subtract.outer(l1 - 1.0, TABLE[0])).min(axis=1) > 1e-3]
    start, h = s0[: len(at)], 1e-7
    slope = (law.quotient(start, at + h) - law.quotient(start, at - h)) / (2 * h)
    np.testing.assert_allclose(law.quotient_slope(start, at), slope, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(law.quotient_slope(at, at), law.curvature(at), rtol=1e-12)


def test_energy_momentum_conserves_energy_across_kinks():
    """A mass against a bilinear snubber: energy to round-off, and the exact speed and depth of the rebound."""
    law = ForceTable([-1.0, -0.05, 0.0, 1.0], [-1e4, -50.0, 0.0, 0.0], 1.0)  # soft, then stiff, and nothing in tension
    spring = sx.measures.Anchors([0], [0.0], law)
    system = sx.System([2.0], {"snubber": spring}, dim=1)
    found = sx.record(system, sx.EnergyMomentum(1e-3), system.state([[1.0]], [[-3.0]]), np.linspace(0.0, 0.3, 301))
    energy = found.energies["total"]
    assert np.ptp(energy) < 1e-12 * energy[0]
    assert found.v[-1, 0, 0] == pytest.approx(3.0, rel=1e-12)
    k1, k2 = 50.0 / 0.05, (1e4 - 50.0) / 0.95
    left = 9.0 - 0.5 * k1 * 0.05**2  # of ½ m v²
    depth = 0.05 + (-50.0 + np.sqrt(50.0**2 + 2.0 * k2 * left)) / k2
    assert 1.0 - found.q[:, 0, 0].min() == pytest.approx(depth, rel=1e-3)


SCENARIO = """
[[point_mass]]
name = "ball"
mass = 2.0
position = [0, 0, 0]
[[spring]]
name = "snubber"
body = "ball"
to = [1, 0, 0]
elongations = [-0.1, 0.0, 0.1]
forces = [-400, 0, 10]
[gravity]
acceleration = [100, 0, 0]
[[support]]
body = "ball"
components = "yz"
[start]
kind = "static"
[integrator]
kind = "energy-momentum"
dt = 1e-3
[run]
duration = 0.01
"""


def test_an_equilibrium_of_a_scenario():
    problem = sx.Scenario.parse(SCENARIO).build()
    assert problem.state.q[0, 0] == pytest.approx(0.05, rel=1e-9)
    pulled = sx.Scenario.parse(SCENARIO.replace("[100,", "[-2.5,")).build()
    assert pulled.state.q[0, 0] == pytest.approx(-0.05, rel=1e-9)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("elongations = [-0.1, 0.0, 0.1]", "elongations = [-0.1, 0.1]", "as many elongations as forces"),
        ("elongations = [-0.1, 0.0, 0.1]", "elongations = [-0.1, 0.2, 0.1]", "elongations must ascend"),
        ("elongations = [-0.1, 0.0, 0.1]\n", "", "as many elongations as forces"),
        ("forces = [-400, 0, 10]", "stiffness = 1", "elongations goes with forces"),
        ("forces = [-400, 0, 10]", "forces = [-400, 0, 10]\nstiffness = 1", "needs one law of stiffness, forces"),
        ("forces = [-400, 0, 10]", 'forces = [-400, 0, 10]\nlaw = "tension-only"', "law goes with a stiffness"),
    ],
)
def test_mistakes_of_scenarios(old, new, message):
    with pytest.raises(ScenarioError, match=message):
        sx.Scenario.parse(SCENARIO.replace(old, new))


@pytest.mark.parametrize(
    ("elongations", "forces", "message"),
    [
        ([0.0], [1.0], "two at least"),
        ([0.0, 1.0], [1.0], "lists of one length"),
        ([0.0, 0.0], [1.0, 2.0], "must ascend"),
        ([0.0, np.nan], [1.0, 2.0], "finite"),
    ],
)
def test_mistakes(elongations, forces, message):
    with pytest.raises(MaterialError, match=message):
        ForceTable(elongations, forces, 1.0)


DECK = """*NODE, NSET=ALL
1, 0., 0., 0.
2, 1., 0., 0.
3, 0., 1., 0.
4, 0., 0., 1.
5, 3., 0., 0.
*ELEMENT, TYPE=C3D4, ELSET=BODY
7, 1, 2, 3, 4
*ELEMENT, TYPE=SPRINGA, ELSET=S
8, 2, 5
*SPRING, ELSET=S, NONLINEAR

-100., -0.5
0., 0.
20., 0.2
*MATERIAL, NAME=RUBBER
*ELASTIC
1e6, 0.4
*SOLID SECTION, ELSET=BODY, MATERIAL=RUBBER
*BOUNDARY
1, 1, 3
3, 1, 3
4, 1, 3
5, 1, 3
*STEP
*STATIC
*CLOAD
2, 1, 50.
*END STEP
"""


def test_a_deck(tmp_path):
    (tmp_path / "spring.inp").write_text(DECK)
    imported = sx.import_deck(tmp_path / "spring.inp", tmp_path / "out")
    scenario = sx.Scenario.read(imported.scenarios[1])
    (spring,) = scenario.tables.spring
    assert spring.elongations == (-0.5, 0.0, 0.2)
    assert spring.forces == (-100.0, 0.0, 20.0)
    problem = scenario.build()
    bars = problem.system.energies[spring.name]
    u = problem.state.q[1, 0] - 1.0
    assert bars.tensions(problem.state.q)[0] == pytest.approx(-200.0 * u, rel=1e-9)
