"""What every energy promises, by the checks of `symplex.testing`. To add one, append a case to `CASES`."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

from reference.boxes import SOLID_KINDS, box_of
from reference.promises import try_all
from symplex.contact.bodies import BodyContact
from symplex.contact.framed import MovingObstacleContact
from symplex.contact.obstacles import Box, Capsule, Cylinder, HalfSpace, Sphere
from symplex.contact.offset import offset_contact
from symplex.contact.rigid import RigidContact
from symplex.contact.rigid_bodies import RigidBodies
from symplex.contact.rigid_body import RigidBody
from symplex.contact.segments import SegmentContact
from symplex.contact.surfaces import Surface
from symplex.errors import InvalidSystem
from symplex.fem.actions.centrifugal import Centrifugal
from symplex.fem.actions.loads import Gravity, NodalForce
from symplex.fem.couplings.equations import LinearConstraints
from symplex.fem.couplings.interpolation import Interpolation
from symplex.fem.couplings.ties import tie_to_surface
from symplex.fem.energies.energy import RIGID, Energy
from symplex.fem.energies.neighbour_list import NeighbourListEnergy
from symplex.fem.mass_properties import MassProperties
from symplex.fem.measures.anchors import Anchors
from symplex.fem.measures.bars import (
    Bars,
    CompressionOnly,
    EngineeringStrain,
    GreenStrain,
    InverseDistance,
    InverseSquare,
    LennardJones,
    TensionOnly,
    all_pairs,
)
from symplex.fem.measures.constraints import OnCylinder, OnPlane, OnSphere, RigidBars
from symplex.fem.measures.force_table import ForceTable
from symplex.fem.measures.penalty import Penalty
from symplex.fem.measures.short_range import ShortRangeLennardJones
from symplex.fem.solids.anisotropic import AnisotropicElastic
from symplex.fem.solids.constitutive import Material
from symplex.fem.solids.formula import material
from symplex.fem.solids.materials import LinearElastic, MooneyRivlin, NeoHookean, SaintVenantKirchhoff
from symplex.fem.solids.solid import Solid
from symplex.fem.structures.beam import beams
from symplex.fem.structures.corotational import CorotationalEnergy
from symplex.fem.structures.quadratic_measures import QuadraticMeasures
from symplex.fem.structures.rigidity import CORNERS, Rigidity
from symplex.fem.structures.sections import Section
from symplex.meshes.generate import box, cube_mesh
from symplex.meshes.mesh import Mesh
from symplex.meshes.midside_nodes import quadratic as as_quadratic
from symplex.testing.energies import CHECKS, INCREMENTS, Subject
from symplex.time.reductions.jacobi import JacobiCoordinates, JacobiEnergy

# -- the energies -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """An energy at positions where its gradient does not vanish.

    Attributes
    ----------
    make : callable
        Returns the energy and positions q [n, dim].
    length : float
        Size of a stencil in m; steps of finite differences are relative to it.
    rigid : bool
        Whether the energy is the same after any rigid motion, so that forces and moments sum to zero.
    curved : bool
        Whether the Hessian is not zero.
    shifts : bool
        Whether the energy is the same after translations at least, so that forces sum to zero.
    rounding : float
        What the Hessian errs by, relative to its size: more where it is made of differences.
    quadratic : bool
        Whether the energy is a quadratic form of positions, so that its secant matrix does not change.
    lacks : tuple of str
        The optional forms that it does not have, of `OPTIONAL`.
    invariant : bool
        Whether it declares motions that leave it alike (`Energy.generators`).
    """

    make: Callable[[], tuple[Energy, np.ndarray]]
    length: float
    rigid: bool = False
    curved: bool = True
    shifts: bool = False
    rounding: float = 1e-13
    quadratic: bool = False
    lacks: tuple[str, ...] = ()
    invariant: bool = False


OPTIONAL = {"secant": "secant form", "third": "third derivative", "mean_gradient": "gradient at mean strains"}
INTEGRATED = (*OPTIONAL, "lattice_functions")  # what contact integrated over facets does not have


def external(make, length, **options):
    """The case of an energy of forces from outside: without secant form, and without mean strains."""
    return Case(make, length, lacks=("secant", "mean_gradient"), **options)


def shaken(points, amount):
    return points + amount * np.random.default_rng(0).standard_normal(points.shape)


def solid():
    mesh = box((0.1, 0.1, 0.2), (2, 1, 2))
    return Solid(mesh.points, mesh.cells["tetra"], NeoHookean(60.5e9, 26e9, 2700.0)), shaken(mesh.points, 3e-3)


def auxetic_solid():
    mesh = cube_mesh("II", size=2.0)
    return Solid(mesh.points, mesh.cells["tetra"], NeoHookean.from_young(1e6, -0.3, 1e3)), shaken(mesh.points, 0.02)


@dataclass(frozen=True)
class Foam(Material):
    """A law as a user writes it: W = μ/2 (tr C⁻¹ + 2J − 5), of Blatz and Ko."""

    mu: float
    density: float

    def energy_density(self, C):
        return 0.5 * self.mu * (np.trace(np.linalg.inv(C), axis1=1, axis2=2) + 2.0 * np.sqrt(np.linalg.det(C)) - 5.0)

    def stress(self, C):
        inverse = np.linalg.inv(C)
        return self.mu * (np.sqrt(np.linalg.det(C))[:, None, None] * inverse - inverse @ inverse)

    def tangent(self, C):
        A = np.linalg.inv(C)
        J, B = np.sqrt(np.linalg.det(C)), A @ A
        AA, AB, BA = (np.einsum("pik,pjl->pijkl", x, y) for x, y in ((A, A), (A, B), (B, A)))
        volumetric = J[:, None, None, None, None] * (np.einsum("pij,pkl->pijkl", A, A) - AA - AA.swapaxes(3, 4))
        return self.mu * (volumetric + AB + AB.swapaxes(3, 4) + BA + BA.swapaxes(3, 4))


def elements(kind, material):
    """Few elements of one type (or a type and a formulation) of a material that is made when it is needed, shaken."""
    kind, _, formulation = kind.partition(" ")

    def make():
        mesh = box_of(kind, *(((0.1, 0.1, 0.05), (2, 2, 1)) if kind == "hexahedron" else ((0.1, 0.1, 0.1), (1, 1, 1))))
        solid = Solid(mesh.points, mesh.cells[kind], material(), formulation=formulation or None)
        return solid, shaken(mesh.points, 3e-3)

    return make


def linear():
    return LinearElastic(60.5e9, 26e9, 2700.0)


def orthotropic(small=False):
    """Constants that differ by a factor of 6, along oblique axes."""
    axes = [[1.0, 0.5, 0.2], [0.0, 1.0, -0.3]]
    E, nu, G = (60e9, 30e9, 10e9), (0.2, 0.3, 0.4), (9e9, 6e9, 4e9)
    return AnisotropicElastic.orthotropic(E, nu, G, 2700.0, axes, small)


# Formulas are compiled when their materials are made: not before a test needs them.
LAWS = {
    "neo-Hookean": lambda: NeoHookean(60.5e9, 26e9, 2700.0),
    "Saint Venant-Kirchhoff": lambda: SaintVenantKirchhoff(60.5e9, 26e9, 2700.0),
    "Mooney-Rivlin": lambda: MooneyRivlin(10e9, 3e9, 80e9, 2700.0),
    "foam": lambda: Foam(1e6, 300.0),
    "Gent's formula": lambda: material("gent", mu=2e5, Jm=20.0, K=4e6, density=1000.0),
    "formula of fibres": lambda: material(
        "mu/2*(I1bar - 3) + K/2*(J - 1)**2 + k/8*(I4 - 1)**2 + k/8*(I6bar - 1)**2",
        **{"mu": 2e5, "K": 4e6, "k": 1e6, "density": 1000.0},
        fibres=[[1.0, 2.0, 0.0], [1.0, -2.0, 0.5]],
    ),
}


def away(obstacle, q):
    """The nodes that are not so close to a surface that differences are taken across it."""
    return 2 + np.flatnonzero(np.abs(obstacle.gap(q[2:38])) > 0.01)


def contact(obstacle, dim=3):
    def make():
        q = np.random.default_rng(3).uniform(-1.0, 1.0, (40, dim))
        return RigidContact(away(obstacle, q), obstacle, stiffness=1e5), q

    return make


def carried(obstacle):
    def make():
        q = np.random.default_rng(3).uniform(-1.0, 1.0, (40, obstacle.dim))
        q[0] *= 0.1
        return RigidContact(away(obstacle, q - q[0]), obstacle, stiffness=1e5, carrier=0), q

    return make


def framed(obstacle):
    """An obstacle on a frame that has moved, turned and is out of shape."""

    def make():
        q = np.random.default_rng(3).uniform(-1.0, 1.0, (42, 3))
        properties = MassProperties(2.0, (0.1, 0.2, 0.1), [[0.8, 0.1, 0.0], [0.1, 0.9, 0.1], [0.0, 0.1, 1.0]])
        frame = [40, 1, 0, 41]
        q[frame] = shaken(properties.particles @ TURNED, 0.02)
        energy = MovingObstacleContact(np.arange(2, 40), obstacle, 1e5, frame, properties)
        return MovingObstacleContact(
            2 + np.flatnonzero(np.abs(energy.gaps(q)) > 0.01), obstacle, 1e5, frame, properties
        ), q

    return make


def penalised(constraint, **options):
    def make():
        return Penalty(constraint, 1e5, **options), np.random.default_rng(3).uniform(-1.0, 1.0, (40, 3))

    return make


def anchored(law):
    def make():
        return Anchors([0, 2, 3], (0.2, -0.4, 0.1), law), np.random.default_rng(6).uniform(-2.0, 2.0, (4, 3))

    return make


def tied():
    """Nodes off the two triangles that they are tied to."""
    points = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0.2], [0, 1, 0], [0.3, 0.4, 0.5], [0.9, 0.2, -0.3]])
    energy = tie_to_surface(points, [4, 5], [[0, 1, 2], [0, 2, 3]], [3.0, 5.0])
    return energy, shaken(points, 0.1)


def linear_constraints():
    """Equations of two, three and one nodes, in several directions, off what they ask for."""
    points = np.random.default_rng(8).uniform(-1.0, 1.0, (5, 3))
    factors = np.zeros((3, 5, 3))
    factors[0, 0, 0], factors[0, 3, 0] = 1.0, -1.0
    factors[1, 1], factors[1, 2, 2], factors[1, 4] = (0.3, -0.2, 1.0), 2.0, (0.0, 0.4, -1.0)
    factors[2, 4, 1] = 0.5
    energy = LinearConstraints(points, factors.reshape(3, 15), [0.0, 0.1, -0.2], stiffness=[3.0, 5.0, 7.0])
    return energy, shaken(points, 0.1)


def centrifugal():
    """A frame that turns about an axis off the origin, with the mass matrix of a bar and a node that has its own."""
    mass = np.diag([2.0, 4.0, 2.0, 0.0, 3.0]) + np.diag([1.0, 1.0, 0.0, 0.0], 1) + np.diag([1.0, 1.0, 0.0, 0.0], -1)
    q = np.random.default_rng(9).standard_normal((5, 3))
    return Centrifugal(sp.csr_array(mass), (0.3, -0.5, 0.8), (0.1, 0.2, -0.4)), q


def gravity():
    q = np.random.default_rng(4).standard_normal((9, 3))
    return Gravity(np.arange(1.0, 10.0), (0.0, 1.0, -9.81)), q


def nodal_force():
    return NodalForce([3, 1], [(1.0, 2.0), (0.0, -4.0)]), np.random.default_rng(5).standard_normal((5, 2))


def bars(law):
    def make():
        corners = np.stack(np.meshgrid(*[[0.0, 1.0]] * 3), -1).reshape(-1, 3)
        return Bars(all_pairs(len(corners)), law), shaken(1.2 * corners, 0.05)

    return make


def penalised_rods():
    energy, q = bars(GreenStrain(3.0, 1.3))()
    return Penalty(RigidBars(energy.nodes, np.linspace(1.0, 2.0, len(energy.nodes))), 3.0), q


class WithoutMore(Energy):
    """An energy as a user may write it, with a value and a gradient only: those of another one."""

    def __init__(self, energy, invariances):
        self.energy, self.nodes, self.invariances = energy, energy.nodes, frozenset(invariances)

    def value(self, x):
        return self.energy.value(x)

    def gradient(self, x):
        return self.energy.gradient(x)


class WithHessian(WithoutMore):
    def hessian(self, x):
        return self.energy.hessian(x)


def users(make, kind, *invariances):
    def made():
        energy, q = make()
        return kind(energy, invariances), q

    return made


class AboutAxis(WithHessian):
    """Nodes in a potential that turns about an axis, and shifts along it, leave as it is: (|x|² − (x·n)²)²."""

    AXIS = np.array([0.6, 0.0, 0.8])

    def __init__(self):
        self.nodes = np.arange(5, dtype=np.int32)[:, None]

    def _across(self, x):
        return x - (x @ self.AXIS)[..., None] * self.AXIS

    def value(self, x):
        return 0.25 * (self._across(x)[:, 0] ** 2).sum(axis=1) ** 2

    def gradient(self, x):
        r = self._across(x)
        return (r**2).sum(axis=2, keepdims=True) * r

    def hessian(self, x):
        r = self._across(x)[:, 0]
        P = np.eye(3) - np.outer(self.AXIS, self.AXIS)
        return (r**2).sum(axis=1)[:, None, None] * P + 2.0 * r[:, :, None] * r[:, None, :]

    def generators(self, dim):
        x, y, z = self.AXIS
        turn = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        return np.stack([turn, np.zeros((3, 3))]), np.stack([np.zeros(3), self.AXIS])


def about_axis():
    return AboutAxis(), np.random.default_rng(21).standard_normal((5, 3))


def short_range():
    energy = ShortRangeLennardJones(2.0, 1.1, cutoff=2.0)
    _, q = bars(LennardJones(2.0, 1.1))()
    energy.renewed(q)
    return energy, q


def interpolated(make):
    """The energy of points that follow one, two or three nodes each, with weights that may be negative."""

    def made():
        energy, points = make()
        n, rng = len(points), np.random.default_rng(22)
        weights = np.eye(n)
        for node, count in enumerate(rng.integers(0, 3, n)):
            others = rng.permutation(np.delete(np.arange(n), node))[:count]
            weights[node, others] = rng.uniform(-0.3, 0.3, count)
            weights[node, node] = 1.0 - weights[node, others].sum()
        q = np.linalg.solve(weights, points)
        wrapped = Interpolation(weights).of(energy)
        if isinstance(wrapped, NeighbourListEnergy):
            wrapped.renewed(q)
        return wrapped, q

    return made


def rigid_bodies():
    radii = np.array([[0.3, 0.7, 0.5], [1.0, 0.2, 0.6]])
    nodes = np.array([[3, 1, 0, 2], [4, 5, 6, 7]])
    q = np.empty((8, 3))
    q[nodes] = CORNERS * radii[:, None] @ TURNED + np.array([[[1.0, 2.0, 0.5]], [[-1.0, 0.0, 2.0]]])
    return Rigidity(nodes, radii, [2.0, 5.0], [20.0, 7.0]), shaken(q, 0.05)


def kinked_beams(formulation):
    """Three beams of a rectangular section that meet at right angles, bent, sheared, twisted and stretched."""

    def make():
        points = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 1.0, 0.8]])
        mesh = Mesh(points, {"line": np.array([[0, 1], [1, 2], [2, 3]], np.int32)})
        properties = Section.rectangle(0.3, 0.5).of(NeoHookean.from_young(100.0, 0.3, 1.0))
        built = beams(mesh, properties, (0.3, 0.2, 1.0), formulation=formulation)
        return built.energy, shaken(built.points, 0.03)

    return make


def reduced_body():
    """Seven nodes with a stiffness that linear rigid motions do not feel, rotated and deformed."""
    rng = np.random.default_rng(15)
    X = rng.uniform(-1.0, 1.0, (7, 3))
    motions = [np.tile(axis, (7, 1)).ravel() for axis in np.eye(3)]
    motions += [np.cross(axis, X).ravel() for axis in np.eye(3)]
    Q = np.linalg.qr(np.array(motions).T)[0]
    root = rng.uniform(-1.0, 1.0, (21, 21))
    root -= Q @ (Q.T @ root)
    linear = np.column_stack([np.ones(7), X])
    gradients = np.linalg.pinv(linear).T[:, 1:]
    return CorotationalEnergy(np.arange(7), X, root @ root.T, gradients), shaken(X @ TURNED, 0.05)


def quadratic_measures():
    """Stencils of four nodes with three measures of two vectors, all of them coupled and stressed at rest."""
    rng = np.random.default_rng(14)
    weights = rng.uniform(-1.0, 1.0, (2, 2, 4))
    weights -= weights.mean(axis=2, keepdims=True)
    roots = rng.uniform(-1.0, 1.0, (2, 3, 3))
    measures = [[(0, 0, 0.5)], [(0, 1, 1.0)], [(1, 1, 0.7), (0, 0, -0.2)]]
    given = rng.uniform(0.0, 1.0, (2, 3)), roots @ roots.swapaxes(1, 2), rng.uniform(0.0, 1.0, (2, 3))
    energy = QuadraticMeasures([[0, 1, 2, 3], [5, 4, 3, 2]], weights, measures, *given)
    return energy, rng.standard_normal((6, 3))


def two_bodies(law):
    """Two tetrahedra above each other, with pairs of all kinds within reach, nearly parallel edges among them."""

    def make():
        upper = [(0.0, 0.0, 0.0), (1.0, 0.0, 0.05), (0.1, 1.0, 0.0), (0.3, 0.2, 1.0)]
        lower = [(0.3, 0.1, -0.2), (1.2, 0.12, -0.15), (0.1, 1.1, -0.25), (0.2, 0.3, -1.0)]
        mesh = Mesh(np.array(upper + lower), {"tetra": np.array([[0, 1, 2, 3], [4, 6, 5, 7]])})
        energy = BodyContact(Surface.of(mesh), 1e3, law=law, distance=0.6)
        q = shaken(mesh.points, 0.01)
        energy.renewed(q)
        return energy, q

    return make


def body_and_rigid_body(law):
    """The same, the second one rigid: it is four particles, which its surface follows."""

    def make():
        energy, q = two_bodies(law)()
        lower = Mesh(q[4:], {"tetra": np.array([[0, 2, 1, 3]])})
        rigid = RigidBodies({"lower": RigidBody.of(lower, mass=2.0)}, 4)
        wrapped, q = rigid.of_points(energy), rigid.positions(q[:4])
        wrapped.renewed(q)
        return wrapped, q

    return make


def touching_bodies(law):
    """Two tetrahedra that overlap a little, whose contact begins where they touch: of surfaces inside them."""

    def make():
        upper = [(0.0, 0.0, 0.0), (1.0, 0.0, 0.05), (0.1, 1.0, 0.0), (0.3, 0.2, 1.0)]
        lower = [(0.3, 0.1, -0.02), (1.2, 0.12, 0.02), (0.1, 1.1, -0.04), (0.2, 0.3, -1.0)]
        mesh = Mesh(np.array(upper + lower), {"tetra": np.array([[0, 1, 2, 3], [4, 6, 5, 7]])})
        energy = offset_contact(BodyContact(Surface.of(mesh), 1e3, law=law, distance=0.2), mesh.points, mesh.cells)
        q = shaken(mesh.points - np.repeat([[0.0, 0.0, 0.0], [0.0, 0.0, -0.02]], 4, axis=0), 0.01)
        energy.renewed(q)
        return energy, q

    return make


def integrated_bodies(quadratic):
    """Two tetrahedra that overlap, whose contact is integrated over what faces have in common."""

    def make():
        upper = [(0.0, 0.0, 0.0), (1.0, 0.0, 0.05), (0.1, 1.0, 0.0), (0.3, 0.2, 1.0)]
        lower = [(0.3, 0.1, 0.1), (1.2, 0.12, 0.14), (0.1, 1.1, 0.08), (0.2, 0.3, -1.0)]
        mesh = Mesh(np.array(upper + lower), {"tetra": np.array([[0, 1, 2, 3], [4, 6, 5, 7]])})
        mesh = as_quadratic(mesh) if quadratic else mesh
        energy = SegmentContact(Surface.of(mesh), mesh.points, 1e3, distance=0.05)
        q = shaken(mesh.points, 0.01)
        energy.renewed(q)
        return energy, q

    return make


def in_jacobi_coordinates(make):
    def made():
        energy, q = make()
        coordinates = JacobiCoordinates(np.random.default_rng(11).uniform(1.0, 3.0, len(q)))
        return JacobiEnergy(energy, coordinates), coordinates.relative(q)

    return made


ELEMENTS = ("tetra", "hexahedron", "hexahedron full", "tetra10")
OTHERS = ("hexahedron20 reduced", *(kind for kind in SOLID_KINDS if kind not in ELEMENTS))
TURNED, _ = np.linalg.qr(np.random.default_rng(12).standard_normal((3, 3)))

# A user's law, whose stress has no second derivative.
LACKS = {"foam": ("third",)}
# Elements with laws; linear elasticity is not the same after rotations.
PRODUCTS = {
    **{
        f"{law}, {kind}": Case(elements(kind, LAWS[law]), 0.05, rigid=True, lacks=LACKS.get(law, ()), invariant=True)
        for kind in ELEMENTS
        for law in LAWS
    },
    **{
        f"{law}, {kind}": Case(elements(kind, LAWS[law]), 0.05, rigid=True, lacks=LACKS.get(law, ()), invariant=True)
        for kind in OTHERS
        for law in ("neo-Hookean", "foam", "formula of fibres")
    },
    **{
        f"{law}, {kind} mean-dilatation": Case(
            elements(f"{kind} mean-dilatation", LAWS[law]), 0.05, rigid=True, lacks=("third",), invariant=True
        )
        for kind in ("hexahedron", "tetra10")
        for law in ("Mooney-Rivlin", "foam", "formula of fibres")
    },
    **{
        f"linear elastic, {kind}": Case(elements(kind, linear), 0.05, shifts=True, lacks=("secant",), invariant=True)
        for kind in (*ELEMENTS, *OTHERS)
    },
    **{
        f"orthotropic, {kind}": Case(elements(kind, orthotropic), 0.05, rigid=True, invariant=True)
        for kind in ("tetra10", "hexahedron", "hexahedron full")
    },
    **{
        f"linear orthotropic, {kind}": Case(
            elements(kind, lambda: orthotropic(small=True)), 0.05, shifts=True, lacks=("secant",), invariant=True
        )
        for kind in ("tetra", "tetra10", "hexahedron", "hexahedron full")
    },
}
# Every law on two types of elements, and every type with a law, are in the fast suite; other pairs have no code of
# their own.
FAST = {
    *(f"{law}, {kind}" for kind in ("tetra", "hexahedron") for law in (*LAWS, "linear elastic")),
    *(f"neo-Hookean, {kind}" for kind in (*ELEMENTS, *OTHERS)),
    *("formula of fibres, tetra10", "linear elastic, tetra10", "orthotropic, tetra10"),
    "linear orthotropic, hexahedron",
}
assert set(PRODUCTS) >= FAST

CASES = {
    "solid": Case(solid, 0.05, rigid=True, invariant=True),
    "auxetic solid": Case(auxetic_solid, 0.5, rigid=True, invariant=True),
    **PRODUCTS,
    "half-space": external(contact(HalfSpace((0.0, 0.1, 0.0), (1.0, 2.0, -2.0))), 1.0),
    "half-space, unnormalised": external(contact(HalfSpace((0.0, 0.1, 0.0), (0.0, -1.0, -1.0), normalize=False)), 1.0),
    "half-plane": external(contact(HalfSpace((0.0, 0.1), (1.0, 2.0)), dim=2), 1.0),
    "sphere": external(contact(Sphere((0.1, 0.2, 0.3), 0.9)), 1.0),
    "disc": external(contact(Sphere((0.1, 0.2), 0.7), dim=2), 1.0),
    "vessel": external(contact(Sphere((0.1, 0.2, 0.3), 0.9, inside=True)), 1.0),
    "cylinder": external(contact(Cylinder((0.1, 0.2, 0.3), (1.0, 2.0, -1.0), 0.8)), 1.0),
    "pipe": external(contact(Cylinder((0.1, 0.2, 0.3), (1.0, 2.0, -1.0), 0.8, inside=True)), 1.0),
    "capsule": external(contact(Capsule((0.1, 0.2, 0.3), (-0.4, 0.5, 0.1), 0.6)), 1.0),
    "capsule, inside": external(contact(Capsule((0.1, 0.2, 0.3), (-0.4, 0.5, 0.1), 0.6, inside=True)), 1.0),
    "box": external(contact(Box((0.1, 0.0, 0.2), (1.4, 1.6, 1.2), TURNED)), 1.0),
    "container": external(contact(Box((0.1, 0.0, 0.2), (1.4, 1.6, 1.2), TURNED, inside=True)), 1.0),
    "rectangle": external(contact(Box((0.1, 0.0), (1.4, 1.6)), dim=2), 1.0),
    "carried sphere": Case(carried(Sphere((0.0, 0.0, 0.0), 0.9)), 1.0, rigid=True),
    "carried box": external(carried(Box((0.1, 0.0, 0.2), (1.4, 1.6, 1.2))), 1.0, shifts=True),
    "carried half-space": external(carried(HalfSpace((0.0, 0.1, 0.0), (1.0, 2.0, -2.0))), 1.0, shifts=True),
    "framed half-space": Case(
        framed(HalfSpace((0.0, 0.1, 0.0), (1.0, 2.0, -2.0))), 1.0, rigid=True, lacks=("mean_gradient",), invariant=True
    ),
    "framed sphere": Case(
        framed(Sphere((0.1, 0.2, 0.3), 0.9)), 1.0, rigid=True, lacks=("mean_gradient",), invariant=True
    ),
    "framed pipe": Case(
        framed(Cylinder((0.1, 0.2, 0.3), (1.0, 2.0, -1.0), 0.8, inside=True)),
        1.0,
        rigid=True,
        lacks=("mean_gradient",),
        invariant=True,
    ),
    "framed capsule": Case(
        framed(Capsule((0.1, 0.2, 0.3), (-0.4, 0.5, 0.1), 0.6)),
        1.0,
        rigid=True,
        lacks=("mean_gradient",),
        invariant=True,
    ),
    "framed box": Case(
        framed(Box((0.1, 0.0, 0.2), (1.4, 1.6, 1.2))), 1.0, rigid=True, lacks=("mean_gradient",), invariant=True
    ),
    "framed container": Case(
        framed(Box((0.1, 0.0, 0.2), (1.4, 1.6, 1.2), inside=True)),
        1.0,
        rigid=True,
        lacks=("mean_gradient",),
        invariant=True,
    ),
    "penalised plane, one-sided": external(
        penalised(OnPlane(np.arange(2, 38), (0.0, 0.1, 0.0), (1.0, 2.0, -2.0)), one_sided=True), 1.0
    ),
    "penalised sphere": external(penalised(OnSphere(np.arange(2, 38), (0.1, 0.2, 0.3), 0.9)), 1.0),
    "penalised cylinder": external(
        penalised(OnCylinder(np.arange(2, 38), (0.1, 0.2, 0.3), (1.0, 2.0, -1.0), 0.8)), 1.0
    ),
    "struts that only push": Case(bars(CompressionOnly(3.0, 1.3)), 1.0, rigid=True),
    "ropes": Case(bars(TensionOnly(3.0, 1.3)), 1.0, rigid=True),
    "springs": Case(bars(EngineeringStrain(3.0, 1.3)), 1.0, rigid=True),
    "springs by a table": Case(bars(ForceTable([-9.0, -0.2, 0.1, 9.0], [-30.0, -2.0, 1.0, 4.0], 1.3)), 1.0, rigid=True),
    "truss": Case(bars(GreenStrain(3.0, 1.3)), 1.0, rigid=True),
    "charges": Case(bars(InverseDistance(-2.0)), 1.0, rigid=True),
    "inverse square": Case(bars(InverseSquare(2.0)), 1.0, rigid=True),
    "Lennard-Jones": Case(bars(LennardJones(2.0, 1.1)), 1.0, rigid=True),
    "springs to a point": external(anchored(EngineeringStrain([3.0, 1.0, 2.0], 1.3)), 1.0),
    "ropes to a point": external(anchored(TensionOnly(3.0, 0.3)), 1.0),
    "linear constraints": Case(linear_constraints, 0.5, lacks=("secant",)),
    "nodes tied to a surface": Case(tied, 0.5, rigid=True, quadratic=True),
    "penalised rods": external(penalised_rods, 1.0, rigid=True),
    "truss in Jacobi coordinates": external(in_jacobi_coordinates(bars(GreenStrain(3.0, 1.3))), 1.0),
    "Lennard-Jones with a cut-off": Case(short_range, 1.0, rigid=True, invariant=True),
    "rigid bodies": Case(rigid_bodies, 1.0, rigid=True, invariant=True),
    "beams": Case(kinked_beams("green"), 0.5, rigid=True, invariant=True),
    "beams of Reissner's strain": Case(kinked_beams("reissner"), 0.5, rigid=True, invariant=True),
    "reduced body": Case(reduced_body, 1.0, rigid=True, lacks=("secant", "third", "mean_gradient"), invariant=True),
    "quadratic measures": Case(quadratic_measures, 1.0, rigid=True, invariant=True),
    "truss of interpolated points": Case(interpolated(bars(GreenStrain(3.0, 1.3))), 1.0, rigid=True),
    "solid of interpolated points": Case(
        interpolated(elements("tetra", LAWS["neo-Hookean"])), 0.05, rigid=True, invariant=True
    ),
    "Lennard-Jones of interpolated points": Case(interpolated(short_range), 1.0, rigid=True, invariant=True),
    "sphere and interpolated points": external(interpolated(contact(Sphere((0.1, 0.2, 0.3), 0.9))), 1.0),
    "contact of two bodies, penalty": Case(
        two_bodies("penalty"), 0.3, rigid=True, lacks=("mean_gradient",), invariant=True
    ),
    "contact of two bodies, barrier": Case(
        two_bodies("barrier"), 0.1, rigid=True, lacks=("mean_gradient",), invariant=True
    ),
    "contact from touch on, penalty": Case(
        touching_bodies("penalty"), 0.05, rigid=True, lacks=("mean_gradient",), invariant=True
    ),
    "contact from touch on, barrier": Case(
        touching_bodies("barrier"), 0.02, rigid=True, lacks=("mean_gradient",), invariant=True
    ),
    "integrated contact": Case(integrated_bodies(False), 0.2, rigid=True, lacks=INTEGRATED, invariant=True),
    "integrated contact of quadratic faces": Case(
        integrated_bodies(True), 0.1, rigid=True, lacks=INTEGRATED, invariant=True
    ),
    "contact with a rigid body, penalty": Case(
        body_and_rigid_body("penalty"), 0.3, rigid=True, lacks=("mean_gradient",), invariant=True
    ),
    "contact with a rigid body, barrier": Case(
        body_and_rigid_body("barrier"), 0.1, rigid=True, lacks=("mean_gradient",), invariant=True
    ),
    "user's solid": Case(users(solid, WithHessian, *RIGID), 0.05, rigid=True, lacks=tuple(OPTIONAL), invariant=True),
    "user's pairs without Hessian": Case(
        users(bars(LennardJones(2.0, 1.1)), WithoutMore, *RIGID),
        1.0,
        rigid=True,
        rounding=1e-8,
        lacks=tuple(OPTIONAL),
        invariant=True,
    ),
    "user's linear elasticity": Case(
        users(elements("tetra", linear), WithHessian, "translations"),
        0.05,
        shifts=True,
        lacks=tuple(OPTIONAL),
        invariant=True,
    ),
    "user's contact": Case(users(contact(Sphere((0.1, 0.2, 0.3), 0.9)), WithHessian), 1.0, lacks=tuple(OPTIONAL)),
    "about an axis": Case(about_axis, 1.0, lacks=tuple(OPTIONAL), invariant=True),
    "gravity": external(gravity, 1.0, curved=False),
    "centrifugal": external(centrifugal, 0.5),
    "nodal force": external(nodal_force, 1.0, curved=False),
}


def subject(chosen):
    """The energy of a case, as the checks take it."""
    energy, q = chosen.make()
    rigid, shifts = {"translations", "rotations"}, {"translations"}
    exact = frozenset(rigid if chosen.rigid else shifts if chosen.shifts else ())
    rounding = chosen.rounding if chosen.rounding > 1e-13 else 1e-13
    return Subject(energy, np.ascontiguousarray(q), chosen.length, exact, rounding)


def applies(check, chosen):
    """Whether a case gives a promise, known without making it."""
    motions = {"": True, "translations": chosen.rigid or chosen.shifts, "rigid": chosen.rigid}
    return check.form not in chosen.lacks and (motions | {"declared": chosen.invariant})[check.motions]


# The kernels of contact over facets take half a minute to compile; tests/contact/test_segments.py has them, too.
SLOW = PRODUCTS.keys() - FAST | {"integrated contact", "integrated contact of quadratic faces"}
SLOW |= {f"framed {shape}" for shape in ("pipe", "capsule", "container")}  # of shapes that are tried at rest as well
PARAMS = [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in CASES]


@pytest.fixture(scope="module", params=PARAMS)
def case(request):
    return CASES[request.param], subject(CASES[request.param])


def test_energies_keep_what_they_promise(case):
    chosen, subject = case
    checks = [check for check in CHECKS.values() if applies(check, chosen)]
    assert all(map(subject.has, checks))
    try_all((check.name, partial(check, subject)) for check in checks)


def test_what_is_checked_is_there(case):
    """Forces, stiffness, rates of secants and large increments: else checks would say nothing."""
    chosen, s = case
    assert np.abs(s.gradient).max() > 0
    assert (np.abs(s.hessian).max() > 0) == chosen.curved
    assert list(s.ends) == [f"increment {amount:g}" for amount in INCREMENTS]
    for x1 in s.ends.values():
        assert (np.abs(s.energy.discrete_hessian(s.x, x1)).max() > 0) == chosen.curved
    if "secant" not in chosen.lacks:
        assert s.energy.secant(s.x).any()
        assert s.energy.secant_rate(s.x, np.random.default_rng(0).standard_normal(s.x.shape)).any() != chosen.quadratic


def test_the_optional_forms_are_those_that_the_case_has(case):
    """What an energy lacks is refused by name."""
    chosen, s = case
    energy, x = s.energy, s.x
    assert bool(len(energy.generators(x.shape[2])[0])) == chosen.invariant
    foam = isinstance(energy, Solid) and isinstance(energy.material, Foam)
    for form, called in OPTIONAL.items():
        if form not in chosen.lacks:
            assert energy.has(form)
            continue
        by_law = foam and energy.has(form)  # the law lacks what the form is made of
        refusal = "no second derivative of its stress" if by_law else f"has no {called}"
        with pytest.raises(InvalidSystem, match=refusal):
            getattr(energy, form)(*([x] if form == "secant" else [x, x]))
