"""Viscoelastic beams and shells: the overstress of a generalised Maxwell model in their generalised strains."""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.fem.assembly.pattern import Array, IntArray, scatter_blocks, scatter_vectors
from symplex.fem.energies.inelastic import Inelastic
from symplex.fem.energies.maxwell import MaxwellElements
from symplex.fem.structures.generalized_strains import GeneralizedStrains


@checked
@final
class ViscoelasticSections(Inelastic):
    """The overstress of Maxwell elements next to the energy of a beam or shell: a Prony series of its stiffness.

    With the generalised strains e, their stiffness C and internal strains A_i of each element of the model

    ψ = Σ f_i/2 (e − A_i)·C (e − A_i),    σ = ∂ψ/∂e = Σ f_i C (e − A_i),    dA_i/dt = (e − A_i)/τ_i

    so that all stiffnesses are C (1 + Σ f_i exp(−t/τ_i)) after a step of strain: E and G relax alike, Poisson's ratio
    stays. The elastic energy is what is left in the long run. Rigid motions neither dissipate nor change the momenta.

    Increments are those of `symplex.fem.solids.Viscoelastic`: exact where strains are constant, of second order where
    not. By energy-momentum methods work, stored energy and dissipation balance to round-off.

    Parameters
    ----------
    strains : GeneralizedStrains
        `Beams.strains`, or one of `Shells.strains`.
    factors : float64 [i]
        f_i, the stiffness of each Maxwell element over that of the long run.
    times : float64 [i]
        Their relaxation times τ_i in s.

    Raises
    ------
    InvalidSystem
        If a factor or a time is not positive, or their numbers differ.
    """

    def __init__(self, strains: GeneralizedStrains, factors: ArrayLike, times: ArrayLike):
        self._elements = MaxwellElements("ViscoelasticSections", factors, times, "")
        self.strains, self.nodes = strains, strains.nodes
        self.shape = (len(self._elements.times), *strains.stiffness.shape[:2])

    @classmethod
    @checked
    def prony(cls, strains: GeneralizedStrains, ratios: ArrayLike, times: ArrayLike) -> ViscoelasticSections:
        """Return that of ratios g_i of the instantaneous stiffness, 1 − Σ g_i of which is left in the long run.

        Parameters
        ----------
        strains : GeneralizedStrains
        ratios, times : float64 [i]
            g_i, each positive and together below 1, and τ_i in s.

        Raises
        ------
        InvalidSystem
            If the ratios are not such, or as the constructor.
        """
        return cls(strains, MaxwellElements.of_prony("ViscoelasticSections", ratios), times)

    @property
    def factors(self) -> Array:
        """f_i [i]."""
        return self._elements.moduli

    @property
    def times(self) -> Array:
        """τ_i [i] in s."""
        return self._elements.times

    stencil_axis = 1

    def unstrained(self) -> Array:
        """Return the internal variables of a structure that has not been strained before."""
        return np.zeros(self.shape)

    def relaxed(self, q: Array) -> Array:
        """Return the internal variables that do not change at the positions q [n, 3]: A_i = e."""
        return np.broadcast_to(self._strains(q), self.shape).copy()

    def stored(self, q: Array, z: Array) -> float:
        """Return ψ in J."""
        return float(self.factors @ self._squared(self._strains(q) - z))

    def overstrains(self, q: Array, z: Array) -> Array:
        """Return Σ f_i (e − A_i) [m, i], of which the overstress is C times, at the positions q [n, 3] in m."""
        return np.einsum("n,nmi->mi", self.factors, self._strains(q) - z)

    def stresses(self, q: Array, z: Array) -> Array:
        """Return the overstress [m, i] in J at the positions q [n, 3] in m, of each generalised strain."""
        return self._stiff(self.overstrains(q, z))

    def force(self, q0: Array, z0: Array, q1: Array, h: float) -> Array:
        """Return the forces [n, 3] in N at the end of an increment of h s."""
        x = q1[self.nodes]
        return self._scattered(x, x, self._at_end(q0, z0, q1, h), len(q1))

    def mean_force(self, q0: Array, z0: Array, q1: Array, h: float) -> Array:
        """Return the forces [n, 3] in N of an increment."""
        return self._scattered(q0[self.nodes], q1[self.nodes], self._over(q0, z0, q1, h), len(q1))

    def add_derivatives(
        self, q0: Array, z0: Array, q1: Array, h: float, by_q: float, slots: IntArray, out: Array, *, mean: bool
    ) -> None:
        """Add by_q ∂f/∂q1 to the blocks out [nnz, 3, 3], of `mean_force` or of `force`."""
        x1 = q1[self.nodes]
        x0, stress = (q0[self.nodes], self._over(q0, z0, q1, h)) if mean else (x1, self._at_end(q0, z0, q1, h))
        moduli = (0.5 if mean else 1.0) * self._elements.modulus(h) * self.strains.stiffness
        K = self.strains.derivatives(x0, x1, stress, moduli, mean=mean)
        K *= -by_q
        scatter_blocks(K, slots, out)

    def after(self, q0: Array, z0: Array, q1: Array, h: float) -> tuple[Array, float]:
        """Return the internal variables at the end of an increment of h s, and the dissipation in J."""
        z1, change, dissipating = self._elements.after(self._strains(q0), z0, self._strains(q1), h)
        return z1, float(dissipating @ self._squared(change))

    def _strains(self, q: Array) -> Array:
        return self.strains.strains(q[self.nodes])

    def _stiff(self, e: Array) -> Array:
        return np.einsum("mij,mj->mi", self.strains.stiffness, e)

    def _squared(self, e: Array) -> Array:
        """Return Σ ½ e·C e [n] in J of strains [n, m, i]."""
        return 0.5 * np.einsum("nmi,mij,nmj->n", e, self.strains.stiffness, e, optimize=True)

    def _at_end(self, q0: Array, z0: Array, q1: Array, h: float) -> Array:
        e1 = self._strains(q1)
        return self._stiff(self._elements.at_end(e1 if h == 0.0 else self._strains(q0), z0, e1, h))

    def _over(self, q0: Array, z0: Array, q1: Array, h: float) -> Array:
        return self._stiff(self._elements.over(self._strains(q0), z0, self._strains(q1), h))

    def _scattered(self, x0: Array, x1: Array, stress: Array, n: int) -> Array:
        out = np.zeros((n, 3))
        scatter_vectors(-self.strains.forces(x0, x1, stress), self.nodes, out)
        return out
