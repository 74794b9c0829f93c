"""Contact energies: rigid obstacles with the penalty law."""

from symplex.kernel_cache import provide_cache

provide_cache()
