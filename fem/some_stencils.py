"""Energies of some of the stencils of others, on nodes that have other numbers there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np
from numpy.typing import NDArray

from symplex.errors import InvertedElement, MaterialFailed
from symplex.fem.assembly import forms
from symplex.fem.assembly.calls import Call
from symplex.fem.assembly.forms import Form
from symplex.fem.energies.contact_energy import ContactEnergy, contact_of
from symplex.fem.energies.energy import Array, Energy, IntArray
from symplex.fem.solids.failures import named_in_all


@final
class SomeStencils:
    """Some stencils of an energy, or all of one that is not divisible, as its own energy.

    Parameters
    ----------
    energy : Energy
    chosen : int [s]
        Which stencils these are.
    nodes : int32 [s, k]
        The stencils, with the numbers that nodes have here.
    dim : int
        Dimension of space.

    Attributes
    ----------
    energy : Energy
        That of these stencils.
    """

    def __init__(self, energy: Energy, chosen: NDArray[np.intp], nodes: NDArray[np.integer], dim: int):
        nodes = np.ascontiguousarray(nodes, np.int32)
        self._chosen, self._nodes, self._named, self._dim = chosen, nodes, energy.nodes[chosen], dim
        self.energy = energy.of_some(chosen, nodes) if energy.is_divisible(dim) else _Renumbered(energy, nodes)

    def calls(self) -> Sequence[Call] | None:
        """Return the calls by which the gradient is added up on one thread; None if there are none.

        They add what `add_gradient` adds, to the last bit.
        """
        return self.energy.calls(forms.GRADIENT, self._dim)

    @property
    def widest(self) -> int:
        """How many threads may add up the gradient together at most."""
        return self.energy.widest

    def add_gradient(self, q: Array, out: Array) -> None:
        """Add the gradient in N at the nodal positions q [l, dim] to out [l, dim]."""
        try:
            self.energy.add_gradient(q, out)
        except (InvertedElement, MaterialFailed) as error:
            raise named_in_all(error, self._nodes, self._chosen, self._named) from None


@final
class _Renumbered(ContactEnergy):
    """All stencils of an energy, on nodes with other numbers."""

    def __init__(self, energy: Energy, nodes: IntArray):
        self._energy, self.nodes = energy, nodes

    def value(self, x: Array) -> Array:
        """Return the local energies φ [m] in J at the positions x [m, k, dim] in m."""
        return self._energy.value(x)

    def gradient(self, x: Array) -> Array:
        """Return ∂φ/∂x [m, k, dim] in N at the positions x [m, k, dim] in m."""
        return self._energy.gradient(x)

    def calls(self, form: Form, dim: int) -> Sequence[Call] | None:
        """Return those of the energy, over these nodes."""
        calls = self._energy.calls(form, dim)
        return calls and [call._replace(record=call.record.replace(nodes=self.nodes)) for call in calls]

    def contact_stiffness_bound(self, n_nodes: int) -> Array:
        """Return that of the energy per node [n] in N/m, on these nodes."""
        latent = np.zeros(n_nodes)
        of_all = contact_of(self._energy).contact_stiffness_bound(int(self._energy.nodes.max(initial=-1)) + 1)
        latent[self.nodes.ravel()] = of_all[self._energy.nodes.ravel()]
        return latent
