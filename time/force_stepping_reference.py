"""Force-stepping as it was published, to compare the event-driven one with.

Gonzalez, Schmidt and Ortiz, "Force-stepping integrators in Lagrangian mechanics" (2010), two ways:

- `algorithm_1_2`: their Algorithms 1 and 2 as they are, with the inverse of Z_Δ updated by the Sherman–Morrison
  formula: O(d²) per crossing for d coordinates.
- `kuhn_walk`: the same walk from simplex to simplex at O(d) per crossing. Z_Δ⁻¹ is never needed, because the
  barycentric coordinates of a Kuhn simplex are the differences of the sorted fractions of z.

Both visit every simplex that the trajectory passes through. Coordinates that are fixed keep their exact positions
and are no lattice coordinates.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.linalg.blas import dgemv, dger  # pyright: ignore[reportAttributeAccessIssue]

from symplex.errors import InvalidSystem, InvertedElement, StepFailed
from symplex.fem.call import call_difference
from symplex.fem.energy import Array
from symplex.fem.system import State, System
from symplex.time.interaction import lattice_functions


@dataclass(frozen=True)
class Walk:
    """A trajectory from simplex to simplex.

    Attributes
    ----------
    states : list of State
        The states at the wanted times, on the parabolas current then.
    lattice_potential : float64 [times]
        V_h in J at the wanted times.
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


class _Lattice:
    """Lattice coordinates z = q/h − o of the coordinates that move, d of them."""

    def __init__(self, system: System, state: State, grid: float | Array, offset: Array):
        self.system = system
        self.positions = state.q.copy()
        self.moving = np.flatnonzero(~system.fixed)
        self.spacing = np.broadcast_to(np.asarray(grid, float), state.q.shape).ravel()[self.moving]
        self.offset = np.broadcast_to(np.asarray(offset, float), state.q.shape).ravel()[self.moving]
        mass = np.broadcast_to(system.lumped_mass("force-stepping")[:, None], state.q.shape)
        self.mass = mass.ravel()[self.moving]
        if system.loads:
            raise InvalidSystem("force-stepping needs a potential for every force; the system has loads.")
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


# -- the paper's Algorithms 1 and 2 ---------------------------------------------------------------------------


def algorithm_1_2(
    system: System,
    state: State,
    times: Iterable[float],
    grid: float | Array,
    offset: Array,
    local: bool = False,
) -> Walk:
    """Return the force-stepping trajectory by the paper's Algorithms 1 and 2, O(d²) per crossing.

    Parameters
    ----------
    system : System
        With a lumped mass.
    state : State
        Where it begins.
    times : iterable of float
        The wanted times in s, ascending.
    grid : float or float64 broadcastable to [n, dim]
        Grid sizes h in m.
    offset : float64 [n, dim]
        The lattice offset o in grid sizes: lattice planes are at q = h (u + o).
    local : bool, default False
        Whether the potential of a new vertex follows from that of a neighbour and the local energies around
        one node, or is summed over all of them (as the paper reads).

    Raises
    ------
    StepFailed
        If the potential is infinite at a vertex.
    """
    lattice = _Lattice(system, state, grid, offset)
    h = lattice.spacing
    simplex = _Simplex(lattice, lattice.to_lattice(state.q.ravel()[lattice.moving]), local)
    q, v = (array.ravel()[lattice.moving].copy() for array in (state.q, state.v))
    gradient = simplex.gradient()
    energy = simplex.interpolate(lattice.to_lattice(q))
    t = state.t
    states, potentials, steps = [], [], _Steps(state.t)
    for wanted in times:
        while True:
            a = -gradient / lattice.mass
            step, s = simplex.exit(lattice.to_lattice(q), v / h, a / h)
            if t + step > wanted:
                break
            move = step * (v + 0.5 * step * a)
            q += move
            v += step * a
            energy += move @ gradient
            t += step
            try:
                simplex.replace(s)
            except InvertedElement as error:
                raise InvertedElement(f"Force-stepping stopped at t = {t:.6g} s: {error}", error.element) from None
            gradient = simplex.gradient()
            steps.add(t)
        tau = wanted - t
        move = tau * (v + 0.5 * tau * a)
        states.append(lattice.state(wanted, q + move, v + tau * a, a))
        potentials.append(energy + move @ gradient)
    return steps.walk(states, potentials)


