"""Reduction by translations: Jacobi coordinates, and energies as functions of them.

Gonzalez, Schmidt and Ortiz, "Force-stepping integrators in Lagrangian mechanics" (2010), section 4.2.
"""

from __future__ import annotations

from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.base.representation import Described
from symplex.errors import InvalidSystem
from symplex.fem.assembly import forms
from symplex.fem.assembly.forms import Form
from symplex.fem.assembly.pattern import Array, IntArray, Pattern
from symplex.fem.energies.contact_energy import ContactEnergy, contact_of
from symplex.fem.energies.energy import Energy, LatticeFunctions


@checked
@final
class JacobiCoordinates(Described):
    """Where each particle is relative to the centre of mass of all particles before it.

    q'_j = q_(j+1) − Σ_(i≤j) m_i q_i / s_j,  s_j = Σ_(i≤j) m_i  (eq. 37, j = 1 … N − 1), and the centre of mass of all.
    The kinetic energy is diagonal in them: ½ Σ m'_j |q̇'_j|² + ½ s_N |q̇_cm|².

    Seen from the centre of mass, q'_j moves particle j + 1 by ``ahead[j]`` and all before it by −``back[j]``, and
    none after it. With sums on the way everything here takes O(N).

    Parameters
    ----------
    mass : float64 [N]
        Masses of at least two particles in kg.

    Attributes
    ----------
    mass : float64 [N]
        The masses m in kg.
    total_mass : float
        s_N in kg.
    reduced_mass : float64 [N − 1]
        m'_j = m_(j+1) s_j/s_(j+1) in kg (eq. 42).
    ahead, back : float64 [N − 1]
        s_j/s_(j+1) and m_(j+1)/s_(j+1).

    Raises
    ------
    InvalidSystem
        If there are fewer than two particles, or a mass is not positive.
    """

    def __init__(self, mass: ArrayLike):
        self.mass = np.array(mass, dtype=float)
        if self.mass.ndim != 1 or len(self.mass) < 2:
            raise InvalidSystem(f"Jacobi coordinates need at least two particles; the masses are {self.mass} kg.")
        bad = np.flatnonzero(~(np.isfinite(self.mass) & (self.mass > 0)))
        if len(bad):
            raise InvalidSystem(f"Jacobi coordinates need positive masses; that of {bad[0]} is {self.mass[bad[0]]} kg.")
        sums = np.cumsum(self.mass)
        self.total_mass = float(sums[-1])
        self.ahead = sums[:-1] / sums[1:]
        self.back = self.mass[1:] / sums[1:]
        self.reduced_mass = self.mass[1:] * self.ahead
        self._sums = sums

    def relative(self, q: Array) -> Array:
        """Return q' [N − 1, dim] of the positions q [N, dim] (eq. 37); of velocities, their velocities."""
        from_first = q - q[0]  # so that far from the origin no digits are lost
        weighted = np.cumsum(self.mass[:, None] * from_first, axis=0)
        return from_first[1:] - weighted[:-1] / self._sums[:-1, None]

    def centre(self, q: Array) -> Array:
        """Return the centre of mass [dim] of the positions q [N, dim] (eq. 38)."""
        return q[0] + self.mass @ (q - q[0]) / self.total_mass

    def particles(self, relative: Array, centre: Array | float = 0.0) -> Array:
        """Return the positions q [N, dim] of q' [N − 1, dim] and a centre of mass [dim] (eq. 40)."""
        q = np.zeros((len(self.mass), relative.shape[1]))
        q[1:] = self.ahead[:, None] * relative
        q[:-1] -= np.cumsum((self.back[:, None] * relative)[::-1], axis=0)[::-1]
        return q + centre

    def pulled_back(self, gradient: Array) -> Array:
        """Return ∂V/∂q' [N − 1, …] of the gradient ∂V/∂q [N, …] of a function that translations do not change."""
        ahead, back = (c.reshape(-1, *[1] * (gradient.ndim - 1)) for c in (self.ahead, self.back))
        return ahead * gradient[1:] - back * np.cumsum(gradient, axis=0)[:-1]


