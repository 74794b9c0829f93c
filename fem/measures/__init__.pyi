"""Scalars of a stencil (lengths, constraints) and the energies that are laws of them."""

# Made by tests/write_stubs.py.
from symplex.fem.measures.anchors import Anchors as Anchors
from symplex.fem.measures.bars import Bars as Bars
from symplex.fem.measures.bars import all_pairs as all_pairs
from symplex.fem.measures.constraints import Constraint as Constraint
from symplex.fem.measures.constraints import OnCylinder as OnCylinder
from symplex.fem.measures.constraints import OnPlane as OnPlane
from symplex.fem.measures.constraints import OnSphere as OnSphere
from symplex.fem.measures.constraints import RigidBars as RigidBars
from symplex.fem.measures.force_table import ForceTable as ForceTable
from symplex.fem.measures.inelastic_bars import InelasticBars as InelasticBars
from symplex.fem.measures.inelastic_bars import LengthLaw as LengthLaw
from symplex.fem.measures.pair_laws import CompressionOnly as CompressionOnly
from symplex.fem.measures.pair_laws import EngineeringStrain as EngineeringStrain
from symplex.fem.measures.pair_laws import GreenStrain as GreenStrain
from symplex.fem.measures.pair_laws import InverseDistance as InverseDistance
from symplex.fem.measures.pair_laws import InverseSquare as InverseSquare
from symplex.fem.measures.pair_laws import LennardJones as LennardJones
from symplex.fem.measures.pair_laws import PairLaw as PairLaw
from symplex.fem.measures.pair_laws import TensionOnly as TensionOnly
from symplex.fem.measures.penalty import Penalty as Penalty
from symplex.fem.measures.separation import BreakingBar as BreakingBar
from symplex.fem.measures.separation import TractionSeparation as TractionSeparation
from symplex.fem.measures.short_range import ShortRangeLennardJones as ShortRangeLennardJones
