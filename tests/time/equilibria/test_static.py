"""Static equilibria: exact solutions of beams, bars, trusses and contact, and what is refused."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import ellipeinc, ellipk, ellipkinc

import symplex as sx
from symplex.errors import NoEquilibrium
from symplex.fem.energies.differentiable_load import DifferentiableLoad
from symplex.fem.energies.energy import Energy
from symplex.time.equilibria.balance import StaticBalance

RISE = 0.1
LENGTH = float(np.hypot(1.0, RISE))
TRUSS = np.array([[-1.0, 0.0], [0.0, RISE], [1.0, 0.0]])
EA = 1000.0


def truss(force=0.0, moving=None, loads=None):
    """Return two bars that meet at an apex, which is pushed down (von Mises)."""
    bars = sx.Bars([[0, 1], [1, 2]], sx.measures.EngineeringStrain(EA / LENGTH, LENGTH), dim=2)
    fixed = np.zeros((3, 2), bool)
    fixed[[0, 2]] = True
    energies = {"bars": bars} | ({"force": sx.actions.NodalForce([1], [0.0, -force])} if force else {})
    return sx.System(np.ones(3), energies, dim=2, fixed=fixed, moving=moving, loads=loads)


def truss_force(y):
    """Return the force on the apex at the height y, exact."""
    length = np.hypot(1.0, y)
    return 2.0 * EA / LENGTH * (LENGTH - length) * y / length


LIMIT = float(truss_force(np.linspace(0.0, RISE, 100_001)).max())


def beam(cells=(16, 1, 1), size=(1.0, 0.05, 0.05), held="x_min", young=1e7, poisson=0.0):
    """Return the mesh of a beam of quadratic tetrahedra, its energy, masses and what is held."""
    mesh = sx.quadratic(sx.box(size, cells, split="6"))
    material = sx.SaintVenantKirchhoff.from_young(E=young, nu=poisson, density=1000.0)
    elements = mesh.cells["tetra10"]
    fixed = np.zeros(mesh.points.shape, bool)
    fixed[mesh.nodes_of(held)] = True
    mass = sx.lumped_mass(mesh.points, elements, 1000.0, len(mesh.points))
    return mesh, sx.Solid(mesh.points, elements, material), mass, fixed


def end_force(mesh, force, area=0.05**2):
    load = sx.actions.SurfaceTraction(mesh.points, mesh.faces_of("x_max"), np.array(force) / area)
    return sx.actions.NodalForce(load.nodes, load.forces)


def elastica(load):
    """Return deflection and position along the axis of the tip of a cantilever of length 1 under P L²/EI = load.

    Bisshopp and Drucker (1945): with p² = (1 + sin φ0)/2 and sin θ1 = 1/(p √2),
    √load = K(p) − F(p, θ1), deflection 1 − 2 [E(p) − E(p, θ1)]/√load, position √(2 sin φ0/load).
    """

    def angle(m):
        return np.arcsin(1.0 / np.sqrt(2.0 * m))

    m = brentq(lambda m: ellipk(m) - ellipkinc(angle(m), m) - np.sqrt(load), 0.5 + 1e-12, 1.0 - 1e-12)
    complete = ellipeinc(0.5 * np.pi, m) - ellipeinc(angle(m), m)
    return 1.0 - 2.0 * complete / np.sqrt(load), np.sqrt(2.0 * (2.0 * m - 1.0) / load)


@pytest.mark.parametrize("load", [0.5, 2.0, 5.0])
def test_a_cantilever_bends_as_the_elastica(load):
    mesh, solid, mass, fixed = beam()
    bending = 1e7 * 0.05**4 / 12.0
    system = sx.System(mass, {"solid": solid, "end": end_force(mesh, [0, 0, -load * bending])}, fixed=fixed)
    found = sx.equilibria.static_equilibrium(system, mesh.points)
    tip = found.state.q[mesh.nodes_of("x_max")]
    centre = 0.5 * (tip.min(axis=0) + tip.max(axis=0))
    deflection, along = elastica(load)
    # Thick as it is, it shears and stretches as well: by the square of 1/20.
    assert 0.025 - centre[2] == pytest.approx(deflection, abs=0.005)
    assert centre[0] == pytest.approx(along, abs=0.005)
    assert found.stable
    assert found.residual < 1e-9 * load * bending * 100
    assert not found.state.v.any()


def test_a_bar_sags_under_its_weight_as_it_must():
    """The end of a bar that hangs moves by ρ g L²/2E; stresses are so small that it is linear."""
    mesh, solid, mass, fixed = beam(cells=(8, 1, 1), young=1e10)
    system = sx.System(mass, {"solid": solid, "weight": sx.Gravity(mass, [9.81, 0.0, 0.0])}, fixed=fixed)
    found = sx.equilibria.static_equilibrium(system, mesh.points)
    end = found.state.q[mesh.nodes_of("x_max"), 0].mean() - 1.0
    assert end == pytest.approx(1000.0 * 9.81 / (2.0 * 1e10), rel=2e-3)
    assert found.way == "load steps"


@pytest.mark.parametrize("young", [1e9, 3e12, 1e14])
def test_a_string_sags_however_stiff_it_is(young):
    """Of no force at first; s³ = 3 w L³/(64 EA) with H = w L²/8s and ε = 8s²/3L², to the order of (s/L)² and 1/n².

    What round-off leaves of the forces of its bars is more than a part of its weight that is small.
    """
    n, area, weight = 40, 1e-6, 0.0765
    points = np.column_stack([np.linspace(0.0, 1.0, n + 1), np.zeros(n + 1)])
    bars = sx.Bars(
        np.column_stack([np.arange(n), np.arange(1, n + 1)]),
        sx.measures.EngineeringStrain(young * area * n, 1.0 / n),
        dim=2,
    )
    mass = np.full(n + 1, weight / 9.81 / n)
    fixed = np.zeros(points.shape, bool)
    fixed[[0, n]] = True
    system = sx.System(mass, {"bars": bars, "weight": sx.Gravity(mass, [0.0, -9.81])}, dim=2, fixed=fixed)
    found = sx.equilibria.static_equilibrium(system, points)
    sag = (3.0 * weight / (64.0 * young * area)) ** (1.0 / 3.0)
    assert -found.state.q[:, 1].min() == pytest.approx(sag, rel=max(2e-3, 2.0 * sag**2))
    # 16 ε |K||q| of what is summed up at a node, as Newton's method takes it
    assert found.residual <= 16.0 * np.finfo(float).eps * 4.0 * young * area * n


@pytest.mark.parametrize("part", [0.5, 0.99, 1.01, 3.0])
def test_a_shallow_truss_is_where_its_exact_path_is(part):
    """Below the limit load before the snap, above it after."""
    found = sx.equilibria.static_equilibrium(truss(part * LIMIT), TRUSS)
    y = found.state.q[1, 1]
    assert (y > 0.0) == (part < 1.0)
    assert truss_force(y) == pytest.approx(part * LIMIT, rel=1e-11)
    assert found.state.q[1, 0] == pytest.approx(0.0, abs=1e-12)
    assert found.stable


def test_a_path_by_arc_length_goes_through_both_limits():
    found = sx.equilibria.equilibrium_path(truss(1.0), TRUSS, step=0.002)
    y = found.q[:, 1, 1]
    np.testing.assert_allclose(found.part, truss_force(y), atol=1e-10)
    assert np.all(np.diff(y) < 0.0)
    assert found.part[y > 0.0].max() == pytest.approx(LIMIT, rel=0.01)
    assert found.part.min() == pytest.approx(-LIMIT, rel=0.01)
    assert found.part[-1] >= 1.0
    # Stable before the first limit and after the second: where the force grows as the apex goes down.
    np.testing.assert_array_equal(found.stable, truss_force(y - 1e-7) > truss_force(y + 1e-7))


def test_supports_go_where_they_are_at_the_time():
    down = sx.actions.SupportTranslation([1], [0.0, -0.05], sx.actions.TimeFunction.steady(1.0), components="y")
    system = truss(moving={"down": down})
    found = sx.equilibria.static_equilibrium(system, TRUSS, t=1.0)
    np.testing.assert_allclose(found.state.q[1], [0.0, RISE - 0.05], atol=1e-14)
    reaction = system.reactions(found.state)[1, 1]
    assert reaction == pytest.approx(-truss_force(0.05), rel=1e-9)
    later = sx.equilibria.static_equilibrium(system, found.state.q, t=1.5, since=1.0)
    np.testing.assert_allclose(later.state.q[1], [0.0, RISE - 0.075], atol=1e-14)


def block(gap=0.0, stiffness=1e6, loads=None):
    mesh = sx.box((1.0, 1.0, 1.0), (2, 2, 2), split="hexahedra")
    material = sx.NeoHookean.from_young(E=1e6, nu=0.3, density=1000.0)
    cells = mesh.cells["hexahedron"]
    mass = sx.lumped_mass(mesh.points, cells, 1000.0, len(mesh.points))
    ground = sx.RigidContact(mesh.boundary_nodes, sx.HalfSpace([0, 0, -gap], [0, 0, 1]), stiffness)
    energies = {
        "solid": sx.Solid(mesh.points, cells, material),
        "weight": sx.Gravity(mass, [0, 0, -9.81]),
        "ground": ground,
    }
    return mesh, sx.System(mass, energies, loads=loads), ground


@pytest.mark.parametrize("gap", [0.0, 0.3])
def test_a_block_comes_to_rest_on_the_ground(gap):
    """It is held by nothing until it touches, and slides freely after."""
    mesh, system, ground = block(gap)
    found = sx.equilibria.static_equilibrium(system, mesh.points)
    assert found.way == "relaxation"
    forces = np.zeros_like(mesh.points)
    ground.add_gradient(found.state.q, forces)
    assert -forces[:, 2].sum() == pytest.approx(9810.0, rel=1e-8)
    assert found.residual < 1e-7 * 9810.0
    np.testing.assert_allclose(found.state.q[:, :2].mean(axis=0), 0.5, atol=1e-9)
    motion = sx.EnergyMomentum(0.01).start(system, found.state)
    assert np.abs(motion.advance(0.2).q - found.state.q).max() < 1e-9


@pytest.mark.slow
def test_a_column_buckles():
    """Straight it would be in equilibrium as well, but not in one that is stable."""
    mesh, solid, mass, fixed = beam(cells=(6, 1, 1))
    critical = 0.25 * np.pi**2 * 1e7 * 0.05**4 / 12.0
    for part in (0.9, 1.1):
        system = sx.System(mass, {"solid": solid, "end": end_force(mesh, [-part * critical, 0, 0])}, fixed=fixed)
        found = sx.equilibria.static_equilibrium(system, mesh.points)
        aside = np.linalg.norm(found.state.q[mesh.nodes_of("x_max"), 1:].mean(axis=0) - 0.025)
        assert (aside > 0.1) == (part > 1.0)
        assert found.stable


class Follower(DifferentiableLoad):
    """A force on the apex of the truss that turns with the line from its left foot."""

    nodes = np.array([[0, 1]], dtype=np.int32)

    def __init__(self, force, known=True):
        self.force, self.known = force, known

    def __call__(self, t, q, v):
        out, along = np.zeros_like(q), q[1] - q[0]
        out[1] = self.force * np.array([along[1], -along[0]])
        return out

    def derivatives(self, t, x, v):
        by_q = np.zeros((1, 4, 4))
        by_q[0, 2:, 2:] = self.force * np.array([[0.0, 1.0], [-1.0, 0.0]])
        by_q[0, 2:, :2] = -by_q[0, 2:, 2:]
        return (by_q if self.known else 0.0 * by_q), np.zeros_like(by_q)


@pytest.mark.parametrize("known", [True, False])
def test_loads_without_a_potential(known):
    system = truss(loads={"wind": Follower(0.2, known)})
    found = sx.equilibria.static_equilibrium(system, TRUSS)
    assert found.stable is True
    assert found.residual < 1e-10
    assert found.state.q[1, 0] > 1e-6


def test_what_is_loose_is_told():
    mesh, system, _ = block()
    free = sx.System(system.mass, {name: system.energies[name] for name in ("solid", "weight")})
    with pytest.raises(NoEquilibrium, match=r"moves away.* 27 nodes connected with node 0 are held by nothing along x"):
        sx.equilibria.static_equilibrium(free, mesh.points)


def test_a_free_body_without_loads_stays_as_it_is():
    """What rounding leaves of its forces is no load; a force that is as small is."""
    mesh, solid, mass, _ = beam(cells=(3, 1, 1), poisson=0.3)
    moved = mesh.points @ np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
    system = sx.System(mass, {"solid": solid})
    found = sx.equilibria.static_equilibrium(system, moved)
    assert found.residual > 0.0
    assert found.stable is None
    np.testing.assert_array_equal(found.state.q, moved)
    pulled = sx.System(mass, {"solid": solid, "pull": sx.actions.NodalForce([0], [0.0, 0.0, found.residual])})
    with pytest.raises(NoEquilibrium):
        sx.equilibria.static_equilibrium(pulled, moved)


def test_elements_that_do_not_see_a_motion_are_named():
    """A hexahedron of reduced integration, clamped, and twisted as it does not feel."""
    mesh = sx.quadratic(sx.box((1.0, 1.0, 1.0), (1, 1, 1), split="hexahedra"))
    solid = sx.Solid(
        mesh.points, mesh.cells["hexahedron20"], sx.LinearElastic.from_young(1e6, 0.3, 1e3), formulation="reduced"
    )
    fixed = np.repeat(mesh.points[:, :1] == 0.0, 3, axis=1)
    force = sx.actions.NodalForce([int(np.argmax(mesh.points.sum(axis=1)))], [0.0, 0.0, 10.0])
    system = sx.System(np.full(len(mesh.points), 50.0), {"cube": solid, "force": force}, fixed=fixed)
    with pytest.raises(NoEquilibrium, match=r"moves away.*; hexahedra of reduced .* 1 of 'cube' move so; take"):
        sx.equilibria.static_equilibrium(system, mesh.points)


def test_a_load_that_nothing_can_carry_is_told():
    """A Lennard-Jones pair, which holds 2.396 N."""
    pair = sx.Bars([[0, 1]], sx.measures.LennardJones(1.0, 1.0), dim=1)
    fixed = np.array([[True], [False]])
    force = sx.actions.NodalForce([1], [2.5])
    system = sx.System(np.ones(2), {"pair": pair, "force": force}, dim=1, fixed=fixed)
    with pytest.raises(NoEquilibrium, match="moves away"):
        sx.equilibria.static_equilibrium(system, [[0.0], [2.0 ** (1 / 6)]])


def test_nothing_to_do_is_done_at_once():
    found = sx.equilibria.static_equilibrium(truss(), TRUSS)
    assert (found.corrections, found.steps, found.residual) == (0, 0, 0.0)
    np.testing.assert_array_equal(found.state.q, TRUSS)


# -- one after the other ------------------------------------------------------------------------------------------


def pressed(way):
    """Return the truss whose apex is pressed down by a way in 1 s."""
    down = sx.actions.SupportTranslation([1], [0.0, -way], sx.actions.TimeFunction.steady(1.0), components="y")
    return truss(moving={"down": down})


def test_slow_motion_does_the_work_that_the_strain_energy_is():
    """To the second order of the step; what is left is the work of coming to rest."""
    errors = []
    for n in (8, 16):
        system = pressed(0.15)
        motion = sx.equilibria.Static(1.0 / n).start(system, system.state(TRUSS))
        energies = motion.energies(motion.advance(1.0))
        assert energies["balance"] == pytest.approx(0.0, abs=1e-12)
        assert energies["kinetic"] == 0.0
        errors.append(energies["work_rest"])
        assert energies["work_down"] + energies["work_rest"] == pytest.approx(energies["bars"], rel=1e-12)
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)


def test_a_snap_is_energy_that_is_lost():
    """Of a load that grows over the limit; exactly the area between the load and the path."""
    load = sx.actions.NodalLoad([1], [0.0, -2.0 * LIMIT], lambda t: t)
    system = truss(loads={"push": load})
    n = 400
    motion = sx.equilibria.Static(1.0 / n).start(system, system.state(TRUSS))
    energies = motion.energies(motion.advance(1.0))
    heights = np.linspace(0.0, RISE, 100_001)
    before = heights[np.argmax(truss_force(heights))]
    after = brentq(lambda y: truss_force(y) - LIMIT, -2 * RISE, -RISE)

    def bars(y):
        return EA / LENGTH * (np.hypot(1.0, y) - LENGTH) ** 2

    lost = LIMIT * (before - after) - (bars(after) - bars(before))
    assert -energies["work_rest"] == pytest.approx(lost, rel=0.01)


def test_slow_motion_goes_on_bit_identically():
    system = pressed(0.1)
    method = sx.equilibria.Static(0.125)
    motion = method.start(system, system.state(TRUSS))
    motion.advance(0.5)
    kept = motion.checkpoint()
    end, other = motion.advance(1.0), method.resume(system, kept)
    np.testing.assert_array_equal(other.advance(1.0).q, end.q)
    assert other.energies(end) == motion.energies(end)
    assert other.statistics() == motion.statistics()


def pressed_cube(pressure, load_of=lambda load: load):
    """Return a cube of rubber between three planes of symmetry under a pressure on its other faces."""
    mesh = sx.box((1.0, 1.0, 1.0), (2, 2, 2), split="hexahedra")
    cells, faces = mesh.cells["hexahedron"], mesh.boundary_faces["quad"]
    pushed = faces[(mesh.points[faces] == 1.0).all(axis=1).any(axis=1)]
    rubber = sx.NeoHookean.from_young(1e6, 0.3, 1000.0)
    mass = sx.lumped_mass(mesh.points, cells, 1000.0, len(mesh.points))
    load = load_of(sx.actions.Pressure(pushed, pressure))
    energies = {"cube": sx.Solid(mesh.points, cells, rubber)}
    return mesh, rubber, sx.System(mass, energies, fixed=mesh.points == 0.0, loads={"pressure": load})


class Repelled(Energy):
    """A node that is pushed away from the origin in proportion to its distance."""

    def __init__(self, node, stiffness):
        self.nodes = np.array([[node]], dtype=np.int32)
        self.stiffness = stiffness

    def value(self, x):
        return -0.5 * self.stiffness * (x**2).sum(axis=(1, 2))

    def gradient(self, x):
        return -self.stiffness * x

    def hessian(self, x):
        return np.tile(-self.stiffness * np.eye(3), (len(x), 1, 1))


@pytest.mark.parametrize(("part", "stable"), [(-1e-3, True), (1e-10, None), (1e-3, False)])
def test_a_tangent_that_is_nearly_singular_decides_nothing(part, stable):
    mesh, _, system = pressed_cube(1e5)
    n = len(mesh.points)
    stiffness = part * np.abs(system.hessian_blocks(mesh.points)).max()
    points = np.vstack([mesh.points, np.zeros(3)])
    fixed = np.vstack([system.fixed, np.zeros((1, 3), bool)])
    energies = {**system.energies, "node": Repelled(n, stiffness)}
    both = sx.System(np.append(system.mass, 1.0), energies, fixed=fixed, loads=system.loads)
    balance = StaticBalance(both, 0.0, points, np.zeros_like(points))
    assert balance.is_stable(points) is stable


def test_a_cube_under_pressure_is_as_small_as_its_law_says_by_quadratic_steps():
    mesh, rubber, system = pressed_cube(4e5)
    found = sx.equilibria.static_equilibrium(system, mesh.points)
    assert found.stable is True
    # W(λ) of a uniform stretch: −p λ² = ∂W/∂λ / 3
    one = sx.Solid(mesh.points, mesh.cells["hexahedron"], rubber)
    h = 1e-6
    stretch = brentq(
        lambda s: (one.total((s + h) * mesh.points) - one.total((s - h) * mesh.points)) / (6.0 * h) + 4e5 * s**2,
        0.5,
        1.0,
    )
    np.testing.assert_allclose(found.state.q, stretch * mesh.points, atol=1e-8)
    # The same without a derivative, as if the pressure did not follow: iterations do not converge, damped motion does.
    plain = sx.equilibria.static_equilibrium(
        pressed_cube(4e5, lambda load: lambda t, q, v: load(t, q, v))[2], mesh.points
    )
    assert plain.way == "relaxation"
    np.testing.assert_allclose(plain.state.q, found.state.q, rtol=1e-4)
    assert found.corrections <= 8
    assert plain.corrections >= 2 * found.corrections


def stiff_bar(force, history=1.0):
    """A bar of 1e16 N/m along x, fixed at one end and pulled at the other."""
    stiff = sx.Bars([[0, 1]], sx.measures.GreenStrain(1e16, 1.0), dim=3)
    x, fixed = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]), np.array([[True] * 3, [False, True, True]])
    pull = sx.actions.NodalLoad([1], [[force, 0.0, 0.0]], history)
    return sx.System(np.ones(2), {"bar": stiff}, dim=3, fixed=fixed, loads={"pull": pull}), x


@pytest.mark.parametrize("force", [1e-9, 0.1, 1.0])
def test_loads_that_are_less_than_round_off_are_in_the_residual(force):
    """A displacement that positions cannot hold leaves the load as it is."""
    system, x = stiff_bar(force)
    found = sx.equilibria.static_equilibrium(system, x)
    assert np.array_equal(found.state.q, x)
    assert found.residual == force


def test_what_acts_on_a_stiff_system_is_found():
    """Of a load that passes through zero round-off is left; one on a support moves nothing; a large one is found."""
    for history in (0.0, lambda t: float(np.cos(0.5 * np.pi))):
        system, x = stiff_bar(0.1, history)
        assert np.array_equal(sx.equilibria.static_equilibrium(system, x).state.q, x)
    system, x = stiff_bar(0.1)
    held = sx.System(np.ones(2), system.energies, dim=3, fixed=np.array([[True] * 3] * 2), loads=system.loads)
    assert np.array_equal(sx.equilibria.static_equilibrium(held, x).state.q, x)
    found = sx.equilibria.static_equilibrium(*stiff_bar(1e6)).state.q[1, 0] - 1.0
    assert found == pytest.approx(1e-10, rel=1e-4)


def beside_stiff_bars(force):
    """Two stiff bars along x, fixed at one end, with a soft one at the other end that is pulled."""
    stiff = sx.Bars([[0, 1], [1, 2]], sx.measures.GreenStrain(1e16, 1.0), dim=3)
    soft = sx.Bars([[2, 3]], sx.measures.GreenStrain(1e8, 1.0), dim=3)
    x = np.outer(np.arange(4.0), [1.0, 0.0, 0.0])
    fixed = np.ones((4, 3), bool)
    fixed[1:, 0] = False
    pull = sx.actions.NodalLoad([3], [[force, 0.0, 0.0]], 1.0)
    return sx.System(np.ones(4), {"stiff": stiff, "soft": soft}, dim=3, fixed=fixed, loads={"pull": pull}), x


@pytest.mark.parametrize("force", [1e-3, 1.0, 1e3])
def test_small_loads_move_what_is_soft_beside_stiff_couplings(force):
    """Round-off of the stiff forces, 16 ε · 1e16 N/m · 5 m or 180 N, is more than the smaller loads."""
    system, x = beside_stiff_bars(force)
    moved = sx.equilibria.static_equilibrium(system, x).state.q - x
    assert moved[3, 0] == pytest.approx(force / 1e8, rel=1e-4, abs=1e-14)
    assert np.abs(moved[:3]).max() <= 2e-15 + 3e-16 * force