@final
class JacobiEnergy(ContactEnergy):
    """An energy that translations do not change, as a function of Jacobi coordinates: V'(q') = V(q(q', 0)) (eq. 43).

    The coordinates couple all particles: there is one stencil, which holds them all, the Hessian is dense, and every
    lattice difference visits all local energies that a coordinate does not move as a whole.

    Parameters
    ----------
    energy : Energy
        Of the particles; in each of its stencils the same after any translation.
    coordinates : JacobiCoordinates
    """

    def __init__(self, energy: Energy, coordinates: JacobiCoordinates):
        n, k = len(coordinates.mass), energy.nodes.shape[1]
        if k < 2:
            raise InvalidSystem(
                f"a {type(energy).__name__} acts on nodes one by one: it depends on where they are in space, and not "
                "on their relative positions only, as Jacobi coordinates need. Use the integrator without reduction."
            )
        self.nodes: IntArray = np.arange(n - 1, dtype=np.int32)[None]
        self.energy = energy
        self.coordinates = coordinates

    def value(self, x: Array) -> Array:
        """Return V' [m] in J at the Jacobi coordinates x [m, N − 1, dim] in m."""
        return np.array([self.energy.total(q) for q in self._particles(x)])

    def gradient(self, x: Array) -> Array:
        """Return ∂V'/∂x [m, N − 1, dim] in N."""
        return self._pulled_back(forms.GRADIENT, x)

    def hessian(self, x: Array) -> Array:
        """Return ∂²V'/∂x² [m, (N − 1)·dim, (N − 1)·dim] in N/m."""
        return self._pulled_back(forms.HESSIAN, x)

    def discrete_gradient(self, x0: Array, x1: Array) -> Array:
        """Return the discrete gradient [m, N − 1, dim] in N, that of the particles pulled back."""
        return self._pulled_back(forms.DISCRETE_GRADIENT, x0, x1)

    def discrete_hessian(self, x0: Array, x1: Array) -> Array:
        """Return the derivative of the discrete gradient [m, (N − 1)·dim, (N − 1)·dim] with x1 in N/m."""
        return self._pulled_back(forms.DISCRETE_HESSIAN, x0, x1)

    def third(self, x: Array, a: Array) -> Array:
        """Return ∇³V'[a, a] [m, N − 1, dim], that of the particles pulled back."""
        return self._pulled_back(forms.THIRD, x, a)

    def contact_stiffness_bound(self, n_nodes: int) -> Array:
        """Return per Jacobi coordinate [N − 1] in N/m a bound on stiffness that ∇² does not show now but may later.

        The largest k/m of the particles bounds all k'/m', as M' and K' are restrictions of M and K.
        """
        ratio = contact_of(self.energy).contact_stiffness_bound(n_nodes + 1) / self.coordinates.mass
        return np.max(ratio) * self.coordinates.reduced_mass

    def lattice_functions(self, axes: Array | None = None) -> LatticeFunctions:
        """Return differences of V' between lattice points, made of those of the energy of the particles."""
        from symplex.time.reductions.lattice_jacobi import jacobi_lattice  # compiled when first needed

        of_particles = self.energy.lattice_functions(axes)
        dim = 3 if axes is None else len(axes)
        return jacobi_lattice(of_particles, self.energy.nodes, self.coordinates.ahead, self.coordinates.back, dim)

    def _particles(self, x: Array) -> Array:
        return np.array([self.coordinates.particles(row) for row in x])

    def _pulled_back(self, form: Form, *x: Array) -> Array:
        """Return a form of the particles at each row of x, pulled back: one side of vectors, both sides of matrices."""
        m, n, dim = x[0].shape
        out = np.empty(form.local_shape(m, n, dim))
        for row, q in zip(out, zip(*map(self._particles, x), strict=True), strict=True):
            if form.is_matrix:
                blocks = self._pattern.zeros(dim)
                getattr(self.energy, form.add)(*q, self._pattern.slots[0], blocks)
                dense = self._pattern.matrix(blocks).toarray().reshape(n + 1, dim, n + 1, dim)
                rows = self.coordinates.pulled_back(dense)
                both = self.coordinates.pulled_back(rows.transpose(2, 3, 0, 1)).transpose(2, 3, 0, 1)
                row[...] = both.reshape(n * dim, n * dim)
            else:
                of_particles = np.zeros_like(q[0])
                getattr(self.energy, form.add)(*q, of_particles)
                row[...] = self.coordinates.pulled_back(of_particles)
        return out

    @cached_property
    def _pattern(self) -> Pattern:
        return Pattern(len(self.coordinates.mass), [self.energy.nodes])
