"""Linear buckling: columns of Euler, plates, prescribed shortening, and what has no factor."""

from __future__ import annotations

import numpy as np
import pytest

import symplex as sx
from symplex.errors import InvalidSystem, NoEquilibrium
from symplex.fem.structures import Frames, Section, ShellProperties, beams, shells

E, L, B, H = 1e9, 1.0, 0.05, 0.04
EULER = np.pi**2 * E * np.array([B * H**3, H * B**3]) / 12.0 / (4.0 * L**2)  # of a cantilever, about both axes


def column(cells=(20, 2, 2), law=sx.SaintVenantKirchhoff, extra=None, moving=None, loads=None):
    mesh = sx.box((L, B, H), cells, split="hexahedra")
    solid = sx.Solid(mesh.points, mesh.cells["hexahedron"], law.from_young(E, 0.0, 1000.0), formulation="stabilized")
    end = np.flatnonzero(mesh.points[:, 0] == L)
    fixed = np.repeat(mesh.points[:, :1] == 0.0, 3, axis=1)
    push = sx.actions.NodalForce(end, [-1.0 / len(end), 0.0, 0.0])
    energies = {"column": solid} | ({"push": push} if moving is None else {}) | (extra or {})
    system = sx.System(np.ones(len(mesh.points)), energies, fixed=fixed, moving=moving, loads=loads)
    return system, system.state(mesh.points), end


@pytest.mark.parametrize("cells", [(20, 2, 2), (20, 1, 1)])  # by the Lanczos method, and all at once
def test_a_solid_cantilever_buckles_at_eulers_load(cells):
    """1 N times π² E I/(4 L²), and nine times that: to 3e-4, with shear and the mesh."""
    system, state, _ = column(cells)
    found = sx.modes.linear_buckling(system, state, ["push"], 4)
    np.testing.assert_allclose(found.factors[:2], EULER, rtol=2e-3)
    np.testing.assert_allclose(found.factors[2:], 9.0 * EULER, rtol=8e-3)
    x = state.q[:, 0]
    np.testing.assert_allclose(np.abs(found.shapes[0, :, 2]), 1.0 - np.cos(0.5 * np.pi * x / L), atol=2e-3)
    assert not found.shapes[:, system.fixed].any()
    np.testing.assert_allclose(found.displacement[:, 0], -x / (E * B * H), atol=0.04 / (E * B * H))


def test_a_load_that_stays_lowers_the_factor():
    """With a part of the load for good, the factor of the rest is what is left of Euler's load."""
    system, state, end = column((20, 1, 1))
    alone = sx.modes.linear_buckling(system, state, ["push"], 1).factors[0]
    stays = {"stays": sx.actions.NodalForce(end, [-100.0 / len(end), 0.0, 0.0])}
    system, state, _ = column((20, 1, 1), extra=stays)
    energies = {name: energy for name, energy in system.energies.items() if name != "push"}
    base = sx.System(system.mass, energies, fixed=system.fixed)
    rest = sx.equilibria.static_equilibrium(base, state.q).state
    found = sx.modes.linear_buckling(system, system.state(rest.q), ["push"], 1).factors[0]
    assert found == pytest.approx(alone - 100.0, rel=1e-4)  # finite strains of 5e-5


def test_a_prescribed_shortening():
    """A column with clamped ends that come together by 1 m times λ: 4 π² E I/L² = E A λ/L."""
    course = sx.actions.TimeFunction.steady(1.0)
    mesh = sx.box((L, B, H), (24, 1, 1), split="hexahedra")
    end = np.flatnonzero(mesh.points[:, 0] == L)
    moving = {"press": sx.actions.SupportTranslation(end, [-1e-3, 0.0, 0.0], course)}
    system, state, _ = column((24, 1, 1), moving=moving)
    state = sx.State(1.0, state.q, state.v, state.a)  # the displacement at 1 s
    found = sx.modes.linear_buckling(system, state, ["press"], 1)
    assert found.factors[0] * 1e-3 == pytest.approx(4.0 * np.pi**2 * H**2 / 12.0 / L, rel=2e-2)  # shear: 1.3e-2 less


