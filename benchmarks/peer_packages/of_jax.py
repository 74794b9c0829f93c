"""JAX on the processor, with forces as the gradient of an energy of arrays: see `serving`."""

from __future__ import annotations

from importlib.metadata import version

import numpy as np
from serving import STEPS, Package, Tetrahedra, serve


def jax(problem: Tetrahedra) -> Package:
    """Return JAX in double precision: forces by reverse mode, steps in one compiled loop."""
    import jax  # pyright: ignore[reportMissingImports]

    jax.config.update("jax_enable_x64", True)
    jnp = jax.numpy
    corners = problem.points[problem.cells]
    edges = np.swapaxes(corners[:, 1:] - corners[:, :1], 1, 2)
    cells, inverses = jnp.asarray(problem.cells), jnp.asarray(np.linalg.inv(edges))
    volumes = jnp.asarray(np.linalg.det(edges) / 6.0)
    kick = jnp.asarray(problem.dt / problem.lumped[:, None])
    lmbda, mu, dt = problem.lmbda, problem.mu, problem.dt

    def density(x, inverse):
        F = jnp.stack([x[1] - x[0], x[2] - x[0], x[3] - x[0]], axis=1) @ inverse
        (a, b, c), (d, e, f), (g, h, i) = F
        log_J = jnp.log(a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g))
        return lmbda / 2 * log_J**2 - mu * log_J + mu / 2 * ((F * F).sum() - 3.0)

    def energy(q):
        return (volumes * jax.vmap(density)(q[cells], inverses)).sum()

    gradient = jax.grad(energy)

    @jax.jit
    def run(q):
        def step(_, state):
            q, v = state
            v = v - kick * gradient(q)
            return q + dt * v, v

        return jax.lax.fori_loop(0, STEPS, step, (q, jnp.zeros_like(q)))[0]

    forces, q = jax.jit(gradient), jnp.asarray(problem.q)
    product = jax.jit(lambda q, direction: jax.jvp(gradient, (q,), (direction,))[1])
    direction = jnp.asarray(problem.direction)
    calls = {"forces": lambda: forces(q).block_until_ready(), "steps": lambda: run(q).block_until_ready()}
    found = {"forces": lambda: np.asarray(forces(q)), "product": lambda: np.asarray(product(q, direction))}
    return Package(version("jax"), calls, found, remark="forces by reverse mode")


if __name__ == "__main__":
    serve({Tetrahedra: jax})
