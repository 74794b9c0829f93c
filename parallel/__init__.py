"""One motion on several processes, by MPI: parts of a mesh, what they exchange, and who leads them."""

from symplex.base.lazy import public

__all__, __getattr__, __dir__ = public(
    __name__,
    {
        ".ranks": ("Ranks",),
    },
)