def plate(n, pulled=0.0):
    """A square plate on four edges, pressed along x with 1 N/m."""
    thickness, poisson, young = 0.01, 0.3, 2e11
    x, y = (grid.ravel() for grid in np.meshgrid(np.linspace(0, 1, n + 1), np.linspace(0, 1, n + 1), indexing="ij"))
    node = np.arange((n + 1) ** 2, dtype=np.int32).reshape(n + 1, n + 1)
    quads = np.stack([node[:-1, :-1], node[1:, :-1], node[1:, 1:], node[:-1, 1:]], axis=-1).reshape(-1, 4)
    mesh = sx.Mesh(np.column_stack([x, y, 0.0 * x]), {"quad": quads})
    material = sx.SaintVenantKirchhoff.from_young(young, poisson, 7850.0)
    shell = shells(mesh, ShellProperties.uniform(thickness, material))
    held = np.zeros((len(x), 6), bool)
    edge = (x == 0) | (x == 1) | (y == 0) | (y == 1)
    held[edge, 2] = True
    held[(x == 0) | (x == 1), 3] = held[(y == 0) | (y == 1), 4] = True  # hard supports: no rotation along the edge
    held[(x == 0.5) & (y == 0.5), :2] = held[(x == 0.5) & (y == 1), 0] = True  # against rigid motions in the plane
    frames = Frames(shell.frames.nodes, shell.points, held)
    weights = np.where((y == 0) | (y == 1), 0.5, 1.0) / n
    forces = [(np.flatnonzero(x == side), sign) for side, sign in ((0, 1.0), (1, -1.0))]
    load = {}
    for k, (nodes, sign) in enumerate(forces):
        particles = shell.frames.nodes[nodes]  # rods of two, each of them named twice
        size = np.zeros(len(shell.points))
        np.add.at(size, particles, np.repeat(0.25 * sign * weights[nodes, None], 4, axis=1))
        acting = np.unique(particles)
        load[f"press {k}"] = sx.actions.NodalForce(acting, np.outer(size[acting], [1.0, 0.0, 0.0]))
    system = sx.System(shell.mass, shell.energies | load, frames=frames)
    D = young * thickness**3 / 12.0 / (1.0 - poisson**2)
    return system, system.state(shell.points), list(load), 4.0 * np.pi**2 * D


def test_a_plate_on_four_edges():
    """K = 4 of Bryan less what shear takes, of second order in the size of elements; then k = 6.25, two half waves."""
    found = []
    for n in (6, 12, 24):
        system, state, loads, exact = plate(n)
        found.append(sx.modes.linear_buckling(system, state, loads, 2).factors / exact / [1.0, 6.25 / 4.0])
    steps = -np.diff(found, axis=0)
    np.testing.assert_allclose(steps[0] / steps[1], 4.0, rtol=0.18)
    # Of Mindlin's plate 1/(1 + 2 π² D/(κ G h b²)), with κ = 5/6.
    shear = 2.0 * np.pi**2 * 0.01**2 * 2.6 / (12.0 * (1.0 - 0.3**2) * 5.0 / 6.0)
    np.testing.assert_allclose(found[2][0] - steps[1][0] / 3.0, 1.0 / (1.0 + shear), rtol=3e-4)
    np.testing.assert_allclose(found[2][1] - steps[1][1] / 3.0, 1.0, rtol=3e-3)


def test_a_column_of_beams():
    section = Section.rectangle(B, H)
    lines = np.stack([np.arange(20), np.arange(1, 21)], axis=1).astype(np.int32)
    mesh = sx.Mesh(np.column_stack([np.linspace(0, L, 21), np.zeros((21, 2))]), {"line": lines})
    material = sx.SaintVenantKirchhoff.from_young(E, 0.0, 1000.0)
    one = beams(mesh, section.of(material), [0.0, 1.0, 0.0])
    push = sx.actions.NodalForce(one.particles([20]), [-0.25, 0.0, 0.0])
    system = sx.System(one.mass, {"beam": one.energy, "push": push}, frames=one.frames, fixed=one.fixed([0]))
    found = sx.modes.linear_buckling(system, system.state(one.points), ["push"], 2)
    np.testing.assert_allclose(found.factors, EULER, rtol=3e-3)


def test_what_has_no_factor_is_refused():
    system, state, _ = column((20, 1, 1), law=sx.LinearElastic)
    with pytest.raises(InvalidSystem, match="a material with law = 'linear-elastic' does not buckle"):
        sx.modes.linear_buckling(system, state, ["push"])
    system, state, end = column((20, 1, 1))
    with pytest.raises(InvalidSystem, match="there is no load 'pull'; there are column, push"):
        sx.modes.linear_buckling(system, state, ["pull"])
    with pytest.raises(InvalidSystem, match="name at least one load"):
        sx.modes.linear_buckling(system, state, [])
    free = sx.System(system.mass, system.energies)
    with pytest.raises(NoEquilibrium, match="the state is not stable without the load"):
        sx.modes.linear_buckling(free, free.state(state.q), ["push"])
    nothing = {"nothing": sx.actions.NodalForce(end, [0.0, 0.0, 0.0])}
    system, state, _ = column((20, 1, 1), extra=nothing)
    with pytest.raises(InvalidSystem, match="nothing is displaced by nothing"):
        sx.modes.linear_buckling(system, state, ["nothing"])
