"""Energies that users write run under force-stepping: with compiled functions, or with their value in Python only."""

import ctypes
import gc
import itertools
import math
import traceback
from dataclasses import replace

import numpy as np
import pytest

from reference.algorithm_1_2 import algorithm_1_2
from reference.kuhn_walk import kuhn_walk
from symplex.errors import InvalidSystem, InvertedElement, StepFailed
from symplex.fem.energies.energy import Energy
from symplex.fem.energies.lattice_values import compile_lattice
from symplex.fem.measures.bars import Bars, EngineeringStrain, GreenStrain, LennardJones, all_pairs
from symplex.fem.solids.materials import NeoHookean
from symplex.fem.solids.solid import Solid
from symplex.fem.system import State, System
from symplex.time.events.force_stepping import ForceStepping

TURN = np.array([[0.6, 0.8], [-0.8, 0.6]])


class ValueOnly(Energy):
    """The value of another energy, and nothing else of it."""

    def __init__(self, other):
        self.nodes, self.other = other.nodes, other

    def value(self, x):
        return self.other.value(x)

    def gradient(self, x):
        raise NotImplementedError

    def hessian(self, x):
        raise NotImplementedError


# -- points bound to a curve: φ = ½ k g², g = y − x² -------------------------------------------------------------


def on_parabola(p, x):
    return 0.5 * p[0] * (x[1] - x[0] ** 2) ** 2


def on_parabola_difference(p, x, i, h):
    change = h if i == 1 else -h * (2.0 * x[0] + h)
    return 0.5 * p[0] * change * (2.0 * (x[1] - x[0] ** 2) + change)


def on_parabola_mixed(p, x, i, j, hi, hj):
    if i == j:
        along_x = (x[0] + hi + hj) ** 2 - (x[0] + hi) ** 2 - (x[0] + hj) ** 2 + x[0] ** 2
        delta = 0.0 if i == 1 else -along_x
        a = hi if i == 1 else -hi * (2.0 * x[0] + hi)
        b = hj if i == 1 else -hj * (2.0 * x[0] + hj)
        return p[0] * (a * b + delta * (x[1] - x[0] ** 2 + a + b + 0.5 * delta))
    a = hi if i == 1 else -hi * (2.0 * x[0] + hi)
    b = hj if j == 1 else -hj * (2.0 * x[0] + hj)
    return p[0] * a * b


class OnParabola(Energy):
    """Beads on a stiff wire y = x²: the value in Python, and functions of one stencil as asked for."""

    def __init__(self, stiffness, functions):
        self.stiffness = np.asarray(stiffness, float)
        self.nodes = np.arange(len(self.stiffness), dtype=np.int32)[:, None]
        self.functions = functions

    def value(self, x):
        return 0.5 * self.stiffness * (x[:, 0, 1] - x[:, 0, 0] ** 2) ** 2

    def gradient(self, x):
        force = self.stiffness * (x[:, 0, 1] - x[:, 0, 0] ** 2)
        return np.stack([-2.0 * x[:, 0, 0] * force, force], axis=1)[:, None]

    def hessian(self, x):
        raise NotImplementedError

    def lattice_functions(self, axes=None):
        if self.functions == "interpreted":
            return super().lattice_functions(axes)
        closed = {"difference": on_parabola_difference, "mixed": on_parabola_mixed}
        return compile_lattice(
            on_parabola,
            self.stiffness[:, None],
            size=2,
            axes=None if self.functions == "closed" else axes,
            **(closed if self.functions == "closed" else {}),
        )


def beads(functions, coupled=True):
    """Three beads on the wire, with springs between them."""
    energies = {"wire": OnParabola([40.0, 60.0, 80.0], functions)}
    if coupled:
        energies["springs"] = Bars(all_pairs(3), EngineeringStrain(5.0, 0.7), dim=2)
    system = System(np.array([1.0, 1.5, 2.0]), energies, dim=2)
    q = np.array([[-0.8, 0.64], [0.1, 0.03], [0.9, 0.8]])
    return system, system.state(q, [[0.5, -0.8], [0.9, 0.2], [-0.3, -0.5]])


