"""Mistakes in a user's code are found by one call, and by ``check=True``; what is right passes."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

import symplex as sx
from symplex.contact.gap_law import ContactLaw
from symplex.errors import CheckFailed, InvalidSystem, StepFailed
from symplex.fem.energies.differentiable_load import DifferentiableLoad
from symplex.fem.energies.energy import RIGID
from symplex.testing import check_constraint, check_energy, check_integrator, check_law, check_load, check_material
from symplex.testing.integrators import CHECKS
from symplex.time.integrator import FixedStepIntegrator
from symplex.time.motion import FixedStepMotion


class Angles(sx.Energy):
    """φ = k/2 (cos α − c)², with mistakes to choose from."""

    invariances = RIGID

    def __init__(self, nodes, sign=1.0, missing=0.0, order=1.0):
        self.nodes = np.array(nodes, dtype=np.int32)
        self.sign, self.missing, self.order = sign, missing, order

    def _parts(self, x):
        u, v = x[:, 0] - x[:, 1], x[:, 2] - x[:, 1]
        a, b = np.linalg.norm(u, axis=1, keepdims=True), np.linalg.norm(v, axis=1, keepdims=True)
        return u / a, v / b, a, b, np.sum(u * v, axis=1, keepdims=True) / (a * b)

    def value(self, x):
        return (self._parts(x)[-1][:, 0] - 0.3) ** 2 + self.missing * x[:, 0, 0]

    def gradient(self, x):
        u, v, a, b, c = self._parts(x)
        force = 2.0 * self.sign * (c - 0.3)
        first, last = force * (v - self.order * c * u) / a, force * (u - c * v) / b
        out = np.stack([first, -first - last, last], axis=1)
        out[:, 0, 0] += self.missing
        return out


PLANE = np.array([[1.0, 0.0], [0.0, 0.1], [0.3, 1.0], [1.2, 0.8]])
STENCILS = [[0, 1, 2], [1, 2, 3]]


def test_an_energy_with_a_value_and_a_gradient_passes_in_two_and_three_dimensions():
    check_energy(Angles(STENCILS), PLANE)
    check_energy(Angles(STENCILS), PLANE, invariances=RIGID)
    space = np.column_stack([PLANE, [0.0, 0.2, -0.3, 0.4]])
    check_energy(Angles(STENCILS), space)
    check_energy(Angles(STENCILS), 1e-3 * space + 5.0)


@pytest.mark.parametrize(
    ("mistake", "sentence"),
    [
        ({"sign": -1.0}, r"^Angles: gradient must be the slope of value, got .* at stencil \d, entry \d instead of"),
        ({"order": 0.99}, "gradient must be the slope of value"),
        ({"missing": 0.5}, "value must not change under rotations and translations"),
    ],
)
def test_mistakes_in_an_energy_are_named(mistake, sentence):
    with pytest.raises(CheckFailed, match=sentence) as found:
        check_energy(Angles(STENCILS, **mistake), PLANE)
    assert isinstance(found.value, AssertionError)


def test_a_hessian_with_a_wrong_factor_is_found():
    class Wrong(Angles):
        def hessian(self, x):
            return 1.01 * super().hessian(x)

    with pytest.raises(CheckFailed, match="Wrong: hessian must be the slope of gradient"):
        check_energy(Wrong(STENCILS), PLANE)


def test_what_is_invariant_but_not_declared_is_found_where_it_is_asked_for():
    with pytest.raises(CheckFailed, match="value is the same after a rigid motion"):
        check_energy(Angles(STENCILS), PLANE, invariances=())


def test_an_energy_that_does_not_act_cannot_be_checked():
    floor = sx.Penalty(sx.measures.OnPlane([0], (0.0, -5.0), (0.0, 1.0)), 10.0, one_sided=True)
    with pytest.raises(CheckFailed, match="nothing can be checked where forces are zero"):
        check_energy(floor, PLANE)


class Bowl(sx.measures.Constraint):
    """z − |x|²/2a, without a Hessian."""

    def __init__(self, nodes, sign=1.0):
        self.nodes, self.sign = np.array(nodes, np.int32)[:, None], sign

    def value(self, x):
        return x[:, 0, 2] - (x[:, 0, 0] ** 2 + x[:, 0, 1] ** 2)

    def gradient(self, x):
        return np.stack([-2.0 * self.sign * x[..., 0], -2.0 * x[..., 1], np.ones(x.shape[:2])], axis=2)


class BowlWithHessian(Bowl):
    def hessian(self, x):
        return np.tile(np.diag([-2.0, -2.0, 0.0]), (len(x), 1, 1))


ABOVE = np.array([[0.1, 0.2, 0.3], [0.5, -0.4, 0.3], [-0.2, 0.6, 0.5]])


def test_constraints_need_no_hessian_and_mistakes_in_them_are_named():
    check_constraint(Bowl([0, 1, 2]), ABOVE)
    check_constraint(BowlWithHessian([0, 1, 2]), ABOVE)
    with pytest.raises(CheckFailed, match="Bowl: gradient must be the slope of value"):
        check_constraint(Bowl([0, 1, 2], sign=-1.0), ABOVE)


def test_rattle_keeps_constraints_without_a_hessian_as_well():
    q = np.array([[0.3, 0.0, 0.09], [0.0, 0.4, 0.16]])
    ends = []
    for bowl in (Bowl([0, 1]), BowlWithHessian([0, 1])):
        system = sx.System([1.0, 2.0], {"gravity": sx.Gravity([1.0, 2.0], (0.0, 0.0, -9.81))})
        method = sx.Rattle(0.01, {"bowl": bowl})
        motion = method.start(system, system.state(q, [[0.0, 0.5, 0.0], [0.3, 0.0, 0.0]]))
        ends.append(motion.advance(1.0))
        assert np.abs(bowl.value(ends[-1].q[bowl.nodes])).max() < 1e-14
    np.testing.assert_allclose(ends[0].q, ends[1].q, atol=1e-12)


class Follower(DifferentiableLoad):
    """A force along a bar in proportion to its rate."""

    def __init__(self, sign=1.0):
        self.nodes, self.sign = np.array([[0, 1]], np.int32), sign

    def __call__(self, t, q, v):
        out = np.zeros_like(q)
        out[0] = 2.0 * (v[1] - v[0]) + 3.0 * (q[1] - q[0])
        return out

    def derivatives(self, t, x, v):
        k, dim = 2, x.shape[2]
        by_q, by_v = np.zeros((2, 1, k * dim, k * dim))
        for i in range(dim):
            by_q[0, i, i], by_q[0, i, dim + i] = -3.0, 3.0
            by_v[0, i, i], by_v[0, i, dim + i] = -2.0, self.sign * 2.0
        return by_q, by_v


def test_mistakes_in_loads_are_named():
    v = 0.1 + PLANE[::-1]
    check_load(Follower(), PLANE, v)
    check_load(lambda t, q, v: -0.5 * v, PLANE, v)
    with pytest.raises(CheckFailed, match="Follower: ∂f/∂v of derivatives must be the slope of forces"):
        check_load(Follower(-1.0), PLANE, v)
    with pytest.raises(CheckFailed, match=r"drag: forces must be \[n, dim\] = \(4, 2\), got shape \(\)"):
        check_load(lambda t, q, v: 3.0, PLANE, v, name="drag")
    room = np.zeros_like(PLANE)
    with pytest.raises(CheckFailed, match="must be a new array at each call"):
        check_load(lambda t, q, v: np.multiply(v, t, out=room), PLANE, v, 1.0, name="kept")


@dataclass(frozen=True)
class Foam(sx.Material):
    """Blatz and Ko's foam, with a factor."""

    factor: float = 1.0
    density: float = 300.0

    def energy_density(self, C):
        return 0.5 * (np.trace(np.linalg.inv(C), axis1=1, axis2=2) + 2.0 * np.sqrt(np.linalg.det(C)) - 5.0)

    def stress(self, C):
        inverse = np.linalg.inv(C)
        return self.factor * (np.sqrt(np.linalg.det(C))[:, None, None] * inverse - inverse @ inverse)

    def tangent(self, C):
        A = np.linalg.inv(C)
        J, B = np.sqrt(np.linalg.det(C)), A @ A
        AA, AB, BA = (np.einsum("pik,pjl->pijkl", x, y) for x, y in ((A, A), (A, B), (B, A)))
        volumetric = J[:, None, None, None, None] * (np.einsum("pij,pkl->pijkl", A, A) - AA - AA.swapaxes(3, 4))
        return self.factor * (volumetric + AB + AB.swapaxes(3, 4) + BA + BA.swapaxes(3, 4))


