"""Parts of a system that go by names: energies, loads, moving supports, constraints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from symplex.errors import InvalidSystem

Part = TypeVar("Part")


def by_name(what: str, given: Mapping[str, Part], kind: type, advice: str) -> dict[str, Part]:
    """Return parts by name, after a look at whether they are of their kind.

    Parameters
    ----------
    what : str
        Begins messages: 'energies'.
    given : mapping of str to object
    kind : type
        What each of them must be.
    advice : str
        A sentence on what else there is.
    """
    if not isinstance(given, Mapping):
        raise InvalidSystem(f'{what} must go by names, {{"name": ...}}; given is a {type(given).__name__}. {advice}')
    for name, part in given.items():
        if not isinstance(part, kind):
            raise InvalidSystem(f"{what}: '{name}' is a {type(part).__name__}, no {kind.__name__}. {advice}")
    return dict(given)