@pytest.mark.parametrize("functions", ["compiled", "interpreted"])
@pytest.mark.slow
def test_values_give_the_motion_of_closed_forms(functions):
    ends = []
    for kind in ("closed", functions):
        system, state = beads(kind)
        motion = ForceStepping(0.01, seed=2).start(system, state)
        before = motion.energies(state)["lattice_total"]
        totals = [motion.energies(motion.advance(t))["lattice_total"] for t in np.linspace(0.0, 1.5, 7)]
        assert np.ptp([before, *totals]) < 1e-12 * before
        assert motion.statistics()["events"] > 2000
        ends.append(motion.advance(1.5))
    assert np.abs(ends[0].q - state.q).max() > 0.3
    assert np.abs(ends[0].q - ends[1].q).max() < 1e-11
    assert np.abs(ends[0].v - ends[1].v).max() < 1e-9


@pytest.mark.parametrize("functions", ["compiled", "interpreted"])
def test_rotated_lattices(functions):
    """A wire in a rotated lattice is a rotated wire."""

    class Turned(OnParabola):
        def value(self, x):
            return super().value(x @ TURN)

        def lattice_functions(self, axes=None):
            return Energy.lattice_functions(self, axes)

    system, state = beads(functions)
    turned = System(system.mass, {**system.energies, "wire": Turned([40.0, 60.0, 80.0], "interpreted")}, dim=2)
    start = State(0.0, state.q @ TURN.T, state.v @ TURN.T, state.a)
    a = ForceStepping(0.02, seed=3, axes=TURN).start(system, state).advance(0.5)
    b = ForceStepping(0.02, seed=3).start(turned, start).advance(0.5)
    assert np.abs(a.q - state.q).max() > 0.1
    assert np.abs(a.q - b.q @ TURN).max() < 1e-11


# -- a bent molecule: three-body angles ----------------------------------------------------------------------------


def bending(p, x):
    u, v = x[:2] - x[2:4], x[4:] - x[2:4]
    cosine = (u[0] * v[0] + u[1] * v[1]) / math.sqrt((u[0] ** 2 + u[1] ** 2) * (v[0] ** 2 + v[1] ** 2))
    return 0.5 * p[0] * (cosine - p[1]) ** 2


class Bending(Energy):
    """φ = ½ k (cos θ − cos θ0)² of three points, θ the angle at the second: the value, and no more."""

    def __init__(self, triples, stiffness, cosine):
        self.nodes = np.asarray(triples, np.int32)
        self.stiffness, self.cosine = stiffness, cosine

    def value(self, x):
        u, v = x[:, 0] - x[:, 1], x[:, 2] - x[:, 1]
        cosine = (u * v).sum(axis=1) / np.sqrt((u * u).sum(axis=1) * (v * v).sum(axis=1))
        return 0.5 * self.stiffness * (cosine - self.cosine) ** 2

    def gradient(self, x):
        raise NotImplementedError

    def hessian(self, x):
        raise NotImplementedError


class CompiledBending(Bending):
    def lattice_functions(self, axes=None):
        rows = np.tile([self.stiffness, self.cosine], (len(self.nodes), 1))
        return compile_lattice(bending, rows, size=6)  # the same in any axes


def molecule(angles):
    """A chain of four atoms with stiff bonds, and two angles; it spins and bends."""
    bonds = Bars([[0, 1], [1, 2], [2, 3]], GreenStrain(50.0, 1.0), dim=2)
    system = System(np.array([1.0, 2.0, 2.0, 1.0]), {"bonds": bonds, "angles": angles}, dim=2)
    q = np.array([[-0.9, 0.6], [0.0, 0.0], [1.02, 0.1], [1.7, 0.9]])
    v = np.array([[0.3, -0.5], [0.0, 0.4], [-0.2, 0.3], [0.1, -0.6]])
    return system, State(0.0, q, v, np.zeros_like(q))  # its accelerations are not asked for: there is no gradient


@pytest.mark.slow
def test_an_energy_that_has_only_a_value():
    triples, ends = [[0, 1, 2], [1, 2, 3]], []
    for angles in (Bending(triples, 20.0, -0.3), CompiledBending(triples, 20.0, -0.3)):
        system, state = molecule(angles)
        motion = ForceStepping(0.02, seed=5).start(system, state)
        before = motion.energies(state)
        end = motion.advance(1.0)
        after = motion.energies(end)
        assert after["lattice_total"] == pytest.approx(before["lattice_total"], rel=1e-13)
        assert abs(after["angles"] - before["angles"]) > 0.05  # they do bend
        ends.append(end)
    assert np.abs(ends[0].q - ends[1].q).max() < 1e-11
    walk = kuhn_walk(system, state, [1.0], 0.02, motion.offset)
    assert np.abs(ends[0].q - walk.states[-1].q).max() < 1e-11


# -- against the energies of the package -------------------------------------------------------------------------


