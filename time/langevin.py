"""Constant temperature: the Geometric Langevin Algorithm over any method with fixed steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Annotated, final

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked, described
from symplex.base.columns import Column, work_column
from symplex.base.quantities import LARGEST_SEED, not_negative, positive, whole
from symplex.errors import InvalidSystem
from symplex.fem.energies.energy import Array
from symplex.fem.system import State, System
from symplex.time.around import Around
from symplex.time.integrator import Integrator
from symplex.time.motion import FixedStepMotion, Motion
from symplex.time.totals import BALANCE
from symplex.time.traits import Trait

_OWN = (work_column("heat"), Column("temperature", "K", "temperature", plot="temperature", summary="mean"), BALANCE)
BOLTZMANN = 1.380649e-23  # J/K, exact since 2019


@checked
@final
@dataclass(frozen=True)
class Langevin(Around):
    """M dv = (f − ∇V) dt − γ v dt + √(2 γ k_B T) dW: steps of a method, each followed by friction and noise.

    The friction and noise of a step dt alone have an exact solution (Ornstein and Uhlenbeck), for each coordinate

    v ← e^(−γ dt/m) v + √(k_B T/m (1 − e^(−2 γ dt/m))) ξ,  ξ standard normal.

    With a symplectic method this samples the canonical distribution exp(−H/k_B T) up to the method's error in energy,
    of its order, and its paths converge with the first order (Bou-Rabee and Owhadi 2010; Tao and Owhadi 2014, eq. 27).
    Under `Rattle` velocities stay tangent to the constraints, noise included.

    The noise is a function of the seed and the number of the step: the same on every machine, whatever the times
    of output, and after a resume.

    Parameters
    ----------
    integrator : Integrator
        A method with fixed steps: explicit Newmark, Midpoint, Zhang-Skeel, Rattle, a Composition, ….
    temperature : float
        T in K.
    friction : float or float [n], optional
        γ in kg/s, of all nodes or of each.
    rate : float, optional
        γ/m in 1/s, the same for all nodes, instead of a friction. Constraints need this form.
    seed : int, default 0
    boltzmann : float, default 1.380649e-23
        k_B in J/K; take 1 where temperatures are energies.

    Raises
    ------
    ValueError
        If a parameter is negative or not finite, or friction and rate are given both, or neither.
    """

    integrator: Integrator
    temperature: Annotated[float, not_negative("K")]
    friction: Annotated[float, not_negative("kg/s")] | ArrayLike | None = None
    rate: Annotated[float | None, not_negative("1/s")] = None
    seed: Annotated[int, whole(0, LARGEST_SEED)] = 0
    boltzmann: Annotated[float, positive("J/K")] = BOLTZMANN

    conserves = frozenset()  # pyright: ignore[reportAssignmentType]
    symmetric = False  # pyright: ignore[reportAssignmentType]
    why_not = MappingProxyType({"composition": "noise has no direction in time"})

    def __post_init__(self):
        if not isinstance(self.integrator, Integrator) or isinstance(self.integrator, Langevin):
            raise ValueError(
                f"Langevin: integrator must be a method without friction and noise; it is {self.integrator!r}."
            )
        if (self.friction is None) == (self.rate is None):
            raise ValueError("Langevin: give either a friction in kg/s or a rate in 1/s.")
        if self.friction is not None and not np.all(np.isfinite(self.friction) & (np.asarray(self.friction) >= 0.0)):
            raise ValueError(f"Langevin: friction must be at least 0, got {described(self.friction)} kg/s.")

    @property
    def takes(self) -> frozenset[Trait]:
        """What the method takes, with lumped masses."""
        masses = {"consistent mass", "massless nodes", "jumping supports"}
        by_noise = set() if "constraints" in self.integrator.takes else {"frames"}  # which is not rigid
        return self.integrator.takes - masses - by_noise - {"composition", "thermostat"}

    @property
    def columns(self) -> tuple[Column, ...]:
        """Those of the method, what is put in, and the temperature, which needs to know of constraints."""
        return (*self.integrator.columns, *_OWN)

    def start(self, system: System, state: State) -> LangevinMotion:
        """Return the motion that begins at the positions and velocities of a state.

        Raises
        ------
        InvalidSystem
            If the mass is not lumped, or the method cannot be followed by friction and noise.
        UnstableStep, StepFailed
            As the method's own start.
        """
        self._require_method()
        return LangevinMotion(self, self.integrator.start(system, state))

    def resume(self, system: System, checkpoint: Mapping[str, np.ndarray]) -> LangevinMotion:
        """Return the motion that goes on from a checkpoint, bit-identically, with the step stored there."""
        self._require_method()
        motion = LangevinMotion(self, self.integrator.resume(system, checkpoint))
        motion.restore(checkpoint)
        return motion

    def fit(self, system: System, state: State, interval: float) -> Langevin:
        """Return the method with the largest step not above its own that divides an interval in s."""
        return replace(self, integrator=self.integrator.fit(system, state, interval))

    def _require_method(self) -> None:
        """Refuse methods that friction and noise cannot follow."""
        method = self.integrator
        if "thermostat" not in method.takes:
            why = method.why_not.get("thermostat")
            raise InvalidSystem(
                f"Langevin: {method.name} cannot be followed by friction and noise: {why}."
                if why
                else f"Langevin: {method.name} has no fixed step, after which friction and noise could act."
            )
        if "constraints" in method.takes and self.rate is None:
            raise InvalidSystem("Langevin: under constraints friction must be in proportion to mass; give a rate.")


@final
class LangevinMotion(FixedStepMotion):
    """A motion with friction and noise; see `Langevin`."""

    def __init__(self, method: Langevin, inner: Motion):
        assert isinstance(inner, FixedStepMotion), "methods that take a thermostat have fixed steps"
        super().__init__(inner.system, inner.t0, inner.dt, inner.n)
        self.inner, self.filters_steps = inner, inner.filters_steps
        inner.n = 0  # steps are counted outside
        system = inner.system
        mass = np.asarray(system.mass)
        rates = _rates(method, mass)
        variance = method.boltzmann * method.temperature / mass * -np.expm1(-2.0 * rates * inner.dt)
        self._decay = np.where(system.fixed, 1.0, np.exp(-rates * inner.dt)[:, None])
        self._spread = np.where(system.fixed, 0.0, np.sqrt(variance)[:, None])
        self._mass, self._heat = mass[:, None], np.zeros(1)
        self._bits = np.random.Philox(key=[method.seed, 0])
        self._noise, self._beginning = np.random.Generator(self._bits), self._bits.state

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that the method moves, and the heat."""
        return self.inner.arrays() | {"heat": self._heat}

    def observe(self, t: float) -> None:
        """Set what belongs to a state at the time t in s."""
        self.inner.observe(t)

    def stencils_changed(self) -> None:
        """Let the method drop what was made for the stencils before."""
        self.inner.stencils_changed()

    def substep(self, t: float, h: float) -> None:
        """Move by a step, with friction and noise at its end; the method shows if it fails."""
        self._step(t, h)

    def _step(self, t: float, h: float) -> None:
        self.inner.substep(t, h)
        v = self.inner.arrays()["v"]
        before = v.copy()
        self._beginning["state"]["key"][1] = self.n  # a generator for each step takes ten times as long
        self._bits.state = self._beginning
        self.inner.change_velocities(self._decay * v + self._spread * self._noise.standard_normal(v.shape))
        self._heat += 0.5 * self.system.dot(self._mass * (v - before), v + before)

    def energies(self, state: State) -> dict[str, float]:
        """Return the energies of the method in J, ``heat``, put in since the start, and ``balance``: total − heat.

        What the balance changes by is the method's own error.
        """
        parts = self.inner.energies(state)
        heat = float(self._heat[0])
        return parts | {"heat": heat, BALANCE.name: parts.get(BALANCE.name, parts["total"]) - heat}

    def statistics(self) -> dict[str, float]:
        """Return what the method counts."""
        return self.inner.statistics() | {"steps": self.n}


