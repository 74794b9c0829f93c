"""How a system moves: time integrators on one common interface."""

from symplex.kernel_cache import provide_cache

provide_cache()
