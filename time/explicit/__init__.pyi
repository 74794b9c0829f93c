"""Explicit methods: central differences, also in local time steps."""

# Made by tests/write_stubs.py.
from symplex.time.explicit.multirate import Multirate as Multirate
from symplex.time.explicit.newmark import Newmark as Newmark
