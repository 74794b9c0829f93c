"""Contact that begins where surfaces touch: where its vertices are, no force at the start, weights, refusals."""

import numpy as np
import pytest

import symplex as sx
from symplex.contact import BodyContact, Friction, RigidBodies, RigidBody, Surface, offset_contact
from symplex.contact.inside import inward, weights_inside
from symplex.errors import InvalidSystem, MeshError
from symplex.meshes.mesh import Mesh
from symplex.meshes.shape_functions import SHAPE_FUNCTIONS
from symplex.time.equilibria.static import static_equilibrium

RUBBER = sx.NeoHookean.from_young(1e6, 0.3, 1000.0)
SIDE = 0.1
GRAVITY = np.array([0.0, 0.0, -9.81])


def stacked(divisions=(2, 3), split="hexahedra", sink=0.0, shift=(0.013, 0.017)):
    """Return two cubes, the upper one on the lower one, with meshes that do not match."""
    lower = sx.box((SIDE,) * 3, (divisions[0],) * 3, split=split)
    upper = sx.box((SIDE,) * 3, (divisions[1],) * 3, split=split, origin=(*shift, SIDE - sink))
    mesh = sx.merge({"lower": lower, "upper": upper})
    kind = "hexahedron" if split == "hexahedra" else "tetra"
    return mesh, kind, Surface.of(mesh, ["lower", "upper"])


def touching(mesh, surface, law="penalty", **keys):
    """Return the contact of surfaces that touch, with d̂ of a fiftieth of the shortest edge."""
    distance = 0.02 * surface.edge_lengths.min()
    contact = BodyContact.from_materials(surface, RUBBER, law=law, distance=distance)
    return offset_contact(contact, mesh.points, mesh.cells, **keys)


# -- where the vertices are --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [kind for kind in SHAPE_FUNCTIONS if SHAPE_FUNCTIONS[kind].nodes.shape[1] == 3])
def test_vertices_go_inwards_in_cells_of_all_types_and_move_with_them(kind):
    random = np.random.default_rng(1)
    points = SHAPE_FUNCTIONS[kind].nodes + 0.02 * random.normal(size=SHAPE_FUNCTIONS[kind].nodes.shape)
    mesh = Mesh(points, {kind: np.arange(len(points), dtype=np.int32)[None]})
    surface = Surface.of(mesh)
    way = 0.01 * inward(surface, points)
    weights = weights_inside(surface, points, mesh.cells, way)
    moved = np.zeros_like(points)
    moved[surface.vertices] = way
    np.testing.assert_allclose(weights @ points, points + moved, atol=1e-15)
    out = points[surface.vertices] - points[surface.vertices].mean(axis=0)
    assert np.all(np.einsum("vi,vi->v", way, out) < 0.0)
    # In a uniform deformation they go where the material next to the vertex goes.
    F, shift = np.eye(3) + 0.3 * random.normal(size=(3, 3)), random.normal(size=3)
    np.testing.assert_allclose(weights @ (points @ F.T + shift), (points + moved) @ F.T + shift, atol=1e-14)


@pytest.mark.parametrize("split", ["hexahedra", "6"])
def test_faces_edges_and_corners_of_a_cube_go_inwards_alike(split):
    mesh = sx.box((1.0, 1.0, 1.0), (3, 2, 2), split=split)
    surface = Surface.of(mesh)
    q = mesh.points.copy()
    q[surface.vertices] += 0.01 * inward(surface, mesh.points)
    np.testing.assert_allclose(q, np.clip(mesh.points, 0.01, 0.99), atol=1e-14)


def test_vertices_of_a_sphere_go_along_its_radii():
    ball = RigidBody.sphere(1.0, mass=1.0, refinements=3)
    surface = ball.surface("ball")
    way = inward(surface, ball.mesh.points)
    np.testing.assert_allclose(way, -ball.mesh.points, atol=0.03)


# -- the start ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("law", ["penalty", "barrier"])
@pytest.mark.parametrize("split", ["hexahedra", "6"])
def test_bodies_that_touch_begin_without_a_force(split, law):
    mesh, _, surface = stacked(split=split)
    energy = touching(mesh, surface, law)
    energy.check_start(mesh.points)
    force = np.zeros_like(mesh.points)
    energy.add_gradient(mesh.points, force)
    assert np.abs(force).max() < 1e-8 * 1e6 * SIDE**2
    state = energy.energy.at(energy.interpolation.points(mesh.points))
    assert abs(state.observed()["gap"]) < 1e-8 * energy.reach
    assert energy.energy.overlap == 0.0
    # As if nothing were there until surfaces meet, and closed from there on.
    apart, closer = mesh.points.copy(), mesh.points.copy()
    apart[mesh.nodes_of("upper"), 2] += 1e-6 * energy.reach
    assert energy.total(apart) == 0.0
    closer[mesh.nodes_of("upper"), 2] -= 0.1 * energy.reach
    reported = energy.energy.at(energy.interpolation.points(closer)).observed()
    assert reported["gap"] == pytest.approx(-0.1 * energy.reach, rel=1e-6)
    assert reported["contact_force_lower_upper_z"] < 0.0


