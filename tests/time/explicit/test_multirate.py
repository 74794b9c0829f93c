"""Local time steps: what levels are, and that a motion in them is as good as one in the smallest step."""

import itertools
import math

import numpy as np
import pytest

import symplex as sx
from symplex.errors import InvertedElement, StepFailed, UnstableStep
from symplex.fem.assembly import blocks
from symplex.fem.compiled import threads
from symplex.time.explicit import local_loops
from symplex.time.explicit.local_division import Division
from symplex.time.explicit.local_gain import expected_gain
from symplex.time.explicit.local_levels import node_levels
from symplex.time.explicit.multirate import Multirate
from symplex.time.stability import largest_frequency, stable_step

RUBBER = sx.NeoHookean(2.0, 1.0, 1.0)


def chain(ratio=30.0, n=24, **options):
    """Free bars in the plane, shorter and shorter along a line: stretched, turning, drifting."""
    lengths = ratio ** -np.linspace(0.0, 1.0, n)
    x = np.concatenate([[0.0], np.cumsum(lengths)])
    bars = sx.Bars(
        np.column_stack([np.arange(n), np.arange(n) + 1]), sx.measures.EngineeringStrain(1.0 / lengths, lengths), dim=2
    )
    mass = 0.5 * (np.append(lengths, 0.0) + np.append(0.0, lengths))
    system = sx.System(mass, {"bars": bars}, dim=2, **options)
    q = np.column_stack([1.02 * x, 0.0 * x])
    v = np.column_stack([0.1 + 0.0 * x, 0.05 * (x - x.mean())])
    return system, system.state(q, v)


def horn(ratio=50.0, n=2, long=16, **options):
    """A solid that tapers: its elements are smaller by a ratio at one end, and as many."""
    mesh = sx.box((1.0, 1.0, 1.0), (n, n, long), split="6")
    w = mesh.points - [0.5, 0.5, 0.0]
    size = ratio ** -w[:, 2:]
    points = np.hstack([0.4 * size * w[:, :2], 1.0 - size])
    cells = mesh.cells["tetra"]
    if np.linalg.det(points[cells[0, 1:]] - points[cells[0, 0]]) < 0:
        cells = cells[:, [0, 2, 1, 3]]
    solid = sx.Solid(points, cells, RUBBER)
    system = sx.System(sx.lumped_mass(points, cells, 1.0, len(points)), {"solid": solid}, **options)
    v = 0.1 * np.cross([0.3, -0.2, 0.9], points - points.mean(axis=0)) + [0.02, 0.0, 0.01]
    return system, system.state(1.02 * points, np.where(system.fixed, 0.0, v))


def in_levels(system, state, interval=None, times=16.0, **options):
    """The method with a step some times the stable one, also where one level would cost less."""
    method = Multirate(times * stable_step(system, state.q), **options)
    return method if interval is None else method.fit(system, state, interval)


@pytest.mark.parametrize("made", [chain, horn])
def test_levels_step_below_their_limits_and_meet_only_the_next_one(made):
    system, state = made()
    method = in_levels(system, state, layers=1)
    motion = method.start(system, state)
    (energy,), (levels,) = system.energies.values(), motion.levels.values()
    highest = levels.max()
    assert highest >= 4
    at = node_levels(system, motion.levels)
    for level in range(highest + 1):
        some = np.flatnonzero(levels <= level)
        part = energy.restrict(some) if made is horn else energy.of_some(some, energy.nodes[some])
        alone = sx.System(system.mass, {"part": part}, dim=system.dim)
        assert motion.dt / 2.0**level * largest_frequency(alone, state.q) <= 2.0 * method.safety * 1.001
    assert np.ptp(at[energy.nodes], axis=1).max() <= 2  # of a stencil: its own, and that of the next nodes
    lowest = np.full(system.n_nodes, highest)
    for column in energy.nodes.T:
        np.minimum.at(lowest, column, levels)
    assert (at - lowest).max() == 1
    # The finest step is that of explicit Newmark but for the safety.
    assert motion.dt / 2.0**highest <= method.safety * stable_step(system, state.q)


