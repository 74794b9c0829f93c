"""What both references of force-stepping share: the lattice, the trajectory, the nearest root, differences of V."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from symplex.errors import InvalidSystem
from symplex.fem.compiled.call import call_difference
from symplex.fem.compiled.kernels import kernel
from symplex.fem.energies.energy import Array
from symplex.fem.system import State, System
from symplex.time.events.interaction import lattice_functions


@dataclass(frozen=True)
class Walk:
    """A trajectory from simplex to simplex.

    Attributes
    ----------
    states : list of State
        The states at the output times, on the parabolas current then.
    lattice_potential : float64 [times]
        V_h in J at the output times.
    crossings : int
        How many faces were crossed: the steps of the paper.
    shortest, longest : float
        The shortest and longest time in s between two crossings.
    mean : float
        The mean time in s between crossings.
    """

    states: list[State]
    lattice_potential: Array
    crossings: int
    shortest: float
    longest: float
    mean: float


class Lattice:
    """Lattice coordinates z = q/h − o of the coordinates that move, d of them."""

    def __init__(self, system: System, state: State, grid: float | Array, offset: Array):
        self.system = system
        self.positions = state.q.copy()
        self.moving = np.flatnonzero(~system.fixed)
        self.spacing = np.broadcast_to(np.asarray(grid, float), state.q.shape).ravel()[self.moving]
        self.offset = np.broadcast_to(np.asarray(offset, float), state.q.shape).ravel()[self.moving]
        mass = np.broadcast_to(system.lumped_mass("force-stepping")[:, None], state.q.shape)
        self.mass = mass.ravel()[self.moving]
        if system.loads or system.moving:
            raise InvalidSystem(
                "force-stepping needs a potential for every force; the system has loads or moving supports."
            )
        if not (np.all(np.isfinite(self.spacing)) and np.all(self.spacing > 0)):
            raise ValueError(f"the grid size of force-stepping must be positive and finite; it is {grid} m.")

    def to_lattice(self, q: Array) -> Array:
        """Return z [d] of the moving positions q [d]."""
        return q / self.spacing - self.offset

    def positions_at(self, z: Array | NDArray[np.int64]) -> Array:
        """Return all positions [n, dim] where the moving ones have the lattice coordinates z [d]."""
        return self.scatter(self.spacing * (z + self.offset), self.positions)

    def potential(self, z: Array | NDArray[np.int64]) -> float:
        """Return V at the lattice point z [d]."""
        return self.system.potential(self.positions_at(z))

    def scatter(self, values: Array | NDArray[np.int64], rest: Array | float = 0.0) -> Array:
        """Return an array [n, dim] with the values [d] of moving coordinates and the rest elsewhere."""
        out = np.empty(self.positions.shape)
        out[...] = rest
        out.ravel()[self.moving] = values
        return out

    def state(self, t: float, q: Array, v: Array, a: Array) -> State:
        """Return the state with the moving positions, velocities and accelerations [d]."""
        return State(t, self.scatter(q, self.positions), self.scatter(v), self.scatter(a))


@kernel
def first_root(c, b, a):
    """Smallest τ ≥ 0 at which c + b τ + a τ²/2 leaves c ≥ 0, or infinity.

    The sign of the rate b decides, not "τ > ε": a face just entered has c = 0 and b > 0, and is left only on return.
    """
    c = max(c, 0.0)
    if b < 0.0:
        discriminant = b * b - 2.0 * a * c
        return 2.0 * c / (np.sqrt(discriminant) - b) if discriminant >= 0.0 else np.inf
    if a < 0.0:
        return (b + np.sqrt(b * b - 2.0 * a * c)) / -a
    return np.inf


class Tables(NamedTuple):
    """Which local energies touch a node: flat tables for compiled loops.

    Attributes
    ----------
    star_ptr, star : int64 [n + 1], [...]
        The coordinates of all nodes that share a local energy with a node.
    member_ptr, member : int64 [n + 1], [...]
        The stencils that hold a node, numbered through all energies.
    stencil_ptr, stencil : int64 [stencils + 1], [...]
        The coordinates of each stencil.
    difference, parameters : int64 [stencils]
        The addresses of each stencil's function and parameters.
    dim : int
    """

    star_ptr: NDArray[np.int64]
    star: NDArray[np.int64]
    member_ptr: NDArray[np.int64]
    member: NDArray[np.int64]
    stencil_ptr: NDArray[np.int64]
    stencil: NDArray[np.int64]
    difference: NDArray[np.int64]
    parameters: NDArray[np.int64]
    dim: int


class Neighbourhoods:
    """The tables of a system, with the arrays that they point into and a work array for one stencil."""

    def __init__(self, system: System):
        self.functions = list(lattice_functions(system.energies, system.dim).values())
        stencils = [row for energy in system.energies.values() for row in energy.nodes.tolist()]
        members: list[list[int]] = [[] for _ in range(system.n_nodes)]
        stars: list[set[int]] = [set() for _ in range(system.n_nodes)]
        for s, stencil in enumerate(stencils):
            for node in stencil:
                members[node].append(s)
                stars[node].update(stencil)
        star_ptr, star = _flat([_coordinates(sorted(star), system.dim) for star in stars])
        member_ptr, member = _flat(members)
        stencil_ptr, stencil = _flat([_coordinates(stencil, system.dim) for stencil in stencils])
        rows = [
            f.parameters.ctypes.data + f.parameters.strides[0] * np.arange(len(f.parameters)) for f in self.functions
        ]
        owners = [np.full(len(f.parameters), f.difference) for f in self.functions]
        none = np.empty(0, np.int64)
        self.tables = Tables(
            star_ptr=star_ptr,
            star=star,
            member_ptr=member_ptr,
            member=member,
            stencil_ptr=stencil_ptr,
            stencil=stencil,
            difference=np.concatenate([none, *owners]),
            parameters=np.concatenate([none, *rows]),
            dim=system.dim,
        )
        self.work = np.zeros(system.dim * max((len(stencil) for stencil in stencils), default=1))

    def raise_failure(self) -> None:
        """Raise what an energy that is evaluated in Python has raised within a loop, if anything."""
        for functions in self.functions:
            functions.raise_failure()


def _coordinates(nodes: list[int], dim: int) -> list[int]:
    return [node * dim + c for node in nodes for c in range(dim)]


def _flat(lists: list[list[int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where each list begins, and all of them one after the other."""
    starts = np.concatenate([[0], np.cumsum([len(part) for part in lists])])
    return starts.astype(np.int64), np.array([i for part in lists for i in part], dtype=np.int64)


@kernel
def potential_difference(around, x, i, step, work):
    """V(x + step e_i) − V(x), from the local energies that touch the node of i."""
    total = 0.0
    node = i // around.dim
    for s in around.member[around.member_ptr[node] : around.member_ptr[node + 1]]:
        own = 0
        for k, j in enumerate(around.stencil[around.stencil_ptr[s] : around.stencil_ptr[s + 1]]):
            work[k] = x[j]
            if j == i:
                own = k
        total += call_difference(around.difference[s], around.parameters[s], work.ctypes.data, own, step)
    return total
