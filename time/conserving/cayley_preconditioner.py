"""What makes the equations of a step of Graham and Jelenić's methods well conditioned, at any step."""

from __future__ import annotations

from typing import final

import numpy as np

from symplex.fem.assembly.pattern import Array, Pattern
from symplex.fem.system import System
from symplex.time.solvers.linear import Linear, linear_solver
from symplex.time.solvers.linear_solver import LinearSolver

# Padé's approximation of the exponential, of equal degrees 1 to 4: 1 − x/2 + …, by the powers of x = hω.
_PADE = {
    2: (1.0, 1 / 2),
    4: (1.0, 1 / 2, 1 / 12),
    6: (1.0, 1 / 2, 1 / 10, 1 / 120),
    8: (1.0, 1 / 2, 3 / 28, 1 / 84, 1 / 1680),
}
_EXACT = 1e-2  # relative error of linear solutions by iteration: the iteration above makes up for it


@final
class CayleyPreconditioner:
    """The inverse, nearly, of the derivative of a step's equations at a body without stress.

    There a method of order 2k is Padé's approximation of degree k: with S = h² M⁻¹K, K the stiffness ∇²V, and the even
    and odd part of its denominator, a(S) and S^½ b(S)/2,

        a (r1 − r0) = b (w0 + w1)/2,   a (w1 − w0) = −S b (r0 + r1)/2,

    whose unknowns come with the matrix D = a² + ¼ S b² of degree k. In its place stands (1 + σ S)^k with the same
    leading coefficient: the two agree to a factor of 4/3 at order 4, 2 at order 6 and 3 at order 8, whatever hω is. A
    use costs 2k solutions with the one symmetric matrix M + σ h² K, and some products with K.

    Parameters
    ----------
    system : System
    order : int
        Of the method: 2, 4, 6 or 8.
    linear : str
        The linear solver (see `Newton`).
    """

    _pattern: Pattern
    _solver: LinearSolver | None

    def __init__(self, system: System, order: int, linear: Linear):
        self.system = system
        # By the powers of S, whose sign is that of −x².
        self._even = tuple(c * (-1) ** i for i, c in enumerate(_PADE[order][::2]))
        self._odd = tuple(2.0 * c * (-1) ** i for i, c in enumerate(_PADE[order][1::2]))
        self._power = order // 2
        self._shift = _PADE[order][-1] ** (2.0 / self._power)
        self._linear: Linear = linear
        self._take_pattern()

    def _take_pattern(self) -> None:
        """Take the pattern of the system's matrices, with another linear solver."""
        system, pattern = self.system, self.system.pattern
        self._pattern, self._solver = pattern, None
        self._diagonal = pattern.diagonal()
        if system.has_supports:
            self._supported = pattern.held(system.fixed)

    def linearise(self, q: Array, h: float) -> None:
        """Take the stiffness at the positions q [n, dim], for steps of size h in s; `solve` needs `factorise` next."""
        if self.system.pattern is not self._pattern:  # stencils have changed
            self._take_pattern()
        K = self.system.hessian_blocks(q)
        if self.system.has_supports:
            K[self._supported] = 0.0
        K *= h * h
        self._S, self._at = self.system.pattern.matrix(K), q.copy()
        self._magnitudes = abs(self._S)

    def factorise(self) -> None:
        """Factorise M + σ h² K."""
        system, mass = self.system, self.system.mass_values
        self._solver = self._solver or linear_solver(self._linear, system.pattern, system.dim)
        self._blocks = self._shift * self._S.data
        for i in range(system.dim):
            self._blocks[:, i, i] += mass
        if system.has_supports:
            self._blocks[self._supported] = 0.0
            node, axis = np.nonzero(system.fixed)
            self._blocks[self._diagonal[node], axis, axis] = mass[self._diagonal[node]]
        self._solver.begin()
        self._solver.update(self._blocks, True, self._at)

    @property
    def definite(self) -> bool:
        """Whether the matrix of the factors is positive definite."""
        assert self._solver is not None
        return self._solver.definite

    def solve(self, g: Array) -> Array:
        """Return (δr, δw) [2, n, dim] for g = (g_r, g_w); there must be factors."""
        assert self._solver is not None
        out = self._polynomial(self._even, g)
        odd = 0.5 * self._polynomial(self._odd, g)
        out[0] += odd[1]
        out[1] -= self._stiff(odd[:1])[0]
        for part in out:
            for _ in range(self._power):
                part[...] = self._solver.solve(self._on_free(self.system.apply_mass(part)), _EXACT)
        return out

    def _polynomial(self, coefficients: tuple[float, ...], g: Array) -> Array:
        """Return a polynomial in S of both parts of g."""
        out = coefficients[-1] * g
        for coefficient in coefficients[-2::-1]:
            out = self._stiff(out)
            out += coefficient * g
        return out

    def _stiff(self, x: Array) -> Array:
        """Return S x for x [k, n, dim]."""
        forces = (self._S @ x.reshape(len(x), -1).T).T.reshape(x.shape)
        return np.stack([self.system.accelerations(force) for force in forces])

    def _on_free(self, x: Array) -> Array:
        if self.system.has_supports:
            x[self.system.fixed] = 0.0
        return x

    def largest(self) -> float:
        """Return a bound of hω for all vibrations: from the largest row sum of |S|."""
        return float(np.sqrt(self._absolute(np.ones((self.system.n_nodes, self.system.dim))).max(initial=0.0)))

    def size(self, z: Array) -> Array:
        """Return how large the numbers are [2, n, dim] that are summed up in a step from z, for their round-off."""
        r, w = np.abs(z)
        size = np.stack([r + w, w + self._absolute(r)])
        for _ in range(self._power - 1):
            size += np.stack([self._absolute(part) for part in size]) / 12.0
        return size

    @property
    def magnitudes(self) -> Array:
        """The blocks [nnz, dim, dim] of h² |K| on the system's pattern, in N/m."""
        return self._magnitudes.data

    def _absolute(self, x: Array) -> Array:
        """Return |S| x for x ≥ 0."""
        force = self._on_free((self._magnitudes @ x.ravel()).reshape(x.shape))
        return np.abs(self.system.accelerations(force))
