"""Public names of a package, each imported from its module when it is first used."""

# Nothing but these is imported here; see symplex/__init__.py for why.
from gc import disable, enable, isenabled
from importlib import import_module
from sys import modules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def load(module: str, package: str | None = None) -> object:
    """Import a module without looking for garbage, of which imports leave hardly any: that takes a seventh of them.

    Parameters
    ----------
    module : str
        Its name; ``.bars`` for one of the package.
    package : str, optional
        The package's name.
    """
    was_enabled = isenabled()
    disable()
    try:
        return import_module(module, package)
    finally:
        if was_enabled:
            enable()


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
        value = getattr(load(home[name], package), name)
        setattr(modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(modules[package]), *home})

    return sorted(home), get, names
