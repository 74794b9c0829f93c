"""Arguments of public functions and classes, checked against their annotations before anything is computed with them.

An annotation says of which kind an argument is: ``float`` is a real number, ``Array`` an array of real numbers, and
neither is a truth value, a complex number or a text. Only kinds are looked at here; which values make sense, and
whether arrays fit together, each function and class knows itself.
"""

from __future__ import annotations

import ast
import inspect
import math
import os
from collections.abc import Callable, Mapping
from functools import cache, wraps
from numbers import Integral, Real
from reprlib import Repr
from typing import Any, Literal, NamedTuple, TypeVar, get_origin

import numpy as np
from scipy.sparse import issparse

from symplex.errors import InvalidArgument

Checked = TypeVar("Checked", bound=Callable[..., Any])

_REPR = Repr()
_REPR.maxstring = _REPR.maxother = 60
_INDICES, _COUNTS = np.iinfo(np.int32), np.iinfo(np.int64)


def checked(what: Checked) -> Checked:
    """Return a function or class whose arguments are checked against their annotations, for use as a decorator.

    Lists become arrays and numbers of numpy those of Python, as far as annotations say so. What an annotation names
    that is not known here is left alone.

    Raises
    ------
    InvalidArgument
        When it is called with an argument of another kind.
    """
    function = what.__init__ if isinstance(what, type) else what
    signature = inspect.signature(function)

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs)
        for name, value in given.arguments.items():
            annotation = signature.parameters[name].annotation
            if isinstance(annotation, str):
                place = f"{what.__name__}: {name}"
                given.arguments[name] = _converted(place, value, _kinds(annotation), function.__globals__)
        return function(*given.args, **given.kwargs)

    if isinstance(what, type):
        what.__init__ = call
        return what
    return call  # pyright: ignore[reportReturnType]


def is_real(value: Any) -> bool:
    """Return whether a value is a real number, of Python or numpy, and no truth value."""
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


# -- kinds ----------------------------------------------------------------------------------------------------------


class _OtherKind(Exception):
    """A value is not of a kind."""


class _Kind(NamedTuple):
    """What a value must be, in words, and what returns it converted or raises `_OtherKind`, given a module's names."""

    wanted: str
    convert: Callable[[Any, Mapping[str, Any]], Any]


def _converted(place: str, value: Any, kinds: tuple[_Kind, ...], names: Mapping[str, Any]) -> Any:
    """Return a value as the first kind that it is of."""
    for kind in kinds:
        try:
            return kind.convert(value, names)
        except _OtherKind:
            continue
    wanted = " or ".join(dict.fromkeys(kind.wanted for kind in kinds))
    raise InvalidArgument(f"{place} must be {wanted}; it is {_told(value)}.")


def _told(value: Any) -> str:
    """Return what a value is, in few words."""
    if isinstance(value, np.ndarray) and value.size > 4:
        return f"an array of shape {value.shape} of {value.dtype}"
    try:
        return _REPR.repr(value).replace("\n", " ")
    except Exception:  # of a __repr__ that is not ours
        return f"a {type(value).__name__}"


@cache
def _kinds(annotation: str) -> tuple[_Kind, ...]:
    """Return the kinds that an annotation allows."""
    kinds = _kinds_of(ast.parse(annotation, mode="eval").body)
    # A text that is meant as a path must be one.
    return tuple(kind for kind in kinds if kind is not _KINDS["str"]) if _KINDS["Path"] in kinds else kinds


def _kinds_of(node: ast.expr) -> tuple[_Kind, ...]:
    if isinstance(node, ast.BinOp):
        return _kinds_of(node.left) + _kinds_of(node.right)
    if isinstance(node, ast.Subscript):
        inside = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return (_generic(ast.unparse(node.value), inside),)
    name = ast.unparse(node)
    return (_KINDS[name] if name in _KINDS else _named(name),)


def _generic(name: str, inside: list[ast.expr]) -> _Kind:
    """Return the kind of an annotation with brackets."""
    if name == "NDArray":
        return _KINDS[f"NDArray[{ast.unparse(inside[0])}]"]
    if name == "Literal":  # of which words, functions know
        return _KINDS["str"]
    if name == "tuple" and not isinstance(inside[-1], ast.Constant):
        return _tuple([_kinds_of(item) for item in inside])
    if name in ("tuple", "list", "Sequence", "Collection"):
        return _sequence(_kinds_of(inside[0]))
    if name == "Mapping" and isinstance(inside[1], ast.Subscript):
        return _mapping(_kinds_of(inside[1]))
    if name == "Callable":
        return _KINDS["Callable"]
    return _ANYTHING


def _named(name: str) -> _Kind:
    """Return the kind of the instances of a class, or what an alias stands for, by its name in a module."""

    def convert(value: Any, names: Mapping[str, Any]) -> Any:
        of: Any = names.get(name)
        if get_origin(of) is Literal:
            return _text(value, names)
        if get_origin(of) is Callable:
            return _function(value, names)
        if isinstance(of, type) and not isinstance(value, of):
            raise _OtherKind
        return value

    return _Kind(f"a {name}", convert)


