"""The IPC Toolkit: see `serving`."""

from __future__ import annotations

from importlib.metadata import version

import numpy as np
from serving import Package, Surfaces, serve


def ipctk(problem: Surfaces) -> Package:
    """Return the toolkit on one thread: pairs with their distances, and the share of a motion by additive CCD."""
    import ipctk as ipc  # pyright: ignore[reportMissingImports]

    ipc.set_num_threads(1)
    q, ahead = (np.asfortranarray(x) for x in (problem.q, problem.ahead))
    mesh = ipc.CollisionMesh(q, problem.edges, problem.triangles)
    second = (np.arange(len(q)) >= problem.second).astype(np.int32)
    mesh.can_collide = ipc.make_vertex_patches_filter(second[:, None])

    def pairs():
        collisions = ipc.NormalCollisions()
        collisions.collision_set_type = ipc.NormalCollisions.CollisionSetType.IPC
        collisions.build(mesh, q, problem.distance)
        return collisions

    def share() -> float:
        return ipc.compute_collision_free_stepsize(mesh, q, ahead, 0.0, None, ipc.AdditiveCCD())

    found = {"share": lambda: np.array([share()])}
    return Package(version("ipctk"), {"pairs": pairs, "share": share}, found)


if __name__ == "__main__":
    serve({Surfaces: ipctk})
