"""Parts of meshes without MPI: what each rank has, and that all parts together find the bits that the whole finds."""

from math import fsum
from types import SimpleNamespace

import numpy as np
import pytest

from reference.boxes import FORMULATIONS, box_of
from symplex.contact.obstacles import HalfSpace
from symplex.contact.rigid import RigidContact
from symplex.errors import InvalidSystem, InvertedElement
from symplex.fem.actions.loads import Gravity
from symplex.fem.actions.mass import lumped_mass
from symplex.fem.assembly import blocks
from symplex.fem.measures.bars import Bars
from symplex.fem.measures.pair_laws import EngineeringStrain
from symplex.fem.outputs.forces import as_it_is
from symplex.fem.solids.materials import NeoHookean, SaintVenantKirchhoff
from symplex.fem.solids.solid import Solid
from symplex.fem.structures import Frames, body_particles
from symplex.fem.system import State, System
from symplex.parallel import partition
from symplex.parallel.exact_sum import WORDS, add_numbers, values_of, words_of
from symplex.parallel.halo import FailedElsewhere
from symplex.parallel.launch import Launch, launched
from symplex.parallel.motion import with_cutbacks
from symplex.parallel.part import parts_of as dividing
from symplex.parallel.part_system import SubdomainSystem
from symplex.parallel.partition import owners
from symplex.parallel.pieces import require_parts
from symplex.parallel.sums import Sums, sums_of_rank
from symplex.time.conserving.graham_jelenic import GrahamJelenic
from symplex.time.explicit.newmark import Newmark
from symplex.time.implicit.midpoint import Midpoint

RUBBER = NeoHookean(lmbda=6e6, mu=4e6, density=1000.0)


class OneProcess:
    """What ranks find together, with the positions of all nodes at hand."""

    def __init__(self, q, share, fails=False):
        self._q, self._share, self._fails = q, share, fails

    def halo(self, neighbours, numbers, vectors):
        """Return itself as the exchange."""
        return self

    def start(self, q):
        """Begin it."""

    def finish(self, q):
        """Set ghosts."""
        if self._fails:
            raise FailedElsewhere
        q[self._share.ghosts :] = self._q[self._share.nodes[self._share.ghosts :]]


def on_rank(part, q, fails=False):
    """The system of a part."""
    return SubdomainSystem(part, OneProcess(q, part.share, fails))


def system_of(kind, cells=(6, 3, 3), material=RUBBER):
    """A box on a floor, with weight and two springs along it."""
    name, _, formulation = kind.partition(" ")
    mesh = box_of(kind, (2.0, 1.0, 1.0), cells)
    nodes = mesh.cells[name]
    mass = lumped_mass(mesh.points, nodes, 1000.0, len(mesh.points))
    far = int(np.argmax(mesh.points.sum(axis=1)))
    energies = {
        "body": Solid(mesh.points, nodes, material, formulation=formulation or None),
        "gravity": Gravity(mass, (0.0, 0.0, -9.81)),
        "floor": RigidContact(mesh.boundary_nodes, HalfSpace((0, 0, 0.02), (0, 0, 1)), 1e6),
        "springs": Bars([[0, far], [1, far]], EngineeringStrain([1e5, 2e5], [2.0, 2.5])),
    }
    return System(mass, energies), mesh.points


def parts_of(system, points, ranks, threads=1, hidden=True):
    """What all ranks have."""
    owner = owners(points, [energy.nodes for energy in system.energies.values()], ranks)
    part = dividing(system, owner, ranks, threads, explicit=True, hides=hidden)
    return [part(rank) for rank in range(ranks)]


def gradient_in_parts(system, points, q, ranks, threads=1, hidden=True):
    """The gradient that all parts together find, of which each knows the positions of its own nodes only."""
    found = np.full_like(q, np.nan)
    for part in parts_of(system, points, ranks, threads, hidden):
        share = part.share
        here = q[share.nodes]
        here[share.ghosts :] = np.nan
        out = np.zeros_like(here)
        on_rank(part, q).step_gradient(here, out)
        assert not out[share.ghosts :].any()
        found[share.nodes[: share.ghosts]] = out[: share.ghosts]
    return found


def deformed(points, amount=0.01):
    """Positions that are moved at random."""
    return points + amount * np.random.default_rng(1).standard_normal(points.shape)


@pytest.mark.parametrize("kind", FORMULATIONS)
def test_parts_find_the_bits_of_the_whole(kind):
    system, points = system_of(kind, (4, 2, 2))
    q = deformed(points)
    for hidden in (True, False):
        np.testing.assert_array_equal(gradient_in_parts(system, points, q, 3, 1, hidden), system.gradient(q))


@pytest.mark.parametrize("threads", [1, 2])
def test_slabs_of_the_whole_mesh_order_the_sums_of_parts(threads, monkeypatch):
    # A small mesh that is divided into slabs as large ones are: sums are in their order, not in that of elements.
    monkeypatch.setattr(blocks, "SMALLEST_SLAB", 64)
    monkeypatch.setattr("symplex.parallel.pieces.SMALLEST_SLAB", 64)
    system, points = system_of("tetra", (16, 3, 3), SaintVenantKirchhoff(lmbda=6e6, mu=4e6, density=1000.0))
    assert len(np.unique(blocks.slabs_of(system.energies["body"].nodes, points))) > 2
    q = deformed(points)
    for ranks in (1, 2, 5):
        np.testing.assert_array_equal(gradient_in_parts(system, points, q, ranks, threads), system.gradient(q))


