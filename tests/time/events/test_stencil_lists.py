"""Force-stepping with stencils that change: lists that are found again on the way, and collisions of two bodies."""

import copy
from dataclasses import replace

import numpy as np
import pytest

import symplex as sx
from symplex.contact import BodyContact, Surface
from symplex.errors import InvalidSystem, StepFailed
from symplex.fem.energies.energy import LatticeFunctions
from symplex.time.events import stencil_lists

TURNED = [[np.cos(0.4), np.sin(0.4)], [-np.sin(0.4), np.cos(0.4)]]
LATTICES = {
    "plain": sx.ForceStepping(0.03),
    "mirrored": sx.ForceStepping(0.03, mirrored=True, offset="random"),
    "mirrored in x": sx.ForceStepping((0.03, 0.04), mirrored=(True, False), seed=3),
    "turned": sx.ForceStepping(0.03, axes=TURNED),
}


def drops(fixed=False):
    """Two drops of three atoms each that fly towards each other."""
    drop = 1.12 * np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.9]])
    q = np.vstack([drop, drop + np.array([4.6, 0.6])])
    v = np.repeat([[1.5, 0.0], [-1.5, 0.0]], 3, axis=0) + 0.1 * np.random.default_rng(1).standard_normal(q.shape)
    held = np.zeros(q.shape, bool)
    held[0] = fixed
    argon = sx.measures.ShortRangeLennardJones(1.0, 1.0, dim=2)
    system = sx.System(np.ones(6), {"argon": argon}, dim=2, fixed=held)
    return system, system.state(q, np.where(held, 0.0, v))


@pytest.mark.parametrize("lattice", LATTICES)
def test_the_motion_is_that_of_all_pairs(lattice, monkeypatch):
    method = LATTICES[lattice]
    motions = [method.start(*drops())]
    monkeypatch.setattr(stencil_lists, "_CELLS", 1e4)
    motions.append(method.start(*drops()))
    total = motions[0].energies(drops()[1])["lattice_total"]
    for t in (0.4, 0.8, 1.2):
        some, every = (motion.advance(t) for motion in motions)
        np.testing.assert_allclose(some.q, every.q, atol=1e-11)
        np.testing.assert_allclose(some.v, every.v, atol=1e-10)
        for motion, state in zip(motions, (some, every), strict=True):
            assert motion.energies(state)["lattice_total"] == pytest.approx(total, abs=1e-12)
    counts, counts_of_all = (motion.statistics() for motion in motions)
    assert counts["integer_events"] == counts_of_all["integer_events"]
    assert counts["pair_events"] < 0.8 * counts_of_all["pair_events"]
    assert counts["searches"] > 4
    assert counts_of_all["searches"] == 1


def test_the_number_of_simplices_does_not_depend_on_lists(monkeypatch):
    method = replace(LATTICES["plain"], count_crossings=True)
    some = method.start(*drops())
    monkeypatch.setattr(stencil_lists, "_CELLS", 1e4)
    every = method.start(*drops())
    for motion in (some, every):
        motion.advance(0.8)
    assert some.statistics()["searches"] > 3
    assert some.statistics()["crossings"] == every.statistics()["crossings"]


@pytest.mark.parametrize("lattice", ["plain", "mirrored in x", "turned"])
def test_a_motion_goes_on_from_a_checkpoint_with_the_same_bits(lattice):
    method = LATTICES[lattice]
    system, state = drops(fixed=lattice == "plain")
    motion = method.start(system, state)
    checkpoints = []
    for t in (0.2, 0.35, 0.61):
        motion.advance(t)
        checkpoints.append(motion.checkpoint())
    twin = copy.deepcopy(motion)
    end, counts = motion.advance(1.0), motion.statistics()
    np.testing.assert_array_equal(twin.advance(1.0).q, end.q)
    at_once = method.start(*drops(fixed=lattice == "plain"))
    np.testing.assert_array_equal(at_once.advance(1.0).q, end.q)  # looking has not disturbed
    for checkpoint in checkpoints:
        resumed = method.resume(drops(fixed=lattice == "plain")[0], checkpoint)
        later = resumed.advance(1.0)
        np.testing.assert_array_equal(later.q, end.q)
        np.testing.assert_array_equal(later.v, end.v)
        assert resumed.statistics() == counts
    assert counts["searches"] > 3


def test_a_checkpoint_without_the_lists_is_refused():
    system, state = drops()
    checkpoint = LATTICES["plain"].start(system, state).checkpoint()
    del checkpoint["listed at"]
    with pytest.raises(InvalidSystem, match="the checkpoint has no listed at"):
        LATTICES["plain"].resume(system, checkpoint)


def test_motions_that_share_a_system_do_not_disturb_each_other():
    system, state = drops()
    alone = LATTICES["plain"].start(*drops()).advance(0.6)
    one, other = LATTICES["plain"].start(system, state), sx.EnergyMomentum(0.01).start(system, state)
    for n in range(1, 7):
        end = one.advance(n / 10)
        other.advance(n / 10)
    np.testing.assert_array_equal(end.q, alone.q)


