"""Force-stepping: the exact motion in the piecewise-linear interpolation of the potential energy.

Gonzalez, Schmidt and Ortiz, "Force-stepping integrators in Lagrangian mechanics" (2010).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symplex.base.arguments import checked
from symplex.base.columns import count_column
from symplex.errors import InvalidSystem, StepFailed
from symplex.fem.energy import Array, Energy
from symplex.fem.system import State, System
from symplex.time.events import lattice_events as events, lattice_tracks as layout
from symplex.time.events.interaction import infinite_stencil, interactions, lattice_functions
from symplex.time.events.lattice_choice import require_axes, require_lattice, spread
from symplex.time.events.lattice_crossings import count_rest
from symplex.time.events.lattice_energy import lattice_energy
from symplex.time.events.pieces import Pieces
from symplex.time.integrator import Integrator
from symplex.time.motion import Motion, require_time
from symplex.time.totals import LATTICE_TOTAL

# Between two looks at the outside world (Ctrl-C, the time that is spent): a tenth of a second or two at most.
_EVENTS_AT_ONCE, _EVENTS_AT_FIRST = 200_000, 4_096
_MOST_CELLS = 2.0**29
_NO_LOG = np.empty((0, layout.LOG_COLUMNS))


@checked
@dataclass(frozen=True)
class ForceStepping(Integrator):
    """Force-stepping by events (Definition 2.1 of the paper, without its Algorithm 2).

    The potential V is replaced by V_h, linear on the simplices of a Kuhn triangulation of configuration space,
    and the motion under V_h is followed exactly: parabolas from face to face. It is symplectic, time-reversible
    and keeps ½ vᵀ M v + V_h(q) to round-off.

    Parameters
    ----------
    grid : float or float64 [dim] or [n, dim]
        Grid size h in m, for all coordinates, for each direction or for each coordinate.
    seed : int, default 0
        Seed of the lattice offset. The offset is drawn at random for every coordinate, so that no initial
        position lies on a lattice plane (a non-transversal start).
    offset : float64 [n, dim] or "random", optional
        The lattice offset in units of the grid size; default: random where not mirrored, otherwise 0.
    mirrored : bool or tuple of bool, one for each direction; default False
        Let cells that are neighbours in these directions be mirror images of each other (Fig. 4 of the paper), with
        lattice planes through the origin unless an offset is given: V_h is then invariant under those reflections of
        these directions that leave V as it is. A body whose nodes lie on such planes and fly alike is a non-transversal
        start; ``offset="random"`` gives each coordinate mirrors of its own.
    axes : float64 [dim, dim], optional
        The directions of the lattice, one unit vector in each row; default: the coordinate axes. An obstacle that
        is much stiffer than the body acts on the scale of the grid as a wall of lattice facets: oblique to the
        axes it is rough, and pushes nodes along the axes, however small h is. With an axis along its normal
        it is smooth, and the rebound converges with h.
    count_crossings : bool, default False
        Count also the simplex crossings that change no force, which the event loop skips. The paper's steps
        are ``events + other_crossings``. Costs O(n) per event.

    Raises
    ------
    ValueError
        If the grid size is not positive.
    """

    grid: float | ArrayLike
    seed: int = 0
    offset: ArrayLike | Literal["random"] | None = None
    axes: ArrayLike | None = None
    mirrored: bool | tuple[bool, ...] = False
    count_crossings: bool = False

    order = 1.5
    conserves = frozenset({"energy", "symplectic form"})
    energy = LATTICE_TOTAL.name
    columns = (
        count_column("events", plotted=True),
        *map(count_column, ("integer_events", "pair_events", "renewals", "other_crossings")),
        count_column("crossings", plotted=True),
        LATTICE_TOTAL,
    )
    symmetric = True
    needs = frozenset({"lattice_functions"})

    def __post_init__(self):
        require_lattice(self.grid, self.offset, self.axes, self.mirrored)
        if self.seed < 0:
            raise ValueError(f"the seed of force-stepping must not be negative; it is {self.seed}.")

    def start(self, system: System, state: State) -> ForceSteppingMotion:
        """Return the motion that begins at a state.

        Raises
        ------
        InvalidSystem
            If the mass is not lumped, a load depends on time, or grid, offset, axes or state have a wrong shape.
        StepFailed
            If the energy is infinite at a lattice vertex next to the initial positions, or cells are too many to count.
        """
        motion = ForceSteppingMotion(self, system, state.t)
        motion._begin(state)
        return motion

    def resume(self, system: System, checkpoint: Mapping[str, np.ndarray]) -> ForceSteppingMotion:
        """Return the motion that goes on from a checkpoint, bit-identically."""
        motion = ForceSteppingMotion(self, system, float(checkpoint.get("t", 0.0)))
        motion._restore(checkpoint)
        return motion

    def _offset(self, mirrored: NDArray[np.bool_]) -> Array:
        """Return the offsets [n, dim] of coordinates that are mirrored, or not."""
        drawn = np.random.default_rng(self.seed).random(mirrored.shape)
        if self.offset is None:
            return np.where(mirrored, 0.0, drawn)
        return drawn if isinstance(self.offset, str) else spread("offset", self.offset, mirrored.shape)


class ForceSteppingMotion(Motion):
    """A motion by force-stepping; see :class:`ForceStepping`."""

    def __init__(self, integrator: ForceStepping, system: System, t: float):
        if system.dim >= layout.LANES:
            raise InvalidSystem(f"{integrator.name} works in 1, 2 or 3 dimensions of space, not in {system.dim}.")
        shape = (system.n_nodes, system.dim)
        self._axes = None if integrator.axes is None else np.asarray(integrator.axes, float)
        if self._axes is not None:
            require_axes(system, self._axes)
        spacing = spread("grid size", integrator.grid, shape).ravel()
        mirrored = spread("mirroring", integrator.mirrored, shape) != 0.0
        self.system = system
        self.integrator = integrator
        self._t = t
        self._stopped = ""  # why the motion cannot go on
        # The tables hold addresses into these arrays: they must live as long as the motion.
        self._functions = lattice_functions(system.energies, system.dim, self._axes)
        stencils = [energy.nodes for energy in system.energies.values()]
        self._tables = interactions(system.n_nodes, stencils, self._functions)
        self._lattice = layout.Lattice(
            spacing=np.array(spacing),  # one that can be written: a loop is compiled for each kind of array
            offset=integrator._offset(mirrored).ravel().astype(float),
            dim=np.uint32(system.dim),
            mirrored=mirrored.ravel(),
        )
        self._tracks = layout.empty_tracks(self._tables, *shape)
        widest = max((nodes.shape[1] for nodes in stencils), default=1)
        self._local = np.zeros(widest * system.dim + layout.LANES)  # all lanes of the last node are written

    # -- Motion ---------------------------------------------------------------------------------------------

    def advance(self, t: float) -> State:
        """Move to the time t in s and return the state there, on the parabola that is current then.

        Raises
        ------
        StepFailed
            If the energy is infinite at a vertex of the simplex just entered (an element would invert), or if
            events pile up at one time.
        """
        self.approach(t, np.inf)
        return self._state(t)

    def approach(self, t: float, seconds: float) -> bool:
        """Move towards the time t in s for about so many seconds of wall time; return whether it is reached.

        Raises
        ------
        StepFailed
            As `advance`.
        """
        require_time("ForceStepping", t, self._t)
        start = perf_counter()
        for _ in self._process_events(t):
            if perf_counter() - start >= seconds:
                break
        return self._t == t

    def _process_events(self, t: float, log: Array = _NO_LOG) -> Iterator[Array]:
        """Process the events to the time t; yield the filled part of the log whenever the loop pauses."""
        if self._stopped:
            raise StepFailed(self._stopped)
        status, i, at = events.PAUSED, 0, self._t
        logged, most = np.zeros(1, np.int64), _EVENTS_AT_FIRST
        while status == events.PAUSED:
            status, i, at = events.advance(
                self._tables,
                self._lattice,
                self._tracks,
                t,
                most,
                True if self.integrator.count_crossings else None,
                True if len(self._tracks.dof) > events.FAR else None,
                log,
                logged,
                self._local,
            )
            if status == events.PAUSED:
                self._t = max(self._t, at)
            elif status == events.REACHED:
                self._t = t
            else:
                self._t = at
                self._raise_failure()
                self._stopped = self._why(status, int(i), at)
                raise StepFailed(self._stopped)
            yield log[: logged[0]]
            logged[0] = 0
            most = min(2 * most, _EVENTS_AT_ONCE)

    def statistics(self) -> dict[str, float]:
        """Return the counts of ``events`` (of which ``integer_events`` and ``pair_events``) and of queue ``renewals``.

        With ``count_crossings`` also ``other_crossings``, and ``crossings``: the steps of the paper's algorithm.
        """
        count = self._tracks.count
        found: dict[str, float] = {
            "events": int(count[layout.INTEGER_EVENTS] + count[layout.PAIR_EVENTS]),
            "integer_events": int(count[layout.INTEGER_EVENTS]),
            "pair_events": int(count[layout.PAIR_EVENTS]),
            "renewals": int(count[layout.RENEWALS]),
        }
        if self.integrator.count_crossings:
            rest = count_rest(self._tables, self._lattice, self._tracks, self._t)
            found["other_crossings"] = int(count[layout.OTHER_CROSSINGS] + rest)
            found["crossings"] = found["events"] + found["other_crossings"]
        return found

    def energies(self, state: State) -> dict[str, float]:
        """Return the energies in J: those of the system, and ``lattice_total`` = K + V_h, which is conserved."""
        found = self.system.energies_of(state)
        found[LATTICE_TOTAL.name] = found["kinetic"] + self.lattice_potential(state.q)
        return found

    def gradient(self, energy: Energy, state: State) -> Array:
        """Return the slopes [m, k, dim] in N of one of the system's energies in the simplex that q is in.

        Kuhn's triangulation cuts the coordinates of each stencil by themselves in the same way, so that the slope of a
        local energy follows from its values along the path of vertices of its own small simplex.
        """
        m, k = energy.nodes.shape
        spacing = self._lattice.spacing.reshape(state.q.shape)[energy.nodes].reshape(m, -1)
        origin = spacing * self.offset[energy.nodes].reshape(m, -1)
        z = self._lattice_coordinates(self._to_axes(state.q))[energy.nodes].reshape(m, -1)
        cell, sign, fraction = layout.place(z, self._mirrored[energy.nodes].reshape(m, -1))
        order = np.argsort(-fraction, axis=1, kind="stable")
        vertex, step = origin + spacing * cell, sign * spacing
        rows = np.arange(m)
        slopes = np.empty_like(z)
        shape = (m, k, self.system.dim)
        before = energy.value(self._from_axes(vertex.reshape(shape)))
        for i in order.T:  # one coordinate after the other goes one grid size on, the largest fraction first
            vertex[rows, i] += step[rows, i]
            after = energy.value(self._from_axes(vertex.reshape(shape)))
            slopes[rows, i] = (after - before) / step[rows, i]
            before = after
        return self._from_axes(slopes.reshape(shape))

    def checkpoint(self) -> dict[str, np.ndarray]:
        """Return all that is needed to go on bit-identically, as a flat mapping of arrays.

        Raises
        ------
        StepFailed
            If the motion has stopped.
        """
        if self._stopped:
            raise StepFailed(self._stopped)
        arrays = self._identity() | self._arrays()
        return {"t": np.array(self._t)} | {name: array.copy() for name, array in arrays.items()}

    # -- beside the interface --------------------------------------------------------------------------------

    def follow(self, t: float) -> Pieces:
        """Move to the time t in s and return all parabolas on the way: the motion itself, exactly.

        It takes some 100 bytes of memory for each event; follow long motions in intervals.

        Raises
        ------
        StepFailed
            As `advance`.
        """
        start, count = self._t, self._tracks.count
        first = int(count[layout.INTEGER_EVENTS] + count[layout.PAIR_EVENTS])
        logged, log = np.zeros(1, np.int64), np.empty((max(len(self._lattice.spacing), 2**14), layout.LOG_COLUMNS))
        events.log_all(log, logged, self._lattice, self._tracks)
        parts = [log[: logged[0]].copy()]
        if not start <= t < np.inf:
            self.advance(t)  # which refuses
        parts += [part.copy() for part in self._process_events(t, log)]
        return Pieces.of(np.concatenate(parts), start, t, first, self.system.n_nodes, self.system.dim)

    def lattice_potential(self, q: Array) -> float:
        """Return V_h(q) in J, the piecewise-linear interpolation of V at the positions q [n, dim] in m."""
        z = self._lattice_coordinates(self._to_axes(q)).ravel()
        total = 0.0
        for energy, functions in zip(self.system.energies.values(), self._functions, strict=True):
            total += lattice_energy(energy.nodes, functions.value, functions.parameters, self._lattice, z)
            functions.raise_failure()
        return total

    @property
    def offset(self) -> Array:
        """The lattice offset [n, dim] in units of the grid size."""
        return self._lattice.offset.reshape(self.system.n_nodes, self.system.dim)

    # -- inside ----------------------------------------------------------------------------------------------

    @property
    def _mirrored(self) -> NDArray[np.bool_]:
        """Whether each coordinate [n, dim] is mirrored."""
        return self._lattice.mirrored.reshape(self.offset.shape)

    def _begin(self, state: State) -> None:
        # Coordinates that do not move are no lattice coordinates: a plane of their own goes through each.
        fixed, q = self.system.fixed, self._to_axes(state.q)
        spacing, tracks = self._lattice.spacing.reshape(q.shape), self._tracks
        self.offset[fixed] = (q / spacing)[fixed]
        z = self._lattice_coordinates(q)
        if np.max(np.abs(z), initial=0.0) > _MOST_CELLS:
            far = int(np.argmax(np.abs(z)))
            raise StepFailed(
                f"ForceStepping cannot start: node {far // self.system.dim} is {abs(z.flat[far]):.3g} grid sizes away "
                f"from the origin (at most {_MOST_CELLS:.3g}). Try a larger grid than {spacing.flat[far]:.3g} m."
            )
        cell, sign, fraction = layout.place(z, self._mirrored)
        tracks.of_dofs(self.system.dim, layout.CELL)[...] = cell
        tracks.of_dofs(self.system.dim, layout.STEP)[...] = sign * spacing
        mass = np.asarray(self.system.mass)[:, None]
        np.divide(1.0, mass * spacing**2, out=tracks.of_dofs(self.system.dim, layout.WEIGHT), where=~fixed)
        track = tracks.track[:, :, : self.system.dim]
        track[:, layout.FRACTION] = np.where(fixed, layout.FIXED, fraction)
        track[:, layout.RATE] = np.where(fixed, 0.0, sign * self._to_axes(state.v) / spacing)
        for first in (0, layout.LANES):
            tracks.site[:, first : first + self.system.dim][fixed] = q[fixed]
        events.begin(self._tables, self._lattice, tracks, state.t)
        self.advance(state.t)

    def _restore(self, checkpoint: Mapping[str, np.ndarray]) -> None:
        missing = [name for name in (*self._identity(), *self._arrays()) if name not in checkpoint]
        if missing:
            raise InvalidSystem(
                f"the checkpoint has no {missing[0]}: it is of another integrator or of another version of symplex. "
                "Start the run anew."
            )
        for name, mine in self._identity().items():
            if not np.array_equal(checkpoint[name], mine):
                raise InvalidSystem(
                    f"the checkpoint belongs to force-stepping on another lattice: its {name} is another."
                )
        for name, array in self._arrays().items():
            if checkpoint[name].shape != array.shape:
                raise InvalidSystem(
                    f"the checkpoint does not belong to this system: {name} has shape {checkpoint[name].shape}, "
                    f"wanted {array.shape}."
                )
            array[...] = checkpoint[name]

    def _identity(self) -> dict[str, np.ndarray]:
        """Return what a checkpoint must have in common with the motion that goes on from it."""
        axes = np.eye(self.system.dim) if self._axes is None else self._axes
        mirrored = self._mirrored
        if mirrored.all() or not mirrored.any():  # as one, which is all that older checkpoints have
            mirrored = mirrored.any()
        return {"grid": self._lattice.spacing, "orientation": axes, "mirrored": np.array(mirrored)}

    def _arrays(self) -> dict[str, np.ndarray]:
        return {"offset": self._lattice.offset, **self._tracks.arrays()}

    def _lattice_coordinates(self, q: Array) -> Array:
        """Return z [n, dim] at positions in the axes of the lattice; 0 where fixed."""
        z = q / self._lattice.spacing.reshape(q.shape) - self.offset
        z[self.system.fixed] = 0.0
        return z

    def _state(self, t: float) -> State:
        tracks, spacing = self._tracks, self._lattice.spacing
        from_cell, rate, accel = layout.lattice_coordinates(tracks, self.system.dim, t - tracks.epoch[0])
        q = spacing * (tracks.of_dofs(self.system.dim, layout.CELL).ravel() + self._lattice.offset + from_cell)
        v, a = spacing * rate, spacing * accel
        shape = (self.system.n_nodes, self.system.dim)
        return State(t, *(self._from_axes(values.reshape(shape)) for values in (q, v, a)))

    def _to_axes(self, x: Array) -> Array:
        return x if self._axes is None else x @ self._axes.T

    def _from_axes(self, x: Array) -> Array:
        return x if self._axes is None else x @ self._axes

    def _raise_failure(self) -> None:
        """Raise what an energy that is evaluated in Python has raised within the loop, if anything."""
        for functions in self._functions:
            if functions.failures:
                self._stopped = f"ForceStepping stopped at t = {self._t:.6g} s: {functions.failures[0]!r}"
                functions.raise_failure()

    def _why(self, status: int, i: int, t: float) -> str:
        node, component = divmod(int(i), self.system.dim)
        direction = "xyz"[component] if self._axes is None else f"of lattice axis {component + 1}"
        place = f"at t = {t:.6g} s, node {node}, direction {direction}"
        h = self._lattice.spacing[i]
        if status == events.INFINITE:
            reason, advice = self._infinite_energy(i)
            return (
                f"ForceStepping stopped {place}: the energy is infinite at a lattice vertex one grid size "
                f"(h = {h:.3g} m) away{reason}. Try a smaller grid, for example {h / 2:.3g} m, or {advice}."
            )
        return f"ForceStepping makes no progress {place}: events pile up at one time. Try {self._another_offset()}."

    def _another_offset(self) -> str:
        method = self.integrator
        drawn = not np.any(method.mirrored) if method.offset is None else isinstance(method.offset, str)
        advice = f"seed = {method.seed + 1}" if drawn else 'offset = "random"'
        return f"another lattice offset ({advice})"

    def _infinite_energy(self, i: int) -> tuple[str, str]:
        """Return which energy is infinite around the vertex that dof i sees, and what to try."""
        from symplex.fem.solids.solid import Solid  # its kernels take time to load

        shape = (self.system.n_nodes, self.system.dim)
        x = layout.vertex_seen(self._tables, self._tracks, self.system.dim, i)
        spacing = self._lattice.spacing.reshape(shape)
        found = infinite_stencil(self.system.energies, self._functions, x, spacing, i)
        if found is None:
            return "", self._another_offset()
        name, stencil = found
        nodes = " and ".join(str(node) for node in self.system.energies[name].nodes[stencil])
        if isinstance(self.system.energies[name], Solid):
            reason = f"; an element of '{name}' (nodes {nodes}) is inverted there"
            return reason, "a finer mesh where the body is crushed"
        return f"; energy '{name}' (nodes {nodes}) has a pole there", self._another_offset()
