"""Arguments of public functions and classes, checked against their annotations before anything is computed with them.

An annotation says of which kind an argument is: ``float`` is a real number, ``Array`` an array of real numbers, and
neither is a truth value, a complex number or a text. ``Annotated[float, positive("s")]`` declares its range and unit as
well (`symplex.base.quantities`). Whether arguments fit together, each function and class knows itself.
"""

from __future__ import annotations

import ast
import inspect
import math
import os
import re
import sys
from collections import ChainMap
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cache, wraps
from numbers import Integral, Real
from reprlib import Repr
from typing import Any, Literal, NamedTuple, TypeVar, get_args, get_origin

import numpy as np

from symplex.base.quantities import Key, Quantity, Without, ended, words, yes_or_no
from symplex.base.representation import Described
from symplex.errors import InvalidArgument

Checked = TypeVar("Checked", bound=Callable[..., Any])

_LEAST, _LARGEST = 1e-100, 1e100  # whose squares and cubes are still numbers
_IN_RANGE = f"(0, or from {_LEAST:g} to {_LARGEST:g} in size)"
_LONGEST_TEXT, _LONGEST_PATH = 1000, 4000
_LARGEST_FLOAT = int(sys.float_info.max)
_INDICES, _COUNTS = np.iinfo(np.int32), np.iinfo(np.int64)
_REPR = Repr()
_REPR.maxstring = _REPR.maxother = 60


def checked(what: Checked, but: Collection[str] = ()) -> Checked:
    """Return a function or class whose arguments are checked against their annotations (a decorator).

    Lists become arrays and numbers of numpy those of Python, as far as annotations say so. Of what an annotation names
    that is not known here, anything goes.

    Parameters
    ----------
    what : function or class
    but : collection of str, optional
        The names of arguments that it checks itself, with advice.

    Raises
    ------
    InvalidArgument
        When it is called with an argument of another kind.
    """
    function = what.__init__ if isinstance(what, type) else what
    signature: inspect.Signature | None = None
    known: dict[str, tuple[_Kind, ...]] = {}

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        nonlocal signature
        if signature is None:  # once all names of modules are there; for all functions at once it would take long
            signature = inspect.signature(function)
            known.update(_kinds_by_name(what, signature, but))
        given = signature.bind(*args, **kwargs)
        for name, value in given.arguments.items():
            if name in known:
                given.arguments[name] = _converted(f"{what.__qualname__}: {name}", value, known[name])
        return function(*given.args, **given.kwargs)

    if isinstance(what, type):
        what.__init__ = call
        return what  # pyright: ignore[reportReturnType]
    return call  # pyright: ignore[reportReturnType]


def is_real(value: Any) -> bool:
    """Return whether a value is a real number that a float can be, of Python or numpy, and no truth value."""
    if isinstance(value, float):
        return True
    if isinstance(value, int):
        return not isinstance(value, bool) and -_LARGEST_FLOAT <= value <= _LARGEST_FLOAT
    return isinstance(value, Real) and not isinstance(value, np.bool_)


def described(value: Any) -> str:
    """Return what a value is, in few words."""
    if isinstance(value, np.ndarray) and value.size > 4:
        return f"an array of shape {value.shape} of {value.dtype}"
    if type(value).__repr__ in (object.__repr__, Described.__repr__):
        return f"a {type(value).__name__}"
    try:
        return _REPR.repr(value)
    except Exception:  # of a __repr__ that is not ours
        return f"a {type(value).__name__}"


# -- kinds ----------------------------------------------------------------------------------------------------------


class _OtherKind(Exception):
    """A value is not of a kind."""


class _OutOfRange(Exception):
    """A value is of a kind, but not in its range."""


class _Kind(NamedTuple):
    """What a value must be, in words, and a function that returns it converted or raises `_OtherKind`."""

    requested: str
    convert: Callable[[Any], Any]
    is_word: bool = False


def _converted(place: str, value: Any, kinds: tuple[_Kind, ...]) -> Any:
    """Return a value as the first kind that it is of."""
    try:
        return _first(value, kinds)
    except _OtherKind:
        requested = " or ".join(dict.fromkeys(kind.requested for kind in kinds))
        raise InvalidArgument(f"{place} must be {requested}, got {described(value)}.") from None
    except _OutOfRange as error:
        raise InvalidArgument(f"{place} {ended(error)}") from None


def _first(value: Any, kinds: tuple[_Kind, ...]) -> Any:
    failed: _OutOfRange | None = None
    for kind in kinds:
        if failed is not None and not kind.is_word:  # a value out of range is not meant as another kind
            continue
        try:
            return kind.convert(value)
        except _OtherKind:
            continue
        except _OutOfRange as error:
            failed = error
    raise failed or _OtherKind


