"""Newton's method in displacements and rotations: its matrix, and which roots of particles it finds."""

import numpy as np
import pytest

import symplex as sx
from reference.lines import spaghetti
from symplex.fem.assembly.pattern import Array
from symplex.fem.structures.frames import Frames
from symplex.fem.structures.moments import Moment
from symplex.time.solvers.newton import Newton
from symplex.time.solvers.nodal_coordinates import FramedSolver

RNG = np.random.default_rng(4)


class Step:
    """The equations of a step with inertia or without, of forces in its middle or at its end."""

    symmetric, seen = False, ()

    def __init__(self, system: sx.System, q: Array, inertia: float, at: tuple[float, float]):
        self.system, self.q, self.inertia, self.impulse, self.at = system, q, inertia, 0.7, at
        self.constant = RNG.standard_normal(q.shape)

    def forces(self, dq, out):
        """Write the gradient, or the discrete one, less loads."""
        middle = self.q + self.at[0] * dq
        by_ends = self.at == (0.5, 1.0)
        out[...] = self.system.discrete_gradient(self.q, self.q + dq) if by_ends else self.system.gradient(middle)
        for load in self.system.loads.values():
            out -= load(0.0, middle, 0.0 * dq)

    def blocks(self, dq, out):
        """Write its derivative."""
        middle = self.q + self.at[0] * dq
        if self.at == (0.5, 1.0):
            self.system.discrete_hessian_blocks(self.q, self.q + dq, out)
        else:
            out[...] = self.at[0] * self.system.hessian_blocks(middle)
        self.system.add_load_derivatives(0.0, middle, 0.0 * dq, -self.at[0], 0.0, out)


class Balance(Step):
    """Equations without inertia, whose constant forces keep their moments."""

    start: Array


def beam_and_mass():
    """Two beams with a moment, and a node that is in no frame on a spring to one of them."""
    built = spaghetti(2)
    points = np.vstack([built.points, [[3.0, 5.0, 1.0]]])
    frames = Frames(built.frames.nodes, points, np.arange(3)[:, None] * [0, 0, 0, 0, 0, 1] > 1)
    spring = sx.Bars([[4, 12]], sx.measures.EngineeringStrain(30.0, 1.0))
    loads = {"moment": Moment(built.particles([2]), built.mass, [1.0, 2.0, 3.0])}
    mass = np.append(built.mass, 2.0)
    return sx.System(mass, {"beams": built.energy, "spring": spring}, frames=frames, loads=loads), points


def rods():
    """Three rods of two particles on springs between them and to a node that is in none; one is held in part."""
    points = RNG.standard_normal((7, 3))
    held = np.zeros((3, 6), bool)
    held[1, 3] = True
    pairs = np.array([(i, j) for i in range(7) for j in range(i) if (i, j) not in ((1, 0), (3, 2), (5, 4))])
    springs = sx.Bars(pairs, sx.measures.EngineeringStrain(30.0, RNG.uniform(0.5, 2.0, len(pairs))))
    loads = {"moment": Moment([[0, 1]], RNG.uniform(1.0, 2.0, 7), [1.0, 2.0, 3.0])}
    frames = Frames([[0, 1], [2, 3], [4, 5]], points, held)
    return sx.System(RNG.uniform(1.0, 2.0, 7), {"springs": springs}, frames=frames, loads=loads), points


@pytest.mark.parametrize("make", [beam_and_mass, rods])
@pytest.mark.parametrize(
    ("kind", "inertia", "at"),
    [(Step, 20.0, (0.5, 1.0)), (Step, 20.0, (0.5, 0.5)), (Balance, 0.0, (1.0, 1.0))],
    ids=["energy-momentum", "midpoint", "statics"],
)
def test_the_matrix_is_the_derivative_of_the_equations(kind, inertia, at, make):
    """But for rotations of rods about their axes, of which equations say nothing."""
    system, points = make()
    q = points + system.frames.velocities(points, 0.1 * RNG.standard_normal((3, 3)), 0.0)
    step = kind(system, q, inertia, at)
    step.start = q
    solver = FramedSolver(system, Newton())
    equations, inner = solver._equations, solver.coordinates.system
    equations.begin(step, q)
    z, shape = 0.3 * RNG.standard_normal((inner.n_nodes, 3)), (inner.n_nodes, 3)

    def residual(z):
        out = np.zeros(shape)
        equations.forces(z, out)
        return out - equations.constant

    blocks = inner.pattern.zeros(3)
    equations.blocks(z, blocks)
    found = inner.pattern.matrix(blocks).toarray()
    expected = np.empty_like(found)
    for i in range(z.size):
        change = np.zeros(z.size)
        change[i] = 1e-5
        change = change.reshape(shape)
        expected[:, i] = ((residual(z + change) - residual(z - change)) / 2e-5).ravel()
    free = np.flatnonzero(~inner.fixed.ravel())
    assert not inertia or np.linalg.cond(found[np.ix_(free, free)]) < 1e6
    across = np.eye(z.size)
    for f in np.flatnonzero(system.frames.is_rod & ~system.frames.held.any(axis=1)):
        d = equations.middle[2 * f] - equations.middle[2 * f + 1]
        at = slice(6 * f + 3, 6 * f + 6)
        across[at, at] -= np.outer(d, d) / (d @ d)
    assert np.abs(across @ (found - expected)).max() < 1e-8 * np.abs(found).max()


def test_increments_keep_frames_rigid_and_held_coordinates_where_they_are():
    system, points = beam_and_mass()
    coordinates = FramedSolver(system, Newton()).coordinates
    out = np.empty_like(points)
    coordinates.write_increment(points, 2.0 * RNG.standard_normal((7, 3)), out)
    assert system.frames.distortion(points + out) < 1e-14
    assert coordinates.system.fixed.sum() == 1
    assert coordinates.system.fixed[5, 2]


def test_small_motions_are_increments_to_first_order():
    system, points = beam_and_mass()
    coordinates, z = FramedSolver(system, Newton()).coordinates, RNG.standard_normal((7, 3))
    out = np.empty_like(points)
    coordinates.write_increment(points, 1e-6 * z, out)
    second = 1e-6 * (z**2).sum(axis=1).max() * np.linalg.norm(system.frames.arms(points), axis=2).max()
    assert np.abs(out / 1e-6 - coordinates.motions(points, z)).max() < second


def test_increments_of_particles_have_coordinates():
    system, points = beam_and_mass()
    coordinates, z = FramedSolver(system, Newton()).coordinates, RNG.standard_normal((7, 3))
    dq = np.empty_like(points)
    coordinates.write_increment(points, z, dq)
    assert np.abs(coordinates.increments(points, dq) - z).max() < 1e-13
