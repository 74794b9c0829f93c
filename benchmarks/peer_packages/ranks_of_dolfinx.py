"""DOLFINx on several ranks: see `stepping`."""

from __future__ import annotations

import sys
from time import perf_counter, sleep

import numpy as np
from serving import Tetrahedra
from stepping import serve_steps


def main() -> None:
    """Run the program: kicks and drifts of NumPy, forces of DOLFINx 0.5 or later, summed at shared nodes by PETSc."""
    import dolfinx as dx  # pyright: ignore[reportMissingImports]
    import dolfinx.fem.petsc  # pyright: ignore[reportMissingImports]
    import ufl  # pyright: ignore[reportMissingImports]
    from mpi4py import MPI  # pyright: ignore[reportMissingImports]
    from petsc4py import PETSc  # pyright: ignore[reportMissingImports]

    comm, problem = MPI.COMM_WORLD, Tetrahedra.read(sys.argv[1])
    given = slice(None) if comm.rank == 0 else slice(0)  # the first rank has the mesh, and DOLFINx divides it
    element = ufl.VectorElement("Lagrange", ufl.tetrahedron, 1)
    cells, points = problem.cells[given].astype(np.int64), problem.points[given]
    mesh = dx.mesh.create_mesh(comm, cells, points, ufl.Mesh(element))
    space = dx.fem.VectorFunctionSpace(mesh, ("Lagrange", 1))
    u, v = dx.fem.Function(space), ufl.TestFunction(space)
    F = ufl.Identity(3) + ufl.grad(u)
    log_J = ufl.ln(ufl.det(F))
    W = problem.lmbda / 2 * log_J**2 - problem.mu * log_J + problem.mu / 2 * (ufl.inner(F, F) - 3)
    residual = ufl.derivative(W * ufl.dx(metadata={"quadrature_degree": 0}), u, v)
    name = "jit_params" if dx.__version__ < "0.6" else "jit_options"
    form = dx.fem.form(residual, **{name: {"cffi_extra_compile_args": ["-O3", "-march=native"]}})
    b = dx.fem.petsc.create_vector(form)
    order, layout = np.asarray(mesh.geometry.input_global_indices), mesh.geometry.dofmap
    rows = np.empty(len(u.x.array) // 3, np.int64)
    here = mesh.topology.index_map(3)
    for cell in range(here.size_local + here.num_ghosts):
        links = layout.links(cell) if hasattr(layout, "links") else layout[cell]
        rows[space.dofmap.cell_dofs(cell)] = order[links]  # of dof i, the node that was given
    own = space.dofmap.index_map.size_local
    displacement = u.x.array.reshape(-1, 3)
    displacement[:] = (problem.q - problem.points)[rows]
    kick = (problem.dt / problem.lumped[rows[:own]])[:, None]

    def gradient() -> np.ndarray:
        with b.localForm() as local:
            local.set(0.0)
        dx.fem.petsc.assemble_vector(b, form)
        b.ghostUpdate(addv=PETSc.InsertMode.ADD, mode=PETSc.ScatterMode.REVERSE)
        return b.array.reshape(-1, 3)

    velocity = 0.5 * kick * gradient()  # so that the first kick is a half one

    def step() -> None:
        nonlocal velocity
        velocity -= kick * gradient()
        displacement[:own] += problem.dt * velocity
        u.x.scatter_forward()

    def timed(steps: int) -> float:
        for rank in range(1, comm.size):
            comm.send(steps, rank)
        return taken(steps)

    def taken(steps: int) -> float:
        comm.Barrier()
        began = perf_counter()
        for _ in range(steps):
            step()
        return comm.allreduce(perf_counter() - began, MPI.MAX)

    def gathered() -> np.ndarray | None:
        parts = comm.gather((rows[:own], displacement[:own]))
        if parts is None:
            return None
        out = problem.points.copy()
        for nodes, values in parts:
            out[nodes] += values
        return out

    def positions() -> np.ndarray:
        for rank in range(1, comm.size):
            comm.send(0, rank)
        found = gathered()
        assert found is not None, "it is the first rank"
        return found

    taken(1)
    if comm.rank == 0:
        serve_steps(dx.__version__, comm.size, timed, positions)
        return
    while True:
        while not comm.Iprobe(source=0):  # MPI would take a processor while it waits, which others are timed on
            sleep(1e-3)
        if not (steps := comm.recv(source=0)):
            gathered()
            return
        taken(steps)


if __name__ == "__main__":
    main()
