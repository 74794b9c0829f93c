"""DOLFINx, whose forms a C compiler makes machine code of: see `serving`."""

from __future__ import annotations

import numpy as np
from serving import STEPS, Package, Tetrahedra, serve


def dolfinx(problem: Tetrahedra) -> Package:
    """Return DOLFINx 0.5 or later with PETSc: conjugate gradients with its incomplete Cholesky factors to 1e-8."""
    import dolfinx as dx  # pyright: ignore[reportMissingImports]
    import dolfinx.fem.petsc  # pyright: ignore[reportMissingImports]
    import ufl  # pyright: ignore[reportMissingImports]
    from mpi4py import MPI  # pyright: ignore[reportMissingImports]
    from petsc4py import PETSc  # pyright: ignore[reportMissingImports]

    element = ufl.VectorElement("Lagrange", ufl.tetrahedron, 1)
    mesh = dx.mesh.create_mesh(MPI.COMM_WORLD, problem.cells.astype(np.int64), problem.points, ufl.Mesh(element))
    space = dx.fem.VectorFunctionSpace(mesh, ("Lagrange", 1))
    u, v, du = dx.fem.Function(space), ufl.TestFunction(space), ufl.TrialFunction(space)
    F = ufl.Identity(3) + ufl.grad(u)
    log_J = ufl.ln(ufl.det(F))
    W = problem.lmbda / 2 * log_J**2 - problem.mu * log_J + problem.mu / 2 * (ufl.inner(F, F) - 3)
    at_center = ufl.dx(metadata={"quadrature_degree": 0})
    residual = ufl.derivative(W * at_center, u, v)
    stiffness = ufl.derivative(residual, u, du)
    inertia = problem.inertia * problem.density * ufl.inner(du, v) * ufl.dx(metadata={"quadrature_degree": 2})
    # Options of the compiler beyond these made no difference.
    options = {
        "jit_params" if dx.__version__ < "0.6" else "jit_options": {"cffi_extra_compile_args": ["-O3", "-march=native"]}
    }
    forms = [dx.fem.form(form, **options) for form in (residual, stiffness, stiffness + inertia)]
    b, A, M = dx.fem.petsc.create_vector(forms[0]), *(dx.fem.petsc.create_matrix(form) for form in forms[1:])
    # Nodes are renumbered: those of the mesh's geometry, and the cells that dofs are of.
    order = mesh.geometry.input_global_indices
    rows, layout = np.empty(len(order), np.int64), mesh.geometry.dofmap
    for cell in range(mesh.topology.index_map(3).size_local):
        links = layout.links(cell) if hasattr(layout, "links") else layout[cell]
        rows[space.dofmap.cell_dofs(cell)] = np.asarray(order)[links]  # of dof i, the node that was given
    u.x.array.reshape(-1, 3)[:] = (problem.q - problem.points)[rows]
    x, y = b.copy(), b.copy()
    solver = PETSc.KSP().create(MPI.COMM_WORLD)
    solver.setType("cg")
    solver.getPC().setType("icc")
    solver.setTolerances(rtol=1e-8)

    def gradient():
        with b.localForm() as local:
            local.set(0.0)
        dx.fem.petsc.assemble_vector(b, forms[0])
        return b.array

    def assembled(matrix, form):
        matrix.zeroEntries()
        dx.fem.petsc.assemble_matrix(matrix, form)
        matrix.assemble()
        return matrix

    def correction():
        solver.setOperators(assembled(M, forms[2]))
        x.array[:] = problem.forces[rows].ravel()
        solver.solve(x, y)
        return y.array

    def given(values) -> np.ndarray:
        out = np.empty_like(problem.q)
        out[rows] = np.asarray(values).reshape(-1, 3)
        return out

    def product(field: np.ndarray) -> np.ndarray:
        x.array[:] = field[rows].ravel()
        assembled(A, forms[1]).mult(x, y)
        return given(y.array)

    inverse, velocity = np.repeat(1.0 / problem.lumped[rows], 3), np.zeros(problem.q.size)
    start = u.x.array.copy()

    def steps():
        """Take explicit steps from rest: kicks and drifts of NumPy, forces of DOLFINx."""
        u.x.array[:], velocity[:] = start, 0.0
        for _ in range(STEPS):
            velocity[:] -= problem.dt * inverse * gradient()
            u.x.array[:] += problem.dt * velocity
        u.x.array[:] = start

    return Package(
        dx.__version__,
        {"forces": gradient, "tangent": lambda: assembled(A, forms[1]), "correction": correction, "steps": steps},
        {
            "forces": lambda: given(gradient()),
            "product": lambda: product(problem.direction),
            "solution": lambda: given(correction()),
        },
    )


if __name__ == "__main__":
    serve({Tetrahedra: dolfinx})