def test_mistakes_in_materials_are_named():
    check_material(Foam())
    check_material(sx.NeoHookean(2.0, 1.0, 1.0))
    with pytest.raises(CheckFailed, match="Foam: the stress is not 2 ∂W/∂C"):
        check_material(Foam(-1.0))


# -- contact laws of users --------------------------------------------------------------------------------------------


class Power(ContactLaw):
    """w = k ⟨−g⟩^p / p."""

    def __init__(self, k, p, sign=-1.0):
        self.k, self.p, self.sign, self.stiffness = k, p, sign, k * (p - 1.0) * (1.0 if p == 2 else 0.3 ** (p - 2.0))

    def energy(self, g):
        return self.k * np.maximum(-g, 0.0) ** self.p / self.p

    def slope(self, g):
        return self.sign * self.k * np.maximum(-g, 0.0) ** (self.p - 1.0)

    def curvature(self, g):
        return self.k * (self.p - 1.0) * np.maximum(-g, 0.0) ** (self.p - 2.0) * (g < 0.0)


OBSTACLES = {
    "half-space": sx.HalfSpace((0.0, 0.1, 0.0), (1.0, 2.0, -2.0)),
    "ball": sx.Sphere((0.1, 0.2, 0.3), 0.9),
    "vessel": sx.Sphere((0.1, 0.2, 0.3), 0.9, inside=True),
    "box": sx.contact.Box((0.1, 0.0, 0.2), (1.4, 1.6, 1.2)),
}


