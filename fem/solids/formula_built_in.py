"""The strain energies of the built-in laws, and the text of their functions."""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import Any

from symplex.base.expressions import names_in
from symplex.fem.solids.formula_syntax import check_names, tree_of

# By the name of the module: the formula, and the constants in the order of the parameters.
ENERGIES = {
    "neo_hookean": ("mu/2*(I1 - 3) - mu*log(J) + lmbda/2*log(J)**2", ("lmbda", "mu")),
    "mooney_rivlin": (
        "c10*(I1 - 3) + c01*(I2 - 3) - (2*c10 + 4*c01)*log(J) + (bulk - 4/3*(c10 + c01) - 4*c01)/2*log(J)**2",
        ("c10", "c01", "bulk"),
    ),
    "saint_venant_kirchhoff": (
        "lmbda/8*(I1 - 3)**2 + mu/4*((I1 - 3)**2 + 4*(I1 - 3) - 2*(I2 - 3))",
        ("lmbda", "mu"),
    ),
}
QUADRATIC = "quadratic"  # in the strains e_i = (I_i − 1)/2 along six directions
# The halves of its matrix, row by row.
STIFFNESSES = tuple(f"k{i}{j}" for i, j in combinations_with_replacement(range(1, 7), 2))


def text(name: str) -> str:
    """Return the text of the functions of a built-in law."""
    from symplex.fem.solids.formula_energy import energy_of  # with SymPy
    from symplex.fem.solids.formula_text import text_of

    if name == QUADRATIC:
        return text_of("W = ½ Σ k_ij e_i e_j, e = (I4 − 1)/2, (I6 − 1)/2 …", _quadratic(), STIFFNESSES, 6)
    formula, constants = ENERGIES[name]
    tree = tree_of(formula)
    check_names(formula, tree, constants, 0)
    assert names_in(tree) >= set(constants)
    return text_of(f"W = {formula}", energy_of(formula, tree, dict.fromkeys(constants, 0.5)), constants, 0)


def _quadratic() -> Any:
    """Return ½ Σ k_ij e_i e_j as a SymPy expression."""
    import sympy as sp

    from symplex.fem.solids.formula_text import INVARIANTS

    strains = [(invariant - 1) / 2 for invariant in INVARIANTS[3:]]
    pairs = zip(STIFFNESSES, combinations_with_replacement(range(6), 2), strict=True)
    terms = [
        sp.Symbol(f"p_{name}", real=True) * strains[i] * strains[j] * sp.Rational(1, 1 + (i == j))
        for name, (i, j) in pairs
    ]
    return sp.Add(*terms)
