"""Bounds at round-off that follow from the condition of a problem, with a margin of ten.

Processors differ in the order of sums and in fused multiplications: where one is off by 1e-14 another is by 4e-14.
Bounds at this level are computed from the numbers that are added up, not from what one machine found.
"""

import numpy as np

MARGIN = 10.0
EPSILON = np.finfo(float).eps


def of(size, operations=1):
    """Bound the error of a number after so many operations, one after the other, on numbers of a size."""
    return MARGIN * EPSILON * operations * size


def of_forces(system, q):
    """Bound the error in N of a force at positions q: a sum of terms K x, of which little may be left."""
    arm = q - q.mean(axis=0)
    return of((np.abs(system.hessian(q)) @ np.abs(arm).ravel()).max())


def of_values(energy, *ends):
    """Bound the error in J of values of a local energy at positions [m, k, dim], each from some ten operations."""
    sizes = [np.abs(energy.value(x)).max() + np.abs(energy.gradient(x) * x).sum(axis=(1, 2)).max() for x in ends]
    return of(max(sizes), 10)


def of_momenta(system, state):
    """Bound the error in N s of a component of the momentum, a sum over all nodes."""
    return of(np.abs(system.apply_mass(state.v)).sum())


def of_frequencies(angular, largest):
    """Bound the errors of angular frequencies in rad/s: each ω² is off by the rounding of the largest one."""
    return of(largest**2 / (2.0 * np.asarray(angular)))
