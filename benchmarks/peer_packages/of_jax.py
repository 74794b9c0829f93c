"""JAX on the processor, with forces as the gradient of an energy of arrays: see `serving`."""

from __future__ import annotations

from importlib.metadata import version

import numpy as np
from serving import STEPS, Impact, Package, Tetrahedra, serve


def density_of(lmbda: float, mu: float):
    """Return the energy by volume of a tetrahedron with corners x [4, 3]."""
    import jax.numpy as jnp  # pyright: ignore[reportMissingImports]

    def density(x, inverse):
        F = jnp.stack([x[1] - x[0], x[2] - x[0], x[3] - x[0]], axis=1) @ inverse
        (a, b, c), (d, e, f), (g, h, i) = F
        log_J = jnp.log(a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g))
        return lmbda / 2 * log_J**2 - mu * log_J + mu / 2 * ((F * F).sum() - 3.0)

    return density


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
    dt, density = problem.dt, density_of(problem.lmbda, problem.mu)

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


def impact(problem: Impact) -> Package:
    """Return reverse mode through a loop whose steps are stored at each √N and taken again between."""
    import jax  # pyright: ignore[reportMissingImports]

    jax.config.update("jax_enable_x64", True)
    jnp = jax.numpy
    corners = problem.points[problem.cells]
    edges = np.swapaxes(corners[:, 1:] - corners[:, :1], 1, 2)
    cells, inverses = jnp.asarray(problem.cells), jnp.asarray(np.linalg.inv(edges))
    volumes, x = jnp.asarray(np.linalg.det(edges) / 6.0), jnp.asarray(problem.points)
    inverse_mass, dt, k = jnp.asarray(1.0 / problem.masses[:, None]), problem.dt, problem.stiffness
    density = density_of(problem.lmbda, problem.mu)

    def energy(q, factors):
        strain = (factors * volumes * jax.vmap(density)(q[cells], inverses)).sum()
        return strain + 0.5 * k * (jnp.minimum(q[:, 2], 0.0) ** 2).sum()

    forces = jax.grad(energy)

    def positions(v, factors):
        def step(state, _):
            q, v, a = state
            v = v + 0.5 * dt * a
            q = q + dt * v
            a = -inverse_mass * forces(q, factors)
            return (q, v + 0.5 * dt * a, a), None

        def several(state, _):
            return jax.lax.scan(step, state, None, inner)[0], None

        start = x, v, -inverse_mass * forces(x, factors)
        return jax.lax.scan(jax.checkpoint(several), start, None, problem.steps // inner)[0][0]

    inner = max(d for d in range(1, int(problem.steps**0.5) + 1) if problem.steps % d == 0)
    run = jax.jit(positions)
    both = jax.jit(jax.value_and_grad(lambda v, f: 0.5 * ((positions(v, f) - x) ** 2).sum(), argnums=(0, 1)))
    given = jnp.asarray(problem.velocity), jnp.ones(len(problem.cells))
    calls = {"run": lambda: run(*given).block_until_ready(), "gradient": lambda: jax.block_until_ready(both(*given))}
    found = {
        "positions": lambda: np.asarray(run(*given)),
        "by_velocity": lambda: np.asarray(both(*given)[1][0]),
        "by_factor": lambda: np.asarray(both(*given)[1][1]),
    }
    return Package(version("jax"), calls, found, remark="forces and derivatives by reverse mode")


if __name__ == "__main__":
    serve({Tetrahedra: jax, Impact: impact})
