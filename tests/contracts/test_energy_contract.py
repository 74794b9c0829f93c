"""What every energy promises. To add one, append a case to `CASES`."""

import ctypes
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp

from reference import round_off
from reference.boxes import SOLID_KINDS, box_of
from symplex.contact.bodies import BodyContact
from symplex.contact.framed import FramedContact
from symplex.contact.obstacles import Box, Capsule, Cylinder, HalfSpace, Sphere
from symplex.contact.offset import offset_contact
from symplex.contact.rigid import RigidContact
from symplex.contact.rigid_bodies import RigidBodies
from symplex.contact.rigid_body import RigidBody
from symplex.contact.surfaces import Surface
from symplex.errors import InvalidSystem
from symplex.fem.actions.centrifugal import Centrifugal
from symplex.fem.actions.loads import Gravity, NodalForce
from symplex.fem.assembly import Pattern
from symplex.fem.changing import ChangingEnergy
from symplex.fem.energy import RIGID, Energy
from symplex.fem.equations import LinearConstraints
from symplex.fem.interpolation import Interpolation
from symplex.fem.jacobi import JacobiCoordinates, JacobiEnergy
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
from symplex.fem.measures.penalty import Penalty
from symplex.fem.measures.short_range import ShortRangeLennardJones
from symplex.fem.rigidity import CORNERS, Rigidity
from symplex.fem.solids.anisotropic import AnisotropicElastic
from symplex.fem.solids.constitutive import Material
from symplex.fem.solids.formula import material
from symplex.fem.solids.materials import LinearElastic, MooneyRivlin, NeoHookean, SaintVenantKirchhoff
from symplex.fem.solids.solid import Solid
from symplex.fem.ties import tie_to_surface
from symplex.meshes.generate import box, cube_mesh
from symplex.meshes.mesh import Mesh

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
        energy = FramedContact(np.arange(2, 40), obstacle, 1e5, frame, properties)
        return FramedContact(2 + np.flatnonzero(np.abs(energy.gaps(q)) > 0.01), obstacle, 1e5, frame, properties), q

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
        if isinstance(wrapped, ChangingEnergy):
            wrapped.renewed(q)
        return wrapped, q

    return made


def rigid_bodies():
    radii = np.array([[0.3, 0.7, 0.5], [1.0, 0.2, 0.6]])
    nodes = np.array([[3, 1, 0, 2], [4, 5, 6, 7]])
    q = np.empty((8, 3))
    q[nodes] = CORNERS * radii[:, None] @ TURNED + np.array([[[1.0, 2.0, 0.5]], [[-1.0, 0.0, 2.0]]])
    return Rigidity(nodes, radii, [2.0, 5.0], [20.0, 7.0]), shaken(q, 0.05)


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
    *("formula of fibres, tetra10", "linear elastic, tetra10", "orthotropic, hexahedron"),
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


# Fixtures of tests of a form: of the energies that have it.
FORM_OF = {"secant_case": "secant", "direction": "third", "mean_case": "mean_gradient"}


def of(applies):
    """Return a decorator of tests of the cases for which something holds; the others are not collected."""

    def mark(test):
        test.applies = applies
        return test

    return mark


def pytest_generate_tests(metafunc):
    """Try each test with the cases of its module, which may have imported it, that it applies to."""
    if "case" not in metafunc.fixturenames:
        return
    forms = {form for fixture, form in FORM_OF.items() if fixture in metafunc.fixturenames}
    applies = getattr(metafunc.function, "applies", lambda case: True)
    names = [name for name, case in metafunc.module.CASES.items() if applies(case) and forms.isdisjoint(case.lacks)]
    slow = PRODUCTS.keys() - FAST
    params = [pytest.param(name, marks=pytest.mark.slow) if name in slow else name for name in names]
    metafunc.parametrize("case", params, indirect=True, scope="module")


@pytest.fixture(scope="module")
def case(request):
    chosen = request.module.CASES[request.param]
    energy, q = chosen.make()
    return chosen, energy, np.ascontiguousarray(q)


