"""How a system moves: time integrators on one common interface."""
