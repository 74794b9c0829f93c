"""Consistent masses of beams and shells: frequencies, what is conserved, what is refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import symplex as sx
from reference.lines import line, straight
from symplex.errors import InvalidSystem
from symplex.fem.structures import Frames, Joint, Section, ShellProperties, beams, shells
from symplex.meshes.mesh import Mesh

STEEL = sx.NeoHookean.from_young(2.1e11, 0.3, 7850.0)
SLENDER = Section.rectangle(0.02, 0.03).of(STEEL)
EPS = np.finfo(float).eps
UP = (0.0, 0.0, 1.0)


def frequencies(n, consistent):
    built = beams(straight(n, 2.0), SLENDER, UP)
    mass = built.consistent_mass if consistent else built.mass
    system = sx.System(mass, {"beam": built.energy}, frames=built.frames, fixed=built.fixed([0]))
    return sx.modes.natural_modes(system, system.state(built.points), 4).frequencies


def test_frequencies_of_a_cantilever_converge_by_the_fourth_order_and_by_the_second_with_lumped_masses():
    """First and second mode in both planes, against 64 elements; Timoshenko's beam is between both theories."""
    exact = frequencies(64, consistent=True)
    for consistent, orders, largest in ((True, (3.5, 4.3), 4e-6), (False, (1.8, 2.2), 8e-3)):
        coarse, fine = (np.abs(frequencies(n, consistent) / exact - 1.0) for n in (4, 8))
        found = np.log2(coarse / fine)
        assert (found > orders[0]).all()
        assert (found < orders[1]).all()
        assert fine[0] < largest
    EI, mass = 2.1e11 * 0.03 * 0.02**3 / 12.0, 7850.0 * 0.02 * 0.03
    assert exact[0] == pytest.approx(1.8751040687**2 * np.sqrt(EI / mass) / 4.0 / (2.0 * np.pi), rel=2e-4)


def helix(n=6):
    s = np.linspace(0.0, 1.0, n + 1)[:, None]
    built = beams(line(np.hstack([2.0 * s, 0.4 * np.sin(2.0 * s), 0.3 * s**2])), SLENDER, UP)
    return built, {"beam": built.energy}, [0]


def folded(angle=1.2):
    """Two strips of quadrilaterals, folded along y or, with a small angle, smooth."""
    across = np.linspace(0.0, 0.5, 3)
    x = np.concatenate([across, 0.5 + np.cos(angle) * across[1:]])
    z = np.concatenate([0.0 * across, np.sin(angle) * across[1:]])
    y = np.linspace(0.0, 0.6, 3)
    points = np.array([[x[i], y[j], z[i]] for i in range(5) for j in range(3)])
    node = np.arange(15, dtype=np.int32).reshape(5, 3)
    quads = np.stack([node[:-1, :-1], node[1:, :-1], node[1:, 1:], node[:-1, 1:]], axis=-1).reshape(-1, 4)
    built = shells(Mesh(points, {"quad": quads}), ShellProperties.uniform(0.01, STEEL))
    return built, dict(built.energies), np.flatnonzero(points[:, 0] == 0.0)


BODIES = {"beam": helix, "fold": folded, "plate": lambda: folded(0.1)}


def flying(built, energies):
    c = built.frames.centers(built.points)
    omega, x = np.array([3.0, 20.0, 5.0]), c[:, :1] - c[:, 0].mean()
    bent = 20.0 * np.hstack([0.0 * x, x**2, 0.7 * x**2])
    v = built.frames.velocities(built.points, np.cross(omega, c) + bent, omega)
    system = sx.System(built.consistent_mass, energies, frames=built.frames)
    return system, system.state(built.points, v)


@pytest.mark.parametrize("name", BODIES)
def test_mass_and_inertia_are_those_of_lumped_masses_but_for_the_mesh(name):
    built, _, _ = BODIES[name]()
    M = built.consistent_mass
    assert M.sum() == pytest.approx(built.mass.sum(), rel=1e-12)
    assert np.linalg.eigvalsh(M.toarray())[0] > 0.0
    rest = built.points.T @ (M @ built.points)
    assert_allclose(rest, np.einsum("n,ni,nj->ij", built.mass, built.points, built.points), atol=0.1 * np.trace(rest))


