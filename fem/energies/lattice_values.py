"""Lattice functions of energies that give only their value on a stencil, from compiled or from plain Python functions.

Force-stepping asks for differences of φ between lattice points. Here they are differences of values, which any energy
has. Each row of parameters begins with the address of the value; the functions that difference it are then the same
for all energies, and are compiled once:

    [address of φ, coordinates of a stencil, dim or 0, axes (dim²), the stencil's own parameters]

(0: no axes, positions are as they are).

A difference of two values is exact to about ε |φ| (ε = 2⁻⁵²), a mixed one to 2 ε |φ|, however small they are: what
is lost against a closed form is a factor |φ|/|Δφ|. Forces are then good to ε |φ|/h, and K + V_h walks by about ε |φ|
at each event.
"""

# numba declares the address of a compiled function as int | None, and does not re-export carray.
# pyright: reportArgumentType=false, reportPrivateImportUsage=false

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import lru_cache
from math import inf, isfinite, nan
from types import FunctionType

import numpy as np
from numba import carray
from numba.core.dispatcher import Dispatcher
from numba.core.errors import NumbaError
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.errors import InvalidSystem, StepFailed
from symplex.fem.compiled.call import call_value
from symplex.fem.compiled.kernels import c_function, formula
from symplex.fem.energies.energy import Array, Energy, LatticeFunctions

_ADDRESS, _SIZE, _DIM = range(3)
_HEADER = 3
_BYTES = 8


# -- differences of values --------------------------------------------------------------------------------------


@formula
def _value_at(p_, x_):
    """Return φ at the coordinates x, which are those in the axes of the row p, if it has any."""
    head = carray(p_, (_HEADER,))
    address, size, dim = int(head[_ADDRESS]), int(head[_SIZE]), int(head[_DIM])
    own = head.ctypes.data + _BYTES * (_HEADER + dim * dim)
    x = carray(x_, (size,))
    if dim == 0:
        return call_value(address, own, x.ctypes.data)
    axes = carray(p_, (_HEADER + dim * dim,))
    y = np.zeros(size)  # x = axesᵀ x'
    for first in range(0, size, dim):
        for b in range(dim):
            for c in range(dim):
                y[first + c] += axes[_HEADER + dim * b + c] * x[first + b]
    phi = call_value(address, own, y.ctypes.data)
    y[0] = phi  # or y is freed before the call, which knows its address only
    return phi


@c_function("value")
def _value(p, x):
    return _value_at(p, x)


@c_function("difference")
def _difference(p, x, i, h):
    x_i = x[i]
    phi_0 = _value_at(p, x)
    x[i] = x_i + h
    phi_1 = _value_at(p, x)
    x[i] = x_i
    # Infinite, not indefinite, where one end has no energy.
    return phi_1 - phi_0 if np.isfinite(phi_0) and np.isfinite(phi_1) else inf


@c_function("mixed")
def _mixed(p, x, i, j, hi, hj):
    x_i, x_j = x[i], x[j]
    phi_00 = _value_at(p, x)
    x[i] = x_i + hi
    phi_10 = _value_at(p, x)
    x[j] += hj  # also if i = j
    phi_11 = _value_at(p, x)
    x[i] = x_i
    x[j] = x_j + hj
    phi_01 = _value_at(p, x)
    x[j] = x_j
    delta = (phi_11 - phi_10) - (phi_01 - phi_00)
    return delta if np.isfinite(delta) else inf


def differences_of(
    address: int,
    size: int,
    axes: Array | None,
    own: Array,
    *,
    difference: int | None = None,
    mixed: int | None = None,
    failures: list[BaseException] | None = None,
    owner: object = None,
) -> LatticeFunctions:
    """Return the functions of stencils with the parameters own [m, p], by differences of φ at an address.

    ``difference`` and ``mixed`` are addresses of closed forms, which see the whole row.
    """
    return LatticeFunctions(
        parameters=_rows(address, size, axes, own),
        value=_value.address,
        difference=_difference.address if difference is None else difference,
        mixed=_mixed.address if mixed is None else mixed,
        size=size,
        failures=[] if failures is None else failures,
        owner=owner,
    )


def _rows(addresses: int, size: int, axes: Array | None, own: Array) -> Array:
    """Return the rows of parameters of stencils with the parameters own [m, p]."""
    turned = np.empty(0) if axes is None or np.array_equal(axes, np.eye(len(axes))) else np.asarray(axes, float)
    head = np.concatenate([[addresses, size, len(turned)], turned.ravel()])
    return np.ascontiguousarray(np.column_stack([np.tile(head, (len(own), 1)), own]))


# -- compiled ---------------------------------------------------------------------------------------------------


