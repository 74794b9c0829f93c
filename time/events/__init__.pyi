"""Force-stepping: a method that moves from event to event."""

# Made by tests/write_stubs.py.
from symplex.time.events.force_stepping import ForceStepping as ForceStepping
