"""Which momenta a system keeps: against what is known of free, supported, pinned and pushed bodies."""

from functools import cache

import numpy as np
import pytest

import symplex as sx
from symplex.fem.symmetries import momenta

BOX = sx.box((1.0, 0.6, 0.4), (1, 1, 1), split="6")
CELLS = BOX.cells["tetra"]
RUBBER = sx.NeoHookean(lmbda=60.0, mu=40.0, density=10.0)
XYZ = ("x", "y", "z")


@cache
def mass():
    return sx.lumped_mass(BOX.points, CELLS, 10.0, len(BOX.points))


@cache
def body():
    return {"body": sx.Solid(BOX.points, CELLS, RUBBER)}


def found(energies=None, points=BOX.points, **keys):
    """Return what changes each component, by name, of the body alone or of energies."""
    system = sx.System(mass(), body() if energies is None else energies, **keys)
    return {one.name: one.changed_by for one in momenta(system, system.state(points), (0.0, 0.5))}


def test_a_free_body_keeps_both_momenta():
    assert found() == {f"{what} {axis}": () for what in ("momentum", "angular momentum") for axis in XYZ}


def test_a_law_of_small_strains_does_not_keep_the_angular_momentum():
    linear = {"body": sx.Solid(BOX.points, CELLS, sx.LinearElastic(lmbda=60.0, mu=40.0, density=10.0))}
    assert {name for name, by in found(linear).items() if by} == {f"angular momentum {axis}" for axis in XYZ}


def test_a_floor_that_nothing_touches_and_gravity_leave_the_horizontal():
    floor = sx.RigidContact(np.arange(len(BOX.points)), sx.HalfSpace((0, 0, -5.0), (0, 0, 1)), 10.0)
    by = found(body() | {"floor": floor, "gravity": sx.Gravity(mass(), (0, 0, -9.81))})
    assert {name for name, parts in by.items() if not parts} == {"momentum x", "momentum y", "angular momentum z"}
    assert set(by["momentum z"]) == {"floor", "gravity"}


def test_an_inclined_wall_leaves_what_is_along_it():
    wall = sx.RigidContact(np.arange(len(BOX.points)), sx.HalfSpace((0, -3.0, 0), (0, 1.0, 1.0)), 10.0)
    kept = {name for name, parts in found(body() | {"wall": wall}).items() if not parts}
    assert kept == {
        "momentum x",
        "momentum along (0, 0.7071, -0.7071)",
        "angular momentum along (0, 0.7071, 0.7071)",
    }


@pytest.mark.parametrize("node", [0, 5])
def test_a_pinned_body_keeps_the_angular_momentum_about_the_pin(node):
    fixed = np.zeros_like(BOX.points, bool)
    fixed[node] = True
    system = sx.System(mass(), body(), fixed=fixed)
    start = np.random.default_rng(1).normal(size=BOX.points.shape)
    state = system.state(BOX.points, np.where(fixed, 0.0, start))
    kept = [one for one in momenta(system, state) if not one.changed_by]
    assert len(kept) == 3
    assert all(one.is_angular for one in kept)
    # What is reported is L + v·p about the pin, in a motion as well, where the momentum itself changes.
    motion = sx.EnergyMomentum(0.01).start(system, state)
    end = motion.advance(0.3)
    pin = BOX.points[node]
    for one in kept:
        arm = np.cross(np.array(one.angular), -pin)
        np.testing.assert_allclose(one.linear, arm, atol=1e-6)
        about = [
            np.dot(one.linear, system.momentum(s)) + np.dot(one.angular, system.angular_momentum(s))
            for s in (motion.system.state(state.q, state.v), end)
        ]
        assert abs(about[1] - about[0]) < 1e-11
    assert np.abs(system.momentum(end) - system.momentum(state)).max() > 1e-2


def test_a_body_clamped_along_a_plane_slides_and_turns_on_it():
    fixed = np.zeros_like(BOX.points, bool)
    fixed[BOX.nodes_of("z_min"), 2] = True
    kept = {name for name, parts in found(fixed=fixed).items() if not parts}
    assert kept == {"momentum x", "momentum y", "angular momentum z"}


def test_loads_dampers_and_friction():
    drag = sx.actions.Drag(mass(), 0.1)
    assert all("drag" in by for by in found(loads={"drag": drag}).values())
    between = sx.actions.Dashpots([[0, 7]], 3.0)
    assert not any(found(loads={"damper": between}).values())
    pulse = found(loads={"late": lambda t, q, v: np.where(t > 0.4, [1.0, 0.0, 0.0], 0.0) * np.ones_like(q)})
    assert pulse["momentum x"] == ("late",)
    assert pulse["momentum y"] == ()
    floor = sx.RigidContact(np.arange(len(BOX.points)), sx.HalfSpace((0, 0, -5.0), (0, 0, 1)), 10.0)
    rubbed = found(body() | {"floor": floor}, loads={"rub": sx.contact.Friction(floor, 0.3)})
    assert all("rub" in by for by in rubbed.values())


def test_in_the_plane_and_on_a_line():
    bars = sx.Bars([[0, 1], [1, 2]], sx.measures.EngineeringStrain(100.0, 1.0), dim=2)
    system = sx.System(np.ones(3), {"bars": bars}, dim=2)
    flat = momenta(system, system.state([[0, 0], [1.1, 0.0], [0.5, 0.9]]))
    assert [one.name for one in flat] == ["momentum x", "momentum y", "angular momentum z"]
    assert not any(one.changed_by for one in flat)
    line = sx.System(np.ones(2), {"bar": sx.Bars([[0, 1]], sx.measures.EngineeringStrain(1.0, 1.0), dim=1)}, dim=1)
    assert [one.name for one in momenta(line, line.state([[0.0], [1.2]]))] == ["momentum x"]
