"""Contact with rigid obstacles: energies, forces and their compiled forms."""

import ctypes
import math

import numpy as np
import pytest

from symplex.contact.obstacles import Box, Capsule, Cylinder, HalfSpace, Sphere
from symplex.contact.rigid import RigidContact
from symplex.errors import InvalidSystem

STIFFNESS = 7.0
TURNED, _ = np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))
OBSTACLES = {
    "plane": HalfSpace([0.1, 0.0, -0.2], [1.0, 2.0, 3.0]),
    "paper": HalfSpace([0.101, 0.101, 0.101], [0.0, -1.0, -1.0], normalize=False),
    "sphere": Sphere([0.1, 0.2, 0.0], 1.5),
    "line": HalfSpace([0.1, 0.2], [1.0, -1.0]),
    "disc": Sphere([0.1, 0.2], 1.1),
    "vessel": Sphere([0.1, 0.2, 0.0], 1.5, inside=True),
    "cylinder": Cylinder([0.1, 0.2, 0.0], [1.0, 2.0, -1.0], 1.0),
    "pipe": Cylinder([0.1, 0.2, 0.0], [1.0, 2.0, -1.0], 1.0, inside=True),
    "capsule": Capsule([0.1, 0.2, 0.0], [-0.7, 0.5, 0.2], 0.9),
    "box": Box([0.1, 0.2, 0.0], [2.0, 1.8, 2.5], TURNED),
    "container": Box([0.1, 0.2, 0.0], [2.0, 1.8, 2.5], TURNED, inside=True),
}


@pytest.fixture(params=OBSTACLES, ids=str)
def obstacle(request):
    return OBSTACLES[request.param]


@pytest.fixture
def q(obstacle):
    return np.random.default_rng(0).normal(size=(30, obstacle.dim))


@pytest.fixture
def contact(obstacle):
    return RigidContact(np.arange(2, 27), obstacle, STIFFNESS)


def test_the_cases_have_open_and_closed_contact(contact, q):
    gaps = contact.gaps(q)
    assert (gaps > 0.01).sum() >= 3
    assert (gaps < -0.01).sum() >= 3


def test_energy_is_that_of_the_penalty(contact, q):
    gaps = contact.gaps(q)
    expected = sum(0.5 * STIFFNESS * g**2 for g in gaps if g < 0)
    assert contact.total(q) == pytest.approx(expected, rel=1e-14)
    assert contact.value(q[contact.nodes]).sum() == pytest.approx(expected, rel=1e-14)


def test_gradient_is_the_derivative_of_the_value(contact, q):
    x = q[contact.nodes]
    d = np.random.default_rng(1).normal(size=x.shape)
    s = 1e-5
    slope = (contact.value(x + s * d) - contact.value(x - s * d)) / (2 * s)
    along = (contact.gradient(x) * d).sum(axis=(1, 2))
    away = np.abs(contact.gaps(q)) > 1e-3
    np.testing.assert_allclose(along[away], slope[away], atol=1e-8)
    assert np.abs(along).max() > 1


def test_hessian_is_the_derivative_of_the_gradient(contact, q):
    x = q[contact.nodes]
    d = np.random.default_rng(2).normal(size=x.shape)
    s = 1e-5
    slope = (contact.gradient(x + s * d) - contact.gradient(x - s * d))[:, 0] / (2 * s)
    product = np.einsum("mij,mj->mi", contact.hessian(x), d[:, 0])
    away = np.abs(contact.gaps(q)) > 1e-3
    np.testing.assert_allclose(product[away], slope[away], atol=1e-7)
    assert np.abs(product).max() > 1


def test_assembled_gradient_is_the_scattered_local_one(contact, q):
    out = np.ones_like(q)
    contact.add_gradient(q, out)
    expected = np.ones_like(q)
    expected[contact.nodes[:, 0]] += contact.gradient(q[contact.nodes])[:, 0]
    np.testing.assert_allclose(out, expected, atol=1e-14 * STIFFNESS)


