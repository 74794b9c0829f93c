"""Elements: shape functions, quadrature, stresses for output, failures by name, threads, and the fast path."""

from dataclasses import dataclass
from math import factorial

import numpy as np
import pytest
from vtkmodules import vtkCommonDataModel

from reference.boxes import FORMULATIONS, LINEAR, QUADRATIC, box_of
from reference.written_laws import Written
from symplex.errors import InvalidSystem, InvertedElement, MaterialFailed, MeshError, StepFailed
from symplex.fem.assembly import blocks
from symplex.fem.assembly.pattern import Pattern
from symplex.fem.compiled import threads
from symplex.fem.solids import elements
from symplex.fem.solids.constitutive import Material
from symplex.fem.solids.elements import (
    HEXAHEDRON,
    LINE,
    PYRAMID,
    QUADRATIC_HEXAHEDRON,
    QUADRATIC_PYRAMID,
    QUADRATIC_TETRAHEDRON,
    QUADRATIC_WEDGE,
    SOLIDS,
    TETRAHEDRON,
    WEDGE,
)
from symplex.fem.solids.materials import LinearElastic, MooneyRivlin, NeoHookean, SaintVenantKirchhoff
from symplex.fem.solids.solid import Solid
from symplex.meshes.generate import box
from symplex.meshes.mesh import Mesh
from symplex.meshes.midside_nodes import quadratic
from symplex.meshes.quality import check_mesh, volumes
from symplex.meshes.repair import orient
from symplex.meshes.series.frames import VTK_TYPES

ALUMINIUM = NeoHookean(60.5e9, 26e9, 2700.0)
RUBBER = MooneyRivlin(1e5, 5e4, 3e6, 1000.0)
HOOKE = LinearElastic(60.5e9, 26e9, 2700.0)
KINDS = FORMULATIONS


def mesh_of(kind, cells=(2, 1, 2)):
    return box_of(kind, (0.1, 0.1, 0.2), cells)


def solid_of(kind, material):
    mesh = mesh_of(kind)
    kind, _, formulation = kind.partition(" ")
    return Solid(mesh.points, mesh.cells[kind], material, formulation=formulation or None)


def shaken(solid, amount=1.5e-3, seed=0):
    return solid.points + amount * np.random.default_rng(seed).standard_normal(solid.points.shape)


# -- shape functions and quadrature -----------------------------------------------------------------------------------


def vtk_nodes(element):
    """The nodes of VTK's reference cell of the same type, on the one that is used here."""
    cell = vtkCommonDataModel.vtkGenericCell.InstantiateCell(VTK_TYPES[element.kind])
    nodes = np.array([cell.GetParametricCoords()[i] for i in range(3 * element.n_nodes)]).reshape(-1, 3)
    family = element.kind.rstrip("0123456789")
    if family == "line":
        return 2.0 * nodes[:, :1] - 1.0
    if family == "hexahedron":
        return 2.0 * nodes - 1.0
    if family == "wedge":
        return nodes * [1.0, 1.0, 2.0] - [0.0, 0.0, 1.0]
    if family == "pyramid":  # the cube that is folded to it
        return np.column_stack([(2.0 * nodes[:, :2] - 1.0) * (1.0 - nodes[:, 2:]), nodes[:, 2]])
    return nodes


@pytest.mark.parametrize("element", [*SOLIDS, LINE], ids=lambda element: element.kind)
def test_shape_functions(element):
    """They are 1 at their own node, as VTK numbers them, and 0 at others, sum to one, and their slopes are slopes."""
    N, _ = element.shapes(vtk_nodes(element))
    np.testing.assert_allclose(N, np.eye(element.n_nodes), atol=1e-15)
    dim = element.stiffness.points.shape[1]
    points = np.random.default_rng(0).uniform(0.0, 0.3, (5, dim))
    N, slopes = element.shapes(points)
    np.testing.assert_allclose(N.sum(axis=1), 1.0, rtol=1e-14)
    np.testing.assert_allclose(slopes.sum(axis=1), 0.0, atol=1e-14)
    for i in range(dim):
        step = 1e-6 * np.eye(dim)[i]
        difference = (element.shapes(points + step)[0] - element.shapes(points - step)[0]) / 2e-6
        np.testing.assert_allclose(slopes[:, :, i], difference, atol=1e-9)


