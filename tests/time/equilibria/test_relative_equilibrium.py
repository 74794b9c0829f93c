"""Relative equilibria: closed forms, the truss of Graham and Jelenić, and what integrators make of them."""

import numpy as np
import pytest

import symplex as sx
from symplex.errors import InvalidSystem, NoEquilibrium
from symplex.testing import round_off

# -- trusses in the plane and in space ------------------------------------------------------------------------------

TRUSS = np.array([[0, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0], [1, 0, 0]], dtype=float)
BARS = np.array([[0, 1], [0, 2], [0, 3], [0, 4], [1, 2], [2, 3], [3, 4], [4, 1]], dtype=np.int32)


def truss(mass=sx.actions.consistent_bar_mass):
    """Section 7.2 of Graham and Jelenić: EA = 100, mass per length 1."""
    lengths = np.linalg.norm(TRUSS[BARS[:, 0]] - TRUSS[BARS[:, 1]], axis=1)
    return sx.System(
        mass(TRUSS, BARS, 1.0, 1.0, 5), {"bars": sx.Bars(BARS, sx.measures.GreenStrain(100 / lengths, lengths))}
    )


def spinning_truss():
    return sx.equilibria.relative_equilibrium(truss(), TRUSS, [0, 0, -1], velocity=[0, 0, 0.75])


def polygon(n, dim, stiffness=50.0, mass=0.3):
    angle = 2 * np.pi * np.arange(n) / n
    points = np.zeros((n, dim))
    points[:, 0], points[:, 1] = np.cos(angle), np.sin(angle)
    pairs = np.column_stack([np.arange(n), np.roll(np.arange(n), -1)])
    law = sx.measures.EngineeringStrain(stiffness, 2 * np.sin(np.pi / n))
    return sx.System(np.full(n, mass), {"bars": sx.Bars(pairs, law, dim=dim)}, dim=dim), points


def about_z(dim, omega):
    return omega if dim == 2 else [0, 0, omega]


def assert_balanced(found, times=1.0):
    """Hold ∇V − M a, with the accelerations of a rigid rotation, to round-off."""
    arm = found.state.q - found.centre
    omega = found.omega if len(found.omega) == 3 else np.array([0, 0, found.omega[0]])
    in_space = np.zeros((len(arm), 3))
    in_space[:, : arm.shape[1]] = arm
    a = np.cross(omega, np.cross(omega, in_space))[:, : arm.shape[1]]
    left = np.abs(found.system.gradient(found.state.q) + found.system.apply_mass(a)).max()
    assert left < times * round_off.of_forces(found.system, found.state.q)


def test_the_truss_of_the_paper_to_all_printed_digits():
    found = spinning_truss()
    assert found.stretch == pytest.approx(1.0052720575, abs=6e-11)
    # Two bars along each axis and the diagonals share (1 + 2√2)/3 of a consistent mass: 120.7 (a² − 1) = m.
    assert found.stretch == pytest.approx(np.sqrt(1 + (1 + np.sqrt(8)) / 3 / (50 + 50 * np.sqrt(2))), abs=1e-15)
    np.testing.assert_allclose(found.state.q, found.stretch * TRUSS, atol=1e-15)
    np.testing.assert_allclose(found.state.v, np.cross([0, 0, -1], found.state.q) + np.array([0, 0, 0.75]), atol=1e-15)
    assert_balanced(found)
    assert found.residual < round_off.of_forces(found.system, found.state.q)


def test_lumped_masses_give_another_truss():
    found = sx.equilibria.relative_equilibrium(truss(sx.actions.bar_mass), TRUSS, [0, 0, -1])
    expected = np.sqrt(1 + (1 + np.sqrt(8)) / 2 / (50 + 50 * np.sqrt(2)))
    assert found.stretch == pytest.approx(expected, abs=1e-14)


def test_the_truss_may_be_anywhere():
    moved = TRUSS + np.array([10.0, -7.0, 3.0])
    found = sx.equilibria.relative_equilibrium(truss(), moved, [0, 0, -1])
    np.testing.assert_allclose(found.state.q - moved.mean(axis=0), spinning_truss().state.q, atol=1e-13)


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("part", [0.3, 0.8, 0.95])
def test_a_ring_of_bars(dim, part):
    n, k, m = 12, 50.0, 0.3
    system, points = polygon(n, dim, k, m)
    omega = part * 2 * np.sin(np.pi / n) * np.sqrt(k / m)  # of the speed at which it has no equilibrium any more
    found = sx.equilibria.relative_equilibrium(system, points, about_z(dim, omega))
    radii = np.linalg.norm(found.state.q, axis=1)
    np.testing.assert_allclose(radii, 1 / (1 - part**2), rtol=1e-13)
    np.testing.assert_allclose(found.state.q / radii[:, None], points, atol=1e-13)
    assert_balanced(found)


