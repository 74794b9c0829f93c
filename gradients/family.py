"""Systems that depend on parameters: those at neighbouring parameters, and derivatives of what they compute.

A parameter is whatever the function that builds a system makes of a number. Derivatives of forces, masses and starts by
parameters are differences *of single evaluations at one state*, never of runs: with systems at p ± δ and p ± 2δ

    ∂g/∂p ≈ [g(p − 2δ) − 8 g(p − δ) + 8 g(p + δ) − g(p + 2δ)]/(12 δ),

exact but for rounding where g is a polynomial in p of degree four or less, as forces are in moduli, densities, damping
and penalty stiffness, and in error by δ⁴ otherwise. Only the parts of a system that depend on p are evaluated. Forces
of a run are evaluated at p ± 2δ only, which is exact for degrees up to two, once that has agreed with all four at some
states; they are compared again ever more rarely, after twice as many states each time. In between two would be in
error by some 1e-7 where the dependence is another one than it was, as of a law of contact that has not acted before.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import described
from symplex.base.sparse import sp
from symplex.errors import InvalidArgument, InvalidSystem
from symplex.fem.assembly.pattern import Array
from symplex.fem.solids.constitutive import Material
from symplex.fem.system import State, System
from symplex.gradients.internal_variables import WEIGHTS, slope_of
from symplex.gradients.linear_steps import Names, StepForces

# What a function returns for parameters p [k].
Build = Callable[[Array], tuple[System, State]]

STEP = 3e-4  # δ of a parameter of scale 1: truncation some 1e-14 of smooth functions, rounding some 1e-12
_PAIR = ((0, -0.25), (3, 0.25))  # of the neighbours at ∓2δ, times 1/δ
_FIRST = 4  # states at which two must agree with four, one after the other, before two are taken
_SMOOTH = 1e-2  # relative difference of slopes of a smooth start by two neighbours and by four
_NOISE = 1e-10  # of a start that does not depend on a parameter
AGREE = 1e-10  # how far forces by two neighbours may be from those by four, relative to the largest


class Family:
    """The systems and starts that a function builds of parameters, at given ones and next to them.

    Parameters
    ----------
    build : callable
        Returns a system and a state for parameters p [k].
    p : float64 [k]
    scales : float64 [k], optional
        How much of each parameter is a considerable change; default: its size.
    who : str
        For messages.
    moves : bool
        Whether the time of the start may depend on parameters.

    Attributes
    ----------
    p, scales : float64 [k]
    system : System
    state : State
    dq, dv : float64 [n, dim, k]
        Derivatives of the start.
    dz : dict of str to float64 [..., k]
        Those of internal variables, by the names of parts.
    dt : float64 [k]
        Those of its time.
    masses : float64 [n, k] or None
        Derivatives of lumped masses, if any depend on a parameter.

    Raises
    ------
    InvalidArgument
        If parameters or scales are no numbers, or the function builds something else.
    InvalidSystem
        If a parameter changes how many nodes there are, which coordinates are fixed, or the motion of a support.
    """

    def __init__(
        self, build: Build, p: ArrayLike, scales: ArrayLike | None = None, who: str = "tangent", moves: bool = False
    ):
        self._build, self._who, self._moves = build, who, moves
        self.p = _numbers(who, "parameters", p)
        self.scales = np.abs(self.p) if scales is None else _numbers(who, "scales", scales)
        if self.scales.shape != self.p.shape:
            raise InvalidArgument(f"{who}: scales must have shape {self.p.shape}, got {self.scales.shape}.")
        for j, scale in enumerate(self.scales):
            if not scale > 0.0:
                raise InvalidArgument(
                    f"{who}: the scale of parameter {j} must be positive, got {scale:g}. Give scales: how much of each "
                    "parameter is a considerable change."
                )
        self.system, self.state = self._built(self.p)
        self.deltas = STEP * self.scales
        self.neighbours: list[list[tuple[float, System, State]]] = []
        self.changed: list[Names] = []
        parts = _pickles(self.system)
        for j, delta in enumerate(self.deltas):
            self.neighbours.append([])
            found: dict[str, set[str]] = {kind: set() for kind in Names._fields}
            for at, weight in WEIGHTS:
                p = self.p.copy()
                p[j] += at * delta
                system, state = self._built(p)
                self._require_alike(j, system, state)
                self.neighbours[j].append((weight / delta, system, state))
                for (kind, name), part in _pickles(system).items():
                    if part is None or part != parts.get((kind, name)):
                        found[kind].add(name)
            self.changed.append(Names(**found))
        shape = (*self.state.q.shape, len(self.p))
        self.dq, self.dv = np.zeros(shape), np.zeros(shape)
        self.dz = {name: np.zeros((*z.shape, len(self.p))) for name, z in self.state.internal.items()}
        self.dt, masses = np.zeros(len(self.p)), np.zeros((self.system.n_nodes, len(self.p)))
        for j, some in enumerate(self.neighbours):
            for weight, system, state in some:
                self.dq[..., j] += weight * (state.q - self.state.q)
                self.dv[..., j] += weight * (state.v - self.state.v)
                self.dt[j] += weight * (state.t - self.state.t)
                for name, dz in self.dz.items():
                    dz[..., j] += weight * (state.internal[name] - self.state.internal[name])
                if system.is_lumped:
                    masses[:, j] += weight * (np.asarray(system.mass) - np.asarray(self.system.mass))
        self.masses = masses if masses.any() else None
        self._require_smooth_start()
        self.dv[self.system.fixed] = 0.0  # those of supports are as given
        self._agreed = [0] * len(self.p)  # states at which two neighbours have been enough, since they last were not

    def __len__(self) -> int:
        return len(self.p)

    def _built(self, p: Array) -> tuple[System, State]:
        built: Any = self._build(p.copy())
        if not (
            isinstance(built, tuple)
            and len(built) == 2
            and isinstance(built[0], System)
            and isinstance(built[1], State)
        ):
            raise InvalidArgument(
                f"{self._who}: build must return a System and a State for parameters; it returns {described(built)}."
            )
        return built

    def _require_alike(self, j: int, system: System, state: State) -> None:
        """Check that only what can be differentiated depends on parameter j."""
        here = self.system
        if state.q.shape != self.state.q.shape:
            what = f"the number of nodes, {len(self.state.q)} or {len(state.q)}"
        elif {k: z.shape for k, z in state.internal.items()} != {k: z.shape for k, z in self.state.internal.items()}:
            what = "how many internal variables there are"
        elif not np.array_equal(system.fixed, here.fixed):
            what = "which coordinates are fixed"
        elif any(getattr(system, kind).keys() != getattr(here, kind).keys() for kind in Names._fields):
            what = "which energies, loads, inelastic parts and joints there are"
        elif not _same_frames(system, here):
            what = "which frames and joints there are, or what is held of frames"
        elif _pickled(dict(system.moving.motions)) != _pickled(dict(here.moving.motions)):
            what = "the motion of a support"
        elif not _same_consistent(system, here):
            what = "a consistent mass; take lumped masses"
        elif state.t != self.state.t and not self._moves:
            what = "the time of the start"
        else:
            return
        raise InvalidSystem(f"{self._who}: parameter {j} changes {what}; there is no derivative by it.")

    def _require_smooth_start(self) -> None:
        """Check that positions and velocities of the start change smoothly: as two neighbours say, and four."""
        for kind, four in (("positions", self.dq), ("velocities", self.dv)):
            for j, some in enumerate(self.neighbours):
                ends = [getattr(some[k][2], kind[0] if kind[0] == "v" else "q") for k, _ in _PAIR]
                pair = (ends[1] - ends[0]) / (4.0 * self.deltas[j])
                rounding = _NOISE * np.abs(ends).max() / self.deltas[j]
                if np.abs(pair - four[..., j]).max() > _SMOOTH * np.abs(four[..., j]).max() + rounding:
                    raise InvalidSystem(
                        f"{self._who}: {kind} at the start do not change smoothly with parameter {j}; there is no "
                        "derivative by it. Take one that keeps the numbering and the shape of the mesh."
                    )

    def slope(self, j: int, evaluate: Callable[[System], Array]) -> Array:
        """Return the derivative by parameter j of what a function of a system returns."""
        total: Array | float = 0.0
        for weight, system, _ in self.neighbours[j]:
            total = total + weight * self._evaluated(system, evaluate)
        return np.asarray(total)

    def slope_at_start(self, j: int, evaluate: Callable[[System, float], Array]) -> Array:
        """Return the derivative by parameter j of a function of a system, and of the time in s of the start."""
        some = self.neighbours[j]
        return np.sum([w * self._evaluated(one, lambda s, t=at.t: evaluate(s, t)) for w, one, at in some], axis=0)

    def slope_of_variables(self, j: int, forces: StepForces, name: str) -> Array:
        """Return the derivative by parameter j of a part's internal variables at the end of a step."""
        at = [self._evaluated(system, lambda one: forces.variables(one)[name]) for _, system, _ in self.neighbours[j]]
        return slope_of(at, self.deltas[j])[0]

    def _evaluated(self, system: System, evaluate: Callable[[System], Array]) -> Array:
        """Return what a function of a neighbour returns, with stencils as they are at the parameters themselves."""
        if system.changing:
            system.list_positions = self.system.list_positions
        found: list[Array] = []
        system.covering(lambda: found.append(evaluate(system)))
        return found[-1]

    def slope_of_forces(self, j: int, forces: StepForces) -> Array:
        """Return the derivative [n, dim] in N by parameter j of ∇V − f, of the parts that depend on it.

        By two neighbours where they have agreed with four.
        """
        names = self.changed[j]

        def evaluate(system: System) -> Array:
            return forces.of(system, names)

        at = {k: self._evaluated(self.neighbours[j][k][1], evaluate) for k, _ in _PAIR}
        pair = np.zeros_like(self.state.q)
        for k, weight in _PAIR:
            pair += weight / self.deltas[j] * at[k]
        agreed = self._agreed[j]
        if not is_compared(agreed):
            self._agreed[j] += 1
            return pair
        for k, (_, system, _) in enumerate(self.neighbours[j]):
            at[k] = at[k] if k in at else self._evaluated(system, evaluate)
        if names.inelastic:
            return slope_of([at[k] for k in range(4)], self.deltas[j])[0]
        four = np.zeros_like(pair)
        for k, (weight, _, _) in enumerate(self.neighbours[j]):
            four += weight * at[k]
        size = np.abs(four).max()
        if size > 0.0:  # zero as of contact that is open, which says nothing
            self._agreed[j] = agreed + 1 if np.abs(pair - four).max() <= AGREE * size else 0
        return four


