"""Penalty contact of nodes with a rigid obstacle."""

from __future__ import annotations

from abc import abstractmethod
from typing import Annotated, final

import numpy as np

from symplex.base.arguments import checked
from symplex.base.columns import Column, components, vector_columns
from symplex.base.quantities import positive
from symplex.contact.gap_law import ContactLaw, MeasuredLaw
from symplex.contact.obstacles import Obstacle
from symplex.errors import InvalidSystem
from symplex.fem.assembly import forms
from symplex.fem.assembly.forms import Form
from symplex.fem.assembly.nodes import Nodes, distinct_nodes, node_pairs
from symplex.fem.assembly.pattern import Array, IntArray
from symplex.fem.energies.contact_energy import ContactEnergy
from symplex.fem.measures.composition import MeasureEnergy
from symplex.fem.state import State

_PENETRATION = Column("penetration", "m", "length", plot="penetration", summary="peak", combined="largest")
COLUMNS = (*vector_columns("contact_force", "N", "force", plot="contact force", summary="peak"), _PENETRATION)


class ObstacleContact(ContactEnergy):
    """Contact of nodes with one rigid obstacle: what it shows of a state.

    Attributes
    ----------
    nodes : int32 [m, k]
        The stencils, each beginning with a node that may touch.
    obstacle : Obstacle
    stiffness : float
        In N/m, if the gap is a distance.
    """

    obstacle: Obstacle
    stiffness: float

    @abstractmethod
    def gaps(self, q: Array) -> Array:
        """Return the gaps g [m] of the contact nodes at the nodal positions q [n, dim]; negative: inside."""

    @abstractmethod
    def shares(self, x: Array) -> Array:
        """Return the weights [m, k] of the nodes of stencils in the velocity of the first relative to the obstacle.

        Parameters
        ----------
        x : float64 [m, k, dim]
            The positions of some stencils in m.
        """

    def add(self, form: Form, nodal: tuple[Array, ...], out: Array, slots: IntArray | None = None) -> None:
        """Add a form to what is assembled: of the nodes that are inside at one of the ends, as all others have none."""
        inside = np.zeros(len(self.nodes), bool)
        for q in form.positions(nodal):
            inside |= self.gaps(q) < 0.0
        rows = np.flatnonzero(inside)
        if not len(rows):
            return
        nodes = self.nodes[rows]
        local = np.ascontiguousarray(getattr(self, form.name)(*[values[nodes] for values in nodal]))
        forms.SCATTER[form.kind](local, nodes if slots is None else slots[rows], out)

    @property
    def columns(self) -> tuple[Column, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The force of all obstacles on the bodies, and how deep nodes are inside at most."""
        return (*COLUMNS[: self.obstacle.dim], _PENETRATION)

    def observed(self, state: State, gradient: Array) -> dict[str, float]:
        """Return the force on the nodes as it acts, and the depth of the deepest, at least 0."""
        deepest = max(self.deepest(state.q)[1], 0.0) if len(self.nodes) else 0.0
        return components("contact_force", -gradient[:, 0].sum(axis=0)) | {_PENETRATION.name: deepest}

    def forces(self, q: Array) -> Array:
        """Return the forces [m, dim] in N of the obstacle on the contact nodes at the positions q [n, dim]."""
        return -self.gradient(q[self.nodes])[:, 0]

    def resultant(self, q: Array) -> Array:
        """Return the total force [dim] in N of the obstacle on the body at the positions q [n, dim]."""
        return self.forces(q).sum(axis=0)

    def deepest(self, q: Array) -> tuple[int, float]:
        """Return the node that is deepest inside and its depth in m (negative: nothing is inside)."""
        if not len(self.nodes):
            raise InvalidSystem(f"{type(self).__name__} has no nodes.")
        gaps = self.gaps(q)
        first = int(np.argmin(gaps))
        return int(self.nodes[first, 0]), -float(gaps[first]) / self.obstacle.slope


def positive_stiffness(owner: str, stiffness: float) -> float:
    """Return a stiffness in N/m, checked."""
    if not (np.isfinite(stiffness) and stiffness > 0):
        raise InvalidSystem(f"{owner}: the stiffness must be positive; it is {stiffness} N/m.")
    return float(stiffness)


@checked
@final
class RigidContact(MeasureEnergy, ObstacleContact):
    """Nodes that a rigid obstacle pushes out: φ = ½ k ⟨−g⟩² for each, ⟨·⟩ the positive part.

    Eqs. 76–77 of Gonzalez, Schmidt and Ortiz (2010) with k = 1/ε. The discrete gradient is exact across opening and
    closing; at a sphere it keeps the angular momentum about the centre.

    An obstacle may be carried by a node, with which it moves but does not turn: its place is then relative to that
    node, whose mass is the obstacle's, and which takes the opposite forces. A sphere about its carrier keeps both
    momenta with what it hits. Where the node is a support that moves, the obstacle has a given motion.

    Parameters
    ----------
    nodes : int [m]
        The nodes that may touch; usually those of the boundary.
    obstacle : Obstacle
    stiffness : float or ContactLaw
        k in N/m (if the gap is a distance), or a custom law, w(g) in place of ½ k ⟨−g⟩².
    carrier : int, optional
        The node that carries the obstacle; default: the obstacle stands still.

    Raises
    ------
    InvalidSystem
        If a node is named twice, the stiffness is not positive, or the inside of a box has a custom law.
    """

    def __init__(self, nodes: Nodes, obstacle: Obstacle, stiffness: float | ContactLaw, carrier: int | None = None):
        if not obstacle.compiled:
            raise InvalidSystem(f"RigidContact: a {type(obstacle).__name__} has its own contact; take SplineContact.")
        self.obstacle, self.carrier = obstacle, carrier
        self.law = stiffness if isinstance(stiffness, ContactLaw) else None
        given = stiffness.stiffness if isinstance(stiffness, ContactLaw) else stiffness
        self.bounded_stiffness = self.law is None or bool(np.isfinite(given))
        self.stiffness = positive_stiffness("RigidContact", given) if self.bounded_stiffness else np.inf
        stencils = distinct_nodes("RigidContact", nodes)[:, None]
        if carrier is not None:
            stencils = node_pairs("RigidContact", np.column_stack([stencils, np.full(len(stencils), carrier)]))
        law, length = obstacle.law
        formula = (law, self.stiffness, length) if self.law is None else MeasuredLaw(self.law, obstacle)
        self._compose(stencils, obstacle.measure, formula, obstacle.dim)

    @classmethod
    @checked
    def from_penalty(cls, nodes: Nodes, obstacle: Obstacle, penalty: Annotated[float, positive("m/N")]) -> RigidContact:
        """Return the contact with stiffness 1/ε, given the penalty parameter ε in m/N."""
        return cls(nodes, obstacle, 1.0 / penalty)

    def contact_stiffness_bound(self, n_nodes: int) -> Array:
        """Return k |∂g/∂x|² in N/m for each node [n_nodes] that may touch, 0 for the others.

        A carrier has it of all nodes together: so many may come to touch at the same time.
        """
        latent = np.zeros(n_nodes)
        if not self.bounded_stiffness:
            return latent
        stiffness = self.stiffness * self.obstacle.slope**2
        latent[self.nodes[:, 0]] = stiffness
        if self.carrier is not None:
            # ω² of nodes m and a carrier M is at most k/m + N k/M; asked for is what each has alone.
            latent *= 2.0
            latent[self.carrier] = 2.0 * stiffness * len(self.nodes)
        return latent

    def gaps(self, q: Array) -> Array:
        """Return the gaps g [m] of the contact nodes at the nodal positions q [n, dim]; negative: inside."""
        x = q[self.nodes[:, 0]]
        return self.obstacle.gap(x if self.carrier is None else x - q[self.nodes[:, 1]])

    def shares(self, x: Array) -> Array:
        """Return 1 for the node, and −1 for its carrier if there is one [m, 1 or 2]."""
        return np.tile([1.0, -1.0][: x.shape[1]], (len(x), 1))
