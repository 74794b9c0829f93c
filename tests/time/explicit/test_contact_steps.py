"""Explicit Newmark whose steps are divided while bodies are within the distance at which contact acts."""

from math import ceil

import numpy as np
import pytest

import symplex as sx
from symplex.contact import BodyContact, Friction, Surface, offset_contact
from symplex.errors import ScenarioError, StepFailed, UnstableStep
from symplex.scenario.scenario import Scenario
from symplex.time.explicit.contact_level import largest_frequency_of
from symplex.time.stability import latent_frequency, stable_step

LAW = sx.NeoHookean.from_young(1e7, 0.3, 1000.0)
SIDE = 0.1  # m


def two_cubes(gap, speed, contact=True, cells=2, aside=(0.31, 0.27)):
    """Two cubes above each other, aside by these parts of a cell, of which the upper one falls."""
    low, high = (sx.box((SIDE,) * 3, (cells,) * 3, split="6") for _ in range(2))
    aside = np.array([aside[0] * SIDE / cells, aside[1] * SIDE / cells, SIDE + gap])
    mesh = sx.merge({"low": low, "high": sx.Mesh(high.points + aside, high.cells)})
    points, cells = mesh.points, mesh.cells["tetra"]
    energies = {"solid": sx.Solid(points, cells, LAW)}
    if contact:
        energies["contact"] = BodyContact.from_materials(Surface.of(mesh, ["low", "high"]), LAW)
    system = sx.System(sx.lumped_mass(points, cells, LAW.density, len(points)), energies)
    v = np.zeros_like(points)
    v[mesh.nodes_of("high"), 2] = -speed
    return system, system.state(points, v)


