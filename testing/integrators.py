"""What every integrator promises: its declared order, what it conserves and nothing else, its symmetry, checkpoints."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.integrate import solve_ivp

from symplex.base.arguments import checked
from symplex.contact.friction import Friction
from symplex.contact.obstacles import HalfSpace
from symplex.contact.rigid import RigidContact
from symplex.errors import InvalidArgument, InvalidSystem, StepFailed, SymplexError
from symplex.fem.actions.mass import lumped_mass
from symplex.fem.actions.support_motion import SupportTranslation
from symplex.fem.actions.time_function import TimeFunction
from symplex.fem.assembly.pattern import Array
from symplex.fem.solids.materials import NeoHookean
from symplex.fem.solids.solid import Solid
from symplex.fem.solids.viscoelastic import Viscoelastic
from symplex.fem.state import State
from symplex.fem.system import System
from symplex.meshes.generate import box
from symplex.testing.found import Check, require, require_close
from symplex.time.integrator import Integrator
from symplex.time.motion import Motion
from symplex.time.traits import runs_on

CHECKS: dict[str, Check] = {}  # by name, in the order in which they are run
_MOST_LOOKS = 10_000
_FIELDS = "t", "q", "v", "a"  # of states, for what must be bit-identical


@checked
def check_integrator(
    make: Callable[[float], Integrator],
    sizes: Sequence[float],
    size: float,
    *,
    impossible: Callable[[], Integrator] | None = None,
    order_tolerance: float = 0.15,
    round_off: float = 1e-12,
    looks: int = 8,
) -> None:
    """Check all that an integrator declares, on a block of rubber that spins, drifts and vibrates strongly.

    Its order two-sided; that it conserves what it says *and nothing else*; whether it is symmetric and symplectic;
    that resumed, interrupted and copied motions are bit-identical; that work of loads, dissipation and moving supports
    are in its balance, or refused. The block is of 1 m, 1 Pa and 1 kg/m³; its stability limit is about 0.1 s.

    Parameters
    ----------
    make : callable
        Returns the integrator for a step in s (or for whatever else its error falls with).
    sizes : sequence of float
        Steps in s for the order: two or more, small enough that the error falls as it should.
    size : float
        Step in s for all else: large enough that what is not conserved is seen to drift.
    impossible : callable, optional
        Returns the integrator with a step that must be refused: one above its stability limit, or none.
    order_tolerance : float, default 0.15
        How far the order that is found may be from the declared one.
    round_off : float, default 1e-12
        What counts as conserved, relative to the value.
    looks : int, default 8
        How often what is conserved is looked at, 100 steps apart.

    Raises
    ------
    CheckFailed
        If a promise is not kept.
    """
    numbers = {"sizes": sizes, "size": [size], "order_tolerance": [order_tolerance], "round_off": [round_off]}
    for name, values in numbers.items():
        if not all(0.0 < value < np.inf for value in values):
            raise InvalidArgument(f"check_integrator: {name} must be positive and finite, got {values}.")
    if len(sizes) < 2 or not 1 <= looks <= _MOST_LOOKS:
        raise InvalidArgument(
            f"check_integrator: sizes must be two steps or more and looks from 1 to {_MOST_LOOKS}, got "
            f"{len(sizes)} and {looks}."
        )
    case = Case(
        make=lambda dt, seed: make(dt),
        sizes=tuple(sizes),
        size=size,
        impossible=impossible,
        order_tolerance=order_tolerance,
        round_off=round_off,
        looks=looks,
    )
    for check in CHECKS.values():
        check(case)


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
    impossible: Callable[[], Integrator] | None
    refusal: type[Exception] | tuple[type[Exception], ...] = (SymplexError, ValueError)
    seeds: Sequence[int] = (0,)
    order_tolerance: float = 0.15
    round_off: float = 1e-12
    reversal: float = 1e-10
    steps: int = 5
    nudge: float = 1e-6
    looks: int = 100
    exact_loads: bool = True  # whether the work of loads is in the balance to round-off, where energy is conserved
    slow: bool = False

    @property
    def method(self) -> Integrator:
        """The integrator with the size for all but the order."""
        return self.make(self.size, 0)

    @property
    def place(self) -> str:
        """How messages call it."""
        return self.method.name


def _promise(run: Callable[[Case], None]) -> Callable[[Case], None]:
    CHECKS[run.__name__] = Check(run)
    return run


def _require_same(case: Case, what: str, one: State, other: State) -> None:
    for name in _FIELDS:
        same = np.array_equal(getattr(one, name), getattr(other, name))
        require(case.place, same, f"{what}, but {name} differs. Put all that it carries from step to step in arrays().")


def _refused(start: Callable[[], object], errors: type[Exception] | tuple[type[Exception], ...]) -> str:
    """Return the message with which something is refused, or nothing if it is not."""
    try:
        start()
    except errors as error:
        return str(error) or type(error).__name__
    return ""


def body(cells: slice = slice(None)) -> tuple[System, Array, Array]:
    """Return a free neo-Hookean block (or some of its tetrahedra), stretched: it spins, drifts slowly, vibrates."""
    mesh = box((1.0, 0.8, 0.6), (1, 1, 1), split="6")
    tetrahedra = mesh.cells["tetra"][cells]
    kept, tetrahedra = np.unique(tetrahedra, return_inverse=True)
    points, tetrahedra = mesh.points[kept], tetrahedra.reshape(-1, 4).astype(np.int32)
    solid = Solid(points, tetrahedra, NeoHookean(2.0, 1.0, 1.0))
    system = System(lumped_mass(points, tetrahedra, 1.0, len(points)), {"solid": solid})
    centre = points.mean(axis=0)
    q = centre + (points - centre) * [1.25, 0.9, 1.1]
    v = np.array([0.04, 0.03, -0.02]) + np.cross([0.3, -0.2, 0.9], points - centre)
    return system, q, v


def far_away(system: System, q: Array, v: Array, t: float) -> Array:
    """Return position and velocity [2, n, dim] at a time, by a high-order method with tight tolerances."""

    def rate(_: float, y: Array) -> Array:
        x, w = y.reshape(2, *q.shape)
        return np.concatenate([w.ravel(), system.accelerations(system.force(0.0, x, w)).ravel()])

    start = np.concatenate([q.ravel(), v.ravel()])
    solution = solve_ivp(rate, (0.0, t), start, method="DOP853", rtol=1e-12, atol=1e-13)
    return solution.y[:, -1].reshape(2, *q.shape)


@_promise
def declared_order_on_a_nonlinear_problem(case: Case) -> None:
    """Two-sided."""
    system, q, v = body()
    exact_q, exact_v = far_away(system, q, v, 2.0)
    errors = []
    for size in case.sizes:
        ends = [case.make(size, seed).start(system, system.state(q, v)).advance(2.0) for seed in case.seeds]
        errors.append(np.mean([max(np.abs(e.q - exact_q).max(), np.abs(e.v - exact_v).max()) for e in ends]))
    sizes = ", ".join(f"{size:g}" for size in case.sizes)
    require(case.place, errors[-1] > 1e-11, f"errors of sizes {sizes} are at round-off; choose larger ones.")
    require(
        case.place, errors[0] < 0.1, f"the error is {errors[0]:.2g} m with size {case.sizes[0]:g}; choose smaller ones."
    )
    orders = np.log(np.divide(errors[:-1], errors[1:])) / np.log(np.divide(case.sizes[:-1], case.sizes[1:]))
    declared = np.full(len(orders), float(case.method.order))
    what = f"errors must fall with the declared order (sizes {sizes})"
    require_close(case.place, what, orders, declared, case.order_tolerance)


@_promise
def conserves_what_it_says_and_nothing_else(case: Case) -> None:
    """Energy, momentum and angular momentum, over long times."""
    system, q, v = body()
    # All conserved quantities must be there: a body at rest would keep its momentum with any method.
    integrator = case.method
    motion = integrator.start(system, system.state(q, v))
    drift: dict[str, float] = dict.fromkeys(("energy", "momentum", "angular momentum"), 0.0)
    start = None
    for t in case.size * 100 * np.arange(case.looks + 1):
        now = _conserved(system, motion, motion.advance(t), integrator.energy)
        start = start or now
        for name, value in now.items():
            assert np.linalg.norm(start[name]) > 1e-2
            moved = float(np.linalg.norm(value - start[name]) / np.linalg.norm(start[name]))
            drift[name] = max(drift[name], moved)
    for name, value in drift.items():
        if name in integrator.conserves:
            sentence = (
                f"{name} must be conserved as declared, but drifts by {value:.2e} (at most {case.round_off:.0e})."
            )
            require(case.place, value < case.round_off, sentence)
        else:
            sentence = (
                f"{name} is not declared as conserved, but drifts by {value:.2e} only. Declare it, or try larger steps."
            )
            require(case.place, value > 1e-6, sentence)


def _conserved(system: System, motion: Motion, state: State, energy: str) -> dict[str, Array]:
    return {
        "energy": np.array(motion.energies(state)[energy]),
        "momentum": system.momentum(state),
        "angular momentum": system.angular_momentum(state),
    }


@_promise
def what_motions_tell_is_declared(case: Case) -> None:
    """Energies and statistics are among the columns."""
    system, q, v = body()
    integrator = case.method
    motion = integrator.start(system, system.state(q, v))
    columns = {column.name: column for column in motion.columns}
    require(case.place, len(columns) == len(motion.columns), "columns must have different names.")
    state = motion.advance(3 * case.size)
    energies, counts = motion.energies(state), motion.statistics()
    for name, unit in (*((name, "J") for name in energies), *((name, "count") for name in counts)):
        column = columns.get(name)
        declared = column is not None and unit in (column.unit, column.kind)
        require(case.place, declared, f"'{name}' must be declared in columns, as a column of {unit}.")
    total = columns[integrator.energy].kind == "total"
    require(case.place, total, f"energy must name a column of a total, got '{integrator.energy}'.")
    own = set(energies) & {column.name for column in integrator.columns}
    added = set(energies) - set(system.energies_of(state))
    require(case.place, own == added, f"energies that it adds, {sorted(added)}, must be those that it declares.")


@_promise
def symmetric_methods_and_no_others_come_back_with_reversed_velocities(case: Case) -> None:
    """To round-off."""
    system, q, v = body()
    integrator = case.method
    t = case.size * round(min(40.0, 2.0 / case.size))
    there = integrator.start(system, system.state(q, v)).advance(t)
    require(case.place, bool(np.abs(there.q - q).max() > 0.1), "the body must move.")
    back = integrator.start(system, system.state(there.q, -there.v)).advance(t)
    missed = float(max(np.abs(back.q - q).max(), np.abs(back.v + v).max()))
    comes = f"with reversed velocities it comes back to {missed:.1e} m"
    if integrator.symmetric:
        require(case.place, missed < case.reversal, f"declared as symmetric, but {comes} only.")
    else:
        require(case.place, missed > 1e-6, f"not declared as symmetric, but {comes}.")


def symplectic_defect(
    system: System, q: Array, v: Array, advance: Callable[[Array, Array], tuple[Array, Array]], nudge: float = 1e-6
) -> float:
    """Return max |Jᵀ Ω J − Ω| for the Jacobian J of (q, p) -> advance(q, p), by central differences."""
    mass = np.repeat(np.asarray(system.mass), system.dim)
    size = q.size

    def flow(y: Array) -> Array:
        end_q, end_v = advance(y[:size].reshape(q.shape), (y[size:] / mass).reshape(q.shape))
        return np.concatenate([end_q.ravel(), end_v.ravel() * mass])

    y0 = np.concatenate([q.ravel(), v.ravel() * mass])
    J = np.column_stack([(flow(y0 + nudge * e) - flow(y0 - nudge * e)) / (2 * nudge) for e in np.eye(2 * size)])
    identity, zero = np.eye(size), np.zeros((size, size))
    omega = np.block([[zero, identity], [-identity, zero]])
    return float(np.abs(J.T @ omega @ J - omega).max())


@_promise
def jacobian_is_symplectic(case: Case) -> None:
    """Of methods that say so and of no others."""
    system, q, v = body(slice(0, 2))
    integrator = case.method

    def advance(q: Array, v: Array) -> tuple[Array, Array]:
        end = integrator.start(system, system.state(q, v)).advance(case.steps * case.size)
        return end.q, end.v

    defect = symplectic_defect(system, q, v, advance, case.nudge)
    if "symplectic form" in integrator.conserves:
        require(
            case.place,
            defect < 1e-7,
            f"the symplectic form must be conserved as declared, but JᵀΩJ − Ω is {defect:.1e}.",
        )
    else:
        require(case.place, defect > 1e-5, f"the symplectic form is conserved to {defect:.1e}, but not declared.")


@_promise
def a_resumed_motion_is_bit_identical(case: Case) -> None:
    """From a checkpoint, on another system of the same kind."""
    system, q, v = body()
    t1, t2 = 9 * case.size, 23 * case.size
    motion = case.method.start(system, system.state(q, v, t=1.0))
    motion.advance(1.0 + t1)
    stored = {name: array.copy() for name, array in motion.checkpoint().items()}
    uninterrupted = motion.advance(1.0 + t2)
    system, _, _ = body()  # nothing may be remembered in the system
    resumed = case.method.resume(system, stored)
    _require_same(case, "a resumed motion must be bit-identical", resumed.advance(1.0 + t2), uninterrupted)
    same = resumed.statistics() == motion.statistics()
    require(case.place, same, "statistics of a resumed motion must go on from those in the checkpoint.")


@_promise
def a_motion_stopped_on_its_way_goes_on_bit_identically(case: Case) -> None:
    """By `approach`, with copies from checkpoints on the way."""
    system, q, v = body()
    t = 1.0 + 23 * case.size
    at_once = case.method.start(system, system.state(q, v, t=1.0)).advance(t)
    motion = case.method.start(system, system.state(q, v, t=1.0))
    stops = 0
    while not motion.approach(t, 0.0):  # the least that it can take
        stops += 1
        if stops % 5 == 0:
            motion = case.method.resume(body()[0], motion.checkpoint())
    require(case.place, stops > 5, "approach must stop after each step when there is no time.")
    _require_same(case, "a motion that stops on its way must be bit-identical", motion.advance(t), at_once)
    refusal = _refused(lambda: motion.approach(1.0, 1.0), StepFailed)
    require(case.place, "cannot go back" in refusal, "approach must refuse to go back in time.")


_COPIES: dict[str, Callable[[Motion], Motion]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda motion: pickle.loads(pickle.dumps(motion)),
}


@_promise
def a_copied_motion_goes_on_by_itself_and_bit_identically(case: Case) -> None:
    """Copies of each kind; motions from modules that others can import are pickled as well."""
    for kind, copied in _COPIES.items():
        system, q, v = body()
        motion = case.method.start(system, system.state(q, v, t=1.0))
        ts = 1.0 + case.size * np.array([3, 7, 10])
        here = motion.advance(ts[0])
        twin = copied(motion)
        require(case.place, twin.system is motion.system or kind != "copy", "a shallow copy must share the system.")
        same = twin.statistics() == motion.statistics() and twin.energies(here) == motion.energies(here)
        require(case.place, same, f"statistics and energies of a copy ({kind}) must be the same.")
        # In turns, so that one would disturb the other if they shared what moves.
        of_motion = here
        for t in ts[1:]:
            of_twin, of_motion = twin.advance(t), motion.advance(t)
            _require_same(case, f"a copied motion ({kind}) must be bit-identical", of_twin, of_motion)
            same = twin.energies(of_twin) == motion.energies(of_motion)
            require(case.place, same, f"energies of a copied motion ({kind}) must be the same.")
        require(
            case.place, twin.statistics() == motion.statistics(), f"statistics of a copy ({kind}) must be the same."
        )
        require(case.place, bool(np.abs(of_motion.q - here.q).max() > 1e-3), "the body must move.")


@_promise
def a_checkpoint_of_another_method_is_refused(case: Case) -> None:
    """By name."""
    system, q, v = body()
    refusal = _refused(lambda: case.method.resume(system, {"q": q, "v": v}), InvalidSystem)
    named = "the checkpoint belongs to another" in refusal or "the checkpoint has no" in refusal
    require(
        case.place, named, "resume must refuse the checkpoint of another method with an InvalidSystem that says so."
    )


@_promise
def a_state_is_not_changed_by_going_on(case: Case) -> None:
    """Neither that of the start nor one that was returned."""
    system, q, v = body()
    state = system.state(q, v)
    motion = case.method.start(system, state)
    first = motion.advance(5 * case.size)
    kept = first.q.copy()
    motion.advance(10 * case.size)
    unchanged = np.array_equal(state.q, q) and np.array_equal(first.q, kept)
    require(case.place, unchanged, "states must not change as the motion goes on; copy them.")


@_promise
def going_back_in_time_is_refused(case: Case) -> None:
    """By `advance`."""
    system, q, v = body()
    motion = case.method.start(system, system.state(q, v))
    motion.advance(5 * case.size)
    refusal = _refused(lambda: motion.advance(2 * case.size), SymplexError)
    require(case.place, "cannot go back" in refusal, "advance must refuse to go back in time.")


@_promise
def an_impossible_size_is_refused(case: Case) -> None:
    """At the start, or when the integrator is made."""
    if case.impossible is None:
        return
    impossible = case.impossible
    system, q, v = body()
    refusal = _refused(lambda: impossible().start(system, system.state(q, v)), case.refusal)
    require(case.place, bool(refusal), "a step that is impossible must be refused at the start.")


@_promise
def supports_move_as_given_or_are_refused(case: Case) -> None:
    """As it declares in ``takes``."""
    free, q, v = body()
    lift = SupportTranslation([0], "z", TimeFunction.steady(0.1))
    system = System(free.mass, free.energies, moving={"lift": lift})
    t, integrator = 4 * case.size, case.method
    if "moving supports" not in integrator.takes:
        refusal = _refused(lambda: integrator.start(system, system.state(q, v)), InvalidSystem)
        named = "cannot move supports, but the motion of 'lift' is given" in refusal
        require(case.place, named, "moving supports must be refused by name where takes has none.")
        return
    end = integrator.start(system, system.state(q, v)).advance(t)
    what = "supports must move as given"
    require_close(case.place, what, end.q[0, 2], q[0, 2] + 0.1 * t, 1e-15, "m")
    require_close(case.place, what, end.v[0, 2], 0.1, 0.0, "m/s")
    require(case.place, bool(abs(end.q[0, 0] - q[0, 0]) > 1e-3), "other coordinates of a moving support must be free.")


@_promise
def viscoelastic_bodies_dissipate_as_the_balance_says_or_are_refused(case: Case) -> None:
    """As it declares in ``takes``."""
    free, q, v = body()
    parts = {"visco": Viscoelastic(free.energies["solid"], [1.0, 0.5], [0.3, 3.0])}  # pyright: ignore[reportArgumentType]
    system = System(free.mass, free.energies, inelastic=parts)
    state = system.state(q, v, t=1.0)
    integrator = case.method
    if not runs_on(integrator, system):
        refusal = _refused(lambda: integrator.start(system, state), InvalidSystem)
        named = "cannot carry internal variables, which the inelastic 'visco' has" in refusal
        named = named and "internal variables" not in integrator.takes
        require(case.place, named, "internal variables must be refused by name where takes has none.")
        return
    motion = integrator.start(system, state)
    started = motion.energies(motion.advance(1.0))
    motion.advance(1.0 + 12 * case.size)
    resumed = case.method.resume(system, motion.checkpoint())
    end, again = (each.advance(1.0 + 20 * case.size) for each in (motion, resumed))
    _require_same(case, "a resumed motion of an inelastic body must be bit-identical", again, end)
    same = np.array_equal(again.internal["visco"], end.internal["visco"])
    reported = motion.energies(end)
    same = same and resumed.energies(again) == reported
    require(case.place, same, "internal variables and energies of a resumed motion must be bit-identical.")
    require(case.place, reported["work_visco"] < -1e-3 * started["total"], "an inelastic body must dissipate energy.")
    _require_balance(case, "dissipation", reported, started, free, 20 * case.size, 1e-12)
    twin = copy.deepcopy(motion)
    t = 1.0 + 24 * case.size
    same = np.array_equal(twin.advance(t).internal["visco"], motion.advance(t).internal["visco"])
    require(case.place, same, "internal variables of a copied motion must be bit-identical.")


@_promise
def friction_takes_energy_as_the_balance_says_or_is_refused(case: Case) -> None:
    """As it declares in ``takes``."""
    free, q, v = body()
    floor = RigidContact(np.arange(len(q)), HalfSpace((0.0, 0.0, np.sort(q[:, 2])[2]), (0.0, 0.0, 1.0)), 2.0)
    friction = Friction(floor, 0.3, static=0.4, slip_speed=0.05)
    system = System(free.mass, free.energies | {"floor": floor}, loads={"friction": friction})
    integrator = case.method
    if not runs_on(integrator, system):
        refusal = _refused(lambda: integrator.start(system, system.state(q, v)), InvalidSystem)
        lacks = "'floor'" in refusal and ("has no secant form" in refusal or "has no third derivative" in refusal)
        named = "load 'friction' acts from outside" in refusal or lacks
        require(case.place, named, "loads must be refused by name where takes has none.")
        return
    motion = integrator.start(system, system.state(q, v))
    started = motion.energies(motion.advance(0.0))
    reported = motion.energies(motion.advance(4 * case.size))
    require(case.place, reported["work_friction"] < -1e-5 * started["total"], "the work of friction must be reported.")
    free = System(free.mass, system.energies)
    _require_balance(case, "friction", reported, started, free, 4 * case.size, 1e-11 if case.exact_loads else 0.0)


def _require_balance(
    case: Case,
    of: str,
    reported: dict[str, float],
    started: dict[str, float],
    without: System,
    span: float,
    exact: float,
) -> None:
    """Check that the balance is kept: to round-off where the method conserves energy, else as well as it does without.

    Parameters
    ----------
    case : Case
    of : str
        What takes energy.
    reported, started : dict of str to float
        The energies at the end and at the start.
    without : System
        The same without what takes energy.
    span : float
        The time between them in s.
    exact : float
        The bound relative to the balance where the method conserves energy; 0: where it does so nearly only.
    """
    bound = exact * abs(started["balance"])
    if "energy" not in case.method.conserves or not exact:
        _, q, v = body()
        motion = case.method.start(without, without.state(q, v))
        alone = [motion.energies(motion.advance(t))["total"] for t in (0.0, span)]
        bound = 0.1 * abs(started["balance"]) + 2.0 * abs(alone[1] - alone[0])
    what = f"the balance of energy must account for {of}"
    require_close(case.place, what, reported["balance"], started["balance"], bound, "J")
