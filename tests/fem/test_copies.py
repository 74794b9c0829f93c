"""Copies and pickles: of motions, and of all that they are made of."""

import copy
import pickle

import numpy as np
import pytest

import symplex as sx
from symplex.errors import InvalidSystem, InvertedElement, MaterialFailed, StepFailed

HOW = {"copy": copy.copy, "deep": copy.deepcopy, "pickle": lambda x: pickle.loads(pickle.dumps(x))}


@pytest.fixture(params=HOW)
def copied(request):
    return HOW[request.param]


def orbit() -> tuple[sx.System, sx.State]:
    """Two bodies in the plane that attract each other."""
    system = sx.System([1.0, 2.0], {"gravitation": sx.Bars([[0, 1]], sx.measures.InverseDistance([2.0]))}, dim=2)
    return system, system.state(np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([[0.0, -0.6], [0.0, 0.4]]))


def rods() -> tuple[sx.System, dict, sx.State]:
    """A double pendulum with a load, in the plane."""
    q = np.array([[0.0, 0.0], [0.6, -0.8], [1.2, -1.6]])
    mass, fixed = np.array([1.0, 1.0, 0.6]), np.array([[True] * 2, [False] * 2, [False] * 2])
    loads = {"push": sx.actions.NodalLoad([2], (0.3, 0.0), ([0.0, 1.0], [0.0, 1.0]))}
    system = sx.System(mass, {"weight": sx.Gravity(mass, (0.0, -2.0))}, dim=2, fixed=fixed, loads=loads)
    return system, {"rods": sx.measures.RigidBars.between(q, [[0, 1], [1, 2]])}, system.state(q)


MOTIONS = (
    "polar, by events",
    "polar, by steps",
    "langevin",
    "langevin, composed",
    "langevin, rattle",
    "rattle",
    "rattle, composed",
    "shake",
    "moving supports",
    "moving supports, explicit",
)


def motion_of(name: str) -> tuple[sx.Motion, float]:
    """Return a motion next to those of the contracts, and its step."""
    system, state = orbit()
    pendulum, constraints, hanging = rods()
    shaken = sx.System(
        system.mass,
        system.energies,
        dim=2,
        loads={"drag": sx.actions.Drag(np.asarray(system.mass), 0.1)},
        moving={
            "base": sx.actions.SupportTranslation(
                [0], "x", sx.actions.TimeFunction.table([0.0, 1.0, 2.0], [0.0, 0.1, 0.0])
            )
        },
    )
    langevin = {"temperature": 0.01, "rate": 0.2, "boltzmann": 1.0}
    methods = {
        "polar, by events": (sx.reductions.PolarReduction(sx.ForceStepping(0.02)), system, state, 0.03),
        "polar, by steps": (sx.reductions.PolarReduction(sx.Newmark(0.01)), system, state, 0.01),
        "langevin": (sx.Langevin(sx.Midpoint(0.02), **langevin), system, state, 0.02),
        "langevin, composed": (sx.Langevin(sx.Composition(sx.Newmark(0.02)), **langevin), system, state, 0.02),
        "langevin, rattle": (sx.Langevin(sx.Rattle(0.02, constraints), **langevin), pendulum, hanging, 0.02),
        "rattle": (sx.Rattle(0.02, constraints), pendulum, hanging, 0.02),
        "rattle, composed": (sx.Composition(sx.Rattle(0.02, constraints)), pendulum, hanging, 0.02),
        "shake": (sx.constraints.Shake(0.02, constraints), pendulum, hanging, 0.02),
        "moving supports": (sx.EnergyMomentum(0.02), shaken, shaken.state(state.q, state.v), 0.02),
        "moving supports, explicit": (sx.Newmark(0.02), shaken, shaken.state(state.q, state.v), 0.02),
    }
    assert set(methods) == set(MOTIONS)
    method, of, start, dt = methods[name]
    return method.start(of, start), dt


@pytest.mark.parametrize("name", MOTIONS)
def test_a_copied_motion_goes_on_by_itself_and_bit_identically(name, copied):
    motion, dt = motion_of(name)
    here = motion.advance(11 * dt)
    twin = copied(motion)
    assert twin.energies(here) == motion.energies(here)
    for n in (20, 31):
        of_twin, of_motion = twin.advance(n * dt), motion.advance(n * dt)
        for array in ("q", "v", "a"):
            np.testing.assert_array_equal(getattr(of_twin, array), getattr(of_motion, array))
        assert twin.energies(of_twin) == motion.energies(of_motion)
        if hasattr(motion, "multipliers"):
            np.testing.assert_array_equal(twin.multipliers()["rods"], motion.multipliers()["rods"])
    assert twin.statistics() == motion.statistics()
    assert np.abs(of_motion.q - here.q).max() > 1e-3