def velocity_below(system, state):
    """The mean velocity of the lower cube."""
    low = slice(0, system.n_nodes // 2)
    return float(system.mass[low] @ state.v[low, 2] / system.mass[low].sum())


def test_bodies_that_are_apart_move_as_without_contact():
    (system, start), (alone, of_alone) = two_cubes(0.05, 5.0), two_cubes(0.05, 5.0, contact=False)
    method = sx.Newmark("auto", contact_steps="auto").fit(system, start, 1e-3)
    plain = sx.Newmark("auto").fit(alone, of_alone, 1e-3)
    assert method.dt == plain.dt
    meeting = min(0.8 * stable_step(system, start.q), 0.2 * 2.0 / latent_frequency(system, resolved=True))
    motion = method.start(system, start)
    assert motion.checkpoint()["contact_steps"].tolist() == [ceil(method.dt / meeting), 1]
    assert method.dt / meeting > 4.0
    moved, freely = motion.advance(1e-3), plain.start(alone, of_alone).advance(1e-3)
    np.testing.assert_array_equal(moved.q, freely.q)
    np.testing.assert_array_equal(moved.v, freely.v)


def test_a_collision_is_that_of_small_steps():
    """Half as large steps and parts come nearer to it; momentum is exact."""
    system, start = two_cubes(0.01, 5.0)
    end = 8e-3
    exact = sx.Newmark("auto", safety=0.1, contact_safety=0.025)
    exact = velocity_below(system, exact.fit(system, start, end).start(system, start).advance(end))
    assert exact < -1.0  # most of the momentum of the other one
    errors = []
    for part in (1.0, 0.5, 0.25):
        method = sx.Newmark("auto", safety=0.8 * part, contact_safety=0.2 * part, contact_steps="auto")
        motion = method.fit(system, start, end).start(system, start)
        state = motion.advance(end)
        momentum = system.momentum(start)[2]
        # Of each step the sum of kicks is rounded at the size of the momentum of the nodes.
        count = motion.statistics()["steps"] * int(motion.checkpoint()["contact_steps"].max())
        np.testing.assert_allclose(system.momentum(state)[2], momentum, rtol=10 * count * np.finfo(float).eps)
        errors.append(abs(velocity_below(system, state) / exact - 1.0))
    assert errors[0] < 0.03
    assert errors[2] < 0.5 * max(errors[:2])


def test_the_motion_does_not_depend_on_where_it_stops_and_is_resumed():
    system, start = two_cubes(0.006, 5.0)
    method = sx.Newmark("auto", contact_steps="auto").fit(system, start, 2e-4)
    whole = method.start(system, start).advance(4e-3)
    motion = method.start(system, start)
    divided = set()
    while not motion.approach(4e-3, 0.0):
        divided.add(int(motion.checkpoint()["contact_steps"][1]))
        motion = method.resume(two_cubes(0.006, 5.0)[0], motion.checkpoint())
    assert len(divided) > 1
    state = motion.advance(4e-3)
    np.testing.assert_array_equal(state.q, whole.q)
    np.testing.assert_array_equal(state.v, whole.v)


@pytest.mark.parametrize("aside", [(0.31, 0.27), (0.5, 0.5), (0.0, 0.0)])
def test_energy_in_a_collision_errs_by_the_second_order(aside):
    """With nodes in general position, above the middles of faces, and above nodes, where contact is stiffer."""
    system, start = two_cubes(0.0026, 3.0, cells=4, aside=aside)
    dt, errors, parts = sx.Newmark("auto", contact_steps="auto").fit(system, start, 1.0).dt, [], []
    for half in (1.0, 2.0, 4.0):
        motion = sx.Newmark(dt / half, contact_safety=0.2 / half, contact_steps="auto").start(system, start)
        energies = [motion.energies(motion.advance(k * dt)) for k in range(31)]
        total = np.array([energy["total"] for energy in energies])
        assert max(energy["contact"] for energy in energies) > 0.005 * total[0]
        errors.append(np.abs(total / total[0] - 1.0).max())
        parts.append(int(motion.checkpoint()["contact_steps"][1]))
    assert errors[0] < 0.01
    assert 2.5 < np.sqrt(errors[0] / errors[2]) < 7.0
    assert max(parts) - min(parts) <= 1  # of the same, shorter steps
    assert parts[0] > (3 if any(aside) else 8)


def test_whatever_is_asked_for_is_stable():
    """With the largest ``contact_safety`` and steps at the limit of the elements the energy does not grow."""
    system, start = two_cubes(0.0026, 3.0, cells=4)
    limit = stable_step(system, start.q, apart=True)
    motion = sx.Newmark(0.95 * limit, safety=1.0, contact_safety=1.0, contact_steps="auto").start(system, start)
    energies = [motion.energies(motion.advance(k * motion.dt)) for k in range(0, 200, 5)]
    total = [energy["total"] for energy in energies]
    assert max(energy["contact"] for energy in energies) > 0.0005 * total[0]
    assert max(total) < 1.2 * total[0]


def test_the_bound_of_the_frequency_of_contact():
    """Above that of the matrix of contact, by less than a half; unlike one of all contact that may close."""
    system, _, _, state = pressed(150)
    contact = system.energies["contact"]
    assert contact.total(state.q) > 0.0
    inverse_mass = np.where(system.fixed, 0.0, 1.0 / system.mass[:, None])
    bound = largest_frequency_of([contact.stiffness_near(state.q, 0.0)], inverse_mass)
    alone = sx.System(system.mass, {"contact": contact}, fixed=system.fixed)
    alone.update_neighbours(state.q)
    K = alone.hessian(state.q).toarray().reshape(2 * [system.n_nodes * 3])
    root = np.sqrt(inverse_mass).ravel()
    exact = np.sqrt(np.linalg.eigvalsh(root[:, None] * K * root)[-1])
    assert exact <= bound < 1.5 * exact
    assert bound < 0.6 * latent_frequency(system)
    assert largest_frequency_of([contact.stiffness_near(state.q, contact.reach)], inverse_mass) > bound


def test_a_body_that_would_pass_through_in_one_step_is_met():
    system, start = two_cubes(0.01, 5.0)
    motion = sx.Newmark(1e-6, contact_steps=100).start(system, start)
    motion.dt = 0.3 / 5.0  # of one step the ends are above and below the other cube
    contact = system.energies["contact"]
    assert not contact.acts_at(start.q)
    assert not contact.acts_at(start.q + motion.dt * start.v)
    assert motion._parts_of_step() == 100


def test_steps_that_are_given_are_divided_as_they_are_told_and_limited():
    system, start = two_cubes(0.05, 5.0)
    apart, closed = stable_step(system, start.q, apart=True), stable_step(system, start.q)
    assert 2.0 * closed < apart
    with pytest.raises(UnstableStep, match="above the stability limit"):
        sx.Newmark(2.0 * closed).start(system, start)
    assert sx.Newmark(2.0 * closed, contact_steps=3).start(system, start).dt == 2.0 * closed
    with pytest.raises(UnstableStep, match="above the stability limit"):
        sx.Newmark(2.0 * closed, contact_steps=1).start(system, start)
    with pytest.raises(UnstableStep, match="above the stability limit"):
        sx.Newmark(1.1 * apart, contact_steps=100).start(system, start)
    fitted = sx.Newmark(2.0 * closed, contact_steps="auto").fit(system, start, 2.0 * closed)
    assert fitted.dt == 2.0 * closed
    assert fitted.start(system, start).checkpoint()["contact_steps"][0] > 2


def test_what_does_not_go_with_it_is_refused():
    with pytest.raises(ValueError, match="contact_steps divides its steps"):
        sx.Composition(sx.Newmark(1e-5, contact_steps=4), order=4)


def pressed(steps, contact_steps="auto", loads=None, touch=False):
    """Two blocks above each other in contact, the upper one guided and heavy."""
    low, high = (sx.box((SIDE,) * 3, (3,) * 3, split="6") for _ in range(2))
    aside = np.array([0.01, 0.009, SIDE + (0.0 if touch else 0.004)])
    mesh = sx.merge({"low": low, "high": sx.Mesh(high.points + aside, high.cells)})
    points, cells = mesh.points, mesh.cells["tetra"]
    mass = sx.lumped_mass(points, cells, LAW.density, len(points))
    surface = Surface.of(mesh, ["low", "high"])
    contact = BodyContact.from_materials(surface, LAW)
    if touch:
        contact = offset_contact(BodyContact.from_materials(surface, LAW, distance=contact.reach), points, mesh.cells)
    fixed = np.zeros(points.shape, bool)
    fixed[points[:, 2] < 1e-9] = True
    fixed[points[:, 2] > 1.9 * SIDE, :2] = True
    energies = {"solid": sx.Solid(points, cells, LAW), "contact": contact}
    energies["weight"] = sx.actions.Gravity(mass, (0.0, 0.0, -800.0))
    system = sx.System(mass, energies, fixed=fixed, loads=loads(contact) if loads else {})
    start = system.state(points)
    motion = sx.Newmark("auto", contact_steps=contact_steps).start(system, start)
    return system, start, motion, motion.advance(steps * motion.dt)


def test_energy_of_bodies_that_stay_in_contact_does_not_drift():
    """With whole steps that are divided whenever they meet it would, as each change of the division is a jump."""
    system, start, motion, _ = pressed(0)
    energies = []
    for k in range(1, 41):
        state = motion.advance(100 * k * motion.dt)
        energies.append(motion.energies(state))
    assert motion._touching.any()
    assert sum(energy["contact"] > 0.0 for energy in energies) > 30
    drift = np.array([energy["total"] for energy in energies]) - system.energies_of(start)["total"]
    scale = np.mean([energy["kinetic"] + energy["solid"] + energy["contact"] for energy in energies])
    assert np.abs(drift[-10:].mean() - drift[:10].mean()) < 0.02 * scale
    assert np.abs(drift).max() < 0.05 * scale


def test_a_step_in_contact_is_the_impulse_method():
    """Of contact and all elements with a node that may meet in parts, and of the others in whole steps."""
    system, _, motion, state = pressed(150)
    touching, parts, h = motion._touching.copy(), int(motion.checkpoint()["contact_steps"][1]), motion.dt
    assert touching.any()
    assert parts > 2
    assert system.energies["contact"].total(state.q) > 0.0
    solid, contact, weight = (system.energies[name] for name in ("solid", "contact", "weight"))
    inner = touching[solid.nodes].any(axis=1)
    assert 0 < inner.sum() < len(inner)
    fast = sx.System(
        system.mass, {"some": sx.Solid(solid.points, solid.nodes[inner], LAW), "contact": contact}, fixed=system.fixed
    )
    slow = sx.System(
        system.mass, {"some": sx.Solid(solid.points, solid.nodes[~inner], LAW), "weight": weight}, fixed=system.fixed
    )
    q, v, inverse = state.q.copy(), state.v.copy(), np.where(system.fixed, 0.0, 1.0 / system.mass[:, None])
    v -= 0.5 * h * inverse * slow.gradient(q)
    for _ in range(parts):
        v -= 0.5 * h / parts * inverse * fast.gradient(q)
        q += h / parts * v
        v -= 0.5 * h / parts * inverse * fast.gradient(q)
    v -= 0.5 * h * inverse * slow.gradient(q)
    moved = motion.advance(151 * h)
    size = np.abs(state.v).max()
    np.testing.assert_allclose(moved.v, v, atol=1e-10 * size)
    np.testing.assert_allclose(moved.q, q, atol=1e-10 * size * h)
    np.testing.assert_allclose(moved.a, system.accelerations_at(moved.t, q, v), atol=1e-8 * np.abs(moved.a).max())


def test_steps_in_contact_are_reversible():
    _, _, motion, state = pressed(300)
    before = motion._touching.copy()
    middle = motion.advance(340 * motion.dt)
    assert (motion._touching == before).all()
    motion.change_velocities(-middle.v)
    back = motion.advance(380 * motion.dt)
    np.testing.assert_allclose(back.q, state.q, atol=1e-9 * SIDE)
    np.testing.assert_allclose(back.v, -state.v, atol=1e-7 * np.abs(state.v).max())


def height(system, state):
    """Of the centre of the upper block."""
    upper = slice(system.n_nodes // 2, None)
    return float(system.mass[upper] @ state.q[upper, 2] / system.mass[upper].sum())


@pytest.mark.parametrize("kind", [pytest.param("drag", marks=pytest.mark.slow), "friction", "touching"])
def test_loads_friction_and_touching_surfaces_go_with_it(kind):
    """Friction by whole steps that are divided, the others by the level of contact, as with small steps for all."""

    def loads(contact):
        return {"drag": lambda _, q, v: -10.0 * v} if kind == "drag" else {"friction": Friction(contact, 0.3)}

    options = {"touch": True} if kind == "touching" else {"loads": loads}
    system, start, motion, state = pressed(200, **options)
    assert motion._touching.any() == (kind != "friction")
    small = sx.Newmark("auto", safety=0.1, contact_safety=0.05).fit(system, start, state.t).start(system, start)
    exact = small.advance(state.t)
    fallen = height(system, start) - height(system, exact)
    assert abs(height(system, state) - height(system, exact)) < 0.02 * abs(fallen)
    if kind != "touching":
        name = "work_drag" if kind == "drag" else "work_friction"
        assert motion.energies(state)[name] < 0.0
        assert abs(motion.energies(state)[name] / small.energies(exact)[name] - 1.0) < 0.1


SCENARIO = """
[[body]]
name = "low"
mesh = { box = [0.1, 0.1, 0.1], cells = [2, 2, 2], split = "6" }
material = { young = 1e7, poisson = 0.3, density = 1000 }
[[body]]
name = "high"
mesh = { box = [0.1, 0.1, 0.1], cells = [2, 2, 2], split = "6" }
material = { young = 1e7, poisson = 0.3, density = 1000 }
translate = [0.02, 0.01, 0.12]
velocity = [0, 0, -5]
CONTACT
[integrator]
kind = "newmark"
contact_steps = "auto"
[run]
duration = 0.1
"""


def test_scenarios_have_the_key():
    problem = Scenario.parse(SCENARIO.replace("CONTACT", "[[contact]]")).build()
    assert problem.integrator.start(problem.system, problem.state).checkpoint()["contact_steps"][0] > 2
    with pytest.raises(ScenarioError, match=r"contact_steps goes with \[\[contact\]\]"):
        Scenario.parse(SCENARIO.replace("CONTACT", "")).build()


def test_a_passage_is_refused_as_with_small_steps():
    system, start = two_cubes(0.01, 5.0)
    motion = sx.Newmark("auto", contact_steps="auto").start(system, start)
    motion._v[start.v != 0.0] = -3000.0  # through the other cube within a part of a step
    with pytest.raises(StepFailed):
        motion.advance(motion.dt)
