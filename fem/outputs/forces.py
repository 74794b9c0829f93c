"""Forces that supports and energies exert, their resultants and moments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.errors import InvalidSystem
from symplex.fem.assembly.nodes import Nodes, node_indices
from symplex.fem.assembly.pattern import Array, scatter_vectors
from symplex.fem.energies.energy import Energy
from symplex.fem.system import State, System

# Returns ∂φ/∂x [m, k, dim] in N of an energy at a state, as it acts: `Motion.gradient`.
Acting = Callable[[Energy, State], Array]


def as_it_is(energy: Energy, state: State) -> Array:
    """Return ∂φ/∂x [m, k, dim] in N of an energy at a state."""
    return energy.gradient(state.q[energy.nodes])


def force_on_nodes(energy: Energy, state: State, acting: Acting = as_it_is) -> Array:
    """Return the forces [n, dim] in N of an energy on all nodes."""
    out = np.zeros_like(state.q)
    scatter_vectors(-acting(energy, state), energy.nodes, out)
    return out


def resultant(forces: Array, q: Array, about: Array) -> tuple[Array, Array]:
    """Return the sum [dim] in N of forces [k, dim] at the positions q [k, dim], and their moment in N m about a point.

    Moments have three components in space, one in the plane and none on a line.
    """
    found = resultants(forces[None], q[None], about)[0]
    return found[: len(about)], found[len(about) :]


def resultants(forces: Array, q: Array, about: Array) -> Array:
    """Return the sums and the moments side by side [s, …] of forces [s, k, dim] at several states; see `resultant`."""
    S = (q - about).swapaxes(1, 2) @ forces  # Σ x ⊗ f, of which the moment is the skew part
    pairs = {3: ((1, 2), (2, 0), (0, 1)), 2: ((0, 1),)}.get(len(about), ())
    moments = [S[:, i, j] - S[:, j, i] for i, j in pairs]
    return np.concatenate([forces.sum(axis=1), *(one[:, None] for one in moments)], axis=1)


def point_of(about: ArrayLike | None, dim: int) -> Array:
    """Return the point [dim] about which moments are taken; default: the origin."""
    point = np.zeros(dim) if about is None else np.array(about, dtype=float)
    if point.shape != (dim,) or not np.isfinite(point).all():
        raise InvalidSystem(f"the point of moments must be {dim} finite coordinates (m); it is {about!r:.60}.")
    return point


@checked
def reactions(
    system: System, state: State, nodes: Nodes | None = None, about: ArrayLike | None = None
) -> tuple[Array, Array]:
    """Return the force of supports on a system, and its moment.

    With R = M a + ∇V − f at the coordinates that are held or moved (`System.reactions`), Σ R and Σ (x − p) × R.

    Parameters
    ----------
    system : System
    state : State
        With its accelerations.
    nodes : int [k], optional
        The nodes of the supports that are meant; default: all.
    about : float64 [dim], optional
        p in m; default: the origin.

    Returns
    -------
    force : float64 [dim]
        In N.
    moment : float64 [3], [1] in the plane, [0] on a line
        In N m.

    Raises
    ------
    InvalidSystem
        If there are no such nodes.
    """
    found, point = system.reactions(state), point_of(about, system.dim)
    chosen = np.arange(system.n_nodes) if nodes is None else _nodes_of(system, nodes)
    return resultant(found[chosen], state.q[chosen], point)


@checked
def force_on(
    system: System, state: State, energy: str, nodes: Nodes, about: ArrayLike | None = None
) -> tuple[Array, Array]:
    """Return the force of one of a system's energies or inelastic parts on some nodes, and its moment, as `reactions`.

    Of contact with the nodes of a body it is the force on this body; of a strain energy with the nodes on one side of a
    cut it is the force that goes through the cut.

    Parameters
    ----------
    system : System
    state : State
    energy : str
        Its name.
    nodes : int [k]
    about : float64 [dim], optional
        Default: the origin.

    Raises
    ------
    InvalidSystem
        If there is no such energy, or there are no such nodes.
    """
    if energy in system.inelastic:
        forces = system.inelastic[energy].force(state.q, state.internal[energy], state.q, 0.0)
    elif energy in system.energies:
        forces = force_on_nodes(system.energies[energy], state)
    else:
        known = ", ".join((*system.energies, *system.inelastic))
        raise InvalidSystem(f"there is no energy '{energy}' in the system; there are {known}.")
    chosen = _nodes_of(system, nodes)
    return resultant(forces[chosen], state.q[chosen], point_of(about, system.dim))


def _nodes_of(system: System, nodes: Any) -> np.ndarray:
    found = np.unique(node_indices("nodes", nodes))
    if len(found) and found[-1] >= system.n_nodes:
        raise InvalidSystem(f"there is no node {found[-1]}; the system has {system.n_nodes}.")
    return found
