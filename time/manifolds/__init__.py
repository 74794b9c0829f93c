"""Systems whose configurations form a manifold: rigid bodies and spherical pendula."""

from symplex.base.lazy import public

__all__, __getattr__, __dir__ = public(
    __name__,
    {
        ".manifold": ("ComposedMethod", "ManifoldMethod"),
        ".rigid_body": ("BodyPotential", "BodyState", "RelaxedBody", "RelaxedState", "RigidBody", "UniformField"),
        ".rigid_body_methods": ("BodyCayley", "BodyZhangSkeel"),
        ".sphere": ("AxialPotential", "SpherePotential", "SphereState", "SphericalPendulum"),
        ".sphere_methods": ("SphereEnergyMomentum", "SphereMidpoint", "SphereSymplectic"),
    },
)
