"""Elements that are added without stress at a part of a run, and elements that are removed."""

import numpy as np
import pytest

import symplex as sx
from symplex.errors import ScenarioError

TWO = """
[[body]]
name = "one"
mesh = {{ box = [0.5, 0.1, 0.1], cells = [4, 1, 1], split = "hexahedra" }}
material = {{ young = 1e6, poisson = 0.0, density = 1000 }}
[[body]]
name = "two"
mesh = {{ box = [0.5, 0.1, 0.1], cells = [4, 1, 1], split = "hexahedra" }}
material = {{ young = 2e6, poisson = 0.0, density = 2000 }}
translate = [0.5, 0, 0]
{two}
[[tie]]
body = "one"
to = "two"
[[support]]
body = "one"
group = "x_min"
{more}
[integrator]
{method}
[run]
duration = 3.0
frames = 3
samples = {samples}
"""
STATIC = 'kind = "static"\ndt = 0.25'
PULL = """
[[load]]
name = "pull"
kind = "nodal"
body = "one"
group = "x_max"
force = [125, 0, 0]
history = { kind = "table", times = [0, 1, 1.5, 3], factors = [0, 1, 1, 0] }
"""
CLAMP = """
[[support]]
body = "two"
group = "x_max"
"""


def recorded(text):
    problem = sx.Scenario.parse(text).build()
    return problem, sx.record(problem.system, problem.integrator, problem.state, problem.scenario.times)


def ends(problem, path, t, x):
    """The displacements along x of the nodes at a place, at a time."""
    nodes = np.isclose(problem.mesh.points[:, 0], x)
    return path.q[np.argmin(np.abs(path.t - t))][nodes, 0] - x


def test_a_bar_is_added_without_stress_between_a_stretched_one_and_a_wall():
    """At 1.25 s the first bar is stretched by 5 %; as its load goes, the second one, then without stress, is pulled."""
    text = TWO.format(two="from = 1.25", more=PULL + CLAMP, method=STATIC, samples=24)
    problem, path = recorded(text)
    stretch = 0.05 + np.sqrt(0.05**2 + 1.0)  # E/2 (λ − 1/λ) = 5 % of E
    u1 = 0.5 * (stretch - 1.0)
    np.testing.assert_allclose(ends(problem, path, 1.25, 0.5), u1, rtol=1e-6)
    assert path.energies["two"][path.t <= 1.25].max() == 0.0
    # The load stays until 1.5 s, and the added bar bears nothing of it.
    assert path.energies["two"][np.argmin(np.abs(path.t - 1.5))] < 1e-12 * path.energies["one"].max()
    np.testing.assert_allclose(ends(problem, path, 1.5, 0.5), u1, rtol=1e-6)
    # Equal forces without load: E₁ (λ₁ − 1/λ₁) = E₂ (λ₂ − 1/λ₂) with λ₂ of the length 0.5 − u₁.
    from scipy.optimize import brentq

    def off(u):
        one, two = 1.0 + u / 0.5, (0.5 - u) / (0.5 - u1)
        return 1e6 * (one - 1 / one) - 2e6 * (two - 1 / two)

    np.testing.assert_allclose(ends(problem, path, 3.0, 0.5), brentq(off, 0.0, u1), rtol=1e-5)
    balance = path.energies["balance"]
    assert np.ptp(balance) < 1e-6 * path.energies["one"].max()


def test_what_is_added_is_carried_along():
    """A bar that hangs at the first one only is where that is, as long as it was, and without stress."""
    text = TWO.format(two="from = 1.25", more=PULL, method=STATIC, samples=24)
    problem, path = recorded(text)
    u1 = ends(problem, path, 1.25, 0.5)[0]
    assert not ends(problem, path, 1.25, 1.0).any()
    np.testing.assert_allclose(ends(problem, path, 1.5, 1.0), u1, rtol=1e-9)
    np.testing.assert_allclose(ends(problem, path, 3.0, 1.0), 0.0, atol=1e-9)
    assert path.energies["two"].max() < 1e-12 * path.energies["one"].max()


def test_what_is_removed_has_no_weight_and_no_stiffness():
    """A bar hangs at another one until 1.25 s: the stretch of the first is then that by its own weight alone."""
    weight = "[gravity]\nacceleration = [9.81, 0, 0]\n"
    with_two = TWO.format(two="until = 1.25", more=weight, method=STATIC, samples=24)
    problem, path = recorded(with_two)
    alone = TWO.replace('[[tie]]\nbody = "one"\nto = "two"\n', "")
    before, after = alone.index('[[body]]\nname = "two"'), alone.index("[[support]]")
    alone = (alone[:before] + alone[after:]).format(two="", more=weight, method=STATIC, samples=24)
    single, expected = recorded(alone)
    np.testing.assert_allclose(ends(problem, path, 3.0, 0.5), ends(single, expected, 3.0, 0.5), rtol=1e-7)
    loaded = ends(problem, path, 1.0, 0.5)[0]
    # Linear: ρ g L²/2E of its own, and ρ₂ g L²/E of the other.
    linear = 9.81 * 0.25 * (1000 / 2 + 2000) / 1e6
    assert loaded == pytest.approx(linear, rel=0.02)
    assert path.energies["two"][path.t > 1.3].max() == 0.0


