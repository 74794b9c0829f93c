"""The equations of an implicit step, their residual and their matrix."""

from __future__ import annotations

from typing import Protocol, final

from symplex.fem.compiled.kernels import uncounted_kernel
from symplex.fem.energies.energy import Array


class StepEquations(Protocol):
    """The equations r(Δq) = inertia · M Δq + impulse · G(Δq) − constant = 0 of a step, in kg m/s.

    Attributes
    ----------
    inertia, impulse : float
        Factors of M Δq in 1/s and of the forces in s, not negative.
    constant : float64 [n, dim]
        In kg m/s.
    symmetric : bool
        Whether ∂G/∂Δq is.
    at : (float, float)
        The parts of Δq after which the forces act, and with which they change: ½ and 1 of discrete gradients.
    seen : tuple of float
        The parts of Δq at which nothing must have passed through: 1 at the end, and where forces are evaluated.
    """

    inertia: float
    impulse: float
    constant: Array
    symmetric: bool
    at: tuple[float, float]
    seen: tuple[float, ...]

    def forces(self, dq: Array, out: Array) -> None:
        """Write G(Δq) [n, dim] in N to out; `StepFailed` where there is none."""

    def blocks(self, dq: Array, out: Array) -> None:
        """Write ∂G/∂Δq [nnz, dim, dim] in N/m on the system's pattern to out."""


@final
class PartOfStep:
    """The equations of a part λ of a step: inertia · M Δq + λ² impulse · G(Δq) − λ constant = 0.

    Of the midpoint rule and energy-momentum they are those of a step λ h, times λ, with the loads of the whole step;
    of other methods nearly.

    Parameters
    ----------
    whole : StepEquations
    """

    def __init__(self, whole: StepEquations):
        self.forces, self.blocks, self.symmetric = whole.forces, whole.blocks, whole.symmetric
        self.inertia, self.seen, self._whole = whole.inertia, whole.seen, whole
        self.at = whole.at

    def take(self, part: float) -> None:
        """Be those of a part of the step."""
        self.impulse, self.constant = part * part * self._whole.impulse, part * self._whole.constant


@uncounted_kernel
def residual(inertia, factor, x, impulse, forces, constant, fixed, mass, out):
    """Write inertia · factor · x + impulse · G − constant to out, 0 where fixed; return Σ out²/m."""
    squared = 0.0
    for n in range(out.shape[0]):
        for i in range(out.shape[1]):
            r = inertia * factor[n] * x[n, i] + impulse * forces[n, i] - constant[n, i]
            if fixed[n, i]:
                r = 0.0
            out[n, i] = r
            squared += r * r / mass[n]
    return squared


@uncounted_kernel
def tangent(
    inertia, held, mass_values, impulse, forces, constant, dq, q, mass, fixed, indptr, indices, blocks, first, last
):
    """Turn the blocks K into impulse · K + inertia · M, the masses times a factor where fixed, of some rows.

    Return Σ s²/m, with s = inertia |M||Δq| + |constant| + impulse (|G| + |K||q|) what the residual's round-off
    is proportional to.
    """
    dim = q.shape[1]
    squared = 0.0
    for a in range(first, last):
        for i in range(dim):
            size = inertia * mass[a] * abs(dq[a, i]) + abs(constant[a, i]) + impulse * abs(forces[a, i])
            for s in range(indptr[a], indptr[a + 1]):
                b = indices[s]
                for j in range(dim):
                    k = impulse * blocks[s, i, j]
                    size += abs(k * q[b, j])
                    if i == j:
                        k += inertia * mass_values[s]
                    if fixed[a, i] or fixed[b, j]:
                        k = held * mass[a] if a == b and i == j else 0.0
                    blocks[s, i, j] = k
            if not fixed[a, i]:
                squared += size * size / mass[a]
    return squared


@uncounted_kernel
def tangent_in_space(
    inertia, held, mass_values, impulse, forces, constant, dq, q, mass, fixed, indptr, indices, blocks, first, last
):
    """Do as `tangent` for blocks of 3 × 3, each of which is read and written once."""
    squared = 0.0
    for a in range(first, last):
        f0, f1, f2 = fixed[a, 0], fixed[a, 1], fixed[a, 2]
        s0 = inertia * mass[a] * abs(dq[a, 0]) + abs(constant[a, 0]) + impulse * abs(forces[a, 0])
        s1 = inertia * mass[a] * abs(dq[a, 1]) + abs(constant[a, 1]) + impulse * abs(forces[a, 1])
        s2 = inertia * mass[a] * abs(dq[a, 2]) + abs(constant[a, 2]) + impulse * abs(forces[a, 2])
        for s in range(indptr[a], indptr[a + 1]):
            b, k = indices[s], blocks[s]
            k00, k01, k02 = impulse * k[0, 0], impulse * k[0, 1], impulse * k[0, 2]
            k10, k11, k12 = impulse * k[1, 0], impulse * k[1, 1], impulse * k[1, 2]
            k20, k21, k22 = impulse * k[2, 0], impulse * k[2, 1], impulse * k[2, 2]
            x0, x1, x2 = q[b, 0], q[b, 1], q[b, 2]
            s0 = s0 + abs(k00 * x0) + abs(k01 * x1) + abs(k02 * x2)
            s1 = s1 + abs(k10 * x0) + abs(k11 * x1) + abs(k12 * x2)
            s2 = s2 + abs(k20 * x0) + abs(k21 * x1) + abs(k22 * x2)
            m = inertia * mass_values[s]
            k[0, 0], k[0, 1], k[0, 2] = k00 + m, k01, k02
            k[1, 0], k[1, 1], k[1, 2] = k10, k11 + m, k12
            k[2, 0], k[2, 1], k[2, 2] = k20, k21, k22 + m
            if f0 or f1 or f2 or fixed[b, 0] or fixed[b, 1] or fixed[b, 2]:
                for i in range(3):
                    for j in range(3):
                        if fixed[a, i] or fixed[b, j]:
                            k[i, j] = held * mass[a] if a == b and i == j else 0.0
        squared += 0.0 if f0 else s0 * s0 / mass[a]
        squared += 0.0 if f1 else s1 * s1 / mass[a]
        squared += 0.0 if f2 else s2 * s2 / mass[a]
    return squared
