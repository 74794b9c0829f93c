"""How fast each node of a system can swing, and the steps that follow from it.

The diagonal block K_aa of ∇²V of a node a with the mass m_a has the largest eigenvalue m_a ω_a². The largest ω_a is
not above the largest natural frequency ω of the system, and of stencils of k nodes ω ≤ k^½ max ω_a: how all swing
together. What is between is found where it counts, for all stencils of a step together
(`symplex.time.explicit.local_levels`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from symplex.fem.actions.loads import DeadLoad
from symplex.fem.assembly.pattern import scatter_vectors
from symplex.fem.energies.contact_energy import contact_of
from symplex.fem.energies.energy import Array, Energy
from symplex.fem.system import System
from symplex.time.stability import largest_frequency, latent_frequency, stable_step

_ONE_LEVEL = 0.8 / 0.6  # by how much longer than with others the step of one level may be
_DIFFERENCE = 1e-6  # displacement of a node for differences of gradients, relative to the nearest of its stencil


@dataclass(frozen=True)
class Safety:
    """Which part of stability limits steps may be: of bodies, and of single nodes on penalty contact."""

    of_bodies: float
    of_contact: float

    @property
    def of_one_level(self) -> float:
        """The part for bodies where there is one level, in resonance with nothing: as explicit Newmark's by default."""
        return _ONE_LEVEL * self.of_bodies


@dataclass(frozen=True)
class Rates:
    """The steps that a system and its nodes ask for.

    Attributes
    ----------
    whole : float
        The step in s of the stiffest stencils next to slower ones; infinite if nothing is stiff.
    alone : float
        That in s of all of it in one level, which no other kicks: by `Safety.of_one_level`.
    nodes : float64 [n]
        That which each node asks for in s, scaled so that the least for bodies is the step of the whole.
    changing : float64 [n]
        That in s which stencils that change may ask for there, as contact that closes later.
    scale : float
        The largest natural frequency over the largest of single nodes.
    safety : Safety
    """

    whole: float
    alone: float
    nodes: Array
    changing: Array
    scale: float
    safety: Safety


def rates_of(system: System, q: Array, v: Array, safety: Safety) -> Rates:
    """Return the steps that a system and its nodes ask for at the positions q and velocities v [n, dim]."""
    mass = system.lumped_mass("local time steps")
    system.update_neighbours(q)
    own = nodal_frequencies(system, list(steady(system).values()), q)
    bodies = System(mass, steady(system), dim=system.dim, fixed=system.fixed) if system.changing else system
    together, contact = largest_frequency(bodies, q), latent_frequency(system, resolved=True)
    of_bodies = np.sqrt(max(together**2 - latent_frequency(bodies) ** 2, 0.0))
    scale = float(of_bodies / own.max()) if own.max(initial=0.0) > 0.0 else 1.0
    nodes = _steps(system, steady(system), (scale * own) ** 2, safety)
    changing = _steps(system, system.changing, np.zeros_like(own), safety)
    with np.errstate(divide="ignore"):
        limit, most = stable_step(system, q, v), float(np.divide(2.0 * safety.of_contact, contact))
    whole, alone = min(safety.of_bodies * limit, most), min(safety.of_one_level * limit, most)
    return Rates(whole, alone, nodes, changing, scale, safety)


def _steps(system: System, energies: Mapping[str, Energy], squares: Array, safety: Safety) -> Array:
    """Return the steps [n] in s for squares of frequencies [n] and what energies may add to them."""
    latent, resolved, free = np.zeros(system.n_nodes), np.zeros(system.n_nodes), ~system.fixed.all(axis=1)
    for contact in map(contact_of, energies.values()):
        stiffness = np.where(free, contact.contact_stiffness_bound(system.n_nodes) / np.asarray(system.mass), 0.0)
        latent += stiffness
        resolved += stiffness * contact.resolved_share**2
    with np.errstate(divide="ignore"):
        return np.minimum(
            2.0 * safety.of_bodies / np.sqrt(squares + latent), 2.0 * safety.of_contact / np.sqrt(resolved)
        )


def steady(system: System) -> dict[str, Energy]:
    """Return the energies whose stencils do not change: what others may do is their latent stiffness."""
    return {name: energy for name, energy in system.energies.items() if name not in system.changing}


def nodal_frequencies(system: System, energies: list[Energy], q: Array) -> Array:
    """Return the frequency [n] in rad/s of each node among others at rest, at the positions q [n, dim]."""
    n, dim = q.shape
    blocks = np.zeros((dim, n, dim))
    for energy in energies:
        if not isinstance(energy, DeadLoad):
            _add_blocks(energy, q, blocks)
    free = ~system.fixed
    K = np.where(free[:, :, None] & free[:, None, :], blocks.transpose(1, 2, 0), 0.0)
    squares = np.linalg.eigvalsh(0.5 * (K + K.swapaxes(1, 2)))[:, -1] / np.asarray(system.mass)
    return np.sqrt(np.maximum(squares, 0.0))


def _add_blocks(energy: Energy, q: Array, blocks: Array) -> None:
    """Add the columns of ∂²φ/∂x_a² of all stencils, by differences of gradients, to blocks [dim, n, dim]."""
    nodes = np.ascontiguousarray(energy.nodes, np.int32)
    if not len(nodes):
        return
    x = q[nodes]
    at_x = energy.gradient(x)
    length = _DIFFERENCE * _nearest(x, float(np.abs(q).max()) or 1.0)
    for a in range(nodes.shape[1]):
        alone = np.ascontiguousarray(nodes[:, a : a + 1])
        for i in range(q.shape[1]):
            kept = x[:, a, i].copy()
            x[:, a, i] += length
            change = (energy.gradient(x)[:, a] - at_x[:, a]) / length[:, None]
            scatter_vectors(np.ascontiguousarray(change[:, None]), alone, blocks[i])
            x[:, a, i] = kept


def _nearest(x: Array, otherwise: float) -> Array:
    """Return the shortest distance [m] from the first node of each stencil to another one, at x [m, k, dim]."""
    if x.shape[1] == 1:
        return np.full(len(x), otherwise)
    distance = np.linalg.norm(x[:, 1:] - x[:, :1], axis=2)
    distance[distance == 0.0] = np.inf  # a stencil may have a node twice
    nearest = distance.min(axis=1)
    return np.where(np.isfinite(nearest), nearest, otherwise)
