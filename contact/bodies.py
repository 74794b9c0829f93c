"""Contact between bodies, and of a body with itself: one potential for all integrators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from typing import Literal, final

import numpy as np
from numpy.typing import NDArray

from symplex.base.arguments import checked
from symplex.base.columns import Column
from symplex.contact.crossing import crossing, intersections, largest_step
from symplex.contact.laws import LAWS, require_law
from symplex.contact.output import Contacts, ContactState, columns_of
from symplex.contact.pair_directional import add_secant, add_secant_rate, add_third
from symplex.contact.pair_discrete import add_discrete_gradient, add_discrete_hessian
from symplex.contact.pair_lattice import pair_lattice
from symplex.contact.pair_loops import add_gradient, add_hessian, set_nearest, set_values
from symplex.contact.pairs import Law, scratch
from symplex.contact.search import SurfacePairs, find_pairs, find_swept
from symplex.contact.stiffness import contact_stiffness, default_distance
from symplex.contact.surfaces import Surface
from symplex.errors import InvalidSystem, StepFailed
from symplex.fem import forms
from symplex.fem.assembly import Array, IntArray
from symplex.fem.changing import ChangingEnergy, farthest
from symplex.fem.energy import RIGID, LatticeFunctions
from symplex.fem.forms import Form
from symplex.fem.solids.constitutive import Material
from symplex.fem.state import State

_TOUCH = 1e-9  # of the distance at which forces begin: what is as near as that touches


@checked
@final
class BodyContact(ChangingEnergy):
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

    Raises
    ------
    InvalidSystem
        If a number is not positive, d̂ is above the shortest edge, a body does not exist, no bodies may touch, or one
        that may touch itself has no volume.
    """

    invariances = RIGID
    resolved_share = 0.4

    def __init__(
        self,
        surface: Surface,
        stiffness: float,
        *,
        law: Literal["penalty", "barrier"] = "penalty",
        distance: float | None = None,
        between: str | Sequence[tuple[str, str]] = "all",
        self_contact: bool = False,
        margin: float | None = None,
    ):
        distance = default_distance(surface) if distance is None else float(distance)
        margin = 0.5 * float(surface.edge_lengths.mean()) if margin is None else float(margin)
        for name, number, unit in (
            ("stiffness", stiffness, "N/m³"),
            ("distance", distance, "m"),
            ("margin", margin, "m"),
        ):
            if not (isfinite(number) and number > 0.0):
                raise InvalidSystem(f"BodyContact: the {name} must be positive; it is {number:g} {unit}.")
        require_law("BodyContact", law)
        shortest = float(surface.edge_lengths.min())
        if distance > shortest:
            raise InvalidSystem(
                f"BodyContact: the distance at which forces begin, {distance:.4g} m, is above the shortest edge of the "
                f"surface, {shortest:.4g} m: parts of one body would push each other. Take a tenth of it."
            )
        self.surface, self.law, self.stiffness = surface, law, float(stiffness)
        self.reach, self.margin = distance, margin
        self.between = _between(surface, between, self_contact)
        self.bounded_stiffness = law != "barrier"
        self.listed_at = np.empty((0, 3))
        # Nothing meets while no node is farther than the root of a square in m² from where it was.
        self._clear_at, self._clear = np.empty((0, 3)), 0.0
        self._keep(SurfacePairs(np.empty((0, 4), np.int32), np.empty(0, np.uint8), np.empty(0), np.empty(0)))
        self._law, self._work = Law(LAWS[law], self.stiffness, self.reach), scratch()

    @classmethod
    @checked
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

    # -- the list ---------------------------------------------------------------------------------------------

    def find(self, ends: tuple[Array, ...], distance: float) -> None:
        """Let the list be all pairs of the surface that are closer than a distance in m at one of the ends [n, 3]."""
        for q in ends:
            if q.ndim != 2 or q.shape[1] != 3:
                raise InvalidSystem(f"BodyContact: positions have shape {q.shape}, wanted (n, 3).")
            if not np.isfinite(q).all():
                raise StepFailed("BodyContact: positions are not finite.")
        self._keep(find_pairs(self.surface, ends, distance, self.between))

    def _keep(self, pairs: SurfacePairs) -> None:
        self.nodes, self._edge_edge, self._weights, self._parallel = pairs

    @property
    def pairs(self) -> SurfacePairs:
        """The pairs in the list."""
        m = len(self.nodes)
        return SurfacePairs(self.nodes, self._edge_edge[:m], self._weights[:m], self._parallel[:m])

    def complete(self, ends: tuple[Array, ...]) -> BodyContact:
        """Return the contact, or a copy, with a list that is complete at the positions [n, 3], one or two of them."""
        return self._complete(ends)

    # -- local functions: the loops on pairs that share no nodes ----------------------------------------------

    def value(self, x: Array) -> Array:
        """Return φ [m] in J at the positions x [m, 4, 3] in m."""
        phi = np.empty(len(x))
        set_values(_apart(x), self._pairs_apart(len(x)), self._law, self._work, phi)
        return phi

    def gradient(self, x: Array) -> Array:
        """Return ∂φ/∂x [m, 4, 3] in N at the positions x [m, 4, 3] in m."""
        return self._local(forms.GRADIENT, x)

    def hessian(self, x: Array) -> Array:
        """Return ∂²φ/∂x² [m, 12, 12] in N/m at the positions x [m, 4, 3] in m."""
        return self._local(forms.HESSIAN, x)

    def discrete_gradient(self, x0: Array, x1: Array) -> Array:
        """Return DG [m, 4, 3] in N from x0 to x1 [m, 4, 3]."""
        return self._local(forms.DISCRETE_GRADIENT, x0, x1)

    def discrete_hessian(self, x0: Array, x1: Array) -> Array:
        """Return ∂DG/∂x1 [m, 12, 12] in N/m from x0 to x1 [m, 4, 3]."""
        return self._local(forms.DISCRETE_HESSIAN, x0, x1)

    def increment_gradient(self, x: Array, compensation: Array, dx: Array) -> Array:
        """Return DG [m, 4, 3] in N from x + compensation to x + compensation + Δx."""
        return self._local(forms.INCREMENT_GRADIENT, x, compensation, dx)

    def secant(self, x: Array) -> Array:
        """Return 𝓕 [m, 4, 4] in N/m at the positions x [m, 4, 3] in m."""
        return self._local(forms.SECANT, x)

    def secant_rate(self, x: Array, v: Array) -> Array:
        """Return 𝓕̇ [m, 4, 4] in N/(m s) at the positions x along the velocities v [m, 4, 3]."""
        return self._local(forms.SECANT_RATE, x, v)

    def third(self, x: Array, a: Array) -> Array:
        """Return ∇³φ[a, a] [m, 4, 3] at x along a [m, 4, 3]; it jumps where other parts become nearest."""
        return self._local(forms.THIRD, x, a)

    def _local(self, form: Form, *local: Array) -> Array:
        m = len(local[0])
        slots = np.arange(16 * m, dtype=np.int32).reshape(m, 4, 4)
        out = np.zeros(form.shape(4 * m, 16 * m, 3))
        self._run(form, tuple(map(_apart, local)), self._pairs_apart(m), slots, out)
        if form.kind == "block":
            return out.reshape(m, 4, 4, 3, 3).swapaxes(2, 3).reshape(m, 12, 12)
        return out.reshape(m, 4, 3 if form.kind == "vector" else 4)

    def _pairs_apart(self, m: int) -> SurfacePairs:
        if m != len(self.nodes):
            raise InvalidSystem(f"BodyContact: positions of {m} pairs were given; the list has {len(self.nodes)}.")
        return self.pairs._replace(nodes=np.arange(4 * m, dtype=np.int32).reshape(m, 4))

    def local_value(self, stencil: int, x: Array) -> float:
        """Return φ in J of one pair at its positions x [4, 3] in m."""
        one, pairs = slice(stencil, stencil + 1), self.pairs
        nodes = np.arange(4, dtype=np.int32)[None]
        pair = SurfacePairs(nodes, pairs.edge_edge[one], pairs.weights[one], pairs.parallel[one])
        return float(set_values(_apart(x), pair, self._law, self._work, np.empty(1)))

    def lattice_functions(self, axes: Array | None = None) -> LatticeFunctions:
        """Return compiled functions of one pair of the list, the same in any axes."""
        return pair_lattice(self.pairs, self._law)

    # -- assembled forms --------------------------------------------------------------------------------------

    def listed_total(self, q: Array) -> float:
        """Return the energy in J of the pairs in the list at q [n, 3]."""
        total = set_values(q, self.pairs, self._law, self._work, np.empty(len(self.nodes)))
        return self._finite(total, q)

    def add_listed(self, form: Form, nodal: tuple[Array, ...], out: Array, slots: IntArray | None) -> None:
        """Add a form of the pairs in the list."""
        if form.name in _LOOPS:
            self._finite(self._run(form, nodal, self.pairs, slots, out), *nodal[: form.ends])
        else:
            super().add_listed(form, nodal, out, slots)

    def _run(
        self, form: Form, nodal: tuple[Array, ...], pairs: SurfacePairs, slots: IntArray | None, out: Array
    ) -> float:
        if form is forms.DISCRETE_GRADIENT:
            nodal = (*nodal, nodal[0], False)  # pyright: ignore[reportAssignmentType]
        elif form is forms.INCREMENT_GRADIENT:
            nodal = nodal[0], nodal[2], nodal[1], True  # pyright: ignore[reportAssignmentType]
        into = [slots, out] if form.is_matrix else [out]
        return _LOOPS[form.name](*nodal, pairs, self._law, self._work, *into)

    def _finite(self, result: float, *ends: Array) -> float:
        if isfinite(result):
            return result
        pairs = self.pairs
        for q in ends:
            _, gaps = self._nearest(q)
            nearest = int(np.argmin(gaps))  # the first that is not a number, if any is
            if not gaps[nearest] > 0.0:
                one, other = (self.surface.names[b] for b in self.surface.bodies_of(pairs.nodes[nearest, [0, 3]]))
                at = ", ".join(f"{x:.4g}" for x in q[pairs.nodes[nearest, 0]])
                raise StepFailed(
                    f"BodyContact: '{one}' and '{other}' touch at ({at}) m, where a barrier has no finite energy. Try "
                    "a smaller step, or a gap between them at the start."
                )
        raise StepFailed("BodyContact has no finite energy or force. Try a smaller step.")

    def latent_stiffness(self, n_nodes: int) -> Array:
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

    # -- what must not happen ---------------------------------------------------------------------------------

    def largest_step(self, q0: Array, q1: Array) -> float:
        """Return a part in [0, 1] of the straight way from q0 to q1 [n, 3] on which nothing passes through."""
        return largest_step(self.surface, q0, q1, self.between)

    def crossing(self, q0: Array, q1: Array) -> str | None:
        """Return what has passed through on the straight way from q0 to q1 [n, 3], and where; None if nothing has."""
        # The way between two places within a ball stays in it.
        if len(self._clear_at) == len(q0) and max(farthest(q, self._clear_at) for q in (q0, q1)) < self._clear:
            return None
        # A list that is complete at both ends has all that meet between them.
        listed = self._is_complete((q0, q1))
        pairs = self.pairs if listed else find_swept(self.surface, q0, q1, self.between)
        found = None if pairs is None else crossing(self.surface, pairs, q0, q1)
        if listed and found is None:
            # What is not in the list is farther apart than d̂; two nodes have to come all this way.
            gap = min(self.reach, self._nearest(q1)[1].min(initial=np.inf))
            self._clear_at, self._clear = q1.copy(), (0.49 * gap) ** 2
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
        if not near.gaps.min(initial=np.inf) > _TOUCH * self.reach:
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
        energy = self._complete((q,))
        pairs = energy.pairs
        if gradient is None or energy is not self:
            gradient = energy.gradient(q[pairs.nodes])
        c, gaps = energy._nearest(q)
        return ContactState(self.surface, self.between, self.reach, q, pairs, c, gaps, gradient)

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

    def _nearest(self, q: Array) -> tuple[Array, Array]:
        """Return c [m, 4] and the distances [m] of the pairs in the list."""
        c, gaps = np.empty((len(self.nodes), 4)), np.empty(len(self.nodes))
        set_nearest(q, self.pairs, self._work, c, gaps)
        return c, gaps


