"""Contact by integrals over facets: the patch test, derivatives, conservation, what is refused."""

import numpy as np
import pytest

import symplex as sx
from symplex.contact import BodyContact, SegmentContact, Surface, offset_contact
from symplex.errors import InvalidSystem
from symplex.meshes.mesh import Mesh

E, PRESSED = 1e6, 4e-3
RUBBER = sx.NeoHookean.from_young(E, 0.3, 1000.0)
CORK = sx.NeoHookean.from_young(E, 0.0, 1000.0)
QUADRATIC = {"tetra10": "tetra", "hexahedron20": "hexahedron", "hexahedron27": "hexahedron"}


def block(kind, n, z, size=1.0, distort=0.0):
    """Return a block of an edge length, 0.5 m high, whose nodes are moved along the horizontal faces."""
    linear = QUADRATIC.get(kind, kind)
    split = "6" if linear == "tetra" else "hexahedra"
    made = sx.box((size, size, 0.5), (n, n, 2), split=split, origin=(0.0, 0.0, z))
    points, random = made.points.copy(), np.random.default_rng(n)
    for axis in (0, 1):
        inner = (points[:, axis] > 1e-9) & (points[:, axis] < size - 1e-9)
        points[inner, axis] += distort * size / n * random.uniform(-1.0, 1.0, int(inner.sum()))
    mesh = Mesh(points, made.cells)
    return mesh if kind == linear else sx.meshes.quadratic(mesh, centres=kind == "hexahedron27")


def stacked(kind, cells=(2, 3), size=1.0, distort=0.25, turn=None):
    """Return two blocks on each other, as a mesh, its cells and its surface."""
    low, high = block(kind, cells[0], 0.0, distort=distort), block(kind, cells[1], 0.5, size, distort)
    mesh = sx.merge({"low": low, "high": high})
    if turn is not None:
        mesh = Mesh(mesh.points @ turn.T, mesh.cells, mesh.cell_groups)
    return mesh, mesh.cells[kind], Surface.of(mesh, ["low", "high"])


def pressed(mesh, cells, law, contact, fixed, down):
    """Return the equilibrium of the upper block pushed down onto the lower one."""
    points, high = mesh.points, mesh.nodes_of("high")
    energies = {"solid": sx.Solid(points, cells, law), "contact": contact}
    system = sx.System(sx.lumped_mass(points, cells, 1000.0, len(points)), energies, fixed=fixed)
    q = points.copy()
    q[high] += down
    return sx.equilibria.static_equilibrium(system, q).state.q


def off_uniform(mesh, q):
    """Return by how much displacements are off a uniform strain in each block, relative to how far it is pushed."""
    worst = 0.0
    for name in ("low", "high"):
        nodes = mesh.nodes_of(name)
        places = np.column_stack([mesh.points[nodes], np.ones(len(nodes))])
        moved = q[nodes] - mesh.points[nodes]
        worst = max(worst, np.abs(places @ np.linalg.lstsq(places, moved, rcond=None)[0] - moved).max())
    return worst / PRESSED


@pytest.mark.parametrize("kind", ["tetra", "hexahedron", "tetra10", "hexahedron20", "hexahedron27"])
def test_uniform_stress_crosses_an_interface_of_distorted_meshes_to_round_off(kind):
    """Both blocks expand sideways alike; pressures are uniform at all nodes, and Hooke's law gives their size."""
    mesh, cells, surface = stacked(kind)
    x = mesh.points
    contact = SegmentContact.from_materials(surface, x, RUBBER)
    fixed = np.column_stack([x[:, 0] == 0.0, x[:, 1] == 0.0, (x[:, 2] == 0.0) | (x[:, 2] == 1.0)])
    q = pressed(mesh, cells, RUBBER, contact, fixed, (0.0, 0.0, -PRESSED))
    assert off_uniform(mesh, q) < 1e-10
    pressures = contact.pressures(q)
    touching = pressures[x[surface.vertices, 2] == 0.5]
    assert np.ptp(touching) < 1e-9 * touching.mean()
    assert touching.mean() == pytest.approx(-contact.resultants(q)["low", "high"][2], rel=1e-10)
    assert np.all(pressures[x[surface.vertices, 2] != 0.5] == 0.0)
    gap = touching.mean() / contact.stiffness
    assert touching.mean() == pytest.approx(E * (PRESSED - gap), rel=6e-3)  # with the neo-Hookean law's square
    assert contact.at(q).observed()["gap"] == pytest.approx(-gap, rel=1e-9)


