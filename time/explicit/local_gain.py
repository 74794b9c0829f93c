"""What local time steps may gain: how many stencils are looked at, against explicit Newmark in its own step."""

from __future__ import annotations

import math

import numpy as np

from symplex.fem.energies.energy import Array
from symplex.fem.system import State, System
from symplex.time.explicit.local_levels import is_one_level
from symplex.time.explicit.local_rates import Rates, steady
from symplex.time.explicit.newmark import Newmark

# How many times more stencils are looked at than would like to be, as those around them are: 1.1 to 1.3 times.
_AROUND = 1.2
_OF_A_LEVEL = 40.0  # stencils that could be looked at in the time that each step of a level takes besides its own


def requested_steps(system: System, rates: Rates) -> Array:
    """Return the steps in s that the stencils of more than one node ask for; those that take any have none."""
    energies = [energy for energy in steady(system).values() if energy.nodes.shape[1] > 1 and len(energy.nodes)]
    requested = [rates.nodes[energy.nodes].min(axis=1) for energy in energies]
    steps = np.concatenate(requested) if requested else np.empty(0)
    return np.maximum(steps[np.isfinite(steps)], rates.whole)


def evaluations(requested: Array, rates: Rates, dt: float) -> float:
    """Return how many stencils that want steps in s are looked at in a second, with a largest step dt in s, about."""
    if is_one_level(rates, dt):
        return len(requested) / dt
    return float(_AROUND * (2.0 ** np.maximum(np.ceil(np.log2(dt / requested)), 0.0)).sum() / dt)


def cost(requested: Array, rates: Rates, dt: float) -> float:
    """Return the work of a second in evaluations of stencils, with that which each finer step of a level takes."""
    levels = 0.0 if is_one_level(rates, dt) else 2.0 ** math.ceil(math.log2(dt / rates.whole) + 1.0) - 1.0
    return evaluations(requested, rates, dt) + _OF_A_LEVEL * levels / dt


def best_step(requested: Array, rates: Rates, levels: int, candidates: int = 16, few: float = 0.02) -> float:
    """Return the largest step in s, halved so often at most, that costs least: that of one level if others don't pay.

    A still larger one for the few stencils that could take it gains nothing.
    """
    most = float(np.quantile(requested, 1.0 - few)) if len(requested) else rates.whole
    halvings = min(max(int(math.log2(max(most / rates.whole, 1.0))), 0), levels)
    shifts = 0.5 ** (np.arange(candidates) / candidates)
    sizes = [*(rates.whole * 2.0**halvings * shifts).tolist(), rates.alone]
    return min(sizes, key=lambda dt: cost(requested, rates, dt))


def newmark_evaluations(system: System, state: State) -> float:
    """Return how many stencils of more than one node explicit Newmark looks at in a second, in its own step."""
    stencils = sum(len(energy.nodes) for energy in steady(system).values() if energy.nodes.shape[1] > 1)
    return stencils / Newmark("auto")._step_size(system, state)


def expected_gain(system: System, state: State) -> float:
    """Return how many times fewer stencils local time steps look at than explicit Newmark, about.

    By what each stencil asks for; `MultirateMotion.gain` is that of the levels as they are.
    """
    from symplex.time.explicit.multirate import Multirate

    method = Multirate()
    rates = method.rates(system, state)
    requested = requested_steps(system, rates)
    dt = best_step(requested, rates, method.levels)
    return newmark_evaluations(system, state) / evaluations(requested, rates, dt) if len(requested) else 1.0
