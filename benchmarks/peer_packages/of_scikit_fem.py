"""scikit-fem, whose forms are written out here: see `serving`."""

from __future__ import annotations

from importlib.metadata import version

import numpy as np
from serving import Package, Tetrahedra, serve


def scikit_fem(problem: Tetrahedra) -> Package:
    """Return scikit-fem. Stress and the like are data: in the forms they would be evaluated for each shape function."""
    import skfem  # pyright: ignore[reportMissingImports]
    from skfem.helpers import (  # pyright: ignore[reportMissingImports]
        ddot,
        det,
        grad,
        identity,
        inv,
        mul,
        transpose,
    )

    mesh = skfem.MeshTet(problem.points.T.copy(), problem.cells.T.astype(np.int64))
    basis = skfem.Basis(mesh, skfem.ElementVector(skfem.ElementTetP1()), intorder=1)
    u, shape, lmbda, mu = (problem.q - problem.points).ravel(), problem.q.shape, problem.lmbda, problem.mu

    @skfem.LinearForm
    def stress(v, w):
        return ddot(w["P"], grad(v))

    @skfem.BilinearForm
    def stiffness(du, v, w):
        H, G = grad(du), w["G"]
        turned = transpose(mul(G, mul(H, G)))
        dP = mu * H + lmbda * ddot(transpose(G), H) * transpose(G) - w["t"] * turned
        return ddot(dP, grad(v))

    def strains():
        F = grad(basis.interpolate(u))
        F = F + identity(F)
        return F, inv(F), lmbda * np.log(det(F)) - mu

    def gradient():
        F, G, t = strains()
        return stress.assemble(basis, P=mu * F + t * transpose(G))

    def tangent():
        _, G, t = strains()
        return stiffness.assemble(basis, G=G, t=t)

    return Package(
        version("scikit-fem"),
        {"forces": gradient, "tangent": tangent},
        {
            "forces": lambda: gradient().reshape(shape),
            "product": lambda: (tangent() @ problem.direction.ravel()).reshape(shape),
        },
    )


if __name__ == "__main__":
    serve({Tetrahedra: scikit_fem})
