"""From the tables of how time is stepped to an integrator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from types import MappingProxyType
from typing import Any, cast

import numpy as np

from symplex.base.columns import Column, energy_column, total_column
from symplex.contact.output import GAP
from symplex.contact.rigid import COLUMNS as CONTACT
from symplex.device.motion import OnDevice
from symplex.errors import InfeasibleStart, ScenarioError
from symplex.fem.directions import unit_vector
from symplex.fem.energy import Array
from symplex.fem.measures.constraints import Constraint
from symplex.fem.measures.relative import axes_from
from symplex.fem.system import MOMENTA, State, System
from symplex.scenario.methods import (
    METHODS,
    AdaptiveVariationalTable,
    ComposedTable,
    EnergyMomentumTable,
    FixedStepTable,
    ForceSteppingTable,
    GeneralizedAlphaTable,
    GrahamJelenicTable,
    HalvedTable,
    HilberHughesTaylorTable,
    ImplicitTable,
    IntegratorTable,
    MidpointTable,
    MultirateTable,
    NewmarkTable,
    RattleTable,
    ShakeTable,
    SolvedTable,
    StaticTable,
    VariationalMidpointTable,
    ZhangSkeelTable,
)
from symplex.scenario.sampling import ROUNDING, Run, Sampled
from symplex.scenario.tables import Tables
from symplex.time.catalogue import columns_of_methods
from symplex.time.composition import Composition
from symplex.time.conserving.energy_momentum import EnergyMomentum
from symplex.time.conserving.graham_jelenic import GrahamJelenic
from symplex.time.constraints.rattle import Rattle, Shake
from symplex.time.equilibria.quasi_static import Static
from symplex.time.events.force_stepping import ForceStepping
from symplex.time.explicit.multirate import Multirate
from symplex.time.explicit.newmark import Newmark
from symplex.time.implicit.generalized_alpha import GeneralizedAlpha, HilberHughesTaylor
from symplex.time.implicit.midpoint import Midpoint
from symplex.time.integrator import FixedStepIntegrator, Integrator
from symplex.time.langevin import Langevin
from symplex.time.solvers.newton import Newton
from symplex.time.traits import Trait
from symplex.time.variational.adaptive_variational import AdaptiveVariational
from symplex.time.variational.variational import VariationalMidpoint
from symplex.time.variational.zhang_skeel import ZhangSkeel

_FINEST = 1e-9  # grid relative to the largest coordinate, of which 1e-16 is rounding
_MOST_STEPS = 1e15  # beyond, times are no longer told apart
# What these cannot do is known at their start only.
_PARTICULAR = (GrahamJelenicTable, ZhangSkeelTable, RattleTable, ShakeTable)
_WITH_STEPS = FixedStepTable | NewmarkTable | MultirateTable | AdaptiveVariationalTable
_NONE: Mapping[str, Constraint] = MappingProxyType({})
_NEWTON = Newton()


def integrator_of(tables: Tables, rods: Mapping[str, Constraint] = _NONE) -> Integrator:
    """Return the integrator that a scenario describes, with its rods as constraints."""
    method, bath = _method_of(tables, rods), tables.thermostat
    if bath is None:
        return method
    return Langevin(method, bath.temperature, bath.friction, bath.rate, bath.seed, bath.boltzmann)


@cache
def reserved_columns() -> dict[str, Column]:
    """Return the columns of histories whatever bodies are called, by name; no energy can be named after them."""
    of_systems = (Column("t", "s", "time"), energy_column("kinetic"), total_column("total"), *MOMENTA, *CONTACT, GAP)
    return {column.name: column for column in of_systems} | columns_of_methods()


@cache
def taken_by_kind() -> dict[str, frozenset[Trait]]:
    """Return what the integrators of all kinds take, with default parameters."""
    taken = {}
    for kind, model in METHODS.items():
        sizes = {name: 1.0 for name, item in model.model_fields.items() if item.is_required() and name != "kind"}
        table = cast(IntegratorTable, model.model_validate({"kind": kind, **sizes}))
        taken[kind] = integrator_of(Tables(integrator=table, run=Run(duration=1.0))).takes
    return taken


def _method_of(tables: Tables, rods: Mapping[str, Constraint]) -> Integrator:
    """Return the method of the table [integrator]."""
    match table := tables.integrator:
        case ForceSteppingTable():
            normals = {obstacle.name: obstacle.normal for obstacle in tables.obstacle if obstacle.kind == "half-space"}
            axes = axes_along(np.array(normals[table.align])) if table.align in normals else None
            offset = np.array(table.offset) if isinstance(table.offset, tuple) else table.offset
            return ForceStepping(table.grid, table.seed, offset, axes, table.mirrored, table.count_crossings)
        case NewmarkTable():
            sizes = (table.dt, table.beta, table.gamma, table.safety, table.contact_safety)
            method = Newmark(*sizes, newton=_newton(table))
            return _composed(method, table) if table.device == "cpu" else OnDevice(method)
        case MultirateTable():
            return Multirate(
                table.dt, table.levels, table.layers, table.safety, table.contact_safety, given=table.given
            )
        case AdaptiveVariationalTable():
            bounds = cast(tuple[float, float], table.bounds)
            return AdaptiveVariational(table.dt, bounds, table.hold, table.carry, newton=_newton(table))
        case GrahamJelenicTable():
            options: dict[str, Any] = {"interpolant": table.interpolant, "linear": table.solver}
            options |= {} if table.angle is None else {"angle": table.angle}
            options |= {} if table.iterations is None else {"iterations": table.iterations}
            return _composed(GrahamJelenic(table.dt, table.scheme, _external(tables, table), **options), table)
        case ZhangSkeelTable():
            method = ZhangSkeel(table.dt, table.beta, table.variant, tuple(table.stiff), newton=_newton(table))
            return _composed(method, table)
        case RattleTable():
            return _composed(Rattle(table.dt, rods, beta=table.beta), table)
        case ShakeTable():
            return Shake(table.dt, rods, beta=table.beta)
        case StaticTable():
            return Static(table.dt, newton=_newton(table, Static.newton))
        case _:
            return _implicit(table)


def _implicit(table: ImplicitTable) -> FixedStepIntegrator:
    """Return an implicit method."""
    newton = _newton(table)
    match table:
        case VariationalMidpointTable():
            return _composed(VariationalMidpoint(table.dt, newton=newton), table)
        case GeneralizedAlphaTable():
            return GeneralizedAlpha(table.dt, table.rho_inf, newton=newton)
        case HilberHughesTaylorTable():
            return HilberHughesTaylor(table.dt, table.alpha, newton=newton)
        case EnergyMomentumTable():
            return _composed(EnergyMomentum(table.dt, table.compensated, newton=newton), table)
        case MidpointTable():
            return _composed(Midpoint(table.dt, table.alpha, newton=newton), table)
        case _:
            raise TypeError(f"no method is known for a {type(table).__name__}")


def _newton(table: SolvedTable, default: Newton = _NEWTON) -> Newton:
    """Return how the equations of a method are solved, with a method's own defaults."""
    iterations = default.iterations if table.iterations is None else table.iterations
    return Newton(iterations, table.solver, table.halvings if isinstance(table, HalvedTable) else None)


