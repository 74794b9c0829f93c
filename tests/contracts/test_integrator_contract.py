"""What every integrator must keep: its declared order, what it says it conserves, its symmetry, its checkpoints.

A new integrator is one more row in ``CASES``.
"""

import copy
import importlib
import pickle
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import symplex.time
from symplex.contact.friction import Friction
from symplex.contact.obstacles import HalfSpace
from symplex.contact.rigid import RigidContact
from symplex.device.motion import OnDevice
from symplex.errors import InvalidSystem, StepFailed, UnstableStep
from symplex.fem.actions.mass import lumped_mass
from symplex.fem.actions.support_motion import SupportTranslation
from symplex.fem.actions.time_function import TimeFunction
from symplex.fem.solids.materials import NeoHookean
from symplex.fem.solids.solid import Solid
from symplex.fem.solids.viscoelastic import Viscoelastic
from symplex.fem.system import System
from symplex.meshes.generate import box
from symplex.time.composition import Composition
from symplex.time.conserving.energy_momentum import EnergyMomentum
from symplex.time.conserving.graham_jelenic import GrahamJelenic
from symplex.time.conserving.schemes import Scheme
from symplex.time.events.force_stepping import ForceStepping
from symplex.time.explicit.multirate import Multirate
from symplex.time.explicit.newmark import Newmark
from symplex.time.implicit.generalized_alpha import GeneralizedAlpha, HilberHughesTaylor
from symplex.time.implicit.midpoint import Midpoint
from symplex.time.integrator import Integrator
from symplex.time.reductions.jacobi_reduction import JacobiReduction
from symplex.time.traits import runs_on
from symplex.time.variational.adaptive_variational import AdaptiveVariational
from symplex.time.variational.variational import VariationalMidpoint
from symplex.time.variational.zhang_skeel import ZhangSkeel


@dataclass(frozen=True)
class Case:
    """An integrator under test.

    ``make`` takes the size that its error falls with (a step in s or a grid in m) and a seed, for methods with a random
    element; the order is that of the mean error over ``seeds``. ``sizes`` are halved for the order, ``size`` is used
    otherwise. ``impossible`` must refuse to start. ``nudge`` is the increment of the Jacobian of ``steps`` steps. What
    is conserved is looked at ``looks`` times, 100 sizes apart. ``slow`` ones are for ``pytest -m slow``.
    """

    make: Callable[[float, int], Integrator]
    sizes: tuple[float, ...]
    size: float
    impossible: Callable[[], Integrator]
    refusal: type[Exception]
    seeds: Sequence[int] = (0,)
    order_tolerance: float = 0.15
    round_off: float = 1e-12
    reversal: float = 1e-10
    steps: int = 5
    nudge: float = 1e-6
    looks: int = 100
    slow: bool = False


CASES = {
    "Newmark": Case(
        make=lambda dt, seed: Newmark(dt=dt),
        sizes=(0.02, 0.01, 0.005),
        size=0.05,
        impossible=lambda: Newmark(dt=1.0),
        refusal=UnstableStep,
    ),
    "OnDevice": Case(  # in numba's simulator
        make=lambda dt, seed: OnDevice(Newmark(dt=dt)),
        sizes=(0.04, 0.02, 0.01),
        size=0.05,
        impossible=lambda: OnDevice(Newmark(dt=1.0)),
        refusal=UnstableStep,
        looks=2,
        slow=True,
    ),
    "ForceStepping": Case(
        make=lambda h, seed: ForceStepping(grid=h, seed=seed),
        sizes=(0.02, 0.005, 0.00125),
        size=0.02,
        impossible=lambda: ForceStepping(grid=5.0),
        refusal=StepFailed,
        seeds=range(16),
        order_tolerance=0.25,
        round_off=1e-11,
        steps=2,
        nudge=1e-7,
    ),
    "JacobiReduction": Case(
        make=lambda h, seed: JacobiReduction(ForceStepping(grid=h, seed=seed)),
        sizes=(0.03, 0.0075, 0.001875),
        size=0.02,
        impossible=lambda: JacobiReduction(ForceStepping(grid=5.0)),
        refusal=StepFailed,
        seeds=range(8),
        order_tolerance=0.25,
        round_off=1e-11,
        steps=2,
        nudge=1e-7,
    ),
}


