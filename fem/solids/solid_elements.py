"""The elements of a solid: what compiled loops and NumPy functions know of them, failures, deformation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from symplex.errors import InvertedElement, MaterialFailed
from symplex.fem.assembly.blocks import Blocks
from symplex.fem.assembly.calls import Call
from symplex.fem.assembly.copying import Copyable
from symplex.fem.compiled.lanes import aligned
from symplex.fem.energies.energy import Array, IntArray
from symplex.fem.solids import elements, failures, hourglass, hourglass_functions, tensors, tetrahedra
from symplex.fem.solids.chunks import CHUNK, MOST_POINTS, Elements, elements_per_chunk
from symplex.fem.solids.constitutive import InvariantMaterial, Material, Oriented
from symplex.fem.solids.couplings import Couplings, couplings_of
from symplex.fem.solids.elements import HEXAHEDRON, TETRAHEDRON, Element
from symplex.fem.solids.formula_store import built_in
from symplex.fem.solids.hourglass_strains import matrices_of
from symplex.fem.solids.law_functions import LawFunctions
from symplex.fem.solids.law_segments import rule_of
from symplex.fem.solids.numpy_forms import Part

_AT_ONCE = 1 << 16  # elements whose geometry is found together: what is on the way to it takes four times its memory
_CORNERS = np.array(list(np.ndindex(2, 2, 2)))
Constants = Callable[["SolidElements"], tuple[type[Elements], Mapping[str, Any]]]


def parts_of_rule(n: int) -> IntArray:
    """Return the points of a rule of n points in parts [parts, g] of up to 8, what is left of the last one as −1.

    Loops take chunks of elements with up to 8 points each, and sums over the points of more are sums over parts.
    """
    parts = -(-n // MOST_POINTS)
    size = -(-n // parts)
    points = np.arange(parts * size, dtype=np.int32)
    return np.where(points < n, points, -1).astype(np.int32).reshape(parts, size)


def _thermal_shapes(element: Element) -> Array:
    """Return what thermal strains at nodes are at points of quadrature [g, k], as smooth as strains of elements are.

    Otherwise elements that cannot follow would have stresses: in linear ones it is the mean, in fully integrated
    quadratic hexahedra the trilinear field through the points of the 2 × 2 × 2 rule.
    """
    points, k = element.stiffness.points, element.n_nodes
    if element.n_nodes <= HEXAHEDRON.n_nodes:
        return np.full((len(points), k), 1.0 / k)
    if len(points) != len(HEXAHEDRON.stiffness.points) and element.kind.startswith("hexahedron"):
        few = HEXAHEDRON.stiffness.points
        basis = [np.prod(x[:, None] ** _CORNERS, axis=2) for x in (few, points)]
        return basis[1] @ np.linalg.solve(basis[0], element.shapes(few)[0])
    return element.shapes(points)[0]


@final
class SolidElements(Copyable):
    """The elements of a solid, of one type and one material, for loops over chunks (`symplex.fem.solids.chunks`).

    Parameters
    ----------
    element : Element
    points : float64 [n, 3]
        Undeformed positions in m of the nodes of the whole mesh.
    nodes : int32 [m, k]
        The nodes of the elements.
    material : Material
    fibres : float64 [F, m, 3], optional
        Directions of the material's families of fibres in each element, of length 1; default: those of the material.
    stabilized : bool
        Whether the elements are hexahedra of one point with an hourglass energy (`symplex.fem.solids.hourglass`).
    thermal_strain : float64 [n], optional
        At nodes; see `Solid`.

    Attributes
    ----------
    stretches : float64 [m, g] or None
        s = 1 + thermal strain at the points of quadrature. The law is asked about F/s, so that all that is known of
        undeformed points is that of points which have expanded freely: ∇ξ_a/s and s³ D. Laws of small strains have
        s² D, by which their forces and energy are those of the strain sym F − s exactly.
    volumes : float64 [m]
        Undeformed volumes in m³.
    blocks : Blocks
        The elements of each chunk, and the slabs of chunks.
    slopes : float64 [g, k, 3]
        ∂N_a/∂ξ at the points of quadrature.
    own_slopes : float64 [m, 1, 8, 3] or None
        Those of each element at its one point, if they are stabilized.
    point_weights : float64 [g]
        Of the points on the reference cell.
    hourglass_constants : float64 [m, 33 or 42] or None
        What the hourglass energy is known by (`hourglass.constants_of`).
    chunk_size : int
        How many elements a chunk has.
    slab : int32 [m], optional
        To be set before anything is computed, where elements are some of a larger mesh (see `Blocks`).
    """

    slab: NDArray[np.int32] | None = None

    def __init__(
        self,
        element: Element,
        points: Array,
        nodes: IntArray,
        material: Material,
        fibres: Array | None,
        stabilized: bool,
        thermal_strain: Array | None = None,
    ):
        self.element, self.points, self.nodes, self.material = element, points, nodes, material
        self._fibres = fibres
        self.hourglass_constants: Array | None = None
        self.own_slopes: Array | None = None
        self._couplings: tuple[IntArray, Couplings | None] | None = None  # of the last pattern
        self.slopes, self.point_weights = element.shapes(element.stiffness.points)[1], element.stiffness.weights
        if stabilized:
            geometry = hourglass.hexahedra_of(points, nodes)
            moduli = hourglass.moduli_of(geometry, material, hourglass.undeformed_elasticities(material, fibres))
            self.hourglass_constants = hourglass.constants_of(geometry, moduli, material.objective)
            self.own_slopes, self.volumes = geometry.slopes[:, None], geometry.volumes
            self.slopes, self.point_weights = np.zeros((1, 8, 3)), np.ones(1)
        elif element is TETRAHEDRON:
            self.volumes = tetrahedra.checked_volumes(points, nodes)
        else:
            det = elements.checked_determinants(element, nodes, self._tangents(points[nodes]))
            self.volumes = det @ self.point_weights
        self.stretches: Array | None = None
        if thermal_strain is not None:
            stretches = 1.0 + np.einsum("ea,ga->eg", thermal_strain[nodes], _thermal_shapes(element))
            self.stretches = stretches[:, : len(self.slopes)]  # one of stabilized hexahedra
        self._parts = parts_of_rule(len(self.slopes))
        self.chunk_size = elements_per_chunk.py_func(self._parts.shape[1])

    def __getstate__(self) -> dict[str, Any]:
        """Return the state of copies, which find calls and couplings again."""
        return {name: value for name, value in self.__dict__.items() if name != "_calls"} | {"_couplings": None}

    def release(self) -> None:
        """Forget what is computed again when it is needed: constants, and the order of the loops."""
        self._couplings = None
        for name in list(vars(self)):
            if isinstance(getattr(type(self), name, None), cached_property):
                del vars(self)[name]

    # -- the law ----------------------------------------------------------------------------------------------

    @cached_property
    def law(self) -> LawFunctions | tuple[float, ...]:
        """The law as compiled loops take it; of one written in Python a law without energy, for hourglass alone."""
        law = self.material.law_functions() or self.material.linear_constants()
        if law is None and self.material.objective:
            return LawFunctions.of(built_in("neo_hookean"), {"lmbda": 0.0, "mu": 0.0})
        return (0.0, 0.0) if law is None else law

    @cached_property
    def rule(self) -> Array:
        """The points in [0, 1] and the weights of the rule by which slopes of the law are averaged."""
        assert isinstance(self.law, LawFunctions)
        return rule_of(self.law)

    def hourglass(self, name: str) -> int:
        """Return the address of a C function of the hourglass energy; 0 if the elements have none."""
        return 0 if self.hourglass_constants is None else hourglass_functions.address_of(name)

    def law_at(self, chosen: slice | IntArray = slice(None)) -> Material:
        """Return the material as it is asked about all points of chosen elements."""
        if self._fibres is None:
            return self.material
        assert isinstance(self.material, InvariantMaterial), "others have no fibres"
        return Oriented(self.material, np.repeat(self._fibres[:, chosen], len(self.slopes), axis=1))

    def hourglass_value(self, stencil: int, x: Array) -> float:
        """Return the hourglass energy in J of one element with nodes at x [8, 3], if it has one."""
        if self.hourglass_constants is None or self.own_slopes is None:
            return 0.0
        known = self.hourglass_constants[stencil]
        d = self.own_slopes[stencil, 0].T @ (x - x[0])
        g = 0.125 * (hourglass.hourglass_patterns().T @ (x - x[0]) - known[:12].reshape(4, 3) @ d)
        if not self.material.objective:
            d = known[33:].reshape(3, 3)
        Q = (g @ d.T).ravel()
        return float(0.5 * Q @ matrices_of(known[None, 12:33])[0] @ Q)

    # -- chunks -----------------------------------------------------------------------------------------------

    @cached_property
    def blocks(self) -> Blocks:
        """Which elements a chunk has."""
        return Blocks(self.nodes, self.points, self.chunk_size, self.slab)

    @property
    def chunk_points(self) -> int:
        """How many points of an element a chunk has."""
        return self._parts.shape[1]

    def calls(self, kernel: Any, constants: Constants, apart: bool = False) -> list[Call]:
        """Return the calls of a kernel, one for each part of the rule; ``apart`` if elements share no nodes."""
        found = self._calls.get((kernel, constants))
        if found is None:
            kind, others = constants(self)
            blocks = self.blocks
            others = {"nodes": blocks.nodes, "counts": blocks.counts, "elements": blocks.elements, **others}
            found = [Call(kernel, kind(**rule, **others), blocks.phases.ranges) for rule in self.rules]
            self._calls[kernel, constants] = found
        if not apart:
            return found
        return [call._replace(record=call.record.replace(nodes=self._apart)) for call in found]

    @cached_property
    def _calls(self) -> dict[tuple[Any, Constants], list[Call]]:
        return {}

    @cached_property
    def rules(self) -> list[dict[str, Array]]:
        """What a record of `Elements` has of each part of the rule: the geometry of chunks, weights and slopes."""
        named = self.blocks.elements.reshape(-1, self.chunk_size).copy()
        for chunk in np.flatnonzero(self.blocks.counts < self.chunk_size):
            count = self.blocks.counts[chunk]
            named[chunk, count:] = named[chunk, count - 1]
        n, n_rows = len(named), self.at_points(named[:1].ravel()).shape[2]
        geometries = [aligned.py_func(n * n_rows * CHUNK).reshape(n, n_rows, CHUNK) for _ in self._parts]
        used = self._parts.shape[1] * self.chunk_size
        for first in range(0, n, step := max(_AT_ONCE // self.chunk_size, 1)):
            some = slice(first, first + step)
            at_points = self.at_points(named[some].ravel())
            at_points = at_points.reshape(-1, self.chunk_size, *at_points.shape[1:])
            for part, geometry in zip(self._parts, geometries, strict=True):
                rows = at_points[:, :, np.maximum(part, 0)].transpose(0, 3, 2, 1)  # [chunks, rows, g, E]
                geometry[some] = rows[:, :, :1, 0]
                geometry[some, :, :used] = rows.reshape(len(rows), n_rows, used)
        rules = []
        for part, geometry in zip(self._parts, geometries, strict=True):
            weights = np.zeros(CHUNK)
            weights[:used] = np.repeat(np.where(part < 0, 0.0, self.point_weights[part]), self.chunk_size)
            slopes = self.slopes[np.maximum(part, 0)]
            rules.append({"geometry": geometry.reshape(n, n_rows * CHUNK), "weights": weights, "slopes": slopes})
        return rules

    def at_points(self, chosen: slice | IntArray = slice(None)) -> Array:
        """Return what is known of the points of quadrature of chosen elements [m, g, rows]."""
        inverse, det = self._inverse(chosen)
        m = len(det)
        M = inverse @ inverse.swapaxes(-1, -2)
        known = [M[..., a, b] for a, b in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))] + [det]
        if self._fibres is not None:
            each = self._fibres[:, chosen]
        else:
            axes = np.eye(3) if isinstance(self.law, tuple) else self.material.directions
            each = np.broadcast_to(axes[:, None], (len(axes), m, 3))
        along = np.einsum("fei,egai->egfa", each, inverse).reshape(*det.shape, 3 * len(each))
        rows = [np.stack(known, axis=-1), along]
        if self.hourglass_constants is not None and self.own_slopes is not None:
            rows += [self.hourglass_constants[chosen, None], self.own_slopes[chosen].reshape(m, 1, 24)]
        return np.concatenate(rows, axis=-1)

    def nodes_of(self, apart: bool) -> IntArray:
        """Return the nodes [m, k] of each element; ``apart`` if elements share none."""
        return np.arange(self.nodes.size, dtype=np.int32).reshape(self.nodes.shape) if apart else self.nodes

    @cached_property
    def _apart(self) -> NDArray[np.uint32]:
        """The nodes [chunks, E · k] of the elements if they share none."""
        k = self.nodes.shape[1]
        first = np.maximum(self.blocks.elements, 0).astype(np.uint32) * np.uint32(k)
        return (first[:, None] + np.arange(k, dtype=np.uint32)).reshape(self.blocks.nodes.shape)

    @cached_property
    def own_slots(self) -> IntArray:
        """The places [m, k, k] of the blocks of elements that share no nodes."""
        m, k = self.nodes.shape
        return np.arange(m * k * k, dtype=np.int32).reshape(m, k, k)

    def couplings_of(self, slots: IntArray | None, blocks: int, alpha: float) -> Couplings | None:
        """Return the couplings of linear tetrahedra on a pattern, found once for it; see `coupling_sums` for α."""
        if slots is None:
            return None
        known = self._couplings
        if known is None or known[0] is not slots:
            known = self._couplings = slots, couplings_of(slots, blocks, alpha)
        return known[1]

    # -- points of quadrature ---------------------------------------------------------------------------------

    def part(self, chosen: slice | IntArray = slice(None)) -> Part:
        """Return what NumPy functions know of chosen elements, at all of their points of quadrature."""
        slopes = self.slopes if self.own_slopes is None else self.own_slopes[chosen]
        inverse, det = self._inverse(chosen)
        gradients = inverse.swapaxes(-1, -2) @ slopes.swapaxes(-1, -2)
        return Part(self.law_at(chosen), det * self.point_weights, np.ascontiguousarray(gradients))

    @cached_property
    def in_order(self) -> tuple[IntArray, Part]:
        """The elements in the order of the chunks, and what NumPy functions know of them: a few chunks are a slice."""
        order = self.blocks.elements[self.blocks.elements >= 0]
        return order, self.part(order)

    def _tangents(self, x: Array, chosen: slice | IntArray = slice(None)) -> Array:
        """Return the tangent vectors ∂x/∂ξ [m, g, 3, 3] of chosen elements with nodes at x [m, k, 3]."""
        if self.own_slopes is not None:
            return x[:, None].swapaxes(2, 3) @ self.own_slopes[chosen]
        return elements.tangent_vectors(x, self.slopes)

    def _inverse(self, chosen: slice | IntArray = slice(None)) -> tuple[Array, Array]:
        """Return ∇ξ_a in rows [m, g, 3, 3] and determinants [m, g] of the tangent vectors of what is without stress."""
        J = self._tangents(self.points[self.nodes[chosen]], chosen)
        det = tensors.determinants(J)
        inverse = tensors.cofactors(J.reshape(-1, 3, 3)).reshape(J.shape).swapaxes(-1, -2) / det[..., None, None]
        if self.stretches is not None:
            s = self.stretches[chosen]
            inverse, det = inverse / s[..., None, None], det * (s**3 if self.material.objective else s**2)
        return inverse, det

    def deformations(self, x: Array, chosen: slice | IntArray = slice(None)) -> tuple[Array, Array]:
        """Return F [m, g, 3, 3] of chosen elements with nodes at x [m, k, 3], and the volumes of the points [m, g]."""
        J = self._tangents(self.points[self.nodes[chosen]], chosen)
        return self._tangents(x, chosen) @ np.linalg.inv(J), tensors.determinants(J) * self.point_weights

    def jacobians(self, q: Array) -> Array:
        """Return deformed over undeformed volume [m] at the nodal positions q [n, 3]."""
        det = tensors.determinants(self._tangents(q[self.nodes]))
        # Not by a product with a vector, whose bits would depend on how many elements there are.
        return (det * self.point_weights).sum(axis=1) / self.volumes

    def failure(self, positions: list[Array]) -> InvertedElement | MaterialFailed:
        """Return the error about the first element that is inverted, or has no finite energy or stress, at x."""
        with np.errstate(all="ignore"):  # positions may be infinite
            F = [self.deformations(x)[0] for x in positions]
            if self.stretches is not None:
                F = [one / self.stretches[..., None, None] for one in F]
        return failures.failure(self.material, self.nodes, np.arange(len(self.nodes)), F, self.law_at())
