"""What methods declare to need and to take is what they do: what is declared runs, all else is refused."""

import importlib.util
from dataclasses import replace
from functools import partial
from typing import get_args

import numpy as np
import pytest
from scipy.sparse import csr_array

import symplex as sx
from reference.promises import try_all
from symplex.device.motion import OnDevice
from symplex.errors import InvalidSystem
from symplex.fem.energies.contact_energy import ContactEnergy
from symplex.fem.energies.energy import Energy
from symplex.fem.structures.frames import Frames
from symplex.fem.structures.joints import Joint
from symplex.parallel.motion import InParts
from symplex.time.catalogue import catalogue
from symplex.time.composition import Composition
from symplex.time.equilibria.quasi_static import Static
from symplex.time.integrator import FixedStepIntegrator, Integrator
from symplex.time.langevin import Langevin
from symplex.time.reductions.jacobi_reduction import JacobiReduction
from symplex.time.reductions.polar_reduction import PolarReduction
from symplex.time.stages import Stages
from symplex.time.traits import FEATURES, FORMS, Trait, runs_on

STEP, GRID, TERRACE = 0.02, 0.02, 1e-3  # s, m, J
PARTS = {"discrete_hessian": "discrete_gradient", "secant_rate": "secant"}
Q = np.array([[0, 0, 0], [1, 0, 0], [0.5, 0.9, 0], [0.5, 0.3, 0.8]])
V = np.array([[0, 0, 0], [0, 0, 0], [0.1, -0.2, 0.3], [-0.3, 0.1, 0.2]])
MASS = np.array([1.0, 1.2, 0.9, 1.5])


def springs():
    return sx.Bars(sx.measures.all_pairs(4), sx.measures.EngineeringStrain(2.0, 0.8), 3)


def viscoelastic():
    solid = sx.Solid(Q, [[0, 1, 2, 3]], sx.NeoHookean(2.0, 1.0, 1.0))
    return sx.Viscoelastic(solid, [1.0, 2.0], [0.1, 1.0])


def with_history():
    part = viscoelastic()
    part.history = True
    return part


def spy(forms, used, base=Energy):
    """Springs with the given forms only, which note what is used of them."""
    inner = springs()

    def method(name):
        def call(self, *arguments):
            used.add(PARTS.get(name, name))
            of_energy = getattr(Energy, name) if name == "lattice_functions" else getattr(type(inner), name)
            return of_energy(self if name == "lattice_functions" else inner, *arguments)

        return call

    known = {*forms, "gradient", "hessian", "discrete_gradient"}
    names = [name for name in (*FORMS, *PARTS) if PARTS.get(name, name) in known]
    functions = {name: method(name) for name in names} | {"value": lambda self, x: inner.value(x)}
    functions |= {"contact_stiffness_bound": lambda self, n_nodes: np.zeros(n_nodes)} if base is ContactEnergy else {}
    return type("Spy", (base,), functions | {"nodes": inner.nodes})()


def sized(method, constraints=None):
    """A method of the catalogue with a size that runs."""
    size = {"dt": STEP, "grid": GRID, "step": TERRACE}
    more = (
        {"constraints": constraints or {"rod": sx.measures.RigidBars([[0, 1]], 1.0)}}
        if "constraints" in method.takes
        else {}
    )
    name = next(name for name in size if hasattr(method, name) and isinstance(getattr(method, name), float))
    return replace(method, **{name: size[name]}, **more)


def has(feature):
    """A system with a feature, and no other."""
    options = {
        "supports": {"fixed": np.arange(4)[:, None] == [3, 3, 3]},
        "moving supports": {
            "moving": {"lift": sx.actions.SupportTranslation([3], "z", sx.actions.TimeFunction.steady(0.1))}
        },
        "loads": {"loads": {"push": lambda t, q, v: np.full_like(q, 0.1 * np.sin(t)) - 0.1 * v}},
        "internal variables": {"inelastic": {"visco": viscoelastic()}},
        "history": {"inelastic": {"metal": with_history()}},
        "massless nodes": {"massless": MASS == 0.9},
        "frames": {"frames": Frames([[0, 1, 2, 3]], Q)},
        "joints": {
            "frames": Frames([[0, 1, 2, 3]], Q),
            "joints": {"ball": Joint("spherical", ([0, 1, 2, 3], None), Q, Q.mean(axis=0))},
        },
    }
    options["moving joints"] = {
        "frames": Frames([[0, 1, 2, 3]], Q),
        "joints": {
            "axle": Joint(
                *("revolute", ([0, 1, 2, 3], None), Q, Q.mean(axis=0), V[3]),
                angle=sx.actions.TimeFunction.steady(np.linalg.norm(V[3])),
            )
        },
    }
    mass = MASS
    if feature == "changing stencils":
        return sx.System(MASS, {"argon": sx.measures.ShortRangeLennardJones(0.1, 0.8, cutoff=1.5)})
    if feature == "barriers":
        forms = {"gradient", "hessian", "discrete_gradient"}
        wall = spy(forms, set(), ContactEnergy)
        wall.bounded_stiffness = False
        return sx.System(MASS, {"wall": wall})
    if feature in ("consistent mass", "jumping supports"):
        mass = csr_array(np.diag(MASS) + 0.1)
    if feature == "massless nodes":
        mass = np.where(MASS == 0.9, 0.0, MASS)
    if feature == "jumping supports":
        start = sx.actions.TimeFunction.table([0, 0.1, 1], [0, 0, 0.9], smooth=False)
        options[feature] = {"moving": {"hammer": sx.actions.SupportTranslation([3], "z", start)}}
    return sx.System(mass, {"springs": springs()}, **options.get(feature, {}))


