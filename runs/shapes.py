"""What obstacles look like: the surfaces that are drawn of them."""

from __future__ import annotations

import numpy as np

from symplex.contact.obstacles import Box, Capsule, Cylinder, HalfSpace, Obstacle, Sphere
from symplex.contact.spline_surfaces import SplineSurface
from symplex.fem.energies.energy import Array
from symplex.meshes.series.series import Block
from symplex.scenario.integrators import axes_along

_PATCH = 1.5  # half the length drawn of what has no end, relative to the scene
_RINGS = 24  # of a drawn sphere, from pole to pole

_Surface = tuple[Array, dict[str, np.ndarray]]  # points [p, 3] and cells


def block_of(obstacle: Obstacle, points: Array) -> Block:
    """Return a block that shows an obstacle next to bodies at the points [n, 3]."""
    if isinstance(obstacle, HalfSpace):
        return Block.plane(_patch(obstacle, points))
    return Block.obstacle(*surface_of(obstacle, points))


def surface_of(obstacle: Obstacle, points: Array) -> _Surface:
    """Return points and faces that show an obstacle next to bodies at the points [n, 3]."""
    match obstacle:
        case HalfSpace():
            return _patch(obstacle, points), {"quad": np.arange(4, dtype=np.int32)[None]}
        case Sphere():
            return _globe(obstacle.center, obstacle.radius)
        case Cylinder():
            return _tube(obstacle, points)
        case Capsule():
            return _capsule(obstacle)
        case Box():
            return _block(obstacle)
        case SplineSurface():
            x = obstacle.sampled()
            number = np.arange(x.shape[0] * x.shape[1], dtype=np.int32).reshape(x.shape[:2])
            corners = [number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]]
            return x.reshape(-1, 3), {"quad": np.stack(corners, axis=-1).reshape(-1, 4)}
    raise TypeError(f"no surface is known of a {type(obstacle).__name__}")


def _scene(points: Array, next_to: float) -> tuple[Array, float]:
    """Return the middle of the bodies and half the length that is drawn of what has no end; of a point, as given."""
    low, high = points.min(axis=0), points.max(axis=0)
    return 0.5 * (low + high), _PATCH * (0.5 * float(np.linalg.norm(high - low)) or next_to)


def _patch(plane: HalfSpace, points: Array) -> Array:
    """Return the corners of a square of a plane below the bodies."""
    n, first, second = axes_along(np.asarray(plane.normal))
    away = float(np.abs((points[0] - plane.point) @ n))
    centre, half = _scene(points, away or 1.0)
    foot = centre - ((centre - plane.point) @ n) * n
    return np.array([foot + half * (a * first + b * second) for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))])


def _globe(centre: Array, radius: float) -> _Surface:
    """Return a sphere of triangles between circles of latitude."""
    theta = np.linspace(0.0, np.pi, _RINGS + 1)
    return _round(np.asarray(centre), np.eye(3), radius * np.sin(theta[1:-1]), radius * np.cos(theta))


def _capsule(capsule: Capsule) -> _Surface:
    """Return two hemispheres and what is between them."""
    along = capsule.end - capsule.start
    half = 0.5 * float(np.linalg.norm(along))
    quarter = np.linspace(0.0, 0.5 * np.pi, _RINGS // 2 + 1)
    theta = np.concatenate([quarter, np.pi - quarter[::-1]])
    heights = capsule.radius * np.cos(theta) + np.where(np.arange(len(theta)) < len(quarter), half, -half)
    n, first, second = axes_along(along)
    middle = 0.5 * (capsule.start + capsule.end)
    return _round(middle, np.array([first, second, n]), capsule.radius * np.sin(theta[1:-1]), heights)


def _tube(cylinder: Cylinder, points: Array) -> _Surface:
    """Return a part of a cylinder next to the bodies."""
    n, first, second = axes_along(np.asarray(cylinder.axis))
    centre, half = _scene(points, cylinder.radius)
    middle = cylinder.point + ((centre - cylinder.point) @ n) * n
    radii, heights = np.full(2, cylinder.radius), np.array([half, half, -half, -half])
    surface, cells = _round(middle, np.array([first, second, n]), radii, heights)
    m = 2 * _RINGS
    return surface[1:-1], {"triangle": cells["triangle"][m:-m] - np.int32(1)}


def _block(box: Box) -> _Surface:
    """Return the corners and faces of a box."""
    corners = np.array([[a, b, c] for a in (-0.5, 0.5) for b in (-0.5, 0.5) for c in (-0.5, 0.5)])
    faces = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    return box.center + (corners * box.size) @ box.axes, {"quad": np.array(faces, np.int32)}


def _round(centre: Array, axes: Array, radii: Array, heights: Array) -> _Surface:
    """Return a surface of revolution about the third of three axes (rows).

    Parameters
    ----------
    centre : float64 [3]
    axes : float64 [3, 3]
    radii : float64 [r]
        Of the circles, from the top.
    heights : float64 [r + 2]
        Of the top, of the circles and of the bottom.
    """
    phi = np.linspace(0.0, 2.0 * np.pi, 2 * _RINGS, endpoint=False)
    r, z = radii[:, None], heights[1:-1, None]
    rings = np.stack([r * np.cos(phi), r * np.sin(phi), z + 0.0 * phi], axis=-1).reshape(-1, 3)
    points = np.concatenate([[[0.0, 0.0, heights[0]]], rings, [[0.0, 0.0, heights[-1]]]])
    m = len(phi)
    a = np.arange(m)
    b = (a + 1) % m
    last = 1 + (len(radii) - 1) * m
    triangles = [np.stack([np.zeros(m, int), 1 + a, 1 + b], axis=1)]
    for k in range(len(radii) - 1):
        upper, lower = 1 + k * m, 1 + (k + 1) * m
        triangles += [
            np.stack([upper + a, lower + a, lower + b], axis=1),
            np.stack([upper + a, lower + b, upper + b], axis=1),
        ]
    triangles.append(np.stack([np.full(m, len(points) - 1), last + b, last + a], axis=1))
    return centre + points @ axes, {"triangle": np.concatenate(triangles).astype(np.int32)}