def test_the_optional_forms_are_those_that_the_case_has(case):
    """What an energy lacks is refused by name."""
    chosen, energy, q = case
    x = q[energy.nodes]
    assert bool(len(energy.generators(q.shape[1])[0])) == chosen.invariant
    foam = isinstance(energy, Solid) and isinstance(energy.material, Foam)
    for form, called in OPTIONAL.items():
        if form not in chosen.lacks:
            assert energy.has(form)
            continue
        by_law = foam and energy.has(form)  # the law lacks what the form is made of
        refusal = "no second derivative of its stress" if by_law else f"has no {called}"
        with pytest.raises(InvalidSystem, match=refusal):
            getattr(energy, form)(*([x] if form == "secant" else [x, x]))


def coordinates(x):
    """All (a, i) of positions x [m, k, dim]."""
    return [(a, i) for a in range(x.shape[1]) for i in range(x.shape[2])]


# -- local functions --------------------------------------------------------------------------------------------------


def test_stencils_are_contiguous_int32(case):
    _, energy, q = case
    assert energy.nodes.dtype == np.int32
    assert energy.nodes.ndim == 2
    assert energy.nodes.flags.c_contiguous
    assert 0 <= energy.nodes.min() <= energy.nodes.max() < len(q)


def test_gradient_is_the_slope_of_the_value(case):
    chosen, energy, q = case
    x = q[energy.nodes]
    gradient = energy.gradient(x)
    assert gradient.shape == x.shape
    size = np.abs(gradient).max()
    assert size > 0
    s = 1e-5 * chosen.length
    for a, i in coordinates(x):
        ahead, behind = x.copy(), x.copy()
        ahead[:, a, i] += s
        behind[:, a, i] -= s
        slope = (energy.value(ahead) - energy.value(behind)) / (2 * s)
        np.testing.assert_allclose(gradient[:, a, i], slope, atol=3e-6 * size)


def test_hessian_is_the_slope_of_the_gradient(case):
    chosen, energy, q = case
    x = q[energy.nodes]
    m, k, dim = x.shape
    hessian = energy.hessian(x)
    assert hessian.shape == (m, k * dim, k * dim)
    size = np.abs(hessian).max()
    assert (size > 0) == chosen.curved
    s = 1e-6 * chosen.length
    for a, i in coordinates(x):
        ahead, behind = x.copy(), x.copy()
        ahead[:, a, i] += s
        behind[:, a, i] -= s
        slope = (energy.gradient(ahead) - energy.gradient(behind)).reshape(m, -1) / (2 * s)
        np.testing.assert_allclose(hessian[:, :, a * dim + i], slope, atol=1e-6 * size)


def test_hessian_is_symmetric(case):
    _, energy, q = case
    hessian = energy.hessian(q[energy.nodes])
    np.testing.assert_allclose(hessian, hessian.transpose(0, 2, 1), atol=1e-14 * np.abs(hessian).max())


def test_local_functions_are_pure(case):
    _, energy, q = case
    x = q[energy.nodes]
    kept = x.copy()
    first = energy.value(x), energy.gradient(x), energy.hessian(x)
    second = energy.value(x), energy.gradient(x), energy.hessian(x)
    np.testing.assert_array_equal(x, kept)
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)


# -- rigid motions ----------------------------------------------------------------------------------------------------


def test_energy_does_not_feel_rigid_motions(case):
    chosen, energy, q = case
    rng = np.random.default_rng(6)
    turn, _ = np.linalg.qr(rng.standard_normal((q.shape[1],) * 2))
    turn[:, 0] *= np.linalg.det(turn)
    moved = q @ turn.T + chosen.length * rng.standard_normal(q.shape[1])
    before, after = energy.value(q[energy.nodes]), energy.value(moved[energy.nodes])
    if chosen.rigid:
        np.testing.assert_allclose(after, before, rtol=1e-9)
        gradient = energy.gradient(q[energy.nodes]) @ turn.T
        np.testing.assert_allclose(energy.gradient(moved[energy.nodes]), gradient, atol=1e-11 * np.abs(gradient).max())
    else:
        assert np.abs(after - before).max() > 1e-3 * np.abs(before).max()


