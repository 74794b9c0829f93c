"""How numba compiles functions of this package: by its own compiler, without what these do not need.

A *formula* is compiled into kernels only. numba optimises each function as a whole and makes machine code of it, and
does both once more in each of those that call it, directly or not; here they are left to the kernels.

numba asks thousands of times for each function whether options are the same, and compares all there are one by one;
here those that are set are compared as the dictionary that they are.

Only functions with these compilers are concerned: numba compiles all others in the process as before.
"""

from __future__ import annotations

from inspect import signature
from types import CodeType
from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompilerBase, Flags, _LowerResult
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.environment import lookup_environment
from numba.core.registry import cpu_target
from numba.core.typed_passes import (
    AnnotateTypes,
    DumpParforDiagnostics,
    NativeLowering,
    NoPythonSupportedFeatureValidation,
)
from numba.core.typing import templates
from numba.core.untyped_passes import (
    InlineClosureLikes,
    InlineInlinables,
    MakeFunctionToJitFunction,
    WithLifting,
)

# Passes for reports, for what numba knows to refuse, for blocks `with` and for functions that are inlined before types
# are known; and those for functions defined in others.
_NEVER_NEEDED = {
    AnnotateTypes,
    DumpParforDiagnostics,
    InlineInlinables,
    NoPythonSupportedFeatureValidation,
    WithLifting,
}
_OF_CLOSURES = {InlineClosureLikes, MakeFunctionToJitFunction}


class _Options(Flags):
    """The options of a function; the same if the same are set."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Options) and self._values == other._values

    def __hash__(self) -> int:
        return hash(_Options)  # there are few that differ

    def values(self) -> dict[str, Any]:
        """Return all of them."""
        return _DEFAULTS | self._values


_DEFAULTS = {name: option.default for name, option in _Options.options.items()}


class _FormulaLibrary(JITCodeLibrary):
    """The code of a formula as kernels take it in: neither optimised as a whole nor made into machine code."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        raise AssertionError(f"{self.name} has no address: it is to be a kernel, or an addressed formula")


@register_pass(mutates_CFG=True, analysis_only=False)
class _FormulaLowering(NativeLowering):
    """Writes LLVM's code of a formula into its own library."""

    _name = "symplex_formula_lowering"

    def run_pass(self, state: Any) -> bool:
        state.library = _FormulaLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        known_by = object()  # instead of the machine code
        state.targetctx.insert_user_function(known_by, state.cr.fndesc, [state.library])
        state.cr = state.cr._replace(cfunc=known_by)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class _KernelLowering(NativeLowering):
    """Makes machine code of a kernel, and sets the environments of its formulas, which those that print need."""

    _name = "symplex_kernel_lowering"

    def run_pass(self, state: Any) -> bool:
        super().run_pass(state)
        codegen = state.library.codegen
        for variable in state.library._final_module.global_variables:
            name = variable.name
            known = lookup_environment(name) if name.startswith("_ZN08NumbaEnv") else None
            # That of a C function, which nothing in it reads, is nowhere in the machine code.
            if known is not None and codegen._engine.get_global_value_address(name):
                codegen.set_env(name, known)
        return True


class KernelCompiler(Compiler):
    """Compiles a function that Python calls, or that is called by its address."""

    lowering: type[NativeLowering] = _KernelLowering

    def __init__(self, typingctx: Any, targetctx: Any, library: Any, args: Any, result: Any, flags: Any, types: Any):
        super().__init__(typingctx, targetctx, library, args, result, _Options(flags), types)

    def define_pipelines(self) -> list[PassManager]:
        """Return numba's passes that have something to do."""
        without = set(_NEVER_NEEDED)
        if not any(isinstance(constant, CodeType) for constant in self.state.func_id.code.co_consts):
            without |= _OF_CLOSURES
        pipelines = super().define_pipelines()
        for pipeline in pipelines:
            kept = [(one, text) for one, text in pipeline.passes if one not in without]
            pipeline.passes = [(self.lowering if one is NativeLowering else one, text) for one, text in kept]
            pipeline.finalize()
        return pipelines


class FormulaCompiler(KernelCompiler):
    """Compiles a function that is compiled into others only."""

    lowering = _FormulaLowering


def require_numba() -> None:
    """Ask for what is private to numba and used here, next to what is imported.

    Raises
    ------
    AttributeError
        If something is not there.
    TypeError
        If compilers are made with other arguments.
    """
    needed: list[tuple[object, str]] = [
        (JITCodeLibrary, "_optimize_final_module _finalize_final_module get_pointer_to_function _finalized"),
        (NativeLowering, "run_pass"),
        (templates, "AbstractTemplate infer_global"),  # of `symplex.fem.compiled.vectors`
        (_LowerResult, "_replace cfunc fndesc"),
        (PassManager("needed"), "passes finalize"),
        (Flags, "options"),
        (Flags(), "_values no_compile"),
    ]
    context: Any = cpu_target.target_context  # its own property, which is not declared
    codegen = context.codegen()
    library = codegen.create_library("needed")
    needed += [
        (context, "insert_user_function"),
        (codegen, "_engine set_env"),
        (codegen._engine, "get_global_value_address"),
        (library, "codegen _final_module"),
        (library._final_module, "global_variables"),
    ]
    for owner, names in needed:
        for name in names.split():
            getattr(owner, name)
    signature(CompilerBase.__init__).bind(None, *[None] * 7)
