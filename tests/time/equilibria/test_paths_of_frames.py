"""Paths of equilibria by arc length, in displacements and rotations of frames."""

import numpy as np
import pytest

import symplex as sx
from symplex.errors import InvalidSystem, NoEquilibrium
from symplex.fem.structures import BeamProperties, Frames, Joint, ShellProperties, beams, shells

ACROSS = np.array([[1, 0, 0, 0, 1, 1], [0, 1, 0, 1, 0, 1]], bool)  # what planes of symmetry across x and y hold


def roof(n, h=12.7, load=3000.0):
    """Return a quarter of the hinged cylindrical roof of Sze, Liu and Lo (2004), with its shell, in mm and N."""
    radius, length, angle = 2540.0, 254.0, 0.1
    t, y = (g.ravel() for g in np.meshgrid(np.linspace(0, angle, n + 1), np.linspace(0, length, n + 1), indexing="ij"))
    node = np.arange((n + 1) ** 2, dtype=np.int32).reshape(n + 1, n + 1)
    quads = np.stack([node[:-1, :-1], node[1:, :-1], node[1:, 1:], node[:-1, 1:]], axis=-1).reshape(-1, 4)
    points = np.column_stack([radius * np.sin(t), y, radius * (np.cos(t) - np.cos(angle))])
    sheet = ShellProperties.uniform(h, sx.NeoHookean.from_young(3102.75, 0.3, 1e-9))
    directors = np.column_stack([np.sin(t), 0.0 * t, np.cos(t)])
    shell = shells(sx.Mesh(points, {"quad": quads}), sheet, directors=directors)
    held = np.zeros((len(points), 6), bool)
    held[t == 0.0] |= ACROSS[0]
    held[y == 0.0] |= ACROSS[1]
    held[t == angle, :3] = True
    force = sx.actions.NodalForce(shell.particles([0])[0], [0.0, 0.0, -load / 8.0])
    frames = Frames(shell.frames.nodes, shell.points, held)
    return shell, sx.System(shell.mass, shell.energies | {"load": force}, frames=frames)


def test_a_roof_snaps_through_and_back():
    shell, system = roof(4, h=6.35, load=3000.0)
    path = sx.equilibria.equilibrium_path(system, shell.points, step=0.004)
    w = shell.points[shell.particles([0])[0], 2].mean() - path.q[:, shell.particles([0])[0], 2].mean(axis=1)
    first, last = int(np.argmax(path.part > np.roll(path.part, -1))), int(np.argmin(path.part))
    assert 0.18 < path.part[first] < 0.21  # 0.1955 of 16 elements a side
    assert path.part[last] < -0.1
    assert np.any(np.diff(w[first:last]) < 0.0)  # it snaps back: the deflection decreases as well
    assert path.stable[:first].all()
    assert not path.stable[first + 2 : last - 1].any()
    assert path.stable[last + 2 :].all()
    assert system.frames is not None
    for part, q in zip(path.part, path.q, strict=True):
        assert system.frames.distortion(q) < 1e-12
        inner = system.gradient(q)
        size = np.abs(inner).max()
        inner[shell.particles([0])[0], 2] -= (1.0 - part) * 3000.0 / 8.0  # of each particle
        left = system.frames.resultants(system, inner, q)
        assert np.abs(left[~system.fixed.any(axis=1)]).max() < 1e-8 * size


def test_paths_of_frames_lead_to_equilibria_of_load_steps():
    shell, system = roof(3)
    path = sx.equilibria.equilibrium_path(system, shell.points, step=0.01, until=0.3)
    part = path.part[2]
    _, loaded = roof(3, load=3000.0 * part)
    found = sx.equilibria.static_equilibrium(loaded, shell.points)
    assert found.way == "load steps"
    assert np.abs(found.state.q - path.q[2]).max() < 1e-7 * np.abs(path.q[2] - shell.points).max()


def test_more_than_a_roof_carries_leads_through():
    shell, system = roof(4, load=2600.0)
    found = sx.equilibria.static_equilibrium(system, shell.points)
    assert found.stable
    assert system.frames is not None
    assert system.frames.distortion(found.state.q) < 1e-12
    assert shell.frames.centers(found.state.q)[0, 2] < -10.0


def deep_arch(n, load):
    """Return a circular arch of 215°, clamped at one end and hinged at the other, with a force on its crown."""
    angle = np.deg2rad(215.0)
    t = np.linspace(-0.5 * angle, 0.5 * angle, n + 1)
    points = 100.0 * np.column_stack([np.sin(t), 0.0 * t, np.cos(t)])
    lines = np.column_stack([np.arange(n), np.arange(1, n + 1)]).astype(np.int32)
    properties = BeamProperties(1e8, (5e7, 5e7), (1e6, 1e6), 1e6, 1.0, (0.01, 0.01))
    beam = beams(sx.Mesh(points, {"line": lines}), properties, up=(0.0, 1.0, 0.0))
    held = np.zeros((n + 1, 6), bool)
    held[:, [1, 3, 5]] = held[0] = held[n, :3] = True
    force = sx.actions.NodalForce(beam.particles([n // 2]).ravel(), [0.0, 0.0, -load / 4.0])
    frames = Frames(beam.frames.nodes, beam.points, held)
    return beam, sx.System(beam.mass, {"beam": beam.energy, "load": force}, frames=frames)


def test_a_deep_arch_carries_what_is_known():
    """P R²/EI = 8.97 (DaDeppo and Schmidt, J. Appl. Mech. 42 (1975) 309), of an arch that does not stretch."""
    beam, system = deep_arch(32, 950.0)
    path = sx.equilibria.equilibrium_path(system, beam.points, step=0.03, points=90)
    top = int(np.argmax(path.part))
    crown = beam.frames.centers(path.q[top])[16] - beam.frames.centers(beam.points)[16]
    assert 950.0 * path.part[top] == pytest.approx(897.0, rel=6e-3)
    assert path.stable[:top].all()
    assert not path.stable[top + 1 :].any()
    assert -crown[2] == pytest.approx(113.7, rel=1e-2)
    assert abs(crown[0]) == pytest.approx(61.1, rel=1e-2)


def test_what_paths_cannot_follow_is_refused():
    shell, system = roof(2)
    loose = sx.System(shell.mass, system.energies, frames=shell.frames)
    with pytest.raises(NoEquilibrium, match="no path of equilibria leads on"):
        sx.equilibria.equilibrium_path(loose, shell.points)
    beam, arch = deep_arch(4, 1.0)
    pin = Joint("spherical", (beam.frames.nodes[2], None), beam.points, [0.0, 0.0, 100.0])
    jointed = sx.System(beam.mass, arch.energies, frames=arch.frames, joints={"pin": pin})
    with pytest.raises(InvalidSystem, match="is for systems without joints"):
        sx.equilibria.equilibrium_path(jointed, beam.points)
