"""Tangents coupling by coupling: the blocks of element by element, on any pattern, of any number of threads."""

import threading

import numpy as np
import pytest

from symplex.errors import InvertedElement
from symplex.fem.assembly.pattern import Pattern, scatter_blocks
from symplex.fem.compiled import threads
from symplex.fem.solids import couplings
from symplex.fem.solids.materials import NeoHookean
from symplex.fem.solids.solid import Solid
from symplex.meshes.generate import box

LAW = NeoHookean(lmbda=3.0, mu=2.0, density=1.0)


@pytest.fixture
def cube(monkeypatch):
    """A cube whose couplings are found although it is small, and positions."""
    monkeypatch.setattr(couplings, "LEAST", 1)
    monkeypatch.setattr(couplings, "_COUPLINGS", 100)
    mesh = box((1.0, 1.0, 1.0), (3, 2, 2))
    solid = Solid(mesh.points, mesh.cells["tetra"], LAW)
    return solid, 1.1 * mesh.points + 0.02 * np.random.default_rng(0).standard_normal(mesh.points.shape)


def element_by_element(solid, q, pattern):
    blocks = pattern.zeros(3)
    scatter_blocks(solid.hessian(q[solid.nodes]), pattern.slots[0], blocks)
    return blocks


@pytest.mark.usefixtures("always_shared")
@pytest.mark.parametrize("number", [1, 3])
def test_blocks_are_those_of_element_by_element(cube, monkeypatch, number):
    monkeypatch.setattr(threads, "count", lambda: number)
    solid, q = cube
    order = np.random.default_rng(1).permutation(len(q)).astype(np.int32)  # nodes far apart, and others besides
    many = np.stack([order[:-1], order[1:]], axis=1)
    for pattern in (Pattern(len(q), [solid.nodes]), Pattern(len(q), [solid.nodes, many])):
        expected, found = element_by_element(solid, q, pattern), pattern.zeros(3)
        for _ in range(3):
            solid.add_hessian(q, pattern.slots[0], found)
        assert solid.elements._couplings[1] is not None
        np.testing.assert_allclose(found, 3.0 * expected, atol=1e-14 * np.abs(expected).max())
        diagonal = found[pattern.diagonal()]
        np.testing.assert_array_equal(diagonal, diagonal.swapaxes(1, 2))


def test_bits_do_not_depend_on_the_number_of_threads(cube, monkeypatch, always_shared):
    solid, q = cube
    pattern, found = Pattern(len(q), [solid.nodes]), []
    for number in (1, 2, 3, 2):
        monkeypatch.setattr(threads, "count", lambda number=number: number)
        found.append(pattern.zeros(3))
        solid.add_hessian(q, pattern.slots[0], found[-1])
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])


def test_each_coupling_has_all_of_its_elements_once(cube):
    solid, _ = cube
    pattern = Pattern(len(solid.points), [solid.nodes])
    found = couplings.couplings_of(pattern.slots[0], len(pattern.indices), 1.0).of_thread.value
    assert len(found.to) == (len(pattern.indices) + pattern.n_nodes) // 2
    rows = pattern.rows()
    for c in range(len(found.to)):
        pair = rows[found.to[c]], pattern.indices[found.to[c]]
        assert (pattern.indices[found.opposite[c]], rows[found.opposite[c]]) == pair
        codes = found.codes[found.start[c] : found.start[c + 1]].astype(int)
        e, a, b = codes >> 4, (codes >> 2) & 3, codes & 3
        assert set(zip(solid.nodes[e, a], solid.nodes[e, b], strict=True)) == {pair}
        both = np.any(solid.nodes == pair[0], axis=1) & np.any(solid.nodes == pair[1], axis=1)
        np.testing.assert_array_equal(e, np.flatnonzero(both))


def test_places_that_are_no_pattern_are_left_to_the_loop_over_elements(cube):
    solid, q = cube
    pattern = Pattern(len(q), [solid.nodes])
    tied = pattern.slots[0].copy()
    tied[tied == tied[5, 0, 1]] = tied[5, 0, 0]  # two nodes in one place
    assert couplings.couplings_of(tied, len(pattern.indices), 1.0) is None
    out = np.zeros((len(pattern.indices), 3, 3))
    solid.add_hessian(q, tied, out)
    expected = np.zeros_like(out)
    scatter_blocks(solid.hessian(q[solid.nodes]), tied, expected)
    np.testing.assert_allclose(out, expected, atol=1e-13 * np.abs(expected).max())


def test_small_meshes_have_none():
    mesh = box((1.0, 1.0, 1.0), (1, 1, 1))
    slots = Pattern(len(mesh.points), [mesh.cells["tetra"]]).slots[0]
    assert couplings.couplings_of(slots, 1000, 1.0) is None


def test_inverted_elements_are_named(cube):
    solid, q = cube
    pattern, out = Pattern(len(q), [solid.nodes]), np.zeros((10_000, 3, 3))
    q = q.copy()
    q[solid.nodes[7, 0]] += 5.0
    with pytest.raises(InvertedElement, match="det F"):
        solid.add_hessian(q, pattern.slots[0], out)


def test_one_solid_serves_several_threads(cube):
    solid, q = cube
    patterns = [Pattern(len(q), [solid.nodes]) for _ in range(2)]
    shapes = [q, 1.2 * q]
    expected = [element_by_element(solid, x, pattern) for x, pattern in zip(shapes, patterns, strict=True)]
    wrong = []

    def work(k):
        for _ in range(30):
            found = patterns[k].zeros(3)
            solid.add_hessian(shapes[k], patterns[k].slots[0], found)
            if np.abs(found - expected[k]).max() > 1e-13 * np.abs(expected[k]).max():
                wrong.append(k)

    workers = [threading.Thread(target=work, args=(k,)) for k in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong
