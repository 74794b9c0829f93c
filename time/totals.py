"""The total energies that motions tell of: their names, which of them a method keeps, and how changes are measured."""

from __future__ import annotations

from collections.abc import Container
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


def relative_energy_change(energy: Energy, start: float, largest_kinetic: float) -> Energy:
    """Return the change of an energy since the start, over the energy at the start or the largest kinetic energy.

    The larger of the two is taken: what moves from rest has no energy at its start.

    Parameters
    ----------
    energy : float or [rows]
        In J.
    start : float
        This energy at the start in J.
    largest_kinetic : float
        The largest kinetic energy up to now in J.
    """
    scale = max(abs(start), largest_kinetic)
    return (energy - start) / scale if scale > 0 else 0.0 * energy
