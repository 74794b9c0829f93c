"""The energy of contact pairs in a list: their local functions, and all forms assembled by compiled loops."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite

import numpy as np

from symplex.contact.pair_directional import add_secant, add_secant_rate, add_third
from symplex.contact.pair_discrete import add_discrete_gradient, add_discrete_hessian
from symplex.contact.pair_loops import add_gradient, add_hessian, set_nearest, set_values
from symplex.contact.pairs import Law
from symplex.contact.search import SurfacePairs
from symplex.contact.surfaces import Surface
from symplex.errors import InvalidSystem, StepFailed
from symplex.fem import forms
from symplex.fem.assembly import Array, IntArray
from symplex.fem.changing import ChangingEnergy
from symplex.fem.energy import RIGID, LatticeFunctions
from symplex.fem.forms import Form


class PairEnergy(ChangingEnergy):
    """φ = w m b(s) of the pairs in a list (see `symplex.contact.bodies.BodyContact`, which finds them).

    Attributes
    ----------
    surface : Surface
    pairs : SurfacePairs
        Those in the list.
    """

    invariances = RIGID
    surface: Surface
    _law: Law

    def _keep(self, pairs: SurfacePairs) -> None:
        self.nodes, self._edge_edge, self._weights, self._parallel = pairs

    @property
    def pairs(self) -> SurfacePairs:
        """The pairs in the list."""
        m = len(self.nodes)
        return SurfacePairs(self.nodes, self._edge_edge[:m], self._weights[:m], self._parallel[:m])

    # -- local functions: the loops on pairs that share no nodes ----------------------------------------------

    def value(self, x: Array) -> Array:
        """Return φ [m] in J at the positions x [m, 4, 3] in m."""
        phi = np.empty(len(x))
        set_values(_apart(x), self._pairs_apart(len(x)), self._law, phi)
        return phi

    def gradient(self, x: Array) -> Array:
        """Return ∂φ/∂x [m, 4, 3] in N at the positions x [m, 4, 3] in m."""
        return self._local(forms.GRADIENT, x)

    def hessian(self, x: Array) -> Array:
        """Return ∂²φ/∂x² [m, 12, 12] in N/m at the positions x [m, 4, 3] in m."""
        return self._local(forms.HESSIAN, x)

    def discrete_gradient(self, x0: Array, x1: Array) -> Array:
        """Return DG [m, 4, 3] in N from x0 to x1 [m, 4, 3]."""
        return self._local(forms.DISCRETE_GRADIENT, x0, x1)

    def discrete_hessian(self, x0: Array, x1: Array) -> Array:
        """Return ∂DG/∂x1 [m, 12, 12] in N/m from x0 to x1 [m, 4, 3]."""
        return self._local(forms.DISCRETE_HESSIAN, x0, x1)

    def increment_gradient(self, x: Array, compensation: Array, dx: Array) -> Array:
        """Return DG [m, 4, 3] in N from x + compensation to x + compensation + Δx."""
        return self._local(forms.INCREMENT_GRADIENT, x, compensation, dx)

    def secant(self, x: Array) -> Array:
        """Return 𝓕 [m, 4, 4] in N/m at the positions x [m, 4, 3] in m."""
        return self._local(forms.SECANT, x)

    def secant_rate(self, x: Array, v: Array) -> Array:
        """Return 𝓕̇ [m, 4, 4] in N/(m s) at the positions x along the velocities v [m, 4, 3]."""
        return self._local(forms.SECANT_RATE, x, v)

    def third(self, x: Array, a: Array) -> Array:
        """Return ∇³φ[a, a] [m, 4, 3] at x along a [m, 4, 3]; it jumps where other parts become nearest."""
        return self._local(forms.THIRD, x, a)

    def _local(self, form: Form, *local: Array) -> Array:
        m = len(local[0])
        slots = np.arange(16 * m, dtype=np.int32).reshape(m, 4, 4)
        out = np.zeros(form.shape(4 * m, 16 * m, 3))
        self._run(form, tuple(map(_apart, local)), self._pairs_apart(m), slots, out)
        if form.kind == "block":
            return out.reshape(m, 4, 4, 3, 3).swapaxes(2, 3).reshape(m, 12, 12)
        return out.reshape(m, 4, 3 if form.kind == "vector" else 4)

    def _pairs_apart(self, m: int) -> SurfacePairs:
        if m != len(self.nodes):
            raise InvalidSystem(f"BodyContact: positions of {m} pairs were given; the list has {len(self.nodes)}.")
        return self.pairs._replace(nodes=np.arange(4 * m, dtype=np.int32).reshape(m, 4))

    def local_value(self, stencil: int, x: Array) -> float:
        """Return φ in J of one pair at its positions x [4, 3] in m."""
        one, pairs = slice(stencil, stencil + 1), self.pairs
        nodes = np.arange(4, dtype=np.int32)[None]
        pair = SurfacePairs(nodes, pairs.edge_edge[one], pairs.weights[one], pairs.parallel[one])
        return float(set_values(_apart(x), pair, self._law, np.empty(1)))

    def lattice_functions(self, axes: Array | None = None) -> LatticeFunctions:
        """Return compiled functions of one pair of the list, the same in any axes."""
        from symplex.contact.pair_lattice import pair_lattice  # compiled when first needed

        return pair_lattice(self.pairs, self._law)

    # -- assembled forms --------------------------------------------------------------------------------------

    def listed_total(self, q: Array) -> float:
        """Return the energy in J of the pairs in the list at q [n, 3]."""
        return self._total(q, self.pairs)

    def add_listed(self, form: Form, nodal: tuple[Array, ...], out: Array, slots: IntArray | None) -> None:
        """Add a form of the pairs in the list."""
        if form.name in _LOOPS:
            self._add(form, nodal, self.pairs, slots, out)
        else:
            super().add_listed(form, nodal, out, slots)

    def _total(self, q: Array, pairs: SurfacePairs) -> float:
        total = set_values(q, pairs, self._law, np.empty(len(pairs.nodes)))
        return self._finite(total, pairs, q)

    def _add(
        self, form: Form, nodal: tuple[Array, ...], pairs: SurfacePairs, slots: IntArray | None, out: Array
    ) -> None:
        if len(pairs.nodes):
            self._finite(self._run(form, nodal, pairs, slots, out), pairs, *nodal[: form.ends])

    def _run(
        self, form: Form, nodal: tuple[Array, ...], pairs: SurfacePairs, slots: IntArray | None, out: Array
    ) -> float:
        if form is forms.DISCRETE_GRADIENT:
            nodal = (*nodal, nodal[0], False)  # pyright: ignore[reportAssignmentType]
        elif form is forms.INCREMENT_GRADIENT:
            nodal = nodal[0], nodal[2], nodal[1], True  # pyright: ignore[reportAssignmentType]
        into = [slots, out] if form.is_matrix else [out]
        return _LOOPS[form.name](*nodal, pairs, self._law, *into)

    def _finite(self, result: float, pairs: SurfacePairs, *ends: Array) -> float:
        if isfinite(result):
            return result
        for q in ends:
            _, gaps = nearest(q, pairs)
            first = int(np.argmin(gaps))  # the first that is not a number, if any is
            if not gaps[first] > 0.0:
                one, other = (self.surface.names[b] for b in self.surface.bodies_of(pairs.nodes[first, [0, 3]]))
                at = ", ".join(f"{x:.4g}" for x in q[pairs.nodes[first, 0]])
                raise StepFailed(
                    f"BodyContact: '{one}' and '{other}' touch at ({at}) m, where a barrier has no finite energy. Try "
                    "a smaller step, or a gap between them at the start."
                )
        raise StepFailed("BodyContact has no finite energy or force. Try a smaller step.")


def nearest(q: Array, pairs: SurfacePairs) -> tuple[Array, Array]:
    """Return the coefficients c [m, 4] of the nearest points of pairs and their distances [m] in m at q [n, 3]."""
    c, gaps = np.empty((len(pairs.nodes), 4)), np.empty(len(pairs.nodes))
    set_nearest(q, pairs, c, gaps)
    return c, gaps


def _apart(x: Array) -> Array:
    """Return local vectors [m, 4, 3] as those of nodes that belong to one pair each."""
    return np.ascontiguousarray(x, dtype=float).reshape(-1, 3)


_LOOPS: dict[str, Callable[..., float]] = {
    "gradient": add_gradient,
    "hessian": add_hessian,
    "discrete_gradient": add_discrete_gradient,
    "increment_gradient": add_discrete_gradient,
    "discrete_hessian": add_discrete_hessian,
    "secant": add_secant,
    "secant_rate": add_secant_rate,
    "third": add_third,
}
