"""Energy-stepping: the exact motion in a terraced approximation of the potential energy.

Gonzalez, Schmidt and Ortiz, "Energy-stepping integrators in Lagrangian mechanics" (2009), the forerunner of
force-stepping.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, nan
from time import perf_counter

import numpy as np

from papers.level_crossings import Look, stretch
from symplex.base.arguments import checked
from symplex.base.columns import count_column, total_column
from symplex.base.representation import Summarized
from symplex.errors import InvalidSystem, StepFailed
from symplex.fem.energies.energy import Array
from symplex.fem.system import State, System
from symplex.time.integrator import Integrator
from symplex.time.motion import Motion, require_time

TERRACED_TOTAL = total_column("terraced_total")  # K + V_h
_REACH = 0.25  # how far two nodes of a stencil may move to each other between looks, in distances between them
_RESOLUTION = 1e-11  # the least step, relative to the energies it is distinguished from
_STUCK_AFTER = 1000  # events without any time between them


@checked
@dataclass(frozen=True, repr=False)
class EnergyStepping(Summarized, Integrator):
    """Energy-stepping: straight lines from level to level of the potential energy.

    The potential V is replaced by the terraces V_h = h ⌊V/h + o⌋, and the motion under V_h is followed exactly. On a
    terrace nothing acts, and the motion is uniform. At a level the momentum jumps along n = ∇V, so that the kinetic
    energy changes by ∓h; where the part of the velocity along n does not have as much, it is reflected. V_h has all
    symmetries of V, so that with the energy ½ vᵀ M v + V_h and the symplectic form *all* momenta are kept to round-off.

    Each level changes all velocities at once, and depends on the energy of the whole system. There is nothing local as
    in force-stepping, and no queue: one event costs some ten evaluations of V and ∇V, and a
    system of n parts has about n times as many events. It is a reference for particles and small systems.

    Parameters
    ----------
    step : float
        The height h of the terraces in J.
    offset : float, default 0.5
        o, in steps: levels are at V = h (k − o). With ½, V = 0 lies in the middle of a terrace, and V_h is the nearest
        multiple of h; the paper has 0.
    stride : float, default infinite
        How far in m a node may move between two evaluations of V. Given by the distances between the nodes of
        stencils; needed only for what is thinner: a small obstacle could be passed through unseen.

    Raises
    ------
    ValueError
        If step or stride are not positive, or the offset is not finite.

    Notes
    -----
    Between turning points of V along the path the error falls with h, but each turn costs √h: the last terrace is
    entered with any part of the velocity along n, and takes a time of order √h that V does not know of.

    A start with dV/dt = 0 (at rest, or with a motion along the level, as at the perihelion of an orbit) may be held
    on its terrace for ever, however low the steps: nothing acts there, and what does not carry a whole step is
    reflected. Start from another moment of the motion.
    """

    step: float
    offset: float = 0.5
    stride: float = inf

    order = 0.5
    conserves = frozenset({"energy", "momentum", "angular momentum", "symplectic form"})
    energy = TERRACED_TOTAL.name
    columns = (
        *(count_column("events", plotted=True), count_column("crossings", plotted=True)),
        *(count_column("reflections"), count_column("stretches"), TERRACED_TOTAL),
    )
    symmetric = True
    takes = frozenset({"supports", "consistent mass"})

    def __post_init__(self):
        if not (np.isfinite(self.step) and self.step > 0):
            raise ValueError(f"the step of energy-stepping must be positive and finite; it is {self.step} J.")
        if not np.isfinite(self.offset):
            raise ValueError(f"the offset of energy-stepping must be finite; it is {self.offset}.")
        if not self.stride > 0:
            raise ValueError(f"the stride of energy-stepping must be positive; it is {self.stride} m.")

    def start(self, system: System, state: State) -> EnergySteppingMotion:
        """Return the motion that begins at a state.

        Raises
        ------
        InvalidSystem
            If a load depends on time, a node has no mass, or the state is that of another system.
        StepFailed
            If the step cannot be distinguished from round-off in the energies, or they are not finite.
        """
        motion = EnergySteppingMotion(self, system)
        motion._begin(state)
        return motion

    def resume(self, system: System, checkpoint: Mapping[str, np.ndarray]) -> EnergySteppingMotion:
        """Return the motion that goes on from a checkpoint, bit-identically."""
        motion = EnergySteppingMotion(self, system)
        motion._restore(checkpoint)
        return motion


class EnergySteppingMotion(Motion):
    """A motion by energy-stepping; see :class:`EnergyStepping`."""

    def __init__(self, integrator: EnergyStepping, system: System):
        self.system = system
        self.integrator = integrator
        self._t = 0.0
        self._stopped = ""  # why the motion cannot go on
        shape = (system.n_nodes, system.dim)
        # The flight: from q at the time start on with the velocity v, on one terrace.
        self._q, self._v, self._start, self._terrace = np.zeros(shape), np.zeros(shape), 0.0, 0
        # How far it has been looked at, and the event found there (0: none yet).
        self._seen, self._length, self._side = Look(0.0, nan, nan), inf, 0
        self._crossings = self._reflections = self._stretches = self._at_once = 0
        self._pairs = _pairs_in_stencils(system)

    # -- Motion ---------------------------------------------------------------------------------------------

    def advance(self, t: float) -> State:
        """Move to the time t in s and return the state there; its accelerations are zero between levels.

        Raises
        ------
        StepFailed
            If no next level is found, or levels pile up at one time.
        """
        self.approach(t, inf)
        return State(t, self._q + (t - self._start) * self._v, self._v.copy(), np.zeros_like(self._v))

    def approach(self, t: float, seconds: float) -> bool:
        """Move towards the time t in s for about so many seconds of wall time; return whether it is reached.

        Raises
        ------
        StepFailed
            As `advance`.
        """
        require_time("EnergyStepping", t, self._t)
        if self._stopped:
            raise StepFailed(self._stopped)
        start = perf_counter()
        try:
            # Where to look does not depend on t, so that the motion does not depend on when it is asked for.
            while self._start + self._seen.tau <= t:
                if self._side:
                    self._cross()
                elif not self._look_ahead():
                    break
                if perf_counter() - start >= seconds:
                    self._t = max(self._t, self._start)
                    return False
        except StepFailed as error:
            self._stopped = f"EnergyStepping stopped at t = {self._start + self._seen.tau:.6g} s: {error}"
            raise StepFailed(self._stopped) from error
        self._t = t
        return True

    def statistics(self) -> dict[str, float]:
        """Return the counts of ``events`` (``crossings`` and ``reflections``) and of ``stretches`` looked over."""
        return {
            "events": self._crossings + self._reflections,
            "crossings": self._crossings,
            "reflections": self._reflections,
            "stretches": self._stretches,
        }

    def energies(self, state: State) -> dict[str, float]:
        """Return the energies in J: those of the system, and ``terraced_total`` = K + V_h, which is conserved."""
        found = self.system.energies_of(state)
        found[TERRACED_TOTAL.name] = found["kinetic"] + self.integrator.step * self._terrace
        return found

    def checkpoint(self) -> dict[str, np.ndarray]:
        """Return all that is needed to go on bit-identically, as a flat mapping of arrays.

        Raises
        ------
        StepFailed
            If the motion has stopped.
        """
        if self._stopped:
            raise StepFailed(self._stopped)
        counts = [self._crossings, self._reflections, self._stretches, self._at_once]
        return self._identity() | {
            "q": self._q.copy(),
            "v": self._v.copy(),
            "clock": np.array([self._t, self._start]),
            "seen": np.array([*self._seen, self._length]),
            "integers": np.array([self._terrace, self._side, *counts]),
        }

    # -- next to the interface -------------------------------------------------------------------------------

    def terraced_potential(self, q: Array) -> float:
        """Return V_h(q) in J at the positions q [n, dim] in m."""
        return self.integrator.step * self._terrace_at(self.system.potential(q))

    # -- inside ---------------------------------------------------------------------------------------------

    def _begin(self, state: State) -> None:
        self._q[...], self._v[...] = state.q, np.where(self.system.fixed, 0.0, state.v)
        self._t = self._start = float(state.t)
        here = self._look(0.0)
        if not np.isfinite(here.phi):
            raise StepFailed("EnergyStepping cannot start: there is no energy at the initial positions.")
        step, scale = self.integrator.step, abs(here.phi) + self.system.kinetic(self._v)
        if step < _RESOLUTION * scale:
            raise StepFailed(
                f"the step of energy-stepping, {step:.3g} J, is lost in the round-off of energies of {scale:.3g} J. "
                f"Try a step above {_RESOLUTION * scale:.1g} J."
            )
        self._terrace = self._terrace_at(here.phi)
        self._seen = here
        self._length = step / abs(here.slope) if here.slope != 0.0 else 1.0  # halved or doubled as found right

    def _restore(self, checkpoint: Mapping[str, np.ndarray]) -> None:
        if not self._identity().keys() <= checkpoint.keys():
            raise InvalidSystem("the checkpoint belongs to another method than energy-stepping.")
        for name, mine in self._identity().items():
            if not np.array_equal(checkpoint[name], mine):
                raise InvalidSystem(f"the checkpoint belongs to another energy-stepping: its {name} is another.")
        for name, array in (("q", self._q), ("v", self._v)):
            if checkpoint[name].shape != array.shape:
                raise InvalidSystem(
                    f"the checkpoint does not belong to this system: {name} has shape {checkpoint[name].shape}, "
                    f"expected {array.shape}."
                )
            array[...] = checkpoint[name]
        self._t, self._start = (float(x) for x in checkpoint["clock"])
        *seen, self._length = (float(x) for x in checkpoint["seen"])
        self._seen = Look(*seen)
        self._terrace, self._side, *counts = (int(x) for x in checkpoint["integers"])
        self._crossings, self._reflections, self._stretches, self._at_once = counts

    def _identity(self) -> dict[str, np.ndarray]:
        """Return what a checkpoint must have in common with the motion that goes on from it."""
        mine = self.integrator
        return {name: np.array(getattr(mine, name)) for name in ("step", "offset", "stride")}

    def _terrace_at(self, potential: float) -> int:
        return int(np.floor(potential / self.integrator.step + self.integrator.offset))

    def _level(self, k: int) -> float:
        """Return the level in J below the terrace k."""
        return self.integrator.step * (k - self.integrator.offset)

    def _look(self, tau: float) -> Look:
        """Return V and its rate at the time tau in s of the flight; infinite where an energy has none."""
        q = self._q + tau * self._v
        try:
            return Look(tau, self.system.potential(q), self.system.dot(self.system.gradient(q), self._v))
        except StepFailed:
            return Look(tau, inf, nan)

    def _look_ahead(self) -> bool:
        """Look over one more stretch of the flight; return whether anything moves."""
        if not np.any(self._v):
            return False
        length = min(self._length, self._reach(self._seen.tau))
        low, high = self._level(self._terrace), self._level(self._terrace + 1)
        self._seen, found, self._side = stretch(self._look, self._seen, length, low, high)
        self._length = 2.0 * found
        self._stretches += 1
        return True

    def _reach(self, tau: float) -> float:
        """Return for how long in s from the time tau of the flight on no scale of the system can be jumped over."""
        fastest = np.sqrt(np.max(np.einsum("ni,ni->n", self._v, self._v), initial=0.0))
        reach = self.integrator.stride / fastest if fastest > 0.0 else inf
        if len(self._pairs):
            a, b = self._pairs.T
            d = (self._q[b] - self._q[a]) + tau * (self._v[b] - self._v[a])
            speed = np.sqrt(np.sum((self._v[b] - self._v[a]) ** 2, axis=1))
            distance = np.sqrt(np.sum(d**2, axis=1))
            moving = speed > 0.0
            reach = min(reach, _REACH * np.min(distance[moving] / speed[moving], initial=inf))
        return float(reach)

    def _cross(self) -> None:
        """Let the momentum jump at the level just reached, and begin the next flight."""
        tau, step = self._seen.tau, self.integrator.step
        self._at_once = self._at_once + 1 if self._start + tau == self._start else 0
        if self._at_once > _STUCK_AFTER:
            raise StepFailed("levels pile up at one time. Try another offset or a larger step.")
        self._q += tau * self._v
        n = np.where(self.system.fixed, 0.0, self.system.gradient(self._q))
        along = self.system.accelerations(n)  # M⁻¹ n
        # w = dV/dt; of the kinetic energy ½ w²/s belongs to the motion along n
        w, s = self.system.dot(n, self._v), self.system.dot(n, along)
        if not s > 0.0:
            raise StepFailed("a level goes through an equilibrium. Try another offset.")
        # At a grazing crossing rounding may have turned the sign of w, which the search knows.
        w = abs(w) if self._side > 0 else -abs(w)
        disc = w * w - 2.0 * self._side * step * s
        if disc > 0.0:  # λ w + ½ λ² s = ∓h, the root that vanishes with h
            slope = self._side * np.sqrt(disc)
            jump = -2.0 * self._side * step / (w + slope)
            self._terrace += self._side
            self._crossings += 1
        else:
            slope, jump = -w, -2.0 * w / s
            self._reflections += 1
        self._v += jump * along
        self._start += tau
        level = self._level(self._terrace + 1) if slope < 0.0 else self._level(self._terrace)
        self._seen, self._side = Look(0.0, level, float(slope)), 0


def _pairs_in_stencils(system: System) -> np.ndarray:
    """Return the pairs of nodes [..., 2] that share a stencil, each once."""
    pairs = [np.empty((0, 2), np.int32)]
    for energy in system.energies.values():
        first, second = np.triu_indices(energy.nodes.shape[1], 1)
        pairs.append(np.column_stack([energy.nodes[:, first].ravel(), energy.nodes[:, second].ravel()]))
    return np.unique(np.sort(np.concatenate(pairs), axis=1), axis=0)