def test_values_of_pairs_give_the_motion_of_their_own_functions():
    q = np.array([[0.0, 0.0], [1.1, 0.05], [0.5, 1.0], [-0.6, 0.9]])
    v = 0.3 * np.random.default_rng(0).normal(size=q.shape)
    argon = Bars(all_pairs(4), LennardJones(1.0, 1.0), dim=2)
    ends = []
    for energy in (argon, ValueOnly(argon)):
        system = System(np.ones(4), {"argon": energy}, dim=2)
        motion = ForceStepping(0.02, seed=1).start(system, State(0.0, q, v, 0 * q))
        before = motion.energies(motion.advance(0.0))["lattice_total"]
        ends.append(motion.advance(1.0))
        assert motion.energies(ends[-1])["lattice_total"] == pytest.approx(before, abs=1e-12)
    assert motion.statistics()["events"] > 300
    assert np.abs(ends[0].q - q).max() > 0.1
    assert np.abs(ends[0].q - ends[1].q).max() < 1e-11


def test_values_of_solids_give_the_motion_of_their_own_functions():
    """Also where other elements would be inverted at the positions of one of them."""

    class Stencilwise(ValueOnly):
        def local_value(self, stencil, x):
            cells = Solid(corner, [[0, 1, 2, 3]], solid.material) if stencil == 0 else upper
            return float(cells.value(x[None])[0])

    corner = np.vstack([np.zeros(3), np.eye(3), np.ones((1, 3))])
    solid = Solid(corner, [[0, 1, 2, 3], [2, 1, 4, 3]], NeoHookean(2.0, 1.0, 1.0))
    upper = Solid(corner, [[2, 1, 4, 3]], solid.material)
    v = 0.2 * np.random.default_rng(2).normal(size=corner.shape)
    ends = []
    for energy in (solid, Stencilwise(solid)):
        system = System(np.ones(5), {"solid": energy})
        ends.append(ForceStepping(0.03, seed=1).start(system, State(0.0, corner, v, 0 * v)).advance(1.0))
    assert np.abs(ends[0].q - corner).max() > 0.1
    assert np.abs(ends[0].q - ends[1].q).max() < 1e-11


def test_resuming_is_bit_identical_and_functions_outlive_their_energy():
    system, state = beads("interpreted")
    straight = ForceStepping(0.05).start(system, state)
    straight.advance(0.2)
    resumed = ForceStepping(0.05).resume(beads("interpreted")[0], straight.checkpoint())
    del system
    gc.collect()
    a, b = straight.advance(0.6), resumed.advance(0.6)
    np.testing.assert_array_equal(a.q, b.q)


@pytest.mark.parametrize("axes", [np.eye(2), TURN])
@pytest.mark.parametrize("functions", ["compiled", "interpreted", "closed"])
def test_differences_of_values(functions, axes):
    """Also of one coordinate moved twice, and of steps backwards."""
    if functions == "closed":
        axes = np.eye(2)
    energy = OnParabola([3.0, 5.0], functions)
    found = energy.lattice_functions(axes)
    number, integer = ctypes.c_double, ctypes.c_int64
    p = found.parameters[1].ctypes.data_as(ctypes.c_void_p)
    value, difference, mixed = (
        ctypes.CFUNCTYPE(number, ctypes.c_void_p, ctypes.c_void_p, *types)(address)
        for address, types in (
            (found.value, ()),
            (found.difference, (integer, number)),
            (found.mixed, (integer, integer, number, number)),
        )
    )

    def phi(x):
        y = axes.T @ x
        return 2.5 * (y[1] - y[0] ** 2) ** 2

    x = np.array([0.7, -0.2])
    at = x.ctypes.data_as(ctypes.c_void_p)
    assert value(p, at) == pytest.approx(phi(x), rel=1e-14)
    for i, j, hi, hj in itertools.product((0, 1), (0, 1), (0.3, -0.1), (0.2, -0.4)):
        e_i, e_j = hi * np.eye(2)[i], hj * np.eye(2)[j]
        assert difference(p, at, i, hi) == pytest.approx(phi(x + e_i) - phi(x), abs=1e-14)
        expected = phi(x + e_i + e_j) - phi(x + e_i) - phi(x + e_j) + phi(x)
        assert mixed(p, at, i, j, hi, hj) == pytest.approx(expected, abs=1e-14)
    assert np.array_equal(x, [0.7, -0.2])


# -- what goes wrong inside --------------------------------------------------------------------------------------