def test_what_overlaps_a_little_begins_without_a_force_as_well():
    mesh, _, surface = stacked(sink=1e-3)
    energy = touching(mesh, surface)
    assert energy.energy.overlap == pytest.approx(1e-3, rel=0.05)
    force = np.zeros_like(mesh.points)
    energy.add_gradient(mesh.points, force)
    assert np.abs(force).max() < 1e-8 * 1e6 * SIDE**2


def pin_in_a_hole(n_pin, n_hole):
    """Return a pin and a ring around it of one radius, of which the polygons overlap."""

    def ring(inner, outer, n):
        flat = sx.box((1.0, 1.0, 0.3), (3, n, 2), split="hexahedra")
        x, y, z = flat.points.T
        r, angle = inner + (outer - inner) * x, 2.0 * np.pi * np.round(y * n) / n
        points = np.column_stack([r * np.cos(angle), r * np.sin(angle), z])
        keys = np.column_stack([np.round(1e6 * points).astype(np.int64)])
        _, first, place = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        cells = place.ravel()[flat.cells["hexahedron"]][:, [0, 3, 2, 1, 4, 7, 6, 5]].astype(np.int32)
        points = points[first]
        x = points[cells]
        volume = np.einsum("ei,ei->e", np.cross(x[:, 1] - x[:, 0], x[:, 3] - x[:, 0]), x[:, 4] - x[:, 0])
        cells = cells if volume.min() > 0.0 else cells[:, [0, 3, 2, 1, 4, 7, 6, 5]]
        body = {"hexahedron": np.arange(len(cells), dtype=np.int32)}
        return Mesh(points, {"hexahedron": cells}, {"body": body})

    return sx.merge({"pin": ring(0.4, 1.0, n_pin), "hole": ring(1.0, 2.0, n_hole)})


def test_a_pin_whose_polygon_overlaps_that_of_its_hole_begins_without_a_force():
    mesh = pin_in_a_hole(17, 22)
    surface = Surface.of(mesh, ["pin", "hole"])
    contact = BodyContact.from_materials(surface, RUBBER, distance=0.02 * surface.edge_lengths.min())
    with pytest.raises(InvalidSystem, match="overlap"):
        contact.check_start(mesh.points)
    energy = offset_contact(contact, mesh.points, mesh.cells)
    energy.check_start(mesh.points)
    assert 0.3 * (1.0 - np.cos(np.pi / 22)) < energy.energy.overlap < 3.0 * (1.0 - np.cos(np.pi / 17))
    assert energy.total(mesh.points) < 1e-15 * 1e6
    # The pin is held from all sides at once: a little way to any side it is pushed back.
    for angle in (0.0, 1.0, 4.0):
        q, way = mesh.points.copy(), 0.5 * energy.reach * np.array([np.cos(angle), np.sin(angle), 0.0])
        q[mesh.nodes_of("pin")] += way
        force = energy.energy.at(energy.interpolation.points(q)).resultants()["pin", "hole"]
        assert np.vdot(force, way) < -0.9 * np.linalg.norm(force) * np.linalg.norm(way)


# -- statics and motion ------------------------------------------------------------------------------------------------


def gravity(mass):
    return sx.actions.Gravity(mass, GRAVITY)


@pytest.mark.parametrize("law", ["penalty", "barrier"])
def test_a_block_on_a_block_rests_with_its_weight(law):
    mesh, kind, surface = stacked()
    energy = touching(mesh, surface, law)
    mass = sx.lumped_mass(mesh.points, mesh.cells[kind], 1000.0, len(mesh.points))
    fixed = np.zeros(mesh.points.shape, bool)
    fixed[mesh.points[:, 2] == 0.0] = True
    fixed[mesh.nodes_of("upper"), :2] = True
    solid = sx.Solid(mesh.points, mesh.cells[kind], RUBBER)
    system = sx.System(mass, {"solid": solid, "contact": energy, "gravity": gravity(mass)}, fixed=fixed)
    found = static_equilibrium(system, mesh.points)
    state = energy.energy.at(energy.interpolation.points(found.state.q))
    weight = 9.81 * 1000.0 * SIDE**3
    assert state.resultants()["lower", "upper"][2] == pytest.approx(-weight, rel=1e-8)
    assert -energy.reach < state.observed()["gap"] < 0.0
    # What is reported at nodes is the pressure of the block, on the part that it covers.
    pressed = np.linalg.norm(state.nodal_forces()[surface.vertices], axis=1)
    assert pressed[surface.vertex_bodies == 1].sum() == pytest.approx(weight, rel=0.01)
    # The cube under it is shorter by what the weights of both press out of it.
    top = np.flatnonzero(np.isin(np.arange(len(mesh.points)), mesh.nodes_of("lower")) & (mesh.points[:, 2] == SIDE))
    sunk = SIDE - found.state.q[top, 2].mean()
    assert sunk == pytest.approx(1.5 * weight / SIDE**2 / 1e6 * SIDE, rel=0.2)


