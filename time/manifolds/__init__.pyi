"""Systems whose configurations form a manifold: rigid bodies and spherical pendula."""

# Made by tests/write_stubs.py.
from symplex.time.manifolds.manifold import ComposedMethod as ComposedMethod
from symplex.time.manifolds.manifold import ManifoldMethod as ManifoldMethod
from symplex.time.manifolds.rigid_body import BodyPotential as BodyPotential
from symplex.time.manifolds.rigid_body import BodyState as BodyState
from symplex.time.manifolds.rigid_body import RelaxedBody as RelaxedBody
from symplex.time.manifolds.rigid_body import RelaxedState as RelaxedState
from symplex.time.manifolds.rigid_body import RigidBody as RigidBody
from symplex.time.manifolds.rigid_body import UniformField as UniformField
from symplex.time.manifolds.rigid_body_methods import BodyCayley as BodyCayley
from symplex.time.manifolds.rigid_body_methods import BodyZhangSkeel as BodyZhangSkeel
from symplex.time.manifolds.sphere import AxialPotential as AxialPotential
from symplex.time.manifolds.sphere import SpherePotential as SpherePotential
from symplex.time.manifolds.sphere import SphereState as SphereState
from symplex.time.manifolds.sphere import SphericalPendulum as SphericalPendulum
from symplex.time.manifolds.sphere_methods import SphereEnergyMomentum as SphereEnergyMomentum
from symplex.time.manifolds.sphere_methods import SphereMidpoint as SphereMidpoint
from symplex.time.manifolds.sphere_methods import SphereSymplectic as SphereSymplectic
