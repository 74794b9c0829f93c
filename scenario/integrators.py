"""From the tables of how time is stepped to an integrator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from types import MappingProxyType

import numpy as np

from symplex.base.columns import Column, energy_column, total_column
from symplex.contact.output import GAP
from symplex.contact.rigid import COLUMNS as CONTACT
from symplex.errors import InfeasibleStart, ScenarioError
from symplex.fem.assembly.directions import unit_vector
from symplex.fem.energies.energy import Array
from symplex.fem.measures.constraints import Constraint
from symplex.fem.measures.relative import axes_from
from symplex.fem.system import MOMENTA, State, System
from symplex.scenario.methods import IntegratorTable
from symplex.scenario.sampling import ROUNDING, Sampled
from symplex.scenario.tables import Tables
from symplex.time.catalogue import columns_of_methods
from symplex.time.conserving.graham_jelenic import GrahamJelenic
from symplex.time.constraints.rattle import ConstrainedIntegrator
from symplex.time.events.force_stepping import ForceStepping
from symplex.time.integrator import FixedStepIntegrator, Integrator
from symplex.time.langevin import Langevin
from symplex.time.variational.adaptive_variational import AdaptiveVariational
from symplex.time.variational.zhang_skeel import ZhangSkeel

_FINEST = 1e-9  # grid relative to the largest coordinate, of which 1e-16 is rounding
_MOST_STEPS = 1e15  # beyond, times are no longer distinguished
# What these cannot do is known at their start only.
_PARTICULAR = (GrahamJelenic, ZhangSkeel, ConstrainedIntegrator)
_NONE: Mapping[str, Constraint] = MappingProxyType({})


def integrator_of(tables: Tables, rods: Mapping[str, Constraint] = _NONE) -> Integrator:
    """Return the integrator that a scenario describes, with its rods as constraints."""
    table, more = tables.integrator, {}
    if issubclass(table.of, ConstrainedIntegrator):
        more["constraints"] = rods
    if table.of is GrahamJelenic:
        more["external"] = _external(tables, table)
    if getattr(table, "align", None) is not None:
        normals = {obstacle.name: obstacle.normal for obstacle in tables.obstacle if obstacle.kind == "half-space"}
        more["axes"] = axes_along(np.array(normals[table.align])) if table.align in normals else None
    method = table.method(**more)
    return method if tables.thermostat is None else tables.thermostat.around(method)


@cache
def reserved_columns() -> dict[str, Column]:
    """Return the columns of histories whatever bodies are called, by name; no energy can be named after them."""
    of_systems = (Column("t", "s", "time"), energy_column("kinetic"), total_column("total"), *MOMENTA, *CONTACT, GAP)
    return {column.name: column for column in of_systems} | columns_of_methods()


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
    """
    table = tables.integrator
    if system.fixed.all() and not system.moving and table.kind != "static":
        raise ScenarioError(
            "the supports hold every node at rest, so nothing can move. Let some be free, prescribe a motion, or take "
            'kind = "static".'
        )
    if getattr(table, "contact_steps", 1) != 1 and not tables.contact:
        raise ScenarioError("contact_steps goes with [[contact]]: nothing else divides steps.")
    if not later:
        _refuse(table, system, state)
    named = replace(tables, integrator=_with_parts(table, system))
    fitted = integrator_of(named, rods).fit(system, state, interval)
    _refuse_long(table, run)
    _refuse_short(fitted, table, run.duration)
    if (issubclass(table.of, _PARTICULAR) or getattr(table, "given", None) or system.joints) and not later:
        _try_start(fitted, system, state)
    return fitted


def _refuse(table: IntegratorTable, system: System, state: State) -> None:
    """Refuse what does not go with a system or state."""
    if table.of is ForceStepping:
        largest = float(np.abs(state.q).max())
        if table.grid < _FINEST * largest:  # positions, as they are stored, hardly move on it
            raise ScenarioError(
                f"grid is {table.grid:g} m, too fine for coordinates of up to {largest:.3g} m: must be at least "
                f"{_FINEST * largest:.1g} m. Try a hundredth of an element."
            )
    if table.of is GrahamJelenic:
        for name in (part for given in table.external or () for part in _energies_of(given, system)):
            if name in system.energies and system.energies[name].has("secant"):
                raise ScenarioError(
                    f"external names '{name}', which has a secant form: the scheme takes it as it is, and keeps its "
                    "order only so; leave it out."
                )


def _refuse_long(table: IntegratorTable, run: Sampled) -> None:
    """Refuse a step that is longer than the run."""
    dt = table.dt if "dt" in table.keys else "auto"
    if dt == "auto":
        return
    if dt > run.duration * (1.0 + ROUNDING):
        which = "the first step dt" if table.of is AdaptiveVariational else "dt"
        raise ScenarioError(f"{which} = {dt:g} s is longer than the run of {run.duration:g} s.")


def _refuse_short(integrator: Integrator, table: IntegratorTable, duration: float) -> None:
    """Refuse steps that are too many for a duration in s."""
    dt = table.dt if table.of is AdaptiveVariational else step_of(integrator)
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
        message = str(error)
        if "joint '" in message:
            message = message.partition(" Put bodies")[0].partition(" Take symplex")[0]
            raise ScenarioError(
                f"{message} Give bodies the velocity and angular_velocity that their joints let them have, and what "
                "is given as a function of time a history that begins with 0 (without a jump of its rate: "
                '"smooth-ramp").'
            ) from None
        raise ScenarioError(
            f"{message.partition(' Take project(')[0]} Give the bodies a velocity and angular_velocity that leave the "
            "lengths of rods as they are."
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
    return table.replaced(**{key: type(given)(names)})


def _energies_of(name: str, system: System) -> list[str]:
    """Return the names of the energies of the parts of a body, or the name itself."""
    return [energy for energy in system.energies if energy.startswith(f"{name}.")] or [name]


def _external(tables: Tables, table: IntegratorTable) -> tuple[str, ...]:
    """Return the names of the energies that act like loads: by default all but those of bodies."""
    given = table.external
    if given is not None or "secant" not in table.bare().needs:
        return tuple(given or ())
    return tuple(name for _, entry in tables.entries() for name in entry.without_secant)


def axes_along(normal: Array) -> Array:
    """Return three orthogonal unit vectors [3, 3], in rows, the first along a vector."""
    return axes_from(unit_vector(normal))