class _Simplex:
    """The current simplex: its vertices, Z_Δ⁻¹ and the potential at the vertices V_Δ (Lemma 3.2).

    The vertices stay in cyclic order: the new vertex takes the place of the old one, also when that was the first
    or the last (Corollary 3.2), so that the neighbours of column s are always s − 1 and s + 1 modulo d + 1.
    All entries of Z_Δ and Z_Δ⁻¹ are integers; their floating-point arithmetic is exact.
    """

    def __init__(self, lattice: _Lattice, z: Array, local: bool):
        d = len(z)
        self.lattice = lattice
        self.neighbourhoods = _Neighbourhoods(lattice.system) if local else None
        low = np.floor(z)
        order = np.argsort(low - z, kind="stable")  # the largest fraction first
        self.vertices = np.repeat(low.astype(np.int64)[:, None], d + 1, axis=1)
        for k, i in enumerate(order):
            self.vertices[i, k + 1 :] += 1
        # The barycentric coordinates are 1 − f_(1), f_(1) − f_(2), …, f_(d), with sorted fractions f = z − ⌊z⌋.
        self.inverse = np.zeros((d + 1, d + 1), order="F")
        rank = np.arange(d)
        self.inverse[rank, order] = -1.0
        self.inverse[rank + 1, order] = 1.0
        self.inverse[:, d] = -self.inverse[:, :d] @ low
        self.inverse[0, d] += 1.0
        self.potential = np.array([lattice.potential(vertex) for vertex in self.vertices.T])

    def exit(self, z: Array, rate: Array, acceleration: Array) -> tuple[float, int]:
        """Return after which time the parabola leaves, and through which face (TIME-STEP, Proposition 3.1)."""
        columns = np.zeros((len(z) + 1, 3), order="F")
        columns[:-1] = np.column_stack([z, rate, 0.5 * acceleration])
        columns[-1, 0] = 1.0
        return _first_exit(*(self.inverse @ columns).T.copy())

    def replace(self, s: int) -> None:
        """Cross the face s: the replacement rule and the Sherman–Morrison update (UPDATE, Algorithm 2)."""
        before, after = s - 1, (s + 1) % len(self.potential)
        old = self.vertices[:, s].copy()
        new = self.vertices[:, after] + self.vertices[:, before] - old
        if self.neighbourhoods is None:
            self.potential[s] = self.lattice.potential(new)
        else:
            self.potential[s] = self._potential_beside(self.neighbourhoods, before, after, new)
        if not np.isfinite(self.potential[s]):
            raise StepFailed("force-stepping stopped: the energy is infinite at a lattice vertex. Try a smaller grid.")
        self.vertices[:, s] = new
        u = np.append((new - old).astype(float), 0.0)
        column = dgemv(1.0, self.inverse, u)
        row = self.inverse[s].copy()
        # The denominator is −1, always: the new vertex has the barycentric coordinate −1 for the old one.
        self.inverse = dger(-1.0 / (1.0 + column[s]), column, row, a=self.inverse, overwrite_a=1)

    def _potential_beside(self, around: _Neighbourhoods, before: int, after: int, new: NDArray[np.int64]) -> float:
        """Return V at the new vertex, which is one coordinate away from at least one of its neighbours."""
        lattice = self.lattice
        for neighbour in (before, after):
            change = new - self.vertices[:, neighbour]
            changed = np.flatnonzero(change)
            if len(changed) == 1:
                i = int(changed[0])
                x = lattice.positions_at(self.vertices[:, neighbour]).ravel()
                step = lattice.spacing[i] * change[i]
                difference = _difference(around.tables, x, lattice.moving[i], step, around.work)
                return float(self.potential[neighbour] + difference)
        raise AssertionError("a vertex of a Kuhn simplex has no neighbour one coordinate away")

    def gradient(self) -> Array:
        """Return ∇V [d] in N on this simplex: J̄_h T with J̄_h = V_Δ Z_Δ⁻¹."""
        return dgemv(1.0, self.inverse, self.potential, trans=1)[:-1] / self.lattice.spacing

    def interpolate(self, z: Array) -> float:
        """Return V_h in J at the lattice coordinates z [d]."""
        return float(self.potential @ (self.inverse @ np.append(z, 1.0)))


