"""Geometry in, pictures out: reading, generating, writing and rendering meshes; knows no mechanics."""
