"""Force-stepping from positions that are tied: many coordinates pass each other in the first moment."""

import numpy as np
import pytest

import symplex as sx

# Fractions of a lattice cell on a few values, with velocities that differ.
POSITIONS = np.array([[0, 0], [1, 19.5], [17, 8.5], [18, -10.5], [-1, -20], [-17.5, -8], [-15.5, 10.5]])
VELOCITIES = np.array([[-30, -20], [50, -90], [-70, -60], [90, 40], [80, 90], [-40, 100], [-80, -60]])


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_energy_is_kept_from_a_tied_start(mirrored, seed):
    pairs = sx.Bars(sx.measures.all_pairs(7), sx.measures.LennardJones(2.5e4, 17.0), dim=2)
    system = sx.System(np.ones(7), {"pairs": pairs}, dim=2)
    start = system.state(POSITIONS, VELOCITIES)
    offset = np.random.default_rng(seed).random(2)  # the same for all particles
    motion = sx.ForceStepping(1.0, offset=offset, mirrored=mirrored).start(system, start)
    before, *after = (motion.energies(motion.advance(t))["lattice_total"] for t in (0.0, 0.002, 0.05, 0.5))
    assert after == pytest.approx([before] * 3, rel=1e-12)
    assert motion.statistics()["events"] > 1000
