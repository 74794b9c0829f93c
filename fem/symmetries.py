"""Which momenta a system keeps: the rigid motions that leave all that acts on it alike (Noether's theorem).

A force system does no work in a rigid motion x ↦ v + ω × (x − c) if F·v + M·ω = 0, with its resultant F and its moment
M about c. The momentum v·p + ω·L of a system is conserved if that is so of every part, at every configuration. Here
resultants are sampled: at rigid motions of a state by random amounts, with random velocities, so that a law that is not
objective shows. What acts at times only, as an obstacle, is sampled as if it acted. A part is taken to have no
resultant where samples have none but rounding.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from symplex.errors import SymplexError
from symplex.fem.actions.increment_load import IncrementLoad
from symplex.fem.couplings.interpolation import ChangingInterpolatedEnergy, InterpolatedEnergy
from symplex.fem.energies.energy import RIGID, Array, Energy, IntArray
from symplex.fem.measures.composition import MeasureEnergy, MeasureLaw
from symplex.fem.measures.constraints import Constraint
from symplex.fem.measures.pair_laws import PairLaw
from symplex.fem.measures.penalty import Penalty
from symplex.fem.system import State, System

SUPPORTS = "supports"

_OF_POINTS = InterpolatedEnergy, ChangingInterpolatedEnergy
_SAMPLES = 4
_STENCILS = 64  # sampled of an energy whose stencils are looked at one by one
_NOISE = 1e-6  # of the size of the system, in positions
_ZERO = 1e-6  # of the forces that a resultant is made of: below, it is rounding
_NULL = 1e-9  # eigenvalue of the mean square of resultants below which a rigid motion does no work
_AXES = "xyz"


@dataclass(frozen=True)
class Momentum:
    """A component of momentum or angular momentum, b·p + n·L, with L about the origin.

    Attributes
    ----------
    name : str
        As ``momentum x``, or ``angular momentum z about (0, 0.1)``, where the axis does not go through the origin.
    linear, angular : tuple of 3 float
        b in m (or 1 for a linear momentum) and n.
    changed_by : tuple of str
        The parts whose forces change it; empty: it is conserved.
    """

    name: str
    linear: tuple[float, float, float]
    angular: tuple[float, float, float]
    changed_by: tuple[str, ...] = ()

    @property
    def is_angular(self) -> bool:
        """Whether it has a part of the angular momentum."""
        return any(self.angular)


class _Measured(PairLaw):
    """φ(m) = m of a measure m, whose gradient is that of the measure wherever it is."""

    def energy(self, s: Array) -> Array:
        return s

    def slope(self, s: Array) -> Array:
        return np.ones_like(s)

    def curvature(self, s: Array) -> Array:
        return np.zeros_like(s)

    def quotient(self, s0: Array, s1: Array) -> Array:
        return np.full_like(s0, 2.0)

    def quotient_slope(self, s0: Array, s1: Array) -> Array:
        return np.zeros_like(s0)


def momenta(
    system: System,
    state: State,
    times: Sequence[float] = (),
    constraints: Mapping[str, Constraint] | None = None,
) -> list[Momentum]:
    """Return the components of both momenta along the axes, and which parts of a system change them.

    Where the forces leave momenta alone that are along no axis, as along an inclined plane, these come after them.

    Parameters
    ----------
    system : System
    state : State
        From which samples are taken.
    times : sequence of float, optional
        Times in s at which loads are looked at; default: that of the state.
    constraints : mapping of str to Constraint, optional
        Those that a method keeps.
    """
    sampler = _Sampler(system, state, times or (state.t,))
    rows = {name: found for name, found in sampler.parts(constraints or {}) if len(found)}
    return _Noether(rows, sampler.size, sampler.center, system.dim).momenta()


class _Sampler:
    """Resultants of the parts of a system, [F, M/L]/Σ|f| about the centre of its nodes, L its size."""

    def __init__(self, system: System, state: State, times: Sequence[float]):
        self.system, self.state, self.times = system, state, times
        self.center = state.q.mean(axis=0)
        self.size = float(np.linalg.norm(state.q - self.center, axis=1).max()) or 1.0
        self._speed = float(np.linalg.norm(state.v, axis=1).max()) or 1.0

    def _moved(self) -> Iterator[Array]:
        """Yield positions of samples [n, dim], one after the other: of large meshes each takes as much memory as q."""
        random = np.random.default_rng(0)
        for _ in range(_SAMPLES):
            yield self._moved_rigidly(random)

    def _velocities(self) -> Iterator[Array]:
        """Yield velocities of samples [n, dim]."""
        random = np.random.default_rng(1)
        for _ in range(_SAMPLES):
            yield self._speed * random.uniform(-1.0, 1.0, self.state.q.shape)

    def _moved_rigidly(self, random: np.random.Generator) -> Array:
        dim = self.system.dim
        turn = np.linalg.qr(random.normal(size=(dim, dim)))[0] if dim > 1 else np.eye(1)
        if np.linalg.det(turn) < 0.0:
            turn[:, 0] *= -1.0
        shift = self.size * random.uniform(-1.0, 1.0, dim)
        noise = random.uniform(-1.0, 1.0, self.state.q.shape)
        noise *= _NOISE * self.size
        q = (self.state.q - self.center) @ turn.T
        q += self.center + shift
        q += noise
        return q

    def parts(self, constraints: Mapping[str, Constraint]) -> Iterator[tuple[str, Array]]:
        """Yield the resultants [k, 6] of all parts by name."""
        found = {name: self._of_energy(energy) for name, energy in self.system.energies.items()}
        yield from found.items()
        for name, constraint in constraints.items():
            yield name, self._of_stencils(constraint, constraint.nodes, self._moved())
        for name, load in self.system.loads.items():
            if isinstance(load, IncrementLoad):
                yield name, self._of_increment_load(load)
            else:
                yield name, self._of_load(load)
        yield SUPPORTS, self._of_supports()

    def _of_energy(self, energy: Energy) -> Array:
        of_points = energy.interpolation if isinstance(energy, _OF_POINTS) else None
        energy = energy.energy if isinstance(energy, _OF_POINTS) else energy
        if frozenset(RIGID) <= energy.invariances:
            return np.empty((0, 6))
        moved = self._moved() if of_points is None else map(of_points.points, self._moved())
        if isinstance(energy, MeasureEnergy):
            some = energy.nodes[:: -(-len(energy.nodes) // _STENCILS) or 1]
            measure = MeasureLaw()
            measure._compose(some, energy._measure, _Measured(), energy._dim)
            return self._of_stencils(measure, some, moved)
        if isinstance(energy, Penalty):
            return self._of_stencils(energy.constraint, energy.nodes, moved)
        if energy.kind is not None and energy.is_divisible(3):  # of large meshes, what all cells need takes memory
            some = np.arange(0, len(energy.nodes), -(-len(energy.nodes) // _STENCILS) or 1)
            energy = energy.of_some(some, energy.nodes[some])
        rows = []
        for q in moved:
            force = np.zeros_like(q)
            try:
                energy.add_gradient(q, force)
            except SymplexError:  # it has no value there
                continue
            rows.append(self._resultant(q, force))
        return np.array(rows).reshape(-1, 6)

    def _of_stencils(self, local: MeasureLaw | Constraint, nodes: IntArray, moved: Iterable[Array]) -> Array:
        rows = []
        for q in moved:
            x = q[nodes]
            try:
                slopes = local.gradient(x)
            except SymplexError:
                continue
            rows += [self._resultant(one, force) for one, force in zip(x, slopes, strict=True)][:_STENCILS]
        return np.array(rows).reshape(-1, 6)

    def _of_increment_load(self, load: IncrementLoad) -> Array:
        """Return the resultants of friction: none where its contact has none, else any; a carrier does not turn."""
        if not len(self._of_energy(load.energy)) or not np.any(self._of_energy(load.energy)):
            return np.empty((0, 6))
        any_ = np.eye(6)
        return any_[3:] if load.energy.nodes.shape[1] > 1 else any_

    def _of_load(self, load) -> Array:
        rows = []
        for t in self.times:
            for q, v in zip(self._moved(), self._velocities(), strict=True):
                try:
                    rows.append(self._resultant(q, np.asarray(load(t, q, v), float)))
                except SymplexError:
                    continue
        return np.array(rows).reshape(-1, 6)

    def _of_supports(self) -> Array:
        fixed, q0 = self.system.fixed, self.state.q
        nodes, axes = np.nonzero(fixed)
        rows = []
        for q in self._moved():
            at = np.where(fixed & ~self.system.moving.mask, q0, q)[nodes]
            force = np.zeros((len(nodes), 3))
            force[np.arange(len(nodes)), axes] = 1.0
            arm = np.zeros((len(nodes), 3))
            arm[:, : self.system.dim] = (at - self.center) / self.size
            rows.append(np.concatenate([force, np.cross(arm, force)], axis=1))
        return np.concatenate(rows)

    def _resultant(self, x: Array, force: Array) -> Array:
        """Return the resultant [6] of forces [k, dim] at the positions x [k, dim], zero where it is rounding."""
        row, scale = np.zeros(6), float(np.linalg.norm(force, axis=1).sum())
        if not (np.isfinite(scale) and scale > 0.0):
            return row
        f, arm = np.zeros((len(x), 3)), np.zeros((len(x), 3))
        f[:, : x.shape[1]], arm[:, : x.shape[1]] = force / scale, (x - self.center) / self.size
        row[:3], row[3:] = f.sum(axis=0), np.cross(arm, f).sum(axis=0)
        row[np.abs(row) < _ZERO] = 0.0
        return row


class _Noether:
    """The rigid motions in which no part does work, and the momenta that belong to them."""

    def __init__(self, rows: Mapping[str, Array], size: float, center: Array, dim: int):
        self._dim, self._spins = dim, {1: (), 2: (2,), 3: (0, 1, 2)}[dim]
        # About the origin, to which histories refer: M_o = M_c + c × F; lengths are still in units of the size.
        shift = np.zeros(3)
        shift[:dim] = center / size
        self._size = size
        self._rows = {
            name: np.concatenate([one[:, :3], one[:, 3:] + np.cross(shift, one[:, :3])], axis=1)
            for name, one in rows.items()
        }
        mean = sum((one.T @ one / len(one) for one in self._rows.values()), np.zeros((6, 6)))
        possible = [*range(dim), *(3 + axis for axis in self._spins)]
        values, vectors = np.linalg.eigh(mean[np.ix_(possible, possible)])
        self._free = np.zeros((6, int((values <= _NULL).sum())))
        self._free[possible] = vectors[:, values <= _NULL]
        # Translations among them: combinations without a spin.
        _, s, right = np.linalg.svd(self._free[3:], full_matrices=True)
        rank = int((s > 1e-6).sum())
        self._shifts = self._free[:3] @ right[rank:].T  # [3, translations], orthonormal

    def momenta(self) -> list[Momentum]:
        """Return the components along the axes, then those along other directions that are conserved."""
        found = []
        for axis in range(self._dim):
            direction = np.eye(3)[axis]
            is_free = self._is_shift(direction)
            found.append(self._momentum(f"momentum {_AXES[axis]}", direction, np.zeros(3), is_free))
        aligned = [direction for direction in np.eye(3) if self._is_shift(direction)]
        for direction in _rest(self._shifts, aligned):
            found.append(self._momentum(f"momentum along {_words(direction)}", direction, np.zeros(3), True))
        for axis in self._spins:
            spin = np.eye(3)[axis]
            shift = self._shift_of(spin)
            name = f"angular momentum {_AXES[axis]}" + ("" if shift is None else self._about(spin, shift))
            found.append(self._momentum(name, np.zeros(3) if shift is None else shift, spin, shift is not None))
        return found + self._inclined_spins()

    def _inclined_spins(self) -> list[Momentum]:
        spins = self._free[3:] @ self._free[3:].T
        values, vectors = np.linalg.eigh(spins)
        aligned = [
            spin for axis, spin in enumerate(np.eye(3)) if axis in self._spins and self._shift_of(spin) is not None
        ]
        found = []
        for spin in _rest(vectors[:, values > 1e-6], aligned):
            if (shift := self._shift_of(spin)) is not None:
                name = f"angular momentum along {_words(spin)}{self._about(spin, shift)}"
                found.append(self._momentum(name, shift, spin, True))
        return found

    def _is_shift(self, direction: Array) -> bool:
        return bool(np.linalg.norm(self._shifts.T @ direction) > 1.0 - 1e-6)

    def _shift_of(self, spin: Array) -> Array | None:
        """Return the velocity [3] of the origin in sizes, of a turn about an axis that is free, if there is one."""
        factors, *_ = np.linalg.lstsq(self._free[3:], spin, rcond=None)
        if np.linalg.norm(self._free[3:] @ factors - spin) > 1e-5:
            return None
        shift = self._free[:3] @ factors
        shift = shift - self._shifts @ (self._shifts.T @ shift)  # whatever is free anyway
        if abs(shift @ spin) > 1e-5:  # a screw
            return None
        return np.where(np.abs(shift) > 1e-6, shift, 0.0)

    def _about(self, spin: Array, shift: Array) -> str:
        """Return about which point an axis goes, where it is not the origin."""
        point = np.cross(spin, shift) * self._size
        return f" about {_words(point)}" if point.any() else ""

    def _momentum(self, name: str, shift: Array, spin: Array, is_free: bool) -> Momentum:
        generator = np.concatenate([shift, spin])
        names = () if is_free else tuple(k for k, rows in self._rows.items() if np.abs(rows @ generator).max() > _ZERO)
        linear = shift * self._size if spin.any() else shift
        return Momentum(name, _triple(linear), _triple(spin), names)


def _rest(basis: Array, aligned: Sequence[Array]) -> list[Array]:
    """Return orthonormal directions of a space [3, r] that are left without those along axes."""
    left = basis.copy()
    for direction in aligned:
        left = left - np.outer(direction, direction @ left)
    vectors, values, _ = np.linalg.svd(left, full_matrices=False)
    chosen = [vectors[:, k] for k, value in enumerate(values) if value > 1e-5]
    return [one * np.sign(one[np.argmax(np.abs(one) > 1e-3)]) for one in chosen]  # the first component positive


def _triple(vector: Array) -> tuple[float, float, float]:
    x, y, z = (float(value) + 0.0 for value in vector)
    return x, y, z


def _words(vector: Array) -> str:
    return f"({', '.join(f'{value + 0.0:.4g}' for value in np.round(vector, 9))})"
