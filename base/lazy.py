"""Public names of a package, each imported from its module when it is first used."""

# Nothing but these is imported here; see symplex/__init__.py for why.
import gc
from importlib import import_module
from sys import modules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import ModuleType


class Loading:
    """Lets Python import modules without looks for garbage, of which they leave none: a tenth of the time went there.

    Afterwards they are among what has been there for long, as if they had been looked at.

    Parameters
    ----------
    for_good : bool, default False
        Whether they are never looked at, as in a program that ends before its modules do.
    """

    _kept = False  # whether something is never looked at by now: to count that takes as long as there is much of it

    def __init__(self, for_good: bool = False):
        self._for_good = for_good
        self._was_enabled = False

    def __enter__(self) -> None:
        self._was_enabled = gc.isenabled()
        gc.disable()

    def __exit__(self, *raised: object) -> None:
        if not Loading._kept:
            Loading._kept = gc.get_freeze_count() > 0  # by others: what becomes garbage stays
        if not Loading._kept:
            gc.freeze()
            if not self._for_good:
                gc.unfreeze()
            Loading._kept = self._for_good
        if self._was_enabled:
            gc.enable()


def loaded(module: str, package: "str | None" = None) -> "ModuleType":
    """Return a module; if its name begins with a point, one of a package."""
    with Loading():
        return import_module(module, package)


def public(
    package: str, homes: "Mapping[str, tuple[str, ...]]", former: "Mapping[str, str] | None" = None
) -> "tuple[list[str], Callable[[str], object], Callable[[], list[str]]]":
    """Return ``__all__``, ``__getattr__`` and ``__dir__`` of a package.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    homes : mapping of str to tuple of str
        The public names by the module that they are in: ``.bars`` for one of the package.
    former : mapping of str to str, optional
        Names of earlier versions, and what they are now: they work for two releases, with a DeprecationWarning.
    """
    home = {name: module for module, names in homes.items() for name in names}
    renamed = former or {}

    def get(name: str) -> object:
        if name in renamed:
            from warnings import warn

            warn(f"{package}.{name} is now {renamed[name]}.", DeprecationWarning, stacklevel=2)
            name, _, method = renamed[name].partition(".")
            return getattr(get(name), method) if method else get(name)
        if name not in home:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        value = getattr(loaded(home[name], package), name)
        setattr(modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(modules[package]), *home})

    return sorted(home), get, names
