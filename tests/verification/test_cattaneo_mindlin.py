"""A sphere pressed onto a half-space and pushed sideways: partial slip (Cattaneo 1938, Mindlin 1949)."""

import numpy as np
import pytest
from hertz import MATERIAL, NU, A, E, R, cap, half_space, point_force

import symplex as sx
from symplex.contact import Friction, SegmentContact, Surface

MU, STEPS, N = 0.3, 6, 4


@pytest.mark.slow
def test_tractions_and_stick_radius_are_those_of_cattaneo_and_mindlin():
    """Under Q, r < c sticks, c³ = a³ (1 − Q/(μ F)), with t = μ p₀ (√(1 − r²/a²) − (c/a) √(1 − r²/c²)), else μ p."""
    depth, h = A * A / R, A / N
    force = 4.0 / 3.0 * E / (1.0 - NU**2) * np.sqrt(R) * depth**1.5
    mesh = sx.merge({"half-space": half_space(N), "sphere": cap(N, -depth)})
    x, cells = mesh.points, mesh.cells["hexahedron"]
    low, high = mesh.nodes_of("half-space"), mesh.nodes_of("sphere")
    surface = Surface.of(mesh, ["half-space", "sphere"])
    contact = SegmentContact(surface, x, 10.0 * E / h, between=[("half-space", "sphere")], integrated="first")
    size, floor = np.abs(x[low, :2]).max(), x[low, 2].min()
    far = (np.abs(x[low, :2]).max(axis=1) > 0.999 * size) | (x[low, 2] < 0.999 * floor)
    fixed, q = np.zeros(x.shape, bool), x.copy()
    fixed[high], fixed[low[far]] = True, True
    dent = -1.05 * depth * np.exp(-((np.linalg.norm(x[low], axis=1) / (3.0 * A)) ** 2))
    q[low] += np.where(far[:, None], point_force(x[low], force), dent[:, None] * [0.0, 0.0, 1.0])
    shear = E / (2.0 * (1.0 + NU))
    to = 0.45 * 3.0 * MU * force * (2.0 - NU) / (16.0 * A * shear)  # of a half-space, for Q = 0.6 μ F
    parts = {"solid": sx.Solid(x, cells, MATERIAL, formulation="full"), "contact": contact}
    friction = Friction(contact, MU, slip_speed=0.005 * to)
    system = sx.System(sx.lumped_mass(x, cells, 1.0, len(x)), parts, fixed=fixed, loads={"friction": friction})
    q = sx.equilibria.static_equilibrium(system, q).state.q
    for _ in range(STEPS):
        before, q = q, q.copy()
        q[high, 0] += to / STEPS
        q = sx.equilibria.static_equilibrium(system, q, slip=(before, 1.0 / STEPS)).state.q
    tangential = friction.over(0.0, before, q, (q - before) * STEPS)
    normal = -contact.resultants(q)["half-space", "sphere"][2]
    share = tangential[low, 0].sum() / (MU * normal)
    c = A * (1.0 - share) ** (1.0 / 3.0)
    on = low[(np.abs(x[low, 2]) < 1e-12) & (np.hypot(x[low, 0], x[low, 1]) < 1.1 * A)]
    r = np.hypot(x[on, 0], x[on, 1])
    p0 = 1.5 * normal / (np.pi * A * A)
    law = np.sqrt(np.maximum(1.0 - r * r / A**2, 0.0)) - c / A * np.sqrt(np.maximum(1.0 - r * r / c**2, 0.0))
    traction = tangential[on, 0] / (h * h)
    pressed = contact.nodal_forces(q)[on, 2] / (-h * h)
    error = traction / (MU * p0) - law
    slips = traction > 0.98 * MU * pressed
    radius = np.sqrt(np.count_nonzero(~slips & (r < c + 2 * h)) * h * h / np.pi)
    print(
        "SHARE",
        share,
        "c/a",
        c / A,
        "stick",
        radius / A,
        "err",
        np.sqrt((error**2).mean()),
        np.abs(error).max(),
        law.max(),
        normal / force,
    )
    order = np.argsort(r)
    for i in order:
        print(
            f"{r[i] / A:.3f} {x[on[i], 0] / A:6.2f} {traction[i] / (MU * p0):.4f} {law[i]:.4f} {traction[i] / (MU * pressed[i] + 1e-30):.4f}"
        )
    assert 0.3 < share < 0.8
