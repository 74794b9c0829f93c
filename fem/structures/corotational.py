"""The elastic energy of small deformations in a frame that rotates with a body, with exact work and momenta."""

from __future__ import annotations

from typing import Annotated, final

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.base.quantities import not_negative
from symplex.errors import InvalidSystem
from symplex.fem.assembly.nodes import Nodes, distinct_nodes
from symplex.fem.assembly.pattern import Array
from symplex.fem.energies.differentiable_load import DifferentiableLoad
from symplex.fem.energies.energy import RIGID, Energy

_ROUND_OFF = 1e-8  # of what sums of gradients may be off by


@checked
@final
class CorotationalEnergy(Energy):
    """V = ½ u·K u with the displacements u_a = Rᵀ x_a − X_a of nodes in the frame R of the body, for any rotation.

    R is the rotation of the mean deformation gradient A = Σ x_a ⊗ g_a = R U: the one that makes ∫ |Rᵀ F − 1|² dV least.
    Translations and rotations leave V as it is, so that forces have neither resultant nor moment:

        ∂V/∂x_a = R (f_a − c × g_a),    f = K u,    (tr U 1 − U) c = Σ (X_a + u_a) × f_a.

    The discrete gradient has the mean of both forces, f̄ = ½ (f₀ + f₁), and of both rotations, R̄ = ½ (R₀ + R₁):

        DG_a = R̄ (f̄_a − c × g_a),    with c from    Σ x̄_a × DG_a = 0.

    Its work is that of V exactly, as skew(Δ(RᵀA)) = 0, for rotations by less than π within a step; for the idea see
    Crisfield and Shi, Nonlinear Dynamics 9 (1996) 37.

    Parameters
    ----------
    nodes : int [k]
        The nodes of the body.
    points : float64 [k, 3]
        X in m, where there are no forces.
    stiffness : float64 [3k, 3k]
        K in N/m, symmetric, without forces of translations.
    gradients : float64 [k, 3]
        g in 1/m, the means of ∇φ_a of the functions φ_a in x(X) = Σ φ_a(X) x_a.

    Raises
    ------
    InvalidSystem
        If shapes do not match, or Σ g_a is not 0, or Σ X_a ⊗ g_a not 1.
    """

    invariances = RIGID

    def __init__(self, nodes: Nodes, points: ArrayLike, stiffness: ArrayLike, gradients: ArrayLike):
        self.nodes = distinct_nodes("CorotationalEnergy", nodes)[None]
        self._rest = np.array(points, float)
        self._g, self._stiffness = np.array(gradients, float), np.array(stiffness, float)
        k = self.nodes.shape[1]
        if self._rest.shape != (k, 3) or self._g.shape != (k, 3) or self._stiffness.shape != (3 * k, 3 * k):
            raise InvalidSystem(
                f"CorotationalEnergy: of {k} nodes points and gradients must have shape ({k}, 3) and the stiffness "
                f"({3 * k}, {3 * k}), got {self._rest.shape}, {self._g.shape} and {self._stiffness.shape}."
            )
        size = np.abs(self._g).sum(axis=0).max(initial=0.0)
        off = np.abs(self._rest.T @ self._g - np.eye(3)).max()
        if not (np.abs(self._g.sum(axis=0)).max() <= _ROUND_OFF * size and off <= _ROUND_OFF):
            raise InvalidSystem("CorotationalEnergy: gradients must sum to 0, and Σ X ⊗ g to 1.")
        self._cross_g = _cross(self._g)

    # -- the frame --------------------------------------------------------------------------------------------------

    def rotation(self, x: Array) -> Array:
        """Return R [3, 3] at the positions x [k, 3] in m of its nodes."""
        return self._frame(x)[0]

    def displacements(self, x: Array) -> Array:
        """Return u [k, 3] in m at the positions x [k, 3] in m of its nodes, less a translation."""
        return self._local(x)[2]

    def _frame(self, x: Array) -> tuple[Array, Array]:
        """Return R and U of A = Σ x ⊗ g."""
        A = (x - x[0]).T @ self._g
        if not np.isfinite(A).all():
            return np.full((3, 3), np.nan), np.full((3, 3), np.nan)
        left, _, right = np.linalg.svd(A)
        R = left @ np.diag([1.0, 1.0, np.sign(np.linalg.det(left @ right)) or 1.0]) @ right
        U = R.T @ A
        return np.asarray(R, float), np.asarray(0.5 * (U + U.T), float)

    def _local(self, x: Array) -> tuple[Array, Array, Array]:
        """Return R, U and the displacements in the frame, those of the first node zero."""
        R, U = self._frame(x)
        return R, U, (x - x[0]) @ R - (self._rest - self._rest[0])

    def _forces(self, u: Array) -> Array:
        return (self._stiffness @ u.ravel()).reshape(-1, 3)

    def _of_rotation(self, U: Array) -> Array:
        """Return Ω [3, 3k] of the rotation δω = Ω Rᵀδx of the frame, in its own axes."""
        return _solved(np.trace(U) * np.eye(3) - U, _row(self._cross_g))

    # -- local functions --------------------------------------------------------------------------------------------

    def value(self, x: Array) -> Array:
        """Return V [1] in J at the positions x [1, k, 3] in m."""
        u = self._local(x[0])[2].ravel()
        return np.array([0.5 * float(u @ (self._stiffness @ u))])

    def gradient(self, x: Array) -> Array:
        """Return ∂V/∂x [1, k, 3] in N."""
        R, U, u = self._local(x[0])
        f = self._forces(u)
        moment = np.cross(self._rest - self._rest[0] + u, f).sum(axis=0)
        c = _solved(np.trace(U) * np.eye(3) - U, moment)
        return ((f - np.cross(c, self._g)) @ R.T)[None]

    def hessian(self, x: Array) -> Array:
        """Return ∂²V/∂x² [1, 3k, 3k] in N/m."""
        R, U, u = self._local(x[0])
        f, at = self._forces(u), _cross(self._rest - self._rest[0] + u)
        B = np.trace(U) * np.eye(3) - U
        c = _solved(B, np.einsum("aij,aj->i", at, f))
        omega = self._of_rotation(U)
        of_f = self._of_displacements(_column(at), omega)  # δf of Rᵀδx
        of_moment = _row(at) @ of_f - _row(_cross(f)) - (_row(_cross(f)) @ _column(at)) @ omega
        of_c = _solved(B, of_moment - self._of_stretch(U, c, omega))
        h = f - np.cross(c, self._g)
        H = of_f - _column(_cross(h)) @ omega + _column(self._cross_g) @ of_c
        H = _rotated(H, R, R)
        return 0.5 * (H + H.T)[None]

    def _of_stretch(self, U: Array, c: Array, omega: Array) -> Array:
        """Return δB c [3, 3k] of B = tr U 1 − U."""
        by_gradients = np.outer(c, self._g.ravel()) - np.kron((self._g @ c)[None], np.eye(3))
        return by_gradients - _cross((U @ c)[None])[0] @ omega

    def _of_displacements(self, at: Array, omega: Array) -> Array:
        """Return K (1 + X̂ Ω) [3k, 3k]: displacements change by Rᵀδx − δω × x̂."""
        return self._stiffness + (self._stiffness @ at) @ omega

    def discrete_gradient(self, x0: Array, x1: Array) -> Array:
        """Return the discrete gradient [1, k, 3] in N from x0 to x1 [1, k, 3]; see the class."""
        return self._discrete(x0[0], x1[0])[0][None]

    def _discrete(self, x0: Array, x1: Array) -> tuple[Array, ...]:
        """Return DG, h = f̄ − c × g, and what c follows from: R̄, the middle, the matrix of c; R₁, U₁, u₁."""
        (R0, _, u0), (R1, U1, u1) = self._local(x0), self._local(x1)
        R, f = 0.5 * (R0 + R1), self._forces(0.5 * (u0 + u1))
        middle = 0.5 * ((x0 - x0[0]) + (x1 - x1[0]))
        of_c = -np.einsum("aij,jk,akl->il", _cross(middle), R, self._cross_g)
        c = _solved(of_c, np.cross(middle, f @ R.T).sum(axis=0))
        h = f - np.cross(c, self._g)
        return h @ R.T, h, R, middle, of_c, R1, U1, u1

    def discrete_hessian(self, x0: Array, x1: Array) -> Array:
        """Return ∂DG/∂x1 [1, 3k, 3k] in N/m."""
        DG, h, R, middle, of_c, R1, U1, u1 = self._discrete(x0[0], x1[0])
        omega = _rotated(self._of_rotation(U1), np.eye(3), R1)
        at = _column(_cross(self._rest - self._rest[0] + u1))
        of_f = 0.5 * (_rotated(self._stiffness, R, R1) + _rotated(self._stiffness @ at, R, np.eye(3)) @ omega)
        without_c = of_f - 0.5 * _column(R1 @ _cross(h)) @ omega
        of_moment = _row(_cross(middle)) @ without_c - 0.5 * _row(_cross(DG))
        return (without_c + _column(R @ self._cross_g) @ _solved(of_c, of_moment))[None]