def test_forces_and_moments_sum_to_zero(case):
    chosen, energy, q = case
    x = q[energy.nodes]
    gradient = energy.gradient(x)
    size = np.abs(gradient).max()
    resultant = gradient.sum(axis=1)
    if chosen.rigid or chosen.shifts:
        assert np.abs(resultant).max() < 1e-14 * size
    else:
        assert np.abs(resultant).max() > 0.1 * size
    if not chosen.rigid:
        return
    moment = np.cross(x - x.mean(axis=1, keepdims=True), gradient).sum(axis=1)
    assert np.abs(moment).max() < 1e-13 * size * chosen.length


@of(lambda case: case.rigid)
def test_hessian_knows_rigid_motions(case):
    """∇²φ·(translation) = 0 and ∇²φ·(ω × x) = ω × ∇φ."""
    chosen, energy, q = case
    x = q[energy.nodes]
    m, k = energy.nodes.shape
    hessian, gradient = energy.hessian(x), energy.gradient(x)
    size = np.abs(hessian).max()
    shift = np.tile([1.0, -2.0, 0.5], k)
    assert np.abs(hessian @ shift).max() < chosen.rounding * size
    omega = np.array([0.3, -1.0, 2.0])
    turned = np.einsum("mij,mj->mi", hessian, np.cross(omega, x).reshape(m, -1))
    np.testing.assert_allclose(
        turned, np.cross(omega, gradient).reshape(m, -1), atol=10.0 * chosen.rounding * size * np.abs(x).max()
    )


# -- discrete gradients -----------------------------------------------------------------------------------------------


INCREMENTS = (0.5, 1e-2, 1e-5, 1e-8, 1e-12, 0.0)  # from large to none, in tenths of a stencil


@pytest.fixture(scope="module")
def increments(case):
    """An energy, and its gathered positions x0 and x1 by the increment from one to the other, with what to call it."""
    chosen, energy, q = case
    noise = np.random.default_rng(11).standard_normal(q.shape)
    # Not so large that an element is turned inside out.
    ends = {amount: (q + 0.1 * amount * chosen.length * noise)[energy.nodes] for amount in INCREMENTS}
    return chosen, energy, q[energy.nodes], {f"increment {amount:g}": x1 for amount, x1 in ends.items()}


def test_discrete_gradient_gives_the_difference_of_the_value(increments):
    _, energy, x0, ends = increments
    value = energy.value(x0)
    for name, x1 in ends.items():
        found = np.einsum("mai,mai->m", energy.discrete_gradient(x0, x1), x1 - x0)
        known_to = round_off.of_values(energy, x0, x1)
        # Gauss' rule along the segment of a law of a user errs by 5e-9 in the longest increments.
        np.testing.assert_allclose(found, energy.value(x1) - value, rtol=1e-7, atol=known_to, err_msg=name)


def test_discrete_gradient_does_not_lose_digits_of_small_increments(increments):
    """It is the gradient at the midpoint to second order in the increment, without any noise divided by it."""
    chosen, energy, x0, ends = increments
    curvature = chosen.length * np.abs(energy.hessian(x0)).max()
    for name, x1 in list(ends.items())[2:]:
        change = np.abs(x1 - x0).max() / chosen.length
        between = energy.gradient(0.5 * (x0 + x1))
        size = np.abs(between).max() + curvature
        # At the edge of contact the gradient has a kink, and the two differ by the first order.
        np.testing.assert_allclose(
            energy.discrete_gradient(x0, x1), between, atol=(1e-13 + 0.1 * change) * size, err_msg=name
        )


