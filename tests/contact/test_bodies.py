"""Contact between bodies as an energy: its list, what it refuses, what it says, and collisions."""

import copy
import pickle

import numpy as np
import pytest

import symplex as sx
from symplex.contact.bodies import BodyContact
from symplex.contact.search import find_pairs
from symplex.contact.stiffness import contact_stiffness
from symplex.contact.surfaces import Surface
from symplex.errors import InvalidArgument, InvalidSystem, StepFailed
from symplex.fem.actions.mass import lumped_mass
from symplex.fem.couplings.interpolation import Selection
from symplex.meshes.mesh import Mesh

RUBBER = sx.NeoHookean.from_young(1e6, 0.3, 1000.0)
SIDE = 0.1


def two_cubes(n=2, gap=0.001, shift=(0.03, 0.02)):
    """A mesh of two cubes side by side, off centre."""
    block = sx.box((SIDE,) * 3, (n,) * 3)
    points = np.vstack([block.points, block.points + np.array([SIDE + gap, *shift])])
    cells = block.cells["tetra"]
    return Mesh(points, {"tetra": np.vstack([cells, cells + len(block.points)])})


def in_contact(law="penalty", **options):
    mesh = two_cubes()
    return BodyContact(Surface.of(mesh), 5e7, law=law, **options), mesh.points


# -- the potential ----------------------------------------------------------------------------------------------------


def test_flat_faces_have_the_energy_and_pressure_of_the_law():
    """Faces that lie on each other: two to three times b(d) and k (d̂ − d) per area, as edges count as well."""
    d, reach, k = 0.001, 0.002, 5e7
    mesh = two_cubes(n=2, gap=d, shift=(0.013, 0.021))
    area = (SIDE - 0.013) * (SIDE - 0.021)
    contact = BodyContact(Surface.of(mesh), k, distance=reach)
    energy = contact.total(mesh.points) / (0.5 * k * (reach - d) ** 2 * area)
    resultant = contact.resultants(mesh.points)["body 1", "body 2"]
    np.testing.assert_allclose(resultant[1:], 0.0, atol=1e-10 * abs(resultant[0]))
    share = -resultant[0] / (k * (reach - d) * area)
    assert 2.0 < energy < 3.0
    assert energy == pytest.approx(share, rel=0.1)
    contacts = contact.contacts(mesh.points)
    assert contacts.gaps.min() == pytest.approx(d)
    assert contacts.forces.min() > 0.0
    assert set(map(tuple, contacts.bodies.tolist())) <= {(0, 1), (1, 0)}
    pressures = contact.pressures(mesh.points)
    assert pressures.shape == contact.surface.vertices.shape
    assert pressures.max() < 5.0 * k * (reach - d)
    assert np.median(pressures) == 0.0  # most of the surface is free
    forces = contact.nodal_forces(mesh.points)
    np.testing.assert_allclose(forces.sum(axis=0), 0.0, atol=1e-12 * np.abs(forces).max())
    np.testing.assert_allclose(forces[: len(forces) // 2].sum(axis=0), resultant, rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("law", ["penalty", "barrier"])
def test_results_do_not_depend_on_the_list(law):
    """Longer and shorter lists, found elsewhere or for one evaluation: the same bits."""
    contact, q = in_contact(law)
    other, _ = in_contact(law, margin=0.3 * SIDE)
    fresh, _ = in_contact(law)
    contact.renewed(q)
    other.renewed(q + 0.01 * SIDE * np.sin(np.arange(q.size)).reshape(q.shape))
    assert len(other.nodes) > len(contact.nodes) > len(fresh.nodes) == 0
    assert contact.total(q) == other.total(q) == fresh.total(q) > 0.0
    q1 = q + 0.002 * SIDE * np.cos(np.arange(q.size)).reshape(q.shape)
    results = []
    for energy in (contact, other, fresh):
        out = np.zeros_like(q), np.zeros_like(q)
        energy.add_gradient(q, out[0])
        energy.add_discrete_gradient(q, q1, out[1])
        results.append(np.stack(out))
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])


