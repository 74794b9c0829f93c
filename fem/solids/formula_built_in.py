"""The strain energies of the built-in laws, and the text of their functions.

``python -m symplex.fem.solids.formula_built_in`` writes the modules of `symplex.fem.solids.laws` anew.
"""

from __future__ import annotations

from pathlib import Path

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


def text(name: str) -> str:
    """Return the text of the functions of a built-in law."""
    from symplex.fem.solids.formula_energy import energy_of  # with SymPy
    from symplex.fem.solids.formula_text import text_of

    formula, constants = ENERGIES[name]
    tree = tree_of(formula)
    check_names(formula, tree, constants, 0)
    assert names_in(tree) >= set(constants)
    return text_of(f"W = {formula}", energy_of(formula, tree, dict.fromkeys(constants, 0.5)), constants, 0)


def main() -> None:
    """Write the modules."""
    for name in ENERGIES:
        (Path(__file__).parent / "laws" / f"{name}.py").write_text(text(name), encoding="utf-8")


if __name__ == "__main__":
    main()