def test_the_lattice_potential_is_known_far_from_where_the_lists_are_of():
    system, state = drops()
    motion = LATTICES["plain"].start(system, state)
    state = replace(state, q=0.8 * state.q)
    there = LATTICES["plain"].start(system, state)
    assert motion.lattice_potential(state.q) == there.lattice_potential(state.q)
    assert abs(there.lattice_potential(state.q)) > 1.0


def test_rows_of_lattice_functions_are_contiguous():
    rows = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    assert LatticeFunctions(rows, 0, 0, 0).parameters.strides == (24, 8)


# -- bodies that collide ----------------------------------------------------------------------------------------

REACH = 0.1  # m


def cubes(stiffness=1e6, gap=0.02):
    """Two rubber cubes of six tetrahedra that fly towards each other off centre at 3 m/s, 0.1 c."""
    mesh = sx.box((1.0, 1.0, 1.0), (1, 1, 1), split="6")
    n = len(mesh.points)
    points = np.vstack([mesh.points, mesh.points + np.array([1.0 + REACH + gap, 0.13, 0.21])])
    cells = np.vstack([mesh.cells["tetra"], mesh.cells["tetra"] + n]).astype(np.int32)
    one = Surface.of(mesh)
    surface = Surface.join([replace(one, names=("left",)), replace(one.shifted(n), names=("right",))])
    rubber = sx.NeoHookean(lmbda=5.77e5, mu=3.85e5, density=1000.0)
    energies = {
        "solid": sx.Solid(points, cells, rubber),
        "contact": BodyContact(surface, stiffness, distance=REACH),
    }
    system = sx.System(sx.lumped_mass(points, cells, 1000.0, 2 * n), energies)
    speeds = np.repeat([[1.5, 0.0, 0.0], [-1.5, 0.0, 0.0]], n, axis=0)
    return system, system.state(points, speeds)


def velocity_of_left(system, state):
    half = system.n_nodes // 2
    return system.mass[:half] @ state.v[:half] / system.mass[:half].sum()


def test_two_cubes_rebound_with_the_energy_of_the_lattice():
    system, state = cubes()
    motion = sx.ForceStepping(0.05 * REACH).start(system, state)
    total = motion.energies(state)["lattice_total"]
    stored = 0.0
    for t in np.linspace(0.0, 0.12, 13)[1:]:
        reached = motion.advance(t)
        energies = motion.energies(reached)
        assert energies["lattice_total"] == pytest.approx(total, rel=1e-12)
        stored = max(stored, energies["contact"])
    assert stored > 0.3 * total
    assert energies["contact"] == 0.0
    # The lattice breaks the symmetries of momenta.
    np.testing.assert_allclose(system.momentum(reached), 0.0, atol=0.1 * 1500.0)
    exact = velocity_of_left(system, sx.EnergyMomentum(2e-4).start(*cubes()).advance(0.12))
    assert exact[0] < -0.7
    assert velocity_of_left(system, reached)[0] == pytest.approx(exact[0], abs=0.03 * (1.5 - exact[0]))


def test_bodies_that_do_not_meet_move_as_without_contact():
    system, state = cubes(gap=5.0)
    alone = sx.System(system.mass, {"solid": system.energies["solid"]})
    method = sx.ForceStepping(0.05 * REACH)
    motion = method.start(system, state)
    np.testing.assert_array_equal(motion.advance(0.1).q, method.start(alone, state).advance(0.1).q)
    assert motion.statistics()["searches"] > 4


def test_what_passes_through_is_told_with_its_place():
    system, state = cubes(stiffness=1e5)
    motion = sx.ForceStepping(0.05 * REACH).start(system, state)
    reported = r"^ForceStepping stopped at t = 0\.0\d+ s: .* passed through .* near \(.*\) m\. Try a smaller grid"
    with pytest.raises(StepFailed, match=reported):
        motion.advance(0.1)
    with pytest.raises(StepFailed, match="passed through"):
        motion.checkpoint()


def test_where_the_straight_way_cuts_a_corner_the_way_itself_is_looked_at(monkeypatch):
    method = sx.ForceStepping(0.1 * REACH)
    end = method.start(*cubes()).advance(0.05)
    asked = []

    def crossing(contact, q0, q1):
        asked.append(np.abs(q1 - q0).max())
        return "a node passed through a face" if asked[-1] > 0.2 * REACH else None

    monkeypatch.setattr(BodyContact, "find_penetration", crossing)
    np.testing.assert_array_equal(method.start(*cubes()).advance(0.05).q, end.q)
    assert max(asked) > 0.2 * REACH
    assert len(asked) > 64


def test_a_grid_that_lies_beyond_surfaces_is_refused():
    system, state = cubes()
    with pytest.raises(
        InvalidSystem, match=r"too coarse for 'contact'.*at a distance of 0\.1 m.*Take a grid of 0\.005 m"
    ):
        sx.ForceStepping(0.03).start(system, state)


def test_a_collision_goes_on_from_a_checkpoint_with_the_same_bits():
    system, state = cubes()
    method = sx.ForceStepping(0.05 * REACH)
    motion = method.start(system, state)
    motion.advance(0.04)
    checkpoint = motion.checkpoint()
    end = motion.advance(0.09)
    later = method.resume(cubes()[0], checkpoint).advance(0.09)
    np.testing.assert_array_equal(later.q, end.q)
    np.testing.assert_array_equal(later.v, end.v)
