"""The schemes of `GrahamJelenic` by name, with the abbreviations of Graham and Jelenić's paper."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from symplex.time.conserving.algorithm_mc import ConservingScheme
from symplex.time.conserving.cayley_magnus import CayleyMagnus4, CayleyMagnus6, CayleyMagnus8
from symplex.time.conserving.conserving_schemes import (
    AssumedDistance,
    EnergyMomentumExactAngle,
    EnergyMomentumScheme,
    ExactSteadyMotion,
    Kappa,
    MomentumConserving4,
    SymplecticMomentum,
)

Scheme = Literal[
    "symplectic-momentum",
    "energy-momentum",
    "assumed-distance",
    "kappa",
    "energy-momentum-exact-angle",
    "exact-steady-motion",
    "momentum-conserving-4",
    "cayley-magnus-4",
    "cayley-magnus-6",
    "cayley-magnus-8",
]
Abbreviation = Literal["SM", "EM", "EM-theta", "A-theta", "M4", "CM4", "CM6", "CM8"]

SCHEMES: Mapping[str, type[ConservingScheme]] = {
    "symplectic-momentum": SymplecticMomentum,
    "energy-momentum": EnergyMomentumScheme,
    "assumed-distance": AssumedDistance,
    "kappa": Kappa,
    "energy-momentum-exact-angle": EnergyMomentumExactAngle,
    "exact-steady-motion": ExactSteadyMotion,
    "momentum-conserving-4": MomentumConserving4,
    "cayley-magnus-4": CayleyMagnus4,
    "cayley-magnus-6": CayleyMagnus6,
    "cayley-magnus-8": CayleyMagnus8,
}
# Of the paper, and for the Cayley-Magnus schemes, which are not in it, in its manner.
ABBREVIATIONS: Mapping[str, Scheme] = {
    "SM": "symplectic-momentum",
    "EM": "energy-momentum",
    "EM-theta": "energy-momentum-exact-angle",
    "A-theta": "exact-steady-motion",
    "M4": "momentum-conserving-4",
    "CM4": "cayley-magnus-4",
    "CM6": "cayley-magnus-6",
    "CM8": "cayley-magnus-8",
}
