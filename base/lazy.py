"""Public names of a package, each imported from its module when it is first used."""

# Nothing but these is imported here; see symplex/__init__.py for why.
from importlib import import_module
from sys import modules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


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
        value = getattr(import_module(home[name], package), name)
        setattr(modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(modules[package]), *home})

    return sorted(home), get, names
