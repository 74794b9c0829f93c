"""Kepler's problem in the plane: the system, its exact solution, and what the examples measure on an orbit.

The masses and the constant of gravitation are 1, so that lengths and times have no unit: semi-major axis 1, period 2π.
Used by kepler.py and kepler_convergence.py.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numba import njit

import symplex as sx

PERIOD = 2 * np.pi


def kepler(e: float, t0: float = 0.0) -> tuple[sx.System, sx.State]:
    """Return the system of eq. 65 and its exact state t0 after the periapsis, for 0 that of eq. 66.

    Node 0 is the centre and does not move.
    """
    pair = sx.Bars([[0, 1]], sx.measures.InverseDistance(1.0), dim=2)
    fixed = np.array([[True, True], [False, False]])
    system = sx.System(np.ones(2), {"gravity": pair}, dim=2, fixed=fixed)
    q, v = exact(np.array([t0]), e)
    return system, system.state(np.stack([[0.0, 0.0], q[0]]), np.stack([[0.0, 0.0], v[0]]), t0)


def angular_momentum(e: float) -> float:
    """Return Θ = √(1 − e²)."""
    return np.sqrt(1.0 - e * e)


def exact(t: np.ndarray, e: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the exact positions and velocities [k, 2] at the times [k] after a periapsis.

    They follow from the eccentric anomaly E, E − e sin E = t (Kepler's equation).
    """
    anomaly = np.remainder(t + np.pi, PERIOD) - np.pi
    if not _solve_kepler(anomaly, e):
        raise RuntimeError(f"Kepler's equation was not solved for e = {e}.")
    cos, sin, b = np.cos(anomaly), np.sin(anomaly), angular_momentum(e)
    q = np.stack([cos - e, b * sin], axis=-1)
    return q, np.stack([-sin, b * cos], axis=-1) / (1.0 - e * cos)[:, None]


@njit(cache=True)
def _solve_kepler(angles, e):
    """Put the eccentric anomalies in the place of the times; say whether Newton's method converged for all."""
    for k in range(len(angles)):
        mean = angles[k]
        anomaly = mean + 0.85 * e * np.sign(mean)  # Danby's start: Newton's method converges for all e < 1
        change, iterations = 1.0, 0
        while abs(change) > 1e-14 and iterations < 30:
            change = (mean - anomaly + e * np.sin(anomaly)) / (1.0 - e * np.cos(anomaly))
            anomaly += change
            iterations += 1
        if abs(change) > 1e-11:  # round-off leaves some 1e-16/(1 − e)
            return False
        angles[k] = anomaly
    return True


