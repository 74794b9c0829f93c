"""The event-driven force-stepping integrator."""

import numpy as np
import pytest

from reference.kuhn_walk import kuhn_walk
from symplex.contact.obstacles import HalfSpace
from symplex.contact.rigid import RigidContact
from symplex.errors import InvalidSystem, StepFailed
from symplex.fem.actions.mass import consistent_mass
from symplex.fem.measures.bars import Bars, InverseDistance, LennardJones
from symplex.fem.solids.solid import Solid
from symplex.fem.system import System
from symplex.meshes.generate import cube_mesh
from symplex.time.events.force_stepping import ForceStepping

GRID = 5e-4


def started(impact_of, mesh="I", **options):
    system, state = impact_of(mesh)
    return ForceStepping(GRID, **options).start(system, state)


def test_lattice_total_is_conserved_through_the_impact(impact_of):
    motion = started(impact_of)
    totals, strain = [], []
    for t in np.linspace(0.0, 30e-6, 61):
        energies = motion.energies(motion.advance(t))
        totals.append(energies["lattice_total"])
        strain.append(energies["strain"])
    assert max(strain) > 2e6  # J: the impact is inside the window
    assert np.ptp(totals) / totals[0] < 1e-12
    assert motion.statistics()["events"] > 50_000


def test_potential_differs_from_its_interpolation(impact_of):
    motion = started(impact_of)
    energies = motion.energies(motion.advance(15e-6))
    assert abs(energies["total"] - energies["lattice_total"]) > 1.0  # J; or the test above would show nothing


def test_lattice_potential_at_vertices_is_the_potential(impact_of):
    system, state = impact_of("I")
    motion = ForceStepping(GRID).start(system, state)
    vertex = GRID * (np.round(state.q / GRID) + 3.0 * (state.q > 0.05) + motion.offset)
    assert motion.lattice_potential(vertex) == pytest.approx(system.potential(vertex), rel=1e-11)


def test_the_motion_is_the_exact_motion_under_the_interpolated_potential(impact_of):
    """Accelerations are −∇V_h/m: checked by differences of V_h inside a simplex."""
    system, _ = impact_of("I")
    motion = started(impact_of)
    state = motion.advance(12e-6)
    rng = np.random.default_rng(3)
    agreed = 0
    for _ in range(40):
        node, axis = rng.integers(system.n_nodes), rng.integers(3)
        step = np.zeros_like(state.q)
        step[node, axis] = 1e-7 * GRID
        slope = (motion.lattice_potential(state.q + step) - motion.lattice_potential(state.q - step)) / (2e-7 * GRID)
        agreed += np.isclose(slope, -system.mass[node] * state.a[node, axis], rtol=1e-3, atol=1e4)
    assert agreed >= 38  # a difference may straddle a face


def test_reversed_velocities_lead_back(impact_of):
    system, state = impact_of("I")
    there = ForceStepping(GRID).start(system, state).advance(8e-6)
    assert np.abs(there.v - state.v).max() > 500.0
    back = ForceStepping(GRID).start(system, there.reversed()).advance(there.t + 8e-6)
    assert np.abs(back.q - state.q).max() < 1e-12
    assert np.abs(back.v + state.v).max() < 1e-5


def test_resuming_is_bit_identical(impact_of):
    system, state = impact_of("I")
    straight = ForceStepping(GRID).start(system, state)
    straight.advance(6e-6)
    checkpoint = straight.checkpoint()
    resumed = ForceStepping(GRID).resume(system, checkpoint)
    a, b = straight.advance(11e-6), resumed.advance(11e-6)
    assert np.array_equal(a.q, b.q)
    assert np.array_equal(a.v, b.v)
    assert straight.statistics() == resumed.statistics()


def test_resuming_on_another_lattice_is_refused(impact_of):
    system, _ = impact_of("I")
    checkpoint = started(impact_of).checkpoint()
    with pytest.raises(InvalidSystem, match="another lattice: its grid is another"):
        ForceStepping(2 * GRID).resume(system, checkpoint)
    with pytest.raises(InvalidSystem, match="another lattice: its orientation is another"):
        ForceStepping(GRID, axes=wall_axes()).resume(system, checkpoint)


def test_resuming_from_another_version_is_refused(impact_of):
    system, _ = impact_of("I")
    checkpoint = started(impact_of).checkpoint()
    del checkpoint["gap"]
    with pytest.raises(InvalidSystem, match="has no gap: it is of another integrator or of another version"):
        ForceStepping(GRID).resume(system, checkpoint)


