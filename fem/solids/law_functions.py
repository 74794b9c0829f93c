"""A law as C functions of scalars: the energy W(I1, I2, θ, I4, …) and its derivatives, by address.

Loops over elements hold the tensor algebra, and call these with the invariants of C = FᵀF at many points at once:

    I1 = tr C,    I2 = ((tr C)² − tr C²)/2,    θ = ln J = ½ ln det C,    I4 = a·C a of each family of fibres a.

A law is a module of text that is generated when it is first needed (`symplex.fem.solids.formula_text`), in a folder
next to the cached kernels. Each function is compiled when its address is first requested, and is kept for all
processes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from types import ModuleType
from typing import Any

import numpy as np

from symplex.fem.assembly.pattern import Array
from symplex.fem.compiled.kernels import c_function

CHUNK = 128  # points


@dataclass(frozen=True, eq=False)
class LawFunctions:
    """The C functions ``void f(double* parameters, double* invariants, double* out)`` of a law.

    ``invariants`` are m = 3 + F rows of 128 points: I1, I2, θ, I4 of each of F families of fibres. ``out`` has rows as
    long. A result that is not finite says that the law has no value there; no function raises or holds a lock.

    Attributes
    ----------
    parameters : float64 [p]
        The law's constants, in the order that the functions take them.
    fibres : int
        F, the number of families of fibres.
    gauss_points : int
        With how many points Gauss' rule gives the means of first derivatives along straight segments of the invariants
        so that W̄_i ΔI_i is the change of W: exact for polynomials, to round-off for moderate segments of others.
    has_i2 : bool
        Whether W depends on I2; if not, its row of the invariants may hold anything.
    switch_count : int
        Of how many functions of the invariants W has the positive part: where one changes its sign, second or higher
        derivatives of W jump.
    module : str
        The name of the module of the functions in ``sys.modules``.
    """

    parameters: Array
    fibres: int
    gauss_points: int
    has_i2: bool
    switch_count: int
    module: str

    @classmethod
    def of(cls, module: ModuleType, constants: Mapping[str, float]) -> LawFunctions:
        """Return the functions of a module of generated text with the given constants."""
        parameters = np.array([constants[name] for name in module.CONSTANTS], dtype=float)
        return cls._with(parameters, module)

    @classmethod
    def _with(cls, parameters: Array, module: ModuleType) -> LawFunctions:
        known = module.FIBRES, module.GAUSS_POINTS, module.HAS_I2, module.SWITCHES
        return cls(parameters, *known, module.__name__)

    @property
    def invariants(self) -> int:
        """m, the number of invariants."""
        return 3 + self.fibres

    @cached_property
    def value(self) -> int:
        """Address: W in J/m³, one row."""
        return self._address("value")

    @cached_property
    def first(self) -> int:
        """Address: the m rows ∂W/∂I_i in Pa."""
        return self._address("first")

    @cached_property
    def second(self) -> int:
        """Address: the rows of `first`, then ∂²W/∂I_i∂I_j, i ≤ j, row by row."""
        return self._address("second")

    @cached_property
    def third(self) -> int:
        """Address: the rows of `second`, then ∂³W/∂I_i∂I_j∂I_k, i ≤ j ≤ k, in lexicographic order."""
        return self._address("third")

    @cached_property
    def switches(self) -> int:
        """Address: as many rows as there are switches."""
        return self._address("switches")

    @cached_property
    def point_value(self) -> int:
        """Address: `value` of one point, with rows of one number."""
        return self._address("point_value")

    @cached_property
    def point_first(self) -> int:
        """Address: `first` of one point, with rows of one number."""
        return self._address("point_first")

    @cached_property
    def point_second(self) -> int:
        """Address: `second` of one point, with rows of one number."""
        return self._address("point_second")

    @cached_property
    def point_switches(self) -> int:
        """Address: `switches` of one point, with rows of one number."""
        return self._address("point_switches")

    def _address(self, name: str) -> int:
        return _compiled(self.module, name).address

    def __reduce__(self) -> Any:
        """Return what a pickle is made of: addresses and modules are those of one process."""
        return _restored, (self.parameters, *sys.modules[self.module].RECIPE)


@cache
def _compiled(module: str, name: str) -> Any:
    """Return a compiled function, kept as long as the process lives: addresses of it may be in use."""
    functions = sys.modules[module]
    return c_function("law", cached=functions.KEPT)(getattr(functions, name))


def _restored(parameters: Array, module_of: Callable[..., ModuleType], recipe: tuple[Any, ...]) -> LawFunctions:
    return LawFunctions._with(parameters, module_of(*recipe))
