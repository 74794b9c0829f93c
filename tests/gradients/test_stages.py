"""Derivatives of runs in stages, against differences of such runs."""

import numpy as np
import pytest

import symplex as sx
from reference.impacts import CELLS, MESH, differences
from reference.lines import straight
from symplex.errors import InvalidArgument, InvalidSystem
from symplex.fem.solids.solid import Solid
from symplex.fem.structures import BeamProperties, ViscousMeasures, beams
from symplex.studies.derivatives import KeyedRun
from symplex.time import Stage, Stages

TIMES = np.array([2e-3, 5e-3, 9e-3])


def dropped(p, end=6e-3):
    """A block that is held and pushed, let go, and strikes the floor: three stages, each by another method.

    In the last one an edge is held again, which takes its velocity at once, and the block is viscoelastic in all.
    """
    young, over, stiffness, density, push, friction = p
    mass = sx.lumped_mass(MESH.points, CELLS, density, len(MESH.points))
    solid = Solid(MESH.points, CELLS, sx.NeoHookean.from_young(young, 0.3, density))
    floor = sx.RigidContact(MESH.boundary_nodes, sx.HalfSpace((0.0, 0.0, -0.001), (0.1, 0.0, 1.0)), stiffness)
    part = {"over": sx.Viscoelastic(solid, [over], [5e-3])}
    weight = sx.Gravity(mass, (0.0, 0.0, -300.0))
    held, edge = (sx.fixed_mask(len(MESH.points), [(nodes, "xyz")]) for nodes in ([0, 1], [5]))
    load = sx.actions.NodalLoad([7], (push, 0.0, 0.0), lambda t: 1.0 + 50.0 * t)
    first = sx.System(mass, {"block": solid}, fixed=held, loads={"push": load}, inelastic=part)
    rubbed = {"friction": sx.contact.Friction(floor, friction, slip_speed=0.05)}
    energies = {"block": solid, "weight": weight, "floor": floor}
    free, last = (sx.System(mass, energies, loads=rubbed, inelastic=part, fixed=f) for f in (None, edge))
    stages = [
        Stage(first, sx.EnergyMomentum(1e-3), 2e-3, "held"),
        Stage(free, sx.Newmark(1e-4), end, "falls"),
        Stage(last, sx.HilberHughesTaylor(5e-4), 9e-3, "caught", interval=1e-3),
    ]
    return Stages(stages), first.state(MESH.points)


DROPPED = np.array([1e5, 8e4, 2e3, 1000.0, 2.0, 0.3])


def swung(p):
    """A beam that is bent by a load and let go: with frames."""
    modulus, density, load, damping = p
    stiffness = [modulus * k for k in (1e4, 4e3, 5.0, 8.0, 6.0)]
    section = BeamProperties(
        stiffness[0], (stiffness[1],) * 2, tuple(stiffness[2:4]), stiffness[4], density, (2e-3,) * 2
    )
    made = beams(straight(3, 1.0), section, (0.0, 0.0, 1.0))
    damped = {"damping": ViscousMeasures(made.energy, damping * made.viscous_stiffness)}
    blow = {"blow": sx.actions.NodalLoad(made.particles([3]).ravel(), [0.0, 0.2 * load, load])}
    options = {"frames": made.frames, "fixed": made.fixed([0])}
    bent = sx.System(made.mass, {"beam": made.energy}, loads=damped | blow, **options)
    free = sx.System(made.mass, {"beam": made.energy}, loads=damped, **options)
    stages = [Stage(bent, sx.Midpoint(0.01), 0.1), Stage(free, sx.EnergyMomentum(0.01), 0.2)]
    return Stages(stages), bent.state(made.points)


CASES = {"block": (dropped, DROPPED, TIMES), "beam": (swung, np.array([1.0, 0.5, 1.5, 1e-3]), np.array([0.1, 0.2]))}


