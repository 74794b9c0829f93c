"""Tables as frozen classes: annotated fields are their keys, which are read with a sentence for each mistake.

``scale: Annotated[float, positive("1"), "Of the mesh."] = 1.0`` declares a key with its unit, range, meaning and
default; what has no default must be given. Values are taken as they are written, and unknown keys are errors.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from functools import cache, partial
from types import NoneType, UnionType
from typing import Any, Literal, NamedTuple, Self, TypeVar, Union, dataclass_transform, get_args, get_origin

from symplex.base.quantities import Key, Quantity, check_text, ended, refused, shown, words, yes_or_no
from symplex.scenario.messages import close_to, suggestion

T = TypeVar("T", bound="Keys")
Reader = Callable[[Any, str, list[str]], Any]  # of a value at a place, which adds a line for each mistake


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Keys:
    """A table of a file or in one, whose annotated fields are its keys.

    Methods whose names begin with ``_check`` raise ValueError if values do not go together.

    Attributes
    ----------
    given_keys : set of str
        The fields that are given.
    """

    given_keys: set[str]

    def __init__(self, **values: Any):
        lines: list[str] = []
        given = {name: value for name, value in values.items() if value is not None}
        self.__dict__.update(getattr(read(type(self), given, lines), "__dict__", {}))
        if lines:
            raise ValueError("\n".join(lines))

    @classmethod
    def _prepared(cls, value: Any) -> Any:
        """Return the keys that are read for what is written, or a table; it may raise ValueError."""
        return value

    def replaced(self, **values: Any) -> Self:
        """Return the same with other values, which do not count as given."""
        table = copy(self)
        table.__dict__.update(values)
        return table

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen.")

    def _values(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in fields_of(type(self))}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Keys) and type(other) is type(self) and self._values() == other._values()

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._values().items())})"


def read(model: type[T], value: Any, lines: list[str], here: str = "") -> T | None:
    """Return a table of a class; add a line for each mistake, with its place, and return None if there is one."""
    n, found, table = len(lines), {}, model.__new__(model)
    try:
        value = value if isinstance(value, model) else model._prepared(value)
        if isinstance(value, model):
            return value
        if not isinstance(value, Mapping):
            raise refused("a table", value)
        declared, known = fields_of(model), keys_of(model)
        unknown, within = [key for key in value if key not in known], f"{here}." if here else ""
        meant = {close for key in unknown for close in close_to(key, known)}
        for name, field in declared.items():
            if field.key in value:
                found[name] = field.read(value[field.key], within + field.key, lines)
            elif field.default is ... and field.key not in meant:
                lines.append(f"{within}{field.key} is missing{f' ({field.unit})' if field.unit else ''}.")
        lines += [
            f"unknown key {shown(key)}{f' in {here}' if here else ''}; {suggestion(key, known)}" for key in unknown
        ]
        if len(lines) > n:
            return None
        default = {name: field.value for name, field in declared.items() if name not in found}
        table.__dict__.update(default | found, given_keys=set(found))
        for name in _checks(model):
            getattr(table, name)()
    except ValueError as error:
        lines.append(_line(here, error))
        return None
    return table


class Declared(NamedTuple):
    """A key of a table as its class declares it; without default it is ``...``."""

    key: str
    annotation: Any
    default: Any
    is_hidden: bool
    read: Reader

    @property
    def is_required(self) -> bool:
        """Whether it must be given."""
        return self.default is ...

    @property
    def value(self) -> Any:
        """Its default, each time another list or mapping."""
        return self.default.copy() if type(self.default) in (list, dict) else self.default

    @property
    def unit(self) -> str:
        """Its unit, if it is a quantity that has one."""
        return next((item.unit for item in get_args(self.annotation) if isinstance(item, Quantity)), "")


@cache
def fields_of(model: type[Keys]) -> dict[str, Declared]:
    """Return the keys of a table by the names of their fields, those of its bases first."""
    found: dict[str, Declared] = {}
    for base in model.__mro__[-3::-1]:  # without object and `Keys`
        for name, declared in vars(base).get("__annotations__", {}).items():
            if str(declared).removeprefix("typing.").startswith("ClassVar"):
                found.pop(name, None)
                continue
            annotation = _annotation(base, declared)
            key = next((item.name for item in get_args(annotation) if isinstance(item, Key)), name)
            found[name] = Declared(key or name, annotation, vars(base).get(name, ...), not key, _reader(annotation))
    return found


def annotation_of(model: type[Keys], name: str) -> Any:
    """Return the annotation of one field, without evaluating others, or None if there is none of the name."""
    bases = (base for base in model.__mro__ if name in vars(base).get("__annotations__", {}))
    return next((_annotation(base, base.__annotations__[name]) for base in bases), None)


def _annotation(base: type, declared: Any) -> Any:
    return eval(declared, vars(sys.modules[base.__module__])) if isinstance(declared, str) else declared


@cache
def keys_of(model: type[Keys]) -> tuple[str, ...]:
    """Return the keys of a table as files write them."""
    return tuple(field.key for field in fields_of(model).values())


@cache
def _checks(model: type[Keys]) -> list[str]:
    """Return the names of the methods that check a table, those of its bases first."""
    return list(dict.fromkeys(name for base in model.__mro__[::-1] for name in vars(base) if name.startswith("_check")))


def parts_of(annotation: Any) -> Iterator[Any]:
    """Yield all that an annotation is made of, but texts."""
    if not isinstance(annotation, str):  # a sentence, or a word of a Literal
        yield annotation
        for part in get_args(annotation):
            yield from parts_of(part)


def _reader(annotation: Any) -> Reader:
    """Return what reads values of an annotation."""
    origin, inside = get_origin(annotation), get_args(annotation)
    for item in inside:
        if isinstance(item, Quantity):
            return partial(_checked, item.check)
    if origin is Literal:
        return partial(_checked, words(inside).check)
    if origin in (Union, UnionType):
        one = _reader(next(part for part in inside if part is not NoneType))
        return lambda value, here, lines: None if value is None else one(value, here, lines)
    if origin in (list, tuple):
        return partial(_list, _reader(inside[0]))
    if origin is dict:
        return partial(_dict, *map(_reader, inside))
    if origin is not None:  # Annotated
        return _reader(inside[0])
    if issubclass(annotation, Keys):
        return lambda value, here, lines: read(annotation, value, lines, here)
    return partial(_checked, _PLAIN[annotation])


_PLAIN: Mapping[Any, Callable[[Any], Any]] = {bool: yes_or_no, str: check_text, Any: lambda value: value}


def _line(here: str, error: object) -> str:
    return ended(f"{here} {error}".strip())


def _checked(check: Callable[[Any], Any], value: Any, here: str, lines: list[str]) -> Any:
    try:
        return check(value)
    except ValueError as error:
        lines.append(_line(here, error))


def _list(one: Reader, value: Any, here: str, lines: list[str]) -> Any:
    if isinstance(value, list | tuple):  # counted from 1, as tables are
        return [one(item, f"{here}.{k}", lines) for k, item in enumerate(value, 1)]
    lines.append(_line(here, refused("a list", value)))


def _dict(name: Reader, one: Reader, value: Any, here: str, lines: list[str]) -> Any:
    if isinstance(value, Mapping):
        return {name(key, f"{here}: a name", lines): one(item, f"{here}.{key}", lines) for key, item in value.items()}
    lines.append(_line(here, refused("a table", value)))