@pytest.mark.parametrize("dim", [2, 3])
def test_a_ring_that_turns_too_fast_is_told_how_far_it_can_be_followed(dim):
    system, points = polygon(12, dim)
    critical = 2 * np.sin(np.pi / 12) * np.sqrt(50 / 0.3)
    with pytest.raises(NoEquilibrium, match="can be followed up to") as caught:
        sx.equilibria.relative_equilibrium(system, points, about_z(dim, 1.05 * critical))
    reached = float(str(caught.value).split("followed up to ")[1].split(" rad/s")[0])
    assert 0.98 * critical < reached < critical


@pytest.mark.parametrize("dim", [2, 3])
def test_a_spinning_bar_of_several_elements(dim):
    n, k, m, omega = 9, 100.0, 1.0, 1.0
    points = np.zeros((n, dim))
    points[:, 0] = np.linspace(0, 1, n)
    pairs = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    system = sx.System(
        np.full(n, m), {"bars": sx.Bars(pairs, sx.measures.EngineeringStrain(k, 1 / (n - 1)), dim=dim)}, dim=dim
    )
    found = sx.equilibria.relative_equilibrium(system, points, about_z(dim, omega))
    # Tension k (d − L) over all of the bar: (K − ω² m) x = forces of the natural lengths.
    difference = np.diff(np.eye(n), axis=0)
    expected = np.linalg.solve(
        k * difference.T @ difference - omega**2 * m * np.eye(n), k / (n - 1) * difference.T @ np.ones(n - 1)
    )
    np.testing.assert_allclose(found.state.q[:, 0] - 0.5, expected, atol=1e-14)
    np.testing.assert_allclose(found.state.q[:, 1:], 0.0, atol=1e-14)
    with pytest.raises(NoEquilibrium, match="can be followed up to"):
        sx.equilibria.relative_equilibrium(
            system, points, about_z(dim, 5.0)
        )  # where springs turned inside out would balance


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("size", [1.0, 1.2])
def test_the_triangle_of_lagrange(dim, size):
    system, points = polygon(3, dim)
    system = sx.System(
        np.ones(3), {"gravity": sx.Bars(sx.measures.all_pairs(3), sx.measures.InverseDistance(2.0), dim=dim)}, dim=dim
    )
    omega = np.sqrt(3 * 2.0 / 3**1.5)  # of masses 1 at the distance √3
    found = sx.equilibria.relative_equilibrium(system, size * points, about_z(dim, omega))
    np.testing.assert_allclose(found.state.q, points, atol=1e-14)
    assert found.stretch == pytest.approx(1 / size, abs=1e-14)


def test_a_cluster_of_four_about_one_of_many_principal_axes():
    corners = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]) * 2 ** (1 / 6) / np.sqrt(8)
    system = sx.System(np.ones(4), {"pairs": sx.Bars(sx.measures.all_pairs(4), sx.measures.LennardJones(1.0, 1.0))})
    found = sx.equilibria.relative_equilibrium(system, corners, [0, 0, 1])
    assert_balanced(found)
    assert found.tilt < 1e-12
    assert found.corrections <= 8


# -- solids ---------------------------------------------------------------------------------------------------------


NEO_HOOKEAN = sx.NeoHookean(lmbda=2.0, mu=1.0, density=1.0)


def block(size=(1.0, 0.6, 0.3), cells=(4, 2, 1), consistent=False, split="24", material=NEO_HOOKEAN):
    mesh = sx.box(size, cells, split=split)
    elements = mesh.cells["hexahedron" if split == "hexahedra" else "tetra"]
    mass = (sx.consistent_mass if consistent else sx.lumped_mass)(mesh.points, elements, 1.0, len(mesh.points))
    return sx.System(mass, {"strain": sx.Solid(mesh.points, elements, material)}), mesh.points


