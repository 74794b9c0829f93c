"""Loads that know their derivatives, which implicit steps need where they are strong: viscous damping."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import final

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.errors import InvalidSystem
from symplex.fem.actions.mass import nodal_masses
from symplex.fem.assembly import Array, IntArray, scatter_vectors
from symplex.fem.copying import Copyable
from symplex.fem.energy import Energy
from symplex.fem.nodes import Nodes, node_pairs, require_nodes


class DifferentiableLoad(Copyable, ABC):
    """A load, a function f(t, q, v), that gives its derivatives.

    Loads without them run with implicit methods as well, but the corrections of a step then don't see how they change:
    where that is much, they converge slowly or not at all.

    Attributes
    ----------
    nodes : int32 [m, k]
        Its stencils: which forces depend on which nodes.
    """

    nodes: IntArray

    @abstractmethod
    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """Return the nodal forces [n, dim] in N at the time t in s, positions q and velocities v [n, dim]."""

    @abstractmethod
    def derivatives(self, t: float, x: Array, v: Array) -> tuple[Array, Array]:
        """Return ∂f/∂x in N/m and ∂f/∂v in N s/m [m, k·dim, k·dim] at gathered x and v [m, k, dim]."""


@checked
@final
class Drag(DifferentiableLoad):
    """Resistance in proportion to mass, f = −α m v: the part α M of Rayleigh's damping.

    Parameters
    ----------
    mass : float64 [n] or sparse [n, n]
        Nodal masses in kg, or the consistent mass matrix, which is lumped.
    rate : float
        α in 1/s: a free velocity decays as exp(−α t). A negative rate drives instead of damping: the velocity grows.

    Raises
    ------
    InvalidSystem
        If the rate is not finite, or a mass is negative or not finite.
    """

    def __init__(self, mass: Array | sp.csr_array, rate: float):
        if not np.isfinite(rate):
            raise InvalidSystem(f"Drag: the rate must be finite; it is {rate} 1/s.")
        lumped = nodal_masses("Drag", mass)
        self.nodes = np.arange(len(lumped), dtype=np.int32)[:, None]
        self.viscosity = rate * lumped

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """Return −α m v."""
        if len(v) != len(self.viscosity):
            raise InvalidSystem(f"Drag: there are {len(v)} nodes, but {len(self.viscosity)} masses.")
        return -self.viscosity[:, None] * v

    def derivatives(self, t: float, x: Array, v: Array) -> tuple[Array, Array]:
        """Return zeros, and −α m I [n, dim, dim]."""
        by_v = -self.viscosity[:, None, None] * np.eye(x.shape[2])
        return np.zeros_like(by_v), by_v


@checked
@final
class StiffnessDamping(DifferentiableLoad):
    """Resistance in proportion to stiffness, f = −β K v: the part β K of Rayleigh's damping.

    K is the stiffness ∇²φ of an energy at one configuration, and stays what it is there. A mode of vibration about
    this configuration with the frequency ω decays as exp(−β ω² t/2); with `Drag` as exp(−(α + β ω²) t/2).
    Translations are not damped, nor are rotations if the configuration is free of stress and the body has not turned
    far from it: for bodies that turn by large angles take `Dashpots`.

    Parameters
    ----------
    energy : Energy
        Such as the `Solid` or `Bars` to be damped.
    q : float64 [n, dim]
        The positions in m at which K is taken; usually the undeformed ones.
    time : float
        β in s. It cannot be negative: the modes of the highest frequencies, which no step resolves, would grow the
        fastest.

    Raises
    ------
    InvalidSystem
        If the time is negative or not finite, or the positions do not fit the energy.
    """

    def __init__(self, energy: Energy, q: Array, time: float):
        if not (np.isfinite(time) and time >= 0):
            raise InvalidSystem(f"StiffnessDamping: the time must not be negative; it is {time} s.")
        q = np.asarray(q, dtype=float)
        if q.ndim != 2 or not np.isfinite(q).all():
            raise InvalidSystem(f"StiffnessDamping: positions must be finite, [n, dim]; their shape is {q.shape}.")
        if q.shape[1] != getattr(energy, "dim", q.shape[1]):
            raise InvalidSystem(f"StiffnessDamping: positions have shape {q.shape}, but the energy another dimension.")
        require_nodes("StiffnessDamping: the energy", energy.nodes, len(q))
        self.nodes = energy.nodes
        self._viscosity = time * energy.hessian(q[energy.nodes])

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """Return −β K v [n, dim] in N."""
        local = v[self.nodes]
        forces = -np.einsum("eij,ej->ei", self._viscosity, local.reshape(len(local), -1))
        out = np.zeros_like(q)
        scatter_vectors(np.ascontiguousarray(forces.reshape(local.shape)), self.nodes, out)
        return out

    def derivatives(self, t: float, x: Array, v: Array) -> tuple[Array, Array]:
        """Return zeros, and −β K [m, k·dim, k·dim]."""
        return np.zeros_like(self._viscosity), -self._viscosity


@checked
@final
class Dashpots(DifferentiableLoad):
    """Dampers along pairs of nodes, f_1 = −f_0 = −c e (e·(v_1 − v_0)), e the direction from node 0 to node 1.

    They take energy from stretching only: a rigid motion is not damped, and both momenta are kept.

    Parameters
    ----------
    pairs : int [m, 2]
    viscosity : float or float64 [m]
        c in N s/m. A negative one drives instead of damping: it gives energy to stretching.

    Raises
    ------
    InvalidSystem
        If a viscosity is not finite, sizes do not fit, or a pair joins a node with itself.
    """

    def __init__(self, pairs: Nodes, viscosity: ArrayLike):
        self.nodes = node_pairs("Dashpots", pairs)
        self.viscosity = np.array(viscosity, dtype=float)
        if self.viscosity.ndim and self.viscosity.shape != (len(self.nodes),):
            raise InvalidSystem(
                f"Dashpots: viscosity has shape {self.viscosity.shape}, but there are {len(self.nodes)} pairs."
            )
        if not np.all(np.isfinite(self.viscosity)):
            raise InvalidSystem(f"Dashpots: the viscosity must be finite; it is {viscosity} N s/m.")

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """Return the nodal forces [n, dim] in N; none along a pair without length."""
        e, _ = _direction(q[self.nodes])
        w = v[self.nodes[:, 1]] - v[self.nodes[:, 0]]
        pull = (self.viscosity * np.einsum("mi,mi->m", e, w))[:, None] * e
        out = np.zeros_like(q)
        scatter_vectors(np.stack([pull, -pull], axis=1), self.nodes, out)
        return out

    def derivatives(self, t: float, x: Array, v: Array) -> tuple[Array, Array]:
        """Return ∂f/∂x and ∂f/∂v [m, 2·dim, 2·dim]."""
        e, length = _direction(x)
        w = v[:, 1] - v[:, 0]
        c = np.broadcast_to(self.viscosity, len(x))[:, None, None]
        along = np.einsum("mi,mi->m", e, w)[:, None, None]
        # ∂e/∂d = (I − e ⊗ e)/|d| =: P;  ∂[e (e·w)]/∂d = (e·w) P + e ⊗ P w
        P = np.eye(x.shape[2]) - e[:, :, None] * e[:, None, :]
        P = np.divide(P, length[:, None, None], out=np.zeros_like(P), where=length[:, None, None] > 0)
        by_x = -c * (along * P + e[:, :, None] * np.einsum("mij,mj->mi", P, w)[:, None, :])
        by_v = -c * e[:, :, None] * e[:, None, :]
        return np.block([[by_x, -by_x], [-by_x, by_x]]), np.block([[by_v, -by_v], [-by_v, by_v]])


def _direction(x: Array) -> tuple[Array, Array]:
    """Return the unit vectors [m, dim] from node 0 to node 1 of pairs (zero without length), and the lengths [m]."""
    d = x[:, 1] - x[:, 0]
    length = np.linalg.norm(d, axis=1)
    return np.divide(d, length[:, None], out=np.zeros_like(d), where=length[:, None] > 0), length
