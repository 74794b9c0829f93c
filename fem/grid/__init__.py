"""Differences of energies between lattice points, for force-stepping."""