def test_forces_push_out_and_sum_to_the_resultant(contact, q):
    forces, gaps = contact.forces(q), contact.gaps(q)
    further = contact.obstacle.gap(q[contact.nodes[:, 0]] + 1e-6 * forces)
    assert np.all(further[gaps < 0] > gaps[gaps < 0])
    assert not forces[gaps >= 0].any()
    np.testing.assert_allclose(contact.resultant(q), forces.sum(axis=0), rtol=1e-14)


def test_deepest_node_and_depth(contact, q):
    node, depth = contact.deepest(q)
    gaps = contact.gaps(q)
    assert node == contact.nodes[np.argmin(gaps), 0]
    assert depth == pytest.approx(-gaps.min() / contact.obstacle.slope)


def test_latent_stiffness_bounds_the_curvature(contact, q):
    latent = contact.contact_stiffness_bound(len(q))
    largest = np.linalg.eigvalsh(contact.hessian(q[contact.nodes]))[:, -1]
    assert np.all(largest <= latent[contact.nodes[:, 0]] * (1 + 1e-12))
    assert largest.max() == pytest.approx(latent.max())
    assert not latent[[0, 1, 27, 28, 29]].any()


def test_normals_of_the_paper_are_taken_as_they_are():
    paper = OBSTACLES["paper"]
    x = np.array([[0.0, 0.101, 0.102]])
    assert paper.gap(x)[0] == pytest.approx(-0.001)
    assert HalfSpace(paper.point, paper.normal).gap(x)[0] == pytest.approx(-0.001 / math.sqrt(2))
    contact = RigidContact.from_penalty([0], paper, 1e-14)
    assert contact.total(x) == pytest.approx(0.5e14 * 1e-6)
    assert contact.contact_stiffness_bound(1)[0] == pytest.approx(2e14)
    assert contact.deepest(x)[1] == pytest.approx(0.001 / math.sqrt(2))


def test_the_centre_of_a_sphere_gives_no_nan():
    contact = RigidContact([0], Sphere([0.0, 0.0, 0.0], 1.0), 1.0)
    q, out = np.zeros((1, 3)), np.zeros((1, 3))
    contact.add_gradient(q, out)
    for array in (out, contact.gradient(q[contact.nodes]), contact.hessian(q[contact.nodes])):
        assert np.all(np.isfinite(array))


# -- compiled functions of one stencil ------------------------------------------------------------------------

POINTER = ctypes.POINTER(ctypes.c_double)
VALUE = ctypes.CFUNCTYPE(ctypes.c_double, POINTER, POINTER)
DIFFERENCE = ctypes.CFUNCTYPE(ctypes.c_double, POINTER, POINTER, ctypes.c_int64, ctypes.c_double)
MIXED = ctypes.CFUNCTYPE(
    ctypes.c_double, POINTER, POINTER, ctypes.c_int64, ctypes.c_int64, ctypes.c_double, ctypes.c_double
)


@pytest.mark.parametrize("h", [0.3, 1e-3])
def test_lattice_functions_are_differences_of_the_value(contact, q, h):
    functions = contact.lattice_functions()
    value, difference, mixed = VALUE(functions.value), DIFFERENCE(functions.difference), MIXED(functions.mixed)

    def phi(x):
        return contact.value(np.tile(x, (len(contact.nodes), 1, 1)))[0]

    seen = 0
    for s, node in enumerate(contact.nodes[:, 0]):
        p = functions.parameters[s].ctypes.data_as(POINTER)
        x = q[node].copy()
        at = x.ctypes.data_as(POINTER)
        assert value(p, at) == pytest.approx(phi(x), rel=1e-13, abs=1e-13)
        for i in range(len(x)):
            e_i = h * np.eye(len(x))[i]
            assert difference(p, at, i, h) == pytest.approx(phi(x + e_i) - phi(x), rel=1e-12, abs=1e-13)
            for j in range(len(x)):
                if i == j:
                    continue
                e_j = -0.5 * h * np.eye(len(x))[j]
                expected = phi(x + e_i + e_j) - phi(x + e_i) - phi(x + e_j) + phi(x)
                assert mixed(p, at, i, j, h, -0.5 * h) == pytest.approx(expected, rel=1e-9, abs=2e-13)
                seen += expected != 0
        np.testing.assert_array_equal(x, q[node])
    assert seen > 10


