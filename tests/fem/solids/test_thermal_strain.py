"""Thermal strains of solids, beams and shells: free expansion, restrained bodies, NAFEMS LE11, a bimetal strip."""

import pickle

import numpy as np
import pytest

import symplex as sx

YOUNG, POISSON = 2.1e11, 0.3
LINEAR = sx.LinearElastic.from_young(YOUNG, POISSON, 7800.0)
LAWS = {
    "linear": LINEAR,
    "saint-venant-kirchhoff": sx.SaintVenantKirchhoff.from_young(YOUNG, POISSON, 7800.0),
    "neo-hookean": sx.NeoHookean.from_young(YOUNG, POISSON, 7800.0),
    "anisotropic": sx.AnisotropicElastic.orthotropic(
        [YOUNG, YOUNG / 2, YOUNG / 3], [0.3, 0.2, 0.25], [YOUNG / 4, YOUNG / 5, YOUNG / 6], 7800.0
    ),
}
SPLITS = {"tetra": "6", "hexahedron": "hexahedra", "wedge": "wedges", "pyramid": "pyramids"}


def bodies(kind, size=(1.0, 0.7, 0.4), cells=(2, 2, 1)):
    """Return a box of elements of a kind, its points moved a little."""
    linear = kind.rstrip("0123456789")
    mesh = sx.box(size, cells, split=SPLITS[linear])
    mesh = mesh if linear == kind else sx.quadratic(mesh)
    return mesh, mesh.points + 0.01 * np.sin(7.0 * mesh.points[:, [1, 2, 0]]), mesh.cells[kind]


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(
    ("kind", "formulation"),
    [
        ("tetra", None), ("hexahedron", "stabilized"), ("hexahedron", "full"), ("hexahedron", "mean-dilatation"),
        ("tetra10", None), ("hexahedron20", "full"), ("hexahedron20", "reduced"), ("wedge", None), ("wedge15", None),
        ("pyramid", None),
    ],
)  # fmt: skip
def test_a_free_body_expands_without_stress_and_forces_are_the_slope_of_its_energy(law, kind, formulation):
    material = LAWS[law]
    if formulation == "mean-dilatation" and not material.objective:
        pytest.skip("laws of small strains have none")
    _, x, cells = bodies(kind)
    warm = sx.Solid(x, cells, material, formulation=formulation, thermal_strain=np.full(len(x), 0.02))
    system = sx.System(np.ones(len(x)), {"body": warm})
    cold, free = (system.gradient(q) for q in (x, 1.02 * x))
    assert np.abs(free).max() < 1e-11 * np.abs(cold).max()
    held, loose = (sx.nodal_stress(system, system.state(q)) for q in (x, 1.02 * x))
    assert np.abs(loose).max() < 1e-11 * np.abs(held).max()
    strains = sx.nodal_stress(system, system.state(1.02 * x), "thermal_strain")
    np.testing.assert_allclose(strains, 0.02, rtol=1e-12)
    # ΔT that differs: the forces are still the slope of the energy.
    uneven = warm.expanded(0.02 * np.sin(3.0 * x[:, 0] + x[:, 1]))
    q, way = x + 0.01 * np.cos(5.0 * x[:, [2, 0, 1]]), np.sin(11.0 * x)
    out = np.zeros_like(q)
    uneven.add_gradient(q, out)
    slope = (uneven.total(q + 1e-6 * way) - uneven.total(q - 1e-6 * way)) / 2e-6
    np.testing.assert_allclose((out * way).sum(), slope, rtol=1e-6)


