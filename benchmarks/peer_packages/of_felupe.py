"""FElupe: see `serving`."""

from __future__ import annotations

from importlib.metadata import version

import numpy as np
from serving import Package, Problem, serve


def felupe(problem: Problem) -> Package:
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
    calls = {"gradient": lambda: body.assemble.vector(field), "tangent": lambda: body.assemble.matrix(field)}

    def iteration() -> np.ndarray:
        return np.asarray(spsolve(body.assemble.matrix(field) + mass, b)).reshape(shape)

    small = problem.q.size <= 10_000
    if small:
        calls["iteration"] = iteration
    return Package(
        version("felupe"),
        calls,
        lambda: np.asarray(body.assemble.vector(field).todense()).reshape(shape),
        lambda x: (body.assemble.matrix(field) @ x.ravel()).reshape(shape),
        iteration if small else None,
    )


if __name__ == "__main__":
    serve(felupe)