def implicit(make, sizes=(0.04, 0.02, 0.01), size=0.05, **options):
    """A case of a method that is solvable at any step: what it refuses is a step that is none."""
    return Case(lambda dt, seed: make(dt), sizes, size, lambda: make(0.0), ValueError, looks=8, **options)


CASES |= {
    "EnergyMomentum": implicit(EnergyMomentum),
    "Midpoint": implicit(Midpoint),
    "VariationalMidpoint": implicit(VariationalMidpoint),
    "AdaptiveVariational": replace(implicit(AdaptiveVariational), looks=2),
    "Midpoint, alpha = 0.3": implicit(lambda dt: Midpoint(dt, alpha=0.3), sizes=(0.004, 0.002, 0.001)),
    "Newmark, trapezoidal": implicit(Newmark.trapezoidal),
    "Newmark, damped": implicit(lambda dt: Newmark(dt, beta=0.36, gamma=0.7), sizes=(0.004, 0.002, 0.001)),
    "GeneralizedAlpha": implicit(GeneralizedAlpha),
    "HilberHughesTaylor": implicit(lambda dt: HilberHughesTaylor(dt, alpha=-0.2), sizes=(0.02, 0.01, 0.005)),
    "Composition": implicit(
        lambda dt: Composition(EnergyMomentum(dt), scheme="triple jump"), sizes=(0.04, 0.02, 0.01), size=0.2
    ),
    "Composition, explicit": implicit(lambda dt: Composition(Newmark(dt)), sizes=(0.1, 0.05, 0.025), size=0.1),
}


def in_turns(x):
    """Levels 0, 1, 2, 0, … of stencils at x [m, k, dim]."""
    return np.arange(len(x)) % 3


CASES |= {
    "Multirate": Case(
        make=lambda dt, seed: Multirate(dt, given={"solid": in_turns}),
        sizes=(0.02, 0.01, 0.005),
        size=0.05,
        impossible=lambda: Multirate(2.0, levels=1),
        refusal=UnstableStep,
    ),
}


def graham_jelenic(scheme, sizes=(0.04, 0.025, 0.02), size=0.05, interpolant="stable"):
    """A case of one of Graham and Jelenić's methods."""
    case = implicit(lambda dt: GrahamJelenic(dt, scheme, interpolant=interpolant), sizes, size)
    return replace(case, looks=1, steps=1)


CASES |= {
    "GrahamJelenic, assumed-distance": graham_jelenic("assumed-distance"),
    # κ − 1 has a pole where the power of ∇V vanishes: the error is h² times what depends on where the steps fall there,
    # 106 to 150 for 50 to 240 steps, no less for short ones. So two steps far apart.
    "GrahamJelenic, kappa": replace(graham_jelenic("kappa", sizes=(0.04, 0.01)), order_tolerance=0.25),
    "GrahamJelenic, EM-theta": graham_jelenic("energy-momentum-exact-angle"),
    "GrahamJelenic, A-theta": graham_jelenic("exact-steady-motion"),
    "GrahamJelenic, M4": graham_jelenic("momentum-conserving-4", sizes=(0.1, 0.0625, 0.05), size=0.1),
    "GrahamJelenic, CM4": graham_jelenic("cayley-magnus-4", sizes=(0.1, 0.0625, 0.05), size=0.1),
    "GrahamJelenic, CM6": graham_jelenic("cayley-magnus-6", sizes=(0.1, 0.0625, 0.05), size=0.15),
    "GrahamJelenic, CM8": graham_jelenic("cayley-magnus-8", sizes=(0.1, 0.0625, 0.05), size=0.16),
}


