"""Scalars of a stencil (lengths, constraints) and the energies that are laws of them."""

# Made by tests/write_stubs.py.
from symplex.fem.measures.bars import Bars as Bars, all_pairs as all_pairs
from symplex.fem.measures.constraints import (
    Constraint as Constraint,
    OnCylinder as OnCylinder,
    OnPlane as OnPlane,
    OnSphere as OnSphere,
    RigidBars as RigidBars,
)
from symplex.fem.measures.pair_laws import (
    CompressionOnly as CompressionOnly,
    EngineeringStrain as EngineeringStrain,
    GreenStrain as GreenStrain,
    InverseDistance as InverseDistance,
    InverseSquare as InverseSquare,
    LennardJones as LennardJones,
    PairLaw as PairLaw,
    TensionOnly as TensionOnly,
)
from symplex.fem.measures.penalty import Penalty as Penalty
from symplex.fem.measures.short_range import ShortRangeLennardJones as ShortRangeLennardJones
