"""Elements that go: what they stored is counted, momenta do not change, contact follows, runs resume."""

import numpy as np
import pytest
from scipy.optimize import brentq

from symplex.contact.bodies import BodyContact
from symplex.contact.exposed import ExposedSurface
from symplex.contact.surfaces import Surface
from symplex.errors import InvalidSystem, StepFailed
from symplex.fem.actions.mass import lumped_mass
from symplex.fem.outputs.solid_fields import SolidFields
from symplex.fem.solids.eroding import Eroding, JohnsonCookFailure
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


def plate_and_shot(limit=0.15, formulation="mean-dilatation", hardening=LINE, **criteria):
    """A plate of 4 × 4 × 2 elements, and a shot of one that flies at it."""
    plate, shot = (
        box((0.02, 0.02, 0.004), (4, 4, 2), split="hexahedra"),
        box((0.006, 0.006, 0.009), (1, 1, 1), split="hexahedra"),
    )
    points = np.concatenate([plate.points, np.add(shot.points, (0.0065, 0.0075, 0.0043))])
    of_plate, of_shot = plate.cells["hexahedron"], shot.cells["hexahedron"] + len(plate.points)
    solid = Solid(points, of_plate, ALUMINIUM, formulation=formulation)
    part = Eroding(Plastic(solid, hardening), limit, **criteria)
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


JOHNSON_COOK = JohnsonCookFailure(0.05, 0.3, -1.5, 0.01)
CRITERIA = {
    "principal_stress": 1.5e9,
    "tension": 1.4e9,
    "time_step": 1.85e-7,
    "johnson_cook": JOHNSON_COOK,
}


@pytest.mark.parametrize("name", CRITERIA)
def test_energy_is_counted_by_whatever_criterion_elements_go(name):
    system, state = plate_and_shot(None, **{name: CRITERIA[name]})
    part, motion = system.inelastic["plate"], EnergyMomentum(1e-7).start(system, state)
    start = motion.energies(state)["total"]
    end = motion.advance(30e-7)
    gone = part.gone(end.internal["plate"])
    assert 1 <= gone.sum() < len(gone)
    assert abs(motion.energies(end)["balance"] - start) <= 100 * EPS * 30 * start
    damage = part.damage(end.internal["plate"])
    if name == "johnson_cook":
        assert np.array_equal(damage == 1.0, gone)
        assert 0.0 < damage[~gone].max() < 1.0
    else:
        assert damage is None


def pulled(part, stretches, h=1e-4):
    """One element that is pulled without contraction; the stretch and its state when it goes."""
    X = part.solid.points
    q, z = X, part.unstrained()
    for stretch in stretches:
        q1 = X * [1.0, 1.0, stretch]
        z, _ = part.after(q, z, q1, h)
        q = q1
        if part.gone(z).all():
            return stretch, q, z
    raise AssertionError("the element did not go")


def one_element(hardening=LINE, **criteria):
    mesh = box((1.0, 1.0, 1.0), (1, 1, 1), split="hexahedra")
    solid = Solid(mesh.points, mesh.cells["hexahedron"], ALUMINIUM, formulation="mean-dilatation")
    return Eroding(Plastic(solid, hardening), **criteria)


def test_elements_go_at_the_stress_that_is_given():
    stretches = 1.0 + 1e-4 * np.arange(1, 200)
    for name in ("principal_stress", "tension"):
        part = one_element(**{name: 1e9})
        stretch, q, z = pulled(part, stretches)
        inner = part.part

        def stress(s, inner=inner, name=name):
            q = inner.solid.points * [1.0, 1.0, s]
            sigma = inner.cauchy(q, inner.after(inner.solid.points, inner.unstrained(), q, 1.0)[0])[0]
            return sigma[2, 2] if name == "principal_stress" else np.trace(sigma) / 3.0

        assert stress(stretch) >= 1e9 > stress(stretch - 1e-4)  # one direction: of any number of increments
        assert part.eroded(z) == pytest.approx(inner.energies(q, z[..., :-2])[0], rel=1e-12)