@pytest.mark.parametrize("offset", [0.3, 0.25])
def test_coordinates_that_start_tied_follow_the_walk(impact_of, offset):
    """The grid divides the cells of the mesh: all fractions are equal to round-off, and many pairs cross at once."""
    system, start = impact_of("I")
    body = System(system.mass, {"strain": system.energies["strain"]})
    state = body.state(start.q, 100.0 * np.random.default_rng(1).normal(size=start.q.shape))
    grid = 0.1 / 64
    motion = ForceStepping(grid, offset=offset).start(body, state)
    before = motion.energies(state)["lattice_total"]
    end = motion.advance(0.4e-6)
    walk = kuhn_walk(body, state, [0.4e-6], grid, motion.offset)
    assert motion.energies(end)["lattice_total"] == pytest.approx(before, rel=1e-12)
    assert np.abs(end.q - walk.states[-1].q).max() < 1e-13


def test_looking_does_not_disturb(impact_of):
    often, once = started(impact_of), started(impact_of)
    for t in np.linspace(0.0, 7e-6, 50):
        often.advance(t)
    a, b = often.advance(9e-6), once.advance(9e-6)
    assert np.array_equal(a.q, b.q)


def test_offset_comes_from_the_seed(impact_of):
    assert np.array_equal(started(impact_of, seed=4).offset, started(impact_of, seed=4).offset)
    assert not np.array_equal(started(impact_of, seed=4).offset, started(impact_of, seed=5).offset)


def test_fixed_coordinates_stay(impact_of):
    system, state = impact_of("I")
    fixed = np.zeros(state.q.shape, bool)
    fixed[state.q[:, 0] == 0.0] = True
    held = System(system.mass, system.energies, fixed=fixed)
    start = held.state(state.q, state.v)
    motion = ForceStepping(GRID).start(held, start)
    totals = [motion.energies(motion.advance(t))["lattice_total"] for t in np.linspace(0.0, 3e-6, 7)]
    end = motion.advance(3e-6)
    assert np.abs(end.q - start.q)[fixed].max() < 1e-15
    walk = kuhn_walk(held, start, [3e-6], GRID, motion.offset)
    assert np.abs(end.q - walk.states[-1].q).max() < 1e-14
    assert not np.any(end.v[fixed])
    assert np.ptp(totals) / totals[0] < 1e-12


def test_a_start_on_lattice_planes_is_told(impact_of):
    """The paper's positions are multiples of h: without an offset every coordinate starts on a plane, all tied.

    Such a motion is non-transversal, and has no continuation from simplex to simplex.
    """
    with pytest.raises(StepFailed, match=r"makes no progress at t = .* another lattice offset"):
        started(impact_of, offset=np.zeros(3)).advance(4e-6)


def test_wrong_grid_is_refused():
    for grid in (0.0, -1e-3, np.nan, np.array([1e-3, 0.0, 1e-3])):
        with pytest.raises(ValueError, match=r"grid.* must be (positive|finite)"):
            ForceStepping(grid)


def test_consistent_mass_is_refused(impact_of):
    system, state = impact_of("I")
    mesh = cube_mesh("I")
    M = consistent_mass(mesh.points, mesh.cells["tetra"], 2700.0, len(mesh.points))
    with pytest.raises(InvalidSystem, match="ForceStepping needs a lumped"):
        ForceStepping(GRID).start(System(M, system.energies), state)


def test_loads_in_time_are_refused(impact_of):
    system, state = impact_of("I")
    loaded = System(system.mass, system.energies, loads={"push": lambda t, q, v: np.ones_like(q)})
    with pytest.raises(InvalidSystem, match="load 'push'"):
        ForceStepping(GRID).start(loaded, state)


def test_grid_too_coarse_for_the_mesh_stops_with_place_and_advice(impact_of):
    system, state = impact_of("III")
    motion = ForceStepping(2e-3).start(system, state)
    with pytest.raises(StepFailed, match=r"at t = .* s, node \d+, direction [xyz]: .* smaller grid"):
        motion.advance(60e-6)
    with pytest.raises(StepFailed, match="smaller grid"):  # and it does not go on from there
        motion.advance(60e-6)
    with pytest.raises(StepFailed, match="smaller grid"):
        motion.checkpoint()


def test_a_start_that_is_not_finite_is_refused(impact_of):
    system, state = impact_of("I")
    state.v[3, 1] = np.nan
    with pytest.raises(StepFailed, match="not finite"):
        ForceStepping(GRID).start(system, state)


