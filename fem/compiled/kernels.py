"""How kernels are compiled: the only decorators, with their options, and when what was compiled is out of date.

All divide as C does (no exception for a zero divisor) and may fuse a multiplication with an addition; none assumes that
NaN does not occur. A *kernel* is called from Python, keeps no lock, and is cached on the disk; a *formula* is called by
kernels and compiled into them.

numba takes a cached kernel for valid as long as the file that it stands in is unchanged, although formulas of other
files are compiled into it. The cache of this package's kernels bears a digest of their file and of all files of the
package that it imports, directly or not: an edited formula runs the next time.
"""

# numba's declaration of njit does not know all of its options.
# pyright: reportCallIssue=false

from __future__ import annotations

import gc
import hashlib
import os
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache, cached_property
from inspect import CO_VARARGS, CO_VARKEYWORDS, Parameter, Signature
from pathlib import Path
from time import time
from typing import Any

from numba import njit, types
from numba.core import caching, event
from numba.core.ccallback import CFunc
from numba.core.compiler import CompilerBase
from numba.core.errors import NumbaError
from numba.core.runtime import rtsys
from numba.core.sigutils import normalize_signature

from symplex.fem.compiled.compiler import FormulaCompiler, KernelCompiler
from symplex.fem.compiled.kernel_cache import LAWS, provide_cache
from symplex.fem.compiled.shipped import find

provide_cache()

_ARITHMETIC = {"error_model": "numpy", "fastmath": {"contract"}}

# Without numba's reference counts: for functions that allocate nothing and take many arrays, where counting references
# at each call takes longer than the work.
_BARE = {"_nrt": False, **_ARITHMETIC}


