"""Solids: the law against NumPy, stresses of known deformations, failures by name, threads."""

import threading

import numpy as np
import pytest
from numba import njit

from symplex.errors import InvalidSystem, InvertedElement, MeshError
from symplex.fem.assembly import blocks
from symplex.fem.assembly.pattern import Pattern, scatter_blocks
from symplex.fem.compiled import logarithm, threads
from symplex.fem.solids import tetrahedra
from symplex.fem.solids.materials import NeoHookean
from symplex.fem.solids.solid import Solid
from symplex.meshes.generate import box

ALUMINIUM = NeoHookean(60.5e9, 26e9, 2700.0)


@pytest.fixture
def solid():
    mesh = box((0.1, 0.2, 0.1), (2, 3, 2))
    return Solid(mesh.points, mesh.cells["tetra"], ALUMINIUM)


def shaken(solid, amount=2e-3, seed=0):
    return solid.points + amount * np.random.default_rng(seed).standard_normal(solid.points.shape)


@njit(error_model="numpy")
def logarithms(x):
    y = np.empty_like(x)
    for i in range(len(x)):
        y[i] = logarithm.log(x[i])
    return y


@pytest.mark.parametrize("spread", [1e-12, 1e-3, 0.3, 10.0, 700.0])
def test_logarithm_is_right_to_two_units_in_the_last_place(spread):
    x = np.exp(np.random.default_rng(1).uniform(-spread, spread, 20_000))
    exact = np.log(x.astype(np.longdouble))
    error = np.abs(logarithms(x) - exact) / np.spacing(np.abs(exact).astype(float))
    assert error.max() < 2


def test_logarithm_at_the_ends_of_its_intervals():
    ends = np.sqrt(2.0) ** np.arange(-20, 21)
    x = np.concatenate([ends, np.nextafter(ends, 0), np.nextafter(ends, np.inf)])
    np.testing.assert_allclose(logarithms(x), np.log(x), rtol=1e-15, atol=0)


def test_energy_density_is_the_law(solid):
    q = shaken(solid)
    F = solid.deformation_gradients(q)
    J = np.linalg.det(F)
    W = 30.25e9 * np.log(J) ** 2 - 26e9 * np.log(J) + 13e9 * (np.einsum("eij,eij->e", F, F) - 3)
    np.testing.assert_allclose(solid.value(q[solid.nodes]), solid.volumes * W, rtol=1e-10)
    assert solid.total(q) == pytest.approx(float(solid.volumes @ W), rel=1e-12)
    np.testing.assert_allclose(solid.jacobians(q), J, rtol=1e-12)


def test_forces_are_the_divergence_of_the_first_piola_stress(solid):
    q = shaken(solid)
    G = tetrahedra.shape_gradients(solid.points, solid.nodes)
    forces = np.einsum("eij,eaj,e->eai", solid.first_piola(q), G, solid.volumes)
    assert np.abs(forces).max() > 1e3
    np.testing.assert_allclose(solid.gradient(q[solid.nodes]), forces, atol=1e-11 * np.abs(forces).max())


def test_cauchy_stress_belongs_to_the_first_piola_stress(solid):
    q = shaken(solid)
    F, J = solid.deformation_gradients(q), solid.jacobians(q)
    sigma = np.einsum("eij,ekj->eik", solid.first_piola(q), F) / J[:, None, None]
    np.testing.assert_allclose(solid.cauchy(q), sigma, atol=1e-11 * np.abs(sigma).max())


def test_undeformed_and_rotated_solids_are_free_of_stress(solid):
    turn, _ = np.linalg.qr(np.random.default_rng(2).standard_normal((3, 3)))
    turn *= np.linalg.det(turn)
    for q in (solid.points, solid.points @ turn.T + [1.0, -2.0, 3.0]):
        assert np.abs(solid.cauchy(q)).max() < 1e-11 * ALUMINIUM.mu
        assert abs(solid.total(q)) < 1e-12 * ALUMINIUM.mu * solid.volumes.sum()