def _apart(x: Array) -> Array:
    """Return local vectors [m, 4, 3] as those of nodes that belong to one pair each."""
    return np.ascontiguousarray(x, dtype=float).reshape(-1, 3)


def _between(surface: Surface, between: str | Sequence[tuple[str, str]], self_contact: bool) -> NDArray[np.bool_]:
    """Return which bodies may touch [bodies, bodies]."""
    count = len(surface.names)
    touches = np.zeros((count, count), bool)
    if isinstance(between, str):
        if between != "all":
            raise InvalidSystem(f"BodyContact: between is 'all' or pairs of names of bodies, not '{between}'.")
        touches[:] = ~np.eye(count, dtype=bool)
    else:
        for pair in between:
            if isinstance(pair, str) or len(pair) != 2:
                raise InvalidSystem(f"BodyContact: between has pairs of names of bodies, not {pair!r}.")
            i, j = (surface.body(name) for name in pair)
            touches[i, j] = touches[j, i] = True
    if self_contact:
        alone = np.ones(count, bool) if count == 1 else touches.any(axis=1)
        touches |= np.diag(alone)
    if not touches.any():
        raise InvalidSystem(
            "BodyContact: no bodies may touch. Name pairs of them, or let a single body be in contact with itself "
            "(self_contact=True)."
        )
    for body in np.flatnonzero(np.diag(touches)).tolist():
        surface.require_volume(body)
    return touches


_LOOPS: dict[str, Callable[..., float]] = {
    "gradient": add_gradient,
    "hessian": add_hessian,
    "discrete_gradient": add_discrete_gradient,
    "increment_gradient": add_discrete_gradient,
    "discrete_hessian": add_discrete_hessian,
    "secant": add_secant,
    "secant_rate": add_secant_rate,
    "third": add_third,
}
