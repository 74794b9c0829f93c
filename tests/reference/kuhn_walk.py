"""Force-stepping simplex by simplex, O(d) per crossing for d coordinates: the walk from ordering to ordering.

The trajectory is that of Algorithm 1 of Gonzalez, Schmidt and Ortiz, "Force-stepping integrators in Lagrangian
mechanics" (2010); see `reference.algorithm_1_2`. Z_Δ⁻¹ is never needed, because the barycentric coordinates of a
Kuhn simplex are the differences of the sorted fractions of z.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reference.reference_lattice import Lattice, Neighbourhoods, Walk, first_root, potential_difference
from symplex.errors import StepFailed
from symplex.fem.compiled.kernels import kernel
from symplex.fem.energies.energy import Array
from symplex.fem.system import State, System


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
    Parameters and errors are those of `reference.algorithm_1_2.algorithm_1_2`.
    """
    lattice = Lattice(system, state, grid, offset)
    neighbourhoods = Neighbourhoods(system)
    around, work = neighbourhoods.tables, neighbourhoods.work
    walker = _grid(lattice)
    chain = _chain(lattice, state)
    _check(_begin(around, walker, chain, work), chain, neighbourhoods)
    states, potentials = [], []
    for expected in times:
        status = _PAUSED
        while status == _PAUSED:
            status = _walk(around, walker, chain, expected, _AT_ONCE, work)
        _check(status, chain, neighbourhoods)
        states.append(_state(lattice, walker, chain, expected))
        potentials.append(_lattice_potential(lattice, walker, chain, expected))
    crossings = int(chain.crossings[0])
    mean = (chain.time[0] - state.t) / crossings if crossings else np.inf
    return Walk(states, np.array(potentials), crossings, float(chain.time[1]), float(chain.time[2]), float(mean))


def _grid(lattice: Lattice) -> _Grid:
    return _Grid(
        spacing=lattice.scatter(lattice.spacing).ravel(),
        offset=lattice.scatter(lattice.offset).ravel(),
        inertia=lattice.scatter(lattice.mass * lattice.spacing, 1.0).ravel(),
        vertex=lattice.positions.flatten(),
    )


def _chain(lattice: Lattice, state: State) -> _Chain:
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


def _check(status: int, chain: _Chain, neighbourhoods: Neighbourhoods) -> None:
    if status == _INFINITE:
        neighbourhoods.raise_failure()
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


def _state(lattice: Lattice, walker: _Grid, chain: _Chain, t: float) -> State:
    fraction, rate = _fractions(chain, t)
    h, moving = walker.spacing, lattice.moving
    q, v, a = h * (walker.offset + chain.cell + fraction), h * rate, h * chain.acceleration
    return lattice.state(t, q[moving], v[moving], a[moving])


def _lattice_potential(lattice: Lattice, walker: _Grid, chain: _Chain, t: float) -> float:
    """Return V_h = V(⌊z⌋) + Σ h f g in J."""
    fraction, _ = _fractions(chain, t)
    low = lattice.potential(chain.cell[lattice.moving])
    return low + float(np.sum((walker.spacing * fraction * chain.gradient)[lattice.moving]))


@kernel
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
    return potential_difference(around, walker.vertex, i, walker.spacing[i], work) / walker.spacing[i]


@kernel
def _renew(around, walker, chain, i, work):
    """Compute the gradient and acceleration of i again; return whether they are finite."""
    g = _component(around, walker, chain, i, work)
    chain.gradient[i] = g
    chain.acceleration[i] = -g / walker.inertia[i]
    return np.isfinite(g)


@kernel
def _begin(around, walker, chain, work):
    for i in chain.ring:
        if not _renew(around, walker, chain, i, work):
            return _INFINITE
    return _REACHED


@kernel
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
        root = first_root(c - chain.fraction[i], b - chain.rate[i], a - chain.acceleration[i])
        if root < step:
            step, face = root, k
        c, b, a = chain.fraction[i], chain.rate[i], chain.acceleration[i]
        place = place + 1 if place + 1 < d else 0
    root = first_root(c, b, a)
    return (root, d) if root < step else (step, face)


@kernel
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


@kernel
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
