"""The published force-stepping algorithms, against each other and against exact motions."""

import numpy as np
import pytest

from reference.algorithm_1_2 import algorithm_1_2
from reference.kuhn_walk import kuhn_walk
from reference.reference_lattice import first_root
from symplex.errors import InvalidSystem, StepFailed
from symplex.fem.actions.loads import NodalForce, NodalLoad
from symplex.fem.actions.mass import lumped_mass
from symplex.fem.energies.energy import Energy, LatticeFunctions
from symplex.fem.solids.materials import NeoHookean
from symplex.fem.solids.solid import Solid
from symplex.fem.system import System
from symplex.meshes.generate import box
from symplex.time.events.force_stepping import ForceStepping
from symplex.time.explicit.newmark import Newmark

WALKS = {
    "algorithm 1-2": algorithm_1_2,
    "algorithm 1-2, local": lambda *args: algorithm_1_2(*args, local=True),
    "kuhn": kuhn_walk,
}


@pytest.fixture(params=WALKS, ids=str)
def walk(request):
    return WALKS[request.param]


class Well(Energy):
    """Each node in a well φ = ½ k |x|² + c (x_0 x_1)² around the origin (on a line: ½ k x²)."""

    def __init__(self, n, k, c=0.0):
        self.nodes = np.arange(n, dtype=np.int32)[:, None]
        self.k, self.c = k, c

    def value(self, x):
        coupling = self.c * (x[:, 0, 0] * x[:, 0, -1]) ** 2 if self.c else 0.0
        return 0.5 * self.k * (x[:, 0] ** 2).sum(axis=1) + coupling

    def gradient(self, x):
        g = self.k * x
        if self.c:
            g = g + 2 * self.c * x * x[:, :, ::-1] ** 2
        return g

    def hessian(self, x):
        raise NotImplementedError

    def lattice_functions(self, axes=None):
        parameters = np.tile([self.k, self.c], (len(self.nodes), 1))
        return LatticeFunctions(parameters, *well_functions())


def well_functions():
    from numba import cfunc, types

    pointer = types.CPointer(types.float64)
    if not hasattr(well_functions, "compiled"):

        @cfunc(types.float64(pointer, pointer, types.int64, types.float64))
        def difference(p, x, i, h):
            other = p[1] * x[1 - i] ** 2 if p[1] != 0.0 else 0.0
            return (0.5 * p[0] + other) * h * (2 * x[i] + h)

        well_functions.compiled = difference
    return 0, well_functions.compiled.address, 0


def line(k=4.0, mass=1.0):
    return System(np.array([mass]), {"well": Well(1, k)}, dim=1)


def plane(n=2):
    return System(np.linspace(1.0, 2.0, n), {"well": Well(n, 3.0, 2.0)}, dim=2)


def body():
    """A stretched, spinning neo-Hookean block of six tetrahedra, 24 coordinates."""
    mesh = box((1.0, 0.8, 0.6), (1, 1, 1), split="6")
    cells = mesh.cells["tetra"]
    system = System(
        lumped_mass(mesh.points, cells, 1.0, len(mesh.points)),
        {"strain": Solid(mesh.points, cells, NeoHookean(2.0, 1.0, 1.0))},
    )
    v = np.array([0.1, 0.2, 0.0]) + np.cross([0.3, -0.2, 0.9], mesh.points)
    return system, system.state(mesh.points * [1.2, 0.9, 1.1], v)


def offset_for(state, seed=0):
    return np.random.default_rng(seed).random(state.q.shape)


# -- roots -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("c", "b", "a", "root"),
    [
        (1.0, -1.0, 0.0, 1.0),
        (3.0, -4.0, 2.0, 1.0),
        (1.0, 0.0, -2.0, 1.0),
        (0.0, 1.0, -1.0, 2.0),  # just entered: the root at 0 does not return
        (0.0, 1.0, 1.0, np.inf),
        (-1e-17, 1.0, 0.0, np.inf),  # entered, but for rounding
        (0.0, -1.0, 3.0, 0.0),  # leaving at once
        (1.0, -1.0, 1.0, np.inf),  # turns before
        (1.0, 1.0, 0.0, np.inf),
        (1.0, -1e-9, -1e-30, 1e9),  # no cancellation
    ],
)
def test_first_root(c, b, a, root):
    assert first_root(c, b, a) == pytest.approx(root, rel=1e-12)


# -- exact motions -----------------------------------------------------------------------------------------------


def exact_line(k, m, h, offset, x, v, t_end):
    """Position, velocity and crossings for φ = ½ k x² interpolated between points h (i + offset), by hand."""
    i = int(np.floor(x / h - offset))
    t, crossings = 0.0, 0
    while True:
        low, high = h * (i + offset), h * (i + 1 + offset)
        a = -0.5 * k * (high**2 - low**2) / h / m
        candidates = [
            (tau, side)
            for end, side in ((low, -1), (high, 1))
            for tau in np.roots([0.5 * a, v, x - end])
            if abs(tau.imag) < 1e-14 and tau.real > 0 and side * (v + a * tau.real) > 0
        ]
        tau, side = min(candidates, default=(np.inf, 0))
        tau = np.real(tau)
        if t + tau > t_end:
            tau = t_end - t
            return x + v * tau + 0.5 * a * tau**2, v + a * tau, crossings
        x, v, t, i = (high if side > 0 else low), v + a * tau, t + tau, i + side
        crossings += 1


