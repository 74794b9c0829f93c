"""Contact between bodies, and of a body with itself: one potential for all integrators."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from functools import partial
from math import sqrt
from typing import Annotated, Literal, final

import numpy as np
from numpy.typing import NDArray

from symplex.base.arguments import checked
from symplex.base.columns import Column
from symplex.base.quantities import positive
from symplex.contact.exposed import ExposedSurface
from symplex.contact.laws import LAWS, require_law
from symplex.contact.near_pairs import NearPairs, Place, farthest_moved, farthest_of, near_pairs, place
from symplex.contact.output import Contacts, ContactState, columns_of
from symplex.contact.pair_energy import PairEnergy, nearest
from symplex.contact.pair_loops import set_stiffness
from symplex.contact.pairs import PairRecord, SurfacePairs
from symplex.contact.penetration import collision_free_fraction, find_penetration, intersections
from symplex.contact.search import find_pairs, find_swept
from symplex.contact.stiffness import contact_stiffness, default_distance
from symplex.contact.surfaces import Surface
from symplex.contact.touching import touching_bodies
from symplex.errors import InvalidSystem, StepFailed
from symplex.fem.assembly.forms import Form
from symplex.fem.assembly.pattern import Array, IntArray
from symplex.fem.energies.contact_energy import ContactEnergy
from symplex.fem.energies.neighbour_list import RENEWED, Nearby, NeighbourListEnergy, Stiffness
from symplex.fem.solids.constitutive import Material
from symplex.fem.state import State

_AHEAD = 1.0  # d̂: how much farther the pairs reach that short steps look at
_LOOK = 0.2  # d̂: how far vertices may go until it is found again which pairs act
_HALF = 0.49  # of a distance that two nodes have to come, with what rounding takes
_TOUCH = 1e-9  # of the distance at which forces begin: what is as near as that touches


@partial(checked, but=("law",))
@final
class BodyContact(NeighbourListEnergy, PairEnergy, ContactEnergy):
    """Surfaces that push each other away where they are closer than a distance d̂: V = Σ w m b(s).

    The sum is over all pairs of a vertex and a face, and of two edges, of the bodies that may touch; s is the squared
    distance of a pair, w a constant area at rest (half of a vertex', a quarter of that of two edges), m the mollifier
    of nearly parallel edges (`symplex.contact.mollifier`) and b the law (`symplex.contact.laws`). The discrete gradient
    is exact for increments of any size, also where other parts of a face are nearest at the end, and keeps both momenta
    (`symplex.contact.pair_discrete`).

    Parameters
    ----------
    surface : Surface
    stiffness : float
        k in N/m³, a pressure per distance; `from_materials` has a default for it.
    law : str, default "penalty"
        ``"penalty"``, ½ k (d̂ − d)², of bounded stiffness, or ``"barrier"``, −k d̂² (σ − 1)² ln σ with σ = d²/d̂², which
        grows without bound as surfaces come to touch and needs an implicit method.
    distance : float, optional
        d̂ in m; default: a tenth of the shortest edge of the surface.
    between : "all" or sequence of (str, str), default "all"
        The pairs of bodies that may touch, by their names; a body twice is contact with itself. By default all pairs of
        different bodies.
    self_contact : bool, default False
        Whether all bodies that have a pair with another one, or are alone, may touch themselves as well.
    margin : float, optional
        How much farther than d̂ the list of pairs reaches, in m; default: half of the mean edge. A larger one is renewed
        less often and has more pairs.

    Attributes
    ----------
    reach : float
        d̂ in m.
    between : bool [bodies, bodies]
        Which bodies may touch, symmetric.
    nodes : int32 [m, 4]
        The pairs in the list; none before the first step.
    offset, overlap : float
        How far in m surfaces stand back from those of the bodies, both together, which gaps are less by; and by how
        much bodies overlapped at rest, where this is not counted (`symplex.contact.offset_contact`). Else 0.

    Raises
    ------
    InvalidSystem
        If a number is not positive, d̂ is above the shortest edge, a body does not exist, no bodies may touch, or one
        that may touch itself has no volume.
    """

    resolved_share = 0.4
    impenetrable = True
    offset = overlap = 0.0

    def __init__(
        self,
        surface: Surface,
        stiffness: Annotated[float, positive("N/m³")],
        *,
        law: Literal["penalty", "barrier"] = "penalty",
        distance: Annotated[float | None, positive("m")] = None,
        between: str | Sequence[tuple[str, str]] = "all",
        self_contact: bool = False,
        margin: Annotated[float | None, positive("m")] = None,
    ):
        distance = default_distance(surface) if distance is None else float(distance)
        margin = 0.5 * float(surface.edge_lengths.mean()) if margin is None else float(margin)
        require_law("BodyContact", law)
        shortest = float(surface.edge_lengths.min())
        if distance > shortest:
            raise InvalidSystem(
                f"BodyContact: the distance at which forces begin, {distance:.4g} m, is above the shortest edge of the "
                f"surface, {shortest:.4g} m: parts of one body would push each other. Take a tenth of it."
            )
        self.surface, self.law, self.stiffness = surface, law, float(stiffness)
        self.reach, self.margin = distance, margin
        self.between = touching_bodies("BodyContact", surface, between, self_contact)
        self.bounded_stiffness = law != "barrier"
        self.list_positions = np.empty((0, 3))
        touches = np.flatnonzero(self.between.any(axis=1))
        self._vertices = surface.vertices[np.isin(surface.vertex_bodies, touches)]
        self._clear: Place | None = None  # no two meet while vertices stay there
        self._exposed: ExposedSurface | None = None
        self._gone = b""
        self._around: NDArray[np.bool_] | None = None  # the nodes whose pairs it has, if not those of all
        self.empty()

    @classmethod
    @partial(checked, but=("law",))
    def from_materials(
        cls,
        surface: Surface,
        materials: Material | Sequence[Material | None],
        *,
        speed: float = 0.0,
        law: Literal["penalty", "barrier"] = "penalty",
        distance: float | None = None,
        between: str | Sequence[tuple[str, str]] = "all",
        self_contact: bool = False,
        margin: float | None = None,
    ) -> BodyContact:
        """Return the contact with a stiffness that follows from the materials and meshes of the bodies.

        Parameters
        ----------
        materials : Material, or a sequence of them
            Of all bodies, or of each one in the order of ``surface.names``; None for a rigid one.
        speed : float, default 0.0
            At which bodies approach each other, in m/s: fast ones need a stiffer contact
            (`symplex.contact.stiffness.contact_stiffness`).
        """
        stiffness = contact_stiffness(surface, materials, law, distance, speed)
        return cls(
            surface,
            stiffness,
            law=law,
            distance=distance,
            between=between,
            self_contact=self_contact,
            margin=margin,
        )

    def renumbered(self, nodes: IntArray, around: NDArray[np.bool_] | None = None) -> BodyContact:
        """Return the contact with some nodes alone, all of the surface among them, numbered in their order.

        Its list is still to be found.

        Parameters
        ----------
        nodes : int [s]
            Ascending.
        around : bool [s], optional
            Of which nodes it is to have the pairs; default: of all.
        """
        few = copy.copy(self)
        few._around = around
        few.surface = self.surface.renumbered(nodes)
        few._exposed = None if self._exposed is None else self._exposed.renumbered(nodes)
        few._vertices = np.searchsorted(nodes, self._vertices).astype(np.int32)
        few.list_positions, few._covered, few._clear = np.empty((0, 3)), (), None
        few.empty()
        return few

    @property
    def possible_nodes(self) -> IntArray:
        """Those of the surface, with those that may lie open as elements go."""
        return self.surface.vertices if self._exposed is None else self._exposed.nodes

    def exposes(self, surface: ExposedSurface) -> None:
        """Let the surface follow elements that go, from all of them on."""
        self._exposed, self._gone = surface, surface.key({})

    def follows(self, gone: Mapping[str, NDArray[np.bool_]]) -> bool:
        """Return whether elements are gone that the surface is of (see `Energy.follows`)."""
        return self._exposed is not None and self._exposed.key(gone) != self._gone

    def follow(self, gone: Mapping[str, NDArray[np.bool_]]) -> None:
        """Take the surface of the elements that there are."""
        if self._exposed is None or not self.follows(gone):
            return
        self._gone, self.surface = self._exposed.key(gone), self._exposed.surface(gone)
        touches = np.flatnonzero(self.between.any(axis=1))
        self._vertices = self.surface.vertices[np.isin(self.surface.vertex_bodies, touches)]
        self.list_positions, self._covered, self._clear = self.list_positions[:0], (), None
        self.empty()
        self.version += 1

    # -- the list ---------------------------------------------------------------------------------------------

    def find(self, ends: tuple[Array, ...], distance: float) -> None:
        """Let the list be all pairs of the surface that are closer than a distance in m at one of the ends [n, 3]."""
        for q in ends:
            if q.ndim != 2 or q.shape[1] != 3:
                raise InvalidSystem(f"BodyContact: positions have shape {q.shape}, expected (n, 3).")
            if not np.isfinite(q).all():
                raise StepFailed("BodyContact: positions are not finite.")
        self._list(find_pairs(self.surface, ends, distance, self.between, self._around))

    def empty(self) -> None:
        """Let there be no pairs."""
        none = np.empty(0)
        nodes, edge_edge = np.empty((0, 4), np.int32), np.empty(0, np.uint8)
        self._list(SurfacePairs(nodes=nodes, edge_edge=edge_edge, weights=none, parallel=none))

    def _list(self, pairs: SurfacePairs) -> None:
        """Let these be the pairs."""
        law = {"law": LAWS[self.law], "stiffness": self.stiffness, "reach": self.reach}
        self._keep(PairRecord(**pairs.as_dict(), **law))
        self._near: NearPairs | None = None

    def renewed(self, q: Array) -> bool:
        """Renew the list at the positions q [n, 3] if it is old (see `NeighbourListEnergy.renewed`); return whether."""
        near = self._near
        if near is not None and not self._covered and len(self.list_positions) == len(q):
            moved = farthest_of(q, self._vertices, near.place.at)
            if moved <= near.place.room and near.away + sqrt(moved) <= RENEWED * self.margin:
                return False
        renewed = super().renewed(q)
        if renewed or near is None or self._near_at((q,)) is None:
            self._find_near(q)
        return renewed

    def nearby(self, q: Array, part: float = RENEWED) -> Nearby | None:
        """Return the pairs that act from q [n, 3] on, with how far vertices may go (`NeighbourListEnergy.nearby`)."""
        if self._covered or len(self.list_positions) != len(q) or self.moved((q,)) > part * self.margin:
            return None
        near, gone = self._near, np.inf
        if near is not None:
            gone = sqrt(farthest_of(q, self._vertices, near.place.at))
        if near is None or gone > 0.5 * sqrt(near.place.room):
            near, gone = self._find_near(q), 0.0
        pairs, (_, gaps) = near.energy.record, nearest(q, near.energy.record)
        # What is farther than d̂ + ahead has to come all this way; of others two nodes have to meet.
        left = sqrt(near.place.room) - gone
        left = max(min(left, part * self.margin - self.moved((q,)), _HALF * gaps.min(initial=np.inf)), 0.0)
        acting = gaps < self.reach + left / _HALF
        if acting.any():
            left = min(left, _LOOK * self.reach)
            acting = gaps < self.reach + left / _HALF
        all_act = len(acting) == np.count_nonzero(acting)
        energy = near.energy if all_act else PairEnergy(self.surface, pairs.chosen(np.flatnonzero(acting)))
        return Nearby(energy, self._vertices, q[self._vertices], np.full(len(self._vertices), left * left))

    def _find_near(self, q: Array) -> NearPairs:
        """Find the pairs of the list that are near at q [n, 3]."""
        away = self.moved((q,))
        most = max(self.margin - 2.0 * away, 0.0)
        ahead = min(_AHEAD * self.reach, most) if len(self.nodes) else most
        self._near = near_pairs(q, self._vertices, self, ahead, away)
        return self._near

    def near(self, ends: tuple[Array, ...]) -> PairEnergy:
        """Return an energy of all pairs that are closer than d̂ at the positions [n, 3], one or two of them."""
        return self._near_at(ends) or self.complete(ends)

    def _near_at(self, ends: tuple[Array, ...]) -> PairEnergy | None:
        """Return the energy of the pairs that are near, if these are all on the way between the positions."""
        near = self._near
        return near.energy if near is not None and self._stays(near.place, *ends) else None

    def _stays(self, place: Place, *ends: Array) -> bool:
        """Return whether no vertex is farther from a place than it may be."""
        enough = min(map(len, ends)) > self._vertices[-1]
        return enough and all(farthest_of(q, self._vertices, place.at) <= place.room for q in ends)

    def _farthest(self, q: Array, at: Array) -> float:
        return farthest_moved(q, self._vertices, at)

    # -- what is assembled ------------------------------------------------------------------------------------

    def acts_at(self, q: Array) -> bool:
        """Return whether surfaces are closer than d̂ at the nodal positions q [n, 3]."""
        pairs = self.near((q,)).record
        return bool(nearest(q, pairs)[1].min(initial=np.inf) < self.reach)

    def total(self, q: Array) -> float:
        """Return the energy in J at the nodal positions q [n, 3]."""
        near = self._near_at((q,))
        return super().total(q) if near is None else near.total(q)

    def add(self, form: Form, nodal: tuple[Array, ...], out: Array, slots: IntArray | None = None) -> None:
        """Add a form to what is assembled (see `Energy.add`): of vectors, of the pairs that are near if it can."""
        can = form.name in self.kernels and not form.is_matrix
        near = self._near_at(form.positions(nodal)) if can else None
        if near is None:
            super().add(form, nodal, out, slots)
        else:
            near.add(form, nodal, out)

    def contact_stiffness_bound(self, n_nodes: int) -> Array:
        """Return per node [n_nodes] in N/m about what closed contact adds to its stiffness; infinite for a barrier.

        3 k (A + 2 B), with A the area of the node and B that, or the largest area of a node which it may touch. A
        vertex on a face, a face under vertices, and crossing edges have about k times an area each; where faces lie on
        each other, pairs that share a place have it several times. This is above what meshes in general position have;
        vertices exactly above each other may have more than twice as much.
        """
        latent, surface = np.zeros(n_nodes), self.surface
        largest = np.zeros(len(surface.names))
        np.maximum.at(largest, surface.vertex_bodies, surface.vertex_areas)
        opposite = np.where(self.between, largest, 0.0).max(axis=1)[surface.vertex_bodies]
        touches = np.asarray(self.between.any(axis=1))[surface.vertex_bodies]
        areas = 3.0 * (surface.vertex_areas + 2.0 * np.maximum(surface.vertex_areas, opposite))
        k = self.stiffness if self.bounded_stiffness else np.inf
        latent[surface.vertices[touches]] = k * areas[touches]
        return latent

    def stiffness_near(self, q: Array, ahead: float) -> Stiffness:
        """Return what bounds the stiffness of the pairs closer than d̂ + ahead in m at q [n, 3]."""
        near = self._near
        gone = np.inf if near is None else sqrt(farthest_of(q, self._vertices, near.place.at))
        if near is None or near.ahead - gone / _HALF < ahead:
            near = self._find_near(q)
        pairs = near.energy.record
        if near.ahead < ahead:  # that is beyond the list
            found = find_pairs(self.surface, (q,), self.reach + ahead, self.between, self._around)
            pairs = PairRecord(**found.as_dict(), law=pairs.law, stiffness=pairs.stiffness, reach=pairs.reach)
        most = 2 * len(pairs.nodes)
        nodes, factors, stiffness = np.empty((most, 4), np.int32), np.empty((most, 4)), np.empty(most)
        count = set_stiffness(q, pairs, self.reach + ahead, nodes, factors, stiffness)
        return Stiffness(nodes[:count], factors[:count], stiffness[:count])

    # -- what must not happen ---------------------------------------------------------------------------------

    def collision_free_fraction(self, q0: Array, q1: Array) -> float:
        """Return a part in [0, 1] of the straight way from q0 to q1 [n, 3] on which nothing passes through."""
        return collision_free_fraction(self.surface, q0, q1, self.between)

    def find_penetration(self, q0: Array, q1: Array) -> str | None:
        """Return what has passed through on the straight way from q0 to q1 [n, 3], and where; None if nothing has."""
        # The way between two places within a ball stays in it.
        if self._clear is not None and self._stays(self._clear, q0, q1):
            return None
        listed = self._near_at((q0, q1))
        if listed is None and self._is_complete((q0, q1)):  # as then it has all that meet between them
            listed = self
        if listed is None:
            pairs = find_swept(self.surface, q0, q1, self.between)
            return None if pairs is None else find_penetration(self.surface, pairs, q0, q1)
        pairs = listed.record
        found = find_penetration(self.surface, pairs, q0, q1)
        if found is None:
            # What is not in the list is farther apart than d̂; two nodes have to come all this way.
            gap = min(self.reach, nearest(q1, pairs)[1].min(initial=np.inf))
            self._clear = place(q1, self._vertices, _HALF * gap)
        return found

    def check_start(self, q: Array) -> None:
        """Check that no bodies overlap or touch at the nodal positions q [n, 3].

        Raises
        ------
        InvalidSystem
            If some do, with the deepest overlap.
        """
        found = intersections(self.surface, q, self.between)
        if found:
            more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
            deepest = max(found, key=lambda intersection: intersection.depth)
            raise InvalidSystem(
                f"BodyContact: {deepest}{more}. Move them apart, or take one of them out of the contact."
            )
        near = self.contacts(q)
        if not near.gaps.min(initial=np.inf) + self.offset > _TOUCH * self.reach:
            nearest = int(near.gaps.argmin())
            one, other = (self.surface.names[body] for body in near.bodies[nearest])
            at = ", ".join(f"{x:.4g}" for x in q[near.nodes[nearest, 0]])
            who = f"the bodies '{one}' and '{other}' touch" if one != other else f"body '{one}' touches itself"
            raise InvalidSystem(
                f"BodyContact: {who} at ({at}) m, where no direction is known in which they could be pushed apart. "
                f"Leave a gap between them; forces begin at {self.reach:.4g} m."
            )

    # -- for output -------------------------------------------------------------------------------------------

    @property
    def columns(self) -> tuple[Column, ...]:
        """The force between each two bodies, and the smallest gap."""
        return columns_of(self.surface.names, self.between)

    def observed(self, state: State, gradient: Array) -> dict[str, float]:
        """Return the forces of bodies on each other as they act, and the smallest gap, at most d̂."""
        return self.at(state.q, gradient).observed()

    def at(self, q: Array, gradient: Array | None = None) -> ContactState:
        """Return gaps and forces at the nodal positions q [n, 3].

        Parameters
        ----------
        q : float64 [n, 3]
            In m.
        gradient : float64 [m, 4, 3], optional
            ∂φ/∂x in N of the pairs in the list as it acts in a motion; default: that at q. It is taken if the list is
            complete at q.
        """
        energy = self.complete((q,))
        pairs = energy.record
        if gradient is None or energy is not self:
            gradient = energy.gradient(q[pairs.nodes])
        c, gaps = nearest(q, pairs)
        return ContactState(self.surface, self.between, self.reach, self.offset, q, pairs, c, gaps, gradient)

    def contacts(self, q: Array) -> Contacts:
        """Return the pairs that are closer than d̂ at the nodal positions q [n, 3], with gaps and normal forces."""
        return self.at(q).contacts()

    def nodal_forces(self, q: Array) -> Array:
        """Return the contact forces [n, 3] in N on the nodes at the nodal positions q [n, 3]."""
        out = np.zeros_like(q)
        self.add_gradient(q, out)
        return -out

    def pressures(self, q: Array) -> Array:
        """Return the contact forces at the vertices of the surface [v] per area at rest, in Pa."""
        forces = np.linalg.norm(self.nodal_forces(q)[self.surface.vertices], axis=1)
        return forces / self.surface.vertex_areas

    def resultants(self, q: Array) -> dict[tuple[str, str], Array]:
        """Return for each pair of different bodies that may touch the force [3] in N of the second on the first one."""
        return self.at(q).resultants()
