"""The system of the first rank, whose parts others compute: the bits of one process, and nothing of it on one rank."""

from functools import cached_property
from types import SimpleNamespace

import numpy as np
import pytest

from symplex.contact.obstacles import HalfSpace
from symplex.contact.rigid import RigidContact
from symplex.errors import InvalidSystem, InvertedElement
from symplex.fem.actions.loads import Gravity, NodalLoad
from symplex.fem.actions.mass import lumped_mass
from symplex.fem.measures.bars import Bars
from symplex.fem.measures.pair_laws import EngineeringStrain
from symplex.fem.solids.materials import LinearElastic, NeoHookean
from symplex.fem.solids.solid import Solid
from symplex.fem.system import System
from symplex.meshes.generate import box
from symplex.parallel.member import Failure, Member
from symplex.parallel.motion import InParts
from symplex.parallel.placement import placed
from symplex.parallel.whole import SystemOfRanks
from symplex.runs.invariants import Expected
from symplex.scenario.scenario import Scenario
from symplex.time.explicit.newmark import Newmark

RUBBER = NeoHookean(lmbda=6e6, mu=4e6, density=1000.0)


class _Alone(Member):
    """A rank that exchanges nothing."""

    def reductions(self):
        return SimpleNamespace(halo=lambda neighbours, numbers, vectors=1: None)


class InTurn:
    """Ranks that do one after the other what needs no exchange."""

    threads, hides = 1, False

    def __init__(self, size):
        self.size, self.placed, self.called = size, None, []
        self.members = [_Alone(None, 1) for _ in range(size)]

    def call(self, command):
        given = [command(rank) for rank in range(self.size)]
        self.called.append(given[0].func.__name__)
        results = [one(member) for one, member in zip(given, self.members, strict=True)]
        if failures := [one for one in results if isinstance(one, Failure)]:
            raise min(failures, key=lambda one: one.place).error
        return results


def arguments(material=RUBBER):
    """A box on a floor, with weight, springs and a load: what a system is made of, and its points."""
    mesh = box((2.0, 1.0, 1.0), (6, 3, 3))
    cells, n = mesh.cells["tetra"], len(mesh.points)
    mass = lumped_mass(mesh.points, cells, 1000.0, n)
    energies = {
        "body": Solid(mesh.points, cells, material),
        "gravity": Gravity(mass, (0.0, 0.0, -9.81)),
        "floor": RigidContact(mesh.boundary_nodes, HalfSpace((0, 0, 0.02), (0, 0, 1)), 1e6),
        "springs": Bars([[0, n - 1], [1, n - 1]], EngineeringStrain([1e5, 2e5], [2.0, 2.5])),
    }
    loads = {"push": NodalLoad([n - 1], [0.0, 10.0, 0.0], ([0.0, 1.0], [1.0, 2.0]))}
    return (mass, energies), {"loads": loads}, mesh.points


def deformed(points, amount=0.01):
    """Positions that are moved at random."""
    return points + amount * np.random.default_rng(1).standard_normal(points.shape)


def is_computed(solid):
    """Whether something is known of elements that only steps need."""
    known = solid.elements
    return any(isinstance(getattr(type(known), name, None), cached_property) for name in vars(known))


@pytest.mark.parametrize("ranks", [1, 2, 5])
def test_start_and_stable_step_have_the_bits_of_one_process_and_no_rank_computes_all(ranks):
    given, options, points = arguments()
    one, q = System(*given, **options), deformed(points)
    state = one.state(q, (0.0, 1.0, 0.0))
    method = Newmark("auto").fit(one, state, 1e-3)
    energies, expected = one.energies_of(state), Expected.of(one, method, state, 0.0, 1.0)

    given, options, _ = arguments()
    there = InTurn(ranks)
    whole = SystemOfRanks(*given, **options, ranks=there)
    start = whole.state(q, (0.0, 1.0, 0.0))
    np.testing.assert_array_equal(start.a, state.a)
    assert InParts(Newmark("auto"), there).fit(whole, start, 1e-3).dt == method.dt
    found = whole.energies_of(start)
    assert found == pytest.approx(energies, rel=1e-13)
    assert Expected.of(whole, method, start, 0.0, 1.0).momenta == expected.momenta
    assert there.called.count("take") == 1
    assert is_computed(one.energies["body"])
    assert not is_computed(whole.energies["body"])


