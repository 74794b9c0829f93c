"""Two bodies that collide, under every method that takes contact between bodies: what it keeps, and that it resumes."""

import copy
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

import symplex as sx
from symplex.contact.bodies import BodyContact
from symplex.contact.surfaces import Surface
from symplex.fem.actions.mass import lumped_mass
from symplex.meshes.mesh import Mesh
from symplex.time.catalogue import catalogue

RUBBER = sx.NeoHookean.from_young(1e6, 0.3, 1000.0)
SIDE, SPEED = 0.1, 3.0  # m, m/s
STEPS = 60
TAKING = {name: method for name, method in catalogue().items() if "changing stencils" in method.takes}
AROUND = {
    "composed": sx.Composition(sx.EnergyMomentum(1.0)),
    "compensated": sx.EnergyMomentum(1.0, compensated=True),
    "krylov": sx.EnergyMomentum(1.0, newton=sx.Newton(linear="krylov")),
}
OTHERS = {"ForceStepping"}  # in their own test
QUICK = {"EnergyMomentum", "Newmark"}  # the others are among the long tests


def collision(law, margin=None):
    """Two spinning cubes that meet off centre."""
    block = sx.box((SIDE,) * 3, (2, 2, 2))
    n = len(block.points)
    mesh = Mesh(
        np.vstack([block.points, block.points + np.array([SIDE + 0.006, 0.03, 0.02])]),
        {"tetra": np.vstack([block.cells["tetra"], block.cells["tetra"] + n])},
    )
    contact = BodyContact.from_materials(Surface.of(mesh), RUBBER, speed=SPEED, law=law, margin=margin)
    system = sx.System(
        lumped_mass(mesh.points, mesh.cells["tetra"], RUBBER.density, len(mesh.points)),
        {"solid": sx.Solid(mesh.points, mesh.cells["tetra"], RUBBER), "contact": contact},
    )
    v = np.zeros_like(mesh.points)
    for nodes, push, spin in ((slice(n), 0.5, (0.0, 0.0, 10.0)), (slice(n, None), -0.5, (0.0, 8.0, 0.0))):
        v[nodes] = np.array([push * SPEED, 0.0, 0.0]) + np.cross(
            spin, mesh.points[nodes] - mesh.points[nodes].mean(axis=0)
        )
    return system, system.state(mesh.points, v)


def methods():
    for name, method in {**TAKING, **AROUND}.items():
        if name in OTHERS:
            continue
        implicit = "barriers" in method.takes
        dt = 2e-4 if implicit else 5e-5
        inner = isinstance(method, sx.Composition)
        sized = replace(method, integrator=replace(method.integrator, dt=dt)) if inner else replace(method, dt=dt)
        for law in ("penalty", "barrier") if implicit else ("penalty",):
            marks = [] if name in QUICK else [pytest.mark.slow]
            yield pytest.param(sized, law, id=f"{name}-{law}", marks=marks)


@pytest.mark.parametrize(("method", "law"), list(methods()))
def test_a_collision_keeps_what_the_method_keeps(method, law):
    system, state = collision(law)
    if "constraints" in method.takes:
        far = sorted(range(4), key=lambda node: state.q[node, 0])[:2]
        method = replace(method, constraints={"rod": sx.measures.RigidBars.between(state.q, [far])})
        state = sx.constraints.project(system, method.constraints, state)
    motion = method.start(system, state)
    dt, touched, middle = method.dt, 0, {}
    for k in range(1, 6):
        end = motion.advance(k * STEPS // 5 * dt * (1 if "barriers" in method.takes else 4))
        touched = max(touched, len(system.energies["contact"].contacts(end.q).gaps))
        if k == 3:
            middle = motion.checkpoint()
    assert touched > 3
    momentum = system.mass.sum() * SPEED
    if "momentum" in method.conserves:
        np.testing.assert_allclose(system.momentum(end), system.momentum(state), atol=1e-12 * momentum)
    if "angular momentum" in method.conserves:
        spin = system.angular_momentum(state)
        np.testing.assert_allclose(system.angular_momentum(end), spin, atol=2e-12 * momentum * SIDE)
    if "energy" in method.conserves:
        total = system.energies_of(state)["total"]
        assert motion.energies(end)["total"] == pytest.approx(total, rel=2e-13)
    other, _ = collision(law)
    resumed = method.resume(other, middle).advance(end.t)
    np.testing.assert_array_equal(resumed.q, end.q)
    np.testing.assert_array_equal(resumed.v, end.v)


@pytest.mark.parametrize(
    "scheme", ["energy-momentum", "momentum-conserving-4", pytest.param("cayley-magnus-6", marks=pytest.mark.slow)]
)
def test_a_step_of_graham_and_jelenic_may_go_beyond_the_margin(scheme):
    method, ends = sx.GrahamJelenic(5e-5, scheme), []
    for margin in (None, 2e-4):  # half of it is less than nodes move in a step
        system, state = collision("penalty", margin)
        motion = method.start(system, state)
        motion.advance(38 * 5e-5)
        middle = motion.checkpoint()
        ends.append(motion.advance(44 * 5e-5))
        other, _ = collision("penalty", margin)
        resumed = method.resume(other, middle).advance(ends[-1].t)
        np.testing.assert_array_equal(resumed.v, ends[-1].v)
    np.testing.assert_allclose(ends[1].v, ends[0].v, rtol=0.0, atol=1e-9 * SPEED)
    assert system.potential(ends[0].q) > 1e-3
    assert system.energies["contact"].version >= 44


def test_two_systems_with_one_contact_run_in_threads():
    def run(share):
        system, state = collision("penalty")
        if share is not None:
            system = sx.System(system.mass, system.energies | {"contact": copy.copy(share)})
        motion = sx.Newmark(5e-5).start(system, state)
        for k in range(1, 40):
            end = motion.advance(k * 5 * 5e-5)
        return end.v

    alone = run(None)
    shared = collision("penalty")[0].energies["contact"]
    with ThreadPoolExecutor(4) as threads:
        for v in threads.map(run, [shared] * 4):
            np.testing.assert_array_equal(v, alone)
