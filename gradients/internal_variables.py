"""How small changes of a state go through the internal variables of a system, and through the forces of its parts.

Functions of `Inelastic` are pure, so that both are differences of single evaluations along a change of the step: they
are as exact as those of what is observed, where no point begins or ceases to flow within the difference.

Backwards, with derivatives μ by forces and ζ by internal variables at the end, the derivatives of

    S_e = μ·F_e(x0, z0, x1) + ζ·Z_e(x0, z0, x1)

of each stencil e by its own positions and internal variables are such differences too, of all stencils at once, each
with nodes of its own: four evaluations for each number that one stencil has. Forces of a point that flows begin at its
yield surface, off which these changes lead, to one side without flow: there S has one derivative, but two second ones.
Differences at δ and 2δ, which are in error by bδ and 2bδ then, are combined so that this cancels (`slope_of`).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from symplex.fem.assembly.pattern import Array
from symplex.fem.energies.inelastic import Inelastic
from symplex.fem.system import System

WEIGHTS = ((-2.0, 1.0 / 12.0), (-1.0, -8.0 / 12.0), (1.0, 8.0 / 12.0), (2.0, -1.0 / 12.0))  # of differences
_RELATIVE = 1e-6  # of the size of a system, or of a stencil, by which positions are changed at most
_KINKED = 1e-6  # how far differences of one step may be from those of two, where nothing begins to flow
_OF_FORCES = 1e-5  # of the size of forces, by which changes of internal variables change them
_LEAST, _LARGEST = 1e-9, 1e3  # the least change of an internal variable, and what it may grow by
_Found = TypeVar("_Found", Array, dict[str, Array])


def slope_of(at: Sequence[Array], delta: Array | float) -> tuple[Array, NDArray[np.bool_]]:
    """Return the slopes of a function given at −2δ, −δ, δ and 2δ, and which have two second derivatives at 0."""
    near, wide = (at[2] - at[1]) / (2.0 * delta), (at[3] - at[0]) / (4.0 * delta)
    four = (4.0 * near - wide) / 3.0
    kinked = np.abs(near - four) > _KINKED * np.abs(four).max(initial=0.0)
    return np.where(kinked, 2.0 * near - wide, four), kinked


@dataclass(frozen=True)
class Increment:
    """An increment of a step: where parts evaluate their forces, and where they are at its end.

    Attributes
    ----------
    q0, q1 : float64 [n, dim]
        Positions at the start of the step and at its end, in m.
    z0 : dict of str to float64
        Internal variables at its start, by the names of parts.
    h : float
        In s.
    part : float
        Which part of the increment, and of the time, forces are evaluated after.
    mean : bool
        Whether forces are those that do the work of the whole increment.
    """

    q0: Array
    z0: Mapping[str, Array]
    q1: Array
    h: float
    part: float
    mean: bool

    def forces(self, system: System, names: Container[str]) -> Array:
        """Return −f [n, dim] in N of some parts of a system."""
        out, q = np.zeros_like(self.q0), self.q0 + self.part * (self.q1 - self.q0)
        for name, part in system.inelastic.items():
            if name in names:
                force = part.mean_force if self.mean else part.force
                out -= force(self.q0, self.z0[name], q, self.part * self.h)
        return out

    def after(self, system: System) -> dict[str, Array]:
        """Return the internal variables at the end of the step."""
        found = system.inelastic.items()
        return {name: part.after(self.q0, self.z0[name], self.q1, self.h)[0] for name, part in found}

    def moved(self, e: float, dq0: Array, dz0: Mapping[str, Array], dq1: Array) -> Increment:
        """Return the increment with e times changes of its start and its end."""
        z0 = {name: z + e * dz0[name] for name, z in self.z0.items()}
        return Increment(self.q0 + e * dq0, z0, self.q1 + e * dq1, self.h, self.part, self.mean)

    def add_derivatives(self, system: System, out: Array) -> None:
        """Add ∂(−f)/∂q1 to the blocks out [nnz, dim, dim], in N/m."""
        slots, q = system.inelastic_slots(), self.q0 + self.part * (self.q1 - self.q0)
        by_q = -1.0 if self.mean else -self.part
        for name, part in system.inelastic.items():
            z, h = self.z0[name], self.part * self.h
            part.add_derivatives(self.q0, z, q, h, by_q, slots[name], out, mean=self.mean)

    def backward(self, system: System, by_forces: Array) -> IncrementAdjoint:
        """Return the derivatives by what forces −f depend on, from those by_forces [n, dim] by these."""
        q = self.q0 + self.part * (self.q1 - self.q0)
        found = _backward(system, self, q, self.part * self.h, by_forces, None, self.mean)
        return IncrementAdjoint(found.q0 + (1.0 - self.part) * found.q1, found.z0, self.part * found.q1)

    def backward_of_variables(self, system: System, by_z1: Mapping[str, Array]) -> IncrementAdjoint:
        """Return the derivatives by what internal variables at the end depend on, from those by_z1 by these."""
        return _backward(system, self, self.q1, self.h, None, by_z1, False)

    def backward_at_end(self, system: System, by_forces: Array, by_z1: Mapping[str, Array]) -> IncrementAdjoint:
        """Return both together, of forces at the end."""
        return _backward(system, self, self.q1, self.h, by_forces, by_z1, False)


class IncrementAdjoint(NamedTuple):
    """Derivatives by the positions [n, dim] at the start of an increment, internal variables there, and by its end."""

    q0: Array
    z0: Mapping[str, Array]
    q1: Array


def _backward(
    system: System,
    at: Increment,
    q: Array,
    h: float,
    by_forces: Array | None,
    by_z1: Mapping[str, Array] | None,
    mean: bool,
) -> IncrementAdjoint:
    """Return the derivatives of by_forces·F + by_z1·Z of an increment to q that lasts h s."""
    z: dict[str, Array] = {}
    found = IncrementAdjoint(np.zeros_like(q), z, np.zeros_like(q))
    for name, part in system.inelastic.items():
        local = _Stencils(part, h, None if by_forces is None else by_forces[part.nodes], mean)
        by_z = None if by_z1 is None else by_z1[name]
        x0, z[name], x1 = local.slopes(at.q0[part.nodes], at.z0[name], q[part.nodes], by_z)
        np.add.at(found.q0, part.nodes, x0)
        np.add.at(found.q1, part.nodes, x1)
    return found


class _Stencils:
    """A part of a system of which each stencil has nodes of its own, and derivatives by its forces."""

    def __init__(self, part: Inelastic, h: float, by_forces: Array | None, mean: bool):
        self._part, self._h, self._by_forces, self._mean = copy.copy(part), h, by_forces, mean
        self._part.nodes = np.arange(part.nodes.size, dtype=np.int32).reshape(part.nodes.shape)

    def _sums(self, x0: Array, z0: Array, x1: Array, by_z: Array | None) -> tuple[Array, Array]:
        """Return S [m], and the same of absolute values, with nodes at x0 and x1 [m, k, dim]."""
        part, by, (m, k, dim) = self._part, self._by_forces, x0.shape
        start, end, terms = x0.reshape(-1, dim), x1.reshape(-1, dim), []
        force, z1 = None, None
        if by is not None and by_z is not None:
            force, z1, _ = part.force_and_after(start, z0, end, self._h)
        elif by_z is not None:
            z1, _ = part.after(start, z0, end, self._h)
        else:
            force = (part.mean_force if self._mean else part.force)(start, z0, end, self._h)
        if by is not None and force is not None:
            terms.append(-(by * force.reshape(m, k, dim)).reshape(m, -1))
        if by_z is not None and z1 is not None:
            terms.append(np.moveaxis(by_z * z1, part.stencil_axis, 0).reshape(m, -1))
        terms = np.hstack(terms)
        return terms.sum(axis=1), np.abs(terms).sum(axis=1)

    def slopes(self, x0: Array, z0: Array, x1: Array, by_z: Array | None) -> tuple[Array, Array, Array]:
        """Return the derivatives of S by x0, z0 and x1."""
        z0 = np.array(z0)
        ends = [np.array(x0), np.array(x1)]
        out = [np.zeros_like(x0), np.zeros_like(x1)]
        if not len(x0):
            return out[0], np.zeros_like(z0), out[1]
        size = np.ptp(x0, axis=1).max(axis=1)
        delta = _RELATIVE * np.where(size > 0.0, size, 1.0)
        before, sizes = self._sums(ends[0], z0, ends[1], by_z)

        def slope(numbers: Array, delta: Array | float) -> Array:
            """Return the derivative of S [m] by one number [m] of each stencil."""
            kept, found = numbers.copy(), np.zeros(len(x0))
            kinked, before, least = np.ones(len(x0), bool), np.full(len(x0), np.nan), np.full(len(x0), np.inf)
            for shorter in (1.0, 0.1, 0.01, 1e-3):  # until a point that begins to flow no longer does within it
                at, e = [], shorter * delta
                for far, _ in WEIGHTS:
                    numbers[...] = kept + far * e
                    at.append(self._sums(ends[0], z0, ends[1], by_z)[0])
                slopes, still = slope_of(at, e)
                change, before = np.abs(slopes - before), slopes
                better = kinked & ~(change > least)
                found[better], least[better] = slopes[better], np.nan_to_num(change[better], nan=np.inf)
                kinked &= still & ~(change < _KINKED * np.abs(slopes).max(initial=0.0))
                if not kinked.any():
                    break
            numbers[...] = kept
            return found

        for end, found in zip(ends, out, strict=True):
            kept = end.copy()  # moved by amounts that differ, so that no motion of all nodes goes unseen
            end += (0.3 * delta)[:, None, None] * np.cos(np.arange(end[0].size)).reshape(end.shape[1:])
            same = np.array_equal(self._sums(ends[0], z0, ends[1], by_z)[0], before)
            end[...] = kept
            if same:  # as of forces that depend on the end alone
                continue
            for place in np.ndindex(end.shape[1:]):
                found[:, *place] = slope(end[:, *place], delta)
        by_z0 = np.zeros_like(z0)
        inner, to = (np.moveaxis(z, self._part.stencil_axis, 0) for z in (z0, by_z0))
        largest = np.abs(inner).reshape(-1, *inner.shape[-1:]).max(axis=0) if inner.ndim > 1 else np.abs(inner).max()
        for place in np.ndindex(inner.shape[1:]):
            first = max(_RELATIVE * float(largest[place[-1]] if place else largest), _LEAST)
            kept = inner[:, *place].copy()
            inner[:, *place] += first
            change = np.abs(self._sums(ends[0], z0, ends[1], by_z)[0] - before)
            inner[:, *place] = kept
            rate = float((change / first).sum())
            wide = _OF_FORCES * float(sizes.sum()) / rate if rate else first
            wide = min(wide, _LARGEST * first) if wide else 100.0 * first
            to[:, *place] = slope(inner[:, *place], wide)
        return out[0], by_z0, out[1]


@dataclass(frozen=True)
class IncrementChange:
    """An increment and k changes of it.

    Attributes
    ----------
    at : Increment
    dq0, dq1 : float64 [n, dim, k]
    dz0 : dict of str to float64 [..., k]
    deltas : float64 [k]
        By how much of each differences go at most.
    """

    at: Increment
    dq0: Array
    dz0: Mapping[str, Array]
    dq1: Array
    deltas: Array

    def of_forces(self, system: System) -> Array:
        """Return the changes of forces −f [n, dim, k] in N."""
        return np.stack(self._slopes(lambda moved: moved.forces(system, system.inelastic)), axis=-1)

    def of_variables(self, system: System) -> dict[str, Array]:
        """Return the changes of internal variables at the end, [..., k] by the names of parts."""
        columns = {name: self._slopes(lambda moved, name=name: moved.after(system)[name]) for name in self.at.z0}
        return {name: np.stack(found, axis=-1) for name, found in columns.items()}

    def _slopes(self, evaluate: Callable[[Increment], Array]) -> list[Array]:
        """Return the derivative of a function of an increment along each change."""
        size = float(np.ptp(self.at.q0, axis=0).max()) or 1.0
        found = []
        for k, largest in enumerate(self.deltas):
            dq0, dq1 = self.dq0[..., k], self.dq1[..., k]
            dz0 = {name: dz[..., k] for name, dz in self.dz0.items()}
            far = max(float(np.abs(dq0).max()), float(np.abs(dq1).max()))
            delta = min(largest, _RELATIVE * size / far) if far > 0.0 else largest
            at = [evaluate(self.at.moved(far * delta, dq0, dz0, dq1)) for far, _ in WEIGHTS]
            found.append(slope_of(at, delta)[0])
        return found
