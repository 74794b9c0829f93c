"""Relative equilibria of free bodies, and how well computed motions keep to them."""
