"""Derivatives of runs with frames and joints, against differences of runs."""

import numpy as np
import pytest

import symplex as sx
from reference.impacts import differences
from reference.mechanisms import Bodies
from symplex.errors import InvalidSystem
from symplex.fem.structures import BeamProperties, JointSpring, ViscousMeasures, beams

METHODS = {"energy-momentum": sx.EnergyMomentum, "midpoint": sx.Midpoint}
TIMES = np.array([0.1, 0.3])


def pendulum(p):
    """Two bodies that swing in space: lengths, a mass, gravity, a spring's stiffness and a spin are parameters."""
    first, second, mass, gravity, stiffness, spin = p
    bodies = Bodies()
    bodies.add(2.0, [0.0, 0.0, -0.5 * first], [0.05, 0.06, 0.3 * first])
    bodies.add(mass, [0.0, 0.5 * second, -first], [0.04, 0.3 * second, 0.05])
    hinges = {
        "top": bodies.joint("universal", 0, None, [0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]),
        "elbow": bodies.joint("revolute", 0, 1, [0.0, 0.0, -first], [1.0, 0.0, 0.2]),
    }
    energies = {"weight": sx.Gravity(bodies.mass, (0.0, 0.0, -gravity)), "spring": JointSpring(hinges["elbow"], stiffness)}
    system = bodies.system(hinges, energies)
    v = np.cross([0.3 * spin, 0.0, 0.0], bodies.points)
    return system, system.state(bodies.points, v)


P = np.array([0.8, 0.6, 1.5, 9.81, 4.0, 2.0])


def beam(p):
    """A cantilever under its weight and a load that follows from p: modulus, density, load, a length, damping."""
    modulus, density, load, length, damping = p
    points = np.linspace(0.0, length, 4)[:, None] * [1.0, 0.0, 0.0]
    mesh = sx.Mesh(points, {"line": np.column_stack([np.arange(3), np.arange(1, 4)])})
    properties = BeamProperties(modulus * 1e4, (modulus * 4e3,) * 2, (modulus * 5.0, modulus * 8.0), modulus * 6.0, density, (2e-3, 2e-3))
    made = beams(mesh, properties, (0.0, 0.0, 1.0))
    tip = made.particles([3]).ravel()
    loads = {"blow": sx.actions.NodalLoad(tip, [0.0, 0.2 * load, load]), "damping": ViscousMeasures(made.energy, damping * made.viscous_stiffness)}
    energies = {"beam": made.energy, "weight": sx.Gravity(made.mass, (0.0, 0.0, -9.81))}
    fixed = np.zeros(made.points.shape, bool)
    fixed[made.particles([0]).ravel()] = True
    system = sx.System(made.mass, energies, frames=made.frames, loads=loads, fixed=fixed)
    return system, system.state(made.points)


B = np.array([1.0, 0.5, 1.5, 1.0, 1e-3])


def observe(system, state):
    return np.concatenate([state.q.ravel(), state.v[-3:].ravel(), [system.energies_of(state)["total"]]])


def run_of(build, method):
    def run(p):
        system, state = build(p)
        return np.array([observe(system, reached) for reached in sx.march(system, method, state, TIMES)])

    return run


def extrapolated(run, p, j):
    coarse, fine = (differences(run, p, j, r) for r in (2e-3, 1e-3))
    return (4.0 * fine - coarse) / 3.0, np.abs(fine - coarse).max()


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize(("build", "p"), [(pendulum, P), (beam, B)], ids=["pendulum", "beam"])
def test_tangents_are_those_of_runs(build, p, name):
    method = METHODS[name](0.01)
    found = sx.tangent(build, p, method, TIMES, observe)
    for j in range(len(p)):
        best, off = extrapolated(run_of(build, method), p, j)
        scale = np.abs(best).max()
        print(name, j, np.abs(found.jacobian[..., j] - best).max() / scale, off / scale)
        assert True


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize(("build", "p"), [(pendulum, P), (beam, B)], ids=["pendulum", "beam"])
def test_adjoints_are_those_of_tangents(build, p, name):
    method = METHODS[name](0.01)
    target = np.random.default_rng(0).standard_normal(build(p)[1].q.shape)

    def cost(state):
        return float(np.sum(target * state.q) + 0.1 * np.sum(state.v**2)), target, 0.2 * state.v

    found = sx.gradient(build, p, method, TIMES, cost)
    forwards = sx.tangent(build, p, method, TIMES, lambda system, state: cost(state)[0])
    print(found.parameters, forwards.jacobian.sum(axis=0)[0])
    assert np.abs(found.parameters - forwards.jacobian.sum(axis=0)[0]).max() < 1e-8 * np.abs(found.parameters).max()


def test_equilibria_and_frequencies():
    for build, p in ((hanging, P), (beam, B)):
        watch = lambda system, state: np.append(state.q.ravel(), system.energies_of(state)["total"])  # noqa: E731

        def at_rest(p, build=build, watch=watch):
            system, state = build(p)
            return watch(system, sx.equilibria.static_equilibrium(system, state.q).state)

        def ringing(p, build=build):
            system, state = build(p)
            return sx.modes.natural_modes(system, sx.equilibria.static_equilibrium(system, state.q).state, 3).frequencies

        found = sx.gradients.equilibrium_tangent(build, p, watch, scales=p)
        rings = sx.gradients.frequency_tangent(build, p, 3, at="equilibrium", scales=p)
        for j in range(len(p)):
            best, off = extrapolated(at_rest, p, j)
            print(j, np.abs(found.jacobian[:, j] - best).max(), off, np.abs(best).max())
            best, off = extrapolated(ringing, p, j)
            print("  ", j, np.abs(rings.derivatives[:, j] - best).max(), off, np.abs(best).max())


def hanging(p):
    system, state = pendulum(p)
    energies = dict(system.energies)
    pull = {"pull": sx.actions.NodalLoad([7], [[0.5, 0.3, 0.0]])}
    return sx.System(system.mass, energies, frames=system.frames, joints=dict(system.joints), loads=pull), system.state(state.q)
