"""Gradients by one run back, against tangents, which go forwards, and against differences of runs."""

import tracemalloc

import numpy as np
import pytest
from scipy.optimize import minimize

import symplex as sx
from reference.impacts import CELLS, MESH, METHODS, PARAMETERS, differences, thrown, truss
from symplex.errors import InvalidArgument, InvalidSystem
from symplex.gradients.explicit_loop import ExplicitLoop
from symplex.gradients.family import Family
from symplex.gradients.integer_steps import IntegerSteps

TIMES = np.array([0.0, 4e-3, 12e-3])
WEIGHTS = np.random.default_rng(0).standard_normal((2, *MESH.points.shape))


def cost(state):
    by_q, by_v = WEIGHTS[0] * state.q, 1e-2 * WEIGHTS[1]
    return float(np.sum(0.5 * by_q * state.q) + np.sum(by_v * state.v)), by_q, by_v


@pytest.mark.parametrize("name", ["energy-momentum", "backward", "generalized-alpha", "explicit", "composition"])
def test_gradients_are_those_of_tangents(name):
    method = METHODS[name]
    forwards = sx.tangent(thrown, PARAMETERS, method, TIMES, lambda system, state: cost(state)[0])
    found = sx.gradient(thrown, PARAMETERS, method, TIMES, cost)
    assert found.value == pytest.approx(forwards.values.sum(), rel=1e-13)
    expected = forwards.jacobian[:, 0].sum(axis=0)
    assert np.allclose(found.parameters, expected, rtol=2e-8, atol=0.0)


@pytest.mark.parametrize("name", ["energy-momentum", "hht", "explicit"])
def test_steps_that_are_taken_again_from_checkpoints_give_the_same_bits(name):
    whole, again = (sx.gradient(thrown, PARAMETERS, METHODS[name], TIMES, cost, budget=b) for b in (1e9, 1e4))
    assert np.array_equal(whole.parameters, again.parameters)
    assert np.array_equal(whole.q0, again.q0)
    assert np.array_equal(whole.v0, again.v0)


@pytest.mark.parametrize("name", ["energy-momentum", "midpoint", "trapezoidal", "explicit"])
def test_positions_velocities_masses_and_moduli_of_elements(name):
    method, random = METHODS[name], np.random.default_rng(1)
    system, state = thrown(PARAMETERS)
    found = sx.gradient(thrown, PARAMETERS, method, TIMES, cost, factors=["block"])
    moduli = random.random(len(CELLS))

    def value(q, v, mass, factors):
        parts = dict(system.energies)
        lmbda, mu = PARAMETERS[0] * 0.3 / (1.3 * 0.4), 0.5 * PARAMETERS[0] / 1.3
        for e, factor in enumerate(factors):
            if factor:  # a part of one element, in addition
                law = sx.NeoHookean(lmbda=factor * lmbda, mu=factor * mu, density=1000.0)
                parts[f"element {e}"] = sx.Solid(MESH.points, CELLS[e : e + 1], law)
        changed = sx.System(mass, parts, loads=system.loads)
        return sum(cost(one)[0] for one in sx.march(changed, method, changed.state(q, v), TIMES))

    nothing = np.zeros(len(CELLS))
    given = {"q": state.q, "v": state.v, "mass": np.asarray(system.mass), "factors": nothing}
    along = {"q": 1e-2 * WEIGHTS[1], "v": WEIGHTS[0], "mass": 0.1 * system.mass * random.random(len(system.mass))}
    expected = {"q": np.sum(found.q0 * along["q"]), "v": np.sum(found.v0 * along["v"])}
    expected["mass"] = np.sum(found.mass * along["mass"])
    for what, direction in along.items():
        errors = []
        for h in (1e-3, 2e-4, 4e-5):
            ends = [value(**given | {what: given[what] + s * h * direction}) for s in (1.0, -1.0)]
            errors.append(abs((ends[0] - ends[1]) / (2.0 * h) / expected[what] - 1.0))
        assert min(errors) < 1e-6, (what, errors)
    # More of it only, as no modulus is negative: the slope at the start of a cubic.
    h, weights = 2e-3, (-11.0, 18.0, -9.0, 2.0)
    slope = sum(w * value(**given | {"factors": k * h * moduli}) for k, w in enumerate(weights)) / (6.0 * h)
    assert slope == pytest.approx(
        np.sum(found.factors["block"] * moduli), abs=1e-5 * np.abs(found.factors["block"]).sum()
    )


def dropped(p):
    """A block without friction and damping that hits the floor, held on an edge and pushed: one compiled loop."""
    young, stiffness, density, gravity, push, speed = p
    strain = sx.Solid(MESH.points, CELLS, sx.NeoHookean.from_young(young, 0.3, density))
    mass = sx.lumped_mass(MESH.points, CELLS, density, len(MESH.points))
    floor = sx.RigidContact(MESH.boundary_nodes, sx.HalfSpace((0.0, 0.0, -0.001), (0.1, 0.0, 1.0)), stiffness)
    energies = {"block": strain, "gravity": sx.Gravity(mass, (0.0, 0.0, -gravity)), "floor": floor}
    load = sx.actions.NodalLoad([1, 3], (push, 0.0, 0.0), lambda t: 1.0 + 50.0 * t)
    held = sx.fixed_mask(len(MESH.points), [([4], "y")])
    system = sx.System(mass, energies, loads={"push": load}, fixed=held)
    return system, system.state(MESH.points, speed * np.array([0.3, 0.0, -1.0]))


