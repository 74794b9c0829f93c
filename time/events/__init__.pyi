"""Methods that go from event to event: force-stepping and energy-stepping."""

# Made by tests/write_stubs.py.
from symplex.time.events.energy_stepping import EnergyStepping as EnergyStepping
from symplex.time.events.force_stepping import ForceStepping as ForceStepping
