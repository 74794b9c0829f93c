"""All linear constraints of a deck: equations, ties, rigid bodies and couplings."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from symplex.decks.cyclic import add_cyclic, is_complex
from symplex.decks.deck import Deck, RigidGroup
from symplex.decks.geometry import DeckGeometry
from symplex.decks.mean_nodes import MeanNode
from symplex.decks.reading import UnsupportedKeyword
from symplex.decks.rigid import add_distributed, add_multi_point, add_rigid, rotation_dofs
from symplex.decks.rows import TURNS, Array, Dof, Rows
from symplex.decks.state import Acting, local_axes
from symplex.decks.tied import add_tie

_MOST = 5000  # equations


def rows_of(
    deck: Deck,
    geometry: DeckGeometry,
    local: Mapping[int, Array],
    nonlinear: bool,
    diameter: int | None = None,
    framed: Collection[int] = (),
    still: Collection[Dof] = (),
    driven: Collection[RigidGroup] = (),
) -> Rows:
    """Return all linear constraints of a deck.

    Parameters
    ----------
    deck : Deck
    geometry : DeckGeometry
    local : mapping of int to float64 [3, 3]
        The directions of nodes with a local system.
    nonlinear : bool
        Whether displacements may be large.
    diameter : int, optional
        The nodal diameter, of a deck with cyclic symmetry.
    framed : collection of int
        The nodes of beams and shells.
    still : collection of (int, int)
        What supports hold where it is in all steps: rigid bodies that do not turn may move far.
    driven : collection of RigidGroup
        Rigid bodies that supports move, which need no equations.

    Raises
    ------
    UnsupportedKeyword
        If there are too many, or rigid bodies whose rotations may be large.
    MeshError
        If a set is not there.
    """
    rows = Rows(len(geometry.mesh.points), layered=bool(deck.linked), means=_means(deck, geometry), framed={*framed})
    for node, mean in rows.means.items():
        if mean.is_node:
            for i in range(3):
                rows.add({(node, i): -1.0, **mean.held(i)[0]})
    for tie in deck.tied:
        if not tie.cyclic:
            add_tie(rows, tie, geometry)
    for rigid in deck.rigid:
        if rigid in driven:
            continue
        if nonlinear and not {*rotation_dofs(rigid, geometry)} <= {*still}:
            raise UnsupportedKeyword(
                "rigid bodies and couplings that turn are known for small rotations only, without NLGEOM"
            )
        add_rigid(rows, rigid, deck, geometry)
    for constraint in deck.multi_point:
        if nonlinear:
            raise UnsupportedKeyword(
                f"constraints {constraint.kind} are known for small rotations only, without NLGEOM"
            )
        add_multi_point(rows, constraint, geometry)
    for distributed in deck.distributed:
        if nonlinear and not distributed.of_element:
            raise UnsupportedKeyword(
                "couplings that distribute forces are known for small rotations only, without NLGEOM"
            )
        add_distributed(rows, distributed, deck, geometry)
    for equations, directions in ((deck.equations, local), (deck.linked, {})):
        for equation in equations:
            if nonlinear and any(term.component >= TURNS for term in equation):
                raise UnsupportedKeyword("equations of rotations are known for small ones only, without NLGEOM")
            for members in _spread([geometry.nodes(term.nodes) for term in equation]):
                factors: dict[Dof, float] = {}
                for term, node in zip(equation, members, strict=True):
                    for dof, factor in _along(rows, geometry, node, term.component, directions).items():
                        factors[dof] = factors.get(dof, 0.0) + term.factor * factor
                rows.add(factors)
    if any(node in local for node in rows.turning):
        raise UnsupportedKeyword("a reference node with rotations in a local system is not supported")
    if diameter is not None and deck.sector is not None:
        if is_complex(deck.sector, diameter):
            rows.double()
        for tie in deck.ties:
            if tie.cyclic:
                add_cyclic(rows, tie, deck.sector, diameter, geometry)
    if len(rows.factors) > _MOST:
        raise UnsupportedKeyword(f"it has {len(rows.factors)} equations; more than {_MOST} are too many")
    return rows


def _along(
    rows: Rows, geometry: DeckGeometry, node: int, component: int, local: Mapping[int, Array]
) -> dict[Dof, float]:
    """Return the factors of a displacement or rotation of a node in one of its directions."""
    turns = component >= TURNS
    axis = local_axes(local, node)[component % TURNS]
    found: dict[Dof, float] = {}
    for i in np.flatnonzero(axis):
        dof = rows.turned(node, int(i) + TURNS * turns)
        if dof is None:
            raise UnsupportedKeyword(f"an equation has a rotation of node {geometry.numbers[node]}, which has none")
        found[dof] = float(axis[i])
    return found


def _spread(sets: Sequence[NDArray[np.int64]]) -> Iterator[tuple[int, ...]]:
    """Yield the nodes of equations between sets: one for each node, with which single nodes stand in all."""
    sizes = {len(nodes) for nodes in sets} - {1}
    if len(sizes) > 1 or sum(len(nodes) > 1 for nodes in sets) > 1:
        raise UnsupportedKeyword("equations between several sets of nodes are not supported")
    m = max(len(nodes) for nodes in sets)
    yield from zip(*(np.broadcast_to(nodes, m).tolist() for nodes in sets), strict=True)


def _means(deck: Deck, geometry: DeckGeometry) -> dict[int, MeanNode]:
    """Return the nodes of shells by their places."""
    of_others = {node for *_, nodes in geometry.discrete() for node in nodes}
    found: dict[int, MeanNode] = {}
    for number, through in deck.shells.items():
        node, below, above = (int(geometry.nodes(str(n))[0]) for n in (number, through.below, through.above))
        between = None if through.between is None else int(geometry.nodes(str(through.between))[0])
        across = geometry.mesh.points[above] - geometry.mesh.points[below]
        thickness = float(np.linalg.norm(across))
        is_node = bool(geometry.in_elements[node]) or node in of_others
        found[node] = MeanNode(below, between, above, across / thickness, thickness, is_node)
    return found


def on_turning_nodes(acts: Acting, rows: Rows) -> Acting:
    """Return what acts, with rotations and moments of reference nodes on the nodes that stand for them.

    Raises
    ------
    UnsupportedKeyword
        If a node has none.
    """
    for (node, component), value in acts.supports.items():  # nodes of solids have no rotations to hold
        if value.value and rows.turned(node, component) is None:
            raise UnsupportedKeyword("rotations are given of nodes that have none")
    supports = {rows.turned(*dof): value for dof, value in acts.supports.items()}
    locked = {rows.turned(*dof): step for dof, step in acts.locked.items()}
    forces = {rows.turned(*dof): values for dof, values in acts.forces.items()}
    if None in forces:
        raise UnsupportedKeyword("a moment acts on a node that has no rotation")
    return replace(
        acts,
        supports={dof: value for dof, value in supports.items() if dof is not None},
        forces={dof: values for dof, values in forces.items() if dof is not None},
        locked={dof: step for dof, step in locked.items() if dof is not None},
    )