DROPPED = np.array([1e5, 2e3, 1000.0, 9.81, 2.0, 1.5])


@pytest.mark.parametrize("method", [sx.Newmark(2e-4), sx.Composition(sx.Newmark(4e-4), 4)], ids=["newmark", "fourth"])
def test_explicit_steps_in_one_loop(method):
    forwards = sx.tangent(dropped, DROPPED, method, TIMES, lambda system, state: cost(state)[0])
    found = sx.gradient(dropped, DROPPED, method, TIMES, cost, factors=["block"])
    assert np.allclose(found.parameters, forwards.jacobian[:, 0].sum(axis=0), rtol=1e-9, atol=0.0)
    assert found.factors["block"].sum() == pytest.approx(DROPPED[0] * found.parameters[0], rel=1e-9)
    again = sx.gradient(dropped, DROPPED, method, TIMES, cost, budget=1e4)
    assert np.array_equal(found.q0, again.q0)
    assert np.array_equal(found.v0, again.v0)
    assert np.allclose(found.parameters, again.parameters, rtol=1e-12)
    assert again.growth == found.growth

    def value(p):
        system, state = dropped(p)
        return sum(cost(reached)[0] for reached in sx.march(system, method, state, TIMES))

    for j in range(len(DROPPED)):
        coarse, fine = (differences(value, DROPPED, j, r) for r in (4e-4, 2e-4))
        assert (4.0 * fine - coarse) / 3.0 == pytest.approx(found.parameters[j], rel=1e-5)


def flying(p):
    """The block that is dropped, without the load that depends on time."""
    system, state = dropped(np.concatenate([p, DROPPED[4:]]))
    return sx.System(system.mass, system.energies, fixed=system.fixed), state


@pytest.mark.parametrize("method", [sx.Newmark(2e-4), sx.EnergyMomentum(4e-4), sx.Midpoint(4e-4)])
def test_states_that_are_walked_back_to(method):
    kept = sx.gradient(flying, DROPPED[:4], method, TIMES, cost, factors=["block"])
    walked = sx.gradient(flying, DROPPED[:4], method, TIMES, cost, factors=["block"], states="walk back", budget=0.0)
    assert walked.retaken == 0
    assert walked.value == pytest.approx(kept.value, rel=1e-13)
    for name in ("parameters", "q0", "v0", "mass"):
        one, other = getattr(walked, name), getattr(kept, name)
        assert np.abs(one - other).max() < 1e-10 * np.abs(other).max(), name


def test_steps_on_integers_return_to_the_same_bits():
    system, state = flying(DROPPED[:4])
    a = system.accelerations_at(state.t, state.q, state.v)
    steps = IntegerSteps(system, sx.State(state.t, state.q, state.v, a), 2e-4)
    before = steps.positions.copy(), steps.velocities.copy()
    steps.advance(3000)
    loop = ExplicitLoop(Family(flying, DROPPED[:4]), lambda *given: None, False)
    assert (steps.positions != before[0]).any()
    loop.walk(3000, steps)
    assert np.array_equal(steps.positions, before[0])
    assert np.array_equal(steps.velocities, before[1])


@pytest.mark.slow
def test_where_states_do_not_return_steps_are_taken_again():
    """A block that slides on a floor until friction sticks: its steps back leave the path."""

    def sliding(p):
        system, state = thrown(np.concatenate([p, PARAMETERS[2:4], [0.9, 9.81, 0.0, 1e-2]]))
        return system, system.state(state.q - [0.0, 0.0, 0.0035], [0.05, 0.0, 0.0])

    method, times = sx.EnergyMomentum(2e-3), [0.1]
    kept = sx.gradient(sliding, PARAMETERS[:2], method, times, cost)
    walked = sx.gradient(sliding, PARAMETERS[:2], method, times, cost, states="walk back")
    assert kept.retaken == 0
    assert 0 < walked.retaken <= 50
    assert np.allclose(walked.parameters, kept.parameters, rtol=1e-8, atol=0.0)


def test_a_hundred_thousand_steps_take_the_memory_of_a_few():
    def build(p):
        spring = sx.Bars([[0, 1]], sx.measures.GreenStrain(p[0], 1.0))
        system = sx.System([1.0, 2.0], {"spring": spring})
        return system, system.state([[0, 0, 0], [1.1, 0, 0]], [[0, 0, 0.3], [0, 0, -0.15]])

    def end(state):
        return float(state.q[0, 2]), np.array([[0, 0, 1.0], [0, 0, 0]]), np.zeros((2, 3))

    given = build, [40.0], sx.Newmark(1e-2), [1e3], end
    sx.gradient(*given[:3], [1.0], end, states="walk back")  # compiles
    tracemalloc.start()
    walked = sx.gradient(*given, states="walk back")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5e5  # steps kept are 10 MB
    coarse, fine = (differences(lambda p: _end(build, p), np.array([40.0]), 0, r) for r in (2e-6, 1e-6))
    assert walked.parameters[0] == pytest.approx((4.0 * fine - coarse) / 3.0, rel=1e-5)


