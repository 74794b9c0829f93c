"""The energy of contact pairs in a list, by kernels."""

from __future__ import annotations

import numpy as np

from symplex.contact import pair_directional, pair_discrete, pair_loops
from symplex.contact.pairs import PairRecord, SurfacePairs
from symplex.contact.surfaces import Surface
from symplex.errors import StepFailed
from symplex.fem.assembly import forms
from symplex.fem.assembly.forms import Form, kernels_of
from symplex.fem.assembly.pattern import Array
from symplex.fem.energies.energy import RIGID, LatticeFunctions
from symplex.fem.energies.kernel_energy import KernelEnergy


class PairEnergy(KernelEnergy):
    """φ = w m b(s) of pairs (see `symplex.contact.bodies.BodyContact`, which finds them).

    Attributes
    ----------
    surface : Surface
    record : PairRecord
        The pairs.
    """

    kernels = kernels_of(pair_loops) | kernels_of(pair_discrete) | kernels_of(pair_directional)
    invariances = RIGID
    surface: Surface

    def __init__(self, surface: Surface, pairs: PairRecord):
        self.surface = surface
        self._keep(pairs)

    def _keep(self, pairs: PairRecord) -> None:
        self.nodes = pairs.nodes
        self._compose(3, pairs)

    @property
    def record(self) -> PairRecord:
        """The pairs."""
        return self._record  # pyright: ignore[reportReturnType]

    def value(self, x: Array) -> Array:
        """Return φ [m] in J at the positions x [m, 4, 3] in m."""
        return self._local(forms.VALUE, x)

    def increment_gradient(self, x: Array, compensation: Array, dx: Array) -> Array:
        """Return DG [m, 4, 3] in N from x + compensation to x + compensation + Δx."""
        return self._local(forms.INCREMENT_GRADIENT, x, compensation, dx)

    def secant(self, x: Array) -> Array:
        """Return 𝓕 [m, 4, 4] in N/m at the positions x [m, 4, 3] in m."""
        return self._local(forms.SECANT, x)

    def secant_rate(self, x: Array, v: Array) -> Array:
        """Return 𝓕̇ [m, 4, 4] in N/(m s) at the positions x along the velocities v [m, 4, 3]."""
        return self._local(forms.SECANT_RATE, x, v)

    def local_value(self, stencil: int, x: Array) -> float:
        """Return φ in J of one pair at its positions x [4, 3] in m."""
        one = self.record.chosen(np.array([stencil])).replace(nodes=np.arange(4, dtype=np.int32)[None])
        return PairEnergy(self.surface, one).total(x)

    def lattice_functions(self, axes: Array | None = None) -> LatticeFunctions:
        """Return compiled functions of one pair of the list, the same in any axes."""
        from symplex.contact.pair_lattice import pair_lattice  # compiled when first needed

        return pair_lattice(self.record)

    def _refuse(self, form: Form, nodal: tuple[Array, ...]) -> None:
        """Raise `StepFailed`, where a pair touches with its place."""
        for q in form.positions(nodal):
            _, gaps = nearest(q, self.record)
            first = int(np.argmin(gaps))  # the first that is not a number, if any is
            if not gaps[first] > 0.0:
                one, other = (self.surface.names[b] for b in self.surface.bodies_of(self.nodes[first, [0, 3]]))
                at = ", ".join(f"{x:.4g}" for x in q[self.nodes[first, 0]])
                raise StepFailed(
                    f"BodyContact: '{one}' and '{other}' touch at ({at}) m, where a barrier has no finite energy. Try "
                    "a smaller step, or a gap between them at the start."
                )
        raise StepFailed("BodyContact has no finite energy or force. Try a smaller step.")


def nearest(q: Array, pairs: SurfacePairs) -> tuple[Array, Array]:
    """Return the coefficients c [m, 4] of the nearest points of pairs and their distances [m] in m at q [n, 3]."""
    c, gaps = np.empty((len(pairs.nodes), 4)), np.empty(len(pairs.nodes))
    pair_loops.set_nearest(q, pairs.nodes, pairs.edge_edge, c, gaps)
    return c, gaps