def test_the_first_element_that_is_inverted_is_named_as_by_one_process():
    given, options, points = arguments()
    q = deformed(points)
    q[[40, 80]] += 1.0
    with pytest.raises(InvertedElement) as one:
        System(*given, **options).gradient(q)
    whole = SystemOfRanks(*given, **options, ranks=InTurn(3))
    for _ in range(2):  # ranks go on after it
        with pytest.raises(InvertedElement) as parts:
            whole.gradient(q)
        assert str(parts.value) == str(one.value)
    np.testing.assert_array_equal(whole.gradient(points), System(*given, **options).gradient(points))


def test_what_cannot_be_divided_is_refused_before_anything_is_computed():
    given, options, points = arguments()
    few = SystemOfRanks(*given, **options, ranks=InTurn(2000))
    with pytest.raises(InvalidSystem, match=r"^there are 2000 ranks, more than the mesh has elements or nodes"):
        few.state(points)
    options["loads"]["pull"] = lambda t, q, v: np.zeros_like(q)
    there = InTurn(2)
    whole = SystemOfRanks(*given, **options, ranks=there)
    with pytest.raises(InvalidSystem, match=r"^load 'pull' cannot be divided among ranks\. Run it in one process"):
        whole.state(points)
    assert not there.called


def test_the_parts_of_a_motion_are_not_taken_from_it():
    given, options, points = arguments()
    there = InTurn(2)
    first, second = (SystemOfRanks(*given, **options, ranks=there) for _ in range(2))
    placement, motion = placed(first, points, there), Newmark(1e-5).start(first, first.state(points))
    placement.begin(motion)
    second.gradient(points)
    assert there.placed is placement
    del motion
    second.gradient(points)
    assert there.placed is not placement
    assert there.placed.is_of(second)


@pytest.mark.parametrize("part", ["load", "energy", "name", "mass", "fixed"])
def test_what_has_changed_of_a_system_is_sent_anew(part):
    given, options, points = arguments()
    there = InTurn(2)
    whole = SystemOfRanks(*given, **options, ranks=there)
    whole.state(points)
    if part == "load":
        whole.loads["pull"] = NodalLoad([5], [0.0, 0.0, 3.0])
    elif part == "energy":
        del whole.energies["springs"]  # nothing else holds it: another one may come to lie at its address
        whole.energies["springs"] = Bars([[0, 1]], EngineeringStrain([1e5], [2.0]))
    elif part == "name":
        whole.energies["bars"] = whole.energies.pop("springs")
    elif part == "mass":
        whole.mass = 2.0 * whole.mass
    else:
        whole.fixed = np.ones_like(whole.fixed)
    for _ in range(2):
        placed(whole, points, there)
        assert there.called.count("take") == 2
    for member in there.members:
        of_rank = member.part
        assert list(of_rank.loads) == list(whole.loads)
        assert of_rank.energies == tuple(whole.energies)
        np.testing.assert_array_equal(of_rank.mass, whole.mass[of_rank.share.nodes])
        np.testing.assert_array_equal(of_rank.fixed, whole.fixed[of_rank.share.nodes])


def test_momenta_of_small_strains_are_found_from_some_elements():
    given, _, points = arguments(LinearElastic(lmbda=6e6, mu=4e6, density=1000.0))
    del given[1]["floor"], given[1]["gravity"]
    system = System(given[0], given[1])
    state = system.state(points)
    kept = {one.name: one.changed_by for one in Expected.of(system, Newmark(1e-5), state, 0.0, 1.0).momenta}
    assert kept["momentum x"] == ()
    assert kept["angular momentum z"] == ("body",)


def test_a_scenario_makes_the_systems_that_it_is_told_to(tmp_path):
    text = """
    [[body]]
    name = "bar"
    mesh = { box = [1.0, 0.2, 0.2], cells = [4, 2, 2] }
    material = { law = "neo-hookean", young = 1e7, poisson = 0.3, density = 1000.0 }
    velocity = [0.0, 0.0, -3.0]
    [integrator]
    kind = "newmark"
    [run]
    duration = 0.001
    frames = 2
    """
    scenario, there = Scenario.parse(text, tmp_path / "bar.toml"), InTurn(3)
    problem = scenario.build(make_system=lambda *given, **more: SystemOfRanks(*given, **more, ranks=there))
    assert problem.integrator == scenario.build().integrator
    assert "take" in there.called
    assert not is_computed(problem.solids["bar"])