def test_elements_go_at_the_time_step_that_is_given():
    part = one_element(time_step=4e-5)
    stretch, _, _ = pulled(part, 1.0 - 1e-3 * np.arange(1, 900))
    X = part.solid.points
    found, before = (
        2.0 / (ALUMINIUM.wave_speed * np.sqrt(8.0 * part.part.steepnesses(X * [1.0, 1.0, s])[0]))
        for s in (stretch, stretch + 1e-3)
    )
    assert found < 4e-5 <= before


def test_damage_of_johnson_and_cook_is_the_integral_over_the_strain():
    """Uniaxial tension: σm/σ = 1/3, αf = (d1 + d2 e^(d3/3)) (1 + d4 ln rate)(1 + d5 Θ), at a constant rate."""
    law = Hardening(2.5e8).with_heating(900.0).with_softening(900.0)
    part, h = one_element(law, johnson_cook=JohnsonCookFailure(0.05, 0.3, -1.5, 0.01, 0.5)), 1e-4
    X = part.solid.points
    q, z, alpha, damage = X, part.unstrained(), 0.0, 0.0
    for stretch in np.exp(np.linspace(0.0, 0.3, 151)[1:]):

        def across(w, stretch=stretch, q=q, z=z):
            q1 = X * [w, w, stretch]
            return part.part.cauchy(q1, part.part.after(q, z[..., :-3], q1, h)[0])[0, 0, 0]

        w = brentq(across, 0.9 / np.sqrt(stretch), 1.1 / np.sqrt(stretch), xtol=1e-14)
        q1 = X * [w, w, stretch]
        z, _ = part.after(q, z, q1, h)
        q = q1
        change, alpha = z[0, 0, 6] - alpha, z[0, 0, 6]
        theta = (z[0, 0, 7] - 293.15) / (900.0 - 293.15)
        rate = max(change / h, 1.0)
        damage += change / ((0.05 + 0.3 * np.exp(-0.5)) * (1.0 + 0.01 * np.log(rate)) * (1.0 + 0.5 * theta))
        assert part.damage(z)[0] == pytest.approx(min(damage, 1.0), rel=1e-9)
        if part.gone(z).all():
            break
    assert damage >= 1.0 > damage - 0.02


def test_what_criteria_ask_for_is_refused():
    with pytest.raises(InvalidSystem, match="no criterion is given, one of failure_strain"):
        one_element()
    with pytest.raises(InvalidSystem, match="d5 needs a melting temperature"):
        one_element(johnson_cook=JohnsonCookFailure(0.1, d5=0.5))


def test_explicit_steps_follow_elements_that_are_crushed_until_they_go():
    part = one_element(time_step=5e-5)
    X = part.solid.points
    system = System(np.full(8, 2700.0 / 8), {}, fixed=np.repeat(X[:, 2:] == 0.0, 3, axis=1), inelastic={"plate": part})
    motion = Newmark("auto").fit(system, system.state(X, X * [0.0, 0.0, -800.0]), 2e-3)
    motion = motion.start(system, system.state(X, X * [0.0, 0.0, -800.0]))
    most, start = 1.0, motion.energies(system.state(X, X * [0.0, 0.0, -800.0]))["total"]
    for k in range(12):
        end = motion.advance((k + 1) * motion.dt)
        most = max(most, motion.checkpoint()["limit"][2])
    assert part.gone(end.internal["plate"]).all()
    assert most >= 2.0
    assert motion.energies(end)["balance"] == pytest.approx(start, rel=0.2)  # a dozen steps near the limit


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
        ExposedSurface(X, {"block": {"block": part}}).surface({"block": part.gone(z)})


def test_statics_refuse_erosion():
    mesh = box((1.0, 1.0, 1.0), (1, 1, 1), split="hexahedra")
    X, cells = mesh.points, mesh.cells["hexahedron"]
    part = Eroding(Plastic(Solid(X, cells, ALUMINIUM, formulation="mean-dilatation"), Hardening(2.5e8)), 0.01)
    system = System(np.ones(8), {}, inelastic={"block": part})
    with pytest.raises(InvalidSystem, match="static equilibria cannot follow elements that go"):
        Static(0.1).start(system, system.state(X, np.zeros_like(X)))
