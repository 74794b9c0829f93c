"""From a mesh to a system: energies, elements, materials, mass, loads and supports."""