def _composed(method: FixedStepIntegrator, table: ComposedTable) -> FixedStepIntegrator:
    """Return a method, composed if the order is above its own."""
    higher = table.order is not None and table.order > method.order
    return Composition(method, cast(int, table.order), table.substeps) if higher else method


def fitted_integrator(
    tables: Tables,
    rods: Mapping[str, Constraint],
    system: System,
    state: State,
    run: Sampled,
    interval: float,
    later: bool = False,
) -> Integrator:
    """Return the integrator that a scenario describes, with a step that fits its times.

    Parameters
    ----------
    tables : Tables
    rods : mapping of str to Constraint
        The rigid rods by name.
    system : System
    state : State
        At the start.
    run : Sampled
        How long it goes on, and how many samples there are, its parts together.
    interval : float
        The time in s between samples of the part.
    later : bool, default False
        Whether it begins from another state, to which another integrator leads.

    Raises
    ------
    ScenarioError
        If it cannot be run on the system as it is told to.
    SymplexError
        As the integrators refuse systems and steps.
    """
    table = tables.integrator
    if system.fixed.all() and not system.moving and not isinstance(table, StaticTable):
        raise ScenarioError(
            "the supports hold every node at rest, so nothing can move. Let some be free, prescribe a motion, or take "
            'kind = "static".'
        )
    if not later:
        _refuse(table, system, state)
    named = replace(tables, integrator=_with_parts(table, system))
    fitted = integrator_of(named, rods).fit(system, state, interval)
    if isinstance(table, _WITH_STEPS):
        _refuse_long(table, run)
    _refuse_short(fitted, table, run.duration)
    if (isinstance(table, _PARTICULAR) or getattr(table, "given", None)) and not later:
        _try_start(fitted, system, state)
    return fitted


