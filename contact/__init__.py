"""Contact: of nodes with rigid obstacles, and between the surfaces of bodies."""

from symplex.base.lazy import public

__all__, __getattr__, __dir__ = public(
    __name__,
    {
        ".bodies": ("BodyContact", "Contacts"),
        ".exposed": ("ExposedSurface",),
        ".framed": ("MovingObstacleContact",),
        ".friction": ("Friction",),
        ".gap_law": ("ContactLaw",),
        ".massless": ("mass_moved_inward", "redistributed_mass"),
        ".segments": ("SegmentContact",),
        ".solid_obstacles": ("obstacle_mass",),
        ".offset": ("offset_contact",),
        ".obstacles": ("Box", "Capsule", "Cylinder", "HalfSpace", "Sphere"),
        ".rigid": ("RigidContact",),
        ".rigid_bodies": ("RigidBodies",),
        ".rigid_body": ("RigidBody",),
        ".spline_surfaces": ("SplineContact", "SplineSurface"),
        ".stiffness": ("contact_stiffness",),
        ".surfaces": ("Surface",),
    },
    former={"FramedContact": "MovingObstacleContact"},
)
