"""Frequencies of solid beams and plates: closed forms of beams, at rest, stretched, rotating; NAFEMS benchmarks."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigh

import symplex as sx
from symplex.fem.actions.loads import SurfaceTraction
from symplex.testing import round_off

SLENDER = 0.01  # height over length
YOUNG, DENSITY = 70e9, 2700.0


def block(size, cells, material, held=None, formulation=None, shape=None, mass=sx.consistent_mass):
    """A block of hexahedra of 20 nodes, from the origin; ``held(x)`` shows fixed coordinates [n, 3]."""
    mesh = sx.meshes.quadratic(sx.box(size, cells, split="hexahedra"))
    points = mesh.points if shape is None else shape(mesh.points)
    solid = sx.Solid(points, mesh.cells["hexahedron20"], material, formulation=formulation)
    fixed = None if held is None else held(points)
    m = mass(points, mesh.cells["hexahedron20"], material.density, len(points))
    return mesh, sx.System(m, {"block": solid}, fixed=fixed), points


def beam(held, cells=32):
    """Along x, 1 m by 1 cm by 1 cm, ν = 0, with its axis on that of x."""
    material = sx.SaintVenantKirchhoff.from_young(YOUNG, 0.0, DENSITY)
    size = (1.0, SLENDER, SLENDER)
    return block(size, (cells, 1, 1), material, held, shape=lambda x: x - [0.0, SLENDER / 2, SLENDER / 2])


# √(EI/ρA) in m²/s
WAVE = np.sqrt(YOUNG / DENSITY * SLENDER**2 / 12.0)


def clamped(x):
    return np.repeat(x[:, :1] == 0.0, 3, axis=1)


def pinned(x):
    """On the axis of the ends, free to turn about y; free to move along x at one of them."""
    ends, axis = (x[:, 0] == 0.0) | (x[:, 0] == 1.0), np.abs(x[:, 2]) < 1e-9
    return np.column_stack([(x[:, 0] == 0.0) & axis, np.abs(x[:, 1]) < 1.0, ends & axis])


def test_cantilever():
    """Slender: βL = 1.8751041, 4.6940911, 7.8547574; each twice, as the section is a square."""
    _, system, points = beam(clamped)
    found = sx.modes.natural_modes(system, system.state(points), 6)
    exact = np.array([1.8751041, 4.6940911, 7.8547574]) ** 2 * WAVE
    np.testing.assert_allclose(found.angular[::2], exact, rtol=2.5e-3)  # shear: 2.1e-3 in the third
    # Bars of three nodes with a consistent mass have ω up to √60 c/h, cubes √3 times that. There is no margin: factors
    # of a stiffness are far better than their bound.
    largest = np.sqrt(180.0 * YOUNG / DENSITY) / SLENDER
    known_to = round_off.of_frequencies(exact, largest) / round_off.MARGIN
    np.testing.assert_array_less(np.abs(found.angular[::2] - found.angular[1::2]), known_to)
    np.testing.assert_allclose(found.angular[:2], exact[0], rtol=2e-4)
    # The effective masses of the first two modes of a cantilever are 61.3 % and 18.8 % of its mass.
    parts = found.effective_masses[:, 1:3].reshape(3, 2, 2).sum(axis=1) / found.total[0]
    np.testing.assert_allclose(parts[:2], [[0.6131, 0.6131], [0.1883, 0.1883]], atol=2e-4)


def test_free_beam():
    """βL = 4.7300407, 7.8532046, after six rigid motions."""
    _, system, points = beam(None)
    found = sx.modes.natural_modes(system, system.state(points), 10)
    assert found.kinds[:6] == [f"{what} {axis}" for what in ("translation along", "rotation about") for axis in "xyz"]
    exact = np.array([4.7300407, 7.8532046]) ** 2 * WAVE
    np.testing.assert_allclose(found.angular[6:10:2], exact, rtol=2e-3)
    np.testing.assert_allclose(found.effective_masses[:6], np.diag(found.total), atol=1e-9 * found.total.max())


@pytest.mark.parametrize("part", [3.0, -0.5, -0.99])
def test_beam_under_axial_load(part):
    """ω² = ω0² (1 + T/P), P = π² EI/L² the load of Euler: a tension stiffens, and at −P nothing is left."""
    mesh, system, points = beam(pinned)
    state = system.state(points)
    free = sx.modes.natural_modes(system, state, 1).angular[0]
    assert free == pytest.approx(np.pi**2 * WAVE, rel=3e-4)
    tension = part * np.pi**2 * YOUNG * SLENDER**4 / 12.0
    traction = SurfaceTraction(points, mesh.faces_of("x_max"), (tension / SLENDER**2, 0.0, 0.0))
    pulled = sx.System(
        system.mass,
        {**system.energies, "pull": sx.actions.NodalForce(traction.nodes, traction.forces)},
        fixed=system.fixed,
    )
    at = sx.equilibria.static_equilibrium(pulled, points).state
    loaded = sx.modes.natural_modes(pulled, at, 1).angular[0]
    assert (loaded / free) ** 2 == pytest.approx(1.0 + part, abs=2e-3 * abs(part))


def flap_of_a_beam(speed):
    """The first ω of w⁗ − (T w′)′ = ω² w, T = ½ Ω² (1 − x²), clamped at 0 and free at 1: by Galerkin's method.

    With x² times Legendre polynomials; eight of them give ten digits.
    """
    from numpy.polynomial import Polynomial
    from numpy.polynomial.legendre import Legendre

    shapes = [Polynomial([0, 0, 1]) * Legendre.basis(k, [0, 1]).convert(kind=Polynomial) for k in range(8)]
    tension = Polynomial([0.5 * speed**2, 0, -0.5 * speed**2])

    def integral(product):
        return product.integ()(1.0) - product.integ()(0.0)

    K = [
        [integral(a.deriv(2) * b.deriv(2)) + integral(tension * a.deriv() * b.deriv()) for b in shapes] for a in shapes
    ]
    M = [[integral(a * b) for b in shapes] for a in shapes]
    return np.sqrt(eigh(K, M, eigvals_only=True)[0])


@pytest.mark.parametrize(("speed", "flap"), [(1.0, 3.681647), (3.0, 4.797279), (6.0, 7.360373)])
def test_rotating_beam(speed, flap):
    """First flap and lag of a rotating cantilever by Ω √(ρA/EI) L², against the equation of the beam.

    The first lag, in the plane of rotation, has ω² = ω_flap² − Ω².
    """
    assert flap_of_a_beam(speed) == pytest.approx(flap, abs=1e-6)
    _, system, points = beam(clamped)
    omega = speed * WAVE
    frame = sx.modes.rotating_frame(system, (0.0, 0.0, omega))
    at = sx.equilibria.static_equilibrium(frame, points).state
    found = sx.modes.complex_modes(frame, at, 2)
    lag = np.sqrt(flap**2 - speed**2)
    np.testing.assert_allclose(found.eigenvalues.imag / WAVE, [lag, flap], rtol=6e-4)
    moved = np.abs(found.shapes).max(axis=1)
    assert np.argmax(moved, axis=1).tolist() == [1, 2]


def test_southwell():
    """ω² = ω0² + 1.19 Ω² of the first flap of a slowly rotating beam."""
    _, system, points = beam(clamped, cells=16)
    squares = []
    for speed in (0.0, 0.5):
        frame = sx.modes.rotating_frame(system, (0.0, 0.0, speed * WAVE))
        at = sx.equilibria.static_equilibrium(frame, points).state
        squares.append((sx.modes.natural_modes(frame, at, 2).angular[1] / WAVE) ** 2)
    assert (squares[1] - squares[0]) / 0.25 == pytest.approx(1.193, abs=2e-3)


STEEL = sx.LinearElastic.from_young(200e9, 0.3, 8000.0)


def test_nafems_fv52():
    """Thick plate, 10 × 10 × 1, w = 0 on the four lower edges: 4 × 4 × 1 elements of 20 nodes, as codes have them."""

    def held(x):
        out = np.zeros(x.shape, bool)
        rim = (np.abs(x[:, :2] - 5.0) > 4.999).any(axis=1)
        out[:, 2] = rim & (x[:, 2] == 0.0)
        return out

    _, system, points = block((10.0, 10.0, 1.0), (4, 4, 1), STEEL, held)
    found = sx.modes.natural_modes(system, system.state(points), 10)
    assert sorted(found.kinds[:3]) == ["rotation about z", "translation along x", "translation along y"]
    codes = [44.762, 110.52, 110.52, 169.08, 193.93, 206.64, 206.64]
    np.testing.assert_allclose(found.frequencies[3:], codes, rtol=1e-3)


def test_nafems_fv32():
    """Tapered cantilever membrane, 10 long, 5 to 1 deep: one half of its thickness, on the plane of symmetry."""

    def taper(x):
        return np.column_stack([x[:, 0], (x[:, 1] - 2.5) * (1.0 - 0.08 * x[:, 0]), x[:, 2]])

    def held(x):
        out = np.zeros(x.shape, bool)
        out[:, 2] = x[:, 2] == 0.0
        out[x[:, 0] == 0.0, :2] = True
        return out

    _, system, points = block((10.0, 5.0, 0.025), (16, 8, 1), STEEL, held, shape=taper)
    found = sx.modes.natural_modes(system, system.state(points), 6)
    nafems = [44.623, 130.03, 162.70, 246.05, 379.90, 391.44]
    np.testing.assert_allclose(found.frequencies, nafems, rtol=5e-4)


def test_nafems_fv5():
    """Deep beam on two supports, 10 × 2 × 2: bending, each twice. (Torsion of NAFEMS takes the section for round.)"""

    def held(x):
        out = np.zeros(x.shape, bool)
        ends = (x[:, 0] == 0.0) | (x[:, 0] == 10.0)
        out[ends, 1:] = True
        out[(x[:, 0] == 0.0) & (np.abs(x[:, 1:] - 1.0) < 1e-9).all(axis=1), 0] = True
        return out

    _, system, points = block((10.0, 2.0, 2.0), (10, 2, 2), STEEL, held, "reduced")
    found = sx.modes.natural_modes(system, system.state(points), 12)
    for nafems in (42.649, 148.31, 284.55):
        near = np.sort(np.abs(found.frequencies / nafems - 1.0))[:2]
        assert near.max() < 0.02, (nafems, found.frequencies)


@pytest.mark.slow
@pytest.mark.parametrize("free", [False, True])
def test_nafems_fv16_and_fv12(free):
    """Thin plate, 10 × 10 × 0.05, a side clamped; and free."""
    held = None if free else lambda x: np.repeat(x[:, :1] == 0.0, 3, axis=1)
    _, system, points = block((10.0, 10.0, 0.05), (12, 12, 1), STEEL, held, "reduced")
    found = sx.modes.natural_modes(system, system.state(points), 12 if free else 6)
    nafems = [1.622, 2.360, 2.922, 4.233, 4.233, 7.416] if free else [0.421, 1.029, 2.582, 3.306, 3.753, 6.555]
    np.testing.assert_allclose(found.frequencies[6 if free else 0 :], nafems, rtol=0.015)


def test_a_stack_of_reduced_elements_has_mechanisms():
    """One row of hexahedra of 20 nodes with 2 × 2 × 2 points bends without strains at these: it is reported."""
    mesh = sx.meshes.quadratic(sx.box((3.0, 1.0, 1.0), (3, 1, 1), split="hexahedra"))
    cells = mesh.cells["hexahedron20"]
    solid = sx.Solid(mesh.points, cells, STEEL, formulation="reduced")
    system = sx.System(sx.lumped_mass(mesh.points, cells, 8000.0, len(mesh.points)), {"stack": solid})
    found = sx.modes.natural_modes(system, system.state(mesh.points), 12)
    assert found.kinds.count("mechanism") == 4
