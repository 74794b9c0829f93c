"""Reduction by translations (Jacobi coordinates) and by rotations (two bodies in polar coordinates)."""

import ctypes
import math

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp

from reference.kuhn_walk import kuhn_walk
from symplex.errors import InvalidSystem, StepFailed
from symplex.fem.actions.loads import Gravity, NodalLoad
from symplex.fem.actions.mass import consistent_mass
from symplex.fem.energies.contact_energy import ContactEnergy
from symplex.fem.energies.energy import Energy
from symplex.fem.measures.bars import Bars, EngineeringStrain, InverseDistance, InverseSquare, LennardJones, all_pairs
from symplex.fem.solids.materials import NeoHookean
from symplex.fem.solids.solid import Solid
from symplex.fem.system import System
from symplex.meshes.generate import box
from symplex.time.composition import Composition
from symplex.time.events.force_stepping import ForceStepping
from symplex.time.explicit.newmark import Newmark
from symplex.time.implicit.midpoint import Midpoint
from symplex.time.reductions.jacobi import JacobiCoordinates, JacobiEnergy
from symplex.time.reductions.jacobi_reduction import JacobiReduction
from symplex.time.reductions.polar_reduction import PolarReduction
from symplex.time.reductions.swept_angle import inverse_square_integral
from symplex.time.variational.adaptive_variational import AdaptiveVariational
from symplex.time.variational.zhang_skeel import ZhangSkeel

ALIKE = ("t", "q", "v", "a")


def assert_same(one, other):
    for name in ALIKE:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def cluster(n=4, dim=2, seed=0):
    """A drifting, turning, vibrating cluster of n particles of different masses that attract and repel each other."""
    rng = np.random.default_rng(seed)
    corners = np.array([[0, 0, 0], [1, 0, 0], [0.5, 0.9, 0], [1.5, 0.9, 0], [0.5, 0.3, 0.8], [1, -0.9, 0.1]])[:n, :dim]
    system = System(rng.uniform(1.0, 3.0, n), {"pairs": Bars(all_pairs(n), LennardJones(1.0, 0.85), dim)}, dim=dim)
    q = corners + 0.03 * rng.standard_normal((n, dim))
    v = 0.2 * rng.standard_normal((n, dim)) + 0.1
    return system, system.state(q, v, t=2.0)


# -- Jacobi coordinates -----------------------------------------------------------------------------------------------


@pytest.fixture(params=[(2, 1), (3, 2), (7, 3)], ids=str)
def particles(request):
    n, dim = request.param
    rng = np.random.default_rng(n)
    return rng.uniform(0.5, 4.0, n), rng.standard_normal((n, dim))


def test_jacobi_coordinates_are_those_of_the_paper(particles):
    m, q = particles
    coordinates = JacobiCoordinates(m)
    for j in range(len(m) - 1):
        expected = q[j + 1] - m[: j + 1] @ q[: j + 1] / m[: j + 1].sum()  # eq. 37
        np.testing.assert_allclose(coordinates.relative(q)[j], expected, atol=1e-14)
        assert coordinates.reduced_mass[j] == pytest.approx(m[j + 1] * m[: j + 1].sum() / m[: j + 2].sum(), rel=1e-14)
    np.testing.assert_allclose(coordinates.centre(q), m @ q / m.sum(), atol=1e-14)


def test_jacobi_coordinates_come_back(particles):
    m, q = particles
    coordinates = JacobiCoordinates(m)
    relative, centre = coordinates.relative(q), coordinates.centre(q)
    np.testing.assert_allclose(coordinates.particles(relative, centre), q, atol=1e-14)
    np.testing.assert_allclose(m @ coordinates.particles(relative), 0.0, atol=1e-14)
    # Far from the origin they are as good as the positions are.
    far = q + 1e6
    np.testing.assert_allclose(coordinates.relative(far), relative, atol=1e-9)
    np.testing.assert_allclose(coordinates.centre(far) - 1e6, centre, atol=1e-9)


def test_reduced_mass_is_the_mass_in_jacobi_coordinates(particles):
    m, _ = particles
    n = len(m)
    coordinates = JacobiCoordinates(m)
    B = np.column_stack([coordinates.particles(e[:, None])[:, 0] for e in np.eye(n - 1)] + [np.ones(n)])
    expected = np.diag([*coordinates.reduced_mass, m.sum()])
    np.testing.assert_allclose(B.T @ np.diag(m) @ B, expected, atol=1e-14 * m.sum())
    gradient = np.random.default_rng(1).standard_normal((n, 2))
    np.testing.assert_allclose(coordinates.pulled_back(gradient), (B.T @ gradient)[:-1], atol=1e-14)


