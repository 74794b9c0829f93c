"""Energies that are quadratic in measures that are quadratic in positions: beams, shells, bars and rigid bodies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.errors import InvalidSystem
from symplex.fem.assembly import forms
from symplex.fem.assembly.nodes import Nodes, connectivity
from symplex.fem.energies.energy import RIGID, Array
from symplex.fem.energies.kernel_energy import KernelEnergy
from symplex.fem.structures import measures_loops as loops
from symplex.fem.structures.structure import MeasuresRecord, Structure

_ROUND_OFF = 1e-12


class QuadraticMeasures(KernelEnergy):
    """φ = b·ε + ½ ε·C ε of each stencil, with measures ε_i = Σ c p_r·p_s − e_i of vectors p_r = Σ_a w_ra x_a.

    The measures are quadratic in positions, and the same after rigid motions. So all forms are in closed form: the
    discrete gradient takes stresses b + C ε at the mean of the strains at both ends, and does the work of φ to
    round-off. Positions are taken relative to one node of a stencil.

    Parameters
    ----------
    nodes : int [m, k]
        The stencils.
    weights : float64 [m, v, k]
        w of the vectors p_r; the sum over the nodes of each must be zero.
    measures : sequence of sequences of (int, int, float)
        The terms (r, s, c) of each measure, the same for all stencils.
    rest : float64 [m, i]
        e, the sums Σ c p_r·p_s where the measures are zero.
    stiffness : float64 [m, i, i] or [m, i]
        C, symmetric, or its diagonal.
    stress : float64 [m, i], optional
        b, the stresses where the measures are zero; default: none.
    couplings : sequence of (int, int), optional
        The pairs of measures i ≤ j that C couples; default: those where it is not zero in all stencils. Kernels are
        compiled for the pairs, so that tables in which numbers may be zero by chance give them.

    Raises
    ------
    InvalidSystem
        If shapes do not fit, a number is not finite, weights do not sum to zero, or a stiffness is not symmetric.
    """

    invariances = RIGID
    kernels: ClassVar = forms.kernels_of(loops) | {forms.MEAN_GRADIENT.name: loops.add_discrete_gradient}

    @checked
    def __init__(
        self,
        nodes: Nodes,
        weights: ArrayLike,
        measures: Sequence[Sequence[tuple[int, int, float]]],
        rest: ArrayLike,
        stiffness: ArrayLike,
        stress: ArrayLike | None = None,
        couplings: Sequence[tuple[int, int]] | None = None,
    ):
        self.nodes = connectivity("QuadraticMeasures", nodes)
        if self.nodes.ndim != 2 or self.nodes.shape[1] < 2 or not len(self.nodes):
            raise InvalidSystem(f"QuadraticMeasures: nodes must have shape (m, k ≥ 2), got {self.nodes.shape}.")
        (m, k), n = self.nodes.shape, len(measures)
        self.weights = np.array(weights, dtype=float)
        vectors = self.weights.shape[1] if self.weights.ndim == 3 else 0
        _require_shape("weights", self.weights, (m, max(vectors, 1), k))
        sums = np.abs(self.weights.sum(axis=2)).max()
        if sums > _ROUND_OFF * np.abs(self.weights).max():
            raise InvalidSystem(f"QuadraticMeasures: weights of a vector must sum to zero, got {sums:.3g}.")
        terms = tuple(tuple((int(r), int(s), float(c)) for r, s, c in measure) for measure in measures)
        named = [r for measure in terms for one in measure for r in one[:2]]
        if not terms or not all(terms) or not 0 <= min(named) <= max(named) < vectors:
            raise InvalidSystem(f"QuadraticMeasures: measures must have terms (r, s, c) of {vectors} vectors.")
        self.rest = _broadcast("rest", rest, (m, n))
        given = np.asarray(stiffness, dtype=float)
        self.stiffness = given[:, :, None] * np.eye(n) if given.shape == (m, n) else given.copy()
        _require_shape("stiffness", self.stiffness, (m, n, n))
        if not np.array_equal(self.stiffness, self.stiffness.swapaxes(1, 2)):
            raise InvalidSystem("QuadraticMeasures: the stiffness of each stencil must be symmetric.")
        self.stress = np.zeros((m, n)) if stress is None else _broadcast("stress", stress, (m, n))
        present, stresses = (self.stiffness != 0.0).any(axis=0), (self.stress != 0.0).any(axis=0)
        coupled = tuple((i, j) for i in range(n) for j in range(i, n) if present[i, j])
        if couplings is not None:
            if missing := set(coupled) - set(couplings):
                raise InvalidSystem(
                    f"QuadraticMeasures: couplings must have all pairs of C, got none for {min(missing)}."
                )
            coupled = tuple(sorted((int(i), int(j)) for i, j in couplings))
            if any(not 0 <= i <= j < n for i, j in coupled):
                raise InvalidSystem(f"QuadraticMeasures: couplings must be pairs i ≤ j of {n} measures.")
        stressed = tuple(np.flatnonzero(stresses).tolist())
        self.terms = terms
        structure = Structure(k, vectors, terms, coupled, stressed)
        numbers = np.concatenate(
            [
                self.weights[:, :, 1:].reshape(m, -1),
                self.rest,
                self.stiffness[:, [i for i, _ in coupled], [j for _, j in coupled]],
                self.stress[:, list(stressed)],
            ],
            axis=1,
        )
        self._compose(3, MeasuresRecord(structure, nodes=self.nodes, numbers=np.ascontiguousarray(numbers)))

    def shifted(self, first: int) -> QuadraticMeasures:
        """Return the same energy of nodes whose numbers are greater by ``first``."""
        measures = self.terms, self.rest, self.stiffness, self.stress
        return QuadraticMeasures(self.nodes + np.int32(first), self.weights, *measures)

    def at_rest(self, rest: Array) -> QuadraticMeasures:
        """Return the energy of other measures at rest [m, i], as of what is warmer."""
        return QuadraticMeasures(self.nodes, self.weights, self.terms, rest, self.stiffness, self.stress)

    def strains(self, x: Array) -> Array:
        """Return the measures ε [m, i] at the positions x [m, k, 3] in m."""
        return self._products(x, self.weights) - self.rest

    def stresses(self, x: Array) -> Array:
        """Return b + C ε [m, i], what the energy changes by with each measure, at the positions x [m, k, 3] in m."""
        return self.stress + np.einsum("mij,mj->mi", self.stiffness, self.strains(x))

    def value(self, x: Array) -> Array:
        """Return φ [m] in J at the positions x [m, k, 3] in m."""
        return _energy(self.strains(x), self.stiffness, self.stress)

    def increment_gradient(self, x: Array, compensation: Array, dx: Array) -> Array:
        """Return the discrete gradient [m, k, 3] in N from x + compensation to x + compensation + Δx."""
        return self._local(forms.INCREMENT_GRADIENT, x, compensation, dx)

    def mean_gradient(self, x0: Array, x1: Array) -> Array:
        """Return the gradient [m, k, 3] in N at mean strains: the discrete gradient, as φ is quadratic in them."""
        return self.discrete_gradient(x0, x1)

    def secant(self, x: Array) -> Array:
        """Return 𝓕 = Σ σ_i A_i [m, k, k] in N/m."""
        return self._local(forms.SECANT, x)

    def secant_rate(self, x: Array, v: Array) -> Array:
        """Return 𝓕̇ [m, k, k] in N/(m s) along velocities v [m, k, 3] in m/s."""
        return self._local(forms.SECANT_RATE, x, v)

    def local_value(self, stencil: int, x: Array) -> float:
        """Return φ in J of one stencil at its positions x [k, 3] in m."""
        one = slice(stencil, stencil + 1)
        strains = self._products(x[None], self.weights[one]) - self.rest[one]
        return float(_energy(strains, self.stiffness[one], self.stress[one])[0])

    def _products(self, x: Array, weights: Array) -> Array:
        """Return Σ c p_r·p_s [m, i]."""
        p = weights[:, :, 1:] @ (x[:, 1:] - x[:, :1])
        return np.stack(
            [sum(c * np.einsum("mi,mi->m", p[:, r], p[:, s]) for r, s, c in measure) for measure in self.terms], axis=1
        )


def _energy(strains: Array, stiffness: Array, stress: Array) -> Array:
    return np.einsum("mi,mi->m", stress, strains) + 0.5 * np.einsum("mi,mij,mj->m", strains, stiffness, strains)


def _require_shape(name: str, given: Array, shape: tuple[int, ...]) -> None:
    if given.shape != shape:
        raise InvalidSystem(f"QuadraticMeasures: {name} must have shape {shape}, got {given.shape}.")
    if not np.isfinite(given).all():
        raise InvalidSystem(f"QuadraticMeasures: {name} must be finite.")


def _broadcast(name: str, given: ArrayLike, shape: tuple[int, ...]) -> Array:
    array = np.array(given, dtype=float)
    _require_shape(name, array, shape)
    return array