@checked
@final
class CorotationalDamping(DifferentiableLoad):
    """Rayleigh's damping of a reduced body, f = −α M v − β R Πᵀ K Π Rᵀ v: the second part is of u̇ = Π Rᵀ v alone.

    With β alone rigid motions are not damped, and both momenta are kept.

    Parameters
    ----------
    energy : CorotationalEnergy
    time : float
        β in s.
    mass : float64 [k, k], optional
        M in kg of its nodes.
    rate : float, default 0
        α in 1/s.

    Raises
    ------
    InvalidSystem
        If the mass has another shape.
    """

    def __init__(
        self,
        energy: CorotationalEnergy,
        time: Annotated[float, not_negative("s")],
        mass: Array | None = None,
        rate: Annotated[float, not_negative("1/s")] = 0.0,
    ):
        self.nodes, self._of = energy.nodes, energy
        k = energy.nodes.shape[1]
        self._drag = np.zeros((k, k)) if mass is None else rate * np.array(mass, float)
        if self._drag.shape != (k, k):
            raise InvalidSystem(f"CorotationalDamping: the mass must have shape ({k}, {k}), got {self._drag.shape}.")
        self._viscosity = time * energy._stiffness

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """Return f [n, 3] in N."""
        nodes, out = self.nodes[0], np.zeros_like(q)
        out[nodes] = self._forces(q[nodes], v[nodes])[0]
        return out

    def _forces(self, x: Array, v: Array) -> tuple[Array, ...]:
        """Return f [k, 3]; and R, U, Ω, x̂, w = Rᵀv, r = Ω w, p = β K u̇, c and h of these."""
        of = self._of
        R, U, u = of._local(x)
        at, w, omega = of._rest - of._rest[0] + u, v @ R, of._of_rotation(U)
        r = omega @ w.ravel()
        p = np.asarray(self._viscosity @ (w - np.cross(r, at)).ravel(), float).reshape(-1, 3)
        c = _solved(np.trace(U) * np.eye(3) - U, np.cross(at, p).sum(axis=0))
        h = np.asarray(p - np.cross(c, of._g), float)
        return -(h @ R.T) - self._drag @ v, R, U, omega, at, w, r, p, c, h

    def derivatives(self, t: float, x: Array, v: Array) -> tuple[Array, Array]:
        """Return ∂f/∂x in N/m and ∂f/∂v in N s/m [1, 3k, 3k]."""
        of = self._of
        _, R, U, omega, at, w, r, p, c, h = self._forces(x[0], v[0])
        B, one = np.trace(U) * np.eye(3) - U, np.eye(3 * len(at))
        Xc, Gc, Gr = _column(_cross(at)), _column(of._cross_g), _row(of._cross_g)
        Pi = one + Xc @ omega
        of_w = _column(_cross(w)) @ omega
        of_r = _solved(B, Gr @ of_w - of._of_stretch(U, r, omega))
        of_p = self._viscosity @ (of_w + Xc @ of_r - np.kron(np.eye(len(at)), _cross(r[None])[0]) @ Pi)
        of_moment = _row(_cross(at)) @ of_p - _row(_cross(p)) @ Pi
        of_c = _solved(B, of_moment - of._of_stretch(U, c, omega))
        by_x = _column(_cross(h)) @ omega - of_p - Gc @ of_c
        by_v = -Pi.T @ self._viscosity @ Pi
        by_v = _rotated(by_v, R, R) - np.kron(self._drag, np.eye(3))
        return _rotated(by_x, R, R)[None], by_v[None]


