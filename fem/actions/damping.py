"""Viscous damping: drag, Rayleigh's parts of mass and stiffness, and dashpots along pairs."""

from __future__ import annotations

from typing import Annotated, ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.base.quantities import not_negative
from symplex.base.sparse import sp
from symplex.errors import InvalidSystem
from symplex.fem.actions import viscous_loops
from symplex.fem.actions.looped_load import LoopedLoad
from symplex.fem.actions.mass import nodal_masses
from symplex.fem.assembly.nodes import Nodes, node_pairs, require_nodes
from symplex.fem.assembly.pattern import Array
from symplex.fem.energies.energy import Energy


@checked
@final
class Drag(LoopedLoad):
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

    kernels: ClassVar = viscous_loops.DRAG

    def __init__(self, mass: Array | sp.csr_array, rate: float):
        if not np.isfinite(rate):
            raise InvalidSystem(f"Drag: the rate must be finite; it is {rate} 1/s.")
        lumped = nodal_masses("Drag", mass)
        self.nodes = np.arange(len(lumped), dtype=np.int32)[:, None]
        self.viscosity = rate * lumped

    @property
    def record(self) -> viscous_loops.DragRecord:
        """What the kernels read."""
        none = np.zeros(len(self.viscosity))
        return viscous_loops.DragRecord(nodes=self.nodes, c=self.viscosity, k=none, u=np.zeros(3))

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """Return −α m v."""
        if len(v) != len(self.viscosity):
            raise InvalidSystem(f"Drag: there are {len(v)} nodes, but {len(self.viscosity)} masses.")
        return super().__call__(t, q, v)


@checked
@final
class StiffnessDamping(LoopedLoad):
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

    kernels: ClassVar = viscous_loops.LINEAR

    def __init__(self, energy: Energy, q: Array, time: Annotated[float, not_negative("s")]):
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

    @property
    def record(self) -> viscous_loops.LinearRecord:
        """What the kernels read."""
        return viscous_loops.LinearRecord(nodes=self.nodes, matrices=self._viscosity)


@checked
@final
class Dashpots(LoopedLoad):
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

    kernels: ClassVar = viscous_loops.PAIR_DASHPOTS

    def __init__(self, pairs: Nodes, viscosity: ArrayLike):
        self.nodes = node_pairs("Dashpots", pairs)
        self.viscosity = np.array(viscosity, dtype=float)
        if self.viscosity.ndim and self.viscosity.shape != (len(self.nodes),):
            raise InvalidSystem(
                f"Dashpots: viscosity has shape {self.viscosity.shape}, but there are {len(self.nodes)} pairs."
            )
        if not np.all(np.isfinite(self.viscosity)):
            raise InvalidSystem(f"Dashpots: the viscosity must be finite; it is {viscosity} N s/m.")

    @property
    def record(self) -> viscous_loops.PairRecord:
        """What the kernels read."""
        viscosity = np.broadcast_to(self.viscosity, len(self.nodes)).astype(float)
        return viscous_loops.PairRecord(nodes=self.nodes, c=viscosity)