def test_stress_of_simple_shear_and_dilation(solid):
    gamma, stretch = 0.2, 1.1
    shear = np.eye(3)
    shear[0, 1] = gamma
    q = solid.points @ shear.T
    sigma = solid.cauchy(q)
    np.testing.assert_allclose(sigma[:, 0, 1], ALUMINIUM.mu * gamma, rtol=1e-12)
    np.testing.assert_allclose(sigma[:, 0, 0], ALUMINIUM.mu * gamma**2, rtol=1e-10)
    np.testing.assert_allclose(solid.von_mises(q), ALUMINIUM.mu * gamma * np.sqrt(3 + gamma**2), rtol=1e-12)

    pressure = (ALUMINIUM.lmbda * 3 * np.log(stretch) + ALUMINIUM.mu * (stretch**2 - 1)) / stretch**3
    q = stretch * solid.points
    np.testing.assert_allclose(solid.cauchy(q), np.broadcast_to(pressure * np.eye(3), (len(solid.nodes), 3, 3)), atol=1)
    assert solid.von_mises(q).max() < 1e-9 * pressure


def test_uniform_strain_is_in_equilibrium_inside(solid):
    """Patch test: under a uniform deformation only nodes on the boundary carry forces."""
    q = solid.points @ np.array([[1.1, 0.05, 0.0], [0.0, 0.95, 0.02], [0.03, 0.0, 1.02]]).T
    out = np.zeros_like(q)
    solid.add_gradient(q, out)
    low, high = solid.points.min(axis=0), solid.points.max(axis=0)
    inside = np.all((solid.points > low + 1e-6) & (solid.points < high - 1e-6), axis=1)
    assert inside.any()
    assert np.abs(out[~inside]).max() > 1e4
    assert np.abs(out[inside]).max() < 1e-11 * np.abs(out).max()


def test_restriction_is_a_part(solid):
    q = shaken(solid)
    left = np.arange(len(solid.nodes)) < 37
    parts = solid.restrict(left), solid.restrict(np.flatnonzero(~left))
    assert len(parts[0].nodes) == 37
    assert sum(part.total(q) for part in parts) == pytest.approx(solid.total(q), rel=1e-13)
    np.testing.assert_array_equal(parts[1].nodes, solid.nodes[37:])
    assert solid.restrict([]).total(q) == 0.0


@pytest.mark.parametrize("function", ["value", "gradient", "hessian", "total", "add_gradient", "add_hessian", "stress"])
def test_inverted_elements_are_named(solid, function):
    q = solid.points.copy()
    element = 41
    a, d = solid.nodes[element, [0, 3]]
    q[d] = q[a] - 0.4 * (q[d] - q[a])
    x = q[solid.nodes]
    first = int(np.flatnonzero(solid.jacobians(q) <= 0)[0])
    slots = np.zeros((len(solid.nodes), 4, 4), np.int32)
    call = {
        "value": lambda: solid.value(x),
        "gradient": lambda: solid.gradient(x),
        "hessian": lambda: solid.hessian(x),
        "total": lambda: solid.total(q),
        "add_gradient": lambda: solid.add_gradient(q, np.zeros_like(q)),
        "add_hessian": lambda: solid.add_hessian(q, slots, np.zeros((1, 3, 3))),
        "stress": lambda: solid.von_mises(q),
    }[function]
    with pytest.raises(
        InvertedElement, match=rf"element {first} \(nodes {solid.nodes[first, 0]}, .*det F = -"
    ) as caught:
        call()
    assert caught.value.element == first


@pytest.mark.parametrize("trouble", [np.nan, np.inf])
def test_positions_that_are_no_numbers_are_an_error(solid, trouble):
    q = solid.points.copy()
    q[solid.nodes[3, 1], 2] = trouble
    for call in (solid.total, lambda q: solid.add_gradient(q, np.zeros_like(q)), lambda q: solid.value(q[solid.nodes])):
        with pytest.raises(InvertedElement):
            call(q)


def test_flattened_element_is_an_error(solid):
    q = solid.points.copy()
    q[:, 2] = 0.0
    with pytest.raises(InvertedElement, match=r"det F = -?0"):
        solid.total(q)


def test_undeformed_mesh_must_be_upright(solid):
    cells = solid.nodes.copy()
    cells[[5, 9]] = cells[[5, 9]][:, [1, 0, 2, 3]]
    with pytest.raises(MeshError, match=r"2 of 288 .*elements 5, 9; .*: 2 inverted, 0 flat"):
        Solid(solid.points, cells, ALUMINIUM)
    points = solid.points.copy()
    points[:, 0] = 0.0
    with pytest.raises(MeshError, match="0 inverted, 288 flat"):
        Solid(points, solid.nodes, ALUMINIUM)
    points[0, 0] = np.nan
    with pytest.raises(MeshError):
        Solid(points, solid.nodes, ALUMINIUM)


