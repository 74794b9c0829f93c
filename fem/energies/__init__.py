"""Energies, their sum, and other parts of a system that elements have."""
