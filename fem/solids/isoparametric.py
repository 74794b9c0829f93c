"""The strain energy of isoparametric elements with any law.

At the points of a rule of quadrature, with undeformed gradients ∇N_a and weights w (times the Jacobian),

    F = Σ_a x_a ⊗ ∇N_a,  C = FᵀF,    φ = Σ w W(C),    f_a = Σ w F S ∇N_a,
    ∂f_a/∂x_b = Σ w (F_iI ℂ_IKJL F_jJ + δ_ij S_KL) ∂_K N_a ∂_L N_b.

The discrete gradient takes F_m = (F0 + F1)/2 and the discrete stress S*(C0, C1) of the law instead of F and S. It does
exactly the work Σ w S* : (C1 − C0)/2 of the energy, since C1 − C0 = 2 sym F_mᵀ(F1 − F0), and keeps both momenta. Its
tangent is

    ∂f_a/∂x1_b = Σ w (F_m,iI ℂ*_IKJL F1_jJ + ½ δ_ij S*_KL) ∂_K N_a ∂_L N_b,    ℂ* = 2 ∂S*/∂C1.

The forces of the mean strains take S((C0 + C1)/2) for S*. The secant matrices, which
give f_a = Σ_b 𝓕_ab x_b, and their rates are

    𝓕_ab = Σ w ∇N_a·S ∇N_b,    𝓕̇_ab = Σ w ∇N_a·Ṡ ∇N_b,    Ṡ = ℂ : FᵀḞ.

Laws that are not objective see C = 1 + 2 sym(F − 1), and 1 stands for all F in the sums, 0 for the δ.

Elements are taken some blocks (`symplex.fem.blocks`) at a time: compiled loops find F and C of all their points, the
law is called once with all of them, and compiled loops integrate what it returns.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from math import inf, isfinite
from typing import final

import numpy as np
from numpy.typing import NDArray

from symplex.errors import InvertedElement, MaterialFailed
from symplex.fem.assembly import scatter_blocks, scatter_values, scatter_vectors
from symplex.fem.blocks import Blocks
from symplex.fem.energy import Array, Energy, IntArray
from symplex.fem.solids import element_kernels, elements, failures, tensors, third_solid
from symplex.fem.solids.elements import Element
from symplex.fem.solids.materials import Material

TOGETHER = 4  # blocks for which a law is called once, so that the call itself costs little


@final
class Isoparametric(Energy):
    """The strain energy of elements of one type and one material.

    `Solid` makes it, and checks the arrays that are handed to it: all are contiguous and of the right shape.

    Parameters
    ----------
    element : Element
    points : float64 [n, 3]
        Undeformed positions in m of the nodes of the whole mesh.
    nodes : int32 [m, k]
        The nodes of the elements.
    material : Material

    Attributes
    ----------
    volumes : float64 [m]
        Undeformed volumes in m³.

    Raises
    ------
    MeshError
        If an undeformed element has no positive volume everywhere.
    """

    def __init__(self, element: Element, points: Array, nodes: IntArray, material: Material):
        self.element = element
        self.nodes = nodes
        self.material = material
        _, slopes = element.shapes(element.stiffness.points)
        J = elements.jacobians(points, nodes, slopes)
        det = elements.checked_determinants(element, nodes, J)
        # ∇N_a = J⁻ᵀ ∂N_a/∂ξ = cof J ∂N_a/∂ξ / det J
        cofactors = tensors.cofactors(J.reshape(-1, 3, 3)).reshape(J.shape) / det[:, :, None, None]
        gradients = np.einsum("egij,gaj->egia", cofactors, slopes, optimize=True)
        weights = det * element.stiffness.weights
        self.volumes = weights.sum(axis=1)
        # Everything is kept in the order of the blocks, so that a block is a slice.
        self.blocks = Blocks(nodes, points)
        self._order = self.blocks.elements[self.blocks.elements >= 0]
        self._ends = np.cumsum(self.blocks.counts)
        self._nodes, self._weights = nodes[self._order], weights[self._order]
        self._gradients = np.ascontiguousarray(gradients[self._order])

    # -- local functions --------------------------------------------------------------------------------------

    def value(self, x: Array) -> Array:
        """Return the strain energies [m] in J of the elements with nodes at x [m, k, 3]."""
        return self._local(self._energies, (x,), ())

    def gradient(self, x: Array) -> Array:
        """Return ∂φ/∂x [m, k, 3] in N of the elements with nodes at x [m, k, 3]."""
        return self._local(self._forces, (x,), x.shape[1:])

    def hessian(self, x: Array) -> Array:
        """Return ∂²φ/∂x² [m, 3k, 3k] in N/m of the elements with nodes at x [m, k, 3]."""
        return self._local(self._stiffness, (x,), (3 * x.shape[1],) * 2)

    def discrete_gradient(self, x0: Array, x1: Array) -> Array:
        """Return DG [m, k, 3] in N with DG·(x1 − x0) = φ(x1) − φ(x0), for x0 and x1 [m, k, 3]."""
        return self._local(self._discrete_forces, (x0, x1), x0.shape[1:])

    def discrete_hessian(self, x0: Array, x1: Array) -> Array:
        """Return ∂DG/∂x1 [m, 3k, 3k] in N/m, which is not symmetric."""
        return self._local(self._discrete_stiffness, (x0, x1), (3 * x0.shape[1],) * 2)

    def secant(self, x: Array) -> Array:
        """Return 𝓕 [m, k, k] in N/m of the elements with nodes at x [m, k, 3]."""
        return self._local(self._secants, (x,), (x.shape[1],) * 2)

    def secant_rate(self, x: Array, v: Array) -> Array:
        """Return 𝓕̇ [m, k, k] in N/(m s) of the elements with nodes at x that move with v [m, k, 3]."""

        def integrate(part: slice, F: Array, C: Array) -> Array:
            return self._secant_rates(part, F, C, v[self._order[part]])

        return self._local(integrate, (x,), (x.shape[1],) * 2)

    def third(self, x: Array, a: Array) -> Array:
        """Return ∇³φ[a, a] [m, k, 3] of the elements with nodes at x along a [m, k, 3]."""
        return self._local(self._along(lambda part: a[self._order[part]]), (x,), x.shape[1:])

    def mean_gradient(self, x0: Array, x1: Array) -> Array:
        """Return the forces of the mean strains [m, k, 3] in N, for x0 and x1 [m, k, 3]."""
        return self._local(self._mean_forces, (x0, x1), x0.shape[1:])

    def local_value(self, stencil: int, x: Array) -> float:
        """Return φ in J of one element with nodes at x [k, 3]; infinite where it is inverted."""
        place = self._places[stencil]
        part = slice(place, place + 1)
        F, C, valid = self._strains(part, np.ascontiguousarray(x[None], dtype=float))
        with np.errstate(all="ignore"):
            return float(self._energies(part, F, C)[0]) if valid else inf

    @cached_property
    def _places(self) -> NDArray[np.intp]:
        """Where each element is in the order of the blocks."""
        return np.argsort(self._order)

    def _local(self, integrate: Callable[..., Array], positions: tuple[Array, ...], shape: tuple[int, ...]) -> Array:
        out = np.empty((len(self.nodes), *shape))

        def store(part: slice, local: Array) -> None:
            out[self._order[part]] = local

        self._sweep(integrate, lambda x, part: x[self._order[part]], store, positions)
        return out

    # -- assembled forms --------------------------------------------------------------------------------------

    def total(self, q: Array) -> float:
        """Return the energy in J at the nodal positions q [n, 3]."""
        return float(self.value(q[self.nodes]).sum())

    def add_gradient(self, q: Array, out: Array) -> None:
        """Add the gradient in N at the nodal positions q [n, 3] to out [n, 3]."""
        self._add_forces(self._forces, (q,), out)

    def add_hessian(self, q: Array, slots: IntArray, out: Array) -> None:
        """Add the Hessian in N/m at the nodal positions q [n, 3] to the blocks out [nnz, 3, 3] (see `Energy`)."""
        self._add_stiffness(self._stiffness, (q,), slots, out)

    def add_discrete_gradient(self, q0: Array, q1: Array, out: Array) -> None:
        """Add the discrete gradient in N from q0 to q1 [n, 3] to out [n, 3]."""
        self._add_forces(self._discrete_forces, (q0, q1), out)

    def add_increment_gradient(self, q: Array, compensation: Array, dq: Array, out: Array) -> None:
        """Add the discrete gradient in N from q + c to q + c + Δq [n, 3], c the compensation, to out."""

        def from_first(x: Array, part: slice) -> Array:
            nodes = self._nodes[part]
            return x[nodes] - x[nodes[:, :1]]

        def gather(moved: Array, part: slice) -> Array:
            # differences: of positions far away, digits are few
            return from_first(q, part) + (from_first(compensation, part) + from_first(moved, part))

        self._add_forces(self._discrete_forces, (np.zeros_like(dq), dq), out, gather)

    def add_discrete_hessian(self, q0: Array, q1: Array, slots: IntArray, out: Array) -> None:
        """Add ∂DG/∂q1 in N/m from q0 to q1 [n, 3] to the blocks out [nnz, 3, 3] (see `Energy`)."""
        self._add_stiffness(self._discrete_stiffness, (q0, q1), slots, out)

    def add_third(self, q: Array, a: Array, out: Array) -> None:
        """Add ∇³V[a, a] at the nodal positions q along a [n, 3] to out [n, 3]."""
        self._add_forces(self._along(lambda part: a[self._nodes[part]]), (q,), out)

    def _add_forces(
        self,
        integrate: Callable[..., Array],
        positions: tuple[Array, ...],
        out: Array,
        gather: Callable[[Array, slice], Array] | None = None,
    ) -> None:
        def store(part: slice, local: Array) -> None:
            scatter_vectors(local, self._nodes[part], out)

        self._sweep(integrate, gather or (lambda q, part: q[self._nodes[part]]), store, positions)

    def _add_stiffness(
        self, integrate: Callable[..., Array], positions: tuple[Array, ...], slots: IntArray, out: Array
    ) -> None:
        def store(part: slice, local: Array) -> None:
            scatter_blocks(local, slots[self._order[part]], out)

        self._sweep(integrate, lambda q, part: q[self._nodes[part]], store, positions)

    def add_secant(self, q: Array, slots: IntArray, out: Array) -> None:
        """Add 𝓕 in N/m at the nodal positions q [n, 3] to the values out [nnz] (see `Energy`)."""
        self._add_values(self._secants, q, slots, out)

    def add_secant_rate(self, q: Array, v: Array, slots: IntArray, out: Array) -> None:
        """Add 𝓕̇ in N/(m s) at the positions q along the velocities v [n, 3] to the values out [nnz] (see `Energy`)."""

        def integrate(part: slice, F: Array, C: Array) -> Array:
            return self._secant_rates(part, F, C, v[self._nodes[part]])

        self._add_values(integrate, q, slots, out)

    def _add_values(self, integrate: Callable[..., Array], q: Array, slots: IntArray, out: Array) -> None:
        def store(part: slice, local: Array) -> None:
            scatter_values(local, slots[self._order[part]], out)

        self._sweep(integrate, lambda q, part: q[self._nodes[part]], store, (q,))

    # -- block by block ---------------------------------------------------------------------------------------

    def _sweep(
        self,
        integrate: Callable[..., Array],
        gather: Callable[[Array, slice], Array],
        store: Callable[[slice, Array], None],
        positions: tuple[Array, ...],
    ) -> None:
        """Store what integrate(part, F, C, …) returns for each part of the elements, some blocks, on several threads.

        Raises
        ------
        InvertedElement, MaterialFailed
        """

        def slab(first: int, last: int) -> bool:
            with np.errstate(all="ignore"):  # what is not finite is found below
                for block in range(first, last, TOGETHER):
                    end = self._ends[min(block + TOGETHER, last) - 1]
                    part = slice(self._ends[block] - self.blocks.counts[block], end)
                    strains: list[Array] = []
                    for x in positions:
                        F, C, valid = self._strains(part, gather(x, part))
                        if not valid:
                            return False
                        strains += (F, C)
                    local = integrate(part, *strains)
                    if not isfinite(local.sum()):
                        return False
                    store(part, local)
            return True

        if not all(self.blocks.run(slab)):
            raise self._failure(gather, positions)

    def _strains(self, part: slice, x: Array) -> tuple[Array, Array, bool]:
        """Return F, C [e, g, 3, 3] at x [e, k, 3], and whether no element is inverted.

        Where the law is not objective, 1 is returned for F, and nothing counts as inverted.
        """
        G = self._gradients[part]
        F, C = np.empty((2, *self._weights[part].shape, 3, 3))
        valid = element_kernels.deformations(x, G, self.material.objective, F, C)
        return F, C, bool(valid) or not self.material.objective

    def _energies(self, part: slice, F: Array, C: Array) -> Array:
        w = self._weights[part]
        return (self.material.energy_density(_flat(C)).reshape(w.shape) * w).sum(axis=1)

    def _forces(self, part: slice, F: Array, C: Array) -> Array:
        return self._integrated_forces(part, F, self.material.stress(_flat(C)))

    def _discrete_forces(self, part: slice, F0: Array, C0: Array, F1: Array, C1: Array) -> Array:
        S = self.material.discrete_stress(_flat(C0), _flat(C1))
        return self._integrated_forces(part, 0.5 * (F0 + F1), S)

    def _along(self, gather: Callable[[slice], Array]) -> Callable[[slice, Array, Array], Array]:
        """Return the function that integrates ∇³φ[a, a] along the directions a [e, k, 3] of each part."""

        def integrate(part: slice, F: Array, C: Array) -> Array:
            return third_solid.third(self.material, F, C, gather(part), self._weights[part], self._gradients[part])

        return integrate

    def _mean_forces(self, part: slice, F0: Array, C0: Array, F1: Array, C1: Array) -> Array:
        S = self.material.stress(_flat(0.5 * (C0 + C1)))
        return self._integrated_forces(part, 0.5 * (F0 + F1), S)

    def _integrated_forces(self, part: slice, F: Array, S: Array) -> Array:
        w, G = self._weights[part], self._gradients[part]
        out = np.empty((len(w), self.nodes.shape[1], 3))
        element_kernels.integrate_forces(F, _contiguous(S, F.shape), w, G, out)
        return out

    def _stiffness(self, part: slice, F: Array, C: Array) -> Array:
        S, T = self.material.stress(_flat(C)), self.material.tangent(_flat(C))
        return self._integrated_stiffness(part, F, F, S, T, 1.0)

    def _discrete_stiffness(self, part: slice, F0: Array, C0: Array, F1: Array, C1: Array) -> Array:
        S = self.material.discrete_stress(_flat(C0), _flat(C1))
        T = self.material.discrete_tangent(_flat(C0), _flat(C1))
        return self._integrated_stiffness(part, 0.5 * (F0 + F1), F1, S, T, 0.5)

    def _integrated_stiffness(
        self, part: slice, left: Array, right: Array, S: Array, T: Array, geometric: float
    ) -> Array:
        w, G = self._weights[part], self._gradients[part]
        size = 3 * self.nodes.shape[1]
        out = np.empty((len(w), size, size))
        S, T = _contiguous(S, left.shape), _contiguous(T, (*left.shape, 3, 3))
        element_kernels.integrate_stiffness(left, right, S, T, w, G, geometric * self.material.objective, out)
        return out

    def _secants(self, part: slice, F: Array, C: Array) -> Array:
        return self._integrated_secants(part, _contiguous(self.material.stress(_flat(C)), C.shape))

    def _secant_rates(self, part: slice, F: Array, C: Array, v: Array) -> Array:
        T = _contiguous(self.material.tangent(_flat(C)), (*C.shape, 3, 3))
        return self._integrated_secants(part, element_kernels.stress_rates(T, F, v, self._gradients[part]))

    def _integrated_secants(self, part: slice, S: Array) -> Array:
        return element_kernels.integrated_secants(S, self._weights[part], self._gradients[part])

    # -- strain and stress, for output ------------------------------------------------------------------------

    def deformation_gradients(self, q: Array) -> Array:
        """Return the mean over the undeformed volume of F [m, 3, 3] at the nodal positions q [n, 3]."""
        F = np.einsum("eai,egKa->egiK", q[self._nodes], self._gradients, optimize=True)
        return self._mean(F, self._weights)

    def jacobians(self, q: Array) -> Array:
        """Return deformed over undeformed volume [m] at the nodal positions q [n, 3]."""
        F = np.einsum("eai,egKa->egiK", q[self._nodes], self._gradients, optimize=True)
        return self._mean(tensors.determinants(F), self._weights)

    def first_piola(self, q: Array) -> Array:
        """Return the mean over the undeformed volume of P = F S [m, 3, 3] in Pa at the nodal positions q [n, 3].

        Raises
        ------
        InvertedElement, MaterialFailed
        """
        F, S = self._stresses(q)
        return self._mean(F @ S, self._weights)

    def cauchy(self, q: Array) -> Array:
        """Return the mean over the deformed volume of σ = F S Fᵀ/J [m, 3, 3] in Pa at the nodal positions q [n, 3].

        Raises
        ------
        InvertedElement, MaterialFailed
        """
        F, S = self._stresses(q)
        J = tensors.determinants(F)
        sigma = F @ S @ F.swapaxes(-1, -2) / J[:, :, None, None]
        return self._mean(sigma, self._weights * J)

    def _stresses(self, q: Array) -> tuple[Array, Array]:
        """Return F (1 if the law is not objective) and S [m, g, 3, 3], in the order of the blocks."""
        F, C, valid = self._strains(slice(None), np.ascontiguousarray(q[self._nodes]))
        with np.errstate(all="ignore"):
            S = self.material.stress(_flat(C)).reshape(C.shape) if valid else F
        if not (valid and np.isfinite(S).all()):
            raise self._failure(lambda q, part: q[self._nodes[part]], (q,))
        return F, S

    def _mean(self, values: Array, weights: Array) -> Array:
        """Return the weighted means [m, …] of values [m, g, …] in the order of the blocks."""
        out = np.empty((len(values), *values.shape[2:]))
        out[self._order] = np.einsum("eg...,eg->e...", values, weights / weights.sum(axis=1, keepdims=True))
        return out

    # -- failures ---------------------------------------------------------------------------------------------

    def _failure(
        self, gather: Callable[[Array, slice], Array], positions: tuple[Array, ...]
    ) -> InvertedElement | MaterialFailed:
        """Return the error about the first element that is inverted, or whose energy or stress is not finite."""
        F = [np.einsum("eai,egKa->egiK", gather(q, slice(None)), self._gradients, optimize=True) for q in positions]
        return failures.failure(self.material, self.nodes, self._order, F)


def _flat(C: Array) -> Array:
    """Return C [e, g, 3, 3] as laws take it, [p, 3, 3]."""
    return C.reshape(-1, 3, 3)


def _contiguous(values: Array, shape: tuple[int, ...]) -> Array:
    """Return what a law has returned in the given shape, for a compiled loop."""
    return np.ascontiguousarray(values, dtype=float).reshape(shape)
