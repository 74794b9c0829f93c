"""Decks of other programs: Abaqus and CalculiX input files become a mesh and scenarios."""

from symplex.base.lazy import public

__all__, __getattr__, __dir__ = public(
    __name__,
    {
        ".importing": ("Imported", "import_deck"),
    },
)
