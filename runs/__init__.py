"""A run in a results folder: what it was computed from, what it keeps, what it shows; and the command line."""
