"""Loads that know their derivatives, which implicit steps need where they are strong: viscous damping."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import final

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.errors import InvalidSystem
from symplex.fem.actions import viscous_loops
from symplex.fem.actions.mass import nodal_masses
from symplex.fem.assembly import Array, IntArray
from symplex.fem.copying import Copyable
from symplex.fem.energy import Energy
from symplex.fem.forms import CompiledLoops
from symplex.fem.nodes import Nodes, node_pairs, require_nodes

NO_END = np.zeros(4)  # of a load that has no numbers beside those of its stencils


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


class ViscousLoad(DifferentiableLoad):
    """A load of positions and velocities in compiled loops over stencils (`symplex.fem.actions.viscous_loops`).

    Loops over steps call these by their addresses (`symplex.fem.load_table`).
    """

    @property
    @abstractmethod
    def compiled_loops(self) -> CompiledLoops:
        """The loops, and what they take."""

    def require_dimension(self, dim: int) -> None:
        """Raise `InvalidSystem` if it is not one in ``dim`` dimensions."""

    @cached_property
    def _least_nodes(self) -> int:
        return int(self.nodes.max(initial=-1)) + 1

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """Return the nodal forces [n, dim] in N at positions q and velocities v [n, dim]."""
        if v.ndim != 2 or v.shape != q.shape or len(v) < self._least_nodes:  # loops would read beyond the end
            raise InvalidSystem(
                f"{type(self).__name__}: positions have shape {q.shape} and velocities {v.shape}, wanted (n, dim) with "
                f"n at least {self._least_nodes}."
            )
        self.require_dimension(v.shape[1])
        loops, arguments = self.compiled_loops
        out = np.zeros(q.shape)
        loops["forces"](np.ascontiguousarray(q, float), np.ascontiguousarray(v, float), *arguments, out)
        return out

    def derivatives(self, t: float, x: Array, v: Array) -> tuple[Array, Array]:
        """Return ∂f/∂x in N/m and ∂f/∂v in N s/m [m, k·dim, k·dim] at gathered x and v [m, k, dim]."""
        (m, k), dim = self.nodes.shape, x.shape[2]
        self.require_dimension(dim)
        loops, (_, *arguments) = self.compiled_loops
        nodal = [np.ascontiguousarray(given, float).reshape(-1, dim) for given in (x, v)]
        own = np.arange(m * k, dtype=np.int32).reshape(m, k)
        slots = np.arange(m * k * k, dtype=np.int32).reshape(m, k, k)
        found = np.zeros((2, m * k * k, dim, dim))
        for out, factors in zip(found, ((1.0, 0.0), (0.0, 1.0)), strict=True):
            loops["force_derivatives"](*nodal, own, *arguments, *factors, slots, out)
        blocks = found.reshape(2, m, k, k, dim, dim).transpose(0, 1, 2, 4, 3, 5).reshape(2, m, k * dim, k * dim)
        return blocks[0], blocks[1]

    def add_derivatives(self, q: Array, v: Array, by_q: float, by_v: float, slots: IntArray, out: Array) -> None:
        """Add by_q ∂f/∂q + by_v ∂f/∂v at q and v [n, dim] to blocks out [nnz, dim, dim], at the places slots."""
        self.require_dimension(v.shape[1])
        loops, arguments = self.compiled_loops
        nodal = np.ascontiguousarray(q, float), np.ascontiguousarray(v, float)
        loops["force_derivatives"](*nodal, *arguments, by_q, by_v, slots, out)


@checked
@final
class Drag(ViscousLoad):
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

    @cached_property
    def compiled_loops(self) -> CompiledLoops:
        """The loops, and what they take."""
        arguments = self.nodes, np.zeros(0), 0, self.viscosity, np.zeros(len(self.viscosity)), NO_END
        return CompiledLoops(viscous_loops.DRAG, arguments)

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """Return −α m v."""
        if len(v) != len(self.viscosity):
            raise InvalidSystem(f"Drag: there are {len(v)} nodes, but {len(self.viscosity)} masses.")
        return super().__call__(t, q, v)


@checked
@final
class StiffnessDamping(ViscousLoad):
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
        self.nodes, self._dim = np.ascontiguousarray(energy.nodes, np.int32), q.shape[1]
        self._viscosity = np.ascontiguousarray(time * energy.hessian(q[energy.nodes]), float)

    def require_dimension(self, dim: int) -> None:
        """Raise `InvalidSystem` if velocities have other components than the positions of the stiffness."""
        if dim != self._dim:
            raise InvalidSystem(
                f"StiffnessDamping: the stiffness is one in {self._dim} dimensions, but velocities have {dim} "
                "components."
            )

    @cached_property
    def compiled_loops(self) -> CompiledLoops:
        """The loops, and what they take."""
        none = np.zeros(len(self.nodes))
        return CompiledLoops(viscous_loops.LINEAR, (self.nodes, self._viscosity.ravel(), 0, none, none, NO_END))


@checked
@final
class Dashpots(ViscousLoad):
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

    @cached_property
    def compiled_loops(self) -> CompiledLoops:
        """The loops, and what they take."""
        m = len(self.nodes)
        viscosity = np.broadcast_to(self.viscosity, m).astype(float)
        return CompiledLoops(viscous_loops.PAIR_DASHPOTS, (self.nodes, np.zeros(0), 0, viscosity, np.zeros(m), NO_END))