def test_copies_and_pickles_go_on():
    contact, q = in_contact("barrier")
    contact.renewed(q)
    for other in (copy.copy(contact), copy.deepcopy(contact), pickle.loads(pickle.dumps(contact))):
        assert other.total(q) == contact.total(q)
        np.testing.assert_array_equal(other.hessian(q[other.nodes]), contact.hessian(q[contact.nodes]))


def test_value_of_one_pair():
    contact, q = in_contact()
    contact.renewed(q)
    x = q[contact.nodes]
    values = contact.value(x)
    assert [contact.local_value(e, x[e]) for e in range(len(x))] == pytest.approx(values, rel=1e-14)


def test_the_list_is_found_by_the_search():
    contact, q = in_contact()
    contact.find((q,), 0.02)
    pairs = find_pairs(contact.surface, (q,), 0.02, contact.between)
    for name, values in pairs.as_dict().items():
        np.testing.assert_array_equal(getattr(contact.record, name), values)


# -- stiffness --------------------------------------------------------------------------------------------------------


def test_default_stiffness_follows_from_the_softer_body():
    surface = Surface.of(two_cubes())
    h = surface.edge_lengths.mean()
    stiff = sx.NeoHookean.from_young(1e9, 0.3, 1000.0)
    slow = BodyContact.from_materials(surface, [RUBBER, stiff])
    assert slow.stiffness == pytest.approx(10.0 * 1e6 / h, rel=1e-9)
    assert slow.reach == pytest.approx(0.1 * surface.edge_lengths.min())
    barrier = BodyContact.from_materials(surface, RUBBER, law="barrier")
    assert barrier.stiffness == pytest.approx(3.0 * 1e6 / h, rel=1e-9)
    fast = contact_stiffness(surface, RUBBER, "penalty", speed=20.0)
    c = np.sqrt(1e6 / 1000.0)
    assert fast == pytest.approx(16.0 * (20.0 / c * h / slow.reach) ** 2 * 1e6 / h, rel=1e-9)


def test_latent_stiffness_covers_what_closed_contact_adds():
    """The largest k/m of faces on each other is below what is declared, where vertices do not lie above each other."""
    coarse, fine = sx.box((SIDE,) * 3, (2,) * 3), sx.box((SIDE,) * 3, (3,) * 3)
    for shift, most in (((0.013, 0.021), 1.0), ((0.0, 0.0), 2.5)):
        points = np.vstack([coarse.points, fine.points + np.array([SIDE + 1e-3, *shift])])
        cells = np.vstack([coarse.cells["tetra"], fine.cells["tetra"] + len(coarse.points)])
        contact = BodyContact(Surface.of(Mesh(points, {"tetra": cells})), 1e8, distance=0.002)
        mass = lumped_mass(points, cells, 1000.0, len(points))
        contact.renewed(points)
        hessian = np.zeros((len(points) * 3,) * 2)
        for nodes, local in zip(contact.nodes, contact.hessian(points[contact.nodes]), strict=True):
            places = (3 * nodes[:, None] + np.arange(3)).ravel()
            hessian[np.ix_(places, places)] += local
        scale = 1.0 / np.sqrt(np.repeat(mass, 3))
        largest = np.linalg.eigvalsh(scale[:, None] * hessian * scale)[-1]
        declared = (contact.contact_stiffness_bound(len(points)) / mass).max()
        assert 0.1 * declared < largest < most * declared


def test_a_barrier_has_no_greatest_stiffness():
    contact, q = in_contact("barrier")
    assert not contact.bounded_stiffness
    latent = contact.contact_stiffness_bound(len(q))
    assert np.isinf(latent[contact.surface.vertices]).all()
    assert in_contact("penalty")[0].bounded_stiffness