NEEDED_FOR = {
    "history": {"internal variables"},
    "jumping supports": {"consistent mass", "moving supports"},
    "joints": {"frames"},
    "moving joints": {"joints", "frames"},
}  # that feature comes with these


@pytest.fixture(params=catalogue())
def method(request):
    return sized(catalogue()[request.param])


def moved(method, system, t=3 * STEP):
    internal = {name: part.unstrained() for name, part in system.inelastic.items()}
    of_center = np.zeros(3) if system.joints else V[2]
    v = system.frames.velocities(Q, of_center, V[3]) if system.frames else np.where(system.fixed, 0.0, V)
    state = sx.State(0.0, Q, v, np.zeros_like(Q), internal=internal)
    end = method.start(system, state).advance(t)
    assert np.isfinite(end.q).all()
    assert np.abs(end.q - Q).max() > 1e-4


def test_every_method_is_in_the_catalogue_and_its_words_are_known():
    def all_of(kind):
        return {kind, *(inner for sub in kind.__subclasses__() for inner in all_of(sub))}

    ours = {k for k in all_of(Integrator) if k.__module__.startswith("symplex.") and not k.__abstractmethods__}
    around = {Composition, Langevin, JacobiReduction, PolarReduction, Stages}
    around |= {InParts, OnDevice}  # explicit Newmark, as the first of several processes sees it, and on a device
    assert {type(method) for method in catalogue().values()} == ours - around - {
        Static
    }  # which moves nothing by itself
    for method in catalogue().values():
        assert method.needs <= set(FORMS)
        assert method.takes <= {word for part in get_args(Trait) for word in get_args(part)}
        assert not method.takes & method.why_not.keys()


def test_the_forms_that_are_declared_are_those_that_are_used(method):
    used = set()
    system = sx.System(MASS, {"springs": spy(method.needs, used)})
    moved(method, system)
    if isinstance(method, FixedStepIntegrator):  # those that need factors, or equations of their own
        moved(replace(method, dt=0.25), system, 0.5)
    assert used == method.needs


def test_a_form_that_is_missing_is_refused(method):
    for form in method.needs & {"secant", "third"}:
        system = sx.System(MASS, {"springs": spy(method.needs - {form}, set())})
        with pytest.raises(
            InvalidSystem, match=r"energy 'springs' \(Spy\) has no .*; or take a method that"
        ) as reported:
            moved(method, system)
        assert_advice(
            str(reported.value).partition("(Spy)")[2].partition("without (")[2].partition(")")[0], system, method
        )


def test_features_are_taken_or_refused(method):
    try_all((feature, partial(take_or_refuse, method, feature)) for feature in FEATURES if feature != "constraints")


def take_or_refuse(method, feature):
    system = has(feature)
    if feature in ("frames", "joints", "moving joints") and "constraints" in method.takes:
        method = replace(method, constraints={})  # the rods of the frame
    if {feature, *NEEDED_FOR.get(feature, ())} <= method.takes:
        assert runs_on(method, system)
        moved(method, system)
        return
    assert not runs_on(method, system)
    with pytest.raises(InvalidSystem) as reported:
        moved(method, system)
    sentence = str(reported.value)
    assert sentence.startswith(method.name)
    assert "\n" not in sentence
    assert_advice(sentence.rpartition("; ")[2].removeprefix("take ").removesuffix("."), system, method)


def assert_advice(names, system, method):
    """Methods that a refusal names run."""
    if names == "no other method runs on this system":
        assert "constraints" in method.takes
        return
    others = [name for name in names.split(", ") if name != "…"]
    assert others
    for name in others:
        assert runs_on(catalogue()[name], system)


def test_compositions_of_it_run_or_are_refused(method):
    if "composition" in method.takes:
        if method.order < 8:  # there is no higher one
            moved(Composition(method, next(order for order in (4, 6, 8) if order > method.order)), has(""))
        return
    with pytest.raises(ValueError, match=r"Composition: .*(cannot be composed: |has no fixed step|must be symmetric)"):
        Composition(method, 8)


def test_friction_and_noise_after_its_steps_run_or_are_refused(method):
    bath = Langevin(method, 0.01, rate=0.5, boltzmann=1.0)
    if "thermostat" in method.takes:
        moved(bath, has(""))
        return
    with pytest.raises(InvalidSystem, match=r"Langevin: .*(cannot be followed|has no fixed step)"):
        moved(bath, has(""))


def test_methods_around_another_take_what_that_takes():
    system = has("moving supports")
    moved(Composition(sx.EnergyMomentum(STEP)), system)
    moved(Langevin(sx.EnergyMomentum(STEP), 0.01, rate=0.5, boltzmann=1.0), system)
    with pytest.raises(InvalidSystem, match=r"^Langevin needs a lumped \(diagonal\) mass"):
        moved(Langevin(sx.EnergyMomentum(STEP), 0.01, rate=0.5, boltzmann=1.0), has("consistent mass"))
    with pytest.raises(InvalidSystem, match=r"^VariationalMidpoint cannot move supports"):
        moved(Composition(sx.VariationalMidpoint(STEP)), system)
    with pytest.raises(InvalidSystem, match=r"^JacobiReduction is for systems that are free to move"):
        moved(JacobiReduction(sx.Newmark(STEP)), has("supports"))


def test_the_table_of_integrators_is_up_to_date(pytestconfig):
    spec = importlib.util.spec_from_file_location("traits", pytestconfig.rootpath / "benchmarks" / "traits.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    text = script.PAGE.read_text("utf-8")
    assert script.written(text) == text, "write it again: python benchmarks/traits.py"
