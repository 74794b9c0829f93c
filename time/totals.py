"""The total energies that motions tell of: their names, which of them a method keeps, and how changes are measured."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Energy = TypeVar("Energy", float, NDArray[np.float64])

# A method declares one of these, `symplex.time.integrator.Integrator.energy`.
TOTALS = (
    "total",  # kinetic and potential energy of the state
    "lattice_total",  # the same with the potential that force-stepping interpolates on its lattice
    "terraced_total",  # with the terraces of energy-stepping
    "modified_total",  # with the modified potential of Zhang and Skeel
    "discrete_energy",  # of the last step of a variational method
)
# What is left of them without the work of loads and of supports that move, and heat, as far as it is known.
LESS_WORK = {"total": "balance", "discrete_energy": "discrete_balance"}
ALL_TOTALS = (*TOTALS, *LESS_WORK.values())


def kept_energy(energy: str, names: Container[str]) -> str:
    """Return which of the columns of a run is constant as far as the method keeps energy.

    Parameters
    ----------
    energy : str
        What the method declares.
    names : container of str
        The columns: where there is work, the declared energy changes by it.
    """
    less_work = LESS_WORK.get(energy, LESS_WORK["total"])
    return next(name for name in (less_work, energy, "total") if name in names)


@dataclass
class EnergyExchange:
    """How much energy has been exchanged since the start: what changes of an energy are compared with.

    It is the largest kinetic energy, or the largest change of the potential energy if that is larger. It does not
    depend on where the potential energy is zero, as that of gravity far from the origin, and what moves from rest has
    some.

    Attributes
    ----------
    largest : float
        In J.
    """

    largest: float = 0.0
    _potential0: float | None = None

    def add(self, kinetic: Energy, total: Energy) -> None:
        """Go on with the kinetic and total energy in J at the next time, or at several [rows]."""
        potential = np.atleast_1d(total) - kinetic
        if self._potential0 is None:
            self._potential0 = float(potential[0])
        self.largest = max(self.largest, float(np.max(kinetic)), float(np.abs(potential - self._potential0).max()))

    def relative(self, change: Energy) -> Energy:
        """Return a change of an energy in J as a part of what has been exchanged; 0 where nothing moves."""
        return change / self.largest if self.largest > 0.0 else 0.0 * change


def relative_energy_changes(history: Mapping[str, NDArray[np.float64]], name: str) -> NDArray[np.float64]:
    """Return the changes [rows] of an energy since the start, as parts of the energy exchanged in the whole run.

    Parameters
    ----------
    history : mapping of str to float64 [rows]
        With ``kinetic``, ``total`` and the energy.
    name : str
        Of the energy.
    """
    exchange = EnergyExchange()
    exchange.add(history["kinetic"], history["total"])
    return exchange.relative(history[name] - history[name][0])