@pytest.mark.parametrize("mass", ["lumped", "consistent"])
def test_motion_goes_on_with_its_balance_and_from_checkpoints(mass):
    """In motion: what is removed takes its energy along, what is added begins at rest; resumed bit-identically."""
    two = f'until = 0.1\nmass = "{mass}"\nvelocity = [1, 0, 0]'
    three = """
[[body]]
name = "three"
mesh = { box = [0.5, 0.1, 0.1], cells = [4, 1, 1], split = "hexahedra" }
material = { young = 2e6, poisson = 0.0, density = 2000 }
translate = [0.5, 0, 0]
from = 0.2
[[tie]]
body = "one"
to = "three"
"""
    text = TWO.format(two=two, more=three, method='kind = "energy-momentum"\ndt = 0.0025', samples=120)
    text = text.replace("duration = 3.0", "duration = 0.3").replace('[[tie]]\nbody = "one"\nto = "two"\n', "")
    text = text.replace('[[tie]]\nbody = "one"\nto = "three"\n', '[[tie]]\nbody = "one"\nto = "three"\n')
    text = text.replace("density = 1000 }\n", "density = 1000 }\nvelocity = [0.5, 0, 0]\n", 1)
    problem, path = recorded(text)
    scale = path.energies["kinetic"].max()
    assert np.ptp(path.energies["balance"]) < 1e-11 * scale
    assert path.energies["work_switches"][-1] < 0.0
    late = path.energies["three"][path.t > 0.21]
    assert late.max() > 1e-4 * scale
    motion = problem.integrator.start(problem.system, problem.state)
    motion.advance(0.25)
    kept = motion.checkpoint()
    assert any(name.startswith("kept.") for name in kept)
    resumed = problem.integrator.resume(problem.system, kept)
    first, second = motion.advance(0.3), resumed.advance(0.3)
    assert np.array_equal(first.q, second.q)
    assert np.array_equal(first.v, second.v)


def test_a_condition_begins_a_body():
    probe = """
[[probe]]
name = "end"
body = "one"
group = "x_max"
[[when]]
name = "far"
probe = "end"
column = "displacement_x_mean"
above = 0.01
"""
    text = TWO.format(two='from = "far"', more=PULL + CLAMP + probe, method='kind = "static"\ndt = 0.1', samples=30)
    problem, path = recorded(text)
    t = path.motion.happened["far"]
    at = ends(problem, path, t, 0.5)[0]
    assert 0.005 < at < 0.015
    assert path.energies["two"][path.t <= t].max() == 0.0
    assert path.energies["two"][-1] > 1e-6
    motion = problem.integrator.start(problem.system, problem.state)
    motion.advance(2.0)
    resumed = problem.integrator.resume(problem.system, motion.checkpoint())
    assert np.array_equal(motion.advance(3.0).q, resumed.advance(3.0).q)


def test_frames_of_a_run(tmp_path):
    """Bodies that are not there yet are drawn, without stress; those that were added have that of their own shape."""
    text = TWO.format(two="from = 1.25", more=PULL + CLAMP, method=STATIC, samples=24)
    sx.runs.simulate(sx.Scenario.parse(text), tmp_path / "run", progress=False, pictures=False)
    result = sx.read_result(tmp_path / "run")
    stress = [result.frame(t)["von_mises"] for t in (1.0, 3.0)]
    assert all(len(one) == 8 for one in stress)
    assert stress[0][:4].min() > 4e4
    assert not stress[0][4:].any()
    np.testing.assert_allclose(stress[1][4:], stress[1][:4], rtol=0.15)  # of Cauchy, in equal forces


@pytest.mark.parametrize(
    ("two", "more", "message"),
    [
        ("from = 4.0", "", "when the run of 3 s is over"),
        ("from = 2.0\nuntil = 1.0", "", "until must be after from"),
        ('from = "never"', "", r"there is no \[\[when\]\] 'never'"),
        ("from = 1.0\nrigid = true", "", "leave rigid out"),
        (
            "from = 1.0",
            '[[obstacle]]\nname = "a"\nkind = "half-space"\npoint = [0, 0, -1]\nnormal = [0, 0, 1]\nstiffness = 1e6',
            "'two' begins or ends, and its contact",
        ),
        ("from = 1.0", "[[contact]]\nname = 'touch'", "'two' begins or ends, and its contact"),
    ],
)
def test_mistakes(two, more, message):
    with pytest.raises(ScenarioError, match=message):
        sx.Scenario.parse(TWO.format(two=two, more=more, method=STATIC, samples=24)).build()