@pytest.mark.parametrize("name", OBSTACLES)
def test_contact_laws_in_python_have_all_forms_on_all_obstacles(name):
    q = np.random.default_rng(3).uniform(-1.0, 1.0, (40, 3))
    near = np.flatnonzero(np.abs(OBSTACLES[name].gap(q)) > 0.01)
    hertz = sx.RigidContact(near, OBSTACLES[name], Power(1e3, 2.5))
    hertz.has = lambda form: False  # a contact law has no third derivative
    check_energy(hertz, q, length=1.0, invariances=())
    linear, built_in = (sx.RigidContact(near, OBSTACLES[name], k) for k in (Power(1e3, 2.0), 1e3))
    q1 = q + 0.3 * np.random.default_rng(4).standard_normal(q.shape)
    for form, ends in (("gradient", (q,)), ("hessian", (q,)), ("discrete_gradient", (q, q1))):
        found, expected = (getattr(e, form)(*(x[e.nodes] for x in ends)) for e in (linear, built_in))
        np.testing.assert_allclose(found, expected, atol=1e-11 * np.abs(expected).max())
    np.testing.assert_array_equal(linear.contact_stiffness_bound(40), built_in.contact_stiffness_bound(40))


@pytest.mark.slow
def test_a_law_of_hertz_conserves_energy_and_runs_with_friction():
    law = Power(1e4, 2.5)
    floor = sx.RigidContact([0, 1], sx.HalfSpace((0.0, 0.0, 0.0), (0.0, 0.0, 1.0)), law)
    rod = sx.Bars([[0, 1]], sx.measures.EngineeringStrain(100.0, 1.0))
    parts = {"rod": rod, "floor": floor, "gravity": sx.Gravity([1.0, 1.0], (0.0, 0.0, -9.81))}
    system = sx.System([1.0, 1.0], parts)
    state = system.state([[0.0, 0.0, 0.1], [0.9, 0.0, 0.3]], [[0.5, 0.0, 0.0]] * 2)
    path = sx.record(system, sx.EnergyMomentum(0.01), state, 0.1 * np.arange(21), check=True)
    assert path.energies["floor"].max() > 0.1
    assert np.ptp(path.energies["total"]) < 1e-11 * path.energies["total"][0]
    assert np.ptp(sx.record(system, sx.Newmark("auto"), state, 0.1 * np.arange(21)).energies["total"]) < 0.05
    rubbing = sx.System([1.0, 1.0], parts, loads={"friction": sx.contact.Friction(floor, 0.3)})
    path = sx.record(rubbing, sx.EnergyMomentum(0.01), state, 0.1 * np.arange(21))
    assert path.energies["work_friction"][-1] < -0.01
    assert np.ptp(path.energies["balance"]) < 1e-11 * path.energies["total"][0]


