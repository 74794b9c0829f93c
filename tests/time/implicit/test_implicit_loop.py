"""Implicit steps of small systems in one compiled loop, next to those of the general method."""

import numpy as np
import pytest

from reference import small_systems
from symplex.contact.obstacles import Sphere
from symplex.contact.rigid import RigidContact
from symplex.errors import StepFailed
from symplex.fem.actions.loads import Gravity, NodalForce
from symplex.fem.assembly.pattern import Pattern
from symplex.fem.compiled.kernels import kernel
from symplex.fem.couplings.equations import LinearConstraints
from symplex.fem.measures.bars import Bars, GreenStrain
from symplex.fem.structures.rigidity import CORNERS, Rigidity
from symplex.fem.system import System
from symplex.time.composition import Composition
from symplex.time.conserving.energy_momentum import EnergyMomentum
from symplex.time.explicit.newmark import Newmark
from symplex.time.implicit.generalized_alpha import GeneralizedAlpha, HilberHughesTaylor
from symplex.time.implicit.midpoint import Midpoint
from symplex.time.solvers import compiled_newton
from symplex.time.solvers.kept_factors import factorise, is_definite, kept_factors, products, substitute
from symplex.time.solvers.newton import Newton
from symplex.time.variational.zhang_skeel import ZhangSkeel

GENERAL = Newton(linear="dense")
METHODS = [EnergyMomentum, Midpoint, Newmark.trapezoidal, GeneralizedAlpha, HilberHughesTaylor]


def swinging(dim=3, stiffness=1e4):
    """A truss of six nodes that hangs from one, with gravity, a floor and a ball that it meets."""
    push = {"push": NodalForce([2], 3.0 * np.eye(dim)[-1])}
    ball = {"ball": RigidContact([2], Sphere((2.0, 0.0, -1.0), 0.6), 1e4)} if dim == 3 else {}
    return small_systems.truss(dim, stiffness, floor=-0.3, floor_stiffness=2e4, before=push, after=ball)


# -- the same motions ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", METHODS)
def test_steps_are_those_of_the_general_method(make):
    system, state = swinging()
    general, small = make(0.004, newton=GENERAL).start(system, state), make(0.004).start(system, state)
    for t in (0.004, 0.1, 0.2):
        expected, found = general.advance(t), small.advance(t)
        np.testing.assert_allclose(found.q, expected.q, rtol=0, atol=1e-11)
        np.testing.assert_allclose(found.v, expected.v, rtol=0, atol=1e-9)
        np.testing.assert_allclose(found.a, expected.a, rtol=0, atol=1e-6)
    assert small._loop
    assert not general._loop
    counts = [motion.statistics() for motion in (small, general)]
    # Round-off decides whether a step takes one more at the floor.
    assert counts[0]["corrections"] == pytest.approx(counts[1]["corrections"], abs=50)
    assert counts[0]["factorisations"] == pytest.approx(counts[1]["factorisations"], rel=0.1)


@pytest.mark.parametrize("dim", [1, 2])
@pytest.mark.parametrize("make", [EnergyMomentum, lambda dt, **more: Midpoint(dt, 0.3, **more)])
def test_in_lower_dimensions(make, dim):
    system, state = swinging(dim)
    expected = make(0.002, newton=GENERAL).start(system, state).advance(0.1)
    motion = make(0.002).start(system, state)
    found = motion.advance(0.1)
    assert motion._loop
    np.testing.assert_allclose(found.q, expected.q, rtol=0, atol=1e-11)


