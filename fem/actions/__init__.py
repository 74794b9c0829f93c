"""What acts on a system: mass, supports at rest and in motion, loads and damping."""