def test_discrete_gradient_is_symmetric_in_both_ends(increments):
    _, energy, x0, ends = increments
    for name, x1 in ends.items():
        there, back = energy.discrete_gradient(x0, x1), energy.discrete_gradient(x1, x0)
        np.testing.assert_allclose(there, back, atol=1e-13 * np.abs(there).max(), err_msg=name)


def test_discrete_gradient_at_one_point_is_the_gradient(case):
    _, energy, q = case
    x = q[energy.nodes]
    gradient = energy.gradient(x)
    np.testing.assert_allclose(energy.discrete_gradient(x, x), gradient, atol=1e-13 * np.abs(gradient).max())


@of(lambda case: case.rigid)
def test_discrete_forces_and_moments_sum_to_zero(increments):
    chosen, energy, x0, ends = increments
    for name, x1 in ends.items():
        forces = energy.discrete_gradient(x0, x1)
        size = np.abs(forces).max()
        assert np.abs(forces.sum(axis=1)).max() < 1e-13 * size, name
        middle = 0.5 * (x0 + x1)
        moment = np.cross(middle - middle.mean(axis=1, keepdims=True), forces).sum(axis=1)
        assert np.abs(moment).max() < 1e-13 * size * chosen.length, name


@of(lambda case: case.invariant)
def test_discrete_forces_have_no_power_in_motions_that_leave_the_energy_alike(increments):
    _, energy, x0, ends = increments
    A, b = energy.generators(x0.shape[2])
    assert len(A)
    for name, x1 in ends.items():
        forces, middle = energy.discrete_gradient(x0, x1), 0.5 * (x0 + x1)
        power = np.einsum("mai,mrai->mr", forces, np.einsum("rij,maj->mrai", A, middle) + b[None, :, None])
        assert np.abs(power).max() < 2e-14 * np.abs(forces).max() * max(1.0, np.abs(middle).max()), name


def test_discrete_hessian_is_the_slope_of_the_discrete_gradient(increments):
    chosen, energy, x0, ends = increments
    m, k, dim = x0.shape
    s = 1e-6 * chosen.length
    for name, x1 in ends.items():
        hessian = energy.discrete_hessian(x0, x1)
        assert hessian.shape == (m, k * dim, k * dim)
        size = np.abs(hessian).max()
        assert (size > 0) == chosen.curved, name
        for a, i in coordinates(x1):
            ahead, behind = x1.copy(), x1.copy()
            ahead[:, a, i] += s
            behind[:, a, i] -= s
            change = energy.discrete_gradient(x0, ahead) - energy.discrete_gradient(x0, behind)
            slope = change.reshape(m, -1) / (2 * s)
            np.testing.assert_allclose(hessian[:, :, a * dim + i], slope, atol=1e-6 * size, err_msg=name)


def test_discrete_forms_are_scattered_and_added(case):
    chosen, energy, q0 = case
    q1 = q0 + 0.02 * chosen.length * np.random.default_rng(12).standard_normal(q0.shape)
    x0, x1 = q0[energy.nodes], q1[energy.nodes]
    wanted = np.zeros_like(q0)
    np.add.at(wanted, energy.nodes, energy.discrete_gradient(x0, x1))
    out = np.zeros_like(q0)
    energy.add_discrete_gradient(q0, q1, out)
    energy.add_discrete_gradient(q0, q1, out)
    np.testing.assert_allclose(out, 2.0 * wanted, rtol=1e-12, atol=1e-13 * np.abs(wanted).max())

    pattern = Pattern(len(q0), [energy.nodes])
    generic, blocks = pattern.zeros(q0.shape[1]), pattern.zeros(q0.shape[1])
    Energy.add_discrete_hessian(energy, q0, q1, pattern.slots[0], generic)
    energy.add_discrete_hessian(q0, q1, pattern.slots[0], blocks)
    energy.add_discrete_hessian(q0, q1, pattern.slots[0], blocks)
    np.testing.assert_allclose(blocks, 2.0 * generic, rtol=1e-12, atol=1e-12 * np.abs(generic).max())