@pytest.mark.parametrize("case", [pytest.param("block", marks=pytest.mark.slow), "beam"])
def test_tangents_and_adjoints_are_those_of_runs(case):
    build, p, times = CASES[case]
    weights = np.random.default_rng(0).standard_normal((2, *build(p)[1].q.shape))

    def run(p):
        stages, state = build(p)
        found = sx.march(stages.stages[0].system, stages, state, times)
        return np.array([np.concatenate([one.q.ravel(), 0.01 * one.v.ravel()]) for one in found])

    found = sx.tangent(build, p, None, times, lambda system, one: np.concatenate([one.q.ravel(), 0.01 * one.v.ravel()]))
    assert np.abs(found.values - run(p)).max() < 1e-13
    for j in range(len(p)):
        errors = []
        for r in (2e-3, 1e-3, 1e-4):
            off = np.abs(differences(run, p, j, r) - found.jacobian[..., j]).max()
            errors.append(off / np.abs(found.jacobian[..., j]).max())
        assert min(errors) < 1e-6, (j, errors)

    def cost(state):
        by_q, by_v = weights[0] * state.q, 1e-2 * weights[1]
        return float(np.sum(0.5 * by_q * state.q) + np.sum(by_v * state.v)), by_q, by_v

    forwards = sx.tangent(build, p, None, times, lambda system, state: cost(state)[0])
    for budget in (1e9, 5e4):
        back = sx.gradient(build, p, None, times, cost, budget=budget)
        assert back.value == pytest.approx(forwards.values.sum(), rel=1e-13)
        assert np.allclose(back.parameters, forwards.jacobian[:, 0].sum(axis=0), rtol=1e-7, atol=0.0)


def test_velocities_of_supports_have_no_derivatives():
    def moving(p):
        stages, state = dropped(DROPPED)
        system = stages.stages[0].system
        return system, system.state(state.q, p[0] * np.ones_like(state.q))

    found = sx.gradient(
        moving, [1.0], sx.EnergyMomentum(1e-3), [2e-3], lambda s: (float(s.q.sum()), 1.0 + 0 * s.q, 0 * s.q)
    )
    forwards = sx.tangent(moving, [1.0], sx.EnergyMomentum(1e-3), [2e-3], lambda system, s: s.q.sum())
    assert found.parameters[0] == pytest.approx(forwards.jacobian[0, 0, 0], rel=1e-9)
    ends = [
        next(sx.march(moving([v])[0], sx.EnergyMomentum(1e-3), moving([v])[1], [2e-3])).q.sum() for v in (0.99, 1.01)
    ]
    assert found.parameters[0] == pytest.approx((ends[1] - ends[0]) / 0.02, rel=1e-4)
    assert not found.v0[:2].any()


def test_what_is_wrong_is_refused():
    for build, integrator, kind, message in (
        (dropped, dropped(DROPPED)[0], InvalidArgument, "let build return the Stages .* and give integrator=None"),
        (lambda p: dropped(p, end=p[0] * 6e-8), None, InvalidSystem, "a parameter changes when stages end"),
        (lambda p: (1, 2), None, InvalidArgument, "without an integrator build must return Stages and a State"),
    ):
        with pytest.raises(kind, match=message):
            sx.tangent(build, DROPPED, integrator, TIMES)
    with pytest.raises(InvalidArgument, match=r"t = 0.01 s is after the end of the last stage, 0.009 s"):
        sx.tangent(dropped, DROPPED, None, [0.01])


SCENARIO = """\
title = "A block that is held, let go, and strikes the floor"
[define]
E = 1e5
[[body]]
name = "block"
mesh = { box = [0.08, 0.06, 0.05], cells = [1, 1, 1] }
material = { young = "=E", poisson = 0.3, density = 1000 }
velocity = [0.5, 0, -1]
[[support]]
body = "block"
group = "x_min"
until = 4e-3
[[obstacle]]
name = "floor"
kind = "half-space"
point = [0, 0, -0.002]
normal = [0, 0, 1]
stiffness = 2000
[gravity]
acceleration = [0, 0, -9.81]
[[stage]]
duration = 4e-3
frames = 1
samples = 4
integrator = { kind = "energy-momentum", dt = 1e-3 }
[[stage]]
duration = 8e-3
frames = 1
samples = 4
integrator = { kind = "newmark", dt = "auto" }
[[probe]]
name = "corner"
body = "block"
points = [[0.08, 0.06, 0.05]]
quantities = ["displacement"]
"""


def test_scenarios_in_stages(tmp_path):
    scenario = sx.Scenario.parse(SCENARIO, tmp_path / "stages.toml")
    keys = ["define.E", "obstacle.floor.stiffness", "body.block.material.density"]
    run = KeyedRun(scenario, keys, ["corner.displacement_z", "kinetic"])
    end = float(run.times[-1])
    found = run.tangent(run.values, np.abs(run.values), end)
    assert np.array_equal(found.values, run.run(run.values, end))
    for j, value in enumerate(run.values):
        e = np.zeros(len(keys))
        e[j] = 1e-5 * value
        slope = (run.run(run.values + e, end, run.values) - run.run(run.values - e, end, run.values)) / (2.0 * e[j])
        off = np.abs(slope - found.jacobian[..., j]).max(axis=0)
        assert (off < 1e-4 * np.abs(found.jacobian[..., j]).max(axis=0)).all(), keys[j]