def test_the_gain_is_that_of_the_stencils_that_are_looked_at():
    system, state = horn()
    motion = Multirate().start(system, state)
    levels = motion.levels["solid"]
    looked_at = (2.0 ** levels.astype(float)).sum() / motion.dt
    newmark = len(levels) / sx.Newmark("auto").start(system, state).dt
    assert motion.gain == pytest.approx(newmark / looked_at)
    assert 2.0 < motion.gain < 4.0
    assert expected_gain(system, state) == pytest.approx(motion.gain, rel=0.3)
    assert motion.advance(motion.dt * 3).t == 3 * motion.dt
    assert motion.statistics() == {"steps": 3, "substeps": 3 << int(levels.max())}


def test_one_level_is_explicit_newmark():
    mesh = sx.box((1.0, 1.0, 1.0), (2, 2, 2), split="6")
    cells = mesh.cells["tetra"]
    solid = sx.Solid(mesh.points, cells, RUBBER)
    system = sx.System(sx.lumped_mass(mesh.points, cells, 1.0, len(mesh.points)), {"solid": solid})
    state = system.state(1.05 * mesh.points)
    ends = [method.start(system, state).advance(2.0) for method in (Multirate(0.02), sx.Newmark(0.02))]
    np.testing.assert_allclose(ends[0].q, ends[1].q, atol=1e-13)
    np.testing.assert_allclose(ends[0].v, ends[1].v, atol=1e-13)
    np.testing.assert_allclose(ends[0].a, ends[1].a, atol=1e-11)


def test_momenta_are_kept_to_round_off_and_energy_does_not_drift():
    system, state = chain()
    motion = in_levels(system, state, 5.0).start(system, state)
    assert len(motion.division.parts) >= 4
    start = motion.advance(0.0)
    e0, energies = motion.energies(start), []
    for k in range(1, 201):
        now = motion.advance(5.0 * k)
        energies.append(motion.energies(now)["total"])
        np.testing.assert_allclose(system.momentum(now), system.momentum(start), atol=1e-13)
        np.testing.assert_allclose(system.angular_momentum(now), system.angular_momentum(start), atol=1e-12)
    elastic = e0["total"] - 0.5 * system.mass.sum() * 0.01
    early, late = np.mean(energies[:100]), np.mean(energies[100:])
    assert abs(late - early) < 1e-3 * elastic
    assert np.ptp(energies) < 0.05 * elastic


def pushed(t, q, v):
    """A load at both ends that begins slowly."""
    force = np.zeros_like(q)
    force[[0, -1], 0] = 0.1 * math.sin(t) ** 2 * np.array([1.0, -0.3])
    return force


def shaken(**options):
    system, _ = chain()
    mass = np.asarray(system.mass)
    history = sx.actions.TimeFunction(
        lambda t: 0.05 * math.sin(2.0 * t), lambda t: 0.1 * math.cos(2.0 * t), lambda t: -0.2 * math.sin(2.0 * t)
    )
    lift = sx.actions.SupportTranslation([0], "x", history)
    loads = {"push": pushed, "drag": sx.actions.Drag(mass, 0.2)}
    return chain(loads=loads, moving={"lift": lift}, **options)