@pytest.mark.parametrize(
    ("points", "cells", "reported"),
    [
        (np.zeros((4, 2)), np.zeros((1, 4), int), r"points have shape \(4, 2\)"),
        (np.zeros((4, 3)), np.zeros((1, 3), int), r"cells have shape \(1, 3\)"),
        (np.zeros((4, 3)), np.array([[0, 1, 2, 4]]), "nodes 0 to 4, but there are 4 nodes"),
        (np.zeros((4, 3)), np.array([[-1, 1, 2, 3]]), "nodes -1 to 3"),
    ],
)
def test_shapes_are_checked(points, cells, reported):
    with pytest.raises(InvalidSystem, match=reported):
        Solid(points, cells, ALUMINIUM)


def test_positions_of_other_sizes_are_refused(solid):
    q, n = solid.points, len(solid.points)
    for wrong in (q[:-1], q[:, :2], q.ravel()):
        with pytest.raises(
            InvalidSystem, match=rf"an array for nodes has shape .*expected \(n, 3\) with n at least {n}"
        ):
            solid.total(wrong)
    for out in (np.zeros((n - 1, 3)), np.zeros((3, n)).T):
        with pytest.raises(InvalidSystem, match="gradient has shape"):
            solid.add_gradient(q, out)
    slots = np.zeros((len(solid.nodes), 4, 4), np.int32)
    for out in (np.zeros((5, 2, 2)), np.zeros((3, 3, 5)).T):
        with pytest.raises(InvalidSystem, match="Hessian has shape"):
            solid.add_hessian(q, slots, out)
    with pytest.raises(InvalidSystem, match="gathered positions"):
        solid.value(q[solid.nodes[:5]])


def test_the_undeformed_body_is_its_own():
    mesh = box((0.1, 0.1, 0.1), (1, 1, 1))
    points = mesh.points.copy()
    solid = Solid(points, mesh.cells["tetra"], ALUMINIUM)
    points *= 1.1
    assert solid.total(mesh.points) == pytest.approx(0.0, abs=1e-6)
    assert solid.total(points) > 1e3


def test_positions_in_any_order_of_memory(solid):
    q = shaken(solid)
    assert solid.total(np.asfortranarray(q)) == solid.total(q)


def test_a_solid_without_elements_has_no_energy():
    nothing = Solid(np.zeros((2, 3)), np.empty((0, 4), int), ALUMINIUM)
    out = np.zeros((2, 3))
    nothing.add_gradient(np.zeros((2, 3)), out)
    assert nothing.total(np.zeros((2, 3))) == 0.0
    assert not out.any()


# -- blocks, slabs and threads --------------------------------------------------------------------------------------


@pytest.fixture
def large(monkeypatch):
    """A solid in several slabs."""
    monkeypatch.setattr(blocks, "SMALLEST_SLAB", 200)
    mesh = box((0.1, 0.5, 0.1), (3, 15, 3), split="6")
    solid = Solid(mesh.points, mesh.cells["tetra"], ALUMINIUM)
    assert len(solid.elements.blocks.slabs) == 4
    return solid


def test_blocks_hold_every_element_once(large):
    elements = large.elements.blocks.elements
    assert sorted(elements[elements >= 0]) == list(range(len(large.nodes)))
    assert large.elements.blocks.counts.sum() == len(large.nodes)
    kept = large.elements.blocks.nodes.reshape(-1, 4)[elements >= 0]
    np.testing.assert_array_equal(kept, large.nodes[elements[elements >= 0]])


@pytest.mark.parametrize("split", ["24", "6"])
@pytest.mark.parametrize("cells", [(3, 15, 3), (6, 9, 6), (4, 4, 5)])
def test_slabs_that_run_at_the_same_time_share_no_node(monkeypatch, cells, split):
    monkeypatch.setattr(blocks, "SMALLEST_SLAB", 20)  # so that more slabs are tried than fit
    mesh = box(tuple(0.1 * n for n in cells), cells, split=split)
    parts = Solid(mesh.points, mesh.cells["tetra"], ALUMINIUM).elements.blocks
    assert len(parts.slabs) >= (4 if max(cells) > 8 else 2)
    nodes = parts.nodes.reshape(len(parts.counts), blocks.SIZE, 4)
    used = []
    for first, last in parts.slabs:
        rows = [nodes[block, : parts.counts[block]].ravel() for block in range(first, last)]
        used.append(set(np.concatenate(rows).tolist()))
    for parity in (0, 1):
        same = used[parity::2]
        assert sum(map(len, same)) == len(set.union(*same))


