"""Systems whose configurations form a manifold: rigid bodies and spherical pendula."""

# Made by tests/write_stubs.py.
from symplex.time.manifolds.manifold import ComposedMethod as ComposedMethod, ManifoldMethod as ManifoldMethod
from symplex.time.manifolds.planar_pendulum import (
    PlanarMethod as PlanarMethod,
    PlanarState as PlanarState,
    SwingPlane as SwingPlane,
)
from symplex.time.manifolds.rigid_body import (
    BodyPotential as BodyPotential,
    BodyState as BodyState,
    RelaxedBody as RelaxedBody,
    RelaxedState as RelaxedState,
    RigidBody as RigidBody,
    UniformField as UniformField,
)
from symplex.time.manifolds.rigid_body_methods import BodyCayley as BodyCayley, BodyZhangSkeel as BodyZhangSkeel
from symplex.time.manifolds.sphere import (
    AxialPotential as AxialPotential,
    SpherePotential as SpherePotential,
    SphereState as SphereState,
    SphericalPendulum as SphericalPendulum,
)
from symplex.time.manifolds.sphere_methods import (
    SphereEnergyMomentum as SphereEnergyMomentum,
    SphereMidpoint as SphereMidpoint,
    SphereSymplectic as SphereSymplectic,
)