def is_compared(agreed: int) -> bool:
    """Return whether two neighbours, that have agreed with four at so many states in a row, are compared again."""
    return agreed < _FIRST or agreed & (agreed - 1) == 0


def _numbers(who: str, what: str, given: ArrayLike) -> Array:
    """Return numbers [k] as an array."""
    try:
        found = np.array(given, dtype=float)
    except (TypeError, ValueError):
        raise InvalidArgument(f"{who}: {what} must be numbers, got {described(given)}.") from None
    if found.ndim != 1 or not len(found) or not np.isfinite(found).all():
        raise InvalidArgument(f"{who}: {what} must be finite numbers in a row, got {described(given)}.")
    return found


def _same_frames(one: System, other: System) -> bool:
    """Return whether frames are of the same particles, and joints of the same kinds between the same."""
    if one.frames is None or other.frames is None:
        return one.frames is other.frames
    return (
        np.array_equal(one.frames.nodes, other.frames.nodes)
        and np.array_equal(one.frames.held, other.frames.held)
        and one.joints.keys() == other.joints.keys()
        and all(np.array_equal(joint.nodes, other.joints[name].nodes) for name, joint in one.joints.items())
    )


def _same_consistent(one: System, other: System) -> bool:
    """Return whether consistent masses are the same, if there are any."""
    if one.is_lumped or other.is_lumped:
        return one.is_lumped == other.is_lumped
    return not abs(sp.csr_array(one.mass) - sp.csr_array(other.mass)).max()


def _pickles(system: System) -> Mapping[tuple[str, str], bytes | None]:
    """Return what the parts of a system are made of, by kind and name; None where it is unknown."""
    kinds: dict[str, Mapping[str, object]] = {kind: getattr(system, kind) for kind in Names._fields}
    return {(kind, name): _pickled(part) for kind, parts in kinds.items() for name, part in parts.items()}


class _Pickler(pickle.Pickler):
    """Pickles materials without their density, which masses have and no energy takes from there."""

    def persistent_id(self, obj: Any) -> Any:
        """Return what stands for a material, and nothing for other things."""
        ours = type(obj).__module__.startswith("symplex.")  # those of users may do with it what they like
        if ours and isinstance(obj, Material) and is_dataclass(obj):
            return type(obj), pickle.dumps(replace(obj, density=1.0), 4)
        return None


def _pickled(part: object) -> bytes | None:
    out = io.BytesIO()
    try:
        _Pickler(out, 4).dump(part)
    except Exception:  # whatever a user's own part raises: it counts as one that depends on the parameter
        return None
    return out.getvalue()
