"""Contact energies: rigid obstacles with the penalty law."""

from symplex.base.lazy import public

__all__, __getattr__, __dir__ = public(
    __name__,
    {
        ".massless": ("redistributed_mass",),
        ".obstacles": ("Box", "Capsule", "Cylinder", "HalfSpace", "Sphere"),
        ".rigid": ("RigidContact",),
        ".rigid_bodies": ("RigidBodies",),
        ".rigid_body": ("RigidBody",),
    },
)
