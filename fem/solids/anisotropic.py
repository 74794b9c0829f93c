"""Elasticity that is linear between strain and stress and differs by direction: orthotropic, or with 21 constants."""

from __future__ import annotations

from math import isfinite, sqrt
from typing import Self, final

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.errors import MaterialError
from symplex.fem.assembly.pattern import Array
from symplex.fem.solids import tensors
from symplex.fem.solids.constitutive import LinearStress
from symplex.fem.solids.formula_store import built_in
from symplex.fem.solids.law_functions import LawFunctions

# The pairs of directions in the order of rows: 11, 22, 33, 12, 13, 23, as Abaqus has them.
PAIRS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
# E11, E22, E33, 2 E12, 2 E13, 2 E23 of the strains along the axes and half way between 1 and 2, 1 and 3, 2 and 3.
_STRAINS = np.array(
    [
        [1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 1.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
        [-1.0, -1.0, 0.0, 2.0, 0.0, 0.0],
        [-1.0, 0.0, -1.0, 0.0, 2.0, 0.0],
        [0.0, -1.0, -1.0, 0.0, 0.0, 2.0],
    ]
)
_SYMMETRIC = 1e-9  # of the largest: how far the stiffness may be from its transpose


@checked
@final
class AnisotropicElastic(LinearStress):
    """A stress that is linear in the strain, S = ℂ : E, with any stiffness ℂ that is positive.

    W = ½ E : ℂ : E with Green's strain E = (C − 1)/2: for large rotations and small strains, as Saint Venant and
    Kirchhoff's law, which is the isotropic one. It is a function of the stretches along six directions, and so runs in
    compiled loops. With ``small`` the strain is the linear one, ε = sym F − 1, in their own loops: for
    small displacements only, as `LinearElastic`; angular momentum is not kept then. S is linear in C, so that the
    discrete stress is that at the mean of C.

    Parameters
    ----------
    stiffness : float64 [6, 6]
        D in Pa: rows are the stresses S11, S22, S33, S12, S13, S23 for the strains E11, E22, E33, 2 E12, 2 E13, 2 E23.
    density : float
        Mass per undeformed volume ρ in kg/m³.
    axes : float64 [2, 3] or [3, 3], optional
        The first axis of the material, and a direction in the plane of the first two; default: x, y.
    small : bool, default False
        Whether strains and rotations are small.

    Raises
    ------
    MaterialError
        If the stiffness is not finite, symmetric and positive, ρ ≤ 0, or the axes span no plane.
    """

    def __init__(self, stiffness: ArrayLike, density: float, axes: ArrayLike | None = None, small: bool = False):
        D = np.array(stiffness, dtype=float)
        if D.shape != (6, 6) or not np.isfinite(D).all():
            raise MaterialError(f"AnisotropicElastic: the stiffness must be 6 × 6 finite numbers; it is {D.shape}.")
        if np.abs(D - D.T).max() > _SYMMETRIC * np.abs(D).max():
            raise MaterialError("AnisotropicElastic: the stiffness is not symmetric.")
        least = float(np.linalg.eigvalsh(0.5 * (D + D.T))[0])
        if not least > 0.0:
            raise MaterialError(
                f"AnisotropicElastic: the stiffness must be positive for each strain; its least eigenvalue is "
                f"{least:.3g} Pa."
            )
        if not (isfinite(density) and density > 0):
            raise MaterialError(f"AnisotropicElastic: density is {density:g} kg/m³; it must be positive.")
        self.density, self.small = float(density), small
        self.axes = _directions(axes)
        own = np.empty((3, 3, 3, 3))
        for m, (i, j) in enumerate(PAIRS):
            for n, (k, h) in enumerate(PAIRS):
                own[i, j, k, h] = own[j, i, k, h] = own[i, j, h, k] = own[j, i, h, k] = 0.5 * (D[m, n] + D[n, m])
        R = self.axes
        self._stiffness = np.einsum("mi,nj,mnop,ok,pl->ijkl", R, R, own, R, R, optimize=True)
        self._along = _STRAINS.T @ (0.5 * (D + D.T)) @ _STRAINS

    @classmethod
    def orthotropic(
        cls,
        young: ArrayLike,
        poisson: ArrayLike,
        shear: ArrayLike,
        density: float,
        axes: ArrayLike | None = None,
        small: bool = False,
    ) -> Self:
        """Return the material with engineering constants along its axes.

        Parameters
        ----------
        young : three floats
            E1, E2, E3 in Pa.
        poisson : three floats
            ν12, ν13, ν23: ν12 is the contraction along 2 under a tension along 1; ν21 = ν12 E2/E1.
        shear : three floats
            G12, G13, G23 in Pa.
        density, axes, small
            As of the material.

        Raises
        ------
        MaterialError
            If constants are not finite, moduli not positive, or the material not stable.
        """
        E, nu, G = (np.array(values, dtype=float) for values in (young, poisson, shear))
        if any(v.shape != (3,) or not np.isfinite(v).all() for v in (E, nu, G)) or E.min() <= 0 or G.min() <= 0:
            raise MaterialError(
                "AnisotropicElastic needs three positive Young's moduli and shear moduli (Pa), and three finite "
                "Poisson's ratios."
            )
        compliance = np.diag(np.concatenate([1 / E, 1 / G]))
        for (i, j), ratio in zip(((0, 1), (0, 2), (1, 2)), nu, strict=True):
            compliance[i, j] = compliance[j, i] = -ratio / E[i]
        if not np.linalg.eigvalsh(compliance)[0] > 0.0:
            raise MaterialError(
                f"AnisotropicElastic: with Young's moduli {E.tolist()} Pa and Poisson's ratios {nu.tolist()} some "
                "strain would give energy back; |ν12| < √(E1/E2) is needed, and so on."
            )
        return cls(np.linalg.inv(compliance), density, axes, small)

    def __repr__(self) -> str:
        return f"AnisotropicElastic(density={self.density:g}{', small=True' if self.small else ''})"

    @property
    def objective(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Whether the strain is Green's."""
        return not self.small

    @property
    def isotropic(self) -> bool:
        """No."""
        return False

    @property
    def lame_constants(self) -> tuple[float, float]:
        """λ and μ in Pa of the mean over all directions, after Voigt."""
        bulk = float(np.einsum("iijj->", self._stiffness)) / 9.0
        mu = (float(np.einsum("ijij->", self._stiffness)) - 3.0 * bulk) / 10.0
        return bulk - 2.0 * mu / 3.0, mu

    @property
    def wave_speed(self) -> float:
        """A bound on the speed of all waves in m/s, √(the greatest eigenvalue of ℂ/ρ)."""
        root = np.sqrt([1.0, 1.0, 1.0, 2.0, 2.0, 2.0])
        matrix = np.array([[self._stiffness[i, j, k, h] for k, h in PAIRS] for i, j in PAIRS])
        return sqrt(float(np.linalg.eigvalsh(root[:, None] * matrix * root)[-1]) / self.density)

    @property
    def directions(self) -> Array:
        """The axes and the three directions half way between two of them [6, 3]; none for small strains."""
        if self.small:
            return super().directions
        a, b, c = self.axes
        between = np.sqrt(0.5) * np.array([a + b, a + c, b + c])
        return np.concatenate([self.axes, between / np.linalg.norm(between, axis=1, keepdims=True)])

    def law_functions(self) -> LawFunctions | None:
        """Return the law as C functions of I4 = 1 + 2 e of the six directions; None for small strains."""
        if self.small:
            return None
        functions, constants = built_in("quadratic"), self._along[np.triu_indices(6)]
        return LawFunctions.of(functions, dict(zip(functions.CONSTANTS, constants, strict=True)))

    def linear_constants(self) -> tuple[float, ...] | None:
        """Return the 21 numbers of D in the axes of space in Pa for small strains, else None."""
        if not self.small:
            return None
        D = [[float(self._stiffness[i, j, k, h]) for k, h in PAIRS] for i, j in PAIRS]
        return tuple(D[m][n] for m in range(6) for n in range(m, 6))

    def energy_density(self, C: Array) -> Array:
        """Return W [p] in J/m³."""
        E = 0.5 * (C - tensors.ONE)
        return 0.5 * np.einsum("pij,pij->p", E, self.stress(C))

    def stress(self, C: Array) -> Array:
        """Return S = ℂ : E [p, 3, 3] in Pa."""
        E = 0.5 * (C - tensors.ONE)
        return (E.reshape(-1, 9) @ self._stiffness.reshape(9, 9)).reshape(-1, 3, 3)

    def tangent(self, C: Array) -> Array:
        """Return ℂ [p, 3, 3, 3, 3] in Pa."""
        return np.broadcast_to(self._stiffness, (len(C), 3, 3, 3, 3))


def _directions(axes: ArrayLike | None) -> Array:
    """Return the axes of the material, one in each row."""
    if axes is None:
        return np.eye(3)
    given = np.array(axes, dtype=float)
    if given.shape not in ((2, 3), (3, 3)) or not np.isfinite(given).all():
        raise MaterialError(
            "AnisotropicElastic: axes must be two directions, the first axis and one in the plane 1, 2."
        )
    first, second = given[:2]
    third = np.cross(first, second)
    sizes = np.linalg.norm(first), np.linalg.norm(third)
    if not min(sizes) > 1e-9 * np.linalg.norm(second):
        raise MaterialError("AnisotropicElastic: the two axes are zero or parallel; they span no plane.")
    first, third = first / sizes[0], third / sizes[1]
    return np.array([first, np.cross(third, first), third], dtype=float)