@njit(cache=True)
def _first_root(c, b, a):
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


@njit(cache=True)
def _first_exit(mu_1, mu_2, mu_3):
    """Return the earliest time at which one of the barycentric coordinates μ1 + τ μ2 + τ² μ3 vanishes, and which."""
    step, face = np.inf, -1
    for r in range(len(mu_1)):
        root = _first_root(mu_1[r], mu_2[r], 2.0 * mu_3[r])
        if root < step:
            step, face = root, r
    return step, face


class _Steps:
    """The times between crossings."""

    def __init__(self, t0: float):
        self.t0 = self.t = t0
        self.crossings = 0
        self.shortest, self.longest = np.inf, 0.0

    def add(self, t: float) -> None:
        """Count a crossing at the time t."""
        self.shortest, self.longest = min(self.shortest, t - self.t), max(self.longest, t - self.t)
        self.t = t
        self.crossings += 1

    def walk(self, states: list[State], potentials: list[float]) -> Walk:
        """Return the trajectory with these statistics."""
        mean = (self.t - self.t0) / self.crossings if self.crossings else np.inf
        return Walk(states, np.array(potentials), self.crossings, self.shortest, self.longest, mean)


# -- the walk from ordering to ordering -----------------------------------------------------------------------


class _Chain(NamedTuple):
    """The current simplex as an ordering, and the parabola in it, for all n·dim coordinates.

    Attributes
    ----------
    cell, fraction, rate, acceleration : float64 [n·dim]
        ⌊z⌋, z − ⌊z⌋, ż and z̈.
    gradient : float64 [n·dim]
        In N.
    ring : int64 [d]
        The moving coordinates by descending fraction, beginning at the head and going round.
    place : int64 [n·dim]
        The place of each coordinate in the ring, −1 for fixed ones.
    head, crossings : int64 [1]
    time : float64 [3]
        The time of the last crossing, the shortest and the longest step.
    """

    cell: Array
    fraction: Array
    rate: Array
    acceleration: Array
    gradient: Array
    ring: NDArray[np.int64]
    place: NDArray[np.int64]
    head: NDArray[np.int64]
    crossings: NDArray[np.int64]
    time: Array


class _Grid(NamedTuple):
    """Spacing, offset and m h of all n·dim coordinates, and the vertex positions (those of fixed ones stay)."""

    spacing: Array
    offset: Array
    inertia: Array
    vertex: Array


_REACHED, _PAUSED, _INFINITE = range(3)
_AT_ONCE = 100_000


def kuhn_walk(system: System, state: State, times: Iterable[float], grid: float | Array, offset: Array) -> Walk:
    """Return the force-stepping trajectory by Algorithm 1 on orderings, O(d) per crossing.

    A crossing is one of two adjacent fractions that meet (then these two coordinates change places, and their
    components of the gradient), the largest fraction that reaches 1, or the smallest that reaches 0 (then it goes
    from one end of the order to the other, and its component changes).
    Parameters and errors are those of `algorithm_1_2`.
    """
    lattice = _Lattice(system, state, grid, offset)
    neighbourhoods = _Neighbourhoods(system)
    around, work = neighbourhoods.tables, neighbourhoods.work
    walker = _grid(lattice)
    chain = _chain(lattice, state)
    _check(_begin(around, walker, chain, work), chain)
    states, potentials = [], []
    for wanted in times:
        status = _PAUSED
        while status == _PAUSED:
            status = _walk(around, walker, chain, wanted, _AT_ONCE, work)
        _check(status, chain)
        states.append(_state(lattice, walker, chain, wanted))
        potentials.append(_lattice_potential(lattice, walker, chain, wanted))
    crossings = int(chain.crossings[0])
    mean = (chain.time[0] - state.t) / crossings if crossings else np.inf
    return Walk(states, np.array(potentials), crossings, float(chain.time[1]), float(chain.time[2]), float(mean))