@pytest.mark.parametrize("kind", ["tetra", "hexahedron stabilized"])
def test_sums_of_parts_have_the_same_bits_on_any_number_of_ranks(kind):
    system, points = system_of(kind, (6, 3, 3))
    q, v = deformed(points), deformed(points, 1.0) - points
    found = []
    for ranks, hidden in ((1, False), (2, False), (3, True), (5, False)):
        parts = []
        for part in parts_of(system, points, ranks, hidden=hidden):
            here, own = q[part.share.nodes], part.share.ghosts
            arrays = here, v[part.share.nodes][:own], v[part.share.nodes][:own]
            counted = on_rank(part, q).counted
            parts.append(sums_of_rank(counted, part.mass[:own], arrays, np.zeros((0, WORDS), np.int64)))
        found.append(Sums(system, parts))
    state = State(0.0, q, v, v)
    reported = system.observed(state, as_it_is)
    assert reported["penetration"] > 0.0
    for sums in found:
        assert sums.is_finite
        assert (sums.energies, sums.reported) == (found[0].energies, found[0].reported)
        np.testing.assert_array_equal(sums.momentum, found[0].momentum)
        np.testing.assert_array_equal(sums.angular_momentum, found[0].angular_momentum)
    for name, energy in system.energies_of(state).items():
        assert sums.energies[name] == pytest.approx(energy, rel=1e-13)
    np.testing.assert_allclose(sums.momentum, system.momentum(state), rtol=1e-12)
    np.testing.assert_allclose(sums.angular_momentum, system.angular_momentum(state), rtol=1e-12)
    assert sums.reported == pytest.approx(reported, rel=1e-13)


def test_momenta_of_parts_in_the_plane_and_on_a_line():
    random = np.random.default_rng(3)
    for dim, moments in ((1, 0), (2, 1)):
        system = System(random.random(9) + 0.1, {}, dim=dim)
        q, v = random.standard_normal((2, 9, dim))
        state, none = State(0.0, q, v, v), np.zeros((0, WORDS), np.int64)
        sums = Sums(
            system, [sums_of_rank({}, system.mass[i], (q[i], v[i], v[i]), none) for i in (slice(4), slice(4, 9))]
        )
        assert sums.energies["total"] == pytest.approx(system.kinetic(v), rel=1e-14)
        np.testing.assert_allclose(sums.momentum, system.momentum(state), rtol=1e-12)
        assert sums.angular_momentum.shape == (moments,)
        np.testing.assert_allclose(sums.angular_momentum, system.angular_momentum(state), rtol=1e-12)


def test_what_is_not_finite_is_noticed():
    system, points = system_of("tetra", (4, 2, 2))
    v = np.zeros_like(points)
    v[7, 1] = np.inf
    sums = sums_of_rank({}, system.mass, (points, v, np.zeros_like(v)), np.zeros((0, WORDS), np.int64))
    assert not sums.is_finite


@pytest.mark.parametrize("kind", ["tetra", "hexahedron stabilized"])
def test_all_stencils_around_own_nodes_are_there_in_one_piece(kind):
    system, points = system_of(kind, (6, 3, 3))
    q = deformed(points)
    for hidden in (True, False):
        counted = dict.fromkeys(system.energies, 0)
        for part in parts_of(system, points, 3, hidden=hidden):
            own = part.share.nodes[: part.share.ghosts]
            for name, around in on_rank(part, q).around.items():
                energy = system.energies[name]
                expected = np.flatnonzero(np.isin(energy.nodes, own).any(axis=1))
                np.testing.assert_array_equal(np.sort(around.chosen), expected)
                np.testing.assert_array_equal(part.share.nodes[around.energy.nodes], energy.nodes[around.chosen])
                values = around.energy.local_energies(q[part.share.nodes])
                np.testing.assert_array_equal(values, energy.local_energies(q)[around.chosen])
                counted[name] += around.counts.sum()
        assert counted == {name: len(energy.nodes) for name, energy in system.energies.items()}


@pytest.mark.parametrize("has_metis", [True, False])
def test_each_node_has_one_owner_and_what_is_sent_is_what_is_wanted(has_metis, monkeypatch):
    if not has_metis:
        monkeypatch.setattr(partition, "_metis", lambda: None)
    system, points = system_of("tetra", (8, 4, 4))
    shares = [part.share for part in parts_of(system, points, 4)]
    own = np.concatenate([share.nodes[: share.ghosts] for share in shares])
    np.testing.assert_array_equal(np.sort(own), np.arange(len(points)))
    weights = np.array([share.ghosts for share in shares])
    assert weights.max() < 1.6 * weights.mean()
    for rank, share in enumerate(shares):
        for other in share.neighbours:
            back = next(one for one in shares[other.rank].neighbours if one.rank == rank)
            requested = shares[other.rank].nodes[back.first : back.last]
            np.testing.assert_array_equal(share.nodes[other.sent], requested)
            assert (other.sent >= share.sent).all()
            assert (other.sent < share.ghosts).all()
        # Inner stencils have no ghosts: they are computed before these are there.
        for name, chosen in share.inner.items():
            assert not np.isin(system.energies[name].nodes[chosen], share.nodes[share.ghosts :]).any()


