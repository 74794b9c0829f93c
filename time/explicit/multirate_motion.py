"""The motion in local time steps: an asynchronous variational integrator whose steps are dt/2ˡ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

from symplex.errors import StepFailed
from symplex.fem.energies.energy import Array
from symplex.fem.system import State, System
from symplex.time.explicit.local_division import Division
from symplex.time.explicit.local_gain import newmark_evaluations
from symplex.time.explicit.local_levels import Levels, levels_of, stencil_levels
from symplex.time.explicit.local_loops import act, collect, drift, kick, slowest, take_steps, take_ticks
from symplex.time.explicit.local_outside import outside_level
from symplex.time.explicit.local_rates import rates_of
from symplex.time.motion import FixedStepMotion

if TYPE_CHECKING:
    from symplex.time.explicit.multirate import Multirate

_STENCILS_AT_ONCE = 1_000_000  # in a compiled loop, which hears no signal: some 20 ms
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

    loads_at_ends = True
    filters_steps = True  # what must not pass through is looked at in each step of its level

    def __init__(self, method: Multirate, system: System, t0: float, dt: float, n: int = 0):
        super().__init__(system, t0, dt, n)
        self._options = method
        self._impulse = np.zeros_like(self._q)  # Σ over levels of 2⁻ˡ⁻¹ ∇V: h M⁻¹ times it is half a kick of all
        self._levels: Levels = {
            name: np.zeros(len(energy.nodes) if energy.is_divisible(system.dim) else 1, np.uint8)
            for name, energy in system.energies.items()
        }
        self._outside = np.zeros(1, np.uint8)  # the level of loads and of supports that move
        self._division: Division | None = None

    # -- levels -----------------------------------------------------------------------------------------------

    @property
    def division(self) -> Division:
        """The levels of the system, which stay as they are found at the start."""
        if self._division is None:
            self._division = division = Division(self.system, self._levels, int(self._outside[0]))
            order, fixed = division.order, self.system.fixed
            self._inverse_mass = np.where(fixed, 0.0, 1.0 / np.asarray(self.system.mass)[:, None])[order]
            self._in_order = tuple(array[order] for array in (self._q, self._v, self._a, self._impulse))
            self._given = self._moving.mask[order]
            for part in division.parts:
                part.begin(self._in_order[0])
            self._q_of_loads, self._held = self._q.copy(), np.zeros_like(self._q)  # work of loads on what is held
            if self._moving:
                for part in division.parts:
                    part.refresh(self._in_order[0])
                    part.remember(self._in_order[0])
        return self._division

    @property
    def levels(self) -> dict[str, NDArray[np.uint8]]:
        """The level [m] of each stencil, by the names of energies: those of level l are looked at every dt/2ˡ."""
        return {name: stencil_levels(self.system.energies[name], level) for name, level in self._levels.items()}

    def begin(self, q: Array, v: Array) -> None:
        """Take positions and velocities [n, dim] of the start, find the levels, and all else that moves."""
        super().begin(q, v)
        system, method, dt = self.system, self._options, self.dt
        found = levels_of(system, q, rates_of(system, q, v, method.safeties), dt, method.layers, method.given)
        for name, level in found.items():
            self._levels[name][...] = level
        self._outside[0] = outside = outside_level(system, q, v, found, dt, method.safeties)
        self._division = None
        for level, part in enumerate(self.division.parts):
            part.refresh(self._in_order[0])
            self._collect(level)
        if system.loads:
            self._in_order[3][...] -= 0.5 ** (outside + 1) * self._work.acting.sum(axis=0)[self.division.order]
        a = self._a.copy()  # with that of loads and supports
        self._put_back()
        self._a[...] = a

    def restore(self, checkpoint: Mapping[str, np.ndarray]) -> None:
        """Set the arrays to those of a checkpoint."""
        super().restore(checkpoint)
        self._division = None

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that move, with the sum of the half kicks that the next step begins with, and levels."""
        levels = {_LEVELS + name: level for name, level in self._levels.items()}
        return super().arrays() | {"impulse": self._impulse, "outside level": self._outside} | levels

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
        target = self.n + n_steps
        try:
            if self._work or self.division.from_python:
                for _ in range(n_steps):
                    self._take_step(self.t, self.dt)
                    self.n += 1
            else:
                at_once = max(_STENCILS_AT_ONCE // max(self.division.evaluations, 1), 1)
                while self.n < target:
                    self._take_compiled(min(at_once, target - self.n), self.dt)
        except StepFailed as error:
            raise self._stopped(error, self.t, self.dt) from None
        if n_steps:
            self._put_back()

    def _step(self, t: float, h: float) -> None:
        self._take_step(t, h)
        self._put_back()

    def _take_compiled(self, n_steps: int, h: float) -> None:
        """Take largest steps of the size h in s in one call of a compiled loop."""
        q, v, a, impulse = self._in_order
        ticks = 1 << (len(self.division.parts) - 1)
        taken = take_steps(self.division.table, n_steps, h, q, v, a, impulse, self._inverse_mass)
        self.n += taken // ticks
        if taken < n_steps * ticks:
            self._require_forces(taken % ticks + 1)

    def _take_step(self, t: float, h: float) -> None:
        """Move by a largest step of the size h in s: kicks of level l at the multiples of h/2ˡ, halves at the ends."""
        parts, bounds, inverse_mass = self.division.parts, self.division.bounds, self._inverse_mass
        q, v, a, impulse = self._in_order
        v0 = v.copy() if self._moving else v
        highest, outside = len(parts) - 1, int(self._outside[0]) if self._work else -1
        from_python = self.division.from_python
        slow = max([*from_python, outside, 0])  # no level above this one needs Python
        ticks, between = 1 << highest, 1 << (highest - slow)
        kick(v, inverse_mass, impulse, 0, h)
        self._take_ticks(1, between, h)
        for tick in range(between, ticks, between):
            first = slowest.py_func(tick, highest)
            drift(q, v, bounds, first, h)
            if first <= outside:
                self._act_within(t + h * (tick / ticks), h, first, outside)
            else:
                self._act(tick, first, from_python, h)
            self._take_ticks(tick + 1, tick + between, h)
        drift(q, v, bounds, 0, h)
        if self._moving:
            self._follow(t + h)
        impulse.fill(0.0)
        a.fill(0.0)
        for level in range(highest + 1):
            self._refresh(level)
            self._collect(level)
        kick(v, inverse_mass, impulse, 0, h)
        if self._work:
            force = self._loads(t + h, h / (1 << outside))
            a += inverse_mass * force
            impulse -= 0.5 ** (outside + 1) * force
        if self._moving:
            a[self._given] = self._moving.accelerations(t + h)[self.division.order][self._given]
            self._add_work_of_supports(v0)

    def _take_ticks(self, start: int, end: int, h: float) -> None:
        """Take the finest steps start … end − 1 within a largest one, at which no level acts from Python."""
        q, v, _, _ = self._in_order
        reached = take_ticks(self.division.table, start, end, h, q, v, self._inverse_mass) if start < end else end
        if reached < end:
            self._require_forces(reached)

    def _act(self, tick: int, first: int, from_python: list[int], h: float) -> None:
        """Kick by the levels from the first one on after so many finest steps, by some of them from Python."""
        q, v, _, _ = self._in_order
        table, parts, inverse_mass = self.division.table, self.division.parts, self._inverse_mass
        for level in [*from_python, len(parts)]:
            if level < first:
                continue
            if first < level and not act(table, first, level, h, q, v, inverse_mass):
                self._require_forces(tick)
            if level < len(parts):
                part = parts[level]
                part.refresh(q)
                kick(v, inverse_mass, part.gradient, part.nodes.start, h / (1 << level))
            first = level + 1

    def _require_forces(self, tick: int) -> None:
        """Say which stencil has no finite force after so many finest steps, of those that are looked at then."""
        highest = len(self.division.parts) - 1
        for part in self.division.parts[0 if tick == 1 << highest else slowest.py_func(tick, highest) :]:
            part.refresh(self._in_order[0])
        raise StepFailed("forces are not finite. Try a smaller step.")

    def _collect(self, level: int) -> None:
        """Add what a level has found to the sum of half kicks, and to the accelerations."""
        part = self.division.parts[level]
        _, _, a, impulse = self._in_order
        collect(impulse, a, self._inverse_mass, part.gradient, part.nodes.start, 0.5 ** (level + 1))

    def _refresh(self, level: int) -> None:
        """Find the gradient of a level, and the work that it takes to move supports against it."""
        part, q = self.division.parts[level], self._in_order[0]
        part.refresh(q)
        if self._moving:
            part.add_work(q)
            part.remember(q)

    # -- loads, and supports that move ------------------------------------------------------------------------

    def _act_within(self, t: float, h: float, first: int, outside: int) -> None:
        """Kick at a time t in s within a largest step h, with the velocities there for loads: by halves."""
        v, inverse_mass = self._in_order[1], self._inverse_mass
        if self._moving:
            self._follow(t)
        acting = self.division.parts[first:]
        sizes = [0.5 * h / (1 << level) for level in range(first, len(self.division.parts))]
        for level, (part, size) in enumerate(zip(acting, sizes, strict=True), first):
            self._refresh(level)
            kick(v, inverse_mass, part.gradient, part.nodes.start, size)
        step = h / (1 << outside)
        v += 0.5 * step * inverse_mass * self._loads(t, step)
        for part, size in zip(acting, sizes, strict=True):
            kick(v, inverse_mass, part.gradient, part.nodes.start, size)

    def _follow(self, t: float) -> None:
        """Take nodes to where supports are at the time t in s."""
        q, v, order, given = *self._in_order[:2], self.division.order, self._given
        q[given] = (self._origin + self._moving.displacements(t))[order][given]
        v[given] = self._moving.velocities(t)[order][given]

    def _loads(self, t: float, h: float) -> Array:
        """End a step h of the loads at the time t in s, and return their forces [n, dim] in N there, in order.

        They see the velocities predicted with the forces before.
        """
        q, v, order = *self._in_order[:2], self.division.order
        if not self.system.loads:
            return np.zeros_like(q)
        before, acting = self._q_of_loads, self._work.acting.sum(axis=0)
        at, predicted = np.empty_like(q), np.empty_like(v)
        at[order] = q
        predicted[order] = v + 0.5 * h * self._inverse_mass * acting[order]
        force = self._work.evaluate(t, at, predicted)
        self._work.add_mean(at - before)
        if self._moving:
            self._held -= 0.5 * (acting + force) * (at - before)
        self._q_of_loads = at
        v += 0.5 * h * self._inverse_mass * force[order]
        return force[order]

    def _add_work_of_supports(self, v0: Array) -> None:
        """Add the work of supports in a step that began with the velocities v0 [n, dim], in order."""
        _, v, _, _ = self._in_order
        order = self.division.order
        mass = np.asarray(self.system.mass)[order][:, None]
        in_order = 0.5 * mass * (v - v0) * (v + v0)
        for part in self.division.parts:
            in_order[part.nodes] += part.work
            part.work.fill(0.0)
        products = np.empty_like(in_order)
        products[order] = in_order
        self._work.add_supports(products + self._held)
        self._held.fill(0.0)

    @property
    def gain(self) -> float:
        """How many times fewer stencils of more than one node are looked at than by `Newmark` in its own step."""
        here = State(self.t, self._q.copy(), self._v.copy(), self._a.copy())
        return newmark_evaluations(self.system, here) / (self.division.evaluations / self.dt)

    def observe(self, t: float) -> None:
        """Nothing: the accelerations are there."""

    def statistics(self) -> dict[str, float]:
        """Return the number of ``steps`` of the largest size, and of ``substeps`` of the finest."""
        return {"steps": self.n, "substeps": self.n << (len(self.division.parts) - 1)}
