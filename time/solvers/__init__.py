"""The equations of implicit steps: Newton's method, linear solvers and their preconditioners."""
