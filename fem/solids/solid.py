"""The strain energy of an elastic body."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from math import inf
from typing import Any, Literal, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symplex.base.arguments import checked
from symplex.errors import InvalidSystem
from symplex.fem.assembly import forms
from symplex.fem.assembly.calls import Call
from symplex.fem.assembly.forms import FORMS, Form, OptionalFunction
from symplex.fem.assembly.nodes import Nodes, connectivity, require_nodes
from symplex.fem.energies.energy import RIGID, Array, Energy, IntArray, Invariance, LatticeFunctions
from symplex.fem.energies.kernel_energy import KernelForms
from symplex.fem.solids.constitutive import InvariantMaterial, Material
from symplex.fem.solids.element_loops import Loop, NumpyLoop, strains_of
from symplex.fem.solids.elements import (
    HEXAHEDRON,
    REDUCED_HEXAHEDRON,
    SERENDIPITY_HEXAHEDRON,
    TETRAHEDRON,
    Element,
    element_of,
)
from symplex.fem.solids.numpy_forms import Part
from symplex.fem.solids.solid_elements import SolidElements
from symplex.fem.solids.solid_forms import SolidForms, forms_of
from symplex.fem.solids.stress_loops import NINE, set_means, set_von_mises

Formulation = Literal["full", "stabilized", "mean-dilatation", "reduced"]


@checked
@final
class Solid(KernelForms, Energy):
    """The strain energy of elements of one type and one material, ∫ W dV.

    Users name a body, not how it is computed: the elements are known by the number of their nodes, and a table has the
    loops that find each form of them, by their law and formulation (`symplex.fem.solids.solid_forms`).

    Parameters
    ----------
    points : float64 [n, 3]
        Undeformed positions in m of the nodes of the whole mesh.
    cells : int [m, k]
        The nodes of the elements as meshio orders them; k shows their type: 4 ``tetra``, 5 ``pyramid``, 6 ``wedge``,
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
    thermal_strain : float64 [n], optional
        ε = α ΔT at the nodes of the whole mesh: a free body stretches by s = 1 + ε in all directions. The energy is
        ∫ s³ W(F/s) dV, of laws of small strains ∫ W(sym F − s) dV, with s at the points of quadrature, in stabilized
        hexahedra its mean. Volumes, masses and the strain of results are those of the undeformed body.

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
    elements : SolidElements
        What the loops know of the elements.

    Raises
    ------
    InvalidSystem
        If the shapes of points or cells do not fit, or cells are not indices of points.
    MeshError
        If an undeformed element is inverted or flat.
    """

    threaded = True

    kind: str  # which all solids have

    def __init__(
        self,
        points: ArrayLike,
        cells: Nodes,
        material: Material,
        fibres: ArrayLike | None = None,
        formulation: Formulation | None = None,
        thermal_strain: ArrayLike | None = None,
    ):
        self.points = np.array(points, dtype=float, order="C")  # a copy: bodies move, what is undeformed stays
        self.nodes = connectivity("Solid", cells)
        self.material = material
        if self.points.ndim != 2 or self.points.shape[1] != 3:
            raise InvalidSystem(f"Solid: points have shape {self.points.shape}, expected (n, 3).")
        element = element_of("Solid", self.nodes)
        require_nodes("Solid", self.nodes, len(self.points))
        self.kind = element.kind
        self.fibres = None if fibres is None else self._directions(fibres)
        self.formulation: Formulation = _formulation_of(element, formulation, material)
        element = REDUCED_HEXAHEDRON if self.formulation == "reduced" else element
        self.thermal_strain = None if thermal_strain is None else self._strains(thermal_strain)
        stabilized = self.formulation == "stabilized"
        of_elements = element, self.points, self.nodes, material, self.fibres, stabilized
        self.elements = SolidElements(*of_elements, self.thermal_strain)
        self.volumes = self.elements.volumes
        self._compose(3, None)

    @cached_property
    def _found(self) -> SolidForms:
        """How everything is found."""
        return forms_of(self.elements.element, self.material, self.formulation)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state of copies, which look the loops up again."""
        return {name: value for name, value in self.__dict__.items() if name != "_found"}

    def __repr__(self) -> str:
        return f"Solid({len(self.nodes)} {self.kind} of {self.material!r})"

    def restrict(self, indices: ArrayLike | NDArray[np.bool_]) -> Solid:
        """Return the energy of the elements with the given indices (or mask) only."""
        chosen = np.asarray(indices) if np.size(indices) else slice(0)
        fibres = self.fibres_of(chosen)
        return Solid(self.points, self.nodes[chosen], self.material, fibres, self.formulation, self.thermal_strain)

    def expanded(self, thermal_strain: ArrayLike | None) -> Solid:
        """Return the energy with another thermal strain [n]."""
        return Solid(self.points, self.nodes, self.material, self.fibres, self.formulation, thermal_strain)

    def thermal_strain_at(self, nodes: NDArray[np.integer]) -> Array | None:
        """Return the thermal strain [l] of nodes [l], if there is one; of those beyond its own, any."""
        return None if self.thermal_strain is None else self.thermal_strain[np.minimum(nodes, len(self.points) - 1)]

    def points_at(self, nodes: NDArray[np.integer]) -> Array:
        """Return the undeformed positions [l, 3] in m of nodes [l]; of those beyond its own, any."""
        return self.points[np.minimum(nodes, len(self.points) - 1)]

    def fibres_of(self, chosen: NDArray[np.integer] | NDArray[np.bool_] | slice) -> Array | None:
        """Return the directions of fibres of chosen elements [F, s, 3], if elements have their own."""
        return None if self.fibres is None else np.ascontiguousarray(self.fibres[:, chosen])

    def _strains(self, given: ArrayLike) -> Array:
        """Return thermal strains that have been checked."""
        strain = np.array(given, dtype=float)
        if strain.shape != (len(self.points),) or not (np.isfinite(strain) & (strain > -1.0)).all():
            raise InvalidSystem(
                f"Solid: thermal_strain must be {len(self.points)} finite numbers above -1, one for each point."
            )
        return strain

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
                f"Solid: the directions of fibres have shape {np.shape(fibres)}; expected ({F}, {m}, 3): {F} of the "
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
    def compiled(self) -> bool:
        """Whether compiled loops find all forces: no law is asked in Python."""
        return all(isinstance(loop, Loop) for loop in self._found.loops[forms.GRADIENT])

    @property
    def widest(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """How many threads may add up a form together."""
        return self.elements.blocks.phases.widest

    def calls(self, form: Form, dim: int) -> list[Call] | None:
        """Return the calls of the loops that find a form, for one thread; None if a law is in Python or has none."""
        if form not in self._found.loops:
            return None
        calls = [loop.calls(self.elements) for loop in self._found.loops.get(form, ())]
        return None if None in calls or dim != 3 else [call for of_loop in calls for call in of_loop or ()]

    def is_divisible(self, dim: int) -> bool:
        """Return that some elements can be taken alone."""
        return True

    def of_some(self, chosen: NDArray[np.integer], nodes: IntArray) -> Solid:
        """Return the energy of chosen elements [s], on nodes [s, k] that have other numbers."""
        points = np.zeros((int(nodes.max(initial=-1)) + 1, 3))
        points[nodes] = self.points[self.nodes[chosen]]
        strain = None
        if self.thermal_strain is not None:
            strain = np.zeros(len(points))
            strain[nodes] = self.thermal_strain[self.nodes[chosen]]
        return Solid(points, nodes, self.material, self.fibres_of(chosen), self.formulation, strain)

    def release(self) -> None:
        """Forget what is computed of the elements again when it is needed: constants, and the order of the loops."""
        self.elements.release()

    # -- forms ------------------------------------------------------------------------------------------------

    def value(self, x: Array) -> Array:
        """Return the strain energies [m] in J of the elements with nodes at x [m, k, 3]."""
        return self.local(forms.VALUE, x)

    def mean_gradient(self, x0: Array, x1: Array) -> Array:
        """Return Σ w F_m S(C_m) ∇N_a [m, k, 3] in N for x0 and x1 [m, k, 3], F_m and C_m the means of F and C."""
        return self.local(forms.MEAN_GRADIENT, x0, x1)

    def secant(self, x: Array) -> Array:
        """Return 𝓕 [m, k, k] in N/m, 𝓕_ab = ∫ ∇N_a·S ∇N_b, of the elements with nodes at x [m, k, 3].

        Raises
        ------
        InvalidSystem
            If the law is not objective: its forces do not turn with the body, as 𝓕 x does.
        """
        return self.local(forms.SECANT, x)

    def secant_rate(self, x: Array, v: Array) -> Array:
        """Return 𝓕̇ [m, k, k] in N/(m s), 𝓕̇_ab = ∫ ∇N_a·Ṡ ∇N_b with Ṡ = ℂ : Ċ/2, for x and v [m, k, 3]; see `secant`."""
        return self.local(forms.SECANT_RATE, x, v)

    def local(self, form: Form, *x: Array) -> Array:
        """Return a form of each element apart, as its local function does, for gathered arrays [m, k, 3].

        Raises
        ------
        InvertedElement, MaterialFailed
        InvalidSystem
            If the energy does not have the form.
        """
        return self._local(form, *x)

    def _apart(self, form: Form, *gathered: Array, loops: Iterable[Loop | NumpyLoop] | None = None) -> Array:
        """Return what loops, by default those of the form, add for it in place if elements share no nodes."""
        self._require(form)
        m, k = self.nodes.shape
        out = np.zeros(m if form.kind == "number" else form.shape(m * k, m * k * k, 3))
        nodal = tuple(y.reshape(-1, 3) for y in gathered)
        for loop in self._found.loops[form] if loops is None else loops:
            slots = self.elements.own_slots if form.is_matrix else None
            loop.add(self.elements, form, nodal, out, slots, apart=True)
        if form.kind == "block":
            out = out.reshape(m, k, k, 3, 3).transpose(0, 1, 3, 2, 4)
        return out.reshape(form.local_shape(m, k, 3))

    def has(self, optional: OptionalFunction) -> bool:
        """Return whether the energy has an optional method: a law that is not objective has no secant form."""
        return all(form in self._found.loops for form in FORMS if form.optional == optional)

    def local_value(self, stencil: int, x: Array) -> float:
        """Return φ in J of one element with nodes at x [k, 3]; infinite where it is inverted."""
        part = self.elements.part(slice(stencil, stencil + 1))
        F, C, valid = strains_of(part, np.asarray(x, dtype=float)[None])
        with np.errstate(all="ignore"):
            W = float(self._found.energies(part, F, C)[0]) if valid else inf
        return W + self.elements.hourglass_value(stencil, x)

    def lattice_functions(self, axes: Array | None = None) -> LatticeFunctions:
        """Return functions of one element: compiled for laws of invariants, else evaluated in Python."""
        lattice = self._found.lattice
        return super().lattice_functions(axes) if lattice is None else lattice(self.elements)

    def total(self, q: Array) -> float:
        """Return the energy in J at the nodal positions q [n, 3]."""
        return float(self.local_energies(q).sum())

    def local_energies(self, q: Array) -> Array:
        """Return the energies [m] in J of the elements at the nodal positions q [n, 3]."""
        out = np.zeros(len(self.nodes))
        self.add(forms.VALUE, (q,), out)
        return out

    def add(self, form: Form, nodal: tuple[Array, ...], out: Array, slots: IntArray | None = None) -> None:
        """Add a form at the nodal positions q [n, 3], and other nodal arrays, to out (see `Energy.add`)."""
        self._require(form)
        if form is forms.HESSIAN_PRODUCT and form not in self._found.loops:
            super().add(form, nodal, out, slots)
            return
        nodal = tuple(map(self._checked, nodal))
        self._check_result(form, len(nodal[0]), 3, out)
        for loop in self._found.loops[form]:
            loop.add(self.elements, form, nodal, out, slots if form.is_matrix else None)

    # -- strain and stress, for output ------------------------------------------------------------------------

    def part(self) -> Part:
        """Return the law, the weights and the gradients of shape functions at all points of quadrature."""
        return self.elements.part()

    def stress_at_points(self, part: Part, C: Array) -> Array:
        """Return S [m, g, 3, 3] in Pa at all points of quadrature, those of `part`, given C of F/s there."""
        S, s = self._found.stress(part, C), self.elements.stretches
        return S if s is None or self.material.objective else S * s[..., None, None]

    def deformation_gradients(self, q: Array) -> Array:
        """Return F [m, 3, 3] at the nodal positions q [n, 3], its mean over the undeformed element."""
        F, volumes = self.elements.deformations(self._checked(q)[self.nodes])
        return np.einsum("egij,eg->eij", F, volumes) / self.volumes[:, None, None]

    def jacobians(self, q: Array) -> Array:
        """Return deformed over undeformed volume [m] at the nodal positions q [n, 3]; det F if F is uniform."""
        return self.elements.jacobians(self._checked(q))

    def first_piola(self, q: Array) -> Array:
        """Return P = ∂W/∂F [m, 3, 3] in Pa at the nodal positions q [n, 3], its mean over the undeformed element.

        Raises
        ------
        InvertedElement
            If det F ≤ 0 anywhere.
        MaterialFailed
            If the law has no finite stress.
        """
        return self._means(self._checked(q), self.points, self.volumes)

    def cauchy(self, q: Array) -> Array:
        """Return the Cauchy stress σ = P Fᵀ/J [m, 3, 3] in Pa at the positions q [n, 3], its mean over the element.

        Small strains know one stress, that of `first_piola`.

        Raises
        ------
        InvertedElement, MaterialFailed
            As `first_piola`.
        """
        if not self.material.objective:
            return self.first_piola(q)
        q = self._checked(q)
        if self._found.cauchy is not None:
            return self._set_stresses(self._found.cauchy, q, NINE).reshape(-1, 3, 3)
        known = self.kind == "tetra"  # the loop finds deformed volumes itself
        return self._means(q, q, np.empty(0) if known else self.volumes * self.jacobians(q))

    def _means(self, q: Array, y: Array, volumes: Array) -> Array:
        """Return Σ f_n ⊗ y_n/V [m, 3, 3] of the forces at q, where Σ f_n ⊗ y_n is ∫ P ∂y/∂X dV (`stress_loops`)."""
        forces, out = (
            self._apart(forms.GRADIENT, q[self.nodes], loops=[self._found.forces]),
            np.empty((len(self.nodes), NINE)),
        )
        set_means(forces, y, self.nodes, volumes, out)
        return out.reshape(-1, 3, 3)

    def _set_stresses(self, loop: Loop, q: Array, numbers: int) -> Array:
        out = np.empty((len(self.nodes), numbers))
        loop.add(self.elements, forms.GRADIENT, (q,), out)
        return out

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
        if overstress is None and self._found.cauchy is not None:
            return self._set_stresses(self._found.cauchy, self._checked(q), 1)[:, 0]
        sigma = self.cauchy(q)
        if overstress is not None:
            sigma += overstress
        out = np.empty(len(sigma))
        set_von_mises(np.ascontiguousarray(sigma).reshape(len(sigma), 9), out)
        return out

    def _require(self, form: Form) -> None:
        if form.optional is not None and not self.has(form.optional):
            raise self.lacks(form.optional)


def solids_of(energies: Mapping[str, Energy]) -> dict[str, Solid]:
    """Return those of energies that are of solids, by name."""
    return {name: energy for name, energy in energies.items() if isinstance(energy, Solid)}


def _formulation_of(element: Element, formulation: Formulation | None, material: Material) -> Formulation:
    """Return the formulation of elements: the one that is asked for, or the best."""
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
