"""Derivatives of runs of metals, viscoelastic bodies and bars that yield, against differences of runs."""

import numpy as np
import pytest

import symplex as sx
from reference.impacts import differences
from reference.lines import straight
from reference.metal_bodies import solid_of
from symplex.fem.couplings.cohesive import CohesiveFaces
from symplex.fem.measures.inelastic_bars import InelasticBars
from symplex.fem.measures.separation import TractionSeparation
from symplex.fem.solids.hardening import Hardening
from symplex.fem.solids.plastic import Plastic
from symplex.fem.solids.solid import Solid
from symplex.fem.structures import Section, YieldingBeams, beams
from symplex.fem.structures.yielding import YieldingBar

METHODS = {
    "energy-momentum": sx.EnergyMomentum,
    "midpoint": sx.Midpoint,
    "trapezoidal": sx.Newmark.trapezoidal,
    "hht": sx.HilberHughesTaylor,
    "explicit": sx.Newmark,
}


def metal(p):
    """A bar of copper that is torn and twisted until it flows: yield stress, hardening, modulus, density and speed."""
    strength, hardening, modulus, density, speed = p
    solid = solid_of("hexahedron", (2, 1, 1))
    law = sx.NeoHookean.from_young(modulus, 0.35, density)
    solid = Solid(solid.points, solid.nodes, law, formulation="mean-dilatation")
    part = Plastic(solid, Hardening(strength, modulus=hardening))
    mass = sx.lumped_mass(solid.points, solid.nodes, density, len(solid.points))
    system = sx.System(mass, {}, inelastic={"bar": part})
    x = solid.points
    v = speed * np.stack([x[:, 0] - 0.02, 0.3 * x[:, 0] * x[:, 2] / 0.02, -0.4 * x[:, 1]], axis=1)
    return system, system.state(x, v)


METAL = np.array([4e8, 1e9, 117e9, 8930.0, 4e3])


def rubber(p):
    """A viscoelastic block that spins and rings: two moduli, a relaxation time and a speed."""
    modulus, over, time, speed = p
    mesh = sx.box((0.1, 0.08, 0.06), (1, 1, 1), split="hexahedra")
    cells = mesh.cells["hexahedron"]
    solid = Solid(mesh.points, cells, sx.NeoHookean.from_young(modulus, 0.4, 1000.0))
    part = sx.Viscoelastic(solid, [over], [time])
    mass = sx.lumped_mass(mesh.points, cells, 1000.0, len(mesh.points))
    system = sx.System(mass, {"block": solid}, inelastic={"overstress": part})
    x = mesh.points - mesh.points.mean(axis=0)
    return system, system.state(mesh.points, speed * (np.cross([1.0, 2.0, 0.5], x) + 3.0 * x * [1.0, -0.5, 0.2]))


RUBBER = np.array([1e5, 8e4, 0.02, 4.0])
CASES = {"metal": (metal, METAL, 1e-7, 4e-6), "rubber": (rubber, RUBBER, 1e-3, 0.03)}


def observe(system, state):
    z = next(iter(state.internal.values()))
    return np.concatenate([state.q.ravel(), state.v[-2:].ravel(), [system.energies_of(state)["total"]], z.ravel()[:6]])


def pairs(cases, fast):
    """Return cases with all methods, of which the fast suite has some pairs."""
    made = [(case, name) for case in cases for name in METHODS]
    # Of beams one implicit method is enough: that they have frames, of which these are tested elsewhere, is one path.
    made = [pair for pair in made if pair[0] != "beam" or pair[1] in ("midpoint", "energy-momentum")]
    return [pytest.param(*pair, marks=[pytest.mark.slow] * (pair not in fast)) for pair in made]


