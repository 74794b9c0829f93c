"""What every integrator runs against: masses, energies, supports and loads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symplex.base.arguments import checked
from symplex.base.columns import Column, energy_column, total_column, vector_columns
from symplex.base.representation import names, table_html
from symplex.base.sparse import sp
from symplex.errors import InvalidSystem, StepFailed
from symplex.fem.actions.increment_load import Factors, IncrementLoad
from symplex.fem.actions.looped_load import LoopedLoad
from symplex.fem.actions.support_motion import MovingSupports, SupportMotion
from symplex.fem.assembly.named import by_name
from symplex.fem.assembly.nodes import require_nodes
from symplex.fem.assembly.pattern import IntArray, scatter_blocks
from symplex.fem.energies.differentiable_load import DifferentiableLoad
from symplex.fem.energies.energy import Array, Energy
from symplex.fem.energies.inelastic import Inelastic
from symplex.fem.masses import Masses
from symplex.fem.state import State as State
from symplex.fem.structures.frames import Frames, has_couplings, require_frames
from symplex.fem.structures.joints import Connection, JointReaction, Joints

if TYPE_CHECKING:
    from symplex.meshes.pictures.picture import Picture
    from symplex.meshes.pictures.view import View

# A load: f(t, q, v) -> nodal forces [n, dim] in N. What has a potential is an Energy instead.
Load = Callable[[float, Array, Array], Array]

MOMENTA = (
    *vector_columns("momentum", "kg m/s", "momentum", plot="linear momentum", summary="drift"),
    *vector_columns("angular_momentum", "kg m²/s", "momentum", plot="angular momentum", summary="drift"),
)

_ENERGIES = "Constraints are for methods, or energies as Penalty(constraint, stiffness); loads go to loads."
_LOADS = "A load is a function f(t, q, v) of forces [n, dim]; what has a potential, as Gravity, goes to the energies."
_INELASTIC = "Take Viscoelastic, or a custom Inelastic."
_JOINTS = "Take Joint(kind, bodies, points, at, axis)."
_MOVING = "Take SupportTranslation, SupportRotation, or a custom SupportMotion."


@partial(checked, but=("energies", "loads", "inelastic", "moving"))
class System(Masses):
    """M a + ∇V(q) = f(t, q, v), with V a sum of named energies.

    Parameters
    ----------
    mass : float64 [n] or sparse [n, n]
        Lumped nodal masses or the consistent mass matrix (one row per node, the same for each direction), in kg.
    energies : mapping of str to Energy
        The parts of V, by name.
    dim : int, default 3
        Dimension of space.
    fixed : bool [n, dim], optional
        True where a coordinate does not move.
    loads : mapping of str to Load, optional
        Forces that depend on time or velocity, by name.
    inelastic : mapping of str to Inelastic, optional
        Parts with internal variables, such as the overstress of viscoelastic bodies, by name.
    moving : mapping of str to SupportMotion, optional
        Supports whose motion is given as a function of time, by name.
    massless : bool [n], optional
        True where a node has no inertia: its mass must be zero, as that of all others must be positive. Only methods
        that declare it take such nodes. In a consistent mass their rows and columns must be zero.
    frames : Frames, optional
        Groups of nodes that are rigid. Only methods that declare it take them.
    joints : mapping of str to Joint or Coupling, optional
        Between frames, frames and the ground, or frames and nodes, by name. Only methods that declare it take them.

    Raises
    ------
    InvalidSystem
        If sizes do not match, a mass is not positive, or a coordinate is both fixed and moved.

    Attributes
    ----------
    fixed : bool [n, dim]
        True where no equation is solved: the coordinates that do not move, and those of supports that do.
    moving : MovingSupports
    """

    def __init__(
        self,
        mass: ArrayLike | sp.csr_array,
        energies: Mapping[str, Energy],
        *,
        dim: int = 3,
        fixed: NDArray[np.bool_] | None = None,
        loads: Mapping[str, Load] | None = None,
        inelastic: Mapping[str, Inelastic] | None = None,
        moving: Mapping[str, SupportMotion] | None = None,
        massless: NDArray[np.bool_] | None = None,
        frames: Frames | None = None,
        joints: Mapping[str, Connection] | None = None,
    ):
        super().__init__(mass, by_name("energies", energies, Energy, _ENERGIES), dim, fixed, massless)
        self.loads = by_name("loads", {} if loads is None else loads, Callable, _LOADS)  # pyright: ignore[reportArgumentType]
        self.inelastic = by_name("inelastic", {} if inelastic is None else inelastic, Inelastic, _INELASTIC)
        self._check()
        motions = by_name("moving", {} if moving is None else moving, SupportMotion, _MOVING)
        self.moving = MovingSupports(motions, self.fixed)
        self.fixed |= self.moving.mask
        self.frames = frames
        if frames is not None:
            require_frames(frames, self)
        self.joints = Joints(by_name("joints", {} if joints is None else joints, Connection, _JOINTS), frames)
        if self.joints and frames is not None and has_couplings(self, frames.nodes):
            raise InvalidSystem("joints must be of frames with lumped masses; these are consistent. Take lumped ones.")
        self.joints.require_movable(self)
        named = [
            *(("a load", name) for name in self.loads),
            *(("an inelastic part", name) for name in self.inelastic),
            *(("a moving support", name) for name in self.moving.motions),
            *(("a joint", name) for name in self.joints),
        ]
        kinds: dict[str, str] = {}
        for kind, name in named:
            if name in kinds:
                raise InvalidSystem(f"there is both {kinds[name]} and {kind} called '{name}'.")
            kinds[name] = kind

    def _check(self) -> None:
        for name, energy in self.energies.items():
            require_nodes(f"energy '{name}'", energy.nodes, self.n_nodes)
        for name, part in self.inelastic.items():
            require_nodes(f"inelastic part '{name}'", part.nodes, self.n_nodes)
        for name, load in self.loads.items():
            if isinstance(load, DifferentiableLoad):
                require_nodes(f"load '{name}'", load.nodes, self.n_nodes)
            if isinstance(load, IncrementLoad) and all(load.energy is not energy for energy in self.energies.values()):
                raise InvalidSystem(
                    f"load '{name}' ({type(load).__name__}) follows from a {type(load.energy).__name__} that is not "
                    "one of the system's energies; add that, the same object."
                )

    def __repr__(self) -> str:
        return f"System({'; '.join(f'{name} {value}' for name, value in self._rows())})"

    def _repr_html_(self) -> str:
        return table_html("System", self._rows())

    def _rows(self) -> list[tuple[str, str]]:
        """Return what the system is made of, as a table for people."""
        mass = "lumped" if self.is_lumped else "consistent"
        rows = [
            ("nodes", f"{self.n_nodes:,} in {self.dim} dimensions"),
            ("mass", f"{self.mass.sum():.6g} kg, {mass}"),
            ("energies", names(f"{name} ({type(energy).__name__})" for name, energy in self.energies.items())),
            ("fixed", f"{int(self.fixed.sum()):,} coordinates"),
        ]
        rows += [("frames", f"{len(self.frames):,}")] if self.frames else []
        parts_by_name = {"loads": self.loads, "moving supports": self.moving.motions, "joints": self.joints}
        for what, parts in parts_by_name.items():
            rows += [(what, names(parts))] if parts else []
        return rows

    def with_parts(
        self,
        energies: Mapping[str, Energy],
        loads: Mapping[str, Load] | None = None,
        inelastic: Mapping[str, Inelastic] | None = None,
        *,
        at_rest: bool = False,
    ) -> System:
        """Return a system of the same nodes, supports, frames and joints with other energies, loads or inelastic parts.

        Loads and inelastic parts stay as they are where none are given. At rest, supports that move are held.
        """
        return System(
            self.mass,
            energies,
            dim=self.dim,
            fixed=self.fixed if at_rest else self.fixed & ~self.moving.mask,
            loads=self.loads if loads is None else loads,
            inelastic=self.inelastic if inelastic is None else inelastic,
            moving=None if at_rest else self.moving.motions,
            massless=self.massless,
            frames=self.frames,
            joints=self.joints,
        )

    def plot(self, state: State, field: str | None = None, view: View | None = None) -> Picture:
        """Return a picture of its solids, bars and other parts at a state, which notebooks show.

        Solids are drawn as their elements, energies of two nodes as lines, and where there are neither all nodes; nodes
        that are held or moved by supports as points.

        Parameters
        ----------
        state : State
            Where its nodes are.
        field : {"speed", "acceleration"}, optional
            What colours show; default: each part in its own colour.
        view : View, optional

        Raises
        ------
        RenderError
            If nothing can be drawn here, or there is no such field.
        """
        from symplex.fem.pictures import picture_of_system

        # A checker of this file alone takes its class for another than that of the package.
        return picture_of_system(self, state, field, view)  # pyright: ignore[reportArgumentType]

    # -- forces of loads --------------------------------------------------------------------------------------

    def _other_stencils(self) -> list[IntArray]:
        """Return the stencils of loads that have derivatives, of inelastic parts, and the couplings of the mass."""
        stencils = [part.nodes for part in (*self.differentiable_loads, *self.inelastic.values())]
        stencils += [self.joints.stencils] if self.joints else []
        if not self.is_lumped:
            couplings = sp.triu(self.mass, 1, format="coo")
            stencils.append(np.column_stack([couplings.row, couplings.col]).astype(np.int32))
        return stencils

    @cached_property
    def differentiable_loads(self) -> list[DifferentiableLoad | IncrementLoad]:
        """The loads that have derivatives."""
        return [load for load in self.loads.values() if isinstance(load, DifferentiableLoad | IncrementLoad)]

    @cached_property
    def increment_loads(self) -> list[IncrementLoad]:
        """The loads that see both ends of an increment."""
        return [load for load in self.loads.values() if isinstance(load, IncrementLoad)]

    def load_over(self, load: Load, t: float, ends: tuple[Array, Array], v: Array) -> Array:
        """Return the forces [n, dim] in N of a load on an increment, at the middle unless it sees both ends."""
        return load.over(t, *ends, v) if isinstance(load, IncrementLoad) else load(t, 0.5 * (ends[0] + ends[1]), v)

    def add_load_derivatives(
        self,
        t: float,
        q: Array,
        v: Array,
        by_q: float,
        by_v: float,
        out: Array,
        ends: tuple[Array, Array] | None = None,
        secant: bool = False,
        slip: tuple[Array, float] | None = None,
    ) -> None:
        """Add by_q ∂f/∂q + by_v ∂f/∂v of the loads that have derivatives to the blocks out [nnz, dim, dim].

        Parameters
        ----------
        t, q, v
            Time in s, positions and velocities [n, dim].
        by_q, by_v : float
            Factors, the second in 1/s if the sum is to be in N/m.
        out : float64 [nnz, dim, dim]
            Blocks on `pattern`.
        ends : (float64 [n, dim], float64 [n, dim]), optional
            Of the increment with the middle q, for loads that see both.
        secant : bool, default False
            Whether these give secants with the velocity (see `Factors`).
        slip : (float64 [n, dim], float), optional
            Velocities and by_v of these, where they are others.
        """
        slots = self.pattern.slots[len(self.energies) :]
        for load, places in zip(self.differentiable_loads, slots, strict=False):
            if isinstance(load, IncrementLoad):
                of_slip, by_slip = (v, by_v) if slip is None else slip
                both = (q, q) if ends is None else ends
                load.add_derivatives(t, both, of_slip, Factors(by_q, by_slip, secant), places, out)
                continue
            if isinstance(load, LoopedLoad):
                load.add_derivatives(t, q, v, by_q, by_v, places, out)
                continue
            f_q, f_v = load.derivatives(t, q[load.nodes], v[load.nodes])
            scatter_blocks(by_q * f_q + by_v * f_v, places, out)

    def inelastic_slots(self) -> dict[str, IntArray]:
        """Return the places [m, k, k] of the stencils of inelastic parts on `pattern`, by name."""
        first = len(self.energies) + len(self.differentiable_loads)
        return dict(zip(self.inelastic, self.pattern.slots[first:], strict=False))

    def joint_slots(self) -> IntArray:
        """Return the places [joints, 8, 8] of the particles of joints on `pattern`."""
        return self.pattern.slots[len(self.energies) + len(self.differentiable_loads) + len(self.inelastic)]

    # -- elements that go -------------------------------------------------------------------------------------

    def gone(self, internal: Mapping[str, Array]) -> dict[str, NDArray[np.bool_]]:
        """Return which elements [m] of the parts that erode are gone, by name, given internal variables."""
        return {name: part.gone(internal[name]) for name, part in self.inelastic.items() if part.erodes}

    def expose(self, internal: Mapping[str, Array], q: Array) -> list[tuple[str, int, float]]:
        """Let energies follow elements that are gone, at positions q [n, dim]; return what of theirs is lost in J.

        It counts in one of the elements of a part: its name, which one, and the energy.
        """
        if not (self.changing and any(part.erodes for part in self.inelastic.values())):
            return []
        gone = self.gone(internal)
        lost = self._following(gone, q)
        if lost is None:
            return []
        name = next(name for name, which in gone.items() if which.any())
        return [(name, int(np.argmax(gone[name])), lost)]

    def _following(self, gone: Mapping[str, NDArray[np.bool_]], q: Array) -> float | None:
        """Let energies follow elements that are gone; return by how much in J they decrease, None if none follows."""
        following = [energy for energy in self.changing.values() if energy.follows(gone)]
        if not following:
            return None
        before = sum(energy.total(q) for energy in following)
        self.follow(gone)
        return before - sum(energy.total(q) for energy in following)

    def force(
        self,
        t: float,
        q: Array,
        v: Array,
        out: Array | None = None,
        internal: Mapping[str, Array] = MappingProxyType({}),
    ) -> Array:
        """Return f(t, q, v) − ∇V(q) [n, dim] in N (into ``out`` if given), zero at fixed coordinates.

        Inelastic parts are those of given internal variables.
        """
        out = self.gradient(q, out)
        np.negative(out, out=out)
        for name, load in self.loads.items():
            applied = load(t, q, v)
            if np.shape(applied) != out.shape:
                raise InvalidSystem(f"load '{name}' has shape {np.shape(applied)}, expected {out.shape}.")
            if not np.isfinite(applied).all():
                raise StepFailed(f"load '{name}' is not finite at t = {t:.6g} s.")
            out += applied
        for name, part in self.inelastic.items():
            out += part.force(q, internal[name], q, 0.0)
        if self.has_supports:
            out[self.fixed] = 0.0
        return out

    def reactions(self, state: State) -> Array:
        """Return the forces R = M a + ∇V − f [n, dim] in N of the supports on the system, zero elsewhere.

        Constraints that a method keeps are not seen: what they pull at supports comes off, see the
        ``constraint_forces`` of its motion. Nor are joints, see `joint_reactions`.
        """
        out = self.apply_mass(state.a) + self.gradient(state.q)
        for load in self.loads.values():
            out -= load(state.t, state.q, state.v)
        for name, part in self.inelastic.items():
            out -= part.force(state.q, state.internal[name], state.q, 0.0)
        out[~self.fixed] = 0.0
        return out

    def joint_reactions(self, state: State) -> dict[str, JointReaction]:
        """Return force and moment of each joint on its first body at a state, by name.

        They are those of the state itself, for which all conditions of joints stay satisfied; of an equilibrium,
        without velocities and accelerations, they are in balance with all other forces.
        """
        if not self.joints or self.frames is None:
            return {}
        force = self.force(state.t, state.q, state.v, internal=state.internal)
        a = self._accelerations_of_frames(state.t, force, state.q, state.v)
        at_rest = not (state.v.any() or state.a.any())
        return self.joints.at(state.t).reactions(self, state.q, state.v, a, at_rest)

    def _accelerations_of_frames(self, t: float, force: Array, q: Array, v: Array) -> Array:
        """Return the accelerations [n, 3] of a system with frames, but for what joints change."""
        assert self.frames is not None, "it has frames"
        a = self.frames.accelerations(self, force, q, v)
        return a + self.moving.accelerations(t) if self.moving else a

    @cached_property
    def has_supports(self) -> bool:
        """Whether any coordinate is fixed or moved by a support."""
        return bool(self.fixed.any())

    def held(self, t: float, v: Array) -> Array:
        """Return the velocities v [n, dim] in m/s with those of the supports at the time t in s, at rest or moving."""
        v = np.where(self.fixed, 0.0, v)
        return v + self.moving.velocities(t) if self.moving else v

    def accelerations_at(
        self, t: float, q: Array, v: Array, internal: Mapping[str, Array] = MappingProxyType({})
    ) -> Array:
        """Return the accelerations [n, dim] in m/s² at a time, positions and velocities, those of supports as given.

        Inelastic parts are those of given internal variables.
        """
        force = self.force(t, q, v, internal=internal)
        if self.frames is not None:
            a = self._accelerations_of_frames(t, force, q, v)
            return self.joints.at(t).accelerations(self, q, v, a) if self.joints else a
        return self.response(force, self.moving.accelerations(t)) if self.moving else self.accelerations(force)

    # -- what is conserved ----------------------------------------------------------------------------------

    def energies_of(self, state: State) -> dict[str, float]:
        """Return the energies in J: ``kinetic``, one entry per named energy, ``stored_NAME`` of each inelastic part.

        And ``total``, their sum.
        """
        parts = {"kinetic": self.kinetic(state.v)} | self.potentials(state.q)
        parts |= {f"stored_{k}": part.stored(state.q, state.internal[k]) for k, part in self.inelastic.items()}
        parts["total"] = sum(parts.values())
        return parts

    @property
    def columns(self) -> tuple[Column, ...]:
        """What histories have of any motion of it: energies, momenta, and what energies report, each name once."""
        reported = {column.name: column for part in self.energies.values() for column in part.columns}
        return (
            energy_column("kinetic"),
            *map(energy_column, self.energies),
            *(energy_column(f"stored_{name}") for name in self.inelastic),
            total_column("total"),
            *MOMENTA,
            *reported.values(),
            *(column for name, part in self.inelastic.items() for column in part.columns(name)),
            *(column for name, joint in self.joints.items() for column in joint.columns(name)),
        )

    def observed(self, state: State, gradient: Callable[[Energy, State], Array]) -> dict[str, float]:
        """Return what energies report of a state, by column.

        Parameters
        ----------
        state : State
        gradient : callable
            Returns ∂φ/∂x of an energy as it acts, as `Motion.gradient`.

        Raises
        ------
        InvalidSystem
            If a part shows something else than it declares.
        """
        parts = {name: part for name, part in self.energies.items() if part.columns}
        found = self.reports_of({name: part.observed(state, gradient(part, state)) for name, part in parts.items()})
        for name, part in self.inelastic.items():
            found |= part.observed(name, state.internal[name]) if part.columns(name) else {}
        for name, reaction in self.joint_reactions(state).items():
            found |= self.joints[name].observed(name, state.q, reaction)
        return found

    def reports_of(self, parts: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
        """Return what energies report by column, given what each of them shows by its name.

        Raises
        ------
        InvalidSystem
            If a part shows something else than it declares.
        """
        found: dict[str, float] = {}
        for name, reported in parts.items():
            part = self.energies[name]
            if reported.keys() != {column.name for column in part.columns}:
                raise InvalidSystem(
                    f"energy '{name}' ({type(part).__name__}) reports {', '.join(reported) or 'nothing'} of a state, "
                    f"but "
                    f"its columns are {', '.join(column.name for column in part.columns)}."
                )
            for column in part.columns:
                value, before = reported[column.name], found.get(column.name)
                if before is not None:
                    value = column.of_parts((before, value))
                found[column.name] = value
        return found

    @checked
    def state(
        self,
        q: ArrayLike,
        v: ArrayLike | None = None,
        t: float = 0.0,
        internal: Mapping[str, ArrayLike] | None = None,
    ) -> State:
        """Return the state at the positions q and velocities v (default: at rest) with its accelerations.

        Parameters
        ----------
        q : float64 [n, dim]
            Positions in m.
        v : float64 [n, dim] or [dim], optional
            Velocities in m/s, or one for all nodes; those of supports are set to what they are.
        t : float, default 0
            Time in s.
        internal : mapping of str to float64, optional
            Internal variables of inelastic parts, by name; default: those that don't change at these positions.

        Raises
        ------
        InvalidSystem
            If sizes do not match, a number is not finite, or there is no inelastic part of a name.
        """
        shape = (self.n_nodes, self.dim)
        q = np.array(q, dtype=float, order="C")
        v = np.zeros(shape) if v is None else np.array(v, dtype=float, order="C")
        if q.shape != shape:
            raise InvalidSystem(f"positions have shape {self._shape_and_required(q)}")
        if v.shape not in (shape, shape[1:]):
            raise InvalidSystem(f"velocities have shape {v.shape}, expected {shape} or {shape[1:]}.")
        v = np.broadcast_to(v, shape)
        for name, values in (("positions", q), ("velocities", v)):
            if not np.isfinite(values).all():
                node = int(np.argwhere(~np.isfinite(values))[0, 0])
                raise InvalidSystem(f"{name} must be finite; that of node {node} is {values[node]}.")
        v = self.held(t, v)
        found = self._internal_variables(q, {} if internal is None else internal)
        return State(float(t), q, v, self.accelerations_at(t, q, v, found), internal=found)

    def _internal_variables(self, q: Array, given: Mapping[str, ArrayLike]) -> dict[str, Array]:
        """Return the internal variables of all inelastic parts, those that are given and the others relaxed."""
        unknown = [name for name in given if name not in self.inelastic]
        if unknown:
            known = ", ".join(map(repr, self.inelastic)) or "none"
            raise InvalidSystem(
                f"internal variables are given of '{unknown[0]}', which is no inelastic part; there are {known}."
            )
        found: dict[str, Array] = {}
        for name, part in self.inelastic.items():
            z = np.array(given[name], dtype=float, order="C") if name in given else part.relaxed(q)
            if z.shape != part.shape:
                raise InvalidSystem(f"the internal variables of '{name}' have shape {z.shape}, expected {part.shape}.")
            if not np.isfinite(z).all():
                raise InvalidSystem(f"the internal variables of '{name}' must be finite.")
            found[name] = z
        return found
