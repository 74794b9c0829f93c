"""The equations of implicit steps: Newton's method, linear solvers and their preconditioners."""

# Made by tests/write_stubs.py.
from symplex.time.solvers.newton import Newton as Newton
