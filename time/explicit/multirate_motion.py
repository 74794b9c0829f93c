"""The motion in local time steps: an asynchronous variational integrator whose steps are dt/2ˡ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

from symplex.errors import StepFailed
from symplex.fem.energy import Array
from symplex.fem.some_stencils import is_divisible
from symplex.fem.system import System
from symplex.time.motion import FixedStepMotion
from symplex.time.explicit.local_division import Division
from symplex.time.explicit.local_levels import Levels, levels_of, stencil_levels
from symplex.time.explicit.local_loops import collect, drift, kick
from symplex.time.explicit.local_rates import rates_of

if TYPE_CHECKING:
    from symplex.time.explicit.multirate import Multirate

_LEVELS = "levels "  # and the name of an energy, in checkpoints


@final
class MultirateMotion(FixedStepMotion):
    """A motion in local time steps; see `Multirate`.

    Positions and velocities are held in the order of levels, and put into that of the system when they are asked for.

    Parameters
    ----------
    method : Multirate
    system, t0, dt, n
        See `FixedStepMotion`.
    """

    def __init__(self, method: Multirate, system: System, t0: float, dt: float, n: int = 0):
        super().__init__(system, t0, dt, n)
        self._options = method
        self._impulse = np.zeros_like(self._q)  # Σ over levels of 2⁻ˡ⁻¹ ∇V: h M⁻¹ times it is half a kick of all
        self._levels: Levels = {
            name: np.zeros(len(energy.nodes) if is_divisible(energy, system.dim) else 1, np.uint8)
            for name, energy in system.energies.items()
        }
        self._division: Division | None = None

    # -- levels -----------------------------------------------------------------------------------------------

    @property
    def division(self) -> Division:
        """The levels of the system, which stay as they are found at the start."""
        if self._division is None:
            self._division = Division(self.system, self._levels)
            order = self._division.order
            inverse_mass = np.where(self.system.fixed, 0.0, 1.0 / np.asarray(self.system.mass)[:, None])
            self._inverse_mass = inverse_mass[order]
            self._in_order = tuple(array[order] for array in (self._q, self._v, self._a, self._impulse))
        return self._division

    @property
    def levels(self) -> dict[str, NDArray[np.uint8]]:
        """The level [m] of each stencil, by the names of energies: those of level l are looked at every dt/2ˡ."""
        return {name: stencil_levels(self.system.energies[name], level) for name, level in self._levels.items()}

    def begin(self, q: Array, v: Array) -> None:
        """Take positions and velocities [n, dim] of the start, find the levels, and all else that moves."""
        super().begin(q, v)
        method = self._options
        found = levels_of(self.system, q, rates_of(self.system, q, method.safeties), self.dt, method.layers, method.given)
        for name, level in found.items():
            self._levels[name][...] = level
        self._division = None
        for k, part in enumerate(self.division.parts):
            part.refresh(self._in_order[0])
            collect(*self._in_order[:1:-1], self._inverse_mass, part.gradient, part.nodes.start, 0.5**(k + 1))
        self._put_back()

    def restore(self, checkpoint: Mapping[str, np.ndarray]) -> None:
        """Set the arrays to those of a checkpoint.

        Raises
        ------
        InvalidSystem
            If it is of another method or system.
        """
        super().restore(checkpoint)
        self._division = None

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that move, with the sum of the half kicks that the next step begins with, and levels."""
        levels = {_LEVELS + name: level for name, level in self._levels.items()}
        return super().arrays() | {"impulse": self._impulse} | levels

    def change_velocities(self, v: Array) -> None:
        """Go on with other velocities [n, dim] in m/s."""
        super().change_velocities(v)
        self._in_order[1][...] = v[self.division.order]

    def _put_back(self) -> None:
        """Set the arrays in the order of the system."""
        order = self.division.order
        for array, ordered in zip((self._q, self._v, self._a, self._impulse), self._in_order, strict=True):
            array[order] = ordered

    # -- steps ------------------------------------------------------------------------------------------------

    def _run(self, n_steps: int) -> None:
        for _ in range(n_steps):
            try:
                self._take_step(self.dt)
            except StepFailed as error:
                raise self._stopped(error, self.t, self.dt) from None
            self.n += 1
        if n_steps:
            self._put_back()

    def _step(self, t: float, h: float) -> None:
        self._take_step(h)
        self._put_back()

    def _take_step(self, h: float) -> None:
        """Move by a largest step of the size h in s: kicks of level l at the multiples of h/2ˡ, halves at the ends."""
        parts, bounds, inverse_mass = self.division.parts, self.division.bounds, self._inverse_mass
        q, v, a, impulse = self._in_order
        highest = len(parts) - 1
        kick(v, inverse_mass, impulse, 0, h)
        for tick in range(1, 1 << highest):
            first = highest - ((tick & -tick).bit_length() - 1)  # the slowest level whose time it is
            drift(q, v, bounds, first, h)
            for level in range(first, highest + 1):
                part = parts[level]
                part.refresh(q)
                kick(v, inverse_mass, part.gradient, part.nodes.start, h / (1 << level))
        drift(q, v, bounds, 0, h)
        impulse.fill(0.0)
        a.fill(0.0)
        for level, part in enumerate(parts):
            part.refresh(q)
            collect(impulse, a, inverse_mass, part.gradient, part.nodes.start, 0.5 ** (level + 1))
        kick(v, inverse_mass, impulse, 0, h)

    def observe(self, t: float) -> None:
        """Nothing: the accelerations are there."""

    def statistics(self) -> dict[str, float]:
        """Return the number of ``steps`` of the largest size, and of ``substeps`` of the finest."""
        return {"steps": self.n, "substeps": self.n << (len(self.division.parts) - 1)}