def test_loads_and_moving_supports_are_followed_to_second_order():
    system, state = shaken()
    ends, balances = [], []
    for dt in (0.0625, 0.03125, 0.015625):
        motion = Multirate(dt, given={"bars": lambda x: np.arange(len(x)) // 5}).start(system, state)
        start = motion.energies(motion.advance(0.0))["balance"]
        end = motion.advance(1.0)
        reported = motion.energies(end)
        ends.append(end.q)
        balances.append(abs(reported["balance"] - start))
    works = sum(abs(reported[f"work_{name}"]) for name in ("push", "drag", "lift"))
    assert min(abs(reported[f"work_{name}"]) for name in ("push", "drag", "lift")) > 1e-4
    assert balances[-1] < 1e-3 * works
    for errors in ([np.abs(ends[0] - ends[1]).max(), np.abs(ends[1] - ends[2]).max()], balances[:2], balances[1:]):
        assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.25)
    exact = sx.Newmark(2.0**-10).start(system, state).advance(1.0)
    np.testing.assert_allclose(ends[-1], exact.q, atol=5e-4)


def test_it_goes_on_bit_identically_with_loads_and_supports_that_move():
    system, state = shaken()
    method = in_levels(system, state, 0.5)
    motion = method.start(system, state)
    assert len(motion.division.parts) >= 4
    motion.advance(1.0)
    stored = motion.checkpoint()
    end = motion.advance(2.0)
    again = method.resume(shaken()[0], stored)
    resumed = again.advance(2.0)
    for name in ("q", "v", "a"):
        np.testing.assert_array_equal(getattr(resumed, name), getattr(end, name))
    assert again.energies(resumed) == motion.energies(end)


def test_bits_do_not_depend_on_threads(monkeypatch):
    monkeypatch.setattr(blocks, "SMALLEST_SLAB", 64)
    monkeypatch.setattr(threads, "count", lambda: 2)
    system, state = horn(ratio=4.0, n=6, long=12)
    ends = []
    for number in (1, 2):
        with threads.limited(number):
            motion = in_levels(system, state, times=4.0).start(system, state)
            assert bool(motion.division.from_python) == (number == 2)
            ends.append(motion.advance(3 * motion.dt))
    np.testing.assert_array_equal(ends[0].q, ends[1].q)


@pytest.mark.parametrize("made", [chain, horn])
def test_compiled_loops_take_the_steps_that_python_takes(made, monkeypatch):
    system, state = made()
    method, ends = in_levels(system, state), []
    for chosen in (lambda found: [], lambda found: [1, 2], lambda found: list(range(len(found.parts)))):
        monkeypatch.setattr(Division, "from_python", property(chosen))
        motion = method.start(system, state)
        assert len(motion.division.parts) >= 4
        ends.append(motion.advance(3 * motion.dt))
    for end in ends[1:]:
        for name in ("q", "v", "a"):
            np.testing.assert_array_equal(getattr(end, name), getattr(ends[0], name))


def test_every_kind_of_element_is_called_by_its_address():
    mesh = sx.box((1.0, 1.0, 3.0), (2, 2, 6), split="hexahedra")
    points, hexahedra = mesh.points, mesh.cells["hexahedron"]
    linear = sx.LinearElastic(2.0, 1.0, 1.0)
    for material, formulation in ((RUBBER, "full"), (RUBBER, "stabilized"), (linear, "stabilized")):
        solid = sx.Solid(points, hexahedra, material, formulation=formulation)
        system = sx.System(sx.lumped_mass(points, hexahedra, 1.0, len(points)), {"solid": solid})
        motion = Multirate(0.05, given={"solid": lambda x: np.arange(len(x)) % 2}).start(
            system, system.state(1.01 * points)
        )
        assert motion.division.from_python == []
        part, table = motion.division.parts[1], motion.division.table
        q, v, _, _ = motion._in_order
        part.refresh(q)
        requested = part.gradient.copy()
        assert np.abs(requested).max() > 1e-4
        assert local_loops.act(table, 1, 2, 0.0, q, v, np.zeros_like(v))
        np.testing.assert_array_equal(part.gradient, requested)


def test_one_level_is_taken_where_more_do_not_pay():
    mesh = sx.box((1.0, 1.0, 1.0), (3, 3, 3), split="6")
    cells = mesh.cells["tetra"]
    solid = sx.Solid(mesh.points, cells, RUBBER)
    system = sx.System(sx.lumped_mass(mesh.points, cells, 1.0, len(mesh.points)), {"solid": solid})
    state = system.state(1.05 * mesh.points)
    motion = Multirate().start(system, state)
    newmark = sx.Newmark("auto").start(system, state)
    assert len(motion.division.parts) == 1
    assert motion.dt == pytest.approx(newmark.dt)
    assert motion.gain == expected_gain(system, state) == pytest.approx(1.0)
    motion = Multirate().fit(system, state, 1.0).start(system, state)
    assert len(motion.division.parts) == 1
    assert motion.dt == sx.Newmark("auto").fit(system, state, 1.0).dt


def test_a_bound_that_is_hard_to_find_does_not_give_up_all_levels_below():
    system, state = horn(n=4, long=20)
    motion = Multirate(0.0336).start(system, state)
    assert sum(part.stencils > 0 for part in motion.division.parts) >= 5
    assert motion.gain > 1.8


@pytest.mark.parametrize("kept", ["given", "safety"])
def test_the_order_is_two_with_the_levels_that_are_found(kept):
    """They stay where they are given, or where safety is halved with the step."""
    system, state = horn(ratio=8.0, n=2, long=8)
    first = in_levels(system, state, times=8.0)
    t, levels, ends = 8.0 * first.dt, {}, []
    for halvings in range(4):
        part = 0.5**halvings
        if kept == "given":
            method = Multirate(part * first.dt, given=levels)
        else:
            method = Multirate(part * first.dt, safety=part * first.safety, contact_safety=part * first.contact_safety)
        motion = method.start(system, state)
        for name, level in levels.items():
            np.testing.assert_array_equal(motion.levels[name], level)
        levels = motion.levels
        assert len(motion.division.parts) >= 3
        ends.append(motion.advance(t).q)
    differences = [np.linalg.norm(np.asarray(system.mass)[:, None] * (a - b)) for a, b in itertools.pairwise(ends)]
    assert differences[2] > 1e-7 * np.linalg.norm(ends[-1] - state.q)
    for larger, smaller in itertools.pairwise(differences):
        assert math.log2(larger / smaller) == pytest.approx(2.0, abs=0.2)


def collision(speed=2.0):
    """A body of small elements that hits one of large ones, off its centre: `Multirate` needs several levels."""
    rubber = sx.NeoHookean(2e6, 1e6, 1000.0)
    meshes = [sx.box((1.0, 1.0, 1.0), (n, n, n), split="6") for n in (3, 2)]
    places = meshes[0].points * [1.0, 1.0, 0.5], meshes[1].points * [1.3, 1.2, 1.0] + [-0.13, -0.07, 0.54]
    n = len(places[0])
    points = np.vstack(places)
    cells = np.vstack([meshes[0].cells["tetra"], meshes[1].cells["tetra"] + n])
    surface = sx.contact.Surface.of(sx.Mesh(points, {"tetra": cells}))
    contact = sx.contact.BodyContact.from_materials(surface, rubber, speed=2.0 * speed)
    energies = {"solid": sx.Solid(points, cells, rubber), "contact": contact}
    system = sx.System(sx.lumped_mass(points, cells, 1000.0, len(points)), energies)
    v = np.zeros_like(points)
    v[:n, 2], v[n:, 2], v[n:, 0] = speed, -speed, 0.3
    return system, system.state(points, v)


def test_bodies_collide_with_both_momenta_to_round_off_and_resume_bit_identically():
    system, state = collision()
    t = 0.004 * np.arange(1, 6)
    method = in_levels(system, state, t[0], times=8.0)
    motion = method.start(system, state)
    (level,) = motion.levels["contact"]
    assert level == len(motion.division.parts) - 1 >= 3
    reported, states = [], []
    for at in t:
        states.append(motion.advance(at))
        reported.append(motion.energies(states[-1]))
        if at == t[2]:
            stored = motion.checkpoint()
    assert max(one["contact"] for one in reported) > 10.0
    assert np.ptp([one["total"] for one in reported]) < 2e-3 * reported[0]["total"]
    momentum, angular = system.momentum(state), system.angular_momentum(state)
    for now in states:
        np.testing.assert_allclose(system.momentum(now), momentum, atol=1e-13 * np.abs(momentum).max())
        np.testing.assert_allclose(system.angular_momentum(now), angular, atol=1e-12 * np.abs(angular).max())
    other, _ = collision()
    exact = sx.Newmark("auto").fit(other, state, t[0]).start(other, state).advance(t[-1])
    assert np.abs(states[-1].q - exact.q).max() < 5e-3 * np.abs(exact.q - state.q).max()
    again = method.resume(collision()[0], stored).advance(t[-1])
    for name in ("q", "v", "a"):
        np.testing.assert_array_equal(getattr(again, name), getattr(states[-1], name))


def test_bodies_that_pass_through_each_other_are_told():
    system, state = collision(speed=2.0)
    motion = in_levels(system, state, times=8.0).start(system, state)
    motion.change_velocities(50.0 * state.v)
    with pytest.raises(StepFailed, match=r"Multirate stopped in the step .*Try a smaller step, or a stiffer contact"):
        motion.advance(100 * motion.dt)


def test_kicks_in_resonance_pump_energy_as_the_trace_says():
    """A node on a stiff spring, and on a soft one that kicks it rarely: x → R x of one largest step."""
    stiff, soft, level, steps = 100.0, 5.0, 5, 200
    laws = {"stiff": sx.measures.EngineeringStrain(stiff, 1.0), "soft": sx.measures.EngineeringStrain(soft, 1.0)}
    springs = {name: sx.Bars([[0, 1]], law, dim=1) for name, law in laws.items()}
    system = sx.System([1.0, 1.0], springs, dim=1, fixed=np.array([[True], [False]]))
    omega = math.sqrt(stiff)

    def growth(dt):
        half = 0.5 * omega * dt / 2**level
        theta = 2**level * 2.0 * math.asin(half)  # by which the stiff spring turns the node in a largest step
        half_trace = math.cos(theta) - 0.5 * dt * soft * math.sin(theta) / (omega * math.sqrt(1.0 - half**2))
        motion = Multirate(dt, given={"stiff": level, "soft": 0}).start(system, system.state([[0.0], [1.0 + 1e-9]]))
        ends = motion.advance(0.0), motion.advance(steps * dt)
        sizes = [math.hypot(end.q[1, 0] - 1.0, end.v[1, 0] / omega) for end in ends]
        return math.log(sizes[1] / sizes[0]) / steps, math.acosh(max(abs(half_trace), 1.0))

    found, expected = growth(0.985 * math.pi / 10.0)
    assert expected > 0.05
    assert found == pytest.approx(expected, rel=0.05)
    found, expected = growth(0.9 * math.pi / 10.0)
    assert expected == 0.0
    assert found < 0.01


def test_failures_name_the_element_of_the_whole_body():
    system, state = horn()
    motion = Multirate().start(system, state)
    with pytest.raises(StepFailed) as requested:
        system.gradient(state.q * [1.0, 1.0, -1.0])
    motion._in_order[0][:, 2] *= -1.0
    with pytest.raises(InvertedElement) as found:
        motion.advance(motion.dt)
    element = found.value.element
    nodes = ", ".join(map(str, system.energies["solid"].nodes[element]))
    assert f"element {element} (nodes {nodes}) is inverted" in str(found.value)
    assert "Multirate stopped in the step from t = 0 s" in str(found.value)
    assert isinstance(requested.value, InvertedElement)


def test_energies_of_one_level_and_obstacles_step_with_the_others():
    """A penalty of a user's constraint, gravity, a floor: as explicit Newmark in the finest step."""
    system, state = chain(ratio=8.0, n=10)
    mass = np.asarray(system.mass)
    floor = sx.RigidContact(np.arange(len(mass)), sx.HalfSpace((0.0, -0.02), (0.0, 1.0)), 20.0)
    rod = sx.Penalty(sx.measures.RigidBars([[0, 2]], 2.1), 0.05)
    energies = {**system.energies, "floor": floor, "rod": rod, "gravity": sx.Gravity(mass, (0.0, -0.1))}
    system = sx.System(mass, energies, dim=2)
    motion = in_levels(system, state, 1.0).start(system, state)
    assert set(motion.levels) == set(energies)
    assert len(motion.division.parts) >= 3
    fine = sx.Newmark(1e-3).start(system, state)
    for t in (1.0, 2.0, 3.0):
        np.testing.assert_allclose(motion.advance(t).q, fine.advance(t).q, atol=2e-2)
    assert motion.energies(motion.advance(3.0))["floor"] > 1e-6


@pytest.mark.parametrize(
    ("options", "reported"),
    [
        ({"safety": 0.9}, "at most 0.63"),
        ({"contact_safety": 0.0}, r"contact_safety must be above 0 and at most 1"),
        ({"levels": 17}, "levels must be at most 16"),
        ({"layers": -1}, "layers must be an integer of at least 0"),
        ({"dt": 0.0}, "dt must be positive"),
    ],
)
def test_parameters_are_checked(options, reported):
    with pytest.raises(ValueError, match=reported):
        Multirate(**options)


@pytest.mark.parametrize(
    ("given", "reported"),
    [
        ({"bar": 1}, "there is no energy 'bar' to give levels to; there are 'bars'"),
        ({"bars": [1, 2]}, "one for all of its stencils or 24 of them"),
        ({"bars": 1.5}, "levels of 'bars' are integers from 0 to 16"),
        ({"bars": 0}, "with the given levels the step of level 0"),
    ],
)
def test_given_levels_are_checked(given, reported):
    system, state = chain()
    with pytest.raises((sx.SymplexError, UnstableStep), match=reported):
        Multirate(0.5, given=given).start(system, state)
