"""A run in a results folder: what it was computed from, what it keeps, what it shows; and the command line."""

from symplex.base.lazy import public

__all__, __getattr__, __dir__ = public(
    __name__,
    {
        ".history": ("read_history",),
        ".modes": ("ModesFound", "find_modes", "save_modes"),
        ".plots": ("compare_histories", "plot_history"),
        ".response": ("ResponseFound", "find_response", "save_response"),
        ".run": ("simulate",),
    },
)