@pytest.mark.parametrize(("case", "name"), pairs(CASES, [("metal", "energy-momentum"), ("rubber", "midpoint")]))
def test_tangents_are_those_of_runs(case, name):
    build, p, dt, end = CASES[case]
    method, times = METHODS[name](dt), [0.5 * end, end]

    def run(p):
        system, state = build(p)
        return np.array([observe(system, reached) for reached in sx.march(system, method, state, times)])

    found = sx.tangent(build, p, method, times, observe)
    for j in range(len(p)):
        scale = np.abs(found.jacobian[..., j]).max(axis=0) + np.finfo(float).tiny
        errors = []
        for r in (1e-3, 2e-4, 4e-5):  # by the square of the step, by rounding over it, where a point begins to flow
            off = np.abs(found.jacobian[..., j] - differences(run, p, j, r)).max(axis=0)
            errors.append(float((off / scale).max()))
        assert min(errors) < (1e-5 if case == "metal" else 2e-7), (j, errors)


def test_a_start_that_has_flowed_and_a_second_run_from_there():
    """A run in two parts has the derivatives of one."""
    build, p, dt, end = CASES["rubber"]
    method = sx.EnergyMomentum(dt)
    whole = sx.tangent(build, p, method, [end], observe)
    first = sx.tangent(build, p, method, [0.5 * end], observe)

    def second(p_now):
        system, _ = build(p_now)
        return system, first.state_at(p_now - p)

    found = sx.tangent(second, p, method, [end], observe)
    scale = np.abs(whole.jacobian).max(axis=1, keepdims=True)
    assert np.abs(found.jacobian - whole.jacobian).max() < 1e-8 * scale.max()
    assert (np.abs(found.jacobian - whole.jacobian) < 1e-7 * scale).all()


def yielding_truss(p):
    """Three bars that yield: modulus, yield stress, hardening, a back stress and the speed of the node they hold."""
    young, strength, hardening, back, speed = p
    points = np.array([[0.0, 0.0, 0.0], [-1.0, 0.0, 1.0], [1.0, 0.0, 1.0], [0.1, 1.0, 1.0]])
    lines = np.array([[0, 1], [0, 2], [0, 3]])
    lengths = np.linalg.norm(points[lines[:, 1]] - points[lines[:, 0]], axis=1)
    law = YieldingBar(young, 1e-4, lengths, Hardening(strength, modulus=hardening).with_back_stress(back))
    fixed = np.arange(4)[:, None] * np.ones(3) > 0
    system = sx.System([5.0, 1.0, 1.0, 1.0], {}, fixed=fixed, inelastic={"bars": InelasticBars(lines, law)})
    return system, system.state(points, [[speed, -0.3 * speed, -speed], *np.zeros((3, 3))])


def glued(p):
    """Two plates whose glue is opened on one side until it is damaged: strength, toughness, stiffness and speed."""
    strength, toughness, stiffness, speed = p
    flat = np.array([[0, 0, 0], [1, 0, 0], [1.1, 1, 0.1], [0, 0.9, 0]], float)
    points = np.vstack([flat, flat])
    law = TractionSeparation(strength, toughness, stiffness)
    part = CohesiveFaces([range(4)], [range(4, 8)], points, law, shear_ratio=0.8)
    ties = sx.Bars(
        [(a, b) for k in (0, 4) for a in range(k, k + 4) for b in range(a + 1, k + 4)],
        sx.measures.GreenStrain(200.0, 1.0),
    )
    system = sx.System(np.full(8, 0.1), {"plates": ties}, inelastic={"glue": part})
    v = np.zeros((8, 3))
    v[4:] = speed * np.array([[0.2, 0, 0.1], [0.1, 0.1, 1.0], [0.0, 0.1, 0.8], [0.1, 0, 0.2]])
    return system, system.state(points, v)