@pytest.mark.parametrize("omega", [(0, 0, 1.2), (0, -1.2, 0), (1.2, 0, 0), (0, 0, 1e-3)])
@pytest.mark.parametrize("consistent", [False, True])
def test_a_block_about_its_principal_axes(omega, consistent):
    system, points = block(consistent=consistent)
    found = sx.equilibria.relative_equilibrium(system, points, omega, velocity=np.multiply(0.5, omega))
    assert_balanced(found)
    assert found.tilt < 1e-7
    known_to = round_off.of_momenta(system, found.state)
    np.testing.assert_allclose(system.momentum(found.state), 0.5 * np.array(omega) * 0.18, rtol=0.0, atol=known_to)
    # What is not turned or shifted: the natural shape.
    arm, before = found.state.q - found.centre, points - points.mean(axis=0)
    assert abs(np.cross(before, system.apply_mass(arm)).sum(axis=0) @ omega) < 1e-14
    if max(np.abs(omega)) < 0.1:
        # A slow spin stretches in proportion to ω²: twice as much at √2 ω.
        faster = sx.equilibria.relative_equilibrium(system, points, np.sqrt(2) * np.array(omega))
        assert faster.stretch - 1 == pytest.approx(2 * (found.stretch - 1), rel=1e-5)
    else:
        assert 1.01 < found.stretch < 1.06


def test_hexahedra_of_another_material():
    svk = sx.SaintVenantKirchhoff(lmbda=2.0, mu=1.0, density=1.0)
    found = sx.equilibria.relative_equilibrium(*block(consistent=True, split="hexahedra", material=svk), [0, 0, 1.2])
    assert_balanced(found)
    assert found.stretch == pytest.approx(1.033, abs=2e-3)
    path = follow(found, sx.EnergyMomentum(0.5), 0.5, 6)
    np.testing.assert_allclose(path.lambda_r, np.arctan(0.3) / 0.3, atol=1e-12)
    assert path.deformation.max() < 1e-12


def test_a_turned_block_about_a_turned_axis():
    system, points = block()
    straight = sx.equilibria.relative_equilibrium(system, points, [0, 0, 1.2])
    angle = 0.7
    turn = np.array([[1, 0, 0], [0, np.cos(angle), -np.sin(angle)], [0, np.sin(angle), np.cos(angle)]])
    centre = points.mean(axis=0)
    turned = sx.equilibria.relative_equilibrium(system, (points - centre) @ turn.T, turn @ [0, 0, 1.2])
    np.testing.assert_allclose(turned.state.q, (straight.state.q - centre) @ turn.T, atol=1e-12)


def test_no_steady_rotation_about_an_axis_that_is_not_principal():
    system, points = block()
    omega = np.array([0.3, 0.2, 1.0])
    with pytest.raises(NoEquilibrium, match=r"0\.346 rad off ω.* moment of \(-0\.00081, 0\.00400\d, -0\.0005574\) N m"):
        sx.equilibria.relative_equilibrium(system, points, omega)
    found = sx.equilibria.relative_equilibrium(system, points, omega, tilt=0.4)
    assert found.tilt == pytest.approx(np.arccos(1 / np.linalg.norm(omega)), abs=1e-8)
    assert_balanced(found)


def test_a_small_deviation_of_the_axis_is_taken_up_by_the_body():
    system, points = block()
    found = sx.equilibria.relative_equilibrium(system, points, [0.05, 0.0, 1.0])
    assert found.tilt == pytest.approx(np.arctan(0.05), abs=1e-9)
    assert_balanced(found)
    path = follow(found, sx.EnergyMomentum(0.25), 0.25, 8)
    assert path.deformation.max() < 1e-13


def test_an_unsymmetric_body_tilts_as_it_deforms():
    system, points = block()
    heavy = np.asarray(system.mass) * (1 + 2 * (points[:, 0] > 0.7) * (points[:, 2] > 0.2))
    system = sx.System(heavy, system.energies)
    arm = points - heavy @ points / heavy.sum()
    _, axes = np.linalg.eigh((heavy[:, None] * arm).T @ arm)
    axis = axes[:, 0]  # of the largest moment of inertia
    found = sx.equilibria.relative_equilibrium(system, points, 1.5 * axis)
    assert 1e-4 < found.tilt < 0.1
    assert_balanced(found)


