"""Implicit methods: midpoint rule, Newmark's family, generalised-α; and what all implicit methods share."""

# Made by tests/write_stubs.py.
from symplex.time.implicit.generalized_alpha import GeneralizedAlpha as GeneralizedAlpha
from symplex.time.implicit.generalized_alpha import HilberHughesTaylor as HilberHughesTaylor
from symplex.time.implicit.midpoint import Midpoint as Midpoint
