"""A sphere pressed onto a half-space and pushed sideways: partial slip (Cattaneo 1938, Mindlin 1949)."""

import numpy as np
import pytest
from hertz import MATERIAL, NU, A, E, R, cap, half_space, point_force

import symplex as sx
from symplex.contact import Friction, SegmentContact, Surface

MU, STEPS, N = 0.3, 6, 3  # elements along the radius of contact


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
    c = (1.0 - share) ** (1.0 / 3.0)
    on = low[(np.abs(x[low, 2]) < 1e-12) & (np.hypot(x[low, 0], x[low, 1]) < 1.02 * A)]
    r, p0 = np.hypot(x[on, 0], x[on, 1]) / A, 1.5 * normal / (np.pi * A * A)
    found, pressed = tangential[on, 0] / (h * h), contact.nodal_forces(q)[on, 2] / (-h * h)
    inner = r < 0.5
    ellipse = np.sqrt(1.0 - r[inner] ** 2)
    law = ellipse - np.sqrt(c * c - r[inner] ** 2)
    radii = np.hypot(r[inner], ellipse - found[inner] / (MU * p0))  # c/a for which the law has what is found
    assert 0.55 < share < 0.7
    assert radii.mean() == pytest.approx(c, rel=0.03)
    assert found[inner].mean() / (MU * p0) == pytest.approx(law.mean(), rel=0.06)
    assert np.abs(found[inner] / (MU * p0) - law).max() < 0.1 * law.max()
    assert (found[inner] < 0.5 * MU * pressed[inner]).all()
    assert (found[r > 0.9] > 0.95 * MU * pressed[r > 0.9]).all()