def yielding_beam(p):
    """A cantilever of steel that a blow bends until it yields: yield stress, hardening, modulus and the blow."""
    strength, hardening, modulus, blow = p
    section = Section.rectangle(0.1, 0.06)
    made = beams(straight(2, 1.0), section.of(sx.NeoHookean.from_young(modulus, 0.3, 7850.0)), (0.0, 0.0, 1.0))
    part = YieldingBeams(made, section.limits(strength), Hardening(strength, hardening))
    push = sx.actions.NodalLoad(made.particles([2]).ravel(), [0.0, 0.2 * blow, blow])
    options = {"frames": made.frames, "fixed": made.fixed([0]), "loads": {"push": push}}
    system = sx.System(made.mass, {}, inelastic={"beam": part}, **options)
    return system, system.state(made.points)


BACKWARDS = CASES | {
    "truss": (yielding_truss, np.array([2e11, 2e8, 5e9, 1e10, 8.0]), 2e-4, 4e-3),
    "glue": (glued, np.array([2.0, 1.0, 20.0, 1.5]), 0.01, 0.4),
    "beam": (yielding_beam, np.array([2.4e8, 2e9, 2.1e11, 3e4]), 5e-4, 0.01),
}
# A mean force over an increment has two second derivatives where this begins at yield, as all do that flow.
TOLERANCES = {(case, "energy-momentum"): 3e-5 for case in ("truss", "beam")}
TOLERANCES |= {("metal", name): 5e-6 for name in METHODS}


SHORT = [("metal", "explicit"), ("rubber", "hht"), ("truss", "energy-momentum"), ("glue", "explicit")]


@pytest.mark.parametrize(("case", "name"), pairs(BACKWARDS, [*SHORT, ("beam", "midpoint")]))
def test_adjoints_are_those_of_tangents(case, name):
    build, p, dt, end = BACKWARDS[case]
    method, times = METHODS[name](dt), [0.5 * end, end]
    state = build(p)[1]
    weights = np.random.default_rng(0).standard_normal((2, *state.q.shape))
    length, speed = np.ptp(state.q), np.abs(state.v).max() or 1.0

    def cost(reached):
        by_q, by_v = weights[0] * (reached.q - state.q) / length**2, weights[1] / speed
        return float(0.5 * np.sum(by_q * (reached.q - state.q)) + np.sum(by_v * reached.v)), by_q, by_v

    forwards = sx.tangent(build, p, method, times, lambda system, reached: cost(reached)[0])
    end = next(iter(forwards.state.internal.values()))
    assert np.abs(end - next(iter(state.internal.values()))).max() > 0.0  # they act
    expected = forwards.jacobian.sum(axis=0)[0]
    found = sx.gradient(build, p, method, times, cost)
    tolerance = TOLERANCES.get((case, name), 1e-7)
    assert np.abs(found.parameters / expected - 1.0).max() < tolerance


def test_derivatives_by_internal_variables_of_the_start():
    build, p, dt, end = CASES["metal"]
    method = sx.EnergyMomentum(dt)
    first = next(iter(sx.march(*build(p)[:1], method, build(p)[1], [0.5 * end])))
    flowed, random = first.internal["bar"], np.random.default_rng(1)
    along = 1e-3 * random.standard_normal(flowed.shape) * np.abs(flowed)
    weights = random.standard_normal(first.q.shape)

    def cost(state):
        return float(np.sum(weights * state.q)), weights, np.zeros_like(weights)

    def value(e):
        system, _ = build(p)
        start = sx.State(first.t, first.q, first.v, first.a, internal={"bar": flowed + e * along})
        return next(cost(state)[0] for state in sx.march(system, method, start, [end]))

    def start(p_now):
        return build(p)[0], sx.State(first.t, first.q, p_now[0] * first.v, first.a, internal={"bar": flowed})

    found = sx.gradient(start, [1.0], method, [end], cost)
    errors = [
        abs((value(e) - value(-e)) / (2.0 * e) / np.sum(found.z0["bar"] * along) - 1.0) for e in (1e-1, 1e-2, 1e-3)
    ]
    assert min(errors) < 1e-5, errors
