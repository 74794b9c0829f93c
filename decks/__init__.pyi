"""Decks of other programs: Abaqus and CalculiX input files become a mesh and scenarios."""

# Made by tests/write_stubs.py.
from symplex.decks.importing import Imported as Imported
from symplex.decks.importing import import_deck as import_deck