@pytest.mark.parametrize("name", BODIES)
def test_energy_and_momenta_are_conserved(name):
    built, energies, _ = BODIES[name]()
    system, start = flying(built, energies)
    dt, steps = 2e-4, 60
    end = sx.EnergyMomentum(dt).start(system, start).advance(dt * steps)
    before, after = (system.energies_of(state)["total"] for state in (start, end))
    assert abs(after - before) <= 100 * EPS * steps * before
    scale = np.abs(system.apply_mass(start.v)).sum()
    for of in (system.momentum, system.angular_momentum):
        assert np.abs(of(end) - of(start)).max() <= 100 * EPS * steps * scale
    assert built.frames.distortion(end.q) < 1e-11


SLOW = pytest.param(sx.GeneralizedAlpha, marks=pytest.mark.slow)


@pytest.mark.parametrize("method", [sx.EnergyMomentum, sx.Midpoint, SLOW])
def test_methods_are_of_second_order(method):
    built, energies, _ = helix(3)
    system, start = flying(built, energies)
    ends = [method(dt).start(system, start).advance(4e-3).q for dt in (2e-5, 1e-5, 5e-6)]
    coarse, fine = (np.abs(ends[k] - ends[k + 1]).max() for k in range(2))
    assert np.log2(coarse / fine) == pytest.approx(2.0, abs=0.3)


@pytest.mark.parametrize("name", BODIES)
def test_free_fall_leaves_no_stress(name):
    built, energies, _ = BODIES[name]()
    gravity = sx.Gravity(built.consistent_mass, (0.0, 0.0, -9.81))
    system = sx.System(built.consistent_mass, {**energies, "weight": gravity}, frames=built.frames)
    start = system.state(built.points)
    assert_allclose(start.a, np.tile([0.0, 0.0, -9.81], (len(built.points), 1)), atol=1e-5)
    end = sx.EnergyMomentum(1e-3).start(system, start).advance(0.05)
    assert_allclose(end.q - built.points, np.tile([0.0, 0.0, -0.5 * 9.81 * 0.05**2], (len(end.q), 1)), atol=1e-9)


def test_a_supported_plate_has_its_frequencies_from_above():
    """Consistent masses are too high where lumped ones are too low, of the same order."""
    n, size, h = 8, 1.0, 0.01
    x, y = (grid.ravel() for grid in np.meshgrid(*2 * [np.linspace(0.0, size, n + 1)], indexing="ij"))
    node = np.arange((n + 1) ** 2, dtype=np.int32).reshape(n + 1, n + 1)
    quads = np.stack([node[:-1, :-1], node[1:, :-1], node[1:, 1:], node[:-1, 1:]], axis=-1).reshape(-1, 4)
    built = shells(Mesh(np.column_stack([x, y, 0.0 * x]), {"quad": quads}), ShellProperties.uniform(h, STEEL))
    edge = (x == 0.0) | (x == size) | (y == 0.0) | (y == size)
    held = np.zeros((len(x), 6), bool)
    held[edge, :3] = True
    held[(x == 0.0) | (x == size), 3] = held[(y == 0.0) | (y == size), 4] = True
    frames = Frames(built.frames.nodes, built.points, held)
    thin = np.sqrt(2.1e11 * h**2 / (12.0 * (1.0 - 0.3**2) * 7850.0)) * np.pi * 0.5 * np.array([2.0, 5.0, 5.0, 8.0])
    found = []
    for mass in (built.mass, built.consistent_mass):
        system = sx.System(mass, dict(built.energies), frames=frames)
        found.append(sx.modes.natural_modes(system, system.state(built.points), 4).frequencies / thin)
    lumped, consistent = found
    assert (consistent > lumped).all()
    assert_allclose(consistent, 1.0, atol=0.075)
    assert consistent[0] > 1.0


def test_what_cannot_take_them_says_so():
    built, energies, _ = helix(2)
    system, start = flying(built, energies)
    with pytest.raises(InvalidSystem, match="needs a lumped"):
        sx.Rattle(1e-6, {}).start(system, start)
    joint = Joint("spherical", (built.particles([0])[0], None), built.points, at=[0.0, 0.0, 0.0])
    with pytest.raises(InvalidSystem, match="joints must be of frames with lumped masses"):
        sx.System(built.consistent_mass, energies, frames=built.frames, joints={"pin": joint})