def test_kinetic_energy_and_angular_momentum_split():
    system, state = cluster(6, 3)
    coordinates = JacobiCoordinates(system.mass)
    relative, centre = coordinates.relative(state.v), coordinates.centre(state.v)
    inner = 0.5 * np.sum(coordinates.reduced_mass * np.sum(relative**2, axis=1))
    assert inner + 0.5 * coordinates.total_mass * centre @ centre == pytest.approx(system.kinetic(state.v), rel=1e-14)
    arms = np.cross(coordinates.relative(state.q), coordinates.reduced_mass[:, None] * relative).sum(axis=0)
    arms += np.cross(coordinates.centre(state.q), coordinates.total_mass * centre)
    np.testing.assert_allclose(arms, system.angular_momentum(state), atol=1e-14)


@pytest.mark.parametrize("masses", [[1.0], [], [[1.0, 2.0]]])
def test_jacobi_coordinates_need_two_particles(masses):
    with pytest.raises(InvalidSystem, match="at least two particles"):
        JacobiCoordinates(masses)


def test_jacobi_coordinates_need_positive_masses():
    with pytest.raises(InvalidSystem, match=r"that of 1 is -2\.0 kg"):
        JacobiCoordinates([1.0, -2.0])


# -- energies in Jacobi coordinates -----------------------------------------------------------------------------------


def block():
    mesh = box((1.0, 0.8, 0.6), (1, 1, 1), split="6")
    points = mesh.points + 0.05 * np.random.default_rng(0).standard_normal(mesh.points.shape)
    return Solid(mesh.points, mesh.cells["tetra"], NeoHookean(2.0, 1.0, 1.0)), points


def test_differences_of_tetrahedra_on_paths_of_several_nodes():
    """Every pair of Jacobi coordinates, one with itself as well; all kinds of stencils are moved and skipped."""
    solid, q = block()
    coordinates = JacobiCoordinates(np.random.default_rng(1).uniform(1.0, 2.0, len(q)))
    energy = JacobiEnergy(solid, coordinates)
    functions = energy.lattice_functions(np.eye(3))
    double, integer, pointer = ctypes.c_double, ctypes.c_int64, ctypes.POINTER(ctypes.c_double)
    difference = ctypes.CFUNCTYPE(double, pointer, pointer, integer, double)(functions.difference)
    mixed = ctypes.CFUNCTYPE(double, pointer, pointer, *[integer] * 2, *[double] * 2)(functions.mixed)
    p = functions.parameters[0].ctypes.data_as(pointer)
    x = coordinates.relative(q).ravel()
    kept, at = x.copy(), x.ctypes.data_as(pointer)
    hi, hj, steps = 0.02, -0.03, np.eye(len(x))

    def phi(y):
        return energy.value(y.reshape(1, -1, 3))[0]

    largest = 0.0
    for i, e_i in enumerate(hi * steps):
        assert difference(p, at, i, hi) == pytest.approx(phi(x + e_i) - phi(x), abs=2e-15)
        for j, e_j in enumerate(hj * steps):
            expected = phi(x + e_i + e_j) - phi(x + e_i) - phi(x + e_j) + phi(x)
            assert mixed(p, at, i, j, hi, hj) == pytest.approx(expected, abs=3e-15)
            largest = max(largest, abs(expected))
    assert largest > 1e-4
    np.testing.assert_array_equal(x, kept)


def test_latent_stiffness_bounds_that_of_the_particles():
    class Latent(ContactEnergy):
        nodes = np.array([[0, 1], [1, 2]], np.int32)

        def value(self, x):
            return np.zeros(len(x))

        def gradient(self, x):
            return np.zeros_like(x)

        def hessian(self, x):
            return np.zeros((len(x), 6, 6))

        def contact_stiffness_bound(self, n_nodes):
            return np.array([1.0, 8.0, 3.0])

    coordinates = JacobiCoordinates([1.0, 2.0, 3.0])
    latent = JacobiEnergy(Latent(), coordinates).contact_stiffness_bound(2)
    np.testing.assert_allclose(latent / coordinates.reduced_mass, 4.0)


# -- JacobiReduction --------------------------------------------------------------------------------------------------


def test_newmark_is_the_same_in_jacobi_coordinates():
    """A linear change of coordinates commutes with Newmark's steps."""
    system, state = cluster(6, 3)
    plain = Newmark(dt=0.005).start(system, state).advance(3.0)
    reduced = JacobiReduction(Newmark(dt=0.005)).start(system, state).advance(3.0)
    assert np.abs(plain.q - state.q).max() > 0.1
    for name in ALIKE:
        np.testing.assert_allclose(getattr(reduced, name), getattr(plain, name), atol=1e-11)


