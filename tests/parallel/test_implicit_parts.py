"""Implicit steps in parts without MPI: the motion of one process to the floor of Newton's method."""

import numpy as np
import pytest

from reference.threads_as_ranks import ThreadsAsRanks
from symplex.contact.friction import Friction
from symplex.contact.obstacles import HalfSpace
from symplex.contact.rigid import RigidContact
from symplex.errors import InvalidSystem, StepFailed
from symplex.fem.actions.damping import Drag
from symplex.fem.actions.loads import Gravity, NodalLoad, Pressure
from symplex.fem.actions.mass import lumped_mass
from symplex.fem.actions.support_motion import SupportTranslation
from symplex.fem.actions.time_function import TimeFunction
from symplex.fem.measures.bars import Bars
from symplex.fem.measures.pair_laws import EngineeringStrain
from symplex.fem.solids.materials import NeoHookean
from symplex.fem.solids.solid import Solid
from symplex.fem.system import System
from symplex.meshes.generate import box
from symplex.parallel.motion import with_cutbacks
from symplex.time.conserving.energy_momentum import EnergyMomentum
from symplex.time.explicit.newmark import Newmark
from symplex.time.implicit.generalized_alpha import GeneralizedAlpha, HilberHughesTaylor
from symplex.time.implicit.midpoint import Midpoint
from symplex.time.solvers.newton import Newton

RUBBER = NeoHookean(lmbda=6e6, mu=4e6, density=1000.0)
METHODS = [
    EnergyMomentum(2e-3),
    Midpoint(2e-3),
    Midpoint(2e-3, alpha=1.0),
    Newmark(2e-3, beta=0.25),
    GeneralizedAlpha(2e-3),
    HilberHughesTaylor(2e-3),
]


def free(cells=(4, 2, 2)):
    """Two boxes that are joined by springs and turn, with vibrations."""
    mesh = box((2.0, 1.0, 1.0), cells)
    n = len(mesh.points)
    points = np.concatenate([mesh.points, mesh.points + np.array([3.0, 0.2, 0.1])])
    nodes = np.concatenate([mesh.cells["tetra"], mesh.cells["tetra"] + n])
    mass = lumped_mass(points, nodes, 1000.0, 2 * n)
    springs = Bars(np.column_stack([[n - 1, n - 2], [n, n + 1]]), EngineeringStrain([1e4, 2e4], [1.0, 1.2]))
    system = System(mass, {"bodies": Solid(points, nodes, RUBBER), "springs": springs})
    v = np.cross([1.0, 2.0, -3.0], points - [1.0, 0.5, 0.5]) + 2.0 * np.sin(3.0 * points[:, [1, 2, 0]])
    return system, system.state(points, v)


def pushed():
    """A box that is held, moved, pushed, damped, and rubs on a floor."""
    mesh = box((2.0, 1.0, 1.0), (4, 2, 2))
    mass = lumped_mass(mesh.points, mesh.cells["tetra"], 1000.0, len(mesh.points))
    x = mesh.points[:, 0]
    fixed = np.zeros(mesh.points.shape, bool)
    fixed[x < 1e-9] = True
    floor = RigidContact(np.flatnonzero(mesh.points[:, 2] < 1e-9), HalfSpace((0, 0, 1e-3), (0, 0, 1)), 1e6)
    energies = {
        "body": Solid(mesh.points, mesh.cells["tetra"], RUBBER),
        "gravity": Gravity(mass, (0.0, 0.0, -9.81)),
        "floor": floor,
    }
    end = np.flatnonzero(x > 2.0 - 1e-9)
    loads = {
        "push": NodalLoad(end[:2], [0.0, 3e4, 0.0], ([0.0, 1.0], [0.0, 100.0])),
        "air": Pressure(mesh.boundary_faces, 1e4),
        "damping": Drag(mass, 5.0),
        "rub": Friction(floor, 0.3),
    }
    way = TimeFunction(lambda t: 0.1 * t * t, lambda t: 0.2 * t, lambda t: 0.2)
    moving = {"grip": SupportTranslation(end[-3:], (1.0, 0.0, 0.5), way)}
    system = System(mass, energies, fixed=fixed, loads=loads, moving=moving)
    v = np.where(fixed, 0.0, 0.5 * np.sin(2.0 * mesh.points[:, [1, 2, 0]]) - [0.0, 0.0, 1.0])
    return system, system.state(mesh.points, v)


def assert_near(state, other, most=1e-12):
    """Check that states are the same as far as Newton's method finds them."""
    for name, times in (("q", 1.0), ("v", 20.0), ("a", 500.0)):
        one, two = getattr(state, name), getattr(other, name)
        np.testing.assert_allclose(two, one, rtol=0, atol=times * most * np.abs(one).max(), err_msg=name)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: f"{type(method).__name__}-{method.order}")
