"""The total energies that motions tell of, by name: the columns of a history that a method may keep."""

from __future__ import annotations

from collections.abc import Container

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
