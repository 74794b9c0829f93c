"""The strain energy of an elastic body."""

from __future__ import annotations

from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symplex.base.arguments import checked
from symplex.errors import InvalidSystem
from symplex.fem.energy import Array, Energy, IntArray, LatticeFunctions
from symplex.fem.forms import Form, OptionalFunction
from symplex.fem.nodes import Nodes, connectivity, require_nodes
from symplex.fem.solids.elements import TETRAHEDRON, element_of
from symplex.fem.solids.isoparametric import Isoparametric
from symplex.fem.solids.law_elements import LawElements
from symplex.fem.solids.linear_elements import LinearElements
from symplex.fem.solids.materials import LinearElastic, Material, NeoHookean
from symplex.fem.solids.neo_hookean_tetrahedra import NeoHookeanTetrahedra

_WANTED = {"block": "(nnz, 3, 3)", "value": "(nnz,)"}


@checked
@final
class Solid(Energy):
    """The strain energy of elements of one type and one material, ∫ W dV.

    Users name a body, not how it is computed: the elements are known by the number of their nodes. Laws of invariants
    run in compiled loops (`LawElements`), but linear tetrahedra of a neo-Hookean material have kernels of their own
    where these are faster (`NeoHookeanTetrahedra`); laws written in Python run through NumPy (`Isoparametric`).

    Parameters
    ----------
    points : float64 [n, 3]
        Undeformed positions in m of the nodes of the whole mesh.
    cells : int [m, k]
        The nodes of the elements: k = 4 linear tetrahedra, 8 hexahedra, 10 quadratic tetrahedra, as meshio orders them.
    material : Material

    Attributes
    ----------
    nodes : int32 [m, k]
        The nodes of the elements.
    kind : str
        meshio's name of the elements: ``tetra``, ``hexahedron`` or ``tetra10``.
    volumes : float64 [m]
        Undeformed volumes in m³.

    Raises
    ------
    InvalidSystem
        If the shapes of points or cells do not fit, or cells are not indices of points.
    MeshError
        If an undeformed element is inverted or flat.
    """

    def __init__(self, points: ArrayLike, cells: Nodes, material: Material):
        self.points = np.array(points, dtype=float, order="C")  # a copy: bodies move, what is undeformed stays
        self.nodes = connectivity("Solid", cells)
        self.material = material
        if self.points.ndim != 2 or self.points.shape[1] != 3:
            raise InvalidSystem(f"Solid: points have shape {self.points.shape}, wanted (n, 3).")
        element = element_of("Solid", self.nodes)
        require_nodes("Solid", self.nodes, len(self.points))
        self.kind = element.kind
        law = material.law_functions()
        self._elements: LawElements | LinearElements | Isoparametric
        self._fast: NeoHookeanTetrahedra | None = None
        if law is not None:
            self._elements = LawElements(element, self.points, self.nodes, material, law)
            if element is TETRAHEDRON and isinstance(material, NeoHookean):
                self._fast = NeoHookeanTetrahedra(self._elements, material)
        elif isinstance(material, LinearElastic):
            self._elements = LinearElements(element, self.points, self.nodes, material)
        else:
            self._elements = Isoparametric(element, self.points, self.nodes, material)
        self.volumes = self._elements.volumes

    def restrict(self, indices: ArrayLike | NDArray[np.bool_]) -> Solid:
        """Return the energy of the elements with the given indices (or mask) only."""
        chosen = np.asarray(indices) if np.size(indices) else slice(0)
        return Solid(self.points, self.nodes[chosen], self.material)

    # -- local functions --------------------------------------------------------------------------------------

    def value(self, x: Array) -> Array:
        """Return the strain energies [m] in J of the elements with nodes at x [m, k, 3]."""
        return self._elements.value(self._gathered(x))

    def gradient(self, x: Array) -> Array:
        """Return ∂φ/∂x [m, k, 3] in N of the elements with nodes at x [m, k, 3]."""
        return (self._fast or self._elements).gradient(self._gathered(x))

    def hessian(self, x: Array) -> Array:
        """Return ∂²φ/∂x² [m, 3k, 3k] in N/m of the elements with nodes at x [m, k, 3]."""
        return (self._fast or self._elements).hessian(self._gathered(x))

    def discrete_gradient(self, x0: Array, x1: Array) -> Array:
        """Return DG [m, k, 3] in N with DG·(x1 − x0) = φ(x1) − φ(x0), for x0 and x1 [m, k, 3].

        Of each element its forces sum to zero, and so do their moments at the mean positions (x0 + x1)/2, if the law is
        objective.
        """
        return self._elements.discrete_gradient(self._gathered(x0), self._gathered(x1))

    def discrete_hessian(self, x0: Array, x1: Array) -> Array:
        """Return ∂DG/∂x1 [m, 3k, 3k] in N/m, which is not symmetric."""
        return self._elements.discrete_hessian(self._gathered(x0), self._gathered(x1))

    def mean_gradient(self, x0: Array, x1: Array) -> Array:
        """Return Σ w F_m S(C_m) ∇N_a [m, k, 3] in N for x0 and x1 [m, k, 3], F_m and C_m the means of F and C."""
        return self._elements.mean_gradient(self._gathered(x0), self._gathered(x1))

    def has(self, optional: OptionalFunction) -> bool:
        """Return whether the energy has an optional method: a law that is not objective has no secant form."""
        return super().has(optional) and (optional != "secant" or self.material.objective)

    def secant(self, x: Array) -> Array:
        """Return 𝓕 [m, k, k] in N/m, 𝓕_ab = ∫ ∇N_a·S ∇N_b, of the elements with nodes at x [m, k, 3].

        Raises
        ------
        InvalidSystem
            If the law is not objective: its forces do not turn with the body, as 𝓕 x does.
        InvertedElement, MaterialFailed
        """
        self._require_secant()
        return self._elements.secant(self._gathered(x))

    def secant_rate(self, x: Array, v: Array) -> Array:
        """Return 𝓕̇ [m, k, k] in N/(m s), 𝓕̇_ab = ∫ ∇N_a·Ṡ ∇N_b with Ṡ = ℂ : Ċ/2, for x and v [m, k, 3]; see `secant`."""
        self._require_secant()
        return self._elements.secant_rate(self._gathered(x), self._gathered(v))

    def third(self, x: Array, a: Array) -> Array:
        """Return ∇³φ[a, a] [m, k, 3] of the elements with nodes at x along a [m, k, 3].

        Raises
        ------
        InvertedElement, MaterialFailed
            As the gradient.
        InvalidSystem
            If the material has no second derivative of its stress.
        """
        return self._elements.third(self._gathered(x), self._gathered(a))

    def local_value(self, stencil: int, x: Array) -> float:
        """Return φ in J of one element with nodes at x [k, 3]; infinite where it is inverted."""
        return self._elements.local_value(stencil, x)

    def lattice_functions(self, axes: Array | None = None) -> LatticeFunctions:
        """Return functions of one element: compiled for laws of invariants, else evaluated in Python."""
        return self._fast.lattice_functions() if self._fast else self._elements.lattice_functions(axes)

    # -- assembled forms --------------------------------------------------------------------------------------

    def total(self, q: Array) -> float:
        """Return the energy in J at the nodal positions q [n, 3]."""
        return (self._fast or self._elements).total(self._positions(q))

    def add(self, form: Form, nodal: tuple[Array, ...], out: Array, slots: IntArray | None = None) -> None:
        """Add a form at the nodal positions q [n, 3], and other nodal arrays, to out (see `Energy.add`)."""
        if form.optional == "secant":
            self._require_secant()
        arrays = [self._positions(x) for x in nodal]
        wanted = form.shape(len(arrays[0]), len(out), 3)
        if out.shape != wanted or not out.flags.c_contiguous:  # the kernel would write elsewhere, or to a copy
            message = _WANTED[form.kind] if form.is_matrix else wanted
            raise InvalidSystem(f"Solid: the {form.title} has shape {out.shape}, wanted a contiguous array {message}.")
        add = getattr(self._fast, form.add, None) or getattr(self._elements, form.add)
        add(*arrays, slots, out) if form.is_matrix else add(*arrays, out)

    # -- strain and stress, for output ------------------------------------------------------------------------

    def deformation_gradients(self, q: Array) -> Array:
        """Return F [m, 3, 3] at the nodal positions q [n, 3], its mean over the undeformed element."""
        return self._elements.deformation_gradients(self._positions(q))

    def jacobians(self, q: Array) -> Array:
        """Return deformed over undeformed volume [m] at the nodal positions q [n, 3]; det F if F is uniform."""
        return self._elements.jacobians(self._positions(q))

    def first_piola(self, q: Array) -> Array:
        """Return P = ∂W/∂F [m, 3, 3] in Pa at the nodal positions q [n, 3], its mean over the undeformed element.

        Raises
        ------
        InvertedElement
            If det F ≤ 0 anywhere.
        MaterialFailed
            If the law has no finite stress.
        """
        return (self._fast or self._elements).first_piola(self._positions(q))

    def cauchy(self, q: Array) -> Array:
        """Return the Cauchy stress σ = P Fᵀ/J [m, 3, 3] in Pa at the positions q [n, 3], its mean over the element.

        Raises
        ------
        InvertedElement, MaterialFailed
            As `first_piola`.
        """
        return (self._fast or self._elements).cauchy(self._positions(q))

    def von_mises(self, q: Array) -> Array:
        """Return the von Mises stress √(3/2 s:s) [m] in Pa, s the deviator of the mean σ, at the positions q [n, 3].

        Raises
        ------
        InvertedElement, MaterialFailed
            As `first_piola`.
        """
        sigma = self.cauchy(q)
        sigma[:, [0, 1, 2], [0, 1, 2]] -= np.trace(sigma, axis1=1, axis2=2)[:, None] / 3.0
        return np.sqrt(1.5 * np.einsum("eij,eij->e", sigma, sigma))

    # -- checks: compiled code reads and writes wherever it is told to ------------------------------------------

    def _gathered(self, x: Array) -> Array:
        wanted = (*self.nodes.shape, 3)
        if x.shape != wanted:
            raise InvalidSystem(f"Solid: gathered positions have shape {x.shape}, wanted {wanted}.")
        return np.ascontiguousarray(x, dtype=float)

    def _positions(self, q: Array) -> Array:
        q = np.ascontiguousarray(q, dtype=float)
        if q.ndim != 2 or q.shape[1] != 3 or len(q) < self._least_nodes:
            raise InvalidSystem(f"Solid: positions have shape {q.shape}, wanted ({len(self.points)}, 3).")
        return q

    def _require_secant(self) -> None:
        if not self.has("secant"):
            raise self.lacks("secant")

    @cached_property
    def _least_nodes(self) -> int:
        return int(self.nodes.max(initial=-1)) + 1
