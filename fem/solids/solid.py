"""The strain energy of an elastic body."""

from __future__ import annotations

from functools import cached_property
from typing import Literal, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symplex.base.arguments import checked
from symplex.errors import InvalidSystem
from symplex.fem.calls import Call
from symplex.fem.energy import RIGID, Array, IntArray, Invariance, LatticeFunctions
from symplex.fem.forms import Form, OptionalFunction
from symplex.fem.nodes import Nodes, connectivity, require_nodes
from symplex.fem.solids.chunked_elements import ChunkedElements
from symplex.fem.solids.constitutive import InvariantMaterial, Material
from symplex.fem.solids.element_energy import ElementEnergy
from symplex.fem.solids.elements import (
    HEXAHEDRON,
    REDUCED_HEXAHEDRON,
    SERENDIPITY_HEXAHEDRON,
    TETRAHEDRON,
    Element,
    element_of,
)
from symplex.fem.solids.isoparametric import Isoparametric
from symplex.fem.solids.law_elements import LawElements
from symplex.fem.solids.linear_elements import LinearElements
from symplex.fem.solids.materials import NeoHookean
from symplex.fem.solids.mean_dilatation import MeanDilatation
from symplex.fem.solids.neo_hookean_tetrahedra import NeoHookeanTetrahedra
from symplex.fem.solids.stabilized import StabilizedHexahedra
from symplex.fem.solids.stress_loops import set_von_mises

Formulation = Literal["full", "stabilized", "mean-dilatation", "reduced"]

_WRAPPERS = StabilizedHexahedra, MeanDilatation
_WANTED = {"block": "(nnz, 3, 3)", "value": "(nnz,)"}