def hermite(scheme, sizes=(0.1, 0.0625, 0.05)):
    """A case of one with Hermite's interpolant, which has a stability limit."""
    return replace(
        graham_jelenic(scheme, sizes, size=0.15, interpolant="hermite"),
        impossible=lambda: GrahamJelenic(1.0, scheme, interpolant="hermite"),
        refusal=UnstableStep,
    )


CASES |= {
    "GrahamJelenic, CM4, hermite": hermite("cayley-magnus-4", sizes=(0.0625, 0.05, 0.04)),
}


def zhang_skeel(**options):
    """A case of Zhang and Skeel's method."""
    return implicit(lambda dt: ZhangSkeel(dt, **options), sizes=(0.02, 0.01, 0.005))


CASES |= {
    "ZhangSkeel": zhang_skeel(),
    "ZhangSkeel, simplified": zhang_skeel(variant="simplified"),
    "ZhangSkeel, push-forward": zhang_skeel(variant="push-forward"),
    "ZhangSkeel, beta = 0.1": Case(
        make=lambda dt, seed: ZhangSkeel(dt, beta=0.1),
        sizes=(0.02, 0.01, 0.005),
        size=0.05,
        impossible=lambda: ZhangSkeel(1.0, beta=0.1),
        refusal=UnstableStep,
        looks=8,
    ),
    "Composition, ZhangSkeel": implicit(lambda dt: Composition(ZhangSkeel(dt)), sizes=(0.05, 0.025, 0.0125), size=0.1),
}


def composed_graham_jelenic(scheme, order=4, sizes=(0.08, 0.05, 0.04), size=0.15):
    """A case of the composition of one of Graham and Jelenić's methods."""
    make = implicit(lambda dt: Composition(GrahamJelenic(dt, scheme), order), sizes, size)
    return replace(make, looks=1, steps=1)


CASES |= {
    "Composition, GrahamJelenic SM": composed_graham_jelenic("symplectic-momentum"),
    "Composition, GrahamJelenic EM": composed_graham_jelenic("energy-momentum"),
}
# Each scheme, each interpolant and a composition are in the fast suite; other pairs have no code of their own.
CASES |= {
    name: replace(made, slow=True)
    for name, made in {
        "GrahamJelenic, SM": graham_jelenic("symplectic-momentum"),
        "GrahamJelenic, EM": graham_jelenic("energy-momentum"),
        "GrahamJelenic, CM6, hermite": hermite("cayley-magnus-6"),
        "GrahamJelenic, CM8, hermite": hermite("cayley-magnus-8"),
        "Composition, GrahamJelenic CM4": composed_graham_jelenic("cayley-magnus-4", 6),
        "Composition, GrahamJelenic assumed-distance": composed_graham_jelenic("assumed-distance"),
        "Composition, GrahamJelenic EM-theta": composed_graham_jelenic("energy-momentum-exact-angle"),
        "Composition, GrahamJelenic A-theta": composed_graham_jelenic("exact-steady-motion"),
        "Composition, GrahamJelenic M4": composed_graham_jelenic("momentum-conserving-4", 6),
        "Composition, GrahamJelenic CM6": replace(
            composed_graham_jelenic("cayley-magnus-6", 8, sizes=(0.1, 0.0625), size=0.25), order_tolerance=0.3
        ),
        "Composition, trapezoidal": implicit(
            lambda dt: Composition(Newmark.trapezoidal(dt)), sizes=(0.08, 0.05, 0.04), size=0.15
        ),
        "JacobiReduction, Composition": implicit(
            lambda dt: JacobiReduction(Composition(EnergyMomentum(dt))), sizes=(0.08, 0.05, 0.04), size=0.2
        ),
    }.items()
}