@pytest.mark.parametrize("law", ["linear", "saint-venant-kirchhoff", "neo-hookean"])
def test_a_restrained_bar_has_the_stress_of_theory(law):
    mesh, _, _ = bodies("hexahedron20")
    x, strain = mesh.points, 1e-4
    solid = sx.Solid(x, mesh.cells["hexahedron20"], LAWS[law], thermal_strain=np.full(len(x), strain))
    fixed = np.zeros(x.shape, bool)
    fixed[np.isclose(x[:, 0], 0.0) | np.isclose(x[:, 0], 1.0), 0] = True
    fixed[np.isclose(x[:, 1], 0.0), 1] = fixed[np.isclose(x[:, 2], 0.0), 2] = True
    system = sx.System(np.ones(len(x)), {"body": solid}, fixed=fixed)
    state = sx.equilibria.static_equilibrium(system, x).state
    found = sx.nodal_stress(system, state)
    expected = np.array([-YOUNG * strain, 0.0, 0.0, 0.0, 0.0, 0.0])
    # Laws of large strains differ by the strain.
    np.testing.assert_allclose(found, np.tile(expected, (len(x), 1)), atol=(1e-9 if law == "linear" else 4e-4) * 2.1e7)
    np.testing.assert_allclose(np.ptp(state.q[:, 1]), 0.7 * (1.0 + 1.3 * strain), rtol=1e-7)


def sphere_and_taper(u):
    """Return the map of a unit box to a quarter of the body of NAFEMS LE11: from below upwards, outwards, around."""
    t, s, angle = u[:, 2], u[:, 0], 0.5 * np.pi * u[:, 1]
    below = 4.0 / 7.0  # of all elements upwards: the inner sphere, of 45°
    polar = np.minimum(t / below, 1.0) * 0.25 * np.pi
    above = np.maximum((t - below) / (1.0 - below), 0.0)
    half = np.sqrt(0.5)
    inner = np.column_stack([np.cos(polar), np.sin(polar) + above * (1.79 - half)])
    # outside: a circle of radius 1.4 to 30°, a cone, a cylinder
    stops = np.array([0.0, 2 / 7, 4 / 7, 5 / 7, 6 / 7, 1.0])
    corners = np.array([[1.4, 0.0], [1.2124, 0.7], [1.1062, 1.045], [1.0, 1.39], [1.0, 1.59], [1.0, 1.79]])
    outer = np.column_stack([np.interp(t, stops, corners[:, k]) for k in range(2)])
    round_ = t < 2 / 7
    outer[round_] = 1.4 * np.column_stack([np.cos(t * 7 / 12 * np.pi), np.sin(t * 7 / 12 * np.pi)])[round_]
    r, z = ((1.0 - s)[:, None] * inner + s[:, None] * outer).T
    return np.column_stack([r * np.cos(angle), r * np.sin(angle), z])


@pytest.mark.parametrize(
    ("cells", "within"), [((4, 4, 28), 0.025), pytest.param((8, 4, 56), 0.01, marks=pytest.mark.slow)]
)
def test_nafems_le11(cells, within):
    """σ_zz at A, (1, 0, 0): −105 MPa, for T = √(x² + y²) + z, α = 2.3e-4/K."""
    mesh = sx.quadratic(sx.box((1.0, 1.0, 1.0), cells, split="hexahedra"))
    u = mesh.points
    x = sphere_and_taper(u)
    strain = 2.3e-4 * (np.hypot(x[:, 0], x[:, 1]) + x[:, 2])
    solid = sx.Solid(x, mesh.cells["hexahedron20"], LINEAR, thermal_strain=strain)
    fixed = np.zeros(x.shape, bool)
    fixed[np.isclose(u[:, 1], 0.0), 1] = fixed[np.isclose(u[:, 1], 1.0), 0] = True
    fixed[np.isclose(u[:, 2], 0.0) | np.isclose(u[:, 2], 1.0), 2] = True
    system = sx.System(np.ones(len(x)), {"body": solid}, fixed=fixed)
    state = sx.equilibria.static_equilibrium(system, x).state
    at = int(np.argmin(np.linalg.norm(x - [1.0, 0.0, 0.0], axis=1)))
    assert sx.nodal_stress(system, state)[at, 2] == pytest.approx(-105e6, rel=within)


