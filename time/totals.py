"""The total energies that motions report: their names, which of them a method keeps, and how changes are measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from symplex.base.columns import Column, total_column

Energy = TypeVar("Energy", float, NDArray[np.float64])

# Next to the total energy of the state, which all systems have. A method declares those that its motions report.
LATTICE_TOTAL = total_column("lattice_total")  # with the potential that force-stepping interpolates on its lattice
MODIFIED_TOTAL = total_column("modified_total")  # with the modified potential of Zhang and Skeel
DISCRETE_ENERGY = total_column("discrete_energy")  # of the last step of a variational method
# What is left without the work of loads and of supports that move, and heat.
BALANCE = total_column("balance", less_work_of="total")
DISCRETE_BALANCE = total_column("discrete_balance", less_work_of="discrete_energy")


def kept_energy(energy: str, columns: Iterable[Column]) -> str:
    """Return which of the columns of a run is constant as far as the method keeps energy.

    Parameters
    ----------
    energy : str
        What the method declares.
    columns : iterable of Column
        Where there is work, the declared energy changes by it.
    """
    every = list(columns)
    requested = [column.name for of in (energy, "total") for column in every if column.less_work_of == of]
    return next(name for name in (*requested, energy, "total") if name in {column.name for column in every})


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
        potential = total - kinetic
        if isinstance(potential, np.ndarray):
            first, most = float(potential[0]), float(np.max(kinetic))
        else:
            first, most = float(potential), float(kinetic)
        if self._potential0 is None:
            self._potential0 = first
        change = abs(potential - self._potential0)
        self.largest = max(self.largest, most, float(change.max() if isinstance(change, np.ndarray) else change))

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
