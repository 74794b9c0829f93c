"""The forms of energies: what is assembled from local functions, by the kind of the result.

====================  ==============  ==========================================================
kind                  local           assembled
====================  ==============  ==========================================================
``number``            [m]             the sum
``vector``            [m, k, dim]     nodal vectors [n, dim]
``block``             [m, k·dim, …]   the blocks [nnz, dim, dim] of a matrix on a `Pattern`
``value``             [m, k, k]       the values [nnz] of a matrix of one number for each block
====================  ==============  ==========================================================

A form has the name of the local function of `symplex.fem.energies.energy.Energy`; the method ``add_`` and its name
adds it up. Where an energy has a kernel for a form, that is called (see `symplex.fem.assembly.calls`)

    kernel(*nodal, record, out, first, last)           numbers (out [m] or [0]) and nodal vectors
    kernel(*nodal, record, slots, out, first, last)    matrices

for the stencils first … last − 1, and returns their sum, or a number that is finite if all that it has added is.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, Literal, NamedTuple

from numba import types  # pyright: ignore[reportPrivateImportUsage]

from symplex.fem.assembly.pattern import Array, scatter_blocks, scatter_values, scatter_vectors

Kind = Literal["number", "vector", "block", "value"]
VECTORS, NUMBERS, BLOCKS = types.float64[:, ::1], types.float64[::1], types.float64[:, :, ::1]
SLOTS = types.int32[:, :, ::1]
_OUT = {"number": NUMBERS, "vector": VECTORS, "block": BLOCKS, "value": NUMBERS}
# What an energy may have beyond the gradient, Hessian and discrete gradient, by the first function of each.
OptionalFunction = Literal["mean_gradient", "secant", "third"]


class Form(NamedTuple):
    """What is assembled from a local function.

    Attributes
    ----------
    name : str
        Of the local function.
    add : str
        Of the method that adds the form up.
    title : str
        For messages.
    kind : str
        Of the result: ``"number"``, ``"vector"``, ``"block"`` or ``"value"``.
    is_matrix : bool
        Whether that is a matrix on a pattern.
    optional : str, optional
        The first of the optional functions that it belongs to.
    ends : int, default 1
        Of how many of the nodal arrays that it takes are positions: those at the start and end of an increment, or
        those at one point, before other arrays.
    takes : int, default 1
        How many nodal arrays it takes.
    """

    name: str
    add: str
    title: str
    kind: Kind
    is_matrix: bool
    optional: OptionalFunction | None = None
    ends: int = 1
    takes: int = 1

    @property
    def given(self) -> tuple[Any, ...]:
        """The numba types of what kernels take before their record."""
        return (VECTORS,) * self.takes

    @property
    def to(self) -> tuple[Any, ...]:
        """The numba types of what kernels take between their record and the range."""
        return (SLOTS, _OUT[self.kind]) if self.is_matrix else (_OUT[self.kind],)

    def local_shape(self, m: int, k: int, dim: int) -> tuple[int, ...]:
        """Return the shape of what the local function returns for m stencils of k nodes."""
        if self.kind in ("number", "vector"):
            return (m, k, dim) if self.kind == "vector" else (m,)
        return (m, k * dim, k * dim) if self.kind == "block" else (m, k, k)

    def positions(self, nodal: tuple[Array, ...]) -> tuple[Array, ...]:
        """Return the positions, one or two, among the nodal arrays that the form takes."""
        if self.name == "increment_gradient":
            return nodal[0], nodal[0] + nodal[2]
        return nodal[: self.ends]

    def shape(self, n: int, nnz: int, dim: int) -> tuple[int, ...]:
        """Return the shape of the nodal vectors or matrix assembled for n nodes, and nnz blocks of a pattern."""
        if self.kind == "vector":
            return n, dim
        return (nnz, dim, dim) if self.kind == "block" else (nnz,)


class LoadForm(NamedTuple):
    """What a kernel of a load finds.

    Attributes
    ----------
    name : str
    given, to : tuple of numba types
        What it takes before its record, and after that.
    """

    name: str
    given: tuple[Any, ...]
    to: tuple[Any, ...]


# Nodal arrays:                                                                                  (q)
VALUE = Form("value", "write_values", "energy", "number", False)
GRADIENT = Form("gradient", "add_gradient", "gradient", "vector", False)
HESSIAN = Form("hessian", "add_hessian", "Hessian", "block", True)
SECANT = Form("secant", "add_secant", "secant", "value", True, "secant")
# (q, v) and (q, a)
SECANT_RATE = Form("secant_rate", "add_secant_rate", "secant rate", "value", True, "secant", takes=2)
THIRD = Form("third", "add_third", "third derivative", "vector", False, "third", takes=2)
HESSIAN_PRODUCT = Form("hessian_product", "add_hessian_product", "product with the Hessian", "vector", False, takes=2)
# (q0, q1)
DISCRETE_GRADIENT = Form(
    "discrete_gradient", "add_discrete_gradient", "discrete gradient", "vector", False, ends=2, takes=2
)
DISCRETE_HESSIAN = Form("discrete_hessian", "add_discrete_hessian", "discrete Hessian", "block", True, ends=2, takes=2)
MEAN_GRADIENT = Form(
    "mean_gradient", "add_mean_gradient", "mean gradient", "vector", False, "mean_gradient", ends=2, takes=2
)
# (q, compensation of q, Δq)
INCREMENT_GRADIENT = Form("increment_gradient", "add_increment_gradient", "discrete gradient", "vector", False, takes=3)

FORMS = (GRADIENT, HESSIAN, SECANT, SECANT_RATE, THIRD, HESSIAN_PRODUCT)
FORMS += (DISCRETE_GRADIENT, DISCRETE_HESSIAN, MEAN_GRADIENT, INCREMENT_GRADIENT)

_SEEN = types.float64, *[VECTORS] * 4
FORCES = LoadForm("forces", _SEEN, (VECTORS,))
DERIVATIVES = LoadForm("force_derivatives", (*_SEEN, types.float64, types.float64), (SLOTS, BLOCKS))


def kernels_of(*modules: ModuleType) -> dict[str, Any]:
    """Return the kernels of modules by the names of their forms: those called as the methods that add forms up."""
    named = [(form, module) for module in modules for form in (VALUE, *FORMS) if hasattr(module, form.add)]
    return {form.name: getattr(module, form.add) for form, module in named}


# The loop of each kind: scatter(local, nodes or slots, out)
SCATTER: dict[Kind, Callable[[Array, Any, Array], None]] = {
    "vector": scatter_vectors,
    "block": scatter_blocks,
    "value": scatter_values,
}
