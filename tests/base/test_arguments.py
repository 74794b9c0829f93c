"""Arguments of the public interface: their kinds are checked before anything is computed, refused in one sentence."""

import copy
import inspect
import pickle
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

from symplex.base.arguments import checked
from symplex.contact.obstacles import HalfSpace
from symplex.errors import InvalidArgument, InvalidSystem, StepFailed, SymplexError
from symplex.fem.actions.damping import Dashpots, Drag, StiffnessDamping
from symplex.fem.actions.loads import Gravity, NodalForce
from symplex.fem.actions.mass import consistent_mass, lumped_mass
from symplex.fem.actions.support_motion import SupportRotation
from symplex.fem.actions.time_function import TimeFunction
from symplex.fem.couplings.equations import LinearConstraints
from symplex.fem.couplings.interpolation import Interpolation
from symplex.fem.measures.bars import Bars, GreenStrain
from symplex.fem.solids.materials import NeoHookean
from symplex.fem.solids.solid import Solid
from symplex.fem.system import State, System
from symplex.meshes.generate import box
from symplex.testing import round_off
from symplex.time.conserving.energy_momentum import EnergyMomentum
from symplex.time.events.force_stepping import ForceStepping
from symplex.time.explicit.newmark import Newmark
from symplex.time.implicit.midpoint import Midpoint
from symplex.time.solvers.newton import Newton
from symplex.time.trajectory import record

Q = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
MASS = np.ones(4)
PAIRS = [[0, 1], [1, 2], [2, 3]]
RUBBER = NeoHookean(lmbda=1.0, mu=1.0, density=1.0)


def springs() -> System:
    return System(MASS, {"springs": Bars(PAIRS, GreenStrain(1.0, 1.0))})


NOT_REAL = [True, np.True_, 1j, np.complex128(1.0), {}, None, [1.0], np.array([1.0]), object(), 10**400, 1e200, 1e-200]


@pytest.mark.parametrize("value", NOT_REAL)
@pytest.mark.parametrize("method", [Midpoint, EnergyMomentum, partial(Newmark, beta=0.25)])
def test_steps_are_real_numbers(method, value):
    with pytest.raises(InvalidArgument, match=r"^\w+: dt must be a real number .*, got .+\.$"):
        method(value)


@pytest.mark.parametrize(
    "value", [1, 0.5, np.float64(0.5), np.float32(0.5), np.int64(1), np.array(0.5), Fraction(1, 2)]
)
def test_numbers_of_all_kinds_are_steps(value):
    assert Midpoint(value).dt == float(value)


NOT_ARRAYS = [
    Q.astype(complex),
    Q.astype(bool),
    Q.astype(str),
    np.array([[None] * 3] * 4),
    [[0.0, 0, 0], [1, 0]],
    "positions",
    None,
    1e200 * Q,
    np.ma.masked_equal(Q, 0.0),
    sp.csr_array(Q),
]


@pytest.mark.parametrize("given", NOT_ARRAYS)
def test_positions_are_arrays_of_real_numbers(given):
    with pytest.raises(InvalidArgument, match=r"^System\.state: q must be an array of real numbers .*, got .+\.$"):
        springs().state(given)
    with pytest.raises(InvalidArgument, match=r"^Solid: points must be an array of real numbers "):
        Solid(given, [[0, 1, 2, 3]], RUBBER)


@pytest.mark.parametrize("given", [Q, Q.tolist(), np.asfortranarray(Q), Q.astype(np.float32), Q.astype(int), Q[::1]])
def test_arrays_of_all_layouts_are_positions(given):
    state = springs().state(given)
    assert state.q.dtype == np.float64
    np.testing.assert_array_equal(state.q, Q)
    np.testing.assert_allclose(lumped_mass(given, [[0, 1, 2, 3]], 24.0, 4), np.ones(4), rtol=round_off.of(1.0))


@pytest.mark.parametrize(
    "cells", [[[0, 1, 2, 2**32 + 3]], [[0.7, 1, 2, 3]], [[True, False, True, False]], [["0"] * 4], 3]
)
@pytest.mark.parametrize("function", [lumped_mass, consistent_mass])
def test_elements_are_indices(function, cells):
    expected = r"mass: cells must be an array of indices of nodes \(integers\), got "
    with pytest.raises(InvalidArgument, match=expected):
        function(Q, cells, 1.0, 4)


@pytest.mark.parametrize("given", [np.eye(12, dtype=complex), sp.eye_array(12, dtype=complex), np.eye(12).astype(str)])
def test_sparse_matrices_are_of_real_numbers(given):
    matrix = "must be a sparse matrix of real numbers or an array of real numbers"
    with pytest.raises(InvalidArgument, match=f"^LinearConstraints: factors {matrix}"):
        LinearConstraints(Q, given, stiffness=1.0)
    with pytest.raises(InvalidArgument, match=f"^Interpolation: weights {matrix}"):
        Interpolation(given)


@pytest.mark.parametrize("fixed", [np.zeros((4, 3), int), np.zeros((4, 3), bool).tolist(), np.zeros((4, 3))])
def test_masks_are_truth_values(fixed):
    assert not System(MASS, {}, fixed=fixed).fixed.any()
    with pytest.raises(InvalidArgument, match="System: fixed must be an array of True and False or None"):
        System(MASS, {}, fixed=np.asarray(fixed) + 2)


