"""Force-stepping of rigid bodies: lattice functions of points that follow nodes, and exact energy in a collision."""

import ctypes

import numpy as np
import pytest

import symplex as sx
from symplex.contact import BodyContact, RigidBodies, RigidBody, Surface

RUBBER = sx.NeoHookean.from_young(1e6, 0.3, 1000.0)
BLOCK = sx.box((0.1, 0.1, 0.1), (2, 2, 2), split="6", origin=(-0.05, -0.05, -0.1))
BALL = RigidBody.sphere(0.04, density=2000.0, refinements=1).placed((0.02, 0.0, 0.045))
RIGID = RigidBodies({"ball": BALL}, len(BLOCK.points))


def falling_ball(energies):
    """A rigid ball that falls on a block of rubber and spins."""
    cells = BLOCK.cells["tetra"]
    mass = RIGID.mass(sx.lumped_mass(BLOCK.points, cells, 1000.0, len(BLOCK.points)))
    own = {"block": sx.Solid(BLOCK.points, cells, RUBBER), "ball": RIGID.rigidity(2e3)}
    system = sx.System(mass, own | energies)
    v = RIGID.velocities(np.zeros(3), {"ball": (0.0, 0.0, -2.0)}, {"ball": (0.0, 20.0, 0.0)})
    return system, system.state(RIGID.positions(BLOCK.points), v)


def springs():
    """Springs between points, which follow one, five or eight nodes: shorter stencils are filled up."""
    n, points = len(BLOCK.points), RIGID.points(RIGID.positions(BLOCK.points))
    pairs = np.array([[0, n], [1, n + 3], [0, 5], [n + 1, n + 4]])
    lengths = np.linalg.norm(points[pairs[:, 0]] - points[pairs[:, 1]], axis=1)
    return RIGID.of_points(sx.Bars(pairs, sx.measures.EngineeringStrain(50.0, lengths)))


def test_lattice_functions_are_differences_of_the_energy():
    energy, rng = springs(), np.random.default_rng(0)
    axes, _ = np.linalg.qr(rng.standard_normal((3, 3)))
    functions = energy.lattice_functions(axes)
    pointer = ctypes.POINTER(ctypes.c_double)
    value = ctypes.CFUNCTYPE(ctypes.c_double, pointer, pointer)(functions.value)
    difference = ctypes.CFUNCTYPE(ctypes.c_double, pointer, pointer, ctypes.c_int64, ctypes.c_double)(
        functions.difference
    )
    q = RIGID.positions(BLOCK.points)
    q = q + 0.01 * rng.standard_normal(q.shape)
    for stencil, nodes in enumerate(energy.nodes):
        x = np.ascontiguousarray(q[nodes] @ axes.T)
        row = functions.parameters[stencil].ctypes.data_as(pointer)
        phi = energy.local_value(stencil, q[nodes])
        assert value(row, x.ctypes.data_as(pointer)) == pytest.approx(phi, rel=1e-11)
        moved = x.copy()
        moved[0, 1] += 1e-3
        change = energy.local_value(stencil, moved @ axes) - phi
        assert difference(row, x.ctypes.data_as(pointer), 1, 1e-3) == pytest.approx(change, rel=1e-9)


def test_stencils_that_are_filled_up_keep_the_energy():
    system, state = falling_ball({"springs": springs()})
    motion = sx.ForceStepping(6e-4).start(system, state)
    start = motion.energies(motion.advance(0.0))["lattice_total"]
    end = motion.energies(motion.advance(2e-3))
    assert end["lattice_total"] == pytest.approx(start, rel=1e-13)
    assert end["springs"] > 1e-4 * start


@pytest.mark.slow
def test_a_collision_with_a_deformable_body_keeps_the_energy():
    surface = RIGID.surface(Surface.of(BLOCK, ["body"]))
    system, state = falling_ball({"contact": RIGID.of_points(BodyContact(surface, 4e8, distance=0.003))})
    motion = sx.ForceStepping(1.5e-4).start(system, state)
    start = motion.energies(motion.advance(0.0))["lattice_total"]
    contact = []
    for t in (4.5e-3, 6e-3, 1e-2):
        there = motion.advance(t)
        energies = motion.energies(there)
        contact.append(energies["contact"])
        assert energies["lattice_total"] == pytest.approx(start, rel=1e-12)
    assert max(contact) > 0.01 * start
    assert contact[-1] == 0.0
    system, state = falling_ball({"contact": RIGID.of_points(BodyContact(surface, 4e8, distance=0.003))})
    other = sx.EnergyMomentum(2e-4).start(system, state).advance(1e-2)
    away, expected = (RIGID.motion("ball", end.q, end.v)[0] for end in (there, other))
    np.testing.assert_allclose(away, expected, atol=0.05 * 2.0)
