"""Implicit methods: midpoint rule, Newmark's family, generalised-α; and what all implicit methods share."""