def test_a_state_must_be_one_of_the_system():
    system, state = springs(), springs().state(Q)
    for method in (Midpoint(0.1), Newmark(0.1), ForceStepping(0.1)):
        name = type(method).__name__
        with pytest.raises(InvalidArgument, match=f"^{name} starts with a System and a State; for the State is 'q'"):
            method.start(system, "q")
        with pytest.raises(InvalidArgument, match=r"for the System is State\("):
            method.start(state=state, system=state)
        with pytest.raises(InvalidSystem, match=r"positions of shape \(3, 3\)"):
            method.start(system, State(0.0, Q[:3], Q[:3], Q[:3]))
        with pytest.raises(InvalidArgument, match=r"system\.state\(q, v, t\) makes one"):
            method.start(system, State(0.0, Q.tolist(), Q, Q))
        with pytest.raises(StepFailed, match=f"{name} cannot start: its time, positions"):
            method.start(system, replace(state, v=Q * np.nan))
        with pytest.raises(InvalidArgument, match="a time must be a number of seconds; it is "):
            method.start(system, state).advance([0.1])
        with pytest.raises(StepFailed, match="cannot move to t = nan s"):
            method.start(system, state).advance(np.nan)
    with pytest.raises(StepFailed, match=r"1e\+20 steps of dt = 0\.01 s away; that is never reached"):
        Midpoint(0.01).start(system, state).advance(1e18)
    with pytest.raises(InvalidArgument, match="the interval between output times must be positive"):
        Midpoint(0.1).fit(system, state, True)


def test_methods_of_users_begin_with_states_of_their_systems():
    class Mine(Midpoint):
        def start(self, system, state):
            return super().start(system, state)

    with pytest.raises(InvalidArgument, match="Mine starts with a System and a State"):
        Mine(0.1).start(springs(), None)


@pytest.mark.parametrize("times", [0.1, "0.1", np.array(0.1), None])
def test_times_of_a_march(times):
    with pytest.raises(InvalidSystem, match="march: times must be an iterable of numbers in s"):
        record(springs(), Midpoint(0.1), springs().state(Q), times)
    with pytest.raises(InvalidSystem, match="march: observers must be functions"):
        list(__import__("symplex").march(springs(), Midpoint(0.1), springs().state(Q), [0.1], [times]))
    assert len(record(springs(), Midpoint(0.1), springs().state(Q), (0.1 * k for k in range(3))).t) == 3


WRONG = {
    "mass of a solid": (lambda: lumped_mass(Q, [[0, 1, 2, 3]], -1.0, 4), "the density must be positive and finite"),
    "points in the plane": (lambda: lumped_mass(Q[:, :2], [[0, 1, 2, 3]], 1.0, 4), r"points have shape \(4, 2\)"),
    "points of a solid": (lambda: Solid(Q + np.inf, [[0, 1, 2, 3]], RUBBER), "tetrahedra have no positive volume"),
    "weights": (lambda: Gravity(-MASS, (0.0, 0.0, 1.0)), "Gravity: masses must be one for each node"),
    "damping": (lambda: Drag(np.ones((2, 2)), 1.0), "Drag: masses must be one for each node"),
    "dashpots": (lambda: Dashpots([[0, 2**32 + 1]], 1.0), "nodes must be indices from 0 to"),
    "stiffness": (
        lambda: StiffnessDamping(Bars(PAIRS, GreenStrain(1.0, 1.0)), Q[:2], 1.0),
        "but there are 2 nodes",
    ),
    "table": (lambda: TimeFunction.table([0.0, 1e-300], [0.0, 1.0]), "times must ascend"),
    "resolution": (lambda: TimeFunction.differenced(lambda t: t, 1e-200), "resolution must be a real number"),
    "box": (lambda: box((1, 1, 1), (1, 1, 1), origin=(0, 0, np.inf)), "origin of a box must be three finite numbers"),
    "one more argument": (lambda: Midpoint(0.1, 0.5, 3), "too many positional arguments"),
    "a newton that is none": (
        lambda: EnergyMomentum(0.1, newton=50),
        "EnergyMomentum: newton must be a Newton, got 50",
    ),
    "a text for a word": (lambda: Newton(linear=3), "Newton: linear must be a short string, got 3"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_told(what):
    call, text = WRONG[what]
    with pytest.raises((SymplexError, TypeError), match=text) as caught:
        call()
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 300


def test_messages_are_lines_whatever_they_quote():
    error = InvalidSystem(f"it is {np.ones((3, 3))}, 'a\0b\x1b[31m', {5000 * 'x'}.")
    assert str(error).isprintable()
    assert len(str(error)) < 400
    assert r"'a\x00b\x1b[31m'" in str(error)


@pytest.mark.parametrize("size", [1e-99, 1e-30, 1.0, 1e30, 1e99])
def test_directions_of_any_size(size):
    e = np.array([3.0, 0.0, 4.0]) / 5.0
    np.testing.assert_allclose(HalfSpace((0, 0, 0), size * e).normal, e, rtol=1e-15)
    turn = SupportRotation([1], Q, TimeFunction.steady(1.0), center=(0.0, 0.0, 0.0), axis=(0.0, 0.0, size))
    np.testing.assert_allclose(turn.velocity(0.0), [[0.0, 1.0, 0.0]], atol=1e-15)


def test_what_is_checked_stays_what_it_is():
    method = Midpoint(0.1)
    for again in (pickle.loads(pickle.dumps(method)), copy.deepcopy(method), replace(method)):
        assert again == method
    assert replace(method, dt=0.2).dt == 0.2
    assert list(inspect.signature(Midpoint).parameters) == ["dt", "alpha", "newton"]
    assert inspect.signature(lumped_mass).return_annotation == "Array"
    assert NodalForce.__doc__ is not None
    assert lumped_mass.__name__ == "lumped_mass"


def test_arguments_can_be_left_to_the_function():
    @partial(checked, but=("y",))
    def double(x: "float", y: "float", z: "Unknown | None" = None) -> float:  # noqa: F821
        return 2 * x

    assert double(1, "anything", object()) == 2
    with pytest.raises(InvalidArgument, match="double: x must be a real number"):
        double("1", 2.0)