@dataclass(frozen=True)
class Path:
    """Positions q [k, 2] and velocities v [k, 2] at the times t [k], with the cubics between that fit them.

    For force-stepping, whose knots are its events, the cubics are the parabolas themselves.
    """

    t: np.ndarray
    q: np.ndarray
    v: np.ndarray

    def between(self, i: np.ndarray, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return q and v at the fractions s [m] of the intervals i [m]."""
        dt, s = (self.t[i + 1] - self.t[i])[:, None], s[:, None]
        rise = (self.q[i + 1] - self.q[i]) - dt * self.v[i]
        bend = dt * (self.v[i + 1] - self.v[i])
        q = self.q[i] + s * (dt * self.v[i] + s * (3 * rise - bend + s * (bend - 2 * rise)))
        v = self.v[i] + s * (6 * rise - 2 * bend + s * (3 * bend - 6 * rise)) / dt
        return q, v

    def sample(self, t: np.ndarray) -> np.ndarray:
        """Return the positions [m, 2] at the times t [m]."""
        i = np.clip(np.searchsorted(self.t, t, side="right") - 1, 0, len(self.t) - 2)
        return self.between(i, (t - self.t[i]) / (self.t[i + 1] - self.t[i]))[0]

    def error(self, e: float) -> float:
        """Return max |q − exact| over all knots (Fig. 13)."""
        return float(np.linalg.norm(self.q - exact(self.t, e)[0], axis=1).max())


class Orbits(NamedTuple):
    """What is measured on the apsides of a path.

    Attributes
    ----------
    semi_major_axis : float
        a_h: half of the farthest plus the nearest distance, on average over the orbits.
    period : float
        ω_h: the time from one farthest point to the next, on average.
    precession : float
        How far the farthest point turns in an orbit, in rad, on average.
    """

    semi_major_axis: float
    period: float
    precession: float


def orbits(path: Path) -> Orbits | None:
    """Measure a path on the zeros of q·v, found on its cubics; None if it has no two farthest points."""
    turning = np.einsum("ki,ki->k", path.q, path.v)
    far = np.linalg.norm(path.q, axis=1) > 1.0  # the lattice makes wiggles near the periapsis, never out there
    out = np.flatnonzero((turning[:-1] > 0) & (turning[1:] <= 0) & far[:-1])
    if len(out) < 2:
        return None
    low, high = np.zeros(len(out)), np.ones(len(out))
    for _ in range(50):  # bisection
        middle = 0.5 * (low + high)
        q, v = path.between(out, middle)
        rising = np.einsum("ki,ki->k", q, v) > 0
        low, high = np.where(rising, middle, low), np.where(rising, high, middle)
    times = path.t[out] + low * (path.t[out + 1] - path.t[out])
    farthest = np.linalg.norm(q, axis=1)
    angles = np.unwrap(np.arctan2(q[:, 1], q[:, 0]))
    nearest = np.array([_nearest(path, *ends) for ends in pairwise(out.tolist())])
    n = len(out) - 1
    return Orbits(
        semi_major_axis=float(np.mean(0.25 * (farthest[:-1] + farthest[1:]) + 0.5 * nearest)),
        period=float(times[-1] - times[0]) / n,
        precession=float(angles[-1] - angles[0]) / n,
    )


def _nearest(path: Path, first: int, last: int) -> float:
    """Return the least distance from the centre between two knots, on the cubics next to the nearest knot."""
    k = first + int(np.argmin(np.linalg.norm(path.q[first:last], axis=1)))
    s = np.linspace(0.0, 1.0, 65)
    q, _ = path.between(np.repeat([k - 1, k], len(s)), np.tile(s, 2))
    return float(np.linalg.norm(q, axis=1).min())


# -- the methods ------------------------------------------------------------------------------------------------


def lattice(h: float, corner: np.ndarray | tuple[float, float] = (0.0, 0.0)) -> sx.ForceStepping:
    """Return force-stepping on the lattice with a vertex at a corner; the paper's is at the centre of attraction."""
    return sx.ForceStepping(h, offset=np.array([[0.0, 0.0], np.asarray(corner) / h % 1.0]))


def force_stepping(e: float, integrator: sx.ForceStepping, duration: float, t0: float = 0.0) -> Path:
    """Return the path of force-stepping, with its events as knots: the paper's time steps lie between them."""
    motion = integrator.start(*kepler(e, t0))
    knots: list[Path] = []
    for until in np.append(np.arange(PERIOD, duration, PERIOD), duration):  # a turn at a time, for the memory
        pieces = motion.follow(t0 + until)
        ends = [t for t in (pieces.t0, pieces.t1) if t in (t0, t0 + duration)]
        t = np.unique(np.append(pieces.event_times(), ends))
        q, v, _ = pieces.at(t)
        knots.append(Path(t, q[:, 1], v[:, 1]))
    return Path(*(np.concatenate(parts) for parts in zip(*((k.t, k.q, k.v) for k in knots), strict=True)))


def energy_defect(e: float, integrator: sx.ForceStepping, t0: float = 0.0) -> float:
    """Return V_h − V at the start."""
    system, state = kepler(e, t0)
    return integrator.start(system, state).lattice_potential(state.q) - system.potential(state.q)


def stepped(e: float, integrator: sx.Integrator, dt: float, duration: float) -> Path:
    """Return the path of a method with the fixed step dt, which must divide the duration."""
    motion = integrator.start(*kepler(e))
    return visited(motion, np.arange(round(duration / dt) + 1) * dt)


def visited(motion: sx.Motion, times: np.ndarray) -> Path:
    """Return the path of a motion with the given times as knots."""
    states = [motion.advance(t) for t in times]
    return Path(times, np.array([s.q[1] for s in states]), np.array([s.v[1] for s in states]))


def newmark(e: float, dt: float, duration: float, t0: float = 0.0) -> Path:
    """Return the path of explicit Newmark: the same as `stepped` with `sx.Newmark`, for millions of steps."""
    return _compiled(_newmark, e, dt, duration, t0)


def energy_momentum(e: float, dt: float, duration: float, t0: float = 0.0) -> Path:
    """Return the path of LaBudde's and Greenspan's method: the same as `stepped` with `sx.EnergyMomentum`."""
    return _compiled(_energy_momentum, e, dt, duration, t0)


def _compiled(method, e: float, dt: float, duration: float, t0: float) -> Path:
    steps = round(duration / dt)
    q, v = np.empty((2, steps + 1, 2))
    q[:1], v[:1] = exact(np.array([t0]), e)
    if not method(q, v, duration / steps):
        raise RuntimeError(f"a step was not solved for e = {e}, dt = {dt}.")
    return Path(t0 + np.arange(steps + 1) * (duration / steps), q, v)


@njit(cache=True)
def _newmark(q, v, dt):
    """Do v_½ = v0 + dt/2 a0, q1 = q0 + dt v_½, v1 = v_½ + dt/2 a1."""
    x, y, vx, vy = q[0, 0], q[0, 1], v[0, 0], v[0, 1]
    pull = -1.0 / (x * x + y * y) ** 1.5
    for k in range(1, len(q)):
        vx += 0.5 * dt * pull * x
        vy += 0.5 * dt * pull * y
        x += dt * vx
        y += dt * vy
        pull = -1.0 / (x * x + y * y) ** 1.5
        vx += 0.5 * dt * pull * x
        vy += 0.5 * dt * pull * y
        q[k, 0], q[k, 1], v[k, 0], v[k, 1] = x, y, vx, vy
    return True


@njit(cache=True)
def _energy_momentum(q, v, dt):
    """Do q1 = q0 + dt (v0 + v1)/2, v1 = v0 − dt ξ (q0 + q1)/2, ξ = 2/(r0 r1 (r0 + r1)).

    With c = dt² ξ/4 this is q1 = ((1 − c) q0 + dt v0)/(1 + c): one equation for c, solved by the secant method.
    """
    for k in range(1, len(q)):
        x, y, vx, vy = q[k - 1, 0], q[k - 1, 1], v[k - 1, 0], v[k - 1, 1]
        r = np.hypot(x, y)
        c, before, miss_before = 0.25 * dt * dt / (r * r * r), 0.0, 0.0
        for iteration in range(50):
            x1 = ((1.0 - c) * x + dt * vx) / (1.0 + c)
            y1 = ((1.0 - c) * y + dt * vy) / (1.0 + c)
            r1 = np.hypot(x1, y1)
            miss = 0.5 * dt * dt / (r * r1 * (r + r1)) - c
            if abs(miss) <= 4e-16 * c:
                break
            slope = (miss - miss_before) / (c - before) if iteration and c != before else -1.0
            before, miss_before = c, miss
            c -= miss / slope
        if abs(miss) > 1e-14 * c:  # the round-off of r
            return False
        q[k, 0], q[k, 1] = x1, y1
        v[k, 0] = vx - 2.0 * c / dt * (x + x1)
        v[k, 1] = vy - 2.0 * c / dt * (y + y1)
    return True
