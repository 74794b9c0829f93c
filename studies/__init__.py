"""Studies: many runs of one scenario, two results compared, and the observed order of a method."""

from symplex.base.lazy import public

__all__, __getattr__, __dir__ = public(
    __name__,
    {
        ".comparison": ("compare", "read_comparison", "Comparison"),
        ".convergence": ("converge", "read_convergence", "Convergence"),
        ".fitting": ("fit", "FitFound"),
        ".members": ("Sweep", "read_sweep"),
        ".minimizers": ("lmfit_minimizer",),
        ".sensitivities": ("sensitivity", "Sensitivity"),
        ".sweeping": ("sweep",),
    },
)
