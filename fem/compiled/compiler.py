"""Which compilers functions of this package have: own ones where numba is as these need it, numba's own elsewhere.

They are made of what is private to numba, which may be renamed in any version. Nothing else depends on them: without
them the same functions are compiled, each formula also for itself, which takes longer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from numba.core.compiler import Compiler

if TYPE_CHECKING:
    from numba.core.compiler import CompilerBase


def compilers() -> tuple[type[CompilerBase], type[CompilerBase]]:
    """Return the compilers of kernels and of formulas."""
    try:
        from symplex.fem.compiled.own_compiler import FormulaCompiler, KernelCompiler, require_numba

        require_numba()
    except (ImportError, AttributeError, TypeError):
        return Compiler, Compiler
    return KernelCompiler, FormulaCompiler


KernelCompiler, FormulaCompiler = compilers()
