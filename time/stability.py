"""How large the step of an explicit method may be: the largest natural frequency of a system."""

from __future__ import annotations

import math
from collections.abc import Callable
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from symplex.errors import UnstableStep
from symplex.fem.compiled.kernels import kernel
from symplex.fem.energies.contact_energy import ContactEnergy
from symplex.fem.energies.differentiable_load import DifferentiableLoad
from symplex.fem.energies.energy import Array, Energy
from symplex.fem.energies.inelastic import Inelastic
from symplex.fem.system import State, System
from symplex.time.lanczos import largest_eigenvalue

_WANTED_BY = "the stable step of an explicit method"
_DIFFERENCE = 1e-6  # displacement for differences of gradients, relative to the shortest distance in a stencil
_SMALL = 32  # coordinates up to which the matrix is formed

# The last eigenvalue of each system with what it belongs to: fitting a step and starting with it ask for the same one,
# which takes seconds on large meshes.
_last: WeakKeyDictionary[System, tuple[list[Energy | Inelastic], Array, float]] = WeakKeyDictionary()


def stable_step(system: System, q: Array, v: Array | None = None, apart: bool = False) -> float:
    """Return the largest stable step in s of central differences at positions q and velocities v [n, dim].

    Apart, it is that while contact between bodies adds no more than it does at q, as long as they do not meet.

    It is 2/ω without damping (see `largest_frequency`). Loads that see velocities predicted at the end of a step,
    v + h a, make it smaller: an eigenvalue of a step is −1 where (h ω/2)² + h c = 1 with the largest rate of damping c
    (see `largest_damping`), so that h = 2/[c + (c² + ω²)^½]. Of damping in proportion to mass and stiffness that is
    exact, else a bound. Infinite if nothing has stiffness or damping. Without velocities damping is not looked at.
    """
    omega = largest_frequency(system, q, apart)
    rate = 0.0 if v is None else largest_damping(system, q, v)
    total = rate + math.hypot(rate, omega)
    return 2.0 / total if total > 0 else np.inf


def largest_damping(system: System, q: Array, v: Array) -> float:
    """Return the largest rate of damping c in 1/s: the largest eigenvalue of −M⁻¹ ∂f/∂v of loads with derivatives.

    Gyroscopic ones, whose matrix is skew, damp nothing.
    """
    mass, moving = system.lumped_mass(_WANTED_BY), ~system.fixed
    loads = [one for one in system.differentiable_loads if isinstance(one, DifferentiableLoad) and not one.gyroscopic]
    if not (loads and moving.any()):
        return 0.0
    length = _DIFFERENCE * max(float(np.abs(v).max()), 1.0)

    def resistance(v: Array, out: Array) -> None:
        np.negative(np.sum([load(0.0, q, v) for load in loads], axis=0), out=out)

    return max(_largest(resistance, v, mass, ~moving, length), 0.0)


def require_stable(system: System, state: State, dt: float, beta: float, gamma: float = 0.5) -> None:
    """Check a step dt in s of an implicit member against its stability limit, if it has one and the mass is lumped."""
    if 2.0 * beta >= gamma or not system.is_lumped:
        return
    # stable_step is 2/ω, the limit of the explicit member.
    limit = 0.5 * stable_step(system, state.q) / math.sqrt(0.5 * gamma - beta)
    if dt > limit:
        raise UnstableStep(
            f"dt = {dt:.4g} s is above the stability limit of Newmark's method with beta = {beta:.4g}, {limit:.4g} s. "
            f"Try dt = {0.8 * limit:.3g} s, or beta = 0.25."
        )


def largest_frequency(system: System, q: Array, apart: bool = False) -> float:
    """Return an estimate from above of the largest natural frequency ω in rad/s at the positions q [n, dim].

    ω² is the largest eigenvalue of M⁻¹∇²V (by Lanczos, to about one per cent or two, with the residual added), plus the
    largest k/m of contact that may close later (`ContactEnergy.contact_stiffness_bound`), or only of that with
    obstacles, while bodies are apart. ∇²V is applied by differences of gradients, so that no matrix is stored.
    """
    mass = system.lumped_mass(_WANTED_BY)
    moving = ~system.fixed
    if not moving.any():
        return 0.0
    squared = max(_remembered(system, q, lambda: _largest_eigenvalue(system, q, mass, moving)), 0.0)
    return float(np.hypot(np.sqrt(squared), latent_frequency(system, apart=apart)))


