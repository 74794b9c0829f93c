"""From the tables of how time is stepped to an integrator."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import cast

import numpy as np

from symplex.errors import InfeasibleStart, ScenarioError
from symplex.fem.constraints import Constraint
from symplex.fem.energy import Array
from symplex.fem.system import State, System
from symplex.methods import (
    AdaptiveVariationalTable,
    EnergyMomentumTable,
    EnergySteppingTable,
    FixedStepTable,
    ForceSteppingTable,
    GeneralizedAlphaTable,
    GrahamJelenicTable,
    HilberHughesTaylorTable,
    ImplicitTable,
    IntegratorTable,
    MidpointTable,
    NewmarkTable,
    RattleTable,
    ShakeTable,
    VariationalMidpointTable,
    ZhangSkeelTable,
)
from symplex.tables import Tables
from symplex.time.adaptive_variational import AdaptiveVariational
from symplex.time.composition import Composition
from symplex.time.energy_momentum import EnergyMomentum
from symplex.time.energy_stepping import EnergyStepping
from symplex.time.force_stepping import ForceStepping
from symplex.time.generalized_alpha import GeneralizedAlpha, HilberHughesTaylor
from symplex.time.graham_jelenic import GrahamJelenic
from symplex.time.implicit import ImplicitIntegrator
from symplex.time.integrator import Integrator
from symplex.time.langevin import Langevin
from symplex.time.midpoint import Midpoint
from symplex.time.newmark import Newmark
from symplex.time.newton import Newton
from symplex.time.rattle import Rattle, Shake
from symplex.time.variational import VariationalMidpoint
from symplex.time.zhang_skeel import ZhangSkeel

_FINEST = 1e-9  # grid relative to the largest coordinate, of which 1e-16 is rounding
_ROUNDING = 1e-12  # by how much a step may be longer than it should
# What these cannot do is known at their start only.
_PARTICULAR = (GrahamJelenicTable, ZhangSkeelTable, RattleTable, ShakeTable, EnergySteppingTable)
_OF_ONE_SIZE = (Newmark, ImplicitIntegrator, Composition, GrahamJelenic, ZhangSkeel, Rattle, Shake)
_NONE: Mapping[str, Constraint] = MappingProxyType({})


def integrator_of(tables: Tables, rods: Mapping[str, Constraint] = _NONE) -> Integrator:
    """Return the integrator that a scenario describes, with its rods as constraints."""
    method, bath = _method_of(tables, rods), tables.thermostat
    if bath is None:
        return method
    return Langevin(method, bath.temperature, bath.friction, bath.rate, bath.seed, bath.boltzmann)


def _method_of(tables: Tables, rods: Mapping[str, Constraint]) -> Integrator:
    """Return the method of the table [integrator]."""
    match table := tables.integrator:
        case ForceSteppingTable():
            normals = {obstacle.name: obstacle.normal for obstacle in tables.obstacle if obstacle.kind == "half-space"}
            axes = None if table.align is None else axes_along(np.array(normals[table.align]))
            return ForceStepping(table.grid, table.seed, axes=axes, count_crossings=table.count_crossings)
        case EnergySteppingTable():
            return EnergyStepping(table.step, table.offset, table.stride)
        case NewmarkTable():
            newton = Newton(linear=table.solver, halvings=table.halvings)
            return Newmark(table.dt, table.beta, table.gamma, table.safety, newton=newton)
        case AdaptiveVariationalTable():
            bounds = cast(tuple[float, float], table.bounds)
            newton = Newton(linear=table.solver)
            return AdaptiveVariational(table.dt, bounds, table.hold, table.carry, newton=newton)
        case GrahamJelenicTable():
            external = _external(tables, table)
            return GrahamJelenic(table.dt, table.scheme, external, interpolant=table.interpolant, linear=table.solver)
        case ZhangSkeelTable():
            newton = Newton(linear=table.solver)
            second = ZhangSkeel(table.dt, table.beta, table.variant, tuple(table.stiff), newton=newton)
            return second if table.order == 2 else Composition(second, table.order)
        case RattleTable():
            second = Rattle(table.dt, rods, beta=table.beta)
            return second if table.order == 2 else Composition(second, table.order)
        case ShakeTable():
            return Shake(table.dt, rods, beta=table.beta)
        case _:
            return _implicit(table)


def _implicit(table: ImplicitTable) -> ImplicitIntegrator | Composition:
    """Return an implicit method."""
    newton = Newton(linear=table.solver, halvings=table.halvings)
    match table:
        case VariationalMidpointTable():
            return VariationalMidpoint(table.dt, newton=newton)
        case GeneralizedAlphaTable():
            return GeneralizedAlpha(table.dt, table.rho_inf, newton=newton)
        case HilberHughesTaylorTable():
            return HilberHughesTaylor(table.dt, table.alpha, newton=newton)
        case EnergyMomentumTable():
            second = EnergyMomentum(table.dt, table.compensated, newton=newton)
        case MidpointTable():
            second = Midpoint(table.dt, newton=newton)
        case _:
            raise TypeError(f"no method is known for a {type(table).__name__}")
    return second if table.order == 2 else Composition(second, table.order)


def fitted_integrator(tables: Tables, rods: Mapping[str, Constraint], system: System, state: State) -> Integrator:
    """Return the integrator that a scenario describes, with a step that fits its times.

    Parameters
    ----------
    tables : Tables
    rods : mapping of str to Constraint
        The rigid rods by name.
    system : System
    state : State
        At the start.

    Raises
    ------
    ScenarioError
        If it cannot be run on the system as it is told to.
    SymplexError
        As the integrators refuse systems and steps.
    """
    run, table = tables.run, tables.integrator
    if system.fixed.all():
        raise ScenarioError("the supports hold every node, so nothing can move; let some be free.")
    interval = run.duration / run.n_samples
    _refuse(table, system, state)
    fitted = integrator_of(tables, rods).fit(system, state, interval)
    if isinstance(table, AdaptiveVariationalTable):
        if table.dt > run.duration * (1.0 + _ROUNDING):
            raise ScenarioError(f"the first step dt = {table.dt:g} s is longer than the run of {run.duration:g} s.")
    elif isinstance(table, FixedStepTable | NewmarkTable):
        _refuse_long(table, interval)
    if isinstance(table, _PARTICULAR):
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
    if isinstance(table, EnergySteppingTable) and not state.v.any():
        raise ScenarioError(
            "all is at rest at the start, where energy-stepping holds it for ever, as nothing acts on a terrace; "
            'give a body a velocity, or take kind = "force-stepping".'
        )
    if isinstance(table, GrahamJelenicTable):
        for name in table.external or ():
            if name in system.energies and system.energies[name].has("secant"):
                raise ScenarioError(
                    f"external names '{name}', which has a secant form: the scheme takes it as it is, and keeps its "
                    "order only so; leave it out."
                )


def _refuse_long(table: FixedStepTable | NewmarkTable, interval: float) -> None:
    """Refuse a step that is longer than the interval in s between samples."""
    if table.dt != "auto" and table.dt > interval * (1.0 + _ROUNDING):
        or_auto = ', or dt = "auto"' if isinstance(table, NewmarkTable) and not table.implicit else ""
        raise ScenarioError(
            f"dt = {table.dt:g} s is longer than the {interval:g} s between samples; "
            f"take fewer samples ([run] frames, samples){or_auto}."
        )


def _try_start(integrator: Integrator, system: System, state: State) -> None:
    """Start a motion, for what is refused only then."""
    try:
        integrator.start(system, state)
    except InfeasibleStart as error:
        told = str(error).partition(" Take project(")[0]
        raise ScenarioError(
            f"{told} Give the bodies a velocity and angular_velocity that leave the lengths of rods as they are."
        ) from None


def step_of(integrator: Integrator) -> float | None:
    """Return the step in s of a method with steps of one size that has been fitted, or None."""
    method = integrator.integrator if isinstance(integrator, Langevin) else integrator
    return float(method.dt) if isinstance(method, _OF_ONE_SIZE) else None


def _external(tables: Tables, table: GrahamJelenicTable) -> tuple[str, ...]:
    """Return the names of the energies that act like loads: by default all but those of bodies."""
    if not table.takes_external or table.external is not None:
        return tuple(table.external or ())
    return *(obstacle.name for obstacle in tables.obstacle), *tables.constant_forces


def axes_along(normal: Array) -> Array:
    """Return three orthogonal unit vectors [3, 3], in rows, the first along a vector."""
    n = normal / np.linalg.norm(normal)
    # The second is orthogonal to a coordinate axis, too.
    second = np.cross(n, np.eye(3)[np.argmin(np.abs(n))])
    second /= np.linalg.norm(second)
    return np.array([n, second, np.cross(n, second)], dtype=float)