def test_lattice_differences_do_not_cancel():
    # far inside a large sphere with a tiny step: naive differences have lost all digits
    contact = RigidContact([0], Sphere([0.0, 0.0, 0.0], 2.0), 1.0)
    functions = contact.lattice_functions()
    p, x = functions.parameters[0].ctypes.data_as(POINTER), np.array([0.6, -0.8, 1.0])
    at = x.ctypes.data_as(POINTER)
    h = 1e-9
    gradient, hessian = contact.gradient(x[None, None])[0, 0], contact.hessian(x[None, None])[0]
    assert DIFFERENCE(functions.difference)(p, at, 1, h) / h == pytest.approx(gradient[1], rel=1e-8)
    assert MIXED(functions.mixed)(p, at, 0, 2, h, h) / h**2 == pytest.approx(hessian[0, 2], rel=1e-6)


# -- refusals --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: HalfSpace([0, 0, 0], [0, 0, 0]), "normal is zero"),
        (lambda: HalfSpace([0, 0], [0, 0, 1]), "components"),
        (lambda: HalfSpace([0, 0, math.nan], [0, 0, 1]), "finite"),
        (lambda: Sphere([0, 0, 0], 0.0), "radius must be positive"),
        (lambda: Sphere([0, 0, 0], math.nan), "radius must be finite"),
        (lambda: Cylinder([0, 0, 0], [0, 0, 0], 1.0), "axis is zero"),
        (lambda: Cylinder([0, 0], [0, 1], 1.0), "point must be 3 finite numbers"),
        (lambda: Cylinder([0, 0, 0], [0, 0, 1], -1.0), "radius must be positive"),
        (lambda: Capsule([0, 0, 1], [0, 0, 1], 1.0), "both ends are at one point"),
        (lambda: Box([0, 0, 1], [0, 1, 1]), "edges must be positive"),
        (lambda: Box([0, 0, 1], [1, 1]), "size must be 3 finite numbers"),
        (lambda: Box([0, 0, 1], [1, 1, 1], [[1, 0, 0], [0, 1, 0], [0, 1, 1]]), "3 orthonormal vectors"),
        (lambda: RigidContact([0, 1], Sphere([0, 0, 0], 1.0), 1.0, carrier=1), "joins node 1 with itself"),
        (lambda: RigidContact([0, 0], Sphere([0, 0, 0], 1.0), 1.0), "without repetition"),
        (lambda: RigidContact([True, False], Sphere([0, 0, 0], 1.0), 1.0), "must be indices"),
        (lambda: RigidContact([-1], Sphere([0, 0, 0], 1.0), 1.0), "must be indices"),
        (lambda: RigidContact([1], Sphere([0, 0, 0], 1.0), 1.0).total(np.zeros((1, 3))), "n at least 2"),
        (lambda: RigidContact([0], Sphere([0, 0, 0], 1.0), 1.0).total(np.zeros((1, 2))), r"shape \(1, 2\)"),
        (
            lambda: RigidContact([0], Sphere([0, 0], 1.0), 1.0).add_gradient(np.zeros((1, 3)), np.zeros((1, 3))),
            r"expected \(n, 2\)",
        ),
        (lambda: RigidContact([0], Sphere([0, 0, 0], 1.0), -1.0), "stiffness must be positive"),
        (lambda: RigidContact.from_penalty([0], Sphere([0, 0, 0], 1.0), 0.0), "penalty must be positive, got 0 m/N"),
        (lambda: RigidContact([], Sphere([0, 0, 0], 1.0), 1.0).deepest(np.zeros((1, 3))), "no nodes"),
    ],
)
def test_bad_input_is_refused(make, text):
    with pytest.raises(InvalidSystem, match=text):
        make()