def _remembered(system: System, q: Array, compute: Callable[[], float]) -> float:
    """Return the eigenvalue at q, computed unless it is the last one of the system."""
    energies = [*system.energies.values(), *system.inelastic.values()]
    if system in _last:
        of, at, value = _last[system]
        if list(map(id, of)) == list(map(id, energies)) and np.array_equal(at, q):
            return value
    value = compute()
    _last[system] = (energies, q.copy(), value)
    return value


def latent_frequency(system: System, resolved: bool = False, apart: bool = False) -> float:
    """Return the largest frequency √(k/m) in rad/s of one node on contact that may close; 0 without contact.

    Parameters
    ----------
    resolved : bool, default False
        Only the part of it that steps should resolve (`ContactEnergy.resolved_share`).
    apart : bool, default False
        Only contact with obstacles, and none between bodies.
    """
    mass = system.lumped_mass(_WANTED_BY)
    left_out = system.changing if apart else ()
    contacts = [energy for name, energy in system.energies.items() if name not in left_out]
    contacts = [energy for energy in contacts if isinstance(energy, ContactEnergy)]
    if not contacts:
        return 0.0
    latent = np.zeros(len(mass))
    for contact in contacts:
        latent += contact.contact_stiffness_bound(system.n_nodes) * (contact.resolved_share**2 if resolved else 1.0)
    free = ~system.fixed.all(axis=1)
    return float(np.sqrt(np.max((latent / mass)[free], initial=0.0)))


def _largest_eigenvalue(system: System, q: Array, mass: Array, moving: NDArray[np.bool_]) -> float:
    """Return the largest eigenvalue of M⁻¹∇²V on the coordinates that move, from above."""
    relaxed = {name: part.relaxed(q) for name, part in system.inelastic.items()}

    def gradient(q: Array, out: Array) -> None:
        # Inelastic parts are as stiff as in an instant.
        system.gradient(q, out)
        for name, part in system.inelastic.items():
            out -= part.force(q, relaxed[name], q, 0.0)

    return _largest(gradient, q, mass, ~moving, _DIFFERENCE * _shortest_distance(system, q))


def _largest(
    function: Callable[[Array, Array], None], q: Array, mass: Array, fixed: NDArray[np.bool_], length: float
) -> float:
    """Return the largest eigenvalue of M⁻¹ ∂f/∂x at q [n, dim] on the coordinates that are free, from above.

    Parameters
    ----------
    function : callable
        Writes f(x) [n, dim] to its second argument.
    q, mass, fixed, length
        As in `largest_eigenvalue` of `symplex.time.lanczos`.
    """
    q = np.ascontiguousarray(q, dtype=float)
    at_q = np.empty_like(q)
    function(q, at_q)
    moving = np.flatnonzero(~fixed)
    scale = np.broadcast_to(1.0 / np.sqrt(mass)[:, None], q.shape).ravel()[moving]
    if len(moving) > _SMALL:
        start = np.zeros(q.shape)
        start.ravel()[moving] = scale * np.random.default_rng(0).standard_normal(len(moving))
        return largest_eigenvalue(function, q, at_q, mass, fixed, start, length)
    matrix, x, out = np.empty((len(moving), len(moving))), q.copy(), np.empty_like(q)
    for i, k in enumerate(moving):
        x.ravel()[k] += length
        function(x, out)
        matrix[:, i] = scale * (out - at_q).ravel()[moving] * scale[i] / length
        x.ravel()[k] = q.ravel()[k]
    return float(np.linalg.eigvalsh(0.5 * (matrix + matrix.T))[-1])


def _shortest_distance(system: System, q: Array) -> float:
    """Return the shortest distance in m from the first to another node of a stencil, or the system's size."""
    shortest = np.inf
    for energy in (*system.energies.values(), *system.inelastic.values()):
        nodes = np.ascontiguousarray(energy.nodes, np.int32)
        if nodes.shape[1] > 1 and len(nodes):
            shortest = min(shortest, _shortest_of(nodes, np.ascontiguousarray(q, float)))
    if not 0.0 < shortest < np.inf:
        shortest = float(np.max(np.abs(q))) or 1.0
    return shortest


@kernel
def _shortest_of(nodes, q):
    """Return the shortest distance above 0 from the first node of a stencil [m, k] to another one, at q [n, dim]."""
    shortest = np.inf
    for e in range(len(nodes)):
        for a in range(1, nodes.shape[1]):
            square = 0.0
            for i in range(q.shape[1]):
                difference = q[nodes[e, a], i] - q[nodes[e, 0], i]
                square += difference * difference
            # A stencil may have a node twice (`symplex.fem.couplings.interpolation`).
            if 0.0 < square < shortest:
                shortest = square
    return np.sqrt(shortest)
