"""Elastic bodies: elements, laws, and the compiled loops over them."""

# Made by tests/write_stubs.py.
from symplex.fem.solids.anisotropic import AnisotropicElastic as AnisotropicElastic
from symplex.fem.solids.constitutive import Material as Material
from symplex.fem.solids.eroding import Eroding as Eroding
from symplex.fem.solids.eroding import JohnsonCookFailure as JohnsonCookFailure
from symplex.fem.solids.formula import FormulaMaterial as FormulaMaterial
from symplex.fem.solids.formula import material as material
from symplex.fem.solids.hardening import Hardening as Hardening
from symplex.fem.solids.materials import LinearElastic as LinearElastic
from symplex.fem.solids.materials import MooneyRivlin as MooneyRivlin
from symplex.fem.solids.materials import NeoHookean as NeoHookean
from symplex.fem.solids.materials import SaintVenantKirchhoff as SaintVenantKirchhoff
from symplex.fem.solids.plastic import Plastic as Plastic
from symplex.fem.solids.solid import Solid as Solid
from symplex.fem.solids.viscoelastic import Viscoelastic as Viscoelastic
from symplex.fem.solids.viscous_stress import ViscousStress as ViscousStress