@pytest.mark.parametrize("kind", ["tetra", "hexahedron", "tetra10"])
def test_patch_test_of_an_oblique_interface(kind):
    turn = np.linalg.qr(np.random.default_rng(5).normal(size=(3, 3)))[0]
    turn *= np.linalg.det(turn)
    mesh, cells, surface = stacked(kind, turn=turn)
    along = mesh.points @ turn[:, 2]
    held = (along < 1e-9) | (along > 1.0 - 1e-9)
    contact = SegmentContact.from_materials(surface, mesh.points, CORK)
    q = pressed(mesh, cells, CORK, contact, np.repeat(held[:, None], 3, axis=1), -PRESSED * turn[:, 2])
    assert off_uniform(mesh, q) < 1e-10
    on = (surface.vertex_bodies == surface.body("low")) & (np.abs(along[surface.vertices] - 0.5) < 1e-9)
    assert np.ptp(contact.pressures(q)[on]) < 1e-9 * contact.pressures(q)[on].mean()


@pytest.mark.parametrize("kind", ["hexahedron", "tetra10"])
def test_uniform_stress_crosses_an_interface_of_a_body_with_itself(kind):
    mesh, cells, _ = stacked(kind)
    x, surface = mesh.points, Surface.of(Mesh(mesh.points, mesh.cells, {"both": {kind: np.arange(len(cells))}}), "both")
    contact = SegmentContact.from_materials(surface, x, RUBBER, self_contact=True)
    assert contact.between.tolist() == [[True]]
    fixed = np.column_stack([x[:, 0] == 0.0, x[:, 1] == 0.0, (x[:, 2] == 0.0) | (x[:, 2] == 1.0)])
    q = pressed(mesh, cells, RUBBER, contact, fixed, (0.0, 0.0, -PRESSED))
    assert off_uniform(mesh, q) < 1e-10
    pressures = contact.pressures(q)[x[surface.vertices, 2] == 0.5]
    assert np.ptp(pressures) < 1e-9 * pressures.mean()


def test_front_and_back_of_a_wedge_are_not_in_contact_with_itself():
    mesh = sx.box((1.0, 0.5, 0.2), (8, 4, 1), split="hexahedra")
    x = mesh.points.copy()
    x[:, 2] *= 0.1 + 0.9 * x[:, 0]  # the thin end is thinner than surfaces may pass into each other
    surface = Surface.of(Mesh(x, mesh.cells))
    contact = SegmentContact(surface, x, 1e8, self_contact=True, depth=0.05)
    for q in (x, 1.2 * x, x * [1.0, 1.0, 0.7], x + np.column_stack([0.1 * x[:, 2], 0.0 * x[:, :2]])):
        contact.build_list(q)
        assert not contact.acts_at(q)
        assert contact.find_penetration(x, q) is None


def test_pairs_of_vertices_and_edges_do_not_pass_it():
    mesh, cells, surface = stacked("hexahedron", distort=0.0)
    x = mesh.points
    contact = BodyContact.from_materials(surface, RUBBER, distance=0.02 * surface.edge_lengths.min())
    energy = offset_contact(contact, x, mesh.cells)
    fixed = np.column_stack([x[:, 0] == 0.0, x[:, 1] == 0.0, (x[:, 2] == 0.0) | (x[:, 2] == 1.0)])
    q = pressed(mesh, cells, RUBBER, energy, fixed, (0.0, 0.0, -PRESSED))
    assert off_uniform(mesh, q) > 0.01


@pytest.mark.parametrize("kind", ["tetra", "hexahedron", "tetra10", "hexahedron20"])
def test_forms_agree_with_each_other(kind):
    mesh, _, surface = stacked(kind, cells=(1, 2), size=0.8)
    random = np.random.default_rng(3)
    contact = SegmentContact(surface, mesh.points, 1e7, between=[("high", "low")])
    q = mesh.points + 4e-3 * random.normal(size=mesh.points.shape)
    q[mesh.nodes_of("high"), 2] -= 0.01
    contact.build_list(q)
    x = q[contact.nodes]
    acting = contact.value(x) > 0.0
    assert acting.sum() > 5
    d = random.normal(size=q.shape)
    local, h = d[contact.nodes], 1e-6
    slope = (contact.value(x + h * local) - contact.value(x - h * local)) / (2.0 * h)
    gradient = contact.gradient(x)
    size = np.abs(gradient).max()
    np.testing.assert_allclose(np.einsum("mai,mai->m", gradient, local), slope, atol=1e-6 * size)
    H = contact.hessian(x)
    bend = (contact.gradient(x + h * local) - contact.gradient(x - h * local)) / (2.0 * h)
    product = np.einsum("mij,mj->mi", H, local.reshape(len(x), -1))
    np.testing.assert_allclose(product, bend.reshape(len(x), -1), atol=1e-5 * np.abs(H).max())
    np.testing.assert_allclose(H, H.swapaxes(1, 2), atol=1e-12 * np.abs(H).max())


