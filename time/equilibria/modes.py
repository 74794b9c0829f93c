"""Natural vibrations about a state: frequencies and shapes of small motions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackError, eigsh

from symplex.base.arguments import checked
from symplex.errors import InvalidSystem, NoEquilibrium
from symplex.fem.energy import Array
from symplex.fem.system import State, System

_DENSE = 200  # free coordinates, up to which all frequencies are computed at once
_SHIFT = 1e-6  # of the mean of K/M, below zero: K of a body that nothing holds is singular


@final
@dataclass(frozen=True)
class Modes:
    """Natural vibrations.

    Attributes
    ----------
    frequencies : float64 [k]
        In Hz, ascending; negative where the state is not stable, with the size of the rate of growth over 2π.
    shapes : float64 [k, n, dim]
        In kg^(-1/2): uᵀ M u = 1; zero where coordinates are held.
    """

    frequencies: Array
    shapes: Array


@checked
def natural_modes(system: System, state: State, n: int) -> Modes:
    """Return the lowest natural frequencies of a system about a state, and their shapes.

    K u = ω² M u with K = ∇²V(q), by the Lanczos method with shift and inversion. Loads without a potential and damping
    are left out.

    Parameters
    ----------
    system : System
    state : State
        An equilibrium.
    n : int
        How many, at most as many as there are free coordinates.

    Returns
    -------
    Modes

    Raises
    ------
    InvalidSystem
        If n is not from 1 to the number of free coordinates, or a node has no mass.
    NoEquilibrium
        If the method finds no frequencies.
    """
    system.require_inertia("natural_modes")
    free = np.flatnonzero(~system.fixed.ravel())
    if not 1 <= n <= len(free):
        raise InvalidSystem(f"natural_modes: n is {n}, must be from 1 to {len(free)}, the number of free coordinates.")
    masses = system.pattern.matrix(system.mass_values[:, None, None] * np.eye(system.dim))
    stiffness, inertia = (sp.csr_array(matrix)[free][:, free] for matrix in (system.hessian(state.q), masses))
    if len(free) <= max(_DENSE, 2 * n + 2):
        from scipy.linalg import eigh

        squares, vectors = eigh(stiffness.toarray(), inertia.toarray(), subset_by_index=[0, n - 1])
    else:
        shift = -_SHIFT * abs(stiffness.diagonal()).mean() / inertia.diagonal().mean()
        start = np.random.default_rng(0).standard_normal(len(free))  # the same for every call
        try:
            squares, vectors = eigsh(stiffness.tocsc(), n, inertia.tocsc(), sigma=shift, which="LM", v0=start)
        except (ArpackError, RuntimeError) as error:
            raise NoEquilibrium(f"the natural frequencies were not found: {error}.") from error
    order = np.argsort(squares)
    shapes = np.zeros((n, system.fixed.size))
    shapes[:, free] = vectors.T[order]
    frequencies = np.sign(squares[order]) * np.sqrt(np.abs(squares[order])) / (2.0 * math.pi)
    return Modes(frequencies, shapes.reshape(n, *system.fixed.shape))