@pytest.mark.parametrize("integrator", [AdaptiveVariational(0.02), ZhangSkeel(0.01), ForceStepping(0.02)])
def test_the_energy_that_is_kept_is_told(integrator):
    """With the kinetic energy of the centre of mass, which the inner motion does not know of."""
    system, state = cluster(3, 2)
    reduced, plain = (method.start(system, state) for method in (JacobiReduction(integrator), integrator))
    kept = JacobiReduction(integrator).energy
    assert kept == integrator.energy != "total"
    energies = [reduced.energies(reduced.advance(t)) for t in (2.0, 2.5, 3.0)]
    drift = np.ptp([row[kept] for row in energies])
    assert drift < (1e-11 if "energy" in integrator.conserves else 0.5 * np.ptp([row["total"] for row in energies]))
    alike = plain.energies(plain.advance(2.0))
    assert energies[0][kept] - energies[0]["total"] == pytest.approx(alike[kept] - alike["total"], abs=0.05)
    assert abs(energies[0][kept] - energies[0]["total"]) < 0.05


def test_a_discrete_gradient_is_that_of_the_particles():
    system, state = cluster(4, 3)
    coordinates = JacobiCoordinates(system.mass)
    pairs = system.energies["pairs"]
    energy = JacobiEnergy(pairs, coordinates)
    q1 = state.q + 0.1 * state.v
    x0, x1 = (coordinates.relative(q)[None] for q in (state.q, q1))
    work = np.sum(energy.discrete_gradient(x0, x1) * (x1 - x0))
    assert work == pytest.approx(pairs.total(q1) - pairs.total(state.q), abs=1e-14)


def test_a_step_is_fitted_in_jacobi_coordinates():
    system, state = cluster()
    fitted = JacobiReduction(Newmark()).fit(system, state, 0.1)
    assert fitted.integrator.dt == pytest.approx(Newmark().fit(system, state, 0.1).dt, rel=0.05)
    assert fitted.start(system, state).advance(2.1).t == pytest.approx(2.1)


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_force_stepping_follows_the_published_walk_in_jacobi_coordinates(dim):
    system, state = cluster(4 if dim > 1 else 2, dim)
    motion = JacobiReduction(ForceStepping(0.01, count_crossings=True)).start(system, state)
    end = motion.advance(3.0)
    inner = motion.inner
    coordinates = JacobiCoordinates(system.mass)
    start = inner.system.state(coordinates.relative(state.q), coordinates.relative(state.v), t=2.0)
    walk = kuhn_walk(inner.system, start, [3.0], 0.01, inner.offset)
    assert motion.statistics()["crossings"] == walk.crossings > 15
    assert np.abs(coordinates.relative(end.q) - walk.states[-1].q).max() < 1e-11


def test_momentum_is_exact_and_the_centre_moves_uniformly():
    system, state = cluster()
    motion = JacobiReduction(ForceStepping(0.02, seed=3)).start(system, state)
    momentum, before = system.momentum(state), motion.energies(state)["lattice_total"]
    centre, mass = system.mass @ state.q / system.mass.sum(), system.mass.sum()
    spins = []
    for t in np.linspace(2.0, 102.0, 41):
        now = motion.advance(t)
        np.testing.assert_allclose(system.momentum(now), momentum, atol=1e-14)
        np.testing.assert_allclose(
            system.mass @ now.q / mass, centre + (t - 2.0) * momentum / mass, atol=1e-15 * (10.0 + t)
        )
        np.testing.assert_allclose(system.mass @ now.a, 0.0, atol=1e-13)
        assert motion.energies(now)["lattice_total"] == pytest.approx(before, abs=1e-12)
        spins.append(system.angular_momentum(now)[0])
    assert motion.statistics()["events"] > 10_000
    assert np.ptp(spins) > 1e-3  # of the other momentum nobody takes care
    plain = ForceStepping(0.02, seed=3).start(system, state)
    assert np.abs(system.momentum(plain.advance(102.0)) - momentum).max() > 1e-2


def test_reduced_and_full_system_meet_as_the_grid_shrinks():
    system, state = cluster()
    sizes = 0.02 / 4.0 ** np.arange(3)

    def error(h, seed):
        reduced = JacobiReduction(ForceStepping(h, seed=seed)).start(system, state).advance(2.5)
        plain = ForceStepping(h, seed=seed).start(system, state).advance(2.5)
        return np.abs(reduced.q - plain.q).max()

    errors = [np.mean([error(h, seed) for seed in range(12)]) for h in sizes]
    assert 1e-7 < errors[-1] < errors[0] < 3e-2
    np.testing.assert_allclose(np.log(errors[0] / errors[-1]) / np.log(16.0), 1.5, atol=0.25)


@pytest.mark.parametrize("mirrored", [False, True])
def test_parity_is_kept_on_a_mirrored_lattice(mirrored):
    """Section 4.3: the reduced potential is invariant under parity, and so is its interpolation there."""
    system, state = cluster()
    centre = system.mass @ state.q / system.mass.sum()
    reflected = system.state(2.0 * centre - state.q, -state.v, t=2.0)
    integrator = JacobiReduction(ForceStepping(0.02, mirrored=mirrored))
    one, other = (integrator.start(system, start).advance(4.0) for start in (state, reflected))
    difference = np.abs(one.q + other.q - 2.0 * centre).max()
    assert difference < 1e-10 if mirrored else difference > 1e-4


