"""The examples of docs/extending.md and of the tutorial keep what they declare, and are short."""

import importlib.util
import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from contracts import test_integrator_contract as contract

import symplex as sx
from symplex.errors import InvalidSystem, UnstableStep
from symplex.fem.actions.support_motion import SupportTranslation
from symplex.testing import integrators
from symplex.time.integrator import FixedStepIntegrator
from symplex.time.motion import FixedStepMotion

DOCS = Path(__file__).parents[2] / "docs"
PAGE, TUTORIAL = DOCS / "extending.md", DOCS / "learn" / "your-own.md"
CHECKS = integrators.CHECKS.values()


def _written(module: str, folder: Path, heading: str, most_lines: int, page: Path = PAGE):
    """Yield the module in the first block of code below a heading of a page."""
    text = page.read_text("utf-8").partition(heading)[2]
    source = re.search(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE).group(1)
    assert source.count("\n") <= most_lines
    path = folder / f"{module}.py"
    path.write_text(source, "utf-8")
    spec = importlib.util.spec_from_file_location(module, path)
    made = importlib.util.module_from_spec(spec)
    sys.modules[module] = made
    spec.loader.exec_module(made)
    yield made
    del sys.modules[module]


@pytest.fixture(scope="module")
def position_verlet(tmp_path_factory):
    """The explicit integrator of the tutorial, next to an energy."""
    folder = tmp_path_factory.mktemp("extending")
    for module in _written("position_verlet", folder, "## An energy and an integrator", 75, TUTORIAL):
        yield module.PositionVerlet


@pytest.fixture(scope="module")
def backward_euler(tmp_path_factory):
    """The implicit integrator of the page."""
    for module in _written("backward_euler", tmp_path_factory.mktemp("extending"), "### An implicit method", 25):
        yield module.BackwardEuler


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_the_integrator_keeps_what_it_declares(check, position_verlet):
    verlet = replace(
        contract.CASES["Newmark"],
        make=lambda dt, seed: position_verlet(dt),
        impossible=lambda: position_verlet(1.0),
        refusal=UnstableStep,
        looks=8,
    )
    check(verlet)


def params(long):
    marks = [[pytest.mark.slow] * (check.name == long) for check in CHECKS]
    return [pytest.param(check, marks=of, id=check.name) for check, of in zip(CHECKS, marks, strict=True)]


@pytest.mark.parametrize("check", params("declared_order_on_a_nonlinear_problem"))
def test_the_implicit_method_is_what_it_declares(check, backward_euler):
    check(contract.implicit(backward_euler, sizes=(0.0005, 0.00025, 0.000125)))


# -- loads under methods of users ------------------------------------------------------------------------------------

DRAG = {"drag": lambda t, q, v: -0.3 * v * np.abs(v), "push": lambda t, q, v: np.full_like(q, np.sin(3.0 * t))}


class Explicit(FixedStepIntegrator["ExplicitMotion"]):
    """Runge and Kutta's method, which adds no work itself."""

    order, conserves, symmetric = 4, frozenset(), False
    takes = frozenset({"supports", "loads", "moving supports", "thermostat", "composition"})

    def __init__(self, dt):
        self.dt = dt

    def _motion(self, system, t0, dt, n):
        return ExplicitMotion(system, t0, dt, n)


class ExplicitMotion(FixedStepMotion):
    def _step(self, t, h):
        q, v, rate = self._q, self._v, self.system.accelerations_at
        drifts, kicks = [v], [rate(t, q, v)]
        for part in (0.5, 0.5, 1.0):
            at = q + part * h * drifts[-1], v + part * h * kicks[-1]
            kicks.append(rate(t + part * h, *at))
            drifts.append(at[1])
        weights = np.array([1.0, 2.0, 2.0, 1.0]) / 6.0
        dq, dv = (h * np.tensordot(weights, rates, 1) for rates in (drifts, kicks))
        self._q += dq
        self._v += dv


class MeanMotion(ExplicitMotion):
    """As that, but it adds the work itself: twice what it is."""

    loads_at_ends = True

    def _step(self, t, h):
        q0 = self._q.copy()
        super()._step(t, h)
        self._work.evaluate(t + h, self._q, self._v)
        self._work.add_mean(2.0 * (self._q - q0))


def dragged(loads=DRAG, **more):
    spring = sx.Bars([[0, 1]], sx.measures.EngineeringStrain(3.0, 1.0), dim=2)
    system = sx.System([2.0, 1.0], {"spring": spring}, loads=loads, dim=2, **more)
    return system, system.state([[0.0, 0.0], [1.2, 0.0]], [[1.0, 2.0], [0.0, -1.0]])


def moved(method, system, state, t=2.0):
    motion = method.start(system, state)
    return motion.energies(motion.advance(t)), motion


def test_the_work_of_loads_is_found_for_methods_of_users_to_fourth_order():
    system, state = dragged()
    start = system.energies_of(state)["total"]
    errors = [abs(moved(Explicit(dt), system, state)[0]["balance"] - start) for dt in (0.1, 0.05, 0.025)]
    ratios = np.divide(errors[:-1], errors[1:])
    assert errors[0] < 1e-4
    assert (ratios > 12.0).all()
    assert (ratios < 22.0).all()
    energies, _ = moved(Explicit(0.05), system, state)
    assert energies["work_drag"] < -1.0


def test_the_work_of_constant_loads_is_exact():
    weight = np.array([[0.0, -9.81], [0.0, -4.9]])
    system, state = dragged({"weight": lambda t, q, v: weight})
    energies, motion = moved(Explicit(0.1), system, state)
    work = np.vdot(weight, motion.advance(2.0).q - state.q)
    assert energies["work_weight"] == pytest.approx(work, rel=1e-13)


def test_work_that_a_step_adds_itself_is_not_found_once_more(monkeypatch):
    system, state = dragged()
    found, _ = moved(Explicit(0.01), system, state)
    monkeypatch.setattr(Explicit, "_motion", lambda self, *arguments: MeanMotion(*arguments))
    added, _ = moved(Explicit(0.01), system, state)
    assert added["work_drag"] == pytest.approx(2.0 * found["work_drag"], rel=1e-3)


def test_work_is_added_in_every_step_or_in_none(monkeypatch):
    """The ends of steps are kept for the ledger only where it has to find the work."""

    class Forgetful(MeanMotion):
        def _step(self, t, h):
            (MeanMotion if t < 0.5 else ExplicitMotion)._step(self, t, h)

    system, state = dragged()
    monkeypatch.setattr(Explicit, "_motion", lambda self, *arguments: Forgetful(*arguments))
    with pytest.raises(InvalidSystem, match="must add the work of loads to the ledger, as the step before has"):
        moved(Explicit(0.1), system, state)


def test_methods_of_users_must_add_the_work_of_supports_that_they_move():
    ride = SupportTranslation([0], "x", ([0.0, 1.0, 3.0], [0.0, 0.1, 0.2]))
    system, state = dragged({}, moving={"table": ride})
    with pytest.raises(InvalidSystem, match=r"must add the work of the moving support 'table'.*add_supports"):
        moved(Explicit(0.1), system, state)
