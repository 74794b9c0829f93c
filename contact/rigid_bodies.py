"""Rigid bodies among the nodes of a system: four nodes each, and the points of their surfaces that follow these."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symplex.base.arguments import checked
from symplex.base.sparse import sp
from symplex.contact.rigid_body import RigidBody
from symplex.contact.surfaces import Surface
from symplex.errors import InvalidSystem
from symplex.fem.assembly.copying import Copyable
from symplex.fem.assembly.named import by_name
from symplex.fem.assembly.pattern import Array, IntArray
from symplex.fem.couplings.interpolation import ChangingInterpolatedEnergy, InterpolatedEnergy, Interpolation
from symplex.fem.energies.energy import Energy
from symplex.fem.measures.constraints import RigidBars
from symplex.fem.structures.frames import Frames
from symplex.fem.structures.rigidity import Rigidity

_BODIES = "They are a mapping of names to RigidBody."


@partial(checked, but=("bodies",))
@final
class RigidBodies(Copyable):
    """Rigid bodies in one system with the nodes of deformable ones.

    The nodes of the system are those of the deformable bodies, then four for each rigid body: its particles. The
    *points* are the nodes of the deformable bodies, then those of the mesh of each rigid body, as in
    ``merge({"block": …, "ball": ball.mesh})``: surfaces, contact and pictures are of points, which follow the nodes.

    What holds the particles together are frames of the system (`frames`), for methods that take them; else an energy
    (`rigidity`), for all methods.

    Parameters
    ----------
    bodies : mapping of str to RigidBody
        At rest, by name.
    n_nodes : int, default 0
        The number of nodes of deformable bodies.

    Attributes
    ----------
    bodies : dict of str to RigidBody
    interpolation : Interpolation
        How points follow nodes.

    Raises
    ------
    InvalidSystem
        If there is no body, or the number of nodes is negative.
    """

    def __init__(self, bodies: Mapping[str, RigidBody], n_nodes: int = 0):
        self.bodies = by_name("rigid bodies", bodies, RigidBody, _BODIES)
        if not self.bodies or n_nodes < 0:
            raise InvalidSystem(f"there are {len(self.bodies)} rigid bodies and {n_nodes} other nodes.")
        self._first_node = n_nodes
        sizes = [len(body.mesh.points) for body in self.bodies.values()]
        self._first_points = dict(zip(self.bodies, n_nodes + np.cumsum([0, *sizes[:-1]]), strict=True))
        weights = [sp.csr_array(body.properties.weights(body.mesh.points)) for body in self.bodies.values()]
        self.interpolation = Interpolation(sp.csr_array(sp.block_diag([sp.eye_array(n_nodes), *weights])))

    @property
    def n_nodes(self) -> int:
        """The number of nodes of the system."""
        return self.interpolation.n_nodes

    def nodes_of(self, name: str) -> IntArray:
        """Return the four nodes of a body."""
        self._require(name)
        first = self._first_node + 4 * list(self.bodies).index(name)
        return np.arange(first, first + 4, dtype=np.int32)

    def points_of(self, name: str) -> IntArray:
        """Return the points of a body."""
        self._require(name)
        first = int(self._first_points[name])
        return np.arange(first, first + len(self.bodies[name].mesh.points), dtype=np.int32)

    # -- parts of a system ------------------------------------------------------------------------------------

    def positions(self, of_others: ArrayLike = ()) -> Array:
        """Return the nodal positions [n, 3] in m at rest, after those of the other nodes."""
        particles = [body.particles for body in self.bodies.values()]
        return np.concatenate([self._of_others("positions", of_others), *particles])

    def velocities(
        self,
        of_others: ArrayLike = (),
        linear: Mapping[str, ArrayLike] | None = None,
        angular: Mapping[str, ArrayLike] | None = None,
    ) -> Array:
        """Return nodal velocities [n, 3] in m/s, after those of the other nodes, [n, 3] or [3] for all of them alike.

        Parameters
        ----------
        of_others : float64 [n, 3] or [3]
            In m/s.
        linear : mapping of str to float64 [3], optional
            By body, of its centre of mass in m/s; default: at rest.
        angular : mapping of str to float64 [3], optional
            By body, in rad/s; default: none.
        """
        linear, angular = linear or {}, angular or {}
        for name in (*linear, *angular):
            self._require(name)
        rest = np.zeros(3)
        particles = [
            body.velocities(linear.get(name, rest), angular.get(name, rest)) for name, body in self.bodies.items()
        ]
        return np.concatenate([self._of_others("velocities", of_others), *particles])

    def mass(self, of_others: ArrayLike | sp.sparray = ()) -> Array | sp.csr_array:
        """Return the nodal masses [n] in kg, or the mass matrix, after those of the other nodes."""
        particles = np.concatenate([body.properties.masses for body in self.bodies.values()])
        if sp.issparse(of_others):
            return sp.csr_array(sp.block_diag([of_others, sp.diags_array(particles)]))
        return np.concatenate([np.asarray(of_others, dtype=float).ravel(), particles])

    def frames(self) -> Frames:
        """Return the bodies as frames of a system, which are rigid without an energy: ``System(frames=…)``.

        Bodies with a pivot (`RigidBody.held_at`) are held there.
        """
        nodes = np.stack([self.nodes_of(name) for name in self.bodies])
        pivoted = np.array([body.properties.pivot is not None for body in self.bodies.values()])
        held = pivoted[:, None] & (np.arange(6) < 3)
        return Frames(nodes, self.positions(np.zeros((self._first_node, 3))), held)

    def rigidity(self, frequency: float) -> Rigidity:
        """Return the energy that keeps the bodies rigid, with elastic frequencies in rad/s that are all the same.

        With 1/dt, explicit methods are at half of their stable step, and the bodies turn and collide as if they were
        rigid where contact lasts many steps; implicit methods take more.
        """
        properties = [body.properties for body in self.bodies.values()]
        for name, body in self.bodies.items():
            if body.properties.pivot is not None:
                raise InvalidSystem(f"rigid body '{name}' is held at a pivot, which needs frames, got rigidity.")
        nodes = np.stack([self.nodes_of(name) for name in self.bodies])
        return Rigidity(nodes, np.stack([p.radii for p in properties]), [p.mass for p in properties], frequency)

    def constraints(self) -> RigidBars:
        """Return the constraints that keep the six distances of the particles of each body, for `Rattle`."""
        return self.frames().rods

    def fixed(self, *names: str) -> NDArray[np.bool_]:
        """Return which coordinates [n, 3] are fixed where bodies, by name, stand still: obstacles of any shape."""
        mask = np.zeros((self.n_nodes, 3), bool)
        for name in names:
            mask[self.nodes_of(name)] = True
        return mask

    def of_points(self, energy: Energy) -> InterpolatedEnergy | ChangingInterpolatedEnergy:
        """Return an energy of the points as one of the nodes: contact, springs that are fastened to a rigid body."""
        return self.interpolation.of(energy)

    def surface(self, of_others: Surface | None = None, bodies: Iterable[str] | None = None) -> Surface:
        """Return the surface of rigid bodies (default: all), and of others, in the numbering of the points."""
        names = self.bodies if bodies is None else bodies
        parts = [self.bodies[name].surface(name).shifted(int(self.points_of(name)[0])) for name in names]
        return Surface.join([*([] if of_others is None else [of_others]), *parts])

    # -- where they are ---------------------------------------------------------------------------------------

    def points(self, q: Array) -> Array:
        """Return the positions [p, 3] in m of the points at nodal positions q [n, 3]; or their velocities."""
        return self.interpolation.points(q)

    def pose(self, name: str, q: Array) -> tuple[Array, Array]:
        """Return the centre of mass [3] in m of a body, and its rotation [3, 3]; see `RigidBody.pose`."""
        return self.bodies[name].pose(q[self.nodes_of(name)])

    def motion(self, name: str, q: Array, v: Array) -> tuple[Array, Array]:
        """Return the velocity [3] in m/s of a body's centre, and its angular velocity [3] in rad/s in space."""
        nodes = self.nodes_of(name)
        return self.bodies[name].motion(q[nodes], v[nodes])

    def _of_others(self, what: str, values: ArrayLike) -> Array:
        array = np.array(values, dtype=float)
        if array.shape == (3,):
            array = np.broadcast_to(array, (self._first_node, 3))
        if not array.size:
            array = array.reshape(0, 3)
        if array.shape != (self._first_node, 3):
            raise InvalidSystem(
                f"the {what} of the other nodes have shape {array.shape}, expected {(self._first_node, 3)}."
            )
        return array

    def _require(self, name: str) -> None:
        if name not in self.bodies:
            raise InvalidSystem(f"there is no rigid body '{name}'; there are: {', '.join(self.bodies)}.")
