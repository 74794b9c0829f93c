"""Keys of [integrator] and [thermostat] against the parameters of the classes that they describe: neither has more."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, fields
from typing import Annotated

import numpy as np
import pytest

from symplex.base.arguments import checked
from symplex.base.quantities import positive
from symplex.errors import ScenarioError
from symplex.scenario.integrators import integrator_of
from symplex.scenario.methods import INTEGRATORS, METHODS, Thermostat, keys_of
from symplex.scenario.reading import fields_of
from symplex.scenario.sampling import Run
from symplex.scenario.scenario import Scenario
from symplex.scenario.tables import Tables
from symplex.time.composition import Composition
from symplex.time.implicit.implicit import IMPLICIT, ImplicitIntegrator
from symplex.time.implicit.midpoint import Midpoint
from symplex.time.langevin import Langevin
from symplex.time.solvers.newton import Newton

# Parameters that a scenario gives under another name, or by a table of another kind.
CALLED = {"linear": "solver", "axes": "align", "constraints": None}
# Keys that are no parameters of the method itself: of its composition, and where it runs.
AROUND = {"kind", "order", "substeps", "device"}
# Values of all keys other than their defaults, and what else must be given with them.
OTHER = {
    **{"dt": 0.25, "grid": 0.25, "step": 0.25, "solver": "dense", "iterations": 7, "tolerance": 1e-3, "halvings": 3},
    **{"safety": 0.5, "contact_safety": 0.4, "levels": 3, "layers": 1, "given": {"a": 1}, "compensated": True},
    **{"rho_inf": 0.3, "bounds": (0.5, 2.0), "hold": False, "carry": False, "variant": "simplified", "stiff": ["a"]},
    **{"guess": "predicted", "accelerations": "evaluated", "seed": 5, "offset": (0.1, 0.2, 0.3), "mirrored": True},
    **{"count_crossings": True, "stride": 0.5, "scheme": "kappa", "external": ["a"], "angle": "nodes"},
    **{"interpolant": "hermite", "gamma": 0.7, "beta": 0.3, "contact_steps": 4},
}
BY_KIND = {("hht", "alpha"): -0.2, ("midpoint", "alpha"): 0.3}
WITH = {
    ("newmark", "contact_safety"): {"dt": "auto"},
    ("newmark", "iterations"): {"beta": 0.25},
    ("newmark", "tolerance"): {"beta": 0.25},
    ("zhang-skeel", "tolerance"): {"variant": "push-forward"},
    ("newmark", "gamma"): {"beta": 0.5},
    ("newmark", "solver"): {"beta": 0.25},
    ("newmark", "halvings"): {"beta": 0.25},
    ("newmark", "safety"): {"dt": "auto"},
    ("graham-jelenic", "angle"): {"scheme": "exact-steady-motion"},
    ("zhang-skeel", "iterations"): {"variant": "push-forward"},
}


def method_of(kind, **keys):
    sizes = {name: 1.0 for name, field in fields_of(METHODS[kind]).items() if field.is_required and name != "kind"}
    sizes |= {"dt": 1.0} if "dt" in fields_of(METHODS[kind]) else {}
    table = METHODS[kind](**{"kind": kind, **sizes, **keys})
    return integrator_of(Tables(integrator=table, run=Run(duration=1.0)))


def parameters(method, table):
    """The values of the parameters of a method by the keys that give them."""
    found = {}
    for field in fields(method):
        value = getattr(method, field.name)
        if isinstance(value, Newton):
            found |= {"iterations": value.iterations, "solver": value.linear, "tolerance": value.tolerance}
            # Others refuse halvings, or have none.
            found |= {"halvings": value.halvings} if "halvings" in table.keys else {}
        elif CALLED.get(field.name, field.name) is not None:
            found[CALLED.get(field.name, field.name)] = value
    return found


@pytest.mark.parametrize("kind", METHODS)
def test_keys_and_parameters_are_the_same_and_reach_each_other(kind):
    table, method = METHODS[kind], method_of(kind)
    assert set(fields_of(table)) - AROUND == set(parameters(method, table))
    defaults = parameters(type(method)(**required(method)), table)
    for key in set(fields_of(table)) - AROUND - {"align"}:  # which is the normal of an obstacle
        if not fields_of(table)[key].is_required and key != "dt":
            assert parameters(method, table)[key] == defaults[key], key
        value = BY_KIND.get((kind, key), OTHER.get(key))
        given = parameters(method_of(kind, **{**WITH.get((kind, key), {}), key: value}), table)[key]
        assert np.array_equal(given, value) if isinstance(given, np.ndarray) else given == type(given)(value)
        assert key == "dt" or not np.array_equal(given, defaults[key])


@pytest.mark.parametrize("kind", METHODS)
def test_tables_can_be_pickled(kind):  # ranks get them so, although no module has their classes
    bare = {name: 1.0 for name, field in fields_of(METHODS[kind]).items() if field.is_required}
    table = METHODS[kind](**bare | {"kind": kind})
    again = pickle.loads(pickle.dumps(table))
    assert (type(again), again) == (type(table), table)
    assert again.given_keys == table.given_keys


def required(method):
    """Values for the parameters of a method that have no default."""
    from dataclasses import MISSING

    bare = [f for f in fields(method) if f.default is MISSING and f.default_factory is MISSING]
    return {field.name: {} if field.name == "constraints" else 1.0 for field in bare}


def test_the_thermostat_and_compositions_have_all_parameters():
    assert set(fields_of(Thermostat)) == {field.name for field in fields(Langevin)} - {"integrator"}
    assert {field.name for field in fields(Composition)} == {"integrator", "order", "scheme"}
    assert method_of("variational-midpoint", order=4, substeps="suzuki").scheme == "suzuki"


BODY = '[[body]]\nname = "a"\nmesh = { cube = "I" }\nmaterial = { young = 1e6, poisson = 0.3, density = 1000 }\n'
RUN = "[run]\nduration = 0.01\nframes = 1\n"


@pytest.mark.parametrize("bath", ["rate = 0", "friction = 0"])
def test_a_thermostat_may_be_without_friction_as_in_python(bath):
    text = BODY + RUN + '[integrator]\nkind = "newmark"\n[thermostat]\ntemperature = 300\n' + bath
    assert isinstance(Scenario.parse(text).build().integrator, Langevin)


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ('kind = "newmark"\ndt = 1e-4\ncontact_safety = 0.1', 'contact_safety goes with dt = "auto"; dt is 0.0001 s'),
        ('kind = "newmark"\niterations = 9', "iterations goes with the implicit members"),
        ('kind = "newmark"\ncontact_safety = 1.5', "contact_safety must be above 0 and at most 1, got 1.5"),
        ('kind = "multirate"\ncontact_safety = 1.5', "contact_safety must be above 0 and at most 1, got 1.5"),
        (
            'kind = "midpoint"\ndt = 1e-4\nalpha = 0.3\norder = 4',
            "order must be 1, got 4: the method must be symmetric",
        ),
        (
            'kind = "graham-jelenic"\ndt = 1e-4\nangle = "nodes"',
            "angle goes with the schemes energy-momentum-exact-angle and",
        ),
        ('kind = "zhang-skeel"\ndt = 1e-4\niterations = 9', 'iterations goes with the variant "push-forward"'),
    ],
)
def test_keys_that_would_have_no_effect_are_refused(keys, why):
    with pytest.raises(ScenarioError, match=f"\\[integrator\\]: {why}"):
        Scenario.parse(f"{BODY}{RUN}[integrator]\n{keys}\n")


@checked
@dataclass(frozen=True)
class Ours(ImplicitIntegrator):
    """A method that is the midpoint rule, with a parameter."""

    size: Annotated[float, positive("m", 2.0)] = 0.5
    order = 2
    conserves = frozenset()
    symmetric = True
    takes = IMPLICIT | {"composition"}

    def scheme(self, h):
        return Midpoint(abs(h)).scheme(h)


def test_a_class_declares_its_table():
    """Names, defaults, parts and composition follow from the class alone."""
    keys = keys_of(Ours)
    assert [*keys] == ["dt", "iterations", "solver", "halvings", "tolerance", "size", "order", "substeps"]
    assert keys["dt"].default is ...
    assert (keys["size"].quantity.unit, keys["size"].quantity.range, keys["size"].default) == ("m", "> 0, ≤ 2", 0.5)


@pytest.mark.parametrize(
    ("kind", "key", "value"),
    [
        ("midpoint", "dt", -1.0),
        ("midpoint", "alpha", 1.5),
        ("hht", "alpha", 0.5),
        ("newmark", "contact_safety", 2.0),
        ("newmark", "gamma", 0.1),
        ("multirate", "levels", 99),
        ("multirate", "safety", 1.0),
        ("zhang-skeel", "variant", "ful"),
        ("graham-jelenic", "scheme", "CM5"),
        ("graham-jelenic", "iterations", 0),
        ("force-stepping", "seed", -1),
    ],
)
def test_python_and_scenarios_refuse_a_value_by_one_sentence(kind, key, value):
    with pytest.raises(ValueError, match=f"^\\w+: {key} must be ") as in_python:
        INTEGRATORS[kind](**{"grid" if kind == "force-stepping" else "dt": 1.0} | {key: value})
    given = f'"{value}"' if isinstance(value, str) else value
    needed = {"force-stepping": "grid = 1e-3\n", "newmark": "", "multirate": ""}.get(
        kind, "dt = 1e-4\n" * (key != "dt")
    )
    with pytest.raises(ScenarioError, match=f"\\[integrator\\]: {key} must be ") as in_scenario:
        Scenario.parse(f'{BODY}{RUN}[integrator]\nkind = "{kind}"\n{needed}{key} = {given}\n')
    assert str(in_python.value).partition(": ")[2] == str(in_scenario.value).partition("[integrator]: ")[2]
