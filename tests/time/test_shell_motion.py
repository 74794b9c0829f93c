"""Motions of shells: what is conserved, orders, agreement of methods, steps of explicit methods, and frequencies."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import symplex as sx
from reference.surfaces import distorted, sheet, surface
from symplex.contact.bodies import BodyContact
from symplex.contact.obstacles import HalfSpace
from symplex.contact.rigid import RigidContact
from symplex.contact.surfaces import Surface
from symplex.fem.structures.frames import Frames
from symplex.fem.structures.moments import Moment
from symplex.fem.structures.shell import shells
from symplex.meshes.mesh import Mesh


def tumbling(n=3, bent=1.5, triangles=False, properties=None):
    """A free plate that spins, drifts, and is bent by its velocities."""
    mesh = surface(n, n, distorted, triangles)
    built = shells(mesh, properties or sheet(0.03))
    system = sx.System(built.mass, built.energies, frames=built.frames)
    spin = np.array([3.0, 5.0, 2.0])
    v = np.array([0.5, 0.1, -0.2]) + np.cross(spin, mesh.points - [0.5, 0.5, 0.0])
    v[:, 2] += bent * np.sin(np.pi * mesh.points[:, 0])
    return built, system, system.state(built.points, built.frames.velocities(built.points, v, spin))


def changes(system, start, end):
    """The relative changes of energy, momentum and angular momentum."""
    energies = [system.energies_of(state)["total"] for state in (start, end)]
    out = [abs(energies[1] / energies[0] - 1.0)]
    for momentum in (system.momentum, system.angular_momentum):
        out.append(np.linalg.norm(momentum(end) - momentum(start)) / np.linalg.norm(momentum(start)))
    return out


@pytest.mark.parametrize("triangles", [False, True], ids=["quad", "triangle"])
def test_energy_and_both_momenta_are_kept_to_round_off(triangles):
    built, system, start = tumbling(3, 3.0, triangles)
    end = sx.EnergyMomentum(5e-3).start(system, start).advance(0.5)
    energy, momentum, angular = changes(system, start, end)
    assert energy < 1e-12
    assert momentum < 1e-14
    assert angular < 1e-13
    assert built.frames.distortion(end.q) < 1e-12
    assert sum(system.potentials(end.q).values()) > 0.01 * system.energies_of(end)["total"]


@pytest.mark.slow
def test_a_plate_in_flight_for_5000_steps():
    built, system, start = tumbling(4, 3.0)
    end = sx.EnergyMomentum(5e-3).start(system, start).advance(25.0)
    energy, momentum, angular = changes(system, start, end)
    assert energy < 5e-12
    assert momentum < 1e-13
    assert angular < 5e-13
    assert built.frames.distortion(end.q) < 1e-10


def test_the_midpoint_rule_and_rattle_keep_momenta():
    built, system, start = tumbling()
    for method, T in ((sx.Midpoint(2e-3), 0.1), (sx.Rattle(1e-4, {}), 0.05)):
        end = method.start(system, start).advance(T)
        energy, momentum, angular = changes(system, start, end)
        assert 1e-12 < energy < 1e-3
        assert momentum < 1e-13
        assert angular < 1e-13
        assert built.frames.distortion(end.q) < 1e-12


@pytest.mark.parametrize("method", [sx.EnergyMomentum, sx.Midpoint])
def test_implicit_methods_are_of_second_order(method):
    """By RATTLE with a small step, of the same particles: a thick, soft plate, whose frequencies are resolved."""
    _, system, start = tumbling(2, properties=sheet(0.3, 1e5))
    exact = sx.Rattle(5e-5, {}).start(system, start).advance(0.2).q
    errors = [np.abs(method(dt).start(system, start).advance(0.2).q - exact).max() for dt in (4e-3, 2e-3, 1e-3)]
    assert_allclose(np.log2(np.divide(errors[:-1], errors[1:])), 2.0, atol=0.15)


def test_steps_back_lead_to_the_start():
    _, system, start = tumbling()
    method = sx.EnergyMomentum(5e-3)
    end = method.start(system, start).advance(0.2)
    back = method.start(system, end.reversed()).advance(0.4)
    assert np.abs(back.q - start.q).max() < 1e-10


def test_the_energy_is_the_work_of_a_moment_on_a_node():
    """Of a moment with a part about the director, which does nothing."""
    built, _, _ = tumbling(2)
    moment = Moment(built.particles([4]), built.mass, [20.0, 10.0, 30.0], ([0.0, 0.1, 0.2], [0.0, 1.0, 0.0]))
    system = sx.System(built.mass, built.energies, frames=built.frames, loads={"moment": moment})
    motion = sx.EnergyMomentum(5e-3).start(system, system.state(built.points))
    end = motion.advance(0.4)
    energies = motion.energies(end)
    assert energies["work_moment"] > 0.01
    assert abs(energies["balance"]) < 1e-11 * energies["total"]


def supported_plate(n, triangles=False, extent=0.0):
    """A square plate of 1 m and 1 cm on simple supports, hard ones, and its first five frequencies in theory, in Hz."""
    h, E, nu, rho = 0.01, 2e11, 0.3, 8000.0
    mesh = surface(n, n, triangles=triangles)
    built = shells(mesh, sheet(h, E, nu, rho), extent=extent)
    held = np.zeros((len(mesh.points), 6), bool)
    held[:, [0, 1, 5]] = True
    for axis, rotation in ((0, 3), (1, 4)):
        edge = np.abs(mesh.points[:, axis] - 0.5) > 0.5 - 1e-9
        held[edge, 2] = held[edge, rotation] = True
    system = sx.System(built.mass, built.energies, frames=Frames(built.frames.nodes, built.points, held))
    waves = np.sort([i * i + j * j for i in range(1, 5) for j in range(1, 5)])[:5]
    return built, system, 0.5 * np.pi * waves * np.sqrt(E * h**2 / (12.0 * (1.0 - nu**2) * rho))


@pytest.mark.parametrize(
    ("triangles", "n", "within"), [(False, 8, 0.04), (False, 16, 0.011), (True, 8, 0.035), (True, 16, 0.008)]
)
def test_frequencies_of_a_supported_plate(triangles, n, within):
    built, system, exact = supported_plate(n, triangles)
    found = sx.modes.natural_modes(system, system.state(built.points), 5)
    assert_allclose(found.frequencies, exact, rtol=within)
    assert set(found.kinds) == {"vibration"}


def test_all_modes_of_a_small_plate_are_of_motions():
    """None is a rotation about a director; six are rigid, and shapes have the mass 1."""
    built, system, _ = tumbling(1)
    found = sx.modes.natural_modes(system, system.state(built.points), 20)
    assert sum(kind not in ("vibration", "mechanism") for kind in found.kinds) == 6
    assert "mechanism" not in found.kinds
    sizes = np.einsum("n,kni,kni->k", built.mass, found.shapes, found.shapes)
    assert_allclose(sizes, 1.0)


def test_explicit_steps_do_not_fall_with_the_thickness_where_particles_are_apart():
    """RATTLE with steps of 40 μs: not stable with h = 1 mm and exact rotary inertia, which needs 1 μs."""
    energies = []
    for extent in (0.0, 0.3):
        mesh = surface(4, 4)
        built = shells(mesh, sheet(1e-3, 2e11, 0.3, 8000.0), extent=extent)
        system = sx.System(built.mass, built.energies, frames=built.frames)
        v = np.outer(np.sin(np.pi * mesh.points[:, 0]), [0.0, 0.0, 0.1])
        start = system.state(built.points, built.frames.velocities(built.points, v, 0.0))
        try:
            end = sx.Rattle(2e-5, {}).start(system, start).advance(4e-3)
        except sx.SymplexError:
            energies.append(np.inf)
        else:
            energies.append(system.energies_of(end)["total"] / system.energies_of(start)["total"])
    assert not 0.5 < energies[0] < 2.0
    assert_allclose(energies[1], 1.0, atol=1e-2)


def test_a_plate_that_falls_on_a_floor_keeps_its_energy():
    """By its skin, one corner first: the contact is on the lower side, and both momenta across it are those before."""
    mesh = surface(3, 3, lambda x, y: np.stack([x, y, 0.3 * x + 0.2 * y], axis=1))
    built = shells(mesh, sheet(0.05, 1e6))
    skin = sx.fem.Interpolation(built.skin()[0])
    x = skin.points(built.points)
    floor = HalfSpace((0.0, 0.0, x[:, 2].min() - 0.05), (0.0, 0.0, 1.0))
    contact = skin.of(RigidContact(np.arange(len(x)), floor, 1e5))
    system = sx.System(built.mass, built.energies | {"floor": contact}, frames=built.frames)
    start = system.state(built.points, np.tile([0.3, 0.0, -2.0], (len(built.points), 1)))
    motion = sx.EnergyMomentum(2e-3).start(system, start)
    acting = [system.potentials(motion.advance(t).q)["floor"] for t in np.arange(0.01, 0.3, 0.01)]
    end = motion.advance(0.4)
    energies = [system.energies_of(state)["total"] for state in (start, end)]
    assert max(acting) > 0.05 * energies[0]
    assert abs(energies[1] / energies[0] - 1.0) < 1e-11
    assert_allclose(system.momentum(end)[:2], system.momentum(start)[:2], rtol=1e-11, atol=1e-11)
    assert system.momentum(end)[2] > 0.0


def test_two_plates_that_collide_keep_energy_and_both_momenta():
    """By contact between the skins of both, which are parts of one mesh."""
    below, above = surface(3, 3), surface(3, 3, falling)
    quads = np.concatenate([below.cells["quad"], above.cells["quad"] + 16])
    built = shells(Mesh(np.concatenate([below.points, above.points]), {"quad": quads}), sheet(0.05, 1e6))
    weights, faces = built.skin()
    skin = sx.fem.Interpolation(weights)
    x, of_second = skin.points(built.points), (faces >= 32).all(axis=1)
    bodies = [Surface.from_triangles(x, faces[some], name) for name, some in (("a", ~of_second), ("b", of_second))]
    contact = skin.of(BodyContact(Surface.join(bodies), 1e6, distance=0.02))
    system = sx.System(built.mass, built.energies | {"contact": contact}, frames=built.frames)
    start = system.state(built.points, np.where(np.arange(64)[:, None] < 32, 0.0, [0.0, 0.0, -1.0]))
    motion = sx.EnergyMomentum(2e-3).start(system, start)
    acting = [system.potentials(motion.advance(t).q)["contact"] for t in np.arange(0.01, 0.21, 0.01)]
    energy, momentum, angular = changes(system, start, motion.advance(0.2))
    assert max(acting) > 0.01 * system.energies_of(start)["total"]
    assert energy < 1e-12
    assert momentum < 1e-14
    assert angular < 1e-14


def falling(x, y):
    """An inclined square above the plane."""
    return np.stack([0.3 + 0.6 * x, 0.2 + 0.5 * y + 0.2 * x, 0.15 + 0.25 * x + 0.1 * y], axis=1)
