"""What every load that knows its derivatives keeps to: dampers, drag, Coriolis forces, in space and in the plane."""

from functools import cache, partial

import numpy as np
import pytest

import symplex as sx
from reference.promises import try_all
from symplex.fem.actions.coriolis import Coriolis
from symplex.fem.actions.dampers import MeanDashpot, QuadraticDrag
from symplex.fem.actions.damping import Dashpots, Drag, StiffnessDamping
from symplex.fem.measures.bars import Bars, GreenStrain
from symplex.fem.structures.corotational import CorotationalDamping, CorotationalEnergy
from symplex.testing.loads import CHECKS, Subject

PAIRS = [[0, 1], [1, 2], [2, 3], [0, 2], [1, 3]]
CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
MASSES = np.array([1.0, 2.0, 3.0, 4.0])
# What power a load has: any, none at all, only negative, or only positive.
ANY, NONE, TAKES, GIVES = "any", "none", "takes", "gives"


@cache
def consistent():
    return sx.actions.consistent_bar_mass(CORNERS, np.array(PAIRS, np.int32), 3.0, 1.0, 4)


# How each is made: some compile what they are made of, which no other test should wait for.
CASES = {
    "dashpots": (lambda: Dashpots(PAIRS, [1.0, 2.0, 0.5, 3.0, 1.5]), 3, TAKES),
    "driving dashpots": (lambda: Dashpots(PAIRS, [-1.0, 2.0, 0.5, -3.0, 1.5]), 3, ANY),
    "drag": (lambda: Drag(MASSES, 0.7), 3, TAKES),
    "driving drag": (lambda: Drag(MASSES, -0.7), 3, GIVES),
    "stiffness": (lambda: StiffnessDamping(Bars(PAIRS, GreenStrain(2.0, 1.3)), CORNERS, 0.2), 3, ANY),
    "reduced body": (lambda: CorotationalDamping(reduced_body(), 0.2, np.diag(MASSES), 0.3), 3, TAKES),
    "dashpot between sets": (lambda: MeanDashpot([0, 1], [2, 3], 1.3), 3, TAKES),
    "a node of both sets": (lambda: MeanDashpot([0, 1], [1, 2], 1.3, 2.0), 3, TAKES),
    "dashpot to a point": (lambda: MeanDashpot([1, 2, 3], (0.3, 2.0, -1.0), 0.7, 1.5, fixed=True), 3, TAKES),
    "quadratic drag": (lambda: QuadraticDrag([0, 2, 3], [0.5, 1.0, 2.0]), 3, TAKES),
    "wind": (lambda: QuadraticDrag([1, 3], 0.7, (3.0, -1.0, 0.5)), 3, ANY),
    "coriolis": (lambda: Coriolis(MASSES, (0.3, -0.5, 0.7)), 3, NONE),
    "coriolis, consistent mass": (lambda: Coriolis(consistent(), (0.3, -0.5, 0.7)), 3, NONE),
    "coriolis in the plane": (lambda: Coriolis(MASSES, 0.7), 2, NONE),
}


def reduced_body():
    """Four nodes with a stiffness that linear rigid motions do not feel."""
    X = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0.2, 0.1, 1]])
    motions = [np.tile(axis, (4, 1)).ravel() for axis in np.eye(3)]
    motions += [np.cross(axis, X).ravel() for axis in np.eye(3)]
    Q = np.linalg.qr(np.array(motions).T)[0]
    gradients = np.linalg.inv(np.column_stack([np.ones(4), X]))[1:].T
    return CorotationalEnergy(np.arange(4), X, np.eye(12) - Q @ Q.T, gradients)


def moving(dim):
    rng = np.random.default_rng(0)
    return rng.standard_normal((4, dim)), rng.standard_normal((4, dim))


@pytest.fixture(params=CASES)
def case(request):
    make, dim, power = CASES[request.param]
    return make(), *moving(dim), power


def test_loads_keep_what_they_promise(case):
    load, q, v, _ = case
    try_all((name, partial(check, Subject(load, q, v))) for name, check in CHECKS.items())


def test_power_is_as_declared(case):
    load, q, v, power = case
    force = load(0.0, q, v)
    work = float(np.vdot(force, v))
    size = float(np.sum(np.abs(force * v)))
    assert size > 0.0
    if power == NONE:
        assert abs(work) < 1e-14 * size
    elif power == TAKES:
        assert work < 0.0
    elif power == GIVES:
        assert work > 0.0


def test_energy_momentum_balances_its_work(case, request):
    """The work that the ledger of a method with a discrete gradient has is what the energy changes by, to round-off."""
    load, q, v, power = case
    dim = q.shape[1]
    mass = consistent() if "consistent" in request.node.callspec.params["case"] else MASSES
    springs = Bars(PAIRS, GreenStrain([4.0, 6.0, 3.0, 5.0, 4.0], 1.0), dim=dim)
    system = sx.System(mass, {"springs": springs}, dim=dim, loads={"load": load})
    motion = sx.EnergyMomentum(0.05).start(system, system.state(q, v))
    before, after = motion.energies(motion.advance(0.0)), motion.energies(motion.advance(1.0))
    assert after["balance"] == pytest.approx(before["balance"], rel=1e-12)
    if power == NONE:
        assert abs(after["work_load"]) < 1e-13 * after["total"]
    else:
        assert abs(after["work_load"]) > 1e-3


def test_coriolis_forces_are_of_the_dimension_of_the_angular_velocity():
    load = Coriolis(MASSES, 0.7)
    for forces in (lambda v: load(0.0, v, v), lambda v: load.derivatives(0.0, v[:, None], v[:, None])):
        with pytest.raises(
            sx.errors.InvalidSystem, match=r"in 2 dimensions, but velocities have 3 components; give three"
        ):
            forces(np.ones((len(MASSES), 3)))
