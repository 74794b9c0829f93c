"""Elements in chunks for compiled loops: what loops know of them, all forms by a table, failures, deformation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from math import inf, isfinite
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numba.core.dispatcher import Dispatcher
from numpy.typing import NDArray

from symplex.errors import InvertedElement, MaterialFailed
from symplex.fem import forms
from symplex.fem.blocks import Blocks
from symplex.fem.calls import Call
from symplex.fem.energy import Array, IntArray
from symplex.fem.forms import Form
from symplex.fem.solids import elements, failures, hourglass_functions, stress_loops, tensors, tetrahedra
from symplex.fem.solids.chunks import CHUNK, MOST_POINTS, elements_per_chunk
from symplex.fem.solids.constitutive import Material
from symplex.fem.solids.element_energy import ElementForms
from symplex.fem.solids.elements import TETRAHEDRON, Element
from symplex.fem.solids.hourglass import hourglass_patterns
from symplex.fem.solids.hourglass_strains import matrices_of
from symplex.fem.stored_calls import stored_call


class Loop(NamedTuple):
    """The compiled loop of a form.

    Attributes
    ----------
    kernel : callable
        It takes nodal arrays, what `ChunkedElements` knows of chunks, constants, where a matrix goes, and the result.
    constants : callable
        Returns those of given elements.
    takes : int, default 3
        How many of the nodal arrays of the form it takes at most.
    """

    kernel: Callable[..., Any]
    constants: Callable[[Any], tuple[Any, ...]]
    takes: int = 3


class Stabilization(NamedTuple):
    """What loops know of hexahedra of one point (`symplex.fem.solids.hourglass`).

    Attributes
    ----------
    slopes : float64 [m, 8, 3]
        ∂N_a/∂ξ of each element at the one point that stands for all of it, with ∂X/∂ξ of the volume of the element.
    constants : float64 [m, 33] or [m, 42]
        s and K of the hourglass energy, and the undeformed tangent vectors if the law is not objective.
    """

    slopes: Array
    constants: Array


def parts_of_rule(n: int) -> IntArray:
    """Return the points of a rule of n points in parts [parts, g] of up to 8, what is left of the last one as −1.

    Loops take chunks of elements with up to 8 points each, and sums over the points of more are sums over parts.
    """
    parts = -(-n // MOST_POINTS)
    size = -(-n // parts)
    points = np.arange(parts * size, dtype=np.int32)
    return np.where(points < n, points, -1).astype(np.int32).reshape(parts, size)


class ChunkedElements(ElementForms):
    """An energy of elements of one type and one material by loops over chunks (`symplex.fem.solids.chunks`).

    A class of it has the loop of each form. `Solid` checks the arrays that are handed to it: all are contiguous and of
    the right shape.

    Parameters
    ----------
    element : Element
    points : float64 [n, 3]
        Undeformed positions in m of the nodes of the whole mesh.
    nodes : int32 [m, k]
        The nodes of the elements.
    material : Material
    directions : float64 [F, 3] or [F, m, 3]
        Undeformed directions a0 for which loops shall know a0·∇ξ_a, in the whole body or of each element.
    stabilization : Stabilization, optional
        Of hexahedra that have one point, and an hourglass energy; default: the element's rule of quadrature.

    Attributes
    ----------
    loops : mapping of Form to Loop, optional
        None for a form that is zero.
    values : Loop
        That of the energies of the elements.
    blocks : Blocks
        The elements of each chunk, and the slabs of chunks.
    slab : int32 [m], optional
        To be set before anything is computed, where elements are some of a larger mesh (see `Blocks`).

    Raises
    ------
    MeshError
        If an undeformed element has no positive volume everywhere.
    """

    loops: Mapping[Form, Loop | None]
    values: ClassVar[Loop]
    slab: NDArray[np.int32] | None = None

    def __init__(
        self,
        element: Element,
        points: Array,
        nodes: IntArray,
        material: Material,
        directions: Array,
        stabilization: Stabilization | None = None,
    ):
        self.element = element
        self.points = points
        self.nodes = nodes
        self.material = material
        self._directions = directions
        rule = element.stiffness
        slopes = None if stabilization is None else stabilization.slopes
        self._stabilization = stabilization
        self._own_slopes = None if slopes is None else slopes[:, None]
        self._slopes = np.ascontiguousarray(
            element.shapes(rule.points)[1] if slopes is None else np.zeros((1, *slopes.shape[1:]))
        )
        self._point_weights = rule.weights if slopes is None else np.ones(1)
        self._parts = parts_of_rule(len(self._slopes))
        self._size = elements_per_chunk.py_func(self._parts.shape[1])
        if element is TETRAHEDRON:
            self.volumes = tetrahedra.checked_volumes(points, nodes)
        else:
            det = elements.checked_determinants(element, nodes, self._tangents(points[nodes]))
            self.volumes = det @ self._point_weights

    @cached_property
    def blocks(self) -> Blocks:
        """Which elements a chunk has."""
        return Blocks(self.nodes, self.points, self._size, self.slab)

    @cached_property
    def _rules(self) -> list[tuple[Array, Array, Array]]:
        """What loops know of the points of each part of the rule.

        That is of each chunk what `symplex.fem.solids.chunks` says [chunks, rows · CHUNK], the weights [CHUNK] and the
        slopes [g, k, 3].
        """
        named = self.blocks.elements.reshape(-1, self._size).copy()
        for chunk in np.flatnonzero(self.blocks.counts < self._size):
            count = self.blocks.counts[chunk]
            named[chunk, count:] = named[chunk, count - 1]
        at_points, rules = self.at_points(), []
        for part in self._parts:
            rows = at_points[:, np.maximum(part, 0)][named].transpose(0, 3, 2, 1)  # [chunks, rows, g, E]
            chunks, n = rows.shape[:2]
            used = rows.shape[2] * self._size
            geometry = np.empty((chunks, n, CHUNK))
            geometry[:] = rows[:, :, :1, 0]
            geometry[:, :, :used] = rows.reshape(chunks, n, used)
            weights = np.zeros(CHUNK)
            weights[:used] = np.repeat(np.where(part < 0, 0.0, self._point_weights[part]), self._size)
            rules.append((geometry.reshape(chunks, n * CHUNK), weights, self._slopes[np.maximum(part, 0)]))
        return rules

    def at_points(self) -> Array:
        """Return what is known of the points of quadrature of each element [m, g, rows]."""
        J = self._tangents(self.points[self.nodes])
        det = tensors.determinants(J)
        # rows of the inverse of J are ∇ξ_a
        inverse = tensors.cofactors(J.reshape(-1, 3, 3)).reshape(J.shape).swapaxes(-1, -2) / det[..., None, None]
        M = inverse @ inverse.swapaxes(-1, -2)
        known = [M[..., a, b] for a, b in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))] + [det]
        F, m = len(self._directions), len(self.nodes)
        each = self._directions if self._directions.ndim == 3 else self._directions[:, None]
        directions = np.broadcast_to(each, (F, m, 3))
        along = np.einsum("fei,egai->egfa", directions, inverse).reshape(*det.shape, 3 * F)
        rows = [np.stack(known, axis=-1), along]
        if self._stabilization is not None:
            rows += [self._stabilization.constants[:, None], self._stabilization.slopes.reshape(m, 1, 24)]
        return np.concatenate(rows, axis=-1)

    def _tangents(self, x: Array, chosen: slice = slice(None)) -> Array:
        """Return the tangent vectors ∂x/∂ξ [m, g, 3, 3] of chosen elements with nodes at x [m, k, 3]."""
        if self._own_slopes is not None:
            return x[:, None].swapaxes(2, 3) @ self._own_slopes[chosen]
        return elements.tangent_vectors(x, self._slopes)

    # -- forms ------------------------------------------------------------------------------------------------

    def add(self, form: Form, nodal: tuple[Array, ...], out: Array, slots: IntArray | None = None) -> None:
        """Add a form at the nodal positions q [n, 3], and other nodal arrays, to out (see `Energy.add`).

        Raises
        ------
        InvertedElement, MaterialFailed
        """
        self._add(form, nodal, out, slots, apart=False)

    def local(self, form: Form, *x: Array) -> Array:
        """Return a form of each element apart, as its local function does, for gathered arrays [m, k, 3]."""
        return self.of_each(form, x, self._add)

    def of_each(self, form: Form, x: tuple[Array, ...], add: Callable[..., None]) -> Array:
        """Return what a function adds for a form, in place, if elements share no nodes."""
        m, k = self.nodes.shape
        out = np.zeros(form.shape(m * k, m * k * k, 3))
        add(form, tuple(y.reshape(-1, 3) for y in x), out, self._own_slots, apart=True)
        if form.kind == "block":
            out = out.reshape(m, k, k, 3, 3).transpose(0, 1, 3, 2, 4)
        return out.reshape(form.local_shape(m, k, 3))

    def value(self, x: Array) -> Array:
        """Return the strain energies [m] in J of the elements with nodes at x [m, k, 3]."""
        return self._values(x.reshape(-1, 3), apart=True)

    def total(self, q: Array) -> float:
        """Return the energy in J at the nodal positions q [n, 3]."""
        return float(self.local_energies(q).sum())

    def local_energies(self, q: Array) -> Array:
        """Return the energies [m] in J of the elements at the nodal positions q [n, 3]."""
        return self._values(q, apart=False)

    def local_value(self, stencil: int, x: Array) -> float:
        """Return φ in J of one element with nodes at x [k, 3]; infinite where it is inverted."""
        one = slice(stencil, stencil + 1)
        F, det = self._deformations(np.asarray(x, dtype=float)[None], one)
        if self.material.objective and not (tensors.determinants(F) > 0.0).all():
            return inf
        with np.errstate(all="ignore"):
            W = self._law_of(one).energy_density(failures.strains(self.material, F)[0])
        return float(W @ (det[0] * self._point_weights)) + self._hourglass_value(stencil, x)

    def _hourglass_value(self, stencil: int, x: Array) -> float:
        """Return the hourglass energy of one element, if it has one."""
        if self._stabilization is None:
            return 0.0
        known = self._stabilization.constants[stencil]
        d = self._stabilization.slopes[stencil].T @ (x - x[0])
        g = 0.125 * (hourglass_patterns().T @ (x - x[0]) - known[:12].reshape(4, 3) @ d)
        if not self.material.objective:
            d = known[33:].reshape(3, 3)
        Q = (g @ d.T).ravel()
        return float(0.5 * Q @ matrices_of(known[None, 12:33])[0] @ Q)

    # -- running loops ----------------------------------------------------------------------------------------

    def _add(self, form: Form, nodal: tuple[Array, ...], out: Array, slots: IntArray | None, apart: bool) -> None:
        """Run the loop of a form; ``apart``: on elements that share no nodes."""
        loop = self.loops[form]
        if loop is None:
            return
        to = (self.blocks.elements, slots, out) if form.is_matrix else (out,)
        self._run(loop, nodal, form.positions(nodal), *to, apart=apart)

    def _values(self, q: Array, apart: bool) -> Array:
        """Return the energies [m]."""
        out = np.empty((len(self._parts), len(self.nodes)))
        self._run(self.values, (q,), (q,), self.blocks.elements, apart=apart, each=out)
        return out.sum(axis=0)

    def _run(
        self,
        loop: Loop,
        nodal: tuple[Array, ...],
        at: tuple[Array, ...],
        *arguments: Any,
        apart: bool = False,
        each: Array | None = None,
    ) -> None:
        """Run a loop on all chunks; where it fails, say why from the positions ``at``.

        All parts of the rule add to the last of the arguments, or write a row of ``each``.
        """
        chunks, constants = (self.chunk_nodes(apart), self.blocks.counts), loop.constants(self)
        for i, rule in enumerate(self._rules):
            out = () if each is None else (each[i],)
            results = self.blocks.run(loop.kernel, *nodal[: loop.takes], *chunks, *rule, *constants, *arguments, *out)
            if not all(map(isfinite, results)):
                raise self.failure(self.gathered(at, apart))

    def gradient_calls(self) -> list[Call] | None:
        """Return the calls of the loop of the gradient, over all elements on one thread; None if Python is in it."""
        loop, blocks = self.loops[forms.GRADIENT], self.blocks
        if loop is None or not isinstance(loop.kernel, Dispatcher):
            return None
        constants = loop.constants(self)
        return [
            stored_call(loop.kernel, (blocks.nodes, blocks.counts, *rule, *constants), blocks.in_order)
            for rule in self._rules
        ]

    def hourglass(self, name: str) -> int:
        """Return the address of a C function of the hourglass energy; 0 if the elements have none."""
        return 0 if self._stabilization is None else hourglass_functions.address_of(name)

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
        return (first[:, None] + np.arange(k, dtype=np.uint32)).reshape(self.blocks.nodes.shape)

    @cached_property
    def _own_slots(self) -> IntArray:
        m, k = self.nodes.shape
        return np.arange(m * k * k, dtype=np.int32).reshape(m, k, k)

    # -- strain and stress, for output ------------------------------------------------------------------------

    def deformation_gradients(self, q: Array) -> Array:
        """Return the mean over the undeformed volume of F [m, 3, 3] at the nodal positions q [n, 3]."""
        F, det = self._deformations(q[self.nodes])
        return np.einsum("egij,eg,g->eij", F, det, self._point_weights) / self.volumes[:, None, None]

    def jacobians(self, q: Array) -> Array:
        """Return deformed over undeformed volume [m] at the nodal positions q [n, 3]."""
        det = tensors.determinants(self._tangents(q[self.nodes]))
        # Not by a product with a vector, whose bits would depend on how many elements there are.
        return (det * self._point_weights).sum(axis=1) / self.volumes

    def forces_of(self, loop: Loop, q: Array) -> Array:
        """Return the forces [m, k, 3] in N of each element on its nodes at q [n, 3] by a loop of gradients."""
        x, out = np.ascontiguousarray(q[self.nodes].reshape(-1, 3)), np.zeros((self.nodes.size, 3))
        self._run(loop, (x,), (x,), out, apart=True)
        return out.reshape(*self.nodes.shape, 3)

    def means(self, forces: Array, y: Array, volumes: Array) -> Array:
        """Return Σ f_n ⊗ y_n/V [m, 3, 3], where Σ f_n ⊗ y_n is ∫ P ∂y/∂X dV; see `stress_loops.set_means`."""
        out = np.empty((len(self.nodes), stress_loops.NINE))
        stress_loops.set_means(forces, y, self.nodes, volumes, out)
        return out.reshape(-1, 3, 3)

    def _deformations(self, x: Array, chosen: slice = slice(None)) -> tuple[Array, Array]:
        """Return F [m, g, 3, 3] of chosen elements with nodes at x [m, k, 3], and undeformed determinants [m, g]."""
        J = self._tangents(self.points[self.nodes[chosen]], chosen)
        return self._tangents(x, chosen) @ np.linalg.inv(J), tensors.determinants(J)

    def _law_of(self, chosen: slice) -> Material:
        """Return the material as it is asked about all points of chosen elements."""
        return self.material

    def failure(self, positions: list[Array]) -> InvertedElement | MaterialFailed:
        """Return the error about the first element that is inverted, or has no finite energy or stress, at x."""
        with np.errstate(all="ignore"):  # positions may be infinite
            F = [self._deformations(x)[0] for x in positions]
        return failures.failure(self.material, self.nodes, np.arange(len(self.nodes)), F, self._law_of(slice(None)))
