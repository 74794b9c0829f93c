"""Rings of hexahedra about z, whole or a sector of them, as tests of cyclic symmetry need them."""

import numpy as np

from symplex.meshes.mesh import Mesh


def ring(inner, outer, length, cells, degrees=360.0, first=0.0):
    """A ring of cells (radial, around, along z) between radii in m, from one angle on.

    Groups of nodes are ``inner``, ``outer``, ``bottom``, ``top``; of a sector also ``low`` and ``high``.
    """
    nr, na, nz = cells
    whole = degrees == 360.0
    angles = np.radians(first + degrees * np.arange(na if whole else na + 1) / na)
    r, a, z = np.meshgrid(np.linspace(inner, outer, nr + 1), angles, np.linspace(0.0, length, nz + 1), indexing="ij")
    points = np.stack([r * np.cos(a), r * np.sin(a), z], axis=-1).reshape(-1, 3)
    number = np.arange(len(points)).reshape(r.shape)
    around = np.roll(number, -1, axis=1) if whole else number[:, 1:]
    near, far = (number if whole else number[:, :-1]), around
    corners = [near[:-1], near[1:], far[1:], far[:-1]]
    hexahedra = np.stack([one[:, :, :-1] for one in corners] + [one[:, :, 1:] for one in corners], axis=-1)
    groups = {"inner": number[0], "outer": number[-1], "bottom": number[:, :, 0], "top": number[:, :, -1]}
    groups |= {} if whole else {"low": number[:, 0], "high": number[:, -1]}
    of = {name: np.sort(one.ravel()).astype(np.int32) for name, one in groups.items()}
    return Mesh(points, {"hexahedron": hexahedra.reshape(-1, 8).astype(np.int32)}, {}, of)