@pytest.mark.parametrize("offset", [0.0, 0.3])
def test_one_coordinate_follows_its_parabolas(walk, offset):
    system = line()
    state = system.state([[0.95]], [[0.4]])
    times = [0.1, 1.0, 7.3]
    found = walk(system, state, times, 0.25, np.array([[offset]]))
    for t, end in zip(times, found.states, strict=True):
        x, v, crossings = exact_line(4.0, 1.0, 0.25, offset, 0.95, 0.4, t)
        assert end.t == t
        assert end.q[0, 0] == pytest.approx(x, abs=1e-11)
        assert end.v[0, 0] == pytest.approx(v, abs=1e-11)
    assert found.crossings == crossings > 20


def test_two_coordinates_follow_the_interpolated_potential(walk):
    # integrated with tiny steps in V_h, evaluated from its definition on the triangles of the plane
    system = plane(1)
    h, offset = 0.2, np.array([[0.31, 0.77]])
    mass, energy = system.mass[0], system.energies["well"]

    def gradient(q):
        z = q / h - offset[0]
        low = np.floor(z)
        first = int(np.argmax(z - low))
        corners = np.tile(low, (3, 1))
        corners[1:, first] += 1
        corners[2, 1 - first] += 1
        V = energy.value((h * (corners + offset))[:, None, :])
        g = np.empty(2)
        g[first], g[1 - first] = (V[1] - V[0]) / h, (V[2] - V[1]) / h
        return g

    q, v, dt, n = np.array([0.9, 0.2]), np.array([-0.1, 0.8]), 1e-4, 10_000
    state = system.state(q[None], v[None])
    for _ in range(n):
        q_mid = q + 0.5 * dt * v
        v = v - dt * gradient(q_mid) / mass
        q = q_mid + 0.5 * dt * v
    end = walk(system, state, [n * dt], h, offset).states[0]
    np.testing.assert_allclose(end.q[0], q, atol=1e-4)
    np.testing.assert_allclose(end.v[0], v, atol=1e-4)


def test_a_constant_force_gives_one_parabola(walk):
    system = System(np.array([2.0]), {"force": NodalForce([0], [1.0, -2.0, 3.0])})
    state = system.state([[0.0, 0.0, 0.0]], [[1.0, 0.5, -0.2]])
    end = walk(system, state, [3.0], 0.4, offset_for(state)).states[0]
    np.testing.assert_allclose(end.q[0], [3 + 9 / 4, 1.5 - 9 / 2, -0.6 + 27 / 4], rtol=1e-12)


# -- one against the other -----------------------------------------------------------------------------------------


def both_ways(system, state, times, grid, offset, atol):
    walks = {name: function(system, state, times, grid, offset) for name, function in WALKS.items()}
    reference = walks.pop("kuhn")
    for other in walks.values():
        assert other.crossings == reference.crossings
        assert other.mean == pytest.approx(reference.mean, rel=1e-9)
        assert other.longest == pytest.approx(reference.longest, rel=1e-6)
        for a, b in zip(other.states, reference.states, strict=True):
            np.testing.assert_allclose(a.q, b.q, atol=atol)
            np.testing.assert_allclose(a.v, b.v, atol=atol)
        np.testing.assert_allclose(other.lattice_potential, reference.lattice_potential, atol=atol)
    return reference


def test_both_algorithms_agree_in_the_plane():
    system = plane(2)
    state = system.state([[0.9, 0.2], [-0.5, 0.7]], [[-0.1, 0.8], [0.4, 0.0]])
    reference = both_ways(system, state, [1.0, 3.0], 0.1, offset_for(state), 1e-10)
    assert reference.crossings > 100


def test_both_algorithms_agree_for_a_body():
    system, state = body()
    reference = both_ways(system, state, [0.2, 1.0], 0.05, offset_for(state), 1e-10)
    assert reference.crossings > 1000


def test_both_algorithms_agree_on_different_grids_and_supports():
    system, state = body()
    fixed = system.state(state.q).q[:, :] < 0.1
    system = System(system.mass, system.energies, fixed=fixed)
    state = system.state(state.q, state.v)
    grid = 0.03 + 0.04 * np.random.default_rng(5).random(state.q.shape)
    reference = both_ways(system, state, [0.5], grid, offset_for(state), 1e-10)
    end = reference.states[-1]
    np.testing.assert_array_equal(end.q[fixed], state.q[fixed])
    assert not end.v[fixed].any()
    assert not end.a[fixed].any()


# -- what it keeps -------------------------------------------------------------------------------------------------


