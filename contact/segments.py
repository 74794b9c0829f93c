"""Contact between bodies by integrals over what their facets have in common: it passes the patch test."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal, final

import numpy as np
from numpy.typing import NDArray

from symplex.base.arguments import checked
from symplex.base.columns import Column
from symplex.base.quantities import positive
from symplex.contact import segment_loops
from symplex.contact.facet_pairs import FacetPairs
from symplex.contact.facets import facets_of
from symplex.contact.near_pairs import farthest_moved
from symplex.contact.output import columns_of, observed_of, resultants_of
from symplex.contact.penetration import intersections
from symplex.contact.search import faces_near
from symplex.contact.stiffness import contact_stiffness
from symplex.contact.surfaces import Surface
from symplex.contact.touching import touching_bodies
from symplex.errors import InvalidSystem, StepFailed
from symplex.fem.assembly import forms
from symplex.fem.assembly.forms import Form, kernels_of
from symplex.fem.assembly.pattern import Array, IntArray
from symplex.fem.energies.contact_energy import ContactEnergy
from symplex.fem.energies.energy import RIGID, Energy, LatticeFunctions, OptionalFunction
from symplex.fem.energies.kernel_energy import KernelEnergy
from symplex.fem.energies.neighbour_list import NeighbourListEnergy
from symplex.fem.solids.constitutive import Material
from symplex.fem.state import State
from symplex.meshes.quadrature import six_points, three_points

_DEPTH = 0.5  # of the shortest edge: as far as surfaces may pass into each other
_OVERHANG = 0.02  # of the shortest edge, by which facets go on beyond outer edges
_SPENT = 0.9  # of the depth, where a run stops
_ON_PATH = np.arange(1, 8) / 8  # where it is looked how facets came over each other from the side
_BEHIND = 4.0  # depths, how thick bodies are at most where front and back would be in contact
_SHORTEST = 1e-6  # part of a correction


@checked
@final
class SegmentContact(NeighbourListEnergy, KernelEnergy, ContactEnergy):
    """Surfaces that resist where they overlap, by a pressure integrated over what their faces have in common.

    V = Σ ∫ ½ k (d̂ − γ)² da over the surface of the first body of each pair, with the gap γ along its normal, negative
    inside, and the shape functions of all faces, quadratic ones included (`symplex.contact.segment_loops`). So a
    uniform pressure passes between flat faces with non-matching meshes to round-off. It suits surfaces that face each
    other; edges and corners that hit faces need `BodyContact`.

    Parameters
    ----------
    surface : Surface
    points : float64 [n, 3]
        At rest, in m.
    stiffness : float
        k in N/m³, a pressure per distance; `from_materials` has a default for it.
    distance : float, default 0.0
        d̂ in m, where forces begin: by default where surfaces touch.
    between : "all" or sequence of (str, str), default "all"
        The pairs of bodies that may touch, by their names; a body twice is contact with itself. By default all pairs of
        different bodies. Facets of one body that are front and back of it at rest are no pair.
    self_contact : bool, default False
        Whether all bodies that have a pair with another one, or are alone, may touch themselves as well.
    integrated : {"finer", "first"}, default "finer"
        Over whose surface the integrals of a pair of bodies are: of the shorter mean edge, or of the first one in
        ``between``. Where one surface ends within the other, take that one: then the patch test is passed.
    depth : float, optional
        How deep in m surfaces may pass into each other; default: half of the shortest edge. Bodies must be thicker, and
        a step that goes deeper than 0.9 of it fails.
    margin : float, optional
        How much farther the list of pairs reaches than forces, in m; default: half of the mean edge.

    Attributes
    ----------
    distance, depth : float
        There are forces where gaps are above −depth and below the distance.
    reach : float
        In m, the larger of both.
    between : bool [bodies, bodies]
        Which bodies may touch, symmetric.
    nodes : int32 [m, k]
        The pairs in the list; none before the first step.

    Raises
    ------
    InvalidSystem
        If a number is out of range, a body does not exist, no bodies may touch, one that may touch itself has no
        volume, ``"first"`` is asked for without pairs, or a face has no area.
    """

    kernels = kernels_of(segment_loops)
    invariances = RIGID
    impenetrable = True
    third = Energy.third  # pyright: ignore[reportAssignmentType]  # it has none

    def __init__(
        self,
        surface: Surface,
        points: Array,
        stiffness: Annotated[float, positive("N/m³")],
        *,
        distance: float = 0.0,
        between: str | Sequence[tuple[str, str]] = "all",
        self_contact: bool = False,
        integrated: Literal["finer", "first"] = "finer",
        depth: Annotated[float | None, positive("m")] = None,
        margin: Annotated[float | None, positive("m")] = None,
    ):
        shortest = float(surface.edge_lengths.min())
        if not 0.0 <= distance <= shortest:
            raise InvalidSystem(
                f"SegmentContact: the distance at which forces begin, {distance:.4g} m, must not be negative or above "
                f"the shortest edge of the surface, {shortest:.4g} m."
            )
        if points.ndim != 2 or points.shape[1] != 3 or len(points) <= surface.vertices[-1]:
            raise InvalidSystem(f"SegmentContact: points have shape {points.shape}; there must be one for each node.")
        self.surface, self.stiffness = surface, float(stiffness)
        self.distance, self.depth = float(distance), depth or segment_depth(surface)
        self.reach = max(self.distance, self.depth)
        self.margin = 0.5 * float(surface.edge_lengths.mean()) if margin is None else float(margin)
        self.between = touching_bodies("SegmentContact", surface, between, self_contact)
        if integrated not in ("finer", "first"):
            raise InvalidSystem(f"SegmentContact: integrated must be one of 'finer', 'first', got {integrated!r}.")
        if integrated == "first" and isinstance(between, str):
            raise InvalidSystem("SegmentContact: integrated = \"first\" needs pairs of bodies in between, got 'all'.")
        self._is_first = _is_first(surface, between if integrated == "first" else "all")
        self._facets = facets_of(surface, points)
        self._beyond = _OVERHANG * shortest * self._facets.outer
        touches = np.flatnonzero(self.between.any(axis=1))
        self._vertices = surface.vertices[np.isin(surface.vertex_bodies, touches)]
        self._around: NDArray[np.bool_] | None = None  # the nodes whose pairs it has, if not those of all
        self.list_positions = np.empty((0, 3))
        self.empty()

    @classmethod
    @checked
    def from_materials(
        cls,
        surface: Surface,
        points: Array,
        materials: Material | Sequence[Material | None],
        *,
        speed: float = 0.0,
        distance: float = 0.0,
        between: str | Sequence[tuple[str, str]] = "all",
        self_contact: bool = False,
        integrated: Literal["finer", "first"] = "finer",
        depth: float | None = None,
        margin: float | None = None,
    ) -> SegmentContact:
        """Return the contact with a stiffness that follows from the materials and meshes of the bodies.

        Parameters
        ----------
        materials : Material, or a sequence of them
            Of all bodies, or of each one in the order of ``surface.names``; None for a rigid one.
        speed : float, default 0.0
            At which bodies approach each other, in m/s (`symplex.contact.contact_stiffness`, d̂ being the depth).
        """
        stiffness = contact_stiffness(surface, materials, "penalty", depth or segment_depth(surface), speed)
        return cls(
            surface,
            points,
            stiffness,
            distance=distance,
            between=between,
            self_contact=self_contact,
            integrated=integrated,
            depth=depth,
            margin=margin,
        )

    def renumbered(self, nodes: IntArray, around: NDArray[np.bool_] | None = None) -> SegmentContact:
        """Return the contact with some nodes alone, all of its faces among them (see `BodyContact.renumbered`)."""
        few = copy.copy(self)
        few.surface = self.surface.renumbered(nodes)
        few._facets = self._facets._replace(nodes=np.searchsorted(nodes, self._facets.nodes).astype(np.int32))
        few._vertices = np.searchsorted(nodes, self._vertices).astype(np.int32)
        few._around = None
        if around is not None:  # of facets that have a node of these in their face, the corners
            few._around = np.zeros(len(nodes), bool)
            few._around[few.surface.triangles[around[few._facets.nodes].any(axis=1)]] = True
        few.list_positions, few._covered = np.empty((0, 3)), ()
        few.empty()
        return few

    @property
    def possible_nodes(self) -> IntArray:
        """Those of the faces of the surface."""
        return np.unique(self._facets.nodes).astype(np.int32)

    # -- the list ---------------------------------------------------------------------------------------------

    def find(self, ends: tuple[Array, ...], distance: float) -> None:
        """Let the list be all pairs of facets that may be closer than a distance in m on the way between the ends."""
        self._list(*faces_near(self.surface, ends, distance, self.between, self._around))

    def empty(self) -> None:
        """Let there be no pairs."""
        none = np.empty(0, np.int32)
        self._list(none, none)

    def _list(self, one: IntArray, other: IntArray) -> None:
        """Let these facets [m] and [m] be the pairs."""
        bodies, facets = self.surface.triangle_bodies, self._facets
        may_touch = ~((bodies[one] == bodies[other]) & self._are_front_and_back(one, other))
        one, other = one[may_touch], other[may_touch]
        turned = ~self._is_first[bodies[one], bodies[other]]
        first, second = np.where(turned, other, one), np.where(turned, one, other)
        width = facets.nodes.shape[1]
        rule = three_points() if facets.shapes.shape[1] == 3 else six_points()
        barycentric = np.column_stack([1.0 - rule.points.sum(axis=1), rule.points])
        self.nodes = np.concatenate([facets.nodes[first], facets.nodes[second]], axis=1)
        record = FacetPairs(
            nodes=self.nodes,
            corners=np.concatenate([facets.corners[first], facets.corners[second] + width], axis=1, dtype=np.int32),
            pairs=np.column_stack([first, second]).astype(np.int32),
            sizes=facets.sizes,
            areas=facets.areas,
            beyond=self._beyond,
            shapes=facets.shapes,
            points=barycentric,
            weights=rule.weights[:, None],
            stiffness=self.stiffness,
            reach=self.distance,
            depth=self.depth,
            linear=int(width <= 4),
        )
        self._compose(3, record)

    def _are_front_and_back(self, one: IntArray, other: IntArray) -> NDArray[np.bool_]:
        """Return which pairs of facets [m] are behind each other at rest, nearer than bodies are thick."""
        facets = self._facets
        apart, sizes = facets.centres[other] - facets.centres[one], np.sqrt(facets.areas)
        behind = (facets.normals[one] * apart).sum(axis=1) < 0.0
        behind &= (facets.normals[other] * apart).sum(axis=1) > 0.0
        return behind & (np.linalg.norm(apart, axis=1) < _BEHIND * self.depth + sizes[one] + sizes[other])

    def near(self, ends: tuple[Array, ...]) -> SegmentContact:
        """Return an energy of all pairs that may act at the positions [n, 3], one or two of them."""
        return self.complete(ends)

    @property
    def record(self) -> FacetPairs:
        """The pairs."""
        return self._record  # pyright: ignore[reportReturnType]

    def _farthest(self, q: Array, at: Array) -> float:
        return farthest_moved(q, self._vertices, at)

    # -- local functions --------------------------------------------------------------------------------------

    def value(self, x: Array) -> Array:
        """Return φ [m] in J at the positions x [m, k, 3] in m."""
        return self._local(forms.VALUE, x)

    def has(self, optional: OptionalFunction | Literal["lattice_functions"]) -> bool:
        """Return whether it has an optional method: not functions of the lattice, which `lattice_functions` refuses."""
        return optional != "lattice_functions" and super().has(optional)

    def lattice_functions(self, axes: Array | None = None) -> LatticeFunctions:
        """Refuse: force-stepping would find integrals again at each of its events.

        Raises
        ------
        InvalidSystem
            Always.
        """
        raise InvalidSystem(
            "contact integrated over facets (SegmentContact) is not supported by force-stepping; take contact of pairs "
            '(BodyContact, integration = "pairs"), or another method.'
        )

    def _gaps(self, q: Array) -> Array:
        """Return the least gaps [m] in m of the pairs in the list; infinite where they do not face each other.

        Those below −depth are of fronts and backs of bodies that lie on each other.
        """
        gaps = np.empty(len(self.nodes))
        segment_loops.write_gaps(np.ascontiguousarray(q, dtype=float), self.record, gaps)
        return gaps

    def _gaps_in_front(self, q: Array) -> Array:
        """Return the gaps [m] in m, infinite where they are of fronts and backs."""
        gaps = self._gaps(q)
        return np.where(gaps > -self.depth, gaps, np.inf)

    def _refuse(self, form: Form, nodal: tuple[Array, ...]) -> None:
        raise StepFailed("SegmentContact has no finite energy or force: a face has no area. Try a smaller step.")

    # -- what is assembled ------------------------------------------------------------------------------------

    def acts_at(self, q: Array) -> bool:
        """Return whether there are forces at the nodal positions q [n, 3]."""
        return bool(self.complete((q,))._gaps_in_front(q).min(initial=np.inf) < self.distance)

    def contact_stiffness_bound(self, n_nodes: int) -> Array:
        """Return per node [n_nodes] in N/m what closed contact adds to its stiffness at most: 2 k times its area."""
        latent, surface = np.zeros(n_nodes), self.surface
        touches = np.asarray(self.between.any(axis=1))[surface.vertex_bodies]
        latent[surface.vertices[touches]] = 2.0 * self.stiffness * surface.vertex_areas[touches]
        return latent

    # -- what must not happen ---------------------------------------------------------------------------------

    def collision_free_fraction(self, q0: Array, q1: Array) -> float:
        """Return a part in [0, 1] of the straight way from q0 to q1 [n, 3] after which no surfaces are too deep."""
        part = 1.0
        while part > _SHORTEST and self.find_penetration(q0, q0 + part * (q1 - q0)) is not None:
            part *= 0.5
        return part

    def find_penetration(self, q0: Array, q1: Array) -> str | None:
        """Return where surfaces are too deep in each other after the straight way from q0 to q1 [n, 3]; or None."""
        listed = self
        if not self._is_complete((q0, q1)):
            listed = self._found_at((q0, q1))
        before, after = listed._gaps(q0), listed._gaps(q1)
        limit = -_SPENT * self.depth
        passed = (before > -self.depth) & (after < limit)
        aside = passed & np.isinf(before) & (after <= -self.depth)
        if aside.any():  # they have passed through each other, or are front and back
            on_path = [listed._gaps_in_front(q0 + part * (q1 - q0)) for part in _ON_PATH]
            passed &= ~aside | np.isfinite(on_path).any(axis=0)
        deep = np.flatnonzero(passed)
        if not len(deep):
            return None
        worst = int(deep[np.argmin(after[deep])])
        return f"{self._who(listed.nodes[worst], q1)} by {-after[worst]:.3g} m, of {-limit:.3g} m at most"

    def check_start(self, q: Array) -> None:
        """Check that no surfaces are too deep in each other at the nodal positions q [n, 3].

        Raises
        ------
        InvalidSystem
            If some are.
        """
        if (what := self.find_penetration(q, q)) is not None:
            raise InvalidSystem(f"SegmentContact: {what}. Move them apart; bodies thinner than that need BodyContact.")
        listed = self.complete((q,))
        gaps, pairs = listed._gaps(q), np.sort(listed._bodies(), axis=1)
        for overlap in intersections(self.surface, q, self.between):
            of_both = gaps[(pairs == sorted(map(self.surface.body, overlap.bodies))).all(axis=1)]
            if not np.any((of_both > -self.depth) & (of_both < 0.0)):
                raise InvalidSystem(
                    f"SegmentContact: {overlap}, more than the {_SPENT * self.depth:.3g} m that it resists. Move them "
                    "apart."
                )

    def _bodies(self) -> IntArray:
        """Return the bodies [m, 2] of the pairs in the list."""
        return self.surface.bodies_of(self.nodes[:, [0, -1]])

    def _who(self, nodes: IntArray, q: Array) -> str:
        width = len(nodes) // 2
        one, other = (self.surface.names[body] for body in self.surface.bodies_of(nodes[[0, width]]))
        at = ", ".join(f"{x:.4g}" for x in q[nodes[:width]].mean(axis=0))
        return f"'{one}' and '{other}' overlap at ({at}) m"

    # -- for output -------------------------------------------------------------------------------------------

    @property
    def columns(self) -> tuple[Column, ...]:
        """The force between each two bodies, and the smallest gap."""
        return columns_of(self.surface.names, self.between)

    def observed(self, state: State, gradient: Array) -> dict[str, float]:
        """Return the forces of bodies on each other as they act, and the smallest gap, at most the reach."""
        return self.at(state.q, gradient).observed()

    def at(self, q: Array, gradient: Array | None = None) -> SegmentState:
        """Return gaps, forces and pressures at the nodal positions q [n, 3].

        Parameters
        ----------
        q : float64 [n, 3]
            In m.
        gradient : float64 [m, k, 3], optional
            ∂φ/∂x in N of the pairs in the list as it acts in a motion; default: that at q. It is taken if the list is
            complete at q.
        """
        energy = self.complete((q,))
        if gradient is None or energy is not self:
            gradient = energy.gradient(q[energy.nodes])
        gaps = energy._gaps_in_front(q)
        return SegmentState(self.surface, self.between, self.reach, q, energy.record, gaps, gradient)

    def nodal_forces(self, q: Array) -> Array:
        """Return the contact forces [n, 3] in N on the nodes at the nodal positions q [n, 3]."""
        return self.at(q).nodal_forces()

    def pressures(self, q: Array) -> Array:
        """Return the pressures [v] in Pa at the vertices of the surface: means over what is pressed at each."""
        return self.at(q).pressures()[self.surface.vertices]

    def resultants(self, q: Array) -> dict[tuple[str, str], Array]:
        """Return for each pair of different bodies that may touch the force [3] in N of the second on the first one."""
        return self.at(q).resultants()


@dataclass(frozen=True, eq=False)
class SegmentState:
    """Bodies in contact by facets at some positions."""

    surface: Surface
    between: NDArray[np.bool_]  # [bodies, bodies]: which bodies may touch
    farthest: float  # the gap in m that is reported where none is smaller
    q: Array  # [n, 3]: the nodal positions in m
    pairs: FacetPairs
    gaps: Array  # [m]: the least of each pair in m
    gradient: Array  # [m, k, 3]: ∂φ/∂x of each in N, as it acts

    def of_some(self, rows: NDArray[np.intp]) -> SegmentState:
        """Return what there is to report of some of its pairs, by their places."""
        return replace(self, pairs=self.pairs.chosen(rows), gaps=self.gaps[rows], gradient=self.gradient[rows])

    def nodal_forces(self) -> Array:
        """Return the contact forces [n, 3] in N on the nodes."""
        out = np.zeros_like(self.q)
        np.subtract.at(out, self.pairs.nodes, self.gradient)
        return out

    def nodal_gaps(self) -> Array:
        """Return the least gaps [n] in m of the facets at nodes; `farthest` if none is near."""
        out = np.full(len(self.q), self.farthest)
        corners = np.take_along_axis(self.pairs.nodes, self.pairs.corners, axis=1)
        np.minimum.at(out, corners, self.gaps[:, None])
        return out

    def pressures(self) -> Array:
        """Return the pressures [n] in Pa at nodes: means over what is pressed of the facets at each."""
        pressed = np.zeros((len(self.q), 2))
        segment_loops.add_pressures(np.ascontiguousarray(self.q, dtype=float), self.pairs, pressed)
        force, area = pressed.T
        return np.divide(force, area, out=np.zeros(len(force)), where=area > 0.0)

    def resultants(self) -> dict[tuple[str, str], Array]:
        """Return for each pair of different bodies that may touch the force [3] in N of the second on the first one."""
        width = self.pairs.nodes.shape[1] // 2
        bodies = self.surface.bodies_of(self.pairs.nodes[:, [0, -1]])
        return resultants_of(self.surface.names, self.between, bodies, -self.gradient[:, :width].sum(axis=1))

    def observed(self) -> dict[str, float]:
        """Return the numbers that `columns_of` declares."""
        return observed_of(self.between, self.resultants, float(self.gaps.min(initial=self.farthest)))


def segment_depth(surface: Surface) -> float:
    """Return how deep in m surfaces may pass into each other: half of the shortest edge at rest."""
    return _DEPTH * float(surface.edge_lengths.min())


def _is_first(surface: Surface, between: str | Sequence[tuple[str, str]]) -> NDArray[np.bool_]:
    """Return over the surface of which body [bodies, bodies] integrals of a pair are: true where of the first."""
    count = len(surface.names)
    of_body = np.bincount(surface.edge_bodies, minlength=count)
    means = np.bincount(surface.edge_bodies, surface.edge_lengths, count) / of_body
    first = means[:, None] < means[None, :]
    first |= (means[:, None] == means[None, :]) & np.triu(np.ones((count, count), bool), 1)
    if not isinstance(between, str):
        for one, other in between:
            i, j = surface.body(one), surface.body(other)
            first[i, j], first[j, i] = True, False
    return first
