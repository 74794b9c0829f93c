"""Methods that go from event to event: force-stepping and energy-stepping."""
