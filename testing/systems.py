"""Your own code in a system: all that is not of the package, checked where a motion starts."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np

from symplex.errors import CheckFailed
from symplex.fem.energy import Energy
from symplex.fem.measures.constraints import Constraint
from symplex.fem.measures.pair_laws import PairLaw
from symplex.fem.solids.constitutive import Material
from symplex.fem.state import State
from symplex.fem.system import System
from symplex.testing.energies import check_constraint, check_energy
from symplex.testing.laws import check_material
from symplex.testing.loads import check_load

_PARTS = Energy, Constraint, Material, PairLaw  # what may be of a user within an energy


def check_system(system: System, state: State) -> None:
    """Check all energies, constraints, laws and loads of a system that are your own, at a state and near it.

    `symplex.record` does so at the start of a motion with ``check=True``. What is of the package is left out: its tests
    have checked it. An energy that does not act near the state cannot be checked there, of which a warning tells; call
    `check_energy` with positions at which it acts.

    Parameters
    ----------
    system : System
    state : State

    Raises
    ------
    CheckFailed
        If one breaks a promise, by its name in the system.
    """
    for name, energy in system.energies.items():
        own = list(_own_parts(energy))
        if not own:
            continue
        try:
            for part in own:
                if isinstance(part, Constraint):
                    check_constraint(part, state.q)
                elif isinstance(part, Material):
                    check_material(part)
            if len(energy.nodes) and _acts(energy, state):
                check_energy(energy, state.q)
                continue
        except CheckFailed as error:
            raise CheckFailed(f"energy '{name}': {error}") from None
        if not any(isinstance(part, Constraint | Material) for part in own):
            warnings.warn(
                f"energy '{name}' ({type(energy).__name__}) does not act near the start, and is not checked. Call "
                "symplex.testing.check_energy with positions at which it acts.",
                stacklevel=3,
            )
    for name, load in system.loads.items():
        if not _is_ours(load):
            check_load(load, state.q, state.v, state.t, f"load '{name}'")


def _acts(energy: Energy, state: State) -> bool:
    from symplex.testing.energies import Subject

    return Subject(energy, np.ascontiguousarray(state.q)).acts


def _is_ours(part: object) -> bool:
    kind = part if hasattr(part, "__code__") else type(part)
    return str(getattr(kind, "__module__", "")).split(".")[0] == "symplex"


def _own_parts(energy: Energy) -> Iterator[object]:
    """Yield the energy, and what it is made of, as far as they are not of the package."""
    pending: list[object] = [energy]
    while pending:
        part = pending.pop()
        if not _is_ours(part):
            yield part
        pending += [value for value in getattr(part, "__dict__", {}).values() if isinstance(value, _PARTS)]
