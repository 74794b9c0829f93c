"""Elastic bodies: elements, laws, and the compiled loops over them."""

# Made by tests/write_stubs.py.
from symplex.fem.solids.formula import FormulaMaterial as FormulaMaterial, material as material
from symplex.fem.solids.materials import (
    LinearElastic as LinearElastic,
    Material as Material,
    MooneyRivlin as MooneyRivlin,
    NeoHookean as NeoHookean,
    SaintVenantKirchhoff as SaintVenantKirchhoff,
)
from symplex.fem.solids.solid import Solid as Solid