def test_grid_sizes_are_those_of_jacobi_coordinates():
    system, state = cluster()
    grid = np.array([[0.02, 0.01], [0.01, 0.03], [0.005, 0.02]])
    motion = JacobiReduction(ForceStepping(grid)).start(system, state)
    np.testing.assert_array_equal(motion.inner.checkpoint()["grid"], grid.ravel())
    with pytest.raises(ValueError, match=r"has shape \(4, 2\); expected .* \(3, 2\)"):
        JacobiReduction(ForceStepping(np.ones((4, 2)))).start(system, state)


def test_the_inner_motion_gives_its_parabolas():
    system, state = cluster()
    motion = JacobiReduction(ForceStepping(0.02)).start(system, state)
    pieces = motion.inner.follow(2.3)
    q, v, _ = pieces.at([2.1, 2.2])
    again = JacobiReduction(ForceStepping(0.02)).start(system, state)
    for k, t in enumerate((2.1, 2.2)):
        now = again.advance(t)
        np.testing.assert_allclose(motion.coordinates.relative(now.q), q[k], atol=1e-13)
        np.testing.assert_allclose(motion.coordinates.relative(now.v), v[k], atol=1e-12)


def test_two_bodies_that_attract_each_other_and_a_body_that_is_held():
    """For two bodies the Jacobi coordinate is the position of one seen from the other."""
    apart, v = np.array([0.9, 0.2]), np.array([-0.3, 0.9])
    pull = Bars([[0, 1]], InverseDistance(1.7), 2)
    pair = System([1.5, 3.0], {"pull": pull}, dim=2)
    held = System([9.0, 1.0], {"pull": pull}, dim=2, fixed=[[True, True], [False, False]])
    one = JacobiReduction(ForceStepping(0.01)).start(
        pair, pair.state(np.array([[1.0, 2.0], apart + np.array([1.0, 2.0])]), [[1.0, 1.0], v + 1.0])
    )
    other = ForceStepping(0.01, offset=np.vstack([[0.0, 0.0], one.inner.offset])).start(
        held, held.state([[0.0, 0.0], apart], [[0.0, 0.0], v])
    )
    a, b = one.advance(3.0), other.advance(3.0)
    assert one.statistics()["events"] == other.statistics()["events"] > 100
    np.testing.assert_allclose(a.q[1] - a.q[0], b.q[1], atol=1e-12)


def free_pair(**options):
    return System([1.0, 2.0], {"spring": Bars([[0, 1]], EngineeringStrain(5.0, 1.0))}, **options)


def placed(system):
    return system.state([[0.0, 0.0, 0.0], [1.1, 0.0, 0.2]][: system.n_nodes])


def test_what_jacobi_coordinates_cannot_do_is_refused():
    reduction = JacobiReduction(ForceStepping(0.1))

    def start(system):
        reduction.start(system, placed(system))

    with pytest.raises(InvalidSystem, match="free to move as a whole; node 1 is fixed"):
        start(free_pair(fixed=[[False] * 3, [False, True, False]]))
    with pytest.raises(InvalidSystem, match="load 'wind' acts from outside"):
        start(free_pair(loads={"wind": NodalLoad([0], (1.0, 0.0, 0.0), 1.0)}))
    with pytest.raises(InvalidSystem, match="at least two nodes; this system has 1"):
        start(System([1.0], {}))
    with pytest.raises(InvalidSystem, match=r"energy 'weight': a Gravity acts on nodes one by one"):
        start(System([1.0, 2.0], {"weight": Gravity(np.ones(2), (0.0, 0.0, -9.81))}))
    mesh = box((1.0, 1.0, 1.0), (1, 1, 1))
    mass = consistent_mass(mesh.points, mesh.cells["tetra"], 1.0, len(mesh.points))
    with pytest.raises(InvalidSystem, match="JacobiReduction needs a lumped"):
        reduction.start(System(mass, {}), System(mass, {}).state(mesh.points))


class Trap(Energy):
    """½ k x² of the first node of each pair, or that of its distance from a wall far away."""

    nodes = np.array([[0, 1]], np.int32)

    def __init__(self, wall):
        self.wall = wall

    def value(self, x):
        return 0.5 * np.maximum(x[:, 0, 0] - self.wall, 0.0) ** 2

    def gradient(self, x):
        out = np.zeros_like(x)
        out[:, 0, 0] = np.maximum(x[:, 0, 0] - self.wall, 0.0)
        return out

    def hessian(self, x):
        out = np.zeros((len(x), 6, 6))
        out[:, 0, 0] = x[:, 0, 0] > self.wall
        return out