class _Cache(caching.FunctionCache):
    """The cache of a kernel, which is taken from there without what numba compiles with.

    numba imports and registers that before it looks for a kernel, which takes 0.4 s, SciPy's linear algebra among it;
    and once more before it compiles, for which alone it is needed.
    """

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return what was compiled for a signature, or None."""
        rtsys.initialize(target_context)  # what kernels allocate with
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)


class _CacheWhenCalled:
    """The cache of a kernel, made when it is first used: of hundreds that are imported, a run calls a few dozen.

    To make one means to ask for files and to read sources, which took a tenth of a second for all of them.
    """

    def __init__(self, function: Callable):
        self._function = function

    @cached_property
    def _cache(self) -> _Cache:
        return _Cache(self._function)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cache, name)


def _for_kernels(
    compiler: type[CompilerBase] = FormulaCompiler, cached: bool = False, **options: Any
) -> Callable[[Callable], Any]:
    """Return the decorator of functions that compiled ones call, of which none is called from Python as a rule.

    They are compiled without the two wrappers by which Python and C call, which take as long as a short function with
    many arguments does itself. For a call from Python, which would run into an address that is none, the function is
    compiled once more, as a whole.

    A constant argument does not make another version, but of inlined ones: into those LLVM would put it in all the
    same, but too late to turn the loops around them into vectors (the gradient of tetrahedra takes 16.3 ns, not 12.0).
    """

    def decorated(function: Callable) -> Any:
        dispatcher: Any = njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, pipeline_class=compiler, **options)(
            _with_signature(function)
        )
        if cached:
            dispatcher._cache = _CacheWhenCalled(function)
        as_literals = dispatcher.get_call_template

        @cache
        def whole() -> Any:
            return njit(**options)(function)

        def compile_whole(*args: Any, **kwargs: Any) -> Any:
            return whole()._compile_for_args(*args, **kwargs)

        def template(args: tuple, kws: dict) -> Any:
            try:
                return as_literals(tuple(map(types.unliteral, args)), {k: types.unliteral(v) for k, v in kws.items()})
            except NumbaError:  # where the constant itself is needed, as to index a tuple of several types
                return as_literals(args, kws)

        dispatcher._insert = _not_found  # of what is compiled, for calls from Python, which then
        dispatcher._compile_for_args = compile_whole
        if not options.get("forceinline"):
            dispatcher.get_call_template = template
        return _pickled_by_name(dispatcher)

    return decorated


def _with_signature(function: Callable) -> Callable:
    """Return a function whose signature numba finds at once: for hundreds of them it took a tenth of an import."""
    code = function.__code__
    simple = not (function.__defaults__ or function.__annotations__ or code.co_kwonlyargcount)
    if simple and not code.co_flags & (CO_VARARGS | CO_VARKEYWORDS):
        parameters = list(map(_parameter, code.co_varnames[: code.co_argcount]))
        function.__signature__ = Signature(parameters, __validate_parameters__=False)  # pyright: ignore
    return function


@cache
def _parameter(name: str) -> Parameter:
    return Parameter(name, Parameter.POSITIONAL_OR_KEYWORD)


def _pickled_by_name(dispatcher: Any) -> Any:
    """Let pickles hold the name of a compiled function of a module, as of any function; return it.

    numba would put in its code, which another process would compile again each time.
    """
    whole = dispatcher.__reduce_ex__

    def reduced(protocol: Any) -> Any:
        module, name = sys.modules.get(dispatcher.__module__), dispatcher.__qualname__
        return name if getattr(module, name, None) is dispatcher else whole(protocol)

    dispatcher.__reduce_ex__ = reduced
    return dispatcher


def _not_found(*overload: Any) -> None:
    """Tell calls from Python nothing of an overload."""


def _cached(**options: Any) -> Callable[[Callable], Any]:
    """Return the decorator of kernels, of which each looks for its cache when it is called for the first time."""

    def decorated(function: Callable) -> Any:
        dispatcher: Any = njit(nogil=True, no_cfunc_wrapper=True, pipeline_class=KernelCompiler, **options)(
            _with_signature(function)
        )
        dispatcher._cache = _CacheWhenCalled(function)
        return _pickled_by_name(dispatcher)

    return decorated


kernel = _cached(**_ARITHMETIC)
formula = _for_kernels(**_ARITHMETIC)
inlined = _for_kernels(forceinline=True, **_ARITHMETIC)
uncounted_kernel = _cached(**_BARE)
uncounted_formula = _for_kernels(**_BARE)
uncounted_inlined = _for_kernels(forceinline=True, **_BARE)
addressed_formula = _for_kernels(KernelCompiler, cached=True, **_BARE)  # has machine code: for `call.address_of`


def is_kernel(dispatcher: Any) -> bool:
    """Return whether a compiled function is a kernel, which is kept on the disk, and no formula."""
    return bool(dispatcher.targetoptions.get("nogil"))


def device_kernel(function: Callable) -> Any:
    """Return a kernel for a CUDA device, compiled when it is launched for the first time in a process.

    Formulas that it calls are compiled for the device from the same functions.
    """
    from numba import cuda  # what is installed with symplex[cuda]

    return cuda.jit(function)


def device_formula(function: Callable) -> Any:
    """Return a function of plain Python as kernels of a CUDA device call it."""
    from numba import cuda

    return cuda.jit(function, device=True)


POINTER = types.CPointer(types.float64)
# Of C functions of parameters p and coordinates x: φ(p, x); φ(x + h e_i) − φ(x); the mixed difference in i and j.
SIGNATURES = {
    "value": types.float64(POINTER, POINTER),
    "difference": types.float64(POINTER, POINTER, types.int64, types.float64),
    "mixed": types.float64(POINTER, POINTER, types.int64, types.int64, types.float64, types.float64),
    # Of parameters, invariants and results: the energy of a law or its derivatives (fem/solids/law_functions.py).
    "law": types.void(POINTER, POINTER, POINTER),
    # Of a kind, a flag, a place, a factor and arrays of a chunk (fem/solids/hourglass_functions.py).
    "hourglass": types.void(*[types.int64] * 3, types.float64, *[POINTER] * 6),
}


def c_function(kind: str, *, cached: bool = True) -> Callable[[Callable], Any]:
    """Return the decorator of C functions of one of the ``SIGNATURES``; their ``address`` can be passed on."""

    def decorated(function: Callable) -> Any:
        compiled: Any = CFunc(function, normalize_signature(SIGNATURES[kind]), {}, dict(_ARITHMETIC), KernelCompiler)
        if cached:
            compiled._cache = _Cache(function)
        compiled.compile()
        return compiled

    return decorated


class _Compiling(event.Listener):
    """Lets Python look for garbage less often while numba compiles, whose many small objects it looked at in vain.

    A sixth of the time went there. What follows has the thresholds of before.
    """

    _OBJECTS = 200_000  # between two looks, some 30 MB

    def __init__(self):
        self._depth = 0
        self._before = gc.get_threshold()

    def on_start(self, event: event.Event) -> None:
        """Set the threshold for the outermost of nested functions; one of 0 never looks for garbage anyway."""
        if not self._depth:
            self._before = gc.get_threshold()
            if self._before[0]:
                gc.set_threshold(max(self._OBJECTS, self._before[0]), *self._before[1:])
        self._depth += 1

    def on_end(self, event: event.Event) -> None:
        """Set it back."""
        self._depth -= 1
        if not self._depth:
            gc.set_threshold(*self._before)


event.register("numba:compile", _Compiling())


# -- when a cached kernel is out of date -----------------------------------------------------------------------------

_BEGUN = time()  # s; modules with kernels are imported later
_ROOT = Path(__file__).parents[2]  # of the package
_IMPORTS = re.compile(
    rb"^[ \t]*(?:from|import)[ \t]+symplex((?:\.\w+)*)(?:[ \t]+import[ \t]+(\([^)]*\)|[^\n#]*))?", re.M
)


class _Locator(caching._CacheLocator):
    """Where numba keeps a kernel of this package, as it would itself, but with a stamp of all its sources."""

    def __init__(self, place: Any, source: Path):
        self._place = place
        self._source = source

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> _Locator | None:
        """Return the locator of a function, or None for one that is not of this package."""
        source = Path(py_file)
        if _ROOT not in source.parents and source.parent.name != LAWS:
            return None
        places = (other.from_function(py_func, py_file) for other in _locators if other is not cls)
        place = next((found for found in places if found is not None), None)
        return None if place is None else cls(place, source)

    def get_cache_path(self) -> str:
        """Return the folder that compiled kernels are kept in."""
        return self._place.get_cache_path()

    def get_source_stamp(self) -> str:
        """Return what changes with any of the sources."""
        return stamp(self._source)

    def get_disambiguator(self) -> str:
        """Return what distinguishes kernels of one name."""
        return self._place.get_disambiguator()


@cache
def stamp(source: Path) -> str:
    """Return a digest of a file of the package, of this one, and of all that they import of it, directly or not."""
    found = {str(source), __file__}
    todo = list(found)
    while todo:
        new = _imported(todo.pop()) - found
        found |= new
        todo += new
    return hashlib.sha256(b"".join(sorted(map(_digest, found)))).hexdigest()  # wherever they are


# Paths are texts here, and folders are listed once: every program asks for hundreds of files when it starts.


@cache
def _digest(path: str) -> bytes:
    return hashlib.sha256(_text(path)).digest()


@cache
def _text(path: str) -> bytes:
    # What was edited after it was imported would bear the stamp of the new text: it is compiled for this process only.
    # Laws that are written on the way stand next to the kernels, and have names that follow from their texts.
    status = Path(path).stat()
    changed = max(status.st_mtime, status.st_ctime)
    edited = _BEGUN <= changed <= time() and Path(path).parent.name != LAWS
    own = os.urandom(16) if edited else b""
    return Path(path).read_bytes() + own


@cache
def _imported(path: str) -> frozenset[str]:
    """Return the files of the modules that one imports from this package."""
    return frozenset(file for folder, module in _modules(_text(path)) if (file := _files(folder).get(module)))


@cache
def _files(folder: str) -> dict[str, str]:
    """Return the modules in a folder by their names."""
    try:
        with os.scandir(folder) as entries:
            return {one.name[:-3]: one.path for one in entries if one.name.endswith(".py") and one.is_file()}
    except OSError:  # it is a module
        return {}


def _modules(text: bytes) -> Iterator[tuple[str, str]]:
    """Yield the folder and the name of what may be modules: each that is imported, and the names imported from it."""
    for dotted, names in _IMPORTS.findall(text):
        above, module, place = _place(dotted)
        yield above, module
        for name in re.findall(rb"\w+", names):
            yield place, name.decode()


@cache
def _place(dotted: bytes) -> tuple[str, str, str]:
    """Return the folder and the name of a module, and the folder that its own modules are in if it is a package."""
    place = _ROOT.joinpath(*dotted.decode().split(".")[1:])
    return str(place.parent), place.name, str(place)


class OverloadFiles(caching.IndexDataCacheFile):
    """The files of a kernel's overloads, each with a name that follows from what it is for.

    numba numbers them: two processes that compile two overloads at a time write both to one file, and the next process
    finds the one in the place of the other.
    """

    def save(self, key: Any, data: Any) -> None:
        """Save what was compiled for a key, then that it is there."""
        name = self._data_name(int(hashlib.sha256(repr(key).encode()).hexdigest()[:12], 16))
        self._save_data(name, data)
        self._save_index(self._load_index() | {key: name})

    def load(self, key: Any) -> Any:
        """Return what was compiled for a key: on this machine, or before the package was installed."""
        found = super().load(key)
        return find(Path(self._index_path).stem, self._source_stamp, key) if found is None else found

    def _load_index(self) -> dict[Any, str]:
        """Return what is kept of a kernel, by its signatures: nothing if they are of classes that are gone by now."""
        try:
            return super()._load_index()
        except (AttributeError, ImportError):  # from pickle, which reads the signatures before the stamp
            return {}


# Private to numba, where every compiled function looks for its cache. Were it gone, importing this module would fail.
_locators: list[Any] = caching.CacheImpl._locator_classes
_locators.insert(0, _Locator)
caching.IndexDataCacheFile = OverloadFiles
