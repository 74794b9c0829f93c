"""Probes of joints: what they report, and what begins or ends by it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import symplex as sx
from symplex.errors import InvalidSystem
from symplex.fem.structures import Frames, Joint, JointLoad, body_particles

M, L, J = 2.0, 0.25, 2.0 * (0.25**2 + 0.02**2 + 0.2**2)  # of a bar about the hinge


def hung(kind="revolute", axis=(0.0, 1.0, 0.0), torque=3.0):
    """A bar on a joint to the ground, with a motor."""
    points, mass = body_particles(M, [0.0, 0.0, -L], [0.02, 0.02, 0.2])
    frames = Frames([[0, 1, 2, 3]], points)
    joint = Joint(kind, (frames.nodes[0], None), points, at=[0.0, 0.0, 0.0], axis=axis)
    free = sx.System(mass, {}, frames=frames)
    return (
        points,
        free,
        sx.System(
            mass,
            {},
            frames=frames,
            joints={"hinge": joint},
            loads={"motor": JointLoad(joint, torque, coordinate="angle")},
        ),
    )


@pytest.mark.parametrize("method", [sx.EnergyMomentum, pytest.param(sx.Midpoint, marks=pytest.mark.slow), sx.Rattle])
def test_a_hinge_breaks_where_its_force_passes_a_value(method):
    """By a constant moment S from rest: α̇ = S t/J and |F| = m l √(α̇⁴ + (S/J)²), so it breaks at a known time."""
    points, free, system = hung()
    given = {"constraints": {}} if method is sx.Rattle else {}
    strength, rate = 40.0, 3.0 / J
    expected = ((strength / (M * L)) ** 2 - rate**2) ** 0.25 / rate
    force = sx.outputs.JointProbe("hinge", system, "hinge", ["force"], components=["norm"])
    after = [sx.time.Stage(free, method(1e-3, **given), 2.0)]
    event = sx.time.Event("breaks", force, above=strength, then=after)
    stages = sx.time.Stages([sx.time.Stage(system, method(1e-3, **given), 2.0)], events=[event])
    motion = stages.start(system, system.state(points))
    state = motion.advance(2.0)
    assert_allclose(motion.happened["breaks"], expected, rtol=1e-6)
    speed = rate * expected
    seen = sx.outputs.JointProbe("hinge", system, "hinge", ["angular_velocity", "force", "moment"]).of(
        motion.system, state
    )
    assert_allclose(seen["angular_velocity"], speed, rtol=1e-6)  # it flies on without forces
    assert seen["force_x"] == seen["force_z"] == seen["moment_y"] == 0.0
    assert_allclose(np.linalg.norm(free.momentum(state)), M * L * speed, rtol=1e-6)
    found = motion.energies(state)
    assert_allclose(found["kinetic"], 0.5 * J * speed**2, rtol=1e-6)
    assert_allclose(found["work_motor"], found["kinetic"], rtol=1e-11 if method is not sx.Rattle else 1e-5)
    assert abs(found["balance"]) < (1e-11 if method is not sx.Rattle else 1e-5) * found["kinetic"]


def test_what_is_reported_is_what_the_system_tells():
    points, _, system = hung("cylindrical", torque=0.0)
    frames = system.frames
    v = frames.velocities(points, [[-3.0 * L, 0.4, 0.0]], [[0.0, 3.0, 0.0]])
    motion = sx.EnergyMomentum(1e-3).start(system, system.state(points, v))
    state = motion.advance(0.1)
    probe = sx.outputs.JointProbe("sleeve", system, "hinge")
    assert [column.name for column in probe.columns][:3] == ["angle", "displacement", "force_x"]
    assert [column.unit for column in probe.columns][:3] == ["rad", "m", "N"]
    seen, reaction = probe.of(system, state), system.joint_reactions(state)["hinge"]
    assert seen["angle"] == system.joints["hinge"].angle(state.q)
    assert seen["displacement"] == system.joints["hinge"].displacement(state.q)
    assert [seen[f"force_{a}"] for a in "xyz"] == reaction.force.tolist()
    assert [seen[f"moment_{a}"] for a in "xyz"] == reaction.moment.tolist()
    rates = sx.outputs.JointProbe("sleeve", system, "hinge", ["angular_velocity", "velocity"])
    before, after = (motion.advance(t) for t in (0.2, 0.201))
    found = [rates.of(system, at) for at in (before, after)]
    joint = system.joints["hinge"]
    for rate, value in (("angular_velocity", joint.angle), ("velocity", joint.displacement)):
        mean = (value(after.q) - value(before.q)) / 1e-3
        assert_allclose(0.5 * (found[0][rate] + found[1][rate]), mean, rtol=1e-5)  # to second order of the step


def test_what_is_refused():
    _, _, system = hung()
    for given, said in (
        ({"joint": "hing"}, "there is no joint 'hing'; there are 'hinge'"),
        ({"quantities": ["displacement"]}, "there is no 'displacement'; there are angle, angular_velocity, force"),
        ({"quantities": ["angle"], "components": ["x"]}, "components are of force and moment"),
        ({"quantities": []}, "none is given"),
    ):
        with pytest.raises(InvalidSystem, match=said):
            sx.outputs.JointProbe("probe", system, **({"joint": "hinge"} | given))
