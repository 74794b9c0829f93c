"""The strain energy of linear neo-Hookean tetrahedra: the fast path of `symplex.fem.solids.solid`."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from math import inf, isfinite
from typing import Any, final

import numpy as np

from symplex.errors import InvertedElement
from symplex.fem.blocks import Blocks
from symplex.fem.energy import Array, Energy, IntArray, LatticeFunctions
from symplex.fem.solids import mean_tetrahedra, neo_hookean, neo_hookean_discrete, secant_tetrahedra, tetrahedra
from symplex.fem.solids.materials import NeoHookean


@final
class NeoHookeanTetrahedra(Energy):
    """The strain energy of linear tetrahedra of a neo-Hookean material, with kernels of their own.

    `Solid` makes it, and checks the arrays that are handed to it: all are contiguous and of the right shape.

    Parameters
    ----------
    points : float64 [n, 3]
        Undeformed positions in m of the nodes of the whole mesh.
    nodes : int32 [m, 4]
        The nodes of the tetrahedra.
    material : NeoHookean

    Attributes
    ----------
    volumes : float64 [m]
        Undeformed volumes in m³.

    Raises
    ------
    MeshError
        If an undeformed element is inverted or flat.
    """

    def __init__(self, points: Array, nodes: IntArray, material: NeoHookean):
        self.points = points
        self.nodes = nodes
        self.material = material
        self.volumes = tetrahedra.checked_volumes(points, nodes)

    # -- local functions --------------------------------------------------------------------------------------

    def value(self, x: Array) -> Array:
        """Return the strain energies [m] in J of the elements with nodes at x [m, 4, 3]."""
        return self._local(neo_hookean.value, (x,), np.empty(len(x)))

    def gradient(self, x: Array) -> Array:
        """Return ∂φ/∂x [m, 4, 3] in N of the elements with nodes at x [m, 4, 3]."""
        return self._local(neo_hookean.gradient, (x,), np.empty((len(x), 4, 3)))

    def hessian(self, x: Array) -> Array:
        """Return ∂²φ/∂x² [m, 12, 12] in N/m of the elements with nodes at x [m, 4, 3]."""
        return self._local(neo_hookean.hessian, (x,), np.empty((len(x), 12, 12)))

    def discrete_gradient(self, x0: Array, x1: Array) -> Array:
        """Return DG [m, 4, 3] in N with DG·(x1 − x0) = φ(x1) − φ(x0), for x0 and x1 [m, 4, 3] (closed form).

        Of each element its forces sum to zero, and so do their moments at the mean positions (x0 + x1)/2.
        """
        return self._local(neo_hookean_discrete.gradient, (x0, x1), np.empty((len(x0), 4, 3)))

    def discrete_hessian(self, x0: Array, x1: Array) -> Array:
        """Return ∂DG/∂x1 [m, 12, 12] in N/m, which is not symmetric."""
        return self._local(neo_hookean_discrete.hessian, (x0, x1), np.empty((len(x0), 12, 12)))

    def secant(self, x: Array) -> Array:
        """Return 𝓕 [m, 4, 4] in N/m of the elements with nodes at x [m, 4, 3]."""
        return self._local(secant_tetrahedra.secant, (x,), np.empty((len(x), 4, 4)))

    def secant_rate(self, x: Array, v: Array) -> Array:
        """Return 𝓕̇ [m, 4, 4] in N/(m s) of the elements with nodes at x that move with v [m, 4, 3]."""
        return self._local(secant_tetrahedra.secant_rate, (x,), v, np.empty((len(x), 4, 4)))

    def third(self, x: Array, a: Array) -> Array:
        """Return ∇³φ[a, a] [m, 4, 3] of the elements with nodes at x along a [m, 4, 3] (closed form)."""
        from symplex.fem.solids import third_tetrahedra  # compiled when first needed

        return self._local(third_tetrahedra.third, (x,), np.ascontiguousarray(a), np.empty((len(x), 4, 3)))

    def mean_gradient(self, x0: Array, x1: Array) -> Array:
        """Return the forces of the mean strains [m, 4, 3] in N, for x0 and x1 [m, 4, 3]."""
        return self._local(mean_tetrahedra.gradient, (x0, x1), np.empty((len(x0), 4, 3)))

    def mean_hessian(self, x0: Array, x1: Array) -> Array:
        """Return their derivatives with x1 [m, 12, 12] in N/m, not symmetric."""
        return self._local(mean_tetrahedra.hessian, (x0, x1), np.empty((len(x0), 12, 12)))

    def local_value(self, stencil: int, x: Array) -> float:
        """Return φ in J of one element with nodes at x [4, 3]; infinite where it is inverted."""
        out = np.empty(1)
        constants = self._constants[stencil : stencil + 1]
        inverted = neo_hookean.value(np.ascontiguousarray(x[None], dtype=float), constants, *self._moduli, out)
        return inf if inverted >= 0 else float(out[0])

    def lattice_functions(self, axes: Array | None = None) -> LatticeFunctions:
        """Return compiled functions of one element (in any axes: W is objective); infinite where it is inverted."""
        from symplex.fem.grid.lattice import neo_hookean_lattice  # compiled when first needed

        G = tetrahedra.shape_gradients(self.points, self.nodes)
        return neo_hookean_lattice(*self._moduli, self.volumes, G)

    def _local(self, kernel: Callable[..., int], positions: tuple[Array, ...], *arguments: Array) -> Array:
        """Run a kernel at gathered positions, and return the last of its arguments, which it sets."""
        if kernel(*positions, self._constants, *self._moduli, *arguments) >= 0:
            raise self._inverted(*positions)
        return arguments[-1]

    # -- assembled forms --------------------------------------------------------------------------------------

    def total(self, q: Array) -> float:
        """Return the energy in J at the nodal positions q [n, 3]."""
        return sum(self._run(neo_hookean.total, (q,)))

    def add_gradient(self, q: Array, out: Array) -> None:
        """Add the gradient in N at the nodal positions q [n, 3] to out [n, 3]."""
        self._run(neo_hookean.add_gradient, (q,), out)

    def add_hessian(self, q: Array, slots: IntArray, out: Array) -> None:
        """Add the Hessian in N/m at the nodal positions q [n, 3] to the blocks out [nnz, 3, 3] (see `Energy`)."""
        self._run(neo_hookean.add_hessian, (q,), self._blocks.elements, slots, out)

    def add_discrete_gradient(self, q0: Array, q1: Array, out: Array) -> None:
        """Add the discrete gradient in N from q0 to q1 [n, 3] to out [n, 3]."""
        self._run(neo_hookean_discrete.add_gradient, (q0, q1), out)

    def add_increment_gradient(self, q: Array, low: Array, dq: Array, out: Array) -> None:
        """Add the discrete gradient in N from q + low to q + low + Δq [n, 3] to out [n, 3] (see `Energy`)."""
        results = self._blocks.run(neo_hookean_discrete.add_increment_gradient, q, low, dq, *self._in_blocks, out)
        if not all(map(isfinite, results)):
            raise self._inverted(*(x[self.nodes] for x in (q, q + dq)))

    def add_discrete_hessian(self, q0: Array, q1: Array, slots: IntArray, out: Array) -> None:
        """Add ∂DG/∂q1 in N/m from q0 to q1 [n, 3] to the blocks out [nnz, 3, 3] (see `Energy`)."""
        self._run(neo_hookean_discrete.add_hessian, (q0, q1), self._blocks.elements, slots, out)

    def add_secant(self, q: Array, slots: IntArray, out: Array) -> None:
        """Add 𝓕 in N/m at the nodal positions q [n, 3] to the values out [nnz] (see `Energy`)."""
        self._run(secant_tetrahedra.add_secant, (q,), self._blocks.elements, slots, out)

    def add_secant_rate(self, q: Array, v: Array, slots: IntArray, out: Array) -> None:
        """Add 𝓕̇ in N/(m s) at the positions q along the velocities v [n, 3] to the values out [nnz] (see `Energy`)."""
        self._run(secant_tetrahedra.add_secant_rate, (q,), v, self._blocks.elements, slots, out)

    def add_third(self, q: Array, a: Array, out: Array) -> None:
        """Add ∇³V[a, a] at the nodal positions q along a [n, 3] to out [n, 3]."""
        from symplex.fem.solids import third_tetrahedra  # compiled when first needed

        self._run(third_tetrahedra.add_third, (q,), a, out)

    def add_mean_gradient(self, q0: Array, q1: Array, out: Array) -> None:
        """Add the forces of the mean strains in N from q0 to q1 [n, 3] to out [n, 3]."""
        self._run(mean_tetrahedra.add_gradient, (q0, q1), out)

    def add_mean_hessian(self, q0: Array, q1: Array, slots: IntArray, out: Array) -> None:
        """Add their derivatives with q1 in N/m to the blocks out [nnz, 3, 3] (see `Energy`)."""
        self._run(mean_tetrahedra.add_hessian, (q0, q1), self._blocks.elements, slots, out)

    def _run(self, kernel: Callable[..., Any], positions: tuple[Array, ...], *arguments: Any) -> list[Any]:
        """Run a kernel on all blocks, and return what it returns for each slab."""
        results = self._blocks.run(kernel, *positions, *self._in_blocks, *arguments)
        if not all(map(isfinite, results)):
            raise self._inverted(*(q[self.nodes] for q in positions))
        return results

    @cached_property
    def _blocks(self) -> Blocks:
        return Blocks(self.nodes, self.points)

    @cached_property
    def _in_blocks(self) -> tuple:
        """What the kernels on blocks need besides positions."""
        return self._blocks.nodes, self._blocks.counts, self._blocks.pack(self._stiffness()), *self._moduli

    @cached_property
    def _constants(self) -> Array:
        """What the kernels on gathered positions need; not made for runs that only assemble."""
        return self._stiffness()

    def _stiffness(self) -> Array:
        """Return k_11, k_22, k_33, k_12, k_13, k_23 in N/m and 1/D in 1/m³ [m, 7] (see `neo_hookean`)."""
        out = np.empty((len(self.nodes), neo_hookean.CONSTANTS))
        neo_hookean.constants(self.points[self.nodes], self.material.mu, out)
        return out

    @property
    def _moduli(self) -> tuple[float, float]:
        return self.material.lmbda, self.material.mu

    # -- strain and stress, for output ------------------------------------------------------------------------

    def deformation_gradients(self, q: Array) -> Array:
        """Return F [m, 3, 3] at the nodal positions q [n, 3]."""
        return tetrahedra.deformation_gradients(self.points, self.nodes, q)

    def jacobians(self, q: Array) -> Array:
        """Return J = det F [m], deformed over undeformed volume, at the nodal positions q [n, 3]."""
        return tetrahedra.volumes(q, self.nodes) / self.volumes

    def first_piola(self, q: Array) -> Array:
        """Return P = ∂W/∂F = μ F + (λ ln J − μ) F⁻ᵀ [m, 3, 3] in Pa at the nodal positions q [n, 3].

        Raises
        ------
        InvertedElement
            If det F ≤ 0 anywhere.
        """
        J = self.jacobians(q)
        if not np.all(J > 0):
            raise self._inverted(q[self.nodes])
        F = self.deformation_gradients(q)
        p = self.material.lmbda * np.log(J) - self.material.mu
        return self.material.mu * F + p[:, None, None] * np.linalg.inv(F).transpose(0, 2, 1)

    def cauchy(self, q: Array) -> Array:
        """Return the Cauchy stress σ = P Fᵀ / J [m, 3, 3] in Pa at the nodal positions q [n, 3].

        Raises
        ------
        InvertedElement
            If det F ≤ 0 anywhere.
        """
        out = np.empty((len(self.nodes), 3, 3))
        self._run(neo_hookean.cauchy, (q,), self._blocks.elements, out)
        return out

    # -- failures ---------------------------------------------------------------------------------------------

    def _inverted(self, *positions: Array) -> InvertedElement:
        """Return the error about the first element with J ≤ 0 (or else the smallest J) at positions x [m, 4, 3]."""
        with np.errstate(all="ignore"):  # positions may be infinite
            J = np.min([tetrahedra.determinants(tetrahedra.edges(x)) for x in positions], axis=0) / (6.0 * self.volumes)
        bad = np.flatnonzero(~(J > 0))
        element = int(bad[0]) if len(bad) else int(np.argmin(J))
        nodes = ", ".join(map(str, self.nodes[element]))
        return InvertedElement(
            f"element {element} (nodes {nodes}) is inverted: det F = {J[element]:.3g}, and must be positive. "
            "Try a smaller step, a finer mesh there, or a softer impact.",
            element,
        )
