"""Systems: what is checked, what is conserved, masses of both kinds, the Hessian."""

import numpy as np
import pytest
import scipy.sparse as sp

import symplex as sx
from symplex.base.columns import Column
from symplex.errors import InvalidSystem, StepFailed
from symplex.fem.actions.loads import Gravity
from symplex.fem.actions.mass import consistent_mass, lumped_mass
from symplex.fem.energies.energy import Energy
from symplex.fem.solids.materials import NeoHookean
from symplex.fem.solids.solid import Solid
from symplex.fem.system import System
from symplex.meshes.generate import box


class Tether(Energy):
    """½ k |x|² for each of some nodes; of its forces it shows the sum, and the largest."""

    columns = (
        Column("pull_x", "N", "force", vector="pull"),
        Column("tightest", "N", "force", combined="largest"),
        Column("loosest", "N", "force", combined="smallest"),
    )

    def observed(self, state, gradient):
        pulls = np.abs(gradient[:, 0, 0])
        return {"pull_x": gradient[:, 0, 0].sum(), "tightest": pulls.max(), "loosest": pulls.min()}

    def __init__(self, nodes, k):
        self.nodes = np.asarray(nodes, np.int32).reshape(-1, 1)
        self.k = k

    def value(self, x):
        return 0.5 * self.k * (x**2).sum(axis=(1, 2))

    def gradient(self, x):
        return self.k * x

    def hessian(self, x):
        return np.broadcast_to(self.k * np.eye(x.shape[2]), (len(x), x.shape[2], x.shape[2])).copy()


@pytest.fixture
def mesh():
    return box((0.1, 0.1, 0.1), (2, 2, 2))


@pytest.fixture
def system(mesh):
    solid = Solid(mesh.points, mesh.cells["tetra"], NeoHookean(60.5e9, 26e9, 2700.0))
    mass = lumped_mass(mesh.points, solid.nodes, 2700.0, len(mesh.points))
    return System(mass, {"solid": solid, "tether": Tether([0, 5, 7], 1e9)})


def shaken(mesh):
    return mesh.points + 1e-3 * np.random.default_rng(0).standard_normal(mesh.points.shape)


def test_potential_gradient_and_hessian_belong_together(system, mesh):
    q = shaken(mesh)
    direction = np.random.default_rng(1).standard_normal(q.shape)
    s = 1e-7
    slope = (system.potential(q + s * direction) - system.potential(q - s * direction)) / (2 * s)
    gradient = system.gradient(q)
    assert np.vdot(gradient, direction) == pytest.approx(slope, rel=1e-6)
    change = (system.gradient(q + s * direction) - system.gradient(q - s * direction)) / (2 * s)
    H = system.hessian(q)
    assert H.shape == (3 * len(q), 3 * len(q))
    np.testing.assert_allclose((H @ direction.ravel()).reshape(q.shape), change, atol=1e-6 * np.abs(change).max())
    assert abs(H - H.T).max() < 1e-12 * abs(H).max()


def test_hessian_keeps_its_pattern_and_has_room_for_the_mass(system, mesh):
    first, second = system.hessian(mesh.points), system.hessian(shaken(mesh))
    np.testing.assert_array_equal(first.indices, second.indices)
    np.testing.assert_array_equal(first.indptr, second.indptr)
    assert first.data is not second.data
    assert abs(first - second).max() > 0


def test_loads_and_supports_enter_the_force_only(mesh, system):
    fixed = np.zeros(mesh.points.shape, bool)
    fixed[3] = True
    loads = {"push": lambda t, q, v: np.full_like(q, t)}
    loaded = System(system.mass, system.energies, fixed=fixed, loads=loads)
    q = shaken(mesh)
    force = loaded.force(2.0, q, np.zeros_like(q))
    assert not force[3].any()
    free = np.arange(len(q)) != 3
    np.testing.assert_allclose(force[free], 2.0 - system.gradient(q)[free], rtol=1e-13)
    assert not loaded.accelerations(force)[3].any()


def test_momenta_and_energies_of_a_rigid_motion(system, mesh):
    omega, velocity = np.array([3.0, -2.0, 5.0]), np.array([1.0, 2.0, 3.0])
    state = system.state(mesh.points, np.cross(omega, mesh.points) + velocity)
    mass = system.mass.sum()
    centre = system.mass @ mesh.points / mass
    np.testing.assert_allclose(system.momentum(state), mass * (np.cross(omega, centre) + velocity), rtol=1e-12)
    energies = system.energies_of(state)
    assert list(energies) == ["kinetic", "solid", "tether", "total"]
    assert energies["total"] == pytest.approx(sum(v for k, v in energies.items() if k != "total"))
    L = system.angular_momentum(state)
    assert energies["kinetic"] == pytest.approx(0.5 * (omega @ L + velocity @ system.momentum(state)))