# -- secant forms -----------------------------------------------------------------------------------------------------


@pytest.fixture
def secant_case(case):
    """An energy with a secant form, positions q and velocities v."""
    chosen, energy, q = case
    return chosen, energy, q, np.random.default_rng(13).standard_normal(q.shape)


def test_secant_times_positions_is_the_gradient(secant_case):
    _, energy, q, _ = secant_case
    x = q[energy.nodes]
    secant = energy.secant(x)
    assert secant.shape == (*energy.nodes.shape, energy.nodes.shape[1])
    gradient = energy.gradient(x)
    # Positions are far larger than strains: what is lost is the round-off of stiffness × position.
    lost = 1e-14 * np.abs(secant).max() * np.abs(x).max()
    assert lost < 1e-10 * np.abs(gradient).max()
    np.testing.assert_allclose(secant @ x, gradient, atol=lost)


def test_secant_and_its_rate_are_symmetric_with_rows_that_sum_to_zero(secant_case):
    chosen, energy, q, v = secant_case
    rate = energy.secant_rate(q[energy.nodes], v[energy.nodes])
    assert rate.any() == (not chosen.quadratic)
    for matrices in (energy.secant(q[energy.nodes]), *([] if chosen.quadratic else [rate])):
        size = np.abs(matrices).max()
        assert size > 0
        # Exactly, so that what one node gives another takes.
        np.testing.assert_array_equal(matrices, matrices.transpose(0, 2, 1))
        assert np.abs(matrices.sum(axis=2)).max() < 1e-14 * size


def test_secant_rate_is_the_slope_of_the_secant(secant_case):
    chosen, energy, q, v = secant_case
    x, w = q[energy.nodes], v[energy.nodes]
    rate = energy.secant_rate(x, w)
    s = 1e-6 * chosen.length
    slope = (energy.secant(x + s * w) - energy.secant(x - s * w)) / (2 * s)
    np.testing.assert_allclose(rate, slope, atol=1e-6 * np.abs(slope).max())


def test_secant_rate_is_linear_in_the_velocities(secant_case):
    _, energy, q, v = secant_case
    x, w = q[energy.nodes], v[energy.nodes]
    other = np.random.default_rng(14).standard_normal(q.shape)[energy.nodes]
    both = energy.secant_rate(x, 2.0 * w - 3.0 * other)
    parts = 2.0 * energy.secant_rate(x, w) - 3.0 * energy.secant_rate(x, other)
    np.testing.assert_allclose(both, parts, atol=1e-13 * np.abs(both).max())


def test_secant_does_not_feel_rigid_velocities(secant_case):
    _, energy, q, v = secant_case
    omega = np.array([0.3, -1.0, 2.0])
    rigid = np.array([1.0, 2.0, -0.5]) + np.cross(omega, q)
    size = np.abs(energy.secant_rate(q[energy.nodes], v[energy.nodes])).max()
    assert np.abs(energy.secant_rate(q[energy.nodes], rigid[energy.nodes])).max() <= 1e-13 * size


def test_secant_forms_are_scattered_and_added(secant_case):
    _, energy, q, v = secant_case
    pattern = Pattern(len(q), [energy.nodes])
    slots = pattern.slots[0]
    local = energy.secant(q[energy.nodes]), energy.secant_rate(q[energy.nodes], v[energy.nodes])
    adds = (energy.add_secant, (q,)), (energy.add_secant_rate, (q, v))
    for matrices, (add, motion) in zip(local, adds, strict=True):
        before = np.random.default_rng(15).standard_normal(len(pattern.indices)) * np.abs(matrices).max()
        wanted, out = before.copy(), before.copy()
        np.add.at(wanted, slots, matrices)
        add(*motion, slots, out)
        np.testing.assert_allclose(out, wanted, rtol=1e-12, atol=1e-13 * np.abs(wanted).max())


# -- third derivatives ------------------------------------------------------------------------------------------------