@pytest.mark.parametrize("omega", [0.8, 0.01])
def test_a_cube_is_not_turned_though_nothing_holds_it(omega):
    system, points = block((1, 1, 1), (2, 2, 2))
    found = sx.equilibria.relative_equilibrium(system, points, [0, 0, omega])
    assert found.tilt < 1e-6
    assert_balanced(found)
    diagonal = sx.equilibria.relative_equilibrium(system, points, np.full(3, omega / np.sqrt(3)))
    assert diagonal.tilt < 1e-6
    assert diagonal.stretch > 1.0


@pytest.mark.parametrize("omega", [[0.0, 0.0, 1.0], [0.0, 0.7, 0.0]])
def test_a_rod_of_square_section_is_not_tilted_though_nothing_holds_it_without_stress(omega):
    points = np.array([(x, y, z) for x in range(4) for y in range(2) for z in range(2)], dtype=float)
    pairs = sx.measures.all_pairs(len(points))
    lengths = np.linalg.norm(points[pairs[:, 0]] - points[pairs[:, 1]], axis=1)
    pairs, lengths = pairs[lengths < 1.5], lengths[lengths < 1.5]
    mass = sx.actions.bar_mass(points, pairs, 1.0, 1.0, len(points))
    system = sx.System(mass, {"bars": sx.Bars(pairs, sx.measures.EngineeringStrain(100.0 / lengths, lengths))})
    found = sx.equilibria.relative_equilibrium(system, points, omega)
    assert found.corrections <= 8
    assert found.tilt < 1e-9
    assert_balanced(found)


def test_a_cube_about_an_axis_that_is_principal_only_without_deformation():
    system, points = block((1, 1, 1), (2, 2, 2))
    with pytest.raises(NoEquilibrium, match="the deformed body had its nearest principal axis"):
        sx.equilibria.relative_equilibrium(system, points, [0.2, 0.3, 0.5])


@pytest.mark.slow
def test_a_large_block():
    system, points = block(cells=(10, 6, 3))
    found = sx.equilibria.relative_equilibrium(system, points, [0, 0, 1.2])
    assert_balanced(found)
    coarse = sx.equilibria.relative_equilibrium(*block(), [0, 0, 1.2])
    assert found.stretch == pytest.approx(coarse.stretch, abs=2e-3)


def test_iterations_and_factors_find_the_same(monkeypatch):
    system, points = block(cells=(6, 4, 2))
    by_factors = sx.equilibria.relative_equilibrium(system, points, [0, 0, 0.1])
    # As for systems of more than 60 000 unknowns.
    monkeypatch.setattr("symplex.time.solvers.automatic.LARGEST_DIRECT", 100)
    iterated = sx.equilibria.relative_equilibrium(system, points, [0, 0, 0.1], newton=sx.Newton(linear="krylov"))
    np.testing.assert_allclose(iterated.state.q, by_factors.state.q, atol=1e-8)  # tilts are held by nearly nothing
    assert iterated.stretch == pytest.approx(by_factors.stretch, abs=1e-12)
    assert iterated.corrections > by_factors.corrections  # linear convergence
    fast = sx.equilibria.relative_equilibrium(system, points, [0, 0, 1.2], newton=sx.Newton(linear="krylov"))
    assert_balanced(fast, np.sqrt(points.size))  # iterations end by the norm over all coordinates


# -- a given angular momentum ----------------------------------------------------------------------------------------


def test_a_ring_with_a_given_angular_momentum():
    n, k, m = 12, 50.0, 0.3
    system, points = polygon(n, 2, k, m)
    critical = 2 * np.sin(np.pi / n) * np.sqrt(k / m)
    for part in (0.2, 0.7):
        momentum = -n * m * part * critical / (1 - part**2) ** 2
        found = sx.equilibria.relative_equilibrium_of_momentum(system, points, momentum)
        assert found.omega[0] == pytest.approx(-part * critical, rel=1e-13)
        assert system.angular_momentum(found.state)[0] == pytest.approx(momentum, rel=1e-12)


def test_a_block_with_a_given_angular_momentum():
    system, points = block(cells=(2, 1, 1))
    turning = sx.equilibria.relative_equilibrium(system, points, [0, 1.5, 0])
    momentum = system.angular_momentum(turning.state)
    found = sx.equilibria.relative_equilibrium_of_momentum(system, points, [0, momentum[1], 0], velocity=[0, 0.1, 0])
    np.testing.assert_allclose(found.omega, [0, 1.5, 0], rtol=1e-13)
    np.testing.assert_allclose(found.state.q, turning.state.q, atol=1e-12)
    with pytest.raises(NoEquilibrium, match="principal axis"):
        sx.equilibria.relative_equilibrium_of_momentum(system, points, [0, 0.1, 0.1])
    with pytest.raises(InvalidSystem, match="angular momentum must be a vector"):
        sx.equilibria.relative_equilibrium_of_momentum(system, points, 0.1)