def test_sums_are_exact_in_any_order_and_division():
    rng = np.random.default_rng(2)
    numbers = rng.standard_normal(1000) * 10.0 ** rng.uniform(-30, 30, 1000)
    numbers = np.concatenate([numbers, -numbers[::3], [5e-324, -1.7e308, 1.7e308, 0.0]])
    whole = words_of(np.array([0.1, -2.5]))
    np.testing.assert_array_equal(values_of(whole), [0.1, -2.5])
    parts = np.zeros_like(whole[:1])
    for some in np.array_split(rng.permutation(numbers), 7):
        words = np.zeros_like(parts)
        add_numbers(some, words[0])
        parts += words
    assert values_of(parts)[0] == fsum(numbers)
    add_numbers(-numbers, parts[0])
    assert values_of(parts)[0] == 0.0


@pytest.mark.parametrize("nodes", [3, 4, 9])
def test_every_rank_has_a_node_even_where_nodes_are_few(nodes, monkeypatch):
    points = np.random.default_rng(0).random((nodes, 3))
    stencils = [np.array([[0, 1], [1, 2]], np.int32)]
    assert set(owners(points, stencils, 3)) == {0, 1, 2}
    monkeypatch.setattr(partition, "_metis", lambda: None)
    assert set(owners(points, stencils, 3)) == {0, 1, 2}


def test_an_inverted_element_has_the_number_of_the_whole_mesh():
    system, points = system_of("tetra")
    q = points.copy()
    turned = system.energies["body"].nodes[100]
    q[turned[0]] = 2.0 * q[turned[1:]].mean(axis=0) - q[turned[0]]
    with pytest.raises(InvertedElement) as of_all:
        system.gradient(q)
    found = []
    for part in parts_of(system, points, 3):
        here, rank = q[part.share.nodes], on_rank(part, q)
        try:
            rank.step_gradient(here, np.zeros_like(here))
        except InvertedElement as error:
            found.append((rank.failed, error))
    _, first = min(found, key=lambda one: one[0])
    assert str(first) == str(of_all.value)
    assert first.element == of_all.value.element


def test_a_failure_elsewhere_is_passed_on():
    system, points = system_of("tetra")
    part = parts_of(system, points, 2)[0]
    here = points[part.share.nodes]
    with pytest.raises(FailedElsewhere):
        on_rank(part, points, fails=True).step_gradient(here, np.zeros_like(here))


def test_what_cannot_be_divided_is_refused_by_name():
    system, _ = system_of("tetra")
    pushed = System(system.mass, system.energies, loads={"push": lambda t, q, v: np.zeros_like(q)})
    with pytest.raises(InvalidSystem, match=r"^load 'push' cannot be divided among ranks\. Run it in one process"):
        require_parts(pushed)
    points, mass = body_particles(2.0, [0.0, 0.0, -0.5], [0.05, 0.05, 0.25])
    hung = System(mass, {}, frames=Frames([[0, 1, 2, 3]], points))
    with pytest.raises(InvalidSystem, match=r"^frames, of which the system has 1, cannot be divided among ranks\. Run"):
        require_parts(hung)


def test_more_ranks_than_elements_and_other_methods_are_refused():
    system, points = system_of("hexahedron", (2, 1, 1))
    ranks = SimpleNamespace(size=5)
    with pytest.raises(InvalidSystem, match=r"^there are 5 ranks, more than the mesh has elements or nodes \(4 and 12"):
        with_cutbacks(Newmark(1e-6), ranks).start(system, system.state(points))
    with pytest.raises(InvalidSystem, match=r"^there are 5 ranks, more than the mesh has elements or nodes \(4 and 12"):
        with_cutbacks(Midpoint(1e-6), ranks).start(system, system.state(points))
    with pytest.raises(
        InvalidSystem,
        match=r"^GrahamJelenic cayley-magnus-6 cannot run on several ranks; take one of Newmark, Midpoint",
    ):
        with_cutbacks(GrahamJelenic(1e-6), ranks)


@pytest.mark.parametrize(
    ("environment", "found"),
    [
        ({}, None),
        ({"PMI_RANK": "0", "PMI_SIZE": "1"}, None),
        ({"PMI_RANK": "2", "PMI_SIZE": "4"}, Launch("MPICH", 2, 4)),
        ({"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "2"}, Launch("Open MPI", 0, 2)),
        ({"SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "3"}, Launch("Slurm", 1, 3)),
        ({"PMI_RANK": "x", "PMI_SIZE": "4"}, None),
    ],
)
def test_launchers_are_known_by_their_environment(environment, found):
    assert launched(environment) == found
