"""Derivatives of runs of metals, viscoelastic bodies and bars that yield, against differences of runs."""

import numpy as np
import pytest

import symplex as sx
from reference.impacts import differences
from reference.metal_bodies import solid_of
from symplex.errors import InvalidSystem
from symplex.fem.solids.hardening import Hardening
from symplex.fem.solids.plastic import Plastic
from symplex.fem.solids.solid import Solid

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


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("case", CASES)
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


def test_what_has_none_is_refused_by_name():
    build, p, dt, end = CASES["metal"]
    with pytest.raises(InvalidSystem, match="internal variables of 'bar' have no derivatives backwards"):
        sx.gradient(build, p, sx.Newmark(dt), [end], lambda state: (0.0, 0.0 * state.q, 0.0 * state.q))
