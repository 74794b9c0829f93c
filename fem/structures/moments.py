"""Moments on frames, as forces of their particles."""

from __future__ import annotations

from typing import ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.errors import InvalidSystem
from symplex.fem.actions.histories import Constant, Factor, History, factor_of
from symplex.fem.actions.looped_load import LoopedLoad
from symplex.fem.assembly.nodes import Nodes, connectivity, require_nodes
from symplex.fem.assembly.pattern import Array
from symplex.fem.structures import moment_loops


@checked
@final
class Moment(LoopedLoad):
    """Moments on frames that keep their directions, μ(t) = factor(t) · moment.

    On the particles of masses m and arms ρ about the centre of mass they are f = m (J⁻¹ μ) × ρ, with the inertia J: the
    forces of a rigid motion, without resultant; on two particles that are Δ apart f = ± μ × Δ/Δ². They do the work μ·θ
    of small rotations θ and have no potential. With J δω = Σ m (ω × ρ) × δρ − m ρ × (ω × δρ) for changes δρ of arms,
    ω = J⁻¹ μ, δf = m (ω × δρ + δω × ρ).

    Parameters
    ----------
    particles : int [k, 4] or [k, 2]
        Those of each frame; of two the part of the moment along their line does nothing.
    mass : float64 [n]
        Of all particles of the system in kg.
    moment : float64 [3] or [k, 3]
        In N m.
    history : float, callable or (times, factors)
        The factor: constant, a function of t in s, or a table that is interpolated linearly.

    Raises
    ------
    InvalidSystem
        If shapes do not match, numbers are not finite, or particles have no mass.
    """

    kernels: ClassVar = moment_loops.LOADS

    def __init__(self, particles: Nodes, mass: Array, moment: ArrayLike, history: History = 1.0):
        self.nodes = connectivity("Moment", particles)
        if self.nodes.ndim != 2 or self.nodes.shape[1] not in (2, 4):
            raise InvalidSystem(f"Moment: particles must have shape (k, 4) or (k, 2), got {self.nodes.shape}.")
        require_nodes("Moment", self.nodes, len(mass))
        if any(len(set(row)) < len(row) for row in self.nodes.tolist()):
            raise InvalidSystem("Moment: the particles of a frame must be different ones.")
        given, shape = np.asarray(moment, dtype=float), (len(self.nodes), 3)
        if given.shape not in ((3,), shape) or not np.isfinite(given).all():
            raise InvalidSystem(f"Moment: moment must be finite, of shape (3,) or {shape}, got {given.shape}.")
        self.moment, self.factor = np.array(np.broadcast_to(given, shape)), factor_of(history)
        self._mass = np.array(mass, dtype=float)[self.nodes]
        if not (np.isfinite(self._mass) & (self._mass > 0.0)).all():
            raise InvalidSystem("Moment: the masses of particles must be positive and finite.")

    @property
    def history(self) -> Factor | None:
        """The factor as a function of time, if it depends on that."""
        return None if isinstance(self.factor, Constant) else self.factor

    @property
    def record(self) -> moment_loops.MomentRecord:
        """What the kernels read."""
        size = self.factor.factor if isinstance(self.factor, Constant) else 1.0
        tables = {"nodes": self.nodes, "masses": self._mass, "moments": size * self.moment}
        return moment_loops.MomentRecord(**{name: np.ascontiguousarray(table) for name, table in tables.items()})

    def require_dimension(self, dim: int) -> None:
        """Raise `InvalidSystem` if it is not in space."""
        if dim != 3:
            raise InvalidSystem(f"Moment: frames are in three dimensions, got {dim}.")
