"""symplex: finite-element structural dynamics with integrators that keep what the physics keeps."""

__version__ = "0.1.0"