def test_mistakes_in_contact_laws_are_named_and_compiled_loops_refuse_them():
    gaps = np.linspace(-0.3, -0.01, 12)
    check_law(Power(1e3, 2.5), gaps)
    check_law(sx.measures.LennardJones(2.0, 1.1), np.linspace(1.0, 3.0, 12))
    with pytest.raises(CheckFailed, match="Power: slope must be the derivative of energy"):
        check_law(Power(1e3, 2.5, sign=1.0), gaps)
    mesh = sx.box((1.0, 1.0, 1.0), (1, 1, 1), split="6")
    with pytest.raises(InvalidSystem, match=r"BodyContact: law must be one of 'barrier', 'penalty', got a Power"):
        sx.contact.BodyContact(sx.contact.Surface.of(mesh), 1e3, law=Power(1e3, 2.5))
    with pytest.raises(InvalidSystem, match="not supported by the inside of a box"):
        sx.RigidContact([0], sx.contact.Box((0, 0, 0), (1, 1, 1), inside=True), Power(1e3, 2.5))


# -- at the start of a motion -----------------------------------------------------------------------------------------


def start(energies, loads=None):
    system = sx.System(np.ones(4), energies, dim=2, loads=loads)
    return system, sx.EnergyMomentum(0.05), system.state(PLANE, 0.1 * PLANE[::-1]), [0.0, 0.1]


def test_check_finds_mistakes_at_the_start_by_the_names_of_parts():
    rods = sx.Bars([[0, 1], [1, 2], [2, 3]], sx.measures.EngineeringStrain(10.0, 1.0), dim=2)
    sx.record(*start({"rods": rods, "angles": Angles(STENCILS)}, {"air": lambda t, q, v: -0.1 * v}), check=True)
    with pytest.raises(CheckFailed, match="energy 'angles': Angles: gradient must be the slope of value"):
        sx.record(*start({"rods": rods, "angles": Angles(STENCILS, sign=-1.0)}), check=True)
    with pytest.raises(CheckFailed, match="load 'pull': ∂f/∂v of derivatives must be the slope of forces"):
        sx.record(*start({"rods": rods}, {"pull": Follower(-1.0)}), check=True)


def test_check_looks_into_penalties_and_solids_where_they_do_not_act():
    bowl = sx.Penalty(Bowl([0], sign=-1.0), 1e3, one_sided=True)
    system = sx.System([1.0], {"bowl": bowl})
    state = system.state([[0.3, 0.0, 5.0]])
    with pytest.raises(CheckFailed, match="energy 'bowl': Bowl: gradient must be the slope of value"):
        sx.record(system, sx.EnergyMomentum(0.05), state, [0.1], check=True)
    with pytest.raises(CheckFailed, match="constraint 'bowl': Bowl: gradient must be the slope of value"):
        sx.record(sx.System([1.0], {}), sx.Rattle(0.05, {"bowl": bowl.constraint}), state, [0.1], check=True)
    mesh = sx.box((1.0, 1.0, 1.0), (1, 1, 1), split="6")
    solid = sx.Solid(mesh.points, mesh.cells["tetra"], Foam(-1.0))
    system = sx.System(np.ones(8), {"foam": solid})
    with pytest.raises(CheckFailed, match="energy 'foam': Foam: the stress is not 2 ∂W/∂C"):
        sx.record(system, sx.EnergyMomentum(0.05), system.state(mesh.points), [0.1], check=True)