@pytest.mark.parametrize("wall", [-1.0, 30.0])
def test_energies_that_feel_translations_are_named(wall):
    system = System([1.0, 2.0], {"trap": Trap(wall)})
    with pytest.raises(InvalidSystem, match=r"energy 'trap' \(Trap\) changes by .* J, and its forces by .* N"):
        JacobiReduction(ForceStepping(0.1)).start(system, placed(system))


def test_energies_without_force_at_the_start_are_not_refused():
    system = free_pair()
    still = JacobiReduction(ForceStepping(0.1)).start(system, system.state([[7.0, 0.1, 0.0], [8.0, 0.1, 0.0]]))
    assert still.energies(still.advance(0.1))["spring"] < 1e-2


# -- the angle along a parabola of the radius -------------------------------------------------------------------------


def parabola(r0, r1, c, T):
    """Return v and a of the parabola from r0 to r1 in the time T whose middle Bernstein coefficient is c √(r0 r1)."""
    v = 2.0 * (c * math.sqrt(r0 * r1) - r0) / T
    return v, 2.0 * (r1 - r0 - v * T) / T**2


def by_quadrature(r0, r1, c, T):
    b = c * math.sqrt(r0 * r1)
    found, _ = quad(lambda s: T / (r0 * (1 - s) ** 2 + 2 * b * s * (1 - s) + r1 * s**2) ** 2, 0, 1, epsrel=1e-12)
    return found


@pytest.mark.parametrize("ratio", [1.0, 0.99, 0.3, 40.0])
@pytest.mark.parametrize("c", [-0.9, 0.0, 0.49, 0.51, 0.9, 1 - 1e-9, 1.0, 1 + 1e-9, 1.1, 1.49, 1.51, 3.0, 20.0])
def test_the_angle_swept_along_a_parabola(ratio, c):
    for r0, T in ((0.15, 0.01), (3.0, 2.0)):
        v, a = parabola(r0, r0 * ratio, c, T)
        expected = by_quadrature(r0, r0 * ratio, c, T)
        assert inverse_square_integral(r0, v, a, T) == pytest.approx(expected, rel=1e-13 * max(ratio, 1 / (1 + c)))


def test_the_angle_swept_in_a_lattice_cell_is_exact_to_round_off():
    """Additive: a piece cut anywhere sweeps the same angle in two parts."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        r0, h, T = rng.uniform(0.1, 2.0), 0.01, rng.uniform(0.001, 0.1)
        r1, top = r0 + h * rng.uniform(-1, 1), rng.uniform(0.9, 1.1)
        v, a = parabola(r0, r1, top, T)
        cut = rng.uniform(0, T)
        middle = r0 + cut * (v + 0.5 * cut * a)
        two = inverse_square_integral(r0, v, a, cut) + inverse_square_integral(middle, v + cut * a, a, T - cut)
        assert inverse_square_integral(r0, v, a, T) == pytest.approx(two, rel=2e-14)


def test_no_angle_through_the_centre():
    assert inverse_square_integral(1.0, -1.0, 0.0, 1.0) == math.inf
    assert inverse_square_integral(1.0, -1.0, 0.0, 2.0) == math.inf
    assert inverse_square_integral(*(1.0, *parabola(1.0, 1.0, -1.0 - 1e-9, 1.0)), 1.0) == math.inf
    assert inverse_square_integral(1.0, -1.0, 0.0, 0.0) == 0.0


# -- PolarReduction ---------------------------------------------------------------------------------------------------

ECCENTRICITY = 0.85


def planet(e=ECCENTRICITY):
    """The Kepler problem of the paper (eqs. 65 and 66)."""
    fixed = np.array([[True, True], [False, False]])
    system = System([1.0, 1.0], {"sun": Bars([[0, 1]], InverseDistance(1.0), 2)}, dim=2, fixed=fixed)
    return system, system.state([[0.0, 0.0], [1.0 - e, 0.0]], [[0.0, 0.0], [0.0, math.sqrt((1 + e) / (1 - e))]])


def kepler(e, t):
    """Position at the time t on the exact orbit, by Kepler's equation."""
    anomaly = math.pi
    for _ in range(100):
        anomaly -= (anomaly - e * math.sin(anomaly) - math.remainder(t, 2 * math.pi)) / (1 - e * math.cos(anomaly))
    return np.array([math.cos(anomaly) - e, math.sqrt(1 - e * e) * math.sin(anomaly)])


@pytest.mark.parametrize("conjugate", [False, True])
def test_converges_to_the_exact_orbit(conjugate):
    system, state = planet(0.6)
    sizes = 0.016 / 4.0 ** np.arange(3)

    def error(h, seed):
        return np.abs(
            PolarReduction(ForceStepping(h, seed=seed), conjugate).start(system, state).advance(9.0).q[1] - exact
        )

    exact = kepler(0.6, 9.0)
    errors = [np.mean([error(h, seed).max() for seed in range(16)]) for h in sizes]
    assert 1e-4 < errors[-1] < errors[0] < 0.1
    orders = np.log(np.divide(errors[:-1], errors[1:])) / np.log(4.0)
    np.testing.assert_allclose(orders, 1.5, atol=0.2)