MOVES_SUPPORTS = Newmark, Multirate, EnergyMomentum, Midpoint, GeneralizedAlpha, HilberHughesTaylor


@pytest.fixture(params=[pytest.param(name, marks=[pytest.mark.slow] * made.slow) for name, made in CASES.items()])
def case(request):
    return CASES[request.param]


def body(cells: slice = slice(None)) -> tuple[System, np.ndarray, np.ndarray]:
    """A free neo-Hookean block (or some of its tetrahedra), stretched: it spins, drifts slowly, vibrates strongly."""
    mesh = box((1.0, 0.8, 0.6), (1, 1, 1), split="6")
    tetrahedra = mesh.cells["tetra"][cells]
    kept, tetrahedra = np.unique(tetrahedra, return_inverse=True)
    points, tetrahedra = mesh.points[kept], tetrahedra.reshape(-1, 4)
    solid = Solid(points, tetrahedra, NeoHookean(2.0, 1.0, 1.0))
    system = System(lumped_mass(points, tetrahedra, 1.0, len(points)), {"solid": solid})
    centre = points.mean(axis=0)
    q = centre + (points - centre) * [1.25, 0.9, 1.1]
    v = np.array([0.04, 0.03, -0.02]) + np.cross([0.3, -0.2, 0.9], points - centre)
    return system, q, v


def far_away(system, q, v, t):
    """Position and velocity at a time, by a high-order method with tight tolerances."""

    def rate(_, y):
        x, w = y.reshape(2, *q.shape)
        return np.concatenate([w.ravel(), system.accelerations(system.force(0.0, x, w)).ravel()])

    solution = solve_ivp(
        rate, (0.0, t), np.concatenate([q.ravel(), v.ravel()]), method="DOP853", rtol=1e-12, atol=1e-13
    )
    return solution.y[:, -1].reshape(2, *q.shape)


def test_every_integrator_is_held_to_it():
    """But for those whose systems are of other kinds, which have tests of their own."""

    def all_of(kind):
        return {kind, *(inner for sub in kind.__subclasses__() for inner in all_of(sub))}

    for module in pkgutil.walk_packages(symplex.time.__path__, "symplex.time."):
        importlib.import_module(module.name)
    ours = {
        kind
        for kind in all_of(Integrator)
        if kind.__module__.startswith("symplex.time.") and not kind.__abstractmethods__
    }
    held = {type(made.make(made.size, 0)) for made in CASES.values()}
    others = {"PolarReduction", "Rattle", "Shake", "Langevin", "Static", "Stages"}
    assert {kind.__name__ for kind in ours - held} == others
    schemes = {method.scheme for made in CASES.values() if isinstance(method := made.make(made.size, 0), GrahamJelenic)}
    assert schemes == set(Scheme.__args__)


def test_declared_order_on_a_nonlinear_problem(case):
    system, q, v = body()
    exact_q, exact_v = far_away(system, q, v, 2.0)
    errors = []
    for size in case.sizes:
        ends = [case.make(size, seed).start(system, system.state(q, v)).advance(2.0) for seed in case.seeds]
        errors.append(np.mean([max(np.abs(e.q - exact_q).max(), np.abs(e.v - exact_v).max()) for e in ends]))
    assert errors[-1] > 1e-11, "at the round-off plateau; choose larger sizes"
    assert errors[0] < 0.1, "outside the asymptotic range; choose smaller sizes"
    orders = np.log(np.divide(errors[:-1], errors[1:])) / np.log(np.divide(case.sizes[:-1], case.sizes[1:]))
    np.testing.assert_allclose(orders, case.make(case.size, 0).order, atol=case.order_tolerance)


