"""Write the stubs that editors and type checkers read: ``python tests/write_stubs.py``.

The public names are stated in the ``__init__.py`` of the packages, where each is imported when it is first used; which
no editor can follow.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import symplex

ROOT = Path(symplex.__path__[0])


def stubs() -> dict[Path, str]:
    """Return the text of each stub by its path."""
    families = {name: importlib.import_module(module) for name, module in symplex._FAMILIES.items()}
    packages = {name: family for name, family in families.items() if hasattr(family, "__path__")}
    found = {Path(family.__path__[0]) / "__init__.pyi": _of_family(family) for family in packages.values()}
    return found | {ROOT / "__init__.pyi": _of_top(families)}


def _of_family(family: ModuleType) -> str:
    return _text(family, [_import(family, name) for name in family.__all__])


def _of_top(families: dict[str, ModuleType]) -> str:
    modules = [(module.__name__.rpartition("."), name) for name, module in families.items()]
    imports = [f"from {package} import {last} as {name}" for (package, _, last), name in modules]
    imports += [_import(symplex, name) for name in symplex._FAMILY_OF]
    return _text(symplex, imports) + "\n__version__: str\n"


def _import(package: ModuleType, name: str) -> str:
    return f"from {getattr(package, name).__module__} import {name} as {name}"


def _text(package: ModuleType, imports: list[str]) -> str:
    return "\n".join([f'"""{package.__doc__}"""', "", "# Made by tests/write_stubs.py.", *sorted(imports), ""])


if __name__ == "__main__":
    for path, text in stubs().items():
        path.write_text(text, encoding="utf-8")
