"""The syntax of a strain energy: which formulas are read, and what their mistakes are called.

A formula is an expression of Python in form only. It is read as a syntax tree, of which a short list of nodes, names
and functions is allowed; nothing of it is ever evaluated by Python.
"""

from __future__ import annotations

import ast
import difflib
import warnings
from collections.abc import Collection, Iterator

from symplex.errors import MaterialError

LONGEST, DEEPEST = 1000, 30  # letters; brackets, functions and operations within each other
LARGEST_EXPONENT = 100

# What a formula is made of; those with a bar are of F J^(−1/3), which has no change of volume.
ISOTROPIC = {
    "I1": "tr C",
    "I2": "((tr C)² − tr C²)/2",
    "I3": "det C",
    "J": "√det C",
    "I1bar": "J^(−2/3) I1",
    "I2bar": "J^(−4/3) I2",
}
FIBROUS = {
    "I4": "a·C a of the first family of fibres",
    "I4bar": "J^(−2/3) I4",
    "I6": "a·C a of the second family of fibres",
    "I6bar": "J^(−2/3) I6",
}
FUNCTIONS = {
    "exp": 1,
    "log": 1,
    "sqrt": 1,
    "sinh": 1,
    "cosh": 1,
    "tanh": 1,
    "atan": 1,
    "max": 2,
    "min": 2,
}
RESERVED = frozenset({*ISOTROPIC, *FIBROUS, *FUNCTIONS, "pi", "density", "fibres", "formula", "law"})
OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)


def tree_of(formula: str) -> ast.expr:
    """Return the syntax tree of a formula that is allowed.

    Raises
    ------
    MaterialError
        If it is none, or is too long, or has something else in it than numbers, names, + - * / ** and functions.
    """
    if len(formula) > LONGEST:
        raise mistake(formula, f"it has {len(formula)} letters, more than {LONGEST}")
    if not formula.strip():
        raise mistake(formula, "it is empty")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # SyntaxWarning: 3(I1 - 3) is told below
            tree = ast.parse(formula.strip(), mode="eval").body
    except SyntaxError as error:
        where = f" at letter {error.offset}" if error.offset and error.lineno == 1 else ""
        raise mistake(formula, f"it is no formula{where}: {error.msg}") from None
    except (RecursionError, MemoryError):
        raise mistake(formula, f"it is nested deeper than {DEEPEST} levels") from None
    except ValueError as error:
        raise mistake(formula, f"it is no formula: {error}") from None
    todo = [(tree, 1)]
    while todo:
        node, depth = todo.pop()
        if depth > DEEPEST:
            raise mistake(formula, f"it is nested deeper than {DEEPEST} levels")
        # The left operand is no deeper: sums of many terms are one level.
        left = node.left if isinstance(node, ast.BinOp) else None
        todo += [(child, depth + (child is not left)) for child in _operands(formula, node)]
    return tree


def names_in(tree: ast.expr) -> set[str]:
    """Return the names of a formula that are not those of functions."""
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in called}


def check_names(formula: str, tree: ast.expr, constants: Collection[str], fibres: int) -> None:
    """Check that each name is known, and that each constant is used.

    Raises
    ------
    MaterialError
    """
    for name in constants:
        if name in RESERVED or not name.isidentifier():
            raise mistake(formula, f"no constant can be called '{name[:40]}', which has a meaning of its own")
    found = names_in(tree)
    invariants = {**ISOTROPIC, **dict([*FIBROUS.items()][: 2 * fibres])}
    for name in sorted(found):
        if name in FIBROUS and name not in invariants:
            families = "a direction of fibres" if name.startswith("I4") else "two directions of fibres"
            raise mistake(formula, f"{name} needs {families}: fibres is not given, or one direction only")
        if name not in invariants and name not in constants and name != "pi":
            raise mistake(formula, f"'{name}' is no invariant and no constant that is given{_nearest(name, constants)}")
    unused = sorted(set(constants) - found)
    if unused:
        raise mistake(formula, f"the constant '{unused[0]}' is given, but is not in it")
    if fibres and not found & {"I4", "I4bar"}:
        raise mistake(formula, "fibres are given, but I4 is not in it")
    if fibres == 2 and not found & {"I6", "I6bar"}:
        raise mistake(formula, "two families of fibres are given, but I6, of the second one, is not in it")


def mistake(formula: str, reason: str) -> MaterialError:
    """Return the error about a formula."""
    shown = formula if len(formula) <= 80 else formula[:77] + "…"
    return MaterialError(f"law '{shown}': {reason}.")


def _nearest(name: str, constants: Collection[str]) -> str:
    known = {other.lower(): other for other in (*constants, *FIBROUS, *ISOTROPIC)}
    near = [known[other] for other in difflib.get_close_matches(name.lower(), known, 1)]
    given = ", ".join(constants) or "none"
    return f"; did you mean '{near[0]}'?" if near else f"; invariants are {', '.join(ISOTROPIC)}, constants {given}"


def _operands(formula: str, node: ast.expr) -> Iterator[ast.expr]:
    """Yield what a node is made of, if it is allowed."""
    if isinstance(node, ast.Constant):
        value = node.value
        if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) <= 1e100:
            raise mistake(formula, f"{str(node.value)[:30]!r} is no number that is read")
    elif isinstance(node, ast.Name):
        if node.id in FUNCTIONS:
            raise mistake(formula, f"the function {node.id} needs an argument in brackets")
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        yield node.operand
    elif isinstance(node, ast.BinOp) and isinstance(node.op, OPERATORS):
        yield from (node.left, node.right)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitXor):
        raise mistake(formula, "powers are written **, not ^")
    elif isinstance(node, ast.Call):
        yield from _arguments(formula, node)
    else:
        text = ast.unparse(node)
        text = text if len(text) <= 40 else text[:37] + "…"
        raise mistake(formula, f"'{text}' is not read; there are numbers, names, + - * / **, {', '.join(FUNCTIONS)}")


def _arguments(formula: str, node: ast.Call) -> list[ast.expr]:
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if name not in FUNCTIONS:
        text = ast.unparse(node.func)[:40]
        if isinstance(node.func, ast.Constant) or name in {*ISOTROPIC, *FIBROUS}:
            raise mistake(formula, f"after {text} there is a bracket; a product is written {text}*(…)")
        raise mistake(formula, f"the function '{text}' is not known; there are {', '.join(FUNCTIONS)}")
    if len(node.args) != FUNCTIONS[name] or node.keywords or any(isinstance(a, ast.Starred) for a in node.args):
        raise mistake(formula, f"the function {name} takes {FUNCTIONS[name]} argument{'s' * (FUNCTIONS[name] > 1)}")
    return node.args