def test_the_orbit_of_the_paper():
    """Grid 0.0067: an average step of 0.0125 over 64π; energy and angular momentum exact; every revolution the same."""
    system, state = planet()
    motion = PolarReduction(ForceStepping(0.0067)).start(system, state)
    before = motion.energies(state)["lattice_total"]
    end = motion.advance(64 * math.pi)
    assert 64 * math.pi / motion.statistics()["events"] == pytest.approx(0.0125, rel=0.01)
    assert motion.energies(end)["lattice_total"] == pytest.approx(before, rel=1e-12)
    assert system.angular_momentum(end)[0] == pytest.approx(motion.angular_momentum, rel=1e-15)
    assert motion.angular_momentum == pytest.approx(math.sqrt(1 - ECCENTRICITY**2), rel=1e-15)

    motion = PolarReduction(ForceStepping(0.0067)).start(system, state)
    pieces = motion.inner.follow(64 * math.pi)
    k = pieces.of_dof(1)
    turns = (pieces.v[k] < 0) & (pieces.a[k] > 0)
    turns[:-1] &= (pieces.v[k] + pieces.a[k] * np.diff(pieces.time[k], append=0.0))[:-1] > 0
    k = k[turns]
    nearest = pieces.time[k] - pieces.v[k] / pieces.a[k]
    assert len(nearest) >= 31
    assert np.ptp(np.diff(nearest)) < 1e-11
    motion = PolarReduction(ForceStepping(0.0067)).start(system, state)
    angles = [motion.advance(t) and motion.angle(t) for t in nearest]
    assert np.ptp(np.diff(angles)) < 1e-11


def test_the_angle_is_the_integral_along_the_pieces():
    system, state = planet()
    motion = PolarReduction(ForceStepping(0.02, seed=1)).start(system, state)
    end = motion.advance(1.3)
    twin = PolarReduction(ForceStepping(0.02, seed=1)).start(system, state)
    pieces = twin.inner.follow(1.3)
    k = pieces.of_dof(1)
    ends = np.append(pieces.time[k], 1.3)[1:]
    parts = [
        quad(lambda tau, i=i: 1.0 / (pieces.q[i] + tau * (pieces.v[i] + 0.5 * tau * pieces.a[i])) ** 2, 0.0, T)[0]
        for i, T in zip(k, ends - pieces.time[k], strict=True)
    ]
    theta = motion.angular_momentum * math.fsum(parts)
    assert 1.0 < theta == pytest.approx(motion.angle(1.3), rel=1e-13)
    r = pieces.at(1.3)[0][1, 0]
    np.testing.assert_allclose(end.q[1], [r * math.cos(theta), r * math.sin(theta)], atol=1e-13)


def test_what_is_looked_at_does_not_change():
    system, state = planet()
    integrator = PolarReduction(ForceStepping(0.01))
    once = integrator.start(system, state).advance(10.0)
    motion = integrator.start(system, state)
    for t in np.sort(np.random.default_rng(0).uniform(0.0, 10.0, 50)):
        seen = motion.advance(t)
        assert system.angular_momentum(seen)[0] == pytest.approx(motion.angular_momentum, rel=1e-15)
    assert_same(motion.advance(10.0), once)
    # Accelerations are the forces of the interpolated energy and of the rotation.
    np.testing.assert_allclose(once.a[1], -once.q[1] / np.linalg.norm(once.q[1]) ** 3, atol=0.02)


@pytest.mark.parametrize(
    "integrator",
    [
        PolarReduction(ForceStepping(0.01)),
        PolarReduction(ForceStepping(0.01), conjugate_angle=True),
        PolarReduction(Newmark(0.01)),
    ],
    ids=["exact", "conjugate", "Newmark"],
)
def test_polar_motions_go_on_and_come_back(integrator):
    system, state = planet()
    motion = integrator.start(system, state)
    motion.advance(2.0)
    stored = {name: np.array(array) for name, array in motion.checkpoint().items()}
    end = motion.advance(5.0)
    resumed = integrator.resume(planet()[0], stored)
    assert_same(resumed.advance(5.0), end)
    assert resumed.statistics() == motion.statistics()
    assert resumed.angle(5.0) == motion.angle(5.0)
    back = integrator.start(system, end.reversed()).advance(10.0)
    np.testing.assert_allclose(back.q, state.q, atol=1e-9)
    np.testing.assert_allclose(back.v, -state.v, atol=1e-8)
    with pytest.raises(StepFailed, match="cannot go back"):
        motion.advance(4.0)
    assert motion.advance(6.0).t == pytest.approx(6.0)


