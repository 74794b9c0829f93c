"""NGSolve: see `serving`."""

from __future__ import annotations

from importlib.metadata import version

import numpy as np
from serving import Package, Tetrahedra, serve


def ngsolve(problem: Tetrahedra) -> Package:
    """Return NGSolve with forces from the stress, compiled by a C++ compiler if there is one, and Cholesky factors."""
    import ngsolve as ng  # pyright: ignore[reportMissingImports]
    from netgen import meshing  # pyright: ignore[reportMissingImports]

    raw = meshing.Mesh(dim=3)
    raw.AddPoints(problem.points)
    raw.Add(meshing.FaceDescriptor(surfnr=1, domin=1, bc=1))
    raw.AddElements(dim=3, index=1, data=np.ascontiguousarray(problem.cells, np.int32), base=0)
    space = ng.H1(ng.Mesh(raw), order=1, dim=3)  # its matrix has 3 × 3 blocks
    u, v = space.TnT()
    F = ng.Grad(u) + ng.Id(3)
    P = problem.mu * F + (problem.lmbda * ng.log(ng.Det(F)) - problem.mu) * ng.Inv(F).trans
    integrand, remark = ng.InnerProduct(P, ng.Grad(v)), ""
    try:
        integrand = integrand.Compile(True, wait=True)
    except Exception:
        integrand, remark = integrand.Compile(), "interpreted, as there is no C++ compiler"
    a, m = ng.BilinearForm(space), ng.BilinearForm(space)
    a += integrand * ng.dx(intrules={ng.ET.TET: ng.IntegrationRule(ng.ET.TET, 0)})
    m += problem.inertia * problem.density * ng.InnerProduct(u, v) * ng.dx
    m.Assemble()
    at, shape = ng.GridFunction(space), problem.q.shape
    at.vec.FV().NumPy()[:] = (problem.q - problem.points).ravel()
    b, x, out = (at.vec.CreateVector() for _ in range(3))
    b.FV().NumPy()[:] = problem.forces.ravel()

    def array(vector) -> np.ndarray:
        return vector.FV().NumPy().reshape(shape).copy()

    def gradient():
        a.Apply(at.vec, out)
        return out

    def product() -> np.ndarray:
        a.AssembleLinearization(at.vec)
        x.FV().NumPy()[:] = problem.direction.ravel()
        out.data = a.mat * x
        return array(out)

    def correction():
        a.AssembleLinearization(at.vec)
        a.mat.AsVector().data += m.mat.AsVector()
        x.data = a.mat.Inverse(inverse="sparsecholesky") * b
        return x

    return Package(
        version("ngsolve"),
        {"forces": gradient, "tangent": lambda: a.AssembleLinearization(at.vec), "correction": correction},
        {"forces": lambda: array(gradient()), "product": product, "solution": lambda: array(correction())},
        remark=remark,
    )


if __name__ == "__main__":
    serve({Tetrahedra: ngsolve})
