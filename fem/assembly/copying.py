"""Copies and pickles of what may hold functions."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator, Mapping
from typing import Any, Self

import numpy as np

from symplex.base.representation import Described
from symplex.base.sparse import sp
from symplex.errors import InvalidSystem, SymplexError


def own_parts(part: object) -> Iterator[object]:
    """Yield a part of a system, and what it is made of, as far as their classes or functions are not of the package."""
    kind = part if hasattr(part, "__code__") else type(part)
    if str(getattr(kind, "__module__", "")).split(".")[0] != "symplex":
        yield part
    for inner in vars(part).values() if isinstance(part, Copyable) else ():
        if isinstance(inner, Copyable):
            yield from own_parts(inner)


class Copyable(Described):
    """A base of systems and their parts: copied as any object is, with one sentence where it cannot be pickled.

    Copies share the functions of the original, of whatever kind. A pickle holds their names only, by which another
    process must find them.
    """

    def __copy__(self) -> Self:
        """Return a copy that shares all parts."""
        make, arguments, state = _standard(super().__reduce_ex__(4))
        return _filled(make(*arguments), state)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return a copy that shares nothing but functions."""
        make, arguments, state = _standard(super().__reduce_ex__(4))
        new = memo[id(self)] = make(*copy.deepcopy(arguments, memo))
        return _filled(new, copy.deepcopy(state, memo))

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Return what a pickle is made of.

        Raises
        ------
        InvalidSystem
            If a part cannot be pickled, such as a function without a name.
        """
        reduced = super().__reduce_ex__(protocol)
        for name, part in _functions(_standard(reduced)[2]):
            try:
                pickle.dumps(part, protocol)
            except SymplexError:
                raise
            except (pickle.PicklingError, AttributeError, TypeError, ValueError) as error:
                raise InvalidSystem(
                    f"this {type(self).__name__} cannot be pickled because of its {name}: {error}; functions must be "
                    "defined by def at the top of a module, where another process finds them (copy.deepcopy takes any)."
                ) from None
        return reduced


def _standard(reduced: Any) -> tuple[Any, tuple[Any, ...], Any]:
    """Return the function that makes an object, its arguments and the state, of what objects reduce themselves to."""
    return reduced[0], reduced[1], reduced[2] if len(reduced) > 2 else None


def _functions(state: Any) -> Iterator[tuple[str, Any]]:
    """Yield what may be, or hold, functions, by name; but not what looks after itself."""
    for attributes in state if isinstance(state, tuple) else (state,):
        for name, part in attributes.items() if isinstance(attributes, Mapping) else ():
            named = [(f"{name} '{key}'", one) for key, one in part.items()] if isinstance(part, Mapping) else []
            for called, one in named or [(name, part)]:
                if not isinstance(one, Copyable | np.ndarray | sp.sparray):
                    yield called, one


def _filled(new: Any, state: Any) -> Any:
    """Return a new object with the attributes of another one, or what its own __setstate__ makes of them."""
    if hasattr(new, "__setstate__"):
        new.__setstate__(state)
        return new
    for attributes in state if isinstance(state, tuple) else (state,):
        for name, value in (attributes or {}).items():
            object.__setattr__(new, name, value)
    return new