def test_a_checkpoint_of_the_other_angle_is_refused():
    system, state = planet()
    stored = PolarReduction(ForceStepping(0.01)).start(system, state).checkpoint()
    with pytest.raises(InvalidSystem, match="the other choice of conjugate_angle"):
        PolarReduction(ForceStepping(0.01), conjugate_angle=True).resume(system, stored)


def symplectic_defect(integrator, nudge=1e-6):
    """Return max |Jᵀ Ω J − Ω| for the Jacobian J of a planet's motion over 2 s, by central differences."""
    system, _ = planet()

    def flow(y):
        end = integrator.start(system, system.state([[0.0, 0.0], y[:2]], [[0.0, 0.0], y[2:]])).advance(2.0)
        return np.concatenate([end.q[1], end.v[1]])

    y0 = np.array([0.8, 0.1, 0.3, 1.1])
    J = np.column_stack([(flow(y0 + nudge * e) - flow(y0 - nudge * e)) / (2 * nudge) for e in np.eye(4)])
    omega = np.kron([[0.0, 1.0], [-1.0, 0.0]], np.eye(2))
    return np.abs(J.T @ omega @ J - omega).max()


def test_the_conjugate_angle_makes_the_whole_motion_symplectic():
    exact, conjugate = (PolarReduction(ForceStepping(0.05), conjugate_angle=angle) for angle in (False, True))
    assert symplectic_defect(conjugate) < 1e-7
    assert symplectic_defect(exact) > 1e-3
    assert symplectic_defect(PolarReduction(Newmark(0.05))) < 1e-7
    assert "symplectic form" in conjugate.conserves
    assert "symplectic form" not in exact.conserves
    assert {"energy", "momentum", "angular momentum"} <= conjugate.conserves & exact.conserves
    assert exact.symmetric
    assert exact.order == 1.5


def test_newmark_in_polar_coordinates_converges_to_the_orbit():
    system, state = planet(0.6)
    sizes = (0.02, 0.01, 0.005)
    errors = [
        np.abs(PolarReduction(Newmark(dt)).start(system, state).advance(9.0).q[1] - kepler(0.6, 9.0)).max()
        for dt in sizes
    ]
    assert 1e-5 < errors[-1] < errors[0] < 0.1
    np.testing.assert_allclose(np.log2(np.divide(errors[:-1], errors[1:])), 2.0, atol=0.15)
    fitted = PolarReduction(Newmark()).fit(system, state, 0.1)
    assert (0.1 / fitted.integrator.dt) % 1 == pytest.approx(0.0, abs=1e-9)


def test_the_angle_of_fixed_steps_is_of_second_order_whatever_the_method_is():
    system, state = planet(0.6)
    make = lambda dt: PolarReduction(Composition(Newmark(dt), 6))  # noqa: E731
    assert make(0.1).order == 2
    errors = [np.abs(make(dt).start(system, state).advance(9.0).q[1] - kepler(0.6, 9.0)).max() for dt in (0.02, 0.01)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.15)
    assert PolarReduction(Midpoint(0.1, alpha=0.3)).order == 1


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("dim", [2, 3])
def test_two_free_bodies_in_any_plane(dim, turned):
    """Against an accurate solution; several laws at once, and pairs in either order."""
    rng = np.random.default_rng(dim)
    pairs = [[1, 0], [0, 1]] if turned else [[0, 1], [0, 1]]
    energies = {
        "springs": Bars(pairs, EngineeringStrain([3.0, 2.0], [1.0, 0.8]), dim),
        "centrifugal": Bars(pairs[:1], InverseSquare(0.1), dim),
    }
    system = System([1.5, 2.5], energies, dim=dim)
    q, v = rng.standard_normal((2, dim)), rng.standard_normal((2, dim))
    state = system.state(q, v, t=1.0)
    motion = PolarReduction(ForceStepping(1e-4)).start(system, state)
    before, spin, momentum = motion.energies(state), system.angular_momentum(state), system.momentum(state)
    end = motion.advance(4.0)

    def rate(_, y):
        x, w = y.reshape(2, 2, dim)
        return np.concatenate([w.ravel(), system.accelerations(system.force(0.0, x, w)).ravel()])

    start = np.concatenate([q.ravel(), v.ravel()])
    exact = solve_ivp(rate, (1.0, 4.0), start, method="DOP853", rtol=1e-11, atol=1e-12).y[:, -1]
    assert np.abs(end.q - q).max() > 0.5
    np.testing.assert_allclose(np.concatenate([end.q.ravel(), end.v.ravel()]), exact, atol=1e-4)
    np.testing.assert_allclose(system.momentum(end), momentum, atol=1e-14)
    np.testing.assert_allclose(system.angular_momentum(end), spin, atol=1e-14)
    after = motion.energies(end)
    assert after["lattice_total"] == pytest.approx(before["lattice_total"], rel=1e-12)
    assert abs(after["total"] - before["total"]) < 1e-5 * before["total"]