def test_a_copy_of_a_copy_goes_on(copied):
    motion, dt = motion_of("langevin, composed")
    end = copied(copied(motion)).advance(9 * dt)
    np.testing.assert_array_equal(end.q, motion.advance(9 * dt).q)


def test_a_motion_that_stopped_is_not_copied(copied):
    system, state = orbit()
    motion = sx.GrahamJelenic(0.5, "energy-momentum", iterations=1).start(system, state)
    with pytest.raises(StepFailed):
        motion.advance(1.0)
    with pytest.raises(StepFailed, match="stopped within the step from t = 0 s; resume from an earlier checkpoint"):
        copied(motion)


# -- what motions are made of ------------------------------------------------------------------------------------


def by_name(t):
    return 0.5 * t


PARTS = (
    *("constant", "table", "function", "pressure", "drag", "friction", "table of a support", "record", "differenced"),
    *("mesh", "state", "solid", "quadratic", "bars", "penalty", "system"),
    *("rattle", "force-stepping", "composition", "pendulum", "state of a pendulum", "body", "composed on a manifold"),
)


@pytest.fixture(scope="module")
def parts() -> dict[str, object]:
    """Meshes, states, energies, loads, motions of supports, constraints, methods, systems."""
    mesh = sx.cube_mesh("I", size=0.1)
    curved = sx.quadratic(mesh)
    rubber = sx.NeoHookean(lmbda=1e6, mu=1e6, density=1000.0)
    steady, rod = sx.actions.TimeFunction.steady(0.1), sx.measures.RigidBars([[0, 1]], [1.0])
    lumped = sx.lumped_mass(mesh.points, mesh.cells["tetra"], 1000.0, len(mesh.points))
    solid = sx.Solid(mesh.points, mesh.cells["tetra"], rubber)
    floor = sx.RigidContact.from_penalty(mesh.boundary_nodes, sx.HalfSpace(point=(0, 0, -1), normal=(0, 0, 1)), 1e-3)
    loads = {
        "constant": sx.actions.NodalLoad([0], (0.0, 0.0, 1.0), 2.0),
        "table": sx.actions.NodalLoad([0], (0.0, 0.0, 1.0), ([0.0, 1.0], [0.0, 1.0])),
        "function": sx.actions.NodalLoad([0], (0.0, 0.0, 1.0), by_name),
        "pressure": sx.actions.Pressure(mesh.boundary_faces, 10.0, by_name),
        "drag": sx.actions.Drag(lumped, 0.1),
        "friction": sx.contact.Friction(floor, 0.3),
    }
    moving = {"base": sx.actions.SupportTranslation([1], "z", steady.scaled(2.0))}
    pendulum = sx.manifolds.SphericalPendulum(sx.manifolds.AxialPotential.polynomial([0.1, 1.0, 0.3]))
    found = loads | {
        "mesh": mesh,
        "state": sx.State(1.0, mesh.points, mesh.points, mesh.points),
        "solid": solid,
        "quadratic": sx.Solid(curved.points, curved.cells["tetra10"], rubber),
        "bars": sx.Bars([[0, 1]], sx.measures.GreenStrain([1.0], [1.0])),
        "penalty": sx.Penalty(rod, 1e3),
        "table of a support": sx.actions.TimeFunction.table([0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 0.0, 1.0]),
        "record": sx.actions.TimeFunction.of_accelerations([0.0, 1.0], [0.0, 1.0]),
        "differenced": sx.actions.TimeFunction.differenced(by_name, 0.1),
        "system": sx.System(lumped, {"solid": solid, "floor": floor}, loads=loads, moving=moving),
        "rattle": sx.Rattle(0.1, {"rod": rod}),
        "force-stepping": sx.ForceStepping(np.array([0.1, 0.2, 0.3])),
        "composition": sx.Composition(sx.Midpoint(0.1, newton=sx.Newton(iterations=9))),
        "pendulum": pendulum,
        "state of a pendulum": pendulum.state([0.0, 0.6, 0.8], [0.1, 0.0, 0.0]),
        "body": sx.manifolds.RigidBody([1.0, 2.0, 2.5]),
        "composed on a manifold": sx.manifolds.ComposedMethod(sx.manifolds.SphereMidpoint()),
    }
    assert set(found) == set(PARTS)
    return found