class Failing(Energy):
    """A well that fails beyond x = 1, in whatever way."""

    nodes = np.array([[0]], np.int32)

    def __init__(self, failure):
        self.failure = failure

    def value(self, x):
        if x[0, 0, 0] > 1.0:
            if isinstance(self.failure, BaseException):
                raise self.failure
            return np.array([self.failure])
        return -x[:, 0, 0]

    def gradient(self, x):
        return -np.ones_like(x)

    def hessian(self, x):
        raise NotImplementedError


def falling(failure):
    system = System(np.ones(1), {"well": Failing(failure)}, dim=1)
    return ForceStepping(0.1).start(system, State(0.0, *np.zeros((3, 1, 1))))


@pytest.mark.parametrize("failure", [RuntimeError("beyond the table"), ZeroDivisionError("1/0"), KeyboardInterrupt()])
def test_exceptions_pass_through_the_loop(failure, capfd):
    motion = falling(failure)
    assert motion.advance(1.0).q[0, 0] == pytest.approx(0.5)
    with pytest.raises(type(failure)) as raised:
        motion.advance(3.0)
    assert raised.value is failure
    assert "raise self.failure" in "".join(traceback.format_exception(raised.value))
    with pytest.raises(StepFailed, match=f"ForceStepping stopped at t = 1.* s: {type(failure).__name__}"):
        motion.advance(3.0)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("walk", [kuhn_walk, lambda *args: algorithm_1_2(*args, local=True)])
def test_exceptions_pass_through_the_walks(walk):
    system = System(np.ones(1), {"well": Failing(RuntimeError("beyond the table"))}, dim=1)
    with pytest.raises(RuntimeError, match="beyond the table"):
        walk(system, State(0.0, *np.zeros((3, 1, 1))), [3.0], 0.1, np.full((1, 1), 0.3))


def test_an_exception_at_the_start():
    system = System(np.ones(1), {"well": Failing(RuntimeError("no energy here"))}, dim=1)
    state = State(0.0, np.full((1, 1), 2.0), *np.zeros((2, 1, 1)))
    with pytest.raises(RuntimeError, match="no energy here"):
        ForceStepping(0.1).start(system, state)


@pytest.mark.parametrize(
    "failure", [StepFailed("pole"), InvertedElement("det F = -1", 0), np.inf, -np.inf, np.nan], ids=repr
)
def test_no_energy_at_a_lattice_vertex(failure):
    with pytest.raises(StepFailed, match="the energy is infinite at a lattice vertex"):
        falling(failure).advance(3.0)


def test_compiled_functions_that_raise_or_have_no_energy():
    def broken(p, x):
        if x[0] > 1.0:
            raise ValueError("beyond")
        return -x[0]

    def endless(p, x):
        return -x[0] if x[0] < 1.0 else p[0]

    for function, p in ((broken, 0.0), (endless, np.inf), (endless, np.nan)):

        class Well(Failing):
            def lattice_functions(self, axes=None, function=function, p=p):
                return compile_lattice(function, [[p]], size=1, axes=axes)

        system = System(np.ones(1), {"well": Well(np.inf)}, dim=1)
        motion = ForceStepping(0.1).start(system, State(0.0, *np.zeros((3, 1, 1))))
        with pytest.raises(StepFailed, match="the energy is infinite at a lattice vertex"):
            motion.advance(3.0)


def test_functions_of_another_size_are_refused():
    class Wrong(OnParabola):
        def lattice_functions(self, axes=None):
            return replace(super().lattice_functions(axes), size=3)

    system, state = beads("compiled", coupled=False)
    wrong = System(system.mass, {"wire": Wrong([1.0, 2.0, 3.0], "compiled")}, dim=2)
    with pytest.raises(InvalidSystem, match=r"energy 'wire' \(Wrong\) has 3 stencils of 1 nodes in 2 dim.* of 3 coor"):
        ForceStepping(0.1).start(wrong, state)


def test_what_cannot_be_compiled_is_refused():
    def opens(p, x):
        return open("table.txt")  # noqa: PTH123

    with pytest.raises(InvalidSystem, match="value 'opens' cannot be compiled"):
        compile_lattice(opens, [[1.0]], size=1)
    with pytest.raises(InvalidSystem, match="those of the coordinate axes"):
        compile_lattice(on_parabola, [[1.0]], size=2, axes=TURN, mixed=on_parabola_mixed)
    with pytest.raises(InvalidSystem, match=r"3 coordinates does not fit axes of shape \(2, 2\)"):
        compile_lattice(on_parabola, [[1.0]], size=3, axes=TURN)
