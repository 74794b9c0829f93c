"""What a motion has kept: each invariant that a method declares, and what loads, supports and the like have done.

Which momenta can be kept at all follows from what acts (`symplex.fem.symmetries`). Next to each change stands the floor
of round-off (see docs/conservation-report.md), and what comes of both in words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from symplex.base.columns import AXES, Column, constant_totals
from symplex.fem.actions.loads import DeadLoad
from symplex.fem.energies.energy import Array
from symplex.fem.solids.constitutive import InvariantMaterial
from symplex.fem.solids.solid import solids_of
from symplex.fem.symmetries import Momentum, momenta
from symplex.fem.system import State, System
from symplex.runs.history import Rows, columns_of
from symplex.time.integrator import Integrator
from symplex.time.totals import EnergyExchange

Verdict = Literal["round-off", "solver", "oscillates", "drifts", "changed", "at rest"]

EPSILON = float(np.finfo(float).eps)
ROUND_OFF = 16.0  # floors, to which what is kept may change
SOLVER = 1e-9  # of what moves, to which an iterative solver may change what is kept
_SAME_TIME = 1e-9  # of a run, by which times may differ that are one
_HALF = 4  # rows of each half of a run that are needed to distinguish a drift from an oscillation
_SAMPLED = (0.0, 0.31, 0.62, 1.0)  # of a part, when loads are looked at


@dataclass(frozen=True)
class Expected:
    """What a part of a run can keep, and what its method declares.

    Attributes
    ----------
    integrator : str
        Its name.
    conserves : tuple of str
        As `Integrator.conserves`.
    momenta : tuple of Momentum
        Components of momenta, and what changes them; of another version's run none.
    iterative : bool
        Whether the method solves equations in each step.
    mass : float
        In kg.
    reach : float
        Of the farthest node from the origin, in m.
    constant_forces : mapping of str to tuple of float
        Resultants in N of loads that are the same always, by name.
    rounding : float
        To what the potential energy is known, in J.
    name : str
        Of the stage, if it is one.
    start, end : float
        Times in s; without an end, all that there is.
    """

    integrator: str
    conserves: tuple[str, ...]
    momenta: tuple[Momentum, ...] = ()
    iterative: bool = False
    mass: float = 0.0
    reach: float = 0.0
    constant_forces: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    rounding: float = 0.0
    name: str = ""
    start: float = -np.inf
    end: float = np.inf

    def with_changes_of(self, others: Sequence[Expected]) -> Expected:
        """Return the same for a part in which what acts in others may begin to act, or end."""
        changed: dict[str, dict[str, None]] = {}
        for other in (self, *others):
            for one in other.momenta:
                changed.setdefault(one.name, {}).update(dict.fromkeys(one.changed_by))
        momenta = tuple(replace(one, changed_by=tuple(changed[one.name])) for one in self.momenta)
        conserves = set(self.conserves).intersection(*(other.conserves for other in others))
        return replace(self, momenta=momenta, conserves=tuple(sorted(conserves)))

    @classmethod
    def of(
        cls, system: System, integrator: Integrator, state: State, start: float, end: float, name: str = ""
    ) -> Expected:
        """Return what a method can keep of a system, which is sampled about a state."""
        constraints = getattr(integrator, "constraints", None)
        times = [start + part * (end - start) for part in _SAMPLED] if np.isfinite(end - start) else [state.t]
        gravity = {k: energy for k, energy in system.energies.items() if isinstance(energy, DeadLoad)}
        return cls(
            integrator=type(integrator).__name__,
            conserves=tuple(sorted(integrator.conserves)),
            momenta=tuple(momenta(system, state, times, constraints)),
            iterative=any(column.name in ("corrections", "iterations") for column in integrator.columns),
            mass=float(system.mass.sum()),
            reach=float(np.linalg.norm(state.q, axis=1).max()),
            constant_forces={
                k: tuple(float(-x) for x in energy.gradient(state.q[energy.nodes]).sum(axis=(0, 1)))
                for k, energy in gravity.items()
            },
            rounding=_rounding(system, state.q),
            name=name,
            start=start,
            end=end,
        )

    def plain(self) -> dict[str, Any]:
        """Return what JSON has of it."""
        found = asdict(self)
        return {key: value for key, value in found.items() if not (isinstance(value, float) and np.isinf(value))}

    @classmethod
    def read(cls, plain: Mapping[str, Any]) -> Expected:
        """Return what `plain` has written."""
        known = dict(plain)
        known["conserves"] = tuple(map(str, known["conserves"]))
        known["momenta"] = tuple(
            Momentum(one["name"], tuple(one["linear"]), tuple(one["angular"]), tuple(one["changed_by"]))
            for one in known["momenta"]
        )
        return cls(**known)


def _rounding(system: System, q: Array) -> float:
    """Return to what the potential energy in J is known: more than ε times itself where it is zero.

    It is what rounding of the positions alone does, and at least ε Σ μ V of solids whose laws are functions of
    invariants: terms of the size of μ cancel in these.
    """
    rng = np.random.default_rng(0)
    there = system.potentials(q)
    moved = (q * (1.0 + EPSILON * rng.uniform(-1.0, 1.0, q.shape)) for _ in range(2))
    found = max(sum(abs(value - there[name]) for name, value in system.potentials(near).items()) for near in moved)
    solids = [one for one in solids_of(system.energies).values() if isinstance(one.material, InvariantMaterial)]
    return max(found, EPSILON * sum(solid.material.lame_constants[1] * float(solid.volumes.sum()) for solid in solids))


@dataclass(frozen=True)
class Quantity:
    """What has become of one invariant in a part of a run.

    Attributes
    ----------
    name : str
        As ``total`` (of the energies) or ``momentum z``.
    unit : str
    declared : bool
        Whether the method declares to keep it to round-off.
    changed_by : tuple of str
        What acts so that it cannot be kept.
    start, end : float
    largest, final : float
        Changes since the start: the largest in size, and that at the end.
    scale : float
        What moves, in its unit: the energy exchanged, or the momentum that the kinetic energy could be.
    floor : float
        Of round-off.
    verdict : str
        See `Verdict`.
    words : str
        The verdict in words.
    """

    name: str
    unit: str
    declared: bool
    changed_by: tuple[str, ...]
    start: float
    end: float
    largest: float
    final: float
    scale: float
    floor: float
    verdict: Verdict
    words: str

    @property
    def relative(self) -> float:
        """The largest change as a part of what moves; 0 where nothing does."""
        return self.largest / self.scale if self.scale > 0.0 else 0.0


@dataclass(frozen=True)
class Part:
    """A run or a stage of it: what it can keep, has kept, and where its energy and momentum went.

    Attributes
    ----------
    expected : Expected
    steps : int
        How many steps or events.
    counted : {"steps", "events", "rows of the history"}
        What is counted.
    quantities : tuple of Quantity
    energies : dict of str to float
        Changes of the parts of the energy from start to end in J.
    works : dict of str to float
        Work and heat in J that loads, supports, friction, dampers and the like have put in.
    impulses : dict of str to tuple of 3 float
        In N s, from start to end: ``change`` of the momentum, and what of it constant loads and contact with obstacles
        (by the rows of the history) have done; ``other`` is what is left.
    """

    expected: Expected
    steps: int
    counted: str
    quantities: tuple[Quantity, ...]
    energies: Mapping[str, float]
    works: Mapping[str, float]
    impulses: Mapping[str, tuple[float, ...]]


class PartRows:
    """The rows of a part of a history, and what of them moves."""

    def __init__(self, history: Rows, expected: Expected):
        t = history["t"]
        slack = _SAME_TIME * float(np.ptp(t)) if len(t) else 0.0  # the ends of parts are samples but for rounding
        inside = (t >= expected.start - slack) & (t <= expected.end + slack)
        self.columns = columns_of(history)
        self.expected = expected
        self.rows = {name: history[name][inside] for name in history}
        self.t = self.rows["t"]

    @property
    def counted(self) -> str:
        """What is counted."""
        return next((name for name in ("steps", "events") if name in self.rows), "rows of the history")

    @cached_property
    def steps(self) -> int:
        """Steps or events, or rows if neither is known."""
        if self.counted in self.rows:
            return max(int(self.rows[self.counted][-1] - self.rows[self.counted][0]), 1)
        return max(len(self.t) - 1, 1)

    @cached_property
    def magnitude(self) -> float:
        """The sum of the largest sizes of all parts of the energy in J."""
        return float(sum(np.abs(self.rows[name]).max() for name in self._of("energy")))

    @cached_property
    def exchanged(self) -> float:
        """The largest kinetic energy and the largest changes of all other parts, in J."""
        parts = [self.rows[name] for name in self._of("energy") if name != "kinetic"]
        return float(self.rows["kinetic"].max()) + float(sum(np.abs(part - part[0]).max() for part in parts))

    def _of(self, kind: str) -> list[str]:
        return [name for name, column in self.columns.items() if column.kind == kind and name in self.rows]

    def vector(self, name: str) -> Array:
        """Return the rows [k, 3] of a vector, zero where a component is not reported."""
        return np.stack([self.rows.get(f"{name}_{axis}", np.zeros(len(self.t))) for axis in AXES], axis=1)

    @property
    def possible_momentum(self) -> float:
        """√(2 M T) in N s: the momentum of all mass with the largest kinetic energy in one motion."""
        return float(np.sqrt(2.0 * self.expected.mass * self.rows["kinetic"].max()))

    @property
    def reach(self) -> float:
        """How far from the origin masses are in m, with the way of their centre."""
        speed = np.linalg.norm(self.vector("momentum"), axis=1).max() / (self.expected.mass or np.inf)
        return self.expected.reach + float(speed * (self.t[-1] - self.t[0]))

    @property
    def energy_floor(self) -> float:
        """ε √N Σ max |E_k| in J, and to what the potential energy is known."""
        return EPSILON * np.sqrt(self.steps) * self.magnitude + self.expected.rounding

    @property
    def at_rest(self) -> bool:
        """Whether no more energy is exchanged than rounding does."""
        return self.exchanged <= ROUND_OFF * self.energy_floor

    @property
    def momentum_floor(self) -> float:
        """ε √N √(2 M E) in N s, with the energy E that is exchanged."""
        return float(EPSILON * np.sqrt(self.steps) * np.sqrt(2.0 * self.expected.mass * self.exchanged))

    # -- what is reported -----------------------------------------------------------------------------------------

    def energies(self) -> list[tuple[Column, Array]]:
        """Return the totals that a method may keep, the one that is meant first."""
        kept = [self.columns[name] for name in constant_totals(self.columns.values()) if name in self.rows]
        kept = sorted(kept, key=lambda column: not column.watched)
        return [(column, self.rows[column.name]) for column in kept]

    def curves(self) -> dict[str, tuple[Array, float, float]]:
        """Return values [k], scale and floor of all that could be kept, by name."""
        exchange = EnergyExchange()
        exchange.add(self.rows["kinetic"], self.rows["total"])
        found = {column.name: (values, exchange.largest, self.energy_floor) for column, values in self.energies()}
        p, turning = self.vector("momentum"), self.vector("angular_momentum")
        linear = max(self.possible_momentum, float(np.linalg.norm(p, axis=1).max()))
        angular = max(self.possible_momentum * self.reach, float(np.linalg.norm(turning, axis=1).max()))
        for one in self.expected.momenta:
            values = p @ np.array(one.linear) + turning @ np.array(one.angular)
            scales = (angular, self.momentum_floor * self.reach) if one.is_angular else (linear, self.momentum_floor)
            found[one.name] = values, *scales
        return found


def kept(history: Rows, expected: Sequence[Expected]) -> list[Part]:
    """Return what parts of a run have kept, those of which there is more than their beginning.

    Parameters
    ----------
    history : mapping of str to float64 [rows]
        With the columns of a run.
    expected : sequence of Expected
        Of each part.
    """
    parts = [PartRows(history, one) for one in expected]
    return [_part(rows) for rows in parts if len(rows.t) > 1]


def _part(rows: PartRows) -> Part:
    of_energy = {column.name: column for column, _ in rows.energies()}
    of_momenta = {one.name: one for one in rows.expected.momenta}
    meant = next(iter(of_energy), "")  # the watched one; of histories without a declaration the first
    quantities = []
    for name, (values, scale, floor) in rows.curves().items():
        if name in of_energy:
            declared, unit, changed_by = name == meant and "energy" in rows.expected.conserves, "J", ()
        else:
            one = of_momenta[name]
            what, unit = ("angular momentum", "kg m²/s") if one.is_angular else ("momentum", "N s")
            declared, changed_by = what in rows.expected.conserves, one.changed_by
        quantities.append(_judged(rows, name, unit, declared, changed_by, values, scale, floor))
    return Part(rows.expected, rows.steps, rows.counted, tuple(quantities), *_ledger(rows))


def _judged(
    rows: PartRows,
    name: str,
    unit: str,
    declared: bool,
    changed_by: tuple[str, ...],
    values: Array,
    scale: float,
    floor: float,
) -> Quantity:
    change = values - values[0]
    largest = float(np.abs(change).max())
    relative = largest / scale if scale > 0.0 else 0.0
    verdict: Verdict
    if rows.at_rest or max(scale, largest) <= ROUND_OFF * floor:
        verdict, words = "at rest", "nothing moves, except for rounding"
    elif changed_by:
        verdict, words = "changed", f"changed by {_listed(changed_by)}"
    elif largest <= ROUND_OFF * floor:
        verdict, words = "round-off", "kept to round-off"
    elif declared and rows.expected.iterative and relative <= SOLVER:
        verdict, words = "solver", f"kept to the tolerance of the solver: {relative:.1e}"
    elif _oscillates(change):
        verdict, words = "oscillates", f"oscillates within {relative:.1e}, no drift in {_steps(rows)}"
    else:
        verdict, words = "drifts", f"drifts: {relative:.1e} after {_steps(rows)}"
    if declared and verdict in ("oscillates", "drifts"):
        words += f", though {rows.expected.integrator} is to keep it"
    ends = float(values[0]), float(values[-1])
    return Quantity(
        name, unit, declared, changed_by, *ends, largest, float(change[-1]), float(scale), float(floor), verdict, words
    )


def _steps(rows: PartRows) -> str:
    return f"{rows.steps:,} {rows.counted}"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _oscillates(change: Array) -> bool:
    """Return whether the mean of the second half is as that of the first, next to how far each goes up and down."""
    middle = len(change) // 2
    if middle < _HALF:
        return False
    first, second = change[1:middle], change[middle:]
    return bool(abs(second.mean() - first.mean()) <= 0.25 * max(np.ptp(first), np.ptp(second)))


def _ledger(rows: PartRows) -> tuple[dict[str, float], dict[str, float], dict[str, tuple[float, ...]]]:
    """Return changes of energies, works and impulses of a part."""
    changes = {}
    for name, column in rows.columns.items():
        if name in rows.rows and column.kind in ("energy", "work"):
            changes[name] = float(rows.rows[name][-1] - rows.rows[name][0])
    energies = {name: change for name, change in changes.items() if rows.columns[name].kind == "energy"}
    works = {name.removeprefix("work_"): value for name, value in changes.items() if name not in energies}
    momentum = rows.vector("momentum")
    left = change = momentum[-1] - momentum[0]
    impulses = {"change": _three(change)}
    span = rows.t[-1] - rows.t[0]
    for name, force in rows.expected.constant_forces.items():
        impulses[name] = _three(span * np.pad(np.array(force), (0, 3 - len(force))))
    if "contact_force_x" in rows.rows:
        force = rows.vector("contact_force")
        contact = np.diff(rows.t) @ (0.5 * (force[1:] + force[:-1]))  # the trapezoidal rule
        impulses[f"contact with obstacles (trapezoidal rule over {len(rows.t):,} rows of the history)"] = _three(
            contact
        )
    for name, value in impulses.items():
        left = left - np.array(value) if name != "change" else left
    return energies, works, impulses | {"other": _three(left)}


def _three(vector: Array) -> tuple[float, float, float]:
    x, y, z = (float(value) + 0.0 for value in vector)
    return x, y, z