@pytest.mark.parametrize("name", PARTS)
def test_a_part_is_copied_as_it_is(parts, name, copied):
    part = parts[name]
    twin = copied(part)
    assert type(twin) is type(part)
    assert twin is not part
    before, after = vars(part), vars(twin)
    assert before.keys() == after.keys()
    for key, value in before.items():
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(after[key], value)
            assert after[key].flags.c_contiguous == value.flags.c_contiguous
            assert (after[key] is value) == (copied is copy.copy)


@pytest.mark.parametrize("function", ["constant", "table", "function"])
def test_copied_loads_act_alike(parts, function, copied):
    load = parts[function]
    q = np.zeros((3, 3))
    for t in (-1.0, 0.3, 2.0):
        np.testing.assert_array_equal(copied(load)(t, q, q), load(t, q, q))


@pytest.mark.parametrize("name", ["table of a support", "record", "differenced"])
def test_copied_functions_of_time_are_alike(parts, name, copied):
    function = parts[name]
    twin = copied(function)
    for t in (0.2, 0.9):
        for of in ("value", "rate", "second"):
            assert getattr(twin, of)(t) == getattr(function, of)(t)


def test_a_system_with_lambdas_is_copied_but_not_pickled():
    system, state = orbit()
    pushed = sx.System(system.mass, system.energies, dim=2, loads={"push": lambda t, q, v: 0.01 * np.ones_like(q)})
    motion = sx.Midpoint(0.02).start(pushed, state)
    twins = copy.copy(motion), copy.deepcopy(motion)
    for twin in twins:
        np.testing.assert_array_equal(twin.advance(0.2).q, motion.advance(0.2).q)
    for of in (pushed, motion):
        with pytest.raises(InvalidSystem, match=r"^this System cannot be pickled because of its loads 'push': .+; "):
            pickle.dumps(of)


class OwnBars(sx.Energy):
    """An energy with its own function."""

    def __init__(self, stretch):
        self.nodes, self.stretch = np.array([[0]], np.int32), stretch

    def value(self, x):
        return self.stretch(x[:, 0, 0])

    def gradient(self, x):
        return np.zeros_like(x)

    def hessian(self, x):
        return np.zeros((len(x), x.shape[2], x.shape[2]))


def test_energies_with_lambdas_are_copied_but_not_pickled():
    energy = OwnBars(lambda x: 3.0 * x)
    for twin in (copy.copy(energy), copy.deepcopy(energy)):
        assert twin.stretch is energy.stretch
    system = sx.System([1.0], {"own": energy})
    for of in (energy, system):
        with pytest.raises(InvalidSystem, match=r"^this OwnBars cannot be pickled because of its stretch: "):
            pickle.dumps(of)
    with pytest.raises(InvalidSystem, match=r"^this TimeFunction cannot be pickled because of its value: "):
        pickle.dumps(sx.actions.TimeFunction(lambda t: t, by_name, by_name))
    assert pickle.loads(pickle.dumps(OwnBars(by_name))).stretch is by_name


class Slotted(OwnBars):
    """One with a slot, and with what it forgets in pickles."""

    __slots__ = ("own",)


class Forgetful(OwnBars):
    """One that leaves something out of its copies."""

    def __getstate__(self):
        return {"nodes": self.nodes}

    def __setstate__(self, state):
        self.nodes, self.stretch = state["nodes"], by_name


def test_slots_and_states_of_subclasses_are_kept(copied):
    slotted = Slotted(by_name)
    slotted.own = 3
    assert copied(slotted).own == 3
    assert copied(Forgetful(lambda x: x)).stretch is by_name


def test_a_part_that_knows_itself_is_copied_once():
    energy = OwnBars(None)
    energy.stretch = energy
    twin = copy.deepcopy(energy)
    assert twin.stretch is twin


@pytest.mark.parametrize("kind", [InvertedElement, MaterialFailed])
def test_errors_of_elements_are_copied(kind, copied):
    twin = copied(kind("element 3 is inverted.", 3))
    assert (type(twin), str(twin), twin.element) == (kind, "element 3 is inverted.", 3)