def _rates(method: Langevin, mass: Array) -> Array:
    """Return γ/m [n] in 1/s."""
    if method.rate is not None:
        return np.full(len(mass), float(method.rate))
    friction = np.asarray(method.friction, dtype=float)
    if friction.shape not in ((), mass.shape):
        raise InvalidSystem(f"Langevin: friction has shape {friction.shape}; expected one number or {mass.shape}.")
    return friction / mass


@checked
def kinetic_temperature(system: System, v: Array, removed: int = 0, boltzmann: float = BOLTZMANN) -> float:
    """Return 2 K/(k_B f) in K, with f the number of free coordinates less those removed.

    Parameters
    ----------
    system : System
    v : float64 [n, dim]
        Velocities in m/s.
    removed : int, default 0
        How many degrees of freedom constraints take away, and conserved momenta where there is no friction.
    boltzmann : float
        k_B in J/K.

    Raises
    ------
    InvalidSystem
        If nothing is left that moves freely, or the velocities are not those of the system.
    ValueError
        If Boltzmann's constant is not positive.
    """
    if v.shape != (system.n_nodes, system.dim):
        raise InvalidSystem(f"kinetic_temperature: velocities have shape {v.shape}, expected {system.fixed.shape}.")
    if not np.isfinite(v).all():
        raise InvalidSystem("kinetic_temperature: velocities must be finite.")
    if not boltzmann > 0:
        raise ValueError(f"kinetic_temperature: boltzmann must be positive; it is {boltzmann} J/K.")
    free = int(np.count_nonzero(~system.fixed))
    if free <= removed:
        raise InvalidSystem(
            f"kinetic_temperature: of {free} free coordinates {removed} are removed; there is none left."
        )
    return 2.0 * system.kinetic(v) / (boltzmann * (free - removed))