def _solved(matrix: Array, right: Array) -> Array:
    """Return the solution of three equations; NaN where there is none, as far from all that is small."""
    try:
        return np.asarray(np.linalg.solve(matrix, right), float)
    except np.linalg.LinAlgError:
        return np.full(right.shape, np.nan)


def _cross(vectors: Array) -> Array:
    """Return the matrices [k, 3, 3] of vector products with vectors [k, 3]."""
    x, y, z = vectors.T
    out = np.zeros((len(vectors), 3, 3))
    out[:, 0, 1], out[:, 0, 2], out[:, 1, 2] = -z, y, -x
    out[:, 1, 0], out[:, 2, 0], out[:, 2, 1] = z, -y, x
    return out


def _column(blocks: Array) -> Array:
    """Return blocks [k, 3, 3] one below the other, [3k, 3]."""
    return blocks.reshape(-1, 3)


def _row(blocks: Array) -> Array:
    """Return blocks [k, 3, 3] next to each other, [3, 3k]."""
    return blocks.transpose(1, 0, 2).reshape(3, -1)


def _rotated(matrix: Array, left: Array, right: Array) -> Array:
    """Return blocks left · block · rightᵀ of a matrix of blocks 3 × 3."""
    rows, columns = matrix.shape[0] // 3, matrix.shape[1] // 3
    blocks = matrix.reshape(rows, 3, columns * 3)
    turned = (left @ blocks).reshape(rows * 3, columns, 3) @ right.T
    return turned.reshape(matrix.shape)