@pytest.mark.parametrize("element", SOLIDS, ids=lambda element: element.kind)
def test_shape_functions_contain_all_polynomials_of_their_degree(element):
    """So that they converge at their rate; products beyond, and the rational ones of pyramids, come on top."""
    points = element.mass.points
    for powers in degrees(1 if element.kind in LINEAR else 2):
        at_nodes, expected = ((x**powers).prod(axis=1) for x in (vtk_nodes(element), points))
        np.testing.assert_allclose(element.shapes(points)[0] @ at_nodes, expected, atol=1e-14)


@pytest.mark.parametrize("element", [PYRAMID, QUADRATIC_PYRAMID], ids=lambda element: element.kind)
def test_shape_functions_at_the_tip_of_a_pyramid(element):
    """Slopes there are the limits along the axis, and bounded in any direction."""
    tip = np.array([[0.0, 0.0, 1.0]])
    near = tip - [[0.0, 0.0, 1e-9]]
    for found, expected in zip(element.shapes(tip), element.shapes(near), strict=True):
        assert np.isfinite(found).all()
        np.testing.assert_allclose(found, expected, atol=1e-7)
    _, slopes = element.shapes(tip + 1e-9 * np.array([[0.9, -0.8, -1.0], [1.0, 1.0, -1.0], [0.1, 0.3, -1.0]]))
    assert np.abs(slopes).max() < 5.0


def degrees(total, dim=3):
    powers = np.stack(np.meshgrid(*[range(total + 1)] * dim), -1).reshape(-1, dim)
    return powers[powers.sum(axis=1) <= total]


@pytest.mark.parametrize(
    ("rule", "degree"),
    [
        (TETRAHEDRON.stiffness, 1),
        (QUADRATIC_TETRAHEDRON.stiffness, 2),
        (TETRAHEDRON.mass, 3),
        (QUADRATIC_TETRAHEDRON.mass, 7),
    ],
)
def test_rules_on_the_tetrahedron_are_exact_up_to_their_degree(rule, degree):
    """∫ ξ^i η^j ζ^k = i! j! k!/(i + j + k + 3)!"""
    for powers in degrees(degree):
        exact = np.prod([factorial(p) for p in powers]) / factorial(powers.sum() + 3)
        assert rule.weights @ (rule.points**powers).prod(axis=1) == pytest.approx(exact, rel=1e-13)
    powers = np.array([degree + 1, 0, 0])
    if degree % 2 == 0 or degree == 1:
        assert rule.weights @ rule.points[:, 0] ** powers[0] != pytest.approx(
            factorial(powers[0]) / factorial(powers[0] + 3), rel=1e-6
        )


@pytest.mark.parametrize(("rule", "degree"), [(WEDGE.stiffness, 2), (WEDGE.mass, 4), (QUADRATIC_WEDGE.mass, 8)])
def test_rules_on_the_wedge_are_exact_up_to_their_degree(rule, degree):
    """∫ ξ^i η^j dA = i! j!/(i + j + 2)! on the triangle, and one degree more along ζ."""
    for i, j in degrees(degree, 2):
        for k in range(degree + 2):
            exact = factorial(i) * factorial(j) / factorial(i + j + 2) * (2 / (k + 1) if k % 2 == 0 else 0)
            found = rule.weights @ (rule.points ** [i, j, k]).prod(axis=1)
            assert found == pytest.approx(exact, rel=1e-13, abs=1e-15)


