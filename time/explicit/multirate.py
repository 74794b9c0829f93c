"""Explicit Newmark with local time steps."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import Annotated, Literal, final

import numpy as np

from symplex.base.arguments import checked, described
from symplex.base.columns import count_column
from symplex.base.quantities import positive, positive_or_auto, whole
from symplex.errors import InvalidSystem, StepFailed, UnstableStep
from symplex.fem.system import State, System
from symplex.time.explicit.local_gain import best_step, cost, requested_steps
from symplex.time.explicit.local_levels import MOST, Given, finest
from symplex.time.explicit.local_rates import Rates, Safety, rates_of
from symplex.time.explicit.multirate_motion import MultirateMotion
from symplex.time.integrator import STEPS, FixedStepIntegrator, dividing

# The largest frequency of stencils of a level and below is 2 safety/h; the level below kicks every 2 h. A swing that
# both share, in whatever parts, is first in resonance with these kicks at safety 0.635 (docs/local-steps.md).
MOST_LAYERS = 100
MOST_SAFE = 0.63
_CANDIDATES = 16  # of largest steps between one and its double


@partial(checked, but=("given",))
@final
@dataclass(frozen=True)
class Multirate(FixedStepIntegrator["MultirateMotion"]):
    """Explicit Newmark whose elements take their own steps: dt, dt/2, dt/4, … .

    Each stencil, an element or a bar, has a level l by what is stable for it, and acts at the multiples of
    h_l = dt/2ˡ, with

    v −= h_l M⁻¹ ∇φ_e(q)    (half of it at the beginning and end of dt),

    between which its nodes drift, q += h v. It is the asynchronous variational integrator of Lew, Marsden, Ortiz and
    West (2003, 2004) with steps in powers of two, or reversible r-RESPA (Tuckerman, Berne and Martyna 1992). It is
    symplectic, symmetric, of second order, and keeps both momenta: the forces of each stencil are balanced.

    Parameters
    ----------
    dt : float or "auto"
        The largest step in s, and the grid of times at which there are states; ``"auto"`` takes the cheapest. Halve
        ``safety`` with it for a quarter of the error.
    levels : int, default 10
        How many times dt may be halved.
    layers : int, default 2
        Layers of stencils around those of a level that have at least the level below it.
    safety : float, default 0.6
        Fraction of the stability limit per level, at most 0.63: above, levels may be in resonance
        (docs/local-steps.md). One level for all may be at 4/3 of it.
    contact_safety : float, default 0.2
        As for `Newmark`.
    given : mapping of str to int, sequence of int, or callable, optional
        Levels of the stencils of energies by name: one for all, one for each, or a function of their positions
        [m, k, dim]; those of other energies are found.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    """

    dt: Annotated[float | Literal["auto"], positive_or_auto("s")] = "auto"
    levels: Annotated[int, whole(0, MOST)] = 10
    layers: Annotated[int, whole(0, MOST_LAYERS)] = 2
    safety: Annotated[float, positive("1", MOST_SAFE)] = 0.6
    contact_safety: Annotated[float, positive("1", 1.0)] = 0.2
    given: Mapping[str, Given] = field(default_factory=dict)

    kind = "multirate"
    order = 2
    conserves = frozenset({"momentum", "angular momentum", "symplectic form"})
    symmetric = True
    takes = frozenset({"supports", "moving supports", "jumping supports", "loads", "changing stencils", "thermostat"})
    columns = (STEPS, count_column("substeps"))
    why_not = MappingProxyType({"composition": "its levels belong to steps of one size"})

    def __post_init__(self):
        if not isinstance(self.given, Mapping):
            got = described(self.given)
            raise ValueError(f"Multirate: given must be a mapping of names of energies to levels, got {got}.")

    @property
    def safeties(self) -> Safety:
        """Both safeties together."""
        return Safety(self.safety, self.contact_safety)

    def _motion(self, system: System, t0: float, dt: float, n: int) -> MultirateMotion:
        return MultirateMotion(self, system, t0, dt, n)  # pyright: ignore[reportArgumentType]

    def _step_size(self, system: System, state: State) -> float:
        """Return dt in s, chosen or checked against how often it may be halved."""
        rates = self.rates(system, state)
        if self.dt == "auto":
            if rates.whole == math.inf:
                raise StepFailed(
                    'Multirate: dt = "auto" needs an energy with stiffness where something is free; give dt in seconds.'
                )
            return best_step(requested_steps(system, rates), rates, self.levels)
        if rates.whole < np.inf and finest(rates, self.dt) > self.levels:
            raise UnstableStep(
                f"dt = {self.dt:.4g} s halved {self.levels} times is above the {rates.whole:.4g} s that the "
                f"stiffest elements need. Take dt = {rates.whole * 2.0**self.levels:.3g} s at most, or more levels "
                f"(up to {MOST})."
            )
        return float(self.dt)

    def fit(self, system: System, state: State, interval: float) -> Multirate:
        """Return the method with a largest step that divides an interval in s, as good as there is one below dt.

        Raises
        ------
        UnstableStep, InvalidSystem, StepFailed
            As `start`.
        """
        longest = dividing(self._step_size(system, state), interval)
        if self.dt != "auto":
            return replace(self, dt=longest)
        steps = round(interval / longest)
        rates = self.rates(system, state)
        candidates = [interval / (steps + k) for k in range(min(steps + 1, _CANDIDATES))]
        candidates.append(dividing(rates.alone, interval))
        requested = requested_steps(system, rates)
        return replace(self, dt=min(candidates, key=lambda dt: cost(requested, rates, dt)))

    def rates(self, system: System, state: State) -> Rates:
        """Return the steps that a system and its nodes ask for at a state.

        Raises
        ------
        InvalidSystem
            If levels are given for an energy that is none of the system's.
        StepFailed
            If no frequency is found.
        """
        for name in self.given:
            if name not in system.energies:
                known = ", ".join(map(repr, system.energies)) or "none"
                raise InvalidSystem(f"Multirate: there is no energy '{name}' to give levels to; there are {known}.")
        return rates_of(system, state.q, system.held(state.t, state.v), self.safeties)
