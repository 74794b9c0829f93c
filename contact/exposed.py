"""Surfaces of bodies of which elements go: the boundary of those that are there."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from symplex.base.arguments import checked
from symplex.contact.surfaces import Surface
from symplex.errors import MeshError, StepFailed
from symplex.fem.assembly.copying import Copyable
from symplex.fem.assembly.pattern import Array, IntArray
from symplex.fem.solids.eroding import Eroding
from symplex.fem.solids.solid import Solid
from symplex.meshes.mesh import Mesh


class _Cells(NamedTuple):
    """Elements of one type, nodes [m, k] of points, of a part of the system by its name."""

    part: str
    kind: str
    nodes: IntArray

    @classmethod
    def of(cls, name: str, part: Eroding | Solid) -> _Cells:
        """Return the elements of a part."""
        return cls(name, part.solid.kind if isinstance(part, Eroding) else part.kind, part.nodes)

    def renumbered(self, nodes: IntArray) -> _Cells:
        """Return them with nodes that are numbered by their places among others [s], which ascend."""
        return self._replace(nodes=np.searchsorted(nodes, self.nodes).astype(np.int32))


@checked
@final
class ExposedSurface(Copyable):
    """The surface of several bodies, of some of which elements go.

    A contact follows it: ``contact = BodyContact(exposed.surface(), ...)`` and ``contact.exposes(exposed)``.

    Parameters
    ----------
    points : float64 [p, 3]
        The undeformed points in m, of which surfaces are.
    bodies : mapping of str to Surface, or to mapping of str to Eroding or Solid
        By the names of bodies: the surface of one that stays as it is, or the parts of one that erodes by their names
        in the system.
    """

    def __init__(self, points: Array, bodies: Mapping[str, Surface | Mapping[str, Eroding | Solid]]):
        self._points = points
        self._bodies = {
            name: body if isinstance(body, Surface) else [_Cells.of(key, part) for key, part in body.items()]
            for name, body in bodies.items()
        }

    @property
    def nodes(self) -> IntArray:
        """Those that surfaces may have, ascending."""
        found: list[IntArray] = []
        for body in self._bodies.values():
            found += [body.vertices] if isinstance(body, Surface) else [some.nodes.ravel() for some in body]
        return np.unique(np.concatenate(found)).astype(np.int32)

    def renumbered(self, nodes: IntArray) -> ExposedSurface:
        """Return the same of nodes that are numbered by their places among others [s], which ascend."""
        few = copy.copy(self)
        few._points = self._points[nodes]
        few._bodies = {
            name: body.renumbered(nodes) if isinstance(body, Surface) else [some.renumbered(nodes) for some in body]
            for name, body in self._bodies.items()
        }
        return few

    def key(self, gone: Mapping[str, NDArray[np.bool_]]) -> bytes:
        """Return which elements are gone, as a key; of parts that are not named none is."""
        bodies = [body for body in self._bodies.values() if not isinstance(body, Surface)]
        flags = [np.packbits(gone.get(some.part, np.zeros(len(some.nodes), bool))) for body in bodies for some in body]
        return b"".join(bits.tobytes() for bits in flags)

    def surface(self, gone: Mapping[str, NDArray[np.bool_]] = MappingProxyType({})) -> Surface:
        """Return the surface of the elements that there are, given which [m] are gone, by the names of parts.

        Raises
        ------
        StepFailed
            If a body has lost all of its elements.
        """
        return Surface.join(
            [body if isinstance(body, Surface) else self._of(name, body, gone) for name, body in self._bodies.items()]
        )

    def _of(self, name: str, parts: Sequence[_Cells], gone: Mapping[str, NDArray[np.bool_]]) -> Surface:
        cells: dict[str, list[IntArray]] = {}
        for some in parts:
            cells.setdefault(some.kind, []).append(some.nodes[~gone[some.part]] if some.part in gone else some.nodes)
        joined = {kind: rows for kind, rows in ((k, np.concatenate(v)) for k, v in cells.items()) if len(rows)}
        if not joined:
            raise StepFailed(
                f"body '{name}' has lost all of its elements, so that contact has no surface of it. Stop the run "
                "earlier, or take it out of the contact."
            )
        group = {kind: np.arange(len(rows), dtype=np.int32) for kind, rows in joined.items()}
        try:
            return Surface.of(Mesh(self._points, joined, {name: group}), name)
        except MeshError as error:
            raise StepFailed(f"the elements of body '{name}' that are left have no surface: {error}") from None
