"""Where the generated functions of laws are kept: as text in a folder next to the cached kernels.

The name of a file is a digest of the formula and of all that its text and what is compiled of it depend on, so that an
old one is never taken. The text begins with its own digest: what a full disk or another process has left of one is
rebuilt.
"""

from __future__ import annotations

import ast
import hashlib
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import numba

from symplex.base.expressions import names_in
from symplex.fem.compiled.kernel_cache import LAWS, cache_folder
from symplex.fem.compiled.kernels import stamp
from symplex.fem.solids import formula_built_in
from symplex.fem.solids.formula_syntax import mistake, tree_of

# A function and its arguments, which give the module in another process
Recipe = tuple[Callable[..., ModuleType], tuple[Any, ...]]

_HERE = Path(__file__).parent
# Of the text, and of what is compiled with it
_SOURCES = ("formula_built_in.py", "formula_energy.py", "law_scalars.py")


def module_of(formula: str, constants: Mapping[str, float], fibres: int) -> ModuleType:
    """Return the module of the functions of a formula, as a rule without SymPy: made once for all processes.

    Parameters
    ----------
    formula : str
        Of which `symplex.fem.solids.formula_syntax` has checked the names.
    constants : mapping of str to float
    fibres : int
        The number of families of fibres.
    """
    tree = tree_of(formula)
    powers = _names_in_exponents(tree)
    key = repr(
        (ast.dump(tree), sorted(constants), [(n, constants[n]) for n in sorted(powers & set(constants))], fibres)
    )
    recipe = module_of, (formula, dict(constants), fibres)
    return _module(key, lambda: _generated(formula, tree, constants, fibres), recipe)


def built_in(name: str) -> ModuleType:
    """Return the module of the functions of a law of this package.

    Parameters
    ----------
    name : str
        One of `symplex.fem.solids.formula_built_in`.
    """
    return _module(f"built-in {name}", lambda: formula_built_in.text(name), (built_in, (name,)))


def _module(key: str, text_of: Callable[[], str], recipe: Recipe) -> ModuleType:
    """Return the module of the text with a key, which `text_of` generates unless a process has before."""
    digest = _digest(key, numba.__version__, *(stamp(_HERE / name) for name in _SOURCES))
    name = f"symplex_law_{digest[:32]}"
    if name in sys.modules:
        return sys.modules[name]
    path = cache_folder() / LAWS / f"{name}.txt"
    text = _read(path)
    kept = text is not None
    if text is None:
        text = text_of()
        text = f"# {_digest(text)}\n{text}"
        kept = _write(path, text)
    module = ModuleType(name)
    module.__file__ = str(path)
    exec(compile(text, str(path), "exec"), module.__dict__)
    module.RECIPE = recipe  # pyright: ignore[reportAttributeAccessIssue]
    module.KEPT = kept  # pyright: ignore[reportAttributeAccessIssue]
    return sys.modules.setdefault(name, module)


def _generated(formula: str, tree: ast.expr, constants: Mapping[str, float], fibres: int) -> str:
    from symplex.fem.solids.formula_energy import energy_of  # with SymPy, which takes its time to import
    from symplex.fem.solids.formula_text import TooLong, text_of

    try:
        return text_of(f"W = {formula}", energy_of(formula, tree, constants), sorted(constants), fibres)
    except TooLong as error:
        raise mistake(formula, str(error)) from None


def _names_in_exponents(tree: ast.expr) -> set[str]:
    """Return the names in exponents, whose values the text may depend on."""
    powers = (n for n in ast.walk(tree) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Pow))
    return set().union(*(names_in(power.right) for power in powers))


def _read(path: Path) -> str | None:
    """Return a text that has been kept, if it is whole."""
    try:
        digest, _, text = path.read_text(encoding="utf-8").partition("\n")
    except (OSError, UnicodeDecodeError):
        return None
    return f"{digest}\n{text}" if digest == f"# {_digest(text)}" else None


def _write(path: Path, text: str) -> bool:
    """Keep a text, and return whether that was possible; it can do without."""
    aside = None
    try:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, delete=False) as file:
            aside = Path(file.name)
            file.write(text)
        aside.replace(path)
    except OSError:
        if aside is not None:
            with suppress(OSError):
                aside.unlink(missing_ok=True)
        return False
    return True


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()
