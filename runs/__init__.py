"""A run in a results folder: what it was computed from, what it keeps, and what it shows."""

from symplex.base.lazy import public

__all__, __getattr__, __dir__ = public(
    __name__,
    {
        ".history": ("read_history",),
        ".plots": ("compare_histories", "plot_history"),
        ".result": ("Result", "ResultFrame", "read_result"),
        ".run": ("simulate",),
    },
)
