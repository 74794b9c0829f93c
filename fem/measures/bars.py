"""Energies between two points: springs, truss bars, gravitation and charges, Lennard-Jones pairs.

With d = x_1 − x_0 and s = |d|², a law (`symplex.fem.measures.pair_laws`) is a function φ(s): its force is 2 φ'(s) d.
"""

from __future__ import annotations

from math import dist
from typing import final

import numpy as np

from symplex.base.arguments import checked
from symplex.errors import InvalidSystem, StepFailed
from symplex.fem.assembly.nodes import Nodes, node_pairs
from symplex.fem.assembly.pattern import Array
from symplex.fem.measures.composition import MeasureEnergy
from symplex.fem.measures.pair_laws import (
    CompiledLaw as CompiledLaw,
    CompressionOnly as CompressionOnly,
    EngineeringStrain as EngineeringStrain,
    GreenStrain as GreenStrain,
    InverseDistance as InverseDistance,
    InverseSquare as InverseSquare,
    LennardJones as LennardJones,
    PairLaw as PairLaw,
    TensionOnly as TensionOnly,
)
from symplex.fem.measures.relative import distance


@checked
@final
class Bars(MeasureEnergy):
    """Pairs of points with a two-point law: springs, truss bars, or particles that attract and repel each other.

    Parameters
    ----------
    pairs : int [m, 2]
        The nodes of each pair; the ``line`` cells of a mesh, or `all_pairs`.
    law : PairLaw
    dim : int, default 3
        Dimension of space.

    Raises
    ------
    InvalidSystem
        If a pair joins a node with itself, or the law has constants for another number of pairs.
    StepFailed
        If a pair is where its law has a pole.
    """

    def __init__(self, pairs: Nodes, law: PairLaw, dim: int = 3):
        nodes = node_pairs("Bars", pairs)
        self.law = law
        self.dim = dim
        for name, values in law.constants.items():
            if values.ndim and values.shape != (len(nodes),):
                raise InvalidSystem(f"Bars: {name} has shape {values.shape}, but there are {len(nodes)} pairs.")
        if not isinstance(law, CompiledLaw):
            self._compose(nodes, distance(), law)
            return
        self._compose(nodes, distance(), law.arguments())
        self._lattice_dim = dim

    def _away_from_poles(self, values: Array, x: Array) -> Array:
        """Return values [m, …] of the pairs at x, all of them finite."""
        bad = np.flatnonzero(~np.isfinite(values).reshape(len(values), -1).all(axis=1))
        if len(bad):
            a, b = self.nodes[bad[0]]
            length = dist(*x[bad[0]])
            raise StepFailed(
                f"pair {bad[0]} (nodes {a} and {b}) is {length:.3g} m long, where its law has no finite energy or "
                "force. Try a smaller step, or other positions at the start."
            )
        return values

    def lengths(self, q: Array) -> Array:
        """Return the lengths [m] in m at the nodal positions q [n, dim]."""
        x = q[self.nodes]
        return np.linalg.norm(x[:, 1] - x[:, 0], axis=1)

    def tensions(self, q: Array) -> Array:
        """Return the forces [m] in N along the pairs, positive where they pull together: 2 φ'(s) l."""
        lengths = self.lengths(q)
        return 2.0 * self.law.slope(lengths**2) * lengths


@checked
def all_pairs(n: int) -> np.ndarray:
    """Return the n(n − 1)/2 pairs of n nodes [m, 2].

    Parameters
    ----------
    n : int
        How many nodes, numbered from zero.
    """
    return np.column_stack(np.triu_indices(n, 1)).astype(np.int32)
