"""The sum of named energies: all of their forms assembled, on one pattern."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from symplex.base.sparse import sp
from symplex.errors import InvalidSystem, StepFailed
from symplex.fem.assembly import forms
from symplex.fem.assembly.copying import Copyable
from symplex.fem.assembly.forms import Form, OptionalFunction
from symplex.fem.assembly.inner_products import inner
from symplex.fem.assembly.pattern import IntArray, Pattern
from symplex.fem.energies.contact_energy import ContactEnergy, contact_of
from symplex.fem.energies.energy import Array, Energy
from symplex.fem.energies.neighbour_list import IncompleteStencils, NeighbourListEnergy


class Potential(Copyable):
    """V(q), a sum of named energies of n nodes.

    Attributes
    ----------
    energies : dict of str to Energy
    n_nodes : int
    dim : int
        Dimension of space.
    """

    def __init__(self, energies: dict[str, Energy], n_nodes: int, dim: int):
        self.energies = energies
        self.n_nodes = n_nodes
        self.dim = dim
        self._pattern: tuple[tuple[int, ...], Pattern] | None = None

    # -- energies and forces ------------------------------------------------------------------------------

    def potential(self, q: Array) -> float:
        """Return V(q) in J."""
        return sum(self.potentials(q).values())

    def potentials(self, q: Array) -> dict[str, float]:
        """Return the energies in J at the nodal positions q [n, dim] by name."""
        return {name: energy.total(q) for name, energy in self.energies.items()}

    def assembled(
        self, form: Form, *nodal: Array, out: Array | None = None, among: Container[str] | None = None
    ) -> Array:
        """Return a form of all energies together.

        Parameters
        ----------
        form : Form
            One of `symplex.fem.assembly.forms`.
        *nodal : float64 [n, dim]
            What its local function takes, for all nodes.
        out : float64, optional
            What the result is written to: nodal vectors [n, dim], or the blocks [nnz, dim, dim] or values [nnz] of a
            matrix on `pattern`.
        among : container of str, optional
            The names of the energies that have a part in it; default: all.
        """
        slots = self.pattern.slots if form.is_matrix else ()
        if out is None:
            nnz = len(self.pattern.indices) if form.is_matrix else 0
            out = np.zeros(form.shape(self.n_nodes, nnz, self.dim))
        else:
            out.fill(0.0)
        for k, (name, energy) in enumerate(self.energies.items()):
            if among is None or name in among:
                getattr(energy, form.add)(*nodal, *slots[k : k + 1], out)
        return out

    def gradient(self, q: Array, out: Array | None = None) -> Array:
        """Return ∇V(q) [n, dim] in N (into ``out`` if given), fixed coordinates included."""
        if out is None:
            out = np.zeros((self.n_nodes, self.dim))
        else:
            out.fill(0.0)
        self._add_gradient(q, out)
        return out

    def step_gradient(self, q: Array, out: Array) -> None:
        """Add ∇V(q) [n, dim] in N at the end of an explicit step to out, which is zero.

        Of a system on several ranks `share` is part of it: q is set at nodes that have their equations elsewhere.
        """
        self._add_gradient(q, out)

    def _add_gradient(self, q: Array, out: Array) -> None:
        for energy in self.energies.values():  # as `assembled` does, in the loop of explicit steps
            energy.add_gradient(q, out)

    def hessian(self, q: Array) -> sp.bsr_array:
        """Return ∇²V(q) [n·dim, n·dim] in N/m in dim × dim blocks, fixed coordinates included.

        The pattern is always that of `pattern`; only the values are new.
        """
        return self.pattern.matrix(self.hessian_blocks(q))

    def hessian_blocks(self, q: Array, out: Array | None = None) -> Array:
        """Return the blocks [nnz, dim, dim] of ∇²V(q) in N/m on `pattern` (in ``out`` if given)."""
        return self.assembled(forms.HESSIAN, q, out=out)

    def hessian_product(self, q: Array, a: Array, out: Array | None = None) -> Array:
        """Return ∇²V(q) a [n, dim] along a [n, dim] (in ``out`` if given), fixed coordinates included."""
        return self.assembled(forms.HESSIAN_PRODUCT, q, a, out=out)

    def discrete_gradient(self, q0: Array, q1: Array, out: Array | None = None) -> Array:
        """Return the discrete gradient [n, dim] in N from q0 to q1 (in ``out`` if given), fixed coordinates included.

        DG·(q1 − q0) = V(q1) − V(q0); see `Energy.discrete_gradient`.
        """
        return self.assembled(forms.DISCRETE_GRADIENT, q0, q1, out=out)

    def increment_gradient(self, q: Array, compensation: Array, dq: Array, out: Array) -> Array:
        """Write the discrete gradient [n, dim] in N from q + c to q + c + Δq, c the compensation, to out.

        See `Energy.increment_gradient`.
        """
        return self.assembled(forms.INCREMENT_GRADIENT, q, compensation, dq, out=out)

    def discrete_hessian(self, q0: Array, q1: Array) -> sp.bsr_array:
        """Return ∂DG/∂q1 [n·dim, n·dim] in N/m as `hessian` returns ∇²V; it need not be symmetric."""
        return self.pattern.matrix(self.discrete_hessian_blocks(q0, q1))

    def discrete_hessian_blocks(self, q0: Array, q1: Array, out: Array | None = None) -> Array:
        """Return the blocks [nnz, dim, dim] of ∂DG/∂q1 in N/m on `pattern` (in ``out`` if given)."""
        return self.assembled(forms.DISCRETE_HESSIAN, q0, q1, out=out)

    def mean_gradient(self, q0: Array, q1: Array) -> Array:
        """Return the gradient [n, dim] in N at mean strains from q0 to q1; see `Energy.mean_gradient`.

        Energies without strains (gravity, contact) give their discrete gradient.
        """
        strained = self.having("mean_gradient")
        out = self.assembled(forms.MEAN_GRADIENT, q0, q1, among=strained)
        return out + self.assembled(forms.DISCRETE_GRADIENT, q0, q1, among=self.energies.keys() - strained)

    def third(self, q: Array, a: Array) -> Array:
        """Return ∇³V[a, a] [n, dim] at q along a [n, dim]; see `Energy.third`."""
        return self.assembled(forms.THIRD, q, a)

    def having(self, optional: OptionalFunction) -> set[str]:
        """Return the names of the energies that have an optional function (see `Energy.has`)."""
        return {name for name, energy in self.energies.items() if energy.has(optional)}

    def require(self, optional: OptionalFunction, required_by: str) -> None:
        """Check that all energies have an optional function (see `Energy.has`)."""
        for name, energy in self.energies.items():
            if not energy.has(optional):
                raise InvalidSystem(f"{required_by}: {energy.lacks(optional, name)}")

    # -- stencils and pattern -------------------------------------------------------------------------------

    @cached_property
    def changing(self) -> dict[str, NeighbourListEnergy]:
        """The energies whose stencils change, by name."""
        return {name: energy for name, energy in self.energies.items() if isinstance(energy, NeighbourListEnergy)}

    def update_neighbours(self, q: Array) -> bool:
        """Let energies renew their stencils at the positions q [n, dim]; return whether any did.

        To be called between steps; the pattern changes with the stencils.
        """
        return any([energy.renewed(q) for energy in self.changing.values()])

    def follow(self, gone: Mapping[str, NDArray[np.bool_]]) -> None:
        """Let energies take which elements are gone (see `System.gone`)."""
        for energy in self.changing.values():
            energy.follow(gone)

    def extend_list(self, ends: tuple[Array, ...]) -> bool:
        """Let energies find their stencils for the ends [n, dim] of a step that goes far; return whether any did.

        After the step, `settle` finds those of its end alone.
        """
        return any([energy.extend_list(ends) for energy in self.changing.values()])

    def covering(self, assemble: Callable[[], None]) -> None:
        """Assemble matrices by a function, once more if the stencils have to be found for a step that goes far."""
        try:
            assemble()
        except IncompleteStencils as error:
            self.extend_list(error.ends)
            assemble()

    def settle(self, q: Array) -> None:
        """Let energies that have found their stencils for a step find those at its end q [n, dim] alone."""
        for energy in self.changing.values():
            energy.settle(q)

    @property
    def list_positions(self) -> dict[str, Array]:
        """The positions [n, dim] at which each energy has found its stencils, which follow from them.

        To set it brings the stencils of that time back.
        """
        return {name: energy.list_positions for name, energy in self.changing.items()}

    @list_positions.setter
    def list_positions(self, positions: Mapping[str, Array]) -> None:
        for name, q in positions.items():
            if self.changing[name].list_positions is not q:
                self.changing[name].build_list(q)

    @property
    def pattern(self) -> Pattern:
        """The sparsity pattern of all matrices: the same object as long as no energy renews its stencils."""
        versions = tuple(energy.version for energy in self.changing.values())
        if self._pattern is None or self._pattern[0] != versions:
            stencils = [energy.nodes for energy in self.energies.values()] + self._other_stencils()
            self._pattern = versions, Pattern(self.n_nodes, stencils)
        return self._pattern[1]

    def _other_stencils(self) -> list[IntArray]:
        """Return stencils [m, k] of other matrices that the pattern has room for."""
        return []

    # -- what must not pass through each other ----------------------------------------------------------------

    @cached_property
    def collision_checked(self) -> list[ContactEnergy]:
        """The energies of what must not pass through each other."""
        return [contact for contact in map(contact_of, self.energies.values()) if contact.impenetrable]

    def check_start(self, q: Array) -> None:
        """Check that a motion can begin at the nodal positions q [n, dim] (see `ContactEnergy.check_start`)."""
        for energy in self.collision_checked:
            energy.check_start(q)

    def collision_free_fraction(self, q0: Array, q1: Array) -> float:
        """Return a part in [0, 1] of the straight way from q0 to q1 [n, dim] on which nothing passes through."""
        return min((energy.collision_free_fraction(q0, q1) for energy in self.collision_checked), default=1.0)

    def require_no_crossing(self, q0: Array, q1: Array) -> None:
        """Check that nothing has passed through on the straight way from q0 to q1 [n, dim]."""
        for energy in self.collision_checked:
            if what := energy.find_penetration(q0, q1):
                raise StepFailed(f"{what}. Try a smaller step, or a stiffer contact.")

    # -- sums over nodes --------------------------------------------------------------------------------------
    #
    # Energies, momenta, Newton's method and the work of most loads take their sums from here, so that a system may have
    # its nodes on several ranks (`symplex.parallel.part_system`).

    @property
    def n_own(self) -> int:
        """How many nodes have their equations here: all of them, unless others come after these."""
        return self.n_nodes

    def dot(self, a: Array, b: Array) -> float:
        """Return Σ a·b over the nodes, of nodal vectors a and b [n, …]."""
        return inner(a, b)

    def sum(self, x: Array) -> Array:
        """Return the sum [...] over the nodes of x [n, …]."""
        return x.sum(axis=0)

    def totals(self, *numbers: float) -> tuple[float, ...]:
        """Return the sum over all ranks of each of some numbers."""
        return numbers

    def agreed(self, part: Callable[[], float]) -> float:
        """Return the sum over all ranks of what a function returns there; what it raises on one, it raises on all."""
        return part()

    def share(self, x: Array) -> None:
        """Set a nodal vector x [n, dim] at nodes that have their equations elsewhere to what it is there."""

    def foremost(self, x: Array) -> tuple[int, float, list[str]]:
        """Return the node with the largest of numbers x [n], this number, and the names of energies that act there."""
        node = int(np.argmax(x))
        return node, float(x[node]), self.acting(node)

    def acting(self, node: int) -> list[str]:
        """Return the names of the energies that act on a node."""
        return [name for name, energy in self.energies.items() if np.any(energy.nodes == node)]
