"""Public names of a package, each imported from its module when it is first used."""

# Nothing but these is imported here; see symplex/__init__.py for why.
import gc
from importlib import import_module
from sys import modules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import ModuleType


def loaded(module: str, package: str | None = None) -> "ModuleType":
    """Return a module, imported without looks for garbage, of which modules leave none: they took a tenth of the time.

    Parameters
    ----------
    module : str
        Its name; if it begins with a point, in a package.
    package : str, optional
    """
    if not gc.isenabled():
        return import_module(module, package)
    gc.disable()
    try:
        return import_module(module, package)
    finally:
        gc.enable()


def public(
    package: str, homes: "Mapping[str, tuple[str, ...]]"
) -> "tuple[list[str], Callable[[str], object], Callable[[], list[str]]]":
    """Return ``__all__``, ``__getattr__`` and ``__dir__`` of a package.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    homes : mapping of str to tuple of str
        The public names by the module that they are in: ``.bars`` for one of the package.
    """
    home = {name: module for module, names in homes.items() for name in names}

    def get(name: str) -> object:
        if name not in home:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        value = getattr(loaded(home[name], package), name)
        setattr(modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(modules[package]), *home})

    return sorted(home), get, names
