"""Zhang and Skeel's steps of small systems, many of them in one compiled loop."""

from __future__ import annotations

from functools import cached_property
from typing import final

import numpy as np

from symplex.fem import forms
from symplex.fem.assembly import Array
from symplex.fem.gradient_table import FormTable, GradientTable, gradient_table, write_derivative, write_forces
from symplex.fem.kernels import uncounted_formula as formula, uncounted_kernel as kernel
from symplex.fem.system import System
from symplex.time.solvers.kept_factors import factorise, is_definite, substitute
from symplex.time.solvers.small_newton import SmallNewton, small_newton, steps_at_once
from symplex.time.solvers.step_equations import tangent

# Vectors [n, dim] that the loop writes to: positions and velocities before a step, −∇V where free, third derivatives.
_Q0, _V0, _FORCES, _THIRD = range(4)


@final
class SmallZhangSkeel:
    """Steps with all energies in the matrix, as long as that is positive definite.

    Parameters
    ----------
    system : System
    full : bool
        Whether with third derivatives.
    """

    def __init__(self, system: System, full: bool):
        self._system, self._full = system, full

    def __bool__(self) -> bool:
        """Whether the system is one for them."""
        return self._newton is not None

    @cached_property
    def _newton(self) -> SmallNewton | None:
        """What loops take of the system, looked for at the first step: of many motions none is ever taken."""
        return None if self._system.loads else small_newton(self._system, by_ends=False)

    @cached_property
    def at_once(self) -> int:
        """So many steps to take at most in one call."""
        return steps_at_once(self._system) if self else 1

    @cached_property
    def _thirds(self) -> GradientTable | None:
        return gradient_table(self._system, forms.THIRD) if self._full else None

    def _third(self, form: FormTable) -> FormTable:
        """Return the table of third derivatives: their loops take two vectors, as those of discrete gradients do."""
        rows = form.rows if self._thirds is None else self._thirds.rows
        return form._replace(constant=np.zeros_like(form.constant), rows=rows, by_ends=True)

    def take(self, n: int, h: float, beta: float, q: Array, v: Array, known: tuple[Array, Array, Array]) -> int:
        """Take up to n steps of size h in s from positions and velocities [n, dim]; return how many were taken.

        All is before the next one then, which the general method has to take. Known are −M⁻¹∇Ṽ, the solution a and
        the gradient at q.
        """
        if self._newton is None:
            return 0
        system, factors, vectors, blocks, _ = self._newton
        return _steps(n, h, beta, self._full, system, self._third(system.form), factors, vectors, blocks, q, v, *known)


@kernel
def _steps(n, h, beta, full, system, third, factors, vectors, blocks, q, v, f, solution, gradient):
    """Take n steps; return how many were possible."""
    for step in range(n):
        for i in range(q.shape[0]):
            for k in range(q.shape[1]):
                vectors[_Q0, i, k], vectors[_V0, i, k] = q[i, k], v[i, k]
                v[i, k] += 0.5 * h * f[i, k]
                q[i, k] += h * v[i, k]
        if not _solve(beta * h * h, system, factors, vectors, blocks, q, solution, gradient):
            for i in range(q.shape[0]):
                for k in range(q.shape[1]):
                    q[i, k], v[i, k] = vectors[_Q0, i, k], vectors[_V0, i, k]
            return step
        if full:
            write_forces(third, q, solution, vectors[_THIRD])
        s = 0.5 * (beta * h * h) ** 2 if full else 0.0
        for i in range(q.shape[0]):
            for k in range(q.shape[1]):
                rest = 0.0 if system.fixed[i, k] else s * vectors[_THIRD, i, k] / system.mass[i]
                f[i, k] = solution[i, k] - rest
                v[i, k] += 0.5 * h * f[i, k]
    return n


@formula
def _solve(s, system, factors, vectors, blocks, q, solution, gradient):
    """Set the gradient g and the solution a of (M + s H) a = −g at q; return whether there is one."""
    if not np.isfinite(write_forces(system.form, q, q, gradient)):
        return False
    for i in range(q.shape[0]):
        for k in range(q.shape[1]):
            vectors[_FORCES, i, k] = 0.0 if system.fixed[i, k] else -gradient[i, k]
    write_derivative(system.form, q, q, blocks)
    pattern, b = (system.indptr, system.indices), vectors[_FORCES]
    size = tangent(1.0, 1.0, system.mass_values, s, b, b, b, q, system.mass, system.fixed, *pattern, blocks)
    if not np.isfinite(size) or not factorise(factors, blocks) or not is_definite(factors):
        return False
    substitute(factors, b, solution)
    return True