def test_parts_move_as_the_whole_with_all_that_acts_on_it(method):
    system, start = pushed()
    one, parts = method.start(system, start), with_cutbacks(method, ThreadsAsRanks(3)).start(system, start)
    state, other = one.advance(6e-3), parts.advance(6e-3)
    assert_near(state, other)
    energies, of_parts = one.energies(state), parts.energies(other)
    assert energies.keys() == of_parts.keys()
    for name, energy in energies.items():
        assert of_parts[name] == pytest.approx(energy, rel=1e-11, abs=1e-11 * energies["kinetic"]), name
    assert min(abs(of_parts[f"work_{name}"]) for name in ("push", "air", "damping", "rub", "grip")) > 1e-3
    assert parts.statistics().keys() - one.statistics().keys() == {"linear_iterations"}


@pytest.mark.parametrize(("ranks", "step"), [(2, 2e-3), (5, 3e-2)])
def test_energy_and_momenta_are_kept_to_round_off_on_any_number_of_ranks(ranks, step):
    """Also in long steps, where the matrix is far from symmetric, and bodies are softest as a whole."""
    system, start = free()
    method = EnergyMomentum(step)
    motion = with_cutbacks(method, ThreadsAsRanks(ranks)).start(system, start)
    end = motion.advance(4 * step)
    assert_near(method.start(system, start).advance(4 * step), end)
    before, after = system.energies_of(start), system.energies_of(end)
    assert after["bodies"] > 0.01 * before["kinetic"]
    assert abs(after["total"] - before["total"]) < 1e-12 * before["total"]
    size = (system.mass[:, None] * np.abs(start.v)).sum()
    np.testing.assert_allclose(system.momentum(end), system.momentum(start), rtol=0, atol=1e-14 * size)
    np.testing.assert_allclose(system.angular_momentum(end), system.angular_momentum(start), rtol=0, atol=1e-13 * size)


def test_a_checkpoint_goes_on_to_the_same_bits_on_as_many_ranks_and_nearly_on_others():
    system, start = pushed()
    method = Midpoint(2e-3)
    motion = with_cutbacks(method, ThreadsAsRanks(3)).start(system, start)
    motion.advance(4e-3)
    checkpoint = motion.checkpoint()
    end = motion.advance(1e-2)
    for ranks in (3, 2):
        other = with_cutbacks(method, ThreadsAsRanks(ranks)).resume(system, checkpoint)
        later = other.advance(1e-2)
        if ranks == 3:
            np.testing.assert_array_equal(later.q, end.q)
            np.testing.assert_array_equal(later.v, end.v)
            assert other.statistics() == motion.statistics()
        assert_near(end, later)
    assert_near(end, method.resume(system, checkpoint).advance(1e-2))


def test_a_step_that_fails_is_told_as_by_one_process():
    system, start = free()
    fast = system.state(start.q, 40.0 * start.v)
    method = Midpoint(2e-2)
    reported = []
    for motion in (method.start(system, fast), with_cutbacks(method, ThreadsAsRanks(3)).start(system, fast)):
        with pytest.raises(StepFailed) as failed:
            motion.advance(0.2)
        reported.append(failed.value)
    assert type(reported[0]) is type(reported[1])
    assert str(reported[1]) == str(reported[0])


@pytest.mark.slow
def test_a_step_that_takes_too_many_corrections_is_halved_on_all_ranks():
    system, start = free()
    fast = system.state(start.q, 40.0 * start.v)
    method = EnergyMomentum(2e-2, newton=Newton(iterations=5, halvings=6))
    motion = with_cutbacks(method, ThreadsAsRanks(3)).start(system, fast)
    end = motion.advance(4e-2)
    assert motion.statistics()["halved"] > 0
    before, after = system.energies_of(fast), system.energies_of(end)
    assert after["bodies"] > 0.01 * before["kinetic"]
    assert after["total"] == pytest.approx(before["total"], rel=1e-12)


def test_what_ranks_cannot_do_is_refused_before_anything_is_computed():
    system, start = free()
    ranks = ThreadsAsRanks(2)
    with pytest.raises(InvalidSystem, match=r'^linear = "sparse" does not run on several ranks; take one of auto'):
        with_cutbacks(Midpoint(1e-3, newton=Newton(linear="sparse")), ranks)
    with pytest.raises(InvalidSystem, match=r"^EnergyMomentum does not keep compensated positions on several ranks"):
        with_cutbacks(EnergyMomentum(1e-3, compensated=True), ranks)
    massless = System(
        np.append(system.mass[:-1], 0.0), system.energies, massless=np.arange(len(start.q)) == len(start.q) - 1
    )
    with pytest.raises(InvalidSystem, match=r"^implicit steps on several ranks need a lumped mass at all nodes; .+"):
        with_cutbacks(EnergyMomentum(1e-3), ranks).start(massless, massless.state(start.q))


def test_ranks_that_have_gone_on_with_another_motion_are_not_taken_for_those_of_the_first():
    ranks = ThreadsAsRanks(2)
    method = with_cutbacks(Midpoint(1e-3), ranks)
    first, second = method.start(*free()), method.start(*free())
    early, before = first.advance(1e-3), first.checkpoint()
    second.advance(1e-3)
    for look in (lambda: first.advance(2e-3), lambda: early.q):
        with pytest.raises(InvalidSystem, match=r"^the ranks have the parts of another motion, begun after this one"):
            look()
    expected = second.advance(2e-3).q
    np.testing.assert_array_equal(method.resume(free()[0], before).advance(2e-3).q, expected)
