"""The work of loads and of supports that move, since the start of a motion."""

from __future__ import annotations

import numpy as np

from symplex.base.columns import Column, work_column
from symplex.errors import InvalidSystem
from symplex.fem.energies.energy import Array
from symplex.fem.system import System
from symplex.time.totals import BALANCE


class WorkLedger:
    """The work of each load, of each inelastic part (less what it stores), then of each support and joint that moves.

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
    done : float64 [loads + inelastic + moving + joints]
        In J.
    acting : float64 [loads, n, dim]
        The force of each load in N where it was last evaluated, if loads are taken at the ends of steps.
    completes : bool
        Whether `complete` needs the ends of the next step: there are loads, and the last step has not added their work.
    """

    def __init__(self, system: System, at_ends: bool):
        self._system = system
        self.loads = list(system.loads.values())
        self.moving = system.moving
        self._inelastic = slice(len(self.loads), len(self.loads) + len(system.inelastic))
        self._supports = slice(self._inelastic.stop, self._inelastic.stop + len(self.moving))
        self.done = np.zeros(self._supports.stop + len(system.joints.moving))
        self.acting = np.zeros((len(self.loads) if at_ends else 0, system.n_nodes, system.dim))
        self._before = self.acting.copy()
        self._missing: set[str] = set()  # what the present step has not added yet
        self.completes = len(self.loads) > 0

    def __bool__(self) -> bool:
        """Whether anything can do work."""
        return len(self.done) > 0

    def arrays(self) -> dict[str, np.ndarray]:
        """Return what belongs into a checkpoint."""
        return {"work": self.done, "acting": self.acting} if self else {}

    def begin_step(self) -> None:
        """Forget what was added before: `complete` adds what the step leaves out."""
        self._missing = {"loads", "supports"}

    def complete(self, t: float, h: float, start: tuple[Array, Array] | None, end: tuple[Array, Array]) -> None:
        """Add the work of loads in a step of the size h in s from the time t, unless the step has added it itself.

        It is ∫ f·v dt by Simpson's rule along the cubics through the positions and velocities [n, dim] of both ends:
        exact for forces that are constant, else of fourth order if these are.
        """
        if self.moving and "supports" in self._missing:
            name = next(iter(self.moving.motions))
            raise InvalidSystem(
                f"the step must add the work of the moving support '{name}' to the ledger. "
                "Call self._work.add_supports(forces * increments) in it."
            )
        self.completes = bool(self.loads) and "loads" in self._missing
        if not self.completes:
            return
        if start is None:
            raise InvalidSystem(
                "the step must add the work of loads to the ledger, as the step before has. "
                "Call self._work.add_loads(works) in every step or in none."
            )
        (q0, v0), (q1, v1) = start, end
        q_mid = 0.5 * (q0 + q1) + 0.125 * h * (v0 - v1)
        v_mid = 1.5 / h * (q1 - q0) - 0.25 * (v0 + v1)
        points = ((t, q0, v0, h / 6.0), (t + 0.5 * h, q_mid, v_mid, h / 1.5), (t + h, q1, v1, h / 6.0))
        dot = self._system.dot
        self.add_loads([sum(part * dot(load(s, q, v), v) for s, q, v, part in points) for load in self.loads])

    def release(self) -> None:
        """Give back the memory of forces of loads, until they are set again."""
        self.acting, self._before = np.zeros_like(self.acting), np.zeros_like(self.acting)

    def evaluate(self, t: float, q: Array, v: Array) -> Array:
        """Return the sum [n, dim] in N of the loads at the end of a step; those at its beginning are remembered."""
        self._before[...] = self.acting
        for force, load in zip(self.acting, self.loads, strict=True):
            force[...] = load(t, q, v)
        return self.acting.sum(axis=0)

    def add_mean(self, dq: Array) -> None:
        """Add the work of the mean forces at the ends of a step of increment Δq [n, dim]."""
        self._missing.discard("loads")
        self._add_mean(dq)

    def _add_mean(self, dq: Array) -> None:
        dot = self._system.dot
        self.add_loads([0.5 * dot(f0 + f1, dq) for f0, f1 in zip(self._before, self.acting, strict=True)])

    def add_loads(self, works: list[float]) -> None:
        """Add the work in J of each load."""
        self._missing.discard("loads")
        self.done[: len(self.loads)] += works

    def buffers(self) -> tuple[Array, Array]:
        """Return ``acting`` and ``done`` for a compiled loop, which adds up the work of loads in them itself."""
        self._missing.discard("loads")
        return self.acting, self.done

    def add_dissipated(self, dissipated: list[float]) -> None:
        """Take off what each inelastic part dissipates, in J."""
        self.done[self._inelastic] -= self._system.totals(*dissipated)

    def add_supports(self, products: Array) -> None:
        """Add the work of each support that moves: the sum of its products [n, dim] of forces and increments in J."""
        self._missing.discard("supports")
        self._add_supports(products)

    def _add_supports(self, products: Array) -> None:
        self.done[self._supports] += self.moving.works(products)

    def add_joints(self, works: list[float]) -> None:
        """Add the work in J of what moves each joint whose angle or displacement is given."""
        self.done[self._supports.stop :] += works


def work_columns(system: System) -> tuple[Column, ...]:
    """Return the columns of the work of loads, inelastic parts and supports that move, and of the balance, if any."""
    names = *system.loads, *system.inelastic, *system.moving.motions, *system.joints.moving
    works = [work_column(f"work_{name}") for name in names]
    return (*works, BALANCE) if works else ()


def with_work(system: System, energies: dict[str, float], works: Array) -> dict[str, float]:
    """Return energies in J with what `work_columns` names, given the works since the start."""
    columns = work_columns(system)
    energies |= {column.name: float(done) for column, done in zip(columns[:-1], works, strict=True)}
    if columns:
        energies[BALANCE.name] = energies["total"] - float(works.sum())
    return energies
