"""Elastic bodies: elements, laws, and the compiled loops over them."""
