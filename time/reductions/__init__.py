"""Methods in reduced coordinates, by translations and by rotations."""