@pytest.mark.parametrize("held", [0, 1])
def test_either_body_may_be_held(held):
    fixed = np.arange(2)[:, None] == np.full(3, held)
    system = System([2.0, 2.0], {"rod": Bars([[0, 1]], EngineeringStrain(5.0, 1.0))}, fixed=fixed)
    q, v = np.array([[1.0, 0.0, 0.0], [1.0, 1.2, 0.0]]), np.full((2, 3), 0.7)
    end = PolarReduction(ForceStepping(1e-3)).start(system, system.state(q, v)).advance(2.0)
    plain = Newmark(1e-4).start(system, system.state(q, v)).advance(2.0)
    np.testing.assert_array_equal(end.q[held], q[held])
    np.testing.assert_array_equal(end.v[held], 0.0)
    np.testing.assert_allclose(end.q, plain.q, atol=2e-3)


def test_bodies_that_fall_straight_pass_through_each_other():
    system = System([1.0, 3.0], {"spring": Bars([[0, 1]], EngineeringStrain(3.0, 0.0))})
    along = np.array([0.48, 0.6, 0.64])
    state = system.state([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0] + 0.7 * along], [-0.1 * along, -0.4 * along])
    motion = PolarReduction(ForceStepping(1e-3)).start(system, state)
    assert motion.angular_momentum == 0.0
    before = motion.energies(state)["lattice_total"]
    end = motion.advance(1.3)
    omega = 2.0
    r = 0.7 * math.cos(omega * 1.3) - 0.3 / omega * math.sin(omega * 1.3)
    assert r < -0.3
    np.testing.assert_allclose(end.q[1] - end.q[0], r * along, atol=1e-3)
    assert motion.energies(end)["lattice_total"] == pytest.approx(before, rel=1e-12)
    assert motion.angle(1.3) == 0.0


@pytest.mark.parametrize("integrator", [ForceStepping(0.4, offset=0.5), Newmark(0.05)])
def test_an_angle_that_is_not_resolved_is_refused(integrator):
    system = System([1.0, 1.0], {"spring": Bars([[0, 1]], EngineeringStrain(1.0, 0.0), 2)}, dim=2)
    state = system.state([[0.0, 0.0], [1.0, 0.0]], [[0.0, 0.0], [-1.0, 1e-3]])
    motion = PolarReduction(integrator).start(system, state)
    with pytest.raises(StepFailed, match=r"comes to 0 soon after t = .* though their angular momentum, 0.0005 kg"):
        motion.advance(5.0)
    with pytest.raises(StepFailed, match="comes to 0 soon after"):
        motion.advance(6.0)
    with pytest.raises(StepFailed, match="comes to 0 soon after"):
        motion.checkpoint()


def test_what_polar_coordinates_cannot_do_is_refused():
    pull = {"sun": Bars([[0, 1]], InverseDistance(1.0))}

    def start(system, q=((0.0, 0.0, 0.0), (1.0, 0.0, 0.0)), integrator=ForceStepping(0.1)):  # noqa: B008
        PolarReduction(integrator).start(system, system.state(np.array(q)[:, : system.dim]))

    with pytest.raises(StepFailed, match="both bodies are at"):
        start(System([1.0, 1.0], {"spring": Bars([[0, 1]], EngineeringStrain(1.0, 0.0))}), q=np.ones((2, 3)))
    with pytest.raises(InvalidSystem, match="this system has 3 nodes in 3 dimensions"):
        start(System(np.ones(3), pull), q=np.eye(3))
    with pytest.raises(InvalidSystem, match="this system has 2 nodes in 1 dimensions"):
        start(System(np.ones(2), {"sun": Bars([[0, 1]], InverseDistance(1.0), 1)}, dim=1))
    with pytest.raises(InvalidSystem, match=r"energy 'weight' \(Gravity\) is not of the kind Bars"):
        start(System(np.ones(2), pull | {"weight": Gravity(np.ones(2), (0.0, 0.0, -9.81))}))
    with pytest.raises(InvalidSystem, match="load 'wind' acts from outside"):
        start(System(np.ones(2), pull, loads={"wind": NodalLoad([0], (1.0, 0.0, 0.0), 1.0)}))
    for fixed in ([[True] * 3, [True] * 3], [[True, True, False], [False] * 3]):
        with pytest.raises(InvalidSystem, match="two free nodes, or one free and one fixed in all components"):
            start(System(np.ones(2), pull, fixed=np.array(fixed)))
    with pytest.raises(ValueError, match="the conjugate angle is that of ForceStepping; it is not known for Newmark"):
        PolarReduction(Newmark(), conjugate_angle=True)
    with pytest.raises(InvalidSystem, match="free to move as a whole; node 0 is fixed"):
        start(System(np.ones(2), pull), integrator=JacobiReduction(Newmark(0.01)))