@pytest.mark.parametrize(("dim", "size"), [(1, 0), (2, 1), (3, 3)])
def test_angular_momentum_in_each_dimension(dim, size):
    system = System(np.ones(3), {"tether": Tether([0], 1.0)}, dim=dim)
    state = system.state(np.ones((3, dim)), np.ones((3, dim)))
    assert system.angular_momentum(state).shape == (size,)


def test_angular_momentum_in_the_plane_is_that_about_its_normal():
    system = System(np.array([2.0, 3.0]), {}, dim=2)
    state = system.state([[1.0, 0.0], [0.0, 2.0]], [[5.0, 7.0], [-1.0, 4.0]])
    np.testing.assert_allclose(system.angular_momentum(state), [2 * 7.0 + 3 * 2.0])


def test_consistent_mass_gives_the_same_motion_of_rigid_bodies(mesh, system):
    fixed = np.zeros(mesh.points.shape, bool)
    fixed[4, 1] = True
    M = consistent_mass(mesh.points, system.energies["solid"].nodes, 2700.0, len(mesh.points))
    consistent = System(M, system.energies, fixed=fixed)
    v = np.random.default_rng(2).standard_normal(mesh.points.shape)
    v[fixed] = 0.0
    force = np.where(fixed, 0.0, consistent.apply_mass(v))
    np.testing.assert_allclose(consistent.accelerations(force), v, atol=1e-10)
    out = np.empty_like(v)
    assert consistent.accelerations(force, out=out) is out
    np.testing.assert_allclose(out, v, atol=1e-10)
    whole = System(sp.csr_array(np.array([[2, 1], [1, 2]])), {}, dim=1)  # whole numbers, too
    np.testing.assert_allclose(whole.accelerations(np.array([[3.0], [3.0]])), 1.0)
    with pytest.raises(InvalidSystem, match="Leapfrog needs a lumped"):
        consistent.lumped_mass("Leapfrog")


def test_misfits_are_refused(system, mesh):
    with pytest.raises(InvalidSystem, match=r"1 of 71 nodes have no mass \(the first is node 2\)"):
        System(np.where(np.arange(71) == 2, 0.0, system.mass), system.energies)
    with pytest.raises(InvalidSystem, match=r"fixed has shape \(3, 3\)"):
        System(system.mass, system.energies, fixed=np.zeros((3, 3), bool))
    with pytest.raises(InvalidSystem, match="energy 'solid' refers to nodes 0 to 70, but there are 70 nodes"):
        System(system.mass[:-1], {"solid": system.energies["solid"]})
    with pytest.raises(InvalidSystem, match="positions have shape"):
        system.state(mesh.points[:-1])
    with pytest.raises(InvalidSystem, match="have no mass"):
        System(sp.csr_array((3, 3)), {})
    with pytest.raises(InvalidSystem, match="nodes -1 to 2"):
        System(np.ones(3), {"tether": Tether([-1, 2], 1.0)})
    for mass in (np.eye(3), sp.csr_array(np.ones((3, 2)))):
        with pytest.raises(InvalidSystem, match=r"the mass has shape \(3, [32]\)"):
            System(mass, {})
    for mass in (np.nan, np.inf):
        with pytest.raises(InvalidSystem, match=r"the mass of node 1 is (nan|inf) kg"):
            System(np.array([1.0, mass, 1.0]), {})


def test_states_that_do_not_fit_are_refused(system, mesh):
    q = mesh.points.copy()
    for v in (np.zeros((70, 3)), [1.0, 2.0], np.zeros((71, 1))):
        with pytest.raises(InvalidSystem, match="velocities have shape"):
            system.state(q, v)
    with pytest.raises(InvalidSystem, match=r"velocities must be finite; that of node 0 is \[ 0\. inf  0\.\]"):
        system.state(q, [0.0, np.inf, 0.0])
    q[4, 1] = np.nan
    with pytest.raises(InvalidSystem, match="positions must be finite; that of node 4"):
        system.state(q)


