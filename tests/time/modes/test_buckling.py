"""Linear buckling: columns of Euler, plates, prescribed shortening, and what has no factor."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.optimize import brentq
from scipy.special import jv

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
    assert found == pytest.approx(alone - 100.0, rel=2e-4)  # finite strains of 5e-5


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


def cantilever(n):
    """A narrow cantilever of 2 m, its height along z, with 1 N down at its end, and √(EI GJ)/L²."""
    section = Section.rectangle(0.1, 0.008)
    lines = np.stack([np.arange(n), np.arange(1, n + 1)], axis=1).astype(np.int32)
    mesh = sx.Mesh(np.column_stack([np.linspace(0.0, 2.0, n + 1), np.zeros((n + 1, 2))]), {"line": lines})
    properties = section.of(sx.SaintVenantKirchhoff.from_young(2.1e11, 0.3, 7850.0))
    one = beams(mesh, properties, [0.0, 0.0, 1.0])
    push = sx.actions.NodalForce(one.particles([n]), [0.0, 0.0, -0.25])
    system = sx.System(one.mass, {"beam": one.energy, "push": push}, frames=one.frames, fixed=one.fixed([0]))
    return system, system.state(one.points), np.sqrt(properties.bending[0] * properties.torsion) / 4.0


def test_a_cantilever_that_is_bent_buckles_sideways():
    """At γ √(EI GJ)/L² with J₋₁/₄(γ/2) = 0 (Michell and Prandtl 1899), in second order of the length of elements."""
    found = []
    for n in (8, 16, 32):
        system, state, scale = cantilever(n)
        found.append(sx.modes.linear_buckling(system, state, ["push"], 2).factors / scale)
    coarse, fine = -np.diff(found, axis=0)
    np.testing.assert_allclose(coarse / fine, 4.0, rtol=0.06)
    exact = [brentq(lambda x: jv(-0.25, 0.5 * x), a, b) for a, b in ((3.0, 5.0), (9.0, 11.0))]
    np.testing.assert_allclose((found[2] - fine / 3.0)[0], exact[0], rtol=1e-4)
    np.testing.assert_allclose((found[2] - fine / 3.0)[1], exact[1], rtol=2e-3)


@pytest.mark.parametrize("kind", ["shells", "solid"])
def test_a_bent_cantilever_of_shells_and_of_a_solid(kind):
    """3 to 4 % above the beam's: the clamp holds the warping of the end, and ν = 0."""
    L, h, b = 2.0, 0.1, 0.008
    law = sx.SaintVenantKirchhoff.from_young(2.1e11, 0.0, 7850.0)
    mesh = sx.box((L, b, h), (20, 1, 2 if kind == "shells" else 4), split="hexahedra")
    if kind == "shells":
        side = np.flatnonzero(mesh.points[:, 1] == 0.0)
        number = np.full(len(mesh.points), -1)
        number[side] = np.arange(len(side))
        faces = [cell[number[cell] >= 0] for cell in mesh.cells["hexahedron"]]
        points = mesh.points[side]
        quads = number[np.array(faces)]
        centre = points[quads].mean(axis=1, keepdims=True)
        angle = np.arctan2(points[quads][..., 2] - centre[..., 2], points[quads][..., 0] - centre[..., 0])
        quads = np.take_along_axis(quads, np.argsort(angle, axis=1), axis=1).astype(np.int32)
        made = shells(sx.Mesh(points, {"quad": quads}), ShellProperties.uniform(b, law))
        at_end = np.flatnonzero((points[:, 0] == L) & (np.abs(points[:, 2] - 0.5 * h) < 1e-9))
        nodes, mass, energies, start = np.unique(made.particles(at_end)), made.mass, made.energies, made.points
        held: dict[str, Any] = {"frames": made.frames, "fixed": made.fixed(np.flatnonzero(points[:, 0] == 0.0))}
    else:
        nodes = np.flatnonzero((mesh.points[:, 0] == L) & (np.abs(mesh.points[:, 2] - 0.5 * h) < 1e-9))
        solid = sx.Solid(mesh.points, mesh.cells["hexahedron"], law, formulation="stabilized")
        mass, energies, start = np.ones(len(mesh.points)), {"solid": solid}, mesh.points
        held = {"fixed": np.repeat(mesh.points[:, :1] == 0.0, 3, axis=1)}
    push = sx.actions.NodalForce(nodes, [0.0, 0.0, -1.0 / len(nodes)])
    system = sx.System(mass, energies | {"push": push}, **held)
    found = sx.modes.linear_buckling(system, system.state(start), ["push"], 1).factors[0]
    properties = Section.rectangle(h, b).of(law)
    scale = np.sqrt(properties.bending[0] * properties.torsion) / L**2
    assert 4.0126 * 1.02 < found / scale < 4.0126 * 1.05


