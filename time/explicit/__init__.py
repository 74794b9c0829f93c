"""Explicit methods: central differences and the symplectic Euler method."""
