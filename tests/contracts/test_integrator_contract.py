"""What every integrator must keep: its declared order, what it says it conserves, its symmetry, its checkpoints.

The checks are those of `symplex.testing`. A new scheme follows from the catalogue; another
method is one more row in ``CASES``.
"""

import importlib
import pkgutil
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import symplex.time
from reference.promises import try_all
from symplex.device.motion import OnDevice
from symplex.errors import StepFailed, UnstableStep
from symplex.testing import integrators
from symplex.testing.integrators import Case, body, symplectic_defect
from symplex.time.catalogue import catalogue
from symplex.time.composition import Composition
from symplex.time.conserving.energy_momentum import EnergyMomentum
from symplex.time.conserving.graham_jelenic import GrahamJelenic
from symplex.time.conserving.schemes import Scheme
from symplex.time.events.force_stepping import ForceStepping
from symplex.time.explicit.multirate import Multirate
from symplex.time.explicit.newmark import Newmark
from symplex.time.implicit.generalized_alpha import HilberHughesTaylor
from symplex.time.implicit.implicit import ImplicitIntegrator
from symplex.time.implicit.midpoint import Midpoint
from symplex.time.integrator import Integrator
from symplex.time.reductions.jacobi_reduction import JacobiReduction
from symplex.time.variational.adaptive_variational import AdaptiveVariational
from symplex.time.variational.zhang_skeel import ZhangSkeel

CASES = {
    "Newmark": Case(
        make=lambda dt, seed: Newmark(dt=dt),
        sizes=(0.02, 0.01, 0.005),
        size=0.05,
        impossible=lambda: Newmark(dt=1.0),
        refusal=UnstableStep,
    ),
    "OnDevice": Case(  # in numba's simulator
        make=lambda dt, seed: OnDevice(Newmark(dt=dt)),
        sizes=(0.04, 0.02, 0.01),
        size=0.05,
        impossible=lambda: OnDevice(Newmark(dt=1.0)),
        refusal=UnstableStep,
        looks=2,
        slow=True,
    ),
    "ForceStepping": Case(
        make=lambda h, seed: ForceStepping(grid=h, seed=seed),
        sizes=(0.02, 0.005, 0.00125),
        size=0.02,
        impossible=lambda: ForceStepping(grid=5.0),
        refusal=StepFailed,
        seeds=range(16),
        order_tolerance=0.25,
        round_off=1e-11,
        steps=2,
        nudge=1e-7,
    ),
    "JacobiReduction": Case(
        make=lambda h, seed: JacobiReduction(ForceStepping(grid=h, seed=seed)),
        sizes=(0.03, 0.0075, 0.001875),
        size=0.02,
        impossible=lambda: JacobiReduction(ForceStepping(grid=5.0)),
        refusal=StepFailed,
        seeds=range(8),
        order_tolerance=0.25,
        round_off=1e-11,
        steps=2,
        nudge=1e-7,
    ),
}


def implicit(make, sizes=(0.04, 0.02, 0.01), size=0.05, **options):
    """A case of a method that is solvable at any step: what it refuses is a step that is none."""
    return Case(lambda dt, seed: make(dt), sizes, size, lambda: make(0.0), ValueError, looks=8, **options)


# All of the catalogue that are a scheme, and those that need sizes of their own.
CASES |= {name: implicit(type(of)) for name, of in catalogue().items() if isinstance(of, ImplicitIntegrator)}
CASES |= {
    "AdaptiveVariational": replace(implicit(AdaptiveVariational), looks=2, exact_loads=False),  # of loads nearly
    "Midpoint, alpha = 0.3": implicit(lambda dt: Midpoint(dt, alpha=0.3), sizes=(0.004, 0.002, 0.001)),
    "Newmark, trapezoidal": implicit(Newmark.trapezoidal),
    "Newmark, damped": implicit(lambda dt: Newmark(dt, beta=0.36, gamma=0.7), sizes=(0.004, 0.002, 0.001)),
    "HilberHughesTaylor": implicit(lambda dt: HilberHughesTaylor(dt, alpha=-0.2), sizes=(0.02, 0.01, 0.005)),
    "Composition": implicit(
        lambda dt: Composition(EnergyMomentum(dt), scheme="triple jump"), sizes=(0.04, 0.02, 0.01), size=0.2
    ),
    "Composition, explicit": implicit(lambda dt: Composition(Newmark(dt)), sizes=(0.1, 0.05, 0.025), size=0.1),
}


