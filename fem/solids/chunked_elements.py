"""Elements in chunks for compiled loops: what loops know of them, local functions, failures, deformation."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import cached_property
from math import inf, isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symplex.errors import InvertedElement, MaterialFailed
from symplex.fem.blocks import Blocks
from symplex.fem.energy import Array, Energy, IntArray
from symplex.fem.solids import elements, failures, tensors, tetrahedra
from symplex.fem.solids.chunks import CHUNK
from symplex.fem.solids.elements import TETRAHEDRON, Element
from symplex.fem.solids.materials import Material

Kernel = Callable[..., Any]


class ChunkedElements(Energy):
    """The strain energy of elements of one type and one material by loops over chunks (`symplex.fem.solids.chunks`).

    A class of it has the assembled forms, and its local functions are these of elements that share no nodes. `Solid`
    checks the arrays that are handed to it: all are contiguous and of the right shape.

    Parameters
    ----------
    element : Element
    points : float64 [n, 3]
        Undeformed positions in m of the nodes of the whole mesh.
    nodes : int32 [m, k]
        The nodes of the elements.
    material : Material
    directions : float64 [F, 3]
        Undeformed directions a0 for which loops shall know a0·∇ξ_a.

    Attributes
    ----------
    volumes : float64 [m]
        Undeformed volumes in m³.
    blocks : Blocks
        The elements of each chunk, and the slabs of chunks.

    Raises
    ------
    MeshError
        If an undeformed element has no positive volume everywhere.
    """

    def __init__(self, element: Element, points: Array, nodes: IntArray, material: Material, directions: Array):
        self.element = element
        self.points = points
        self.nodes = nodes
        self.material = material
        self._directions = directions
        _, slopes = element.shapes(element.stiffness.points)
        self._slopes = np.ascontiguousarray(slopes)
        self._size = CHUNK // len(slopes)  # elements of a chunk
        self._weights = np.repeat(element.stiffness.weights, self._size)
        if element is TETRAHEDRON:
            self.volumes = tetrahedra.checked_volumes(points, nodes)
        else:
            J = elements.jacobians(points, nodes, slopes)
            self.volumes = elements.checked_determinants(element, nodes, J) @ element.stiffness.weights

    @cached_property
    def blocks(self) -> Blocks:
        """Which elements a chunk has."""
        return Blocks(self.nodes, self.points, self._size)

    @cached_property
    def _geometry(self) -> Array:
        """What loops know of the points of each chunk [chunks, rows · CHUNK] (see `symplex.fem.solids.chunks`)."""
        named = self.blocks.elements.reshape(-1, self._size).copy()
        for chunk in np.flatnonzero(self.blocks.counts < self._size):
            count = self.blocks.counts[chunk]
            named[chunk, count:] = named[chunk, count - 1]
        rows = self._at_points()[named]  # [chunks, E, g, rows]
        return np.ascontiguousarray(rows.transpose(0, 3, 2, 1)).reshape(len(named), rows.shape[3] * CHUNK)

    def _at_points(self) -> Array:
        """Return what is known of the points of quadrature of each element [m, g, rows]."""
        J = elements.jacobians(self.points, self.nodes, self._slopes)
        det = tensors.determinants(J)
        # rows of the inverse of J are ∇ξ_a
        inverse = tensors.cofactors(J.reshape(-1, 3, 3)).reshape(J.shape).swapaxes(-1, -2) / det[..., None, None]
        M = inverse @ inverse.swapaxes(-1, -2)
        known = [M[..., a, b] for a, b in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))] + [det]
        along = np.einsum("fi,egai->egfa", self._directions, inverse).reshape(*det.shape, 3 * len(self._directions))
        return np.concatenate([np.stack(known, axis=-1), along], axis=-1)

    # -- local functions --------------------------------------------------------------------------------------
    # They are the assembled ones of elements that share no nodes.

    def value(self, x: Array) -> Array:
        """Return the strain energies [m] in J of the elements with nodes at x [m, k, 3]."""
        return self._values(x.reshape(-1, 3), apart=True)

    def gradient(self, x: Array) -> Array:
        """Return ∂φ/∂x [m, k, 3] in N of the elements with nodes at x [m, k, 3]."""
        return self.local_vectors(self.add_gradient, x)

    def hessian(self, x: Array) -> Array:
        """Return ∂²φ/∂x² [m, 3k, 3k] in N/m of the elements with nodes at x [m, k, 3]."""
        return self.local_blocks(self.add_hessian, x)

    def discrete_gradient(self, x0: Array, x1: Array) -> Array:
        """Return DG [m, k, 3] in N with DG·(x1 − x0) = φ(x1) − φ(x0), for x0 and x1 [m, k, 3]."""
        return self.local_vectors(self.add_discrete_gradient, x0, x1)

    def discrete_hessian(self, x0: Array, x1: Array) -> Array:
        """Return ∂DG/∂x1 [m, 3k, 3k] in N/m, which is not symmetric."""
        return self.local_blocks(self.add_discrete_hessian, x0, x1)

    def mean_gradient(self, x0: Array, x1: Array) -> Array:
        """Return the forces of the mean strains [m, k, 3] in N, for x0 and x1 [m, k, 3]."""
        return self.local_vectors(self.add_mean_gradient, x0, x1)

    def secant(self, x: Array) -> Array:
        """Return 𝓕 [m, k, k] in N/m of the elements with nodes at x [m, k, 3]."""
        return self._local_matrices(self.add_secant, x)

    def secant_rate(self, x: Array, v: Array) -> Array:
        """Return 𝓕̇ [m, k, k] in N/(m s) of the elements with nodes at x that move with v [m, k, 3]."""
        return self._local_matrices(self.add_secant_rate, x, v)

    def third(self, x: Array, a: Array) -> Array:
        """Return ∇³φ[a, a] [m, k, 3] of the elements with nodes at x along a [m, k, 3]."""
        return self.local_vectors(self.add_third, x, a)

    def local_value(self, stencil: int, x: Array) -> float:
        """Return φ in J of one element with nodes at x [k, 3]; infinite where it is inverted."""
        one = slice(stencil, stencil + 1)
        F, det = self._deformations(np.asarray(x, dtype=float)[None], self.nodes[one])
        if self.material.objective and not (tensors.determinants(F) > 0.0).all():
            return inf
        with np.errstate(all="ignore"):
            W = self.material.energy_density(failures.strains(self.material, F)[0])
        return float(W @ (det[0] * self.element.stiffness.weights))

    def total(self, q: Array) -> float:
        """Return the energy in J at the nodal positions q [n, 3]."""
        return float(self._values(q).sum())

    @abstractmethod
    def _values(self, q: Array, apart: bool = False) -> Array:
        """Return the energies [m] at the nodal positions q, or at gathered ones if the elements are taken apart."""

    # -- running loops ----------------------------------------------------------------------------------------

    def local_vectors(self, add: Callable[..., None], *x: Array) -> Array:
        """Return what a function adds for elements that share no nodes, with nodes at x [m, k, 3]: [m, k, 3]."""
        out = np.zeros_like(x[0])
        add(*(y.reshape(-1, 3) for y in x), out.reshape(-1, 3), apart=True)
        return out

    def _local_matrices(self, add: Callable[..., None], *x: Array) -> Array:
        out = np.zeros(self._own_slots.shape)
        add(*(y.reshape(-1, 3) for y in x), self._own_slots, out.reshape(-1), apart=True)
        return out

    def local_blocks(self, add: Callable[..., None], *x: Array) -> Array:
        """Return what a function adds for elements that share no nodes, with nodes at x [m, k, 3]: [m, 3k, 3k]."""
        m, k = self.nodes.shape
        out = np.zeros((m, k, k, 3, 3))
        add(*(y.reshape(-1, 3) for y in x), self._own_slots, out.reshape(-1, 3, 3), apart=True)
        return out.transpose(0, 1, 3, 2, 4).reshape(m, 3 * k, 3 * k)

    def _run(
        self,
        kernel: Kernel,
        nodal: tuple[Array, ...],
        *arguments: Any,
        at: tuple[Array, ...] | None = None,
        apart: bool = False,
    ) -> None:
        """Run a kernel on all chunks; where it fails, say why from the positions ``at`` (default: all nodal arrays)."""
        chunks = self.chunk_nodes(apart), self.blocks.counts, self._geometry, self._weights, self._slopes
        results = self.blocks.run(kernel, *nodal, *chunks, *arguments)
        if not all(map(isfinite, results)):
            raise self.failure(self.gathered(nodal if at is None else at, apart))

    def chunk_nodes(self, apart: bool) -> NDArray[np.uint32]:
        """Return the nodes [chunks, E · k] of each chunk; ``apart`` if elements share none."""
        return self._apart if apart else self.blocks.nodes

    def gathered(self, nodal: tuple[Array, ...], apart: bool) -> list[Array]:
        """Return nodal arrays [n, 3] at the nodes of the elements [m, k, 3]."""
        return [q.reshape(*self.nodes.shape, 3) if apart else q[self.nodes] for q in nodal]

    @cached_property
    def _apart(self) -> NDArray[np.uint32]:
        """The nodes [chunks, E · k] of the elements if they share none."""
        k = self.nodes.shape[1]
        first = np.maximum(self.blocks.elements, 0).astype(np.uint32) * np.uint32(k)
        return (first[:, None] + np.arange(k, dtype=np.uint32)).reshape(len(self.blocks.counts), -1)

    @cached_property
    def _own_slots(self) -> IntArray:
        m, k = self.nodes.shape
        return np.arange(m * k * k, dtype=np.int32).reshape(m, k, k)

    # -- strain and stress, for output ------------------------------------------------------------------------

    def deformation_gradients(self, q: Array) -> Array:
        """Return the mean over the undeformed volume of F [m, 3, 3] at the nodal positions q [n, 3]."""
        F, det = self._deformations(q[self.nodes], self.nodes)
        return np.einsum("egij,eg,g->eij", F, det, self.element.stiffness.weights) / self.volumes[:, None, None]

    def jacobians(self, q: Array) -> Array:
        """Return deformed over undeformed volume [m] at the nodal positions q [n, 3]."""
        d = elements.jacobians(q, self.nodes, self._slopes)
        return tensors.determinants(d) @ self.element.stiffness.weights / self.volumes

    def _deformations(self, x: Array, nodes: IntArray) -> tuple[Array, Array]:
        """Return F [m, g, 3, 3] of elements with nodes at x [m, k, 3], and the undeformed determinants [m, g]."""
        J = elements.jacobians(self.points, nodes, self._slopes)
        d = np.einsum("eai,gaj->egij", x, self._slopes, optimize=True)
        return d @ np.linalg.inv(J), tensors.determinants(J)

    def failure(self, positions: list[Array]) -> InvertedElement | MaterialFailed:
        """Return the error about the first element that is inverted, or has no finite energy or stress, at x."""
        with np.errstate(all="ignore"):  # positions may be infinite
            F = [self._deformations(x, self.nodes)[0] for x in positions]
        return failures.failure(self.material, self.nodes, np.arange(len(self.nodes)), F)