def test_going_back_in_time_is_refused(impact_of):
    motion = started(impact_of)
    motion.advance(1e-6)
    with pytest.raises(StepFailed, match="cannot go back"):
        motion.advance(0.5e-6)
    with pytest.raises(StepFailed, match="cannot move to t = nan"):
        motion.advance(np.nan)


def wall_axes():
    """Return axes with the wall's normal (0, −1, −1) along the second."""
    c = np.sqrt(0.5)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, c], [0.0, -c, c]])


def test_rotated_axes_are_a_rotated_problem(impact_of):
    """Rotating the lattice one way is rotating body and wall the other way."""
    system, state = impact_of("I")
    axes = wall_axes()
    contact = system.energies["wall"]
    plane = contact.obstacle
    wall = HalfSpace(axes @ plane.point, axes @ plane.normal, normalize=False)
    turned = System(
        system.mass,
        {
            "strain": Solid(state.q @ axes.T, system.energies["strain"].nodes, system.energies["strain"].material),
            "wall": RigidContact(contact.nodes[:, 0], wall, contact.stiffness),
        },
    )
    a = ForceStepping(GRID, axes=axes).start(system, state).advance(6e-6)
    b = ForceStepping(GRID).start(turned, turned.state(state.q @ axes.T, state.v @ axes.T)).advance(6e-6)
    assert np.abs(a.v - state.v).max() > 100.0
    assert np.abs(a.q - b.q @ axes).max() < 1e-12
    assert np.abs(a.v - b.v @ axes).max() < 1e-5


def test_rotated_axes_keep_the_energy(impact_of):
    motion = started(impact_of, axes=wall_axes())
    totals = [motion.energies(motion.advance(t))["lattice_total"] for t in np.linspace(0.0, 10e-6, 11)]
    assert np.ptp(totals) / totals[0] < 1e-12


def test_acting_gradients_add_up_to_the_accelerations(impact_of):
    system, _ = impact_of("I")
    for options in ({}, {"axes": wall_axes()}):
        motion = started(impact_of, **options)
        state = motion.advance(5e-6)
        total = np.zeros_like(state.q)
        for energy in system.energies.values():
            np.add.at(total, energy.nodes, motion.gradient(energy, state))
        expected = -system.mass[:, None] * state.a
        assert np.abs(expected).max() > 1e5
        assert np.abs(total - expected).max() < 1e-8 * np.abs(expected).max()


def test_wrong_axes_are_refused(impact_of):
    with pytest.raises(ValueError, match="orthogonal unit vectors"):
        ForceStepping(GRID, axes=np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0], [0.0, 0.0, 1.0]]))
    with pytest.raises(InvalidSystem, match=r"shape \(2, 2\)"):
        started(impact_of, axes=np.eye(2))


def test_rotated_axes_cannot_fix_components(impact_of):
    system, state = impact_of("I")
    fixed = np.zeros(state.q.shape, bool)
    fixed[7, 1] = True
    with pytest.raises(InvalidSystem, match="node 7"):
        ForceStepping(GRID, axes=wall_axes()).start(System(system.mass, system.energies, fixed=fixed), state)


# -- bad input ----------------------------------------------------------------------------------------------------


def particles(fixed=None, law=None):
    """Two points that attract each other, in the plane."""
    law = InverseDistance(1.0) if law is None else law
    return System(np.ones(2), {"pull": Bars([[0, 1]], law, dim=2)}, dim=2, fixed=fixed)


APART = np.array([[0.0, 0.0], [1.0, 0.3]])


@pytest.mark.parametrize("name", ["grid", "offset"])
@pytest.mark.parametrize("shape", [(3,), (3, 2), (2, 2, 2)])
def test_arrays_of_another_shape_are_refused(name, shape):
    integrator = ForceStepping(**{"grid": 0.1, name: np.ones(shape)})
    system = particles()
    with pytest.raises(
        InvalidSystem, match=rf"has shape \({shape[0]}, ?.*one for each direction \(2,\), or .* \(2, 2\)"
    ):
        integrator.start(system, system.state(APART))


def test_arrays_of_every_good_shape_are_taken():
    system = particles()
    ends = [
        ForceStepping(grid, offset=offset).start(system, system.state(APART)).advance(0.5).q
        for grid in (0.1, [0.1, 0.1], np.full((2, 2), 0.1))
        for offset in (0.3, [0.3, 0.3], np.full((2, 2), 0.3))
    ]
    assert np.array_equal(np.ptp(ends, axis=0), np.zeros((2, 2)))