@pytest.fixture
def direction(case):
    """An energy that has a third derivative, its positions and a direction, gathered."""
    chosen, energy, q = case
    a = chosen.length * np.random.default_rng(13).standard_normal(q.shape)
    return chosen, energy, q, a


def test_third_derivative_is_the_slope_of_the_hessian(direction):
    """∇³φ[a, a] is the derivative of ∇²φ a along a, and the second derivative of ∇φ."""
    chosen, energy, q, a = direction
    x, along = q[energy.nodes], a[energy.nodes]
    third = energy.third(x, along)
    assert third.shape == x.shape
    s = 1e-5
    ahead, behind = (
        np.einsum("mij,mj->mi", energy.hessian(y), along.reshape(len(x), -1)) for y in (x + s * along, x - s * along)
    )
    size = np.abs(energy.hessian(x)).max() * chosen.length
    slope = ((ahead - behind) / (2 * s)).reshape(x.shape)
    np.testing.assert_allclose(third, slope, atol=1e-8 * np.abs(third).max() + 1e-9 * size)
    s = 1e-3
    second = (energy.gradient(x + s * along) - 2.0 * energy.gradient(x) + energy.gradient(x - s * along)) / s**2
    np.testing.assert_allclose(third, second, atol=3e-4 * np.abs(third).max() + 1e-7 * size)


def test_third_derivative_is_quadratic_in_the_direction(direction):
    _, energy, q, a = direction
    x, along = q[energy.nodes], a[energy.nodes]
    third = energy.third(x, along)
    np.testing.assert_allclose(energy.third(x, -3.0 * along), 9.0 * third, atol=1e-13 * np.abs(third).max())


@of(lambda case: case.rigid or case.shifts)
def test_third_derivative_knows_rigid_motions(direction):
    """Differentiating Σ ∇φ = 0 and Σ x × ∇φ = 0 twice: Σ T = 0 and Σ (x × T + 2 a × ∇²φ a) = 0."""
    chosen, energy, q, a = direction
    x, along = q[energy.nodes], a[energy.nodes]
    third = energy.third(x, along)
    curved = np.einsum("mij,mj->mi", energy.hessian(x), along.reshape(len(x), -1)).reshape(x.shape)
    size = np.abs(third).max() + np.abs(curved).max()
    assert np.abs(third.sum(axis=1)).max() < 1e-13 * size
    if chosen.rigid:
        moment = (np.cross(x, third) + 2.0 * np.cross(along, curved)).sum(axis=1)
        assert np.abs(moment).max() < 1e-12 * size * (np.abs(x).max() + np.abs(along).max())


def test_third_derivative_is_scattered_and_added(direction):
    _, energy, q, a = direction
    before = np.random.default_rng(14).standard_normal(q.shape)
    wanted, out = before.copy(), before.copy()
    np.add.at(wanted, energy.nodes, energy.third(q[energy.nodes], a[energy.nodes]))
    energy.add_third(q, a, out)
    np.testing.assert_allclose(out, wanted, rtol=1e-12, atol=1e-12 * np.abs(wanted).max())


# -- mean strains ------------------------------------------------------------------------------------------------------


@pytest.fixture
def mean_case(case):
    """An energy with a gradient at mean strains, and positions q0 and q1, a large increment apart."""
    chosen, energy, q0 = case
    return chosen, energy, q0, q0 + 0.04 * chosen.length * np.random.default_rng(16).standard_normal(q0.shape)


def test_mean_gradient_is_symmetric_and_at_one_point_the_gradient(mean_case):
    _, energy, q0, q1 = mean_case
    x0, x1 = q0[energy.nodes], q1[energy.nodes]
    there, back, gradient = energy.mean_gradient(x0, x1), energy.mean_gradient(x1, x0), energy.gradient(x0)
    np.testing.assert_allclose(there, back, atol=1e-13 * np.abs(there).max())
    np.testing.assert_allclose(energy.mean_gradient(x0, x0), gradient, atol=1e-13 * np.abs(gradient).max())