def test_a_bimetal_strip_bends_as_timoshenko_says():
    """Two layers of equal thickness: κ = 24 Δα ΔT/(h (14 + n + 1/n)), n = E₁/E₂ (Timoshenko 1925, eq. 4)."""
    length, h, ratio, strain = 0.1, 2e-3, 3.0, 1e-4
    mesh = sx.quadratic(sx.box((length, 1e-3, h), (20, 1, 2), split="hexahedra"))
    x, cells = mesh.points, mesh.cells["hexahedron20"]
    upper = x[cells].mean(axis=1)[:, 2] > 0.5 * h
    one, other = (sx.LinearElastic.from_young(E, 0.0, 7800.0) for E in (1e11, ratio * 1e11))
    warm = np.full(len(x), strain)
    energies = {
        "lower": sx.Solid(x, cells[~upper], one, formulation="reduced", thermal_strain=warm),
        "upper": sx.Solid(x, cells[upper], other, formulation="reduced"),
    }
    fixed = np.zeros(x.shape, bool)
    fixed[np.isclose(x[:, 0], 0.0), 0] = fixed[:, 1] = True
    fixed[(np.isclose(x[:, 0], 0.0)) & np.isclose(x[:, 2], 0.5 * h), 2] = True
    system = sx.System(np.ones(len(x)), energies, fixed=fixed)
    state = sx.equilibria.static_equilibrium(system, x).state
    curvature = 24.0 * strain / (h * (14.0 + ratio + 1.0 / ratio))
    middle = np.isclose(x[:, 2], 0.5 * h) & (x[:, 0] > 0.5 * length)
    found = (state.q - x)[middle, 2] / (0.5 * x[middle, 0] ** 2)
    np.testing.assert_allclose(found, curvature, rtol=2e-3)


# -- temperatures that change with time ----------------------------------------------------------------------


def heated(law, kind="hexahedron", **options):
    """Return a body on a support that is heated by ε = 2e-3 in 1 ms, with its system and state."""
    mesh, _, _ = bodies(kind)
    x = mesh.points
    base = np.full(len(x), 1e-3)
    solid = sx.Solid(x, mesh.cells[kind], law, thermal_strain=base)
    change = 1e-3 * (1.0 + x[:, 0])
    load = sx.actions.ThermalLoad(solid, change, ([0.0, 1e-3], [0.0, 1.0]))
    fixed = np.repeat((np.isclose(x[:, 0], 0.0) | np.isclose(x[:, 0], 1.0))[:, None], 3, axis=1)
    mass = sx.lumped_mass(x, solid.nodes, 7800.0, len(x))
    system = sx.System(mass, {"body": solid}, fixed=fixed, loads={"heat": load})
    return system, solid, load, change, base


@pytest.mark.parametrize("law", ["linear", "neo-hookean"])
def test_a_temperature_that_has_changed_leaves_the_equilibrium_of_its_end(law):
    system, solid, load, change, base = heated(LAWS[law])
    static = sx.equilibria.static_equilibrium(system, solid.points, t=1e-3).state
    constant = sx.System(system.mass, {"body": solid.expanded(base + change)}, fixed=system.fixed)
    expected = sx.equilibria.static_equilibrium(constant, solid.points).state
    np.testing.assert_allclose(static.q, expected.q, atol=1e-12)
    of_time, of_constant = (sx.stress(*one)["body"] for one in ((system, static), (constant, expected)))
    np.testing.assert_allclose(of_time, of_constant, atol=1e-7 * np.abs(of_constant).max())
    strains = sx.stress(system, static, "thermal_strain")["body"]
    np.testing.assert_allclose(strains, (base + change)[solid.nodes].mean(axis=1), rtol=1e-12)
    copy = pickle.loads(pickle.dumps(load))
    np.testing.assert_array_equal(copy(5e-4, static.q, 0.0 * static.q), load(5e-4, static.q, 0.0 * static.q))


@pytest.mark.parametrize("law", ["linear", "neo-hookean"])
def test_derivatives_of_a_change_of_temperature(law):
    _, solid, load, _, _ = heated(LAWS[law])
    x = solid.points + 1e-3 * np.sin(9.0 * solid.points)
    v, way = np.zeros_like(x), np.cos(4.0 * x)
    slope = (load(7e-4, x + 1e-6 * way, v) - load(7e-4, x - 1e-6 * way, v)) / 2e-6
    by_x, by_v = load.derivatives(7e-4, x[solid.nodes], v[solid.nodes])
    local = np.einsum("mij,mj->mi", by_x, way[solid.nodes].reshape(len(by_x), -1)).reshape(*solid.nodes.shape, 3)
    found = np.zeros_like(x)
    np.add.at(found, solid.nodes, local)
    assert not by_v.any()
    np.testing.assert_allclose(found, slope, atol=1e-6 * max(np.abs(slope).max(), 1.0))