# -- the exact motion, and what integrators make of it ---------------------------------------------------------------


def follow(found, method, dt, steps):
    recorded = sx.record(found.system, method, found.state, dt * np.arange(steps + 1))
    return found.path(recorded.t, recorded.q)


@pytest.mark.parametrize("case", ["truss", "block", "ring in the plane"])
def test_the_exact_motion_solves_the_equations_of_motion(case):
    found = {
        "truss": spinning_truss,
        "block": lambda: sx.equilibria.relative_equilibrium(*block(), [0, 0, 1.2], velocity=[0, 0, -0.3]),
        "ring in the plane": lambda: sx.equilibria.relative_equilibrium(*polygon(7, 2), 2.0),
    }[case]()
    for t in (0.0, 1.3, 9.0):
        exact = found.exact(t)
        computed = found.system.state(exact.q, exact.v, t)
        np.testing.assert_allclose(exact.a, computed.a, atol=1e-12 * np.abs(exact.a).max() * (1 + t))
        h = 1e-5
        rate = (found.exact(t + h).q - found.exact(t - h).q) / (2 * h)
        np.testing.assert_allclose(exact.v, rate, atol=1e-9 * (1 + np.abs(exact.v).max()))
        assert found.system.energies_of(exact)["total"] == pytest.approx(found.energies()["total"], rel=1e-13)
    np.testing.assert_array_equal(found.exact(0.0).q, found.state.q)
    path = found.path([0.0, 2.0, 9.0], [found.exact(t).q for t in (0.0, 2.0, 9.0)])
    for seen in (path.lag, path.ahead, path.off_axis, path.deformation):
        np.testing.assert_allclose(seen, 0.0, atol=1e-13)


@pytest.mark.parametrize("dt", [0.25, 1.0])
@pytest.mark.parametrize("case", ["truss", "block", "ring in the plane"])
def test_energy_momentum_turns_by_the_printed_angle_and_keeps_the_shape(case, dt):
    found = {
        "truss": spinning_truss,
        "block": lambda: sx.equilibria.relative_equilibrium(*block(), [0, 0, 1.2], velocity=[0, 0, -0.3]),
        "ring in the plane": lambda: sx.equilibria.relative_equilibrium(*polygon(7, 2), 2.0),
    }[case]()
    path = follow(found, sx.EnergyMomentum(dt), dt, 12)
    half = 0.5 * path.speed * dt
    np.testing.assert_allclose(path.lambda_r, np.arctan(half) / half, atol=1e-12)  # eq. 6.5
    np.testing.assert_allclose(path.angle[-1], 24 * np.arctan(half), atol=1e-12)
    assert path.deformation.max() < 1e-11
    assert path.off_axis.max() < 1e-13
    if path.velocity:
        np.testing.assert_allclose(path.lambda_t, 1.0, atol=1e-13)
    else:
        with pytest.raises(ValueError, match="no translation"):
            _ = path.lambda_t


@pytest.mark.parametrize(
    "scheme",
    [
        "assumed-distance",
        "energy-momentum-exact-angle",
        "exact-steady-motion",
        "momentum-conserving-4",
        "cayley-magnus-6",
    ],
)
def test_a_solid_turns_by_the_formulas_made_for_trusses(scheme):
    dt = 0.2
    found = sx.equilibria.relative_equilibrium(*block(cells=(2, 1, 1)), [0, 0, 1.2], velocity=[0, 0, -0.3])
    path = follow(found, sx.GrahamJelenic(dt, scheme), dt, 8)
    x = 1.2 * dt
    odd = {"assumed-distance": x, "momentum-conserving-4": x + x**3 / 12, "cayley-magnus-6": x + x**3 / 12 + x**5 / 120}
    lambda_r = np.arctan(odd[scheme] / 2) / (x / 2) if scheme in odd else 1.0  # eqs. 6.5, 6.10, 6.15
    lambda_t = np.tan(x / 2) / (x / 2) if scheme == "energy-momentum-exact-angle" else 1.0
    nearly = 1e-8 if scheme == "cayley-magnus-6" else 1e-11  # CM6 sees an interpolant of the rotation
    np.testing.assert_allclose(path.lambda_r, lambda_r, atol=nearly)
    np.testing.assert_allclose(path.lambda_t, lambda_t, atol=1e-11)
    assert path.deformation.max() < nearly
    assert path.off_axis.max() < 1e-13


