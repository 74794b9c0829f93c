"""Contact between bodies in implicit steps in parts, without MPI: forces, lists and decisions of several ranks."""

import numpy as np
import pytest

from reference.threads_as_ranks import ThreadsAsRanks
from symplex.contact.bodies import BodyContact
from symplex.contact.friction import Friction
from symplex.contact.obstacles import Sphere
from symplex.contact.rigid import RigidContact
from symplex.contact.segments import SegmentContact
from symplex.contact.surfaces import Surface
from symplex.fem.actions.mass import lumped_mass
from symplex.fem.solids.materials import NeoHookean
from symplex.fem.solids.solid import Solid
from symplex.fem.system import System
from symplex.meshes.generate import box
from symplex.parallel.motion import with_cutbacks
from symplex.time.conserving.energy_momentum import EnergyMomentum
from symplex.time.explicit.newmark import Newmark
from symplex.time.implicit.generalized_alpha import GeneralizedAlpha, HilberHughesTaylor
from symplex.time.implicit.midpoint import Midpoint

RUBBER = NeoHookean(lmbda=6e6, mu=4e6, density=1000.0)
DT = 5e-4


def colliding(law="penalty", friction=0.0, gap=0.04):
    """Two cubes that fly against each other, and a third one that is never near: some ranks have no surface."""
    mesh = box((1.0, 1.0, 1.0), (2, 2, 2))
    n = len(mesh.points)
    places = [[0.0, 0.0, 0.0], [1.0 + gap, 0.13, 0.21], [0.0, 5.0, 0.0]]
    points = np.concatenate([mesh.points + place for place in places])
    nodes = np.concatenate([mesh.cells["tetra"] + k * n for k in range(3)])
    mass = lumped_mass(points, nodes, 1000.0, 3 * n)
    surface = Surface.join([Surface.of(mesh).renamed("left"), Surface.of(mesh).shifted(n).renamed("right")])
    if law == "segments":
        contact = SegmentContact.from_materials(surface, points, [RUBBER, RUBBER], speed=10.0, distance=0.02)
    else:
        contact = BodyContact.from_materials(surface, [RUBBER, RUBBER], speed=10.0, law=law, distance=0.05)
    loads = {"rub": Friction(contact, friction, slip_speed=0.01)} if friction else {}
    system = System(mass, {"bodies": Solid(points, nodes, RUBBER), "contact": contact}, loads=loads)
    v = np.repeat([[6.0, 1.0, 0.0], [-6.0, 0.0, 1.0], [0.0, 0.0, 3.0]], n, axis=0)
    return system, system.state(points, v)


def assert_near(one, two, most=1e-12):
    """Check that states are the same as far as Newton's method finds them."""
    for name, times in (("q", 1.0), ("v", 20.0)):
        a, b = getattr(one, name), getattr(two, name)
        np.testing.assert_allclose(b, a, rtol=0, atol=times * most * np.abs(a).max(), err_msg=name)


@pytest.mark.parametrize(
    ("method", "law", "friction"),
    [
        (EnergyMomentum(DT), "penalty", 0.3),
        (EnergyMomentum(DT), "barrier", 0.0),
        (EnergyMomentum(DT), "segments", 0.3),
        pytest.param(GeneralizedAlpha(DT), "segments", 0.3, marks=pytest.mark.slow),
        pytest.param(Midpoint(DT), "penalty", 0.0, marks=pytest.mark.slow),
        (Newmark(DT, beta=0.25), "penalty", 0.3),
        pytest.param(GeneralizedAlpha(DT), "penalty", 0.3, marks=pytest.mark.slow),
        (HilberHughesTaylor(DT), "barrier", 0.0),
    ],
    ids=lambda one: getattr(one, "name", str(one)),
)
def test_bodies_collide_in_parts_as_in_the_whole(method, law, friction):
    system, start = colliding(law, friction)
    one, parts = method.start(system, start), with_cutbacks(method, ThreadsAsRanks(3)).start(*colliding(law, friction))
    for t in (3e-3, 6e-3):
        state, other = one.advance(t), parts.advance(t)
        assert_near(state, other)
    left = len(start.q) // 3
    assert state.v[:left, 0].mean() < 5.0  # of 6, by the force of the other one
    energies, of_parts = one.energies(state), parts.energies(other)
    for name, energy in energies.items():
        assert of_parts[name] == pytest.approx(energy, rel=1e-10, abs=1e-11 * energies["kinetic"]), name
    if friction:
        assert of_parts["work_rub"] < -1.0