def _kinds_by_name(what: Any, signature: inspect.Signature, but: Collection[str]) -> dict[str, tuple[_Kind, ...]]:
    """Return the kinds of the arguments of a function or class that are annotated."""
    owners = what.__mro__ if isinstance(what, type) else [what]
    names = ChainMap(*(vars(sys.modules[owner.__module__]) for owner in owners))
    annotations = {name: parameter.annotation for name, parameter in signature.parameters.items()}
    return {name: _kinds(x, names) for name, x in annotations.items() if isinstance(x, str) and name not in but}


def _kinds(annotation: str, names: Mapping[str, Any]) -> tuple[_Kind, ...]:
    """Return the kinds that an annotation allows, given the names of its module."""
    kinds = _kinds_of(ast.parse(annotation, mode="eval").body, names)
    # A text that is meant as a path must be one.
    return tuple(kind for kind in kinds if kind is not _KINDS["str"]) if _KINDS["Path"] in kinds else kinds


def _kinds_of(node: ast.expr, names: Mapping[str, Any]) -> tuple[_Kind, ...]:
    if isinstance(node, ast.BinOp):
        return _kinds_of(node.left, names) + _kinds_of(node.right, names)
    if isinstance(node, ast.Subscript):
        inside = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return (_generic(ast.unparse(node.value), inside, names),)
    name = ast.unparse(node)
    return (_KINDS[name] if name in _KINDS else _named(name, names),)


def _generic(name: str, inside: list[ast.expr], names: Mapping[str, Any]) -> _Kind:
    """Return the kind of an annotation with brackets."""
    if name == "Annotated":
        return _in_range(_kinds_of(inside[0], names), _metadata(inside[1:], names))
    if name == "NDArray":
        return _KINDS[f"NDArray[{ast.unparse(inside[0])}]"]
    if name == "Literal":  # of which words, functions know
        return _KINDS["str"]
    if name == "tuple" and not isinstance(inside[-1], ast.Constant):
        return _tuple([_kinds_of(item, names) for item in inside])
    if name in ("tuple", "list", "Sequence", "Collection"):
        return _sequence(_kinds_of(inside[0], names))
    if name == "Mapping":
        return _mapping(_kinds_of(inside[1], names))
    if name == "Callable":
        return _KINDS["Callable"]
    return _named(name, names)


def _metadata(nodes: Sequence[ast.expr], names: Mapping[str, Any]) -> list[Any]:
    """Return what an annotation says besides the kind."""
    return [eval(ast.unparse(node), {}, names) for node in nodes]  # the text of annotations of this package


def _in_range(kinds: tuple[_Kind, ...], metadata: Sequence[Any]) -> _Kind:
    quantity = next((item for item in metadata if isinstance(item, Quantity)), None)

    def convert(value: Any) -> Any:
        if quantity is None or not any(kind.is_word for kind in kinds):
            value = _first(value, kinds)
        if value is None or quantity is None:
            return value
        try:
            return quantity.check(value)
        except ValueError as error:
            raise _OutOfRange(str(error)) from None

    return _Kind(" or ".join(dict.fromkeys(kind.requested for kind in kinds)), convert)


class Parameter(NamedTuple):
    """A parameter of a class as its annotation declares it.

    Attributes
    ----------
    quantity : Quantity, optional
        What its values may be, where the annotation shows.
    part : type, optional
        The class of which it is an object, with parameters of its own.
    key : str
        How scenarios call it; empty if they do not have it.
    without : tuple of str
        Parameters of the part that are no keys.
    sentence : str
        What the docstring of the class says of it.
    """

    quantity: Quantity | None
    part: type | None
    key: str
    without: tuple[str, ...]
    sentence: str


@cache
def parameters_of(what: type) -> Mapping[str, Parameter]:
    """Return the parameters of a class as its annotations declare them, by name; these must be texts, as here."""
    names = ChainMap(*(vars(sys.modules[owner.__module__]) for owner in what.__mro__))
    given = inspect.signature(what).parameters  # in the order of fields, also those that have no position
    order = [item.name for item in fields(what) if item.name in given] if is_dataclass(what) else list(given)
    sentences = ChainMap(*(_sentences(owner.__doc__ or "") for owner in what.__mro__))
    return {name: _parameter(name, str(given[name].annotation), names, sentences) for name in order}


def declared(what: type, name: str) -> Quantity:
    """Return what values of a parameter of a class may be, and what they mean, for a key that is the same."""
    parameter = parameters_of(what)[name]
    assert parameter.quantity is not None, "its annotation says"
    return replace(parameter.quantity, sentence=parameter.sentence)


