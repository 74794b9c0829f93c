"""Surfaces of bodies of which elements go: the boundary of those that are there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

import numpy as np

from symplex.base.arguments import checked
from symplex.contact.surfaces import Surface
from symplex.errors import MeshError, StepFailed
from symplex.fem.assembly.copying import Copyable
from symplex.fem.assembly.pattern import Array, IntArray
from symplex.fem.solids.eroding import Eroding
from symplex.fem.solids.solid import Solid
from symplex.meshes.mesh import Mesh


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
        self._points, self._bodies = points, dict(bodies)

    def gone(self, internal: Mapping[str, Array]) -> bytes:
        """Return which elements are gone, as a key; without internal variables none is."""
        flags = [
            np.packbits(part.gone(internal[name])).tobytes() if name in internal else bytes(-(-len(part.nodes) // 8))
            for body in self._bodies.values()
            if not isinstance(body, Surface)
            for name, part in body.items()
            if isinstance(part, Eroding)
        ]
        return b"".join(flags)

    def surface(self, internal: Mapping[str, Array] | None = None) -> Surface:
        """Return the surface of the elements that there are; without internal variables of all.

        Raises
        ------
        StepFailed
            If a body has lost all of its elements.
        """
        known = {} if internal is None else internal
        return Surface.join(
            [body if isinstance(body, Surface) else self._of(name, body, known) for name, body in self._bodies.items()]
        )

    def _of(self, name: str, parts: Mapping[str, Eroding | Solid], internal: Mapping[str, Array]) -> Surface:
        cells: dict[str, list[IntArray]] = {}
        for key, part in parts.items():
            erodes = isinstance(part, Eroding)
            nodes = part.nodes[~part.gone(internal[key])] if erodes and key in internal else part.nodes
            cells.setdefault(part.solid.kind if erodes else part.kind, []).append(nodes)
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
