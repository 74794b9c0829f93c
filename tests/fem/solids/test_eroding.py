"""Elements that go: what they stored is counted, momenta do not change, contact follows, runs resume."""

import numpy as np
import pytest

from symplex.contact.bodies import BodyContact
from symplex.contact.exposed import ExposedSurface
from symplex.contact.surfaces import Surface
from symplex.errors import InvalidSystem, StepFailed
from symplex.fem.actions.mass import lumped_mass
from symplex.fem.outputs.solid_fields import SolidFields
from symplex.fem.solids.eroding import Eroding
from symplex.fem.solids.hardening import Hardening
from symplex.fem.solids.materials import NeoHookean
from symplex.fem.solids.plastic import Plastic
from symplex.fem.solids.solid import Solid
from symplex.fem.system import System
from symplex.meshes.generate import box
from symplex.meshes.mesh import Mesh
from symplex.time.conserving.energy_momentum import EnergyMomentum
from symplex.time.equilibria.quasi_static import Static
from symplex.time.explicit.newmark import Newmark
from symplex.time.implicit.midpoint import Midpoint

ALUMINIUM = NeoHookean.from_young(E=70e9, nu=0.33, density=2700.0)
STEEL = NeoHookean.from_young(E=200e9, nu=0.3, density=7800.0)
LINE = Hardening(2.5e8, modulus=2e8)
EPS = np.finfo(float).eps


def plate_and_shot(limit=0.15, formulation="mean-dilatation", hardening=LINE):
    """A plate of 4 × 4 × 2 elements, and a shot of one that flies at it."""
    plate, shot = (
        box((0.02, 0.02, 0.004), (4, 4, 2), split="hexahedra"),
        box((0.006, 0.006, 0.009), (1, 1, 1), split="hexahedra"),
    )
    points = np.concatenate([plate.points, np.add(shot.points, (0.0065, 0.0075, 0.0043))])
    of_plate, of_shot = plate.cells["hexahedron"], shot.cells["hexahedron"] + len(plate.points)
    solid = Solid(points, of_plate, ALUMINIUM, formulation=formulation)
    part = Eroding(Plastic(solid, hardening), limit)
    body = Mesh(points, {"hexahedron": of_shot}, {"shot": {"hexahedron": np.arange(len(of_shot), dtype=np.int32)}})
    exposed = ExposedSurface(points, {"plate": {"plate": part}, "shot": Surface.of(body, "shot")})
    contact = BodyContact.from_materials(exposed.surface(), [ALUMINIUM, STEEL], speed=500.0)
    contact.exposes(exposed)
    n = len(points)
    mass = lumped_mass(points, of_plate, 2700.0, n) + lumped_mass(points, of_shot, 7800.0, n)
    system = System(mass, {"shot": Solid(points, of_shot, STEEL), "contact": contact}, inelastic={"plate": part})
    v = np.zeros_like(points)
    v[len(plate.points) :, 2] = -500.0
    return system, system.state(points, v)


def test_a_shot_erodes_a_plate_with_all_energy_and_momenta_counted():
    system, state = plate_and_shot()
    part, contact = system.inelastic["plate"], system.energies["contact"]
    vertices = len(contact.surface.vertices)
    motion = EnergyMomentum(1e-7).start(system, state)
    start, steps = motion.energies(state), 40
    end = motion.advance(steps * 1e-7)
    found, shown = motion.energies(end), system.observed(end, motion.gradient)
    gone = part.gone(end.internal["plate"])
    assert 2 <= gone.sum() == shown["elements_gone_plate"] < len(gone)
    assert shown["eroded_plate"] > 1e-4 * start["total"]
    # some ten roundings of energies in each of the steps
    assert abs(found["balance"] - start["total"]) <= 100 * EPS * steps * start["total"]
    scale = np.abs(system.mass[:, None] * state.v).sum()
    assert np.abs(system.momentum(end) - system.momentum(state)).max() <= 100 * EPS * steps * scale
    turns = system.angular_momentum(end) - system.angular_momentum(state)
    assert np.abs(turns).max() <= 100 * EPS * steps * scale * 0.03
    # Contact has the faces of the elements that are there, and no others.
    left = part.nodes[~gone]
    mesh = Mesh(part.solid.points, {"hexahedron": left})
    nodes = np.unique(np.concatenate([rows.ravel() for rows in mesh.boundary_faces.values()]))
    of_plate = contact.surface.vertices[contact.surface.vertex_bodies == contact.surface.names.index("plate")]
    assert np.array_equal(of_plate, nodes)
    assert len(contact.surface.vertices) != vertices
    # Fields of what is gone are zero.
    fields = SolidFields(system)
    assert np.abs(fields.of_elements("von_mises", end, "plate")[gone]).max() == 0.0
    assert fields.of_elements("plastic_strain", end, "plate")[gone].min() >= part.failure_strain
    assert np.isfinite(fields.at_nodes("stress", end)).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("formulation", "hardening"),
    [
        ("stabilized", LINE),
        ("mean-dilatation", LINE.with_rate(1.0, factor=0.02).with_heating(900.0).with_softening(900.0)),
        ("mean-dilatation", LINE.with_back_stress(1e9, 5.0)),
    ],
)
def test_energy_is_counted_whatever_the_metal_and_its_elements(formulation, hardening):
    system, state = plate_and_shot(0.15, formulation, hardening)
    motion = EnergyMomentum(1e-7).start(system, state)
    start = motion.energies(state)["total"]
    end = motion.advance(40e-7)
    assert system.observed(end, motion.gradient)["elements_gone_plate"] >= 2
    assert abs(motion.energies(end)["balance"] - start) <= 100 * EPS * 40 * start
    assert np.isfinite(SolidFields(system).of_elements("energy_density", end, "plate")).all()