# -- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"stiffness": 0.0}, r"stiffness must be positive, got 0 N/m³"),
        ({"stiffness": -1.0}, r"stiffness must be positive"),
        ({"distance": -0.1}, r"distance must be positive, got -0.1 m"),
        ({"distance": 0.06}, r"0.06 m, is above the shortest edge of the surface, 0.03536 m"),
        ({"margin": 0.0}, r"margin must be positive"),
        ({"law": "glue"}, r"'glue'"),
        ({"between": "none"}, r"between is 'all' or pairs of names"),
        ({"between": [("body 1", "body 3")]}, r"there is no body 'body 3'; there are: body 1, body 2"),
        ({"between": ["body 1"]}, r"pairs of names of bodies, not 'body 1'|between"),
        ({"between": []}, r"no bodies may touch"),
    ],
    ids=str,
)
def test_bad_input(options, message):
    with pytest.raises((InvalidSystem, InvalidArgument), match=message):
        BodyContact(Surface.of(two_cubes()), **{"stiffness": 1e6, **options})


def test_one_body_touches_itself_only_if_asked():
    surface = Surface.of(sx.box((SIDE,) * 3, (2,) * 3))
    with pytest.raises(InvalidSystem, match="no bodies may touch"):
        BodyContact(surface, 1e6)
    assert BodyContact(surface, 1e6, self_contact=True).between.all()
    both = BodyContact(Surface.of(two_cubes()), 1e6, between=[("body 1", "body 2"), ("body 2", "body 2")]).between
    np.testing.assert_array_equal(both, [[False, True], [True, True]])


def test_materials_and_speed_are_checked():
    surface = Surface.of(two_cubes())
    with pytest.raises(InvalidSystem, match="3 materials for 2 bodies"):
        BodyContact.from_materials(surface, [RUBBER] * 3)
    with pytest.raises(InvalidSystem, match="must not be negative; it is -1 m/s"):
        BodyContact.from_materials(surface, RUBBER, speed=-1.0)


