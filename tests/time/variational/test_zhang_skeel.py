"""Zhang and Skeel's methods: the modified potential, stability, a stiff part, loads, and what is refused."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from symplex.contact.obstacles import HalfSpace, Sphere
from symplex.contact.rigid import RigidContact
from symplex.errors import InvalidSystem, InvertedElement, StepFailed, UnstableStep
from symplex.fem.actions.damping import Drag
from symplex.fem.actions.loads import Gravity, NodalLoad
from symplex.fem.actions.mass import consistent_mass, lumped_mass
from symplex.fem.actions.support_motion import SupportTranslation
from symplex.fem.measures.bars import Bars, EngineeringStrain, GreenStrain, LennardJones, PairLaw, all_pairs
from symplex.fem.solids.materials import MooneyRivlin, NeoHookean
from symplex.fem.solids.solid import Solid
from symplex.fem.system import System
from symplex.meshes.generate import box
from symplex.time.composition import Composition
from symplex.time.explicit.newmark import Newmark
from symplex.time.solvers.definite import DefiniteSolver
from symplex.time.solvers.newton import Newton
from symplex.time.variational.zhang_skeel import ZhangSkeel
from symplex.time.variational.zhang_skeel_force import ModifiedForce

VARIANTS = ("full", "simplified", "push-forward")


# -- systems ----------------------------------------------------------------------------------------------------------


def block(material=None, *, consistent=False, **more):
    """A deformed block on which a stiff wall presses, with one face fixed, and its positions."""
    mesh = box((1.0, 0.8, 0.6), (1, 1, 1), split="6")
    cells = mesh.cells["tetra"]
    solid = Solid(mesh.points, cells, material or NeoHookean(2.0, 1.0, 1.0))
    mass = consistent_mass(mesh.points, cells, 1.0, len(mesh.points)) if consistent else None
    wall = RigidContact(np.arange(len(mesh.points)), HalfSpace((0.9, 0.0, 0.0), (-1.0, 0.1, 0.2)), stiffness=500.0)
    lumped = lumped_mass(mesh.points, cells, 1.0, len(mesh.points))
    system = System(lumped if mass is None else mass, {"solid": solid, "wall": wall}, **more)
    q = mesh.points * [1.1, 0.95, 1.05] + 0.02 * np.random.default_rng(0).standard_normal(mesh.points.shape)
    return system, q


def held_block():
    mesh = box((1.0, 0.8, 0.6), (1, 1, 1), split="6")
    return block(fixed=np.repeat(mesh.points[:, :1] == 0.0, 3, axis=1))


def truss():
    """A square with diagonals in the plane, one of them stiff, on a ball."""
    q = np.array([[0.0, 0.0], [1.0, 0.1], [0.8, 1.3], [-0.1, 1.0]])
    bars = Bars([[0, 1], [1, 2], [2, 3], [3, 0], [0, 2]], EngineeringStrain(4.0, 1.0), dim=2)
    stiff = Bars([[1, 3]], GreenStrain(400.0, 1.4), dim=2)
    ball = RigidContact([0, 1], Sphere((0.5, -2.0), 2.1), stiffness=50.0)
    return System(np.array([1.0, 2.0, 1.0, 3.0]), {"bars": bars, "stiff": stiff, "ball": ball}, dim=2), q


def atoms():
    q = 1.1 * np.stack(np.meshgrid(*[[0.0, 1.0]] * 3), -1).reshape(-1, 3)
    q += 0.05 * np.random.default_rng(1).standard_normal(q.shape)
    return System(np.linspace(1.0, 2.0, 8), {"pairs": Bars(all_pairs(8), LennardJones(1.0, 1.0))}), q


SYSTEMS = {
    "block": block,
    "held block": held_block,
    "consistent mass": lambda: block(MooneyRivlin(1.0, 0.5, 9.0, 1.0), consistent=True),
    "truss": truss,
    "atoms": atoms,
}


# -- the modified potential -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", ["full", "push-forward"])
@pytest.mark.parametrize("make", SYSTEMS.values(), ids=SYSTEMS)
def test_forces_are_the_slope_of_the_modified_potential(make, variant):
    """The independent check: Ṽ by its definition, differentiated by differences, is what velocity Verlet sees."""
    system, q = make()
    force = ModifiedForce(system, 0.3, variant)
    h = 0.2
    forces = force.forces(q, h)
    moving = ~system.fixed
    assert not forces[system.fixed].any()
    expected = np.zeros_like(q)
    for n, i in np.argwhere(moving):
        at = {}
        for steps in (-2, -1, 1, 2):  # five points far apart: differences of near ones are round-off to 1e-7
            moved = q.copy()
            moved[n, i] += steps * 2e-4
            at[steps] = force.energy(moved, h)
        expected[n, i] = (at[2] - at[-2] - 8.0 * (at[1] - at[-1])) / (12.0 * 2e-4)
    size = np.abs(expected).max()
    assert np.abs(expected - np.where(moving, -system.gradient(q), 0.0)).max() > 1e-2 * size  # something is modified
    np.testing.assert_allclose(forces, expected, atol=2e-7 * size)
    np.testing.assert_allclose(force.accelerations(q, h), system.accelerations(expected), atol=1e-6 * size)


@pytest.mark.parametrize(("make", "stiff"), [(block, "wall"), (held_block, "wall"), (truss, "stiff")])
def test_forces_of_the_full_method_with_a_stiff_part_have_a_potential_too(make, stiff):
    system, q = make()
    force = ModifiedForce(system, 0.3, "full", (stiff,))
    h = 0.2
    forces, simplified = force.forces(q, h), ModifiedForce(system, 0.3, "simplified", (stiff,)).forces(q, h)
    for n, i in np.argwhere(~system.fixed):
        ahead, behind = q.copy(), q.copy()
        ahead[n, i] += 1e-6
        behind[n, i] -= 1e-6
        expected = -(force.energy(ahead, h) - force.energy(behind, h)) / 2e-6
        assert forces[n, i] == pytest.approx(expected, abs=2e-7 * np.abs(forces).max())
    assert np.abs(forces - simplified).max() > 1e-3 * np.abs(forces).max()  # eq. 19 leaves something out


def test_forces_depend_on_the_square_of_the_step_and_without_beta_not_at_all():
    system, q = truss()
    for variant in VARIANTS:
        force = ModifiedForce(system, 0.3, variant)
        np.testing.assert_array_equal(force.forces(q, 0.2), force.forces(q, -0.2))
        none = ModifiedForce(system, 0.0, variant)
        np.testing.assert_allclose(none.forces(q, 0.2), -system.gradient(q), rtol=1e-14)
        assert none.energy(q, 0.2) == pytest.approx(system.potential(q), rel=1e-14)


def test_a_run_is_velocity_verlet_in_the_modified_potential():
    system, q = truss()
    v = np.random.default_rng(2).standard_normal(q.shape)
    h = 0.1
    force = ModifiedForce(system, 0.4)
    x, u = q.copy(), v.copy()
    for _ in range(20):
        u += 0.5 * h * force.accelerations(x, h)
        x += h * u
        u += 0.5 * h * force.accelerations(x, h)
    motion = ZhangSkeel(h, 0.4).start(system, system.state(q, v))
    end = motion.advance(20 * h)
    np.testing.assert_allclose(end.q, x, atol=1e-13)
    np.testing.assert_allclose(end.v, u, atol=1e-12)
    np.testing.assert_allclose(end.a, system.state(x, u).a, atol=1e-10)  # states have true accelerations
    assert motion.energies(end)["modified_total"] == pytest.approx(system.kinetic(u) + force.energy(x, h), rel=1e-12)


def test_without_beta_it_is_explicit_newmark():
    system, q = truss()
    v = np.random.default_rng(2).standard_normal(q.shape)
    ends = [method.start(system, system.state(q, v)).advance(1.0) for method in (Newmark(0.01), ZhangSkeel(0.01, 0.0))]
    np.testing.assert_allclose(ends[1].q, ends[0].q, atol=1e-13)


def test_push_forward_newmark_is_newmark_in_other_coordinates():
    """With x = q + βh² M⁻¹∇V(q) (eq. 13), at all times, and the velocities are the same."""
    system, q = truss()
    v = 0.3 * np.random.default_rng(2).standard_normal(q.shape)
    h, beta = 0.05, 0.3
    forward = lambda q: q - beta * h * h * system.accelerations(-system.gradient(q))  # noqa: E731
    newmark = Newmark(h, beta=beta, gamma=0.5).start(system, system.state(q, v)).advance(20 * h)
    start = system.state(forward(q), v)
    pushed = ZhangSkeel(h, beta, "push-forward").start(system, start).advance(20 * h)
    np.testing.assert_allclose(pushed.q, forward(newmark.q), atol=1e-11)
    np.testing.assert_allclose(pushed.v, newmark.v, atol=1e-11)
    assert np.abs(pushed.q - newmark.q).max() > 1e-4


# -- stability --------------------------------------------------------------------------------------------------------


def chain(h_omega, h=0.1):
    """Three masses on linear springs, the stiffest with h ω as given."""
    k = (h_omega / h) ** 2
    springs = Bars([[0, 1], [1, 2], [2, 3]], EngineeringStrain([1.0, 0.5 * k, 2.0], 0.0), dim=1)
    system = System(np.ones(4), {"springs": springs}, dim=1, fixed=np.array([[True], [False], [False], [False]]))
    return system, np.array([[0.0], [0.1], [-0.2], [0.3]])


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("beta", [0.25, 0.4])
@pytest.mark.parametrize("h_omega", [1.0, 3.0, 10.0, 100.0])
def test_linear_systems_are_stable_at_any_step_from_a_quarter_on(variant, beta, h_omega):
    system, q = chain(h_omega)
    motion = ZhangSkeel(0.1, beta, variant).start(system, system.state(q))
    size = [np.abs(motion.advance(t).q).max() for t in 0.1 * np.arange(1, 501)]
    assert max(size[250:]) < 1.1 * max(size[:250]) < 100.0


@pytest.mark.parametrize("beta", [0.0, 0.1, 0.2, 0.24])
def test_below_a_quarter_the_limit_is_where_it_is_said_to_be(beta):
    limit = 2.0 / np.sqrt(1.0 - 4.0 * beta)
    # ω² is distinguished from above, to a few per cent; the two other springs add some to it
    system, q = chain(0.95 * limit)
    motion = ZhangSkeel(0.1, beta).start(system, system.state(q))
    assert np.abs(motion.advance(50.0).q).max() < 100.0
    system, q = chain(1.02 * limit)
    with pytest.raises(
        UnstableStep, match=r"above the stability limit of Zhang and Skeel's method with beta = .*0\.25"
    ):
        ZhangSkeel(0.1, beta).start(system, system.state(q))
    checkpoint = ZhangSkeel(0.1, 0.25).start(system, system.state(q)).checkpoint()
    with np.errstate(all="ignore"), pytest.raises(StepFailed, match="Try a smaller step"):
        ZhangSkeel(0.1, beta).resume(system, checkpoint).advance(1000.0)  # it does blow up


def two_springs(soft, stiff, h=0.1):
    """Three masses, a soft spring between all and a stiff one between two, with h ω as given."""
    pairs = all_pairs(3)
    springs = Bars(pairs, EngineeringStrain((soft / h) ** 2 / 3.0, 0.0), dim=1)
    stiff_one = Bars([[0, 1]], EngineeringStrain(0.5 * (stiff / h) ** 2, 0.0), dim=1)
    return System(np.ones(3), {"soft": springs, "stiff": stiff_one}, dim=1), np.array([[0.1], [-0.3], [0.2]])


@pytest.mark.parametrize(("variant", "limit"), [("simplified", 2.0), ("full", 1.0 / np.sqrt(0.4))])
def test_a_stiff_part_is_stable_as_long_as_the_others_are_resolved(variant, limit):
    method = ZhangSkeel(0.1, 0.4, variant, stiff=("stiff",))
    for stiff in (1.0, 10.0, 100.0):
        system, q = two_springs(0.95 * limit, stiff)
        motion = method.start(system, system.state(q))
        size = [np.abs(motion.advance(t).q).max() for t in 0.1 * np.arange(1, 301)]
        assert max(size) < 100.0
    system, q = two_springs(1.05 * limit, 100.0)
    with pytest.raises(UnstableStep, match="count 'soft' among the stiff energies as well"):
        method.start(system, system.state(q))
    with pytest.raises(UnstableStep, match="count 'soft' among the stiff energies as well"):
        method.fit(system, system.state(q), 1.0)
    ZhangSkeel(0.1, 0.4, variant, stiff=("stiff", "soft")).start(system, system.state(q)).advance(30.0)


# -- what the variants keep -------------------------------------------------------------------------------------------


def moment(system, q, forces):
    return float(np.sum(q[:, 0] * forces[:, 1] - q[:, 1] * forces[:, 0]))


def test_the_simplified_method_makes_moments_of_fourth_order():
    """Its forces are those of the potential up to O(h⁴), and their moments vanish only as fast; their sum is zero."""
    system, q = truss()
    del system.energies["ball"]
    moments = []
    for h in (0.04, 0.02, 0.01):
        for options in (("full",), ("full", ("stiff",)), ("push-forward",)):
            assert abs(moment(system, q, ModifiedForce(system, 0.3, *options).forces(q, h))) < 1e-11
        forces = ModifiedForce(system, 0.3, "simplified").forces(q, h)
        np.testing.assert_allclose(forces.sum(axis=0), 0.0, atol=1e-12)
        moments.append(moment(system, q, forces))
    assert abs(moments[0]) > 1e-6
    np.testing.assert_allclose(np.log2(np.divide(moments[:-1], moments[1:])), 4.0, atol=0.7)


def asymmetry(force, q, h):
    """Return the largest entry of ∂f/∂q − (∂f/∂q)ᵀ, which is zero where f has a potential: for a symplectic step."""
    columns = []
    for n, i in np.ndindex(*q.shape):
        ahead, behind = q.copy(), q.copy()
        ahead[n, i] += 1e-5
        behind[n, i] -= 1e-5
        columns.append((force.forces(ahead, h) - force.forces(behind, h)).ravel() / 2e-5)
    J = np.array(columns)
    return np.abs(J - J.T).max()


def test_how_symplectic_the_variants_are():
    """To round-off the full one and push-forward; O(h⁴) the simplified one, and O(h²) with a stiff part only."""
    system, q = truss()
    del system.energies["ball"]
    for force in (
        ModifiedForce(system, 0.3),
        ModifiedForce(system, 0.3, "push-forward"),
        ModifiedForce(system, 0.3, "full", ("stiff",)),
    ):
        assert asymmetry(force, q, 0.05) < 1e-6
    for stiff, order in (((), 4.0), (("stiff",), 2.0)):
        force = ModifiedForce(system, 0.3, "simplified", stiff)
        defects = [asymmetry(force, q, h) for h in (0.02, 0.01)]
        assert defects[1] > 1e-5
        assert np.log2(defects[0] / defects[1]) == pytest.approx(order, abs=0.5)


@pytest.mark.parametrize(("stiff", "order"), [((), 4), (("stiff",), 2)])
def test_a_step_loses_angular_momentum_with_one_power_more_than_a_motion(stiff, order):
    pairs = {"soft": Bars(all_pairs(4), LennardJones(0.5, 0.9)), "stiff": Bars([[0, 1]], EngineeringStrain(5.0, 1.0))}
    system = System(np.linspace(1.0, 2.0, 4), pairs)
    q = np.array([[0, 0, 0], [1.1, 0, 0], [0.5, 0.9, 0.1], [0.5, 0.3, 0.8]])
    state = system.state(q, 0.3 * np.random.default_rng(3).standard_normal(q.shape))
    before = system.angular_momentum(state)

    def lost(h, t):
        end = ZhangSkeel(h, variant="simplified", stiff=stiff).start(system, state).advance(t)
        return np.linalg.norm(system.angular_momentum(end) - before)

    assert np.log2(lost(0.02, 0.02) / lost(0.01, 0.01)) == pytest.approx(order + 1, abs=0.2)
    assert np.log2(lost(0.02, 0.4) / lost(0.01, 0.4)) == pytest.approx(order, abs=0.2)


def test_the_modified_energy_of_a_stiff_system_is_kept_over_long_times():
    """Where the step is far too large for the stiff bar: without drift, nearly."""
    system, q = truss()
    del system.energies["ball"]
    v = 0.3 * np.random.default_rng(2).standard_normal(q.shape)
    energies = {}
    for variant in ("full", "push-forward"):
        motion = ZhangSkeel(0.1, variant=variant).start(system, system.state(q, v))
        energies[variant] = [motion.energies(motion.advance(t))["modified_total"] for t in 2.0 * np.arange(51)]
    for values in energies.values():
        assert np.ptp(values) < 0.2 * abs(values[0])
        assert abs(np.mean(values[26:]) - np.mean(values[:26])) < 0.02 * abs(values[0])


def test_a_composition_has_no_modified_energy_of_its_own():
    system, q = truss()
    method = Composition(ZhangSkeel(0.02), order=6)
    assert method.conserves == {"momentum", "angular momentum", "symplectic form"}
    motion = method.start(system, system.state(q))
    assert "modified_total" not in motion.energies(motion.advance(0.1))
    assert motion.statistics() == {"steps": 5, "substeps": 45}


def test_the_method_of_eq_19_has_no_modified_energy():
    system, q = truss()
    motion = ZhangSkeel(0.02, variant="simplified", stiff=("stiff",)).start(system, system.state(q))
    assert "modified_total" not in motion.energies(motion.advance(0.1))


# -- contact ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("m", [2, 3, 4])
@pytest.mark.parametrize("h_omega", [2.5, 10.0, 1e4])
def test_hard_contact_is_elastic_at_some_beta(m, h_omega):
    """Mass points leave a wall as fast as they came, wherever in a step they meet it.

    In contact the positions are those of a rotation by θ in each step, 2 − 2 cos θ = h²ω²/(1 + βh²ω²). Where θ = π/m
    they are the opposite after m steps, so that the last two are those before the contact, reflected.
    """
    phases = 40
    wall = RigidContact(np.arange(phases), HalfSpace((0.0,), (1.0,)), stiffness=h_omega**2)
    system = System(np.ones(phases), {"wall": wall}, dim=1)
    start = system.state(1.0 + (np.arange(phases) + 0.5)[:, None] / phases, np.full((phases, 1), -1.0))
    beta = 1.0 / (2.0 - 2.0 * np.cos(np.pi / m)) - 1.0 / h_omega**2
    for variant, stiff in (("full", ("wall",)), ("simplified", ()), ("push-forward", ())):
        end = ZhangSkeel(1.0, beta, variant, stiff).start(system, start).advance(15.0)
        np.testing.assert_allclose(end.v, 1.0, atol=1e-9)
    other = ZhangSkeel(1.0, 0.8 * beta).start(system, start).advance(15.0) if beta > 0.35 else None
    assert other is None or np.abs(other.v - 1.0).max() > 1e-2


# -- loads ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"variant": "simplified", "stiff": ("stiff",)}, {"variant": "push-forward"}])
def test_loads_of_time_and_velocity_are_of_second_order(options):
    free, q = truss()
    loads = {"push": NodalLoad([2], (0.3, 0.1), lambda t: np.sin(5.0 * t)), "drag": Drag(free.mass, 0.8)}
    energies = {name: free.energies[name] for name in ("bars", "stiff")}
    system = System(free.mass, energies, dim=2, loads=loads)
    start = system.state(q)
    ends = [ZhangSkeel(h, **options).start(system, start).advance(1.0).q for h in (0.01, 0.005, 0.0025)]
    errors = [np.abs(a - b).max() for a, b in pairwise(ends)]
    np.testing.assert_allclose(np.log2(np.divide(errors[:-1], errors[1:])), 2.0, atol=0.2)
    motion = ZhangSkeel(0.01, **options).start(system, start)
    assert "modified_total" not in motion.energies(motion.advance(0.1))  # loads have no potential


def test_the_work_of_loads_balances_the_energy():
    free, q = truss()
    del free.energies["ball"]
    loads = {"push": NodalLoad([2], (3.0, 1.0), lambda t: np.sin(5.0 * t)), "drag": Drag(free.mass, 0.8)}
    system = System(free.mass, free.energies, dim=2, loads=loads)
    defects = []
    for h in (0.01, 0.005):
        motion = ZhangSkeel(h).start(system, system.state(q))
        first, last = (motion.energies(motion.advance(t)) for t in (0.0, 1.0))
        assert first["balance"] == first["total"]
        assert last["work_drag"] < -0.1 < 0.1 < abs(last["work_push"])
        defects.append(abs(last["balance"] - first["balance"]))
    assert defects[0] < 1e-3
    assert defects[1] < 0.3 * defects[0]


def test_moving_supports_are_refused():
    system, q = truss()
    shaken = System(
        system.mass, system.energies, dim=2, moving={"base": SupportTranslation([0], "x", ([0, 1], [0, 1]))}
    )
    with pytest.raises(InvalidSystem, match="ZhangSkeel cannot move supports"):
        ZhangSkeel(0.1).start(shaken, system.state(q))


# -- the linear equations ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["auto", "dense", "sparse", "krylov"])
@pytest.mark.parametrize("make", [held_block, lambda: block(consistent=True), truss])
def test_linear_solvers_agree(make, kind):
    system, q = make()
    s = 0.02
    solver = DefiniteSolver(system, kind)
    solver.update(q, s)
    b = np.where(system.fixed, 0.0, np.random.default_rng(0).standard_normal(q.shape))
    mass = sp.diags_array(system.mass) if system.is_lumped else system.mass
    matrix = (sp.kron(mass, sp.eye_array(system.dim)) + s * system.hessian(q)).toarray()
    free = np.flatnonzero(~system.fixed.ravel())
    expected = np.zeros(q.size)
    expected[free] = np.linalg.solve(matrix[np.ix_(free, free)], b.ravel()[free])
    np.testing.assert_allclose(solver.solve(b).ravel(), expected, atol=1e-11 * np.abs(expected).max())


def test_contact_alone_is_solved_node_by_node():
    system, q = block()
    force = ModifiedForce(system, 0.3, "simplified", ("wall",))
    a = force.accelerations(q, 0.1)
    g, H = system.gradient(q), force.stiff.hessian(q).toarray()
    expected = np.linalg.solve(np.diag(np.repeat(system.mass, 3)) + 0.3 * 0.01 * H, -g.ravel())
    np.testing.assert_allclose(a.ravel(), expected, rtol=1e-12, atol=1e-13)


def compressed(n=2):
    """A bar of n pieces compressed along x, free to move across: it buckles."""
    points = np.column_stack([np.linspace(0.0, 0.7, n + 1), np.zeros(n + 1)])
    bars = Bars(np.column_stack([np.arange(n), np.arange(1, n + 1)]), EngineeringStrain(100.0 * n, 1.0 / n), dim=2)
    fixed = np.zeros((n + 1, 2), bool)
    fixed[[0, -1]] = True
    return System(np.full(n + 1, 0.5), {"bar": bars}, dim=2, fixed=fixed), points


@pytest.mark.parametrize(("n", "kind"), [(2, "auto"), (6, "dense"), (6, "sparse"), (6, "krylov"), (150, "auto")])
def test_buckling_is_reported_with_its_place_and_never_projected(n, kind):
    system, q = compressed(n)
    q = q + np.where(system.fixed, 0.0, 1e-3 * np.random.default_rng(0).standard_normal(q.shape) / n)
    method = ZhangSkeel(0.2, newton=Newton(linear=kind))
    with pytest.raises(StepFailed, match=r"not positive definite: in compression or buckling") as caught:
        method.start(system, system.state(q))
    assert "most of all at node" in str(caught.value)
    assert "('bar')" in str(caught.value)


@pytest.mark.parametrize("kind", ["auto", "sparse", "krylov"])
def test_iterations_find_out_that_a_matrix_is_not_definite(kind):
    """A net of springs that all push, too wide for a band."""
    q = np.random.default_rng(0).uniform(size=(70, 3))
    net = System(np.ones(70), {"net": Bars(all_pairs(70), EngineeringStrain(1.0, 2.0))})
    solver = DefiniteSolver(net, kind)

    def solve(s):
        solver.update(q, s)
        return solver.solve(net.gradient(q))

    assert np.isfinite(solve(1e-3)).all()
    with pytest.raises(StepFailed, match=r"not positive definite.* most of all at node \d+ \('net'\)"):
        solve(1.0)


def test_the_step_that_buckling_allows_is_told_rightly():
    system, q = compressed()
    least = np.linalg.eigvalsh(system.hessian(q).toarray()[2:4, 2:4] / 0.5)[0]
    limit = 1.0 / np.sqrt(0.4 * -least)
    with pytest.raises(StepFailed, match=r"below 0\.5 of what it is"):
        ZhangSkeel(2.0 * limit).start(system, system.state(q))
    ZhangSkeel(0.99 * limit).start(system, system.state(q))


def test_indefinite_blocks_of_contact_are_found():
    """Deep inside a ball the tangential stiffness of its contact is negative."""
    system = System(np.ones(2), {"ball": RigidContact([0, 1], Sphere((0.0, 0.0, 0.0), 1.0), stiffness=100.0)})
    q = np.array([[2.0, 0.0, 0.0], [0.1, 0.0, 0.0]])
    with pytest.raises(StepFailed, match=r"at node 1 \('ball'\)"):
        ZhangSkeel(0.5).start(system, system.state(q))


# -- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"dt": 0.0}, r"dt must be positive, got 0 s"),
        ({"dt": "auto"}, "dt must be a real number .*, got 'auto'"),
        ({"dt": 0.1, "beta": -0.1}, "beta must be at least 0, got -0.1"),
        ({"dt": 0.1, "beta": float("nan")}, "beta must be finite"),
        ({"dt": 0.1, "variant": "fancy"}, "variant must be one of 'full', 'simplified', 'push-forward', got 'fancy'"),
        ({"dt": 0.1, "stiff": "wall"}, "stiff must be a sequence, each a short string, got 'wall'"),
        ({"dt": 0.1, "stiff": ("wall",), "variant": "push-forward"}, 'push-forward" has no stiff part'),
    ],
)
def test_parameters_out_of_range(arguments, message):
    with pytest.raises(ValueError, match=message):
        ZhangSkeel(**arguments)


def test_an_unknown_stiff_energy():
    system, q = truss()
    with pytest.raises(InvalidSystem, match="no energy 'wal' to be stiff; there are 'bars', 'stiff', 'ball'"):
        ZhangSkeel(0.1, stiff=("wal",)).start(system, system.state(q))


class Square(PairLaw):
    """φ = s²/2, without a third derivative."""

    def energy(self, s):
        return 0.5 * s**2

    def slope(self, s):
        return s

    def curvature(self, s):
        return np.ones_like(s)

    def quotient(self, s0, s1):
        return s0 + s1

    def quotient_slope(self, s0, s1):
        return np.ones_like(s1)


def test_a_missing_third_derivative_is_told_at_the_start():
    q = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    system = System(np.ones(2), {"pair": Bars([[0, 1]], Square())})
    with pytest.raises(InvalidSystem, match="Square has no third derivative"):
        ZhangSkeel(0.1).start(system, system.state(q))
    ZhangSkeel(0.1, variant="simplified").start(system, system.state(q)).advance(1.0)
    ZhangSkeel(0.1, variant="push-forward").start(system, system.state(q)).advance(1.0)


def test_inverted_elements_keep_their_kind_of_error():
    system, q = held_block()
    v = np.where(system.fixed, 0.0, [-30.0, 0.0, 0.0])
    with pytest.raises(InvertedElement, match=r"ZhangSkeel stopped in the step from t = .* is inverted"):
        ZhangSkeel(0.1).start(system, system.state(q, v)).advance(1.0)


def test_gravity_and_supports():
    """A mass on a spring, hanging: it stays where it hangs."""
    mass = np.array([1.0, 2.0])
    spring = Bars([[0, 1]], EngineeringStrain(1e6, 1.0))
    fixed = np.array([[True] * 3, [False] * 3])
    system = System(mass, {"spring": spring, "weight": Gravity(mass, (0.0, 0.0, -10.0))}, fixed=fixed)
    q = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, -1.0 - 20.0 / 1e6]])
    for options in ({}, {"stiff": ("spring",)}, {"variant": "push-forward"}):
        end = ZhangSkeel(0.1, **options).start(system, system.state(q)).advance(10.0)
        np.testing.assert_allclose(end.q, q, atol=1e-9)
