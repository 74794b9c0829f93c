"""Explicit steps, linearised, in one compiled loop from positions and accelerations that were kept of each.

Backwards in a step of explicit Newmark, with λ the derivatives by positions, velocities and accelerations at its end,

    μ = −M⁻¹ (λa + h/2 λv),    λq ← λq + ∇²V(q1) μ,    λv ← λv + h λq,    λa ← h/2 λv,

and ∂/∂p = Σ μ·∂(∇V)/∂p, ∂/∂m = Σ μ·a1. Forwards, for each parameter,

    δv ← δv + h/2 δa,  δq ← δq + h δv,  δa ← −M⁻¹ (∇²V(q1) δq + ∂(∇V)/∂p + δM a1),  δv ← δv + h/2 δa.

Products with Hessians, and forces of neighbouring systems, are found by the
rows of their calls (`symplex.fem.form_table`); what has none is called back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from symplex.fem.actions.loads import DeadLoad
from symplex.fem.assembly import forms
from symplex.fem.assembly.calls import add_rows, kept_table_of, rows_of, table_of
from symplex.fem.assembly.pattern import Array
from symplex.fem.compiled import threads
from symplex.fem.compiled.call import call_back
from symplex.fem.compiled.callbacks import Callback
from symplex.fem.compiled.kernels import formula, kernel
from symplex.fem.form_table import form_table, write_gradient
from symplex.fem.system import System
from symplex.gradients.family import AGREE, Family, is_compared
from symplex.gradients.integer_steps import IntegerSteps, step_back

_PRODUCT, _PARAMETERS, _KINDS = range(3)
_LANES = 8
_SHARED = 5000  # stencils from which on threads gain more than calls from Python cost


@final
class ExplicitLoop:
    """Explicit steps, backwards or forwards.

    Parameters
    ----------
    family : Family
        Of a system with a lumped mass that `LinearAccelerations.has_products` is true of.
    take : callable
        ``take(by_forces, k, parameters)`` adds what the derivatives by forces [n, dim] of the kept step k say of the
        parameters named, and of whatever else depends on forces. Forwards it writes derivatives of forces by these
        parameters to an array [k, n, dim].
    always : bool
        Whether it is called where no parameter needs it.

    Attributes
    ----------
    by_q, by_v, by_a : float64 [n, dim]
        The derivatives by the state, which may be changed between calls.
    parameters : float64 [k]
        Those by parameters, as far as they are found in the loop.
    by_mass : float64 [n, dim]
        By masses, of each direction.
    largest : float64 [2]
        The largest norms of by_q and by_v.
    """

    def __init__(self, family: Family, take: Callable[[Array, int, list[int]], None], always: bool):
        system, shape = family.system, family.state.q.shape
        self._system, self._take = system, take
        self.by_q, self.by_v, self.by_a, self.by_mass, self._by_g, self._product = (np.zeros(shape) for _ in range(6))
        self.largest, self.parameters = np.zeros(2), np.zeros(len(family))
        mass = np.asarray(system.mass)[:, None]
        self._inverse_mass = np.where(system.fixed, 0.0, 1.0 / mass)
        self._products = _product_rows(system)
        self._in_python: list[int] = []
        found, numbers = [], []
        for j, changed in enumerate(family.changed):
            if not changed:
                continue
            names = set(changed.energies)
            tables = [form_table(one, forms.GRADIENT, names) for _, one, _ in family.neighbours[j]]
            if names == set().union(*changed) and all(table is not None for table in tables):
                found += tables
                numbers.append(j)
            else:
                self._in_python.append(j)
        self._kept = found
        self._numbers, self._agreed = np.array(numbers, np.int64), np.zeros(len(numbers), np.int64)
        self._deltas = family.deltas[self._numbers]
        self._constants = np.array([table.constant for table in found]).reshape(-1, *shape)
        rows = [table.rows for table in found]
        self._starts = np.concatenate([[0], np.cumsum([len(some) for some in rows])]).astype(np.int64)
        self._rows = np.concatenate([table_of([]), *rows])
        self._forces = np.zeros((4 if numbers else 0, *shape))
        self._calls = bool(self._in_python) or always
        self._back, self._positions = Callback(self._called), np.zeros((0, *shape))
        self._changes = np.zeros((0, *shape))  # of positions, forwards
        self._slopes = np.zeros((len(family), *shape))
        masses = np.zeros((self._system.n_nodes, len(family))) if family.masses is None else family.masses
        self._masses = np.ascontiguousarray(np.broadcast_to(masses.T[..., None], self._slopes.shape))

    def back(self, sizes: Array, positions: Array, accelerations: Array) -> None:
        """Go back over s steps of some sizes [s], with positions and accelerations [s, n, dim] at the end of each."""
        self._positions = positions
        _back(sizes, positions, accelerations, *self._given())
        self._back.raise_failure()

    def forward(self, sizes: Array, positions: Array, accelerations: Array, changes: Sequence[Array]) -> None:
        """Go on with changes of positions, velocities and accelerations [k, n, dim] over s steps, as of `back`."""
        self._positions, self._changes = positions, changes[0]
        rows = table_of([]) if self._products is None else self._products
        found = self._inverse_mass, self._masses, self._slopes, self._product
        _forward(sizes, positions, accelerations, rows, *changes, *found, *self._of_neighbours())
        self._changes = np.zeros((0, *self._product.shape))
        self._back.raise_failure()

    def walk(self, n: int, steps: IntegerSteps) -> None:
        """Walk back over n steps on integers."""
        self._positions = steps.q
        state = steps.positions, steps.velocities, steps.q, steps.a, steps.gradient, steps.inverse_mass
        _walk(n, np.array(steps.numbers[:1]), *steps.numbers, *state, *steps.energies, *self._given())
        self._back.raise_failure()

    def _given(self) -> tuple[Any, ...]:
        """Return what the loop over steps takes besides these."""
        rows = table_of([]) if self._products is None else self._products
        state = self.by_q, self.by_v, self.by_a, self._inverse_mass, self._by_g, self._product, self.by_mass
        *neighbours, from_python, calls, back = self._of_neighbours()
        return rows, *state, self.largest, *neighbours, self.parameters, from_python, calls, back

    def _of_neighbours(self) -> tuple[Any, ...]:
        """Return what it takes of parameters, and to call back."""
        neighbours = self._numbers, self._agreed, self._deltas, self._constants, self._starts, self._rows, self._forces
        return *neighbours, self._products is None, self._calls, self._back.address

    def _called(self, number: int) -> None:
        """Do what has no compiled form in a step: its number times `_KINDS`, plus the kind."""
        step, kind = divmod(number, _KINDS)
        if len(self._changes) and kind == _PRODUCT:
            step, k = divmod(step, len(self._changes))
            self._system.hessian_product(self._positions[step], self._changes[k], self._product)
        elif len(self._changes):
            self._take(self._slopes, step, self._in_python)
        elif kind == _PRODUCT:
            self._system.hessian_product(self._positions[step], self._by_g, self._product)
        else:
            self._take(self._by_g, step, self._in_python)


def _product_rows(system: System) -> NDArray[np.int64] | None:
    """Return the rows of products with Hessians; None where threads may share them."""
    acting = [energy for energy in system.energies.values() if not isinstance(energy, DeadLoad)]
    if threads.count() > 1 and any(energy.threaded and len(energy.nodes) > _SHARED for energy in acting):
        return None
    found = [energy.calls(forms.HESSIAN_PRODUCT, system.dim) or () for energy in acting]
    rows = [rows_of(forms.HESSIAN_PRODUCT, calls).tolist() for calls in found if calls]
    return kept_table_of([row for some in rows for row in some], found)


_is_compared = formula(is_compared)


@kernel
def _back(
    sizes, positions, accelerations, rows, by_q, by_v, by_a, inverse_mass, by_g, product, by_mass, largest,
    numbers, agreed, deltas, constants, starts, neighbours, forces, parameters, from_python, calls, back,
):  # fmt: skip
    """Go back over all steps; return 1 if something that is called back fails."""
    q, v, a, inverse, g = by_q.ravel(), by_v.ravel(), by_a.ravel(), inverse_mass.ravel(), by_g.ravel()
    out, mass = product.ravel(), by_mass.ravel()
    for step in range(len(sizes) - 1, -1, -1):
        h, x = sizes[step], positions[step]
        accelerated = accelerations[step].ravel()
        for i in range(len(q)):
            g[i] = -inverse[i] * (a[i] + 0.5 * h * v[i])
            mass[i] += g[i] * accelerated[i]
            out[i] = 0.0
        if not from_python:
            add_rows(rows, (x, by_g), product)
        elif call_back(back, step * _KINDS + _PRODUCT):
            return 1
        for j in range(len(numbers)):
            some = 4 * j
            agreed[j], slope = _slope(
                agreed[j], deltas[j], constants[some : some + 4], starts[some : some + 5], neighbours, x, g, forces
            )
            parameters[numbers[j]] += slope
        if calls and call_back(back, step * _KINDS + _PARAMETERS):
            return 1
        for i in range(len(q)):
            q[i] += out[i]
            v[i] += h * q[i]
            a[i] = 0.5 * h * v[i]
        largest[0] = max(largest[0], _norm(q))
        largest[1] = max(largest[1], _norm(v))
    return 0


@kernel
def _walk(
    n, sizes, h, dq, dv, whole, halves, positions, accelerations, gradient, inverse, constant, energies, called, at,
    rows, by_q, by_v, by_a, inverse_mass, by_g, product, by_mass, largest,
    numbers, agreed, deltas, constants, starts, neighbours, forces, parameters, from_python, calls, back,
):  # fmt: skip
    """Go back over n steps on integers, of which the end of the last is at hand, until what is called back fails."""
    for _ in range(n):
        if _back(
            sizes, positions, accelerations, rows, by_q, by_v, by_a, inverse_mass, by_g, product, by_mass, largest,
            numbers, agreed, deltas, constants, starts, neighbours, forces, parameters, from_python, calls, back,
        ):  # fmt: skip
            return
        state = whole, halves, positions[0], accelerations[0], gradient, inverse
        step_back(h, dq, dv, *state, constant, energies, called, at)


@kernel
def _forward(
    sizes, positions, accelerations, rows, dq, dv, da, inverse_mass, masses, slopes, product,
    numbers, agreed, deltas, constants, starts, neighbours, forces, from_python, calls, back,
):  # fmt: skip
    """Go on over all steps; return 1 if something that is called back fails."""
    inverse, out = inverse_mass.ravel(), product.ravel()
    for step in range(len(sizes)):
        h, x, accelerated = sizes[step], positions[step], accelerations[step].ravel()
        for j in range(len(numbers)):
            some = 4 * j
            agreed[j] = _write_slope(
                agreed[j], deltas[j], constants[some : some + 4], starts[some : some + 5], neighbours, x, forces,
                slopes[numbers[j]],
            )  # fmt: skip
        if calls and call_back(back, step * _KINDS + _PARAMETERS):
            return 1
        for k in range(len(dq)):
            q, v, a, mass, slope = dq[k].ravel(), dv[k].ravel(), da[k].ravel(), masses[k].ravel(), slopes[k].ravel()
            for i in range(len(q)):
                v[i] += 0.5 * h * a[i]
                q[i] += h * v[i]
                out[i] = 0.0
            if not from_python:
                add_rows(rows, (x, dq[k]), product)
            elif call_back(back, (step * len(dq) + k) * _KINDS + _PRODUCT):
                return 1
            for i in range(len(q)):
                a[i] = -inverse[i] * (out[i] + slope[i] + mass[i] * accelerated[i])
                v[i] += 0.5 * h * a[i]
    return 0


@formula
def _write_slope(agreed, delta, constants, starts, rows, x, forces, out):
    """Write ∂(∇V)/∂p at x to out; return at how many states in a row two neighbours have agreed with four."""
    compared = _is_compared(agreed)
    for k in range(4):
        if compared or k == 0 or k == 3:
            write_gradient(constants[k], rows[starts[k] : starts[k + 1]], x, forces[k])
    slope = out.ravel()
    f = forces.reshape((4, len(slope)))
    off, size = 0.0, 0.0
    for i in range(len(slope)):
        slope[i] = (f[3, i] - f[0, i]) / (4.0 * delta)
        if compared:
            better = (4.0 * (f[2, i] - f[1, i]) / (2.0 * delta) - slope[i]) / 3.0
            off, size = max(off, abs(slope[i] - better)), max(size, abs(better))
            slope[i] = better
    if not compared:
        return agreed + 1
    if size == 0.0:  # zero as of contact that is open, which says nothing
        return agreed
    return agreed + 1 if off <= AGREE * size else 0


@formula
def _slope(agreed, delta, constants, starts, rows, x, by, forces):
    """Return at how many states in a row two neighbours have agreed with four, and by·∂(∇V)/∂p at x."""
    out = forces[0]  # each of whose numbers is read before it is written
    agreed = _write_slope(agreed, delta, constants, starts, rows, x, forces, out)
    slope, product = out.ravel(), 0.0
    for i in range(len(by)):
        product += by[i] * slope[i]
    return agreed, product


@formula
def _norm(x):
    """Return the root of the sum of squares, in lanes."""
    sums = np.zeros(_LANES)
    whole = len(x) // _LANES * _LANES
    for i in range(0, whole, _LANES):
        for k in range(_LANES):
            sums[k] += x[i + k] * x[i + k]
    for i in range(whole, len(x)):
        sums[0] += x[i] * x[i]
    return np.sqrt(sums.sum())