def test_what_cannot_be_checked_is_said():
    class Far(Angles):
        def value(self, x):
            return 0.0 * super().value(x)

        def gradient(self, x):
            return 0.0 * super().gradient(x)

    with pytest.warns(UserWarning, match=r"energy 'far' \(Far\) does not act near the start, and is not checked"):
        sx.record(*start({"far": Far(STENCILS)}), check=True)


# -- integrators ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Euler(FixedStepIntegrator["EulerMotion"]):
    """Symplectic Euler."""

    dt: float
    order = 1
    conserves = frozenset({"momentum", "angular momentum", "symplectic form"})
    symmetric = False
    takes = frozenset({"supports", "loads"})

    def _motion(self, system, t0, dt, n):
        return EulerMotion(system, t0, dt, n)


class EulerMotion(FixedStepMotion):
    def _step(self, t, h):
        self._v += h * self.system.accelerations(self.system.force(t, self._q, self._v))
        self._q += h * self._v


class Proud(Euler):
    """The same, which promises too much."""

    order = 2


SIZES = (0.004, 0.002, 0.001)


def test_an_integrator_is_what_it_declares_or_is_found_out():
    check_integrator(Euler, SIZES, size=0.05, looks=2)
    with pytest.raises(CheckFailed, match=r"Proud: errors must fall with the declared order .* got 1.0.* instead of 2"):
        check_integrator(Proud, SIZES, size=0.05)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("conserves_what_it_says_and_nothing_else", {"conserves": frozenset({"energy", "momentum"})}),
        ("symmetric_methods_and_no_others_come_back_with_reversed_velocities", {"symmetric": True}),
        ("jacobian_is_symplectic", {"conserves": frozenset({"momentum"})}),
    ],
)
def test_each_false_declaration_is_found(name, wrong):
    from symplex.testing.integrators import Case

    kind = type("Boasting", (Euler,), wrong)
    case = Case(make=lambda dt, seed: kind(dt), sizes=SIZES, size=0.05, impossible=None, looks=2)
    CHECKS[name](replace(case, make=lambda dt, seed: Euler(dt)))
    with pytest.raises(CheckFailed, match=r"^Boasting: "):
        CHECKS[name](case)


# -- Newton's method --------------------------------------------------------------------------------------------------


def test_a_tolerance_of_newtons_method_saves_iterations():
    mesh = sx.box((1.0, 0.8, 0.6), (2, 1, 1), split="hexahedra")
    solid = sx.Solid(mesh.points, mesh.cells["hexahedron"], sx.NeoHookean(2.0, 1.0, 1.0))
    system = sx.System(np.ones(len(mesh.points)), {"solid": solid})
    state = system.state(1.2 * mesh.points)
    found = {}
    for tolerance in (0.0, 1e-4):
        motion = sx.EnergyMomentum(0.1, newton=sx.Newton(tolerance=tolerance)).start(system, state)
        end = motion.advance(2.0)
        found[tolerance] = motion.statistics()["corrections"], end.q, motion.energies(end)["total"]
    assert found[1e-4][0] < 0.8 * found[0.0][0]
    np.testing.assert_allclose(found[1e-4][1], found[0.0][1], atol=1e-4)
    assert abs(found[1e-4][2] - found[0.0][2]) > 1e-13 * found[0.0][2]
    with pytest.raises(ValueError, match=r"Newton: tolerance must be at least 0 and below 1, got 1\.5"):
        sx.Newton(tolerance=1.5)


def test_newtons_method_says_that_a_gradient_of_a_user_may_be_inexact():
    class Wrong(Angles):
        def hessian(self, x):
            return -super().hessian(x) - 5.0 * np.eye(x.shape[1] * x.shape[2])

        def discrete_hessian(self, x0, x1):
            return self.hessian(x1)

    system, method, state, _ = start({"angles": Wrong(STENCILS)})
    method = replace(method, dt=2.0)
    with pytest.raises(StepFailed, match=r"Hessian of Wrong may be inexact: symplex\.testing\.check_energy"):
        method.start(system, state).advance(20.0)