@pytest.mark.parametrize("kind", ["tetra", "hexahedron20"])
@pytest.mark.parametrize("far", [1e-7, 1e-3, 0.05])
def test_discrete_gradient_is_exact_and_keeps_momenta(kind, far):
    mesh, _, surface = stacked(kind, cells=(1, 2), size=0.8)
    random = np.random.default_rng(4)
    contact = SegmentContact(surface, mesh.points, 1e7, between=[("high", "low")])
    q0 = mesh.points + 2e-3 * random.normal(size=mesh.points.shape)
    q0[mesh.nodes_of("high"), 2] -= 0.01
    q1 = q0 + far * random.normal(size=q0.shape)
    contact.extend_list((q0, q1))
    x0, x1 = q0[contact.nodes], q1[contact.nodes]
    DG, change = contact.discrete_gradient(x0, x1), contact.value(x1) - contact.value(x0)
    energies = contact.value(x0) + contact.value(x1)
    np.testing.assert_allclose(np.einsum("mai,mai->m", DG, x1 - x0), change, atol=1e-13 * energies.max())
    np.testing.assert_allclose(contact.discrete_gradient(x1, x0), DG, atol=1e-8 * np.abs(DG).max())
    total, middle = np.zeros_like(q0), 0.5 * (q0 + q1)
    contact.add_discrete_gradient(q0, q1, total)
    np.testing.assert_allclose(total.sum(axis=0), 0.0, atol=1e-12 * np.abs(total).max())
    np.testing.assert_allclose(np.cross(middle, total).sum(axis=0), 0.0, atol=1e-11 * np.abs(total).max())
    d, h = random.normal(size=q0.shape)[contact.nodes], 1e-4 * far
    slope = (contact.discrete_gradient(x0, x1 + h * d) - contact.discrete_gradient(x0, x1 - h * d)) / (2.0 * h)
    T = contact.discrete_hessian(x0, x1)
    product = np.einsum("mij,mj->mi", T, d.reshape(len(x1), -1))
    size = np.abs(T).max()
    assert np.quantile(np.abs(product - slope.reshape(len(x1), -1)), 0.99) < 1e-3 * size


def test_front_and_back_of_thin_plates_are_neither_in_contact_nor_penetrate():
    plates = [
        sx.box((4.0, 2.0, 0.1), (cells, 4, 1), split="hexahedra", origin=(0.0, 0.0, z))
        for cells, z in ((8, 0.0), (7, 0.12))
    ]
    mesh = sx.merge({"low": plates[0], "high": plates[1]})
    contact = SegmentContact(Surface.of(mesh, ["low", "high"]), mesh.points, 1e8)
    apart, slid, through = (mesh.points.copy() for _ in range(3))
    slid[mesh.nodes_of("high"), 0] += 0.1
    through[mesh.nodes_of("high")] += (0.1, 0.0, -0.1)
    contact.build_list(apart)
    assert contact.at(apart).observed()["gap"] == pytest.approx(0.02)
    assert contact.at(apart).nodal_gaps().min() == pytest.approx(0.02)
    assert not contact.acts_at(apart)
    assert contact.find_penetration(apart, slid) is None
    assert contact.collision_free_fraction(apart, slid) == 1.0
    assert "by 0.08 m" in str(contact.find_penetration(apart, through))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"integrated": "first"}, r"integrated = \"first\" needs pairs of bodies in between, got 'all'\."),
        ({"integrated": "coarser"}, r"integrated must be one of 'finer', 'first', got 'coarser'\."),
        ({"between": []}, r"^SegmentContact: no bodies may touch\. Name pairs of them, or let a single body"),
    ],
)
def test_what_does_not_fit_is_refused(given, message):
    mesh, _, surface = stacked("hexahedron")
    with pytest.raises(InvalidSystem, match=message):
        SegmentContact(surface, mesh.points, 1e7, **given)


def test_faces_without_area_are_refused():
    mesh, _, surface = stacked("tetra")
    points = mesh.points.copy()
    a, b, _ = surface.triangles[3]
    points[b] = points[a]
    with pytest.raises(InvalidSystem, match=r"SegmentContact: the face at nodes \d+, \d+ and \d+ has no area"):
        SegmentContact(surface, points, 1e7)