def test_conserves_what_it_says_and_nothing_else(case):
    system, q, v = body()
    # All conserved quantities must be there: a body at rest would keep its momentum with any method.
    integrator = case.make(case.size, 0)
    motion = integrator.start(system, system.state(q, v))
    drift = dict.fromkeys(("energy", "momentum", "angular momentum"), 0.0)
    start = None
    for t in case.size * 100 * np.arange(case.looks + 1):
        now = conserved(system, motion, motion.advance(t), integrator.energy)
        start = start or now
        for name, value in now.items():
            assert np.linalg.norm(start[name]) > 1e-2
            drift[name] = max(drift[name], np.linalg.norm(value - start[name]) / np.linalg.norm(start[name]))
    for name, value in drift.items():
        if name in integrator.conserves:
            assert value < case.round_off, f"{name} drifts by {value:.2e}"
        else:
            assert value > 1e-6, f"{name} is not declared as conserved, but drifts by {value:.2e} only"


def test_what_motions_tell_is_declared(case):
    system, q, v = body()
    integrator = case.make(case.size, 0)
    motion = integrator.start(system, system.state(q, v))
    columns = {column.name: column for column in motion.columns}
    assert len(columns) == len(motion.columns)
    energies = motion.energies(motion.advance(3 * case.size))
    assert {columns[name].unit for name in energies} == {"J"}
    assert {columns[name].kind for name in motion.statistics()} == {"count"}
    assert columns[integrator.energy].kind == "total"
    assert set(energies) & {column.name for column in integrator.columns} == set(energies) - set(
        system.energies_of(motion.advance(3 * case.size))
    )


def conserved(system, motion, state, energy):
    return {
        "energy": np.array(motion.energies(state)[energy]),
        "momentum": system.momentum(state),
        "angular momentum": system.angular_momentum(state),
    }


def test_symmetric_methods_and_no_others_come_back_with_reversed_velocities(case):
    system, q, v = body()
    integrator = case.make(case.size, 0)
    t = case.size * round(min(40.0, 2.0 / case.size))
    there = integrator.start(system, system.state(q, v)).advance(t)
    assert np.abs(there.q - q).max() > 0.1
    back = integrator.start(system, system.state(there.q, -there.v)).advance(t)
    missed = max(np.abs(back.q - q).max(), np.abs(back.v + v).max())
    if integrator.symmetric:
        assert missed < case.reversal
    else:
        assert missed > 1e-6


def symplectic_defect(system, q, v, advance, nudge=1e-6):
    """Return max |Jᵀ Ω J − Ω| for the Jacobian J of (q, p) -> advance(q, p), by central differences."""
    mass = np.repeat(system.mass, system.dim)
    size = q.size

    def flow(y):
        end_q, end_v = advance(y[:size].reshape(q.shape), (y[size:] / mass).reshape(q.shape))
        return np.concatenate([end_q.ravel(), end_v.ravel() * mass])

    y0 = np.concatenate([q.ravel(), v.ravel() * mass])
    J = np.column_stack([(flow(y0 + nudge * e) - flow(y0 - nudge * e)) / (2 * nudge) for e in np.eye(2 * size)])
    identity, zero = np.eye(size), np.zeros((size, size))
    omega = np.block([[zero, identity], [-identity, zero]])
    return np.abs(J.T @ omega @ J - omega).max()


def test_jacobian_is_symplectic(case):
    system, q, v = body(slice(0, 2))
    integrator = case.make(case.size, 0)

    def advance(q, v):
        end = integrator.start(system, system.state(q, v)).advance(case.steps * case.size)
        return end.q, end.v

    defect = symplectic_defect(system, q, v, advance, case.nudge)
    if "symplectic form" in integrator.conserves:
        assert defect < 1e-7
    else:
        assert defect > 1e-5


def test_a_method_that_is_not_symplectic_is_found_out():
    system, q, v = body(slice(0, 2))
    forward_euler = lambda q, v: (q + 0.05 * v, v + 0.05 * system.state(q, v).a)  # noqa: E731
    assert symplectic_defect(system, q, v, forward_euler) > 1e-4


