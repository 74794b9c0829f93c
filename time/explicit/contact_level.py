"""Contact on a level of its own: smaller steps of what meets and of what is around it, within a step of all else.

With the potential V = V_f + V_s, V_f that of contact and of the stencils with nodes that may meet, and n parts,

    v −= ½ h M⁻¹ ∇V_s,    n steps h/n of velocity Verlet with V_f,    v −= ½ h M⁻¹ ∇V_s,

the impulse method, or reversible r-RESPA (Tuckerman, Berne and Martyna 1992): symplectic, symmetric, of second order,
and it keeps both momenta. Nodes without a part in V_f drift. With contact alone in V_f nodes that bounce would be in
resonance with the kicks of the elements around them: energy errs ten times as much.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np
from numpy.typing import NDArray

from symplex.fem.actions.loads import DeadLoad
from symplex.fem.assembly import forms
from symplex.fem.assembly.calls import Call, add_rows, kept_table_of, rows_of, run
from symplex.fem.assembly.pattern import Array, IntArray
from symplex.fem.compiled.kernels import kernel
from symplex.fem.energies.neighbour_list import Nearby, Stiffness
from symplex.fem.some_stencils import SomeStencils
from symplex.fem.system import System
from symplex.time.explicit.kicks import drifted, kicked, leaves

_TIMES = 4  # products for a bound of frequencies, which is then some 2 % too large
_LEAST = 0.1  # part of the bound by which the matrix is shifted: (A + σ 1) x has the ratios of A to within σ
_COMPLETE = 0.5  # of its margin, up to which nodes may have moved since a list was found


@final
class ContactLevel:
    """The nodes that may meet, with the stencils around them.

    Parameters
    ----------
    system : System
    touching : bool [n]
        The nodes that may meet.
    nodes : int [m]
        They, and those of the stencils around them, ascending: all that move in parts of a step.
    calls : sequence of Call
        Of the gradient of these stencils, on these nodes.

    Attributes
    ----------
    q, v : float64 [n, dim]
        Positions and velocities of all nodes after `advance`, the latter before the last half kick by V_s.
    slow : float64 [n, dim]
        Accelerations by V_s at its beginning.
    touching : int [t]
        The nodes that may meet.
    """

    def __init__(self, system: System, touching: NDArray[np.bool_], nodes: IntArray, calls: Sequence[Call]):
        self._system, self._nodes, self._calls = system, nodes, list(calls)
        self._index = np.full(system.n_nodes, -1, np.int32)
        self._index[nodes] = np.arange(len(nodes), dtype=np.int32)
        self._touches, self.touching = touching, np.flatnonzero(touching)
        self._inverse_mass = np.where(system.fixed, 0.0, 1.0 / np.asarray(system.mass)[:, None])[nodes]
        self._stencils = kept_table_of(rows_of(forms.GRADIENT, self._calls).tolist(), self._calls)
        self.q, self.v, self.slow = (np.zeros((system.n_nodes, system.dim)) for _ in range(3))
        # Of the nodes of the level: positions, velocities, accelerations by V_f, gradients of its stencils, of contact.
        self._own = tuple(np.zeros((len(nodes), system.dim)) for _ in range(5))
        self._contact, self._places = self._stencils[:0], (nodes[:0], self.q[:0], self.q[:0, 0])

    @classmethod
    def around(cls, system: System, touching: NDArray[np.bool_]) -> ContactLevel | None:
        """Return the level of the nodes [n] that may meet; None if a stencil around them has no compiled loop."""
        chosen, inside = [], touching.copy()
        for name, energy in system.energies.items():
            if name in system.changing or isinstance(energy, DeadLoad) or energy.nodes.shape[1] < 2:
                continue
            some = np.flatnonzero(touching[energy.nodes].any(axis=1))
            if len(some) and not energy.is_divisible(system.dim):
                return None
            chosen.append((energy, some))
            inside[energy.nodes[some].ravel()] = True
        nodes = np.flatnonzero(inside).astype(np.int32)
        index = np.zeros(system.n_nodes, np.int32)
        index[nodes] = np.arange(len(nodes))
        found = [
            SomeStencils(energy, some, index[energy.nodes[some]], system.dim) for energy, some in chosen if len(some)
        ]
        calls = [part.calls() for part in found]
        return None if None in calls else cls(system, touching, nodes, [call for some in calls for call in some or ()])

    def advance(self, q: Array, v: Array, a: Array, h: float, n: int) -> bool:
        """Move by a step of the size h in s in n parts, without the last half kick by V_s; return whether it could be.

        It cannot if surfaces may pass through each other in a part, or so far in a step that lists are too old.

        Parameters
        ----------
        q, v, a : float64 [n, dim]
            Of all nodes, with the accelerations by V, which stay as they are.
        """
        own_q, own_v, own_a, of_stencils, of_contact = self._own
        if not _is_same(own_q, q, self._nodes):  # else all is as the last step has left it
            own_q[...] = q[self._nodes]
            if not self._find(q):
                return False
            for rows, gradient in ((self._stencils, of_stencils), (self._contact, of_contact)):
                gradient.fill(0.0)
                run(rows, gradient, own_q)
            own_a[...] = -(of_stencils + of_contact) * self._inverse_mass
        _begin(q, v, a, h, self._nodes, own_a, self.slow, self.q, self.v, own_v)
        left, fresh = n, False
        while left:
            rows = self._stencils, self._contact
            taken = _take_parts(left, h / n, *self._own, self._inverse_mass, *rows, *self._places)
            if taken < 0 or (fresh and taken == 0):
                return False
            left, fresh = left - taken, taken == 0
            _set_rows(self._nodes, own_q, own_v, self.q, self.v)
            if left and not self._find(self.q):
                return False
        return all(energy.moved((self.q,)) <= _COMPLETE * energy.margin for energy in self._system.changing.values())

    def end(self, gradient: Array, inverse_mass: Array, h: float, v: Array, a: Array) -> None:
        """Do the last half kick by V_s of a step.

        Parameters
        ----------
        gradient, inverse_mass : float64 [n, dim]
            ∇V without contact at the end of the step, less loads; 1/M of all nodes.
        h : float
            The step in s.
        v, a : float64 [n, dim]
            Set to the velocities, and the accelerations by V.
        """
        _, _, own_a, of_stencils, _ = self._own
        _end(gradient, of_stencils, inverse_mass, h, self._nodes, own_a, self.v, v, a)

    def _find(self, q: Array) -> bool:
        """Find what meets from the positions q [n, dim] on; return whether it is known."""
        every, nodes, at, rooms = [], [], [], []
        for energy in self._system.changing.values():
            near: Nearby | None = energy.nearby(q, _COMPLETE)
            calls = None if near is None else near.energy.calls(forms.GRADIENT, self._system.dim)
            if near is None or calls is None:
                return False
            for call in calls:
                every.append(call._replace(record=call.record.replace(nodes=self._index[call.record.nodes])))
            meets = self._touches[near.nodes]
            nodes.append(self._index[near.nodes[meets]])
            at.append(near.at[meets])
            rooms.append(near.rooms[meets])
        self._contact = kept_table_of(rows_of(forms.GRADIENT, every).tolist(), every)
        self._places = np.concatenate(nodes), np.concatenate(at), np.concatenate(rooms)
        return True


def largest_frequency_of(parts: Sequence[Stiffness | None], inverse_mass: Array) -> float:
    """Return a bound in rad/s of the frequencies that stiffness bounded by parts has, by 1/M [n, dim] of the nodes.

    ω² ≤ max (M⁻¹|K| x)_i/x_i for any x > 0 (Collatz and Wielandt), the nearer the more often x is multiplied by M⁻¹|K|.
    """
    known = [part for part in parts if part is not None and len(part.nodes)]
    if not known:
        return 0.0
    widest, rows = max(part.nodes.shape[1] for part in known), known[0]
    if len(known) > 1:
        padded = [
            [np.pad(array, ((0, 0), (0, widest - array.shape[1]))) for array in (part.nodes, part.factors)]
            for part in known
        ]
        nodes, factors = (np.concatenate(arrays) for arrays in zip(*padded, strict=True))
        rows = Stiffness(nodes, factors, np.concatenate([part.stiffness for part in known]))
    return float(np.sqrt(_bound_eigenvalue(*rows, inverse_mass, _TIMES)))


@kernel
def _bound_eigenvalue(nodes, factors, stiffness, inverse_mass, times):
    """Return that bound of the eigenvalues of M⁻¹ Σ k_r g_r g_rᵀ, by so many products."""
    over, bound, x = np.empty(len(inverse_mass)), np.inf, np.ones(len(inverse_mass))
    for n in range(len(over)):
        over[n] = inverse_mass[n, 0]
        for i in range(1, inverse_mass.shape[1]):
            over[n] = max(over[n], inverse_mass[n, i])
    for _ in range(times):
        y, largest = np.zeros(len(over)), 0.0
        for r in range(len(nodes)):
            total = 0.0
            for a in range(nodes.shape[1]):
                total += factors[r, a] * x[nodes[r, a]]
            total *= stiffness[r]
            for a in range(nodes.shape[1]):
                y[nodes[r, a]] += factors[r, a] * total
        for n in range(len(over)):
            y[n] *= over[n]
            largest = max(largest, y[n] / x[n])
        bound = min(bound, largest)
        if bound == 0.0:
            return bound
        for n in range(len(over)):
            x[n] = y[n] / bound + _LEAST * x[n]  # what nothing is stiff for stays above zero
    return bound


@kernel
def farthest_in_step(q, v, a, inverse_mass, h, nodes, at):
    """Return how far in m nodes would be, after the drift of a step h, from where they were at, and from q [n, dim]."""
    before, now = 0.0, 0.0
    for n in nodes:
        from_at, from_q = 0.0, 0.0
        for i in range(q.shape[1]):
            end = q[n, i]
            if inverse_mass[n, i] > 0.0:
                end, _ = drifted(q[n, i], v[n, i], a[n, i], 0.5 * h, h)
            from_at += (end - at[n, i]) ** 2
            from_q += (end - q[n, i]) ** 2
        before, now = max(before, from_at), max(now, from_q)
    return before**0.5, now**0.5


@kernel
def _is_same(own, q, nodes):
    """Return whether rows are those of q [n, dim] at nodes."""
    for k in range(len(nodes)):
        for i in range(q.shape[1]):
            if own[k, i] != q[nodes[k], i]:
                return False
    return True


@kernel
def _set_rows(nodes, own_q, own_v, q, v):
    """Set positions and velocities [n, dim] at nodes."""
    for k in range(len(nodes)):
        for i in range(q.shape[1]):
            q[nodes[k], i], v[nodes[k], i] = own_q[k, i], own_v[k, i]


@kernel
def _begin(q, v, a, h, nodes, own_a, slow, new_q, new_v, own_v):
    """Do the first half kick by V_s, and let all nodes drift; set own_v [m] to the velocities of the level."""
    at, speed, kick, ends, speeds = q.ravel(), v.ravel(), slow.ravel(), new_q.ravel(), new_v.ravel()
    slow[:] = a
    for k in range(len(nodes)):
        for i in range(q.shape[1]):
            slow[nodes[k], i] -= own_a[k, i]
    for i in range(len(at)):
        ends[i], speeds[i] = drifted(at[i], speed[i], kick[i], 0.5 * h, h)
    for k in range(len(nodes)):
        for i in range(q.shape[1]):
            own_v[k, i] = new_v[nodes[k], i]


@kernel
def _take_parts(n, h, q, v, a, of_stencils, of_contact, inverse_mass, stencils, contact, nodes, at, rooms):
    """Take n steps of velocity Verlet as long as nodes stay at places; return how many, −1 if one fails."""
    for step in range(n):
        if leaves(q, v, a, of_stencils, inverse_mass, False, 0.0, 0.5 * h, h, nodes, at, rooms):
            return step
        for m in range(len(q)):
            for i in range(q.shape[1]):
                q[m, i], v[m, i] = drifted(q[m, i], v[m, i], a[m, i], 0.5 * h, h)
                of_stencils[m, i] = of_contact[m, i] = 0.0
        if not np.isfinite(add_rows(stencils, (q,), of_stencils) + add_rows(contact, (q,), of_contact)):
            return -1
        for m in range(len(q)):
            for i in range(q.shape[1]):
                gradient = of_stencils[m, i] + of_contact[m, i]
                a[m, i], v[m, i] = kicked(v[m, i], gradient, inverse_mass[m, i], 0.5 * h)
    return n


@kernel
def _end(gradient, of_level, inverse_mass, h, nodes, own_a, before, v, a):
    """Do the last half kick by V_s, from velocities before it; set v, and a to the accelerations by V."""
    slopes, over, start = gradient.ravel(), inverse_mass.ravel(), before.ravel()
    ends, accelerations = v.ravel(), a.ravel()
    for k in range(len(nodes)):
        for i in range(v.shape[1]):
            gradient[nodes[k], i] -= of_level[k, i]
    for i in range(len(slopes)):
        accelerations[i], ends[i] = kicked(start[i], slopes[i], over[i], 0.5 * h)
    for k in range(len(nodes)):
        for i in range(v.shape[1]):
            a[nodes[k], i] += own_a[k, i]