def test_offsets_and_axes_that_are_no_numbers_are_refused():
    for offset in (np.nan, [0.0, np.inf]):
        with pytest.raises(ValueError, match="offset of force-stepping must be finite"):
            ForceStepping(0.1, offset=offset)
    for axes in (1.0, np.ones(2), np.zeros((2, 2)), np.full((2, 2), np.nan)):
        with pytest.raises(ValueError, match="axes of force-stepping must be orthogonal unit vectors"):
            ForceStepping(0.1, axes=axes)
    for options in ({"grid": "fine"}, {"grid": 0.1, "offset": "none"}, {"grid": 0.1, "axes": [[1, 2], [3]]}):
        with pytest.raises(ValueError, match=r"must be .*(number|array).*(, got|; it is) "):
            ForceStepping(**options)
    with pytest.raises(ValueError, match="must be positive and finite"):
        ForceStepping([])


def test_a_state_of_another_system_is_refused(impact_of):
    _, state = impact_of("I")
    with pytest.raises(InvalidSystem, match=r"positions of shape \(71, 3\) .* has 2 nodes in 2 dimensions"):
        ForceStepping(0.1).start(particles(), state)


def test_energies_of_another_dimension_are_refused():
    """Their compiled functions would read beyond the end of a stencil."""
    system = System(np.ones(2), {"pull": Bars([[0, 1]], InverseDistance(1.0))}, dim=2)
    with pytest.raises(InvalidSystem, match=r"'pull' \(Bars\) has 1 stencils of 2 nodes in 2 dim.* 6 coordinates"):
        ForceStepping(0.1).start(system, system.state(APART))


def test_a_grid_too_fine_to_count_is_refused():
    system = particles()
    for grid in (1e-10, 1e-29):
        with pytest.raises(StepFailed, match=r"node 1 is 1e\+\d+ grid sizes away from the origin .* a larger grid"):
            ForceStepping(grid).start(system, system.state(APART))


def test_nodes_without_mass_are_refused():
    with pytest.raises(InvalidSystem, match=r"1 of 2 nodes have no mass \(the first is node 1\)"):
        System(np.array([1.0, 0.0]), particles().energies, dim=2)


@pytest.mark.parametrize("law", [InverseDistance(1.0), InverseDistance(-1.0), LennardJones(1.0, 0.05)])
def test_a_pole_at_a_lattice_vertex_at_the_start_is_told(law):
    """Kepler with a lattice vertex on the sun."""
    fixed = np.array([[True, True], [False, False]])
    system = particles(fixed, law)
    state = system.state([[0.0, 0.0], [0.07, 0.06]])
    pole = r"at t = 0 s, node 1, direction x: .* energy 'pull' \(nodes 0 and 1\) has a pole there. .* lattice offset"
    with pytest.raises(StepFailed, match=pole):
        ForceStepping(0.1, offset=0.0).start(system, state)
    assert np.isfinite(ForceStepping(0.1, offset=0.5).start(system, state).advance(0.01).q).all()


def test_a_pole_at_a_lattice_vertex_on_the_way_is_told():
    system = particles()
    motion = ForceStepping(0.1, offset=0.0).start(system, system.state([[0.01, 0.02], [0.05, 0.33]]))
    with pytest.raises(StepFailed, match=r"at t = 0\.1.* s, node \d, direction [xy]: .* has a pole there"):
        motion.advance(3.0)


def test_a_crushed_element_is_named(impact_of):
    system, state = impact_of("I")
    with pytest.raises(StepFailed, match=r"an element of 'strain' \(nodes \d+ and .*\) is inverted.* finer mesh"):
        ForceStepping(0.05).start(system, state)


def test_systems_without_energies_nodes_or_freedom():
    free = System(np.ones(2), {}, dim=2)
    state = free.state(APART, np.array([[1.0, 0.0], [0.0, -2.0]]))
    motion = ForceStepping(0.1).start(free, state)
    assert np.allclose(motion.advance(7.0).q, state.q + 7.0 * state.v, rtol=0, atol=1e-13)
    assert motion.energies(motion.advance(7.0))["lattice_total"] == 2.5
    empty = System(np.empty(0), {}, dim=2)
    assert ForceStepping(0.1).start(empty, empty.state(np.empty((0, 2)))).advance(1.0).q.shape == (0, 2)
    held = particles(np.ones((2, 2), bool))
    motion = ForceStepping(0.1).start(held, held.state(APART))
    assert np.abs(motion.advance(1.0).q - APART).max() < 1e-15
    assert motion.energies(held.state(APART))["lattice_total"] == pytest.approx(held.potential(APART), rel=1e-14)
