"""Symmetric tensors as results have them: six components, and the numbers that follow from them."""

from __future__ import annotations

import numpy as np

from symplex.fem.assembly.pattern import Array

_ROWS, _COLUMNS = (0, 1, 2, 0, 1, 0), (0, 1, 2, 1, 2, 2)
_PLACES = (0, 4, 8, 1, 5, 2)  # among the nine components by rows


def components(tensors: Array) -> Array:
    """Return xx, yy, zz, xy, yz, xz [..., 6] of symmetric tensors [..., 3, 3]."""
    return tensors.reshape(*tensors.shape[:-2], 9).take(_PLACES, axis=-1)


def tensors_of(values: Array) -> Array:
    """Return symmetric tensors [..., 3, 3] of the components [..., 6]."""
    out = np.empty((*values.shape[:-1], 3, 3))
    out[..., _ROWS, _COLUMNS] = out[..., _COLUMNS, _ROWS] = values
    return out


def pressure(sigma: Array) -> Array:
    """Return −tr σ/3 [...] of components [..., 6]."""
    return -sigma[..., :3].sum(axis=-1) / 3.0


def von_mises(sigma: Array) -> Array:
    """Return √(3/2 s : s) [...], s the deviator of σ, of components [..., 6]."""
    deviator = sigma[..., :3] + pressure(sigma)[..., None]
    return np.sqrt(1.5 * (deviator**2).sum(axis=-1) + 3.0 * (sigma[..., 3:] ** 2).sum(axis=-1))


def principal_values(sigma: Array) -> Array:
    """Return the principal values [..., 3], the largest first, of components [..., 6]."""
    return np.asarray(np.linalg.eigvalsh(tensors_of(sigma))[..., ::-1], dtype=float)


def green_lagrange(F: Array, objective: bool = True) -> Array:
    """Return E = ½ (FᵀF − 1) [..., 6]; or ε = sym F − 1 for laws of small strains."""
    T = F.swapaxes(-1, -2)
    return components(0.5 * ((T @ F if objective else F + T - np.eye(3)) - np.eye(3)))


def logarithmic(F: Array) -> Array:
    """Return ln V = ½ ln F Fᵀ [..., 6] of deformation gradients [..., 3, 3] that are not inverted (Hencky's strain)."""
    squares, axes = np.linalg.eigh(F @ F.swapaxes(-1, -2))
    return components((axes * (0.5 * np.log(squares))[..., None, :]) @ axes.swapaxes(-1, -2))
