"""The tables of who interacts with whom, against a search through all stencils."""

import numpy as np
import pytest

from symplex.fem.energies.energy import LatticeFunctions
from symplex.time.events.interaction import HELD, NOWHERE, STAR, interactions


def functions_of(stencils):
    return [LatticeFunctions(np.zeros((len(nodes), 3)), 1, 2, 3) for nodes in stencils]


@pytest.fixture(scope="module")
def mixed():
    """Stencils of 1, 2 and 7 nodes out of 20, of which one is filled up with its first node and node 19 has none."""
    rng = np.random.default_rng(5)
    families = [np.array([[3], [4]]), *(np.array([rng.choice(19, k, False) for _ in range(30)]) for k in (2, 7))]
    families[2][4, 5:] = families[2][4, 0]
    return families, interactions(20, families, functions_of(families))


def test_stars_are_the_nodes_that_share_a_stencil(mixed):
    families, tables = mixed
    stencils = [set(nodes.tolist()) for family in families for nodes in family]
    for node in range(20):
        star = tables.star[tables.node[node, STAR] : tables.node[node + 1, STAR]].tolist()
        assert star[0] == node
        assert sorted(star) == sorted({node}.union(*(nodes for nodes in stencils if node in nodes)))


def test_shared_stencils_are_those_that_hold_both_nodes_in_their_order(mixed):
    families, tables = mixed
    stencils = [set(nodes.tolist()) for family in families for nodes in family]
    for node in range(20):
        held = tables.held[tables.node[node, HELD] : tables.node[node + 1, HELD]]
        assert held.tolist() == [s for s, nodes in enumerate(stencils) if node in nodes]
        for entry in range(tables.node[node, STAR], tables.node[node + 1, STAR]):
            shared = tables.shared[tables.shared_from[entry] : tables.shared_from[entry + 1]]
            expected = [s for s, nodes in enumerate(stencils) if {node, int(tables.star[entry])} <= nodes]
            assert held[shared].tolist() == expected
    assert tables.shared_from[-1] == len(tables.shared)


def test_places_lead_to_the_nodes_of_a_stencil(mixed):
    families, tables = mixed
    stencils = [nodes.tolist() for family in families for nodes in family]
    assert tables.place.shape[1] == 8  # two groups for seven nodes
    for node in range(20):
        star = tables.star[tables.node[node, STAR] :]
        for s in range(tables.node[node, HELD], tables.node[node + 1, HELD]):
            nodes = stencils[tables.held[s]]
            assert star[tables.place[s, : len(nodes)]].tolist() == nodes
            assert (tables.place[s, len(nodes) :] == NOWHERE).all()


@pytest.mark.parametrize(("count", "dtype"), [(2**16, np.uint16), (2**16 + 1, np.uint32)])
def test_a_node_of_very_many_stencils_has_wider_numbers(count, dtype):
    both = np.zeros((count, 2), int)
    both[:, 1] = 1
    tables = interactions(2, [both], functions_of([both]))
    assert tables.shared.dtype == dtype
    assert tables.shared[tables.shared_from[1] : tables.shared_from[2]].tolist() == list(range(count))


def test_nodes_without_stencils_are_alone():
    tables = interactions(2, [], [])
    assert tables.star.tolist() == [0, 1]
    assert tables.shared_from.tolist() == [0, 0, 0]