def test_energy_changes_by_the_work_of_the_temperature():
    system, solid, _, change, base = heated(LAWS["neo-hookean"])
    state = system.state(solid.points)
    motion = sx.EnergyMomentum(2e-5).start(system, state)
    found = motion.energies(motion.advance(1.2e-3))
    start = system.energies_of(state)["total"]
    assert abs(found["work_heat"]) > 0.1 * start
    assert abs(found["balance"] - start) < 1e-9 * found["total"]
    # What is warm moves on by the energy of its temperature.
    constant = sx.System(system.mass, {"body": solid.expanded(base + change)}, fixed=system.fixed)
    totals = [constant.energies_of(motion.advance(t))["total"] for t in np.linspace(1.2e-3, 2e-3, 9)]
    assert np.ptp(totals) < 0.01 * totals[0]


def test_beams_shells_and_bars_have_the_forces_of_theory():
    strain = -4e-4
    at = np.column_stack([np.linspace(0.0, 2.0, 5), np.zeros(5), np.zeros(5)])
    line = sx.Mesh(at, {"line": np.column_stack([np.arange(4), np.arange(1, 5)]).astype(np.int32)})
    section = sx.structures.Section.rectangle(0.1, 0.05)
    beams = sx.structures.beams(line, section.of(LAWS["neo-hookean"]), (0.0, 0.0, 1.0))
    warm = beams.expanded(np.full(4, strain))
    found = warm.section_forces(warm.points)
    np.testing.assert_allclose(found[:, 0], -YOUNG * 0.005 * strain, rtol=5e-4)
    assert np.abs(found[:, 1:]).max() < 1e-9 * found[0, 0]
    free = (1.0 + strain) * warm.points
    assert np.abs(warm.section_forces(free)[:, 0]).max() < 1e-9 * found[0, 0]
    twice = warm.expanded(np.full(4, strain))  # one after the other, factors multiply
    assert np.abs(twice.section_forces((1.0 + strain) * free)[:, 0]).max() < 1e-9 * found[0, 0]
    for split in ("hexahedra", "wedges"):
        solid = sx.box((1.0, 0.5, 0.1), (2, 2, 1), split=split)
        kind = "quad" if split == "hexahedra" else "triangle"
        faces = solid.faces_of("z_max")[kind]
        nodes = np.unique(faces)
        flat = sx.Mesh(solid.points[nodes], {kind: np.searchsorted(nodes, faces).astype(np.int32)})
        shells = sx.structures.shells(flat, sx.structures.ShellProperties.uniform(0.01, LAWS["neo-hookean"]))
        cold = shells.expanded({name: np.full(len(cells), strain) for name, cells in shells.cells.items()})
        for forces in cold.section_forces(cold.points).values():
            np.testing.assert_allclose(forces[:, :2], -YOUNG * 0.01 * strain / 0.7, rtol=5e-4)
            assert np.abs(forces[:, 3:]).max() < 1e-8 * np.abs(forces).max()
        for forces in cold.section_forces((1.0 + strain) * cold.points).values():
            assert np.abs(forces).max() < 1e-9 * YOUNG * 0.01 * abs(strain)


@pytest.mark.parametrize("strain", [np.zeros(3), np.full(12, np.nan), np.full(12, -1.0)])
def test_thermal_strains_that_do_not_fit_are_refused(strain):
    mesh = sx.box((1.0, 1.0, 1.0), (2, 1, 1), split="hexahedra")
    with pytest.raises(sx.errors.InvalidSystem, match="12 finite numbers"):
        sx.Solid(mesh.points, mesh.cells["hexahedron"], LINEAR, thermal_strain=strain)
    if len(strain) == 3 or np.isnan(strain).any():
        solid = sx.Solid(mesh.points, mesh.cells["hexahedron"], LINEAR)
        with pytest.raises(sx.errors.InvalidSystem, match="12 finite numbers"):
            sx.actions.ThermalLoad(solid, strain)