def _tuple(parts: list[tuple[_Kind, ...]]) -> _Kind:
    def convert(value: Any, names: Mapping[str, Any]) -> Any:
        if not isinstance(value, tuple | list | np.ndarray) or len(value) != len(parts):
            raise _OtherKind
        return tuple(_element(item, kinds, names) for item, kinds in zip(value, parts, strict=True))

    return _Kind(f"{len(parts)} values, each {parts[0][0].wanted}", convert)


def _sequence(kinds: tuple[_Kind, ...]) -> _Kind:
    def convert(value: Any, names: Mapping[str, Any]) -> Any:
        if isinstance(value, str | bytes | Mapping) or not hasattr(value, "__iter__") or not hasattr(value, "__len__"):
            raise _OtherKind
        return tuple(_element(item, kinds, names) for item in value)

    return _Kind(f"a sequence, each {kinds[0].wanted}", convert)


def _mapping(kinds: tuple[_Kind, ...]) -> _Kind:
    def convert(value: Any, names: Mapping[str, Any]) -> Any:
        if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
            raise _OtherKind
        return {name: _element(item, kinds, names) for name, item in value.items()}

    return _Kind(f"a mapping of names, each to {kinds[0].wanted}", convert)


def _element(value: Any, kinds: tuple[_Kind, ...], names: Mapping[str, Any]) -> Any:
    for kind in kinds:
        try:
            return kind.convert(value, names)
        except _OtherKind:
            continue
    raise _OtherKind


# -- numbers and arrays ---------------------------------------------------------------------------------------------


def _real(value: Any, names: Mapping[str, Any]) -> float:
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if not is_real(value):
        raise _OtherKind
    try:
        return value if isinstance(value, int) and math.isfinite(value) else float(value)
    except OverflowError:
        raise _OtherKind from None


def _whole(value: Any, names: Mapping[str, Any]) -> int:
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if not isinstance(value, Integral) or isinstance(value, bool) or not _COUNTS.min <= value <= _COUNTS.max:
        raise _OtherKind
    return int(value)


def _truth(value: Any, names: Mapping[str, Any]) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise _OtherKind
    return bool(value)


def _numbers(value: Any, names: Mapping[str, Any]) -> np.ndarray:
    """Return an array of real numbers, of integers if they are."""
    if issparse(value) or isinstance(value, str | bytes | Mapping) or np.ma.is_masked(value):
        raise _OtherKind
    try:
        array = np.asarray(value)
        if array.dtype == object and array.size and all(map(is_real, array.flat)):  # integers of many digits
            array = array.astype(float)
    except (TypeError, ValueError, OverflowError):  # rows of several lengths
        raise _OtherKind from None
    if array.dtype.kind not in "fiu":
        raise _OtherKind
    return array


def _floats(value: Any, names: Mapping[str, Any]) -> np.ndarray:
    array = _numbers(value, names)
    if array.ndim == 0:
        raise _OtherKind
    return np.asarray(array, dtype=float, order="C")


def _indices(value: Any, names: Mapping[str, Any]) -> np.ndarray:
    array = _numbers(value, names)
    if array.ndim == 0 or (array.dtype.kind not in "iu" and array.size):
        raise _OtherKind
    if array.size and not (array.min() >= _INDICES.min and array.max() <= _INDICES.max):
        raise _OtherKind
    return np.asarray(array, dtype=np.int32, order="C")


def _mask(value: Any, names: Mapping[str, Any]) -> np.ndarray:
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):
        raise _OtherKind from None
    if array.ndim == 0 or not (array.dtype == bool or (array.dtype.kind in "fiu" and np.isin(array, (0, 1)).all())):
        raise _OtherKind
    return array.astype(bool)


def _sparse(value: Any, names: Mapping[str, Any]) -> Any:
    if not issparse(value) or value.dtype.kind not in "fiu":
        raise _OtherKind
    return value


def _path(value: Any, names: Mapping[str, Any]) -> Any:
    if not isinstance(value, str | os.PathLike) or "\0" in os.fspath(value):
        raise _OtherKind
    return value


def _text(value: Any, names: Mapping[str, Any]) -> str:
    if not isinstance(value, str):
        raise _OtherKind
    return value


def _none(value: Any, names: Mapping[str, Any]) -> None:
    if value is not None:
        raise _OtherKind


def _function(value: Any, names: Mapping[str, Any]) -> Any:
    if not callable(value):
        raise _OtherKind
    return value


_ANYTHING = _Kind("anything", lambda value, names: value)
_KINDS = {
    "float": _Kind("a real number", _real),
    "int": _Kind("a whole number", _whole),
    "bool": _Kind("True or False", _truth),
    "str": _Kind("a text", _text),
    "Path": _Kind("a path", _path),
    "None": _Kind("None", _none),
    "ArrayLike": _Kind("an array of real numbers", _numbers),
    "Array": _Kind("an array of real numbers", _floats),
    "NDArray[np.float64]": _Kind("an array of real numbers", _floats),
    "IntArray": _Kind("an array of indices (whole numbers)", _indices),
    "NDArray[np.int32]": _Kind("an array of indices (whole numbers)", _indices),
    "NDArray[np.bool_]": _Kind("an array of True and False", _mask),
    "sp.csr_array": _Kind("a sparse matrix of real numbers", _sparse),
    "Callable": _Kind("a function", _function),
    "Any": _ANYTHING,
}