def _end(build, p):
    system, state = build(p)
    return next(sx.march(system, sx.Newmark(1e-2), state, [1e3])).q[0, 2]


def test_what_cannot_be_walked_back_is_refused():
    with pytest.raises(InvalidSystem, match="is known of EnergyMomentum, Midpoint and explicit Newmark"):
        sx.gradient(thrown, PARAMETERS, METHODS["hht"], TIMES, cost, states="walk back")
    with pytest.raises(InvalidSystem, match=r"by explicit steps is known without loads .* got 'push'"):
        sx.gradient(dropped, DROPPED, sx.Newmark(2e-4), TIMES, cost, states="walk back")


def test_growth_tells_of_unstable_motions():
    def build(p):  # a mass that springs push away from a line: e^(t √(k/m))
        spring = sx.Bars([[0, 1]], sx.measures.InverseDistance(p[0]), dim=2)
        system = sx.System([1.0, 1.0], {"spring": spring}, dim=2)
        return system, system.state([[-1.0, 0.0], [1.0, 0.0]], [[0.0, 0.3], [0.0, -0.3]])

    def end(state):
        return float(state.q[0, 0]), np.eye(2) * [[1.0], [0.0]], np.zeros((2, 2))

    short, long = (sx.gradient(build, [1.0], sx.Newmark(1e-3), [t], end).growth for t in (0.1, 4.0))
    assert short < 2.0 < long


def test_what_is_wrong_is_refused():
    p = [50.0, 1.1, 0.4, 0.3, 2.0, 0.3]
    with pytest.raises(InvalidSystem, match=r"factors must be energies .*\['bars', 'gravity'\], got 'bar'"):
        sx.gradient(truss, p, sx.Newmark(1e-3), [0.1], lambda state: (0.0, state.q, state.v), factors=["bar"])
    for wrong in (lambda state: 1.0, lambda state: (1.0, state.q, 0.0), lambda state: ("x", state.q, state.v)):
        with pytest.raises(InvalidArgument, match="cost must return a number and its derivatives"):
            sx.gradient(truss, p, sx.Newmark(1e-3), [0.1], wrong)


@pytest.mark.slow
def test_twenty_seven_moduli_of_a_cube():
    """The modulus of each of 27 elements of a cube from how its surface moves after a blow, by L-BFGS."""
    mesh = sx.box((0.3, 0.3, 0.3), (3, 3, 3), split="hexahedra")
    cells = mesh.cells["hexahedron"]
    mass = sx.lumped_mass(mesh.points, cells, 1000.0, len(mesh.points))
    names = [f"element {e}" for e in range(27)]
    made = 1.0 + 0.4 * np.random.default_rng(3).uniform(-1.0, 1.0, 27)
    v = np.zeros(mesh.points.shape)
    v[mesh.points[:, 0] == 0.0] = [1.0, 0.5, -0.3]
    method, times = sx.Newmark(2e-3), np.arange(1, 26) * 4e-3
    surface = mesh.boundary_nodes

    def build(moduli):
        laws = [sx.NeoHookean.from_young(1e5 * modulus, 0.3, 1000.0) for modulus in moduli]
        parts = {name: sx.Solid(mesh.points, cells[e : e + 1], laws[e]) for e, name in enumerate(names)}
        system = sx.System(mass, parts)
        return system, system.state(mesh.points, v)

    seen = [state.q[surface] for state in sx.march(*build(made)[:1], method, build(made)[1], times)]
    at = {round(float(t), 9): q for t, q in zip(times, seen, strict=True)}

    def misfit(moduli):
        def cost(state):
            by_q = np.zeros_like(state.q)
            by_q[surface] = 1e6 * (state.q[surface] - at[round(state.t, 9)])
            return 0.5 * float(np.sum(by_q[surface] ** 2)) / 1e6, by_q, np.zeros_like(by_q)

        found = sx.gradient(lambda p: build(moduli), [1.0], method, times, cost, factors=names)
        return found.value, np.array([found.factors[name].sum() for name in names]) / moduli

    start = np.ones(27)
    value, slopes = misfit(start)
    random = np.random.default_rng(0).standard_normal(27)
    ends = [misfit(start + sign * 1e-5 * random)[0] for sign in (1.0, -1.0)]
    assert slopes @ random == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-6)
    found = minimize(
        misfit,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.2, 5.0)] * 27,
        options={"maxiter": 400, "ftol": 1e-14, "gtol": 1e-10},
    )
    assert found.fun < 1e-6 * value
    assert np.abs(found.x / made - 1.0).max() < 0.02
