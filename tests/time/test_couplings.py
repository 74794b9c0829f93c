"""Solids whose nodes move with frames: what is conserved, statics, modes, agreement of methods, and what is refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import symplex as sx
from symplex.errors import InvalidSystem
from symplex.fem.structures import Coupling, Frames, Joint, JointLoad, Section, beams, body_particles

EPS = np.finfo(float).eps
LENGTH, SIDE = 0.3, 0.03
LAW = sx.NeoHookean.from_young(5e6, 0.3, 1200.0)


def block(ends=("x_min", "x_max"), hinge=None, weight=False, cells=(4, 1, 1)):
    """A bar of hexahedra with a rigid body at each of these ends, and a joint of the first one to the ground."""
    mesh = sx.box((LENGTH, SIDE, SIDE), cells, split="hexahedra")
    points, n = [mesh.points], len(mesh.points)
    mass = [sx.lumped_mass(mesh.points, mesh.cells["hexahedron"], LAW.density, n)]
    for k, end in enumerate(ends):
        place = [0.0 if end == "x_min" else LENGTH, 0.5 * SIDE, 0.5 * SIDE]
        x, m = body_particles(0.05 + 0.03 * k, place, [0.005, 0.01, 0.012])
        points.append(x)
        mass.append(m)
    x, mass = np.concatenate(points), np.concatenate(mass)
    frames = Frames(n + np.arange(4 * len(ends)).reshape(-1, 4), x)
    joints = {end: Coupling(frames.nodes[k], mesh.nodes_of(end), x) for k, end in enumerate(ends)}
    if hinge is not None:
        axis = {"axis": [0.0, 1.0, 0.0]} if hinge == "revolute" else {}
        joints["hinge"] = Joint(hinge, (frames.nodes[0], None), x, [0.0, 0.5 * SIDE, 0.5 * SIDE], **axis)
    energies = {"bar": sx.Solid(x, mesh.cells["hexahedron"], LAW)}
    energies |= {"weight": sx.Gravity(mass, (0.0, 0.0, -9.81))} if weight else {}
    return mesh, sx.System(mass, energies, frames=frames, joints=joints), x


@pytest.mark.parametrize("method", [sx.EnergyMomentum, sx.Midpoint, sx.GeneralizedAlpha])
def test_a_free_solid_between_bodies(method):
    """Energy and both momenta to round-off, as the method has it; nodes stay where they are in their frames."""
    _, system, x = block()
    v = np.array([0.5, 0.2, -0.1]) + np.cross([1.0, 4.0, 2.0], x - x.mean(axis=0))
    start, steps = system.state(x, v), 100
    end = method(2e-3).start(system, start).advance(2e-3 * steps)
    size = float((np.asarray(system.mass) * np.linalg.norm(v, axis=1)).sum())
    assert np.abs(system.momentum(end) - system.momentum(start)).max() < 10.0 * EPS * steps * size
    turn = np.abs(system.angular_momentum(end) - system.angular_momentum(start)).max()
    energy = system.energies_of(end)["total"] / system.energies_of(start)["total"] - 1.0
    assert system.energies_of(end)["bar"] > 1e-7
    if method is not sx.GeneralizedAlpha:
        assert turn < 10.0 * EPS * steps * size * LENGTH
    if method is sx.EnergyMomentum:
        # Newton's method leaves of forces what rounding of positions does: E h ε L in each step, on ways of h v.
        rounding = 5e6 * SIDE * EPS * LENGTH * 2e-3 * np.abs(v).max()
        assert abs(energy) * system.energies_of(start)["total"] < 10.0 * rounding * steps
    assert np.abs(system.joints.violations(end.q)).max() < 1e-14
    assert system.frames.distortion(end.q) < 1e-12


@pytest.mark.slow
def test_a_solid_on_a_hinge_by_several_methods():
    """A pendulum: its energy is conserved, and other methods move as it, redundant accelerations included."""
    _, system, x = block(hinge="revolute", weight=True)
    start = system.state(x)
    end = sx.EnergyMomentum(1e-3).start(system, start).advance(0.2)
    exact = system.joints["hinge"].angle(end.q)
    assert exact > 0.5
    change = system.energies_of(end)["total"] - system.energies_of(start)["total"]
    assert abs(change) < 1e-11 * system.energies_of(end)["kinetic"]
    for method in (sx.Rattle(1e-4, {}), sx.GeneralizedAlpha(1e-3), sx.Newmark.trapezoidal(1e-3), sx.Newmark(1e-4)):
        other = method.start(system, start).advance(0.2)
        assert_allclose(system.joints["hinge"].angle(other.q), exact, rtol=2e-4)
        assert np.abs(system.joints.violations(other.q)).max() < 1e-14
        assert np.abs(system.joints.rates(other.q, other.v)).max() < 1e-12
    reactions = system.joint_reactions(end)
    assert all(reaction.determined for reaction in reactions.values())
    # The hinge bears what the frame's own mass and the solid need.
    own = slice(20, 24)
    frame = (np.asarray(system.mass)[own, None] * (end.a[own] + [0.0, 0.0, 9.81])).sum(axis=0)
    assert_allclose(reactions["hinge"].force + reactions["x_min"].force, frame, atol=1e-9)


def test_steps_are_of_second_order():
    """By a motor that begins gently, so that no vibration is excited which steps do not resolve."""
    _, bare, x = block(hinge="revolute", cells=(2, 1, 1))
    motor = JointLoad(bare.joints["hinge"], lambda t: 0.4 * np.sin(np.pi * t / 0.2) ** 4)
    system = sx.System(bare.mass, bare.energies, frames=bare.frames, joints=bare.joints, loads={"motor": motor})
    start, found = system.state(x), []
    for h in (4e-3, 2e-3, 1e-3):
        motion = sx.EnergyMomentum(h).start(system, start)
        end = motion.advance(0.2)
        energies = motion.energies(end)
        assert abs(energies["balance"]) < 1e-11 * energies["work_motor"]
        found.append(end.q)
    assert system.joints["hinge"].angle(end.q) > 0.15
    order = np.log2(np.abs(found[0] - found[1]).max() / np.abs(found[1] - found[2]).max())
    assert abs(order - 2.0) < 0.1, order


def test_rest_under_weight_is_where_ends_are_clamped_by_supports():
    """A frame that is welded to the ground holds nodes as supports hold them; its force is the weight."""
    mesh, system, x = block(("x_min",), "rigid", weight=True)
    found = sx.equilibria.static_equilibrium(system, x).state
    n = len(mesh.points)
    held = sx.fixed_mask(n, [(mesh.nodes_of("x_min"), "xyz")])
    mass = np.asarray(system.mass)[:n]
    solid = sx.Solid(mesh.points, mesh.cells["hexahedron"], LAW)
    clamped = sx.System(mass, {"bar": solid, "weight": sx.Gravity(mass, (0.0, 0.0, -9.81))}, fixed=held)
    target = sx.equilibria.static_equilibrium(clamped, mesh.points).state
    assert np.abs(target.q - mesh.points).max() > 1e-3
    assert_allclose(found.q[:n], target.q, atol=1e-9)
    force = system.joint_reactions(found)["x_min"].force
    assert_allclose(force, [0.0, 0.0, -9.81 * mass.sum()], atol=1e-7)
    modes = [sx.modes.natural_modes(one, state, 4).frequencies for one, state in ((system, found), (clamped, target))]
    assert_allclose(modes[0], modes[1], rtol=1e-7)


def test_a_free_solid_has_six_rigid_modes_and_those_of_its_mass():
    _, system, x = block()
    frequencies = sx.modes.natural_modes(system, system.state(x), 8).frequencies
    assert np.abs(frequencies[:6]).max() < 1e-3
    assert_allclose(frequencies[6], frequencies[7], rtol=0.1)
    assert frequencies[6] > 10.0


def test_a_solid_at_the_end_of_a_beam():
    """Of one stiffness and mass the bar is half beam, half solid: next to a beam all along."""
    stiff = sx.NeoHookean.from_young(5e6, 0.0, 1200.0)
    line = sx.Mesh(
        np.linspace(0.0, 1.0, 5)[:, None] * [LENGTH, 0.0, 0.0] - [LENGTH, 0.0, 0.0],
        {"line": np.column_stack([np.arange(4), np.arange(1, 5)]).astype(np.int32)},
    )
    rod = beams(line, Section.rectangle(SIDE, SIDE).of(stiff), up=(0.0, 0.0, 1.0))
    mesh = sx.box((LENGTH, SIDE, SIDE), (12, 2, 2), split="hexahedra")
    solid = mesh.points - [0.0, 0.5 * SIDE, 0.5 * SIDE]
    x, n = np.concatenate([rod.points, solid]), len(rod.points)
    cells = mesh.cells["hexahedron"] + n
    mass = np.concatenate([rod.mass, sx.lumped_mass(solid, mesh.cells["hexahedron"], 1200.0, len(solid))])
    nodes = rod.frames.nodes
    ends = rod.frames.centers(rod.points)[:, 0]
    root, tip = nodes[np.argmin(ends)], nodes[np.argmax(ends)]
    frames = Frames(nodes, x)
    seat = Coupling(tip, n + mesh.nodes_of("x_min"), x)
    clamp = Joint("rigid", (root, None), x, [-LENGTH, 0.0, 0.0])
    joints = {"seat": seat, "clamp": clamp}
    system = sx.System(mass, {"rod": rod.energy, "block": sx.Solid(x, cells, stiff)}, frames=frames, joints=joints)
    found = sx.modes.natural_modes(system, system.state(x), 4).frequencies
    # Euler's cantilever of twice the length, less some 1 % of shear and lumped masses
    exact = 1.8751**2 / (2.0 * np.pi * (2.0 * LENGTH) ** 2) * np.sqrt(5e6 / 1200.0 * SIDE**2 / 12.0)
    assert_allclose(found[:2], exact, rtol=0.02)


def test_what_is_refused():
    mesh, system, x = block()
    frames = system.frames
    with pytest.raises(InvalidSystem, match="nodes must be different ones, one at least"):
        Coupling(frames.nodes[0], [], x)
    with pytest.raises(InvalidSystem, match="none of the frame"):
        Coupling(frames.nodes[0], [20], x)
    with pytest.raises(InvalidSystem, match="must be the four particles of a frame"):
        Coupling([0, 1, 2], [5], x)
    one = {"x_min": system.joints["x_min"]}
    held = np.zeros((len(x), 3), bool)
    held[mesh.nodes_of("x_min")[0], 1] = True
    with pytest.raises(
        InvalidSystem, match="'x_min' lets node 0 move with a frame, but it is held or moved by a support"
    ):
        sx.System(system.mass, system.energies, frames=frames, joints=one, fixed=held)
    twice = {"pair": Coupling(frames.nodes[0], [24], x)}
    with pytest.raises(InvalidSystem, match="node 24 move with a frame, but it is a particle of a frame; join frames"):
        sx.System(system.mass, system.energies, frames=frames, joints=twice)