def test_an_energy_of_another_dimension_is_refused():
    """Compiled loops would read beyond the end of its local gradients."""
    system = System(np.ones(2), {"gravity": Gravity(np.ones(2), [0.0, -9.81])})
    with pytest.raises(InvalidSystem, match=r"Gravity: the local gradient has shape \(2, 1, 2\), expected \(2, 1, 3\)"):
        system.gradient(np.zeros((2, 3)))

    class Flat(Tether):
        def hessian(self, x):
            return np.zeros((len(x), 2, 2))

    with pytest.raises(InvalidSystem, match=r"Flat: the local Hessian has shape \(1, 2, 2\), expected \(1, 3, 3\)"):
        System(np.ones(2), {"flat": Flat([0], 1.0)}).hessian(np.zeros((2, 3)))


def test_a_system_keeps_its_own_masses_and_supports(mesh, system):
    mass, fixed = system.mass.copy(), np.zeros(mesh.points.shape, bool)
    own = System(mass, system.energies, fixed=fixed)
    mass *= 2.0
    fixed[:] = True
    np.testing.assert_array_equal(own.mass, system.mass)
    assert not own.has_supports


def test_initial_velocity_vanishes_at_supports(mesh, system):
    fixed = np.zeros(mesh.points.shape, bool)
    fixed[:, 2] = True
    state = System(system.mass, system.energies, fixed=fixed).state(mesh.points, [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(state.v, np.broadcast_to([1.0, 2.0, 0.0], state.v.shape))
    np.testing.assert_array_equal(state.reversed().v, -state.v)
    for name in ("t", "q", "a"):
        assert getattr(state.reversed(), name) is getattr(state, name)


def not_by_name():
    return [sx.Gravity(np.ones(2), (0, 0, -9.81))]


def a_constraint_among_energies():
    return {"rod": sx.measures.RigidBars([[0, 1]], 1.0)}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"energies": not_by_name()}, "energies must go by names"),
        ({"energies": a_constraint_among_energies()}, "'rod' is a RigidBars, no Energy. Constraints are for methods"),
        ({"loads": {"weight": not_by_name()[0]}}, "'weight' is a Gravity, .* goes to the energies"),
        ({"moving": {"base": 3.0}}, "'base' is a float, no SupportMotion"),
        ({"mass": 1.0}, "the mass is one number"),
        ({"fixed": np.zeros((2, 2), bool)}, r"dimension 3; System\(..., dim=2\)"),
    ],
)
def test_parts_of_another_kind_are_named(arguments, message):
    with pytest.raises(InvalidSystem, match=message):
        sx.System(**({"mass": np.ones(2), "energies": {}} | arguments))


@pytest.mark.parametrize(
    ("load", "error", "message"),
    [
        (np.zeros(3), InvalidSystem, "expected"),
        (np.full((2, 3), np.nan), StepFailed, "'wind' is not finite at t = 0 s"),
    ],
)
def test_a_load_that_is_no_forces(load, error, message):
    system = sx.System(np.ones(2), {}, loads={"wind": lambda t, q, v: load})
    with pytest.raises(error, match=message):
        system.state(np.zeros((2, 3)))


def test_march_names_what_is_in_the_place_of_another():
    system = sx.System(np.ones(2), {})
    state = system.state(np.zeros((2, 3)))
    with pytest.raises(InvalidSystem, match="for the Integrator there is"):
        sx.record(system, sx.Midpoint, state, [0.0])
    with pytest.raises(InvalidSystem, match="for the State there is"):
        sx.record(system, sx.Midpoint(0.1), state.q, [0.0])


def test_what_energies_tell_of_a_state_is_added_up_by_column(mesh):
    one, two, mute = Tether([1], 2.0), Tether([1, 2], 3.0), Tether([3], 1.0)
    mute.columns = ()
    system = System(np.ones(len(mesh.points)), {"one": one, "two": two, "mute": mute})
    state = system.state(mesh.points + 1.0)
    x1, x2 = state.q[[1, 2], 0]
    reported = system.observed(state, lambda energy, state: energy.gradient(state.q[energy.nodes]))
    tightest, loosest = 3 * max(x1, x2), min(2 * x1, 3 * x2)
    assert reported == {
        "pull_x": pytest.approx(5 * x1 + 3 * x2),
        "tightest": pytest.approx(tightest),
        "loosest": pytest.approx(loosest),
    }
    names = [column.name for column in system.columns]
    assert names[:5] == ["kinetic", "one", "two", "mute", "total"]
    assert names[-3:] == ["pull_x", "tightest", "loosest"]
    assert len(set(names)) == len(names)
    one.columns = one.columns[:1]
    with pytest.raises(
        InvalidSystem, match=r"'one' \(Tether\) reports pull_x, tightest, loosest .* its columns are pull_x\."
    ):
        system.observed(state, lambda energy, state: energy.gradient(state.q[energy.nodes]))
