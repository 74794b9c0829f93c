"""What went wrong in an element: the error that a failed loop is turned into."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from symplex.errors import InvertedElement, MaterialFailed
from symplex.fem.assembly.pattern import Array, IntArray
from symplex.fem.solids import tensors
from symplex.fem.solids.constitutive import Material


def strains(material: Material, F: Array) -> Array:
    """Return C = FᵀF [..., 3, 3], or 1 + 2 sym(F − 1) if the law is not objective."""
    T = F.swapaxes(-1, -2)
    return np.ascontiguousarray(T @ F if material.objective else F + T - tensors.ONE)


def failure(
    material: Material, nodes: IntArray, order: NDArray[np.integer], deformations: Sequence[Array], law: Material
) -> InvertedElement | MaterialFailed:
    """Return the error about the first element that is inverted, or whose energy or stress is not finite.

    Parameters
    ----------
    material : Material
    nodes : int32 [m, k]
        The nodes of the elements.
    order : int [m]
        Which element each row of the deformations belongs to.
    deformations : sequence of float64 [m, g, 3, 3]
        F at the points of quadrature at one or more positions. Laws that are not objective see sym F only.
    law : Material
        The material at all these points, if its fibres have a direction in each element.
    """
    worst, finite = np.full(len(nodes), np.inf), np.ones(len(nodes), bool)
    with np.errstate(all="ignore"):
        for F in deformations:
            C = strains(material, F)
            if material.objective:
                worst = np.minimum(worst, tensors.determinants(F).min(axis=1))
            flat = C.reshape(-1, 3, 3)
            W, S = np.asarray(law.energy_density(flat)), np.asarray(law.stress(flat))
            finite &= np.isfinite(W).reshape(C.shape[:2]).all(axis=1) & np.isfinite(S).reshape(len(C), -1).all(axis=1)
    inverted, failed = order[~(worst > 0)], order[~finite]
    element = int((inverted if len(inverted) else failed if len(failed) else order).min())
    where = element_words(element, nodes[element])
    if len(inverted):
        det = worst[order == element][0]
        what = f"inverted: det F = {det:.3g}, and must be positive" if np.isfinite(det) else "deformed beyond numbers"
        return InvertedElement(
            f"{where} is {what}. Try a smaller step, a finer mesh there, or a softer impact.", element
        )
    return MaterialFailed(
        f"{type(material).__name__} has no finite energy, stress or tangent in {where}. "
        "Try a smaller step, or a law that holds at such strains.",
        element,
    )


def element_words(element: int, nodes: IntArray) -> str:
    """Return how messages name an element with nodes [k]."""
    return f"element {element} (nodes {', '.join(map(str, nodes))})"


def named_in_all(
    error: InvertedElement | MaterialFailed, nodes: IntArray, chosen: NDArray[np.integer], named: IntArray
) -> InvertedElement | MaterialFailed:
    """Return an error about one of some elements of a body with the numbers that it has among all.

    Parameters
    ----------
    error : InvertedElement or MaterialFailed
    nodes, named : int32 [s, k]
        The nodes of these elements, and the same as the whole numbers them.
    chosen : int [s]
        Which of all these are.
    """
    here, there = error.element, int(chosen[error.element])
    text = str(error).replace(element_words(here, nodes[here]), element_words(there, named[here]))
    return type(error)(text, there)
