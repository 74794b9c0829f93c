"""Reduction by translations: any integrator in Jacobi coordinates, with the centre of mass in uniform motion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from symplex.base.arguments import checked
from symplex.errors import InvalidSystem
from symplex.fem.energies.energy import Array, Energy
from symplex.fem.system import State, System
from symplex.time.around import Around
from symplex.time.integrator import Integrator
from symplex.time.motion import Motion
from symplex.time.reductions.jacobi import JacobiCoordinates, JacobiEnergy

_RELATIVE_CHANGE = 1e-6  # of energies and gradients by a translation: far above round-off


@final
@dataclass(frozen=True)
class CentreOfMass:
    """The centre of mass in its uniform motion.

    Attributes
    ----------
    t : float
        A time in s.
    q, v : float64 [dim]
        Where it was at this time in m, and its velocity in m/s.
    """

    t: float
    q: Array
    v: Array

    def at(self, t: float) -> Array:
        """Return the position at a time in s (eq. 44)."""
        return self.q + (t - self.t) * self.v

    def totals(self, energies: dict[str, float], relative: Motion, state: State, mass: float) -> dict[str, float]:
        """Return energies in J with the further totals of a motion relative to it, and its own kinetic energy."""
        inner = relative.energies(state)
        own = 0.5 * mass * float(self.v @ self.v)
        names = [column.name for column in relative.columns if column.kind == "total"]
        return energies | {name: inner[name] + own for name in names if name in inner and name not in energies}

    def checkpoint(self) -> dict[str, np.ndarray]:
        """Return all it is made of, as a flat mapping of arrays."""
        return {"centre_t": np.array(self.t), "centre_q": self.q.copy(), "centre_v": self.v.copy()}

    @classmethod
    def resumed(cls, checkpoint: Mapping[str, np.ndarray]) -> CentreOfMass:
        """Return the centre of mass of a checkpoint."""
        if "centre_t" not in checkpoint:
            raise InvalidSystem("the checkpoint belongs to another method: it has no centre of mass.")
        return cls(float(checkpoint["centre_t"]), checkpoint["centre_q"].copy(), checkpoint["centre_v"].copy())


@checked
@final
@dataclass(frozen=True)
class JacobiReduction(Around):
    """An integrator in Jacobi coordinates, which keeps the total linear momentum exactly.

    Section 4.2 of Gonzalez, Schmidt and Ortiz, "Force-stepping integrators in Lagrangian mechanics" (2010). The lattice
    of force-stepping breaks the symmetry by translations; the reduced Lagrangian ½ q̇'ᵀM'q̇' − V'(q') (eq. 41) does not
    know them any more, and the centre of mass moves uniformly (eq. 44). The price is locality: the coordinates
    couple all particles, and an event costs O(m) for m local energies.

    Parameters
    ----------
    integrator : Integrator
        Moves the reduced system of N − 1 nodes; sizes for each coordinate, such as ``ForceStepping(grid)``, are those
        of Jacobi coordinates [N − 1, dim].

    Attributes
    ----------
    order, conserves, energy, symmetric
        Those of the integrator, with ``momentum``.
    """

    integrator: Integrator

    takes = frozenset()  # pyright: ignore[reportAssignmentType]

    @property
    def conserves(self) -> frozenset[str]:
        """What the integrator conserves, and momentum."""
        return self.integrator.conserves | {"momentum"}

    def start(self, system: System, state: State) -> JacobiMotion:
        """Return the motion that begins at the positions and velocities of a state.

        Raises
        ------
        InvalidSystem
            If the system has less than two nodes, supports, loads, a consistent mass, or an energy that translations
            change.
        SymplexError
            As the integrator.
        """
        reduced = _Reduced(system)
        _require_invariance(system, state.q)
        centre = CentreOfMass(state.t, reduced.coordinates.centre(state.q), reduced.coordinates.centre(state.v))
        return JacobiMotion(reduced, self.integrator.start(reduced.system, reduced.state(state)), centre)

    def resume(self, system: System, checkpoint: Mapping[str, np.ndarray]) -> JacobiMotion:
        """Return the motion that goes on from a checkpoint, bit-identically."""
        reduced = _Reduced(system)
        centre = CentreOfMass.resumed(checkpoint)
        return JacobiMotion(reduced, self.integrator.resume(reduced.system, checkpoint), centre)

    def fit(self, system: System, state: State, interval: float) -> JacobiReduction:
        """Return the method with a step that divides the interval in s between output times.

        Raises
        ------
        SymplexError
            As the integrator, and as `start`.
        """
        reduced = _Reduced(system)
        return replace(self, integrator=self.integrator.fit(reduced.system, reduced.state(state), interval))


@final
class JacobiMotion(Motion):
    """A motion in Jacobi coordinates; see `JacobiReduction`.

    Attributes
    ----------
    inner : Motion
        The motion of the reduced system, in Jacobi coordinates.
    coordinates : JacobiCoordinates
    """

    def __init__(self, reduced: _Reduced, inner: Motion, centre: CentreOfMass):
        self.system = reduced.full
        self.inner = inner
        self.coordinates = reduced.coordinates
        self._reduced = reduced
        self._centre = centre

    def advance(self, t: float) -> State:
        """Move to the time t in s and return the state of all particles there."""
        state, centre, particles = self.inner.advance(t), self._centre, self.coordinates.particles
        return State(state.t, particles(state.q, centre.at(state.t)), particles(state.v, centre.v), particles(state.a))

    def approach(self, t: float, seconds: float) -> bool:
        """Move towards the time t in s for about so many seconds of wall time; return whether it is reached."""
        return self.inner.approach(t, seconds)

    def statistics(self) -> dict[str, float]:
        """Return the counts of the integrator."""
        return self.inner.statistics()

    def energies(self, state: State) -> dict[str, float]:
        """Return the energies of the system in J, with further totals if the integrator has some."""
        mass, relative = self.coordinates.total_mass, self._reduced.state(state)
        return self._centre.totals(self.system.energies_of(state), self.inner, relative, mass)

    def checkpoint(self) -> dict[str, np.ndarray]:
        """Return all that is needed to go on bit-identically, as a flat mapping of arrays."""
        return self.inner.checkpoint() | self._centre.checkpoint()


class _Reduced:
    """A system in Jacobi coordinates."""

    def __init__(self, system: System):
        name = "JacobiReduction"
        if system.n_nodes < 2:
            raise InvalidSystem(f"{name} needs at least two nodes; this system has {system.n_nodes}.")
        self.full = system
        self.coordinates = JacobiCoordinates(np.asarray(system.mass))
        energies: dict[str, Energy] = {}
        for key, energy in system.energies.items():
            try:
                energies[key] = JacobiEnergy(energy, self.coordinates)
            except InvalidSystem as error:
                raise InvalidSystem(f"{name}: energy '{key}': {error}") from None
        self.system = System(self.coordinates.reduced_mass, energies, dim=system.dim)

    def state(self, state: State) -> State:
        """Return a state in Jacobi coordinates."""
        return State(state.t, *(self.coordinates.relative(x) for x in (state.q, state.v, state.a)))


def _require_invariance(system: System, q: Array) -> None:
    """Refuse energies whose local energies or gradients change when everything moves by one vector.

    By shifts of the size of the system and of a hundred times that, to either side, so that obstacles are met.
    """
    size = float(np.ptp(q, axis=0).max()) or 1.0
    direction = np.random.default_rng(0).uniform(0.5, 1.0, system.dim)
    for name, energy in system.energies.items():
        x = q[energy.nodes]
        value, gradient = energy.value(x), energy.gradient(x)
        # What they are near x; at x itself they may vanish.
        force = _largest(gradient) + size * _largest(energy.hessian(x))
        work = _largest(value) + size * force
        for length in (size, -size, 100.0 * size, -100.0 * size):
            moved = x + length * direction
            changes = _largest(energy.value(moved) - value), _largest(energy.gradient(moved) - gradient)
            if not (changes[0] <= _RELATIVE_CHANGE * work and changes[1] <= _RELATIVE_CHANGE * force):
                raise InvalidSystem(
                    f"JacobiReduction needs energies that translations do not change; energy '{name}' "
                    f"({type(energy).__name__}) changes by {changes[0]:.2g} J, and its forces by {changes[1]:.2g} N, "
                    f"when everything moves by {abs(length):.3g} m. Use the integrator without reduction."
                )


def _largest(values: Array) -> float:
    return float(np.max(np.abs(values), initial=0.0))