@pytest.mark.parametrize(
    ("rule", "base", "height"),
    [
        (PYRAMID.stiffness, 3, 1),
        (PYRAMID.mass, 5, 3),
        (QUADRATIC_PYRAMID.stiffness, 5, 3),
        (QUADRATIC_PYRAMID.mass, 9, 7),
    ],
)
def test_rules_on_the_pyramid_are_exact_up_to_their_degree(rule, base, height):
    """∫ u^i v^j ζ^k dV with the Jacobian (1 − ζ)², ξ = (1 − ζ) u."""
    u, v, z = (*(rule.points[:, :2] / (1.0 - rule.points[:, 2:])).T, rule.points[:, 2])
    for i, j in np.ndindex(base + 1, base + 1):
        for k in range(height + 1):
            plane = (2 / (i + 1) if i % 2 == 0 else 0) * (2 / (j + 1) if j % 2 == 0 else 0)
            exact = plane * 2 * factorial(k) / factorial(k + 3)  # the beta function B(k + 1, 3)
            assert rule.weights @ (u**i * v**j * z**k) == pytest.approx(exact, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize(
    ("rule", "degree"), [(HEXAHEDRON.stiffness, 3), (HEXAHEDRON.mass, 5), (QUADRATIC_HEXAHEDRON.stiffness, 5)]
)
def test_rules_on_the_cube_are_exact_up_to_their_degree(rule, degree):
    for powers in np.stack(np.meshgrid(*[range(degree + 1)] * 3), -1).reshape(-1, 3):
        exact = np.prod([2 / (p + 1) if p % 2 == 0 else 0 for p in powers])
        assert rule.weights @ (rule.points**powers).prod(axis=1) == pytest.approx(exact, abs=1e-13)


def test_elements_are_told_by_their_nodes():
    for element in SOLIDS:
        assert elements.element_of("it", np.zeros((2, element.n_nodes), np.int32)) is element
    with pytest.raises(
        InvalidSystem, match=r"it: cells have shape \(2, 7\), expected .* 4 \(tetra\), 8 \(hexahedron\)"
    ):
        elements.element_of("it", np.zeros((2, 7), np.int32))


# -- the fast path ----------------------------------------------------------------------------------------------------


def test_kernels_for_linear_tetrahedra_are_those_for_all_elements():
    solid = solid_of("tetra", ALUMINIUM)
    general = Solid(solid.points, solid.nodes, Written(ALUMINIUM))
    q0, q1 = shaken(solid), shaken(solid, seed=1)
    x0, x1 = q0[solid.nodes], q1[solid.nodes]
    for name, positions in (
        ("value", (x0,)),
        ("gradient", (x0,)),
        ("hessian", (x0,)),
        ("discrete_gradient", (x0, x1)),
        ("discrete_hessian", (x0, x1)),
        ("deformation_gradients", (q0,)),
        ("jacobians", (q0,)),
        ("first_piola", (q0,)),
        ("cauchy", (q0,)),
    ):
        fast, slow = getattr(solid, name)(*positions), getattr(general, name)(*positions)
        np.testing.assert_allclose(fast, slow, atol=1e-12 * np.abs(slow).max(), err_msg=name)


# -- strain and stress for output -------------------------------------------------------------------------------------


@pytest.mark.parametrize("material", [ALUMINIUM, SaintVenantKirchhoff(60.5e9, 26e9, 2700.0), RUBBER], ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_stress_of_a_uniform_deformation(kind, material):
    solid = solid_of(kind, material)
    F = np.array([[1.1, 0.05, 0.0], [0.0, 0.95, 0.02], [0.03, 0.0, 1.02]])
    q = solid.points @ F.T + [1.0, 2.0, 3.0]
    S = material.stress((F.T @ F)[None])[0]
    J = np.linalg.det(F)
    size = np.abs(S).max()
    each = np.ones((len(solid.nodes), 1, 1))
    np.testing.assert_allclose(solid.deformation_gradients(q), each * F, atol=1e-12)
    np.testing.assert_allclose(solid.jacobians(q), J * each[:, 0, 0], rtol=1e-12)
    np.testing.assert_allclose(solid.first_piola(q), each * (F @ S), atol=1e-10 * size)
    sigma = F @ S @ F.T / J
    np.testing.assert_allclose(solid.cauchy(q), each * sigma, atol=1e-10 * size)
    deviator = sigma - np.trace(sigma) / 3 * np.eye(3)
    np.testing.assert_allclose(solid.von_mises(q), np.sqrt(1.5 * (deviator**2).sum()), rtol=1e-9)
    assert solid.total(q) == pytest.approx(0.002 * material.energy_density((F.T @ F)[None])[0], rel=1e-10)


@pytest.mark.parametrize("kind", ["hexahedron full", "tetra10"])
def test_output_is_the_mean_over_the_element(kind):
    """J is deformed over undeformed volume; the virial of the nodal forces is that of the mean stresses."""
    solid = solid_of(kind, ALUMINIUM)
    q = shaken(solid)
    deformed = Solid(q, solid.nodes, ALUMINIUM, formulation="full")
    # the mean of det F by the rule for the energy, and the volume by the same rule on the deformed cell
    np.testing.assert_allclose(solid.jacobians(q) * solid.volumes, deformed.volumes, rtol=1e-12)
    x = q[solid.nodes]
    virial = np.einsum("eai,eaj->eij", solid.gradient(x), x)
    mean = solid.cauchy(q) * deformed.volumes[:, None, None]
    np.testing.assert_allclose(virial, mean, atol=1e-12 * np.abs(mean).max())
    forces = np.einsum("eai,eaj->eij", solid.gradient(x), solid.points[solid.nodes])
    mean = solid.first_piola(q) * solid.volumes[:, None, None]
    np.testing.assert_allclose(forces, mean, atol=1e-12 * np.abs(mean).max())


@pytest.mark.parametrize("kind", KINDS)
def test_restriction_is_a_part(kind):
    solid = solid_of(kind, RUBBER)
    q = shaken(solid)
    part = solid.restrict([1, 3])
    size = RUBBER.bulk * solid.volumes.max()  # energies are known to round-off of that
    found, expected = part.value(q[part.nodes]), solid.value(q[solid.nodes])[[1, 3]]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-15 * size)
    assert (part.kind, part.formulation) == (solid.kind, solid.formulation)
    nothing, out = solid.restrict([]), np.zeros_like(q)
    nothing.add_gradient(q, out)
    assert nothing.total(q) == 0.0
    assert not out.any()
    assert nothing.von_mises(q).shape == (0,)


# -- linear elasticity ------------------------------------------------------------------------------------------------


def test_linear_elasticity_is_linear_and_feels_rotations():
    solid = solid_of("hexahedron", HOOKE)
    u = np.random.default_rng(0).standard_normal(solid.points.shape)
    once, twice = np.zeros_like(u), np.zeros_like(u)
    solid.add_gradient(solid.points + 1e-3 * u, once)
    solid.add_gradient(solid.points + 2e-3 * u, twice)
    np.testing.assert_allclose(twice, 2 * once, atol=1e-9 * np.abs(once).max())
    angle = 0.1
    turn = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
    strain = np.cos(angle) - 1
    expected = 0.002 * (0.5 * HOOKE.lmbda * (2 * strain) ** 2 + HOOKE.mu * 2 * strain**2)
    assert solid.total(solid.points @ turn.T) == pytest.approx(expected, rel=1e-10)


def test_what_the_discrete_gradient_of_linear_elasticity_keeps():
    """Energy and linear momentum; the moments vanish about the undeformed positions, not the present ones."""
    solid = solid_of("tetra10", HOOKE)
    x0, x1 = shaken(solid)[solid.nodes], shaken(solid, 3e-3, seed=1)[solid.nodes]
    DG = solid.discrete_gradient(x0, x1)
    size = np.abs(DG).max()
    np.testing.assert_allclose((DG * (x1 - x0)).sum(axis=(1, 2)), solid.value(x1) - solid.value(x0), rtol=1e-9)
    assert np.abs(DG.sum(axis=1)).max() < 1e-14 * size
    assert np.abs(np.cross(solid.points[solid.nodes], DG).sum(axis=1)).max() < 1e-14 * size
    assert np.abs(np.cross(0.5 * (x0 + x1), DG).sum(axis=1)).max() > 1e-4 * size


def test_linear_elasticity_does_not_see_inverted_elements():
    solid = solid_of("tetra", HOOKE)
    assert solid.total(-solid.points) > 0


# -- failures ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["value", "hessian", "discrete", "total", "add_gradient", "add_discrete", "stress"])
@pytest.mark.parametrize("kind", ["hexahedron", "tetra10"])
def test_inverted_elements_are_named(kind, form):
    solid = solid_of(kind, RUBBER)
    q = solid.points.copy()
    element = 2
    corner, other = solid.nodes[element, [0, 6 if kind == "hexahedron" else 3]]
    q[corner] += 1.5 * (q[other] - q[corner])
    x = q[solid.nodes]
    rest = solid.points
    slots = np.zeros((*solid.nodes.shape, solid.nodes.shape[1]), np.int32)
    call = {
        "value": lambda: solid.value(x),
        "hessian": lambda: solid.hessian(x),
        "discrete": lambda: solid.discrete_hessian(rest[solid.nodes], x),
        "total": lambda: solid.total(q),
        "add_gradient": lambda: solid.add_gradient(q, np.zeros_like(q)),
        "add_discrete": lambda: solid.add_discrete_hessian(q, rest, slots, np.zeros((1, 3, 3))),
        "stress": lambda: solid.von_mises(q),
    }[form]
    with pytest.raises(InvertedElement, match=r"element \d+ \(nodes .*\) is inverted: det F = -") as caught:
        call()
    assert corner in solid.nodes[caught.value.element]
    assert solid.local_value(caught.value.element, x[caught.value.element]) == np.inf


@pytest.mark.parametrize("kind", ["hexahedron", "tetra10"])
def test_positions_that_are_no_numbers_are_an_error(kind):
    for material in (RUBBER, HOOKE):
        solid = solid_of(kind, material)
        q = solid.points.copy()
        q[solid.nodes[1, 1], 2] = np.nan
        for call in (solid.total, solid.cauchy, lambda q, s=solid: s.add_gradient(q, np.zeros_like(q))):
            with pytest.raises(StepFailed, match=r"element \d+ \(nodes "):
                call(q)


@dataclass(frozen=True)
class Locking(Material):
    """A law that ends where tr C = 4, as chains that can be stretched no further: W = −μ/2 ln(4 − tr C)."""

    mu: float = 1e5
    density: float = 1e3

    def energy_density(self, C):
        return -0.5 * self.mu * np.log(4 - np.trace(C, axis1=1, axis2=2))

    def stress(self, C):
        return self.mu * np.eye(3) / (4 - np.trace(C, axis1=1, axis2=2))[:, None, None]

    def tangent(self, C):
        slope = 2 * self.mu / (4 - np.trace(C, axis1=1, axis2=2)) ** 2
        return slope[:, None, None, None, None] * np.einsum("ij,kl->ijkl", np.eye(3), np.eye(3))


def test_a_law_without_finite_energy_is_named():
    Locking().verify()
    solid = solid_of("hexahedron full", Locking())
    q = solid.points.copy()
    far = q[:, 2] > 0.15
    q[far, 2] += 0.1
    element = int(np.flatnonzero(far[solid.nodes].any(axis=1))[0])
    for call in (lambda: solid.total(q), lambda: solid.value(q[solid.nodes])):
        with pytest.raises(
            MaterialFailed, match=rf"Locking has no finite energy.* in element {element} \(nodes"
        ) as caught:
            call()
        assert caught.value.element == element


@pytest.mark.parametrize("kind", ["hexahedron", "tetra10"])
def test_undeformed_mesh_must_be_upright(kind):
    mesh = mesh_of(kind)
    cells = mesh.cells[kind].copy()
    cells[1] = cells[1, [4, 5, 6, 7, 0, 1, 2, 3] if kind == "hexahedron" else [1, 0, 2, 3, 4, 6, 5, 8, 7, 9]]
    with pytest.raises(MeshError, match=rf"1 of {len(cells)} cells '{kind}' .*elements 1; .*1 inverted"):
        Solid(mesh.points, cells, RUBBER)
    points = mesh.points.copy()
    points[:, 0] = 0.0
    with pytest.raises(MeshError, match=f"{len(cells)} flat"):
        Solid(points, mesh.cells[kind], RUBBER)


# -- threads ----------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("always_shared")
@pytest.mark.parametrize("formulation", ["stabilized", "full"])
def test_results_do_not_depend_on_the_number_of_threads(monkeypatch, formulation):
    monkeypatch.setattr(blocks, "SMALLEST_SLAB", 50)
    mesh = box((0.1, 0.8, 0.1), (3, 24, 3), split="hexahedra")
    solid = Solid(mesh.points, mesh.cells["hexahedron"], RUBBER, formulation=formulation)
    assert len(blocks.Blocks(solid.nodes, solid.points).slabs) == 4
    q0, q1 = shaken(solid), shaken(solid, seed=1)
    pattern = Pattern(len(q0), [solid.nodes])
    results = []
    for number in (1, 2, 3):
        monkeypatch.setattr(threads, "count", lambda number=number: number)
        gradient, hessian = np.zeros_like(q0), pattern.zeros(3)
        solid.add_discrete_gradient(q0, q1, gradient)
        solid.add_hessian(q0, pattern.slots[0], hessian)
        results.append((solid.total(q0), gradient, hessian, solid.cauchy(q0)))
    for other in results[1:]:
        for part, first in zip(other, results[0], strict=True):
            np.testing.assert_array_equal(part, first)


# -- quadratic meshes -------------------------------------------------------------------------------------------------


def test_quadratic_mesh_has_a_node_in_the_middle_of_each_edge():
    mesh = box((0.1, 0.1, 0.2), (2, 1, 2), split="6")
    fine = quadratic(mesh)
    np.testing.assert_array_equal(fine.points[: len(mesh.points)], mesh.points)
    for kind, ends in (
        ("tetra10", [(0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3)]),
        ("triangle6", [(0, 1), (1, 2), (2, 0)]),
    ):
        cells = fine.cells[kind]
        corners = cells.shape[1] - len(ends)
        for place, (a, b) in enumerate(ends):
            middle = 0.5 * (fine.points[cells[:, a]] + fine.points[cells[:, b]])
            np.testing.assert_array_equal(fine.points[cells[:, corners + place]], middle)
    assert len(np.unique(fine.points.round(9), axis=0)) == len(fine.points)
    assert fine.groups == mesh.groups
    for group in mesh.groups:
        assert set(mesh.nodes_of(group)) <= set(fine.nodes_of(group))
    with pytest.raises(MeshError, match="the mesh has tetra10, triangle6"):
        quadratic(fine)
    assert len(quadratic(Mesh(np.zeros((1, 3)), {"vertex": np.zeros((1, 1), np.int32)})).points) == 1


def test_boundary_of_quadratic_tetrahedra():
    """Its faces are those of the linear mesh, with nodes in between, outward; what is turned inside out is mended."""
    mesh = box((0.1, 0.1, 0.2), (2, 1, 2), split="6")
    fine = quadratic(mesh)
    faces = fine.boundary_faces["triangle6"]
    np.testing.assert_array_equal(faces[:, :3], mesh.boundary_faces["triangle"])
    for place, (a, b) in enumerate([(0, 1), (1, 2), (2, 0)]):
        middle = 0.5 * (fine.points[faces[:, a]] + fine.points[faces[:, b]])
        np.testing.assert_array_equal(fine.points[faces[:, 3 + place]], middle)
    np.testing.assert_allclose(volumes(fine.points, fine.cells["tetra10"], "tetra10").sum(), 0.002)

    cells = {kind: nodes.copy() for kind, nodes in fine.cells.items()}
    cells["tetra10"][3] = cells["tetra10"][3, [1, 0, 2, 3, 4, 6, 5, 8, 7, 9]]
    cells["triangle6"][2] = cells["triangle6"][2, [1, 0, 2, 3, 5, 4]]
    with pytest.raises(MeshError, match=r"1 of 24 tetra10 cells \(3\) are inverted"):
        check_mesh(Mesh(fine.points, cells))
    mended = orient(Mesh(fine.points, cells))
    check_mesh(mended)
    assert Solid(mended.points, mended.cells["tetra10"], RUBBER).volumes.sum() == pytest.approx(0.002)
    normals = [
        np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0]) for x in (m.points[m.cells["triangle6"]] for m in (fine, mended))
    ]
    np.testing.assert_allclose(normals[1], normals[0], atol=1e-15)


@pytest.mark.parametrize("kind", QUADRATIC)
def test_surface_of_quadratic_cells_as_it_is_drawn(kind):
    """Each drawn triangle lies on nodes of the cell whose value it shows."""
    from symplex.meshes.pictures.scene import grid_of, surface_of
    from symplex.meshes.series.series import Block

    mesh = mesh_of(kind)
    cells = mesh.cells[kind]
    surface = surface_of(grid_of(Block.of({kind: cells}), mesh.points))
    np.testing.assert_allclose(surface.mesh.points, mesh.points[surface.nodes], atol=1e-7)
    triangles = surface.nodes[surface.mesh.regular_faces]
    assert np.array_equal(np.unique(triangles), mesh.boundary_nodes)
    assert surface.mesh.area == pytest.approx(0.1)
    assert surface.mesh.volume == pytest.approx(0.002)
    for triangle, cell in zip(triangles, surface.cells, strict=True):
        assert set(triangle) <= set(cells[cell])
