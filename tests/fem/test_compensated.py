"""Positions of two numbers each: what far bodies lose of their strains, energy-momentum keeps."""

import numpy as np
import pytest

from symplex.contact.obstacles import HalfSpace, Sphere
from symplex.contact.rigid import RigidContact
from symplex.errors import InvertedElement
from symplex.fem.actions.mass import lumped_mass
from symplex.fem.solids.materials import LinearElastic, MooneyRivlin, NeoHookean
from symplex.fem.solids.solid import Solid
from symplex.fem.system import System
from symplex.meshes.generate import box
from symplex.meshes.midside_nodes import quadratic
from symplex.time.conserving.energy_momentum import EnergyMomentum

FAR = np.array([2.0e5, -3.1e5, 1.7e5])  # m, of bodies of 1 m


def solid_of(kind, material):
    mesh = box((1.0, 1.0, 1.0), (2, 2, 2), split="hexahedra" if kind == "hexahedron" else "24")
    mesh = quadratic(mesh) if kind == "tetra10" else mesh
    return Solid(mesh.points, mesh.cells[kind], material)


NEO_HOOKEAN = NeoHookean(3e6, 2e6, 1000.0)
SOLIDS = {
    "tetra": lambda: solid_of("tetra", NEO_HOOKEAN),
    "tetra, another law": lambda: solid_of("tetra", MooneyRivlin(1e6, 2e5, 4e6, 1000.0)),
    "tetra10": lambda: solid_of("tetra10", NEO_HOOKEAN),
    "hexahedron, small strains": lambda: solid_of("hexahedron", LinearElastic(3e6, 2e6, 1000.0)),
}
CONTACTS = {
    "plane": lambda at, nodes: RigidContact(nodes, HalfSpace(at + np.array([0.0, 0.0, 0.5]), [0.0, 0.3, 1.0]), 1e9),
    "sphere": lambda at, nodes: RigidContact(nodes, Sphere(at + np.array([0.5, 0.5, -0.5]), 1.0), 1e9),
}


def moved_far(near):
    """Return positions FAR away in two parts, and what they are exactly as seen from FAR."""
    q = near + FAR
    low = near - (q - FAR)  # exact: both differences are of numbers that are close
    return q, low


def increments(shape):
    rng = np.random.default_rng(0)
    return 0.01 * rng.standard_normal(shape), 0.02 * rng.standard_normal(shape) + [30.0, 20.0, -10.0]


@pytest.mark.parametrize("kind", SOLIDS)
@pytest.mark.slow
def test_forces_of_solids_are_as_exact_far_away_as_near(kind):
    energy = SOLIDS[kind]()
    displacement, dq = increments(energy.points.shape)
    near = energy.points + displacement
    expected, found, rounded = (np.zeros_like(near) for _ in range(3))
    energy.add_discrete_gradient(near, near + dq, expected)
    if kind == "hexahedron, small strains":  # C = 1 + 2 sym(F − 1) sees no difference in positions but edges
        dq = dq - dq[0]
    q, low = moved_far(near)
    energy.add_increment_gradient(q, low, dq, found)
    energy.add_discrete_gradient(q, q + (low + dq), rounded)
    scale = np.abs(expected).max()
    assert np.abs(found - expected).max() < 1e-11 * scale
    assert np.abs(rounded - expected).max() > 1e-10 * scale  # what there is to be won


@pytest.mark.parametrize("kind", CONTACTS)
def test_forces_of_contact_are_as_exact_far_away_as_near(kind):
    rng = np.random.default_rng(1)
    near = rng.uniform(0.0, 1.0, (40, 3))
    dq = 0.2 * rng.standard_normal((40, 3))  # some come, some go, some stay
    nodes = np.arange(5, 40)
    expected, found, rounded = (np.zeros_like(near) for _ in range(3))
    CONTACTS[kind](np.zeros(3), nodes).add_discrete_gradient(near, near + dq, expected)
    far = CONTACTS[kind](FAR, nodes)
    q, low = moved_far(near)
    far.add_increment_gradient(q, low, dq, found)
    far.add_discrete_gradient(q, q + (low + dq), rounded)
    assert np.count_nonzero(expected.any(axis=1)) >= 10
    scale = np.abs(expected).max()
    assert np.abs(found - expected).max() < 1e-14 * scale
    assert np.abs(rounded - expected).max() > 1e-12 * scale


def test_inverted_elements_are_named():
    for kind in ("tetra", "tetra10"):
        energy = SOLIDS[kind]()
        dq = np.zeros_like(energy.points)
        dq[:, 0] = -2.0 * energy.points[:, 0]
        with pytest.raises(InvertedElement):
            energy.add_increment_gradient(energy.points, 0.0 * dq, dq, np.zeros_like(dq))


@pytest.mark.parametrize("kind", ["tetra", "hexahedron"])
def test_a_body_far_away_keeps_the_energy_of_its_vibration(kind):
    energy = solid_of(kind, NEO_HOOKEAN)
    points = energy.points
    system = System(lumped_mass(points, energy.nodes, 1000.0, len(points)), {"body": energy})
    x = points - 0.5
    v = np.cross([1.0, 0.5, 0.2], x) + np.column_stack([x[:, 0], -x[:, 1], x[:, 0] * x[:, 1]])
    drift = {}
    for compensated in (False, True):
        motion = EnergyMomentum(4e-3, compensated=compensated).start(system, system.state(points + FAR, v))
        internal = []
        for step in range(60):
            state = motion.advance(4e-3 * (step + 1))
            arrays = motion.checkpoint()
            seen = (state.q - FAR) + arrays.get("compensation", 0.0)
            internal.append(system.kinetic(state.v) + energy.total(seen))
        drift[compensated] = np.ptp(internal) / np.mean(internal)
    assert drift[False] > 1e-9
    assert drift[True] < 1e-11