def test_energy_and_momenta_stay_to_round_off():
    system, state = swinging()
    motion = EnergyMomentum(0.004).start(system, state)
    before = motion.energies(state)["total"]
    touched = [motion.advance(0.02 * n) for n in range(1, 51)]
    assert any(system.energies["floor"].total(at.q) > 0.0 for at in touched)
    energies = [motion.energies(at)["total"] for at in touched]
    np.testing.assert_allclose(energies, before, rtol=0, atol=1e-10)
    pairs = Bars([[0, 1], [1, 2], [0, 2]], GreenStrain(100.0, 1.0))
    free = System([1.0, 2.0, 3.0], {"pairs": pairs})
    state = free.state([[0, 0, 0], [1, 0, 0], [0.4, 0.9, 0]], [[0, 0, 1], [0, 2.0, 0], [1, 0, 0.5]])
    end = EnergyMomentum(0.05).start(free, state).advance(50.0)
    np.testing.assert_allclose(free.momentum(end), free.momentum(state), rtol=0, atol=1e-12)
    np.testing.assert_allclose(free.angular_momentum(end), free.angular_momentum(state), rtol=0, atol=1e-11)


def composed(method):
    return lambda dt: Composition(method(dt))


@pytest.mark.parametrize("make", [*METHODS, ZhangSkeel, *map(composed, (Newmark, Midpoint, ZhangSkeel))])
def test_motions_do_not_depend_on_where_they_are_looked_at_or_resumed(make, monkeypatch):
    system, state = swinging()
    integrator = make(0.004)
    whole = integrator.start(system, state).advance(0.4)
    monkeypatch.setattr(compiled_newton, "_WORK_AT_ONCE", 500)
    motion = integrator.start(system, state)
    for t in (0.004, 0.02, 0.2):
        motion.advance(t)
    resumed = integrator.resume(system, motion.checkpoint())
    assert resumed.approach(0.4, 1e-9) is False
    found = resumed.advance(0.4)
    for name in ("q", "v", "a"):
        np.testing.assert_array_equal(getattr(found, name), getattr(whole, name))


def test_compositions_and_steps_back():
    system, state = swinging()
    end = Midpoint(0.004).start(system, state).advance(0.1)
    motion = Midpoint(0.004).start(system, end)
    for n in range(25):
        motion.substep(0.1 - 0.004 * n, -0.004)
    np.testing.assert_allclose(motion.arrays()["q"], state.q, rtol=0, atol=1e-9)
    fourth = Composition(EnergyMomentum(0.01)).start(system, state).advance(0.1)
    same = Composition(EnergyMomentum(0.01, newton=GENERAL)).start(system, state).advance(0.1)
    np.testing.assert_allclose(fourth.q, same.q, rtol=0, atol=1e-10)


