"""Steps of Graham and Jelenić's methods in a compiled loop, next to those from Python."""

import numpy as np
import pytest

from reference import small_systems
from reference.small_systems import one_by_one
from symplex.errors import StepFailed
from symplex.fem.measures.bars import Bars, GreenStrain
from symplex.fem.system import System
from symplex.time.composition import Composition
from symplex.time.conserving import scheme_loops
from symplex.time.conserving.graham_jelenic import GrahamJelenic
from symplex.time.steps import Steps

SECANTS = ["M4", "CM4", "CM6", "CM8"]
OUTSIDE = ("gravity", "floor")


def truss(dim=3, stiffness=300.0):
    return small_systems.truss(dim, stiffness, floor=-0.2, floor_stiffness=stiffness)


def method(scheme, dt=0.005, **options):
    return GrahamJelenic(dt, scheme, external=OUTSIDE if scheme in SECANTS else (), **options)


@pytest.mark.parametrize(
    ("scheme", "dim", "options"),
    [
        *((scheme, 3, {}) for scheme in ("SM", "EM", *SECANTS)),
        *((scheme, 2, {}) for scheme in ("EM", "M4", "CM8")),
        ("CM6", 3, {"interpolant": "hermite"}),
    ],
)
def test_steps_are_those_from_python(scheme, dim, options, monkeypatch):
    system, state = truss(dim)
    together = method(scheme, **options).start(system, state)
    apart = one_by_one(method(scheme, **options).start(system, state), monkeypatch)
    for t in (0.005, 0.05, 0.25):
        found, expected = together.advance(t), apart.advance(t)
        np.testing.assert_allclose(found.q, expected.q, rtol=0, atol=1e-12)
        np.testing.assert_allclose(found.v, expected.v, rtol=0, atol=1e-10)
        np.testing.assert_allclose(found.a, expected.a, rtol=0, atol=1e-8)
    assert together._loop
    assert dim == 2 or system.energies["floor"].total(found.q) > 0.0
    counts = [motion.statistics() for motion in (together, apart)]
    assert counts[0]["iterations"] == pytest.approx(counts[1]["iterations"], rel=0.02)
    assert counts[0]["factorised"] == counts[1]["factorised"] == 0


@pytest.mark.parametrize(
    "integrator", [method("EM"), method("M4"), method("CM6"), Composition(method("EM")), Composition(method("M4"), 6)]
)
def test_motions_do_not_depend_on_where_they_are_looked_at_or_resumed(integrator):
    system, state = truss()
    whole = integrator.start(system, state)
    end = whole.advance(0.1)
    motion = integrator.start(system, state)
    for t in (0.005, 0.02, 0.05):
        motion.advance(t)
    resumed = integrator.resume(system, motion.checkpoint())
    assert resumed.approach(0.1, 1e-9) is False
    found = resumed.advance(0.1)
    for name in ("q", "v", "a"):
        np.testing.assert_array_equal(getattr(found, name), getattr(end, name))
    assert resumed.statistics() == whole.statistics()


@pytest.mark.parametrize("scheme", ["EM", "M4", "CM8"])
def test_free_trusses_keep_their_momenta(scheme):
    pairs = Bars([[0, 1], [1, 2], [0, 2]], GreenStrain(100.0, 1.0))
    system = System([1.0, 2.0, 3.0], {"pairs": pairs})
    start = system.state([[0, 0, 0], [1, 0, 0], [0.4, 0.9, 0]], [[0, 0, 1], [0, 2.0, 0], [1, 0, 0.5]])
    motion = GrahamJelenic(0.01, scheme).start(system, start)
    end = motion.advance(5.0)
    assert motion._loop
    np.testing.assert_allclose(system.momentum(end), system.momentum(start), rtol=0, atol=1e-12)
    np.testing.assert_allclose(system.angular_momentum(end), system.angular_momentum(start), rtol=0, atol=1e-12)
    if scheme == "EM":
        assert motion.energies(end)["total"] == pytest.approx(motion.energies(start)["total"], abs=1e-11)


def test_steps_that_need_factors_are_those_of_the_general_method():
    system, state = truss(stiffness=3e4)
    motion = method("CM4", 0.01).start(system, state)
    motion.advance(0.2)
    assert motion.statistics()["factorised"] > 0
    taken = motion._compiled_steps(5, Steps.one(0.0, 0.01))
    assert taken == 0


def test_a_step_that_the_loop_does_not_solve_is_the_general_methods(monkeypatch):
    system, state = truss()
    reported = []
    for change in (lambda motion, _: motion, one_by_one):
        motion = change(method("CM4", iterations=3).start(system, state), monkeypatch)
        with pytest.raises(StepFailed, match="stopped in the step from t = ") as failure:
            motion.advance(0.5)
        reported.append((motion.n, str(failure.value)))
    assert reported[0] == reported[1]


@pytest.mark.parametrize(("scheme", "external"), [("kappa", ()), ("EM-theta", ()), ("A-theta", OUTSIDE)])
def test_other_schemes_are_stepped_one_by_one(scheme, external):
    system, state = truss()
    motion = GrahamJelenic(0.001, scheme, external=external).start(system, state)
    motion.advance(0.004)
    assert motion._loop is None
    drag = System(system.mass, system.energies, fixed=system.fixed, loads={"drag": lambda t, q, v: -0.1 * v})
    motion = method("M4", 0.001).start(drag, state)
    motion.advance(0.004)
    assert motion._loop is None


@pytest.mark.parametrize("scheme", SECANTS)
def test_what_a_load_raises_within_the_loop_is_raised(scheme):
    system, state = truss()
    calls = []

    def wind(t, q, v):
        calls.append(t)
        if len(calls) > 200:
            raise ZeroDivisionError("gust")
        return -0.1 * v

    blown = System(system.mass, system.energies, fixed=system.fixed, loads={"wind": wind})
    with pytest.raises(ZeroDivisionError, match="gust"):
        method(scheme).start(blown, state).advance(1.0)


@pytest.mark.parametrize("scheme", SECANTS)
def test_forces_that_are_called_back_are_those_of_loops(scheme, monkeypatch):
    system, state = truss()
    expected = method(scheme).start(system, state).advance(0.1)
    monkeypatch.setattr(scheme_loops, "_MOST_NODES", 0)
    motion = method(scheme).start(system, state)
    found = motion.advance(0.1)
    assert motion._loop is None
    np.testing.assert_allclose(found.q, expected.q, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.v, expected.v, rtol=0, atol=1e-10)