def _sentences(docstring: str) -> dict[str, str]:
    """Return what the section of parameters of a docstring says of each."""
    section = re.search(
        r"^Parameters\n-+\n((?:.*\n?)*?)(?=^\w[\w ]*\n-+$|\Z)", inspect.cleandoc(docstring), re.MULTILINE
    )
    found: dict[str, str] = {}
    for names, text in re.findall(
        r"^(\w[\w, ]*) ?:.*\n((?:(?: .*)?\n?)*)", section[1] if section else "", re.MULTILINE
    ):
        found |= dict.fromkeys(names.replace(" ", "").split(","), " ".join(text.split()))
    return found


def _parameter(name: str, annotation: str, names: Mapping[str, Any], sentences: Mapping[str, str]) -> Parameter:
    tree, metadata = ast.parse(annotation, mode="eval").body, []
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "Annotated":
            assert isinstance(node.slice, ast.Tuple)
            metadata += _metadata(node.slice.elts[1:], names)
            tree = node.slice.elts[0] if node is tree else tree
    quantity = next((item for item in metadata if isinstance(item, Quantity)), None)
    key = next((item.name for item in metadata if isinstance(item, Key)), name)
    of = names.get(ast.unparse(tree))
    if quantity is None and annotation == "bool":
        quantity = Quantity(yes_or_no, kind="boolean")
    if quantity is None and get_origin(of) is Literal:
        quantity = words(get_args(of))
    without = next((item.names for item in metadata if isinstance(item, Without)), ())
    part = of if isinstance(of, type) and is_dataclass(of) else None
    return Parameter(quantity, part, key, without, sentences.get(name, ""))


def _named(name: str, names: Mapping[str, Any]) -> _Kind:
    """Return the kind of the instances of a class, or what an alias stands for."""
    of: Any = names.get(name)
    if get_origin(of) is Literal:
        return _in_range((_KINDS["str"],), [words(get_args(of))])._replace(is_word=True)
    if get_origin(of) is Callable:
        return _KINDS["Callable"]
    of = Mapping if get_origin(of) in (dict, Mapping) else of
    if not isinstance(of, type):
        return _ANYTHING

    def convert(value: Any) -> Any:
        if not isinstance(value, of):
            raise _OtherKind
        return value

    return _Kind(f"a {of.__name__}", convert)


def _tuple(parts: list[tuple[_Kind, ...]]) -> _Kind:
    def convert(value: Any) -> Any:
        value = _listed(value)
        if len(value) != len(parts):
            raise _OtherKind
        return tuple(_first(item, kinds) for item, kinds in zip(value, parts, strict=True))

    return _Kind(f"{len(parts)} values, each {parts[0][0].requested}", convert)


def _sequence(kinds: tuple[_Kind, ...]) -> _Kind:
    def convert(value: Any) -> Any:
        return tuple(_first(item, kinds) for item in _listed(value))

    return _Kind(f"a sequence, each {kinds[0].requested}", convert)


def _listed(value: Any) -> list[Any]:
    """Return the items of a list or of what is like one."""
    if isinstance(value, np.ndarray) and value.ndim == 1:
        return value.tolist()
    if not isinstance(value, tuple | list | set | frozenset):
        raise _OtherKind
    return list(value)


def _mapping(kinds: tuple[_Kind, ...]) -> _Kind:
    def convert(value: Any) -> Any:
        if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
            raise _OtherKind
        return {name: _first(item, kinds) for name, item in value.items()}

    return _Kind(f"a mapping of names, each to {kinds[0].requested}", convert)


# -- numbers and arrays ---------------------------------------------------------------------------------------------


def _is_sparse(value: Any) -> bool:
    sparse = sys.modules.get("scipy.sparse")  # who has a sparse matrix has imported it; it takes a tenth of a second
    return sparse is not None and sparse.issparse(value)


def _real(value: Any) -> float:
    value = _scalar(value)
    if not is_real(value) or _out_of_range(float(value)):
        raise _OtherKind
    return value if isinstance(value, int) else float(value)


def _whole(value: Any) -> int:
    value = _scalar(value)
    if not isinstance(value, Integral) or isinstance(value, bool) or not _COUNTS.min <= int(value) <= _COUNTS.max:
        raise _OtherKind
    return int(value)


def _truth(value: Any) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise _OtherKind
    return bool(value)


def _scalar(value: Any) -> Any:
    """Return what is in an array without dimension."""
    return value.item() if isinstance(value, np.ndarray) and value.ndim == 0 else value


