"""Hexahedra of one point of quadrature: their mean gradients, and an energy of the hourglass modes that is quartic.

With the mean b_a of ∇N_a over the undeformed element, the energy V W(C0) of C0 = F0ᵀF0, F0 = Σ x_a ⊗ b_a, passes the
patch test and does not lock, but twelve modes cost nothing: those of g_α = ⅛ Σ_a γ_αa x_a, where
γ_αa = h_αa − (Σ_c h_αc X_c)·b_a and h_α are ηζ, ζξ, ξη, ξηζ at the nodes. Their covariant strains, with
Q_αi = (F0 J0 e_i)·g_α, J0 = ∂X/∂ξ at the centre,

    e_ij = ½ Σ_α (Q_αi ∂_j h_α + Q_αj ∂_i h_α),

are enhanced by the modes e_ii: ξ_i, ξ_i ξ_j and 2e_ij: ξ_i, ξ_j, ξ_i ξ_k, ξ_j ξ_k, which bending and nearly
incompressible deformations need. With Hooke's law ℂ of the undeformed material, and the undeformed element as if it
were the parallelepiped J0 of the same volume V, the enhancing modes are eliminated once and for all: monomials are
orthogonal, each belongs to some strains and to some modes, and what is left of ℂ is the inverse of the compliance
between the strains that are not enhanced:

    ξ_m:       (e_jj, e_kk, 2e_jk) = (Q_kj, Q_jk, Q_jj + Q_kk),    V/3 times the matrix of plane stress in jk,
    ξ_i ξ_j:   (e_kk, 2e_ij) = (Q_4k, 0),                          V/9 times a modulus.

So the energy ½ Q·K Q has three matrices of 3 × 3 and three numbers. It is a quartic polynomial of the positions, the
same after rigid motions, since Q are scalar products.

Sources: Flanagan and Belytschko (1981) for b_a and γ_α; Simo and Rifai (1990) for enhanced strains.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from symplex.errors import InvalidSystem
from symplex.fem.energies.energy import Array, IntArray
from symplex.fem.solids import elements, tensors
from symplex.fem.solids.constitutive import InvariantMaterial, Material, Oriented
from symplex.fem.solids.elements import HEXAHEDRON

_LITTLE = 1e-6  # so that the mean is that of a smooth law to 1e-12
_VOIGT = ((0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1))
# For ξ_m: (jj, kk, jk) among these. For the two others of ξ_k: (kk, ij).
_OF_LINEAR = ((1, 2, 3), (0, 2, 4), (0, 1, 5))
_OF_BILINEAR = ((0, 3), (1, 4), (2, 5))


class Hexahedra(NamedTuple):
    """The undeformed geometry of hexahedra.

    Attributes
    ----------
    volumes : float64 [m]
    frames : float64 [m, 3, 3]
        c J0, with the volume for its determinant.
    scales : float64 [m]
        These c.
    slopes : float64 [m, 8, 3]
        β_ai = b_a·(c J0 e_i): with them as ∂N_a/∂ξ_i, ∂X/∂ξ is the frame.
    patterns : float64 [m, 4, 3]
        s_αi, with Σ_a h_αa X_a = Σ_i s_αi (c J0 e_i).
    """

    volumes: Array
    frames: Array
    scales: Array
    slopes: Array
    patterns: Array


def hexahedra_of(points: Array, nodes: IntArray) -> Hexahedra:
    """Return the geometry of hexahedra with nodes [m, 8] on points [n, 3]."""
    rule = HEXAHEDRON.stiffness  # exact for the volume and for ∫ ∇N_a
    _, slopes = HEXAHEDRON.shapes(rule.points)
    x = points[nodes][:, None].swapaxes(2, 3)
    J = x @ slopes  # element by element, so that a part of a body is as it is in the body
    det = elements.checked_determinants(HEXAHEDRON, nodes, J)
    volumes = (det * rule.weights).sum(axis=1)
    cofactors = tensors.cofactors(J.reshape(-1, 3, 3)).reshape(J.shape)
    weighted = (rule.weights[:, None, None] * cofactors).transpose(0, 2, 1, 3)
    weighted = weighted.reshape(len(nodes), 3, 3 * len(rule.weights))
    means = (weighted @ slopes.transpose(0, 2, 1).reshape(-1, 8)).swapaxes(1, 2) / volumes[:, None, None]
    _, centre = HEXAHEDRON.shapes(np.zeros((1, 3)))
    frames = x @ centre
    scales = np.cbrt(volumes / elements.checked_determinants(HEXAHEDRON, nodes, frames)[:, 0])
    frames = frames[:, 0] * scales[:, None, None]
    of_patterns = (x[:, 0] @ hourglass_patterns()).swapaxes(1, 2)
    return Hexahedra(volumes, frames, scales, means @ frames, of_patterns @ np.linalg.inv(frames).swapaxes(1, 2))


def hourglass_patterns() -> Array:
    """Return h_α [8, 4] at the nodes, where 8 times the slopes at the centre are ξ."""
    x, y, z = 8.0 * HEXAHEDRON.shapes(np.zeros((1, 3)))[1][0].T
    return np.stack([y * z, z * x, x * y, x * y * z], axis=1)


def moduli_of(geometry: Hexahedra, material: Material, elasticities: Array) -> Array:
    """Return K as 21 numbers of each element, from ℂ [m, 3, 3, 3, 3] or [1, …] of the undeformed material."""
    compliance = _compliances(geometry, material, elasticities)
    return _numbers(geometry, lambda kept: _inverse(_part(compliance, kept)))


def moduli_change(geometry: Hexahedra, material: Material, elasticities: Array, change: Array) -> Array:
    """Return by how much the 21 numbers change with ℂ to first order, for a change of ℂ in Pa or a rate in Pa s.

    It is the resistance of the strains with the enhancing modes that ℂ gives them: D' = D (S ℂ' S) D with the
    compliance S = ℂ⁻¹ and D the inverse of its kept part; for ℂ' = β ℂ it is β times the moduli.
    """
    compliance = _compliances(geometry, material, elasticities)
    of_change = compliance @ _of_hourglass_strains(geometry, change) @ compliance

    def resistance(kept: tuple[int, ...]) -> Array:
        D = _inverse(_part(compliance, kept))
        return D @ _part(of_change, kept) @ D

    return _numbers(geometry, resistance)


def _compliances(geometry: Hexahedra, material: Material, elasticities: Array) -> Array:
    """Return the compliances [m, 6, 6] between the strains e_ij."""
    of_strains = _of_hourglass_strains(geometry, elasticities)
    if not (len(of_strains) == 0 or (np.linalg.eigvalsh(of_strains) > 0).all()):
        raise InvalidSystem(
            f"Solid: {type(material).__name__} has no positive stiffness in its undeformed state, from which hexahedra "
            'that are stabilized take that of bending; take formulation = "full".'
        )
    return _inverse(of_strains)


def _of_hourglass_strains(geometry: Hexahedra, elasticities: Array) -> Array:
    """Return ℂ [m, 6, 6] of the strains e_ij."""
    I, J = np.transpose(_VOIGT)  # noqa: E741
    C = elasticities[:, I, J][:, :, I, J]
    # With frames c J0, Q and e are those of J0 times c: the strain is c Σ e_ij ∇ξ_i ⊗ ∇ξ_j.
    A = np.linalg.inv(geometry.frames)  # rows ∇ξ_i
    B = A[:, I[None, :], I[:, None]] * A[:, J[None, :], J[:, None]]
    B = 0.5 * (B + A[:, J[None, :], I[:, None]] * A[:, I[None, :], J[:, None]])
    B *= geometry.scales[:, None, None] * np.where(I == J, 1.0, 2.0)[:, None]
    return B.swapaxes(1, 2) @ C @ B


def _inverse(matrices: Array) -> Array:
    return np.asarray(np.linalg.inv(matrices), dtype=np.float64)


def _part(matrices: Array, kept: tuple[int, ...]) -> Array:
    return matrices[:, kept][:, :, kept]


def _numbers(geometry: Hexahedra, stiffness: Callable[[tuple[int, ...]], Array]) -> Array:
    """Return the 21 numbers [m, 21] from the stiffness of the strains that are kept, of each monomial."""
    V, known = geometry.volumes, []
    for kept in _OF_LINEAR:
        D = stiffness(kept) * (V / 3.0)[:, None, None]
        known += [D[:, 0, 0], D[:, 1, 1], D[:, 2, 2], D[:, 0, 1], D[:, 0, 2], D[:, 1, 2]]
    for kept in _OF_BILINEAR:
        known.append(stiffness(kept)[:, 0, 0] * V / 9.0)
    return np.stack(known, axis=1)


def constants_of(geometry: Hexahedra, moduli: Array, objective: bool) -> Array:
    """Return what loops know of the hourglass energy [m, 33]: s and K; [m, 42] if the law is not objective: and d."""
    m = len(moduli)
    known = [geometry.patterns.reshape(m, 12), moduli]
    if not objective:
        known.append(geometry.frames.swapaxes(1, 2).reshape(m, 9))
    return np.concatenate(known, axis=1)


def undeformed_elasticities(material: Material, fibres: Array | None) -> Array:
    """Return ℂ in Pa of the undeformed material: [1, 3, 3, 3, 3], or [m, …] with fibres of each element [F, m, 3].

    The mean of those stretched and compressed a little: with fibres that bear tension only, ℂ has a step there.
    """
    m = 1
    if fibres is not None:
        assert isinstance(material, InvariantMaterial)
        material, m = Oriented(material, fibres), fibres.shape[1]
    C = np.repeat(np.eye(3)[None], m, axis=0)
    return 0.5 * (material.tangent((1.0 + _LITTLE) * C) + material.tangent((1.0 - _LITTLE) * C))