def test_a_resumed_motion_is_bit_identical(case):
    system, q, v = body()
    integrator = case.make(case.size, 0)
    t1, t2 = 9 * case.size, 23 * case.size
    motion = integrator.start(system, system.state(q, v, t=1.0))
    motion.advance(1.0 + t1)
    stored = {name: array.copy() for name, array in motion.checkpoint().items()}
    uninterrupted = motion.advance(1.0 + t2)
    system, _, _ = body()  # nothing may be remembered in the system
    resumed_motion = case.make(case.size, 0).resume(system, stored)
    resumed = resumed_motion.advance(1.0 + t2)
    for name in ("t", "q", "v", "a"):
        np.testing.assert_array_equal(getattr(resumed, name), getattr(uninterrupted, name))
    assert resumed_motion.statistics() == motion.statistics()


def test_a_motion_stopped_on_its_way_goes_on_bit_identically(case, monkeypatch):
    for name in ("_EVENTS_AT_FIRST", "_EVENTS_AT_ONCE"):
        monkeypatch.setattr(f"symplex.time.events.lattice_motion.{name}", 37)
    system, q, v = body()
    integrator, t = case.make(case.size, 0), 1.0 + 23 * case.size
    at_once = integrator.start(system, system.state(q, v, t=1.0)).advance(t)
    motion = integrator.start(system, system.state(q, v, t=1.0))
    stops = 0
    while not motion.approach(t, 0.0):  # the least that it can take
        stops += 1
        if stops % 5 == 0:
            motion = case.make(case.size, 0).resume(body()[0], motion.checkpoint())
    assert stops > 5
    resumed = motion.advance(t)
    for name in ("t", "q", "v", "a"):
        np.testing.assert_array_equal(getattr(resumed, name), getattr(at_once, name))
    with pytest.raises(StepFailed, match="cannot go back"):
        motion.approach(1.0, 1.0)


@pytest.mark.parametrize(
    "copied",
    [copy.copy, copy.deepcopy, lambda motion: pickle.loads(pickle.dumps(motion))],
    ids=["copy", "deep", "pickle"],
)
def test_a_copied_motion_goes_on_by_itself_and_bit_identically(case, copied):
    system, q, v = body()
    motion = case.make(case.size, 0).start(system, system.state(q, v, t=1.0))
    ts = 1.0 + case.size * np.array([3, 7, 10])
    here = motion.advance(ts[0])
    twin = copied(motion)
    assert twin.system is motion.system or copied is not copy.copy
    assert twin.statistics() == motion.statistics()
    assert twin.energies(here) == motion.energies(here)
    # In turns, so that one would disturb the other if they shared what moves.
    for t in ts[1:]:
        of_twin, of_motion = twin.advance(t), motion.advance(t)
        for name in ("t", "q", "v", "a"):
            np.testing.assert_array_equal(getattr(of_twin, name), getattr(of_motion, name))
        assert twin.energies(of_twin) == motion.energies(of_motion)
    assert twin.statistics() == motion.statistics()
    assert np.abs(of_motion.q - here.q).max() > 1e-3


def test_a_checkpoint_of_another_method_is_refused(case):
    system, q, v = body()
    with pytest.raises(InvalidSystem, match=r"the checkpoint (belongs to another|has no)"):
        case.make(case.size, 0).resume(system, {"q": q, "v": v})


def test_a_state_is_not_changed_by_going_on(case):
    system, q, v = body()
    state = system.state(q, v)
    motion = case.make(case.size, 0).start(system, state)
    first = motion.advance(5 * case.size)
    copy = first.q.copy()
    motion.advance(10 * case.size)
    np.testing.assert_array_equal(state.q, q)
    np.testing.assert_array_equal(first.q, copy)


def test_going_back_in_time_is_refused(case):
    system, q, v = body()
    motion = case.make(case.size, 0).start(system, system.state(q, v))
    motion.advance(5 * case.size)
    with pytest.raises(Exception, match="cannot go back"):
        motion.advance(2 * case.size)


