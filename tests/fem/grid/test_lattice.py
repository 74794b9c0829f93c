"""Lattice functions where an energy ends: infinite if any of the lattice points they compare is beyond."""

import ctypes
import math

import numpy as np
import pytest

from symplex.fem.measures.bars import Bars, InverseDistance, InverseSquare, LennardJones
from symplex.fem.solids.materials import NeoHookean
from symplex.fem.solids.solid import Solid

DOUBLE, INT, POINTER = ctypes.c_double, ctypes.c_int64, ctypes.POINTER(ctypes.c_double)
CORNER = np.vstack([np.zeros(3), np.eye(3)])


def compiled(energy):
    """Return value(x), difference(x, i, h) and mixed(x, i, j, hi, hj) of the first stencil."""
    functions = energy.lattice_functions()
    p = functions.parameters[0].ctypes.data_as(POINTER)

    def calling(address, *types):
        function = ctypes.CFUNCTYPE(DOUBLE, POINTER, POINTER, *types)(address)
        return lambda x, *arguments: function(p, x.copy().ctypes.data_as(POINTER), *arguments)

    return (
        calling(functions.value),
        calling(functions.difference, INT, DOUBLE),
        calling(functions.mixed, INT, INT, DOUBLE, DOUBLE),
    )


def valid(x):
    return np.linalg.det(x[1:] - x[0]) > 0


def test_tetrahedra_inverted_at_any_lattice_point():
    value, difference, mixed = compiled(Solid(CORNER, [[0, 1, 2, 3]], NeoHookean(2.0, 1.0, 1.0)))
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(3000):
        x = CORNER + rng.normal(scale=0.4, size=(4, 3))
        (i, j), (hi, hj) = rng.choice(12, 2, replace=False), rng.normal(scale=0.7, size=2)
        e_i, e_j = hi * np.eye(12)[i].reshape(4, 3), hj * np.eye(12)[j].reshape(4, 3)
        points = [x, x + e_i, x + e_j, x + e_i + e_j]
        good = tuple(valid(y) for y in points)
        seen.add(good)
        assert math.isfinite(value(x)) == good[0]
        assert (difference(x, i, hi) == math.inf) == (not all(good[:2]))
        assert (mixed(x, i, j, hi, hj) == math.inf) == (not all(good))
        assert not math.isnan(mixed(x, i, j, hi, hj))
    assert len(seen) == 16


@pytest.mark.parametrize("law", [InverseDistance(1.0), InverseSquare(1.0), LennardJones(1.0, 1.0)])
def test_pairs_at_one_point(law):
    _, difference, mixed = compiled(Bars([[0, 1]], law))
    apart, together = np.array([0.0, 0.0, 0.0, 0.5, 0.0, 0.0]), np.zeros(6)
    assert math.isfinite(difference(apart, 3, 0.5))
    assert difference(apart, 3, -0.5) == math.inf
    assert difference(together, 3, 0.5) == math.inf
    assert not math.isfinite(mixed(together, 3, 4, 0.5, 0.5))


@pytest.mark.parametrize("size", [1e-3, 0.1, 0.5])
def test_differences_of_tetrahedra_are_those_of_values(size):
    """Near and far: the logarithms are taken in two ways, by how much the volume changes."""
    value, difference, mixed = compiled(Solid(CORNER, [[0, 1, 2, 3]], NeoHookean(2.0, 1.0, 1.0)))
    rng = np.random.default_rng(1)
    unit = np.eye(12).reshape(12, 4, 3)
    seen = 0
    for _ in range(300):
        x = CORNER * rng.uniform(0.5, 3.0) + rng.normal(scale=0.1, size=(4, 3))
        (i, j), (hi, hj) = rng.integers(12, size=2), rng.normal(scale=size, size=2)
        energies = [value(x + a * hi * unit[i] + b * hj * unit[j]) for a in (0, 1) for b in (0, 1)]
        if i == j or not np.all(np.isfinite(energies)):
            continue
        seen += 1
        scale = max(1.0, *np.abs(energies))
        assert abs(difference(x, i, hi) - (energies[2] - energies[0])) < 1e-14 * scale
        assert abs(mixed(x, i, j, hi, hj) - (energies[3] - energies[2] - energies[1] + energies[0])) < 1e-14 * scale
    assert seen > 100