def test_mean_gradient_does_the_work_of_the_energy_to_third_order(mean_case):
    _, energy, q0, q1 = mean_case
    x0, dx = q0[energy.nodes], (q1 - q0)[energy.nodes]
    errors = []
    for s in (0.25, 0.125):
        x1 = x0 + s * dx
        work = np.einsum("mai,mai->m", energy.mean_gradient(x0, x1), x1 - x0)
        errors.append(np.abs(work - energy.value(x1) + energy.value(x0)).max())
    assert errors[1] < errors[0] / 6 + round_off.of_values(energy, x0, x1)


@of(lambda case: case.rigid)
def test_mean_forces_and_moments_sum_to_zero(mean_case):
    chosen, energy, q0, q1 = mean_case
    x0, x1 = q0[energy.nodes], q1[energy.nodes]
    forces, middle = energy.mean_gradient(x0, x1), 0.5 * (x0 + x1)
    size = np.abs(forces).max()
    assert np.abs(forces.sum(axis=1)).max() < 1e-14 * size
    moment = np.cross(middle - middle.mean(axis=1, keepdims=True), forces).sum(axis=1)
    assert np.abs(moment).max() < 1e-13 * size * chosen.length


def test_mean_forms_are_scattered_and_added(mean_case):
    _, energy, q0, q1 = mean_case
    before = np.random.default_rng(17).standard_normal(q0.shape)
    wanted, out = before.copy(), before.copy()
    np.add.at(wanted, energy.nodes, energy.mean_gradient(q0[energy.nodes], q1[energy.nodes]))
    energy.add_mean_gradient(q0, q1, out)
    np.testing.assert_allclose(out, wanted, rtol=1e-12, atol=1e-13 * np.abs(wanted).max())


# -- assembled forms --------------------------------------------------------------------------------------------------


def test_total_is_the_sum(case):
    _, energy, q = case
    assert energy.total(q) == pytest.approx(float(energy.value(q[energy.nodes]).sum()), rel=1e-12)
    assert energy.total(q) == pytest.approx(Energy.total(energy, q), rel=1e-12)


def test_gradient_is_scattered_and_added(case):
    _, energy, q = case
    before = np.random.default_rng(7).standard_normal(q.shape)
    wanted, generic, out = before.copy(), before.copy(), before.copy()
    np.add.at(wanted, energy.nodes, energy.gradient(q[energy.nodes]))
    Energy.add_gradient(energy, q, generic)
    energy.add_gradient(q, out)
    np.testing.assert_allclose(generic, wanted, rtol=1e-12, atol=1e-13 * np.abs(wanted).max())
    np.testing.assert_allclose(out, wanted, rtol=1e-12, atol=1e-13 * np.abs(wanted).max())


def test_hessian_is_scattered_and_added(case):
    _, energy, q = case
    n, dim = q.shape
    pattern = Pattern(n, [energy.nodes])
    before = np.random.default_rng(8).standard_normal((len(pattern.indices), dim, dim))
    generic, out = before.copy(), before.copy()
    Energy.add_hessian(energy, q, pattern.slots[0], generic)
    energy.add_hessian(q, pattern.slots[0], out)
    np.testing.assert_allclose(out, generic, rtol=1e-12, atol=1e-13 * np.abs(generic).max())

    k = energy.nodes.shape[1]
    dense = np.zeros((n, dim, n, dim))
    for nodes, local in zip(energy.nodes, energy.hessian(q[energy.nodes]), strict=True):
        np.add.at(dense, np.ix_(nodes, range(dim), nodes, range(dim)), local.reshape(k, dim, k, dim))
    size = np.abs(generic).max()
    np.testing.assert_allclose(
        pattern.matrix(generic - before).toarray(), dense.reshape(n * dim, n * dim), atol=1e-12 * size
    )


def test_latent_stiffness_is_not_negative(case):
    _, energy, q = case
    latent = energy.latent_stiffness(len(q))
    assert latent.shape == (len(q),)
    assert latent.min() >= 0