@checked
@final
class Solid(ElementEnergy):
    """The strain energy of elements of one type and one material, ∫ W dV.

    Users name a body, not how it is computed: the elements are known by the number of their nodes. Laws of invariants
    run in compiled loops (`LawElements`), but linear tetrahedra of a neo-Hookean material have kernels of their own
    where these are faster (`NeoHookeanTetrahedra`); laws written in Python run through NumPy (`Isoparametric`).

    Parameters
    ----------
    points : float64 [n, 3]
        Undeformed positions in m of the nodes of the whole mesh.
    cells : int [m, k]
        The nodes of the elements as meshio orders them; k tells their type: 4 ``tetra``, 5 ``pyramid``, 6 ``wedge``,
        8 ``hexahedron``, 10 ``tetra10``, 13 ``pyramid13``, 15 ``wedge15``, 18 ``wedge18``, 20 ``hexahedron20``, 27
        ``hexahedron27``.
    material : Material
    fibres : float64 [m, 3] or [F, m, 3], optional
        Undeformed directions of the material's families of fibres in each element, of any length; default: those of the
        material in all elements.
    formulation : str, optional
        How the strains are interpolated. ``"full"``: as the shape functions say, at all points of quadrature.
        ``"stabilized"``, of hexahedra of 8 nodes: uniform, with an hourglass energy that neither locks in bending nor
        where the material is nearly incompressible. ``"mean-dilatation"``, of all but linear tetrahedra and laws that
        are objective: with the mean change of volume of the element, for nearly incompressible materials.
        ``"reduced"``, of hexahedra of 20 nodes: at 2 × 2 × 2 points instead of 3 × 3 × 3, softer in bending, but one
        element alone has six zero-energy modes, of which a row of single elements keeps some even when clamped; where
        two elements or more are side by side none is left. Default: stabilized hexahedra, other elements full.

    Attributes
    ----------
    formulation : str
    fibres : float64 [F, m, 3] or None
        These directions, of length 1.
    nodes : int32 [m, k]
        The nodes of the elements.
    kind : str
        meshio's name of the elements, such as ``tetra`` or ``hexahedron``.
    volumes : float64 [m]
        Undeformed volumes in m³.

    Raises
    ------
    InvalidSystem
        If the shapes of points or cells do not fit, or cells are not indices of points.
    MeshError
        If an undeformed element is inverted or flat.
    """

    def __init__(
        self,
        points: ArrayLike,
        cells: Nodes,
        material: Material,
        fibres: ArrayLike | None = None,
        formulation: Formulation | None = None,
    ):
        self.points = np.array(points, dtype=float, order="C")  # a copy: bodies move, what is undeformed stays
        self.nodes = connectivity("Solid", cells)
        self.material = material
        if self.points.ndim != 2 or self.points.shape[1] != 3:
            raise InvalidSystem(f"Solid: points have shape {self.points.shape}, wanted (n, 3).")
        element = element_of("Solid", self.nodes)
        require_nodes("Solid", self.nodes, len(self.points))
        self.kind = element.kind
        law, linear = material.law_functions(), material.linear_constants()
        self.fibres = None if fibres is None else self._directions(fibres)
        self.formulation: Formulation = _formulation_of(element, formulation, material)
        element = REDUCED_HEXAHEDRON if self.formulation == "reduced" else element
        self._elements: LawElements | LinearElements | Isoparametric | StabilizedHexahedra | MeanDilatation
        self._fast: NeoHookeanTetrahedra | None = None
        directions = material.directions if self.fibres is None else self.fibres
        if self.formulation == "stabilized":
            self._elements = StabilizedHexahedra(self.points, self.nodes, material, directions)
        elif self.formulation == "mean-dilatation":
            self._elements = MeanDilatation(element, self.points, self.nodes, material, directions)
        elif law is not None:
            self._elements = LawElements(element, self.points, self.nodes, material, law, directions)
            if element is TETRAHEDRON and isinstance(material, NeoHookean):
                self._fast = NeoHookeanTetrahedra(self._elements, material)
        elif linear is not None:
            self._elements = LinearElements(element, self.points, self.nodes, material, linear)
        else:
            self._elements = Isoparametric(element, self.points, self.nodes, material)
        self.volumes = self._elements.volumes

    def __repr__(self) -> str:
        return f"Solid({len(self.nodes)} {self.kind} of {self.material!r})"

    def restrict(self, indices: ArrayLike | NDArray[np.bool_]) -> Solid:
        """Return the energy of the elements with the given indices (or mask) only."""
        chosen = np.asarray(indices) if np.size(indices) else slice(0)
        return Solid(self.points, self.nodes[chosen], self.material, self.fibres_of(chosen), self.formulation)

    def points_at(self, nodes: NDArray[np.integer]) -> Array:
        """Return the undeformed positions [l, 3] in m of nodes [l]; of those beyond its own, any."""
        return self.points[np.minimum(nodes, len(self.points) - 1)]

    def fibres_of(self, chosen: NDArray[np.integer] | NDArray[np.bool_] | slice) -> Array | None:
        """Return the directions of fibres of chosen elements [F, s, 3], if elements have their own."""
        return None if self.fibres is None else np.ascontiguousarray(self.fibres[:, chosen])

    def _directions(self, fibres: ArrayLike) -> Array:
        """Return the directions of fibres of each element [F, m, 3], of length 1."""
        a = np.array(fibres, dtype=float)
        a = a[None] if a.ndim == 2 else a
        law, m = self.material.law_functions(), len(self.nodes)
        F = law.fibres if law is not None and isinstance(self.material, InvariantMaterial) else 0
        if F == 0:
            raise InvalidSystem(
                f"Solid: {type(self.material).__name__} has no fibres, but is given their directions; "
                "take a material with them, as material(…, fibres=[1, 0, 0])."
            )
        if a.shape != (F, m, 3):
            one = " or (m, 3)" if F == 1 else ""
            raise InvalidSystem(
                f"Solid: the directions of fibres have shape {np.shape(fibres)}; wanted is ({F}, {m}, 3): {F} of the "
                f"material's families, m = {m} elements{one}."
            )
        length = np.linalg.norm(a, axis=2, keepdims=True)
        bad = np.argwhere(~((length > 0) & (length < np.inf))[:, :, 0])
        if len(bad):
            f, e = bad[0]
            raise InvalidSystem(
                f"Solid: the direction of fibres {tuple(a[f, e])} of element {e} has no finite length above zero."
            )
        # Those of length 1 stay the same to the last bit, so that some of the elements are as all are.
        return np.where(np.abs(length - 1.0) <= 4.0 * np.finfo(float).eps, a, a / length)

    @property
    def invariances(self) -> frozenset[Invariance]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Shifts, and turns if the law is objective."""
        return RIGID if self.material.objective else frozenset({"translations"})

    @property
    def chunked(self) -> ChunkedElements | None:
        """The compiled loops over chunks of its elements, if they find all forces."""
        found = self._elements.chunked if isinstance(self._elements, _WRAPPERS) else self._elements
        return found if isinstance(found, ChunkedElements) else None

    def gradient_calls(self) -> list[Call] | None:
        """Return the calls of the loops that find its gradient, on one thread, for compiled loops over steps.

        None if there are none: where a law is written in Python.
        """
        found = self._fast or self.chunked
        return None if found is None else found.gradient_calls()

    @property
    def loops(self) -> ElementEnergy | NeoHookeanTetrahedra:
        """The loops that find its forms, for arrays of the right size: they write wherever they are told to."""
        return self._computed

    def release(self) -> None:
        """Forget what is computed of the elements again when it is needed: constants, and the order of the loops."""
        for owner in (self._fast, self._elements, self.chunked):
            for name in [] if owner is None else list(vars(owner)):
                if isinstance(getattr(type(owner), name, None), cached_property):
                    del vars(owner)[name]

    # -- forms ------------------------------------------------------------------------------------------------

    def value(self, x: Array) -> Array:
        """Return the strain energies [m] in J of the elements with nodes at x [m, k, 3]."""
        return self._elements.value(self._gathered(x))

    def local(self, form: Form, *x: Array) -> Array:
        """Return a form of each element apart, as its local function does, for gathered arrays [m, k, 3]."""
        self._require(form)
        return self._computed.local(form, *map(self._gathered, x))

    def has(self, optional: OptionalFunction) -> bool:
        """Return whether the energy has an optional method: a law that is not objective has no secant form."""
        return self._elements.has(optional) and (optional != "secant" or self.material.objective)

    def local_value(self, stencil: int, x: Array) -> float:
        """Return φ in J of one element with nodes at x [k, 3]; infinite where it is inverted."""
        return self._elements.local_value(stencil, x)

    def lattice_functions(self, axes: Array | None = None) -> LatticeFunctions:
        """Return functions of one element: compiled for laws of invariants, else evaluated in Python."""
        return self._fast.lattice_functions() if self._fast else self._elements.lattice_functions(axes)

    def total(self, q: Array) -> float:
        """Return the energy in J at the nodal positions q [n, 3]."""
        return self._computed.total(self._positions(q))

    def local_energies(self, q: Array) -> Array:
        """Return the energies [m] in J of the elements at the nodal positions q [n, 3]."""
        found = self._fast or self.chunked
        return super().local_energies(q) if found is None else found.local_energies(self._positions(q))

    def add(self, form: Form, nodal: tuple[Array, ...], out: Array, slots: IntArray | None = None) -> None:
        """Add a form at the nodal positions q [n, 3], and other nodal arrays, to out (see `Energy.add`)."""
        self._require(form)
        arrays = [self._positions(x) for x in nodal]
        wanted = form.shape(len(arrays[0]), len(out), 3)
        if out.shape != wanted or not out.flags.c_contiguous:  # the kernel would write elsewhere, or to a copy
            message = _WANTED[form.kind] if form.is_matrix else wanted
            raise InvalidSystem(f"Solid: the {form.title} has shape {out.shape}, wanted a contiguous array {message}.")
        self._computed.add(form, tuple(arrays), out, slots)

    # -- strain and stress, for output ------------------------------------------------------------------------

    def deformation_gradients(self, q: Array) -> Array:
        return self._elements.deformation_gradients(self._positions(q))

    def jacobians(self, q: Array) -> Array:
        return self._elements.jacobians(self._positions(q))

    def first_piola(self, q: Array) -> Array:
        return self._computed.first_piola(self._positions(q))

    def cauchy(self, q: Array) -> Array:
        return self._computed.cauchy(self._positions(q))

    def von_mises(self, q: Array, overstress: Array | None = None) -> Array:
        """Return the von Mises stress √(3/2 s:s) [m] in Pa, s the deviator of the mean σ, at the positions q [n, 3].

        Parameters
        ----------
        q : float64 [n, 3]
        overstress : float64 [m, 3, 3], optional
            What is to be added to the σ of the elastic law, as `Viscoelastic.cauchy` gives it.

        Raises
        ------
        InvertedElement, MaterialFailed
            As `first_piola`.
        """
        if overstress is None and self._fast is not None:
            return self._fast.von_mises(self._positions(q))
        sigma = self.cauchy(q)
        if overstress is not None:
            sigma += overstress
        out = np.empty(len(sigma))
        set_von_mises(np.ascontiguousarray(sigma).reshape(len(sigma), 9), out)
        return out

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

    def _require(self, form: Form) -> None:
        if form.optional is not None and not self.has(form.optional):
            raise self.lacks(form.optional)

    @property
    def _computed(self) -> ElementEnergy | NeoHookeanTetrahedra:
        return self._fast or self._elements

    @cached_property
    def _least_nodes(self) -> int:
        return int(self.nodes.max(initial=-1)) + 1


def _formulation_of(element: Element, formulation: Formulation | None, material: Material) -> Formulation:
    """Return the formulation of elements: the one that is asked for, or the best.

    Raises
    ------
    InvalidSystem
        If it is not one of these elements, or not of the material.
    """
    if formulation is None:
        return "stabilized" if element is HEXAHEDRON else "full"
    if formulation == "stabilized" and element is not HEXAHEDRON:
        raise InvalidSystem(f'Solid: hexahedra of 8 nodes can be stabilized, {element.plural} cannot; take "full".')
    if formulation == "reduced" and element is not SERENDIPITY_HEXAHEDRON:
        raise InvalidSystem(
            f'Solid: hexahedra of 20 nodes can have reduced integration, {element.plural} cannot; take "full".'
        )
    if formulation == "mean-dilatation":
        if element is TETRAHEDRON:
            raise InvalidSystem(
                "Solid: the dilatation of linear tetrahedra is uniform, and so is its mean; for nearly incompressible "
                'materials take quadratic tetrahedra of formulation "mean-dilatation", or hexahedra.'
            )
        if not material.objective:
            raise InvalidSystem(
                f"Solid: {type(material).__name__} is a law of small strains, and has no mean dilatation; take a law "
                "of large strains, as SaintVenantKirchhoff or NeoHookean."
            )
    return formulation