def _numbers(value: Any) -> np.ndarray:
    """Return an array of real numbers, of integers if they are."""
    if _is_sparse(value) or isinstance(value, str | bytes | Mapping) or np.ma.is_masked(value):
        raise _OtherKind
    try:
        array = np.asarray(value)
        if array.dtype == object and array.size and all(map(is_real, array.flat)):  # integers of many digits
            array = np.array([float(x) for x in array.flat]).reshape(array.shape)
    except (TypeError, ValueError, OverflowError):  # rows of several lengths
        raise _OtherKind from None
    if array.dtype.kind not in "fiu" or (array.ndim == 0 and _out_of_range(array.item())) or _any_too_large(array):
        raise _OtherKind
    return array


def _out_of_range(x: float) -> bool:
    """Return whether a number is too large or small to compute with; functions tell infinite ones and NaN."""
    return math.isfinite(x) and x != 0 and not _LEAST <= abs(x) <= _LARGEST


def _any_too_large(array: np.ndarray) -> bool:
    if array.dtype.kind != "f" or array.size == 0 or max(float(array.max()), -float(array.min())) <= _LARGEST:
        return False
    return bool(np.any(np.abs(array[np.isfinite(array)]) > _LARGEST))


def _floats(value: Any) -> np.ndarray:
    array = _numbers(value)
    if array.ndim == 0:
        raise _OtherKind
    return np.asarray(array, dtype=float, order="C")


def _complex(value: Any) -> np.ndarray:
    """Return an array of complex numbers."""
    array = np.asarray(value) if isinstance(value, np.ndarray | list | tuple) else None
    if array is None or array.dtype.kind != "c":
        return np.asarray(_numbers(value), dtype=complex)
    return np.asarray(_numbers(np.real(array)) + 1j * _numbers(np.imag(array)))


def _integers(value: Any) -> np.ndarray:
    array = _numbers(value)
    if array.ndim == 0 or (array.dtype.kind not in "iu" and array.size):
        raise _OtherKind
    return np.asarray(array, dtype=np.int64, order="C")


def _indices(value: Any) -> np.ndarray:
    array = _integers(value)
    if array.size and not (array.min() >= _INDICES.min and array.max() <= _INDICES.max):
        raise _OtherKind
    return np.asarray(array, dtype=np.int32, order="C")


def _mask(value: Any) -> np.ndarray:
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):
        raise _OtherKind from None
    if array.ndim == 0 or not (array.dtype == bool or (array.dtype.kind in "fiu" and np.isin(array, (0, 1)).all())):
        raise _OtherKind
    return array.astype(bool)


def _sparse(value: Any) -> Any:
    if not _is_sparse(value) or value.dtype.kind not in "fiu":
        raise _OtherKind
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str) or len(value) > _LONGEST_TEXT or "\0" in value:
        raise _OtherKind
    return value


def _path(value: Any) -> Any:
    if not isinstance(value, str | os.PathLike):
        raise _OtherKind
    text = os.fspath(value)
    if not isinstance(text, str) or "\0" in text or len(text) > _LONGEST_PATH:
        raise _OtherKind
    if any(len(os.fsencode(part)) > 255 for part in text.replace("\\", "/").split("/")):  # as file systems have it
        raise _OtherKind
    return value


def _none(value: Any) -> None:
    if value is not None:
        raise _OtherKind


def _function(value: Any) -> Any:
    if not callable(value):
        raise _OtherKind
    return value


_ANYTHING = _Kind("anything", lambda value: value)
_KINDS = {
    "float": _Kind(f"a real number {_IN_RANGE}", _real),
    "int": _Kind("an integer", _whole),
    "bool": _Kind("True or False", _truth),
    "str": _Kind("a short string", _text),
    "Path": _Kind("a path that a file can have", _path),
    "None": _Kind("None", _none),
    "ArrayLike": _Kind(f"an array of real numbers {_IN_RANGE}", _numbers),
    "Array": _Kind(f"an array of real numbers {_IN_RANGE}", _floats),
    "ComplexArray": _Kind(f"an array of complex numbers {_IN_RANGE}", _complex),
    "NDArray[np.float64]": _Kind(f"an array of real numbers {_IN_RANGE}", _floats),
    "IntArray": _Kind("an array of indices of nodes (integers)", _indices),
    "NDArray[np.int32]": _Kind("an array of indices of nodes (integers)", _indices),
    "NDArray[np.int64]": _Kind("an array of integers", _integers),
    "NDArray[np.bool_]": _Kind("an array of True and False", _mask),
    "sp.csr_array": _Kind("a sparse matrix of real numbers", _sparse),
    "sp.sparray": _Kind("a sparse matrix of real numbers", _sparse),
    "Callable": _Kind("a function", _function),
    "Any": _ANYTHING,
}
