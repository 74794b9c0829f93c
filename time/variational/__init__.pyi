"""Methods from a discrete variational principle: with forces, of chosen steps, and those of Zhang and Skeel."""

# Made by tests/write_stubs.py.
from symplex.time.variational.adaptive_variational import AdaptiveVariational as AdaptiveVariational
from symplex.time.variational.variational import VariationalMidpoint as VariationalMidpoint
from symplex.time.variational.zhang_skeel import ZhangSkeel as ZhangSkeel
from symplex.time.variational.zhang_skeel_force import ModifiedForce as ModifiedForce
