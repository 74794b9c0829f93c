"""Derivatives of runs with frames and joints, against differences of runs."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import least_squares

import symplex as sx
from reference.impacts import differences
from reference.mechanisms import Bodies
from symplex.errors import InvalidSystem
from symplex.fem.structures import (
    BeamProperties,
    Coupling,
    Frames,
    Joint,
    JointSpring,
    ViscoelasticSections,
    ViscousMeasures,
    beams,
    body_particles,
)

METHODS = {"energy-momentum": sx.EnergyMomentum, "midpoint": sx.Midpoint}
CARRYING = {"newmark": lambda h: sx.Newmark(h, beta=0.25), "generalised-alpha": lambda h: sx.GeneralizedAlpha(h, 0.8)}
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
    weight = sx.Gravity(bodies.mass, (0.0, 0.0, -gravity))
    system = bodies.system(hinges, {"weight": weight, "spring": JointSpring(hinges["elbow"], stiffness)})
    return system, system.state(bodies.points, np.cross([0.3 * spin, 0.0, 0.0], bodies.points))


def pulled(p):
    """The same under a force at its end, to come to rest."""
    system, state = pendulum(p)
    pull = {"pull": sx.actions.NodalLoad([7], [[0.5, 0.3, 0.0]])}
    options = {"frames": system.frames, "joints": dict(system.joints), "loads": pull}
    return sx.System(system.mass, system.energies, **options), system.state(state.q)


def beam(p):
    """A cantilever under its weight and a load at its tip: modulus, density, load, length and damping."""
    modulus, density, load, length, damping = p
    points = np.linspace(0.0, length, 4)[:, None] * [1.0, 0.0, 0.0]
    mesh = sx.Mesh(points, {"line": np.column_stack([np.arange(3), np.arange(1, 4)])})
    stiffness = [modulus * k for k in (1e4, 4e3, 5.0, 8.0, 6.0)]
    section = BeamProperties(
        stiffness[0], (stiffness[1],) * 2, tuple(stiffness[2:4]), stiffness[4], density, (2e-3,) * 2
    )
    made = beams(mesh, section, (0.0, 0.0, 1.0))
    loads = {
        "blow": sx.actions.NodalLoad(made.particles([3]).ravel(), [0.0, 0.2 * load, load]),
        "damping": ViscousMeasures(made.energy, damping * made.viscous_stiffness),
    }
    energies = {"beam": made.energy, "weight": sx.Gravity(made.mass, (0.0, 0.0, -9.81))}
    system = sx.System(made.mass, energies, frames=made.frames, loads=loads, fixed=made.fixed([0]))
    return system, system.state(made.points)


def driven(p):
    """A redundant four-bar linkage with a motor: the length of its rocker, a mass and the motor's speed."""
    length, mass, speed = p
    corners = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.4], [0.9, 0.0, length], [0.8, 0.0, 0.0]])
    bodies, axis = Bodies(), [0.0, 1.0, 0.0]
    for (a, b), m in zip(pairwise(corners), (0.5, mass, 1.0), strict=True):
        along = (b - a) / np.linalg.norm(b - a)
        axes = [along, axis, np.cross(along, axis)]
        bodies.add(m, 0.5 * (a + b), [np.linalg.norm(b - a) / np.sqrt(12.0), 0.03, 0.03], axes)
    ends = ((0, None), (0, 1), (1, 2), (2, None))
    turned = {"angle": sx.actions.TimeFunction.differenced(lambda t: speed * t * t, 1e-3)}
    joints = {
        f"hinge {k}": bodies.joint("revolute", *ends[k], corners[k], axis, **(turned if k == 0 else {}))
        for k in range(4)
    }
    system = bodies.system(joints, {"weight": sx.Gravity(bodies.mass, (0.0, 0.0, -9.81))})
    return system, system.state(bodies.points)


