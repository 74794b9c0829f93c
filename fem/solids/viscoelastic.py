"""Viscoelastic bodies: the overstress of a generalised Maxwell model at finite strains."""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.fem.assembly.pattern import Array, IntArray, scatter_blocks, scatter_vectors
from symplex.fem.energies.inelastic import Inelastic
from symplex.fem.energies.maxwell import MaxwellElements
from symplex.fem.solids.hourglass import moduli_of, undeformed_elasticities
from symplex.fem.solids.hourglass_strains import PRODUCTS, HourglassStrains, matrices_of
from symplex.fem.solids.solid import Solid
from symplex.fem.solids.strain_rates import StrainPoints
from symplex.fem.solids.viscous_stress import DEVIATOR

_PLACES = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
_ROWS, _COLUMNS = np.transpose(_PLACES)
_TWICE = np.array([1.0, 1.0, 1.0, 2.0, 2.0, 2.0])  # how often a component stands in a symmetric tensor
_COMPONENTS = 6  # of d; after them the products Q of stabilized hexahedra


@checked
@final
class Viscoelastic(Inelastic):
    """The overstress of Maxwell elements next to the elastic law of a body: a Prony series of its shear modulus.

    With d = dev C of the right Cauchy-Green tensor and an internal tensor A_i of each element of the model

    ψ = Σ μ_i/4 |d − A_i|²,    S = 2 ∂ψ/∂C = Σ μ_i (d − A_i),    dA_i/dt = (d − A_i)/τ_i

    so that μ_i/(2 τ_i) |d − A_i|² ≥ 0 is dissipated per volume and time. For small strains the shear modulus is
    G(t) = μ + Σ μ_i exp(−t/τ_i) after a step of strain; the elastic law, with its μ, is what is left in the long run.
    Volume changes are elastic. All depends on C alone: rigid motions neither dissipate nor change the momenta.

    In an increment of the time h with the mean d_m of d at its ends, A_i goes from A_i0 to

    A_i1 = e A_i0 + (1 − e) d_m,    e = exp(−h/τ_i)

    which is exact where the strain is constant, however long the increment, and of second order where not. By
    energy-momentum methods the stress is Σ μ_i (d_m − (A_i0 + A_i1)/2); then work, stored energy and the dissipation
    μ_i/4 (1 − e²) |d_m − A_i0|² balance to round-off.

    Stabilized hexahedra have in the same way internal variables B_i of their hourglass strains Q and the energy
    Σ μ_i/(2M) (Q − B_i)·ΔK (Q − B_i), M = Σ μ_i, with the difference ΔK of K of the elasticities at once, ℂ + 2M dev,
    and of those in the long run, ℂ: so bending is right at once and in the long run, and to first order in M between.

    Parameters
    ----------
    solid : Solid
        The body, of a law of finite strains.
    moduli : float64 [i]
        The shear moduli μ_i in Pa of the Maxwell elements.
    times : float64 [i]
        Their relaxation times τ_i in s.

    Raises
    ------
    InvalidSystem
        If a modulus or a time is not positive, their numbers differ, or the law of the body is one of small strains.
    """

    def __init__(self, solid: Solid, moduli: ArrayLike, times: ArrayLike):
        self._elements = MaxwellElements("Viscoelastic", moduli, times, " Pa")
        self.moduli, self.times = self._elements.moduli, self._elements.times
        self._points = StrainPoints(solid, "Viscoelastic")
        self._hourglasses: HourglassStrains | None = None
        components, geometry = _COMPONENTS, self._points.hexahedra
        if geometry is not None:
            elastic, total = undeformed_elasticities(solid.material, solid.fibres), self.moduli.sum()
            at_once = moduli_of(geometry, solid.material, elastic + 2.0 * total * DEVIATOR)
            in_the_long_run = moduli_of(geometry, solid.material, elastic)
            self._hourglasses = HourglassStrains(geometry)
            self._shares = matrices_of((at_once - in_the_long_run) / total)  # ΔK/M [m, 12, 12]
            components += PRODUCTS
        self.nodes = solid.nodes
        self.shape = (len(self.times), *self._points.weights.shape, components)

    @classmethod
    @checked
    def prony(cls, solid: Solid, ratios: ArrayLike, times: ArrayLike) -> Viscoelastic:
        """Return that of ratios g_i = μ_i/G(0) of the instantaneous shear modulus, which the material's μ is left of.

        G(t) = G(0) [1 − Σ g_i (1 − exp(−t/τ_i))],  G(0) = μ/(1 − Σ g_i)

        Parameters
        ----------
        solid : Solid
        ratios, times : float64 [i]
            g_i, each positive and together below 1, and τ_i in s.

        Raises
        ------
        InvalidSystem
            If the ratios are not such, or as the constructor.
        """
        moduli = MaxwellElements.of_prony("Viscoelastic", ratios) * solid.material.lame_constants[1]
        return cls(solid, moduli, times)

    stencil_axis = 1

    def unstrained(self) -> Array:
        """Return the internal variables of a body that has not been strained before: those of C = 1."""
        return np.zeros(self.shape)

    def relaxed(self, q: Array) -> Array:
        """Return the internal variables that don't change at the positions q [n, 3]: A_i = d."""
        return np.broadcast_to(self._strains(q[self.nodes])[1], self.shape).copy()

    def stored(self, q: Array, z: Array) -> float:
        """Return ψ in J."""
        return float(self.moduli @ self._squared(self._strains(q[self.nodes])[1] - z))

    def force(self, q0: Array, z0: Array, q1: Array, h: float) -> Array:
        """Return the nodal forces [n, 3] in N at the end of an increment of h s."""
        x1 = q1[self.nodes]
        F, S = self._at_end(q0, z0, x1, h)
        return self._scattered(x1, F, S, len(q1))

    def mean_force(self, q0: Array, z0: Array, q1: Array, h: float) -> Array:
        """Return the nodal forces [n, 3] in N of an increment, with F and C the means of its ends."""
        x0, x1 = q0[self.nodes], q1[self.nodes]
        F, _, S = self._over(x0, z0, x1, h)
        return self._scattered(0.5 * (x0 + x1), F, S, len(q1))

    def add_derivatives(
        self, q0: Array, z0: Array, q1: Array, h: float, by_q: float, slots: IntArray, out: Array, *, mean: bool
    ) -> None:
        """Add by_q ∂f/∂q1 to the blocks out [nnz, 3, 3], of `mean_force` or of `force`."""
        # ∂S/∂d1 is Σ μ_i/(1 + r) at the end, and half of it between
        modulus = self._elements.modulus(h)
        elasticity = 2.0 * modulus * DEVIATOR[None]
        x = x1 = q1[self.nodes]
        if mean:
            x0, part = q0[self.nodes], 0.5
            x = 0.5 * (x0 + x1)
            F, F1, S = self._over(x0, z0, x1, h)
        else:
            part = 1.0
            F, S = self._at_end(q0, z0, x1, h)
            F1 = F
        K = self._points.stiffness(F, F1, _tensors(S), part * elasticity, part)
        if self._hourglasses is not None:
            left = self._hourglasses.slopes(x).swapaxes(1, 2) @ self._shares
            K += part * modulus * (left @ self._hourglasses.slopes(x1))
            K += part * self._hourglasses.curvature(self._hourglass_stress(S))
        K *= -by_q
        scatter_blocks(K, slots, out)

    def after(self, q0: Array, z0: Array, q1: Array, h: float) -> tuple[Array, float]:
        """Return the internal variables at the end of an increment of h s, and the dissipation in J."""
        d0, d1 = (self._strains(q[self.nodes])[1] for q in (q0, q1))
        z1, change, dissipating = self._elements.after(d0, z0, d1, h)
        return z1, float(dissipating @ self._squared(change))

    def cauchy(self, q: Array, z: Array) -> Array:
        """Return the overstress F S Fᵀ/J [m, 3, 3] in Pa at the positions q [n, 3], its mean over the deformed element.

        Of stabilized hexahedra it is that of the mean deformation.
        """
        F = self._points.deformations(q[self.nodes])[0]
        volumes = self._points.weights * np.linalg.det(F)
        return np.einsum("ep,epij->eij", volumes, self.cauchy_at_points(q, z)) / volumes.sum(axis=1)[:, None, None]

    def cauchy_at_points(self, q: Array, z: Array) -> Array:
        """Return the overstress F S Fᵀ/J [m, g, 3, 3] in Pa at the points of quadrature, at the positions q [n, 3]."""
        F, d = self._strains(q[self.nodes])
        S = _tensors(np.einsum("i,iepc->epc", self.moduli, d - z))
        return F @ S @ F.swapaxes(-1, -2) / np.linalg.det(F)[..., None, None]

    # -- at the points of quadrature ----------------------------------------------------------------------------

    def _strains(self, x: Array) -> tuple[Array, Array]:
        """Return F [m, g, 3, 3] and the components of d, and Q [m, g, 6 or 18], with nodes at x [m, k, 3]."""
        F, C = self._points.deformations(x)
        d = C[..., _ROWS, _COLUMNS]
        d[..., :3] -= d[..., :3].mean(axis=-1, keepdims=True)
        if self._hourglasses is None:
            return F, d
        return F, np.concatenate([d, self._hourglasses.products(x)[:, None]], axis=2)

    def _squared(self, strains: Array) -> Array:
        """Return ∫ |d|²/4 dV in m³, and Q·ΔK Q/(2M), [i] of strains [i, m, g, 6 or 18]: μ_i times them is energy."""
        d, Q = strains[..., :_COMPONENTS], strains[:, :, 0, _COMPONENTS:]
        out = 0.25 * np.einsum("iep,ep->i", d**2 @ _TWICE, self._points.weights)
        if self._hourglasses is not None:
            out += 0.5 * np.einsum("iea,iea->i", Q, (self._shares @ Q[..., None])[..., 0])
        return out

    def _at_end(self, q0: Array, z0: Array, x1: Array, h: float) -> tuple[Array, Array]:
        """Return F and S at the end."""
        F, d = self._strains(x1)
        return F, self._elements.at_end(d if h == 0.0 else self._strains(q0[self.nodes])[1], z0, d, h)

    def _over(self, x0: Array, z0: Array, x1: Array, h: float) -> tuple[Array, Array, Array]:
        """Return F_m, F_1 and S of an increment."""
        F0, d0 = self._strains(x0)
        F1, d1 = self._strains(x1)
        return 0.5 * (F0 + F1), F1, self._elements.over(d0, z0, d1, h)

    def _hourglass_stress(self, S: Array) -> Array:
        """Return T [m, 12] in N/m."""
        return (self._shares @ S[:, 0, _COMPONENTS:, None])[..., 0]

    def _scattered(self, x: Array, F: Array, S: Array, n: int) -> Array:
        """Return the forces of n nodes, with those of the elements at x [m, k, 3]."""
        local, out = self._points.forces(F, _tensors(S)), np.zeros((n, 3))
        if self._hourglasses is not None:
            local += self._hourglasses.forces(x, self._hourglass_stress(S))
        scatter_vectors(local, self.nodes, out)
        return out


def _tensors(S: Array) -> Array:
    """Return symmetric tensors [m, g, 3, 3] of the first six components of S."""
    out = np.empty((*S.shape[:-1], 3, 3))
    out[..., _ROWS, _COLUMNS] = out[..., _COLUMNS, _ROWS] = S[..., :_COMPONENTS]
    return out