@pytest.mark.parametrize("method", [EnergyMomentum(1e-7), Midpoint(1e-7), Newmark(4e-9)])
def test_a_motion_with_erosion_resumes_to_the_last_bit(method):
    system, state = plate_and_shot(0.1)
    motion = method.start(system, state)
    part = system.inelastic["plate"]
    t, between, last = (k * 2e-7 for k in (9, 10, 14))
    assert part.gone(motion.advance(t).internal["plate"]).any()
    checkpoint = motion.checkpoint()
    other, _ = plate_and_shot(0.1)
    resumed = method.resume(other, checkpoint)
    for at in (between, last):
        end, again = motion.advance(at), resumed.advance(at)
        assert np.array_equal(end.q, again.q)
        assert np.array_equal(end.internal["plate"], again.internal["plate"])
        assert motion.energies(end) == resumed.energies(again)


def test_the_energy_of_an_element_is_lost_as_it_goes():
    mesh = box((1.0, 1.0, 2.0), (1, 1, 2), split="hexahedra")
    X, cells = mesh.points, mesh.cells["hexahedron"]
    inner = Plastic(Solid(X, cells, ALUMINIUM, formulation="mean-dilatation"), Hardening(2.5e8, modulus=2e8))
    part = Eroding(inner, 0.05)
    q = X.copy()
    q[X[:, 2] > 1.5, 2] += 0.1  # the upper element alone flows beyond the limit
    z0 = part.unstrained()
    z1, lost = part.after(X, z0, q, 1.0)
    whole, flowed = inner.after(X, inner.unstrained(), q, 1.0)
    upper = (X[cells][:, :, 2] > 1.5).any(axis=1)
    assert np.array_equal(part.gone(z1), upper)
    energy = inner.energies(q, whole)[upper].sum()
    assert lost == pytest.approx(flowed + energy, rel=1e-12)
    assert part.eroded(z1) == pytest.approx(energy, rel=1e-12)
    assert part.stored(q, z1) == pytest.approx(inner.stored(q, whole) - energy, rel=1e-12)
    work = np.sum(part.mean_force(X, z0, q, 1.0) * (q - X))
    assert -work == pytest.approx(part.stored(q, z1) + lost, rel=1e-12)
    # It has no forces any more, wherever its nodes go; the other one has its own.
    away = q.copy()
    away[X[:, 2] > 1.5] = 0.0
    f = part.force(q, z1, away, 1.0)
    assert np.abs(f[X[:, 2] > 1.5]).max() == 0.0
    assert np.abs(part.force(q, z1, X, 1.0) - Eroding(inner, 9.0).force(q, z1, X, 1.0)).max() <= 1e-12 * 2.5e8


def test_bodies_may_go_altogether():
    mesh = box((1.0, 1.0, 1.0), (1, 1, 1), split="hexahedra")
    X, cells = mesh.points, mesh.cells["hexahedron"]
    part = Eroding(Plastic(Solid(X, cells, ALUMINIUM, formulation="mean-dilatation"), Hardening(2.5e8)), 0.01)
    z, lost = part.after(X, part.unstrained(), X * [1.0, 1.0, 1.2], 1.0)
    assert part.gone(z).all()
    assert lost > 0.0
    assert part.stored(0.0 * X, z) == 0.0
    assert not part.force(X, z, 0.0 * X, 1.0).any()
    assert part.after(X, z, 0.0 * X, 1.0)[1] == 0.0
    assert not part.cauchy(0.0 * X, z).any()
    with pytest.raises(StepFailed, match="has lost all of its elements"):
        ExposedSurface(X, {"block": {"block": part}}).surface({"block": z})


def test_statics_refuse_erosion():
    mesh = box((1.0, 1.0, 1.0), (1, 1, 1), split="hexahedra")
    X, cells = mesh.points, mesh.cells["hexahedron"]
    part = Eroding(Plastic(Solid(X, cells, ALUMINIUM, formulation="mean-dilatation"), Hardening(2.5e8)), 0.01)
    system = System(np.ones(8), {}, inelastic={"block": part})
    with pytest.raises(InvalidSystem, match="static equilibria cannot follow elements that go"):
        Static(0.1).start(system, system.state(X, np.zeros_like(X)))
