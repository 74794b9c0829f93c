"""Bodies that begin or end with a part of a run: elements that are added without stress, and elements that go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

from symplex.base.sparse import sp
from symplex.errors import MeshError, StepFailed
from symplex.fem.assembly.pattern import Pattern, scatter_blocks
from symplex.fem.energies.energy import Array, Energy, IntArray
from symplex.fem.state import State
from symplex.fem.system import System
from symplex.meshes.mesh import Mesh
from symplex.scenario.bodies import Body
from symplex.scenario.contacts import ContactTable
from symplex.scenario.parts import Part
from symplex.scenario.rigid import SurfaceTable
from symplex.scenario.ties import TieTable
from symplex.time.stages import Beginning

if TYPE_CHECKING:
    from symplex.scenario.tables import Tables


@final
class BodiesBegin(Beginning):
    """Bodies whose elements have no stress in the shape that they have as a stage begins.

    Nodes that only they have were held until then: they move as they would if their elements were elastic and light,
    with the nodes that the bodies share with others where these are.

    Parameters
    ----------
    bodies : mapping of str to (int32 [k], sequence of Part)
        Their nodes and parts by name.
    active : int32 [a]
        The nodes of all that was there before.
    points : float64 [n, 3]
        The positions in m of all nodes at the start.
    fixed : bool [n, 3]
        Coordinates that supports hold or move in the stage.
    """

    def __init__(
        self,
        bodies: Mapping[str, tuple[IntArray, Sequence[Part]]],
        active: IntArray,
        points: Array,
        fixed: NDArray[np.bool_],
    ):
        self._bodies, self._active, self._points, self._fixed = dict(bodies), active, points, fixed

    def begun(self, state: State, kept: Mapping[str, Array]) -> tuple[State, dict[str, Array]]:
        """Return the state with the new nodes carried along, and the positions of the nodes of each body there."""
        new = {name: found for name, found in self._bodies.items() if name not in kept}
        if not new:
            return state, dict(kept)
        q = state.q.copy()
        nodes = np.unique(np.concatenate([own for own, _ in new.values()]))
        older = [own for name, (own, _) in self._bodies.items() if name in kept]
        there = np.isin(nodes, np.concatenate([self._active, *older]))
        moved = q[nodes] - self._points[nodes]
        given = there[:, None] | self._fixed[nodes]
        parts = [part for _, some in new.values() for part in some]
        q[nodes] = self._points[nodes] + self._carried(nodes, parts, moved, given)
        found = {name: q[own] for name, (own, _) in new.items()}
        changed = replace(state, q=q) if np.any(q != state.q) else state
        return changed, {**kept, **found}

    def _carried(self, nodes: IntArray, parts: Sequence[Part], moved: Array, given: NDArray[np.bool_]) -> Array:
        """Return displacements [k, 3] in m: those that are given, and the others as in linear elasticity."""
        from scipy.sparse.linalg import MatrixRankWarning, spsolve

        u, free = np.where(given, moved, 0.0), ~given.ravel()
        if not u.any() or not free.any():
            return u
        pattern = Pattern(len(nodes), [np.searchsorted(nodes, part.cells).astype(np.int32) for part in parts])
        blocks = pattern.zeros(3)
        for part, slots in zip(parts, pattern.slots, strict=True):
            solid = part.solid(self._points)
            scatter_blocks(np.ascontiguousarray(solid.hessian(self._points[solid.nodes])), slots, blocks)
        K = sp.csr_array(pattern.matrix(blocks))
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("error", MatrixRankWarning)
            try:
                rhs = -(K[free][:, ~free] @ u.ravel()[~free])
                u.ravel()[free] = spsolve(sp.csc_matrix(K[free][:, free]), rhs)
            except (MatrixRankWarning, RuntimeError):
                shift = u[given.all(axis=1)].mean(axis=0) if given.all(axis=1).any() else np.zeros(3)
                u = np.where(given, u, shift)
        return u

    def system(self, of: System, kept: Mapping[str, Array]) -> System:
        """Return the system with these bodies as they are without stress."""
        energies: dict[str, Energy] = dict(of.energies)
        for name, (nodes, parts) in self._bodies.items():
            points = self._points.copy()
            points[nodes] = kept[name]
            for part in parts:
                if part.name in energies:
                    try:
                        energies[part.name] = part.solid(points)
                    except MeshError as error:
                        raise StepFailed(
                            f"body '{name}' cannot begin in the shape that it has by then: {str(error).rstrip('.')}. "
                            "Let what it begins on move less, or begin earlier."
                        ) from None
        return of.with_parts(energies)


def changing_bodies(tables: Tables) -> list[Body]:
    """Return the bodies that begin later, or end."""
    return [body for body in tables.body if body.changes]


def wrong_bodies(tables: Tables) -> list[str]:
    """Return lines about what does not go with bodies that begin or end."""
    lines: list[str] = []
    changing = [body.name for body in changing_bodies(tables)]
    for body in tables.body:
        if not body.changes:
            continue
        here = body.here
        odd = next((one for one in body.material_of_group.values() if one.is_plastic or one.viscous), None)
        if odd is not None:
            lines.append(f"{here}: begins or ends, and its material has a history; only elastic bodies do so.")
        if body.until == 0.0:
            lines.append(f"{here}: until must be after 0; leave the body out.")
    named = [
        (here, next((name for name in changing if any(name in pair for pair in item.pairs(tables.touching))), None))
        for here, item in tables.entries(ContactTable)
    ]
    for item in tables.obstacle:
        if not isinstance(item, SurfaceTable):
            touched = next((name for name in changing if item.bodies is None or name in item.bodies), None)
            named.append((item.here, touched))
    for here, item in tables.entries(TieTable):
        on = next((name for name in changing if item.kind == "surface" and name in item.bodies_named), None)
        named.append((here, on))
    lines += [
        f"{here}: '{name}' begins or ends, and its contact or tied surface would not; name other bodies, or join it by "
        "the nodes of a [[tie]]."
        for here, name in named
        if name is not None
    ]
    return lines


def nodes_of(tables: Tables, mesh: Mesh, inactive: Sequence[str]) -> IntArray:
    """Return the nodes of all bodies, trusses and so on but some."""
    names = [name for name in tables.names if name not in inactive]
    found = [mesh.nodes_of(name) for name in names]
    return np.unique(np.concatenate([np.empty(0, np.int32), *found])).astype(np.int32)
