"""What beams look like: outlines of sections, and the skin that these have along a beam."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from symplex.fem.assembly.pattern import Array, IntArray
from symplex.fem.structures.beam import Beams

_AROUND = 24  # points of a circle
_SHARPEST = 0.3  # cosine of half of the angle of two lines, below which their skins are not joined by a mitre


class Outline(NamedTuple):
    """An outline of a section: closed polygons, and quadrilaterals between their corners at an end of a beam.

    Attributes
    ----------
    points : float64 [k, 2]
        The corners in m along the axes 1 and 2 of the section.
    polygons : sequence of int32 [c]
        The corners of each, around axis 3.
    ends : int32 [e, 4]
    """

    points: Array
    polygons: tuple[IntArray, ...]
    ends: IntArray

    @property
    def area(self) -> float:
        """What it encloses, less its hollows, in m²."""
        x, y = self.points.T
        rings = [(x[ring], y[ring]) for ring in self.polygons]
        return float(abs(sum(0.5 * (a @ np.roll(b, -1) - b @ np.roll(a, -1)) for a, b in rings)))

    @classmethod
    def rectangle(cls, height: float, width: float) -> Outline:
        """Return that of a rectangle, with its height in m along axis 1."""
        return cls(_corners(height, width), (_around(4),), _around(4)[None])

    @classmethod
    def box(cls, height: float, width: float, thickness: float) -> Outline:
        """Return that of a hollow rectangle, in m."""
        inner = _corners(height - 2.0 * thickness, width - 2.0 * thickness)
        return cls._hollow(_corners(height, width), inner)

    @classmethod
    def circle(cls, radius: float) -> Outline:
        """Return that of a full circle of a radius in m."""
        k = _AROUND
        middle, one = np.full(k // 2, k), np.arange(0, k, 2)
        ends = np.column_stack([middle, one, one + 1, (one + 2) % k]).astype(np.int32)
        return cls(np.concatenate([radius * _unit_circle(), np.zeros((1, 2))]), (_around(k),), ends)

    @classmethod
    def pipe(cls, radius: float, thickness: float) -> Outline:
        """Return that of a pipe of an outer radius and a thickness in m."""
        return cls._hollow(radius * _unit_circle(), (radius - thickness) * _unit_circle())

    @classmethod
    def i_beam(cls, height: float, width: float, web: float, flange: float) -> Outline:
        """Return that of an I with its web along axis 1, in m."""
        h, w, t, f = 0.5 * height, 0.5 * width, 0.5 * web, 0.5 * height - flange
        upper = [(h, -w), (h, w), (f, w), (f, t)]
        lower = [(-f, t), (-f, w), (-h, w), (-h, -w), (-f, -w), (-f, -t)]
        points = np.array([*upper, *lower, (f, -t), (f, -w)])
        ends = np.array([[0, 1, 2, 11], [10, 3, 4, 9], [8, 5, 6, 7]], np.int32)
        return cls(points, (_around(12),), ends)

    @classmethod
    def _hollow(cls, outer: Array, inner: Array) -> Outline:
        k = len(outer)
        one, other = _around(k), np.roll(_around(k), -1)
        ends = np.column_stack([one, other, other + k, one + k]).astype(np.int32)
        inside = (one[::-1] + k).astype(np.int32)  # its normals point into the hollow
        return cls(np.concatenate([outer, inner]), (one, inside), ends)


class Skin(NamedTuple):
    """The surface of beams, whose points follow particles.

    Attributes
    ----------
    points : float64 [p, 3]
        In m, undeformed.
    quads : int32 [c, 4]
    elements : int32 [c]
        The element of each quadrilateral.
    particles : int32 [p, 4]
        Which particles each point follows,
    weights : float64 [p, 4]
        and by which parts.
    """

    points: Array
    quads: IntArray
    elements: IntArray
    particles: IntArray
    weights: Array


def skin_of(beam: Beams, outlines: Sequence[Outline], which: ArrayLike) -> Skin:
    """Return the surface of beams with sections of outlines, of which each element has the one by a number [m].

    Where two elements with one outline meet they end in one plane, and no end is drawn there.
    """
    of_element = np.broadcast_to(np.asarray(which, int), len(beam.lines))
    normals = _mitres(beam, of_element)
    parts = [
        _skin(beam, outline, np.flatnonzero(of_element == k).astype(np.int32), normals)
        for k, outline in enumerate(outlines)
        if (of_element == k).any()
    ]
    first = np.cumsum([0, *(len(part.points) for part in parts)])
    quads = [part.quads + np.int32(start) for part, start in zip(parts, first, strict=False)]
    rest = zip(*((part.elements, part.points, part.particles, part.weights) for part in parts), strict=True)
    elements, points, particles, weights = map(np.concatenate, rest)
    used, places = np.unique(np.concatenate(quads), return_inverse=True)  # points within ends are of drawn ends only
    faces = places.reshape(-1, 4).astype(np.int32)
    return Skin(points[used], faces, elements, particles[used], weights[used])


def _skin(beam: Beams, outline: Outline, elements_of: IntArray, normals: Array) -> Skin:
    """Return the surface of some elements with one outline, with the normals [m, 2, 3] of their mitred ends or NaN."""
    m, k = len(elements_of), len(outline.points)
    axes, normals = beam.axes[elements_of], normals[elements_of]
    joined = np.asarray(np.isfinite(normals).all(axis=2))
    across = np.einsum("kr,mri->mki", outline.points, axes[:, :2])[:, None]
    along = axes[:, None, None, 2]
    normal = np.where(joined[:, :, None], normals, axes[:, None, 2])
    slope = np.einsum("mki,mei->mek", across[:, 0], normal) / np.einsum("mi,mei->me", axes[:, 2], normal)[:, :, None]
    offsets = (across - slope[..., None] * along).reshape(-1, 3)
    nodes = np.repeat(beam.lines[elements_of].ravel(), k)
    arms = beam.frames.rest_arms[nodes]
    inverse = np.linalg.inv(np.einsum("pai,paj->pij", arms, arms))
    weights = 0.25 + np.einsum("pai,pij,pj->pa", arms, inverse, offsets)
    centers = beam.frames.centers(beam.points)
    quads, counts = [], np.zeros(m, int)
    for element in range(m):
        before = len(quads)
        near, far = (2 * element) * k, (2 * element + 1) * k
        for polygon in outline.polygons:
            other = np.roll(polygon, -1)
            quads.append(np.column_stack([near + polygon, near + other, far + other, far + polygon]))
        if not joined[element, 0]:
            quads.append(near + outline.ends[:, ::-1])
        if not joined[element, 1]:
            quads.append(far + outline.ends)
        counts[element] = sum(map(len, quads[before:]))
    return Skin(
        centers[nodes] + offsets,
        np.concatenate(quads).astype(np.int32),
        np.repeat(elements_of, counts),
        beam.frames.nodes[nodes],
        weights,
    )


def _mitres(beam: Beams, which: IntArray) -> Array:
    """Return the normals [m, 2, 3] of the planes in which two elements with one outline meet; NaN at other ends."""
    normals = np.full((len(beam.lines), 2, 3), np.nan)
    away = np.stack([beam.axes[:, 2], -beam.axes[:, 2]], axis=1)  # from each end into its element
    order = np.argsort(beam.lines.ravel(), kind="stable")
    counts = np.bincount(beam.lines.ravel(), minlength=len(beam.frames))
    first = np.concatenate([[0], np.cumsum(counts)[:-1]])
    for node in np.flatnonzero(counts == 2):
        one, other = (divmod(int(at), 2) for at in order[first[node] : first[node] + 2])
        normal = away[one] - away[other]
        size = float(np.linalg.norm(normal))
        if size >= 2.0 * _SHARPEST and which[one[0]] == which[other[0]]:
            normals[one] = normals[other] = normal / size
    return normals


def _corners(height: float, width: float) -> Array:
    h, w = 0.5 * height, 0.5 * width
    return np.array([(h, -w), (h, w), (-h, w), (-h, -w)])


def _unit_circle() -> Array:
    angle = 2.0 * np.pi * np.arange(_AROUND) / _AROUND
    return np.column_stack([np.cos(angle), np.sin(angle)])


def _around(k: int) -> IntArray:
    return np.arange(k, dtype=np.int32)