def test_a_bent_frame_of_bars():
    """A braced cantilever that bends and is pressed: the stiffness N/l across each bar by its force N, and no other."""
    n, stiffness = 12, 1e5
    x = np.arange(n + 1.0)
    points = np.concatenate([np.column_stack([x, 0.0 * x]), np.column_stack([x, 1.0 + 0.0 * x])])
    lower, upper = np.arange(n), n + 1 + np.arange(n)
    along = [(lower, lower + 1), (upper, upper + 1), (lower, upper + 1), (upper, lower + 1), (lower + 1, upper + 1)]
    ends = np.concatenate([np.stack(pair, axis=1) for pair in along])
    lengths = np.linalg.norm(points[ends[:, 1]] - points[ends[:, 0]], axis=1)
    bars = sx.Bars(ends, sx.measures.EngineeringStrain(stiffness / lengths, lengths), dim=2)
    push = sx.actions.NodalForce([n, 2 * n + 1], [-10.0, -1.0])
    fixed = np.repeat(points[:, :1] == 0.0, 2, axis=1)
    system = sx.System(np.ones(len(points)), {"bars": bars, "push": push}, dim=2, fixed=fixed)
    found = sx.modes.linear_buckling(system, system.state(points), ["push"], 2)
    e = (points[ends[:, 1]] - points[ends[:, 0]]) / lengths[:, None]
    across = np.stack([-e[:, 1], e[:, 0]], axis=1)
    u = found.displacement
    tension = stiffness / lengths * np.einsum("bi,bi->b", e, u[ends[:, 1]] - u[ends[:, 0]])
    K = np.zeros((2, 2 * len(points), 2 * len(points)))
    for (a, b), axial, normal, N, length in zip(ends, e, across, tension, lengths, strict=True):
        B = np.zeros((2, 2 * len(points)))
        for k, direction in enumerate((axial, normal)):
            B[k, 2 * b : 2 * b + 2], B[k, 2 * a : 2 * a + 2] = direction, -direction
        K[0] += stiffness / length * np.outer(B[0], B[0])
        K[1] += N / length * np.outer(B[1], B[1])
    free = ~fixed.ravel()
    mu = eigh(-K[1][np.ix_(free, free)], K[0][np.ix_(free, free)], eigvals_only=True)
    np.testing.assert_allclose(found.factors, 1.0 / mu[::-1][:2], rtol=1e-5)


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


def test_factors_of_what_bends_are_those_of_the_stresses_of_the_linear_response():
    """(K + λ K_σ) u = 0, K_σ = ∫ ∇N_a·σ ∇N_b dV 1, whatever the rotations within quadratic elements are."""
    length, height, width = 1.0, 0.1, 0.01
    mesh = sx.quadratic(sx.box((length, width, height), (4, 1, 1), split="hexahedra"))
    x, law = mesh.points, sx.SaintVenantKirchhoff.from_young(2e11, 0.3, 7800.0)
    solid = sx.Solid(x, mesh.cells["hexahedron20"], law)
    tip = np.flatnonzero(np.isclose(x[:, 0], length) & np.isclose(x[:, 1], 0.5 * width))
    push = sx.actions.NodalForce(tip, [0.0, 0.0, -1.0 / len(tip)])
    fixed = np.repeat(np.isclose(x[:, 0], 0.0)[:, None], 3, axis=1)
    system = sx.System(np.ones(len(x)), {"strip": solid, "push": push}, fixed=fixed)
    found = sx.modes.linear_buckling(system, system.state(x), ["push"], 2)
    _, weights, gradients = solid.part()
    F = np.einsum("eai,egja->egij", found.displacement[solid.nodes], gradients)
    strain = 0.5 * (F + F.swapaxes(2, 3))
    sigma = law.lmbda * np.trace(strain, axis1=2, axis2=3)[..., None, None] * np.eye(3) + 2.0 * law.mu * strain
    local = np.einsum("eg,egia,egij,egjb->eab", weights, gradients, sigma, gradients)
    stress = np.zeros((len(x), len(x)))
    for nodes, one in zip(solid.nodes, local, strict=True):
        stress[np.ix_(nodes, nodes)] += one
    free = ~fixed.ravel()
    K = system.hessian(x).toarray()[np.ix_(free, free)]
    mu = eigh(-np.kron(stress, np.eye(3))[np.ix_(free, free)], K, eigvals_only=True)
    np.testing.assert_allclose(found.factors, 1.0 / mu[::-1][:2], rtol=1e-6)
