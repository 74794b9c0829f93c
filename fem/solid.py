"""The strain energy of an elastic body of linear tetrahedra."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from math import isfinite
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symplex.errors import InvalidSystem, InvertedElement
from symplex.fem import neo_hookean, neo_hookean_discrete, tetrahedra
from symplex.fem.blocks import Blocks
from symplex.fem.energy import Array, Energy, IntArray, LatticeFunctions
from symplex.fem.materials import NeoHookean
from symplex.fem.nodes import require_nodes


@final
class Solid(Energy):
    """The strain energy of linear tetrahedra of one material, a sum over elements of V W(F).

    Parameters
    ----------
    points : float64 [n, 3]
        Undeformed positions in m of the nodes of the whole mesh.
    cells : int [m, 4]
        The nodes of the tetrahedra.
    material : NeoHookean

    Attributes
    ----------
    nodes : int32 [m, 4]
        The nodes of the tetrahedra.
    volumes : float64 [m]
        Undeformed volumes in m³.

    Raises
    ------
    InvalidSystem
        If the shapes of points or cells do not fit.
    MeshError
        If an undeformed element is inverted or flat.
    """

    def __init__(self, points: ArrayLike, cells: ArrayLike, material: NeoHookean):
        self.points = np.array(points, dtype=float, order="C")  # a copy: bodies move, what is undeformed stays
        self.nodes = np.ascontiguousarray(cells, dtype=np.int32)
        self.material = material
        self._check()
        self.volumes = tetrahedra.checked_volumes(self.points, self.nodes)

    def _check(self) -> None:
        if self.points.ndim != 2 or self.points.shape[1] != 3:
            raise InvalidSystem(f"Solid: points have shape {self.points.shape}, wanted (n, 3).")
        if self.nodes.ndim != 2 or self.nodes.shape[1] != 4:
            raise InvalidSystem(f"Solid: cells have shape {self.nodes.shape}, wanted (m, 4).")
        require_nodes("Solid", self.nodes, len(self.points))

    def restrict(self, indices: ArrayLike | NDArray[np.bool_]) -> Solid:
        """Return the energy of the elements with the given indices (or mask) only."""
        chosen = np.asarray(indices) if np.size(indices) else slice(0)
        return Solid(self.points, self.nodes[chosen], self.material)

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

    def lattice_functions(self, axes: Array | None = None) -> LatticeFunctions:
        """Return compiled functions of one element (in any axes: W is objective); infinite where it is inverted."""
        from symplex.fem.lattice import neo_hookean_lattice  # compiled when first needed

        G = tetrahedra.shape_gradients(self.points, self.nodes)
        return neo_hookean_lattice(*self._moduli, self.volumes, G)

    def _local(self, kernel: Callable[..., int], positions: tuple[Array, ...], out: Array) -> Array:
        for x in positions:
            if x.shape != (len(self.nodes), 4, 3):
                wanted = (len(self.nodes), 4, 3)
                raise InvalidSystem(f"Solid: gathered positions have shape {x.shape}, wanted {wanted}.")
        contiguous = (np.ascontiguousarray(x, dtype=float) for x in positions)
        if kernel(*contiguous, self._constants, *self._moduli, out) >= 0:
            raise self._inverted(*positions)
        return out

    # -- assembled forms --------------------------------------------------------------------------------------

    def total(self, q: Array) -> float:
        """Return the energy in J at the nodal positions q [n, 3]."""
        return sum(self._run(neo_hookean.total, (q,)))

    def add_gradient(self, q: Array, out: Array) -> None:
        """Add the gradient in N at the nodal positions q [n, 3] to out [n, 3]."""
        self._require_like(q, out)
        self._run(neo_hookean.add_gradient, (q,), out)

    def add_hessian(self, q: Array, slots: IntArray, out: Array) -> None:
        """Add the Hessian in N/m at the nodal positions q [n, 3] to the blocks out [nnz, 3, 3] (see `Energy`)."""
        self._require_blocks(out)
        self._run(neo_hookean.add_hessian, (q,), self._blocks.elements, slots, out)

    def add_discrete_gradient(self, q0: Array, q1: Array, out: Array) -> None:
        """Add the discrete gradient in N from q0 to q1 [n, 3] to out [n, 3]."""
        self._require_like(q1, out)
        self._run(neo_hookean_discrete.add_gradient, (q0, q1), out)

    def add_discrete_hessian(self, q0: Array, q1: Array, slots: IntArray, out: Array) -> None:
        """Add ∂DG/∂q1 in N/m from q0 to q1 [n, 3] to the blocks out [nnz, 3, 3] (see `Energy`)."""
        self._require_blocks(out)
        self._run(neo_hookean_discrete.add_hessian, (q0, q1), self._blocks.elements, slots, out)

    def _require_like(self, q: Array, out: Array) -> None:
        if out.shape != q.shape or not out.flags.c_contiguous:  # the kernel would write elsewhere, or to a copy
            raise InvalidSystem(f"Solid: the gradient has shape {out.shape}, wanted a contiguous array {q.shape}.")

    def _require_blocks(self, out: Array) -> None:
        if out.shape[1:] != (3, 3) or not out.flags.c_contiguous:  # as above
            raise InvalidSystem(f"Solid: the Hessian has shape {out.shape}, wanted a contiguous array (nnz, 3, 3).")

    def _run(self, kernel: Callable[..., Any], positions: tuple[Array, ...], *arguments: Any) -> list[Any]:
        """Run a kernel on all blocks, and return what it returns for each slab."""
        positions = tuple(np.ascontiguousarray(q, dtype=float) for q in positions)
        for q in positions:
            if q.ndim != 2 or q.shape[1] != 3 or len(q) < self._least_nodes:
                raise InvalidSystem(f"Solid: positions have shape {q.shape}, wanted ({len(self.points)}, 3).")
        results = self._blocks.run(kernel, *positions, *self._in_blocks, *arguments)
        if not all(map(isfinite, results)):
            raise self._inverted(*(q[self.nodes] for q in positions))
        return results

    @cached_property
    def _least_nodes(self) -> int:
        return int(self.nodes.max(initial=-1)) + 1

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

    def von_mises(self, q: Array) -> Array:
        """Return the von Mises stress √(3/2 s:s) [m] in Pa, s the deviator of σ, at the nodal positions q [n, 3].

        Raises
        ------
        InvertedElement
            If det F ≤ 0 anywhere.
        """
        sigma = self.cauchy(q)
        sigma[:, [0, 1, 2], [0, 1, 2]] -= np.trace(sigma, axis1=1, axis2=2)[:, None] / 3.0
        return np.sqrt(1.5 * np.einsum("eij,eij->e", sigma, sigma))

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
