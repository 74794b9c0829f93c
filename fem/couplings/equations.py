"""Linear equations between displacements of nodes, held by a penalty: multipoint constraints."""

from __future__ import annotations

from typing import ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.base.sparse import sp
from symplex.errors import InvalidSystem
from symplex.fem.assembly.forms import kernels_of
from symplex.fem.assembly.pattern import Array
from symplex.fem.couplings import equation_loops as loops
from symplex.fem.energies.energy import Invariance
from symplex.fem.energies.kernel_energy import KernelEnergy

_ROUND_OFF = 1e-12  # of the factors of an equation: how far their sum may be from zero
_MOST_NODES = 1000  # of an equation, whose Hessian is full


@checked
@final
class LinearConstraints(KernelEnergy):
    """Equations Σ c u = b between displacements u = x − X, each with the energy φ = ½ k (Σ c u − b)².

    It is quadratic: the discrete gradient is the gradient at the midpoint. An equation whose factors sum to zero in
    each direction keeps linear momentum; angular momentum is kept by none, as equations are along fixed directions.
    A force λ of the constraint leaves an error λ/k of the equation.

    Parameters
    ----------
    points : float64 [n, dim]
        X, the positions in m without displacements.
    factors : sparse [e, n·dim] or float64 [e, n·dim]
        c, a row for each equation, with the components of a node side by side.
    values : float or float64 [e], default 0
        b in m.
    stiffness : float or float64 [e]
        k in N/m.

    Attributes
    ----------
    factors : float64 [e, k, dim]
        Those of the nodes of each stencil.

    Raises
    ------
    InvalidSystem
        If shapes do not fit, numbers are not finite, a stiffness is not positive, or an equation has no factors.
    """

    kernels: ClassVar = kernels_of(loops)

    def __init__(
        self, points: Array, factors: sp.sparray | ArrayLike, values: ArrayLike = 0.0, *, stiffness: ArrayLike
    ):
        if points.ndim != 2 or not np.isfinite(points).all():
            raise InvalidSystem(f"LinearConstraints: points must be finite, [n, dim]; their shape is {points.shape}.")
        try:
            matrix = sp.csr_array(factors, dtype=float, copy=True)
        except (TypeError, ValueError) as error:
            raise InvalidSystem("LinearConstraints: the factors must be a matrix [e, n·dim] of numbers.") from error
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        requested = (matrix.shape or (0,))[0], points.size
        if matrix.shape != requested or not np.isfinite(matrix.data).all():
            raise InvalidSystem(
                f"LinearConstraints: the factors must be finite, a row for each equation and {points.size} columns, "
                f"one for each displacement; their shape is {matrix.shape}."
            )
        self._set_stencils(matrix, points)
        self._values = self._for_each("values", "m", values)
        self._stiffness = self._for_each("stiffness", "N/m", stiffness)
        if not (self._stiffness > 0.0).all():
            raise InvalidSystem("LinearConstraints: each stiffness must be positive (N/m).")
        self._compose(
            points.shape[1],
            loops.EquationRecord(
                nodes=self.nodes,
                factors=self.factors,
                points=np.ascontiguousarray(self._points, float),
                values=self._values,
                stiffness=self._stiffness,
            ),
        )
        largest = np.abs(self.factors).max(axis=(1, 2), initial=0.0)
        sums = np.abs(self.factors.sum(axis=1)).max(axis=1, initial=0.0)
        if (sums <= _ROUND_OFF * largest).all():
            self.invariances: frozenset[Invariance] = frozenset({"translations"})

    def _set_stencils(self, matrix: sp.csr_array, points: Array) -> None:
        """Set the nodes of equations, the first of each again where others have more, and their factors."""
        (m, _), dim = matrix.shape, points.shape[1]  # pyright: ignore
        rows = np.repeat(np.arange(m), np.diff(matrix.indptr))
        pairs, of_pair = np.unique(rows * len(points) + matrix.indices // dim, return_inverse=True)
        of_row = pairs // len(points)
        counts = np.bincount(of_row, minlength=m)
        if not m or not counts.all():
            which = f"equation {int(np.argmin(counts))} has none" if m else "there are no equations"
            raise InvalidSystem(f"LinearConstraints: each equation needs a factor other than zero; {which}.")
        if counts.max() > _MOST_NODES:
            raise InvalidSystem(
                f"LinearConstraints: equation {int(np.argmax(counts))} has {counts.max():,} nodes; at most "
                f"{_MOST_NODES:,} can be in one."
            )
        first = np.concatenate([[0], np.cumsum(counts)[:-1]])
        place = np.arange(len(pairs)) - first[of_row]
        nodes = np.repeat((pairs % len(points))[first, None], counts.max(), axis=1)
        nodes[of_row, place] = pairs % len(points)
        self.nodes = nodes.astype(np.int32)
        self.factors = np.zeros((*nodes.shape, dim))
        self.factors[rows, place[of_pair], matrix.indices % dim] = matrix.data
        self._points = points[nodes]

    def _for_each(self, what: str, unit: str, values: ArrayLike) -> Array:
        m = len(self.nodes)
        given = np.array(values, dtype=float)
        if given.shape not in ((), (m,)) or not np.isfinite(given).all():
            raise InvalidSystem(
                f"LinearConstraints: {what} must be finite, a number ({unit}) or one for each of {m} equations; "
                f"the shape is {given.shape}."
            )
        return np.broadcast_to(given, (m,)).copy()

    def errors(self, q: Array) -> Array:
        """Return what the equations are off by, Σ c u − b [e] in m, at the nodal positions q [n, dim]."""
        return self._off(q[self.nodes])

    def _off(self, x: Array) -> Array:
        return np.einsum("mki,mki->m", self.factors, x - self._points) - self._values

    def _forces(self, off: Array) -> Array:
        return (self._stiffness * off)[:, None, None] * self.factors

    def value(self, x: Array) -> Array:
        """Return φ [e] in J at the positions x [e, k, dim] in m."""
        return 0.5 * self._stiffness * self._off(x) ** 2

    def increment_gradient(self, x: Array, compensation: Array, dx: Array) -> Array:
        """Return the discrete gradient [e, k, dim] in N from x + compensation to x + compensation + Δx."""
        return self._forces(self._off(x) + np.einsum("mki,mki->m", self.factors, compensation + 0.5 * dx))

    def mean_gradient(self, x0: Array, x1: Array) -> Array:
        """Return the gradient [e, k, dim] in N at the mean of the equations' errors: the discrete gradient."""
        return self.discrete_gradient(x0, x1)

    def local_value(self, stencil: int, x: Array) -> float:
        """Return φ in J of one equation at its positions x [k, dim] in m."""
        off = float((self.factors[stencil] * (x - self._points[stencil])).sum()) - self._values[stencil]
        return float(0.5 * self._stiffness[stencil] * off**2)
