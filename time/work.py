"""The work of loads and of supports that move, since the start of a motion."""

from __future__ import annotations

import numpy as np

from symplex.base.columns import Column, work_column
from symplex.fem.energy import Array
from symplex.fem.system import System
from symplex.time.totals import BALANCE


class WorkLedger:
    """The work of each load, of each inelastic part (less what it stores), then of each support that moves.

    Parameters
    ----------
    system : System
    at_ends : bool
        Whether loads are taken at the ends of steps: then their forces at the last end are kept, for their work by the
        mean of the forces at both ends, and for the next step.

    Attributes
    ----------
    loads : list of Load
    moving : MovingSupports
    done : float64 [loads + inelastic + moving]
        In J.
    acting : float64 [loads, n, dim]
        The force of each load in N where it was last evaluated, if loads are taken at the ends of steps.
    """

    def __init__(self, system: System, at_ends: bool):
        self._system = system
        self.loads = list(system.loads.values())
        self.moving = system.moving
        self._inelastic = slice(len(self.loads), len(self.loads) + len(system.inelastic))
        self.done = np.zeros(self._inelastic.stop + len(self.moving))
        self.acting = np.zeros((len(self.loads) if at_ends else 0, system.n_nodes, system.dim))
        self._before = self.acting.copy()

    def __bool__(self) -> bool:
        """Whether anything can do work."""
        return len(self.done) > 0

    def arrays(self) -> dict[str, np.ndarray]:
        """Return what belongs into a checkpoint."""
        return {"work": self.done, "acting": self.acting} if self else {}

    def release(self) -> None:
        """Give back the memory of forces of loads, until they are set anew."""
        self.acting, self._before = np.zeros_like(self.acting), np.zeros_like(self.acting)

    def evaluate(self, t: float, q: Array, v: Array) -> Array:
        """Return the sum [n, dim] in N of the loads at the end of a step; those at its beginning are remembered."""
        self._before[...] = self.acting
        for force, load in zip(self.acting, self.loads, strict=True):
            force[...] = load(t, q, v)
        return self.acting.sum(axis=0)

    def add_mean(self, dq: Array) -> None:
        """Add the work of the mean forces at the ends of a step of increment Δq [n, dim]."""
        dot = self._system.dot
        self.add_loads([0.5 * dot(f0 + f1, dq) for f0, f1 in zip(self._before, self.acting, strict=True)])

    def add_loads(self, works: list[float]) -> None:
        """Add the work in J of each load."""
        self.done[: len(self.loads)] += works

    def add_dissipated(self, dissipated: list[float]) -> None:
        """Take off what each inelastic part dissipates, in J."""
        self.done[self._inelastic] -= dissipated

    def add_supports(self, products: Array) -> None:
        """Add the work of each support that moves: the sum of its products [n, dim] of forces and increments in J."""
        self.done[self._inelastic.stop :] += self.moving.works(products)


def work_columns(system: System) -> tuple[Column, ...]:
    """Return the columns of the work of loads, inelastic parts and supports that move, and of the balance, if any."""
    works = [work_column(f"work_{name}") for name in (*system.loads, *system.inelastic, *system.moving.motions)]
    return (*works, BALANCE) if works else ()


def with_work(system: System, energies: dict[str, float], works: Array) -> dict[str, float]:
    """Return energies in J with what `work_columns` names, given the works since the start."""
    columns = work_columns(system)
    energies |= {column.name: float(done) for column, done in zip(columns[:-1], works, strict=True)}
    if columns:
        energies[BALANCE.name] = energies["total"] - float(works.sum())
    return energies
