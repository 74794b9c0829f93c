"""From a mesh to a system: energies, elements, materials, mass, loads and supports."""

from symplex.kernel_cache import provide_cache

provide_cache()
