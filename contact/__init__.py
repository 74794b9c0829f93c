"""Contact energies: rigid obstacles with the penalty law."""
