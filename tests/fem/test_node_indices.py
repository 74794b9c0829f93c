"""Indices of nodes that are none: compiled code reads and writes wherever they point, and int32 wraps and rounds."""

import numpy as np
import pytest

from symplex.contact.obstacles import HalfSpace
from symplex.contact.rigid import RigidContact
from symplex.errors import InvalidSystem
from symplex.fem.actions.damping import Dashpots
from symplex.fem.actions.loads import NodalForce, NodalLoad, Pressure, SurfaceTraction
from symplex.fem.actions.mass import bar_mass, consistent_mass, lumped_mass
from symplex.fem.actions.supports import fixed_mask
from symplex.fem.measures.bars import Bars, GreenStrain
from symplex.fem.measures.constraints import OnSphere, RigidBars
from symplex.fem.solids.materials import NeoHookean
from symplex.fem.solids.solid import Solid
from symplex.meshes.generate import box

MESH = box((1, 1, 1), (1, 1, 1), split="6")
POINTS, CELLS, FACES = MESH.points, MESH.cells["tetra"], MESH.cells["triangle"]
LAW = NeoHookean(lmbda=1.0, mu=1.0, density=1.0)
NODES, PAIRS = np.arange(4), np.array([(0, 1), (1, 2)])
FLOOR = HalfSpace((0, 0, 0), (0, 0, 1))
N = len(POINTS)

TAKERS = {
    "Solid": (CELLS, lambda c: Solid(POINTS, c, LAW)),
    "hexahedra": (MESH.cells["tetra"][:1].repeat(2, axis=1), lambda c: Solid(POINTS, c, LAW)),
    "lumped_mass": (CELLS, lambda c: lumped_mass(POINTS, c, 1.0, N)),
    "consistent_mass": (CELLS, lambda c: consistent_mass(POINTS, c, 1.0, N)),
    "bar_mass": (PAIRS, lambda p: bar_mass(POINTS, p, 1.0, 1.0, N)),
    "SurfaceTraction": (FACES, lambda f: SurfaceTraction(POINTS, f, (1, 0, 0))),
    "Pressure": (FACES, lambda f: Pressure(f, 1.0)),
    "Pressure by type": (FACES, lambda f: Pressure({"triangle": f}, 1.0)),
    "NodalForce": (NODES, lambda n: NodalForce(n, (1.0, 0, 0))),
    "NodalLoad": (NODES, lambda n: NodalLoad(n, (1.0, 0, 0))),
    "RigidContact": (NODES, lambda n: RigidContact(n, FLOOR, 1.0)),
    "Bars": (PAIRS, lambda p: Bars(p, GreenStrain(1.0, 1.0))),
    "RigidBars": (PAIRS, lambda p: RigidBars(p, 1.0)),
    "OnSphere": (NODES, lambda n: OnSphere(n, (0, 0, 0), 1.0)),
    "Dashpots": (PAIRS, lambda p: Dashpots(p, 1.0)),
    "fixed_mask": (NODES, lambda n: fixed_mask(N, [(n, "x")])),
}
WRONG = {
    "2³² too many": lambda nodes: nodes.astype(np.int64) + 2**32,
    "fractions": lambda nodes: nodes + 0.7,
    "floats": lambda nodes: nodes.astype(float),
    "negative": lambda nodes: nodes.astype(np.int64) - N,
    "a mask": lambda nodes: nodes > 0,
    "beyond 64 bits": lambda nodes: nodes.astype(np.uint64) + np.uint64(2**63),
    "complex": lambda nodes: nodes + 0j,
    "text": lambda nodes: nodes.astype(str),
}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("taker", TAKERS)
def test_what_is_no_index_is_refused(taker, wrong):
    nodes, take = TAKERS[taker]
    with pytest.raises(InvalidSystem, match="nodes"):
        take(WRONG[wrong](nodes))


@pytest.mark.parametrize("kind", [np.int8, np.uint16, np.int64, np.uint64, list])
def test_whole_numbers_of_any_kind_are_taken(kind):
    cells = CELLS.tolist() if kind is list else CELLS.astype(kind)
    solid = Solid(POINTS, cells, LAW)
    assert solid.nodes.dtype == np.int32
    assert np.array_equal(solid.nodes, CELLS)
    assert solid.volumes.sum() == pytest.approx(1)