def _refuse(table: IntegratorTable, system: System, state: State) -> None:
    """Refuse what does not go with a system or state."""
    if isinstance(table, ForceSteppingTable):
        largest = float(np.abs(state.q).max())
        if table.grid < _FINEST * largest:  # positions, as they are stored, hardly move on it
            raise ScenarioError(
                f"grid is {table.grid:g} m, too fine for coordinates of up to {largest:.3g} m: must be at least "
                f"{_FINEST * largest:.1g} m. Try a hundredth of an element."
            )
    if isinstance(table, GrahamJelenicTable):
        for name in (part for given in table.external or () for part in _energies_of(given, system)):
            if name in system.energies and system.energies[name].has("secant"):
                raise ScenarioError(
                    f"external names '{name}', which has a secant form: the scheme takes it as it is, and keeps its "
                    "order only so; leave it out."
                )


def _refuse_long(
    table: FixedStepTable | NewmarkTable | MultirateTable | AdaptiveVariationalTable, run: Sampled
) -> None:
    """Refuse a step that is longer than the run."""
    dt = 0.0 if table.dt == "auto" else table.dt
    if dt > run.duration * (1.0 + ROUNDING):
        which = "the first step dt" if isinstance(table, AdaptiveVariationalTable) else "dt"
        raise ScenarioError(f"{which} = {dt:g} s is longer than the run of {run.duration:g} s.")


def _refuse_short(integrator: Integrator, table: IntegratorTable, duration: float) -> None:
    """Refuse steps that are too many for a duration in s."""
    dt = table.dt if isinstance(table, AdaptiveVariationalTable) else step_of(integrator)
    if dt is None or duration <= _MOST_STEPS * dt:
        return
    if getattr(table, "dt", None) == "auto":
        why = f"the step that is stable, {dt:.3g} s, is too short for"
        advice = "look at the units of stiffness, density and duration, or take an implicit method"
    else:
        why, advice = f"dt = {dt:.3g} s is too short for", "take longer steps"
    raise ScenarioError(
        f"{why} a run of {duration:g} s: that makes {duration / dt:.1g} steps, at most {_MOST_STEPS:.0g} can be taken; "
        f"{advice}."
    )


def _try_start(integrator: Integrator, system: System, state: State) -> None:
    """Start a motion, for what is refused only then."""
    try:
        integrator.start(system, state)
    except InfeasibleStart as error:
        message = str(error).partition(" Take project(")[0]
        raise ScenarioError(
            f"{message} Give the bodies a velocity and angular_velocity that leave the lengths of rods as they are."
        ) from None


def step_of(integrator: Integrator) -> float | None:
    """Return the step in s of a method with steps of one size, or None; also if it is chosen at the start."""
    method = integrator.integrator if isinstance(integrator, Langevin) else integrator
    return float(method.dt) if isinstance(method, FixedStepIntegrator) and method.dt != "auto" else None


def _with_parts(table: IntegratorTable, system: System) -> IntegratorTable:
    """Return a table in which a body of several parts stands for the energies of all of these."""
    key = next((key for key in ("stiff", "external") if getattr(table, key, None)), None)
    if key is None:
        return table
    given = getattr(table, key)
    names = [part for name in given for part in _energies_of(name, system)]
    return table.model_copy(update={key: type(given)(names)})


def _energies_of(name: str, system: System) -> list[str]:
    """Return the names of the energies of the parts of a body, or the name itself."""
    return [energy for energy in system.energies if energy.startswith(f"{name}.")] or [name]


def _external(tables: Tables, table: GrahamJelenicTable) -> tuple[str, ...]:
    """Return the names of the energies that act like loads: by default all but those of bodies."""
    if not table.takes_external or table.external is not None:
        return tuple(table.external or ())
    anchored = (table.name for table in tables.spring if table.to is not None)
    fixed = (obstacle.name for obstacle in tables.shaped if not obstacle.has_secant)
    return *fixed, *anchored, *tables.constant_forces


def axes_along(normal: Array) -> Array:
    """Return three orthogonal unit vectors [3, 3], in rows, the first along a vector."""
    return axes_from(unit_vector(normal))
