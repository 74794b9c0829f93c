"""The strain energy of an elastic body of linear tetrahedra."""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symplex.errors import InvalidSystem, InvertedElement
from symplex.fem import neo_hookean, tetrahedra
from symplex.fem.energy import Array, Energy, LatticeFunctions
from symplex.fem.materials import NeoHookean


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
        self.points = np.ascontiguousarray(points, dtype=float)
        self.nodes = np.ascontiguousarray(cells, dtype=np.int32)
        self.material = material
        self._check()
        self.volumes = tetrahedra.checked_volumes(self.points, self.nodes)
        G = tetrahedra.shape_gradients(self.points, self.nodes)[:, 1:]
        self._k = np.einsum("eai,ebi,e->eab", G, G, material.mu * self.volumes)
        self._D = 6.0 * self.volumes

    def _check(self) -> None:
        if self.points.ndim != 2 or self.points.shape[1] != 3:
            raise InvalidSystem(f"Solid: points have shape {self.points.shape}, wanted (n, 3).")
        if self.nodes.ndim != 2 or self.nodes.shape[1] != 4:
            raise InvalidSystem(f"Solid: cells have shape {self.nodes.shape}, wanted (m, 4).")
        if self.nodes.size and not (self.nodes.min() >= 0 and self.nodes.max() < len(self.points)):
            raise InvalidSystem(
                f"Solid: cells refer to nodes {self.nodes.min()} to {self.nodes.max()}, "
                f"but there are {len(self.points)} points."
            )

    def restrict(self, indices: ArrayLike | NDArray[np.bool_]) -> Solid:
        """Return the energy of the elements with the given indices (or mask) only."""
        return Solid(self.points, self.nodes[indices], self.material)

    # -- local functions --------------------------------------------------------------------------------------

    def value(self, x: Array) -> Array:
        """Return the strain energies [m] in J of the elements with nodes at x [m, 4, 3]."""
        out = np.empty(len(x))
        self._refuse(neo_hookean.value(x, self._k, self._D, *self._moduli, out), x)
        return out

    def gradient(self, x: Array) -> Array:
        """Return ∂φ/∂x [m, 4, 3] in N of the elements with nodes at x [m, 4, 3]."""
        out = np.empty_like(x)
        self._refuse(neo_hookean.gradient(x, self._k, self._D, *self._moduli, out), x)
        return out

    def hessian(self, x: Array) -> Array:
        """Return ∂²φ/∂x² [m, 12, 12] in N/m of the elements with nodes at x [m, 4, 3]."""
        out = np.empty((len(x), 12, 12))
        self._refuse(neo_hookean.hessian(x, self._k, self._D, *self._moduli, out), x)
        return out

    # -- assembled forms --------------------------------------------------------------------------------------

    def add_gradient(self, q: Array, out: Array) -> None:
        """Add the gradient in N at the nodal positions q [n, 3] to out [n, 3]."""
        bad = neo_hookean.add_gradient(q, self.nodes, self._k, self._D, *self._moduli, out)
        if bad >= 0:
            self._refuse(bad, q[self.nodes])

    def lattice_functions(self) -> LatticeFunctions:
        """Return compiled differences of one element's energy, for force-stepping."""
        from symplex.fem.lattice import neo_hookean_lattice  # compiled when first needed

        gradients = tetrahedra.shape_gradients(self.points, self.nodes)
        return neo_hookean_lattice(*self._moduli, self.volumes, gradients)

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
        self._refuse_inverted(J)
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
        F = self.deformation_gradients(q)
        return np.einsum("eij,ekj,e->eik", self.first_piola(q), F, 1.0 / self.jacobians(q))

    def von_mises(self, q: Array) -> Array:
        """Return the von Mises stress √(3/2 s:s) [m] in Pa, s the deviator of σ, at the nodal positions q [n, 3].

        Raises
        ------
        InvertedElement
            If det F ≤ 0 anywhere.
        """
        sigma = self.cauchy(q)
        s = sigma - np.trace(sigma, axis1=1, axis2=2)[:, None, None] / 3.0 * np.eye(3)
        return np.sqrt(1.5 * (s * s).sum(axis=(1, 2)))

    # -- failures ---------------------------------------------------------------------------------------------

    @property
    def _moduli(self) -> tuple[float, float]:
        return self.material.lmbda, self.material.mu

    def _refuse(self, bad: int, x: Array) -> None:
        """Raise InvertedElement for the element ``bad`` of those at x [m, 4, 3], unless it is −1."""
        if bad >= 0:
            d = tetrahedra.edges(x[bad : bad + 1])[0]
            self._raise_inverted(int(bad), float(np.linalg.det(d) / self._D[bad]))

    def _refuse_inverted(self, J: Array) -> None:
        bad = np.flatnonzero(~(J > 0))
        if len(bad):
            self._raise_inverted(int(bad[0]), float(J[bad[0]]))

    def _raise_inverted(self, element: int, J: float) -> None:
        nodes = ", ".join(map(str, self.nodes[element]))
        raise InvertedElement(
            f"Element {element} (nodes {nodes}) is inverted: det F = {J:.3g}, and must be positive. "
            "Try a smaller step, a finer mesh there, or a softer impact.",
            element,
        )
