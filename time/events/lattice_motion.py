"""A motion by force-stepping: its lattice and tables, what moves, and what is reported of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from symplex.errors import InvalidSystem, StepFailed
from symplex.fem.energies.contact_energy import contact_of
from symplex.fem.energies.energy import Array, Energy
from symplex.fem.system import State, System
from symplex.time.events import lattice_events as events, lattice_tracks as layout
from symplex.time.events.infinite_energy import infinite_energy
from symplex.time.events.lattice_choice import require_axes, spread
from symplex.time.events.lattice_crossings import count_rest
from symplex.time.events.lattice_energy import lattice_slopes
from symplex.time.events.pieces import Pieces
from symplex.time.events.stencil_lists import StencilLists
from symplex.time.motion import Motion, require_time
from symplex.time.totals import LATTICE_TOTAL

if TYPE_CHECKING:
    from symplex.time.events.force_stepping import ForceStepping

# Between two looks at the outside world (Ctrl-C, the time that is spent): a tenth of a second or two at most.
_EVENTS_AT_ONCE, _EVENTS_AT_FIRST = 200_000, 4_096
_MOST_CELLS = 2.0**29
_NO_LOG = np.empty((0, layout.LOG_COLUMNS))
_LISTED_AT = "listed at"  # in a checkpoint: where stencils that change have been found
_LOOKS = 64  # at the way since then, where something seems to have passed through


class ForceSteppingMotion(Motion):
    """A motion by force-stepping; see `symplex.time.events.force_stepping.ForceStepping`."""

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
        self._lattice = layout.Lattice(
            spacing=np.array(spacing),  # one that can be written: a loop is compiled for each kind of array
            offset=integrator._offset(mirrored).ravel().astype(float),
            dim=np.uint32(system.dim),
            mirrored=mirrored.ravel(),
            bounds=np.empty((0, 2)),
        )
        self._lists = StencilLists(system, self._axes, spacing.reshape(shape))
        self._tracks = layout.empty_tracks(self._lists.tables, *shape)
        self._last_search: Mapping[str, np.ndarray] = {}  # the checkpoint at that time, if a crossing is looked for
        widest = max((energy.nodes.shape[1] for energy in system.energies.values()), default=1)
        self._local = np.zeros(widest * system.dim + layout.LANES)  # all lanes of the last node are written

    # -- Motion ---------------------------------------------------------------------------------------------

    def advance(self, t: float) -> State:
        """Move to the time t in s and return the state there, on the parabola that is current then."""
        self.approach(t, np.inf)
        state = self._state(t)
        self.system.update_neighbours(state.q)  # for those who look at its energies there
        return state

    def approach(self, t: float, seconds: float) -> bool:
        """Move towards the time t in s for about so many seconds of wall time; return whether it is reached."""
        require_time("ForceStepping", t, self._t)
        start = perf_counter()
        for _ in self._process_events(t):
            if perf_counter() - start >= seconds:
                break
        if self._last_search:
            self._require_no_crossing(self._state(self._t).q)
        return self._t == t

    def _process_events(self, t: float, log: Array = _NO_LOG) -> Iterator[Array]:
        """Process the events to the time t; yield the filled part of the log whenever the loop pauses."""
        if self._stopped:
            raise StepFailed(self._stopped)
        status, i, at = events.PAUSED, 0, self._t
        logged, most = np.zeros(1, np.int64), _EVENTS_AT_FIRST
        while status == events.PAUSED:
            status, i, at = events.advance(
                self._lists.tables,
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
            elif status == events.LEFT:
                self._t = at
                self._renew()
                status = events.PAUSED
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

        Where stencils change also ``searches``: how often they were looked for. With ``count_crossings`` also
        ``other_crossings``, and ``crossings``: the steps of the paper's algorithm.
        """
        count = self._tracks.count
        found: dict[str, float] = {
            "events": int(count[layout.INTEGER_EVENTS] + count[layout.PAIR_EVENTS]),
            "integer_events": int(count[layout.INTEGER_EVENTS]),
            "pair_events": int(count[layout.PAIR_EVENTS]),
            "renewals": int(count[layout.RENEWALS]),
        }
        if self._lists.changing:
            found["searches"] = int(self._lists.searches)
        if self.integrator.count_crossings:
            rest = count_rest(self._lists.tables, self._lattice, self._tracks, self._t)
            found["other_crossings"] = int(count[layout.OTHER_CROSSINGS] + rest)
            found["crossings"] = found["events"] + found["other_crossings"]
        return found

    def energies(self, state: State) -> dict[str, float]:
        """Return the energies in J: those of the system, and ``lattice_total`` = K + V_h, which is conserved."""
        found = self.system.energies_of(state)
        found[LATTICE_TOTAL.name] = found["kinetic"] + self.lattice_potential(state.q)
        return found

    def gradient(self, energy: Energy, state: State) -> Array:
        """Return the slopes [m, k, dim] in N of one of the system's energies in the simplex that q is in."""
        z = self._lattice_coordinates(self._to_axes(state.q))
        return self._from_axes(lattice_slopes(energy, self._lattice, z, self._from_axes))

    def checkpoint(self) -> dict[str, np.ndarray]:
        """Return all that is needed to go on bit-identically, as a flat mapping of arrays."""
        if self._stopped:
            raise StepFailed(self._stopped)
        arrays = self._identity() | self._arrays()
        return {"t": np.array(self._t)} | {name: array.copy() for name, array in arrays.items()}

    # -- next to the interface --------------------------------------------------------------------------------

    def follow(self, t: float) -> Pieces:
        """Move to the time t in s and return all parabolas on the way: the motion itself, exactly.

        It takes some 100 bytes of memory for each event; follow long motions in intervals.
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
        return self._lists.potential(self._lattice, q, self._lattice_coordinates(self._to_axes(q)).ravel())

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
        spacing = self._lattice.spacing.reshape(q.shape)
        self.offset[fixed] = (q / spacing)[fixed]
        z = self._lattice_coordinates(q)
        if np.max(np.abs(z), initial=0.0) > _MOST_CELLS:
            far = int(np.argmax(np.abs(z)))
            raise StepFailed(
                f"ForceStepping cannot start: node {far // self.system.dim} is {abs(z.flat[far]):.3g} grid sizes away "
                f"from the origin (at most {_MOST_CELLS:.3g}). Try a larger grid than {spacing.flat[far]:.3g} m."
            )
        self._find_stencils(state.q)
        cell, sign, fraction = layout.place(z, self._mirrored)
        self._set_out(cell, sign * spacing, fraction, sign * self._to_axes(state.v) / spacing, q)
        self._remember()
        self.advance(state.t)

    def _set_out(self, cell: Array, step: Array, fraction: Array, rate: Array, q: Array) -> None:
        """Let new tracks begin at the present time, with gradients that are recomputed.

        ``CELL``, ``STEP``, ``FRACTION`` and ``RATE`` [n, dim] of `layout.Tracks`; positions in the axes of the lattice,
        of which those that do not move are needed.
        """
        dim, fixed = self.system.dim, self.system.fixed
        self._tracks = tracks = layout.empty_tracks(self._lists.tables, *q.shape)
        tracks.of_dofs(dim, layout.CELL)[...] = cell
        tracks.of_dofs(dim, layout.STEP)[...] = step
        weight = tracks.of_dofs(dim, layout.WEIGHT)
        np.divide(1.0, np.asarray(self.system.mass)[:, None] * step**2, out=weight, where=~fixed)
        track = tracks.track[:, :, :dim]
        track[:, layout.FRACTION] = np.where(fixed, layout.FIXED, fraction)
        track[:, layout.RATE] = np.where(fixed, 0.0, rate)
        for first in (0, layout.LANES):
            tracks.site[:, first : first + dim][fixed] = q[fixed]
        events.begin(self._lists.tables, self._lattice, tracks, self._t)

    def _require_no_crossing(self, q: Array) -> None:
        """Check that nothing has passed through since stencils were found, on the way to the present positions.

        The straight way is looked at first, which cuts corners; if something is in it, the way itself.
        """
        if not self._last_search or not self._passed(self._lists.list_positions, q):
            return
        again = ForceSteppingMotion(self.integrator, self.system, float(self._last_search["t"]))
        again._restore(self._last_search)
        again._last_search = {}
        pieces = again.follow(self._t)
        positions = [self._from_axes(x) for x in pieces.at(np.linspace(pieces.t0, pieces.t1, _LOOKS + 1))[0]]
        for before, after in pairwise(positions):
            if what := self._passed(before, after):
                self._stopped = (
                    f"ForceStepping stopped at t = {self._t:.6g} s: {what}. Try a smaller grid, or a stiffer contact."
                )
                raise StepFailed(self._stopped)

    def _remember(self) -> None:
        """Keep the motion as it is now, if something must not pass through something else from here on."""
        if self.system.collision_checked and self._lists.changing:
            self._last_search = self.checkpoint()

    def _passed(self, before: Array, after: Array) -> str | None:
        """Return what has passed through on the straight way from one to the other positions [n, dim], if anything."""
        found = (contact_of(energy).find_penetration(before, after) for energy in self._lists.changing.values())
        return next((what for what in found if what), None)

    def _find_stencils(self, q: Array) -> bool:
        """Find the stencils that change at the positions q [n, dim]; return whether tracks have to begin again."""
        if not self._lists.changing:
            return False
        new = self._lists.find(q)
        bounds = self._lists.bounds(self._lattice_coordinates(self._to_axes(q)), self._mirrored)
        self._lattice = self._lattice._replace(bounds=bounds)
        return new

    def _renew(self) -> None:
        """Find the stencils again at the present time, at which a coordinate has left its bounds."""
        q, dim, before = self._state(self._t).q, self.system.dim, self._tracks
        self._require_no_crossing(q)
        tables = self._lists.tables
        if self._find_stencils(q):
            # What is in cells, and to which side, stays as it is: rounding can't take a coordinate out of its cell.
            fraction, rate, accel, start = before.parabolas(dim).reshape(4, *q.shape)
            tau = self._t - before.epoch[0] - start
            fraction = np.clip(fraction + tau * (rate + 0.5 * tau * accel), 0.0, 1.0)
            cell, step = before.of_dofs(dim, layout.CELL), before.of_dofs(dim, layout.STEP)
            self._set_out(cell, step, fraction, rate + tau * accel, self._to_axes(q))
            if self.integrator.count_crossings:
                before.count[layout.OTHER_CROSSINGS] += count_rest(tables, self._lattice, before, self._t)
            self._tracks.count[: layout.SINCE_EPOCH] = before.count[: layout.SINCE_EPOCH]
        self._remember()

    def _restore(self, checkpoint: Mapping[str, np.ndarray]) -> None:
        missing = [name for name in (*self._identity(), *self._arrays()) if name not in checkpoint]
        if missing:
            raise InvalidSystem(
                f"the checkpoint has no {missing[0]}: it is of another integrator or of another version of symplex. "
                "Start the run again."
            )
        for name, mine in self._identity().items():
            if not np.array_equal(checkpoint[name], mine):
                raise InvalidSystem(
                    f"the checkpoint belongs to force-stepping on another lattice: its {name} is another."
                )
        self._lattice.offset[...] = _stored("offset", self._lattice.offset, checkpoint)
        if self._lists.changing:
            self._find_stencils(_stored(_LISTED_AT, self.offset, checkpoint).copy())
            self._lists.searches[...] = _stored("searches", self._lists.searches, checkpoint)
            self._tracks = layout.empty_tracks(self._lists.tables, *self.offset.shape)
        for name, array in self._tracks.arrays().items():
            array[...] = _stored(name, array, checkpoint)
        self._remember()

    def _identity(self) -> dict[str, np.ndarray]:
        """Return what a checkpoint must have in common with the motion that goes on from it."""
        axes = np.eye(self.system.dim) if self._axes is None else self._axes
        mirrored = self._mirrored
        if mirrored.all() or not mirrored.any():  # as one, which is all that older checkpoints have
            mirrored = mirrored.any()
        return {"grid": self._lattice.spacing, "orientation": axes, "mirrored": np.array(mirrored)}

    def _arrays(self) -> dict[str, np.ndarray]:
        lists = self._lists
        listed = {_LISTED_AT: lists.list_positions, "searches": lists.searches} if lists.changing else {}
        return {"offset": self._lattice.offset, **self._tracks.arrays(), **listed}

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
        for functions in self._lists.functions.values():
            if functions.failures:
                self._stopped = f"ForceStepping stopped at t = {self._t:.6g} s: {functions.failures[0]!r}"
                functions.raise_failure()

    def _why(self, status: int, i: int, t: float) -> str:
        node, component = divmod(int(i), self.system.dim)
        direction = "xyz"[component] if self._axes is None else f"of lattice axis {component + 1}"
        place = f"at t = {t:.6g} s, node {node}, direction {direction}"
        h = self._lattice.spacing[i]
        if status == events.INFINITE:
            x = layout.vertex_seen(self._lists.tables, self._tracks, self.system.dim, i)
            reason, advice = infinite_energy(self._lists, x, self._lattice.spacing.reshape(self.offset.shape), i)
            return (
                f"ForceStepping stopped {place}: the energy is infinite at a lattice vertex one grid size "
                f"(h = {h:.3g} m) away{reason}. Try a smaller grid, for example {h / 2:.3g} m, or "
                f"{advice or self._another_offset()}."
            )
        return f"ForceStepping makes no progress {place}: events pile up at one time. Try {self._another_offset()}."

    def _another_offset(self) -> str:
        method = self.integrator
        drawn = not np.any(method.mirrored) if method.offset is None else isinstance(method.offset, str)
        advice = f"seed = {method.seed + 1}" if drawn else 'offset = "random"'
        return f"another lattice offset ({advice})"


def _stored(name: str, like: Array, checkpoint: Mapping[str, np.ndarray]) -> Array:
    """Return an array of a checkpoint that must have the shape of another one."""
    if checkpoint[name].shape != like.shape:
        raise InvalidSystem(
            f"the checkpoint does not belong to this system: {name} has shape {checkpoint[name].shape}, expected "
            f"{like.shape}."
        )
    return checkpoint[name]
