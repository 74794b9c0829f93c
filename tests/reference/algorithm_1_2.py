"""Force-stepping as it was published, O(d²) per crossing for d coordinates.

Gonzalez, Schmidt and Ortiz, "Force-stepping integrators in Lagrangian mechanics" (2010), Algorithms 1 and 2 as they
are, with the inverse of Z_Δ updated by the Sherman–Morrison formula. It is there to compare the event-driven method
with; `reference.kuhn_walk` is the same walk at O(d) per crossing.

Every simplex that the trajectory passes through is visited. Coordinates that are fixed keep their exact positions and
are no lattice coordinates.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dgemv, dger  # pyright: ignore[reportAttributeAccessIssue]

from reference.reference_lattice import Lattice, Neighbourhoods, Walk, first_root, potential_difference
from symplex.errors import InvertedElement, StepFailed
from symplex.fem.compiled.kernels import kernel
from symplex.fem.energies.energy import Array
from symplex.fem.system import State, System


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
        The output times in s, ascending.
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
    lattice = Lattice(system, state, grid, offset)
    h = lattice.spacing
    simplex = _Simplex(lattice, lattice.to_lattice(state.q.ravel()[lattice.moving]), local)
    q, v = (array.ravel()[lattice.moving].copy() for array in (state.q, state.v))
    gradient = simplex.gradient()
    energy = simplex.interpolate(lattice.to_lattice(q))
    t = state.t
    states, potentials, steps = [], [], _Steps(state.t)
    for expected in times:
        while True:
            a = -gradient / lattice.mass
            step, s = simplex.exit(lattice.to_lattice(q), v / h, a / h)
            if t + step > expected:
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
        tau = expected - t
        move = tau * (v + 0.5 * tau * a)
        states.append(lattice.state(expected, q + move, v + tau * a, a))
        potentials.append(energy + move @ gradient)
    return steps.walk(states, potentials)


class _Simplex:
    """The current simplex: its vertices, Z_Δ⁻¹ and the potential at the vertices V_Δ (Lemma 3.2).

    The vertices stay in cyclic order: the new vertex takes the place of the old one, also when that was the first
    or the last (Corollary 3.2), so that the neighbours of column s are always s − 1 and s + 1 modulo d + 1.
    All entries of Z_Δ and Z_Δ⁻¹ are integers; their floating-point arithmetic is exact.
    """

    def __init__(self, lattice: Lattice, z: Array, local: bool):
        d = len(z)
        self.lattice = lattice
        self.neighbourhoods = Neighbourhoods(lattice.system) if local else None
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
            if self.neighbourhoods is not None:
                self.neighbourhoods.raise_failure()
            raise StepFailed("force-stepping stopped: the energy is infinite at a lattice vertex. Try a smaller grid.")
        self.vertices[:, s] = new
        u = np.append((new - old).astype(float), 0.0)
        column = dgemv(1.0, self.inverse, u)
        row = self.inverse[s].copy()
        # The denominator is −1, always: the new vertex has the barycentric coordinate −1 for the old one.
        self.inverse = dger(-1.0 / (1.0 + column[s]), column, row, a=self.inverse, overwrite_a=1)

    def _potential_beside(self, around: Neighbourhoods, before: int, after: int, new: NDArray[np.int64]) -> float:
        """Return V at the new vertex, which is one coordinate away from at least one of its neighbours."""
        lattice = self.lattice
        for neighbour in (before, after):
            change = new - self.vertices[:, neighbour]
            changed = np.flatnonzero(change)
            if len(changed) == 1:
                i = int(changed[0])
                x = lattice.positions_at(self.vertices[:, neighbour]).ravel()
                step = lattice.spacing[i] * change[i]
                difference = potential_difference(around.tables, x, lattice.moving[i], step, around.work)
                return float(self.potential[neighbour] + difference)
        raise AssertionError("a vertex of a Kuhn simplex has no neighbour one coordinate away")

    def gradient(self) -> Array:
        """Return ∇V [d] in N on this simplex: J̄_h T with J̄_h = V_Δ Z_Δ⁻¹."""
        return dgemv(1.0, self.inverse, self.potential, trans=1)[:-1] / self.lattice.spacing

    def interpolate(self, z: Array) -> float:
        """Return V_h in J at the lattice coordinates z [d]."""
        return float(self.potential @ (self.inverse @ np.append(z, 1.0)))


@kernel
def _first_exit(mu_1, mu_2, mu_3):
    """Return the earliest time at which one of the barycentric coordinates μ1 + τ μ2 + τ² μ3 vanishes, and which."""
    step, face = np.inf, -1
    for r in range(len(mu_1)):
        root = first_root(mu_1[r], mu_2[r], 2.0 * mu_3[r])
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