def in_turns(x):
    """Levels 0, 1, 2, 0, … of stencils at x [m, k, dim]."""
    return np.arange(len(x)) % 3


CASES |= {
    "Multirate": Case(
        make=lambda dt, seed: Multirate(dt, given={"solid": in_turns}),
        sizes=(0.02, 0.01, 0.005),
        size=0.05,
        impossible=lambda: Multirate(2.0, levels=1),
        refusal=UnstableStep,
    ),
}


def graham_jelenic(scheme, sizes=(0.04, 0.025, 0.02), size=0.05, interpolant="stable"):
    """A case of one of Graham and Jelenić's methods."""
    case = implicit(lambda dt: GrahamJelenic(dt, scheme, interpolant=interpolant), sizes, size)
    return replace(case, looks=1, steps=1)


CASES |= {
    "GrahamJelenic, assumed-distance": graham_jelenic("assumed-distance"),
    # κ − 1 has a pole where the power of ∇V vanishes: the error is h² times what depends on where the steps fall there,
    # 106 to 150 for 50 to 240 steps, no less for short ones. So two steps far apart.
    "GrahamJelenic, kappa": replace(graham_jelenic("kappa", sizes=(0.04, 0.01)), order_tolerance=0.25),
    "GrahamJelenic, EM-theta": graham_jelenic("energy-momentum-exact-angle"),
    "GrahamJelenic, A-theta": graham_jelenic("exact-steady-motion"),
    "GrahamJelenic, M4": graham_jelenic("momentum-conserving-4", sizes=(0.1, 0.0625, 0.05), size=0.1),
    "GrahamJelenic, CM4": graham_jelenic("cayley-magnus-4", sizes=(0.1, 0.0625, 0.05), size=0.1),
    "GrahamJelenic, CM6": graham_jelenic("cayley-magnus-6", sizes=(0.1, 0.0625, 0.05), size=0.15),
    "GrahamJelenic, CM8": graham_jelenic("cayley-magnus-8", sizes=(0.1, 0.0625, 0.05), size=0.16),
}


def hermite(scheme, sizes=(0.1, 0.0625, 0.05)):
    """A case of one with Hermite's interpolant, which has a stability limit."""
    return replace(
        graham_jelenic(scheme, sizes, size=0.15, interpolant="hermite"),
        impossible=lambda: GrahamJelenic(1.0, scheme, interpolant="hermite"),
        refusal=UnstableStep,
    )


CASES |= {
    "GrahamJelenic, CM4, hermite": hermite("cayley-magnus-4", sizes=(0.0625, 0.05, 0.04)),
}


def zhang_skeel(**options):
    """A case of Zhang and Skeel's method."""
    return implicit(lambda dt: ZhangSkeel(dt, **options), sizes=(0.02, 0.01, 0.005))


CASES |= {
    "ZhangSkeel": zhang_skeel(),
    "ZhangSkeel, simplified": zhang_skeel(variant="simplified"),
    "ZhangSkeel, push-forward": zhang_skeel(variant="push-forward"),
    "ZhangSkeel, beta = 0.1": Case(
        make=lambda dt, seed: ZhangSkeel(dt, beta=0.1),
        sizes=(0.02, 0.01, 0.005),
        size=0.05,
        impossible=lambda: ZhangSkeel(1.0, beta=0.1),
        refusal=UnstableStep,
        looks=8,
    ),
    "Composition, ZhangSkeel": implicit(lambda dt: Composition(ZhangSkeel(dt)), sizes=(0.05, 0.025, 0.0125), size=0.1),
}