def test_two_cubes_that_touch_with_friction_keep_energy_and_momenta():
    mesh, kind, surface = stacked(split="6")
    energy = touching(mesh, surface)
    mass = sx.lumped_mass(mesh.points, mesh.cells[kind], 1000.0, len(mesh.points))
    solid = sx.Solid(mesh.points, mesh.cells[kind], RUBBER)
    friction = energy.of_load(Friction(energy.energy, 0.3))
    system = sx.System(mass, {"solid": solid, "contact": energy}, loads={"friction": friction})
    v = np.zeros_like(mesh.points)
    v[mesh.nodes_of("upper")] = (0.2, 0.0, -0.5)
    path = sx.record(system, sx.EnergyMomentum(5e-4), system.state(mesh.points, v), 5e-4 * np.arange(0, 21, 4))
    scale = path.energies["total"][0]
    assert path.energies["contact"].max() > 1e-3 * scale
    assert path.energies["work_friction"][-1] < -1e-3 * scale
    assert np.ptp(path.energies["balance"]) < 1e-11 * scale
    momenta = np.array([mass @ w for w in path.v])
    spins = np.array([(mass[:, None] * np.cross(x, w)).sum(axis=0) for x, w in zip(path.q, path.v, strict=True)])
    assert np.ptp(momenta, axis=0).max() < 1e-12 * np.abs(momenta).max()
    assert np.ptp(spins, axis=0).max() < 1e-12 * mass.sum() * SIDE * 0.5


def test_a_rigid_box_lies_on_a_block():
    block = sx.box((SIDE,) * 3, (2, 2, 2), split="6")
    box = RigidBody.box((0.06, 0.06, 0.04), mass=2.0).placed((0.05, 0.05, SIDE + 0.02))
    rigid = RigidBodies({"box": box}, len(block.points))
    surface = rigid.surface(Surface.of(block, ["body"]))
    contact = BodyContact(surface, 2e8, distance=1e-3)
    q = rigid.positions(block.points)
    energy = offset_contact(contact, rigid.points(q), block.cells, follow=rigid.interpolation)
    mass = rigid.mass(sx.lumped_mass(block.points, block.cells["tetra"], 1000.0, len(block.points)))
    fixed = np.zeros((rigid.n_nodes, 3), bool)
    fixed[: len(block.points)][block.points[:, 2] == 0.0] = True
    fixed[rigid.nodes_of("box"), :2] = True
    energies = {
        "block": sx.Solid(block.points, block.cells["tetra"], RUBBER),
        "contact": energy,
        "box": rigid.rigidity(1e3),
        "gravity": gravity(np.concatenate([np.zeros(len(block.points)), np.full(4, 0.5)])),
    }
    system = sx.System(mass, energies, fixed=fixed)
    force = np.zeros_like(q)
    energy.add_gradient(q, force)
    assert np.abs(force).max() < 1e-6 * 2.0 * 9.81
    found = static_equilibrium(system, q)
    state = energy.energy.at(energy.interpolation.points(found.state.q))
    assert state.resultants()["body", "box"][2] == pytest.approx(-2.0 * 9.81, rel=1e-8)


# -- refusals ----------------------------------------------------------------------------------------------------------


def test_bodies_that_overlap_deeply_are_refused():
    mesh, _, surface = stacked(sink=0.03)
    with pytest.raises(InvalidSystem, match=r"overlap by about 0\.03 m .* a quarter of the shortest edge, 0\.00833 m"):
        touching(mesh, surface)


def test_an_open_surface_has_no_inside():
    cube = sx.box((SIDE,) * 3, (1, 1, 1), split="6")
    plate = Surface.from_triangles(np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]]), [[0, 1, 2]], "plate")
    surface = Surface.join([Surface.of(cube, ["body"]), plate.shifted(len(cube.points))])
    points = np.vstack([cube.points, [[0.0, 0, 0.2], [1, 0, 0.2], [0, 1, 0.2]]])
    with pytest.raises(InvalidSystem, match="'plate' has an open surface"):
        offset_contact(BodyContact(surface, 1e9, distance=1e-3), points, cube.cells)


def test_other_mistakes_are_told():
    mesh, kind, surface = stacked()
    contact = BodyContact(surface, 1e9, distance=1e-4)
    with pytest.raises(InvalidSystem, match="nodes 999"):
        offset_contact(contact, mesh.points, {kind: np.full((1, 8), 999)})
    with pytest.raises(InvalidSystem, match="points have shape"):
        offset_contact(contact, mesh.points[:3], mesh.cells)
    with pytest.raises(MeshError, match="hexa8"):
        offset_contact(contact, mesh.points, {"hexa8": mesh.cells[kind]})