@pytest.mark.usefixtures("always_shared")
def test_results_do_not_depend_on_the_number_of_threads(large, monkeypatch):
    q = shaken(large, 1e-3)
    pattern = Pattern(len(q), [large.nodes])
    results = []
    for number in (1, 2, 3, 1):
        monkeypatch.setattr(threads, "count", lambda number=number: number)
        gradient = np.zeros_like(q)
        large.add_gradient(q, gradient)
        hessian = pattern.zeros(3)
        large.add_hessian(q, pattern.slots[0], hessian)
        results.append((large.total(q), gradient, hessian, large.cauchy(q)))
    for other in results[1:]:
        for part, first in zip(other, results[0], strict=True):
            np.testing.assert_array_equal(part, first)
    scattered = np.zeros_like(q)
    np.add.at(scattered, large.nodes, large.gradient(q[large.nodes]))
    total, gradient, hessian, sigma = results[0]
    np.testing.assert_allclose(gradient, scattered, atol=1e-12 * np.abs(scattered).max())
    assert total == pytest.approx(large.value(q[large.nodes]).sum(), rel=1e-12)
    blockwise = pattern.zeros(3)
    scatter_blocks(large.hessian(q[large.nodes]), pattern.slots[0], blockwise)
    np.testing.assert_allclose(hessian, blockwise, atol=1e-12 * np.abs(blockwise).max())
    kirchhoff = np.einsum("eij,ekj->eik", large.first_piola(q), large.deformation_gradients(q))
    np.testing.assert_allclose(sigma * large.jacobians(q)[:, None, None], kirchhoff, atol=1e-11 * np.abs(sigma).max())


@pytest.mark.parametrize("shift", [0.0, 1e-3])
def test_slabs_are_even_parts_in_the_order_along_the_longest_side(monkeypatch, shift):
    """Elements whose centres are the same plane's follow in the order of their indices."""
    monkeypatch.setattr(blocks, "SMALLEST_SLAB", 200)
    mesh = box((0.1, 0.5, 0.1), (3, 15, 3), split="6")
    nodes = mesh.cells["tetra"]
    points = mesh.points + shift * np.random.default_rng(0).standard_normal(mesh.points.shape)
    y = points[:, 1]
    order = np.argsort(y[nodes[:, 0]] + y[nodes[:, 1]] + y[nodes[:, 2]] + y[nodes[:, 3]], kind="stable")
    slab = blocks.slabs_of(nodes, points)
    np.testing.assert_array_equal(slab[order], np.arange(len(nodes)) * 4 // len(nodes))


def test_meshes_too_thin_for_slabs_stay_in_one_piece(monkeypatch):
    monkeypatch.setattr(blocks, "SMALLEST_SLAB", 2)  # eight slabs, but
    mesh = box((1.0, 1.0, 1.0), (1, 1, 1))  # every element touches the centre
    assert len(Solid(mesh.points, mesh.cells["tetra"], ALUMINIUM).elements.blocks.slabs) == 2


def test_threads_return_results_in_order_and_raise_errors():
    assert threads.run(divmod, [(i, 3) for i in range(7)], 3) == [divmod(i, 3) for i in range(7)]
    with pytest.raises(ZeroDivisionError):
        threads.run(divmod, [(1, 0), (1, 1), (1, 1)], 2)


def test_errors_of_other_threads_arrive_after_all_have_ended():
    caller, both_at_work, ended = threading.current_thread(), threading.Barrier(3), []

    def work(number):
        both_at_work.wait(600)
        if threading.current_thread() is not caller:
            ended.append(number)
            raise ArithmeticError(f"in task {number}")

    with pytest.raises(ArithmeticError, match="in task"):
        threads.run(work, [(i,) for i in range(3)], 3)
    assert len(ended) == 2


def test_number_of_threads_from_the_environment(monkeypatch):
    monkeypatch.setenv("SYMPLEX_THREADS", "3")
    threads.count.cache_clear()
    assert threads.count() == 3
    monkeypatch.setenv("SYMPLEX_THREADS", "")
    threads.count.cache_clear()
    assert threads.count() >= 1
    monkeypatch.undo()
    threads.count.cache_clear()