def test_overlap_at_the_start_has_a_place():
    contact, q = in_contact()
    contact.check_start(q)
    into = q.copy()
    into[len(q) // 2 :, 0] -= 0.01
    with pytest.raises(
        InvalidSystem, match=r"'body 1' and 'body 2' overlap by about .* m at \(.*\) m\. Move them apart"
    ):
        contact.check_start(into)
    system = sx.System(np.ones(len(into)), {"contact": contact})
    with pytest.raises(InvalidSystem, match="overlap by"):
        sx.EnergyMomentum(1e-3).start(system, system.state(into, np.zeros_like(into)))


def test_touching_barriers_have_no_energy():
    q = two_cubes(shift=(0.0, 0.0)).points
    touching = q.copy()
    touching[np.isclose(q[:, 0], SIDE + 0.001), 0] = q[: len(q) // 2, 0].max()
    contact, _ = in_contact("barrier")
    with pytest.raises(StepFailed, match=r"'body 1' and 'body 2' touch at \(.*\) m"):
        contact.total(touching)


def test_positions_that_are_not_finite_are_a_failed_step():
    contact, q = in_contact()
    q[3, 1] = np.nan
    with pytest.raises(StepFailed, match="not finite"):
        contact.total(q)


# -- collisions -------------------------------------------------------------------------------------------------------


def collision(law, speed=2.0):
    """Two cubes that spin and hit each other off centre."""
    mesh = two_cubes(n=2, gap=0.008)
    cells, points = mesh.cells["tetra"], mesh.points
    contact = BodyContact.from_materials(Surface.of(mesh), RUBBER, law=law, speed=speed)
    mass = lumped_mass(points, cells, RUBBER.density, len(points))
    system = sx.System(mass, {"solid": sx.Solid(points, cells, RUBBER), "contact": contact})
    v, half = np.zeros_like(points), len(points) // 2
    for part, way in ((slice(half), 1.0), (slice(half, None), -1.0)):
        v[part] = np.cross([5.0 * way, 10.0 * way, 20.0 * way], points[part] - points[part].mean(axis=0))
        v[part, 0] += 0.5 * way * speed
    return system, system.state(points, v)


@pytest.mark.parametrize("law", ["penalty", "barrier"])
@pytest.mark.parametrize("dt", [2e-4, 1e-3])
def test_energy_and_momenta_are_kept_through_a_collision(law, dt):
    system, state = collision(law)
    path = sx.record(system, sx.EnergyMomentum(dt), state, 1e-3 * np.arange(13))
    energies = path.energies
    assert energies["contact"].max() > 0.01 * energies["total"][0]
    assert energies["contact"][-1] < 0.2 * energies["contact"].max()
    assert np.ptp(energies["total"]) < 1e-12 * energies["total"][0]
    end = system.state(path.q[-1], path.v[-1])
    for kept in ("momentum", "angular_momentum"):
        size = np.abs(system.lumped_mass("a test")[:, None] * state.v).sum()
        np.testing.assert_allclose(getattr(system, kept)(end), getattr(system, kept)(state), atol=1e-12 * size)
    half = len(state.q) // 2
    assert path.v[-1][:half, 0].mean() < path.v[-1][half:, 0].mean()  # apart


def test_explicit_steps_with_a_penalty():
    system, state = collision("penalty")
    integrator = sx.Newmark("auto").fit(system, state, 1e-3)
    path = sx.record(system, integrator, state, 1e-3 * np.arange(13))
    total = path.energies["total"]
    assert path.energies["contact"].max() > 0.01 * total[0]
    assert np.ptp(total) < 5e-3 * total[0]


@pytest.mark.parametrize("parts", [1, 7, 300])
def test_what_meets_is_found_at_steps_of_any_size(parts):
    """Also where most steps are too short, after the last look, for anything to meet."""
    contact, q = in_contact()
    contact.renewed(q)
    way = np.zeros_like(q)
    way[len(q) // 2 :, 0] = -0.002  # twice the gap
    for k in range(parts):
        q0, q1 = q + k / parts * way, q + (k + 1) / parts * way
        fresh, _ = in_contact()
        fresh.renewed(q0)
        clause = contact.find_penetration(q0, q1)
        assert clause == fresh.find_penetration(q0, q1)
        if clause:
            break
    else:
        pytest.fail("nothing has met")
    assert (k + 1) / parts == pytest.approx(0.5, abs=1.01 / parts)
    assert contact.find_penetration(q + way, q) is not None  # and back, from behind


def test_what_passes_through_is_an_error_with_the_place():
    system, state = collision("penalty", speed=2.0)
    contact = system.energies["contact"]
    soft = sx.System(
        system.lumped_mass("a test"),
        {"solid": system.energies["solid"], "contact": BodyContact(contact.surface, 1e-3 * contact.stiffness)},
    )
    with pytest.raises(StepFailed, match=r"of 'body .' passed through .* near \(.*\) m\. Try a smaller step"):
        sx.record(soft, sx.Newmark("auto").fit(soft, state, 1e-3), state, 1e-3 * np.arange(13))


def test_explicit_steps_refuse_a_barrier():
    system, state = collision("barrier")
    with pytest.raises(InvalidSystem, match="the barrier of energy 'contact' has none"):
        sx.record(system, sx.Newmark(1e-5), state, [0.0, 1e-3])


def test_through_a_selection_of_nodes_forces_have_the_bits_of_the_contact():
    contact, q = in_contact()
    n = len(q)
    places = np.random.default_rng(0).permutation(n + 3)[:n].astype(np.int32)
    there, moved = np.zeros((n + 3, 3)), 1e-3 * np.random.default_rng(1).standard_normal(q.shape)
    there[places] = q
    wrapped = Selection(places, n + 3).of(in_contact()[0])
    for _ in range(3):  # in a list that is found, with the pairs that are near, and far from both
        forces = np.random.default_rng(2).standard_normal(q.shape)
        out = np.zeros_like(there)
        out[places] = forces
        contact.add_gradient(q, forces)
        wrapped.add_gradient(there, out)
        np.testing.assert_array_equal(out[places], forces)
        assert np.abs(forces).max() > 10.0
        assert wrapped.total(there) == contact.total(q)
        assert wrapped.renewed(there) == contact.renewed(q)
        q, there[places] = q + moved, q + moved