@checked
def compile_lattice(
    value: Callable[..., float],
    parameters: ArrayLike,
    size: int,
    *,
    axes: Array | None = None,
    difference: Callable[..., float] | None = None,
    mixed: Callable[..., float] | None = None,
) -> LatticeFunctions:
    """Compile a function of one stencil for force-stepping: what a user energy's ``lattice_functions`` returns.

    Parameters
    ----------
    value : callable
        ``value(p, x) -> float``: φ in J of one stencil, infinite where there is none; p is the stencil's row of
        ``parameters`` and x [size] its coordinates, node by node. A function that numba can compile (loops,
        math, arrays), with no side effects; define it once, in a module, not again for each energy.
    parameters : float64 [m, p]
        One row per stencil.
    size : int
        The number of coordinates of a stencil, k·dim.
    axes : float64 [dim, dim], optional
        Axes that the lattice is in, as handed to ``lattice_functions``: ``value`` sees x = axesᵀ x'. Not for
        an energy that is the same in any axes.
    difference : callable, optional
        ``difference(p, x, i, h)``: φ(x + h e_i) − φ(x) in closed form.
    mixed : callable, optional
        ``mixed(p, x, i, j, hi, hj)``: φ(x + hi e_i + hj e_j) − φ(x + hi e_i) − φ(x + hj e_j) + φ(x) in closed form.

    Raises
    ------
    InvalidSystem
        If a function cannot be compiled, sizes do not match, or closed forms are to be used in other axes.

    Notes
    -----
    Without closed forms the differences are those of values: φ is evaluated twice or four times, and digits are lost by
    cancellation, to ε |φ|/h in a force. For φ of large values and small differences (stiff and prestressed, or deep
    in a well) write the closed forms.

    Examples
    --------
    Points bound to the parabola y = x²:

    >>> def bound(p, x):
    ...     return 0.5 * p[0] * (x[1] - x[0] ** 2) ** 2
    >>> functions = compile_lattice(bound, [[100.0]], size=2)
    """
    rows = np.array(parameters, dtype=float, ndmin=2)
    if rows.ndim != 2 or size < 1:
        raise InvalidSystem(
            f"compile_lattice: parameters have shape {rows.shape}, expected [m, p]; the size is {size}, at least 1."
        )
    for given in (value, difference, mixed):
        if not (given is None or isinstance(given, Dispatcher | FunctionType)):
            raise InvalidSystem(f"compile_lattice: {given!r:.80} is no function that is written in Python.")
    _check_axes(axes, size)
    turned = axes is not None and not np.array_equal(axes, np.eye(len(axes)))
    if turned and (difference is not None or mixed is not None):
        raise InvalidSystem(
            "compile_lattice: differences in closed form are those of the coordinate axes; with other axes leave them "
            "out, and leave out the axes if the energy is the same in any."
        )
    own = _compiled(value, "value", rows.shape[1], size, 0)
    closed = {
        kind: _compiled(function, kind, rows.shape[1], size, _HEADER)
        for kind, function in (("difference", difference), ("mixed", mixed))
        if function is not None
    }
    addresses = {kind: function.address for kind, function in closed.items()}
    return differences_of(own.address, size, axes, rows, **addresses, owner=(own, closed))


@lru_cache(maxsize=256)
def _compiled(function: Callable[..., float], kind: str, n_parameters: int, size: int, skipped: int):
    """Return the C function of a Python function of arrays p and x; ``skipped`` numbers come before p."""
    body = function if isinstance(function, Dispatcher) else formula(function)
    n_row = skipped + n_parameters

    # With arrays for pointers. What raises there cannot be passed to the caller: it has no energy.
    def value(p_, x_):
        try:
            return body(carray(p_, (n_row,))[skipped:], carray(x_, (size,)))
        except Exception:
            return nan

    def difference(p_, x_, i, h):
        try:
            return body(carray(p_, (n_row,))[skipped:], carray(x_, (size,)), i, h)
        except Exception:
            return nan

    def mixed(p_, x_, i, j, hi, hj):
        try:
            return body(carray(p_, (n_row,))[skipped:], carray(x_, (size,)), i, j, hi, hj)
        except Exception:
            return nan

    wrapped = {"value": value, "difference": difference, "mixed": mixed}[kind]
    try:
        return c_function(kind, cached=False)(wrapped)
    except NumbaError as error:
        reason = str(error).strip().splitlines()
        raise InvalidSystem(
            f"compile_lattice: {kind} '{body.py_func.__name__}' cannot be compiled: {reason[0]} An energy without "
            "lattice_functions() is evaluated in Python instead."
        ) from error


def _check_axes(axes: Array | None, size: int) -> None:
    if axes is not None and (np.shape(axes) != (len(axes),) * 2 or size % len(axes)):
        raise InvalidSystem(f"a stencil of {size} coordinates does not fit axes of shape {np.shape(axes)}.")


# -- interpreted ------------------------------------------------------------------------------------------------


def interpreted_lattice(energy: Energy, axes: Array) -> LatticeFunctions:
    """Return lattice functions that evaluate `Energy.local_value` in Python.

    An exception in there cannot pass through the compiled loop that asked: a `StepFailed` (an inverted element, a pole)
    is an infinite energy; any other is kept for `LatticeFunctions.raise_failure`, and the value is not a number, at
    which the loop stops.

    Parameters
    ----------
    energy : Energy
    axes : float64 [dim, dim]
        Axes that the coordinates are in.
    """
    k, dim = energy.nodes.shape[1], len(axes)
    size = k * dim
    failures: list[BaseException] = []

    def value(p: int, x: int) -> float:
        if failures:
            return nan
        try:
            stencil = int(ctypes.c_double.from_address(p).value)
            numbers = (ctypes.c_double * size).from_address(x)
            phi = float(energy.local_value(stencil, np.array(numbers).reshape(k, dim)))
            return phi if isfinite(phi) else inf
        except StepFailed:
            return inf
        except BaseException as error:  # Ctrl-C, too: it must not be lost in here
            failures.append(error)
            return nan

    callback = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p)(value)
    address = ctypes.cast(callback, ctypes.c_void_p).value or 0
    stencils = np.arange(len(energy.nodes), dtype=float)[:, None]
    return differences_of(address, size, axes, stencils, failures=failures, owner=callback)
