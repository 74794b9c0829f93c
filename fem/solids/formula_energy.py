"""From the syntax tree of a formula to the strain energy as a SymPy expression of I1, I2, θ = ln J, I4, …"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from math import isfinite, pi
from typing import Any

import numpy as np
import sympy as sp

from symplex.fem.solids.formula_syntax import LARGEST_EXPONENT, mistake
from symplex.fem.solids.formula_text import AT_REST, INVARIANTS, NOT_REAL, positive

_I1, _I2, _T, _I4, _I6 = INVARIANTS[:5]
_J = sp.exp(_T)
_NAMES = {
    "I1": _I1,
    "I2": _I2,
    "I3": _J**2,
    "J": _J,
    "I1bar": _I1 * _J ** sp.Rational(-2, 3),
    "I2bar": _I2 * _J ** sp.Rational(-4, 3),
    "I4": _I4,
    "I4bar": _I4 * _J ** sp.Rational(-2, 3),
    "I6": _I6,
    "I6bar": _I6 * _J ** sp.Rational(-2, 3),
    "pi": sp.Rational(repr(pi)),
}
_ROUNDING = 1e-9
_FUNCTIONS = {
    "exp": sp.exp,
    "log": sp.log,
    "sqrt": sp.sqrt,
    "sinh": sp.sinh,
    "cosh": sp.cosh,
    "tanh": sp.tanh,
    "atan": sp.atan,
    "max": lambda a, b: b + positive(a - b),
    "min": lambda a, b: a - positive(a - b),
}


def energy_of(formula: str, tree: ast.expr, constants: Mapping[str, float]) -> Any:
    """Return W less its value at rest, as an expression of ``INVARIANTS`` and of the constants behind ``p_``.

    Exponents that are constants are written out: SymPy takes n xⁿ/x for the slope of xⁿ, which is none at 0.
    """
    reader = _Reader(formula, constants)
    energy = reader.expression(tree)
    energy = energy.replace(sp.Abs, _modulus)  # of squares under roots
    rest = energy.subs(dict(zip(INVARIANTS, AT_REST, strict=True)))
    if energy.has(*NOT_REAL) or rest.has(*NOT_REAL):
        raise mistake(formula, "it has no finite value at rest (I1 = I2 = 3, J = 1)")
    if not energy.free_symbols & set(INVARIANTS):
        raise mistake(formula, "it does not depend on the strain")
    reader.check_smooth(energy)
    return energy - rest


def _size(number: Any) -> float:
    try:
        return abs(complex(sp.N(number)))
    except TypeError:  # zoo and the like
        return float("nan")


def _modulus(x: Any) -> Any:
    positive_part: Any = positive(x)
    return 2 * positive_part - x


class _Reader:
    def __init__(self, formula: str, constants: Mapping[str, float]):
        self._formula = formula
        self._values = {sp.Symbol(f"p_{name}", real=True): value for name, value in constants.items()}
        self._names = {**_NAMES, **{name: sp.Symbol(f"p_{name}", real=True) for name in constants}}

    def expression(self, node: ast.expr) -> Any:
        """Return what a node of the tree stands for."""
        later = []  # sums and products of many terms are deep to the left
        while isinstance(node, ast.BinOp):
            later.append((node.op, node.right))
            node = node.left
        result = self._operand(node)
        for op, right in reversed(later):
            result = self._combined(op, result, self.expression(right))
        return result

    def _operand(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Constant):
            return sp.Rational(repr(node.value))
        if isinstance(node, ast.Name):
            return self._names[node.id]
        if isinstance(node, ast.UnaryOp):
            operand = self.expression(node.operand)
            return -operand if isinstance(node.op, ast.USub) else operand
        assert isinstance(node, ast.Call)
        assert isinstance(node.func, ast.Name)
        return self._number(_FUNCTIONS[node.func.id](*map(self.expression, node.args)))

    def _combined(self, op: ast.operator, a: Any, b: Any) -> Any:
        match op:
            case ast.Add():
                return self._number(a + b)
            case ast.Sub():
                return self._number(a - b)
            case ast.Mult():
                return self._number(a * b)
            case ast.Div():
                if b == 0:
                    raise mistake(self._formula, "it divides by zero")
                return self._number(a / b)
            case _:
                return self._power(a, b)

    def _power(self, base: Any, exponent: Any) -> Any:
        if not exponent.free_symbols <= self._values.keys():
            raise mistake(self._formula, "an exponent depends on the strain; write exp(y*log(x)) for such a power")
        value = self._float(exponent.subs(self._values))
        if not abs(value) <= LARGEST_EXPONENT:
            raise mistake(self._formula, f"an exponent is {value:g}; the largest is {LARGEST_EXPONENT}")
        if not base.is_number:
            return base ** sp.Rational(repr(value))
        try:  # as floats: exactly, a power of numbers might have a million digits
            power = float(base) ** value
        except (OverflowError, ZeroDivisionError):
            power = float("nan")
        return sp.Rational(repr(self._float(power)))

    def _number(self, expression: Any) -> Any:
        """Return what is no fraction, but a number, as the fraction that its 16 digits are."""
        if not expression.is_number:
            return expression
        value = self._float(expression)
        return expression if expression.is_Rational else sp.Rational(repr(value))

    def _float(self, number: Any) -> float:
        try:
            value = float(number)
        except (TypeError, OverflowError):  # not real, or too large
            value = float("nan")
        if not isfinite(value):
            raise mistake(self._formula, "a number in it is not real and finite")
        return value

    def check_smooth(self, energy: Any) -> None:
        """Check that the slope is continuous where positive parts set in: it is zero there, at any strains."""
        rng = np.random.default_rng(0)
        for part in energy.atoms(positive):
            z = sp.Dummy(real=True)
            slope = sp.diff(energy.xreplace({part: z}), z).subs([*self._values.items(), (z, 0)])
            symbols = sorted(slope.free_symbols, key=str)
            found = [slope] if not symbols else []
            for _ in range(3 if symbols else 0):
                found.append(slope.subs(dict(zip(symbols, rng.uniform(0.5, 2.0, len(symbols)), strict=True))))
            if not all(_size(value) < _ROUNDING for value in found):
                raise mistake(
                    self._formula,
                    "its stress jumps where max, min or a modulus changes over; take a higher power, as max(…, 0)**2",
                )
