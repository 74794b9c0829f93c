"""From a strain energy W(I1, I2, θ, I4, …) as a SymPy expression to the text of its C functions.

The derivatives are SymPy's, with common subexpressions computed once. Each function is a loop over points without
branches, which the compiler makes vector instructions of, for 128 points or for one.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement
from typing import Any

import sympy as sp
from sympy.printing.pycode import PythonCodePrinter

# T is θ = ln J; the others are positive, as C is positive definite. Those after I2 are of up to six families of fibres.
_NAMED = ("I1", "I2", "T", "I4", "I6", "I8", "I10", "I12", "I14")
INVARIANTS = tuple(sp.Symbol(n, **{"real" if n == "T" else "positive": True}) for n in _NAMED)
AT_REST = (3, 3, 0, 1, 1, 1, 1, 1, 1)
MOST_POINTS = 8
MOST_OPERATIONS = {0: 1000, 1: 3000, 2: 12000, 3: 60000}  # of the derivatives of each order, as they are written


NOT_REAL = (sp.I, sp.zoo, sp.oo, -sp.oo, sp.nan)


class TooLong(Exception):
    """The derivatives of a formula have too many operations, or numbers without a value."""


class step(sp.Function):  # noqa: N801, as it is written in the text
    """1 for arguments that are not negative, else 0."""

    @classmethod
    def eval(cls, x: Any) -> Any:
        """Evaluate at numbers that are written out; of others, which may take long, the compiled function does."""
        return sp.Integer(0 if x.is_negative else 1) if x.is_Rational or x.is_Float else None

    def fdiff(self, argindex: int = 1) -> Any:
        """Return 0: that of the jump is left out, and laws are refused whose stress jumps."""
        return sp.Integer(0)


class positive(sp.Function):  # noqa: N801
    """The positive part."""

    @classmethod
    def eval(cls, x: Any) -> Any:
        """Evaluate at numbers that are written out."""
        return (sp.Integer(0) if x.is_negative else x) if x.is_Rational or x.is_Float else None

    def fdiff(self, argindex: int = 1) -> Any:
        """Return the slope."""
        return step(self.args[0])


class _Printer(PythonCodePrinter):
    """Writes expressions in the functions of `symplex.fem.solids.law_scalars`, and rationals as numbers."""

    def _print_Rational(self, expr: Any) -> str:
        try:
            return repr(float(expr))
        except OverflowError:
            raise TooLong("a number in it, or in its derivatives, is too large") from None

    _print_Integer = _print_Float = _print_Rational  # noqa: N815

    def _print_Pow(self, expr: Any, rational: bool = False) -> str:
        base, exponent = expr.as_base_exp()
        if exponent.is_Integer:
            written = self._print(base) if base.is_Symbol else f"({self._print(base)})"
            power = f"**{abs(int(exponent))}" if abs(exponent) > 1 else ""
            return f"{written}{power}" if exponent > 0 else f"(1.0/{written}{power})"
        if exponent == sp.Rational(1, 2):
            return f"sqrt({self._print(base)})"
        if exponent == sp.Rational(-1, 2):
            return f"(1.0/sqrt({self._print(base)}))"
        return f"power({self._print(base)}, {self._print(exponent)})"

    def _print_call(self, expr: Any) -> str:
        return f"{expr.func.__name__}({', '.join(map(self._print, expr.args))})"

    _print_exp = _print_log = _print_step = _print_positive = _print_call
    _print_sinh = _print_cosh = _print_tanh = _print_atan = _print_call


def gauss_points(energy: Any, fibres: int) -> int:
    """Return how many points of Gauss make the mean slopes along straight segments exact: 1 … 8."""
    symbols = INVARIANTS[: 3 + fibres]
    if not energy.is_polynomial(*symbols):
        return MOST_POINTS
    degree = sp.Poly(energy, *symbols).total_degree()
    return min(max((degree + 1) // 2, 1), MOST_POINTS)


def switches(energy: Any, fibres: int) -> list[Any]:
    """Return the functions of the invariants of which the energy has the positive part."""
    of_strain = set(INVARIANTS[: 3 + fibres])
    return sorted((part.args[0] for part in energy.atoms(positive) if part.free_symbols & of_strain), key=str)


def derivatives(energy: Any, fibres: int, order: int) -> list[Any]:
    """Return the derivatives of the first to the given order, those of each i ≤ j ≤ … in lexicographic order."""
    symbols = INVARIANTS[: 3 + fibres]
    found: dict[tuple[int, ...], Any] = {(): energy}
    for n in range(1, order + 1):
        for indices in combinations_with_replacement(range(len(symbols)), n):
            found[indices] = sp.diff(found[indices[:-1]], symbols[indices[-1]])
        if any(expression.has(*NOT_REAL) for expression in found.values()):
            raise TooLong(f"its derivatives of order {n} have a number without a value")
        operations = sum(int(found[i].count_ops()) for i in found if len(i) == n)
        if operations > MOST_OPERATIONS[n]:
            raise TooLong(f"its derivatives of order {n} have {operations} operations, more than {MOST_OPERATIONS[n]}")
    return [expression for indices, expression in found.items() if indices]


def text_of(title: str, energy: Any, constants: Sequence[str], fibres: int) -> str:
    """Return the module of the functions of a law.

    Parameters
    ----------
    title : str
        Its first line.
    energy : sympy expression
        W of ``INVARIANTS``, of symbols of the constants' names behind ``p_``, and of ``positive`` and ``step``.
    constants : sequence of str
        Names of the constants, in the order of the parameters.
    fibres : int
        The number of families of fibres.
    """
    if energy.count_ops() > MOST_OPERATIONS[0]:
        raise TooLong(f"it has {energy.count_ops()} operations, more than {MOST_OPERATIONS[0]}")
    bodies = [_body("value", [energy], constants, fibres)]
    bodies += [
        _body(name, derivatives(energy, fibres, order), constants, fibres)
        for order, name in enumerate(("first", "second", "third"), 1)
    ]
    found = switches(energy, fibres)
    of_switches = ["switches"] if found else []
    bodies += [_body(name, found, constants, fibres) for name in of_switches]
    functions = [
        "".join(f"{prefix}{name} = _{name}({points})\n" for name in [*names, *of_switches])
        for prefix, points, names in (("", 128, _NAMES), ("point_", 1, _NAMES[:3]))
    ]
    used = sorted(name for name in _SCALARS if any(f"{name}(" in body for body in bodies))
    mathematics = sorted(name for name in _MATH if any(f"{name}(" in body for body in bodies))
    imports = [f"from math import {', '.join(mathematics)}\n"] if mathematics else []
    imports += [f"from symplex.fem.solids.law_scalars import {', '.join(used)}"] if used else []
    heading = [
        f'"""{title}\n\nGenerated from the strain energy (symplex/fem/solids/formula_text.py): change that.\n"""',
        "# fmt: off\n# ruff: noqa",
        *(["\n".join(imports)] if imports else []),
        f"CONSTANTS = ({''.join(f'{name!r}, ' for name in constants)})\nFIBRES = {fibres}\n"
        f"GAUSS_POINTS = {gauss_points(energy, fibres)}\nHAS_I2 = {energy.has(INVARIANTS[1])}\n"
        f"SWITCHES = {len(found)}",
    ]
    return "\n\n".join(heading) + "\n\n\n" + "\n\n".join(bodies) + "\n\n" + "".join(functions)


_NAMES = ("value", "first", "second", "third")
_SCALARS = ("exp", "log", "positive", "power", "step")
_MATH = ("atan", "cosh", "sinh", "sqrt", "tanh")


def _body(name: str, expressions: list[Any], constants: Sequence[str], fibres: int) -> str:
    """Return the function of n whose result computes expressions at n points: n is known when that is compiled."""
    symbols = INVARIANTS[: 3 + fibres]
    shared, results = sp.cse(expressions, symbols=sp.numbered_symbols("v"), order="none")
    printer = _Printer({"fully_qualified_modules": False})
    used = set().union(*(e.free_symbols for e in [*results, *(value for _, value in shared)]))
    lines = [f"p_{constant} = p[{k}]" for k, constant in enumerate(constants) if _symbol(constant) in used]
    inside = [f"{symbol} = x[{_at(k)}]" for k, symbol in enumerate(symbols) if symbol in used]
    varying = set(symbols)
    for symbol, value in shared:
        assignment = f"{symbol} = {printer.doprint(value)}"
        if value.free_symbols & varying:
            varying.add(symbol)
            inside.append(assignment)
        else:  # of constants only
            lines.append(assignment)
    inside += [f"out[{_at(k)}] = {printer.doprint(result)}" for k, result in enumerate(results)]
    lines += ["for i in range(n):", *(f"    {line}" for line in inside)]
    indented = "".join(f"        {line}\n" for line in lines)
    return f"def _{name}(n):\n    def {name}(p, x, out):\n{indented}\n    return {name}\n"


def _at(row: int) -> str:
    return "i" if row == 0 else "n + i" if row == 1 else f"{row} * n + i"


def _symbol(constant: str) -> Any:
    return sp.Symbol(f"p_{constant}", real=True)