def _grid(lattice: _Lattice) -> _Grid:
    return _Grid(
        spacing=lattice.scatter(lattice.spacing).ravel(),
        offset=lattice.scatter(lattice.offset).ravel(),
        inertia=lattice.scatter(lattice.mass * lattice.spacing, 1.0).ravel(),
        vertex=lattice.positions.flatten(),
    )


def _chain(lattice: _Lattice, state: State) -> _Chain:
    size = state.q.size
    z = lattice.to_lattice(state.q.ravel()[lattice.moving])
    cell = np.floor(z)
    ring = lattice.moving[np.argsort(cell - z, kind="stable")].astype(np.int64)
    place = np.full(size, -1, np.int64)
    place[ring] = np.arange(len(ring))
    return _Chain(
        cell=lattice.scatter(cell).ravel(),
        fraction=lattice.scatter(z - cell).ravel(),
        rate=lattice.scatter(state.v.ravel()[lattice.moving] / lattice.spacing).ravel(),
        acceleration=np.zeros(size),
        gradient=np.zeros(size),
        ring=ring,
        place=place,
        head=np.zeros(1, np.int64),
        crossings=np.zeros(1, np.int64),
        time=np.array([state.t, np.inf, 0.0]),
    )


def _check(status: int, chain: _Chain) -> None:
    if status == _INFINITE:
        raise StepFailed(
            f"force-stepping stopped at t = {chain.time[0]:.6g} s: the energy is infinite at a lattice vertex. "
            "Try a smaller grid."
        )


def _fractions(chain: _Chain, t: float) -> tuple[Array, Array]:
    """Return the fractions and rates [n·dim] at a time before the next crossing."""
    tau = t - chain.time[0]
    return (
        chain.fraction + tau * (chain.rate + 0.5 * tau * chain.acceleration),
        chain.rate + tau * chain.acceleration,
    )


def _state(lattice: _Lattice, walker: _Grid, chain: _Chain, t: float) -> State:
    fraction, rate = _fractions(chain, t)
    h, moving = walker.spacing, lattice.moving
    q, v, a = h * (walker.offset + chain.cell + fraction), h * rate, h * chain.acceleration
    return lattice.state(t, q[moving], v[moving], a[moving])


def _lattice_potential(lattice: _Lattice, walker: _Grid, chain: _Chain, t: float) -> float:
    """Return V_h = V(⌊z⌋) + Σ h f g in J."""
    fraction, _ = _fractions(chain, t)
    low = lattice.potential(chain.cell[lattice.moving])
    return low + float(np.sum((walker.spacing * fraction * chain.gradient)[lattice.moving]))


@njit(cache=True)
def _component(around, walker, chain, i, work):
    """g_i = [V(u + e_i) − V(u)]/h_i.

    u is the vertex of the chain before i goes up: ⌊z⌋, plus one for all coordinates ahead of i in the order.
    """
    d, head = len(chain.ring), chain.head[0]
    rank = (chain.place[i] - head) % d
    node = i // around.dim
    for j in around.star[around.star_ptr[node] : around.star_ptr[node + 1]]:
        if chain.place[j] >= 0:
            ahead = 1.0 if (chain.place[j] - head) % d < rank else 0.0
            walker.vertex[j] = walker.spacing[j] * (chain.cell[j] + ahead + walker.offset[j])
    return _difference(around, walker.vertex, i, walker.spacing[i], work) / walker.spacing[i]


