"""Your own code in a system: all that is not of the package, checked where a motion starts."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from symplex.base.arguments import checked
from symplex.contact.gap_law import ContactLaw
from symplex.errors import CheckFailed, StepFailed
from symplex.fem.assembly.copying import own_parts
from symplex.fem.energies.energy import Energy
from symplex.fem.energies.inelastic import Inelastic
from symplex.fem.measures.constraints import Constraint
from symplex.fem.solids.constitutive import Material
from symplex.fem.state import State
from symplex.fem.system import System
from symplex.testing.energies import Subject, check_constraint, check_energy
from symplex.testing.inelastic import check_inelastic
from symplex.testing.laws import check_law, check_material
from symplex.testing.loads import check_load

_INCREMENTS = np.geomspace(1e-4, 0.3, 8)  # of positions, in parts of a stencil
_FARTHER = 4.0
_DEPTHS = np.outer([-1.0, 1.0], np.geomspace(1e-4, 1e-2, 6)).ravel()  # gaps in parts of the size of a system


@checked
def check_system(system: System, state: State, constraints: Mapping[str, Constraint] = MappingProxyType({})) -> None:
    """Check all energies, constraints, laws, inelastic parts and loads of a system that are your own, near a state.

    `symplex.record` does so at the start of a motion with ``check=True``. What is of the package is left out: its tests
    have checked it. An energy that does not act near the state cannot be checked there, nor an inelastic part whose
    variables do not change, which a warning states; call `check_energy` or `check_inelastic` with positions at which
    they do.

    Parameters
    ----------
    system : System
    state : State
    constraints : mapping of str to Constraint, optional
        Those of the integrator.

    Raises
    ------
    CheckFailed
        If one breaks a promise, by its name in the system.
    """
    for name, constraint in constraints.items():
        if next(own_parts(constraint), None) is not None:
            _named(f"constraint '{name}'", lambda c=constraint: check_constraint(c, state.q))
    for name, energy in system.energies.items():
        if next(own_parts(energy), None) is not None:
            _named(f"energy '{name}'", lambda n=name, e=energy: _check_energy(n, e, state.q))
    for name, part in system.inelastic.items():
        if next(own_parts(part), None) is not None:
            _named(f"inelastic part '{name}'", lambda n=name, p=part: _check_inelastic(n, p, state.q))
    for name, load in system.loads.items():
        if next(own_parts(load), None) is not None:
            check_load(load, state.q, state.v, state.t, f"load '{name}'")


def _check_inelastic(name: str, part: Inelastic, q: np.ndarray) -> None:
    """Check a part along an increment some times as large as the smallest one in which its variables change."""
    shake = np.random.default_rng(0).uniform(-1.0, 1.0, q.shape)
    size = float(np.ptp(q[part.nodes], axis=1).max(initial=0.0)) or 1.0
    z = part.relaxed(q)
    for amount in _INCREMENTS:
        to = q + amount * size * shake
        try:
            changes = bool((part.after(q, z, to, 1.0)[0] != z).any())
        except StepFailed:
            break
        if changes:
            check_inelastic(part, q, q + _FARTHER * (to - q))
            return
    warnings.warn(
        f"inelastic part '{name}' ({type(part).__name__}) does not change near the start, and is not checked. Call "
        "symplex.testing.check_inelastic with positions at which it does.",
        stacklevel=6,
    )


def _check_contact(law: ContactLaw, q: np.ndarray) -> bool:
    """Check a contact law at gaps of up to a hundredth of a body; return whether it acts there."""
    depths = _DEPTHS * (float(np.ptp(q, axis=0).max()) or 1.0)
    with np.errstate(all="ignore"):  # a barrier is infinite inside
        energy = law.energy(depths)
    acting = depths[np.isfinite(energy) & (energy != 0.0)]
    if len(acting):
        check_law(law, acting)
    return len(acting) > 0


def _named(place: str, check: Callable[[], None]) -> None:
    try:
        check()
    except CheckFailed as error:
        raise CheckFailed(f"{place}: {error}") from None


def _check_energy(name: str, energy: Energy, q: np.ndarray) -> None:
    """Check what an energy is made of, and itself where it acts."""
    checked = False
    for part in own_parts(energy):
        if isinstance(part, Constraint):
            check_constraint(part, q)
        elif isinstance(part, Material):
            check_material(part)
        elif not isinstance(part, ContactLaw) or not _check_contact(part, q):
            continue
        checked = True
    if len(energy.nodes) and Subject(energy, np.ascontiguousarray(q)).acts:
        check_energy(energy, q)
    elif not checked:
        warnings.warn(
            f"energy '{name}' ({type(energy).__name__}) does not act near the start, and is not checked. Call "
            "symplex.testing.check_energy with positions at which it acts.",
            stacklevel=5,
        )