def hung(p):
    """A rubber bar between two rigid bodies, of which one hangs on a hinge: modulus, length, gravity and spin."""
    young, length, gravity, spin = p
    law, mesh = sx.NeoHookean.from_young(young, 0.3, 1200.0), sx.box((length, 0.03, 0.03), (2, 1, 1), split="hexahedra")
    cells, n = mesh.cells["hexahedron"], len(mesh.points)
    parts = [body_particles(0.05, [end, 0.015, 0.015], [0.005, 0.01, 0.012]) for end in (0.0, length)]
    x = np.concatenate([mesh.points, *(points for points, _ in parts)])
    mass = np.concatenate([sx.lumped_mass(mesh.points, cells, 1200.0, n), *(masses for _, masses in parts)])
    frames = Frames(n + np.arange(8).reshape(2, 4), x)
    ends = ("x_min", "x_max")
    joints = {end: Coupling(frames.nodes[k], mesh.nodes_of(end), x) for k, end in enumerate(ends)}
    joints["hinge"] = Joint("revolute", (frames.nodes[0], None), x, [0.0, 0.015, 0.015], axis=[0.0, 1.0, 0.0])
    energies = {"bar": sx.Solid(x, cells, law), "weight": sx.Gravity(mass, (0.0, 0.0, -gravity))}
    system = sx.System(mass, energies, frames=frames, joints=joints)
    return system, system.state(x, np.cross([0.0, spin, 0.0], x - [0.0, 0.015, 0.015]))


def heavy(p):
    """A cantilever with a consistent mass and sections that creep: modulus, ratio, time and a load."""
    modulus, ratio, time, load = p
    points = np.linspace(0.0, 1.0, 3)[:, None] * [1.0, 0.0, 0.0]
    mesh = sx.Mesh(points, {"line": np.array([[0, 1], [1, 2]])})
    axial, shear, bending, torsion = modulus * 1e4, modulus * 4e3, modulus * 5.0, modulus * 6.0
    section = BeamProperties(axial, (shear, shear), (bending, 1.6 * bending), torsion, 0.5, (2e-3, 2e-3))
    made = beams(mesh, section, (0.0, 0.0, 1.0))
    loads = {"blow": sx.actions.NodalLoad(made.particles([2]).ravel(), [0.0, 0.2 * load, load])}
    parts = {"creep": ViscoelasticSections.prony(made.strains, [ratio], [time])}
    options = {"frames": made.frames, "loads": loads, "fixed": made.fixed([0]), "inelastic": parts}
    system = sx.System(made.consistent_mass, {"beam": made.energy}, **options)
    return system, system.state(made.points)


PENDULUM = np.array([0.8, 0.6, 1.5, 9.81, 4.0, 2.0])
BEAM = np.array([1.0, 0.5, 1.5, 1.0, 1e-3])
CASES = {"pendulum": (pendulum, PENDULUM), "beam": (beam, BEAM), "driven": (driven, np.array([0.7, 2.0, 3.0]))}
SOLID = {"solid": (hung, np.array([5e6, 0.3, 9.81, 2.0]))}
CREEPING = {"creeping": (heavy, np.array([1.0, 0.3, 0.05, 1.5]))}


def pairs(*given):
    """Return all cases with all methods, of which the fast suite has a pendulum and one case for each method."""
    fast = {("pendulum", "midpoint"), *zip(given, METHODS, strict=True)}
    made = [(case, name) for case in CASES | SOLID | CREEPING for name in METHODS]
    return [pytest.param(*pair, marks=[pytest.mark.slow] * (pair not in fast)) for pair in made]


def carrying(cases):
    """Return cases with the methods that carry accelerations, of which the fast suite has one."""
    made = [(case, name) for case in cases for name in CARRYING]
    return [pytest.param(*pair, marks=[pytest.mark.slow] * (pair != ("beam", made[0][1]))) for pair in made]


def observe(system, state):
    return np.concatenate([state.q.ravel(), state.v[-3:].ravel(), state.a[-1], [system.energies_of(state)["total"]]])


def extrapolated(function, p, j):
    """Return the derivative of a function by p_j from differences of two steps."""
    coarse, fine = (differences(function, p, j, r) for r in (2e-3, 1e-3))
    return (4.0 * fine - coarse) / 3.0


@pytest.mark.parametrize(
    ("case", "name"), [*pairs("beam", "driven"), *carrying(["pendulum", "beam", "solid", "creeping"])]
)
def test_tangents_are_those_of_runs(case, name):
    (build, p), method = (CASES | SOLID | CREEPING)[case], (METHODS | CARRYING)[name](0.01)

    def run(p):
        system, state = build(p)
        return np.array([observe(system, reached) for reached in sx.march(system, method, state, TIMES)])

    found = sx.tangent(build, p, method, TIMES, observe)
    for j in range(len(p)):
        best = extrapolated(run, p, j)
        assert np.abs(found.jacobian[..., j] - best).max() < 1e-6 * np.abs(best).max(), j


