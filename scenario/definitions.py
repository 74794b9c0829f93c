"""Variables and arithmetic in scenarios: ``[define] h = 0.1``, and ``"=2*h"`` wherever a number is requested."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from symplex.base.expressions import FormulaMistake, names_in, tree_of
from symplex.base.quantities import number, shown
from symplex.errors import ScenarioError
from symplex.scenario.messages import place, suggestion

DEFINE = "define"
_SIGN = "="
_PI = "pi"
_TEXTS = ("title",)  # which may begin with any sign
_NUMBER = number("")
_OF_MATH = ("exp", "log", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "floor", "ceil")
_FUNCTIONS: dict[str, tuple[int, Callable[..., Any]]] = {
    **{name: (1, getattr(math, name)) for name in _OF_MATH},
    "abs": (1, abs),
    "round": (1, round),
    "max": (2, max),
    "min": (2, min),
}
_ARGUMENTS = {name: count for name, (count, _) in _FUNCTIONS.items()}
_OPERATIONS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_LONGEST_WAY = 100  # of names that depend on one another
_WHOLE = 2.0**53  # up to which floats are exact whole numbers


def evaluated(data: Mapping[str, Any], lines: list[str]) -> dict[str, Any]:
    """Return the data of a scenario without its definitions, with numbers in place of expressions.

    An expression is a text that begins with ``=``. It has numbers, the names that ``[define]`` has, ``pi``,
    + - * / **, brackets and functions. A result without a fraction is a whole number.

    Parameters
    ----------
    data : mapping
        The parsed TOML.
    lines : list of str
        Gets a line for each mistake.
    """
    variables = _Variables(data.get(DEFINE, {}), lines)
    found = {key: variables.replaced(value, key) for key, value in data.items() if key != DEFINE}
    variables.tell_unused()
    return found


class _AlreadyTold(Exception):
    """An expression refers to a variable that is wrong itself."""


class _Variables:
    """What [define] has, evaluated when it is requested, so that the order does not matter."""

    def __init__(self, table: Any, lines: list[str]):
        self._lines = lines
        self._given: dict[str, Any] = {}
        self._values: dict[str, float | None] = {}  # None of what is wrong, and of what is being evaluated
        self._used: set[str] = set()
        self._way: list[str] = []  # the names that are being evaluated
        here = place(DEFINE)
        if not isinstance(table, Mapping):
            lines.append(f"{DEFINE} must be written [{DEFINE}], with single brackets, and have names and numbers.")
            return
        for name, value in table.items():
            if name in _FUNCTIONS or name == _PI:
                lines.append(f"{here}: nothing can be called {name}, which is a reserved name.")
            elif not name.isidentifier() or len(name) > 60:
                lines.append(f"{here}: {shown(name)} is no name; take letters, digits and '_'.")
            elif _is_expression(value):
                self._given[name] = value
                continue
            else:
                try:
                    self._given[name] = _NUMBER.check(value)
                    continue
                except ValueError as error:
                    lines.append(f'{here}: {name} {error}. An expression is a string such as "=2*h".')
            self._values[name] = None
        for name in self._given:
            self._value(name)

    def replaced(self, value: Any, *way: str) -> Any:
        """Return a value with numbers in place of the expressions in it."""
        if isinstance(value, Mapping):
            return {key: self.replaced(item, *way, key) for key, item in value.items()}
        if isinstance(value, list):
            names = [item.get("name") if isinstance(item, Mapping) else None for item in value]
            return [
                self.replaced(item, *way[:-1], _item(way, k, name))
                for k, (item, name) in enumerate(zip(value, names, strict=True))
            ]
        if not _is_expression(value) or way[0] in _TEXTS:
            return value
        try:
            return _as_written(self._computed(value))
        except _AlreadyTold:
            pass
        except FormulaMistake as error:
            self._lines.append(f"{_place(way)} is {shown(value)}: {error}.")
        return 1  # stands in, so that other mistakes are reported as well

    def tell_unused(self) -> None:
        """Add a line for each name that nothing refers to, as a misspelt one."""
        unused = [] if self._lines else [name for name in self._given if name not in self._used]
        self._lines += [f'[{DEFINE}]: {name} is defined, but in no expression; write "={name}".' for name in unused]

    def _value(self, name: str) -> float | None:
        """Return the value of a variable, or None if it has none, which is reported."""
        if name not in self._values:
            given = self._given[name]
            self._values[name] = None
            self._way.append(name)
            try:
                self._values[name] = self._computed(given) if isinstance(given, str) else given
            except _AlreadyTold:
                pass
            except FormulaMistake as error:
                self._lines.append(f"[{DEFINE}]: {name} is {shown(given)}: {error}.")
            self._way.pop()
        return self._values[name]

    def _computed(self, text: str) -> float:
        """Return the value of an expression; `FormulaMistake` if it has none that a scenario can have."""
        tree = tree_of(text.strip().removeprefix(_SIGN), _ARGUMENTS)
        values = {_PI: math.pi}
        for name in sorted(names_in(tree) - {_PI}):
            self._used.add(name)
            if len(self._way) > _LONGEST_WAY:
                raise FormulaMistake(f"it depends on more than {_LONGEST_WAY} others, one after the other")
            if name in self._way:
                raise FormulaMistake(f"it depends on itself, by {' → '.join([*self._way, name])}")
            if name not in self._given and name not in self._values:
                hint = suggestion(name, [*self._given, _PI]).rstrip(".")
                raise FormulaMistake(f"'{name[:60]}' is not defined; {hint}")
            value = self._value(name)
            if value is None:
                raise _AlreadyTold
            values[name] = value
        try:
            result = _evaluated(tree, values)
        except ZeroDivisionError:
            raise FormulaMistake("it divides by zero") from None
        except OverflowError:
            raise FormulaMistake("it is too large for a number") from None
        except (ValueError, RecursionError):
            raise FormulaMistake("it has no value") from None
        if isinstance(result, complex):
            raise FormulaMistake("it has no value")
        try:
            return _NUMBER.check(result)
        except ValueError as error:
            raise FormulaMistake(f"its value {error}") from None


def check_formula(text: str, names: str) -> None:
    """Check that a text is a formula of some letters, with ``pi`` and the functions of definitions."""
    try:
        unknown = sorted(names_in(tree_of(text, _ARGUMENTS)) - {_PI, *names})
    except FormulaMistake as error:
        raise ValueError(f"has {shown(text)}: {error}") from None
    if unknown:
        raise ValueError(f"has {shown(text)}: '{unknown[0][:60]}' is not known, there are {', '.join(names)} and {_PI}")


def formula_at(text: str, points: Mapping[str, Sequence[float]]) -> list[float]:
    """Return the values of a formula that has been checked, at points given by their coordinates."""
    tree, found = tree_of(text, _ARGUMENTS), []
    for one in zip(*points.values(), strict=True):
        values = dict(zip(points, one, strict=True)) | {_PI: math.pi}
        try:
            found.append(_NUMBER.check(_evaluated(tree, values)))
        except (ArithmeticError, ValueError, RecursionError):
            at = ", ".join(f"{name} = {values[name]:g}" for name in points)
            raise ScenarioError(f"{shown(text)} has no value that is a number at {at} m.") from None
    return found


def _is_expression(value: Any) -> bool:
    return isinstance(value, str) and value.lstrip().startswith(_SIGN)


def _as_written(value: float) -> float | int:
    """Return a number as a file would have it: 2 for 2.0, for keys that want whole numbers."""
    return int(value) if value.is_integer() and abs(value) <= _WHOLE else value


def _evaluated(node: ast.expr, values: Mapping[str, float]) -> float:
    """Return the value of a syntax tree that is allowed; all numbers are floats."""
    match node:
        case ast.Constant(value=value):
            return float(value)  # pyright: ignore[reportArgumentType]
        case ast.Name(id=name):
            return values[name]
        case ast.UnaryOp(op=op, operand=operand):
            value = _evaluated(operand, values)
            return -value if isinstance(op, ast.USub) else value
        case ast.BinOp(left=left, op=op, right=right):
            return _OPERATIONS[type(op)](_evaluated(left, values), _evaluated(right, values))
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return float(_FUNCTIONS[name][1](*(_evaluated(one, values) for one in arguments)))
    raise TypeError(f"a {type(node).__name__} in a formula")


def _item(way: tuple[str, ...], k: int, name: Any) -> str:
    """Return how an item of a list is called, after what leads to it."""
    return place(way[0], k, name) if len(way) == 1 and isinstance(name, str) else f"{way[-1]}.{k + 1}"


def _place(way: tuple[str, ...]) -> str:
    """Return where a value is: ``[[body]] #1 'bar': mesh.cells.1``."""
    table = way[0] if way[0].startswith("[") else place(way[0])
    return f"{table}: {'.'.join(way[1:])}" if len(way) > 1 else table
