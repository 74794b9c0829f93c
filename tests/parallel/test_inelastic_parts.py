"""Inelastic parts on several ranks without MPI: the motion, energies and internal variables of one process."""

import numpy as np
import pytest

from reference.metal_bodies import COPPER, DENSITY, LINE, solid_of
from reference.threads_as_ranks import ThreadsAsRanks
from symplex.errors import InvalidSystem
from symplex.fem.actions.mass import lumped_mass
from symplex.fem.couplings.cohesive import CohesiveFaces
from symplex.fem.measures.inelastic_bars import InelasticBars, LengthLaw
from symplex.fem.measures.separation import BreakingBar, TractionSeparation
from symplex.fem.solids.plastic import Plastic
from symplex.fem.solids.solid import Solid
from symplex.fem.solids.viscoelastic import Viscoelastic
from symplex.fem.structures.yielding import YieldingBar
from symplex.fem.system import System
from symplex.meshes.generate import box
from symplex.parallel.motion import with_cutbacks
from symplex.parallel.pieces import require_parts
from symplex.time.conserving.energy_momentum import EnergyMomentum
from symplex.time.implicit.midpoint import Midpoint


def everything():
    """A metal bar that yields, a viscoelastic one glued to it, and bars between them that yield or break."""
    flowing = Plastic(solid_of("hexahedron", (4, 2, 2)), LINE)
    mesh = box((0.04, 0.02, 0.02), (4, 2, 2), split="hexahedra")
    n = len(flowing.solid.points)
    points = np.concatenate([flowing.solid.points, mesh.points + np.array([0.04, 0.0, 0.0])])
    soft = Solid(points, mesh.cells["hexahedron"] + n, COPPER, formulation="stabilized")
    ends = [
        np.flatnonzero(np.isclose(points[:, 0], 0.04) & side) for side in (np.arange(2 * n) < n, np.arange(2 * n) >= n)
    ]
    index = {tuple(np.round(points[node], 6)): node for node in ends[1]}
    faces = [face for face in flowing.solid.nodes[:, [1, 2, 6, 5]] if np.isin(face, ends[0]).all()]
    other = [[index[tuple(np.round(points[node], 6))] for node in face] for face in faces]
    pairs = np.column_stack([np.arange(12), n + np.arange(3, 15)])
    lengths = np.linalg.norm(points[pairs[:, 0]] - points[pairs[:, 1]], axis=1) + 1e-4
    inelastic = {
        "metal": flowing,
        "creep": Viscoelastic(soft, [5e9, 3e9], [1e-6, 1e-5]),
        "glue": CohesiveFaces(faces, other, points, TractionSeparation(1e8, 2e4)),
        "members": InelasticBars(pairs[:6], YieldingBar(117e9, np.linspace(1e-6, 2e-6, 6), lengths[:6], LINE)),
        "ropes": InelasticBars(pairs[6:], BreakingBar(TractionSeparation(500.0, 0.2), lengths[6:])),
    }
    nodes = np.concatenate([flowing.solid.nodes, soft.nodes])
    system = System(lumped_mass(points, nodes, DENSITY, 2 * n), {"soft": soft}, inelastic=inelastic)
    x, y, z = points.T
    v = np.column_stack(
        [
            300.0 * np.sin(60.0 * x) * (1.0 + y / 0.02),
            2000.0 * (z - 0.01),
            60.0 * np.cos(90.0 * y) - 2000.0 * (y - 0.01),
        ]
    )
    return system, system.state(points, v)


@pytest.mark.parametrize("method", [EnergyMomentum(1e-6), Midpoint(1e-6)], ids=["energy-momentum", "midpoint"])
def test_parts_flow_relax_and_break_as_the_whole(method):
    system, start = everything()
    one, parts = method.start(system, start), with_cutbacks(method, ThreadsAsRanks(3)).start(system, start)
    state, other = one.advance(6e-6), parts.advance(6e-6)
    assert_near(system, state, other)
    energies, of_parts = one.energies(state), parts.energies(other)
    assert energies.keys() == of_parts.keys()
    for name, energy in energies.items():
        assert of_parts[name] == pytest.approx(energy, abs=1e-10 * energies["kinetic"]), name
        assert not name.startswith("work_") or energy < -1e-7 * energies["kinetic"], name
    if isinstance(method, EnergyMomentum):
        before = system.energies_of(start)["total"]
        assert of_parts["balance"] == pytest.approx(before, rel=1e-12)


def assert_near(system, state, other):
    """Check that states and internal variables are the same as far as Newton's method finds them."""
    for name, size in (("q", 1e-12), ("v", 1e-7), ("a", 1.0)):
        np.testing.assert_allclose(getattr(other, name), getattr(state, name), rtol=1e-8, atol=size, err_msg=name)
    assert other.internal.keys() == state.internal.keys()
    for name, z in state.internal.items():
        np.testing.assert_allclose(other.internal[name], z, rtol=1e-8, atol=1e-10, err_msg=name)


@pytest.mark.slow
def test_a_checkpoint_goes_on_on_other_numbers_of_ranks():
    system, start = everything()
    method = EnergyMomentum(1e-6)
    motion = with_cutbacks(method, ThreadsAsRanks(3)).start(system, start)
    motion.advance(2e-6)
    checkpoint = motion.checkpoint()
    end = motion.advance(4e-6)
    same = with_cutbacks(method, ThreadsAsRanks(3)).resume(system, checkpoint).advance(4e-6)
    np.testing.assert_array_equal(same.q, end.q)
    for name, z in end.internal.items():
        np.testing.assert_array_equal(same.internal[name], z)
    for ranks in (1, 2):
        assert_near(system, end, with_cutbacks(method, ThreadsAsRanks(ranks)).resume(system, checkpoint).advance(4e-6))
    assert_near(system, end, method.resume(system, checkpoint).advance(4e-6))


class Yarn(LengthLaw):
    """A law of a user that says nothing of some bars alone."""

    energy = tension = updated = dissipation = BreakingBar.energy


def test_a_law_that_has_no_bars_alone_is_refused_by_name():
    yarn = InelasticBars([[0, 1], [1, 2]], Yarn())
    with pytest.raises(InvalidSystem, match=r"^inelastic part 'yarn' cannot be divided among ranks\. Run it in one"):
        require_parts(System(np.ones(3), {}, inelastic={"yarn": yarn}))