def composed_graham_jelenic(scheme, order=4, sizes=(0.08, 0.05, 0.04), size=0.15):
    """A case of the composition of one of Graham and Jelenić's methods."""
    make = implicit(lambda dt: Composition(GrahamJelenic(dt, scheme), order), sizes, size)
    return replace(make, looks=1, steps=1)


CASES |= {
    "Composition, GrahamJelenic SM": composed_graham_jelenic("symplectic-momentum"),
    "Composition, GrahamJelenic EM": composed_graham_jelenic("energy-momentum"),
}
# Each scheme, each interpolant and a composition are in the fast suite; other pairs have no code of their own.
CASES |= {
    name: replace(made, slow=True)
    for name, made in {
        "GrahamJelenic, SM": graham_jelenic("symplectic-momentum"),
        "GrahamJelenic, EM": graham_jelenic("energy-momentum"),
        "GrahamJelenic, CM6, hermite": hermite("cayley-magnus-6"),
        "GrahamJelenic, CM8, hermite": hermite("cayley-magnus-8"),
        "Composition, GrahamJelenic CM4": composed_graham_jelenic("cayley-magnus-4", 6),
        "Composition, GrahamJelenic assumed-distance": composed_graham_jelenic("assumed-distance"),
        "Composition, GrahamJelenic EM-theta": composed_graham_jelenic("energy-momentum-exact-angle"),
        "Composition, GrahamJelenic A-theta": composed_graham_jelenic("exact-steady-motion"),
        "Composition, GrahamJelenic M4": composed_graham_jelenic("momentum-conserving-4", 6),
        "Composition, GrahamJelenic CM6": replace(
            composed_graham_jelenic("cayley-magnus-6", 8, sizes=(0.1, 0.0625), size=0.25), order_tolerance=0.3
        ),
        "Composition, trapezoidal": implicit(
            lambda dt: Composition(Newmark.trapezoidal(dt)), sizes=(0.08, 0.05, 0.04), size=0.15
        ),
        "JacobiReduction, Composition": implicit(
            lambda dt: JacobiReduction(Composition(EnergyMomentum(dt))), sizes=(0.08, 0.05, 0.04), size=0.2
        ),
    }.items()
}


@pytest.fixture(params=[pytest.param(name, marks=[pytest.mark.slow] * made.slow) for name, made in CASES.items()])
def case(request):
    return CASES[request.param]


def test_every_integrator_is_held_to_it():
    """But for those whose systems are of other kinds, which have tests of their own."""

    def all_of(kind):
        return {kind, *(inner for sub in kind.__subclasses__() for inner in all_of(sub))}

    for module in pkgutil.walk_packages(symplex.time.__path__, "symplex.time."):
        importlib.import_module(module.name)
    ours = {
        kind
        for kind in all_of(Integrator)
        if kind.__module__.startswith("symplex.time.") and not kind.__abstractmethods__
    }
    held = {type(made.make(made.size, 0)) for made in CASES.values()}
    others = {"PolarReduction", "Rattle", "Shake", "Langevin", "Static", "Stages"}
    assert {kind.__name__ for kind in ours - held} == others
    schemes = {method.scheme for made in CASES.values() if isinstance(method := made.make(made.size, 0), GrahamJelenic)}
    assert schemes == set(Scheme.__args__)


def test_a_method_that_is_not_symplectic_is_found_out():
    system, q, v = body(slice(0, 2))
    forward_euler = lambda q, v: (q + 0.05 * v, v + 0.05 * system.state(q, v).a)  # noqa: E731
    assert symplectic_defect(system, q, v, forward_euler) > 1e-4


def test_integrators_keep_what_they_promise(case):
    def tried(check):
        with pytest.MonkeyPatch.context() as patch:
            for name in ("_EVENTS_AT_FIRST", "_EVENTS_AT_ONCE"):  # so that motions stop on their way
                if check.name == "a_motion_stopped_on_its_way_goes_on_bit_identically":
                    patch.setattr(f"symplex.time.events.lattice_motion.{name}", 37)
            check(case)

    try_all((name, partial(tried, check)) for name, check in integrators.CHECKS.items())