def test_an_impossible_size_is_refused(case):
    system, q, v = body()
    with pytest.raises(case.refusal):
        case.impossible().start(system, system.state(q, v))


def test_supports_move_as_given_or_are_refused(case):
    free, q, v = body()
    lift = SupportTranslation([0], "z", TimeFunction.steady(0.1))
    system = System(free.mass, free.energies, moving={"lift": lift})
    t = 4 * case.size
    integrator = case.make(case.size, 0)
    try:
        end = integrator.start(system, system.state(q, v)).advance(t)
    except InvalidSystem as error:
        refusal = str(error)
        end = None
    if end is None:
        assert not isinstance(integrator, MOVES_SUPPORTS)
        assert "cannot move supports, but the motion of 'lift' is given" in refusal
        return
    assert end.q[0, 2] == pytest.approx(q[0, 2] + 0.1 * t, abs=1e-15)
    assert end.v[0, 2] == 0.1
    assert abs(end.q[0, 0] - q[0, 0]) > 1e-3


def test_viscoelastic_bodies_dissipate_as_the_balance_says_or_are_refused(case):
    free, q, v = body()
    parts = {"visco": Viscoelastic(free.energies["solid"], [1.0, 0.5], [0.3, 3.0])}
    system = System(free.mass, free.energies, inelastic=parts)
    state = system.state(q, v, t=1.0)
    integrator = case.make(case.size, 0)
    if not runs_on(integrator, system):
        assert "internal variables" not in integrator.takes
        with pytest.raises(InvalidSystem, match="cannot carry internal variables, which the inelastic 'visco' has"):
            integrator.start(system, state)
        return
    motion = integrator.start(system, state)
    started = motion.energies(motion.advance(1.0))
    motion.advance(1.0 + 12 * case.size)
    resumed = case.make(case.size, 0).resume(system, motion.checkpoint())
    end, again = (each.advance(1.0 + 20 * case.size) for each in (motion, resumed))
    np.testing.assert_array_equal(again.q, end.q)
    np.testing.assert_array_equal(again.internal["visco"], end.internal["visco"])
    told = motion.energies(end)
    assert resumed.energies(again) == told
    assert told["work_visco"] < -1e-3 * started["total"]
    kept = "energy" in integrator.conserves
    assert told["balance"] == pytest.approx(started["balance"], rel=1e-12 if kept else 0.1)
    twin = copy.deepcopy(motion)
    np.testing.assert_array_equal(
        twin.advance(1.0 + 24 * case.size).internal["visco"], motion.advance(1.0 + 24 * case.size).internal["visco"]
    )


def test_friction_takes_energy_as_the_balance_says_or_is_refused(case):
    free, q, v = body()
    floor = RigidContact(np.arange(len(q)), HalfSpace((0.0, 0.0, np.sort(q[:, 2])[2]), (0.0, 0.0, 1.0)), 2.0)
    friction = Friction(floor, 0.3, static=0.4, slip_speed=0.05)
    system = System(free.mass, free.energies | {"floor": floor}, loads={"friction": friction})
    integrator = case.make(case.size, 0)
    if not runs_on(integrator, system):
        refusal = "load 'friction' acts from outside|'floor' .* has no (secant form|third derivative)"
        with pytest.raises(InvalidSystem, match=refusal):
            integrator.start(system, system.state(q, v))
        return
    motion = integrator.start(system, system.state(q, v))
    started = motion.energies(motion.advance(0.0))
    told = motion.energies(motion.advance(4 * case.size))
    assert told["work_friction"] < -1e-5 * started["total"]
    kept = "energy" in integrator.conserves and not isinstance(integrator, AdaptiveVariational)  # of loads nearly
    assert told["balance"] == pytest.approx(started["balance"], rel=1e-11 if kept else 0.1)
