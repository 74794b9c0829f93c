"""The syntax of a strain energy: which formulas are read, and what their mistakes are called.

A formula is an expression of Python in form only. It is read as a syntax tree, of which a short list of nodes, names
and functions is allowed; nothing of it is ever evaluated by Python.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Collection

from symplex.base import expressions
from symplex.base.expressions import names_in
from symplex.errors import MaterialError

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


def tree_of(formula: str) -> ast.expr:
    """Return the syntax tree of a formula that is allowed (`symplex.base.expressions.tree_of`)."""
    try:
        return expressions.tree_of(formula, FUNCTIONS, {*ISOTROPIC, *FIBROUS})
    except expressions.FormulaMistake as error:
        raise mistake(formula, str(error)) from None


def check_names(formula: str, tree: ast.expr, constants: Collection[str], fibres: int) -> None:
    """Check that each name is known, and that each constant is used."""
    for name in constants:
        if name in RESERVED or not name.isidentifier():
            raise mistake(formula, f"no constant can be called '{name[:40]}', which is a reserved name")
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
