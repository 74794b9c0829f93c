"""Steps of RATTLE and SHAKE in one compiled loop."""

from __future__ import annotations

import numpy as np

from symplex.fem.compiled.call import call_back
from symplex.fem.compiled.kernels import uncounted_formula as formula, uncounted_kernel as kernel
from symplex.fem.form_table import write_gradient
from symplex.fem.load_table import LoadRows, write_load
from symplex.time.constraints.multiplier_loops import close, factorise, follow, project, push

# Vectors [n, dim] that the loop writes to: velocities in the middle of a step, positions without impulses, the forces
# without constraints or, from energies with loops, their opposites, and the velocities that loads see.
_HALF, TARGET, FORCE, SEEN, ROOMS = range(5)
# What the loop calls back, in the order of a step.
SUPPORTS, FORCES, AFTER, KINDS = range(4)


@kernel
def take_steps(
    n, sizes, projects, is_ahead, look_ahead, from_python, supports, c, constant, rows,
    q, v, applied, gradients, impulses, own_sizes, rooms, new, corrections,
    loads, write, factors, acting, works, back,
):  # fmt: skip
    """Take n steps; return n, or −1 − the number of those that were possible.

    From positions and velocities [n, dim], with the accelerations without constraints, the gradients and the factors
    there, and the impulses of the step before. Of the first one the next positions may be found already; those after
    the last one are on request. Loads act with the forces acting [l, n, dim] at the beginning, and with factors [s, l]
    at the ends of steps in turn; the work of each is added to works [l].
    """
    table = LoadRows(loads, write)
    half, force, following = rooms[_HALF], rooms[FORCE], c.at
    for step in range(n + 1 if look_ahead else n):
        h = sizes[step % len(sizes)]
        at = c, q, v, applied, gradients, impulses, own_sizes
        if not (is_ahead and step == 0) and not _reach(step, h, supports, *at, rooms, new, corrections, back):
            return -1 - step
        if step == n:
            break
        if not factorise(c, c.later, c.later):
            return -1 - step
        if len(acting) > 0:
            _see(projects, h, v, applied, rooms)
        if from_python or not np.isfinite(write_gradient(constant, rows, following, force)):
            if call_back(back, step * KINDS + FORCES):
                return -1 - step
        else:
            _subtract_loads(table, factors[step % len(factors)], rooms, q, following, acting, works)
            for i in range(q.shape[0]):
                for k in range(q.shape[1]):
                    applied[i, k] = -force[i, k] * c.inverse_mass[i, k]
        for i in range(q.shape[0]):
            for k in range(q.shape[1]):
                v[i, k] = half[i, k] + 0.5 * h * applied[i, k]
        if supports:
            if call_back(back, step * KINDS + AFTER):
                return -1 - step
        elif projects and not project(c, c.later, v):
            return -1 - step
        for i in range(q.shape[0]):
            for k in range(q.shape[1]):
                q[i, k] = following[i, k]
        for i in range(gradients.shape[0]):
            for k in range(gradients.shape[1]):
                gradients[i, k] = c.later[i, k]
        for i in range(len(new)):
            impulses[i] = new[i]
        corrections[0] += corrections[1]
    return n


@formula
def _reach(step, h, supports, c, q, v, applied, gradients, impulses, sizes, rooms, new, corrections, back):
    """Find the positions after a step, the velocities between, and the impulses that lead there; return whether."""
    half, target = rooms[_HALF], rooms[TARGET]
    for i in range(q.shape[0]):
        for k in range(q.shape[1]):
            half[i, k] = v[i, k] + 0.5 * h * applied[i, k]
            target[i, k] = q[i, k] + h * half[i, k]
    if supports and call_back(back, step * KINDS + SUPPORTS):
        return False
    for i in range(len(new)):
        new[i] = impulses[i]
    corrections[1] = close(c, target, gradients, h, sizes, new)
    if corrections[1] < 0.0:
        return False
    push(gradients, c.rows, c.nodes, c.inverse_mass, new, 1.0, half)
    return follow(c, gradients)


@formula
def _see(projects, h, v, applied, rooms):
    """Set the velocities that are predicted at the end of a step."""
    for i in range(v.shape[0]):
        for k in range(v.shape[1]):
            half = rooms[_HALF, i, k]
            between = 1.5 * half - 0.5 * (v[i, k] - 0.5 * h * applied[i, k])
            rooms[SEEN, i, k] = 2.0 * half - v[i, k] if projects else between


@formula
def _subtract_loads(loads, factors, rooms, q, following, acting, works):
    """Take the loads at the next positions off ∇V; add up their work."""
    for load in range(len(factors)):
        force = acting[load]
        work = _work(force, following, q)
        write_load(loads, load, factors[load], following, following, following, rooms[SEEN], force)
        works[load] += 0.5 * (work + _work(force, following, q))
        for i in range(q.shape[0]):
            for k in range(q.shape[1]):
                rooms[FORCE, i, k] -= force[i, k]


@formula
def _work(force, q1, q0):
    """Return force·(q1 − q0)."""
    work = 0.0
    for i in range(force.shape[0]):
        for k in range(force.shape[1]):
            work += force[i, k] * (q1[i, k] - q0[i, k])
    return work
