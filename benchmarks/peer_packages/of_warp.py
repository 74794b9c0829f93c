"""Warp on the processor, with kernels of its own for forces and for steps: see `serving`."""

from __future__ import annotations

from importlib.metadata import version

import numpy as np
from serving import STEPS, Package, Tetrahedra, serve


def warp(problem: Tetrahedra) -> Package:
    """Return Warp in double precision: one kernel adds the forces of all tetrahedra, another takes a kick and drift."""
    import warp as wp  # pyright: ignore[reportMissingImports]

    wp.config.quiet = True
    wp.init()
    f8, vec, mat = wp.float64, wp.vec3d, wp.mat33d

    def add_forces(
        q: wp.array(dtype=vec),  # pyright: ignore
        cells: wp.array(dtype=wp.vec4i),  # pyright: ignore
        inverses: wp.array(dtype=mat),  # pyright: ignore
        volumes: wp.array(dtype=f8),  # pyright: ignore
        lmbda: f8,  # pyright: ignore
        mu: f8,  # pyright: ignore
        out: wp.array(dtype=vec),  # pyright: ignore
    ):
        e = wp.tid()
        cell, inverse = cells[e], inverses[e]
        x = q[cell[0]]
        F = wp.matrix_from_cols(q[cell[1]] - x, q[cell[2]] - x, q[cell[3]] - x) * inverse
        P = mu * F + (lmbda * wp.log(wp.determinant(F)) - mu) * wp.transpose(wp.inverse(F))
        H = volumes[e] * P * wp.transpose(inverse)
        a = vec(H[0, 0], H[1, 0], H[2, 0])
        b = vec(H[0, 1], H[1, 1], H[2, 1])
        c = vec(H[0, 2], H[1, 2], H[2, 2])
        wp.atomic_add(out, cell[1], a)
        wp.atomic_add(out, cell[2], b)
        wp.atomic_add(out, cell[3], c)
        wp.atomic_sub(out, cell[0], a + b + c)

    def move(
        q: wp.array(dtype=vec),  # pyright: ignore
        v: wp.array(dtype=vec),  # pyright: ignore
        forces: wp.array(dtype=vec),  # pyright: ignore
        inverse_masses: wp.array(dtype=f8),  # pyright: ignore
        dt: f8,  # pyright: ignore
    ):
        i = wp.tid()
        velocity = v[i] - (dt * inverse_masses[i]) * forces[i]
        v[i] = velocity
        q[i] = q[i] + dt * velocity
        forces[i] = vec()

    for function in (add_forces, move):  # annotations are strings here, which Warp does not resolve in a function
        function.__annotations__ = {
            name: eval(text, {"wp": wp}, {"f8": f8, "vec": vec, "mat": mat})
            for name, text in function.__annotations__.items()
        }
    add_forces, move = wp.kernel(add_forces), wp.kernel(move)
    corners = problem.points[problem.cells]
    edges = np.swapaxes(corners[:, 1:] - corners[:, :1], 1, 2)
    cells = wp.array(problem.cells, dtype=wp.vec4i, device="cpu")
    inverses = wp.array(np.linalg.inv(edges), dtype=mat, device="cpu")
    volumes = wp.array(np.linalg.det(edges) / 6.0, dtype=f8, device="cpu")
    inverse_masses = wp.array(1.0 / problem.lumped, dtype=f8, device="cpu")
    q, start = (wp.array(problem.q, dtype=vec, device="cpu") for _ in range(2))
    v, out = (wp.zeros(len(problem.q), dtype=vec, device="cpu") for _ in range(2))
    constants = [f8(problem.lmbda), f8(problem.mu)]

    def add() -> None:
        wp.launch(add_forces, len(problem.cells), [q, cells, inverses, volumes, *constants, out], device="cpu")

    def forces():
        out.zero_()
        add()
        return out

    def steps() -> None:
        wp.copy(q, start)
        v.zero_()
        out.zero_()
        for _ in range(STEPS):
            add()
            wp.launch(move, len(q), [q, v, out, inverse_masses, f8(problem.dt)], device="cpu")
        wp.copy(q, start)

    found = {"forces": lambda: forces().numpy().copy()}
    return Package(version("warp-lang"), {"forces": forces, "steps": steps}, found, remark="our kernel of forces")


if __name__ == "__main__":
    serve({Tetrahedra: warp})