@pytest.mark.parametrize(("case", "name"), [*pairs("driven", "beam"), *carrying(["beam"])])
def test_adjoints_are_those_of_tangents(case, name):
    (build, p), method = (CASES | SOLID | CREEPING)[case], (METHODS | CARRYING)[name](0.01)
    weights = np.random.default_rng(0).standard_normal(build(p)[1].q.shape)

    def cost(state):
        return float(np.sum(weights * state.q) + 0.1 * np.sum(state.v**2)), weights, 0.2 * state.v

    found = sx.gradient(build, p, method, TIMES, cost)
    forwards = sx.tangent(build, p, method, TIMES, lambda system, state: cost(state)[0]).jacobian.sum(axis=0)[0]
    assert np.abs(found.parameters - forwards).max() < 1e-8 * np.abs(forwards).max()


SLOW = pytest.param(pulled, PENDULUM[:5], marks=pytest.mark.slow)


@pytest.mark.parametrize(("build", "p"), [SLOW, (beam, BEAM)], ids=["pendulum", "beam"])
def test_equilibria_and_frequencies(build, p):
    def made(p):
        return build(np.append(p, 2.0)) if build is pulled else build(p)

    def energy(system, state):
        return np.append(state.q.ravel(), system.energies_of(state)["total"])

    def at_rest(p):
        system, state = made(p)
        return energy(system, sx.equilibria.static_equilibrium(system, state.q).state)

    def frequencies(p):
        system, state = made(p)
        found = sx.equilibria.static_equilibrium(system, state.q)
        return sx.modes.natural_modes(system, found.state, 3).frequencies

    found = sx.gradients.equilibrium_tangent(made, p, energy)
    rings = sx.gradients.frequency_tangent(made, p, 3, at="equilibrium")
    for j in range(len(p)):
        for slopes, function in ((found.jacobian, at_rest), (rings.derivatives, frequencies)):
            best = extrapolated(function, p, j)
            # A slope of 0 is found to the rounding of 9 Hz over the differences, 1e-6, of a damping of 1e-3.
            assert np.abs(slopes[:, j] - best).max() < 1e-6 * max(np.abs(best).max(), 2e-2), j


@pytest.mark.slow
def test_a_linkage_that_is_to_pass_a_point():
    """The lengths of a pendulum with which its end passes a given place, by least squares."""
    method, times = sx.EnergyMomentum(0.01), [0.2, 0.4]
    given = np.array([0.85, 0.5])

    def build(lengths):
        return pendulum(np.concatenate([lengths, PENDULUM[2:]]))

    def end(system, state):
        return state.q[7]

    measured = sx.tangent(build, given, method, times, end).values

    def residuals(lengths):
        return (sx.tangent(build, lengths, method, times, end).values - measured).ravel()

    def jacobian(lengths):
        return sx.tangent(build, lengths, method, times, end).jacobian.reshape(-1, 2)

    found = least_squares(residuals, [0.7, 0.65], jac=jacobian, xtol=1e-14, gtol=1e-14, ftol=1e-14)
    assert np.abs(found.x - given).max() < 1e-8


def test_what_has_none_is_refused_by_name():
    with pytest.raises(InvalidSystem, match="tangent: explicit Newmark has no derivatives with frames"):
        sx.tangent(beam, BEAM, sx.Newmark(1e-3), TIMES)
    for build, p, part in ((pendulum, PENDULUM, "joints"), (heavy, CREEPING["creeping"][1], "a consistent mass")):
        with pytest.raises(InvalidSystem, match=f"gradient: with {part}, GeneralizedAlpha has tangents only"):
            sx.gradient(build, p, sx.GeneralizedAlpha(0.01), TIMES, lambda s: (0.0, 0 * s.q, 0 * s.q))
    with pytest.raises(InvalidSystem, match="response_tangent: responses with frames, of which the system has 4"):
        sx.gradients.response_tangent(beam, BEAM, [1.0], forces=np.ones((16, 3)))