@pytest.mark.parametrize(("ranks", "friction"), [(2, 0.0), pytest.param(5, 0.3, marks=pytest.mark.slow)])
def test_energy_and_momenta_are_kept_through_a_collision_on_any_number_of_ranks(ranks, friction):
    system, start = colliding(friction=friction)
    motion = with_cutbacks(EnergyMomentum(DT), ThreadsAsRanks(ranks)).start(system, start)
    before, least = system.energies_of(start)["total"], np.inf
    for t in (3e-3, 1e-2):
        end = motion.advance(t)
        energies = motion.energies(end)
        assert abs(energies.get("balance", energies["total"]) - before) < 1e-12 * before
        least = min(least, energies["kinetic"])
    assert least < 0.8 * before  # they have met
    size = (system.mass[:, None] * np.abs(start.v)).sum()
    np.testing.assert_allclose(system.momentum(end), system.momentum(start), rtol=0, atol=1e-14 * size)
    np.testing.assert_allclose(system.angular_momentum(end), system.angular_momentum(start), rtol=0, atol=1e-12 * size)


def test_a_checkpoint_in_contact_goes_on_to_the_same_bits_on_as_many_ranks():
    """With the lists of pairs that were found before it, and on other numbers nearly."""
    method = Midpoint(DT)
    motion = with_cutbacks(method, ThreadsAsRanks(3)).start(*colliding())
    motion.advance(2e-3)
    checkpoint = motion.checkpoint()
    assert checkpoint["listed at contact"].any()
    end = motion.advance(5e-3)
    for ranks in (3, 2):
        later = with_cutbacks(method, ThreadsAsRanks(ranks)).resume(colliding()[0], checkpoint).advance(5e-3)
        if ranks == 3:
            np.testing.assert_array_equal(later.q, end.q)
            np.testing.assert_array_equal(later.v, end.v)
        assert_near(end, later)
    assert_near(end, method.resume(colliding()[0], checkpoint).advance(5e-3))


def test_long_steps_in_which_lists_are_found_again_and_steps_halved_are_those_of_one_process():
    method = EnergyMomentum(8e-3)
    system, start = colliding(gap=0.3)
    one, parts = method.start(system, start), with_cutbacks(method, ThreadsAsRanks(4)).start(*colliding(gap=0.3))
    state, other = one.advance(4e-2), parts.advance(4e-2)
    assert one.statistics()["halved"] == parts.statistics()["halved"]
    assert_near(state, other, 1e-10)


def rolling():
    """A cube that falls on a heavy sphere, which a node carries, and rubs on it."""
    mesh = box((1.0, 1.0, 1.0), (3, 3, 3))
    n = len(mesh.points)
    points = np.concatenate([mesh.points, [[0.6, 0.5, -1.01]]])
    mass = np.append(lumped_mass(mesh.points, mesh.cells["tetra"], 1000.0, n), 500.0)
    ball = RigidContact(np.flatnonzero(mesh.points[:, 2] < 1e-9), Sphere((0.0, 0.0, 0.0), 1.0), 1e7, carrier=n)
    system = System(
        mass, {"body": Solid(points, mesh.cells["tetra"], RUBBER), "ball": ball}, loads={"rub": Friction(ball, 0.4)}
    )
    v = np.zeros_like(points)
    v[:n] = [3.0, 0.0, -2.0]
    return system, system.state(points, v)


@pytest.mark.slow
@pytest.mark.parametrize(
    "method",
    [EnergyMomentum(DT), pytest.param(HilberHughesTaylor(DT), marks=pytest.mark.slow)],
    ids=lambda one: one.name,
)
def test_a_body_rubs_on_an_obstacle_that_a_node_of_another_rank_carries(method):
    system, start = rolling()
    one, parts = method.start(system, start), with_cutbacks(method, ThreadsAsRanks(3)).start(*rolling())
    state, other = one.advance(2e-2), parts.advance(2e-2)
    assert_near(state, other, 1e-11)
    assert parts.energies(other)["work_rub"] == pytest.approx(one.energies(state)["work_rub"], rel=1e-9)
    assert one.energies(state)["work_rub"] < -1.0
    np.testing.assert_allclose(system.momentum(other), system.momentum(start), rtol=0, atol=1e-9)
