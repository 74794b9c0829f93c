"""Mesh files: reading and writing every format behind `read_mesh` and `save_mesh`."""