@njit(cache=True)
def _renew(around, walker, chain, i, work):
    """Compute the gradient and acceleration of i anew; return whether they are finite."""
    g = _component(around, walker, chain, i, work)
    chain.gradient[i] = g
    chain.acceleration[i] = -g / walker.inertia[i]
    return np.isfinite(g)


@njit(cache=True)
def _begin(around, walker, chain, work):
    for i in chain.ring:
        if not _renew(around, walker, chain, i, work):
            return _INFINITE
    return _REACHED


@njit(cache=True)
def _exit(chain):
    """Return after which time the parabola leaves the simplex, and through which face.

    Face k lies between the places k − 1 and k of the order; face 0 is f = 1 of the first, face d is f = 0 of the last.
    """
    ring, head, d = chain.ring, chain.head[0], len(chain.ring)
    step, face = np.inf, -1
    c, b, a = 1.0, 0.0, 0.0
    place = head
    for k in range(d):
        i = ring[place]
        root = _first_root(c - chain.fraction[i], b - chain.rate[i], a - chain.acceleration[i])
        if root < step:
            step, face = root, k
        c, b, a = chain.fraction[i], chain.rate[i], chain.acceleration[i]
        place = place + 1 if place + 1 < d else 0
    root = _first_root(c, b, a)
    return (root, d) if root < step else (step, face)


@njit(cache=True)
def _cross(around, walker, chain, face, work):
    """Go over to the simplex behind a face; return whether the new gradient is finite."""
    ring, place, head, d = chain.ring, chain.place, chain.head[0], len(chain.ring)
    if face == 0:
        i = ring[head]
        chain.cell[i] += 1.0
        chain.fraction[i] = 0.0
        chain.head[0] = (head + 1) % d
        return _renew(around, walker, chain, i, work)
    if face == d:
        last = (head - 1) % d
        i = ring[last]
        chain.cell[i] -= 1.0
        chain.fraction[i] = 1.0
        chain.head[0] = last
        return _renew(around, walker, chain, i, work)
    p, r = (head + face - 1) % d, (head + face) % d
    i, j = ring[p], ring[r]
    chain.fraction[j] = chain.fraction[i]
    ring[p], ring[r] = j, i
    place[j], place[i] = p, r
    finite = _renew(around, walker, chain, i, work)
    return _renew(around, walker, chain, j, work) and finite


@njit(cache=True)
def _walk(around, walker, chain, t_end, max_crossings, work):
    """Cross faces up to the time t_end, at most max_crossings of them."""
    for _ in range(max_crossings):
        step, face = _exit(chain)
        if not chain.time[0] + step <= t_end:
            return _REACHED
        for i in chain.ring:
            chain.fraction[i] += step * (chain.rate[i] + 0.5 * step * chain.acceleration[i])
            chain.rate[i] += step * chain.acceleration[i]
        chain.time[0] += step
        chain.time[1] = min(chain.time[1], step)
        chain.time[2] = max(chain.time[2], step)
        chain.crossings[0] += 1
        if not _cross(around, walker, chain, face, work):
            return _INFINITE
    return _PAUSED


# -- differences of the potential -----------------------------------------------------------------------------


class _Tables(NamedTuple):
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


class _Neighbourhoods:
    """The tables of a system, with the arrays that they point into and a work array for one stencil."""

    def __init__(self, system: System):
        self.functions = lattice_functions(system.energies, "force-stepping")
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
        self.tables = _Tables(
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


def _coordinates(nodes: list[int], dim: int) -> list[int]:
    return [node * dim + c for node in nodes for c in range(dim)]


def _flat(lists: list[list[int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where each list begins, and all of them one after the other."""
    starts = np.concatenate([[0], np.cumsum([len(part) for part in lists])])
    return starts.astype(np.int64), np.array([i for part in lists for i in part], dtype=np.int64)


@njit(cache=True)
def _difference(around, x, i, step, work):
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