def test_energy_on_the_lattice_is_kept(walk):
    system, state = body()
    found = walk(system, state, np.linspace(0.0, 1.0, 11), 0.05, offset_for(state))
    total = [system.kinetic(s.v) + V for s, V in zip(found.states, found.lattice_potential, strict=True)]
    assert np.ptp([system.kinetic(s.v) for s in found.states]) > 1e-2
    np.testing.assert_allclose(total, total[0], rtol=1e-13)


def test_reversed_velocities_come_back(walk):
    system, state = body()
    offset = offset_for(state)
    there = walk(system, state, [0.7], 0.05, offset)
    end = there.states[0]
    back = walk(system, system.state(end.q, -end.v), [0.7], 0.05, offset)
    np.testing.assert_allclose(back.states[0].q, state.q, atol=1e-11)
    np.testing.assert_allclose(back.states[0].v, -state.v, atol=1e-11)
    assert abs(back.crossings - there.crossings) <= 1


def test_looking_does_not_disturb(walk):
    system, state = body()
    offset = offset_for(state)
    once = walk(system, state, [0.5], 0.05, offset)
    often = walk(system, state, np.linspace(0.0, 0.5, 37), 0.05, offset)
    np.testing.assert_array_equal(once.states[-1].q, often.states[-1].q)
    assert once.crossings == often.crossings


def test_converges_to_the_motion_in_the_potential():
    system, state = body()
    exact = Newmark(dt=1e-4).start(system, state).advance(1.0)
    errors = []
    for h in (0.04, 0.02, 0.01):
        ends = [kuhn_walk(system, state, [1.0], h, offset_for(state, seed)).states[0].q for seed in range(4)]
        errors.append(np.mean([np.abs(q - exact.q).max() for q in ends]))
    assert errors[0] < 0.03
    assert errors[2] < 0.25 * errors[0]


# -- the paper's impact ----------------------------------------------------------------------------------------------


def test_impact_of_the_cube_on_mesh_one(impact_of):
    system, state = impact_of("I")
    offset = offset_for(state)
    found = kuhn_walk(system, state, [0.0, 2e-6], 5e-4, offset)
    kinetic = [system.kinetic(s.v) for s in found.states]
    assert kinetic[1] < kinetic[0] - 1e3
    assert kinetic[1] + found.lattice_potential[1] == pytest.approx(kinetic[0] + found.lattice_potential[0], rel=1e-13)
    assert found.crossings > 1000
    assert found.shortest < found.mean < found.longest


def test_algorithm_1_2_on_mesh_one(impact_of):
    system, state = impact_of("I")
    offset = offset_for(state)
    end = kuhn_walk(system, state, [5e-7], 5e-4, offset)
    same = algorithm_1_2(system, state, [5e-7], 5e-4, offset)
    assert same.crossings == end.crossings
    np.testing.assert_allclose(same.states[0].q, end.states[0].q, atol=1e-15)
    np.testing.assert_allclose(same.states[0].v, end.states[0].v, rtol=1e-11)


# -- refusals --------------------------------------------------------------------------------------------------------


def test_loads_in_time_are_refused(walk):
    system = System(np.ones(1), {"well": Well(1, 1.0)}, dim=1, loads={"drive": NodalLoad([0], [1.0])})
    with pytest.raises(InvalidSystem, match="potential"):
        walk(system, system.state([[0.5]]), [1.0], 0.1, np.zeros((1, 1)))


def test_wrong_grid_is_refused(walk):
    system = line()
    with pytest.raises(ValueError, match="positive"):
        walk(system, system.state([[0.5]]), [1.0], 0.0, np.zeros((1, 1)))


def test_a_grid_too_coarse_for_the_elements_stops(walk):
    system, state = body()
    with pytest.raises(StepFailed):
        walk(system, state, [1.0], 3.0, offset_for(state))


# -- the event-driven implementation ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("mesh", "t"), [("I", 4e-6), ("II", 2e-6), ("III", 1.5e-6)])
@pytest.mark.slow
def test_events_give_the_same_trajectory_through_the_impact(impact_of, mesh, t):
    system, state = impact_of(mesh)
    offset = offset_for(state)
    times = [0.6 * t, t]
    reference = kuhn_walk(system, state, times, 5e-4, offset)
    motion = ForceStepping(5e-4, offset=offset, count_crossings=True).start(system, state)
    for time, expected in zip(times, reference.states, strict=True):
        found = motion.advance(time)
        np.testing.assert_allclose(found.q, expected.q, atol=1e-14)
        np.testing.assert_allclose(found.v, expected.v, rtol=1e-9)
    assert system.momentum(found)[1] < 0.9999 * system.momentum(state)[1]  # the wall has pushed
    assert motion.statistics()["crossings"] == reference.crossings


def test_events_give_the_same_motion_of_a_body_for_long():
    system, state = body()
    offset = offset_for(state)
    expected = kuhn_walk(system, state, [5.0], 0.05, offset).states[0]
    found = ForceStepping(0.05, offset=offset).start(system, state).advance(5.0)
    np.testing.assert_allclose(found.q, expected.q, atol=1e-10)
    np.testing.assert_allclose(found.v, expected.v, atol=1e-10)
