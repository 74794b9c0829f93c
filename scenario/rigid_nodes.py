"""What is rigid and has its own nodes, after those of bodies, and points that follow nodes: contact is of points.

Rigid are obstacles that move, and rigid bodies. The meshes of these, and the skins of beams and shells, are points that
follow nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symplex.base.quantities import ZERO, Triple
from symplex.base.sparse import sp
from symplex.contact.framed import MovingObstacleContact
from symplex.contact.rigid import ObstacleContact, RigidContact
from symplex.contact.rigid_bodies import RigidBodies
from symplex.contact.rigid_body import RigidBody, motion_of
from symplex.contact.solid_obstacles import obstacle_mass
from symplex.contact.spline_surfaces import SplineContact, SplineSurface
from symplex.contact.surfaces import Surface
from symplex.errors import ScenarioError
from symplex.fem.actions.support_motion import SupportMotion
from symplex.fem.couplings.equations import LinearConstraints
from symplex.fem.couplings.interpolation import ChangingInterpolatedEnergy, InterpolatedEnergy, Interpolation
from symplex.fem.energies.energy import Array, Energy, IntArray
from symplex.fem.mass_properties import MassProperties
from symplex.fem.structures.rigidity import Rigidity
from symplex.scenario.actions import Support
from symplex.scenario.methods import IntegratorTable
from symplex.scenario.obstacles import ShapedTable, SphereTable, obstacle_of
from symplex.scenario.prescribed import require_covered
from symplex.scenario.rigid import RigidBodyTable, RigidTable
from symplex.scenario.rigid_motion import PIVOTS, RIGIDITY, RigidMotionTable
from symplex.scenario.stages import tables_of_stage
from symplex.scenario.tables import Tables
from symplex.time.integrator import Integrator

Try = Callable[..., Any]  # Builder._try

_UNSEEN = 1e-12  # of the mass of all bodies: what is held or driven needs none, but each node of a system has one
# Elastic frequencies of free rigid bodies, in 1/dt: of methods without equations to solve, which are at half of their
# stable step, and of others, higher where nothing of the vibrations is damped or gained.
_STEPPED, _SOLVED, _KEPT = 1.0, 3.0, 10.0
_FASTEST = 0.5  # spin over that frequency
_STEPS = " or ".join(f'kind = "{kind}"' for kind in ("energy-momentum", "newmark"))


@dataclass(frozen=True)
class RigidNodeSet:
    """Something rigid that one node carries, or that follows four.

    Attributes
    ----------
    table : RigidMotionTable
    nodes : int32 [1] or [4]
    positions : float64 [k, 3]
        Of the nodes at the start, in m.
    center : float64 [3]
        The point in m about which it turns.
    properties : MassProperties, optional
        Of what follows four nodes.
    mass : float
        In kg, of what moves freely; else 0.
    """

    table: RigidMotionTable
    nodes: IntArray
    positions: Array
    center: Array
    properties: MassProperties | None
    mass: float

    @property
    def pivot(self) -> Triple | None:
        """The point in m that is held, if there is one."""
        return self.table.pivot if isinstance(self.table, RigidBodyTable) else None

    @property
    def masses(self) -> Array:
        """The masses [k] in kg of the nodes of what moves freely; else zero."""
        if self.mass == 0.0 or self.properties is None:
            return np.full(len(self.nodes), self.mass)
        return self.properties.masses

    def pose(self, q: Array, v: Array) -> tuple[Array, Array, Array]:
        """Return the position [3] in m of its centre, its velocity [3] in m/s, and its spin [3] in rad/s."""
        x, u = q[self.nodes], v[self.nodes]
        if self.properties is None:
            return x[0], u[0], np.zeros(3)
        return motion_of(self.properties.masses, x, u)


@dataclass(frozen=True)
class FollowingSurface:
    """A surface whose points follow the particles of a beam or shell.

    Attributes
    ----------
    matrix : sparse [p, k]
        Weights of its particles.
    first : int
        The first of its particles among all nodes.
    at_rest : float64 [p, 3]
        The points at the start in m.
    triangles : int32 [f, 3]
    drawn : int32 [d]
        Which of its points each point is of the surface that is drawn.
    """

    matrix: sp.csr_array
    first: int
    at_rest: Array
    triangles: IntArray
    drawn: IntArray

    @property
    def n_points(self) -> int:
        """How many points it has."""
        return len(self.at_rest)

    def weights(self, n_nodes: int) -> sp.csr_array:
        """Return the weights [p, n_nodes] of all nodes."""
        matrix = self.matrix
        return sp.csr_array((matrix.data, matrix.indices + self.first, matrix.indptr), (self.n_points, n_nodes))

    def surface(self, name: str) -> Surface:
        """Return the surface, in the numbering of its points."""
        return Surface.from_triangles(self.at_rest, self.triangles, name)


class RigidNodeSets:
    """All sets of rigid nodes in their order, those of obstacles and of rigid bodies, and all points for contact.

    Points are the nodes of bodies and of obstacles, then those of the meshes of rigid bodies, which follow nodes
    (`symplex.contact.RigidBodies`), then those of the skins of beams and shells: contact and results are of points.

    Parameters
    ----------
    shaped : sequence of ShapedTable
        The obstacles with a gap in closed form.
    rigid : mapping of str to (RigidTable, RigidBody)
        The rigid bodies and surfaces.
    n_nodes : int
        The number of nodes of bodies.
    framed : bool
        Whether free bodies are frames of the system; otherwise energies keep them rigid, and at their pivots.
    skins : mapping of str to FollowingSurface
        Of beams and shells that may touch something.
    driven : sequence of str
        The supports that move in directions that are not along the axes.
    folder : Path
        Where files are looked for.

    Attributes
    ----------
    drivers : dict of str to int
        A node at the origin for each of these, which moves along x as they do along their directions.
    rigid_sets : dict of str to RigidNodeSet
    bodies : RigidBodies or None
    interpolation : Interpolation or None
        How points follow nodes; None if all points are nodes.
    n_nodes : int
        The number of nodes of the system.
    """

    def __init__(
        self,
        shaped: list[ShapedTable],
        rigid: Mapping[str, tuple[RigidTable, RigidBody]],
        n_nodes: int,
        framed: bool,
        skins: Mapping[str, FollowingSurface],
        driven: Sequence[str] = (),
        folder: Path = Path(),
    ):
        self._folder = folder
        self._of_bodies, self.framed = n_nodes, framed
        self.drivers = {name: n_nodes + k for k, name in enumerate(driven)}
        self.n_nodes = n_nodes + len(self.drivers)
        self.rigid_sets: dict[str, RigidNodeSet] = {}
        for table in (item for item in shaped if item.is_carried):
            mass = table.own_mass if isinstance(table, SphereTable) and table.is_free else 0.0
            self._add(table.name, table, np.array([table.middle]), np.array(table.middle), None, mass)
        for table in (item for item in shaped if item.is_framed):
            properties = _properties(table)
            mass = properties.mass if table.is_free else 0.0
            self._add(table.name, table, properties.particles, properties.center, properties, mass)
        self.bodies = RigidBodies({name: body for name, (_, body) in rigid.items()}, self.n_nodes) if rigid else None
        for name, (table, body) in rigid.items():
            own = body.properties
            self._add(name, table, own.particles, own.center, own, own.mass if table.is_free else 0.0)
        self._skins = dict(skins)
        self.interpolation = None if self.bodies is None else self.bodies.interpolation
        if skins:
            before = sp.csr_array(sp.eye_array(self.n_nodes))
            if self.interpolation is not None:
                before = self.interpolation.weights
            after = [one.weights(self.n_nodes) for one in skins.values()]
            self.interpolation = Interpolation(sp.csr_array(sp.vstack([before, *after])))
            first = len(before.indptr) - 1 + np.cumsum([0, *(one.n_points for one in skins.values())])
            self._first_points = dict(zip(skins, first.tolist(), strict=False))

    def _add(
        self,
        name: str,
        table: RigidMotionTable,
        positions: Array,
        center: Array,
        properties: MassProperties | None,
        mass: float,
    ) -> None:
        nodes = np.arange(self.n_nodes, self.n_nodes + len(positions), dtype=np.int32)
        self.rigid_sets[name] = RigidNodeSet(table, nodes, positions, center, properties, mass)
        self.n_nodes += len(positions)

    # -- parts of a system ------------------------------------------------------------------------------------

    def positions(self, of_bodies: Array) -> Array:
        """Return the positions [n, 3] in m of all nodes at the start, given those of the nodes of bodies."""
        at_origin = np.zeros((len(self.drivers), 3))
        return np.concatenate([of_bodies, at_origin, *(one.positions for one in self.rigid_sets.values())])

    def set_velocities(self, v: Array) -> None:
        """Set the velocities in m/s at the start of what moves freely, in those of all nodes [n, 3]."""
        for rigid_set in self.rigid_sets.values():
            if rigid_set.table.is_free:
                about = rigid_set.center if rigid_set.pivot is None else rigid_set.pivot
                v[rigid_set.nodes] = rigid_set.table.start_velocities(rigid_set.positions, about)

    @property
    def weights(self) -> Array:
        """The masses [n] in kg of what moves freely, on which gravity acts."""
        mass = np.zeros(self.n_nodes)
        for rigid_set in self.rigid_sets.values():
            mass[rigid_set.nodes] = rigid_set.masses
        return mass

    def masses(self, of_bodies: float) -> Array:
        """Return the masses [n] in kg of all nodes but those of bodies, given the mass of these in kg."""
        mass = self.weights
        unseen = _UNSEEN * (of_bodies or mass.sum() or 1.0)
        mass[self._of_bodies :] = np.where(mass[self._of_bodies :] > 0.0, mass[self._of_bodies :], unseen)
        return mass

    def held(self) -> list[IntArray]:
        """Return the nodes of each of those that stand still."""
        return [r.nodes for r in self.rigid_sets.values() if not (r.table.is_free or r.table.is_driven)]

    def given_motions(self, tables: Tables, of_bodies: Array, folder: Path, try_: Try) -> dict[str, SupportMotion]:
        """Return the motions that are given, by the names of what they move; files are looked for in a folder."""
        points, found = self.positions(of_bodies), {}
        for here, table in tables.entries(RigidMotionTable):
            rigid_set = self.rigid_sets.get(table.name)
            if rigid_set is None or not table.is_driven:
                continue
            arguments = table.name, rigid_set.nodes, points, rigid_set.center, folder
            motion = try_(here, table.given_motion, *arguments)
            if motion is not None:
                try_(here, require_covered, motion, tables.run.end)
                found[table.name] = motion
        return found

    def frames(self) -> tuple[IntArray, NDArray[np.bool_]]:
        """Return the nodes [f, 4] of free bodies that are frames, and what pivots hold of these [f, 6]."""
        free = self.free_frames if self.framed else []
        held = np.array([rigid_set.pivot is not None for rigid_set in free], bool)[:, None] & (np.arange(6) < 3)
        return np.array([rigid_set.nodes for rigid_set in free], np.int32).reshape(-1, 4), held

    def held_together(self, steps: Sequence[tuple[Integrator, float]]) -> dict[str, Energy]:
        """Return what keeps free bodies in shape, and pivots in place, for the methods of all stages with steps in s.

        Nothing of frames.
        """
        free = self.free_frames
        frequencies = [_frequency(method) / dt for method, dt in steps]
        explicit = [frequency for (one, _), frequency in zip(steps, frequencies, strict=True) if not _solves(one)]
        frequency, dt = min(explicit) if explicit else max(frequencies), min(dt for _, dt in steps)
        for name, rigid_set in self.rigid_sets.items():
            spin = float(np.linalg.norm(rigid_set.table.angular_velocity or ZERO))
            if rigid_set.table.is_free and len(rigid_set.nodes) == 4 and spin > _FASTEST * frequency:
                raise ScenarioError(
                    f"'{name}' turns with {spin:.4g} rad/s, too fast for steps of {dt:.3g} s with this method; take a "
                    f"dt of {_FASTEST * frequency * dt / spin:.2g} s or less."
                )
        if self.framed:
            return {}
        radii = np.stack([rigid_set.properties.radii for rigid_set in free if rigid_set.properties is not None])
        shape = Rigidity(np.stack([r.nodes for r in free]), radii, [r.mass for r in free], frequency)
        found: dict[str, Energy] = {RIGIDITY: shape}
        if held := [rigid_set for rigid_set in free if rigid_set.pivot is not None]:
            found[PIVOTS] = self._pivots(held, frequency)
        return found

    def _pivots(self, held: Sequence[RigidNodeSet], frequency: float) -> LinearConstraints:
        """Return the energy ½ k |Σ w_a x_a − p|² of each point that is held, p, of the weights w in its particles.

        Alone it would let the particles swing with the frequency in rad/s: k Σ w_a²/m_a = ω².
        """
        rows, stiffness = [], []
        for rigid_set in held:
            assert rigid_set.properties is not None
            assert isinstance(rigid_set.table, RigidBodyTable)
            pivot = np.array(rigid_set.pivot, dtype=float)
            weights = rigid_set.properties.weights(pivot[None])[0]
            row = np.zeros(self.n_nodes)
            row[rigid_set.nodes] = weights
            rows.append(sp.kron(row[None], sp.eye_array(3), format="csr"))
            stiffness += [frequency**2 * 0.25 * rigid_set.mass / float(weights @ weights)] * 3
        points = np.zeros((self.n_nodes, 3))
        for rigid_set in held:
            points[rigid_set.nodes] = rigid_set.positions
        return LinearConstraints(points, sp.csr_array(sp.vstack(rows)), stiffness=stiffness)

    @property
    def free_frames(self) -> list[RigidNodeSet]:
        """What moves freely with four nodes."""
        return [
            rigid_set for rigid_set in self.rigid_sets.values() if rigid_set.mass > 0.0 and len(rigid_set.nodes) == 4
        ]

    # -- contact ----------------------------------------------------------------------------------------------

    def obstacle_contact(self, table: ShapedTable, touching: IntArray) -> ObstacleContact:
        """Return the contact of points with an obstacle."""
        rigid_set, stiffness = self.rigid_sets.get(table.name), table.contact_stiffness
        carried = rigid_set is not None and rigid_set.properties is None
        obstacle = obstacle_of(table, rigid_set.center if rigid_set is not None and carried else ZERO, self._folder)
        if rigid_set is not None and rigid_set.properties is not None:
            return MovingObstacleContact(touching, obstacle, stiffness, rigid_set.nodes, rigid_set.properties)
        kind = SplineContact if isinstance(obstacle, SplineSurface) else RigidContact
        return kind(touching, obstacle, stiffness, int(rigid_set.nodes[0]) if rigid_set is not None else None)  # pyright: ignore

    def of_points(self, energy: Energy) -> Energy | InterpolatedEnergy | ChangingInterpolatedEnergy:
        """Return an energy of points as one of nodes: the same, if it is of nodes already."""
        nodes = energy.surface.vertices if hasattr(energy, "surface") else energy.nodes  # pyright: ignore
        if self.interpolation is None or nodes.max(initial=-1) < self.first_point:
            return energy
        return self.interpolation.of(energy)

    @property
    def first_point(self) -> int:
        """The number of points that are nodes: those after them follow nodes."""
        return self.n_nodes if self.bodies is None else self.n_nodes - 4 * len(self.bodies.bodies)

    @property
    def skinned(self) -> list[str]:
        """The names of beams and shells with points of their own."""
        return list(self._skins)

    def points(self, q: Array) -> Array:
        """Return the positions [p, 3] in m of points at nodal positions q [n, 3]; or their velocities."""
        return q if self.interpolation is None else self.interpolation.points(q)

    def points_of(self, name: str) -> IntArray:
        """Return the points of a rigid body, or of the skin of a beam or shell."""
        if name in self._skins:
            first = self._first_points[name]
            return np.arange(first, first + self._skins[name].n_points, dtype=np.int32)
        assert self.bodies is not None, "there is one of this name"
        return self.bodies.points_of(name)

    def drawn_points_of(self, name: str) -> IntArray | None:
        """Return the points that the surface of a beam or shell is drawn with; None if it has none of its own."""
        return self.points_of(name)[self._skins[name].drawn] if name in self._skins else None

    def surface(self, name: str) -> Surface:
        """Return the surface of a rigid body, or of a beam or shell, in the numbering of the points."""
        if name in self._skins:
            return self._skins[name].surface(name).shifted(self._first_points[name])
        assert self.bodies is not None, "there is one of this name"
        return self.bodies.surface(bodies=[name])


def rigid_sets_of(
    tables: Tables,
    n_nodes: int,
    folder: Path,
    try_: Try,
    framed: bool,
    skins: Mapping[str, FollowingSurface],
) -> RigidNodeSets:
    """Return all that is rigid and has its own nodes.

    Parameters
    ----------
    tables : Tables
    n_nodes : int
        The number of nodes of bodies.
    folder : Path
        Where files are looked for.
    try_ : callable
        ``try_(here, what, *args)`` returns what(*args), or notes the mistake and returns None.
    framed : bool
        Whether free bodies are to be frames.
    skins : mapping of str to FollowingSurface
        Of beams and shells that may touch something.
    """
    rigid: dict[str, tuple[RigidTable, RigidBody]] = {}
    for here, table in tables.entries(RigidMotionTable):
        body = try_(here, table.body, folder) if isinstance(table, RigidTable) else None
        if body is not None and isinstance(table, RigidBodyTable) and table.pivot is not None:
            at_pivot = try_(here, body.held_at, table.pivot)  # too far away for either way to hold it, if there is none
            body = at_pivot if framed else body
        if isinstance(table, RigidTable) and body is not None:
            rigid[table.name] = table, body
        if table.is_free and (isinstance(table, RigidTable) or getattr(table, "is_framed", False)):
            for k in range(len(tables.sampled)):
                try_(here, _require_steps, tables_of_stage(tables, k).integrator)
    in_order = {table.name: rigid[table.name] for table in tables.rigid if table.name in rigid}
    driven = [str(table.name) for _, table in tables.entries(Support) if table.is_oblique and table.moves]
    return RigidNodeSets(tables.shaped, in_order, n_nodes, framed, skins, driven, folder)


def _require_steps(table: IntegratorTable) -> None:
    """Check that a method has steps, whose size says how stiff free rigid bodies are."""
    if getattr(table, "dt", None) is None and table.kind != "static":
        raise ScenarioError(
            f"it moves freely as a rigid body, which {table.kind} cannot follow; take another integrator, such as "
            f"{_STEPS}."
        )


def _solves(method: Integrator) -> bool:
    """Return whether the steps of a method solve equations, for which they need more of energies than gradients."""
    return not method.needs <= {"gradient"}


def _frequency(method: Integrator) -> float:
    """Return the elastic frequency of rigid bodies for a method, in 1/dt."""
    if not _solves(method):
        return _STEPPED
    return _KEPT if method.conserves & {"energy", "symplectic form"} else _SOLVED


def _properties(table: ShapedTable) -> MassProperties:
    """Return how the mass of an obstacle on a frame is distributed; of one without mass, a frame where it is."""
    if table.is_free:
        return obstacle_mass(obstacle_of(table), density=table.density, mass=table.mass)
    radius = getattr(table, "radius", 1.0)
    return MassProperties(1.0, table.middle or ZERO, np.full(3, 2.0 * radius**2))