def test_the_midpoint_rule_does_not_keep_relative_equilibria():
    found = spinning_truss()
    kept, lost = (follow(found, method, 0.25, 36) for method in (sx.EnergyMomentum(0.25), sx.Midpoint(0.25)))
    assert kept.deformation.max() < 1e-13
    assert lost.deformation.max() > 1e-3
    assert 2 * kept.lag[-1] < lost.lag[-1] < 6 * kept.lag[-1]  # both late, the midpoint rule by more
    np.testing.assert_allclose(lost.ahead, 0.0, atol=1e-13)


def test_a_path_counts_whole_turns():
    found = sx.equilibria.relative_equilibrium(*polygon(7, 2), -2.0)
    t = np.arange(0.0, 20.0)
    slow = [found.exact(0.9 * time).q for time in t]
    path = found.path(t, slow)
    np.testing.assert_allclose(path.lag, 0.1 * 2.0 * t, atol=1e-12)
    np.testing.assert_allclose(path.time_lag, 0.1 * t, atol=1e-12)
    np.testing.assert_allclose(path.lambda_r, 0.9, atol=1e-12)
    with pytest.raises(ValueError, match="do not match"):
        found.path(t[:3], slow)


# -- bad input ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("omega", "velocity", "message"),
    [
        (0.0, None, "three finite numbers"),
        ([0, 0, 0], None, "not zero"),
        ([0, np.nan, 1], None, "finite"),
        ([0, 0, 1], [0, 0.1, 1], "not parallel"),
        ([0, 0, 1], [0, 1], "must be 3 finite numbers"),
    ],
)
def test_velocities_that_are_none_of_a_relative_equilibrium(omega, velocity, message):
    with pytest.raises(InvalidSystem, match=message):
        sx.equilibria.relative_equilibrium(truss(), TRUSS, omega, velocity=velocity)


def test_in_the_plane_nothing_moves_along_the_axis():
    system, points = polygon(5, 2)
    with pytest.raises(InvalidSystem, match="not parallel"):
        sx.equilibria.relative_equilibrium(system, points, 1.0, velocity=[0.0, 0.5])


def test_only_free_bodies_with_internal_forces():
    system, points = polygon(5, 3)
    fixed = np.zeros((5, 3), bool)
    fixed[0] = True
    supported = sx.System(system.mass, system.energies, fixed=fixed)
    loaded = sx.System(system.mass, system.energies, loads={"wind": lambda t, q, v: np.ones_like(q)})
    heavy = sx.System(system.mass, system.energies | {"weight": sx.Gravity(np.asarray(system.mass), [0, 0, -9.81])})
    for bad, message in ((supported, "supports"), (loaded, "loads wind"), (heavy, "'weight' is not internal")):
        with pytest.raises(InvalidSystem, match=message):
            sx.equilibria.relative_equilibrium(bad, points, [0, 0, 1])


def test_a_line_does_not_turn_about_itself():
    pairs = [[0, 1], [1, 2]]
    system = sx.System(np.ones(3), {"bars": sx.Bars(pairs, sx.measures.EngineeringStrain(10.0, 1.0))})
    points = np.array([[-1.0, 0, 0], [0, 0, 0], [1, 0, 0]])
    with pytest.raises(InvalidSystem, match="on the axis"):
        sx.equilibria.relative_equilibrium(system, points, [1, 0, 0])
    with pytest.raises(NoEquilibrium, match="principal axis"):
        sx.equilibria.relative_equilibrium(system, points, [1, 0, 1])


def test_two_loose_parts_have_none():
    system = sx.System(np.ones(4), {"bars": sx.Bars([[0, 1], [2, 3]], sx.measures.EngineeringStrain(10.0, 1.0))})
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0, 2, 0], [1, 2, 0]])
    with pytest.raises(InvalidSystem, match="there are 2 parts that no energy joins; join them, or find that of each"):
        sx.equilibria.relative_equilibrium(system, points, [0, 0, 1])