# -- lattice functions ------------------------------------------------------------------------------------------------

DOUBLE, INT, POINTER = ctypes.c_double, ctypes.c_int64, ctypes.POINTER(ctypes.c_double)


@pytest.fixture(params=["in x", "in rotated axes"])
def lattice(case, request):
    """Lattice functions in axes (rows), and positions in those axes."""
    chosen, energy, q = case
    axes = np.eye(q.shape[1])
    if request.param == "in rotated axes":
        axes, _ = np.linalg.qr(np.random.default_rng(10).standard_normal(axes.shape))
        axes[0] *= np.linalg.det(axes)
    functions = energy.lattice_functions(None if request.param == "in x" else axes)
    assert functions is not None
    assert len(functions.parameters) == len(energy.nodes)
    value = ctypes.CFUNCTYPE(DOUBLE, POINTER, POINTER)(functions.value)
    difference = ctypes.CFUNCTYPE(DOUBLE, POINTER, POINTER, INT, DOUBLE)(functions.difference)
    mixed = ctypes.CFUNCTYPE(DOUBLE, POINTER, POINTER, INT, INT, DOUBLE, DOUBLE)(functions.mixed)
    rows = np.ascontiguousarray(functions.parameters, dtype=float)
    p = [row.ctypes.data_as(POINTER) for row in rows]
    # The functions own what is behind the addresses: they must live as long.
    alive = functions, rows
    return chosen, lambda x: energy.value(x @ axes), q[energy.nodes] @ axes.T, (alive, p, value, difference, mixed)


def at(x):
    """The coordinates of a stencil as C takes them; the array must outlive the call."""
    return x.ctypes.data_as(POINTER)


def test_lattice_value_is_the_value(lattice):
    _, phi, x, (_, p, value, _, _) = lattice
    found = [value(p[e], at(np.ascontiguousarray(x[e]))) for e in range(len(x))]
    wanted = phi(x)
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-12 * np.abs(wanted).max())


def test_lattice_differences_are_differences_of_the_value(lattice):
    chosen, phi_at, x, (_, p, _, difference, mixed) = lattice
    m, k, dim = x.shape
    flat = x.reshape(m, -1).copy()
    here = [at(row) for row in flat]

    @cache
    def moved(*by):
        """The values with some coordinates moved by some steps."""
        y = flat.copy()
        for i, amount in by:
            y[:, i] += amount
        return phi_at(y.reshape(x.shape))

    phi = moved()
    size = np.abs(phi).max()
    rng = np.random.default_rng(9)
    pairs = [rng.choice(k * dim, 2, replace=False) for _ in range(12)]
    pairs += [np.full(2, i) for i in rng.integers(k * dim, size=3)]  # one coordinate, moved twice
    stride = max(1, m // 12)
    for first, (i, j) in enumerate(np.array(pairs).tolist()):
        some = slice(first % stride, None, stride)  # of many stencils each is in some of the pairs
        for step, sign in itertools.product((0.1, 1e-3), (1.0, -1.0)):
            hi, hj = sign * step * chosen.length, 0.7 * step * chosen.length
            phi_i, phi_j, phi_ij = (moved(*by)[some] for by in (((i, hi),), ((j, hj),), ((i, hi), (j, hj))))
            d = [difference(row, x_e, i, hi) for row, x_e in zip(p[some], here[some], strict=True)]
            d2 = [mixed(row, x_e, i, j, hi, hj) for row, x_e in zip(p[some], here[some], strict=True)]
            wanted = phi_i - phi[some]
            np.testing.assert_allclose(d, wanted, atol=1e-9 * np.abs(wanted).max() + 1e-12 * size)
            np.testing.assert_allclose(d2, phi_ij - phi_j - wanted, atol=1e-9 * np.abs(d2).max() + 1e-12 * size)
    np.testing.assert_array_equal(flat, x.reshape(m, -1))
