"""Scalars of a stencil (lengths, constraints) and the energies that are laws of them."""
