"""FElupe: see `serving`."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version

import numpy as np
from serving import Package, Tetrahedra, serve


def felupe(problem: Tetrahedra) -> Package:
    """Return FElupe with SuperLU, as its Newton's method takes it, on small meshes."""
    import felupe as fe  # pyright: ignore[reportMissingImports]
    import scipy.sparse as sp
    from scipy.sparse.linalg import spsolve

    region = fe.RegionTetra(fe.Mesh(problem.points, problem.cells, "tetra"))
    field = fe.FieldContainer([fe.Field(region, dim=3)])
    field[0].values[:] = problem.q - problem.points
    body = fe.SolidBody(fe.NeoHookeCompressible(mu=problem.mu, lmbda=problem.lmbda), field)
    i, j = np.repeat(problem.cells, 4, axis=1).ravel(), np.tile(problem.cells, 4).ravel()
    masses = problem.masses[:, None, None] / 20.0 * (1.0 + np.eye(4))
    mass = problem.inertia * sp.kron(sp.csr_matrix((masses.ravel(), (i, j))), sp.eye(3))
    b, shape = problem.forces.ravel(), problem.q.shape
    calls: dict[str, Callable[[], object]] = {
        "forces": lambda: body.assemble.vector(field),
        "tangent": lambda: body.assemble.matrix(field),
    }

    def correction() -> np.ndarray:
        return np.asarray(spsolve(body.assemble.matrix(field) + mass, b)).reshape(shape)

    found: dict[str, Callable[[], np.ndarray]] = {
        "forces": lambda: np.asarray(body.assemble.vector(field).todense()).reshape(shape),
        "product": lambda: (body.assemble.matrix(field) @ problem.direction.ravel()).reshape(shape),
    }
    if problem.q.size <= 10_000:
        calls["correction"] = found["solution"] = correction
    return Package(version("felupe"), calls, found)


if __name__ == "__main__":
    serve({Tetrahedra: felupe})
