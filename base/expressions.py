"""Formulas that users write: read as syntax trees of which a short list is allowed; Python never evaluates them."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Collection, Iterator, Mapping

LONGEST, DEEPEST = 1000, 30  # letters; brackets, functions and operations within each other
OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)


class FormulaMistake(ValueError):
    """What is wrong with a formula, as the end of a sentence."""


def tree_of(formula: str, functions: Mapping[str, int], names: Collection[str] = ()) -> ast.expr:
    """Return the syntax tree of a formula that is allowed.

    Parameters
    ----------
    formula : str
    functions : mapping of str to int
        How many arguments each function takes.
    names : collection of str, optional
        Names that are known to be no functions, to determine where a sign of multiplication is missing.

    Raises
    ------
    FormulaMistake
        If it is none, or is too long, or has something else in it than numbers, names, + - * / ** and functions.
    """
    if len(formula) > LONGEST:
        raise FormulaMistake(f"it has {len(formula)} letters, more than {LONGEST}")
    if not formula.strip():
        raise FormulaMistake("it is empty")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # SyntaxWarning: 3(I1 - 3) is reported below
            tree = ast.parse(formula.strip(), mode="eval").body
    except SyntaxError as error:
        where = f" at character {error.offset}" if error.offset and error.lineno == 1 else ""
        raise FormulaMistake(f"it is no formula{where}: {error.msg}") from None
    except (RecursionError, MemoryError):
        raise FormulaMistake(f"it is nested deeper than {DEEPEST} levels") from None
    except ValueError as error:
        raise FormulaMistake(f"it is no formula: {error}") from None
    todo = [(tree, 1)]
    while todo:
        node, depth = todo.pop()
        if depth > DEEPEST:
            raise FormulaMistake(f"it is nested deeper than {DEEPEST} levels")
        # The left operand is no deeper: sums of many terms are one level.
        left = node.left if isinstance(node, ast.BinOp) else None
        todo += [(child, depth + (child is not left)) for child in _operands(node, functions, names)]
    return tree


def names_in(tree: ast.expr) -> set[str]:
    """Return the names of a formula that are not those of functions."""
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in called}


def _operands(node: ast.expr, functions: Mapping[str, int], names: Collection[str]) -> Iterator[ast.expr]:
    """Yield what a node is made of, if it is allowed."""
    if isinstance(node, ast.Constant):
        value = node.value
        if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) <= 1e100:
            raise FormulaMistake(f"{str(node.value)[:30]!r} is no number that is read")
    elif isinstance(node, ast.Name):
        if node.id in functions:
            raise FormulaMistake(f"the function {node.id} needs an argument in brackets")
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        yield node.operand
    elif isinstance(node, ast.BinOp) and isinstance(node.op, OPERATORS):
        yield from (node.left, node.right)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitXor):
        raise FormulaMistake("powers are written **, not ^")
    elif isinstance(node, ast.Call):
        yield from _arguments(node, functions, names)
    else:
        text = ast.unparse(node)
        text = text if len(text) <= 40 else text[:37] + "…"
        raise FormulaMistake(f"'{text}' is not read; there are numbers, names, + - * / **, {', '.join(functions)}")


def _arguments(node: ast.Call, functions: Mapping[str, int], names: Collection[str]) -> list[ast.expr]:
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if name not in functions:
        text = ast.unparse(node.func)[:40]
        if isinstance(node.func, ast.Constant) or name in names:
            raise FormulaMistake(f"after {text} there is a bracket; a product is written {text}*(…)")
        raise FormulaMistake(f"the function '{text}' is not known; there are {', '.join(functions)}")
    if len(node.args) != functions[name] or node.keywords or any(isinstance(a, ast.Starred) for a in node.args):
        raise FormulaMistake(f"the function {name} takes {functions[name]} argument{'s' * (functions[name] > 1)}")
    return node.args