@pytest.mark.parametrize("make", [Newmark, EnergyMomentum, Newmark.trapezoidal])
def test_substeps_in_one_loop_are_those_one_by_one(make, monkeypatch):
    system, state = swinging()
    method = Composition(make(0.005), 6)
    together, apart = method.start(system, state), method.start(system, state)
    monkeypatch.setattr(apart, "_compiled_steps", lambda n, sizes: 0)  # of the composition itself
    found, expected = together.advance(0.1), apart.advance(0.1)
    for name in ("q", "v", "a"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    assert together.statistics() == apart.statistics()


def test_substeps_that_the_loop_leaves_of_a_step_follow_one_by_one(monkeypatch):
    system, state = swinging()
    method = Composition(EnergyMomentum(0.005), 6)
    whole = method.start(system, state).advance(0.1)
    motion = method.start(system, state)
    take, left = motion.inner._compiled_steps, []

    def some(n, sizes):  # of nine substeps
        left.append(n)
        return take(min(n, 13), sizes)

    monkeypatch.setattr(motion.inner, "_compiled_steps", some)
    found = motion.advance(0.1)
    assert max(left) > 13
    for name in ("q", "v", "a"):
        np.testing.assert_array_equal(getattr(found, name), getattr(whole, name))
    assert motion.n == 20


@pytest.mark.parametrize(("variant", "dim"), [("full", 3), ("simplified", 3), ("full", 2)])
def test_zhang_and_skeels_steps_are_those_of_the_general_method(variant, dim):
    system, state = swinging(dim)
    general = ZhangSkeel(0.004, variant=variant, newton=GENERAL).start(system, state)
    small = ZhangSkeel(0.004, variant=variant).start(system, state)
    for t in (0.004, 0.1, 0.2):
        expected, found = general.advance(t), small.advance(t)
        np.testing.assert_allclose(found.q, expected.q, rtol=0, atol=1e-11)
        np.testing.assert_allclose(found.v, expected.v, rtol=0, atol=1e-9)
        np.testing.assert_allclose(found.a, expected.a, rtol=0, atol=1e-6)
        assert small.energies(found) == pytest.approx(general.energies(expected), abs=1e-9)
    assert small._compiled is not None
    assert general._compiled is None


def test_zhang_and_skeels_method_says_where_a_matrix_is_not_definite():
    pair = Bars([[0, 1]], GreenStrain(1e3, 1.0))
    system = System([1.0, 1.0], {"bar": pair})
    state = system.state([[0, 0, 0], [1.0, 0, 0]], [[0, 0, 0], [-4.0, 0, 0]])  # until the bar has hardly a length
    reported = []
    for newton in (Newton(), GENERAL):
        motion = ZhangSkeel(0.1, variant="simplified", newton=newton).start(system, state)
        with pytest.raises(StepFailed) as failure:
            motion.advance(2.0)
        reported.append(str(failure.value))
    assert reported[0] == reported[1]


def spinning_top(h):
    """A rigid body of four particles that spins fast about a point that equations hold, in gravity."""
    radii, centre = np.array([0.3, 0.5, 0.4]), np.array([0.1, 0.2, 0.6])
    x = centre + CORNERS * radii
    weights = 0.25 * (1.0 - CORNERS @ (centre / radii))  # of the particles for the point at the origin
    body = Rigidity([[0, 1, 2, 3]], radii[None], 2.0, 1.0 / h)
    held = LinearConstraints(x, np.kron(weights, np.eye(3)), stiffness=2.0 / h**2)
    system = System(np.full(4, 0.5), {"body": body, "held": held, "gravity": Gravity(np.full(4, 0.5), [0, 0, -9.81])})
    return system, system.state(x, np.cross([0.3, -2.0, 9.0], x))


@pytest.mark.parametrize("make", [EnergyMomentum, Midpoint])
def test_rigid_bodies_that_turn_about_held_points(make):
    system, state = spinning_top(0.01)
    general, small = make(0.01, newton=GENERAL).start(system, state), make(0.01).start(system, state)
    for t in (0.01, 0.2, 0.4):
        expected, found = general.advance(t), small.advance(t)
        np.testing.assert_allclose(found.q, expected.q, rtol=0, atol=1e-11)
        np.testing.assert_allclose(found.v, expected.v, rtol=0, atol=1e-9)
    assert small._loop
    # Corrections strain a body that turns: residuals grow, but following corrections get shorter.
    assert small._loop.counts[0] == small.statistics()["corrections"], "a step was the general method's"
    assert small.statistics()["corrections"] > 3.0 * small.n
    if make is EnergyMomentum:
        assert small.energies(found)["total"] == pytest.approx(small.energies(state)["total"], abs=1e-11)
        assert np.abs(found.q - state.q).max() > 0.5


# -- where corrections do not get nearer ---------------------------------------------------------------------------


def test_steps_that_need_parts_of_corrections_are_those_of_the_general_method(monkeypatch):
    system, state = swinging()
    small, general = (EnergyMomentum(0.05, newton=newton).start(system, state) for newton in (Newton(), GENERAL))
    evaluate, tried, rejected = general.forces, [], []
    monkeypatch.setattr(general, "forces", lambda dq, out: tried.append(1) or evaluate(dq, out))
    for n in range(1, 21):
        before = len(tried) - general.statistics()["corrections"]
        expected, found = general.advance(0.05 * n), small.advance(0.05 * n)
        rejected.append(len(tried) - general.statistics()["corrections"] - before - 1)
        if n == 6:
            np.testing.assert_allclose(found.q, expected.q, rtol=0, atol=1e-9)
    assert max(rejected) > 1, "no step needs a part of a correction: one may be rejected at the floor"
    assert small._loop.counts[0] == small.statistics()["corrections"], "a step was the general method's"
    assert small.energies(small.advance(1.0))["total"] == pytest.approx(small.energies(state)["total"], abs=1e-9)


def test_a_step_that_fails_says_so_as_the_general_method_does():
    system, state = swinging()
    reported = []
    for linear in ("auto", "dense"):
        motion = EnergyMomentum(0.05, newton=Newton(iterations=2, linear=linear)).start(system, state)
        with pytest.raises(
            StepFailed, match=r"stopped in the step .* did not converge: after 2 corrections"
        ) as failure:
            motion.advance(1.0)
        reported.append(str(failure.value).split("residual is")[0])
    assert reported[0] == reported[1]


def with_load():
    system, state = swinging()
    return System(system.mass, system.energies, fixed=system.fixed, loads={"wind": lambda t, q, v: -0.1 * v}), state


def with_many_pairs():
    n = 60
    x = np.random.default_rng(0).random((n, 3))
    system = System(np.ones(n), {"pull": Bars(np.column_stack(np.triu_indices(n, 1)), GreenStrain(1.0, 1.0))})
    return system, system.state(x)


@pytest.mark.parametrize("make", [with_load, with_many_pairs])
def test_other_systems_are_stepped_by_the_general_method(make):
    system, state = make()
    motion = EnergyMomentum(1e-3).start(system, state)
    motion.advance(2e-3)
    assert not motion._loop


def test_two_digits_and_a_solver_by_name_are_those_of_the_general_method():
    system, state = swinging()
    for integrator in (EnergyMomentum(1e-3, compensated=True), EnergyMomentum(1e-3, newton=Newton(linear="sparse"))):
        motion = integrator.start(system, state)
        motion.advance(2e-3)
        assert not motion._loop


# -- factors on a kept pattern ---------------------------------------------------------------------------------------


@kernel
def solved(factors, blocks, b, out):
    regular = factorise(factors, blocks)
    if regular:
        substitute(factors, b, out)
    return regular


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_factors_fill_in_what_elimination_does(dim):
    rng = np.random.default_rng(dim)
    pattern = Pattern(30, [rng.integers(0, 30, (45, 2)).astype(np.int32)])
    factors = kept_factors(pattern)
    blocks, b = rng.standard_normal((len(pattern.indices), dim, dim)), rng.standard_normal((30, dim))
    blocks[pattern.diagonal()] += 20.0 * np.eye(dim)
    x = np.empty_like(b)
    assert solved(factors, blocks, b, x)
    np.testing.assert_allclose(pattern.matrix(blocks) @ x.ravel(), b.ravel(), rtol=0, atol=1e-12)
    assert len(factors.source) > len(pattern.indices), "nothing was filled in"
    assert products(factors) > 0
    blocks[pattern.diagonal()[factors.nodes[0]]] = 0.0
    assert not solved(factors, blocks, b, x)


@kernel
def definite(factors, blocks):
    return factorise(factors, blocks) and is_definite(factors)


@pytest.mark.parametrize("dim", [2, 3])
def test_factors_tell_which_matrices_are_positive_definite(dim):
    system, state = swinging(dim)
    pattern = system.pattern
    factors, found = kept_factors(pattern), []
    for inertia in (3e4, 1e4, 3e3, 1e3, 300.0, 100.0, 30.0, 1.0):
        blocks = pattern.zeros(dim)
        system.hessian_blocks(0.5 * state.q, blocks)  # bars that are compressed
        blocks[pattern.diagonal()] += inertia * np.eye(dim)
        found.append(definite(factors, blocks))
        assert found[-1] == (np.linalg.eigvalsh(pattern.matrix(blocks).toarray()).min() > 0.0)
    assert len(set(found)) == 2
