"""Steps of Zhang and Skeel's methods in one compiled loop, which finds accelerations of small systems itself."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from symplex.fem.assembly import forms
from symplex.fem.assembly.pattern import Array
from symplex.fem.compiled.call import call_back
from symplex.fem.compiled.kernels import uncounted_formula as formula, uncounted_kernel as kernel
from symplex.fem.form_table import Table, form_table, write
from symplex.fem.system import System
from symplex.time.solvers.compiled_newton import CompiledNewton, compiled_newton
from symplex.time.solvers.kept_factors import factorise, is_definite, substitute
from symplex.time.solvers.step_equations import tangent

_FORCES, _THIRD = range(2)  # vectors [n, dim] that the loop writes to: −∇V where free, third derivatives


class CompiledForce(NamedTuple):
    """Modified accelerations as the loop finds them itself, and what addresses in them lead to.

    ``third`` is the table of third derivatives: their loops take two vectors, as those of discrete gradients do.
    """

    full: bool
    equations: CompiledNewton
    third: Table


def compiled_force(system: System, full: bool) -> CompiledForce | None:
    """Return modified accelerations, with third derivatives if ``full``, of a system that is a small one."""
    equations = None if system.loads else compiled_newton(system, by_ends=False)
    thirds = form_table(system, forms.THIRD) if full else None
    if equations is None or (full and thirds is None):
        return None
    third = equations.system.forces if thirds is None else thirds.replace(constant=np.zeros_like(thirds.constant))
    return CompiledForce(full, equations, third)


def take_steps(n: int, h: float, beta: float, force: CompiledForce | None, arrays: tuple[Array, ...], back: int) -> int:
    """Take n steps of a size h in s, fewer if what is called back fails; return how many.

    Arrays [n, dim] are positions, velocities, −M⁻¹∇Ṽ, the solution a and the gradient there.
    """
    used = force or _nothing(arrays[0].shape[1])
    system, factors, vectors, blocks, _ = used.equations
    found = force is not None, used.full, system, used.third, factors, vectors, blocks
    return _steps(n, h, beta, *found, *arrays, back)


@cache
def _nothing(dim: int) -> CompiledForce:
    """Return what the loop takes where all accelerations are called back: one node without forces."""
    found = compiled_force(System(np.ones(1), {}, dim=dim), full=False)
    assert found is not None, "it is a small system"
    return found


@kernel
def _steps(
    n, h, beta, is_compiled, full, system, third, factors, vectors, blocks, q, v, f, solution, gradient, back
):  # fmt: skip
    """Take n steps: kicks around a drift, after which accelerations are found, here if that is possible."""
    s = beta * h * h
    for step in range(n):
        for i in range(q.shape[0]):
            for k in range(q.shape[1]):
                v[i, k] += 0.5 * h * f[i, k]
                q[i, k] += h * v[i, k]
        if is_compiled and _solve(s, system, factors, vectors, blocks, q, solution, gradient):
            if full:
                write(third, q, solution, vectors[_THIRD])
            for i in range(q.shape[0]):
                for k in range(q.shape[1]):
                    has_rest = full and not system.fixed[i, k]
                    rest = 0.5 * s * s * vectors[_THIRD, i, k] / system.mass[i] if has_rest else 0.0
                    f[i, k] = solution[i, k] - rest
        elif call_back(back, step):
            return step
        for i in range(q.shape[0]):
            for k in range(q.shape[1]):
                v[i, k] += 0.5 * h * f[i, k]
    return n


@formula
def _solve(s, system, factors, vectors, blocks, q, solution, gradient):
    """Set the gradient g and the solution a of (M + s H) a = −g at q; return whether there is one."""
    if not np.isfinite(write(system.forces, q, q, gradient)):
        return False
    for i in range(q.shape[0]):
        for k in range(q.shape[1]):
            vectors[_FORCES, i, k] = 0.0 if system.fixed[i, k] else -gradient[i, k]
    write(system.tangent, q, q, blocks)
    matrix, b = (system.indptr, system.indices, blocks, 0, q.shape[0]), vectors[_FORCES]
    size = tangent(1.0, 1.0, system.mass_values, s, b, b, b, q, system.mass, system.fixed, *matrix)
    if not np.isfinite(size) or not factorise(factors, blocks) or not is_definite(factors):
        return False
    substitute(factors, b, solution)
    return True
